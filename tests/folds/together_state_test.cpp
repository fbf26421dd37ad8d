/// @file together_state_test.cpp  States of ranges of several operators: bytes as the document says them, made of those that each operator has by itself;
/// results as reduce_together has them.

#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#ifdef ONEFOLD_HAVE_CUDA
#include "../support/cuda.hpp"
#endif
#include "range_support.hpp"

namespace onefold_test {
namespace {

namespace op = onefold::op;
using onefold::together_range_state;
using operators = std::vector<std::uint8_t>;

constexpr std::uint8_t s = ONEFOLD_OP_SUM, p = ONEFOLD_OP_PROD, l = ONEFOLD_OP_MIN, h = ONEFOLD_OP_MAX;

// One, several, the same ones twice; as many as are padded by 7, 0 and 7 bytes; the most.
const std::vector<operators>& sets() {
  static const std::vector<operators> all{{s},
                                          {l},
                                          {s, l},
                                          {h, p, s, l},
                                          {l, l, p},
                                          {s, p, l, h, s, p, l, h},
                                          {h, l, s, s, p, h, l, s, p},
                                          {h, l, p, s, s, p, l, h, h, h, s, s, l, p, p, s}};
  return all;
}

struct several {
  element_type type;
  operators ops;

  [[nodiscard]] kind alone(std::size_t k) const { return {type, onefold::form_of(static_cast<onefold::operation>(ops[k]))}; }
  // Of what an array is made, and tiles are.
  [[nodiscard]] kind first() const { return alone(0); }
  [[nodiscard]] uint64_t tile() const { return first().tile(); }
  [[nodiscard]] std::size_t result_bytes() const {
    return onefold::result_bytes(type, form::reduce_together, false, static_cast<int>(ops.size()));
  }
};

std::string text(const several& of) {
  std::string all(onefold::name(of.type));
  for (const std::uint8_t one : of.ops) all.append(" ").append(onefold::name(static_cast<onefold::operation>(one)));
  return all;
}

// Every type, with every set of operators.
std::vector<several> every_several() {
  std::vector<several> all;
  for (int t = 0; t < onefold::element_type_count; ++t)
    for (const operators& ops : sets()) all.push_back({static_cast<element_type>(t), ops});
  return all;
}

state empty_state(const several& of, uint64_t begin) {
  onefold_range* made = nullptr;
  check(onefold_range_create_together(static_cast<int32_t>(of.type), of.ops.data(), of.ops.size(), begin, &made));
  return state(made);
}

state state_from(const several& of, const bytes& from) {
  state made = empty_state(of, 77);
  check(onefold_range_read(made.get(), from.data(), from.size()));
  return made;
}

bytes result_of(const several& of, const state& from) {
  alignas(8) std::byte memory[16 * 8];
  check(onefold_range_result(from.get(), 0, memory));
  return {memory, memory + of.result_bytes()};
}

bytes whole(const several& of, const arrays& in, uint64_t count) {
  alignas(64) std::byte memory[16 * 8];
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = onefold_serial();
  what.type = static_cast<int32_t>(of.type);
  what.form = ONEFOLD_REDUCE_TOGETHER;
  what.operators = of.ops.data();
  what.results = static_cast<int32_t>(of.ops.size());
  what.input = in.x();
  what.count = count;
  what.output = memory;
  check(onefold_reduce(&what, nullptr));
  return {memory, memory + of.result_bytes()};
}

// The state of the elements first .. end - 1 of an array whose first element has the index `origin`.
state state_of(const several& of, const arrays& in, uint64_t origin, uint64_t first, uint64_t end,
               const onefold_executor& where = onefold_serial()) {
  state made = empty_state(of, origin + first);
  check(onefold_range_add(made.get(), where, in.x(first), nullptr, end - first, nullptr));
  return made;
}

// What docs/order.md says, from the bytes that each operator's own state has.
bytes bytes_of_the_document(const several& of, const arrays& in, uint64_t origin, uint64_t first, uint64_t end) {
  const detail::range_parts parts{of.tile(), origin + first, origin + end};
  const std::size_t element = of.first().element_bytes();
  const std::size_t head = (parts.nodes_begin() - parts.begin) * element, tail = (parts.end - parts.nodes_end()) * element;
  std::size_t nodes = 0;
  parts.for_nodes([&](uint64_t, int) { ++nodes; });
  std::vector<bytes> alone;
  for (std::size_t k = 0; k < of.ops.size(); ++k) alone.push_back(bytes_of(state_of(of.alone(k), in, origin, first, end)));

  byte_writer all;
  all.header(static_cast<int>(of.type), 26, 0, parts.begin, parts.end).at(13, static_cast<int>(of.ops.size()));
  for (const std::uint8_t one : of.ops) all.put(one);
  for (std::size_t k = of.ops.size(); k % 8 != 0; ++k) all.put(std::uint8_t{0});
  all.put(alone[0].data() + 32, head);
  for (std::size_t i = 0; i < nodes; ++i)
    for (const bytes& its : alone) {
      const std::size_t node = (its.size() - 32 - head - tail - 8) / nodes;
      all.put(its.data() + 32 + head + i * node, node);
    }
  all.put(alone[0].data() + alone[0].size() - 8 - tail, tail);
  return all.summed();
}

// Cut, read by any executors, put together in any order. `after` sees every state that comes about.
template <class After>
state put_together(const several& of, const arrays& in, uint64_t origin, uint64_t n, random_numbers& random, const After& after) {
  const auto cuts = cuts_of(n, of.tile(), random);
  std::vector<state> parts;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    parts.push_back(state_of(of, in, origin, cuts[i - 1], cuts[i], any_executor(random)));
    after(parts.back());
  }
  while (parts.size() > 1) {
    const std::size_t left = random.below(parts.size() - 1);
    check(onefold_range_append(parts[left].get(), parts[left + 1].get()));
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(left) + 1);
    after(parts[left]);
  }
  return std::move(parts[0]);
}

