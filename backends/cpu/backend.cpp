/// @file backend.cpp  The entries of the CPU backends, Serial and OpenMP: fixed_order, and Kokkos as the reference.

#include "../backend.hpp"

#include <array>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/error.hpp>

#include "../float_environment.hpp"
#include "../kokkos/lifetime.hpp"
#include "../kokkos/parallel_reduce.hpp"
#include "../threads/process.hpp"
#include "exact.hpp"
#include "fixed_order.hpp"

namespace onefold::detail {

namespace {

// parallel_reduce stands for the lectures' kernels, which take the four operators; fixed_order takes every form, and superaccumulator those whose
// sums are exact.
constexpr variant_info cpu_variant(std::string_view name, std::string_view seed, guarantee promise, std::string_view summary) {
  variant_info row{};
  const bool every_form = promise == guarantee::fixed;
  row.name = name;
  row.seed = seed;
  row.summary = summary;
  row.backend = backend::serial;
  row.built = true;
  row.guarantee = promise;
  row.takes_everything = every_form;
  if (promise == guarantee::none) {
    for (int type = 0; type < full_type_count; ++type) row.operators[type] = (1U << operation_count) - 1;
    row.limits = "it reduces elements as they are, in their own type, with sum, prod, min or max";
  }
  if (promise == guarantee::exact) {
    for (int type = 0; type < element_type_count; ++type)
      row.operators[type] = exact::has_state(form::sum, static_cast<element_type>(type)) ? 1U : 0U;
    row.limits =
        "it takes floats with sum, norm1, dot, sum_of_squares, norm2, mean or mean_variance, and integers with the last three";
  }
  return row;
}

constexpr std::array cpu_variants{
#define ONEFOLD_VARIANT(name, seed, promise, summary) cpu_variant(#name, seed, guarantee::promise, summary),
#include "catalogue.def"
#undef ONEFOLD_VARIANT
};

std::span<const variant_info> variants() { return cpu_variants; }

// Threads that this executor means where it names no number, and the most that the reference can use.
int pool_size([[maybe_unused]] backend where) {
#ifdef ONEFOLD_HAVE_OPENMP
  if (where == backend::openmp) return kokkos_backend::pool_size();
#endif
  return 1;
}

std::string too_many_threads(const variant_info& variant, const executor& where, int pool) {
  return "openmp(" + std::to_string(where.threads()) + ") asks " + std::string(variant.name) +
         " for more threads than OpenMP gives (" + std::to_string(pool) +
         "): set OMP_NUM_THREADS, ask for fewer, or leave the variant's name away";
}

std::optional<std::string> reason_against(const variant_info& variant, const executor& where) {
  try {
    if (variant.guarantee >= guarantee::fixed) cpu::check_instruction_set();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    return problem.what();
  }
  const int pool = pool_size(where.backend());
  if (variant.guarantee < guarantee::fixed && where.threads() > pool) return too_many_threads(variant, where, pool);
  if (variant.guarantee < guarantee::fixed && where.backend() == backend::openmp)
    if (auto wrong = kokkos_backend::wrong_environment(); !wrong.empty()) return wrong;
  return std::nullopt;
}

template <backend Where>
backend_info describe() {
  backend_info info{Where, true, false, {}, pool_size(Where), {}};
  try {
    cpu::check_instruction_set();  // of the default variant
#ifdef ONEFOLD_ONLY_FIXED_ORDER
    info.detail = kokkos_backend::version();
#else
    info.detail = kokkos_backend::version() + (Where == backend::serial ? ", Kokkos::Serial" : ", Kokkos::OpenMP");
#endif
    info.usable = true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    info.detail = problem.what();
  }
  return info;
}

#ifdef ONEFOLD_HAVE_OPENMP
// Whether the reference can use OpenMP's threads here. Elsewhere the calling thread works alone, as a nested region of OpenMP's would.
bool reference_has_threads() {
  if (threads::alone()) return false;
  kokkos_backend::ensure_initialized();
  return kokkos_backend::openmp_serves_this_thread();
}
#endif

void run_reference(const request& what, const options& how, [[maybe_unused]] int threads, report& ran) {
  const operation op = operation_of(what.form);
  bool with_kokkos = true;
#ifdef ONEFOLD_HAVE_OPENMP
  if (what.where.backend() == backend::openmp && reference_has_threads()) {
    kokkos_backend::reduce_openmp(what.type, op, what.input, what.count, what.output, threads);
    ran.threads = threads;
  } else
#endif
  {
    with_kokkos = kokkos_backend::reduce_serial(what.type, op, what.input, what.count, what.output);
    ran.threads = 1;
  }
  if (how.report != nullptr) ran.implementation = with_kokkos ? "Kokkos::parallel_reduce" : "left to right, without Kokkos";
}

void run(const request& what, const options& how, const variant_info& variant, report& ran) {
  if (what.where.threads() < 0)
    throw error(errc::invalid_argument, "openmp(threads) takes 0 for all threads, or a positive number");
  if (variant.guarantee >= guarantee::fixed) cpu::check_instruction_set();
  const default_float_environment one_operation_is_one_operation;
  int threads = 1;
  if (what.where.backend() != backend::serial && !threads::ending()) {  // when OpenMP may be gone
#ifdef ONEFOLD_HAVE_OPENMP
    // Kokkos may start with another number of threads than OpenMP has without it.
    if (variant.guarantee < guarantee::fixed && !threads::alone()) kokkos_backend::ensure_initialized();
#endif
    const int pool = pool_size(what.where.backend());
    if (variant.guarantee < guarantee::fixed && what.where.threads() > pool)
      throw error(errc::unsupported, too_many_threads(variant, what.where, pool));
    if (!threads::alone()) threads = what.where.threads() == 0 ? pool : what.where.threads();
  }
  if (variant.guarantee < guarantee::fixed) {
    try {
      return run_reference(what, how, threads, ran);
    } catch (const error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& problem) {
      throw error(errc::backend_unavailable, std::string("Kokkos has failed: ") + problem.what());
    }
  }
  const bool exactly = variant.guarantee == guarantee::exact;
  if (how.report != nullptr) ran.implementation = exactly ? cpu::exact_implementation() : cpu::fixed_order_implementation();
  ran.threads = exactly ? cpu::reduce_exactly(what, threads) : cpu::reduce_fixed_order(what, threads);
}

void synchronize(const executor&) {}  // CPU work is done when the call returns

}  // namespace

extern const backend_entry serial_backend{variants,
                                          describe<backend::serial>,
                                          reason_against,
                                          run,
                                          synchronize,
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          cpu::reduce_few,
                                          nullptr,
                                          nullptr};
#ifdef ONEFOLD_HAVE_OPENMP
extern const backend_entry openmp_backend{variants,
                                          describe<backend::openmp>,
                                          reason_against,
                                          run,
                                          synchronize,
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          cpu::reduce_few,
                                          nullptr,
                                          nullptr};
#endif

}  // namespace onefold::detail
