/// @file host_arrays_cuda_test.cpp  Arrays of host memory on a GPU, of every kind of host memory, around the borders of pieces: the bits of
/// serial(). What the host does of it needs no GPU: faults/host_arrays_test.cpp.

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <onefold/detail/request.hpp>
#include <onefold/multi_dot.hpp>

#include "../support/cuda.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::errc;
using onefold::detail::request;

constexpr std::size_t piece = std::size_t{1} << 16;

class pieces_of {
 public:
  explicit pieces_of(std::size_t bytes) { setenv("ONEFOLD_CUDA_PIECE_BYTES", std::to_string(bytes).c_str(), 1); }
  ~pieces_of() { unsetenv("ONEFOLD_CUDA_PIECE_BYTES"); }
  pieces_of(const pieces_of&) = delete;
  pieces_of& operator=(const pieces_of&) = delete;
};

class host_arrays : public cuda_form_test {
 protected:
  static std::array<std::byte, 128> result_of(request asked, const onefold::options& how = {}) {
    alignas(64) std::array<std::byte, 128> result{};
    asked.output = result.data();
    onefold::detail::run(asked, how);
    if (has_index(asked.form))  // behind a small value there are bytes that say nothing
      for (std::size_t at = 0; at < onefold::result_bytes(asked.type, asked.form, false); at += 2 * sizeof(std::uint64_t))
        std::fill(result.begin() + static_cast<std::ptrdiff_t>(at + size_of(asked.type)),
                  result.begin() + static_cast<std::ptrdiff_t>(at + sizeof(std::uint64_t)), std::byte{});
    return result;
  }
  static void expect_the_bits_of_serial(request asked, const onefold::options& how = {}) {
    asked.where = onefold::cuda();
    asked.waits = true;
    const auto found = result_of(asked, how);
    asked.where = onefold::serial();
    EXPECT_EQ(found, result_of(asked, how)) << name(asked.form) << " of " << asked.count << " " << name(asked.type)
                                            << (asked.wide ? ", wide" : "");
  }
};

// Calls each(type, form, wide) for all that cuda() puts together from pieces.
template <class Each>
void for_each_kind(const Each& each) {
  for (int t = 0; t < onefold::element_type_count; ++t)
    for (int f = 0; f < onefold::form_count + onefold::record_count; ++f)
      for (const bool wide : {false, true}) {
        const auto type = static_cast<element_type>(t);
        const auto what = static_cast<form>(f);
        if (what == form::reduce_together || !takes_type(what, type) || (wide && !can_be_wide(type, what))) continue;
        each(type, what, wide);
      }
}

TEST_F(host_arrays, have_the_bits_of_serial_in_every_form_cuda) {
  const pieces_of bytes(piece);
  const random_numbers random(current_seed());
  constexpr std::size_t most = 6 * piece;
  const device_memory there(most + 64);
  void* pinned = nullptr;
  expect_success(cudaMallocHost(&pinned, 2 * most), "cudaMallocHost");
  const std::unique_ptr<void, decltype(&cudaFreeHost)> keeper(pinned, cudaFreeHost);
  std::vector<std::uint64_t> pageable(2 * most / 8);
  for (std::size_t i = 0; i < pageable.size(); ++i) pageable[i] = random.at(i);
  std::memcpy(pinned, pageable.data(), 2 * most);
  copy_to_device(there.as<void>(), static_cast<std::byte*>(pinned) + most, most);
  for_each_kind([&](element_type type, form what, bool wide) {
    const std::size_t size = onefold::size_of(type);
    const std::uint64_t elements = piece / size / (what == form::dot ? 2 : 1);
    for (const std::uint64_t count : {std::uint64_t{1}, elements - 1, elements, elements + 1, 2 * elements, 5 * elements + 77}) {
      for (const std::byte* x : {reinterpret_cast<const std::byte*>(pageable.data()), static_cast<const std::byte*>(pinned)})
        for (const std::size_t off : {std::size_t{0}, size})
          expect_the_bits_of_serial({onefold::serial(), type, what, x + off, count, nullptr, true, x + most + off, wide});
      if (what != form::dot) continue;
      const auto* const x = reinterpret_cast<const std::byte*>(pageable.data());
      request asked{onefold::cuda(), type, what, x, count, nullptr, true, there.as<std::byte>() + size, wide};
      const auto found = result_of(asked);
      asked.where = onefold::serial();
      asked.second = x + most + size;
      EXPECT_EQ(found, result_of(asked)) << "with the second array on the GPU";
    }
  });
  count_dispatch(onefold::cuda());
}

