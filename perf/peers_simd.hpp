#pragma once
/// @file peers_simd.hpp  Peers that are compiled with the user's program: OpenMP's loops and Eigen, once for each instruction set.

#include <cstdint>

#include <onefold/types.hpp>

namespace onefold::perf {

/// Loops of sum, dot, norm1 and norm2 for one instruction set.
template <class T>
struct simd_peers {
  const char* instruction_set;
  T (*openmp)(form what, const T* x, const T* y, std::uint64_t count, int threads);
  T (*eigen)(form what, const T* x, const T* y, std::uint64_t count);  ///< null where this was built without Eigen
  const char* eigen_version;
};

#define ONEFOLD_PEERS_SET(set)        \
  namespace set {                     \
  const simd_peers<float>& of_f32();  \
  const simd_peers<double>& of_f64(); \
  }
ONEFOLD_PEERS_SET(baseline)
#ifdef ONEFOLD_PEERS_X86
ONEFOLD_PEERS_SET(avx2)
ONEFOLD_PEERS_SET(avx512)
#endif
#undef ONEFOLD_PEERS_SET

}  // namespace onefold::perf
