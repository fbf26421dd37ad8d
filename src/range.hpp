#pragma once
/// @file range.hpp  What states of ranges are made of. range_state.cpp makes them of elements, appends them and concludes; range_parts.cpp makes them of arrays on
/// several executors, range_images.cpp of what a GPU has stored; range_bytes.cpp writes and reads them; range_messages.cpp has what ranks send each other.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/detail/range_parts.hpp>
#include <onefold/order.hpp>
#include <onefold/types.hpp>

#include "../backends/cpu/forms.hpp"
#include "batch.hpp"
#include "mixed.hpp"

namespace onefold::detail::ranges {

/// What a state is a state of.
struct range_kind {
  element_type type;
  form what;
  bool wide;
  std::uint8_t operator_count = 0;  // not 0: of reduce_together, which has a result for each
  std::array<operation, most_results> operators = {};

  friend bool operator==(const range_kind&, const range_kind&) = default;
  [[nodiscard]] bool is_together() const { return operator_count != 0; }
  [[nodiscard]] std::size_t results() const { return is_together() ? operator_count : 1; }
  [[nodiscard]] const cpu::form_row& row(std::size_t result = 0) const {
    return cpu::row_of(type, is_together() ? form_of(operators[result]) : what, wide);
  }
  [[nodiscard]] bool has_two_inputs() const { return what == form::dot; }
  [[nodiscard]] std::uint64_t tile() const {
    return order::tile_rows * static_cast<std::uint64_t>(order::lanes_of_bytes(row_bytes_of(type, what)));
  }
  // As many as check_count() allows an array to have.
  [[nodiscard]] std::uint64_t most_elements() const {
    return static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / size_of(type);
  }
  // all, any and none are told from how many elements are not zero. Their own reductions end before they know that.
  [[nodiscard]] form form_of_nodes() const {
    return what == form::all || what == form::any || what == form::none ? form::count : what;
  }
  [[nodiscard]] std::string text() const {
    std::string all(name(what));
    for (std::size_t k = 0; k < operator_count; ++k) all.append(k == 0 ? " (" : ", ").append(name(operators[k]));
    return all.append(is_together() ? ") of " : " of ")
        .append(name(type))
        .append(!wide                               ? ""
                : is_small(type) && !is_float(type) ? ", accumulated in its own type"
                                                    : ", accumulated in a wider type");
  }
};

/// Where elements come from: arrays, or a function of the caller's, which is asked for its own indices.
struct range_input {
  const std::byte* x;
  const std::byte* y;                         // of dot, or of products
  const value_source* source;                 // not null: instead of arrays
  std::uint64_t from;                         // the index that it is asked for first
  const own_code* own = nullptr;              // not null: code that makes the trees' values, which is asked in the same way
  const onefold_made_values* made = nullptr;  // not null: what reduces the source's values
  const types_of_dot* two = nullptr;          // not null: of x and y, whose products are the elements

  [[nodiscard]] range_input behind(std::uint64_t elements, std::size_t element_bytes) const {
    if (source != nullptr || own != nullptr) return {nullptr, nullptr, source, from + elements, own, made};
    const auto behind_in = [elements](const std::byte* array, std::size_t bytes) {
      return array == nullptr ? nullptr : array + static_cast<std::size_t>(elements) * bytes;
    };
    return {behind_in(x, two == nullptr ? element_bytes : size_of(two->x)),
            behind_in(y, two == nullptr ? element_bytes : size_of(two->y)),
            nullptr,
            from + elements,
            nullptr,
            nullptr,
            two};
  }
};

range_input arrays_at(const void* x, const void* y);
range_input values_of(const onefold_value_source* source, std::uint64_t from);
range_input products_of(const onefold_products& of, const types_of_dot& types, std::uint64_t from);
onefold_value_source source_of(const onefold_made_values* made);

/// Elements of a tile that is not complete.
struct raw_elements {
  std::vector<std::byte> x;
  std::vector<std::byte> y;  // of dot alone

