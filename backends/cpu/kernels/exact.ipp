/// @file exact.ipp  Exact sums on the CPU, compiled once for each instruction set.
///
/// The file that includes this one defines ONEFOLD_VECTOR_BYTES and ONEFOLD_EXACT_KERNELS, the name of its table; as in kernels.ipp nothing else
/// leaves the object, and nothing of std:: is called.
///
/// A block of elements is read from the first-level cache by levels. A level is a running sum T that begins at 1.5 * 2^q, so large that it stays
/// between 2^q and 2^(q+1) whatever is added:
///
///   next = T + x      x rounded to a multiple of T's last digit, which is all that the sum changes by
///   l = x - (next - T)    what was left of it, exactly: the next level's element
///
/// So T - 1.5 * 2^q is an exact sum of the elements' upper digits, and the last level's rests must all be zero, or the block is read again with more
/// levels, and in the end with a bin for every 16 exponents. No result is believed that was not seen to be exact.

#include <type_traits>

#include "exact_table.hpp"
#include "vectors.ipp"

namespace onefold::cpu {

namespace {

constexpr int block = 4096;  // elements; 32 KiB of doubles
constexpr int block_log = 12;
constexpr int digits = 53;

constexpr u64 sign_bit = u64{1} << 63;
constexpr int top_field = 2047;
constexpr int field_of_one = 1023;

ONEFOLD_INLINE constexpr u64 bits_of_double(f64 x) { return __builtin_bit_cast(u64, x); }
ONEFOLD_INLINE constexpr f64 double_of_bits(u64 bits) { return __builtin_bit_cast(f64, bits); }
ONEFOLD_INLINE int field_of(u64 bits) { return static_cast<int>(bits >> 52 & 0x7ff); }
// 1.5 * 2^q, a normal number.
ONEFOLD_INLINE constexpr f64 start_of(int q) { return double_of_bits(static_cast<u64>(q + field_of_one) << 52 | u64{1} << 51); }

// --- the integer ---------------------------------------------------------------------------------------------------------------------------

// A finite number: mantissa * 2^exponent, and its sign.
struct finite {
  u64 mantissa;
  int exponent;
  bool negative;
  explicit finite(f64 x) {
    const u64 bits = bits_of_double(x);
    const int field = field_of(bits);
    mantissa = (bits & ((u64{1} << 52) - 1)) | (field != 0 ? u64{1} << 52 : 0);
    exponent = (field != 0 ? field : 1) - field_of_one - 52;
    negative = (bits & sign_bit) != 0;
  }
};

// In two's complement, in units of 2^Unit.
template <int Words, int Unit>
struct integer {
  u64* word;

  // +- digits * 2^(64 at), of three words.
  void add(int at, u64 w0, u64 w1, u64 w2, bool negative) {
    const u64 parts[3] = {w0, w1, w2};
    bool carry = false;
    for (int i = 0; i < 3 && at < Words; ++i, ++at) carry = step(at, parts[i], carry, negative);
    for (; carry && at < Words; ++at) carry = step(at, 0, carry, negative);
  }

  // Of any finite value that is a multiple of the unit.
  void add(f64 x) {
    const finite of(x);
    const int place = of.exponent - Unit;
    if (place < 0) {
      add(0, of.mantissa >> (-place < 63 ? -place : 63), 0, 0, of.negative);
    } else {
      const int shift = place % 64;
      add(place / 64, of.mantissa << shift, shift == 0 ? 0 : of.mantissa >> (64 - shift), 0, of.negative);
    }
  }

  // The product of two finite values whose units' product is the unit.
  void add_product(f64 x, f64 y) {
    static_assert(Unit % 2 == 0);
    const finite a(x), b(y);
    const unsigned __int128 product = static_cast<unsigned __int128>(a.mantissa) * b.mantissa;
    const int place = a.exponent + b.exponent - Unit;
    const u64 low = static_cast<u64>(product);
    const u64 high = static_cast<u64>(product >> 64);
    const int shift = place % 64;
    const bool negative = a.negative != b.negative;
    if (shift == 0)
      add(place / 64, low, high, 0, negative);
    else
      add(place / 64, low << shift, high << shift | low >> (64 - shift), high >> (64 - shift), negative);
  }

