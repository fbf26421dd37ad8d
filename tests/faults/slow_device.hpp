#pragma once
/// @file slow_device.hpp  A device on the runtime made of host memory whose streams do their work as late as CUDA lets them, or whose copies are as
/// early: what is not ordered by an event or a wait comes out wrong. Its kernels of fixed_order and of exact sums work: they give what the CPU gives of
/// the memory that they find.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <onefold/types.hpp>

#include "fake_runtime.hpp"

namespace onefold_test {

class slow_device {
 public:
  enum class copies { late, early };

  /// Puts itself in the place of some of the runtime's calls, until the runtime goes. One at a time.
  slow_device(fake_runtime& runtime, copies when);
  ~slow_device();
  slow_device(const slow_device&) = delete;
  slow_device& operator=(const slow_device&) = delete;

  /// What the calls to come reduce: launches tell their arrays alone. Of several forms each has kernels of its own.
  void reduces(onefold::element_type type, std::vector<onefold::form> forms, bool wide = false);

  /// The same of dots of two types, the first of which is the one with larger elements.
  void reduces_products(onefold::element_type x, onefold::element_type y, onefold::element_type products);

  /// The same of complex numbers.
  void reduces_complex(onefold::element_type type, onefold::form what, bool wide);

  /// Work of somebody else's on a stream.
  void enqueue(cudaStream_t stream, std::function<void()> run) { put(stream, {std::move(run)}); }

  /// Memory that is read when the copy runs, not in the call.
  void pin(const void* memory, std::size_t bytes);

  struct copy {
    const std::byte* from;
    std::byte* to;
    std::size_t bytes;
    std::uint64_t launches_before;  ///< put on their streams before it
  };
  /// To the device, in the order of the calls.
  [[nodiscard]] const std::vector<copy>& copied() const { return copied_; }
  [[nodiscard]] std::uint64_t launches() const { return launches_; }
  /// Work that has not run.
  [[nodiscard]] std::size_t pending() const;
  void forget() { copied_.clear(), launches_ = 0; }

 private:
  struct work {
    std::function<void()> run;        // empty for the two below
    cudaEvent_t records = nullptr;    // counts one of its records as done
    cudaEvent_t waits_for = nullptr;  // until so many of its records have been done
    std::uint64_t of_record = 0;
  };
  void put(cudaStream_t stream, work one) { streams_[stream].push_back(std::move(one)); }
  static void run(const work& one);
  void drain(cudaStream_t stream);
  void drain_until(cudaEvent_t event, std::uint64_t record);
  [[nodiscard]] bool is_pinned(const void* memory) const;
  std::function<void()> fixed_order(cudaFunction_t function, void** arguments);
  std::function<void()> products(cudaFunction_t function, void** arguments);
  std::function<void()> complex_numbers(cudaFunction_t function, void** arguments);
  std::function<void()> exact(const void* kernel, void** arguments);
  std::function<void()> exact_conclusion(const cudaLaunchConfig_t* config, void** arguments);
  std::function<void()> store(const cudaLaunchConfig_t* config, void** arguments);
  std::function<void()> join(void** arguments);
  static std::function<void()> add_words(void** arguments);
  [[nodiscard]] bool is_joining_kernel(const void* kernel) const;
  [[nodiscard]] bool is_exact_kernel(const void* kernel) const;

  fake_runtime& runtime_;
  onefold::cuda_backend::runtime base_;
  copies when_;
  onefold::element_type type_ = onefold::element_type::f32;
  std::vector<onefold::form> forms_;
  bool wide_ = false;
  bool of_products_ = false, of_complex_ = false;
  onefold::element_type second_type_ = onefold::element_type::f32;  // of products, which are of the third
  onefold::element_type products_type_ = onefold::element_type::f32;
  std::map<const void*, std::size_t> pinned_;
  std::map<cudaStream_t, std::deque<work>> streams_;
  std::map<cudaEvent_t, std::uint64_t> recorded_, done_;
  std::map<cudaEvent_t, cudaStream_t> recorded_on_;
  std::vector<copy> copied_;
  static inline thread_local cudaStream_t launched_on_ = nullptr;  // by this thread, which waits for what it has launched last
  std::uint64_t launches_ = 0;
};

}  // namespace onefold_test
