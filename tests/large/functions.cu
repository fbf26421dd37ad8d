#include "functions.hpp"

#include <onefold/device.cuh>
#include <onefold/onefold.hpp>

#include "../exact/gpu_calls.cuh"

namespace onefold_test {

namespace {

template <class T>
struct in_turns {
  T even, odd;
  __host__ __device__ T operator()(std::uint64_t i) const { return i % 2 == 0 ? even : odd; }
};

}  // namespace

template <onefold::form What, class T>
std::vector<std::int64_t> words_of_turns(std::uint64_t count, T even, T odd) {
  return words_of_values<What, T>(onefold::cuda(), count, in_turns<T>{even, odd});
}
#define ONEFOLD_TEST_WORDS(what, T) template std::vector<std::int64_t> words_of_turns<onefold::form::what, T>(std::uint64_t, T, T);
ONEFOLD_TEST_WORDS(sum, float)
ONEFOLD_TEST_WORDS(sum, double)
ONEFOLD_TEST_WORDS(norm2, float)
ONEFOLD_TEST_WORDS(norm2, double)
ONEFOLD_TEST_WORDS(mean_variance, double)
ONEFOLD_TEST_WORDS(mean_variance, std::int64_t)

sum_of_indices exact_sum_of_indices(std::uint64_t count) {
  onefold::report ran;
  auto how = exactly_so();
  how.report = &ran;
  const double value = onefold::sum(
      onefold::cuda(), count, [] __host__ __device__(std::uint64_t i) { return static_cast<double>(i); }, how);
  return {value, ran.launches};
}

std::array<double, 3> exact_sums_of_indices(std::uint64_t count) {
  return onefold::sum(
      onefold::cuda(), count,
      [] __host__ __device__(std::uint64_t i) {
        return std::array<double, 3>{1.0, static_cast<double>(i), -static_cast<double>(i)};
      },
      exactly_so());
}

double exact_sum_that_cancels(std::uint64_t count, std::uint64_t place, double one, double other) {
  return onefold::sum(
      onefold::cuda(), count,
      [=] __host__ __device__(std::uint64_t i) {
        return i == place ? one : i == place + 1 ? other : (i - place) % 2 == 0 ? 1e300 : -1e300;
      },
      exactly_so());
}

}  // namespace onefold_test
