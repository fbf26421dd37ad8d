#include "lifetime.hpp"

#include <Kokkos_Core.hpp>

#ifdef ONEFOLD_HAVE_OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include <onefold/error.hpp>

#include "../threads/process.hpp"

namespace onefold::kokkos_backend {

namespace {

// Kokkos can be asked whether it was finalised only from 3.7 on. A hook tells for every version, once onefold has seen Kokkos alive.
std::atomic<bool> finalized_since_seen{false};
std::atomic<bool> seen_alive{false};

bool was_finalized() {
#if KOKKOS_VERSION >= 30700
  if (Kokkos::is_finalized()) return true;
#endif
  return finalized_since_seen.load(std::memory_order_acquire);
}

bool is_alive() { return seen_alive.load(std::memory_order_acquire) && !was_finalized(); }

// --- what Kokkos reads from the environment ------------------------------------------------------------------------------------------
//
// Kokkos throws for a value that it does not like, or from 3.7 on ends the process. No list of this is kept for its users: these are the
// variables that the sources of 3.4 and 4.6 read.

constexpr bool is_older_kokkos = KOKKOS_VERSION < 30700;

std::string_view from(const char* variable) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string_view{} : value;
}

std::optional<long> as_integer(std::string_view text) {
  long value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::equal(text, word, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  });
}

std::string refusal(const char* variable, std::string_view wanted) {
  return "Kokkos cannot be started with " + std::string(variable) + "=" + std::string(from(variable)) +
         " in the environment: it takes " + std::string(wanted) + "; mend or unset it";
}

// --- start and end -------------------------------------------------------------------------------------------------------------------

// Only where it can do no harm: a process that was forked has none of Kokkos's threads, Kokkos throws inside a parallel region, and before
// 3.7 it knows its threads on the host thread that started it alone. Who exits from elsewhere leaves the memory to the system.
std::thread::id starter;

void finalize_at_exit() {
  if (threads::forked() || std::this_thread::get_id() != starter) return;
#ifdef ONEFOLD_HAVE_OPENMP
  if (omp_in_parallel() != 0) return;
#endif
  const std::unique_lock nobody_computes(threads::in_use(), std::try_to_lock);
  if (!nobody_computes) return;
  try {
    if (Kokkos::is_initialized()) Kokkos::finalize();
  } catch (const std::exception&) {  // there is nobody left to tell
  }
}

void start() {
  // Kokkos writes warnings about thread binding, and its configuration if so asked, when it starts; a library must not.
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true).set_print_configuration(false));
#else
  Kokkos::InitArguments arguments;
  // An older one takes it for a contradiction if the environment says that there shall be warnings.
  const auto warnings = from("KOKKOS_DISABLE_WARNINGS");
  arguments.disable_warnings = warnings.empty() || is_one_of(warnings, {"true", "on", "yes", "1"});
  Kokkos::initialize(arguments);
#endif
  starter = std::this_thread::get_id();
  std::atexit(finalize_at_exit);
}

#ifdef ONEFOLD_HAVE_OPENMP
int threads_to_start() {
  const auto asked = as_integer(from("KOKKOS_NUM_THREADS"));
  return asked ? static_cast<int>(*asked) : threads::openmp_threads();
}
#endif

}  // namespace

