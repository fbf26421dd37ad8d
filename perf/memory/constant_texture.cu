/// @file constant_texture.cu  Two older ways to memory: constants, and textures.
///
/// Constants: one word is read per access and handed to the whole warp. Lanes that ask for d different words take d turns.
///
///     d = 1    lane 0 1 2 ... 31  ->  word 0                      d = 4    lane 0 4 8 ... -> word 0, lane 1 5 9 ... -> word 1, ...
///
/// The same words are read from global memory (in the first-level cache by then) and from shared memory beside it.
///
/// Textures: an image in an order that keeps what is near in two dimensions near in memory. Each thread reads one pixel at a time and all
/// pixels are read once; what changes is which 32 pixels are a warp's: a row, a column, a tile of 8 x 4, or 32 pixels anywhere. The same
/// from an array in rows by plain loads beside it. The image is more than 20 times the second-level cache.
#include "study.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

#ifdef __CUDACC__

constexpr unsigned warp = 32;

// --- constants: which words of a small table the lanes of a warp read ----------------------------------------------------------------

constexpr unsigned table_words = 64;  // within a first-level constant cache of 2 KiB
constexpr unsigned busy_threads = 512;
constexpr unsigned unrolled = 8;
__constant__ unsigned constant_table[table_words];

enum class space { constant, global, shared };

unsigned table_word(unsigned i) { return i * 2654435761u >> 7; }

// In each load all lanes together ask for `different` words. The words move on by `step` from turn to turn: a compiler that knew the step would
// see that they come round again, and take the loads out of the loop.
template <space Where>
__global__ void __launch_bounds__(busy_threads) read_table(const unsigned* global_table, unsigned different, unsigned step,
                                                           unsigned turns, unsigned* sums, std::uint64_t* cycles) {
  __shared__ unsigned shared_table[table_words];
  if (threadIdx.x < table_words) shared_table[threadIdx.x] = global_table[threadIdx.x];
  const unsigned own = threadIdx.x % different;
  unsigned moved = 0;
  unsigned sum = 0;
  __syncthreads();
  const long long begin = clock64();
  for (unsigned turn = 0; turn < turns; ++turn) {
    const unsigned* words = shared_table;
    if constexpr (Where == space::constant) words = constant_table;
    if constexpr (Where == space::global) words = global_table;
    words += own + moved;
    moved = (moved + step) % warp;
#pragma unroll
    for (unsigned k = 0; k < unrolled; ++k) {
      if constexpr (Where == space::global)
        sum += __ldg(words + k);
      else
        sum += words[k];
    }
  }
  __syncthreads();
  const long long end = clock64();
  sums[std::uint64_t{blockIdx.x} * busy_threads + threadIdx.x] = sum;
  if (threadIdx.x == 0) cycles[blockIdx.x] = static_cast<std::uint64_t>(end - begin);
}

void add_constants(const gpu_clock& clock, const setting& how, std::vector<row>& rows) {
  const unsigned turns = how.small ? 8 : 256;
  const auto blocks = static_cast<unsigned>(clock.multiprocessors());
  std::array<unsigned, table_words> table{};
  for (unsigned i = 0; i < table_words; ++i) table[i] = table_word(i);
  const device_array<unsigned> global_table(table_words);
  copy_in<unsigned>(clock, global_table.data(), table);
  check(cudaMemcpyToSymbolAsync(constant_table, table.data(), sizeof(table), 0, cudaMemcpyHostToDevice, stream_of(clock)),
        "cudaMemcpyToSymbolAsync");
  wait_for(clock);
  const device_array<unsigned> sums(std::uint64_t{blocks} * busy_threads);
  const device_array<std::uint64_t> cycles(blocks);

  using kernel = void (*)(const unsigned*, unsigned, unsigned, unsigned, unsigned*, std::uint64_t*);
  const std::pair<const char*, kernel> kernels[] = {{"constant", read_table<space::constant>},
                                                    {"global, in the first-level cache", read_table<space::global>},
                                                    {"shared", read_table<space::shared>}};
  for (const auto& [name, launch] : kernels)
    for (const unsigned different : {1u, 2u, 4u, 8u, 16u, 32u}) {
      const std::string text = std::string(name) + ": " + (different == 1 ? "1 address" : std::to_string(different) + " addresses");
      const auto work = [&](std::size_t) {
        launch<<<blocks, busy_threads, 0, stream_of(clock)>>>(global_table.data(), different, unrolled, turns, sums.data(),
                                                              cycles.data());
        check_launch(name);
      };
      std::vector<unsigned> expected(warp, 0);
      for (unsigned lane = 0; lane < warp; ++lane)
        for (unsigned turn = 0; turn < turns; ++turn)
          for (unsigned k = 0; k < unrolled; ++k) expected[lane] += table_word(lane % different + turn * unrolled % warp + k);
      work(0);
      verify<unsigned>(text, copy_out(clock, sums.data(), sums.count()), [&](std::size_t i) { return expected[i % warp]; });
      row line{.name = text,
               .time = clock.in_stream(work, how.repeats),
               .operations = std::uint64_t{blocks} * busy_threads * unrolled * turns};
      std::vector<std::uint64_t> busy = copy_out(clock, cycles.data(), blocks);
      std::ranges::nth_element(busy, busy.begin() + blocks / 2);
      line.values = {
          {"per load of a warp", static_cast<double>(busy[blocks / 2]) / (busy_threads / warp * unrolled * turns), "cycles"}};
      rows.push_back(std::move(line));
    }
}