 private:
  bool step(int at, u64 part, bool carry, bool negative) {
    u64 made, sum;
    bool out;
    if (negative) {
      out = __builtin_sub_overflow(word[at], part, &made);
      out |= __builtin_sub_overflow(made, u64{carry}, &sum);
    } else {
      out = __builtin_add_overflow(word[at], part, &made);
      out |= __builtin_add_overflow(made, u64{carry}, &sum);
    }
    word[at] = sum;
    return out;
  }
};

// --- levels ----------------------------------------------------------------------------------------------------------------------------------

using doubles = vec<f64, width<f64>>;
using masks = vec<i64, width<f64>>;
using bit_patterns = vec<u64, width<f64>>;

// Running sums of N levels, of which a vector's lanes have one each.
template <int N>
struct levels {
  doubles t[N];

  ONEFOLD_INLINE void start(int q) {
    ONEFOLD_UNROLL(8)
    for (int k = 0; k < N; ++k) t[k] = all<f64>(start_of(place_of(q, k)));
  }
  // What is left of x.
  ONEFOLD_INLINE doubles add(doubles x) {
    ONEFOLD_UNROLL(8)
    for (int k = 0; k < N; ++k) {
      const doubles next = t[k] + x;
      x -= next - t[k];
      t[k] = next;
    }
    return x;
  }
  // Rests have at most half of a level's last digit, and a block has 2^12 of them. Below 2^-1022 every sum is exact.
  static constexpr int place_of(int q, int k) {
    const int here = q - k * (digits - block_log - 1);
    return here > -1022 ? here : -1022;
  }
};

// The sums of U sets of levels, in sums[N].
template <int N, int U>
ONEFOLD_INLINE void close(const levels<N> (&of)[U], int q, f64* sums) {
  for (int k = 0; k < N; ++k) {
    const doubles start = all<f64>(start_of(levels<N>::place_of(q, k)));
    doubles here = of[0].t[k] - start;
    for (int u = 1; u < U; ++u) here += of[u].t[k] - start;
    f64 sum = here[0];
    for (int lane = 1; lane < width<f64>; ++lane) sum += here[lane];
    sums[k] = sum;
  }
}

// Once for each line of an input that comes from memory. In cache it would cost a sixth.
// Two arrays of doubles go further ahead: the first-level cache does not hold their blocks. More levels than these take longer than the memory.
constexpr u64 bytes_ahead_of_products = u64{32} * 1024;
constexpr int most_levels_of_far = 3;
template <bool Far, u64 Ahead = bytes_ahead, class E>
ONEFOLD_INLINE void ask_ahead_at(const E* x, int i) {
  constexpr int elements_of_line = line_bytes / static_cast<int>(sizeof(E));
  if constexpr (Far)
    if (i % elements_of_line == 0) ask_ahead<1, Ahead>(x + i);
}

ONEFOLD_INLINE bool is_zero(masks rests) {
  u64 any = 0;
  for (int lane = 0; lane < width<f64>; ++lane) any |= static_cast<u64>(rests[lane]);
  return (any & ~sign_bit) == 0;
}

// What becomes of `count` elements, in vectors: whole sets of U, then vectors, and in the end a part of one, filled up with zeros.
template <int U, class Load, class Take>
ONEFOLD_INLINE void for_vectors(int count, const Load& load, const Take& take) {
  int i = 0;
  for (; i + U * width<f64> <= count; i += U * width<f64>) {
    ONEFOLD_UNROLL(8)
    for (int u = 0; u < U; ++u) take(u, load(i + u * width<f64>, width<f64>));
  }
  for (; i < count; i += width<f64>) take(0, load(i, count - i < width<f64> ? count - i : width<f64>));
}

template <class E>
ONEFOLD_INLINE doubles load_doubles(const E* x, int i, int count) {
  if (count == width<f64>) return load<E, f64>(x + i);
  E part[width<f64>] = {};
  __builtin_memcpy(part, x + i, static_cast<u64>(count) * sizeof(E));
  return load<E, f64>(part);
}

// --- bins ------------------------------------------------------------------------------------------------------------------------------------

// A bin for every 16 exponents, in several banks, so that neighbours that meet in one need not wait for each other. An element's upper digits and the
// others are added apart: 2^17 elements of one bin are exact.
constexpr int banks = 4;
constexpr int bin_count = 126;

// Terms on their way to the bins, each in two parts. What knows no order is done in vectors, which leaves a third of the time to the bins themselves.
struct split_terms {
  static constexpr int most = 64;
  f64 high[most];
  f64 low[most];
  u64 bin[most];

