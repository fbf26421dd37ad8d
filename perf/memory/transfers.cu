/// @file transfers.cu  What it takes to bring data to the GPU and back.
///
///     pageable:   your memory -> the driver copies -> a pinned buffer of its own -> the bus -> device memory
///     pinned:     your memory (which the system may not move) ---------------------> the bus -> device memory
///
/// The lecture: device memory is far faster than the bus (141 against 8 GB/s); pinned memory gives the highest bandwidth; one large
/// transfer is much better than many small ones; "use with caution".
///
/// To see: below some 100 KiB only the number of calls counts, above 10 MiB only the bytes; what pinned memory is worth; and how
/// far even the best bus is from the device's own memory. Times are on the host's clock, from the call of cudaMemcpy until the
/// bytes are there. "In stream" is what a pinned copy takes of a stream's time, between events, with nobody waiting.
///
/// Copies inside the device are in stream; their bytes are read and written, and count twice. Up to a few ten MiB they stay in the
/// GPU's cache.
#include "study.hpp"

#ifdef __CUDACC__

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../data.hpp"
#include "device.cuh"
#include "pinned.cuh"

#endif

namespace onefold::perf::memory {

extern const study transfers;

namespace {

#ifdef __CUDACC__

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

using word = std::uint64_t;

/// Word i of the contents number `salt`: another one for each check, so that nothing left over from the check before can pass.
__host__ __device__ word word_at(std::uint64_t i, std::uint64_t salt) { return mixed(i + (salt << 40)); }

__global__ void write_words(word* words, std::uint64_t count, std::uint64_t salt) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) words[i] = word_at(i, salt);
}

__global__ void count_wrong_words(const word* words, std::uint64_t count, std::uint64_t salt, unsigned long long* wrong) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    if (words[i] != word_at(i, salt)) atomicAdd(wrong, 1ull);
}

void write_on_host(word* words, std::uint64_t count, std::uint64_t salt) {
  for (std::uint64_t i = 0; i < count; ++i) words[i] = word_at(i, salt);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= gib) return std::to_string(bytes / gib) + " GiB";
  return bytes >= mib ? std::to_string(bytes / mib) + " MiB" : std::to_string(bytes / kib) + " KiB";
}

/// Both ends of the copies, each made once and as large as the largest.
class ends {
 public:
  ends(const gpu_clock& clock, std::uint64_t bytes)
      : clock_(clock), device_(bytes / sizeof(word)), other_(bytes / sizeof(word)), pinned_(bytes / sizeof(word)), wrong_(1) {
    pageable_.reset(new word[bytes / sizeof(word)]);
    write_on_host(pageable_.get(), bytes / sizeof(word), 0);  // touched, so that the pages are there
  }

  [[nodiscard]] word* device() const { return device_.data(); }
  [[nodiscard]] word* other() const { return other_.data(); }
  [[nodiscard]] word* pinned() const { return pinned_.data(); }
  [[nodiscard]] word* pageable() const { return pageable_.get(); }

  /// Throws std::runtime_error where `copy`, from host memory at `host` to device(), does not bring every word.
  template <class Copy>
  void check_to_device(const std::string& what, word* host, std::uint64_t bytes, Copy copy) {
    const std::uint64_t salt = ++salt_;
    write_on_host(host, bytes / sizeof(word), salt);
    spoil(device(), bytes);
    copy();
    wait_for(clock_);
    demand(what, device(), bytes, salt);
  }
  /// As above, of a copy from device() to the host.
  template <class Copy>
  void check_to_host(const std::string& what, word* host, std::uint64_t bytes, Copy copy) {
    const std::uint64_t salt = ++salt_;
    write(device(), bytes, salt);
    std::memset(host, 0xa5, bytes);
    copy();
    wait_for(clock_);
    for (std::uint64_t i = 0; i < bytes / sizeof(word); ++i)
      if (host[i] != word_at(i, salt)) throw std::runtime_error(what + " is wrong at byte " + std::to_string(i * sizeof(word)));
  }
  /// As above, of a copy from device() to other().
  template <class Copy>
  void check_inside(const std::string& what, std::uint64_t bytes, Copy copy) {
    const std::uint64_t salt = ++salt_;
    write(device(), bytes, salt);
    spoil(other(), bytes);
    copy();
    wait_for(clock_);
    demand(what, other(), bytes, salt);
  }

