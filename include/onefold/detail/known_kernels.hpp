#pragma once
/// @file known_kernels.hpp  Kernels in the caller's translation unit, by their symbols. CUDA loads a kernel when it is launched for the first time, and may wait for all that runs on the GPU
/// then; where that is a collective, whose other ranks wait for this process, nobody gets on. So who works with collectives loads them ahead.

#include <mutex>
#include <vector>

namespace onefold {
namespace detail {

class known_kernels {
 public:
  /// From the initialisation of a variable in each translation unit that has such kernels.
  static bool add(const void* first, const void* second = nullptr) {
    known_kernels& all = of_process();
    const std::lock_guard<std::mutex> lock(all.mutex_);
    all.symbols_.push_back(first);
    if (second != nullptr) all.symbols_.push_back(second);
    return true;
  }
  template <class Each>
  static void for_each(const Each& each) {
    known_kernels& all = of_process();
    const std::lock_guard<std::mutex> lock(all.mutex_);
    for (const void* symbol : all.symbols_) each(symbol);
  }

 private:
  static known_kernels& of_process() {
    static known_kernels& all = *new known_kernels;  // the order in which translation units end is nobody's
    return all;
  }
  std::mutex mutex_;
  std::vector<const void*> symbols_;
};

}  // namespace detail
}  // namespace onefold
