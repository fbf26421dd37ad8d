#pragma once
/// @file results.hpp  A call's result on the host: its size, what it is of no elements, and how it is waited for.

#include <array>
#include <cstddef>
#include <cstdint>

#include <onefold/detail/request.hpp>

#include "variant.hpp"

namespace onefold::cuda_backend {

std::size_t bytes_of_result(const onefold::detail::request& what);

/// The results for no elements.
std::array<std::byte, most_results * sizeof(std::uint64_t)> empty_results(const onefold::detail::request& what);

/// Writes a result of `bytes` bytes, at most sixteen words of 8, from the host's `value` to device memory, in stream order (store_value.cu).
void store_value(void* output, const void* value, std::size_t bytes, cudaStream_t stream);

/// Waits for the result of a call that waits, and puts it where the caller wants it. Throws device_error and device_lost.
void wait_for_result(const call& now, void* output, std::size_t bytes);

}  // namespace onefold::cuda_backend
