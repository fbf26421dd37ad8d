#pragma once
/// @file workspace.hpp  Working memory of the caller's own for reductions on a GPU, and the return of the library's.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <onefold/onefold.h>
#include <onefold/executor.hpp>

namespace onefold {

class workspace;

namespace detail {
struct workspace_state;  // what the library has behind a handle
// The way to a workspace's handle for those who are not the caller.
struct workspace_access {
  static onefold_workspace* handle(const workspace& of) noexcept;
  static workspace_state* state(const workspace& of) noexcept;
  static workspace make(onefold_workspace* handle) noexcept;
  static void release(workspace& of) noexcept;
};
}  // namespace detail

/// Device memory for the reductions of one stream. A call that is given one (options::workspace) allocates nothing, does not wait for the
/// host in its *_into call, and can be captured in a CUDA graph at once. Without one a call uses memory that the library keeps for the
/// stream.
///
/// Use      one workspace for each stream: calls that share one must follow each other on the device. It serves any number of calls
///          after each other, of any form and type and of any count up to its own, for as long as it lives, and nothing has to be
///          reset between them. It must outlive the work that uses it, and the graphs that have captured it.
/// Variants `fixed_order`, the default, and `superaccumulator`. Others keep their partial results elsewhere and refuse one with `unsupported`.
/// Threads  calls from several host threads with the same workspace follow each other.
class workspace {
 public:
  /// Device bytes that reductions of up to `count` elements need, on any device, of any form and type; several dots at once, and several exact sums of a function, need more.
  [[nodiscard]] static std::size_t bytes(std::uint64_t count) noexcept { return onefold_workspace_bytes(count); }
  /// The same where what a fold of the caller's keeps of values, its state, has so many bytes. bytes(count) serves up to 48.
  [[nodiscard]] static std::size_t bytes(std::uint64_t count, std::size_t state_bytes) noexcept {
    return onefold_workspace_bytes_of_states(count, state_bytes);
  }

  /// Takes bytes(count) bytes on the executor's device. For the CPU executors, which need none, and for best() it stays empty and is
  /// accepted and not used; where best() goes to a GPU an empty one is invalid_argument. Errors: backend_not_built, backend_unavailable, out_of_memory, device_lost, device_error.
  workspace(const executor& where, std::uint64_t count) {
    detail::check_status(onefold_workspace_create(detail::c_executor(where), count, &handle_));
  }
  /// Uses `bytes` bytes of device memory at `memory`, aligned to 16 bytes, which stay the caller's. Errors: those above; null_pointer,
  /// misaligned_pointer, host_pointer (for pinned and managed memory too), wrong_device, unsupported (memory of another context).
  workspace(const executor& where, void* memory, std::size_t bytes) {
    detail::check_status(onefold_workspace_create_at(detail::c_executor(where), memory, bytes, &handle_));
  }
  /// Waits for calls that use memory of its own, not for replays of graphs, and gives it back. Memory of the caller's is left alone.
  ~workspace() {
    if (handle_ != nullptr) onefold_workspace_destroy(handle_);
  }
  workspace(workspace&& from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
  workspace& operator=(workspace&& from) noexcept {
    std::swap(handle_, from.handle_);
    return *this;
  }

  /// Device bytes that it holds.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return handle_ == nullptr ? 0 : onefold_workspace_size(handle_); }

 private:
  friend struct detail::workspace_access;
  workspace() noexcept = default;

  onefold_workspace* handle_ = nullptr;  // null for executors that need none
};

namespace detail {
inline onefold_workspace* workspace_access::handle(const workspace& of) noexcept { return of.handle_; }
inline workspace workspace_access::make(onefold_workspace* handle) noexcept {
  workspace made;
  made.handle_ = handle;
  return made;
}
inline void workspace_access::release(workspace& of) noexcept { of.handle_ = nullptr; }
}  // namespace detail

/// Device memory that the library holds for streams: for calls without a workspace, and for arrays in host memory on their way.
struct memory_use {
  std::size_t device_bytes;  ///< in use or kept for the next call
  std::size_t pinned_bytes;  ///< of host memory
  int streams;               ///< streams that it is kept for; more than most_streams where those looked at first had work
  static constexpr int most_streams = 64;
};

/// What the library holds on the executor's device; all zero for the CPU executors and best(). Errors: backend_not_built, backend_unavailable,
/// out_of_memory.
[[nodiscard]] inline memory_use memory_in_use(const executor& where) {
  onefold_memory_use used{};
  used.struct_bytes = sizeof(used);
  detail::check_status(onefold_memory_in_use(detail::c_executor(where), &used));
  return {used.device_bytes, used.pinned_bytes, used.streams};
}

/// Waits for the work that uses it and gives back what the library holds on the device, but for what graphs have captured and calls are using.
/// Does nothing for the CPU executors and best(). Errors: backend_not_built, backend_unavailable,
/// out_of_memory, device_lost, device_error.
inline void release_memory(const executor& where) { detail::check_status(onefold_release_memory(detail::c_executor(where))); }

}  // namespace onefold
