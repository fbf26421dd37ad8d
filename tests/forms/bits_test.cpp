/// @file bits_test.cpp  Any data, where every order gives other bits: those of tree v1 must come, on every executor, every time, from
/// several host threads at once.

#include <memory>
#include <tuple>

#include "fixture.hpp"

namespace onefold_test {
namespace {

struct family {
  std::string words;
  elements x, y;
};

// Values of one size, of all sizes, and any bits that are a number; products of many stay in range.
std::vector<family> families(element_type type, form what, std::size_t count, std::uint64_t seed) {
  std::vector<family> all;
  const auto add = [&](std::string words, auto make) { all.push_back({std::move(words), make(seed), make(seed + 1)}); };
  if (!is_float(type) || what != form::prod) add("any values", [&](std::uint64_t with) { return any_values(type, count, with); });
  if (!is_float(type)) return all;
  if (what == form::prod) {
    add("factors near one", [&](std::uint64_t with) { return factors_near_one(type, count, with); });
    return all;
  }
  for (const auto kind : {hardship::growing, hardship::ill_conditioned})
    add(std::string(name(kind)), [&](std::uint64_t with) { return hard_sum(type, kind, count, with); });
  return all;
}

class each_bit : public form_test {};

TEST_P(each_bit, is_that_of_tree_v1) {
  random_numbers random(current_seed());
  for (const std::size_t most : {std::size_t{100}, tile(), 5 * tile(), 40 * tile()}) {
    for (const auto& [words, x, y] : families(type(), what(), most + 64, random())) {
      auto data = inputs(x, y);
      for (int i = 0; i < (is_sanitized && most > tile() ? 3 : 8); ++i) {
        const std::size_t count = i == 0 ? most : 1 + random.below(most), first_x = random.below(64), first_y = random.below(64);
        const auto in = data.at(first_x, first_y, count, wide());
        const expectation expected = form_by_tree(in.of);
        const form_trial asked =
            one(words + ", offset " + std::to_string(first_x) + (two_inputs() ? ", of y " + std::to_string(first_y) : ""));
        ASSERT_TRUE(gives(asked, in, expected));
        ASSERT_TRUE(stores(asked, in, expected));
      }
      EXPECT_TRUE(data.unchanged());
    }
  }
}

TEST_P(each_bit, is_the_same_twenty_times) {
  const std::size_t count = 33 * tile() + 5;
  for (const auto& [words, x, y] : families(type(), what(), count, current_seed())) {
    auto data = inputs(x, y);
    const auto in = data.all(wide());
    const expectation expected = form_by_tree(in.of);
    for (int call = 0; call < 20; ++call) ASSERT_TRUE(gives(one(words + ", call " + std::to_string(call)), in, expected));
  }
}

INSTANTIATE_TEST_SUITE_P(forms, each_bit, testing::ValuesIn(form_cases()), param_name);

// Host threads that reduce at the same time, every one with forms and data of its own, all on one executor.
class each_executor : public executor_test {};

TEST_P(each_executor, gives_every_host_thread_its_own_bits) {
  constexpr std::size_t threads = 5;
  struct task {
    form_trial asked;
    elements x, y;
    expectation expected;
  };
  std::vector<std::vector<task>> tasks(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    for (const auto& [type, what, wide] :
         {std::tuple(element_type::f32, form::dot, false), std::tuple(element_type::f32, form::sum, true),
          std::tuple(element_type::f64, form::norm2, false), std::tuple(element_type::i32, form::mean, false),
          std::tuple(element_type::f64, form::sum, false), std::tuple(element_type::i64, form::norm1, false)}) {
      const std::size_t count = 20'011 + 977 * t;
      task one{{where(), what, type, wide, current_seed() + t, "any values"},
               any_values(type, count, current_seed() + t),
               any_values(type, count, current_seed() + t + 100),
               {}};
      one.expected = form_by_tree({what, wide, &one.x, 0, &one.y, 0, count});
      tasks[t].push_back(std::move(one));
    }
  }
  on_host_threads(threads, [&](std::size_t t) -> std::string {
    std::vector<std::unique_ptr<block>> memory;
    const auto placed = [&](const elements& data) {
      memory.push_back(std::make_unique<block>(memory_for(where()), data.bytes()));
      memory.back()->write(0, data.data(), data.bytes());
      return memory.back()->address();
    };
    std::vector<std::pair<const void*, const void*>> inputs;
    for (const auto& one : tasks[t]) inputs.emplace_back(placed(one.x), placed(one.y));
    for (int call = 0; call < 20; ++call) {
      for (std::size_t i = 0; i < tasks[t].size(); ++i) {
        const auto& [asked, x, y, expected] = tasks[t][i];
        const auto got = reduce(asked, inputs[i].first, inputs[i].second, x.size());
        if (const auto sentence = disagreement(expected, got.value))
          return *sentence + "\n" + describe(asked, x.size(), got.ran, expected, got.value);
      }
    }
    return {};
  });
}

INSTANTIATE_TEST_SUITE_P(forms, each_executor, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
