/// @file counted_cuda_test.cpp  Numbers of elements that kernels ahead of a reduction write, in graphs too; arrays of many blocks; what is refused.

#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>

#include "../support/cuda.hpp"
#include "any_elements.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::count_at;
using onefold::errc;

class a_count_on_the_gpu : public cuda_form_test {};

TEST_F(a_count_on_the_gpu, is_read_at_every_replay_cuda) {
  constexpr std::uint64_t most = std::uint64_t{1} << 23;  // more leaves than one warp collects if each had 16 tiles
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const device_memory memory(most * sizeof(double)), counts(4 * sizeof(std::uint64_t)), count(sizeof(std::uint64_t)),
      result(sizeof(double));
  auto* const x = memory.as<double>();
  const elements values = any_values(element_type::f64, most, 1);
  copy_to_device(x, values.data(), values.bytes());
  const std::vector<std::uint64_t> all = {5, 0, 1'000'003, most};
  copy_to_device(counts.as<void>(), all.data(), 32);
  recording graph(on.get());
  onefold::norm2_into(where, x, most, result.as<double>(), count_at{count.as<std::uint64_t>()});
  graph.end();
  for (int again = 0; again < 2; ++again)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double found = replayed_with(graph, on, count.as<std::uint64_t>(), counts.as<std::uint64_t>() + i, result.as<double>());
      const double expected = onefold::norm2(where, x, all[i]);
      EXPECT_EQ(std::memcmp(&found, &expected, sizeof(found)), 0) << all[i] << " elements: " << found << ", not " << expected;
    }
  count_dispatch(onefold::cuda());
}

TEST_F(a_count_on_the_gpu, of_which_places_are_wanted_is_read_at_every_replay_cuda) {
  constexpr std::uint64_t most = std::uint64_t{1} << 23;
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const device_memory memory(most * sizeof(float)), counts(4 * sizeof(std::uint64_t)), count(sizeof(std::uint64_t)),
      result(sizeof(onefold::arg_result<float>));
  auto* const x = memory.as<float>();
  // Ties: the first of them in another block than the last.
  std::vector<float> values(most);
  for (std::uint64_t i = 0; i < most; ++i) values[i] = static_cast<float>(i % 1'000'001 % 977);
  copy_to_device(x, values.data(), most * sizeof(float));
  const std::vector<std::uint64_t> all = {5, 0, 1'000'003, most};
  copy_to_device(counts.as<void>(), all.data(), 32);
  recording graph(on.get());
  onefold::argmax_into(where, x, most, result.as<onefold::arg_result<float>>(), count_at{count.as<std::uint64_t>()});
  graph.end();
  for (int again = 0; again < 2; ++again)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto found = replayed_with(graph, on, count.as<std::uint64_t>(), counts.as<std::uint64_t>() + i,
                                       result.as<onefold::arg_result<float>>());
      const auto expected = all[i] == 0 ? onefold::arg_result<float>{0, ~std::uint64_t{0}}
                                        : onefold::argmax(onefold::serial(), values.data(), all[i]);
      EXPECT_EQ(found.value, expected.value) << all[i] << " elements";
      EXPECT_EQ(found.index, expected.index) << all[i] << " elements";
    }
  count_dispatch(onefold::cuda());
}

TEST_F(a_count_on_the_gpu, gives_the_bits_of_every_form_and_type_cuda) {
  constexpr std::uint64_t most = 300'007;
  constexpr onefold::operation four[] = {onefold::operation::sum, onefold::operation::prod, onefold::operation::min,
                                         onefold::operation::max};
  const device_memory count(sizeof(std::uint64_t)), result(32);
  for (int number = 0; number < onefold::element_type_count; ++number) {
    const auto type = static_cast<element_type>(number);
    const elements x = any_elements(type, most, 1), y = any_elements(type, most, 2);
    const device_memory on_x(x.bytes()), on_y(y.bytes());
    copy_to_device(on_x.as<void>(), x.data(), x.bytes());
    copy_to_device(on_y.as<void>(), y.data(), y.bytes());
    for (int what = 0; what < onefold::form_count + onefold::record_count; ++what)
      for (int how = 0; how < 4; ++how) {
        const auto its = static_cast<form>(what);
        const bool wide = how % 2 != 0, exactly = how >= 2;
        if (!onefold::takes_type(its, type) || (wide && !onefold::can_be_wide(type, its))) continue;
        if (exactly && !onefold::detail::exact::has_state(its, type)) continue;
        onefold::options wishes;
        if (exactly) wishes.guarantee = onefold::guarantee::exact;
        for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4097}, std::uint64_t{100'001}, most}) {
          copy_to_device(count.as<void>(), &n, sizeof(n));
          expect_success(cudaMemset(result.as<void>(), 0, 32), "cudaMemset");
          onefold::detail::request asked{onefold::cuda(), type, its, on_x.as<void>(), most, result.as<void>(), false};
          asked.wide = wide;
          asked.count_at = count.as<std::uint64_t>();
          if (its == form::dot) asked.second = on_y.as<void>();
          if (its == form::reduce_together) {
            asked.results = 4;
            asked.operators = four;
          }
          if (its == form::mean_variance) asked.ddof = 1;
          onefold::detail::run(asked, wishes);
          std::uint64_t found[4] = {}, expected[4] = {};
          expect_success(cudaMemcpy(found, result.as<void>(), sizeof(found), cudaMemcpyDeviceToHost), "cudaMemcpy");
          asked.where = onefold::serial();
          asked.input = x.data();
          if (its == form::dot) asked.second = y.data();
          asked.count = n;
          asked.count_at = nullptr;
          asked.waits = true;
          asked.output = expected;
          if (n == 0 && onefold::has_index(its))
            expected[1] = expected[3] = ~std::uint64_t{0};
          else
            onefold::detail::run(asked, wishes);
          const std::size_t size = onefold::size_of(type);
          if (onefold::has_index(its)) {
            for (const int place : {0, 2})
              for (std::uint64_t* const of : {found, expected})
                if (size < 8) of[place] &= (std::uint64_t{1} << (8 * size)) - 1;
            if (its != form::argminmax) expected[3] = 0;
          }
          EXPECT_EQ(std::memcmp(found, expected, sizeof(found)), 0)
              << onefold::name(its) << (wide ? " (wide)" : "") << (exactly ? " (exactly)" : "") << " of " << n << " "
              << onefold::name(type);
        }
      }
  }
  count_dispatch(onefold::cuda());
}

