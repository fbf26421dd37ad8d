/// @file exact_avx2.cpp  Exact sums with AVX2 and FMA. CMakeLists.txt gives this file its instruction set.

#define ONEFOLD_VECTOR_BYTES 32
#define ONEFOLD_EXACT_KERNELS exact_avx2_kernels
#include "exact.ipp"
