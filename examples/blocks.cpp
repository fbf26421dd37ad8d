/// @file blocks.cpp  The balance of a 3-D grid, the sum of what flows into its cells, cut into 1, 2, 4 and 8 blocks: exact states, merged
/// as MPI_SUM merges them, give one number for all; sums of the blocks' sums give others. With MPI each block would be a rank's.

#include <onefold/onefold.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t n = 96;  // cells along each axis

// Of cell (k, j, i): what flows in less what flows out, of either sign. All of them together nearly cancel.
double residual(std::size_t k, std::size_t j, std::size_t i) {
  return std::sin(0.3 * static_cast<double>(k)) * std::cos(0.2 * static_cast<double>(j)) * std::sin(0.1 * static_cast<double>(i));
}

// The cells of one block of bk x bj x bi, as its rank holds them.
std::vector<double> block(std::size_t rank, std::size_t bk, std::size_t bj, std::size_t bi) {
  const std::size_t lk = n / bk;
  const std::size_t lj = n / bj;
  const std::size_t li = n / bi;
  const std::size_t k0 = rank / (bj * bi) * lk;
  const std::size_t j0 = rank / bi % bj * lj;
  const std::size_t i0 = rank % bi * li;
  std::vector<double> cells;
  cells.reserve(lk * lj * li);
  for (std::size_t k = k0; k < k0 + lk; ++k)
    for (std::size_t j = j0; j < j0 + lj; ++j)
      for (std::size_t i = i0; i < i0 + li; ++i) cells.push_back(residual(k, j, i));
  return cells;
}

struct sums {
  double fixed;
  double exact;
};

sums sums_of(std::size_t bk, std::size_t bj, std::size_t bi) {
  double added = 0;
  onefold::exact_state<onefold::form::sum, double> total;
  for (std::size_t rank = bk * bj * bi; rank-- > 0;) {  // any order
    const std::vector<double> cells = block(rank, bk, bj, bi);
    added += onefold::sum(onefold::best(), cells);

    onefold::exact_state<onefold::form::sum, double> mine;
    mine.add(onefold::best(), cells);
    // MPI_Allreduce(mine.words(), total.words(), total.size(), MPI_INT64_T, MPI_SUM, comm);
    for (std::size_t w = 0; w < total.size(); ++w) total.words()[w] += mine.words()[w];
  }
  return {added, total.value()};
}

}  // namespace

int main() {
  try {
    const sums whole = sums_of(1, 1, 1);
    bool same = true;
    std::puts("blocks     sums of sums          exact states");
    for (const auto& [bk, bj, bi] : {std::array<std::size_t, 3>{1, 1, 1}, {2, 1, 1}, {1, 1, 2}, {2, 2, 1}, {1, 2, 2}, {2, 2, 2}}) {
      const sums now = sums_of(bk, bj, bi);
      std::printf("%zu x %zu x %zu  %-20a  %a\n", bk, bj, bi, now.fixed, now.exact);
      same = same && now.exact == whole.exact;
    }
    std::puts(same ? "exact states: the same bits for every number of blocks" : "the bits differ");
    return same ? 0 : 1;
  } catch (const onefold::error& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
