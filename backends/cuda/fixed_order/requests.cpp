/// @file requests.cpp  What calls ask for, as data for the driver and for the kernels of batches.

#include "requests.hpp"

#include <algorithm>

#include <onefold/detail/folds.hpp>
#include <onefold/order.hpp>

#include "../../cpu/forms.hpp"
#include "batched_folds.hpp"
#include "complex_batched.hpp"
#include "converted_folds.hpp"
#include "plan.hpp"

namespace onefold::cuda_backend {

namespace {

// Elements of a tile, as a power of two.
int log_tile_of(std::uint32_t value_bytes) noexcept {
  return std::countr_zero(static_cast<unsigned>(order::tile_rows * order::lanes_of_bytes(value_bytes)));
}

std::uint64_t units_of(std::uint64_t count, int log_unit) noexcept {
  return (count >> log_unit) + ((count & ((std::uint64_t{1} << log_unit) - 1)) != 0 ? 1 : 0);
}

// Of complex numbers.
batched_request complex_request_of(const form_of_call& what, std::uint64_t count) noexcept {
  const int log_unit = log_complex_unit(what.type, what.form);
  batched_request made{};
  made.by = batch_kernel::complex;
  made.units = units_of(count, log_unit);
  made.item.count = count;
  made.item.argument = static_cast<std::uint64_t>(what.ddof);
  made.item.bytes = static_cast<std::uint8_t>(result_bytes(what.type, what.form, what.wide));
  made.item.fold = complex_batched_fold(what.type, what.form, what.wide);
  made.item.how = static_cast<std::uint8_t>(static_cast<int>(what.form) | (what.wide ? complex_is_wide : 0));
  return made;
}

bool is_plain(const onefold::detail::request& what) noexcept {
  return what.source == nullptr && what.own == nullptr && what.device == nullptr && what.vectors == nullptr &&
         what.exact_state == nullptr && what.count > 0;
}

// Makes it the tree's accumulator that is wanted.
void ask_for_node(const onefold::detail::request& what, batched_request& request) noexcept {
  const tree_value_row as = value_in_tree(what.type, what.form, what.wide);
  batched_item& item = request.item;
  item.how = request.by == batch_kernel::converted
                 ? static_cast<std::uint8_t>(what.type) | converted_to_node
                 : static_cast<std::uint8_t>(onefold::detail::conclusion::none) | batched_place_of(what.form);
  item.bytes = static_cast<std::uint8_t>(as.bytes);
  item.argument = as.value_bytes;
}

// Bytes of an array beyond which it keeps a GPU busy by itself, and is read faster by its own kernel.
constexpr std::uint64_t most_batched_bytes = std::uint64_t{16} << 20;
// What the second kernel reads an element at a time it reads slower: sixteen arrays of bytes of 1 MiB took a third of the time that they take one by one, and of
// 4 MiB a third more.
constexpr std::uint64_t most_converted_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t bytes_of_tile = order::tile_rows * order::row_bytes;

std::uint64_t most_bytes_of(batch_kernel by, element_type type, form what, bool wide) noexcept {
  return by == batch_kernel::converted && !is_read_in_packs(type, what, wide) ? most_converted_bytes : most_batched_bytes;
}

// 12 MiB: with two launches an H200 takes 0.6 us longer for 2048 tiles than with the kernel of batches alone, and 1.5 less for 4096.
constexpr std::uint64_t most_tiles_at_once = 3072;

}  // namespace

tree_value_row value_in_tree(element_type type, form what, bool wide) noexcept {
  if (what == form::mean_variance) return {2 * sizeof(double), sizeof(double)};
  const cpu::form_row& row = cpu::row_of(type, what, wide);
  return {row.state_bytes, row.fields[0].bytes};
}

device::destination conclusion_of(const form_of_call& what) {
  device::destination to{};
  to.bytes = static_cast<int>(result_bytes(what.type, what.form, what.wide, what.results));
  if (what.form == form::mean_variance) {
    to.how = result_type(what.type, what.form, what.wide) == element_type::f32 ? 1 : 0;  // floats, or doubles
    to.argument = static_cast<std::uint64_t>(what.ddof);
  } else if (what.form == form::reduce_together) {
    for (int k = 0; k < what.results; ++k) to.argument |= static_cast<std::uint64_t>(what.operators[k]) << (4 * k);
  } else {
    to.how = static_cast<int>(onefold::detail::conclusion_of(what.type, what.form, what.wide));
    if (has_index(what.form)) to.argument = size_of(result_type(what.type, what.form));
  }
  return to;
}

device::destination tree_value_of(const form_of_call& what, std::uint64_t count) {
  device::destination to = conclusion_of(what);
  const tree_value_row as = value_in_tree(what.type, what.form, what.wide);
  to.bytes = static_cast<int>(as.bytes);
  to.how = static_cast<int>(onefold::detail::conclusion::none);
  // The deviation of moments is the variance that is divided by 1.
  to.argument = what.form == form::mean_variance ? count - 1 : as.value_bytes;
  return to;
}

std::optional<batched_request> batched_request_of(const form_of_call& what, std::uint64_t count) noexcept {
  if (is_complex(what.type)) return complex_request_of(what, count);
  const int fold = batched_fold(what.type, what.form, what.wide);
  const bool wide = what.wide && can_be_wide(what.type, what.form);
  if (fold < 0 && !is_converted(what.type, what.form, wide)) return std::nullopt;
  const int log_unit =
      fold < 0 ? log_converted_unit(what.type, what.form, wide) : log_tile_of(static_cast<std::uint32_t>(size_of(what.type)));
  const device::destination to = conclusion_of(what);
  batched_request made{};
  made.units = units_of(count, log_unit);
  made.item.count = count;
  made.item.argument = to.argument;
  made.item.bytes = static_cast<std::uint8_t>(to.bytes);
  made.by = fold < 0 ? batch_kernel::converted : batch_kernel::floats;
  made.item.fold = fold < 0 ? converted_form(what.form, wide) : static_cast<std::uint8_t>(fold);
  made.item.how = fold < 0 ? static_cast<std::uint8_t>(what.type) : static_cast<std::uint8_t>(to.how) | batched_place_of(what.form);
  return made;
}

std::optional<batched_request> batched_request_of(const onefold::detail::request& what) noexcept {
  if (!is_plain(what)) return std::nullopt;
  auto made = batched_request_of({what.type, what.form, what.wide, what.ddof, what.results, what.operators}, what.count);
  if (!made) return std::nullopt;
  const bool has_a_kernel_alone = what.count_at == nullptr && !has_array_in_memory(what);
  const std::uint64_t most = most_bytes_of(made->by, what.type, what.form, what.wide);
  if (what.count > most / size_of(what.type) && has_a_kernel_alone) return std::nullopt;
  if (what.tree_value != nullptr && (what.form == form::reduce_together || is_complex(what.type)))
    return std::nullopt;  // it is refused, or made by its own kernel
  if (what.tree_value != nullptr) ask_for_node(what, *made);
  return made;
}

batched_request batched_copy(const void* from, void* to, std::size_t bytes, unsigned long long* word) noexcept {
  batched_request made{};
  made.units = 8;  // as many warps
  made.item.x = from;
  made.item.count = bytes;
  made.item.output = to;
  made.item.argument = reinterpret_cast<std::uintptr_t>(word);
  made.item.fold = batched_item::copied;
  return made;
}

bool is_for_leaves(const batched_run& run) noexcept {
  const std::uint64_t well_read = most_bytes_of(run.by, run.type, run.what, run.wide) / bytes_of_tile;
  return run.tiles.end - run.tiles.first > std::min(most_tiles_at_once - 1, well_read);
}

std::optional<batched_run> batched_run_of(const onefold::detail::request& what, const onefold::detail::tree_nodes& which,
                                          std::size_t most_slot_bytes) noexcept {
  if (!is_plain(what) || what.count_at != nullptr || has_array_in_memory(what) || what.tree_value == nullptr) return std::nullopt;
  auto first = batched_request_of({what.type, what.form, what.wide, what.ddof, what.results, what.operators}, what.count);
  if (!first || what.form == form::reduce_together || is_complex(what.type)) return std::nullopt;
  const run_of_tiles tiles{which.first_tile, which.end_tile(what.count)};
  ask_for_node(what, *first);
  batched_run made{first->item, what.type, what.form, what.wide, tiles, what.count, which.behind, 0, first->by};
  if (made.by == batch_kernel::converted) {
    made.log_unit = log_converted_unit(what.type, what.form, what.wide) - made.log_tile();
    // With few slots the second kernel would read all by itself: then subtrees are better launches of their own.
    const std::size_t needed = slot_header_bytes + most_batched_leaves * slot_bytes_of(most_own_state_bytes);
    if (is_for_leaves(made) && most_slot_bytes < needed) return std::nullopt;
  }
  return made;
}

}  // namespace onefold::cuda_backend
