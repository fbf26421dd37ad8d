#include "range_header.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "file_types.hpp"
#include "input_error.hpp"

namespace onefold::tool {

namespace {

constexpr std::string_view magic("onefold\0", 8);
constexpr std::size_t version_at = 8, type_at = 10, form_at = 11, wide_at = 12, header_bytes = 32;
constexpr int known_version = 1;

}  // namespace

std::string text_of(const range_kind& kind) {
  return fmt::format("{} of {}{}", name(kind.form), name(kind.type),
                     kind.wide ? fmt::format(" accumulated in {}", name(accumulator_type(kind.type, true))) : std::string());
}

bool looks_like_range(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

range_kind parse_range_header(std::span<const std::byte> bytes) {
  if (!looks_like_range(bytes)) throw input_error("is no state of a range: 'onefold sum FILE --state STATE' writes one");
  if (bytes.size() < header_bytes)
    throw input_error("is the beginning of a state of a range: it is truncated, write or copy it again");
  const auto byte_at = [&bytes](std::size_t at) { return std::to_integer<int>(bytes[at]); };
  const int version = byte_at(version_at) + 256 * byte_at(version_at + 1);
  if (version != known_version)
    throw input_error(
        fmt::format("is a state of a range of version {}, and this onefold reads version {}", version, known_version));
  const int type = byte_at(type_at), what = byte_at(form_at), wide = byte_at(wide_at);
  constexpr int own = 255;
  if (type == own && what == own)
    throw input_error("is a state of an operator of a program's own, which that program alone can read");
  const range_kind kind{static_cast<element_type>(type), static_cast<form>(what), wide == 1};
  if (type >= file_type_count || what >= form_count + record_count || wide > 1 || !takes_type(kind.form, kind.type) ||
      (kind.wide && !can_be_wide(kind.type, kind.form)))
    throw input_error("is a state of a range that is damaged: write or copy it again");
  if (kind.form == form::reduce_together)
    throw input_error(
        "is a state of reduce_together, several operators, which programs alone read so far: together_range_state::from_bytes()");
  return kind;
}

}  // namespace onefold::tool
