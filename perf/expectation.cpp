#include "expectation.hpp"

#include <fmt/core.h>

#include <limits>
#include <stdexcept>

namespace onefold::perf {

expectation expected(form what, element_type type, const whole_sums& sums, double rounding_steps) {
  constexpr double steps_of_a_norm = 8;
  const double one_rounding = (type == element_type::f32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                                         : std::numeric_limits<double>::epsilon()) /
                              2;
  const double tolerance = rounding_steps * one_rounding;
  switch (what) {
    case form::sum:
      return {static_cast<double>(sums.sum), tolerance};
    case form::dot:
      return {static_cast<double>(sums.dot), tolerance};
    case form::norm1:
      return {static_cast<double>(sums.norm1), tolerance};
    case form::norm2:
      return {std::sqrt(static_cast<double>(sums.squares)), tolerance + steps_of_a_norm * one_rounding};
    case form::max:
      return {static_cast<double>(sums.max), 0};
    default:
      throw std::runtime_error(fmt::format("what {} must give is not known here", name(what)));
  }
}

std::string wrong_result(form what, element_type type, std::uint64_t count, double got, const expectation& wanted) {
  if (std::fabs(got - wanted.value) <= wanted.tolerance * std::fabs(wanted.value)) return {};  // so written that a NaN is wrong
  return fmt::format("{} of {} {} is {:.9g} where {:.9g} is right", name(what), count, name(type), got, wanted.value);
}

}  // namespace onefold::perf
