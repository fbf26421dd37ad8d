/// @file mixed_states_test.cpp  Products of elements of two types in states of sums: the bytes are those of a state of an array that holds the products, on
/// every executor, wherever ranges begin and end.

#include <cstddef>
#include <cstdint>
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
using onefold::form;
using onefold::range_state;

class products_of_two_types : public executor_test {
 protected:
  static constexpr std::size_t most = 40'011;
};

struct destroys {
  void operator()(onefold_range* state) const { onefold_range_destroy(state); }
};
using c_state = std::unique_ptr<onefold_range, destroys>;

c_state state_of_sum(element_type type, std::uint64_t begin, std::uint32_t flags = 0) {
  onefold_range* made = nullptr;
  onefold::detail::check_status(onefold_range_create(static_cast<int>(type), ONEFOLD_SUM, flags, begin, &made));
  return c_state(made);
}
std::vector<std::byte> bytes_of(const c_state& of) {
  std::vector<std::byte> all(onefold_range_bytes(of.get()));
  onefold::detail::check_status(onefold_range_write(of.get(), all.data(), all.size()));
  return all;
}
// Of an array that holds the products, on one core.
template <class A>
c_state of_array(std::uint64_t begin, const std::vector<A>& products) {
  c_state made = state_of_sum(onefold::element_type_of<A>, begin);
  onefold::detail::check_status(
      onefold_range_add(made.get(), onefold_serial(), products.data(), nullptr, products.size(), nullptr));
  return made;
}

int add_products(const c_state& to, const onefold_executor& at, const onefold_products& of, std::uint64_t n,
                 const onefold_options* how = nullptr) {
  return onefold_range_add_products(to.get(), at, &of, n, how);
}

struct range {
  std::uint64_t begin;
  std::vector<std::size_t> parts;  // elements of each
};
// Within a tile, of whole tiles, cut at one end and at both, far from 0, empty, and in parts that are.
std::vector<range> ranges_for(element_type products) {
  const std::size_t tile = 4096 / onefold::size_of(products);
  return {{0, {0}},
          {5, {1}},
          {0, {tile - 1, 1, tile + 1}},
          {3, {tile / 2, 0, 4 * tile}},
          {tile, {4 * tile, tile, 0, 7}},
          {7 * tile - 1, {1, 9 * tile, tile - 3}},
          {(std::uint64_t{1} << 40) + 11, {13 * tile + 5}},
          {2 * tile, {}}};
}

// All pairs, from C, in the usual type and in the wider one; both arrays begin anywhere.
TEST_P(products_of_two_types, make_the_states_of_an_array_of_them) {
  const onefold_executor at = onefold::detail::c_executor(where());
  const mixed_data data(memory_for(where()), most);
  for (int x = 0; x < onefold::element_type_count; ++x)
    for (int y = 0; y < onefold::element_type_count; ++y) {
      const auto usual = static_cast<element_type>(onefold_mixed_dot_type(x, y));
      for (const element_type products : {usual, mixed_data::wider(x, y)}) {
        if (x == y && onefold::size_of(data.type(x)) != onefold::size_of(products)) continue;  // which are those of a dot
        const bool is_once = products == usual && mixed_data::wider(x, y) != usual;            // the other is in its place next
        for (const range& of : ranges_for(products)) {
          if (is_once && of.begin == 5) continue;
          c_state made = state_of_sum(products, of.begin);
          std::size_t count = 0;
          for (const std::size_t part : of.parts) {
            ASSERT_EQ(add_products(made, at, {data.at(x, 1 + count), data.at(y, 3 + count), x, y}, part), ONEFOLD_OK)
                << onefold_last_error();
            count += part;
          }
          const auto expected = with_type(
              products, [&]<class A>() { return bytes_of(of_array(of.begin, data.template all_products<A>(x, 1, y, 3, count))); });
          ASSERT_EQ(bytes_of(made), expected) << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << " in "
                                              << onefold::name(products) << ", " << count << " from " << of.begin;
          if (of.begin != 0) continue;
          scalar got{products, 0};
          ASSERT_EQ(onefold_range_result(made.get(), 0, &got.bits), ONEFOLD_OK);
          ASSERT_EQ(got, data.expected(x, 1, y, 3, count, products));
        }
        if (mixed_data::wider(x, y) == usual) break;
      }
    }
  count_dispatch(where());
}

