#include "device.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <onefold/error.hpp>

#include "runtime.hpp"

namespace onefold::cuda_backend {

// In store_value.cu: one of the library's kernels, all of which are compiled alike.
const void* any_kernel();

namespace {

// Never destroyed, as all that is kept between calls: a call may come while the process exits.
std::mutex& devices_lock() {
  static auto& lock = *new std::mutex;
  return lock;
}
std::map<int, device_properties>& devices() {
  static auto& all = *new std::map<int, device_properties>;
  return all;
}

// A block of fixed_order may wait for blocks of lower numbers. That these have been started before it is what all GPUs are known to do and CUDA
// does not promise: it is relied on where it has been tried at length, and elsewhere all blocks that wait or are waited for are made resident
// at once (docs/decisions/0022). ONEFOLD_CUDA_BLOCKS overrules this.
bool blocks_start_in_order(int device, int capability) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
  if (const char* const wanted = std::getenv("ONEFOLD_CUDA_BLOCKS"); wanted != nullptr && *wanted != '\0') {
    if (std::string_view(wanted) == "in_order") return true;
    if (std::string_view(wanted) == "resident") return false;
    throw error(errc::invalid_argument,
                "the environment variable ONEFOLD_CUDA_BLOCKS is '" + std::string(wanted) + "': it can be in_order or resident");
  }
  if (capability != 90) return false;
  int shared_by_mps = 0;
  const cudaError_t asked = calls().get_attribute(&shared_by_mps, cudaDevAttrMpsEnabled, device);
  if (asked == cudaErrorInvalidValue) {  // a driver that does not know the question
    forget(asked);
    return false;
  }
  check(asked, "cudaDeviceGetAttribute");
  return shared_by_mps == 0;
}

device_properties ask_properties(int device) {
  cudaDeviceProp found{};
  check(calls().get_properties(&found, device), "cudaGetDeviceProperties");
  return {.number = device,
          .name = found.name,
          .compute_capability = 10 * found.major + found.minor,
          .multiprocessors = found.multiProcessorCount,
          .threads_per_multiprocessor = found.maxThreadsPerMultiProcessor,
          .shared_bytes_per_block = static_cast<int>(found.sharedMemPerBlockOptin),
          .memory_bytes = found.totalGlobalMem,
          .l2_bytes = static_cast<std::size_t>(found.l2CacheSize),
          .blocks_start_in_order = blocks_start_in_order(device, 10 * found.major + found.minor),
          .shared_bytes_per_multiprocessor = found.sharedMemPerMultiprocessor};
}

// Requires the lock.
const device_properties& kept_properties(int device) {
  auto& all = devices();
  if (const auto known = all.find(device); known != all.end()) return known->second;
  const int count = device_count();
  if (device < 0 || device >= count)
    throw error(errc::backend_unavailable, "there is no CUDA device " + std::to_string(device) + ": this machine shows " +
                                               std::to_string(count) + ", numbered from 0");
  return all.emplace(device, ask_properties(device)).first->second;
}

}  // namespace

bool has_few_double_units(int compute_capability) {
  const int major = compute_capability / 10;
  const int minor = compute_capability % 10;
  return (major == 7 && minor == 5) || (major == 8 && minor != 0) || (major == 10 && minor == 3) || major == 12;
}

int device_count() {
  int count = 0, driver = 0;
  const cudaError_t status = calls().get_device_count(&count);
  // CUDA says then that the driver is too old for it, which sends people after a newer one.
  if (status == cudaErrorInsufficientDriver && calls().get_driver_version(&driver) == cudaSuccess && driver == 0)
    throw error(errc::backend_unavailable, "there is no NVIDIA driver here; use serial() or openmp() on this machine");
  check(status, "cudaGetDeviceCount");
  if (count == 0) throw error(errc::backend_unavailable, "the CUDA driver shows no device (is CUDA_VISIBLE_DEVICES empty?)");
  return count;
}

const device_properties& properties_of(int device) {
  static constinit remembered<const device_properties*> before;
  if (const auto* known = before.known(device)) return *known;
  const std::lock_guard lock(devices_lock());
  const device_properties& found = kept_properties(device);
  before.remember(device, &found);
  return found;
}

int code_capability(int device) {
  static constinit remembered<int> before;
  if (const int known = before.known(device)) return known;
  cudaFuncAttributes found{};
  check(calls().func_get_attributes(&found, any_kernel()), "cudaFuncGetAttributes");
  before.remember(device, found.ptxVersion);
  return found.ptxVersion;
}

}  // namespace onefold::cuda_backend
