#pragma once
/// @file mixed.hpp  Dots of elements of two types on a GPU.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

/// What the elements of both arrays are: that fold's object. The first is the one that comes first in detail::comes_first().
struct mixed_types {
  element_type x;
  element_type y;
};

/// What becomes of an element's bits.
enum class bits_as : int { whole, u64, f16, bf16, f32, f64 };

/// An array of a dot whose number of elements, or whose arrays, the device reads.
struct mixed_array {
  const void* place;  ///< the array, or where its address stands
  int is_in_memory;
  int log_bytes;  ///< of an element
  int unused;     ///< bits of 64 that a whole number with a sign has not, else 0
  bits_as as;
};
constexpr mixed_array mixed_array_of(element_type type, const void* array) noexcept {
  mixed_array made{array, 0, 0, 0, bits_as::whole};
  while ((std::size_t{1} << made.log_bytes) < size_of(type)) ++made.log_bytes;
  switch (type) {
    case element_type::f16:
      made.as = bits_as::f16;
      break;
    case element_type::bf16:
      made.as = bits_as::bf16;
      break;
    case element_type::f32:
      made.as = bits_as::f32;
      break;
    case element_type::f64:
      made.as = bits_as::f64;
      break;
    case element_type::u64:
      made.as = bits_as::u64;
      break;
    case element_type::i8:
    case element_type::i16:
    case element_type::i32:
      made.unused = 64 - 8 * static_cast<int>(size_of(type));
      break;
    default:
      break;
  }
  return made;
}

/// That fold's object. The arrays are in any order.
struct mixed_dot_in_memory {
  mixed_array x;
  mixed_array y;
  const std::uint64_t* count_at;  ///< or null
};

/// The fold of a dot of elements of two different types of real numbers, whose products are of type `products`; its object must live until the call ends.
onefold::detail::device_fold fold_of_mixed_dot(const mixed_types& types, element_type products, const void* x, const void* y);
/// Where something stands in memory the driver writes what is where into a copy of the object; this one has the arrays whose addresses do not.
onefold::detail::device_fold fold_of_mixed_dot(const mixed_dot_in_memory& of, element_type products);

}  // namespace onefold::cuda_backend
