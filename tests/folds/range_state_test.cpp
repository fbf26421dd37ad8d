/// @file range_state_test.cpp  States of ranges: however an array is cut, read and put together again, the result has the bits of the whole, and
/// states of equal ranges have equal bytes.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <complex>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "../support/trial.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../support/cuda.hpp"
#endif
#include "range_support.hpp"

namespace onefold_test {
namespace {

// --- cuts and orders ----------------------------------------------------------------------------------------------------------------------

// Cut, read by any executors, put together in any order. `after` sees every state that comes about.
template <class After>
state put_together(const kind& of, const arrays& in, uint64_t origin, uint64_t n, random_numbers& random, const After& after) {
  const auto cuts = cuts_of(n, of.tile(), random);
  std::vector<state> parts;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    parts.push_back(state_of(of, in, origin, cuts[i - 1], cuts[i], any_executor(random)));
    after(parts.back());
  }
  while (parts.size() > 1) {
    const std::size_t left = random.below(parts.size() - 1);
    check(onefold_range_append(parts[left].get(), parts[left + 1].get()));
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(left) + 1);
    after(parts[left]);
  }
  return std::move(parts[0]);
}

TEST(range_states, put_together_in_any_order_have_the_bits_of_the_whole_in_every_form_of_every_type) {
  random_numbers random(current_seed());
  int kinds = 0;
  for (const kind& of : every_kind()) {
    SCOPED_TRACE(text(of));
    for (const values_of values : {values_of::any_bits, values_of::few, values_of::infinities}) {
      const uint64_t most = 9 * of.tile();
      const arrays in(of, most, random(), values);
      for (int round = 0; round < (is_sanitized ? 3 : 10); ++round) {
        const uint64_t n = random.below(4) == 0 ? 1 + random.below(of.tile()) : 1 + random.below(most);
        const state all = put_together(of, in, 0, n, random, [](const state&) {});
        ASSERT_EQ(onefold_range_begin(all.get()), 0U);
        ASSERT_EQ(onefold_range_end(all.get()), n);
        ASSERT_EQ(result_of(of, all), whole(of, in, n)) << n << " elements";
        ASSERT_EQ(bytes_of(all), bytes_of(state_of(of, in, 0, 0, n))) << n << " elements";
      }
    }
    ++kinds;
  }
  EXPECT_GT(kinds, 330);
}

TEST(range_states, of_equal_ranges_have_equal_bytes_wherever_they_begin) {
  random_numbers random(current_seed());
  for (const kind& of : every_kind()) {
    SCOPED_TRACE(text(of));
    for (int round = 0; round < 6; round += is_sanitized ? 2 : 1) {  // anywhere and far from 0, and all values
      const arrays in(of, 7 * of.tile(), random(), static_cast<values_of>(round % 3));
      const uint64_t origin = random.below(uint64_t{1} << (round < 3 ? 14 : 40));
      const uint64_t n = random.below(7 * of.tile());
      const state all = put_together(of, in, origin, n, random, [&](state& made) {
        const bytes as_bytes = bytes_of(made);
        const uint64_t first = onefold_range_begin(made.get()) - origin, end = onefold_range_end(made.get()) - origin;
        ASSERT_EQ(as_bytes, bytes_of(state_of(of, in, origin, first, end)));
        made = state_from(of, as_bytes);  // and goes on from there
        ASSERT_EQ(bytes_of(made), as_bytes);
      });
      ASSERT_EQ(onefold_range_end(all.get()), origin + n);
    }
  }
}

TEST(range_states, of_many_groups_of_tiles_have_the_bits_of_the_whole_on_all_threads) {
  random_numbers random(current_seed());
  for (const kind& of : every_kind()) {
    SCOPED_TRACE(text(of));
    // all, any and none would know enough after 64 tiles.
    const bool ends_early = of.what == form::all || of.what == form::any || of.what == form::none;
    const uint64_t n = (ends_early ? 150 : 35) * of.tile() + random.below(20 * of.tile());
    const arrays in(of, n, random(), values_of::few);
    const bytes expected = whole(of, in, n);
    for (int round = 0; round < (is_sanitized ? 1 : 2); ++round) {
      const state all = put_together(of, in, 0, n, random, [](const state&) {});
      ASSERT_EQ(result_of(of, all), expected);
      ASSERT_EQ(bytes_of(all), bytes_of(state_of(of, in, 0, 0, n)));
    }
  }
}

TEST(range_states, grow_element_by_element) {
  for (const kind of : {kind{element_type::f64, form::dot}, kind{element_type::f64, form::norm2},
                        kind{element_type::f64, form::argmax}, kind{element_type::f64, form::mean_variance}}) {
    SCOPED_TRACE(text(of));
    const uint64_t n = 3 * of.tile() + 5;
    const arrays in(of, n, current_seed(), values_of::few);
    const state growing = empty_state(of, 0);
    for (uint64_t i = 0; i < n; ++i) {
      check(onefold_range_add(growing.get(), onefold_serial(), in.x(i), in.second(i), 1, nullptr));
      ASSERT_EQ(result_of(of, growing), whole(of, in, i + 1)) << i;
    }
    ASSERT_EQ(bytes_of(growing), bytes_of(state_of(of, in, 0, 0, n)));
  }
}

// Of ten thousand ranks, the gathered states are appended in order, or pair by pair as in a tree, or the ranks are of all sizes.
template <form What, class T>
void expect_whole_of_10_000_ranks(uint64_t longest) {
  random_numbers random(current_seed());
  std::vector<uint64_t> cuts{0};
  for (int rank = 0; rank < 10'000; ++rank) cuts.push_back(cuts.back() + random.below(longest));
  const auto x = values<T>(cuts.back(), random(), true);
  std::vector<range_state<What, T>> ranks;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    ranks.emplace_back(cuts[i - 1]);
    ranks.back().add(onefold::serial(), x.data() + cuts[i - 1], cuts[i] - cuts[i - 1]);
  }
  range_state<What, T> in_order;
  for (const auto& rank : ranks) in_order.append(range_state<What, T>::from_bytes(rank.bytes()));
  for (std::size_t step = 1; step < ranks.size(); step *= 2)
    for (std::size_t i = 0; i + step < ranks.size(); i += 2 * step) ranks[i].append(ranks[i + step]);
  range_state<What, T> at_once;
  at_once.add(onefold::best(), x);
  EXPECT_EQ(in_order.bytes(), at_once.bytes());
  EXPECT_EQ(ranks[0].bytes(), at_once.bytes());
  if constexpr (What == form::sum) {  // neither is a zero or a NaN, which == would not tell apart
    EXPECT_EQ(ranks[0].value(), onefold::sum(onefold::serial(), x));
  } else {
    const auto expected = onefold::argmin(onefold::serial(), x);
    EXPECT_EQ(ranks[0].value().value, expected.value);
    EXPECT_EQ(ranks[0].value().index, expected.index);
  }
}

TEST(range_states, of_ten_thousand_ranks_have_the_sum_of_one_core) { expect_whole_of_10_000_ranks<form::sum, double>(300); }
TEST(range_states, of_ten_thousand_ranks_have_the_argmin_of_one_core) { expect_whole_of_10_000_ranks<form::argmin, float>(500); }

// --- functions of the index ---------------------------------------------------------------------------------------------------------------

