#pragma once
/// @file any_form.hpp  Any form of elements of any type, both known at run time only, through onefold's public functions: the one place of
/// the tool that tells forms apart.

#include <array>
#include <cstdint>
#include <string_view>

#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold::tool {

/// One value of any element type.
struct scalar {
  element_type type;
  std::uint64_t bits;  ///< its bits, in the low size_of(type) bytes
};

/// The bits of a form's results: of its only one, or of both where it is a record. The second one is 0 where there is none.
using result_bits = std::array<std::uint64_t, 2>;

/// What a result is called (results.hpp; "value" where there is one alone), and its type.
struct result_part {
  std::string_view name;
  element_type type;
};

/// What is to be reduced.
struct form_request {
  element_type type;
  onefold::form form;
  bool wide;      ///< f32 accumulated in f64
  const void* x;  ///< count elements
  const void* y;  ///< of dot: count elements; else not looked at
  std::uint64_t count;
  std::int64_t ddof = 0;  ///< of mean_variance; else not looked at
};

/// The forms that the tool knows: all but reduce_together, which takes a list of operators.
[[nodiscard]] constexpr bool is_known(form what) noexcept { return what != form::reduce_together; }

/// How many results a form has, 1 or 2.
[[nodiscard]] constexpr std::size_t result_count(form what) noexcept { return is_record(what) ? 2 : 1; }

/// The results of a form; the second is that of result_count() forms only.
[[nodiscard]] std::array<result_part, 2> result_parts(element_type type, form what, bool wide);

/// Reduces and waits.
/// Errors   onefold::error, as reduce(); unsupported where elements of this type cannot be accumulated in f64.
[[nodiscard]] result_bits reduce_bits(const executor& where, const form_request& what, const options& how);

}  // namespace onefold::tool
