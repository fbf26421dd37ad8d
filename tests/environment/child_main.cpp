/// @file child_main.cpp  What environment_test.cpp runs in processes of their own: one situation each, named by the first argument.
/// Exit code 0: as it should be. Otherwise standard error says what was not. Nothing else is ever printed here.

#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <onefold/onefold.hpp>

#include "situations.hpp"

#include <bit>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#ifdef ONEFOLD_TEST_OPENMP
#include <omp.h>
#endif

namespace {

// --- Kokkos's lifetime
// ----------------------------------------------------------------------------------------------------------------

void kokkos_started_by_onefold() {
  require(!Kokkos::is_initialized(), "Kokkos runs before anybody called anything");
  require_cpu_works("with Kokkos started by onefold");
  require(Kokkos::is_initialized(), "Kokkos does not run after a reduction");
}  // onefold finalises at exit

// fixed_order does without Kokkos, and so does one thread's part of the reference.
void require_what_needs_no_kokkos_works(const std::string& when) {
  for (int again = 0; again < 2; ++again) {
    for (const auto& where : cpu_executors()) require(onefold::sum(where, numbers()) == right_sum(), "the sum is wrong " + when);
    onefold::report ran;
    require(onefold::sum(onefold::serial(), numbers(), {.variant = "parallel_reduce", .report = &ran}) == right_sum(),
            "the reference's sum is wrong " + when);
    require(ran.implementation.find("without Kokkos") != std::string::npos, "the report does not tell of it " + when);
    if (built(onefold::backend::openmp))
      require_refused(
          errc::kokkos_finalized, [] { static_cast<void>(onefold::sum(onefold::openmp(), numbers(), reference)); }, when);
  }
  for (const auto& info : onefold::backends())
    if (info.where != onefold::backend::cuda && info.built) require(info.usable, "backends() takes the CPU for gone " + when);
}

void kokkos_started_by_the_application() {
  Kokkos::initialize();
  require_cpu_works("with Kokkos started by the application");
  require(Kokkos::is_initialized(), "onefold has finalised the application's Kokkos");
  Kokkos::View<double*, Kokkos::HostSpace> view("view", 100);
  Kokkos::parallel_for(
      100, KOKKOS_LAMBDA(int i) { view(i) = i; });
  Kokkos::fence();
  require(onefold::sum(view.data(), 100) == 4950, "the sum of a View is wrong");
  view = {};
  Kokkos::finalize();
  require_what_needs_no_kokkos_works("after Kokkos::finalize");
}

void kokkos_finalised_under_onefold() {
  require_cpu_works("before");
  Kokkos::finalize();  // what onefold started, the application may end
  require_what_needs_no_kokkos_works("after Kokkos::finalize");
}

void kokkos_finalised_before_the_first_call() {
  Kokkos::initialize();
  Kokkos::finalize();
#if KOKKOS_VERSION >= 30700
  require_what_needs_no_kokkos_works("after Kokkos::finalize");
#else
  // Before 3.7 nobody can tell that Kokkos once ran, and it can be started again.
  require_works(onefold::serial(), "with a Kokkos that the application has finalised");
#endif
}

// --- threads
// ----------------------------------------------------------------------------------------------------------------------------

void nested_in_a_parallel_region() {
#ifdef ONEFOLD_TEST_OPENMP
  require_cpu_works("before the parallel region");
  std::vector<std::string> wrong(4);
#pragma omp parallel num_threads(4)
  {
    const auto me = static_cast<std::size_t>(omp_get_thread_num());
    try {
      for (int round = 0; round < 5; ++round) {
        for (const auto& where : cpu_executors()) {
          for (const char* variant : {"fixed_order", "parallel_reduce"}) {
            onefold::report ran;
            if (onefold::sum(where, numbers(), {.variant = variant, .report = &ran}) != right_sum())
              wrong[me] = "a nested sum is wrong";
            if (omp_in_parallel() != 0 && ran.threads != 1)
              wrong[me] = "a nested call used " + std::to_string(ran.threads) + " threads";
          }
        }
      }
    } catch (const std::exception& problem) {
      wrong[me] = problem.what();
    }
  }
  for (const auto& sentence : wrong) require(sentence.empty(), sentence);
  require_cpu_works("after the parallel region");
#endif
}

// Every call has data of its own, whose sum tells tree v1 from other orders: a share that nobody takes would still hold the last call's values.
void fewer_threads_than_the_pool() {
#ifdef ONEFOLD_TEST_OPENMP
  const auto require_bits = [](float step, const std::string& when) {
    std::vector<float> rounded(numbers());
    for (float& x : rounded) x += step;
    require(onefold::sum(onefold::openmp(), rounded) == onefold::sum(onefold::serial(), rounded), "other bits " + when);
  };
  require_bits(0.1f, "with all threads");
  omp_set_max_active_levels(0);  // every region from here on has one thread
  require_bits(0.2f, "with one thread for the work of all");
  omp_set_max_active_levels(1);
  omp_set_dynamic(1);  // as many as the machine's load leaves
  require_bits(0.3f, "with threads that come and go");
#endif
}

#ifdef ONEFOLD_TEST_OPENMP
int seen_by_a_tool = 0;
#endif

void a_tool_of_kokkos_sees_the_work() {
#ifdef ONEFOLD_TEST_OPENMP
  Kokkos::initialize();
  const float bits = onefold::sum(onefold::openmp(), numbers());
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback([](const char* name, std::uint32_t, std::uint64_t*) {
    if (std::strstr(name, "onefold") != nullptr) ++seen_by_a_tool;
  });
  for (const int threads : {0, 2, 3}) {
    seen_by_a_tool = 0;
    require(onefold::sum(onefold::openmp(threads), numbers()) == bits, "other bits with a tool");
    require(seen_by_a_tool == 1, "a tool has seen " + std::to_string(seen_by_a_tool) + " regions of one sum");
  }
  seen_by_a_tool = 0;
  require(onefold::sum(numbers()) == bits && seen_by_a_tool == 1, "a tool does not see what best() does");
  Kokkos::finalize();
#endif
}

// On a host thread that has no team of OpenMP's threads helpers work, and for the reference that thread alone.
void require_openmp_elsewhere() {
  if (built(onefold::backend::openmp)) require_works(onefold::openmp(), "on another host thread");
}

void called_from_another_host_thread() {
  require_cpu_works("on the main thread");
  on_another_host_thread([] {
    require_works(onefold::serial(), "on another host thread");
    require_openmp_elsewhere();
  });
  require_cpu_works("on the main thread again");
}

void first_called_from_another_host_thread() {
  on_another_host_thread([] {
    require_works(onefold::serial(), "on the first host thread");
    if (built(onefold::backend::openmp)) require_works(onefold::openmp(), "on the first host thread");
  });
  require_works(onefold::serial(), "on the main thread");
  require_openmp_elsewhere();
}

// best() chooses for itself, so it must choose what can run on this thread.
void best_on_another_host_thread() {
  require_works(onefold::best(), "on the main thread");
  on_another_host_thread([] { require_works(onefold::best(), "with best() on another host thread"); });
}

void many_first_calls_at_once() {
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(8);
  for (auto& sentence : wrong)
    threads.emplace_back([&sentence] {
      try {
        for (int i = 0; i < 20; ++i) require_works(onefold::serial(), "among many first calls");
      } catch (const std::exception& problem) {
        sentence = problem.what();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& sentence : wrong) require(sentence.empty(), sentence);
}

// --- the floating-point environment
// ---------------------------------------------------------------------------------------------------

template <class Check>
void under_every_rounding_mode(Check check) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    require(std::fesetround(mode) == 0, "the rounding mode cannot be set");
    check();
    const int now = std::fegetround();
    std::fesetround(FE_TONEAREST);
    require(now == mode, "a call has changed the caller's rounding mode");
  }
}

void rounding_mode_left_alone() {
  require_cpu_works("before");
  under_every_rounding_mode([] {
    for (const auto& where : cpu_executors()) static_cast<void>(onefold::sum(where, numbers()));
  });
}

void rounding_mode_left_alone_by_the_first_call() {
  std::fesetround(FE_UPWARD);
  static_cast<void>(onefold::sum(numbers()));
  const bool kept = std::fegetround() == FE_UPWARD;
  std::fesetround(FE_TONEAREST);
  require(kept, "the first call has changed the caller's rounding mode");
}

void rounding_mode_does_not_matter() {
  // 1 + 2^-30 rounds down to 1 to nearest, and up to 1 + 2^-23 upward; a sum that cancels is -0 downward.
  const std::vector<float> halfway{1.0f, 0x1p-30f};
  const std::vector<float> cancelling{1.0f, -1.0f};
  const std::vector<float> thirds{1.0f, 2.0f, 7.0f};  // neither the mean nor the norm is a float
  std::vector<float> many(numbers());                 // enough for every thread to have some
  for (float& x : many) x += 0.1f;
  const float sum_of_many = onefold::sum(many);
  require_cpu_works("before");
  under_every_rounding_mode([&] {
    for (const auto& where : cpu_executors()) {
      require(onefold::sum(where, many) == sum_of_many, "the caller's rounding mode has changed a sum of many");
      const float sum = onefold::sum(where, halfway), sum_of_reference = onefold::sum(where, halfway, reference);
      const float zero = onefold::sum(where, cancelling), zero_of_reference = onefold::sum(where, cancelling, reference);
      const float mean = onefold::mean(where, thirds), norm = onefold::norm2(where, thirds);
      const int mode = std::fegetround();
      std::fesetround(FE_TONEAREST);
      require(sum == 1.0f && sum_of_reference == 1.0f, "the caller's rounding mode has changed a sum");
      for (const float each : {zero, zero_of_reference})
        require(each == 0 && !std::signbit(each), "the caller's rounding mode has changed the sign of a zero");
      require(mean == onefold::mean(where, thirds), "the caller's rounding mode has changed a mean");
      require(norm == onefold::norm2(where, thirds), "the caller's rounding mode has changed a norm");
      std::fesetround(mode);
    }
  });
}

#if defined(__x86_64__)
constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040, exception_flags = 0x3f;

void flush_to_zero_left_alone() {
  require_cpu_works("before");
  const unsigned before = _mm_getcsr();
  const unsigned changed = before | flush_to_zero | denormals_are_zero;
  _mm_setcsr(changed);
  for (const auto& where : cpu_executors()) static_cast<void>(onefold::sum(where, numbers()));
  const unsigned now = _mm_getcsr();
  _mm_setcsr(before);
  require((now & ~exception_flags) == (changed & ~exception_flags), "a call has changed the caller's flush-to-zero");
}

void flush_to_zero_does_not_matter() {
  const float tiny = std::bit_cast<float>(1u);
  const std::vector<float> subnormals(1000, tiny);
  require_cpu_works("before");
  const unsigned before = _mm_getcsr();
  for (const auto& where : cpu_executors()) {
    _mm_setcsr(before | flush_to_zero | denormals_are_zero);
    const float sum = onefold::sum(where, subnormals), sum_of_reference = onefold::sum(where, subnormals, reference);
    const float least = onefold::max(where, subnormals);
    const double wide = onefold::sum(where, subnormals, onefold::accumulate_as<double>);
    const float norm = onefold::norm2(where, subnormals);
    _mm_setcsr(before);
    for (const float each : {sum, sum_of_reference})
      require(std::bit_cast<unsigned>(each) == 1000u, "the caller's flush-to-zero has changed a sum");
    require(std::bit_cast<unsigned>(least) == 1u, "the caller's flush-to-zero has changed a maximum");
    require(wide == 1000 * 0x1p-149, "the caller's flush-to-zero has changed a sum in double");
    require(norm == onefold::norm2(where, subnormals), "the caller's flush-to-zero has changed a norm");
  }
}
#else
void flush_to_zero_left_alone() {}
void flush_to_zero_does_not_matter() {}
#endif

// --- no GPU, no noise
// -----------------------------------------------------------------------------------------------------------------

void without_a_gpu() {
  bool usable = true;
  std::string sentence;
  for (const auto& info : onefold::backends()) {
    if (info.where != onefold::backend::cuda) continue;
    usable = info.usable;
    sentence = info.detail;
  }
  require(!usable, "the cuda backend claims to be usable");
  require(sentence.size() > 20, "the cuda backend does not say why it cannot be used: " + sentence);
  const auto code = built(onefold::backend::cuda) ? errc::backend_unavailable : errc::backend_not_built;
  for (int again = 0; again < 2; ++again) {
    require_refused(
        code, [] { static_cast<void>(onefold::multi_dot(onefold::cuda(), {numbers()}, {numbers()})); },
        "several dots without a GPU");
    require_refused(
        code, [] { static_cast<void>(onefold::sum(onefold::cuda(), numbers())); }, "cuda() without a GPU");
    onefold_gpu_scope scope;
    require(onefold_enter_gpu(onefold_cuda(0, nullptr), &scope) == static_cast<int>(code), "a GPU was entered that is not there");
    require(onefold_check_gpu_arrays(onefold_cuda(0, nullptr), nullptr, 0, 0) == static_cast<int>(code),
            "arrays on a GPU that is not there");
    require_cpu_works("beside a GPU that is not there");
  }
}

// Device memory is known for what it is from the first tick of the coarse clock on, which is at most 10 ms, that the driver is in the process.
void a_driver_that_is_loaded_late() {
  const std::vector<float> host(1000, 1.0f), device(100'000, 1.0f);  // not within the same 64 KiB, as device memory is not
  for (const auto* x : {&host, &device})
    require(onefold::sum(onefold::serial(), *x) == static_cast<float>(x->size()), "a sum is wrong before the driver");
  void* const driver = dlopen(ONEFOLD_LATE_DRIVER, RTLD_NOW);
  require(driver != nullptr, "the driver's stand-in cannot be loaded");
  *static_cast<const void**>(dlsym(driver, "device_pointer")) = device.data();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  require(onefold::sum(onefold::serial(), host) == 1000, "a sum is wrong beside the driver");
  std::vector<onefold::executor> cpu{onefold::serial()};
#ifdef ONEFOLD_TEST_OPENMP
  cpu.push_back(onefold::openmp());
#endif
  for (const auto& where : cpu)
    require_refused(
        errc::device_pointer, [&] { static_cast<void>(onefold::sum(where, device)); }, "device memory on a CPU executor");
  // Results too, in calls of C's that wait: of few elements, and of many.
  auto* const result = const_cast<float*>(device.data());
  for (const std::size_t count : {std::size_t{10}, host.size() - 1}) {
    require(onefold_sum_f32(onefold_serial(), host.data(), count, result) == ONEFOLD_DEVICE_POINTER,
            "a result in device memory is stored");
    require(*result == 1, "a refused call has stored something");
    require(onefold_sum_f32(onefold_serial(), host.data(), count, result + 50'000) == ONEFOLD_OK, "a result elsewhere is refused");
  }
}

void silent() {
  static_cast<void>(onefold::backends());
  require_cpu_works("");
  for (const auto& variant : onefold::variants()) {
    static_cast<void>(onefold::why_not(variant, onefold::best()));
    static_cast<void>(onefold::why_not(variant, onefold::cuda()));
    require(onefold::sum(onefold::serial(), numbers(), {.variant = variant.name}) == right_sum(), "wrong");
  }
  for (const auto& [where, variant] : {std::pair(onefold::serial(), "no_such_variant"), std::pair(onefold::cuda(), ""),
                                       std::pair(onefold::cuda(99), ""), std::pair(onefold::openmp(100000), "")}) {
    try {
      static_cast<void>(onefold::sum(where, numbers(), {.variant = variant}));
    } catch (const onefold::error&) {
    }
  }
}

void thread_count_from_the_environment() {
#ifdef ONEFOLD_TEST_OPENMP
  const int wanted = std::atoi(std::getenv("OMP_NUM_THREADS"));
  for (const auto& info : onefold::backends())
    if (info.where == onefold::backend::openmp)
      require(info.threads == wanted, "backends() says " + std::to_string(info.threads) + " threads");
  onefold::report ran;
  require(onefold::sum(onefold::openmp(), numbers(), {.variant = "parallel_reduce", .report = &ran}) == right_sum(),
          "the sum is wrong");
  require(ran.threads == wanted, "openmp() ran on " + std::to_string(ran.threads) + " threads");
  // The fixed order may do with fewer, and its bits are the same with any number.
  std::vector<float> rounded(numbers());
  for (float& x : rounded) x += 0.1f;
  const float bits = onefold::sum(onefold::serial(), rounded);
  for (int threads = 0; threads <= wanted; ++threads) {
    require(onefold::sum(onefold::openmp(threads), rounded, {.report = &ran}) == bits,
            "openmp(" + std::to_string(threads) + ") gives other bits than serial()");
    require(ran.threads >= 1 && ran.threads <= (threads == 0 ? wanted : threads),
            "openmp(" + std::to_string(threads) + ") ran on " + std::to_string(ran.threads) + " threads");
  }
  for (int threads = 1; threads <= wanted; ++threads) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{2}, std::size_t{6}, std::size_t{8}, std::size_t{1000}, numbers().size()}) {
      double expected = 0;
      for (std::size_t i = 0; i < count; ++i) expected += numbers()[i];
      require(onefold::sum(onefold::openmp(threads), numbers().data(), count) == static_cast<float>(expected),
              "the sum of " + std::to_string(count) + " on " + std::to_string(threads) + " threads is wrong");
      require(onefold::sum(onefold::openmp(threads), numbers().data(), count, {.variant = "parallel_reduce", .report = &ran}) ==
                  static_cast<float>(expected),
              "the reference's sum of " + std::to_string(count) + " on " + std::to_string(threads) + " threads is wrong");
      require(ran.threads == threads, "openmp(" + std::to_string(threads) + ") ran on " + std::to_string(ran.threads) + " threads");
    }
  }
  require_refused(
      errc::unsupported, [&] { static_cast<void>(onefold::sum(onefold::openmp(wanted + 1), numbers(), reference)); },
      "one thread too many for the reference");
  require(onefold::sum(onefold::openmp(wanted + 1), rounded) == bits,
          "one thread more than OpenMP's gives other bits than serial()");
#endif
}

// --- ONEFOLD_INSTRUCTION_SET

void require_instruction_set_refused(errc code, const std::string& words) {
  const std::vector<float> nothing;
  const auto* const row = onefold::find_variant("fixed_order", onefold::backend::serial);
  for (int again = 0; again < 2; ++again) {
    for (const auto& where : cpu_executors()) {
      for (const auto* x : {&numbers(), &nothing}) {
        try {
          static_cast<void>(onefold::sum(where, *x));
        } catch (const onefold::error& problem) {
          const std::string sentence = problem.what();
          require(problem.code() == code, "refused with " + std::string(onefold::name(problem.code())) + ": " + sentence);
          for (const std::string& word : {std::string("ONEFOLD_INSTRUCTION_SET"), words, std::string("take one of")})
            require(sentence.find(word) != std::string::npos, "the sentence does not say \"" + word + "\": " + sentence);
          continue;
        }
        throw std::runtime_error("not refused");
      }
      require(onefold::sum(where, numbers(), reference) == right_sum(), "the reference, which has no such sets, is wrong");
      const auto reason = onefold::why_not(*row, where);
      require(reason.has_value() && reason->find(words) != std::string::npos, "why_not() does not say so");
    }
    for (const auto& info : onefold::backends())
      if (info.built && info.where != onefold::backend::cuda)
        require(!info.usable && info.detail.find(words) != std::string::npos, "backends() does not say so: " + info.detail);
  }
}

void an_unknown_instruction_set() { require_instruction_set_refused(errc::invalid_argument, "avx9"); }

// Taken where the processor has it, refused where it has not.
void an_instruction_set_by_name() {
  const std::string wanted = std::getenv("ONEFOLD_INSTRUCTION_SET");
  bool known = false, here = false;
#ifdef ONEFOLD_X86_KERNELS
  here = wanted == "baseline" || (wanted == "avx2" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) ||
         (wanted == "avx512" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"));
  known = wanted != "portable";
  const std::string ran_as = "fixed_order/" + wanted;
#else
  known = here = wanted == "portable" || wanted == "baseline";  // which are one
  const std::string ran_as = "fixed_order/portable";
#endif
  if (!here) return require_instruction_set_refused(known ? errc::unsupported : errc::invalid_argument, wanted);
  onefold::report ran;
  require(onefold::sum(onefold::serial(), numbers(), {.report = &ran}) == right_sum(), "the sum is wrong");
  require(ran.implementation == ran_as, "it ran " + ran.implementation);
}

void no_instruction_set_by_name() { require_cpu_works("with the machine's own instruction set"); }

const std::map<std::string, void (*)()> situations{
    {"an_unknown_instruction_set", an_unknown_instruction_set},
    {"an_instruction_set_by_name", an_instruction_set_by_name},
    {"no_instruction_set_by_name", no_instruction_set_by_name},
    {"kokkos_started_by_onefold", kokkos_started_by_onefold},
    {"kokkos_started_by_the_application", kokkos_started_by_the_application},
    {"kokkos_finalised_under_onefold", kokkos_finalised_under_onefold},
    {"kokkos_finalised_before_the_first_call", kokkos_finalised_before_the_first_call},
    {"nested_in_a_parallel_region", nested_in_a_parallel_region},
    {"fewer_threads_than_the_pool", fewer_threads_than_the_pool},
    {"a_tool_of_kokkos_sees_the_work", a_tool_of_kokkos_sees_the_work},
    {"called_from_another_host_thread", called_from_another_host_thread},
    {"first_called_from_another_host_thread", first_called_from_another_host_thread},
    {"best_on_another_host_thread", best_on_another_host_thread},
    {"many_first_calls_at_once", many_first_calls_at_once},
    {"rounding_mode_left_alone", rounding_mode_left_alone},
    {"rounding_mode_left_alone_by_the_first_call", rounding_mode_left_alone_by_the_first_call},
    {"rounding_mode_does_not_matter", rounding_mode_does_not_matter},
    {"flush_to_zero_left_alone", flush_to_zero_left_alone},
    {"flush_to_zero_does_not_matter", flush_to_zero_does_not_matter},
    {"without_a_gpu", without_a_gpu},
    {"a_driver_that_is_loaded_late", a_driver_that_is_loaded_late},
    {"silent", silent},
    {"thread_count_from_the_environment", thread_count_from_the_environment},
};

}  // namespace

int main(int argc, char** argv) {
  auto all = situations;
  all.merge(process_situations());
  const auto situation = all.find(argc == 2 ? argv[1] : "");
  if (situation == all.end()) {
    std::fprintf(stderr, "usage: %s SITUATION\n", argv[0]);
    return 2;
  }
  try {
    situation->second();
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s: %s\n", argv[1], problem.what());
    return 1;
  }
}
