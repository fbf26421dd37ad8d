/// @file mixed_cuda_test.cpp  Dots of elements of two types on a GPU: with a stream and working memory of the caller's own, recorded into a graph, large ones, and
/// arrays that the GPU does not have.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "../support/cuda.hpp"
#include "fixture.hpp"
#include "mixed_fixture.hpp"

namespace onefold_test {
namespace {

class a_dot_of_two_types_on_the_gpu : public cuda_form_test {};

TEST_F(a_dot_of_two_types_on_the_gpu, goes_into_graphs_with_a_workspace_cuda) {
  constexpr std::size_t count = 300'011;
  const stream fresh;
  const auto where = onefold::cuda(0, fresh.get());
  onefold::workspace own(where, count);
  const onefold::options how{.workspace = &own};
  const mixed_data first(memory::device, count), second(memory::device, count, special::infinity);
  const device_memory x(count * sizeof(float)), y(count * sizeof(double)), result(2 * sizeof(double));
  const std::span<const float> of_x(x.as<float>(), count);
  const std::span<const double> of_y(y.as<double>(), count);
  recording graph(fresh.get());
  onefold::dot_into(where, of_x, of_y, result.as<double>(), how);
  onefold::dot_into(where, of_y.subspan(1), of_x.subspan(1), result.as<double>() + 1, how);
  graph.end();
  for (const mixed_data* data : {&first, &second, &first}) {
    copy_to_device(x.as<void>(), data->at(ONEFOLD_F32, 0), count * sizeof(float));
    copy_to_device(y.as<void>(), data->at(ONEFOLD_F64, 0), count * sizeof(double));
    expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    graph.replay();
    fresh.synchronize();
    double found[2];
    expect_success(cudaMemcpy(found, result.as<void>(), sizeof(found), cudaMemcpyDefault), "cudaMemcpy");
    EXPECT_EQ(scalar_of(found[0]), data->expected(ONEFOLD_F32, 0, ONEFOLD_F64, 0, count));
    EXPECT_EQ(scalar_of(found[1]), data->expected(ONEFOLD_F32, 1, ONEFOLD_F64, 1, count - 1));
  }
  count_dispatch(where);
}

// As many blocks as there are, of each kernel, with arrays that begin anywhere.
TEST_F(a_dot_of_two_types_on_the_gpu, is_right_of_many_tiles_cuda) {
  constexpr std::size_t count = 5'000'017;
  const mixed_data data(memory::device, count);
  const std::pair<int, int> pairs[] = {{ONEFOLD_F64, ONEFOLD_I8},   {ONEFOLD_F16, ONEFOLD_F64}, {ONEFOLD_F32, ONEFOLD_F64},
                                       {ONEFOLD_I64, ONEFOLD_F64},  {ONEFOLD_F32, ONEFOLD_U8},  {ONEFOLD_BF16, ONEFOLD_F32},
                                       {ONEFOLD_I32, ONEFOLD_F32},  {ONEFOLD_U64, ONEFOLD_F32}, {ONEFOLD_F16, ONEFOLD_I8},
                                       {ONEFOLD_F16, ONEFOLD_BF16}, {ONEFOLD_I64, ONEFOLD_F16}, {ONEFOLD_I64, ONEFOLD_U8},
                                       {ONEFOLD_I64, ONEFOLD_I16},  {ONEFOLD_U32, ONEFOLD_I64}, {ONEFOLD_I32, ONEFOLD_I8},
                                       {ONEFOLD_U16, ONEFOLD_I32},  {ONEFOLD_I16, ONEFOLD_U8},  {ONEFOLD_I16, ONEFOLD_U16},
                                       {ONEFOLD_I8, ONEFOLD_U8},    {ONEFOLD_I32, ONEFOLD_U32}, {ONEFOLD_I64, ONEFOLD_U64}};
  for (const auto& [x, y] : pairs)
    for (const auto& [first_x, first_y, n] :
         {std::array<std::size_t, 3>{0, 0, count}, {3, 6, count - 7}, {16, 0, count - 16}, {1, 0, std::size_t{1} << 20}}) {
      scalar got{static_cast<element_type>(onefold_mixed_dot_type(x, y)), 0};
      ASSERT_EQ(onefold_mixed_dot(onefold_cuda_device(0), x, data.at(x, first_x), y, data.at(y, first_y), n, &got.bits), ONEFOLD_OK)
          << onefold_last_error();
      EXPECT_EQ(got, data.expected(x, first_x, y, first_y, n))
          << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", " << n << " from " << first_x;
    }
  count_dispatch(onefold::cuda());
}

// The same of wider types, and of what stands in memory, whose kernels are others.
TEST_F(a_dot_of_two_types_on_the_gpu, is_right_of_many_tiles_from_memory_cuda) {
  constexpr std::size_t count = 5'000'017;
  const mixed_data data(memory::device, count);
  const device_memory places(3 * sizeof(std::uint64_t));
  const std::pair<int, int> pairs[] = {{ONEFOLD_F32, ONEFOLD_F64}, {ONEFOLD_F32, ONEFOLD_I8}, {ONEFOLD_BF16, ONEFOLD_F32},
                                       {ONEFOLD_I32, ONEFOLD_F32}, {ONEFOLD_F16, ONEFOLD_U8}, {ONEFOLD_F16, ONEFOLD_BF16},
                                       {ONEFOLD_U64, ONEFOLD_F16}, {ONEFOLD_I64, ONEFOLD_U8}, {ONEFOLD_U32, ONEFOLD_I64},
                                       {ONEFOLD_I16, ONEFOLD_I32}, {ONEFOLD_I8, ONEFOLD_U8},  {ONEFOLD_I32, ONEFOLD_U32}};
  for (const auto& pair : pairs)
    for (const auto& part : {std::array<std::size_t, 3>{0, 0, count}, {3, 6, count - 7}, {1, 0, std::size_t{1} << 20}}) {
      const int x = pair.first, y = pair.second;  // clang's lambdas take no structured bindings
      const std::size_t first_x = part[0], first_y = part[1], n = part[2];
      onefold_request what{};
      what.struct_bytes = sizeof(what);
      what.where = onefold_cuda_device(0);
      what.type = x;
      what.second_type = 1 + y;
      what.form = ONEFOLD_DOT;
      what.input = data.at(x, first_x);
      what.second = data.at(y, first_y);
      what.count = n;
      const element_type common = mixed_data::type(onefold_mixed_dot_type(x, y)), wide = mixed_data::wider(x, y);
      const auto expect = [&](std::size_t elements, element_type products, const char* words) {
        scalar got{products, 0};
        what.output = &got.bits;
        what.flags = products == common ? 0 : ONEFOLD_WIDE;
        ASSERT_EQ(onefold_reduce(&what, nullptr), ONEFOLD_OK) << onefold_last_error();
        EXPECT_EQ(got, data.expected(x, first_x, y, first_y, elements, products))
            << words << ": " << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", " << elements
            << " from " << first_x;
      };
      if (wide != common) expect(n, wide, "wide");
      const void* const both[] = {what.input, what.second};
      copy_to_device(places.as<void>(), both, sizeof(both));
      for (const std::uint64_t fewer : {std::uint64_t{n}, std::uint64_t{n} / 2 + 1, std::uint64_t{3}}) {
        copy_to_device(places.as<std::uint64_t>() + 2, &fewer, sizeof(fewer));
        what.count_at = places.as<std::uint64_t>() + 2;
        expect(fewer, common, "a count");
        if (wide != common) expect(fewer, wide, "a count, wide");
      }
      what.count_at = nullptr;
      what.input = what.second = nullptr;
      what.input_at = places.as<const void*>();
      what.second_at = places.as<const void*>() + 1;
      expect(n, common, "two addresses");
    }
  count_dispatch(onefold::cuda());
}

TEST_F(a_dot_of_two_types_on_the_gpu, reads_memory_at_every_replay_cuda) {
  constexpr std::size_t most = 300'011;
  const stream fresh;
  const auto where = onefold::cuda(0, fresh.get());
  onefold::workspace own(where, most);
  onefold::options how{.workspace = &own};
  const mixed_data first(memory::device, most), second(memory::device, most, special::infinity);
  const device_memory places(3 * sizeof(std::uint64_t)), result(sizeof(double));
  const onefold::array_at<onefold::float16> x{places.as<const onefold::float16*>()};
  const onefold::array_at<float> y{places.as<const float*>() + 1};
  recording graph(fresh.get());
  onefold::dot_into(where, x, y, most, result.as<double>(), onefold::accumulate_as<double>,
                    onefold::count_at{places.as<std::uint64_t>() + 2}, how);
  graph.end();
  for (const mixed_data* data : {&first, &second})
    for (const std::uint64_t n : {std::uint64_t{most}, std::uint64_t{0}, std::uint64_t{70'001}, ~std::uint64_t{0}}) {
      const void* const both[] = {data->at(ONEFOLD_F16, 0), data->at(ONEFOLD_F32, 0)};
      copy_to_device(places.as<void>(), both, sizeof(both));
      copy_to_device(places.as<std::uint64_t>() + 2, &n, sizeof(n));
      expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      graph.replay();
      fresh.synchronize();
      double found = 0;
      expect_success(cudaMemcpy(&found, result.as<void>(), sizeof(found), cudaMemcpyDefault), "cudaMemcpy");
      EXPECT_EQ(scalar_of(found), data->expected(ONEFOLD_F16, 0, ONEFOLD_F32, 0,
                                                 static_cast<std::size_t>(std::min<std::uint64_t>(n, most)), element_type::f64))
          << n;
    }
  // An array that is not there: the call that stores says so by its bits.
  const void* const nowhere[] = {nullptr, first.at(ONEFOLD_F32, 0)};
  copy_to_device(places.as<void>(), nowhere, sizeof(nowhere));
  expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  graph.replay();
  fresh.synchronize();
  std::uint64_t bits = 0;
  expect_success(cudaMemcpy(&bits, result.as<void>(), sizeof(bits), cudaMemcpyDefault), "cudaMemcpy");
  EXPECT_EQ(bits, ~std::uint64_t{0});
  count_dispatch(where);
}

// What the host does of it is tested without a GPU: faults/host_arrays_test.cpp.
TEST_F(a_dot_of_two_types_on_the_gpu, of_memory_of_the_hosts_is_copied_cuda) {
  const onefold_executor at = onefold_cuda_device(0);
  setenv("ONEFOLD_CUDA_PIECE_BYTES", "65536", 1);
  const mixed_data data(memory::host, 70'011), there(memory::device, 70'011);
  for (int x = 0; x < onefold::element_type_count; ++x)
    for (int y = 0; y < onefold::element_type_count; ++y) {
      if (x == y) continue;
      const auto products = static_cast<element_type>(onefold_mixed_dot_type(x, y));
      for (const std::size_t n : {std::size_t{1}, std::size_t{4'096}, std::size_t{70'001}}) {
        const scalar expected = data.expected(x, 1, y, 3, n);
        const auto expect_from = [&](const void* of_x, const void* of_y, const char* words) {
          scalar got{products, 0};
          ASSERT_EQ(onefold_mixed_dot(at, x, of_x, y, of_y, n, &got.bits), ONEFOLD_OK) << onefold_last_error();
          ASSERT_EQ(got, expected) << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", " << n << words;
        };
        expect_from(data.at(x, 1), data.at(y, 3), "");
        expect_from(data.at(x, 1), there.at(y, 3), ", the second on the GPU");
        if (mixed_data::has_exact_sum(x, y, products)) {
          onefold_options exactly{};
          exactly.struct_bytes = sizeof(exactly);
          exactly.guarantee = ONEFOLD_GUARANTEE_EXACT;
          scalar sum{products, 0};
          const onefold_request what = request_of(onefold::cuda(0), data, x, y, n, &sum.bits);
          ASSERT_EQ(onefold_reduce(&what, &exactly), ONEFOLD_OK) << onefold_last_error();
          ASSERT_EQ(sum, data.exact(x, 1, y, 3, n, products))
              << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y));
        }
        onefold_range* state = nullptr;
        ASSERT_EQ(onefold_range_create(static_cast<int>(products), ONEFOLD_SUM, 0, 0, &state), ONEFOLD_OK);
        const onefold_products of{data.at(x, 1), data.at(y, 3), x, y};
        ASSERT_EQ(onefold_range_add_products(state, at, &of, n, nullptr), ONEFOLD_OK) << onefold_last_error();
        scalar got{products, 0};
        ASSERT_EQ(onefold_range_result(state, 0, &got.bits), ONEFOLD_OK);
        onefold_range_destroy(state);
        ASSERT_EQ(got, expected) << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", a state of " << n;
      }
    }
  unsetenv("ONEFOLD_CUDA_PIECE_BYTES");
  count_dispatch(onefold::cuda(0));
}

TEST_F(a_dot_of_two_types_on_the_gpu, of_memory_of_the_hosts_is_refused_where_something_stands_in_memory_cuda) {
  const std::vector<float> x(10, 1.0F);
  const std::vector<double> y(10, 2.0);
  EXPECT_EQ(onefold::dot(onefold::cuda(0), x, y), 20.0);
  EXPECT_EQ(onefold::dot(onefold::best(), x, y), 20.0);
  const std::uint64_t n = 3;
  EXPECT_TRUE(refuses(onefold::errc::host_pointer, "input",
                      [&] { static_cast<void>(onefold::dot(onefold::cuda(0), x, y, onefold::count_at{&n})); }));
  const mixed_data data(memory::device, 10);
  const auto* const on_gpu = static_cast<const float*>(data.at(ONEFOLD_F32, 0));
  const auto* const other = static_cast<const double*>(data.at(ONEFOLD_F64, 0));
  EXPECT_TRUE(refuses(onefold::errc::host_pointer, "count",
                      [&] { static_cast<void>(onefold::dot(onefold::cuda(0), on_gpu, other, 10, onefold::count_at{&n})); }));
  EXPECT_TRUE(refuses(onefold::errc::host_pointer, "address of the second input",
                      [&] { static_cast<void>(onefold::dot(onefold::cuda(0), on_gpu, onefold::array_at<double>{&other}, 10)); }));
  count_dispatch(onefold::cuda(0));
}

}  // namespace
}  // namespace onefold_test
