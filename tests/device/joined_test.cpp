/// @file joined_test.cpp  The block that puts images of an array's parts together, on a block of host threads: its results have the bits of the whole array on
/// serial(), and of the images as the library appends them, however the array is cut.

#include "warp_on_host.hpp"

#include "../../backends/cpu/forms.hpp"
#include "../../backends/cuda/fixed_order/joined.cuh"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <onefold/detail/range_parts.hpp>
#include <onefold/onefold.hpp>

#include "../folds/range_support.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

namespace cb = onefold::cuda_backend;
namespace dt = onefold::detail;
using std::uint32_t;

std::vector<kind> kinds_of_the_kernel() {
  std::vector<kind> some;
  for (const kind& of : all_kinds())
    if (cb::joined_fold(of.type, of.what, of.wide).kernel >= 0) some.push_back(of);
  return some;
}

// Where parts begin, and behind the last one the end.
using layout = std::vector<uint64_t>;

// An image in whole places of 16 bytes, made of the state's bytes, which have the same parts without padding.
std::vector<std::byte> image_of(const kind& of, const std::byte* x, const std::byte* y, uint64_t begin, uint64_t count) {
  if (count == 0) return {};
  const state empty = empty_state(of, begin), made = empty_state(of, begin);
  std::size_t size = 0;
  check(onefold_range_image_bytes(empty.get(), count, &size));
  std::vector<std::byte> image(size);
  check(onefold_range_add(made.get(), onefold_serial(), x, y, count, nullptr));
  const bytes from = bytes_of(made);
  const dt::range_parts parts{of.tile(), begin, begin + count};
  std::size_t nodes = 0;
  parts.for_nodes([&](uint64_t, int) { ++nodes; });
  const std::size_t inputs = y == nullptr ? 1 : 2;
  const std::size_t head = (parts.nodes_begin() - begin) * of.element_bytes(),
                    tail = (begin + count - parts.nodes_end()) * of.element_bytes();
  const std::size_t node_bytes = nodes == 0 ? 0 : (from.size() - 40 - inputs * (head + tail)) / nodes;
  const std::byte* next = from.data() + 32;
  std::byte* to = image.data() + std::max<std::size_t>(nodes, 1) * 64;
  const auto take = [&](std::byte* place, std::size_t some) {
    if (some != 0) std::memcpy(place, next, some);
    next += some;
  };
  const auto take_elements = [&](std::size_t some) {
    for (std::size_t k = 0; k < inputs; ++k) {
      take(to, some);
      to += (some + 63) / 64 * 64;
    }
  };
  take_elements(head);
  std::byte* place = image.data();
  parts.for_nodes([&](uint64_t first_tile, int) {
    if (has_index(of.what)) {
      // Each value at 16 bytes, and behind it its index, which in an image is that in the subtree.
      const std::size_t values = of.what == form::argminmax ? 2 : 1;
      for (std::size_t k = 0; k < values; ++k) {
        take(place + 16 * k, node_bytes / values - 8);
        uint64_t index = 0;
        take(reinterpret_cast<std::byte*>(&index), 8);
        index -= first_tile * of.tile();
        std::memcpy(place + 16 * k + 8, &index, 8);
      }
    } else {
      const std::size_t count_bytes =
          of.what == form::mean_variance ? 8 : 0;  // a state has the count ahead of its moments, an image has none
      next += count_bytes;
      take(place, node_bytes - count_bytes);
    }
    place += 64;
  });
  take_elements(tail);
  EXPECT_EQ(next + 8, from.data() + from.size());
  EXPECT_EQ(to, image.data() + image.size());
  return image;
}

// The block of kernel number `which`.
template <class First, class... Others>
void run_kernel(int which, cb::fold_list<First, Others...>, const cb::joined_table& table, cb::detail::joined_memory& shared) {
  if (which == 0)
    cb::run_joined_block(First{}, table, shared, [] {});
  else if constexpr (sizeof...(Others) > 0)
    run_kernel(which - 1, cb::fold_list<Others...>{}, table, shared);
}

