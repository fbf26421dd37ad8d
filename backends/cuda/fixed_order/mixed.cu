/// @file mixed.cu  The kernels of dots of elements of two types: one for each size of the elements and type of the products. Which types of these sizes
/// they are is read from the fold, in registers, while memory is what is waited for; so is whether the arrays can be read in packs, and whether their
/// addresses and their number of elements stand in memory.

#include "mixed.hpp"

#include <utility>

#include <onefold/device/fold_maker.cuh>

#include "../../../src/mixed_types.hpp"

namespace onefold::cuda_backend {

namespace {

using device::own_fold;
using device::tree_input;
using device::warp_size;
using onefold::detail::device_fold;
using onefold::detail::device_kernels;

// An element as its bytes, which are read whatever it is.
template <int Bytes>
struct bytes_of;
template <>
struct bytes_of<1> {
  using type = std::uint8_t;
};
template <>
struct bytes_of<2> {
  using type = std::uint16_t;
};
template <>
struct bytes_of<4> {
  using type = std::uint32_t;
};
template <>
struct bytes_of<8> {
  using type = std::uint64_t;
};

// Element types, a bit for each.
constexpr unsigned bit_of(element_type type) { return 1U << static_cast<int>(type); }
template <class Which>
constexpr unsigned types_that(Which are) {
  unsigned types = 0;
  for (int i = 0; i < element_type_count; ++i)
    if (are(static_cast<element_type>(i))) types |= 1U << i;
  return types;
}
constexpr unsigned types_with_sign = types_that([](element_type type) { return is_signed_integer(type); });
constexpr unsigned whole_types = types_that([](element_type type) { return !is_float(type); });

// Those that the first or second elements of a kernel may have, since others have other kernels.
template <class A, int BytesX, int BytesY>
constexpr unsigned types_for(bool of_second) {
  const auto is_for = [](onefold::detail::types_of_dot of, bool wide) {
    const element_type products = onefold::detail::type_of_products(of, wide);
    const bool is_as_large = size_of(products) == sizeof(A) && is_float(products) == std::is_floating_point_v<A>;
    return is_as_large && (wide ? can_be_wide(of) : !differ_in_sign_alone(of));
  };
  unsigned types = 0;
  for (int i = 0; i < element_type_count; ++i)
    for (int k = 0; k < element_type_count; ++k) {
      const onefold::detail::types_of_dot of{static_cast<element_type>(i), static_cast<element_type>(k)};
      if (size_of(of.x) == BytesX && size_of(of.y) == BytesY && stands_right(of) && (is_for(of, false) || is_for(of, true)))
        types |= bit_of(of_second ? of.y : of.x);
    }
  return types;
}

// Whether `type`, one of `Types`, is among `asked`.
template <unsigned Types>
__device__ inline bool is_among(unsigned asked, element_type type) {
  if ((Types & ~asked) == 0) return true;
  return (Types & asked) != 0 && (asked >> static_cast<int>(type) & 1) != 0;
}

// The number that an element is, in the type of the products, being of one of `Types`. Which one is the same for all threads, but all that it may be is
// computed and one chosen. So what is computed is what costs least: what a float holds goes through a float, and whole numbers get there by their place behind
// a power of two, since instructions that convert to doubles are slow.
__device__ inline float small_whole(std::uint32_t bits, bool has_sign, std::uint32_t highest) {
  const float behind_2_23 = __uint_as_float(0x4b000000U | (bits ^ (has_sign ? highest : 0U)));
  return __fsub_rn(behind_2_23, has_sign ? 0x1p23F + static_cast<float>(highest) : 0x1p23F);
}
template <unsigned Types, class Bits>
__device__ inline float small_number_of(Bits bits, element_type type) {
  float number = 0;
  if constexpr ((Types & whole_types) != 0)
    number = small_whole(bits, is_among<Types & whole_types>(types_with_sign, type), 1U << (8 * sizeof(Bits) - 1));
#define ONEFOLD_SMALL_FLOAT(name, T, digits)                                              \
  if constexpr (sizeof(Bits) == 2 && (Types & bit_of(element_type::name)) != 0) {         \
    constexpr unsigned before = Types & (whole_types | (bit_of(element_type::name) - 1)); \
    if (before == 0 || type == element_type::name) number = float{T::from_bits(bits)};    \
  }
#include <onefold/types.def>
  return number;
}
// 2^52 + low, or 2^84 + 2^32 high.
__device__ inline double behind_2_52(std::uint32_t low) { return __hiloint2double(0x43300000, static_cast<int>(low)); }
__device__ inline double behind_2_84(std::uint32_t high) { return __hiloint2double(0x45300000, static_cast<int>(high)); }

template <class A, unsigned Types, class Bits>
__device__ A number_of(Bits bits, element_type type) {
  [[maybe_unused]] const bool has_sign = is_among<Types & whole_types>(types_with_sign, type);
  if constexpr (std::is_floating_point_v<A> && sizeof(Bits) <= 2) {
    return static_cast<A>(small_number_of<Types>(bits, type));
  } else if constexpr (std::is_same_v<A, double> && sizeof(Bits) == 4) {
    const double whole = __dsub_rn(behind_2_52(bits ^ (has_sign ? 0x80000000U : 0U)), has_sign ? 0x1.000008p52 : 0x1p52);
    return is_among<Types>(bit_of(element_type::f32), type) ? static_cast<double>(__uint_as_float(bits)) : whole;
  } else if constexpr (std::is_same_v<A, double>) {
    const auto high = static_cast<std::uint32_t>(bits >> 32) ^ (has_sign ? 0x80000000U : 0U);
    const double upper =
        __dsub_rn(behind_2_84(high), has_sign ? 0x1.00000801p84 : 0x1.00000001p84);  // less 2^52, of the lower half
    const double whole = __dadd_rn(upper, behind_2_52(static_cast<std::uint32_t>(bits)));
    return is_among<Types>(bit_of(element_type::f64), type) ? __longlong_as_double(static_cast<long long>(bits)) : whole;
  } else if constexpr (std::is_same_v<A, float> && sizeof(Bits) == 4) {
    if (is_among<Types>(bit_of(element_type::f32), type)) return __uint_as_float(bits);
    return has_sign ? static_cast<float>(static_cast<std::int32_t>(bits)) : static_cast<float>(bits);
  } else {
    return has_sign ? static_cast<A>(static_cast<std::make_signed_t<Bits>>(bits)) : static_cast<A>(bits);
  }
}

// What a launch reads, as it says itself or as it stands in memory.
struct arrays_of_dot {
  const unsigned char* x;
  const unsigned char* y;
  std::uint64_t count;
};

__device__ inline bool lies_at(const void* pointer, std::uint64_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

// A sum of products in A. Whole numbers are added modulo a power of two, so that those with a sign are as those without.
template <class A, int BytesX, int BytesY>
struct mixed_dot : mixed_dot_of {
  using value_type = A;
  using accumulator = A;
  using result = A;
  static constexpr int inputs = 2;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;
  template <int K>
  using input = typename bytes_of<K == 0 ? BytesX : BytesY>::type;

  static constexpr unsigned types_of_x = types_for<A, BytesX, BytesY>(false);
  static constexpr unsigned types_of_y = types_for<A, BytesX, BytesY>(true);
  static_assert(types_of_x != 0 && types_of_y != 0, "a kernel of no dot");

  __device__ A value(input<0> of_x, input<1> of_y) const {
    if constexpr (std::is_integral_v<A> && BytesX <= 2)  // in one operation
      return static_cast<A>(std::int64_t{number_of<int, types_of_x>(of_x, this->x)} * number_of<int, types_of_y>(of_y, this->y));
    else
      return onefold::detail::product_of(number_of<A, types_of_x>(of_x, this->x), number_of<A, types_of_y>(of_y, this->y));
  }
  __device__ A combine(A a, A b) const {
    if constexpr (std::is_floating_point_v<A>)
      return onefold::detail::rounded_add(a, b);
    else
      return a + b;
  }
  __device__ A neutral() const { return std::is_floating_point_v<A> ? -A(0) : A(0); }

  // Arrays that cannot be read have no elements.
  __device__ arrays_of_dot arrays(const tree_input& in) const {
    return {static_cast<const unsigned char*>(this->x_at != nullptr ? *this->x_at : in.x),
            static_cast<const unsigned char*>(this->y_at != nullptr ? *this->y_at : in.y), can_be_read() ? count(in.count) : 0};
  }
  // Of arrays that cannot be read the result has all bits set.
  __device__ void conclude(const A* tree, std::uint64_t most, A* to) const {
    if (tree == nullptr || count(most) == 0)
      *to = A(0);
    else if (!can_be_read())
      memset(to, 0xff, sizeof(A));
    else
      *to = onefold::detail::canonical(*tree);
  }

 private:
  __device__ std::uint64_t count(std::uint64_t most) const {
    return this->count_at != nullptr ? ::min(*this->count_at, most) : most;
  }
  __device__ bool can_be_read() const {
    return (this->x_at == nullptr || (*this->x_at != nullptr && lies_at(*this->x_at, BytesX))) &&
           (this->y_at == nullptr || (*this->y_at != nullptr && lies_at(*this->y_at, BytesY)));
  }
};

// Neighbouring elements, in as few loads as may be, and in words until they are used.
template <int Bytes, int Size>
struct small_pack {
  static constexpr int bytes = Bytes * Size;
  static constexpr int alignment = bytes < 16 ? bytes : 16;
  static constexpr int word_bytes = bytes < 4 ? bytes : 4;
  using word = typename bytes_of<word_bytes>::type;
  struct words {
    word of[bytes / word_bytes];
  };
  words kept;

  __device__ void load(const unsigned char* from) { kept = device::load_element<alignment>(reinterpret_cast<const words*>(from)); }
  __device__ auto element(int c) const {
    using E = typename bytes_of<Bytes>::type;
    if constexpr (Bytes == 8)
      return static_cast<E>(kept.of[2 * c]) | static_cast<E>(kept.of[2 * c + 1]) << 32;
    else
      return static_cast<E>(kept.of[c * Bytes / word_bytes] >> (c * Bytes % word_bytes * 8));
  }
};

// How a warp reads packs: `size` elements of both arrays at a time in a thread, of which 2^log_tiles tiles are `rows` for it. Products of floats have the
// lanes of tree v1, two tiles at a time; those of whole numbers give the same bits in any order, so 16 bytes of the larger elements are read at a time.
template <class A, int BytesX, int BytesY>
struct packs_of_dot {
  static constexpr int size = 16 / (std::is_floating_point_v<A> ? static_cast<int>(sizeof(A)) : BytesX);
  static constexpr int log_tiles = std::is_floating_point_v<A> ? 1 : size == 16 ? 3 : size == 8 ? 2 : 1;
  static constexpr int elements = (order::tile_rows * order::lanes_of_bytes(sizeof(A))) << log_tiles;
  static constexpr int rows = elements / (warp_size * size);
  // Rows whose packs are on their way together: up to 96 registers of them, and 64 beside doubles. Where registers become free the next ones are asked for.
  static constexpr int rows_together_of() noexcept {
    int together = rows;
    while (together * size * (BytesX + BytesY) > 4 * (std::is_same_v<A, double> ? 64 : 96)) together /= 2;
    return BytesX == 8 && BytesY == 8 ? together / 2 : together;
  }
  static constexpr int rows_together = rows_together_of();
};

// Where a thread begins in a unit that is read in packs, and what it keeps: as many lanes as a pack has elements, or of whole numbers one.
template <class A, int BytesX, int BytesY, class Fold>
class thread_of_dot {
 public:
  using packs = packs_of_dot<A, BytesX, BytesY>;
  static constexpr bool in_lanes = std::is_floating_point_v<A>;
  static constexpr int size = packs::size;
  static constexpr int threads = in_lanes ? warp_size / 2 : warp_size;  // that have a row
  static constexpr int row = threads * size;

  __device__ thread_of_dot(const Fold& fold, std::uint64_t unit) {
    const unsigned thread = threadIdx.x % warp_size;
    first = unit * packs::elements + (in_lanes ? thread / threads * (packs::elements / 2) : 0) + thread % threads * size;
#pragma unroll
    for (A& each : lane_) each = fold.neutral();
  }
  // The product of element `c` of a pack, in the order of the rows.
  __device__ void add(const Fold& fold, int c, const A& product) {
    A& lane = lane_[in_lanes ? c : 0];
    lane = fold.combine(lane, product);
  }
  __device__ A node(const Fold& fold) const {
    if constexpr (in_lanes)
      return device::node_of_pair(fold, lane_);
    else
      return device::neighbours_node<Fold>(fold, lane_[0], warp_size);
  }

  std::uint64_t first;

 private:
  A lane_[in_lanes ? size : 1];
};

// All products of two packs of bytes, the first with a sign.
template <int Words>
__device__ inline std::uint64_t sum_of_products(const std::uint32_t (&x)[Words], const std::uint32_t (&y)[Words]) {
  int sum = 0;
#pragma unroll
  for (int w = 0; w < Words; ++w) asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x[w]), "r"(y[w]));
  return static_cast<std::uint64_t>(std::int64_t{sum});
}

// The node over unit `unit` of arrays that lie well, all of whose elements exist.
template <class A, int BytesX, int BytesY, class Fold>
__device__ inline A packs_node(const Fold& fold, const arrays_of_dot& from, std::uint64_t unit) {
  thread_of_dot<A, BytesX, BytesY, Fold> mine(fold, unit);
  using packs = typename decltype(mine)::packs;
  const unsigned char* const x = from.x + mine.first * BytesX;
  const unsigned char* const y = from.y + mine.first * BytesY;
#pragma unroll
  for (int above = 0; above < packs::rows; above += packs::rows_together) {
    small_pack<BytesX, packs::size> of_x[packs::rows_together];
    small_pack<BytesY, packs::size> of_y[packs::rows_together];
#pragma unroll
    for (int r = 0; r < packs::rows_together; ++r) {
      of_x[r].load(x + (above + r) * (mine.row * BytesX));
      of_y[r].load(y + (above + r) * (mine.row * BytesY));
    }
    __syncwarp();  // what becomes of them begins behind all loads
#pragma unroll
    for (int r = 0; r < packs::rows_together; ++r) {
      if constexpr (BytesX == 1 && BytesY == 1) {
        mine.add(fold, 0, sum_of_products(of_x[r].kept.of, of_y[r].kept.of));
      } else {
#pragma unroll
        for (int c = 0; c < packs::size; ++c) mine.add(fold, c, fold.value(of_x[r].element(c), of_y[r].element(c)));
      }
    }
  }
  return mine.node(fold);
}

// The node over any unit, element by element. Out of line: the others would wait for its instructions.
template <class A, int BytesX, int BytesY, class Fold>
__device__ __noinline__ A cut_node_of_dot(const Fold& fold, const void* x, const void* y, std::uint64_t count, std::uint64_t unit) {
  using X = typename bytes_of<BytesX>::type;
  using Y = typename bytes_of<BytesY>::type;
  thread_of_dot<A, BytesX, BytesY, Fold> mine(fold, unit);
  using packs = typename decltype(mine)::packs;
  constexpr int elements = packs::rows * mine.row;
  const int left = mine.first < count ? static_cast<int>(::min(count - mine.first, std::uint64_t{elements})) : 0;
  const X* from_x = static_cast<const X*>(x) + mine.first;
  const Y* from_y = static_cast<const Y*>(y) + mine.first;
  // As many rows at a time as 64 registers hold. A loop: instructions that are needed once a launch come from far away.
  constexpr int registers = packs::size * ((BytesX + 3) / 4 + (BytesY + 3) / 4);
  constexpr int together = registers > 16 ? 2 : registers > 8 ? 4 : 8;
#pragma unroll 1
  for (int above = 0; above < left; above += together * mine.row) {
    X of_x[together][packs::size];
    Y of_y[together][packs::size];
#pragma unroll
    for (int r = 0; r < together; ++r) {
#pragma unroll
      for (int c = 0; c < packs::size; ++c) {
        const int place = r * mine.row + c;
        const bool exists = place < left - above;
        of_x[r][c] = exists ? from_x[place] : X{};
        of_y[r][c] = exists ? from_y[place] : Y{};
      }
    }
#pragma unroll
    for (int r = 0; r < together; ++r) {
#pragma unroll
      for (int c = 0; c < packs::size; ++c) {
        const A product = fold.value(of_x[r][c], of_y[r][c]);
        mine.add(fold, c, r * mine.row + c < left - above ? product : fold.neutral());
      }
    }
    from_x += together * mine.row;
    from_y += together * mine.row;
  }
  return mine.node(fold);
}

// What a warp takes at a time.
template <class A, int BytesX, int BytesY>
struct units_of_dot {
  using fold_type = own_fold<mixed_dot<A, BytesX, BytesY>>;
  using packs = packs_of_dot<A, BytesX, BytesY>;
  static constexpr int log_tiles = packs::log_tiles;
  static constexpr bool leaves_places = false;
  static __device__ bool is_whole(const tree_input& in, std::uint64_t unit) {
    return (unit + 1) << log_tiles <= device::whole_tiles<fold_type>(in);
  }
  static __device__ bool exists(const tree_input& in, std::uint64_t unit) { return unit << log_tiles < in.end_tile; }
  static __device__ A whole_node(const fold_type& fold, const tree_input& in, std::uint64_t unit) {
    const arrays_of_dot from = fold.fold.arrays(in);
    if ((unit + 1) * packs::elements > from.count) return cut_node(fold, from, unit);  // by the number that stands in memory
    if (lies_at(from.x, small_pack<BytesX, packs::size>::alignment) && lies_at(from.y, small_pack<BytesY, packs::size>::alignment))
      return packs_node<A, BytesX, BytesY>(fold, from, unit);
    tree_input these{};
    these.x = from.x;
    these.y = from.y;
    A node = fold.neutral();
#pragma unroll 1
    for (std::uint64_t tile = unit << log_tiles; tile < (unit + 1) << log_tiles; ++tile)
      node = fold.combine(node, device::rows_node<fold_type, true, 1>(fold, these, tile));
    return node;
  }
  static __device__ A any_node(const fold_type& fold, const tree_input& in, std::uint64_t unit) {
    return cut_node(fold, fold.fold.arrays(in), unit);
  }

