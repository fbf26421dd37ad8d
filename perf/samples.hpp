#pragma once
/// @file samples.hpp  A set of measured times and what is said of it.

#include <vector>

namespace onefold::perf {

/// Seconds, sorted.
struct samples {
  std::vector<double> seconds;
  [[nodiscard]] double median() const { return quantile(0.5); }
  /// Half of the distance between the quartiles over the median: the noise.
  [[nodiscard]] double spread() const { return (quantile(0.75) - quantile(0.25)) / 2 / median(); }
  [[nodiscard]] double quantile(double q) const;
};

}  // namespace onefold::perf
