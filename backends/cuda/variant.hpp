#pragma once
/// @file variant.hpp  A variant's contract: what it says of itself, and the table of its entry points.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <onefold/detail/unit.hpp>
#include <onefold/operators.hpp>
#include <onefold/types.hpp>

#include "../float_semantics.hpp"

// nvcc reads each header of a lecture three times over. A call points to what the driver alone looks into.
namespace onefold {
struct fixed_order_policy;  // onefold/policy.hpp, as the next
ONEFOLD_BEGIN_TEXTS
struct variant_policy;
struct report;  // onefold/options.hpp
ONEFOLD_END_TEXTS
namespace detail {
struct device_fold;
}
}  // namespace onefold

namespace onefold::cuda_backend {

struct device_properties;  // device.hpp
struct device_workspace;   // workspace.hpp
struct stream_memory;

/// One checked call, as a variant sees it. Pointers are readable and writable by the device.
struct call {
  const device_properties& gpu;
  stream_memory& work;
  element_type type;
  onefold::form form;
  bool wide;  ///< f32 accumulated in f64
  const void* input;
  const void* second;              ///< of dot and of folds of the caller's with several inputs, else null
  std::uint64_t count;             ///< at least 1, but for folds of the caller's
  void* output;                    ///< the result
  void* host_value;                ///< the host's own copy of the result for calls that wait, else null
  onefold::finish finish;          ///< one of the traits' finishes
  int block_size;                  ///< threads; one of the traits' block sizes
  std::int64_t grid_size;          ///< blocks; 0 for the variant's choice
  int width;                       ///< one of the traits' widths
  report& ran;                     ///< the variant fills in its launch shape
  const fixed_order_policy& tree;  ///< the launch choices of fixed_order ...
  const variant_policy& choices;   ///< ... and those of the variant that is called, if it is another

  const onefold::detail::device_fold* own = nullptr;  ///< the caller's; then type and form say nothing
  const void* third = nullptr;
  std::int64_t ddof = 0;  ///< of mean_variance
  int results = 1;        ///< of reduce_together, and their operators
  const operation* operators = nullptr;
  bool as_tree_value = false;  ///< of fixed_order: the result is the tree's accumulator, as value_in_tree() says

  /// For variants that take a workspace, in calls that wait: words of mapped host memory as the device sees them (device::host_words_of), each
  /// of which gets 4 bytes of the result and above them call_number; then nothing goes to `output`. Else null.
  unsigned long long* host_words = nullptr;
  unsigned call_number = 0;
  device_workspace* workspace = nullptr;    ///< the caller's
  const std::uint64_t* count_at = nullptr;  ///< not null: where the number of elements stands, and count is the most that it may be
  bool is_input_at = false, is_second_at = false;  ///< it is where the array's address stands, and no array
  bool slots_taken = false;                        ///< the launch hands values over in slots, and counts itself in front of them
  unsigned slot_launches = 0;                      ///< such launches of a batch

  /// Whether the count or the address of an array stands in memory: for the kernel of batches, which asks for them.
  [[nodiscard]] bool is_completed_by_device() const noexcept { return count_at != nullptr || is_input_at || is_second_at; }

  /// `bytes` bytes of device memory, for states of `state_bytes`, that hold what the last call left in them, and zeros at first. Throws as
  /// buffer::at_least(), and unsupported when the caller's workspace is smaller.
  void* slots_of(std::size_t bytes, std::size_t state_bytes);
  /// The most bytes of slots that can be had: those of the caller's workspace, if there is one.
  [[nodiscard]] std::size_t most_slot_bytes() const noexcept;
  /// Behind a launch that has failed: what those ahead of it have left in these bytes of the slots is not taken for a later call's.
  void clear_slots_after_failure(std::size_t from, std::size_t bytes) noexcept;
};

/// What a variant says of itself beside its catalogue line.
struct traits {
  onefold::finish default_finish = onefold::finish::none;
  std::span<const onefold::finish> finishes = {};
  std::span<const int> block_sizes = {};  ///< which of them is taken, a launch policy says (policy.hpp)
  bool block_size_by_count = false;       ///< or the variant itself, at each call
  bool grid_size_free = false;
  int default_width = 0;
  std::span<const int> widths = {};
  std::string_view width_meaning = {};
  int min_compute_capability = 70;  ///< __syncwarp and independent thread scheduling
  std::string_view limits = {};     ///< what supports<T, Op>() refuses, and why
  std::int64_t most_grid_size = 0x7fffffff;
  bool takes_workspace = false;
};

inline constexpr onefold::finish every_finish[] = {finish::atomic, finish::host, finish::relaunch, finish::last_block,
                                                   finish::cooperative};
inline constexpr int powers_of_two_to_1024[] = {32, 64, 128, 256, 512, 1024};

using entry_point = void (*)(call&);

/// One row of the CUDA catalogue: the traits and an entry point per element type and operator; null where that is not supported.
struct variant_row {
  traits what;
  entry_point run[element_type_count][operation_count];
  entry_point run_everything = nullptr;  ///< for every form, and then the only one
};

/// What kernels that reduce elements as they are refuse.
inline constexpr std::string_view plain_only = "it reduces elements as they are, in their own type, with sum, prod, min or max";

namespace detail {

template <class Variant, class T, class Op>
constexpr entry_point entry_of() {
  if constexpr (Variant::template supports<T, Op>)
    return &Variant::template run<T, Op>;
  else
    return nullptr;
}

}  // namespace detail

/// Builds a variant's row from its struct: `traits what`, `supports<T, Op>` and `run<T, Op>(call&)`.
template <class Variant>
constexpr variant_row row_of() {
  variant_row row{Variant::what, {}, {}};
#define ONEFOLD_TYPE(type_name, T)                                                         \
  {                                                                                        \
    auto& entries = row.run[static_cast<int>(element_type::type_name)];                    \
    entries[static_cast<int>(operation::sum)] = detail::entry_of<Variant, T, op::sum>();   \
    entries[static_cast<int>(operation::prod)] = detail::entry_of<Variant, T, op::prod>(); \
    entries[static_cast<int>(operation::min)] = detail::entry_of<Variant, T, op::min>();   \
    entries[static_cast<int>(operation::max)] = detail::entry_of<Variant, T, op::max>();   \
  }
#include <onefold/types.def>
  static_assert(operation_count == 4, "row_of() lists the operators");
  return row;
}

}  // namespace onefold::cuda_backend

/// Ends a variant's file: defines the row that catalogue.def's line of the same name refers to.
#define ONEFOLD_DEFINE_VARIANT(name)             \
  namespace onefold::cuda_backend {              \
  extern const variant_row row_##name;           \
  const variant_row row_##name = row_of<name>(); \
  }
