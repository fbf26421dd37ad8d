/// @file converted_test.cpp  The blocks of the second kernel of batches, on blocks of host threads that run one after the other: of every form and type each
/// result has the bits that serial() gives.

#include "warp_on_host.hpp"

#include "../../backends/cpu/forms.hpp"
#include "../../backends/cuda/fixed_order/converted.cuh"
#include "../../backends/cuda/fixed_order/runs.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../support/gtest_support.hpp"
#include "batch_on_host.hpp"

namespace onefold_test {
namespace {

namespace cb = onefold::cuda_backend;
namespace dt = onefold::detail;
using onefold::element_type;
using onefold::form;
using onefold::operation;

struct wanted {
  element_type type;
  form what;
  bool wide;
};
std::string sentence_of(const wanted& one) {
  return std::string(name(one.what)) + (one.wide ? " (wide) of " : " of ") + std::string(name(one.type));
}

constexpr operation four[] = {operation::sum, operation::prod, operation::min, operation::max};

std::vector<wanted> all_forms() {
  std::vector<wanted> all;
  for (int type = 0; type < onefold::element_type_count; ++type)
    for (int what = 0; what < onefold::form_count + onefold::record_count; ++what)
      for (const bool wide : {false, true}) {
        const wanted one{static_cast<element_type>(type), static_cast<form>(what), wide};
        if (onefold::takes_type(one.what, one.type) && (!wide || onefold::can_be_wide(one.type, one.what))) all.push_back(one);
      }
  return all;
}
bool is_converted(const wanted& one) { return cb::is_converted(one.type, one.what, one.wide); }

TEST(the_kernels_of_batches, have_every_form_of_every_real_type_between_them) {
  for (const wanted& one : all_forms())
    EXPECT_TRUE(is_converted(one) || cb::batched_fold(one.type, one.what, one.wide) >= 0) << sentence_of(one);
  EXPECT_FALSE(is_converted({element_type::c64, form::sum, false}));
  EXPECT_FALSE(is_converted({element_type::f32, form::bit_and, false}));
  EXPECT_FALSE(is_converted({element_type::i8, form::mean, true}));
}

using result_bytes = batch_on_host::result_bytes;

// Without what nobody specifies: the bytes between values and their indices.
result_bytes specified(const wanted& one, result_bytes of) {
  if (!has_index(one.what)) return of;
  for (const std::size_t place : {0, 16})
    for (std::size_t i = size_of(one.type); i < 8; ++i) of[place + i] = 0;
  return of;
}

int results_of(const wanted& one) { return one.what == form::reduce_together ? 4 : 1; }
std::size_t bytes_of(const wanted& one) { return onefold::result_bytes(one.type, one.what, one.wide, results_of(one)); }

result_bytes alone(const wanted& one, const void* x, const void* y, std::uint64_t count) {
  result_bytes result{};
  if (count == 0 && has_index(one.what)) {
    for (const std::size_t place : {0, 16})
      if (place < bytes_of(one)) std::memset(result.data() + place + 8, 0xff, 8);
    return result;
  }
  dt::request what{onefold::serial(), one.type, one.what, x, count, result.data(), true, y, one.wide};
  what.results = results_of(one);
  what.operators = four;
  what.ddof = one.what == form::mean_variance ? 1 : 0;
  dt::run(what, {});
  return specified(one, result);
}

// A batch of the second kernel.
class launches : public batch_on_host {
 public:
  void add(const wanted& one, const void* x, const void* y, std::uint64_t count, std::uint32_t most_leaves,
           const std::uint64_t* count_at = nullptr) {
    const std::uint64_t unit = std::uint64_t{1} << cb::log_converted_unit(one.type, one.what, one.wide);
    cb::batched_item item{};
    item.x = x;
    item.y = y;
    item.count = count;
    item.count_at = count_at;
    item.fold = cb::converted_form(one.what, one.wide);
    item.how = static_cast<std::uint8_t>(one.type);
    if (one.what == form::mean_variance) item.argument = 1;
    if (one.what == form::reduce_together)
      for (int k = 0; k < 4; ++k) item.argument |= static_cast<std::uint64_t>(four[k]) << (4 * k);
    if (has_index(one.what)) item.argument = size_of(onefold::result_type(one.type, one.what));
    item.bytes = static_cast<std::uint8_t>(bytes_of(one));
    batch_on_host::add(item, (count + unit - 1) / unit, most_leaves);
    forms_.push_back(one);
  }
  void take_addresses(const void* const* x_at, const void* const* y_at) {
    batch_on_host::take_addresses(x_at, forms_.back().what == form::dot ? y_at : nullptr);
  }
  // What is wanted of the last item is its tree's accumulator.
  void take_node(std::size_t bytes, std::size_t value_bytes) {
    last().how |= cb::converted_to_node;
    last().bytes = static_cast<std::uint8_t>(bytes);
    last().argument = value_bytes;
  }