  void append(const raw_elements& more) {
    x.insert(x.end(), more.x.begin(), more.x.end());
    y.insert(y.end(), more.y.begin(), more.y.end());
  }
};

/// The value of a complete subtree of 2^height tiles, of which the first has the number `first`. A node of several results is one for each, side by side.
struct subtree {
  std::uint64_t first;
  int height;
  alignas(8) std::byte state[cpu::most_node_bytes];

  [[nodiscard]] bool is_right_sibling_of(const subtree& left) const {
    return height == left.height && (first >> height) % 2 == 1;  // they are neighbours
  }
};

/// a becomes a (+) b; combine() sees to the default floating-point environment, which combine_here() takes for granted.
void combine_here(const cpu::form_row& row, std::byte* a, const std::byte* b);
void combine(const cpu::form_row& row, std::byte* a, const std::byte* b);

/// What a caller's options may ask for, as options of the reductions of the parts.
onefold_options checked_options(const onefold_options* how);

struct form_range {
  range_kind of;
  std::uint64_t begin;
  std::uint64_t end = begin;
  raw_elements head = {};           // of the tile that `begin` cuts
  std::vector<subtree> nodes = {};  // of.results() for each
  raw_elements tail = {};           // of the tile that `end` cuts, unless that is the head's

  [[nodiscard]] range_parts parts() const { return {of.tile(), begin, end}; }
  [[nodiscard]] std::uint64_t nodes_begin() const { return parts().nodes_begin(); }
  [[nodiscard]] std::uint64_t nodes_end() const { return parts().nodes_end(); }
  [[nodiscard]] std::uint64_t raw_count() const { return nodes_begin() - begin + (end - nodes_end()); }

  /// Adds a node, which is not one of these.
  void push(const subtree* next);
};

/// What adds elements to a range: where, and with which options.
struct range_reader {
  const range_kind& of;
  onefold_executor where;
  onefold_options how;

  int results = 1;                       // of a function of the caller's that gives several
  const operation* operators = nullptr;  // one for each result; null: all are of the kind `of`

  [[nodiscard]] range_kind kind(int result) const {
    return operators == nullptr ? of : range_kind{of.type, form_of(operators[result]), false};
  }

  /// Elements of the caller's, which may lie on a GPU.
  void copy(void* to, const void* from, std::size_t bytes) const;

  [[nodiscard]] bool reads_second(const range_input& in) const { return of.has_two_inputs() || in.two != nullptr; }

  /// The GPU that has the elements in its memory, if there is one to reduce them.
  [[nodiscard]] std::optional<onefold_executor> gpu_of(const range_input& in) const;

  /// Whether a reduction of these may go to one: GPUs show the accumulators of one form alone.
  [[nodiscard]] bool may_go_to_a_gpu(const range_input& in) const;

  /// A reduction whose accumulator is wanted.
  [[nodiscard]] onefold_request request(const range_input& in, std::uint64_t count, void* result, void* tree_value) const;

  /// The values of the trees over elements of which the first has the index `first`: one for each result, `stride` bytes apart.
  void reduce(const range_input& in, std::uint64_t first, std::uint64_t count, std::byte* states,
              std::size_t stride = cpu::most_node_bytes) const;

