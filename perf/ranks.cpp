/// @file ranks.cpp  onefold-perf-mpi: what reductions over the ranks of one machine take, beside MPI_Allreduce of one double. Start it with mpirun.
///
/// All rows are timed in turns, each turn a few dozen calls, and the turns' lower quartile is taken: a rank that the system has stopped for a
/// while stops all others. What is compared is what comes on top of the local reduction.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <onefold/mpi.hpp>
#include <onefold/onefold.hpp>

namespace {

struct row {
  std::string name;
  std::function<void()> call;
  int local;  ///< the row of its local reduction
  std::vector<double> turns = {};

  [[nodiscard]] double microseconds() const {
    std::vector<double> sorted = turns;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 4];
  }
};

template <class Call>
double nanoseconds_of(int calls, const Call& call) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  return (MPI_Wtime() - begin) / calls * 1e9;
}

// The constants of the model in docs/ranks.md that no network is in.
void print_constants() {
  const onefold_message_part part{ONEFOLD_F64, ONEFOLD_SUM, 0, 40};
  const std::size_t bytes = onefold_message_bytes(&part, 1);
  std::vector<std::uint64_t> left(bytes / 8), right(bytes / 8), merged(bytes / 8);
  const std::uint64_t middle = std::uint64_t{512} * 1023, total = 2 * middle;
  const std::vector<double> x(middle, 0.1);
  double result = 0;
  for (int which = 0; which < 2; ++which) {
    auto* const message = which == 0 ? left.data() : right.data();
    onefold::detail::check_status(onefold_message_begin(message, bytes, &part, 1, 0, which));
    onefold::detail::check_status(
        onefold_message_add(message, 0, onefold_serial(), x.data(), nullptr, which == 0 ? 0 : middle, middle, total, nullptr));
  }
  const double merge = nanoseconds_of(100'000, [&] {
    std::memcpy(merged.data(), right.data(), bytes);
    onefold_message_merge(left.data(), merged.data());
  });
  const double value =
      nanoseconds_of(100'000, [&] { static_cast<void>(onefold_message_result(merged.data(), 0, 2, total, 0, &result)); });
  std::printf(
      "merge of two messages of 10 subtrees each: %.0f ns; the result of one: %.0f ns; a message with room for 40: %zu bytes\n",
      merge, value, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 2 || (argc == 2 && std::strtoull(argv[1], nullptr, 10) < 1024)) {
    if (rank == 0) std::puts("usage: mpirun -n RANKS onefold-perf-mpi [ELEMENTS PER RANK, at least 1024; 4096]");
    MPI_Finalize();
    return 2;
  }
  try {
    const std::size_t n = (argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 4096) / 512 * 512;
    const std::vector<double> x(n + 512, 0.1), y(n + 512, 0.3);
    const std::size_t cut = n + (rank % 2 == 0 ? 100 : 300);  // off the tiles' borders, each by another number
    const onefold::mpi::layout whole(MPI_COMM_WORLD, n), ragged(MPI_COMM_WORLD, cut);
    const onefold::mpi::communicator any(MPI_COMM_WORLD);
    const auto one = onefold::serial();
    double local = 0, result = 0, three[3];
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    onefold::mpi::batch batch(whole.on(one));
    batch.add(onefold::sum, x.data(), n, &three[0])
        .add(onefold::dot, x.data(), y.data(), n, &three[1])
        .add(onefold::norm2, x.data(), n, &three[2]);

    const auto allreduce = [&] { MPI_Allreduce(&local, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); };
    std::vector<row> rows{
        {"sum of one rank", [&] { local = onefold::sum(one, x.data(), n); }, 0},
        {"sum, and MPI_Allreduce of one double", [&] { local = onefold::sum(one, x.data(), n), allreduce(); }, 0},
        {"sum over aligned ranges", [&] { result = onefold::sum(whole.on(one), x.data(), n); }, 0},
        {"sum over ranges cut within tiles", [&] { result = onefold::sum(ragged.on(one), x.data(), cut); }, 0},
        {"the same, started and waited for",
         [&] {
           auto later = onefold::mpi::start(onefold::sum, whole.on(one), x.data(), n);
           result = later.wait();
         },
         0},
        {"exact sum of one rank", [&] { local = onefold::sum(one, x.data(), n, exactly); }, 5},
        {"exact sum over ranks", [&] { result = onefold::sum(any.on(one), x.data(), n); }, 5},
        {"sum, dot and norm2 of one rank",
         [&] {
           three[0] = onefold::sum(one, x.data(), n), three[1] = onefold::dot(one, x.data(), y.data(), n),
           three[2] = onefold::norm2(one, x.data(), n);
         },
         7},
        {"sum, dot and norm2 in one message", [&] { batch.run(); }, 7},
    };
    constexpr int turns = 200, calls = 40;
    for (int turn = 0; turn < turns; ++turn)
      for (row& each : rows) {
        each.call();
        MPI_Barrier(MPI_COMM_WORLD);
        each.turns.push_back(nanoseconds_of(calls, each.call) * 1e-3);
      }
    if (rank == 0) {
      const double base = rows[1].microseconds() - rows[0].microseconds();
      std::printf(
          "%d ranks, %zu doubles on each; microseconds, and what comes on top of the local reduction beside that of "
          "MPI_Allreduce\n",
          ranks, n);
      for (const row& each : rows)
        std::printf("%-40s %8.3f  %6.2f\n", each.name.c_str(), each.microseconds(),
                    (each.microseconds() - rows[static_cast<std::size_t>(each.local)].microseconds()) / base);
      print_constants();
    }
  } catch (const onefold::error& problem) {
    std::fprintf(stderr, "onefold-perf-mpi: rank %d: %s\n", rank, problem.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
}
