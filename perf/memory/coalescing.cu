/// @file coalescing.cu  Who in a warp touches what.
///
/// Each thread reads one float, adds 1 and writes it back. The floats are the same work each time; what changes is where the 32 floats of a
/// warp lie:
///
///     coalesced      lane  0 1 2 3 ... 31                  the warp's 32 floats are 4 sectors of 32 bytes
///     idle           lane  0 1 2 . 4 5 6 . ...             every fourth lane does nothing
///     permuted       lane  3 8 13 18 ...                   the same 4 sectors, in another order
///     misaligned     . lane 0 1 2 ... 31                   one float on: 5 sectors, of which the neighbours use the rest of two
///     strided by s   lane 0 . . . 1 . . . 2                up to 32 sectors, of which s - 1 of s floats are moved for nothing
///
/// Then the words of a lane: of 1 to 16 bytes, side by side. A warp's are one sector of bytes, or sixteen of the longest words.
///
/// Then threads that read the same address, and write nothing:
///
///     each its own   lane 0 1 2 3 4 5 ...                  float 0 1 2 3 4 5 ...
///     pairs          lane 0 1 2 3 4 5 ...                  float 0 0 2 2 4 4 ...     the same 4 sectors
///     a warp         lane 0 1 2 3 4 5 ...                  float 0 0 0 0 0 0 ...     one sector of the four
///     all warps      the same float for every thread
///
/// To see: today's GPU moves whole sectors and asks nothing else. The lecture's factor of ten for a permuted or misaligned warp is gone; that
/// for a stride is not.
#include "study.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

// Element number i of the work, as a place in the array.
struct pattern {
  const char* name;
  unsigned stride = 1;
  unsigned offset = 0;
  bool permuted = false;
  bool some_idle = false;
};

constexpr unsigned warp = 32;
constexpr unsigned sector_bytes = 32;

constexpr std::array patterns{
    pattern{.name = "coalesced"},
    pattern{.name = "every fourth thread idle", .some_idle = true},
    pattern{.name = "permuted inside the warp", .permuted = true},
    pattern{.name = "misaligned by 1 float", .offset = 1},
    pattern{.name = "misaligned by 8 floats", .offset = 8},
    pattern{.name = "stride 2", .stride = 2},
    pattern{.name = "stride 4", .stride = 4},
    pattern{.name = "stride 8", .stride = 8},
    pattern{.name = "stride 16", .stride = 16},
    pattern{.name = "stride 32", .stride = 32},
};
constexpr unsigned widest_stride = 32;
constexpr unsigned widest_offset = 8;

#ifdef __CUDACC__
#define ONEFOLD_ON_BOTH __host__ __device__
#else
#define ONEFOLD_ON_BOTH
#endif

// 5 is odd, so that 5 * lane + 3 meets each lane once.
ONEFOLD_ON_BOTH inline std::uint64_t place_of(std::uint64_t i, const pattern& of) {
  const std::uint64_t element = of.permuted ? i / warp * warp + (5 * (i % warp) + 3) % warp : i;
  return element * of.stride + of.offset;
}
ONEFOLD_ON_BOTH inline bool takes_part(std::uint64_t i, const pattern& of) { return !of.some_idle || i % 4 != 3; }

#ifdef __CUDACC__

constexpr unsigned block = 256;

__global__ void increment(float* data, std::uint64_t count, pattern of) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x;
  if (i < count && takes_part(i, of)) data[place_of(i, of)] += 1.0f;
}

// Floats of an array of zeros, incremented once, that are not what they should be. Asks each float whether it is one of the pattern's, where
// the kernel asks each thread for its float: permuted or not, the same floats are met.
__global__ void count_wrong(const float* data, std::uint64_t floats, std::uint64_t count, pattern of, unsigned* wrong) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * block + threadIdx.x; at < floats; at += threads) {
    const std::uint64_t element = (at - of.offset) / of.stride;
    const bool met = at >= of.offset && (at - of.offset) % of.stride == 0 && element < count && takes_part(element, of);
    if (data[at] != (met ? 1.0f : 0.0f)) atomicAdd(wrong, 1u);
  }
}

// Sectors that one warp touches: what the GPU moves is these, whole.
std::size_t sectors_of_a_warp(const pattern& of) {
  std::set<std::uint64_t> sectors;
  for (std::uint64_t i = 0; i < warp; ++i)
    if (takes_part(i, of)) sectors.insert(place_of(i, of) * sizeof(float) / sector_bytes);
  return sectors.size();
}

std::uint64_t elements_taking_part(std::uint64_t count, const pattern& of) { return of.some_idle ? count / 4 * 3 : count; }