// --- textures: which pixels of a large image a warp reads --------------------------------------------------------------------------------

enum class shape { row, column, tile, anywhere };

// Sides are powers of two, at least 64: finding a pixel then takes shifts, and no divisions that would take longer than reading it.
struct image {
  unsigned log_width;
  unsigned log_height;
  __host__ __device__ unsigned width() const { return 1u << log_width; }
  __host__ __device__ unsigned height() const { return 1u << log_height; }
  __host__ __device__ std::uint64_t pixels() const { return std::uint64_t{1} << (log_width + log_height); }
};

struct position {
  unsigned x;
  unsigned y;
};

__host__ __device__ inline unsigned pixel_at(std::uint64_t place) {
  std::uint64_t mixed = place * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 29;
  return static_cast<unsigned>(mixed >> 8);
}

// Where pixel i lies, so that 32 that follow each other have the shape. Each is one to one.
__device__ inline position position_of(std::uint64_t i, shape as, image of) {
  const auto low = [](std::uint64_t value, unsigned bits) {
    return static_cast<unsigned>(value & ((std::uint64_t{1} << bits) - 1));
  };
  if (as == shape::row) return {low(i, of.log_width), static_cast<unsigned>(i >> of.log_width)};
  if (as == shape::column) {  // 32 down, then the next column; a strip of 32 rows after the other
    const auto strip = static_cast<unsigned>(i >> (of.log_width + 5));
    return {low(i >> 5, of.log_width), strip * 32 + low(i, 5)};
  }
  if (as == shape::tile) {  // 8 across, 4 down; a strip of 4 rows after the other
    const auto strip = static_cast<unsigned>(i >> (of.log_width + 2));
    return {low(i >> 5, of.log_width - 3) * 8 + low(i, 3), strip * 4 + low(i >> 3, 2)};
  }
  const std::uint64_t mask = of.pixels() - 1;  // multiplying by an odd number and folding the upper bits down are both one to one
  std::uint64_t place = i * 0x9e3779b97f4a7c15u & mask;
  place ^= place >> 11;
  place = place * 0xbf58476d1ce4e5b9u & mask;
  place ^= place >> 13;
  return {low(place, of.log_width), static_cast<unsigned>(place >> of.log_width)};
}

constexpr unsigned image_threads = 256;
constexpr unsigned per_thread = 8;  // loads on their way; a block's pixels of one load follow each other

// The first lane has the sum.
__device__ unsigned long long sum_of_warp(unsigned long long value) {
  for (unsigned distance = warp / 2; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
}

// What a pixel adds to the checksum: its square, or nearly, so that a pixel read twice in another's place shows.
__device__ unsigned long long weighted(unsigned pixel) { return std::uint64_t{pixel} * (pixel | 1u); }

// A sum for each warp: adding them all up in one place would take longer than the reading.
template <shape As, bool AsTexture>
__global__ void __launch_bounds__(image_threads)
    read_image(cudaTextureObject_t texture, const unsigned* pixels, image of, unsigned long long* sums) {
  unsigned found[per_thread];
#pragma unroll
  for (unsigned k = 0; k < per_thread; ++k) {
    const std::uint64_t i = (std::uint64_t{blockIdx.x} * per_thread + k) * image_threads + threadIdx.x;
    const position at = position_of(i, As, of);
    if constexpr (AsTexture)
      found[k] = tex2D<unsigned>(texture, static_cast<float>(at.x) + 0.5f, static_cast<float>(at.y) + 0.5f);
    else
      found[k] = __ldg(pixels + ((std::uint64_t{at.y} << of.log_width) + at.x));
  }
  unsigned long long sum = 0;
#pragma unroll
  for (unsigned k = 0; k < per_thread; ++k) sum += weighted(found[k]);
  sum = sum_of_warp(sum);
  if (threadIdx.x % warp == 0) sums[(std::uint64_t{blockIdx.x} * image_threads + threadIdx.x) / warp] = sum;
}

__global__ void fill_image(unsigned* pixels, std::uint64_t count, unsigned long long* expected) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned long long sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    pixels[i] = pixel_at(i);
    sum += weighted(pixels[i]);
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % warp == 0) atomicAdd(expected, sum);
}

