/// @file peers_cpu.cpp  The peers on the CPU: std::reduce, OpenMP's loops, OpenBLAS, Eigen and Kokkos.

#include <omp.h>
#include <sched.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#ifdef ONEFOLD_HAVE_TBB
#include <execution>
#endif

#include "cpu.hpp"
#include "peers_cpu.hpp"
#include "peers_simd.hpp"
#include "shared_library.hpp"

namespace onefold::perf {

namespace {

// --- OpenMP and Eigen --------------------------------------------------------------------------------------------

template <class T>
const simd_peers<T>& simd_peers_of_this_machine() {
  const auto choose = [](const auto& f32, const auto& f64) -> const simd_peers<T>& {
    if constexpr (std::is_same_v<T, float>)
      return f32();
    else
      return f64();
  };
#ifdef ONEFOLD_PEERS_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return choose(avx512::of_f32, avx512::of_f64);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return choose(avx2::of_f32, avx2::of_f64);
#endif
  return choose(baseline::of_f32, baseline::of_f64);
}

// --- std ---------------------------------------------------------------------------------------------------------

template <class T, class... Policy>
T standard(const cpu_case<T>& of, const Policy&... policy) {
  const T* const end = of.x + of.count;
  const auto square = [](T v) { return v * v; };
  switch (of.what) {
    case form::dot:
      return std::transform_reduce(policy..., of.x, end, of.y, T(0));
    case form::norm1:
      return std::transform_reduce(policy..., of.x, end, T(0), std::plus<>{}, [](T v) { return std::fabs(v); });
    case form::norm2:
      return std::sqrt(std::transform_reduce(policy..., of.x, end, T(0), std::plus<>{}, square));
    default:
      return std::reduce(policy..., of.x, end);
  }
}

// --- OpenBLAS ----------------------------------------------------------------------------------------------------

// Opened when it is asked for, so that onefold-perf starts on machines without it. Its integers have 32 bits but in builds whose
// functions have names of their own.
class openblas_library {
 public:
  static const openblas_library& get() {
    static const openblas_library one;
    return one;
  }

  [[nodiscard]] std::string why_not() const {
    if (auto reason = file_.why_not(); !reason.empty()) return reason;
    return complete() ? std::string() : "the library lacks a function that is asked for";
  }
  [[nodiscard]] std::string version() const { return config_ == nullptr ? "" : config_(); }
  [[nodiscard]] int processors() const { return processors_(); }
  void set_threads(int threads) const { set_threads_(threads); }

  template <class T>
  [[nodiscard]] T call(const cpu_case<T>& of) const {
    const auto& all = functions_of<T>();
    const int n = static_cast<int>(of.count);
    switch (of.what) {
      case form::dot:
        return all.dot(n, of.x, 1, of.y, 1);
      case form::norm1:
        return all.asum(n, of.x, 1);
      case form::norm2:
        return all.nrm2(n, of.x, 1);
      default:
        return all.sum(n, of.x, 1);
    }
  }

 private:
  template <class T>
  struct functions {
    using of_one = T(int, const T*, int);
    T (*dot)(int, const T*, int, const T*, int);
    of_one *asum, *nrm2, *sum;
    [[nodiscard]] bool complete() const { return dot != nullptr && asum != nullptr && nrm2 != nullptr && sum != nullptr; }
  };

  openblas_library()
      : file_({"libopenblas.so.0", ONEFOLD_PERF_OPENBLAS}),
        config_(file_.function<char*()>("openblas_get_config")),
        processors_(file_.function<int()>("openblas_get_num_procs")),
        set_threads_(file_.function<void(int)>("openblas_set_num_threads")),
        f32_(find<float>("cblas_sdot", "cblas_sasum", "cblas_snrm2", "cblas_ssum")),
        f64_(find<double>("cblas_ddot", "cblas_dasum", "cblas_dnrm2", "cblas_dsum")) {}

  template <class T>
  [[nodiscard]] functions<T> find(const char* dot, const char* asum, const char* nrm2, const char* sum) const {
    using of_one = typename functions<T>::of_one;
    return {file_.function<T(int, const T*, int, const T*, int)>(dot), file_.function<of_one>(asum), file_.function<of_one>(nrm2),
            file_.function<of_one>(sum)};
  }
  template <class T>
  [[nodiscard]] const functions<T>& functions_of() const {
    if constexpr (std::is_same_v<T, float>)
      return f32_;
    else
      return f64_;
  }
  [[nodiscard]] bool complete() const {
    return config_ != nullptr && processors_ != nullptr && set_threads_ != nullptr && f32_.complete() && f64_.complete();
  }

  shared_library file_;
  char* (*config_)();
  int (*processors_)();
  void (*set_threads_)(int);
  functions<float> f32_;
  functions<double> f64_;
};

// --- threads of others -------------------------------------------------------------------------------------------

// A thread that OpenMP has bound to a core hands that on to the threads that other libraries start from it: all of them would share
// that core.
std::string why_threads_of_others_are_bound(int threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) >= threads) return {};
  return "OpenMP has bound the calling thread (OMP_PROC_BIND, OMP_PLACES), and its threads would share that core";
}

