/// @file mixed_test.cpp  Dots of elements of two types, on every executor: the bits are those of an array that holds the products.

#include <array>
#include <cstring>
#include <limits>
#include <memory>
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
  return {0, 1, 2, 31, 33, tile - 1, tile, tile + 1, 16 * tile + 5, 39'989};
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
        for (const auto& [first_x, first_y] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 3}, {7, 2}}) {
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
  onefold_options exactly{};
  exactly.struct_bytes = sizeof(exactly);
  exactly.guarantee = ONEFOLD_GUARANTEE_EXACT;
  refused(ONEFOLD_GUARANTEE_NOT_MET, "two types",
          onefold_mixed_dot_into(at, ONEFOLD_F32, x, ONEFOLD_F64, y, 10, &result, &exactly));
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
  refused(ONEFOLD_UNSUPPORTED, "wider", onefold_reduce(&more, nullptr));
  more.flags = 0;
  more.form = ONEFOLD_SUM;
  refused(ONEFOLD_UNSUPPORTED, "two types", onefold_reduce(&more, nullptr));
  more.form = ONEFOLD_DOT;
  const std::uint64_t n = 3;
  more.count_at = &n;
  refused(ONEFOLD_UNSUPPORTED, "count", onefold_reduce(&more, nullptr));
  EXPECT_EQ(onefold_mixed_dot_type(ONEFOLD_C64, ONEFOLD_F32), -1);
  EXPECT_EQ(onefold_mixed_dot_type(ONEFOLD_F32, -1), -1);
  count_dispatch(where());
}

INSTANTIATE_TEST_SUITE_P(forms, a_dot_of_two_types, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
