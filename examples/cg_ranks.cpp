// Conjugate gradients for the Poisson equation on a cube, over the ranks of an MPI communicator. What it prints, each residual norm to the last bit, is
// to be the same on any number of ranks:
//
//   mpirun -n 4 cg_ranks slabs     each rank has some planes, a contiguous range of all unknowns: reductions over a layout
//   mpirun -n 8 cg_ranks blocks    each rank has a block: exact reductions, which know no order
//   mpirun -n 4 cg_ranks plain     slabs, and a loop with MPI_Allreduce: other numbers on each number of ranks
//
// With `gpu` behind slabs or blocks each rank's part of a reduction is made by a GPU, the next rank's by the next one: the same numbers again.

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <onefold/devices.hpp>
#include <onefold/mpi.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int edge = 40;  // unknowns along each edge of the cube

// A rank's part of the cube, with a layer of others' unknowns, or of zeros, around it.
class block {
 public:
  block(MPI_Comm comm, bool of_slabs) : comm_(comm) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    std::array<int, 3> parts = of_slabs ? std::array<int, 3>{ranks, 1, 1} : std::array<int, 3>{0, 0, 0};
    MPI_Dims_create(ranks, 3, parts.data());
    for (const int of_direction : parts)
      if (of_direction > edge)  // a part without planes has none to pass on
        throw std::invalid_argument("there are more ranks in one direction than the cube has planes, " + std::to_string(edge));
    const std::array<int, 3> place{rank / (parts[1] * parts[2]), rank / parts[2] % parts[1], rank % parts[2]};
    int stride = ranks;
    for (std::size_t d = 0; d < 3; ++d) {
      stride /= parts[d];
      first[d] = edge * place[d] / parts[d];
      size[d] = edge * (place[d] + 1) / parts[d] - first[d];
      before_[d] = place[d] > 0 ? rank - stride : MPI_PROC_NULL;
      behind_[d] = place[d] + 1 < parts[d] ? rank + stride : MPI_PROC_NULL;
    }
    around_.assign(
        static_cast<std::size_t>(size[0] + 2) * static_cast<std::size_t>(size[1] + 2) * static_cast<std::size_t>(size[2] + 2), 0.0);
  }

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(size[1]) * static_cast<std::size_t>(size[2]);
  }

  // y = A x: six times each unknown, less its neighbours.
  void multiply(const std::vector<double>& x, std::vector<double>& y) {
    for_own([&](int i, int j, int k, std::size_t n) { at(i, j, k) = x[n]; });
    for (std::size_t d = 0; d < 3; ++d) exchange(d);
    for_own([&](int i, int j, int k, std::size_t n) {
      y[n] = 6.0 * at(i, j, k) -
             ((at(i - 1, j, k) + at(i + 1, j, k)) + (at(i, j - 1, k) + at(i, j + 1, k)) + (at(i, j, k - 1) + at(i, j, k + 1)));
    });
  }

  template <class Body>
  void for_own(const Body& body) const {
    std::size_t n = 0;
    for (int i = 0; i < size[0]; ++i)
      for (int j = 0; j < size[1]; ++j)
        for (int k = 0; k < size[2]; ++k) body(i, j, k, n++);
  }

  std::array<int, 3> first{};
  std::array<int, 3> size{};

 private:
  double& at(int i, int j, int k) {
    return around_[(static_cast<std::size_t>(i + 1) * static_cast<std::size_t>(size[1] + 2) + static_cast<std::size_t>(j + 1)) *
                       static_cast<std::size_t>(size[2] + 2) +
                   static_cast<std::size_t>(k + 1)];
  }
  // The layer at this end of direction d.
  std::vector<double> layer(std::size_t d, int index) {
    std::vector<double> all;
    for_layer(d, index, [&](double& value) { all.push_back(value); });
    return all;
  }
  template <class Body>
  void for_layer(std::size_t d, int index, const Body& body) {
    const std::size_t a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
    std::array<int, 3> place{};
    place[d] = index;
    for (place[a] = 0; place[a] < size[a]; ++place[a])
      for (place[b] = 0; place[b] < size[b]; ++place[b]) body(at(place[0], place[1], place[2]));
  }
  void exchange(std::size_t d) {
    for (const bool up : {true, false}) {
      const std::vector<double> mine = layer(d, up ? size[d] - 1 : 0);
      std::vector<double> others(mine.size(), 0.0);  // stays zero where the cube ends
      const int count = static_cast<int>(mine.size());
      MPI_Sendrecv(mine.data(), count, MPI_DOUBLE, up ? behind_[d] : before_[d], 0, others.data(), count, MPI_DOUBLE,
                   up ? before_[d] : behind_[d], 0, comm_, MPI_STATUS_IGNORE);
      std::size_t n = 0;
      for_layer(d, up ? -1 : size[d], [&](double& value) { value = others[n++]; });
    }
  }

  MPI_Comm comm_;
  std::array<int, 3> before_{}, behind_{};
  std::vector<double> around_;
};

// Solves, and prints the norms on rank 0. dot(x, y) is that of all ranks.
template <class Dot>
void solve(block& mine, bool prints, const Dot& dot) {
  const std::size_t n = mine.count();
  std::vector<double> b(n), x(n, 0.0), r(n), p(n), ap(n);
  mine.for_own([&](int i, int j, int k, std::size_t at) {
    const int global = ((i + mine.first[0]) * edge + j + mine.first[1]) * edge + k + mine.first[2];
    b[at] = std::sin(0.37 * global) + 1e-3 * (global % 101);
  });
  r = b;
  p = b;
  double rr = dot(r, r);
  for (int iteration = 0; iteration < 60; ++iteration) {
    if (prints) std::printf("%3d %a\n", iteration, std::sqrt(rr));
    mine.multiply(p, ap);
    const double alpha = rr / dot(p, ap);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * ap[i];
    }
    const double next = dot(r, r);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / rr * p[i];
    rr = next;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string how = argc >= 2 ? argv[1] : "slabs";
  try {
    onefold::executor where = onefold::best();
    if (argc == 3 && std::string(argv[2]) == "gpu") {
      const onefold::devices gpus = onefold::devices::all();
      where = gpus[static_cast<std::size_t>(rank) % gpus.size()];
    }
    block mine(MPI_COMM_WORLD, how != "blocks");
    if (how == "slabs") {
      const onefold::mpi::layout unknowns(MPI_COMM_WORLD, mine.count());
      solve(mine, rank == 0, [&](const auto& x, const auto& y) { return onefold::dot(unknowns.on(where), x, y); });
    } else if (how == "blocks") {
      const onefold::mpi::communicator all(MPI_COMM_WORLD);
      solve(mine, rank == 0, [&](const auto& x, const auto& y) { return onefold::dot(all.on(where), x, y); });
    } else {
      solve(mine, rank == 0, [&](const auto& x, const auto& y) {
        double local = 0, sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) local += x[i] * y[i];
        MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return sum;
      });
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "rank %d: %s\n", rank, problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
