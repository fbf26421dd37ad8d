/// @file fixed_order_avx2.cpp  Tree v1 with AVX2, F16C and FMA. CMakeLists.txt gives this file its instruction set.

#define ONEFOLD_VECTOR_BYTES 32
#define ONEFOLD_KERNELS avx2_kernels
#include "kernels.ipp"
