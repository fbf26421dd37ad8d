#pragma once
/// @file dots.hpp  Dots of several vectors with several others in one launch.

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

/// What a launch takes: at most 8 dots with one vector in common, or 4 by 4. Vectors that are not there are null.
struct dots_of_launch {
  static constexpr int longest = 8;  ///< with one in common
  static constexpr int square = 4;

  const void* x[square];
  const void* y[longest];
  int rows;
  int columns;
  int stride;  ///< results from row to row
};

/// The fold of these dots, whose object `dots` must live until the call ends, for elements of type f32 or f64.
onefold::detail::device_fold fold_of_dots(element_type type, const dots_of_launch& dots);

}  // namespace onefold::cuda_backend
