/// @file host_arrays_test.cpp  Arrays of host memory on cuda(): every byte is copied once, ahead of its reduction and never onto what is still
/// being read; the bits are those of serial(). On a device that is not there (slow_device.hpp).

#include <gtest/gtest.h>

#include <cfenv>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <onefold/detail/pieces.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/onefold.hpp>

#include "../../backends/cuda/runtime.hpp"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "../support/kinds.hpp"
#include "fake_runtime.hpp"
#include "slow_device.hpp"

namespace onefold_test {
namespace {

using onefold::element_type;
using onefold::errc;
using onefold::form;
using onefold::detail::request;

constexpr std::size_t piece = 16384;  // bytes: four tiles, or two of each of two arrays
constexpr std::size_t tile = 4096;

// Sets the size of pieces for the time of a test.
class piece_size {
 public:
  explicit piece_size(const char* bytes) { setenv("ONEFOLD_CUDA_PIECE_BYTES", bytes, 1); }
  ~piece_size() { unsetenv("ONEFOLD_CUDA_PIECE_BYTES"); }
  piece_size(const piece_size&) = delete;
  piece_size& operator=(const piece_size&) = delete;
};

std::vector<std::byte> any_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::byte> all(count);
  const random_numbers random(seed);
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint64_t bits = random.at(i);
    std::memcpy(all.data() + i, &bits, std::min<std::size_t>(8, count - i));
  }
  return all;
}

// Numbers of moderate size, whose sums round at every step; of integers any.
std::vector<std::byte> numbers(element_type type, std::size_t count, std::uint64_t seed) {
  std::vector<std::byte> all = any_bytes(count * onefold::size_of(type), seed);
  if (!onefold::is_float(type)) return all;
  const random_numbers random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
    const auto put = [&](auto of_type) { std::memcpy(all.data() + i * sizeof(of_type), &of_type, sizeof(of_type)); };
    if (type == element_type::f64) put(value);
    if (type == element_type::f32) put(static_cast<float>(value));
    if (type == element_type::f16) put(onefold::float16(static_cast<float>(value)));
    if (type == element_type::bf16) put(onefold::bfloat16(static_cast<float>(value)));
  }
  return all;
}

using result_bytes = std::array<std::byte, 128>;

result_bytes result_of(request asked, const onefold::options& how = {}) {
  alignas(64) result_bytes result{};
  asked.output = result.data();
  onefold::detail::run(asked, how);
  return result;
}

class host_arrays : public testing::TestWithParam<slow_device::copies> {
 protected:
  [[nodiscard]] slow_device& device() { return slow_; }

  // The result on the device beside serial()'s.
  void expect_the_bits_of_serial(const kind& of, const void* x, const void* y, std::uint64_t count) {
    SCOPED_TRACE(std::to_string(count) + " elements, " + text(of));
    slow_.reduces(of.type, {of.what}, of.wide);
    request asked{where_, of.type, of.what, x, count, nullptr, true, y, of.wide};
    asked.ddof = 1;
    const result_bytes found = result_of(asked);
    asked.where = onefold::serial();
    EXPECT_EQ(found, result_of(asked));
    EXPECT_EQ(slow_.pending(), 0u);
  }

  [[nodiscard]] const double* pinned_numbers(std::size_t count) {
    auto* const x = static_cast<double*>(runtime_.memory_of(count * 8, nullptr, cudaMemoryTypeHost));
    const auto bytes = numbers(element_type::f64, count, current_seed());
    std::memcpy(x, bytes.data(), bytes.size());
    slow_.pin(x, bytes.size());
    return x;
  }

  piece_size pieces_{"16384"};
  fake_runtime runtime_;
  slow_device slow_{runtime_, GetParam()};
  int number_ = fake_runtime::fresh_device();
  onefold::executor where_ = onefold::cuda(number_, fake_runtime::fresh_stream());
};

INSTANTIATE_TEST_SUITE_P(copies, host_arrays, testing::Values(slow_device::copies::late, slow_device::copies::early),
                         [](const auto& one) { return one.param == slow_device::copies::late ? "late" : "early"; });

TEST_P(host_arrays, have_the_bits_of_serial_in_every_form_of_every_type) {
  for (const kind& of : all_kinds()) {
    ASSERT_TRUE(onefold::detail::piecewise_reduction::is_for(where_, of.what, {}));
    const std::size_t size = onefold::size_of(of.type);
    const std::uint64_t elements = piece / size / (of.what == form::dot ? 2 : 1);
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{tile / size + 1}, elements - 1, elements, elements + 1,
                                      2 * elements, 3 * elements + 1, 4 * elements, 7 * elements - 1, 11 * elements + 77}) {
      const auto x = numbers(of.type, count, current_seed()), y = numbers(of.type, count, current_seed() + 1);
      expect_the_bits_of_serial(of, x.data(), y.data(), count);
    }
    const std::uint64_t count = 5 * elements + 3;
    const auto x = any_bytes(count * size, current_seed()), y = any_bytes(count * size, current_seed() + 1);
    expect_the_bits_of_serial(of, x.data(), y.data(), count);
  }
}

