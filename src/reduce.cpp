/// @file reduce.cpp  The one dispatch point: validate the request, choose where and what, run.

#include <limits>
#include <utility>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "dispatch.hpp"
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

namespace {

// Below this many bytes starting the OpenMP threads takes longer than one core takes for the whole reduction.
constexpr std::uint64_t openmp_pays_from_bytes = std::uint64_t{256} * 1024;

// `role` names the array in the sentences: "input", or for dot "second input".
void check_input(const request& what, const void* pointer, const char* role) {
  const std::size_t size = size_of(what.type);
  if (pointer == nullptr)
    throw error(errc::null_pointer,
                "the " + std::string(role) + " pointer is null but there are " + std::to_string(what.count) + " elements to read");
  const auto input = reinterpret_cast<std::uintptr_t>(pointer);
  if (input % size != 0)
    throw error(errc::misaligned_pointer, "the " + std::string(role) + " pointer is not aligned to its element type " +
                                              std::string(name(what.type)) + " (" + std::to_string(size) +
                                              " bytes): copy the data to an aligned array first");
  const auto output = reinterpret_cast<std::uintptr_t>(what.output);
  if (output < input + what.count * size && input < output + size_of(result_type(what.type, what.form, what.wide)))
    throw error(errc::invalid_argument, "the output lies inside the " + std::string(role) + ": give it a place of its own");
}

void check_pointers(const request& what) {
  if (what.output == nullptr) throw error(errc::null_pointer, "the output pointer is null: give the address of one element");
  if (reinterpret_cast<std::uintptr_t>(what.output) % size_of(result_type(what.type, what.form, what.wide)) != 0)
    throw error(errc::misaligned_pointer, "the output pointer is not aligned to its element type");
  if (what.count == 0) return;
  // No array is larger than half of the address space: a count beyond that is a negative number or one in bytes gone wrong. Asked after
  // the null pointer, which is the commoner slip.
  if (what.input != nullptr &&
      what.count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / size_of(what.type))
    throw error(errc::invalid_argument,
                "a count of " + std::to_string(what.count) + " elements cannot be: is it a negative number?");
  check_input(what, what.input, "input");
  if (what.form == form::dot) check_input(what, what.second, "second input");
}

void check_shape(const options& how) {
  if (how.block_size < 0 || how.grid_size < 0 || how.width < 0)
    throw error(errc::invalid_argument, "block_size, grid_size and width take positive numbers, or 0 for the library's choice");
}

executor resolve(const request& what) {
  if (!what.where.chooses_itself()) return what.where;
  const auto place = locate(what.input);
  if (place.kind != pointer_kind::host) return cuda(place.device);
  if (what.count * size_of(what.type) < openmp_pays_from_bytes) return serial();
  return find_backend(backend::openmp) != nullptr ? openmp() : serial();
}

void check_host_memory(const void* pointer, const char* role, backend where) {
  if (!is_on_device(pointer)) return;
  throw error(errc::device_pointer, "the " + std::string(role) + " is GPU memory, which the " + std::string(name(where)) +
                                        " executor cannot read: use cuda(), or copy the data to the host first");
}

void check_and_run(request& what, const options& how) {
  check_pointers(what);
  check_shape(how);

  what.best = what.where.chooses_itself();
  what.where = resolve(what);
  const backend where = what.where.backend();
  const variant_info& variant = select(what, where, how);
  const backend_entry* entry = find_backend(where);
  if (entry == nullptr) throw error(errc::backend_not_built, not_built_sentence(where));
  if (where != backend::cuda && may_hold_device_memory()) {
    // Not asked twice: resolve() has found the input on the host, and a form that waits has a variable of its own for its result.
    if (what.count > 0 && !what.best) check_host_memory(what.input, "input", where);
    if (what.count > 0 && what.form == form::dot) check_host_memory(what.second, "second input", where);
    if (!what.waits) check_host_memory(what.output, "output", where);
  }

  report ran;  // its names are written only for somebody who reads them: the longer ones would be allocated
  ran.backend = where;
  ran.guarantee = variant.guarantee;
  if (how.report != nullptr) {
    ran.variant = how.variant.empty() ? variant.name : how.variant;
    ran.implementation = variant.name;
  }
  entry->run(what, how, variant, ran);
  if (how.report != nullptr) *how.report = std::move(ran);
}

}  // namespace

void dispatch(request& what, const options& how) { check_and_run(what, how); }

}  // namespace detail

}  // namespace onefold
