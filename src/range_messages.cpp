/// @file range_messages.cpp  Messages: what ranks know of their parts, in a form that an operator of MPI's merges in place.
///
/// A message is a header, and for each part a header and room for values. Where the order is in the bits these are the values of the complete
/// subtrees of whole tiles, as the nodes of a state are; the tile in which the array ends counts as a whole one, since nothing comes behind it.
/// Where it is not there is one value, of all elements.

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/float_environment.hpp"
#include "c_api.hpp"
#include "range.hpp"

namespace onefold::detail::ranges {

namespace {

constexpr std::uint32_t message_magic = 0x316d666fU;
constexpr std::size_t message_granule = 256;
constexpr std::size_t largest_real_node = 24;  // of norm2 and mean_variance of real numbers
constexpr std::uint32_t most_values = 128;     // two for each height

// What a message says in place of an errc.
constexpr std::int16_t different_calls = -1;
constexpr std::int16_t wrong_order = -2;
constexpr std::int16_t given_up = -3;
constexpr std::int16_t too_little_room = -4;

struct message_header {
  std::uint32_t magic;
  std::uint32_t bytes;
  std::uint64_t signature;
  std::uint16_t parts;
  std::int16_t status;  // not 0: there is no result, and
  std::int32_t rank;    // this one knows why
  std::int32_t first_rank;
  std::int32_t end_rank;
};
static_assert(sizeof(message_header) == 32);

struct part_header {
  std::uint8_t type;
  std::uint8_t what;
  std::uint8_t wide;
  std::uint8_t free_of_order;
  std::uint16_t room;         // values
  std::uint16_t value_bytes;  // of each
  std::uint64_t count;        // elements
  std::uint64_t first;        // tiles first .. end - 1; free of order: 0 .. 1 where there is a value
  std::uint64_t end;

