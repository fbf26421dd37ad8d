/// @file exact_avx512.cpp  Exact sums with AVX-512 (F, VL, DQ and BW). CMakeLists.txt gives this file its instruction set.

#define ONEFOLD_VECTOR_BYTES 64
#define ONEFOLD_EXACT_KERNELS exact_avx512_kernels
#include "exact.ipp"