 private:
  void write(word* words, std::uint64_t bytes, std::uint64_t salt) {
    write_words<<<grid(), threads, 0, stream_of(clock_)>>>(words, bytes / sizeof(word), salt);
    check_launch("write_words");
    wait_for(clock_);
  }
  void spoil(word* words, std::uint64_t bytes) {
    check(cudaMemsetAsync(words, 0xa5, bytes, stream_of(clock_)), "cudaMemsetAsync");
    wait_for(clock_);
  }
  void demand(const std::string& what, const word* words, std::uint64_t bytes, std::uint64_t salt) {
    check(cudaMemsetAsync(wrong_.data(), 0, sizeof(unsigned long long), stream_of(clock_)), "cudaMemsetAsync");
    count_wrong_words<<<grid(), threads, 0, stream_of(clock_)>>>(words, bytes / sizeof(word), salt, wrong_.data());
    check_launch("count_wrong_words");
    const auto wrong = copy_out(clock_, wrong_.data(), 1).front();
    if (wrong != 0)
      throw std::runtime_error(what + " is wrong: " + std::to_string(wrong) + " of " + std::to_string(bytes / sizeof(word)) +
                               " words are others");
  }
  [[nodiscard]] unsigned grid() const { return static_cast<unsigned>(clock_.multiprocessors()) * 4; }

  static constexpr unsigned threads = 512;
  const gpu_clock& clock_;
  device_array<word> device_;
  device_array<word> other_;
  pinned_array<word> pinned_;
  std::unique_ptr<word[]> pageable_;
  device_array<unsigned long long> wrong_;
  std::uint64_t salt_ = 0;
};

/// Time of `work` on the host's clock.
template <class Work>
samples on_host(const gpu_clock& clock, const setting& how, Work work) {
  work();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return clock.to_host([&](std::size_t) { work(); }, repeats_within_budget(seconds, how.repeats));
}

