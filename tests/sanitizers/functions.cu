#include "functions.hpp"

#include <onefold/device.cuh>
#include <onefold/onefold.hpp>

#include "../exact/gpu_calls.cuh"

namespace onefold_test {

template <onefold::form What, class T>
std::vector<std::int64_t> words_of_function(const T* x, std::uint64_t count) {
  return words_of_values<What, T>(onefold::cuda(), count, element_of_array<T>{x});
}

template <class T>
std::array<T, 3> sums_of_functions(const T* x, const T* y, std::uint64_t count) {
  const auto both = onefold::sum(
      onefold::cuda(), count,
      [=] __host__ __device__(std::uint64_t i) {
        return std::array<T, 2>{x[i], y[i]};
      },
      exactly_so());
  const auto some = onefold::sum(
      onefold::cuda(), count,
      [=] __host__ __device__(std::uint64_t i) {
        return i % 3 == 0 ? onefold::maybe<T>(x[i]) : onefold::maybe<T>(onefold::absent);
      },
      exactly_so());
  return {both[0], both[1], some};
}

#define ONEFOLD_TEST_WORDS(what, T) \
  template std::vector<std::int64_t> words_of_function<onefold::form::what, T>(const T*, std::uint64_t);
#define ONEFOLD_TEST_FLOAT(T)          \
  ONEFOLD_TEST_WORDS(sum, T)           \
  ONEFOLD_TEST_WORDS(norm2, T)         \
  ONEFOLD_TEST_WORDS(mean_variance, T) \
  template std::array<T, 3> sums_of_functions(const T*, const T*, std::uint64_t);
ONEFOLD_TEST_FLOAT(float)
ONEFOLD_TEST_FLOAT(double)
ONEFOLD_TEST_WORDS(mean, std::int32_t)
ONEFOLD_TEST_WORDS(norm2, std::uint64_t)
ONEFOLD_TEST_WORDS(mean_variance, std::int64_t)

}  // namespace onefold_test
