#pragma once
/// @file words.cuh  Small elements four or two at a time: what a thread keeps of whole tiles of a fold whose bits do not depend on the order.
///
/// Sums of integers wrap in 64 bits and extrema know no rounding, so a word's elements go into accumulators of 32 bits side by side, which a thread's 16 packs
/// of a tile cannot fill. Where such a fold's node is of doubles, it is exact within two tiles of elements of 1 and 2 bytes.

#include <cstdint>
#include <type_traits>

#include <onefold/device/fold.cuh>
#include <onefold/device/warp.cuh>

namespace onefold::device {

/// 16 bytes of an input.
struct words {
  static constexpr int count = 4;
  std::uint32_t of[count];
};

namespace detail {

// Bytes of the two words, as PTX's prmt chooses them: four bits for each of the result, the highest of which takes the byte's sign.
template <unsigned Selector>
__device__ inline std::uint32_t permuted(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result = 0;
#ifdef __CUDA_ARCH__
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "n"(Selector));
#else
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned which = Selector >> (4 * k);
    const auto byte = static_cast<std::uint32_t>(both >> (8 * (which & 7)) & 0xff);
    result |= ((which & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xffU : 0U) << (8 * k);
  }
#endif
  return result;
}

// Element `c` of a word, in 32 bits.
template <class E>
__device__ inline auto element_of(std::uint32_t word, int c) {
  return static_cast<std::conditional_t<std::is_signed_v<E>, std::int32_t, std::uint32_t>>(
      static_cast<E>(word >> (8 * static_cast<int>(sizeof(E)) * c)));
}
template <class E>
inline constexpr int elements_of_word = 4 / static_cast<int>(sizeof(E));

// The first `some` of a word's elements, and those of `absent` in the place of the others.
template <class E>
__device__ inline std::uint32_t first_elements(std::uint32_t word, std::uint32_t absent, int some) {
  const std::uint32_t there = some >= elements_of_word<E> ? ~0U
                              : some <= 0                 ? 0U
                                                          : (1U << (8 * static_cast<int>(sizeof(E)) * some)) - 1;
  return (word & there) | (absent & ~there);
}
// A word of elements with these bits.
template <class E>
constexpr std::uint32_t word_of(std::uint32_t element) noexcept {
  return sizeof(E) == 1 ? element * 0x01010101U : element * 0x00010001U;
}

// sum + the products of elements side by side, of 1 byte.
template <class E>
__device__ inline std::uint32_t add_products(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  static_assert(sizeof(E) == 1, "four of them");
#ifdef __CUDA_ARCH__
  if constexpr (std::is_signed_v<E>)
    return static_cast<std::uint32_t>(__dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(sum)));
  else
    return __dp4a(a, b, sum);
#else
  for (int c = 0; c < 4; ++c) sum += static_cast<std::uint32_t>(element_of<E>(a, c) * element_of<E>(b, c));
  return sum;
#endif
}
// sum + the elements.
template <class E>
__device__ inline std::uint32_t add_elements(std::uint32_t word, std::uint32_t sum) {
  if constexpr (sizeof(E) == 1) {
    return add_products<E>(word, 0x01010101U, sum);
  } else {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_signed_v<E>)
      return static_cast<std::uint32_t>(__dp2a_lo(static_cast<int>(word), 0x0101, static_cast<int>(sum)));
    else
      return __dp2a_lo(word, 0x0101U, sum);
#else
    return sum + static_cast<std::uint32_t>(element_of<E>(word, 0)) + static_cast<std::uint32_t>(element_of<E>(word, 1));
#endif
  }
}

// The lesser, or greater, of the halves side by side.
template <class Op, bool Signed>
__device__ inline std::uint32_t extremes_of_halves(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  if constexpr (Op::id == operation::min)
    return Signed ? __vmins2(a, b) : __vminu2(a, b);
  else
    return Signed ? __vmaxs2(a, b) : __vmaxu2(a, b);
#else
  using H = std::conditional_t<Signed, std::int16_t, std::uint16_t>;
  std::uint32_t result = 0;
  for (int c = 0; c < 2; ++c) {
    const auto v = Op::template combine<decltype(element_of<H>(a, c))>(element_of<H>(a, c), element_of<H>(b, c));
    result |= (static_cast<std::uint32_t>(v) & 0xffffU) << (16 * c);
  }
  return result;
#endif
}

// |x| of each element, unsigned.
template <class E>
__device__ inline std::uint32_t magnitudes(std::uint32_t word) {
  if constexpr (!std::is_signed_v<E>) {
    return word;
  } else {
    const std::uint32_t signs = sizeof(E) == 1 ? permuted<0xba98>(word, 0) : permuted<0xbb99>(word, 0);
    return (word ^ signs) + (signs & (sizeof(E) == 1 ? 0x01010101U : 0x00010001U));  // nothing is carried: |-128| has 8 bits
  }
}