// What prevents a peer with that many threads; empty where nothing does.
std::string why_not_eigen(int threads) {
  if (simd_peers_of_this_machine<float>().eigen == nullptr)
    return "it was not found when onefold-perf was built (Debian: libeigen3-dev)";
  return threads > 1 ? "its reductions run on one thread" : "";
}

std::string why_not_openblas(int threads) {
  const auto& library = openblas_library::get();
  if (const auto reason = library.why_not(); !reason.empty()) return reason + " (Debian: libopenblas0)";
  if (threads == 1) return {};
  if (auto reason = why_threads_of_others_are_bound(threads); !reason.empty()) return reason;
  return library.processors() < threads ? "it sees fewer processors than OpenMP has threads" : "";
}

std::string why_not_tbb([[maybe_unused]] int threads) {
#ifdef ONEFOLD_HAVE_TBB
  return threads == 1 ? "" : why_threads_of_others_are_bound(threads);
#else
  return "std's parallel algorithms need TBB, which was not found when onefold-perf was built (Debian: libtbb-dev)";
#endif
}

std::string why_not_kokkos(int threads) {
  const auto kokkos = kokkos_threads();
  if (kokkos.most == threads || (threads == 1 && kokkos.most > 0)) return {};
  return kokkos.why_not.empty() ? "its pool has another number of threads" : kokkos.why_not;
}

constexpr const char* std_in_parallel = "std par_unseq";
constexpr const char* std_in_vectors = "std unseq";

}  // namespace

template <class T>
cpu_contender<T> bare_read(const cpu_case<T>& of, int threads) {
  return {.name = bare_read_name, .run = [=] {
            read_words(of.x, of.count * sizeof(T), threads);
            if (of.what == form::dot) read_words(of.y, of.count * sizeof(T), threads);
            return T(0);
          }};
}

template <class T>
cpu_contender<T> onefold_on(const executor& where, const cpu_case<T>& of) {
  return {.name = onefold_name, .run = [=] {
            T value{};
            detail::run({where, element_type_of<T>, of.what, of.x, of.count, &value, true, of.y}, {});
            return value;
          }};
}

template <class T>
cpu_contender<T> openmp_loop(const cpu_case<T>& of, int threads) {
  return {.name = "omp simd",
          .run = [=, loop = simd_peers_of_this_machine<T>().openmp] { return loop(of.what, of.x, of.y, of.count, threads); }};
}

template <class T>
std::vector<cpu_contender<T>> cpu_contenders(const cpu_case<T>& of, int threads) {
  std::vector<cpu_contender<T>> all;
  all.push_back(openmp_loop(of, threads));
  if (threads == 1) all.push_back({.name = "std", .run = [=] { return standard(of); }});
#ifdef ONEFOLD_HAVE_TBB
  if (why_not_tbb(threads).empty()) {
    if (threads == 1)
      all.push_back({.name = std_in_vectors, .run = [=] { return standard(of, std::execution::unseq); }});
    else
      all.push_back({.name = std_in_parallel, .run = [=] { return standard(of, std::execution::par_unseq); }});
  }
#endif
  if (why_not_kokkos(threads).empty()) all.push_back(kokkos_on_cpu(of, threads));
  if (why_not_eigen(threads).empty())
    all.push_back({.name = "eigen",
                   .run = [=, eigen = simd_peers_of_this_machine<T>().eigen] { return eigen(of.what, of.x, of.y, of.count); }});
  if (why_not_openblas(threads).empty()) {
    const auto& library = openblas_library::get();
    library.set_threads(threads);
    all.push_back({.name = "openblas", .run = [&library, of] { return library.call(of); }, .apart = threads > 1});
  }
  return all;
}

std::vector<missing_peer> missing_on_cpu(int threads) {
  std::vector<missing_peer> all;
  const auto add = [&](const char* name, std::string why) {
    if (!why.empty()) all.push_back({name, std::move(why)});
  };
  add(threads == 1 ? std_in_vectors : std_in_parallel, why_not_tbb(threads));
  add("kokkos", why_not_kokkos(threads));
  add("eigen", why_not_eigen(threads));
  add("openblas", why_not_openblas(threads));
  return all;
}

std::vector<std::pair<std::string, std::string>> cpu_peer_versions() {
  const auto& compiled = simd_peers_of_this_machine<float>();
  const std::string set = std::string("compiled for ") + compiled.instruction_set;
  std::vector<std::pair<std::string, std::string>> all{{"omp simd", set}};
  if (compiled.eigen != nullptr) all.emplace_back("eigen", compiled.eigen_version + (", " + set));
  if (openblas_library::get().why_not().empty()) all.emplace_back("openblas", openblas_library::get().version());
  return all;
}

#define ONEFOLD_FOR(T)                                                       \
  template cpu_contender<T> bare_read(const cpu_case<T>&, int);              \
  template cpu_contender<T> onefold_on(const executor&, const cpu_case<T>&); \
  template cpu_contender<T> openmp_loop(const cpu_case<T>&, int);            \
  template std::vector<cpu_contender<T>> cpu_contenders(const cpu_case<T>&, int);
ONEFOLD_FOR(float)
ONEFOLD_FOR(double)
#undef ONEFOLD_FOR

}  // namespace onefold::perf
