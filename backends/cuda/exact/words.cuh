#pragma once
/// @file words.cuh  The ends of exact sums that have nothing to do with how terms are added up: carries, a state's words (docs/exact.md), there and back, and the
/// rounded result. By one warp each. tests/device runs all of it on threads of the host.

#include <cstdint>

#include <onefold/device/store.cuh>
#include <onefold/device/warp.cuh>

#include "words.hpp"

namespace onefold::cuda_backend::exact_sums {

namespace exact = onefold::detail::exact;
using device::warp_size;
using device::whole_warp;

// --- limbs -------------------------------------------------------------------------------------------------------------------------------------------

// Of one number of `size` bytes, or of two side by side, which lie where one does.
__device__ inline void store_result(const device::destination& to, const exact::u64 (&result)[2], int size) {
  if (to.output == nullptr) {
    for (int i = 0; i < to.bytes; i += 4)
      device::detail::send_word(to, i / 4, static_cast<std::uint32_t>(result[i / 8] >> (8 * (i % 8))));
    return;
  }
  device::detail::store_bits(to, 0, result[0], size);
  if (to.bytes > size) device::detail::store_bits(to, size, size == 8 ? result[1] : result[0] >> (8 * size), size);
}

// The limbs of a sum that are not zeros, and what is behind them, as 32-bit digits.
struct digits {
  int first;  ///< ahead of it there are zeros
  int end;    ///< from there on digits of the sign alone
};

// The first and the last of `number` limbs that are not zeros: `number` and -1 where all are. By the threads of a warp, of which each knows limbs warp_lane, warp_lane + 32, ..
struct used_limbs {
  int first;
  int last;
};
template <int OfLane>
__device__ inline used_limbs used_of(int number, const long long (&mine)[OfLane]) {
  used_limbs found{number, -1};
#pragma unroll
  for (int k = 0; k < OfLane; ++k) {
    const unsigned used = __ballot_sync(whole_warp, mine[k] != 0);
    if (used == 0) continue;
    found.first = ::min(found.first, k * warp_size + __ffs(static_cast<int>(used)) - 1);
    found.last = (k + 1) * warp_size - 1 - __clz(static_cast<int>(used));
  }
  return found;
}

// Carries, so that limbs are digits of 32 bits and the last one has the sign. By a warp.
__device__ inline digits carry(long long* limbs, int number, const used_limbs& used) {
  const auto warp_lane = static_cast<int>(threadIdx.x) % warp_size;
  // Of most sums few limbs are not zero, and behind them there is nothing but the sign.
  const digits found{used.first, ::min(used.last + 3, number)};
  int sign = 0;
  __syncwarp();  // votes order no memory: all threads have read their limbs
  if (warp_lane == 0) {
    long long carried = 0;
    for (int i = found.first; i < found.end; ++i) {
      const long long now = limbs[i] + carried;
      carried = now >> 32;
      limbs[i] = i + 1 < number ? now & 0xffffffff : now;
    }
    sign = static_cast<int>(carried);
  }
  sign = __shfl_sync(whole_warp, sign, 0);
#pragma unroll 1
  for (int i = found.end + warp_lane; i < number; i += warp_size) limbs[i] = i + 1 < number ? sign & 0xffffffffLL : sign;
  __syncwarp();
  return found;
}

// Most sums lie in few limbs. One thread makes four words of these, in registers, where carries and searches in memory took it several times as long.
inline constexpr int few_limbs = 6;  // whose sum, with a sign, fits 256 bits
__device__ inline bool are_few(const used_limbs& used) { return used.last - used.first < few_limbs; }
// By one thread, of limbs of which there are few, scaled by 2^scale.
__device__ inline exact::leading<3> leading_of_few(const used_limbs& used, int number, const long long* limbs, int scale) {
  const int first = ::min(used.first, number - few_limbs);
  exact::u64 word[few_limbs / 2 + 1];
  long long carried = 0;
#pragma unroll
  for (int i = 0; i < few_limbs; i += 2) {
    const long long low = limbs[first + i] + carried;
    const long long high = limbs[first + i + 1] + (low >> 32);
    word[i / 2] = static_cast<exact::u64>(high) << 32 | (static_cast<exact::u64>(low) & 0xffffffffU);
    carried = high >> 32;
  }
  word[few_limbs / 2] = static_cast<exact::u64>(carried);
  return {word, scale + 32 * first};
}

// Two limbs as one of a state's integers, `i` being even. The last limb alone keeps its sign.
__device__ inline exact::u64 word_of_limbs(const long long* limbs, int number, int i) {
  const auto low = static_cast<exact::u64>(limbs[i]);
  return i + 1 < number ? low | static_cast<exact::u64>(limbs[i + 1]) << 32 : low;
}

// Of the integers of a sum those that are not zeros ahead, or the sign behind: the others need not be looked at.
struct integers {
  int first;
  int last;
};
__device__ inline integers integers_of(const digits& used, int number) {
  const int first = ::min(used.first, number - 1) / 2;
  return {first, ::max(first, ::min((used.end + 1) / 2, exact::integer_words(number) - 1))};
}

// By one thread, of a state whose first sum is scaled by 2^scale.
__device__ inline exact::leading<3> leading_of(const integers& of_first, const exact::u64* state, int scale) {
  const exact::u64* const first = state + 1 + of_first.first;
  return {first, of_first.last - of_first.first + 1, scale + 64 * of_first.first, state[1 + of_first.last] >> 63 != 0};
}

// --- words -------------------------------------------------------------------------------------------------------------------------------------------

// The check is taken as a polynomial of each thread's words, and of the threads.
using exact::check_factor, exact::check_prime;
ONEFOLD_HOST_DEVICE constexpr std::uint32_t in_field(exact::u64 x) {
  x = (x & check_prime) + (x >> 31);
  x = (x & check_prime) + (x >> 31);
  return static_cast<std::uint32_t>(x >= check_prime ? x - check_prime : x);
}
ONEFOLD_HOST_DEVICE constexpr std::uint32_t product_in_field(std::uint32_t a, std::uint32_t b, std::uint32_t more = 0) {
  return in_field(exact::u64{a} * b + more);
}
constexpr std::uint32_t squared_in_field(std::uint32_t x, int times) {
  for (; times > 0; --times) x = product_in_field(x, x);
  return x;
}
__device__ inline std::uint32_t residue_of(long long w) {
  const std::uint32_t rest = in_field(w < 0 ? -static_cast<exact::u64>(w) : static_cast<exact::u64>(w));
  return w < 0 && rest != 0 ? check_prime - rest : rest;
}
// Of a word(i) that gives word i, and of word 7 nothing; calls see(i, w) of each. All threads have the sum.
template <class Word, class See>
__device__ inline std::uint32_t check_of(int words, const Word& word, const See& see) {
  constexpr std::uint32_t of_32_words = squared_in_field(check_factor, 5);
  const auto warp_lane = static_cast<int>(threadIdx.x) % warp_size;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int first = (words - 1) / warp_size * warp_size; first >= 0; first -= warp_size) {
    const int i = first + warp_lane;
    const long long w = i < words ? word(i) : 0;
    if (i < words) see(i, w);
    sum = product_in_field(sum, of_32_words, i == exact::word_of_check ? 0 : residue_of(w));
  }
  std::uint32_t factor = check_factor;
#pragma unroll 1
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const std::uint32_t other = __shfl_xor_sync(whole_warp, sum, distance);
    const bool is_upper = (warp_lane & distance) != 0;
    sum = product_in_field(factor, is_upper ? sum : other, is_upper ? other : sum);
    factor = product_in_field(factor, factor);
  }
  return product_in_field(sum, check_factor);
}