// The highest bit of each element that is not zero. -0.0 is zero.
template <class E>
__device__ inline std::uint32_t nonzero_bits(std::uint32_t word) {
  constexpr std::uint32_t lower = sizeof(E) == 1 ? 0x7f7f7f7fU : 0x7fff7fffU;
  const std::uint32_t from_lower = (word & lower) + lower;
  return (onefold::detail::is_half<E> ? from_lower : from_lower | word) & ~lower;
}

template <class Map>
inline constexpr bool is_absolute = std::is_same_v<Map, onefold::detail::absolute>;
// The words and the type that Map makes of elements of type E: those themselves, or their magnitudes.
template <class E, class Map>
using mapped_element =
    typename std::conditional_t<is_absolute<Map>, onefold::detail::wrapping_type<E>, onefold::detail::keep_type<E>>::type;
template <class E, class Map>
__device__ inline std::uint32_t mapped_word(std::uint32_t word) {
  return is_absolute<Map> ? magnitudes<E>(word) : word;
}

// In the place of elements that do not exist a part takes those of `absent`, which change nothing. `adds` says whether it is a sum.

template <class E>
struct sum_of_words {
  static constexpr bool adds = true;
  static constexpr std::uint32_t absent = 0;
  std::uint32_t sum = 0;
  __device__ void add(std::uint32_t word) { sum = add_elements<E>(word, sum); }
  __device__ std::uint64_t value() const {
    return std::is_signed_v<E> ? static_cast<std::uint64_t>(static_cast<std::int32_t>(sum)) : sum;
  }
};

// Of x y: products of 2 bytes need 64 bits.
template <class E>
struct products_of_words {
  static constexpr bool adds = true;
  static constexpr std::uint32_t absent = 0;  // of one of the two
  std::conditional_t<sizeof(E) == 1, std::uint32_t, std::uint64_t> sum = 0;
  __device__ void add(std::uint32_t x, std::uint32_t y) {
    if constexpr (sizeof(E) == 1) {
      sum = add_products<E>(x, y, sum);
    } else {
      using wide = std::conditional_t<std::is_signed_v<E>, std::int64_t, std::uint64_t>;
#pragma unroll
      for (int c = 0; c < 2; ++c) sum += static_cast<std::uint64_t>(static_cast<wide>(element_of<E>(x, c)) * element_of<E>(y, c));
    }
  }
  __device__ std::uint64_t value() const {
    if constexpr (sizeof(E) == 1 && std::is_signed_v<E>)
      return static_cast<std::uint64_t>(static_cast<std::int32_t>(sum));
    else
      return sum;
  }
};

// A word's product fits 32 bits.
template <class E>
struct product_of_words {
  static constexpr bool adds = false;
  static constexpr std::uint32_t absent = word_of<E>(1);
  std::uint64_t product = 1;
  __device__ void add(std::uint32_t word) {
    auto of_word = element_of<E>(word, 0);
#pragma unroll
    for (int c = 1; c < elements_of_word<E>; ++c) of_word *= element_of<E>(word, c);
    product *= static_cast<std::uint64_t>(of_word);
  }
  __device__ std::uint64_t value() const { return product; }
};

// Of bytes those with odd numbers as the upper bytes of halves, which decide, and the others moved there.
template <class E, class Op>
struct extreme_of_words {
  static constexpr bool adds = false;
  using V = onefold::detail::compared<E>;
  static constexpr bool is_signed = std::is_signed_v<E>;
  static constexpr std::uint32_t neutral =
      Op::id == operation::min ? (is_signed ? 0x7fff7fffU : 0xffffffffU) : (is_signed ? 0x80008000U : 0U);
  static constexpr std::uint32_t absent =
      sizeof(E) == 2 || !is_signed ? neutral : word_of<E>(Op::id == operation::min ? 0x7f : 0x80);
  std::uint32_t high = neutral;
  std::uint32_t low = neutral;
  __device__ void add(std::uint32_t word) {
    high = extremes_of_halves<Op, is_signed>(high, word);
    if constexpr (sizeof(E) == 1) low = extremes_of_halves<Op, is_signed>(low, permuted<0x2404>(word, 0));
  }
  __device__ V value() const {
    const std::uint32_t both = sizeof(E) == 1 ? extremes_of_halves<Op, is_signed>(high, low) : high;
    constexpr int last = elements_of_word<E> - 1;
    return Op::template combine<V>(element_of<E>(both, last), element_of<E>(both, last / 2));
  }
};

}  // namespace detail

