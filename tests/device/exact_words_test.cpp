/// @file exact_words_test.cpp  The words of exact states as a GPU stores, adds and rounds them (backends/cuda/exact/words.cuh), on a warp of host threads: they
/// are the words of the library's states, their results those of onefold_exact_result(), and what that refuses is no state here either.

#include "warp_on_host.hpp"

// Of the device's functions those that this code calls beside what all do.
inline unsigned __ballot_sync(unsigned lanes, bool is_so) {
  unsigned all = is_so ? 1U << threadIdx.x % 32 : 0;
  for (int distance = 16; distance > 0; distance /= 2) all |= __shfl_xor_sync(lanes, all, distance);
  return all;
}
inline int __all_sync(unsigned lanes, bool is_so) { return __ballot_sync(lanes, is_so) == 0xffffffffU ? 1 : 0; }
template <class T>
T __shfl_sync(unsigned lanes, T value, unsigned from) {
  T found = threadIdx.x % 32 == from ? value : T{};
  for (int distance = 16; distance > 0; distance /= 2) found |= __shfl_xor_sync(lanes, found, distance);
  return found;
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
using std::max;

#include "../../backends/cuda/exact/words.cuh"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "../../backends/no_elements.hpp"
#include "../exact/added_words.hpp"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

namespace cb = onefold::cuda_backend;
namespace exact = onefold::detail::exact;
using onefold::element_type;
using onefold::form;
using words = std::vector<std::int64_t>;

struct state_kind {
  element_type type;
  form what;
  [[nodiscard]] const exact::kind_row& row() const { return exact::kind_of(what, type); }
  [[nodiscard]] std::int32_t c_type() const { return static_cast<std::int32_t>(type); }
  [[nodiscard]] std::int32_t c_form() const { return static_cast<std::int32_t>(what); }
};
std::string text(const state_kind& of) { return std::string(name(of.what)).append(" of ").append(name(of.type)); }

std::vector<state_kind> all_kinds_of_states() {
  std::vector<state_kind> all;
  for (const auto type : {element_type::f32, element_type::f64, element_type::f16, element_type::bf16, element_type::i32})
    for (const auto what : {form::sum, form::norm1, form::dot, form::sum_of_squares, form::norm2, form::mean, form::mean_variance})
      if (exact::has_state(what, type)) all.push_back({type, what});
  return all;
}

// Numbers of any size, or of few sizes; some sets with infinities, with NaN, with zeros alone.
template <class T>
T some_number(const random_numbers& random, std::uint64_t i, std::uint64_t contents) {
  const std::uint64_t bits = random.at(2 * i);
  if (contents == 0) return std::bit_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(bits));
  if (contents == 1) return T(-0.0);
  if (contents == 2) return bits % 2 == 0 ? T(0.0) : T(-0.0);
  const T value = static_cast<T>(std::ldexp(static_cast<double>(bits >> 11) - 0x1p52, static_cast<int>(random.at(2 * i + 1) % 40)));
  if (contents == 3 && i == 1) return std::numeric_limits<T>::infinity();
  if (contents == 4 && i == 2) return -std::numeric_limits<T>::infinity();
  if (contents == 5 && i == 0) return std::numeric_limits<T>::quiet_NaN();
  return contents == 6 ? -std::abs(value) : value;
}
constexpr std::uint64_t all_contents = 8;

// The words that serial() gives.
words words_of(const state_kind& of, std::uint64_t count, std::uint64_t contents, std::uint64_t seed) {
  const random_numbers random(seed);
  std::vector<std::byte> x(count * 8), y(count * 8);
  for (std::uint64_t i = 0; i < count; ++i)
    for (auto* to : {x.data(), y.data()}) {
      const std::uint64_t which = to == x.data() ? i : count + i;
      const auto put = [&](auto value) { std::memcpy(to + i * sizeof(value), &value, sizeof(value)); };
      if (of.type == element_type::f64) put(some_number<double>(random, which, contents));
      if (of.type == element_type::f32) put(some_number<float>(random, which, contents));
      if (of.type == element_type::f16) put(onefold::float16(some_number<float>(random, which, contents)));
      if (of.type == element_type::bf16) put(onefold::bfloat16(some_number<float>(random, which, contents)));
      if (of.type == element_type::i32) put(static_cast<std::int32_t>(random.at(which)));
    }
  words made(of.row().words());
  EXPECT_EQ(onefold_exact_put_words(of.c_type(), of.c_form(), onefold_serial(), x.data(), y.data(), count, made.data(), nullptr), 0)
      << onefold_last_error();
  return made;
}

