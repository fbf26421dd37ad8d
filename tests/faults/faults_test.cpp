/// @file faults_test.cpp  Every CUDA runtime call that onefold makes fails in its turn, in every way; and the CUDA backend's host
/// logic, which needs no GPU.

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <set>
#include <thread>

#include <onefold/onefold.hpp>

#include "../../backends/cuda/exact/kernels.hpp"
#include "../../backends/cuda/fixed_order/batched.hpp"
#include "../../backends/cuda/runtime.hpp"
#include "../../src/batch.hpp"
#include "../support/gtest_support.hpp"
#include "fake_runtime.hpp"

namespace onefold_test {
namespace {

using onefold::backend;
using onefold::errc;
using onefold::finish;

// --- one operation, made to fail
// -------------------------------------------------------------------------------------------------------

enum class delivery { value, into, values_of_batch, into_of_batch, values_of_range, into_of_range, words };

struct operation_under_fault {
  std::string_view variant;
  finish how;
  delivery as;
};

struct fault {
  cudaError_t status;
  bool sticky;
  errc code;  ///< that the error must carry
};
constexpr fault faults[] = {{cudaErrorMemoryAllocation, false, errc::out_of_memory},
                            {cudaErrorInvalidValue, false, errc::device_error},
                            {cudaErrorLaunchFailure, true, errc::device_lost},
                            {cudaErrorNoDevice, false, errc::backend_unavailable}};

// Enough elements for every variant to need working memory.
constexpr std::uint64_t count = 530'000;

std::vector<operation_under_fault> operations() {
  std::vector<operation_under_fault> all;
  for (const auto& variant : onefold::variants(backend::cuda)) {
    if (variant.seed == "peer") continue;  // calls CUDA itself, see fake_runtime.hpp
    auto finishes = std::vector<finish>(variant.finishes.begin(), variant.finishes.end());
    if (finishes.empty()) finishes.push_back(finish::automatic);
    for (const auto how : finishes) {
      all.push_back({variant.name, how, delivery::value});
      if (how != finish::host) all.push_back({variant.name, how, delivery::into});
    }
    if (variant.name == "superaccumulator") all.push_back({variant.name, finish::automatic, delivery::words});
    if (variant.name != "fixed_order") continue;
    for (const auto as : {delivery::values_of_batch, delivery::into_of_batch, delivery::values_of_range, delivery::into_of_range})
      all.push_back({variant.name, finish::automatic, as});
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<operation_under_fault>& info) {
  constexpr const char* ways[] = {"_value", "_into", "_batch", "_batch_into", "_range", "_range_into", "_words"};
  return std::string(info.param.variant) + "_" + std::string(onefold::name(info.param.how)) + ways[static_cast<int>(info.param.as)];
}

bool waits(delivery as) { return as == delivery::value || as == delivery::values_of_batch || as == delivery::values_of_range; }

void PrintTo(const operation_under_fault& one, std::ostream* out) {
  *out << one.variant << ", " << onefold::name(one.how) << (waits(one.as) ? "" : ", into");
}

// A device that onefold has not seen, with its own stream or the caller's.
struct stage {
  onefold::executor where;
  const float* input;
  float* output;
};

class each_operation : public testing::TestWithParam<operation_under_fault> {
 protected:
  void run(const stage& on, std::uint64_t elements = count) {
    const onefold::options how{.variant = GetParam().variant, .finish = GetParam().how};
    if (GetParam().as == delivery::into) return onefold::sum_into(on.where, on.input, elements, on.output, how);
    if (GetParam().as == delivery::values_of_range || GetParam().as == delivery::into_of_range) return run_range(on, elements);
    if (GetParam().as == delivery::words) return run_words(on, elements, how);
    if (GetParam().as != delivery::value) return run_batch(on, elements);
    const float sum = onefold::sum(on.where, on.input, elements, how);
    EXPECT_EQ(sum, 0.0f);  // what the fake's memory adds up to
  }

  // Three reductions that are launched together, if they have elements, and one by itself.
  void run_batch(const stage& on, std::uint64_t elements) {
    const bool waits_for_them = waits(GetParam().as);
    float sums[2] = {1, 1};
    onefold::arg_result<float> least{1, 1};
    onefold::argminmax_result<float> both{{1, 1}, {1, 1}};
    onefold::detail::request all[] = {
        {on.where, onefold::element_type::f32, onefold::form::sum, on.input, elements, &sums[0], waits_for_them},
        {on.where, onefold::element_type::f32, onefold::form::argmin, on.input, 10, &least, waits_for_them},
        {on.where, onefold::element_type::f32, onefold::form::argminmax, on.input, 10, &both, waits_for_them},
        {on.where, onefold::element_type::f32, onefold::form::max, on.input, 70, &sums[1], waits_for_them}};
    std::vector<onefold_request> requests;
    for (auto& one : all) {
      if (!waits_for_them) one.output = on.output;
      requests.push_back(onefold::detail::c_request(one));
    }
    onefold::detail::run_batch(requests, {});
    if (!waits_for_them) return;
    EXPECT_EQ(sums[0], 0.0f);  // what the fake's memory gives
    EXPECT_EQ(sums[1], 0.0f);
    EXPECT_EQ(least.value, 0.0f);
    EXPECT_EQ(both.min.value, 0.0f);
  }

  // A state's words, and their result, in stream order.
  void run_words(const stage& on, std::uint64_t elements, const onefold::options& how) {
    using state = onefold::exact_state<onefold::form::sum, float>;
    if (words_ == nullptr) words_ = static_cast<std::int64_t*>(runtime_.device_memory(state::size() * sizeof(std::int64_t)));
    state::put_words(on.where, on.input, elements, words_, how);
    state::put_value(on.where, words_, on.output);
  }

  // The nodes of a range that begins at its fifth tile, and elements beside them; of `count` elements, which stand for more, leaf by leaf.
  void run_range(const stage& on, std::uint64_t elements) {
    using namespace onefold::detail;
    if (elements == 0) return;
    constexpr std::uint64_t tile = 1024;
    const std::uint64_t tiles = elements == count ? range_tiles : elements / tile + 1;
    if (array_of_range_ == nullptr)
      array_of_range_ = static_cast<float*>(runtime_.device_memory((range_tiles + 1) * tile * sizeof(float)));
    if (image_ == nullptr) image_ = runtime_.device_memory(1 << 16);
    float nodes[64];
    std::fill(std::begin(nodes), std::end(nodes), 1.0f);
    float head[100];
    gpu_reading what;
    const request all{on.where, onefold::element_type::f32, onefold::form::sum, array_of_range_, tiles * tile, nullptr, false};
    what.nodes.push_back({c_request(all), 5, tile, 10, reinterpret_cast<std::byte*>(nodes), sizeof(float), false});
    what.copies.push_back({head, array_of_range_, sizeof(head)});
    onefold_options how{};
    how.struct_bytes = sizeof(how);
    if (!waits(GetParam().as)) return static_cast<void>(put_on_stream(what, how, image_));
    const auto batch = put_on_stream(what, how);
    batch->wait(what.node_count());
    store(what, batch->data());
    for (std::size_t k = 0; k < what.node_count(); ++k) EXPECT_EQ(nodes[k], 0.0f);
  }

  [[nodiscard]] stage fresh(bool with_stream) {
    const int device = fake_runtime::fresh_device();
    return {with_stream ? onefold::cuda(device, fake_runtime::fresh_stream()) : onefold::cuda(device), input_, output_};
  }

  // What a stage holds after `calls` without faults: the memory that onefold keeps for a stream.
  template <class Prepare>
  std::size_t kept_after(Prepare prepare) {
    const std::size_t before = runtime_.live();
    const stage on = prepare();
    run(on);
    return runtime_.live() - before;
  }

  // Fails call after call until the operation gets through, each time on a new stage.
  template <class Prepare>
  void expect_every_fault_handled(Prepare prepare) {
    const std::size_t kept = kept_after(prepare);
    for (const auto& [status, sticky, code] : faults) {
      std::uint64_t k = 0;
      bool reached = true;
      while (reached && !HasFailure()) {
        const std::size_t before = runtime_.live();
        runtime_.make_current(0);
        const stage on = prepare();
        runtime_.fail(++k, status, sticky);
        SCOPED_TRACE("call " + std::to_string(k) + " fails with " + cudaGetErrorName(status));
        expect_one_fault_handled(on, sticky, code, &reached);
        runtime_.mend();
        EXPECT_NO_THROW(run(on)) << "the next call does not work";
        EXPECT_EQ(runtime_.live() - before, kept) << "leaked, or freed too much";
        EXPECT_EQ(runtime_.live_async(), 0u) << "leaked scratch memory";
        ASSERT_LT(k, 200u) << "the operation never gets through";
      }
      EXPECT_GT(k, 3u) << "almost no call went through the seam: this test proved nothing";
    }
  }

  // Putting the caller's context and capture mode back and giving scratch memory back happen in destructors, which have nobody to tell. A
  // driver that does not know whether it is MPS's is taken for one that is, and memory that it does not know for nobody's.
  static bool is_told_by_the_next_call(std::string_view call) {
    return is_putting_back(call) || call == "cudaFreeAsync" || call == "cudaDeviceGetAttribute" || call == "cuPointerGetAttribute";
  }
  static bool is_putting_back(std::string_view call) {
    return call == "cuCtxSetCurrent" || call == "cudaThreadExchangeStreamCaptureMode";
  }

  void expect_one_fault_handled(const stage& on, bool sticky, errc code, bool* reached) {
    try {
      run(on);
      *reached = runtime_.failed_call().has_value();
      EXPECT_TRUE(!*reached || is_told_by_the_next_call(*runtime_.failed_call())) << *runtime_.failed_call() << " failed, unsaid";
    } catch (const onefold::error& problem) {
      ASSERT_TRUE(runtime_.failed_call()) << "threw though nothing had failed: " << problem.what();
      EXPECT_EQ(problem.code(), code) << onefold::name(problem.code()) << ": " << problem.what();
      EXPECT_TRUE(is_told_by_the_next_call(*runtime_.failed_call()) ||
                  std::string_view(problem.what()).find(*runtime_.failed_call()) != std::string_view::npos)
          << *runtime_.failed_call() << " failed, and the sentence does not say so: " << problem.what();
      if (sticky) {
        EXPECT_TRUE(refuses(code, "", [&] { run(on); })) << "the device is lost, and the next call has not noticed";
      }
    }
    EXPECT_EQ(runtime_.live_async(), 0u) << "leaked scratch memory";
    if (!sticky) {
      EXPECT_EQ(runtime_.error_left_behind(), cudaSuccess) << *runtime_.failed_call() << " has left its error to the application";
      if (!runtime_.failed_call() || !is_putting_back(*runtime_.failed_call())) {
        EXPECT_EQ(runtime_.context_now(), fake_runtime::primary_context(0)) << "the caller's context was not put back";
        EXPECT_EQ(runtime_.capture_mode(), cudaStreamCaptureModeGlobal) << "the caller's capture mode was not put back";
      }
    }
    fake_runtime::put_mode_back();
  }

  fake_runtime runtime_;
  const float* input_ = static_cast<const float*>(runtime_.device_memory(count * sizeof(float)));
  float* output_ = static_cast<float*>(runtime_.device_memory(32));
  static constexpr std::uint64_t range_tiles = 3500;
  float* array_of_range_ = nullptr;
  std::int64_t* words_ = nullptr;
  void* image_ = nullptr;
};

TEST_P(each_operation, survives_every_fault_of_the_first_call_on_a_device) {
  expect_every_fault_handled([this] { return fresh(false); });
}

TEST_P(each_operation, survives_every_fault_of_the_first_call_on_a_callers_stream) {
  expect_every_fault_handled([this] { return fresh(true); });
}

TEST_P(each_operation, survives_every_fault_of_a_later_call) {
  expect_every_fault_handled([this] {
    const stage on = fresh(true);
    run(on);
    return on;
  });
}

TEST_P(each_operation, survives_every_fault_of_a_later_call_that_needs_more_memory) {
  expect_every_fault_handled([this] {
    const stage on = fresh(true);
    run(on, 5);
    return on;
  });
}

TEST_P(each_operation, puts_all_its_work_on_the_callers_stream) {
  const stage on = fresh(true);
  runtime_.forget_streams();
  for (const std::uint64_t elements : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{50'000}, count})
    run(on, elements);
  EXPECT_EQ(runtime_.streams_used(), std::set<cudaStream_t>{on.where.stream()});
  EXPECT_GT(runtime_.launches(), 0u);
}

TEST_P(each_operation, neither_waits_nor_allocates_in_a_later_call_that_is_captured) {
  if (waits(GetParam().as)) {
    const stage on = fresh(true);
    run(on);
    runtime_.capture(on.where.stream());
    EXPECT_TRUE(refuses(errc::unsupported, "captured", [&] { run(on); }));
    EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
    return;
  }
  const stage on = fresh(true);
  run(on);
  runtime_.capture(on.where.stream());
  EXPECT_NO_THROW(run(on));
  EXPECT_NO_THROW(run(on, 0));
  EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
  runtime_.capture(std::nullopt);
  EXPECT_NO_THROW(run(on));
}

TEST_P(each_operation, records_the_first_call_of_a_stream_without_spoiling_the_capture) {
  const stage on = fresh(true);
  runtime_.capture(on.where.stream());
  if (waits(GetParam().as))
    EXPECT_TRUE(refuses(errc::unsupported, "captured", [&] { run(on); }));
  else
    EXPECT_NO_THROW(run(on));
  EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
  runtime_.capture(std::nullopt);
  EXPECT_NO_THROW(run(on));
}

TEST_P(each_operation, survives_every_fault_of_a_call_that_is_captured) {
  if (waits(GetParam().as)) return;  // cannot be recorded
  const stage warm = fresh(true);
  run(warm);
  std::uint64_t k = 0;
  for (bool reached = true; reached && !HasFailure();) {
    const stage on{onefold::cuda(warm.where.device(), fake_runtime::fresh_stream()), input_, output_};
    fake_runtime::make_current(0);
    runtime_.capture(on.where.stream());
    runtime_.fail(++k, cudaErrorInvalidValue, false);
    SCOPED_TRACE("call " + std::to_string(k));
    expect_one_fault_handled(on, false, errc::device_error, &reached);
    runtime_.mend();
    EXPECT_NO_THROW(run(on)) << "the next call does not work";
    EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
    runtime_.capture(std::nullopt);
    runtime_.destroy_graphs();
    ASSERT_LT(k, 200u);
  }
  EXPECT_GT(k, 6u);
  // Nothing is lost: the memory of two calls, which one that failed and the next one had, has served them all.
  const std::size_t held = runtime_.live();
  onefold::release_memory(warm.where);
  EXPECT_LE(held - runtime_.live(), 3u * 6u);
}

// A call that failed half-way leaves the workspace in doubt, and putting it in order has to wait for the device: not in a capture.
TEST_P(each_operation, does_not_spoil_a_capture_after_a_failure) {
  const stage on = fresh(true);
  run(on);
  std::uint64_t k = 1;
  for (;; ++k) {  // until the launch fails
    runtime_.fail(k, cudaErrorInvalidValue, false);
    try {
      run(on);
    } catch (const onefold::error&) {
    }
    if (runtime_.failed_call() == "cudaLaunchKernelExC" || runtime_.failed_call() == "cuLaunchKernelEx") break;
    ASSERT_LT(k, 100u);
  }
  runtime_.mend();
  runtime_.capture(on.where.stream());
  try {
    run(on);
  } catch (const onefold::error& problem) {
    EXPECT_EQ(problem.code(), errc::unsupported) << problem.what();
  }
  EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
}

// A graph holds addresses: what it has recorded must stay where it is and be nobody else's for as long as the graph lives, and then not be lost.
TEST_P(each_operation, keeps_the_memory_that_a_graph_has_recorded) {
  if (waits(GetParam().as)) return;  // cannot be recorded
  const stage on = fresh(true);
  constexpr std::uint64_t some = 140'000;  // more than one cluster does without memory
  run(on, some);
  const auto before = runtime_.live_addresses();
  runtime_.capture(on.where.stream());
  run(on, some);
  runtime_.capture(std::nullopt);
  auto recorded = runtime_.live_addresses();
  for (void* address : before) recorded.erase(address);
  EXPECT_FALSE(recorded.empty()) << "the graph has the memory of other calls";
  run(on);  // needs more
  for (int i = 0; i < 100; ++i) run({onefold::cuda(on.where.device(), fake_runtime::fresh_stream()), on.input, on.output});
  onefold::release_memory(on.where);
  const auto now = runtime_.live_addresses();
  for (void* address : recorded) EXPECT_TRUE(now.contains(address)) << "freed under the graph";
  runtime_.destroy_graphs();
  runtime_.capture(on.where.stream());
  run(on, some);
  runtime_.capture(std::nullopt);
  EXPECT_EQ(runtime_.live_addresses(), now) << "what a graph had is lost when it goes";
  runtime_.destroy_graphs();
  onefold::release_memory(on.where);
  for (void* address : recorded) EXPECT_FALSE(runtime_.live_addresses().contains(address)) << "not given back";
}

INSTANTIATE_TEST_SUITE_P(cuda_backend, each_operation, testing::ValuesIn(operations()), name_of);

// --- host logic on a device that is not there
// ------------------------------------------------------------------------------------------

class cuda_host_logic : public testing::Test {
 protected:
  cuda_host_logic()
      : device_(fake_runtime::fresh_device()),
        where_(onefold::cuda(device_)),
        input_(static_cast<float*>(runtime_.device_memory(count * sizeof(float)))),
        output_(static_cast<float*>(runtime_.device_memory(sizeof(float)))) {}

  void expect_refused(errc code, std::string_view words, const onefold::options& how) {
    EXPECT_TRUE(refuses(code, words, [&] { static_cast<void>(onefold::sum(where_, input_, count, how)); }));
    EXPECT_EQ(onefold::sum(where_, input_, count), 0.0f) << "the next call does not work";
  }

  fake_runtime runtime_;
  int device_;
  onefold::executor where_;
  float* input_;
  float* output_;
  double* wide_output_ = static_cast<double*>(runtime_.device_memory(sizeof(double)));
};

TEST_F(cuda_host_logic, refuses_shapes_that_a_variant_does_not_offer) {
  for (const auto& variant : onefold::variants(backend::cuda)) {
    SCOPED_TRACE(variant.name);
    const auto with = [&](onefold::options how) {
      how.variant = variant.name;
      return how;
    };
    expect_refused(errc::unsupported, "block_size", with({.block_size = 33}));
    expect_refused(errc::unsupported, "width", with({.width = 5}));
    if (variant.grid_size_free)
      expect_refused(errc::unsupported, "grid_size", with({.grid_size = std::int64_t{1} << 32}));
    else
      expect_refused(errc::unsupported, "grid", with({.grid_size = 4}));
    for (int i = 1; i < onefold::finish_count; ++i)
      if (std::ranges::find(variant.finishes, static_cast<finish>(i)) == variant.finishes.end())
        expect_refused(errc::unsupported, onefold::name(static_cast<finish>(i)), with({.finish = static_cast<finish>(i)}));
  }
}

TEST_F(cuda_host_logic, meets_every_shape_that_a_variant_offers_and_reports_it) {
  for (const auto& variant : onefold::variants(backend::cuda)) {
    if (variant.seed == "peer") continue;
    for (int t = 0; t < onefold::full_type_count; ++t) {
      for (int o = 0; o < onefold::operation_count; ++o) {
        trial asked;
        asked.where = where_;
        asked.variant = variant.name;
        asked.type = static_cast<element_type>(t);
        asked.op = static_cast<operation>(o);
        if (!variant.supports(asked.type, asked.op)) continue;
        const auto expect_met = [&](const trial& one) {
          const auto wrong = not_as_asked(one, 1000, reduce(one, input_, 1000).ran);
          EXPECT_FALSE(wrong) << *wrong;
        };
        expect_met(asked);
        for (const auto how : variant.finishes) {
          trial one = asked;
          one.how = how;
          expect_met(one);
        }
        for (const int block_size : variant.block_sizes) {
          trial one = asked;
          one.block_size = block_size;
          expect_met(one);
        }
        for (const int width : variant.widths) {
          trial one = asked;
          one.width = width;
          expect_met(one);
        }
        if (variant.grid_size_free) {
          trial one = asked;
          one.grid_size = 3;
          expect_met(one);
        }
      }
    }
  }
}

TEST_F(cuda_host_logic, tells_host_memory_and_the_memory_of_another_device) {
  const std::vector<float> host(10, 1.0f);
  float result = 0;
  EXPECT_TRUE(refuses(errc::host_pointer, "input is host memory",
                      [&] { static_cast<void>(onefold::sum(where_, host, {.variant = "vector_load"})); }));
  EXPECT_TRUE(refuses(errc::host_pointer, "output is host memory", [&] { onefold::sum_into(where_, input_, 10, &result); }));
  const auto* elsewhere = static_cast<const float*>(runtime_.device_memory(40, device_ + 1));
  EXPECT_TRUE(refuses(errc::wrong_device, "use cuda(" + std::to_string(device_ + 1) + ")",
                      [&] { static_cast<void>(onefold::sum(where_, elsewhere, 10)); }));
  const int too_many = fake_runtime::devices + 5;
  EXPECT_TRUE(refuses(errc::backend_unavailable, "no CUDA device " + std::to_string(too_many),
                      [&] { static_cast<void>(onefold::sum(onefold::cuda(too_many), input_, 10)); }));
  EXPECT_EQ(runtime_.current_device(), 0);
  EXPECT_EQ(onefold::sum(where_, input_, count), 0.0f);
}

TEST_F(cuda_host_logic, serves_host_threads_that_are_new_to_cuda) {
  for (const int device : {0, device_}) {
    std::string wrong;
    std::thread([&] {
      try {
        if (onefold::sum(onefold::cuda(device), input_, count) != 0.0f) wrong = "the sum is wrong";
      } catch (const onefold::error& problem) {
        wrong = problem.what();
      }
    }).join();
    EXPECT_EQ(wrong, "") << "on device " << device;
  }
}

TEST_F(cuda_host_logic, says_when_there_is_no_device) {
  onefold::cuda_backend::calls().get_device_count = [](int* devices) {
    *devices = 0;
    return cudaSuccess;
  };
  const int unseen = fake_runtime::fresh_device();
  EXPECT_TRUE(refuses(errc::backend_unavailable, "CUDA_VISIBLE_DEVICES",
                      [&] { static_cast<void>(onefold::sum(onefold::cuda(unseen), input_, 10)); }));
}

TEST_F(cuda_host_logic, says_which_variant_needs_a_newer_device) {
  const auto variant = onefold::variants(backend::cuda).front();
  EXPECT_EQ(onefold::why_not(variant, where_), std::nullopt);
  auto& ask = onefold::cuda_backend::calls().get_properties;
  static auto usual = ask;
  ask = [](cudaDeviceProp* properties, int device) {
    const auto status = usual(properties, device);
    properties->major = 6;
    return status;
  };
  const auto reason = onefold::why_not(variant, onefold::cuda(fake_runtime::fresh_device()));
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("needs compute capability 7.0"), std::string::npos) << *reason;
  EXPECT_NE(reason->find("has 6."), std::string::npos) << *reason;
}

TEST_F(cuda_host_logic, gives_identities_without_a_launch_and_stores_them_with_one) {
  const std::uint64_t before = runtime_.launches();
  EXPECT_EQ(onefold::min(where_, static_cast<const float*>(nullptr), 0), std::numeric_limits<float>::infinity());
  EXPECT_EQ(runtime_.launches(), before);
  onefold::report ran;
  onefold::max_into(where_, static_cast<const float*>(nullptr), 0, output_, {.report = &ran});
  EXPECT_EQ(runtime_.launches(), before + 1);
}

TEST_F(cuda_host_logic, keeps_the_workspaces_of_a_bounded_number_of_streams) {
  const std::size_t before = runtime_.live();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(onefold::sum(onefold::cuda(device_, fake_runtime::fresh_stream()), input_, count), 0.0f);
  EXPECT_LT(runtime_.live() - before, 64u * 6u + 1) << "an application that makes streams without end would run out of memory";
}

TEST_F(cuda_host_logic, takes_over_no_memory_whose_work_has_not_ended) {
  const auto call_on_a_new_stream = [&] {
    onefold::sum_into(onefold::cuda(device_, fake_runtime::fresh_stream()), input_, count, output_);
  };
  runtime_.make_busy(true);
  for (int i = 0; i < 70; ++i) call_on_a_new_stream();
  const auto held = onefold::memory_in_use(where_);
  EXPECT_EQ(held.streams, 70);
  const auto addresses = runtime_.live_addresses();
  runtime_.make_busy(false);
  for (int i = 0; i < 200; ++i) call_on_a_new_stream();
  EXPECT_EQ(runtime_.live_addresses(), addresses);
  onefold::release_memory(where_);
  EXPECT_EQ(onefold::memory_in_use(where_).device_bytes, 0u);
}

TEST_F(cuda_host_logic, gives_no_memory_back_before_the_work_with_it_has_ended) {
  static int asked = 0;
  asked = 0;
  for (const std::string_view variant : {"fixed_order", "vector_load"}) {
    onefold::sum_into(where_, input_, count, output_, {.variant = variant});
    auto& calls = onefold::cuda_backend::calls();
    if (variant == "fixed_order")
      calls.have_ended = [](unsigned long long, unsigned long long launched) { return launched == 1 && ++asked == 3; };
    else
      calls.event_query = [](cudaEvent_t) { return ++asked == 3 ? cudaSuccess : cudaErrorNotReady; };
    onefold::release_memory(where_);
    EXPECT_EQ(asked, 3) << variant;
    asked = 0;
    calls.have_ended = [](unsigned long long, unsigned long long) { return true; };
  }
  EXPECT_EQ(onefold::memory_in_use(where_).device_bytes, 0u);
  EXPECT_EQ(runtime_.live_events(), 0u);
}

// The handle of a destroyed stream is given again, to a stream that is then captured: two graphs with the same slots wait for each other's
// values for ever when they run side by side.
TEST_F(cuda_host_logic, gives_a_captured_call_memory_that_no_other_has_whatever_its_streams_handle) {
  const cudaStream_t handle = fake_runtime::fresh_stream();
  const auto on = onefold::cuda(device_, handle);
  onefold::sum_into(on, input_, count, output_);
  auto known = runtime_.live_addresses();
  for (int graph = 0; graph < 3; ++graph) {
    runtime_.capture(handle);
    onefold::sum_into(on, input_, count, output_);
    runtime_.capture(std::nullopt);
    runtime_.destroy_and_make_again(handle);
    const auto now = runtime_.live_addresses();
    EXPECT_GT(now.size(), known.size()) << "graph " << graph << " has recorded the memory of another call";
    known = now;
  }
}

TEST_F(cuda_host_logic, spoils_no_capture_of_anybody) {
  for (int i = 0; i < 30; ++i) onefold::sum_into(onefold::cuda(device_, fake_runtime::fresh_stream()), input_, count, output_);
  runtime_.capture(fake_runtime::fresh_stream());
  const auto expect_whole = [&](const char* after) { EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt) << "after " << after; };
  for (int i = 0; i < 50; ++i) onefold::sum_into(onefold::cuda(device_, fake_runtime::fresh_stream()), input_, count, output_);
  expect_whole("calls on 80 streams");
  EXPECT_EQ(onefold::sum(where_, input_, count, {.variant = "vector_load"}), 0.0f);
  expect_whole("a call that waits");
  onefold::synchronize(where_);
  expect_whole("synchronize");
  onefold::release_memory(where_);
  expect_whole("release_memory");
  { onefold::workspace own(where_, count); }
  expect_whole("a workspace");
  const float* const first = input_;
  onefold::sum_into(onefold::cuda(fake_runtime::fresh_device()), first, count, output_);
  expect_whole("the first call on a device");
}

TEST_F(cuda_host_logic, tells_what_it_holds_while_another_thread_waits) {
  static std::atomic<bool> waits, may_go_on;
  waits = may_go_on = false;
  onefold::cuda_backend::calls().has_arrived = [](const volatile unsigned long long*, unsigned) {
    waits = true;
    return may_go_on.load();
  };
  onefold::cuda_backend::calls().stream_synchronize = [](cudaStream_t) {
    while (!may_go_on) std::this_thread::yield();
    return cudaSuccess;
  };
  auto sum = std::async(std::launch::async, [&] { return onefold::sum(where_, input_, count); });
  while (!waits) std::this_thread::yield();
  auto held = std::async(std::launch::async, [&] { return onefold::memory_in_use(where_); });
  EXPECT_EQ(held.wait_for(std::chrono::seconds(5)), std::future_status::ready) << "it waits for a call that waits for the GPU";
  may_go_on = true;
  EXPECT_GT(held.get().device_bytes, 0u);
  EXPECT_EQ(sum.get(), 0.0f);
}

TEST_F(cuda_host_logic, puts_the_callers_context_back_whichever_it_was) {
  const auto contexts = {fake_runtime::primary_context(0), fake_runtime::foreign_context(0), fake_runtime::foreign_context(device_),
                         fake_runtime::primary_context(device_), fake_runtime::context{}};
  for (const auto before : contexts) {
    fake_runtime::make_current(before);
    const auto expect_back = [&](const char* after) { EXPECT_EQ(fake_runtime::context_now(), before) << after; };
    EXPECT_EQ(onefold::sum(where_, input_, count), 0.0f);
    expect_back("sum");
    onefold::sum_into(where_, input_, count, output_, {.variant = "vector_load"});
    expect_back("sum_into");
    { onefold::workspace own(where_, count); }
    expect_back("a workspace");
    onefold::synchronize(where_);
    onefold::release_memory(where_);
    static_cast<void>(onefold::memory_in_use(where_));
    expect_back("release_memory");
    std::uint64_t k = 0;
    do {
      runtime_.fail(++k, cudaErrorInvalidValue, false);
      try {
        static_cast<void>(onefold::sum(where_, input_, count));
      } catch (const onefold::error&) {
      }
      const auto failed = runtime_.failed_call().value_or("");
      runtime_.mend();
      if (failed == "cuCtxSetCurrent" && fake_runtime::context_now() != before) fake_runtime::make_current(before);
      fake_runtime::put_mode_back();
      expect_back(failed.c_str());
      ASSERT_LT(k, 100u);
      if (failed.empty()) break;
    } while (true);
    EXPECT_GT(k, 3u);
  }
  fake_runtime::make_current(0);
}

TEST_F(cuda_host_logic, refuses_streams_and_memory_of_another_context) {
  const auto other = fake_runtime::foreign_context(device_);
  const auto* const theirs = static_cast<const float*>(runtime_.memory_of(count * sizeof(float), other));
  fake_runtime::make_current(other);
  EXPECT_TRUE(refuses(errc::unsupported, "input is memory of another CUDA context",
                      [&] { static_cast<void>(onefold::sum(where_, theirs, count)); }));
  const cudaStream_t stream = fake_runtime::fresh_stream();
  runtime_.make_foreign(stream, other);
  const auto on = onefold::cuda(device_, stream);
  EXPECT_TRUE(
      refuses(errc::unsupported, "stream is of another CUDA context", [&] { onefold::sum_into(on, input_, count, output_); }));
  EXPECT_TRUE(refuses(errc::unsupported, "stream is of another CUDA context", [&] { onefold::synchronize(on); }));
  const std::vector<float> host(10);
  EXPECT_EQ(onefold::sum(where_, host), 0.0f) << "host memory is nobody's";
  EXPECT_EQ(onefold::sum(where_, input_, count), 0.0f) << "what is of the primary context works";
  EXPECT_EQ(fake_runtime::context_now(), other);
  EXPECT_EQ(runtime_.error_left_behind(), cudaSuccess);
  for (std::uint64_t k = 1;; ++k) {  // every call in its turn
    runtime_.fail(k, cudaErrorInvalidValue, false);
    try {
      static_cast<void>(onefold::sum(onefold::cuda(device_, fake_runtime::fresh_stream()), input_, count));
    } catch (const onefold::error& problem) {
      EXPECT_TRUE(runtime_.failed_call()) << problem.what();
    }
    if (!runtime_.failed_call()) break;
    runtime_.mend();
    fake_runtime::put_mode_back();
    fake_runtime::make_current(other);
    EXPECT_EQ(runtime_.error_left_behind(), cudaSuccess);
    ASSERT_LT(k, 100u);
  }
  fake_runtime::make_current(0);
}

TEST_F(cuda_host_logic, copies_of_variants_in_place_need_no_pools) {
  auto& calls = onefold::cuda_backend::calls();
  calls.pool_create = [](cudaMemPool_t*, int) { return cudaErrorNotSupported; };
  calls.malloc_async = [](void**, std::size_t, cudaStream_t) { return cudaErrorNotSupported; };
  calls.malloc_from_pool_async = [](void**, std::size_t, cudaMemPool_t, cudaStream_t) { return cudaErrorNotSupported; };
  const auto where = onefold::cuda(fake_runtime::fresh_device());
  for (const char* const variant : {"bottom_up", "bottom_up_grid", "top_down", "top_down_levels"}) {
    SCOPED_TRACE(variant);
    onefold::report ran;
    EXPECT_NO_THROW(onefold::sum_into(where, input_, count, output_, {.variant = variant, .report = &ran}));
    EXPECT_EQ(ran.scratch_bytes, count * sizeof(float));
    EXPECT_EQ(runtime_.error_left_behind(), cudaSuccess);
  }
  onefold::release_memory(where);
  EXPECT_EQ(onefold::memory_in_use(where).device_bytes, 0u);
}

TEST_F(cuda_host_logic, leaves_no_error_to_the_application) {
  const auto everything = [&] {
    onefold::sum_into(where_, input_, 140'000, output_);
    onefold::sum_into(where_, input_, count, output_);
    onefold::sum_into(where_, input_, count, output_, {.variant = "bottom_up"});
    { onefold::workspace own(where_, count); }
    onefold::release_memory(where_);
  };
  everything();
  std::set<std::string> failed;
  for (std::uint64_t k = 1;; ++k) {
    runtime_.fail(k, cudaErrorInvalidValue, false);
    try {
      everything();
    } catch (const onefold::error&) {
    }
    if (!runtime_.failed_call()) break;
    EXPECT_EQ(runtime_.error_left_behind(), cudaSuccess) << *runtime_.failed_call();
    failed.insert(*runtime_.failed_call());
    runtime_.mend();
    fake_runtime::put_mode_back();
    fake_runtime::make_current(0);
    EXPECT_NO_THROW(everything());
    EXPECT_EQ(onefold::memory_in_use(where_).device_bytes, 0u);
    ASSERT_LT(k, 300u);
  }
  for (const char* const call : {"cudaFree", "cudaFreeHost", "cudaEventDestroy", "cudaFreeAsync"})
    EXPECT_TRUE(failed.contains(call)) << call << " has not been made: this test proves nothing of it";
}

TEST_F(cuda_host_logic, refuses_a_workspace_where_16_bytes_may_be_torn) {
  const std::size_t bytes = onefold::workspace::bytes(count);
  for (const auto type : {cudaMemoryTypeHost, cudaMemoryTypeManaged}) {
    void* const memory = runtime_.memory_of(bytes, nullptr, type);
    EXPECT_TRUE(refuses(errc::host_pointer, "memory of the device", [&] { onefold::workspace none(where_, memory, bytes); }));
  }
  EXPECT_NO_THROW(onefold::workspace own(where_, runtime_.memory_of(bytes, nullptr), bytes));
}

// Blocks that wait for others rely on these having been started before them. Where that is not known, all must be resident at once.
TEST_F(cuda_host_logic, launches_blocks_that_wait_as_cooperative_ones_where_their_order_is_not_known) {
  struct seen {
    unsigned grid;
    bool cooperative;
  };
  static std::vector<seen> launches;
  static int major = 0, shared_by_mps = 0;
  auto& calls = onefold::cuda_backend::calls();
  static const auto get_properties = calls.get_properties;
  calls.get_properties = [](cudaDeviceProp* properties, int device) {
    const auto status = get_properties(properties, device);
    properties->major = major;
    return status;
  };
  calls.get_attribute = [](int* value, cudaDeviceAttr, int) {
    *value = shared_by_mps;
    return shared_by_mps < 2 ? cudaSuccess : cudaErrorInvalidValue;
  };
  calls.max_active_blocks = [](int* blocks, const void*, int, std::size_t) {
    *blocks = 2;
    return cudaSuccess;
  };
  calls.launch_function = [](const cudaLaunchConfig_t* config, cudaFunction_t, void**) {
    bool cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; ++i)
      cooperative = cooperative || config->attrs[i].id == cudaLaunchAttributeCooperative;
    launches.push_back({config->gridDim.x, cooperative});
    return cudaSuccess;
  };
  struct device_kind {
    int major;
    int mps;
    bool in_order;
  };
  for (const auto& kind : {device_kind{9, 0, true}, {9, 1, false}, {9, 2, false}, {8, 0, false}, {7, 0, false}, {10, 0, false}}) {
    SCOPED_TRACE(std::to_string(kind.major) + ".0, MPS " + std::to_string(kind.mps));
    major = kind.major;
    shared_by_mps = kind.mps;
    launches.clear();
    const auto where = onefold::cuda(fake_runtime::fresh_device());
    // The fake reads nothing of so many elements, but the result may not lie among them: it lies ahead, whatever the heap has made first.
    const float* const from = std::max(input_, output_);
    float* const to = std::min(input_, output_);
    onefold::sum_into(where, from, std::uint64_t{1} << 28, to);
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0].cooperative, !kind.in_order);
    if (kind.in_order)
      EXPECT_GT(launches[0].grid, 1000u);
    else
      EXPECT_LE(launches[0].grid, 2u * 132u);
    if (!kind.in_order) {
      EXPECT_TRUE(refuses(errc::unsupported, "at once",
                          [&] { onefold::sum_into(where, from, std::uint64_t{1} << 28, to, {.grid_size = 265}); }));
    }
  }
}

TEST_F(cuda_host_logic, takes_bins_of_integers_where_a_gpu_has_few_units_for_doubles_or_little_shared_memory) {
  using onefold::cuda_backend::exact_bins;
  using onefold::cuda_backend::exact_terms;
  static int major = 0, minor = 0, compiled_for = 0;
  static std::size_t shared_bytes = 0;
  static const void* launched = nullptr;
  auto& calls = onefold::cuda_backend::calls();
  static const auto get_properties = calls.get_properties;
  calls.get_properties = [](cudaDeviceProp* properties, int device) {
    const auto status = get_properties(properties, device);
    properties->major = major;
    properties->minor = minor;
    properties->sharedMemPerBlockOptin = shared_bytes;
    return status;
  };
  calls.func_get_attributes = [](cudaFuncAttributes* attributes, const void*) {
    *attributes = {};
    attributes->ptxVersion = compiled_for;
    return cudaSuccess;
  };
  calls.launch_kernel = [](const cudaLaunchConfig_t* config, const void* kernel, void**) {
    launched = kernel;
    EXPECT_LE(config->dynamicSmemBytes, shared_bytes);
    return cudaSuccess;
  };
  const auto symbol_of = [](exact_bins bins, exact_terms terms) {
    return onefold::cuda_backend::exact_kernel_of(onefold::element_type::f32, terms, bins).symbol;
  };
  constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};
  struct device_kind {
    int major, minor;
    std::size_t shared_bytes;
    exact_bins bins;
    int code = 90;
  };
  constexpr auto doubles = exact_bins::doubles, integers = exact_bins::integers;
  constexpr std::size_t kib = 1024;
  for (const auto& kind : {device_kind{7, 0, 96 * kib, integers},
                           {8, 0, 163 * kib, doubles, 80},
                           {7, 5, 64 * kib, integers, 75},
                           {8, 6, 99 * kib, integers, 75},
                           {8, 6, 99 * kib, integers},
                           {8, 9, 99 * kib, integers},
                           {9, 0, 227 * kib, doubles},
                           {9, 0, 113 * kib, integers},
                           {10, 0, 227 * kib, doubles},
                           {12, 0, 99 * kib, integers},
                           {12, 1, 99 * kib, integers}}) {
    SCOPED_TRACE(std::to_string(kind.major) + "." + std::to_string(kind.minor) + ", " + std::to_string(kind.shared_bytes));
    major = kind.major;
    minor = kind.minor;
    compiled_for = kind.code;
    // What bins of doubles need, too, where they are asked for of a GPU that has no room for them.
    shared_bytes = kind.shared_bytes;
    const bool takes_doubles = kind.shared_bytes >= 96 * kib;
    const auto where = onefold::cuda(fake_runtime::fresh_device());
    onefold::sum_into(where, input_, count, output_, exactly);
    EXPECT_EQ(launched, symbol_of(kind.bins, exact_terms::elements));
    onefold::norm2_into(where, input_, count, output_, exactly);
    EXPECT_EQ(launched, symbol_of(kind.bins, exact_terms::squares));
    const exact_bins others = kind.bins == doubles ? integers : doubles;
    setenv("ONEFOLD_CUDA_EXACT", others == doubles ? "doubles" : "integers", 1);
    if (others == doubles && !takes_doubles) {
      EXPECT_TRUE(refuses(errc::unsupported, "shared memory", [&] { onefold::sum_into(where, input_, count, output_, exactly); }));
    } else {
      onefold::sum_into(where, input_, count, output_, exactly);
      EXPECT_EQ(launched, symbol_of(others, exact_terms::elements));
    }
    setenv("ONEFOLD_CUDA_EXACT", "floats", 1);
    EXPECT_TRUE(
        refuses(errc::invalid_argument, "doubles or integers", [&] { onefold::sum_into(where, input_, count, output_, exactly); }));
    unsetenv("ONEFOLD_CUDA_EXACT");
    // Less than it lends: as a GPU that lends no more.
    setenv("ONEFOLD_CUDA_SHARED_KIB", "99", 1);
    onefold::sum_into(where, input_, count, output_, exactly);
    EXPECT_EQ(launched, symbol_of(integers, exact_terms::elements));
    // As of compute capability 7.5, which other code than its own has no blocks for.
    setenv("ONEFOLD_CUDA_SHARED_KIB", kind.code == 75 ? "63" : "64", 1);
    if (kind.code == 75) {
      onefold::sum_into(where, input_, count, output_, exactly);
      EXPECT_EQ(launched, symbol_of(integers, exact_terms::elements));
      setenv("ONEFOLD_CUDA_SHARED_KIB", "32", 1);
    }
    launched = nullptr;
    EXPECT_TRUE(refuses(errc::unsupported, "shared memory", [&] { onefold::sum_into(where, input_, count, output_, exactly); }));
    EXPECT_EQ(launched, nullptr);
    for (const char* const wrong : {"0", "1025", "99k", "-1", "much"}) {
      setenv("ONEFOLD_CUDA_SHARED_KIB", wrong, 1);
      EXPECT_TRUE(refuses(errc::invalid_argument, "ONEFOLD_CUDA_SHARED_KIB",
                          [&] { onefold::sum_into(where, input_, count, output_, exactly); }));
    }
    unsetenv("ONEFOLD_CUDA_SHARED_KIB");
  }
}

