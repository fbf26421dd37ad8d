/// @file two_types.cpp  Dots of elements of two types: a few tiles of each array are stored as elements of one type, in memory that stays in the
/// first-level cache, and go through the kernel of that type's dots. Products of floats are the same, and have the lanes of the tree. Whole numbers are
/// multiplied and added modulo a power of two, in any order, so there it is the shortest type that has both, whose products add up to the same.

#include "two_types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <onefold/order.hpp>

#include "../../src/mixed_types.hpp"
#include "instruction_set.hpp"
#include "parts.hpp"
#include "plan.hpp"

namespace onefold::cpu {

namespace {

constexpr std::uint64_t tile_bytes = order::tile_rows * order::row_bytes;
constexpr std::uint64_t block_tiles = 2;  // 8 KiB of each array that is converted

// The type whose dots have the products, and how its elements are made of others.
struct common_type {
  element_type type;
  bool wide;
  convert_elements of_another_type::*made;
  fold_groups of_another_type::*with = nullptr;
};

common_type common_type_of(const detail::types_of_dot& of, element_type products) noexcept {
  if (products == element_type::f32) return {element_type::f32, false, &of_another_type::to_f32, &of_another_type::with_f32};
  if (products == element_type::f64) return {element_type::f64, false, &of_another_type::to_f64, &of_another_type::with_f64};
  const auto fits = [&](std::size_t bytes, bool signed_one) {
    const auto one_fits = [&](element_type type) {
      return is_signed_integer(type) == signed_one ? size_of(type) <= bytes : signed_one && size_of(type) < bytes;
    };
    return one_fits(of.x) && one_fits(of.y);
  };
  if (fits(2, true)) return {element_type::i16, false, &of_another_type::to_i16};
  if (fits(4, true)) return {element_type::i32, true, &of_another_type::to_i32};
  if (fits(4, false)) return {element_type::u32, true, &of_another_type::to_u32};
  return {element_type::u64, false, &of_another_type::to_u64};
}

// On cache lines of its own: workers read it while the starting thread goes on to write to its stack.
class alignas(128) dot_of_two_types {
 public:
  dot_of_two_types(const detail::request& asked, input_from from)
      : common_(common_type_of(asked.products->types, asked.type)),
        row_(row_of(common_.type, form::dot, common_.wide)),
        x_(array_of(asked.products->types.x, asked.products->x)),
        y_(array_of(asked.products->types.y, asked.products->y)),
        kernel_(chosen_instructions().kernels->*row_.kernel),
        from_(from),
        kernel_from_(x_.convert != nullptr && y_.convert != nullptr ? input_from::caches : from),
        tile_(tile_bytes / size_of(asked.type)) {
    // Products know no order.
    const detail::types_of_dot& types = asked.products->types;
    if (x_.convert == nullptr) std::swap(x_, y_);
    if (common_.with != nullptr && y_.convert == nullptr)
      products_ = of_type(types.x == common_.type ? types.y : types.x).*common_.with;
  }

  [[nodiscard]] const form_row& row() const { return row_; }
  [[nodiscard]] std::uint64_t group_elements() const { return order::group_tiles * tile_; }

  void groups(std::uint64_t first, std::uint64_t count, std::byte* states) const {
    alignas(64) std::byte memory[2][block_tiles * tile_bytes];
    alignas(64) std::byte nodes[order::group_tiles / block_tiles * sizeof(std::uint64_t)];
    const std::uint64_t block = block_tiles * tile_;
    if (products_ != nullptr) {
      const std::uint64_t whole = count / group_elements();
      products_(x_.at(first), y_.at(first), whole, from_, states);
      first += whole * group_elements();
      count -= whole * group_elements();
      states += whole * row_.state_bytes;
    }
    while (count > 0) {
      const std::uint64_t group = std::min(count, group_elements());
      std::uint64_t blocks = 0;
      for (std::uint64_t done = 0; done < group; done += block, ++blocks) {
        const std::uint64_t here = std::min(block, group - done);
        kernel_(elements(x_, first + done, here, memory[0]), elements(y_, first + done, here, memory[1]), here, kernel_from_,
                nodes + blocks * row_.state_bytes);
      }
      for (; blocks > 1; blocks = (blocks + 1) / 2) row_.level(nodes, blocks, row_.state_bytes);
      std::copy_n(nodes, row_.state_bytes, states);
      first += group;
      count -= group;
      states += row_.state_bytes;
    }
  }

  [[nodiscard]] cpu_fold fold() {
    return {this, group_elements(), row_.state_bytes,
            [](void* context, std::uint64_t first, std::uint64_t count, void* states) {
              return static_cast<const dot_of_two_types*>(context)->groups(first, count, static_cast<std::byte*>(states)), 0;
            },
            [](void* context, void* states, std::uint64_t count) {
              const form_row& row = static_cast<const dot_of_two_types*>(context)->row_;
              return row.level(states, count, row.state_bytes), 0;
            }};
  }

 private:
  struct array {
    const std::byte* first;
    std::size_t element_bytes;
    convert_elements convert;  // null: as it is
    [[nodiscard]] const std::byte* at(std::uint64_t index) const { return first + index * element_bytes; }
  };
  [[nodiscard]] static const of_another_type& of_type(element_type type) {
    return chosen_instructions().kernels->of[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] array array_of(element_type type, const void* first) const {
    return {static_cast<const std::byte*>(first), size_of(type), of_type(type).*common_.made};
  }
  const void* elements(const array& of, std::uint64_t first, std::uint64_t count, std::byte* memory) const {
    if (of.convert == nullptr) return of.at(first);
    of.convert(of.at(first), count, from_, memory);
    return memory;
  }

  common_type common_;
  const form_row& row_;
  array x_, y_;
  fold_groups kernel_;
  fold_groups products_ = nullptr;  // of whole groups, which need no memory
  input_from from_, kernel_from_;
  std::uint64_t tile_;  // elements
};

}  // namespace

int reduce_two_types(const detail::request& what, int threads) {
  const detail::types_of_dot& types = what.products->types;
  const std::uint64_t bytes = what.count * (size_of(types.x) + size_of(types.y));
  dot_of_two_types of(what, bytes > most_in_caches ? input_from::memory : input_from::caches);
  alignas(64) std::byte state[most_form_bytes];
  int used = 1;
  if (what.count <= of.group_elements()) {
    of.groups(0, what.count, state);
  } else {
    const cpu_fold fold = of.fold();
    plan how(what, fold, bytes, threads);
    static_cast<void>(how.run(fold, what.count, state));  // no function of the library's fails
    used = how.threads;
  }
  of.row().conclude(of.row(), state, what.count, 0, what.output);
  return used;
}

}  // namespace onefold::cpu
