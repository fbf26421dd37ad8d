#pragma once
/// @file own_range_header.hpp  The first 32 bytes of the state of a range that an operator of the caller's reduces (docs/order.md), for own_range_state.hpp and
/// for the compiled library's states of operators in C.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <onefold/detail/range_parts.hpp>
#include <onefold/error.hpp>

namespace onefold {
namespace detail {

struct own_range_header {
  char magic[8];
  std::uint16_t version;
  std::uint8_t type;
  std::uint8_t form;
  std::uint8_t can_be_absent;
  std::uint8_t value_bytes;
  std::uint8_t reserved[2];
  std::uint64_t begin;
  std::uint64_t end;

  static own_range_header of(std::size_t value_bytes, bool can_be_absent, std::uint64_t begin, std::uint64_t end) noexcept {
    return {{'o', 'n', 'e', 'f', 'o', 'l', 'd', 0}, 1,  255,   255, static_cast<std::uint8_t>(can_be_absent ? 1 : 0),
            static_cast<std::uint8_t>(value_bytes), {}, begin, end};
  }

  [[noreturn]] static void refuse_damaged() {
    throw error(errc::invalid_argument, "the bytes of the state of a range are damaged, or not as many as there were");
  }

  /// Of the bytes of a state, checksum and all, of values like those of `expected`. How many bytes there are is not compared with the range: which
  /// states that has, the caller knows. Throws invalid_argument.
  static own_range_header read(const std::byte* from, std::size_t size, const own_range_header& expected,
                               std::uint64_t most_elements) {
    own_range_header found;
    std::uint64_t checksum;
    if (size < sizeof(found) + sizeof(checksum) || std::memcmp(from, expected.magic, sizeof(expected.magic)) != 0)
      throw error(errc::invalid_argument, "these bytes are not the state of a range: they do not begin like one, or are too few");
    std::memcpy(&found, from, sizeof(found));
    if (found.version != expected.version)
      throw error(errc::invalid_argument, "the state of a range has version " + std::to_string(found.version) +
                                              ", and this library reads version " + std::to_string(expected.version));
    std::memcpy(&checksum, from + size - sizeof(checksum), sizeof(checksum));
    if (checksum != checksum_of(from, size - sizeof(checksum))) refuse_damaged();
    if (found.type != expected.type || found.form != expected.form)
      throw error(errc::invalid_argument,
                  "the bytes are a state of a form of the library's, and one of an operator was to be read");
    if (found.value_bytes != expected.value_bytes || found.can_be_absent != expected.can_be_absent)
      throw error(errc::invalid_argument,
                  "the bytes are a state of values of " + found.values() + ", and one of " + expected.values() + " was to be read");
    if (found.reserved[0] != 0 || found.reserved[1] != 0 || found.begin > found.end || found.end > most_elements) refuse_damaged();
    return found;
  }

 private:
  [[nodiscard]] std::string values() const {
    return std::to_string(value_bytes) + (can_be_absent != 0 ? " bytes that may be absent" : " bytes");
  }
};
static_assert(sizeof(own_range_header) == 32, "");

}  // namespace detail
}  // namespace onefold
