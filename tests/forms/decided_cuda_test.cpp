/// @file decided_cuda_test.cpp  all, any and none on a GPU, whose blocks read no further once one has seen what decides: the answers are the same
/// wherever that is, in call after call on the same memory and in graphs.

#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include "../support/cuda.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

class decided_results : public cuda_form_test {
 protected:
  // Large enough for many more blocks than a GPU holds at once, and neither aligned nor whole tiles.
  static constexpr std::uint64_t bytes = std::uint64_t{160} << 20;

  template <class T>
  void expect_answers(const onefold::executor& where, const T* x, std::uint64_t n, std::uint64_t nonzero, const char* what,
                      onefold::workspace* own = nullptr) {
    const onefold::options how{.workspace = own};
    EXPECT_EQ(onefold::any(where, x, n, how), nonzero > 0) << what;
    EXPECT_EQ(onefold::all(where, x, n, how), nonzero == n) << what;
    EXPECT_EQ(onefold::none(where, x, n, how), nonzero == 0) << what;
    EXPECT_EQ(onefold::count(where, x, n, how), nonzero) << what;  // behind a launch that ended early it reads everything
  }

  template <class T>
  void expect_all_placements() {
    const stream on;
    const auto where = onefold::cuda(0, on.get());
    const device_memory memory(bytes);
    T* const x = memory.as<T>() + 1;
    const std::uint64_t n = bytes / sizeof(T) - 3;
    const auto put = [&](std::uint64_t i, T value) {
      expect_success(cudaMemcpyAsync(x + i, &value, sizeof(T), cudaMemcpyHostToDevice, on.get()), "cudaMemcpyAsync");
      on.synchronize();
    };
    onefold::workspace own(where, n);
    expect_success(cudaMemsetAsync(memory.as<T>(), 0, bytes, on.get()), "cudaMemsetAsync");
    expect_answers(where, x, n, 0, "nothing");
    for (const std::uint64_t i : {std::uint64_t{0}, n / 3, n - 1}) {
      put(i, T(1));
      for (int again = 0; again < 3; ++again) {
        expect_answers(where, x, n, 1, "one element");
        expect_answers(where, x, n, 1, "one element, with a workspace", &own);
      }
      put(i, T(0));
      expect_answers(where, x, n, 0, "nothing again");
    }
    // Every byte is 1, and no element is zero.
    expect_success(cudaMemsetAsync(memory.as<T>(), 1, bytes, on.get()), "cudaMemsetAsync");
    expect_answers(where, x, n, n, "everything");
    for (const std::uint64_t i : {std::uint64_t{0}, n / 2, n - 1}) {
      put(i, T(0));
      for (int again = 0; again < 3; ++again) expect_answers(where, x, n, n - 1, "all but one");
      put(i, T(1));
    }
    expect_answers(where, x, n, n, "everything again");
  }
};

TEST_F(decided_results, of_every_size_of_elements_cuda) {
  expect_all_placements<std::uint8_t>();
  expect_all_placements<onefold::float16>();
  expect_all_placements<float>();
  expect_all_placements<std::int32_t>();
  expect_all_placements<double>();
  expect_all_placements<std::int64_t>();
  count_dispatch(onefold::cuda());
}

// In three parts, of which the first has 64 MiB, the next 2 GiB.
TEST_F(decided_results, of_gibibytes_that_are_looked_at_in_parts_cuda) {
  constexpr std::uint64_t large = (std::uint64_t{6} << 30) + (std::uint64_t{96} << 20);
  constexpr std::uint64_t first = std::uint64_t{64} << 20, next = first + (std::uint64_t{2} << 30);
  std::size_t free_bytes = 0, all_bytes = 0;
  expect_success(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  if (free_bytes < large + (std::uint64_t{1} << 28)) GTEST_SKIP() << "the GPU has too little free memory";
  const device_memory memory(large);
  auto* const x = memory.as<std::uint8_t>();
  const auto set = [&](std::uint64_t i, int value) { expect_success(cudaMemset(x + i, value, 1), "cudaMemset"); };
  const auto where = onefold::cuda(0);
  expect_success(cudaMemset(x, 0, large), "cudaMemset");
  expect_answers(where, x, large, 0, "nothing");
  for (const std::uint64_t i : {std::uint64_t{0}, first - 1, first, next - 1, next, large - 1}) {
    set(i, 1);
    expect_answers(where, x, large, 1, "one element");
    set(i, 0);
  }
  expect_success(cudaMemset(x, 1, large), "cudaMemset");
  expect_answers(where, x, large, large, "everything");
  for (const std::uint64_t i : {std::uint64_t{0}, first - 1, first, next - 1, next, large - 1}) {
    set(i, 0);
    expect_answers(where, x, large, large - 1, "all but one");
    set(i, 1);
  }
  count_dispatch(onefold::cuda());
}

TEST_F(decided_results, in_a_graph_that_is_replayed_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const device_memory memory(bytes);
  const device_memory answer(1);
  const auto* const x = memory.as<std::uint8_t>();
  expect_success(cudaMemset(memory.as<void>(), 0, bytes), "cudaMemset");
  recording graph(on.get());
  onefold::any_into(where, x, bytes, answer.as<bool>());
  graph.end();
  for (const int set : {0, 1, 0, 1}) {
    expect_success(cudaMemsetAsync(memory.as<std::uint8_t>() + bytes / 5, set, 1, on.get()), "cudaMemsetAsync");
    graph.replay();
    bool found = false;
    expect_success(cudaMemcpyAsync(&found, answer.as<bool>(), 1, cudaMemcpyDeviceToHost, on.get()), "cudaMemcpyAsync");
    on.synchronize();
    EXPECT_EQ(found, set == 1);
  }
  count_dispatch(onefold::cuda());
}

}  // namespace
}  // namespace onefold_test
