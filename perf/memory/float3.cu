/// @file float3.cu  Twelve bytes an element: read directly, staged through shared memory, and as three arrays.
///
///     direct        each thread loads x, then y, then z: three loads of the warp, each a comb over all twelve sectors
///                   x . . x . . x . .     . y . . y . . y .     . . z . . z . . z
///     staged        the block loads its 3 * 256 floats as floats, side by side; each thread finds its three in shared memory
///     three arrays  x x x x ...   y y y y ...   z z z z ...: nothing to mend
///     float4        a fourth float that nobody needs: one load of 16 bytes, a third more to move
///
/// To see: what the lecture mends by hand (a factor of nine), a cache in front of the multiprocessor has made a detail: the second and third
/// comb find their sectors there.
#include "study.hpp"

#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

constexpr float added[3] = {2, 3, 4};  // as the lecture's kernel does

#ifdef __CUDACC__

constexpr unsigned block = 256;

__global__ void direct(const ::float3* in, ::float3* out, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= count) return;
  ::float3 a = in[i];
  a.x += 2;
  a.y += 3;
  a.z += 4;
  out[i] = a;
}

__global__ void staged(const float* in, float* out, std::uint64_t count) {
  __shared__ float values[3 * block];
  const std::uint64_t first = std::uint64_t{3} * blockIdx.x * block + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < 3; ++k)
    if (first + k * block < 3 * count) values[threadIdx.x + k * block] = in[first + k * block];
  __syncthreads();
  // Neighbours' values are three words apart, and 3 is odd: no two of a warp lie in one bank.
  values[3 * threadIdx.x] += 2;
  values[3 * threadIdx.x + 1] += 3;
  values[3 * threadIdx.x + 2] += 4;
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 3; ++k)
    if (first + k * block < 3 * count) out[first + k * block] = values[threadIdx.x + k * block];
}

__global__ void three_arrays(const float* in, float* out, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= count) return;
  const float x = in[i];
  const float y = in[i + count];
  const float z = in[i + 2 * count];
  out[i] = x + 2;
  out[i + count] = y + 3;
  out[i + 2 * count] = z + 4;
}

__global__ void padded(const float4* in, float4* out, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= count) return;
  float4 a = in[i];
  a.x += 2;
  a.y += 3;
  a.z += 4;
  out[i] = a;
}

__global__ void fill(float* data, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    data[i] = static_cast<float>(i % 1021);
}

struct layout {
  const char* name;
  void (*launch)(unsigned blocks, cudaStream_t stream, const float* in, float* out, std::uint64_t count);
  unsigned floats;  // of an element, in memory
  // Which of the three a float of the array is; 3 for the one that nobody needs.
  std::uint64_t (*component)(std::uint64_t at, std::uint64_t count);
  double sectors;  // that a warp's loads ask for
};