/// One size, both ways, from pageable and from pinned memory, and inside the device.
void add_size(std::vector<row>& rows, const gpu_clock& clock, const setting& how, ends& of, std::uint64_t bytes) {
  struct side {
    const char* name;
    word* host;
    bool pinned;
  };
  const cudaStream_t stream = stream_of(clock);
  for (const side& from : {side{"pageable", of.pageable(), false}, side{"pinned", of.pinned(), true}}) {
    for (const cudaMemcpyKind way : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost}) {
      const bool in = way == cudaMemcpyHostToDevice;
      const std::string name = size_text(bytes) + (in ? " to the device, " : " to the host, ") + from.name;
      void* const to = in ? of.device() : from.host;
      const void* const what = in ? from.host : of.device();
      const auto copy = [&] {
        check(cudaMemcpy(to, what, bytes, way), "cudaMemcpy");
        // From pageable memory it may come back when the driver has its own copy, and the device not yet.
        if (in && !from.pinned) check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
      };
      const auto enqueue = [&] { check(cudaMemcpyAsync(to, what, bytes, way, stream), "cudaMemcpyAsync"); };
      const auto demand = [&](const std::string& of_what, auto work) {
        if (in) {
          of.check_to_device(of_what, from.host, bytes, work);
        } else {
          of.check_to_host(of_what, from.host, bytes, work);
        }
      };
      demand(name, copy);
      row line{name, on_host(clock, how, copy), bytes, 0, {}};
      if (from.pinned) {  // a pageable copy would wait for the gate that waits for it
        demand(name + ", in stream", enqueue);
        const int repeats = repeats_within_budget(line.time.median(), how.repeats);
        line.values.push_back({"in stream", clock.in_stream([&](std::size_t) { enqueue(); }, repeats).median() * 1e6, "us"});
      }
      rows.push_back(line);
    }
  }
  const auto inside = [&] {
    check(cudaMemcpyAsync(of.other(), of.device(), bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  };
  const std::string name = size_text(bytes) + " inside the device";
  of.check_inside(name, bytes, inside);
  rows.push_back({name, clock.in_stream([&](std::size_t) { inside(); }, how.repeats), 2 * bytes, 0, {}});
}

/// The same bytes to the device in one piece and in many.
void add_pieces(std::vector<row>& rows, const gpu_clock& clock, const setting& how, ends& of) {
  const std::uint64_t bytes = how.small ? mib : how.quick ? 16 * mib : 64 * mib;
  for (const bool pinned : {false, true}) {
    word* const host = pinned ? of.pinned() : of.pageable();
    for (const std::uint64_t pieces : {std::uint64_t{1}, std::uint64_t{64}, 1 * kib, 16 * kib}) {
      const std::uint64_t words = bytes / pieces / sizeof(word);
      const auto copy = [&] {
        for (std::uint64_t k = 0; k < pieces; ++k)
          check(cudaMemcpyAsync(of.device() + k * words, host + k * words, words * sizeof(word), cudaMemcpyHostToDevice,
                                stream_of(clock)),
                "cudaMemcpyAsync");
        wait_for(clock);
      };
      const std::string name = size_text(bytes) + " to the device, " + (pinned ? "pinned" : "pageable") + ", in " +
                               std::to_string(pieces) + (pieces == 1 ? " piece" : " pieces");
      of.check_to_device(name, host, bytes, copy);
      row line{name, on_host(clock, how, copy), bytes, 0, {}};
      line.values.push_back({"per piece", line.time.median() / static_cast<double>(pieces) * 1e6, "us"});
      rows.push_back(line);
    }
  }
}

/// What pinned memory costs before the first byte is copied.
void add_allocations(std::vector<row>& rows, const setting& how) {
  const std::uint64_t words = (how.small ? mib : how.quick ? 16 * mib : 64 * mib) / sizeof(word);
  const std::string size = size_text(words * sizeof(word));
  const auto use = [&](word* memory) {
    for (std::uint64_t i = 0; i < words; i += 4 * kib / sizeof(word)) static_cast<volatile word*>(memory)[i] = i;  // each page once
  };
  const int repeats = std::min(how.repeats, 10);
  rows.push_back({"take, touch and give back " + size + ", pageable", time_on_cpu(
                                                                          [&](std::size_t) {
                                                                            const std::unique_ptr<word[]> memory(new word[words]);
                                                                            use(memory.get());
                                                                          },
                                                                          repeats)});
  rows.push_back({"take, touch and give back " + size + ", pinned", time_on_cpu(
                                                                        [&](std::size_t) {
                                                                          const pinned_array<word> memory(words);
                                                                          use(memory.data());
                                                                        },
                                                                        repeats)});
}

std::vector<row> run_on_gpu(const gpu_clock& clock, const setting& how) {
  const std::uint64_t largest = how.small ? mib : how.quick ? 64 * mib : gib;
  ends of(clock, largest);
  std::vector<row> rows;
  for (std::uint64_t bytes = kib; bytes <= largest; bytes *= 4) add_size(rows, clock, how, of, bytes);
  add_pieces(rows, clock, how, of);
  add_allocations(rows, how);
  return rows;
}

#endif

}  // namespace

const study transfers = {
    .name = "transfers",
    .title = "What does it take to bring data to the GPU and back?",
    .lecture =
        "Bus 8 GB/s at most (PCIe x16 Gen 2) against 141 GB/s of device memory (GTX 280). From pinned memory 3.2 GB/s on Gen 1 "
        "and 5.2 GB/s on Gen 2. \"One large transfer [is] much better than many small ones.\"",
    .lesson =
        "A small copy costs a call, a large one its bytes: the table shows where the one ends and the other begins. Pinned memory "
        "saves the driver's own copy on the way, and lets the host go on; making it takes longer than a copy of it, and it is "
        "taken from the rest of the system, so make it once and use it again. Many small copies cost as many calls: put the "
        "pieces side by side and send them once. The rows inside the device show how far the bus is from the device's own memory: "
        "a reduction, which reads each byte once, is worth a GPU where the data are there already.",
#ifdef __CUDACC__
    .on_gpu = run_on_gpu,
#endif
};

}  // namespace onefold::perf::memory
