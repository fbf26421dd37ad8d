/// @file exact_baseline.cpp  Exact sums with what the compiler may use without being told.

#define ONEFOLD_VECTOR_BYTES 16
#define ONEFOLD_EXACT_KERNELS exact_baseline_kernels
#include "exact.ipp"
