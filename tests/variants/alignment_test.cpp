/// @file alignment_test.cpp  Inputs that begin and end anywhere, and memory around them that must not matter.

#include <numeric>

#include "fixture.hpp"

namespace onefold_test {
namespace {

std::vector<std::size_t> up_to(std::size_t last) {
  std::vector<std::size_t> all(last + 1);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

class each_alignment : public reduction_test {};

TEST_P(each_alignment, is_exact_at_any_offset_with_any_tail) {
  const bool every = loads_vectors(variant());
  const auto offsets = every ? up_to(63) : std::vector<std::size_t>{0, 1, 2, 3, 5, 8, 17, 31, 63};
  const auto tails = every ? up_to(31) : std::vector<std::size_t>{0, 1, 7, 31};
  guarded_input input(memory_for(where()), exact_data(type(), op(), 64 + 1024 + 32, current_seed()), op());
  for (const std::size_t offset : offsets) {
    for (const std::size_t tail : tails) {
      trial asked = one();
      asked.data = "exact, offset " + std::to_string(offset) + " elements";
      const auto expect_right = [&](std::size_t count) {
        return answers(asked, input.window(offset, count), count, expected_exactly(op(), input.payload(), offset, count));
      };
      ASSERT_TRUE(expect_right(1024 + tail));
      if (offset < 16) {  // arrays that end before the first boundary
        ASSERT_TRUE(expect_right(tail));
      }
    }
  }
  EXPECT_TRUE(input.unchanged()) << "the reduction changed its input";
}

TEST_P(each_alignment, touches_nothing_but_its_input_and_its_output) {
  const std::size_t longest = 5 * block() + 77;
  guarded_input input(memory_for(where()), exact_data(type(), op(), longest + 5, current_seed()), op());
  for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t(block()), std::size_t(block() + 1), longest}) {
    for (const std::size_t offset : {0u, 1u, 5u}) {
      const void* data = input.window(offset, count);
      const expectation expected = expected_exactly(op(), input.payload(), offset, count);
      for (const auto how : finishes_of(variant())) {
        ASSERT_TRUE(answers(one(how), data, count, expected));
        if (how == onefold::finish::host) continue;
        if (how == onefold::finish::automatic && variant().default_finish == onefold::finish::host) continue;
        guarded_output output(memory_for(where()), type());
        outcome got;
        got.ran = reduce_into(one(how), data, count, output.address());
        onefold::synchronize(where());
        got.value = output.value();
        ASSERT_TRUE(is_right(one(how), count, got, expected));
        ASSERT_TRUE(output.surroundings_unchanged())
            << "wrote beside its output: " << describe(one(how), count, got.ran, expected, got.value);
      }
    }
    ASSERT_TRUE(input.unchanged()) << "wrote to its input or beside it, count " << count;
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_alignment, testing::ValuesIn(reductions()), param_name);

}  // namespace
}  // namespace onefold_test
