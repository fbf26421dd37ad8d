/// @file devices_test.cpp  One array on several devices: the bits of one core, with streams of their own and shared ones; and every call of CUDA's runtime
/// fails in its turn. On devices that are not there (slow_device.hpp).

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <onefold/onefold.hpp>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "../support/parts.hpp"
#include "fake_runtime.hpp"
#include "single_file.hpp"
#include "slow_device.hpp"

namespace onefold_test {
namespace {

using onefold::devices;
using onefold::element_type;
using onefold::errc;
using onefold::form;
using onefold::parts;

using bytes = std::vector<std::byte>;

template <class... R>
bytes bytes_of_all(const R&... results) {
  bytes all;
  const auto add = [&all](const void* from, std::size_t size) {
    const auto* const first = static_cast<const std::byte*>(from);
    all.insert(all.end(), first, first + size);
  };
  (add(&results, sizeof(results)), ...);
  return all;
}
bytes bytes_of_list(const std::vector<double>& of) {
  const auto* const first = reinterpret_cast<const std::byte*>(of.data());
  return {first, first + of.size() * sizeof(double)};
}

struct fault {
  cudaError_t status;
  bool sticky;
  errc code;
};
// The first on devices that onefold has never seen and on some that it has, the others on one of these.
constexpr fault faults[] = {{cudaErrorInvalidValue, false, errc::device_error},
                            {cudaErrorMemoryAllocation, false, errc::out_of_memory},
                            {cudaErrorLaunchFailure, true, errc::device_lost}};

// Two arrays in three parts, each in the memory of a device of its own, which onefold has not seen, and cut within tiles.
struct spread_arrays {
  devices where;
  parts<double> x, y;
  std::array<double*, 3> results;  ///< sixteen on each
};

class arrays_on_several_devices : public testing::Test {
 protected:
  static constexpr std::array<std::size_t, 4> cuts{0, 3 * 512 + 5, 5 * 512 + 5, 5 * 512 + 705};
  static constexpr std::size_t count = cuts.back();

  // Memory of whichever device asks. The arrays are the same in all calls.
  [[nodiscard]] double* on_device(const double* from, std::size_t elements) {
    auto* const to = static_cast<double*>(runtime_.device_memory(elements * sizeof(double)));
    if (from != nullptr) std::memcpy(to, from, elements * sizeof(double));
    return to;
  }
  [[nodiscard]] parts<double> in_parts(const std::vector<double>& x) {
    std::vector<parts<double>::part> all;
    for (std::size_t i = 0; i < 3; ++i)
      all.emplace_back(on_device(x.data() + cuts[i], cuts[i + 1] - cuts[i]), cuts[i + 1] - cuts[i]);
    return parts<double>(all);
  }
  // On three devices that onefold has not seen.
  [[nodiscard]] spread_arrays spread() {
    if (!arrays_)
      arrays_ = spread_arrays{
          devices{}, in_parts(x_), in_parts(y_), {on_device(nullptr, 16), on_device(nullptr, 16), on_device(nullptr, 16)}};
    fake_runtime::make_current(0);
    spread_arrays on = *arrays_;
    on.where = devices{onefold::cuda(fake_runtime::fresh_device(), fake_runtime::fresh_stream()),
                       onefold::cuda(fake_runtime::fresh_device()),
                       onefold::cuda(fake_runtime::fresh_device(), fake_runtime::fresh_stream())};
    return on;
  }

