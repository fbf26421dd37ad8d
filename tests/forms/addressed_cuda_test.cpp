/// @file addressed_cuda_test.cpp  Addresses of arrays that kernels ahead of a reduction write, in graphs too; all forms, sizes and alignments; what is refused.

#include <cuda_runtime_api.h>

#include <array>
#include <cstring>
#include <vector>

#include <onefold/batch.hpp>

#include "../support/cuda.hpp"
#include "array_of_a_type.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::array_at;
using onefold::count_at;
using onefold::errc;
using onefold::detail::request;

class an_address_on_the_gpu : public cuda_form_test {
 protected:
  static constexpr std::uint64_t most =
      (std::uint64_t{1} << 22) + 3;  // doubles: twice as many bytes as are read in a batch otherwise

  // Random numbers with zeros among them, in the GPU's memory.
  template <class T>
  static std::vector<T> values(std::uint64_t count, std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<T> all(count);
    for (T& each : all) each = static_cast<T>(static_cast<double>(random.below(2'000'001)) / 1e6 - 1);
    if (count > 10) all[count / 2] = 0;
    return all;
  }
};

struct kind_of_form {
  element_type type;
  form what;
  bool wide;
};

std::vector<kind_of_form> forms_of(element_type type) {
  std::vector<kind_of_form> all;
  for (int what = 0; what < onefold::form_count + onefold::record_count; ++what)
    for (const bool wide : {false, true}) {
      const auto its = static_cast<form>(what);
      if (onefold::takes_type(its, type) && (!wide || onefold::can_be_wide(type, its))) all.push_back({type, its, wide});
    }
  return all;
}

constexpr onefold::operation four[] = {onefold::operation::sum, onefold::operation::prod, onefold::operation::min,
                                       onefold::operation::max};

using result_bits = std::array<std::uint64_t, 4>;

// The bits that a result has, without those between a value and its index.
result_bits result_of(request what, const kind_of_form& of) {
  result_bits bits{};
  what.output = bits.data();
  if (of.what == form::reduce_together) {
    what.results = 4;
    what.operators = four;
  }
  onefold::detail::run(what, {});
  const std::size_t size = onefold::size_of(of.type);
  if (onefold::has_index(of.what) && size < 8) {
    bits[0] &= (std::uint64_t{1} << (8 * size)) - 1;
    bits[2] &= (std::uint64_t{1} << (8 * size)) - 1;
  }
  return bits;
}

std::vector<element_type> all_types() {
  std::vector<element_type> all;
  for (int type = 0; type < onefold::element_type_count; ++type) all.push_back(static_cast<element_type>(type));
  return all;
}