  [[nodiscard]] range_kind kind() const { return {static_cast<element_type>(type), static_cast<form>(what), wide != 0}; }
  [[nodiscard]] std::size_t bytes() const { return sizeof(part_header) + (std::size_t{room} * value_bytes + 7) / 8 * 8; }
};
static_assert(sizeof(part_header) == 32);

part_header header_of(const onefold_message_part& part) {
  const range_kind kind = checked_kind(part.type, part.form, part.flags);
  if (part.values == 0 || part.values > most_values) refuse_number("the values of a message's part", part.values, 1, most_values);
  const bool is_free = exact::is_free_of_order(kind.what, kind.type);
  return {static_cast<std::uint8_t>(kind.type),
          static_cast<std::uint8_t>(kind.what),
          static_cast<std::uint8_t>(kind.wide ? 1 : 0),
          static_cast<std::uint8_t>(is_free ? 1 : 0),
          static_cast<std::uint16_t>(is_free ? 1 : part.values),
          static_cast<std::uint16_t>(field_bytes(kind.row())),
          0,
          0,
          0};
}

std::size_t message_bytes(const onefold_message_part* parts, std::size_t count) {
  if (count != 0 && parts == nullptr) refuse_null("parts of the message");
  if (count == 0 || count > 1000) refuse_number("the number of a message's parts", static_cast<std::int64_t>(count), 1, 1000);
  // Reductions by themselves have messages of one size, whatever their form (of complex numbers but norm2 and mean_variance): where ranks ask for different
  // ones that is seen then, and no MPI is given a message that is longer than what waits for it.
  std::size_t bytes = sizeof(message_header), alone = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += header_of(parts[i]).bytes();
    alone = std::max(alone, sizeof(message_header) + sizeof(part_header) + parts[i].values * largest_real_node);
  }
  return (std::max(bytes, alone) + message_granule - 1) / message_granule * message_granule;
}

message_header& header_of(void* message) { return *static_cast<message_header*>(message); }
const message_header& header_of(const void* message) { return *static_cast<const message_header*>(message); }

[[noreturn]] void refuse_part(std::size_t which, std::size_t parts) {
  refuse_number("the number of a message's part", static_cast<std::int64_t>(which), 0, static_cast<std::int64_t>(parts) - 1);
}
// Part `which`, which must be there; its values lie behind it.
part_header& part_of(void* message, std::size_t which) {
  auto* next = static_cast<std::byte*>(message) + sizeof(message_header);
  for (; which > 0; --which) next += reinterpret_cast<part_header*>(next)->bytes();
  return *reinterpret_cast<part_header*>(next);
}
void check_is_message(const void* message) {
  if (header_of(message).magic != message_magic)
    throw error(errc::invalid_argument,
                "the memory of a message holds none: onefold_message_begin() has not written it, or has failed");
}
// The same where nobody knows whether it is there.
part_header& checked_part(void* message, std::size_t which) {
  check_is_message(message);
  if (which >= header_of(message).parts) refuse_part(which, header_of(message).parts);
  return part_of(message, which);
}
std::byte* values_of(part_header& part) { return reinterpret_cast<std::byte*>(&part + 1); }

void begin_message(void* message, std::size_t bytes, const onefold_message_part* parts, std::size_t count, std::uint64_t tag,
                   std::int32_t rank) {
  if (bytes != message_bytes(parts, count))
    refuse_number("the bytes of the message", static_cast<std::int64_t>(bytes), "what onefold_message_bytes() gives");
  if (rank < 0 || rank == std::numeric_limits<std::int32_t>::max())
    refuse_number("the rank", rank, 0, std::numeric_limits<std::int32_t>::max() - 1);
  std::memset(message, 0, bytes);
  header_of(message) = {message_magic, static_cast<std::uint32_t>(bytes), 0, static_cast<std::uint16_t>(count), 0, 0, rank,
                        rank + 1};
  auto* next = static_cast<std::byte*>(message) + sizeof(message_header);
  for (std::size_t i = 0; i < count; ++i) {
    const part_header part = header_of(parts[i]);
    std::memcpy(next, &part, sizeof(part));
    next += part.bytes();
  }
  // Of the tag and the parts, of which nothing is known yet.
  std::uint64_t hash = tag + 0x9e3779b97f4a7c15U;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t part;
    std::memcpy(&part, &part_of(message, i), sizeof(part));
    hash = (hash ^ part) * 0xbf58476d1ce4e5b9U;
    hash ^= hash >> 29;
  }
  header_of(message).signature = hash | 1;  // 0 is nobody's
}

// Complete subtrees of these tiles.
std::size_t values_between(std::uint64_t first, std::uint64_t end) {
  std::size_t count = 0;
  for_subtrees(first, end, [&](std::uint64_t, int) { ++count; });
  return count;
}

void fail(message_header& message, std::int16_t status, std::int32_t rank) {
  if (message.status != 0) return;
  message.status = status;
  message.rank = rank;
}

// Neighbouring subtrees on the stack: an operator of MPI's allocates nothing.
class few_subtrees {
 public:
  explicit few_subtrees(const cpu::form_row& row) : row_(row) {}

  // A place for the state of the next one, which push() adds.
  std::byte* next() { return nodes_[count_].state; }
  void push(std::uint64_t first, int height) {
    nodes_[count_].first = first;
    nodes_[count_].height = height;
    const default_float_environment one_operation_is_one_operation;
    for (++count_; count_ > 1 && nodes_[count_ - 1].is_right_sibling_of(nodes_[count_ - 2]); --count_) {
      subtree& parent = nodes_[count_ - 2];
      row_.level(parent.state, 2, sizeof(subtree));
      cpu::make_canonical(row_, parent.state);
      ++parent.height;
    }
  }
  void push_all(part_header& from) {
    const std::byte* values = values_of(from);
    for_subtrees(from.first, from.end, [&](std::uint64_t first, int height) {
      values = get_fields(row_, values, next());
      push(first, height);
    });
  }
  void store(part_header& to) const {
    std::byte* values = values_of(to);
    for (std::size_t i = 0; i < count_; ++i) values = put_fields(row_, nodes_[i].state, values);
  }
  [[nodiscard]] std::span<const subtree> all() const { return {nodes_, count_}; }

