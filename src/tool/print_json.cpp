/// @file print_json.cpp  What the tool says to programs.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include <onefold/version.hpp>

#include "print_values.hpp"

namespace onefold::tool {

namespace {

using json = nlohmann::ordered_json;  // keys in the order in which they are written here

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

json input_json(const std::string& name, const input_array& input) {
  return {{"file", name},
          {"format", input.format},
          {"shape", input.shape},
          {"fortran_order", input.fortran_order},
          {"memory_mapped", input.mapped},
          {"in_pieces", input.in_pieces()}};
}

void add_parts(json& object, const std::vector<printed_part>& parts) {
  for (const printed_part& part : parts) {
    object[part.name] = part.value ? value_json(*part.value) : json(nullptr);
    if (!part.bits_name.empty()) object[part.bits_name] = part.value ? json(bits_text(*part.value)) : json(nullptr);
    if (!part.fixed) continue;
    object["fixed_" + part.name] = value_json(*part.fixed);
    object["fixed_" + part.bits_name] = bits_text(*part.fixed);
    object["fixed_" + part.ulps_name] = or_null(part.ulps().has_value(), part.ulps().value_or(0));
  }
}

json supported_json(const variant_info& variant) {
  json supported = json::object();
  for (int t = 0; t < element_type_count; ++t) {
    json forms = json::array();
    for (int f = 0; f < form_count + record_count; ++f)
      if (variant.supports(static_cast<element_type>(t), static_cast<form>(f)))
        forms.push_back(onefold::name(static_cast<form>(f)));
    if (!forms.empty()) supported[std::string(onefold::name(static_cast<element_type>(t)))] = std::move(forms);
  }
  return supported;
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

// One text, or several where there are several results.
json bits_json(const golden_row& row, const result_bits& bits) {
  const auto texts = bits_texts(row, bits);
  return texts.size() == 1 ? json(texts[0]) : json(texts);
}

json difference_json(const golden_difference& difference) {
  const auto& [row, offset_x, offset_y, got, error] = difference;
  return {{"type", onefold::name(row.type)},
          {"form", onefold::name(row.form)},
          {"guarantee", onefold::name(row.exact ? guarantee::exact : guarantee::fixed)},
          {"accumulate", accumulation(row.type, row.wide)},
          {"ddof", or_null(row.form == form::mean_variance, row.ddof)},
          {"data", row.data},
          {"seed", row.seed},
          {"count", row.count},
          {"expected", bits_json(row, row.bits)},
          {"got", error.empty() ? bits_json(row, got) : json(nullptr)},
          {"error", error.empty() ? json(nullptr) : json(error)},
          {"offset_x", offset_x},
          {"offset_y", offset_y}};
}

}  // namespace

std::string reduction_json(const reduction& done) {
  const auto& input = done.input;
  const auto& result = done.result;
  const report& ran = result.ran;
  const bool on_gpu = ran.backend == backend::cuda;
  const bool two = done.second_input != nullptr;
  const auto speed = gigabytes_per_second(done);
  json object{{"form", onefold::name(done.what.form)}};
  add_parts(object, printed_parts(done));
  object.update({{"result_type", onefold::name(result_type(input.type, done.what.form, done.what.wide))},
                 {"type", onefold::name(input.type)},
                 {"accumulate", accumulation(input.type, done.what.wide)},
                 {"ddof", or_null(done.what.form == form::mean_variance, done.what.ddof)},
                 {"count", input.count},
                 {"bytes", done.bytes()},
                 {"file", done.name},
                 {"format", input.format},
                 {"shape", input.shape},
                 {"fortran_order", input.fortran_order},
                 {"memory_mapped", input.mapped},
                 {"in_pieces", input.in_pieces()},
                 {"second", two ? input_json(done.second_name, *done.second_input) : json(nullptr)},
                 {"begin", or_null(done.what.begin.has_value(), done.what.begin.value_or(0))},
                 {"saved_state", or_null(!done.saved_state.empty(), done.saved_state)},
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
  return dump(object);
}

std::string merging_json(const merging& done) {
  json object{{"form", onefold::name(done.form)}};
  add_parts(object, printed_parts(done));
  object.update({{"result_type", onefold::name(result_type(done.type, done.form, done.wide))},
                 {"type", onefold::name(done.type)},
                 {"accumulate", accumulation(done.type, done.wide)},
                 {"ddof", or_null(done.form == form::mean_variance, done.ddof)},
                 {"guarantee", onefold::name(done.begin ? guarantee::fixed : guarantee::exact)},
                 {"begin", or_null(done.begin.has_value(), done.begin.value_or(0))},
                 {"count", done.count},
                 {"states", done.states},
                 {"files", std::vector<std::string>(done.files.begin(), done.files.end())},
                 {"saved_state", or_null(!done.saved_state.empty(), done.saved_state)}});
  return dump(object);
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

std::string info_json(std::span<const backend_info> backends) {
  json all = json::array();
  for (const backend_info& backend : backends) all.push_back(backend_json(backend));
  return dump({{"version", ONEFOLD_VERSION_STRING}, {"hdf5", reads_hdf5()}, {"backends", std::move(all)}});
}

}  // namespace onefold::tool
