#include "any_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "input_error.hpp"
#include "mapped_file.hpp"
#include "output_file.hpp"
#include "with_name.hpp"

namespace onefold::tool {

any_range::any_range(const range_kind& of, std::uint64_t begin) : of_(of) {
  onefold_range* made = nullptr;
  detail::check_status(onefold_range_create(static_cast<std::int32_t>(of.type), static_cast<std::int32_t>(of.form),
                                            of.wide ? ONEFOLD_WIDE : 0U, begin, &made));
  state_.reset(made);
}

any_range any_range::from_bytes(std::span<const std::byte> bytes) {
  any_range made(parse_range_header(bytes), 0);
  detail::check_status(onefold_range_read(made.state_.get(), bytes.data(), bytes.size()));
  return made;
}

void any_range::add(const executor& where, const void* x, const void* y, std::uint64_t count, const options& how) {
  detail::check_status(detail::with_c_options(how, [&](const onefold_options* wishes) {
    return onefold_range_add(state_.get(), detail::c_executor(where), x, y, count, wishes);
  }));
}

void any_range::append(const any_range& next) { detail::check_status(onefold_range_append(state_.get(), next.state_.get())); }

std::optional<result_bits> any_range::result(std::int64_t ddof) const {
  if (begin() != 0 || (end() == 0 && has_index(of_.form))) return std::nullopt;
  alignas(std::uint64_t) std::byte results[sizeof(result_bits)] = {};
  detail::check_status(onefold_range_result(state_.get(), ddof, results));
  return bits_of_stored(of_.type, of_.form, of_.wide, results);
}

std::vector<std::byte> any_range::bytes() const {
  std::vector<std::byte> all(onefold_range_bytes(state_.get()));
  detail::check_status(onefold_range_write(state_.get(), all.data(), all.size()));
  return all;
}

namespace {

any_range read_range(const std::string& path) {
  return with_name(path, [&] { return any_range::from_bytes(mapped_file(path).bytes()); });
}

struct named_range {
  const std::string* path;
  std::uint64_t begin;
  std::uint64_t end;
};

// "element 7", "the elements 7 to 9".
std::string elements_text(std::uint64_t begin, std::uint64_t end) {
  return end - begin == 1 ? fmt::format("element {}", begin) : fmt::format("the elements {} to {}", begin, end - 1);
}

void check_neighbours(const named_range& left, const named_range& right) {
  if (right.begin > left.end)
    throw input_error(
        fmt::format("{}: begins at element {}, and the file before it, {}, ends before element {}: the state of {} is missing",
                    *right.path, right.begin, *left.path, left.end, elements_text(left.end, right.begin)));
  if (right.begin < left.end)
    throw input_error(fmt::format("{}: begins at element {}, and {} has {}: an element may be in one file alone", *right.path,
                                  right.begin, *left.path, elements_text(left.begin, left.end)));
}

}  // namespace

bool has_range_file(std::span<const std::string> paths) {
  return std::ranges::any_of(paths, [](const std::string& path) {
    try {
      return looks_like_range(mapped_file(path).bytes());
    } catch (const input_error&) {
      return false;
    }
  });
}

any_range merge_ranges(std::span<const std::string> paths, std::optional<form> wanted) {
  std::vector<named_range> ranges;
  std::optional<range_kind> kind;
  for (const std::string& path : paths) {
    const any_range one = read_range(path);
    if (wanted && one.of().form != *wanted)
      throw input_error(fmt::format("{}: is a state of {}, and --form says {}", path, text_of(one.of()), name(*wanted)));
    if (kind && *kind != one.of())
      throw input_error(fmt::format("{}: is a state of {}, and {} of {}", path, text_of(one.of()), paths[0], text_of(*kind)));
    kind = one.of();
    ranges.push_back({&path, one.begin(), one.end()});
  }
  std::ranges::stable_sort(ranges, {}, [](const named_range& one) { return std::tuple(one.begin, one.end); });
  for (std::size_t i = 1; i < ranges.size(); ++i) check_neighbours(ranges[i - 1], ranges[i]);

  any_range all(*kind, ranges[0].begin);
  for (const named_range& one : ranges) {
    const any_range next = read_range(*one.path);
    with_name(*one.path, [&] { all.append(next); });
  }
  return all;
}

void write_range(const std::string& path, std::span<const std::byte> bytes) {
  write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace onefold::tool
