/// @file driver.cpp  Variant fixed_order on the host: which kernel of a fold, with how many blocks. Knows folds as data alone.

#include "driver.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include <onefold/device/destination.hpp>
#include <onefold/device/input.hpp>
#include <onefold/options.hpp>
#include <onefold/policy.hpp>

#include "../device.hpp"
#include "../launch.cuh"
#include "../runtime.hpp"
#include "../stream_memory.hpp"
#include "complex_batched.hpp"
#include "converted.hpp"
#include "folds.hpp"
#include "mixed.hpp"
#include "plan.hpp"

namespace onefold::cuda_backend {

namespace {

using device::destination;
using device::reading;
using device::tree_input;
using onefold::detail::device_fold;
using onefold::detail::device_kernel;
using onefold::detail::device_kernel_info;
using onefold::detail::device_kernels;
using onefold::detail::device_kernels_known;

constexpr int warp_size = 32;

constexpr int number(device_kernel which) { return static_cast<int>(which); }

constexpr device_kernel kernel_of(reading how) {
  switch (how) {
    case reading::aligned:
      return device_kernel::aligned;
    case reading::shifted:
      return device_kernel::shifted;
    case reading::single:
    case reading::packed:
      break;
  }
  return device_kernel::single;
}

bool has(const device_fold& fold, device_kernel which) { return fold.kernels->symbol[number(which)] != nullptr; }

device_kernels_known* known_of(const call& now, const device_fold& fold) {
  const int device = now.gpu.number;
  return device < device_kernels::known_devices ? fold.kernels->known + device : nullptr;
}

device_kernel_info ask(const device_fold& fold, device_kernel which, int block_size) {
  device_kernel_info answer{};
  check(static_cast<cudaError_t>(fold.kernels->ask(number(which), block_size, &answer)), "cudaGetFuncBySymbol");
  return answer;
}

// The driver's handle, with which a launch takes 0.3 us of 2.6 less of the host's time. Null where the driver's launch cannot be had.
cudaFunction_t handle_of(const call& now, const device_fold& fold, device_kernel which) {
  device_kernels_known* const known = known_of(now, fold);
  if (known != nullptr)
    if (void* const found = known->function[number(which)].load(std::memory_order_acquire))
      return static_cast<cudaFunction_t>(found);
  cudaFunction_t found = nullptr;
  if (fold.kernels->ask == nullptr)
    check(calls().get_function(&found, fold.kernels->symbol[number(which)]), "cudaGetFuncBySymbol");
  else
    found = static_cast<cudaFunction_t>(ask(fold, which, 0).function);
  if (known != nullptr) known->function[number(which)].store(found, std::memory_order_release);
  return found;
}

// Whether the fold's kernels, as this device runs them, were compiled for compute capability 9.0 or more.
bool is_code_for_sm_90(const call& now, const device_fold& fold) {
  if (fold.kernels->ask == nullptr) return cuda_backend::is_code_for_sm_90(now);
  device_kernels_known* const known = known_of(now, fold);
  int capability = known == nullptr ? 0 : known->code_capability.load(std::memory_order_acquire);
  if (capability == 0) {
    capability = ask(fold, device_kernel::single, 0).code_capability;
    if (known != nullptr) known->code_capability.store(capability, std::memory_order_release);
  }
  return capability >= 90;
}

void launch(call& now, const device_fold& fold, device_kernel which, const shape& how, launch_kind kind, void** arguments) {
  detail::start(now, fold.kernels->symbol[number(which)], handle_of(now, fold, which), how, kind, is_code_for_sm_90(now, fold),
                arguments);
}

// Elements of a tile, as a power of two.
int log_tile_of(std::uint32_t value_bytes) noexcept {
  return std::countr_zero(static_cast<unsigned>(order::tile_rows * order::lanes_of_bytes(value_bytes)));
}

tree_input input_of(const call& now, const device_fold& fold) {
  tree_input in{};
  in.x = now.input;
  in.y = now.second;
  in.z = now.third;
  in.count = now.count;
  const int log_tile = log_tile_of(fold.value_bytes);
  if (!has(fold, device_kernel::aligned)) {
    in.end_packed = in.count >> log_tile;
  } else if (fold.inputs > 0 && fold.element_bytes[0] <= 8) {  // else nobody asks
    const std::uint64_t size = fold.element_bytes[0];
    const std::uint64_t shift = reinterpret_cast<std::uintptr_t>(in.x) % 16 / size;
    const std::uint64_t behind = shift == 0 ? 0 : 16 / size - shift;  // elements of the last pack
    in.shift = static_cast<int>(shift);
    in.end_packed = in.count < behind ? 0 : (in.count - behind) >> log_tile;
  }
  in.end_tile = (in.count >> log_tile) + ((in.count & ((std::uint64_t{1} << log_tile) - 1)) != 0 ? 1 : 0);
  return in;
}

bool is_aligned(const tree_input& in, const device_fold& fold) {
  const auto lies_well = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; };
  return lies_well(in.x) && lies_well(in.y) && lies_well(in.z) && has(fold, device_kernel::aligned);
}

// Packs are fewer instructions for each byte. A tile by single elements is a shorter wait, needs half of the registers, and does not care
// where an array begins or ends. So it is what most folds have where an array is not aligned, and, as long as a multiprocessor has few
// tiles (fixed_order_policy::single_tiles), what large accumulators have: mostly 2 to 6 % less time, and 15 to 35 % less for some arrays that
// end within a tile. Who asks for a shape gets packs.
reading choose_reading(const call& now, const device_fold& fold, const tree_input& in, bool free_shape) {
  const bool aligned = is_aligned(in, fold);
  if (!aligned && !has(fold, device_kernel::shifted)) return reading::single;
  const std::uint64_t few = static_cast<std::uint64_t>(now.tree.single_tiles) * static_cast<std::uint64_t>(now.gpu.multiprocessors);
  if (fold.prefers_single && free_shape && in.end_tile <= few) return reading::single;
  return aligned ? reading::aligned : reading::shifted;
}

// The policy for a fold. Of a function with several results a unit is one tile, and its node costs more than its elements: so a warp takes twice as
// many, as many bytes as in two tiles (4 to 5 % of five results' time for 2^28 doubles on an H200).
fixed_order_policy policy_for(const call& now, const device_fold& fold, device_kernel which) {
  fixed_order_policy policy = now.tree;
  if (fold.inputs == 0 && fold.state_bytes > 2 * fold.value_bytes && fold.kernels->log_tiles[number(which)] == 0)
    policy.stream_rounds *= 2;
  return policy;
}

// Threads of a block with a warp for each of so many units: one of the variant's block sizes, some of whose warps may have nothing to do.
int few_units_block(std::uint64_t units) { return static_cast<int>(std::bit_ceil(units)) * warp_size; }

// A plan whose blocks are all resident at once, for where none may wait for a block that might not have been started. It is launched as a
// cooperative one, which fails rather than start with fewer. Larger leaves, and nobody who only collects: 1 to 5 % slower.
plan resident_plan(const call& now, const device_fold& fold, device_kernel which, std::uint64_t units, const plan& how) {
  const int block = warp_size << how.log_warps;
  std::int64_t most = 0;
  if (fold.kernels->ask == nullptr)
    most = resident_blocks(now, fold.kernels->symbol[number(which)], block, 0);
  else
    most = std::int64_t{ask(fold, which, block).resident_blocks} * now.gpu.multiprocessors;
  most = std::min<std::int64_t>(most, most_asked_leaves);
  if (now.grid_size > most)
    throw error(errc::unsupported, "fixed_order needs all its blocks on this device at once, and it holds " + std::to_string(most) +
                                       " of this size: leave grid_size alone or ask for fewer");
  if (how.blocks() <= static_cast<std::uint64_t>(most)) return how;
  return choose_plan(policy_for(now, fold, which), units, now.gpu.multiprocessors, 1 << how.log_warps,
                     static_cast<std::uint64_t>(most));
}

void run_fold(call& now, const device_fold& fold, destination to) {
  to.output = now.output;
  to.host_words = now.host_words;
  to.call_number = now.call_number;
  tree_input in = input_of(now, fold);
  void* const object = const_cast<void*>(fold.object);
  const auto units_of = [&](device_kernel which) {
    const int log = fold.kernels->log_tiles[number(which)];
    return std::max<std::uint64_t>((in.end_tile + (std::uint64_t{1} << log) - 1) >> log, 1);
  };

  const bool free_shape = now.block_size == 0 && now.grid_size == 0;
  if (free_shape && has(fold, device_kernel::few)) {
    const std::uint64_t units = units_of(device_kernel::few);
    void* arguments[] = {&in, &to, object};
    if (units <= static_cast<std::uint64_t>(now.tree.one_block_tiles))
      return launch(now, fold, device_kernel::few, {1, few_units_block(units)}, launch_kind::early, arguments);
    if (units <= static_cast<std::uint64_t>(now.tree.cluster_tiles) && has(fold, device_kernel::few_cluster) &&
        is_code_for_sm_90(now, fold)) {
      const std::uint64_t of_block = (units + most_cluster_blocks - 1) / most_cluster_blocks;
      return launch(now, fold, device_kernel::few_cluster, {most_cluster_blocks, few_units_block(of_block)},
                    launch_kind::early_cluster, arguments);
    }
  }

  const device_kernel which = kernel_of(choose_reading(now, fold, in, free_shape));
  const std::uint64_t units = units_of(which);
  plan how = choose_plan(policy_for(now, fold, which), units, now.gpu.multiprocessors, now.block_size / warp_size,
                         static_cast<std::uint64_t>(now.grid_size));
  if (!now.gpu.blocks_start_in_order) how = resident_plan(now, fold, which, units, how);
  void* header = now.slots_of(slot_header_bytes + std::size_t{how.blocks()} * slot_bytes_of(fold.state_bytes), fold.state_bytes);
  const std::int64_t blocks = now.grid_size != 0 ? now.grid_size : how.blocks();
  void* arguments[] = {&in, &how, &header, &to, object};
  launch(now, fold, which, {blocks, warp_size << how.log_warps},
         now.gpu.blocks_start_in_order ? launch_kind::early : launch_kind::cooperative, arguments);
}

// A reduction whose number of elements, or whose arrays, the device knows: a batch of one, whose kernel asks for them.
void run_by_itself(call& now) {
  std::optional<batched_request> made =
      batched_request_of({now.type, now.form, now.wide, now.ddof, now.results, now.operators}, now.count);
  if (!made)
    throw error(errc::unsupported,
                "on cuda() a count, or the address of an array, that stands in memory is for arrays of real numbers");
  made->item.x = now.input;
  made->item.y = now.second;
  if (now.is_input_at) made->item.fold |= batched_item::x_in_memory;
  if (now.is_second_at) made->item.fold |= batched_item::y_in_memory;
  made->item.count_at = now.count_at;
  made->item.output = now.output;
  run_batched(now, std::span(&*made, 1));
}

// The same of a dot of two types, whose kernels look for themselves: its fold's object says where.
void run_mixed_in_memory(call& now) {
  mixed_dot_of of = *static_cast<const mixed_dot_of*>(now.own->object);
  if (of.is_swapped) {
    std::swap(now.input, now.second);
    std::swap(now.is_input_at, now.is_second_at);
  }
  if (now.is_input_at) of.x_at = static_cast<const void* const*>(now.input);
  if (now.is_second_at) of.y_at = static_cast<const void* const*>(now.second);
  of.count_at = now.count_at;
  device_fold fold = *now.own;
  fold.object = &of;
  destination to{};
  to.bytes = static_cast<int>(fold.result_bytes);
  run_fold(now, fold, to);
}

// One of the kernels of batches as the row of a fold with no other, for what is asked of kernels once.
template <const void* (*Kernel)() noexcept>
const device_fold& fold_of_kernel() {
  static device_kernels_known known[device_kernels::known_devices];
  static const device_kernels kernels = [] {
    device_kernels made{};
    made.symbol[number(device_kernel::single)] = Kernel();
    made.known = known;
    return made;
  }();
  static const device_fold row = [] {
    device_fold made{};
    made.struct_bytes = sizeof(made);
    made.kernels = &kernels;
    return made;
  }();
  return row;
}

}  // namespace

