/// @file complex_golden_test.cpp  The golden table of complex numbers: every executor gives its bits.

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <onefold/onefold.hpp>

#include "../../src/tool/golden.hpp"
#include "record_fixture.hpp"
#include "small_oracle.hpp"

namespace onefold_test {
namespace {

using small::bits_of;

struct complex_row {
  element_type type;
  form what;
  bool wide;
  std::string_view data;
  std::uint64_t seed, count;
  std::int64_t ddof;
  std::array<std::uint64_t, 3> bits;
};

constexpr complex_row rows[] = {
#define ONEFOLD_GOLDEN(type, what, accumulate, data, seed, count, bits) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {bits, 0, 0}},
#define ONEFOLD_GOLDEN_TWO(type, what, accumulate, data, seed, count, real, imaginary) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {real, imaginary, 0}},
#define ONEFOLD_GOLDEN_THREE(type, what, accumulate, data, seed, count, ddof, real, imaginary, variance) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, {real, imaginary, variance}},
#include "../golden/complex.inc"
#undef ONEFOLD_GOLDEN
#undef ONEFOLD_GOLDEN_TWO
#undef ONEFOLD_GOLDEN_THREE
};

template <class T>
std::array<std::uint64_t, 3> bits_of_both(const std::complex<T>& z) {
  return {bits_of(z.real()), bits_of(z.imag()), 0};
}

// Of what forms accumulate in Z, which may be wider than the numbers are.
template <class T, class Z>
std::array<std::uint64_t, 3> by_the_library(const complex_row& row, const onefold::executor& where, const std::complex<T>* z,
                                            const std::complex<T>* second) {
  constexpr onefold::accumulate_as_t<Z> as{};
  switch (row.what) {
    case form::sum:
      return bits_of_both(onefold::sum(where, z, row.count, as));
    case form::prod:
      return bits_of_both(onefold::prod(where, z, row.count, as));
    case form::mean:
      return bits_of_both(onefold::mean(where, z, row.count, as));
    case form::dot:
      return bits_of_both(onefold::dot(where, z, second, row.count, as));
    case form::norm1:
      return {bits_of(onefold::norm1(where, z, row.count, as)), 0, 0};
    case form::norm2:
      return {bits_of(onefold::norm2(where, z, row.count, as)), 0, 0};
    case form::norm_inf:
      return {bits_of(onefold::norm_inf(where, z, row.count)), 0, 0};
    case form::sum_of_squares:
      return {bits_of(onefold::sum_of_squares(where, z, row.count, as)), 0, 0};
    case form::count:
      return {onefold::count(where, z, row.count), 0, 0};
    case form::all:
      return {onefold::all(where, z, row.count) ? 1U : 0U, 0, 0};
    case form::any:
      return {onefold::any(where, z, row.count) ? 1U : 0U, 0, 0};
    case form::none:
      return {onefold::none(where, z, row.count) ? 1U : 0U, 0, 0};
    default:
      break;
  }
  const auto found = onefold::mean_variance(where, z, row.count, as, onefold::ddof{row.ddof});
  return {bits_of(found.mean.real()), bits_of(found.mean.imag()), bits_of(found.variance)};
}

class complex_golden : public executor_test {
 protected:
  // A few hundred arrays for all rows, places and executors: each is made once.
  template <class T>
  static const elements& parts_of(const complex_row& row, std::uint64_t seed) {
    static std::map<std::tuple<std::string_view, std::uint64_t, std::uint64_t>, elements> known;
    const auto place = known.try_emplace({row.data, seed, row.count}, onefold::element_type_of<T>, 2 * row.count);
    elements& parts = place.first->second;
    if (!place.second) return parts;
    const auto bits = onefold::tool::golden_data(onefold::element_type_of<T>, row.data, seed, 2 * row.count);
    auto* const to = static_cast<std::byte*>(parts.data());
    for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(to + i * sizeof(T), &bits[i], sizeof(T));
    return parts;
  }
  template <class T>
  static elements shifted(const elements& parts, std::size_t off) {
    elements all(parts.type(), parts.size() + 2 * off);
    if (parts.size() > 0) std::memcpy(static_cast<std::byte*>(all.data()) + 2 * off * sizeof(T), parts.data(), parts.bytes());
    return all;
  }

  // At a boundary of 16 bytes and off it.
  template <class T>
  void expect_row(const complex_row& row) const {
    using Z = std::complex<T>;
    std::optional<guarded_input> others;
    if (row.what == form::dot) others.emplace(memory_for(where()), parts_of<T>(row, row.seed + 1000), operation::sum);
    const auto* const second = others ? static_cast<const Z*>(others->window(0, 2 * row.count)) : nullptr;
    for (const std::size_t off : {0U, 1U}) {
      guarded_input memory(memory_for(where()), shifted<T>(parts_of<T>(row, row.seed), off), operation::sum);
      const auto* const z = static_cast<const Z*>(memory.window(2 * off, 2 * row.count));
      const auto found = row.wide ? by_the_library<T, std::complex<double>>(row, where(), z, second)
                                  : by_the_library<T, Z>(row, where(), z, second);
      EXPECT_EQ(found, row.bits) << name(row.what) << " of " << name(row.type) << (row.wide ? " as c128, " : ", ") << row.data
                                 << ", seed " << row.seed << ", " << row.count;
      count_dispatch(where());
    }
  }
};

TEST_P(complex_golden, rows_are_met) {
  for (const auto& row : rows) {
    if (row.type == element_type::c64)
      expect_row<float>(row);
    else
      expect_row<double>(row);
  }
  EXPECT_GE(std::size(rows), 1000U);
}

INSTANTIATE_TEST_SUITE_P(forms, complex_golden, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
