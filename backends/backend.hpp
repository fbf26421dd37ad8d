#pragma once
/// @file backend.hpp  What a backend gives to src/: a handful of functions. The one seam between the dispatch and everything that computes.

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <onefold/catalogue.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/policy.hpp>
#include <onefold/workspace.hpp>

struct onefold_workspace {};

namespace onefold::detail {

/// What stands behind a workspace: its handle in the C interface. The backend that makes one derives from it.
struct workspace_state : onefold_workspace {
  virtual ~workspace_state() = default;
  backend of = backend::serial;
  std::size_t bytes = 0;
};

inline workspace_state* workspace_access::state(const workspace& of) noexcept { return static_cast<workspace_state*>(handle(of)); }

/// Maximal complete subtrees that lie side by side: those over the tiles of a request's array, of which the first has the number `first_tile` in a tree.
/// All of them are complete but the last, if the array ends within a tile.
struct tree_nodes {
  std::uint64_t first_tile;
  std::uint64_t tile;       ///< elements of one
  std::uint64_t behind;     ///< elements behind the array that may be read
  std::size_t place_bytes;  ///< from one accumulator to the next

  [[nodiscard]] std::uint64_t end_tile(std::uint64_t count) const noexcept { return first_tile + (count + tile - 1) / tile; }
};

/// A batch under way: where results lie that the host waits for, the requests that are launched together, and the wait for all. One thread uses
/// it, and every function throws onefold::error.
struct batch_in_progress {
  virtual ~batch_in_progress() = default;
  /// Host memory for as many bytes as were asked for, to which calls write in stream order; null for none.
  [[nodiscard]] virtual void* data() const noexcept = 0;
  /// Keeps a request for launch(), or returns false: it is to be run by itself. Its pointers have been looked at as dispatch() does, and it
  /// does not wait.
  virtual bool take(const request& what) = 0;
  /// The same of nodes over the request's array, whose accumulators go to its output and behind.
  virtual bool take_nodes(const request& what, const tree_nodes& which) = 0;
  /// Launches what was taken, and returns whether there was anything; then `ran` says how.
  virtual bool launch(report& ran) = 0;
  /// Puts a copy of device memory on the stream, to memory that the device writes. It is there when the batch has been waited for. Ahead of launch(),
  /// and behind a request for the same array, which is looked at.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Waits for all calls, of which `results` store a result at data(), one each.
  virtual void wait(std::size_t results) = 0;
};

inline constexpr std::size_t most_stored_bytes = 128;
inline constexpr std::size_t most_gpu_scope_bytes = sizeof(onefold_gpu_scope);

/// What several GPUs hand over to each other in stream order, for one reduction over all of them. One thread uses it; all functions but the first throw onefold::error.
struct exchange_in_progress {
  /// Without end(), as after an error, nobody else gets the memory before the work is known to have ended.
  virtual ~exchange_in_progress() = default;
  /// As many bytes as were asked for, aligned to 256, which all of the GPUs write and read behind what their streams have got so far.
  [[nodiscard]] virtual void* memory() const noexcept = 0;
  /// What is put on one of the streams behind this runs when all that any of them had before has ended.
  virtual void wait_for_each_other() = 0;
  /// Behind all that uses the memory.
  virtual void end() = 0;
};

/// Images of neighbouring parts of an array, which are all of it, in a GPU's memory (onefold.h: onefold_range_join_images()).
struct images_of_parts {
  element_type type;
  form what;
  bool wide;
  const void* images;
  std::size_t stride;
  const std::uint64_t* borders;  ///< where parts begin, in the host's memory
  std::size_t parts;
  std::uint64_t total;  ///< elements, where the last part ends
  std::int64_t ddof;    ///< of mean_variance
};

/// The words of an exact state, or of several that were added, in a GPU's memory (onefold.h: onefold_exact_put_result()), of `states` results side by side, which
/// are the parts of one.
struct exact_words {
  element_type type;
  form what;
  bool wide;
  std::int64_t ddof;
  const std::int64_t* words;
  int states;
};

struct backend_entry {
  /// The variants that are native to this backend, in learning order.
  std::span<const variant_info> (*variants)();
  /// What is here and what runs. Throws for lack of memory alone.
  backend_info (*describe)();
  /// Why this native variant cannot run on this executor, or nothing. Throws for lack of memory alone.
  std::optional<std::string> (*why_not)(const variant_info& variant, const executor& where);
  /// Runs a checked request with a native variant and fills in the report. Throws onefold::error.
  void (*run)(const request& what, const options& how, const variant_info& variant, report& ran);
  /// Waits for the executor's stream. Throws onefold::error.
  void (*synchronize)(const executor& where);
  /// A workspace for `bytes` bytes, at the caller's `memory` unless that is null. Throws onefold::error. Null where the backend's calls
  /// need no working memory; so are the next two.
  std::unique_ptr<workspace_state> (*make_workspace)(const executor& where, void* memory, std::size_t bytes);
  /// What the backend keeps on the executor's device. Throws onefold::error.
  memory_use (*memory_in_use)(const executor& where);
  /// Waits for the work that uses it and gives it back. Throws onefold::error.
  void (*release_memory)(const executor& where);
  /// The launch choices on the executor's device; null where nothing is launched, as the next three. Throw onefold::error.
  launch_policy (*policy)(const executor& where);
  /// Null for the library's own.
  void (*use_policy)(const executor& where, const launch_policy* chosen);
  void (*use_policy_file)(const executor& where, const std::string& path);
  std::string (*policy_text)(const executor& where, const launch_policy& chosen);
  /// A batch of calls with these options on this executor, with `bytes` bytes for results that are waited for. Null where calls are done on return.
  std::unique_ptr<batch_in_progress> (*begin_batch)(const executor& where, const options& how, std::size_t bytes);
  /// Copies to host memory, behind what is on the executor's stream, and waits. Null where all memory is the host's.
  void (*read_back)(const executor& where, void* to, const void* from, std::size_t bytes);
  /// Stores up to most_stored_bytes of the host's in stream order. Null where all memory is the host's.
  void (*store)(const executor& where, void* output, const void* value, std::size_t bytes);
  /// Whether join_images() takes these, of which it reads no memory here. Null where there are no images; so are the next two.
  bool (*can_join_images)(const images_of_parts& all) noexcept;
  /// Stores the result of the array in stream order. Throws onefold::error.
  void (*join_images)(const executor& where, const images_of_parts& all, void* output);
  /// Loads its kernel. Throws onefold::error.
  void (*load_join_images)(const executor& where, const images_of_parts& all);
  /// Makes the GPU's primary context current until leave_gpu() is called with the same place, which has most_gpu_scope_bytes. Null where there are no GPUs, as the
  /// two others. Throws onefold::error.
  void (*enter_gpu)(const executor& where, void* scope);
  void (*leave_gpu)(void* scope);
  /// The stream that calls of this executor run on. Throws onefold::error.
  void* (*stream_of)(const executor& where);
  /// Throws onefold::error where the GPU cannot read one of the arrays.
  void (*check_gpu_arrays)(const executor& where, std::span<const onefold_array> arrays, std::uint64_t count);
  /// Throws onefold::error where the GPU cannot write there.
  void (*check_gpu_output)(const executor& where, const void* output);
  /// Stores the result of an exact state in stream order; of words that are none a number whose bits are all set. Null where all memory is the host's.
  /// Throws onefold::error.
  void (*conclude_exact)(const executor& where, const exact_words& of, void* output);
  /// The short way of the commonest calls: runs a request of few elements that asks for nothing but its result. Returns false, with nothing done, where
  /// anything about the request is wrong or otherwise; the long way then says what. Null where calls launch something. Throws onefold::error.
  bool (*reduce_few)(const onefold_request& asked);
  /// An exchange between the streams of these executors. Throws onefold::error. Null where there are no GPUs; so is the next one.
  std::unique_ptr<exchange_in_progress> (*begin_exchange)(std::span<const executor> gpus, std::size_t bytes);
  /// Stores the sums of the words of `states` exact states side by side, of so many words each, in stream order, behind an exchange. Throws onefold::error.
  void (*add_exact_words)(const executor& where, const std::int64_t* words, std::size_t states, std::size_t of_each,
                          std::int64_t* sums);
};

/// The backend's entry, or null when this library was built without it.
const backend_entry* find_backend(backend where) noexcept;

}  // namespace onefold::detail
