/// @file backend.cpp  The CUDA backend's entry: checks a request against the variant and the device, then calls the variant.

#include "../backend.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <onefold/error.hpp>
#include <onefold/operators.hpp>

#include "runtime.hpp"
#include "variant.hpp"
#include "workspace.hpp"

namespace onefold::cuda_backend {

#define ONEFOLD_VARIANT(name, seed, promise, summary) extern const variant_row row_##name;
#include "catalogue.def"
#undef ONEFOLD_VARIANT

// In store_value.cu: writes one element of `bytes` bytes from the host's `value` to device memory, in stream order.
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
  info.default_block_size = row.what.default_block_size;
  info.block_sizes = row.what.block_sizes;
  info.grid_size_free = row.what.grid_size_free;
  info.default_width = row.what.default_width;
  info.widths = row.what.widths;
  info.width_meaning = row.what.width_meaning;
  info.min_compute_capability = row.what.min_compute_capability;
  info.limits = row.what.limits;
  for (int type = 0; type < element_type_count; ++type)
    for (int op = 0; op < operation_count; ++op)
      if (row.run[type][op] != nullptr) info.supported |= std::uint64_t{1} << (type * operation_count + op);
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

const variant_row& row_of_name(std::string_view wanted) {
  const auto& all = all_variants();
  const auto found = std::ranges::find(all, wanted, &variant_info::name);
  return *rows[static_cast<std::size_t>(found - all.begin())];
}

std::string capability_text(int capability) { return std::to_string(capability / 10) + "." + std::to_string(capability % 10); }

std::optional<std::string> reason_against(const variant_info& variant, const executor& where) {
  try {
    const auto& gpu = properties_of(where.device());
    if (gpu.compute_capability >= variant.min_compute_capability) return std::nullopt;
    return std::string(variant.name) + " needs compute capability " + capability_text(variant.min_compute_capability) + "; " +
           gpu.name + " has " + capability_text(gpu.compute_capability);
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
    refuse(variant,
           "cannot finish with " + as_text(wanted) +
               (variant.finishes.empty() ? ": it leaves no block partials" : ": it takes " + choices(variant.finishes, as_text)));
  if (wanted == finish::host && !waits)
    refuse(variant,
           "cannot finish on the host here: the *_into forms must not wait for the host; use the form that returns the value");
  return wanted;
}

// What the device sees at `pointer`; host memory that CUDA does not know is refused before a kernel can crash on it.
void* device_view(const void* pointer, const char* role, int device) {
  cudaPointerAttributes found{};
  check(calls().pointer_get_attributes(&found, pointer), "cudaPointerGetAttributes");
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

// The result for no elements, as bytes.
std::array<std::byte, 8> identity_of(element_type type, operation op) {
  std::array<std::byte, 8> bytes{};
  const auto put = [&]<class T>(T value) { std::memcpy(bytes.data(), &value, sizeof(T)); };
  const auto with_type = [&]<class T>(T) {
    switch (op) {
#define ONEFOLD_OP(name) \
  case operation::name:  \
    return put(onefold::op::name::identity<T>());
#include <onefold/ops.def>
#undef ONEFOLD_OP
    }
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    with_type(T{});           \
    break;
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  }
  return bytes;
}

void run(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  const int device = what.where.device();
  const auto& gpu = properties_of(device);
  if (const auto reason = reason_against(variant, what.where)) throw error(errc::unsupported, *reason);
  const entry_point entry = row_of_name(variant.name).run[static_cast<int>(what.type)][static_cast<int>(what.op)];
  if (entry == nullptr)
    refuse(variant, "does not take " + std::string(name(what.op)) + " of " + std::string(name(what.type)) + ": " +
                        std::string(variant.limits));
  if (how.grid_size != 0 && !variant.grid_size_free)
    refuse(variant, "chooses its grid from the number of elements: leave grid_size alone");
  if (how.grid_size > 0x7fffffff) refuse(variant, "takes a grid_size of at most 2147483647");
  const int block_size = choose_number(variant, "block_size", how.block_size, variant.default_block_size, variant.block_sizes);
  const int width = choose_number(variant, "width", how.width, variant.default_width, variant.widths);
  const finish how_to_finish = choose_finish(variant, how.finish, what.waits);

  const device_scope current(device);
  const void* input = what.count == 0 ? nullptr : device_view(what.input, "input", device);
  void* output = what.waits ? nullptr : device_view(what.output, "output", device);
  const bool captured = what.where.has_stream() && is_capturing(what.where.stream());
  if (what.waits && captured)
    throw error(errc::unsupported,
                "the stream is being captured, and a form that returns the value would have to wait for it: use the "
                "*_into form");
  if (captured && what.where.stream() == cudaStreamPerThread)
    throw error(errc::unsupported,
                "a call on cudaStreamPerThread cannot be captured, since every host thread's has the same handle: capture "
                "on a stream of your own");
  const auto work = lane_of(device, what.where.has_stream(), what.where.stream(), captured);
  const std::lock_guard lock(work->in_use);

  ran.device = device;
  ran.block_size = block_size;
  ran.width = width;
  ran.finish = how_to_finish;
  if (what.count == 0) {
    const auto identity = identity_of(what.type, what.op);
    if (what.waits)
      std::memcpy(what.output, identity.data(), size_of(what.type));
    else
      store_value(output, identity.data(), size_of(what.type), work->stream);
    return;
  }

  void* host_value = nullptr;
  if (what.waits) {
    host_value = work->host_result.at_least(8, work->stream);
    check(calls().host_get_device_pointer(&output, host_value, 0), "cudaHostGetDevicePointer");
  }
  call now{gpu, *work, input, what.count, output, host_value, how_to_finish, block_size, how.grid_size, width, ran};
  work->prepare();
  work->control_in_doubt = true;
  entry(now);
  work->control_in_doubt = false;
  if (captured) work->keep_for_good();
  if (what.waits) {
    check(calls().stream_synchronize(work->stream), "cudaStreamSynchronize");
    std::memcpy(what.output, host_value, size_of(what.type));
  }
}

void wait_for(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  check(calls().stream_synchronize(lane_of(where.device(), where.has_stream(), where.stream())->stream), "cudaStreamSynchronize");
}

}  // namespace

}  // namespace onefold::cuda_backend

namespace onefold::detail {

extern const backend_entry cuda_backend{cuda_backend::list_variants, cuda_backend::describe, cuda_backend::reason_against,
                                        cuda_backend::run, cuda_backend::wait_for};

}  // namespace onefold::detail
