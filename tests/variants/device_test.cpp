/// @file device_test.cpp  Results that stay on the device: the order on the caller's stream, graphs, and what the host may do
/// meanwhile.

#include <cuda_runtime_api.h>

#include "../support/cuda.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::errc;
using onefold::finish;

struct task {
  element_type type;
  operation op;
};
constexpr task tasks[] = {{element_type::f32, operation::sum},
                          {element_type::f64, operation::min},
                          {element_type::i32, operation::prod},
                          {element_type::u64, operation::max}};

class each_device_call : public pairing_test {
 protected:
  // The finishes of calls for which the host does not wait; none where the variant has the host's finish only.
  [[nodiscard]] std::vector<finish> asynchronous_finishes() const {
    auto all = finishes_of(variant());
    std::erase(all, finish::host);
    if (variant().finishes.empty() && variant().default_finish == finish::host) all.clear();
    return all;
  }
  [[nodiscard]] std::vector<task> supported_tasks() const {
    std::vector<task> all;
    for (const auto& one : tasks)
      if (variant().supports(one.type, one.op)) all.push_back(one);
    return all;
  }
  [[nodiscard]] std::uint64_t count_for(operation op, finish how, std::uint64_t wanted = 50'021) const {
    const std::uint64_t most = std::min(wanted, most_elements(variant(), op, how, 0));
    if (how != finish::cooperative) return most;
    const auto& gpu =
        backend_under_test(onefold::backend::cuda).devices.at(0);  // one block for each multiprocessor is always resident
    return std::min(most,
                    static_cast<std::uint64_t>(gpu.multiprocessors) * static_cast<std::uint64_t>(variant().default_block_size));
  }
  [[nodiscard]] trial on_stream(const stream& with, const task& what, finish how) const {
    trial asked = one(what.type, what.op, how);
    asked.where = onefold::cuda(where().device(), with.get());
    return asked;
  }
  // A variant that finishes on the host only has no call that leaves the result on the device: it must say so, and that is its
  // test.
  [[nodiscard]] testing::AssertionResult refuses_to_go_on_alone() {
    guarded_input input(memory::device, exact_data(element_type::f32, operation::sum, 100, current_seed()), operation::sum);
    guarded_output output(memory::device, element_type::f32);
    auto result = refuses(errc::unsupported, "host",
                          [&] { reduce_into(one(element_type::f32, operation::sum), input.all(), 100, output.address()); });
    if (!result) return result;
    return answers(one(element_type::f32, operation::sum), input.all(), 100, expected_exactly(operation::sum, input.payload()));
  }
};

TEST_P(each_device_call, stores_to_device_pinned_and_managed_memory_on_the_callers_stream) {
  if (asynchronous_finishes().empty()) {
    ASSERT_TRUE(refuses_to_go_on_alone());
    return;
  }
  const stream own;
  for (const auto& what : supported_tasks()) {
    for (const auto how : asynchronous_finishes()) {
      const std::uint64_t count = count_for(what.op, how);
      guarded_input input(memory::device, exact_data(what.type, what.op, count, current_seed()), what.op);
      const expectation expected = expected_exactly(what.op, input.payload());
      for (const memory kind : {memory::device, memory::pinned, memory::managed}) {
        guarded_output output(kind, what.type);
        const trial asked = on_stream(own, what, how);
        outcome got;
        got.ran = reduce_into(asked, input.all(), count, output.address());
        own.synchronize();
        got.value = output.value();
        ASSERT_TRUE(is_right(asked, count, got, expected));
        ASSERT_TRUE(output.surroundings_unchanged()) << "wrote beside its output";
      }
    }
  }
}

