#include "fixed_order.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <onefold/error.hpp>
#include <onefold/order.hpp>

#include "../../src/dispatch.hpp"
#include "../../src/pointer_kind.hpp"
#include "../float_environment.hpp"
#include "../no_elements.hpp"
#include "instruction_set.hpp"
#include "parts.hpp"
#include "plan.hpp"
#include "source.hpp"
#include "two_types.hpp"

namespace onefold::cpu {

parts::parts(const detail::request& what) : count(what.results), state_bytes(0) {
  const bool together = what.form == form::reduce_together;
  std::size_t results = 0;
  for (int k = 0; k < count; ++k) {
    const form its = together ? form_of(what.operators[k]) : what.form;
    const form_row& row = row_of(what.type, its, what.wide);
    each[k] = {&row, nullptr, state_bytes, static_cast<std::uint32_t>(results)};
    // Side by side each begins where any of them may; alone it is as long as the kernel makes it.
    state_bytes += count == 1 ? row.state_bytes : (row.state_bytes + 7) / 8 * 8;
    results += together ? size_of(result_type(what.type, what.form)) : row.result_bytes;
  }
}

void parts::conclude(const detail::request& what, const void* state) const {
  const bool has_gaps = what.present != nullptr && what.source != nullptr && what.form == form::mean;
  const std::uint64_t elements = has_gaps ? what.present(what.source->context) : what.count;
  if (has_gaps && elements == 0) return detail::store_empty(what, what.output);
  for (int k = 0; k < count; ++k) {
    const form_row& row = *each[k].row;
    std::byte* const result = static_cast<std::byte*>(what.output) + each[k].result_offset;
    row.conclude(row, static_cast<const std::byte*>(state) + each[k].state_offset, elements, what.ddof, result);
    // A small element is one of several results in the type of a sum.
    if (what.form == form::reduce_together && row.result_bytes == row.element_bytes) detail::to_total(what.type, result);
  }
}

namespace {

constexpr std::uint64_t group_bytes = std::uint64_t{order::group_tiles} * order::tile_rows * order::row_bytes;

// Elements have 1, 2, 4 or 8 bytes: no division.
constexpr std::uint64_t elements_of_group(std::uint32_t element_bytes) {
  return group_bytes >> (element_bytes == 8 ? 3 : element_bytes / 2);
}
static_assert(elements_of_group(1) == group_bytes && elements_of_group(4) == group_bytes / 4);

// --- arrays ---------------------------------------------------------------------------------------------------------------------------

// On cache lines of its own: workers read it while the starting thread goes on to write to its stack.
struct alignas(128) array_fold {
  const std::byte* x;
  const std::byte* y;  // null: one array
  const form asked_for;
  parts what;
  input_from from;
  // all, any and none, which are told from the number of elements that are not zero: it is known already, whatever the others are.
  mutable std::atomic<bool> is_decided = false;

  explicit array_fold(const detail::request& asked)
      : x(static_cast<const std::byte*>(asked.input)),
        y(nullptr),
        asked_for(asked.form),
        what(asked),
        from(asked.count > most_in_caches / what.element_bytes() ? input_from::memory : input_from::caches) {
    if (what.each[0].row->inputs == 2) y = static_cast<const std::byte*>(asked.second);
  }

  [[nodiscard]] std::uint64_t group_elements() const { return elements_of_group(what.element_bytes()); }
  [[nodiscard]] const std::byte* at(const std::byte* array, std::uint64_t index) const {
    return array == nullptr ? nullptr : array + index * what.element_bytes();
  }

  [[nodiscard]] bool can_end_early() const { return asked_for == form::all || asked_for == form::any || asked_for == form::none; }
  // Of groups that nobody looks at any more the states are zeros: neither as many as there are elements, nor fewer than one has been found.
  void groups_until_decided(std::uint64_t first, std::uint64_t count, std::byte* states) const {
    const std::uint64_t at_once = 4 * group_elements();
    for (std::uint64_t here = 0; count > 0; first += here, count -= here) {
      here = std::min(at_once, count);
      const std::uint64_t made = (here + group_elements() - 1) / group_elements();
      std::memset(states, 0, made * sizeof(std::uint64_t));
      if (!is_decided.load(std::memory_order_relaxed)) {
        what.each[0].kernel(at(x, first), nullptr, here, from, states);
        std::uint64_t nonzero = 0;
        for (std::uint64_t k = 0; k < made; ++k) {
          std::uint64_t of_group;
          std::memcpy(&of_group, states + k * sizeof(of_group), sizeof(of_group));
          nonzero += of_group;
        }
        if (asked_for == form::all ? nonzero < here : nonzero > 0) is_decided.store(true, std::memory_order_relaxed);
      }
      states += made * sizeof(std::uint64_t);
    }
  }

