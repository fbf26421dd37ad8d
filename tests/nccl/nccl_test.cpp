/// @file nccl_test.cpp  Reductions over the ranks of an NCCL communicator, a thread for each GPU: the bits of one core, in stream order, in graphs.

#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include <onefold/nccl.hpp>
#include <onefold/onefold.hpp>

#include "../support/cuda.hpp"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "gpu_functions.hpp"

namespace onefold_test {
namespace {

// While it is set no kernel puts images together, as over more ranks than there are GPUs here: the host's function does.
std::atomic<bool> host_joins = false;
std::atomic<uint64_t> joined_by_host = 0;  // forms on layouts for which there was a kernel

}  // namespace
}  // namespace onefold_test

// The linker puts the second in the place of the library's, which has the first name then (CMakeLists.txt).
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
int __real_onefold_range_can_join_images(int32_t type, int32_t form, uint32_t flags, std::size_t parts, uint64_t total);
int __wrap_onefold_range_can_join_images(int32_t type, int32_t form, uint32_t flags, std::size_t parts, uint64_t total) {
  const int can = __real_onefold_range_can_join_images(type, form, flags, parts, total);
  if (!onefold_test::host_joins) return can;
  if (can != 0) ++onefold_test::joined_by_host;
  return 0;
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace onefold_test {
namespace {

using onefold::errc;
using onefold::form;
using onefold::nccl::layout;
using std::uint64_t;

void expect_success(ncclResult_t status, const char* call) {
  if (status != ncclSuccess) throw std::runtime_error(std::string("the test's ") + call + " failed: " + ncclGetErrorString(status));
}
using onefold_test::expect_success;

// One rank: its GPU, its stream, its communicator.
struct rank {
  int number;
  int ranks;
  ncclComm_t comm;
  cudaStream_t stream;
};

class several_ranks : public testing::Test {
 protected:
  void SetUp() override {
    const auto& gpus = backend_under_test(onefold::backend::cuda);
    if (!gpus.usable) GTEST_SKIP() << gpus.detail;
    ranks_ = static_cast<int>(gpus.devices.size());
    comms_.resize(static_cast<std::size_t>(ranks_));
    expect_success(ncclCommInitAll(comms_.data(), ranks_, nullptr), "ncclCommInitAll");
  }
  void TearDown() override {
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
  }
  // Calls body(rank) on every rank at the same time.
  template <class Body>
  void on_all(const Body& body) {
    std::vector<std::thread> threads;
    std::vector<std::string> problems(comms_.size());
    for (int i = 0; i < ranks_; ++i)
      threads.emplace_back([&, i] {
        try {
          expect_success(cudaSetDevice(i), "cudaSetDevice");
          const stream mine;
          body(rank{i, ranks_, comms_[static_cast<std::size_t>(i)], mine.get()});
        } catch (const std::exception& problem) {
          problems[static_cast<std::size_t>(i)] = problem.what();
        }
      });
    for (std::thread& one : threads) one.join();
    for (const std::string& problem : problems) EXPECT_EQ(problem, "");
  }

  void expect_graphs_to_have_the_bits();
  void expect_functions_to_have_the_bits(const std::vector<uint64_t>& totals);

  int ranks_ = 0;
  std::vector<ncclComm_t> comms_;
};

// Where the ranks' parts begin, behind the last one the end: anywhere, some parts empty.
std::vector<uint64_t> cuts_of(uint64_t count, int ranks, uint64_t seed) {
  const random_numbers random(seed);
  std::vector<uint64_t> cuts{0, count};
  for (int i = 1; i < ranks; ++i) cuts.push_back(random.at(static_cast<uint64_t>(i)) % (count + 1));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

template <class T>
T element(const random_numbers& random, uint64_t i) {
  const double value = static_cast<double>(random.at(i) >> 11) * 0x1p-43 - 300.0;
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(value));
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

onefold::options exactly() {
  onefold::options how;
  how.guarantee = onefold::guarantee::exact;
  return how;
}

std::atomic<uint64_t> compared = 0;

// Calls into(rows, x, y, count, result) of a rank's elements, and expected(x, y) of all.
template <class T, class R, class Into, class Expected>
void compare(several_ranks&, const rank& here, const std::vector<T>& x, const std::vector<T>& y, const std::vector<uint64_t>& cuts,
             const Into& into, const Expected& expected) {
  const uint64_t first = cuts[static_cast<std::size_t>(here.number)],
                 count = cuts[static_cast<std::size_t>(here.number) + 1] - first;
  const device_memory mine(count * sizeof(T)), other(count * sizeof(T)), result(sizeof(R));
  copy_to_device(mine.as<T>(), x.data() + first, count * sizeof(T));
  copy_to_device(other.as<T>(), y.data() + first, count * sizeof(T));
  const layout rows(here.comm, here.number, here.stream, count);
  EXPECT_EQ(rows.begin(), first);
  EXPECT_EQ(rows.total(), x.size());
  R got{}, wanted = expected(x, y);
  for (int again = 0; again < 3; ++again) {
    into(rows, mine.as<T>(), other.as<T>(), count, result.as<R>());
    expect_success(cudaMemcpyAsync(&got, result.as<R>(), sizeof(R), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
    EXPECT_EQ(std::memcmp(&got, &wanted, sizeof(R)), 0) << "rank " << here.number << " of " << here.ranks << ", " << x.size();
    ++compared;
  }
}

template <class T>
void compare_forms(several_ranks& test, const rank& here, uint64_t total, uint64_t seed) {
  namespace o = onefold;
  std::vector<T> x(total), y(total);
  const random_numbers random(seed);
  for (uint64_t i = 0; i < total; ++i) x[i] = element<T>(random, 2 * i), y[i] = element<T>(random, 2 * i + 1);
  const auto cuts = cuts_of(total, here.ranks, seed);
  const auto one = o::serial();
#define ONEFOLD_COMPARE(name)                                                                                         \
  compare<T, decltype(o::name(one, x))>(                                                                              \
      test, here, x, y, cuts,                                                                                         \
      [](const layout& rows, const T* a, const T*, uint64_t n, auto* result) { o::name##_into(rows, a, n, result); }, \
      [&](const auto& a, const auto&) { return o::name(one, a); })
  ONEFOLD_COMPARE(sum);
  ONEFOLD_COMPARE(norm2);
  ONEFOLD_COMPARE(max);
  ONEFOLD_COMPARE(mean);
  ONEFOLD_COMPARE(norm_inf);
  ONEFOLD_COMPARE(any);
  ONEFOLD_COMPARE(mean_variance);
  compare<T, decltype(o::mean_variance(one, x))>(
      test, here, x, y, cuts,
      [](const layout& rows, const T* a, const T*, uint64_t n, auto* result) {
        o::mean_variance_into(rows, a, n, result, o::ddof{1});
      },
      [&](const auto& a, const auto&) { return o::mean_variance(one, a, o::ddof{1}); });
  ONEFOLD_COMPARE(minmax);
  ONEFOLD_COMPARE(count);
  ONEFOLD_COMPARE(all);
#undef ONEFOLD_COMPARE
  compare<T, decltype(o::dot(one, x, y))>(
      test, here, x, y, cuts,
      [](const layout& rows, const T* a, const T* b, uint64_t n, auto* result) { o::dot_into(rows, a, b, n, result); },
      [&](const auto& a, const auto& b) { return o::dot(one, a, b); });
}

TEST_F(several_ranks, have_the_bits_of_one_core_cuda) {
  for (const uint64_t total : {uint64_t{1}, uint64_t{1024}, uint64_t{20'000}, uint64_t{1'000'003}})
    on_all([&](const rank& here) {
      compare_forms<double>(*this, here, total, current_seed() + total);
      compare_forms<float>(*this, here, total, current_seed() + total + 1);
      compare_forms<std::int32_t>(*this, here, total, current_seed() + total + 2);
      compare_forms<std::int64_t>(*this, here, total, current_seed() + total + 3);
      compare_forms<std::int16_t>(*this, here, total, current_seed() + total + 4);
      compare_forms<std::uint8_t>(*this, here, total, current_seed() + total + 5);
      compare_forms<onefold::float16>(*this, here, total, current_seed() + total + 6);
      compare_forms<onefold::bfloat16>(*this, here, total, current_seed() + total + 7);
    });
  std::printf("%llu results over %d ranks compared\n", static_cast<unsigned long long>(compared.load()), ranks_);
}

// Complex numbers of floats or of doubles, in all their forms.
template <class C>
void compare_complex_forms(several_ranks& test, const rank& here, uint64_t total, uint64_t seed) {
  namespace o = onefold;
  using part = typename C::value_type;
  std::vector<C> x(total), y(total);
  const random_numbers random(seed);
  for (uint64_t i = 0; i < total; ++i) {
    x[i] = {element<part>(random, 4 * i), element<part>(random, 4 * i + 1)};
    y[i] = {element<part>(random, 4 * i + 2), element<part>(random, 4 * i + 3)};
    if (i % 5 == 0) x[i] = {part(0), -part(0)};
  }
  const auto cuts = cuts_of(total, here.ranks, seed);
  const auto one = o::serial();
#define ONEFOLD_COMPARE(name, ...)                                             \
  compare<C, decltype(o::name(one, x __VA_OPT__(, ) __VA_ARGS__))>(            \
      test, here, x, y, cuts,                                                  \
      [](const layout& rows, const C* a, const C*, uint64_t n, auto* result) { \
        o::name##_into(rows, a, n, result __VA_OPT__(, ) __VA_ARGS__);         \
      },                                                                       \
      [&](const auto& a, const auto&) { return o::name(one, a __VA_OPT__(, ) __VA_ARGS__); })
  ONEFOLD_COMPARE(sum);
  ONEFOLD_COMPARE(prod);
  ONEFOLD_COMPARE(mean);
  ONEFOLD_COMPARE(sum_of_squares);
  ONEFOLD_COMPARE(norm1);
  ONEFOLD_COMPARE(norm2);
  ONEFOLD_COMPARE(norm_inf);
  ONEFOLD_COMPARE(count);
  ONEFOLD_COMPARE(all);
  ONEFOLD_COMPARE(any);
  ONEFOLD_COMPARE(none);
  ONEFOLD_COMPARE(mean_variance);
  ONEFOLD_COMPARE(mean_variance, o::ddof{1});
  ONEFOLD_COMPARE(sum, exactly());
  ONEFOLD_COMPARE(mean, exactly());
  ONEFOLD_COMPARE(mean_variance, exactly());
  ONEFOLD_COMPARE(mean_variance, o::ddof{1}, exactly());
  ONEFOLD_COMPARE(sum_of_squares, exactly());
  ONEFOLD_COMPARE(norm2, exactly());
  // Of floats the wider type, of doubles their own.
  ONEFOLD_COMPARE(sum, o::accumulate_as<std::complex<double>>);
  ONEFOLD_COMPARE(norm1, o::accumulate_as<std::complex<double>>);
  ONEFOLD_COMPARE(mean_variance, o::accumulate_as<std::complex<double>>);
  ONEFOLD_COMPARE(mean, o::accumulate_as<std::complex<double>>, exactly());
  ONEFOLD_COMPARE(mean_variance, o::accumulate_as<std::complex<double>>, exactly());
#undef ONEFOLD_COMPARE
  compare<C, decltype(o::dot(one, x, y))>(
      test, here, x, y, cuts,
      [](const layout& rows, const C* a, const C* b, uint64_t n, auto* result) { o::dot_into(rows, a, b, n, result, exactly()); },
      [&](const auto& a, const auto& b) { return o::dot(one, a, b, exactly()); });
  compare<C, decltype(o::dot(one, x, y))>(
      test, here, x, y, cuts,
      [](const layout& rows, const C* a, const C* b, uint64_t n, auto* result) { o::dot_into(rows, a, b, n, result); },
      [&](const auto& a, const auto& b) { return o::dot(one, a, b); });
}

TEST_F(several_ranks, have_the_bits_of_one_core_of_complex_numbers_cuda) {
  compared = 0;
  for (const uint64_t total : {uint64_t{1}, uint64_t{700}, uint64_t{20'000}, uint64_t{1'000'003}})
    on_all([&](const rank& here) {
      compare_complex_forms<std::complex<float>>(*this, here, total, current_seed() + total);
      compare_complex_forms<std::complex<double>>(*this, here, total, current_seed() + total + 1);
    });
  std::printf("%llu results of complex numbers over %d ranks compared\n", static_cast<unsigned long long>(compared.load()), ranks_);
}

TEST_F(several_ranks, refuse_exact_products_of_complex_numbers_cuda) {
  on_all([&](const rank& here) {
    using complex = std::complex<double>;
    const device_memory mine(10 * sizeof(complex)), result(sizeof(complex));
    const layout rows(here.comm, here.number, here.stream, 10);
    EXPECT_TRUE(refuses(errc::guarantee_not_met, "prod of c128 has no exact result",
                        [&] { onefold::prod_into(rows, mine.as<complex>(), 10, result.as<complex>(), exactly()); }));
    const layout empty(here.comm, here.number, here.stream, 0);
    onefold::prod_into(empty, mine.as<complex>(), 0, result.as<complex>());
    complex got{};
    expect_success(cudaMemcpyAsync(&got, result.as<complex>(), sizeof(got), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
    EXPECT_EQ(got, complex(1, 0));
  });
}

// --- guarantee::exact

// Numbers of sizes so different that every order of a rounded sum has its own bits.
template <class T>
T far_apart(const random_numbers& random, uint64_t i) {
  constexpr int reach = sizeof(T) == 2 ? 12 : 60;  // half precision ends at 65504
  constexpr int lowest = sizeof(T) == 2 ? -12 : -30;
  const double value = std::ldexp(element<double>(random, 2 * i), static_cast<int>(random.at(2 * i + 1) % reach) + lowest);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(value) % 1'000);
  else
    return static_cast<T>(static_cast<float>(value));
}

// Every rank has others of the elements at each call, and as many.
template <class T>
void compare_exact_forms(several_ranks& test, const rank& here, uint64_t total, uint64_t seed) {
  namespace o = onefold;
  std::vector<T> x(total), y(total);
  const random_numbers random(seed);
  for (uint64_t i = 0; i < total; ++i) {
    x[i] = far_apart<T>(random, 2 * i);
    y[i] = far_apart<T>(random, 2 * i + 1);
  }
  const auto cuts = cuts_of(total, here.ranks, seed);
  const std::vector<T> first_x = x, first_y = y;
  const auto one = o::serial();
  const auto both = [&](const auto& into, const auto& of_all) {
    using R = std::remove_cv_t<decltype(of_all(x, y))>;
    for (int turn = 0; turn < 2; ++turn) {
      compare<T, R>(test, here, x, y, cuts, into, [&](const auto&, const auto&) { return of_all(first_x, first_y); });
      // Pairs stay pairs.
      std::rotate(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(total / 3), x.end());
      std::rotate(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(total / 3), y.end());
    }
  };
#define ONEFOLD_COMPARE(name, ...)                                                                     \
  both([](const layout& rows, const T* a, const T*, uint64_t n,                                        \
          auto* result) { o::name##_into(rows, a, n, result __VA_OPT__(, ) __VA_ARGS__, exactly()); }, \
       [&](const auto& a, const auto&) { return o::name(one, a __VA_OPT__(, ) __VA_ARGS__, exactly()); })
  ONEFOLD_COMPARE(sum);
  ONEFOLD_COMPARE(norm1);
  ONEFOLD_COMPARE(sum_of_squares);
  ONEFOLD_COMPARE(max);
  ONEFOLD_COMPARE(minmax);
  if constexpr (!std::is_integral_v<T>) {
    ONEFOLD_COMPARE(norm2);
    ONEFOLD_COMPARE(mean);
    ONEFOLD_COMPARE(mean_variance);
    ONEFOLD_COMPARE(mean_variance, o::ddof{1});
    if constexpr (!std::is_same_v<T, double>) ONEFOLD_COMPARE(sum, o::accumulate_as<double>);
  }
#undef ONEFOLD_COMPARE
  both([](const layout& rows, const T* a, const T* b, uint64_t n, auto* result) { o::dot_into(rows, a, b, n, result, exactly()); },
       [&](const auto& a, const auto& b) { return o::dot(one, a, b, exactly()); });
}

TEST_F(several_ranks, have_exact_results_of_any_distribution_cuda) {
  compared = 0;
  for (const uint64_t total : {uint64_t{1}, uint64_t{3}, uint64_t{20'000}, uint64_t{1'000'003}})
    on_all([&](const rank& here) {
      compare_exact_forms<double>(*this, here, total, current_seed() + total);
      compare_exact_forms<float>(*this, here, total, current_seed() + total + 1);
      compare_exact_forms<onefold::float16>(*this, here, total, current_seed() + total + 2);
      compare_exact_forms<onefold::bfloat16>(*this, here, total, current_seed() + total + 3);
      compare_exact_forms<std::int32_t>(*this, here, total, current_seed() + total + 4);
    });
  std::printf("%llu exact results over %d ranks compared\n", static_cast<unsigned long long>(compared.load()), ranks_);
}

// Of communicators that do not block NCCL's calls return before their work is on the stream.
TEST_F(several_ranks, may_have_communicators_that_do_not_block_cuda) {
  const auto until_done = [](ncclComm_t comm) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) expect_success(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
    expect_success(state, "work of a communicator that does not block");
  };
  const std::vector<ncclComm_t> blocking = comms_;
  ncclUniqueId id;
  expect_success(ncclGetUniqueId(&id), "ncclGetUniqueId");
  on_all([&](const rank& here) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t& made = comms_[static_cast<std::size_t>(here.number)];
    const ncclResult_t status = ncclCommInitRankConfig(&made, ranks_, id, here.number, &config);
    if (status != ncclInProgress) expect_success(status, "ncclCommInitRankConfig");
    until_done(made);
  });
  compared = 0;
  for (const uint64_t total : {uint64_t{1}, uint64_t{20'000}, uint64_t{1'000'003}})
    on_all([&](const rank& here) {
      compare_forms<double>(*this, here, total, current_seed() + total);
      compare_exact_forms<double>(*this, here, total, current_seed() + total);
    });
  std::printf("%llu results over %d ranks that do not block compared\n", static_cast<unsigned long long>(compared.load()), ranks_);
  on_all([&](const rank& here) {
    const ncclResult_t status = ncclCommFinalize(here.comm);
    if (status != ncclInProgress) expect_success(status, "ncclCommFinalize");
    until_done(here.comm);
    ncclCommDestroy(here.comm);
  });
  comms_ = blocking;
}

// The words in a GPU's memory, and an ncclAllReduce of the caller's own.
TEST_F(several_ranks, may_add_the_words_of_exact_states_themselves_cuda) {
  using state = onefold::exact_state<form::norm2, double>;
  std::vector<double> x(300'007);
  const random_numbers random(current_seed());
  for (uint64_t i = 0; i < x.size(); ++i) x[i] = far_apart<double>(random, i);
  const double right = onefold::norm2(onefold::serial(), x, exactly());
  on_all([&](const rank& here) {
    const auto cuts = cuts_of(x.size(), here.ranks, current_seed());
    const uint64_t first = cuts[static_cast<std::size_t>(here.number)],
                   count = cuts[static_cast<std::size_t>(here.number) + 1] - first;
    const device_memory mine(count * sizeof(double)), words(state::size() * sizeof(std::int64_t)), result(sizeof(double));
    copy_to_device(mine.as<double>(), x.data() + first, count * sizeof(double));
    const auto where = onefold::cuda(here.number, here.stream);
    state::put_words(where, mine.as<double>(), count, words.as<std::int64_t>());
    expect_success(ncclAllReduce(words.as<std::int64_t>(), words.as<std::int64_t>(), state::size(), ncclInt64, ncclSum, here.comm,
                                 here.stream),
                   "ncclAllReduce");
    state::put_value(where, words.as<std::int64_t>(), result.as<double>());
    double got = 0;
    expect_success(cudaMemcpyAsync(&got, result.as<double>(), sizeof(got), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
    EXPECT_EQ(std::memcmp(&got, &right, sizeof(got)), 0);
  });
}

// So that the tests above are of the kernel that puts images together and of the host's function.
TEST_F(several_ranks, have_a_kernel_for_all_numbers_cuda) {
  const auto can = [&](int32_t type, int32_t what) {
    return onefold_range_can_join_images(type, what, 0, static_cast<std::size_t>(ranks_), 1'000'003);
  };
  for (const int32_t type : {ONEFOLD_F32, ONEFOLD_F64, ONEFOLD_I32, ONEFOLD_I64, ONEFOLD_I16, ONEFOLD_U8, ONEFOLD_F16}) {
    for (const int32_t what : {ONEFOLD_SUM, ONEFOLD_NORM2, ONEFOLD_MAX, ONEFOLD_MEAN, ONEFOLD_ALL, ONEFOLD_DOT, ONEFOLD_MINMAX,
                               ONEFOLD_MEAN_VARIANCE, ONEFOLD_ARGMIN, ONEFOLD_ARGMAX_MAGNITUDE, ONEFOLD_ARGMINMAX})
      EXPECT_EQ(can(type, what), 1) << type << ", " << what;
  }
  for (const int32_t type : {ONEFOLD_C64, ONEFOLD_C128})
    for (const int32_t what : {ONEFOLD_SUM, ONEFOLD_PROD, ONEFOLD_MEAN, ONEFOLD_DOT, ONEFOLD_NORM1, ONEFOLD_NORM2, ONEFOLD_NORM_INF,
                               ONEFOLD_SUM_OF_SQUARES, ONEFOLD_COUNT, ONEFOLD_ALL, ONEFOLD_MEAN_VARIANCE})
      EXPECT_EQ(can(type, what), 1) << type << ", " << what;
  EXPECT_EQ(can(ONEFOLD_C64, ONEFOLD_MAX), 0);
  EXPECT_EQ(can(ONEFOLD_F32, ONEFOLD_REDUCE_TOGETHER), 0);
}

TEST_F(several_ranks, without_elements_have_the_result_of_none_cuda) {
  on_all([&](const rank& here) {
    const device_memory results(4 * sizeof(double));
    const layout rows(here.comm, here.number, here.stream, 0);
    auto* const result = results.as<double>();
    onefold::sum_into(rows, result, 0, result);
    onefold::prod_into(rows, result, 0, result + 1);
    onefold::mean_into(rows, result, 0, result + 2);
    onefold::min_into(rows, result, 0, result + 3);
    double got[4] = {};
    expect_success(cudaMemcpyAsync(got, result, sizeof(got), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    onefold::sum_into(rows, result, 0, result, exactly());
    onefold::mean_variance_into(rows, result, 0, reinterpret_cast<onefold::mean_variance_result<double>*>(result + 2), exactly());
    double got_exactly[4] = {};
    expect_success(cudaMemcpyAsync(got_exactly, result, sizeof(got), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
    EXPECT_EQ(got_exactly[0], 0);
    EXPECT_TRUE(std::isnan(got_exactly[2]) && std::isnan(got_exactly[3]));
    EXPECT_EQ(got[0], 0);
    EXPECT_EQ(got[1], 1);
    EXPECT_TRUE(std::isnan(got[2]));
    EXPECT_EQ(got[3], std::numeric_limits<double>::infinity());
  });
}

TEST_F(several_ranks, give_places_in_the_whole_array_cuda) {
  std::vector<float> x(50'000, 1.0F);
  x[40'123] = -7.0F;
  on_all([&](const rank& here) {
    const auto cuts = cuts_of(x.size(), here.ranks, current_seed());
    const uint64_t first = cuts[static_cast<std::size_t>(here.number)],
                   count = cuts[static_cast<std::size_t>(here.number) + 1] - first;
    const device_memory mine(count * sizeof(float)), place(sizeof(onefold::arg_result<float>));
    copy_to_device(mine.as<float>(), x.data() + first, count * sizeof(float));
    const layout rows(here.comm, here.number, here.stream, count);
    auto* const result = place.as<onefold::arg_result<float>>();
    onefold::argmin_into(rows, mine.as<float>(), count, result);
    onefold::arg_result<float> got{};
    expect_success(cudaMemcpyAsync(&got, result, sizeof(got), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
    EXPECT_EQ(got.value, -7.0F);
    EXPECT_EQ(got.index, 40'123u);
    // A negative one is refused on all ranks, so that none waits.
    EXPECT_TRUE(refuses(errc::invalid_argument, "is a count negative?", [&] {
      const layout negative(here.comm, here.number, here.stream, here.number == 0 ? ~uint64_t{0} : count);
    }));
    EXPECT_TRUE(refuses(errc::invalid_argument, "this rank's part",
                        [&] { onefold::argmin_into(rows, mine.as<float>(), count + 1, result); }));
    EXPECT_TRUE(refuses(errc::null_pointer, "output", [&] { onefold::sum_into(rows, mine.as<float>(), count, nullptr); }));
    EXPECT_TRUE(refuses(errc::guarantee_not_met, "prod of f32 has no exact result",
                        [&] { onefold::prod_into(rows, mine.as<float>(), count, place.as<float>(), exactly()); }));
    const auto* const whole = mine.as<std::int32_t>();
    onefold::mean_into(rows, whole, count, place.as<double>(), exactly());
    double mean = 0;
    expect_success(cudaMemcpyAsync(&mean, place.as<double>(), sizeof(mean), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
    EXPECT_EQ(mean, onefold::mean(onefold::serial(), reinterpret_cast<const std::int32_t*>(x.data()), x.size(), exactly()));
  });
}

// By the kernel, wherever parts begin: the place in the whole array, of which many elements hold the extremum.
template <class T>
void compare_places(several_ranks& test, const rank& here, uint64_t total, uint64_t seed) {
  namespace o = onefold;
  std::vector<T> x(total);
  const random_numbers random(seed);
  for (uint64_t i = 0; i < total; ++i)
    x[i] = static_cast<T>(static_cast<std::int64_t>(random.at(i) % 2'001) - (std::is_signed_v<T> ? 1'000 : 0));
  const auto cuts = cuts_of(total, here.ranks, seed);
  const auto one = o::serial();
  // The values and the places, without what lies between a value of 4 bytes and its index.
  const auto check = [&](const auto& into, const auto& expected, const auto& same) {
    using R = std::remove_cvref_t<decltype(expected)>;
    const uint64_t first = cuts[static_cast<std::size_t>(here.number)],
                   count = cuts[static_cast<std::size_t>(here.number) + 1] - first;
    const device_memory mine(count * sizeof(T)), result(sizeof(R));
    copy_to_device(mine.as<T>(), x.data() + first, count * sizeof(T));
    const layout rows(here.comm, here.number, here.stream, count);
    R got{};
    into(rows, mine.as<T>(), count, result.as<R>());
    expect_success(cudaMemcpyAsync(&got, result.as<R>(), sizeof(R), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
    expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
    EXPECT_TRUE(same(got, expected)) << "rank " << here.number << " of " << here.ranks << ", " << total;
    ++compared;
  };
  static_cast<void>(test);
  const auto same = [](const auto& a, const auto& b) { return a.value == b.value && a.index == b.index; };
#define ONEFOLD_COMPARE(name) \
  check([](const layout& rows, const T* a, uint64_t n, auto* result) { o::name##_into(rows, a, n, result); }, o::name(one, x), same)
  ONEFOLD_COMPARE(argmin);
  ONEFOLD_COMPARE(argmax);
  ONEFOLD_COMPARE(argmin_magnitude);
  ONEFOLD_COMPARE(argmax_magnitude);
#undef ONEFOLD_COMPARE
  check([](const layout& rows, const T* a, uint64_t n, auto* result) { o::argminmax_into(rows, a, n, result); },
        o::argminmax(one, x), [&](const auto& a, const auto& b) { return same(a.min, b.min) && same(a.max, b.max); });
}

TEST_F(several_ranks, give_the_first_places_of_extrema_cuda) {
  compared = 0;
  for (const uint64_t total : {uint64_t{1}, uint64_t{20'000}, uint64_t{1'000'003}})
    on_all([&](const rank& here) {
      compare_places<double>(*this, here, total, current_seed() + total);
      compare_places<float>(*this, here, total, current_seed() + total + 1);
      compare_places<std::int32_t>(*this, here, total, current_seed() + total + 2);
      compare_places<std::uint64_t>(*this, here, total, current_seed() + total + 3);
      compare_places<std::int8_t>(*this, here, total, current_seed() + total + 4);
      compare_places<std::uint16_t>(*this, here, total, current_seed() + total + 5);
    });
  std::printf("%llu places over %d ranks compared\n", static_cast<unsigned long long>(compared.load()), ranks_);
}

void several_ranks::expect_graphs_to_have_the_bits() {
  std::vector<double> x(200'000);
  const random_numbers random(current_seed());
  for (uint64_t i = 0; i < x.size(); ++i) x[i] = element<double>(random, i);
  on_all([&](const rank& here) {
    const auto cuts = cuts_of(x.size(), here.ranks, current_seed());
    const uint64_t first = cuts[static_cast<std::size_t>(here.number)],
                   count = cuts[static_cast<std::size_t>(here.number) + 1] - first;
    const device_memory mine(count * sizeof(double)), results(6 * sizeof(double));
    const layout rows(here.comm, here.number, here.stream, count);
    auto* const result = results.as<double>();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t launched = nullptr;
    expect_success(cudaStreamBeginCapture(here.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    onefold::sum_into(rows, mine.as<double>(), count, result);
    onefold::norm2_into(rows, mine.as<double>(), count, result + 1);
    onefold::minmax_into(rows, mine.as<double>(), count, reinterpret_cast<onefold::minmax_result<double>*>(result + 2));
    onefold::sum_into(rows, mine.as<double>(), count, result + 4, exactly());
    onefold::norm2_into(rows, mine.as<double>(), count, result + 5, exactly());
    expect_success(cudaStreamEndCapture(here.stream, &graph), "cudaStreamEndCapture");
    expect_success(cudaGraphInstantiate(&launched, graph, 0), "cudaGraphInstantiate");
    std::vector<double> scaled = x;
    for (int again = 0; again < 3; ++again) {
      for (double& one : scaled) one *= -3.0;
      expect_success(
          cudaMemcpyAsync(mine.as<double>(), scaled.data() + first, count * sizeof(double), cudaMemcpyDefault, here.stream),
          "cudaMemcpyAsync");
      expect_success(cudaGraphLaunch(launched, here.stream), "cudaGraphLaunch");
      double got[6] = {};
      expect_success(cudaMemcpyAsync(got, result, sizeof(got), cudaMemcpyDefault, here.stream), "cudaMemcpyAsync");
      expect_success(cudaStreamSynchronize(here.stream), "cudaStreamSynchronize");
      EXPECT_EQ(got[4], onefold::sum(onefold::serial(), scaled, exactly()));
      EXPECT_EQ(got[5], onefold::norm2(onefold::serial(), scaled, exactly()));
      EXPECT_EQ(got[0], onefold::sum(onefold::serial(), scaled));
      EXPECT_EQ(got[1], onefold::norm2(onefold::serial(), scaled));
      const auto both = onefold::minmax(onefold::serial(), scaled);
      EXPECT_EQ(got[2], both.min);
      EXPECT_EQ(got[3], both.max);
    }
    cudaGraphExecDestroy(launched);
    cudaGraphDestroy(graph);
  });
}

TEST_F(several_ranks, can_be_recorded_in_graphs_cuda) { expect_graphs_to_have_the_bits(); }

// Functions of the index, which nvcc has compiled.
void several_ranks::expect_functions_to_have_the_bits(const std::vector<uint64_t>& totals) {
  compared = 0;
  std::atomic<uint64_t> refused = 0;
  const auto check = [&](const std::vector<both_results>& all) {
    for (const both_results& one : all) {
      // The images of eight results that the host is to put together have more bytes than a layout has for them.
      if (host_joins && one.problem == "an image is larger than a layout has room for") {
        EXPECT_NE(one.call.find("eight"), std::string::npos) << one.call;
        ++refused;
        continue;
      }
      EXPECT_EQ(one.problem, "") << one.call;
      EXPECT_FALSE(one.gpu.empty()) << one.call;
      EXPECT_EQ(one.gpu, one.cpu) << one.call;
      ++compared;
    }
  };
  for (const uint64_t total : totals) {
    SCOPED_TRACE(total);
    const auto cuts = cuts_of(total, ranks_, current_seed() + total);
    on_all([&](const rank& here) {
      check(functions_over_nccl_on_both_sides(here.comm, here.number, here.stream, cuts));
      if (!host_joins)
        check(functions_over_nccl_in_a_graph(here.comm, here.number, here.stream, cuts));  // eight results among them
    });
  }
  EXPECT_LE(8 * refused, compared);
  std::printf("%llu results of functions over %d ranks compared\n", static_cast<unsigned long long>(compared.load()), ranks_);
}

TEST_F(several_ranks, have_the_bits_of_one_core_of_functions_cuda) {
  expect_functions_to_have_the_bits({0, 1, 700, 1024, 20'000, 65'536, 1'000'003});
}

// What happens over more than 400 ranks, or where they are cut into very many subtrees.
TEST_F(several_ranks, have_the_bits_of_one_core_where_the_host_puts_images_together_cuda) {
  struct set {
    set() { host_joins = true; }
    ~set() { host_joins = false; }
  } const by_the_host;
  const uint64_t before = joined_by_host;
  for (const uint64_t total : {uint64_t{1}, uint64_t{20'000}, uint64_t{1'000'003}})
    on_all([&](const rank& here) {
      compare_forms<double>(*this, here, total, current_seed() + total);
      compare_forms<std::int32_t>(*this, here, total, current_seed() + total + 1);
      compare_forms<std::uint8_t>(*this, here, total, current_seed() + total + 2);
      compare_forms<onefold::float16>(*this, here, total, current_seed() + total + 3);
      compare_complex_forms<std::complex<double>>(*this, here, total, current_seed() + total + 4);
    });
  EXPECT_GE(joined_by_host - before, 3U * 30U * static_cast<uint64_t>(ranks_)) << "the host was not asked";
  expect_graphs_to_have_the_bits();
  expect_functions_to_have_the_bits({1, 700, 20'000, 1'000'003});
}

}  // namespace
}  // namespace onefold_test