// The check of docs/exact.md.
std::int64_t check_of(const words& all) {
  constexpr std::int64_t p = 2147483647;
  std::int64_t factor = 1, sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    factor = factor * 48271 % p;
    if (i != 7) sum = (sum + factor * ((all[i] % p + p) % p)) % p;
  }
  return sum;
}

cb::exact_conclusion conclusion_of(const state_kind& of, bool wide, std::int64_t ddof) {
  cb::exact_conclusion how{};
  how.result = exact::rounding_of(of.type, of.what, wide, 1, 0);
  how.ddof = ddof;
  how.kind = of.row().number;
  for (int s = 0; s < 2; ++s) how.number[s] = of.row().limbs[s];
  onefold::detail::store_empty(of.type, of.what, wide, how.of_none);
  return how;
}

class exact_words_on_a_warp : public testing::Test {
 protected:
  // What the warp makes of words, beside what the library's own code says of them.
  void expect_same_result(const state_kind& of, const words& all, bool wide, std::int64_t ddof) {
    const std::size_t bytes = onefold::result_bytes(of.type, of.what, wide);
    alignas(16) unsigned char right[32], found[32];
    std::memset(right, 0xee, sizeof(right));
    std::memset(found, 0xee, sizeof(found));
    const std::uint32_t flags = wide ? ONEFOLD_WIDE : 0U;
    const int status = onefold_exact_result(of.c_type(), of.c_form(), flags, ddof, all.data(), right);
    if (status != 0) std::memset(right, 0xff, bytes);
    const cb::exact_conclusion how = conclusion_of(of, wide, ddof);
    onefold::device::destination to{};
    to.bytes = static_cast<int>(bytes);
    to.output = found;
    const std::vector<long long> given(all.begin(), all.end());
    const auto shared = std::make_unique<cb::exact_sums::words_memory>();
    std::memset(static_cast<void*>(shared.get()), 0x5a, sizeof(*shared));
    on_a_warp([&] { cb::exact_sums::conclude_words(how, given.data(), to, *shared); });
    ASSERT_EQ(std::memcmp(found, right, sizeof(found)), 0)
        << text(of) << (wide ? " accumulated wide" : "") << (status == 0 ? "" : std::string(", refused: ") + onefold_last_error());
    ++compared_;
    refused_ += status == 0 ? 0 : 1;
  }
  void expect_same_results(const state_kind& of, const words& all) {
    for (const std::int64_t ddof : {0, 1, -3}) {
      if (ddof != 0 && of.what != form::mean_variance) continue;
      ASSERT_NO_FATAL_FAILURE(expect_same_result(of, all, false, ddof));
      if (onefold::can_be_wide(of.type, of.what)) {
        ASSERT_NO_FATAL_FAILURE(expect_same_result(of, all, true, ddof));
      }
    }
  }
  ~exact_words_on_a_warp() override { std::printf("%d results, %d of them refused\n", compared_, refused_); }

  int compared_ = 0, refused_ = 0;
};

TEST_F(exact_words_on_a_warp, are_those_of_the_state) {
  for (const state_kind& of : all_kinds_of_states())
    for (std::uint64_t contents = 0; contents < all_contents; ++contents)
      for (const std::uint64_t count : {1u, 2u, 7u, 100u}) {
        const words right = words_of(of, count, contents, current_seed() + count);
        ASSERT_EQ(right[7], check_of(right));
        std::uint64_t state[1 + exact::most_integer_words + 40] = {};
        ASSERT_EQ(exact::load(of.row(), right.data(), state), count);
        std::vector<long long> found(right.size() + 1, 0x5a5a5a5a5a5a5a5a);
        on_a_warp([&] { cb::exact_sums::store_words(of.row().number, of.row().limbs, state, count, found.data()); });
        ASSERT_EQ(found.back(), 0x5a5a5a5a5a5a5a5a) << "wrote behind them";
        found.pop_back();
        ASSERT_EQ(words(found.begin(), found.end()), right)
            << text(of) << ", contents " << contents << ", " << count << " elements";
      }
}

