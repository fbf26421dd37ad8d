#include "workspace.hpp"

#include <chrono>
#include <exception>
#include <limits>
#include <thread>

#include <onefold/error.hpp>

#include "captures.hpp"
#include "choices.hpp"
#include "device.hpp"
#include "fixed_order/plan.hpp"
#include "pointers.hpp"
#include "streams.hpp"
#include "variant.hpp"

namespace onefold::cuda_backend {

device_workspace::device_workspace(int number, void* given, std::size_t size)
    : device(number), memory(given), work(std::make_unique<stream_memory>()) {
  of = backend::cuda;
  bytes = size;
  const device_scope current(device);
  const cudaStream_t stream = stream_of(device, false, nullptr);
  work->stream = work->memory_stream = stream;
  work->slots_in_doubt = false;
  try {
    // Plain memory, of no pool: freeing it waits for work that uses it, whatever has become of the streams.
    if (given == nullptr) memory = work->piece(work->slots, size);
    work->result_on_host();
    check(calls().memset_async(memory, 0, size, stream), "cudaMemsetAsync");
    check(calls().stream_synchronize(stream), "cudaStreamSynchronize");
  } catch (...) {
    work.reset();  // in the device's context
    throw;
  }
}

device_workspace::~device_workspace() {
  try {
    const device_scope current(device);
    try {
      // Freeing memory of no pool waits, too, as far as is known; here it can be seen. What graphs have launched cannot.
      // Nor can what a call has left that failed in every way: then nobody could be waited for.
      while (work->slots.data() != nullptr && !is_recorded && !work->end_in_doubt && !work->is_idle(work->memory_stream))
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    } catch (const std::exception&) {  // a lost device, which the next call reports
    }
    work.reset();
  } catch (const std::exception&) {
    work.reset();
  }
}

std::unique_ptr<onefold::detail::workspace_state> make_workspace(const executor& where, void* memory, std::size_t bytes) {
  const int device = where.device();
  properties_of(device);
  const device_scope current(device);
  if (memory != nullptr) {
    if (reinterpret_cast<std::uintptr_t>(memory) % slot_word_bytes != 0)
      throw error(errc::misaligned_pointer, "the workspace's memory is not aligned to 16 bytes");
    cudaMemoryType type{};
    device_view(memory, "workspace's memory", device, current, &type);
    // Blocks hand values over in accesses of 16 bytes that must not be torn.
    if (type != cudaMemoryTypeDevice)
      throw error(errc::host_pointer, std::string("the workspace's memory is ") +
                                          (type == cudaMemoryTypeManaged ? "managed" : "pinned host") +
                                          " memory, which is not sure to be written in whole words of 16 bytes: take memory of the "
                                          "device (cudaMalloc)");
    // What is under way there may have the memory still: it may come from the stream's pool.
    if (where.has_stream() && !is_capturing(where.stream()))
      check(calls().stream_synchronize(where.stream()), "cudaStreamSynchronize");
  }
  return std::make_unique<device_workspace>(device, memory, bytes);
}

device_workspace* workspace_of(const options& how, const variant_info& variant, bool is_taken, int device) {
  if (how.workspace == nullptr) return nullptr;
  auto* const given = onefold::detail::workspace_access::state(*how.workspace);
  if (given == nullptr)
    throw error(
        errc::invalid_argument,
        "the workspace is empty: it was made for best() or for an executor of CPUs, or has been moved from, or there is none; make "
        "one with this cuda() executor");
  if (given->of != backend::cuda)
    throw error(errc::invalid_argument, "the workspace was made for another executor than this cuda() one");
  if (!is_taken) refuse(variant, "keeps its partial results in memory of the library's own: call it without a workspace");
  auto* const ours = static_cast<device_workspace*>(given);
  if (ours->device != device)
    throw error(errc::wrong_device, "the workspace is on CUDA device " + std::to_string(ours->device) + ", the executor is cuda(" +
                                        std::to_string(device) + ")");
  return ours;
}

void* call::slots_of(std::size_t bytes, std::size_t state_bytes) {
  slots_taken = true;
  if (workspace == nullptr) {
    // The slots' own number begins again with zeros, and does not tell of what this call has launched before.
    if (work.slots_in_doubt || bytes > work.slots.size_bytes()) slot_launches = 0;
    return work.slots_of(bytes);
  }
  const device_workspace& given = *workspace;
  if (given.bytes < bytes)
    throw error(errc::unsupported, "the workspace holds " + std::to_string(given.bytes) + " bytes, and " + std::to_string(count) +
                                       " elements may need " + std::to_string(bytes) +
                                       (state_bytes <= most_own_state_bytes
                                            ? ": make one for as many elements (workspace::bytes)"
                                            : ": make one for as many elements and states of " + std::to_string(state_bytes) +
                                                  " bytes (workspace::bytes(count, state_bytes))"));
  return given.memory;
}

void call::clear_slots_after_failure(std::size_t from, std::size_t bytes) noexcept {
  if (workspace == nullptr)
    work.slots_in_doubt = true;
  else if (from + bytes <= workspace->bytes)
    forget(calls().memset_async(static_cast<std::byte*>(workspace->memory) + from, 0, bytes, work.stream));
}

std::size_t call::most_slot_bytes() const noexcept {
  return workspace == nullptr ? std::numeric_limits<std::size_t>::max() : workspace->bytes;
}

}  // namespace onefold::cuda_backend
