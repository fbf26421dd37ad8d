#pragma once
/// @file fake_runtime.hpp  A CUDA runtime made of host memory, in which any call can be made to fail.
///
/// Device memory is zeroed host memory, launches do nothing, streams are numbers. So a sum comes out as zero, which is enough to
/// see that a call went through: everything on the host's side of a reduction runs on machines without a GPU. A free that is told
/// to fail still frees, since cudaFree reports the errors of earlier work; more than 1 GiB at once is out of memory. The fake
/// cannot make the calls that do not go through backends/cuda/runtime.hpp: variants of the seed "peer" call CUDA themselves and are
/// left out.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../backends/cuda/runtime.hpp"

namespace onefold_test {

class fake_runtime {
 public:
  /// Puts the fake in the place of the runtime, and the real one back at the end. One at a time.
  fake_runtime();
  ~fake_runtime();
  fake_runtime(const fake_runtime&) = delete;
  fake_runtime& operator=(const fake_runtime&) = delete;

  static constexpr int devices = 1 << 30;  ///< onefold remembers what it learnt of a device, so every test takes another
  static constexpr int any_device = -1;    ///< for memory that is of whichever device asks

  /// A device and a stream that onefold has not seen.
  static int fresh_device();
  static cudaStream_t fresh_stream();

  /// Zeroed device memory of the test's own, not counted as onefold's.
  void* device_memory(std::size_t bytes, int device = any_device);

  using context = onefold::cuda_backend::context;
  /// The device that a place in device memory is of, or -1.
  [[nodiscard]] int device_of_memory(const void* place) const;
  /// Memory of another owner or type.
  void* memory_of(std::size_t bytes, context owner, cudaMemoryType type = cudaMemoryTypeDevice);
  /// A device's primary context, and one that somebody has made.
  static context primary_context(int device);
  static context foreign_context(int device);
  /// The stream belongs to a context that somebody has made.
  void make_foreign(cudaStream_t stream, context owner) { foreign_streams_[stream] = owner; }
  /// The stream is destroyed, and another one gets its handle.
  void destroy_and_make_again(cudaStream_t stream) { ++rebirths_[stream]; }
  /// Whether devices reach each other's memory.
  void make_peers(bool peers) { peers_ = peers; }
  /// While set, no work comes to an end.
  void make_busy(bool busy) { busy_ = busy; }

  /// The k-th call from now on fails with this status, k = 1, 2, ...; a sticky failure stays, and every later call fails the same
  /// way.
  void fail(std::uint64_t k, cudaError_t status, bool sticky);
  /// Nothing fails any more.
  void mend();
  /// The name of the call that failed, as cuda_runtime_api.h spells it, if it was reached.
  [[nodiscard]] std::optional<std::string> failed_call() const { return failed_call_; }

  /// What onefold has allocated and not freed: lasting memory, and stream-ordered memory.
  [[nodiscard]] std::size_t live() const;
  [[nodiscard]] std::size_t live_async() const;
  [[nodiscard]] std::set<void*> live_addresses() const;
  [[nodiscard]] std::uint64_t calls_made() const { return calls_made_; }
  [[nodiscard]] std::uint64_t launches() const { return launches_; }
  /// The streams that launches, copies and stream-ordered allocations were put on.
  [[nodiscard]] const std::set<cudaStream_t>& streams_used() const { return streams_used_; }
  void forget_streams() { streams_used_.clear(); }
  /// Of the calling thread.
  [[nodiscard]] int current_device() const;
  [[nodiscard]] static context context_now();
  [[nodiscard]] static cudaStreamCaptureMode capture_mode();
  static void make_current(context wanted);
  static void make_current(int device);
  /// What a call does not do that fails to.
  static void put_mode_back();
  /// What cudaGetLastError would tell the application.
  [[nodiscard]] cudaError_t error_left_behind() const { return last_error_; }
  [[nodiscard]] std::uintptr_t live_events() const { return live_events_; }

  /// While set, the stream of this number is being captured, each time into another graph: what would spoil a capture is noted.
  void capture(std::optional<cudaStream_t> stream);
  /// Everything made from the graphs so far is gone.
  void destroy_graphs();
  [[nodiscard]] std::optional<std::string> spoilt_capture() const { return spoilt_capture_; }

 private:
  enum class kind { device, host, async, test };
  struct allocation {
    kind of;
    int device;
    std::size_t bytes;
    context owner = nullptr;
    cudaMemoryType type = cudaMemoryTypeDevice;
  };
  struct user_object {
    void* value;
    cudaHostFn_t when_gone;
    std::uintptr_t graph;
  };

  // Counts a call and says whether it fails.
  cudaError_t step(const char* name);
  cudaError_t allocate(const char* name, void** pointer, std::size_t bytes, kind of);
  cudaError_t release(const char* name, void* pointer);
  // The piece of memory that a place lies in.
  [[nodiscard]] std::map<void*, allocation>::const_iterator find(const void* place) const;
  // Dynamic, that a kernel may have.
  [[nodiscard]] std::size_t shared_bytes_of(const void* kernel) const {
    const auto found = shared_bytes_.find(kernel);
    return found == shared_bytes_.end() ? std::size_t{48} << 10 : found->second;
  }
  void use(cudaStream_t stream) { streams_used_.insert(stream); }
  // What may not be done anywhere while a stream is captured, but by threads that have said that they know what they do.
  void spoil(const char* name);
  // What may not be done on the captured stream.
  void spoil_on(cudaStream_t stream, const char* name) {
    if (captured_ == stream) spoilt_capture_ = name;
  }

  std::map<void*, allocation> memory_;
  std::map<const void*, std::size_t> shared_bytes_;  // of kernels that have asked for more than all may have
  std::set<cudaStream_t> streams_used_;
  std::uint64_t calls_made_ = 0, launches_ = 0;
  std::uint64_t fails_at_ = 0;
  cudaError_t status_ = cudaSuccess;
  bool sticky_ = false, broken_ = false;
  std::optional<std::string> failed_call_;
  std::optional<cudaStream_t> captured_;
  std::optional<std::string> spoilt_capture_;
  std::map<cudaStream_t, context> foreign_streams_;
  std::map<cudaStream_t, unsigned> rebirths_;
  std::vector<user_object> objects_;
  std::uintptr_t graph_ = 0, live_events_ = 0;
  cudaError_t last_error_ = cudaSuccess;
  bool busy_ = false;
  bool peers_ = true;
};

}  // namespace onefold_test
