#pragma once
/// @file executor.hpp  Where a reduction runs: a backend and what it needs to know. Executors are small values; copy them freely.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/detail/unit.hpp>
#include <onefold/error.hpp>
#include <onefold/types.hpp>

struct CUstream_st;  // what a cudaStream_t points to: named here so that callers can pass theirs and no CUDA header is needed

namespace onefold {

class executor;
constexpr executor serial() noexcept;
constexpr executor openmp(int threads) noexcept;
constexpr executor cuda(int device) noexcept;
constexpr executor cuda(int device, CUstream_st* stream) noexcept;
constexpr executor best() noexcept;

/// A place to run. Made by serial(), openmp(), cuda() and best().
class executor {
 public:
  /// True for best(): the place is chosen at each call, from where the data are.
  [[nodiscard]] constexpr bool chooses_itself() const noexcept { return automatic_; }
  /// The backend; meaningless while chooses_itself().
  [[nodiscard]] constexpr onefold::backend backend() const noexcept { return backend_; }
  /// The CUDA device's number.
  [[nodiscard]] constexpr int device() const noexcept { return device_; }
  /// True when cuda() was called with a stream.
  [[nodiscard]] constexpr bool has_stream() const noexcept { return has_stream_; }
  /// The caller's stream; null is CUDA's default stream when has_stream().
  [[nodiscard]] constexpr CUstream_st* stream() const noexcept { return stream_; }
  /// OpenMP threads asked for; 0 for all.
  [[nodiscard]] constexpr int threads() const noexcept { return threads_; }

 private:
  friend constexpr executor serial() noexcept;
  friend constexpr executor openmp(int threads) noexcept;
  friend constexpr executor cuda(int device) noexcept;
  friend constexpr executor cuda(int device, CUstream_st* stream) noexcept;
  friend constexpr executor best() noexcept;

  constexpr executor(onefold::backend where, int threads, int device) noexcept
      : backend_(where), threads_(threads), device_(device) {}

  onefold::backend backend_;
  bool automatic_ = false;
  bool has_stream_ = false;
  int threads_;
  int device_;
  CUstream_st* stream_ = nullptr;
};

/// One CPU thread: the calling one.
constexpr executor serial() noexcept { return {backend::serial, 1, 0}; }

/// So many threads, the calling one among them; 0 takes all of OpenMP's (OMP_NUM_THREADS). They are OpenMP's where it has as many, else
/// onefold's own. For programs that use OpenMP themselves.
constexpr executor openmp(int threads = 0) noexcept { return {backend::openmp, threads, 0}; }

/// The NVIDIA GPU with this number, on a stream of the library's that is ordered with CUDA's legacy default stream.
constexpr executor cuda(int device = 0) noexcept { return {backend::cuda, 0, device}; }

/// The NVIDIA GPU with this number, on the caller's stream (a cudaStream_t). The stream must outlive the work put on it.
constexpr executor cuda(int device, CUstream_st* stream) noexcept {
  executor where(backend::cuda, 0, device);
  where.has_stream_ = true;
  where.stream_ = stream;
  return where;
}

/// Chosen at each call: the GPU that holds the data where they are in device or managed memory, else the CPU: all threads from 256 KiB up, and
/// below, where starting them would take longer than the work, the calling one alone. The threads are OpenMP's where the program uses those,
/// else onefold's own, and those that come late, because the machine is busy, are not waited for.
constexpr executor best() noexcept {
  executor where(backend::serial, 1, 0);
  where.automatic_ = true;
  return where;
}

ONEFOLD_BEGIN_TEXTS
/// One GPU as the CUDA runtime shows it.
struct device_info {
  int number;                 ///< for cuda(number)
  std::string name;           ///< "NVIDIA H200"
  int compute_capability[2];  ///< major, minor
  int multiprocessors;        ///< count
  std::size_t memory_bytes;   ///< all of its memory
  std::size_t l2_bytes;       ///< second-level cache
};

/// What is known of one backend in this build, on this machine.
struct backend_info {
  onefold::backend where;
  bool built;                        ///< compiled into this library
  bool usable;                       ///< and can run here, now
  std::string detail;                ///< versions when usable, else the sentence that says what prevents it
  int threads;                       ///< CPU backends: what serial() and openmp() use; 0 for cuda
  std::vector<device_info> devices;  ///< cuda: the GPUs
};
ONEFOLD_END_TEXTS

namespace detail {

// What the C interface calls the executor.
constexpr onefold_executor c_executor(const executor& where) noexcept {
  return {where.chooses_itself() ? static_cast<std::int32_t>(ONEFOLD_BEST) : static_cast<std::int32_t>(where.backend()),
          where.threads(), where.device(), where.has_stream() ? 1 : 0, where.stream()};
}

/// Whether a call on it goes to a GPU in any case.
constexpr bool is_for_cuda(const executor& where) noexcept { return !where.chooses_itself() && where.backend() == backend::cuda; }

inline backend_info backend_info_of(backend where) {
  onefold_backend_info all{};
  all.struct_bytes = sizeof(all);
  check_status(onefold_describe_backend(static_cast<int>(where), &all, nullptr, 0));
  std::vector<onefold_device_info> gpus(all.devices);
  if (!gpus.empty()) check_status(onefold_describe_backend(static_cast<int>(where), &all, gpus.data(), gpus.size()));
  backend_info info{where, all.built != 0, all.usable != 0, all.detail, all.threads, {}};
  for (const onefold_device_info& gpu : gpus)
    info.devices.push_back({gpu.number,
                            gpu.name,
                            {gpu.compute_capability[0], gpu.compute_capability[1]},
                            gpu.multiprocessors,
                            static_cast<std::size_t>(gpu.memory_bytes),
                            static_cast<std::size_t>(gpu.l2_bytes)});
  return info;
}

}  // namespace detail

/// All backends, built or not. Cost: the first call may load the CUDA driver. Errors: out_of_memory.
[[nodiscard]] inline std::vector<backend_info> backends() {
  return detail::telling_of_lacking_memory([] {
    std::vector<backend_info> all;
    for (const backend where : {backend::serial, backend::openmp, backend::cuda}) all.push_back(detail::backend_info_of(where));
    return all;
  });
}

/// Waits until everything put on the executor's stream is done; returns at once for CPU executors and best().
/// Errors: backend_not_built, backend_unavailable, out_of_memory, device_lost, device_error.
inline void synchronize(const executor& where) { detail::check_status(onefold_synchronize(detail::c_executor(where))); }

}  // namespace onefold
