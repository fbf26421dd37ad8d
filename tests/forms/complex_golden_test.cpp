/// @file complex_golden_test.cpp  The golden table of complex numbers: every executor gives its bits.

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
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
  std::string_view data;
  std::uint64_t seed, count;
  std::int64_t ddof;
  std::array<std::uint64_t, 3> bits;
};

constexpr complex_row rows[] = {
#define ONEFOLD_GOLDEN(type, what, accumulate, data, seed, count, bits) \
  {element_type::type, form::what, #data, seed, count, 0, {bits, 0, 0}},
#define ONEFOLD_GOLDEN_TWO(type, what, accumulate, data, seed, count, real, imaginary) \
  {element_type::type, form::what, #data, seed, count, 0, {real, imaginary, 0}},
#define ONEFOLD_GOLDEN_THREE(type, what, accumulate, data, seed, count, ddof, real, imaginary, variance) \
  {element_type::type, form::what, #data, seed, count, ddof, {real, imaginary, variance}},
#include "../golden/complex.inc"
#undef ONEFOLD_GOLDEN
#undef ONEFOLD_GOLDEN_TWO
#undef ONEFOLD_GOLDEN_THREE
};

template <class T>
std::array<std::uint64_t, 3> bits_of_both(const std::complex<T>& z) {
  return {bits_of(z.real()), bits_of(z.imag()), 0};
}

template <class T>
std::array<std::uint64_t, 3> by_the_library(const complex_row& row, const onefold::executor& where, const std::complex<T>* z,
                                            const std::complex<T>* second) {
  switch (row.what) {
    case form::sum:
      return bits_of_both(onefold::sum(where, z, row.count));
    case form::prod:
      return bits_of_both(onefold::prod(where, z, row.count));
    case form::mean:
      return bits_of_both(onefold::mean(where, z, row.count));
    case form::dot:
      return bits_of_both(onefold::dot(where, z, second, row.count));
    case form::norm1:
      return {bits_of(onefold::norm1(where, z, row.count)), 0, 0};
    case form::norm2:
      return {bits_of(onefold::norm2(where, z, row.count)), 0, 0};
    case form::norm_inf:
      return {bits_of(onefold::norm_inf(where, z, row.count)), 0, 0};
    case form::sum_of_squares:
      return {bits_of(onefold::sum_of_squares(where, z, row.count)), 0, 0};
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
  const auto found = onefold::mean_variance(where, z, row.count, onefold::ddof{row.ddof});
  return {bits_of(found.mean.real()), bits_of(found.mean.imag()), bits_of(found.variance)};
}

class complex_golden : public executor_test {
 protected:
  template <class T>
  static elements parts_of(const complex_row& row, std::uint64_t seed, std::size_t off) {
    const auto bits = onefold::tool::golden_data(onefold::element_type_of<T>, row.data, seed, 2 * row.count);
    elements parts(onefold::element_type_of<T>, bits.size() + 2 * off);
    for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&parts.as<T>()[2 * off + i], &bits[i], sizeof(T));
    return parts;
  }

  // At a boundary of 16 bytes and off it.
  template <class T>
  void expect_row(const complex_row& row) const {
    using Z = std::complex<T>;
    for (const std::size_t off : {0U, 1U}) {
      guarded_input memory(memory_for(where()), parts_of<T>(row, row.seed, off), operation::sum);
      guarded_input others(memory_for(where()), parts_of<T>(row, row.seed + (row.what == form::dot ? 1000 : 0), 0), operation::sum);
      const auto* const z = static_cast<const Z*>(memory.window(2 * off, 2 * row.count));
      const auto* const second = static_cast<const Z*>(others.window(0, 2 * row.count));
      EXPECT_EQ(by_the_library(row, where(), z, second), row.bits)
          << name(row.what) << " of " << name(row.type) << ", " << row.data << ", seed " << row.seed << ", " << row.count;
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
