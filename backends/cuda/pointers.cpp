#include "pointers.hpp"

#include <cstdint>
#include <string>

#include <onefold/detail/device_fold.hpp>
#include <onefold/error.hpp>

#include "captures.hpp"
#include "exchanges.hpp"

namespace onefold::cuda_backend {

namespace {

constexpr const char* of_another_context =
    " of another CUDA context than the device's primary one, which the CUDA runtime works in and so does onefold: take that one "
    "(cudaSetDevice or cuDevicePrimaryCtxRetain)";

}  // namespace

cudaPointerAttributes attributes_of(const void* pointer, const char* role, int device, const device_scope& current) {
  cudaPointerAttributes found{};
  check(calls().pointer_get_attributes(&found, pointer), "cudaPointerGetAttributes");
  // Memory of the device belongs to one context. Asked only where there is a second one: it takes as long as the question above.
  if (current.is_foreign() && (found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeUnregistered)) {
    context owner = nullptr;
    const cudaError_t asked = calls().context_of_memory(&owner, pointer);
    if (asked != cudaErrorInvalidValue) check(asked, "cuPointerGetAttribute");  // else the driver does not know the memory
    const bool is_elsewhere = found.type == cudaMemoryTypeDevice && found.device != device;  // which has a sentence of its own
    if (asked == cudaSuccess && owner != nullptr && owner != current.primary() && !is_elsewhere)
      throw error(errc::unsupported, "the " + std::string(role) + " is memory" + of_another_context);
  }
  if (found.type == cudaMemoryTypeDevice && found.device != device && !is_exchanged_with(pointer, device))
    throw error(errc::wrong_device, "the " + std::string(role) + " is memory of CUDA device " + std::to_string(found.device) +
                                        ", the executor is cuda(" + std::to_string(device) + "): use cuda(" +
                                        std::to_string(found.device) + ")");
  return found;
}

void refuse_host_memory(const char* role, const std::string& reason) {
  throw error(errc::host_pointer, "the " + std::string(role) + " is host memory that CUDA does not know" +
                                      (reason.empty() ? "" : ", and " + reason) +
                                      ": copy it to the device (cudaMemcpy), allocate it with cudaMallocHost or cudaMallocManaged, "
                                      "or use serial() or openmp()");
}

void* device_view(const void* pointer, const char* role, int device, const device_scope& current, cudaMemoryType* type) {
  const cudaPointerAttributes found = attributes_of(pointer, role, device, current);
  if (type != nullptr) *type = found.type;
  if (found.type == cudaMemoryTypeUnregistered) refuse_host_memory(role, {});
  return found.devicePointer;
}

const void* device_view_in_graph(const void* pointer, const char* role, int device, const device_scope& current,
                                 cudaStream_t stream) {
  const cudaPointerAttributes found = attributes_of(pointer, role, device, current);
  if (found.type != cudaMemoryTypeUnregistered) return found.devicePointer;
  if (!is_capturing(stream)) refuse_host_memory(role, {});
  return pointer;
}

void refuse_foreign_stream(const executor& where, const device_scope& current) {
  const cudaStream_t stream = where.has_stream() ? where.stream() : nullptr;
  if (!current.is_foreign() || stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return;
  context owner = nullptr;
  check(calls().context_of_stream(stream, &owner), "cuStreamGetCtx");
  if (owner != current.primary()) throw error(errc::unsupported, std::string("the stream is") + of_another_context);
}

void refuse_misaligned(const void* pointer, std::size_t alignment, const char* role) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
    throw error(errc::misaligned_pointer, std::string("the ") + role + " pointer is not aligned to the " +
                                              std::to_string(alignment) + " bytes that its type asks for");
}

namespace {

constexpr const char* roles[] = {"input", "second input", "third input"};

[[noreturn]] void refuse_null_array(const char* role, std::uint64_t count) {
  throw error(errc::null_pointer,
              std::string("the ") + role + " pointer is null but there are " + std::to_string(count) + " elements to read");
}

}  // namespace

void refuse_unreadable(std::span<const onefold_array> arrays, std::uint64_t count, int device, const device_scope& current) {
  for (std::size_t i = 0; i < arrays.size() && count > 0; ++i) {
    if (arrays[i].data == nullptr) refuse_null_array(roles[i], count);
    refuse_misaligned(arrays[i].data, arrays[i].alignment, roles[i]);
    if (attributes_of(arrays[i].data, roles[i], device, current).type == cudaMemoryTypeUnregistered)
      refuse_host_memory(roles[i], "what functions and operators read is not copied");
  }
}

void inputs_of_request::look(int which, const void* pointer, int device, const device_scope& current) {
  const cudaPointerAttributes found = attributes_of(pointer, roles[which], device, current);
  of[which] = found.devicePointer;
  if (found.type == cudaMemoryTypeUnregistered && pageable == nullptr) pageable = roles[which];
  has_pinned = has_pinned || found.type == cudaMemoryTypeHost;
}

inputs_of_request::inputs_of_request(const onefold::detail::request& what, int device, const device_scope& current) {
  if (what.count == 0) return;
  if (what.device == nullptr) {
    if (what.input_at == nullptr)
      look(0, what.input, device, current);
    else
      of[0] = device_view(what.input_at, "address of the input", device, current);
    if (what.form == form::dot && what.second_at == nullptr)
      look(1, what.second, device, current);
    else if (what.form == form::dot)
      of[1] = device_view(what.second_at, "address of the second input", device, current);
    return;
  }
  const auto& fold = *what.device;
  for (std::uint32_t i = 0; i < fold.inputs; ++i) {
    if (const auto* const place = i == 0 ? what.input_at : i == 1 ? what.second_at : nullptr) {
      of[i] = device_view(place, i == 0 ? "address of the input" : "address of the second input", device, current);
      continue;
    }
    if (fold.input[i] == nullptr) refuse_null_array(roles[i], what.count);
    refuse_misaligned(fold.input[i], fold.alignment[i], roles[i]);
    look(static_cast<int>(i), fold.input[i], device, current);
  }
}

}  // namespace onefold::cuda_backend