class joined_images : public testing::Test {
 protected:
  // The result of all parts by the block, whose bytes must be those of the whole array and of the images appended to each other.
  void compare(const kind& of, const layout& cuts, values_of values = values_of::rounding) {
    const uint64_t seed = ++seed_;
    if (cuts.back() == 0) return;  // the host stores the result for none
    const auto parts = static_cast<uint32_t>(cuts.size() - 1);
    const uint64_t total = cuts.back();
    const arrays in(of, total, seed, values);
    std::vector<std::vector<std::byte>> images;
    std::size_t stride = 16;
    const state appended = empty_state(of, 0);
    for (uint32_t p = 0; p < parts; ++p) {
      images.push_back(image_of(of, in.x(cuts[p]), in.second(cuts[p]), cuts[p], cuts[p + 1] - cuts[p]));
      stride = std::max(stride, images.back().size());
      check(onefold_range_add_image(appended.get(), images.back().data(), cuts[p + 1] - cuts[p]));
    }
    std::vector<int4> all(parts * stride / sizeof(int4));  // aligned as it must be
    for (uint32_t p = 0; p < parts; ++p)
      std::copy(images[p].begin(), images[p].end(), reinterpret_cast<std::byte*>(all.data()) + p * stride);

    cb::joined_table table{};
    table.images = reinterpret_cast<const unsigned char*>(all.data());
    table.stride = stride;
    std::copy(cuts.begin(), cuts.end(), table.borders);
    table.parts = parts;
    const cb::joined_place its = cb::joined_fold(of.type, of.what, of.wide);
    table.fold = its.fold;
    table.conversion =
        cb::joined_conversion_of(of.type, of.what, of.wide, onefold::cpu::row_of(of.type, of.what, of.wide).fields[0].bytes);
    table.to.how = static_cast<int>(dt::conclusion_of(of.type, of.what, of.wide));
    if (has_index(of.what)) table.to.argument = size_of(result_type(of.type, of.what));
    if (of.what == form::mean_variance) {
      table.to.how = result_type(of.type, of.what, of.wide) == element_type::f32 ? 1 : 0;
      table.to.argument = 1;  // ddof, as result_of() has it
    }
    table.to.bytes = static_cast<int>(of.result_bytes());
    ASSERT_GE(its.kernel, 0);
    // Between a value of less than 8 bytes and its index there are some that nobody speaks of.
    const auto without_gaps = [&](bytes result) {
      const std::size_t size = size_of(result_type(of.type, of.what));
      if (has_index(of.what) && size < 8)
        for (std::size_t at = size; at < result.size(); at += 16)
          std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(at), 8 - size, std::byte{0});
      return result;
    };
    const bytes expected = without_gaps(result_of(of, appended));
    EXPECT_EQ(expected, without_gaps(whole(of, in, total))) << text(of);
    // By the block alone, and as the host plans it, where it does.
    for (const bool is_planned : {false, true}) {
      if (is_planned) cb::plan_items(table, std::countr_zero(of.tile()));
      if (is_planned && table.items == 0) continue;
      alignas(16) std::byte found[64];
      std::fill(std::begin(found), std::end(found), std::byte{0xee});
      table.to.output = found;
      const auto shared = std::make_unique<cb::detail::joined_memory>();
      std::memset(shared.get(), 0x5a, sizeof(*shared));
      on_a_block(static_cast<unsigned>(cb::joined_threads(table)) / 32,
                 [&] { run_kernel(its.kernel, cb::detail::joined_lists{}, table, *shared); });
      EXPECT_EQ(found[of.result_bytes()], std::byte{0xee});
      EXPECT_EQ(without_gaps(bytes(found, found + of.result_bytes())), expected)
          << text(of) << ", " << parts << " parts of " << total << ", seed " << seed << (is_planned ? ", planned" : "");
      ++compared_;
      planned_ += is_planned ? 1 : 0;
    }
  }
  ~joined_images() override { std::printf("%d results, %d of them planned\n", compared_, planned_); }

  uint64_t seed_ = current_seed();
  int compared_ = 0, planned_ = 0;
};

// Parts of about `each` elements, cut anywhere; every fourth may be empty.
layout anywhere(uint32_t parts, uint64_t each, uint64_t seed) {
  const random_numbers random(seed);
  layout cuts{0};
  for (uint32_t p = 0; p < parts; ++p)
    cuts.push_back(cuts.back() + (random.at(p) % 4 == 0 ? 0 : random.at(p + 1000) % (2 * each + 1)));
  return cuts;
}