  int groups(std::uint64_t first, std::uint64_t count, std::byte* states) const {
    if (can_end_early()) return groups_until_decided(first, count, states), 0;
    if (what.is_one_kernel()) return what.each[0].kernel(at(x, first), at(y, first), count, from, states), 0;
    // Group by group, so that all parts but the first find it in the second-level cache.
    const std::uint64_t group = group_elements();
    for (std::uint64_t done = 0; done < count; done += group, states += what.state_bytes) {
      const std::uint64_t here = first + done;
      for (int k = 0; k < what.count; ++k) {
        const part& each = what.each[k];
        each.kernel(at(x, here), at(y, here), std::min(group, count - done), k == 0 ? from : input_from::caches,
                    states + each.state_offset);
        // The index of the group stands for what is found in it once, in the end: equal values meet with the first group's.
        if (each.row->has_index()) place_values(*each.row, states + each.state_offset, here);
      }
    }
    return 0;
  }

  // Indices of groups to those of elements.
  void settle(std::byte* state, std::uint64_t count, const kernel_table& kernels) const {
    for (int k = 0; k < what.count; ++k) {
      const part& each = what.each[k];
      for (int i = 0; i < each.row->args; ++i) {
        std::byte* const value = state + each.state_offset + static_cast<std::size_t>(i) * arg_bytes;
        std::uint64_t index;
        std::memcpy(&index, value + index_offset, sizeof(index));
        index += find_value(*each.row, kernels, at(x, index), std::min(group_elements(), count - index), value);
        std::memcpy(value + index_offset, &index, sizeof(index));
      }
    }
  }

  [[nodiscard]] cpu_fold fold() {
    return {this, group_elements(), what.state_bytes,
            [](void* context, std::uint64_t first, std::uint64_t count, void* states) {
              return static_cast<const array_fold*>(context)->groups(first, count, static_cast<std::byte*>(states));
            },
            [](void* context, void* states, std::uint64_t count) {
              static_cast<const array_fold*>(context)->what.level(states, count);
              return 0;
            }};
  }
};

bool on_cache_line(const void* x, const void* y) {
  return (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y)) % 64 == 0;
}

// A group or less, of one form: a call of its kernel.
void reduce_group(const form_row& row, const void* x, const void* second, std::uint64_t count, std::int64_t ddof, void* output,
                  void* tree_value) {
  const void* const y = row.inputs == 2 ? second : nullptr;
  const std::uint64_t bytes = count * row.element_bytes * static_cast<std::uint64_t>(row.inputs);
  const kernel_table& kernels = kernels_for(row.is_light, bytes, 1, on_cache_line(x, y));
  alignas(64) std::byte state[most_form_bytes];
  (kernels.*row.kernel)(x, y, count, input_from::caches, state);
  if (row.has_index()) {
    place_values(row, state, 0);
    for (std::byte* value = state; value < state + row.state_bytes; value += arg_bytes) {
      const std::uint64_t index = find_value(row, kernels, x, count, value);
      std::memcpy(value + index_offset, &index, sizeof(index));
    }
  }
  if (tree_value != nullptr) std::memcpy(tree_value, state, row.state_bytes);
  row.conclude(row, state, count, ddof, output);
}

int reduce_array(const detail::request& what, int threads) {
  array_fold of(what);
  const cpu_fold fold = of.fold();
  const std::uint64_t bytes = what.count * of.what.element_bytes() * (of.y != nullptr ? 2 : 1);
  plan how(what, fold, bytes, threads);
  how.timed_bytes = bytes;
  bool light = true;
  for (int k = 0; k < of.what.count; ++k) light = light && of.what.each[k].row->is_light;
  const bool in_streams =
      of.from == input_from::memory && of.what.is_one_kernel() && of.what.each[0].row->has_streams && streams_are_faster();
  if (in_streams) of.from = input_from::memory_in_streams;
  const kernel_table& kernels =
      in_streams ? *chosen_instructions().kernels : kernels_for(light, bytes, how.threads, on_cache_line(of.x, of.y));
  of.what.choose(kernels);

  alignas(64) std::byte state[detail::most_state_bytes];
  static_cast<void>(how.run(fold, what.count, state));  // no function of the library's fails
  of.settle(state, what.count, kernels);
  if (what.tree_value != nullptr) std::memcpy(what.tree_value, state, of.what.state_bytes);
  of.what.conclude(what, state);
  return how.threads;
}

int reduce_source(const detail::request& what, int threads) {
  source_fold of(what, *chosen_instructions().kernels);
  const cpu_fold fold = of.fold();
  plan how(what, fold, work_of(what.count, static_cast<std::uint64_t>(of.what.count) * of.what.element_bytes()), threads);
  alignas(64) std::byte state[detail::most_state_bytes];
  if (const int failed = how.run(fold, what.count, state); failed != 0) throw_failed("the function that gives the values", failed);
  if (what.tree_value != nullptr) std::memcpy(what.tree_value, state, of.what.state_bytes);
  of.what.conclude(what, state);
  return how.threads;
}

// Every dot of one set of vectors with another. Group by group, so that all but the first dot of a vector find it in the second-level cache.
struct alignas(128) dots {
  const onefold_vectors& of;
  const form_row& row;
  fold_groups kernel;
  std::uint64_t group_elements;
  std::uint32_t element_bytes = row.element_bytes;

