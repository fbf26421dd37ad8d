/// @file latency.cu  How long a load takes, and how many warps hide that.
///
/// First a chase: each node of a ring holds the address of the next, so that no load can begin before the one ahead of it has
/// ended.
///
///     node ---> node ---> node ---> ..        one thread; the time of many steps, over their number
///
/// Nodes are a cache line each and follow each other in no order, so that none comes along with another. How large the ring is, and
/// whether loads may stop at the first-level cache, decides where the nodes are found.
///
/// Then the lecture's question. A block of 1 to 32 warps, each on its own way through the ring, with four multiply-adds behind each
/// load:
///
///     warp 0    load . . . . . . . . . load fma fma fma fma . . . . . load fma ..
///     warp 4      load . . . . . . . . .    ..        load fma fma fma fma . . ..     warps of one scheduler take turns
///
/// The next load does not wait for the multiply-adds, so a warp by itself needs the latency of one load for its five instructions.
/// A multiprocessor of today has four schedulers, which issue one instruction a cycle each. Of w warps at a scheduler it is
/// predicted that they use min(1, 5 w / latency) of its cycles. G80 took four cycles for an instruction, and by the same rule
/// 200 / (4 x 4) warps, which is 13, for a latency of 200 cycles.
///
/// What is added is the upper half of the address, as a float: some 1e-41, which times 2^126 is exact. So the chase has nothing but
/// addresses to load.
#include "study.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

#ifdef __CUDACC__

constexpr unsigned warp = 32;
constexpr unsigned most_warps = 32;
constexpr unsigned schedulers = 4;  // of a multiprocessor, from compute capability 7.0 on
constexpr int arithmetic = 4;       // instructions for each load: the lecture's
constexpr unsigned node_bytes = 128;
constexpr unsigned unrolled = 16;  // steps in a turn of the loop, whose own instructions then hardly count
constexpr float factor = 0x1p126f;

// A ring of 2^log_nodes nodes. Node number x is followed by number next_of(x): a linear congruence of full period, whose steps from
// 0, 1/32, 2/32, .. of all numbers are as far apart in the ring. Number x lies at place_of(x), which is one to one.
__host__ __device__ inline unsigned next_of(unsigned x, unsigned log_nodes) {
  return (x * 1664525u + 1013904223u) & ((1u << log_nodes) - 1);
}
__host__ __device__ inline unsigned place_of(unsigned x, unsigned log_nodes) {
  const unsigned mask = (1u << log_nodes) - 1;
  unsigned place = x * 0x9e3779b1u & mask;
  place ^= place >> (log_nodes / 2);
  place = place * 0x85ebca6bu & mask;
  return place ^ place >> (log_nodes / 2 + 1);
}

__global__ void build(unsigned char* memory, unsigned log_nodes) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned x = blockIdx.x * blockDim.x + threadIdx.x; x < 1u << log_nodes; x += threads) {
    const std::uint64_t next = std::uint64_t{place_of(next_of(x, log_nodes), log_nodes)} * node_bytes;
    *reinterpret_cast<std::uint64_t*>(memory + std::uint64_t{place_of(x, log_nodes)} * node_bytes) =
        reinterpret_cast<std::uint64_t>(memory) + next;
  }
}

// Where a load may find what it asks for first.
enum class begin_at { first_level, second_level };

template <begin_at Where>
__device__ std::uint64_t load(std::uint64_t address) {
  std::uint64_t word;
  if constexpr (Where == begin_at::first_level)
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(word) : "l"(address));
  else
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(word) : "l"(address));
  return word;
}

// One block. Each warp goes on from places[its number] and leaves there where it has come to; all its lanes ask for the same.
// `warm_up` steps are not counted. sums has what the multiply-adds of each thread came to.
template <begin_at Where, int Arithmetic>
__global__ void __launch_bounds__(most_warps* warp)
    chase(std::uint64_t* places, unsigned warm_up, unsigned turns, float scale, float* sums, std::uint64_t* cycles) {
  std::uint64_t at = places[threadIdx.x / warp];
  float sum[arithmetic];
#pragma unroll
  for (int k = 0; k < arithmetic; ++k) sum[k] = static_cast<float>(k) * 0x1p-8f;
#pragma unroll 1
  for (unsigned step = 0; step < warm_up; ++step) at = load<Where>(at);
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn)
#pragma unroll
    for (unsigned step = 0; step < unrolled; ++step) {
      at = load<Where>(at);
      const float number = __uint_as_float(static_cast<unsigned>(at >> 32));
#pragma unroll
      for (int k = 0; k < Arithmetic; ++k) sum[k] = fmaf(number, scale, -sum[k]);
    }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x % warp == 0) places[threadIdx.x / warp] = at;
  sums[threadIdx.x] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  if (threadIdx.x == 0) *cycles = static_cast<std::uint64_t>(end - begin);
}

