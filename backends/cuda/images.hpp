#pragma once
/// @file images.hpp  Images of an array's parts, from which a kernel makes the array's result.

#include "../backend.hpp"

namespace onefold::cuda_backend {

bool can_join_images(const onefold::detail::images_of_parts& all) noexcept;

/// Launches the kernel. Requires that it can, and an output; throws what is said of device_view() and check().
void join_images(const executor& where, const onefold::detail::images_of_parts& all, void* output);

/// Loads it, as its first launch would. Requires that it can.
void load_join_images(const executor& where, const onefold::detail::images_of_parts& all);

}  // namespace onefold::cuda_backend