  // Calls call(spread arrays) with every call of the runtime failing in turn. Where nothing fails its bytes are `expected`.
  template <class Call>
  void expect_every_fault_handled(const bytes& expected, const Call& call) {
    EXPECT_EQ(call(spread()), expected);  // what is made once is there
    for (const fault& its : faults) {
      std::optional<std::size_t> kept;
      for (const bool is_later : {false, true}) {
        if ((its.code == errc::out_of_memory && is_later) || (its.sticky && !is_later)) continue;
        std::uint64_t k = 1;
        for (;; ++k) {
          const std::size_t before = runtime_.live();
          const spread_arrays on = spread();
          if (is_later) {
            EXPECT_EQ(call(on), expected);
          }
          runtime_.fail(k, its.status, its.sticky);
          SCOPED_TRACE("call " + std::to_string(k) + " fails with " + cudaGetErrorName(its.status));
          bool has_thrown = false;
          try {
            EXPECT_EQ(call(on), expected);
          } catch (const onefold::error& problem) {
            has_thrown = true;
            ASSERT_TRUE(runtime_.failed_call()) << problem.what();
            EXPECT_EQ(problem.code(), its.code) << *runtime_.failed_call() << ": " << problem.what();
          }
          const auto failed = runtime_.failed_call();
          EXPECT_TRUE(!failed || has_thrown || has_nobody_to_tell(*failed)) << *failed << " has failed, unsaid";
          EXPECT_TRUE(its.sticky || stores_ || pending() == 0)
              << "work is under way after " << failed.value_or("a call without faults");
          EXPECT_EQ(runtime_.live_async(), 0U);
          runtime_.mend();
          fake_runtime::put_mode_back();
          fake_runtime::make_current(0);
          EXPECT_EQ(call(on), expected) << "the next call";
          if (!kept) kept = runtime_.live() - before;
          EXPECT_EQ(runtime_.live() - before, *kept)
              << "leaked, or freed too much, after " << failed.value_or("a call without faults");
          if (!failed || HasFailure()) break;
          ASSERT_LT(k, 2'000U);
        }
        EXPECT_GT(k, is_later ? 8U : 30U) << "almost no call went through the seam: this test proved nothing";
      }
    }
  }
  // What puts back, frees, or asks what the driver has an answer to where there is none; as in faults_test.cpp.
  static bool has_nobody_to_tell(std::string_view call) {
    return call == "cuCtxSetCurrent" || call == "cudaThreadExchangeStreamCaptureMode" || call == "cudaFreeAsync" ||
           call == "cudaDeviceGetAttribute" || call == "cuPointerGetAttribute";
  }
  [[nodiscard]] virtual std::size_t pending() const { return 0; }

  // What was stored on each device, which is the same.
  [[nodiscard]] bytes stored(const spread_arrays& on, std::size_t values) {
    bytes all;
    for (std::size_t i = 0; i < 3; ++i) {
      onefold::synchronize(on.where[i]);
      const bytes its = bytes_of_list(std::vector<double>(on.results[i], on.results[i] + values));
      EXPECT_TRUE(i == 0 || its == all) << "on device " << i;
      all = its;
    }
    return all;
  }

  std::vector<double> x_ = numbers(count, 1), y_ = numbers(count, 2);
  const onefold::executor one_ = onefold::serial();
  fake_runtime runtime_;
  std::optional<spread_arrays> arrays_;
  bool stores_ = false;  ///< results, for which nobody waits
};

const onefold::options exactly{.guarantee = onefold::guarantee::exact};

// --- parts that the library takes for host memory, as the driver does not know this runtime's: a thread for each device ---------------------------

class parts_on_several_devices : public arrays_on_several_devices {
 protected:
  [[nodiscard]] std::size_t pending() const override { return slow_.pending(); }
  slow_device slow_{runtime_, slow_device::copies::late};
  single_file one_at_a_time_;
};

TEST_F(parts_on_several_devices, of_sums_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::sum});
  expect_every_fault_handled(bytes_of_all(onefold::sum(one_, x_)),
                             [](const spread_arrays& on) { return bytes_of_all(onefold::sum(on.where, on.x)); });
}

TEST_F(parts_on_several_devices, of_dots_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::dot});
  expect_every_fault_handled(bytes_of_all(onefold::dot(one_, x_, y_)),
                             [](const spread_arrays& on) { return bytes_of_all(onefold::dot(on.where, on.x, on.y)); });
}

