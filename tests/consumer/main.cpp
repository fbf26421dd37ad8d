/// @file main.cpp  What a user's program does first: sums a vector on every CPU backend there is, lists the variants, meets an
/// error. C++17, and what C++20 adds where it is compiled as that.

#include <cstdio>
#include <string>
#include <vector>

#if __cplusplus >= 202002L
#include <span>
#endif

#include <onefold/onefold.hpp>

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  std::printf("consumer: wrong: %s\n", what.c_str());
  ++failures;
}

// Small whole numbers, so that every order of addition gives the same sum.
std::vector<double> whole_numbers(int count) {
  std::vector<double> x;
  for (int i = 0; i < count; ++i) x.push_back(i % 1000 - 499);
  return x;
}

bool refused(const onefold::executor& where, onefold::errc reason) {
  try {
    (void)onefold::sum(where, std::vector<double>{1, 2, 3});
  } catch (const onefold::error& error) {
    return error.code() == reason;
  }
  return false;
}

}  // namespace

int main() {
  const std::vector<double> x = whole_numbers(1'000'000);
  const double sum = 500'000;

  expect(onefold::sum(x) == sum, "sum(x)");
  expect(onefold::sum(onefold::serial(), x) == sum, "sum(serial(), x)");
  expect(onefold::max(onefold::serial(), x) == 500, "max(serial(), x)");
  expect(onefold::sum(onefold::serial(), std::vector<float>{}) == 0, "the sum of nothing");
  expect(onefold::dot(x, x) == onefold::sum_of_squares(x), "dot(x, x)");
  expect(onefold::norm2(std::vector<float>{3, 4}) == 5, "norm2(x)");
  expect(onefold::mean(std::vector<int>{1, 2}) == 1.5, "mean of integers");
  expect(onefold::sum(std::vector<float>{16777216, 1}, onefold::accumulate_as<double>) == 16777217,
         "sum(x, accumulate_as<double>)");

  onefold::report ran;
  onefold::options how;
  how.report = &ran;
  expect(onefold::sum(x, how) == sum && ran.guarantee == onefold::guarantee::fixed, "the default promises the fixed order");

#if __cplusplus >= 202002L
  expect(onefold::sum(std::span(x).first(1000)) == 500, "sum of a span");
  expect(onefold::sum(x, {.guarantee = onefold::guarantee::fixed}) == sum, "options by their names");
  const std::span<const onefold::variant_info> rows = onefold::variants();
  expect(rows.size() == onefold::variants().size(), "the catalogue as a span");
#endif

  for (const onefold::backend_info& one : onefold::backends()) {
    std::printf("consumer: %s: %s\n", std::string(onefold::name(one.where)).c_str(), one.detail.c_str());
    if (one.where == onefold::backend::serial) expect(one.usable, "serial is usable");
    if (one.where == onefold::backend::openmp) {
      if (one.built)
        expect(onefold::sum(onefold::openmp(), x) == sum, "sum(openmp(), x)");
      else
        expect(refused(onefold::openmp(), onefold::errc::backend_not_built), "openmp() is refused when it is not built");
    }
    if (one.where == onefold::backend::cuda && !one.built)
      expect(refused(onefold::cuda(), onefold::errc::backend_not_built), "cuda() is refused when it is not built");
  }

  expect(onefold::find_variant("vector_load") != nullptr, "vector_load stands in the catalogue");
  expect(onefold::find_variant("fixed_order", onefold::backend::serial) != nullptr, "the default stands in the catalogue");
  for (const onefold::variant_info& one : onefold::variants()) std::printf("consumer: variant %s\n", std::string(one.name).c_str());
  std::printf("consumer: onefold %s, C++%ld, %zu variants, %d failures\n", ONEFOLD_VERSION_STRING, __cplusplus / 100 % 100,
              onefold::variants().size(), failures);
  return failures == 0 ? 0 : 1;
}
