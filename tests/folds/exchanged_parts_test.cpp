/// @file exchanged_parts_test.cpp  Results of parts on several GPUs that each of them stores in stream order: all forms have the bits of one core, no host waits, calls that follow
/// each other do not get into each other's way, and graphs replay them. On one GPU its streams stand for others.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <onefold/devices.hpp>
#include <onefold/workspace.hpp>

#include "../support/parts.hpp"
#include "gpus.hpp"

#ifdef ONEFOLD_HAS_SEAM
#include "../../backends/cuda/runtime.hpp"
#endif

namespace onefold_test {
namespace {

using onefold::devices;
using onefold::options;
using onefold::parts;

// Streams of several GPUs, on each of which a part of an array lies.
class exchanged_parts : public gpus {
 protected:
  // Executors on as many streams, turn by turn on the GPUs.
  [[nodiscard]] devices on_streams(std::size_t number) {
    std::vector<onefold::executor> each;
    for (std::size_t i = 0; i < number; ++i) {
      const on_gpu current(device_of(i));
      streams_.push_back(std::make_unique<stream>());
      each.push_back(onefold::cuda(device_of(i), streams_.back()->get()));
    }
    return devices(std::move(each));
  }
  struct spread {
    std::vector<memory_on> memory, results;
    std::vector<std::uint64_t> cuts;

    template <class T>
    [[nodiscard]] parts<T> all() const {
      std::vector<typename parts<T>::part> list;
      for (std::size_t i = 0; i < memory.size(); ++i) list.emplace_back(memory[i].as<T>(), cuts[i + 1] - cuts[i]);
      return parts<T>(std::move(list));
    }
    // Value number k on each.
    template <class R>
    [[nodiscard]] std::vector<R*> to(std::size_t k) const {
      std::vector<R*> each;
      for (const memory_on& one : results) each.push_back(one.as<R>() + k);
      return each;
    }
  };
  // The elements between the cuts on one executor after the other, and room for so many bytes of results on each.
  template <class T>
  [[nodiscard]] static spread spread_out(const devices& where, const std::vector<T>& x, std::vector<std::uint64_t> cuts,
                                         std::size_t result_bytes) {
    spread made{{}, {}, std::move(cuts)};
    const std::vector<std::byte> nothing(result_bytes);
    for (std::size_t i = 0; i < where.size(); ++i) {
      const std::uint64_t its = made.cuts[i + 1] - made.cuts[i];
      made.memory.emplace_back(where[i].device(), x.data() + made.cuts[i], its * sizeof(T));
      made.results.emplace_back(where[i].device(), nothing.data(), nothing.size());
    }
    return made;
  }
  static void wait(const devices& where) {
    for (std::size_t i = 0; i < where.size(); ++i) onefold::synchronize(where[i]);
  }
  template <class R>
  static std::vector<R> fetched(const R* from, std::size_t count) {
    std::vector<R> found(count);
    expect_success(cudaMemcpy(found.data(), from, count * sizeof(R), cudaMemcpyDefault), "cudaMemcpy");
    return found;
  }

