/// @file record_workspace_test.cpp  Forms with two results on a GPU with working memory of the caller's own: one after the other on a stream, and
/// recorded into a graph that is launched again over other data.

#include <cuda_runtime_api.h>

#include <cmath>

#include "../support/cuda.hpp"
#include "record_fixture.hpp"

namespace onefold_test {
namespace {

struct record_task {
  element_type type;
  form what;
  bool wide;
  std::int64_t ddof;
};
constexpr record_task record_tasks[] = {
    {element_type::f32, form::argmin, false, 0}, {element_type::f64, form::mean_variance, false, 1},
    {element_type::f64, form::argmax, false, 0}, {element_type::f32, form::mean_variance, true, 0},
    {element_type::i64, form::minmax, false, 0}, {element_type::u32, form::mean_variance, false, 0},
    {element_type::f32, form::minmax, false, 0}, {element_type::i32, form::argmax, false, 0},
};

class a_record_workspace : public cuda_form_test {
 protected:
  static record_trial trial_of(const record_task& what, const onefold::executor& where, std::uint64_t seed) {
    return {where, what.what, what.type, what.wide, what.ddof, seed, "any values, with a workspace"};
  }
  static record_expectation expected_of(const record_trial& asked, const elements& x) {
    return record_by_tree({asked.what, asked.wide, asked.ddof, &x, 0, x.size()});
  }
  static guarded_output output_of(const record_trial& asked) {
    return {memory::device, asked.type, onefold::result_bytes(asked.type, asked.what, asked.wide)};
  }
};

TEST_F(a_record_workspace, serves_any_form_type_and_count_after_each_other_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  onefold::workspace own(where, 1 << 20);
  random_numbers random(current_seed());
  for (int call = 0; call < 100; ++call) {
    const auto count = static_cast<std::size_t>(std::exp2(20 * random.unit()));
    const record_trial asked = trial_of(record_tasks[random.below(std::size(record_tasks))], where, random());
    const elements x = any_values(asked.type, count, asked.seed);
    guarded_input data(memory::device, x, operation::min);
    const auto expected = expected_of(asked, x);
    EXPECT_EQ(disagreement(asked, count, expected, reduce(asked, data.all(), count, &own)).value_or(""), "");
    guarded_output output = output_of(asked);
    onefold::report ran = reduce_into(asked, data.all(), count, output.address(), &own);
    onefold::synchronize(where);
    record_outcome got = stored(asked, output.bytes().data());
    got.ran = std::move(ran);
    ASSERT_EQ(disagreement(asked, count, expected, got).value_or(""), "");
    ASSERT_TRUE(output.surroundings_unchanged());
  }
}

TEST_F(a_record_workspace, lets_calls_be_recorded_and_launched_again_cuda) {
  for (const record_task& what : record_tasks) {
    const stream fresh;
    const auto where = onefold::cuda(0, fresh.get());
    const std::size_t count = 50'021;
    onefold::workspace own(where, count);
    const record_trial asked = trial_of(what, where, 1);
    guarded_input data(memory::device, any_values(what.type, count, 1), operation::min);
    const void* const input = data.all();
    guarded_output output = output_of(asked);
    recording graph(fresh.get());
    onefold::report ran = reduce_into(asked, input, count, output.address(), &own);
    graph.end();
    for (std::uint64_t round = 0; round < 4; ++round) {
      const elements others = any_values(what.type, count, 10 + round);
      for (const std::size_t i : telling_places(count, 512, round)) data.put(i, others.at(i));
      graph.replay();
      fresh.synchronize();
      record_outcome got = stored(asked, output.bytes().data());
      got.ran = ran;
      ASSERT_EQ(disagreement(asked, count, expected_of(asked, data.payload()), got).value_or(""), "") << "replay " << round;
    }
  }
}

}  // namespace
}  // namespace onefold_test
