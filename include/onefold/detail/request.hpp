#pragma once
/// @file request.hpp  The erased request: what crosses from the typed front door into the compiled library, by way of onefold_reduce().
///
/// A reduction is what its request says: a form of the library's on arrays; the same on values that a function of the caller's gives in
/// blocks; or code of the caller's own, for CPUs, for a GPU or for both. The drivers know none of them apart (backends/cpu/fold.hpp).

#include <cstddef>
#include <cstdint>
#include <string>

#include <onefold/onefold.h>
#include <onefold/error.hpp>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>
#include <onefold/workspace.hpp>

namespace onefold::detail {

/// Values from a function of the caller's, and reductions in code of the caller's, for the CPU executors: see onefold.h.
using value_source = ::onefold_value_source;
using own_code = ::onefold_own_code;
inline constexpr std::uint32_t most_state_bytes = 1024;
inline constexpr std::size_t most_value_bytes = 64;  // of the caller's own

/// A reduction in code of the caller's, for cuda(): made in device.cuh.
struct device_fold;

struct batch_in_progress;
struct arrays_of_two_types;

struct request {
  executor where;
  element_type type;
  onefold::form form;
  const void* input;  // count elements
  std::uint64_t count;
  void* output;                  // result_bytes(..): in the caller's own memory when waits, else where the executor can write
  bool waits;                    // true for the forms that return a value
  const void* second = nullptr;  // dot: its second array, count elements of the same type
  bool wide = false;             // f32 accumulated in f64
  bool best = false;             // asked of best(): threads that come late or not at all are not waited for
  void* tree_value = nullptr;  // not null: fixed_order on the CPU stores its accumulator there too, as it is before the conclusion

