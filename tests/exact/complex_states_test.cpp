/// @file complex_states_test.cpp  exact_state of complex numbers: its words are those that the oracle gives for the parts, whatever a set was made of,
/// its results those of the calls; and words that are no state are refused, in both parts or in one.

#include <complex>
#include <cstring>

#include "added_words.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::accumulate_as;
using onefold::errc;
using onefold::exact_state;
using words = std::vector<std::int64_t>;

template <class T>
struct complex_set {
  std::vector<std::complex<T>> x, y;
};

template <class T>
complex_set<T> some_set(std::size_t count, spread kind, std::uint64_t seed) {
  const auto parts = random_elements<T>(4 * count, kind, signs::both, seed);
  complex_set<T> made;
  for (std::size_t i = 0; i < count; ++i) {
    made.x.emplace_back(parts[4 * i], parts[4 * i + 1]);
    made.y.emplace_back(parts[4 * i + 2], parts[4 * i + 3]);
  }
  return made;
}

template <class F>
void for_float_and_double(F&& f) {
  f.template operator()<float>();
  f.template operator()<double>();
}

// docs/exact.md, by the oracle of real numbers.
template <form What, class T>
class expected_of {
 public:
  explicit expected_of(const complex_set<T>& set) {
    const auto bits = [](T value) { return scalar_of(value).bits; };
    for (std::size_t i = 0; i < set.x.size(); ++i) {
      const std::uint64_t a = bits(set.x[i].real()), b = bits(set.x[i].imag()), c = bits(set.y[i].real()),
                          d = bits(set.y[i].imag());
      real_.add(a);
      (is_of_all ? real_ : imaginary_).add(b);
      real_products_.add(a, c);
      real_products_.add(b, d);
      imaginary_products_.add(a, d);
      imaginary_products_.add(b, c ^ layout<T>().sign());
    }
  }
  [[nodiscard]] words all_words() const {
    words all = What == form::dot ? real_products_.words() : real_.words(What);
    if (is_of_all) return all;
    const words more = What == form::dot ? imaginary_products_.words() : imaginary_.words(What);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  template <class R>
  void expect_value(const R& got, bool wide) const {
    if constexpr (is_of_all) {
      EXPECT_EQ(scalar_of(got), real_.result(What, wide));
    } else if constexpr (What == form::mean_variance) {
      EXPECT_EQ(scalar_of(got.mean.real()), real_.result(form::mean, wide));
      EXPECT_EQ(scalar_of(got.mean.imag()), imaginary_.result(form::mean, wide));
      EXPECT_EQ(scalar_of(got.variance), real_.variance_with(imaginary_, 0, wide));
    } else if (What == form::dot) {
      EXPECT_EQ(scalar_of(got.real()), real_products_.result(wide));
      EXPECT_EQ(scalar_of(got.imag()), imaginary_products_.result(wide));
    } else {
      EXPECT_EQ(scalar_of(got.real()), real_.result(What, wide));
      EXPECT_EQ(scalar_of(got.imag()), imaginary_.result(What, wide));
    }
  }

 private:
  static constexpr bool is_of_all = What == form::sum_of_squares || What == form::norm2;
  exact_elements real_{onefold::element_type_of<T>}, imaginary_{onefold::element_type_of<T>};
  exact_pairs real_products_{onefold::element_type_of<T>}, imaginary_products_{onefold::element_type_of<T>};
};

// Calls f.operator()<What, T>() for every form that has states of complex numbers, and both types of parts.
template <class F>
void for_each_state(F&& f) {
  for_float_and_double([&]<class T> {
    f.template operator()<form::sum, T>();
    f.template operator()<form::mean, T>();
    f.template operator()<form::mean_variance, T>();
    f.template operator()<form::dot, T>();
    f.template operator()<form::sum_of_squares, T>();
    f.template operator()<form::norm2, T>();
  });
}

template <form What, class T>
void add(exact_state<What, std::complex<T>>& to, const onefold::executor& where, const complex_set<T>& set, std::size_t from,
         std::size_t count) {
  if constexpr (What == form::dot)
    to.add(where, set.x.data() + from, set.y.data() + from, count);
  else
    to.add(where, set.x.data() + from, count);
}

template <form What, class T>
exact_state<What, std::complex<T>> state_of(const complex_set<T>& set, const onefold::executor& where = onefold::serial()) {
  exact_state<What, std::complex<T>> made;
  add(made, where, set, 0, set.x.size());
  return made;
}

template <class T>
using complex_of = std::complex<T>;
static_assert(exact_state<form::sum, complex_of<float>>::size() == 38 &&
              exact_state<form::mean, complex_of<double>>::size() == 152);
static_assert(exact_state<form::dot, complex_of<float>>::size() == 56 && exact_state<form::dot, complex_of<double>>::size() == 284);
static_assert(exact_state<form::mean_variance, complex_of<float>>::size() == 78 &&
              exact_state<form::mean_variance, complex_of<double>>::size() == 420);
static_assert(exact_state<form::norm2, complex_of<float>>::size() == 28);
static_assert(exact_state<form::sum_of_squares, complex_of<double>>::size() == 142);
static_assert(!onefold::detail::exact::number_of_states(form::norm1, onefold::element_type::c64) &&
              !onefold::detail::exact::number_of_states(form::norm_inf, onefold::element_type::c128));
static_assert(std::is_same_v<decltype(exact_state<form::dot, complex_of<float>>().value()), complex_of<float>>);
static_assert(std::is_same_v<decltype(exact_state<form::norm2, complex_of<float>>().value()), float>);

template <form What, class T>
auto called(const onefold::executor& where, const complex_set<T>& set) {
  if constexpr (What == form::sum)
    return onefold::sum(where, set.x, exactly);
  else if constexpr (What == form::mean)
    return onefold::mean(where, set.x, exactly);
  else if constexpr (What == form::mean_variance)
    return onefold::mean_variance(where, set.x, exactly);
  else if constexpr (What == form::dot)
    return onefold::dot(where, set.x, set.y, exactly);
  else if constexpr (What == form::norm2)
    return onefold::norm2(where, set.x, exactly);
  else
    return onefold::sum_of_squares(where, set.x, exactly);
}

template <form What, class T>
void expect_state(const onefold::executor& where, const complex_set<T>& set, random_numbers& random) {
  using state = exact_state<What, std::complex<T>>;
  using onefold::name;
  SCOPED_TRACE(std::string(name(What)) + " of " + std::to_string(set.x.size()) + " times two " +
               std::string(name(onefold::element_type_of<T>)));
  const expected_of<What, T> expected(set);
  const state whole = state_of<What>(set, where);
  ASSERT_EQ(words_of(whole), expected.all_words());
  ASSERT_EQ(whole.count(), set.x.size());
  expected.expect_value(whole.value(), false);
  if constexpr (std::is_same_v<T, float>) expected.expect_value(whole.value(accumulate_as<std::complex<double>>), true);
  const auto of_state = whole.value();
  const auto of_call = called<What>(where, set);
  if (!set.x.empty()) {  // of none the call has any NaN
    ASSERT_EQ(std::memcmp(&of_state, &of_call, sizeof(of_call)), 0);
  }
  // In parts: added in turn, merged in another order, and by whoever adds integers.
  state in_turn;
  std::vector<state> parts;
  for (std::size_t from = 0; from < set.x.size();) {
    const std::size_t here = std::min<std::size_t>(set.x.size() - from, 1 + random.below(1 + set.x.size() / 3));
    add(in_turn, random.below(2) == 0 ? where : onefold::serial(), set, from, here);
    add(parts.emplace_back(), where, set, from, here);
    from += here;
  }
  shuffle(parts, random);
  state merged;
  words added(state::size(), 0);
  for (const state& part : parts) {
    merged += part;
    added = added + words_of(part);
  }
  ASSERT_EQ(words_of(in_turn), words_of(whole));
  ASSERT_EQ(words_of(merged), words_of(whole));
  state sum = with_words<What, std::complex<T>>(added);
  expected.expect_value(sum.value(), false);
  ASSERT_EQ(sum.count(), set.x.size());
  sum.normalize();
  ASSERT_EQ(words_of(sum), words_of(whole));
  // In memory: done on return on CPUs.
  words put(state::size() + 1, 7);
  if constexpr (What == form::dot)
    state::put_words(where, set.x.data(), set.y.data(), set.x.size(), put.data());
  else
    state::put_words(where, set.x.data(), set.x.size(), put.data());
  ASSERT_EQ(put.back(), 7);
  put.pop_back();
  ASSERT_EQ(put, words_of(whole));
  auto stored = state().value();
  state::put_value(where, put.data(), &stored);
  ASSERT_EQ(std::memcmp(&stored, &of_state, sizeof(stored)), 0);
  count_dispatch(where);
}

class exact_complex_states : public executor_test {};

TEST_P(exact_complex_states, have_the_words_of_the_parts) {
  for_each_state([&]<form What, class T> {
    random_numbers random(current_seed());
    for (const std::size_t n : {0u, 1u, 2u, 100u, 4'097u})
      for (const spread kind : {spread::whole, spread::within_60, spread::highest, spread::subnormal}) {
        if (is_sanitized && n > 1'000) continue;
        ASSERT_NO_FATAL_FAILURE((expect_state<What>(where(), some_set<T>(n, kind, current_seed() + n), random)));
      }
  });
}

TEST_P(exact_complex_states, of_special_parts_have_them_too) {
  for_each_state([&]<form What, class T> {
    random_numbers random(current_seed());
    constexpr float_layout in = layout<T>();
    const T some[] = {T(0), from_bits<T>(in.sign()), T(1), infinity<T>(), infinity<T>(true), from_bits<T>(in.nan()), largest<T>()};
    for (const T a : some)
      for (const T b : some) {
        const complex_set<T> set{{{a, b}, {T(0), a}, {some[1], some[1]}}, {{T(1), some[1]}, {b, T(0)}, {a, a}}};
        ASSERT_NO_FATAL_FAILURE((expect_state<What>(where(), set, random))) << a << " " << b;
      }
  });
}

TEST_P(exact_complex_states, take_ranges_and_parts) {
  const auto set = some_set<double>(1'000, spread::whole, current_seed());
  exact_state<form::sum, std::complex<double>> sum, of_parts;
  sum.add(where(), set.x);
  sum += set.y;
  const onefold_executor on = onefold::detail::c_executor(where());
  const onefold_range_part parts[] = {{on, set.y.data(), nullptr, 600},
                                      {on, set.x.data(), nullptr, 1'000},
                                      {on, nullptr, nullptr, 0},
                                      {on, set.y.data() + 600, nullptr, 400}};
  of_parts.add_parts(parts, 4);
  EXPECT_EQ(words_of(sum), words_of(of_parts));
  EXPECT_EQ(sum.count(), 2'000u);
  exact_state<form::dot, std::complex<double>> products, of_pairs;
  products.add(where(), set.x, set.y);
  const onefold_range_part pairs[] = {{on, set.x.data() + 10, set.y.data() + 10, 990}, {on, set.x.data(), set.y.data(), 10}};
  of_pairs.add_parts(pairs, 2);
  EXPECT_EQ(words_of(products), words_of(of_pairs));
  EXPECT_EQ(products.count(), 1'000u);
  count_dispatch(where());
}

TEST_P(exact_complex_states, that_cannot_be_added_to_are_left_as_they_were) {
  for_each_state([&]<form What, class T> {
    const auto set = some_set<T>(100, spread::whole, current_seed());
    auto state = state_of<What>(set, where());
    const words before = words_of(state);
    const auto add_at = [&](const std::complex<T>* x) {
      if constexpr (What == form::dot)
        state.add(where(), x, x, 5);
      else
        state.add(where(), x, 5);
    };
    EXPECT_TRUE(refuses(errc::null_pointer, "", [&] { add_at(nullptr); }));
    const auto* odd = reinterpret_cast<const std::complex<T>*>(reinterpret_cast<const std::byte*>(set.x.data()) + 1);
    EXPECT_TRUE(refuses(errc::misaligned_pointer, "", [&] { add_at(odd); }));
    EXPECT_EQ(words_of(state), before);
    count_dispatch(where());
  });
}

// Where the sums' squares cancel all but some digits of the products, and with degrees of freedom taken away.
TEST_P(exact_complex_states, of_moments_have_the_variance_of_both_parts) {
  for_float_and_double([&]<class T> {
    using complex = std::complex<T>;
    const T large = std::ldexp(T(1), std::numeric_limits<T>::digits - 1);
    const std::vector<std::vector<complex>> sets{{{large, -large}, {large + 1, -large}, {large, 1 - large}},
                                                 {{T(3), T(4)}, {T(3), T(4)}},
                                                 {{largest<T>(), T(0)}, {-largest<T>(), from_bits<T>(1)}},
                                                 {{from_bits<T>(1), from_bits<T>(3)}, {T(0), T(-0.0)}},
                                                 {{T(0), large}, {T(0), large + 1}},
                                                 {{large, T(0)}, {large + 1, T(0)}, {large, T(0)}}};
    for (const auto& x : sets)
      for (const std::int64_t ddof : {0, 1, 2, 5, -3}) {
        exact_elements real(onefold::element_type_of<T>), imaginary(onefold::element_type_of<T>);
        for (const complex& z : x) {
          real.add(scalar_of(z.real()).bits);
          imaginary.add(scalar_of(z.imag()).bits);
        }
        const auto expect = [&](const auto& got, bool wide) {
          EXPECT_EQ(scalar_of(got.mean.real()), real.result(form::mean, wide));
          EXPECT_EQ(scalar_of(got.mean.imag()), imaginary.result(form::mean, wide));
          EXPECT_EQ(scalar_of(got.variance), real.variance_with(imaginary, ddof, wide)) << x[0] << " ddof " << ddof;
        };
        expect(onefold::mean_variance(where(), x, onefold::ddof{ddof}, exactly), false);
        expect(onefold::mean_variance(where(), x, onefold::ddof{ddof}, accumulate_as<std::complex<double>>, exactly), true);
        struct {
          onefold::mean_variance_result<complex> found;
          T behind;
        } stored{{}, T(7)};
        onefold::mean_variance_into(where(), x, &stored.found, onefold::ddof{ddof}, exactly);
        expect(stored.found, false);
        EXPECT_EQ(stored.behind, T(7));
      }
  });
  count_dispatch(where());
}

ONEFOLD_TEST_EXACT_PLACES(exact_complex_states);

// --- what is no state

template <form What, class C>
testing::AssertionResult is_no_state(const words& all, std::string_view said) {
  using state = exact_state<What, C>;
  const state wrong = with_words<What, C>(all);
  const auto refused = [&](auto&& call) { return refuses(errc::invalid_argument, said, call); };
  const auto normalize = [&] {
    state changed = wrong;
    changed.normalize();
  };
  if (auto result = refused(normalize); !result) return result << " (normalize)";
  if (auto result = refused([&] { static_cast<void>(wrong.value()); }); !result) return result << " (value)";
  if (auto result = refused([&] { static_cast<void>(wrong.count()); }); !result) return result << " (count)";
  const auto other = state_of<What, typename C::value_type>(some_set<typename C::value_type>(5, spread::within_60, 3));
  state sum = other;
  if (auto result = refused([&] { sum += wrong; }); !result) return result << " (+=)";
  auto stored = other.value();
  if (auto result = refused([&] { state::put_value(onefold::serial(), all.data(), &stored); }); !result)
    return result << " (put_value)";
  const auto right = other.value();
  if (words_of(sum) != words_of(other) || std::memcmp(&stored, &right, sizeof(right)) != 0)
    return testing::AssertionFailure() << "what was refused has changed something";
  return testing::AssertionSuccess();
}

TEST(exact_complex_words, that_are_damaged_in_either_part_are_no_state) {
  for_each_state([]<form What, class T> {
    using complex = std::complex<T>;
    const words right = words_of(state_of<What>(some_set<T>(9, spread::whole, 1)));
    for (const std::size_t at : {std::size_t{0}, std::size_t{2}, std::size_t{9}, right.size() / 2 + 9, right.size() - 1}) {
      words damaged = right;
      damaged[at] += 1;
      EXPECT_TRUE((is_no_state<What, complex>(damaged, "no state"))) << at << ", " << onefold::name(What);
    }
  });
}

TEST(exact_complex_words, of_parts_of_different_sets_are_no_state) {
  using complex = std::complex<double>;
  words one = words_of(state_of<form::sum>(some_set<double>(9, spread::whole, 1)));
  const words other = words_of(state_of<form::sum>(some_set<double>(8, spread::whole, 1)));
  std::copy(other.begin() + 76, other.end(), one.begin() + 76);
  EXPECT_TRUE((is_no_state<form::sum, complex>(one, "different numbers of elements")));
  std::fill(one.begin() + 76, one.end(), 0);
  EXPECT_TRUE((is_no_state<form::mean, complex>(one, "different numbers of elements")));
}

// The state of all parts is that of as many real numbers, of which an odd number are no complex ones.
TEST(exact_complex_words, of_all_parts_are_those_of_real_numbers) {
  const auto set = some_set<double>(50, spread::whole, current_seed());
  exact_state<form::norm2, double> of_parts;
  of_parts.add(onefold::serial(), reinterpret_cast<const double*>(set.x.data()), 100);
  exact_state<form::norm2, std::complex<double>> state = state_of<form::norm2>(set);
  EXPECT_EQ(std::memcmp(of_parts.words(), state.words(), sizeof(state)), 0);
  EXPECT_EQ(of_parts.count(), 100u);
  EXPECT_EQ(state.count(), 50u);
  of_parts += std::vector<double>{3};
  std::copy(of_parts.words(), of_parts.words() + of_parts.size(), state.words());
  EXPECT_EQ(state.value(), of_parts.value());
  EXPECT_TRUE(refuses(errc::invalid_argument, "odd", [&] { static_cast<void>(state.count()); }));
}

TEST(exact_complex_words, are_added_to_a_state_while_it_is_read) {
  const auto set = some_set<float>(9, spread::within_60, 5);
  auto twice = state_of<form::dot>(set);
  const words once = words_of(twice);
  twice += twice;
  auto sum = with_words<form::dot, std::complex<float>>(once + once);
  sum.normalize();
  EXPECT_EQ(words_of(twice), words_of(sum));
  EXPECT_EQ(twice.count(), 18u);
}

}  // namespace
}  // namespace onefold_test
