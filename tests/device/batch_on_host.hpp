#pragma once
/// @file batch_on_host.hpp  A launch of one of the kernels of batches, as the host of a GPU would make it: its blocks run one after the other. Behind
/// warp_on_host.hpp.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <onefold/device/slots.cuh>

#include "../../backends/cuda/fixed_order/batched.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {

/// The table, the slots that launches leave to each other, and where results go.
class batch_on_host {
 public:
  using result_bytes = std::array<unsigned char, 64>;

  /// An item of so many units, as the host of a GPU fills it in, but for its output and its blocks.
  void add(onefold::cuda_backend::batched_item item, std::uint64_t units, std::uint32_t most_leaves) {
    const auto plan = onefold::cuda_backend::plan_of_item(units, most_leaves);
    item.output = results_[table_.items].data();
    if (in_words_) {
      item.how |= onefold::cuda_backend::batched_item::in_words;
      item.output = words_[table_.items].data();
    }
    item.first_block = table_.blocks;
    item.log_leaf = static_cast<std::uint8_t>(plan.log_leaf);
    table_.item[table_.items++] = item;
    table_.blocks += plan.leaves;
    if (plan.leaves > 1) ++table_.several;
  }
  /// The addresses of the last item's arrays stand at `x_at` and `y_at` then, as far as these are no null pointers.
  void take_addresses(const void* const* x_at, const void* const* y_at) {
    if (x_at != nullptr) {
      last().x = x_at;
      last().fold |= onefold::cuda_backend::batched_item::x_in_memory;
    }
    if (y_at != nullptr) {
      last().y = y_at;
      last().fold |= onefold::cuda_backend::batched_item::y_in_memory;
    }
  }
  /// Of items that are added from now on: results are sent to a host that polls.
  void send_words() { in_words_ = true; }

  /// Calls work(table, block, memory) for each block, on so many warps.
  template <class Memory, class Work>
  void run_blocks(unsigned warps, const Work& work) {
    table_.header = slots_.data();
    for (result_bytes& result : results_) result = {};
    ++table_.call_number;
    for (std::uint32_t block = 0; block < table_.blocks; ++block) {
      const auto shared = std::make_unique<Memory>();
      on_a_block(warps, [&] { work(table_, block, *shared); });
    }
  }

  [[nodiscard]] const result_bytes& stored(std::size_t item) const { return results_[item]; }
  /// A result in words, of which all must carry the number of the launch.
  [[nodiscard]] result_bytes in_words(std::size_t item) const {
    result_bytes result{};
    const std::size_t bytes = table_.item[item].bytes;
    for (std::size_t at = 0; at < bytes; at += 4) {
      const std::uint64_t sent = words_[item][at / 4];
      EXPECT_EQ(sent >> 32, table_.call_number) << "word " << at / 4 << " of result " << item;
      std::memcpy(result.data() + at, &sent, std::min<std::size_t>(4, bytes - at));
    }
    return result;
  }
  [[nodiscard]] std::uint32_t items() const { return table_.items; }
  [[nodiscard]] std::uint32_t several() const { return table_.several; }
  [[nodiscard]] const onefold::device::slot_header& header() const {
    return *reinterpret_cast<const onefold::device::slot_header*>(slots_.data());
  }

 protected:
  onefold::cuda_backend::batched_item& last() { return table_.item[table_.items - 1]; }

 private:
  static constexpr std::size_t most = onefold::cuda_backend::most_batched;
  onefold::cuda_backend::batched_table table_{};
  std::vector<onefold::device::slot_word> slots_ = std::vector<onefold::device::slot_word>(1 << 16);
  std::array<result_bytes, most> results_ = {};
  std::array<std::array<std::uint64_t, 16>, most> words_ = {};
  bool in_words_ = false;
};

/// What one array of a kind has alone, in a batch of that kind by itself, of each of these counts: alone(kind, x, y, count) says it. Arrays begin as
/// at(type, which, offset) gives them, one after the other at the offsets below `offsets_x` and `offsets_y`.
template <class Launches, class Kind, class Arrays>
void expect_what_each_has_alone(const std::vector<Kind>& kinds, const std::vector<std::size_t>& counts, std::size_t offsets_x,
                                std::size_t offsets_y, const Arrays& at) {
  for (const Kind& one : kinds) {
    Launches batch;
    std::vector<batch_on_host::result_bytes> expected;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const void* const x = at(one.type, 0, i % offsets_x);
      const void* const y = at(one.type, 1, i % offsets_y);
      batch.add(one, x, y, counts[i], 256);
      expected.push_back(alone(one, x, y, counts[i]));
    }
    batch.run(2);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(batch.result(i), expected[i]) << sentence_of(one) << ", " << counts[i] << " elements";
  }
}

}  // namespace onefold_test
