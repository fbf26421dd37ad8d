#include "samples.hpp"

#include <algorithm>
#include <cstddef>

namespace onefold::perf {

double samples::quantile(double q) const {
  const double place = q * static_cast<double>(seconds.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, seconds.size() - 1);
  return seconds[below] + (place - static_cast<double>(below)) * (seconds[above] - seconds[below]);
}

}  // namespace onefold::perf
