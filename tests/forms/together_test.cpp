/// @file together_test.cpp  Several operators in one read: each result has the bits that it has alone, in every selection and order of the
/// four, and where one of them is asked for more than once.

#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "record_fixture.hpp"

namespace onefold_test {
namespace {

namespace op = onefold::op;

struct together_case {
  const executor_under_test* on;
  element_type type;
};

std::vector<together_case> together_cases() {
  std::vector<together_case> all;
  for (const auto& group : {each_of_the_executors(), further_executors()})
    for (const auto* const where : group)
      for (int t = 0; t < onefold::full_type_count; ++t) all.push_back({where, static_cast<element_type>(t)});
  return all;
}

std::string name_of(const testing::TestParamInfo<together_case>& info) {
  return info.param.on->label + "_" + std::string(onefold::name(info.param.type));
}

class several_operators : public dispatching_test, public testing::WithParamInterface<together_case> {
 protected:
  void SetUp() override { start(*GetParam().on); }
  [[nodiscard]] const onefold::executor& where() const { return GetParam().on->where; }
  [[nodiscard]] element_type type() const { return GetParam().type; }

  // An array where the executor can read it.
  template <class T>
  struct input {
    block memory;
    std::uint64_t count;
    [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(memory.address()); }
  };
  template <class T>
  [[nodiscard]] std::unique_ptr<input<T>> placed(const elements& x) const {
    auto in = std::unique_ptr<input<T>>(new input<T>{{memory_for(where()), x.bytes() + 1}, x.size()});
    in->memory.write(0, x.data(), x.bytes());
    return in;
  }

  template <class T, class... Ops>
  void expect_each_as_alone(const input<T>& in, Ops... ops) {
    const std::array<T, sizeof...(Ops)> alone{onefold::reduce(where(), in.data(), in.count, ops)...};
    onefold::report ran;
    const onefold::options how{.report = &ran};
    const std::array<T, sizeof...(Ops)> together = onefold::reduce_together(where(), in.data(), in.count, how, ops...);
    guarded_output stored(memory_for(where()), type(), sizeof(alone));
    onefold::reduce_together_into(where(), in.data(), in.count, static_cast<T*>(stored.address()), ops...);
    expect_equal(alone.data(), together.data(), stored, sizeof(alone), ran, in.count, {Ops::id...});
  }

