/// @file range_state.cpp  The state of a range of elements: what tree v1 makes of a part of an array, whatever comes before and behind it.
///
/// Operations of the tree are done as soon as both operands are final, and no others. So a state is a function of its elements and of where they
/// stand, however it came about:
///
///     begin              a tile's border                 a tile's border           end
///       | head, elements | nodes, complete aligned subtrees     | tail, elements   |

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/order.hpp>

#include "../backends/cpu/forms.hpp"
#include "../backends/float_environment.hpp"
#include "../backends/forms.hpp"
#include "c_api.hpp"
#include "pointer_kind.hpp"

namespace onefold::detail {

namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of a state are those of numbers in memory");

// What a state is a state of.
struct range_kind {
  element_type type;
  form what;
  bool wide;

  friend bool operator==(const range_kind&, const range_kind&) = default;
  [[nodiscard]] const cpu::form_row& row() const { return cpu::row_of(type, what, wide); }
  [[nodiscard]] bool has_two_inputs() const { return what == form::dot; }
  [[nodiscard]] std::uint64_t tile() const {
    return order::tile_rows * static_cast<std::uint64_t>(order::lanes_of_bytes(size_of(type)));
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
    return std::string(name(what)).append(" of ").append(name(type)).append(wide ? ", accumulated in a wider type" : "");
  }
};

// Elements of a tile that is not complete.
struct raw_elements {
  std::vector<std::byte> x;
  std::vector<std::byte> y;  // of dot alone

  void append(const raw_elements& more) {
    x.insert(x.end(), more.x.begin(), more.x.end());
    y.insert(y.end(), more.y.begin(), more.y.end());
  }
};

// The value of a complete subtree of 2^height tiles, of which the first has the number `first`.
struct subtree {
  std::uint64_t first;
  int height;
  alignas(8) std::byte state[cpu::most_form_bytes];

  [[nodiscard]] bool is_right_sibling_of(const subtree& left) const {
    return height == left.height && (first >> height) % 2 == 1;  // they are neighbours
  }
};

// Calls each(first, height) for the maximal aligned subtrees of these tiles.
template <class Each>
void for_subtrees(std::uint64_t first, std::uint64_t end, const Each& each) {
  while (first < end) {
    const int longest = static_cast<int>(std::bit_width(end - first)) - 1;
    const int height = first == 0 ? longest : std::min(longest, std::countr_zero(first));
    each(first, height);
    first += std::uint64_t{1} << height;
  }
}

// a becomes a (+) b.
void combine(const cpu::form_row& row, std::byte* a, const std::byte* b) {
  const default_float_environment one_operation_is_one_operation;
  alignas(16) std::byte both[2 * cpu::most_form_bytes];
  std::memcpy(both, a, row.state_bytes);
  std::memcpy(both + row.state_bytes, b, row.state_bytes);
  row.level(both, 2, row.state_bytes);
  cpu::make_canonical(row, both);
  std::memcpy(a, both, row.state_bytes);
}

// What a caller's options may ask for, as options of the reductions of the parts.
onefold_options checked_options(const onefold_options* how) {
  onefold_options known{};
  known.struct_bytes = sizeof(known);
  if (how != nullptr) known = as_known(*how, sizeof(how->struct_bytes), "options");
  known.struct_bytes = sizeof(known);
  if (known.guarantee == ONEFOLD_GUARANTEE_EXACT)
    throw error(errc::guarantee_not_met,
                "the state of a range has a fixed order: states of exact sums are those of exact_state and onefold_exact_add()");
  if (known.guarantee < 0 || known.guarantee > ONEFOLD_GUARANTEE_EXACT) refuse_number("options.guarantee", known.guarantee);
  known.guarantee = ONEFOLD_GUARANTEE_FIXED;
  if (known.variant != nullptr) {
    const std::string_view variant(known.variant, known.variant_bytes == 0 ? std::strlen(known.variant) : known.variant_bytes);
    if (variant != "fixed_order")
      throw error(errc::unsupported, "the state of a range is made by fixed_order alone: leave the variant's name away");
  }
  return known;
}

}  // namespace

}  // namespace onefold::detail

