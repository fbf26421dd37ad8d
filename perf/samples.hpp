#pragma once
/// @file samples.hpp  A set of measured times and what is said of it.

#include <vector>

namespace onefold::perf {

/// Seconds, sorted.
struct samples {
  std::vector<double> seconds;
  std::vector<double> medians = {};  ///< of each pass that add() has put in

  [[nodiscard]] double median() const { return quantile(0.5); }
  /// Half of the distance between the quartiles over the median: the noise.
  [[nodiscard]] double spread() const { return (quantile(0.75) - quantile(0.25)) / 2 / median(); }
  [[nodiscard]] double quantile(double q) const;

  /// Puts in what another pass over the same measurement gave, some time later.
  void add(const samples& pass);
  /// Whether another run may well give a median that differs by 3 %: two passes of this one did by 2 %, or half of the samples by 6 %.
  [[nodiscard]] bool noisy() const;
};

}  // namespace onefold::perf