TEST_F(host_arrays, of_several_vectors_have_their_dots_cuda) {
  const pieces_of bytes(piece);
  constexpr std::size_t count = 100'003;
  std::vector<float> x(5 * count);
  const random_numbers random(current_seed());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25);
  const device_memory there(count * sizeof(float));
  copy_to_device(there.as<void>(), x.data(), count * sizeof(float));
  const auto vector = [&](std::size_t k) { return onefold::vector_view<float>(x.data() + k * count, count); };
  const auto dots = [&](const onefold::executor& where, const onefold::vector_view<float>& first) {
    return onefold::multi_dot(where, {first, vector(1)}, {vector(2), vector(3), vector(4)});
  };
  const auto expected = dots(onefold::serial(), vector(0));
  EXPECT_EQ(dots(onefold::cuda(), vector(0)), expected);
  EXPECT_EQ(dots(onefold::cuda(), {there.as<float>(), count}), expected) << "one of them on the GPU";
  count_dispatch(onefold::cuda());
}

TEST_F(host_arrays, of_many_pieces_are_copied_and_reduced_in_order_cuda) {
  const pieces_of bytes(std::size_t{8} << 10);  // copies and kernels of a few us, three buffers
  std::vector<double> x(3'000'001);
  const random_numbers random(current_seed());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  expect_success(cudaHostRegister(x.data(), x.size() * 8, cudaHostRegisterDefault), "cudaHostRegister");
  for (int again = 0; again < 3; ++again) {
    expect_the_bits_of_serial({onefold::serial(), element_type::f64, form::sum, x.data(), x.size(), nullptr, true});
    expect_the_bits_of_serial({onefold::serial(), element_type::f64, form::mean_variance, x.data(), x.size(), nullptr, true});
    expect_the_bits_of_serial({onefold::serial(), element_type::f64, form::argmin_magnitude, x.data(), x.size(), nullptr, true});
  }
  expect_success(cudaHostUnregister(x.data()), "cudaHostUnregister");
  expect_the_bits_of_serial({onefold::serial(), element_type::f64, form::sum, x.data(), x.size(), nullptr, true});
  count_dispatch(onefold::cuda());
}

TEST_F(host_arrays, of_the_usual_pieces_may_be_files_cuda) {
  constexpr std::size_t count = 30'000'019;
  std::vector<float> x(count);
  const random_numbers random(current_seed());
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25);
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(x.data(), sizeof(float), count, file), count);
  std::fflush(file);
  void* const mapped = mmap(nullptr, count * sizeof(float), PROT_READ, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  for (const form what : {form::sum, form::dot, form::argmax, form::minmax, form::norm2})
    expect_the_bits_of_serial({onefold::serial(), element_type::f32, what, mapped, count, nullptr, true, x.data()});
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  for (const form what : {form::sum, form::dot, form::mean_variance})
    expect_the_bits_of_serial({onefold::serial(), element_type::f32, what, mapped, count, nullptr, true, x.data()}, exactly);
  munmap(mapped, count * sizeof(float));
  std::fclose(file);
  const auto held = onefold::memory_in_use(onefold::cuda());
  EXPECT_GE(held.device_bytes, std::size_t{96} << 20);
  onefold::release_memory(onefold::cuda());
  EXPECT_LT(onefold::memory_in_use(onefold::cuda()).device_bytes, std::size_t{96} << 20);
  count_dispatch(onefold::cuda());
}

// What the stream does before the call may write the array: copies to pinned memory, and functions of the host's.
TEST_F(host_arrays, are_read_behind_the_work_ahead_on_the_stream_cuda) {
  const pieces_of bytes(piece);
  constexpr std::size_t count = 1'000'003;
  const stream own;
  std::vector<double> pageable(count, 0.0);
  double* pinned = nullptr;
  expect_success(cudaMallocHost(reinterpret_cast<void**>(&pinned), count * sizeof(double)), "cudaMallocHost");
  const std::vector<double> ones(count, 1.0);
  const device_memory there(count * sizeof(double));
  copy_to_device(there.as<void>(), ones.data(), count * sizeof(double));
  for (const cudaStream_t on : {own.get(), cudaStreamLegacy}) {
    const auto where = on == cudaStreamLegacy ? onefold::cuda() : onefold::cuda(0, on);
    std::fill(pageable.begin(), pageable.end(), 0.0);
    std::memset(pinned, 0, count * sizeof(double));
    const auto fill = [](void* to) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      auto& array = *static_cast<std::vector<double>*>(to);
      std::fill(array.begin(), array.end(), 1.0);
    };
    expect_success(cudaLaunchHostFunc(on, fill, &pageable), "cudaLaunchHostFunc");
    EXPECT_EQ(onefold::sum(where, pageable), static_cast<double>(count));
    expect_success(cudaMemcpyAsync(pinned, there.as<void>(), count * sizeof(double), cudaMemcpyDeviceToHost, on),
                   "cudaMemcpyAsync");
    EXPECT_EQ(onefold::sum(where, static_cast<const double*>(pinned), count), static_cast<double>(count));
  }
  cudaFreeHost(pinned);
  count_dispatch(onefold::cuda());
}

