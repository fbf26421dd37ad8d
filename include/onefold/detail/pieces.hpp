#pragma once
/// @file pieces.hpp  A reduction of an array that comes piece by piece. For onefold's command line tool; no part of the interface.

#include <cstdint>
#include <memory>

#include <onefold/onefold.h>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/order.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

/// Reduces piece after piece, to the bits that the array as a whole would give: a piece is a subtree of tree v1, and under
/// guarantee::exact a state that is added to the others'. Variants that promise no order combine the results of the pieces.
class ONEFOLD_API piecewise_reduction {
 public:
  /// Whether pieces of host memory can be reduced so: not by reduce_together, and on cuda() not by variants that read the device's memory alone.
  static bool is_for(const executor& where, form what, const options& how) noexcept;

  /// @param where  on cuda() pieces are copied to the GPU: those of 32 MiB and more are on their way while others are reduced
  /// @param tiles  of every piece but the last: a power of two
  /// @param ddof  of mean_variance
  /// Errors   invalid_argument: another number of tiles; unsupported: reduce_together.
  piecewise_reduction(const executor& where, element_type type, form what, bool wide, std::uint64_t tiles, std::int64_t ddof = 0);
  ~piecewise_reduction();
  piecewise_reduction(piecewise_reduction&&) noexcept;
  piecewise_reduction& operator=(piecewise_reduction&&) noexcept;

  /// Elements of every piece but the last.
  [[nodiscard]] std::uint64_t piece_elements() const noexcept;

  /// Reduces the next piece, and waits. Only the last one may have fewer elements.
  ///
  /// @param x  `count` elements of host memory
  /// @param y  dot: `count` elements too; else not looked at
  /// @param how  the same for all pieces; its report is that of the piece
  /// Errors   those of reduce(); invalid_argument: too many elements, or a piece behind the last one.
  void add(const void* x, const void* y, std::uint64_t count, const options& how);

  /// Stores the results for the pieces so far, result_bytes() bytes; of none, those for no elements. Of argmin and argmax requires one.
  void result(void* to) const;

  /// Of a form with one result: bits of the result for the pieces so far, zero-extended; of none, the result for no elements.
  [[nodiscard]] std::uint64_t bits() const;

  /// Under guarantee::exact, of a form that has an exact state: stores that of the pieces so far, canonical, onefold_exact_words() words;
  /// of none, zeros.
  /// Errors   invalid_argument: the pieces were not added under that guarantee.
  void exact_state(std::int64_t* words) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace onefold::detail
