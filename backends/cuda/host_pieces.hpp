#pragma once
/// @file host_pieces.hpp  Arrays of host memory, piece by piece through buffers on the device. While one piece is reduced the next ones are on
/// their way.
///
///     copy stream   | copy 0 | copy 1 | copy 2 | copy 3 | ..      a buffer takes the next piece when the host knows
///     stream                 | fold 0 | fold 1 | fold 2 | ..      that the one in it has been reduced

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "stream_memory.hpp"

namespace onefold::cuda_backend {

/// One of the arrays that are reduced together.
struct piecewise_input {
  const std::byte* data = nullptr;  ///< host memory if it is copied, else as the device sees it
  std::size_t element_bytes = 0;
  bool is_copied = false;
};

/// Bytes of a piece, of all arrays that are copied: a power of two, 32 MiB unless the environment variable ONEFOLD_CUDA_PIECE_BYTES says
/// otherwise. Throws invalid_argument where that is no power of two from 8 KiB to 1 GiB.
std::size_t piece_bytes();

class host_pieces {
 public:
  static constexpr int most_inputs = 2;

  /// Waits for the work on the stream, for that may write what is to be copied. Requires that the device is current and the stream not being
  /// captured.
  ///
  /// @param work    of the stream
  /// @param inputs  at most most_inputs, of which one is copied at least; `count` elements each, which stay until the object goes
  /// @param tile    elements of the tree
  /// Errors   those of CUDA; out_of_memory.
  host_pieces(stream_memory& work, int device, std::span<const piecewise_input> inputs, std::uint64_t count, std::uint64_t tile);
  /// Waits for what is still under way, if the pieces have not been gone through to the end.
  ~host_pieces();
  host_pieces(const host_pieces&) = delete;
  host_pieces& operator=(const host_pieces&) = delete;

  /// Goes on to the next piece, or returns false behind the last. What is put on the stream from then on finds the piece in the buffers.
  /// Requires that the work with the piece before has ended.
  bool next();

  /// Of the piece: the first of its elements, how many it has (a power of two of tiles, but for the last), and where the device finds them;
  /// null where there is no such input.
  [[nodiscard]] std::uint64_t first() const { return (begun_ - 1) * piece_elements_; }
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] const void* view(int input) const;

  /// Of device memory.
  [[nodiscard]] std::size_t buffer_bytes() const { return slot_bytes_ * slots_; }

 private:
  void copy(std::uint64_t piece);
  [[nodiscard]] std::uint64_t elements_of(std::uint64_t piece) const;
  [[nodiscard]] std::byte* slot_of(std::uint64_t piece) const { return buffers_ + piece % slots_ * slot_bytes_; }

  stream_memory& work_;
  std::unique_lock<std::mutex> alone_;
  piecewise_input inputs_[most_inputs] = {};
  std::size_t place_[most_inputs] = {};  // in a slot
  std::uint64_t count_;
  std::uint64_t piece_elements_ = 0;
  std::uint64_t pieces_ = 0;
  std::size_t slots_ = 0;
  std::size_t slot_bytes_ = 0;
  std::byte* buffers_ = nullptr;
  cudaStream_t copy_stream_ = nullptr;
  std::uint64_t copied_ = 0;  // pieces whose copies have been put on the stream
  std::uint64_t begun_ = 0;   // pieces that next() has given
  bool is_done_ = false;
};

}  // namespace onefold::cuda_backend
