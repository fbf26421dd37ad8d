/// @file reduce.cpp  The one dispatch point: validate the request, choose where and what, run.

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/results.hpp>

#include "../backends/backend.hpp"
#include "c_api.hpp"
#include "dispatch.hpp"
#include "mixed.hpp"
#include "pointer_kind.hpp"
#include "select.hpp"

namespace onefold {

namespace detail {

extern const backend_entry serial_backend;
#ifdef ONEFOLD_HAVE_OPENMP
extern const backend_entry openmp_backend;
#endif
#ifdef ONEFOLD_HAVE_CUDA
extern const backend_entry cuda_backend;
#endif

const backend_entry* find_backend(backend where) noexcept {
  switch (where) {
    case backend::serial:
      return &serial_backend;
#ifdef ONEFOLD_HAVE_OPENMP
    case backend::openmp:
      return &openmp_backend;
#endif
#ifdef ONEFOLD_HAVE_CUDA
    case backend::cuda:
      return &cuda_backend;
#endif
    default:
      return nullptr;
  }
}

void check_count(std::uint64_t count, std::size_t element_bytes) {
  if (!can_be_count(count, element_bytes))
    throw error(errc::invalid_argument, "a count of " + std::to_string(count) + " elements cannot be: is it a negative number?");
}

void refuse_overlap(const std::string& role) {
  throw error(errc::invalid_argument, "the output lies inside the " + role + ": give it a place of its own");
}

void refuse_misaligned_output() { throw error(errc::misaligned_pointer, "the output pointer is not aligned to its element type"); }
void refuse_null_array(const std::string& role, std::uint64_t count) {
  throw error(errc::null_pointer, "the " + role + " pointer is null but there are " + std::to_string(count) + " elements to read");
}

namespace {

// Below this many bytes starting the OpenMP threads takes longer than one core takes for the whole reduction.
constexpr std::uint64_t openmp_pays_from_bytes = std::uint64_t{256} * 1024;
// Of values that a function makes: each takes as long as it takes to read 8 bytes, or longer.
constexpr std::uint64_t openmp_pays_from_values = openmp_pays_from_bytes / 8;

// Whether there is no array: the values, or the whole reduction, are those of functions of the caller's.
bool is_called_back(const request& what) {
  return (reinterpret_cast<std::uintptr_t>(what.source) | reinterpret_cast<std::uintptr_t>(what.own) |
          reinterpret_cast<std::uintptr_t>(what.device)) != 0;
}

// Of all results.
std::size_t output_bytes(const request& what) {
  if (what.vectors != nullptr)
    return static_cast<std::size_t>(what.vectors->rows) * static_cast<std::size_t>(what.vectors->columns) * size_of(what.type);
  if (what.form == form::reduce_together) return result_bytes(what.type, what.form, what.wide, what.results);
  return static_cast<std::size_t>(what.results) * result_bytes(what.type, what.form, what.wide);
}

// The name of one of the vectors of a dot of many, written where a sentence needs it.
struct vector_role {
  const char* set;
  std::int32_t number;
  explicit operator std::string() const { return std::string(set) + " set's vector " + std::to_string(number); }
};

template <class Role>
void check_not_null(const request& what, const void* pointer, const Role& role) {
  if (pointer == nullptr) refuse_null_array(std::string(role), what.count);
}

// `role` names the array in the sentences: "input", or for dot "second input".
template <class Role>
void check_input(const request& what, const void* pointer, const Role& role) {
  const std::size_t size = size_of(what.type);
  check_not_null(what, pointer, role);
  const auto input = reinterpret_cast<std::uintptr_t>(pointer);
  if ((input & (size - 1)) != 0)  // sizes are powers of two, and divisions are slow
    throw error(errc::misaligned_pointer, "the " + std::string(role) + " pointer is not aligned to its element type " +
                                              std::string(name(what.type)) + " (" + std::to_string(size) +
                                              " bytes): copy the data to an aligned array first");
  if (overlaps(what.output, output_bytes(what), pointer, what.count * size)) refuse_overlap(std::string(role));
}

// Calls each(pointer, role) for the vectors of a dot of many.
template <class Each>
void for_vectors(const request& what, const Each& each) {
  for (std::int32_t i = 0; i < what.vectors->rows; ++i) each(what.vectors->x[i], vector_role{"first", i});
  for (std::int32_t j = 0; j < what.vectors->columns; ++j) each(what.vectors->y[j], vector_role{"second", j});
}

constexpr const char* role_of_array[] = {"input", "second input", "third input"};

// The arrays that functions of the caller's read. That one is the output as well is for them to know.
void check_arrays(const request& what) {
  if (what.count == 0) return;
  for (int i = 0; i < what.array_count; ++i) {
    const onefold_array& array = what.arrays[i];
    check_not_null(what, array.data, role_of_array[i]);
    if (reinterpret_cast<std::uintptr_t>(array.data) % array.alignment != 0)
      throw error(errc::misaligned_pointer, "the " + std::string(role_of_array[i]) + " pointer is not aligned to the " +
                                                std::to_string(array.alignment) + " bytes that its type asks for");
  }
}

// What several results take beside one.
void check_results(const request& what) {
  if (what.form == form::reduce_together && what.operators == nullptr)
    throw error(errc::null_pointer, "the pointer to the operators is null: reduce_together takes one for each result");
  if (what.results > 1 && what.form != form::reduce_together && what.source == nullptr)
    throw error(errc::invalid_argument, "several results are those of reduce_together, or of a function that gives several values");
  if (what.source != nullptr && what.form == form::dot)
    throw error(errc::unsupported, "dot takes two arrays: of values that a function gives, sum up the products");
}

[[noreturn]] void refuse_no_index(form what) {
  throw error(errc::invalid_argument, std::string(name(what)) + " of no elements: there is no index");
}

void check_output_of(const request& what) {
  check_output_alignment(what.output, result_alignment(what.type, what.form, what.wide));
}

// What is more than a form with one result on arrays. Returns whether the arrays have still to be looked at.
[[gnu::noinline]] bool check_more(const request& what) {
  check_arrays(what);
  if (what.own != nullptr || (what.device != nullptr && what.source == nullptr)) return false;
  check_output_of(what);
  check_results(what);
  if (what.count == 0 && has_index(what.form)) refuse_no_index(what.form);
  return what.source == nullptr;
}

void check_pointers(const request& what) {
  if (what.output == nullptr) throw error(errc::null_pointer, "the output pointer is null: give the address of one element");
  if (is_record(what.form) || what.results != 1 || is_called_back(what)) {
    if (!check_more(what)) return;
  } else {
    check_output_of(what);
  }
  if (what.count == 0) return;
  // After the null pointer, which is the commoner slip.
  if (what.input != nullptr || what.input_at != nullptr || what.vectors != nullptr) check_count(what.count, size_of(what.type));
  if (what.vectors != nullptr)
    return for_vectors(what, [&](const void* x, const vector_role& role) { check_input(what, x, role); });
  if (what.input_at == nullptr) check_input(what, what.input, "input");
  if (what.form == form::dot && what.second_at == nullptr) check_input(what, what.second, "second input");
}

executor resolve(const request& what) {
  if (!what.where.chooses_itself()) return what.where;
  if (is_called_back(what)) {
    if (what.source == nullptr && what.own == nullptr) return cuda();
    if (what.device != nullptr && what.array_count > 0 && what.count > 0) {
      const auto place = locate(what.arrays[0].data);
      if (place.kind != pointer_kind::host) return cuda(place.device);
    }
    return what.count < openmp_pays_from_values || find_backend(backend::openmp) == nullptr ? serial() : openmp();
  }
  const auto place = locate(what.vectors != nullptr ? what.vectors->x[0] : what.input_at != nullptr ? what.input_at : what.input);
  // Managed memory is read by CPUs too, where the library has nothing else.
  if (place.kind != pointer_kind::host && (place.kind != pointer_kind::managed || find_backend(backend::cuda) != nullptr))
    return cuda(place.device);
  if (what.count * size_of(what.type) < openmp_pays_from_bytes) return serial();
  return find_backend(backend::openmp) != nullptr ? openmp() : serial();
}

template <class Role>
void check_host_memory(const void* pointer, const Role& role, backend where) {
  if (!is_on_device(pointer)) return;
  throw error(errc::device_pointer, "the " + std::string(role) + " is GPU memory, which the " + std::string(name(where)) +
                                        " executor cannot read: use cuda(), or copy the data to the host first");
}

void check_host_arrays(const request& what, backend where) {
  if (what.count == 0) return;
  if (what.vectors != nullptr)
    return for_vectors(what, [&](const void* x, const vector_role& role) { check_host_memory(x, role, where); });
  // Not asked twice: resolve() has found the input of best() on the host.
  if (!what.best) check_host_memory(what.input, "input", where);
  if (what.form == form::dot) check_host_memory(what.second, "second input", where);
}

// The number of elements, from the host's memory.
void read_count(request& what, backend where) {
  what.count = count_in_memory(std::exchange(what.count_at, nullptr), what.count, where);
  if (what.count == 0 && has_index(what.form)) refuse_no_index(what.form);
}

// The addresses of arrays, from the host's memory.
void read_arrays(request& what, backend where) {
  const auto read = [&](const void* const*& place, const void*& array, const char* role) {
    if (place == nullptr || what.count == 0) return;
    array = address_in_memory(std::exchange(place, nullptr), role, where);
    check_input(what, array, role);
    if (may_hold_device_memory()) check_host_memory(array, role, where);
  };
  read(what.input_at, what.input, "input");
  read(what.second_at, what.second, "second input");
}

// Whatever stands in memory, from the host's.
[[gnu::noinline]] void read_memory(request& what, backend where) {
  if (what.count_at != nullptr) read_count(what, where);
  read_arrays(what, where);
}

// What a GPU tells of that by its result.
void check_what_was_read(const request& what) {
  if (what.count > 0 && has_array_in_memory(what)) refuse_unread_array(c_request(what), what.output, output_bytes(what));
  if (what.count_at != nullptr && has_index(what.form)) check_counted_place(what.form, what.output);
}

// Functions of the caller's: which backends and variants can call them.
void check_callable(const request& what, backend where, const variant_info& variant) {
  if (where == backend::cuda && what.device == nullptr)
    throw error(errc::unsupported,
                "cuda() cannot call a function of the host's: compile this call with nvcc and include onefold/device.cuh, or use "
                "serial() or openmp()");
  if (where != backend::cuda && what.source == nullptr && what.own == nullptr)
    throw error(errc::unsupported,
                std::string(name(where)) + " cannot call a function that is there for the GPU alone: use cuda()");
  const bool sums_values = variant.guarantee == guarantee::exact && what.source != nullptr;
  if (!variant.takes_everything && !sums_values)
    throw error(errc::unsupported, std::string(variant.name) + " reduces arrays: leave the variant's name away");
}

// More than one dot of two arrays: which variants have it.
void check_dots(const request& what, const variant_info& variant) {
  const bool exactly = variant.guarantee == guarantee::exact;
  if (what.vectors != nullptr && !variant.takes_everything && !exactly)
    throw error(errc::unsupported, std::string(variant.name) + " takes two arrays: leave the variant's name away");
}

void check_and_run(request& what, const options& how) {
  check_pointers(what);
  check_shape(how.block_size, how.grid_size, how.width);

  what.best = what.where.chooses_itself();
  what.where = resolve(what);
  const backend where = what.where.backend();
  if (where != backend::cuda && (what.count_at != nullptr || has_array_in_memory(what))) read_memory(what, where);
  const variant_info& variant = select(what, where, how);
  const backend_entry* entry = find_backend(where);
  if (entry == nullptr) throw error(errc::backend_not_built, not_built_sentence(where));
  const bool has_input = !is_called_back(what);
  if (!has_input) check_callable(what, where, variant);
  if (what.exact_state != nullptr && variant.guarantee < guarantee::exact)
    throw error(errc::guarantee_not_met,
                how.guarantee == guarantee::exact
                    ? std::string(name(what.form)) + " of " + std::string(name(what.type)) + " has no exact state: leave it null"
                    : std::string(variant.name) + " makes no state that is exact: ask for guarantee::exact");
  check_dots(what, variant);
  if (what.waits) check_result_of_host(what.output, what.exact_state);
  if (where != backend::cuda && may_hold_device_memory()) {
    if (has_input) check_host_arrays(what, where);
    for (int i = 0; i < (what.count > 0 ? what.array_count : 0); ++i)
      check_host_memory(what.arrays[i].data, role_of_array[i], where);
    if (!what.waits) check_host_memory(what.output, "output", where);
  }

  report ran;  // its names are written only for somebody who reads them: the longer ones would be allocated
  ran.backend = where;
  ran.guarantee = how.guarantee == guarantee::exact ? guarantee::exact : variant.guarantee;
  if (how.report != nullptr) {
    ran.variant = how.variant.empty() ? variant.name : how.variant;
    ran.implementation = variant.name;
  }
  entry->run(what, how, variant, ran);
  if (where == backend::cuda && what.waits) check_what_was_read(what);
  if (how.report != nullptr) *how.report = std::move(ran);
}

}  // namespace

void check_shape(std::int64_t block_size, std::int64_t grid_size, std::int64_t width) {
  if (block_size < 0 || grid_size < 0 || width < 0)
    throw error(errc::invalid_argument, "block_size, grid_size and width take positive numbers, or 0 for the library's choice");
}

void check_result_of_host(const void* output, const void* exact_state) {
  if (!may_hold_device_memory()) return;
  for (const void* const place : {output, exact_state})
    if (place != nullptr && !is_on_this_stack(place) && is_on_device(place))
      throw error(errc::device_pointer, std::string("the ") + (place == output ? "output" : "exact_state") +
                                            " is GPU memory, and a call that waits stores it in the host's: with ONEFOLD_INTO, and "
                                            "as *_into, cuda() stores results in its own");
}

void dispatch(request& what, const options& how) { check_and_run(what, how); }

std::uint64_t count_in_memory(const std::uint64_t* place, std::uint64_t most, backend where) {
  if (may_hold_device_memory()) check_host_memory(place, "count", where);
  if (*place > most)
    throw error(errc::invalid_argument, "the count in memory is " + std::to_string(*place) + ", and " + std::to_string(most) +
                                            " is the most that it may be");
  return *place;
}

const void* address_in_memory(const void* const* place, const char* role, backend where) {
  if (may_hold_device_memory()) check_host_memory(place, std::string("address of the ") + role, where);
  const void* array = nullptr;
  std::memcpy(&array, place, sizeof(array));  // of a pointer to elements, whatever their type is
  return array;
}

bool is_for_gpu(onefold_request& what) {
  // Of no elements an array may be nowhere, and what stands in memory tells.
  const void* const first = what.input_at != nullptr ? what.input_at : what.count > 0 ? what.input : what.count_at;
  if (what.where.backend == ONEFOLD_BEST && first != nullptr) {
    const auto place = locate(first);
    if (place.kind != pointer_kind::host) what.where = onefold_cuda_device(place.device);
  }
  return what.where.backend == ONEFOLD_CUDA;
}

void read_memory_of_host(onefold_request& what) {
  const backend where = what.where.backend == ONEFOLD_OPENMP ? backend::openmp : backend::serial;
  if (const auto* const place = std::exchange(what.count_at, nullptr)) what.count = count_in_memory(place, what.count, where);
  if (const auto* const place = std::exchange(what.input_at, nullptr); place != nullptr && what.count > 0)
    what.input = address_in_memory(place, "input", where);
  if (const auto* const place = std::exchange(what.second_at, nullptr); place != nullptr && what.count > 0)
    what.second = address_in_memory(place, "second input", where);
}

void check_counted_place(form what, const void* result) {
  arg_result<double> found;  // of floats too, behind which as many bytes follow
  std::memcpy(&found, result, sizeof(found));
  if (found.index == ~std::uint64_t{0}) refuse_no_index(what);
}

namespace {

template <class T>
T in_memory_of_gpu(const onefold_request& what, const T* place) {
  T value{};
  find_backend(backend::cuda)
      ->read_back(executor_of(what.where), static_cast<void*>(&value), static_cast<const void*>(place), sizeof(value));
  return value;
}

bool can_be_followed(const void* array, std::size_t alignment) {
  return array != nullptr && reinterpret_cast<std::uintptr_t>(array) % alignment == 0;
}

[[noreturn]] void refuse_address_in_memory() {
  throw error(errc::null_pointer,
              "the address of an array that stands in the GPU's memory is null, or not aligned to its element type, but there are "
              "elements to read");
}

// What the address of its array is a multiple of, `which` being 0 or 1.
std::size_t alignment_of_array(const onefold_request& what, int which) {
  if (what.arrays != nullptr) return what.arrays[which].alignment;
  const bool is_other = which == 1 && what.second_type != 0;
  const auto type = static_cast<element_type>(is_other ? what.second_type - 1 : what.type);
  return size_of(is_complex(type) ? part_type(type) : type);
}

}  // namespace

void refuse_unread_array(const onefold_request& what, const void* result, std::size_t bytes) {
  const auto* const all = static_cast<const unsigned char*>(result);
  if (std::any_of(all, all + bytes, [](unsigned char byte) { return byte != 0xff; })) return;
  const auto type = static_cast<element_type>(what.type);
  const auto its = static_cast<form>(what.form);
  const element_type of_result =
      what.second_type != 0 ? type_of_mixed(what) : result_type(type, its, (what.flags & ONEFOLD_WIDE) != 0);
  const bool may_be_a_number = !has_index(its) && !is_complex(of_result) && !is_float(of_result);
  // Of an unsigned type the smallest of no elements, say.
  if (may_be_a_number && what.count_at != nullptr && in_memory_of_gpu(what, what.count_at) == 0) return;
  const auto was_followed = [&what](const void* const* place, int which) {
    return place == nullptr || can_be_followed(in_memory_of_gpu(what, place), alignment_of_array(what, which));
  };
  if (may_be_a_number && was_followed(what.input_at, 0) && was_followed(what.second_at, 1)) return;
  refuse_address_in_memory();
}

void read_memory_of_gpu(onefold_request& what) {
  const backend_entry* const gpus = find_backend(backend::cuda);
  if (gpus == nullptr) throw error(errc::backend_not_built, not_built_sentence(backend::cuda));
  const auto read = [&](const auto* place) {
    const onefold_array at{place, sizeof(*place), alignof(decltype(*place))};
    gpus->check_gpu_arrays(executor_of(what.where), {&at, 1}, 1);
    return in_memory_of_gpu(what, place);
  };
  if (const auto* const place = std::exchange(what.count_at, nullptr)) what.count = std::min(read(place), what.count);
  const auto follow = [&](const void* const*& from, const void*& array, int which) {
    const void* const* const place = std::exchange(from, nullptr);
    if (place == nullptr || what.count == 0) return;
    array = read(place);
    if (!can_be_followed(array, alignment_of_array(what, which))) refuse_address_in_memory();
  };
  follow(what.input_at, what.input, 0);
  follow(what.second_at, what.second, 1);
}

bool dispatch_to_batch(request& what, batch_in_progress& batch, const tree_nodes* nodes) {
  check_pointers(what);
  return nodes == nullptr ? batch.take(what) : batch.take_nodes(what, *nodes);
}

}  // namespace detail

}  // namespace onefold
