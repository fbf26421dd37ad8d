/// @file moments.cpp  Means and variances of values of which some are absent. Here, and not in the header that asks for it: a caller's flags may fuse a
/// product with a sum.

#include <cstddef>
#include <cstring>

#include <onefold/onefold.h>
#include <onefold/detail/folds.hpp>
#include <onefold/order.hpp>

namespace {

using fold = onefold::detail::mean_variance_fold<double>;
using state = fold::accumulator;

constexpr std::size_t most_lanes = 256;

// A tile's lanes so far, side by side, so that compilers make vectors of neighbours.
struct lanes_so_far {
  double shift[most_lanes];
  double sum[most_lanes];
  double squares[most_lanes];
  double rows[most_lanes];

  // One more row, of `count` lanes. A lane begins with its first value that is there.
  void add(const double* value, const unsigned char* present, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
      const bool here = present[j] != 0;
      const bool begins = here && rows[j] == 0;
      const double v = value[j];
      shift[j] = begins ? (v - v == 0 ? v : 0.0) : shift[j];
      const double d = v - shift[j];
      sum[j] = begins ? d : here ? sum[j] + d : sum[j];
      squares[j] = begins ? d * d : here ? squares[j] + d * d : squares[j];
      rows[j] += here ? 1 : 0;
    }
  }
  [[nodiscard]] state node(std::size_t j) const {
    if (rows[j] == 0) return fold::neutral();
    return fold::close({shift[j], sum[j], squares[j]}, static_cast<int>(rows[j]), 0, 0);
  }
};

}  // namespace

void onefold_moments_of_tile(int32_t lanes, const double* values, const unsigned char* present, uint64_t count, void* to) {
  const auto width = static_cast<std::size_t>(lanes);
  lanes_so_far now{};
  for (; count > width; count -= width, values += width, present += width) now.add(values, present, width);
  now.add(values, present, static_cast<std::size_t>(count));
  state node[most_lanes];
  for (std::size_t j = 0; j < width; ++j) node[j] = now.node(j);
  for (std::size_t h = width / 2; h > 0; h /= 2)
    for (std::size_t j = 0; j < h; ++j) node[j] = fold::combine(node[j], node[j + h]);
  std::memcpy(to, node, sizeof(state));
}

void onefold_moments_level(void* states, uint64_t count) {
  auto* const bytes = static_cast<unsigned char*>(states);
  const auto load = [bytes](uint64_t i) {
    state found;
    std::memcpy(&found, bytes + i * sizeof(state), sizeof(state));
    return found;
  };
  const auto store = [bytes](uint64_t i, const state& now) { std::memcpy(bytes + i * sizeof(state), &now, sizeof(state)); };
  for (uint64_t i = 0; i < count / 2; ++i) store(i, fold::combine(load(2 * i), load(2 * i + 1)));
  if (count % 2 == 1) store(count / 2, load(count - 1));
}
