/// @file pieces_test.cpp  An array that is reduced piece by piece has the bits that it has as a whole: those of the golden table.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/pieces.hpp>
#include <onefold/error.hpp>
#include <onefold/exact.hpp>

#include "aligned_buffer.hpp"
#include "any_form.hpp"
#include "golden.hpp"
#include "support.hpp"

namespace onefold::tool::test {
namespace {

using detail::piecewise_reduction;

aligned_buffer elements_of(const golden_row& row, std::uint64_t seed) {
  const auto values = golden_data(row.type, row.data, seed, row.count);
  aligned_buffer memory(std::max<std::size_t>(1, values.size() * size_of(row.type)));
  const std::size_t size = size_of(row.type);
  std::byte* to = memory.data();
  for (const std::uint64_t& value : values) {
    std::memcpy(to, &value, size);
    to += size;
  }
  return memory;
}

// The second is made for dot alone.
struct both_arrays {
  explicit both_arrays(const golden_row& row) : x(elements_of(row, row.seed)) {
    if (row.form == form::dot) y.emplace(elements_of(row, row.seed + 1000));
  }
  [[nodiscard]] const std::byte* second() const { return y ? y->data() : x.data(); }
  aligned_buffer x;
  std::optional<aligned_buffer> y;
};

result_bits in_pieces(const executor& where, const golden_row& row, std::uint64_t tiles, const std::byte* x, const std::byte* y,
                      options how = {}) {
  if (row.exact) how.guarantee = guarantee::exact;
  piecewise_reduction reduction(where, row.type, row.form, row.wide, tiles, row.ddof);
  const std::uint64_t most = reduction.piece_elements();
  for (std::uint64_t first = 0; first < row.count; first += most)
    reduction.add(x + first * size_of(row.type), y + first * size_of(row.type), std::min(most, row.count - first), how);
  alignas(std::uint64_t) std::byte results[sizeof(result_bits)] = {};
  reduction.result(results);
  return bits_of_stored(row.type, row.form, row.wide, results);
}

bool is_in_four_pieces(const golden_row& row, std::uint64_t tiles) { return row.count > 4 * tiles * (4096 / size_of(row.type)); }

std::string text(const golden_row& row) {
  return std::string(name(row.type)) + " " + std::string(name(row.form)) + (row.wide ? " wide " : " ") + std::string(row.data) +
         " " + std::to_string(row.seed) + " " + std::to_string(row.count);
}

TEST(Pieces, OfAnySizeGiveTheGoldenBitsOfTheWholeInEveryForm) {
  std::set<std::tuple<element_type, form, bool>> many;  // what was reduced in at least four pieces
  for (const golden_row& row : golden_table()) {
    if (row.count > 200'000) continue;   // below: two sizes of pieces
    if (is_complex(row.type)) continue;  // pieces are of real numbers
    SCOPED_TRACE(text(row));
    const both_arrays of(row);
    for (const std::uint64_t tiles : {1U, 2U, 8U, 16U, 32U}) {
      ASSERT_EQ(in_pieces(serial(), row, tiles, of.x.data(), of.second()), row.bits) << tiles << " tiles";
      if (is_in_four_pieces(row, tiles)) many.insert({row.type, row.form, row.wide});
    }
  }
  EXPECT_GT(many.size(), 100U);
}

TEST(Pieces, OfLargerArraysGiveTheGoldenBitsOnAllThreads) {
  int rows = 0;
  for (const golden_row& row : golden_table()) {
    if (row.count < 50'000 || is_complex(row.type)) continue;
    SCOPED_TRACE(text(row));
    const both_arrays of(row);
    for (const std::uint64_t tiles : {64U, 512U}) ASSERT_EQ(in_pieces(best(), row, tiles, of.x.data(), of.second()), row.bits);
    ++rows;
  }
  EXPECT_GT(rows, 20);
}

// Finite elements of either sign and of many sizes; of integers any bits.
aligned_buffer any_elements(element_type type, std::uint64_t seed, std::uint64_t count) {
  aligned_buffer memory(count * size_of(type));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bits = golden_data(element_type::u64, "uniform", seed + i, 1)[0];
    const auto value = static_cast<float>(static_cast<std::int32_t>(bits)) * (bits >> 40 & 1 ? 0x1p-31F : 0x1p-36F);
    if (type == element_type::f32) bits = std::bit_cast<std::uint32_t>(value);
    if (type == element_type::f64) bits = std::bit_cast<std::uint64_t>(double{value});
    if (type == element_type::f16) bits = float16(value).bits();
    if (type == element_type::bf16) bits = bfloat16(value).bits();
    std::memcpy(memory.data() + i * size_of(type), &bits, size_of(type));
  }
  return memory;
}

TEST(Pieces, HaveTheBitsOfTheWholeInEveryFormOfEveryType) {
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    const std::uint64_t count = 4096 / size_of(type) * 11 + 77;
    const aligned_buffer x = any_elements(type, 1, count), y = any_elements(type, 1'000'000, count);
    for (int f = 0; f < form_count + record_count; ++f)
      for (const bool wide : {false, true}) {
        const golden_row row{type, static_cast<form>(f), wide, "any", 1, count, 1, {}};
        if (!is_known(row.form) || !takes_type(row.form, type) || (wide && !can_be_wide(type, row.form))) continue;
        SCOPED_TRACE(text(row));
        const result_bits whole = reduce_bits(serial(), {type, row.form, wide, x.data(), y.data(), count, row.ddof}, {});
        for (const std::uint64_t tiles : {1U, 4U, 8U})
          ASSERT_EQ(in_pieces(serial(), row, tiles, x.data(), y.data()), whole) << tiles;
      }
  }
}

TEST(Pieces, OfAVariantWithoutAnOrderAreCombinedToo) {
  const std::vector<std::int32_t> x(5000, 3);
  piecewise_reduction reduction(serial(), element_type::i32, form::sum, false, 1);
  for (std::size_t first = 0; first < x.size(); first += 1024) {
    report ran;
    reduction.add(x.data() + first, nullptr, std::min<std::size_t>(1024, x.size() - first),
                  {.variant = "parallel_reduce", .report = &ran});
    EXPECT_EQ(ran.variant, "parallel_reduce");
  }
  EXPECT_EQ(reduction.bits(), 15000U);
}

// The words of a form's exact state, of an array as a whole.
template <form What, class T>
std::vector<std::int64_t> words_of_whole(const T* x, const T* y, std::uint64_t count) {
  onefold::exact_state<What, T> state;
  if constexpr (What == form::dot)
    state.add(serial(), x, y, count);
  else
    state.add(serial(), x, count);
  return {state.words(), state.words() + state.size()};
}

template <class T>
std::vector<std::int64_t> words_of_whole(form what, const std::byte* x, const std::byte* y, std::uint64_t count) {
  const auto* first = reinterpret_cast<const T*>(x);
  const auto* second = reinterpret_cast<const T*>(y);
  switch (what) {
    case form::sum:
    case form::mean:
      return words_of_whole<form::sum>(first, second, count);
    case form::norm1:
      return words_of_whole<form::norm1>(first, second, count);
    case form::dot:
      return words_of_whole<form::dot>(first, second, count);
    case form::mean_variance:
      return words_of_whole<form::mean_variance>(first, second, count);
    default:
      return words_of_whole<form::norm2>(first, second, count);
  }
}

// The same of integers, which have other forms.
template <class T>
std::vector<std::int64_t> words_of_integers(form what, const std::byte* x, std::uint64_t count) {
  const auto* first = reinterpret_cast<const T*>(x);
  if (what == form::mean) return words_of_whole<form::mean>(first, first, count);
  if (what == form::norm2) return words_of_whole<form::norm2>(first, first, count);
  return words_of_whole<form::mean_variance>(first, first, count);
}

std::vector<std::int64_t> words_of_whole(element_type type, form what, const std::byte* x, const std::byte* y,
                                         std::uint64_t count) {
  switch (type) {
    case element_type::f64:
      return words_of_whole<double>(what, x, y, count);
    case element_type::f16:
      return words_of_whole<float16>(what, x, y, count);
    case element_type::bf16:
      return words_of_whole<bfloat16>(what, x, y, count);
    case element_type::i8:
      return words_of_integers<std::int8_t>(what, x, count);
    case element_type::u8:
      return words_of_integers<std::uint8_t>(what, x, count);
    case element_type::i16:
      return words_of_integers<std::int16_t>(what, x, count);
    case element_type::u16:
      return words_of_integers<std::uint16_t>(what, x, count);
    case element_type::i32:
      return words_of_integers<std::int32_t>(what, x, count);
    case element_type::u32:
      return words_of_integers<std::uint32_t>(what, x, count);
    case element_type::i64:
      return words_of_integers<std::int64_t>(what, x, count);
    case element_type::u64:
      return words_of_integers<std::uint64_t>(what, x, count);
    default:
      return words_of_whole<float>(what, x, y, count);
  }
}

TEST(Pieces, UnderGuaranteeExactHaveTheBitsAndTheStateOfTheWhole) {
  int states = 0, without = 0;
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    const std::uint64_t count = 4096 / size_of(type) * 5 + 77;
    const aligned_buffer x = any_elements(type, 3, count), y = any_elements(type, 2'000'000, count);
    for (int f = 0; f < form_count + record_count; ++f)
      for (const bool wide : {false, true}) {
        const golden_row row{type, static_cast<form>(f), wide, "any", 3, count, 1, {}};
        const bool has_state = detail::exact::has_state(row.form, type);
        if (!is_known(row.form) || !takes_type(row.form, type) || (wide && !can_be_wide(type, row.form))) continue;
        if (!has_state && !detail::exact::is_free_of_order(row.form, type)) continue;
        SCOPED_TRACE(text(row));
        const options how{.guarantee = guarantee::exact};
        const result_bits whole = reduce_bits(serial(), {type, row.form, wide, x.data(), y.data(), count, row.ddof}, how);
        for (const std::uint64_t tiles : {1U, 4U}) ASSERT_EQ(in_pieces(serial(), row, tiles, x.data(), y.data(), how), whole);
        ASSERT_EQ(in_pieces(best(), row, 2, x.data(), y.data(), how), whole);
        without += has_state ? 0 : 1;
        if (!has_state) continue;
        ASSERT_EQ(in_pieces(serial(), row, 2, x.data(), y.data(), {.variant = "superaccumulator"}), whole);
        piecewise_reduction reduction(serial(), type, row.form, wide, 2);
        for (std::uint64_t first = 0; first < count; first += reduction.piece_elements())
          reduction.add(x.data() + first * size_of(type), y.data() + first * size_of(type),
                        std::min(reduction.piece_elements(), count - first), how);
        std::vector<std::int64_t> words(onefold_exact_words(t, f));
        reduction.exact_state(words.data());
        ASSERT_EQ(words, words_of_whole(type, row.form, x.data(), y.data(), count));
        ++states;
      }
  }
  EXPECT_EQ(states, 4 * 7 + 3 * 7 + 8 * 3) << "seven forms of four types, and wide of three; three of eight types of integers";
  EXPECT_GT(without, 100);
}

TEST(Pieces, ThatCancelGiveTheExactSum) {
  std::vector<double> x(3 * 512, 0.0);
  x[0] = 1e300;
  x[600] = 1.0;
  x[1200] = -1e300;
  piecewise_reduction reduction(serial(), element_type::f64, form::sum, false, 1);
  report ran;
  for (std::size_t first = 0; first < x.size(); first += 512)
    reduction.add(x.data() + first, nullptr, 512, {.guarantee = guarantee::exact, .report = &ran});
  EXPECT_EQ(reduction.bits(), std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(ran.guarantee, guarantee::exact);
  EXPECT_EQ(ran.variant, "superaccumulator");
}

// Of which a sum in 64 bits has wrapped.
TEST(Pieces, OfIntegersHaveTheExactMean) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> x(3 * 512, most);
  piecewise_reduction mean(serial(), element_type::i64, form::mean, false, 1);
  piecewise_reduction norm(serial(), element_type::i64, form::norm2, false, 1);
  for (std::size_t first = 0; first < x.size(); first += 512)
    for (piecewise_reduction* each : {&mean, &norm}) each->add(x.data() + first, nullptr, 512, {.guarantee = guarantee::exact});
  EXPECT_EQ(mean.bits(), std::bit_cast<std::uint64_t>(0x1p63));
  EXPECT_EQ(norm.bits(), std::bit_cast<std::uint64_t>(std::sqrt(1536.0) * 0x1p63));
}

TEST(Pieces, HaveAnExactStateOnlyUnderGuaranteeExact) {
  const std::vector<float> x(1024, 1.0F);
  std::vector<std::int64_t> words(onefold_exact_words(ONEFOLD_F32, ONEFOLD_SUM), 5);
  piecewise_reduction reduction(serial(), element_type::f32, form::sum, false, 1);
  reduction.exact_state(words.data());
  EXPECT_EQ(words, std::vector<std::int64_t>(words.size(), 0)) << "of no elements";
  reduction.add(x.data(), nullptr, 1024, {});
  EXPECT_THROW(reduction.exact_state(words.data()), error);
  EXPECT_THROW(reduction.add(x.data(), nullptr, 1024, {.guarantee = guarantee::exact}), error)
      << "of the pieces before it there is no state";
  piecewise_reduction exact(serial(), element_type::f32, form::sum, false, 1);
  exact.add(x.data(), nullptr, 1024, {.guarantee = guarantee::exact});
  EXPECT_THROW(exact.add(x.data(), nullptr, 1024, {}), error);
  exact.add(x.data(), nullptr, 1024, {.guarantee = guarantee::exact});
  float sum = 0;
  exact.result(&sum);
  EXPECT_EQ(sum, 2048.0F) << "what was refused has changed nothing";
  piecewise_reduction product(serial(), element_type::f32, form::prod, false, 1);
  EXPECT_THROW(product.add(x.data(), nullptr, 1024, {.guarantee = guarantee::exact}), error);
}

TEST(Pieces, GoThroughAGpuWhereItsKernelsShowWhatTheyKnowOfOne) {
  const auto is_for = piecewise_reduction::is_for;
  EXPECT_TRUE(is_for(cuda(), form::sum, {}));
  EXPECT_TRUE(is_for(cuda(), form::norm2, {}));
  EXPECT_TRUE(is_for(cuda(), form::dot, {.variant = "superaccumulator"}));
  EXPECT_FALSE(is_for(cuda(), form::sum, {.variant = "vector_load"}));
  EXPECT_FALSE(is_for(cuda(), form::reduce_together, {}));
  EXPECT_TRUE(is_for(serial(), form::norm2, {}));
  EXPECT_TRUE(is_for(openmp(), form::sum, {.variant = "vector_load"}));
}

TEST(Pieces, MustFitTogether) {
  const std::vector<float> x(3000, 1.0F);
  EXPECT_THROW(piecewise_reduction(serial(), element_type::f32, form::sum, false, 3), error);
  EXPECT_THROW(piecewise_reduction(serial(), element_type::f32, form::sum, false, 0), error);
  piecewise_reduction reduction(serial(), element_type::f32, form::mean, false, 1);
  EXPECT_EQ(reduction.bits(), 0x7fc00000U) << "the mean of nothing";
  EXPECT_EQ(reduction.piece_elements(), 1024U);
  EXPECT_THROW(reduction.add(x.data(), nullptr, 1025, {}), error);
  reduction.add(x.data(), nullptr, 1024, {});
  reduction.add(x.data(), nullptr, 5, {});
  EXPECT_THROW(reduction.add(x.data(), nullptr, 5, {}), error) << "the one before was the last";
  EXPECT_EQ(reduction.bits(), 0x3f800000U);
}

}  // namespace
}  // namespace onefold::tool::test
