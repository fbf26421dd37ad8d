/// @file transpose.cu  A matrix and its transpose: one side of it is always a column.
///
///     naive     reads rows, writes columns: a warp's 32 floats go to 32 sectors
///     tiled     a tile of 32 x 32 goes through shared memory, and both sides are rows:
///                   rows in  ->  | tile |  ->  its columns out
///               but a column of the tile is a stride of 32 words: one bank, 32 ways
///     padded    a 33rd word in each row of the tile: the column's stride is odd, no conflict
///     copy      the same tiles, not transposed: what can be reached
///
/// Blocks are 32 x 8 threads, each of four elements. The lecture's are 16 x 16 with one, for half-warps of 16, and stand beside: a
/// warp is two of their rows, 64 bytes each. A column of their tile is a stride of 16 words: 8 ways in four banks, and with the 17th
/// word of a row 2 ways in one.
#include "study.hpp"

#include <algorithm>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

// Element (row, column) of the input, unlike its neighbours and exact.
float contents(std::uint64_t row, std::uint64_t column) { return static_cast<float>((row * 4099 + column * 31) % 16'777'213); }

#ifdef __CUDACC__

struct extent {
  unsigned width;   // of the input
  unsigned height;  // of the input
};

// Tiles of Tile x Tile elements, for blocks of Tile x Rows threads.
template <unsigned Tile, unsigned Rows>
__global__ void copy(const float* __restrict__ in, float* __restrict__ out, extent of) {
  const unsigned x = blockIdx.x * Tile + threadIdx.x;
  float values[Tile / Rows];  // all on their way before the first is stored, as a tile's are
#pragma unroll
  for (unsigned k = 0; k < Tile; k += Rows) {
    const unsigned y = blockIdx.y * Tile + threadIdx.y + k;
    if (x < of.width && y < of.height) values[k / Rows] = in[std::uint64_t{y} * of.width + x];
  }
#pragma unroll
  for (unsigned k = 0; k < Tile; k += Rows) {
    const unsigned y = blockIdx.y * Tile + threadIdx.y + k;
    if (x < of.width && y < of.height) out[std::uint64_t{y} * of.width + x] = values[k / Rows];
  }
}

template <unsigned Tile, unsigned Rows>
__global__ void naive(const float* __restrict__ in, float* __restrict__ out, extent of) {
  const unsigned x = blockIdx.x * Tile + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < Tile; k += Rows) {
    const unsigned y = blockIdx.y * Tile + threadIdx.y + k;
    if (x < of.width && y < of.height) out[std::uint64_t{x} * of.height + y] = in[std::uint64_t{y} * of.width + x];
  }
}

// The other choice: columns are read, rows written.
template <unsigned Tile, unsigned Rows>
__global__ void naive_reading_columns(const float* __restrict__ in, float* __restrict__ out, extent of) {
  const unsigned y = blockIdx.x * Tile + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < Tile; k += Rows) {
    const unsigned x = blockIdx.y * Tile + threadIdx.y + k;
    if (x < of.width && y < of.height) out[std::uint64_t{x} * of.height + y] = in[std::uint64_t{y} * of.width + x];
  }
}

template <unsigned Tile, unsigned Rows, unsigned Padding>
__global__ void tiled(const float* __restrict__ in, float* __restrict__ out, extent of) {
  __shared__ float values[Tile][Tile + Padding];
  const unsigned x = blockIdx.x * Tile + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < Tile; k += Rows) {
    const unsigned y = blockIdx.y * Tile + threadIdx.y + k;
    if (x < of.width && y < of.height) values[threadIdx.y + k][threadIdx.x] = in[std::uint64_t{y} * of.width + x];
  }
  __syncthreads();
  const unsigned out_x = blockIdx.y * Tile + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < Tile; k += Rows) {
    const unsigned out_y = blockIdx.x * Tile + threadIdx.y + k;
    if (out_x < of.height && out_y < of.width) out[std::uint64_t{out_y} * of.height + out_x] = values[threadIdx.x][threadIdx.y + k];
  }
}

struct kernel {
  const char* name;
  void (*launch)(const float*, float*, extent);
  bool transposes = true;
  bool blocks_down = false;  // blockIdx.x counts tiles of rows
  unsigned tile = 32;
  unsigned rows_at_once = 8;
};

