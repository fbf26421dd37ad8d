#pragma once
/// @file converted_folds.hpp  What the second kernel of batches makes of a form: which of its few folds, of elements converted to which type. Plain C++.
///
/// Whatever arrays hold, it is computed in floats, doubles or integers of 64 bits, and integers that wrap have the same lowest bits in all of them. So a fold
/// for each operator and each of these types is enough, with what is done to an element ahead of it as data (decision 0059):
///
///     i8 norm1    sum of 64 bits, of |x|             u32 bit_and   ~ of the or of ~x
///     f16 min     - of the maximum of -x             i16 mean      sum of 64 bits, which the conclusion divides
///     i64 mean    sum of doubles                     u64 argmin    ~ of the first maximum of ~x, all with the highest bit changed

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include <onefold/detail/folds.hpp>

#include "batched_folds.hpp"

namespace onefold::cuda_backend {

/// Number k of the folds; the next lines of converted_folds say what each is.
enum class converted_fold : std::uint8_t {
  float_sum,
  float_prod,
  float_max,
  float_max_number,
  float_place,
  float_minmax,
  float_argminmax,
  float_together,
  double_sum,
  double_prod,
  double_minmax,
  double_argminmax,
  double_together,
  double_moments,
  whole_sum,
  whole_prod,
  whole_max,
  whole_or,
  whole_xor,
  whole_place,
  whole_minmax,
  whole_argminmax,
  whole_together,
  natural_together,
  none,
};

/// What is made of an element, ahead of the fold.
enum class converted_map : std::uint8_t { as_is, absolute, square, product, nonzero, nonzero_half };

/// A form as the kernel knows it.
struct conversion {
  converted_fold fold = converted_fold::none;
  converted_map map = converted_map::as_is;
  element_type read = element_type::f32;  ///< what elements are read as
  /// Of what is compared, and of bits: whether the order is the other way, and whether the highest bit of 64 is to be changed for a comparison as signed ones.
  bool is_negated = false, is_unsigned = false;
  /// Whether pairs of whole tiles are read in packs of 16 bytes (has_packs_of()): a unit is such a pair then.
  bool is_in_packs = false;
  onefold::detail::conclusion how = onefold::detail::conclusion::none;
};

namespace detail {

using onefold::detail::argminmax_fold;
using onefold::detail::mean_variance_fold;
using onefold::detail::minmax_fold;
using onefold::detail::together_fold;

using converted_folds =
    fold_list<fold<float, float, as_is, op::sum>, fold<float, float, as_is, op::prod>, fold<float, float, as_is, op::max>,
              fold<float, float, as_is, op::max_number>, arg_fold<float, op::max>, minmax_fold<float>, argminmax_fold<float>,
              together_fold<float>,  //
              fold<double, double, as_is, op::sum>, fold<double, double, as_is, op::prod>, minmax_fold<double>,
              argminmax_fold<double>, together_fold<double>, mean_variance_fold<double>,  //
              fold<std::uint64_t, std::uint64_t, as_is, op::sum>, fold<std::uint64_t, std::uint64_t, as_is, op::prod>,
              fold<std::int64_t, std::int64_t, as_is, op::max>, fold<std::uint64_t, std::uint64_t, as_is, op::bit_or>,
              fold<std::uint64_t, std::uint64_t, as_is, op::bit_xor>, arg_fold<std::int64_t, op::max>, minmax_fold<std::int64_t>,
              argminmax_fold<std::int64_t>, together_fold<std::int64_t>, together_fold<std::uint64_t>>;

// The fold of three that is meant: of floats, doubles and integers.
constexpr converted_fold of_three(element_type in, converted_fold floats, converted_fold doubles,
                                  converted_fold integers) noexcept {
  return in == element_type::f32 ? floats : in == element_type::f64 ? doubles : integers;
}

// Whether the kernel has a function for pairs of whole tiles. Products, minNumber and maxNumber of halves, moments, places and several operators are left as they
// were: few ask for them with something in memory, and code is what they would cost (decision 0065).
constexpr bool has_packs_of(element_type type, const conversion& made) noexcept {
  using enum converted_fold;
  switch (made.fold) {
    case float_sum:
    case float_max:
    case float_minmax:
    case whole_sum:
    case whole_max:
    case whole_or:
    case whole_xor:
    case whole_minmax:
      return is_small(type);
    case double_sum:
      return is_small(type) && made.map == converted_map::square;
    default:
      return false;
  }
}

constexpr conversion conversion_of(element_type type, form what, bool wide) noexcept {
  using enum converted_fold;
  conversion made{};
  if (is_complex(type) || !takes_type(what, type) || (wide && !can_be_wide(type, what))) return made;
  made.read = type;
  made.how = onefold::detail::conclusion_of(type, what, wide);
  const bool is_whole = !is_float(type);
  const bool has_sign = is_signed_integer(type);
  const element_type adds = is_whole ? element_type::i64 : accumulator_type(type, wide);
  const element_type compares = is_whole ? element_type::i64 : accumulator_type(type);
  const converted_map size = is_float(type) || has_sign ? converted_map::absolute : converted_map::as_is;
  const bool is_unsigned = type == element_type::u64;
  switch (what) {
    case form::mean:
      made.fold = of_three(is_whole && !is_small(type) ? element_type::f64 : adds, float_sum, double_sum, whole_sum);
      break;
    case form::sum:
      made.fold = of_three(adds, float_sum, double_sum, whole_sum);
      break;
    case form::prod:
      made.fold = of_three(adds, float_prod, double_prod, whole_prod);
      break;
    case form::dot:
      made.fold = of_three(adds, float_sum, double_sum, whole_sum);
      made.map = converted_map::product;
      break;
    case form::sum_of_squares:
      made.fold = of_three(adds, float_sum, double_sum, whole_sum);
      made.map = converted_map::square;
      break;
    case form::norm1:
      made.fold = of_three(adds, float_sum, double_sum, whole_sum);
      made.map = size;
      break;
    case form::norm2:
      made.fold = type == element_type::f64 ? none : double_sum;  // whose sums are three
      made.map = converted_map::square;
      break;
    case form::norm_inf:
      made.fold = of_three(compares, float_max, none, whole_max);
      made.map = size;
      made.is_unsigned = is_whole;
      break;
    case form::min:
    case form::max:
      made.fold = of_three(compares, float_max, none, whole_max);
      made.is_negated = what == form::min;
      made.is_unsigned = is_unsigned;
      break;
    case form::min_number:
    case form::max_number:
      made.fold = of_three(compares, float_max_number, none, whole_max);
      made.is_negated = what == form::min_number;
      made.is_unsigned = is_unsigned;
      break;
    case form::bit_and:
      made.fold = whole_or;
      made.read = magnitude_type(type);  // as accumulators have them, without the sign
      made.is_negated = true;
      break;
    case form::bit_or:
      made.fold = whole_or;
      made.read = magnitude_type(type);
      break;
    case form::bit_xor:
      made.fold = whole_xor;
      made.read = magnitude_type(type);
      break;
    case form::count:
    case form::all:
    case form::any:
    case form::none:
      if (type == element_type::f32 || type == element_type::f64) break;  // the other kernel has them
      made.fold = whole_sum;
      made.map = is_whole ? converted_map::nonzero : converted_map::nonzero_half;
      if (!is_whole) made.read = element_type::u16;
      break;
    case form::argmin:
    case form::argmax:
      made.fold = of_three(compares, float_place, none, whole_place);
      made.is_negated = what == form::argmin;
      made.is_unsigned = is_unsigned;
      break;
    case form::argmin_magnitude:
    case form::argmax_magnitude:
      made.fold = of_three(compares, float_place, none, whole_place);
      made.map = size;
      made.is_negated = what == form::argmin_magnitude;
      made.is_unsigned = is_whole;
      break;
    case form::argminmax:
      made.fold = of_three(compares, float_argminmax, double_argminmax, whole_argminmax);
      made.is_unsigned = is_unsigned;
      break;
    case form::minmax:
      made.fold = of_three(compares, float_minmax, double_minmax, whole_minmax);
      made.is_unsigned = is_unsigned;
      break;
    case form::mean_variance:
      made.fold = double_moments;
      break;
    case form::reduce_together:
      made.fold = of_three(compares, float_together, double_together, has_sign ? whole_together : natural_together);
      break;
  }
  made.is_in_packs = has_packs_of(type, made);
  return made;
}

inline constexpr int forms_in_five_bits = 32;
using conversions_of_type = std::array<std::array<conversion, forms_in_five_bits>, 2>;

}  // namespace detail

/// batched_item::fold of the second kernel: a form, and whether it is wide.
constexpr std::uint8_t converted_form(form what, bool wide) noexcept {
  return static_cast<std::uint8_t>(static_cast<int>(what) | (wide ? detail::forms_in_five_bits : 0));
}
static_assert(form_count + record_count < detail::forms_in_five_bits, "and one number is that of copies");

/// Of batched_item::how of the second kernel: the elements' type, and whether the tree's accumulator is the result.
inline constexpr std::uint8_t converted_type_bits = 0x0f;
inline constexpr std::uint8_t converted_to_node = 0x10;
static_assert(element_type_count <= converted_type_bits + 1, "each type has a number of these bits");

/// Whether the second kernel reads pairs of whole tiles of a form in packs.
constexpr bool is_read_in_packs(element_type type, form what, bool wide) noexcept {
  return detail::conversion_of(type, what, wide).is_in_packs;
}

/// Elements of a unit of the second kernel, as a power of two.
constexpr int log_converted_unit(element_type type, form what, bool wide) noexcept {
  const auto tile = static_cast<unsigned>(order::tile_rows * order::lanes_of_bytes(static_cast<std::uint32_t>(size_of(type))));
  return std::countr_zero(tile) + (is_read_in_packs(type, what, wide) ? 1 : 0);
}

/// Whether the second kernel has a form.
constexpr bool is_converted(element_type type, form what, bool wide) noexcept {
  return detail::conversion_of(type, what, wide).fold != converted_fold::none;
}

}  // namespace onefold::cuda_backend