// What the host adds between pieces, and concludes, is added as nobody has set anything: serial() shows no trace of the caller's rounding either.
TEST_P(host_arrays, show_no_rounding_of_the_callers) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    for (const auto& of : {kind{element_type::f32, form::sum, false}, kind{element_type::f64, form::sum, false},
                           kind{element_type::f64, form::dot, false}, kind{element_type::f32, form::mean, false},
                           kind{element_type::f64, form::norm1, false}, kind{element_type::f32, form::mean_variance, false}}) {
      const std::uint64_t count = 7 * (piece / onefold::size_of(of.type)) + 3;
      const auto x = numbers(of.type, count, current_seed()), y = numbers(of.type, count, current_seed() + 1);
      expect_the_bits_of_serial(of, x.data(), y.data(), count);
    }
    for (const form what : {form::sum, form::mean, form::norm1}) {
      slow_.reduces_complex(element_type::c64, what, false);
      const std::uint64_t count = 7 * (piece / 8) + 3;
      const auto x = numbers(element_type::f32, 2 * count, current_seed());
      request asked{where_, element_type::c64, what, x.data(), count, nullptr, true, nullptr, false};
      const result_bytes found = result_of(asked);
      asked.where = onefold::serial();
      EXPECT_EQ(found, result_of(asked)) << name(what) << " of complex numbers";
    }
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
  }
}

