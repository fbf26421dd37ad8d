/// @file range_bytes.cpp  States of ranges as bytes, which docs/order.md specifies.

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>

#include <onefold/error.hpp>

#include "range.hpp"

namespace onefold::detail::ranges {

namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of a state are those of numbers in memory");

constexpr char magic[8] = "onefold";
constexpr std::uint16_t version = 1;

struct range_header {
  char magic[8];
  std::uint16_t version;
  std::uint8_t type;
  std::uint8_t form;
  std::uint8_t wide;
  std::uint8_t operators;  // of reduce_together: how many follow the header, a byte each, padded to a multiple of 8
  std::uint8_t reserved[2];
  std::uint64_t begin;
  std::uint64_t end;
};
static_assert(sizeof(range_header) == 32 && std::has_unique_object_representations_v<range_header>);

// Of 8 bytes nearly always: a function is not called for those.
void copy_field(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == sizeof(std::uint64_t))
    std::memcpy(to, from, sizeof(std::uint64_t));
  else
    std::memcpy(to, from, bytes);
}

std::size_t operators_bytes(std::size_t operators) { return (operators + 7) / 8 * 8; }

[[noreturn]] void refuse_damaged() {
  throw error(errc::invalid_argument, "the bytes of the state of a range are damaged, or not as many as there were");
}

// The operators of a state of reduce_together, which begin at `from` and end within `size` bytes.
void read_operators(std::size_t count, const std::byte* from, std::size_t size, range_kind& kind) {
  const std::size_t padded = operators_bytes(count);
  if (count == 0 || count > most_results || padded > size) refuse_damaged();
  for (std::size_t k = 0; k < padded; ++k) {
    const int number = std::to_integer<int>(from[k]);
    if (k >= count && number != 0) refuse_damaged();
    if (number >= operation_count)
      throw error(errc::invalid_argument, "the bytes are a state of an operator with the number " + std::to_string(number) +
                                              ", which this library does not know");
    kind.operators[k] = static_cast<operation>(number);
  }
  kind.operator_count = static_cast<std::uint8_t>(count);
}

}  // namespace

// Of a node, as bytes.
std::size_t field_bytes(const cpu::form_row& row) {
  std::size_t bytes = 0;
  for (int i = 0; i < row.field_count; ++i) bytes += row.fields[i].bytes;
  return bytes;
}

std::byte* put_fields(const cpu::form_row& row, const std::byte* state, std::byte* to) {
  for (int i = 0; i < row.field_count; ++i) {
    copy_field(to, state + row.fields[i].offset, row.fields[i].bytes);
    to += row.fields[i].bytes;
  }
  return to;
}

const std::byte* get_fields(const cpu::form_row& row, const std::byte* from, std::byte* state) {
  for (int i = 0; i < row.field_count; ++i) {
    copy_field(state + row.fields[i].offset, from, row.fields[i].bytes);
    from += row.fields[i].bytes;
  }
  return from;
}

std::size_t bytes_of(const form_range& of) {
  std::size_t of_a_node = 0;
  for (std::size_t k = 0; k < of.of.results(); ++k) of_a_node += field_bytes(of.of.row(k));
  std::size_t nodes = 0;
  of.parts().for_nodes([&](std::uint64_t, int) { ++nodes; });
  const std::size_t of_an_element = size_of(of.of.type) * (of.of.has_two_inputs() ? 2 : 1);
  return sizeof(range_header) + operators_bytes(of.of.operator_count) + static_cast<std::size_t>(of.raw_count()) * of_an_element +
         nodes * of_a_node + sizeof(std::uint64_t);
}

void write(const form_range& of, std::byte* to) {
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
                      of.of.operator_count,
                      {},
                      of.begin,
                      of.end};
  std::memcpy(header.magic, magic, sizeof(magic));
  put(&header, sizeof(header));
  static_assert(sizeof(operation) == 1 && most_results % 8 == 0);
  put(of.of.operators.data(), operators_bytes(of.of.operator_count));  // those that are not there are zeros
  put_elements(of.head);
  const std::size_t results = of.of.results();
  for (std::size_t i = 0; i < of.nodes.size(); ++i) next = put_fields(of.of.row(i % results), of.nodes[i].state, next);
  put_elements(of.tail);
  const std::uint64_t checksum = checksum_of(to, static_cast<std::size_t>(next - to));
  put(&checksum, sizeof(checksum));
}

form_range read(const range_kind& expected, const std::byte* from, std::size_t size) {
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
  if (checksum != checksum_of(from, summed)) refuse_damaged();
  range_kind kind{static_cast<element_type>(header.type), static_cast<form>(header.form), header.wide == 1};
  if (kind.what == form::reduce_together) read_operators(header.operators, from + sizeof(header), summed - sizeof(header), kind);
  if (header.type >= element_type_count + 2 || header.form >= form_count + record_count)
    throw error(errc::invalid_argument, "the bytes are a state of form " + std::to_string(header.form) + " and type " +
                                            std::to_string(header.type) + ", which this library does not know");
  if (kind != expected)
    throw error(errc::invalid_argument,
                "the bytes are a state of " + kind.text() + ", and one of " + expected.text() + " was to be read");
  if (header.wide > 1 || header.operators != kind.operator_count ||
      std::any_of(std::begin(header.reserved), std::end(header.reserved), [](auto byte) { return byte != 0; }) ||
      header.begin > header.end || header.end > kind.most_elements())
    refuse_damaged();
  form_range made{kind, header.begin, header.end};
  if (size != bytes_of(made)) refuse_damaged();

  const std::byte* next = from + sizeof(header) + operators_bytes(kind.operator_count);
  const auto get_elements = [&](raw_elements& to, std::uint64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(kind.type);
    to.x.assign(next, next + bytes);
    next += bytes;
    if (!kind.has_two_inputs()) return;
    to.y.assign(next, next + bytes);
    next += bytes;
  };
  get_elements(made.head, made.nodes_begin() - made.begin);
  made.parts().for_nodes([&](std::uint64_t first, int height) {
    for (std::size_t k = 0; k < kind.results(); ++k) {
      subtree node{first, height, {}};
      next = get_fields(kind.row(k), next, node.state);
      made.nodes.push_back(node);
    }
  });
  get_elements(made.tail, made.end - made.nodes_end());
  return made;
}

}  // namespace onefold::detail::ranges
