#include "forms.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <onefold/results.hpp>

#include "../../src/dispatch.hpp"
#include "../complex.hpp"
#include "../forms.hpp"

namespace onefold::cpu {

namespace {

#define ONEFOLD_TYPE(name, T) using name = T;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>

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
  switch (row.result_bytes) {  // cases, so that none is a call
    case sizeof(u64):
      std::memcpy(result, &bits, sizeof(u64));
      break;
    case sizeof(u32):
      std::memcpy(result, &bits, sizeof(u32));
      break;
    case sizeof(u16):
      std::memcpy(result, &bits, sizeof(u16));
      break;
    default:
      std::memcpy(result, &bits, sizeof(u8));
  }
}

template <class R, class V>
void store_arg(const detail::arg_state<V>& found, void* result) {
  static_assert(sizeof(arg_result<R>) == arg_bytes && offsetof(arg_result<R>, index) == index_offset &&
                sizeof(detail::arg_state<V>) == arg_bytes && offsetof(detail::arg_state<V>, index) == index_offset);
  const R value = detail::as_element<R>(found.value);
  std::memset(result, 0, index_offset);
  std::memcpy(result, &value, sizeof(value));
  std::memcpy(static_cast<std::byte*>(result) + index_offset, &found.index, sizeof(found.index));
}

template <class R, class V>
void conclude_arg(const form_row&, const void* state, u64, std::int64_t, void* result) {
  store_arg<R>(as<detail::arg_state<V>>(state), result);
}

template <class R, class V>
void conclude_argminmax(const form_row&, const void* state, u64, std::int64_t, void* result) {
  const auto& found = as<detail::two_args<V>>(state);
  static_assert(sizeof(found) == 2 * arg_bytes && sizeof(argminmax_result<R>) == 2 * arg_bytes);
  store_arg<R>(found.min, result);
  store_arg<R>(found.max, static_cast<std::byte*>(result) + arg_bytes);
}

template <class R, class V>
void store_two(V first, V second, void* result) {
  const R both[2] = {detail::as_element<R>(first), detail::as_element<R>(second)};
  std::memcpy(result, both, sizeof(both));
}

template <class E, class V>
void conclude_minmax(const form_row&, const void* state, u64, std::int64_t, void* result) {
  const auto& found = as<detail::two_values<V>>(state);
  store_two<E>(found.min, found.max, result);
}

void conclude_mean_variance(const form_row& row, const void* state, u64, std::int64_t ddof, void* result) {
  const auto [mean, variance] = detail::mean_and_variance(as<detail::moments>(state), ddof);
  if (row.result_bytes == 2 * sizeof(f32))
    store_two<f32>(mean, variance, result);
  else
    store_two<f64>(mean, variance, result);
}

template <class T, bool Mean>
void conclude_complex(const form_row&, const void* state, u64 count, std::int64_t, void* result) {
  const auto found = detail::concluded_complex<Mean>(as<detail::complex_of<T>>(state), count);
  std::memcpy(result, &found, sizeof(found));
}

// Of complex numbers: of their parts, each an array of its own.
struct moments_of_parts {
  detail::moments real, imaginary;
};
struct states_of_parts {
  using accumulator = moments_of_parts;
  static accumulator combine(const accumulator& a, const accumulator& b) {
    using of_one = detail::mean_variance_fold<f64>;
    return {of_one::combine(a.real, b.real), of_one::combine(a.imaginary, b.imaginary)};
  }
};

template <class T>
void conclude_moments_of_parts(const form_row&, const void* state, u64, std::int64_t ddof, void* result) {
  const auto& found = as<moments_of_parts>(state);
  const auto both =
      detail::moments_of_complex<T>(detail::mean_and_variance(found.real, ddof), detail::mean_and_variance(found.imaginary, ddof));
  std::memcpy(result, &both, sizeof(both));
}

// --- the table ------------------------------------------------------------------------------------------------------------------------

template <class E>
constexpr auto minmax_kernel = &kernel_table::f32_minmax;
template <class E>
constexpr auto mean_variance_kernel = &kernel_table::f32_mean_variance;
#define ONEFOLD_TYPE(E, T)                                     \
  template <>                                                  \
  constexpr auto minmax_kernel<E> = &kernel_table::E##_minmax; \
  template <>                                                  \
  constexpr auto mean_variance_kernel<E> = &kernel_table::E##_mean_variance;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>

// One operation for each load.
template <class E, class Op>
constexpr bool is_light = std::is_integral_v<E> ||
                          (!detail::is_half<E> && (std::is_same_v<Op, op::sum> || std::is_same_v<Op, op::prod>));

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
#include "kernels/folds.def"
  }
  static constexpr form_row row() {
    form_row made;
    made.kernel = kernel();
    made.inputs = Map::inputs;
    made.is_light = is_light<E, Op>;
    made.has_streams = std::is_floating_point_v<E> && std::is_same_v<A, E> && std::is_same_v<Op, op::sum>;
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

template <class E, class Map>
constexpr find_element kernel_table::*find_for() {
  constexpr auto bytes = sizeof(E);
  constexpr bool integer = std::is_integral_v<E>;
  if (std::is_same_v<Map, detail::as_is>)
    return bytes == 1   ? &kernel_table::bits_of_1
           : bytes == 2 ? &kernel_table::bits_of_2
           : bytes == 4 ? &kernel_table::bits_of_4
                        : &kernel_table::bits_of_8;
  if (bytes == 1) return &kernel_table::magnitude_of_1;
  if (bytes == 2) return integer ? &kernel_table::magnitude_of_2 : &kernel_table::size_of_2;
  if (bytes == 4) return integer ? &kernel_table::magnitude_of_4 : &kernel_table::size_of_4;
  return integer ? &kernel_table::magnitude_of_8 : &kernel_table::size_of_8;
}

template <class E>
constexpr find_element kernel_table::*find_nan_for() {
  switch (element_type_of<E>) {
#define ONEFOLD_FLOAT(name, T, digits) \
  case element_type::name:             \
    return &kernel_table::nan_##name;
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#include <onefold/types.def>
    default:
      return nullptr;
  }
}

template <class V, class Op>
bool is_before(const void* a, const void* b) {
  return detail::is_before<Op>(as<V>(a), as<V>(b));
}

template <class E, class Op, class Map>
struct row_maker<detail::arg_fold<E, Op, Map>> {
  using arg = detail::arg_fold<E, Op, Map>;
  static constexpr form_row row() {
    form_row made = row_maker<detail::fold<E, typename arg::V, Map, Op>>::row();
    made.conclude = conclude_arg<typename arg::result_value, typename arg::V>;
    made.args = 1;
    made.find = find_for<E, Map>();
    made.find_nan = find_nan_for<E>();
    made.is_before[0] = is_before<typename arg::V, Op>;
    return made;
  }
};

template <class E>
struct row_maker<detail::minmax_fold<E>> {
  static constexpr form_row row() {
    form_row made;
    made.kernel = minmax_kernel<E>;
    made.is_light = std::is_integral_v<E>;
    made.conclude = conclude_minmax<E, detail::compared<E>>;
    return made;
  }
};

template <class E>
struct row_maker<detail::argminmax_fold<E>> {
  using V = detail::compared<E>;
  static constexpr form_row row() {
    form_row made = row_maker<detail::minmax_fold<E>>::row();
    made.conclude = conclude_argminmax<E, V>;
    made.args = 2;
    made.find = find_for<E, detail::as_is>();
    made.find_nan = find_nan_for<E>();
    made.is_before[0] = is_before<V, op::min>;
    made.is_before[1] = is_before<V, op::max>;
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

// The numbers of a state, in the order in which they lie there.
template <class A>
struct numbers_of {
  static constexpr void put(form_row& row, std::size_t offset) {
    static_assert(std::is_arithmetic_v<A>);
    row.fields[row.field_count++] = {static_cast<std::uint8_t>(offset), sizeof(A), std::is_floating_point_v<A>};
  }
};
template <class V>
struct numbers_of<detail::two_values<V>> {
  static constexpr void put(form_row& row, std::size_t offset) {
    numbers_of<V>::put(row, offset + offsetof(detail::two_values<V>, min));
    numbers_of<V>::put(row, offset + offsetof(detail::two_values<V>, max));
  }
};
template <class V>
struct numbers_of<detail::arg_state<V>> {
  static constexpr void put(form_row& row, std::size_t offset) {
    numbers_of<V>::put(row, offset);
    numbers_of<u64>::put(row, offset + index_offset);
  }
};
template <class V>
struct numbers_of<detail::two_args<V>> {
  static constexpr void put(form_row& row, std::size_t offset) {
    numbers_of<detail::arg_state<V>>::put(row, offset);
    numbers_of<detail::arg_state<V>>::put(row, offset + arg_bytes);
  }
};
template <>
struct numbers_of<detail::squares> {
  static constexpr void put(form_row& row, std::size_t offset) {
    numbers_of<f64>::put(row, offset + offsetof(detail::squares, small));
    numbers_of<f64>::put(row, offset + offsetof(detail::squares, medium));
    numbers_of<f64>::put(row, offset + offsetof(detail::squares, big));
  }
};
template <>
struct numbers_of<detail::moments> {
  static constexpr void put(form_row& row, std::size_t offset) {
    numbers_of<u64>::put(row, offset + offsetof(detail::moments, count));
    numbers_of<f64>::put(row, offset + offsetof(detail::moments, mean));
    numbers_of<f64>::put(row, offset + offsetof(detail::moments, deviation));
  }
};

template <class T>
struct numbers_of<detail::complex_of<T>> {
  static constexpr void put(form_row& row, std::size_t offset) {
    numbers_of<T>::put(row, offset + offsetof(detail::complex_of<T>, real));
    numbers_of<T>::put(row, offset + offsetof(detail::complex_of<T>, imaginary));
  }
};
template <>
struct numbers_of<moments_of_parts> {
  static constexpr void put(form_row& row, std::size_t offset) {
    numbers_of<detail::moments>::put(row, offset + offsetof(moments_of_parts, real));
    numbers_of<detail::moments>::put(row, offset + offsetof(moments_of_parts, imaginary));
  }
};

// By its bits: the caller's environment may have a trap for an operation on a subnormal.
template <class F>
void make_canonical_at(std::byte* place) {
  std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t> bits, infinity;
  constexpr F most = std::numeric_limits<F>::infinity();
  std::memcpy(&bits, place, sizeof(bits));
  std::memcpy(&infinity, &most, sizeof(infinity));
  if (bits << 1 <= infinity << 1) return;
  const F nan = detail::canonical_nan<F>();
  std::memcpy(place, &nan, sizeof(nan));
}

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
      using together = detail::form_fold_t<form::reduce_together, typename detail::c_type<Type>::type, false>;
      if constexpr (!std::is_same_v<Fold, together>) {
        form_row& row = rows[static_cast<std::size_t>(i)];
        row = row_maker<Fold>::row();
        row.element_bytes = sizeof(typename Fold::element);
        row.state_bytes = sizeof(typename Fold::accumulator);
        row.result_bytes = static_cast<std::uint32_t>(result_bytes(Type, what, wide));
        row.result_alignment = static_cast<std::uint32_t>(detail::result_alignment(Type, what, wide));
        row.how = detail::conclusion_of(Type, what, wide);
        row.level = level_of<typename states_of<Fold>::type>;
        numbers_of<typename Fold::accumulator>::put(row, 0);
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
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
  return table;
}

constexpr form_table table = all_rows();

// --- complex numbers ------------------------------------------------------------------------------------------------------------------

template <class T, class Op>
struct complex_states {
  using accumulator = detail::complex_of<T>;
  static accumulator combine(const accumulator& a, const accumulator& b) { return Op()(a, b); }
};

template <class States>
constexpr form_row row_of_states() {
  form_row made;
  made.state_bytes = sizeof(typename States::accumulator);
  made.level = level_of<States>;
  numbers_of<typename States::accumulator>::put(made, 0);
  return made;
}

template <class T, class Op, bool Mean = false>
constexpr form_row complex_row() {
  form_row made = row_of_states<complex_states<T, Op>>();
  made.conclude = conclude_complex<T, Mean>;
  return made;
}

template <class T>
constexpr form_row moments_row() {
  form_row made = row_of_states<states_of_parts>();
  made.conclude = conclude_moments_of_parts<T>;
  return made;
}

// The others are real numbers from the elements on: moduli, squares, or whether they are zero. Parts of type T, accumulated in A.
template <class T, class A = T>
const form_row& row_of_complex(form what) {
  static constexpr form_row sum = complex_row<A, detail::complex_sum>(), prod = complex_row<A, detail::complex_product>(),
                            mean = complex_row<A, detail::complex_sum, true>(), moments = moments_row<A>();
  switch (what) {
    case form::sum:
    case form::dot:
      return sum;
    case form::prod:
      return prod;
    case form::mean:
      return mean;
    case form::mean_variance:
      return moments;
    case form::norm1:
      return row_of(element_type_of<A>, form::sum, false);
    case form::norm_inf:
      return row_of(element_type_of<T>, form::max, false);
    default:
      return row_of(element_type_of<T>, what, !std::is_same_v<T, A>);
  }
}

}  // namespace

const form_row& row_of(element_type type, form what, bool wide) noexcept {
  if (type == element_type::c64) return wide ? row_of_complex<f32, f64>(what) : row_of_complex<f32>(what);
  if (type == element_type::c128) return row_of_complex<f64>(what);
  return table.rows[static_cast<std::size_t>(type)][2 * static_cast<std::size_t>(what) + (wide ? 1 : 0)];
}

void shift_indices(const form_row& row, std::byte* state, std::uint64_t by) {
  for (std::size_t at = index_offset; row.has_index() && at < row.state_bytes; at += arg_bytes) {
    std::uint64_t index;
    std::memcpy(&index, state + at, sizeof(index));
    index += by;
    std::memcpy(state + at, &index, sizeof(index));
  }
}

void make_canonical(const form_row& row, std::byte* state) {
  for (int i = 0; i < row.field_count; ++i) {
    const state_field& field = row.fields[i];
    if (!field.is_float) continue;
    if (field.bytes == sizeof(f64))
      make_canonical_at<f64>(state + field.offset);
    else
      make_canonical_at<f32>(state + field.offset);
  }
}

void take_shown_state(const form_row& row, form what, std::uint64_t count, const std::byte* shown, std::byte* state) noexcept {
  if (what != form::mean_variance || row.state_bytes != sizeof(detail::moments)) {
    std::memcpy(state, shown, row.state_bytes);
    return;
  }
  double of[2];
  std::memcpy(of, shown, sizeof(of));
  const detail::moments made{count, of[0], of[1]};
  std::memcpy(state, &made, sizeof(made));
}

void place_values(const form_row& row, std::byte* state, std::uint64_t index) {
  const std::size_t bytes = row.element_bytes == sizeof(u64) ? sizeof(u64) : sizeof(u32);
  if (row.args == 2) std::memcpy(state + arg_bytes, state + bytes, bytes);
  for (int k = 0; k < row.args; ++k)
    std::memcpy(state + static_cast<std::size_t>(k) * arg_bytes + index_offset, &index, sizeof(index));
}

std::uint64_t find_value(const form_row& row, const kernel_table& kernels, const void* x, std::uint64_t count, const void* value) {
  if (row.find_nan != nullptr) {
    const bool is_nan = row.element_bytes == sizeof(f64) ? detail::is_nan(as<f64>(value)) : detail::is_nan(as<f32>(value));
    if (is_nan) return (kernels.*row.find_nan)(x, count, value);
  }
  // Of an integer the lowest bytes.
  if (row.how == detail::conclusion::none) return (kernels.*row.find)(x, count, value);
  const u64 bits = detail::conclude(row.how, as<f32>(value), count);
  return (kernels.*row.find)(x, count, &bits);
}

}  // namespace onefold::cpu