std::string wrong_environment() {
  for (const char* const variable : {"KOKKOS_NUM_THREADS", "KOKKOS_NUMA"})
    if (const auto text = from(variable); text.data() != nullptr)
      if (const auto number = as_integer(text); !number || *number < 1 || *number > INT_MAX)
        return refusal(variable, "a whole number from 1 on");
  for (const char* const variable : {"KOKKOS_DEVICE_ID", "KOKKOS_NUM_DEVICES", "KOKKOS_RAND_DEVICES", "KOKKOS_SKIP_DEVICE"})
    if (const auto text = from(variable); text.data() != nullptr)
      if (const auto number = as_integer(text); !number || *number < 0 || *number > INT_MAX)
        return refusal(variable, "a whole number from 0 on");
  for (const char* const variable : {"KOKKOS_DISABLE_WARNINGS", "KOKKOS_PRINT_CONFIGURATION", "KOKKOS_TUNE_INTERNALS"})
    if (const auto text = from(variable); text.data() != nullptr)
      if (!is_one_of(text, {"true", "yes", "1", "false", "no", "0"}) && !(is_older_kokkos && is_one_of(text, {"on", "off"})))
        return refusal(variable, "true or false");
  if (const auto text = from("KOKKOS_MAP_DEVICE_ID_BY"); text.data() != nullptr && !is_one_of(text, {"random", "mpi_rank"}))
    return refusal("KOKKOS_MAP_DEVICE_ID_BY", "random or mpi_rank");
  if (from("KOKKOS_NUM_DEVICES").data() != nullptr && from("KOKKOS_RAND_DEVICES").data() != nullptr)
    return refusal("KOKKOS_RAND_DEVICES", "it only where KOKKOS_NUM_DEVICES is not set");
  const auto tools = from("KOKKOS_TOOLS_LIBS"), older = from("KOKKOS_PROFILE_LIBRARY");
  if (tools.data() != nullptr && older.data() != nullptr && tools != older)
    return refusal("KOKKOS_PROFILE_LIBRARY", "the same as KOKKOS_TOOLS_LIBS, which is set too");
  return {};
}

void ensure_initialized() {
  static std::mutex starting;
  if (is_alive()) return;

  const std::lock_guard lock(starting);
  if (was_finalized())
    throw error(
        errc::kokkos_finalized,
        "the application has finalised Kokkos, and Kokkos cannot be started again: finalise it after the last call that names a "
        "variant, or leave the name away, since fixed_order needs no Kokkos");
  if (seen_alive.load(std::memory_order_relaxed)) return;
  if (!Kokkos::is_initialized()) {
    constexpr const char* instead = ", and this variant needs it: call it once before, or leave the name away";
    if (threads::alone())
      throw error(
          errc::unsupported,
          std::string("Kokkos cannot be started inside a parallel region, in a forked process or at the program's end") + instead);
    if (const auto wrong = wrong_environment(); !wrong.empty()) throw error(errc::backend_unavailable, wrong);
#ifdef ONEFOLD_HAVE_OPENMP
    threads::require_threads(threads_to_start());
#endif
    try {
      start();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& problem) {
      throw error(errc::backend_unavailable, std::string("Kokkos could not be started: ") + problem.what());
    }
  }
  Kokkos::push_finalize_hook([] { finalized_since_seen.store(true, std::memory_order_release); });
  seen_alive.store(true, std::memory_order_release);
}

bool runs() {
  try {
    ensure_initialized();
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

#ifdef ONEFOLD_HAVE_OPENMP
int pool_size() noexcept {
  if (!is_alive() && !(Kokkos::is_initialized() && !was_finalized())) return std::max(threads::openmp_threads(), 1);
  static const int threads = std::max(static_cast<int>(Kokkos::OpenMP().concurrency()), 1);
  return threads;
}

bool openmp_serves_this_thread() {
  if (!threads::openmp_team_is_ours(pool_size())) return false;
#if KOKKOS_VERSION < 30700
  // Old Kokkos keeps its thread pool in a thread-local pointer of the thread that started it, and stops the program elsewhere.
  return !Kokkos::OpenMP::in_parallel();
#else
  return true;
#endif
}

bool tools_see_kokkos() {
  static const bool named = !from("KOKKOS_TOOLS_LIBS").empty() || !from("KOKKOS_PROFILE_LIBRARY").empty();
  if (named) static_cast<void>(runs());
  return Kokkos::is_initialized() && Kokkos::Tools::profileLibraryLoaded();
}

void parallel_for(std::int64_t count, void (*work)(std::int64_t)) {
  using range = Kokkos::RangePolicy<Kokkos::OpenMP, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("onefold", range(0, count, Kokkos::ChunkSize(1)), [work](std::int64_t i) { work(i); });
}
#endif

std::string version() {
  return "Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

}  // namespace onefold::kokkos_backend
