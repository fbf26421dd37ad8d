#include "state_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/error.hpp>

#include "input_error.hpp"
#include "mapped_file.hpp"
#include "npy.hpp"
#include "output_file.hpp"
#include "with_name.hpp"

namespace onefold::tool {

namespace {

namespace exact = detail::exact;

constexpr const char* who_writes_one = "'onefold sum FILE --state STATE' writes one";

std::vector<std::int64_t> read_words(const std::string& path) {
  const mapped_file file(path);
  if (!looks_like_npy(file.bytes())) throw input_error(fmt::format("is no state: {}", who_writes_one));
  const npy_array array = parse_npy(file.bytes());
  if (array.type != element_type::i64)
    throw input_error(fmt::format("holds {} elements, and a state int64 words: {}", name(array.type), who_writes_one));
  if (array.shape.size() != 1)
    throw input_error(fmt::format("has {} axes, and a state one: save each state in a file of its own", array.shape.size()));
  if (std::ranges::none_of(exact::kinds, [&](const exact::kind_row& kind) { return kind.words() == array.count; }))
    throw input_error(fmt::format("holds {} words, which no state has: {}", array.count, who_writes_one));
  std::vector<std::int64_t> words(array.count);
  std::memcpy(words.data(), file.bytes().data() + array.data_offset, array.count * sizeof(words[0]));
  return words;
}

element_type type_of(const exact::kind_row& kind) { return kind.number % 2 == 0 ? element_type::f64 : element_type::f32; }

bool has_kind(form what, const exact::kind_row& kind) {
  const element_type type = type_of(kind);
  return exact::has_state(what, type) && exact::kind_of(what, type).number == kind.number;
}

// "dot, sum_of_squares or norm2 of f64".
std::string text_of(const exact::kind_row& kind) {
  std::vector<std::string_view> names;
  for (const form what : state_forms)
    if (has_kind(what, kind)) names.push_back(name(what));
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{}{}{} of {}", fmt::join(names, ", "), names.empty() ? "" : " or ", last,
                     type_of(kind) == element_type::f64 ? "f64" : "f32, f16 or bf16");
}

// The kind that words say they are of. None where they are those of no elements, which are zeros, or damaged.
const exact::kind_row* stated_kind(std::span<const std::int64_t> words) {
  for (const exact::kind_row& kind : exact::kinds)
    if (kind.words() == words.size() && words[1] > 0 && words[0] % words[1] == 0 &&
        words[0] / words[1] == exact::first_word + kind.number)
      return &kind;
  return nullptr;
}

// One that has so many words, for want of better: the results of no elements are those of all such.
const exact::kind_row& likely_kind(std::size_t words, std::optional<form> wanted) {
  const exact::kind_row* likely = nullptr;
  for (const exact::kind_row& kind : exact::kinds)
    if (kind.words() == words && (likely == nullptr || (wanted && has_kind(*wanted, kind)))) likely = &kind;
  return *likely;
}

}  // namespace

merged_states merge_states(std::span<const std::string> paths, std::optional<form> wanted) {
  std::vector<std::vector<std::int64_t>> files;
  for (const std::string& path : paths) files.push_back(with_name(path, [&] { return read_words(path); }));

  const auto first = std::ranges::find_if(files, [](const auto& words) { return stated_kind(words) != nullptr; });
  const std::size_t decides = first == files.end() ? 0 : static_cast<std::size_t>(first - files.begin());
  const exact::kind_row& kind = first == files.end() ? likely_kind(files[0].size(), wanted) : *stated_kind(*first);
  const auto* const likeliest = std::ranges::find_if(state_forms, [&](form what) { return has_kind(what, kind); });
  const form what = wanted.value_or(*likeliest);
  if (!has_kind(what, kind))
    throw input_error(fmt::format("{}: is a state of {}, and --form says {}", paths[decides], text_of(kind), name(what)));

  merged_states merged{type_of(kind), what, std::vector<std::int64_t>(kind.words()), 0, 0};
  const auto type_number = static_cast<std::int32_t>(merged.type), form_number = static_cast<std::int32_t>(what);
  for (std::size_t i = 0; i < files.size(); ++i)
    with_name(paths[i], [&] {
      const auto& words = files[i];
      const exact::kind_row* const stated = stated_kind(words);
      if (stated != nullptr && stated != &kind)
        throw input_error(fmt::format("is a state of {}, and {} of {}", text_of(*stated), paths[decides], text_of(kind)));
      if (words.size() != kind.words())
        throw input_error(fmt::format("holds {} words, and {} {}", words.size(), paths[decides], kind.words()));
      detail::check_status(onefold_exact_add(type_number, form_number, merged.words.data(), words.data()));
      merged.states += static_cast<std::uint64_t>(words[1]);
    });
  detail::check_status(onefold_exact_count(type_number, form_number, merged.words.data(), &merged.count));
  return merged;
}

void write_state(const std::string& path, std::span<const std::int64_t> words) { write_file(path, npy_file_of(words)); }

}  // namespace onefold::tool
