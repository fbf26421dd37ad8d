#include "compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace onefold::perf {

namespace {

using nlohmann::json;

// The rule, as compare.hpp gives it.
constexpr double best_known = 0.01;
constexpr double best_known_of_noisy = 0.1;
constexpr int fewest_samples = 3;
constexpr double known_to_noise = 2;

constexpr const char* median_of_times = "median_s";
constexpr const char* median_of_ratios = "median";

// --- figures ---------------------------------------------------------------------------------------------------------------------

struct figure {
  double median = std::numeric_limits<double>::quiet_NaN();
  double known_to = best_known;  // relative
};

// Members that say which row a row is, whatever else is in it.
constexpr std::array identifying{"variant", "name",   "case",  "peer",    "where",  "form", "type",
                                 "op",      "policy", "count", "threads", "inputs", "wide"};

double number_or_nan(const json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

bool is_figure(const json& value) {
  return value.is_object() && (value.contains(median_of_times) || value.contains(median_of_ratios));
}

figure read_figure(const json& value) {
  figure read{.median = number_or_nan(value, value.contains(median_of_times) ? median_of_times : median_of_ratios)};
  const double spread = number_or_nan(value, "spread");
  const auto noisy = value.find("noisy");
  const bool marked = noisy != value.end() && noisy->is_boolean() && noisy->get<bool>();
  if (marked || !(number_or_nan(value, "count") >= fewest_samples)) read.known_to = best_known_of_noisy;
  if (!(spread >= 0) || std::isinf(spread)) read.median = std::numeric_limits<double>::quiet_NaN();
  read.known_to = std::max(read.known_to, spread);
  return read;
}

bool is_number(const figure& read) { return std::isfinite(read.median) && read.median > 0; }

// --- keys ------------------------------------------------------------------------------------------------------------------------

bool may_identify(const json& value) { return value.is_string() || value.is_number_integer() || value.is_boolean(); }

bool has_rows(const json& value) {
  return value.is_array() && !value.empty() && std::ranges::all_of(value, [](const json& row) { return row.is_object(); });
}

using row_keys = std::vector<std::string>;

row_keys keys_by(const json& rows, const std::vector<std::string>& members) {
  row_keys keys;
  for (const json& row : rows) {
    std::string key;
    for (const std::string& member : members) {
      const auto value = row.find(member);
      if (value == row.end() || !may_identify(*value)) continue;
      key +=
          fmt::format("{}{} {}", key.empty() ? "" : ", ", member, value->is_string() ? value->get<std::string>() : value->dump());
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

bool differ(const row_keys& keys) { return std::set<std::string>(keys.begin(), keys.end()).size() == keys.size(); }

// The members that tell the rows of both arrays apart: what identifies a row anyway, then others in the order of their names.
std::vector<std::string> telling_members(const json& before, const json& after) {
  std::vector<std::string> members(identifying.begin(), identifying.end());
  std::set<std::string> others;
  for (const json* rows : {&before, &after})
    for (const json& row : *rows)
      for (const auto& [name, value] : row.items())
        if (may_identify(value) && std::ranges::find(members, name) == members.end()) others.insert(name);
  for (const std::string& other : others) {
    if (differ(keys_by(before, members)) && differ(keys_by(after, members))) break;
    members.push_back(other);
  }
  return members;
}

// Rows that nothing tells apart are numbered.
std::map<std::string, const json*> by_key(const json& rows, const std::vector<std::string>& members) {
  std::map<std::string, const json*> found;
  const row_keys keys = keys_by(rows, members);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::string key = keys[i];
    for (int number = 2; found.contains(key) || key.empty(); ++number) key = fmt::format("{} #{}", keys[i], number);
    found[key] = &rows[i];
  }
  return found;
}

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + " / " + name; }

struct matched {
  std::map<std::string, std::pair<figure, figure>> both;
  std::vector<std::string> only_before, only_after;
};

// Walks two values of the same place in two records; null where a record has none.
void walk(const json* before, const json* after, const std::string& path, matched& found);

void walk_members(const std::map<std::string, const json*>& before, const std::map<std::string, const json*>& after,
                  const std::string& path, matched& found) {
  std::set<std::string> names;
  for (const auto* side : {&before, &after})
    for (const auto& [name, value] : *side) names.insert(name);
  const auto in = [](const std::map<std::string, const json*>& side, const std::string& name) {
    const auto at = side.find(name);
    return at == side.end() ? nullptr : at->second;
  };
  for (const std::string& name : names) walk(in(before, name), in(after, name), joined(path, name), found);
}

std::map<std::string, const json*> members_of(const json& object) {
  std::map<std::string, const json*> members;
  if (object.is_object())
    for (const auto& [name, value] : object.items()) members[name] = &value;
  return members;
}

void walk(const json* before, const json* after, const std::string& path, matched& found) {
  static const json nothing;
  const json& a = before == nullptr ? nothing : *before;
  const json& b = after == nullptr ? nothing : *after;
  if (is_figure(a) && is_figure(b)) {
    found.both[path] = {read_figure(a), read_figure(b)};
  } else if (is_figure(a) || is_figure(b)) {
    (is_figure(a) ? found.only_before : found.only_after).push_back(path);
  } else if (has_rows(a) || has_rows(b)) {
    static const json no_rows = json::array();
    const json& rows_before = has_rows(a) ? a : no_rows;
    const json& rows_after = has_rows(b) ? b : no_rows;
    const auto members = telling_members(rows_before, rows_after);
    // The name of the rows themselves tells nothing.
    const std::string plain = "rows";
    const std::string above = path == plain                   ? ""
                              : path.ends_with(" / " + plain) ? path.substr(0, path.size() - plain.size() - 3)
                                                              : path;
    walk_members(by_key(rows_before, members), by_key(rows_after, members), above, found);
  } else if (a.is_object() || b.is_object()) {
    walk_members(members_of(a), members_of(b), path, found);
  }
}

// --- ratios ----------------------------------------------------------------------------------------------------------------------

// {"median", "spread", "count"} of the time `value` over the time `base`; nothing where one is no figure.
std::optional<json> ratio(const json& value, const json& base) {
  const bool bare = base.is_number();  // a limit without samples
  if (!is_figure(value) || !(is_figure(base) || bare)) return std::nullopt;
  const json no_samples{{"spread", 0.0}, {"count", fewest_samples}};
  const json& under = bare ? no_samples : base;
  const double below = bare ? base.get<double>() : read_figure(base).median;
  json made{
      {median_of_ratios, read_figure(value).median / below},
      {"spread", std::hypot(number_or_nan(value, "spread"), number_or_nan(under, "spread"))},
      {"count", std::min(number_or_nan(value, "count"), bare ? number_or_nan(value, "count") : number_or_nan(base, "count"))}};
  if (value.value("noisy", false) || under.value("noisy", false)) made["noisy"] = true;
  return made;
}

void add_ratio(json& row, const std::string& name, const json& value, const json& base) {
  if (auto made = ratio(value, base)) row[name] = std::move(*made);
}

const json& member(const json& object, const char* name) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

// What is no figure and holds none: it tells the rows apart.
json words_of(const json& row) {
  json words = json::object();
  for (const auto& [name, value] : row.items())
    if (may_identify(value)) words[name] = value;
  return words;
}

constexpr std::array cache_states{"cold", "hot"};

json ladder_row(const json& record, const json& row) {
  json made = words_of(row);
  for (const char* state : cache_states)
    add_ratio(made, fmt::format("{} / read limit", state), member(row, state), member(member(record, "read_limit"), state));
  return made;
}

json cpu_ladder_row(const json& record, const json& row) {
  json made = words_of(row);
  add_ratio(made, "time / read limit", member(row, "time"),
            member(member(record, "read_limit"), member(row, "threads") == 1 ? "one" : "all"));
  return made;
}

json sweep_row(const json& /*record*/, const json& row) {
  json made = words_of(row);
  const json& variants = member(row, "variants");
  for (const auto& [name, times] : variants.items())
    for (const char* state : cache_states) {
      add_ratio(made, fmt::format("{} / read limit, {}", name, state), member(times, state),
                member(member(row, "read_limit"), state));
      for (const auto& [peer, others] : variants.items())
        if (name == "fixed_order" && peer != name)
          add_ratio(made, fmt::format("{} / {}, {}", name, peer, state), member(times, state), member(others, state));
    }
  return made;
}

json forms_row(const json& record, const json& row) {
  json made = words_of(row);
  for (const auto& [name, value] : row.items()) add_ratio(made, name + " / read limit", value, member(record, "read_limit"));
  return made;
}

json latency_row(const json& /*record*/, const json& row) {
  json made = words_of(row);
  for (const char* way : {"in_stream", "to_host"})
    add_ratio(made, fmt::format("{} / cub", way), member(row, way), member(member(row, "cub"), way));
  add_ratio(made, "to_host / bare kernel", member(row, "to_host"), member(row, "bare_kernel"));
  return made;
}

// The order-free loops are compared by the best of them alone, under one name: which it is differs from run to run.
json cpu_row(const json& /*record*/, const json& row) {
  json made = words_of(row);
  made.erase("best");
  const json& times = member(row, "times");
  const json& best = member(row, "best");
  if (best.is_string())
    add_ratio(made, "onefold / best loop", member(times, "onefold"), member(times, best.get<std::string>().c_str()));
  for (const char* peer : {"Kokkos", "std"})
    add_ratio(made, fmt::format("onefold / {}", peer), member(times, "onefold"), member(times, peer));
  return made;
}

json peers_row(const json& /*record*/, const json& row) {
  json made = words_of(row);
  add_ratio(made, "onefold / read limit", member(row, "onefold"), member(row, "read_limit"));
  for (const auto& [peer, times] : member(row, "peers").items())
    add_ratio(made, "onefold / " + peer, member(row, "onefold"), times);
  return made;
}

// As in cpu_row: the loops by hand under one name.
json folds_row(const json& /*record*/, const json& row) {
  json made = words_of(row);
  made.erase("best");
  const json& ours = member(row, "onefold");
  const json& best = member(row, "best");
  if (best.is_string())
    add_ratio(made, "onefold / best loop", ours, member(member(row, "by_hand"), best.get<std::string>().c_str()));
  add_ratio(made, "onefold / built in", ours, member(row, "built_in"));
  add_ratio(made, "onefold / read limit", ours, member(row, "read_limit"));
  return made;
}

json calls_row(const json& /*record*/, const json& row) {
  json made = words_of(row);
  add_ratio(made, "onefold / loop", member(row, "onefold"), member(row, "loop"));
  return made;
}

struct study_ratios {
  const char* study;
  json (*row)(const json& record, const json& row);
};

constexpr std::array known_ratios{
    study_ratios{"ladder", ladder_row}, study_ratios{"finishes", ladder_row}, study_ratios{"cpu_ladder", cpu_ladder_row},
    study_ratios{"sweep", sweep_row},   study_ratios{"forms", forms_row},     study_ratios{"latency", latency_row},
    study_ratios{"cpu", cpu_row},       study_ratios{"peers", peers_row},     study_ratios{"scaling", peers_row},
    study_ratios{"folds", folds_row},   study_ratios{"calls", calls_row}};

bool holds_ratios(const json& record) { return member(record, "ratios") == true; }

// --- two records -----------------------------------------------------------------------------------------------------------------

std::string text_of(const json& value) {
  return value.is_null() ? "none" : value.is_string() ? value.get<std::string>() : value.dump();
}

// Of different machines or different work.
std::vector<std::string> differences(const json& before, const json& after, bool ratios) {
  std::vector<std::string> said;
  const auto say = [&](const char* what, const json& a, const json& b, const char* consequence) {
    if (a != b) said.push_back(fmt::format("warning: {} differs ({} and {}): {}", what, text_of(a), text_of(b), consequence));
  };
  const char* machine = ratios ? "ratios of times may differ a little for that reason"
                               : "times say nothing of the code then, ratios alone may be compared (--ratios)";
  say("the CPU", member(before, "cpu"), member(after, "cpu"), machine);
  for (const char* part : {"name", "driver"})
    say(fmt::format("the GPU's {}", part).c_str(), member(member(before, "gpu"), part), member(member(after, "gpu"), part),
        machine);
  for (const char* work : {"type", "op", "form", "count", "offset"})
    say(work, member(before, work), member(after, work), "these are figures of different work");
  return said;
}

std::string study_of(const json& record, const char* which) {
  const json& study = member(record, "study");
  if (!study.is_string())
    throw std::runtime_error(fmt::format("the {} file is no record of onefold-perf: it names no study", which));
  return study.get<std::string>();
}

json judged(const std::string& name, const figure& before, const figure& after, double limit) {
  const double ratio = after.median / before.median;
  const double change = std::max(ratio, 1 / ratio) - 1;
  const double noise = known_to_noise * std::hypot(before.known_to, after.known_to);
  const char* verdict = change > limit && change > noise ? (ratio > 1 ? "slower" : "faster") : noise > limit ? "too noisy" : "same";
  return {{"figure", name}, {"before", before.median}, {"after", after.median},
          {"ratio", ratio}, {"noise", noise},          {"verdict", verdict}};
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

int count_of(const json& figures, std::string_view verdict) {
  return static_cast<int>(std::ranges::count_if(figures, [&](const json& one) { return one["verdict"] == verdict; }));
}

std::string rule_text(double limit) {
  return fmt::format(
      "rule: changed is what differs by more than {0:g} % and by more than its noise, which is twice the root of the sum of the "
      "squares\n"
      "of both spreads ({1:g} % each at least, {2:g} % where marked as noisy or of fewer than {3} samples); too noisy to tell is "
      "what has not\n"
      "changed by this, but might have by more than {0:g} % within its noise; of that, only what differs so much is listed",
      100 * limit, 100 * best_known, 100 * best_known_of_noisy, fewest_samples);
}

}  // namespace

json read_record(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  json record = json::parse(file, nullptr, false);
  if (record.is_discarded() || !record.is_object())
    throw std::runtime_error(path + ": is no record of onefold-perf: no JSON object");
  return record;
}

json ratios_of(const json& record) {
  if (holds_ratios(record)) return record;
  const std::string study = study_of(record, "one");
  const auto* const known = std::ranges::find_if(known_ratios, [&](const study_ratios& one) { return one.study == study; });
  if (known == known_ratios.end())
    throw std::runtime_error("the study " + study + " has no ratios: compare its times, without --ratios");
  json made = record;
  made["ratios"] = true;
  made["rows"] = json::array();
  for (const json& row : member(record, "rows")) made["rows"].push_back(known->row(record, row));
  made.erase("read_limit");
  return made;
}

json compare(const json& before, const json& after, const compare_options& how) {
  const std::string study = study_of(before, "first");
  if (study != study_of(after, "second"))
    throw std::runtime_error(
        fmt::format("the first record is of the study {}, the second of {}: records of one study can be compared", study,
                    study_of(after, "second")));
  if (!how.ratios && (holds_ratios(before) || holds_ratios(after)))
    throw std::runtime_error("a record of ratios can be compared with --ratios only");

  matched found;
  if (how.ratios) {
    const json a = ratios_of(before);
    const json b = ratios_of(after);
    walk(&a, &b, "", found);
  } else {
    walk(&before, &after, "", found);
  }
  json record{{"study", "compare"},
              {"of", study},
              {"limit", how.limit},
              {"ratios", how.ratios},
              {"rule", rule_text(how.limit)},
              {"only_before", found.only_before},
              {"only_after", found.only_after},
              {"without_number", json::array()},
              {"warnings", differences(before, after, how.ratios)}};
  std::vector<json> figures;
  std::vector<double> ratios;
  for (const auto& [name, pair] : found.both) {
    if (!is_number(pair.first) || !is_number(pair.second)) {
      record["without_number"].push_back(name);
      continue;
    }
    figures.push_back(judged(name, pair.first, pair.second, how.limit));
    ratios.push_back(figures.back()["ratio"].get<double>());
  }
  if (figures.empty()) throw std::runtime_error("no figure is in both records: there is nothing to compare");
  std::ranges::stable_sort(figures,
                           [](const json& a, const json& b) { return a["ratio"].get<double>() > b["ratio"].get<double>(); });
  record["summary"] = {{"figures", figures.size()},
                       {"same", count_of(figures, "same")},
                       {"faster", count_of(figures, "faster")},
                       {"slower", count_of(figures, "slower")},
                       {"too_noisy", count_of(figures, "too noisy")},
                       {"median_ratio", median_of(ratios)}};
  record["figures"] = std::move(figures);
  return record;
}

void print_comparison(const json& comparison) {
  const bool ratios = comparison["ratios"].get<bool>();
  const auto value_text = [&](double value) { return ratios ? fmt::format("{:.3f}", value) : fmt::format("{:.4g}", value * 1e6); };
  bool headed = false;
  for (const json& one : comparison["figures"]) {
    // Of what is too noisy only what might be a change: the rest would fill pages.
    const double ratio = one["ratio"].get<double>();
    if (one["verdict"] == "same" || std::max(ratio, 1 / ratio) - 1 <= comparison["limit"].get<double>()) continue;
    if (!std::exchange(headed, true))
      fmt::print("{:>10} {:>10} {:>7} {:>7}  {:<9}  figure{}\n", "before", "after", "ratio", "noise", "verdict",
                 ratios ? ", ratios of times" : ", microseconds");
    fmt::print("{:>10} {:>10} {:>7.3f} {:>6.1f}%  {:<9}  {}\n", value_text(one["before"].get<double>()),
               value_text(one["after"].get<double>()), ratio, 100 * one["noise"].get<double>(), one["verdict"].get<std::string>(),
               one["figure"].get<std::string>());
  }
  const auto list = [&](const char* member, const char* what) {
    for (const json& one : comparison[member]) fmt::print("{}: {}\n", what, one.get<std::string>());
  };
  list("only_before", "only in the first");
  list("only_after", "only in the second");
  list("without_number", "no positive number");
  for (const json& warning : comparison["warnings"]) fmt::print("{}\n", warning.get<std::string>());
  fmt::print("{}\n", comparison["rule"].get<std::string>());
  const json& summary = comparison["summary"];
  fmt::print("{} figures: {} the same, {} faster, {} slower, {} too noisy; median ratio {:.3f}\n", summary["figures"].get<int>(),
             summary["same"].get<int>(), summary["faster"].get<int>(), summary["slower"].get<int>(),
             summary["too_noisy"].get<int>(), summary["median_ratio"].get<double>());
}

int comparison_status(const json& comparison) { return comparison["summary"]["slower"].get<int>() > 0 ? 1 : 0; }

}  // namespace onefold::perf
