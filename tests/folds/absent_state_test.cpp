/// @file absent_state_test.cpp  States of ranges of functions whose values may be absent: the result has the bits of the reduction of f(i) in one call, however the
/// indices are cut, also where no value is there, and where all are.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "../support/trial.hpp"
#include "range_support.hpp"

namespace onefold_test {
namespace {

using onefold::absent;
using onefold::maybe;
using onefold::own_range_state;

// Which values are there.
enum class presence { none, all, some, few, one, not_the_first_ones, count };

// Values of any bits, or few different ones with zeros of both signs, or negative zeros alone: a sum of those is another one than that of nothing.
template <class T>
class values_with_gaps {
 public:
  values_with_gaps(uint64_t count, uint64_t seed, presence which, uint64_t style)
      : random_(seed), which_(which), style_(style), one_(random_.at(~uint64_t{0}) % count), count_(count) {}

  maybe<T> operator()(uint64_t index) const {
    const uint64_t i = first_ + index;
    if (!is_there(i)) return absent;
    const uint64_t bits = random_.at(i);
    T value{};
    if (style_ % 3 == 0) {
      std::memcpy(&value, &bits, sizeof(value));
    } else if (style_ % 3 == 1) {
      value = static_cast<T>(static_cast<double>(bits >> 12) * 0x1p-52 * 7 - (std::is_signed_v<T> ? 3 : 0));
      if (bits % 5 == 0) value = T(0);
      if constexpr (std::is_floating_point_v<T>) {
        if (bits % 11 == 0) value = -T(0);
        if (bits % 3001 == 0) value = std::numeric_limits<T>::infinity();
      }
    } else if constexpr (std::is_floating_point_v<T>) {
      value = -T(0);
    }
    return value;
  }
  // The same from a later index on. Of the same type: what calls a function is compiled once for all of a type's.
  [[nodiscard]] values_with_gaps from(uint64_t first) const {
    values_with_gaps later = *this;
    later.first_ += first;
    return later;
  }

 private:
  [[nodiscard]] bool is_there(uint64_t i) const {
    switch (which_) {
      case presence::none:
        return false;
      case presence::all:
        return true;
      case presence::some:
        return (random_.at(i) >> 7) % 3 != 0;
      case presence::few:
        return (random_.at(i) >> 7) % 700 == 0;
      case presence::one:
        return i == one_;
      default:
        return i >= count_ / 2;
    }
  }
  random_numbers random_;
  presence which_;
  uint64_t style_, one_, count_, first_ = 0;
};

// A state of values of one type, of whichever form or operator: the test below is compiled for each type and not for each of a hundred states.
template <class T>
class any_state {
 public:
  any_state() = default;
  any_state(const any_state&) = delete;
  any_state& operator=(const any_state&) = delete;
  virtual ~any_state() = default;
  virtual void add(const onefold::executor& where, uint64_t count, const values_with_gaps<T>& f) = 0;
  virtual void append_written(const any_state& next) = 0;  // written and read on the way
  [[nodiscard]] virtual bytes written() const = 0;
  [[nodiscard]] virtual uint64_t end() const = 0;
  [[nodiscard]] virtual bytes value() const = 0;
};

template <class T, class State>
class state_as_any final : public any_state<T> {
 public:
  explicit state_as_any(uint64_t begin) : state_(begin) {}
  void add(const onefold::executor& where, uint64_t count, const values_with_gaps<T>& f) override { state_.add(where, count, f); }
  void append_written(const any_state<T>& next) override { state_.append(State::from_bytes(next.written())); }
  [[nodiscard]] bytes written() const override { return state_.bytes(); }
  [[nodiscard]] uint64_t end() const override { return state_.end(); }
  [[nodiscard]] bytes value() const override { return bytes_of_value(state_.value()); }

