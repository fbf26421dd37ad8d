#pragma once
/// @file gpu_calls.cuh  What the units of exact calls with functions have in common.

#include <onefold/onefold.hpp>

#include <cstdint>
#include <vector>

#include "../support/both_sides.cuh"

namespace onefold_test {

inline onefold::options exactly_so() {
  onefold::options how;
  how.guarantee = onefold::guarantee::exact;
  return how;
}

/// A result that the GPU stores, and does not send to a host that waits.
template <class R, class Call>
R stored(const onefold::executor& where, const Call& call) {
  R* place = nullptr;
  expect_success(cudaMallocManaged(&place, sizeof(R)), "cudaMallocManaged");
  call(place);
  onefold::synchronize(where);
  const R result = *place;
  cudaFree(place);
  return result;
}

template <class T>
struct element_of_array {
  const T* x;
  __host__ __device__ T operator()(std::uint64_t i) const { return x[i]; }
};

/// The words of the state of f's values.
template <onefold::form What, class T, class F>
std::vector<std::int64_t> words_of_values(const onefold::executor& where, std::uint64_t n, const F& f) {
  onefold::exact_state<What, T> state;
  state.add(where, n, f);
  return std::vector<std::int64_t>(state.words(), state.words() + state.size());
}

}  // namespace onefold_test
