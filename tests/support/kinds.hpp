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
  [[nodiscard]] bool is_of_complex() const { return is_complex(type); }
  // Lanes have one real value for each complex number in these forms.
  [[nodiscard]] bool has_double_tiles() const {
    return is_of_complex() &&
           (what == onefold::form::norm1 || what == onefold::form::norm_inf || what == onefold::form::mean_variance);
  }
  [[nodiscard]] std::uint64_t tile() const { return (has_double_tiles() ? 8192 : 4096) / element_bytes(); }
  [[nodiscard]] std::size_t result_bytes() const { return onefold::result_bytes(type, what, wide); }
  [[nodiscard]] std::uint32_t flags() const { return wide ? ONEFOLD_WIDE : 0U; }
};

inline std::string text(const kind& of) {
  return std::string(name(of.what)) + " of " + std::string(name(of.type)) + (of.wide ? ", wide" : "");
}

inline void append_kinds(std::vector<kind>& all, int first_type, int end_type) {
  for (int t = first_type; t < end_type; ++t)
    for (int f = 0; f < onefold::form_count + onefold::record_count; ++f)
      for (const bool wide : {false, true}) {
        const kind one{static_cast<onefold::element_type>(t), static_cast<onefold::form>(f), wide};
        if (one.what == onefold::form::reduce_together || !takes_type(one.what, one.type)) continue;
        if (wide && !can_be_wide(one.type, one.what)) continue;
        all.push_back(one);
      }
}

inline constexpr int every_type_count = onefold::element_type_count + 2;

/// All but complex numbers and reduce_together.
inline std::vector<kind> all_kinds() {
  std::vector<kind> all;
  append_kinds(all, 0, onefold::element_type_count);
  return all;
}
inline std::vector<kind> complex_kinds() {
  std::vector<kind> all;
  append_kinds(all, onefold::element_type_count, every_type_count);
  return all;
}
/// These and those.
inline std::vector<kind> every_kind() {
  std::vector<kind> all;
  append_kinds(all, 0, every_type_count);
  return all;
}

}  // namespace onefold_test