  // Finite terms become numbers i, i + 1, .. of these.
  ONEFOLD_INLINE void put(int i, doubles x) {
    const bit_patterns upper = reinterpret_cast<bit_patterns>(x) & (u64{127} << 56);
    // 1.5 * 2^(16 k - 991) in bin k. Beyond the bins it is any number: such terms are taken out.
    const doubles begin = reinterpret_cast<doubles>(upper + bits_of_double(start_of(-991)));
    const doubles digits_of_bin = (x + begin) - begin;
    const doubles others = x - digits_of_bin;
    const bit_patterns number = upper >> 56;
    __builtin_memcpy(high + i, &digits_of_bin, sizeof(digits_of_bin));
    __builtin_memcpy(low + i, &others, sizeof(others));
    __builtin_memcpy(bin + i, &number, sizeof(number));
  }
  ONEFOLD_INLINE void take_out(int i) {
    high[i] = low[i] = 0;
    bin[i] = 0;
  }
};
static_assert(split_terms::most % width<f64> == 0);

struct wide_bins {
  static constexpr int count = bin_count;
  static constexpr int beyond = 16 * count;  // exponents from which on the splitting would overflow
  typedef f64 pair __attribute__((vector_size(16)));
  pair bin[banks][count];  // zeros where way::bins_begun() has made it: most calls need none

