/// @file mixed_cuda_test.cpp  Dots of elements of two types on a GPU: with a stream and working memory of the caller's own, recorded into a graph, large ones, and
/// arrays that the GPU does not have.

#include <cuda_runtime_api.h>

#include <cstring>
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
         {std::array<std::size_t, 3>{0, 0, count}, {3, 6, count - 7}, {1, 0, std::size_t{1} << 20}}) {
      scalar got{static_cast<element_type>(onefold_mixed_dot_type(x, y)), 0};
      ASSERT_EQ(onefold_mixed_dot(onefold_cuda_device(0), x, data.at(x, first_x), y, data.at(y, first_y), n, &got.bits), ONEFOLD_OK)
          << onefold_last_error();
      EXPECT_EQ(got, data.expected(x, first_x, y, first_y, n))
          << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", " << n << " from " << first_x;
    }
  count_dispatch(onefold::cuda());
}

TEST_F(a_dot_of_two_types_on_the_gpu, of_memory_of_the_hosts_is_refused_cuda) {
  const std::vector<float> x(10, 1.0F);
  const std::vector<double> y(10, 2.0);
  try {
    static_cast<void>(onefold::dot(onefold::cuda(0), x, y));
    ADD_FAILURE() << "no refusal";
  } catch (const onefold::error& refusal) {
    EXPECT_EQ(refusal.code(), onefold::errc::host_pointer) << refusal.what();
  }
  EXPECT_EQ(onefold::dot(onefold::best(), x, y), 20.0);
  count_dispatch(onefold::cuda(0));
}

}  // namespace
}  // namespace onefold_test