 private:
  const cpu::form_row& row_;
  std::size_t count_ = 0;
  subtree nodes_[most_values + 1];
};

// The values' places in states may have a gap, which no operation looks at.
void combine_values(const cpu::form_row& row, part_header& left, part_header& right, part_header& to) {
  alignas(16) std::byte a[cpu::most_node_bytes], b[cpu::most_node_bytes];
  if (left.end != 0) get_fields(row, values_of(left), a);
  if (right.end != 0) get_fields(row, values_of(right), b);
  if (left.end != 0 && right.end != 0) combine(row, a, b);
  if (left.end != 0 || right.end != 0) put_fields(row, left.end != 0 ? a : b, values_of(to));
  to.end = left.end != 0 || right.end != 0 ? 1 : 0;
}

// Adds a value of `count` elements to a part whose order matters to nobody.
void add_value(part_header& part, const cpu::form_row& row, const std::byte* value, std::uint64_t count) {
  struct {
    part_header header;
    alignas(8) std::byte value[cpu::most_node_bytes];
  } mine{part, {}};
  mine.header.end = 1;
  put_fields(row, value, mine.value);
  combine_values(row, part, mine.header, part);
  part.count += count;
}

// The tiles of elements that follow those of a part, which must have room for them. Returns where the part's begin then; nothing is changed.
std::uint64_t check_tiles(const part_header& part, const range_kind& of, std::uint64_t first, std::uint64_t count,
                          std::uint64_t total) {
  const std::uint64_t tile = of.tile(), end = first + count;
  const std::uint64_t first_tile = (first + tile - 1) / tile, end_tile = (end + tile - 1) / tile;
  if (first > total || count > total - first)
    throw error(errc::invalid_argument, "the elements " + std::to_string(first) + " to " + std::to_string(end) +
                                            " are none of all ranks' " + std::to_string(total));
  if (count > 0 && (first % tile != 0 || (end % tile != 0 && end != total)))
    throw error(errc::invalid_argument,
                "a message takes whole tiles: these are the elements " + std::to_string(first) + " to " + std::to_string(end));
  const bool is_first = part.count == 0;
  if (!is_first && count > 0 && part.end != first_tile)
    throw error(errc::invalid_argument, "a message takes neighbours: its tiles end with " + std::to_string(part.end) +
                                            ", and these begin with " + std::to_string(first_tile));
  const std::uint64_t begin = is_first ? first_tile : part.first;
  if (values_between(begin, end_tile) > part.room)
    throw error(errc::invalid_argument, "the message has room for " + std::to_string(part.room) +
                                            " values, which are too few for the tiles " + std::to_string(begin) + " to " +
                                            std::to_string(end_tile));
  return begin;
}

// Appends elements to a part. Each subtree's value goes into the message without a state between.
void append_elements(part_header& part, range_reader reader, const range_input& in, std::uint64_t first, std::uint64_t count,
                     std::uint64_t total) {
  const range_kind& of = reader.of;
  const cpu::form_row& row = of.row();
  if (part.free_of_order != 0) {
    if (count == 0) return;
    if (in.made != nullptr) {
      for (subtree& node : nodes_as_made(reader, in, 0, count)) {
        cpu::shift_indices(row, node.state, first);
        add_value(part, row, node.state, 0);
      }
      part.count += count;
      return;
    }
    alignas(16) std::byte value[cpu::most_node_bytes];
    reader.reduce(in, first, count, value);
    return add_value(part, row, value, count);
  }
  const bool is_first = part.count == 0;
  const std::uint64_t begin = check_tiles(part, of, first, count, total);
  if (!is_first && count == 0) return;
  few_subtrees nodes(row);
  if (!is_first) nodes.push_all(part);
  const auto push_all = [&nodes](const std::vector<subtree>& all) {
    for (const subtree& node : all) {
      std::memcpy(nodes.next(), node.state, sizeof(node.state));
      nodes.push(node.first, node.height);
    }
  };
  if (in.made != nullptr) {
    push_all(nodes_as_made(reader, in, first / of.tile(), count));
  } else if (const std::optional<onefold_executor> gpu = count == 0 ? std::nullopt : reader.gpu_of(in)) {
    reader.where = *gpu;
    push_all(nodes_on_a_gpu(reader, in, first, count));
  } else {
    onefold_report* const report = std::exchange(reader.how.report, nullptr);
    for_subtrees_of(of, first, count, report, [&](std::uint64_t number, int height, std::uint64_t elements, onefold_report* its) {
      const std::uint64_t at = number * of.tile();
      reader.how.report = its;
      reader.reduce(in.behind(at - first, size_of(of.type)), at, elements, nodes.next());
      nodes.push(number, height);
    });
  }
  part.count += count;
  part.first = begin;
  part.end = (first + count + of.tile() - 1) / of.tile();
  nodes.store(part);
}

