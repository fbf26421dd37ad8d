/// @file peers_gpu.cu  The peers on the GPU: CUB, Thrust and cuBLAS; Kokkos is in peers_kokkos.cu, where it was built with CUDA.

#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#if CCCL_VERSION >= 3001000  // CUDA 13.1: a call of CUB's may ask for a determinism
#define ONEFOLD_CUB_CAN_BE_ASKED
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>

#include <cuda/std/execution>
#include <cuda/stream_ref>
#endif

#ifdef ONEFOLD_HAVE_CUBLAS
#include <cublas_v2.h>
#endif

#include "cuda_check.hpp"
#include "peers.hpp"
#include "peers_kokkos.cuh"
#include "shared_library.hpp"

namespace onefold::perf {

namespace {

std::string version_text(int version, int of_major, int of_minor) {
  return std::to_string(version / of_major) + "." + std::to_string(version % of_major / of_minor) + "." +
         std::to_string(version % of_minor);
}

// The peers' counts are of type int: what their examples have, and faster than 64 bits where it makes a difference.
int int_count(std::uint64_t count) {
  if (count > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw std::runtime_error("the peers on the GPU are asked for at most 2^31 - 1 elements");
  return static_cast<int>(count);
}

class device_memory {
 public:
  explicit device_memory(std::size_t bytes) { check(cudaMalloc(&begin_, std::max<std::size_t>(bytes, 1)), "cudaMalloc"); }
  ~device_memory() { cudaFree(begin_); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  [[nodiscard]] void* begin() const { return begin_; }

 private:
  void* begin_ = nullptr;
};

// Reads everything in the ordinary way, so that the cache keeps it. To write would leave lines behind that have to go to the memory
// while somebody is timed.
__global__ void read_all(const uint4* input, std::uint64_t count, unsigned* output) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned seen = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const uint4 four = input[i];
    seen |= four.x ^ four.y ^ four.z ^ four.w;
  }
  if (seen != 0) *output = seen;  // never, since all of it is zero; keeps the loads
}

// --- CUB ---------------------------------------------------------------------------------------------------------

constexpr const char* cub_name = "cub";

// As its documentation says: once for the size of the working memory, which is a cost of the set-up, and once to reduce.
template <class T>
gpu_peer cub_peer(const gpu_bench& bench, form what) {
  auto* const output = static_cast<T*>(bench.output());
  const int count = int_count(bench.count());
  const auto stream = static_cast<cudaStream_t>(bench.stream());
  const auto call = [=](void* memory, std::size_t& bytes, const void* input) {
    const auto* const elements = static_cast<const T*>(input);
    check(what == form::max ? cub::DeviceReduce::Max(memory, bytes, elements, output, count, stream)
                            : cub::DeviceReduce::Sum(memory, bytes, elements, output, count, stream),
          "cub::DeviceReduce");
  };
  std::size_t bytes = 0;
  call(nullptr, bytes, bench.input(0));
  const auto memory = std::make_shared<device_memory>(bytes);
  return {cub_name,
          [=](const void* input) {
            std::size_t size = bytes;
            call(memory->begin(), size, input);
          },
          {}};
}

#ifdef ONEFOLD_CUB_CAN_BE_ASKED
// The working memory is of CUDA's pool: the only way in the first versions that can be asked. The pool keeps what it is given back, as
// a program that reduces again and again would have it.
template <class T, class Determinism>
gpu_peer cub_peer_that_promises(const char* name, const gpu_bench& bench, Determinism determinism) {
  auto* const output = static_cast<T*>(bench.output());
  const int count = int_count(bench.count());
  const auto stream = static_cast<cudaStream_t>(bench.stream());
  return {name,
          [=](const void* input) {
            const auto asked = cuda::std::execution::env{cuda::stream_ref{stream}, cuda::execution::require(determinism)};
            check(cub::DeviceReduce::Sum(static_cast<const T*>(input), output, count, asked), "cub::DeviceReduce::Sum");
          },
          {}};
}

void let_the_pool_keep_its_memory(int device) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
}
#endif

// --- Thrust ------------------------------------------------------------------------------------------------------

// It returns the value, so it waits for it.
template <class T>
gpu_peer thrust_peer(const gpu_bench& bench, form what) {
  const auto stream = static_cast<cudaStream_t>(bench.stream());
  const auto count = static_cast<std::ptrdiff_t>(bench.count());
  return {"thrust", {}, [=](const void* input) {
            const auto begin = thrust::device_pointer_cast(static_cast<const T*>(input));
            const auto policy = thrust::cuda::par_nosync.on(stream);
            if (what == form::max)
              return static_cast<double>(
                  thrust::reduce(policy, begin, begin + count, std::numeric_limits<T>::lowest(), thrust::maximum<T>()));
            return static_cast<double>(thrust::reduce(policy, begin, begin + count, T(0)));
          }};
}

// --- cuBLAS ------------------------------------------------------------------------------------------------------

#ifdef ONEFOLD_HAVE_CUBLAS

#define ONEFOLD_TEXT(name) #name
#define ONEFOLD_TEXT_OF(name) ONEFOLD_TEXT(name)

// Opened when it is asked for, so that onefold-perf starts on machines without it. The names are those that the header's macros stand
// for.
class cublas_library {
 public:
  static const cublas_library& get() {
    static const cublas_library one;
    return one;
  }

