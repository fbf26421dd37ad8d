/// @file fixed_order_avx512.cpp  Tree v1 with AVX-512 (F, VL, DQ and BW). CMakeLists.txt gives this file its instruction set.

#define ONEFOLD_VECTOR_BYTES 64
#define ONEFOLD_KERNELS avx512_kernels
#include "kernels.ipp"