  std::int64_t ddof = 0;                  // mean_variance: what is taken from the count
  int results = 1;                        // reduce_together: how many, at most most_results
  const operation* operators = nullptr;   // reduce_together: one for each result
  const value_source* source = nullptr;   // not null: values instead of input; of several results if results > 1, one array each
  const own_code* own = nullptr;          // not null: type and form say nothing
  const device_fold* device = nullptr;    // the same for cuda(), or null where the caller has no code for it
  const onefold_array* arrays = nullptr;  // what these read, where that is known
  int array_count = 0;
  const onefold_vectors* vectors = nullptr;  // dot: not null instead of input and second
  std::int64_t* exact_state = nullptr;       // guarantee::exact: not null where the state's words are stored too
  const std::uint64_t* count_at = nullptr;   // not null: where the number of elements stands, and count is the most that it may be
  const void* const* input_at = nullptr;     // not null: where the address of the input stands, which is null itself
  const void* const* second_at = nullptr;    // the same of the second input
  std::uint64_t (*present)(void* context) = nullptr;  // means of a source's values: not null where some may be absent
  // Sums and means of a source's floats: not null where its lanes' sums can be asked for instead of its values, see onefold.h.
  int (*lanes)(void* context, std::uint64_t first, std::uint64_t count, void* const* lanes) = nullptr;
  bool of_complex_parts = false;  // dot, exact: both arrays are the parts of complex numbers, and the output has room for two
  batch_in_progress* batch =
      nullptr;               // not null: the batch of which this is a part, and which waits if the output lies in its memory
  bool words_alone = false;  // exact, on cuda(): the output is the place of the words of the state, or of the states of both parts
  std::int32_t second_type = 0;                   // dot: 1 + the type of its second array, where that is another
  const arrays_of_two_types* products = nullptr;  // not null: the source's values are the products of these
};

// A report in C++'s types. Throws std::bad_alloc.
inline void copy_report(const onefold_report& from, report& to) {
  to.variant = from.variant;
  to.implementation = from.implementation;
  to.backend = static_cast<backend>(from.backend);
  to.guarantee = static_cast<guarantee>(from.guarantee - ONEFOLD_GUARANTEE_NONE);
  to.finish = static_cast<finish>(from.finish);
  to.threads = from.threads;
  to.device = from.device;
  to.block_size = from.block_size;
  to.grid_size = from.grid_size;
  to.width = from.width;
  to.launches = from.launches;
  to.shared_bytes = static_cast<std::size_t>(from.shared_bytes);
  to.scratch_bytes = static_cast<std::size_t>(from.scratch_bytes);
}

/// Whether the address of an array stands in memory.
inline bool has_array_in_memory(const request& what) noexcept {
  return (reinterpret_cast<std::uintptr_t>(what.input_at) | reinterpret_cast<std::uintptr_t>(what.second_at)) != 0;
}

/// A request in C's types, which refers to what the given one refers to.
inline onefold_request c_request(const request& what) {
  onefold_request asked{};
  asked.struct_bytes = sizeof(asked);
  asked.where = c_executor(what.where);
  asked.type = static_cast<std::int32_t>(what.type);
  asked.form = static_cast<std::int32_t>(what.form);
  asked.input = what.input;
  asked.count = what.count;
  asked.output = what.output;
  asked.second = what.second;
  asked.flags = (what.waits ? 0U : ONEFOLD_INTO) | (what.wide ? ONEFOLD_WIDE : 0U);
  asked.results = what.results;
  asked.operators = reinterpret_cast<const std::uint8_t*>(what.operators);
  asked.ddof = what.ddof;
  asked.source = what.source;
  asked.own = what.own;
  asked.device = what.device;
  asked.arrays = what.arrays;
  asked.array_count = what.array_count;
  asked.vectors = what.vectors;
  asked.tree_value = what.tree_value;
  asked.exact_state = what.exact_state;
  asked.count_at = what.count_at;
  asked.present = what.present;
  asked.input_at = what.input_at;
  asked.second_at = what.second_at;
  asked.lanes = what.lanes;
  asked.second_type = what.second_type;
  return asked;
}

/// Whether options ask for anything.
inline bool asks_for_something(const options& how) {
  return !how.variant.empty() || how.finish != finish::automatic || how.block_size != 0 || how.grid_size != 0 || how.width != 0 ||
         how.guarantee || how.workspace != nullptr || how.report != nullptr;
}

/// Options in C's types, but for the report.
inline onefold_options c_options(const options& how) {
  onefold_options wishes{};
  wishes.struct_bytes = sizeof(wishes);
  wishes.variant = how.variant.data();
  wishes.variant_bytes = how.variant.size();
  if (how.variant.empty()) wishes.variant = nullptr;
  wishes.guarantee = how.guarantee ? static_cast<std::int32_t>(*how.guarantee) + ONEFOLD_GUARANTEE_NONE : ONEFOLD_GUARANTEE_DEFAULT;
  wishes.needs_workspace = how.workspace == nullptr ? 0 : 1;
  wishes.workspace = how.workspace == nullptr ? nullptr : workspace_access::handle(*how.workspace);
  wishes.knobs.finish = static_cast<std::int32_t>(how.finish);
  wishes.knobs.block_size = how.block_size;
  wishes.knobs.grid_size = how.grid_size;
  wishes.knobs.width = how.width;
  return wishes;
}

// Calls reduce(&wishes), whose report goes to `to`, unless nothing ran: of a range of no elements, say.
template <class Reduce>
[[gnu::noinline]] int with_report(onefold_options& how, report& to, const Reduce& reduce) {
  onefold_report ran;
  ran.variant[0] = '\0';
  ran.struct_bytes = sizeof(ran);
  how.report = &ran;
  const int status = reduce(&how);
  if (status == 0 && ran.variant[0] != '\0') telling_of_lacking_memory([&ran, &to] { copy_report(ran, to); });
  return status;
}

/// Calls reduce(const onefold_options*) with these options, or null for none. Throws onefold::error for lack of memory for the report alone.
template <class Reduce>
int with_c_options(const options& how, const Reduce& reduce) {
  if (!asks_for_something(how)) return reduce(nullptr);
  onefold_options wishes = c_options(how);
  return how.report == nullptr ? reduce(&wishes) : with_report(wishes, *how.report, reduce);
}

/// Calls call(options) of several reductions: where it throws, the caller's report is what it was, and not that of one that had gone well.
template <class Call>
void with_report_of_all(const options& how, const Call& call) {
  if (how.report == nullptr) return call(how);
  report ran;
  telling_of_lacking_memory([&ran, &how] { ran = *how.report; });
  options wishes = how;
  wishes.report = &ran;
  call(wishes);
  *how.report = std::move(ran);
}

/// Validates, chooses and runs. Returns 0, or an errc whose sentence onefold_last_error() has.
inline int status_of_run(const request& what, const options& how) {
  const onefold_request asked = c_request(what);
  return with_c_options(how, [&asked](const onefold_options* wishes) { return onefold_reduce(&asked, wishes); });
}

/// Validates, chooses and runs. Throws onefold::error.
inline void run(const request& what, const options& how) { check_status(status_of_run(what, how)); }

/// The same of several requests with one executor, waiting once. The report is that of the last.
template <class Requests>
void run_batch(const Requests& requests, const options& how) {
  check_status(with_c_options(
      how, [&requests](const onefold_options* wishes) { return onefold_reduce_batch(requests.data(), requests.size(), wishes); }));
}

/// Throws onefold::error: the two ranges of a dot product must be equally long.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_different_lengths(std::uint64_t first, std::uint64_t second) {
  telling_of_lacking_memory([&first, &second] {
    throw error(errc::invalid_argument, std::string("the two ranges differ in length: ")
                                            .append(std::to_string(first))
                                            .append(" and ")
                                            .append(std::to_string(second)));
  });
  throw_out_of_memory();  // not reached
}

}  // namespace onefold::detail
