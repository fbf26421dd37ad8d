#pragma once
/// @file range_support.hpp  States of ranges of any form and type, through the C interface; arrays of hard values; results of whole arrays;
/// cuts, and bytes of states written down.

#include <algorithm>
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

// Of the bytes of a state `kept` reads these; it refuses them where bits of one are others or some are lacking or too many, and is then what it was.
inline void expect_reads_nothing_else(const state& kept, const bytes& good) {
  const bytes before = bytes_of(kept);
  const auto expect_refused = [&](const bytes& bad) {
    ASSERT_EQ(onefold_range_read(kept.get(), bad.data(), bad.size()), ONEFOLD_INVALID_ARGUMENT);
    ASSERT_EQ(bytes_of(kept), before);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    SCOPED_TRACE(i);
    for (const int bit : {0, 3, 7}) {
      bytes bad = good;
      bad[i] ^= static_cast<std::byte>(1 << bit);
      expect_refused(bad);
    }
    expect_refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)});
  }
  for (const std::size_t more : {1U, 8U, 12U, 100U}) {
    bytes bad = good;
    bad.resize(good.size() + more);
    expect_refused(bad);
  }
  ASSERT_EQ(onefold_range_read(kept.get(), good.data(), good.size()), ONEFOLD_OK);
  EXPECT_EQ(bytes_of(kept), good);
}

// Of any bits, NaN of every kind among them; few different ones, of which many are equal, zeros of both signs too; the same with some infinities,
// so that a NaN comes about where subtrees meet; numbers of which sums and products round, so that their order shows, with zeros of both signs and, in norm2,
// of all its classes.
enum class values_of { any_bits, few, infinities, rounding };

class arrays {
 public:
  arrays(const kind& of, uint64_t count, uint64_t seed, values_of values) : of_(of), values_(values) {
    for (int k = 0; k < 2; ++k) {
      const random_numbers random(seed + static_cast<uint64_t>(k));
      std::vector<std::byte>& array = of_elements_[k];
      array.resize(count * of.element_bytes());
      const std::size_t number_bytes = size_of(part_type(of.type));  // two of each complex number
      for (uint64_t i = 0; i < array.size() / number_bytes; ++i) {
        const uint64_t bits = values == values_of::any_bits   ? random.at(i)
                              : values == values_of::rounding ? rounding_bits(random.at(i))
                                                              : few_bits(random.at(i));
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
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double value = (static_cast<int>(random % 7) - 3) * 0.375;
    if (values_ == values_of::infinities && (random >> 16) % 997 == 0) value = value < 0 ? -infinity : infinity;
    const bool negative_zero = random % 7 == 3 && (random >> 8) % 2 == 0;
    return bits_of(negative_zero ? -0.0 : value, random % 7 - 3);
  }
  [[nodiscard]] uint64_t rounding_bits(uint64_t random) const {
    double value = 0.75 + static_cast<double>(random >> 12) * 0x1p-53;
    if (of_.what == form::norm2 && (random >> 1) % 2 == 0) value *= (random >> 2) % 2 == 0 ? 0x1p-500 : 1e10;
    if ((random >> 3) % 61 == 0) value = 0;
    return bits_of(random % 2 == 0 ? value : -value, random);
  }
  // Of a float, or of an integer.
  [[nodiscard]] uint64_t bits_of(double value, uint64_t integer) const {
    switch (part_type(of_.type)) {
      case element_type::f32:
        return std::bit_cast<uint32_t>(static_cast<float>(value));
      case element_type::f64:
        return std::bit_cast<uint64_t>(value);
      case element_type::f16:
        return onefold::float16(static_cast<float>(value)).bits();
      case element_type::bf16:
        return onefold::bfloat16(static_cast<float>(value)).bits();
      default:
        return integer;
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

// --- executors ------------------------------------------------------------------------------------------------------------------------------

inline onefold_executor any_executor(random_numbers& random) {
  const auto& all = places();
  return onefold::detail::c_executor(all[random.below(all.size())].where);
}

// --- bytes ----------------------------------------------------------------------------------------------------------------------------------

// Bytes as docs/order.md has them, written down once more.
class byte_writer {
 public:
  template <class Number>
  byte_writer& put(Number value) {
    unsigned char of_value[sizeof(value)];
    std::memcpy(of_value, &value, sizeof(value));
    for (const unsigned char one : of_value) all_.push_back(static_cast<std::byte>(one));
    return *this;
  }
  byte_writer& header(int type, int what, int wide, uint64_t begin, uint64_t end) {
    for (const char letter : {'o', 'n', 'e', 'f', 'o', 'l', 'd', '\0', '\1', '\0'}) put(letter);
    put(static_cast<std::uint8_t>(type)).put(static_cast<std::uint8_t>(what)).put(static_cast<std::uint8_t>(wide));
    return put(std::uint8_t{0}).put(std::uint8_t{0}).put(std::uint8_t{0}).put(begin).put(end);
  }
  byte_writer& put(const std::byte* some, std::size_t count) {
    all_.insert(all_.end(), some, some + count);
    return *this;
  }
  // Another byte of what is there.
  byte_writer& at(std::size_t i, int value) {
    all_.at(i) = static_cast<std::byte>(value);
    return *this;
  }
  [[nodiscard]] bytes summed() const {
    uint64_t hash = 14695981039346656037U;
    for (const std::byte one : all_) {
      hash ^= static_cast<uint64_t>(one);
      hash *= 1099511628211U;
    }
    byte_writer with_checksum = *this;
    return with_checksum.put(hash).all_;
  }

 private:
  bytes all_;
};

}  // namespace onefold_test
