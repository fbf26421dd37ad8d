#pragma once
/// @file joined_folds.hpp  The folds that the kernel of joined images has, and where a form finds its own. Plain C++.
///
/// f32 and f64 have one for each form with one result, and integers of 4 and 8 bytes for sums and dots, which read elements as they are. All other types and forms
/// are computed in floats, doubles or integers of 64 bits, by few folds and with elements and states converted as they are read (converted_folds.hpp), which no result can tell from its own fold's.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../forms.hpp"
#include "batched_folds.hpp"
#include "converted_folds.hpp"
#include "joined.hpp"

namespace onefold::cuda_backend {

/// A fold of converted elements.
template <class Fold>
struct joined_converted : Fold {};

/// Folds that combine alike. What the block does beside reading tiles that are cut is compiled once for all of them.
template <class... Folds>
struct joined_family {};

namespace detail {

using onefold::detail::argminmax_fold;
using onefold::detail::mean_variance_fold;
using onefold::detail::minmax_fold;

// What the kernels have, each a list of families, with a name of its own for the table of kernels. Written out, as one_result_folds are.
struct joined_float_sums
    : fold_list<joined_family<fold<float, float, as_is, op::sum>, fold<float, float, product, op::sum>,
                              fold<float, float, square, op::sum>, fold<float, float, absolute, op::sum>,
                              joined_converted<fold<float, float, as_is, op::sum>>>,
                joined_family<fold<float, float, as_is, op::prod>, joined_converted<fold<float, float, as_is, op::prod>>>> {};
struct joined_double_sums
    : fold_list<joined_family<fold<double, double, as_is, op::sum>, fold<double, double, product, op::sum>,
                              fold<double, double, square, op::sum>, fold<double, double, absolute, op::sum>,
                              joined_converted<fold<double, double, as_is, op::sum>>>,
                joined_family<fold<double, double, as_is, op::prod>, joined_converted<fold<double, double, as_is, op::prod>>>> {};
struct joined_wide_sums : fold_list<joined_family<fold<float, double, as_is, op::sum>, fold<float, double, product, op::sum>,
                                                  fold<float, double, square, op::sum>, fold<float, double, absolute, op::sum>>,
                                    joined_family<fold<float, double, as_is, op::prod>>> {};
struct joined_norms : fold_list<joined_family<norm2_fold>> {};
struct joined_float_extremes
    : fold_list<
          joined_family<fold<float, float, as_is, op::min>>,
          joined_family<fold<float, float, as_is, op::max>, fold<float, float, absolute, op::max>,
                        joined_converted<fold<float, float, as_is, op::max>>>,
          joined_family<fold<float, float, as_is, op::min_number>>,
          joined_family<fold<float, float, as_is, op::max_number>, joined_converted<fold<float, float, as_is, op::max_number>>>> {};
struct joined_double_extremes
    : fold_list<joined_family<fold<double, double, as_is, op::min>>,
                joined_family<fold<double, double, as_is, op::max>, fold<double, double, absolute, op::max>>,
                joined_family<fold<double, double, as_is, op::min_number>>,
                joined_family<fold<double, double, as_is, op::max_number>>> {};
struct joined_whole_numbers
    : fold_list<
          joined_family<fold<float, std::uint64_t, nonzero, op::sum>, fold<double, std::uint64_t, nonzero, op::sum>,
                        fold<std::int32_t, std::uint64_t, as_is, op::sum>, fold<std::uint32_t, std::uint64_t, as_is, op::sum>,
                        fold<std::uint64_t, std::uint64_t, as_is, op::sum>, fold<std::int32_t, std::uint64_t, product, op::sum>,
                        fold<std::uint32_t, std::uint64_t, product, op::sum>, fold<std::uint64_t, std::uint64_t, product, op::sum>,
                        joined_converted<fold<std::uint64_t, std::uint64_t, as_is, op::sum>>>,
          joined_family<joined_converted<fold<std::uint64_t, std::uint64_t, as_is, op::prod>>>,
          joined_family<joined_converted<fold<std::int64_t, std::int64_t, as_is, op::max>>>,
          joined_family<joined_converted<fold<std::uint64_t, std::uint64_t, as_is, op::bit_or>>>,
          joined_family<joined_converted<fold<std::uint64_t, std::uint64_t, as_is, op::bit_xor>>>> {};
struct joined_float_records
    : fold_list<joined_family<joined_converted<minmax_fold<float>>>, joined_family<joined_converted<arg_fold<float, op::max>>>,
                joined_family<joined_converted<argminmax_fold<float>>>> {};
struct joined_double_records
    : fold_list<joined_family<joined_converted<minmax_fold<double>>>, joined_family<joined_converted<arg_fold<double, op::max>>>,
                joined_family<joined_converted<argminmax_fold<double>>>,
                joined_family<joined_converted<mean_variance_fold<double>>>> {};
struct joined_whole_records : fold_list<joined_family<joined_converted<minmax_fold<std::int64_t>>>,
                                        joined_family<joined_converted<arg_fold<std::int64_t, op::max>>>,
                                        joined_family<joined_converted<argminmax_fold<std::int64_t>>>> {};

template <class... Folds>
constexpr int folds_in(joined_family<Folds...>) noexcept {
  return sizeof...(Folds);
}

// The number of a fold in a kernel, over all its families; -1 where it is not there.
template <class Fold, class... Folds>
constexpr int number_in(joined_family<Folds...>) noexcept {
  return number_in<Fold>(fold_list<Folds...>{});
}
template <class Fold, class... Families>
constexpr int number_in_families(fold_list<Families...>) noexcept {
  constexpr int in[] = {number_in<Fold>(Families{})...};
  constexpr int sizes[] = {folds_in(Families{})...};
  int before = 0;
  for (std::size_t i = 0; i < sizeof...(Families); ++i) {
    if (in[i] >= 0) return before + in[i];
    before += sizes[i];
  }
  return -1;
}

// Where a fold is, and the bytes of a state of it.
struct joined_row {
  joined_place place;
  std::size_t state_bytes;
};
template <class Fold, class... Lists>
constexpr joined_place place_in(fold_list<Lists...>) noexcept {
  constexpr int in[] = {number_in_families<Fold>(Lists{})...};
  for (std::size_t i = 0; i < sizeof...(Lists); ++i)
    if (in[i] >= 0) return {static_cast<int>(i), in[i]};
  return {-1, -1};
}
// By the number of a kernel.
using joined_lists =
    fold_list<joined_float_sums, joined_double_sums, joined_wide_sums, joined_norms, joined_float_extremes, joined_double_extremes,
              joined_whole_numbers, joined_float_records, joined_double_records, joined_whole_records>;
template <class Fold>
constexpr joined_row row_of_joined_fold() noexcept {
  return {place_in<Fold>(joined_lists{}), sizeof(typename Fold::accumulator)};
}

// By converted_fold.
template <class... Folds>
constexpr auto rows_of_converted(fold_list<Folds...>) noexcept {
  return std::array<joined_row, sizeof...(Folds)>{row_of_joined_fold<joined_converted<Folds>>()...};
}

// The places of doubles the kernels of batches have by a fold of their own.
constexpr bool is_place_of_doubles(element_type type, form what) noexcept { return type == element_type::f64 && is_arg(what); }

// Sums and dots of integers of 4 and 8 bytes have folds of their own, whose cut tiles take 5 us less. They are of 64 bits, the lowest of which are the result.
template <class E>
constexpr joined_row row_of_whole(form what) noexcept {
  return what == form::dot ? row_of_joined_fold<fold<E, std::uint64_t, product, op::sum>>()
                           : row_of_joined_fold<fold<E, std::uint64_t, as_is, op::sum>>();
}

constexpr joined_row row_of_joined(element_type type, form what, bool wide) noexcept {
  constexpr joined_row none{{-1, -1}, 0};
  if (what == form::reduce_together || is_complex(type) || !takes_type(what, type)) return none;
  if (wide && !can_be_wide(type, what)) return none;
  joined_row found = none;
  const auto look = [&found]<class Fold>() { found = row_of_joined_fold<Fold>(); };
  if (!is_record(what)) {
    if (type == element_type::f32) onefold::detail::with_fold_of<element_type::f32>(what, wide, look);
    if (type == element_type::f64) onefold::detail::with_fold_of<element_type::f64>(what, wide, look);
    if (found.place.kernel >= 0) return found;
  }
  if (what == form::sum || what == form::dot) {
    if (type == element_type::i32) return row_of_whole<std::int32_t>(what);
    if (type == element_type::u32) return row_of_whole<std::uint32_t>(what);
    if (type == element_type::i64 || type == element_type::u64) return row_of_whole<std::uint64_t>(what);
  }
  if (is_place_of_doubles(type, what)) return row_of_joined_fold<joined_converted<arg_fold<double, op::max>>>();
  const converted_fold its = conversion_of(type, what, wide).fold;
  return its == converted_fold::none ? none : rows_of_converted(converted_folds{})[static_cast<std::size_t>(its)];
}

}  // namespace detail

/// Which kernel has a form, and as which of its folds; -1 where none has it: they have those of real numbers, all forms but reduce_together.
constexpr joined_place joined_fold(element_type type, form what, bool wide) noexcept {
  return detail::row_of_joined(type, what, wide).place;
}

/// The bytes of one of its states, as the kernel has it. Requires a form that it has.
constexpr std::size_t joined_state_bytes(element_type type, form what, bool wide) noexcept {
  return detail::row_of_joined(type, what, wide).state_bytes;
}

/// Elements of a tile, as a power of two.
constexpr int log_joined_tile(element_type type) noexcept { return log_tile_of_bytes(size_of(type)); }

/// What it makes of elements and of states whose numbers have `bytes` bytes. Requires a form that it has.
constexpr joined_conversion joined_conversion_of(element_type type, form what, bool wide, std::size_t bytes) noexcept {
  conversion of = detail::conversion_of(type, what, wide);
  if (detail::is_place_of_doubles(type, what)) {
    of.map = what == form::argmin_magnitude || what == form::argmax_magnitude ? converted_map::absolute : converted_map::as_is;
    of.is_negated = what == form::argmin || what == form::argmin_magnitude;
  }
  // Folds that read elements as they are have states as they are, too.
  if ((type == element_type::f32 || type == element_type::f64) && !is_record(what)) of.is_negated = false;
  const bool is_signed = is_signed_integer(type) && !of.is_unsigned;
  return {
      of.read,        of.map,   static_cast<std::uint8_t>(log_joined_tile(type)), static_cast<std::uint8_t>(bytes), of.is_negated,
      of.is_unsigned, is_signed};
}

}  // namespace onefold::cuda_backend