TEST_F(an_address_on_the_gpu, gives_the_bits_of_every_form_type_size_and_alignment_cuda) {
  const device_memory places(2 * sizeof(void*));
  for (const element_type type : all_types()) {
    const array_of_a_type x(type, most + 8, 1), y(type, most + 8, 2);
    const std::size_t size = onefold::size_of(type);
    const std::uint64_t tile = 4096 / size;
    for (const kind_of_form& each : forms_of(type))
      for (const std::uint64_t n :
           {std::uint64_t{1}, std::uint64_t{33}, tile, tile + 1, 16 * tile, 33 * tile - 1, std::uint64_t{100'003}, most})
        for (const auto& [first_x, first_y] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 2}, {3, 1}, {2, 0}}) {
          const std::byte* const at_x = x.on_device() + first_x * size;
          const std::byte* const at_y = y.on_device() + first_y * size;
          const void* const both[] = {at_x, at_y};
          copy_to_device(places.as<void>(), both, sizeof(both));
          request plain{onefold::cuda(), each.type, each.what, at_x, n, nullptr, true};
          plain.wide = each.wide;
          request placed = plain;
          placed.input = nullptr;
          placed.input_at = places.as<const void*>();
          if (each.what == form::dot) {
            plain.second = at_y;
            placed.second_at = places.as<const void*>() + 1;
          }
          if (n <= 33 * tile) {  // else the GPU's own kernels are the faster ones to ask
            plain.where = onefold::serial();
            plain.input = x.on_host() + first_x * size;
            if (each.what == form::dot) plain.second = y.on_host() + first_y * size;
          }
          EXPECT_EQ(result_of(placed, each), result_of(plain, each))
              << onefold::name(each.what) << (each.wide ? " (wide)" : "") << " of " << n << " " << onefold::name(each.type)
              << ", offsets " << first_x << " and " << first_y;
        }
  }
  count_dispatch(onefold::cuda());
}

// Of integers all bits set are a number, and what says that an array could not be read.
TEST_F(an_address_on_the_gpu, whose_array_gives_a_result_with_all_bits_set_is_no_error_cuda) {
  const device_memory memory(64 * sizeof(int)), place(sizeof(void*));
  expect_success(cudaMemset(memory.as<void>(), 0xff, 64 * sizeof(int)), "cudaMemset");
  const void* const data = memory.as<void>();
  copy_to_device(place.as<void>(), &data, sizeof(data));
  const auto where = onefold::cuda();
  const array_at<int> integers{place.as<const int*>()};
  const array_at<signed char> bytes{place.as<const signed char*>()};
  EXPECT_EQ(onefold::sum(where, integers, 1), -1);
  EXPECT_EQ(onefold::max(where, integers, 64), -1);
  EXPECT_EQ(onefold::min(where, bytes, 33), -1);
  int first = 0, second = 0;
  onefold::batch together(where);
  together.add(onefold::sum, integers, 1, &first).add(onefold::max, integers, 64, &second).run();
  EXPECT_EQ(first, -1);
  EXPECT_EQ(second, -1);
  const void* const nowhere = nullptr;
  copy_to_device(place.as<void>(), &nowhere, sizeof(nowhere));
  EXPECT_TRUE(refuses(errc::null_pointer, "address", [&] { static_cast<void>(onefold::sum(where, integers, 1)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "address", [&] { static_cast<void>(onefold::argminmax(where, bytes, 33)); }));
  const void* const crooked = memory.as<std::byte>() + 1;
  copy_to_device(place.as<void>(), &crooked, sizeof(crooked));
  EXPECT_TRUE(refuses(errc::null_pointer, "address", [&] { static_cast<void>(onefold::minmax(where, integers, 5)); }));
  EXPECT_EQ(onefold::sum(where, bytes, 3), -3);
  count_dispatch(onefold::cuda());
}

TEST_F(an_address_on_the_gpu, is_read_at_every_replay_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto x = values<double>(most + 1, 3);
  const device_memory memory(x.size() * sizeof(double)), sources(4 * sizeof(void*)), place(sizeof(void*)), result(sizeof(double));
  copy_to_device(memory.as<void>(), x.data(), x.size() * sizeof(double));
  const double* const base = memory.as<double>();
  for (const std::uint64_t n : {std::uint64_t{700}, std::uint64_t{60'000}, most / 2}) {
    const double* const all[] = {base, base + 1, base + n, base + 3};
    copy_to_device(sources.as<void>(), all, sizeof(all));
    recording graph(on.get());
    onefold::norm2_into(where, array_at{place.as<const double*>()}, n, result.as<double>());
    graph.end();
    for (int again = 0; again < 2; ++again)
      for (std::size_t i = 0; i < std::size(all); ++i) {
        const double found =
            replayed_with(graph, on, place.as<const double*>(), sources.as<const double*>() + i, result.as<const double>());
        const double expected = onefold::norm2(where, all[i], n);
        EXPECT_EQ(std::memcmp(&found, &expected, sizeof(found)), 0) << "array " << i << ", " << n << " elements: " << found;
      }
  }
  count_dispatch(onefold::cuda());
}

// What a solver's iteration of several arrays is: a captured batch, whose arrays and count the GPU knows.
TEST_F(an_address_on_the_gpu, is_read_at_every_replay_of_a_batch_cuda) {
  constexpr std::size_t arrays = 80;  // more than one launch takes
  constexpr std::uint64_t n = 20'011;
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto x = values<float>(2 * arrays + 2 * n, 4);
  const device_memory memory(x.size() * sizeof(float)), places(arrays * sizeof(void*)), turned(arrays * sizeof(void*)),
      results(arrays * sizeof(float)), count(sizeof(std::uint64_t));
  copy_to_device(memory.as<void>(), x.data(), x.size() * sizeof(float));
  std::vector<const float*> forward(arrays), backward(arrays);
  for (std::size_t k = 0; k < arrays; ++k) forward[k] = backward[arrays - 1 - k] = memory.as<float>() + k;
  copy_to_device(turned.as<void>(), backward.data(), arrays * sizeof(void*));
  std::vector<onefold_request> requests;
  for (std::size_t k = 0; k < arrays; ++k) {
    request what{where, element_type::f32, k % 2 == 0 ? form::dot : form::norm_inf, nullptr, n, results.as<float>() + k, false};
    what.input_at = places.as<const void*>() + k;
    if (what.form == form::dot) what.second = memory.as<float>() + n;
    if (k % 3 == 0) what.count_at = count.as<std::uint64_t>();
    requests.push_back(onefold::detail::c_request(what));
  }
  recording graph(on.get());
  onefold::detail::run_batch(requests, {});
  graph.end();
  const std::uint64_t fewer = 700;
  copy_to_device(count.as<void>(), &fewer, sizeof(fewer));
  for (const std::vector<const float*>& now : {forward, backward, forward}) {
    copy_to_device(places.as<void>(), now.data(), arrays * sizeof(void*));
    graph.replay();
    on.synchronize();
    std::vector<float> found(arrays);
    expect_success(cudaMemcpy(found.data(), results.as<void>(), arrays * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (std::size_t k = 0; k < arrays; ++k) {
      const std::uint64_t m = k % 3 == 0 ? fewer : n;
      const float expected =
          k % 2 == 0 ? onefold::dot(where, now[k], memory.as<float>() + n, m) : onefold::norm_inf(where, now[k], m);
      EXPECT_EQ(std::memcmp(&found[k], &expected, sizeof(float)), 0) << "array " << k << ": " << found[k] << ", not " << expected;
    }
  }
  count_dispatch(onefold::cuda());
}

// Whatever stands at the place of the address: also where the result of nothing has all bits set.
TEST_F(an_address_on_the_gpu, is_not_read_where_there_are_no_elements_cuda) {
  const device_memory place(sizeof(void*)), count(sizeof(std::uint64_t));
  const std::uint32_t* const missing = nullptr;
  const std::uint64_t none = 0, one = 1;
  copy_to_device(place.as<void>(), &missing, sizeof(missing));
  copy_to_device(count.as<void>(), &none, sizeof(none));
  const auto where = onefold::cuda();
  const auto smallest = [&] {
    return onefold::min(where, array_at{place.as<const std::uint32_t*>()}, 1000, count_at{count.as<std::uint64_t>()});
  };
  EXPECT_EQ(smallest(), ~std::uint32_t{0});
  EXPECT_EQ(onefold::bit_and(where, array_at{place.as<const std::uint32_t*>()}, 1000, count_at{count.as<std::uint64_t>()}),
            ~std::uint32_t{0});
  std::uint32_t in_a_batch = 0;
  onefold::batch(where)
      .add(onefold::min, array_at{place.as<const std::uint32_t*>()}, 1000, &in_a_batch, count_at{count.as<std::uint64_t>()})
      .run();
  EXPECT_EQ(in_a_batch, ~std::uint32_t{0});
  copy_to_device(count.as<void>(), &one, sizeof(one));
  EXPECT_TRUE(refuses(errc::null_pointer, "null", smallest));
  count_dispatch(where);
}

// Of exact sums the host reads what stands in the GPU's memory, behind what its stream has been given.
TEST_F(an_address_on_the_gpu, and_a_count_are_read_by_the_host_for_exact_sums_cuda) {
  constexpr std::uint64_t limit = 5000;
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto x = values<double>(2 * limit, 6);
  const std::vector<float> floats(x.begin(), x.end());
  const device_memory memory(x.size() * sizeof(double)), of_floats(floats.size() * sizeof(float)), places(3 * sizeof(void*)),
      count(sizeof(std::uint64_t)), result(sizeof(double));
  copy_to_device(memory.as<void>(), x.data(), x.size() * sizeof(double));
  copy_to_device(of_floats.as<void>(), floats.data(), floats.size() * sizeof(float));
  const void* const all[] = {memory.as<double>() + 1, of_floats.as<float>() + 3, nullptr};
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const auto first = array_at{places.as<const double*>()};
  const auto second = array_at{places.as<const float*>() + 1};
  const auto as_complex = array_at{places.as<const std::complex<double>*>()};
  const auto from_memory = count_at{count.as<std::uint64_t>()};
  // Written by the stream that the call is behind.
  expect_success(cudaMemcpyAsync(places.as<void>(), all, sizeof(all), cudaMemcpyHostToDevice, on.get()), "cudaMemcpyAsync");
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{777}, limit, limit + 1}) {
    expect_success(cudaMemcpyAsync(count.as<void>(), &n, sizeof(n), cudaMemcpyHostToDevice, on.get()), "cudaMemcpyAsync");
    const std::uint64_t there = std::min(n, limit);
    const auto same = [](double got, double expected) {
      EXPECT_EQ(std::memcmp(&got, &expected, sizeof(got)), 0) << got << ", not " << expected;
    };
    const double* const host = x.data() + 1;
    same(onefold::sum(where, first, limit, from_memory, exactly), onefold::sum(onefold::serial(), host, there, exactly));
    same(onefold::norm2(where, memory.as<double>() + 1, limit, from_memory, exactly),
         onefold::norm2(onefold::serial(), host, there, exactly));
    on.synchronize();  // best() goes to another stream
    same(onefold::norm2(onefold::best(), memory.as<double>() + 1, limit, from_memory, exactly),
         onefold::norm2(onefold::serial(), host, there, exactly));
    same(onefold::dot(where, first, second, limit, from_memory, exactly),
         onefold::dot(onefold::serial(), host, floats.data() + 3, there, exactly));
    const auto complex = onefold::sum(where, as_complex, limit / 2, from_memory, exactly);
    const auto expected =
        onefold::sum(onefold::serial(), reinterpret_cast<const std::complex<double>*>(host), std::min(n, limit / 2), exactly);
    same(complex.real(), expected.real());
    same(complex.imag(), expected.imag());
  }
  EXPECT_TRUE(refuses(errc::null_pointer, "address",
                      [&] { return onefold::sum(where, array_at{places.as<const double*>() + 2}, limit, exactly); }));
  const double* on_host = nullptr;
  EXPECT_TRUE(refuses(errc::host_pointer, "", [&] { return onefold::sum(where, array_at{&on_host}, limit, exactly); }));
  EXPECT_TRUE(refuses(errc::unsupported, "read it first",
                      [&] { onefold::sum_into(where, first, limit, result.as<double>(), from_memory, exactly); }));
  {
    const recording graph(on.get());
    EXPECT_TRUE(refuses(errc::unsupported, "captured", [&] { return onefold::sum(where, first, limit, exactly); }));
  }
  count_dispatch(where);
}

// The launches' slots are right behind it, whether the array that is missing has one block or many.
TEST_F(an_address_on_the_gpu, that_cannot_be_followed_leaves_the_others_right_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const auto x = values<double>(200'000, 5);
  const device_memory memory(x.size() * sizeof(double)), places(4 * sizeof(void*)),
      results(8 * sizeof(onefold::arg_result<double>));
  copy_to_device(memory.as<void>(), x.data(), x.size() * sizeof(double));
  const double* const all[] = {memory.as<double>() + 1, nullptr, reinterpret_cast<const double*>(memory.as<std::byte>() + 4),
                               memory.as<double>()};
  copy_to_device(places.as<void>(), all, sizeof(all));
  const auto place = [&](int which) { return places.as<const void*>() + which; };
  std::vector<onefold_request> requests;
  std::vector<int> arrays;
  for (const std::uint64_t n : {std::uint64_t{150'000}, std::uint64_t{100}})
    for (int k = 0; k < 4; ++k) {
      request what{where, element_type::f64, form::argmax, nullptr, n, results.as<onefold::arg_result<double>>() + requests.size(),
                   false};
      what.input_at = place(k);
      requests.push_back(onefold::detail::c_request(what));
      arrays.push_back(k);
    }
  const auto expect_right = [&](const char* how) {
    on.synchronize();
    std::vector<onefold::arg_result<double>> found(requests.size());
    expect_success(cudaMemcpy(found.data(), results.as<void>(), found.size() * sizeof(found[0]), cudaMemcpyDeviceToHost),
                   "cudaMemcpy");
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &found[i].value, sizeof(bits));
      if (arrays[i] == 1 || arrays[i] == 2) {
        EXPECT_EQ(bits, ~std::uint64_t{0}) << how << ", array " << i;
        EXPECT_EQ(found[i].index, ~std::uint64_t{0}) << how << ", array " << i;
      } else {
        const auto expected = onefold::argmax(where, all[arrays[i]], requests[i].count);
        EXPECT_EQ(found[i].value, expected.value) << how << ", array " << i;
        EXPECT_EQ(found[i].index, expected.index) << how << ", array " << i;
      }
    }
    expect_success(cudaMemset(results.as<void>(), 0, 8 * sizeof(found[0])), "cudaMemset");
    expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  };
  for (int again = 0; again < 3; ++again) {
    onefold::detail::run_batch(requests, {});
    expect_right("a batch");
  }
  recording graph(on.get());
  onefold::detail::run_batch(requests, {});
  graph.end();
  for (int again = 0; again < 3; ++again) {
    graph.replay();
    expect_right("a graph");
  }
  count_dispatch(onefold::cuda());
}

TEST_F(an_address_on_the_gpu, is_refused_where_no_kernel_reads_it_cuda) {
  const device_memory memory(1024), places(sizeof(void*));
  const void* const data = memory.as<void>();
  copy_to_device(places.as<void>(), &data, sizeof(data));
  const auto where = onefold::cuda();
  const array_at<float> floats{places.as<const float*>()};
  EXPECT_TRUE(refuses(errc::unsupported, "address",
                      [&] { static_cast<void>(onefold::sum(where, floats, 16, {.variant = "vector_load"})); }));
  EXPECT_TRUE(
      refuses(errc::unsupported, "address", [&] { static_cast<void>(onefold::sum(where, floats, 16, {.block_size = 64})); }));
  EXPECT_TRUE(refuses(errc::unsupported, "address", [&] {
    onefold::sum_into(where, floats, 16, memory.as<float>() + 64, {.guarantee = onefold::guarantee::exact});
  }));
  const float* const on_host = memory.as<float>();  // the place is the host's
  EXPECT_TRUE(
      refuses(errc::host_pointer, "address of the input", [&] { static_cast<void>(onefold::sum(where, array_at{&on_host}, 16)); }));
  EXPECT_TRUE(
      refuses(errc::device_pointer, "input", [&] { static_cast<void>(onefold::sum(onefold::serial(), array_at{&on_host}, 16)); }));
  EXPECT_TRUE(refuses(errc::device_pointer, "address of the input",
                      [&] { static_cast<void>(onefold::sum(onefold::serial(), floats, 16)); }));
  const std::vector<float> pageable(16);
  EXPECT_TRUE(refuses(errc::host_pointer, "address", [&] { static_cast<void>(onefold::dot(where, pageable.data(), floats, 16)); }));
  count_dispatch(onefold::cuda());
}

}  // namespace
}  // namespace onefold_test
