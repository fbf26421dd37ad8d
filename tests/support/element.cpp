#include "element.hpp"

#include <cinttypes>
#include <cstdio>

namespace onefold_test {

scalar scalar_from(element_type type, double value) {
  return with_type(type, [&]<class T> {
    if constexpr (std::is_floating_point_v<T>) return scalar_of(static_cast<T>(value));
    // A double has no defined conversion to a type that cannot hold it; every number of the tests fits 64 signed bits.
    return scalar_of(static_cast<T>(static_cast<std::int64_t>(value)));
  });
}

std::string text(const scalar& value) {
  char buffer[96];
  if (onefold::is_small(value.type)) {
    std::snprintf(buffer, sizeof(buffer), "0x%0*" PRIx64, static_cast<int>(2 * onefold::size_of(value.type)), value.bits);
    return buffer;
  }
  with_type(value.type, [&]<class T> {
    const T x = value_of<T>(value);
    if constexpr (std::is_floating_point_v<T>)
      std::snprintf(buffer, sizeof(buffer), "%.*g (0x%0*" PRIx64 ")", sizeof(T) == 4 ? 9 : 17, static_cast<double>(x),
                    static_cast<int>(2 * sizeof(T)), value.bits);
    else if constexpr (std::is_signed_v<T>)
      std::snprintf(buffer, sizeof(buffer), "%" PRId64, static_cast<std::int64_t>(x));
    else
      std::snprintf(buffer, sizeof(buffer), "%" PRIu64, static_cast<std::uint64_t>(x));
  });
  return buffer;
}

void elements::fill(const scalar& value) {
  for (std::size_t i = 0; i < count_; ++i) put(i, value);
}

}  // namespace onefold_test