  [[nodiscard]] std::string why_not() const {
    if (const auto reason = file_.why_not(); !reason.empty()) return reason;
    const bool complete = create && destroy && set_stream && set_pointer_mode && get_property && status_text && sdot && ddot &&
                          sasum && dasum && snrm2 && dnrm2;
    return complete ? std::string() : "the library lacks a function that is asked for";
  }
  void check(cublasStatus_t status, const char* call) const {
    if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string(call) + ": " + status_text(status));
  }

 private:
  shared_library file_{{"libcublas.so." ONEFOLD_TEXT_OF(CUBLAS_VER_MAJOR), ONEFOLD_PERF_CUBLAS}};
#define ONEFOLD_CUBLAS(member, name) decltype(&name) member = file_.function<decltype(name)>(ONEFOLD_TEXT_OF(name));

 public:
  ONEFOLD_CUBLAS(create, cublasCreate)
  ONEFOLD_CUBLAS(destroy, cublasDestroy)
  ONEFOLD_CUBLAS(set_stream, cublasSetStream)
  ONEFOLD_CUBLAS(set_pointer_mode, cublasSetPointerMode)
  ONEFOLD_CUBLAS(get_property, cublasGetProperty)
  ONEFOLD_CUBLAS(status_text, cublasGetStatusString)
  ONEFOLD_CUBLAS(sdot, cublasSdot)
  ONEFOLD_CUBLAS(ddot, cublasDdot)
  ONEFOLD_CUBLAS(sasum, cublasSasum)
  ONEFOLD_CUBLAS(dasum, cublasDasum)
  ONEFOLD_CUBLAS(snrm2, cublasSnrm2)
  ONEFOLD_CUBLAS(dnrm2, cublasDnrm2)
#undef ONEFOLD_CUBLAS
};

