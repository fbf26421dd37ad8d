/// @file complex_cuda_test.cpp  Complex numbers on a GPU, in the forms whose states are none: with a stream and working memory of the caller's own, recorded
/// into a graph, from C, as states of ranges, and what is refused.

#include <cuda_runtime_api.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <onefold/batch.hpp>
#include <onefold/range_state.hpp>

#include "../support/cuda.hpp"
#include "array_of_a_type.hpp"
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
  const auto expect_wide = [&]<form What>(std::integral_constant<form, What>) {
    onefold::range_state<What, c64, std::complex<double>> on_gpu(77), on_cpu(77);
    on_gpu.add(onefold::cuda(0), z, count);
    on_cpu.add(onefold::serial(), x.data(), count);
    EXPECT_EQ(on_gpu.bytes(), on_cpu.bytes()) << "wide " << name(What);
  };
  expect_wide(std::integral_constant<form, form::sum>());
  expect_wide(std::integral_constant<form, form::mean>());
  expect_wide(std::integral_constant<form, form::prod>());
  expect_wide(std::integral_constant<form, form::norm1>());
  expect_wide(std::integral_constant<form, form::norm2>());
  expect_wide(std::integral_constant<form, form::mean_variance>());
  count_dispatch(onefold::cuda(0));
}

constexpr element_type complex_types[] = {element_type::c64, element_type::c128};

struct kind_of_form {
  form what;
  bool wide;  // c64 accumulated in c128
};
std::vector<kind_of_form> forms_of(element_type type) {
  std::vector<kind_of_form> all;
  for (int i = 0; i < onefold::form_count + onefold::record_count; ++i) {
    const auto what = static_cast<form>(i);
    if (onefold::takes_type(what, type)) all.push_back({what, false});
    if (onefold::takes_type(what, type) && onefold::can_be_wide(type, what)) all.push_back({what, true});
  }
  return all;
}

using result_bits = std::array<std::uint64_t, 4>;

template <class R>
std::vector<unsigned char> bytes_of(const R& result) {
  std::vector<unsigned char> all(sizeof(result));
  std::memcpy(all.data(), static_cast<const void*>(&result), sizeof(result));
  return all;
}

class complex_in_memory : public cuda_form_test {
 protected:
  static constexpr std::uint64_t most = (std::uint64_t{1} << 20) + 3;  // of c128 as many bytes as are read in a batch otherwise

  static onefold::detail::request request_of(element_type type, const kind_of_form& of, const void* x, const void* y,
                                             std::uint64_t n) {
    onefold::detail::request made{onefold::serial(), type, of.what, x, n, nullptr, true};
    made.wide = of.wide;
    if (of.what == form::dot) made.second = y;
    if (of.what == form::mean_variance) made.ddof = n > 1 ? 1 : 0;
    return made;
  }
  static result_bits result_of(onefold::detail::request what) {
    result_bits bits{};
    what.output = bits.data();
    onefold::detail::run(what, {});
    return bits;
  }
  // The same of cuda(), where arrays' addresses, and the count, stand in memory.
  static onefold::detail::request in_memory(onefold::detail::request what, const device_memory& places,
                                            const std::uint64_t* count) {
    what.where = onefold::cuda();
    what.input = nullptr;
    what.input_at = places.as<const void*>();
    if (what.form == form::dot) {
      what.second = nullptr;
      what.second_at = places.as<const void*>() + 1;
    }
    what.count = most;
    what.count_at = count;
    return what;
  }
};

TEST_F(complex_in_memory, have_the_bits_of_every_form_count_and_alignment_cuda) {
  const device_memory places(2 * sizeof(void*)), count(sizeof(std::uint64_t));
  for (const element_type type : complex_types) {
    const array_of_a_type x(type, most + 8, 1), y(type, most + 8, 2);
    const std::size_t part = onefold::size_of(type) / 2;
    for (const kind_of_form& of : forms_of(type))
      for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{33}, std::uint64_t{512},
                                    std::uint64_t{16'385}, std::uint64_t{100'003}, most})
        for (const auto& [first_x, first_y] : {std::pair<std::size_t, std::size_t>{0, 0}, {2, 4}, {1, 2}}) {
          const void* const both[] = {x.on_device() + first_x * part, y.on_device() + first_y * part};
          copy_to_device(places.as<void>(), both, sizeof(both));
          copy_to_device(count.as<void>(), &n, sizeof(n));
          const auto plain = request_of(type, of, x.on_host() + first_x * part, y.on_host() + first_y * part, n);
          EXPECT_EQ(result_of(in_memory(plain, places, count.as<std::uint64_t>())), result_of(plain))
              << onefold::name(of.what) << (of.wide ? " in c128 of " : " of ") << n << " " << onefold::name(type) << ", offsets "
              << first_x << " and " << first_y;
        }
  }
  count_dispatch(onefold::cuda());
}

