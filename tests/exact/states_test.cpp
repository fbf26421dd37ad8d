/// @file states_test.cpp  States: the same words whatever a set was made of, merged in any order and in any way; and whatever is no
/// state is refused.

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "added_words.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::errc;
using onefold::exact_state;
using words = std::vector<std::int64_t>;

// Calls f.operator()<What, T>() for every form and type that has states.
template <class F>
void for_each_state(F&& f) {
  for_each_float([&]<class T> {
    f.template operator()<form::sum, T>();
    f.template operator()<form::norm1, T>();
    f.template operator()<form::dot, T>();
    f.template operator()<form::sum_of_squares, T>();
    f.template operator()<form::norm2, T>();
    f.template operator()<form::mean, T>();
    f.template operator()<form::mean_variance, T>();
  });
}

// A set for states of every form: elements for all but dot, pairs for that.
template <class T>
struct both_sets {
  std::vector<T> x, y;
  exact_elements elements{onefold::element_type_of<T>};
  exact_pairs pairs{onefold::element_type_of<T>};

  both_sets(std::vector<T> first, std::vector<T> second)
      : x(std::move(first)),
        y(std::move(second)),
        elements(std::span<const T>(x)),
        pairs(std::span<const T>(x), std::span<const T>(y)) {}

  template <form What>
  [[nodiscard]] words expected_words() const {
    return What == form::dot ? pairs.words() : elements.words(What);
  }
};

template <class T>
both_sets<T> some_set(std::size_t count, spread kind, std::uint64_t seed) {
  return {random_elements<T>(count, kind, signs::both, seed), random_elements<T>(count, kind, signs::both, seed + 1)};
}

template <form What, class T>
void add(exact_state<What, T>& to, const onefold::executor& where, const T* x, const T* y, std::uint64_t count) {
  if constexpr (What == form::dot)
    to.add(where, x, y, count);
  else
    to.add(where, x, count);
}

template <form What, class T>
exact_state<What, T> state_of(const both_sets<T>& set, const onefold::executor& where = onefold::serial()) {
  exact_state<What, T> made;
  add(made, where, set.x.data(), set.y.data(), set.x.size());
  return made;
}

template <form What, class T>
words normalized(const words& all) {
  auto state = with_words<What, T>(all);
  state.normalize();
  return words_of(state);
}

// Whether no way of reading these words takes them, and whatever they were to be merged into is left as it was.
template <form What, class T>
testing::AssertionResult is_no_state(const words& all, std::string_view said = "") {
  const exact_state<What, T> state = with_words<What, T>(all);
  const auto copy = [&] {
    auto changed = state;
    changed.normalize();
  };
  if (auto refused = refuses(errc::invalid_argument, said, copy); !refused) return refused << " (normalize)";
  const auto value = [&] { static_cast<void>(state.value()); };
  if (auto refused = refuses(errc::invalid_argument, said, value); !refused) return refused << " (value)";
  auto stored = exact_state<What, T>().value();
  const auto put_value = [&] { exact_state<What, T>::put_value(onefold::serial(), state.words(), &stored); };
  if (auto refused = refuses(errc::invalid_argument, said, put_value); !refused) return refused << " (put_value)";
  const auto count = [&] { static_cast<void>(state.count()); };
  if (auto refused = refuses(errc::invalid_argument, said, count); !refused) return refused << " (count)";
  exact_state<What, T> other = state_of<What, T>(some_set<T>(5, spread::within_60, 3));
  const words before = words_of(other);
  if (auto refused = refuses(errc::invalid_argument, said, [&] { other += state; }); !refused) return refused << " (+=)";
  if (words_of(other) != before)
    return testing::AssertionFailure() << "a merge that was refused has changed what it was to be merged into";
  return testing::AssertionSuccess();
}

// The check made right for words that were changed: a forgery, which the other rules must find.
words with_right_check(words all) {
  all[7] = exact_check(all);
  return all;
}

// --- sizes, no elements, results

static_assert(exact_state<form::sum, float>::size() == 19 && exact_state<form::sum, double>::size() == 76);
static_assert(exact_state<form::mean, onefold::float16>::size() == 19 && exact_state<form::mean, double>::size() == 76);
static_assert(exact_state<form::norm1, onefold::bfloat16>::size() == 19 && exact_state<form::norm1, double>::size() == 76);
static_assert(exact_state<form::dot, float>::size() == 28 && exact_state<form::dot, double>::size() == 142);
static_assert(exact_state<form::sum_of_squares, float>::size() == 28 && exact_state<form::norm2, double>::size() == 142);
static_assert(exact_state<form::mean_variance, float>::size() == 39 && exact_state<form::mean_variance, double>::size() == 210);

