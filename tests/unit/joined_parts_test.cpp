/// @file joined_parts_test.cpp  Where images of an array's parts have what, and in which order that is the whole array.

#include <onefold/detail/joined_parts.hpp>
#include <onefold/detail/range_parts.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

using onefold::detail::joined_images;
using onefold::detail::joined_item;
using onefold::detail::joined_part;
using onefold::detail::joined_sizes;
using std::uint64_t;

// A stretch of bytes that something has been found in: none may overlap, nor leave its part's image.
struct stretch {
  uint64_t begin;
  uint64_t end;
};
void expect_apart(std::vector<stretch> all, uint64_t image_bytes) {
  std::sort(all.begin(), all.end(), [](const stretch& a, const stretch& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].begin / image_bytes, (all[i].end - 1) / image_bytes);
    if (i > 0) {
      EXPECT_GE(all[i].begin, all[i - 1].end);
    }
  }
}

void expect_whole(const joined_sizes& sizes, const std::vector<uint64_t>& borders, uint64_t total) {
  std::vector<uint64_t> ends(borders);
  ends.push_back(total);
  const auto parts = static_cast<std::uint32_t>(borders.size());
  joined_images all{nullptr, ends.data(), parts, 64};
  for (std::uint32_t p = 0; p < parts; ++p) all.image_bytes = std::max(all.image_bytes, all.part(sizes, p).bytes(sizes));
  EXPECT_EQ(all.image_bytes % 64, 0U);
  std::vector<stretch> taken;
  uint64_t tile = 0;
  for (std::uint32_t p = 0; p <= parts; ++p)
    for (std::uint32_t k = 0; k < all.items(sizes, p); ++k) {
      const joined_item item = all.item(sizes, p, k);
      EXPECT_EQ(item.tile, tile);
      if (item.is_cut) {
        EXPECT_EQ(item.height, 0);
        for (uint64_t i = tile * sizes.begin_of(1); i < std::min(total, (tile + 1) * sizes.begin_of(1)); ++i) {
          const std::uint32_t holder = all.part_of(i);
          const joined_part part = all.part(sizes, holder);
          ASSERT_TRUE(part.begin <= i && i < part.end);
          ASSERT_TRUE(i < part.nodes_begin(sizes) || i >= part.nodes_end(sizes)) << "element " << i << " lies in a subtree";
          const uint64_t at = holder * all.image_bytes + part.place_of(sizes, i);
          EXPECT_EQ(at / all.image_bytes, holder);
          taken.push_back({at, at + sizes.value});
        }
      } else {
        EXPECT_EQ(tile % (uint64_t{1} << item.height), 0U);
        EXPECT_EQ(item.place / all.image_bytes, p);
        EXPECT_GE(tile * sizes.begin_of(1), all.part(sizes, p).nodes_begin(sizes));
        EXPECT_LE((tile + (uint64_t{1} << item.height)) * sizes.begin_of(1), all.part(sizes, p).nodes_end(sizes));
        taken.push_back({item.place, item.place + sizes.node});
      }
      tile += uint64_t{1} << item.height;
    }
  EXPECT_EQ(tile, (total + sizes.begin_of(1) - 1) / sizes.begin_of(1));
  expect_apart(std::move(taken), all.image_bytes);
}

// As the state of a range has them, which is what makes images.
TEST(parts_of_images, are_those_of_ranges) {
  const joined_sizes sizes{5, 8, 8};
  for (uint64_t begin = 0; begin < 300; begin += 7)
    for (uint64_t end = begin; end < 300; ++end) {
      const joined_part part(sizes, begin, end);
      const onefold::detail::range_parts expected{sizes.begin_of(1), begin, end};
      EXPECT_EQ(part.nodes_begin(sizes), expected.nodes_begin()) << begin << " to " << end;
      EXPECT_EQ(part.nodes_end(sizes), expected.nodes_end()) << begin << " to " << end;
    }
}

TEST(parts_of_images, have_every_tile_once_and_in_order) {
  uint64_t layouts = 0;
  for (const joined_sizes& sizes : {joined_sizes{9, 8, 8}, joined_sizes{10, 8, 4}, joined_sizes{6, 80, 72}, joined_sizes{5, 1, 3}})
    for (const uint64_t total : {0U, 1U, 31U, 512U, 1'000U, 5'120U, 123'457U})
      for (const int parts : {1, 2, 3, 8, 61}) {
        SCOPED_TRACE(std::to_string(total) + " elements, tiles of " + std::to_string(sizes.begin_of(1)) + ", " +
                     std::to_string(parts) + " parts");
        const random_numbers random(current_seed() + total + static_cast<uint64_t>(parts));
        std::vector<uint64_t> borders{0};
        for (int p = 1; p < parts; ++p) {
          uint64_t border = random.at(static_cast<uint64_t>(p)) % (total + 1);
          if (p % 3 == 1) border = border / sizes.begin_of(1) * sizes.begin_of(1);
          borders.push_back(border);
        }
        std::sort(borders.begin(), borders.end());
        expect_whole(sizes, borders, total);
        ++layouts;
      }
  EXPECT_EQ(layouts, 140U);
}

}  // namespace
}  // namespace onefold_test
