/// @file overlap.cu  Copies while a kernel runs: what two and four streams gain.
///
///     one stream      [  in  ][ work ][ out  ]
///
///     two streams     [in ][work][out ]
///                          [in ][work][out ]
///
///     four            [in][wk][out]
///                         [in][wk][out]
///                             [in][wk][out]
///                                 [in][wk][out]
///
/// The lecture: a copy from or to pinned memory in one stream and a kernel in another run at the same time (compute capability 1.1
/// and up). Today's GPUs copy in both directions at once too.
///
/// An array is copied to the device, worked on there, and copied back, in equal chunks that go to the streams in turn. The kernel
/// is given so many rounds that it takes about as long as the copy in. "Ideal" is what the stages alone allow: the first chunk goes
/// through all of them, and then the slowest sets the pace, max + (sum - max) / chunks. From pageable memory the driver copies by
/// itself, chunk by chunk, while the host waits: there the streams gain little, or lose.
///
/// The work on an element is x -> a * x + c modulo 2^32, some hundred times: the host knows the result of all rounds at once, as
/// one multiplication and one addition, and compares every element.
#include "study.hpp"

#ifdef __CUDACC__

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../data.hpp"
#include "device.cuh"
#include "pinned.cuh"

#endif

namespace onefold::perf::memory {

extern const study overlap;

namespace {

#ifdef __CUDACC__

/// x -> scale * x + shift modulo 2^32.
struct step {
  std::uint32_t scale;
  std::uint32_t shift;
  __host__ __device__ std::uint32_t operator()(std::uint32_t x) const { return scale * x + shift; }
};

constexpr step one_round{1664525u, 1013904223u};  // Knuth's generator; any odd scale would do

/// `rounds` times `one` as one step.
step repeated(step one, std::uint32_t rounds) {
  step all{1, 0};
  for (std::uint32_t k = 0; k < rounds; ++k) all = {one.scale * all.scale, one(all.shift)};
  return all;
}

// The step is an argument, so that the compiler cannot do several rounds as one.
__global__ void work(std::uint32_t* x, std::uint64_t count, step one, std::uint32_t rounds) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  std::uint32_t value = x[i];
  for (std::uint32_t k = 0; k < rounds; ++k) value = one(value);
  x[i] = value;
}

/// Streams that do not wait for the default stream.
class stream_set {
 public:
  explicit stream_set(std::size_t count) : streams_(count, nullptr) {
    for (cudaStream_t& stream : streams_)
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~stream_set() {
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  stream_set(const stream_set&) = delete;
  stream_set& operator=(const stream_set&) = delete;

  [[nodiscard]] cudaStream_t operator[](std::size_t turn) const { return streams_[turn % streams_.size()]; }
  void wait() const {
    for (cudaStream_t stream : streams_) check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

 private:
  std::vector<cudaStream_t> streams_;
};

/// The array at the host before and after, and on the device.
struct job {
  std::uint32_t* before;
  std::uint32_t* after;
  std::uint32_t* device;
  std::uint64_t count;
  std::uint32_t rounds;

  void copy_in(std::uint64_t begin, std::uint64_t size, cudaStream_t stream) const {
    check(cudaMemcpyAsync(device + begin, before + begin, size * sizeof(std::uint32_t), cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
  }
  void run(std::uint64_t begin, std::uint64_t size, cudaStream_t stream) const {
    constexpr unsigned threads = 256;
    work<<<blocks_for(size, threads), threads, 0, stream>>>(device + begin, size, one_round, rounds);
    check_launch("work");
  }
  void copy_out(std::uint64_t begin, std::uint64_t size, cudaStream_t stream) const {
    check(cudaMemcpyAsync(after + begin, device + begin, size * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
  }
  /// All three, of `chunks` chunks in turn on the streams. Does not wait, unless CUDA does.
  void enqueue(const stream_set& streams, std::uint64_t chunks) const {
    for (std::uint64_t k = 0; k < chunks; ++k) {
      const std::uint64_t begin = count * k / chunks;
      const std::uint64_t size = count * (k + 1) / chunks - begin;
      copy_in(begin, size, streams[k]);
      run(begin, size, streams[k]);
      copy_out(begin, size, streams[k]);
    }
  }
  [[nodiscard]] std::uint64_t bytes() const { return count * sizeof(std::uint32_t); }
};

/// What each stage takes alone.
struct stages {
  double in_s;
  double work_s;
  double out_s;
  [[nodiscard]] double ideal(double chunks, bool both_ways) const {
    // With one copy engine in and out are one stage that sets the pace.
    const double sum = in_s + work_s + out_s;
    const double slowest = both_ways ? std::max({in_s, work_s, out_s}) : std::max(in_s + out_s, work_s);
    return slowest + (sum - slowest) / chunks;
  }
};

void verify_job(const std::string& what, const job& of) {
  const step all = repeated(one_round, of.rounds);
  verify(what, std::span<const std::uint32_t>(of.after, of.count), [&](std::size_t i) { return all(of.before[i]); });
}

/// So many rounds that the kernel takes about `wanted_s`. Below some ten rounds memory sets its time; from there it is
/// proportional.
std::uint32_t rounds_that_take(double wanted_s, const gpu_clock& clock, job of) {
  const auto time = [&](std::uint32_t rounds) {
    of.rounds = rounds;
    return clock.in_stream([&](std::size_t) { of.run(0, of.count, stream_of(clock)); }, 3).median();
  };
  constexpr std::uint32_t few = 1024;
  constexpr std::uint32_t many = 3072;
  const double per_round_s = (time(many) - time(few)) / (many - few);
  if (per_round_s <= 0) return few;
  return static_cast<std::uint32_t>(std::clamp(wanted_s / per_round_s, 1.0, 1e6));
}

/// Rows of one kind of host memory: the stages alone, then together.
void add_rows(std::vector<row>& rows, const gpu_clock& clock, const setting& how, const job& of, const std::string& kind) {
  const bool both_ways = attribute(clock, cudaDevAttrAsyncEngineCount) >= 2;
  const cudaStream_t stream = stream_of(clock);
  const auto alone = [&](const char* what, std::uint64_t over_the_bus, auto enqueue) {
    const auto work = [&](std::size_t) {
      enqueue();
      wait_for(clock);
    };
    work(0);
    const auto begin = std::chrono::steady_clock::now();
    work(0);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rows.push_back({kind + ": " + what, clock.to_host(work, repeats_within_budget(seconds, how.repeats)), over_the_bus, 0, {}});
    return rows.back().time.median();
  };
  stages each{};
  // In this order the three are the job itself, and its result is checked as theirs.
  std::memset(of.after, 0, of.bytes());
  of.copy_in(0, of.count, stream);
  of.run(0, of.count, stream);
  of.copy_out(0, of.count, stream);
  wait_for(clock);
  verify_job(kind + ", the stages alone", of);
  each.in_s = alone("copy in alone", of.bytes(), [&] { of.copy_in(0, of.count, stream); });
  each.work_s = alone("kernel alone", 0, [&] { of.run(0, of.count, stream); });
  each.out_s = alone("copy out alone", of.bytes(), [&] { of.copy_out(0, of.count, stream); });

  struct plan {
    std::size_t streams;
    std::uint64_t chunks;
  };
  for (const plan& now : {plan{1, 1}, plan{2, 2}, plan{4, 4}, plan{4, 16}, plan{4, 64}}) {
    const stream_set streams(now.streams);
    const std::string name = kind + ": " + std::to_string(now.streams) + (now.streams == 1 ? " stream, " : " streams, ") +
                             std::to_string(now.chunks) + (now.chunks == 1 ? " chunk" : " chunks");
    std::memset(of.after, 0, of.bytes());
    check(cudaMemset(of.device, 0, of.bytes()), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // the streams do not wait for it
    of.enqueue(streams, now.chunks);
    streams.wait();
    verify_job(name, of);

    std::vector<double> until_back_s;
    const samples time = clock.to_host(
        [&](std::size_t) {
          const auto begin = std::chrono::steady_clock::now();
          of.enqueue(streams, now.chunks);
          until_back_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
          streams.wait();
        },
        repeats_within_budget(each.in_s + each.work_s + each.out_s, how.repeats));
    std::sort(until_back_s.begin(), until_back_s.end());
    const double ideal_s = each.ideal(static_cast<double>(now.chunks), both_ways);
    rows.push_back({name,
                    time,
                    2 * of.bytes(),
                    0,
                    {{"ideal", ideal_s * 1e6, "us"},
                     {"of the ideal speed", 100 * ideal_s / time.median(), "%"},
                     {"the host is free after", samples{until_back_s}.median() * 1e6, "us"}}});
  }
}

std::vector<row> run_on_gpu(const gpu_clock& clock, const setting& how) {
  const std::uint64_t count = (std::uint64_t{how.small ? 1u : how.quick ? 64u : 256u} << 20) / sizeof(std::uint32_t);
  const device_array<std::uint32_t> device(count);
  const pinned_array<std::uint32_t> before(count);
  const pinned_array<std::uint32_t> after(count);
  for (std::uint64_t i = 0; i < count; ++i) before.data()[i] = static_cast<std::uint32_t>(mixed(i));
  job of{before.data(), after.data(), device.data(), count, 0};

  check(cudaMemset(device.data(), 0, of.bytes()), "cudaMemset");
  const double copy_s = clock.in_stream([&](std::size_t) { of.copy_in(0, count, stream_of(clock)); }, 3).median();
  of.rounds = rounds_that_take(copy_s, clock, of);

  std::vector<row> rows;
  add_rows(rows, clock, how, of, "pinned");
  const std::unique_ptr<std::uint32_t[]> pageable_before(new std::uint32_t[count]);
  const std::unique_ptr<std::uint32_t[]> pageable_after(new std::uint32_t[count]);
  std::copy_n(before.data(), count, pageable_before.get());
  of.before = pageable_before.get();
  of.after = pageable_after.get();
  add_rows(rows, clock, how, of, "pageable");
  return rows;
}

#endif

}  // namespace

const study overlap = {
    .name = "overlap",
    .title = "What is gained where copies run beside the kernel?",
    .lecture =
        "Two streams: a copy in one runs beside a kernel in the other, from and to pinned memory (compute capability 1.1 and up). "
        "No figures.",
    .lesson =
        "With one stream the time is the sum of copy in, work and copy out. Cut in chunks over several streams they run side by "
        "side, and the slowest sets the pace: the more chunks, the nearer, until each chunk is so small that its calls cost more "
        "than they gain. From pageable memory the host waits for the driver's own copies: streams alone give little there, or "
        "even cost time. Where the copies are slower than the kernel no overlap hides them; leaving the data on the device does.",
#ifdef __CUDACC__
    .on_gpu = run_on_gpu,
#endif
};

}  // namespace onefold::perf::memory