template <form What, class T, class... M>
void expect_results(const exact_state<What, T>& state, const both_sets<T>& set, M... modifier) {
  constexpr bool wide = sizeof...(M) != 0;
  if constexpr (What == form::mean_variance) {
    for (const std::int64_t ddof : {0, 1, -2}) {
      const auto [mean, variance] = state.value(onefold::ddof{ddof}, modifier...);
      EXPECT_EQ(scalar_of(mean), set.elements.result(form::mean, wide));
      EXPECT_EQ(scalar_of(variance), set.elements.variance(ddof, wide));
    }
    const auto [mean, variance] = state.value(modifier...);
    EXPECT_EQ(scalar_of(mean), set.elements.result(form::mean, wide));
    EXPECT_EQ(scalar_of(variance), set.elements.variance(0, wide));
  } else {
    EXPECT_EQ(scalar_of(state.value(modifier...)), What == form::dot ? set.pairs.result(wide) : set.elements.result(What, wide));
  }
}
template <form What, class T>
void expect_value(const exact_state<What, T>& state, const both_sets<T>& set) {
  const auto what = std::string(onefold::name(What)) + " of " + std::string(onefold::name(onefold::element_type_of<T>));
  SCOPED_TRACE(what);
  EXPECT_EQ(state.count(), set.x.size());
  expect_results(state, set);
  if constexpr (!std::is_same_v<T, double>) expect_results(state, set, onefold::accumulate_as<double>);
}

TEST(exact_state_of_no_elements, is_all_zeros_and_changes_no_other) {
  for_each_state([]<form What, class T> {
    const both_sets<T> none{{}, {}};
    exact_state<What, T> state;
    EXPECT_EQ(words_of(state), words(state.size(), 0));
    expect_value(state, none);
    add(state, onefold::serial(), static_cast<const T*>(nullptr), static_cast<const T*>(nullptr), 0);
    state += state;
    state.normalize();
    EXPECT_EQ(words_of(state), words(state.size(), 0));
    const auto set = some_set<T>(7, spread::whole, 1);
    const auto one = state_of<What, T>(set);
    state += one;
    EXPECT_EQ(words_of(state), words_of(one));
    state += exact_state<What, T>();
    EXPECT_EQ(words_of(state), words_of(one));
    EXPECT_EQ((normalized<What, T>(words_of(one) + words(state.size(), 0))), words_of(one));
  });
}

// --- the same words, whatever the set was made of

class exact_states : public executor_test {};