TEST_P(host_arrays, begin_anywhere) {
  const auto x = numbers(element_type::f32, 20'100, current_seed());
  for (const std::uint64_t first : {1, 2, 3, 7, 63})
    expect_the_bits_of_serial({element_type::f32, form::sum, false}, x.data() + 4 * first, nullptr, 20'000);
}

TEST_P(host_arrays, of_a_dot_may_be_one_beside_one_on_the_device) {
  constexpr std::uint64_t count = 30'011;
  const auto x = numbers(element_type::f32, count + 1, current_seed()),
             y = numbers(element_type::f32, count + 1, current_seed() + 1);
  auto* const there = static_cast<std::byte*>(runtime_.device_memory((count + 1) * 4, number_));
  std::memcpy(there, y.data(), y.size());
  for (const std::size_t offset : {0, 4}) {
    expect_the_bits_of_serial({element_type::f32, form::dot, false}, x.data(), there + offset, count);
    expect_the_bits_of_serial({element_type::f32, form::dot, false}, there + offset, x.data(), count);
  }
  expect_the_bits_of_serial({element_type::f32, form::dot, false}, x.data(), x.data(), count);
}

class host_arrays_of_two_types : public host_arrays {};
INSTANTIATE_TEST_SUITE_P(copies, host_arrays_of_two_types, testing::Values(slow_device::copies::late, slow_device::copies::early),
                         [](const auto& one) { return one.param == slow_device::copies::late ? "late" : "early"; });

// Of all sizes of elements; a piece has as many tiles of the products as both arrays' elements leave room for.
TEST_P(host_arrays_of_two_types, have_the_bits_of_serial) {
  using onefold::detail::mixed_result_t;
  const auto check = [this]<class T, class U, class... M>(const T&, const U&, M... modifiers) {
    using A = mixed_result_t<T, U, M...>;
    constexpr auto x_type = onefold::element_type_of<T>, y_type = onefold::element_type_of<U>;
    SCOPED_TRACE(std::string(name(x_type)).append(" with ").append(name(y_type)));
    slow_.reduces_products(x_type, y_type, onefold::element_type_of<A>);
    constexpr std::uint64_t tile_elements = tile / sizeof(A);
    std::uint64_t elements = tile_elements;  // of a piece
    while (2 * elements * (sizeof(T) + sizeof(U)) <= piece) elements *= 2;
    for (const std::uint64_t count : {std::uint64_t{1}, tile_elements + 1, elements - 1, elements, elements + 1, 2 * elements,
                                      4 * elements + 1, 9 * elements - 7}) {
      // From the second element on, which is no boundary of anything but elements.
      const auto of_x = numbers(x_type, count + 1, current_seed()), of_y = numbers(y_type, count + 1, current_seed() + 1);
      const auto* const x = reinterpret_cast<const T*>(of_x.data()) + 1;
      const auto* const y = reinterpret_cast<const U*>(of_y.data()) + 1;
      slow_.forget();
      A expected = onefold::dot(onefold::serial(), x, y, count, modifiers...);
      A found = onefold::dot(where_, x, y, count, modifiers...);
      EXPECT_EQ(std::memcmp(&found, &expected, sizeof(A)), 0) << count;
      std::size_t copied = 0;
      for (const auto& one : slow_.copied()) copied += one.bytes;
      EXPECT_EQ(copied, count * (sizeof(T) + sizeof(U))) << count;
      EXPECT_EQ(slow_.launches(), (count + elements - 1) / elements) << count;
      found = onefold::dot(where_, y, x, count, modifiers...);
      EXPECT_EQ(std::memcmp(&found, &expected, sizeof(A)), 0) << count << " of the other order";
      // One of them is there already.
      auto* const there = static_cast<std::byte*>(runtime_.device_memory((count + 1) * sizeof(U), number_));
      std::memcpy(there, of_y.data(), (count + 1) * sizeof(U));
      found = onefold::dot(where_, x, reinterpret_cast<const U*>(there) + 1, count, modifiers...);
      EXPECT_EQ(std::memcmp(&found, &expected, sizeof(A)), 0) << count << " beside one on the device";
      auto* const output = static_cast<A*>(runtime_.device_memory(sizeof(A), number_));
      onefold::dot_into(where_, x, y, count, output, modifiers...);
      onefold::synchronize(where_);
      EXPECT_EQ(std::memcmp(output, &expected, sizeof(A)), 0) << count << ", stored";
      EXPECT_EQ(slow_.pending(), 0u);
    }
  };
  check(double{}, float{});
  check(double{}, onefold::float16{});
  check(double{}, std::int8_t{});
  check(double{}, std::int64_t{});
  check(float{}, onefold::bfloat16{});
  check(float{}, onefold::float16{}, onefold::accumulate_as<double>);
  check(float{}, std::uint8_t{});
  check(onefold::float16{}, onefold::bfloat16{});
  check(std::uint64_t{}, std::int32_t{});
  check(std::int8_t{}, std::uint8_t{});
  check(std::int32_t{}, std::uint32_t{}, onefold::accumulate_as<std::uint64_t>);
}

TEST_P(host_arrays_of_two_types, are_copied_where_they_are_pinned_and_many) {
  constexpr std::uint64_t count = 30'011;
  const double* const x = pinned_numbers(count);
  const auto y = numbers(element_type::f32, count, current_seed());
  auto* const there = static_cast<float*>(runtime_.device_memory(count * sizeof(float), number_));
  std::memcpy(there, y.data(), y.size());
  slow_.reduces_products(element_type::f64, element_type::f32, element_type::f64);
  for (const std::uint64_t n : {std::uint64_t{1'000}, count}) {
    slow_.forget();
    const double expected = onefold::dot(onefold::serial(), x, reinterpret_cast<const float*>(y.data()), n);
    EXPECT_EQ(onefold::dot(where_, x, there, n), expected);
    EXPECT_EQ(slow_.copied().empty(), n * (sizeof(double) + sizeof(float)) <= piece);
  }
}

// A call for each subtree, as this runtime's memory is not known to the driver, which the library asks first.
TEST_P(host_arrays_of_two_types, have_states_of_ranges) {
  constexpr std::uint64_t tile_elements = tile / sizeof(double), count = 13 * tile_elements;
  const auto x = numbers(element_type::f64, count, current_seed()), y = numbers(element_type::f16, count, current_seed() + 1);
  auto* const on_device = static_cast<std::byte*>(runtime_.device_memory(x.size() + y.size(), number_));
  std::memcpy(on_device, x.data(), x.size());
  std::memcpy(on_device + x.size(), y.data(), y.size());
  slow_.reduces_products(element_type::f64, element_type::f16, element_type::f64);
  onefold::range_state<form::sum, double> expected(3 * tile_elements);
  const auto add = [](onefold::range_state<form::sum, double>& to, const onefold::executor& where, const std::byte* of_x,
                      const std::byte* of_y, std::uint64_t n) {
    to.add_products(where, reinterpret_cast<const onefold::float16*>(of_y), reinterpret_cast<const double*>(of_x), n);
  };
  add(expected, onefold::serial(), x.data(), y.data(), count);
  for (const bool is_there : {true, false}) {
    onefold::range_state<form::sum, double> found(3 * tile_elements);
    if (is_there)
      add(found, where_, on_device, on_device + x.size(), count);
    else
      add(found, where_, x.data(), y.data(), count);
    EXPECT_EQ(found.bytes(), expected.bytes());
    EXPECT_EQ(slow_.pending(), 0u);
  }
  // Of one subtree.
  onefold::range_state<form::sum, double> one, of_one;
  add(one, where_, on_device, on_device + x.size(), 8 * tile_elements);
  add(of_one, onefold::serial(), x.data(), y.data(), 8 * tile_elements);
  EXPECT_EQ(one.bytes(), of_one.bytes());
  EXPECT_EQ(one.value(), onefold::dot(onefold::serial(), reinterpret_cast<const double*>(x.data()),
                                      reinterpret_cast<const onefold::float16*>(y.data()), 8 * tile_elements));
  // What is only kept, of host memory.
  onefold::range_state<form::sum, double> kept(7), of_kept(7);
  add(kept, where_, x.data(), y.data(), 77);
  add(of_kept, onefold::serial(), x.data(), y.data(), 77);
  EXPECT_EQ(kept.bytes(), of_kept.bytes());
}

TEST_P(host_arrays, of_several_results_are_copied_once) {
  constexpr std::uint64_t count = 30'011;
  for (const auto type : {element_type::f64, element_type::i32}) {
    const auto x = numbers(type, count, current_seed());
    constexpr onefold::operation all[] = {onefold::operation::max, onefold::operation::sum, onefold::operation::min};
    slow_.reduces(type, {form::sum, form::min, form::max});
    slow_.forget();
    request asked{where_, type, form::reduce_together, x.data(), count, nullptr, true};
    asked.results = 3;
    asked.operators = all;
    const result_bytes found = result_of(asked);
    asked.where = onefold::serial();
    EXPECT_EQ(found, result_of(asked)) << name(type);
    std::size_t copied = 0;
    for (const auto& one : slow_.copied()) copied += one.bytes;
    EXPECT_EQ(copied, x.size());
  }
}

TEST_P(host_arrays, have_exact_sums_and_states) {
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  for (const auto type : {element_type::f32, element_type::f64, element_type::f16, element_type::bf16})
    for (const form what : {form::sum, form::norm1, form::dot, form::sum_of_squares, form::norm2, form::mean, form::mean_variance})
      for (const std::uint64_t count : {1, 4096, 4097, 30'011}) {
        SCOPED_TRACE(std::to_string(count) + " elements, " + text({type, what}));
        const auto x = numbers(type, count, current_seed()), y = numbers(type, count, current_seed() + 1);
        slow_.reduces(type, {what});
        std::int64_t words[2][210] = {};
        request asked{where_, type, what, x.data(), count, nullptr, true, y.data()};
        asked.exact_state = words[0];
        const result_bytes found = result_of(asked, exactly);
        asked.where = onefold::serial();
        asked.exact_state = words[1];
        EXPECT_EQ(found, result_of(asked, exactly));
        EXPECT_EQ(std::memcmp(words[0], words[1], sizeof(words[0])), 0);
      }
}

// Every form, stored too, and each byte copied once.
TEST_P(host_arrays, of_complex_numbers_have_the_bits_of_serial) {
  for (const auto type : {element_type::c64, element_type::c128})
    for (int f = 0; f < onefold::form_count + onefold::record_count; ++f)
      for (const bool wide : {false, true}) {
        const auto what = static_cast<form>(f);
        if (!takes_type(what, type) || (wide && !can_be_wide(type, what))) continue;
        if (what == form::sum_of_squares || what == form::norm2) continue;  // those of the parts, in a row
        slow_.reduces_complex(type, what, wide);
        const std::size_t size = size_of(type), arrays = what == form::dot ? 2 : 1;
        const std::uint64_t elements = piece / size / arrays;
        for (const std::uint64_t count :
             {std::uint64_t{1}, elements - 1, elements, elements + 1, 3 * elements + 1, 7 * elements - 1}) {
          SCOPED_TRACE(std::to_string(count) + " " + std::string(name(type)) + ", " + std::string(name(what)) +
                       (wide ? ", wide" : ""));
          const auto x = numbers(part_type(type), 2 * count + 2, current_seed()),
                     y = numbers(part_type(type), 2 * count + 2, current_seed() + 1);
          slow_.forget();
          request asked{where_, type,    what, x.data() + size / 2,
                        count,  nullptr, true, what == form::dot ? y.data() + size / 2 : nullptr,
                        wide};
          asked.ddof = what == form::mean_variance && count > 1 ? 1 : 0;
          const result_bytes found = result_of(asked);
          std::size_t copied = 0;
          for (const auto& one : slow_.copied()) copied += one.bytes;
          EXPECT_EQ(copied, arrays * size * count);
          EXPECT_EQ(slow_.launches(), (count + elements - 1) / elements);
          asked.where = onefold::serial();
          const result_bytes expected = result_of(asked);
          EXPECT_EQ(found, expected);
          auto* const output = static_cast<std::byte*>(runtime_.device_memory(32, number_));
          asked.where = where_;
          asked.output = output;
          asked.waits = false;
          onefold::detail::run(asked, {});
          onefold::synchronize(where_);
          EXPECT_EQ(std::memcmp(output, expected.data(), onefold::result_bytes(type, what, wide)), 0) << "stored";
          EXPECT_EQ(slow_.pending(), 0u);
        }
      }
}

TEST_P(host_arrays, of_complex_numbers_have_exact_sums_and_norms) {
  const auto bytes = numbers(element_type::f64, 24'010, current_seed());
  std::vector<std::complex<double>> z(12'005);
  std::memcpy(static_cast<void*>(z.data()), bytes.data(), bytes.size());
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  slow_.reduces(element_type::f64, {form::sum});
  slow_.forget();
  EXPECT_EQ(onefold::sum(where_, z, exactly), onefold::sum(onefold::serial(), z, exactly));
  EXPECT_EQ(slow_.copied().size(), (bytes.size() + piece - 1) / piece)
      << "the parts are summed up piece by piece, not one after the other";
  slow_.reduces(element_type::f64, {form::sum_of_squares});
  EXPECT_EQ(onefold::sum_of_squares(where_, z), onefold::sum_of_squares(onefold::serial(), z));
  slow_.reduces(element_type::f64, {form::sum});
  std::int64_t words[2][420] = {};
  request asked{where_, element_type::c128, form::mean, z.data(), z.size(), nullptr, true};
  asked.exact_state = words[0];
  const result_bytes found = result_of(asked, exactly);
  asked.where = onefold::serial();
  asked.exact_state = words[1];
  EXPECT_EQ(found, result_of(asked, exactly));
  EXPECT_EQ(std::memcmp(words[0], words[1], sizeof(words[0])), 0) << "a state for each part";
}

TEST_P(host_arrays, of_complex_numbers_have_exact_dots) {
  const auto bytes = numbers(element_type::f64, 2 * 12'005, current_seed());
  const auto others = numbers(element_type::f64, 2 * 12'005, current_seed() + 1);
  const auto* const x = reinterpret_cast<const std::complex<double>*>(bytes.data());
  const auto* const y = reinterpret_cast<const std::complex<double>*>(others.data());
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  slow_.reduces(element_type::f64, {form::dot});
  for (const std::size_t n : {1, 1'024, 12'005}) {
    slow_.forget();
    EXPECT_EQ(onefold::dot(where_, x, y, n, exactly), onefold::dot(onefold::serial(), x, y, n, exactly)) << n;
    EXPECT_EQ(slow_.copied().size(), 2 * ((16 * n + piece / 2 - 1) / (piece / 2))) << "each array once";
    std::int64_t words[2][284] = {};
    request asked{where_, element_type::c128, form::dot, x, n, nullptr, true, y};
    asked.exact_state = words[0];
    const result_bytes found = result_of(asked, exactly);
    asked.where = onefold::serial();
    asked.exact_state = words[1];
    EXPECT_EQ(found, result_of(asked, exactly));
    EXPECT_EQ(std::memcmp(words[0], words[1], sizeof(words[0])), 0) << "a state for each part, " << n;
  }
}

TEST_P(host_arrays, of_several_vectors_have_their_dots) {
  const auto bytes = numbers(element_type::f64, 15'000, current_seed());
  const auto vector = [&](std::size_t k) {
    return onefold::vector_view<double>(reinterpret_cast<const double*>(bytes.data()) + 3'000 * k, 3'000);
  };
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  slow_.reduces(element_type::f64, {form::dot});
  for (const onefold::options& how : {onefold::options{}, exactly}) {
    const auto dots = [&](const onefold::executor& where) {
      return onefold::multi_dot(where, {vector(0), vector(1)}, {vector(2), vector(3), vector(4)}, how);
    };
    const std::vector<double> expected = dots(onefold::serial());
    EXPECT_EQ(dots(where_), expected);
    auto* const output = static_cast<double*>(runtime_.device_memory(6 * sizeof(double), number_));
    onefold::multi_dot_into(where_, {vector(0), vector(1)}, {vector(2), vector(3), vector(4)}, output, how);
    onefold::synchronize(where_);
    EXPECT_EQ(std::vector<double>(output, output + 6), expected) << "stored";
    // One vector alone is the host's.
    auto* const there = static_cast<double*>(runtime_.device_memory(3'000 * sizeof(double), number_));
    std::memcpy(there, vector(0).data(), 3'000 * sizeof(double));
    EXPECT_EQ(onefold::multi_dot(where_, {{there, 3'000}}, {vector(2), vector(3)}, how),
              onefold::multi_dot(onefold::serial(), {vector(0)}, {vector(2), vector(3)}, how));
  }
}

TEST_P(host_arrays, are_stored_in_stream_order_where_that_was_asked_for) {
  const auto bytes = numbers(element_type::f64, 30'011, current_seed());
  const auto* const x = reinterpret_cast<const double*>(bytes.data());
  auto* const output = static_cast<double*>(runtime_.device_memory(16, number_));
  slow_.reduces(element_type::f64, {form::mean_variance});
  onefold::mean_variance_into(where_, x, 30'011, reinterpret_cast<onefold::mean_variance_result<double>*>(output));
  onefold::synchronize(where_);
  const auto expected = onefold::mean_variance(onefold::serial(), x, 30'011);
  EXPECT_EQ(output[0], expected.mean);
  EXPECT_EQ(output[1], expected.variance);
}

TEST_P(host_arrays, have_states_of_ranges) {
  constexpr std::uint64_t count = 50'123;
  const auto bytes = numbers(element_type::f32, count, current_seed());
  const auto* const x = reinterpret_cast<const float*>(bytes.data());
  slow_.reduces(element_type::f32, {form::sum});
  onefold::range_state<form::sum, float> there(100), here(100);
  there.add(where_, x, count);
  here.add(onefold::serial(), x, count);
  EXPECT_EQ(there.bytes(), here.bytes());
}

TEST_P(host_arrays, come_from_the_tools_pieces_too) {
  constexpr std::uint64_t count = 50'123;
  const auto bytes = numbers(element_type::f64, count, current_seed());
  slow_.reduces(element_type::f64, {form::argmin});
  onefold::detail::piecewise_reduction reduction(where_, element_type::f64, form::argmin, false, 16);
  for (std::uint64_t first = 0; first < count; first += reduction.piece_elements())
    reduction.add(bytes.data() + 8 * first, nullptr, std::min(reduction.piece_elements(), count - first), {});
  result_bytes found{};
  reduction.result(found.data());
  EXPECT_EQ(found, result_of({onefold::serial(), element_type::f64, form::argmin, bytes.data(), count, nullptr, true}));
}

TEST_P(host_arrays, go_with_other_requests_in_a_batch) {
  constexpr std::uint64_t count = 30'011;
  const auto bytes = numbers(element_type::f32, count, current_seed());
  slow_.reduces(element_type::f32, {form::sum, form::max});
  float found[2] = {};
  std::vector<onefold_request> requests;
  for (const form what : {form::sum, form::max})
    requests.push_back(
        onefold::detail::c_request({where_, element_type::f32, what, bytes.data(), count, &found[requests.size()], true}));
  onefold::detail::run_batch(requests, {});
  const auto* const x = reinterpret_cast<const float*>(bytes.data());
  EXPECT_EQ(found[0], onefold::sum(onefold::serial(), x, count));
  EXPECT_EQ(found[1], onefold::max(onefold::serial(), x, count));
}

// Each by a launch of its own, whose result the host polls for.
TEST_P(host_arrays, that_a_device_reads_need_no_wait_of_the_drivers_in_a_batch) {
  static int waits;
  static cudaError_t (*wait)(cudaStream_t);
  const auto* const x = reinterpret_cast<const std::int64_t*>(pinned_numbers(300'000));  // more of them than a batch's kernel takes
  slow_.reduces(element_type::i64, {form::argmin, form::argmax});
  wait = std::exchange(onefold::cuda_backend::calls().stream_synchronize, [](cudaStream_t stream) {
    ++waits;
    return wait(stream);
  });
  for (const std::uint64_t count : {300'000, 299'999, 270'000}) {
    onefold::arg_result<std::int64_t> least{}, most{};
    const onefold_request requests[] = {
        onefold::detail::c_request({where_, element_type::i64, form::argmin, x, count, &least, true}),
        onefold::detail::c_request({where_, element_type::i64, form::argmax, x, count, &most, true})};
    waits = 0;
    onefold::detail::run_batch(std::vector(std::begin(requests), std::end(requests)), {});
    EXPECT_EQ(waits, 0);
    const auto expected = onefold::argmin(onefold::serial(), x, count);
    EXPECT_EQ(least.value, expected.value);
    EXPECT_EQ(least.index, expected.index);
    EXPECT_EQ(most.index, onefold::argmax(onefold::serial(), x, count).index);
  }
}

// Two pieces ahead of the one that is being reduced, each byte once, through three buffers.
TEST_P(host_arrays, are_copied_once_and_ahead) {
  constexpr std::size_t pieces = 100;
  const auto bytes = numbers(element_type::f64, pieces * piece / 8 - 5, current_seed());
  const auto* const x = reinterpret_cast<const double*>(bytes.data());
  slow_.reduces(element_type::f64, {form::sum});
  const std::size_t before = onefold::memory_in_use(where_).device_bytes;
  onefold::report ran;
  EXPECT_EQ(onefold::sum(where_, x, bytes.size() / 8, {.report = &ran}), onefold::sum(onefold::serial(), x, bytes.size() / 8));
  ASSERT_EQ(slow_.copied().size(), pieces);
  std::set<const std::byte*> buffers;
  for (std::size_t k = 0; k < pieces; ++k) {
    const auto& one = slow_.copied()[k];
    EXPECT_EQ(one.from, bytes.data() + k * piece);
    EXPECT_EQ(one.bytes, std::min(piece, bytes.size() - k * piece));
    EXPECT_EQ(one.launches_before, k < 3 ? 0 : k - 2) << "piece " << k << " is not under way while the one before is reduced";
    buffers.insert(one.to);
  }
  EXPECT_EQ(buffers.size(), 3u);
  EXPECT_EQ(ran.launches, static_cast<int>(pieces));
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.scratch_bytes, 3 * piece);
  EXPECT_EQ(onefold::memory_in_use(where_).device_bytes - before, 3 * piece);
  onefold::release_memory(where_);
  EXPECT_EQ(onefold::memory_in_use(where_).device_bytes, 0u);
  EXPECT_EQ(runtime_.live_events(), 0u);
}

// What is on the stream before the call may write what the call reads.
TEST_P(host_arrays, are_read_behind_the_work_ahead_on_the_stream) {
  slow_.reduces(element_type::f64, {form::sum});
  for (const std::size_t count : {std::size_t{10}, 4 * piece / 8}) {
    auto* const pinned = static_cast<double*>(runtime_.memory_of(count * 8, nullptr, cudaMemoryTypeHost));
    slow_.pin(pinned, count * 8);
    std::vector<double> pageable(count, 0.0);
    for (double* const x : {pinned, pageable.data()}) {
      slow_.enqueue(where_.stream(), [x, count] { std::fill(x, x + count, 1.0); });
      EXPECT_EQ(onefold::sum(where_, static_cast<const double*>(x), count), static_cast<double>(count));
    }
  }
}

TEST_P(host_arrays, of_one_piece_need_no_stream_but_the_callers) {
  const auto bytes = numbers(element_type::f64, piece / 8, current_seed());
  const auto* const x = reinterpret_cast<const double*>(bytes.data());
  slow_.reduces(element_type::f64, {form::sum});
  static_cast<void>(onefold::sum(where_, x, 10));
  runtime_.forget_streams();
  EXPECT_EQ(onefold::sum(where_, x, bytes.size() / 8), onefold::sum(onefold::serial(), x, bytes.size() / 8));
  EXPECT_EQ(runtime_.streams_used(), std::set<cudaStream_t>{where_.stream()});
}

TEST_P(host_arrays, that_are_pinned_are_copied_where_they_are_large_and_the_caller_waits) {
  const std::size_t count = 3 * piece / 8 + 1;
  const double* const x = pinned_numbers(count);
  slow_.reduces(element_type::f64, {form::sum});
  EXPECT_EQ(onefold::sum(where_, x, count), onefold::sum(onefold::serial(), x, count));
  EXPECT_EQ(slow_.copied().size(), 4u);
  EXPECT_EQ(slow_.pending(), 0u);
  slow_.forget();
  EXPECT_EQ(onefold::sum(where_, x, piece / 8), onefold::sum(onefold::serial(), x, piece / 8));
  EXPECT_TRUE(slow_.copied().empty()) << "of one piece it is read where it is";
  auto* const output = static_cast<double*>(runtime_.device_memory(8, number_));
  runtime_.capture(where_.stream());
  onefold::sum_into(where_, static_cast<const double*>(x), count, output);
  runtime_.capture(std::nullopt);
  EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
  EXPECT_TRUE(slow_.copied().empty()) << "a call that only puts work on the stream can be captured as before";
}

TEST_P(host_arrays, are_refused_with_a_reason) {
  const std::vector<double> x(20'000, 1.0);
  auto* const output = static_cast<double*>(runtime_.device_memory(8, number_));
  const auto expect_refused = [&](errc code, std::string_view words, const auto& call) {
    EXPECT_TRUE(refuses(code, words, call));
    EXPECT_TRUE(slow_.copied().empty());
  };
  expect_refused(errc::host_pointer, "vector_load does not copy it",
                 [&] { static_cast<void>(onefold::sum(where_, x, {.variant = "vector_load"})); });
  const std::uint64_t count = 5;
  expect_refused(errc::host_pointer, "count",
                 [&] { static_cast<void>(onefold::sum(where_, x.data(), x.size(), onefold::count_at{&count})); });
  const double* const address = x.data();
  expect_refused(errc::host_pointer, "address of the input",
                 [&] { static_cast<void>(onefold::sum(where_, onefold::array_at{&address}, x.size())); });
  const onefold::array_at<double> on_device{static_cast<const double* const*>(runtime_.device_memory(8, number_))};
  expect_refused(errc::host_pointer, "address of an array",
                 [&] { static_cast<void>(onefold::dot(where_, x.data(), on_device, x.size())); });
  runtime_.capture(where_.stream());
  expect_refused(errc::unsupported, "cudaMallocHost", [&] { onefold::sum_into(where_, x.data(), x.size(), output); });
  expect_refused(errc::unsupported, "captured", [&] { static_cast<void>(onefold::sum(where_, x)); });
  EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
  runtime_.capture(std::nullopt);
  double on_the_stack = 0;
  expect_refused(errc::host_pointer, "output is host memory",
                 [&] { onefold::sum_into(where_, x.data(), x.size(), &on_the_stack); });
  for (const char* const bytes : {"0", "5000", "4096", "16384 ", "-16384", "2147483648", "many"}) {
    const piece_size wrong(bytes);
    expect_refused(errc::invalid_argument, "ONEFOLD_CUDA_PIECE_BYTES", [&] { static_cast<void>(onefold::sum(where_, x)); });
  }
}

// Whatever fails: nothing of the caller's memory is read after the call, nothing is lost, and the next call works.
TEST_P(host_arrays, survive_every_fault) {
  const std::size_t count = 4 * piece / 8 + 1;
  const double* const x = pinned_numbers(count);
  slow_.reduces(element_type::f64, {form::sum});
  const double expected = onefold::sum(onefold::serial(), x, count);
  std::optional<std::size_t> kept;
  for (const bool is_later : {false, true}) {
    std::set<std::string> failed;
    for (std::uint64_t k = 1;; ++k) {
      const int number = fake_runtime::fresh_device();
      fake_runtime::make_current(0);
      const auto where = onefold::cuda(number, fake_runtime::fresh_stream());
      const std::size_t before = runtime_.live();
      if (is_later) static_cast<void>(onefold::sum(where, x, count));
      runtime_.fail(k, cudaErrorInvalidValue, false);
      try {
        EXPECT_EQ(onefold::sum(where, x, count), expected);
      } catch (const onefold::error& problem) {
        ASSERT_TRUE(runtime_.failed_call()) << problem.what();
        EXPECT_NE(std::string_view(problem.what()).find(*runtime_.failed_call()), std::string_view::npos) << problem.what();
        EXPECT_EQ(problem.code(), errc::device_error);
      }
      const auto call = runtime_.failed_call();
      EXPECT_EQ(slow_.pending(), 0u) << "a copy is under way after " << call.value_or("a call without faults");
      EXPECT_EQ(runtime_.error_left_behind(), cudaSuccess) << *call;
      runtime_.mend();
      fake_runtime::put_mode_back();
      fake_runtime::make_current(0);
      EXPECT_EQ(onefold::sum(where, x, count), expected);
      if (!kept) kept = runtime_.live() - before;
      EXPECT_EQ(runtime_.live() - before, *kept) << "leaked, or freed too much, after " << call.value_or("a call without faults");
      if (!call) break;
      failed.insert(*call);
      ASSERT_LT(k, 300u);
    }
    for (const char* const call :
         {"cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent", "cuLaunchKernelEx", "cudaStreamSynchronize"})
      EXPECT_TRUE(failed.contains(call)) << call << " has not been made: this test proves nothing of it";
  }
}

TEST_P(host_arrays, tell_of_memory_that_cannot_be_had) {
  const std::vector<double> x(10 * piece / 8, 1.0);
  slow_.reduces(element_type::f64, {form::sum});
  const auto call = onefold::cuda_backend::calls().malloc_from_pool_async;
  onefold::cuda_backend::calls().malloc_from_pool_async = [](void**, std::size_t, cudaMemPool_t, cudaStream_t) {
    return cudaErrorMemoryAllocation;
  };
  EXPECT_TRUE(refuses(errc::out_of_memory, "", [&] { static_cast<void>(onefold::sum(where_, x)); }));
  EXPECT_TRUE(slow_.copied().empty());
  onefold::cuda_backend::calls().malloc_from_pool_async = call;
  EXPECT_EQ(onefold::sum(where_, x), static_cast<double>(x.size()));
}

}  // namespace
}  // namespace onefold_test