// The same of the values of a function that gives several, each to a part of its own.
void append_values(std::span<part_header* const> parts, range_reader reader, const range_input& in, std::uint64_t first,
                   std::uint64_t count, std::uint64_t total) {
  struct ordered {
    part_header* part;
    std::uint64_t begin;
    few_subtrees nodes;
  };
  std::vector<std::unique_ptr<ordered>> all(parts.size());  // null where the order matters to nobody
  bool has_order = false;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    part_header& part = *parts[k];
    if (part.free_of_order != 0) continue;
    const bool is_first = part.count == 0;
    all[k].reset(new ordered{&part, check_tiles(part, reader.of, first, count, total),
                             few_subtrees(reader.kind(static_cast<int>(k)).row())});
    if (!is_first) all[k]->nodes.push_all(part);
    has_order = true;
  }
  alignas(16) std::byte states[most_results * cpu::most_node_bytes];
  const auto state = [&states](std::size_t k) { return states + k * cpu::most_node_bytes; };
  onefold_report* const report = std::exchange(reader.how.report, nullptr);
  const auto reduce = [&](std::uint64_t at, std::uint64_t elements, onefold_report* its) {
    reader.how.report = its;
    reader.reduce(in.behind(at - first, size_of(reader.of.type)), at, elements, states);
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (all[k] == nullptr) add_value(*parts[k], reader.kind(static_cast<int>(k)).row(), state(k), elements);
  };
  const auto push = [&](std::size_t k, const std::byte* state_of_k, std::uint64_t number, int height) {
    std::memcpy(all[k]->nodes.next(), state_of_k, cpu::most_node_bytes);
    all[k]->nodes.push(number, height);
  };
  if (in.made != nullptr) {
    const auto made = nodes_as_made(reader, in, has_order ? first / reader.of.tile() : 0, count);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::size_t k = i % parts.size();
      if (all[k] == nullptr)
        add_value(*parts[k], reader.kind(static_cast<int>(k)).row(), made[i].state, 0);
      else
        push(k, made[i].state, made[i].first, made[i].height);
    }
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (all[k] == nullptr) parts[k]->count += count;
  } else if (!has_order && count > 0) {
    reduce(first, count, report);
  }
  if (!has_order) return;
  if (in.made == nullptr)
    for_subtrees_of(reader.of, first, count, report,
                    [&](std::uint64_t number, int height, std::uint64_t elements, onefold_report* its) {
                      reduce(number * reader.of.tile(), elements, its);
                      for (std::size_t k = 0; k < parts.size(); ++k)
                        if (all[k] != nullptr) push(k, state(k), number, height);
                    });
  for (const auto& each : all) {
    if (each == nullptr || (each->part->count > 0 && count == 0)) continue;
    each->part->count += count;
    each->part->first = each->begin;
    each->part->end = (first + count + reader.of.tile() - 1) / reader.of.tile();
    each->nodes.store(*each->part);
  }
}