 private:
  // No template: there are hundreds of selections and types.
  void expect_equal(const void* alone, const void* together, const guarded_output& stored, std::size_t bytes,
                    const onefold::report& ran, std::uint64_t count, std::initializer_list<onefold::operation> ops) {
    count_dispatch(where());
    std::string names;
    for (const auto each : ops) names += std::string(onefold::name(each)) + " ";
    ASSERT_EQ(std::memcmp(alone, together, bytes), 0) << count << " elements, " << names;
    ASSERT_EQ(ran.variant, "fixed_order");
    onefold::synchronize(where());
    ASSERT_EQ(std::memcmp(alone, stored.bytes().data(), bytes), 0) << "stored, " << count << ", " << names;
    ASSERT_TRUE(stored.surroundings_unchanged());
  }
};

// Calls f with every selection of the operators left, of one or more, in every order, behind those that are chosen.
template <class F, class... Chosen>
void every_selection(const F& f, std::tuple<>, Chosen... chosen) {
  if constexpr (sizeof...(Chosen) > 0) f(chosen...);
}
template <class F, class... Left, class... Chosen>
void every_selection(const F& f, std::tuple<Left...> left, Chosen... chosen) {
  if constexpr (sizeof...(Chosen) > 0) f(chosen...);
  const auto without = [&]<std::size_t Picked, std::size_t... Others>(std::integral_constant<std::size_t, Picked>,
                                                                      std::index_sequence<Others...>) {
    return std::tuple(std::get<(Others < Picked ? Others : Others + 1)>(left)...);
  };
  [&]<std::size_t... Pick>(std::index_sequence<Pick...>) {
    (every_selection(f, without(std::integral_constant<std::size_t, Pick>{}, std::make_index_sequence<sizeof...(Left) - 1>{}),
                     chosen..., std::get<Pick>(left)),
     ...);
  }
  (std::make_index_sequence<sizeof...(Left)>{});
}

TEST_P(several_operators, give_each_what_it_gives_alone) {
  with_type(type(), [&]<class T> {
    for (const std::size_t count : {0U, 1U, 5U, 65U, 1024U, 5'003U, 70'001U}) {
      const auto in = placed<T>(any_values(type(), count, current_seed()));
      int selections = 0;
      every_selection(
          [&](auto... ops) {
            ++selections;
            if (!HasFatalFailure()) expect_each_as_alone(*in, ops...);
          },
          std::tuple(op::sum{}, op::prod{}, op::min{}, op::max{}));
      ASSERT_FALSE(HasFatalFailure());
      ASSERT_EQ(selections, 4 + 12 + 24 + 24);
    }
  });
}

TEST_P(several_operators, may_be_the_same_and_sixteen) {
  with_type(type(), [&]<class T> {
    const auto in = placed<T>(any_values(type(), 12'345, current_seed()));
    const op::sum s;
    const op::prod p;
    const op::min l;
    const op::max h;
    expect_each_as_alone(*in, s, s);
    expect_each_as_alone(*in, l, l, l, p, l);
    expect_each_as_alone(*in, h, l, p, s, s, p, l, h, h, h, s, s, l, p, p, s);
  });
}

TEST_P(several_operators, of_every_size_give_each_what_it_gives_alone) {
  const auto sizes = [&] {
    auto all = telling_sizes(4096 / onefold::size_of(type()));
    all.push_back(320 * 4096 / onefold::size_of(type()) + 12'345);
    return all;
  }();
  random_numbers random(current_seed());
  elements bits(type(), sizes.back()), moderate(type(), sizes.back());
  for (std::size_t i = 0; i < sizes.back(); ++i) {
    bits.put(i, {type(), random()});
    moderate.put(i, is_float(type()) ? scalar_from(type(), random.unit() - 0.25)
                                     : scalar_from(type(), 1 + static_cast<double>(random.below(9))));
  }
  with_type(type(), [&]<class T> {
    const op::sum s;
    const op::prod p;
    const op::min l;
    const op::max h;
    for (const auto* const x : {&bits, &moderate}) {
      auto in = placed<T>(*x);
      for (const std::size_t count : sizes) {
        in->count = count;
        expect_each_as_alone(*in, h, s, p);
        expect_each_as_alone(*in, s, h, l, p, s, h, l, p, s, h, l, p, s, h, l, p);
        expect_each_as_alone(*in, l);
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  });
}

TEST_P(several_operators, of_special_values_give_each_what_it_gives_alone) {
  if (!is_float(type())) GTEST_SKIP() << "floats alone have special values";
  with_type(type(), [&]<class T> {
    for (const double value : {0.0, -0.0, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::quiet_NaN()}) {
      elements x(type(), 3'001);
      x.fill(scalar_from(type(), value));
      for (const bool all : {true, false}) {
        if (!all) {
          x.fill(scalar_from(type(), 1));
          x.put(2'222, scalar_from(type(), value));
        }
        const auto in = placed<T>(x);
        expect_each_as_alone(*in, op::sum{}, op::prod{}, op::min{}, op::max{});
        expect_each_as_alone(*in, op::max{}, op::sum{});
      }
    }
  });
}

TEST_P(several_operators, at_any_alignment_give_each_what_it_gives_alone) {
  with_type(type(), [&]<class T> {
    const elements x = any_values(type(), 3'100, current_seed());
    for (std::size_t first = 0; first < 17; ++first) {
      auto in = placed<T>(x);
      const T* const begin = in->data() + first;
      const auto [s, l] = onefold::reduce_together(where(), begin, 3'001, op::sum{}, op::min{});
      EXPECT_EQ(scalar_of(s), scalar_of(onefold::sum(where(), begin, 3'001))) << first;
      EXPECT_EQ(scalar_of(l), scalar_of(onefold::min(where(), begin, 3'001))) << first;
      count_dispatch(where());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(forms, several_operators, testing::ValuesIn(together_cases()), param_name);

TEST(several_operators_spellings, mean_the_same) {
  const std::vector<int> x{3, -4, 12};
  const auto where = onefold::serial();
  const std::array<int, 2> expected{11, 12};
  EXPECT_EQ(onefold::reduce_together(x, op::sum{}, op::max{}), expected);
  EXPECT_EQ(onefold::reduce_together(where, x, op::sum{}, op::max{}), expected);
  EXPECT_EQ(onefold::reduce_together(where, x.data(), 3, op::sum{}, op::max{}), expected);
  EXPECT_EQ(onefold::reduce_together(where, x, onefold::options{}, op::sum{}, op::max{}), expected);
  std::array<int, 2> stored{};
  onefold::reduce_together_into(where, x, stored.data(), op::sum{}, op::max{});
  EXPECT_EQ(stored, expected);
  EXPECT_TRUE(refuses(onefold::errc::null_pointer, "null",
                      [&] { static_cast<void>(onefold::reduce_together(where, static_cast<int*>(nullptr), 3, op::sum{})); }));
}

}  // namespace
}  // namespace onefold_test
