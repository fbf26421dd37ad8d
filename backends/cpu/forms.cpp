#include "forms.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include <onefold/results.hpp>

namespace onefold::cpu {

namespace {

using f32 = float;
using f64 = double;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

template <class State>
const State& as(const void* state) {
  return *static_cast<const State*>(state);
}

// --- the tree -------------------------------------------------------------------------------------------------------------------------

// What combines is the same for many forms: one function each.
template <class A, class Op>
struct plain_states {
  using accumulator = A;
  static A combine(A a, A b) { return Op::template combine<A>(a, b); }
};
template <class Fold>
struct states_of {
  using type = Fold;
};
template <class E, class A, class Map, class Op>
struct states_of<detail::fold<E, A, Map, Op>> {
  using type = plain_states<A, Op>;
};

template <class States>
void level_of(void* states, u64 count, std::size_t stride) {
  using A = typename States::accumulator;
  if (stride == sizeof(A)) {
    A* const nodes = static_cast<A*>(states);
    for (u64 i = 0; i < count / 2; ++i) nodes[i] = States::combine(nodes[2 * i], nodes[2 * i + 1]);
    if (count % 2 == 1) nodes[count / 2] = nodes[count - 1];
    return;
  }
  std::byte* const bytes = static_cast<std::byte*>(states);
  const auto node = [&](u64 i) -> A& { return *static_cast<A*>(static_cast<void*>(bytes + i * stride)); };
  for (u64 i = 0; i < count / 2; ++i) node(i) = States::combine(node(2 * i), node(2 * i + 1));
  if (count % 2 == 1) node(count / 2) = node(count - 1);
}

// --- behind the tree ------------------------------------------------------------------------------------------------------------------

template <class A>
void conclude_one(const form_row& row, const void* state, u64 count, std::int64_t, void* result) {
  const u64 bits = detail::conclude(row.how, as<A>(state), count);
  if (row.result_bytes == sizeof(u64))  // two cases, so that neither is a call
    std::memcpy(result, &bits, sizeof(u64));
  else
    std::memcpy(result, &bits, sizeof(u32));
}

template <class E>
void conclude_arg(const form_row&, const void* state, u64, std::int64_t, void* result) {
  const auto& found = as<detail::arg_state<E>>(state);
  static_assert(sizeof(arg_result<E>) == index_offset + sizeof(u64) && offsetof(arg_result<E>, index) == index_offset &&
                offsetof(detail::arg_state<E>, index) == index_offset);
  const E value = detail::canonical(found.value);
  std::memset(result, 0, index_offset);
  std::memcpy(result, &value, sizeof(value));
  std::memcpy(static_cast<std::byte*>(result) + index_offset, &found.index, sizeof(found.index));
}

template <class E>
void store_two(E first, E second, void* result) {
  const E both[2] = {detail::canonical(first), detail::canonical(second)};
  std::memcpy(result, both, sizeof(both));
}

template <class E>
void conclude_minmax(const form_row&, const void* state, u64, std::int64_t, void* result) {
  const auto& found = as<detail::two_values<E>>(state);
  store_two(found.min, found.max, result);
}

void conclude_mean_variance(const form_row& row, const void* state, u64, std::int64_t ddof, void* result) {
  const auto [mean, variance] = detail::mean_and_variance(as<detail::moments>(state), ddof);
  if (row.result_bytes == 2 * sizeof(f32))
    store_two(static_cast<f32>(mean), static_cast<f32>(variance), result);
  else
    store_two(mean, variance, result);
}

// --- the table ------------------------------------------------------------------------------------------------------------------------

template <class E>
constexpr auto minmax_kernel = &kernel_table::f32_minmax;
template <class E>
constexpr auto mean_variance_kernel = &kernel_table::f32_mean_variance;
#define ONEFOLD_FOLD(E)                                        \
  template <>                                                  \
  constexpr auto minmax_kernel<E> = &kernel_table::E##_minmax; \
  template <>                                                  \
  constexpr auto mean_variance_kernel<E> = &kernel_table::E##_mean_variance;
ONEFOLD_FIXED_ORDER_TYPES(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD

// One operation for each load.
template <class E, class Op>
constexpr bool is_light = std::is_integral_v<E> || std::is_same_v<Op, op::sum> || std::is_same_v<Op, op::prod>;

template <class Fold>
struct row_maker;

template <class E, class A, class Map, class Op>
struct row_maker<detail::fold<E, A, Map, Op>> {
  static constexpr auto kernel() {
    using namespace detail;
    using op::max, op::min, op::prod, op::sum, op::min_number, op::max_number, op::bit_and, op::bit_or, op::bit_xor;
    using Fold = fold<E, A, Map, Op>;
#define ONEFOLD_FOLD(e, a, map, op) \
  if constexpr (std::is_same_v<Fold, fold<e, a, map, op>>) return &kernel_table::e##_##a##_##map##_##op;
    ONEFOLD_FIXED_ORDER_FOLDS(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
  }
  static constexpr form_row row() {
    form_row made;
    made.kernel = kernel();
    made.inputs = Map::inputs;
    made.is_light = is_light<E, Op>;
    made.conclude = conclude_one<A>;
    return made;
  }
};

template <>
struct row_maker<detail::norm2_fold> {
  static constexpr form_row row() {
    form_row made;
    made.kernel = &kernel_table::norm2_f64;
    made.conclude = conclude_one<detail::squares>;
    return made;
  }
};

template <class E, class Op>
struct row_maker<detail::arg_fold<E, Op>> {
  static constexpr form_row row() {
    form_row made = row_maker<detail::fold<E, E, detail::as_is, Op>>::row();
    made.conclude = conclude_arg<E>;
    made.find = sizeof(E) == 4 ? &kernel_table::bits_of_4 : &kernel_table::bits_of_8;
    if (std::is_floating_point_v<E>) made.find_nan = sizeof(E) == 4 ? &kernel_table::nan_f32 : &kernel_table::nan_f64;
    made.is_before = [](const void* a, const void* b) { return detail::is_before<Op>(as<E>(a), as<E>(b)); };
    return made;
  }
};

template <class E>
struct row_maker<detail::minmax_fold<E>> {
  static constexpr form_row row() {
    form_row made;
    made.kernel = minmax_kernel<E>;
    made.is_light = std::is_integral_v<E>;
    made.conclude = conclude_minmax<E>;
    return made;
  }
};

template <class E>
struct row_maker<detail::mean_variance_fold<E>> {
  static constexpr form_row row() {
    form_row made;
    made.kernel = mean_variance_kernel<E>;
    made.conclude = conclude_mean_variance;
    return made;
  }
};

constexpr int forms = form_count + record_count - 1;  // all but reduce_together, the last
static_assert(static_cast<int>(form::reduce_together) == forms);

struct form_table {
  std::array<form_row, std::size_t{2} * forms> rows[element_type_count];
};

template <element_type Type>
constexpr void fill(std::array<form_row, std::size_t{2} * forms>& rows) {
  for (int i = 0; i < 2 * forms; ++i) {
    const form what = static_cast<form>(i / 2);
    const bool wide = i % 2 == 1 && can_be_wide(Type, what);
    const auto put = [&]<class Fold>() {
      if constexpr (!std::is_same_v<Fold, detail::together_fold<typename detail::c_type<Type>::type>>) {
        form_row& row = rows[static_cast<std::size_t>(i)];
        row = row_maker<Fold>::row();
        row.element_bytes = sizeof(typename Fold::element);
        row.state_bytes = sizeof(typename Fold::accumulator);
        row.result_bytes = static_cast<std::uint32_t>(result_bytes(Type, what, wide));
        row.how = detail::conclusion_of(Type, what, wide);
        row.level = level_of<typename states_of<Fold>::type>;
      }
    };
    if (is_record(what))
      detail::with_record_fold_of<Type>(what, put);
    else
      detail::with_fold_of<Type>(what, wide, put);
  }
}

constexpr form_table all_rows() {
  form_table table{};
#define ONEFOLD_TYPE(name, T) fill<element_type::name>(table.rows[static_cast<int>(element_type::name)]);
#include <onefold/types.def>
  return table;
}

constexpr form_table table = all_rows();

}  // namespace

const form_row& row_of(element_type type, form what, bool wide) noexcept {
  return table.rows[static_cast<std::size_t>(type)][2 * static_cast<std::size_t>(what) + (wide ? 1 : 0)];
}

std::uint64_t find_value(const form_row& row, const kernel_table& kernels, const void* x, std::uint64_t count, const void* value) {
  if (row.find_nan != nullptr) {
    const bool is_nan = row.element_bytes == sizeof(f32) ? detail::is_nan(as<f32>(value)) : detail::is_nan(as<f64>(value));
    if (is_nan) return (kernels.*row.find_nan)(x, count, value);
  }
  return (kernels.*row.find)(x, count, value);
}

}  // namespace onefold::cpu
