#pragma once
/// @file request.hpp  The erased request: what crosses from the typed front door into the compiled library.
///
/// A reduction is what its request says: a form of the library's on arrays; the same on values that a function of the caller's gives in
/// blocks; or code of the caller's own, for CPUs, for a GPU or for both. The drivers know none of them apart (backends/fold.hpp).

#include <cstdint>

#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

/// Values instead of arrays, for the CPU executors.
struct value_source {
  void* context;
  /// Stores the values of the indices from `first` on, `count` of them: value i of result k at values[k] + i, in the request's type; values[0]
  /// alone where there is one. Each index is asked for once, in blocks that stay in the first-level cache, from several threads at once.
  /// Returns 0, or another number to say that it has failed: the call then ends with errc::callback_failed.
  int (*fill)(void* context, std::uint64_t first, std::uint64_t count, void* const* values);
};

/// A reduction in code of the caller's, for the CPU executors. Its functions are called from several threads at once, and return 0, or
/// another number to say that they have failed.
struct own_code {
  void* context;
  std::uint32_t value_bytes;  ///< of what a row holds: order::lanes_of_bytes
  std::uint32_t state_bytes;  ///< at most most_state_bytes
  std::uint32_t result_bytes;
  /// Stores the states of the groups that `count` elements from number `first` on fill, the last one perhaps in part. `first` begins a
  /// group: order::group_tiles tiles.
  int (*groups)(void* context, std::uint64_t first, std::uint64_t count, void* states);
  /// One level up: of `count` states, in place, state i becomes state 2i (+) state 2i + 1; one without a right sibling moves as it is.
  int (*level)(void* context, void* states, std::uint64_t count);
  /// The result of the tree's state; of no elements where `state` is null.
  int (*conclude)(void* context, const void* state, std::uint64_t count, void* result);
};
inline constexpr std::uint32_t most_state_bytes = 1024;

/// A reduction in code of the caller's, for cuda(): made in device.cuh.
struct device_fold;

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

  std::int64_t ddof = 0;                 // mean_variance: what is taken from the count
  int results = 1;                       // reduce_together: how many, at most most_results
  const operation* operators = nullptr;  // reduce_together: one for each result
  const value_source* source = nullptr;  // not null: values instead of input; of several results if results > 1, one array each
  const own_code* own = nullptr;         // not null: type and form say nothing
  const device_fold* device = nullptr;   // the same for cuda(), or null where the caller has no code for it
};

/// Validates, chooses and runs. Throws onefold::error.
ONEFOLD_EXPORT void run(const request& what, const options& how);

/// Throws onefold::error: the two ranges of a dot product must be equally long.
[[noreturn]] ONEFOLD_EXPORT void throw_different_lengths(std::uint64_t first, std::uint64_t second);

}  // namespace onefold::detail