TEST(together_states, put_together_in_any_order_have_the_bits_of_the_whole_in_every_type) {
  random_numbers random(current_seed());
  int kinds = 0;
  for (const several& of : every_several()) {
    SCOPED_TRACE(text(of));
    for (const values_of values : {values_of::any_bits, values_of::few, values_of::infinities, values_of::rounding}) {
      const uint64_t most = 9 * of.tile();
      const arrays in(of.first(), most, random(), values);
      for (int round = 0; round < 5; ++round) {
        const uint64_t n = random.below(4) == 0 ? 1 + random.below(of.tile()) : 1 + random.below(most);
        const state all = put_together(of, in, 0, n, random, [](const state&) {});
        ASSERT_EQ(onefold_range_begin(all.get()), 0U);
        ASSERT_EQ(onefold_range_end(all.get()), n);
        ASSERT_EQ(result_of(of, all), whole(of, in, n)) << n << " elements";
        ASSERT_EQ(bytes_of(all), bytes_of(state_of(of, in, 0, 0, n))) << n << " elements";
      }
    }
    ++kinds;
  }
  EXPECT_EQ(kinds, onefold::element_type_count * 8);
}

TEST(together_states, of_equal_ranges_have_the_bytes_of_the_document_wherever_they_begin) {
  random_numbers random(current_seed());
  for (const several& of : every_several()) {
    SCOPED_TRACE(text(of));
    for (int round = 0; round < 4; ++round) {
      const arrays in(of.first(), 7 * of.tile(), random(), static_cast<values_of>(round % 4));
      const uint64_t origin = random.below(uint64_t{1} << (round < 2 ? 14 : 40));
      const uint64_t n = random.below(7 * of.tile());
      const state all = put_together(of, in, origin, n, random, [&](state& made) {
        const bytes as_bytes = bytes_of(made);
        const uint64_t first = onefold_range_begin(made.get()) - origin, end = onefold_range_end(made.get()) - origin;
        ASSERT_EQ(as_bytes, bytes_of_the_document(of, in, origin, first, end));
        made = state_from(of, as_bytes);  // and goes on from there
        ASSERT_EQ(bytes_of(made), as_bytes);
      });
      ASSERT_EQ(onefold_range_end(all.get()), origin + n);
    }
  }
}

TEST(together_states, of_many_groups_of_tiles_have_the_bits_of_the_whole_on_all_threads) {
  random_numbers random(current_seed());
  for (const several& of : every_several()) {
    SCOPED_TRACE(text(of));
    const uint64_t n = 35 * of.tile() + random.below(20 * of.tile());
    const arrays in(of.first(), n, random(), values_of::rounding);
    const state all = put_together(of, in, 0, n, random, [](const state&) {});
    ASSERT_EQ(result_of(of, all), whole(of, in, n));
    ASSERT_EQ(bytes_of(all), bytes_of(state_of(of, in, 0, 0, n)));
    ASSERT_EQ(bytes_of(all), bytes_of_the_document(of, in, 0, 0, n));
  }
}

TEST(together_states, grow_element_by_element) {
  for (const several& of : {several{element_type::f64, {s, l, h}}, several{element_type::i64, {p, s}}}) {
    const uint64_t n = 3 * of.tile() + 5;
    const arrays in(of.first(), n, current_seed(), values_of::rounding);
    const state growing = empty_state(of, 0);
    for (uint64_t i = 0; i < n; ++i) {
      check(onefold_range_add(growing.get(), onefold_serial(), in.x(i), nullptr, 1, nullptr));
      ASSERT_EQ(result_of(of, growing), whole(of, in, i + 1)) << i;
    }
    ASSERT_EQ(bytes_of(growing), bytes_of(state_of(of, in, 0, 0, n)));
  }
}

