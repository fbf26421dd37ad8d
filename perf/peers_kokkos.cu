/// @file peers_kokkos.cu  Kokkos::parallel_reduce on CUDA with functors of one element. Its result stays on the device, so it does not wait.

#include <Kokkos_Core.hpp>
#include <stdexcept>

#include "peers.hpp"
#include "peers_kokkos.cuh"

namespace onefold::perf {

namespace {

template <class T>
struct each_element {
  const T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, T& sum) const { sum += x[i]; }
};

template <class T>
struct larger_element {
  const T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, T& most) const { most = most < x[i] ? x[i] : most; }
};

template <class T>
std::function<void(const void*)> reduction(form what, std::uint64_t count, void* stream, void* output) {
  using range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  using result = Kokkos::View<T, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const Kokkos::Cuda space(static_cast<cudaStream_t>(stream));
  const result into(static_cast<T*>(output));
  const range all(space, 0, static_cast<std::int64_t>(count));
  if (what == form::max)
    return [=](const void* input) {
      Kokkos::parallel_reduce(all, larger_element<T>{static_cast<const T*>(input)}, Kokkos::Max<T, Kokkos::CudaSpace>(into));
    };
  return [=](const void* input) { Kokkos::parallel_reduce(all, each_element<T>{static_cast<const T*>(input)}, into); };
}

}  // namespace

std::function<void(const void* input)> kokkos_on_cuda(form what, element_type type, std::uint64_t count, void* stream,
                                                      void* output) {
  if (const auto kokkos = kokkos_threads(); kokkos.most == 0) throw std::runtime_error(kokkos.why_not);
  return type == element_type::f32 ? reduction<float>(what, count, stream, output) : reduction<double>(what, count, stream, output);
}

}  // namespace onefold::perf