const layout layouts[] = {
    {"float3, direct",
     [](unsigned blocks, cudaStream_t stream, const float* in, float* out, std::uint64_t count) {
       direct<<<blocks, block, 0, stream>>>(reinterpret_cast<const ::float3*>(in), reinterpret_cast<::float3*>(out), count);
     },
     3, [](std::uint64_t at, std::uint64_t) { return at % 3; }, 36},
    {"float3, staged through shared memory",
     [](unsigned blocks, cudaStream_t stream, const float* in, float* out, std::uint64_t count) {
       staged<<<blocks, block, 0, stream>>>(in, out, count);
     },
     3, [](std::uint64_t at, std::uint64_t) { return at % 3; }, 12},
    {"three arrays",
     [](unsigned blocks, cudaStream_t stream, const float* in, float* out, std::uint64_t count) {
       three_arrays<<<blocks, block, 0, stream>>>(in, out, count);
     },
     3, [](std::uint64_t at, std::uint64_t count) { return at / count; }, 12},
    {"float4, a quarter unused",
     [](unsigned blocks, cudaStream_t stream, const float* in, float* out, std::uint64_t count) {
       padded<<<blocks, block, 0, stream>>>(reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), count);
     },
     4, [](std::uint64_t at, std::uint64_t) { return at % 4; }, 16},
};

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  struct size {
    std::string name;
    std::uint64_t count;
    bool in_cache;
  };
  // The small ones are no multiple of the block, so that its end is checked too.
  const std::vector<size> sizes = how.small ? std::vector<size>{{"1000 elements", 1000, false}}
                                            : std::vector<size>{{"1M elements", std::uint64_t{1} << 20, false},
                                                                {"1M elements in the cache", std::uint64_t{1} << 20, true},
                                                                {"16M elements", std::uint64_t{1} << 24, false}};
  std::vector<row> rows;
  for (const size& one : sizes) {
    const std::uint64_t floats = 4 * one.count;  // the widest layout's
    const std::uint64_t pairs =
        one.in_cache ? 1 : std::max<std::uint64_t>(cold_bytes(clock, how) / (2 * floats * sizeof(float)), 2);
    const rotating_arrays<float> in(clock, floats, pairs);
    const rotating_arrays<float> out(clock, floats, pairs);
    for (std::uint64_t k = 0; k < pairs; ++k) {
      fill<<<blocks_for(floats, block), block, 0, stream_of(clock)>>>(in[k], floats);
      check_launch("fill");
    }
    for (const layout& of : layouts) {
      const auto work = [&](std::size_t turn) {
        of.launch(blocks_for(one.count, block), stream_of(clock), in[turn], out[turn], one.count);
        check_launch(of.name);
      };
      check(cudaMemsetAsync(out[0], 0xff, floats * sizeof(float), stream_of(clock)), "cudaMemsetAsync");
      work(0);
      const std::vector<float> got = copy_out(clock, out[0], of.floats * one.count);
      verify<float>(of.name, got, [&](std::size_t i) {
        const std::uint64_t component = of.component(i, one.count);
        return static_cast<float>(i % 1021) + (component < 3 ? added[component] : 0.0f);
      });
      row line{.name = one.name + ": " + of.name,
               .time = clock.in_stream(work, how.repeats),
               .bytes = 2 * 3 * sizeof(float) * one.count};
      line.values = {{"sectors asked for per warp", of.sectors, ""}};
      rows.push_back(std::move(line));
    }
  }
  return rows;
}

#endif

struct element {
  float x, y, z;
};

// One thread of a CPU: structures beside three arrays.
std::vector<row> on_cpu(const setting& how) {
  const std::size_t count = how.small ? 1000 : std::size_t{1} << 23;
  std::vector<row> rows;
  {
    std::vector<element> in(count);
    std::vector<element> out(count);
    for (std::size_t i = 0; i < count; ++i)
      in[i] = {static_cast<float>(i % 1021), static_cast<float>(i % 1019), static_cast<float>(i % 1013)};
    const auto work = [&](std::size_t) {
      for (std::size_t i = 0; i < count; ++i) out[i] = {in[i].x + added[0], in[i].y + added[1], in[i].z + added[2]};
    };
    work(0);
    verify<float>("structures", {&out[0].x, 3 * count}, [&](std::size_t i) {
      constexpr std::size_t period[] = {1021, 1019, 1013};
      return static_cast<float>(i / 3 % period[i % 3]) + added[i % 3];
    });
    rows.push_back({.name = "array of structures", .time = time_on_cpu(work, how.repeats), .bytes = 2 * sizeof(element) * count});
  }
  std::vector<float> in(3 * count);
  std::vector<float> out(3 * count);
  for (std::size_t i = 0; i < 3 * count; ++i) in[i] = static_cast<float>(i % 1021);
  const auto work = [&](std::size_t) {
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < count; ++i) out[i + k * count] = in[i + k * count] + added[k];
  };
  work(0);
  verify<float>("three arrays", out, [&](std::size_t i) { return static_cast<float>(i % 1021) + added[i / count]; });
  rows.push_back({.name = "three arrays", .time = time_on_cpu(work, how.repeats), .bytes = 2 * sizeof(element) * count});
  return rows;
}

}  // namespace

extern const study float3;  // CUDA's type of this name is ::float3
const study float3{
    .name = "float3",
    .title = "elements of twelve bytes: read directly, staged through shared memory, as three arrays",
    .lecture = "1M float3 on a G80: 3302 us direct, 359 us staged through shared memory; a warp's 32 floats side by side 356 us.",
    .lesson =
        "Each of the three loads of a float3 touches every sector of the warp's 384 bytes and uses a third of it. On the "
        "lecture's GPU nothing kept the rest; where a first-level cache does, the memory moves every byte once whichever way is "
        "chosen. Staging by hand then has little or nothing left to gain, and costs two barriers. A fourth float for the sake of "
        "one wide load costs a third more memory traffic: where memory is the limit, that is the worst of the four. Three arrays "
        "need no care at all.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
    .on_cpu = on_cpu,
};

}  // namespace onefold::perf::memory
