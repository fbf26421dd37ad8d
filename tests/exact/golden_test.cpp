/// @file golden_test.cpp  The golden table of guarantee::exact: the library gives its bits and its states, and so does the tests'
/// other reference, which shares nothing with the program that made the table.

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include <onefold/onefold.hpp>

#include "../../src/tool/golden.hpp"
#include "../forms/fixture.hpp"
#include "../support/real_types.hpp"
#include "added_words.hpp"
#ifdef ONEFOLD_HAVE_GMP
#include "../support/exact_oracle.hpp"
#include "whole_sums.hpp"
#endif

namespace onefold_test {
namespace {

using results_of_row = std::array<std::uint64_t, 3>;

struct exact_row {
  element_type type;
  form what;
  bool wide;
  std::string_view data;
  std::uint64_t seed, count;
  std::int64_t ddof;
  results_of_row bits;  // of the results, or of the parts of a complex one; of a state its hash
  bool is_state = false;
  std::optional<element_type> second = {};  // of a dot of two types that of y
};

constexpr exact_row rows[] = {
#define ONEFOLD_GOLDEN(type, what, accumulate, data, seed, count, bits) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {bits}},
#define ONEFOLD_GOLDEN_RECORD(type, what, accumulate, data, seed, count, ddof, first, second) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, {first, second}},
#define ONEFOLD_GOLDEN_STATE(type, what, data, seed, count, hash) \
  {element_type::type, form::what, false, #data, seed, count, 0, {hash}, true},
#define ONEFOLD_GOLDEN_COMPLEX(type, what, accumulate, data, seed, count, real, imaginary) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {real, imaginary}},
#define ONEFOLD_GOLDEN_THREE(type, what, accumulate, data, seed, count, ddof, real, imaginary, variance) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, {real, imaginary, variance}},
#define ONEFOLD_GOLDEN_MIXED(type, other, what, accumulate, data, seed, count, bits)                             \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {bits}, false, \
   element_type::other},
#include "../golden/exact.inc"
#undef ONEFOLD_GOLDEN
#undef ONEFOLD_GOLDEN_RECORD
#undef ONEFOLD_GOLDEN_STATE
#undef ONEFOLD_GOLDEN_COMPLEX
#undef ONEFOLD_GOLDEN_THREE
#undef ONEFOLD_GOLDEN_MIXED
};

std::string text_of(const exact_row& row) {
  return std::string(onefold::name(row.type)) + (row.second ? " with " + std::string(onefold::name(*row.second)) : "") + " " +
         std::string(onefold::name(row.what)) + (row.wide ? ", f64, " : ", ") + std::string(row.data) + ", seed " +
         std::to_string(row.seed) + ", " + std::to_string(row.count) + " elements" + (row.is_state ? ", state" : "");
}

// Of complex numbers both parts of one behind the other.
std::vector<std::uint64_t> data_of(const exact_row& row) {
  return onefold::tool::golden_data(row.type, row.data, row.seed, row.count);
}
std::vector<std::uint64_t> second_data_of(const exact_row& row) {
  return onefold::tool::golden_data(row.second.value_or(row.type), row.data, row.seed + 1'000, row.count);
}

template <class T>
std::vector<T> as(const std::vector<std::uint64_t>& bits) {
  std::vector<T> all;
  for (const std::uint64_t one : bits) all.push_back(value_of<T>({onefold::element_type_of<T>, one}));
  return all;
}

// FNV-1a of 64 bits over the little-endian bytes.
std::uint64_t hash_of(const std::vector<std::int64_t>& words) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::int64_t word : words)
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (static_cast<std::uint64_t>(word) >> 8 * byte & 0xff)) * 0x100000001b3u;
  return hash;
}

#ifdef ONEFOLD_HAVE_GMP
// The elements as those of the products' type, in which none is rounded.
std::vector<std::uint64_t> as_products(element_type type, const std::vector<std::uint64_t>& bits, element_type products) {
  return with_real_type(type, [&]<class T> {
    std::vector<std::uint64_t> all;
    for (const T& one : as<T>(bits))
      all.push_back(products == element_type::f64 ? scalar_of(static_cast<double>(one)).bits
                                                  : scalar_of(static_cast<float>(one)).bits);
    return all;
  });
}

results_of_row dot_by_the_oracle(const exact_row& row) {
  const element_type other = row.second.value_or(row.type);
  const bool has_double = row.type == element_type::f64 || other == element_type::f64;
  const element_type products = row.second ? (has_double ? element_type::f64 : element_type::f32) : row.type;
  auto x = data_of(row), y = second_data_of(row);
  if (row.second) x = as_products(row.type, x, products), y = as_products(other, y, products);
  exact_pairs pairs(products);
  for (std::size_t i = 0; i < x.size(); ++i) pairs.add(x[i], y[i]);
  return {row.is_state ? hash_of(pairs.words()) : pairs.result(row.wide).bits, 0};
}