TEST_F(parts_on_several_devices, of_places_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::argmin});
  const auto least = onefold::argmin(one_, x_);
  expect_every_fault_handled(bytes_of_all(least.value, least.index), [](const spread_arrays& on) {
    const auto found = onefold::argmin(on.where, on.x);
    return bytes_of_all(found.value, found.index);
  });
}

TEST_F(parts_on_several_devices, of_exact_sums_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::sum});
  expect_every_fault_handled(bytes_of_all(onefold::sum(one_, x_, exactly)),
                             [](const spread_arrays& on) { return bytes_of_all(onefold::sum(on.where, on.x, exactly)); });
}

TEST_F(parts_on_several_devices, of_several_dots_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::dot});
  expect_every_fault_handled(bytes_of_list(onefold::multi_dot(one_, {x_, y_}, {x_})), [](const spread_arrays& on) {
    return bytes_of_list(onefold::multi_dot(on.where, {on.x, on.y}, {on.x}));
  });
}

TEST_F(parts_on_several_devices, whose_results_are_stored_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::sum});
  stores_ = true;
  expect_every_fault_handled(bytes_of_all(onefold::sum(one_, x_)), [this](const spread_arrays& on) {
    for (double* const each : on.results) *each = -7;
    onefold::sum_into(on.where, on.x, {on.results[0], on.results[1], on.results[2]});
    return stored(on, 1);
  });
}

TEST_F(parts_on_several_devices, of_several_operators_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::sum, form::min, form::max});
  using namespace onefold::op;
  expect_every_fault_handled(bytes_of_list({onefold::sum(one_, x_), onefold::min(one_, x_), onefold::max(one_, x_)}),
                             [](const spread_arrays& on) {
                               const auto found = onefold::reduce_together(on.where, on.x, sum{}, min{}, max{});
                               return bytes_of_list({found[0], found[1], found[2]});
                             });
}

// Shares of a host array, in pieces through each device.
TEST_F(parts_on_several_devices, of_host_arrays_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::sum});
  expect_every_fault_handled(bytes_of_all(onefold::sum(one_, x_)),
                             [this](const spread_arrays& on) { return bytes_of_all(onefold::sum(on.where, x_)); });
}

TEST_F(parts_on_several_devices, leave_states_as_they_were_after_every_fault) {
  slow_.reduces(element_type::f64, {form::sum});
  const auto begun = [this] {
    onefold::range_state<form::sum, double> state(100);
    state.add(onefold::serial(), y_);
    return state;
  };
  const bytes before = begun().bytes();
  const bytes expected = begun().add(onefold::serial(), x_).bytes();
  expect_every_fault_handled(expected, [&](const spread_arrays& on) {
    std::vector<onefold_range_part> list;
    for (std::size_t i = 0; i < 3; ++i)
      list.push_back({onefold::detail::c_executor(on.where[i]), on.x[i].data, nullptr, on.x[i].count});
    auto state = begun();
    try {
      state.add_parts(list.data(), list.size());
    } catch (...) {
      EXPECT_EQ(state.bytes(), before);
      throw;
    }
    return state.bytes();
  });
}

// Exact states have theirs.
TEST_F(parts_on_several_devices, leave_exact_states_as_they_were_after_every_fault) {
  slow_.reduces(element_type::f64, {form::dot});
  using state_type = onefold::exact_state<form::dot, double>;
  const auto words_of = [](const state_type& of) {
    const auto* const first = reinterpret_cast<const std::byte*>(of.words());
    return bytes(first, first + state_type::size() * sizeof(std::int64_t));
  };
  const auto begun = [this] { return state_type().add(onefold::serial(), y_, y_); };
  const bytes before = words_of(begun()), expected = words_of(begun().add(onefold::serial(), x_, y_));
  expect_every_fault_handled(expected, [&](const spread_arrays& on) {
    std::vector<onefold_range_part> list;
    for (std::size_t i = 0; i < 3; ++i)
      list.push_back({onefold::detail::c_executor(on.where[i]), on.x[i].data, on.y[i].data, on.x[i].count});
    state_type state = begun();
    try {
      state.add_parts(list.data(), list.size());
    } catch (...) {
      EXPECT_EQ(words_of(state), before);
      throw;
    }
    return words_of(state);
  });
}