  ONEFOLD_INLINE void add(const split_terms& terms, int number) {
    int i = 0;
    for (; i + banks <= number; i += banks) {
      ONEFOLD_UNROLL(4)
      for (int bank = 0; bank < banks; ++bank) bin[bank][terms.bin[i + bank]] += pair{terms.high[i + bank], terms.low[i + bank]};
    }
    for (int bank = 0; i < number; ++i, ++bank) bin[bank][terms.bin[i]] += pair{terms.high[i], terms.low[i]};
  }
  template <class Integer>
  void flush(Integer to) const {
    for (int k = 0; k < count; ++k) {
      const pair all = (bin[0][k] + bin[1][k]) + (bin[2][k] + bin[3][k]);
      if (all[0] != 0) to.add(all[0]);
      if (all[1] != 0) to.add(all[1]);
    }
  }
};

// Calls each(first, number) for some terms at a time.
template <class Each>
ONEFOLD_INLINE void for_split_terms(int count, const Each& each) {
  for (int first = 0; first < count; first += split_terms::most)
    each(first, count - first < split_terms::most ? count - first : split_terms::most);
}

// Of the sizes in a block: the bits of the largest and of the smallest that is not zero, less one.
template <class E>
struct range {
  using bits = bits_of<E>;
  bits most = 0, least = largest<bits>();
  static constexpr int mantissa = sizeof(E) == 8 ? 52 : 23;
  static constexpr int last_field = sizeof(E) == 8 ? 2047 : 255;
  [[nodiscard]] int highest() const { return static_cast<int>(most >> mantissa); }
  [[nodiscard]] int lowest() const { return static_cast<int>((least + 1) >> mantissa); }
  [[nodiscard]] bool is_finite() const { return highest() != last_field; }
  // All are less than 2 to this.
  [[nodiscard]] int top() const { return (highest() > 0 ? highest() : 1) - (sizeof(E) == 8 ? 1022 : 126); }
};

ONEFOLD_INLINE i64 largest_of(masks sizes) {
  i64 most = 0;
  for (int lane = 0; lane < width<f64>; ++lane) most = sizes[lane] > most ? sizes[lane] : most;
  return most;
}
// The size with these bits is less than 2 to this.
ONEFOLD_INLINE int top_of_double(i64 size) {
  const int field = static_cast<int>(size >> 52);
  return (field > 0 ? field : 1) - field_of_one + 1;
}

enum class outcome : int { exact, too_large, too_few_levels };

// Elements that are expected to be below 2^top in size: whether they are, whether N levels hold them, and their sums. In any case the bits of the largest
// size, which is found on the way.
template <int N, bool Absolute, bool Far, class E>
[[gnu::noinline]] outcome sum_levels(const E* x, int count, int top, i64& most, f64* sums) {
  constexpr int sets = N > 2 ? 2 : 4;
  const int q = top + block_log + 1;
  levels<N> of[sets];
  for (auto& each : of) each.start(q);
  masks rests[sets] = {};
  masks sizes[sets] = {};
  for_vectors<sets>(
      count,
      [&](int i, int here) {
        ask_ahead_at<Far>(x, i);
        return load_doubles(x, i, here);
      },
      [&](int u, doubles v) {
        const masks size = reinterpret_cast<masks>(v) & static_cast<i64>(~sign_bit);
        sizes[u] = size > sizes[u] ? size : sizes[u];
        if constexpr (Absolute) v = reinterpret_cast<doubles>(size);
        rests[u] |= reinterpret_cast<masks>(of[u].add(v));
      });
  for (int u = 1; u < sets; ++u) {
    rests[0] |= rests[u];
    sizes[0] = sizes[u] > sizes[0] ? sizes[u] : sizes[0];
  }
  most = largest_of(sizes[0]);
  if (top_of_double(most) > top) return outcome::too_large;
  if (!is_zero(rests[0])) return outcome::too_few_levels;
  close(of, q, sums);
  return outcome::exact;
}

// Floats, whose plain sum in doubles is exact where their digits and those of their number are no more than a double has. Returns their range.
template <bool Absolute, bool Far>
[[gnu::noinline]] range<f32> plain_sum(const f32* x, int count, f64& sum) {
  constexpr int sets = 2;
  constexpr int lanes = width<f32>;
  using V = vec<u32, lanes>;
  constexpr u32 size_mask = ~u32{0} >> 1;
  doubles sums[2 * sets] = {};
  V most[sets] = {};
  V least[sets] = {~V{}, ~V{}};
  const auto take = [&](int u, const f32* from) {
    V size;
    __builtin_memcpy(&size, from, sizeof(size));
    size &= size_mask;
    const V below = size - 1;  // a zero is larger than all others
    most[u] = size > most[u] ? size : most[u];
    least[u] = below < least[u] ? below : least[u];
    ONEFOLD_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      doubles v = load<f32, f64>(half == 0 ? from : from + width<f64>);
      if constexpr (Absolute) v = absolute::value<f64, width<f64>>(v);
      sums[2 * u + half] += v;
    }
  };
  int i = 0;
  for (; i + sets * lanes <= count; i += sets * lanes) {
    ONEFOLD_UNROLL(2)
    for (int u = 0; u < sets; ++u) {
      ask_ahead_at<Far>(x, i + u * lanes);
      take(u, &x[i + u * lanes]);
    }
  }
  for (; i < count; i += lanes) {
    f32 part[lanes] = {};
    const int here = count - i < lanes ? count - i : lanes;
    __builtin_memcpy(part, x + i, static_cast<u64>(here) * sizeof(f32));
    take(0, part);
  }
  u32 most_of_all = 0;
  u32 least_of_all = size_mask;
  f64 all_sums = 0;
  for (int u = 0; u < sets; ++u)
    for (int lane = 0; lane < lanes; ++lane) {
      most_of_all = most[u][lane] > most_of_all ? most[u][lane] : most_of_all;
      least_of_all = least[u][lane] < least_of_all ? least[u][lane] : least_of_all;
    }
  for (const doubles& part : sums)
    for (int lane = 0; lane < width<f64>; ++lane) all_sums += part[lane];
  sum = all_sums;
  range<f32> of;
  of.most = static_cast<i32>(most_of_all);
  of.least = static_cast<i32>(least_of_all);
  return of;
}

// The rest of a product that is rounded to p, exactly where neither it nor the factors' halves are too large or small.
ONEFOLD_INLINE doubles rest_of_product(doubles x, doubles y, doubles p) {
#if ONEFOLD_VECTOR_BYTES == 64
  return reinterpret_cast<doubles>(
      _mm512_maskz_fmsub_pd(0xff, reinterpret_cast<__m512d>(x), reinterpret_cast<__m512d>(y), reinterpret_cast<__m512d>(p)));
#elif ONEFOLD_VECTOR_BYTES == 32
  return reinterpret_cast<doubles>(
      _mm256_fmsub_pd(reinterpret_cast<__m256d>(x), reinterpret_cast<__m256d>(y), reinterpret_cast<__m256d>(p)));
#else
  // Dekker's: factors in halves of 26 digits and a sign.
  const f64 splitter = 0x1p27 + 1;
  const doubles cx = x * splitter, cy = y * splitter;
  const doubles xh = cx - (cx - x), yh = cy - (cy - y);
  const doubles xl = x - xh, yl = y - yh;
  return xl * yl - (((p - xh * yh) - xl * yh) - xh * yl);
#endif
}

// Products of doubles, of size below 2^top, whose rests are exact.
template <int N, bool Far>
[[gnu::noinline]] bool product_levels(const f64* x, const f64* y, int count, int top, f64* sums) {
  constexpr int sets = 2;
  const int q = top + block_log + 1;
  levels<N> of[sets], of_rests[sets];
  for (auto& each : of) each.start(q);
  for (auto& each : of_rests) each.start(q - digits);
  masks rests[sets] = {};
  struct pair {
    doubles x, y;
  };
  for_vectors<sets>(
      count,
      [&](int i, int here) {
        ask_ahead_at<Far, bytes_ahead_of_products>(x, i);
        ask_ahead_at<Far, bytes_ahead_of_products>(y, i);
        return pair{load_doubles(x, i, here), load_doubles(y, i, here)};
      },
      [&](int u, const pair& v) {
        const doubles p = v.x * v.y;
        rests[u] |= reinterpret_cast<masks>(of_rests[u].add(rest_of_product(v.x, v.y, p)));
        rests[u] |= reinterpret_cast<masks>(of[u].add(p));
      });
  rests[0] |= rests[1];
  if (!is_zero(rests[0])) return false;
  close(of, q, sums);
  close(of_rests, q - digits, sums + N);
  return true;
}

// Products of floats, which are doubles.
template <int N, bool Far>
[[gnu::noinline]] bool product_levels(const f32* x, const f32* y, int count, int top, f64* sums) {
  constexpr int sets = 2;
  const int q = top + block_log + 1;
  levels<N> of[sets];
  for (auto& each : of) each.start(q);
  masks rests[sets] = {};
  for_vectors<sets>(
      count,
      [&](int i, int here) {
        ask_ahead_at<Far>(x, i);
        ask_ahead_at<Far>(y, i);
        return load_doubles(x, i, here) * load_doubles(y, i, here);
      },
      [&](int u, doubles p) { rests[u] |= reinterpret_cast<masks>(of[u].add(p)); });
  rests[0] |= rests[1];
  if (!is_zero(rests[0])) return false;
  close(of, q, sums);
  return true;
}

// --- blocks ----------------------------------------------------------------------------------------------------------------------------------

template <bool Least, class E>
ONEFOLD_INLINE range<E> range_of(const E* x, int count) {
  using bits = bits_of<E>;
  using V = vec<bits, width<E>>;
  constexpr bits size = largest<bits>();
  V most[2] = {};
  V least[2] = {all(size), all(size)};
  const auto take = [&](int u, V v) {
    v &= size;
    most[u] = v > most[u] ? v : most[u];
    if constexpr (Least) {
      const V below = (v - bits(1)) & size;  // a zero is larger than all others
      least[u] = below < least[u] ? below : least[u];
    }
  };
  int i = 0;
  const auto load_bits = [&](int at) {
    V v;
    __builtin_memcpy(&v, x + at, sizeof(v));
    return v;
  };
  for (; i + 2 * width<E> <= count; i += 2 * width<E>) {
    take(0, load_bits(i));
    take(1, load_bits(i + width<E>));
  }
  for (; i + width<E> <= count; i += width<E>) take(0, load_bits(i));
  if (i < count) {
    V part = {};
    __builtin_memcpy(&part, x + i, static_cast<u64>(count - i) * sizeof(E));
    take(0, part);
  }
  range<E> of;
  for (int u = 0; u < 2; ++u)
    for (int lane = 0; lane < width<E>; ++lane) {
      of.most = most[u][lane] > of.most ? most[u][lane] : of.most;
      of.least = least[u][lane] < of.least ? least[u][lane] : of.least;
    }
  return of;
}

ONEFOLD_INLINE u64 kind_of_term(f64 x) {
  const u64 bits = bits_of_double(x);
  u64 found = bits != sign_bit ? exact_other_than_minus_zero : 0;
  if (field_of(bits) == top_field) {
    if ((bits & ((u64{1} << 52) - 1)) != 0)
      found |= exact_nan;
    else
      found |= (bits & sign_bit) != 0 ? exact_minus_infinity : exact_infinity;
  }
  return found;
}
ONEFOLD_INLINE bool is_number(u64 kind) { return (kind & (exact_nan | exact_infinity | exact_minus_infinity)) == 0; }

// The first term that is not -0 ends it, which mostly is the first.
template <class Term>
ONEFOLD_INLINE void look_for_other_than_minus_zero(u64& flags, int count, const Term& term) {
  for (int i = 0; i < count && (flags & exact_other_than_minus_zero) == 0; ++i)
    flags |= kind_of_term(term(i)) & exact_other_than_minus_zero;
}

// Of one call: what the last block took, and bins that were needed.
struct way {
  int levels = 0;  // a position in the list of those that there are, or one behind for bins
  int top = unknown;
  bool far = false;  // the input comes from memory, and is read where it lies
  bool has_bins = false;
  wide_bins bins;
  static constexpr int unknown = 1 << 16;