// The parts `which` .. of a message for the values of one function: of one kind, or sums, products and extrema.
void add_values(void* message, std::size_t which, std::size_t results, const onefold_executor& where, const range_input& in,
                std::uint64_t first, std::uint64_t count, std::uint64_t total, const onefold_options* how) {
  check_is_message(message);
  const std::size_t there = header_of(message).parts;
  if (results < 1 || results > most_results)
    refuse_number("the number of results of a function", static_cast<std::int64_t>(results), 1, most_results);
  if (which >= there || results > there - which) refuse_part(which + results - 1, there);
  part_header* parts[most_results];
  operation operators[most_results];
  bool is_one_kind = true, are_operators = true;
  for (std::size_t k = 0; k < results; ++k) {
    parts[k] = &part_of(message, which + k);
    const range_kind kind = parts[k]->kind();
    is_one_kind = is_one_kind && kind == parts[0]->kind();
    if (in.made != nullptr) check_can_be_made(kind);
    are_operators =
        are_operators && kind.type == parts[0]->kind().type && !kind.wide && static_cast<int>(kind.what) < operation_count;
    if (are_operators) operators[k] = static_cast<operation>(kind.what);
  }
  if (!is_one_kind && !are_operators)
    throw error(errc::invalid_argument,
                "the values of one function go to parts of one form and type, or of sums, products, minima and maxima");
  if (is_one_kind && results > 1 && is_record(parts[0]->kind().what))
    throw error(errc::invalid_argument, "forms with several results take functions of one value");
  const onefold_options wishes = checked_options(how);
  range_reader reader{parts[0]->kind(), where, wishes};
  check_end(reader.of, first, count);
  if (results == 1) return append_elements(*parts[0], reader, in, first, count, total);
  reader.results = static_cast<int>(results);
  if (!is_one_kind) reader.operators = operators;
  append_values({parts, results}, reader, in, first, count, total);
}

// Of values of trees that code of the caller's makes.
void add_own(void* message, std::size_t which, const onefold_executor& where, const onefold_own_code* own, std::uint64_t from,
             std::uint64_t first, std::uint64_t count, std::uint64_t total, const onefold_options* how) {
  part_header& part = checked_part(message, which);
  if (own == nullptr) refuse_null("own code");
  if (own->groups == nullptr || own->level == nullptr) refuse_null("own code's groups or level");
  const range_kind kind = part.kind();
  if (part.free_of_order != 0)
    throw error(errc::unsupported, kind.text() + " has no trees in a message: its elements come in any order");
  const bool has_lanes = own->value_bytes >= 1 && own->value_bytes <= most_value_bytes &&
                         order::tile_rows * static_cast<std::uint64_t>(order::lanes_of_bytes(own->value_bytes)) == kind.tile();
  if (!has_lanes) refuse_number("value_bytes of the own code", own->value_bytes, "what has rows as long as those of the part");
  if (own->state_bytes != kind.row().state_bytes)
    refuse_number("state_bytes of the own code", own->state_bytes, std::to_string(kind.row().state_bytes));
  const onefold_options wishes = checked_options(how);
  check_end(kind, first, count);
  append_elements(part, {kind, where, wishes}, {nullptr, nullptr, nullptr, from, own}, first, count, total);
}

// `right` becomes the part of both.
void merge_parts(part_header& left, part_header& right) {
  const cpu::form_row& row = right.kind().row();
  right.count += left.count;
  if (right.free_of_order != 0) return combine_values(row, left, right, right);
  const default_float_environment one_operation_is_one_operation;
  few_subtrees nodes(row);
  nodes.push_all(left);
  nodes.push_all(right);
  right.first = left.first;
  nodes.store(right);
}