std::uint64_t extent(std::uint64_t count, const pattern& of) { return count * of.stride + widest_offset; }

// On the host, float by float.
void verify_increment(const gpu_clock& clock, float* data, std::uint64_t count, const pattern& of) {
  const std::uint64_t floats = extent(count, of);
  check(cudaMemsetAsync(data, 0, floats * sizeof(float), stream_of(clock)), "cudaMemsetAsync");
  increment<<<blocks_for(count, block), block, 0, stream_of(clock)>>>(data, count, of);
  check_launch("increment");
  std::vector<float> expected(floats, 0.0f);
  for (std::uint64_t i = 0; i < count; ++i)
    if (takes_part(i, of)) expected[place_of(i, of)] += 1.0f;
  const std::vector<float> got = copy_out(clock, data, floats);
  verify<float>(of.name, got, [&](std::size_t i) { return expected[i]; });
}

// At the size that is timed, on the GPU: what it spans may be gigabytes.
void verify_at_size(const gpu_clock& clock, float* data, std::uint64_t count, const pattern& of) {
  const std::uint64_t floats = extent(count, of);
  const device_array<unsigned> wrong(1);
  check(cudaMemsetAsync(data, 0, floats * sizeof(float), stream_of(clock)), "cudaMemsetAsync");
  check(cudaMemsetAsync(wrong.data(), 0, sizeof(unsigned), stream_of(clock)), "cudaMemsetAsync");
  increment<<<blocks_for(count, block), block, 0, stream_of(clock)>>>(data, count, of);
  check_launch("increment");
  count_wrong<<<static_cast<unsigned>(clock.multiprocessors()) * 8, block, 0, stream_of(clock)>>>(data, floats, count, of,
                                                                                                  wrong.data());
  check_launch("count_wrong");
  const std::vector<unsigned> found = copy_out(clock, wrong.data(), 1);
  verify<unsigned>(std::string(of.name) + ", floats that are wrong:", found, [](std::size_t) { return 0u; });
}

constexpr std::uint64_t verified_count = std::uint64_t{3} << 12;

row time_pattern(const gpu_clock& clock, const setting& how, const std::string& size, std::uint64_t count, const pattern& of,
                 bool in_cache, float* arena, std::uint64_t arena_floats) {
  verify_increment(clock, arena, std::min(count, verified_count), of);
  verify_at_size(clock, arena, count, of);
  const std::uint64_t step = (extent(count, of) + 511) / 512 * 512;
  const std::uint64_t slots = in_cache ? 1 : std::max<std::uint64_t>(arena_floats / step, 1);
  const auto work = [&](std::size_t turn) {
    increment<<<blocks_for(count, block), block, 0, stream_of(clock)>>>(arena + turn % slots * step, count, of);
    check_launch("increment");
  };
  const double warps = static_cast<double>(count) / warp;
  const double sectors = static_cast<double>(sectors_of_a_warp(of));
  row line{.name = size + ": " + of.name,
           .time = clock.in_stream(work, how.repeats),
           .bytes = 2 * sizeof(float) * elements_taking_part(count, of)};
  line.values = {{"sectors per warp", sectors, ""},
                 {"in sectors", warps * sectors * sector_bytes * 2 / line.time.median() * 1e-9, "GB/s"}};
  return line;
}

template <class Word>
__device__ void count_up(Word& word) {
  word = static_cast<Word>(word + 1);
}
__device__ void count_up(uint4& word) { word.x += 1; }
std::uint64_t counted(const uint4& word) { return word.x; }
template <class Word>
std::uint64_t counted(const Word& word) {
  return word;
}

template <class Word>
__global__ void increment_words(Word* data, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x;
  if (i < count) count_up(data[i]);
}

template <class Word>
row time_words(const gpu_clock& clock, const setting& how, const std::string& size, std::uint64_t count, float* arena,
               std::uint64_t arena_floats) {
  const std::string name = size + ": words of " + std::to_string(sizeof(Word)) + (sizeof(Word) == 1 ? " byte" : " bytes");
  auto* const data = reinterpret_cast<Word*>(arena);
  const std::uint64_t verified = std::min(count, verified_count);
  check(cudaMemsetAsync(data, 0, verified * sizeof(Word), stream_of(clock)), "cudaMemsetAsync");
  increment_words<Word><<<blocks_for(verified, block), block, 0, stream_of(clock)>>>(data, verified);
  check_launch("increment_words");
  const std::vector<Word> got = copy_out(clock, data, verified);
  std::vector<std::uint64_t> numbers(got.size());
  std::ranges::transform(got, numbers.begin(), [](const Word& word) { return counted(word); });
  verify<std::uint64_t>(name, numbers, [](std::size_t) { return std::uint64_t{1}; });
  const std::uint64_t step = (count + 511) / 512 * 512;
  const std::uint64_t slots = std::max<std::uint64_t>(arena_floats * sizeof(float) / sizeof(Word) / step, 1);
  const auto work = [&](std::size_t turn) {
    increment_words<Word><<<blocks_for(count, block), block, 0, stream_of(clock)>>>(data + turn % slots * step, count);
    check_launch("increment_words");
  };
  row line{.name = name, .time = clock.in_stream(work, how.repeats), .bytes = 2 * sizeof(Word) * count};
  line.values = {{"sectors per warp", static_cast<double>(warp * sizeof(Word) / sector_bytes), ""}};
  return line;
}

