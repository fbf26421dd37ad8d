#pragma once
/// @file results.hpp  What the forms with several results give: plain structs, for structured bindings.

#include <cstdint>

namespace onefold {

/// Of argmin and argmax: the value, with the bits of min and max, and the first index that has it; of NaNs, the first.
template <class T>
struct arg_result {
  T value;
  std::uint64_t index;
};

/// Of minmax.
template <class T>
struct minmax_result {
  T min;
  T max;
};

/// Of mean_variance.
template <class T>
struct mean_variance_result {
  T mean;
  T variance;
};

}  // namespace onefold
