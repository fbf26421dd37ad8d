#pragma once
/// @file policy.hpp  The launch choices on a GPU: what decides how long a reduction takes, and never its bits.

#include <string>
#include <vector>

#include <onefold/executor.hpp>
#include <onefold/export.hpp>

namespace onefold {

/// How `fixed_order` gives an array to the blocks of a launch. The order of combination does not depend on any of it. A tile is 4 KiB of the
/// first input, a unit what a warp takes at a time: two tiles, or one (docs/tuning.md says more, docs/order.md what a tile is).
struct fixed_order_policy {
  int one_block_tiles = 16;  ///< up to so many tiles one block has a warp for each; 1 to 16
  int cluster_tiles = 128;   ///< up to so many a cluster of eight blocks has; 0 (never) to 128; compute capability 9.0 or more
  int short_units = 1024;    ///< up to so many units are a matter of latency and go to `short_blocks` blocks; 0 to 2^20
  int short_blocks = 64;     ///< 1 to 1024
  int wave_warps = 16;       ///< up to so many units for each multiprocessor it has one block, with a warp for each; 0 to 16
  int stream_warps = 8;      ///< warps of a block of larger arrays; 1, 2, 4, 8 or 16
  int stream_rounds = 2;     ///< units that each of them takes before its block ends, where there are enough; 1 to 64
  int stream_leaves = 4096;  ///< what is enough: so many blocks at least, with one unit for each warp if need be; 1 to 32768
  int single_tiles = 16;  ///< up to so many tiles for each multiprocessor a warp takes one where accumulators are wide; 0 to 1024

  friend bool operator==(const fixed_order_policy&, const fixed_order_policy&) = default;
};

/// How a variant of the lectures is launched. A choice that it does not have is 0.
struct variant_policy {
  std::string variant;                ///< its name in the catalogue
  int block_size = 0;                 ///< threads; one of the variant's block sizes
  int blocks_per_multiprocessor = 0;  ///< of a grid that stays on the GPU; 0: as many as fit, which is never exceeded
  int alone_rounds = 0;               ///< one block works alone up to so many turns of its loop; 1 to 1024
  int host_values = 0;                ///< so many partial results at most are left to the host; 1 to 2^20

  friend bool operator==(const variant_policy&, const variant_policy&) = default;
};

/// All launch choices for one GPU.
struct launch_policy {
  fixed_order_policy fixed_order;
  std::vector<variant_policy> variants;  ///< of the catalogue's other variants, those that have anything to choose, in its order

  friend bool operator==(const launch_policy&, const launch_policy&) = default;
};

/// The choices that calls on the executor's GPU follow: the library's own for its compute capability, or those of the file that the environment
/// variable ONEFOLD_CUDA_POLICY names, which is read when the device is first used, or what use_policy() has been given. A call's own options
/// come first. Errors: backend_not_built, backend_unavailable, unsupported (the executor is not a cuda() one), those of use_policy_file()
/// while the variable is set, out_of_memory.
[[nodiscard]] ONEFOLD_EXPORT launch_policy policy_of(const executor& where);

/// Lets calls on the executor's GPU follow `chosen` from now on, those of other threads too. Variants that it does not name keep the library's
/// choice. Errors: those of policy_of(); invalid_argument, with the member's name, where a number is out of its range or a choice is not the
/// variant's; then nothing changes.
ONEFOLD_EXPORT void use_policy(const executor& where, const launch_policy& chosen);

/// The same with the policy in a file that `onefold-perf tune` has written, or policy_text(). Errors: those of use_policy(); unsupported where the
/// file is of another GPU, of another version of onefold or in another format; invalid_argument where it cannot be read.
ONEFOLD_EXPORT void use_policy_file(const executor& where, const std::string& path);

/// Back to the library's own choices, whatever the environment says.
ONEFOLD_EXPORT void use_built_in_policy(const executor& where);

/// The content of a file for use_policy_file(), for the executor's GPU and this version of onefold. Errors: those of policy_of().
[[nodiscard]] ONEFOLD_EXPORT std::string policy_text(const executor& where, const launch_policy& chosen);

}  // namespace onefold