/// Stores the canonical words of a state, as backends have it, of `count` elements; of none they are zeros. `limbs`: of each sum.
__device__ __noinline__ inline void store_words(int kind, const int (&limbs)[2], const exact::u64* state, exact::u64 count,
                                                long long* words) {
  const exact::u64 flags = state[0];
  const bool has_sum = exact::is_sum_of_numbers(flags);
  const auto word = [&](int i) -> long long {
    if (count == 0) return 0;
    if (i >= exact::header_words) {
      const bool is_second = i >= exact::header_words + limbs[0];
      const int number = is_second ? limbs[1] : limbs[0];
      const exact::u64* const integer = state + 1 + (is_second ? exact::integer_words(limbs[0]) : 0);
      i -= exact::header_words + (is_second ? limbs[0] : 0);
      if (!has_sum) return 0;
      const auto digit = static_cast<std::uint32_t>(integer[i / 2] >> (32 * (i % 2)));
      return i + 1 < number ? static_cast<long long>(digit) : static_cast<long long>(static_cast<std::int32_t>(digit));
    }
    if (i == exact::word_of_kind) return exact::first_word + kind;
    if (i == exact::word_of_states) return 1;
    if (i == exact::word_of_elements) return static_cast<long long>(count);
    return i == exact::word_of_check ? 0 : static_cast<long long>(flags >> (i - exact::word_of_nans) & 1);
  };
  const std::uint32_t check = check_of(exact::header_words + limbs[0] + limbs[1], word, [&](int i, long long w) {
    if (i != exact::word_of_check) words[i] = w;
  });
  if (threadIdx.x % warp_size == 0) words[exact::word_of_check] = count == 0 ? 0 : static_cast<long long>(check);
}