// Of `unit` elements each: aligned where that is a tile's.
layout even(uint32_t parts, uint64_t unit, uint64_t more_at_end = 0) {
  layout cuts{0};
  for (uint32_t p = 0; p < parts; ++p) cuts.push_back(cuts.back() + unit);
  cuts.back() += more_at_end;
  return cuts;
}

TEST_F(joined_images, have_every_form_of_real_numbers) {
  for (const kind& of : all_kinds()) {
    const bool is_there = of.what != form::reduce_together && !onefold::is_complex(of.type);
    EXPECT_EQ(cb::joined_fold(of.type, of.what, of.wide).kernel >= 0, is_there) << text(of);
  }
}

TEST_F(joined_images, have_the_bits_of_one_core_in_every_form) {
  // With a sanitizer the forms have two parts, and five with infinities, by turns.
  int turn = 0;
  for (const kind& of : kinds_of_the_kernel()) {
    const uint64_t tile = of.tile();
    compare(of, {0, 1});
    compare(of, {0, 0, 1, 1, 2, 2});
    if (!is_sanitized) compare(of, even(2, 2 * tile, 3));
    ++turn;
    if (!is_sanitized || turn % 2 == 0) compare(of, anywhere(2, (is_sanitized ? 4 : 9) * tile, seed_));
    if (!is_sanitized || turn % 2 == 1) compare(of, anywhere(5, 3 * tile, seed_), values_of::infinities);
    compare(of, anywhere(9, tile / 3, seed_));
    if (!is_sanitized) compare(of, anywhere(3, 4 * tile, seed_), values_of::any_bits);
  }
}

const kind few_kinds[] = {{element_type::f64, form::sum, false},           {element_type::f32, form::dot, false},
                          {element_type::f64, form::norm2, false},         {element_type::f32, form::sum_of_squares, true},
                          {element_type::f64, form::mean_variance, false}, {element_type::f32, form::argminmax, false},
                          {element_type::i8, form::mean, false},           {element_type::bf16, form::dot, false}};

TEST_F(joined_images, of_any_layout_have_the_bits_of_one_core) {
  for (const kind& of : few_kinds) {
    const uint64_t tile = of.tile();
    // One part, two and three, with borders at every place that is special in a tile, and subtrees of every height at their sides.
    for (const uint64_t tiles : {1, 2, 3, 4, 7, 8, 12, 13}) {
      if (is_sanitized && tiles != 1 && tiles != 3 && tiles != 13) continue;
      for (const uint64_t end : {uint64_t{0}, uint64_t{1}, tile - 1}) {
        const uint64_t total = tiles * tile + end;
        compare(of, {0, total});
        for (const uint64_t cut : {uint64_t{0}, uint64_t{1}, tile - 1, tile, tile + 1, total / 2, total - 1, total})
          compare(of, {0, std::min(cut, total), total});
        compare(of, {0, total / 4, total / 4 + 1, total});
        compare(of, {0, total / 3, std::min(total / 3 + tile, total), total});
      }
    }
  }
}

TEST_F(joined_images, of_many_parts_have_the_bits_of_one_core) {
  for (const kind& of : few_kinds) {
    const uint64_t tile = of.tile();
    for (const uint32_t parts : {4U, 7U, 8U, 16U, 33U, 64U}) {
      if (is_sanitized && parts != 7 && parts != 33) continue;
      compare(of, even(parts, tile, 5));
      compare(of, even(parts, 3 * tile));
      compare(of, even(parts, 3));
      compare(of, even(parts, tile / 2));
      compare(of, even(parts, tile + 1));
      compare(of, anywhere(parts, 40, seed_));
      compare(of, anywhere(parts, tile / 2, seed_));
      compare(of, anywhere(parts, 6 * tile, seed_));
      // One large part among small ones.
      layout uneven = anywhere(parts, 100, seed_);
      for (std::size_t p = parts / 2 + 1; p < uneven.size(); ++p) uneven[p] += 37 * tile + 11;
      compare(of, uneven);
      layout empty_ends = even(parts, 0, 0);
      for (std::size_t p = 2; p < empty_ends.size(); ++p) empty_ends[p] = 5 * tile + 7;
      compare(of, empty_ends);
    }
  }
}

