#include "limit.hpp"

#include <fmt/core.h>

#include <utility>

namespace onefold::perf {

bool is_limit(double limit_s, double seconds) {
  constexpr double most_over_limit = 1.5;
  return limit_s <= most_over_limit * seconds;
}

std::string percent_text(double limit_s, double seconds) {
  return is_limit(limit_s, seconds) ? fmt::format("{:.1f}", 100 * limit_s / seconds) : "-";
}

samples settled_limit(samples limit, double fastest_s, const std::function<samples()>& measure) {
  constexpr int most_tries = 3;
  for (int i = 0; i < most_tries && !is_limit(limit.median(), fastest_s); ++i) {
    samples again = measure();
    if (again.median() < limit.median()) limit = std::move(again);
  }
  return limit;
}

std::string limit_warning(std::string_view what, double limit_s, double fastest_s) {
  if (is_limit(limit_s, fastest_s)) return {};
  return fmt::format(
      "warning: the read limit {} is none: a reduction was {:.3g} times as fast, so \"-\" stands for parts of it. The machine was "
      "busy "
      "while the limit was measured, or threads shared a core (OMP_PROC_BIND=true keeps them apart), or the array is too small.",
      what, limit_s / fastest_s);
}

}  // namespace onefold::perf
