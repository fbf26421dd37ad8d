/// @file mixed.cpp  Dots of elements of two types: on CPUs sums of the products, which a function gives in blocks; on a GPU folds of their own. Two types of
/// whole numbers of one size have the sums of one such type.

#include "mixed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/rounded.hpp>
#include <onefold/error.hpp>
#include <onefold/types.hpp>

#include "c_api.hpp"
#include "dispatch.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../backends/cuda/fixed_order/mixed.hpp"
#endif

namespace onefold::detail {

namespace {

struct types_of_dot {
  element_type x;
  element_type y;
};

// What C adds two numbers of these accumulators in.
constexpr element_type common_type(element_type a, element_type b) noexcept {
  if (a == element_type::f64 || b == element_type::f64) return element_type::f64;
  if (a == element_type::f32 || b == element_type::f32) return element_type::f32;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  if (a == b) return a;
  return size_of(a) == 4 ? element_type::u32 : element_type::u64;
}
constexpr element_type type_of_products(types_of_dot of) noexcept {
  return common_type(accumulator_type(of.x), accumulator_type(of.y));
}

constexpr bool is_real_type(std::int32_t type) noexcept { return type >= 0 && type < element_type_count; }

template <class T>
using without_sign = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

struct arrays_of_dot {
  const void* x;
  const void* y;
};

// The products of elements of two types, of which A is the common one.
template <class A, class X, class Y>
int fill_products(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
  using W = without_sign<A>;  // whose products wrap around
  const auto& of = *static_cast<const arrays_of_dot*>(context);
  const X* const x = static_cast<const X*>(of.x) + first;
  const Y* const y = static_cast<const Y*>(of.y) + first;
  auto* const to = static_cast<W*>(values[0]);
  for (std::uint64_t i = 0; i < count; ++i) to[i] = product_of(static_cast<W>(x[i]), static_cast<W>(y[i]));
  return 0;
}

using fill_function = int (*)(void*, std::uint64_t, std::uint64_t, void* const*);

// Of two arrays the one with the larger elements is the first, and of equal ones either may be: products know no order, and half as many functions do.
constexpr bool stands_right(types_of_dot of) noexcept {
  return size_of(of.x) > size_of(of.y) || (size_of(of.x) == size_of(of.y) && of.x < of.y);
}

// Whole numbers of 4 and 8 bytes whose products are as long: modulo a power of two those of either type are the same.
constexpr bool differ_in_sign_alone(types_of_dot of) noexcept {
  return !is_float(of.x) && !is_float(of.y) && size_of(of.x) == size_of(of.y) && size_of(of.x) >= 4;
}

template <int X, int Y>
constexpr fill_function function_for() {
  constexpr types_of_dot of{static_cast<element_type>(X), static_cast<element_type>(Y)};
  if constexpr (stands_right(of) && !differ_in_sign_alone(of))
    return fill_products<typename c_type<type_of_products(of)>::type, typename c_type<of.x>::type, typename c_type<of.y>::type>;
  else
    return nullptr;
}
using functions_for_x = std::array<fill_function, element_type_count>;
template <int X, int... Y>
constexpr functions_for_x functions_of(std::integer_sequence<int, Y...>) {
  return {function_for<X, Y>()...};
}
template <int... X>
constexpr std::array<functions_for_x, element_type_count> all_functions(std::integer_sequence<int, X...> types) {
  return {functions_of<X>(types)...};
}
constexpr auto functions = all_functions(std::make_integer_sequence<int, element_type_count>());

[[noreturn]] void refuse_more() {
  throw error(errc::unsupported,
              "a dot of two types is that of two arrays of real numbers, in the type that both become: it takes neither a wider "
              "one, a count or "
              "addresses in memory, nor a state");
}

types_of_dot checked_types(const onefold_request& asked) {
  if (!is_real_type(asked.type)) {
    if (asked.type == ONEFOLD_C64 || asked.type == ONEFOLD_C128) refuse_more();
    refuse_number("request.type", asked.type);
  }
  if (!is_real_type(asked.second_type - 1)) {
    if (asked.second_type - 1 == ONEFOLD_C64 || asked.second_type - 1 == ONEFOLD_C128) refuse_more();
    refuse_number("request.second_type", asked.second_type);
  }
  return {static_cast<element_type>(asked.type), static_cast<element_type>(asked.second_type - 1)};
}

bool asks_for_exact(const onefold_options* how) {
  return how != nullptr && how->struct_bytes >= offsetof(onefold_options, needs_workspace) &&
         how->guarantee == ONEFOLD_GUARANTEE_EXACT;
}

onefold_array array_of(const void* data, element_type type) {
  const auto bytes = static_cast<std::uint32_t>(size_of(type));
  return {data, bytes, bytes};
}

void check_no_overlap(const onefold_request& asked, types_of_dot types) {
  const std::size_t bytes = size_of(type_of_products(types));
  if (asked.input != nullptr && overlaps(asked.output, bytes, asked.input, asked.count * size_of(types.x))) refuse_overlap("input");
  if (asked.second != nullptr && overlaps(asked.output, bytes, asked.second, asked.count * size_of(types.y)))
    refuse_overlap("second input");
}

}  // namespace

void reduce_mixed(const onefold_request& asked, const onefold_options* how) {
  types_of_dot types = checked_types(asked);
  onefold_request what = asked;
  what.struct_bytes = sizeof(what);  // the caller's header may be newer
  what.second_type = 0;
  if (types.x == types.y) return check_status(onefold_reduce(&what, how));
  if (asked.form != ONEFOLD_DOT || (asked.flags & ~ONEFOLD_INTO) != 0 || asked.results > 1 || asked.operators != nullptr ||
      asked.source != nullptr || asked.own != nullptr || asked.device != nullptr || asked.vectors != nullptr ||
      asked.tree_value != nullptr || asked.exact_state != nullptr || asked.count_at != nullptr || asked.present != nullptr ||
      asked.input_at != nullptr || asked.second_at != nullptr)
    refuse_more();
  if (asks_for_exact(how))
    throw error(errc::guarantee_not_met, "guarantee::exact cannot be given: products of two types have no exact sum so far");
  check_count(asked.count, std::max(size_of(types.x), size_of(types.y)));
  if (differ_in_sign_alone(types)) {
    what.type = static_cast<std::int32_t>(type_of_products(types));
    return check_status(onefold_reduce(&what, how));
  }
  check_no_overlap(asked, types);

  const onefold_array arrays[] = {array_of(asked.input, types.x), array_of(asked.second, types.y)};
  arrays_of_dot in_order{asked.input, asked.second};
  if (!stands_right(types)) {
    std::swap(types.x, types.y);
    std::swap(in_order.x, in_order.y);
  }
  const onefold_value_source source{&in_order, functions[static_cast<std::size_t>(types.x)][static_cast<std::size_t>(types.y)]};
#ifdef ONEFOLD_HAVE_CUDA
  const cuda_backend::mixed_types on_gpu{types.x, types.y};
  const device_fold fold = cuda_backend::fold_of_mixed_dot(on_gpu, in_order.x, in_order.y);
  what.device = &fold;
#endif
  what.type = static_cast<std::int32_t>(type_of_products(types));
  what.form = ONEFOLD_SUM;
  what.input = what.second = nullptr;
  what.source = &source;
  what.arrays = arrays;
  what.array_count = 2;
  check_status(onefold_reduce(&what, how));
}

std::size_t result_bytes_of_mixed(const onefold_request& asked) noexcept {
  if (!is_real_type(asked.type) || !is_real_type(asked.second_type - 1)) return 0;
  return size_of(type_of_products({static_cast<element_type>(asked.type), static_cast<element_type>(asked.second_type - 1)}));
}

}  // namespace onefold::detail