TEST_F(exact_words_on_a_warp, have_the_results_of_the_sets) {
  for (const state_kind& of : all_kinds_of_states()) {
    for (std::uint64_t contents = 0; contents < all_contents; ++contents)
      for (const std::uint64_t count : {1u, 2u, 7u, 100u}) {
        if (is_sanitized && (count + contents) % 3 != 0) continue;
        const words one = words_of(of, count, contents, current_seed() + count);
        const words other = words_of(of, 3 * count, (contents + count) % all_contents, current_seed() + count + 1);
        ASSERT_NO_FATAL_FAILURE(expect_same_results(of, one));
        ASSERT_NO_FATAL_FAILURE(expect_same_results(of, one + other));
        ASSERT_NO_FATAL_FAILURE(expect_same_results(of, one * 1'000'000'007 + other * 3));
      }
    ASSERT_NO_FATAL_FAILURE(expect_same_results(of, words(of.row().words())));
  }
  EXPECT_EQ(refused_, 0);
}

// Of complex numbers, from the words of both parts side by side; and of words that are none, or of sets that are not as large.
TEST_F(exact_words_on_a_warp, have_the_moments_of_complex_numbers) {
  int refused = 0, compared = 0;
  const auto expect_same = [&](const state_kind& of, const words& all, bool wide, std::int64_t ddof) {
    const std::size_t bytes = 3 * onefold::size_of(onefold::result_type(of.type, of.what, wide));
    alignas(16) unsigned char right[32], found[32];
    std::memset(right, 0xee, sizeof(right));
    std::memset(found, 0xee, sizeof(found));
    const std::int32_t type = of.type == element_type::f64 ? ONEFOLD_C128 : ONEFOLD_C64;
    const int status = onefold_exact_result(type, of.c_form(), wide ? ONEFOLD_WIDE : 0U, ddof, all.data(), right);
    if (status != 0) std::memset(right, 0xff, bytes);
    refused += status == 0 ? 0 : 1;
    ++compared;
    onefold::device::destination to{};
    to.bytes = static_cast<int>(bytes);
    to.output = found;
    const std::vector<long long> given(all.begin(), all.end());
    const auto shared = std::make_unique<cb::exact_sums::words_memory>();
    cb::exact_sums::state_memory real;
    std::memset(static_cast<void*>(shared.get()), 0x5a, sizeof(*shared));
    on_a_warp([&] { cb::exact_sums::conclude_complex_moments(conclusion_of(of, wide, ddof), given.data(), to, *shared, real); });
    ASSERT_EQ(std::memcmp(found, right, sizeof(found)), 0)
        << text(of) << (wide ? " accumulated wide" : "") << ", status " << status;
  };
  const auto joined = [](words real, const words& imaginary) {
    real.insert(real.end(), imaginary.begin(), imaginary.end());
    return real;
  };
  for (const element_type type : {element_type::f32, element_type::f64}) {
    const state_kind of{type, form::mean_variance};
    const bool can_be_wide = type == element_type::f32;
    for (std::uint64_t contents = 0; contents < all_contents; ++contents)
      for (const std::uint64_t other : {contents, (contents + 3) % all_contents, std::uint64_t{7}})
        for (const std::uint64_t count : {1u, 2u, 100u}) {
          const words both =
              joined(words_of(of, count, contents, current_seed() + count), words_of(of, count, other, current_seed()));
          for (const std::int64_t ddof : {0, 1, -3})
            for (const bool wide : {false, can_be_wide}) {
              ASSERT_NO_FATAL_FAILURE(expect_same(of, both, wide, ddof));
              ASSERT_NO_FATAL_FAILURE(expect_same(of, both * 1'000'000'007, wide, ddof));
            }
        }
    ASSERT_NO_FATAL_FAILURE(expect_same(of, words(2 * of.row().words()), false, 0));
    EXPECT_EQ(refused, 0);
    const words good = joined(words_of(of, 50, 7, 1), words_of(of, 50, 7, 2));
    for (const std::size_t at : {std::size_t{2}, std::size_t{20}, good.size() / 2 + 2, good.size() - 1}) {
      words bad = good;
      bad[at] += 1;
      ASSERT_NO_FATAL_FAILURE(expect_same(of, bad, false, 0));
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(of, joined(words_of(of, 50, 7, 1), words_of(of, 49, 7, 2)), false, 0));
    ASSERT_NO_FATAL_FAILURE(expect_same(of, joined(words_of(of, 50, 7, 1), words(of.row().words())), false, 0));
    EXPECT_EQ(std::exchange(refused, 0), 6);
  }
  std::printf("%d results of complex numbers\n", compared);
}

// As many as 2^31 of them, limbs of nothing but ones too; and one more.
TEST_F(exact_words_on_a_warp, may_be_those_of_two_to_the_31_states) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  int taken = 0;
  for (const state_kind& of : all_kinds_of_states()) {
    words full(of.row().words(), 0xffffffff);
    full[0] = exact::first_word + of.row().number;
    full[1] = full[6] = 1;
    full[2] = 5;
    full[3] = full[4] = full[5] = 0;
    const auto put_last = [&](std::int64_t last) {
      full[7 + static_cast<std::size_t>(of.row().limbs[0])] = last;
      full.back() = last;
      full[7] = check_of(full);
    };
    for (const std::int64_t last : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{-2}}) {
      put_last(last);
      ASSERT_NO_FATAL_FAILURE(expect_same_results(of, full * most));
      taken += refused_ == 0 ? 1 : 0;
      refused_ = 0;
    }
    const words few = words_of(of, 9, 7, current_seed());
    ASSERT_NO_FATAL_FAILURE(expect_same_results(of, few * most));
    ASSERT_EQ(refused_, 0);
    ASSERT_NO_FATAL_FAILURE(expect_same_results(of, few * (most + 1)));
    ASSERT_GT(refused_, 0);
    refused_ = 0;
  }
  EXPECT_GT(taken, 0);
}

// Words that were damaged, those whose check was made right again, those of another kind, and zeros with something in them.
TEST_F(exact_words_on_a_warp, that_are_no_state_give_a_number_of_ones_alone) {
  const random_numbers random(current_seed());
  std::uint64_t drawn = 0;
  const std::vector<state_kind> kinds = all_kinds_of_states();
  for (const state_kind& of : kinds) {
    const words good = words_of(of, 50, 7, current_seed()) * 3;
    for (int i = 0; i < 60; ++i) {
      words bad = i % 6 == 5 ? words(good.size()) : good;
      const std::uint64_t where = random.at(++drawn) % (i % 2 == 0 ? bad.size() : 8);
      const std::uint64_t kind_of_damage = random.at(++drawn) % 4;
      std::int64_t& word = bad[where];
      if (kind_of_damage == 0) word ^= std::int64_t{1} << random.at(++drawn) % 64;
      if (kind_of_damage == 1) word = ~word;
      if (kind_of_damage == 2) word = static_cast<std::int64_t>(random.at(++drawn));
      if (kind_of_damage == 3) word = std::numeric_limits<std::int64_t>::min();
      if (i % 3 == 0 && where != 7) bad[7] = check_of(bad);
      ASSERT_NO_FATAL_FAILURE(expect_same_results(of, bad));
    }
    for (const std::int64_t count : {2, 0}) {  // of three states, each of which has an element
      words few = good;
      few[2] = count;
      few[7] = check_of(few);
      const int before = refused_;
      ASSERT_NO_FATAL_FAILURE(expect_same_results(of, few));
      ASSERT_GT(refused_, before) << text(of) << ", " << count << " elements";
    }
    for (const state_kind& other : kinds)
      if (other.row().words() == of.row().words()) {
        ASSERT_NO_FATAL_FAILURE(expect_same_results(other, good));
      }
  }
  EXPECT_GT(refused_, 1000);
}

// Limbs as blocks have added them up: the result that one thread makes of few has the bits of that of the carried state.
TEST(few_limbs_of_a_sum, have_the_result_of_all) {
  const random_numbers random(current_seed());
  std::uint64_t drawn = 0;
  const auto below = [&](std::uint64_t limit) { return static_cast<int>(random.at(++drawn) % limit); };
  int are_few = 0, are_many = 0;
  for (const state_kind& of : all_kinds_of_states()) {
    if (of.what == form::mean_variance) continue;
    for (int i = 0; i < (is_sanitized ? 100 : 400); ++i) {
      const int number = of.row().limbs[0];
      std::vector<long long> limbs(static_cast<std::size_t>(number));
      const int used = 1 + below(8);
      const int first = below(static_cast<std::uint64_t>(number - 2));
      const int digits = 1 + below(62);
      const bool has_signs = of.what != form::norm2 && of.what != form::sum_of_squares && of.what != form::norm1;
      for (int k = first; k < std::min(first + used, number - 2); ++k) {  // as the kinds leave room for
        const auto value = static_cast<long long>(random.at(++drawn) >> (64 - digits));
        limbs[static_cast<std::size_t>(k)] = below(5) == 0 ? 0 : has_signs && below(2) == 0 ? -value : value;
      }
      if (below(8) == 0) limbs.assign(limbs.size(), 0);
      if (below(8) == 0 && has_signs && first + 1 < number - 2) {  // all cancels but the last digit of some limb
        limbs.assign(limbs.size(), 0);
        limbs[static_cast<std::size_t>(first)] = (1LL << 32) - below(2);
        limbs[static_cast<std::size_t>(first) + 1] = -1;
      }
      const std::uint64_t flags = below(6) == 0 ? random.at(++drawn) % 16 : exact::has_other_than_minus_zero;
      const exact::rounding how = exact::rounding_of(of.type, of.what, below(2) == 0 && onefold::can_be_wide(of.type, of.what),
                                                     1 + random.at(++drawn) % 1'000'000, 0);
      exact::u64 of_few[2] = {}, of_all[2] = {};
      bool was_few = false;
      const auto shared = std::make_unique<cb::exact_sums::words_memory>();
      const auto result_of = [&](const exact::leading<3>& top, exact::u64* to) {
        shared->state[0] = flags;
        exact::round_state(how, top, shared->state, shared->rounding, to);
      };
      on_a_warp([&] {
        constexpr int limbs_of_thread = (cb::exact_memory::most + 31) / 32;
        const auto lane = static_cast<int>(threadIdx.x) % 32;
        long long mine[limbs_of_thread];
        for (int k = 0; k < limbs_of_thread; ++k)
          mine[k] = 32 * k + lane < number ? limbs[static_cast<std::size_t>(32 * k + lane)] : 0;
        const cb::exact_sums::used_limbs there = cb::exact_sums::used_of(number, mine);
        if (lane == 0 && cb::exact_sums::are_few(there)) {
          was_few = true;
          result_of(cb::exact_sums::leading_of_few(there, number, limbs.data(), how.scale[0]), of_few);
        }
        __syncwarp();
        const cb::exact_sums::digits carried = cb::exact_sums::carry(limbs.data(), number, there);
        if (lane != 0) return;
        for (int k = 0; k < number; k += 2) shared->state[1 + k / 2] = cb::exact_sums::word_of_limbs(limbs.data(), number, k);
        result_of(cb::exact_sums::leading_of(cb::exact_sums::integers_of(carried, number), shared->state, how.scale[0]), of_all);
      });
      ++(was_few ? are_few : are_many);
      if (was_few) {
        ASSERT_EQ(of_few[0], of_all[0]) << text(of) << ", " << used << " limbs from " << first << " on";
      }
    }
  }
  EXPECT_GT(are_few, is_sanitized ? 250 : 1000);
  EXPECT_GT(are_many, is_sanitized ? 25 : 100);
}

}  // namespace
}  // namespace onefold_test