  wide_bins& bins_begun() {
    if (!has_bins) bins = wide_bins{};
    has_bins = true;
    return bins;
  }
};

// Tries one number of levels after the other, from the last block's on. `attempt` is called with a number of levels as a type; returns whether one
// of them was enough.
template <int... N>
struct choices {
  static constexpr int count = sizeof...(N);
};
template <class Attempt, int... N>
ONEFOLD_INLINE bool take_levels(choices<N...>, int& now, const Attempt& attempt) {
  int at = 0;
  bool taken = false;
  ((taken = taken || (at++ >= now &&
                      [&] {
                        bool enough = attempt.template operator()<N>();
                        if (!enough) now = at;
                        return enough;
                      }())),
   ...);
  return taken;
}

template <int Unit, int Words, int N>
ONEFOLD_INLINE void add_all(integer<Words, Unit> to, const f64 (&sums)[N]) {
  for (const f64 sum : sums)
    if (sum != 0) to.add(sum);
}

// Terms that are no numbers are marked, and the others added.
template <class Integer, class Term>
ONEFOLD_INLINE void add_one_by_one(int count, u64& flags, Integer to, const Term& term) {
  for (int i = 0; i < count; ++i) {
    const f64 v = term(i);
    const u64 kind = kind_of_term(v);
    flags |= kind;
    if (is_number(kind)) to.add(v);
  }
}

// Sums of at most 2^14 elements.
template <class E, bool Absolute>
struct sums_of;

template <bool Absolute>
struct sums_of<f64, Absolute> {
  using integer_t = integer<34, -1074>;