void run_fixed_order(call& now) {
  if (now.is_completed_by_device()) return now.own == nullptr ? run_by_itself(now) : run_mixed_in_memory(now);
  if (now.own != nullptr) {
    destination to{};
    to.bytes = static_cast<int>(now.own->result_bytes);
    return run_fold(now, *now.own, to);
  }
  const form_of_call what{now.type, now.form, now.wide, now.ddof, now.results, now.operators};
  run_fold(now, fold_of(now.type, now.form, now.wide), now.as_tree_value ? tree_value_of(what, now.count) : conclusion_of(what));
}

// --- neighbouring subtrees ------------------------------------------------------------------------------------------------------------------

namespace {

constexpr int warps_behind_leaves = 8;  // of a block: it finds room where one of the leaves' kernel has ended

// A run's leaves, as its fold's kernel reads them.
struct leaves_of_run {
  device_kernel kernel;
  plan how;
  int log_tiles;     // of a leaf
  run_of_tiles all;  // whole leaves
  [[nodiscard]] std::uint64_t number() const { return (all.end - all.first) >> log_tiles; }
};

// The call's array becomes what of the run's begins with tile number `first`.
void aim_at(call& now, const batched_run& run, std::uint64_t first) {
  now.type = run.type;
  now.form = run.what;
  now.wide = run.wide;
  now.input = run.tile_at(run.item.x, first);
  now.second = run.tile_at(run.item.y, first);
  now.count = run.count + run.behind - ((first - run.tiles.first) << run.log_tile());
}

// Leaves as those of an array of so many tiles, larger ones where the caller's workspace has few slots. None where it has hardly any.
std::optional<leaves_of_run> leaves_of(call& now, const batched_run& run, const device_fold& fold) {
  aim_at(now, run, run.tiles.first);
  leaves_of_run made{};
  made.kernel = kernel_of(choose_reading(now, fold, input_of(now, fold), true));
  const int log_unit = fold.kernels->log_tiles[number(made.kernel)];
  const std::uint64_t units = (run.tiles.end - run.tiles.first) >> log_unit;
  const std::size_t room = now.most_slot_bytes();
  const std::uint64_t slots = room < slot_header_bytes ? 0 : (room - slot_header_bytes) / slot_bytes_of(fold.state_bytes);
  if (slots < most_batched_leaves) return std::nullopt;
  made.how = choose_plan(now.tree, units, now.gpu.multiprocessors, 0, 0);
  if (made.how.leaves > slots) made.how = make_plan(units, made.how.log_warps, slots);
  made.log_tiles = made.how.log_leaf + log_unit;
  made.all = whole_leaves_of(run.tiles, made.log_tiles);
  if (made.all.first >= made.all.end) return std::nullopt;
  // No block collects: there is no last leaf and no section.
  made.how.leaves = static_cast<std::uint32_t>(made.number()) + 1;
  made.how.sections = 1;
  made.how.one_wave = made.how.next_collects = true;
  return made;
}

}  // namespace