TEST_P(exact_states, have_the_words_of_the_page) {
  for_each_state([&]<form What, class T> {
    for (const spread kind : spreads)
      for (const std::size_t n : {1u, 2u, 100u, 4'097u}) {
        if (is_sanitized && n > 1'000) continue;
        const auto set = some_set<T>(n, kind, current_seed() + n);
        const auto state = state_of<What, T>(set, where());
        count_dispatch(where());
        ASSERT_EQ(words_of(state), set.template expected_words<What>()) << name(kind) << ", " << n;
        ASSERT_NO_FATAL_FAILURE(expect_value(state, set));
      }
    for (const std::uint64_t bits :
         {layout<T>().sign(), std::uint64_t{0}, layout<T>().infinity(), layout<T>().infinity() | layout<T>().sign(),
          layout<T>().nan(), layout<T>().sign() | 1, layout<T>().infinity() - 1}) {
      const both_sets<T> set{std::vector<T>(3, from_bits<T>(bits)),
                             {from_bits<T>(0), from_bits<T>(layout<T>().sign()), static_cast<T>(1.0f)}};
      const auto state = state_of<What, T>(set, where());
      ASSERT_EQ(words_of(state), set.template expected_words<What>()) << onefold::name(What) << " " << bits;
      ASSERT_NO_FATAL_FAILURE(expect_value(state, set));
    }
  });
}

// Parts of a set, one behind the other: most of a few elements, some of so many that they are added by bins, in blocks and by several threads.
std::vector<std::size_t> random_parts(std::size_t count, random_numbers& random) {
  std::vector<std::size_t> parts;
  for (std::size_t left = count; left != 0; left -= parts.back()) {
    std::size_t part = random.below(8) == 0 ? random.below(60) : random.below(9);
    if (random.below(250) == 0) part = random.below(std::size_t{64} << random.below(10));
    parts.push_back(std::min(left, part));
  }
  return parts;
}

// On CPUs, where both are done on return; tests/faults and gpu_test.cpp have them in the order of a stream.
TEST_P(exact_states, are_put_into_memory_and_concluded_there) {
  for_each_state([&]<form What, class T> {
    using state = exact_state<What, T>;
    for (const std::size_t count : {0u, 1u, 777u}) {
      const auto set = some_set<T>(count, spread::whole, current_seed() + count);
      words put(state::size() + 1, 7);
      if constexpr (What == form::dot)
        state::put_words(where(), set.x.data(), set.y.data(), count, put.data());
      else
        state::put_words(where(), set.x.data(), count, put.data());
      count_dispatch(where());
      EXPECT_EQ(put.back(), 7);
      put.pop_back();
      const state right = state_of<What>(set);
      EXPECT_EQ(put, words_of(right)) << onefold::name(What) << " of " << count;
      put = put * 3;
      const state three = with_words<What, T>(put);
      const auto expected = three.value();
      auto got = state().value();
      state::put_value(where(), put.data(), &got);
      EXPECT_EQ(std::memcmp(&expected, &got, sizeof(got)), 0) << onefold::name(What) << " of " << count;
      if constexpr (What == form::mean_variance) {
        const auto of_sample = three.value(onefold::ddof{1});
        state::put_value(where(), put.data(), &got, onefold::ddof{1});
        EXPECT_EQ(std::memcmp(&of_sample, &got, sizeof(got)), 0);
      }
    }
  });
}

TEST_P(exact_states, of_thousands_of_parts_in_any_order_are_those_of_the_whole) {
  for_each_state([&]<form What, class T> {
    auto set = some_set<T>(cases(40'000) + 500, spread::whole, current_seed());
    const words right = set.template expected_words<What>();
    random_numbers random(current_seed());
    exact_state<What, T> in_turn;
    std::vector<exact_state<What, T>> states;
    const T *x = set.x.data(), *y = set.y.data();
    for (const std::size_t part : random_parts(set.x.size(), random)) {
      add(in_turn, where(), x, y, part);
      states.emplace_back();
      add(states.back(), where(), x, y, part);
      x += part;
      y += part;
    }
    count_dispatch(where());
    ASSERT_EQ(words_of(in_turn), right) << "added in turn";
    for (int order = 0; order < 3; ++order) {
      shuffle(states, random);
      exact_state<What, T> merged;
      words added(right.size(), 0);
      for (const auto& one : states) {
        merged += one;
        added = added + words_of(one);
      }
      ASSERT_EQ(words_of(merged), right) << "merged";
      ASSERT_EQ((normalized<What, T>(added)), right) << "words added";
      ASSERT_NO_FATAL_FAILURE(expect_value(with_words<What, T>(added), set));
    }
    // Pairs first, then pairs of these: some of them canonical, some not.
    for (bool canonical = false; states.size() > 1; canonical = !canonical) {
      std::vector<exact_state<What, T>> half;
      for (std::size_t i = 0; i + 1 < states.size(); i += 2) {
        half.push_back(with_words<What, T>(words_of(states[i]) + words_of(states[i + 1])));
        if (canonical) half.back().normalize();
      }
      if (states.size() % 2 != 0) half.push_back(states.back());
      states = std::move(half);
    }
    states[0].normalize();
    ASSERT_EQ(words_of(states[0]), right) << "as a tree";
  });
}

TEST_P(exact_states, of_a_permutation_are_the_same) {
  for_each_state([&]<form What, class T> {
    const auto set = some_set<T>(5'000, spread::within_250, current_seed());
    const words right = set.template expected_words<What>();
    std::vector<std::size_t> order(set.x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::uint64_t i = 0; i < 3; ++i) {
      random_numbers random(i);
      shuffle(order, random);
      std::vector<T> x, y;
      for (const std::size_t at : order) {
        x.push_back(set.x[at]);
        y.push_back(set.y[at]);
      }
      exact_state<What, T> state;
      add(state, where(), x.data(), y.data(), x.size());
      count_dispatch(where());
      ASSERT_EQ(words_of(state), right);
    }
  });
}

TEST_P(exact_states, take_ranges_and_more_elements) {
  for_each_float([&]<class T> {
    const auto set = some_set<T>(1'000, spread::whole, current_seed());
    exact_state<form::norm1, T> sizes;
    sizes.add(where(), set.x);
    sizes += set.y;
    sizes.add(where(), std::span(set.y).first(0), exactly);
    sizes.add(where(), set.y.data(), 10, exactly);
    exact_elements expected{std::span<const T>(set.x)};
    expected.merge(exact_elements{std::span<const T>(set.y)});
    expected.merge(exact_elements{std::span<const T>(set.y).first(10)});
    EXPECT_EQ(words_of(sizes), expected.words(form::norm1));
    exact_state<form::dot, T> products;
    products.add(where(), set.x, set.y);
    products.add(where(), set.x, set.y, exactly);
    exact_pairs twice = set.pairs;
    twice.merge(set.pairs);
    EXPECT_EQ(words_of(products), twice.words());
    count_dispatch(where());
    // Words that were added and not made canonical are a state to be added to, too.
    auto added = with_words<form::dot, T>(words_of(products) + words_of(products));
    added.add(where(), set.x, set.y);
    twice.merge(twice);
    twice.merge(set.pairs);
    EXPECT_EQ(words_of(added), twice.words());
  });
}

// Those of the arrays as numbers of the products' type, whichever of the two is the narrower one.
TEST_P(exact_states, take_dots_of_two_types) {
  const auto expect = [&]<class T, class X, class Y>(T, X, Y) {
    const both_sets<float> from = some_set<float>(700, spread::whole, current_seed());
    std::vector<X> x;
    std::vector<Y> y;
    const auto some = []<class E>(float value, E) {
      if constexpr (std::is_integral_v<E>)
        return static_cast<E>(static_cast<int>(std::fmod(value, 100.0F)));
      else
        return E(value);
    };
    for (const float value : from.x) x.push_back(some(value, X()));
    for (const float value : from.y) y.push_back(some(value, Y()));
    exact_state<form::dot, T> here, turned;
    here.add(where(), x, y).add(where(), x.data(), y.data(), 10, exactly);
    turned.add(where(), y, x).add(where(), y.data(), x.data(), 10);
    exact_state<form::dot, T> expected;
    const std::vector<T> all_x(x.begin(), x.end()), all_y(y.begin(), y.end());
    expected.add(onefold::serial(), all_x, all_y).add(onefold::serial(), all_x.data(), all_y.data(), 10);
    EXPECT_EQ(words_of(here), words_of(expected));
    EXPECT_EQ(words_of(turned), words_of(expected));
    EXPECT_EQ(here.count(), 710U);
    count_dispatch(where());
  };
  expect(0.0, 0.0F, 0.0);
  expect(0.0, std::int32_t{}, 0.0);
  expect(0.0, std::uint8_t{}, 0.0F);  // with accumulate_as<double>
  expect(0.0F, onefold::float16(), 0.0F);
  expect(0.0, onefold::float16(), onefold::bfloat16());
  expect(0.0F, std::int8_t{}, onefold::bfloat16());
  exact_state<form::dot, double> state;
  const std::vector<std::int64_t> large(3);
  EXPECT_TRUE(
      refuses(errc::guarantee_not_met, "not all numbers of i64", [&] { state.add(where(), large, std::vector<double>(3)); }));
  EXPECT_EQ(state.count(), 0U);
}

TEST_P(exact_states, that_cannot_be_added_to_are_left_as_they_were) {
  for_each_state([&]<form What, class T> {
    const auto set = some_set<T>(100, spread::whole, current_seed());
    auto state = state_of<What, T>(set, where());
    const T* const nothing = nullptr;
    EXPECT_TRUE(refuses(errc::null_pointer, "", [&] { add(state, where(), nothing, nothing, 5); }));
    const auto* odd = reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(set.x.data()) + 1);
    EXPECT_TRUE(refuses(errc::misaligned_pointer, "", [&] { add(state, where(), odd, odd, 5); }));
    EXPECT_EQ(words_of(state), set.template expected_words<What>());
    // Nor does one that is none take elements.
    auto damaged = state;
    damaged.words()[9] += 1;
    EXPECT_TRUE(refuses(errc::invalid_argument, "", [&] { add(damaged, where(), set.x.data(), set.y.data(), 5); }));
    count_dispatch(where());
  });
  exact_state<form::dot, double> products;
  EXPECT_TRUE(refuses(errc::invalid_argument, "", [&] { products.add(where(), std::vector<double>(3), std::vector<double>(4)); }));
  EXPECT_EQ(products.count(), 0u);
}

ONEFOLD_TEST_EXACT_PLACES(exact_states);

// --- many equal elements

// Twice as many by each of the ways, thirty times and more.
TEST(exact_state_merges, of_equal_sets_double_them) {
  for_each_float([]<class T> {
    constexpr float_layout in = layout<T>();
    for (const std::uint64_t bits : {std::uint64_t{1}, in.sign() | (in.infinity() - 1), in.infinity() - 1, in.infinity() >> 1}) {
      const std::vector<T> one{from_bits<T>(bits)};
      exact_elements expected{std::span<const T>(one)};
      exact_state<form::sum, T> sum;
      exact_state<form::norm2, T> norm;
      exact_state<form::mean_variance, T> moments;
      sum += one;
      norm += one;
      moments += one;
      for (int doubling = 1; doubling <= 61; ++doubling) {
        sum += sum;
        norm = with_words<form::norm2, T>(words_of(norm) + words_of(norm));
        if (doubling % 30 == 0) norm.normalize();
        moments += exact_state<form::mean_variance, T>(moments);
        expected.merge(exact_elements(expected));
        ASSERT_EQ(words_of(sum), expected.words(form::sum)) << doubling;
        ASSERT_EQ(scalar_of(sum.value()), expected.result(form::sum)) << doubling;
        ASSERT_EQ(scalar_of(norm.value()), expected.result(form::norm2)) << doubling;
        const auto [mean, variance] = moments.value(onefold::ddof{1});
        ASSERT_EQ(scalar_of(mean), expected.result(form::mean)) << doubling;
        ASSERT_EQ(scalar_of(variance), expected.variance(1)) << doubling;
      }
      EXPECT_EQ(sum.count(), std::uint64_t{1} << 61);
    }
  });
}

// 2^30 times 0.1 and their mean: what a loop loses all digits of.
TEST(exact_state_merges, of_two_to_the_30_equal_terms_are_exact) {
  const std::vector<float> tenth{0.1f};
  exact_state<form::sum, float> sum;
  sum += tenth;
  for (int doubling = 0; doubling < 30; ++doubling) sum += sum;
  EXPECT_EQ(sum.value(), 0.1f * 0x1p30f);
  EXPECT_EQ(sum.value(onefold::accumulate_as<double>), static_cast<double>(0.1f) * 0x1p30);
  sum += std::vector<float>{0x1p-149f};
  EXPECT_EQ(sum.value(), 0.1f * 0x1p30f);
  EXPECT_EQ(sum.count(), (1u << 30) + 1);
}

TEST(exact_state_merges, of_as_many_states_as_are_allowed_are_right) {
  for_each_state([]<form What, class T> {
    for (const spread kind : {spread::whole, spread::highest, spread::subnormal}) {
      const auto set = some_set<T>(3, kind, 5);
      const words one = set.template expected_words<What>();
      for (const std::int64_t times :
           {std::int64_t{2}, std::int64_t{3}, std::int64_t{1'000'003}, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31}) {
        exact_elements elements(onefold::element_type_of<T>);
        exact_pairs pairs(onefold::element_type_of<T>);
        for (std::size_t i = 0; i < set.x.size(); ++i) {
          elements.add(scalar_of(set.x[i]).bits, static_cast<std::uint64_t>(times));
          pairs.add(scalar_of(set.x[i]).bits, scalar_of(set.y[i]).bits, static_cast<std::uint64_t>(times));
        }
        ASSERT_EQ((normalized<What, T>(one * times)), What == form::dot ? pairs.words() : elements.words(What)) << times;
      }
      for (const std::int64_t times : {(std::int64_t{1} << 31) + 1, std::int64_t{1} << 32, std::int64_t{1} << 40, std::int64_t{-1}})
        ASSERT_TRUE((is_no_state<What, T>(one * times))) << times;
    }
  });
}

// The largest limbs that there can be, added up to the number of states that there can be.
TEST(exact_state_merges, of_all_limbs_full_are_right) {
  for_each_float([]<class T> {
    // The number next to 0 from below: all limbs but the lowest are full.
    const std::vector<T> least{from_bits<T>(layout<T>().sign() | 1)};
    const words one = exact_elements{std::span<const T>(least)}.words(form::sum);
    exact_elements many(onefold::element_type_of<T>);
    many.add(scalar_of(least[0]).bits, std::uint64_t{1} << 31);
    EXPECT_EQ((normalized<form::sum, T>(one * (std::int64_t{1} << 31))), many.words(form::sum));
  });
}

TEST(exact_state_merges, know_the_kind_by_its_number_alone) {
  const auto set = some_set<onefold::float16>(100, spread::whole, 1);
  const words halves = words_of(state_of<form::sum>(set));
  std::vector<float> x(set.x.begin(), set.x.end()), y(set.y.begin(), set.y.end());
  const both_sets<float> as_floats(x, y);
  EXPECT_EQ(halves, words_of(state_of<form::sum>(as_floats)));
  EXPECT_EQ(halves, words_of(state_of<form::mean>(as_floats)));
  EXPECT_EQ(words_of(state_of<form::sum_of_squares>(set)), words_of(state_of<form::norm2>(as_floats)));
  const auto twice = with_words<form::mean, onefold::bfloat16>(halves + halves);
  EXPECT_EQ(scalar_of(twice.value()), set.elements.result(form::mean));
  EXPECT_EQ(words_of(state_of<form::dot>(as_floats)), words_of(state_of<form::dot>(set)));
}

// --- what is no state

// Each bit of each word, of a canonical state and of three that were added.
TEST(damaged_states, are_refused_whichever_bit_has_changed) {
  for_each_state([]<form What, class T> {
    const auto set = some_set<T>(20, spread::whole, 9);
    const words one = set.template expected_words<What>();
    for (const words& right : {one, one * 3, words(one.size(), 0)})
      for (std::size_t i = 0; i < right.size(); ++i)
        for (int bit = 0; bit < 64; bit += is_sanitized ? 7 : 1) {
          words wrong = right;
          wrong[i] = std::bit_cast<std::int64_t>(std::bit_cast<std::uint64_t>(wrong[i]) ^ std::uint64_t{1} << bit);
          auto state = with_words<What, T>(wrong);
          if (const auto refused = refuses(errc::invalid_argument, "", [&] { state.normalize(); }); !refused)
            FAIL() << refused.message() << ": word " << i << ", bit " << bit << " of " << onefold::name(What);
        }
    for (std::size_t i = 0; i < one.size(); i += 5) {
      words wrong = one;
      wrong[i] ^= std::int64_t{1} << i % 40;
      ASSERT_TRUE((is_no_state<What, T>(wrong))) << "word " << i;
    }
  });
}

TEST(damaged_states, of_torn_or_exchanged_words_are_refused) {
  for_each_state([]<form What, class T> {
    const words one = some_set<T>(200, spread::whole, 9).template expected_words<What>();
    const words other = some_set<T>(300, spread::whole, 10).template expected_words<What>();
    for (std::size_t torn = 1; torn < one.size(); torn += 3) {
      // The first words of one sum, and the others of another one.
      words wrong = one + other;
      std::copy(one.begin() + static_cast<std::ptrdiff_t>(torn), one.end(), wrong.begin() + static_cast<std::ptrdiff_t>(torn));
      if (wrong != one + other) {
        ASSERT_TRUE((is_no_state<What, T>(wrong))) << torn;
      }
      wrong = one;
      std::swap(wrong[torn], wrong[torn + 1 < one.size() ? torn + 1 : 0]);
      if (wrong != one) {
        ASSERT_TRUE((is_no_state<What, T>(wrong))) << torn;
      }
    }
    words shifted = one;
    std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
    EXPECT_TRUE((is_no_state<What, T>(shifted)));
    EXPECT_TRUE((is_no_state<What, T>(words(one.size(), -1))));
    EXPECT_TRUE((is_no_state<What, T>(words(one.size(), std::numeric_limits<std::int64_t>::max()))));
    EXPECT_TRUE((is_no_state<What, T>(words(one.size(), std::numeric_limits<std::int64_t>::min()))));
  });
}

TEST(states_of_another_kind, are_refused) {
  for_each_state([]<form What, class T> {
    const words right = some_set<T>(20, spread::whole, 9).template expected_words<What>();
    ASSERT_EQ((normalized<What, T>(right)), right);
    for (std::int64_t number = 0; number <= 9; ++number) {
      words wrong = right;
      wrong[0] = 0x0f1d0100 + number;
      if (wrong[0] != right[0]) {
        EXPECT_TRUE((is_no_state<What, T>(with_right_check(wrong)))) << number;
      }
    }
    for (const std::int64_t version : {-256, 256, 512, 0x10000}) {
      words wrong = right;
      wrong[0] += version;
      EXPECT_TRUE((is_no_state<What, T>(with_right_check(wrong)))) << version;
    }
  });
  // A state of one kind and one of another, added.
  const auto set = some_set<double>(20, spread::whole, 9);
  EXPECT_TRUE((is_no_state<form::sum, double>(set.elements.words(form::sum) + set.elements.words(form::norm1))));
  EXPECT_TRUE((is_no_state<form::norm1, double>(set.elements.words(form::sum) + set.elements.words(form::norm1))));
}

TEST(forged_states, with_words_out_of_their_range_are_refused) {
  constexpr std::int64_t two32 = std::int64_t{1} << 32, two31 = std::int64_t{1} << 31, two62 = std::int64_t{1} << 62;
  constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min(), highest = std::numeric_limits<std::int64_t>::max();
  for_each_state([&]<form What, class T> {
    const words one = some_set<T>(20, spread::within_60, 9).template expected_words<What>();
    const std::size_t last = one.size() - 1;
    for (const std::int64_t m : {1, 5}) {
      const auto forged = [&](std::size_t i, std::int64_t word) {
        words wrong = one * m;
        wrong[i] = word;
        return with_right_check(wrong);
      };
      for (const std::int64_t n :
           {m - 1, std::int64_t{0}, std::int64_t{-1}, two62 + 1, smallest, highest})  // at least one of each state
        EXPECT_TRUE((is_no_state<What, T>(forged(2, n)))) << n;
      for (std::size_t flag = 3; flag <= 6; ++flag)
        for (const std::int64_t word : {std::int64_t{-1}, m + 1, two32, smallest, highest})
          EXPECT_TRUE((is_no_state<What, T>(forged(flag, word)))) << flag << " " << word;
      for (std::size_t limb = 8; limb < last; limb += 3) {
        if (What == form::mean_variance && (limb == (sizeof(T) == 8 ? 75u : 18u))) continue;  // the elements' last limb
        for (const std::int64_t word : {std::int64_t{-1}, m * (two32 - 1) + 1, smallest, highest})
          EXPECT_TRUE((is_no_state<What, T>(forged(limb, word)))) << limb << " " << word;
      }
      for (const std::int64_t word : {-two31 * m - 1, (two31 - 1) * m + 1, smallest, highest})
        EXPECT_TRUE((is_no_state<What, T>(forged(last, word)))) << word;
      for (const std::int64_t word : {m - 1, m + 1, -m, std::int64_t{0}, smallest, highest})
        EXPECT_TRUE((is_no_state<What, T>(forged(1, word)))) << word;
      for (const std::int64_t word : {std::int64_t{0}, -one[0], one[0] * m + 1, one[0] * (m + 1)})
        EXPECT_TRUE((is_no_state<What, T>(forged(0, word)))) << word;
    }
    // Each limb in its range, but carries that leave no room for the last.
    words full = one * 2;
    for (std::size_t i = 8; i < last; ++i)
      if (!(What == form::mean_variance && i == (sizeof(T) == 8 ? 75u : 18u))) full[i] = 2 * (two32 - 1);
    full[last] = 2 * (two31 - 1);
    EXPECT_TRUE((is_no_state<What, T>(with_right_check(full))));
    full[last] = -2 * two31;
    EXPECT_TRUE((is_no_state<What, T>(with_right_check(full))));
    // What has no term below zero is not negative; its state has no other sign to tell of.
    constexpr bool is_absolute = What == form::norm1;
    if (is_absolute || What == form::mean_variance) {
      words below = one;
      std::fill(below.begin() + (is_absolute ? 8 : sizeof(T) == 8 ? 76 : 19), below.end(), 0);
      below[last] = -1;
      EXPECT_TRUE((is_no_state<What, T>(with_right_check(below))));
    }
    if (is_absolute) {
      words infinite = one;
      infinite[5] = 1;
      EXPECT_TRUE((is_no_state<What, T>(with_right_check(infinite))));
    }
    // The check of what is no canonical state may be any number that is right modulo 2^31 - 1.
    words congruent = one;
    congruent[7] += two31 - 1;
    EXPECT_EQ((normalized<What, T>(congruent)), one);
  });
}

TEST(forged_states, of_moments_that_no_numbers_have_give_no_variance) {
  for_each_state([&]<form What, class T> {
    if constexpr (What == form::mean_variance) {
      words forged = some_set<T>(20, spread::within_60, 9).template expected_words<What>();
      std::fill(forged.begin() + (sizeof(T) == 8 ? 76 : 19), forged.end(), 0);  // no squares, of numbers that are not zero
      forged = with_right_check(forged);
      const auto found = with_words<What, T>(forged).value();
      EXPECT_TRUE(std::isnan(found.variance)) << found.variance;
      EXPECT_FALSE(std::isnan(found.mean));
    }
  });
}

TEST(states_added_wrongly, are_refused) {
  for_each_state([]<form What, class T> {
    // As the bits of doubles: of numbers below zero these are NaN.
    const auto add_as_doubles = [](words a, const words& b) {
      for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = std::bit_cast<std::int64_t>(std::bit_cast<double>(a[i]) + std::bit_cast<double>(b[i]));
      return a;
    };
    // In 32 bits each half has its own carry, and none goes from one to the other.
    const auto add_in_32_bits = [](words a, const words& b) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto x = std::bit_cast<std::uint64_t>(a[i]), y = std::bit_cast<std::uint64_t>(b[i]);
        a[i] = std::bit_cast<std::int64_t>(((x >> 32) + (y >> 32)) << 32 | ((x + y) & 0xffffffffu));
      }
      return a;
    };
    const words one = some_set<T>(200, spread::highest, 11).template expected_words<What>();
    words in_32_bits = one;
    for (int i = 1; i < 20; ++i) in_32_bits = add_in_32_bits(in_32_bits, one);
    EXPECT_TRUE((is_no_state<What, T>(in_32_bits)));
    words too_few = one * 20;
    for (auto& word : too_few) word = static_cast<std::int32_t>(word);
    EXPECT_TRUE((is_no_state<What, T>(too_few)));
    if (one.back() < 0) {
      EXPECT_TRUE((is_no_state<What, T>(add_as_doubles(one, one))));
    }
    words rounded = one * 1'000'003;
    for (auto& word : rounded) word = static_cast<std::int64_t>(static_cast<float>(word));
    EXPECT_TRUE((is_no_state<What, T>(rounded)));
  });
}

// A merge that would count more elements than a state can.
TEST(states_of_too_many_elements, are_refused) {
  const std::vector<double> one{1.0};
  exact_state<form::sum, double> state, third;
  state += one;
  for (int doubling = 0; doubling < 61; ++doubling) state += state;
  third = state;
  third += one;
  const words before = words_of(state);
  ASSERT_EQ(state.count(), std::uint64_t{1} << 61);
  EXPECT_TRUE(refuses(errc::invalid_argument, "", [&] { state += third; }));
  EXPECT_EQ(words_of(state), before);
  EXPECT_TRUE((is_no_state<form::sum, double>(words_of(state) + words_of(third))));

  state += state;
  EXPECT_TRUE(refuses(errc::invalid_argument, "2^62", [&] { state += state; }));
  EXPECT_EQ(state.count(), std::uint64_t{1} << 62);
}

// --- threads

TEST(states_of_several_host_threads, do_not_disturb_each_other) {
  const auto set = some_set<double>(30'000, spread::whole, 12);
  const words right = set.elements.words(form::sum);
  on_host_threads(6, [&](std::size_t t) -> std::string {
    const auto where = t % 2 == 0 ? onefold::serial() : onefold::openmp();
    for (int i = 0; i < 20; ++i)
      if (words_of(state_of<form::sum>(set, backend_under_test(where.backend()).usable ? where : onefold::serial())) != right)
        return "other words";
    return {};
  });
}

}  // namespace
}  // namespace onefold_test
