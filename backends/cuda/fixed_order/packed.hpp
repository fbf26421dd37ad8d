#pragma once
/// @file packed.hpp  Which folds are read in packs from any boundary (families.cuh).

#include <onefold/types.hpp>

namespace onefold::cuda_backend {

/// Those of small elements and of wider integers, and forms that few ask for. `wide` only where a form can be.
constexpr bool is_packed(element_type type, form what, bool wide) noexcept {
  if (!takes_type(what, type) || (wide && !can_be_wide(type, what))) return false;
  if (is_small(type) || what == form::argminmax) return true;
  if (what == form::argmin_magnitude || what == form::argmax_magnitude) return is_float(type) || is_signed_integer(type);
  return wide && !is_float(type);
}

}  // namespace onefold::cuda_backend
