#pragma once
/// @file peers_cpu.hpp  The peers on the CPU, ready to be timed in turns.

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "expectation.hpp"
#include "peers.hpp"
#include "samples.hpp"
#include "turns.hpp"

namespace onefold::perf {

struct study_options;

/// How long the turns of one row may take, so that the whole study takes minutes.
turn_limits turn_limits_of(const study_options& how);

/// One reduction of given arrays: a peer's or onefold's, or a bare read, whose result means nothing.
template <class T>
struct cpu_contender {
  std::string name;
  std::function<T()> run;
  bool apart = false;  ///< its threads spin after a call, and whoever came next would be timed beside them
  samples times = {};
};

/// What is reduced: `y` is of dot alone.
template <class T>
struct cpu_case {
  form what;
  const T* x;
  const T* y;
  std::uint64_t count;
  [[nodiscard]] std::uint64_t bytes() const { return count * sizeof(T) * (what == form::dot ? 2 : 1); }
};

/// A bare read of the case's bytes with as many threads: its limit.
template <class T>
cpu_contender<T> bare_read(const cpu_case<T>& of, int threads);
/// onefold's default.
template <class T>
cpu_contender<T> onefold_on(const executor& where, const cpu_case<T>& of);
/// A loop with `omp simd reduction`, or with more threads `omp parallel for simd reduction`, compiled for the machine's instruction
/// set.
template <class T>
cpu_contender<T> openmp_loop(const cpu_case<T>& of, int threads);
/// Kokkos::parallel_reduce with a functor of one element: on Serial, or on as many threads of OpenMP. Requires kokkos_threads() to
/// have that many.
template <class T>
cpu_contender<T> kokkos_on_cpu(const cpu_case<T>& of, int threads);

/// Runs everybody but the bare read once, and takes the peers away whose result is wrong: they come back, with what is wrong. Throws
/// std::runtime_error where onefold's is.
template <class T>
std::vector<missing_peer> refuse_wrong(std::vector<cpu_contender<T>>& all, const cpu_case<T>& of, const whole_sums& sums) {
  const expectation wanted = expected(of.what, element_type_of<T>, sums, 0);
  std::vector<missing_peer> refused;
  std::erase_if(all, [&](const cpu_contender<T>& one) {
    if (one.name == bare_read_name) return false;
    std::string wrong = wrong_result(of.what, element_type_of<T>, of.count, static_cast<double>(one.run()), wanted);
    if (wrong.empty()) return false;
    if (one.name == onefold_name) throw std::runtime_error("onefold is wrong: " + wrong);
    refused.push_back({one.name, "it is wrong: " + wrong});
    return true;
  });
  return refused;
}

/// Every peer that can reduce the case with one thread, or with all.
template <class T>
std::vector<cpu_contender<T>> cpu_contenders(const cpu_case<T>& of, int threads);

/// Of peers with one thread, or with all.
std::vector<missing_peer> missing_on_cpu(int threads);

/// Versions, and what the compiled ones were compiled for: {"eigen", "3.4.0, compiled for avx512"}.
std::vector<std::pair<std::string, std::string>> cpu_peer_versions();

/// Forms that peers on the CPU are asked for.
inline constexpr form cpu_peer_forms[] = {form::sum, form::dot, form::norm1, form::norm2};

}  // namespace onefold::perf
