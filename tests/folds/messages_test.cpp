/// @file messages_test.cpp  Messages of ten thousand ranks, merged in any association, have the results of one core. What an MPI does with those of a few
/// ranks is tested in tests/mpi.

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "range_support.hpp"

namespace onefold_test {
namespace {

constexpr std::size_t rank_count = 10'000;

using message = std::vector<uint64_t>;

// As much room as the ranges of ranks need that are cut between tiles, and no more: for subtrees that end with the tile ahead of `first`, counted from a power
// of two, and such as begin with the first tile. mpi/distribution.hpp counts them in the same way.
uint32_t room_for(const std::vector<uint64_t>& cuts, uint64_t tiles) {
  const uint64_t above = std::bit_ceil(tiles + 1);
  int head = 0, tail = 0;
  for (const uint64_t cut : cuts) {
    head = std::max(head, std::popcount((above - cut) & (above - 1)));
    tail = std::max(tail, std::popcount(cut));
    if (cut > 0) tail = std::max(tail, std::popcount(cut - 1));
  }
  return static_cast<uint32_t>(std::max(1, head + tail));
}

// The messages of ranks, the first of which has the number 0, whose ranges are cut between tiles.
std::vector<message> messages_of(const kind& of, const arrays& in, const std::vector<uint64_t>& cuts, uint64_t n, uint32_t room) {
  const onefold_message_part parts[] = {{static_cast<int32_t>(of.type), static_cast<int32_t>(of.what), of.flags(), room},
                                        {ONEFOLD_U64, ONEFOLD_SUM, 0, 1}};
  const std::size_t bytes = onefold_message_bytes(parts, 2);
  EXPECT_GT(bytes, 0U) << onefold_last_error();
  std::vector<message> all(cuts.size() - 1, message(bytes / sizeof(uint64_t)));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    void* const to = all[rank].data();
    const uint64_t first = std::min(n, cuts[rank] * of.tile()), end = std::min(n, cuts[rank + 1] * of.tile());
    check(onefold_message_begin(to, bytes, parts, 2, 77, static_cast<int32_t>(rank)));
    check(onefold_message_add(to, 0, onefold_serial(), in.x(first), in.second(first), first, end - first, n, nullptr));
    const uint64_t rank_number = rank;
    check(onefold_message_add(to, 1, onefold_serial(), &rank_number, nullptr, 0, 1, 1, nullptr));
  }
  return all;
}

bytes result_of(const kind& of, const message& merged, uint64_t n) {
  bytes result(of.result_bytes());
  check(onefold_message_result(merged.data(), 0, rank_count, n, 1, result.data()));  // ddof as whole() has it
  uint64_t numbers = 0;
  check(onefold_message_result(merged.data(), 1, rank_count, UINT64_MAX, 0, &numbers));
  EXPECT_EQ(numbers, rank_count * (rank_count - 1) / 2) << "every rank once";
  return result;
}

// `left` gives way to what is of both.
void merge(message& left, message& right) {
  onefold_message_merge(left.data(), right.data());
  left.swap(right);
}

// Into the first of them.
void merge_anyhow(std::span<message> all, random_numbers& random) {
  if (all.size() < 2) return;
  const std::size_t left = 1 + random.below(all.size() - 1);
  merge_anyhow(all.first(left), random);
  merge_anyhow(all.subspan(left), random);
  merge(all[0], all[left]);
}

// Most ranks have one tile or none, some have hundreds.
std::vector<uint64_t> cuts_between_tiles(random_numbers& random) {
  std::vector<uint64_t> cuts{0};
  for (std::size_t rank = 0; rank < rank_count; ++rank)
    cuts.push_back(cuts.back() + (random.below(2000) == 0 ? random.below(400) : random.below(5) / 4 * random.below(3)));
  return cuts;
}

TEST(messages, of_ten_thousand_ranks_have_the_results_of_one_core_in_any_association) {
  random_numbers random(current_seed());
  const kind kinds[] = {{element_type::f64, form::norm2},     {element_type::f32, form::mean_variance},
                        {element_type::f64, form::dot},       {element_type::f32, form::argmin},
                        {element_type::f32, form::sum, true}, {element_type::i32, form::sum},
                        {element_type::f64, form::max},       {element_type::f16, form::sum}};
  for (const kind& of : std::span(kinds).first(is_sanitized ? 2 : std::size(kinds))) {
    SCOPED_TRACE(text(of));
    const auto cuts = cuts_between_tiles(random);
    const uint64_t n = cuts.back() * of.tile() - random.below(of.tile());
    const arrays in(of, n, random(), values_of::rounding);
    const bytes expected = whole(of, in, n);
    const auto messages = messages_of(of, in, cuts, n, room_for(cuts, cuts.back()));

    message in_order = messages[0];
    for (std::size_t rank = 1; rank < rank_count; ++rank) {
      message next = messages[rank];
      merge(in_order, next);
    }
    EXPECT_EQ(result_of(of, in_order, n), expected) << "in the order of the ranks";

    auto by_tree = messages;
    for (std::size_t step = 1; step < rank_count; step *= 2)
      for (std::size_t i = 0; i + step < rank_count; i += 2 * step) merge(by_tree[i], by_tree[i + step]);
    EXPECT_EQ(result_of(of, by_tree[0], n), expected) << "by a binomial tree";

    auto at_random = messages;
    merge_anyhow(at_random, random);
    EXPECT_EQ(result_of(of, at_random[0], n), expected) << "in a random association";
  }
}

TEST(messages, that_lack_room_or_come_in_another_order_have_no_result) {
  random_numbers random(current_seed());
  const kind of{element_type::f64, form::sum};
  const auto cuts = cuts_between_tiles(random);
  const uint64_t n = cuts.back() * of.tile();
  const arrays in(of, n, random(), values_of::rounding);
  bytes result(of.result_bytes());
  const auto refused = [&](std::vector<message> messages, uint64_t total, const char* text) {
    for (std::size_t rank = 1; rank < rank_count; ++rank) merge(messages[0], messages[rank]);
    EXPECT_TRUE(refuses(errc::communication_failed, text,
                        [&] { check(onefold_message_result(messages[0].data(), 0, rank_count, total, 0, result.data())); }));
  };
  auto messages = messages_of(of, in, cuts, n, room_for(cuts, cuts.back()));
  std::swap(messages[4321], messages[4322]);
  refused(messages, n, "another order");
  std::swap(messages[4321], messages[4322]);
  onefold_message_fail(messages[9'876].data(), ONEFOLD_CALLBACK_FAILED, 9'876);
  refused(messages, n, "rank 9876");

  // Merged in order the first tiles of all are in the left message: up to as many subtrees as their number has ones.
  std::vector<uint64_t> one_each(rank_count + 1);
  for (std::size_t rank = 0; rank <= rank_count; ++rank) one_each[rank] = rank;
  const uint64_t elements = rank_count * of.tile();
  const arrays more(of, elements, random(), values_of::rounding);
  refused(messages_of(of, more, one_each, elements, 11), elements, "too little room");  // 8191 tiles are 13 subtrees
}

}  // namespace
}  // namespace onefold_test