// The same of one thread, in shared memory, whose nodes are its words.
constexpr unsigned log_shared_nodes = 10;
__global__ void chase_shared(unsigned warm_up, unsigned turns, unsigned* last, std::uint64_t* cycles) {
  __shared__ unsigned memory[1u << log_shared_nodes];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(memory));
#pragma unroll 1
  for (unsigned x = 0; x < 1u << log_shared_nodes; ++x)
    memory[place_of(x, log_shared_nodes)] = base + place_of(next_of(x, log_shared_nodes), log_shared_nodes) * 4;
  __syncthreads();
  unsigned at = base + place_of(0, log_shared_nodes) * 4;
  const auto follow = [&at] { asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(at)); };
#pragma unroll 1
  for (unsigned step = 0; step < warm_up; ++step) follow();
  const long long begin = clock64();
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn)
#pragma unroll
    for (unsigned step = 0; step < unrolled; ++step) follow();
  __syncthreads();
  const long long end = clock64();
  *last = (at - base) / 4;
  *cycles = static_cast<std::uint64_t>(end - begin);
}

unsigned node_after(unsigned x, std::uint64_t steps, unsigned log_nodes) {
  for (std::uint64_t step = 0; step < steps; ++step) x = next_of(x, log_nodes);
  return x;
}

// A ring in device memory, and what is needed to walk through it.
class ring {
 public:
  // `turns` for one thread, and of a block's warps.
  ring(const gpu_clock& clock, std::string name, begin_at where, unsigned log_nodes, unsigned turns, unsigned turns_of_block,
       std::uint64_t flushed_bytes)
      : clock_(clock),
        name_(std::move(name)),
        where_(where),
        log_nodes_(log_nodes),
        turns_(turns),
        turns_of_block_(turns_of_block),
        memory_(std::uint64_t{node_bytes} << log_nodes),
        elsewhere_(flushed_bytes),
        places_(most_warps),
        sums_(most_warps * warp),
        cycles_(1) {
    build<<<static_cast<unsigned>(clock.multiprocessors()) * 4, 256, 0, stream_of(clock)>>>(memory_.data(), log_nodes);
    check_launch("build");
  }

  // One load after the other.
  row time_alone(const setting& how, double shared_cycles) {
    row line = time<0>(how, "one load after the other: " + name_, 1, turns_);
    latency_ = cycles_per_load();
    const double steps = static_cast<double>(std::uint64_t{turns_} * unrolled + warm_up());
    line.values = {{"latency", latency_, "cycles"},
                   {"latency", line.time.median() / steps * 1e9, "ns"},
                   {"times shared memory", latency_ / shared_cycles, ""},
                   {"warps that hide it, by the lecture's rule", latency_ / arithmetic * schedulers, ""}};
    return line;
  }

  // `warps` of one block, with multiply-adds behind the loads.
  row time_block(const setting& how, unsigned warps) {
    row line = time<arithmetic>(how, name_ + ": " + std::to_string(warps) + (warps == 1 ? " warp" : " warps"), warps * warp,
                                turns_of_block_);
    line.operations = std::uint64_t{2 * arithmetic} * warps * warp * turns_of_block_ * unrolled;  // a multiply-add is two
    const double measured = cycles_per_load();
    constexpr double slots = arithmetic + 1;  // the load takes one too
    double predicted = 0;
    for (unsigned scheduler = 0; scheduler < schedulers; ++scheduler) {
      const unsigned of_it = warps / schedulers + (scheduler < warps % schedulers ? 1 : 0);
      predicted += std::min(1.0, slots * of_it / latency_) / schedulers;
    }
    line.values = {{"per load of a warp", measured, "cycles"},
                   {"issue slots used", slots * warps / (measured * schedulers) * 100, "%"},
                   {"issue slots used, predicted", predicted * 100, "%"}};
    return line;
  }

