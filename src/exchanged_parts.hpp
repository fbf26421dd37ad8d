#pragma once
/// @file exchanged_parts.hpp  Results of arrays whose parts lie in the memory of several GPUs, stored by each of these in stream order: the GPUs exchange what they know
/// of their parts.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <onefold/onefold.h>

#include "../backends/backend.hpp"
#include "range.hpp"

namespace onefold::detail {

/// Parts of one result behind those of another, as many of each as there are executors, and where each of these has the first result.
struct parts_and_outputs {
  std::span<const onefold_range_part> parts;
  std::span<void* const> outputs;

  [[nodiscard]] std::span<const onefold_range_part> of(std::size_t result) const {
    return parts.subspan(result * outputs.size(), outputs.size());
  }
};

/// The GPUs that have them in their memory, an executor for each output. For each result `reads_second` says whether it reads y. Outputs are checked. Throws unsupported where
/// some part lies elsewhere, or is read by another executor, and onefold::error of pointers.
std::vector<onefold_executor> gpus_of(const parts_and_outputs& all, std::span<const std::uint8_t> reads_second,
                                      std::size_t alignment, const onefold_options& how);

std::unique_ptr<exchange_in_progress> begin_exchange(std::span<const onefold_executor> gpus, std::size_t bytes);

namespace ranges {

/// onefold_range_put_parts(), of a result for each kind, all of one type.
void put_parts(std::span<const range_kind> kinds, std::int64_t ddof, const parts_and_outputs& all, const onefold_options* how);

}  // namespace ranges
}  // namespace onefold::detail
