/// @file particles.cpp  Particles that are sorted into cells, in another order in each run: their energy, summed in the order of the
/// array and exactly.

#include <onefold/onefold.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t cells = 1000;

struct particle {
  double mass;
  double vx;
  double vy;
  double vz;
  double charge;  ///< of either sign
  std::size_t cell;
};

std::vector<particle> make_particles(std::size_t count) {
  std::mt19937_64 random(1);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<particle> all(count);
  for (particle& p : all) {
    p.mass = 0.5 + uniform();
    p.vx = uniform() - 0.5;
    p.vy = uniform() - 0.5;
    p.vz = uniform() - 0.5;
    p.charge = uniform() - 0.5;
    p.cell = random() % cells;
  }
  return all;
}

// A counting sort by four threads. Each cell's cursor is an atomic: which of its particles comes first depends on which thread does, and, where a machine has one
// core alone, on the seed, by which particles arrive.
std::vector<particle> sort_into_cells(const std::vector<particle>& all, std::uint64_t seed) {
  std::vector<std::size_t> arriving(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) arriving[i] = i;
  std::shuffle(arriving.begin(), arriving.end(), std::mt19937_64(seed));

  std::vector<std::atomic<std::size_t>> cursor(cells + 1);
  for (const particle& p : all) ++cursor[p.cell + 1];
  for (std::size_t c = 0; c < cells; ++c) cursor[c + 1] += cursor[c];
  std::vector<particle> sorted(all.size());
  std::vector<std::thread> threads;
  constexpr std::size_t number = 4;
  for (std::size_t t = 0; t < number; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t k = t; k < all.size(); k += number) {
        const particle& p = all[arriving[k]];
        sorted[cursor[p.cell].fetch_add(1, std::memory_order_relaxed)] = p;
      }
    });
  for (std::thread& one : threads) one.join();
  return sorted;
}

// Of a field at a cell, made up.
double potential(std::size_t cell) { return 10 * std::cos(0.01 * static_cast<double>(cell)); }

// Kinetic and potential.
double energy_of(const std::vector<particle>& all, const onefold::options& how) {
  return onefold::sum(
      onefold::best(), all.size(),
      [&](std::size_t i) {
        const particle& p = all[i];
        return 0.5 * p.mass * (p.vx * p.vx + p.vy * p.vy + p.vz * p.vz) + p.charge * potential(p.cell);
      },
      how);
}

}  // namespace

int main() {
  try {
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;

    const std::vector<particle> all = make_particles(1'000'000);
    std::vector<double> energies;
    std::puts("run  in the array's order    exactly");
    for (std::uint64_t run = 0; run < 5; ++run) {
      const std::vector<particle> sorted = sort_into_cells(all, run);
      energies.push_back(energy_of(sorted, exactly));
      std::printf("%-3d  %-22a  %a\n", static_cast<int>(run), energy_of(sorted, {}), energies.back());
    }
    const bool same = std::all_of(energies.begin(), energies.end(), [&](double e) { return e == energies[0]; });
    std::puts(same ? "exactly: the same bits in every order" : "the bits differ");
    return same ? 0 : 1;
  } catch (const onefold::error& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
