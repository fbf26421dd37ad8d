#include "stream_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include <onefold/operators.hpp>

namespace onefold::cuda_backend {

namespace {

constexpr std::size_t cell_bytes = 8;  // of the widest element type
constexpr std::size_t cells = static_cast<std::size_t>(element_type_count) * operation_count;
constexpr std::size_t control_bytes = (cells + 1) * cell_bytes;

std::size_t cell_of(element_type type, operation op) {
  return static_cast<std::size_t>(type) * operation_count + static_cast<std::size_t>(op);
}

template <class T, class Op>
void put_neutral(std::byte* cells_begin) {
  const T neutral = Op::template neutral<T>();
  std::memcpy(cells_begin + cell_of(element_type_of<T>, Op::id) * cell_bytes, &neutral, sizeof(T));
}

}  // namespace

buffer::~buffer() {
  // Failures here are those of earlier work, which others are told of.
  const auto release = [this](void* data) { forget(where_ == place::device ? calls().free(data) : calls().free_host(data)); };
  for (const piece& old : outgrown_) release(old.data);
  if (data_ != nullptr) release(data_);
}

void* buffer::at_least(std::size_t bytes, cudaStream_t stream, cudaMemPool_t pool, bool keeps_old) {
  if (bytes <= size_bytes()) return data_;
  if (keeps_old) outgrown_.reserve(outgrown_.size() + 1);
  const std::size_t wanted = (bytes + 255) / 256 * 256;
  void* grown = nullptr;
  if (where_ == place::host)
    check(calls().host_alloc(&grown, wanted, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  else if (pool != nullptr)
    check(calls().malloc_from_pool_async(&grown, wanted, pool, stream), "cudaMallocFromPoolAsync");
  else
    check(calls().malloc(&grown, wanted), "cudaMalloc");
  // The old piece goes only now, so that a failure above leaves a working buffer. cudaFree waits for kernels that still use it; memory of a
  // pool is freed in stream order behind them.
  void* const old = data_;
  const cudaMemPool_t old_pool = pool_;
  const std::size_t old_bytes = size_bytes();
  data_ = grown;
  bytes_.store(wanted, std::memory_order_relaxed);
  pool_ = pool;
  if (old == nullptr) return data_;
  if (keeps_old) {
    outgrown_.push_back({old, old_pool});
    outgrown_bytes_.fetch_add(old_bytes, std::memory_order_relaxed);
    return data_;
  }
  if (where_ == place::host)
    check(calls().free_host(old), "cudaFreeHost");
  else if (old_pool != nullptr)
    check(calls().free_async(old, stream), "cudaFreeAsync");
  else
    check(calls().free(old), "cudaFree");
  return data_;
}

void buffer::free_outgrown(cudaStream_t stream) noexcept {
  for (const piece& old : outgrown_)
    forget(old.pool != nullptr       ? calls().free_async(old.data, stream)
           : where_ == place::device ? calls().free(old.data)
                                     : calls().free_host(old.data));
  outgrown_.clear();
  outgrown_bytes_.store(0, std::memory_order_relaxed);
}

namespace {

// At least `bytes` bytes; new memory holds zeros.
void* pinned_zeros(buffer& of, std::size_t bytes, void*& on_device) {
  if (bytes <= of.size_bytes() && on_device != nullptr) return of.data();
  on_device = nullptr;  // until all that follows has been done
  // What it has outgrown is kept: freeing pinned memory waits for the device, and so for other streams. Doubled, it is no more than what there is.
  void* const place = of.at_least(std::max(bytes, 2 * of.size_bytes()), nullptr, nullptr, true);
  std::memset(place, 0, of.size_bytes());
  check(calls().host_get_device_pointer(&on_device, place, 0), "cudaHostGetDevicePointer");
  return place;
}

}  // namespace

std::unique_ptr<result_place> result_places::take(std::size_t bytes) {
  std::unique_ptr<result_place> place;
  {
    const std::lock_guard lock(lock_);
    if (idle_.empty()) {
      idle_.reserve(made_ + 1);
      in_doubt_.reserve(made_ + 1);
      place = std::make_unique<result_place>();
      ++made_;
    } else {
      place = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  try {
    pinned_zeros(place->values, bytes, place->device_values);
    pinned_zeros(place->words, 2 * bytes, place->device_words);
    if (++place->number == 0) ++place->number;
  } catch (...) {
    give_back(std::move(place));
    throw;
  }
  return place;
}

void result_places::give_back(std::unique_ptr<result_place> place) noexcept {
  const std::lock_guard lock(lock_);
  idle_.push_back(std::move(place));
}

void result_places::give_up(std::unique_ptr<result_place> place) noexcept {
  const std::lock_guard lock(lock_);
  in_doubt_.push_back(std::move(place));
}

std::size_t result_places::size_bytes() const {
  const std::lock_guard lock(lock_);
  std::size_t bytes = 0;
  for (const auto* const places : {&idle_, &in_doubt_})
    for (const auto& place : *places) bytes += place->values.held_bytes() + place->words.held_bytes();
  return bytes;
}

stream_memory::~stream_memory() {
  if (mark != nullptr) forget(calls().event_destroy(mark));
  for (const cudaEvent_t event : copied)
    if (event != nullptr) forget(calls().event_destroy(event));
}

void* stream_memory::piece(buffer& of, std::size_t bytes) {
  if (bytes <= of.size_bytes()) return of.data();
  void* const place = of.at_least(bytes, memory_stream, pool, is_recorded.load(std::memory_order_acquire));
  if (memory_stream != stream) check(calls().stream_synchronize(memory_stream), "cudaStreamSynchronize");
  return place;
}

void stream_memory::prepare() {
  if (!control_in_doubt) return;
  std::array<std::byte, control_bytes> image{};  // a ticket of zero, and behind each cell's place its neutral element
#define ONEFOLD_TYPE(type_name, T)        \
  put_neutral<T, op::sum>(image.data());  \
  put_neutral<T, op::prod>(image.data()); \
  put_neutral<T, op::min>(image.data());  \
  put_neutral<T, op::max>(image.data());
#include <onefold/types.def>
  static_assert(operation_count == 4, "prepare() lists the operators");
  void* const place = piece(control, control_bytes);
  check(calls().memcpy_async(place, image.data(), control_bytes, cudaMemcpyHostToDevice, memory_stream), "cudaMemcpyAsync");
  check(calls().stream_synchronize(memory_stream), "cudaStreamSynchronize");  // the image is on our stack
  control_in_doubt = false;
}

std::byte* stream_memory::result_on_host() {
  void* place = piece(host_result, value_at + onefold::most_results * sizeof(std::uint64_t));
  if (device_result == nullptr) {
    std::memset(place, 0, value_at);
    check(calls().host_get_device_pointer(&device_result, place, 0), "cudaHostGetDevicePointer");
  }
  return static_cast<std::byte*>(place);
}

void* stream_memory::slots_of(std::size_t bytes) {
  if (bytes > slots.size_bytes()) slots_in_doubt = true;  // until they have been filled with zeros, whatever fails before
  void* const place = piece(slots, bytes);
  if (slots_in_doubt) {
    // On a stream that is being captured the zeros would be written when the graph runs, and missed until then.
    check(calls().memset_async(place, 0, slots.size_bytes(), memory_stream), "cudaMemsetAsync");
    if (memory_stream != stream)
      check(calls().stream_synchronize(memory_stream), "cudaStreamSynchronize");
    else
      leave_mark();  // before which the number of launches, which is_idle() reads, may be anything
    slot_launches = 0;
    slots_in_doubt = false;
  }
  return place;
}

void stream_memory::leave_mark() {
  if (mark == nullptr) check(calls().event_create(&mark), "cudaEventCreateWithFlags");
  check(calls().event_record(mark, stream), "cudaEventRecord");
  is_marked = true;
}

void stream_memory::leave_mark_after_failure() noexcept {
  try {
    leave_mark();
    end_in_doubt = false;
  } catch (const std::exception&) {  // the first failure is the one to be told of
  }
}

bool stream_memory::is_idle(cudaStream_t side) {
  const std::lock_guard after_the_last_call(in_use);
  if (end_in_doubt || is_recorded.load(std::memory_order_acquire)) return false;
  if (is_marked) {
    const cudaError_t asked = calls().event_query(mark);
    if (asked == cudaErrorNotReady) {
      forget(asked);
      return false;
    }
    check(asked, "cudaEventQuery");
    is_marked = false;
  }
  if (slot_launches == 0) return true;
  unsigned long long ended = 0;  // the first word of the slots: their last writer raises it in its last act
  check(calls().memcpy_async(&ended, slots.data(), sizeof(ended), cudaMemcpyDeviceToHost, side), "cudaMemcpyAsync");
  check(calls().stream_synchronize(side), "cudaStreamSynchronize");
  return calls().have_ended(ended, slot_launches);
}

void* stream_memory::accumulator(element_type type, operation op) const {
  return static_cast<std::byte*>(control.data()) + cell_of(type, op) * cell_bytes;
}

unsigned* stream_memory::ticket() const {
  return reinterpret_cast<unsigned*>(static_cast<std::byte*>(control.data()) + cells * cell_bytes);
}

}  // namespace onefold::cuda_backend