TEST(together_states, of_no_elements_have_the_results_for_none_and_change_no_other) {
  for (const several& of : every_several()) {
    SCOPED_TRACE(text(of));
    const arrays in(of.first(), 2 * of.tile(), current_seed(), values_of::any_bits);
    const state none = empty_state(of, 0);
    check(onefold_range_add(none.get(), onefold_serial(), nullptr, nullptr, 0, nullptr));
    EXPECT_EQ(result_of(of, none), whole(of, in, 0));
    EXPECT_EQ(bytes_of(none), bytes_of_the_document(of, in, 0, 0, 0));
    for (const uint64_t n : {uint64_t{1}, of.tile() - 1, of.tile(), of.tile() + 1}) {
      state made = state_of(of, in, 0, 0, n);
      const bytes before = bytes_of(made);
      check(onefold_range_append(made.get(), empty_state(of, n).get()));
      EXPECT_EQ(bytes_of(made), before);
      const state empty = empty_state(of, 0);
      check(onefold_range_append(empty.get(), made.get()));
      EXPECT_EQ(bytes_of(empty), before);
      EXPECT_EQ(onefold_range_append(none.get(), none.get()), ONEFOLD_OK) << "to itself";
    }
  }
}

TEST(together_states, of_parts_are_those_of_the_array) {
  random_numbers random(current_seed());
  for (const several& of : every_several()) {
    const uint64_t n = 1 + random.below(9 * of.tile());
    const arrays in(of.first(), n, random(), values_of::rounding);
    const auto cuts = cuts_of(n, of.tile(), random);
    std::vector<onefold_range_part> parts;
    for (std::size_t i = 1; i < cuts.size(); ++i)
      parts.push_back({any_executor(random), in.x(cuts[i - 1]), nullptr, cuts[i] - cuts[i - 1]});
    const state all = empty_state(of, 0);
    check(onefold_range_add_parts(all.get(), parts.data(), parts.size(), nullptr));
    ASSERT_EQ(bytes_of(all), bytes_of(state_of(of, in, 0, 0, n))) << text(of);
    parts.push_back({onefold_serial(), nullptr, nullptr, 3});
    EXPECT_TRUE(refuses(errc::null_pointer, "input",
                        [&] { check(onefold_range_add_parts(all.get(), parts.data(), parts.size(), nullptr)); }));
    ASSERT_EQ(onefold_range_end(all.get()), n) << "none of them was added";
  }
}

// An array as a function that counts how often it is asked for each index.
struct counted_values {
  const std::byte* x;
  std::size_t element_bytes;
  std::vector<std::atomic<int>> asked;

  static int fill(void* context, uint64_t first, uint64_t count, void* const* values) {
    auto& own = *static_cast<counted_values*>(context);
    for (uint64_t i = first; i < first + count; ++i) ++own.asked.at(i);
    std::memcpy(values[0], own.x + first * own.element_bytes, count * own.element_bytes);
    return 0;
  }
};

TEST(together_states, of_functions_have_the_bytes_of_arrays_and_ask_for_each_index_once) {
  random_numbers random(current_seed());
  int kinds = 0;
  for (const several& of : every_several()) {
    if (is_small(of.type)) continue;
    SCOPED_TRACE(text(of));
    for (int round = 0; round < 3; ++round) {
      const uint64_t n = round == 0 ? 40 * of.tile() + 17 : 1 + random.below(7 * of.tile());
      const arrays in(of.first(), n, random(), static_cast<values_of>(round + 1));
      const uint64_t origin = round == 1 ? 12'345 : 0;
      const auto cuts = cuts_of(n, of.tile(), random);
      const state all = empty_state(of, origin);
      for (std::size_t i = 1; i < cuts.size(); ++i) {
        const uint64_t first = cuts[i - 1], count = cuts[i] - first;
        counted_values values{in.x(first), of.first().element_bytes(), std::vector<std::atomic<int>>(count)};
        const onefold_value_source source{&values, counted_values::fill};
        check(onefold_range_add_values(all.get(), any_executor(random), &source, count, nullptr));
        ASSERT_TRUE(std::ranges::all_of(values.asked, [](const auto& times) { return times.load() == 1; }));
      }
      ASSERT_EQ(bytes_of(all), bytes_of(state_of(of, in, origin, 0, n))) << n << " elements";
    }
    ++kinds;
  }
  EXPECT_EQ(kinds, onefold::full_type_count * 8);
}

// --- bytes --------------------------------------------------------------------------------------------------------------------------------

using two = together_range_state<float, op::sum, op::max>;

