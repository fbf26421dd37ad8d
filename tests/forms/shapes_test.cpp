/// @file shapes_test.cpp  Every launch shape that fixed_order may choose, and others that it may be asked for, give the CPU's bits; and so do
/// launches that run beside each other; and launches that begin early read what those ahead of them have written.

#include <cstdio>
#include <optional>
#include <random>
#include <string_view>

#include "../support/cuda.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

struct shape_case {
  element_type type;
  form what;
  bool wide;
};

constexpr shape_case shape_cases[] = {{element_type::f32, form::sum, false},   {element_type::f32, form::dot, false},
                                      {element_type::f32, form::norm2, false}, {element_type::f32, form::sum, true},
                                      {element_type::f32, form::dot, true},    {element_type::f64, form::prod, false},
                                      {element_type::f64, form::dot, false},   {element_type::f64, form::mean, false},
                                      {element_type::f64, form::norm2, false}, {element_type::i64, form::norm1, false}};

std::uint64_t bits_of(const onefold::executor& where, const shape_case& one, const void* x, const void* y, std::uint64_t count,
                      const onefold::options& how = {}) {
  std::uint64_t bits = 0;
  onefold::detail::run({where, one.type, one.what, x, count, &bits, true, y, one.wide}, how);
  count_dispatch(where);
  return bits;
}

// Nothing where so large a grid is refused, which it may be on devices whose order of blocks is not known: all must be resident at once.
std::optional<std::uint64_t> bits_if_resident(const shape_case& one, const void* x, const void* y, std::uint64_t count,
                                              const onefold::options& how) {
  try {
    return bits_of(onefold::cuda(), one, x, y, count, how);
  } catch (const onefold::error& problem) {
    const auto& gpu = backend_under_test(onefold::backend::cuda).devices.at(0);
    const bool said_why = std::string_view(problem.what()).find("all its blocks on this device at once") != std::string_view::npos;
    if (how.grid_size <= gpu.multiprocessors || problem.code() != onefold::errc::unsupported || !said_why) throw;
    return std::nullopt;
  }
}

// Data whose sums round: another order would give other bits.
elements rounding_data(element_type type, std::size_t count, std::uint64_t seed) {
  return is_float(type) ? hard_sum(type, hardship::growing, count, seed) : any_values(type, count, seed);
}

class every_shape : public dispatching_test, public testing::WithParamInterface<shape_case> {
 protected:
  void SetUp() override {
    for (const auto& where : executors())
      if (on_cuda(where)) start(where);
  }
};

TEST_P(every_shape, gives_the_same_bits_cuda) {
  const auto& one = GetParam();
  const std::size_t size = onefold::size_of(one.type);
  const std::size_t most = (std::size_t{1} << 22) / size;
  const elements x = rounding_data(one.type, most, current_seed());
  const elements y = rounding_data(one.type, most, current_seed() + 1);
  guarded_input at_x(memory::device, x, operation::sum), at_y(memory::device, y, operation::sum);
  const auto* host_x = static_cast<const std::byte*>(x.data());
  const auto* host_y = static_cast<const std::byte*>(y.data());
  const std::uint64_t tile = 4096 / size;
  std::uint64_t cases = 0;
  std::uint64_t differences = 0;
  for (const std::uint64_t count : {3 * tile - 1, 32 * tile, 33 * tile + 7, 500 * tile + 3, std::uint64_t{most} - 2}) {
    for (const std::size_t off : {std::size_t{0}, std::size_t{1}}) {
      const std::uint64_t n = std::min<std::uint64_t>(count, most - off);
      const std::uint64_t expected = bits_of(onefold::serial(), one, host_x + off * size, host_y, n);
      for (const int block : {0, 32, 64, 128, 256, 512}) {
        for (const int grid : {0, 1, 2, 3, 7, 31, 132, 133, 256}) {
          const onefold::options how{.variant = "fixed_order", .block_size = block, .grid_size = grid};
          const auto got = bits_if_resident(one, at_x.window(off, n), at_y.window(0, n), n, how);
          ++cases;
          if (!got || *got == expected) continue;
          ++differences;
          ADD_FAILURE() << onefold::name(one.what) << " of " << n << " " << onefold::name(one.type) << (one.wide ? " in f64" : "")
                        << ", offset " << off << ", blocks of " << block << ", grid of " << grid << ": " << std::hex << *got
                        << " instead of " << expected << std::dec << "; seed " << current_seed()
                        << "\n  repeat: " << repeat_command();
          ASSERT_LT(differences, 10u);
        }
      }
    }
  }
  std::printf("%lu cases, %lu differences\n", static_cast<unsigned long>(cases), static_cast<unsigned long>(differences));
}