TEST_F(joined_images, of_random_layouts_have_the_bits_of_one_core) {
  const random_numbers random(current_seed());
  const std::vector<kind> kinds = kinds_of_the_kernel();
  for (uint64_t i = 0; i < (is_sanitized ? 150 : 1500); ++i) {
    const kind of = i % 3 == 0 ? few_kinds[0] : kinds[i % kinds.size()];
    const auto parts = static_cast<uint32_t>(2 + random.at(3 * i) % 7);
    const uint64_t tile = of.tile();
    layout cuts = anywhere(parts, 1 + random.at(3 * i + 1) % (i % 10 == 0 ? 200 * tile : 8 * tile), random.at(3 * i + 2));
    // Half of the borders are those of tiles.
    for (std::size_t p = 1; p < cuts.size(); ++p)
      if (random.at(10'000 + 20 * i + p) % 2 == 0) cuts[p] = std::max(cuts[p - 1], cuts[p] / tile * tile);
    for (std::size_t p = 1; p < cuts.size(); ++p) cuts[p] = std::max(cuts[p - 1], cuts[p]);
    compare(of, cuts);
  }
}

TEST_F(joined_images, as_many_as_there_may_be_have_the_bits_of_one_core) {
  const kind of{element_type::f64, form::sum, false};
  compare(of, even(cb::most_joined_parts, 77));
  compare(of, anywhere(cb::most_joined_parts, 700, seed_));
}

// --- room ---------------------------------------------------------------------------------------------------------------------------------

// Subtrees of the tiles `begin` to `end` - 1, as the state of a range counts them.
std::size_t subtrees(uint64_t begin, uint64_t end) {
  std::size_t count = 0;
  dt::for_subtrees(begin, end, [&](uint64_t, int) { ++count; });
  return count;
}

TEST(joined_nodes, are_the_subtrees_of_a_range) {
  for (uint64_t begin = 0; begin < 70; ++begin)
    for (uint64_t end = begin; end < 70; ++end) {
      const cb::detail::joined_nodes nodes(begin, end);
      std::vector<int> heights, expected;
      for (uint64_t left = nodes.left; left != 0; left &= left - 1) heights.push_back(std::countr_zero(left));
      for (uint64_t right = nodes.right; right != 0; right ^= std::bit_floor(right))
        heights.push_back(63 - std::countl_zero(right));
      dt::for_subtrees(begin, end, [&](uint64_t, int height) { expected.push_back(height); });
      EXPECT_EQ(heights, expected) << begin << " to " << end;
      EXPECT_EQ(nodes.count(), expected.size());
    }
}

TEST(the_room_for_nodes, is_enough_for_any_layout_that_fits) {
  const random_numbers random(current_seed());
  uint64_t next = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t parts = 1 + random.at(next++) % 64;
    const int bits = 1 + static_cast<int>(random.at(next++) % 40);
    layout cuts{0};
    for (uint64_t p = 0; p < parts; ++p) cuts.push_back(cuts.back() + (random.at(next++) >> (64 - bits)));
    std::size_t nodes = 0;
    for (uint64_t p = 0; p < parts; ++p) nodes += subtrees(cuts[p], cuts[p + 1]);
    const std::size_t least = cb::most_joined_levels + parts + 1 + nodes;
    for (const std::size_t state_bytes : {4, 8, 24}) {
      if (!cb::fits_joined(cuts.back(), parts, state_bytes)) continue;
      EXPECT_LE(least * state_bytes, cb::joined_value_bytes) << parts << " parts of " << cuts.back() << " tiles";
    }
  }
}

TEST(the_room_for_nodes, is_enough_for_layouts_that_are_usual) {
  for (const std::size_t state_bytes : {4, 8, 24})
    for (const uint64_t parts : {1, 2, 4, 8, 16}) EXPECT_TRUE(cb::fits_joined(uint64_t{1} << 40, parts, state_bytes)) << parts;
  EXPECT_TRUE(cb::fits_joined(uint64_t{64} << 11, 64, 24));
  EXPECT_TRUE(cb::fits_joined(0, cb::most_joined_parts, 8));
  EXPECT_FALSE(cb::fits_joined(0, cb::most_joined_parts + 1, 8));
  EXPECT_FALSE(cb::fits_joined(uint64_t{1} << 40, 400, 24));
}

}  // namespace
}  // namespace onefold_test
