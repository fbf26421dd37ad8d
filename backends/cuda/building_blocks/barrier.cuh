#pragma once
/// @file barrier.cuh  cooperative_groups.h, of which the lectures need the barrier of a whole grid: without <cuda/atomic>, which takes nvcc longer than
/// all else that a lecture includes.

#ifndef _CG_LIMIT_INCLUDED_DEPENDENCIES
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // that header's own
#endif
#include <cooperative_groups.h>