// --- threads that read the same address ------------------------------------------------------------------------------------------------

constexpr unsigned all_threads = 0;  // as `together`: how many threads that follow each other read the first one's float

// What of a thread's number is left as the place that it reads. A mask and no division, which would take longer than reading.
constexpr std::uint64_t kept_of_number(unsigned together) { return together == all_threads ? 0 : ~std::uint64_t{together - 1}; }

// Counts the threads that meet `wanted`, which none does where this is timed: so the loads stay and nothing is written.
__global__ void read_shared(const float* data, std::uint64_t count, std::uint64_t kept, float wanted, unsigned* met) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x;
  if (i < count && data[i & kept] == wanted) atomicAdd(met, 1u);
}

constexpr unsigned different_contents = 1021;  // a prime number: a power of two steps through all of them

__global__ void fill_for_reading(float* data, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x; i < count; i += threads)
    data[i] = static_cast<float>(i % different_contents);
}

// Of `count` threads, those that meet `wanted`.
std::uint64_t expected_to_meet(std::uint64_t count, unsigned together, unsigned wanted) {
  if (together == all_threads) return wanted == 0 ? count : 0;
  const std::uint64_t groups = count / together;
  std::uint64_t first = 0;
  while (first * together % different_contents != wanted) ++first;
  return groups > first ? ((groups - 1 - first) / different_contents + 1) * together : 0;
}

// Only the first of the arrays has contents to be checked; none has the -1 that is looked for where this is timed.
row time_shared(const gpu_clock& clock, const setting& how, const std::string& size, std::uint64_t count, unsigned together,
                bool in_cache, float* arena, std::uint64_t arena_floats) {
  const std::string name = size + ", read only: " +
                           (together == all_threads ? "all warps the same"
                            : together == 1         ? "each its own"
                            : together == 2         ? "pairs the same"
                            : together == warp      ? "a warp the same"
                                                    : std::to_string(together) + " the same");
  const device_array<unsigned> met(1);
  const auto read = [&](const float* data, float wanted) {
    read_shared<<<blocks_for(count, block), block, 0, stream_of(clock)>>>(data, count, kept_of_number(together), wanted,
                                                                          met.data());
    check_launch("read_shared");
  };
  fill_for_reading<<<static_cast<unsigned>(clock.multiprocessors()) * 8, block, 0, stream_of(clock)>>>(arena, count);
  check_launch("fill_for_reading");
  for (const unsigned wanted : {0u, 17u, different_contents - 1}) {
    check(cudaMemsetAsync(met.data(), 0, sizeof(unsigned), stream_of(clock)), "cudaMemsetAsync");
    read(arena, static_cast<float>(wanted));
    verify<unsigned>(name, copy_out(clock, met.data(), 1), [&](std::size_t) { return expected_to_meet(count, together, wanted); });
  }
  const std::uint64_t step = (count + 511) / 512 * 512;
  const std::uint64_t slots = in_cache ? 1 : std::max<std::uint64_t>(arena_floats / step, 1);
  row line{.name = name,
           .time = clock.in_stream([&](std::size_t turn) { read(arena + turn % slots * step, -1); }, how.repeats),
           .bytes = together == all_threads ? 0 : count / together * sizeof(float)};
  std::set<std::uint64_t> sectors;
  for (std::uint64_t i = 0; i < warp; ++i) sectors.insert((i & kept_of_number(together)) * sizeof(float) / sector_bytes);
  line.values = {{"sectors per warp", static_cast<double>(sectors.size()), ""}};
  return line;
}

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  const std::uint64_t of_lecture = how.small ? 3 << 10 : 3 << 20;  // 12 K blocks of 256
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  std::uint64_t large = how.small ? 1 << 12 : std::uint64_t{1} << 26;
  while (large * widest_stride * sizeof(float) > free_bytes / 2 && large > of_lecture) large /= 2;

  const std::uint64_t arena_floats = std::max(cold_bytes(clock, how) / sizeof(float), large * widest_stride + widest_offset + 512);
  const device_array<float> arena(arena_floats);
  check(cudaMemsetAsync(arena.data(), 0, arena_floats * sizeof(float), stream_of(clock)), "cudaMemsetAsync");

  struct size {
    std::string name;
    std::uint64_t count;
    bool in_cache;
  };
  const std::vector<size> sizes{{"3M floats", of_lecture, false},
                                {"3M floats in the cache", of_lecture, true},
                                {std::to_string(large >> 20) + "M floats", large, false}};
  std::vector<row> rows;
  for (const size& one : sizes)
    for (const pattern& of : patterns)
      // Strided by 4 and more the lecture's floats span more than any second-level cache.
      if (!one.in_cache || of.stride <= 2)
        rows.push_back(time_pattern(clock, how, one.name, one.count, of, one.in_cache, arena.data(), arena_floats));
  for (const size& one : sizes)
    for (const unsigned together : {1u, 2u, 4u, 8u, warp, all_threads})
      rows.push_back(time_shared(clock, how, one.name, one.count, together, one.in_cache, arena.data(), arena_floats));
  for (const auto& [name, count] :
       {std::pair<std::string, std::uint64_t>{"3M", of_lecture}, {std::to_string(large >> 20) + "M", large}}) {
    rows.push_back(time_words<unsigned char>(clock, how, name, count, arena.data(), arena_floats));
    rows.push_back(time_words<unsigned short>(clock, how, name, count, arena.data(), arena_floats));
    rows.push_back(time_words<unsigned>(clock, how, name, count, arena.data(), arena_floats));
    rows.push_back(time_words<unsigned long long>(clock, how, name, count, arena.data(), arena_floats));
    rows.push_back(time_words<uint4>(clock, how, name, count, arena.data(), arena_floats));
  }
  return rows;
}