// An array as a function that counts how often it is asked for each index.
class counted_values {
 public:
  counted_values(const kind& of, const arrays& in, uint64_t first, uint64_t count) : of_(of), x_(in.x(first)), asked_(count) {}
  [[nodiscard]] const onefold_value_source* source() const { return &source_; }
  [[nodiscard]] bool was_asked_once_for_each() const {
    return std::ranges::all_of(asked_, [](const auto& times) { return times.load() == 1; });
  }

 private:
  static int fill(void* context, uint64_t first, uint64_t count, void* const* values) {
    auto& own = *static_cast<counted_values*>(context);
    for (uint64_t i = first; i < first + count; ++i) ++own.asked_.at(i);
    std::memcpy(values[0], own.x_ + first * own.of_.element_bytes(), count * own.of_.element_bytes());
    return 0;
  }
  kind of_;
  const std::byte* x_;
  std::vector<std::atomic<int>> asked_;
  onefold_value_source source_{this, fill};
};

TEST(range_states, of_functions_have_the_bytes_of_arrays_and_ask_for_each_index_once) {
  random_numbers random(current_seed());
  int kinds = 0;
  for (const kind& of : all_kinds()) {
    if (is_small(of.type) || of.what == form::dot) continue;
    SCOPED_TRACE(text(of));
    for (int round = 0; round < 5; ++round) {
      const uint64_t n = round == 0 ? 40 * of.tile() + 17 : 1 + random.below(7 * of.tile());
      const arrays in(of, n, random(), static_cast<values_of>(round % 3));
      const uint64_t origin = round == 1 ? 12'345 : 0;
      const auto cuts = cuts_of(n, of.tile(), random);
      const state all = empty_state(of, origin);
      for (std::size_t i = 1; i < cuts.size(); ++i) {
        const uint64_t first = cuts[i - 1], count = cuts[i] - first;
        if (random.below(4) == 0) {  // some as an array
          check(onefold_range_add(all.get(), any_executor(random), in.x(first), nullptr, count, nullptr));
          continue;
        }
        const counted_values values(of, in, first, count);
        check(onefold_range_add_values(all.get(), any_executor(random), values.source(), count, nullptr));
        ASSERT_TRUE(values.was_asked_once_for_each()) << count << " from " << first << " on";
      }
      ASSERT_EQ(bytes_of(all), bytes_of(state_of(of, in, origin, 0, n))) << n << " elements";
      if (origin == 0) {
        ASSERT_EQ(result_of(of, all), whole(of, in, n)) << n << " elements";
      }
    }
    ++kinds;
  }
  EXPECT_GT(kinds, 150);
}

