#pragma once
/// @file golden.hpp  The golden table of tree v1 (tests/golden/README.md), and its comparison with what a backend gives here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/executor.hpp>
#include <onefold/types.hpp>

#include "any_form.hpp"

namespace onefold::tool {

/// One row of the tables in tests/golden.
struct golden_row {
  element_type type;
  onefold::form form;
  bool wide;              ///< accumulated in accumulator_type(type, true)
  std::string_view data;  ///< family of the elements
  std::uint64_t seed;
  std::uint64_t count;
  std::int64_t ddof;   ///< of mean_variance; else 0
  result_bits bits;    ///< of the results, in the low bytes of their types; of complex ones both parts'
  bool exact = false;  ///< under guarantee::exact, and not in tree v1's order
};

/// The tables that this tool was built with, one behind the other.
[[nodiscard]] std::span<const golden_row> golden_table() noexcept;

/// The bits of the elements of a family, each in the low bytes: `count` of them, of complex numbers 2 * count, both parts of one behind
/// the other. Errors: std::invalid_argument for a family that elements of this type do not have.
[[nodiscard]] std::vector<std::uint64_t> golden_data(element_type type, std::string_view family, std::uint64_t seed,
                                                     std::uint64_t count);

/// A result that is not what its row says, or that could not be had.
struct golden_difference {
  golden_row row;
  std::size_t offset_x;  ///< elements between a boundary of 64 bytes and the first element; for dot of y too
  std::size_t offset_y;
  result_bits got;
  std::string error;  ///< what was thrown instead of a result; else empty
};

/// What came of comparing rows on one executor.
struct golden_outcome {
  std::string place;  ///< "openmp, 2 threads"
  std::size_t rows = 0;
  std::size_t agreeing_rows = 0;  ///< those without a difference at any alignment
  std::size_t cases = 0;          ///< rows times alignments
  std::vector<golden_difference> differences;
};

/// Reduces the data of every row at a few alignments, on cuda() in device memory, and compares the results with the row to the bit.
/// Errors   those of the data: golden_data(); out of memory. Other errors of reductions are differences.
[[nodiscard]] golden_outcome compare(std::span<const golden_row> rows, const executor& where);

/// The executors to compare on: serial(), openmp() with one, two and all threads, and every GPU, as far as they can be used here.
[[nodiscard]] std::vector<executor> golden_places();

}  // namespace onefold::tool