using state_memory = exact::u64[1 + exact_memory::most];

/// What a warp needs to make a result of words.
struct words_memory {
  long long word[exact::most_words];
  state_memory state;
  exact::scratch rounding;
};

/// Makes the state of words that are canonical or a sum of canonical ones, and says whether they are that, and where in the first sum there is something. They
/// lie in shared.word.
__device__ inline bool load_words(int kind, const int (&limbs)[2], words_memory& shared, integers& of_first) {
  constexpr int limbs_of_thread = (exact_memory::most + warp_size - 1) / warp_size;
  const auto warp_lane = static_cast<int>(threadIdx.x) % warp_size;
  long long* const words = shared.word;
  const int all = exact::header_words + limbs[0] + limbs[1];
  const long long m = words[exact::word_of_states];
  const bool is_empty = m == 0;
  bool is_state = m >= 0 && m <= exact::most_states;
  const long long of_m = is_state ? m : 1;  // so that no product overflows
  const auto is_between = [](long long w, long long least, long long most) { return least <= w && w <= most; };
  const long long check = words[exact::word_of_check];
  const std::uint32_t right = check_of(
      all, [&](int i) { return words[i]; },
      [&](int i, long long w) {
        if (is_empty) {
          is_state = is_state && w == 0;
        } else if (i == exact::word_of_kind) {
          is_state = is_state && w == of_m * (exact::first_word + kind);
        } else if (i == exact::word_of_elements) {
          is_state = is_state && is_between(w, of_m, exact::most_elements);
        } else if (i >= exact::word_of_nans && i < exact::word_of_check) {
          const bool has_none = i == exact::word_of_minus_infinities && exact::is_never_negative(kind, 0);
          is_state = is_state && is_between(w, 0, has_none ? 0 : of_m);
        } else if (i >= exact::header_words) {
          const bool is_last = i + 1 == exact::header_words + limbs[0] || i + 1 == all;
          const long long digit = 1LL << (is_last ? 31 : 32);
          is_state = is_state && is_between(w, is_last ? -of_m * digit : 0, of_m * (digit - 1));
        }
      });
  is_state = is_state && check >= 0 && residue_of(check) == right;
  if (__all_sync(whole_warp, is_state) == 0) return false;
  const bool has_sum =
      words[exact::word_of_nans] == 0 && words[exact::word_of_nans + 1] == 0 && words[exact::word_of_nans + 2] == 0;
  int behind = 1;
#pragma unroll 1
  for (int s = 0; s < 2; ++s) {
    const int number = limbs[s];
    if (number == 0) break;
    long long* const limb = words + exact::header_words + (s == 0 ? 0 : limbs[0]);
    long long mine[limbs_of_thread];
#pragma unroll
    for (int k = 0; k < limbs_of_thread; ++k) mine[k] = k * warp_size + warp_lane < number ? limb[k * warp_size + warp_lane] : 0;
    const digits used = carry(limb, number, used_of(number, mine));
    if (s == 0) of_first = integers_of(used, number);
    const long long least = exact::is_never_negative(kind, s) ? 0 : -(1LL << 31);
    is_state = is_between(limb[number - 1], least, (1LL << 31) - 1) && is_state;  // else more than so many elements have
#pragma unroll 1
    for (int i = 2 * warp_lane; i < number; i += 2 * warp_size)
      shared.state[behind + i / 2] = has_sum ? word_of_limbs(limb, number, i) : 0;
    behind += exact::integer_words(number);
  }
  if (warp_lane == 0) {
    exact::u64 flags = 0;
    for (int k = 0; k < 4; ++k)
      if (words[exact::word_of_nans + k] != 0) flags |= exact::u64{1} << k;
    shared.state[0] = flags;
  }
  __syncwarp();
  return is_state;
}

