#pragma once
/// @file fixture.hpp  The parameters of the tests of guarantee::exact, arrays among values that must not be read, and the
/// comparison of every form with the oracle.

#include <onefold/onefold.hpp>

#include "../forms/fixture.hpp"
#include "data.hpp"

namespace onefold_test {

inline constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};

#ifdef ONEFOLD_TEST_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
/// So many cases, fewer under a sanitizer.
[[nodiscard]] constexpr std::uint64_t cases(std::uint64_t many) { return is_sanitized ? many / 25 : many; }

/// serial(), openmp(1), openmp(2) and openmp(7), as far as they are built.
[[nodiscard]] std::vector<const executor_under_test*> exact_places();
#define ONEFOLD_TEST_EXACT_PLACES(suite) \
  INSTANTIATE_TEST_SUITE_P(exact, suite, testing::ValuesIn(exact_places()), label_of_executor)

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
/// mean_variance.
template <onefold::element T>
[[nodiscard]] std::string wrong_results(const onefold::executor& where, const T* x, std::uint64_t count,
                                        const exact_elements& expected, std::int64_t ddof = 0);
/// The same of dot.
template <onefold::element T>
[[nodiscard]] std::string wrong_dots(const onefold::executor& where, const T* x, const T* y, std::uint64_t count,
                                     const exact_pairs& expected);

/// The same for arrays of few elements, which a failure shows.
template <onefold::element T>
void expect_exact(const onefold::executor& where, std::span<const T> x, std::string_view data);
template <onefold::element T>
void expect_exact_dot(const onefold::executor& where, std::span<const T> x, std::span<const T> y, std::string_view data);

}  // namespace onefold_test
