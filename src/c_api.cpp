/// @file c_api.cpp  The C interface: status and sentence, executors, and the one call.

#include "c_api.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/results.hpp>
#include <onefold/workspace.hpp>

#include "../backends/backend.hpp"
#include "complex.hpp"
#include "dispatch.hpp"
#include "mixed.hpp"
#include "type_names.hpp"

// What the header says by numbers is what C++ says by names.
namespace onefold {

#define ONEFOLD_OP(name) static_assert(static_cast<int>(operation::name) < 8, "onefold_variant_info::operators has a bit for each");
#include <onefold/ops.def>
#undef ONEFOLD_OP
static_assert(static_cast<int>(errc::communication_failed) == ONEFOLD_COMMUNICATION_FAILED &&
              static_cast<int>(errc::kokkos_finalized) == ONEFOLD_KOKKOS_FINALIZED &&
              static_cast<int>(errc::device_error) == ONEFOLD_DEVICE_ERROR &&
              static_cast<int>(errc::device_lost) == ONEFOLD_DEVICE_LOST &&
              static_cast<int>(errc::out_of_memory) == ONEFOLD_OUT_OF_MEMORY &&
              static_cast<int>(errc::backend_unavailable) == ONEFOLD_BACKEND_UNAVAILABLE &&
              static_cast<int>(errc::backend_not_built) == ONEFOLD_BACKEND_NOT_BUILT &&
              static_cast<int>(errc::guarantee_not_met) == ONEFOLD_GUARANTEE_NOT_MET &&
              static_cast<int>(errc::unsupported) == ONEFOLD_UNSUPPORTED &&
              static_cast<int>(errc::unknown_variant) == ONEFOLD_UNKNOWN_VARIANT &&
              static_cast<int>(errc::wrong_device) == ONEFOLD_WRONG_DEVICE &&
              static_cast<int>(errc::host_pointer) == ONEFOLD_HOST_POINTER &&
              static_cast<int>(errc::device_pointer) == ONEFOLD_DEVICE_POINTER &&
              static_cast<int>(errc::misaligned_pointer) == ONEFOLD_MISALIGNED_POINTER &&
              static_cast<int>(errc::null_pointer) == ONEFOLD_NULL_POINTER &&
              static_cast<int>(errc::invalid_argument) == ONEFOLD_INVALID_ARGUMENT);
namespace {

// Whether C's type of an element has the layout of C++'s: it is the same, or has its bits.
template <class C, class T>
inline constexpr bool is_same_number = std::is_same_v<C, T> ||
                                       (detail::is_half<T> && sizeof(C) == sizeof(T) && alignof(C) == alignof(T));

#define ONEFOLD_C_NAME(name, ...) \
  if (type == #name) return true;
constexpr bool is_listed(std::string_view type) noexcept {
  ONEFOLD_C_TYPES(ONEFOLD_C_NAME)
  ONEFOLD_C_SMALL_TYPES(ONEFOLD_C_NAME)
  return false;
}
constexpr bool is_listed_as_wide(std::string_view type, form what) noexcept {
  if (what == form::mean_variance) {
    ONEFOLD_C_WIDE_FLOATS(ONEFOLD_C_NAME)
  } else if (what == form::dot) {
    ONEFOLD_C_WIDE_TYPES(ONEFOLD_C_NAME)
  } else {
#define ONEFOLD_C_NAME_OF_WIDE(form_name, name, ...) \
  if (type == #name && what == form::form_name) return true;
    ONEFOLD_C_WIDE_FORMS(ONEFOLD_C_NAME_OF_WIDE)
#undef ONEFOLD_C_NAME_OF_WIDE
  }
  return false;
}
#undef ONEFOLD_C_NAME
// Whether the lists of wide forms have the type exactly where C++ does.
constexpr bool are_wide_forms_listed(element_type type) noexcept {
  for (int i = 0; i < form_count + record_count; ++i)
    if (is_listed_as_wide(name(type), static_cast<form>(i)) != can_be_wide(type, static_cast<form>(i))) return false;
  return true;
}

}  // namespace

#define ONEFOLD_IS(enumeration, name, number) \
  static_assert(static_cast<int>(enumeration::name) == (number), "onefold.h has another number for " #name);
ONEFOLD_IS(element_type, f32, ONEFOLD_F32)
ONEFOLD_IS(element_type, f64, ONEFOLD_F64)
ONEFOLD_IS(element_type, i32, ONEFOLD_I32)
ONEFOLD_IS(element_type, u32, ONEFOLD_U32)
ONEFOLD_IS(element_type, i64, ONEFOLD_I64)
ONEFOLD_IS(element_type, u64, ONEFOLD_U64)
ONEFOLD_IS(element_type, i8, ONEFOLD_I8)
ONEFOLD_IS(element_type, u8, ONEFOLD_U8)
ONEFOLD_IS(element_type, i16, ONEFOLD_I16)
ONEFOLD_IS(element_type, u16, ONEFOLD_U16)
ONEFOLD_IS(element_type, f16, ONEFOLD_F16)
ONEFOLD_IS(element_type, bf16, ONEFOLD_BF16)
ONEFOLD_IS(element_type, c64, ONEFOLD_C64)
ONEFOLD_IS(element_type, c128, ONEFOLD_C128)
static_assert(element_type_count == ONEFOLD_C64, "onefold.h and the lines above have a number for each type of types.def");
static_assert(static_cast<int>(operation::sum) == ONEFOLD_OP_SUM && static_cast<int>(operation::prod) == ONEFOLD_OP_PROD &&
              static_cast<int>(operation::min) == ONEFOLD_OP_MIN && static_cast<int>(operation::max) == ONEFOLD_OP_MAX &&
              operation_count == 4);
ONEFOLD_IS(form, sum, ONEFOLD_SUM)
ONEFOLD_IS(form, prod, ONEFOLD_PROD)
ONEFOLD_IS(form, min, ONEFOLD_MIN)
ONEFOLD_IS(form, max, ONEFOLD_MAX)
ONEFOLD_IS(form, dot, ONEFOLD_DOT)
ONEFOLD_IS(form, sum_of_squares, ONEFOLD_SUM_OF_SQUARES)
ONEFOLD_IS(form, norm1, ONEFOLD_NORM1)
ONEFOLD_IS(form, norm_inf, ONEFOLD_NORM_INF)
ONEFOLD_IS(form, mean, ONEFOLD_MEAN)
ONEFOLD_IS(form, norm2, ONEFOLD_NORM2)
ONEFOLD_IS(form, min_number, ONEFOLD_MIN_NUMBER)
ONEFOLD_IS(form, max_number, ONEFOLD_MAX_NUMBER)
ONEFOLD_IS(form, bit_and, ONEFOLD_BIT_AND)
ONEFOLD_IS(form, bit_or, ONEFOLD_BIT_OR)
ONEFOLD_IS(form, bit_xor, ONEFOLD_BIT_XOR)
ONEFOLD_IS(form, count, ONEFOLD_COUNT)
ONEFOLD_IS(form, all, ONEFOLD_ALL)
ONEFOLD_IS(form, any, ONEFOLD_ANY)
ONEFOLD_IS(form, none, ONEFOLD_NONE)
ONEFOLD_IS(form, argmin, ONEFOLD_ARGMIN)
ONEFOLD_IS(form, argmax, ONEFOLD_ARGMAX)
ONEFOLD_IS(form, argmin_magnitude, ONEFOLD_ARGMIN_MAGNITUDE)
ONEFOLD_IS(form, argmax_magnitude, ONEFOLD_ARGMAX_MAGNITUDE)
ONEFOLD_IS(form, argminmax, ONEFOLD_ARGMINMAX)
ONEFOLD_IS(form, minmax, ONEFOLD_MINMAX)
ONEFOLD_IS(form, mean_variance, ONEFOLD_MEAN_VARIANCE)
ONEFOLD_IS(form, reduce_together, ONEFOLD_REDUCE_TOGETHER)
static_assert(form_count + record_count == ONEFOLD_REDUCE_TOGETHER + 1);
#undef ONEFOLD_IS
static_assert(static_cast<int>(backend::serial) == ONEFOLD_SERIAL && static_cast<int>(backend::openmp) == ONEFOLD_OPENMP &&
              static_cast<int>(backend::cuda) == ONEFOLD_CUDA && backend_count < ONEFOLD_BEST);
static_assert(static_cast<int>(guarantee::none) + 1 == ONEFOLD_GUARANTEE_NONE &&
              static_cast<int>(guarantee::fixed) + 1 == ONEFOLD_GUARANTEE_FIXED &&
              static_cast<int>(guarantee::exact) + 1 == ONEFOLD_GUARANTEE_EXACT);
static_assert(static_cast<int>(finish::automatic) == ONEFOLD_FINISH_AUTOMATIC &&
              static_cast<int>(finish::cooperative) == ONEFOLD_FINISH_COOPERATIVE &&
              finish_count == ONEFOLD_FINISH_COOPERATIVE + 1);
// An error here names what onefold.h does not have of a type of types.def.
#define ONEFOLD_TYPE(name, T)                                                                                                    \
  static_assert(sizeof(onefold_arg_result_##name) == sizeof(arg_result<T>) && offsetof(onefold_arg_result_##name, index) == 8 && \
                    sizeof(onefold_argminmax_result_##name) == sizeof(argminmax_result<T>) &&                                    \
                    sizeof(onefold_minmax_result_##name) == sizeof(minmax_result<T>),                                            \
                "onefold.h has the results of " #name);                                                                          \
  static_assert(is_same_number<decltype(onefold_arg_result_##name::value), T>, "onefold.h has " #name " as an array has it");    \
  static_assert(is_listed(#name), "ONEFOLD_C_TYPES or ONEFOLD_C_SMALL_TYPES of onefold.h has a line for " #name);                \
  static_assert(are_wide_forms_listed(element_type::name),                                                                       \
                "ONEFOLD_C_WIDE_FORMS, ONEFOLD_C_WIDE_TYPES and ONEFOLD_C_WIDE_FLOATS of onefold.h have " #name                  \
                " where it can be wide");
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
static_assert(sizeof(onefold_mean_variance_result_f32) == sizeof(mean_variance_result<float>) &&
              sizeof(onefold_mean_variance_result_c64) == sizeof(mean_variance_result<std::complex<float>>) &&
              sizeof(onefold_mean_variance_result_c128) == result_bytes(element_type::c128, form::mean_variance));

namespace detail {

namespace {

// Of the thread's last call that failed. No string: keeping a sentence must not fail.
thread_local char last_error[2048];

}  // namespace

int failed(errc code, std::string_view sentence) noexcept {
  put_text(last_error, sentence);
  return static_cast<int>(code);
}

int failed_with_exception() {
  try {
    throw;
  } catch (const error& problem) {
    return failed(problem.code(), problem.what());
  } catch (const std::bad_alloc&) {
    return failed(errc::out_of_memory, lacking_memory().what());
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is being cancelled: whoever holds that up ends the process
  } catch (const std::exception& problem) {
    return failed(errc::backend_unavailable, problem.what());
  } catch (...) {
    return failed(errc::backend_unavailable, "something has thrown what is no exception of the standard library's");
  }
}

executor executor_of(const onefold_executor& where) {
  switch (where.backend) {
    case ONEFOLD_SERIAL:
      return serial();
    case ONEFOLD_OPENMP:
      return openmp(where.threads);
    case ONEFOLD_CUDA:
      return where.own_stream != 0 ? cuda(where.device, static_cast<CUstream_st*>(where.stream)) : cuda(where.device);
    case ONEFOLD_BEST:
      return best();
    default:
      throw error(errc::invalid_argument,
                  "the executor is none: make it with onefold_serial(), onefold_openmp(), onefold_cuda() or onefold_best(), of "
                  "this library's header");
  }
}

void refuse_null(std::string_view what) {
  throw error(errc::null_pointer, std::string("the ").append(what).append(" is a null pointer"));
}

void check_words(const std::int64_t* words) {
  if (words == nullptr) refuse_null("state");
  if (reinterpret_cast<std::uintptr_t>(words) % alignof(std::int64_t) != 0)
    throw error(errc::misaligned_pointer, "the state is not aligned to the 8 bytes of its words");
}

void refuse_size(std::string_view what) {
  throw error(errc::invalid_argument,
              std::string("struct_bytes of the ").append(what).append(" is no size of it: set it to sizeof the structure"));
}

void refuse_newer(std::string_view what) {
  throw error(errc::unsupported, std::string("the ").append(what).append(
                                     " asks for something that this version of onefold does not know: use a newer library"));
}

void refuse_number(std::string_view member, std::int64_t value, std::string_view may_be) {
  throw error(errc::invalid_argument,
              std::string(member).append(" is ").append(std::to_string(value)).append(", and may be ").append(may_be));
}

void refuse_number(std::string_view member, std::int64_t value, std::int64_t least, std::int64_t most) {
  refuse_number(member, value, std::to_string(least) + " to " + std::to_string(most));
}

void refuse_type(form what, element_type type) {
  throw error(errc::unsupported,
              std::string(name(what)).append(" of ").append(name(type)).append(": bits of integers are combined alone"));
}

void refuse_wide(form what, element_type type) {
  throw error(errc::unsupported,
              std::string(name(what))
                  .append(" of ")
                  .append(name(type))
                  .append(" cannot be accumulated in a wider type: ")
                  .append(names_of_types(is_short_float, "and"))
                  .append(" can, in f64, and c64, in c128, in the forms that round, and in those that add or multiply i32 and u32, "
                          "in 64 bits, and ")
                  .append(names_of_types([](element_type one) { return is_small(one) && !is_float(one); }, "and"))
                  .append(", in their own type"));
}

void put_report(const report& ran, onefold_report* to) {
  onefold_report from;
  put_text(from.variant, ran.variant);
  put_text(from.implementation, ran.implementation);
  from.backend = static_cast<std::int32_t>(ran.backend);
  from.guarantee = static_cast<std::int32_t>(ran.guarantee) + ONEFOLD_GUARANTEE_NONE;
  from.finish = static_cast<std::int32_t>(ran.finish);
  from.threads = ran.threads;
  from.device = ran.device;
  from.block_size = ran.block_size;
  from.width = ran.width;
  from.launches = ran.launches;
  from.grid_size = ran.grid_size;
  from.shared_bytes = ran.shared_bytes;
  from.scratch_bytes = ran.scratch_bytes;
  fill(to, from);
}

namespace {

// A workspace of C++'s around the caller's handle, for the length of a scope.
struct lent_workspace {
  explicit lent_workspace(onefold_workspace* handle) noexcept : whole(workspace_access::make(handle)) {}
  ~lent_workspace() { workspace_access::release(whole); }
  lent_workspace(const lent_workspace&) = delete;
  lent_workspace& operator=(const lent_workspace&) = delete;

  workspace whole;
};

constexpr options no_wishes{};

// The caller's options in C++'s types, without the report. `lent` is his workspace.
options wishes_of(const onefold_options& how, lent_workspace& lent) {
  if (how.guarantee < ONEFOLD_GUARANTEE_DEFAULT || how.guarantee > ONEFOLD_GUARANTEE_EXACT)
    refuse_number("options.guarantee", how.guarantee, "one of onefold_guarantee");
  if (how.knobs.finish < 0 || how.knobs.finish >= finish_count)
    refuse_number("options.knobs.finish", how.knobs.finish, "one of onefold_finish");
  if (how.knobs.reserved != 0) refuse_number("options.knobs.reserved", how.knobs.reserved, "0");
  options wishes;
  if (how.variant != nullptr) wishes.variant = {how.variant, how.variant_bytes == 0 ? std::strlen(how.variant) : how.variant_bytes};
  wishes.finish = static_cast<finish>(how.knobs.finish);
  wishes.block_size = how.knobs.block_size;
  wishes.grid_size = how.knobs.grid_size;
  wishes.width = how.knobs.width;
  if (how.guarantee != ONEFOLD_GUARANTEE_DEFAULT) wishes.guarantee = static_cast<guarantee>(how.guarantee - ONEFOLD_GUARANTEE_NONE);
  if (how.workspace != nullptr || how.needs_workspace != 0) wishes.workspace = &lent.whole;
  return wishes;
}

void reduce_with_options(request& what, const onefold_options& how) {
  lent_workspace lent(how.workspace);
  options wishes = wishes_of(how, lent);
  if (how.report == nullptr) return dispatch(what, wishes);
  checked_struct(how.report, "report");
  report ran;
  wishes.report = &ran;
  dispatch(what, wishes);
  put_report(ran, how.report);
}

void check_vectors(const request& what) {
  const onefold_vectors& vectors = *what.vectors;
  if (what.form != form::dot || (what.type != element_type::f32 && what.type != element_type::f64) || what.wide ||
      what.source != nullptr || what.own != nullptr)
    throw error(errc::unsupported, "vectors are those of a dot of f32 or f64 elements, accumulated in their own type");
  if (vectors.rows < 1 || vectors.columns < 1 || std::int64_t{vectors.rows} * vectors.columns > ONEFOLD_MOST_DOTS)
    throw error(errc::invalid_argument, std::string("there are ")
                                            .append(std::to_string(vectors.rows))
                                            .append(" by ")
                                            .append(std::to_string(vectors.columns))
                                            .append(" dots: one call takes 1 to ")
                                            .append(std::to_string(ONEFOLD_MOST_DOTS)));
  if (vectors.x == nullptr || vectors.y == nullptr) refuse_null("list of vectors");
}

// What a request is part of.
struct whole_call {
  batch_in_progress* batch = nullptr;  // not null: this waits for the result
  bool* taken = nullptr;               // not null: it may be kept for the batch's launch, and here is whether it was
  const tree_nodes* nodes = nullptr;   // not null: nodes over its array are meant, by a batch that takes them or not at all
  bool of_complex_parts = false;
  bool words_alone = false;
  bool has_checked_places = false;
  const arrays_of_two_types* products = nullptr;
};

// Whether a backend has run it by its short way (backend_entry::reduce_few). best() means serial() for few elements of the host's.
bool goes_the_short_way(const onefold_request& asked) {
  const std::int32_t where = asked.where.backend;
  if (where != ONEFOLD_SERIAL && where != ONEFOLD_BEST && (where != ONEFOLD_OPENMP || asked.where.threads < 0)) return false;
  const backend_entry* const entry = find_backend(where == ONEFOLD_OPENMP ? backend::openmp : backend::serial);
  return entry != nullptr && entry->reduce_few(asked);
}

void reduce_reals(const onefold_request& asked, const onefold_options* how, const whole_call& of) {
  if (asked.type < 0 || asked.type >= element_type_count) refuse_number("request.type", asked.type, "one of onefold_type");
  if (asked.form < 0 || asked.form >= form_count + record_count) refuse_number("request.form", asked.form, "one of onefold_form");
  if (asked.flags > (ONEFOLD_INTO | ONEFOLD_WIDE))
    refuse_number("request.flags", asked.flags, "ONEFOLD_INTO, ONEFOLD_WIDE, both or 0");
  if (asked.results < 0 || asked.results > most_results)
    throw error(errc::invalid_argument, std::string("there are ")
                                            .append(std::to_string(asked.results))
                                            .append(" results: one reduction has 1 to ")
                                            .append(std::to_string(most_results)));
  request what = request_of(asked, of.of_complex_parts, of.batch, of.words_alone, of.products);
  if (asked.array_count < 0 || asked.array_count > 3) refuse_number("request.array_count", asked.array_count, 0, 3);
  for (int i = 0; i < what.array_count; ++i) {
    const std::uint32_t alignment = asked.arrays[i].alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      refuse_number("the alignment of an array", alignment, "a power of two");
  }
  if (asked.own == nullptr && !takes_type(what.form, what.type)) refuse_type(what.form, what.type);
  if (what.wide && asked.own == nullptr && !can_be_wide(what.type, what.form)) refuse_wide(what.form, what.type);
  if (asked.source != nullptr && is_small(what.type))
    throw error(errc::unsupported, std::string("a function gives values of 4 or 8 bytes, not ").append(name(what.type)));
  std::array<operation, most_results> operators;  // bytes of the caller's, looked at before they are taken for an enumeration's
  if (what.form == form::reduce_together && asked.own == nullptr) {
    if (asked.operators == nullptr) refuse_null("list of operators of reduce_together");
    for (int i = 0; i < what.results; ++i) {
      if (asked.operators[i] >= operation_count)
        refuse_number("an operator of reduce_together", asked.operators[i], "one of onefold_operation");
      operators[static_cast<std::size_t>(i)] = static_cast<operation>(asked.operators[i]);
    }
    what.operators = operators.data();
  }
  if (asked.vectors != nullptr) check_vectors(what);
  if ((what.count_at != nullptr || has_array_in_memory(what)) && !of.has_checked_places) check_places(asked);
  if (asked.input != nullptr && (asked.source != nullptr || asked.own != nullptr))
    throw error(errc::invalid_argument,
                "there is an array beside the function, or the code of your own, that gives the values: give one of them");
  if (asked.source != nullptr && asked.own != nullptr)
    throw error(errc::invalid_argument, "there is a function that gives the values beside code of your own: give one of them");
  if (asked.exact_state != nullptr) check_words(asked.exact_state);
  if (asked.source != nullptr || asked.own != nullptr || asked.device != nullptr) {
    check_count(asked.count, 2);
    for (int i = 0; i < what.array_count; ++i) check_count(asked.count, std::max<std::size_t>(asked.arrays[i].element_bytes, 1));
  }
  if (asked.source != nullptr && asked.source->fill == nullptr) refuse_null("function that gives the values");
  if (what.device != nullptr && what.device->struct_bytes < sizeof(device_fold))
    throw error(errc::unsupported,
                "the code for cuda() was compiled with an older onefold/device.cuh: compile it with this library's");
  if (asked.own != nullptr) {
    const onefold_own_code& own = *asked.own;
    if (own.groups == nullptr || own.level == nullptr || own.conclude == nullptr)
      refuse_null("own operator's groups, level or conclude");
    if (own.value_bytes < 1 || own.value_bytes > 64) refuse_number("value_bytes of the own operator", own.value_bytes, 1, 64);
    if (own.state_bytes < 1 || own.state_bytes > most_state_bytes)
      refuse_number("state_bytes of the own operator", own.state_bytes, 1, most_state_bytes);
  }
  if (of.taken != nullptr && ((*of.taken = dispatch_to_batch(what, *of.batch, of.nodes)) || of.nodes != nullptr)) return;
  if (how == nullptr) return dispatch(what, no_wishes);
  if (how->struct_bytes == sizeof(*how)) return reduce_with_options(what, *how);
  reduce_with_options(what, known_options(how));
}

bool names_form_of_reals(const onefold_request& asked) {
  return asked.type >= 0 && asked.type < element_type_count && asked.form >= 0 && asked.form < form_count + record_count &&
         takes_type(static_cast<form>(asked.form), static_cast<element_type>(asked.type));
}

// An exact sum that waits, and whose count, or array, stands in memory. No kernel of such sums reads an address from there, nor one of complex numbers a count: the host does.
bool is_exact_of_memory(const onefold_request& asked, const onefold_options* how) {
  return has_something_in_memory(asked) && how != nullptr && (asked.flags & ONEFOLD_INTO) == 0 &&
         known_options(how).guarantee == ONEFOLD_GUARANTEE_EXACT;
}

void reduce_checked(const onefold_request& asked, const onefold_options* how, const whole_call& of = {}) {
  if ((asked.reserved | asked.reserved_2) != 0) refuse_number("request.reserved", asked.reserved | asked.reserved_2, "0");
  if (is_exact_of_memory(asked, how) && of.batch == nullptr) {
    onefold_request what = asked;
    what.struct_bytes = sizeof(what);
    if (is_for_gpu(what)) {
      check_places(asked);
      read_memory_of_gpu(what);
      return reduce_checked(what, how, of);
    }
  }
  if (asked.second_type != 0) return reduce_mixed(asked, how);
  if (asked.own != nullptr && !names_form_of_reals(asked)) {  // of the caller's own code type and form say nothing
    onefold_request what = asked;
    what.struct_bytes = sizeof(what);
    what.type = ONEFOLD_F64;
    what.form = ONEFOLD_SUM;
    return reduce_reals(what, how, of);
  }
  if (asked.type == ONEFOLD_C64 || asked.type == ONEFOLD_C128) {
    if (of.taken != nullptr && of.nodes == nullptr && (*of.taken = complex_in_batch(asked, how, *of.batch))) return;
    return reduce_complex(asked, how);
  }
  reduce_reals(asked, how, of);
}

}  // namespace

bool reduce_in_batch(const onefold_request& asked, const onefold_options* how, batch_in_progress& batch) {
  bool taken = false;
  reduce_checked(asked, how, {.batch = &batch, .taken = &taken});
  return taken;
}

bool nodes_in_batch(const onefold_request& asked, const tree_nodes& which, batch_in_progress& batch) {
  if (asked.type == ONEFOLD_C64 || asked.type == ONEFOLD_C128) return false;
  bool taken = false;
  reduce_checked(asked, nullptr, {.batch = &batch, .taken = &taken, .nodes = &which});
  return taken;
}

void reduce_beside_batch(const onefold_request& asked, const onefold_options* how, batch_in_progress& batch) {
  reduce_checked(asked, how, {.batch = &batch});
}

void reduce_complex_parts(const onefold_request& asked, const onefold_options* how) {
  reduce_checked(asked, how, {.of_complex_parts = true});
}

void reduce_products(const onefold_request& asked, const arrays_of_two_types& of, const onefold_options* how) {
  reduce_checked(asked, how, {.has_checked_places = true, .products = &of});
}

void put_exact_words(const onefold_request& asked, const onefold_options& how) {
  reduce_checked(asked, &how, {.words_alone = true});
}

void put_exact_words_of_parts(const onefold_request& asked, const onefold_options& how) {
  reduce_checked(asked, &how, {.of_complex_parts = true, .words_alone = true});
}

std::unique_ptr<batch_in_progress> begin_batch(const backend_entry& entry, const executor& where, const onefold_options* how,
                                               std::size_t bytes) {
  if (how == nullptr) return entry.begin_batch(where, no_wishes, bytes);
  const onefold_options known = known_options(how);
  lent_workspace lent(known.workspace);
  return entry.begin_batch(where, wishes_of(known, lent), bytes);
}

void check_places(const onefold_request& asked) {
  const bool is_of_arrays = asked.source == nullptr && asked.own == nullptr && asked.device == nullptr && asked.vectors == nullptr;
  if (asked.count_at != nullptr) {
    if (!is_of_arrays)
      throw error(errc::unsupported, "a count that stands in memory is for reductions of one array, or of two by dot");
    if (reinterpret_cast<std::uintptr_t>(asked.count_at) % alignof(std::uint64_t) != 0)
      throw error(errc::misaligned_pointer, "the pointer to the count is not aligned to 8 bytes");
  }
  if (asked.input_at == nullptr && asked.second_at == nullptr) return;
  if (!is_of_arrays || (asked.second_at != nullptr && asked.form != ONEFOLD_DOT))
    throw error(errc::unsupported, "an address that stands in memory is that of one array, or of two in dot");
  if ((asked.input_at != nullptr && asked.input != nullptr) || (asked.second_at != nullptr && asked.second != nullptr))
    throw error(errc::invalid_argument,
                "an array has two addresses, the pointer to it and one that stands in memory: give one of them");
  const auto places = reinterpret_cast<std::uintptr_t>(asked.input_at) | reinterpret_cast<std::uintptr_t>(asked.second_at);
  if (places % alignof(const void*) != 0)
    throw error(errc::misaligned_pointer, "the pointer to the address of an array is not aligned to 8 bytes");
}

}  // namespace detail

}  // namespace onefold

using namespace onefold::detail;

int onefold_abi_version(void) { return ONEFOLD_ABI_VERSION; }

const char* onefold_status_name(int status) {
  if (status == ONEFOLD_OK) return "ok";
  if (status < 0 || status > ONEFOLD_COMMUNICATION_FAILED) return "unknown";
  return name(static_cast<onefold::errc>(status)).data();  // of a literal, which ends with a 0
}

const char* onefold_last_error(void) { return last_error; }

onefold_executor onefold_serial(void) { return c_executor(onefold::serial()); }
onefold_executor onefold_openmp(int threads) { return c_executor(onefold::openmp(threads)); }
onefold_executor onefold_cuda(int device, void* stream) {
  return c_executor(onefold::cuda(device, static_cast<CUstream_st*>(stream)));
}
onefold_executor onefold_cuda_device(int device) { return c_executor(onefold::cuda(device)); }
onefold_executor onefold_best(void) { return c_executor(onefold::best()); }

int onefold_reduce(const onefold_request* what, const onefold_options* how) {
  return guarded([&] {
    if (what == nullptr) refuse_null("request");
    if (what->struct_bytes == sizeof(*what)) {
      if (how == nullptr && goes_the_short_way(*what)) return;
      return reduce_checked(*what, how);
    }
    reduce_checked(as_known(*what, offsetof(onefold_request, output) + sizeof(what->output), "request"), how);
  });
}
