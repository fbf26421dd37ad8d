#pragma once
/// @file variants.hpp  The variants of the catalogue: what each says of itself, and its row.

#include <span>

#include <onefold/catalogue.hpp>

#include "variant.hpp"

namespace onefold::cuda_backend {

/// In the catalogue's order.
std::span<const variant_info> list_variants();

/// The row behind a line of the catalogue, which holds a copy of our description.
const variant_row& row_of_variant(const variant_info& wanted);

}  // namespace onefold::cuda_backend