TEST(the_bytes_of_a_state, of_several_operators_are_those_of_the_document) {
  // Tiles of 1024 elements: two of the head, a node over two tiles, one of the tail.
  std::vector<float> x(2 + 2048 + 1, 0.5F);
  x[0] = -0.0F;
  x[7] = 9.0F;
  two both(2046);
  both.add(onefold::serial(), x);
  byte_writer expected;
  expected.header(0, 26, 0, 2046, 4097).at(13, 2);
  expected.put(std::uint8_t{0}).put(std::uint8_t{3}).put(std::uint16_t{0}).put(std::uint32_t{0});
  expected.put(-0.0F).put(0.5F).put(2047 * 0.5F + 9.0F).put(9.0F).put(0.5F);
  EXPECT_EQ(both.bytes(), expected.summed());

  // Of small elements a sum's type and an extremum's, without what lies between them in memory.
  together_range_state<std::int8_t, op::min, op::sum, op::max> small(4096);
  std::vector<std::int8_t> y(4096, std::int8_t{-1});
  y[4095] = 5;
  small.add(onefold::serial(), y);
  expected = byte_writer().header(6, 26, 0, 4096, 8192).at(13, 3);
  expected.put(std::uint8_t{2}).put(std::uint8_t{0}).put(std::uint8_t{3}).put(std::uint8_t{0}).put(std::uint32_t{0});
  expected.put(std::int32_t{-1}).put(std::int64_t{-4095 + 5}).put(std::int32_t{5});
  EXPECT_EQ(small.bytes(), expected.summed());

  // A NaN is the canonical one.
  std::vector<double> z(512, 3.0);
  z[5] = std::bit_cast<double>(uint64_t{0xfff8000000000001});
  together_range_state<double, op::prod, op::min> nan(512);
  nan.add(onefold::serial(), z);
  expected = byte_writer().header(1, 26, 0, 512, 1024).at(13, 2);
  expected.put(std::uint8_t{1}).put(std::uint8_t{2}).put(std::uint16_t{0}).put(std::uint32_t{0});
  expected.put(uint64_t{0x7ff8000000000000}).put(uint64_t{0x7ff8000000000000});
  EXPECT_EQ(nan.bytes(), expected.summed());
}

TEST(together_states, have_the_same_bytes_on_every_machine) {
  uint64_t hash = 0;
  for (const several& of : every_several())
    for (const values_of values : {values_of::any_bits, values_of::few, values_of::infinities, values_of::rounding}) {
      const arrays in(of.first(), 8 * of.tile(), 20261125, values);
      const bytes all = bytes_of(state_of(of, in, of.tile() - 3, 0, 8 * of.tile()));
      uint64_t checksum = 0;
      std::memcpy(&checksum, all.data() + all.size() - sizeof(checksum), sizeof(checksum));
      hash = hash * 0x9e3779b97f4a7c15U + checksum;
    }
  EXPECT_EQ(hash, 14937069854887455678U);
}

TEST(the_bytes_of_a_state, of_several_operators_are_refused_where_one_is_changed_or_lacking_or_too_many) {
  for (const several& of : {several{element_type::f32, {s, l, h}}, several{element_type::i8, sets().back()}}) {
    const arrays in(of.first(), 2 * of.tile(), current_seed(), values_of::few);
    const bytes good = bytes_of(state_of(of, in, 0, of.tile() - 3, 2 * of.tile()));
    const state kept = state_of(of, in, 0, 0, 100);
    expect_reads_nothing_else(kept, good);
  }
}

// Every byte of the header and of the operators in turn, with every value and a checksum that is right: what is taken has those bytes.
TEST(the_bytes_of_a_state, of_several_operators_are_taken_as_what_they_are_or_refused) {
  const several of{element_type::f32, {s, l, h}};
  const arrays in(of.first(), of.tile(), current_seed(), values_of::few);
  const bytes good = bytes_of(state_of(of, in, 0, 3, 5));
  const state kept = empty_state(of, 0);
  int taken = 0;
  for (std::size_t i = 0; i < 40; ++i)
    for (int value = 0; value < 256; ++value) {
      const bytes bad = byte_writer().put(good.data(), good.size() - 8).at(i, value).summed();
      if (onefold_range_read(kept.get(), bad.data(), bad.size()) != ONEFOLD_OK) continue;
      ASSERT_EQ(bytes_of(kept), bad);
      ASSERT_TRUE(bad == good || i == 16 || i == 24) << "byte " << i << " is " << value;
      ++taken;
    }
  EXPECT_GE(taken, 40);
}

