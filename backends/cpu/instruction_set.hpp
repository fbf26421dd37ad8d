#pragma once
/// @file instruction_set.hpp  Which kernels run on this machine.

#include <cstdint>
#include <string_view>

#include "kernels/exact_table.hpp"
#include "kernels/table.hpp"

namespace onefold::cpu {

struct instruction_set {
  std::string_view name;        ///< "fixed_order/avx512"
  const kernel_table* kernels;  ///< the longest registers
  const kernel_table* narrow;   ///< those with registers of 32 bytes, where this set has longer ones that need not be used
  bool here;                    ///< whether this machine has it
  const exact_table* exact;     ///< exact sums with it
};

/// The best that this machine has, or the one that the environment's ONEFOLD_INSTRUCTION_SET names, which is then used for everything. Throws
/// where that cannot be had: invalid_argument for an unknown name, unsupported for a set that this processor lacks.
const instruction_set& chosen_instructions();

/// Whether loads of 32 bytes are faster than loads of 64 for so many bytes of input.
///
/// @param light    one operation for each load, so that loads are what counts
/// @param on_line  whether the input begins on a cache line
bool narrow_is_faster(bool light, std::uint64_t bytes, int threads, bool on_line);

/// Whether four streams from memory are faster than one with the kernels that have them, those with registers of 64 bytes: on a Zen 4 up to 1.3 times
/// (docs/decisions/0054).
bool streams_are_faster();

/// Bytes of input that a cache may hold: a third-level cache's share of one program, or what there is at least.
inline constexpr std::uint64_t most_in_caches = std::uint64_t{24} << 20;

/// The table to take for an input.
inline const kernel_table& kernels_for(bool light, std::uint64_t bytes, int threads, bool on_line) {
  const instruction_set& set = chosen_instructions();
  return set.narrow != nullptr && narrow_is_faster(light, bytes, threads, on_line) ? *set.narrow : *set.kernels;
}

}  // namespace onefold::cpu
