/// @file fixed_order.cu
///
/// Idea     Tree v1 (docs/order.md): who meets whom depends on n alone, so the bits are the same for every launch shape and on every
///          backend. The tree's shape is made for the hardware: a tile is what half a warp reads in 16 loads of 16 bytes for each thread.
///
///          tile 2i                      tile 2i + 1                  a warp has both: 256 bytes in flight for each thread
///          lanes down the rows          lanes down the rows          16 (+) deep, no thread waits for another
///             \  halving: shuffles         /                         8 shuffles for 2048 floats
///              node i of level 1 ---------                           up in the block's warps: one value, put into a slot
///                                                                    1024 slots: a section, collected by a block that starts later
///
///          A block lives for one leaf, 64 KiB: the hardware gives the next one to whichever multiprocessor is ready for it. Arrays of
///          up to 128 tiles (512 KiB of elements) have a warp for each tile, in one block or, where there are clusters, in one of eight
///          blocks, which hand over in shared memory.
///
/// Cost     one read of the input; one launch, which may begin while the kernel ahead of it ends; no atomic and no fence in global
///          memory; one barrier for each leaf; depth 15 + log2(lanes) + log2(tiles).
/// Teaches  A fixed order costs nothing. Against vector_load: sixteen loads in flight instead of eight, shuffles once for every 8 KiB
///          instead of once for each thread's life, hidden under the loads of other warps; a hand-over between blocks whose values
///          carry their own proof of arrival, instead of an atomic ticket between two fences; and, because the order does not depend on
///          who does what, no shares fixed ahead: multiprocessors are not equally fast.
/// Source   onefold.

#include "../fixed_order/driver.hpp"
#include "../fixed_order/plan.hpp"

namespace onefold::cuda_backend {

namespace {

// The kernels are in include/onefold/device/kernel.cuh, for folds of users too.
struct fixed_order {
  static constexpr int sizes[] = {32, 64, 128, 256, 512};
  static constexpr traits what{.block_sizes = sizes,
                               .block_size_by_count = true,
                               .grid_size_free = true,
                               .most_grid_size = most_asked_leaves,
                               .takes_workspace = true};
};

}  // namespace

extern const variant_row row_fixed_order;
const variant_row row_fixed_order{fixed_order::what, {}, &run_fixed_order};

}  // namespace onefold::cuda_backend
