/// @file large_test.cpp  More elements than 31 and 32 bits can count, on the GPU. Byte patterns set by cudaMemset have closed-form
/// answers, so nothing is generated or copied on the host. ONEFOLD_TEST_LARGE=1 turns these tests on: they need up to 70 GB of GPU
/// memory.

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../support/cuda.hpp"
#include "../variants/fixture.hpp"
#include "functions.hpp"

namespace onefold_test {
namespace {

// 2^31 +- 1, 2^32 +- 1 and 2^32 + 17: where a signed and an unsigned 32-bit index turn round.
constexpr std::uint64_t counts[] = {(std::uint64_t{1} << 31) - 1, (std::uint64_t{1} << 31) + 1, (std::uint64_t{1} << 31) + 17,
                                    (std::uint64_t{1} << 32) - 1, (std::uint64_t{1} << 32) + 1, (std::uint64_t{1} << 32) + 17};
constexpr std::uint64_t longest = counts[5];

// The counts that a variant is given here. most_elements() keeps some from them where tests are many. At the ladder's rates the longest
// takes atomic_shared 0.3 s and atomic_global 7.6 s; serial_gpu, which takes 100 s, is left out.
std::span<const std::uint64_t> counts_of(const onefold::variant_info& variant) {
  if (variant.name == "atomic_shared" || most_elements(variant, operation::sum) >= longest) return counts;
  if (variant.name == "atomic_global") return {&longest, 1};
  return {};
}

class huge_array {
 public:
  explicit huge_array(std::size_t bytes) : memory_(memory::device, bytes) {}
  void fill(std::uint64_t from_byte, std::uint64_t bytes, int value) {
    expect_success(cudaMemset(memory_.address() + from_byte, value, bytes), "cudaMemset");
    expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  [[nodiscard]] const void* data() const { return memory_.address(); }

 private:
  block memory_;
};

template <class T>
T power(T base, std::uint64_t exponent) {
  T result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 != 0) result *= base;
  return result;
}

bool are_wanted() {
  const char* wanted = std::getenv("ONEFOLD_TEST_LARGE");
  return wanted != nullptr && std::string_view(wanted) == "1";
}
constexpr const char* why_not_wanted = "ONEFOLD_TEST_LARGE=1 turns the large tests on";

class each_large_count : public pairing_test {
 protected:
  void SetUp() override {
    pairing_test::SetUp();
    if (IsSkipped()) return;
    if (!are_wanted()) GTEST_SKIP() << why_not_wanted;
    if (!variant().supports(element_type::u32, operation::sum))
      GTEST_SKIP() << variant().name << " takes no integers, and has a test of its own below";
    if (counts_of(variant()).empty()) GTEST_SKIP() << variant().name << " would take minutes";
    // In-place variants take a copy of the input.
    std::size_t free_bytes = 0, all_bytes = 0;
    expect_success(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
    const std::size_t needed = 2 * longest * sizeof(std::uint64_t) + (std::size_t{1} << 30);
    if (free_bytes < needed)
      GTEST_SKIP() << "needs " << (needed >> 30) << " GiB of GPU memory, of which " << (free_bytes >> 30) << " are free";
  }

  [[nodiscard]] static expectation exactly(const scalar& value) {
    expectation expected;
    expected.value = value;
    return expected;
  }
};

TEST_P(each_large_count, sums_and_multiplies_every_element) {
  huge_array array(longest * sizeof(std::uint32_t));
  array.fill(0, longest * sizeof(std::uint32_t), 1);  // every element is 0x01010101
  const std::uint32_t element = 0x01010101;
  for (const std::uint64_t count : counts_of(variant())) {
    trial asked = one(element_type::u32, operation::sum);
    asked.data = "every byte 1";
    if (variant().supports(asked.type, asked.op)) {
      ASSERT_TRUE(answers(asked, array.data(), count, exactly(scalar_of(static_cast<std::uint32_t>(element * count)))));
    }
    asked.op = operation::prod;
    const bool multiplies_blocks = variant().default_finish == onefold::finish::atomic;  // millions of them, one after the other
    if (variant().supports(asked.type, asked.op) && !multiplies_blocks) {
      ASSERT_TRUE(answers(asked, array.data(), count, exactly(scalar_of(power(element, count)))));
    }
  }
}

TEST_P(each_large_count, finds_the_winner_behind_the_edges_of_32_bits) {
  huge_array array(longest * sizeof(float));
  array.fill(0, longest * sizeof(float), 1);
  std::vector<std::uint64_t> places{counts[0], counts[0] + 1, counts[3] - 1, counts[3], counts[3] + 1, longest - 1};
  if (counts_of(variant()).size() == 1) places = {counts[3] + 1};
  for (const std::uint64_t place : places) {
    array.fill(place * sizeof(float), sizeof(float), 0x3f);  // 0x3f3f3f3f, the largest
    trial asked = one(element_type::f32, operation::max);
    asked.data = "every byte 1, one element of bytes 0x3f at " + std::to_string(place);
    if (variant().supports(asked.type, asked.op)) {
      ASSERT_TRUE(answers(asked, array.data(), longest, exactly(scalar{element_type::f32, 0x3f3f3f3f})));
    }
    array.fill(place * sizeof(float), sizeof(float), 1);
  }
}

TEST_P(each_large_count, counts_eight_byte_elements) {
  huge_array array(longest * sizeof(std::uint64_t));
  array.fill(0, longest * sizeof(std::uint64_t), 1);
  const std::uint64_t element = 0x0101010101010101u;
  trial asked = one(element_type::u64, operation::sum);
  asked.data = "every byte 1";
  if (!variant().supports(asked.type, asked.op)) return;
  ASSERT_TRUE(answers(asked, array.data(), longest, exactly(scalar_of(element * longest))));
}

// fixed_order reads aligned inputs, those beside a boundary and those that lie apart in ways of their own.
TEST(large_counts, of_inputs_of_any_alignment) {
  const auto& cuda = backend_under_test(onefold::backend::cuda);
  if (!cuda.usable) GTEST_SKIP() << cuda.detail;
  if (!are_wanted()) GTEST_SKIP() << why_not_wanted;
  huge_array array((longest + 1) * sizeof(std::uint32_t));
  array.fill(0, (longest + 1) * sizeof(std::uint32_t), 1);
  const std::uint32_t element = 0x01010101;
  const auto* const x = static_cast<const std::uint32_t*>(array.data());
  for (const std::uint64_t count : counts) {
    const auto sum = static_cast<std::uint32_t>(element * count);
    EXPECT_EQ(onefold::sum(onefold::cuda(), x + 1, count), sum) << count;
    EXPECT_EQ(onefold::dot(onefold::cuda(), x, x, count), element * sum) << count;
    EXPECT_EQ(onefold::dot(onefold::cuda(), x + 1, x + 1, count), element * sum) << count;
    EXPECT_EQ(onefold::dot(onefold::cuda(), x, x + 1, count), element * sum) << count;
    count_dispatch(onefold::cuda());
  }
}

// Where the winner is, of arrays that begin at a boundary and of such as begin one element behind it.
TEST(large_counts, tell_places_behind_the_edges_of_32_bits) {
  const auto& cuda = backend_under_test(onefold::backend::cuda);
  if (!cuda.usable) GTEST_SKIP() << cuda.detail;
  if (!are_wanted()) GTEST_SKIP() << why_not_wanted;
  huge_array array((longest + 1) * sizeof(float));
  const auto expect_places = [&]<class T>(std::size_t offset) {
    const T* const x = static_cast<const T*>(array.data()) + offset;
    const auto put = [&](std::uint64_t place, int byte) { array.fill((offset + place) * sizeof(T), sizeof(T), byte); };
    array.fill(0, (longest + 1) * sizeof(T), 1);
    const std::uint64_t places[] = {counts[0] + 1, counts[3], counts[3] + 1, counts[3] + 9, longest - 1};
    for (std::size_t i = 0; i < std::size(places); ++i) {
      const std::uint64_t largest = places[i], least = places[(i + 2) % std::size(places)];
      put(largest, 0x3f);
      put(least, 0);
      const auto words = std::to_string(sizeof(T)) + " bytes, offset " + std::to_string(offset);
      EXPECT_EQ(onefold::argmax(onefold::cuda(), x, longest).index, largest) << words;
      const auto both = onefold::argminmax(onefold::cuda(), x, longest);
      EXPECT_EQ(both.max.index, largest) << words;
      EXPECT_EQ(both.min.index, least) << words;
      count_dispatch(onefold::cuda());
      put(largest, 1);
      put(least, 1);
    }
  };
  for (const std::size_t offset : {0U, 1U}) {
    expect_places.operator()<float>(offset);
    expect_places.operator()<std::uint8_t>(offset);
  }
}

// The state of equal elements, of which that for a power of two is had by doubling.
template <onefold::form What, class T>
onefold::exact_state<What, T> state_of_equal(const T& element, std::uint64_t count) {
  onefold::exact_state<What, T> all, doubled;
  if constexpr (What == onefold::form::dot)
    doubled.add(onefold::serial(), &element, &element, 1);
  else
    doubled.add(onefold::serial(), &element, 1);
  for (std::uint64_t left = count; left > 0; left /= 2) {
    if (left % 2 != 0) all += doubled;
    doubled += onefold::exact_state<What, T>(doubled);
  }
  return all;
}

// Exact sums take several launches then, each of as many elements as its bins have room for.
TEST(large_counts, are_summed_exactly) {
  const auto& cuda = backend_under_test(onefold::backend::cuda);
  if (!cuda.usable) GTEST_SKIP() << cuda.detail;
  if (!are_wanted()) GTEST_SKIP() << why_not_wanted;
  huge_array array((longest + 1) * sizeof(float));
  constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};
  const auto expect_right = [&]<onefold::form What, class T>(std::uint64_t count, int byte, std::size_t offset) {
    T element;
    std::memset(&element, byte, sizeof(T));
    const auto expected = state_of_equal<What>(element, count);
    onefold::exact_state<What, T> got;
    const T* const x = static_cast<const T*>(array.data()) + offset;
    if constexpr (What == onefold::form::dot) {
      got.add(onefold::cuda(), x, static_cast<const T*>(array.data()), count);
    } else {
      got.add(onefold::cuda(), x, count);
      onefold::report ran;
      EXPECT_EQ(onefold::sum(onefold::cuda(), x, count, {.guarantee = exactly.guarantee, .report = &ran}), expected.value());
      EXPECT_GT(ran.launches, count > std::uint64_t{1} << 30 ? 1 : 0);
    }
    EXPECT_EQ(std::memcmp(expected.words(), got.words(), sizeof(std::int64_t) * got.size()), 0)
        << count << " elements of bytes " << byte << ", offset " << offset;
    count_dispatch(onefold::cuda());
  };
  for (const int byte : {0x3f, 0x01, 0xbf}) {
    array.fill(0, (longest + 1) * sizeof(float), byte);
    for (const std::uint64_t count : {(std::uint64_t{1} << 30) + 1, counts[1], longest}) {
      for (const std::size_t offset : {0, 1}) {
        expect_right.operator()<onefold::form::sum, float>(count, byte, offset);
        expect_right.operator()<onefold::form::dot, float>(count, byte, offset);
        expect_right.operator()<onefold::form::sum, double>(count / 2, byte, offset);
        expect_right.operator()<onefold::form::dot, double>(count / 2, byte, offset);
      }
      expect_right.operator()<onefold::form::sum, onefold::bfloat16>(count, byte, 1);
    }
  }
}

// So do those of functions, each of 2^29 indices at most: where every value may leave the window that a warp keeps, and go to the sum's limbs by itself.
TEST(large_counts, of_indices_are_summed_exactly) {
  const auto& cuda = backend_under_test(onefold::backend::cuda);
  if (!cuda.usable) GTEST_SKIP() << cuda.detail;
  if (!are_wanted()) GTEST_SKIP() << why_not_wanted;
  constexpr std::uint64_t of_launch = std::uint64_t{1} << 29;
  const auto expect_turns = [&]<onefold::form What, class T>(std::uint64_t count, T even, T odd) {
    auto expected = state_of_equal<What>(even, count - count / 2);
    expected += state_of_equal<What>(odd, count / 2);
    EXPECT_EQ(words_of_turns<What>(count, even, odd),
              std::vector<std::int64_t>(expected.words(), expected.words() + expected.size()))
        << onefold::name(What) << " of " << count << " of " << +even << " and " << +odd;
    count_dispatch(onefold::cuda());
  };
  for (const std::uint64_t count : {of_launch, of_launch + 1, 2 * of_launch + 12'345, counts[3], longest}) {
    const auto [sum, launches] = exact_sum_of_indices(count);
    const std::uint64_t right = count % 2 == 0 ? count / 2 * (count - 1) : count * ((count - 1) / 2);  // below 2^64
    EXPECT_EQ(sum, static_cast<double>(right)) << count;
    // A launch that adds and one that keeps what was added, again and again.
    EXPECT_GE(launches, 2 * static_cast<int>((count + of_launch - 1) / of_launch)) << count;
    const auto several = exact_sums_of_indices(count);
    EXPECT_EQ(several[0], static_cast<double>(count));
    EXPECT_EQ(several[1], static_cast<double>(right)) << count;
    EXPECT_EQ(several[2], -static_cast<double>(right)) << count;
    for (const std::uint64_t place : {std::uint64_t{0}, of_launch - 2, of_launch - 1, count - 2}) {
      if (place + 1 == count) continue;
      const double huge = place % 2 == 0 ? 1e300 : -1e300;  // of an odd count one is left
      EXPECT_EQ(exact_sum_that_cancels(count, place, 1, 0x1p-52), count % 2 == 0 ? 1 + 0x1p-52 : huge) << count << ", " << place;
    }
    // Equal terms whose digits are ones, and large ones that cancel in part.
    expect_turns.operator()<onefold::form::sum, float>(count, 0x1.fffffep0F, 0x1.fffffep0F);
    expect_turns.operator()<onefold::form::sum, double>(count, -0x1.fffffffffffffp0, -0x1.fffffffffffffp0);
    expect_turns.operator()<onefold::form::sum, double>(count, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1022);
    expect_turns.operator()<onefold::form::mean_variance, std::int64_t>(count, std::numeric_limits<std::int64_t>::min(),
                                                                        std::numeric_limits<std::int64_t>::max());
    if (count != of_launch + 1 && count != longest) continue;
    // Such as lie as far apart as there is room, which take longer.
    expect_turns.operator()<onefold::form::sum, float>(count, 0x1.fffffep127F, 0x1p-149F);
    expect_turns.operator()<onefold::form::norm2, float>(count, 0x1.fffffep127F, 0x1p-149F);
    expect_turns.operator()<onefold::form::sum, double>(count, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp-900);
    expect_turns.operator()<onefold::form::norm2, double>(count, 0x1.fffffffffffffp0, 0x1.fffffffffffffp-900);
    expect_turns.operator()<onefold::form::mean_variance, double>(count, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp-900);
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_large_count,
                         testing::ValuesIn(pairings([](const pairing& one) { return on_cuda(*one.on); })), param_name);

}  // namespace
}  // namespace onefold_test
