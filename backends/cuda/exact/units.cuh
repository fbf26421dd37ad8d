#pragma once
/// @file units.cuh  Which units of an array each warp of a grid of exact sums takes (decision 0087). tests/device runs it on threads of the host.
///
/// Most of them are fixed ahead, one warp after the other. Of a large array's last sixteenth each block asks for a few whenever it has none left, by a ticket, since
/// multiprocessors are not equally fast. One counter is too slow for all warps to ask it for each unit.

#include <cstdint>

#include <onefold/device/warp.cuh>

namespace onefold::cuda_backend::exact_sums {

using device::warp_size;

/// In the memory that the `Warps` warps of a block share. A warp has bins for `MostTurns` units.
template <int Warps, unsigned MostTurns>
struct shared_units {
  static constexpr unsigned of_ticket = 2 * Warps;
  static constexpr unsigned no_ticket = 0xffffff;  ///< whose units there are not
  static_assert(of_ticket + Warps < 256);

  unsigned
      at;  ///< the ticket, and in the lower 8 bits how many of its units were taken or asked for in vain: one word, since atomics of two are loops
  unsigned next;     ///< the ticket behind it and 1; 0: it is under way
  unsigned tickets;  ///< that have been asked for, beside the first two, which are each block's own
  unsigned turns[Warps];
  unsigned most_tickets[Warps];  ///< the same number

  /// By one thread, ahead of a barrier.
  __device__ void clear() {
    at = blockIdx.x << 8;
    next = gridDim.x + blockIdx.x + 1;
    tickets = 0;
  }

  /// How many of a launch's units are fixed ahead, the first ones. By all warps, ahead of asking.
  __device__ unsigned fix(unsigned units) {
    constexpr unsigned parts = 16;
    constexpr unsigned least_asked_for = 4;  // turns, of which each of the first two tickets is two
    const unsigned warps = gridDim.x * Warps;
    if (gridDim.x == 1 || units < parts * least_asked_for * warps) return units;
    const unsigned all = units / warps;
    const unsigned fixed = all - all / parts;
    if (threadIdx.x % warp_size == 0) {
      turns[threadIdx.x / warp_size] = fixed;
      // No more than all warps of the block have room for, so that a unit that was asked for is never left.
      most_tickets[threadIdx.x / warp_size] = Warps * (MostTurns - fixed) / of_ticket - 2;
    }
    return fixed * warps;
  }

  /// The next unit behind those that are fixed, or one that there is not. By a whole warp; `HasBins`: into bins that have room for MostTurns.
  template <bool HasBins>
  __device__ unsigned ask(unsigned fixed, unsigned* counter) {
    unsigned mine = no_ticket << 8;
    if (threadIdx.x % warp_size == 0 && (!HasBins || turns[threadIdx.x / warp_size]++ < MostTurns)) {
      mine = atomicAdd(&at, 1U);
      while (number(mine) >= of_ticket) {
        if (number(mine) == of_ticket) {
          mine = begin_next(counter);
          break;
        }
        // Another warp is about to begin the next one.
        while (number(atomicAdd(&at, 0U)) > of_ticket) {
        }
        mine = atomicAdd(&at, 1U);
      }
    }
    mine = __shfl_sync(device::whole_warp, mine, 0);
    return fixed + (mine >> 8) * of_ticket + number(mine);
  }

 private:
  static __device__ unsigned number(unsigned of) { return of & 0xff; }
  // Takes the first unit of the ticket that is there, and asks for another long before anybody needs it. By one thread at a time.
  __device__ unsigned begin_next(unsigned* counter) {
    unsigned ticket = 0;
    while (ticket == 0) ticket = atomicExch(&next, 0U);
    const unsigned mine = (ticket - 1) << 8;
    atomicExch(&at, mine + 1);
    const bool may_ask = atomicAdd(&tickets, 1U) < most_tickets[threadIdx.x / warp_size];
    atomicExch(&next, may_ask ? 2 * gridDim.x + atomicAdd(counter, 1U) + 1 : no_ticket + 1);
    return mine;
  }
};

}  // namespace onefold::cuda_backend::exact_sums
