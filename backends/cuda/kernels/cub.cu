/// @file cub.cu
///
/// Idea     The peer: cub::DeviceReduce of the CUDA Toolkit, called as its documentation says, with the workspace given to it.
///
///          two launches: tiles of vector loads per block, then one block over the block partials
///
/// Cost     n loads; one launch for small n, else two.
/// Teaches  What NVIDIA's own library does with the same problem: the figure to meet.
/// Source   peer: CUB, shipped with the CUDA Toolkit. The operators are onefold's, so that NaN, signed zeros and identities follow
///          onefold's rules; a float sum starts at -0 for the same reason.

#include <cub/device/device_reduce.cuh>
#include <cuda/functional>
#include <string>
#include <type_traits>

#include <onefold/error.hpp>

#include "../passes.cuh"
#include "../runtime.hpp"
#include "../stream_memory.hpp"

namespace onefold::cuda_backend {

namespace {

// CUB chooses its tuning by the operator's type, so a sum must be the one that it knows.
template <class Op>
struct combine {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return Op::combine(a, b);
  }
};
template <class Op>
using cub_operator = std::conditional_t<std::is_same_v<Op, op::sum>, ::cuda::std::plus<>, combine<Op>>;

// Where CUB stores its result: an output iterator that makes NaN canonical on the way.
template <class T>
struct canonical_output {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  struct reference {
    T* place;
    __device__ reference operator=(T value) const {
      *place = canonical(value);
      return *this;
    }
  };
  T* place;
  __host__ __device__ reference operator*() const { return {place}; }
  __host__ __device__ reference operator[](difference_type i) const { return {place + i}; }
  __host__ __device__ canonical_output operator+(difference_type i) const { return {place + i}; }
};

template <class T, class Op>
void reduce(call& now) {
  const T* input = static_cast<const T*>(now.input);
  const canonical_output<T> output{static_cast<T*>(now.output)};
  const auto start = Op::template neutral<T>();
  std::size_t bytes = 0;
  // CUB takes an error that the application has left for its own.
  if (const cudaError_t pending = cudaPeekAtLastError(); pending != cudaSuccess)
    throw error(errc::device_error,
                std::string("an earlier call of the application's has failed, and its error is still to be asked for: ") +
                    cudaGetErrorString(pending));
  const auto count = static_cast<std::int64_t>(now.count);
  check(::cub::DeviceReduce::Reduce(nullptr, bytes, input, output, count, cub_operator<Op>{}, start, now.work.stream),
        "cub::DeviceReduce::Reduce");
  void* workspace = now.work.piece(now.work.partials[0], bytes);
  check(::cub::DeviceReduce::Reduce(workspace, bytes, input, output, count, cub_operator<Op>{}, start, now.work.stream),
        "cub::DeviceReduce::Reduce");
}

// Two's complement sums and products do not depend on the sign: half of the kernels for the same bits.
template <class T, class Op>
using computed_as =
    std::conditional_t<std::is_integral_v<T> && (std::is_same_v<Op, op::sum> || std::is_same_v<Op, op::prod>), unsigned_bits<T>, T>;

struct cub {
  static constexpr traits what{};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    reduce<computed_as<T, Op>, Op>(now);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(cub)
