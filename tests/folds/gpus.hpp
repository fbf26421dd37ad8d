#pragma once
/// @file gpus.hpp  Tests on all GPUs that there are: on one several times.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

#include "../support/cuda.hpp"
#include "range_support.hpp"

namespace onefold_test {

class gpus : public testing::Test {
 protected:
  void SetUp() override {
    const auto& backend = backend_under_test(onefold::backend::cuda);
    if (!backend.usable) GTEST_SKIP() << backend.detail;
    count_ = static_cast<int>(backend.devices.size());
  }
  [[nodiscard]] int device_of(std::size_t part) const { return static_cast<int>(part) % count_; }
  int count_ = 0;
};

/// Makes a GPU current for as long as it lives.
class on_gpu {
 public:
  explicit on_gpu(int device) {
    expect_success(cudaGetDevice(&before_), "cudaGetDevice");
    expect_success(cudaSetDevice(device), "cudaSetDevice");
  }
  ~on_gpu() { cudaSetDevice(before_); }
  on_gpu(const on_gpu&) = delete;
  on_gpu& operator=(const on_gpu&) = delete;

 private:
  int before_ = 0;
};

/// Memory on one of several GPUs.
class memory_on {
 public:
  memory_on(int device, const void* from, std::size_t size) {
    const on_gpu current(device);
    memory_ = std::make_unique<device_memory>(size);
    if (size > 0) copy_to_device(memory_->as<std::byte>(), from, size);
  }
  template <class T>
  T* as() const {
    return memory_->as<T>();
  }

 private:
  std::unique_ptr<device_memory> memory_;
};

}  // namespace onefold_test