// With a checksum that is right.
TEST(the_bytes_of_a_state, of_several_operators_are_refused_where_they_mean_nothing) {
  const auto expect_refused = [](std::string_view words, const byte_writer& bad) {
    EXPECT_TRUE(refuses(errc::invalid_argument, words, [&] { static_cast<void>(two::from_bytes(bad.summed())); })) << words;
  };
  const auto header = [](int count) { return byte_writer().header(0, 26, 0, 3, 4).at(13, count); };
  const auto ops = [&](std::initializer_list<int> all, int count) {
    byte_writer made = header(count);
    for (const int one : all) made.put(static_cast<std::uint8_t>(one));
    return made;
  };
  const auto sum_and_max = [&] { return ops({0, 3, 0, 0, 0, 0, 0, 0}, 2); };
  EXPECT_EQ(two::from_bytes(sum_and_max().put(1.0F).summed()).end(), 4U);
  expect_refused("damaged", ops({0, 3, 0, 0, 0, 0, 0, 0}, 0).put(1.0F));
  expect_refused("damaged", ops({}, 0).put(1.0F));
  expect_refused("damaged", ops({0, 3, 0, 0, 0, 0, 0, 0}, 17).put(1.0F));
  expect_refused("damaged", ops({0, 3, 0, 0, 0, 0, 0, 0}, 255).put(1.0F));
  expect_refused("damaged", ops({0, 3, 0, 0, 0, 0, 0, 0}, 16).put(1.0F));
  expect_refused("reduce_together (sum) of f32, and one of reduce_together (sum, max) of f32",
                 ops({0, 0, 0, 0, 0, 0, 0, 0}, 1).put(1.0F));
  expect_refused("reduce_together (sum, max, sum) of f32, and", ops({0, 3, 0, 0, 0, 0, 0, 0}, 3).put(1.0F));
  expect_refused("reduce_together (max, sum) of f32, and", ops({3, 0, 0, 0, 0, 0, 0, 0}, 2).put(1.0F));
  expect_refused("an operator with the number 4", ops({0, 4, 0, 0, 0, 0, 0, 0}, 2).put(1.0F));
  expect_refused("an operator with the number 255", ops({255, 3, 0, 0, 0, 0, 0, 0}, 2).put(1.0F));
  for (int i = 34; i < 40; ++i) expect_refused("damaged", sum_and_max().at(static_cast<std::size_t>(i), 1).put(1.0F));
  expect_refused("wider type", sum_and_max().at(12, 1).put(1.0F));
  expect_refused("damaged", sum_and_max().at(12, 2).put(1.0F));
  for (const std::size_t i : {14U, 15U}) expect_refused("damaged", sum_and_max().at(i, 1).put(1.0F));
  expect_refused("damaged", sum_and_max());
  expect_refused("damaged", sum_and_max().put(1.0));
  expect_refused("damaged", sum_and_max().at(16, 5).put(1.0F));
  expect_refused("damaged", sum_and_max().at(31, 255).put(1.0F));
  expect_refused("of f64, and", sum_and_max().at(10, 1).put(1.0F));
  expect_refused("type 200, which this library does not know", sum_and_max().at(10, 200).put(1.0F));
  expect_refused("a state of sum of f32, and", sum_and_max().at(11, 0).put(1.0F));
  expect_refused("version 2", sum_and_max().at(8, 2).put(1.0F));

  // Whoever reads a state of one operator takes none of several, nor a number of operators.
  const auto refused_as_sum = [](std::string_view words, const byte_writer& bad) {
    EXPECT_TRUE(refuses(errc::invalid_argument, words,
                        [&] { static_cast<void>(range_state<form::sum, float>::from_bytes(bad.summed())); }));
  };
  refused_as_sum("a state of reduce_together (sum, max) of f32, and one of sum of f32", sum_and_max().put(1.0F));
  refused_as_sum("damaged", byte_writer().header(0, 0, 0, 3, 4).at(13, 1).put(1.0F));
  EXPECT_TRUE(refuses(errc::invalid_argument, "", [&] {
    static_cast<void>(onefold::own_range_state<float, std::plus<>>::from_bytes(sum_and_max().put(1.0F).summed()));
  }));
}

// --- what is refused ----------------------------------------------------------------------------------------------------------------------