 private:
  static __device__ A cut_node(const fold_type& fold, const arrays_of_dot& from, std::uint64_t unit) {
    return cut_node_of_dot<A, BytesX, BytesY>(fold, from.x, from.y, from.count, unit);
  }
};

}  // namespace
}  // namespace onefold::cuda_backend

namespace onefold::device::detail {
template <class A, int BytesX, int BytesY>
struct choice_of_units<own_fold<cuda_backend::mixed_dot<A, BytesX, BytesY>>, reading::packed, true> {
  using type = cuda_backend::units_of_dot<A, BytesX, BytesY>;
};
}  // namespace onefold::device::detail

namespace onefold::cuda_backend {
namespace {

// Few   whether the kernel of few elements is there, which looks into no memory.
template <class A, int BytesX, int BytesY, bool Few>
const device_kernels& kernels_of_dot() {
  using fold = own_fold<mixed_dot<A, BytesX, BytesY>>;
  static onefold::detail::device_kernels_known known[device_kernels::known_devices];
  static const device_kernels made = [] {
    device_kernels kernels{};
    if constexpr (Few) kernels.symbol[0] = reinterpret_cast<const void*>(device::fixed_order_few_kernel<fold, false>);
    kernels.symbol[4] = reinterpret_cast<const void*>(device::fixed_order_kernel<fold, device::reading::packed>);
    kernels.log_tiles[4] = units_of_dot<A, BytesX, BytesY>::log_tiles;
    kernels.known = known;
    return kernels;
  }();
  return made;
}

template <class A, int BytesX, int BytesY>
device_fold made_of(bool in_memory) {
  // Small arrays of whole numbers, and of what accumulate_as has made double, take the kernel of large ones, which is some microseconds more; and nobody has
  // that of clusters.
  constexpr bool has_few = std::is_same_v<A, float> || (std::is_same_v<A, double> && BytesX == 8);
  device_fold made{};
  made.struct_bytes = sizeof(made);
  made.value_bytes = made.state_bytes = made.result_bytes = made.result_alignment = sizeof(A);
  made.inputs = 2;
  made.element_bytes[0] = made.alignment[0] = BytesX;
  made.element_bytes[1] = made.alignment[1] = BytesY;
  made.kernels = in_memory ? &kernels_of_dot<A, BytesX, BytesY, false>() : &kernels_of_dot<A, BytesX, BytesY, has_few>();
  return made;
}
// Of whole numbers of 4 and of 8 bytes that are not accumulated in a wider type the library has the dots of one type, whose sums these are.
template <class A, int BytesX>
device_fold made_of(const mixed_dot_of& of, bool in_memory) {
  switch (size_of(of.y)) {
    case 1:
      if constexpr (BytesX < 8 || !std::is_same_v<A, float>) return made_of<A, BytesX, 1>(in_memory);
      break;
    case 2:
      if constexpr (BytesX >= 2) return made_of<A, BytesX, 2>(in_memory);
      break;
    case 4:
      if constexpr (BytesX >= 4) return made_of<A, BytesX, 4>(in_memory);
      break;
    default:
      if constexpr (BytesX == 8 && std::is_same_v<A, double>) return made_of<A, BytesX, 8>(in_memory);
      break;
  }
  return {};
}

}  // namespace

device_fold fold_of_mixed_dot(const mixed_dot_of& of, element_type products, bool in_memory, const void* x, const void* y) {
  const auto by_size = [&]<class A>() -> device_fold {
    switch (size_of(of.x)) {
      case 8:
        return made_of<A, 8>(of, in_memory);
      case 4:
        return made_of<A, 4>(of, in_memory);
      case 2:
        return made_of<A, 2>(of, in_memory);
      default:
        if constexpr (std::is_same_v<A, std::uint64_t>) return made_of<A, 1>(of, in_memory);
        return {};
    }
  };
  device_fold made{};
  if (products == element_type::f64)
    made = by_size.operator()<double>();
  else if (products == element_type::f32)
    made = by_size.operator()<float>();
  else
    made = by_size.operator()<std::uint64_t>();
  made.input[0] = x;
  made.input[1] = y;
  made.object = &of;
  if (in_memory && of.is_swapped) {  // the places are looked at in the call's order
    std::swap(made.input[0], made.input[1]);
    std::swap(made.element_bytes[0], made.element_bytes[1]);
    std::swap(made.alignment[0], made.alignment[1]);
  }
  return made;
}

}  // namespace onefold::cuda_backend