using namespace onefold::detail;

struct onefold_range {
  range_kind of;
  std::uint64_t begin;
  std::uint64_t end = begin;
  raw_elements head = {};  // of the tile that `begin` cuts
  std::vector<subtree> nodes = {};
  raw_elements tail = {};  // of the tile that `end` cuts, unless that is the head's

  // The first index behind the head, if it is complete.
  [[nodiscard]] std::uint64_t first_border() const { return (begin + of.tile() - 1) / of.tile() * of.tile(); }
  // Where the nodes begin and end. Of a range that lies within the tile which its begin cuts both are its end.
  [[nodiscard]] std::uint64_t nodes_begin() const { return std::min(end, first_border()); }
  [[nodiscard]] std::uint64_t nodes_end() const { return std::max(nodes_begin(), end / of.tile() * of.tile()); }
  [[nodiscard]] std::uint64_t raw_count() const { return nodes_begin() - begin + (end - nodes_end()); }
  template <class Each>
  void for_nodes(const Each& each) const {
    for_subtrees(nodes_begin() / of.tile(), nodes_end() / of.tile(), each);
  }

  void push(subtree next) {
    while (!nodes.empty() && next.is_right_sibling_of(nodes.back())) {
      subtree left = nodes.back();
      combine(of.row(), left.state, next.state);
      ++left.height;
      nodes.pop_back();
      next = left;
    }
    nodes.push_back(next);
  }
};

namespace onefold::detail {

namespace {

// What adds elements to a range: where, and with which options.
struct range_reader {
  const range_kind& of;
  onefold_executor where;
  onefold_options how;

