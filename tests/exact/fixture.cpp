#include "fixture.hpp"

#include <cstdint>

namespace onefold_test {

namespace {

std::string mismatch(const onefold::executor& where, std::string_view call, element_type type, bool wide, std::uint64_t count,
                     const scalar& expected, const scalar& got) {
  return std::string(call) + " of " + std::to_string(count) + " " + std::string(onefold::name(type)) +
         (wide ? " accumulated as double" : "") + " on " + text(where) + ": expected " + text(expected) + ", got " + text(got) +
         "\n";
}

template <class Function, class T, class... M>
std::string wrong_result(const Function& function, form what, const onefold::executor& where, const T* x, std::uint64_t count,
                         const exact_elements& expected, M... modifier) {
  constexpr bool wide = sizeof...(M) != 0;
  const scalar right = expected.result(what, wide), got = scalar_of(function(where, x, count, modifier..., exactly));
  if (got == right) return {};
  return mismatch(where, onefold::name(what), onefold::element_type_of<T>, wide, count, right, got);
}

template <class T, class... M>
std::string wrong_moments(const onefold::executor& where, const T* x, std::uint64_t count, const exact_elements& expected,
                          std::int64_t ddof, M... modifier) {
  constexpr bool wide = sizeof...(M) != 0;
  const auto [mean, variance] = onefold::mean_variance(where, x, count, onefold::ddof{ddof}, modifier..., exactly);
  const scalar first = expected.result(form::mean, wide), second = expected.variance(ddof, wide);
  const auto call = "mean_variance with ddof " + std::to_string(ddof);
  if (scalar_of(mean) != first)
    return mismatch(where, call + ", mean", onefold::element_type_of<T>, wide, count, first, scalar_of(mean));
  if (scalar_of(variance) != second)
    return mismatch(where, call + ", variance", onefold::element_type_of<T>, wide, count, second, scalar_of(variance));
  return {};
}

template <class T, class... M>
std::string wrong_in_one_width(const onefold::executor& where, const T* x, std::uint64_t count, const exact_elements& expected,
                               std::int64_t ddof, M... modifier) {
  const auto wrong = [&](const auto& function, form what) {
    return wrong_result(function, what, where, x, count, expected, modifier...);
  };
  return wrong(onefold::sum, form::sum) + wrong(onefold::norm1, form::norm1) +
         wrong(onefold::sum_of_squares, form::sum_of_squares) + wrong(onefold::norm2, form::norm2) +
         wrong(onefold::mean, form::mean) + wrong_moments(where, x, count, expected, ddof, modifier...);
}

}  // namespace

std::vector<const executor_under_test*> exact_places() {
  static const std::vector<executor_under_test> known = [] {
    std::vector<executor_under_test> found{{"serial", onefold::serial(), std::nullopt}};
    const auto& openmp = backend_under_test(onefold::backend::openmp);
    if (!openmp.built) return found;
    for (const int threads : {1, 2, 7})
      found.push_back({"openmp" + std::to_string(threads), onefold::openmp(threads),
                       openmp.usable ? std::nullopt : std::optional(openmp.detail)});
    return found;
  }();
  std::vector<const executor_under_test*> all;
  for (const auto& one : known) all.push_back(&one);
  return all;
}

template <onefold::element T>
void walled<T>::assign(std::span<const T> x, std::size_t offset) {
  constexpr std::size_t line = 64 / sizeof(T);
  const T nan = from_bits<T>(layout<T>().nan());
  memory_.resize(x.size() + offset + 4 * line);
  const auto past_line = reinterpret_cast<std::uintptr_t>(memory_.data()) % 64 / sizeof(T);
  const auto before = static_cast<std::ptrdiff_t>(2 * line - past_line + offset);
  std::fill(memory_.begin(), memory_.begin() + before, nan);
  std::fill(std::copy(x.begin(), x.end(), memory_.begin() + before), memory_.end(), nan);
  first_ = memory_.data() + before;
}

template <onefold::element T>
std::string wrong_results(const onefold::executor& where, const T* x, std::uint64_t count, const exact_elements& expected,
                          std::int64_t ddof) {
  std::string wrong = wrong_in_one_width(where, x, count, expected, ddof);
  if constexpr (!std::is_same_v<T, double>)
    wrong += wrong_in_one_width(where, x, count, expected, ddof, onefold::accumulate_as<double>);
  count_dispatch(where);
  return wrong;
}

template <onefold::element T>
std::string wrong_dots(const onefold::executor& where, const T* x, const T* y, std::uint64_t count, const exact_pairs& expected) {
  constexpr element_type type = onefold::element_type_of<T>;
  const scalar right = expected.result(), got = scalar_of(onefold::dot(where, x, y, count, exactly));
  std::string wrong;
  if (got != right) wrong += mismatch(where, "dot", type, false, count, right, got);
  if constexpr (!std::is_same_v<T, double>) {
    const scalar wide = expected.result(true),
                 got_wide = scalar_of(onefold::dot(where, x, y, count, onefold::accumulate_as<double>, exactly));
    if (got_wide != wide) wrong += mismatch(where, "dot", type, true, count, wide, got_wide);
  }
  count_dispatch(where);
  return wrong;
}

template <onefold::element T>
void expect_exact(const onefold::executor& where, std::span<const T> x, std::string_view data) {
  const walled<T> there(x);
  EXPECT_EQ(wrong_results(where, there.data(), x.size(), exact_elements(x)), "") << data << " " << text_of(x);
}

template <onefold::element T>
void expect_exact_dot(const onefold::executor& where, std::span<const T> x, std::span<const T> y, std::string_view data) {
  const walled<T> one(x), other(y);
  EXPECT_EQ(wrong_dots(where, one.data(), other.data(), x.size(), exact_pairs(x, y)), "")
      << data << " " << text_of(x) << " " << text_of(y);
}

#define ONEFOLD_TEST_FLOAT(T)                                                                                                    \
  template class walled<T>;                                                                                                      \
  template std::string wrong_results<T>(const onefold::executor&, const T*, std::uint64_t, const exact_elements&, std::int64_t); \
  template std::string wrong_dots<T>(const onefold::executor&, const T*, const T*, std::uint64_t, const exact_pairs&);           \
  template void expect_exact<T>(const onefold::executor&, std::span<const T>, std::string_view);                                 \
  template void expect_exact_dot<T>(const onefold::executor&, std::span<const T>, std::span<const T>, std::string_view);
ONEFOLD_TEST_FLOAT(float)
ONEFOLD_TEST_FLOAT(double)
ONEFOLD_TEST_FLOAT(onefold::float16)
ONEFOLD_TEST_FLOAT(onefold::bfloat16)

}  // namespace onefold_test