// --- streams and workspaces ------------------------------------------------------------------------------------------------------------------------

// Three devices, two that share one of two streams, and one device with three streams, or one.
TEST_F(parts_on_several_devices, have_the_bits_of_one_core_on_streams_of_their_own_and_on_shared_ones) {
  const int first = fake_runtime::fresh_device(), second = fake_runtime::fresh_device();
  const auto on = [](int device) { return onefold::cuda(device, fake_runtime::fresh_stream()); };
  const auto shared = on(first), of_second = on(second), of_library = onefold::cuda(second);
  const devices sets[] = {
      spread().where,           {shared, of_second, shared},         {on(first), on(first), on(first)},
      {shared, shared, shared}, {of_library, of_second, of_library}, {of_second, onefold::serial(), of_library}};
  for (const devices& where : sets)
    for (int again = 0; again < 2; ++again) {
      const spread_arrays& x = *arrays_;
      slow_.reduces(element_type::f64, {form::sum});
      EXPECT_EQ(onefold::sum(where, x.x), onefold::sum(one_, x_));
      EXPECT_EQ(onefold::sum(where, x_), onefold::sum(one_, x_)) << "of host memory";
      EXPECT_EQ(onefold::sum(where, x.x, exactly), onefold::sum(one_, x_, exactly));
      slow_.reduces(element_type::f64, {form::dot});
      EXPECT_EQ(onefold::dot(where, x.x, x.y), onefold::dot(one_, x_, y_));
      EXPECT_EQ(pending(), 0U);
    }
}

// Working memory of the caller's on each device: the states of the parts, made one beside the other and put together.
TEST_F(parts_on_several_devices, may_each_have_a_workspace_of_its_own) {
  const spread_arrays on = spread();
  slow_.reduces(element_type::f64, {form::sum});
  onefold::range_state<form::sum, double> all;
  std::vector<onefold::workspace> own;
  own.reserve(3);
  for (std::size_t i = 0; i < 3; ++i) own.emplace_back(on.where[i], count);
  for (std::size_t i = 0; i < 3; ++i) {
    onefold::range_state<form::sum, double> mine(cuts[i]);
    all.append(mine.add(on.where[i], on.x[i].data, on.x[i].count, {.workspace = &own[i]}));
    for (std::size_t other = 0; other < 3; ++other)
      if (other != i) {
        EXPECT_TRUE(
            refuses(errc::wrong_device, "",
                    [&] { static_cast<void>(onefold::sum(on.where[i], on.x[i].data, on.x[i].count, {.workspace = &own[other]})); }))
            << "the workspace of device " << other << " on device " << i;
      }
  }
  EXPECT_EQ(all.value(), onefold::sum(one_, x_));
  EXPECT_TRUE(refuses(errc::invalid_argument, "a workspace is for one stream",
                      [&] { static_cast<void>(onefold::sum(on.where, on.x, {.workspace = &own[0]})); }));
  // Of one stream that all parts are reduced on.
  const devices same{on.where[0], on.where[0], on.where[0]};
  EXPECT_EQ(onefold::sum(same, on.x, {.workspace = &own[0]}), onefold::sum(one_, x_));
}

// --- parts that are in device memory for the driver too: under way on all devices before one is waited for ----------------------------------------