 private:
  State state_;
};

// `empty` makes a state, which begins at an index; `in_one_call` reduces on one core.
template <class T>
void expect_the_bits_of_one_call(const std::string& of, std::unique_ptr<any_state<T>> (*empty)(uint64_t begin),
                                 bytes (*in_one_call)(uint64_t count, const values_with_gaps<T>& f)) {
  SCOPED_TRACE(of);
  random_numbers random(current_seed());
  const uint64_t tile = onefold::order::tile_elements<T>;
  constexpr int rounds = is_sanitized ? 6 : 9;
  int compared = 0;
  for (int which = 0; which < static_cast<int>(presence::count); ++which)
    for (int round = 0; round < rounds; ++round) {
      const uint64_t sizes[] = {1, tile - 1, tile, tile + 1, 16 * tile + 3};
      const uint64_t n = round < 5 ? sizes[round] : 1 + random.below(7 * tile);
      const values_with_gaps<T> f(n, random(), static_cast<presence>(which), static_cast<uint64_t>(round));
      const auto cuts = cuts_of(n, tile, random);
      const auto any_place = [&]() -> const onefold::executor& { return places()[random.below(places().size())].where; };
      std::vector<std::unique_ptr<any_state<T>>> parts;
      for (std::size_t i = 1; i < cuts.size(); ++i) {
        parts.push_back(empty(cuts[i - 1]));
        parts.back()->add(any_place(), cuts[i] - cuts[i - 1], f.from(cuts[i - 1]));
      }
      while (parts.size() > 1) {
        const std::size_t left = random.below(parts.size() - 1);
        parts[left]->append_written(*parts[left + 1]);
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(left) + 1);
      }
      const auto at_once = empty(0);
      at_once->add(any_place(), n, f);
      ASSERT_EQ(parts[0]->end(), n);
      ASSERT_EQ(parts[0]->value(), in_one_call(n, f)) << n << " values, presence " << which << ", style " << round % 3;
      ASSERT_EQ(at_once->value(), parts[0]->value()) << n;
      if (round % 3 != 0) {  // where no NaN has bits of its own
        ASSERT_EQ(at_once->written(), parts[0]->written()) << n;
      }
      ++compared;
    }
  EXPECT_EQ(compared, 6 * rounds);
}

// `State` is that of the values of one form.
template <form What, class T, class State>
void expect_the_bits_of_one_call(const std::string& of) {
  expect_the_bits_of_one_call<T>(
      of, [](uint64_t begin) -> std::unique_ptr<any_state<T>> { return std::make_unique<state_as_any<T, State>>(begin); },
      [](uint64_t count, const values_with_gaps<T>& f) {
        return bytes_of_value(onefold::detail::named_reduction<What>{}(onefold::serial(), count, f));
      });
}

template <form What, class T>
void expect_state_of_form() {
  expect_the_bits_of_one_call<What, T, onefold::range_state<What, T>>(std::string(onefold::name(What)) + " of " +
                                                                      std::string(onefold::name(onefold::element_type_of<T>)));
}

TEST(states_of_values_that_may_be_absent, have_the_bits_of_one_call_in_each_form_that_takes_them) {
  for_each_type([](auto zero) {
    using T = decltype(zero);
    expect_state_of_form<form::prod, T>();
    expect_state_of_form<form::min, T>();
    expect_state_of_form<form::max, T>();
    expect_state_of_form<form::sum_of_squares, T>();
    expect_state_of_form<form::norm1, T>();
    expect_state_of_form<form::norm2, T>();
    expect_state_of_form<form::norm_inf, T>();
    expect_state_of_form<form::count, T>();
    expect_state_of_form<form::all, T>();
    expect_state_of_form<form::any, T>();
    expect_state_of_form<form::none, T>();
    if constexpr (std::is_integral_v<T>) {
      expect_state_of_form<form::sum, T>();
      expect_state_of_form<form::min_number, T>();
      expect_state_of_form<form::max_number, T>();
      expect_state_of_form<form::bit_and, T>();
      expect_state_of_form<form::bit_or, T>();
      expect_state_of_form<form::bit_xor, T>();
    }
  });
}

TEST(states_of_values_that_may_be_absent, have_the_bits_of_one_call_with_the_librarys_operators) {
  using namespace onefold;
  for_each_type([](auto zero) {
    using T = decltype(zero);
    const std::string type(name(element_type_of<T>));
    expect_the_bits_of_one_call<form::sum, T, own_range_state<maybe<T>, op::sum>>("op::sum of " + type);
    expect_the_bits_of_one_call<form::min_number, T, own_range_state<maybe<T>, op::min_number>>("op::min_number of " + type);
    expect_the_bits_of_one_call<form::max_number, T, own_range_state<maybe<T>, op::max_number>>("op::max_number of " + type);
  });
  expect_the_bits_of_one_call<form::prod, float, own_range_state<maybe<float>, op::prod>>("op::prod");
  expect_the_bits_of_one_call<form::min, double, own_range_state<maybe<double>, op::min>>("op::min");
  expect_the_bits_of_one_call<form::max, int32_t, own_range_state<maybe<int32_t>, op::max>>("op::max");
  expect_the_bits_of_one_call<form::bit_and, uint64_t, own_range_state<maybe<uint64_t>, op::bit_and>>("op::bit_and");
}

TEST(states_of_values_that_may_be_absent, keep_what_changes_no_other_in_place_of_them) {
  const auto none = [](uint64_t) { return maybe<double>(); };
  const auto element_of = [](const bytes& state) {
    double first = 0;
    std::memcpy(&first, state.data() + 32, sizeof(first));
    return first;
  };
  onefold::range_state<form::min, double> least(3);
  EXPECT_EQ(element_of(least.add(onefold::serial(), 1, none).bytes()), std::numeric_limits<double>::infinity());
  onefold::range_state<form::prod, double> product(3);
  EXPECT_EQ(element_of(product.add(onefold::serial(), 1, none).bytes()), 1.0);
  onefold::range_state<form::norm2, double> norm(3);
  EXPECT_EQ(element_of(norm.add(onefold::serial(), 1, none).bytes()), 0.0);
  // With an operator the bytes say that it is absent.
  own_range_state<maybe<double>, onefold::op::sum> sum(3);
  const bytes state = sum.add(onefold::serial(), 1, none).bytes();
  EXPECT_EQ(state.size(), 32U + 9U + 8U);
  EXPECT_TRUE(std::all_of(state.begin() + 32, state.begin() + 41, [](std::byte one) { return one == std::byte{0}; }));
}

TEST(states_of_values_that_may_be_absent, take_optionals_boxes_truths_and_wider_accumulators) {
  const auto positive = [](uint64_t i) -> std::optional<float> {
    return i % 3 == 0 ? std::nullopt : std::optional<float>(static_cast<float>(i) * 0.1F);
  };
  onefold::range_state<form::norm1, float, double> wide;
  wide.add(onefold::best(), 5'000, positive);
  EXPECT_EQ(wide.value(), onefold::norm1(onefold::serial(), 5'000, positive, onefold::accumulate_as<double>));
  const auto in_box = [](std::int64_t j, std::int64_t i) -> maybe<int32_t> {
    if ((i + j) % 2 == 0) return absent;
    return static_cast<int32_t>(i * j - 40);
  };
  onefold::range_state<form::sum, int32_t> plane;
  plane.add(onefold::openmp(), onefold::box({0, 5}, 300), in_box).add(onefold::serial(), onefold::box({5, 9}, 300), in_box);
  EXPECT_EQ(plane.value(), onefold::sum(onefold::serial(), onefold::box(9, 300), in_box));
  const auto truth = [](uint64_t i) -> maybe<uint32_t> {
    return i % 4 == 0 ? maybe<uint32_t>(absent) : maybe<uint32_t>(i % 4 == 1 ? 7 : 0);
  };
  onefold::range_state<form::count, uint32_t> truths;
  truths.add(onefold::serial(), 4'000, truth);
  EXPECT_EQ(truths.value(), 1'000U);
  // Arrays and values that are there go into the same state.
  own_range_state<maybe<double>, onefold::op::sum> mixed;
  const std::vector<double> x(1'000, 0.5);
  mixed.add(onefold::serial(), x).add(onefold::serial(), 500, [](uint64_t) { return 0.25; });
  mixed.add(onefold::serial(), 500, [](uint64_t) { return maybe<double>(); });
  EXPECT_EQ(mixed.value(), 625.0);
  EXPECT_EQ(mixed.value(1.0), 626.0);
}

TEST(states_with_operators_of_the_library, of_no_values_have_their_identity) {
  const own_range_state<double, onefold::op::sum> sum;
  EXPECT_EQ(bytes_of_value(sum.value()), bytes_of_value(0.0));
  EXPECT_EQ((own_range_state<float, onefold::op::min_number>().value()), std::numeric_limits<float>::infinity());
  EXPECT_EQ((own_range_state<uint32_t, onefold::op::bit_and>().value()), ~0U);
  EXPECT_EQ((own_range_state<int64_t, onefold::op::prod>().value()), 1);
  // Plain values, with the bits of the form.
  const auto x = values<float>(12'345, current_seed(), true);
  own_range_state<float, onefold::op::sum> plain;
  plain.add(onefold::best(), x.data(), 1'000).add(onefold::serial(), x.data() + 1'000, x.size() - 1'000);
  EXPECT_EQ(bytes_of_value(plain.value()), bytes_of_value(onefold::sum(onefold::serial(), x)));
  own_range_state<float, onefold::op::sum> later(3);
  EXPECT_TRUE(refuses(errc::invalid_argument, "has no result", [&] { static_cast<void>(later.value()); }));
}

}  // namespace
}  // namespace onefold_test
