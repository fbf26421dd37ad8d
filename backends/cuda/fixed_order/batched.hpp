#pragma once
/// @file batched.hpp  Several reductions as the data of one launch: the host fills it in, the kernel takes it. Plain C++.

#include <cstddef>
#include <cstdint>

#include <onefold/device/plan.hpp>

namespace onefold::cuda_backend {

/// One reduction of a launch, or one of two other things that are made beside them.
struct batched_item {
  static constexpr std::uint8_t in_words = 0x80;
  /// The node over `count` leaves, a power of two: x is the slot of the first, in which the kernel ahead of this one puts its value (batched_table::follows_leaves).
  /// y is then where the elements of its tiles begin, and a leaf has 2^log_leaf tiles: what finds a place looks for it there.
  static constexpr std::uint8_t from_slots = 0x40;
  /// Of folds that find places, which look for the first maximum: of elements whose sign is changed, and of absolute values.
  static constexpr std::uint8_t of_negated = 0x20;
  static constexpr std::uint8_t of_absolute = 0x10;
  /// Of `fold`: x, or y, is where the array's address stands, in memory that the device reads when it begins. Not with from_slots, and not of copies.
  static constexpr std::uint8_t x_in_memory = 0x80;
  static constexpr std::uint8_t y_in_memory = 0x40;
  static constexpr std::uint8_t fold_number = 0x3f;  ///< the rest of `fold`
  /// In the place of a fold: `count` bytes are copied from x to output. Then, unless argument is 0, a word at that address tells a host that polls.
  static constexpr std::uint8_t copied = fold_number;

  const void* x;
  const void* y;                  ///< of dot, and with from_slots; else null
  std::uint64_t count;            ///< elements; with count_at at most so many
  const std::uint64_t* count_at;  ///< null, or where the number of elements stands in memory that the device reads
  void* output;                   ///< device memory or mapped host memory, or destination::host_words
  std::uint64_t argument;         ///< device::destination's, as the next two
  std::uint32_t first_block;      ///< its blocks follow each other; each reads a leaf of 2^log_leaf tiles
  std::uint8_t log_leaf;
  std::uint8_t fold;   ///< batched_fold(), x_in_memory, y_in_memory
  std::uint8_t how;    ///< the conclusion, in_words where it is sent in words, from_slots, and what places are of
  std::uint8_t bytes;  ///< of the result
};

inline constexpr int most_batched = 72;  ///< of a launch, whose parameters fill the 4 KiB that every driver takes

/// The kernels that take tables of items: of floats and doubles, of all other real numbers and forms (converted.hpp), and of complex numbers
/// (complex_batched.hpp).
enum class batch_kernel : std::uint8_t { floats, converted, complex };

/// What the kernel takes. Items of several blocks hand their values over in slots; those of one block need none.
struct batched_table {
  void* header;  ///< slot_header, and slots behind it; null where no item has several blocks
  std::uint32_t items;
  std::uint32_t blocks;
  std::uint32_t several;      ///< items of several blocks, or from slots
  std::uint32_t call_number;  ///< in words
  /// Begins while the kernel ahead is at work, which is known to have started in all its blocks, and waits for its slots alone.
  bool follows_leaves;
  batched_item item[most_batched];
};
static_assert(sizeof(batched_table) <= 4096, "CUDA before 12.1 takes no more");

inline constexpr std::size_t most_batched_state_bytes = 24;  ///< the three sums of norm2
inline constexpr std::size_t batched_slot_bytes = device::slot_bytes_of(most_batched_state_bytes);
inline constexpr std::uint32_t most_batched_leaves = 1u << device::log_part;  ///< what one warp collects

inline constexpr int log_batched_leaf = 4;  ///< units of a leaf, of which there are several: one for each of 16 warps

/// How many units (single tiles, at least 1) become how many leaves of how many units.
struct batched_leaves {
  std::uint32_t leaves;
  int log_leaf;
};
/// Up to `one_block` units are one block's. Otherwise a leaf has 2^log_batched_leaf units, or more where there would be more than `most` leaves.
constexpr batched_leaves plan_of_item(std::uint64_t units, std::uint32_t most) noexcept {
  constexpr std::uint64_t one_block =
      std::uint64_t{2} * device::most_warps;  // a second turn takes less time than a trip by way of the slots
  batched_leaves plan{1, 0};
  const std::uint64_t allowed = most < 1 ? 1 : most < most_batched_leaves ? most : most_batched_leaves;
  const std::uint64_t blocks = units <= one_block ? 1 : allowed;
  if (blocks > 1) plan.log_leaf = log_batched_leaf;
  while (((units - 1) >> plan.log_leaf) >= blocks) ++plan.log_leaf;
  plan.leaves = static_cast<std::uint32_t>(((units - 1) >> plan.log_leaf) + 1);
  return plan;
}

/// The kernel's symbol.
const void* batched_kernel() noexcept;

}  // namespace onefold::cuda_backend
