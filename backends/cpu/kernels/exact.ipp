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
/// levels, and in the end with an integer for every exponent. No result is believed that was not seen to be exact.

#include <type_traits>

#include "exact_table.hpp"
#include "vectors.ipp"

namespace onefold::cpu {

namespace {

constexpr int block = 4096;  // elements; 32 KiB of doubles
constexpr int block_log = 12;
constexpr int digits = 53;

__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

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

// In two's complement, in multiples of 2^Scale.
template <int Words, int Scale>
struct integer {
  static constexpr int words = Words;
  u64* word;

  // +- digits * 2^(64 at), of three words.
  void add(int at, u64 w0, u64 w1, u64 w2, bool negative) {
    const u64 parts[3] = {w0, w1, w2};
    bool carry = false;
    for (int i = 0; i < 3 && at < Words; ++i, ++at) carry = step(at, parts[i], carry, negative);
    for (; carry && at < Words; ++at) carry = step(at, 0, carry, negative);
  }

  // + part and a carry from below, in one word. Returns the carry.
  bool add_word(int at, u64 part, bool carry) { return step(at, part, carry, false); }

  // + v 2^place, in multiples of 2^Scale: a whole number of them.
  void add(i128 v, int place) {
    if (v == 0) return;
    if (place < 0) {
      v >>= -place;
      place = 0;
    }
    const bool negative = v < 0;
    const u128 size = negative ? -static_cast<u128>(v) : static_cast<u128>(v);
    const int shift = place % 64;
    const u128 upper = size >> 64 << shift;
    const u128 lower = static_cast<u128>(static_cast<u64>(size)) << shift;
    const u128 middle = upper + (lower >> 64);
    add(place / 64, static_cast<u64>(lower), static_cast<u64>(middle), static_cast<u64>(middle >> 64), negative);
  }

  // Of any finite value that is a multiple of 2^Scale.
  void add(f64 x) {
    const finite of(x);
    const int place = of.exponent - Scale;
    if (place < 0) {
      add(0, of.mantissa >> (-place < 63 ? -place : 63), 0, 0, of.negative);
    } else {
      const int shift = place % 64;
      add(place / 64, of.mantissa << shift, shift == 0 ? 0 : of.mantissa >> (64 - shift), 0, of.negative);
    }
  }

