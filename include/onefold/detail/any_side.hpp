#pragma once
/// @file any_side.hpp  Silences nvcc where a template for host and device calls what the caller may have for the host alone: whether it is called
/// decides.

#ifdef __NVCC__
#define ONEFOLD_ANY_SIDE _Pragma("nv_exec_check_disable")
#else
#define ONEFOLD_ANY_SIDE
#endif
