#include "source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <onefold/order.hpp>

namespace onefold::cpu {

namespace {

constexpr std::uint64_t tile_bytes = order::tile_rows * order::row_bytes;
constexpr int most_tiles = 2;  // of a block of all results together: 8 KiB, where each has one at least
// The lanes' sums of a group take as many bytes as a tile's values, and are asked for at once.
static_assert(std::uint64_t{order::group_tiles} * order::row_bytes == tile_bytes);
// Between the results' values, so that those of one index do not fall on one place of a cache.
constexpr std::uint64_t gap_bytes = 192;

// The first whole blocks, whose states become one, level by level. With a best value so far for each part that looks for one: only
// what is better has its index found.
class block_reader {
 public:
  block_reader(source_fold& of, std::byte* memory) : of_(of) {
    const std::uint64_t tiles = of.lanes == nullptr ? static_cast<std::uint64_t>(of.block_tiles) : 1;
    const std::uint64_t stride = tiles * tile_bytes + gap_bytes;
    for (int k = 0; k < of.what.count; ++k) {
      values_[k] = memory + static_cast<std::uint64_t>(k) * stride;
      best_[k][0] = best_[k][1] = nullptr;
    }
  }

  // The state of a block's values.
  int read(std::uint64_t first, std::uint64_t count, std::byte* state) {
    if (const int failed = of_.failure.load(std::memory_order_relaxed); failed != 0) return failed;
    const auto fill = of_.lanes != nullptr ? of_.lanes : of_.source->fill;
    if (const int failed = fill(of_.source->context, first, count, values_); failed != 0) {
      int nothing = 0;
      of_.failure.compare_exchange_strong(nothing, failed, std::memory_order_relaxed);
      return failed;
    }
    if (of_.lanes != nullptr) return fold_lanes_of(count, state), 0;
    for (int k = 0; k < of_.what.count; ++k) {
      const part& each = of_.what.each[k];
      std::byte* const to = state + each.state_offset;
      each.kernel(values_[k], nullptr, count, input_from::caches, to);
      if (!each.row->has_index()) continue;
      place_values(*each.row, to, 0);
      for (int i = 0; i < each.row->args; ++i) locate(k, i, first, count, to + static_cast<std::size_t>(i) * arg_bytes);
    }
    return 0;
  }

 private:
  // Of `count` elements, whose rows have been added.
  void fold_lanes_of(std::uint64_t count, std::byte* state) const {
    const std::uint64_t tile = tile_bytes / of_.what.element_bytes();
    const int tiles = static_cast<int>((count + tile - 1) / tile);
    const fold_lanes fold = of_.what.element_bytes() == sizeof(float) ? of_.kernels->lanes_f32 : of_.kernels->lanes_f64;
    for (int k = 0; k < of_.what.count; ++k) fold(values_[k], tiles, state + of_.what.each[k].state_offset);
  }

  // The index of a state's value `i`, which lies at `value`.
  void locate(int k, int i, std::uint64_t first, std::uint64_t count, std::byte* value) {
    const form_row& row = *of_.what.each[k].row;
    std::uint64_t index = ~std::uint64_t{0};  // of what is not the best: behind all that is equal to it
    if (best_[k][i] == nullptr || row.is_before[i](value, best_[k][i])) {
      index = first + find_value(row, *of_.kernels, values_[k], count, value);
      std::memcpy(best_value_[k][i], value, row.element_bytes == 8 ? 8 : 4);  // what values are compared in
      best_[k][i] = best_value_[k][i];
    }
    std::memcpy(value + index_offset, &index, sizeof(index));
  }

  source_fold& of_;
  void* values_[most_results];
  const void* best_[most_results][2];
  alignas(8) std::byte best_value_[most_results][2][8];
};

template <std::uint64_t Bytes>
int read_groups(source_fold& of, std::uint64_t first, std::uint64_t count, void* states) {
  alignas(128) std::byte memory[Bytes];
  const std::uint32_t state_bytes = of.what.state_bytes;
  alignas(64) std::byte nodes[order::group_tiles * most_results * most_form_bytes];
  const std::uint64_t block = static_cast<std::uint64_t>(of.block_tiles) * tile_bytes / of.what.element_bytes();
  const std::uint64_t group = order::group_tiles * tile_bytes / of.what.element_bytes();
  block_reader reader(of, memory);
  const cpu_fold fold = of.fold();
  std::byte* to = static_cast<std::byte*>(states);
  for (std::uint64_t begin = 0; begin < count; begin += group, to += state_bytes) {
    const std::uint64_t end = std::min(begin + group, count);
    std::uint64_t blocks = 0;
    for (std::uint64_t at = begin; at < end; at += block, ++blocks)
      if (const int failed = reader.read(first + at, std::min(block, end - at), nodes + blocks * state_bytes); failed != 0)
        return failed;
    static_cast<void>(combine_all(fold, nodes, blocks));
    std::memcpy(to, nodes, state_bytes);
  }
  return 0;
}

// Whether its state is a sum of values as they are, and of so many that adding rows pays.
bool takes_lanes(const detail::request& asked) {
  return (asked.form == form::sum || asked.form == form::mean) && !asked.wide &&
         (asked.type == element_type::f32 || asked.type == element_type::f64) && asked.count >= tile_bytes / size_of(asked.type);
}

}  // namespace

source_fold::source_fold(const detail::request& asked, const kernel_table& table)
    : source(asked.source),
      lanes(takes_lanes(asked) ? asked.lanes : nullptr),
      kernels(&table),
      what(asked),
      block_tiles(most_tiles) {
  what.choose(table);
  if (lanes != nullptr) {
    block_tiles = order::group_tiles;
    return;
  }
  while (block_tiles > 1 && block_tiles * what.count > most_tiles) block_tiles /= 2;
}

cpu_fold source_fold::fold() {
  return {this, order::group_tiles * tile_bytes / what.element_bytes(), what.state_bytes,
          [](void* context, std::uint64_t first, std::uint64_t count, void* states) {
            auto& of = *static_cast<source_fold*>(context);
            if (of.what.count <= most_tiles) return read_groups<most_tiles*(tile_bytes + gap_bytes)>(of, first, count, states);
            return read_groups<most_results*(tile_bytes + gap_bytes)>(of, first, count, states);
          },
          [](void* context, void* states, std::uint64_t count) {
            static_cast<source_fold*>(context)->what.level(states, count);
            return 0;
          }};
}

}  // namespace onefold::cpu
