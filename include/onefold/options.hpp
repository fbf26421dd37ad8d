#pragma once
/// @file options.hpp  What a caller may ask of a reduction beside the operator, and the report of what ran.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <onefold/detail/unit.hpp>
#include <onefold/types.hpp>

namespace onefold {

class workspace;

ONEFOLD_BEGIN_TEXTS
/// What ran, filled in by a call whose options point to it.
struct report {
  std::string variant;         ///< the name that was asked for, or that the library chose
  std::string implementation;  ///< what ran: the same name, or on a CPU backend "Kokkos::parallel_reduce" for a CUDA name, and
                               ///< for fixed_order the instruction set too: "fixed_order/avx512"
  onefold::backend backend = {};
  onefold::guarantee guarantee = {};  ///< what the implementation promises about the bits
  onefold::finish finish = onefold::finish::none;
  int threads = 0;                ///< CPU threads; 0 on the GPU
  int device = -1;                ///< CUDA device; -1 on the CPU
  int block_size = 0;             ///< threads per block of the first launch
  std::int64_t grid_size = 0;     ///< blocks of the first launch
  int width = 0;                  ///< the variant's own parameter; 0 where it has none
  int launches = 0;               ///< kernels that onefold started; copies, and what the peer cub starts by itself, not counted
  std::size_t shared_bytes = 0;   ///< dynamic shared memory per block of the first launch
  std::size_t scratch_bytes = 0;  ///< device memory for a copy of the input: of an in-place variant, or of arrays in host memory
};

/// Requests. A field left alone is the library's choice; a field that is set is met or refused, never replaced. On CPUs finish, block_size, grid_size and width mean
/// nothing.
///
/// What users need   `guarantee`, `workspace`, `report`.
/// The lectures' knobs   `variant`, `finish`, `block_size`, `grid_size` and `width` choose a variant of the catalogue and how a GPU launches it;
///     nobody who wants a result needs them. On the CPU backends the launch shape has no meaning: there those four of a CUDA variant's name are
///     accepted and not used, so that one call runs everywhere. They stand first because designated initialisers follow the order of the
///     members; the C interface keeps them in a structure of their own (onefold_knobs).
struct options {
  // the lectures' knobs
  std::string_view variant = {};                        ///< by name; see variants()
  onefold::finish finish = onefold::finish::automatic;  ///< how block partials become one value
  int block_size = 0;                                   ///< threads per block
  std::int64_t grid_size = 0;                           ///< blocks
  int width = 0;                                        ///< the variant's own parameter (variant_info::widths)

  // what users need
  /// What must be promised about the bits. Left alone: guarantee::fixed, or what the named variant promises where one is named.
  std::optional<onefold::guarantee> guarantee = {};
  onefold::workspace* workspace = nullptr;  ///< cuda(): working memory of the caller's own; with it nothing is allocated
  onefold::report* report = nullptr;        ///< where to write what ran; may be null
};
ONEFOLD_END_TEXTS

}  // namespace onefold