  ONEFOLD_INLINE static f64 value(f64 x) { return Absolute ? double_of_bits(bits_of_double(x) & ~sign_bit) : x; }

  static void add_block(const f64* x, int count, u64& flags, integer_t to, way& how) {
    look_for_other_than_minus_zero(flags, count, [&](int i) { return value(x[i]); });
    using level_choices = choices<2, 3, 5, 8>;
    if (how.top == way::unknown || how.levels == level_choices::count)  // bins do not look
      how.top = top_of_double(range_of<false>(x, count).most);
    const int levels = how.levels;
    int fewest = 0;  // levels that may be enough, once that has been looked for
    if (take_levels(level_choices{}, how.levels, [&]<int N>() {
          if (N < fewest) return false;
          if (take<N>(x, count, to, how)) return true;
          if (fewest == 0 && how.top <= highest) fewest = fewest_levels_of(x, count);
          return false;
        }))
      return;
    if (how.top <= highest) return add_to_bins(x, count, to, how);
    how.levels = levels;  // of which there may still be enough for others
    if (how.top > field_of_one + 1)
      add_one_by_one(count, flags, to, [&](int i) { return value(x[i]); });
    else
      add_to_bins(x, count, to, how);
    how.top = way::unknown;
  }

 private:
  static constexpr int highest = field_of_one - block_log - 1;  // of tops with which a level does not overflow

  // That hold the first digits of the largest and of the smallest element: fewer than are enough, or as many.
  static int fewest_levels_of(const f64* x, int count) {
    const range<f64> all = range_of<true>(x, count);
    const int lowest = (all.lowest() > 0 ? all.lowest() : 1) - field_of_one;
    int fewest = 1;
    while (levels<1>::place_of(all.top() + block_log + 1, fewest - 1) - (digits - 1) > lowest) ++fewest;
    return fewest;
  }

