/// @file own_range.cpp  Tree v1 of an operator of a C caller's, and the state of a range of such values. What own.hpp and own_range_state.hpp compile for one
/// operator of C++'s is here for all: an operator takes as many pairs in a call as a row of the tree has, so that the call is a small part of it.

#include "own_range.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <onefold/detail/own_range_header.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/float_environment.hpp"
#include "c_api.hpp"
#include "dispatch.hpp"

namespace onefold::detail {

static_assert(std::endian::native == std::endian::little, "the bytes of a state are those of numbers in memory");

namespace {

void check_operator(int failed) {
  if (failed != 0) throw error(errc::callback_failed, "the operator of the state has returned " + std::to_string(failed));
}

}  // namespace

// --- the tree ---------------------------------------------------------------------------------------------------------------------------------

own_tree::own_tree(const onefold_own_operator& of)
    : of_(as_known(of, offsetof(onefold_own_operator, combine) + sizeof(of.combine), "own operator")) {
  if (of_.combine == nullptr) refuse_null("own operator's combine");
  if (of_.value_bytes < 1 || of_.value_bytes > most_value_bytes)
    refuse_number("value_bytes of the own operator", of_.value_bytes, 1, most_value_bytes);
}

int own_tree::combine(std::byte* a, unsigned char* a_present, const std::byte* b, const unsigned char* b_present,
                      std::uint64_t count) const {
  if (b_present == nullptr) return count == 0 ? 0 : of_.combine(of_.context, a, b, count);
  const std::size_t bytes = value_bytes();
  for (std::uint64_t i = 0; i < count;) {
    std::uint64_t both = i;  // the pairs from i on of which both are there
    while (both < count && a_present[both] != 0 && b_present[both] != 0) ++both;
    if (both > i) {
      if (const int failed = of_.combine(of_.context, a + i * bytes, b + i * bytes, both - i); failed != 0) return failed;
      i = both;
      continue;
    }
    if (b_present[i] != 0) {
      std::memcpy(a + i * bytes, b + i * bytes, bytes);
      a_present[i] = 1;
    }
    ++i;
  }
  return 0;
}

int own_tree::reduce_tile(const std::byte* values, const unsigned char* present, std::uint64_t count, std::byte* state) const {
  alignas(64) std::byte lane[order::row_bytes];
  unsigned char there[order::row_bytes];
  const std::size_t bytes = value_bytes();
  std::uint64_t width = std::min(count, lanes());
  const auto flags = [present](std::uint64_t from) { return present == nullptr ? nullptr : present + from; };
  std::memcpy(lane, values, width * bytes);
  if (present != nullptr) std::memcpy(there, present, width);
  for (std::uint64_t first = lanes(); first < count; first += lanes())
    if (const int failed = combine(lane, there, values + first * bytes, flags(first), std::min(lanes(), count - first));
        failed != 0)
      return failed;
  for (std::uint64_t half = lanes() / 2; half > 0; half /= 2) {
    if (width <= half) continue;
    const unsigned char* const of_right = present == nullptr ? nullptr : there + half;
    if (const int failed = combine(lane, there, lane + half * bytes, of_right, width - half); failed != 0) return failed;
    width = half;
  }
  if (!can_be_absent()) return std::memcpy(state, lane, bytes), 0;
  const bool is_there = present == nullptr || there[0] != 0;
  state[0] = static_cast<std::byte>(is_there ? 1 : 0);
  is_there ? std::memcpy(state + 1, lane, bytes) : std::memset(state + 1, 0, bytes);
  return 0;
}

int own_tree::level(std::byte* states, std::uint64_t count) const {
  alignas(64) std::byte left[order::row_bytes], right[order::row_bytes];
  unsigned char left_present[order::row_bytes], right_present[order::row_bytes];
  const std::size_t bytes = value_bytes(), all = state_bytes(), flag = all - bytes;
  for (std::uint64_t done = 0; done < count / 2;) {
    const std::uint64_t pairs = std::min(lanes(), count / 2 - done);
    for (std::uint64_t i = 0; i < pairs; ++i) {
      const std::byte* const from = states + 2 * (done + i) * all;
      std::memcpy(left + i * bytes, from + flag, bytes);
      std::memcpy(right + i * bytes, from + all + flag, bytes);
      left_present[i] = std::to_integer<unsigned char>(from[0]);
      right_present[i] = std::to_integer<unsigned char>(from[all]);
    }
    if (const int failed = combine(left, left_present, right, flag == 0 ? nullptr : right_present, pairs); failed != 0)
      return failed;
    for (std::uint64_t i = 0; i < pairs; ++i) {
      std::byte* const to = states + (done + i) * all;
      if (flag != 0) to[0] = static_cast<std::byte>(left_present[i]);
      std::memcpy(to + flag, left + i * bytes, bytes);
    }
    done += pairs;
  }
  if (count % 2 == 1) std::memmove(states + count / 2 * all, states + (count - 1) * all, all);
  return 0;
}

// --- values, as the library's reductions call for them -----------------------------------------------------------------------------------------

// An array, or a function, which is asked for its own indices.
struct own_range::input {
  const std::byte* x;
  const onefold_value_source* source;  // not null: instead of x
};

namespace {

// Values of a tile.
struct tile_of_values {
  alignas(64) std::byte values[own_tree::most_tile_bytes];
  unsigned char present[own_tree::most_tile_elements];
};

int fill(const onefold_value_source& source, std::uint64_t first, std::uint64_t count, void* values, unsigned char* present) {
  void* const to[] = {values, present};
  if (const int failed = source.fill(source.context, first, count, to); failed != 0) return failed;
  if (present != nullptr)
    std::transform(present, present + count, present, [](unsigned char is) -> unsigned char { return is != 0 ? 1 : 0; });
  return 0;
}

// What a reduction asks for, from a later value on: `from` is the number of its first one.
struct own_values {
  const own_tree& tree;
  const std::byte* x;
  const onefold_value_source* source;
  std::uint64_t from;