TEST_P(each_device_call, reads_pinned_and_managed_memory) {
  for (const auto& what : supported_tasks()) {
    for (const memory kind : {memory::pinned, memory::managed}) {
      const std::uint64_t count = count_for(what.op, finish::automatic, 4'099);
      guarded_input input(kind, exact_data(what.type, what.op, count, current_seed()), what.op);
      ASSERT_TRUE(answers(one(what.type, what.op), input.all(), count, expected_exactly(what.op, input.payload())));
      EXPECT_TRUE(input.unchanged());
    }
  }
}

// A copy before and one after, all on one stream and nothing waited for in between: a reduction that ran on another stream, or too
// early, would see the old data or those that are put there behind it.
TEST_P(each_device_call, keeps_its_place_on_the_stream) {
  if (asynchronous_finishes().empty()) {
    ASSERT_TRUE(refuses_to_go_on_alone());
    return;
  }
  const stream own;
  for (const auto& what : supported_tasks()) {
    for (const auto how : asynchronous_finishes()) {
      const std::uint64_t count = count_for(what.op, how, 500'009);
      const elements data = exact_data(what.type, what.op, count, current_seed());
      elements stale(what.type, count);
      stale.fill(poison(what.type, what.op));
      const expectation expected = expected_exactly(what.op, data);
      const std::size_t bytes = data.bytes(), size = onefold::size_of(what.type);
      // Pinned, so that the copies do not wait for the host.
      block fresh_source(memory::pinned, bytes), stale_source(memory::pinned, bytes), result(memory::pinned, size);
      fresh_source.write(0, data.data(), bytes);
      stale_source.write(0, stale.data(), bytes);
      block input(memory::device, bytes), output(memory::device, size);
      input.write(0, stale.data(), bytes);
      const trial asked = on_stream(own, what, how);
      static_cast<void>(reduce_into(asked, input.address(), count, output.address()));  // warm: memory is had before
      for (int round = 0; round < 3; ++round) {
        expect_success(cudaMemcpyAsync(input.address(), fresh_source.address(), bytes, cudaMemcpyHostToDevice, own.get()),
                       "cudaMemcpyAsync");
        outcome got;
        got.ran = reduce_into(asked, input.address(), count, output.address());
        expect_success(cudaMemcpyAsync(result.address(), output.address(), size, cudaMemcpyDeviceToHost, own.get()),
                       "cudaMemcpyAsync");
        expect_success(cudaMemcpyAsync(input.address(), stale_source.address(), bytes, cudaMemcpyHostToDevice, own.get()),
                       "cudaMemcpyAsync");
        own.synchronize();
        got.value = scalar{what.type, 0};
        result.read(0, &got.value.bits, size);
        ASSERT_TRUE(is_right(asked, count, got, expected));
      }
    }
  }
}

TEST_P(each_device_call, is_ordered_with_the_default_stream_when_it_has_none_of_its_own) {
  for (const auto& what : supported_tasks()) {
    const std::uint64_t count = count_for(what.op, finish::automatic, 500'009);
    const elements data = exact_data(what.type, what.op, count, current_seed());
    block source(memory::pinned, data.bytes()), input(memory::device, data.bytes());
    source.write(0, data.data(), data.bytes());
    for (int round = 0; round < 3; ++round) {
      expect_success(cudaMemset(input.address(), 0x5a, data.bytes()), "cudaMemset");
      expect_success(cudaMemcpyAsync(input.address(), source.address(), data.bytes(), cudaMemcpyHostToDevice, nullptr),
                     "cudaMemcpyAsync");
      ASSERT_TRUE(answers(one(what.type, what.op), input.address(), count, expected_exactly(what.op, data)));
    }
  }
}

TEST_P(each_device_call, is_recorded_into_a_graph_and_replayed_on_other_data) {
  if (asynchronous_finishes().empty()) {
    ASSERT_TRUE(refuses_to_go_on_alone());
    return;
  }
  const stream own;
  for (const auto& what : supported_tasks()) {
    for (const auto how : asynchronous_finishes()) {
      const std::uint64_t count = count_for(what.op, how);
      guarded_input input(memory::device, exact_data(what.type, what.op, count, current_seed()), what.op);
      guarded_output output(memory::device, what.type);
      const void* data = input.all();
      const trial asked = on_stream(own, what, how);
      outcome got;
      got.ran = reduce_into(asked, data, count, output.address());  // once before, so that no memory is needed in the recording
      own.synchronize();
      recording graph(own.get());
      got.ran = reduce_into(asked, data, count, output.address());
      graph.end();
      for (std::uint64_t round = 0; round < 3; ++round) {
        const elements others = exact_data(what.type, what.op, count, current_seed() + round);
        for (const std::size_t i : telling_places(count, 512, current_seed() + round)) input.put(i, others.at(i));
        if (what.op == operation::min || what.op == operation::max) input.put((round * 7919) % count, winner(what.type, what.op));
        const expectation expected = expected_exactly(what.op, input.payload());
        graph.replay();
        own.synchronize();
        got.value = output.value();
        ASSERT_TRUE(is_right(asked, count, got, expected)) << "replay " << round;
      }
      // Outside the graph the same stream works on, with more elements too; and the graph does not mind.
      const std::uint64_t more = std::min<std::uint64_t>(4 * count, most_elements(variant(), what.op, how, 0));
      guarded_input larger(memory::device, exact_data(what.type, what.op, more, current_seed()), what.op);
      ASSERT_TRUE(answers(asked, larger.all(), more, expected_exactly(what.op, larger.payload())));
      graph.replay();
      own.synchronize();
      got.value = output.value();
      ASSERT_TRUE(is_right(asked, count, got, expected_exactly(what.op, input.payload()))) << "replay after a larger call";
    }
  }
}

TEST_P(each_device_call, is_recorded_at_the_first_call_on_a_stream_unless_it_would_wait) {
  const element_type type = variant().supports(element_type::u32, operation::sum) ? element_type::u32 : element_type::f32;
  guarded_input input(memory::device, exact_data(type, operation::sum, 10'007, current_seed()), operation::sum);
  guarded_output output(memory::device, type);
  const void* data = input.all();
  const stream fresh;
  const trial asked = on_stream(fresh, {type, operation::sum}, finish::automatic);
  const expectation expected = expected_exactly(operation::sum, input.payload());
  recording graph(fresh.get());
  EXPECT_TRUE(refuses(errc::unsupported, "", [&] { static_cast<void>(reduce(asked, data, 10'007)); }));
  outcome got;
  const bool waits_always = asynchronous_finishes().empty();
  if (waits_always)
    EXPECT_TRUE(refuses(errc::unsupported, "", [&] { reduce_into(asked, data, 10'007, output.address()); }));
  else
    got.ran = reduce_into(asked, data, 10'007, output.address());
  EXPECT_NO_THROW(graph.end()) << "the call spoilt the recording";
  for (int round = 0; round < 3 && !waits_always; ++round) {
    graph.replay();
    fresh.synchronize();
    got.value = output.value();
    ASSERT_TRUE(is_right(asked, 10'007, got, expected)) << "replay " << round;
  }
  ASSERT_TRUE(answers(asked, data, 10'007, expected));
}

TEST_P(each_device_call, serves_several_streams_from_several_threads_at_once) {
  const auto finishes = asynchronous_finishes();
  if (finishes.empty()) {
    ASSERT_TRUE(refuses_to_go_on_alone());
    return;
  }
  on_host_threads(4, [&](std::size_t t) -> std::string {
    const task what = tasks[t];
    if (!variant().supports(what.type, what.op)) return {};
    const stream own;
    guarded_output output(memory::device, what.type);
    for (int call = 0; call < 10; ++call) {
      for (const auto how : finishes) {
        const std::uint64_t count = count_for(what.op, how, 20'011 + 1'009 * t + static_cast<std::uint64_t>(call));
        guarded_input input(memory::device, exact_data(what.type, what.op, count, t), what.op);
        const trial asked = on_stream(own, what, how);
        outcome got;
        got.ran = reduce_into(asked, input.all(), count, output.address());
        own.synchronize();
        got.value = output.value();
        const expectation expected = expected_exactly(what.op, input.payload());
        if (auto sentence = disagreement(expected, got.value))
          return *sentence + "\n" + describe(asked, count, got.ran, expected, got.value);
      }
    }
    return {};
  });
}

TEST_P(each_device_call, refuses_to_finish_on_the_host_behind_the_hosts_back) {
  guarded_input input(memory::device, exact_data(element_type::f32, operation::sum, 100, current_seed()), operation::sum);
  guarded_output output(memory::device, element_type::f32);
  EXPECT_TRUE(refuses(errc::unsupported, "", [&] {
    reduce_into(one(element_type::f32, operation::sum, finish::host), input.all(), 100, output.address());
  }));
  ASSERT_TRUE(answers(one(element_type::f32, operation::sum), input.all(), 100, expected_exactly(operation::sum, input.payload())));
}

TEST_P(each_device_call, refuses_the_types_and_operators_that_it_does_not_take_with_its_reason) {
  for (int t = 0; t < onefold::full_type_count; ++t) {
    for (int o = 0; o < onefold::operation_count; ++o) {
      const task what{static_cast<element_type>(t), static_cast<operation>(o)};
      if (variant().supports(what.type, what.op)) continue;
      guarded_input input(memory::device, exact_data(what.type, what.op, 100, current_seed()), what.op);
      EXPECT_TRUE(refuses(errc::unsupported, variant().limits,
                          [&] { static_cast<void>(reduce(one(what.type, what.op), input.all(), 100)); }));
    }
  }
  const task what = supported_tasks().at(0);
  guarded_input input(memory::device, exact_data(what.type, what.op, 100, current_seed()), what.op);
  ASSERT_TRUE(answers(one(what.type, what.op), input.all(), 100, expected_exactly(what.op, input.payload())));
}

INSTANTIATE_TEST_SUITE_P(variants, each_device_call,
                         testing::ValuesIn(pairings([](const pairing& one) { return on_cuda(*one.on); })), param_name);

}  // namespace
}  // namespace onefold_test