bool run_by_leaves(call& now, const batched_run& run, std::span<const batched_request> beside) {
  if (!is_for_leaves(run) || !fits_a_table(run, beside.size())) return false;
  const device_fold& fold = fold_of(run.type, run.what, run.wide);
  std::optional<leaves_of_run> by = leaves_of(now, run, fold);
  if (!by) return false;

  aim_at(now, run, by->all.first);
  tree_input in = input_of(now, fold);
  destination nowhere{};
  const std::size_t slot_bytes = slot_bytes_of(fold.state_bytes), all_slots = static_cast<std::size_t>(by->number()) * slot_bytes;
  void* header = now.slots_of(slot_header_bytes + all_slots, fold.state_bytes);
  std::byte* const slots = static_cast<std::byte*>(header) + slot_header_bytes;
  void* leaf_arguments[] = {&in, &by->how, &header, &nowhere, const_cast<void*>(fold.object)};
  launch(now, fold, by->kernel, {static_cast<std::int64_t>(by->number()), warp_size << by->how.log_warps}, launch_kind::early,
         leaf_arguments);

  batched_table table = table_behind_leaves(run, by->log_tiles, slots, slot_bytes, beside);
  table.header = header;
  table.call_number = now.call_number;
  void* arguments[] = {&table};
  try {
    const device_fold& behind =
        run.by == batch_kernel::floats ? fold_of_kernel<batched_kernel>() : fold_of_kernel<converted_kernel>();
    launch(now, behind, device_kernel::single, {table.blocks, warps_behind_leaves * warp_size}, launch_kind::early, arguments);
  } catch (...) {
    // Nobody counts the launch that has filled these slots: the next one would take them for its own.
    now.clear_slots_after_failure(slot_header_bytes, all_slots);
    throw;
  }
  ++now.slot_launches;
  return true;
}

