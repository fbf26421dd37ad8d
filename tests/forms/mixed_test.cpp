/// @file mixed_test.cpp  Dots of elements of two types, on every executor: the bits are those of an array that holds the products.

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/onefold.hpp>

#include "fixture.hpp"
#include "mixed_fixture.hpp"

namespace onefold_test {
namespace {

using onefold::bfloat16;
using onefold::errc;
using onefold::float16;

class a_dot_of_two_types : public executor_test {
 protected:
  static constexpr std::size_t most = 40'011;
};

std::size_t tile_of(element_type products) { return 4096 / onefold::size_of(products); }

// Sizes around rows and tiles of the products, and what is many tiles.
std::vector<std::size_t> sizes_for(element_type products) {
  const std::size_t tile = tile_of(products);
  return {0, 1, 2, 31, 33, tile - 1, tile, tile + 1, 8 * tile + 3, 16 * tile + 5, 39'989};
}

// All pairs, from C, both ways round, wherever arrays begin, with the call that returns and with the one that stores.
TEST_P(a_dot_of_two_types, has_the_bits_of_the_products_sum) {
  const onefold_executor at = onefold::detail::c_executor(where());
  const mixed_data data(memory_for(where()), most);
  for (int x = 0; x < onefold::element_type_count; ++x)
    for (int y = 0; y < onefold::element_type_count; ++y) {
      if (x == y) continue;  // the dot of one type, of which small elements have larger tiles
      const auto products = static_cast<element_type>(onefold_mixed_dot_type(x, y));
      for (const std::size_t n : sizes_for(products))
        for (const auto& [first_x, first_y] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 3}, {7, 2}, {16, 8}}) {
          if (n > 10'000 && first_x == 1) continue;
          const scalar expected = data.expected(x, first_x, y, first_y, n);
          scalar got{products, 0};
          ASSERT_EQ(onefold_mixed_dot(at, x, data.at(x, first_x), y, data.at(y, first_y), n, &got.bits), ONEFOLD_OK)
              << onefold_last_error();
          ASSERT_EQ(got, expected) << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", " << n
                                   << " from " << first_x << " and " << first_y << ": " << text(got) << ", not " << text(expected);
        }
      const guarded_output output(memory_for(where()), products);
      ASSERT_EQ(onefold_mixed_dot_into(at, x, data.at(x, 2), y, data.at(y, 5), 1'111, output.address(), nullptr), ONEFOLD_OK)
          << onefold_last_error();
      onefold::synchronize(where());
      ASSERT_EQ(output.value(), data.expected(x, 2, y, 5, 1'111))
          << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y));
      ASSERT_TRUE(output.surroundings_unchanged());
    }
  count_dispatch(where());
}

// Exactly, all pairs that have an exact sum, with what floats have beside numbers; the others are refused by name.
TEST_P(a_dot_of_two_types, can_be_exact) {
  onefold_options exactly{};
  exactly.struct_bytes = sizeof(exactly);
  exactly.guarantee = ONEFOLD_GUARANTEE_EXACT;
  for (const special among : {special::none, special::infinity, special::two_infinities, special::nan, special::negative_zeros,
                              special::subnormals, special::largest}) {
    const mixed_data data(memory_for(where()), 9'100, among);
    for (int x = 0; x < onefold::element_type_count; ++x)
      for (int y = 0; y < onefold::element_type_count; ++y)
        for (const bool wide : {false, true}) {
          const auto products = wide ? mixed_data::wider(x, y) : mixed_data::type(onefold_mixed_dot_type(x, y));
          if (x == y || !onefold::is_float(products) || (wide && products == mixed_data::type(onefold_mixed_dot_type(x, y))))
            continue;
          for (const std::size_t n : {0u, 1u, 6u, 700u, 2'049u, 9'001u}) {
            if (among != special::none && n != 700) continue;
            scalar got{products, 0};
            onefold_request what = request_of(where(), data, x, y, n, &got.bits);
            what.flags = wide ? ONEFOLD_WIDE : 0U;
            const int status = onefold_reduce(&what, &exactly);
            const std::string words =
                std::string(onefold::name(data.type(x))) + " with " + std::string(onefold::name(data.type(y)));
            if (!mixed_data::has_exact_sum(x, y, products)) {
              ASSERT_EQ(status, ONEFOLD_GUARANTEE_NOT_MET) << words;
              ASSERT_NE(std::string(onefold_last_error()).find("not all numbers of"), std::string::npos) << onefold_last_error();
              continue;
            }
            ASSERT_EQ(status, ONEFOLD_OK) << words << ": " << onefold_last_error();
            ASSERT_EQ(got, data.exact(x, 1, y, 3, n, products)) << words << ", " << n;
          }
        }
    count_dispatch(where());
  }
}

TEST_P(a_dot_of_two_types, is_exact_where_products_cancel_and_underflow) {
  const auto& at = where();
  const onefold::options exactly{.guarantee = onefold::guarantee::exact};
  const std::vector<double> wide = {1e300, 1.0, -1e300, 0x1p-1074, 0x1p-1022, 0x1p1023};
  const std::vector<float> narrow = {0x1p127F, 0x1p-149F, 0x1p127F, 0x1p-149F, 0x1p-60F, 0.0F};
  block memory_of_wide(memory_for(at), wide.size() * sizeof(double)),
      memory_of_narrow(memory_for(at), narrow.size() * sizeof(float));
  memory_of_wide.write(0, wide.data(), wide.size() * sizeof(double));
  memory_of_narrow.write(0, narrow.data(), narrow.size() * sizeof(float));
  const auto* const x = reinterpret_cast<const double*>(memory_of_wide.address());
  const auto* const y = reinterpret_cast<const float*>(memory_of_narrow.address());
  EXPECT_EQ(onefold::dot(at, x, y, 3, exactly), 0x1p-149);
  EXPECT_EQ(onefold::dot(at, y, x, 6, exactly), 0x1p-149);
  EXPECT_EQ(onefold::dot(at, x + 3, y + 3, 1, exactly), 0.0);  // 2^-1223
  EXPECT_EQ(onefold::dot(at, x + 3, y + 3, 2, exactly), 0.0);  // 2^-1082 and that
  EXPECT_EQ(onefold::dot(at, x + 4, y + 1, 2, exactly), std::numeric_limits<double>::infinity());
  guarded_output output(memory_for(at), element_type::f64);
  onefold::dot_into(at, x, y, 3, static_cast<double*>(output.address()), exactly);
  onefold::synchronize(at);
  EXPECT_EQ(output.value(), scalar_of(0x1p-149));
  EXPECT_TRUE(output.surroundings_unchanged());
  count_dispatch(at);
}

// Infinities, NaNs, zeros with a sign, what has few digits, and the largest and smallest whole numbers, of floats in each pair.
TEST_P(a_dot_of_two_types, knows_special_values) {
  const onefold_executor at = onefold::detail::c_executor(where());
  for (int round = 0; round < 6; ++round) {
    const mixed_data data(memory_for(where()), 900, static_cast<special>(round));
    for (int x = 0; x < onefold::element_type_count; ++x)
      for (int y = 0; y < onefold::element_type_count; ++y) {
        if (x == y) continue;
        for (const std::size_t n : {std::size_t{5}, std::size_t{700}}) {
          const scalar expected = data.expected(x, 0, y, 1, n);
          scalar got{expected.type, 0};
          ASSERT_EQ(onefold_mixed_dot(at, x, data.at(x, 0), y, data.at(y, 1), n, &got.bits), ONEFOLD_OK) << onefold_last_error();
          ASSERT_EQ(got, expected) << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", values " << round
                                   << ": " << text(got) << ", not " << text(expected);
        }
      }
  }
  count_dispatch(where());
}

template <class T, class U, class A>
void expect_typed(const onefold::executor& at, const mixed_data& data) {
  constexpr int x = static_cast<int>(onefold::element_type_of<T>), y = static_cast<int>(onefold::element_type_of<U>);
  static_assert(std::is_same_v<A, onefold::detail::common_accumulator<T, U>>);
  ASSERT_EQ(onefold_mixed_dot_type(x, y), static_cast<int>(onefold::element_type_of<A>));
  for (const std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{9'001}}) {
    const auto* const of_x = static_cast<const T*>(data.at(x, 1));
    const auto* const of_y = static_cast<const U*>(data.at(y, 2));
    const scalar expected = data.expected(x, 1, y, 2, n);
    EXPECT_EQ(scalar_of(onefold::dot(at, of_x, of_y, n)), expected) << n;
    EXPECT_EQ(scalar_of(onefold::dot(at, std::span(of_x, n), std::span(of_y, n))), expected) << n;
    const guarded_output output(memory_for(at), expected.type);
    onefold::dot_into(at, std::span(of_x, n), std::span(of_y, n), static_cast<A*>(output.address()));
    onefold::synchronize(at);
    EXPECT_EQ(output.value(), expected) << n;
    const guarded_output of_pointers(memory_for(at), expected.type);
    onefold::dot_into(at, of_x, of_y, n, static_cast<A*>(of_pointers.address()));
    onefold::synchronize(at);
    EXPECT_EQ(of_pointers.value(), expected) << n;
  }
}

TEST_P(a_dot_of_two_types, is_the_same_from_cpp) {
  const mixed_data data(memory_for(where()), 9'010);
  expect_typed<float, double, double>(where(), data);
  expect_typed<double, float, double>(where(), data);
  expect_typed<float16, float, float>(where(), data);
  expect_typed<bfloat16, float16, float>(where(), data);
  expect_typed<std::int8_t, float, float>(where(), data);
  expect_typed<double, std::int64_t, double>(where(), data);
  expect_typed<std::int8_t, std::uint8_t, std::uint64_t>(where(), data);
  expect_typed<std::int32_t, std::uint32_t, std::uint32_t>(where(), data);
  expect_typed<std::int16_t, std::int32_t, std::int64_t>(where(), data);
  count_dispatch(where());
}

// Floats in double, and 32 bits in 64: the products are rounded to that alone.
TEST_P(a_dot_of_two_types, may_be_accumulated_in_a_wider_one) {
  for (const special among : {special::none, special::nan, special::negative_zeros, special::largest}) {
    const mixed_data data(memory_for(where()), 20'011, among);
    for (int x = 0; x < onefold::element_type_count; ++x)
      for (int y = 0; y < onefold::element_type_count; ++y) {
        if (x == y) continue;
        const element_type products = mixed_data::wider(x, y);
        const bool has_wider = products != mixed_data::type(onefold_mixed_dot_type(x, y));
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{700}, std::size_t{20'001}}) {
          scalar got{products, 0};
          onefold_request what = request_of(where(), data, x, y, n, &got.bits);
          what.flags = ONEFOLD_WIDE;
          const int status = onefold_reduce(&what, nullptr);
          if (!has_wider) {
            ASSERT_EQ(status, ONEFOLD_UNSUPPORTED);
            ASSERT_NE(std::string(onefold_last_error()).find("no wider type"), std::string::npos) << onefold_last_error();
            break;
          }
          ASSERT_EQ(status, ONEFOLD_OK) << onefold_last_error();
          const scalar expected = data.expected(x, 1, y, 3, n, products);
          ASSERT_EQ(got, expected) << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", " << n << ": "
                                   << text(got) << ", not " << text(expected);
        }
      }
  }
  count_dispatch(where());
}

template <class T, class U, class A>
void expect_wide(const onefold::executor& at, const mixed_data& data) {
  constexpr int x = static_cast<int>(onefold::element_type_of<T>), y = static_cast<int>(onefold::element_type_of<U>);
  constexpr std::size_t n = 9'001;
  const auto* const of_x = static_cast<const T*>(data.at(x, 1));
  const auto* const of_y = static_cast<const U*>(data.at(y, 2));
  const scalar expected = data.expected(x, 1, y, 2, n, onefold::element_type_of<A>);
  const auto wide = onefold::accumulate_as<A>;
  static_assert(std::is_same_v<decltype(onefold::dot(at, of_x, of_y, n, wide)), A>);
  EXPECT_EQ(scalar_of(onefold::dot(at, of_x, of_y, n, wide)), expected);
  EXPECT_EQ(scalar_of(onefold::dot(at, std::span(of_x, n), std::span(of_y, n), wide)), expected);
  EXPECT_EQ(scalar_of(onefold::dot(of_x, of_y, n, wide)), expected);
  EXPECT_EQ(scalar_of(onefold::dot(std::span(of_x, n), std::span(of_y, n), wide)), expected);
  const guarded_output output(memory_for(at), expected.type), of_pointers(memory_for(at), expected.type);
  onefold::dot_into(at, std::span(of_x, n), std::span(of_y, n), static_cast<A*>(output.address()), wide);
  onefold::dot_into(at, of_x, of_y, n, static_cast<A*>(of_pointers.address()), wide);
  onefold::synchronize(at);
  EXPECT_EQ(output.value(), expected);
  EXPECT_EQ(of_pointers.value(), expected);
  A in_batch{}, of_ranges{};
  onefold::batch(at)
      .add(onefold::dot, of_x, of_y, n, &in_batch, wide)
      .add(onefold::dot, std::span(of_x, n), std::span(of_y, n), &of_ranges, wide)
      .run();
  EXPECT_EQ(scalar_of(in_batch), expected);
  EXPECT_EQ(scalar_of(of_ranges), expected);
}

template <class T, class U, class A>
inline constexpr bool can_be_as = onefold::detail::takes_mixed<T, U, onefold::accumulate_as_t<A>>();
static_assert(can_be_as<float16, float, float> && can_be_as<float16, float, double> && can_be_as<float, double, double>);
static_assert(!can_be_as<float, double, float> && !can_be_as<float16, float, std::int64_t> &&
              !can_be_as<std::int8_t, std::int32_t, double>);
static_assert(can_be_as<std::int32_t, std::uint32_t, std::uint64_t> && can_be_as<std::int32_t, std::uint32_t, std::uint32_t>);
static_assert(!can_be_as<std::int32_t, std::uint32_t, std::int64_t> && !can_be_as<float, float, double>);

TEST_P(a_dot_of_two_types, has_its_wider_types_in_cpp) {
  const mixed_data data(memory_for(where()), 9'010);
  expect_wide<float16, float, double>(where(), data);
  expect_wide<float, bfloat16, double>(where(), data);
  expect_wide<bfloat16, float16, double>(where(), data);
  expect_wide<std::int8_t, float, double>(where(), data);
  expect_wide<std::uint64_t, float16, double>(where(), data);
  expect_wide<std::int32_t, std::uint32_t, std::uint64_t>(where(), data);
  expect_wide<float, double, double>(where(), data);  // which it is anyway
  expect_wide<float16, std::int16_t, float>(where(), data);
  count_dispatch(where());
}

// Counts and addresses that stand in memory, of all pairs: the bits are those of a call with that number and these arrays.
TEST_P(a_dot_of_two_types, reads_what_stands_in_memory) {
  constexpr std::uint64_t given = 12'345;
  const mixed_data data(memory_for(where()), given + 8);
  block places(memory_for(where()), 3 * sizeof(std::uint64_t));
  const auto* const count_at = reinterpret_cast<const std::uint64_t*>(places.address() + 2 * sizeof(void*));
  const auto* const arrays = reinterpret_cast<const void* const*>(places.address());
  for (int x = 0; x < onefold::element_type_count; ++x)
    for (int y = 0; y < onefold::element_type_count; ++y) {
      if (x == y) continue;
      const void* const both[] = {data.at(x, 1), data.at(y, 3)};
      places.write(0, both, sizeof(both));
      const auto expect = [&](onefold_request what, std::uint64_t n, const char* words) {
        const bool wide = (what.flags & ONEFOLD_WIDE) != 0;
        const element_type products = wide ? mixed_data::wider(x, y) : mixed_data::type(onefold_mixed_dot_type(x, y));
        scalar got{products, 0};
        what.output = &got.bits;
        ASSERT_EQ(onefold_reduce(&what, nullptr), ONEFOLD_OK) << onefold_last_error();
        const scalar expected = data.expected(x, 1, y, 3, n, products);
        ASSERT_EQ(got, expected) << words << ": " << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", "
                                 << n << ": " << text(got) << ", not " << text(expected);
      };
      const onefold_request plain = request_of(where(), data, x, y, given, nullptr);
      for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'025}, given}) {
        places.write(sizeof(both), &n, sizeof(n));
        onefold_request what = plain;
        what.count_at = count_at;
        expect(what, n, "a count");
        if (mixed_data::wider(x, y) != mixed_data::type(onefold_mixed_dot_type(x, y))) {
          what.flags = ONEFOLD_WIDE;
          expect(what, n, "a count, wide");
          what.flags = 0;
        }
        what.input = nullptr;
        what.input_at = arrays;
        expect(what, n, "a count and an address");
        if (n == 1) continue;
        what.second = nullptr;
        what.second_at = arrays + 1;
        expect(what, n, "a count and two addresses");
        what.count_at = nullptr;
        what.count = n;
        expect(what, n, "two addresses");
        what.input_at = nullptr;
        what.input = plain.input;
        expect(what, n, "the second address");
      }
    }
  count_dispatch(where());
}

TEST_P(a_dot_of_two_types, reads_memory_from_cpp_too) {
  using onefold::array_at;
  using onefold::count_at;
  const auto& at = where();
  constexpr std::uint64_t most_of_all = 5'000, n = 3'333;
  const mixed_data data(memory_for(at), most_of_all + 8);
  const auto* const x = static_cast<const float*>(data.at(ONEFOLD_F32, 1));
  const auto* const h = static_cast<const float16*>(data.at(ONEFOLD_F16, 3));
  block places(memory_for(at), 5 * sizeof(std::uint64_t));
  const void* const both[] = {x, h, h, x};
  places.write(0, both, sizeof(both));
  places.write(sizeof(both), &n, sizeof(n));
  const count_at number{reinterpret_cast<const std::uint64_t*>(places.address() + sizeof(both))};
  const array_at<float> x_at{reinterpret_cast<const float* const*>(places.address())};
  const array_at<float16> h_at{reinterpret_cast<const float16* const*>(places.address()) + 1};
  const auto wide = onefold::accumulate_as<double>;
  const float expected = onefold::dot(at, x, h, n);
  const double wide_expected = onefold::dot(at, x, h, n, wide);
  const auto same = [](auto got, auto alone) {
    EXPECT_EQ(std::memcmp(&got, &alone, sizeof(alone)), 0) << got << ", not " << alone;
  };
  same(onefold::dot(at, x, h, most_of_all, number), expected);
  same(onefold::dot(at, std::span(x, most_of_all), std::span(h, most_of_all), number, wide), wide_expected);
  same(onefold::dot(at, x, h, most_of_all, wide, number), wide_expected);
  same(onefold::dot(at, x_at, h, n), expected);
  same(onefold::dot(at, x, h_at, n, wide), wide_expected);
  same(onefold::dot(at, h_at, x_at, most_of_all, number, wide), wide_expected);
  same(onefold::dot(onefold::best(), x_at, h_at, n), expected);
  same(onefold::dot(x, h, most_of_all, number), expected);
  same(onefold::dot(std::span(x, most_of_all), std::span(h, most_of_all), number), expected);
  const guarded_output output(memory_for(at), element_type::f64);
  onefold::dot_into(at, x_at, h_at, most_of_all, static_cast<double*>(output.address()), wide, number);
  onefold::synchronize(at);
  EXPECT_EQ(output.value(), scalar_of(wide_expected));
  onefold::dot_into(at, std::span(x, most_of_all), std::span(h, most_of_all), static_cast<double*>(output.address()), wide, number);
  onefold::synchronize(at);
  EXPECT_EQ(output.value(), scalar_of(wide_expected));
  EXPECT_TRUE(output.surroundings_unchanged());

  float in_batch = 0, of_many[2] = {};
  double wide_in_batch = 0, square = 0;
  onefold::batch(at)
      .add(onefold::dot, x, h, most_of_all, &in_batch, number)
      .add(onefold::dot, x, x, n, &square, wide)
      .add(onefold::dot, x_at, h_at, most_of_all, &wide_in_batch, number, wide)
      .add(onefold::dot, onefold::arrays_at<float16>{h_at.place, 2}, x, n, of_many)
      .run();
  same(in_batch, expected);
  same(wide_in_batch, wide_expected);
  same(square, onefold::dot(at, x, x, n, wide));
  for (const float one : of_many) same(one, expected);
  count_dispatch(at);
}

TEST_P(a_dot_of_two_types, refuses_what_cannot_be_read) {
  using onefold::array_at;
  using onefold::count_at;
  const auto& at = where();
  const mixed_data data(memory_for(at), 100);
  const auto* const x = static_cast<const float*>(data.at(ONEFOLD_F32, 0));
  const auto* const y = static_cast<const double*>(data.at(ONEFOLD_F64, 0));
  const auto* const i = static_cast<const std::int16_t*>(data.at(ONEFOLD_I16, 0));
  const auto* const k = static_cast<const std::int64_t*>(data.at(ONEFOLD_I64, 0));
  block place(memory_for(at), 2 * sizeof(void*));
  const array_at<float> x_at{reinterpret_cast<const float* const*>(place.address())};
  const array_at<std::int16_t> i_at{reinterpret_cast<const std::int16_t* const*>(place.address())};
  const auto write = [&](const void* address) { place.write(0, &address, sizeof(address)); };
  const bool on_gpu = at.backend() == onefold::backend::cuda;
  write(nullptr);
  EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(onefold::dot(at, x_at, y, 10)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(onefold::dot(at, k, i_at, 10)); }));
  EXPECT_EQ(onefold::dot(at, x_at, y, 0), 0.0);  // of no elements nothing is read
  write(reinterpret_cast<const char*>(x) + 2);
  const errc misaligned = on_gpu ? errc::null_pointer : errc::misaligned_pointer;  // as of arrays of one type
  EXPECT_TRUE(refuses(misaligned, "aligned", [&] { static_cast<void>(onefold::dot(at, x_at, y, 10)); }));
  write(reinterpret_cast<const char*>(i) + 1);
  EXPECT_TRUE(refuses(misaligned, "aligned", [&] { static_cast<void>(onefold::dot(at, i_at, k, 10)); }));
  double result = 0;
  std::int64_t other = 0;
  onefold::batch work(at);
  work.add(onefold::dot, x, y, 10, &result).add(onefold::dot, i_at, k, 10, &other);
  EXPECT_TRUE(refuses(misaligned, "aligned", [&] { work.run(); }));
  write(i);  // and a result whose bits are all set is one
  std::vector<std::int16_t> ones(3, 0);
  std::vector<std::int64_t> minus(3, 0);
  ones[1] = 1;
  minus[1] = -1;
  block of_ones(memory_for(at), 8), of_minus(memory_for(at), 24);
  of_ones.write(0, ones.data(), 6);
  of_minus.write(0, minus.data(), 24);
  write(of_ones.address());
  EXPECT_EQ(onefold::dot(at, i_at, reinterpret_cast<const std::int64_t*>(of_minus.address()), 3), -1);
  onefold::batch minus_one(at);
  minus_one.add(onefold::dot, x, y, 10, &result)
      .add(onefold::dot, i_at, reinterpret_cast<const std::int64_t*>(of_minus.address()), 3, &other)
      .run();
  EXPECT_EQ(other, -1);

  const std::uint64_t n = 11;
  place.write(8, &n, sizeof(n));
  const count_at number{reinterpret_cast<const std::uint64_t*>(place.address() + 8)};
  if (on_gpu)
    EXPECT_EQ(scalar_of(onefold::dot(at, x, y, 10, number)), data.expected(ONEFOLD_F32, 0, ONEFOLD_F64, 0, 10));
  else
    EXPECT_TRUE(
        refuses(errc::invalid_argument, "the most that it may be", [&] { static_cast<void>(onefold::dot(at, x, y, 10, number)); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "count", [&] {
    static_cast<void>(onefold::dot(at, x, y, 10, count_at{reinterpret_cast<const std::uint64_t*>(place.address() + 4)}));
  }));
  const onefold::options exactly{.guarantee = onefold::guarantee::exact};
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "not all numbers of i64 are numbers of f64",
                      [&] { static_cast<void>(onefold::dot(at, k, y, 10, exactly)); }));
  if (on_gpu) {
    EXPECT_EQ(scalar_of(onefold::dot(at, x, y, 10, number, exactly)), scalar_of(onefold::dot(at, x, y, 10, exactly)));
  }
  onefold_request both = request_of(at, data, ONEFOLD_F32, ONEFOLD_F64, 10, &result);
  both.input_at = reinterpret_cast<const void* const*>(place.address());
  EXPECT_EQ(onefold_reduce(&both, nullptr), ONEFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::string(onefold_last_error()).find("two addresses"), std::string::npos) << onefold_last_error();
  count_dispatch(at);
}

TEST_P(a_dot_of_two_types, is_exact_by_a_variant_s_name_as_by_the_guarantee) {
  const mixed_data data(memory_for(where()), 300);
  onefold_options by_name{}, by_guarantee{};
  by_name.struct_bytes = by_guarantee.struct_bytes = sizeof(onefold_options);
  by_name.variant = "superaccumulator";
  by_guarantee.guarantee = ONEFOLD_GUARANTEE_EXACT;
  int refused = 0;
  for (int x = 0; x < onefold::element_type_count; ++x)
    for (int y = 0; y < onefold::element_type_count; ++y) {
      if (x == y || !is_float(static_cast<element_type>(onefold_mixed_dot_type(x, y)))) continue;
      SCOPED_TRACE(std::to_string(x) + " by " + std::to_string(y));
      double named = 0, guaranteed = 0;
      const onefold_request first = request_of(where(), data, x, y, 300, &named),
                            second = request_of(where(), data, x, y, 300, &guaranteed);
      const int status = onefold_reduce(&first, &by_name);
      EXPECT_EQ(status, onefold_reduce(&second, &by_guarantee));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(named), std::bit_cast<std::uint64_t>(guaranteed));
      if (status != ONEFOLD_OK) ++refused;
    }
  EXPECT_GT(refused, 0);
  count_dispatch(where());
}

TEST_P(a_dot_of_two_types, is_that_of_one_where_they_are_the_same) {
  const onefold_executor at = onefold::detail::c_executor(where());
  const mixed_data data(memory_for(where()), 5'000);
  for (int type = 0; type < onefold::element_type_count; ++type) {
    const auto products = static_cast<element_type>(onefold_mixed_dot_type(type, type));
    ASSERT_EQ(products, result_type(mixed_data::type(type), form::dot));
    scalar got{products, 0}, expected{products, 0};
    ASSERT_EQ(onefold_mixed_dot(at, type, data.at(type, 1), type, data.at(type, 2), 4'567, &got.bits), ONEFOLD_OK)
        << onefold_last_error();
    onefold::detail::request plain{where(), mixed_data::type(type), form::dot, data.at(type, 1), 4'567, &expected.bits, true};
    plain.second = data.at(type, 2);
    onefold::detail::run(plain, {});
    EXPECT_EQ(got, expected) << onefold::name(mixed_data::type(type));
  }
  count_dispatch(where());
}

// best() goes where the arrays are.
TEST_P(a_dot_of_two_types, is_found_by_best) {
  const mixed_data data(memory_for(where()), 5'000);
  const auto* const x = static_cast<const float*>(data.at(ONEFOLD_F32, 0));
  const auto* const y = static_cast<const double*>(data.at(ONEFOLD_F64, 3));
  const scalar expected = data.expected(ONEFOLD_F32, 0, ONEFOLD_F64, 3, 4'444);
  EXPECT_EQ(scalar_of(onefold::dot(onefold::best(), x, y, 4'444)), expected);
  EXPECT_EQ(scalar_of(onefold::dot(x, y, 4'444)), expected);
  EXPECT_EQ(scalar_of(onefold::dot(std::span(x, 4'444), std::span(y, 4'444))), expected);
  count_dispatch(where());
}

// Beside other requests in a batch, which may be one launch.
TEST_P(a_dot_of_two_types, may_be_in_a_batch) {
  const mixed_data data(memory_for(where()), 5'000);
  const auto request_of = [&](int x, int y, void* result) {
    onefold_request what{};
    what.struct_bytes = sizeof(what);
    what.where = onefold::detail::c_executor(where());
    what.type = x;
    what.form = ONEFOLD_DOT;
    what.input = data.at(x, 1);
    what.second = data.at(y, 1);
    what.count = 4'099;
    what.output = result;
    what.second_type = x == y ? 0 : y + 1;
    return what;
  };
  scalar found[4] = {{element_type::f64, 0}, {element_type::f64, 0}, {element_type::f32, 0}, {element_type::u64, 0}};
  const std::pair<int, int> pairs[] = {
      {ONEFOLD_F64, ONEFOLD_F64}, {ONEFOLD_F32, ONEFOLD_F64}, {ONEFOLD_BF16, ONEFOLD_F32}, {ONEFOLD_I8, ONEFOLD_U8}};
  std::vector<onefold_request> all;
  for (std::size_t k = 0; k < 4; ++k) all.push_back(request_of(pairs[k].first, pairs[k].second, &found[k].bits));
  ASSERT_EQ(onefold_reduce_batch(all.data(), all.size(), nullptr), ONEFOLD_OK) << onefold_last_error();
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(found[k], data.expected(pairs[k].first, 1, pairs[k].second, 1, 4'099)) << k;
  count_dispatch(where());
}

TEST_P(a_dot_of_two_types, refuses_what_is_not_there) {
  const mixed_data data(memory_for(where()), 100);
  const onefold_executor at = onefold::detail::c_executor(where());
  double result = 0;
  const auto refused = [&](int code, const char* words, int status) {
    EXPECT_EQ(status, code);
    EXPECT_NE(std::string(onefold_last_error()).find(words), std::string::npos) << onefold_last_error();
  };
  const void* const x = data.at(ONEFOLD_F32, 0);
  const void* const y = data.at(ONEFOLD_F64, 0);
  refused(ONEFOLD_UNSUPPORTED, "two types", onefold_mixed_dot(at, ONEFOLD_F32, x, ONEFOLD_C128, y, 10, &result));
  refused(ONEFOLD_UNSUPPORTED, "two types", onefold_mixed_dot(at, ONEFOLD_C64, x, ONEFOLD_F64, y, 10, &result));
  refused(ONEFOLD_INVALID_ARGUMENT, "second_type", onefold_mixed_dot(at, ONEFOLD_F32, x, 77, y, 10, &result));
  refused(ONEFOLD_INVALID_ARGUMENT, "second_type", onefold_mixed_dot(at, ONEFOLD_F32, x, -1, y, 10, &result));
  refused(ONEFOLD_INVALID_ARGUMENT, "request.type", onefold_mixed_dot(at, -5, x, ONEFOLD_F64, y, 10, &result));
  refused(ONEFOLD_NULL_POINTER, "input", onefold_mixed_dot(at, ONEFOLD_F32, nullptr, ONEFOLD_F64, y, 10, &result));
  refused(ONEFOLD_NULL_POINTER, "second input", onefold_mixed_dot(at, ONEFOLD_F32, x, ONEFOLD_F64, nullptr, 10, &result));
  refused(ONEFOLD_NULL_POINTER, "output", onefold_mixed_dot(at, ONEFOLD_F32, x, ONEFOLD_F64, y, 10, nullptr));
  refused(ONEFOLD_MISALIGNED_POINTER, "second input",
          onefold_mixed_dot(at, ONEFOLD_F32, x, ONEFOLD_F64, static_cast<const char*>(y) + 4, 10, &result));
  refused(ONEFOLD_INVALID_ARGUMENT, "negative", onefold_mixed_dot(at, ONEFOLD_F32, x, ONEFOLD_F64, y, ~std::uint64_t{0}, &result));
  const auto inside = [](const void* array) { return const_cast<double*>(static_cast<const double*>(array) + 3); };
  refused(ONEFOLD_INVALID_ARGUMENT, "inside the input", onefold_mixed_dot(at, ONEFOLD_F32, x, ONEFOLD_F64, y, 10, inside(x)));
  refused(ONEFOLD_INVALID_ARGUMENT, "inside the second input",
          onefold_mixed_dot(at, ONEFOLD_F32, x, ONEFOLD_F64, y, 10, inside(y)));
  onefold_request more{};
  more.struct_bytes = sizeof(more);
  more.where = at;
  more.type = ONEFOLD_F32;
  more.form = ONEFOLD_DOT;
  more.input = x;
  more.second = y;
  more.count = 10;
  more.output = &result;
  more.second_type = 1 + ONEFOLD_F64;
  more.flags = ONEFOLD_WIDE;
  refused(ONEFOLD_UNSUPPORTED, "no wider type", onefold_reduce(&more, nullptr));
  more.flags = 8;
  refused(ONEFOLD_UNSUPPORTED, "two types", onefold_reduce(&more, nullptr));
  more.flags = 0;
  more.form = ONEFOLD_SUM;
  refused(ONEFOLD_UNSUPPORTED, "two types", onefold_reduce(&more, nullptr));
  more.form = ONEFOLD_DOT;
  std::int64_t state = 0;
  more.exact_state = &state;
  refused(ONEFOLD_UNSUPPORTED, "states", onefold_reduce(&more, nullptr));
  EXPECT_EQ(onefold_mixed_dot_type(ONEFOLD_C64, ONEFOLD_F32), -1);
  EXPECT_EQ(onefold_mixed_dot_type(ONEFOLD_F32, -1), -1);
  count_dispatch(where());
}

INSTANTIATE_TEST_SUITE_P(forms, a_dot_of_two_types, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