  // The product of two finite values whose last places' product is 2^Scale.
  void add_product(f64 x, f64 y) {
    static_assert(Scale % 2 == 0);
    const finite a(x), b(y);
    const u128 product = static_cast<u128>(a.mantissa) * b.mantissa;
    const int place = a.exponent + b.exponent - Scale;
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

// Levels that hold the first digits of terms below 2^top and of one from 2^lowest to 2^(lowest + 1): fewer than are enough, or as many, or more
// than `Most`. So no block is read with levels that cannot hold it.
template <int Most>
int fewest_levels(int top, int lowest) {
  int fewest = 1;
  while (fewest <= Most && levels<1>::place_of(top + block_log + 1, fewest - 1) - (digits - 1) > lowest) ++fewest;
  return fewest;
}

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

// A double's place is the exponent of its last digit, from 0 on: subnormals have that of the smallest normal numbers. Its digits are a whole number.
// Nothing here compares 64 bits: SSE2 cannot.
struct split_double {
  using fields = vec<i16, vector_bytes / 2>;
  bit_patterns field;
  bit_patterns size;
  bit_patterns place;

  ONEFOLD_INLINE explicit split_double(bit_patterns x) {
    field = (x << 1) >> 53;
    // 1 for normal numbers, else 0. A field is one of 16 bits, above which are zeros.
    const fields there = reinterpret_cast<fields>(field), one = reinterpret_cast<fields>(all<u64>(1));
    const bit_patterns is_normal = reinterpret_cast<bit_patterns>(there < one ? there : one);
    size = (x & ((u64{1} << 52) - 1)) | (is_normal << 52);
    place = field - is_normal;
  }
  // All ones where x is below zero.
  ONEFOLD_INLINE static bit_patterns sign_of(bit_patterns x) {
    return reinterpret_cast<bit_patterns>(reinterpret_cast<masks>(x) >> 63);
  }
};

constexpr int place_of_no_number = 2046;
constexpr int terms_at_once = 64;

// So many go to the integer one by one, in no more time than it takes to clear bins and to add them up.
constexpr int few_terms = 192;

// The places of some doubles. Zeros and subnormals are not among the lowest.
struct places {
  using fields = split_double::fields;
  static constexpr int zero_last = 0x7fff;  // added to a field, in 16 bits: zero becomes the largest
  fields highest = {};
  fields lowest = fields{} + static_cast<i16>(zero_last);

  ONEFOLD_INLINE void take(bit_patterns field) {
    const fields here = reinterpret_cast<fields>(field);
    const fields from_one = reinterpret_cast<fields>(field + u64{zero_last});
    highest = here > highest ? here : highest;
    lowest = from_one < lowest ? from_one : lowest;
  }
  [[nodiscard]] int highest_place() const {
    int most = 0;
    for (int i = 0; i < vector_bytes / 2; i += 4) most = highest[i] > most ? highest[i] : most;
    return most > 0 ? most - 1 : 0;
  }
  [[nodiscard]] int lowest_place() const {
    int least = zero_last;
    for (int i = 0; i < vector_bytes / 2; i += 4) least = lowest[i] < least ? lowest[i] : least;
    return least + (zero_last + 1);
  }
};

// An integer for each place, in banks, so that neighbours at one place need not wait for each other. 2^Scale is at place `Below`. So a term is two loads and one
// addition to memory: bins of doubles for 16 exponents each had two parts of a term, which took half as long again, and none for the largest and the smallest.
// Integers are less than 2^60 in size when they have been looked at, which comes before what was added since then can be 2^63.
template <int Banks, int Places, int Below>
struct bins_of {
  static constexpr int banks = Banks;
  u64 bin[Banks][Places];

  void begin_once() {
    if (has_begun) return;
    for (auto& bank : bin)
      for (u64& each : bank) each = begin;
    has_begun = true;
  }

  // There are terms at these places. At the lowest there may always be some.
  void widen(int lowest, int highest) {
    first = lowest / group < first ? lowest / group : first;
    last = highest / group + 1 > last ? highest / group + 1 : last;
  }

  // Whether there must be a look before so many are added, of which each bank has no more than one for a place.
  ONEFOLD_INLINE bool is_full(int more) {
    added += more;
    const bool is_too_much = added > most_between_looks;
    if (is_too_much) added = more;
    return is_too_much;
  }

  template <class Integer>
  [[gnu::noinline]] void look(Integer to) {
    constexpr u64 beyond = ~(2 * begin - 1);
    for (auto& bank : bin)
      for (int at = 0; at < last * group; at = at == 0 && first > 0 ? first * group : at + group) {
        u64 any = 0;
        for (int i = at; i < at + group; ++i) any |= bank[i];
        if ((any & beyond) == 0) continue;
        for (int i = at; i < at + group; ++i) {
          if ((bank[i] & beyond) == 0) continue;
          to.add(i128{static_cast<i64>(bank[i] - begin)}, i - Below);
          bank[i] = begin;
        }
      }
  }

  // From the lowest place up, so that carries go through the integer once.
  template <class Integer>
  [[gnu::noinline]] void flush(Integer to) const {
    if (!has_begun) return;
    if (first > 0)
      for (int place = 0; place < group; place += 16) to.add(sum_of(place), place - Below);
    i128 rest = 0;
    bool carry = false;
    int word = first - Below / group;
    for (int at = first; at < last; ++at, ++word) {
      u64 made = 0;
      for (int i = 0; i < 64; i += 16) {
        rest += sum_of(at * group + i);
        made |= static_cast<u64>(rest & 0xffff) << i;
        rest >>= 16;
      }
      if (word >= 0) carry = to.add_word(word, made, carry);
    }
    for (; word < to.words && rest + carry != 0; ++word, rest >>= 64) carry = to.add_word(word, static_cast<u64>(rest), carry);
  }

 private:
  static constexpr int group = 64;
  // Of each integer, so that those less than this in size are numbers without a sign below twice as much, and one OR looks at many.
  static constexpr u64 begin = u64{1} << 60;
  static constexpr int most_between_looks = 7 << (60 - digits);
  int first = Places / group, last = 0;  // groups in which there may be terms, beside the lowest
  int added = 0;
  bool has_begun = false;
  static_assert(Places % group == 0 && Below % group == 0);

  // Of the 16 integers from this place on, in multiples of what it stands for there.
  [[nodiscard]] ONEFOLD_INLINE i128 sum_of(int place) const {
    // Halves of them: their sums have 52 bits, and carry nothing.
    u64 low = 0, high = 0;
    for (int i = 15; i >= 0; --i) {
      low += low;
      high += high;
      for (const auto& bank : bin) {
        const u64 value = bank[place + i] - begin;
        low += value & 0xffffffff;
        high += static_cast<u64>(static_cast<i64>(value) >> 32);
      }
    }
    return i128{static_cast<i64>(high)} * (i64{1} << 32) + low;
  }
};

// Calls each(first, number) for some terms at a time.
template <class Each>
ONEFOLD_INLINE void for_some_terms(int count, const Each& each) {
  for (int first = 0; first < count; first += terms_at_once)
    each(first, count - first < terms_at_once ? count - first : terms_at_once);
}

// Of doubles, which `load` gives, as bits, in vectors: what can be done in vectors is, 64 terms at a time. Returns whether all were finite. Where not the bins are not
// the sum, for which nobody asks then.
template <class Bins, class Integer, class Load>
ONEFOLD_INLINE bool add_to_bins(Bins& bins, int count, Integer to, const Load& load) {
  bins.begin_once();
  places seen;
  for_some_terms(count, [&](int first, int number) {
    if (bins.is_full(terms_at_once / Bins::banks)) {
      bins.widen(seen.lowest_place(), seen.highest_place());
      bins.look(to);
    }
    alignas(64) i64 value[terms_at_once];
    alignas(64) u64 place[terms_at_once];
    for (int i = 0; i < number; i += width<f64>) {
      const bit_patterns v = load(first + i, number - i < width<f64> ? number - i : width<f64>);
      const split_double term(v);
      seen.take(term.field);
      const bit_patterns sign = term.sign_of(v);
      const bit_patterns with_sign = (term.size ^ sign) - sign;
      __builtin_memcpy(value + i, &with_sign, sizeof(with_sign));
      __builtin_memcpy(place + i, &term.place, sizeof(term.place));
    }
    int i = 0;
    for (; i + Bins::banks <= number; i += Bins::banks) {
      ONEFOLD_UNROLL(4)
      for (int bank = 0; bank < Bins::banks; ++bank) bins.bin[bank][place[i + bank]] += static_cast<u64>(value[i + bank]);
    }
    for (int bank = 0; i < number; ++i, ++bank) bins.bin[bank][place[i]] += static_cast<u64>(value[i]);
  });
  bins.widen(seen.lowest_place(), seen.highest_place());
  return seen.highest_place() < place_of_no_number;
}

// Of products of doubles, whose 106 digits are two terms: 53 without a sign at the sum of the factors' places, and those above them 53 places higher. So no product
// is too large or too small, as one in doubles is. The factors are moved up by 11 digits together, so that these terms are the halves of 128 bits.
constexpr int places_of_products = 4160;
template <class Bins, class Integer>
ONEFOLD_INLINE void add_products_to_bins(Bins& bins, const f64* x, const f64* y, int count, Integer to) {
  bins.begin_once();
  for_some_terms(count, [&](int first, int number) {
    if (bins.is_full(terms_at_once)) bins.look(to);
    alignas(64) i64 a[terms_at_once], b[terms_at_once];
    alignas(64) u64 place[terms_at_once];
    for (int i = 0; i < number; i += width<f64>) {
      const int here = number - i < width<f64> ? number - i : width<f64>;
      const auto v = reinterpret_cast<bit_patterns>(load_doubles(x + first, i, here));
      const auto w = reinterpret_cast<bit_patterns>(load_doubles(y + first, i, here));
      const split_double of_v(v), of_w(w);
      const bit_patterns sign = of_v.sign_of(v ^ w);
      const bit_patterns moved_v = ((of_v.size << 5) ^ sign) - sign;
      const bit_patterns moved_w = of_w.size << 6;
      const bit_patterns places = of_v.place + of_w.place;
      __builtin_memcpy(a + i, &moved_v, sizeof(moved_v));
      __builtin_memcpy(b + i, &moved_w, sizeof(moved_w));
      __builtin_memcpy(place + i, &places, sizeof(places));
    }
    for (int i = 0; i < number; ++i) {
      const i128 product = static_cast<i128>(a[i]) * b[i];
      bins.bin[0][place[i]] += static_cast<u64>(product) >> 11;
      bins.bin[0][place[i] + digits] += static_cast<u64>(product >> 64);
    }
  });
}

// An integer for each of a float's exponents and signs, in banks. Lower bits have sums of the digits behind the first, and higher ones how many floats there were,
// so that nothing but a shift and a mask comes before the addition: a third of the time of seven levels.
struct float_bins {
  static constexpr int banks = 4;
  u64 bin[banks][512];
  bool has_begun = false;

  void add(const f32* x, int count) {
    if (!has_begun)
      for (auto& bank : bin)
        for (u64& each : bank) each = 0;
    has_begun = true;
    const auto take = [&](int bank, int i) {
      const u32 bits = __builtin_bit_cast(u32, x[i]);
      bin[bank][bits >> digits_below_first] += (bits & ((1U << digits_below_first) - 1)) | one;
    };
    int i = 0;
    for (; i + banks <= count; i += banks) {
      ONEFOLD_UNROLL(4)
      for (int bank = 0; bank < banks; ++bank) take(bank, i + bank);
    }
    for (; i < count; ++i) take(0, i);
  }

  // Returns whether all were finite: only such are added.
  template <bool Absolute, class Integer>
  bool flush(Integer to) const {
    if (!has_begun) return true;
    constexpr int group = 16;  // of which sums of 2^14 floats each have 54 bits
    for (int at = 0; at < 256; at += group) {
      i64 sum = 0;
      for (int field = at + group - 1; field >= at; --field) {
        if (field == no_number) continue;
        if (field > 0) sum += sum;  // subnormals are where the smallest normal numbers are
        const i64 negative = value(field + 256, field);
        sum += value(field, field) + (Absolute ? negative : -negative);
      }
      to.add(i128{sum}, at > 0 ? at - 1 : 0);
    }
    return sum_of(no_number) == 0 && sum_of(no_number + 256) == 0;
  }

 private:
  static constexpr int digits_below_first = 23;
  static constexpr u64 one = u64{1} << 40;
  static constexpr int no_number = 255;
  [[nodiscard]] u64 sum_of(int i) const { return (bin[0][i] + bin[1][i]) + (bin[2][i] + bin[3][i]); }
  [[nodiscard]] i64 value(int i, int field) const {
    const u64 sum = sum_of(i);
    return static_cast<i64>((sum & (one - 1)) + (field > 0 ? sum >> 40 << digits_below_first : 0));
  }
};

// Of the sizes in a block: the bits of the largest and of the smallest that is not zero, less one.
template <class E>
struct range {
  using bits = bits_of<E>;
  bits most = 0, least = largest<bits>();
  static constexpr int mantissa = sizeof(E) == 8 ? 52 : 23;
  static constexpr int last_field = sizeof(E) == 8 ? 2047 : 255;
  [[nodiscard]] int highest() const { return static_cast<int>(most >> mantissa); }
  // No number has it where all are zero.
  [[nodiscard]] int lowest() const { return static_cast<int>((static_cast<std::make_unsigned_t<bits>>(least) + 1) >> mantissa); }
  [[nodiscard]] bool is_finite() const { return highest() != last_field; }
  // As in split_double, of finite numbers, zeros not among them.
  [[nodiscard]] int lowest_place() const { return lowest() > 0 ? lowest() - 1 : 0; }
  [[nodiscard]] int highest_place() const { return highest() > 0 ? highest() - 1 : 0; }
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
template <class Bins>
struct way {
  int levels = 0;  // a position in the list of those that there are, or one behind for bins
  int top = unknown;
  bool far = false;  // the input comes from memory, and is read where it lies
  Bins bins;         // of which those that are needed are cleared: most calls need none
  static constexpr int unknown = 1 << 16;
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

template <int Scale, int Words, int N>
ONEFOLD_INLINE void add_all(integer<Words, Scale> to, const f64 (&sums)[N]) {
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
  using bins = bins_of<2, 2048, 0>;

  ONEFOLD_INLINE static f64 value(f64 x) { return Absolute ? double_of_bits(bits_of_double(x) & ~sign_bit) : x; }

  static void add_block(const f64* x, int count, u64& flags, integer_t to, way<bins>& how) {
    look_for_other_than_minus_zero(flags, count, [&](int i) { return value(x[i]); });
    using level_choices = choices<2, 3, 5>;
    range<f64> all;
    bool has_range = false;
    int fewest = 1;  // levels that may be enough, once that has been looked for
    const auto look = [&] {
      if (has_range) return;
      has_range = true;
      all = range_of<true>(x, count);
      how.top = all.top();
      fewest = how.top <= highest ? fewest_levels<most_levels>(all.top(), all.lowest_place() + 1 - field_of_one) : most_levels + 1;
    };
    const int levels_before = how.levels;
    if (how.top == way<bins>::unknown) look();
    if (take_levels(level_choices{}, how.levels, [&]<int N>() {
          if (N < fewest) return false;
          if (take<N>(x, count, to, how)) return true;
          look();
          return false;
        }))
      return;
    if (count <= few_terms) return add_one_by_one(count, flags, to, [&](int i) { return value(x[i]); });
    const bool is_finite = add_to_bins(how.bins, count, to, [&](int i, int here) {
      const bit_patterns v = reinterpret_cast<bit_patterns>(load_doubles(x, i, here));
      return Absolute ? v & ~sign_bit : v;
    });
    if (is_finite) return;
    for (int i = 0; i < count; ++i) flags |= kind_of_term(value(x[i]));
    how.levels = levels_before;  // of which there may still be enough for others
    how.top = way<bins>::unknown;
  }

  static bool flush(const bins& of, integer_t to) { return of.flush(to), true; }

 private:
  static constexpr int highest = field_of_one - block_log - 1;  // of tops with which a level does not overflow
  static constexpr int most_levels = 5;

  // With N levels. Where the block is not what was expected, once more with what it is. No level begins beyond `highest`: it would be no number.
  template <int N>
  static bool take(const f64* x, int count, integer_t to, way<bins>& how) {
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
};

template <bool Absolute>
struct sums_of<f32, Absolute> {
  using integer_t = integer<6, -149>;
  using bins = float_bins;

  ONEFOLD_INLINE static f64 value(f32 x) {
    const f64 v = static_cast<f64>(x);
    return Absolute ? double_of_bits(bits_of_double(v) & ~sign_bit) : v;
  }

  static void add_block(const f32* x, int count, u64& flags, integer_t to, way<bins>& how) {
    look_for_other_than_minus_zero(flags, count, [&](int i) { return value(x[i]); });
    if (how.bins.has_begun) return how.bins.add(x, count);
    f64 plain = 0;
    const range<f32> all = how.far ? plain_sum<Absolute, true>(x, count, plain) : plain_sum<Absolute, false>(x, count, plain);
    if (!all.is_finite()) return add_one_by_one(count, flags, to, [&](int i) { return value(x[i]); });
    if (all.most == 0) return;
    // The lowest digit of the smallest is 24 places below its top.
    const int lowest = all.lowest_place() - 125 - 24;
    if (all.top() + block_log - lowest <= digits) {
      if (plain != 0) to.add(plain);
      return;
    }
    // Seven levels hold all floats. They are for few floats: clearing bins and adding them up takes as long as they for a thousand.
    const int most = count > 1024 ? 2 : 7;
    const int fewest = fewest_levels<7>(all.top(), all.lowest_place() - 126);
    if (take_levels(choices<2, 4, 7>{}, how.levels, [&]<int N>() {
          if (N < fewest || N > most) return false;
          f64 of[N];
          i64 largest;
          if (sum_levels<N, Absolute, false>(x, count, all.top(), largest, of) != outcome::exact) return false;
          add_all(to, of);
          return true;
        }))
      return;
    how.bins.add(x, count);
  }

  // Returns whether what has gone to bins was finite.
  static bool flush(const bins& of, integer_t to) { return of.flush<Absolute>(to); }
};

// Sums of products of f64 and f32.
template <class E>
struct products_of {
  static constexpr bool is_double = same<E, f64>;
  using integer_t = std::conditional_t<is_double, integer<67, -2148>, integer<10, -298>>;
  // Products of floats are doubles, whose last place is 2^8 times place 768.
  using bins = std::conditional_t<is_double, bins_of<1, places_of_products, 0>, bins_of<2, 2048, 768>>;

  static void add_block(const E* x, const E* y, int count, u64& flags, integer_t to, way<bins>& how) {
    const range<E> of_x = range_of<true>(x, count);
    const range<E> of_y = x == y ? of_x : range_of<true>(y, count);
    if (!of_x.is_finite() || !of_y.is_finite()) return add_one_by_one(x, y, count, flags, to);
    look_for_other_than_minus_zero(flags, count, [&](int i) { return signed_product(x[i], y[i]); });
    if (of_x.most == 0 || of_y.most == 0) return;
    const int fewest = fewest_levels_of(of_x, of_y);
    if (fewest <= most_levels && take_levels(level_choices{}, how.levels, [&]<int N>() {
          if (N < fewest) return false;
          f64 of[is_double ? 2 * N : N];
          constexpr bool few = N <= most_levels_of_far;
          const int top = of_x.top() + of_y.top();
          if (!(how.far ? product_levels<N, few>(x, y, count, top, of) : product_levels<N, false>(x, y, count, top, of)))
            return false;
          add_all(to, of);
          return true;
        }))
      return;
    if (count <= few_terms) return add_one_by_one(x, y, count, flags, to);
    if constexpr (is_double) {
      how.bins.widen(of_x.lowest_place() + of_y.lowest_place(), of_x.highest_place() + of_y.highest_place() + digits);
      add_products_to_bins(how.bins, x, y, count, to);
    } else {
      add_to_bins(how.bins, count, to, [&](int i, int here) {
        return reinterpret_cast<bit_patterns>(load_doubles(x, i, here) * load_doubles(y, i, here) * all(0x1p-8));
      });
    }
  }

  using level_choices = std::conditional_t<is_double, choices<2>, choices<2, 3>>;

  static constexpr int most_levels = is_double ? 2 : 3;

  // As fewest_levels(). The smallest of either is in a product.
  static int fewest_levels_of(const range<E>& x, const range<E>& y) {
    // Of doubles: neither overflow, nor a rest below 2^-1074, nor factors that cannot be cut in halves.
    if constexpr (is_double)
      if (x.top() + y.top() > 960 || x.top() > 990 || y.top() > 990 || x.lowest() == 0 || y.lowest() == 0 ||
          x.lowest() + y.lowest() < 1080)
        return most_levels + 1;
    const int x_to_y = x.lowest() + y.highest(), y_to_x = y.lowest() + x.highest();
    return fewest_levels<most_levels>(x.top() + y.top(),
                                      (x_to_y < y_to_x ? x_to_y : y_to_x) - 2 * (is_double ? field_of_one : 127) + 1);
  }

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
template <class E>
requires(is_half<E>) struct elements<E> : floats_of_halves<E> {};

template <class E, bool Absolute>
void add_sums(const void* first, const void*, u64 count, bool far, u64* flags, u64* words) {
  using of = sums_of<typename elements<E>::type, Absolute>;
  const typename of::integer_t to{words};
  way<typename of::bins> how;
  how.far = far && elements<E>::in_place;
  elements<E> values;
  const E* x = static_cast<const E*>(first);
  for (u64 done = 0; done < count; done += block) {
    const int here = count - done < block ? static_cast<int>(count - done) : block;
    of::add_block(values(x + done, here), here, *flags, to, how);
  }
  if (of::flush(how.bins, to)) return;
  for (u64 done = 0; done < count; done += block) {
    const int here = count - done < block ? static_cast<int>(count - done) : block;
    const auto* const floats = values(x + done, here);
    for (int i = 0; i < here; ++i) *flags |= kind_of_term(of::value(floats[i]));
  }
}

template <class E>
void add_products(const void* first_x, const void* first_y, u64 count, bool far, u64* flags, u64* words) {
  using of = products_of<typename elements<E>::type>;
  const typename of::integer_t to{words};
  way<typename of::bins> how;
  how.far = far && elements<E>::in_place;
  elements<E> of_x, of_y;
  const E* x = static_cast<const E*>(first_x);
  const E* y = static_cast<const E*>(first_y);
  for (u64 done = 0; done < count; done += block) {
    const int here = count - done < block ? static_cast<int>(count - done) : block;
    const auto* const a = of_x(x + done, here);
    of::add_block(a, x == y ? a : of_y(y + done, here), here, *flags, to, how);
  }
  how.bins.flush(to);
}

}  // namespace

extern const exact_table ONEFOLD_EXACT_KERNELS = {
#define ONEFOLD_FLOAT(E, T, digits) {add_sums<E, false>, add_sums<E, true>, add_products<E>},
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#include <onefold/types.def>
};

}  // namespace onefold::cpu
