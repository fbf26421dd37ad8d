/// @file complex.cpp  Complex numbers as requests of other kinds: norm2, sum_of_squares and exact dots are those of the parts, all as real numbers in a
/// row; what asks for zeros and mean_variance are those of values that a function makes of them, and have folds of their own on a GPU; what else there
/// is has kernels of its own, and goes the way of a user's own operator.

#include "complex.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/results.hpp>

#include "../backends/backend.hpp"
#include "../backends/complex.hpp"
#include "../backends/cpu/instruction_set.hpp"
#include "../backends/exact/state.hpp"
#include "../backends/float_environment.hpp"
#include "batch.hpp"
#include "c_api.hpp"
#include "dispatch.hpp"
#include "pointer_kind.hpp"
#include "select.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../backends/cuda/fixed_order/complex.hpp"
#endif

namespace onefold::detail {

namespace {

void run_checked(onefold_request what, const onefold_options* how) {
  what.struct_bytes = sizeof(what);  // the caller's header may be older or newer
  check_status(onefold_reduce(&what, how));
}

[[noreturn]] void refuse_complex() {
  throw error(
      errc::unsupported,
      "arrays of complex numbers are for sum, prod, dot, mean, sum_of_squares, norm1, norm2, norm_inf, count, all, any, none "
      "and mean_variance");
}

bool is_wide(const onefold_request& asked) { return (asked.flags & ONEFOLD_WIDE) != 0; }

void check_complex(const onefold_request& asked) {
  const auto type = static_cast<element_type>(asked.type);
  if (asked.form < 0 || asked.form >= form_count + record_count) refuse_number("request.form", asked.form, "one of onefold_form");
  if ((asked.flags & ~(ONEFOLD_INTO | ONEFOLD_WIDE)) != 0)
    refuse_number("request.flags", asked.flags, "ONEFOLD_INTO, ONEFOLD_WIDE, both or 0");
  check_complex_form(asked.form, type);
  if (asked.source != nullptr)
    throw error(errc::unsupported, std::string("a function gives real numbers of 4 or 8 bytes, not ")
                                       .append(name(type))
                                       .append(": the parts as two results, or an operator of your own"));
  if (asked.results > 1 || asked.own != nullptr || asked.vectors != nullptr) refuse_complex();
  const bool wide = is_wide(asked);
  const auto its = static_cast<form>(asked.form);
  if (wide && !can_be_wide(type, its)) refuse_wide(its, type);
  check_count(asked.count, size_of(type));
  check_output_alignment(asked.output, size_of(part_type(result_type(type, its, wide))));
  const std::size_t bytes = result_bytes(type, its, wide);
  const std::uint64_t array_bytes = asked.count * size_of(type);
  if (asked.input != nullptr && overlaps(asked.output, bytes, asked.input, array_bytes)) refuse_overlap("input");
  if (asked.second != nullptr && overlaps(asked.output, bytes, asked.second, array_bytes)) refuse_overlap("second input");
}

// With the count and the addresses that stand in memory, which is the host's.
onefold_request with_memory_read(onefold_request what) {
  read_memory_of_host(what);
  return what;
}

// The parts, twice as many, are real numbers in a row.
onefold_request of_parts(onefold_request what) {
  what.type = static_cast<std::int32_t>(part_type(static_cast<element_type>(what.type)));
  what.count *= 2;
  return what;
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

// 1 for each number that is not zero, else 0.
template <class T>
int fill_nonzero(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
  const auto* const z = static_cast<const complex_of<T>*>(context) + first;
  auto* const to = static_cast<T*>(values[0]);
  for (std::uint64_t i = 0; i < count; ++i) to[i] = is_nonzero(z[i]) ? T(1) : T(0);
  return 0;
}

// A request of the same form on the values that `source` makes of complex numbers.
template <class T, class Run = decltype(run_checked)>
void run_of_values(onefold_request what, const onefold_options* how, int (*fill)(void*, std::uint64_t, std::uint64_t, void* const*),
                   int results, const device_fold* on_gpu, const Run& run = run_checked) {
  const onefold_value_source source{const_cast<void*>(what.input), fill};
  const onefold_array array{what.input, sizeof(complex_of<T>), alignof(T)};
  what.type = static_cast<std::int32_t>(part_type(static_cast<element_type>(what.type)));
  what.source = &source;
  what.present = nullptr;
  what.results = results;
  what.input = nullptr;
  what.arrays = &array;
  what.array_count = 1;
  what.device = on_gpu;
  run(what, how);
}

// Of results that this code stores.
void check_moments_output(const onefold_request& what) {
  if (what.output == nullptr) throw error(errc::null_pointer, "the output pointer is null: give the address of one element");
  if ((what.flags & ONEFOLD_INTO) == 0) return check_result_of_host(what.output, what.exact_state);
  if (is_on_device(what.output))
    throw error(errc::device_pointer,
                "the output is GPU memory, which the executors of CPUs cannot write to: copy the result there");
}

// The moments of the real parts and of the imaginary ones, each an array of its own and accumulated in double. The results are of type R.
template <class T, class R = T>
void run_moments(onefold_request what, const onefold_options* how) {
  check_moments_output(what);
  void* const result = what.output;
  mean_variance_result<double> parts[2] = {};
  what.output = parts;
  what.flags = sizeof(T) < sizeof(double) ? ONEFOLD_WIDE : 0U;
  run_of_values<T>(what, how, fill_parts<T>, 2, nullptr);
  const default_float_environment one_operation_is_one_operation;
  const complex_mean_variance<R> both =
      moments_of_complex<R>({parts[0].mean, parts[0].variance}, {parts[1].mean, parts[1].variance});
  std::memcpy(result, &both, sizeof(both));
}

#ifdef ONEFOLD_HAVE_CUDA
// Forms whose states on a GPU are larger than the numbers, or smaller: what asks for zeros, and mean_variance. Of no elements too, whose results the kernels
// know.
template <class T>
void run_states_on_gpu(onefold_request what, const onefold_options* how) {
  const auto its = static_cast<form>(what.form);
  const bool shows_state = what.tree_value != nullptr;
  if (shows_state) what.output = std::exchange(what.tree_value, nullptr);
  const cuda_backend::complex_conclusion conclusion{what.ddof, its, shows_state, is_wide(what)};
  const device_fold fold = cuda_backend::fold_of_complex_states(static_cast<element_type>(what.type), conclusion, what.input);
  if (asks_for_zero(its)) {
    if (shows_state) what.form = ONEFOLD_COUNT;
    return run_of_values<T>(what, how, fill_nonzero<T>, 1, &fold);
  }
  // Its result has three numbers of the parts' type, which no form of real numbers has.
  const onefold_array array{what.input, sizeof(complex_of<T>), alignof(T)};
  what.arrays = &array;
  what.array_count = 1;
  what.device = &fold;
  what.type = ONEFOLD_F64;
  what.form = ONEFOLD_SUM;
  what.flags &= ~ONEFOLD_WIDE;
  what.input = nullptr;
  run_checked(what, how);
}
#endif

// Of sum, mean and mean_variance: each part exactly.
template <class T, class Run = decltype(run_checked)>
void run_exactly(onefold_request what, const onefold_options* how, const Run& run = run_checked) {
  const device_fold* fold = nullptr;
#ifdef ONEFOLD_HAVE_CUDA
  device_fold on_gpu{};  // without kernels: the variant's own read the parts
  on_gpu.struct_bytes = sizeof(on_gpu);
  on_gpu.inputs = 1;
  on_gpu.element_bytes[0] = sizeof(complex_of<T>);
  on_gpu.alignment[0] = alignof(T);
  const std::uint32_t of_part = is_wide(what) ? sizeof(double) : sizeof(T);
  // Where states are made each part has a mean and a variance of its own; in stream order both have one variance.
  const bool is_joint = exact::is_of_both_parts(static_cast<form>(what.form));
  const bool has_one_variance = what.exact_state == nullptr && (what.flags & ONEFOLD_INTO) != 0;
  on_gpu.result_bytes = (!is_joint ? 2 : has_one_variance ? 3 : 4) * of_part;
  on_gpu.result_alignment = of_part;
  on_gpu.input[0] = what.input;
  fold = &on_gpu;
#endif
  run_of_values<T>(what, how, fill_parts<T>, 2, fold, run);
}

// Mean and variance: of the states of both parts a result for both. On a GPU in stream order its kernels make it.
template <class T>
void run_moments_exactly(onefold_request what, const onefold_options* how) {
  if (onefold_request on_gpu = what; (what.flags & ONEFOLD_INTO) != 0 && is_for_gpu(on_gpu)) return run_exactly<T>(on_gpu, how);
  check_moments_output(what);
  std::int64_t words[2 * exact::most_words] = {};
  if (what.exact_state == nullptr) what.exact_state = words;
  mean_variance_result<double> parts[2];  // as large as any
  void* const result = std::exchange(what.output, parts);
  const std::uint32_t wide = what.flags & ONEFOLD_WIDE;
  what.flags = wide;
  run_exactly<T>(what, how);
  check_status(onefold_exact_result(what.type, what.form, wide, what.ddof, what.exact_state, result));
}

// Of no elements: (0, 0), (1, 0), (NaN, NaN) or 0, from where the executor gets such things.
void run_of_nothing(onefold_request what, const onefold_options* how) {
  const auto its = static_cast<form>(what.form);
  what.type = static_cast<std::int32_t>(part_type(accumulator_type(static_cast<element_type>(what.type), is_wide(what))));
  what.flags &= ~ONEFOLD_WIDE;
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

// On CPUs by this code, on a GPU by its own fold.
void run_own_code(onefold_request what, const onefold_options* how, const own_code* code, const onefold_array* arrays, int count) {
  what.own = code;
  what.arrays = arrays;
  what.array_count = count;
#ifdef ONEFOLD_HAVE_CUDA
  const auto its = static_cast<form>(what.form);
  const device_fold fold = is_wide(what)
                               ? cuda_backend::fold_of_wide_complex(its, what.input, what.second)
                               : cuda_backend::fold_of_complex(static_cast<element_type>(what.type), its, what.input, what.second);
  what.device = &fold;
#endif
  what.type = ONEFOLD_F64;  // of own code type and form say nothing
  what.form = ONEFOLD_SUM;
  what.flags &= ~ONEFOLD_WIDE;
  what.input = nullptr;
  what.second = nullptr;
  run_checked(what, how);
}

// Which kernel makes the values of groups, on CPUs.
template <class T, class F, class Op, bool Wide>
constexpr cpu::fold_groups cpu::kernel_table::*kernel_of() {
  using table = cpu::kernel_table;
  constexpr bool single = sizeof(T) == sizeof(float);
  if constexpr (Wide)
    return std::is_same_v<F, conjugated_product> ? &table::c64_c128_dot
           : std::is_same_v<Op, complex_product> ? &table::c64_c128_prod
           : std::is_same_v<Op, complex_sum>     ? &table::c64_c128_sum
                                                 : &table::c64_c128_norm1;
  else if constexpr (std::is_same_v<F, conjugated_product>)
    return single ? &table::c64_dot : &table::c128_dot;
  else if constexpr (std::is_same_v<Op, complex_product>)
    return single ? &table::c64_prod : &table::c128_prod;
  else if constexpr (std::is_same_v<Op, complex_sum>)
    return single ? &table::c64_sum : &table::c128_sum;
  else if constexpr (std::is_same_v<Op, operator_function<op::max>>)
    return single ? &table::c64_norm_inf : &table::c128_norm_inf;
  else
    return single ? &table::c64_norm1 : &table::c128_norm1;
}

// A form as code of the caller's, whose groups are kernels. V is what it adds up, or multiplies, or compares: numbers of A, or their absolute values. Lanes are
// those of such numbers of T.
template <class T, class A, class F, class Op, bool Mean>
class complex_reduction {
  using C = complex_of<T>;
  static constexpr bool two = std::is_same_v<F, conjugated_product>;
  static constexpr bool is_real = std::is_same_v<F, modulus>;
  using V = std::conditional_t<is_real, A, complex_of<A>>;
  static constexpr std::uint32_t value_bytes = is_real ? sizeof(T) : sizeof(C);

 public:
  complex_reduction(const C* x, const C* y)
      : code_{this, value_bytes, sizeof(V), sizeof(V), groups, level_of<V, Op>, conclude}, x_(x), y_(y) {}
  complex_reduction(const complex_reduction&) = delete;
  complex_reduction& operator=(const complex_reduction&) = delete;

  void run(const onefold_request& what, const onefold_options* how) const {
    const onefold_array arrays[] = {{x_, sizeof(C), alignof(T)}, {y_, sizeof(C), alignof(T)}};
    run_own_code(what, how, &code_, arrays, two ? 2 : 1);
  }

 private:
  static int groups(void* context, std::uint64_t first, std::uint64_t count, void* states) {
    const auto& of = *static_cast<const complex_reduction*>(context);
    (cpu::chosen_instructions().kernels->*kernel_of<T, F, Op, sizeof(A) != sizeof(T)>())(
        of.x_ + first, two ? of.y_ + first : nullptr, count, cpu::input_from::caches, states);
    return 0;
  }
  static int conclude(void*, const void* tree, std::uint64_t count, void* result) {
    V value;
    std::memcpy(&value, tree, sizeof(value));
    value = concluded_complex<Mean>(value, count);
    std::memcpy(result, &value, sizeof(value));
    return 0;
  }

  own_code code_;
  const C* x_;
  const C* y_;
};

template <class T, class A = T>
void run_as(const onefold_request& what, const onefold_options* how) {
  const auto* x = static_cast<const complex_of<T>*>(what.input);
  const auto* y = static_cast<const complex_of<T>*>(what.second);
  with_complex_fold(static_cast<form>(what.form), [&]<class F, class Op, bool Mean>() {
    if constexpr (std::is_same_v<T, A> || !std::is_same_v<Op, operator_function<op::max>>)  // which is accumulated in no other type
      complex_reduction<T, A, F, Op, Mean>(x, y).run(what, how);
  });
}

// The tree's value is what all of these forms but mean have for a result, and mean has that of sum.
void run_for_tree_value(onefold_request what, const onefold_options* how) {
  what.output = std::exchange(what.tree_value, nullptr);
  if (what.form == ONEFOLD_MEAN) what.form = ONEFOLD_SUM;
  reduce_complex(what, how);
}

// Of a request with a count, or the address of an array, in memory: what its kernel has no answer to.
void check_of_gpu(const onefold_request& what, const onefold_options* how) {
  if (asks_for_exact(how) || what.exact_state != nullptr)
    throw error(errc::unsupported,
                "an exact sum takes no count, and no address of an array, that stands in memory on cuda() so far: read it first");
  if (what.output == nullptr) throw error(errc::null_pointer, "the output pointer is null: give the address of one element");
  if (what.count == 0) return;
  const auto check_array = [&](const void* array, const void* const* place, const std::string& role) {
    if (place != nullptr) return;
    if (array == nullptr) refuse_null_array(role, what.count);
    if (reinterpret_cast<std::uintptr_t>(array) % size_of(part_type(static_cast<element_type>(what.type))) != 0)
      throw error(errc::misaligned_pointer, "the " + role + " pointer is not aligned to the parts of its elements");
  };
  check_array(what.input, what.input_at, "input");
  if (what.form == ONEFOLD_DOT) check_array(what.second, what.second_at, "second input");
}

// Whether it is what a batch may launch with others, as far as can be seen here; who says what is wrong with it is who runs it alone.
bool is_for_launch(const onefold_request& what) {
  const std::size_t part = size_of(part_type(static_cast<element_type>(what.type)));
  const auto is_array = [part](const void* array) {
    return array != nullptr && reinterpret_cast<std::uintptr_t>(array) % part == 0;
  };
  if (what.tree_value != nullptr || what.exact_state != nullptr || what.count == 0 || what.output == nullptr) return false;
  check_complex(what);
  return is_array(what.input) && (what.form != ONEFOLD_DOT || is_array(what.second));
}

}  // namespace

void check_complex_form(std::int32_t what, element_type type) {
  const auto its = static_cast<form>(what);
  const bool is_known = what >= 0 && what < form_count + record_count;
  if (is_known && asks_for_order(its))
    throw error(errc::unsupported,
                std::string("complex numbers have no order, so there is no ")
                    .append(name(its))
                    .append(" of them: norm_inf is the largest modulus, and a function of the index gives whatever real "
                            "number they are to be compared by"));
  if (!is_known || !takes_type(its, type)) refuse_complex();
}

bool complex_in_batch(const onefold_request& asked, const onefold_options* how, batch_in_progress& batch) {
  const bool is_in_memory = has_something_in_memory(asked);
  if (is_in_memory) {
    check_places(asked);
    check_complex(asked);
    check_of_gpu(asked, how);
  } else if (!is_for_launch(asked)) {
    return false;
  }
  const request what = request_of(asked, false, nullptr, false, nullptr);
  if (asked.count > 0 && !asks_for_exact(how) && batch.take(what)) return true;
  if (!is_in_memory || asked.count == 0) return false;
  const auto is_on_host = [](const void* array) { return array != nullptr && locate(array).kind == pointer_kind::host; };
  if (is_on_host(asked.input) || (asked.form == ONEFOLD_DOT && is_on_host(asked.second)))
    throw error(
        errc::host_pointer,
        "an array of the host's is not read where a count, or the address of an array, stands in memory: copy it to the GPU");
  throw error(errc::unsupported,
              "a count, or the address of an array, that stands in memory is read by a launch of the library's choice: leave "
              "variant, finish, width, block_size and grid_size alone");
}

void reduce_complex(const onefold_request& asked, const onefold_options* how) {
  if (has_something_in_memory(asked)) {
    check_places(asked);
#ifdef ONEFOLD_HAVE_CUDA
    if (onefold_request on_gpu = asked; is_for_gpu(on_gpu)) {
      if (asked.count > 0) return run_together(&on_gpu, 1, how);
      on_gpu.count_at = nullptr;  // which says the same
      on_gpu.input_at = on_gpu.second_at = nullptr;
      return reduce_complex(on_gpu, how);
    }
#endif
    return reduce_complex(with_memory_read(asked), how);
  }
  check_complex(asked);
  const auto its = static_cast<form>(asked.form);
  const bool is_single = asked.type == ONEFOLD_C64;
  if (asked.exact_state != nullptr && !(asks_for_exact(how) && exact::has_state_of_parts(its)))
    throw error(errc::guarantee_not_met,
                "exact_state of complex numbers takes the states of sum, mean, mean_variance, dot, sum_of_squares and norm2, with "
                "guarantee::exact");
  if (its == form::sum_of_squares || its == form::norm2) return run_checked(of_parts(asked), how);
#ifdef ONEFOLD_HAVE_CUDA
  if (onefold_request on_gpu = asked;
      (asks_for_zero(its) || (its == form::mean_variance && !asks_for_exact(how))) && is_for_gpu(on_gpu))
    return is_single ? run_states_on_gpu<float>(on_gpu, how) : run_states_on_gpu<double>(on_gpu, how);
#endif
  if (asks_for_zero(its))
    return is_single ? run_of_values<float>(asked, how, fill_nonzero<float>, 1, nullptr)
                     : run_of_values<double>(asked, how, fill_nonzero<double>, 1, nullptr);
  if (asked.tree_value != nullptr && its != form::mean_variance) return run_for_tree_value(asked, how);
  if (asks_for_exact(how)) {
    if (its == form::dot) return reduce_complex_parts(of_parts(asked), how);
    if (its == form::mean_variance)
      return is_single ? run_moments_exactly<float>(asked, how) : run_moments_exactly<double>(asked, how);
    if (its != form::sum && its != form::mean)
      throw error(
          errc::guarantee_not_met,
          "guarantee::exact cannot be given: of complex numbers sum, dot, mean, mean_variance, sum_of_squares and norm2 are exact");
    return is_single ? run_exactly<float>(asked, how) : run_exactly<double>(asked, how);
  }
  const bool wide = is_wide(asked);
  if (its == form::mean_variance)
    return !is_single ? run_moments<double>(asked, how)
           : wide     ? run_moments<float, double>(asked, how)
                      : run_moments<float>(asked, how);
  if (asked.count == 0) return run_of_nothing(asked, how);
  if (wide)
    run_as<float, double>(asked, how);
  else if (is_single)
    run_as<float>(asked, how);
  else
    run_as<double>(asked, how);
}

void put_complex_exact_words(const onefold_request& asked, const onefold_options& how) {
  if (asked.form == ONEFOLD_DOT) return put_exact_words_of_parts(of_parts(asked), how);
  const auto put = [](const onefold_request& parts, const onefold_options* wishes) { put_exact_words(parts, *wishes); };
  if (asked.type == ONEFOLD_C64)
    run_exactly<float>(asked, &how, put);
  else
    run_exactly<double>(asked, &how, put);
}

}  // namespace onefold::detail
