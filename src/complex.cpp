/// @file complex.cpp  Complex numbers as requests of other kinds: norm2 and sum_of_squares are those of the parts, all as real numbers in a row; what
/// else there is goes the way of a user's own operator.

#include "complex.hpp"

#include <cstddef>
#include <cstring>

#include <onefold/detail/own.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/complex.hpp"
#include "dispatch.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../backends/cuda/fixed_order/complex.hpp"
#endif

namespace onefold::detail {

namespace {

void run_checked(onefold_request what, const onefold_options* how) {
  what.struct_bytes = sizeof(what);  // the caller's header may be older or newer
  check_status(onefold_reduce(&what, how));
}

void check_complex(const onefold_request& asked) {
  const auto type = static_cast<element_type>(asked.type);
  if (asked.form < 0 || asked.form >= form_count + record_count || !takes_type(static_cast<form>(asked.form), type) ||
      (asked.flags & ~ONEFOLD_INTO) != 0 || asked.results > 1 || asked.source != nullptr || asked.own != nullptr ||
      asked.vectors != nullptr || asked.exact_state != nullptr)
    throw error(
        errc::unsupported,
        "arrays of complex numbers are for sum, prod, dot, mean, sum_of_squares, norm1, norm2 and norm_inf, in their own type");
  check_count(asked.count, size_of(type));
  if (reinterpret_cast<std::uintptr_t>(asked.output) % size_of(part_type(type)) != 0) refuse_misaligned_output();
  const std::size_t bytes = size_of(result_type(type, static_cast<form>(asked.form)));
  const std::uint64_t array_bytes = asked.count * size_of(type);
  if (asked.input != nullptr && overlaps(asked.output, bytes, asked.input, array_bytes)) refuse_overlap("input");
  if (asked.second != nullptr && overlaps(asked.output, bytes, asked.second, array_bytes)) refuse_overlap("second input");
}

// The parts, twice as many, are real numbers in a row.
void run_as_parts(onefold_request what, const onefold_options* how) {
  what.type = static_cast<std::int32_t>(part_type(static_cast<element_type>(what.type)));
  what.count *= 2;
  run_checked(what, how);
}

bool asks_for_exact(const onefold_options* how) {
  return how != nullptr && how->struct_bytes >= offsetof(onefold_options, needs_workspace) &&
         how->guarantee == ONEFOLD_GUARANTEE_EXACT;
}

// The real and imaginary parts as two values of each index.
template <class T>
int fill_parts(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
  const auto* const z = static_cast<const complex_of<T>*>(context) + first;
  auto* const real = static_cast<T*>(values[0]);
  auto* const imaginary = static_cast<T*>(values[1]);
  for (std::uint64_t i = 0; i < count; ++i) {
    real[i] = z[i].real;
    imaginary[i] = z[i].imaginary;
  }
  return 0;
}

template <class T>
void run_exactly(onefold_request what, const onefold_options* how) {
  const onefold_value_source parts{const_cast<void*>(what.input), fill_parts<T>};
  const onefold_array array{what.input, sizeof(complex_of<T>), alignof(T)};
  what.type = static_cast<std::int32_t>(part_type(static_cast<element_type>(what.type)));
  what.source = &parts;
  what.results = 2;
  what.input = nullptr;
  what.arrays = &array;
  what.array_count = 1;
  run_checked(what, how);
}

// Of no elements: (0, 0), (1, 0), (NaN, NaN) or 0, from where the executor gets such things.
void run_of_nothing(onefold_request what, const onefold_options* how) {
  const auto its = static_cast<form>(what.form);
  what.type = static_cast<std::int32_t>(part_type(static_cast<element_type>(what.type)));
  what.form = static_cast<std::int32_t>(its == form::mean ? form::mean_variance : form::sum);
  static constexpr std::uint8_t sums[] = {ONEFOLD_OP_SUM, ONEFOLD_OP_SUM};
  static constexpr std::uint8_t of_product[] = {ONEFOLD_OP_PROD, ONEFOLD_OP_SUM};
  if (its == form::sum || its == form::prod || its == form::dot) {
    what.form = static_cast<std::int32_t>(form::reduce_together);
    what.results = 2;
    what.operators = its == form::prod ? of_product : sums;
  }
  run_checked(what, how);
}

template <bool Mean>
struct complex_conclusion {
  template <class V>
  V operator()(const V& tree, std::uint64_t count) const {
    return concluded_complex<Mean>(tree, count);
  }
};

template <class F, class Op, bool Mean, class... C>
void run_as_own(onefold_request what, const onefold_options* how, const C*... x) {
  F map;
  Op op;
  function_of_arrays<F&, C...> values{map, {x...}};
  const index_line line{what.count};
  own_reduction<index_line, decltype(values), Op, no_init, complex_conclusion<Mean>> own(line, values, op);
  what.own = own.code();
  const arrays_of<decltype(values)> arrays(values);
  what.arrays = arrays.each;
  what.array_count = static_cast<std::int32_t>(sizeof...(C));
#ifdef ONEFOLD_HAVE_CUDA
  const device_fold fold =
      cuda_backend::fold_of_complex(static_cast<element_type>(what.type), static_cast<form>(what.form), what.input, what.second);
  what.device = &fold;
#endif
  what.type = ONEFOLD_F64;  // of own code type and form say nothing
  what.form = ONEFOLD_SUM;
  what.input = nullptr;
  what.second = nullptr;
  run_checked(what, how);
}

template <class T>
void run_as(const onefold_request& what, const onefold_options* how) {
  using C = complex_of<T>;
  const auto its = static_cast<form>(what.form);
  const auto* x = static_cast<const C*>(what.input);
  with_complex_fold(its, [&]<class F, class Op, bool Mean>() {
    if constexpr (std::is_same_v<F, conjugated_product>)
      run_as_own<F, Op, Mean>(what, how, x, static_cast<const C*>(what.second));
    else
      run_as_own<F, Op, Mean>(what, how, x);
  });
}

}  // namespace

void reduce_complex(const onefold_request& asked, const onefold_options* how) {
  check_complex(asked);
  const auto its = static_cast<form>(asked.form);
  if (its == form::sum_of_squares || its == form::norm2) return run_as_parts(asked, how);
  if (asks_for_exact(how)) {
    if (its != form::sum && its != form::mean)
      throw error(errc::guarantee_not_met,
                  "guarantee::exact cannot be given: of complex numbers sum, mean, sum_of_squares and norm2 are exact");
    return asked.type == ONEFOLD_C64 ? run_exactly<float>(asked, how) : run_exactly<double>(asked, how);
  }
  if (asked.count == 0) return run_of_nothing(asked, how);
  if (asked.type == ONEFOLD_C64)
    run_as<float>(asked, how);
  else
    run_as<double>(asked, how);
}

}  // namespace onefold::detail
