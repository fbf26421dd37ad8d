#pragma once
/// @file select.hpp  Which variant a request means, and the sentences for those that mean none.

#include <string>
#include <string_view>

#include <onefold/catalogue.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/options.hpp>

namespace onefold::detail {

/// The variant that runs a request on this backend: the native one of the name that `how` gives; on a CPU backend for a CUDA name its
/// reference; without a name fixed_order. Throws unknown_variant, unsupported, guarantee_not_met.
const variant_info& select(const request& what, backend where, const options& how);

/// Whether these options, which may be of an older header, ask for an exact result: by the guarantee, or by the name of a variant that gives it.
bool asks_for_exact(const onefold_options* how) noexcept;

/// Whether a variant of this name, if there is one, is exact.
bool is_exact_variant(std::string_view name) noexcept;

/// The names nearest to a misspelt one, as "did you mean warp_shuffle?" or, when nothing is near, where to find the list.
std::string nearest_names(std::string_view misspelt);

/// Says that the backend is not built, and what to do about it.
std::string not_built_sentence(backend where);

/// Says that this build of the library lacks the variant, and what to do about it.
std::string left_out_sentence(std::string_view variant);

}  // namespace onefold::detail
