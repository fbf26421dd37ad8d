#pragma once
/// @file driver.hpp  Variant superaccumulator on the host: exact sums.

#include <onefold/detail/device_exact.hpp>
#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/request.hpp>

#include "../../../src/mixed_types.hpp"
#include "../variant.hpp"
#include "memory.hpp"

namespace onefold::cuda_backend {

/// What a call of the variant is told in device_fold::object.
struct exact_call {
  exact_part part;
  exact_outcome outcome;
  const onefold::detail::types_of_dot* types = nullptr;  ///< not null: of a dot of two types, which are numbers of the call's type
};

/// A call with a function of the caller's, whose row this begins with.
struct exact_values_call : onefold::detail::device_fold_with_exact {
  exact_outcome outcome;  ///< `state` of one result alone
};

/// Launches the sums of `now`, whose `own` has an exact_call and the arrays, or is an exact_values_call.
void run_superaccumulator(call& now);

/// Whether these are the real and imaginary parts of an array of complex numbers, of which both have a sum.
inline bool is_parts(const onefold::detail::device_fold& fold) { return fold.kernels == nullptr; }

}  // namespace onefold::cuda_backend