/// What a thread keeps of whole tiles of a fold of small elements whose order is free, or nothing:
///
///   add(x, y, row)            with its 16 bytes of a row of each input
///   add_some(x, y, row, some) with the first `some` elements of them, of which a tile that is cut has fewer; where `take_some`
///   node(fold, pair)          the node over the two tiles, in every thread of the warp, which must call it together
///   gain_by_all_rows          whether all rows should be on their way together: sums gain 2 to 10 %, and what compares 1, for as much code
template <class Fold>
struct lanes_in_words {
  static constexpr bool exist = false;
  static constexpr bool take_some = false;
  static constexpr bool gain_by_all_rows = false;
};

namespace detail {

template <class E>
inline constexpr bool is_small_integer = std::is_integral_v<E> && sizeof(E) < 4;

// Those whose threads have an accumulator each, which Part::value() becomes.
template <class Fold, class Part>
struct values_of_words {
  static constexpr bool exist = true;
  static constexpr bool take_some = true;
  static constexpr bool gain_by_all_rows = Part::adds;
  Part part;
  __device__ typename Fold::accumulator node(const Fold& fold, std::uint64_t) const {
    return halved(fold, static_cast<typename Fold::accumulator>(part.value()));
  }
};

template <class Fold, class Part, class E, class Map>
struct mapped_values : values_of_words<Fold, Part> {
  __device__ void add(const words& x, const words&, int) {
#pragma unroll
    for (const std::uint32_t word : x.of) this->part.add(mapped_word<E, Map>(word));
  }
  __device__ void add_some(const words& x, const words&, int, int some) {
#pragma unroll
    for (int w = 0; w < words::count; ++w)
      this->part.add(first_elements<E>(mapped_word<E, Map>(x.of[w]), Part::absent, some - w * elements_of_word<E>));
  }
};

template <class E>
struct count_of_words {
  static constexpr bool adds = true;
  static constexpr std::uint32_t absent = 0;
  std::uint32_t sum = 0;
  __device__ void add(std::uint32_t word) {
    using U = std::conditional_t<sizeof(E) == 1, std::uint8_t, std::uint16_t>;
    sum = add_elements<U>(nonzero_bits<E>(word), sum);
  }
  __device__ std::uint64_t value() const { return sum >> (8 * sizeof(E) - 1); }
};

template <class E, class Op>
struct bits_of_words {
  static constexpr bool adds = false;
  static constexpr std::uint32_t absent = Op::template neutral<std::uint32_t>();
  std::uint32_t bits = absent;
  __device__ void add(std::uint32_t word) { bits = Op::template combine<std::uint32_t>(bits, word); }
  __device__ std::uint32_t value() const {
    std::uint32_t folded = bits;
#pragma unroll
    for (int width = 16; width >= 8 * static_cast<int>(sizeof(E)); width /= 2)
      folded = Op::template combine<std::uint32_t>(folded, folded >> width);
    return static_cast<E>(folded);
  }
};

template <class E, class A, class Map, class Op>
constexpr auto part_of_words() noexcept {
  using U = mapped_element<E, Map>;
  if constexpr (std::is_same_v<Map, onefold::detail::nonzero>)
    return onefold::detail::keep_type<count_of_words<E>>{};
  else if constexpr (std::is_same_v<Op, op::sum>)
    return onefold::detail::keep_type<sum_of_words<U>>{};
  else if constexpr (std::is_same_v<Op, op::prod>)
    return onefold::detail::keep_type<product_of_words<U>>{};
  else if constexpr (std::is_same_v<Op, op::min> || std::is_same_v<Op, op::max>)
    return onefold::detail::keep_type<extreme_of_words<U, Op>>{};
  else
    return onefold::detail::keep_type<bits_of_words<U, Op>>{};
}
template <class Map>
inline constexpr bool multiplies = std::is_same_v<Map, onefold::detail::square> || std::is_same_v<Map, onefold::detail::product>;

template <class E, class A, class Map, class Op, bool Multiplies = multiplies<Map>>
struct plain_lanes_in_words
    : mapped_values<onefold::detail::fold<E, A, Map, Op>, typename decltype(part_of_words<E, A, Map, Op>())::type, E, Map> {};
template <class E, class A, class Map, class Op>
struct plain_lanes_in_words<E, A, Map, Op, true> : values_of_words<onefold::detail::fold<E, A, Map, Op>, products_of_words<E>> {
  __device__ void add(const words& x, const words& y, int) {
#pragma unroll
    for (int w = 0; w < words::count; ++w) this->part.add(x.of[w], Map::inputs == 2 ? y.of[w] : x.of[w]);
  }
  __device__ void add_some(const words& x, const words& y, int row, int some) {
    words its;
#pragma unroll
    for (int w = 0; w < words::count; ++w)
      its.of[w] = first_elements<E>(x.of[w], products_of_words<E>::absent, some - w * elements_of_word<E>);
    add(its, Map::inputs == 2 ? y : its, row);
  }
};
struct no_lanes_in_words {
  static constexpr bool exist = false;
  static constexpr bool take_some = false;
  static constexpr bool gain_by_all_rows = false;
};

}  // namespace detail