 private:
  // The first-level cache knows nothing when a kernel begins: each warp walks once around the ring first.
  [[nodiscard]] unsigned warm_up() const { return where_ == begin_at::first_level ? 1u << log_nodes_ : 0; }

  [[nodiscard]] double cycles_per_load() const { return cycles_ran_ / (static_cast<double>(turns_ran_) * unrolled); }

  template <int Arithmetic>
  row time(const setting& how, const std::string& name, unsigned threads, unsigned turns) {
    const unsigned warps = blocks_for(threads, warp);
    const std::uint64_t steps = std::uint64_t{turns} * unrolled;
    const auto base = reinterpret_cast<std::uint64_t>(memory_.data());
    const auto address_of = [&](unsigned x) { return base + std::uint64_t{place_of(x, log_nodes_)} * node_bytes; };
    std::vector<unsigned> at(warps);
    std::vector<std::uint64_t> addresses(warps);
    for (unsigned of = 0; of < warps; ++of) {
      at[of] = (of << log_nodes_) / most_warps;
      addresses[of] = address_of(at[of]);
    }
    copy_in<std::uint64_t>(clock_, places_.data(), addresses);
    const auto kernel =
        where_ == begin_at::first_level ? chase<begin_at::first_level, Arithmetic> : chase<begin_at::second_level, Arithmetic>;
    const auto work = [&](std::size_t) {
      kernel<<<1, threads, 0, stream_of(clock_)>>>(places_.data(), warm_up(), turns, factor, sums_.data(), cycles_.data());
      check_launch("chase");
    };

    work(0);
    std::vector<float> expected(warps);
    for (unsigned of = 0; of < warps; ++of) {
      at[of] = node_after(at[of], warm_up(), log_nodes_);
      float sum[arithmetic];
      for (int k = 0; k < arithmetic; ++k) sum[k] = static_cast<float>(k) * 0x1p-8f;
      for (std::uint64_t step = 0; step < steps; ++step) {
        at[of] = next_of(at[of], log_nodes_);
        const float number = std::bit_cast<float>(static_cast<unsigned>(address_of(at[of]) >> 32)) * factor;
        for (int k = 0; k < Arithmetic; ++k) sum[k] = number - sum[k];
      }
      expected[of] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    verify<std::uint64_t>(name + ", where it ended,", copy_out(clock_, places_.data(), warps),
                          [&](std::size_t i) { return address_of(at[i]); });
    verify<float>(name + ", what was added,", copy_out(clock_, sums_.data(), threads),
                  [&](std::size_t i) { return expected[i / warp]; });

    // What building and earlier walks have left in the second-level cache gives way to something else. From here on each call
    // goes on where the one before has ended.
    check(cudaMemsetAsync(elsewhere_.data(), 0, elsewhere_.count(), stream_of(clock_)), "cudaMemsetAsync");
    row line{.name = name, .time = clock_.in_stream(work, how.repeats)};
    cycles_ran_ = static_cast<double>(copy_out(clock_, cycles_.data(), 1).front());
    turns_ran_ = turns;
    return line;
  }

  const gpu_clock& clock_;
  std::string name_;
  begin_at where_;
  unsigned log_nodes_;
  unsigned turns_;
  unsigned turns_of_block_;
  device_array<unsigned char> memory_;
  device_array<unsigned char> elsewhere_;
  device_array<std::uint64_t> places_;
  device_array<float> sums_;
  device_array<std::uint64_t> cycles_;
  double cycles_ran_ = 0;
  unsigned turns_ran_ = 1;
  double latency_ = 1;
};

row time_shared(const gpu_clock& clock, const setting& how) {
  const std::string name = "one load after the other: shared memory";
  const unsigned turns = how.small ? 16 : 1 << 13;
  const unsigned warm_up = 1u << log_shared_nodes;
  const device_array<unsigned> last(1);
  const device_array<std::uint64_t> cycles(1);
  const auto work = [&](std::size_t) {
    chase_shared<<<1, 1, 0, stream_of(clock)>>>(warm_up, turns, last.data(), cycles.data());
    check_launch("chase_shared");
  };
  work(0);
  verify<unsigned>(name, copy_out(clock, last.data(), 1), [&](std::size_t) {
    return place_of(node_after(0, warm_up + std::uint64_t{turns} * unrolled, log_shared_nodes), log_shared_nodes);
  });
  row line{.name = name, .time = clock.in_stream(work, how.repeats)};
  const double latency = static_cast<double>(copy_out(clock, cycles.data(), 1).front()) / (static_cast<double>(turns) * unrolled);
  line.values = {{"latency", latency, "cycles"},
                 {"latency", line.time.median() / (static_cast<double>(turns) * unrolled + warm_up) * 1e9, "ns"},
                 {"times shared memory", 1, ""},
                 {"warps that hide it, by the lecture's rule", latency / arithmetic * schedulers, ""}};
  return line;
}

unsigned log_nodes_of(std::uint64_t bytes) { return static_cast<unsigned>(std::bit_width(std::bit_ceil(bytes / node_bytes)) - 1); }

std::string size_text(unsigned log_nodes) {
  const std::uint64_t bytes = std::uint64_t{node_bytes} << log_nodes;
  return bytes >> 30 != 0   ? std::to_string(bytes >> 30) + " GiB"
         : bytes >> 20 != 0 ? std::to_string(bytes >> 20) + " MiB"
                            : std::to_string(bytes >> 10) + " KiB";
}

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  const auto second_level = static_cast<std::uint64_t>(attribute(clock, cudaDevAttrL2CacheSize));
  // Of a cache, a part that fits and is more than a few lines. Memory once a little larger than what the second level keeps, and once so
  // large that the tables of addresses do not fit into their caches either.
  const std::uint64_t flushed = how.small ? 1 << 16 : 4 * second_level;
  const unsigned first_ring = log_nodes_of(16 << 10);
  const unsigned second_ring = log_nodes_of(how.small ? 1 << 16 : 2 << 20);
  const unsigned near_ring = log_nodes_of(how.small ? 1 << 18 : 4 * second_level);
  const unsigned far_ring = log_nodes_of(cold_bytes(clock, how));
  const auto turns = [&](unsigned steps) { return how.small ? 4 : steps / unrolled; };