// Kernels do nothing here, and arrays are zeros: what is compared is who is told, and what is kept.
class parts_under_way_together : public arrays_on_several_devices {
 protected:
  parts_under_way_together() {
    x_.assign(count, 0.0);
    y_.assign(count, 0.0);
    if (void* const driver = dlopen(ONEFOLD_FAKE_DRIVER, RTLD_NOW))
      answers_ = static_cast<int (**)(const void*)>(dlsym(driver, "fake_driver_device_of"));
    // Once in a tick of a clock of some milliseconds the library asks whether a driver has come, and what was run before this may have let it ask.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    active = &runtime_;
    if (answers_ != nullptr) *answers_ = [](const void* pointer) { return active->device_of_memory(pointer); };
  }
  ~parts_under_way_together() override {
    if (answers_ != nullptr) *answers_ = nullptr;
  }
  void SetUp() override { ASSERT_NE(answers_, nullptr) << dlerror(); }

  single_file one_at_a_time_;
  int (**answers_)(const void*) = nullptr;
  static inline fake_runtime* active = nullptr;
};

TEST_F(parts_under_way_together, of_sums_survive_every_fault) {
  expect_every_fault_handled(bytes_of_all(0.0), [](const spread_arrays& on) { return bytes_of_all(onefold::sum(on.where, on.x)); });
}

TEST_F(parts_under_way_together, of_dots_survive_every_fault) {
  expect_every_fault_handled(bytes_of_all(0.0),
                             [](const spread_arrays& on) { return bytes_of_all(onefold::dot(on.where, on.x, on.y)); });
}

TEST_F(parts_under_way_together, of_several_operators_survive_every_fault) {
  using namespace onefold::op;
  expect_every_fault_handled(bytes_of_all(0.0, 0.0, 0.0), [](const spread_arrays& on) {
    const auto found = onefold::reduce_together(on.where, on.x, sum{}, min{}, max{});
    return bytes_of_all(found[0], found[1], found[2]);
  });
}

TEST_F(parts_under_way_together, of_several_dots_survive_every_fault) {
  expect_every_fault_handled(bytes_of_all(0.0, 0.0), [](const spread_arrays& on) {
    return bytes_of_list(onefold::multi_dot(on.where, {on.x, on.y}, {on.x}));
  });
}

// Each part in turn in the memory of the next device.
TEST_F(parts_under_way_together, in_the_memory_of_another_device_are_refused) {
  const spread_arrays on = spread();
  const auto in_memory_of = [&](std::size_t part, std::size_t device) {
    const std::size_t its = cuts[part + 1] - cuts[part];
    return parts<double>::part(static_cast<const double*>(runtime_.device_memory(its * sizeof(double), on.where[device].device())),
                               its);
  };
  for (std::size_t wrong = 0; wrong < 3; ++wrong) {
    std::vector<parts<double>::part> list;
    for (std::size_t i = 0; i < 3; ++i) list.push_back(in_memory_of(i, i == wrong ? (i + 1) % 3 : i));
    const parts<double> bad(list);
    EXPECT_TRUE(refuses(errc::wrong_device, "", [&] { static_cast<void>(onefold::sum(on.where, bad)); })) << wrong;
    EXPECT_TRUE(refuses(errc::wrong_device, "", [&] { static_cast<void>(onefold::dot(on.where, on.x, bad)); })) << wrong;
    EXPECT_TRUE(refuses(errc::wrong_device, "", [&] { static_cast<void>(onefold::sum(on.where, bad, exactly)); })) << wrong;
    EXPECT_TRUE(refuses(errc::wrong_device, "", [&] {
      static_cast<void>(onefold::multi_dot(on.where, {on.x, bad}, {on.x}));
    })) << wrong;
    EXPECT_EQ(fake_runtime::context_now(), fake_runtime::primary_context(0)) << "the caller's device stays current";
    list[wrong] = in_memory_of(wrong, wrong);
    EXPECT_EQ(onefold::sum(on.where, parts<double>(list)), 0.0);
  }
}

