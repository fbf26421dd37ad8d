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

void samples::add(const samples& pass) {
  seconds.insert(seconds.end(), pass.seconds.begin(), pass.seconds.end());
  std::ranges::sort(seconds);
  medians.push_back(pass.median());
}

bool samples::noisy() const {
  constexpr double between_passes = 0.02;
  constexpr double within = 0.03;
  if (spread() > within) return true;
  if (medians.size() < 2) return false;
  const auto [least, most] = std::ranges::minmax(medians);
  return most > (1 + between_passes) * least;
}

}  // namespace onefold::perf