TEST_F(a_count_on_the_gpu, of_an_exact_sum_is_read_at_every_replay_and_in_a_batch_cuda) {
  constexpr std::uint64_t most = std::uint64_t{1} << 22;
  constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const device_memory memory(most * sizeof(double)), counts(5 * sizeof(std::uint64_t)), count(sizeof(std::uint64_t)),
      result(sizeof(onefold::mean_variance_result<double>));
  auto* const x = memory.as<double>();
  const elements values = any_values(element_type::f64, most, 1);
  copy_to_device(x, values.data(), values.bytes());
  const std::vector<std::uint64_t> all = {5, 0, 1'000'003, most, most + 1};
  copy_to_device(counts.as<void>(), all.data(), all.size() * sizeof(std::uint64_t));
  const onefold::count_at counted{count.as<std::uint64_t>()};
  recording graph(on.get());
  onefold::mean_variance_into(where, x, most, result.as<onefold::mean_variance_result<double>>(), counted, exactly);
  graph.end();
  for (int again = 0; again < 2; ++again)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto found = replayed_with(graph, on, count.as<std::uint64_t>(), counts.as<std::uint64_t>() + i,
                                       result.as<onefold::mean_variance_result<double>>());
      const std::uint64_t n = std::min(all[i], most);
      const auto expected = onefold::mean_variance(where, x, n, exactly);
      EXPECT_EQ(std::memcmp(&found, &expected, sizeof(found)), 0) << n << " elements: " << found.mean << ", not " << expected.mean;
      double sum = 1, norm = 1, together = 1;
      onefold::batch work(where);
      work.add(onefold::sum, x, most, &sum, counted)
          .add(onefold::norm2, x, most, &norm, counted)
          .add(onefold::dot, x, x, most, &together, counted);
      work.run(exactly);
      const double sums[] = {sum, norm, together};
      const double right[] = {onefold::sum(where, x, n, exactly), onefold::norm2(where, x, n, exactly),
                              onefold::dot(where, x, x, n, exactly)};
      EXPECT_EQ(std::memcmp(sums, right, sizeof(sums)), 0) << n << " elements in a batch";
    }
  EXPECT_TRUE(refuses(errc::unsupported, "superaccumulator",
                      [&] { static_cast<void>(onefold::sum(where, x, most, counted, {.variant = "superaccumulator"})); }));
  count_dispatch(onefold::cuda());
}

TEST_F(a_count_on_the_gpu, of_which_there_are_none_has_no_place_cuda) {
  const device_memory memory(1024), count(8);
  expect_success(cudaMemset(memory.as<void>(), 0, 1024), "cudaMemset");
  expect_success(cudaMemset(count.as<void>(), 0, 8), "cudaMemset");
  const auto where = onefold::cuda();
  const count_at at{count.as<std::uint64_t>()};
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "argmin", [&] { static_cast<void>(onefold::argmin(where, memory.as<int>(), 16, at)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "argminmax",
                      [&] { static_cast<void>(onefold::argminmax(where, memory.as<float>(), 16, at)); }));
  count_dispatch(onefold::cuda());
}

TEST_F(a_count_on_the_gpu, is_refused_where_no_kernel_reads_it_cuda) {
  const device_memory memory(1024), count(8);
  expect_success(cudaMemset(count.as<void>(), 0, 8), "cudaMemset");
  const auto where = onefold::cuda();
  const count_at at{count.as<std::uint64_t>()};
  const std::uint64_t on_host = 3;
  EXPECT_TRUE(refuses(errc::unsupported, "count",
                      [&] { static_cast<void>(onefold::sum(where, memory.as<float>(), 16, at, {.variant = "vector_load"})); }));
  EXPECT_TRUE(refuses(errc::unsupported, "count",
                      [&] { static_cast<void>(onefold::sum(where, memory.as<float>(), 16, at, {.block_size = 64})); }));
  EXPECT_TRUE(refuses(errc::host_pointer, "count",
                      [&] { static_cast<void>(onefold::sum(where, memory.as<float>(), 16, count_at{&on_host})); }));
  EXPECT_TRUE(refuses(errc::device_pointer, "count", [&] {
    const float x[2] = {1, 2};
    static_cast<void>(onefold::sum(onefold::serial(), x, 2, at));
  }));
  count_dispatch(onefold::cuda());
}

}  // namespace
}  // namespace onefold_test
