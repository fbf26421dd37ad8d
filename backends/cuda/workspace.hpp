#pragma once
/// @file workspace.hpp  What is kept between calls: the devices' properties, and per stream the memory that block partials go through.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <onefold/device/destination.hpp>
#include <onefold/types.hpp>
#include <onefold/workspace.hpp>

#include "../backend.hpp"
#include "runtime.hpp"

namespace onefold::cuda_backend {

/// What the launches need to know of a GPU.
struct device_properties {
  int number;
  std::string name;
  int compute_capability;  ///< 10 * major + minor
  int multiprocessors;
  int threads_per_multiprocessor;
  int shared_bytes_per_block;  ///< the opt-in limit
  std::size_t memory_bytes;
  std::size_t l2_bytes;
  bool blocks_start_in_order;  ///< so that a block may wait for one of a lower number that is not known to be resident
};

/// An answer for each device that has been asked for once, for those who come without a lock. T{} where it has not.
template <class T>
class remembered {
 public:
  [[nodiscard]] T known(int device) const noexcept {
    return has(device) ? of_[index(device)].load(std::memory_order_acquire) : T{};
  }
  void remember(int device, T answer) noexcept {
    if (has(device)) of_[index(device)].store(answer, std::memory_order_release);
  }

 private:
  static constexpr int most_devices = 64;  // the others are asked every time
  static constexpr bool has(int device) noexcept { return device >= 0 && device < most_devices; }
  static constexpr std::size_t index(int device) noexcept { return static_cast<std::size_t>(device); }
  std::array<std::atomic<T>, most_devices> of_{};
};

/// Devices that the driver shows. Throws backend_unavailable with the reason where there are none.
int device_count();

/// Properties of a device, asked for once. Throws backend_unavailable when there is no device of this number.
const device_properties& properties_of(int device);

/// The virtual architecture of the kernels that a device runs, 10 * major + minor: less than its compute capability where the library was
/// built for older ones only, and then what newer ones can do is not in the code. Requires the device to be current; asked for once.
int code_capability(int device);

/// A piece of device memory, from the library's stream-ordered pool where the device has such, or of pinned host memory that the device can
/// read and write.
class buffer {
 public:
  enum class place { device, host };
  explicit buffer(place where) : where_(where) {}
  /// Requires that no work uses it any more, unless the memory is plain (of no pool): freeing that waits for the device.
  ~buffer();
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  /// At least `bytes` bytes, 256-byte aligned; what was in it is lost when it grows. Device memory from a pool grows in stream order; other
  /// memory waits for the device. Requires that `stream` is not being captured. Throws out_of_memory.
  void* at_least(std::size_t bytes, cudaStream_t stream, cudaMemPool_t pool = nullptr);
  [[nodiscard]] void* data() const { return data_; }
  /// May be asked while another thread's call grows it.
  [[nodiscard]] std::size_t size_bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  place where_;
  void* data_ = nullptr;
  std::atomic<std::size_t> bytes_ = 0;
  cudaMemPool_t pool_ = nullptr;  ///< that data_ is from
};

/// One stream's working memory, or a workspace's, or that of one call which a graph has recorded. A call holds `in_use` from its first launch
/// to its last, so that calls from several host threads on one stream follow each other; on the device the stream orders them.
struct lane {
  lane() = default;
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  /// Requires that no work uses its memory any more: is_idle().
  ~lane();

  std::mutex in_use;
  cudaStream_t stream = nullptr;         ///< of the launches
  cudaStream_t memory_stream = nullptr;  ///< on which memory is had and filled: another one only where `stream` is being captured
  cudaMemPool_t pool = nullptr;
  buffer partials[2] = {buffer(buffer::place::device), buffer(buffer::place::device)};
  buffer control{buffer::place::device};      ///< accumulators of every (type, operator), then the arrival ticket
  buffer slots{buffer::place::device};        ///< of fixed_order
  buffer host_partials{buffer::place::host};  ///< for finish::host
  buffer host_result{buffer::place::host};    ///< see result_on_host()
  void* device_result = nullptr;              ///< host_result as the device sees it
  unsigned last_call = 0;                     ///< number of the last that has waited; 0 before the first

  /// Set while a call is under way and cleared when it succeeds: a call that failed half-way may leave the control block changed.
  bool control_in_doubt = true;
  bool slots_in_doubt = true;

  // What is known of the end of the work that uses the memory. The stream cannot be asked: its owner may have destroyed it.
  bool end_in_doubt = false;              ///< a call is under way, or has failed and left no mark
  bool is_marked = false;                 ///< `mark` stands behind work that is not known to have ended
  cudaEvent_t mark = nullptr;             ///< made when it is needed
  unsigned long long slot_launches = 0;   ///< that have been put on the stream since the slots were filled with zeros
  std::atomic<bool> is_recorded = false;  ///< a graph may still launch what uses the memory

  /// `bytes` bytes of one of the buffers above, in stream order; for a recorded call ready at once. Requires in_use.
  void* piece(buffer& of, std::size_t bytes);

  /// Where the forms that wait find their result, with device_result as its address on the device: words for variants that take a
  /// workspace (device::host_words_of), and at `value_at` bytes a place for the values of the others, which must not look like an answer. Allocated once.
  std::byte* result_on_host();
  static constexpr std::size_t value_at = device::host_words_of(device::most_result_bytes) * sizeof(unsigned long long);

  /// Puts the control block in order if it is in doubt. Requires in_use.
  void prepare();

  /// `bytes` bytes of slots, filled with zeros, in stream order, if they are new or in doubt. Requires in_use.
  void* slots_of(std::size_t bytes);

  /// Leaves a mark on the stream, behind all that has been put there. Slots need none: their launches count themselves.
  void leave_mark();

  /// Whether all work that uses its memory has ended, as far as can be proved; asks no stream of the caller's. `side` is a stream of the
  /// library's. Requires that no call can take the lane meanwhile. Throws when CUDA does not answer.
  bool is_idle(cudaStream_t side);

  /// The cell of the atomic finish for this type and operator. Holds the neutral element between calls: whoever reads it resets it.
  void* accumulator(element_type type, operation op) const;
  /// The arrival counter of the last_block finish. Zero between calls: atomicInc wraps it.
  unsigned* ticket() const;
};

/// The lane of the caller's stream, which must not be being captured, or of the library's own on this device. Requires the device to be
/// current.
std::shared_ptr<lane> lane_of(int device, bool has_stream, cudaStream_t stream);

/// A lane for one call that is being recorded on `stream`, and for no other until the graph and all that was made from it are gone. Requires
/// the device to be current.
std::shared_ptr<lane> recorded_lane_of(int device, cudaStream_t stream);

/// The stream that an executor means. Requires the device to be current.
cudaStream_t stream_of(int device, bool has_stream, cudaStream_t stream);

/// Whether work put on the stream is being recorded into a graph instead of run.
bool is_capturing(cudaStream_t stream);

/// What stands behind a workspace on a GPU.
struct device_workspace final : onefold::detail::workspace_state {
  device_workspace(int device, void* memory, std::size_t size);
  ~device_workspace() override;

  int device;
  void* memory;
  bool is_recorded = false;    ///< a graph may launch calls that use it
  std::unique_ptr<lane> work;  ///< its stream changes from call to call; only slots and host_result of its memory are used
};

/// The library's own device memory: what is held, and its return. Lanes that calls are using stay. Requires the device to be current.
memory_use memory_held(int device);
void release_held_memory(int device);

}  // namespace onefold::cuda_backend