  std::vector<std::unique_ptr<stream>> streams_;
};

// Anywhere, or between tiles.
std::vector<std::uint64_t> cuts_of(const kind& of, std::uint64_t count, std::size_t parts, bool aligned, std::uint64_t seed) {
  std::vector<std::uint64_t> cuts = onefold_test::cuts_of(count, parts, seed);
  for (std::size_t i = 1; aligned && i < parts; ++i) cuts[i] -= cuts[i] % of.tile();
  return cuts;
}

TEST_F(exchanged_parts, have_the_bits_of_one_core_in_every_form_cuda) {
  int compared = 0;
  const devices two = on_streams(2), three = on_streams(3), five = on_streams(5);
  for (const kind& of : every_kind())
    for (const devices* const where : {&two, &three, &five})
      for (const std::uint64_t count : {std::uint64_t{1}, 3 * of.tile(), 41 * of.tile() + 7, 3000 * of.tile() + 5}) {
        if (count > 100 * of.tile() && where != &three) continue;
        const std::uint64_t seed = current_seed() + count + where->size();
        const arrays in(of, count, seed, count % 2 == 0 ? values_of::rounding : values_of::any_bits);
        const std::vector<std::uint64_t> cuts = cuts_of(of, count, where->size(), count % 3 == 0, seed);
        std::vector<memory_on> memory, results;
        std::vector<onefold_range_part> all;
        std::vector<void*> to;
        const std::array<std::byte, 64> nothing{};
        for (std::size_t i = 0; i < where->size(); ++i) {
          const onefold::executor& its = (*where)[i];
          const std::size_t size = (cuts[i + 1] - cuts[i]) * of.element_bytes();
          memory.emplace_back(its.device(), in.x(cuts[i]), size);
          const void* const x = memory.back().as<void>();
          const void* y = nullptr;
          if (of.what == form::dot) {
            memory.emplace_back(its.device(), in.y(cuts[i]), size);
            y = memory.back().as<void>();
          }
          all.push_back({onefold::detail::c_executor(its), x, y, cuts[i + 1] - cuts[i]});
          results.emplace_back(its.device(), nothing.data(), nothing.size());
          to.push_back(results.back().as<void>());
        }
        const auto what = static_cast<int32_t>(of.what);
        const int status = onefold_range_put_parts(static_cast<int32_t>(of.type), &what, 1, of.flags(), 1, all.data(), all.size(),
                                                   to.data(), nullptr);
        ASSERT_EQ(status, ONEFOLD_OK) << text(of) << ": " << onefold_last_error();
        bytes expected = whole(of, in, count);
        for (std::size_t i = 0; i < where->size(); ++i) {
          onefold::synchronize((*where)[i]);
          bytes got = fetched(results[i].as<std::byte>(), of.result_bytes());
          if (const std::size_t size = size_of(of.type); has_index(of.what) && size < 8)
            for (std::size_t at = size; at < got.size(); at += 16)  // nobody speaks of what lies between a value and its index
              std::fill_n(got.begin() + static_cast<std::ptrdiff_t>(at), 8 - size, std::byte{}),
                  std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), 8 - size, std::byte{});
          ASSERT_EQ(got, expected) << text(of) << ", " << count << " in " << where->size() << " parts, on executor " << i;
          ++compared;
        }
      }
  EXPECT_GT(compared, 3000);
  std::printf("%d results, 0 differences\n", compared);
}

