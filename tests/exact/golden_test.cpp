/// @file golden_test.cpp  The golden table of guarantee::exact: the library gives its bits and its states, and so does the tests'
/// other reference, which shares nothing with the program that made the table.

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <onefold/onefold.hpp>

#include "../../src/tool/golden.hpp"
#include "../forms/fixture.hpp"
#ifdef ONEFOLD_HAVE_GMP
#include "../support/exact_oracle.hpp"
#endif

namespace onefold_test {
namespace {

struct exact_row {
  element_type type;
  form what;
  bool wide;
  std::string_view data;
  std::uint64_t seed, count;
  std::int64_t ddof;
  std::array<std::uint64_t, 2> bits;  // of the results; of a state its hash
  bool is_state = false;
};

#define ONEFOLD_GOLDEN_COMPLEX(type, what, accumulate, data, seed, count, real, imaginary)
constexpr exact_row rows[] = {
#define ONEFOLD_GOLDEN(type, what, accumulate, data, seed, count, bits) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {bits}},
#define ONEFOLD_GOLDEN_RECORD(type, what, accumulate, data, seed, count, ddof, first, second) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, {first, second}},
#define ONEFOLD_GOLDEN_STATE(type, what, data, seed, count, hash) \
  {element_type::type, form::what, false, #data, seed, count, 0, {hash}, true},
#include "../golden/exact.inc"
#undef ONEFOLD_GOLDEN
#undef ONEFOLD_GOLDEN_RECORD
#undef ONEFOLD_GOLDEN_STATE
#undef ONEFOLD_GOLDEN_COMPLEX
};

// Dots of complex numbers: the parts' type, and both results.
constexpr exact_row complex_rows[] = {
#define ONEFOLD_GOLDEN(type, what, accumulate, data, seed, count, bits)
#define ONEFOLD_GOLDEN_RECORD(type, what, accumulate, data, seed, count, ddof, first, second)
#define ONEFOLD_GOLDEN_STATE(type, what, data, seed, count, hash)
#define ONEFOLD_GOLDEN_COMPLEX(type, what, accumulate, data, seed, count, real, imaginary) \
  {onefold::part_type(element_type::type),                                                 \
   form::what,                                                                             \
   std::string_view(#accumulate) != "own",                                                 \
   #data,                                                                                  \
   seed,                                                                                   \
   count,                                                                                  \
   0,                                                                                      \
   {real, imaginary}},
#include "../golden/exact.inc"
#undef ONEFOLD_GOLDEN
#undef ONEFOLD_GOLDEN_RECORD
#undef ONEFOLD_GOLDEN_STATE
#undef ONEFOLD_GOLDEN_COMPLEX
};

std::string text_of(const exact_row& row) {
  return std::string(onefold::name(row.type)) + " " + std::string(onefold::name(row.what)) + (row.wide ? ", f64, " : ", ") +
         std::string(row.data) + ", seed " + std::to_string(row.seed) + ", " + std::to_string(row.count) + " elements" +
         (row.is_state ? ", state" : "");
}

std::vector<std::uint64_t> data_of(const exact_row& row, bool second = false) {
  return onefold::tool::golden_data(row.type, row.data, row.seed + (second ? 1'000 : 0), row.count);
}

// FNV-1a of 64 bits over the little-endian bytes.
std::uint64_t hash_of(const std::vector<std::int64_t>& words) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::int64_t word : words)
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (static_cast<std::uint64_t>(word) >> 8 * byte & 0xff)) * 0x100000001b3u;
  return hash;
}

#ifdef ONEFOLD_HAVE_GMP
std::array<std::uint64_t, 2> by_the_oracle(const exact_row& row) {
  const auto x = data_of(row), y = data_of(row, true);
  if (row.what == form::dot) {
    exact_pairs pairs(row.type);
    for (std::size_t i = 0; i < x.size(); ++i) pairs.add(x[i], y[i]);
    return {row.is_state ? hash_of(pairs.words()) : pairs.result(row.wide).bits, 0};
  }
  exact_elements elements(row.type);
  for (const std::uint64_t one : x) elements.add(one);
  if (row.is_state) return {hash_of(elements.words(row.what)), 0};
  if (row.what != form::mean_variance) return {elements.result(row.what, row.wide).bits, 0};
  return {elements.result(form::mean, row.wide).bits, elements.variance(row.ddof, row.wide).bits};
}

TEST(the_exact_golden_table, is_that_of_the_oracle) {
  // The table and the oracle are the same in every build: with a sanitizer some of the rows.
  for (std::size_t i = 0; i < std::size(rows); i += is_sanitized ? 7 : 1)
    EXPECT_EQ(by_the_oracle(rows[i]), rows[i].bits) << text_of(rows[i]);
}
#endif

std::vector<std::uint64_t> parts_of(const exact_row& row, bool second = false) {
  return onefold::tool::golden_data(row.type, row.data, row.seed + (second ? 1'000 : 0), 2 * row.count);
}

#ifdef ONEFOLD_HAVE_GMP
TEST(the_exact_golden_table, is_that_of_the_oracle_in_both_parts) {
  for (const auto& row : complex_rows) {
    const auto x = parts_of(row), y = parts_of(row, true);
    exact_pairs real(row.type), imaginary(row.type);
    for (std::size_t i = 0; i < x.size(); i += 2) {
      real.add(x[i], y[i]);
      real.add(x[i + 1], y[i + 1]);
      imaginary.add(x[i], y[i + 1]);
      imaginary.add(x[i + 1] ^ layout_of(row.type).sign(), y[i]);
    }
    EXPECT_EQ((std::array{real.result(row.wide).bits, imaginary.result(row.wide).bits}), row.bits) << text_of(row);
  }
}
#endif

constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};

template <class T>
std::vector<T> as(const std::vector<std::uint64_t>& bits) {
  std::vector<T> all;
  for (const std::uint64_t one : bits) all.push_back(value_of<T>({onefold::element_type_of<T>, one}));
  return all;
}

// An array where the executor can read it.
template <class T>
class placed_array {
 public:
  placed_array(const onefold::executor& where, const std::vector<T>& x)
      : memory_(memory_for(where), (x.size() + 1) * sizeof(T)), count_(x.size()) {
    memory_.write(0, x.data(), x.size() * sizeof(T));
  }
  [[nodiscard]] std::span<const T> all() const { return {reinterpret_cast<const T*>(memory_.address()), count_}; }

 private:
  block memory_;
  std::size_t count_;
};

template <form What, class T>
std::uint64_t hash_of_state(const onefold::executor& where, std::span<const T> x, std::span<const T> y) {
  onefold::exact_state<What, T> state;
  if constexpr (What == form::dot)
    state.add(where, x, y);
  else
    state.add(where, x);
  return hash_of({state.words(), state.words() + state.size()});
}

template <class T, class... M>
std::array<std::uint64_t, 2> by_the_library(const exact_row& row, const onefold::executor& where, M... modifier) {
  const placed_array<T> first(where, as<T>(data_of(row)));
  const placed_array<T> second(where, row.what == form::dot ? as<T>(data_of(row, true)) : std::vector<T>());
  const std::span<const T> x = first.all(), y = second.all();
  const auto one = [&](const auto& function) -> std::array<std::uint64_t, 2> {
    return {scalar_of(function(where, x, modifier..., exactly)).bits, 0};
  };
  switch (row.what) {
#define ONEFOLD_TEST_FORM(name) \
  case form::name:              \
    return row.is_state ? std::array<std::uint64_t, 2>{hash_of_state<form::name, T>(where, x, y), 0} : one(onefold::name);
    ONEFOLD_TEST_FORM(sum)
    ONEFOLD_TEST_FORM(norm1)
    ONEFOLD_TEST_FORM(sum_of_squares)
    ONEFOLD_TEST_FORM(norm2)
    ONEFOLD_TEST_FORM(mean)
#undef ONEFOLD_TEST_FORM
    case form::dot:
      if (row.is_state) return {hash_of_state<form::dot, T>(where, x, y), 0};
      return {scalar_of(onefold::dot(where, x, y, modifier..., exactly)).bits, 0};
    case form::mean_variance: {
      if (row.is_state) return {hash_of_state<form::mean_variance, T>(where, x, y), 0};
      const auto [mean, variance] = onefold::mean_variance(where, x, onefold::ddof{row.ddof}, modifier..., exactly);
      return {scalar_of(mean).bits, scalar_of(variance).bits};
    }
    default:
      throw std::logic_error("a row of a form that has no exact results");
  }
}

class exact_golden : public executor_test {
 protected:
  template <class T>
  [[nodiscard]] std::array<std::uint64_t, 2> result_of(const exact_row& row) const {
    if constexpr (!std::is_same_v<T, double>)
      if (row.wide) return by_the_library<T>(row, where(), onefold::accumulate_as<double>);
    return by_the_library<T>(row, where());
  }
};

TEST_P(exact_golden, rows_are_met) {
  int states = 0, results = 0;
  for (const auto& row : rows) {
    (row.is_state ? states : results) += 1;
    const auto got = row.type == element_type::f32   ? result_of<float>(row)
                     : row.type == element_type::f64 ? result_of<double>(row)
                     : row.type == element_type::f16 ? result_of<onefold::float16>(row)
                                                     : result_of<onefold::bfloat16>(row);
    EXPECT_EQ(got, row.bits) << text_of(row);
    count_dispatch(where());
  }
  EXPECT_GE(states, 60);
  EXPECT_GE(results, 300);
}

// Of numbers of T, accumulated in numbers of A.
template <class T, class A = T>
std::array<std::uint64_t, 2> complex_dot(const onefold::executor& where, const exact_row& row) {
  const auto x = as<T>(parts_of(row)), y = as<T>(parts_of(row, true));
  const auto as_complex = [](const std::vector<T>& parts) { return reinterpret_cast<const std::complex<T>*>(parts.data()); };
  const auto dot = onefold::dot(where, as_complex(x), as_complex(y), row.count, onefold::accumulate_as<std::complex<A>>, exactly);
  return {scalar_of(dot.real()).bits, scalar_of(dot.imag()).bits};
}

TEST_P(exact_golden, rows_of_complex_numbers_are_met) {
  for (const auto& row : complex_rows) {
    const auto got = row.wide                        ? complex_dot<float, double>(where(), row)
                     : row.type == element_type::f32 ? complex_dot<float>(where(), row)
                                                     : complex_dot<double>(where(), row);
    EXPECT_EQ(got, row.bits) << text_of(row);
    count_dispatch(where());
  }
  EXPECT_GE(std::size(complex_rows), 60u);
}

INSTANTIATE_TEST_SUITE_P(exact, exact_golden, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