// A launch policy decides the time, never the bits: extreme ones and any others.
TEST_P(every_shape, gives_the_same_bits_whatever_the_launch_policy_says_cuda) {
  const auto& one = GetParam();
  const std::size_t size = onefold::size_of(one.type);
  const std::uint64_t tile = 4096 / size;
  const std::size_t most = (std::size_t{1} << 24) / size;
  const elements x = rounding_data(one.type, most, current_seed());
  const elements y = rounding_data(one.type, most, current_seed() + 1);
  guarded_input at_x(memory::device, x, operation::sum), at_y(memory::device, y, operation::sum);
  struct back_to_built_in {
    ~back_to_built_in() { onefold::use_built_in_policy(onefold::cuda()); }
  } at_the_end;
  std::mt19937_64 random(current_seed());
  const auto up_to = [&](int least, int greatest) { return std::uniform_int_distribution<int>(least, greatest)(random); };
  constexpr int policies = 24;
  for (int i = 0; i < policies; ++i) {
    onefold::launch_policy policy;
    policy.fixed_order = {.one_block_tiles = up_to(1, 16),
                          .cluster_tiles = up_to(0, 128),
                          .short_units = 1 << up_to(0, 12),
                          .short_blocks = up_to(1, 300),
                          .wave_warps = up_to(0, 16),
                          .stream_warps = 1 << up_to(0, 4),
                          .stream_rounds = 1 << up_to(0, 6),
                          .stream_leaves = up_to(1, 8192),
                          .single_tiles = up_to(0, 64)};
    onefold::use_policy(onefold::cuda(), policy);
    for (const std::uint64_t count : {5 * tile + 1, 100 * tile, 129 * tile - 3, 700 * tile + 9, std::uint64_t{most} - 1}) {
      const std::uint64_t expected = bits_of(onefold::serial(), one, x.data(), y.data(), count);
      ASSERT_EQ(bits_of(onefold::cuda(), one, at_x.window(0, count), at_y.window(0, count), count), expected)
          << onefold::name(one.what) << " of " << count << " " << onefold::name(one.type) << (one.wide ? " in f64" : "")
          << " with\n"
          << onefold::policy_text(onefold::cuda(), policy) << "seed " << current_seed() << "\n  repeat: " << repeat_command();
    }
  }
}

// Every number of tiles that small arrays may have: a warp for each, in one block or in a cluster of eight, and then 32 blocks.
TEST_P(every_shape, gives_the_same_bits_for_every_number_of_tiles_cuda) {
  const auto& one = GetParam();
  const std::size_t size = onefold::size_of(one.type);
  const std::uint64_t tile = 4096 / size;
  const std::size_t most = 140 * tile;
  const elements x = rounding_data(one.type, most, current_seed());
  const elements y = rounding_data(one.type, most, current_seed() + 1);
  guarded_input at_x(memory::device, x, operation::sum), at_y(memory::device, y, operation::sum);
  const auto* host_x = static_cast<const std::byte*>(x.data());
  std::uint64_t cases = 0;
  for (std::uint64_t tiles = 1; tiles < 140; ++tiles) {
    for (const std::uint64_t n : {tiles * tile - 1, tiles * tile, tiles * tile + tile / 2 + 1}) {
      for (const std::size_t off : {std::size_t{0}, std::size_t{1}}) {
        ++cases;
        ASSERT_EQ(bits_of(onefold::cuda(), one, at_x.window(off, n - off), at_y.window(0, n - off), n - off),
                  bits_of(onefold::serial(), one, host_x + off * size, y.data(), n - off))
            << onefold::name(one.what) << " of " << n - off << " " << onefold::name(one.type) << (one.wide ? " in f64" : "")
            << ", offset " << off << "; seed " << current_seed() << "\n  repeat: " << repeat_command();
      }
    }
  }
  std::printf("%lu cases, 0 differences\n", static_cast<unsigned long>(cases));
}