#endif

// One thread of a CPU. Each call takes the next part of a long array, so that its cache lines come from memory.
std::vector<row> on_cpu(const setting& how) {
  constexpr std::size_t line_bytes = 64;
  const std::size_t count = how.small ? 1 << 10 : 1 << 20;
  const std::size_t floats = count * widest_stride;
  std::vector<float> data(floats, 0.0f);
  const auto increment_part = [&](std::size_t turn, unsigned stride) {
    float* const part = data.data() + turn % (widest_stride / stride) * (count * stride);
    for (std::size_t i = 0; i < count; ++i) part[i * stride] += 1.0f;
  };
  std::vector<row> rows;
  for (const pattern& of : patterns) {
    if (of.permuted || of.some_idle || of.offset > 0) continue;  // questions to a warp
    std::ranges::fill(data, 0.0f);
    increment_part(0, of.stride);
    verify<float>(of.name, data, [&](std::size_t i) { return i < count * of.stride && i % of.stride == 0 ? 1.0f : 0.0f; });
    row line{.name = std::to_string(count) + " floats: " + (of.stride == 1 ? "one behind the other" : of.name),
             .time = time_on_cpu([&](std::size_t turn) { increment_part(turn, of.stride); }, how.repeats),
             .bytes = 2 * sizeof(float) * count};
    const double lines =
        static_cast<double>(count) * std::min<double>(of.stride * sizeof(float) / static_cast<double>(line_bytes), 1);
    line.values = {{"in cache lines of 64 bytes", lines * line_bytes * 2 / line.time.median() * 1e-9, "GB/s"},
                   {"per float", line.time.median() * 1e9 / static_cast<double>(count), "ns"}};
    rows.push_back(std::move(line));
  }
  return rows;
}

}  // namespace

extern const study coalescing;
const study coalescing{
    .name = "coalescing",
    .title = "read, increment and write floats: what does it cost where the 32 floats of a warp lie?",
    .lecture =
        "3M floats on a G80: 356 us coalesced, 357 us with some threads idle, 3494 us permuted or misaligned. From compute "
        "capability 1.2 on a transaction for any pattern, multiple threads of the same address included.",
    .lesson =
        "Memory is moved in sectors of 32 bytes. Whatever order a warp's lanes have inside its sectors costs nothing, and "
        "neither do idle lanes, but they gain nothing either. A warp that begins off its sectors or lines asks for more than "
        "it needs, which its neighbour needs too: where a cache keeps it, that costs little. Lanes that read the same address "
        "are served together, as the lecture says of its later GPUs: that costs nothing, and gains nothing. "
        "Strides are what is left of the lecture's warning: with 8 floats from one to the next seven eighths "
        "of what is moved is thrown away, and with more it can be worse still. A CPU moves lines of 64 bytes, so its waste "
        "grows up to a stride of 16.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
    .on_cpu = on_cpu,
};

}  // namespace onefold::perf::memory