TEST_P(products_of_two_types, know_special_values) {
  const onefold_executor at = onefold::detail::c_executor(where());
  for (int round = 0; round < 6; ++round) {
    const mixed_data data(memory_for(where()), 900, static_cast<special>(round));
    for (int x = 0; x < onefold::element_type_count; ++x)
      for (int y = 0; y < onefold::element_type_count; ++y) {
        if (x == y) continue;
        const auto products = static_cast<element_type>(onefold_mixed_dot_type(x, y));
        const c_state made = state_of_sum(products, 0);
        ASSERT_EQ(add_products(made, at, {data.at(x, 0), data.at(y, 1), x, y}, 3), ONEFOLD_OK);
        ASSERT_EQ(add_products(made, at, {data.at(x, 3), data.at(y, 4), x, y}, 700), ONEFOLD_OK);
        // Whose NaN it is, of two factors, compilers decide: it is the canonical one.
        with_type(products, [&]<class A>() {
          std::vector<A> all = data.template all_products<A>(x, 0, y, 1, 703);
          for (A& each : all) each = onefold::detail::canonical(each);
          EXPECT_EQ(bytes_of(made), bytes_of(of_array(0, all)));
          return 0;
        });
        scalar got{products, 0};
        ASSERT_EQ(onefold_range_result(made.get(), 0, &got.bits), ONEFOLD_OK);
        ASSERT_EQ(got, data.expected(x, 0, y, 1, 703))
            << onefold::name(data.type(x)) << " with " << onefold::name(data.type(y)) << ", values " << round;
      }
  }
  count_dispatch(where());
}

template <class T, class U, class A>
void expect_typed(const onefold::executor& at, const mixed_data& data) {
  constexpr int x = static_cast<int>(onefold::element_type_of<T>), y = static_cast<int>(onefold::element_type_of<U>);
  const auto* const of_x = static_cast<const T*>(data.at(x, 1));
  const auto* const of_y = static_cast<const U*>(data.at(y, 2));
  for (const std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{9'001}}) {
    const std::vector<A> products = data.template all_products<A>(x, 1, y, 2, n);
    const std::size_t cut = n / 3;
    range_state<form::sum, A> left, right(cut), whole;
    left.add_products(at, of_x, of_y, cut);
    right.add_products(at, std::span(of_x + cut, n - cut), std::span(of_y + cut, n - cut));
    left.append(range_state<form::sum, A>::from_bytes(right.bytes()));
    EXPECT_EQ(left.bytes(), whole.add(onefold::serial(), products).bytes()) << n;
    EXPECT_EQ(scalar_of(left.value()), data.expected(x, 1, y, 2, n, onefold::element_type_of<A>)) << n;
    // Whoever has the products adds these, as well as the values of a function.
    range_state<form::sum, A> of_three;
    of_three.add(onefold::serial(), products.data(), cut).add_products(at, of_x + cut, of_y + cut, cut);
    of_three.add(onefold::serial(), n - 2 * cut, [&products, &cut](std::uint64_t i) { return products[2 * cut + i]; });
    EXPECT_EQ(of_three.bytes(), whole.bytes()) << n;
  }
}

TEST_P(products_of_two_types, are_taken_from_cpp) {
  const mixed_data data(memory_for(where()), 9'010);
  expect_typed<float, double, double>(where(), data);
  expect_typed<double, float, double>(where(), data);
  expect_typed<float16, float, float>(where(), data);
  expect_typed<float, float16, double>(where(), data);
  expect_typed<bfloat16, float16, float>(where(), data);
  expect_typed<bfloat16, float16, double>(where(), data);
  expect_typed<std::int8_t, float, float>(where(), data);
  expect_typed<std::int8_t, std::uint8_t, std::uint64_t>(where(), data);
  expect_typed<std::int16_t, std::int32_t, std::int64_t>(where(), data);
  expect_typed<std::int32_t, std::uint32_t, std::uint32_t>(where(), data);
  expect_typed<std::int32_t, std::uint32_t, std::uint64_t>(where(), data);
  expect_typed<std::int64_t, std::uint64_t, std::uint64_t>(where(), data);
  count_dispatch(where());
}

// Two types of C++ may be one element type.
TEST_P(products_of_two_types, may_be_of_one_type) {
  if (where().backend() == onefold::backend::cuda) GTEST_SKIP() << "arrays of the host's";
  const std::vector<long> x{1, 2, -3, 1L << 40};
  const std::vector<long long> y{5, -6, 7, 1 << 20};
  range_state<form::sum, long long> whole;
  whole.add_products(where(), x, y);
  EXPECT_EQ(whole.value(), onefold::dot(where(), x, y));
  const std::vector<float> z{1, 2, 3};
  const onefold_products of_floats{z.data(), z.data(), ONEFOLD_F32, ONEFOLD_F32};
  EXPECT_EQ(add_products(state_of_sum(element_type::f64, 0), onefold::detail::c_executor(where()), of_floats, 3),
            ONEFOLD_UNSUPPORTED);
  EXPECT_NE(std::string(onefold_last_error()).find("state of dot"), std::string::npos) << onefold_last_error();
  count_dispatch(where());
}

// No order changes a sum of integers.
TEST_P(products_of_two_types, are_exact_where_they_are_integers) {
  if (where().backend() == onefold::backend::cuda) GTEST_SKIP() << "arrays of the host's";
  const std::vector<std::int32_t> x{1, -2, 3};
  const std::vector<std::uint32_t> y{7, 8, 9};
  const std::vector<std::int8_t> z{-1, 2, -3};
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  EXPECT_EQ(onefold::dot(where(), x, y, exactly), onefold::dot(where(), x, y));
  EXPECT_EQ(onefold::dot(where(), x, z, exactly), -1 - 4 - 9);
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "not all numbers of i32 are numbers of f32", [&] {
    static_cast<void>(onefold::dot(where(), x, std::vector<float>{1, 2, 3}, exactly));
  }));
  count_dispatch(where());
}