TEST(together_states, that_cannot_be_are_refused) {
  onefold_range* made = nullptr;
  const auto create = [&](int type, const operators& ops, uint64_t begin = 0) {
    return [&made, type, ops, begin] { check(onefold_range_create_together(type, ops.data(), ops.size(), begin, &made)); };
  };
  EXPECT_TRUE(refuses(errc::null_pointer, "operators", create(ONEFOLD_F32, {})));
  EXPECT_TRUE(refuses(errc::invalid_argument, "number of operators",
                      [&] { check(onefold_range_create_together(ONEFOLD_F32, &s, 0, 0, &made)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "number of operators", create(ONEFOLD_F32, operators(17, s))));
  EXPECT_TRUE(refuses(errc::invalid_argument, "an operator", create(ONEFOLD_F32, {s, 4})));
  EXPECT_TRUE(refuses(errc::invalid_argument, "an operator", create(ONEFOLD_F32, {255})));
  EXPECT_TRUE(refuses(errc::unsupported, "complex numbers", create(ONEFOLD_C64, {s, p})));
  EXPECT_TRUE(refuses(errc::invalid_argument, "and may be one of onefold_type", create(99, {s})));
  EXPECT_TRUE(refuses(errc::invalid_argument, "and may be one of onefold_type", create(-1, {s})));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", create(ONEFOLD_F64, {s}, ~uint64_t{0})));
  EXPECT_EQ(made, nullptr);
  EXPECT_TRUE(
      refuses(errc::null_pointer, "new state", [] { check(onefold_range_create_together(ONEFOLD_F32, &s, 1, 0, nullptr)); }));
}

TEST(together_states, are_what_they_were_after_what_is_refused) {
  const several of{element_type::f64, {s, l}};
  const arrays in(of.first(), 4 * of.tile(), current_seed(), values_of::few);
  const state sums = state_of(of, in, 0, 0, of.tile() + 100);
  const bytes before = bytes_of(sums);
  const auto expect_refused = [&](errc code, std::string_view words, const auto& call) {
    EXPECT_TRUE(refuses(code, words, call));
    EXPECT_EQ(bytes_of(sums), before);
  };
  const auto add = [&](onefold_executor where, const void* x, uint64_t count, const onefold_options* how = nullptr) {
    return [=, &sums] { check(onefold_range_add(sums.get(), where, x, nullptr, count, how)); };
  };
  for (const uint64_t count : {uint64_t{5}, 3 * of.tile()}) {
    expect_refused(errc::null_pointer, "input", add(onefold_serial(), nullptr, count));
    expect_refused(errc::null_pointer, "input", add(onefold_best(), nullptr, count));
    expect_refused(errc::misaligned_pointer, "input", add(onefold_serial(), in.x() + 4, count));
    const auto& gpu = backend_under_test(onefold::backend::cuda);
    expect_refused(gpu.built ? errc::backend_unavailable : errc::backend_not_built, "",
                   add(onefold_cuda_device(1000), in.x(), count));
    onefold_options how{};
    how.struct_bytes = sizeof(how);
    how.guarantee = ONEFOLD_GUARANTEE_EXACT;
    expect_refused(errc::guarantee_not_met, "fixed order", add(onefold_serial(), in.x(), count, &how));
    const onefold_value_source fails{nullptr, [](void*, uint64_t, uint64_t, void* const*) { return 7; }};
    expect_refused(errc::callback_failed, "returned 7",
                   [&] { check(onefold_range_add_values(sums.get(), onefold_serial(), &fails, count, nullptr)); });
  }
  expect_refused(errc::invalid_argument, "negative", add(onefold_serial(), in.x(), ~uint64_t{0}));

  const auto append = [&](const state& next) { return [&] { check(onefold_range_append(sums.get(), next.get())); }; };
  const uint64_t end = of.tile() + 100;
  expect_refused(errc::invalid_argument, "neighbours", append(empty_state(of, end - 1)));
  expect_refused(errc::invalid_argument, "neighbours", append(empty_state(of, end + 1)));
  expect_refused(errc::invalid_argument, "neighbours", append(sums));
  expect_refused(errc::invalid_argument,
                 "a state of reduce_together (min, sum) of f64 cannot be appended to one of reduce_together (sum, min) of f64",
                 append(empty_state(several{of.type, {l, s}}, end)));
  expect_refused(errc::invalid_argument, "(sum) of f64", append(empty_state(several{of.type, {s}}, end)));
  expect_refused(errc::invalid_argument, "(sum, min, sum)", append(empty_state(several{of.type, {s, l, s}}, end)));
  expect_refused(errc::invalid_argument, "(sum, min) of f32", append(empty_state(several{element_type::f32, {s, l}}, end)));
  expect_refused(errc::invalid_argument, "a state of sum of f64", append(empty_state(kind{of.type, form::sum}, end)));
  EXPECT_TRUE(refuses(errc::invalid_argument, "a state of reduce_together", [&] {
    check(onefold_range_append(empty_state(kind{of.type, form::sum}, 0).get(), sums.get()));
  }));
  double results[2];
  expect_refused(errc::null_pointer, "result", [&] { check(onefold_range_result(sums.get(), 0, nullptr)); });
  EXPECT_TRUE(refuses(errc::invalid_argument, "begins at element 3 has no result",
                      [&] { check(onefold_range_result(empty_state(of, 3).get(), 0, results)); }));

  alignas(16) std::byte image[64] = {};
  std::size_t size = 0;
  expect_refused(errc::unsupported, "has no images", [&] { check(onefold_range_image_bytes(sums.get(), 5, &size)); });
  expect_refused(errc::unsupported, "has no images", [&] { check(onefold_range_add_image(sums.get(), image, 5)); });
  expect_refused(errc::unsupported, "has no images",
                 [&] { check(onefold_range_put_image(sums.get(), onefold_cuda_device(0), in.x(), nullptr, 5, image, nullptr)); });
}

// --- the C++ class --------------------------------------------------------------------------------------------------------------------------

// What one operator's own state gives, in the type of a sum.
template <class Op, class T>
onefold::accumulator_t<T, false> alone(const std::vector<T>& x) {
  range_state<onefold::form_of(Op::id), T> its;
  its.add(onefold::serial(), x);
  return its.value();
}

template <class T, class... Ops>
void expect_each_as_alone() {
  const uint64_t tile = kind{onefold::element_type_of<T>, form::sum}.tile();
  for (const uint64_t n : {uint64_t{0}, uint64_t{1}, tile - 1, tile, 5 * tile + 77}) {
    const auto bits = values<std::uint32_t>(n, current_seed(), false);
    std::vector<T> x(n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const int number = static_cast<int>(bits[i] % 97) - 40;
      if constexpr (onefold::is_float(onefold::element_type_of<T>))
        x[i] = static_cast<T>(static_cast<float>(number) / 32.0F);
      else
        x[i] = static_cast<T>(number);  // of those without a sign a large one
    }
    const uint64_t cut = n / 3;
    together_range_state<T, Ops...> all, rest(cut);
    all.add(onefold::best(), x.data(), cut);
    rest.add(places().back().where, std::span<const T>(x).subspan(cut));
    all.append(together_range_state<T, Ops...>::from_bytes(rest.bytes()));
    const std::array<onefold::accumulator_t<T, false>, sizeof...(Ops)> expected{alone<Ops>(x)...};
    static_assert(std::is_same_v<decltype(all.value()), std::remove_const_t<decltype(expected)>>);
    const auto got = all.value(), at_once = onefold::reduce_together(onefold::serial(), x, Ops{}...);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), sizeof(got)), 0)
        << n << " of " << onefold::name(onefold::element_type_of<T>);
    ASSERT_EQ(std::memcmp(got.data(), at_once.data(), sizeof(got)), 0) << n << " of " << onefold::name(onefold::element_type_of<T>);
  }
}