TEST_F(cuda_host_logic, has_exact_kernels_of_every_type_for_64_kib) {
  using onefold::cuda_backend::exact_bins;
  using onefold::cuda_backend::exact_terms;
  const auto fits = [](const onefold::cuda_backend::exact_kernel& small, const onefold::cuda_backend::exact_kernel& large) {
    EXPECT_EQ(small.symbol, large.symbol);
    EXPECT_LE(small.shared_bytes + 2560, 64 * 1024u);
    EXPECT_GE(small.threads, 32);
    EXPECT_EQ(small.threads % 32, 0);
    // The same for each thread, which is what its bins have room for.
    EXPECT_EQ(small.most_of_block * static_cast<unsigned>(large.threads),
              large.most_of_block * static_cast<unsigned>(small.threads));
    EXPECT_EQ(small.elements_of_warp, large.elements_of_warp);
  };
  constexpr auto small = exact_bins::integers_in_64_kib, large = exact_bins::integers;
  for (const auto type : {onefold::element_type::f32, onefold::element_type::f64, onefold::element_type::f16,
                          onefold::element_type::bf16, onefold::element_type::i32, onefold::element_type::u64}) {
    SCOPED_TRACE(name(type));
    for (const auto terms : {exact_terms::elements, exact_terms::products, exact_terms::squares, exact_terms::turned_products})
      fits(onefold::cuda_backend::exact_kernel_of(type, terms, small), onefold::cuda_backend::exact_kernel_of(type, terms, large));
  }
  for (const auto type : {onefold::element_type::f32, onefold::element_type::f64})
    fits(onefold::cuda_backend::exact_kernel_of_two_types(type, small),
         onefold::cuda_backend::exact_kernel_of_two_types(type, large));
}