TEST_P(products_of_two_types, are_found_by_best) {
  const mixed_data data(memory_for(where()), 9'010);
  expect_typed<float, double, double>(onefold::best(), data);
  expect_typed<std::int8_t, std::uint8_t, std::uint64_t>(onefold::best(), data);
  count_dispatch(where());
}

TEST_P(products_of_two_types, are_reported) {
  const mixed_data data(memory_for(where()), 9'010);
  onefold::report ran;
  range_state<form::sum, double> state(7);
  state.add_products(where(), static_cast<const float*>(data.at(ONEFOLD_F32, 0)),
                     static_cast<const double*>(data.at(ONEFOLD_F64, 0)), 9'000, {.report = &ran});
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.backend, where().backend());
  count_dispatch(where());
}

// Three ranks' parts of a message, and products at cut tiles.
TEST_P(products_of_two_types, go_in_messages) {
  const onefold_executor at = onefold::detail::c_executor(where());
  const mixed_data data(memory_for(where()), most);
  for (const auto& types : {std::tuple{ONEFOLD_F32, ONEFOLD_F64, element_type::f64},
                            {ONEFOLD_BF16, ONEFOLD_F32, element_type::f32},
                            {ONEFOLD_F16, ONEFOLD_F32, element_type::f64},
                            {ONEFOLD_I8, ONEFOLD_U8, element_type::u64},
                            {ONEFOLD_U32, ONEFOLD_I32, element_type::u32}}) {
    const int x = std::get<0>(types), y = std::get<1>(types);  // clang's lambdas take no structured bindings
    const element_type products = std::get<2>(types);
    const std::uint64_t tile = 4096 / onefold::size_of(products), n = 9 * tile + 77;
    const std::uint64_t cuts[] = {0, 3 * tile, 3 * tile, n};
    const onefold_message_part part{static_cast<int>(products), ONEFOLD_SUM, 0, 8};
    const std::size_t bytes = onefold_message_bytes(&part, 1);
    const onefold_products of{data.at(x, 0), data.at(y, 1), x, y};
    std::vector<std::uint64_t> messages[3];
    for (int rank = 0; rank < 3; ++rank) {
      const std::uint64_t first = cuts[rank], count = cuts[rank + 1] - first;
      messages[rank].resize(bytes / sizeof(std::uint64_t));
      void* const message = messages[rank].data();
      ASSERT_EQ(onefold_message_begin(message, bytes, &part, 1, 5, rank), ONEFOLD_OK);
      ASSERT_EQ(onefold_message_add_products(message, 0, at, &of, first, first, count, n, nullptr), ONEFOLD_OK)
          << onefold_last_error();
    }
    onefold_message_merge(messages[0].data(), messages[1].data());
    onefold_message_merge(messages[1].data(), messages[2].data());
    scalar got{products, 0};
    ASSERT_EQ(onefold_message_result(messages[2].data(), 0, 3, n, 0, &got.bits), ONEFOLD_OK) << onefold_last_error();
    EXPECT_EQ(got, data.expected(x, 0, y, 1, n, products));

    std::vector<std::byte> copied((tile - 1) * onefold::size_of(products));
    const auto copy = [type = static_cast<int>(products), at](const onefold_products* some, std::uint64_t from, std::uint64_t count,
                                                              void* to) {
      return onefold_copy_products(type, at, some, from, count, to);
    };
    ASSERT_EQ(copy(&of, 3, tile - 1, copied.data()), ONEFOLD_OK) << onefold_last_error();
    with_type(products, [&]<class A>() {
      const auto expected = data.template all_products<A>(x, 3, y, 4, tile - 1);
      EXPECT_EQ(std::memcmp(copied.data(), expected.data(), copied.size()), 0);
      return 0;
    });
    const onefold_products nowhere{nullptr, nullptr, x, y}, half{data.at(x, 0), nullptr, x, y};
    EXPECT_EQ(copy(&nowhere, 0, 0, nullptr), ONEFOLD_OK);
    EXPECT_EQ(copy(&of, 0, tile, copied.data()), ONEFOLD_INVALID_ARGUMENT);
    EXPECT_EQ(copy(&half, 0, 3, copied.data()), ONEFOLD_NULL_POINTER);
    EXPECT_EQ(copy(&of, 0, 3, nullptr), ONEFOLD_NULL_POINTER);
    EXPECT_EQ(copy(nullptr, 0, 3, copied.data()), ONEFOLD_NULL_POINTER);
    void* const message = messages[0].data();
    EXPECT_EQ(onefold_message_begin(message, bytes, &part, 1, 5, 0), ONEFOLD_OK);
    EXPECT_EQ(onefold_message_add_products(message, 0, at, &half, 0, 0, tile, n, nullptr), ONEFOLD_NULL_POINTER);
    EXPECT_EQ(onefold_message_add_products(message, 1, at, &of, 0, 0, tile, n, nullptr), ONEFOLD_INVALID_ARGUMENT);
  }
  count_dispatch(where());
}

TEST_P(products_of_two_types, are_refused_where_they_are_none) {
  const mixed_data data(memory_for(where()), 3'000);
  const onefold_executor at = onefold::detail::c_executor(where());
  const void* const x = data.at(ONEFOLD_F32, 0);
  const void* const y = data.at(ONEFOLD_F64, 0);
  const c_state sum = state_of_sum(element_type::f64, 5);
  ASSERT_EQ(add_products(sum, at, {x, y, ONEFOLD_F32, ONEFOLD_F64}, 2), ONEFOLD_OK);
  const auto before = bytes_of(sum);
  const auto refused = [&](int code, const char* words, int status) {
    EXPECT_EQ(status, code);
    EXPECT_NE(std::string(onefold_last_error()).find(words), std::string::npos) << onefold_last_error();
    EXPECT_EQ(bytes_of(sum), before);
  };
  const auto add = [&](const c_state& to, int x_type, const void* first, int y_type, const void* second, std::uint64_t n,
                       const onefold_options* how = nullptr) {
    return add_products(to, at, {first, second, x_type, y_type}, n, how);
  };
  refused(ONEFOLD_NULL_POINTER, "state", add(nullptr, ONEFOLD_F32, x, ONEFOLD_F64, y, 10));
  for (const std::uint64_t n : {std::uint64_t{10}, std::uint64_t{1'500}}) {
    refused(ONEFOLD_NULL_POINTER, "input", add(sum, ONEFOLD_F32, nullptr, ONEFOLD_F64, y, n));
    refused(ONEFOLD_NULL_POINTER, "second input", add(sum, ONEFOLD_F32, x, ONEFOLD_F64, nullptr, n));
    refused(ONEFOLD_MISALIGNED_POINTER, "second input", add(sum, ONEFOLD_F32, x, ONEFOLD_F64, static_cast<const char*>(y) + 4, n));
  }
  refused(ONEFOLD_INVALID_ARGUMENT, "negative", add(sum, ONEFOLD_F32, x, ONEFOLD_F64, y, ~std::uint64_t{0}));
  refused(ONEFOLD_INVALID_ARGUMENT, "second array", add(sum, ONEFOLD_F32, x, 77, y, 10));
  refused(ONEFOLD_INVALID_ARGUMENT, "first array", add(sum, ONEFOLD_C64, x, ONEFOLD_F64, y, 10));
  refused(ONEFOLD_INVALID_ARGUMENT, "the products of f32 and f16 are f32, or f64, and not i64",
          add(state_of_sum(element_type::i64, 0), ONEFOLD_F32, x, ONEFOLD_F16, y, 10));
  refused(ONEFOLD_INVALID_ARGUMENT, "are f64, and not f32",
          add(state_of_sum(element_type::f32, 0), ONEFOLD_F32, x, ONEFOLD_F64, y, 10));
  refused(ONEFOLD_UNSUPPORTED, "not to sum of f32, accumulated",
          add(state_of_sum(element_type::f32, 0, ONEFOLD_WIDE), ONEFOLD_F32, x, ONEFOLD_F16, y, 10));
  onefold_range* other = nullptr;
  ASSERT_EQ(onefold_range_create(ONEFOLD_F64, ONEFOLD_DOT, 0, 0, &other), ONEFOLD_OK);
  const c_state dot(other);
  refused(ONEFOLD_UNSUPPORTED, "not to dot of f64", add(dot, ONEFOLD_F32, x, ONEFOLD_F64, y, 10));
  const std::uint8_t operators[] = {ONEFOLD_OP_SUM, ONEFOLD_OP_MIN};
  ASSERT_EQ(onefold_range_create_together(ONEFOLD_F64, operators, 2, 0, &other), ONEFOLD_OK);
  const c_state together(other);
  refused(ONEFOLD_UNSUPPORTED, "not to reduce_together", add(together, ONEFOLD_F32, x, ONEFOLD_F64, y, 10));
  onefold_options exactly{};
  exactly.struct_bytes = sizeof(exactly);
  exactly.guarantee = ONEFOLD_GUARANTEE_EXACT;
  refused(ONEFOLD_GUARANTEE_NOT_MET, "fixed order", add(sum, ONEFOLD_F32, x, ONEFOLD_F64, y, 10, &exactly));

  range_state<form::sum, double> typed;
  const auto* const floats = static_cast<const float*>(x);
  const auto* const doubles = static_cast<const double*>(y);
  const float* const nowhere = nullptr;
  EXPECT_TRUE(refuses(errc::null_pointer, "input", [&] { typed.add_products(where(), nowhere, doubles, 10); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "input", [&] {
    typed.add_products(where(), reinterpret_cast<const float*>(static_cast<const char*>(x) + 2), doubles, 10);
  }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative",
                      [&] { typed.add_products(where(), floats, doubles, std::numeric_limits<std::uint64_t>::max()); }));
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "length", [&] { typed.add_products(where(), std::span(floats, 3), std::span(doubles, 4)); }));
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "fixed order",
                      [&] { typed.add_products(where(), floats, doubles, 10, {.guarantee = onefold::guarantee::exact}); }));
  EXPECT_EQ(typed.end(), 0U);
  count_dispatch(where());
}

INSTANTIATE_TEST_SUITE_P(forms, products_of_two_types, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
