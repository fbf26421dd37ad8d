/// @file print_text.cpp  What the tool says to people.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include <onefold/version.hpp>

#include "../type_names.hpp"
#include "print_values.hpp"

namespace onefold::tool {

namespace {

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

// Behind mean_variance what is taken from the count: "mean_variance with ddof 1".
std::string form_text(form what, std::int64_t ddof) {
  return what == form::mean_variance ? fmt::format("{} with ddof {}", onefold::name(what), ddof) : std::string(onefold::name(what));
}

// "f32 accumulated in f64, as f64": the type of the result where it is another than the elements'.
std::string elements_text(element_type type, form what, bool wide) {
  const element_type result = result_type(type, what, wide);
  const bool as_it_is = result == type || result_parts(type, what, wide)[0].kind == part_kind::truth;
  return fmt::format("{}{}{}", onefold::name(type),
                     wide ? fmt::format(" accumulated in {}", accumulation(type, true)) : std::string(),
                     as_it_is ? std::string() : fmt::format(", as {}", onefold::name(result)));
}

// "dot of 2 x 100 f32 accumulated in f64, as f64 (800 bytes)".
std::string reduction_description(const reduction& done) {
  return fmt::format("{} of {}{} {} ({})", form_text(done.what.form, done.what.ddof), done.second_input == nullptr ? "" : "2 x ",
                     done.input.count, elements_text(done.input.type, done.what.form, done.what.wide),
                     bytes_text(static_cast<double>(done.bytes())));
}

std::string time_description(const outcome& result) {
  const std::string median = time_text(result.median_seconds());
  if (!result.warm) return median + " (one run; may include reading the file, --repeat N times without)";
  if (result.seconds.size() == 1) return median + " (one run after an untimed one)";
  return fmt::format("{} (median of {} runs after an untimed one, {} to {})", median, result.seconds.size(),
                     time_text(result.seconds.front()), time_text(result.seconds.back()));
}

// Of an exact result also the default's and its distance, which a number and NaN, or infinity, have not.
void add_parts(table& lines, const std::vector<printed_part>& parts) {
  for (const printed_part& part : parts) {
    if (!part.value) {
      lines.add({part.name, "none yet: it takes all elements from 0 on, which 'onefold merge' puts together"});
      continue;
    }
    lines.add({part.name, value_text(*part.value)});
    if (!part.bits_name.empty()) lines.add({part.bits_name, bits_text(*part.value)});
    if (!part.fixed) continue;
    const auto ulps = part.ulps();
    const std::string distance = ulps ? fmt::format("{} {} away", *ulps, *ulps == 1 ? "ulp" : "ulps") : "no number of ulps away";
    lines.add({"fixed_" + part.name, fmt::format("{} ({}), {}", value_text(*part.fixed), bits_text(*part.fixed), distance)});
  }
}

void add_saved_state(table& lines, const std::string& path, form what, bool is_range, std::int64_t ddof) {
  if (path.empty()) return;
  const std::string asked = ddof == 0 ? "" : fmt::format(" --ddof {}", ddof);  // of which a state knows nothing
  lines.add({"saved state", is_range ? fmt::format("{} (onefold merge{} puts it to its neighbours)", one_line(path), asked)
                                     : fmt::format("{} (onefold merge --form {}{} adds it to others)", one_line(path),
                                                   onefold::name(what), asked)});
}

// "elements 1000 to 1999".
void add_range(table& lines, std::optional<std::uint64_t> begin, std::uint64_t count) {
  if (!begin) return;
  lines.add({"range", count == 0 ? fmt::format("no elements, at element {}", *begin)
                                 : fmt::format("elements {} to {}", *begin, *begin + count - 1)});
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

// "all", or the types that are supported, in short where they are those of 4 and 8 bytes; where a type misses some of the operators, those that it
// has follow: "i32 u32(min,max)".
std::string types_text(const variant_info& variant) {
  if (!variant.built) return "-";
  std::string text;
  bool all = true, full = true;
  for (int t = 0; t < element_type_count; ++t) {
    std::vector<std::string_view> ops;
    for (int o = 0; o < operation_count; ++o)
      if (variant.supports(static_cast<element_type>(t), static_cast<operation>(o)))
        ops.push_back(onefold::name(static_cast<operation>(o)));
    all = all && ops.size() == operation_count;
    full = full && ops.size() == (is_small(static_cast<element_type>(t)) ? 0 : operation_count);
    if (ops.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " ", onefold::name(static_cast<element_type>(t)));
    const bool some = ops.size() < operation_count && variant.guarantee < guarantee::exact;  // such takes sums, and no product
    if (some) text += fmt::format("({})", fmt::join(ops, ","));
  }
  return all ? "all" : full ? "of 4 and 8 bytes" : text.empty() ? "none" : text;
}

// Beside the types: a variant takes every form of its types or the elements as they are.
std::string forms_text(const variant_info& variant) {
  if (!variant.built) return "-";
  if (variant.guarantee == guarantee::exact) return "exact sums";
  for (int t = 0; t < element_type_count; ++t)
    for (int f = 0; f < form_count + record_count; ++f)
      if (takes_type(static_cast<form>(f), static_cast<element_type>(t)) &&
          !variant.supports(static_cast<element_type>(t), static_cast<form>(f)))
        return "sum prod min max";
  return "every form";
}

std::string_view place_text(const variant_info& variant) { return variant.backend == backend::cuda ? "cuda" : "cpu"; }

// The name, with the place where both have a variant of that name.
std::string full_name(const variant_info& variant) {
  const bool unique =
      find_variant(variant.name, backend::serial) == nullptr || find_variant(variant.name, backend::cuda) == nullptr;
  return unique ? std::string(variant.name) : fmt::format("{} ({})", variant.name, place_text(variant));
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

// "f32 dot own wide 17 1025: expected 0x3f800000, got 0x3f800001 (x 3 and y 2 elements behind a boundary of 64 bytes)"; of several results all,
// and behind mean_variance what is taken from the count: "mean_variance ddof 1". "exact sum": under that guarantee.
std::string difference_text(const golden_difference& difference) {
  const auto& [row, offset_x, offset_y, got, error] = difference;
  const std::string second = row.form == form::dot ? fmt::format(" and y {}", offset_y) : std::string();
  const std::string ddof = row.form == form::mean_variance ? fmt::format(" ddof {}", row.ddof) : std::string();
  return fmt::format("{} {}{}{} {} {} {} {}: expected {}, {} (x {}{} elements behind a boundary of 64 bytes)",
                     onefold::name(row.type), row.exact ? "exact " : "", onefold::name(row.form), ddof,
                     accumulation(row.type, row.wide), row.data, row.seed, row.count, fmt::join(bits_texts(row, row.bits), " "),
                     error.empty() ? fmt::format("got {}", fmt::join(bits_texts(row, got), " ")) : "failed: " + error, offset_x,
                     second);
}

std::string file_formats() { return reads_hdf5() ? "npy, raw, hdf5" : "npy, raw (built without HDF5)"; }

}  // namespace

std::string reduction_text(const reduction& done) {
  const auto& input = done.input;
  const auto& result = done.result;
  table lines;
  add_parts(lines, printed_parts(done));
  if (result.distinct_values > 1)
    lines.add({"caution",
               fmt::format("{} different results in {} runs; this is the last", result.distinct_values, result.seconds.size())});
  lines.add({"reduction", reduction_description(done)});
  add_range(lines, done.what.begin, input.count);
  lines.add({"file", one_line(done.name)});
  lines.add({"input", input_description(input)});
  if (done.second_input != nullptr) {
    lines.add({"second file", one_line(done.second_name)});
    lines.add({"second input", input_description(*done.second_input)});
  }
  add_what_ran(lines, result.ran);
  lines.add({"time", time_description(result)});
  if (const auto speed = gigabytes_per_second(done)) lines.add({"bandwidth", fmt::format("{:.4g} GB/s", *speed)});
  if (result.copies_are_timed) lines.add({"copy to the GPU", "in pieces (in the time above)"});
  if (result.copy_seconds) lines.add({"copy to the GPU", time_text(*result.copy_seconds) + " (not in the time above)"});
  add_saved_state(lines, done.saved_state, done.what.form, done.what.begin.has_value(), done.what.ddof);
  return lines.text();
}

std::string merging_text(const merging& done) {
  const bool is_range = done.begin.has_value();
  table lines;
  add_parts(lines, printed_parts(done));
  lines.add({"reduction",
             fmt::format("{} of {}{} {}", form_text(done.form, done.ddof), done.form == form::dot ? "2 x " : "", done.count,
                         is_range                         ? elements_text(done.type, done.form, done.wide)
                         : done.type != element_type::f32 ? std::string(name(done.type))
                                                          : names_of_types(is_short_float, "or") + (done.wide ? ", as f64" : ""))});
  add_range(lines, done.begin, done.count);
  lines.add(
      {"states", fmt::format("{} in {}", done.states, counted(static_cast<std::int64_t>(done.files.size()), "file", "files"))});
  add_saved_state(lines, done.saved_state, done.form, is_range, done.ddof);
  return lines.text();
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

}  // namespace onefold::tool
