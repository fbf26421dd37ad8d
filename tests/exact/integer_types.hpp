#pragma once
/// @file integer_types.hpp  The types of integers, all of which have exact means, norms and variances.

#include <cstdint>

namespace onefold_test {

template <class F>
void for_each_integer(F&& f) {
  f.template operator()<std::int8_t>();
  f.template operator()<std::uint8_t>();
  f.template operator()<std::int16_t>();
  f.template operator()<std::uint16_t>();
  f.template operator()<std::int32_t>();
  f.template operator()<std::uint32_t>();
  f.template operator()<std::int64_t>();
  f.template operator()<std::uint64_t>();
}

}  // namespace onefold_test