TEST_F(complex_in_memory, are_read_at_every_replay_of_a_graph_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const array_of_a_type x(element_type::c64, most, 3), y(element_type::c64, most, 4);
  const device_memory place(sizeof(void*)), count(sizeof(std::uint64_t)), result(sizeof(c64));
  recording graph(on.get());
  onefold::sum_into(where, onefold::array_at<c64>{place.as<const c64*>()}, most, result.as<c64>(),
                    onefold::count_at{count.as<std::uint64_t>()});
  graph.end();
  for (const std::uint64_t n : {std::uint64_t{5}, most, std::uint64_t{70'001}})
    for (const array_of_a_type* each : {&x, &y}) {
      const void* const array = each->on_device();
      copy_to_device(place.as<void>(), &array, sizeof(array));
      copy_to_device(count.as<void>(), &n, sizeof(n));
      expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      graph.replay();
      on.synchronize();
      c64 found;
      expect_success(cudaMemcpy(static_cast<void*>(&found), result.as<void>(), sizeof(found), cudaMemcpyDeviceToHost),
                     "cudaMemcpy");
      EXPECT_EQ(bytes_of(found), bytes_of(onefold::sum(onefold::serial(), reinterpret_cast<const c64*>(each->on_host()), n))) << n;
    }
  count_dispatch(onefold::cuda());
}

// What the host has is copied piece by piece, from anywhere: the bits are those of the whole.
TEST_F(complex_in_memory, of_the_hosts_comes_in_pieces_cuda) {
  constexpr std::uint64_t piece = 1 << 16;
  setenv("ONEFOLD_CUDA_PIECE_BYTES", std::to_string(piece).c_str(), 1);
  const stream on;
  const device_memory result(sizeof(result_bits));
  for (const element_type type : complex_types) {
    const std::size_t size = onefold::size_of(type), part = size / 2;
    const array_of_a_type x(type, 6 * piece / size + 8, 11), y(type, 6 * piece / size + 8, 12);
    void* pinned = nullptr;
    expect_success(cudaMallocHost(&pinned, 7 * piece), "cudaMallocHost");
    const std::unique_ptr<void, decltype(&cudaFreeHost)> keeper(pinned, cudaFreeHost);
    std::memcpy(pinned, x.on_host(), 6 * piece);
    for (const kind_of_form& of : forms_of(type)) {
      const std::uint64_t elements = piece / size / (of.what == form::dot ? 2 : 1);
      for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{513}, elements - 1, elements, elements + 1,
                                    2 * elements, 5 * elements - 77})
        for (const std::size_t off : {std::size_t{0}, part, size}) {
          SCOPED_TRACE(std::string(onefold::name(of.what)) + (of.wide ? " in c128 of " : " of ") + std::to_string(n) + " " +
                       std::string(onefold::name(type)) + ", from byte " + std::to_string(off) + " on");
          const std::byte* const from_y = y.on_host() + off;
          auto asked = request_of(type, of, x.on_host() + off, from_y, n);
          const result_bits expected = result_of(asked);
          asked.where = onefold::cuda(0, on.get());
          EXPECT_EQ(result_of(asked), expected);
          if (n <= 5 * elements) {
            asked.input = static_cast<std::byte*>(pinned) + off;
            EXPECT_EQ(result_of(asked), expected) << "pinned";
            if (of.what == form::dot) {
              asked.second = y.on_device() + off;
              EXPECT_EQ(result_of(asked), expected) << "pinned, the second on the device";
            }
          }
          asked.input = x.on_host() + off;
          asked.waits = false;
          asked.output = result.as<void>();
          expect_success(cudaMemset(result.as<void>(), 0, sizeof(result_bits)), "cudaMemset");
          onefold::detail::run(asked, {});
          on.synchronize();
          result_bits stored{};
          expect_success(cudaMemcpy(stored.data(), result.as<void>(), sizeof(stored), cudaMemcpyDeviceToHost), "cudaMemcpy");
          EXPECT_EQ(stored, expected) << "stored";
        }
    }
  }
  unsetenv("ONEFOLD_CUDA_PIECE_BYTES");
  count_dispatch(onefold::cuda());
}

// Of what the host has: counts where exactness was asked for, states of ranges, several GPUs (one, here), and parts of a batch.
TEST_F(complex_in_memory, of_the_hosts_goes_wherever_real_numbers_go_cuda) {
  setenv("ONEFOLD_CUDA_PIECE_BYTES", "16384", 1);
  constexpr std::size_t count = 50'021;
  const array_of_a_type of_x(element_type::c64, count, 13);
  const auto* const x = reinterpret_cast<const c64*>(of_x.on_host());
  const onefold::options exactly{.guarantee = onefold::guarantee::exact};
  EXPECT_EQ(onefold::count(onefold::cuda(), x, count, exactly), onefold::count(onefold::serial(), x, count));
  EXPECT_EQ(onefold::any(onefold::cuda(), x, count, exactly), true);
  const auto expect_state = [&]<form What>(std::integral_constant<form, What>) {
    onefold::range_state<What, c64> on_gpu(77), on_cpu(77);
    on_gpu.add(onefold::cuda(), x, count);
    on_cpu.add(onefold::serial(), x, count);
    EXPECT_EQ(on_gpu.bytes(), on_cpu.bytes()) << name(What);
  };
  expect_state(std::integral_constant<form, form::sum>());
  expect_state(std::integral_constant<form, form::mean>());
  expect_state(std::integral_constant<form, form::prod>());
  expect_state(std::integral_constant<form, form::norm_inf>());
  expect_state(std::integral_constant<form, form::mean_variance>());
  expect_state(std::integral_constant<form, form::none>());
  c64 of_sum;
  double of_norm = 0;
  moments of_moments{};
  onefold::batch several(onefold::cuda());
  several.add(onefold::sum, x, count, &of_sum);
  several.add(onefold::norm1, x, count, &of_norm, onefold::accumulate_as<std::complex<double>>);
  several.add(onefold::mean_variance, x, count, &of_moments, onefold::ddof{1});
  several.run();
  EXPECT_EQ(bytes_of(of_sum), bytes_of(onefold::sum(onefold::serial(), x, count)));
  EXPECT_EQ(of_norm, onefold::norm1(onefold::serial(), x, count, onefold::accumulate_as<std::complex<double>>));
  EXPECT_EQ(bytes_of(of_moments), bytes_of(onefold::mean_variance(onefold::serial(), x, count, onefold::ddof{1})));
  unsetenv("ONEFOLD_CUDA_PIECE_BYTES");
  count_dispatch(onefold::cuda());
}

// Every form of both types, and of c64 in c128, beside real numbers, some in memory, some of the host's, more than a launch takes.
TEST_F(complex_in_memory, are_a_launch_of_a_batch_cuda) {
  const array_of_a_type c64s(element_type::c64, 50'000, 5), c128s(element_type::c128, 50'000, 6);
  const device_memory places(4 * sizeof(void*)), count(sizeof(std::uint64_t));
  const void* const arrays[] = {c64s.on_device(), c64s.on_device(), c128s.on_device(), c128s.on_device()};
  const std::uint64_t fewer = 20'001;
  copy_to_device(places.as<void>(), arrays, sizeof(arrays));
  copy_to_device(count.as<void>(), &fewer, sizeof(fewer));
  std::vector<onefold_request> requests;
  std::vector<result_bits> expected, found(128);
  for (int kind = 0; kind < 3; ++kind)
    for (const element_type type : complex_types) {
      const array_of_a_type& z = type == element_type::c64 ? c64s : c128s;
      const void* const* const place = places.as<const void*>() + (type == element_type::c64 ? 0 : 2);
      for (const kind_of_form& of : forms_of(type)) {
        const std::uint64_t n = kind == 2 ? fewer : 50'000 - requests.size();
        expected.push_back(result_of(request_of(type, of, z.on_host(), z.on_host(), n)));
        auto asked = request_of(type, of, z.on_device(), z.on_device(), n);
        asked.where = onefold::cuda();
        asked.output = found[requests.size()].data();
        if (kind > 0) {
          asked.input = nullptr;
          asked.input_at = place;
        }
        if (kind == 2) {
          asked.count = 50'000;
          asked.count_at = count.as<std::uint64_t>();
        }
        requests.push_back(onefold::detail::c_request(asked));
      }
    }
  found.resize(requests.size());
  float real = 0;
  onefold::detail::request among{onefold::cuda(), element_type::f32, form::norm1, c64s.on_device(), 100'000, &real, true};
  requests.insert(requests.begin() + 5, onefold::detail::c_request(among));
  onefold::report ran;
  onefold::detail::run_batch(requests, {.report = &ran});
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]) << "request " << i;
  EXPECT_EQ(real, onefold::norm1(onefold::serial(), reinterpret_cast<const float*>(c64s.on_host()), 100'000));
  EXPECT_EQ(ran.variant, "fixed_order");
  count_dispatch(onefold::cuda());
}

TEST_F(complex_in_memory, that_cannot_be_followed_are_null_pointers_cuda) {
  const array_of_a_type x(element_type::c128, 1000, 7);
  const device_memory place(sizeof(void*));
  const auto where = onefold::cuda();
  const onefold::array_at<std::complex<double>> at{place.as<const std::complex<double>*>()};
  const auto put = [&](const void* address) { copy_to_device(place.as<void>(), &address, sizeof(address)); };
  for (const void* const bad : {static_cast<const void*>(nullptr), static_cast<const void*>(x.on_device() + 4)}) {
    put(bad);
    EXPECT_TRUE(refuses(onefold::errc::null_pointer, "address", [&] { static_cast<void>(onefold::sum(where, at, 1000)); }));
    EXPECT_TRUE(refuses(onefold::errc::null_pointer, "address", [&] { static_cast<void>(onefold::norm2(where, at, 1000)); }));
    EXPECT_TRUE(refuses(onefold::errc::null_pointer, "address", [&] { static_cast<void>(onefold::count(where, at, 1000)); }));
    EXPECT_TRUE(
        refuses(onefold::errc::null_pointer, "address", [&] { static_cast<void>(onefold::mean_variance(where, at, 1000)); }));
  }
  put(x.on_device() + 8);  // as its parts are aligned
  EXPECT_NO_THROW(static_cast<void>(onefold::sum(where, at, 999)));
  count_dispatch(onefold::cuda());
}

TEST_F(complex_in_memory, are_refused_where_no_kernel_reads_them_cuda) {
  const array_of_a_type x(element_type::c64, 16, 8);
  const device_memory place(sizeof(void*)), count(sizeof(std::uint64_t));
  const void* const array = x.on_device();
  const std::uint64_t n = 3;
  copy_to_device(place.as<void>(), &array, sizeof(array));
  copy_to_device(count.as<void>(), &n, sizeof(n));
  const auto where = onefold::cuda();
  const onefold::array_at<c64> at{place.as<const c64*>()};
  const onefold::count_at counted{count.as<std::uint64_t>()};
  EXPECT_TRUE(
      refuses(onefold::errc::unsupported, "launch", [&] { static_cast<void>(onefold::sum(where, at, 16, {.block_size = 64})); }));
  const device_memory result(sizeof(c64));
  EXPECT_TRUE(refuses(onefold::errc::unsupported, "exact",
                      [&] { onefold::sum_into(where, at, 16, result.as<c64>(), {.guarantee = onefold::guarantee::exact}); }));
  EXPECT_EQ(onefold::sum(where, at, 0, onefold::accumulate_as<std::complex<double>>), std::complex<double>());
  const std::vector<c64> pageable(16);
  EXPECT_TRUE(
      refuses(onefold::errc::host_pointer, "host", [&] { static_cast<void>(onefold::sum(where, pageable.data(), 16, counted)); }));
  EXPECT_TRUE(refuses(onefold::errc::device_pointer, "GPU", [&] { static_cast<void>(onefold::sum(onefold::serial(), at, 16)); }));
  EXPECT_EQ(onefold::sum(onefold::best(), at, 0), c64());
  EXPECT_EQ(bytes_of(onefold::sum(onefold::best(), at, 16, counted)),
            bytes_of(onefold::sum(onefold::serial(), reinterpret_cast<const c64*>(x.on_host()), 3)));
  count_dispatch(where);
}

}  // namespace
}  // namespace onefold_test