results_of_row complex_by_the_oracle(const exact_row& row) {
  const element_type parts = onefold::part_type(row.type);
  const auto x = data_of(row);
  if (row.what == form::dot) {
    const auto y = second_data_of(row);
    exact_pairs real(parts), imaginary(parts);
    for (std::size_t i = 0; i < x.size(); i += 2) {
      real.add(x[i], y[i]);
      real.add(x[i + 1], y[i + 1]);
      imaginary.add(x[i], y[i + 1]);
      imaginary.add(x[i + 1] ^ layout_of(parts).sign(), y[i]);
    }
    return {real.result(row.wide).bits, imaginary.result(row.wide).bits};
  }
  exact_elements real(parts), imaginary(parts);
  for (std::size_t i = 0; i < x.size(); ++i) (i % 2 == 0 ? real : imaginary).add(x[i]);
  if (row.what == form::sum || row.what == form::mean)
    return {real.result(row.what, row.wide).bits, imaginary.result(row.what, row.wide).bits};
  if (row.what == form::mean_variance)
    return {real.result(form::mean, row.wide).bits, imaginary.result(form::mean, row.wide).bits,
            real.variance_with(imaginary, row.ddof, row.wide).bits};
  real.merge(imaginary);
  return {real.result(row.what, row.wide).bits, 0};
}

results_of_row integers_by_the_oracle(const exact_row& row) {
  const whole_sums sums = with_real_type(row.type, [&]<class T> {
    if constexpr (std::is_integral_v<T>)
      return whole_sums(as<T>(data_of(row)));
    else
      return whole_sums(std::vector<int>());
  });
  if (row.is_state) return {hash_of(sums.words(row.what)), 0};
  if (row.what == form::norm2) return {sums.norm2().bits, 0};
  return {sums.mean().bits, row.what == form::mean ? 0 : sums.variance(row.ddof).bits};
}

results_of_row by_the_oracle(const exact_row& row) {
  if (onefold::is_complex(row.type)) return complex_by_the_oracle(row);
  if (row.what == form::dot) return dot_by_the_oracle(row);
  if (!onefold::is_float(row.type)) return integers_by_the_oracle(row);
  exact_elements elements(row.type);
  for (const std::uint64_t one : data_of(row)) elements.add(one);
  if (row.is_state) return {hash_of(elements.words(row.what)), 0};
  if (row.what != form::mean_variance) return {elements.result(row.what, row.wide).bits, 0};
  return {elements.result(form::mean, row.wide).bits, elements.variance(row.ddof, row.wide).bits};
}

TEST(the_exact_golden_table, is_that_of_the_oracle) {
  // The table and the oracle are the same in every build: with a sanitizer some of the rows.
  for (std::size_t i = 0; i < std::size(rows); i += is_sanitized ? 7 : 1)
    EXPECT_EQ(by_the_oracle(rows[i]), rows[i].bits) << text_of(rows[i]);
}

// Sums that the smallest number moves to another result on one side alone, of which some are rounded up and some down; and results on either side of
// overflow, and subnormal ones.
TEST(the_exact_golden_table, has_sums_in_the_middle_and_at_the_border) {
  int up = 0, down = 0, largest = 0, infinite = 0, subnormal = 0;
  for (const auto& row : rows) {
    if (row.is_state || row.second || row.what == form::mean_variance) continue;
    const float_layout in = layout_of(row.wide || row.type == element_type::f64 ? element_type::f64 : element_type::f32);
    const std::uint64_t size = row.bits[0] & ~in.sign();
    if (row.data == "edges" || row.data == "square_edges" || row.data == "root_edges") {
      largest += size + 1 == in.infinity() ? 1 : 0;
      infinite += size == in.infinity() ? 1 : 0;
      subnormal += size != 0 && size >> in.stored == 0 ? 1 : 0;
    }
    if (row.what != form::sum || (row.data != "ties" && row.data != "wide_ties")) continue;
    exact_elements less(row.type);
    for (const std::uint64_t one : data_of(row)) less.add(one);
    exact_elements more = less;
    const std::uint64_t sign = layout_of(row.type).sign();
    const bool negative = (row.bits[0] & in.sign()) != 0;
    more.add(negative ? sign | 1 : 1);
    less.add(negative ? 1 : sign | 1);
    const std::uint64_t above = more.result(form::sum, row.wide).bits, below = less.result(form::sum, row.wide).bits;
    EXPECT_EQ(above, below + 1) << text_of(row);
    EXPECT_EQ(row.bits[0] % 2, 0U) << text_of(row);
    (row.bits[0] == above ? up : down) += 1;
  }
  EXPECT_GE(up, 10);
  EXPECT_GE(down, 10);
  EXPECT_GE(largest, 20);
  EXPECT_GE(infinite, 40);
  EXPECT_GE(subnormal, 10);
}
#endif

constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};

// An array where the executor can read it.
class placed_array {
 public:
  template <class T>
  placed_array(const onefold::executor& where, const std::vector<T>& x) : memory_(memory_for(where), (x.size() + 1) * sizeof(T)) {
    memory_.write(0, x.data(), x.size() * sizeof(T));
  }
  [[nodiscard]] const void* data() const { return memory_.address(); }

 private:
  block memory_;
};

