#pragma once
/// @file box_indices.hpp  Where the indices of a box lie, for code that runs on a device: from an index to its coordinates once for many, and from
/// there to those of its neighbours in a few instructions.

#include <cstdint>

#include <onefold/box.hpp>
#include <onefold/detail/any_side.hpp>
#include <onefold/detail/divisor.hpp>

namespace onefold {
namespace detail {

/// A place behind which all indices that are asked for lie in its row: the other coordinates are the same for all of them, and the last one is a
/// number plus a constant. So the compiler computes what f makes of the others once, and the constants go into the loads.
template <int Rank>
struct place_in_row {
  std::int64_t at[std::size_t{Rank}];

  /// The same, so many indices on.
  [[nodiscard]] ONEFOLD_HOST_DEVICE place_in_row behind(int indices) const {
    place_in_row made = *this;
    made.at[Rank - 1] += indices;
    return made;
  }
  ONEFOLD_ANY_SIDE
  template <class F>
  ONEFOLD_HOST_DEVICE auto value(F& f, int offset) const {
    if constexpr (Rank == 2)
      return f(at[0], at[1] + offset);
    else
      return f(at[0], at[1], at[2] + offset);
  }
};

template <int Rank>
struct place_in_box;
template <int Rank>
struct place_nearby;

// A sum that is the same for many indices. Of its parts the compiler would add one after the other to each.
ONEFOLD_HOST_DEVICE inline void keep_as_one([[maybe_unused]] std::int64_t& sum) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(sum));
#endif
}

/// A box of two or three coordinates, taken row by row.
template <int Rank>
struct box_shape {
  std::int64_t begin[std::size_t{Rank}];
  std::uint64_t rows;       ///< of a plane, in three coordinates
  std::uint64_t length;     ///< of a row
  std::uint64_t back_rows;  ///< 0 - rows: what leads from a place behind the end of a plane into the next
  std::uint64_t back;       ///< 0 - length
  divisor by_rows;
  divisor by_length;
  near_divisor near_rows;
  near_divisor near_length;

  explicit box_shape(const index_box<Rank>& in)
      : rows(Rank == 3 && in.count != 0 ? in.extent[1] : 1),
        length(in.count != 0 ? in.extent[Rank - 1] : 1),
        back_rows(0 - rows),
        back(0 - length),
        by_rows(rows, in.count),
        by_length(length, in.count),
        near_rows(rows),
        near_length(length) {
    for (int d = 0; d < Rank; ++d) begin[d] = in.begin[d];
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE place_in_box<Rank> place(std::uint64_t index) const {
    const std::uint64_t line = by_length.of(index);
    const std::uint64_t plane = Rank == 2 ? line : by_rows.of(line);
    return {this, plane, Rank == 2 ? 0 : line - plane * rows, index - line * length};
  }
};

/// Where an index lies in a box: the others of a warp are asked for from there, since a division is too much for each.
template <int Rank>
struct place_in_box {
  const box_shape<Rank>* box;
  std::uint64_t plane;  ///< in two coordinates the row
  std::uint64_t row;    ///< of the plane, in three
  std::uint64_t column;

  /// So many indices on, as if its row went on.
  [[nodiscard]] ONEFOLD_HOST_DEVICE place_in_box behind(int indices) const {
    return {box, plane, row, column + static_cast<std::uint64_t>(indices)};
  }
  /// Whether the next `indices`, with its own, lie in its row. Not of a place behind().
  [[nodiscard]] ONEFOLD_HOST_DEVICE bool has_in_row(int indices) const {
    return box->length - column >= static_cast<std::uint64_t>(indices);
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE place_in_row<Rank> in_row() const {
    const std::int64_t first = box->begin[0] + static_cast<std::int64_t>(plane);
    const std::int64_t last = box->begin[Rank - 1] + static_cast<std::int64_t>(column);
    if constexpr (Rank == 2)
      return {{first, last}};
    else
      return {{first, box->begin[1] + static_cast<std::int64_t>(row), last}};
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE place_nearby<Rank> nearby() const {
    const place_in_row<Rank> here = in_row();
    place_nearby<Rank> made{box, here, box->near_length.place(column), box->near_rows.place(row)};
    for (std::int64_t& one : made.here.at) keep_as_one(one);
    return made;
  }
};

/// A place behind which indices may lie in other rows, and planes; behind a place's own row they are less than near_divisor::reach away. Without
/// branches, which would keep loads behind them from being on their way together.
template <int Rank>
struct place_nearby {
  const box_shape<Rank>* box;
  place_in_row<Rank> here;
  std::uint32_t column;  ///< for near_length
  std::uint32_t row;     ///< for near_rows

  ONEFOLD_ANY_SIDE
  template <class F>
  ONEFOLD_HOST_DEVICE auto value(F& f, int offset) const {
    place_in_row<Rank> there = here;
    const std::uint32_t lines = box->near_length.quotient(column + near_divisor::steps(static_cast<std::uint32_t>(offset)));
    there.at[Rank - 1] += static_cast<std::int64_t>(lines * box->back);
    if constexpr (Rank == 2) {
      there.at[0] += lines;
    } else {
      const std::uint32_t planes = box->near_rows.quotient(row + near_divisor::steps(lines));
      there.at[0] += planes;
      there.at[1] += static_cast<std::int64_t>(lines + planes * box->back_rows);
    }
    return there.value(f, offset);
  }
};

}  // namespace detail
}  // namespace onefold