TEST(a_range_state, takes_functions_as_the_forms_take_them) {
  const uint64_t n = 9'876;
  const auto x = values<double>(n, current_seed(), true);
  const auto part_of = [&x](uint64_t first) { return [&x, first](uint64_t i) { return x[first + i] * 0.5; }; };
  for (const uint64_t cut : {uint64_t{0}, uint64_t{3}, uint64_t{512}, uint64_t{5'000}, n}) {
    range_state<form::norm2, double> norms;
    norms.add(onefold::serial(), cut, part_of(0)).add(places().back().where, n - cut, part_of(cut));
    EXPECT_EQ(norms.value(), onefold::norm2(onefold::serial(), n, part_of(0)));
    range_state<form::argmin, double> least, rest(cut);
    least.add(onefold::serial(), cut, part_of(0));
    rest.add(onefold::best(), n - cut, part_of(cut));
    EXPECT_EQ(least.append(rest).value().index, onefold::argmin(onefold::serial(), n, part_of(0)).index) << "of the whole";
  }
  // Slabs of a box, each with the coordinates of the whole.
  const auto at = [&x](std::int64_t j, std::int64_t i) { return static_cast<float>(x[static_cast<std::size_t>(100 * j + i)]); };
  range_state<form::sum, float, double> slabs;
  for (const std::int64_t j : {0, 1, 30, 60})
    slabs.add(onefold::serial(), onefold::box({j, j == 0 ? 1 : j == 1 ? 30 : j + 30}, {0, 100}), at);
  EXPECT_EQ(slabs.value(), onefold::sum(onefold::serial(), onefold::box(90, 100), at, onefold::accumulate_as<double>));
  range_state<form::count, uint32_t> truths;
  truths.add(onefold::serial(), 5'000, [](uint64_t i) { return i % 3 == 0; });
  EXPECT_EQ(truths.value(), 1'667U);
  onefold::report ran;
  truths.add(onefold::serial(), 7, [](uint64_t) { return false; }, {.report = &ran});
  EXPECT_EQ(ran.variant, "fixed_order");
}

TEST(a_range_state, is_what_it_was_after_a_function_has_failed) {
  range_state<form::sum, double> ones(100);
  ones.add(onefold::serial(), 700, [](uint64_t) { return 1.0; });
  const bytes before = ones.bytes();
  const auto expect_refused = [&](errc code, std::string_view words, const auto& call) {
    EXPECT_TRUE(refuses(code, words, call));
    EXPECT_EQ(ones.bytes(), before);
  };
  for (const uint64_t n : {uint64_t{5}, uint64_t{5'000}})
    for (const uint64_t at : {uint64_t{0}, n / 2, n - 1})
      for (const auto& place : places()) {
        const auto throws = [at](uint64_t i) { return i == at ? throw std::out_of_range("mine") : 1.0; };
        EXPECT_THROW(ones.add(place.where, n, throws), std::out_of_range);
        EXPECT_EQ(ones.bytes(), before);
      }
  expect_refused(errc::invalid_argument, "negative", [&] { ones.add(onefold::serial(), -1, [](uint64_t) { return 1.0; }); });
  const auto one = [](uint64_t) { return 1.0; };
  // Never called there: which error it is depends on whether there is a GPU.
  EXPECT_THROW(ones.add(onefold::cuda(), 5, one), onefold::error);
  EXPECT_THROW(ones.add(onefold::cuda(), 5'000, one), onefold::error);
  expect_refused(errc::guarantee_not_met, "fixed order",
                 [&] { ones.add(onefold::serial(), 5, one, {.guarantee = onefold::guarantee::exact}); });

  onefold_value_source source{nullptr, [](void*, uint64_t, uint64_t, void* const*) { return 7; }};
  const state doubles = empty_state({element_type::f64, form::sum}, 3), halves = empty_state({element_type::f16, form::sum}, 0);
  const state dots = empty_state({element_type::f64, form::dot}, 0);
  const auto add = [&](const state& to, const onefold_value_source* from, uint64_t count) {
    return [&to, from, count] { check(onefold_range_add_values(to.get(), onefold_serial(), from, count, nullptr)); };
  };
  for (const uint64_t count : {uint64_t{2}, uint64_t{2'000}}) {
    EXPECT_TRUE(refuses(errc::callback_failed, "returned 7", add(doubles, &source, count)));
    EXPECT_TRUE(refuses(errc::unsupported, "4 or 8 bytes", add(halves, &source, count)));
    EXPECT_TRUE(refuses(errc::unsupported, "two arrays", add(dots, &source, count)));
    EXPECT_TRUE(refuses(errc::null_pointer, "function", add(doubles, nullptr, count)));
  }
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", add(doubles, &source, ~uint64_t{0})));
  source.fill = nullptr;
  EXPECT_TRUE(refuses(errc::null_pointer, "function", add(doubles, &source, 2)));
  EXPECT_EQ(onefold_range_end(doubles.get()), 3U);
}

// --- no elements --------------------------------------------------------------------------------------------------------------------------

TEST(range_states, of_no_elements_have_the_result_for_none_and_change_no_other) {
  for (const kind& of : every_kind()) {
    SCOPED_TRACE(text(of));
    const arrays in(of, 2 * of.tile(), current_seed(), values_of::any_bits);
    const state none = empty_state(of, 0);
    check(onefold_range_add(none.get(), onefold_serial(), nullptr, nullptr, 0, nullptr));
    if (has_index(of.what)) {
      EXPECT_TRUE(refuses(errc::invalid_argument, "there is no index", [&] { static_cast<void>(result_of(of, none)); }));
    } else {
      EXPECT_EQ(result_of(of, none), whole(of, in, 0));
    }
    for (const uint64_t n : {uint64_t{1}, of.tile() - 1, of.tile(), of.tile() + 1}) {
      state made = state_of(of, in, 0, 0, n);
      const bytes before = bytes_of(made);
      check(onefold_range_append(made.get(), empty_state(of, n).get()));
      EXPECT_EQ(bytes_of(made), before);
      state empty = empty_state(of, 0);
      check(onefold_range_append(empty.get(), made.get()));
      EXPECT_EQ(bytes_of(empty), before);
      EXPECT_EQ(onefold_range_append(none.get(), none.get()), ONEFOLD_OK) << "to itself";
    }
  }
}

// --- bytes --------------------------------------------------------------------------------------------------------------------------------

TEST(the_bytes_of_a_state, are_those_of_the_document) {
  // Within a tile: the elements alone.
  const std::vector<float> three{1.5F, -0.0F, std::bit_cast<float>(0xffc12345U)};
  range_state<form::sum, float, double> few(7);
  few.add(onefold::serial(), three);
  EXPECT_EQ(few.bytes(), byte_writer().header(0, 0, 1, 7, 10).put(1.5F).put(-0.0F).put(0xffc12345U).summed());

  // Two arrays: of the head and of the tail all x and then all y. Tiles of 512 elements, the second and the third of which are no siblings.
  std::vector<double> x(1540), y(1540, 2.0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  range_state<form::dot, double> dots(510);
  dots.add(onefold::serial(), x, y);
  byte_writer expected;
  expected.header(1, 4, 0, 510, 2050).put(0.0).put(1.0).put(2.0).put(2.0);
  expected.put(2.0 * (2 + 513) * 512 / 2).put(2.0 * (514 + 1537) * 1024 / 2);
  expected.put(1538.0).put(1539.0).put(2.0).put(2.0);
  EXPECT_EQ(dots.bytes(), expected.summed());

  // A value and its global index, without what lies between them in memory; a node of two tiles.
  std::vector<float> falling(2048);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] = -static_cast<float>(i);
  range_state<form::argmin, float> least(4096);
  least.add(onefold::serial(), falling);
  EXPECT_EQ(least.bytes(), byte_writer().header(0, 19, 0, 4096, 6144).put(-2047.0F).put(uint64_t{4096 + 2047}).summed());

  // A NaN is the canonical one, and moments are a count, a mean and the sum of squared deviations.
  std::vector<double> tile(512, 3.0);
  range_state<form::mean_variance, double> moments(512);
  moments.add(onefold::serial(), tile);
  tile[5] = std::bit_cast<double>(uint64_t{0xfff8000000000001});
  moments.add(onefold::serial(), tile);
  const uint64_t nan = 0x7ff8000000000000;
  EXPECT_EQ(
      moments.bytes(),
      byte_writer().header(1, 25, 0, 512, 1536).put(uint64_t{512}).put(3.0).put(0.0).put(uint64_t{512}).put(nan).put(nan).summed());

  // Whether one is not zero is kept as how many are not.
  std::vector<std::uint8_t> flags(4096 + 1);
  flags[3] = flags[4] = 9;
  range_state<form::any, std::uint8_t> any;
  any.add(onefold::serial(), flags);
  EXPECT_EQ(any.bytes(), byte_writer().header(7, 17, 0, 0, 4097).put(uint64_t{2}).put(uint8_t{0}).summed());
}

// The node of one tile whose elements are all this one.
template <form What, class T, class A = onefold::accumulator_t<T, false>, class... Numbers>
void expect_node(T element, const Numbers&... numbers) {
  const uint64_t tile = kind{onefold::element_type_of<T>, What}.tile();
  range_state<What, T, A> one(tile);
  one.add(onefold::serial(), std::vector<T>(tile, element));
  constexpr bool wide = onefold::element_type_of<A> != onefold::accumulator_type(onefold::element_type_of<T>);
  byte_writer expected;
  expected.header(static_cast<int>(onefold::element_type_of<T>), static_cast<int>(What), wide ? 1 : 0, tile, 2 * tile);
  (expected.put(numbers), ...);
  EXPECT_EQ(one.bytes(), expected.summed()) << onefold::name(What) << " of " << onefold::name(onefold::element_type_of<T>);
}

TEST(the_bytes_of_a_state, have_nodes_of_the_types_in_the_document) {
  using onefold::bfloat16;
  using onefold::float16;
  using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint8_t;
  const auto i8 = [](int value) { return static_cast<int8_t>(value); };
  expect_node<form::sum>(2.0F, 2048.0F);
  expect_node<form::sum, float, double>(2.0F, 2048.0);
  expect_node<form::sum>(float16(2), 4096.0F);
  expect_node<form::sum>(i8(-1), int64_t{-4096});
  expect_node<form::sum>(int32_t{-1}, int32_t{-1024});
  expect_node<form::sum, int32_t, int64_t>(-1, int64_t{-1024});
  expect_node<form::prod>(uint8_t{1}, uint64_t{1});
  expect_node<form::sum_of_squares>(uint16_t{2}, uint64_t{8192});
  expect_node<form::norm1>(int32_t{-1}, uint32_t{1024});
  expect_node<form::norm1>(i8(-128), uint64_t{128 * 4096});
  expect_node<form::mean>(-3, -3072.0);
  expect_node<form::mean>(int16_t{-3}, int64_t{-6144});
  expect_node<form::mean>(bfloat16(-3), -6144.0F);
  expect_node<form::norm2>(1.0, 0.0, 512.0, 0.0);
  expect_node<form::norm2>(2.0F, 4096.0);
  expect_node<form::norm2>(i8(2), 16384.0);
  expect_node<form::min>(i8(-2), int32_t{-2});
  expect_node<form::max_number>(uint16_t{65535}, uint32_t{65535});
  expect_node<form::min_number>(bfloat16(-2), -2.0F);
  expect_node<form::norm_inf>(i8(-128), uint32_t{128});
  expect_node<form::norm_inf>(int64_t{-5}, uint64_t{5});
  expect_node<form::bit_and>(i8(-2), uint32_t{0xfe});
  expect_node<form::bit_or>(int16_t{-2}, uint32_t{0xfffe});
  expect_node<form::bit_xor>(int64_t{-2}, int64_t{0});
  expect_node<form::count>(-2.0, uint64_t{512});
  expect_node<form::none>(float16(0), uint64_t{0});
  expect_node<form::argmax>(i8(-2), int32_t{-2}, uint64_t{4096});
  expect_node<form::argmin_magnitude>(i8(-128), uint32_t{128}, uint64_t{4096});
  expect_node<form::argmax_magnitude>(-2.0, 2.0, uint64_t{512});
  expect_node<form::argminmax>(float16(-2), -2.0F, uint64_t{2048}, -2.0F, uint64_t{2048});
  expect_node<form::minmax>(int16_t{-2}, int32_t{-2}, int32_t{-2});
  expect_node<form::minmax>(int64_t{-2}, int64_t{-2}, int64_t{-2});
  expect_node<form::mean_variance>(i8(-2), uint64_t{4096}, -2.0, 0.0);
}

TEST(the_bytes_of_a_state, of_complex_numbers_are_those_of_the_document) {
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  expect_node<form::sum>(c64(1, -2), 512.0F, -1024.0F);
  expect_node<form::sum>(c128(1, -2), 256.0, -512.0);
  expect_node<form::prod>(c64(1, 0), 1.0F, 0.0F);
  expect_node<form::mean>(c128(3, -1), 768.0, -256.0);
  expect_node<form::sum_of_squares>(c64(1, 2), 2560.0F);
  expect_node<form::norm2>(c64(1, 2), 2560.0);
  expect_node<form::norm2>(c128(1, 2), 0.0, 1280.0, 0.0);
  expect_node<form::norm1>(c64(3, -4), 5120.0F);  // of twice as many elements, as all below
  expect_node<form::norm1>(c128(3, -4), 2560.0);
  expect_node<form::norm_inf>(c128(3, -4), 5.0);
  expect_node<form::mean_variance>(c64(3, -4), uint64_t{1024}, 3.0, 0.0, uint64_t{1024}, -4.0, 0.0);
  expect_node<form::mean_variance>(c128(3, -4), uint64_t{512}, 3.0, 0.0, uint64_t{512}, -4.0, 0.0);
  expect_node<form::count>(c64(0, -4), uint64_t{512});
  expect_node<form::any>(c128(-0.0, 4), uint64_t{256});
  expect_node<form::none>(c128(0, -0.0), uint64_t{0});

  // Two arrays: conj(x) y. A NaN becomes canonical in each part by itself.
  const float nan = std::bit_cast<float>(0xffc00001U);
  const std::vector<c64> x(515, c64(1, 2));
  std::vector<c64> y(515, c64(2, -3));
  y[0] = c64(nan, 7);
  y[514] = c64(5, 6);
  range_state<form::dot, c64> dots(511);
  dots.add(onefold::serial(), x, y);
  byte_writer expected;
  expected.header(12, 4, 0, 511, 1026).put(1.0F).put(2.0F).put(0xffc00001U).put(7.0F);
  expected.put(-4.0F * 512).put(-7.0F * 512);
  expected.put(1.0F).put(2.0F).put(1.0F).put(2.0F).put(2.0F).put(-3.0F).put(5.0F).put(6.0F);
  EXPECT_EQ(dots.bytes(), expected.summed());
  range_state<form::sum, c64> sums(512);
  y.resize(512);
  sums.add(onefold::serial(), y);
  EXPECT_EQ(sums.bytes(), byte_writer().header(12, 0, 0, 512, 1024).put(0x7fc00000U).put(7.0F - 3 * 511).summed());

  EXPECT_TRUE(refuses(errc::invalid_argument, "a state of sum of c64, and one of sum of c128",
                      [&] { static_cast<void>(range_state<form::sum, c128>::from_bytes(sums.bytes())); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "a state of sum of c64, and one of sum of f32",
                      [&] { static_cast<void>(range_state<form::sum, float>::from_bytes(sums.bytes())); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "a state of min of c64, and", [&] {
    static_cast<void>(range_state<form::sum, c64>::from_bytes(byte_writer().header(12, 2, 0, 0, 0).summed()));
  }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "damaged", [&] {  // a half of an element
    static_cast<void>(range_state<form::sum, c64>::from_bytes(byte_writer().header(12, 0, 0, 3, 4).put(1.0F).summed()));
  }));
}

// Whatever the instructions and the compiler: of this test's data the bytes are known.
uint64_t hash_of_states(const std::vector<kind>& kinds) {
  uint64_t hash = 0;
  for (const kind& of : kinds) {
    for (const values_of values : {values_of::any_bits, values_of::few, values_of::infinities}) {
      const arrays in(of, 8 * of.tile(), 20261123, values);
      const bytes all = bytes_of(state_of(of, in, of.tile() - 3, 0, 8 * of.tile()));
      uint64_t checksum = 0;
      std::memcpy(&checksum, all.data() + all.size() - sizeof(checksum), sizeof(checksum));
      hash = hash * 0x9e3779b97f4a7c15U + checksum;
    }
  }
  return hash;
}
TEST(the_bytes_of_a_state, are_the_same_on_every_machine) {
  const auto is_in_a_small_type = [](const kind& one) { return one.wide && is_small(one.type) && !is_float(one.type); };
  std::vector<kind> older = all_kinds(), later;  // sums in the type of small integers
  std::ranges::copy_if(older, std::back_inserter(later), is_in_a_small_type);
  std::erase_if(older, is_in_a_small_type);
  EXPECT_EQ(hash_of_states(older), 1684108032658279079U);
  EXPECT_EQ(hash_of_states(later), 3772214498191408377U);
  std::vector<kind> complex = complex_kinds(), wide;
  std::ranges::copy_if(complex, std::back_inserter(wide), &kind::wide);
  std::erase_if(complex, [](const kind& one) { return one.wide; });
  EXPECT_EQ(hash_of_states(complex), 17078982248769232046U);
  EXPECT_EQ(hash_of_states(wide), 5426114888845903862U);
}

TEST(the_bytes_of_a_state, are_refused_where_one_of_them_is_changed_or_lacking_or_too_many) {
  const kind of{element_type::f32, form::argmin};
  const arrays in(of, 2 * of.tile(), current_seed(), values_of::few);
  const bytes good = bytes_of(state_of(of, in, 0, of.tile() - 3, 2 * of.tile()));
  const state kept = state_of(of, in, 0, 0, 100);
  expect_reads_nothing_else(kept, good);
}

// With a checksum that is right.
TEST(the_bytes_of_a_state, are_refused_where_they_mean_nothing) {
  const auto expect_refused = [](std::string_view words, const bytes& bad) {
    EXPECT_TRUE(refuses(errc::invalid_argument, words, [&] { static_cast<void>(range_state<form::sum, float>::from_bytes(bad)); }))
        << words;
  };
  const auto f32_sum = [](uint64_t begin, uint64_t end) { return byte_writer().header(0, 0, 0, begin, end); };
  EXPECT_EQ((range_state<form::sum, float>::from_bytes(f32_sum(3, 4).put(1.0F).summed()).end()), 4U);
  const auto large = range_state<form::sum, float>::from_bytes(f32_sum(0, uint64_t{1} << 60).put(1.0F).summed());
  EXPECT_EQ(large.value(), 1.0F) << "one subtree of 2^50 tiles";
  expect_refused("damaged", f32_sum(4, 3).summed());
  expect_refused("damaged", f32_sum(3, 4).summed());
  expect_refused("damaged", f32_sum(3, 4).put(1.0).summed());
  expect_refused("damaged", f32_sum(0, ~uint64_t{0}).summed());
  expect_refused("damaged", f32_sum(~uint64_t{0} - 1, ~uint64_t{0}).put(1.0F).summed());
  expect_refused("damaged", f32_sum(0, uint64_t{1} << 60).put(1.0).summed());
  const uint64_t most = (uint64_t{1} << 61) - 1;
  EXPECT_EQ((range_state<form::sum, float>::from_bytes(f32_sum(most - 1, most).put(1.0F).summed()).end()), most);
  expect_refused("damaged", f32_sum(most, most + 1).put(1.0F).summed());
  expect_refused("a state of sum of f64, and one of sum of f32", byte_writer().header(1, 0, 0, 0, 0).summed());
  expect_refused("a state of prod of f32", byte_writer().header(0, 1, 0, 0, 0).summed());
  expect_refused("wider type", byte_writer().header(0, 0, 1, 0, 0).summed());
  expect_refused("damaged", byte_writer().header(0, 0, 2, 0, 0).summed());
  expect_refused("form 0 and type 200, which this library does not know", byte_writer().header(200, 0, 0, 0, 0).summed());
  expect_refused("form 200 and type 0, which this library does not know", byte_writer().header(0, 200, 0, 0, 0).summed());
  bytes other = f32_sum(0, 0).summed();
  other[8] = std::byte{2};
  expect_refused("version 2", other);
  other[13] = std::byte{1};
  other[0] = std::byte{'O'};
  expect_refused("do not begin like one", other);
  expect_refused("do not begin like one", {});
}

// Bytes that somebody has changed and summed up again: refused, or taken as they stand. What is taken can be put behind others, and has a result or none.
TEST(the_bytes_of_a_state, under_a_right_checksum_are_refused_or_taken_as_they_stand) {
  random_numbers random(current_seed());
  auto kinds = every_kind();
  const auto complex = complex_kinds();
  kinds.insert(kinds.end(), complex.begin(), complex.end());
  int taken = 0, refused = 0;
  for (const kind& of : kinds) {
    const uint64_t tile = of.tile(), begin = random.below(3 * tile), count = random.below(4 * tile);
    const arrays in(of, count, random(), values_of::any_bits);
    const bytes good = bytes_of(state_of(of, in, begin, 0, count));
    const bytes before = bytes_of(empty_state(of, 3));
    for (int round = 0; round < 12; ++round) {
      std::size_t size = good.size() - 8;
      if (round % 4 == 3) size -= std::min<std::size_t>(random.below(40), size - 32);
      byte_writer changed;
      changed.put(good.data(), size);
      // Mostly what is behind the header, or its range: with most others it is of another kind.
      for (uint64_t k = 0; k < 1 + random.below(3); ++k) {
        const std::size_t at = round % 3 == 0                 ? 16 + random.below(16)
                               : round % 3 == 1 || size == 32 ? random.below(size)
                                                              : 32 + random.below(size - 32);
        changed.at(at, static_cast<int>(random.below(256)));
      }
      const bytes bad = changed.summed();
      const state other = empty_state(of, 3);
      const int status = onefold_range_read(other.get(), bad.data(), bad.size());
      if (status != ONEFOLD_OK) {
        ASSERT_EQ(status, ONEFOLD_INVALID_ARGUMENT) << text(of);
        ASSERT_EQ(bytes_of(other), before) << text(of);
        ++refused;
        continue;
      }
      ASSERT_EQ(bytes_of(other), bad) << text(of);
      alignas(64) std::byte result[64];
      static_cast<void>(onefold_range_result(other.get(), 1, result));
      const state behind = empty_state(of, onefold_range_end(other.get()));
      ASSERT_EQ(onefold_range_append(other.get(), behind.get()), ONEFOLD_OK);
      check(onefold_range_read(behind.get(), good.data(), good.size()));
      static_cast<void>(onefold_range_append(other.get(), behind.get()));
      ++taken;
    }
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

// --- what is refused ----------------------------------------------------------------------------------------------------------------------

TEST(range_states, that_cannot_be_are_refused) {
  onefold_range* made = nullptr;
  const auto create = [&](int type, int what, uint32_t flags, uint64_t begin) {
    check(onefold_range_create(type, what, flags, begin, &made));
  };
  EXPECT_TRUE(
      refuses(errc::unsupported, "have no order, so there is no minmax", [&] { create(ONEFOLD_C64, ONEFOLD_MINMAX, 0, 0); }));
  EXPECT_TRUE(refuses(errc::unsupported, "are for sum, prod, dot", [&] { create(ONEFOLD_C128, ONEFOLD_ARGMAX_MAGNITUDE, 0, 0); }));
  EXPECT_TRUE(refuses(errc::unsupported, "for each operator", [&] { create(ONEFOLD_C64, ONEFOLD_REDUCE_TOGETHER, 0, 0); }));
  EXPECT_TRUE(refuses(errc::unsupported, "wider type", [&] { create(ONEFOLD_C128, ONEFOLD_SUM, ONEFOLD_WIDE, 0); }));
  EXPECT_TRUE(refuses(errc::unsupported, "wider type", [&] { create(ONEFOLD_C64, ONEFOLD_NORM_INF, ONEFOLD_WIDE, 0); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "and may be one of", [&] { create(ONEFOLD_C128 + 1, ONEFOLD_SUM, 0, 0); }));
  EXPECT_TRUE(refuses(errc::unsupported, "for each operator", [&] { create(ONEFOLD_F32, ONEFOLD_REDUCE_TOGETHER, 0, 0); }));
  EXPECT_TRUE(refuses(errc::unsupported, "bits of integers", [&] { create(ONEFOLD_F32, ONEFOLD_BIT_AND, 0, 0); }));
  EXPECT_TRUE(refuses(errc::unsupported, "wider type", [&] { create(ONEFOLD_F64, ONEFOLD_SUM, ONEFOLD_WIDE, 0); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "flags", [&] { create(ONEFOLD_F64, ONEFOLD_SUM, ONEFOLD_INTO, 0); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "and may be one of", [&] { create(99, ONEFOLD_SUM, 0, 0); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "and may be one of", [&] { create(ONEFOLD_F64, -1, 0, 0); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { create(ONEFOLD_F64, ONEFOLD_SUM, 0, ~uint64_t{0}); }));
  EXPECT_EQ(made, nullptr);
  EXPECT_TRUE(refuses(errc::null_pointer, "new state", [] { check(onefold_range_create(0, 0, 0, 0, nullptr)); }));
}

TEST(range_states, are_what_they_were_after_what_is_refused) {
  const kind of{element_type::f64, form::dot};
  const arrays in(of, 4 * of.tile(), current_seed(), values_of::few);
  const state sums = state_of(of, in, 0, 0, of.tile() + 100);
  const bytes before = bytes_of(sums);
  const auto expect_refused = [&](errc code, std::string_view words, const auto& call) {
    EXPECT_TRUE(refuses(code, words, call));
    EXPECT_EQ(bytes_of(sums), before);
  };
  const auto add = [&](onefold_executor where, const void* x, const void* y, uint64_t count, const onefold_options* how = nullptr) {
    return [=, &sums] { check(onefold_range_add(sums.get(), where, x, y, count, how)); };
  };
  for (const uint64_t count : {uint64_t{5}, 3 * of.tile()}) {
    const std::string how_many = "input pointer is null but there are " + std::to_string(count) + " elements to read";
    expect_refused(errc::null_pointer, "the " + how_many, add(onefold_serial(), nullptr, in.y(), count));
    expect_refused(errc::null_pointer, "the second " + how_many, add(onefold_serial(), in.x(), nullptr, count));
    expect_refused(errc::misaligned_pointer, "input", add(onefold_serial(), in.x() + 4, in.y(), count));
    expect_refused(errc::misaligned_pointer, "second input", add(onefold_best(), in.x(), in.y() + 4, count));
    if (places().size() > 2) expect_refused(errc::invalid_argument, "threads", add(onefold_openmp(-1), in.x(), in.y(), count));
    const auto& gpu = backend_under_test(onefold::backend::cuda);
    expect_refused(gpu.built ? errc::backend_unavailable : errc::backend_not_built, "",
                   add(onefold_cuda_device(1000), in.x(), in.y(), count));
    onefold_options how{};
    how.struct_bytes = sizeof(how);
    how.guarantee = ONEFOLD_GUARANTEE_EXACT;
    expect_refused(errc::guarantee_not_met, "fixed order", add(onefold_serial(), in.x(), in.y(), count, &how));
    how.guarantee = 9;
    expect_refused(errc::invalid_argument, "guarantee", add(onefold_serial(), in.x(), in.y(), count, &how));
    how.guarantee = ONEFOLD_GUARANTEE_DEFAULT;
    for (const char* variant : {"parallel_reduce", "superaccumulator", "no_such_variant"}) {
      how.variant = variant;
      expect_refused(errc::unsupported, "leave the variant's name away", add(onefold_serial(), in.x(), in.y(), count, &how));
    }
    how.variant = nullptr;
    how.struct_bytes = 3;
    expect_refused(errc::invalid_argument, "struct_bytes", add(onefold_serial(), in.x(), in.y(), count, &how));
  }
  expect_refused(errc::invalid_argument, "negative", add(onefold_serial(), in.x(), in.y(), ~uint64_t{0}));

  const auto append = [&](const state& next) { return [&] { check(onefold_range_append(sums.get(), next.get())); }; };
  expect_refused(errc::invalid_argument, "neighbours", append(empty_state(of, of.tile() + 99)));
  expect_refused(errc::invalid_argument, "neighbours", append(empty_state(of, of.tile() + 101)));
  expect_refused(errc::invalid_argument, "neighbours", append(sums));
  expect_refused(errc::invalid_argument, "norm2 of f64", append(empty_state({element_type::f64, form::norm2}, of.tile() + 100)));
  expect_refused(errc::invalid_argument, "dot of f32", append(empty_state({element_type::f32, form::dot}, of.tile() + 100)));
  expect_refused(errc::null_pointer, "state", append(state()));

  double result = 0;
  expect_refused(errc::null_pointer, "result", [&] { check(onefold_range_result(sums.get(), 0, nullptr)); });
  EXPECT_TRUE(refuses(errc::invalid_argument, "begins at element 3 has no result",
                      [&] { check(onefold_range_result(empty_state(of, 3).get(), 0, &result)); }));
  bytes room(before.size());
  expect_refused(errc::invalid_argument, "room", [&] { check(onefold_range_write(sums.get(), room.data(), room.size() - 1)); });
  expect_refused(errc::null_pointer, "bytes", [&] { check(onefold_range_write(sums.get(), nullptr, room.size())); });
  expect_refused(errc::null_pointer, "bytes", [&] { check(onefold_range_read(sums.get(), nullptr, 5)); });
}

TEST(range_states, of_no_place_are_refused_or_nothing) {
  double x = 1;
  bytes room(100);
  EXPECT_EQ(onefold_range_add(nullptr, onefold_serial(), &x, nullptr, 1, nullptr), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(onefold_range_append(nullptr, nullptr), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(onefold_range_result(nullptr, 0, &x), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(onefold_range_write(nullptr, room.data(), 0), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(onefold_range_read(nullptr, room.data(), 0), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(onefold_range_begin(nullptr) + onefold_range_end(nullptr) + onefold_range_bytes(nullptr), 0U);
  onefold_range_destroy(nullptr);
}

// --- the C++ class --------------------------------------------------------------------------------------------------------------------------

TEST(a_range_state, takes_arrays_and_ranges_and_gives_what_the_forms_give) {
  const auto x = values<float>(5000, current_seed(), true);
  const auto y = values<float>(5000, current_seed() + 1, true);
  const std::span<const float> all(x);

  range_state<form::mean_variance, float, double> moments;
  moments.add(onefold::serial(), all.first(2000)).add(places().back().where, all.subspan(2000));
  const auto expected = onefold::mean_variance(onefold::serial(), x, onefold::accumulate_as<double>, onefold::ddof{1});
  EXPECT_EQ(moments.value(onefold::ddof{1}).variance, expected.variance);
  EXPECT_EQ(moments.value().mean, expected.mean);
  EXPECT_NE(moments.value().variance, expected.variance);

  range_state<form::dot, float> dots;
  dots.add(onefold::serial(), x.data(), y.data(), 1234).add(onefold::best(), all.subspan(1234), std::span(y).subspan(1234));
  EXPECT_EQ(dots.value(), onefold::dot(x, y));
  EXPECT_TRUE(refuses(errc::invalid_argument, "differ in length", [&] { dots.add(onefold::serial(), x, all.first(3)); }));

  const auto flags = std::to_array<bool>({true, true, false, true});
  range_state<form::all, bool> truths;
  static_assert(std::is_same_v<decltype(truths.value()), bool>);
  EXPECT_FALSE(truths.add(onefold::serial(), flags).value());

  std::vector<long long> numbers(3000, 5);
  numbers[2999] = -7;
  range_state<form::argminmax, long long> both;
  both.add(onefold::serial(), numbers);
  EXPECT_EQ(both.value().min.index, 2999U);
  EXPECT_EQ(both.value().min.value, -7);
  EXPECT_EQ(both.value().max.index, 0U);
}

TEST(a_range_state, takes_complex_numbers) {
  using c128 = std::complex<double>;
  const auto parts = values<double>(10'000, current_seed(), true);
  std::vector<c128> x(5000), y(5000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = {parts[i], parts[9'999 - i]}, y[i] = {parts[i + 4000], parts[i]};
  const std::span<const c128> all(x), others(y);
  const auto one = onefold::serial();
  range_state<form::dot, c128> dots;
  static_assert(std::is_same_v<decltype(dots.value()), c128>);
  dots.add(one, all.first(777), others.first(777)).add(places().back().where, all.subspan(777), others.subspan(777));
  EXPECT_EQ(dots.value(), onefold::dot(one, x, y));
  range_state<form::norm1, c128> norms;
  static_assert(std::is_same_v<decltype(norms.value()), double>);
  EXPECT_EQ(norms.add(one, x).value(), onefold::norm1(one, x));
  range_state<form::any, c128> any;
  EXPECT_FALSE(any.add(one, std::vector<c128>(3)).value());
  range_state<form::mean_variance, c128> moments, rest(3'000);
  moments.add(one, all.first(3'000));
  rest.add(one, all.subspan(3'000));
  moments.append(range_state<form::mean_variance, c128>::from_bytes(rest.bytes()));
  const auto expected = onefold::mean_variance(one, x, onefold::ddof{1});
  EXPECT_EQ(moments.value(onefold::ddof{1}).mean, expected.mean);
  EXPECT_EQ(moments.value(onefold::ddof{1}).variance, expected.variance);
  EXPECT_NE(moments.value().variance, expected.variance);

  // A function gives real numbers, and an array begins where its parts may.
  const state sums = empty_state({element_type::c64, form::sum}, 0);
  const onefold_value_source source{nullptr, [](void*, uint64_t, uint64_t, void* const*) { return 7; }};
  for (const uint64_t count : {uint64_t{2}, uint64_t{2'000}})
    EXPECT_TRUE(refuses(errc::unsupported, "a function gives real numbers",
                        [&] { check(onefold_range_add_values(sums.get(), onefold_serial(), &source, count, nullptr)); }));
  const auto* const shifted = reinterpret_cast<const std::byte*>(x.data()) + 2;
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "input",
                      [&] { check(onefold_range_add(sums.get(), onefold_serial(), shifted, nullptr, 5, nullptr)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "input",
                      [&] { check(onefold_range_add(sums.get(), onefold_serial(), nullptr, nullptr, 5, nullptr)); }));
  EXPECT_EQ(onefold_range_end(sums.get()), 0U);
}

TEST(a_range_state, is_copied_and_moved_as_a_value) {
  const auto x = values<double>(3000, current_seed(), true);
  range_state<form::sum, double> one(100);
  one.add(onefold::serial(), x.data(), 2000);
  range_state<form::sum, double> copy = one;
  EXPECT_EQ(copy.bytes(), one.bytes());
  copy.add(onefold::serial(), x.data() + 2000, 1000);
  EXPECT_EQ(one.end(), 2100U);
  EXPECT_EQ(copy.end(), 3100U);
  range_state<form::sum, double> moved = std::move(copy);
  EXPECT_EQ(moved.end(), 3100U);
  copy = one;
  EXPECT_EQ(copy.bytes(), one.bytes());
  one = moved;
  EXPECT_EQ(one.bytes(), moved.bytes());
  const auto& itself = one;
  one = itself;
  EXPECT_EQ(one.bytes(), moved.bytes());
}

TEST(a_range_state, reports_what_read_the_largest_of_its_subtrees) {
  const std::vector<double> x(2'000'000, 1.0);
  onefold::report ran;
  range_state<form::sum, double> ones(3);
  const auto where = places().back().where;
  ones.add(where, x, {.report = &ran});
  onefold::report of_half;
  static_cast<void>(onefold::sum(where, x.data(), 1 << 20, {.report = &of_half}));
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.threads, of_half.threads);
  EXPECT_EQ(ran.guarantee, onefold::guarantee::fixed);
  onefold::report of_few;
  ones.add(onefold::serial(), x.data(), 7, {.guarantee = onefold::guarantee::none, .report = &of_few});
  EXPECT_EQ(of_few.threads, 1);
}

// Whatever the thread has set, and it has that afterwards too.
TEST(a_range_state, is_the_same_in_every_rounding_mode) {
  const auto x = values<double>(5000, current_seed(), true);
  const auto make = [&x] {
    range_state<form::sum, double> first, second(1111);
    first.add(onefold::serial(), x.data(), 1111);
    second.add(onefold::serial(), x.data() + 1111, x.size() - 1111);
    const auto third = [](uint64_t i) { return 1.0 / static_cast<double>(i + 3); };  // rounded where it is called
    range_state<form::mean, std::complex<float>> mean;
    const std::vector<std::complex<float>> z(1777, {0.1F, 1.7F});
    for (int i = 0; i < 3; ++i) mean.add(onefold::serial(), z);
    return std::tuple(first.append(second).add(onefold::serial(), 700, third).bytes(), first.value(), mean.bytes(),
                      mean.value().imag());
  };
  const auto expected = make();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = make();
    const int left = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got, expected);
    EXPECT_EQ(left, mode);
  }
}

#ifdef ONEFOLD_HAVE_CUDA

// --- on a GPU -------------------------------------------------------------------------------------------------------------------------------

TEST(range_states_on_a_gpu, have_the_bytes_of_the_cpu_cuda) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  int compared = 0;
  for (const kind& of : all_kinds()) {
    const uint64_t tile = of.tile();
    for (const values_of values : {values_of::any_bits, values_of::few, values_of::infinities})
      for (const auto& [begin, count] : {std::pair{uint64_t{0}, uint64_t{1}},
                                         {uint64_t{0}, 8 * tile},
                                         {tile + 3, tile / 2},
                                         {uint64_t{5}, 21 * tile + 7},
                                         {3 * tile, 13 * tile}}) {
        const arrays in(of, count, current_seed() + count, values);
        const std::size_t size = count * of.element_bytes();
        const device_memory x(size), y(size);
        copy_to_device(x.as<std::byte>(), in.x(), size);
        copy_to_device(y.as<std::byte>(), in.y(), size);
        const state there = empty_state(of, begin);
        const void* const second = of.what == form::dot ? y.as<std::byte>() : nullptr;
        const int status = onefold_range_add(there.get(), onefold_cuda_device(0), x.as<std::byte>(), second, count, nullptr);
        check(status);
        const state here = empty_state(of, begin);
        check(onefold_range_add(here.get(), onefold_serial(), in.x(), in.second(0), count, nullptr));
        ASSERT_EQ(bytes_of(there), bytes_of(here)) << text(of) << ", " << count << " from " << begin << " on";
        ++compared;
      }
  }
  EXPECT_GT(compared, 3000);
}

// A stream, page-locked memory for images, and ranges whose states have the CPU's bytes: as an array, as two parts, and as an image that a graph makes.
class ranges_of_many_tiles {
 public:
  ranges_of_many_tiles() {
    expect_success(cudaMallocHost(&pinned_, image_bytes), "cudaMallocHost");
    image_.reset(pinned_);
  }
  // Where in the array, where in the tree, and how many.
  struct part {
    uint64_t offset, begin, count;
  };

  // Elements of `in`, which stand at `x` and `y` on the GPU.
  void compare(const kind& of, const arrays& in, const device_memory& x, const device_memory& y, const part& one) {
    const std::size_t before = one.offset * of.element_bytes();
    const bool has_two = of.what == form::dot;
    const void* const second = has_two ? y.as<std::byte>() + before : nullptr;
    const state expected = empty_state(of, one.begin);
    check(onefold_range_add(expected.get(), onefold_serial(), in.x(one.offset), has_two ? in.y(one.offset) : nullptr, one.count,
                            nullptr));
    const std::string what = text(of) + ", " + std::to_string(one.count) + " from " + std::to_string(one.begin);
    for (int again = 0; again < 3; ++again) {
      const state got = empty_state(of, one.begin);
      check(onefold_range_add(got.get(), where_, x.as<std::byte>() + before, second, one.count, nullptr));
      ASSERT_EQ(bytes_of(got), bytes_of(expected)) << what;
    }
    // As two parts, of which the second begins anywhere, and as an image that a graph makes.
    const uint64_t first = one.count / 2 + 1;
    onefold_range_part both[2]{};
    both[0].where = both[1].where = where_;
    both[0].x = x.as<std::byte>() + before;
    both[0].y = second;
    both[0].count = first;
    both[1].x = x.as<std::byte>() + before + first * of.element_bytes();
    both[1].y = has_two ? y.as<std::byte>() + before + first * of.element_bytes() : nullptr;
    both[1].count = one.count - first;
    const state in_parts = empty_state(of, one.begin);
    check(onefold_range_add_parts(in_parts.get(), both, 2, nullptr));
    ASSERT_EQ(bytes_of(in_parts), bytes_of(expected)) << what << ", in two parts";
    const state imaged = empty_state(of, one.begin);
    recording graph(on_.get());
    check(onefold_range_put_image(imaged.get(), where_, both[0].x, second, one.count, pinned_, nullptr));
    graph.end();
    for (int again = 0; again < 3; ++again) {
      std::memset(pinned_, 0, image_bytes);
      graph.replay();
      on_.synchronize();
      const state from_image = empty_state(of, one.begin);
      check(onefold_range_add_image(from_image.get(), pinned_, one.count));
      ASSERT_EQ(bytes_of(from_image), bytes_of(expected)) << what << ", in a graph";
    }
    ++compared_;
  }
  [[nodiscard]] int compared() const { return compared_; }

 private:
  static constexpr std::size_t image_bytes = std::size_t{1} << 16;
  stream on_;
  onefold_executor where_ = onefold_cuda(0, on_.get());
  void* pinned_ = nullptr;
  std::unique_ptr<void, decltype(&cudaFreeHost)> image_{nullptr, cudaFreeHost};
  int compared_ = 0;
};

// Of those the fold's own kernel reads leaves wherever subtrees begin, in blocks of two launches that are at work together.
TEST(range_states_on_a_gpu, of_many_tiles_have_the_bytes_of_the_cpu_cuda) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  constexpr uint64_t most_tiles = 9'100;
  ranges_of_many_tiles ranges;
  for (const onefold::element_type type : {onefold::element_type::f32, onefold::element_type::f64, onefold::element_type::i32}) {
    const kind whole{type, form::sum};
    const uint64_t tile = whole.tile(), most = most_tiles * tile;
    const std::size_t size = most * whole.element_bytes();
    for (const values_of values : {values_of::few, values_of::infinities, values_of::any_bits}) {
      const arrays in(whole, most, current_seed() + static_cast<uint64_t>(values), values);
      const device_memory x(size), y(size);
      expect_success(cudaMemcpy(x.as<std::byte>(), in.x(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
      expect_success(cudaMemcpy(y.as<std::byte>(), in.y(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
      std::vector<kind> kinds;
      append_kinds(kinds, static_cast<int>(type), static_cast<int>(type) + 1);
      for (const kind& of : kinds) {
        const bool is_rare = values != values_of::few || type == onefold::element_type::i32;
        if (is_rare && of.what != form::sum && of.what != form::norm2 && of.what != form::min && of.what != form::argmax &&
            of.what != form::argmin_magnitude)
          continue;
        const ranges_of_many_tiles::part parts[] = {{0, 5 * tile, 2'100 * tile},
                                                    {0, 5 * tile + 77, 9'000 * tile + 3},
                                                    {1, 4'095 * tile, 8'193 * tile},
                                                    {3, 12'345 * tile + 1, 4'096 * tile},
                                                    {2, (1 << 20) * tile, 5'003 * tile + tile / 2}};
        for (const auto& one : parts) ASSERT_NO_FATAL_FAILURE(ranges.compare(of, in, x, y, one));
      }
    }
  }
  EXPECT_GT(ranges.compared(), 300);
}

// The same of every form and type, as the second kernel of batches has most of them: ranges a little longer than what it reads by itself, and long ones.
TEST(range_states_on_a_gpu, of_many_tiles_of_every_type_have_the_bytes_of_the_cpu_cuda) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  constexpr uint64_t most_tiles = 5'020;
  ranges_of_many_tiles ranges;
  for (int type = 0; type < onefold::element_type_count; ++type) {
    const kind whole{static_cast<onefold::element_type>(type), form::sum};
    const uint64_t tile = whole.tile(), most = most_tiles * tile;
    const std::size_t size = most * whole.element_bytes();
    for (const values_of values : {values_of::few, values_of::any_bits}) {
      const arrays in(whole, most, current_seed() + static_cast<uint64_t>(values), values);
      const device_memory x(size), y(size);
      expect_success(cudaMemcpy(x.as<std::byte>(), in.x(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
      expect_success(cudaMemcpy(y.as<std::byte>(), in.y(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
      std::vector<kind> kinds;
      append_kinds(kinds, type, type + 1);
      for (const kind& of : kinds) {
        ASSERT_NO_FATAL_FAILURE(ranges.compare(of, in, x, y, {1, 5 * tile + 77, 520 * tile + 3}));
        if (values == values_of::any_bits && !onefold::is_record(of.what)) continue;
        ASSERT_NO_FATAL_FAILURE(ranges.compare(of, in, x, y, {3, 1'023 * tile, 3'500 * tile}));
        ASSERT_NO_FATAL_FAILURE(ranges.compare(of, in, x, y, {2, (1 << 20) * tile - 1, 5'003 * tile + tile / 2}));
      }
    }
  }
  EXPECT_GT(ranges.compared(), 600);
}

// Their slots may be the caller's, and few; what was written to the array last is seen, and what a call leaves behind disturbs none of another kind.
TEST(range_states_on_a_gpu, of_many_tiles_come_behind_other_work_cuda) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  constexpr uint64_t count = 5'000'003;
  std::vector<float> host(count);
  const random_numbers random(current_seed());
  for (uint64_t i = 0; i < count; ++i) host[i] = static_cast<float>(random.at(i) >> 40) * 0x1p-24F;
  const device_memory x(count * sizeof(float)), other(count * sizeof(float)), result(sizeof(float));
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  onefold::workspace small(where, 300'000), large(where, count);
  for (int again = 0; again < 20; ++again) {
    for (uint64_t i = 0; i < count; i += 1000) host[i] = static_cast<float>(again + 1);
    expect_success(cudaMemcpyAsync(other.as<float>(), host.data(), count * sizeof(float), cudaMemcpyDefault, on.get()),
                   "cudaMemcpyAsync");
    expect_success(cudaMemcpyAsync(x.as<float>(), other.as<float>(), count * sizeof(float), cudaMemcpyDefault, on.get()),
                   "cudaMemcpyAsync");
    onefold::sum_into(where, x.as<float>(), count, result.as<float>());
    onefold::options how;
    how.workspace = again % 3 == 0 ? nullptr : again % 3 == 1 ? &small : &large;
    range_state<form::sum, float> got(5'197), expected(5'197);
    got.add(where, x.as<float>(), count, how);
    expected.add(onefold::serial(), host.data(), count);
    ASSERT_EQ(got.bytes(), expected.bytes()) << again;
    EXPECT_EQ(onefold::sum(where, x.as<float>(), count), onefold::sum(onefold::serial(), host));
  }
}

TEST(range_states_on_a_gpu, of_best_go_where_the_elements_are_cuda) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  const std::vector<double> host(100'000, 0.1);
  const device_memory x(sizeof(double) * host.size());
  copy_to_device(x.as<double>(), host.data(), sizeof(double) * host.size());
  range_state<form::sum, double> sums;
  sums.add(onefold::best(), x.as<double>(), 77'777);
  sums.add(onefold::best(), host.data() + 77'777, host.size() - 77'777);
  EXPECT_EQ(sums.value(), onefold::sum(onefold::serial(), host));
}

#endif

}  // namespace
}  // namespace onefold_test
