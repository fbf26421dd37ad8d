#include "gpu.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "cuda_check.hpp"
#include "data.hpp"

namespace onefold::perf {

namespace {

template <class T>
__global__ void fill(T* values, std::uint64_t count, std::uint64_t per_slot, std::uint64_t slot_count, bool for_product) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slot_count * per_slot; i += threads)
    if (i % per_slot < count) values[i] = element_at<T>(i % per_slot, for_product);
}

// Waits until the host opens the gate, so that what is enqueued behind it runs at the GPU's speed and not at the host's.
__global__ void wait_for_gate(const volatile unsigned* gate) {
  while (*gate == 0) __nanosleep(200);
}

// Every thread keeps eight 16-byte loads in flight and does next to nothing with them. A block for each 64 KiB: multiprocessors are not
// equally fast, and sharing the array out beforehand costs up to 2 %.
constexpr int read_threads = 512;
constexpr int read_depth = 8;
__global__ void __launch_bounds__(read_threads) read_kernel(const uint4* input, std::uint64_t count, unsigned* output) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * read_threads * read_depth + threadIdx.x;
  unsigned seen = 0;
  uint4 loaded[read_depth];
#pragma unroll
  for (int k = 0; k < read_depth; ++k) {
    const std::uint64_t i = first + k * read_threads;
    loaded[k] = i < count ? __ldcs(input + i) : uint4{};
  }
#pragma unroll
  for (int k = 0; k < read_depth; ++k) seen |= loaded[k].x ^ loaded[k].y ^ loaded[k].z ^ loaded[k].w;
  if (seen == 0x12345678u) *output = seen;  // practically never; keeps the loads
}

__global__ void write_word(volatile unsigned* place, unsigned word) { *place = word; }

constexpr std::uint64_t cold_bytes = std::uint64_t{3} << 29;  // the arrays together: 25 times an H200's L2
constexpr double batch_s = 2e-3;                              // so much work between two events, whose own cost then vanishes
constexpr int most_calls_per_batch = 20;                      // few enough for the launch queue: 26 launches a call at most

cudaStream_t stream_of(const gpu_clock& clock) { return static_cast<cudaStream_t>(clock.stream()); }

}  // namespace

gpu_clock::gpu_clock(int device) : device_(device) {
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  stream_ = stream;
  check(cudaMallocHost(&gate_, 2 * sizeof(unsigned)), "cudaMallocHost");
}

