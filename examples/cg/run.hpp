#pragma once
/// @file run.hpp  One solve by its name, and the comparison of all of them.

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "solver.hpp"

namespace cg {

struct settings {
  std::string backend = "serial";  ///< serial, openmp, cuda: onefold's; kokkos, cublas: for contrast
  int threads = 0;                 ///< of openmp and kokkos; 0 for all
  int n = 64;                      ///< cells along each side of the cube
  limits until;
};

/// A configuration that this build or this machine does not have. Not an error of anyone's.
struct unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The exit status that says so; ctest calls such a test skipped.
constexpr int exit_unavailable = 77;

/// FNV-1a over the bits of the history.
inline std::uint64_t hash_of(std::span<const std::uint64_t> history) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint64_t value : history)
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> (8 * byte) & 0xff)) * 0x100000001b3u;
  return hash;
}

/// Runs every configuration and prints a table. Returns the exit status: 0 when all of onefold's that can run here have the same bits.
int compare_all(const settings& how);

}  // namespace cg
