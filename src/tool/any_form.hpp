#pragma once
/// @file any_form.hpp  Any form of elements of any type, both known at run time only, by the erased request that onefold's functions make: the
/// one place of the tool that tells forms apart.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold::tool {

/// Most results that a form has here.
inline constexpr std::size_t most_parts = 4;

/// One value of any element type.
struct scalar {
  element_type type;
  std::uint64_t bits;     ///< its bits, in the low size_of(type) bytes
  bool is_truth = false;  ///< of all, any and none: 1 is true, 0 false
};

/// The bits of a form's results, in the order of results.hpp, of a complex number both parts'; 0 where there are none.
using result_bits = std::array<std::uint64_t, most_parts>;

enum class part_kind : std::uint8_t { value, index, truth };

/// What a result is called (results.hpp; "value" where there is one alone, "real" and "imaginary" where that is complex), its type, which is real, and
/// what it is.
struct result_part {
  std::string_view name;
  element_type type;
  part_kind kind = part_kind::value;
};

/// What is to be reduced.
struct form_request {
  element_type type;
  onefold::form form;
  bool wide;      ///< accumulated in accumulator_type(type, true)
  const void* x;  ///< count elements
  const void* y;  ///< of dot: count elements; else not looked at
  std::uint64_t count;
  std::int64_t ddof = 0;  ///< of mean_variance; else not looked at
  /// Not null: where the state_words() words of guarantee::exact, which is meant then, are stored too.
  std::int64_t* exact_state = nullptr;
};

/// The forms that the tool knows: all but reduce_together, which takes a list of operators.
[[nodiscard]] constexpr bool is_known(form what) noexcept { return what != form::reduce_together; }

/// How many results a form of elements of this type has, where a complex number counts as two.
[[nodiscard]] constexpr std::size_t result_count(element_type type, form what) noexcept {
  if (is_complex(type)) return what == form::mean_variance ? 3 : is_complex(result_type(type, what, false)) ? 2 : 1;
  return what == form::argminmax ? 4 : is_record(what) ? 2 : 1;
}

/// The results of a form, result_count() of them.
[[nodiscard]] std::array<result_part, most_parts> result_parts(element_type type, form what, bool wide);

/// The bits of results that lie in memory as in results.hpp, result_bytes() of them.
[[nodiscard]] result_bits bits_of_stored(element_type type, form what, bool wide, const std::byte* results);

/// int64 words of the state of guarantee::exact (docs/exact.md), or 0 where this form of this type has none. Of complex numbers they are the states of
/// the real parts and of the imaginary ones, side by side, or one of both.
[[nodiscard]] std::size_t state_words(element_type type, form what) noexcept;

/// Adds a state to another, which is looked at first, and each may be the sum of several: state_words() words of both.
/// Errors   onefold::error: invalid_argument where words are no state of this form and type; `to` is as it was.
void add_state(element_type type, form what, std::span<std::int64_t> to, std::span<const std::int64_t> from);

/// Elements of a state, for dot pairs. Errors: as above, and where the states of a complex number's parts are not of as many.
[[nodiscard]] std::uint64_t count_of_state(element_type type, form what, std::span<const std::int64_t> words);

/// The rounded results of a state, state_words() words of it.
/// Errors   onefold::error: invalid_argument where the words are no state of this form and type.
[[nodiscard]] result_bits results_of_state(element_type type, form what, bool wide, std::int64_t ddof,
                                           std::span<const std::int64_t> words);

/// How many steps there are from one number of a type to another, each to the next number of that type: 0 for the same bits and for
/// both zeros; none where they differ and one is NaN or infinite.
[[nodiscard]] std::optional<std::uint64_t> ulps_between(element_type type, std::uint64_t a, std::uint64_t b) noexcept;

/// Reduces and waits.
/// Errors   onefold::error, as reduce(); unsupported where elements of this type cannot be accumulated in a wider one, or have no
///          exact state where one is asked for.
[[nodiscard]] result_bits reduce_bits(const executor& where, const form_request& what, const options& how);

}  // namespace onefold::tool