const kernel kernels[] = {
    {.name = "plain copy", .launch = copy<32, 8>, .transposes = false},
    {.name = "naive, columns written", .launch = naive<32, 8>},
    {.name = "naive, columns read", .launch = naive_reading_columns<32, 8>, .blocks_down = true},
    {.name = "tiled", .launch = tiled<32, 8, 0>},
    {.name = "tiled, padded", .launch = tiled<32, 8, 1>},
    {.name = "16 x 16 threads, plain copy", .launch = copy<16, 16>, .transposes = false, .tile = 16, .rows_at_once = 16},
    {.name = "16 x 16 threads, naive, columns written", .launch = naive<16, 16>, .tile = 16, .rows_at_once = 16},
    {.name = "16 x 16 threads, tiled", .launch = tiled<16, 16, 0>, .tile = 16, .rows_at_once = 16},
    {.name = "16 x 16 threads, tiled, padded", .launch = tiled<16, 16, 1>, .tile = 16, .rows_at_once = 16},
};

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  const std::vector<extent> extents =
      how.small ? std::vector<extent>{{96, 64}, {67, 45}} : std::vector<extent>{{4096, 4096}, {4001, 3999}};
  std::vector<row> rows;
  for (const extent& of : extents) {
    const std::uint64_t count = std::uint64_t{of.width} * of.height;
    const std::uint64_t pairs = std::max<std::uint64_t>(cold_bytes(clock, how) / (2 * count * sizeof(float)), 2);
    const rotating_arrays<float> in(clock, count, pairs);
    const rotating_arrays<float> out(clock, count, pairs);
    std::vector<float> matrix(count);
    for (std::uint64_t y = 0; y < of.height; ++y)
      for (std::uint64_t x = 0; x < of.width; ++x) matrix[y * of.width + x] = contents(y, x);
    for (std::uint64_t k = 0; k < pairs; ++k) copy_in<float>(clock, in[k], matrix);

    double copy_s = 0;
    for (const kernel& one : kernels) {
      const unsigned across = blocks_for(of.width, one.tile);
      const unsigned down = blocks_for(of.height, one.tile);
      const dim3 grid = one.blocks_down ? dim3(down, across) : dim3(across, down);
      const auto work = [&](std::size_t turn) {
        one.launch<<<grid, dim3(one.tile, one.rows_at_once), 0, stream_of(clock)>>>(in[turn], out[turn], of);
        check_launch(one.name);
      };
      check(cudaMemsetAsync(out[0], 0xff, count * sizeof(float), stream_of(clock)), "cudaMemsetAsync");
      work(0);
      verify<float>(one.name, copy_out(clock, out[0], count), [&](std::size_t i) {
        return one.transposes ? contents(i % of.height, i / of.height) : contents(i / of.width, i % of.width);
      });
      row line{.name = std::to_string(of.width) + " x " + std::to_string(of.height) + ": " + one.name,
               .time = clock.in_stream(work, how.repeats),
               .bytes = 2 * sizeof(float) * count};
      if (copy_s == 0) copy_s = line.time.median();  // the first, for all
      line.values = {{"of the copy's speed", copy_s / line.time.median() * 100, "%"}};
      rows.push_back(std::move(line));
    }
  }
  return rows;
}

#endif

// One thread of a CPU, whose first-level cache holds the tile.
std::vector<row> on_cpu(const setting& how) {
  constexpr std::size_t cpu_tile = 32;  // two cache lines of floats
  const std::vector<std::size_t> sides = how.small ? std::vector<std::size_t>{64, 45} : std::vector<std::size_t>{4096, 4001};
  std::vector<row> rows;
  for (const std::size_t side : sides) {
    std::vector<float> in(side * side);
    std::vector<float> out(side * side);
    for (std::size_t y = 0; y < side; ++y)
      for (std::size_t x = 0; x < side; ++x) in[y * side + x] = contents(y, x);
    const auto naive_loop = [&](std::size_t) {
      for (std::size_t y = 0; y < side; ++y)
        for (std::size_t x = 0; x < side; ++x) out[x * side + y] = in[y * side + x];
    };
    // As on the GPU: rows in, columns of the padded tile, rows out. Written straight to their places a tile's columns would, where the side is
    // a power of two, all want the same few lines of the cache.
    const auto tiled_loop = [&](std::size_t) {
      float values[cpu_tile][cpu_tile + 1];
      for (std::size_t top = 0; top < side; top += cpu_tile)
        for (std::size_t left = 0; left < side; left += cpu_tile) {
          const std::size_t rows_here = std::min(cpu_tile, side - top);
          const std::size_t columns_here = std::min(cpu_tile, side - left);
          for (std::size_t y = 0; y < rows_here; ++y)
            for (std::size_t x = 0; x < columns_here; ++x) values[y][x] = in[(top + y) * side + left + x];
          for (std::size_t x = 0; x < columns_here; ++x)
            for (std::size_t y = 0; y < rows_here; ++y) out[(left + x) * side + top + y] = values[y][x];
        }
    };
    const auto copy_loop = [&](std::size_t) { std::ranges::copy(in, out.begin()); };
    const auto add = [&](const std::string& name, const std::function<void(std::size_t)>& work, bool transposes) {
      std::ranges::fill(out, -1.0f);
      work(0);
      verify<float>(name, out,
                    [&](std::size_t i) { return transposes ? contents(i % side, i / side) : contents(i / side, i % side); });
      rows.push_back({.name = std::to_string(side) + " x " + std::to_string(side) + ": " + name,
                      .time = time_on_cpu(work, how.repeats),
                      .bytes = 2 * sizeof(float) * side * side});
      const double copy_s = rows[rows.size() - 1 - (rows.size() - 1) % 3].time.median();
      rows.back().values = {{"of the copy's speed", copy_s / rows.back().time.median() * 100, "%"}};
    };
    add("plain copy", copy_loop, false);
    add("naive", naive_loop, true);
    add("tiled", tiled_loop, true);
  }
  return rows;
}

}  // namespace

extern const study transpose;
const study transpose{
    .name = "transpose",
    .title = "a matrix transposed: naive, through tiles, through padded tiles, beside a plain copy",
    .lecture =
        "Names the steps without figures: the naive kernel writes columns; tiles of 16 x 16 mend that, an extra column the "
        "bank conflicts.",
    .lesson =
        "A transpose reads or writes columns, and a column is the worst stride there is. A tile in shared memory turns both "
        "sides into rows, and one word of padding turns the tile's columns from one bank into 32. Without the padding "
        "conflicts may cost what the tile gains. Reading columns is the better naive way where a cache keeps their sectors "
        "until they are needed again, and may even be the best one where rows do not begin where sectors do. The lecture's "
        "blocks of 16 x 16 threads with an element each write 64 bytes side by side where the others write 128, and have one "
        "load on its way where four are: the copy of that shape says what this alone costs. A side that is a large power of "
        "two is worst for a CPU, whose cache keeps only few lines of such a column; the odd side shows that.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
    .on_cpu = on_cpu,
};

}  // namespace onefold::perf::memory
