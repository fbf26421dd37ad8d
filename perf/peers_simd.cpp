/// @file peers_simd.cpp  OpenMP's loops and Eigen. Both take the instruction set of whoever compiles them, and a user compiles them for his
/// machine: so they are compiled here for each (ONEFOLD_PEERS_NAME), and the machine's best is what is timed.

#include "peers_simd.hpp"

#include <cmath>

#if defined(__GNUC__) && !defined(__clang__)
// g++'s own intrinsics for AVX-512 set it off where Eigen uses them (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#ifdef ONEFOLD_HAVE_EIGEN
// Eigen's functions have the same names whatever they are compiled for, and a linker keeps one of each. So each set has an Eigen of
// its own.
#define ONEFOLD_JOINED(a, b) a##_##b
#define ONEFOLD_JOINED_NAMES(a, b) ONEFOLD_JOINED(a, b)
#define Eigen ONEFOLD_JOINED_NAMES(eigen_of_onefold_perf, ONEFOLD_PEERS_NAME)
#include <Eigen/Core>
#endif

namespace onefold::perf::ONEFOLD_PEERS_NAME {

namespace {

#define ONEFOLD_TEXT(name) #name
#define ONEFOLD_TEXT_OF(name) ONEFOLD_TEXT(name)
constexpr const char* set_name = ONEFOLD_TEXT_OF(ONEFOLD_PEERS_NAME);

// As a user writes it.
template <class T, class Term>
T sum_of(std::uint64_t count, int threads, Term term) {
  T sum = 0;
  if (threads == 1) {
#pragma omp simd reduction(+ : sum)
    for (std::uint64_t i = 0; i < count; ++i) sum += term(i);
  } else {
    // Each thread has its own copy of the pointers, as it has where a user writes the loop out: shared, they would be read again for each
    // element, and nothing would become a vector (5 times as slow).
#pragma omp parallel for simd num_threads(threads) reduction(+ : sum) firstprivate(term)
    for (std::uint64_t i = 0; i < count; ++i) sum += term(i);
  }
  return sum;
}

template <class T>
T openmp(form what, const T* x, const T* y, std::uint64_t count, int threads) {
  switch (what) {
    case form::dot:
      return sum_of<T>(count, threads, [=](std::uint64_t i) { return x[i] * y[i]; });
    case form::norm1:
      return sum_of<T>(count, threads, [=](std::uint64_t i) { return std::fabs(x[i]); });
    case form::norm2:
      return std::sqrt(sum_of<T>(count, threads, [=](std::uint64_t i) { return x[i] * x[i]; }));
    default:
      return sum_of<T>(count, threads, [=](std::uint64_t i) { return x[i]; });
  }
}

#ifdef ONEFOLD_HAVE_EIGEN
constexpr const char* eigen_version =
    ONEFOLD_TEXT_OF(EIGEN_WORLD_VERSION) "." ONEFOLD_TEXT_OF(EIGEN_MAJOR_VERSION) "." ONEFOLD_TEXT_OF(EIGEN_MINOR_VERSION);

template <class T>
T eigen(form what, const T* x, const T* y, std::uint64_t count) {
  using vector = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const auto n = static_cast<Eigen::Index>(count);
  const vector first(x, n);
  switch (what) {
    case form::dot:
      return first.dot(vector(y, n));
    case form::norm1:
      return first.template lpNorm<1>();
    case form::norm2:
      return first.norm();
    default:
      return first.sum();
  }
}
#endif

template <class T>
constexpr simd_peers<T> peers() {
#ifdef ONEFOLD_HAVE_EIGEN
  return {set_name, openmp<T>, eigen<T>, eigen_version};
#else
  return {set_name, openmp<T>, nullptr, ""};
#endif
}

}  // namespace

const simd_peers<float>& of_f32() {
  static constexpr simd_peers<float> all = peers<float>();
  return all;
}

const simd_peers<double>& of_f64() {
  static constexpr simd_peers<double> all = peers<double>();
  return all;
}

}  // namespace onefold::perf::ONEFOLD_PEERS_NAME
