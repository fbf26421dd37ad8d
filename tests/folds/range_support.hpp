#pragma once
/// @file range_support.hpp  States of ranges of any form and type, through the C interface; arrays of hard values; results of whole arrays.

#include <bit>
#include <cstddef>
#include <limits>
#include <memory>

#include "../support/kinds.hpp"
#include "support.hpp"

namespace onefold_test {

using onefold::errc;
using onefold::range_state;
using bytes = std::vector<std::byte>;

// --- states of any form and type, through the C interface -----------------------------------------------------------------------------------

struct destroy {
  void operator()(onefold_range* state) const { onefold_range_destroy(state); }
};
using state = std::unique_ptr<onefold_range, destroy>;

inline void check(int status) { onefold::detail::check_status(status); }

inline state empty_state(const kind& of, uint64_t begin) {
  onefold_range* made = nullptr;
  check(onefold_range_create(static_cast<int32_t>(of.type), static_cast<int32_t>(of.what), of.flags(), begin, &made));
  return state(made);
}

inline bytes bytes_of(const state& of) {
  bytes all(onefold_range_bytes(of.get()));
  check(onefold_range_write(of.get(), all.data(), all.size()));
  return all;
}

inline state state_from(const kind& of, const bytes& from) {
  state made = empty_state(of, 77);
  check(onefold_range_read(made.get(), from.data(), from.size()));
  return made;
}

inline bytes result_of(const kind& of, const state& from) {
  bytes result(of.result_bytes());
  check(onefold_range_result(from.get(), 1, result.data()));
  return result;
}

// Of any bits, NaN of every kind among them; few different ones, of which many are equal, zeros of both signs too; the same with some infinities,
// so that a NaN comes about where subtrees meet.
enum class values_of { any_bits, few, infinities };

class arrays {
 public:
  arrays(const kind& of, uint64_t count, uint64_t seed, values_of values) : of_(of), values_(values) {
    for (int k = 0; k < 2; ++k) {
      const random_numbers random(seed + static_cast<uint64_t>(k));
      std::vector<std::byte>& array = of_elements_[k];
      array.resize(count * of.element_bytes());
      const std::size_t number_bytes = size_of(part_type(of.type));  // two of each complex number
      for (uint64_t i = 0; i < array.size() / number_bytes; ++i) {
        const uint64_t bits = values == values_of::any_bits ? random.at(i) : few_bits(random.at(i));
        std::memcpy(array.data() + i * number_bytes, &bits, number_bytes);
      }
    }
  }
  [[nodiscard]] const std::byte* x(uint64_t first = 0) const { return of_elements_[0].data() + first * of_.element_bytes(); }
  [[nodiscard]] const std::byte* y(uint64_t first = 0) const { return of_elements_[1].data() + first * of_.element_bytes(); }
  // As an alias of x, where there is one array, must not matter.
  [[nodiscard]] const std::byte* second(uint64_t first) const { return of_.what == form::dot ? y(first) : nullptr; }

 private:
  [[nodiscard]] uint64_t few_bits(uint64_t random) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    auto value = static_cast<float>(static_cast<int>(random % 7) - 3) * 0.375F;
    if (values_ == values_of::infinities && (random >> 16) % 997 == 0) value = value < 0 ? -infinity : infinity;
    const bool negative_zero = random % 7 == 3 && (random >> 8) % 2 == 0;
    switch (part_type(of_.type)) {
      case element_type::f32:
        return std::bit_cast<uint32_t>(negative_zero ? -0.0F : value);
      case element_type::f64:
        return std::bit_cast<uint64_t>(negative_zero ? -0.0 : double{value});
      case element_type::f16:
        return onefold::float16(negative_zero ? -0.0F : value).bits();
      case element_type::bf16:
        return onefold::bfloat16(negative_zero ? -0.0F : value).bits();
      default:
        return random % 7 - 3;
    }
  }

  kind of_;
  values_of values_;
  std::vector<std::byte> of_elements_[2];
};

inline bytes whole(const kind& of, const arrays& in, uint64_t count) {
  bytes result(of.result_bytes());
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = onefold_serial();
  what.type = static_cast<int32_t>(of.type);
  what.form = static_cast<int32_t>(of.what);
  what.flags = of.flags();
  what.input = in.x();
  what.second = in.second(0);
  what.count = count;
  what.ddof = 1;
  alignas(64) std::byte memory[64];
  what.output = memory;
  check(onefold_reduce(&what, nullptr));
  std::memcpy(result.data(), memory, result.size());
  return result;
}

// The state of the elements first .. end - 1 of an array whose first element has the index `origin`.
inline state state_of(const kind& of, const arrays& in, uint64_t origin, uint64_t first, uint64_t end,
                      const onefold_executor& where = onefold_serial()) {
  state made = empty_state(of, origin + first);
  check(onefold_range_add(made.get(), where, in.x(first), in.second(first), end - first, nullptr));
  return made;
}

}  // namespace onefold_test