  void run(unsigned warps) {
    run_blocks<cb::detail::converted_memory>(
        warps, [](const auto& table, std::uint32_t block, auto& shared) { cb::run_converted_block(table, block, shared); });
  }

  [[nodiscard]] result_bytes result(std::size_t item) const { return specified(forms_[item], stored(item)); }
  [[nodiscard]] result_bytes received(std::size_t item) const { return specified(forms_[item], in_words(item)); }

 private:
  std::vector<wanted> forms_;
};

// Elements of a type: random ones, among which its least and greatest, zeros of both signs and infinities are. Not NaN, which would be the result of nearly all.
template <class T>
std::vector<std::byte> elements_of(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> all(count);
  for (T& value : all) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(random());
    else
      value = T(static_cast<float>(static_cast<double>(random() % 2'000'001) / 1e6 - 1));
  }
  if (count > 600) {
    for (std::size_t i = 100; i < count; i += 997) all[i] = T(0);
    if constexpr (std::is_integral_v<T>) {
      all[count / 2] = std::numeric_limits<T>::lowest();
      all[count / 3] = std::numeric_limits<T>::max();
    } else {
      all[count / 2] = T(-0.0F);
    }
  }
  std::vector<std::byte> bytes(count * sizeof(T));
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return bytes;
}

class converted_batches : public testing::Test {
 protected:
  static constexpr std::size_t most = 40'000;

  converted_batches() {
#define ONEFOLD_TYPE(name, T)                                                     \
  arrays_[static_cast<int>(element_type::name)][0] = elements_of<T>(most + 8, 1); \
  arrays_[static_cast<int>(element_type::name)][1] = elements_of<T>(most + 8, 2);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
  }
  [[nodiscard]] const void* at(element_type type, int which, std::size_t offset) const {
    return arrays_[static_cast<int>(type)][which].data() + offset * size_of(type);
  }
  [[nodiscard]] static std::vector<wanted> forms() {
    std::vector<wanted> all = all_forms();
    std::erase_if(all, [](const wanted& one) { return !is_converted(one); });
    return all;
  }

