#include "state_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <onefold/detail/exact_kinds.hpp>

#include "../type_names.hpp"
#include "any_form.hpp"
#include "input_error.hpp"
#include "mapped_file.hpp"
#include "npy.hpp"
#include "output_file.hpp"
#include "with_name.hpp"

namespace onefold::tool {

namespace {

namespace exact = detail::exact;

constexpr const char* who_writes_one = "'onefold sum FILE --state STATE' writes one";

// What a state is of: real numbers, or complex ones with a state for each part, both of one kind.
struct content {
  const exact::kind_row& kind;
  element_type type;

  [[nodiscard]] std::size_t parts() const noexcept { return is_complex(type) ? 2 : 1; }
  [[nodiscard]] std::size_t words() const noexcept { return parts() * kind.words(); }
  [[nodiscard]] bool has(form what) const noexcept {
    const element_type part = part_type(type);
    const bool has_it = is_complex(type) ? exact::has_state_for_each_part(what) : exact::has_state(what, part);
    return has_it && exact::kind_of(what, part).number == kind.number;
  }
};

// No two have as many words but those of one column of docs/exact.md, which say what kind they are.
std::vector<content> all_contents() {
  std::vector<content> all;
  for (const exact::kind_row& kind : exact::kinds) {
    const bool of_doubles = kind.number % 2 == 0;
    for (const element_type type :
         of_doubles ? std::array{element_type::f64, element_type::c128} : std::array{element_type::f32, element_type::c64})
      if (const content of{kind, type}; std::ranges::any_of(state_forms, [&](form what) { return of.has(what); }))
        all.push_back(of);
  }
  return all;
}
const std::vector<content>& contents() {
  static const std::vector<content> all = all_contents();
  return all;
}

// "dot, sum_of_squares or norm2 of f64".
std::string text_of(const content& of) {
  std::vector<std::string_view> names;
  for (const form what : state_forms)
    if (of.has(what)) names.push_back(name(what));
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{}{}{} of {}", fmt::join(names, ", "), names.empty() ? "" : " or ", last,
                     of.type == element_type::f32 ? names_of_types(is_short_float, "or") : std::string(name(of.type)));
}

// What words say they are of. None where they are those of no elements, which are zeros, or damaged.
const content* stated_content(std::span<const std::int64_t> words) {
  for (const content& of : contents())
    if (of.words() == words.size() && words[1] > 0 && words[0] % words[1] == 0 &&
        words[0] / words[1] == exact::first_word + of.kind.number)
      return &of;
  return nullptr;
}

// Of so many words, for want of better: the results of no elements are those of all such.
const content& likely_content(std::size_t words, std::optional<form> wanted) {
  const content* likely = nullptr;
  for (const content& of : contents())
    if (of.words() == words && (likely == nullptr || (wanted && of.has(*wanted)))) likely = &of;
  return *likely;
}

std::vector<std::int64_t> read_words(const std::string& path) {
  const mapped_file file(path);
  if (!looks_like_npy(file.bytes())) throw input_error(fmt::format("is no state: {}", who_writes_one));
  const npy_array array = parse_npy(file.bytes());
  if (array.type != element_type::i64)
    throw input_error(fmt::format("holds {} elements, and a state int64 words: {}", name(array.type), who_writes_one));
  if (array.shape.size() != 1)
    throw input_error(fmt::format("has {} axes, and a state one: save each state in a file of its own", array.shape.size()));
  if (std::ranges::none_of(contents(), [&](const content& of) { return of.words() == array.count; }))
    throw input_error(fmt::format("holds {} words, which no state has: {}", array.count, who_writes_one));
  std::vector<std::int64_t> words(array.count);
  std::memcpy(words.data(), file.bytes().data() + array.data_offset, array.count * sizeof(words[0]));
  return words;
}

}  // namespace

merged_states merge_states(std::span<const std::string> paths, std::optional<form> wanted) {
  std::vector<std::vector<std::int64_t>> files;
  for (const std::string& path : paths) files.push_back(with_name(path, [&] { return read_words(path); }));

  const auto first = std::ranges::find_if(files, [](const auto& words) { return stated_content(words) != nullptr; });
  const std::size_t decides = first == files.end() ? 0 : static_cast<std::size_t>(first - files.begin());
  const content& of = first == files.end() ? likely_content(files[0].size(), wanted) : *stated_content(*first);
  const auto* const likeliest = std::ranges::find_if(state_forms, [&](form what) { return of.has(what); });
  const form what = wanted.value_or(*likeliest);
  if (!of.has(what))
    throw input_error(fmt::format("{}: is a state of {}, and --form says {}", paths[decides], text_of(of), name(what)));

  merged_states merged{of.type, what, std::vector<std::int64_t>(of.words()), 0, 0};
  for (std::size_t i = 0; i < files.size(); ++i)
    with_name(paths[i], [&] {
      const auto& words = files[i];
      const content* const stated = stated_content(words);
      if (stated != nullptr && stated != &of)
        throw input_error(fmt::format("is a state of {}, and {} of {}", text_of(*stated), paths[decides], text_of(of)));
      if (words.size() != of.words())
        throw input_error(fmt::format("holds {} words, and {} {}", words.size(), paths[decides], of.words()));
      add_state(of.type, what, merged.words, words);
      static_cast<void>(count_of_state(of.type, what, words));  // refused here, with the file's name
      merged.states += static_cast<std::uint64_t>(words[1]);
    });
  merged.count = count_of_state(of.type, what, merged.words);
  return merged;
}

void write_state(const std::string& path, std::span<const std::int64_t> words) { write_file(path, npy_file_of(words)); }

}  // namespace onefold::tool
