#pragma once
/// @file host_device.hpp  Marks what is compiled for host and device where nvcc compiles.

#ifdef __CUDACC__
#define ONEFOLD_HOST_DEVICE __host__ __device__
#else
#define ONEFOLD_HOST_DEVICE
#endif
