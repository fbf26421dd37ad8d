#pragma once
/// @file workspace.hpp  Working memory of the caller's own for reductions on a GPU, and the return of the library's.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <onefold/executor.hpp>
#include <onefold/export.hpp>

namespace onefold {

namespace detail {
struct workspace_state;
struct workspace_access;
}  // namespace detail

/// Device memory for the reductions of one stream. A call that is given one (options::workspace) allocates nothing, does not wait for the
/// host in its *_into form, and can be captured in a CUDA graph at once. Without one a call uses memory that the library keeps for the
/// stream.
///
/// Use      one workspace for each stream: calls that share one must follow each other on the device. It serves any number of calls
///          after each other, of any form and type and of any count up to its own, for as long as it lives, and nothing has to be
///          reset between them. It must outlive the work that uses it, and the graphs that have captured it.
/// Variants `fixed_order`, the default. Others keep their partial results elsewhere and refuse one with `unsupported`.
/// Threads  calls from several host threads with the same workspace follow each other.
class ONEFOLD_EXPORT workspace {
 public:
  /// Device bytes that reductions of up to `count` elements need, on any device, of any form and type.
  [[nodiscard]] static std::size_t bytes(std::uint64_t count) noexcept;

  /// Takes bytes(count) bytes on the executor's device. For the CPU executors, which need none, and for best() it stays empty and is
  /// accepted and not used. Errors: backend_not_built, backend_unavailable, out_of_memory, device_lost, device_error.
  workspace(const executor& where, std::uint64_t count);
  /// Uses `bytes` bytes of device memory at `memory`, aligned to 16 bytes, which stay the caller's. Errors: those above; null_pointer,
  /// misaligned_pointer, host_pointer (for pinned and managed memory too), wrong_device, unsupported (memory of another context).
  workspace(const executor& where, void* memory, std::size_t bytes);
  /// Waits for calls that use memory of its own, not for replays of graphs, and gives it back. Memory of the caller's is left alone.
  ~workspace();
  workspace(workspace&&) noexcept;
  workspace& operator=(workspace&&) noexcept;

  /// Device bytes that it holds.
  [[nodiscard]] std::size_t size_bytes() const noexcept;

 private:
  friend struct detail::workspace_access;
  std::unique_ptr<detail::workspace_state> state_;
};

/// Device memory that the library holds for streams without a workspace.
struct memory_use {
  std::size_t device_bytes;  ///< in use or kept for the next call
  std::size_t pinned_bytes;  ///< of host memory
  int streams;               ///< streams that it is kept for; more than most_streams only while all of them have work under way
  static constexpr int most_streams = 64;
};

/// What the library holds on the executor's device; all zero for the CPU executors and best(). Errors: backend_not_built, backend_unavailable,
/// out_of_memory.
[[nodiscard]] ONEFOLD_EXPORT memory_use memory_in_use(const executor& where);

/// Waits for the work that uses it and gives back what the library holds on the device, but for what graphs have captured and calls are using.
/// Does nothing for the CPU executors and best(). Errors: backend_not_built, backend_unavailable,
/// out_of_memory, device_lost, device_error.
ONEFOLD_EXPORT void release_memory(const executor& where);

}  // namespace onefold
