/// @file workspace_test.cpp  Working memory of the caller's own on a GPU: any form, type and count after each other, anything in it at
/// first, nothing written beside it, recorded into a graph at once; and what the library keeps without one.

#include <cuda_runtime_api.h>

#include <cmath>

#include "../support/cuda.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::errc;

struct task {
  element_type type;
  form what;
  bool wide;
};
constexpr task tasks[] = {{element_type::f32, form::sum, false},  {element_type::f64, form::norm2, false},
                          {element_type::f32, form::dot, true},   {element_type::i32, form::mean, false},
                          {element_type::u64, form::prod, false}, {element_type::i64, form::norm_inf, false},
                          {element_type::f64, form::dot, false},  {element_type::f32, form::max, false}};

class a_workspace : public cuda_form_test {
 protected:
  // One call with the workspace, checked to the bit.
  static void expect_right(const task& what, std::size_t count, std::uint64_t seed, const onefold::executor& where,
                           onefold::workspace& own) {
    const elements x = data_of(what, count, seed), y = data_of(what, count, seed + 1);
    guarded_inputs data(memory::device, what.what, x, y);
    const auto in = data.all(what.wide);
    const form_trial asked{where, what.what, what.type, what.wide, seed, "any values, with a workspace"};
    const expectation expected = form_by_tree(in.of);
    const outcome got = reduce(asked, in.x, in.y, count, &own);
    ASSERT_FALSE(disagreement(expected, got.value)) << describe(asked, count, got.ran, expected, got.value);
    guarded_output output(memory::device, expected.value.type);
    const auto ran = reduce_into(asked, in.x, in.y, count, output.address(), &own);
    onefold::synchronize(where);
    ASSERT_FALSE(disagreement(expected, output.value())) << describe(asked, count, ran, expected, output.value());
    ASSERT_TRUE(output.surroundings_unchanged());
    ASSERT_TRUE(data.unchanged());
  }
  static elements data_of(const task& what, std::size_t count, std::uint64_t seed) { return any_values(what.type, count, seed); }
};