  // With N levels. Where the block is not what was expected, once more with what it is. No level begins beyond `highest`: it would be no number.
  template <int N>
  static bool take(const f64* x, int count, integer_t to, way& how) {
    while (how.top <= highest) {
      f64 of[N];
      i64 most;
      const outcome found = how.far ? sum_levels<N, Absolute, N <= most_levels_of_far>(x, count, how.top, most, of)
                                    : sum_levels<N, Absolute, false>(x, count, how.top, most, of);
      if (found == outcome::exact) {
        add_all(to, of);
        return true;
      }
      const int top = top_of_double(most);
      if (top == how.top) return false;
      how.top = top;
    }
    return false;
  }

  static void add_to_bins(const f64* x, int count, integer_t to, way& how) {
    wide_bins& bins = how.bins_begun();
    for_split_terms(count, [&](int first, int number) {
      split_terms terms;
      masks sizes = {};
      for (int i = 0; i < number; i += width<f64>) {
        doubles v = load_doubles(x + first, i, number - i < width<f64> ? number - i : width<f64>);
        const masks size = reinterpret_cast<masks>(v) & static_cast<i64>(~sign_bit);
        sizes = size > sizes ? size : sizes;
        if constexpr (Absolute) v = reinterpret_cast<doubles>(size);
        terms.put(i, v);
      }
      if (field_of(static_cast<u64>(largest_of(sizes))) >= wide_bins::beyond)
        for (int i = 0; i < number; ++i) {
          if (field_of(bits_of_double(x[first + i])) < wide_bins::beyond) continue;
          to.add(value(x[first + i]));
          terms.take_out(i);
        }
      bins.add(terms, number);
    });
  }
};

template <bool Absolute>
struct sums_of<f32, Absolute> {
  using integer_t = integer<6, -149>;

  ONEFOLD_INLINE static f64 value(f32 x) {
    const f64 v = static_cast<f64>(x);
    return Absolute ? double_of_bits(bits_of_double(v) & ~sign_bit) : v;
  }

  static void add_block(const f32* x, int count, u64& flags, integer_t to, way& how) {
    look_for_other_than_minus_zero(flags, count, [&](int i) { return value(x[i]); });
    f64 plain = 0;
    const range<f32> all = how.far ? plain_sum<Absolute, true>(x, count, plain) : plain_sum<Absolute, false>(x, count, plain);
    if (!all.is_finite()) return add_one_by_one(count, flags, to, [&](int i) { return value(x[i]); });
    if (all.most == 0) return;
    // The lowest digit of the smallest is 24 places below its top.
    const int lowest = (all.lowest() > 0 ? all.lowest() : 1) - 126 - 24;
    if (all.top() + block_log - lowest <= digits) {
      if (plain != 0) to.add(plain);
      return;
    }
    // Seven levels hold all floats.
    take_levels(choices<2, 4, 7>{}, how.levels, [&]<int N>() {
      f64 of[N];
      i64 most;
      if (sum_levels<N, Absolute, false>(x, count, all.top(), most, of) != outcome::exact) return false;
      add_all(to, of);
      return true;
    });
  }
};

// Sums of products of f64 and f32.
template <class E>
struct products_of {
  static constexpr bool is_double = same<E, f64>;
  using integer_t = std::conditional_t<is_double, integer<67, -2148>, integer<10, -298>>;

  static void add_block(const E* x, const E* y, int count, u64& flags, integer_t to, way& how) {
    const range<E> of_x = range_of<is_double>(x, count);
    const range<E> of_y = x == y ? of_x : range_of<is_double>(y, count);
    if (!of_x.is_finite() || !of_y.is_finite()) return add_one_by_one(x, y, count, flags, to);
    look_for_other_than_minus_zero(flags, count, [&](int i) { return signed_product(x[i], y[i]); });
    if (of_x.most == 0 || of_y.most == 0) return;
    const int top = of_x.top() + of_y.top();
    if constexpr (is_double) {
      // Neither overflow, nor a rest below 2^-1074, nor factors that cannot be cut in halves.
      const int lowest_x = of_x.lowest(), lowest_y = of_y.lowest();
      if (top > 960 || of_x.top() > 990 || of_y.top() > 990 || lowest_x == 0 || lowest_y == 0 || lowest_x + lowest_y < 1080)
        return add_one_by_one(x, y, count, flags, to);
    }
    if (take_levels(choices<2, 3, 5>{}, how.levels, [&]<int N>() {
          f64 of[is_double ? 2 * N : N];
          constexpr bool few = N <= most_levels_of_far;
          if (!(how.far ? product_levels<N, few>(x, y, count, top, of) : product_levels<N, false>(x, y, count, top, of)))
            return false;
          add_all(to, of);
          return true;
        }))
      return;
    wide_bins& bins = how.bins_begun();
    for_split_terms(count, [&](int first, int number) {
      split_terms terms;
      [[maybe_unused]] split_terms rests;
      for (int i = 0; i < number; i += width<f64>) {
        const int here = number - i < width<f64> ? number - i : width<f64>;
        const doubles a = load_doubles(x + first, i, here), b = load_doubles(y + first, i, here);
        const doubles p = a * b;
        terms.put(i, p);
        if constexpr (is_double) rests.put(i, rest_of_product(a, b, p));
      }
      bins.add(terms, number);
      if constexpr (is_double) bins.add(rests, number);
    });
  }