  // The value of the tree over elements of which the first has the index `first`.
  void reduce(const void* x, const void* y, std::uint64_t first, std::uint64_t count, std::byte* state) const {
    std::uint64_t result[4];
    onefold_request what{};
    what.struct_bytes = sizeof(what);
    what.where = where;
    what.type = static_cast<std::int32_t>(of.type);
    what.form = static_cast<std::int32_t>(of.form_of_nodes());
    what.flags = of.wide ? ONEFOLD_WIDE : 0U;
    what.input = x;
    what.second = y;
    what.count = count;
    what.output = result;
    what.tree_value = state;
    check_status(onefold_reduce(&what, &how));
    cpu::shift_indices(of.row(), state, first);
    cpu::make_canonical(of.row(), state);
  }
};

// Of a tile whose elements have been kept.
void reduce_kept(const range_kind& of, const raw_elements& elements, std::uint64_t first, std::byte* state) {
  const range_reader reader{of, onefold_serial(), checked_options(nullptr)};
  reader.reduce(elements.x.data(), elements.y.data(), first, elements.x.size() / size_of(of.type), state);
}

raw_elements keep(const range_kind& of, const std::byte* x, const std::byte* y, std::uint64_t first, std::uint64_t end) {
  const std::size_t bytes = size_of(of.type);
  raw_elements kept;
  if (first == end) return kept;
  kept.x.assign(x + first * bytes, x + end * bytes);
  if (of.has_two_inputs()) kept.y.assign(y + first * bytes, y + end * bytes);
  return kept;
}

// The state of `count` elements, at least one, of which the first has the index `begin`.
onefold_range state_of(range_reader reader, std::uint64_t begin, const std::byte* x, const std::byte* y, std::uint64_t count) {
  const range_kind& of = reader.of;
  onefold_range made{of, begin, begin + count};
  int highest = -1;
  made.for_nodes([&](std::uint64_t, int height) { highest = std::max(highest, height); });
  onefold_report* const report = std::exchange(reader.how.report, nullptr);
  const auto reduce = [&](std::uint64_t first, std::uint64_t elements, bool is_reported, std::byte* state) {
    reader.how.report = is_reported ? report : nullptr;
    const std::size_t offset = (first - begin) * size_of(of.type);
    reader.reduce(x + offset, of.has_two_inputs() ? y + offset : nullptr, first, elements, state);
  };
  // What a reduction refuses is refused of elements too that are only kept.
  alignas(8) std::byte unused[cpu::most_form_bytes];
  reduce(begin, std::min(count, of.tile()), highest < 0, unused);

  made.head = keep(of, x, y, 0, made.nodes_begin() - begin);
  made.for_nodes([&](std::uint64_t first, int height) {
    subtree node{first, height, {}};
    reduce(first * of.tile(), of.tile() << height, height == highest, node.state);
    made.nodes.push_back(node);
  });
  made.tail = keep(of, x, y, made.nodes_end() - begin, count);
  return made;
}

void append(onefold_range& to, const onefold_range& next) {
  if (to.of != next.of)
    throw error(errc::invalid_argument, "a state of " + next.of.text() + " cannot be appended to one of " + to.of.text());
  if (to.end != next.begin)
    throw error(errc::invalid_argument, "the state ends at element " + std::to_string(to.end) + " and the other one begins at " +
                                            std::to_string(next.begin) + ": append neighbours, in the order of their elements");
  onefold_range joined = to;
  const bool in_first_tile = joined.end < joined.first_border();
  raw_elements& open = in_first_tile ? joined.head : joined.tail;
  open.append(next.head);
  joined.end = next.nodes_begin();
  if (!in_first_tile && !next.head.x.empty() && joined.end % joined.of.tile() == 0) {
    subtree tile{joined.end / joined.of.tile() - 1, 0, {}};
    reduce_kept(joined.of, joined.tail, tile.first * joined.of.tile(), tile.state);
    joined.push(tile);
    joined.tail = {};
  }
  for (const subtree& node : next.nodes) joined.push(node);
  joined.tail.append(next.tail);
  joined.end = next.end;
  to = std::move(joined);
}

void add(onefold_range& to, const onefold_executor& where, const void* x, const void* y, std::uint64_t count,
         const onefold_options* how) {
  const onefold_options wishes = checked_options(how);
  const bool is_chosen = executor_of(where).chooses_itself();
  if (where.backend == ONEFOLD_CUDA ||
      (is_chosen && count > 0 && (locate(x).kind != pointer_kind::host || (y != nullptr && locate(y).kind != pointer_kind::host))))
    throw error(errc::unsupported, "cuda() makes no states of ranges so far: use openmp() or serial() with host memory");
  if (count > to.of.most_elements() - to.end)
    throw error(errc::invalid_argument, "a count of " + std::to_string(count) + " elements behind " + std::to_string(to.end) +
                                            " cannot be: is it a negative number?");
  if (count == 0) return;
  append(to, state_of({to.of, where, wishes}, to.end, static_cast<const std::byte*>(x), static_cast<const std::byte*>(y), count));
}

void store_result(const onefold_range& of, std::int64_t ddof, void* to) {
  const cpu::form_row& row = of.of.row();
  if (of.begin != 0)
    throw error(errc::invalid_argument, "a state that begins at element " + std::to_string(of.begin) +
                                            " has no result: append it to that of the elements before");
  if (of.end == 0 && row.has_index())
    throw error(errc::invalid_argument, std::string(name(of.of.what)) + " of no elements: there is no index");
  if (of.end == 0) return static_cast<void>(store_empty(of.of.type, of.of.what, of.of.wide, to));
  alignas(16) std::byte state[cpu::most_form_bytes];
  auto left = of.nodes.rbegin();
  if (!of.tail.x.empty())
    reduce_kept(of.of, of.tail, of.nodes_end(), state);
  else
    std::memcpy(state, (left++)->state, row.state_bytes);
  // A node without a right sibling goes up to the level where it is one itself.
  for (; left != of.nodes.rend(); ++left) {
    alignas(16) std::byte root[cpu::most_form_bytes];
    std::memcpy(root, left->state, row.state_bytes);
    combine(row, root, state);
    std::memcpy(state, root, row.state_bytes);
  }
  const default_float_environment one_operation_is_one_operation;
  row.conclude(row, state, of.end, ddof, to);
}

// --- as bytes: docs/order.md ------------------------------------------------------------------------------------------------------------

constexpr char magic[8] = "onefold";
constexpr std::uint16_t version = 1;

struct range_header {
  char magic[8];
  std::uint16_t version;
  std::uint8_t type;
  std::uint8_t form;
  std::uint8_t wide;
  std::uint8_t reserved[3];
  std::uint64_t begin;
  std::uint64_t end;
};
static_assert(sizeof(range_header) == 32 && std::has_unique_object_representations_v<range_header>);

// FNV-1a.
std::uint64_t checksum_of(const std::byte* bytes, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3U;
  return hash;
}

std::size_t bytes_of(const onefold_range& of) {
  const cpu::form_row& row = of.of.row();
  std::size_t of_a_node = 0;
  for (int i = 0; i < row.field_count; ++i) of_a_node += row.fields[i].bytes;
  std::size_t nodes = 0;
  of.for_nodes([&](std::uint64_t, int) { ++nodes; });
  const std::size_t of_an_element = size_of(of.of.type) * (of.of.has_two_inputs() ? 2 : 1);
  return sizeof(range_header) + static_cast<std::size_t>(of.raw_count()) * of_an_element + nodes * of_a_node +
         sizeof(std::uint64_t);
}

void write(const onefold_range& of, std::byte* to) {
  const cpu::form_row& row = of.of.row();
  std::byte* next = to;
  const auto put = [&next](const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(next, from, bytes);
    next += bytes;
  };
  const auto put_elements = [&](const raw_elements& some) {
    put(some.x.data(), some.x.size());
    put(some.y.data(), some.y.size());
  };
  range_header header{{},
                      version,
                      static_cast<std::uint8_t>(of.of.type),
                      static_cast<std::uint8_t>(of.of.what),
                      static_cast<std::uint8_t>(of.of.wide ? 1 : 0),
                      {},
                      of.begin,
                      of.end};
  std::memcpy(header.magic, magic, sizeof(magic));
  put(&header, sizeof(header));
  put_elements(of.head);
  for (const subtree& node : of.nodes)
    for (int i = 0; i < row.field_count; ++i) put(node.state + row.fields[i].offset, row.fields[i].bytes);
  put_elements(of.tail);
  const std::uint64_t checksum = checksum_of(to, static_cast<std::size_t>(next - to));
  put(&checksum, sizeof(checksum));
}

onefold_range read(const range_kind& expected, const std::byte* from, std::size_t size) {
  range_header header;
  if (size < sizeof(header) + sizeof(std::uint64_t) || std::memcmp(from, magic, sizeof(magic)) != 0)
    throw error(errc::invalid_argument, "these bytes are not the state of a range: they do not begin like one, or are too few");
  std::memcpy(&header, from, sizeof(header));
  if (header.version != version)
    throw error(errc::invalid_argument, "the state of a range has version " + std::to_string(header.version) +
                                            ", and this library reads version " + std::to_string(version));
  const std::size_t summed = size - sizeof(std::uint64_t);
  std::uint64_t checksum;
  std::memcpy(&checksum, from + summed, sizeof(checksum));
  const auto refuse_damaged = [] {
    throw error(errc::invalid_argument, "the bytes of the state of a range are damaged, or not as many as there were");
  };
  if (checksum != checksum_of(from, summed)) refuse_damaged();
  const range_kind kind{static_cast<element_type>(header.type), static_cast<form>(header.form), header.wide == 1};
  if (kind != expected)
    throw error(errc::invalid_argument,
                "the bytes are a state of " + kind.text() + ", and one of " + expected.text() + " was to be read");
  if (header.wide > 1 || std::any_of(std::begin(header.reserved), std::end(header.reserved), [](auto byte) { return byte != 0; }) ||
      header.begin > header.end || header.end > kind.most_elements())
    refuse_damaged();
  onefold_range made{kind, header.begin, header.end};
  if (size != bytes_of(made)) refuse_damaged();

  const cpu::form_row& row = kind.row();
  const std::byte* next = from + sizeof(header);
  const auto get_elements = [&](raw_elements& to, std::uint64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(kind.type);
    to.x.assign(next, next + bytes);
    next += bytes;
    if (!kind.has_two_inputs()) return;
    to.y.assign(next, next + bytes);
    next += bytes;
  };
  get_elements(made.head, made.nodes_begin() - made.begin);
  made.for_nodes([&](std::uint64_t first, int height) {
    subtree node{first, height, {}};
    for (int i = 0; i < row.field_count; ++i) {
      std::memcpy(node.state + row.fields[i].offset, next, row.fields[i].bytes);
      next += row.fields[i].bytes;
    }
    made.nodes.push_back(node);
  });
  get_elements(made.tail, made.end - made.nodes_end());
  return made;
}

range_kind checked_kind(std::int32_t type, std::int32_t what, std::uint32_t flags) {
  if (type == ONEFOLD_C64 || type == ONEFOLD_C128)
    throw error(errc::unsupported, "complex numbers have no state of a range so far: take their parts as two arrays");
  if (type < 0 || type >= element_type_count) refuse_number("the type", type);
  if (what < 0 || what >= form_count + record_count) refuse_number("the form", what);
  if ((flags & ~ONEFOLD_WIDE) != 0) refuse_number("the flags of a state are ONEFOLD_WIDE or 0; what was given", flags);
  const range_kind kind{static_cast<element_type>(type), static_cast<form>(what), flags != 0};
  if (kind.what == form::reduce_together)
    throw error(errc::unsupported, "reduce_together has no state of a range: make one for each operator");
  if (!takes_type(kind.what, kind.type)) refuse_type(kind.what, kind.type);
  if (kind.wide && !can_be_wide(kind.type, kind.what)) refuse_wide(kind.what, kind.type);
  return kind;
}

}  // namespace

}  // namespace onefold::detail