// All launches are on their streams before the host waits for the first, whose work has ended on all of them when the call returns, whatever has failed.
TEST_F(parts_under_way_together, are_launched_on_all_devices_before_one_is_waited_for) {
  const spread_arrays on = spread();
  static_cast<void>(onefold::sum(on.where, on.x));
  const std::uint64_t before = runtime_.launches();
  runtime_.forget_streams();
  static_cast<void>(onefold::sum(on.where, on.x));
  EXPECT_GE(runtime_.launches() - before, 3U);
  EXPECT_EQ(runtime_.streams_used().size(), 3U);
}

// --- results that each device stores in stream order, of parts that the devices exchange ------------------------------------------------------------

// Kernels work, as late as they may. Parts are of whole subtrees, which have a kernel of their own.
class exchanged_parts : public parts_under_way_together {
 protected:
  static constexpr std::size_t each = 4 * 512;

  exchanged_parts() {
    x_ = numbers(3 * each, 1);
    y_ = numbers(3 * each, 2);
    arrays_ = spread_arrays{devices{},
                            of_equal_parts(x_, 3),
                            of_equal_parts(y_, 3),
                            {on_device(nullptr, 16), on_device(nullptr, 16), on_device(nullptr, 16)}};
    stores_ = true;
  }
  [[nodiscard]] parts<double> of_equal_parts(const std::vector<double>& x, std::size_t number) {
    std::vector<parts<double>::part> all;
    for (std::size_t i = 0; i < number; ++i) all.emplace_back(on_device(x.data() + i * each, each), each);
    return parts<double>(all);
  }
  [[nodiscard]] std::size_t pending() const override { return slow_.pending(); }

  slow_device slow_{runtime_, slow_device::copies::late};
};

TEST_F(exchanged_parts, of_sums_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::sum});
  for (const bool peers : {true, false}) {
    runtime_.make_peers(peers);
    expect_every_fault_handled(bytes_of_all(onefold::sum(one_, x_)), [this](const spread_arrays& on) {
      for (double* const to : on.results) *to = -7;
      onefold::sum_into(on.where, on.x, {on.results[0], on.results[1], on.results[2]});
      return stored(on, 1);
    });
  }
}

TEST_F(exchanged_parts, of_exact_dots_survive_every_fault) {
  slow_.reduces(element_type::f64, {form::dot});
  expect_every_fault_handled(bytes_of_all(onefold::dot(one_, x_, y_, exactly)), [this](const spread_arrays& on) {
    for (double* const to : on.results) *to = -7;
    onefold::dot_into(on.where, on.x, on.y, {on.results[0], on.results[1], on.results[2]}, exactly);
    return stored(on, 1);
  });
}

// Each call's array is another one, which comes on the streams; and each stream in turn is the last to do its work.
TEST_F(exchanged_parts, of_calls_that_follow_each_other_do_not_get_into_each_others_way) {
  slow_.reduces(element_type::f64, {form::sum});
  constexpr std::size_t calls = 7;
  for (const bool peers : {true, false})
    for (const std::size_t number : {std::size_t{2}, std::size_t{3}, std::size_t{5}})
      for (std::size_t first = 0; first < number; ++first) {
        SCOPED_TRACE("stream " + std::to_string(first) + " of " + std::to_string(number) + " is asked for first");
        runtime_.make_peers(peers);
        std::vector<onefold::executor> executors;
        std::vector<double*> results;
        for (std::size_t i = 0; i < number; ++i) {
          executors.push_back(onefold::cuda(fake_runtime::fresh_device(), fake_runtime::fresh_stream()));
          results.push_back(on_device(nullptr, calls));
        }
        const devices where(executors);
        const parts<double> x = of_equal_parts(std::vector<double>(number * each, -7.0), number);
        std::vector<std::vector<double>> arrays;
        for (std::size_t k = 0; k < calls; ++k) {
          arrays.push_back(numbers(number * each, 100 + k));
          std::vector<double*> to;
          for (std::size_t i = 0; i < number; ++i) {
            to.push_back(results[i] + k);
            auto* const part = const_cast<double*>(x[i].data);
            const double* const from = arrays[k].data() + i * each;
            slow_.enqueue(executors[i].stream(),
                          [part, its = std::vector<double>(from, from + each)] { std::copy(its.begin(), its.end(), part); });
          }
          onefold::sum_into(where, x, to);
        }
        EXPECT_GT(pending(), calls * number) << "the host has waited";
        for (std::size_t i = 0; i < number; ++i) onefold::synchronize(executors[(first + i) % number]);
        for (std::size_t i = 0; i < number; ++i)
          for (std::size_t k = 0; k < calls; ++k)
            EXPECT_EQ(results[i][k], onefold::sum(one_, arrays[k])) << "call " << k << ", device " << i;
      }
}