template <class E, class A, class Map, class Op>
struct lanes_in_words<onefold::detail::fold<E, A, Map, Op>>
    : std::conditional_t<detail::is_small_integer<E> ||
                             (onefold::detail::is_half<E> && std::is_same_v<Map, onefold::detail::nonzero>),
                         detail::plain_lanes_in_words<E, A, Map, Op>, detail::no_lanes_in_words> {};

namespace detail {

template <class Fold, class E>
struct extremes_in_words {
  static constexpr bool exist = true;
  static constexpr bool take_some = true;
  static constexpr bool gain_by_all_rows = false;
  extreme_of_words<E, op::min> min;
  extreme_of_words<E, op::max> max;
  __device__ void add(const words& x, const words&, int) {
#pragma unroll
    for (const std::uint32_t word : x.of) {
      min.add(word);
      max.add(word);
    }
  }
  __device__ void add_some(const words& x, const words&, int, int some) {
#pragma unroll
    for (int w = 0; w < words::count; ++w) {
      const int of_word = some - w * elements_of_word<E>;
      min.add(first_elements<E>(x.of[w], min.absent, of_word));
      max.add(first_elements<E>(x.of[w], max.absent, of_word));
    }
  }
  __device__ auto node(const Fold& fold, std::uint64_t) const {
    return halved(fold, typename Fold::accumulator{min.value(), max.value()});
  }
};

template <class Fold, class E, class V>
struct together_in_words {
  static constexpr bool exist = true;
  static constexpr bool take_some = false;
  static constexpr bool gain_by_all_rows = false;
  sum_of_words<E> sum;
  product_of_words<E> product;
  extreme_of_words<E, op::min> min;
  extreme_of_words<E, op::max> max;
  __device__ void add(const words& x, const words&, int) {
#pragma unroll
    for (const std::uint32_t word : x.of) {
      sum.add(word);
      product.add(word);
      min.add(word);
      max.add(word);
    }
  }
  __device__ auto node(const Fold& fold, std::uint64_t) const {
    return halved(
        fold, typename Fold::accumulator{sum.value(), product.value(), static_cast<V>(min.value()), static_cast<V>(max.value())});
  }
};

// S and Q, the sums of a tile's N elements and of their squares, give its state without a rounding, as every operation of the tree within a tile
// is without: N Q - S S has at most 53 bits, and N is a power of two.
template <class Fold, class E>
struct moments_in_words {
  static constexpr bool exist = true;
  static constexpr bool take_some = false;
  static constexpr bool gain_by_all_rows = true;
  sum_of_words<E> sum;
  products_of_words<E> squares;
  __device__ void add(const words& x, const words&, int) {
#pragma unroll
    for (const std::uint32_t word : x.of) {
      sum.add(word);
      squares.add(word, word);
    }
  }
  __device__ onefold::detail::moments node(const Fold& fold, std::uint64_t) const {
    constexpr auto n = static_cast<std::int64_t>(order::tile_elements<E>);
    auto s = static_cast<std::int64_t>(sum.value());
    auto q = static_cast<std::int64_t>(squares.value());
#pragma unroll
    for (int distance = warp_size / 4; distance > 0; distance /= 2) {
      s += device::exchange(s, distance);
      q += device::exchange(q, distance);
    }
    constexpr double part = 1.0 / static_cast<double>(n);
    const onefold::detail::moments of_tile{static_cast<std::uint64_t>(n),
                                           onefold::detail::rounded_multiply(static_cast<double>(s), part),
                                           onefold::detail::rounded_multiply(static_cast<double>(n * q - s * s), part)};
    return fold.combine(of_tile, device::exchange(of_tile, warp_size / 2));
  }
};

}  // namespace detail

template <class E>
struct lanes_in_words<onefold::detail::minmax_fold<E>>
    : std::conditional_t<detail::is_small_integer<E>, detail::extremes_in_words<onefold::detail::minmax_fold<E>, E>,
                         detail::no_lanes_in_words> {};
template <class E, class V>
struct lanes_in_words<onefold::detail::together_fold<E, V>>
    : std::conditional_t<detail::is_small_integer<E>, detail::together_in_words<onefold::detail::together_fold<E, V>, E, V>,
                         detail::no_lanes_in_words> {};
template <class E, bool Alike>
struct lanes_in_words<onefold::detail::mean_variance_fold<E, Alike>>
    : std::conditional_t<detail::is_small_integer<E>, detail::moments_in_words<onefold::detail::mean_variance_fold<E, Alike>, E>,
                         detail::no_lanes_in_words> {};

}  // namespace onefold::device
