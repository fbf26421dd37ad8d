#pragma once
/// @file stream_memory.hpp  The working memory of one stream: what block values go through, and where the host finds a result.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <onefold/device/destination.hpp>
#include <onefold/types.hpp>

#include "runtime.hpp"

namespace onefold::cuda_backend {

/// A piece of device memory, from the library's stream-ordered pool where the device has such, or of pinned host memory that the device can
/// read and write.
class buffer {
 public:
  enum class place { device, host };
  explicit buffer(place where) : where_(where) {}
  /// Requires that no work uses it any more, unless the memory is plain (of no pool): freeing that waits for the device.
  ~buffer();
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  /// At least `bytes` bytes, 256-byte aligned; what was in it is lost when it grows. Device memory from a pool grows in stream order; other
  /// memory waits for the device. With `keeps_old` what it has outgrown is freed with it alone: a graph may have that recorded.
  /// Requires that `stream` is not being captured. Throws out_of_memory.
  void* at_least(std::size_t bytes, cudaStream_t stream, cudaMemPool_t pool = nullptr, bool keeps_old = false);
  [[nodiscard]] void* data() const { return data_; }
  /// May be asked while another thread's call grows it, as the next.
  [[nodiscard]] std::size_t size_bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// With what it has outgrown.
  [[nodiscard]] std::size_t held_bytes() const { return size_bytes() + outgrown_bytes_.load(std::memory_order_relaxed); }
  /// Frees what it has outgrown, in the order of `stream` where that is memory of a pool. Requires that nobody uses it any more.
  void free_outgrown(cudaStream_t stream) noexcept;

 private:
  place where_;
  void* data_ = nullptr;
  std::atomic<std::size_t> bytes_ = 0;
  cudaMemPool_t pool_ = nullptr;  ///< that data_ is from
  struct piece {
    void* data;
    cudaMemPool_t pool;
  };
  std::vector<piece> outgrown_;
  std::atomic<std::size_t> outgrown_bytes_ = 0;
};

/// Pinned host memory for the results of a batch: as they are, and, twice as large, as words that carry the batch's number. These hold nothing else,
/// so that neither what an earlier batch left nor what a kernel of its writes late is taken for a result.
struct result_place {
  buffer values{buffer::place::host};
  buffer words{buffer::place::host};
  void* device_values = nullptr;  ///< as the device sees them
  void* device_words = nullptr;
  unsigned number = 0;  ///< of the batch, in its words; 0 is what they hold at first
};

/// A place for each batch that waits: such calls may wait at the same time, and on several streams in any order.
class result_places {
 public:
  /// One for at least `bytes` bytes of results, which nobody else has until it is given back. Throws out_of_memory.
  std::unique_ptr<result_place> take(std::size_t bytes);
  void give_back(std::unique_ptr<result_place> place) noexcept;
  /// Of which nobody knows whether something on the device still writes to it: nobody gets it any more.
  void give_up(std::unique_ptr<result_place> place) noexcept;
  /// Of those that no call uses.
  [[nodiscard]] std::size_t size_bytes() const;

 private:
  mutable std::mutex lock_;
  std::vector<std::unique_ptr<result_place>> idle_;      // with room for all, so that giving one back needs no memory
  std::vector<std::unique_ptr<result_place>> in_doubt_;  // the same
  std::size_t made_ = 0;
};

/// What a graph may hold (give_to_graph()).
struct in_graphs {
  std::atomic<bool> is_recorded = false;  ///< a graph may still launch what uses the memory
};

/// One stream's working memory, or a workspace's, or that of one call which a graph has recorded. A call holds `in_use` from its first launch
/// to its last, so that calls from several host threads on one stream follow each other; on the device the stream orders them.
struct stream_memory : in_graphs {
  stream_memory() = default;
  stream_memory(const stream_memory&) = delete;
  stream_memory& operator=(const stream_memory&) = delete;
  /// Requires that no work uses its memory any more: is_idle().
  ~stream_memory();

  std::mutex in_use;
  cudaStream_t stream = nullptr;         ///< of the launches
  cudaStream_t memory_stream = nullptr;  ///< on which memory is had and filled: another one only where `stream` is being captured
  cudaMemPool_t pool = nullptr;
  buffer partials[2] = {buffer(buffer::place::device), buffer(buffer::place::device)};
  buffer control{buffer::place::device};      ///< accumulators of every (type, operator), then the arrival ticket
  buffer slots{buffer::place::device};        ///< of fixed_order
  buffer host_partials{buffer::place::host};  ///< for finish::host
  buffer host_result{buffer::place::host};    ///< see result_on_host()
  result_places batch_results;                ///< of batches, which wait for their calls
  std::mutex copies_in_use;              ///< held by a call that copies arrays of host memory, from the first to the last piece
  buffer copies{buffer::place::device};  ///< of those arrays (host_pieces.hpp)
  static constexpr int most_copies = 3;  ///< pieces at a time
  cudaEvent_t copied[most_copies] = {};  ///< behind the copy of each, made when they are needed
  void* device_result = nullptr;         ///< host_result as the device sees it
  unsigned last_call = 0;                ///< number of the last that has waited; 0 before the first

  /// Set while a call is under way and cleared when it succeeds: a call that failed half-way may leave the control block changed.
  bool control_in_doubt = true;
  bool slots_in_doubt = true;

  // What is known of the end of the work that uses the memory. The stream cannot be asked: its owner may have destroyed it.
  bool end_in_doubt = false;             ///< a call is under way, or has failed and left no mark
  bool is_marked = false;                ///< `mark` stands behind work that is not known to have ended
  cudaEvent_t mark = nullptr;            ///< made when it is needed
  unsigned long long slot_launches = 0;  ///< that have been put on the stream since the slots were filled with zeros

  /// `bytes` bytes of one of the buffers above, in stream order; for a recorded call ready at once. Requires in_use.
  void* piece(buffer& of, std::size_t bytes);

  /// Where the calls that wait find their result, with device_result as its address on the device: words for variants that take a
  /// workspace (device::host_words_of), and at `value_at` bytes a place for the values of the others, which must not look like an answer. Allocated once.
  std::byte* result_on_host();
  static constexpr std::size_t value_at = device::host_words_of(device::most_result_bytes) * sizeof(unsigned long long);

  /// Puts the control block in order if it is in doubt. Requires in_use.
  void prepare();

  /// `bytes` bytes of slots, filled with zeros, in stream order, if they are new or in doubt. Requires in_use.
  void* slots_of(std::size_t bytes);

  /// Leaves a mark on the stream, behind all that has been put there. Slots need none: their launches count themselves.
  void leave_mark();
  /// The same behind what a call has launched before it failed, and which may still run.
  void leave_mark_after_failure() noexcept;

  /// Whether all work that uses its memory has ended, as far as can be proved; asks no stream of the caller's. `side` is a stream of the
  /// library's. Requires that no call can take the memory meanwhile. Throws when CUDA does not answer.
  bool is_idle(cudaStream_t side);

  /// The cell of the atomic finish for this type and operator. Holds the neutral element between calls: whoever reads it resets it.
  void* accumulator(element_type type, operation op) const;
  /// The arrival counter of the last_block finish. Zero between calls: atomicInc wraps it.
  unsigned* ticket() const;
};

}  // namespace onefold::cuda_backend
