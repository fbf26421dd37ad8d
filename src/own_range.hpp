#pragma once
/// @file own_range.hpp  The state of a range of values that are reduced with an operator of a C caller's: what own_range_state.hpp is for C++, with the same bytes
/// (docs/order.md).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/detail/range_parts.hpp>
#include <onefold/order.hpp>

namespace onefold::detail {

/// Tree v1 of an operator that takes many pairs of values at a time. What the operator returns, if that is not 0, is passed on.
class own_tree {
 public:
  /// Throws what is wrong with the operator.
  explicit own_tree(const onefold_own_operator& of);

  static constexpr std::size_t most_tile_bytes = 4096;
  static constexpr std::size_t most_tile_elements = 4096;  // of a byte each

  [[nodiscard]] std::size_t value_bytes() const { return of_.value_bytes; }
  [[nodiscard]] bool can_be_absent() const { return of_.can_be_absent != 0; }
  /// A state is a value; where it may be absent it is behind a byte, 1 if it is there, and all zeros if not: as in the bytes of a range.
  [[nodiscard]] std::size_t state_bytes() const { return value_bytes() + (can_be_absent() ? 1 : 0); }
  [[nodiscard]] std::uint64_t tile() const { return std::uint64_t{order::tile_rows} * lanes(); }

  /// The state of a tile's first `count` values, at least one; `present` is null where all are there.
  int reduce_tile(const std::byte* values, const unsigned char* present, std::uint64_t count, std::byte* state) const;
  /// One level up: of `count` states, in place.
  int level(std::byte* states, std::uint64_t count) const;

 private:
  [[nodiscard]] std::uint64_t lanes() const { return static_cast<std::uint64_t>(order::lanes_of_bytes(value_bytes())); }
  int combine(std::byte* a, unsigned char* a_present, const std::byte* b, const unsigned char* b_present,
              std::uint64_t count) const;

  onefold_own_operator of_;
};

class own_range {
 public:
  own_range(const onefold_own_operator& of, std::uint64_t begin);

  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }

  /// As the functions of the C interface. What throws has changed nothing.
  void add(const onefold_executor& where, const void* x, std::uint64_t count, const onefold_options* how);
  void add_values(const onefold_executor& where, const onefold_value_source* source, std::uint64_t count,
                  const onefold_options* how);
  void add_parts(std::span<const onefold_range_part> parts, const onefold_options* how);
  void append(const own_range& next);
  void store_result(void* to) const;
  [[nodiscard]] std::size_t bytes() const;
  void write(std::byte* to) const;
  void read(const std::byte* from, std::size_t size);

 private:
  struct input;
  // Values of a tile that is not complete.
  struct kept_values {
    std::vector<std::byte> values;
    std::vector<unsigned char> present;  // where they may be absent: a byte for each
    void append(const kept_values& more);
  };
  // The state of a complete subtree of 2^height tiles, of which the first has the number `first`.
  struct node {
    std::uint64_t first;
    int height;
    std::byte state[65];
  };

  own_range(const own_tree& tree, std::uint64_t begin, std::uint64_t end) : tree_(tree), begin_(begin), end_(end) {}
  [[nodiscard]] range_parts parts() const { return {tree_.tile(), begin_, end_}; }
  [[nodiscard]] std::uint64_t most_elements() const;
  void check_end(std::uint64_t begin, std::uint64_t count) const;
  void add_input(const onefold_executor& where, const input& in, std::uint64_t count, const onefold_options* how);
  void push(std::vector<node>& to, node next) const;
  void combine(std::byte* left, const std::byte* right) const;
  void reduce_kept(const kept_values& kept, std::byte* state) const;
  std::byte* put(const kept_values& kept, std::byte* to) const;
  const std::byte* get(kept_values& to, std::uint64_t count, const std::byte* from) const;
  void check_flags(const std::byte* states, std::uint64_t count) const;

  own_tree tree_;
  std::uint64_t begin_;
  std::uint64_t end_;
  kept_values head_;  // of the tile that `begin` cuts
  std::vector<node> nodes_;
  kept_values tail_;  // of the tile that `end` cuts, unless that is the head's
};

}  // namespace onefold::detail
