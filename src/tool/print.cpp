#include "print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include <onefold/version.hpp>

namespace onefold::tool {

namespace {

using json = nlohmann::ordered_json;  // keys in the order in which they are written here

// Calls f with the value as its own type.
template <class F>
auto with_value(scalar value, F&& f) {
  const auto low = static_cast<std::uint32_t>(value.bits);
  switch (value.type) {
    case element_type::f32:
      return f(std::bit_cast<float>(low));
    case element_type::f64:
      return f(std::bit_cast<double>(value.bits));
    case element_type::i32:
      return f(std::bit_cast<std::int32_t>(low));
    case element_type::u32:
      return f(low);
    case element_type::i64:
      return f(std::bit_cast<std::int64_t>(value.bits));
    case element_type::u64:
      break;
  }
  return f(value.bits);
}

json value_json(scalar value) {
  return with_value(value, [&](auto number) -> json {
    if constexpr (std::is_floating_point_v<decltype(number)>)
      if (!std::isfinite(number)) return value_text(value);
    return number;
  });
}

// A file's name may hold bytes that are no UTF-8, which JSON has no way to say.
std::string dump(const json& object) { return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

json or_null(bool known, json value) { return known ? std::move(value) : json(nullptr); }

std::string bytes_text(double bytes) {
  constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < units.size()) bytes /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 2, units[unit]);
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

// Bytes of input over the median time, in units of 10^9 per second; nothing where that has no meaning.
std::optional<double> gigabytes_per_second(const reduction& done) {
  const double seconds = done.result.median_seconds();
  if (done.input.count == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(done.bytes()) / seconds / 1e9;
}

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Rows of cells, each column as wide as its widest cell.
class table {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i) out += fmt::format("{:<{}}  ", row[i], widths[i]);
      out += row.back() + "\n";  // no blanks at the end of a line
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string input_description(const input_array& input) {
  std::string text = fmt::format("{}, {}", input.format,
                                 input.in_pieces() ? "read in pieces"
                                 : input.mapped    ? "memory-mapped"
                                                   : "read into memory");
  if (input.format != "raw") text += fmt::format(", shape ({})", fmt::join(input.shape, ", "));
  if (input.fortran_order) text += " in Fortran order";
  return text;
}

// "dot of 2 x 100 f32 accumulated in f64, as f64 (800 bytes)": the type of the result where it is another than the elements'.
std::string reduction_description(const reduction& done) {
  const element_type of = done.input.type, result = done.result.value.type;
  return fmt::format("{} of {}{} {}{}{} ({})", onefold::name(done.what.form), done.second_input == nullptr ? "" : "2 x ",
                     done.input.count, onefold::name(of), done.what.wide ? " accumulated in f64" : "",
                     result == of ? std::string() : fmt::format(", as {}", onefold::name(result)),
                     bytes_text(static_cast<double>(done.bytes())));
}

json input_json(const std::string& name, const input_array& input) {
  return {{"file", name},
          {"format", input.format},
          {"shape", input.shape},
          {"fortran_order", input.fortran_order},
          {"memory_mapped", input.mapped},
          {"in_pieces", input.in_pieces()}};
}

std::string time_description(const outcome& result) {
  const std::string median = time_text(result.median_seconds());
  if (!result.warm) return median + " (one run; may include reading the file, --repeat N times without)";
  if (result.seconds.size() == 1) return median + " (one run after an untimed one)";
  return fmt::format("{} (median of {} runs after an untimed one, {} to {})", median, result.seconds.size(),
                     time_text(result.seconds.front()), time_text(result.seconds.back()));
}

void add_what_ran(table& lines, const report& ran) {
  const bool on_gpu = ran.backend == backend::cuda;
  lines.add({"backend", fmt::format("{}, {}", onefold::name(ran.backend),
                                    on_gpu ? fmt::format("device {}", ran.device) : counted(ran.threads, "thread", "threads"))});
  lines.add(
      {"variant", ran.variant == ran.implementation ? ran.variant : fmt::format("{}, run by {}", ran.variant, ran.implementation)});
  lines.add({"guarantee", std::string(onefold::name(ran.guarantee))});
  if (!on_gpu) return;
  lines.add({"finish", std::string(onefold::name(ran.finish))});
  std::string launch = fmt::format("{} of {}, {}", counted(ran.grid_size, "block", "blocks"),
                                   counted(ran.block_size, "thread", "threads"), counted(ran.launches, "launch", "launches"));
  if (ran.width != 0) launch += fmt::format(", width {}", ran.width);
  lines.add({"launch", launch});
  if (ran.shared_bytes != 0) lines.add({"shared memory", fmt::format("{} bytes per block", ran.shared_bytes)});
  if (ran.scratch_bytes != 0) lines.add({"scratch copy", bytes_text(static_cast<double>(ran.scratch_bytes))});
}

// "all", or the types that are supported; where a type misses some of the operators, those that it has follow: "i32 u32(min,max)".
std::string types_text(const variant_info& variant) {
  if (!variant.built) return "-";
  std::string text;
  bool all = true;
  for (int t = 0; t < element_type_count; ++t) {
    std::vector<std::string_view> ops;
    for (int o = 0; o < operation_count; ++o)
      if (variant.supports(static_cast<element_type>(t), static_cast<operation>(o)))
        ops.push_back(onefold::name(static_cast<operation>(o)));
    all = all && ops.size() == operation_count;
    if (ops.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " ", onefold::name(static_cast<element_type>(t)));
    if (ops.size() < operation_count) text += fmt::format("({})", fmt::join(ops, ","));
  }
  return all ? "all" : text.empty() ? "none" : text;
}

// Beside the types: a variant takes every form of its types or the elements as they are.
std::string forms_text(const variant_info& variant) {
  if (!variant.built) return "-";
  for (int t = 0; t < element_type_count; ++t)
    for (int f = 0; f < form_count; ++f)
      if (!variant.supports(static_cast<element_type>(t), static_cast<form>(f))) return "sum prod min max";
  return "every form";
}

std::string_view place_text(const variant_info& variant) { return variant.backend == backend::cuda ? "cuda" : "cpu"; }

// The name, with the place where both have a variant of that name.
std::string full_name(const variant_info& variant) {
  const bool unique =
      find_variant(variant.name, backend::serial) == nullptr || find_variant(variant.name, backend::cuda) == nullptr;
  return unique ? std::string(variant.name) : fmt::format("{} ({})", variant.name, place_text(variant));
}

json supported_json(const variant_info& variant) {
  json supported = json::object();
  for (int t = 0; t < element_type_count; ++t) {
    json forms = json::array();
    for (int f = 0; f < form_count; ++f)
      if (variant.supports(static_cast<element_type>(t), static_cast<form>(f)))
        forms.push_back(onefold::name(static_cast<form>(f)));
    if (!forms.empty()) supported[std::string(onefold::name(static_cast<element_type>(t)))] = std::move(forms);
  }
  return supported;
}

// "Heading" and its notes, names with the same note together: one missing driver stops every CUDA variant.
std::string notes_text(std::string_view heading, const std::vector<std::pair<std::string, std::string>>& notes) {
  if (notes.empty()) return {};
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& [name, note] : notes) {
    auto group = std::ranges::find(groups, note, &std::pair<std::string, std::vector<std::string>>::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {note, {}});
    group->second.push_back(name);
  }
  std::string text = fmt::format("\n{}\n", heading);
  for (const auto& [note, names] : groups) text += fmt::format("  {}: {}\n", fmt::join(names, ", "), note);
  return text;
}

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

json backend_json(const backend_info& backend) {
  json devices = json::array();
  for (const device_info& device : backend.devices)
    devices.push_back({{"number", device.number},
                       {"name", device.name},
                       {"compute_capability", fmt::format("{}.{}", device.compute_capability[0], device.compute_capability[1])},
                       {"multiprocessors", device.multiprocessors},
                       {"memory_bytes", device.memory_bytes},
                       {"l2_bytes", device.l2_bytes}});
  return {{"name", onefold::name(backend.where)},
          {"built", backend.built},
          {"usable", backend.usable},
          {"detail", backend.detail},
          {"threads", or_null(backend.threads > 0, backend.threads)},
          {"devices", std::move(devices)}};
}

std::string_view accumulation(bool wide) { return wide ? "f64" : "own"; }

// "f32 dot own wide 17 1025: expected 0x3f800000, got 0x3f800001 (x 3 and y 2 elements behind a boundary of 64 bytes)"
std::string difference_text(const golden_difference& difference) {
  const auto& [row, offset_x, offset_y, got, error] = difference;
  const element_type result = result_type(row.type, row.form, row.wide);
  const std::string second = row.form == form::dot ? fmt::format(" and y {}", offset_y) : std::string();
  return fmt::format("{} {} {} {} {} {}: expected {}, {} (x {}{} elements behind a boundary of 64 bytes)", onefold::name(row.type),
                     onefold::name(row.form), accumulation(row.wide), row.data, row.seed, row.count, bits_text({result, row.bits}),
                     error.empty() ? "got " + bits_text({result, got}) : "failed: " + error, offset_x, second);
}

json difference_json(const golden_difference& difference) {
  const auto& [row, offset_x, offset_y, got, error] = difference;
  const element_type result = result_type(row.type, row.form, row.wide);
  return {{"type", onefold::name(row.type)},
          {"form", onefold::name(row.form)},
          {"accumulate", accumulation(row.wide)},
          {"data", row.data},
          {"seed", row.seed},
          {"count", row.count},
          {"expected", bits_text({result, row.bits})},
          {"got", error.empty() ? json(bits_text({result, got})) : json(nullptr)},
          {"error", error.empty() ? json(nullptr) : json(error)},
          {"offset_x", offset_x},
          {"offset_y", offset_y}};
}

std::string file_formats() { return reads_hdf5() ? "npy, raw, hdf5" : "npy, raw (built without HDF5)"; }

}  // namespace

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

std::string reduction_text(const reduction& done) {
  const auto& input = done.input;
  const auto& result = done.result;
  table lines;
  lines.add({"value", value_text(result.value)});
  lines.add({"bits", bits_text(result.value)});
  if (result.distinct_values > 1)
    lines.add({"caution",
               fmt::format("{} different results in {} runs; this is the last", result.distinct_values, result.seconds.size())});
  lines.add({"reduction", reduction_description(done)});
  lines.add({"file", one_line(done.name)});
  lines.add({"input", input_description(input)});
  if (done.second_input != nullptr) {
    lines.add({"second file", one_line(done.second_name)});
    lines.add({"second input", input_description(*done.second_input)});
  }
  add_what_ran(lines, result.ran);
  lines.add({"time", time_description(result)});
  if (const auto speed = gigabytes_per_second(done)) lines.add({"bandwidth", fmt::format("{:.4g} GB/s", *speed)});
  if (result.copy_seconds) lines.add({"copy to the GPU", time_text(*result.copy_seconds) + " (not in the time above)"});
  return lines.text();
}

std::string reduction_json(const reduction& done) {
  const auto& input = done.input;
  const auto& result = done.result;
  const report& ran = result.ran;
  const bool on_gpu = ran.backend == backend::cuda;
  const bool two = done.second_input != nullptr;
  const auto speed = gigabytes_per_second(done);
  return dump({{"form", onefold::name(done.what.form)},
               {"value", value_json(result.value)},
               {"bits", bits_text(result.value)},
               {"result_type", onefold::name(result.value.type)},
               {"type", onefold::name(input.type)},
               {"accumulate", accumulation(done.what.wide)},
               {"count", input.count},
               {"bytes", done.bytes()},
               {"file", done.name},
               {"format", input.format},
               {"shape", input.shape},
               {"fortran_order", input.fortran_order},
               {"memory_mapped", input.mapped},
               {"in_pieces", input.in_pieces()},
               {"second", two ? input_json(done.second_name, *done.second_input) : json(nullptr)},
               {"backend", onefold::name(ran.backend)},
               {"variant", ran.variant},
               {"implementation", ran.implementation},
               {"guarantee", onefold::name(ran.guarantee)},
               {"finish", onefold::name(ran.finish)},
               {"threads", or_null(!on_gpu, ran.threads)},
               {"device", or_null(on_gpu, ran.device)},
               {"block_size", or_null(on_gpu, ran.block_size)},
               {"grid_size", or_null(on_gpu, ran.grid_size)},
               {"width", or_null(on_gpu && ran.width != 0, ran.width)},
               {"launches", or_null(on_gpu, ran.launches)},
               {"shared_bytes", or_null(on_gpu, ran.shared_bytes)},
               {"scratch_bytes", or_null(on_gpu, ran.scratch_bytes)},
               {"runs", result.seconds.size()},
               {"untimed_run_first", result.warm},
               {"distinct_values", result.distinct_values},
               {"time_s", result.median_seconds()},
               {"time_min_s", result.seconds.front()},
               {"time_max_s", result.seconds.back()},
               {"copy_time_s", or_null(result.copy_seconds.has_value(), result.copy_seconds.value_or(0))},
               {"bandwidth_gb_per_s", or_null(speed.has_value(), speed.value_or(0))}});
}

std::string check_text(std::span<const golden_outcome> outcomes) {
  constexpr std::size_t most_lines = 50;  // for each place: who broke everything need not read it all
  std::string text;
  std::size_t cases = 0, differences = 0;
  for (const golden_outcome& one : outcomes) {
    text += fmt::format("{}: {} of {} rows\n", one.place, one.agreeing_rows, one.rows);
    cases += one.cases;
    differences += one.differences.size();
    for (std::size_t i = 0; i < std::min(one.differences.size(), most_lines); ++i)
      text += fmt::format("  {}\n", difference_text(one.differences[i]));
    if (one.differences.size() > most_lines)
      text += fmt::format("  and {} more (--json has all)\n", one.differences.size() - most_lines);
  }
  return text + fmt::format("{} cases, {} differences\n", cases, differences);
}

std::string check_json(std::span<const golden_outcome> outcomes) {
  json places = json::array();
  std::size_t cases = 0, differences = 0;
  for (const golden_outcome& one : outcomes) {
    json rows = json::array();
    for (const golden_difference& difference : one.differences) rows.push_back(difference_json(difference));
    places.push_back({{"place", one.place},
                      {"rows", one.rows},
                      {"agreeing_rows", one.agreeing_rows},
                      {"cases", one.cases},
                      {"differences", std::move(rows)}});
    cases += one.cases;
    differences += one.differences.size();
  }
  return dump({{"places", std::move(places)}, {"cases", cases}, {"differences", differences}});
}

std::string variants_text(std::span<const variant_row> rows) {
  table lines;
  lines.add({"variant", "place", "seed", "guarantee", "here", "types", "forms", "idea"});
  std::vector<std::pair<std::string, std::string>> limits, obstacles;
  for (const auto& [variant, obstacle] : rows) {
    lines.add({std::string(variant.name), std::string(place_text(variant)), std::string(variant.seed),
               std::string(onefold::name(variant.guarantee)), obstacle ? "no" : "yes", types_text(variant), forms_text(variant),
               std::string(variant.summary)});
    if (!variant.limits.empty()) limits.emplace_back(full_name(variant), variant.limits);
    if (obstacle) obstacles.emplace_back(full_name(variant), *obstacle);
  }
  return lines.text() + notes_text("Limits", limits) + notes_text("What prevents it here", obstacles);
}

std::string variants_json(std::span<const variant_row> rows) {
  json all = json::array();
  for (const auto& [variant, obstacle] : rows) {
    json finishes = json::array();
    for (const finish how : variant.finishes) finishes.push_back(onefold::name(how));
    all.push_back(
        {{"name", variant.name},
         {"seed", variant.seed},
         {"idea", variant.summary},
         {"backend", onefold::name(variant.backend)},
         {"guarantee", onefold::name(variant.guarantee)},
         {"built", variant.built},
         {"usable", !obstacle},
         {"obstacle", or_null(obstacle.has_value(), obstacle.value_or(""))},
         {"default_finish", onefold::name(variant.default_finish)},
         {"finishes", std::move(finishes)},
         {"default_block_size", variant.default_block_size},
         {"block_sizes", variant.block_sizes},
         {"grid_size_free", variant.grid_size_free},
         {"default_width", variant.default_width},
         {"widths", variant.widths},
         {"width_meaning", variant.width_meaning},
         {"min_compute_capability", fmt::format("{}.{}", variant.min_compute_capability / 10, variant.min_compute_capability % 10)},
         {"limits", variant.limits},
         {"supported", supported_json(variant)},
         {"accumulates_f32_in_f64", variant.takes_everything}});
  }
  return dump(all);
}

std::string variants_markdown(std::span<const variant_info> variants) {
  std::string text = "| variant | seed | idea |\n| --- | --- | --- |\n";
  for (const variant_info& variant : variants)
    text += fmt::format("| `{}` | {} | {} |\n", variant.name, markdown_cell(variant.seed), markdown_cell(variant.summary));
  return text;
}

std::string info_text(std::span<const backend_info> backends) {
  table lines, devices;
  lines.add({"backend", "usable", "threads", "details"});
  devices.add({"device", "name", "capability", "multiprocessors", "memory", "L2 cache"});
  bool any_device = false;
  for (const backend_info& backend : backends) {
    lines.add({std::string(onefold::name(backend.where)), backend.usable ? "yes" : "no",
               backend.threads > 0 ? fmt::format("{}", backend.threads) : "-", backend.detail});
    for (const device_info& device : backend.devices) {
      any_device = true;
      devices.add({fmt::format("{}", device.number), device.name,
                   fmt::format("{}.{}", device.compute_capability[0], device.compute_capability[1]),
                   fmt::format("{}", device.multiprocessors), bytes_text(static_cast<double>(device.memory_bytes)),
                   bytes_text(static_cast<double>(device.l2_bytes))});
    }
  }
  std::string text = fmt::format("onefold {}\nreads {}\n\n{}", ONEFOLD_VERSION_STRING, file_formats(), lines.text());
  if (any_device) text += fmt::format("\n{}", devices.text());
  return text;
}

std::string info_json(std::span<const backend_info> backends) {
  json all = json::array();
  for (const backend_info& backend : backends) all.push_back(backend_json(backend));
  return dump({{"version", ONEFOLD_VERSION_STRING}, {"hdf5", reads_hdf5()}, {"backends", std::move(all)}});
}

}  // namespace onefold::tool
