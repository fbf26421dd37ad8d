#include "print_values.hpp"

#include <fmt/format.h>

namespace onefold::tool {

std::string value_text(scalar value) {
  return with_value(value, [](auto number) { return fmt::format("{}", number); });
}

std::string bits_text(scalar value) { return fmt::format("0x{:0{}x}", value.bits, 2 * size_of(value.type)); }

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    line += code < 0x20 || code == 0x7f ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return line;
}

namespace {

std::vector<printed_part> printed_parts(element_type type, form what, bool wide, const std::optional<result_bits>& bits,
                                        const std::optional<result_bits>& fixed_bits) {
  const auto parts = result_parts(type, what, wide);
  std::vector<printed_part> printed;
  for (std::size_t i = 0; i < result_count(type, what); ++i) {
    const std::string name(parts[i].name);
    const bool index = parts[i].kind == part_kind::index, truth = parts[i].kind == part_kind::truth;
    const std::string prefix = name == "value" ? "" : name + "_";
    printed.push_back({name, index ? "" : prefix + "bits", std::nullopt, index ? "" : prefix + "ulps"});
    if (bits) printed.back().value = {parts[i].type, (*bits)[i], truth};
    if (fixed_bits && !index) printed.back().fixed = {parts[i].type, (*fixed_bits)[i], truth};
  }
  return printed;
}

}  // namespace

std::vector<printed_part> printed_parts(const reduction& done) {
  return printed_parts(done.input.type, done.what.form, done.what.wide, done.result.bits, done.result.fixed_bits);
}

std::vector<printed_part> printed_parts(const merging& done) {
  return printed_parts(done.type, done.form, done.wide, done.bits, std::nullopt);
}

std::vector<std::string> bits_texts(const golden_row& row, const result_bits& bits) {
  const auto parts = result_parts(row.type, row.form, row.wide);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < result_count(row.type, row.form); ++i) texts.push_back(bits_text({parts[i].type, bits[i]}));
  return texts;
}

std::optional<double> gigabytes_per_second(const reduction& done) {
  const double seconds = done.result.median_seconds();
  if (done.input.count == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(done.bytes()) / seconds / 1e9;
}

std::string_view accumulation(element_type type, bool wide) noexcept { return wide ? name(accumulator_type(type, true)) : "own"; }

}  // namespace onefold::tool