namespace {

// Requests for one of the kernels of batches, whose slots have so many bytes.
void run_alike(call& now, const device_fold& fold, std::size_t bytes_of_slot, std::span<const batched_request> all) {
  // One block's values need no slots. Blocks that wait for others must have started, or be resident, and their slots must fit the caller's workspace.
  std::size_t most_blocks = std::size_t{most_batched} * most_batched_leaves;
  const bool in_order = now.gpu.blocks_start_in_order;
  if (!in_order)
    most_blocks = static_cast<std::size_t>(
        resident_blocks(now, fold.kernels->symbol[number(device_kernel::single)], most_warps * warp_size, 0));
  const std::size_t slots =
      now.most_slot_bytes() < slot_header_bytes ? 0 : (now.most_slot_bytes() - slot_header_bytes) / bytes_of_slot;
  most_blocks = std::min(most_blocks, slots);

  while (!all.empty()) {
    batched_table table{};
    table.call_number = now.call_number;
    std::uint64_t most_units = 1;  // of a leaf
    while (!all.empty() && table.items < most_batched) {
      const batched_request& next = all.front();
      const batched_leaves plan =
          plan_of_item(next.units, static_cast<std::uint32_t>(std::min<std::size_t>(most_blocks, most_batched_leaves)));
      if (table.items > 0 && (table.several > 0 || plan.leaves > 1) && table.blocks + plan.leaves > most_blocks) break;
      batched_item& item = table.item[table.items++];
      item = next.item;
      item.first_block = table.blocks;
      item.log_leaf = static_cast<std::uint8_t>(plan.log_leaf);
      table.blocks += plan.leaves;
      if (plan.leaves > 1) ++table.several;
      most_units = std::max(most_units, std::min(next.units, std::uint64_t{1} << plan.log_leaf));
      all = all.subspan(1);
    }
    if (table.several > 0) table.header = now.slots_of(slot_header_bytes + table.blocks * bytes_of_slot, most_own_state_bytes);
    void* arguments[] = {&table};
    launch(now, fold, device_kernel::single, {table.blocks, few_units_block(std::min<std::uint64_t>(most_units, most_warps))},
           in_order || table.several == 0 ? launch_kind::early : launch_kind::cooperative, arguments);
    if (table.several > 0) ++now.slot_launches;
  }
}

}  // namespace

void run_batched(call& now, std::span<const batched_request> all) {
  while (!all.empty()) {
    const batch_kernel by = all.front().by;
    const auto end = std::find_if(all.begin(), all.end(), [&](const batched_request& each) { return each.by != by; });
    const auto alike = static_cast<std::size_t>(end - all.begin());
    switch (by) {
      case batch_kernel::floats:
        run_alike(now, fold_of_kernel<batched_kernel>(), batched_slot_bytes, all.first(alike));
        break;
      case batch_kernel::converted:
        run_alike(now, fold_of_kernel<converted_kernel>(), converted_slot_bytes, all.first(alike));
        break;
      case batch_kernel::complex:
        run_alike(now, fold_of_kernel<complex_batched_kernel>(), complex_slot_bytes, all.first(alike));
        break;
    }
    all = all.subspan(alike);
  }
}

}  // namespace onefold::cuda_backend
