/// @file accuracy_test.cpp  Data that lose accuracy, against the rounding error bound of the launch that ran.

#include "fixture.hpp"

namespace onefold_test {
namespace {

class each_rounding : public reduction_test {
 protected:
  [[nodiscard]] testing::AssertionResult within_the_bound(const elements& data, const std::string& words) const {
    guarded_input input(memory_for(where()), data, op());
    oracle reference(type(), op());
    reference.take(data, 0, data.size());
    for (const auto how : finishes_of(variant())) {
      if (data.size() > most_elements(variant(), op(), how, 0)) continue;
      trial asked = one(how);
      asked.data = words;
      auto result = answers(asked, input.all(), data.size(), [&](const onefold::report& ran) {
        expectation expected = reference.within(depth_of(ran, type(), data.size()));
        // Partial sums that fell below the smallest normal number may have been lost on the way (building_blocks/atomic.cuh).
        if (may_flush_subnormals(variant(), type(), op(), how)) expected.bound += static_cast<long double>(data.size()) * 0x1p-126L;
        return expected;
      });
      if (!result) return result;
    }
    return testing::AssertionSuccess();
  }
};

TEST_P(each_rounding, error_of_hard_data_stays_within_the_bound) {
  for (const std::uint64_t count : {std::uint64_t{33}, std::uint64_t{4099}, count_of((1 << 18) + 3)}) {
    if (op() == operation::prod) {
      ASSERT_TRUE(within_the_bound(factors_near_one(type(), count, current_seed()), "factors near one"));
      continue;
    }
    for (const auto kind : hardships)
      ASSERT_TRUE(within_the_bound(hard_sum(type(), kind, count, current_seed()), std::string(name(kind))));
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_rounding, testing::ValuesIn(reductions([](const reduction& one) {
                           return is_float(one.type) && (one.op == operation::sum || one.op == operation::prod);
                         })),
                         param_name);

}  // namespace
}  // namespace onefold_test
