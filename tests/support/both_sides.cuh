#pragma once
/// @file both_sides.cuh  What makes both_results, in a unit for nvcc.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "both_sides.hpp"
#include "cuda.hpp"

namespace onefold_test {

/// Memory that both sides read, of one element more than asked for.
template <class T>
class managed_array {
 public:
  explicit managed_array(std::uint64_t count) {
    expect_success(cudaMallocManaged(&data_, (count + 1) * sizeof(T)), "cudaMallocManaged");
  }
  ~managed_array() { cudaFree(data_); }
  managed_array(const managed_array&) = delete;
  managed_array& operator=(const managed_array&) = delete;
  [[nodiscard]] T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

template <class T>
std::vector<unsigned char> bytes_of(const T& value) {
  std::vector<unsigned char> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}
template <class T>
std::vector<unsigned char> bytes_of(const onefold::arg_result<T>& found) {  // without what stands between the two
  auto bytes = bytes_of(found.value);
  const auto index = bytes_of(found.index);
  bytes.insert(bytes.end(), index.begin(), index.end());
  return bytes;
}

class comparison {
 public:
  template <class Call>
  void operator()(std::string name, const Call& call) {
    both_results now{std::move(name), {}, {}, {}};
    try {
      now.gpu = bytes_of(call(onefold::cuda()));
      expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      now.cpu = bytes_of(call(onefold::serial()));
    } catch (const std::exception& problem) {
      now.problem = problem.what();
    }
    all.push_back(std::move(now));
  }
  std::vector<both_results> all;
};

}  // namespace onefold_test
