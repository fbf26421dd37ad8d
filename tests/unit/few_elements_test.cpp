/// @file few_elements_test.cpp  The short way of calls on few elements gives what the long way gives: status, sentence and every byte. Options that
/// wish for nothing lead the long way.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/onefold.hpp>

namespace {

constexpr std::size_t place = 64;  // more than any result
constexpr std::byte untouched{0x5a};
constexpr std::size_t most = 8192;  // elements, of arrays that begin up to 8 further in

struct outcome {
  int status = 0;
  std::string sentence;
  std::array<std::byte, place> output;
};

// The request as it is, with `how`, its result at the front of an array of its own unless it has a place already.
outcome outcome_of(onefold_request asked, const onefold_options* how) {
  alignas(8) std::array<std::byte, place> output;
  output.fill(untouched);
  if (asked.output == nullptr) asked.output = output.data();
  outcome found;
  found.status = onefold_reduce(&asked, how);
  if (found.status != ONEFOLD_OK) found.sentence = onefold_last_error();
  found.output = output;
  return found;
}

void expect_one_outcome(onefold_request asked, const std::string& what) {
  onefold_options no_wishes{};
  no_wishes.struct_bytes = sizeof(no_wishes);
  for (const onefold_executor where :
       {onefold_serial(), onefold_openmp(0), onefold_openmp(3), onefold_openmp(-1), onefold_best()}) {
    asked.where = where;
    const outcome by_the_short_way = outcome_of(asked, nullptr);
    const outcome by_the_long_way = outcome_of(asked, &no_wishes);
    const std::string which = what + ", backend " + std::to_string(where.backend) + ", threads " + std::to_string(where.threads);
    EXPECT_EQ(by_the_short_way.status, by_the_long_way.status) << which;
    EXPECT_EQ(by_the_short_way.sentence, by_the_long_way.sentence) << which;
    EXPECT_EQ(by_the_short_way.output, by_the_long_way.output) << which;
  }
}

onefold_request sum_of(const double* x, std::uint64_t count) {
  onefold_request asked{};
  asked.struct_bytes = sizeof(asked);
  asked.type = ONEFOLD_F64;
  asked.form = ONEFOLD_SUM;
  asked.input = x;
  asked.count = count;
  return asked;
}

// Every pattern of bits is an element of every type: NaN, infinities and subnormals of floats are among them.
const std::vector<std::uint64_t>& any_bits() {
  static const std::vector<std::uint64_t> bits = [] {
    std::vector<std::uint64_t> made(most + 8);
    std::uint64_t state = 1;
    for (auto& one : made) one = state = state * 6364136223846793005U + 1442695040888963407U;
    return made;
  }();
  return bits;
}

// Numbers whose sums and products say something, as elements of every floating-point type.
template <class T>
std::vector<T> numbers() {
  std::vector<T> made(most + 8);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<T>(static_cast<float>(i * 37 % 101) / 16.0F - 3.0F);
  return made;
}

void each_count(onefold_request asked, const std::string& which) {
  for (const std::size_t count :
       {0UL, 1UL, 2UL, 3UL, 7UL, 16UL, 31UL, 64UL, 100UL, 255UL, 1000UL, 1024UL, 2047UL, 2048UL, 2049UL, 4096UL, 4097UL, most}) {
    asked.count = count;
    for (const std::uint32_t flags : {0U, static_cast<std::uint32_t>(ONEFOLD_INTO)}) {
      asked.flags = flags;
      expect_one_outcome(asked, which + ", count " + std::to_string(count) + ", flags " + std::to_string(flags));
    }
  }
}

TEST(few_elements, have_the_long_ways_results_in_every_form_of_every_type) {
  const std::vector<double> doubles = numbers<double>();
  const std::vector<float> floats = numbers<float>();
  int taken = 0;
  for (std::int32_t type = 0; type <= ONEFOLD_BF16; ++type) {
    for (std::int32_t form = 0; form <= ONEFOLD_REDUCE_TOGETHER; ++form) {
      onefold_request asked = sum_of(doubles.data(), 16);
      asked.type = type;
      asked.form = form;
      asked.input = any_bits().data();
      asked.second = any_bits().data() + 1;
      const std::string which = "type " + std::to_string(type) + ", form " + std::to_string(form);
      each_count(asked, which + ", any bits");
      asked.where = onefold_serial();
      if (outcome_of(asked, nullptr).status == ONEFOLD_OK) ++taken;
      if (type != ONEFOLD_F64 && type != ONEFOLD_F32) continue;
      asked.input = type == ONEFOLD_F64 ? static_cast<const void*>(doubles.data()) : floats.data();
      asked.second = type == ONEFOLD_F64 ? static_cast<const void*>(doubles.data() + 3) : floats.data() + 3;
      each_count(asked, which + ", numbers");
    }
  }
  EXPECT_GT(taken, 200);
}

TEST(few_elements, have_the_long_ways_errors) {
  alignas(64) std::array<double, 64> x{};
  std::iota(x.begin(), x.end(), 1.0);
  const auto with = [&](const std::string& which, const auto& change) {
    for (const std::int32_t form : {ONEFOLD_SUM, ONEFOLD_DOT, ONEFOLD_COUNT, ONEFOLD_ALL, ONEFOLD_MEAN, ONEFOLD_ARGMAX,
                                    ONEFOLD_MINMAX, ONEFOLD_MEAN_VARIANCE, ONEFOLD_REDUCE_TOGETHER}) {
      onefold_request asked = sum_of(x.data(), 16);
      asked.form = form;
      asked.second = x.data() + 16;
      change(asked);
      expect_one_outcome(asked, which + ", form " + std::to_string(form));
    }
  };
  auto* const bytes = reinterpret_cast<std::byte*>(x.data());
  with("no input", [](auto& asked) { asked.input = nullptr; });
  with("no second input", [](auto& asked) { asked.second = nullptr; });
  with("an input between elements", [&](auto& asked) { asked.input = bytes + 4; });
  with("a second input between elements", [&](auto& asked) { asked.second = bytes + 1; });
  with("a result between elements", [&](auto& asked) { asked.output = bytes + 8 * 40 + 4; });
  with("a result that ends in the input", [&](auto& asked) { asked.input = x.data() + 20, asked.output = x.data() + 19; });
  for (const std::int64_t ddof : {-1, 1, 15, 16, 17})
    with("a ddof of " + std::to_string(ddof), [&](auto& asked) { asked.ddof = ddof; });
  with("a result in the input", [&](auto& asked) { asked.output = x.data() + 15; });
  with("a result in the second input", [&](auto& asked) { asked.output = x.data() + 16; });
  with("a result behind the input", [&](auto& asked) { asked.output = x.data() + 32; });
  with("a type that is none", [](auto& asked) { asked.type = 99; });
  with("a negative type", [](auto& asked) { asked.type = -1; });
  with("a form that is none", [](auto& asked) { asked.form = 99; });
  with("a negative form", [](auto& asked) { asked.form = -1; });
  with("a flag that is none", [](auto& asked) { asked.flags = 128; });
  with("sums in a wider type", [](auto& asked) { asked.flags = ONEFOLD_WIDE; });
  with("one result", [](auto& asked) { asked.results = 1; });
  with("two results", [](auto& asked) { asked.results = 2; });
  with("no number of results", [](auto& asked) { asked.results = -1; });
  with("no number of arrays", [](auto& asked) { asked.array_count = -1; });
  with("a count that cannot be", [](auto& asked) { asked.count = ~std::uint64_t{0}; });
  with("complex numbers", [](auto& asked) { asked.type = ONEFOLD_C128, asked.count = 8; });
  const std::uint64_t fewer = 5;
  with("a count in memory", [&](auto& asked) { asked.count_at = &fewer; });
  const void* const there = x.data();
  with("an address in memory", [&](auto& asked) { asked.input = nullptr, asked.input_at = &there; });
  with("a second address in memory", [&](auto& asked) { asked.second = nullptr, asked.second_at = &there; });
  const onefold_array array{x.data(), 8, 8};
  with("an array beside it", [&](auto& asked) { asked.arrays = &array, asked.array_count = 1; });
  onefold_value_source nothing{};
  with("a source that gives nothing", [&](auto& asked) { asked.source = &nothing; });
  onefold_own_code no_code{};
  with("code of the caller's that is none", [&](auto& asked) { asked.own = &no_code; });
  std::array<std::int64_t, 256> words{};
  with("a state that is exact", [&](auto& asked) { asked.exact_state = words.data(); });
  double value = 0;
  with("the tree's value", [&](auto& asked) { asked.tree_value = &value; });
}

}  // namespace
