/// @file backend.cpp  The CPU backends' entries: Serial and OpenMP through Kokkos.

#include "../backend.hpp"

#include <array>

#include <onefold/error.hpp>

#include "../float_environment.hpp"
#include "fixed_order.hpp"
#include "lifetime.hpp"
#include "parallel_reduce.hpp"

namespace onefold::detail {

namespace {

// parallel_reduce stands for the lectures' kernels, which take the four operators; fixed_order takes every form.
constexpr variant_info cpu_variant(std::string_view name, std::string_view seed, guarantee promise, std::string_view summary) {
  variant_info row{};
  const bool every_form = promise >= guarantee::fixed;
  row.name = name;
  row.seed = seed;
  row.summary = summary;
  row.backend = backend::serial;
  row.built = true;
  row.guarantee = promise;
  for (int type = 0; type < element_type_count; ++type)
    for (int what = 0; what < (every_form ? form_count : operation_count); ++what)
      row.supported |= std::uint64_t{1} << (type * form_count + what);
  row.takes_wide = every_form;
  if (!every_form) row.limits = "it reduces elements as they are, in their own type, with sum, prod, min or max";
  return row;
}

constexpr std::array cpu_variants{
#define ONEFOLD_VARIANT(name, seed, promise, summary) cpu_variant(#name, seed, guarantee::promise, summary),
#include "catalogue.def"
#undef ONEFOLD_VARIANT
};

std::span<const variant_info> variants() { return cpu_variants; }

// Most threads that this executor can use. Requires a running Kokkos.
int pool_size([[maybe_unused]] backend where) {
#ifdef ONEFOLD_HAVE_OPENMP
  if (where == backend::openmp) return kokkos_backend::openmp_pool_size();
#endif
  return 1;
}

std::optional<std::string> reason_against(const variant_info&, const executor& where) {
  try {
    kokkos_backend::ensure_initialized();
  } catch (const std::exception& problem) {
    return problem.what();
  }
#ifdef ONEFOLD_HAVE_OPENMP
  if (where.backend() == backend::openmp && !kokkos_backend::openmp_serves_this_thread())
    return "this version of Kokkos can use its OpenMP threads only from the host thread that initialised it: call from that "
           "thread, use "
           "serial(), or build onefold with Kokkos 3.7 or newer";
#endif
  const int pool = pool_size(where.backend());
  if (where.threads() <= pool) return std::nullopt;
  return "openmp(" + std::to_string(where.threads()) + ") asks for more threads than Kokkos was initialised with (" +
         std::to_string(pool) + "): set OMP_NUM_THREADS before the first call, or ask for fewer";
}

template <backend Where>
backend_info describe() {
  backend_info info{Where, true, false, {}, 0, {}};
  try {
    kokkos_backend::ensure_initialized();
    info.threads = pool_size(Where);
    info.detail = kokkos_backend::version() + (Where == backend::serial ? ", Kokkos::Serial" : ", Kokkos::OpenMP");
    info.usable = true;
  } catch (const std::exception& problem) {
    info.detail = problem.what();
  }
  return info;
}

void run(const request& what, const options& how, const variant_info& variant, report& ran) {
  if (what.where.threads() < 0)
    throw error(errc::invalid_argument, "openmp(threads) takes 0 for all threads, or a positive number");
  const default_float_environment one_operation_is_one_operation;
  kokkos_backend::ensure_initialized();
  if (const auto reason = reason_against(variant, what.where)) throw error(errc::unsupported, *reason);
  const int threads = what.where.threads() == 0 ? pool_size(what.where.backend()) : what.where.threads();
  if (variant.guarantee >= guarantee::fixed) {
    if (how.report != nullptr) ran.implementation = kokkos_backend::fixed_order_implementation();
    ran.threads = kokkos_backend::reduce_fixed_order(what, threads);
    return;
  }
  if (how.report != nullptr) ran.implementation = "Kokkos::parallel_reduce";
  const operation op = operator_of(what.form);
#ifdef ONEFOLD_HAVE_OPENMP
  if (what.where.backend() == backend::openmp) {
    ran.threads = kokkos_backend::reduce_openmp(what.type, op, what.input, what.count, what.output, threads);
    return;
  }
#endif
  ran.threads = kokkos_backend::reduce_serial(what.type, op, what.input, what.count, what.output);
}

void synchronize(const executor&) {}  // CPU work is done when the call returns

}  // namespace

extern const backend_entry serial_backend{variants, describe<backend::serial>, reason_against, run, synchronize, {}, {}, {}};
#ifdef ONEFOLD_HAVE_OPENMP
extern const backend_entry openmp_backend{variants, describe<backend::openmp>, reason_against, run, synchronize, {}, {}, {}};
#endif

}  // namespace onefold::detail