gpu_clock::~gpu_clock() {
  cudaFreeHost(gate_);
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

samples gpu_clock::in_stream(const std::function<void(std::size_t)>& work, int repeats) const {
  const auto stream = static_cast<cudaStream_t>(stream_);
  std::size_t turn = 0;
  work(turn++);  // loads the kernels, grows the workspace
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const auto begin_estimate = std::chrono::steady_clock::now();
  work(turn++);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const double estimate_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_estimate).count();
  const int calls = std::clamp(static_cast<int>(batch_s / estimate_s), 1, most_calls_per_batch);

  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  samples all;
  while (static_cast<int>(all.seconds.size()) < repeats) {
    *const_cast<volatile unsigned*>(gate_) = 0;
    wait_for_gate<<<1, 1, 0, stream>>>(gate_);
    work(turn++);  // the gate's kernel leaves an idle GPU behind; the calls that are timed find a busy one
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    for (int k = 0; k < calls; ++k) work(turn++);
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    *const_cast<volatile unsigned*>(gate_) = 1;
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    all.seconds.push_back(static_cast<double>(milliseconds) * 1e-3 / calls);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(all.seconds.begin(), all.seconds.end());
  return all;
}

samples gpu_clock::to_host(const std::function<void(std::size_t)>& work, int repeats) const {
  constexpr int warm_up = 2;
  samples all;
  for (int turn = 0; turn < repeats + warm_up; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    work(static_cast<std::size_t>(turn));
    const auto end = std::chrono::steady_clock::now();
    if (turn >= warm_up) all.seconds.push_back(std::chrono::duration<double>(end - begin).count());
  }
  std::sort(all.seconds.begin(), all.seconds.end());
  return all;
}

samples gpu_clock::round_trip(int repeats) const {
  volatile unsigned* const word = gate_ + 1;
  *word = 0;
  cudaLaunchAttribute early{};  // as the default variant is launched: the cheapest way
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = static_cast<cudaStream_t>(stream_);
  config.attrs = &early;
  config.numAttrs = 1;
  return to_host(
      [&](std::size_t turn) {
        const auto wanted = static_cast<unsigned>(turn + 1);
        check(cudaLaunchKernelEx(&config, write_word, word, wanted), "cudaLaunchKernelEx");
        constexpr int many = 10'000'000;  // polls; by then something is wrong, and the driver says what
        for (int polls = 0; *word != wanted; ++polls)
          if (polls == many) check(cudaStreamSynchronize(config.stream), "write_word");
      },
      repeats);
}

gpu_bench::gpu_bench(int device, element_type type, operation op, std::uint64_t count, std::size_t arrays)
    : clock_(device), type_(type), count_(count), bytes_(count * size_of(type)) {
  slot_bytes_ = (std::max<std::uint64_t>(bytes_, 1) + 1023) / 1024 * 1024;
  slots_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(cold_bytes / slot_bytes_, arrays, 4096));
  if (slot_bytes_ * slots_ < cold_bytes && slot_bytes_ < (std::uint64_t{1} << 20)) {
    slot_bytes_ = cold_bytes / slots_ / 1024 * 1024;  // small arrays far apart, so that 4096 of them span the same memory
  }
  const auto stream = stream_of(clock_);
  check(cudaMalloc(&arena_, slot_bytes_ * slots_), "cudaMalloc");
  check(cudaMalloc(&output_, output_bytes), "cudaMalloc");
  const auto fill_as = [&]<class T>(T) {
    fill<T><<<clock_.multiprocessors() * 4, 512, 0, stream>>>(reinterpret_cast<T*>(arena_), count_, slot_bytes_ / sizeof(T), slots_,
                                                              op == operation::prod);
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    fill_as(T{});             \
    break;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  check(cudaStreamSynchronize(stream), "fill");
}

gpu_bench::~gpu_bench() {
  cudaFree(output_);
  cudaFree(arena_);
}

executor gpu_bench::where() const { return cuda(clock_.device(), stream_of(clock_)); }

const void* gpu_bench::input(std::size_t i) const { return arena_ + i % slots_ * slot_bytes_; }

const void* gpu_bench::partner(const void* input) const {
  const auto number = static_cast<std::size_t>(static_cast<const unsigned char*>(input) - arena_) / slot_bytes_;
  return this->input(number + slots_ / 2);
}

void gpu_bench::read(const void* input) const {
  const std::uint64_t count = bytes_ / 16;
  constexpr std::uint64_t of_block = read_threads * read_depth;
  const auto blocks = static_cast<unsigned>(std::max<std::uint64_t>(1, (count + of_block - 1) / of_block));
  read_kernel<<<blocks, read_threads, 0, stream_of(clock_)>>>(static_cast<const uint4*>(input), count,
                                                              static_cast<unsigned*>(output_));
}

samples gpu_bench::in_stream(const std::function<void(const void*)>& work, cache state, int repeats) const {
  return clock_.in_stream([&](std::size_t turn) { work(input(state == cache::hot ? 0 : turn)); }, repeats);
}

samples gpu_bench::to_host(const std::function<void(const void*)>& work, cache state, int repeats) const {
  return clock_.to_host([&](std::size_t turn) { work(input(state == cache::hot ? 0 : turn)); }, repeats);
}

void gpu_bench::copy_result(void* to, std::size_t size) const {
  check(cudaStreamSynchronize(stream_of(clock_)), "cudaStreamSynchronize");
  check(cudaMemcpy(to, output_, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

std::uint64_t gpu_bench::result_bits(std::size_t size) const {
  std::uint64_t bits = 0;
  copy_result(&bits, size == 0 ? size_of(type_) : size);
  return bits;
}

}  // namespace onefold::perf