  /// What a reduction of so many elements refuses is refused of elements too that are only kept. A function is not called for that.
  void check(const range_input& in, std::uint64_t asked) const;
};

range_reader reader_of(const range_kind& of, const onefold_executor& where, const onefold_options& how);

/// The nodes over `count` values of which the first begins tile number `first_tile`, from who makes them: for each subtree one of each result.
std::vector<subtree> nodes_as_made(const range_reader& reader, const range_input& in, std::uint64_t first_tile,
                                   std::uint64_t count);

/// The values of a function, `values` having a place for those of each result.
void make_values(const range_input& in, std::uint64_t count, void* const* values);

/// The first `count` elements.
raw_elements keep(const range_reader& reader, const range_input& in, std::uint64_t count);

/// Calls each(number, height, elements, report) for the complete subtrees of elements that begin with a tile; the report is for the highest.
template <class Each>
void for_subtrees_of(const range_kind& of, std::uint64_t first, std::uint64_t count, onefold_report* report, const Each& each) {
  const std::uint64_t tile = of.tile(), end = first + count;
  const std::uint64_t first_tile = (first + tile - 1) / tile, end_tile = (end + tile - 1) / tile;
  int highest = -1;
  for_subtrees(first_tile, end_tile, [&](std::uint64_t, int height) { highest = std::max(highest, height); });
  for_subtrees(first_tile, end_tile, [&](std::uint64_t number, int height) {
    each(number, height, std::min(tile << height, end - number * tile), height == highest ? report : nullptr);
  });
}

/// What makes `made`, of which the kind and the ends are known, of elements in a GPU's memory. It stays where it is until the image has been stored; then its
/// nodes are finished.
void read_range(const range_reader& reader, const range_input& in, form_range& made, gpu_reading& what);
void finish_nodes(const range_kind& of, std::vector<subtree>& nodes);
/// The states of the subtrees of elements in a GPU's memory, of which the first has the index `first` and begins a tile.
std::vector<subtree> nodes_on_a_gpu(const range_reader& reader, const range_input& in, std::uint64_t first, std::uint64_t count);

/// The state of `count` elements, at least one, of which the first has the index `begin`.
form_range state_of(range_reader reader, std::uint64_t begin, const range_input& in, std::uint64_t count);

/// Puts the state of operator `which` of reduce_together, of the same range, where `all` has it.
void take_operator(form_range& all, std::size_t which, form_range one);

void append(form_range& to, form_range next);
/// Throws invalid_argument where an array cannot have so many elements behind the index `begin`.
void check_end(const range_kind& of, std::uint64_t begin, std::uint64_t count);
void add(form_range& to, const onefold_executor& where, const range_input& in, std::uint64_t count, const onefold_options* how);
/// To each of several states, no two of which are one, as many parts: all of the first one's, then those of the next.
void add_parts(std::span<form_range* const> to, std::span<const onefold_range_part> parts, const onefold_options* how);

/// Throws unsupported where values that are reduced where they are made cannot be of this kind.
void check_can_be_made(const range_kind& of);
types_of_dot checked_types(const onefold_products* of);
void check_takes_products(const range_kind& of, const types_of_dot& types);
range_kind checked_kind(std::int32_t type, std::int32_t what, std::uint32_t flags);
range_kind checked_together(std::int32_t type, const std::uint8_t* operators, std::size_t count);
form_range create(const range_kind& of, std::uint64_t begin);

/// The value of neighbouring subtrees, and of what `state` holds, if anything, to the right of them: a node without a right sibling goes up to
/// the level where it is one itself. Of nodes of several results those of one: its value in every node is `results` behind that in the node before.
void fold_from_right(const cpu::form_row& row, std::span<const subtree> nodes, bool has_value, std::byte* state,
                     std::size_t results = 1, std::size_t result = 0);
/// The result for no elements, where there is one.
void store_result_of_none(const range_kind& of, void* to);
void store_result(const form_range& of, std::int64_t ddof, void* to);

std::size_t image_bytes(const form_range& before, std::uint64_t count);
void put_image(const form_range& before, const onefold_executor& where, const range_input& in, std::uint64_t count, void* image,
               const onefold_options* how);
void add_image(form_range& to, const void* image, std::uint64_t count);
bool can_join_images(const images_of_parts& all);
void check_can_join(const onefold_executor& where, const images_of_parts& all);
void join_images(const onefold_executor& where, const images_of_parts& all, void* result);

/// Of a node, as bytes.
std::size_t field_bytes(const cpu::form_row& row);
std::byte* put_fields(const cpu::form_row& row, const std::byte* state, std::byte* to);
const std::byte* get_fields(const cpu::form_row& row, const std::byte* from, std::byte* state);
std::size_t bytes_of(const form_range& of);
void write(const form_range& of, std::byte* to);
form_range read(const range_kind& expected, const std::byte* from, std::size_t size);

}  // namespace onefold::detail::ranges
