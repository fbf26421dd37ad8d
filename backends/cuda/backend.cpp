/// @file backend.cpp  The CUDA backend's entry: checks a request against the variant and the device, then calls the variant.

#include "../backend.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>

#include <onefold/device/destination.hpp>
#include <onefold/error.hpp>

#include "../forms.hpp"
#include "fixed_order/plan.hpp"
#include "policy.hpp"
#include "runtime.hpp"
#include "variant.hpp"
#include "workspace.hpp"

namespace onefold::cuda_backend {

#define ONEFOLD_VARIANT(name, seed, promise, summary) extern const variant_row row_##name;
#include "catalogue.def"
#undef ONEFOLD_VARIANT

// In store_value.cu: writes a result of `bytes` bytes, at most sixteen words of 8, from the host's `value` to device memory, in stream order.
void store_value(void* output, const void* value, std::size_t bytes, cudaStream_t stream);

namespace {

constexpr std::array rows{
#define ONEFOLD_VARIANT(name, seed, promise, summary) &row_##name,
#include "catalogue.def"
#undef ONEFOLD_VARIANT
};

variant_info describe_variant(const variant_row& row, std::string_view name, std::string_view seed, guarantee promise,
                              std::string_view summary) {
  variant_info info{};
  info.name = name;
  info.seed = seed;
  info.summary = summary;
  info.backend = backend::cuda;
  info.built = true;
  info.guarantee = promise;
  info.default_finish = row.what.default_finish;
  info.finishes = row.what.finishes;
  if (!row.what.block_size_by_count) info.default_block_size = built_in_block_size(name, row.what.block_sizes);
  info.block_sizes = row.what.block_sizes;
  info.grid_size_free = row.what.grid_size_free;
  info.default_width = row.what.default_width;
  info.widths = row.what.widths;
  info.width_meaning = row.what.width_meaning;
  info.min_compute_capability = row.what.min_compute_capability;
  info.takes_everything = row.run_everything != nullptr;
  for (int type = 0; type < element_type_count; ++type)
    for (int op = 0; op < operation_count; ++op)
      if (row.run[type][op] != nullptr) info.operators[type] = static_cast<std::uint8_t>(info.operators[type] | 1U << op);
  info.limits = row.what.limits.empty() && !info.takes_everything ? plain_only : row.what.limits;
  return info;
}

const auto& all_variants() {
  static const std::array<variant_info, rows.size()> all{
#define ONEFOLD_VARIANT(name, seed, promise, summary) describe_variant(row_##name, #name, seed, guarantee::promise, summary),
#include "catalogue.def"
#undef ONEFOLD_VARIANT
  };
  return all;
}

std::span<const variant_info> list_variants() { return all_variants(); }

// The row behind a line of the catalogue, which holds a copy of our description: found by its name, but for the default, whose calls are
// the shortest and should not search.
const variant_row& row_of_variant(const variant_info& wanted) {
  if (wanted.name == "fixed_order") return row_fixed_order;
  const auto& all = all_variants();
  const auto found = std::ranges::find(all, wanted.name, &variant_info::name);
  return *rows[static_cast<std::size_t>(found - all.begin())];
}

std::string capability_text(int capability) { return std::to_string(capability / 10) + "." + std::to_string(capability % 10); }

std::optional<std::string> reason_against(const variant_info& variant, const executor& where) {
  try {
    const auto& gpu = properties_of(where.device());
    if (gpu.compute_capability >= variant.min_compute_capability) return std::nullopt;
    return std::string(variant.name) + " needs compute capability " + capability_text(variant.min_compute_capability) + "; " +
           gpu.name + " has " + capability_text(gpu.compute_capability);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

backend_info describe() {
  backend_info info{backend::cuda, true, false, {}, 0, {}};
  try {
    const int count = device_count();
    for (int device = 0; device < count; ++device) {
      const auto& gpu = properties_of(device);
      info.devices.push_back({gpu.number,
                              gpu.name,
                              {gpu.compute_capability / 10, gpu.compute_capability % 10},
                              gpu.multiprocessors,
                              gpu.memory_bytes,
                              gpu.l2_bytes});
    }
    int driver = 0;
    check(calls().get_driver_version(&driver), "cudaDriverGetVersion");
    info.detail = "CUDA runtime " + version_text(CUDART_VERSION) + ", driver for CUDA " + version_text(driver);
    info.usable = true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    info.detail = problem.what();
  }
  return info;
}

[[noreturn]] void refuse(const variant_info& variant, const std::string& what) {
  throw error(errc::unsupported, std::string(variant.name) + " " + what);
}

template <class Value, class Text>
std::string choices(std::span<const Value> values, Text text) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i) list += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + text(values[i]);
  return list;
}

// The caller's number, or the variant's own where the caller left it alone; refused when it is not one of the variant's.
int choose_number(const variant_info& variant, const char* option, int wanted, int own, std::span<const int> allowed) {
  if (wanted == 0) return own;
  if (std::ranges::find(allowed, wanted) != allowed.end()) return wanted;
  if (allowed.empty()) refuse(variant, std::string("has no ") + option + " to choose");
  refuse(variant, std::string("takes a ") + option + " of " + choices(allowed, [](int value) { return std::to_string(value); }) +
                      ", not " + std::to_string(wanted));
}

finish choose_finish(const variant_info& variant, finish wanted, bool waits) {
  const auto as_text = [](finish how) { return std::string(name(how)); };
  if (wanted == finish::automatic) {
    // A form that does not wait for the host cannot have the host finish; the next best of the variant's is taken.
    if (variant.default_finish != finish::host || waits) return variant.default_finish;
    const auto other = std::ranges::find_if(variant.finishes, [](finish how) { return how != finish::host; });
    if (other == variant.finishes.end())
      refuse(variant, "finishes on the host, which the *_into forms must not wait for: use the form that returns the value");
    return *other;
  }
  if (std::ranges::find(variant.finishes, wanted) == variant.finishes.end())
    refuse(variant, "cannot finish with " + as_text(wanted) +
                        (variant.finishes.empty() ? ": it leaves no block partials"
                                                  : ": it takes " + choices<finish>(variant.finishes, as_text)));
  if (wanted == finish::host && !waits)
    refuse(variant,
           "cannot finish on the host here: the *_into forms must not wait for the host; use the form that returns the value");
  return wanted;
}

constexpr const char* of_another_context =
    " of another CUDA context than the device's primary one, which the CUDA runtime works in and so does onefold: take that one "
    "(cudaSetDevice or cuDevicePrimaryCtxRetain)";

// What the device sees at `pointer`; memory that no kernel of ours can reach is refused before one crashes on it.
void* device_view(const void* pointer, const char* role, int device, const device_scope& current, cudaMemoryType* type = nullptr) {
  cudaPointerAttributes found{};
  check(calls().pointer_get_attributes(&found, pointer), "cudaPointerGetAttributes");
  if (type != nullptr) *type = found.type;
  // Memory of the device belongs to one context. Asked only where there is a second one: it takes as long as the question above.
  if (current.is_foreign() && (found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeUnregistered)) {
    context owner = nullptr;
    const cudaError_t asked = calls().context_of_memory(&owner, pointer);
    if (asked != cudaErrorInvalidValue) check(asked, "cuPointerGetAttribute");  // else the driver does not know the memory
    const bool is_elsewhere = found.type == cudaMemoryTypeDevice && found.device != device;  // which has a sentence of its own
    if (asked == cudaSuccess && owner != nullptr && owner != current.primary() && !is_elsewhere)
      throw error(errc::unsupported, "the " + std::string(role) + " is memory" + of_another_context);
  }
  if (found.type == cudaMemoryTypeUnregistered)
    throw error(errc::host_pointer,
                "the " + std::string(role) +
                    " is host memory that CUDA does not know: copy it to the device (cudaMemcpy), allocate it with "
                    "cudaMallocHost or cudaMallocManaged, or use serial() or openmp()");
  if (found.type == cudaMemoryTypeDevice && found.device != device)
    throw error(errc::wrong_device, "the " + std::string(role) + " is memory of CUDA device " + std::to_string(found.device) +
                                        ", the executor is cuda(" + std::to_string(device) + "): use cuda(" +
                                        std::to_string(found.device) + ")");
  return found.devicePointer;
}

// How long the host asks for a result again and again before it lets the driver wait: longer than small reductions take, for which the
// driver's wait costs 2 us more, and not so long that a core is kept from other work for nothing.
constexpr auto patience = std::chrono::microseconds(50);

// Waits for all words of a result, and puts them together.
void await_words(const volatile unsigned long long* words, std::byte* result, std::size_t bytes, unsigned call_number,
                 cudaStream_t stream) {
  const int count = device::host_words_of(bytes);
  const auto begin = std::chrono::steady_clock::now();
  bool asked_driver = false;
  for (int arrived = 0; arrived < count;) {
    if (calls().has_arrived(words + arrived, call_number)) {
      ++arrived;
      continue;
    }
    if (std::chrono::steady_clock::now() - begin < patience) continue;
    // The words come before the kernel ends, so after this they are here, or there is an error to report.
    if (asked_driver) throw error(errc::device_error, "the stream has ended, but the result of the reduction has not arrived");
    check(calls().stream_synchronize(stream), "cudaStreamSynchronize");
    asked_driver = true;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  for (std::size_t at = 0; at < bytes; at += 4) {
    const auto part = static_cast<std::uint32_t>(words[at / 4]);
    std::memcpy(result + at, &part, std::min<std::size_t>(bytes - at, 4));
  }
}

void refuse_foreign_stream(const executor& where, const device_scope& current) {
  const cudaStream_t stream = where.has_stream() ? where.stream() : nullptr;
  if (!current.is_foreign() || stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return;
  context owner = nullptr;
  check(calls().context_of_stream(stream, &owner), "cuStreamGetCtx");
  if (owner != current.primary()) throw error(errc::unsupported, std::string("the stream is") + of_another_context);
}

// Puts the result where the caller wants it, once it is there.
void wait_for_result(const call& now, const std::byte* host_memory, void* output, std::size_t bytes) {
  if (now.host_words != nullptr) {
    await_words(reinterpret_cast<const volatile unsigned long long*>(host_memory), static_cast<std::byte*>(output), bytes,
                now.call_number, now.work.stream);
  } else {
    check(calls().stream_synchronize(now.work.stream), "cudaStreamSynchronize");
    std::memcpy(output, now.host_value, bytes);
  }
}

// What a call has launched before it failed may still run.
void leave_mark_after_failure(lane& work) noexcept {
  try {
    work.leave_mark();
    work.end_in_doubt = false;
  } catch (const std::exception&) {  // the first failure is the one to be told of
  }
}

// The arrays of a request as the device sees them; null where there are none.
struct inputs_of_request {
  const void* of[3] = {};

  inputs_of_request(const onefold::detail::request& what, int device, const device_scope& current) {
    if (what.count == 0) return;
    if (what.device == nullptr) {
      of[0] = device_view(what.input, "input", device, current);
      if (what.form == form::dot) of[1] = device_view(what.second, "second input", device, current);
      return;
    }
    static constexpr const char* roles[] = {"input", "second input", "third input"};
    const auto& fold = *what.device;
    for (std::uint32_t i = 0; i < fold.inputs; ++i) {
      if (fold.input[i] == nullptr)
        throw error(errc::null_pointer, std::string("the ") + roles[i] + " pointer is null but there are " +
                                            std::to_string(what.count) + " elements to read");
      refuse_misaligned(fold.input[i], fold.alignment[i], roles[i]);
      of[i] = device_view(fold.input[i], roles[i], device, current);
    }
  }

  static void refuse_misaligned(const void* pointer, std::size_t alignment, const char* role) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
      throw error(errc::misaligned_pointer, std::string("the ") + role + " pointer is not aligned to the " +
                                                std::to_string(alignment) + " bytes that its type asks for");
  }
};

std::size_t bytes_of_result(const onefold::detail::request& what) {
  return what.device != nullptr ? what.device->result_bytes : result_bytes(what.type, what.form, what.wide, what.results);
}

// The results for no elements.
std::array<std::byte, most_results * sizeof(std::uint64_t)> empty_results(const onefold::detail::request& what) {
  std::array<std::byte, most_results * sizeof(std::uint64_t)> bytes{};
  onefold::detail::store_empty(what, bytes.data());
  return bytes;
}

device_workspace* workspace_of(const options& how, const variant_info& variant, bool taken, int device) {
  if (how.workspace == nullptr) return nullptr;
  auto* const given = onefold::detail::workspace_access::state(*how.workspace);
  if (given == nullptr || given->of != backend::cuda)
    throw error(errc::invalid_argument, "the workspace was made for another executor than this cuda() one, or has been moved from");
  if (!taken) refuse(variant, "keeps its partial results in memory of the library's own: call it without a workspace");
  auto* const ours = static_cast<device_workspace*>(given);
  if (ours->device != device)
    throw error(errc::wrong_device, "the workspace is on CUDA device " + std::to_string(ours->device) + ", the executor is cuda(" +
                                        std::to_string(device) + ")");
  return ours;
}

void run(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  const int device = what.where.device();
  const auto& gpu = properties_of(device);
  if (gpu.compute_capability < variant.min_compute_capability) throw error(errc::unsupported, *reason_against(variant, what.where));
  const variant_row& row = row_of_variant(variant);
  const entry_point entry = row.run_everything != nullptr
                                ? row.run_everything
                                : row.run[static_cast<int>(what.type)][static_cast<int>(operator_of(what.form))];
  if (what.device != nullptr && row.run_everything == nullptr)
    refuse(variant, "takes no folds of the caller's: leave its name away");
  if (how.grid_size != 0 && !variant.grid_size_free)
    refuse(variant, "chooses its grid from the number of elements: leave grid_size alone");
  if (how.grid_size > row.what.most_grid_size)
    refuse(variant, "takes a grid_size of at most " + std::to_string(row.what.most_grid_size));
  const launch_policy& policy = policy_in_force(gpu);
  const variant_policy& choices = choices_of(policy, variant.name);
  const int block_size = choose_number(variant, "block_size", how.block_size, choices.block_size, variant.block_sizes);
  const int width = choose_number(variant, "width", how.width, variant.default_width, variant.widths);
  const finish how_to_finish = choose_finish(variant, how.finish, what.waits);
  device_workspace* const workspace = workspace_of(how, variant, row.what.takes_workspace, device);

  const device_scope current(device);
  refuse_foreign_stream(what.where, current);
  const inputs_of_request inputs(what, device, current);
  if (what.device != nullptr) inputs_of_request::refuse_misaligned(what.output, what.device->result_alignment, "output");
  void* output = what.waits ? nullptr : device_view(what.output, "output", device, current);
  const std::size_t bytes = bytes_of_result(what);
  ran.device = device;
  ran.block_size = block_size;
  ran.width = width;
  ran.finish = how_to_finish;
  // What a fold of the caller's gives for no elements its kernels know.
  const bool is_known = what.count == 0 && what.device == nullptr;
  if (is_known && what.waits) {
    std::memcpy(what.output, empty_results(what).data(), bytes);
    return;
  }

  const bool captured = what.where.has_stream() && is_capturing(what.where.stream());
  if (what.waits && captured)
    throw error(errc::unsupported,
                "the stream is being captured, and a form that returns the value would have to wait for it: use the "
                "*_into form");
  if (is_known) {
    store_value(output, empty_results(what).data(), bytes, stream_of(device, what.where.has_stream(), what.where.stream()));
    return;
  }
  const std::shared_ptr<lane> own = workspace != nullptr ? nullptr
                                    : captured           ? recorded_lane_of(device, what.where.stream())
                                                         : lane_of(device, what.where.has_stream(), what.where.stream());
  lane& work = workspace == nullptr ? *own : *workspace->work;
  const std::lock_guard lock(work.in_use);
  if (workspace != nullptr) {
    work.stream = stream_of(device, what.where.has_stream(), what.where.stream());
    workspace->is_recorded = workspace->is_recorded || captured;
  }

  call now{gpu,     work,          what.type,  what.form,     what.wide, inputs.of[0], inputs.of[1],       what.count, output,
           nullptr, how_to_finish, block_size, how.grid_size, width,     ran,          policy.fixed_order, choices};
  now.own = what.device;
  now.third = inputs.of[2];
  now.ddof = what.ddof;
  now.results = what.results;
  now.operators = what.operators;
  now.workspace = workspace;
  std::byte* host_memory = nullptr;
  if (what.waits) {
    host_memory = work.result_on_host();
    auto* const on_device = static_cast<std::byte*>(work.device_result);
    if (row.what.takes_workspace) {
      now.host_words = reinterpret_cast<unsigned long long*>(on_device);
      if (++work.last_call == 0) ++work.last_call;  // 0 is what the words hold at first
      now.call_number = work.last_call;
    } else {
      now.output = on_device + lane::value_at;
      now.host_value = host_memory + lane::value_at;
    }
  }
  const bool leaves_marks = !captured && (!row.what.takes_workspace || how.grid_size != 0);
  if (!captured) work.end_in_doubt = true;
  try {
    if (row.what.takes_workspace) {
      entry(now);
    } else {
      work.prepare();
      work.control_in_doubt = true;
      entry(now);
      work.control_in_doubt = false;
    }
    if (now.slots_taken && !captured) ++work.slot_launches;
    if (what.waits) {
      wait_for_result(now, host_memory, what.output, bytes);
      if (!row.what.takes_workspace) work.is_marked = false;
    }
    // A launch of fixed_order counts itself; blocks that were asked for and have no work may come after that.
    if (leaves_marks && (!what.waits || row.what.takes_workspace)) work.leave_mark();
  } catch (...) {
    if (!captured) leave_mark_after_failure(work);
    throw;
  }
  work.end_in_doubt = false;
}

void wait_for(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  refuse_foreign_stream(where, current);
  check(calls().stream_synchronize(stream_of(where.device(), where.has_stream(), where.stream())), "cudaStreamSynchronize");
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
  }
  return std::make_unique<device_workspace>(device, memory, bytes);
}

memory_use held(const executor& where) {
  properties_of(where.device());
  return memory_held(where.device());
}

void release(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  release_held_memory(where.device());
}

launch_policy policy_of(const executor& where) { return policy_in_force(properties_of(where.device())); }

void use_policy(const executor& where, const launch_policy* chosen) {
  const auto& gpu = properties_of(where.device());
  put_in_force(gpu, chosen == nullptr ? built_in_policy(gpu.compute_capability) : *chosen);
}

void use_policy_file(const executor& where, const std::string& path) {
  const auto& gpu = properties_of(where.device());
  put_in_force(gpu, read_policy_file(path, gpu));
}

std::string policy_text(const executor& where, const launch_policy& chosen) {
  return to_text(chosen, properties_of(where.device()));
}

}  // namespace

void* call::slots_of(std::size_t bytes, std::size_t state_bytes) {
  slots_taken = true;
  if (workspace == nullptr) return work.slots_of(bytes);
  auto& given = *static_cast<device_workspace*>(workspace);
  if (given.bytes < bytes)
    throw error(errc::unsupported, "the workspace holds " + std::to_string(given.bytes) + " bytes, and " + std::to_string(count) +
                                       " elements may need " + std::to_string(bytes) +
                                       (state_bytes <= most_own_state_bytes
                                            ? ": make one for as many elements (workspace::bytes)"
                                            : ": make one for as many elements and states of " + std::to_string(state_bytes) +
                                                  " bytes (workspace::bytes(count, state_bytes))"));
  return given.memory;
}

}  // namespace onefold::cuda_backend

namespace onefold::detail {

extern const backend_entry cuda_backend{cuda_backend::list_variants, cuda_backend::describe,        cuda_backend::reason_against,
                                        cuda_backend::run,           cuda_backend::wait_for,        cuda_backend::make_workspace,
                                        cuda_backend::held,          cuda_backend::release,         cuda_backend::policy_of,
                                        cuda_backend::use_policy,    cuda_backend::use_policy_file, cuda_backend::policy_text};

}  // namespace onefold::detail
