#include "instruction_set.hpp"

#include <pthread.h>
#include <unistd.h>
#ifdef ONEFOLD_X86_KERNELS
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <string>

#include <onefold/error.hpp>

namespace onefold::cpu {

namespace {

struct choice {
  instruction_set set;
  std::optional<error> refusal;
};

// A core's own second-level cache.
std::uint64_t own_cache_bytes() {
  static const std::uint64_t bytes = [] {
    long found = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    found = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return found > 0 ? static_cast<std::uint64_t>(found) : std::uint64_t{1} << 20;
  }();
  return bytes;
}

bool is_amd() {
#ifdef ONEFOLD_X86_KERNELS
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

#ifdef ONEFOLD_X86_KERNELS
// Conversions of f16, which not every compiler's __builtin_cpu_supports knows by name.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

// No other set is taken for one that cannot be had: whoever names one compares or measures, and would take one set's results for another's.
choice choose() {
#ifdef ONEFOLD_X86_KERNELS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  const instruction_set sets[] = {{"fixed_order/avx512", &avx512_kernels, &avx2_kernels, avx512, &exact_avx512_kernels},
                                  {"fixed_order/avx2", &avx2_kernels, nullptr, avx2, &exact_avx2_kernels},
                                  {"fixed_order/baseline", &baseline_kernels, nullptr, true, &exact_baseline_kernels}};
#else
  const instruction_set sets[] = {{"fixed_order/portable", &baseline_kernels, nullptr, true, &exact_baseline_kernels}};
#endif
  const auto short_name = [](const instruction_set& set) { return set.name.substr(set.name.find('/') + 1); };
  // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
  const char* const variable = std::getenv("ONEFOLD_INSTRUCTION_SET");
  std::string_view wanted = variable == nullptr ? "" : variable;
#ifndef ONEFOLD_X86_KERNELS
  if (wanted == "baseline") wanted = "portable";  // what runs everywhere, whichever build it is
#endif
  if (wanted.empty()) return {*std::ranges::find_if(sets, &instruction_set::here), {}};
  const auto named = std::ranges::find(sets, wanted, short_name);
  if (named != std::end(sets) && named->here) return {{named->name, named->kernels, nullptr, true, named->exact}, {}};
  std::string sentence = "the environment variable ONEFOLD_INSTRUCTION_SET is \"" + std::string(wanted.substr(0, 40)) + "\", " +
                         (named == std::end(sets) ? "which names no instruction set" : "which this processor does not have") +
                         ": unset it, or take one of";
  const char* before = " ";
  for (const auto& set : sets) {
    if (!set.here) continue;
    sentence += before + std::string(short_name(set));
    before = ", ";
  }
  return {sets[std::size(sets) - 1], error(named == std::end(sets) ? errc::invalid_argument : errc::unsupported, sentence)};
}

}  // namespace

const instruction_set& chosen_instructions() {
  static const choice& made = *new choice(choose());  // never destroyed, since a call may come at any time before the program ends
  if (made.refusal) throw error(*made.refusal);
  return made.set;
}

namespace {

// No process is forked while another thread makes one of these: its child would wait for them for ever.
[[maybe_unused]] const int registered = pthread_atfork(
    [] {
      try {
        static_cast<void>(chosen_instructions());
      } catch (const std::exception&) {  // whose sentence is a call's
      }
      static_cast<void>(own_cache_bytes());
    },
    nullptr, nullptr);

}  // namespace

bool streams_are_faster() {
#ifdef ONEFOLD_X86_KERNELS
  return is_amd() && chosen_instructions().kernels == &avx512_kernels;
#else
  return false;
#endif
}

// From a core's own caches the shorter loads are faster where the input does not begin on a cache line, so that each of the longer ones takes
// two lines. On a Zen 4 they are from memory too, but not where the third-level cache gives; a Xeon is slower with them from memory.
// (perf/results/*-cpu-*, *-xeon-*)
bool narrow_is_faster(bool light, std::uint64_t bytes, int threads, bool on_line) {
  constexpr std::uint64_t shared_cache = std::uint64_t{48} << 20;
  const bool from_own_caches = bytes < own_cache_bytes() * static_cast<std::uint64_t>(threads);
  return (is_amd() && bytes >= shared_cache) || (light && !on_line && from_own_caches);
}

}  // namespace onefold::cpu
