/// @file mixed.cu  The kernels of dots of elements of two types: one for each size of the elements and type of the products. Which types of these sizes
/// they are is read from the fold, in registers, while memory is what is waited for.

#include "mixed.hpp"

#include <onefold/device.cuh>

namespace onefold::cuda_backend {

namespace {

using onefold::detail::device_fold;

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

// The number that an element is, in the type of the products.
template <class A>
__device__ A number_of(std::uint8_t bits, element_type type) {
  return type == element_type::i8 ? static_cast<A>(static_cast<std::int8_t>(bits)) : static_cast<A>(bits);
}
template <class A>
__device__ A number_of(std::uint16_t bits, element_type type) {
  if constexpr (std::is_floating_point_v<A>) {
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  if (type == element_type::name) return float{T::from_bits(bits)};
#include <onefold/types.def>
  }
  return type == element_type::i16 ? static_cast<A>(static_cast<std::int16_t>(bits)) : static_cast<A>(bits);
}
template <class A>
__device__ A number_of(std::uint32_t bits, element_type type) {
  if constexpr (std::is_floating_point_v<A>)
    if (type == element_type::f32) return __uint_as_float(bits);
  return type == element_type::i32 ? static_cast<A>(static_cast<std::int32_t>(bits)) : static_cast<A>(bits);
}
template <class A>
__device__ A number_of(std::uint64_t bits, element_type type) {
  if constexpr (std::is_same_v<A, double>)
    if (type == element_type::f64) return __longlong_as_double(static_cast<long long>(bits));
  return type == element_type::i64 ? static_cast<A>(static_cast<std::int64_t>(bits)) : static_cast<A>(bits);
}

// A sum in A, of a fold whose data are `Data`. Whole numbers are added modulo a power of two, so that those with a sign are as those without.
template <class A, class Data>
struct sum_in : Data {
  using value_type = A;
  using accumulator = A;
  using result = A;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;

  __device__ A combine(A a, A b) const {
    if constexpr (std::is_floating_point_v<A>)
      return onefold::detail::rounded_add(a, b);
    else
      return a + b;
  }
  __device__ A neutral() const { return std::is_floating_point_v<A> ? -A(0) : A(0); }
};

template <class A, int BytesX, int BytesY>
struct mixed_dot : sum_in<A, mixed_types> {
  static constexpr int inputs = 2;
  template <int K>
  using input = typename bytes_of<K == 0 ? BytesX : BytesY>::type;

  __device__ A value(input<0> of_x, input<1> of_y) const {
    return onefold::detail::product_of(number_of<A>(of_x, this->x), number_of<A>(of_y, this->y));
  }
  __device__ void conclude(const A* tree, std::uint64_t, A* to) const {
    *to = tree != nullptr ? onefold::detail::canonical(*tree) : A(0);
  }
};

template <class A, int BytesX, int BytesY>
device_fold made_of(const mixed_types& types, const void* x, const void* y) {
  using fold = mixed_dot<A, BytesX, BytesY>;
  static_assert(sizeof(fold) == sizeof(mixed_types), "its data are the types");
  // Small arrays of whole numbers, and of what accumulate_as has made double, take the kernel of large ones, which is some microseconds more; and nobody has
  // that of clusters.
  constexpr int few_kernels = std::is_same_v<A, float> || (std::is_same_v<A, double> && BytesX == 8) ? 1 : 0;
  device_fold made = onefold::detail::device_fold_maker<fold, few_kernels>::make(fold{{types}}, x, y, nullptr);
  made.object = &types;
  return made;
}

// Of whole numbers of 4 and of 8 bytes that are not accumulated in a wider type the library has the dots of one type, whose sums these are.
template <class A, int BytesX>
device_fold made_of(const mixed_types& types, const void* x, const void* y) {
  switch (size_of(types.y)) {
    case 1:
      if constexpr (BytesX < 8 || !std::is_same_v<A, float>) return made_of<A, BytesX, 1>(types, x, y);
      break;
    case 2:
      if constexpr (BytesX >= 2) return made_of<A, BytesX, 2>(types, x, y);
      break;
    case 4:
      if constexpr (BytesX >= 4) return made_of<A, BytesX, 4>(types, x, y);
      break;
    default:
      if constexpr (BytesX == 8 && std::is_same_v<A, double>) return made_of<A, BytesX, 8>(types, x, y);
      break;
  }
  return {};
}

// An array of which the launch alone knows how large its elements are. Without branches, so that the loads of many rows are on their way together.
struct array_in_memory {
  const unsigned char* first;
  mixed_array of;

