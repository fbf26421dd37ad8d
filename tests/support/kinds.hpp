#pragma once
/// @file kinds.hpp  Every form of every type that has a state of its own.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/types.hpp>

namespace onefold_test {

struct kind {
  onefold::element_type type;
  onefold::form what;
  bool wide = false;

  [[nodiscard]] std::size_t element_bytes() const { return onefold::size_of(type); }
  [[nodiscard]] std::uint64_t tile() const { return 4096 / element_bytes(); }
  [[nodiscard]] std::size_t result_bytes() const { return onefold::result_bytes(type, what, wide); }
  [[nodiscard]] std::uint32_t flags() const { return wide ? ONEFOLD_WIDE : 0U; }
};

inline std::string text(const kind& of) {
  return std::string(name(of.what)) + " of " + std::string(name(of.type)) + (of.wide ? ", wide" : "");
}

/// All but complex numbers and reduce_together.
inline std::vector<kind> all_kinds() {
  std::vector<kind> all;
  for (int t = 0; t < onefold::element_type_count; ++t)
    for (int f = 0; f < onefold::form_count + onefold::record_count; ++f)
      for (const bool wide : {false, true}) {
        const kind one{static_cast<onefold::element_type>(t), static_cast<onefold::form>(f), wide};
        if (one.what == onefold::form::reduce_together || !takes_type(one.what, one.type)) continue;
        if (wide && !can_be_wide(one.type, one.what)) continue;
        all.push_back(one);
      }
  return all;
}

}  // namespace onefold_test