  [[nodiscard]] std::uint32_t state_bytes() const { return static_cast<std::uint32_t>(of.rows * of.columns) * element_bytes; }
  void groups(std::uint64_t first, std::uint64_t count, std::byte* states) const {
    const auto at = [&](const void* x) { return static_cast<const std::byte*>(x) + first * element_bytes; };
    for (std::uint64_t here = 0; count > 0; first += here, count -= here) {
      here = std::min(group_elements, count);
      for (std::int32_t i = 0; i < of.rows; ++i)
        for (std::int32_t j = 0; j < of.columns; ++j, states += element_bytes)
          kernel(at(of.x[i]), at(of.y[j]), here, input_from::caches, states);
    }
  }
  void level(std::byte* states, std::uint64_t count) const {
    const std::size_t bytes = state_bytes();
    for (std::size_t at = 0; at < bytes; at += element_bytes) row.level(states + at, count, bytes);
  }
  [[nodiscard]] cpu_fold fold() {
    return {this, group_elements, state_bytes(),
            [](void* context, std::uint64_t first, std::uint64_t count, void* states) {
              return static_cast<const dots*>(context)->groups(first, count, static_cast<std::byte*>(states)), 0;
            },
            [](void* context, void* states, std::uint64_t count) {
              return static_cast<const dots*>(context)->level(static_cast<std::byte*>(states), count), 0;
            }};
  }
};

int reduce_vectors(const detail::request& what, int threads) {
  const form_row& row = row_of(what.type, form::dot, false);
  const onefold_vectors& of = *what.vectors;
  const int results = of.rows * of.columns;
  const std::uint64_t bytes = what.count * row.element_bytes * static_cast<std::uint64_t>(of.rows + of.columns);
  auto* const output = static_cast<std::byte*>(what.output);
  if (what.count == 0) {
    for (int k = 0; k < results; ++k)
      detail::store_empty(what.type, form::dot, false, output + static_cast<std::size_t>(k) * row.element_bytes);
    return 1;
  }
  dots all{of, row, chosen_instructions().kernels->*row.kernel, elements_of_group(row.element_bytes)};
  alignas(64) std::byte state[detail::most_state_bytes];
  static_assert(ONEFOLD_MOST_DOTS * sizeof(double) <= sizeof(state));
  const cpu_fold fold = all.fold();
  plan how(what, fold, bytes, threads);
  static_cast<void>(how.run(fold, what.count, state));  // no function of the library's fails
  for (int k = 0; k < results; ++k) {
    const std::size_t at = static_cast<std::size_t>(k) * row.element_bytes;
    row.conclude(row, state + at, what.count, 0, output + at);
  }
  return how.threads;
}

int reduce_own(const detail::request& what, int threads) {
  const detail::own_code& code = *what.own;
  const auto conclude = [&](const void* state) {
    if (const int failed = code.conclude(code.context, state, what.count, what.output); failed != 0)
      throw_failed("the function that makes the result", failed);
  };
  if (what.count == 0) return conclude(nullptr), 1;
  const std::uint64_t tile = std::uint64_t{order::tile_rows} * static_cast<std::uint64_t>(order::lanes_of_bytes(code.value_bytes));
  const cpu_fold fold{code.context, order::group_tiles * tile, code.state_bytes, code.groups, code.level};
  plan how(what, fold, work_of(what.count, code.value_bytes), threads);
  alignas(64) std::byte state[detail::most_state_bytes];
  if (const int failed = how.run(fold, what.count, state); failed != 0)
    throw_failed("a function of the caller's own reduction", failed);
  if (what.tree_value != nullptr) std::memcpy(what.tree_value, state, code.state_bytes);
  conclude(state);
  return how.threads;
}

}  // namespace

