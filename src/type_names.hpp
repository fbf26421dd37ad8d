#pragma once
/// @file type_names.hpp  Lists of element types for sentences, from types.def.

#include <string>
#include <string_view>

#include <onefold/types.hpp>

namespace onefold {

/// "f32, f16 and bf16": the names of the types of real numbers that pass; `last` ("and", "or") is ahead of the last of them.
template <class Passes>
std::string names_of_types(Passes passes, std::string_view last) {
  int behind = 0;
  for (int i = 0; i < element_type_count; ++i) behind += passes(static_cast<element_type>(i)) ? 1 : 0;
  std::string names;
  for (int i = 0; i < element_type_count; ++i) {
    const auto type = static_cast<element_type>(i);
    if (!passes(type)) continue;
    names.append(name(type));
    --behind;
    if (behind > 1) names.append(", ");
    if (behind == 1) names.append(" ").append(last).append(" ");
  }
  return names;
}

/// Floats that can be accumulated in f64: those of up to 4 bytes.
constexpr bool is_short_float(element_type type) noexcept { return is_float(type) && type != element_type::f64; }

}  // namespace onefold
