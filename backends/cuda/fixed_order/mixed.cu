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

// Whole numbers are added modulo a power of two, so that those with a sign are as those without.
template <class A, int BytesX, int BytesY>
struct mixed_dot : mixed_types {
  static constexpr int inputs = 2;
  template <int K>
  using input = typename bytes_of<K == 0 ? BytesX : BytesY>::type;
  using value_type = A;
  using accumulator = A;
  using result = A;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;

  __device__ A value(input<0> of_x, input<1> of_y) const {
    return onefold::detail::product_of(number_of<A>(of_x, x), number_of<A>(of_y, y));
  }
  __device__ A combine(A a, A b) const {
    if constexpr (std::is_floating_point_v<A>)
      return onefold::detail::rounded_add(a, b);
    else
      return a + b;
  }
  __device__ A neutral() const { return std::is_floating_point_v<A> ? -A(0) : A(0); }
  __device__ void conclude(const A* tree, std::uint64_t, A* to) const {
    *to = tree != nullptr ? onefold::detail::canonical(*tree) : A(0);
  }
};

template <class A, int BytesX, int BytesY>
device_fold made_of(const mixed_types& types, const void* x, const void* y) {
  using fold = mixed_dot<A, BytesX, BytesY>;
  static_assert(sizeof(fold) == sizeof(mixed_types), "its data are the types");
  // Small arrays of whole numbers take the kernel of large ones, which is some microseconds more; and nobody has that of clusters.
  constexpr int few_kernels = std::is_floating_point_v<A> ? 1 : 0;
  device_fold made = onefold::detail::device_fold_maker<fold, few_kernels>::make(fold{types}, x, y, nullptr);
  made.object = &types;
  return made;
}

// Of whole numbers of 4 and of 8 bytes the library has the dots of one type, whose sums these are.
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
      if constexpr (BytesX == 8 || (BytesX == 4 && std::is_floating_point_v<A>)) return made_of<A, BytesX, 4>(types, x, y);
      break;
    default:
      if constexpr (std::is_same_v<A, double>) return made_of<A, BytesX, 8>(types, x, y);
      break;
  }
  return {};
}

}  // namespace

device_fold fold_of_mixed_dot(const mixed_types& types, const void* x, const void* y) {
  const bool products_are_floats = is_float(types.x) || is_float(types.y);
  if (types.x == element_type::f64) return made_of<double, 8>(types, x, y);
  switch (size_of(types.x)) {
    case 8:
      return products_are_floats ? made_of<float, 8>(types, x, y) : made_of<std::uint64_t, 8>(types, x, y);
    case 4:
      return products_are_floats ? made_of<float, 4>(types, x, y) : made_of<std::uint64_t, 4>(types, x, y);
    case 2:
      return products_are_floats ? made_of<float, 2>(types, x, y) : made_of<std::uint64_t, 2>(types, x, y);
    default:
      return made_of<std::uint64_t, 1>(types, x, y);
  }
}

}  // namespace onefold::cuda_backend