 private:
  std::vector<std::byte> arrays_[onefold::element_type_count][2];
};

TEST_F(converted_batches, have_the_bits_that_each_form_and_type_has_alone) {
  expect_what_each_has_alone<launches>(forms(), {1, 31, 255, 700, 2049, 4097, 20'000}, 3, 5,
                                       [this](auto... place) { return at(place...); });
}

TEST_F(converted_batches, send_words_to_a_host_that_polls) {
  const std::vector<wanted> all = forms();
  for (std::size_t begin = 0; begin < all.size(); begin += 32) {
    launches batch;
    batch.send_words();
    const std::size_t end = std::min(begin + 32, all.size());
    for (std::size_t i = begin; i < end; ++i) batch.add(all[i], at(all[i].type, 0, 1), at(all[i].type, 1, 2), 700, 256);
    batch.run(4);
    for (std::size_t i = begin; i < end; ++i)
      EXPECT_EQ(batch.received(i - begin), alone(all[i], at(all[i].type, 0, 1), at(all[i].type, 1, 2), 700)) << sentence_of(all[i]);
  }
}

// With a sanitizer each kind is launched over several blocks once, and that a second launch counts on is seen of sums.
constexpr std::uint64_t most_counted = is_sanitized ? 16'385 : 40'000;
unsigned launches_of(const wanted& one) { return is_sanitized && one.what != form::sum ? 1 : 2; }

TEST_F(converted_batches, count_what_stands_in_memory_and_follow_addresses) {
  const std::uint64_t stored[] = {
      0, 1, 700, is_sanitized ? 9'001 : 16'385, most_counted, most_counted + 1'000};  // the last is more than there may be
  for (const wanted& one : forms()) {
    const void* const x = at(one.type, 0, 1);
    const void* const y = at(one.type, 1, 2);
    launches batch;
    for (const std::uint64_t& n : stored) {
      batch.add(one, nullptr, nullptr, most_counted, 256, &n);
      batch.take_addresses(&x, &y);
    }
    for (unsigned again = 1; again <= launches_of(one); ++again) {
      batch.run(2);
      if (batch.several() > 0) {
        EXPECT_EQ(batch.header().launches, again);
        EXPECT_EQ(batch.header().ended, 0U);
      }
      for (std::size_t i = 0; i < std::size(stored); ++i)
        EXPECT_EQ(batch.result(i), alone(one, x, y, std::min(stored[i], most_counted)))
            << sentence_of(one) << ", " << stored[i] << " elements";
    }
  }
}

TEST_F(converted_batches, set_all_bits_of_results_of_arrays_that_cannot_be_followed) {
  const void* const nowhere = nullptr;
  for (const wanted& one : forms()) {
    const void* const x = at(one.type, 0, 1);
    const void* const y = at(one.type, 1, 2);
    const void* const crooked = static_cast<const char*>(x) + size_of(one.type) / 2;
    launches batch;
    batch.add(one, nullptr, nullptr, most_counted, 256);
    batch.take_addresses(&nowhere, &y);
    batch.add(one, nullptr, nullptr, most_counted, 256);
    batch.take_addresses(&x, &y);
    batch.add(one, nullptr, nullptr, 700, 256);
    batch.take_addresses(size_of(one.type) > 1 ? &crooked : &nowhere, &y);
    result_bytes all_set{};
    std::memset(all_set.data(), 0xff, bytes_of(one));
    all_set = specified(one, all_set);
    for (unsigned again = 0; again < launches_of(one); ++again) {
      batch.run(2);
      EXPECT_EQ(batch.result(0), all_set) << sentence_of(one);
      EXPECT_EQ(batch.result(1), alone(one, x, y, most_counted)) << sentence_of(one) << ", beside";
      EXPECT_EQ(batch.result(2), all_set) << sentence_of(one);
    }
  }
}

struct alignas(16) state_bytes {
  std::byte of[64];
};

// The accumulator of the tree of an array, as serial() shows it.
state_bytes node_alone(const wanted& one, const void* x, const void* y, std::uint64_t count) {
  state_bytes node{}, result{};
  dt::request what{onefold::serial(), one.type, one.what, x, count, result.of, true, y, one.wide};
  what.tree_value = node.of;
  dt::run(what, {});
  return node;
}

// It, beside what an item has shown: of moments the mean and the deviation, else all.
void expect_node(const void* shown, const wanted& one, const void* x, const void* y, std::uint64_t count) {
  namespace cpu = onefold::cpu;
  const cpu::form_row& row = cpu::row_of(one.type, one.what, one.wide);
  state_bytes as_shown{}, value{};
  std::memcpy(as_shown.of, shown, sizeof(as_shown));
  cpu::take_shown_state(row, one.what, count, as_shown.of, value.of);
  const state_bytes expected = node_alone(one, x, y, count);
  for (int i = 0; i < row.field_count; ++i)
    EXPECT_EQ(std::memcmp(value.of + row.fields[i].offset, expected.of + row.fields[i].offset, row.fields[i].bytes), 0)
        << sentence_of(one) << ", field " << i << " of the state of " << count << " elements";
}

TEST_F(converted_batches, show_the_accumulators_of_trees) {
  namespace cpu = onefold::cpu;
  // With a sanitizer the forms have by turns the least and the largest count, and the one of whole tiles.
  int turn = 0;
  for (const wanted& one : forms()) {
    if (one.what == form::reduce_together) continue;  // whose accumulator nobody can have
    const cpu::form_row& row = cpu::row_of(one.type, one.what, one.wide);
    const void* const x = at(one.type, 0, 1);
    const void* const y = at(one.type, 1, 2);
    for (const std::uint64_t count : {std::uint64_t{5}, std::uint64_t{8192}, std::uint64_t{20'011}}) {
      if (is_sanitized && turn++ % 2 != 0) continue;
      launches batch;
      batch.add(one, x, y, count, 256);
      batch.take_node(one.what == form::mean_variance ? 16 : row.state_bytes, row.fields[0].bytes);
      batch.run(2);
      expect_node(batch.stored(0).data(), one, x, y, count);
    }
  }
}

// The subtrees over a run of tiles, whose units may be pairs: of one tile there is half a unit.
TEST_F(converted_batches, show_the_accumulators_of_a_runs_subtrees) {
  for (const wanted& one : {wanted{element_type::i8, form::sum, false}, wanted{element_type::f16, form::min, false},
                            wanted{element_type::i32, form::sum, false}}) {
    const auto& row = onefold::cpu::row_of(one.type, one.what, one.wide);
    cb::batched_run run{};
    run.item.x = at(one.type, 0, 3);
    run.item.fold = cb::converted_form(one.what, one.wide);
    run.item.how = static_cast<std::uint8_t>(static_cast<int>(one.type) | cb::converted_to_node);
    run.item.bytes = static_cast<std::uint8_t>(row.state_bytes);
    run.item.argument = row.fields[0].bytes;
    run.type = one.type;
    run.what = one.what;
    run.tiles = {5, 14};
    run.count = (std::uint64_t{9} << run.log_tile()) - 100;
    run.by = cb::batch_kernel::converted;
    run.log_unit = cb::log_converted_unit(one.type, one.what, one.wide) - run.log_tile();
    std::vector<cb::batched_request> nodes;
    cb::append_nodes(run, nodes);
    ASSERT_EQ(nodes.size(), 4U);  // of 1, 2, 4 and 2 tiles, the last of which is cut off
    launches batch;
    for (const cb::batched_request& node : nodes) {
      EXPECT_GE(node.units << run.log_unit << run.log_tile(), node.item.count);
      batch.batch_on_host::add(node.item, node.units, 256);
    }
    batch.run(2);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      expect_node(batch.stored(i).data(), one, nodes[i].item.x, nullptr, nodes[i].item.count);
  }
}

// Pairs of whole tiles of small elements, which are read in packs: from every boundary, with infinities and NaNs too.
TEST_F(converted_batches, read_small_elements_in_packs_from_any_boundary) {
  int in_packs = 0;
  for (const wanted& one : forms()) {
    if (!cb::detail::conversion_of(one.type, one.what, one.wide).is_in_packs) continue;
    ++in_packs;
    const std::size_t pair = std::size_t{2} * onefold::order::tile_rows * onefold::order::row_bytes / size_of(one.type);
    EXPECT_EQ(std::size_t{1} << cb::log_converted_unit(one.type, one.what, one.wide), pair) << sentence_of(one);
    std::vector<std::byte> special(static_cast<const std::byte*>(at(one.type, 0, 0)),
                                   static_cast<const std::byte*>(at(one.type, 0, 3 * pair + 40)));
    const auto put = [&](std::size_t index, auto value) { std::memcpy(&special[index * sizeof(value)], &value, sizeof(value)); };
    if (one.type == element_type::f16 || one.type == element_type::bf16) {
      const bool is_f16 = one.type == element_type::f16;
      put(pair + 77, static_cast<std::uint16_t>(is_f16 ? 0x7c00 : 0x7f80));     // infinity
      put(2 * pair + 5, static_cast<std::uint16_t>(is_f16 ? 0xfe01 : 0xffc1));  // a NaN
    }
    launches batch;
    std::vector<result_bytes> expected;
    std::size_t offset_y = 5;
    const auto add = [&](const void* x, std::size_t count) {
      const void* const y = one.what == form::dot ? at(one.type, 1, offset_y++ % 17) : nullptr;
      batch.add(one, x, y, count, 256);
      expected.push_back(alone(one, x, y, count));
    };
    for (std::size_t offset = 0; offset < 17; ++offset) add(at(one.type, 0, offset), pair + (offset % 3) * (pair / 2) + offset % 2);
    for (const std::size_t count : {pair + 78, 3 * pair}) add(special.data() + size_of(one.type), count);
    batch.run(2);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(batch.result(i), expected[i]) << sentence_of(one) << ", item " << i;
  }
  EXPECT_EQ(in_packs, 124);
}

// --- behind a kernel that reads leaves ------------------------------------------------------------------------------------------------------------

// What a form's own kernel leaves of a leaf that begins `before` elements behind the first: the accumulator. Of values with places it may know of the unit of two
// tiles alone, and what lies between a value and its index may be anything.
state_bytes as_left(const wanted& one, const void* x, const void* y, std::uint64_t count, std::uint64_t before, bool by_units) {
  state_bytes left = node_alone(one, x, y, count);
  if (!has_index(one.what)) return left;
  const std::uint64_t unit = std::uint64_t{2} * onefold::order::tile_rows * onefold::order::row_bytes / size_of(one.type);
  const onefold::cpu::form_row& row = onefold::cpu::row_of(one.type, one.what, one.wide);
  for (std::size_t at = 0; at < row.state_bytes; at += 16) {
    for (std::size_t i = row.fields[0].bytes; i < 8; ++i) left.of[at + i] = std::byte{0xa5};
    std::uint64_t index = 0;
    std::memcpy(&index, left.of + at + 8, sizeof(index));
    index += before;
    if (by_units) index = std::max(index / unit * unit, before);
    std::memcpy(left.of + at + 8, &index, sizeof(index));
  }
  return left;
}

// The nodes of a run of tiles, the first of which has the number `first`, by the launch behind that of its leaves, twice.
void expect_nodes_behind_leaves(const wanted& one, const void* x, const void* y, std::uint64_t first, std::uint64_t tiles,
                                int log_leaf, unsigned warps) {
  const onefold::cpu::form_row& row = onefold::cpu::row_of(one.type, one.what, one.wide);
  std::vector<state_bytes> shown(cb::most_batched);
  cb::batched_run run{};
  run.item.x = x;
  run.item.y = one.what == form::dot ? y : nullptr;
  run.item.output = shown.data();
  run.item.fold = cb::converted_form(one.what, one.wide);
  run.item.how = static_cast<std::uint8_t>(static_cast<int>(one.type) | cb::converted_to_node);
  run.item.bytes = static_cast<std::uint8_t>(one.what == form::mean_variance ? 16 : row.state_bytes);
  run.item.argument = row.fields[0].bytes;
  run.type = one.type;
  run.what = one.what;
  run.wide = one.wide;
  run.tiles = {first, first + tiles};
  run.count = tiles << run.log_tile();
  run.stride = sizeof(state_bytes);
  run.by = cb::batch_kernel::converted;
  run.log_unit = cb::log_converted_unit(one.type, one.what, one.wide) - run.log_tile();
  const auto part_of = [&](const void* array, std::uint64_t tile) { return run.tile_at(array, tile); };

  const auto whole = cb::whole_leaves_of(run.tiles, log_leaf);
  const std::size_t slot_bytes = onefold::device::slot_bytes_of(row.state_bytes);
  std::vector<onefold::device::slot_word> memory(onefold::device::slot_header_bytes / sizeof(onefold::device::slot_word) +
                                                 4 * tiles);
  std::byte* const slots = reinterpret_cast<std::byte*>(memory.data()) + onefold::device::slot_header_bytes;
  std::vector<unsigned char> copied(1001, 0);
  std::vector<cb::batched_request> beside(1);
  beside[0].item.x = static_cast<const char*>(x) + 3;
  beside[0].item.count = 1000;
  beside[0].item.output = copied.data();
  beside[0].item.fold = cb::batched_item::copied;
  ASSERT_TRUE(cb::fits_a_table(run, beside.size()));
  cb::batched_table table = cb::table_behind_leaves(run, log_leaf, slots, slot_bytes, beside);
  table.header = memory.data();
  for (unsigned long long launch = 1; launch < 3; ++launch) {
    for (std::uint64_t tile = whole.first; tile < whole.end; tile += std::uint64_t{1} << log_leaf) {
      const std::uint64_t before = (tile - whole.first) << run.log_tile(), count = std::uint64_t{1} << (log_leaf + run.log_tile());
      const state_bytes left = as_left(one, part_of(x, tile), part_of(y, tile), count, before, launch == 2);
      std::byte* const slot = slots + static_cast<std::size_t>((tile - whole.first) >> log_leaf) * slot_bytes;
      for (std::size_t w = 0; w * 8 < row.state_bytes; ++w) {
        onefold::device::slot_word word{0, launch};
        std::memcpy(&word.bits, left.of + 8 * w, 8);
        std::memcpy(slot + w * sizeof(word), &word, sizeof(word));
      }
    }
    for (std::uint32_t block = 0; block < table.blocks; ++block) {
      const auto shared = std::make_unique<cb::detail::converted_memory>();
      on_a_block(warps, [&] { cb::run_converted_block(table, block, *shared); });
    }
    const auto& header = *reinterpret_cast<const onefold::device::slot_header*>(memory.data());
    EXPECT_EQ(header.launches, launch);
    EXPECT_EQ(header.ended, 0U);
    EXPECT_EQ(std::memcmp(copied.data(), beside[0].item.x, 1000), 0);
    EXPECT_EQ(copied[1000], 0);
    std::size_t next = 0;
    dt::for_subtrees(run.tiles.first, run.tiles.end, [&](std::uint64_t tile, int height) {
      expect_node(shown[next].of, one, part_of(x, tile), part_of(y, tile), std::uint64_t{1} << (height + run.log_tile()));
      shown[next++] = {};
    });
  }
}

TEST_F(converted_batches, collect_leaves_that_each_forms_own_kernel_has_read) {
  // With a sanitizer one warp and four collect the leaves of many tiles by turns.
  int turn = 0;
  for (const wanted& one : forms()) {
    if (one.what == form::reduce_together) continue;
    const std::uint64_t most_tiles = most * size_of(one.type) / (onefold::order::tile_rows * onefold::order::row_bytes);
    const auto expect = [&](std::size_t offset, std::uint64_t first, std::uint64_t tiles, int log_leaf, unsigned warps) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles from " + std::to_string(first) + ", leaves of 2^" + std::to_string(log_leaf));
      expect_nodes_behind_leaves(one, at(one.type, 0, offset), at(one.type, 1, offset), first, tiles, log_leaf, warps);
    };
    expect(1, 3, 9, 1, 2);
    ++turn;
    if (!is_sanitized || turn % 2 == 0) expect(2, 1, most_tiles, 0, 1);
    if (!is_sanitized || turn % 2 == 1) expect(0, 61, most_tiles, 2, 4);
  }
}

// Subtrees of more leaves than one warp collects, of which values of equal rank are the extrema.
TEST_F(converted_batches, collect_leaves_by_several_warps_where_they_are_many) {
  constexpr std::uint64_t tiles = 1100;
  const std::vector<std::byte> halves = elements_of<onefold::float16>(tiles * 2048, 21);
  const std::vector<std::byte> bytes = elements_of<std::int8_t>(tiles * 4096, 22);
  for (const form what : {form::argminmax, form::minmax, form::mean_variance, form::sum}) {
    expect_nodes_behind_leaves({element_type::f16, what, false}, halves.data(), nullptr, 1022, 1030, 0, 3);
    expect_nodes_behind_leaves({element_type::i8, what, false}, bytes.data(), nullptr, 1023, 1026, 0, 2);
  }
}

}  // namespace
}  // namespace onefold_test
