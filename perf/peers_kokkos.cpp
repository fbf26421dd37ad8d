/// @file peers_kokkos.cpp  Kokkos::parallel_reduce on the CPU with functors of one element, as the documentation of Kokkos has them.

#include <Kokkos_Core.hpp>

#include <cmath>

#include "peers_cpu.hpp"

namespace onefold::perf {

namespace {

template <class T, form What>
struct one_element {
  const T* x;
  const T* y;
  void operator()(std::int64_t i, T& sum) const {
    if constexpr (What == form::dot)
      sum += x[i] * y[i];
    else if constexpr (What == form::norm1)
      sum += std::fabs(x[i]);
    else if constexpr (What == form::norm2)
      sum += x[i] * x[i];
    else
      sum += x[i];
  }
};

template <form What, class T, class Space>
T reduce(const Space& space, const cpu_case<T>& of) {
  using range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  T sum = 0;
  Kokkos::parallel_reduce(range(space, 0, static_cast<std::int64_t>(of.count)), one_element<T, What>{of.x, of.y}, sum);
  return What == form::norm2 ? std::sqrt(sum) : sum;
}

template <class T, class Space>
cpu_contender<T> contender(const Space& space, const cpu_case<T>& of) {
  const auto with = [&]<form What>() { return cpu_contender<T>{.name = "kokkos", .run = [=] { return reduce<What>(space, of); }}; };
  switch (of.what) {
    case form::dot:
      return with.template operator()<form::dot>();
    case form::norm1:
      return with.template operator()<form::norm1>();
    case form::norm2:
      return with.template operator()<form::norm2>();
    default:
      return with.template operator()<form::sum>();
  }
}

#ifdef KOKKOS_ENABLE_OPENMP
// Since 4.2 an instance may have fewer threads than the pool.
Kokkos::OpenMP openmp_space([[maybe_unused]] int threads) {
#if KOKKOS_VERSION >= 40200
  if (threads < Kokkos::OpenMP().concurrency()) return Kokkos::OpenMP(threads);
#endif
  return {};
}
#endif

}  // namespace

kokkos_threads_answer kokkos_threads() {
  try {
    // onefold starts Kokkos for this variant and ends it with the process, as carefully as a guest must (decision 0024).
    const float one = 1;
    float sum = 0;
    detail::run({serial(), element_type::f32, form::sum, &one, 1, &sum, true}, {.variant = "parallel_reduce"});
  } catch (const error& problem) {
    return {.why_not = problem.what()};
  }
  if (!Kokkos::is_initialized()) return {.why_not = "this onefold is a shared library that has a Kokkos of its own"};
#ifdef KOKKOS_ENABLE_OPENMP
  return {static_cast<int>(Kokkos::OpenMP().concurrency()), KOKKOS_VERSION >= 40200};
#else
  return {.most = 1, .why_not = "this Kokkos was built without OpenMP"};
#endif
}

template <class T>
cpu_contender<T> kokkos_on_cpu(const cpu_case<T>& of, int threads) {
#ifdef KOKKOS_ENABLE_OPENMP
  if (threads > 1) return contender(openmp_space(threads), of);
#else
  static_cast<void>(threads);
#endif
  return contender(Kokkos::Serial(), of);
}

template cpu_contender<float> kokkos_on_cpu(const cpu_case<float>&, int);
template cpu_contender<double> kokkos_on_cpu(const cpu_case<double>&, int);

}  // namespace onefold::perf