TEST_F(a_workspace, serves_any_form_type_and_count_after_each_other_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  onefold::workspace own(where, 1 << 20);
  EXPECT_GE(own.size_bytes(), onefold::workspace::bytes(1 << 20));
  random_numbers random(current_seed());
  for (int call = 0; call < 100; ++call) {
    const auto count = static_cast<std::size_t>(std::exp2(20 * random.unit()));
    ASSERT_NO_FATAL_FAILURE(expect_right(tasks[random.below(std::size(tasks))], count, random(), where, own)) << "call " << call;
  }
  onefold::workspace moved(std::move(own));
  ASSERT_NO_FATAL_FAILURE(expect_right(tasks[0], 100'003, 1, where, moved)) << "after a move";
}

TEST_F(a_workspace, of_memory_that_its_stream_still_writes_is_cleared_behind_that_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const std::size_t bytes = onefold::workspace::bytes(1 << 20), much = std::size_t{1} << 28;
  const block busy(memory::device, much);
  void* from_pool = nullptr;
  expect_success(cudaMallocAsync(&from_pool, bytes, on.get()), "cudaMallocAsync");
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 40; ++k) expect_success(cudaMemsetAsync(busy.address(), k, much, on.get()), "cudaMemsetAsync");
    expect_success(cudaMemsetAsync(from_pool, 0xff, bytes, on.get()), "cudaMemsetAsync");
    onefold::workspace own(where, from_pool, bytes);
    for (const auto& what : tasks) ASSERT_NO_FATAL_FAILURE(expect_right(what, 100'003, 1, where, own));
  }
  expect_success(cudaFreeAsync(from_pool, on.get()), "cudaFreeAsync");
  on.synchronize();
}

TEST_F(a_workspace, of_the_callers_memory_may_hold_anything_and_is_not_overrun_cuda) {
  constexpr std::size_t zone = 256;
  const std::size_t bytes = onefold::workspace::bytes(1 << 20);
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  for (const bool ones : {true, false}) {
    block memory(memory::device, bytes + 2 * zone);
    std::vector<std::uint64_t> content(memory.bytes() / 8);
    random_numbers random(current_seed());
    for (auto& word : content) word = ones ? ~std::uint64_t{0} : random();
    memory.write(0, content.data(), content.size() * 8);
    {
      onefold::workspace own(where, memory.address() + zone, bytes);
      EXPECT_EQ(own.size_bytes(), bytes);
      for (const std::size_t count : {1, 1024, 1025, 70'001, 1 << 20})
        for (const auto& what : tasks) ASSERT_NO_FATAL_FAILURE(expect_right(what, count, count, where, own));
    }
    std::vector<std::uint64_t> now(content.size());
    memory.read(0, now.data(), now.size() * 8);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (i < zone / 8 || i >= (zone + bytes) / 8) {
        ASSERT_EQ(now[i], content[i]) << "wrote beside the workspace, at byte " << 8 * i;
      }
  }
}

TEST_F(a_workspace, lets_the_first_call_of_a_stream_be_recorded_cuda) {
  for (const auto& what : tasks) {
    const stream fresh;
    const auto where = onefold::cuda(0, fresh.get());
    const std::size_t count = 50'021;
    onefold::workspace own(where, count);
    guarded_inputs data(memory::device, what.what, data_of(what, count, 1), data_of(what, count, 2));
    const auto in = data.all(what.wide);
    guarded_output output(memory::device, result_type_of(what.what, what.type, what.wide));
    const form_trial asked{where, what.what, what.type, what.wide, 1, "any values, in a graph with a workspace"};
    recording graph(fresh.get());
    const auto ran = reduce_into(asked, in.x, in.y, count, output.address(), &own);
    graph.end();
    for (std::uint64_t round = 0; round < 4; ++round) {
      const elements others = data_of(what, count, 10 + round);
      for (const std::size_t i : telling_places(count, 512, round)) data.put_x(i, others.at(i));
      const expectation expected = form_by_tree(data.all(what.wide).of);
      graph.replay();
      fresh.synchronize();
      ASSERT_FALSE(disagreement(expected, output.value())) << "replay " << round << "\n"
                                                           << describe(asked, count, ran, expected, output.value());
      // Between replays the workspace serves other calls, and leaves it fit for the next replay.
      ASSERT_NO_FATAL_FAILURE(expect_right(tasks[round], 3'001, round, where, own));
    }
  }
}

TEST_F(a_workspace, is_all_the_memory_that_its_calls_take_cuda) {
  const auto where_of = [](const stream& on) { return onefold::cuda(0, on.get()); };
  const stream on;
  onefold::workspace own(where_of(on), 1 << 20);
  ASSERT_NO_FATAL_FAILURE(expect_right(tasks[0], 70'001, 1, where_of(on), own));
  block input(memory::device, 70'001 * sizeof(double)), output(memory::device, sizeof(double));
  const elements x = data_of(tasks[1], 70'001, 1);
  input.write(0, x.data(), x.bytes());
  const std::size_t before = onefold::memory_in_use(onefold::cuda()).device_bytes;
  for (int i = 0; i < 20; ++i) {
    const stream fresh;
    onefold::workspace of_fresh(where_of(fresh), 70'001);
    const form_trial asked{where_of(fresh), form::norm2, element_type::f64, false, 1, "any values"};
    reduce_into(asked, input.address(), nullptr, 70'001, output.address(), &of_fresh);
    fresh.synchronize();
  }
  EXPECT_EQ(onefold::memory_in_use(onefold::cuda()).device_bytes, before) << "calls with a workspace left device memory behind";
}

TEST_F(a_workspace, that_cannot_be_is_refused_cuda) {
  const auto where = onefold::cuda();
  const std::size_t bytes = onefold::workspace::bytes(1000);
  block memory(memory::device, bytes + 16);
  std::vector<std::byte> on_the_host(bytes);
  EXPECT_TRUE(refuses(errc::null_pointer, "", [&] { onefold::workspace none(where, nullptr, bytes); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "", [&] { onefold::workspace odd(where, memory.address() + 8, bytes); }));
  EXPECT_TRUE(refuses(errc::host_pointer, "", [&] { onefold::workspace host(where, on_the_host.data(), bytes); }));
  for (const auto kind :
       {memory::pinned, memory::managed}) {  // blocks hand values over in accesses of 16 bytes that must not be torn
    const block elsewhere(kind, bytes);
    EXPECT_TRUE(
        refuses(errc::host_pointer, "memory of the device", [&] { onefold::workspace none(where, elsewhere.address(), bytes); }));
  }
  onefold::workspace own(where, memory.address(), bytes);
  ASSERT_NO_FATAL_FAILURE(expect_right(tasks[0], 1'000, 1, where, own));
  // Variants that keep their partial results elsewhere say so.
  const block input(memory::device, 4'000);
  EXPECT_TRUE(refuses(errc::unsupported, "workspace", [&] {
    static_cast<void>(
        onefold::sum(where, reinterpret_cast<const float*>(input.address()), 1'000, {.variant = "vector_load", .workspace = &own}));
  }));
}

TEST_F(a_workspace, is_not_needed_and_what_is_kept_in_its_place_can_be_given_back_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const task what = tasks[0];
  const std::size_t count = 1'000'003;  // large enough to need memory
  const elements x = data_of(what, count, 1);
  guarded_inputs data(memory::device, what.what, x, x);
  const auto in = data.all(what.wide);
  const form_trial asked{where, what.what, what.type, what.wide, 1, "any values"};
  const expectation expected = form_by_tree(in.of);
  for (int round = 0; round < 3; ++round) {
    const auto got = reduce(asked, in.x, in.y, count);
    ASSERT_FALSE(disagreement(expected, got.value)) << describe(asked, count, got.ran, expected, got.value);
    const auto kept = onefold::memory_in_use(where);
    EXPECT_GT(kept.device_bytes, 0u);
    EXPECT_GE(kept.streams, 1);
    EXPECT_LE(kept.streams, onefold::memory_use::most_streams);
    onefold::release_memory(where);
    EXPECT_LT(onefold::memory_in_use(where).device_bytes, kept.device_bytes);
  }
}

}  // namespace
}  // namespace onefold_test