void merge(const void* left_message, void* right_message) {
  const message_header& left = header_of(left_message);
  message_header& right = header_of(right_message);
  if (right.magic != message_magic) return;  // no message, and no room to say so
  const std::int32_t begin_of_right = right.first_rank;
  const bool are_neighbours = left.magic == message_magic && left.end_rank == right.first_rank;
  if (left.magic == message_magic && left.status != 0) {  // of several ranks that know something the first is named
    right.status = left.status;
    right.rank = left.rank;
  } else if (left.magic != message_magic || left.bytes != right.bytes || left.signature != right.signature) {
    fail(right, different_calls, begin_of_right);
  } else if (!are_neighbours) {
    fail(right, wrong_order, begin_of_right);
  }
  if (left.magic == message_magic) {
    right.first_rank = std::min(left.first_rank, right.first_rank);
    right.end_rank = std::max(left.end_rank, right.end_rank);
  }
  if (right.status != 0) return;
  auto* left_next = static_cast<std::byte*>(const_cast<void*>(left_message)) + sizeof(message_header);
  auto* right_next = static_cast<std::byte*>(right_message) + sizeof(message_header);
  for (int i = 0; i < right.parts; ++i) {
    auto& a = *reinterpret_cast<part_header*>(left_next);
    auto& b = *reinterpret_cast<part_header*>(right_next);
    left_next += a.bytes();
    right_next += b.bytes();
    if (b.free_of_order == 0 && a.end != b.first) return fail(right, wrong_order, begin_of_right);
    if (b.free_of_order == 0 && values_between(a.first, b.end) > b.room) return fail(right, too_little_room, begin_of_right);
    merge_parts(a, b);
  }
}

// Says why a message has no result: its status, or, where it has none, because its ranks are not all ranks.
[[noreturn]] void refuse_message(const message_header& header) {
  const std::string rank = "rank " + std::to_string(header.rank);
  if (header.status == wrong_order || header.status == 0)
    throw error(errc::communication_failed,
                "the messages of the ranks were combined in another order than that of the ranks, which "
                "operators that do not commute need: found at " +
                    rank);
  if (header.status == different_calls)
    throw error(errc::communication_failed, "the ranks do not ask for the same reductions: the forms, types or options of " + rank +
                                                " are not those of the ranks before it");
  if (header.status == too_little_room)
    throw error(errc::communication_failed,
                "a part of the message has too little room for the subtrees that ranges of ranks make, up to " + rank +
                    "'s: twice the binary digits of the number of tiles suffice, and 128 always (onefold_message_part)");
  if (header.status == given_up) throw error(errc::communication_failed, rank + " has given the reduction up");
  throw error(errc::communication_failed, rank + " could not take part in the reduction (" +
                                              std::string(name(static_cast<errc>(header.status))) +
                                              "): what is thrown there says why");
}

// `present`: of a mean, how many of the elements do not stand for absent values.
void store_result(const void* message, std::size_t which, std::int32_t ranks, std::uint64_t total, std::int64_t ddof, void* to,
                  std::optional<std::uint64_t> present = std::nullopt) {
  const message_header& header = header_of(message);
  if (header.magic != message_magic) throw error(errc::communication_failed, "these bytes are not the message of a reduction");
  if (which >= header.parts) refuse_part(which, header.parts);
  if (header.status != 0 || header.first_rank != 0 || header.end_rank != ranks) refuse_message(header);
  part_header& part = part_of(const_cast<void*>(message), which);
  const range_kind kind = part.kind();
  const cpu::form_row& row = kind.row();
  if (part.count != total && !(part.free_of_order != 0 && total == std::numeric_limits<std::uint64_t>::max()))
    throw error(errc::communication_failed,
                "the ranks have " + std::to_string(part.count) + " elements together, and not " + std::to_string(total));
  if (part.free_of_order == 0 && part.count > 0 && part.first != 0)
    throw error(errc::communication_failed,
                "the ranks' elements begin with tile " + std::to_string(part.first) + ", and not with the first");
  if (present && kind.what != form::mean)
    throw error(errc::unsupported, kind.text() + " is not divided by the number of values that are there: a mean is");
  if (present && *present > part.count)
    refuse_number("the number of values that are there", static_cast<std::int64_t>(*present), "no more than there are elements");
  const std::uint64_t count = present.value_or(part.count);
  if (count == 0) return store_result_of_none(kind, to);
  alignas(16) std::byte state[cpu::most_node_bytes];
  const std::byte* next = values_of(part);
  if (part.free_of_order != 0) {
    get_fields(row, next, state);
  } else {
    few_subtrees nodes(row);
    nodes.push_all(part);
    fold_from_right(row, nodes.all(), false, state);
  }
  const default_float_environment one_operation_is_one_operation;
  row.conclude(row, state, count, ddof, to);
}

}  // namespace

}  // namespace onefold::detail::ranges

