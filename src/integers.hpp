#pragma once
/// @file integers.hpp  Exact means, norms and variances of integers: those of doubles that have the same values.

#include <onefold/detail/request.hpp>
#include <onefold/options.hpp>

namespace onefold::detail {

/// What a request refers to that reads integers as doubles.
struct integers_as_doubles {
  value_source source;
  onefold_array array;
};

/// Makes a request on a CPU for the exact mean, norm2 or mean_variance of an array of integers one of doubles, which `memory` gives; any other is left as
/// it is. Of integers of 64 bits there is the mean.
void read_integers_exactly(request& what, const options& how, integers_as_doubles& memory) noexcept;

}  // namespace onefold::detail