TEST(a_together_state, gives_each_what_it_gives_alone) {
#define ONEFOLD_TYPE(name, T)                                                                                                 \
  expect_each_as_alone<T, op::sum>();                                                                                         \
  expect_each_as_alone<T, op::max, op::sum>();                                                                                \
  expect_each_as_alone<T, op::min, op::prod, op::max, op::sum, op::min>();                                                    \
  expect_each_as_alone<T, op::sum, op::sum, op::min, op::max, op::min, op::max, op::prod, op::sum, op::sum, op::max, op::min, \
                       op::sum, op::prod, op::sum, op::max, op::min>();
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
  expect_each_as_alone<long long, op::sum, op::min>();
}

TEST(a_together_state, takes_arrays_ranges_parts_and_functions) {
  const auto x = values<double>(9'876, current_seed(), true);
  const auto expected = onefold::reduce_together(onefold::serial(), x, op::sum{}, op::min{});
  using both = together_range_state<double, op::sum, op::min>;
  const auto part_of = [&x](uint64_t first) { return [&x, first](uint64_t i) { return x[first + i]; }; };
  for (const uint64_t cut : {uint64_t{0}, uint64_t{3}, uint64_t{512}, uint64_t{5'000}, x.size()}) {
    both of_functions, of_parts;
    of_functions.add(onefold::serial(), cut, part_of(0)).add(places().back().where, x.size() - cut, part_of(cut));
    EXPECT_EQ(of_functions.value(), expected);
    const onefold_range_part parts[] = {{onefold_serial(), x.data(), nullptr, cut},
                                        {onefold_best(), x.data() + cut, nullptr, x.size() - cut}};
    onefold::report ran;
    of_parts.add_parts(parts, 2, {.report = &ran});
    EXPECT_EQ(of_parts.value(), expected);
    EXPECT_EQ(ran.variant, "fixed_order");
    EXPECT_EQ(of_parts.bytes(), of_functions.bytes());
  }
  both slabs;
  const auto at = [&x](std::int64_t j, std::int64_t i) { return x[static_cast<std::size_t>(100 * j + i)]; };
  for (const std::int64_t j : {0, 30, 60}) slabs.add(onefold::serial(), onefold::box({j, j + 30}, {0, 100}), at);
  EXPECT_EQ(slabs.value(), onefold::reduce_together(onefold::serial(), std::span(x).first(9'000), op::sum{}, op::min{}));
  const bytes before = slabs.bytes();
  EXPECT_THROW(slabs.add(onefold::serial(), 700, [](uint64_t i) { return i == 600 ? throw std::out_of_range("mine") : 1.0; }),
               std::out_of_range);
  EXPECT_EQ(slabs.bytes(), before);
}

TEST(a_together_state, is_copied_and_moved_as_a_value) {
  const auto x = values<float>(3000, current_seed(), true);
  two one(100);
  one.add(onefold::serial(), x.data(), 2000);
  two copy = one;
  EXPECT_EQ(copy.bytes(), one.bytes());
  copy.add(onefold::serial(), x.data() + 2000, 1000);
  EXPECT_EQ(one.end(), 2100U);
  EXPECT_EQ(copy.end(), 3100U);
  two moved = std::move(copy);
  EXPECT_EQ(moved.begin(), 100U);
  EXPECT_EQ(moved.end(), 3100U);
  copy = one;
  EXPECT_EQ(copy.bytes(), one.bytes());
  one = moved;
  const auto& itself = one;
  one = itself;
  EXPECT_EQ(one.bytes(), moved.bytes());
}

// Whatever the thread has set, and it has that afterwards too.
TEST(a_together_state, is_the_same_in_every_rounding_mode) {
  const auto x = values<double>(5000, current_seed(), true);
  const auto make = [&x] {
    together_range_state<double, op::sum, op::prod> first, second(1111);
    first.add(onefold::serial(), x.data(), 1111);
    second.add(onefold::serial(), x.data() + 1111, x.size() - 1111);
    first.append(second);
    return std::tuple(first.bytes(), first.value());
  };
  const auto expected = make();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = make();
    const int left = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got, expected);
    EXPECT_EQ(left, mode);
  }
}

#ifdef ONEFOLD_HAVE_CUDA

// --- on a GPU -------------------------------------------------------------------------------------------------------------------------------

TEST(together_states_on_a_gpu, have_the_bytes_of_the_cpu_cuda) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  int compared = 0;
  for (const several& of : every_several()) {
    const uint64_t tile = of.tile();
    for (const auto& [begin, count] : {std::pair{uint64_t{0}, uint64_t{1}},
                                       {uint64_t{0}, 8 * tile},
                                       {tile + 3, tile / 2},
                                       {uint64_t{5}, 21 * tile + 7},
                                       {3 * tile, 13 * tile}}) {
      const arrays in(of.first(), count, current_seed() + count, values_of::rounding);
      const std::size_t size = count * of.first().element_bytes();
      const device_memory x(size);
      copy_to_device(x.as<std::byte>(), in.x(), size);
      const state here = empty_state(of, begin);
      check(onefold_range_add(here.get(), onefold_serial(), in.x(), nullptr, count, nullptr));
      // In its memory, found there, and copied from the host's.
      for (const auto& [where, from] : {std::pair<onefold_executor, const std::byte*>{onefold_cuda_device(0), x.as<std::byte>()},
                                        {onefold_best(), x.as<std::byte>()},
                                        {onefold_cuda_device(0), in.x()}}) {
        const state there = empty_state(of, begin);
        check(onefold_range_add(there.get(), where, from, nullptr, count, nullptr));
        ASSERT_EQ(bytes_of(there), bytes_of(here)) << text(of) << ", " << count << " from " << begin << " on";
        ++compared;
      }
      const uint64_t first = count / 2;
      const onefold_range_part parts[] = {{onefold_cuda_device(0), x.as<std::byte>(), nullptr, first},
                                          {onefold_serial(), in.x(first), nullptr, count - first}};
      const state of_both = empty_state(of, begin);
      check(onefold_range_add_parts(of_both.get(), parts, 2, nullptr));
      ASSERT_EQ(bytes_of(of_both), bytes_of(here)) << text(of);
    }
  }
  EXPECT_EQ(compared, onefold::element_type_count * 8 * 5 * 3);
}

TEST(together_states_on_a_gpu, of_managed_memory_have_the_bytes_of_the_cpu_cuda) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  constexpr std::size_t count = 100'000;
  void* memory = nullptr;
  expect_success(cudaMallocManaged(&memory, count * sizeof(double)), "cudaMallocManaged");
  const std::unique_ptr<void, decltype(&cudaFree)> owner(memory, cudaFree);
  auto* const x = static_cast<double*>(memory);
  for (std::size_t i = 0; i < count; ++i) x[i] = 1.0 / static_cast<double>(i + 1);
  using three = together_range_state<double, op::sum, op::min, op::max>;
  three expected;
  expected.add(onefold::serial(), x, count);
  for (const auto& where : {onefold::best(), onefold::cuda(), onefold::serial()}) {
    three got;
    got.add(where, x, count / 3).add(where, x + count / 3, count - count / 3);
    EXPECT_EQ(got.bytes(), expected.bytes());
  }
}

#endif

}  // namespace
}  // namespace onefold_test