using namespace onefold::detail;
using namespace onefold::detail::ranges;

size_t onefold_message_bytes(const onefold_message_part* parts, size_t count) {
  size_t bytes = 0;
  return guarded([&] { bytes = message_bytes(parts, count); }) == ONEFOLD_OK ? bytes : 0;
}

int onefold_message_begin(void* message, size_t bytes, const onefold_message_part* parts, size_t count, uint64_t tag,
                          int32_t rank) {
  return guarded([&] {
    if (message == nullptr) refuse_null("place of the message");
    if (reinterpret_cast<std::uintptr_t>(message) % alignof(std::uint64_t) != 0)
      throw onefold::error(onefold::errc::misaligned_pointer, "the place of the message is not aligned to 8 bytes");
    begin_message(message, bytes, parts, count, tag, rank);
  });
}

uint64_t onefold_message_signature(const void* message) { return message == nullptr ? 0 : header_of(message).signature; }

int onefold_message_add(void* message, size_t which, onefold_executor where, const void* x, const void* y, uint64_t first,
                        uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (message == nullptr) refuse_null("message");
    part_header& part = checked_part(message, which);
    const range_kind kind = part.kind();
    const onefold_options wishes = checked_options(how);
    check_end(kind, first, count);
    append_elements(part, {kind, where, wishes}, arrays_at(x, kind.has_two_inputs() ? y : nullptr), first, count, total);
  });
}

int onefold_message_add_products(void* message, size_t which, onefold_executor where, const onefold_products* of, uint64_t from,
                                 uint64_t first, uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (message == nullptr) refuse_null("message");
    part_header& part = checked_part(message, which);
    const range_kind kind = part.kind();
    const types_of_dot types = checked_types(of);
    check_takes_products(kind, types);
    const onefold_options wishes = checked_options(how);
    check_end(kind, first, count);
    append_elements(part, {kind, where, wishes}, products_of(*of, types, from), first, count, total);
  });
}

int onefold_message_add_values(void* message, size_t which, size_t results, onefold_executor where,
                               const onefold_value_source* source, uint64_t from, uint64_t first, uint64_t count, uint64_t total,
                               const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (message == nullptr) refuse_null("message");
    add_values(message, which, results, where, values_of(source, from), first, count, total, how);
  });
}

int onefold_message_add_made(void* message, size_t which, size_t results, const onefold_made_values* values, uint64_t from,
                             uint64_t first, uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (message == nullptr) refuse_null("message");
    const onefold_value_source source = source_of(values);
    range_input in = values_of(&source, from);
    in.made = values;
    add_values(message, which, results, onefold_serial(), in, first, count, total, how);
  });
}

int onefold_message_add_own(void* message, size_t which, onefold_executor where, const onefold_own_code* own, uint64_t from,
                            uint64_t first, uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (message == nullptr) refuse_null("message");
    add_own(message, which, where, own, from, first, count, total, how);
  });
}

void onefold_message_fail(void* message, int32_t status, int32_t rank) {
  if (message == nullptr || header_of(message).magic != message_magic) return;
  const bool is_known = status > ONEFOLD_OK && status < ONEFOLD_COMMUNICATION_FAILED;
  fail(header_of(message), is_known ? static_cast<std::int16_t>(status) : status == ONEFOLD_OK ? given_up : different_calls, rank);
}

void onefold_message_merge(const void* left, void* right) {
  if (left != nullptr && right != nullptr) merge(left, right);
}

int onefold_message_result(const void* message, size_t which, int32_t ranks, uint64_t total, int64_t ddof, void* result) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    if (result == nullptr) refuse_null("result");
    store_result(message, which, ranks, total, ddof, result);
  });
}

int onefold_message_mean_of_present(const void* message, size_t which, int32_t ranks, uint64_t total, uint64_t present,
                                    void* result) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    if (result == nullptr) refuse_null("result");
    store_result(message, which, ranks, total, 0, result, present);
  });
}
