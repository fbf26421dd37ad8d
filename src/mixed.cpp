/// @file mixed.cpp  Dots of elements of two types: on CPUs sums of the products, which a function gives in blocks; on a GPU folds of their own. Two types of
/// whole numbers of one size have the sums of one such type.

#include "mixed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/rounded.hpp>
#include <onefold/error.hpp>
#include <onefold/operators.hpp>
#include <onefold/types.hpp>

#include "c_api.hpp"
#include "dispatch.hpp"
#include "select.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../backends/cuda/fixed_order/mixed.hpp"
#endif

namespace onefold::detail {

namespace {

constexpr bool is_real_type(std::int32_t type) noexcept { return type >= 0 && type < element_type_count; }

template <class T>
using without_sign = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// The products of elements of two types, of which A is the common one.
template <class A, class X, class Y>
int fill_products(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
  using W = without_sign<A>;  // whose products wrap around
  const auto& of = *static_cast<const arrays_of_two_types*>(context);
  const X* const x = static_cast<const X*>(of.x) + first;
  const Y* const y = static_cast<const Y*>(of.y) + first;
  auto* const to = static_cast<W*>(values[0]);
  for (std::uint64_t i = 0; i < count; ++i) to[i] = product_of(static_cast<W>(x[i]), static_cast<W>(y[i]));
  return 0;
}

using fill_function = int (*)(void*, std::uint64_t, std::uint64_t, void* const*);

template <int X, int Y, bool Wide>
constexpr fill_function function_for() {
  constexpr types_of_dot of{static_cast<element_type>(X), static_cast<element_type>(Y)};
  constexpr bool has_one = Wide ? can_be_wide(of) : !differ_in_sign_alone(of);
  constexpr bool is_of_state = X == Y && !Wide && size_of(of.x) == size_of(type_of_products(of));
  if constexpr ((stands_right(of) || is_of_state) && has_one)
    return fill_products<typename c_type<type_of_products(of, Wide)>::type, typename c_type<of.x>::type,
                         typename c_type<of.y>::type>;
  else
    return nullptr;
}
using functions_for_x = std::array<fill_function, element_type_count>;
template <int X, bool Wide, int... Y>
constexpr functions_for_x functions_of(std::integer_sequence<int, Y...>) {
  return {function_for<X, Y, Wide>()...};
}
template <bool Wide, int... X>
constexpr std::array<functions_for_x, element_type_count> all_functions(std::integer_sequence<int, X...> types) {
  return {functions_of<X, Wide>(types)...};
}
constexpr auto functions = all_functions<false>(std::make_integer_sequence<int, element_type_count>());
constexpr auto wide_functions = all_functions<true>(std::make_integer_sequence<int, element_type_count>());

[[noreturn]] void refuse_more() {
  throw error(
      errc::unsupported,
      "a dot of two types is that of two arrays of real numbers, and nothing else is asked for with it: states of sums take "
      "the products (onefold_range_add_products), and for more convert one array to the other's type");
}

[[noreturn]] void refuse_wide(types_of_dot types) {
  throw error(errc::unsupported, std::string("a dot of ")
                                     .append(name(types.x))
                                     .append(" and ")
                                     .append(name(types.y))
                                     .append(" is accumulated in ")
                                     .append(name(type_of_products(types)))
                                     .append(", for which there is no wider type: leave accumulate_as or ONEFOLD_WIDE away"));
}

types_of_dot checked_types(const onefold_request& asked) {
  if (!is_real_type(asked.type)) {
    if (asked.type == ONEFOLD_C64 || asked.type == ONEFOLD_C128) refuse_more();
    refuse_number("request.type", asked.type, "one of onefold_type");
  }
  if (asked.second_type < 1 || !is_real_type(asked.second_type - 1)) {
    if (asked.second_type == ONEFOLD_C64 + 1 || asked.second_type == ONEFOLD_C128 + 1) refuse_more();
    refuse_number("request.second_type", asked.second_type, "0, or 1 more than one of onefold_type");
  }
  return {static_cast<element_type>(asked.type), static_cast<element_type>(asked.second_type - 1)};
}

// The exact sum is one of products of numbers: none is rounded when it becomes one of the type of the products.
void check_has_exact_sum(types_of_dot types, element_type products) {
  for (const element_type of : {types.x, types.y})
    if (!exact::are_all_in(of, products))
      throw error(errc::guarantee_not_met, std::string("guarantee::exact cannot be given: not all numbers of ")
                                               .append(name(of))
                                               .append(" are numbers of ")
                                               .append(name(products))
                                               .append(", which the products of ")
                                               .append(name(types.x))
                                               .append(" and ")
                                               .append(name(types.y))
                                               .append(" are"));
}

bool is_wide(const onefold_request& asked) noexcept { return (asked.flags & ONEFOLD_WIDE) != 0; }

// An array, or, where that stands in memory, the place of its address: of the executor's memory both.
onefold_array array_of(const void* data, const void* const* place, element_type type) {
  const auto bytes = static_cast<std::uint32_t>(size_of(type));
  return {place == nullptr ? data : static_cast<const void*>(place), bytes, bytes};
}

void check_no_overlap(const onefold_request& asked, types_of_dot types) {
  const std::size_t bytes = size_of(type_of_products(types, is_wide(asked)));
  if (asked.input != nullptr && overlaps(asked.output, bytes, asked.input, asked.count * size_of(types.x))) refuse_overlap("input");
  if (asked.second != nullptr && overlaps(asked.output, bytes, asked.second, asked.count * size_of(types.y)))
    refuse_overlap("second input");
}

// What stands in memory is read here, unless a GPU does it. best() goes where the first array lies, or its address.
void read_memory(onefold_request& what) {
  if (!is_for_gpu(what)) read_memory_of_host(what);
}

arrays_of_two_types in_order_of(arrays_of_two_types arrays) noexcept {
  if (!stands_right(arrays.types)) {
    std::swap(arrays.types.x, arrays.types.y);
    std::swap(arrays.x, arrays.y);
  }
  return arrays;
}

}  // namespace

void store_products(const types_of_dot& of, element_type products, const void* x, const void* y, std::size_t count, void* to) {
  arrays_of_two_types in_order = in_order_of({of, x, y});
  const types_of_dot& types = in_order.types;
  const bool is_wide = products != type_of_products(types);
  fill_function fill = (is_wide ? wide_functions : functions)[static_cast<std::size_t>(types.x)][static_cast<std::size_t>(types.y)];
  if (fill == nullptr)  // they differ in their sign alone, which is nothing to the lowest bytes
    fill = size_of(products) == 4 ? fill_products<std::uint32_t, std::uint32_t, std::uint32_t>
                                  : fill_products<std::uint64_t, std::uint64_t, std::uint64_t>;
  fill(&in_order, 0, count, &to);
  const auto make_canonical = [count]<class A>(A* all) {
    for (std::size_t i = 0; i < count; ++i) all[i] = canonical(all[i]);
  };
  if (products == element_type::f64) make_canonical(static_cast<double*>(to));
  if (products == element_type::f32) make_canonical(static_cast<float*>(to));
}

void reduce_mixed(const onefold_request& asked, const onefold_options* how) {
  types_of_dot types = checked_types(asked);
  onefold_request what = asked;
  what.struct_bytes = sizeof(what);  // the caller's header may be newer
  what.second_type = 0;
  if (types.x == types.y) return check_status(onefold_reduce(&what, how));
  const bool wide = is_wide(asked);
  const bool has_exact_sum = asks_for_exact(how) && is_float(type_of_products(types, wide));
  if (asked.form != ONEFOLD_DOT || (asked.flags & ~(ONEFOLD_INTO | ONEFOLD_WIDE)) != 0 || asked.results > 1 ||
      asked.operators != nullptr || asked.source != nullptr || asked.own != nullptr || asked.device != nullptr ||
      asked.vectors != nullptr || asked.tree_value != nullptr || (asked.exact_state != nullptr && !has_exact_sum) ||
      asked.present != nullptr)
    refuse_more();
  if (wide && !can_be_wide(types)) refuse_wide(types);
  onefold_options by_order{};
  if (has_exact_sum) {
    check_has_exact_sum(types, type_of_products(types, wide));
  } else if (asks_for_exact(how)) {
    by_order = known_options(how);  // no order changes a sum of integers
    by_order.guarantee = ONEFOLD_GUARANTEE_FIXED;
    how = &by_order;
  }
  check_count(asked.count, std::max(size_of(types.x), size_of(types.y)));
  if (differ_in_sign_alone(types) && !wide) {
    what.type = static_cast<std::int32_t>(type_of_products(types));
    return check_status(onefold_reduce(&what, how));
  }
  if (has_something_in_memory(what)) {
    check_places(what);
    read_memory(what);
  }
  check_no_overlap(what, types);

  const onefold_array arrays[] = {array_of(what.input, what.input_at, types.x), array_of(what.second, what.second_at, types.y)};
  arrays_of_two_types in_order = in_order_of({types, what.input, what.second});
  [[maybe_unused]] const bool is_swapped = !stands_right(types);  // for a GPU
  types = in_order.types;
  const auto& filling = wide ? wide_functions : functions;
  const onefold_value_source source{&in_order, filling[static_cast<std::size_t>(types.x)][static_cast<std::size_t>(types.y)]};
#ifdef ONEFOLD_HAVE_CUDA
  const cuda_backend::mixed_dot_of on_gpu{types.x, types.y, is_swapped};
  const device_fold fold =
      cuda_backend::fold_of_mixed_dot(on_gpu, type_of_products(types, wide), has_something_in_memory(what), in_order.x, in_order.y);
  what.device = &fold;
#endif
  what.type = static_cast<std::int32_t>(type_of_products(types, wide));
  what.form = ONEFOLD_SUM;
  what.flags &= ~ONEFOLD_WIDE;
  what.input = what.second = nullptr;
  what.source = &source;
  what.arrays = arrays;
  what.array_count = 2;
  reduce_products(what, in_order, how);
}

element_type type_of_mixed(const onefold_request& asked) noexcept {
  return type_of_products({static_cast<element_type>(asked.type), static_cast<element_type>(asked.second_type - 1)},
                          is_wide(asked));
}

std::size_t result_bytes_of_mixed(const onefold_request& asked) noexcept {
  if (!is_real_type(asked.type) || asked.second_type < 1 || !is_real_type(asked.second_type - 1)) return 0;
  return size_of(type_of_mixed(asked));
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
  what.second_type = y_type >= 0 && y_type < std::numeric_limits<std::int32_t>::max() ? y_type + 1 : y_type;  // a type, or refused
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