TEST_F(exchanged_parts, have_the_exact_results_cuda) {
  const devices three = on_streams(3);
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const std::vector<double> x = numbers(200'003, current_seed());
  const std::vector<float> floats(x.begin(), x.end());
  std::vector<std::complex<float>> z;
  for (std::size_t i = 0; i < x.size(); ++i) z.emplace_back(static_cast<float>(x[i]), static_cast<float>(-x[x.size() - 1 - i]));
  std::vector<std::int32_t> integers;
  for (const double one : x) integers.push_back(static_cast<std::int32_t>(one * 0x1p31));
  const auto one = onefold::serial();
  const auto compare = [&](const char* what, const auto& array, const auto& put, const auto& expected) {
    using T = typename std::decay_t<decltype(array)>::value_type;
    using R = std::decay_t<decltype(expected)>;
    const spread on = spread_out(three, array, {0, 70'001, 70'001, array.size()}, sizeof(R));
    put(on.all<T>(), onefold::outputs<R>(on.to<R>(0)));
    for (std::size_t i = 0; i < 3; ++i) {
      onefold::synchronize(three[i]);
      const R got = fetched(on.to<R>(0)[i], 1).front();
      EXPECT_EQ(std::memcmp(&got, &expected, sizeof(R)), 0) << what << " on executor " << i;
    }
  };
  compare(
      "sum", x, [&](const auto& in, const auto& to) { onefold::sum_into(three, in, to, exactly); }, onefold::sum(one, x, exactly));
  compare(
      "dot", x, [&](const auto& in, const auto& to) { onefold::dot_into(three, in, in, to, exactly); },
      onefold::dot(one, x, x, exactly));
  compare(
      "norm2", x, [&](const auto& in, const auto& to) { onefold::norm2_into(three, in, to, exactly); },
      onefold::norm2(one, x, exactly));
  compare(
      "mean_variance", x,
      [&](const auto& in, const auto& to) { onefold::mean_variance_into(three, in, to, onefold::ddof{1}, exactly); },
      onefold::mean_variance(one, x, onefold::ddof{1}, exactly));
  compare(
      "mean of floats as doubles", floats,
      [&](const auto& in, const auto& to) { onefold::mean_into(three, in, to, onefold::accumulate_as<double>, exactly); },
      onefold::mean(one, floats, onefold::accumulate_as<double>, exactly));
  compare(
      "sum of complex numbers", z, [&](const auto& in, const auto& to) { onefold::sum_into(three, in, to, exactly); },
      onefold::sum(one, z, exactly));
  compare(
      "dot of complex numbers", z, [&](const auto& in, const auto& to) { onefold::dot_into(three, in, in, to, exactly); },
      onefold::dot(one, z, z, exactly));
  compare(
      "mean_variance of complex numbers", z,
      [&](const auto& in, const auto& to) { onefold::mean_variance_into(three, in, to, exactly); },
      onefold::mean_variance(one, z, exactly));
  compare(
      "norm2 of integers", integers, [&](const auto& in, const auto& to) { onefold::norm2_into(three, in, to, exactly); },
      onefold::norm2(one, integers, exactly));
  compare(
      "max", x, [&](const auto& in, const auto& to) { onefold::max_into(three, in, to, exactly); }, onefold::max(one, x));

  const spread on = spread_out(three, x, {0, 0, 0, 0}, sizeof(double));
  const double before = 7;
  for (double* const to : on.to<double>(0))
    expect_success(cudaMemcpy(to, &before, sizeof(before), cudaMemcpyDefault), "cudaMemcpy");
  onefold::sum_into(three, on.all<double>(), onefold::outputs<double>(on.to<double>(0)), exactly);
  wait(three);
  for (double* const to : on.to<double>(0)) EXPECT_EQ(fetched(to, 1).front(), 0.0) << "of no elements";
}

// What a stream runs: it waits until it is let go on, or, so that a call which waits for it fails and does not hang, for some seconds.
struct gate {
  std::atomic<bool> is_open = false;
  static void wait(void* of) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!static_cast<gate*>(of)->is_open && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
};

TEST_F(exchanged_parts, are_not_waited_for_by_the_host_cuda) {
  const std::vector<double> x = numbers(100'003, current_seed()), others(x.size(), 3.0);
  const devices three = on_streams(3);
  const spread on = spread_out(three, others, {0, 30'001, 60'002, x.size()}, 8 * sizeof(double));
  const spread of_x = spread_out(three, x, on.cuts, 0), of_others = spread_out(three, others, on.cuts, 0);
  const double expected = onefold::sum(onefold::serial(), x);
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const auto call = [&] {
    onefold::sum_into(three, on.all<double>(), on.to<double>(0));
    onefold::sum_into(three, on.all<double>(), on.to<double>(1), exactly);
    onefold::reduce_together_into(three, on.all<double>(), on.to<double>(2), onefold::op::max{}, onefold::op::sum{});
    onefold::multi_dot_into(three, {on.all<double>(), on.all<double>()}, {on.all<double>()}, on.to<double>(4));
  };
  call();  // kernels are loaded
  wait(three);
  for (std::size_t held = 0; held < 3; ++held) {
    gate closed;
    expect_success(cudaLaunchHostFunc(three[held].stream(), gate::wait, &closed), "cudaLaunchHostFunc");
    for (std::size_t i = 0; i < 3; ++i) {
      const on_gpu current(three[i].device());
      const std::uint64_t its = on.cuts[i + 1] - on.cuts[i];
      const spread& from = held == 1 ? of_others : of_x;
      expect_success(cudaMemcpyAsync(on.memory[i].as<double>(), from.memory[i].as<double>(), its * sizeof(double),
                                     cudaMemcpyDefault, three[i].stream()),
                     "cudaMemcpyAsync");
    }
    const auto begin = std::chrono::steady_clock::now();
    call();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << "the host has waited for stream " << held;
    EXPECT_EQ(cudaStreamQuery(three[held].stream()), cudaErrorNotReady);
    closed.is_open = true;
    wait(three);
    const std::vector<double>& now = held == 1 ? others : x;
    const double sum = held == 1 ? onefold::sum(onefold::serial(), others) : expected;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::vector<double> got = fetched(on.to<double>(0)[i], 6);
      EXPECT_EQ(got[0], sum) << i;
      EXPECT_EQ(got[1], onefold::sum(onefold::serial(), now, exactly)) << i;
      EXPECT_EQ(got[2], onefold::max(onefold::serial(), now)) << i;
      EXPECT_EQ(got[3], sum) << i;
      EXPECT_EQ(got[4], onefold::dot(onefold::serial(), now, now)) << i;
      EXPECT_EQ(got[5], got[4]) << i;
    }
  }
}

// Each call's array is another one, which comes on the streams; now one GPU is late, now another.
TEST_F(exchanged_parts, follow_each_other_without_a_wait_cuda) {
  constexpr std::size_t calls = 300, arrays_there_are = 7;
  for (const std::size_t number : {2UL, 3UL, 5UL}) {
    const devices where = on_streams(number);
    std::vector<std::vector<double>> x;
    std::vector<double> expected;
    std::vector<std::uint64_t> cuts{0};
    for (std::size_t k = 0; k < arrays_there_are; ++k) {
      x.push_back(numbers(number * 20'001, current_seed() + k));
      expected.push_back(onefold::sum(onefold::serial(), x.back()));
    }
    for (std::size_t i = 0; i < number; ++i) cuts.push_back(cuts.back() + 20'001);
    const spread on = spread_out(where, x[0], cuts, calls * sizeof(double));
    std::vector<spread> sources;
    for (const auto& one : x) sources.push_back(spread_out(where, one, cuts, 0));
    const random_numbers random(current_seed());
    const auto pause = [](void* us) {
      std::this_thread::sleep_for(std::chrono::microseconds(reinterpret_cast<std::uintptr_t>(us)));
    };
    for (std::size_t k = 0; k < calls; ++k) {
      for (std::size_t i = 0; i < number; ++i) {
        const on_gpu current(where[i].device());
        if (random.at(k * number + i) % 8 == 0)
          expect_success(cudaLaunchHostFunc(where[i].stream(), pause, reinterpret_cast<void*>(random.at(k + 7 * i) % 200)),
                         "cudaLaunchHostFunc");
        expect_success(cudaMemcpyAsync(on.memory[i].as<double>(), sources[k % arrays_there_are].memory[i].as<double>(),
                                       (cuts[i + 1] - cuts[i]) * sizeof(double), cudaMemcpyDefault, where[i].stream()),
                       "cudaMemcpyAsync");
      }
      onefold::sum_into(where, on.all<double>(), on.to<double>(k));
    }
    wait(where);
    for (std::size_t i = 0; i < number; ++i) {
      const std::vector<double> got = fetched(on.to<double>(0)[i], calls);
      for (std::size_t k = 0; k < calls; ++k)
        ASSERT_EQ(got[k], expected[k % arrays_there_are]) << "call " << k << " on executor " << i << " of " << number;
    }
  }
}

TEST_F(exchanged_parts, may_be_of_several_threads_and_of_streams_that_come_and_go_cuda) {
  const std::vector<double> x = numbers(90'001, current_seed());
  const double expected = onefold::sum(onefold::serial(), x);
  const devices shared = on_streams(2);
  const std::vector<std::uint64_t> cuts{0, 33'333, x.size()};
  std::atomic<int> wrong = 0;
  const auto use = [&](const devices& where, int times) {
    const spread on = spread_out(where, x, cuts, static_cast<std::size_t>(times) * sizeof(double));
    for (int k = 0; k < times; ++k) onefold::sum_into(where, on.all<double>(), on.to<double>(static_cast<std::size_t>(k)));
    wait(where);
    for (const auto* const to : on.to<double>(0))
      for (const double got : fetched(to, static_cast<std::size_t>(times)))
        if (got != expected) ++wrong;
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const devices other_way{shared[1], shared[0]};
      for (int again = 0; again < 20; ++again) use(t % 2 == 0 ? shared : other_way, 10);
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, 0);

  // Handles of streams that are gone come again, and what is kept of them stays bounded.
  std::size_t held = 0;
  for (int round = 0; round < 200; ++round) {
    streams_.clear();
    use(on_streams(2), 2);
    ASSERT_EQ(wrong, 0) << "round " << round;
    const std::size_t now = onefold::memory_in_use(onefold::cuda(0)).device_bytes;
    if (round == 100) held = now;
    if (round > 100) {
      EXPECT_LE(now, held + held / 4) << "round " << round;
    }
  }
}

// All streams are joined to a capture, and back to where it began.
class recording_on {
 public:
  explicit recording_on(const devices& where, const std::function<void()>& ahead = {})
      : where_(where), graph_(where[0].stream()), begun_(events(where)) {
    if (ahead) ahead();  // on the first stream alone
    record(0);
    for (std::size_t i = 1; i < where.size(); ++i) wait(i, 0);
  }
  ~recording_on() {
    for (const cudaEvent_t one : begun_) cudaEventDestroy(one);
  }
  void end() {
    for (std::size_t i = 1; i < where_.size(); ++i) {
      record(i);
      wait(0, i);
    }
    graph_.end();
  }
  void replay() const { graph_.replay(); }

 private:
  static std::vector<cudaEvent_t> events(const devices& where) {
    std::vector<cudaEvent_t> made(where.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      const on_gpu current(where[i].device());
      expect_success(cudaEventCreateWithFlags(&made[i], cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    return made;
  }
  void record(std::size_t i) { expect_success(cudaEventRecord(begun_[i], where_[i].stream()), "cudaEventRecord"); }
  void wait(std::size_t i, std::size_t for_i) {
    expect_success(cudaStreamWaitEvent(where_[i].stream(), begun_[for_i], 0), "cudaStreamWaitEvent");
  }

  const devices& where_;
  recording graph_;
  std::vector<cudaEvent_t> begun_;
};

TEST_F(exchanged_parts, are_replayed_by_graphs_cuda) {
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  std::size_t before = 0;
  for (const std::size_t number : {2UL, 5UL}) {
    const devices where = on_streams(number);
    std::vector<std::uint64_t> cuts{0};
    for (std::size_t i = 0; i < number; ++i) cuts.push_back(cuts.back() + 30'011);
    const std::vector<double> first = numbers(cuts.back(), 1);
    const spread on = spread_out(where, first, cuts, 4 * sizeof(double));
    const auto call = [&] {
      onefold::sum_into(where, on.all<double>(), on.to<double>(0));
      onefold::norm2_into(where, on.all<double>(), on.to<double>(1));
      onefold::sum_into(where, on.all<double>(), on.to<double>(2), exactly);
    };
    call();  // kernels are loaded ahead of the capture
    wait(where);
    {
      recording_on graph(where);
      call();
      graph.end();
      for (std::uint64_t seed = 2; seed < 12; ++seed) {
        const std::vector<double> x = numbers(cuts.back(), seed);
        for (std::size_t i = 0; i < number; ++i)
          expect_success(cudaMemcpy(on.memory[i].as<double>(), x.data() + cuts[i], (cuts[i + 1] - cuts[i]) * sizeof(double),
                                    cudaMemcpyDefault),
                         "cudaMemcpy");
        expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        graph.replay();
        graph.replay();
        if (seed % 2 == 0) call();  // beside the graph, with memory of its own
        wait(where);
        for (std::size_t i = 0; i < number; ++i) {
          const std::vector<double> got = fetched(on.to<double>(0)[i], 3);
          ASSERT_EQ(got[0], onefold::sum(onefold::serial(), x)) << i;
          ASSERT_EQ(got[1], onefold::norm2(onefold::serial(), x)) << i;
          ASSERT_EQ(got[2], onefold::sum(onefold::serial(), x, exactly)) << i;
        }
      }
    }
    before = onefold::memory_in_use(onefold::cuda(0)).device_bytes;
  }
  onefold::release_memory(onefold::cuda(0));
  EXPECT_LT(onefold::memory_in_use(onefold::cuda(0)).device_bytes, before) << "graphs that are gone hold nothing";
}

TEST_F(exchanged_parts, are_refused_where_some_streams_are_captured_cuda) {
  const devices two = on_streams(2);
  const std::vector<double> x = numbers(5000, 1);
  const spread on = spread_out(two, x, {0, 2000, 5000}, sizeof(double));
  onefold::sum_into(two, on.all<double>(), on.to<double>(0));
  wait(two);
  recording graph(two[0].stream());
  EXPECT_TRUE(refuses(errc::invalid_argument, "captured", [&] { onefold::sum_into(two, on.all<double>(), on.to<double>(0)); }));
  graph.end();  // which is not spoilt
  onefold::sum_into(two, on.all<double>(), on.to<double>(0));
  wait(two);
  EXPECT_EQ(fetched(on.to<double>(0)[1], 1).front(), onefold::sum(onefold::serial(), x));
}

// A kernel of one GPU's, which another GPU's first kernel in the graph waits for; and a part without elements.
TEST_F(exchanged_parts, are_replayed_behind_a_kernel_of_another_gpu_cuda) {
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const devices three = on_streams(3);
  const std::vector<double> x = numbers(80'001, current_seed());
  const spread on = spread_out(three, x, {0, 40'000, 40'000, x.size()}, 4 * sizeof(double));
  const double expected = onefold::sum(onefold::serial(), x), first = onefold::sum(onefold::serial(), x.data(), 40'000);
  const auto call = [&] {
    onefold::sum_into(three, on.all<double>(), on.to<double>(1));
    onefold::sum_into(three, on.all<double>(), on.to<double>(2), exactly);
  };
  const auto ahead = [&] { onefold::sum_into(three[0], on.memory[0].as<double>(), 40'000, on.to<double>(0)[0]); };
  ahead();
  call();
  wait(three);
  recording_on graph(three, ahead);
  call();
  graph.end();
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < 3; ++i) {
      const on_gpu current(three[i].device());
      expect_success(cudaMemset(on.results[i].as<double>(), 0, 4 * sizeof(double)), "cudaMemset");
      expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    graph.replay();
    wait(three);
    EXPECT_EQ(fetched(on.to<double>(0)[0], 1).front(), first);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::vector<double> got = fetched(on.to<double>(0)[i], 3);
      ASSERT_EQ(got[1], expected) << i;
      ASSERT_EQ(got[2], onefold::sum(onefold::serial(), x, exactly)) << i;
    }
  }
}

// Several operators on small types, whose results are wider than a form's by itself.
TEST_F(exchanged_parts, of_several_operators_have_their_results_of_small_types_cuda) {
  const devices three = on_streams(3);
  const auto compare = [&](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::value_type;
    using R = onefold::accumulator_t<T, false>;
    using namespace onefold::op;
    const spread on = spread_out(three, x, {0, 2'000, 5'003, x.size()}, 3 * sizeof(R));
    const auto expected = onefold::reduce_together(onefold::serial(), x, min{}, sum{}, max{});
    onefold::reduce_together_into(three, on.all<T>(), onefold::outputs<R>(on.to<R>(0)), min{}, sum{}, max{});
    wait(three);
    for (const R* const to : on.to<R>(0)) EXPECT_EQ(fetched(to, 3), std::vector<R>(expected.begin(), expected.end()));
  };
  const std::vector<double> x = numbers(9'001, current_seed());
  std::vector<std::int8_t> bytes_of_x;
  std::vector<std::uint32_t> words;
  for (const double one : x) {
    bytes_of_x.push_back(static_cast<std::int8_t>(one * 100));
    words.push_back(static_cast<std::uint32_t>((one + 0.25) * 0x1p20));
  }
  compare(x);
  compare(std::vector<float>(x.begin(), x.end()));
  compare(bytes_of_x);
  compare(words);
}

// Errors leave the next call as it would be.
TEST_F(exchanged_parts, are_right_after_calls_that_were_refused_cuda) {
  const devices three = on_streams(3);
  const std::vector<double> x = numbers(60'000, current_seed());
  const spread on = spread_out(three, x, {0, 20'001, 40'000, x.size()}, 2 * sizeof(double));
  const double expected = onefold::sum(onefold::serial(), x);
  const parts<double> all = on.all<double>();
  double here = 0;
  const std::vector<double*> to = on.to<double>(0);
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(refuses(errc::host_pointer, "output", [&] { onefold::sum_into(three, all, {to[0], &here, to[2]}); }));
    EXPECT_TRUE(refuses(errc::null_pointer, "output", [&] { onefold::sum_into(three, all, {to[0], nullptr, to[2]}); }));
    EXPECT_TRUE(refuses(errc::misaligned_pointer, "", [&] {
      onefold::sum_into(three, all, {to[0], to[1], reinterpret_cast<double*>(reinterpret_cast<char*>(to[2]) + 4)});
    }));
    EXPECT_TRUE(refuses(errc::null_pointer, "", [&] {
      onefold::sum_into(three, parts<double>{{all[0].data, 5}, {nullptr, 5}, {all[2].data, 5}}, to);
    }));
    onefold::workspace own(three[0], x.size());
    EXPECT_TRUE(refuses(errc::invalid_argument, "workspace", [&] { onefold::sum_into(three, all, to, {.workspace = &own}); }));
    EXPECT_TRUE(refuses(errc::invalid_argument, "no index", [&] {
      std::vector<onefold::arg_result<double>*> places;
      for (const memory_on& one : on.results) places.push_back(one.as<onefold::arg_result<double>>());
      onefold::argmin_into(three, parts<double>{{all[0].data, 0}, {all[1].data, 0}, {all[2].data, 0}}, places);
    }));
    if (count_ > 1) {
      EXPECT_TRUE(refuses(errc::wrong_device, "", [&] {
        onefold::sum_into(three, parts<double>{all[0], {all[0].data, 5}, all[2]}, to);
      }));
      EXPECT_TRUE(refuses(errc::wrong_device, "", [&] { onefold::sum_into(three, all, {to[0], to[0], to[2]}); }));
    }
    onefold::report ran;
    onefold::sum_into(three, all, to, {.report = &ran});
    EXPECT_EQ(ran.variant, "fixed_order");
    wait(three);
    for (double* const one : to) EXPECT_EQ(fetched(one, 1).front(), expected);
  }
  // A workspace is for the one stream that has elements.
  onefold::workspace own(three[0], x.size());
  const parts<double> of_first{all[0], {nullptr, 0}, {nullptr, 0}};
  for (const bool exact : {false, true}) {
    options how{.workspace = &own};
    if (exact) how = {.guarantee = onefold::guarantee::exact};
    onefold::sum_into(three, of_first, to, how);
    wait(three);
    for (double* const one : to)
      EXPECT_EQ(fetched(one, 1).front(), onefold::sum(onefold::serial(), x.data(), 20'001, exact ? how : options())) << exact;
  }
  // best() stores where its output lies.
  double best_of_host = 0;
  onefold::sum_into(devices{onefold::best()}, parts<double>{all[0]}, {&best_of_host});
  EXPECT_EQ(best_of_host, onefold::sum(onefold::serial(), x.data(), 20'001));
  onefold::sum_into(devices{onefold::best(), three[1]}, parts<double>{all[0], all[1]}, {to[0], to[1]});
  onefold::synchronize(onefold::cuda(device_of(0)));
  EXPECT_EQ(fetched(to[0], 1).front(), onefold::sum(onefold::serial(), x.data(), 40'000));
  // Host arrays, CPUs and parts of both are waited for.
  const devices mixed{three[0], onefold::serial(), three[2]};
  onefold::sum_into(mixed, parts<double>{all[0], {x.data() + 20'001, 19'999}, all[2]}, {to[0], &here, to[2]});
  onefold::synchronize(three[0]);
  EXPECT_EQ(here, expected);
  EXPECT_EQ(fetched(to[0], 1).front(), expected);
  onefold::sum_into(three, x, to);
  wait(three);
  EXPECT_EQ(fetched(to[1], 1).front(), expected);
}

#ifdef ONEFOLD_HAS_SEAM
TEST_F(exchanged_parts, go_through_pinned_memory_where_gpus_do_not_reach_each_other_cuda) {
  if (count_ < 2) GTEST_SKIP() << "there is one GPU";
  auto& calls = onefold::cuda_backend::calls();
  const auto real = calls.can_access_peer;
  const auto release = [&] {
    for (int device = 0; device < count_; ++device) onefold::release_memory(onefold::cuda(device));
  };
  release();
  const std::size_t before = onefold::memory_in_use(onefold::cuda(0)).pinned_bytes;
  calls.can_access_peer = [](int* can, int, int) {
    *can = 0;
    return cudaSuccess;
  };
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const devices where = on_streams(static_cast<std::size_t>(count_));
  std::vector<std::uint64_t> cuts{0};
  for (int i = 0; i < count_; ++i) cuts.push_back(cuts.back() + 50'001);
  const std::vector<double> x = numbers(cuts.back(), current_seed());
  const spread on = spread_out(where, x, cuts, 2 * sizeof(double));
  for (int again = 0; again < 5; ++again) {
    onefold::sum_into(where, on.all<double>(), on.to<double>(0));
    onefold::sum_into(where, on.all<double>(), on.to<double>(1), exactly);
  }
  wait(where);
  EXPECT_GT(onefold::memory_in_use(onefold::cuda(0)).pinned_bytes, before);
  calls.can_access_peer = real;
  for (const auto* const to : on.to<double>(0)) {
    EXPECT_EQ(fetched(to, 2)[0], onefold::sum(onefold::serial(), x));
    EXPECT_EQ(fetched(to, 2)[1], onefold::sum(onefold::serial(), x, exactly));
  }
  release();
  onefold::sum_into(where, on.all<double>(), on.to<double>(0));  // through memory of the first GPU again
  wait(where);
  EXPECT_EQ(onefold::memory_in_use(onefold::cuda(0)).pinned_bytes, before);
}
#endif

}  // namespace
}  // namespace onefold_test
