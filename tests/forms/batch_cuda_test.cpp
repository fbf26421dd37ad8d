/// @file batch_cuda_test.cpp  Batches on a GPU: in one launch, with a workspace of any size, in graphs, and memory that is known to be idle behind them.

#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include <onefold/batch.hpp>

#include "../support/cuda.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

class a_batch_on_a_gpu : public cuda_form_test {
 protected:
  static constexpr std::uint64_t counts[] = {10'000, 3, 40'000, 300'000, 17};

  a_batch_on_a_gpu() {
    for (int i = 0; i < 5; ++i) inputs_.emplace_back(any_values(element_type::f64, counts[i], static_cast<std::uint64_t>(i) + 1));
  }
  void SetUp() override {
    cuda_form_test::SetUp();
    if (IsSkipped()) return;
    for (const elements& each : inputs_) {
      memory_.push_back(std::make_unique<block>(memory::device, each.bytes()));
      memory_.back()->write(0, each.data(), each.bytes());
    }
    results_ = std::make_unique<block>(memory::device, 5 * sizeof(double));
  }

  // A sum, or norm2, of each array, stored behind each other.
  [[nodiscard]] std::vector<onefold_request> stored(const onefold::executor& where) const {
    std::vector<onefold_request> requests;
    for (std::size_t i = 0; i < memory_.size(); ++i)
      requests.push_back(
          onefold::detail::c_request({where, element_type::f64, i % 2 == 0 ? form::sum : form::norm2, memory_[i]->address(),
                                      counts[i], results_->address() + i * sizeof(double), false}));
    return requests;
  }
  void expect_results(const onefold::executor& where, const char* what) const {
    double found[5];
    results_->read(0, found, sizeof(found));
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const auto* const x = reinterpret_cast<const double*>(memory_[i]->address());
      const double alone = i % 2 == 0 ? onefold::sum(where, x, counts[i]) : onefold::norm2(where, x, counts[i]);
      EXPECT_EQ(std::memcmp(&found[i], &alone, sizeof(alone)), 0) << what << ", array " << i;
    }
    const std::vector<double> zeros(5);
    results_->write(0, zeros.data(), sizeof(found));
  }

  std::vector<elements> inputs_;
  std::vector<std::unique_ptr<block>> memory_;
  std::unique_ptr<block> results_;
};

TEST_F(a_batch_on_a_gpu, is_one_launch_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto requests = stored(where);
  onefold_report ran{};
  ran.struct_bytes = sizeof(ran);
  onefold_options how{};
  how.struct_bytes = sizeof(how);
  how.report = &ran;
  for (int again = 0; again < 3; ++again) {
    ASSERT_EQ(onefold_reduce_batch(requests.data(), requests.size(), &how), 0) << onefold_last_error();
    on.synchronize();
    EXPECT_EQ(ran.launches, 1);
    EXPECT_GT(ran.grid_size, 5);
    EXPECT_STREQ(ran.variant, "fixed_order");
    expect_results(where, "in one launch");
  }
  count_dispatch(onefold::cuda());
}