// A handle for the bench's stream, whose results stay on the device: cuBLAS enqueues and does not wait.
class cublas_handle {
 public:
  explicit cublas_handle(cudaStream_t stream) {
    library_.check(library_.create(&handle_), "cublasCreate");
    library_.check(library_.set_stream(handle_, stream), "cublasSetStream");
    library_.check(library_.set_pointer_mode(handle_, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
  }
  ~cublas_handle() { library_.destroy(handle_); }
  cublas_handle(const cublas_handle&) = delete;
  cublas_handle& operator=(const cublas_handle&) = delete;

  template <class T>
  void call(form what, int count, const T* x, const T* y, T* output) const {
    constexpr bool is_float = std::is_same_v<T, float>;
    const auto of = [](auto single, auto with_double) {
      if constexpr (is_float)
        return single;
      else
        return with_double;
    };
    if (what == form::dot)
      library_.check(of(library_.sdot, library_.ddot)(handle_, count, x, 1, y, 1, output), "cublas dot");
    else if (what == form::norm1)
      library_.check(of(library_.sasum, library_.dasum)(handle_, count, x, 1, output), "cublas asum");
    else
      library_.check(of(library_.snrm2, library_.dnrm2)(handle_, count, x, 1, output), "cublas nrm2");
  }

 private:
  const cublas_library& library_ = cublas_library::get();
  cublasHandle_t handle_ = nullptr;
};

template <class T>
gpu_peer cublas_peer(const gpu_bench& bench, form what) {
  const auto handle = std::make_shared<cublas_handle>(static_cast<cudaStream_t>(bench.stream()));
  auto* const output = static_cast<T*>(bench.output());
  return {"cublas",
          [handle, what, output, count = int_count(bench.count()), &bench](const void* input) {
            handle->call(what, count, static_cast<const T*>(input), static_cast<const T*>(bench.partner(input)), output);
          },
          {}};
}

std::string why_not_cublas() { return cublas_library::get().why_not(); }
#else
std::string why_not_cublas() { return "it was not found when onefold-perf was built"; }
#endif

template <class T>
std::vector<gpu_peer> peers_of(const gpu_bench& bench, form what) {
  std::vector<gpu_peer> all;
  if (what == form::sum || what == form::max) {
    all.push_back(cub_peer<T>(bench, what));
    all.push_back(thrust_peer<T>(bench, what));
  }
  if (what == form::sum) {
#ifdef ONEFOLD_CUB_CAN_BE_ASKED
    let_the_pool_keep_its_memory(bench.device());
    namespace determinism = cuda::execution::determinism;
#if CCCL_VERSION >= 3002000
    all.push_back(cub_peer_that_promises<T>("cub not_guaranteed", bench, determinism::not_guaranteed));
#endif
    all.push_back(cub_peer_that_promises<T>("cub run_to_run", bench, determinism::run_to_run));
    all.push_back(cub_peer_that_promises<T>("cub gpu_to_gpu", bench, determinism::gpu_to_gpu));
#endif
  }
#ifdef ONEFOLD_KOKKOS_HAS_CUDA
  if (what == form::sum || what == form::max)
    all.push_back({"kokkos", kokkos_on_cuda(what, element_type_of<T>, bench.count(), bench.stream(), bench.output()), {}});
#endif
#ifdef ONEFOLD_HAVE_CUBLAS
  if (what != form::sum && what != form::max && why_not_cublas().empty()) all.push_back(cublas_peer<T>(bench, what));
#endif
  return all;
}

}  // namespace

struct gpu_peers::state {
  cudaStream_t stream;
  std::size_t other_bytes;  // twice what the cache holds
  device_memory others;
  std::vector<gpu_peer> all;
};

gpu_peers::gpu_peers(const gpu_bench& bench, form what, element_type type, std::uint64_t l2_bytes)
    : state_(new state{static_cast<cudaStream_t>(bench.stream()), 2 * l2_bytes, device_memory(2 * l2_bytes),
                       type == element_type::f32 ? peers_of<float>(bench, what) : peers_of<double>(bench, what)}) {
  check(cudaMemsetAsync(state_->others.begin(), 0, state_->other_bytes, state_->stream), "cudaMemsetAsync");
}

gpu_peers::~gpu_peers() = default;

const std::vector<gpu_peer>& gpu_peers::all() const { return state_->all; }

void gpu_peers::empty_cache() const {
  constexpr int threads = 512;
  constexpr int blocks = 1024;  // enough for any GPU; each reads on
  const auto* const input = static_cast<const uint4*>(state_->others.begin());
  read_all<<<blocks, threads, 0, state_->stream>>>(input, state_->other_bytes / sizeof(uint4),
                                                   static_cast<unsigned*>(state_->others.begin()));
  check(cudaGetLastError(), "read_all");
}

std::vector<missing_peer> missing_on_gpu() {
  std::vector<missing_peer> all;
#if !defined(ONEFOLD_CUB_CAN_BE_ASKED) || CCCL_VERSION < 3002000
  const std::string this_cccl = "this is CCCL " + version_text(CCCL_VERSION, 1000000, 1000);
#ifndef ONEFOLD_CUB_CAN_BE_ASKED
  for (const char* name : {"cub run_to_run", "cub gpu_to_gpu"})
    all.push_back({name, this_cccl + "; it can be asked for from 3.1 on"});
#endif
  all.push_back({"cub not_guaranteed", this_cccl + "; it can be asked for from 3.2 on"});
#endif
  if (auto reason = why_not_cublas(); !reason.empty()) all.push_back({"cublas", std::move(reason)});
#ifndef ONEFOLD_KOKKOS_HAS_CUDA
  all.push_back({"kokkos", "this Kokkos was built without CUDA"});
#endif
  return all;
}

std::vector<std::pair<std::string, std::string>> gpu_peer_versions() {
  std::vector<std::pair<std::string, std::string>> all{{"cub", "CCCL " + version_text(CCCL_VERSION, 1000000, 1000)}};
#ifdef ONEFOLD_HAVE_CUBLAS
  if (const auto& library = cublas_library::get(); library.why_not().empty()) {
    std::string version;
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
      int number = 0;
      library.check(library.get_property(part, &number), "cublasGetProperty");
      version += (version.empty() ? "" : ".") + std::to_string(number);
    }
    all.emplace_back("cublas", version);
  }
#endif
  return all;
}

}  // namespace onefold::perf