 private:
  // A number of the product's kind: of two numbers that are not zero one with its sign, which need not be its size.
  ONEFOLD_INLINE static f64 signed_product(E x, E y) {
    if (x != 0 && y != 0 && x - x == 0 && y - y == 0) return (x < 0) != (y < 0) ? -1.0 : 1.0;
    return static_cast<f64>(x) * static_cast<f64>(y);
  }

  static void add_one_by_one(const E* x, const E* y, int count, u64& flags, integer_t to) {
    for (int i = 0; i < count; ++i) {
      const u64 kind = kind_of_term(signed_product(x[i], y[i]));
      flags |= kind;
      if (!is_number(kind)) continue;
      if constexpr (is_double)
        to.add_product(x[i], y[i]);
      else
        to.add(static_cast<f64>(x[i]) * static_cast<f64>(y[i]));
    }
  }
};

// Elements of any type as those that are summed: halves become floats in memory of the block's own.
template <class E>
struct elements {
  using type = E;
  static constexpr bool in_place = true;
  const E* operator()(const E* x, int) const { return x; }
};
template <class E>
struct floats_of_halves {
  using type = f32;
  static constexpr bool in_place = false;
  f32 memory[block];
  const f32* operator()(const E* x, int count) {
    int i = 0;
    for (; i + width<f32> <= count; i += width<f32>) {
      const vec<f32, width<f32>> v = load<E, f32>(x + i);
      __builtin_memcpy(memory + i, &v, sizeof(v));
    }
    for (; i < count; ++i) memory[i] = half_value(x[i]);
    return memory;
  }
};
template <>
struct elements<f16> : floats_of_halves<f16> {};
template <>
struct elements<bf16> : floats_of_halves<bf16> {};

template <class E, bool Absolute>
void add_sums(const void* first, const void*, u64 count, bool far, u64* flags, u64* words) {
  using of = sums_of<typename elements<E>::type, Absolute>;
  const typename of::integer_t to{words};
  way how;
  how.far = far && elements<E>::in_place;
  elements<E> values;
  const E* x = static_cast<const E*>(first);
  for (u64 done = 0; done < count; done += block) {
    const int here = count - done < block ? static_cast<int>(count - done) : block;
    of::add_block(values(x + done, here), here, *flags, to, how);
  }
  if (how.has_bins) how.bins.flush(to);
}

template <class E>
void add_products(const void* first_x, const void* first_y, u64 count, bool far, u64* flags, u64* words) {
  using of = products_of<typename elements<E>::type>;
  const typename of::integer_t to{words};
  way how;
  how.far = far && elements<E>::in_place;
  elements<E> of_x, of_y;
  const E* x = static_cast<const E*>(first_x);
  const E* y = static_cast<const E*>(first_y);
  for (u64 done = 0; done < count; done += block) {
    const int here = count - done < block ? static_cast<int>(count - done) : block;
    const auto* const a = of_x(x + done, here);
    of::add_block(a, x == y ? a : of_y(y + done, here), here, *flags, to, how);
  }
  if (how.has_bins) how.bins.flush(to);
}

}  // namespace

extern const exact_table ONEFOLD_EXACT_KERNELS = {
#define ONEFOLD_EXACT_TYPE(E) {add_sums<E, false>, add_sums<E, true>, add_products<E>},
    ONEFOLD_EXACT_TYPES(ONEFOLD_EXACT_TYPE)
#undef ONEFOLD_EXACT_TYPE
};

}  // namespace onefold::cpu
