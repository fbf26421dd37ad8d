#pragma once
/// @file mixed.hpp  Dots of elements of two types on a GPU.

#include <cstdint>

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

/// That fold's object: what the elements of both arrays are, of which the first is the one that comes first by detail::comes_first(), and what stands in
/// memory, as the device sees it.
struct mixed_dot_of {
  element_type x;
  element_type y;
  bool is_swapped;                    ///< the call has the arrays in the other order
  const void* const* x_at = nullptr;  ///< where the address of the array stands, or null
  const void* const* y_at = nullptr;
  const std::uint64_t* count_at =
      nullptr;  ///< where the number of elements stands, of which there are then no more than the call says; or null
};

/// The fold of a dot of elements of two different types of real numbers, whose products are of type `products`; `of` must live until the call ends.
/// `In_memory`   the driver writes what stands where into a copy of the object
onefold::detail::device_fold fold_of_mixed_dot(const mixed_dot_of& of, element_type products, bool in_memory, const void* x,
                                               const void* y);

}  // namespace onefold::cuda_backend