// All four, of floats and of doubles, beside a sum; waited for, and stored.
TEST_F(a_batch_on_a_gpu, with_places_among_its_forms_is_one_launch_cuda) {
  using arg64 = onefold::arg_result<double>;
  using arg32 = onefold::arg_result<float>;
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto* const x = reinterpret_cast<const double*>(memory_[3]->address());
  const elements floats = any_values(element_type::f32, 300'001, 9);
  block on_gpu(memory::device, floats.bytes());
  on_gpu.write(0, floats.data(), floats.bytes());
  const auto* const f = reinterpret_cast<const float*>(on_gpu.address()) + 1;
  const block place(memory::device, sizeof(arg64));
  constexpr std::uint64_t n = 100'000;
  onefold::report ran;
  onefold::options how;
  how.report = &ran;
  for (int again = 0; again < 3; ++again) {
    arg64 of_x[4]{};
    arg32 of_f[4]{};
    double sum = 0;
    onefold::batch work(where);
    work.add(onefold::argmin, x, n, &of_x[0]).add(onefold::argmax, x, n, &of_x[1]);
    work.add(onefold::argmin_magnitude, x, n, &of_x[2]).add(onefold::argmax_magnitude, x, n, &of_x[3]);
    work.add(onefold::argmin, f, n, &of_f[0]).add(onefold::argmax, f, n, &of_f[1]);
    work.add(onefold::argmin_magnitude, f, n, &of_f[2]).add(onefold::argmax_magnitude, f, n, &of_f[3]);
    work.add(onefold::sum, x, n, &sum).run(how);
    EXPECT_EQ(ran.launches, 1);
    const auto same = [](const auto& got, const auto& alone, const char* what) {
      EXPECT_EQ(std::memcmp(&got.value, &alone.value, sizeof(got.value)), 0) << what;
      EXPECT_EQ(got.index, alone.index) << what;
    };
    same(of_x[0], onefold::argmin(where, x, n), "argmin of doubles");
    same(of_x[1], onefold::argmax(where, x, n), "argmax of doubles");
    same(of_x[2], onefold::argmin_magnitude(where, x, n), "argmin_magnitude of doubles");
    same(of_x[3], onefold::argmax_magnitude(where, x, n), "argmax_magnitude of doubles");
    same(of_f[0], onefold::argmin(where, f, n), "argmin of floats");
    same(of_f[1], onefold::argmax(where, f, n), "argmax of floats");
    same(of_f[2], onefold::argmin_magnitude(where, f, n), "argmin_magnitude of floats");
    same(of_f[3], onefold::argmax_magnitude(where, f, n), "argmax_magnitude of floats");
    const double alone = onefold::sum(where, x, n);
    EXPECT_EQ(std::memcmp(&sum, &alone, sizeof(sum)), 0);
    std::vector<onefold_request> requests = stored(where);
    requests[0] = onefold::detail::c_request({where, element_type::f64, form::argmin_magnitude, x, n, place.address(), false});
    ASSERT_EQ(onefold_reduce_batch(requests.data(), requests.size(), nullptr), 0) << onefold_last_error();
    on.synchronize();
    arg64 found{};
    place.read(0, &found, sizeof(found));
    same(found, of_x[2], "stored");
  }
  count_dispatch(onefold::cuda());
}

TEST_F(a_batch_on_a_gpu, works_with_a_workspace_of_any_size_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto requests = stored(where);
  for (const std::size_t bytes : {std::size_t{256}, std::size_t{1024}, std::size_t{4096}, std::size_t{1} << 20}) {
    const block memory(memory::device, bytes);
    onefold::workspace own(where, memory.address(), bytes);
    onefold_options how = onefold::detail::c_options({.workspace = &own});
    for (int again = 0; again < 2; ++again) {
      ASSERT_EQ(onefold_reduce_batch(requests.data(), requests.size(), &how), 0) << onefold_last_error();
      on.synchronize();
      expect_results(where, "with a workspace");
    }
  }
  count_dispatch(onefold::cuda());
}

TEST_F(a_batch_on_a_gpu, is_recorded_and_replayed_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto requests = stored(where);
  recording graph(on.get());
  ASSERT_EQ(onefold_reduce_batch(requests.data(), requests.size(), nullptr), 0) << onefold_last_error();
  graph.end();
  for (int again = 0; again < 3; ++again) {
    graph.replay();
    on.synchronize();
    expect_results(where, "replayed");
  }
  // What waits cannot be recorded.
  auto waiting = requests;
  double to_host = 0;
  waiting[0].flags &= ~static_cast<std::uint32_t>(ONEFOLD_INTO);
  waiting[0].output = &to_host;
  recording refused(on.get());
  EXPECT_EQ(onefold_reduce_batch(waiting.data(), waiting.size(), nullptr), ONEFOLD_UNSUPPORTED);
  count_dispatch(onefold::cuda());
}

TEST_F(a_batch_on_a_gpu, leaves_memory_that_can_be_given_back_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto requests = stored(where);
  for (int again = 0; again < 3; ++again) {
    ASSERT_EQ(onefold_reduce_batch(requests.data(), requests.size(), nullptr), 0) << onefold_last_error();
    on.synchronize();
    const auto kept = onefold::memory_in_use(where).device_bytes;
    EXPECT_GT(kept, 0U);
    onefold::release_memory(where);
    EXPECT_LT(onefold::memory_in_use(where).device_bytes, kept);
    expect_results(where, "behind a release");
  }
  count_dispatch(onefold::cuda());
}

// The slots grow between its launches.
TEST_F(a_batch_on_a_gpu, of_several_launches_leaves_memory_that_can_be_given_back_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  constexpr std::size_t few = 72, all = few + 30;
  const auto* const x = reinterpret_cast<const double*>(memory_[3]->address());
  const auto count_of = [](std::size_t i) { return i < few ? std::uint64_t{20'000} : std::uint64_t{300'000}; };
  std::vector<double> sums(all);
  onefold::report ran;
  onefold::options how;
  how.report = &ran;
  onefold::batch work(where);
  for (std::size_t i = 0; i < all; ++i) work.add(onefold::sum, x, count_of(i), &sums[i]);
  work.run(how);
  EXPECT_GT(ran.launches, 1);
  for (std::size_t i = 0; i < all; ++i) {
    const double alone = onefold::sum(where, x, count_of(i));
    EXPECT_EQ(std::memcmp(&sums[i], &alone, sizeof(alone)), 0) << i;
  }
  const auto kept = onefold::memory_in_use(where).device_bytes;
  onefold::release_memory(where);
  EXPECT_LT(onefold::memory_in_use(where).device_bytes, kept);
  count_dispatch(onefold::cuda());
}

}  // namespace
}  // namespace onefold_test