// What a call that was refused has put on a stream may still be to come when the next one's parts are there: words, where that has an image of another part.
TEST_F(exchanged_parts, are_safe_from_calls_that_were_refused) {
  slow_.reduces(element_type::f64, {form::dot});
  const double expected = onefold::dot(one_, x_, y_);
  for (const bool first_is_late : {false, true}) {
    const spread_arrays on = spread();
    const auto to = onefold::outputs<double>{on.results[0], on.results[1], on.results[2]};
    onefold::dot_into(on.where, on.x, on.y, to);
    static_cast<void>(stored(on, 1));
    const auto* const elsewhere =
        static_cast<const double*>(runtime_.device_memory(each * sizeof(double), fake_runtime::fresh_device()));
    const parts<double> bad{on.x[0], {elsewhere, each}, on.x[2]};
    EXPECT_TRUE(refuses(errc::wrong_device, "", [&] { onefold::dot_into(on.where, bad, on.y, to, exactly); }));
    onefold::dot_into(on.where, on.x, on.y, to);
    for (std::size_t i = 0; i < 3; ++i) onefold::synchronize(on.where[first_is_late ? 2 - i : i]);
    EXPECT_EQ(stored(on, 1), bytes_of_all(expected)) << first_is_late;
  }
}

TEST_F(exchanged_parts, go_through_memory_of_the_first_device_where_all_reach_it) {
  slow_.reduces(element_type::f64, {form::sum});
  for (const bool peers : {true, false}) {
    runtime_.make_peers(peers);
    const spread_arrays on = spread();
    onefold::sum_into(on.where, on.x, {on.results[0], on.results[1], on.results[2]});
    static_cast<void>(stored(on, 1));
    const onefold::memory_use before = onefold::memory_in_use(on.where[0]);
    onefold::release_memory(on.where[0]);
    const onefold::memory_use behind = onefold::memory_in_use(on.where[0]);
    EXPECT_GE((peers ? before.device_bytes : before.pinned_bytes), 4096U);
    EXPECT_EQ(behind.device_bytes + behind.pinned_bytes, 0U);
    EXPECT_EQ(onefold::memory_in_use(on.where[1]).pinned_bytes, 0U);
    onefold::sum_into(on.where, on.x, {on.results[0], on.results[1], on.results[2]});
    EXPECT_EQ(stored(on, 1), bytes_of_all(onefold::sum(one_, x_)));
  }
}

TEST_F(exchanged_parts, are_refused_where_one_stream_is_captured) {
  slow_.reduces(element_type::f64, {form::sum});
  const spread_arrays on = spread();
  const auto call = [&] { onefold::sum_into(on.where, on.x, {on.results[0], on.results[1], on.results[2]}); };
  call();
  for (const std::size_t captured : {std::size_t{0}, std::size_t{2}}) {
    runtime_.capture(on.where[captured].stream());
    EXPECT_TRUE(refuses(errc::invalid_argument, "captured", call)) << captured;
    EXPECT_EQ(runtime_.spoilt_capture(), std::nullopt);
    runtime_.capture(std::nullopt);
    call();
    EXPECT_EQ(stored(on, 1), bytes_of_all(onefold::sum(one_, x_)));
  }
}

}  // namespace
}  // namespace onefold_test
