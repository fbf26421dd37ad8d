/// @file complex_cuda_test.cpp  Complex numbers on a GPU, in the forms whose states are none: with a stream and working memory of the caller's own, recorded
/// into a graph, from C, as states of ranges, and what is refused.

#include <cuda_runtime_api.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <onefold/range_state.hpp>

#include "../support/cuda.hpp"
#include "record_fixture.hpp"

namespace onefold_test {
namespace {

using c64 = std::complex<float>;
using moments = onefold::mean_variance_result<c64>;

class complex_states : public cuda_form_test {
 protected:
  static constexpr std::size_t count = 50'021;

  static std::vector<c64> numbers(std::uint64_t seed) {
    const elements parts = hard_sum(element_type::f32, hardship::growing, 2 * count, seed);
    std::vector<c64> all(count);
    std::memcpy(static_cast<void*>(all.data()), parts.data(), count * sizeof(c64));
    for (std::size_t i = 0; i < count; i += 7) all[i] = {0.0F, -0.0F};
    return all;
  }
  static elements parts_of(const std::vector<c64>& z) {
    elements parts(element_type::f32, 2 * z.size());
    std::memcpy(parts.as<float>().data(), z.data(), z.size() * sizeof(c64));
    return parts;
  }
  template <class R>
  static R read(const guarded_output& output) {
    R result;
    std::memcpy(static_cast<void*>(&result), output.bytes().data(), sizeof(result));
    return result;
  }
  template <class R>
  static std::vector<unsigned char> bytes(const R& result) {
    std::vector<unsigned char> all(sizeof(result));
    std::memcpy(all.data(), static_cast<const void*>(&result), sizeof(result));
    return all;
  }
};

TEST_F(complex_states, are_made_in_a_workspace_and_in_graphs_cuda) {
  const stream fresh;
  const auto where = onefold::cuda(0, fresh.get());
  onefold::workspace own(where, count);
  const onefold::options how{.workspace = &own};
  guarded_input data(memory::device, parts_of(numbers(1)), operation::sum);
  const auto* const z = static_cast<const c64*>(data.all());
  guarded_output of_moments(memory::device, element_type::u8, sizeof(moments));
  guarded_output of_count(memory::device, element_type::u8, sizeof(std::uint64_t));
  guarded_output of_any(memory::device, element_type::u8, 1);
  recording graph(fresh.get());
  onefold::mean_variance_into(where, z, count, static_cast<moments*>(of_moments.address()), onefold::ddof{1}, how);
  onefold::count_into(where, z, count, static_cast<std::uint64_t*>(of_count.address()), how);
  onefold::any_into(where, z, count, static_cast<bool*>(of_any.address()), how);
  graph.end();
  for (std::uint64_t round = 0; round < 3; ++round) {
    const std::vector<c64> others = numbers(10 + round);
    const elements parts = parts_of(others);
    copy_to_device(const_cast<c64*>(z), parts.data(), count * sizeof(c64));
    expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // the copy may return before the last of it is there
    graph.replay();
    fresh.synchronize();
    EXPECT_EQ(bytes(read<moments>(of_moments)), bytes(onefold::mean_variance(onefold::serial(), others, onefold::ddof{1})));
    EXPECT_EQ(read<std::uint64_t>(of_count), onefold::count(onefold::serial(), others));
    EXPECT_TRUE(read<bool>(of_any));
  }
  EXPECT_TRUE(of_moments.surroundings_unchanged() && of_count.surroundings_unchanged() && of_any.surroundings_unchanged());
  count_dispatch(where);
}

TEST_F(complex_states, come_from_c_cuda) {
  const std::vector<c64> x = numbers(2);
  guarded_input data(memory::device, parts_of(x), operation::sum);
  const auto* const z = static_cast<const onefold_c64*>(data.all());
  onefold_mean_variance_result_c64 got{};
  std::uint64_t nonzero = 0;
  std::uint8_t all = 7;
  EXPECT_EQ(onefold_mean_variance_c64(onefold_cuda_device(0), z, count, 1, &got), ONEFOLD_OK) << onefold_last_error();
  EXPECT_EQ(bytes(got), bytes(onefold::mean_variance(onefold::serial(), x, onefold::ddof{1})));
  EXPECT_EQ(onefold_count_c64(onefold_best(), z, count, &nonzero), ONEFOLD_OK) << onefold_last_error();
  EXPECT_EQ(nonzero, onefold::count(onefold::serial(), x));
  EXPECT_EQ(onefold_all_c64(onefold_cuda_device(0), z, count, &all), ONEFOLD_OK) << onefold_last_error();
  EXPECT_EQ(all, 0);
  count_dispatch(onefold::cuda(0));
}

TEST_F(complex_states, are_those_of_ranges_cuda) {
  const std::vector<c64> x = numbers(3);
  guarded_input data(memory::device, parts_of(x), operation::sum);
  const auto* const z = static_cast<const c64*>(data.all());
  const auto expect = [&]<form What>(std::integral_constant<form, What>) {
    onefold::range_state<What, c64> on_gpu, on_cpu;
    on_gpu.add(onefold::cuda(0), z, count);
    on_cpu.add(onefold::serial(), x.data(), count);
    EXPECT_EQ(on_gpu.bytes(), on_cpu.bytes()) << name(What);
  };
  expect(std::integral_constant<form, form::mean_variance>());
  expect(std::integral_constant<form, form::count>());
  expect(std::integral_constant<form, form::any>());
  count_dispatch(onefold::cuda(0));
}

TEST_F(complex_states, of_memory_of_the_hosts_are_refused_cuda) {
  const std::vector<c64> x = numbers(4);
  for (const bool is_count : {true, false}) {
    try {
      if (is_count)
        static_cast<void>(onefold::count(onefold::cuda(0), x));
      else
        static_cast<void>(onefold::mean_variance(onefold::cuda(0), x));
      ADD_FAILURE() << "no refusal";
    } catch (const onefold::error& refusal) {
      EXPECT_EQ(refusal.code(), onefold::errc::host_pointer) << refusal.what();
    }
  }
  EXPECT_THROW(static_cast<void>(onefold::mean_variance(onefold::cuda(0), x, {.guarantee = onefold::guarantee::exact})),
               onefold::error);
  count_dispatch(onefold::cuda(0));
}

}  // namespace
}  // namespace onefold_test