/// Stores the result of words: of no state a number whose bits are all set.
__device__ inline void conclude_words(const exact_conclusion& how, const long long* words, const device::destination& to,
                                      words_memory& shared) {
  const int all = exact::header_words + how.number[0] + how.number[1];
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < all; i += warp_size) shared.word[i] = words[i];
  __syncwarp();
  integers of_first{0, 0};
  const bool is_state = load_words(how.kind, how.number, shared, of_first);
  if (threadIdx.x != 0) return;
  exact::u64 result[2] = {~exact::u64{0}, ~exact::u64{0}};
  const auto count = static_cast<exact::u64>(shared.word[exact::word_of_elements]);
  if (is_state && count == 0) {
    result[0] = how.of_none[0];
    result[1] = how.of_none[1];
  } else if (is_state) {
    result[0] = result[1] = 0;
    exact::rounding rounding = how.result;
    rounding.count = count;
    rounding.degrees = exact::degrees_of(count, how.ddof);
    exact::round_state(rounding, leading_of(of_first, shared.state, rounding.scale[0]), shared.state, shared.rounding, result);
  }
  store_result(to, result, static_cast<int>(how.result.to.bytes));
}

/// Stores mean and variance of complex numbers, of the words of both parts' moments side by side: of what is no state, or not of as many elements, numbers whose bits
/// are all set.
__device__ inline void conclude_complex_moments(const exact_conclusion& how, const long long* words, const device::destination& to,
                                                words_memory& shared, state_memory& real) {
  const int all = exact::header_words + how.number[0] + how.number[1];
  const int integers_of_both = exact::integer_words(how.number[0]) + exact::integer_words(how.number[1]);
  integers of_first[2] = {};
  long long count[2];
  bool are_states = true;
#pragma unroll 1
  for (int part = 0; part < 2; ++part) {
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < all; i += warp_size) shared.word[i] = words[part * all + i];
    __syncwarp();
    integers first{0, 0};
    are_states = load_words(how.kind, how.number, shared, first) && are_states;
    of_first[part] = first;
    count[part] = shared.word[exact::word_of_elements];
    for (int i = static_cast<int>(threadIdx.x); part == 0 && i <= integers_of_both; i += warp_size) real[i] = shared.state[i];
    __syncwarp();
  }
  if (threadIdx.x != 0) return;
  exact::rounding rounding = how.result;
  const auto size = static_cast<int>(rounding.to.bytes);
  exact::u64 result[3] = {~exact::u64{0}, ~exact::u64{0}, ~exact::u64{0}};
  are_states = are_states && count[0] == count[1];
  if (are_states && count[0] == 0) {
    for (int k = 0; k < 3; ++k) exact::put(exact::nan_of(rounding.to), rounding.to, reinterpret_cast<char*>(result) + k * size);
  } else if (are_states) {
    rounding.count = static_cast<exact::u64>(count[0]);
    rounding.degrees = exact::degrees_of(rounding.count, how.ddof);
    exact::round_complex_moments(rounding, leading_of(of_first[0], real, rounding.scale[0]), real,
                                 leading_of(of_first[1], shared.state, rounding.scale[0]), shared.state, shared.rounding, result);
  }
  for (int k = 0; k < 3; ++k)
    device::detail::store_bits(to, k * size, size == 8 ? result[k] : result[k / 2] >> (32 * (k % 2)), size);
}

}  // namespace onefold::cuda_backend::exact_sums
