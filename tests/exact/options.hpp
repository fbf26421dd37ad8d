#pragma once
/// @file options.hpp  What the tests of exact sums ask for.

#include <onefold/options.hpp>

namespace onefold_test {

inline constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};
inline constexpr onefold::options fixed{.guarantee = onefold::guarantee::fixed};

}  // namespace onefold_test