TEST_F(host_arrays, of_several_threads_do_not_disturb_each_other_cuda) {
  const pieces_of bytes(piece);
  constexpr std::size_t threads = 4, count = 700'001;
  std::vector<std::vector<float>> x;
  std::vector<float> expected;
  for (std::size_t k = 0; k < threads; ++k) {
    const random_numbers random(current_seed() + k);
    auto& array = x.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) array[i] = static_cast<float>(random.at(i) >> 40) * 0x1p-24F - 0.25F;
    expected.push_back(onefold::sum(onefold::serial(), array));
  }
  const stream shared;
  on_host_threads(threads, [&](std::size_t k) -> std::string {
    const stream own;
    for (int again = 0; again < 20; ++again)
      for (const cudaStream_t on : {own.get(), shared.get()})
        if (onefold::sum(onefold::cuda(0, on), x[k]) != expected[k]) return "a wrong sum";
    return {};
  });
  count_dispatch(onefold::cuda());
}

TEST_F(host_arrays, may_have_several_results_and_states_and_be_stored_cuda) {
  const pieces_of bytes(piece);
  std::vector<int> whole(300'007);
  std::vector<double> x(whole.size());
  const random_numbers random(current_seed());
  for (std::size_t i = 0; i < x.size(); ++i) {
    whole[i] = static_cast<int>(random.at(i));
    x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  }
  using onefold::reduce_together;
  namespace op = onefold::op;
  EXPECT_EQ(reduce_together(onefold::cuda(), x, op::sum{}, op::min{}, op::max{}),
            reduce_together(onefold::serial(), x, op::sum{}, op::min{}, op::max{}));
  EXPECT_EQ(reduce_together(onefold::cuda(), whole, op::max{}, op::sum{}),
            reduce_together(onefold::serial(), whole, op::max{}, op::sum{}));
  onefold::range_state<form::sum, double> there(100), here(100);
  there.add(onefold::cuda(), x);
  here.add(onefold::serial(), x);
  EXPECT_EQ(there.bytes(), here.bytes());
  const stream on;
  const device_memory result(sizeof(double));
  const auto where = onefold::cuda(0, on.get());
  onefold::sum_into(where, x.data(), x.size(), result.as<double>());
  double stored = 0;
  expect_success(cudaMemcpyAsync(&stored, result.as<void>(), sizeof(stored), cudaMemcpyDeviceToHost, on.get()), "cudaMemcpyAsync");
  on.synchronize();
  EXPECT_EQ(stored, onefold::sum(onefold::serial(), x));
  onefold::workspace own(where, x.size());
  EXPECT_EQ(onefold::sum(where, x, {.workspace = &own}), stored);
  count_dispatch(onefold::cuda());
}

TEST_F(host_arrays, are_refused_while_the_stream_is_captured_cuda) {
  const std::vector<double> x(100, 1.0);
  const stream on;
  const device_memory result(sizeof(double));
  const auto where = onefold::cuda(0, on.get());
  recording graph(on.get());
  EXPECT_TRUE(
      refuses(errc::unsupported, "cudaMallocHost", [&] { onefold::sum_into(where, x.data(), x.size(), result.as<double>()); }));
  EXPECT_NO_THROW(graph.end()) << "the capture was spoilt";
  EXPECT_EQ(onefold::sum(where, x), 100.0);
  count_dispatch(onefold::cuda());
}

// An array of more bytes than the GPU has, of which the system needs to hold few: pages that nobody has written are one page of zeros.
TEST_F(host_arrays, may_be_larger_than_the_gpu_cuda) {
  const char* const wanted = std::getenv("ONEFOLD_TEST_LARGE");
  if (wanted == nullptr || std::string(wanted) != "1") GTEST_SKIP() << "ONEFOLD_TEST_LARGE=1 turns the large tests on";
  std::size_t free_bytes = 0, all_bytes = 0;
  expect_success(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  const std::size_t bytes = all_bytes / 8 * 8 + (std::size_t{1} << 30), count = bytes / 8;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << bytes << " bytes of addresses could not be had";
  madvise(memory, bytes, MADV_NOHUGEPAGE);  // for zeros of a huge page would be many
  auto* const x = static_cast<std::uint64_t*>(memory);
  std::uint64_t expected = 0;
  const random_numbers random(current_seed());
  for (std::size_t k = 0; k < 1000; ++k) {
    const std::size_t i = k == 0 ? 0 : k == 1 ? count - 1 : random.at(k) % count;
    expected += k + 1 - x[i];
    x[i] = k + 1;
  }
  EXPECT_EQ(onefold::sum(onefold::cuda(), x, count), expected);
  EXPECT_LT(onefold::memory_in_use(onefold::cuda()).device_bytes, std::size_t{128} << 20);
  munmap(memory, bytes);
  count_dispatch(onefold::cuda());
}

}  // namespace
}  // namespace onefold_test