int onefold_range_create(int32_t type, int32_t form, uint32_t flags, uint64_t begin, onefold_range** made) {
  return guarded([&] {
    if (made == nullptr) refuse_null("place of the new state");
    const range_kind kind = checked_kind(type, form, flags);
    if (begin > kind.most_elements())
      throw onefold::error(onefold::errc::invalid_argument,
                           "no element has the index " + std::to_string(begin) + ": is it a negative number?");
    *made = new onefold_range{kind, begin};
  });
}

void onefold_range_destroy(onefold_range* state) { delete state; }

int onefold_range_add(onefold_range* state, onefold_executor where, const void* x, const void* y, uint64_t count,
                      const onefold_options* how) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    add(*state, where, x, y, count, how);
  });
}

int onefold_range_append(onefold_range* state, const onefold_range* next) {
  return guarded([&] {
    if (state == nullptr || next == nullptr) refuse_null("state");
    append(*state, *next);
  });
}

int onefold_range_result(const onefold_range* state, int64_t ddof, void* result) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (result == nullptr) refuse_null("result");
    store_result(*state, ddof, result);
  });
}

uint64_t onefold_range_begin(const onefold_range* state) { return state == nullptr ? 0 : state->begin; }
uint64_t onefold_range_end(const onefold_range* state) { return state == nullptr ? 0 : state->end; }
size_t onefold_range_bytes(const onefold_range* state) { return state == nullptr ? 0 : bytes_of(*state); }

int onefold_range_write(const onefold_range* state, void* bytes, size_t size) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (bytes == nullptr) refuse_null("place of the bytes");
    if (size != bytes_of(*state))
      throw onefold::error(onefold::errc::invalid_argument, "the state takes " + std::to_string(bytes_of(*state)) +
                                                                " bytes, and room was given for " + std::to_string(size));
    write(*state, static_cast<std::byte*>(bytes));
  });
}

int onefold_range_read(onefold_range* state, const void* bytes, size_t size) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (bytes == nullptr && size != 0) refuse_null("place of the bytes");
    *state = read(state->of, static_cast<const std::byte*>(bytes), size);
  });
}