// Where the array begins and ends decides which of its tiles can be read in packs: all alignments of both inputs, and ends around the last
// pack of a tile. Blocks of two warps, so that the first pair and the last are not all there is.
TEST_P(every_shape, gives_the_same_bits_for_every_beginning_and_end_cuda) {
  const auto& one = GetParam();
  const std::size_t size = onefold::size_of(one.type);
  const std::size_t pack = 16 / size;
  const std::size_t tile = 4096 / size;
  const std::size_t most = 7 * tile + 3 * pack;
  const elements x = rounding_data(one.type, most, current_seed());
  const elements y = rounding_data(one.type, most, current_seed() + 1);
  guarded_input at_x(memory::device, x, operation::sum), at_y(memory::device, y, operation::sum);
  const auto* host_x = static_cast<const std::byte*>(x.data());
  const auto* host_y = static_cast<const std::byte*>(y.data());
  std::uint64_t cases = 0;
  for (const std::size_t tiles : {6, 7}) {
    for (std::size_t n = tiles * tile - pack - 1; n <= tiles * tile + pack + 1; ++n) {
      for (std::size_t off_x = 0; off_x < pack; ++off_x) {
        for (std::size_t off_y = 0; off_y < (one.what == form::dot ? pack : 1); ++off_y) {
          ++cases;
          ASSERT_EQ(bits_of(onefold::cuda(), one, at_x.window(off_x, n), at_y.window(off_y, n), n,
                            {.variant = "fixed_order", .block_size = 64}),
                    bits_of(onefold::serial(), one, host_x + off_x * size, host_y + off_y * size, n))
              << onefold::name(one.what) << " of " << n << " " << onefold::name(one.type) << (one.wide ? " in f64" : "")
              << ", offsets " << off_x << " and " << off_y << "; seed " << current_seed() << "\n  repeat: " << repeat_command();
        }
      }
    }
  }
  EXPECT_TRUE(at_x.unchanged() && at_y.unchanged());
  std::printf("%lu cases, 0 differences\n", static_cast<unsigned long>(cases));
}

// Enough leaves for sections that have a block of their own to collect them, and for values that wait within a leaf. A second input beside a
// boundary makes tiles the units, twice as many.
TEST_P(every_shape, gives_the_same_bits_for_many_sections_cuda) {
  const auto& one = GetParam();
  const std::size_t size = onefold::size_of(one.type);
  const std::uint64_t pair = 8192 / size;
  const std::uint64_t section = 1024 * pair;  // of blocks with one warp
  const std::size_t most = 5 * section + 3;
  const elements x = rounding_data(one.type, most, current_seed());
  const elements y = rounding_data(one.type, most + 1, current_seed() + 1);
  guarded_input at_x(memory::device, x, operation::sum), at_y(memory::device, y, operation::sum);
  const auto* host_y = static_cast<const std::byte*>(y.data());
  std::uint64_t cases = 0;
  for (const std::uint64_t n :
       {section / 4 + 1, 2 * section, 2 * section + 1, 3 * section - 1, 3 * section + pair, std::uint64_t{most}}) {
    onefold::workspace own(onefold::cuda(), n);  // large enough for every shape
    for (std::size_t off_y = 0; off_y <= (one.what == form::dot ? 1 : 0); ++off_y) {
      const std::uint64_t expected = bits_of(onefold::serial(), one, x.data(), host_y + off_y * size, n);
      for (const int block : {0, 32, 64, 512}) {
        for (const int grid : {0, 1, 1025, 2048}) {
          const onefold::options how{.variant = "fixed_order", .block_size = block, .grid_size = grid, .workspace = &own};
          ++cases;
          ASSERT_EQ(bits_if_resident(one, at_x.window(0, n), at_y.window(off_y, n), n, how).value_or(expected), expected)
              << onefold::name(one.what) << " of " << n << " " << onefold::name(one.type) << (one.wide ? " in f64" : "")
              << ", second input's offset " << off_y << ", blocks of " << block << ", grid of " << grid << "; seed "
              << current_seed() << "\n  repeat: " << repeat_command();
        }
      }
    }
  }
  std::printf("%lu cases, 0 differences\n", static_cast<unsigned long>(cases));
}

// Under load: streams of several host threads at once, arrays that keep the GPU full, the same bits each time.
TEST_P(every_shape, gives_the_same_bits_beside_others_cuda) {
  const auto& one = GetParam();
  const std::size_t size = onefold::size_of(one.type);
  const std::size_t most = (std::size_t{1} << 24) / size;
  const elements x = rounding_data(one.type, most, current_seed());
  guarded_input at_x(memory::device, x, operation::sum);
  const std::uint64_t expected = bits_of(onefold::serial(), one, x.data(), x.data(), most);
  const void* const data = at_x.all();
  on_host_threads(4, [&](std::size_t) -> std::string {
    const stream own;
    const auto where = onefold::cuda(0, own.get());
    int wrong = 0;
    for (int call = 0; call < 50; ++call) wrong += bits_of(where, one, data, data, most) == expected ? 0 : 1;
    return wrong == 0 ? "" : std::to_string(wrong) + " of 50 calls gave other bits";
  });
}