  int tile(std::uint64_t first, std::uint64_t count, std::byte* state) const {
    first += from;
    if (source == nullptr) return tree.reduce_tile(x + first * tree.value_bytes(), nullptr, count, state);
    tile_of_values made;
    unsigned char* const present = tree.can_be_absent() ? made.present : nullptr;
    if (const int failed = fill(*source, first, count, made.values, present); failed != 0) return failed;
    return tree.reduce_tile(made.values, present, count, state);
  }

  static int groups(void* context, std::uint64_t first, std::uint64_t count, void* states) {
    const auto& own = *static_cast<const own_values*>(context);
    const std::size_t bytes = own.tree.state_bytes();
    std::byte tiles[order::group_tiles * (most_value_bytes + 1)];
    for (auto* to = static_cast<std::byte*>(states); count > 0; to += bytes) {
      std::uint64_t made = 0;
      for (; made < order::group_tiles && count > 0; ++made) {
        const std::uint64_t here = std::min(count, own.tree.tile());
        if (const int failed = own.tile(first, here, tiles + made * bytes); failed != 0) return failed;
        first += here;
        count -= here;
      }
      for (; made > 1; made = (made + 1) / 2)
        if (const int failed = own.tree.level(tiles, made); failed != 0) return failed;
      std::memcpy(to, tiles, bytes);
    }
    return 0;
  }
  static int level(void* context, void* states, std::uint64_t count) {
    return static_cast<const own_values*>(context)->tree.level(static_cast<std::byte*>(states), count);
  }
};

// The same of values that are kept as they are.
struct own_copies {
  const own_values& of;
  std::byte* values;
  unsigned char* present;