int reduce_fixed_order(const detail::request& what, int threads) {
  if (what.own != nullptr) return reduce_own(what, threads);
  if (what.vectors != nullptr) return reduce_vectors(what, threads);
  if (what.count == 0) return detail::store_empty(what, what.output), 1;
  if (what.products != nullptr) return reduce_two_types(what, threads);
  if (what.source != nullptr) return reduce_source(what, threads);
  if (what.form != form::reduce_together) {
    const form_row& row = row_of(what.type, what.form, what.wide);
    if (what.count <= elements_of_group(row.element_bytes))
      return reduce_group(row, what.input, what.second, what.count, what.ddof, what.output, what.tree_value), 1;
  }
  return reduce_array(what, threads);
}

std::string_view fixed_order_implementation() { return chosen_instructions().name; }

bool reduce_few(const onefold_request& asked) {
  if (asked.type < 0 || asked.type >= element_type_count || asked.form < 0 || asked.form >= ONEFOLD_REDUCE_TOGETHER) return false;
  const auto address = [](auto* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  const std::uintptr_t more = address(asked.operators) | address(asked.source) | address(asked.own) | address(asked.device) |
                              address(asked.tree_value) | address(asked.arrays) | address(asked.vectors) |
                              address(asked.exact_state) | address(asked.count_at) | address(asked.present) |
                              address(asked.input_at) | address(asked.second_at);
  const std::int32_t numbers = asked.array_count | asked.second_type | asked.reserved | asked.reserved_2;
  if (more != 0 || numbers != 0 || (asked.results | 1) != 1 || (asked.flags & ~ONEFOLD_INTO) != 0) return false;

  const auto type = static_cast<element_type>(asked.type);
  const auto what = static_cast<form>(asked.form);
  const form_row& row = row_of(type, what, false);
  if (!takes_type(what, type) || asked.count == 0 || asked.count > elements_of_group(row.element_bytes)) return false;
  const std::size_t bytes = asked.count * row.element_bytes;
  const bool asks_device = detail::may_hold_device_memory();
  // best() goes where managed memory belongs to, behind the kernels that write it.
  const bool may_be_managed = asked.where.backend != ONEFOLD_BEST;
  const auto is_elsewhere = [&](const void* array) {
    const detail::pointer_kind kind = detail::kind_asked_often(array);
    return kind == detail::pointer_kind::device || (kind == detail::pointer_kind::managed && !may_be_managed);
  };
  const auto can_be_read = [&](const void* array) {
    return array != nullptr && (address(array) & (row.element_bytes - 1)) == 0 &&
           !detail::overlaps(asked.output, row.result_bytes, array, bytes) && !(asks_device && is_elsewhere(array));
  };
  if (asked.output == nullptr || (address(asked.output) & (row.result_alignment - 1)) != 0) return false;
  if (!can_be_read(asked.input) || (row.inputs == 2 && !can_be_read(asked.second))) return false;
  if (asks_device && !detail::is_on_this_stack(asked.output) && detail::is_on_device(asked.output)) return false;

  const detail::default_float_environment one_operation_is_one_operation;
  reduce_group(row, asked.input, asked.second, asked.count, asked.ddof, asked.output, nullptr);
  return true;
}

void check_instruction_set() { static_cast<void>(chosen_instructions()); }

}  // namespace onefold::cpu
