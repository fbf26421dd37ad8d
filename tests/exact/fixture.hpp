#pragma once
/// @file fixture.hpp  The parameters of the tests of guarantee::exact, arrays among values that must not be read, and the
/// comparison of every form with the oracle.

#include <onefold/onefold.hpp>

#include "../forms/fixture.hpp"
#include "data.hpp"
#include "options.hpp"

namespace onefold_test {

/// So many cases, fewer under a sanitizer.
[[nodiscard]] constexpr std::uint64_t cases(std::uint64_t many) { return is_sanitized ? many / 25 : many; }

/// serial(), openmp(1), openmp(2) and openmp(7), as far as they are built.
[[nodiscard]] std::vector<const executor_under_test*> exact_places();
#define ONEFOLD_TEST_EXACT_PLACES(suite) \
  INSTANTIATE_TEST_SUITE_P(exact, suite, testing::ValuesIn(exact_places()), label_of_executor)
/// These and cuda(), if it is built: for suites that hand arrays of the host's to the functions below alone.
[[nodiscard]] std::vector<const executor_under_test*> exact_places_and_gpu();
#define ONEFOLD_TEST_EXACT_PLACES_AND_GPU(suite) \
  INSTANTIATE_TEST_SUITE_P(exact, suite, testing::ValuesIn(exact_places_and_gpu()), label_of_executor)

/// A copy of an array with NaN on both sides, `offset` elements behind a boundary of 64 bytes.
template <onefold::element T>
class walled {
 public:
  explicit walled(std::span<const T> x = {}, std::size_t offset = 0) { assign(x, offset); }
  void assign(std::span<const T> x, std::size_t offset = 0);
  [[nodiscard]] const T* data() const { return first_; }
  [[nodiscard]] T* data() { return first_; }

 private:
  std::vector<T> memory_;
  T* first_ = nullptr;
};

/// What is wrong with the results of a form of x, of every form that there is and in each width, or nothing. `ddof` is for
/// mean_variance. x is the host's: of cuda() a copy on the GPU is reduced, among NaN and as far from a boundary of 64 bytes as x,
/// by the calls that return and by those that store in its memory.
template <onefold::element T>
[[nodiscard]] std::string wrong_results(const onefold::executor& where, const T* x, std::uint64_t count,
                                        const exact_elements& expected, std::int64_t ddof = 0);
/// The same of dot.
template <onefold::element T>
[[nodiscard]] std::string wrong_dots(const onefold::executor& where, const T* x, const T* y, std::uint64_t count,
                                     const exact_pairs& expected);

/// x as the executor can read it: of cuda() a copy on the GPU, among NaN, which is there until the next call with this `number`.
template <onefold::element T>
[[nodiscard]] const T* placed(const onefold::executor& where, const T* x, std::uint64_t count, int number = 0);
/// The exact result of one call, wherever it runs.
template <class Function, onefold::element T, class... M>
[[nodiscard]] auto exact_value(const Function& function, const onefold::executor& where, const std::vector<T>& x, M... modifiers) {
  return function(where, placed(where, x.data(), x.size()), x.size(), modifiers..., exactly);
}
template <onefold::element T, class... M>
[[nodiscard]] auto exact_dot(const onefold::executor& where, const std::vector<T>& x, const std::vector<T>& y, M... modifiers) {
  const T* const at_x = placed(where, x.data(), x.size());
  const T* const at_y = &x == &y ? at_x : placed(where, y.data(), y.size(), 1);
  return onefold::dot(where, at_x, at_y, x.size(), modifiers..., exactly);
}

/// wrong_results() and wrong_dots() of arrays of few elements, which a failure shows.
template <onefold::element T>
void expect_exact(const onefold::executor& where, std::span<const T> x, std::string_view data);
template <onefold::element T>
void expect_exact_dot(const onefold::executor& where, std::span<const T> x, std::span<const T> y, std::string_view data);

}  // namespace onefold_test