// Launches begin while those ahead of them end. Each call of a chain reads what the one before has written, at the end of the other of two
// arrays; a result is one more than the last, so that a value that is read or written too early leaves the final one wrong.
class a_chain {
 public:
  static constexpr std::int64_t links = 100;

  a_chain(const stream& on, std::size_t count)
      : on_(on), count_(count), arrays_{block(memory::device, bytes()), block(memory::device, bytes())} {}

  // Zeros, and 1 in front.
  void begin() const {
    for (const block& array : arrays_) {
      expect_success(cudaMemsetAsync(array.address(), 0, bytes(), on_.get()), "cudaMemsetAsync");
      expect_success(cudaMemsetAsync(array.address(), 1, 1, on_.get()), "cudaMemsetAsync");
    }
  }
  void enqueue(std::int64_t link, const onefold::executor& where) const {
    onefold::sum_into(where, array(link), count_, array(link + 1) + count_ - 1);
    count_dispatch(where);
  }
  void enqueue() const {
    for (std::int64_t link = 0; link < links; ++link) enqueue(link, onefold::cuda(0, on_.get()));
  }
  [[nodiscard]] std::int64_t end() const {
    std::int64_t value = 0;
    on_.synchronize();
    arrays_[links % 2].read((count_ - 1) * sizeof(value), &value, sizeof(value));
    return value;
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(std::int64_t); }
  [[nodiscard]] std::int64_t* array(std::int64_t link) const {
    return reinterpret_cast<std::int64_t*>(arrays_[link % 2].address());
  }

  const stream& on_;
  std::size_t count_;
  block arrays_[2];
};

using chains = cuda_form_test;

TEST_F(chains, of_calls_each_read_what_the_one_ahead_has_written_cuda) {
  const stream on;
  for (const std::size_t count : {2, 500, 512, 513, 1'024, 8'192, 8'193, 20'000, 65'536, 65'537, 100'000, 1 << 18, 1 << 22}) {
    a_chain chain(on, count);
    for (int round = 0; round < 20; ++round) {
      chain.begin();
      chain.enqueue();
      ASSERT_EQ(chain.end(), a_chain::links) << count << " elements, round " << round;
    }
    recording graph(on.get());
    chain.begin();
    chain.enqueue();
    graph.end();
    for (int round = 0; round < 5; ++round) {
      graph.replay();
      ASSERT_EQ(chain.end(), a_chain::links) << count << " elements, replay " << round;
    }
  }
}

// The kernel ahead is not always one of the same stream.
TEST_F(chains, across_streams_wait_for_the_events_between_them_cuda) {
  const stream first, second;
  cudaEvent_t done = nullptr;
  expect_success(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  for (const std::size_t count : {512, 8'193, 65'537, 1 << 18, 1 << 22}) {
    a_chain chain(first, count);
    for (int round = 0; round < 5; ++round) {
      chain.begin();
      for (std::int64_t link = 0; link < a_chain::links; ++link) {
        const stream& here = link % 2 == 0 ? first : second;
        const stream& next = link % 2 == 0 ? second : first;
        chain.enqueue(link, onefold::cuda(0, here.get()));
        expect_success(cudaEventRecord(done, here.get()), "cudaEventRecord");
        expect_success(cudaStreamWaitEvent(next.get(), done, 0), "cudaStreamWaitEvent");
      }
      ASSERT_EQ(chain.end(), a_chain::links) << count << " elements, round " << round;
    }
  }
  cudaEventDestroy(done);
}

// The library's own stream and CUDA's default stream wait for each other without events.
TEST_F(chains, between_the_librarys_stream_and_the_default_stream_are_ordered_cuda) {
  const stream on;
  for (const std::size_t count : {512, 8'193, 65'537, 1 << 18, 1 << 22}) {
    a_chain chain(on, count);
    for (int round = 0; round < 5; ++round) {
      chain.begin();
      on.synchronize();
      for (std::int64_t link = 0; link < a_chain::links; ++link)
        chain.enqueue(link, link % 2 == 0 ? onefold::cuda() : onefold::cuda(0, nullptr));
      onefold::synchronize(onefold::cuda());
      onefold::synchronize(onefold::cuda(0, nullptr));
      ASSERT_EQ(chain.end(), a_chain::links) << count << " elements, round " << round;
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<shape_case>& info) {
  return "cuda_" + std::string(onefold::name(info.param.type)) + "_" + std::string(onefold::name(info.param.what)) +
         (info.param.wide ? "_wide" : "");
}

INSTANTIATE_TEST_SUITE_P(shapes, every_shape, testing::ValuesIn(shape_cases), name_of_case);

}  // namespace
}  // namespace onefold_test