using namespace onefold::detail;

namespace {

onefold_request request_of(const onefold_executor& where, std::int32_t x_type, const void* x, std::int32_t y_type, const void* y,
                           std::uint64_t n, void* result) {
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = where;
  what.type = x_type;
  what.form = ONEFOLD_DOT;
  what.input = x;
  what.count = n;
  what.output = result;
  what.second = y;
  what.second_type = y_type < 0 ? y_type : y_type + 1;
  return what;
}

}  // namespace

int32_t onefold_mixed_dot_type(int32_t x_type, int32_t y_type) {
  if (!is_real_type(x_type) || !is_real_type(y_type)) return -1;
  return static_cast<std::int32_t>(
      type_of_products({static_cast<onefold::element_type>(x_type), static_cast<onefold::element_type>(y_type)}));
}

int onefold_mixed_dot(onefold_executor where, int32_t x_type, const void* x, int32_t y_type, const void* y, uint64_t n,
                      void* result) {
  const onefold_request what = request_of(where, x_type, x, y_type, y, n, result);
  return onefold_reduce(&what, nullptr);
}

int onefold_mixed_dot_into(onefold_executor where, int32_t x_type, const void* x, int32_t y_type, const void* y, uint64_t n,
                           void* result, const onefold_options* how) {
  onefold_request what = request_of(where, x_type, x, y_type, y, n, result);
  what.flags = ONEFOLD_INTO;
  return onefold_reduce(&what, how);
}