// An image as a texture: nearest pixel, coordinates in pixels.
class texture {
 public:
  texture(const gpu_clock& clock, const unsigned* pixels, image of) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    check(cudaMallocArray(&array_, &format, of.width(), of.height()), "cudaMallocArray");
    const std::size_t row_bytes = std::size_t{of.width()} * sizeof(unsigned);
    check(cudaMemcpy2DToArrayAsync(array_, 0, 0, pixels, row_bytes, row_bytes, of.height(), cudaMemcpyDeviceToDevice,
                                   stream_of(clock)),
          "cudaMemcpy2DToArrayAsync");
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypeArray;
    memory.res.array.array = array_;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    check(cudaCreateTextureObject(&object_, &memory, &how, nullptr), "cudaCreateTextureObject");
  }
  ~texture() {
    if (object_ != 0) cudaDestroyTextureObject(object_);
    if (array_ != nullptr) cudaFreeArray(array_);
  }
  texture(const texture&) = delete;
  texture& operator=(const texture&) = delete;
  [[nodiscard]] cudaTextureObject_t object() const { return object_; }

 private:
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t object_ = 0;
};

image large_enough(const gpu_clock& clock, const setting& how) {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  const int widest = attribute(clock, cudaDevAttrMaxTexture2DWidth);
  image of{6, 6};
  const auto bytes = [&] { return of.pixels() * sizeof(unsigned); };
  while (bytes() < cold_bytes(clock, how) && bytes() < free_bytes / 8 &&
         2 * std::max(of.width(), of.height()) <= static_cast<unsigned>(widest))
    ++(of.log_width > of.log_height ? of.log_height : of.log_width);
  return of;
}

void add_textures(const gpu_clock& clock, const setting& how, std::vector<row>& rows) {
  const image of = large_enough(clock, how);
  const std::uint64_t count = of.pixels();
  const device_array<unsigned> pixels(count);
  const device_array<unsigned long long> sums(count / (per_thread * warp));
  check(cudaMemsetAsync(sums.data(), 0, sizeof(unsigned long long), stream_of(clock)), "cudaMemsetAsync");
  fill_image<<<static_cast<unsigned>(clock.multiprocessors()) * 8, image_threads, 0, stream_of(clock)>>>(pixels.data(), count,
                                                                                                         sums.data());
  check_launch("fill_image");
  const texture as_texture(clock, pixels.data(), of);
  const unsigned long long expected = copy_out(clock, sums.data(), 1).front();

  struct reading {
    const char* name;
    void (*by_texture)(cudaTextureObject_t, const unsigned*, image, unsigned long long*);
    void (*by_load)(cudaTextureObject_t, const unsigned*, image, unsigned long long*);
  };
  const reading readings[] = {{"32 pixels of a row", read_image<shape::row, true>, read_image<shape::row, false>},
                              {"32 pixels of a column", read_image<shape::column, true>, read_image<shape::column, false>},
                              {"tiles of 8 x 4", read_image<shape::tile, true>, read_image<shape::tile, false>},
                              {"32 pixels anywhere", read_image<shape::anywhere, true>, read_image<shape::anywhere, false>}};
  const auto blocks = static_cast<unsigned>(count / (image_threads * per_thread));
  for (const bool textured : {true, false})
    for (const reading& one : readings) {
      const auto launch = textured ? one.by_texture : one.by_load;
      const auto work = [&](std::size_t) {
        launch<<<blocks, image_threads, 0, stream_of(clock)>>>(as_texture.object(), pixels.data(), of, sums.data());
        check_launch(one.name);
      };
      const std::string text = std::string(textured ? "texture: " : "global: ") + one.name;
      check(cudaMemsetAsync(sums.data(), 0, sums.count() * sizeof(unsigned long long), stream_of(clock)), "cudaMemsetAsync");
      work(0);
      const std::vector<unsigned long long> of_warps = copy_out(clock, sums.data(), sums.count());
      const unsigned long long found[] = {std::accumulate(of_warps.begin(), of_warps.end(), 0ull)};
      verify<unsigned long long>(text + ", sum over the image:", found, [&](std::size_t) { return expected; });
      row line{.name = text, .time = clock.in_stream(work, how.repeats), .bytes = count * sizeof(unsigned)};
      line.values = {{"per pixel", line.time.median() * 1e12 / static_cast<double>(count), "ps"}};
      rows.push_back(std::move(line));
    }
}

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  std::vector<row> rows;
  add_constants(clock, how, rows);
  add_textures(clock, how, rows);
  return rows;
}

#endif

}  // namespace

extern const study constant_texture;
const study constant_texture{
    .name = "constant_texture",
    .title = "constant and texture memory, beside plain loads of the same words",
    .lecture =
        "Constants take 4 cycles for each different address in a warp: 4 where all lanes ask for one, 64 where all ask for their "
        "own. Textures "
        "are best where the threads of a warp read what is close together in 2D.",
    .lesson =
        "Constant memory hands one word at a time to the whole warp: one turn where all lanes ask for the same word, and a "
        "further turn for each further one, as the lecture says. A load of the same words from the first-level cache or shared "
        "memory does not care how many there are, so a table that is indexed by the lane belongs there. (A constant whose place "
        "the compiler knows, such as a kernel's argument, can be part of an instruction; that is not measured here.) A texture's "
        "order in memory pays where a warp reads down a column; where warps read rows or tiles, plain loads can be as good or "
        "better, as the table says for this machine. Nothing helps reads from anywhere: each moves a sector for one word.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
};

}  // namespace onefold::perf::memory
