#include "host_pieces.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <onefold/error.hpp>

#include "streams.hpp"

namespace onefold::cuda_backend {

namespace {

// 32 MiB take 0.6 ms from pinned memory (55 GB/s) and 3 ms from pageable memory, beside some 30 us for a launch and its result.
constexpr std::size_t usual_piece_bytes = std::size_t{32} << 20;
constexpr std::size_t least_piece_bytes = std::size_t{8} << 10;  // a tile of each of two arrays
constexpr std::size_t most_piece_bytes = std::size_t{1} << 30;

constexpr std::size_t alignment = 256;  // of a buffer in its slot, as of what cudaMalloc gives

}  // namespace

std::size_t piece_bytes() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
  const char* const wanted = std::getenv("ONEFOLD_CUDA_PIECE_BYTES");
  if (wanted == nullptr || *wanted == '\0') return usual_piece_bytes;
  const char* const end = wanted + std::strlen(wanted);
  std::size_t bytes = 0;
  const auto [stopped, status] = std::from_chars(wanted, end, bytes);
  if (status == std::errc{} && stopped == end && std::has_single_bit(bytes) && bytes >= least_piece_bytes &&
      bytes <= most_piece_bytes)
    return bytes;
  throw error(errc::invalid_argument, "the environment variable ONEFOLD_CUDA_PIECE_BYTES is '" + std::string(wanted) +
                                          "': it can be a power of two from " + std::to_string(least_piece_bytes) + " to " +
                                          std::to_string(most_piece_bytes));
}

host_pieces::host_pieces(stream_memory& work, int device, std::span<const piecewise_input> inputs, std::uint64_t count,
                         std::uint64_t tile)
    : work_(work), alone_(work.copies_in_use), count_(count) {
  std::copy(inputs.begin(), inputs.end(), inputs_);
  std::size_t tile_bytes = 0;  // of all arrays that are copied
  for (const piecewise_input& of : inputs)
    if (of.is_copied) tile_bytes += static_cast<std::size_t>(tile) * of.element_bytes;
  piece_elements_ = tile * std::bit_floor(std::max<std::size_t>(piece_bytes() / tile_bytes, 1));
  pieces_ = (count + piece_elements_ - 1) / piece_elements_;
  slots_ = static_cast<std::size_t>(std::min<std::uint64_t>(pieces_, stream_memory::most_copies));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_copied) continue;
    place_[i] = slot_bytes_;
    const auto bytes = static_cast<std::size_t>(std::min(count, piece_elements_)) * inputs[i].element_bytes;
    slot_bytes_ += (bytes + alignment - 1) / alignment * alignment;
  }
  buffers_ = static_cast<std::byte*>(work.copies.at_least(buffer_bytes(), work.stream, work.pool));
  const bool is_one = pieces_ == 1;  // then there is nothing to run beside
  copy_stream_ = is_one ? work.stream : copy_stream_of(device);
  for (std::size_t i = 0; i < slots_ && !is_one; ++i)
    if (work.copied[i] == nullptr) check(calls().event_create(&work.copied[i]), "cudaEventCreateWithFlags");
  // Buffers are had in stream order, and a copy from pageable memory reads it in the call, whatever it is ordered behind: the host waits for
  // all that is ahead. Work of our own is behind what CUDA's legacy default stream has too, where the stream is ordered with that.
  check(calls().memset_async(buffers_, 0, 1, work.stream), "cudaMemsetAsync");
  check(calls().stream_synchronize(work.stream), "cudaStreamSynchronize");
}

host_pieces::~host_pieces() {
  if (is_done_ || copied_ == 0) return;
  // A call has failed, and its sentence is the one to be told. The caller's memory may go now, and the buffers be given back.
  forget(calls().stream_synchronize(copy_stream_));
  if (copy_stream_ != work_.stream) forget(calls().stream_synchronize(work_.stream));
}

std::uint64_t host_pieces::elements_of(std::uint64_t piece) const {
  return std::min(piece_elements_, count_ - piece * piece_elements_);
}

std::uint64_t host_pieces::count() const { return elements_of(begun_ - 1); }

const void* host_pieces::view(int input) const {
  const piecewise_input& of = inputs_[input];
  if (of.is_copied) return slot_of(begun_ - 1) + place_[input];
  return of.data == nullptr ? nullptr : of.data + first() * of.element_bytes;
}

void host_pieces::copy(std::uint64_t piece) {
  const std::uint64_t elements = elements_of(piece);
  for (int i = 0; i < most_inputs; ++i) {
    const piecewise_input& of = inputs_[i];
    if (!of.is_copied) continue;
    check(calls().memcpy_async(slot_of(piece) + place_[i], of.data + piece * piece_elements_ * of.element_bytes,
                               static_cast<std::size_t>(elements) * of.element_bytes, cudaMemcpyHostToDevice, copy_stream_),
          "cudaMemcpyAsync");
  }
  if (pieces_ > 1) check(calls().event_record(work_.copied[piece % slots_], copy_stream_), "cudaEventRecord");
}

bool host_pieces::next() {
  is_done_ = begun_ == pieces_;
  if (is_done_) return false;
  // All pieces that have been given are done with, and their slots are free.
  while (copied_ < std::min<std::uint64_t>(begun_ + slots_, pieces_)) copy(copied_++);
  if (pieces_ > 1) check(calls().stream_wait_event(work_.stream, work_.copied[begun_ % slots_]), "cudaStreamWaitEvent");
  ++begun_;
  return true;
}

}  // namespace onefold::cuda_backend