  std::vector<row> rows;
  rows.push_back(time_shared(clock, how));
  const double shared_cycles = rows.front().values.front().number;
  ring first(clock, "first-level cache, " + size_text(first_ring), begin_at::first_level, first_ring, turns(1 << 17),
             turns(1 << 14), 1);
  ring second(clock, "second-level cache, " + size_text(second_ring), begin_at::second_level, second_ring, turns(1 << 14),
              turns(1 << 12), 1);
  ring far(clock, "device memory, " + size_text(far_ring), begin_at::second_level, far_ring, turns(1 << 12), turns(1 << 10),
           flushed);
  rows.push_back(first.time_alone(how, shared_cycles));
  rows.push_back(second.time_alone(how, shared_cycles));
  {
    ring near(clock, "device memory, " + size_text(near_ring), begin_at::second_level, near_ring, turns(1 << 12), turns(1 << 10),
              flushed);
    rows.push_back(near.time_alone(how, shared_cycles));
  }
  rows.push_back(far.time_alone(how, shared_cycles));
  for (ring* const one : {&first, &second, &far})
    for (const unsigned warps : {1u, 2u, 4u, 8u, 12u, 13u, 14u, 16u, 24u, 32u}) rows.push_back(one->time_block(how, warps));
  return rows;
}

#endif

}  // namespace

extern const study latency;
const study latency{
    .name = "latency",
    .title = "how long does a load take, and how many warps hide it?",
    .lecture =
        "Global memory: 400 to 600 cycles; shared memory is about a hundred or hundreds of times faster. An instruction takes "
        "a multiprocessor 4 cycles for all threads of a warp; with a load for every 4 instructions 13 warps hide a latency of "
        "200 cycles.",
    .lesson =
        "A load from memory still takes hundreds of cycles, and one from shared memory tens: of latency that is one order of "
        "magnitude and not two, and the caches stand between them. The lecture's rule for the warps still holds, its number "
        "does not. A multiprocessor now issues four instructions a cycle where it took four cycles for one, so that the same "
        "latency wants 16 times as many warps: more than a multiprocessor holds. 13 warps leave most of the issue slots empty, "
        "and so do 32 but where the first-level cache answers. What hides latency today is warps, and several loads on their way "
        "in each of them, and more "
        "instructions for each load.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
};

}  // namespace onefold::perf::memory