// Two launches, of which the second takes more slots than the first had asked for.
TEST_F(cuda_host_logic, keeps_what_a_captured_batch_has_outgrown) {
  static std::vector<void*> slots;
  auto& calls = onefold::cuda_backend::calls();
  static const auto launch_function = calls.launch_function;
  calls.launch_function = [](const cudaLaunchConfig_t* config, cudaFunction_t function, void** arguments) {
    slots.push_back(static_cast<const onefold::cuda_backend::batched_table*>(arguments[0])->header);
    return launch_function(config, function, arguments);
  };
  const cudaStream_t stream = fake_runtime::fresh_stream();
  const auto where = onefold::cuda(device_, stream);
  const auto* const whole = reinterpret_cast<const std::int32_t*>(input_);
  const onefold::detail::request of_floats{where, onefold::element_type::f32, onefold::form::sum, input_, 40'000, output_, false};
  const onefold::detail::request of_whole{where, onefold::element_type::i32, onefold::form::sum, whole, 400'000, wide_output_,
                                          false};
  const onefold_request all[] = {onefold::detail::c_request(of_floats), onefold::detail::c_request(of_whole)};
  runtime_.capture(stream);
  EXPECT_EQ(onefold_reduce_batch(all, 2, nullptr), ONEFOLD_OK) << onefold_last_error();
  runtime_.capture(std::nullopt);
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_NE(slots[0], slots[1]) << "the second launch needed no more: nothing was tried";
  for (void* const each : slots) EXPECT_TRUE(runtime_.live_addresses().contains(each)) << "freed under the graph";
  runtime_.destroy_graphs();
  onefold::release_memory(where);
  for (void* const each : slots) EXPECT_FALSE(runtime_.live_addresses().contains(each)) << "not given back";
}

TEST_F(cuda_host_logic, asks_for_no_more_shared_memory_than_a_block_has_and_never_for_less_than_before) {
  auto& calls = onefold::cuda_backend::calls();
  static const auto get_properties = calls.get_properties;
  static std::size_t lent = 0;
  calls.get_properties = [](cudaDeviceProp* properties, int device) {
    const auto status = get_properties(properties, device);
    properties->major = 7;
    properties->minor = lent == 65'536 ? 5 : 0;
    properties->sharedMemPerBlockOptin = lent;
    return status;
  };
  static int asked = 0;
  calls.func_set_attribute = [](const void*, cudaFuncAttribute, int bytes) {
    EXPECT_GE(bytes, asked);
    asked = bytes;
    return cudaSuccess;
  };
  calls.launch_kernel = [](const cudaLaunchConfig_t* config, const void*, void**) {
    EXPECT_LT(config->dynamicSmemBytes, lent);
    return cudaSuccess;
  };
  onefold::executor where = onefold::serial();
  const auto sum = [&](const auto* x, std::uint64_t n, const onefold::options& how) {
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
    onefold::reduce_into(where, x, n, reinterpret_cast<T*>(output_), onefold::op::sum{}, how);
  };
  const auto* const doubles = reinterpret_cast<const double*>(input_);
  const auto with_width = [&](int width) {
    sum(doubles, count / 2, {.variant = "segment_wide", .finish = onefold::finish::last_block, .width = width});
  };
  lent = 65'536;
  where = onefold::cuda(fake_runtime::fresh_device());
  sum(input_, count, {.variant = "persistent_blocks"});
  EXPECT_TRUE(refuses(errc::unsupported, "block_size of 1024",
                      [&] { sum(input_, count, {.variant = "persistent_blocks", .block_size = 1024}); }));
  EXPECT_TRUE(refuses(errc::unsupported, "width of 8192", [&] { with_width(8192); }));
  EXPECT_EQ(asked, 0);
  // A launch of another thread's may lie between its own call and its start.
  lent = 98'304;
  where = onefold::cuda(fake_runtime::fresh_device());
  for (const int width : {6144, 8192, 6144, 4096, 8192}) with_width(width);
  EXPECT_EQ(asked, 65'536);
}

TEST_F(cuda_host_logic, refuses_a_workspace_for_parts_on_several_streams) {
  const onefold::executor one = onefold::cuda(device_, fake_runtime::fresh_stream());
  const onefold::executor other = onefold::cuda(device_, fake_runtime::fresh_stream());
  onefold::workspace own(one, count);
  const onefold::parts<float> x{{input_, count / 2}, {input_ + count / 2, count - count / 2}};
  for (const auto guarantee : {onefold::guarantee::fixed, onefold::guarantee::exact}) {
    const onefold::options how{.guarantee = guarantee, .workspace = &own};
    runtime_.forget_streams();
    EXPECT_TRUE(refuses(errc::invalid_argument, "a workspace is for one stream", [&] {
      static_cast<void>(onefold::sum(onefold::devices{one, other}, x, how));
    }));
    EXPECT_TRUE(runtime_.streams_used().empty()) << "something was launched";
    EXPECT_NO_THROW(static_cast<void>(onefold::sum(onefold::devices{one, one}, x, how)));
    EXPECT_NO_THROW(static_cast<void>(onefold::sum(onefold::devices{one, onefold::serial()}, x, how)));
  }
}

TEST_F(cuda_host_logic, reports_every_failure_of_a_workspace_and_leaves_nothing_behind) {
  const onefold::executor where = onefold::cuda(device_, fake_runtime::fresh_stream());
  const auto use = [&] {
    onefold::workspace own(where, count);
    const std::size_t with_it = runtime_.live() + runtime_.live_async();
    for (int i = 0; i < 3; ++i) {
      onefold::sum_into(where, input_, count, output_, {.workspace = &own});
      EXPECT_EQ(onefold::dot(where, input_, input_, count, {.workspace = &own}), 0.0f);
    }
    EXPECT_EQ(runtime_.live() + runtime_.live_async(), with_it) << "calls with a workspace have allocated";
  };
  use();
  const std::size_t before = runtime_.live() + runtime_.live_async();
  std::uint64_t k = 1;
  for (;; ++k) {
    runtime_.fail(k, cudaErrorInvalidValue, false);
    try {
      use();
    } catch (const onefold::error& problem) {
      EXPECT_TRUE(runtime_.failed_call().has_value()) << problem.what();
    }
    if (!runtime_.failed_call()) break;
    fake_runtime::put_mode_back();
    fake_runtime::make_current(0);
    const bool freeing = runtime_.failed_call()->starts_with("cudaFree");
    EXPECT_LE(runtime_.live() + runtime_.live_async(), before + (freeing ? 1 : 0)) << *runtime_.failed_call();
    runtime_.mend();
    EXPECT_NO_THROW(use()) << "call " << k;
    ASSERT_LT(k, 200u);
  }
  EXPECT_GT(k, 20u);
}

// Slots that have grown hold anything until they are filled with zeros. When a call fails before that, the next one has to do it.
TEST_F(cuda_host_logic, fills_grown_slots_with_zeros_whatever_has_failed_before) {
  static int asked_for_zeros = 0;
  auto& calls = onefold::cuda_backend::calls();
  const auto working = calls;
  const auto grow = [&](const onefold::executor& where) {
    onefold::norm2_into(where, reinterpret_cast<const double*>(input_), count / 2, wide_output_);
  };
  for (const bool fails_at_free : {false, true}) {
    const onefold::executor where = onefold::cuda(device_, fake_runtime::fresh_stream());
    onefold::sum_into(where, input_, 140'000, output_);
    asked_for_zeros = 0;
    calls.memset_async = [](void*, int, std::size_t, cudaStream_t) {
      ++asked_for_zeros;
      return cudaErrorInvalidValue;
    };
    if (fails_at_free) calls.free_async = [](void*, cudaStream_t) { return cudaErrorInvalidValue; };
    EXPECT_THROW(grow(where), onefold::error);
    EXPECT_EQ(asked_for_zeros, fails_at_free ? 0 : 1) << "these slots did not grow: this test proves nothing";
    calls.free_async = working.free_async;
    EXPECT_THROW(grow(where), onefold::error);
    EXPECT_EQ(asked_for_zeros, fails_at_free ? 1 : 2) << "the next call takes slots that hold anything";
    calls.memset_async = working.memset_async;
    EXPECT_NO_THROW(grow(where));
  }
}

// Code that was compiled for older architectures runs on newer devices too, but without what newer ones can do. Above all it has no
// instruction to wait for the kernel ahead of it, so it must not start early.
TEST_F(cuda_host_logic, asks_nothing_of_kernels_that_they_were_not_compiled_for) {
  static int version;
  static std::set<cudaLaunchAttributeID> asked;
  auto& calls = onefold::cuda_backend::calls();
  calls.func_get_attributes = [](cudaFuncAttributes* attributes, const void*) {
    *attributes = {};
    attributes->ptxVersion = version;
    return cudaSuccess;
  };
  static const auto note = [](const cudaLaunchConfig_t* config) {
    for (unsigned i = 0; i < config->numAttrs; ++i) asked.insert(config->attrs[i].id);
    return cudaSuccess;
  };
  calls.launch_kernel = [](const cudaLaunchConfig_t* config, const void*, void**) { return note(config); };
  calls.launch_function = [](const cudaLaunchConfig_t* config, cudaFunction_t, void**) { return note(config); };
  for (const int compiled_for : {70, 80, 89, 90, 100}) {
    version = compiled_for;
    asked.clear();
    const auto where = onefold::cuda(fake_runtime::fresh_device());
    for (const std::uint64_t n : {std::uint64_t{1000}, std::uint64_t{100'000}, count}) onefold::sum_into(where, input_, n, output_);
    for (const auto& variant : onefold::variants(backend::cuda))
      if (std::ranges::find(variant.finishes, finish::atomic) != variant.finishes.end())
        onefold::sum_into(where, input_, count, output_, {.variant = variant.name, .finish = finish::atomic});
    const std::set<cudaLaunchAttributeID> newer{cudaLaunchAttributeProgrammaticStreamSerialization,
                                                cudaLaunchAttributeClusterDimension};
    EXPECT_EQ(asked, compiled_for >= 90 ? newer : std::set<cudaLaunchAttributeID>{}) << compiled_for;
  }
}

// A handle is of one device, and no other can be launched on with it.
TEST_F(cuda_host_logic, launches_by_the_handle_of_the_device_that_is_current) {
  static const fake_runtime* device_of;
  static std::vector<std::pair<int, int>> handle_and_device;
  device_of = &runtime_;
  handle_and_device.clear();
  auto& calls = onefold::cuda_backend::calls();
  calls.get_function = [](cudaFunction_t* function, const void*) {
    *function = reinterpret_cast<cudaFunction_t>(static_cast<std::uintptr_t>(device_of->current_device()));
    return cudaSuccess;
  };
  calls.launch_function = [](const cudaLaunchConfig_t*, cudaFunction_t function, void**) {
    handle_and_device.emplace_back(static_cast<int>(reinterpret_cast<std::uintptr_t>(function)), device_of->current_device());
    return cudaSuccess;
  };
  const int devices[] = {fake_runtime::fresh_device(), fake_runtime::fresh_device()};
  for (int turn = 0; turn < 2; ++turn)  // asked for, and remembered
    for (const int device : devices)
      for (const std::uint64_t n : {std::uint64_t{1000}, std::uint64_t{100'000}, count})
        onefold::sum_into(onefold::cuda(device), input_, n, output_);
  ASSERT_EQ(handle_and_device.size(), 12u);
  for (const auto& [handle, device] : handle_and_device) EXPECT_EQ(handle, device);
}

// The driver's own launch is a shorter way to the same; where it cannot be had the runtime's does.
TEST_F(cuda_host_logic, launches_through_the_runtime_where_the_driver_gives_no_handles) {
  static int through_runtime = 0;
  auto& calls = onefold::cuda_backend::calls();
  calls.get_function = [](cudaFunction_t* function, const void*) {
    *function = nullptr;
    return cudaSuccess;
  };
  calls.launch_kernel = [](const cudaLaunchConfig_t*, const void* kernel, void**) {
    through_runtime += kernel != nullptr ? 1 : 0;
    return cudaSuccess;
  };
  calls.launch_function = [](const cudaLaunchConfig_t*, cudaFunction_t, void**) { return cudaErrorNotSupported; };
  const auto where = onefold::cuda(fake_runtime::fresh_device());
  int calls_made = 0;
  for (const std::uint64_t n : {std::uint64_t{1000}, std::uint64_t{100'000}, count}) {
    EXPECT_NO_THROW(onefold::sum_into(where, input_, n, output_)) << n;
    EXPECT_EQ(through_runtime, ++calls_made);
  }
}

TEST_F(cuda_host_logic, refuses_a_product_or_sum_of_impossibly_many_blocks) {
  // 2^40 elements in blocks of 32 are more than a grid can have. The memory is never touched: the fake launches nothing.
  for (const auto& variant : onefold::variants(backend::cuda)) {
    if (variant.seed == "peer" || variant.block_sizes.empty() || variant.grid_size_free) continue;
    try {
      onefold::report ran;
      static_cast<void>(onefold::sum(where_, input_, std::uint64_t{1} << 40,
                                     {.variant = variant.name, .block_size = variant.block_sizes.front(), .report = &ran}));
      EXPECT_LE(ran.grid_size, 0x7fffffff) << variant.name;
    } catch (const onefold::error& problem) {
      EXPECT_TRUE(problem.code() == errc::unsupported || problem.code() == errc::out_of_memory)
          << variant.name << ": " << problem.what();
    }
    EXPECT_EQ(onefold::sum(where_, input_, count), 0.0f) << "the next call does not work";
  }
}

}  // namespace
}  // namespace onefold_test
