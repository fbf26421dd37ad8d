#pragma once
/// @file host_arrays.hpp  Reductions of arrays in host memory, which come to the device in pieces. What is known of each, a node of tree v1 or an
/// exact state, the host combines to the bits of the whole.

#include <array>
#include <cstdint>

#include <onefold/catalogue.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/options.hpp>

#include "../exact/state.hpp"
#include "exact/memory.hpp"
#include "pointers.hpp"

namespace onefold::cuda_backend {

/// An exact state as a backend has it: the flags, then the integers of its sums.
using exact_integers =
    std::array<std::uint64_t, onefold::detail::exact::bytes_of(onefold::detail::exact::kinds[7]) / sizeof(std::uint64_t)>;
static_assert(sizeof(exact_integers) <= device::most_result_bytes);

/// Whether arrays of this request are to be copied to the device: those that it cannot read, and pinned ones of more than a piece where the
/// caller waits, since the copy engines move more than loads across the bus. Throws host_pointer, with the reason, where arrays that it cannot read
/// cannot be copied.
bool is_to_be_copied(const onefold::detail::request& what, const variant_info& variant, const inputs_of_request& inputs);

/// Runs such a request, a piece at a time, and waits; what was asked to be stored on the device is put there in stream order. `ran` has the
/// shape of the first piece's launch, and all launches.
/// Cost     one copy of the arrays; three pieces of device memory, kept for the stream, besides what the pieces take.
/// Errors   those of the calls with the pieces; unsupported while the stream is being captured.
void reduce_host_arrays(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran);

/// The real parts of complex numbers as the arrays of a request, whose exact_part says which they are.
onefold::detail::request part_of_complex(const onefold::detail::request& what);
/// A dot of two types, of request::products, as the kernels of exact sums take it, which know no function that gives the products.
onefold::detail::request dot_of_two_types(const onefold::detail::request& what);

// In backend.cpp.

/// Runs a request whose arrays the device can read where they are. Returns false, with nothing done, where some are to be copied.
[[nodiscard]] bool run_in_place(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran);

/// The same for an exact sum that is not rounded. Requires elements, and a request that waits.
[[nodiscard]] bool exact_state_in_place(const onefold::detail::request& what, exact_part part, const options& how,
                                        const variant_info& variant, report& ran, exact_integers& state);

}  // namespace onefold::cuda_backend
