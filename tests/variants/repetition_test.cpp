/// @file repetition_test.cpp  What a call leaves behind must not change the next: many calls, other sizes, other finishes, other
/// threads.

#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "fixture.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../support/cuda.hpp"
#endif

namespace onefold_test {
namespace {

class each_repetition : public reduction_test {};

TEST_P(each_repetition, is_exact_a_hundred_times_with_sizes_and_finishes_mixed) {
  const std::uint64_t most = count_of(1 << 17);
  guarded_input input(memory_for(where()), exact_data(type(), op(), most, current_seed()), op());
  auto finishes = finishes_of(variant());
  finishes.push_back(onefold::finish::automatic);
  random_numbers random(current_seed());
  for (int run = 0; run < 100; ++run) {
    const auto how = finishes[random.below(finishes.size())];
    const std::uint64_t at_most = std::min(most, most_elements(variant(), op(), how, 0));
    const auto count = static_cast<std::uint64_t>(std::exp2(std::log2(static_cast<double>(at_most)) * random.unit()));
    const std::size_t first = random.below(most - count + 1);
    trial asked = one(how);
    asked.data = "exact, run " + std::to_string(run) + ", offset " + std::to_string(first);
    ASSERT_TRUE(answers(asked, input.window(first, count), count, expected_exactly(op(), input.payload(), first, count)));
  }
  EXPECT_TRUE(input.unchanged()) << "the reduction changed its input";
}

INSTANTIATE_TEST_SUITE_P(variants, each_repetition, testing::ValuesIn(reductions()), param_name);

// Something to compete with: on the GPU the same variant on another stream, on the CPU threads that compute.
class load {
 public:
  load([[maybe_unused]] const trial& like, [[maybe_unused]] const void* input, [[maybe_unused]] std::uint64_t count) {
    if (like.where.backend() != onefold::backend::cuda) {
      for (auto& worker : workers_)
        worker = std::thread([this] {
          while (!stop_.load(std::memory_order_relaxed)) continue;
        });
      return;
    }
#ifdef ONEFOLD_HAVE_CUDA
    for (auto& worker : workers_)
      worker = std::thread([this, like, input, count] {
        const stream own;
        trial busy = like;
        busy.where = onefold::cuda(like.where.device(), own.get());
        try {
          while (!stop_.load(std::memory_order_relaxed)) static_cast<void>(reduce(busy, input, count));
        } catch (const std::exception& problem) {
          ADD_FAILURE() << "the competing call failed: " << problem.what();  // GoogleTest takes failures from any thread
        }
      });
#endif
  }
  ~load() {
    stop_.store(true);
    for (auto& worker : workers_) worker.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread workers_[2];
};

class each_competition : public pairing_test {};

struct task {
  element_type type;
  operation op;
};
constexpr task tasks[] = {
    {element_type::f32, operation::sum}, {element_type::i64, operation::max}, {element_type::f64, operation::prod}};

TEST_P(each_competition, is_exact_twenty_times_under_load) {
  for (const auto& [type, op] : tasks) {
    if (!variant().supports(type, op)) continue;
    const std::uint64_t count = std::min<std::uint64_t>(100'003, most_elements(variant(), op));
    guarded_input input(memory_for(where()), exact_data(type, op, count, current_seed()), op);
    const void* data = input.all();
    const expectation expected = expected_exactly(op, input.payload());
    const load competition(one(type, op), data, count);
    for (const auto how : finishes_of(variant()))
      for (int call = 0; call < 20 && count <= most_elements(variant(), op, how, 0); ++call)
        ASSERT_TRUE(answers(one(type, op, how), data, count, expected));
  }
}

// Several host threads on one executor, each with its own data.
TEST_P(each_competition, serves_several_host_threads_at_once) {
  constexpr int threads = 4;
  const task of[threads] = {tasks[0], tasks[1], tasks[2], {element_type::u32, operation::sum}};
  std::optional<guarded_input> inputs[threads];
  std::vector<expectation> expected(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    const std::uint64_t count = std::min<std::uint64_t>(3'001 + 997 * t, most_elements(variant(), of[t].op));
    inputs[t].emplace(memory_for(where()), exact_data(of[t].type, of[t].op, count, current_seed() + t), of[t].op);
    expected[t] = expected_exactly(of[t].op, inputs[t]->payload());
  }
  on_host_threads(threads, [&](std::size_t t) -> std::string {
    if (!variant().supports(of[t].type, of[t].op)) return {};
    const void* data = inputs[t]->all();
    for (int call = 0; call < 25; ++call) {
      for (const auto how : finishes_of(variant())) {
        const trial asked = one(of[t].type, of[t].op, how);
        const auto got = reduce(asked, data, inputs[t]->payload().size());
        if (auto sentence = disagreement(expected[t], got.value))
          return *sentence + "\n" + describe(asked, inputs[t]->payload().size(), got.ran, expected[t], got.value);
      }
    }
    return {};
  });
}

INSTANTIATE_TEST_SUITE_P(variants, each_competition, testing::ValuesIn(pairings()), param_name);

}  // namespace
}  // namespace onefold_test
