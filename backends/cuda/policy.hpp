#pragma once
/// @file policy.hpp  The launch policies: built in by compute capability, read from files, and what is in force on each device.

#include <span>
#include <string>
#include <string_view>

#include <onefold/policy.hpp>

#include "device.hpp"
#include "fixed_order/plan.hpp"

namespace onefold::cuda_backend {

/// The choices for a compute capability (10 * major + minor) that the library comes with. Cost: allocates.
launch_policy built_in_policy(int compute_capability);

/// The built-in block size of a variant: 512 threads for one that no policy names, or what it offers that is next below.
int built_in_block_size(std::string_view variant, std::span<const int> offered);

/// `given` with the built-in choices for the variants that it does not name. Throws invalid_argument.
launch_policy checked(const launch_policy& given, const device_properties& gpu);

/// A policy as a file's content, and back. `source` names the text in errors: a file's name. Throws unsupported and invalid_argument.
std::string to_text(const launch_policy& chosen, const device_properties& gpu);
launch_policy from_text(std::string_view text, const std::string& source, const device_properties& gpu);

/// What is in force on a device; the reference stays good. Costs a load where it is known. Throws what use_policy_file() throws.
const launch_policy& policy_in_force(const device_properties& gpu);
void put_in_force(const device_properties& gpu, const launch_policy& chosen);
launch_policy read_policy_file(const std::string& path, const device_properties& gpu);

/// The choices for one variant of a policy in force.
const variant_policy& choices_of(const launch_policy& policy, std::string_view variant);

}  // namespace onefold::cuda_backend