  [[nodiscard]] __device__ bool can_be_read() const {
    return first != nullptr && (reinterpret_cast<std::uintptr_t>(first) & ((1U << of.log_bytes) - 1)) == 0;
  }
  // One of four loads, or none and 0.
  [[nodiscard]] __device__ std::uint64_t bits(std::uint64_t i, bool is_there) const {
    std::uint64_t found;
    asm volatile(
        "{\n"
        "  .reg .pred of_1, of_2, of_4, of_8;\n"
        "  setp.eq.s32 of_1, %2, 0;\n"
        "  setp.eq.s32 of_2, %2, 1;\n"
        "  setp.eq.s32 of_4, %2, 2;\n"
        "  setp.eq.s32 of_8, %2, 3;\n"
        "  mov.u64 %0, 0;\n"
        "  @of_1 ld.global.u8 %0, [%1];\n"
        "  @of_2 ld.global.u16 %0, [%1];\n"
        "  @of_4 ld.global.u32 %0, [%1];\n"
        "  @of_8 ld.global.u64 %0, [%1];\n"
        "}"
        : "=&l"(found)
        : "l"(__cvta_generic_to_global(first + (i << of.log_bytes))), "r"(is_there ? of.log_bytes : -1));
    return found;
  }
  template <class A>
  [[nodiscard]] __device__ A number(std::uint64_t bits) const {
    const std::int64_t whole = static_cast<std::int64_t>(bits << of.unused) >> of.unused;
    if constexpr (std::is_floating_point_v<A>) {
      const auto low = static_cast<std::uint32_t>(bits);
      A made = static_cast<A>(whole);
      if (of.as == bits_as::u64) made = static_cast<A>(bits);
      if (of.as == bits_as::f16) made = onefold::detail::float_of_binary16(static_cast<std::uint16_t>(low));
      if (of.as == bits_as::bf16) made = onefold::detail::float_of_bfloat16(static_cast<std::uint16_t>(low));
      if (of.as == bits_as::f32) made = __uint_as_float(low);
      if constexpr (std::is_same_v<A, double>)
        if (of.as == bits_as::f64) made = __longlong_as_double(static_cast<long long>(bits));
      return made;
    } else {
      return static_cast<A>(whole);
    }
  }
};

// What stands in memory, and where a thread's indices begin: as the places of boxes are.
struct resolved_arrays {
  array_in_memory x;
  array_in_memory y;
  std::uint64_t count;  // elements of all
  std::uint64_t begin;

  [[nodiscard]] __device__ resolved_arrays behind(int steps) const {
    return {x, y, count, begin + static_cast<std::uint64_t>(steps)};
  }
  [[nodiscard]] __device__ static constexpr bool has_in_row(int) { return true; }
  [[nodiscard]] __device__ const resolved_arrays& in_row() const { return *this; }
  [[nodiscard]] __device__ const resolved_arrays& nearby() const { return *this; }
};

// A function of the index, which reads the arrays itself; behind the count are neutral elements. Of arrays that cannot be read the result has all bits set.
template <class A>
struct mixed_dot_by_index : sum_in<A, mixed_dot_in_memory> {
  static constexpr int inputs = 0;

  static __device__ array_in_memory resolved(const mixed_array& of) {
    const void* const first = of.is_in_memory != 0 ? *static_cast<const void* const*>(of.place) : of.place;
    return {static_cast<const unsigned char*>(first), of};
  }
  __device__ std::uint64_t count_of_all() const { return this->count_at != nullptr ? *this->count_at : ~std::uint64_t{0}; }

  __device__ resolved_arrays origin(std::uint64_t begin) const {
    resolved_arrays made{{nullptr, this->x}, {nullptr, this->y}, count_of_all(), begin};
    if (made.count == 0) return made;
    made.x = resolved(this->x);
    made.y = resolved(this->y);
    if (!made.x.can_be_read() || !made.y.can_be_read()) made.count = 0;
    return made;
  }
  __device__ A value_from(const resolved_arrays& from, int offset) const {
    const std::uint64_t i = from.begin + static_cast<std::uint64_t>(offset);
    const bool is_there = i < from.count;
    const std::uint64_t of_x = from.x.bits(i, is_there);
    const std::uint64_t of_y = from.y.bits(i, is_there);
    const A product = onefold::detail::product_of(from.x.template number<A>(of_x), from.y.template number<A>(of_y));
    return is_there ? product : this->neutral();
  }
  __device__ A value(std::uint64_t i) const { return value_from(origin(i), 0); }
  __device__ void conclude(const A* tree, std::uint64_t, A* to) const {
    if (tree == nullptr || count_of_all() == 0)
      *to = A(0);
    else if (origin(0).count == 0)
      memset(to, 0xff, sizeof(A));
    else
      *to = onefold::detail::canonical(*tree);
  }
};

template <class A>
device_fold made_by_index(const mixed_dot_in_memory& of) {
  using fold = mixed_dot_by_index<A>;
  static_assert(sizeof(fold) == sizeof(mixed_dot_in_memory), "its data are the places");
  device_fold made = onefold::detail::device_fold_maker<fold, 0>::make(fold{{of}}, of.x.place, of.y.place, nullptr);
  made.inputs = 2;  // whose memory is looked at
  for (int k = 0; k < 2; ++k) made.element_bytes[k] = made.alignment[k] = 1U << (k == 0 ? of.x : of.y).log_bytes;
  made.object = &of;
  return made;
}

}  // namespace

device_fold fold_of_mixed_dot(const mixed_types& types, element_type products, const void* x, const void* y) {
  const auto by_size = [&]<class A>() -> device_fold {
    switch (size_of(types.x)) {
      case 8:
        return made_of<A, 8>(types, x, y);
      case 4:
        return made_of<A, 4>(types, x, y);
      case 2:
        return made_of<A, 2>(types, x, y);
      default:
        if constexpr (std::is_same_v<A, std::uint64_t>) return made_of<A, 1>(types, x, y);
        return {};
    }
  };
  if (products == element_type::f64) return by_size.operator()<double>();
  if (products == element_type::f32) return by_size.operator()<float>();
  return by_size.operator()<std::uint64_t>();
}

device_fold fold_of_mixed_dot(const mixed_dot_in_memory& of, element_type products) {
  if (products == element_type::f64) return made_by_index<double>(of);
  if (products == element_type::f32) return made_by_index<float>(of);
  return made_by_index<std::uint64_t>(of);
}

}  // namespace onefold::cuda_backend
