#pragma once
/// @file failing_mpi.hpp  MPI in which any call of the library's can be made to fail, by its profiling interface: failing_mpi.cpp defines the functions that
/// the library calls, and they call those of the MPI that is linked.
///
/// A call fails on one rank, and from then on MPI is broken for all: who waits for another rank, or would, gets an error too. MPIs that end no job
/// at the first error do that (ULFM's revoked communicators), and it is all that can be asked for: a rank that waits within MPI for one that has failed cannot be
/// freed by the library. So that no rank is held there, a collective operation begins when all ranks have come to it, and what waits looks meanwhile
/// whether MPI is broken. All that is under way lies in memory of its own here: the library may free what it has given when it has been told of an error.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace onefold_test::failing_mpi {

/// Collective, ahead of all else: memory that the ranks of this host share.
void start();
/// Collective, at the end.
void stop();

/// Collective: calls go through what is here, and none fails yet.
void watch();
/// Collective, behind watch(): from now on calls are counted, and the k-th one of rank `culprit` fails; the first is 1, and 0 is none.
void arm(int culprit, std::uint64_t k);
struct remains {
  bool was_broken = false;    ///< on any rank
  std::size_t under_way = 0;  ///< what was started on this rank, and not waited for
  std::size_t not_freed = 0;  ///< communicators, types and operators
};
/// Collective: ends what is under way, frees what the library has freed meanwhile, and leaves MPI as it was ahead of watch().
remains settle();

/// Calls of this rank since arm(). Asking whether something is there counts where it is.
[[nodiscard]] std::uint64_t calls_made();
/// The call that failed on this rank.
[[nodiscard]] std::optional<std::string> failed_call();

}  // namespace onefold_test::failing_mpi
