/// @file superaccumulator.cu
///
/// Idea     Exact sums (docs/exact.md): every thread adds to bins of its own, doubles in shared memory that never round, one for 16 exponents. What has
///          been added in which order cannot be seen, so the hardware may take any.
///
///          float x -> bin of its exponent += x                       53 bits: 24 of the float, 15 for exponents, 14 for elements
///          double x -> h = (x + A) - A, the high part                A = 1.5 * 2^32 times the bin's smallest number
///                      its bin += h, the bin after the next += x - h
///          the block's bins -> integers -> limbs in device memory    integer atomics: no order again
///          the last block -> carries, one rounding
///
/// Cost     one read of the input, of mean_variance two; one launch (of 2^30 elements), atomics for a few words of each block. Shared memory is what limits:
///          16 bytes in and out for a float, 32 for a double or a product of floats, 64 for a product of doubles.
/// Teaches  An exact sum costs what memory costs: the arithmetic hides behind it.
/// Source   onefold; the splitting is Ogita, Rump and Oishi's, columns of bins for each thread are those of a histogram.

#include "../exact/driver.hpp"

namespace onefold::cuda_backend {

namespace {

constexpr traits what{
    .limits =
        "it takes floats with sum, norm1, dot, sum_of_squares, norm2, mean or mean_variance, and integers with the last three",
    .takes_workspace = true};

}  // namespace

extern const variant_row row_superaccumulator;
const variant_row row_superaccumulator{what, {}, &run_superaccumulator};

}  // namespace onefold::cuda_backend
