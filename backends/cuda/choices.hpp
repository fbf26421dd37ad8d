#pragma once
/// @file choices.hpp  How a variant is launched: what the caller has chosen, or the launch policy, held against what the variant takes.

#include <string>

#include <onefold/catalogue.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/options.hpp>
#include <onefold/policy.hpp>

#include "device.hpp"
#include "variant.hpp"

namespace onefold::cuda_backend {

struct launch_choices {
  entry_point entry;
  const launch_policy& policy;       ///< in force on the device
  const variant_policy& of_variant;  ///< its choices for the variant
  int block_size;
  int width;
  onefold::finish finish;
};

/// Throws unsupported: `what`, of the variant.
[[noreturn]] void refuse(const variant_info& variant, const std::string& what);

/// Throws unsupported, with a sentence that says what can be chosen, and as policy_in_force().
launch_choices choose_launch(const onefold::detail::request& what, const options& how, const variant_info& variant,
                             const variant_row& row, const device_properties& gpu);

}  // namespace onefold::cuda_backend