  static int groups(void* context, std::uint64_t first, std::uint64_t count, void* states) {
    const auto& own = *static_cast<const own_copies*>(context);
    const std::size_t bytes = own.of.tree.value_bytes();
    *static_cast<unsigned char*>(states) = 0;  // fewer values than a tile has are one group
    if (own.of.source != nullptr)
      return fill(*own.of.source, own.of.from + first, count, own.values + first * bytes,
                  own.present == nullptr ? nullptr : own.present + first);
    std::memcpy(own.values + first * bytes, own.of.x + (own.of.from + first) * bytes, count * bytes);
    if (own.present != nullptr) std::memset(own.present + first, 1, count);
    return 0;
  }
  static int level(void*, void*, std::uint64_t) { return 0; }
};

int conclude_nothing(void*, const void*, std::uint64_t, void*) { return 0; }

// Runs code of ours on values of the caller's, with the library's threads, checks and floating-point environment.
void run(const onefold_executor& where, const onefold_own_code& code, const own_values& of, std::uint64_t count, void* tree_value,
         const onefold_options& how) {
  unsigned char no_result = 0;
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = where;
  what.count = count;
  what.output = &no_result;
  what.own = &code;
  what.tree_value = tree_value;
  const onefold_array array{of.x == nullptr ? nullptr : of.x + of.from * of.tree.value_bytes(),
                            static_cast<std::uint32_t>(of.tree.value_bytes()), 1};
  what.arrays = of.source == nullptr ? &array : nullptr;
  what.array_count = of.source == nullptr ? 1 : 0;
  check_status(onefold_reduce(&what, &how));
}

}  // namespace

// --- the state --------------------------------------------------------------------------------------------------------------------------------

own_range::own_range(const onefold_own_operator& of, std::uint64_t begin) : tree_(of), begin_(begin), end_(begin) {
  check_end(begin, 0);
}

std::uint64_t own_range::most_elements() const {
  return static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / tree_.value_bytes();
}

void own_range::check_end(std::uint64_t begin, std::uint64_t count) const {
  if (begin > most_elements() || count > most_elements() - begin)
    throw error(errc::invalid_argument, "a count of " + std::to_string(count) + " elements behind " + std::to_string(begin) +
                                            " cannot be: is it a negative number?");
}

void own_range::kept_values::append(const kept_values& more) {
  values.insert(values.end(), more.values.begin(), more.values.end());
  present.insert(present.end(), more.present.begin(), more.present.end());
}

void own_range::add(const onefold_executor& where, const void* x, std::uint64_t count, const onefold_options* how) {
  if (x == nullptr && count > 0) refuse_null_array("input", count);
  add_input(where, {static_cast<const std::byte*>(x), nullptr}, count, how);
}

void own_range::add_values(const onefold_executor& where, const onefold_value_source* source, std::uint64_t count,
                           const onefold_options* how) {
  if (source == nullptr || source->fill == nullptr) refuse_null("function that gives the values");
  add_input(where, {nullptr, source}, count, how);
}

void own_range::add_parts(std::span<const onefold_range_part> parts, const onefold_options* how) {
  own_range joined = *this;
  onefold_options wishes = known_options(how);
  for (const onefold_range_part& part : parts) {
    joined.add(part.where, part.x, part.count, &wishes);
    if (part.count > 0) wishes.report = nullptr;
  }
  *this = std::move(joined);
}

void own_range::add_input(const onefold_executor& where, const input& in, std::uint64_t count, const onefold_options* how) {
  onefold_options wishes = known_options(how);
  onefold_report* const report = std::exchange(wishes.report, nullptr);
  check_end(end_, count);
  if (count == 0) return;

  own_range made(tree_, end_, end_ + count);
  const range_parts its = made.parts();
  int highest = -1;
  its.for_nodes([&](std::uint64_t, int height) { highest = std::max(highest, height); });
  const auto keep = [&](kept_values& to, std::uint64_t from, std::uint64_t end) {
    if (from == end) return;
    to.values.resize(static_cast<std::size_t>(end - from) * tree_.value_bytes());
    if (tree_.can_be_absent()) to.present.resize(static_cast<std::size_t>(end - from));
    const own_values values{tree_, in.x, in.source, from - made.begin_};
    own_copies copies{values, to.values.data(), tree_.can_be_absent() ? to.present.data() : nullptr};
    const onefold_own_code code{
        &copies, static_cast<std::uint32_t>(tree_.value_bytes()), 1, 1, own_copies::groups, own_copies::level, conclude_nothing};
    wishes.report = highest < 0 ? report : nullptr;
    run(where, code, values, end - from, nullptr, wishes);
  };
  keep(made.head_, made.begin_, its.nodes_begin());
  its.for_nodes([&](std::uint64_t number, int height) {
    own_values values{tree_, in.x, in.source, number * tree_.tile() - made.begin_};
    const onefold_own_code code{&values,
                                static_cast<std::uint32_t>(tree_.value_bytes()),
                                static_cast<std::uint32_t>(tree_.state_bytes()),
                                1,
                                own_values::groups,
                                own_values::level,
                                conclude_nothing};
    wishes.report = height == highest ? report : nullptr;
    node next{number, height, {}};
    run(where, code, values, tree_.tile() << height, next.state, wishes);
    made.nodes_.push_back(next);
  });
  keep(made.tail_, its.nodes_end(), made.end_);
  append(made);
}

// What is kept is combined in the default floating-point environment.

void own_range::combine(std::byte* left, const std::byte* right) const {
  const default_float_environment one_operation_is_one_operation;
  std::byte both[2 * sizeof(node::state)];
  std::memcpy(both, left, tree_.state_bytes());
  std::memcpy(both + tree_.state_bytes(), right, tree_.state_bytes());
  check_operator(tree_.level(both, 2));
  std::memcpy(left, both, tree_.state_bytes());
}

void own_range::reduce_kept(const kept_values& kept, std::byte* state) const {
  const default_float_environment one_operation_is_one_operation;
  check_operator(tree_.reduce_tile(kept.values.data(), tree_.can_be_absent() ? kept.present.data() : nullptr,
                                   kept.values.size() / tree_.value_bytes(), state));
}

void own_range::push(std::vector<node>& to, node next) const {
  while (!to.empty() && to.back().height == next.height && (next.first >> next.height) % 2 == 1) {
    node parent = to.back();
    combine(parent.state, next.state);
    ++parent.height;
    next = parent;
    to.pop_back();
  }
  to.push_back(next);
}

void own_range::append(const own_range& next) {
  if (tree_.value_bytes() != next.tree_.value_bytes() || tree_.can_be_absent() != next.tree_.can_be_absent())
    throw error(errc::invalid_argument, "a state of values of " + std::to_string(next.tree_.value_bytes()) + " bytes" +
                                            (next.tree_.can_be_absent() ? " that may be absent" : "") +
                                            " cannot be appended to one of values of " + std::to_string(tree_.value_bytes()) +
                                            (tree_.can_be_absent() ? " that may be absent" : ""));
  if (end_ != next.begin_)
    throw error(errc::invalid_argument, "the state ends at element " + std::to_string(end_) + " and the other one begins at " +
                                            std::to_string(next.begin_) + ": append neighbours, in the order of their elements");
  kept_values head = head_, tail = tail_;
  std::vector<node> nodes = nodes_;
  const bool in_first_tile = end_ < parts().first_border();
  (in_first_tile ? head : tail).append(next.head_);
  const std::uint64_t border = next.parts().nodes_begin();
  if (!in_first_tile && !next.head_.values.empty() && border % tree_.tile() == 0) {
    node tile{border / tree_.tile() - 1, 0, {}};
    reduce_kept(tail, tile.state);
    push(nodes, tile);
    tail = {};
  }
  for (const node& each : next.nodes_) push(nodes, each);
  tail.append(next.tail_);
  const std::uint64_t end = next.end_;  // of this state, perhaps
  head_ = std::move(head);
  nodes_ = std::move(nodes);
  tail_ = std::move(tail);
  end_ = end;
}

void own_range::store_result(void* to) const {
  if (begin_ != 0)
    throw error(errc::invalid_argument, "a state that begins at element " + std::to_string(begin_) +
                                            " has no result: append it to that of the elements before");
  std::byte found[sizeof(node::state)];
  bool has_state = !tail_.values.empty();
  if (has_state) reduce_kept(tail_, found);
  // A node without a right sibling goes up to the level where it is one itself.
  for (std::size_t i = nodes_.size(); i > 0; --i) {
    std::byte left[sizeof(node::state)];
    std::memcpy(left, nodes_[i - 1].state, sizeof(left));
    if (has_state) combine(left, found);
    std::memcpy(found, left, sizeof(found));
    has_state = true;
  }
  const std::size_t flag = tree_.state_bytes() - tree_.value_bytes();
  if (!has_state || (flag != 0 && found[0] == std::byte{0}))
    throw error(errc::invalid_argument, "a state in which no value is there has no result with an operator of your own");
  std::memcpy(to, found + flag, tree_.value_bytes());
}

// --- as bytes: docs/order.md ------------------------------------------------------------------------------------------------------------------

namespace {

own_range_header header_of(const own_tree& of, std::uint64_t begin, std::uint64_t end) {
  return own_range_header::of(of.value_bytes(), of.can_be_absent(), begin, end);
}

}  // namespace

std::size_t own_range::bytes() const {
  std::size_t states = nodes_.size();
  states += (head_.values.size() + tail_.values.size()) / tree_.value_bytes();
  return sizeof(own_range_header) + states * tree_.state_bytes() + sizeof(std::uint64_t);
}

std::byte* own_range::put(const kept_values& kept, std::byte* to) const {
  const std::size_t bytes = tree_.value_bytes();
  if (!tree_.can_be_absent()) {
    if (!kept.values.empty()) std::memcpy(to, kept.values.data(), kept.values.size());
    return to + kept.values.size();
  }
  for (std::size_t i = 0; i < kept.present.size(); ++i, to += bytes + 1) {
    to[0] = static_cast<std::byte>(kept.present[i]);
    kept.present[i] != 0 ? std::memcpy(to + 1, &kept.values[i * bytes], bytes) : std::memset(to + 1, 0, bytes);
  }
  return to;
}

void own_range::write(std::byte* to) const {
  const own_range_header header = header_of(tree_, begin_, end_);
  std::byte* next = to;
  std::memcpy(next, &header, sizeof(header));
  next = put(head_, next + sizeof(header));
  for (const node& each : nodes_) {
    std::memcpy(next, each.state, tree_.state_bytes());
    next += tree_.state_bytes();
  }
  next = put(tail_, next);
  const std::uint64_t checksum = checksum_of(to, static_cast<std::size_t>(next - to));
  std::memcpy(next, &checksum, sizeof(checksum));
}

const std::byte* own_range::get(kept_values& to, std::uint64_t count, const std::byte* from) const {
  const std::size_t bytes = tree_.value_bytes(), flag = tree_.state_bytes() - bytes, values = static_cast<std::size_t>(count);
  to.values.resize(values * bytes);
  to.present.resize(flag == 0 ? 0 : values);
  for (std::size_t i = 0; i < values; ++i, from += bytes + flag) {
    if (flag != 0) to.present[i] = std::to_integer<unsigned char>(from[0]);
    std::memcpy(&to.values[i * bytes], from + flag, bytes);
  }
  return from;
}

void own_range::check_flags(const std::byte* states, std::uint64_t count) const {
  for (; tree_.can_be_absent() && count > 0; --count, states += tree_.state_bytes()) {
    if (states[0] > std::byte{1}) own_range_header::refuse_damaged();
    if (states[0] == std::byte{0} &&
        std::any_of(states + 1, states + tree_.state_bytes(), [](std::byte one) { return one != std::byte{0}; }))
      own_range_header::refuse_damaged();
  }
}

void own_range::read(const std::byte* from, std::size_t size) {
  const own_range_header header = own_range_header::read(from, size, header_of(tree_, 0, 0), most_elements());
  own_range made(tree_, header.begin, header.end);
  const range_parts its = made.parts();
  const std::uint64_t head = its.nodes_begin() - header.begin, tail = header.end - its.nodes_end();
  std::uint64_t states = head + tail;
  its.for_nodes([&states](std::uint64_t, int) { ++states; });
  if (size != sizeof(header) + states * tree_.state_bytes() + sizeof(std::uint64_t)) own_range_header::refuse_damaged();
  const std::byte* next = from + sizeof(header);
  check_flags(next, states);
  next = get(made.head_, head, next);
  its.for_nodes([&](std::uint64_t first, int height) {
    node each{first, height, {}};
    std::memcpy(each.state, next, tree_.state_bytes());
    next += tree_.state_bytes();
    made.nodes_.push_back(each);
  });
  static_cast<void>(get(made.tail_, tail, next));
  *this = std::move(made);
}

}  // namespace onefold::detail
