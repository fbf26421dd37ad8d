#pragma once
/// @file c_api.hpp  The boundary of the C interface: no exception crosses it.

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include <onefold/onefold.h>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

struct backend_entry;
struct batch_in_progress;
struct tree_nodes;

/// Keeps the sentence for onefold_last_error() and returns the code.
int failed(errc code, std::string_view sentence) noexcept;

/// The same for the exception that is being handled.
int failed_with_exception();

/// Calls `body`; the status of what it throws, or 0.
template <class Body>
int guarded(Body body) {
  try {
    body();
    return ONEFOLD_OK;
  } catch (...) {
    return failed_with_exception();
  }
}

/// The executor of C++. Throws invalid_argument.
executor executor_of(const onefold_executor& where);

/// A batch of requests with these options, which has begun. Throws onefold::error.
std::unique_ptr<batch_in_progress> begin_batch(const backend_entry& entry, const executor& where, const onefold_options* how,
                                               std::size_t bytes);
/// Runs a request of it, or returns true: the batch has taken it. Throws onefold::error.
bool reduce_in_batch(const onefold_request& asked, const onefold_options* how, batch_in_progress& batch);
/// Returns whether the batch has taken nodes over a request's array, which are put at its output and behind. Throws onefold::error.
bool nodes_in_batch(const onefold_request& asked, const tree_nodes& which, batch_in_progress& batch);
/// Runs a request by itself whose result the batch waits for. Throws onefold::error.
void reduce_beside_batch(const onefold_request& asked, const onefold_options* how, batch_in_progress& batch);

/// onefold_reduce() of a request whose source gives the products of two arrays: what of it stands in memory has been checked. Throws as dispatch().
void reduce_products(const onefold_request& asked, const arrays_of_two_types& of, const onefold_options* how);

/// A request in C++'s types, whose type, form and results are known to be such. A value for every member and none a constant: else g++ sets all to 0
/// first, which takes 10 ns of a small sum's 60. Throws as executor_of().
inline request request_of(const onefold_request& asked, bool of_complex_parts, batch_in_progress* batch, bool words_alone,
                          const arrays_of_two_types* products) {
  return {executor_of(asked.where),
          static_cast<element_type>(asked.type),
          static_cast<form>(asked.form),
          asked.input,
          asked.count,
          asked.output,
          (asked.flags & ONEFOLD_INTO) == 0,
          asked.second,
          (asked.flags & ONEFOLD_WIDE) != 0,
          asked.where.backend == ONEFOLD_BEST,
          asked.tree_value,
          asked.ddof,
          asked.results == 0 ? 1 : asked.results,
          reinterpret_cast<const operation*>(asked.operators),
          asked.source,
          asked.own,
          static_cast<const device_fold*>(asked.device),
          asked.arrays,
          asked.arrays == nullptr ? 0 : asked.array_count,
          asked.vectors,
          asked.exact_state,
          asked.count_at,
          asked.input_at,
          asked.second_at,
          asked.present,
          asked.lanes,
          of_complex_parts,
          batch,
          words_alone,
          asked.second_type,
          products};
}

/// What says where a count, or an array's address, stands in memory. Throws onefold::error.
void check_places(const onefold_request& asked);

/// Writes a report to the caller's structure.
void put_report(const report& ran, onefold_report* to);

[[noreturn]] void refuse_null(std::string_view what);
/// Throws null_pointer or misaligned_pointer where these cannot be the words of a state.
void check_words(const std::int64_t* words);
[[noreturn]] void refuse_size(std::string_view what);
[[noreturn]] void refuse_newer(std::string_view what);

[[noreturn]] void refuse_number(std::string_view member, std::int64_t value, std::string_view may_be);
[[noreturn]] void refuse_number(std::string_view member, std::int64_t value, std::int64_t least, std::int64_t most);
/// What takes_type() and can_be_wide() do not allow.
[[noreturn]] void refuse_type(form what, element_type type);
[[noreturn]] void refuse_wide(form what, element_type type);

/// The bytes of the first layout of a structure of the caller's, which none has outgrown yet. Fewer are a slip: sizeof of a pointer to it, say, with which
/// nothing of what he asks for would be read.
template <class Struct>
inline constexpr std::size_t first_bytes = sizeof(Struct);

/// What the caller has given, as this library knows it: members that his header lacks are 0, and those that only a newer one has must be.
template <class Struct>
Struct as_known(const Struct& given, std::size_t fewest, std::string_view what) {
  if (given.struct_bytes < fewest || given.struct_bytes > 65536) refuse_size(what);
  Struct known{};
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  __builtin_memcpy(&known, bytes, given.struct_bytes < sizeof(known) ? given.struct_bytes : sizeof(known));
  for (std::size_t i = sizeof(known); i < given.struct_bytes; ++i)
    if (bytes[i] != 0) refuse_newer(what);
  return known;
}

/// What the caller asks for; nothing where `how` is null.
inline onefold_options known_options(const onefold_options* how) {
  onefold_options known{};
  if (how != nullptr) known = as_known(*how, first_bytes<onefold_options>, "options");
  known.struct_bytes = sizeof(known);
  return known;
}

/// guarded(), of a call that may be several reductions: where it fails its report is what it was, and not that of one that had gone well.
template <class Body>
int guarded_with_report(const onefold_options* how, Body body) {
  return guarded([&how, &body] {
    onefold_report* const to = known_options(how).report;
    if (to == nullptr) return body();
    const std::size_t bytes = to->struct_bytes < sizeof(onefold_report) ? to->struct_bytes : sizeof(onefold_report);
    onefold_report before;
    __builtin_memcpy(&before, to, bytes);
    try {
      body();
    } catch (...) {
      __builtin_memcpy(to, &before, bytes);
      throw;
    }
  });
}

/// The place of a handle that is to be made: until then there is none, so that a way out may destroy it.
template <class Handle>
void clear_place(Handle** made, std::string_view what) {
  if (made == nullptr) refuse_null(what);
  *made = nullptr;
}

/// Checks a structure of the caller's that the library writes to.
template <class Struct>
Struct* checked_struct(Struct* given, std::string_view what) {
  if (given == nullptr) refuse_null(what);
  if (given->struct_bytes < first_bytes<Struct> || given->struct_bytes > 65536) refuse_size(what);
  return given;
}

/// Stores as much of `from` as the caller's structure has room for; 0 in members that only a newer header has.
template <class Struct>
void fill(Struct* to, Struct& from) {
  from.struct_bytes = to->struct_bytes;
  __builtin_memcpy(to, &from, to->struct_bytes < sizeof(from) ? to->struct_bytes : sizeof(from));
  if (from.struct_bytes > sizeof(from))
    __builtin_memset(reinterpret_cast<unsigned char*>(to) + sizeof(from), 0, from.struct_bytes - sizeof(from));
}

/// Stores the text, cut where it is too long, and zeros behind it.
template <std::size_t N>
void put_text(char (&to)[N], std::string_view text) noexcept {
  const std::size_t length = text.size() < N ? text.size() : N - 1;
  __builtin_memcpy(to, text.data() == nullptr ? "" : text.data(), length);
  __builtin_memset(to + length, 0, N - length);
}

}  // namespace onefold::detail
