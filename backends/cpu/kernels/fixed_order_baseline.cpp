/// @file fixed_order_baseline.cpp  Tree v1 with what every machine of this architecture has: SSE2 on x86-64, NEON on AArch64.

#define ONEFOLD_VECTOR_BYTES 16
#define ONEFOLD_KERNELS baseline_kernels
#include "kernels.ipp"
