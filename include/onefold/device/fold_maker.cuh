#pragma once
/// @file fold_maker.cuh  A fold object as the row that the compiled library takes: its kernels, which are compiled where this is used, and its arrays (device.cuh
/// says what a fold object has).

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include <onefold/detail/device_fold.hpp>
#include <onefold/device/kernel.cuh>
#include <onefold/device/own.cuh>

#if defined(__CUDACC_VER_MAJOR__) && (__CUDACC_VER_MAJOR__ < 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 4))
#error "onefold/device.cuh needs nvcc 12.4 or newer"
#endif

namespace onefold::detail {

/// Few    how many of the kernels for few elements there are: none, the one of one block, or that of a cluster too
/// Packs  whether there may be one that reads packs or larger words, where elements lie well
template <class Fold, int Few = 2, bool Packs = true>
class device_fold_maker {
  using own = device::own_fold<Fold>;
  using A = typename own::accumulator;
  using element = typename own::element;

  static constexpr bool has_few = Few > 0 && sizeof(A) <= device::most_few_state_bytes;
  // Whether an input is read in larger words where it lies better than its type promises.
  template <int K>
  static constexpr bool gains() noexcept {
    if constexpr (K < own::inputs) {
      using E = typename own::template input<K>;
      return (sizeof(E) % 16 == 0 && alignof(E) < 16) || (sizeof(E) % 8 == 0 && alignof(E) < 8);
    } else {
      return false;
    }
  }
  // An input is read in packs of several elements, or each element in words as large as may be.
  static constexpr bool has_aligned = Packs && (own::reads_pairs || gains<0>() || gains<1>() || gains<2>());
  static constexpr std::uint8_t log_tiles = device::log_tiles_of_rows<own>;

  template <class Kernel>
  static const void* symbol(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
  }

  static device_kernels make_kernels() {
    device_kernels made{};
    if constexpr (has_few) made.symbol[0] = symbol(device::fixed_order_few_kernel<own, false>);
    if constexpr (has_few && Few > 1 && sizeof(A) % 4 == 0) made.symbol[1] = symbol(device::fixed_order_few_kernel<own, true>);
    if constexpr (has_aligned) made.symbol[2] = symbol(device::fixed_order_kernel<own, device::reading::aligned>);
    made.symbol[4] = symbol(device::fixed_order_kernel<own, device::reading::single>);
    for (std::uint8_t& log : made.log_tiles) log = log_tiles;
    if (own::reads_pairs) made.log_tiles[2] = 1;
    if (device::detail::takes_two_units<own>()) made.log_tiles[4] = log_tiles + 1;
    made.ask = &ask;
    static device_kernels_known known[device_kernels::known_devices];
    made.known = known;
    return made;
  }

  static int ask(int which, int block_size, device_kernel_info* answer) {
    const void* const kernel = kernels().symbol[which];
    cudaFunction_t function = nullptr;
    cudaFuncAttributes attributes{};
    cudaError_t status = cudaGetFuncBySymbol(&function, kernel);
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, kernel);
    if (status == cudaSuccess && block_size != 0)
      status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&answer->resident_blocks, kernel, block_size, 0);
    if (status != cudaSuccess) cudaGetLastError();  // told to the caller, and nobody else's
    answer->function = function;
    answer->code_capability = attributes.ptxVersion;
    return static_cast<int>(status);
  }

 public:
  static const device_kernels& kernels() {
    static const device_kernels made = make_kernels();
    return made;
  }

  static device_fold make(const Fold& fold, const void* x, const void* y, const void* z) {
    static_assert(sizeof(Fold) <= 3584, "a fold and what it has captured have at most 3584 bytes");
    static_assert(sizeof(own) == sizeof(Fold) && alignof(own) == alignof(Fold), "the kernels' view of a fold has its bytes");
    using result = typename own::result;
    static_assert(sizeof(result) <= device::most_result_bytes, "a result has at most 1 KiB");
    device_fold made{};
    made.struct_bytes = sizeof(device_fold);
    made.value_bytes = static_cast<std::uint32_t>(own::value_bytes);
    made.inputs = static_cast<std::uint32_t>(own::inputs);
    input<0>(made);
    input<1>(made);
    input<2>(made);
    made.state_bytes = static_cast<std::uint32_t>(sizeof(A));
    made.result_bytes = static_cast<std::uint32_t>(sizeof(result));
    made.result_alignment = static_cast<std::uint32_t>(alignof(result));
    made.prefers_single = own::reads_pairs && device::has_large_accumulators<own>;
    made.kernels = &kernels();
    made.input[0] = x;
    made.input[1] = y;
    made.input[2] = z;
    made.object = &fold;
    return made;
  }

 private:
  template <int K>
  static void input([[maybe_unused]] device_fold& of) {
    if constexpr (K < own::inputs) {
      of.element_bytes[K] = static_cast<std::uint32_t>(sizeof(typename own::template input<K>));
      of.alignment[K] = static_cast<std::uint32_t>(alignof(typename own::template input<K>));
    }
  }
};

/// What request::device takes, of a fold as above, which has to live until the call returns, and of its arrays. Cost: the kernels of each type
/// of fold are compiled where this is called; nothing is allocated, and CUDA is not called.
template <class Fold>
device_fold make_device_fold(const Fold& fold, const void* x = nullptr, const void* y = nullptr, const void* z = nullptr) {
  return device_fold_maker<Fold>::make(fold, x, y, z);
}

}  // namespace onefold::detail