template <form What, class T>
results_of_row hash_of_state(const onefold::executor& where, std::span<const T> x, std::span<const T> y) {
  onefold::exact_state<What, T> state;
  if constexpr (What == form::dot)
    state.add(where, x, y);
  else
    state.add(where, x);
  return {hash_of(words_of(state)), 0};
}

// The bits of a number, or of both parts.
template <class T>
results_of_row bits_of(const T& result) {
  if constexpr (onefold::is_complex(onefold::element_type_of<T>))
    return {scalar_of(result.real()).bits, scalar_of(result.imag()).bits};
  else
    return {scalar_of(result).bits, 0};
}

// x and y are of T, or the parts of complex numbers of E.
template <class E, class T, class... M>
results_of_row by_the_library(const exact_row& row, const onefold::executor& where, M... modifier) {
  const placed_array first(where, as<T>(data_of(row)));
  const placed_array second(where, row.what == form::dot ? as<T>(second_data_of(row)) : std::vector<T>());
  const std::span<const E> x{static_cast<const E*>(first.data()), row.count}, y{static_cast<const E*>(second.data()), row.count};
  constexpr bool is_integer = std::is_integral_v<E>, has_states = std::is_same_v<E, T>;
#define ONEFOLD_TEST_FORM(name)                                           \
  if (row.what == form::name) {                                           \
    if constexpr (has_states)                                             \
      if (row.is_state) return hash_of_state<form::name, E>(where, x, y); \
    return bits_of(onefold::name(where, x, modifier..., exactly));        \
  }
  ONEFOLD_TEST_FORM(norm2)
  ONEFOLD_TEST_FORM(mean)
  if constexpr (!is_integer) {
    ONEFOLD_TEST_FORM(sum)
    ONEFOLD_TEST_FORM(sum_of_squares)
    if (row.what == form::dot) {
      if constexpr (has_states)
        if (row.is_state) return hash_of_state<form::dot, E>(where, x, y);
      return bits_of(onefold::dot(where, x, y, modifier..., exactly));
    }
  }
  if constexpr (has_states) {
    if constexpr (!is_integer) {
      ONEFOLD_TEST_FORM(norm1)
    }
    if (row.what == form::mean_variance && row.is_state) return hash_of_state<form::mean_variance, E>(where, x, y);
  }
  if (row.what == form::mean_variance) {
    const auto [mean, variance] = onefold::mean_variance(where, x, onefold::ddof{row.ddof}, modifier..., exactly);
    results_of_row bits = bits_of(mean);
    bits[has_states ? 1 : 2] = scalar_of(variance).bits;
    return bits;
  }
#undef ONEFOLD_TEST_FORM
  throw std::logic_error("a row of a form that has no exact results");
}

// By the request that the calls of two types make, of which there are too many pairs for a call of each.
results_of_row dot_of_two_types(const exact_row& row, const onefold::executor& where) {
  const auto at = [&](element_type type, const std::vector<std::uint64_t>& bits) {
    return with_real_type(type, [&]<class T> { return std::make_unique<placed_array>(where, as<T>(bits)); });
  };
  const auto x = at(row.type, data_of(row)), y = at(*row.second, second_data_of(row));
  std::uint64_t bits = 0;
  onefold::detail::run({.where = where,
                        .type = row.type,
                        .form = form::dot,
                        .input = x->data(),
                        .count = row.count,
                        .output = &bits,
                        .waits = true,
                        .second = y->data(),
                        .wide = row.wide,
                        .second_type = 1 + static_cast<std::int32_t>(*row.second)},
                       exactly);
  return {bits, 0};
}

results_of_row result_of(const exact_row& row, const onefold::executor& where) {
  using float_complex = std::complex<float>;
  using double_complex = std::complex<double>;
  if (row.second) return dot_of_two_types(row, where);
  if (row.type == element_type::c128) return by_the_library<double_complex, double>(row, where);
  if (row.type == element_type::c64)
    return row.wide ? by_the_library<float_complex, float>(row, where, onefold::accumulate_as<double_complex>)
                    : by_the_library<float_complex, float>(row, where);
  return with_real_type(row.type, [&]<class T> {
    if constexpr (onefold::is_float(onefold::element_type_of<T>) && !std::is_same_v<T, double>)
      if (row.wide) return by_the_library<T, T>(row, where, onefold::accumulate_as<double>);
    return by_the_library<T, T>(row, where);
  });
}

class exact_golden : public executor_test {};

TEST_P(exact_golden, rows_are_met) {
  int states = 0, reals = 0, integers = 0, complex = 0, of_two_types = 0;
  for (const auto& row : rows) {
    ++(row.is_state                    ? states
       : row.second                    ? of_two_types
       : onefold::is_complex(row.type) ? complex
       : onefold::is_float(row.type)   ? reals
                                       : integers);
    EXPECT_EQ(result_of(row, where()), row.bits) << text_of(row);
    count_dispatch(where());
  }
  EXPECT_GE(states, 100);
  EXPECT_GE(reals, 600);
  EXPECT_GE(integers, 150);
  EXPECT_GE(complex, 200);
  EXPECT_GE(of_two_types, 200);
}

INSTANTIATE_TEST_SUITE_P(exact, exact_golden, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
