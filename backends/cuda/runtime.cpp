#include "runtime.hpp"

#include <cuda.h>

#include <string>

#include <onefold/error.hpp>

namespace onefold::cuda_backend {

namespace {

// A pool of the library's own, which keeps what is freed until it is trimmed: the application's default pool has its own rules.
cudaError_t create_pool(cudaMemPool_t* pool, int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  return cudaMemPoolCreate(pool, &properties);
}

// The driver's launch, which the runtime's ends in. Called by itself, with a handle that is kept, it takes a tenth of the host's time less.
// Found through the runtime, so that nothing has to be linked to the driver.
using driver_launch = decltype(&cuLaunchKernelEx);
driver_launch find_driver_launch() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult answer{};
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &entry, 12000, cudaEnableDefault, &answer);
#else
  const cudaError_t status = cudaGetDriverEntryPoint("cuLaunchKernelEx", &entry, cudaEnableDefault, &answer);
#endif
  if (status == cudaSuccess && answer == cudaDriverEntryPointSuccess) return reinterpret_cast<driver_launch>(entry);
  cudaGetLastError();
  return nullptr;
}
driver_launch launch_of_driver() {
  static const driver_launch found = find_driver_launch();
  return found;
}

cudaError_t get_function(cudaFunction_t* function, const void* kernel) {
  *function = nullptr;
  return launch_of_driver() == nullptr ? cudaSuccess : cudaGetFuncBySymbol(function, kernel);
}

cudaError_t launch_function(const cudaLaunchConfig_t* config, cudaFunction_t function, void** arguments) {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute) &&
                    offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value),
                "the runtime's attributes are the driver's under another name");
  CUlaunchConfig same{};
  same.gridDimX = config->gridDim.x;
  same.gridDimY = config->gridDim.y;
  same.gridDimZ = config->gridDim.z;
  same.blockDimX = config->blockDim.x;
  same.blockDimY = config->blockDim.y;
  same.blockDimZ = config->blockDim.z;
  same.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
  same.hStream = config->stream;
  same.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
  same.numAttrs = config->numAttrs;
  // The numbers of the driver's errors are the runtime's.
  return static_cast<cudaError_t>(launch_of_driver()(&same, function, arguments, nullptr));
}

}  // namespace

const runtime& real_runtime() noexcept {
  static const runtime real{
      .get_device_count = cudaGetDeviceCount,
      .get_device = cudaGetDevice,
      .set_device = cudaSetDevice,
      .get_properties = [](cudaDeviceProp* properties, int device) { return cudaGetDeviceProperties(properties, device); },
      .get_driver_version = cudaDriverGetVersion,
      .get_last_error = cudaGetLastError,
      .device_synchronize = cudaDeviceSynchronize,
      .pool_create = create_pool,
      .pool_trim = cudaMemPoolTrimTo,
      .malloc_from_pool_async = [](void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream) { return cudaMallocFromPoolAsync(pointer, bytes, pool, stream); },
      .malloc = [](void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); },
      .free = cudaFree,
      .malloc_async = [](void** pointer, std::size_t bytes,
                         cudaStream_t stream) { return cudaMallocAsync(pointer, bytes, stream); },
      .free_async = cudaFreeAsync,
      .host_alloc = [](void** pointer, std::size_t bytes, unsigned flags) { return cudaHostAlloc(pointer, bytes, flags); },
      .free_host = cudaFreeHost,
      .host_get_device_pointer = [](void** device_pointer, void* host_pointer,
                                    unsigned flags) { return cudaHostGetDevicePointer(device_pointer, host_pointer, flags); },
      .memcpy_async = cudaMemcpyAsync,
      .memset_async = cudaMemsetAsync,
      // A blocking stream: it waits for work on CUDA's legacy default stream, where callers without streams of their own put theirs.
      .stream_create = cudaStreamCreate,
      .stream_synchronize = cudaStreamSynchronize,
      .stream_get_id = cudaStreamGetId,
      .stream_is_capturing = cudaStreamIsCapturing,
      .pointer_get_attributes = cudaPointerGetAttributes,
      .launch_kernel = cudaLaunchKernelExC,
      .get_function = get_function,
      .launch_function = launch_function,
      .max_active_blocks =
          [](int* blocks, const void* kernel, int block_size, std::size_t shared_bytes) {
            return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared_bytes);
          },
      .func_get_attributes = [](cudaFuncAttributes* attributes,
                                const void* kernel) { return cudaFuncGetAttributes(attributes, kernel); },
      .func_set_attribute = cudaFuncSetAttribute,
      .has_arrived = [](const volatile unsigned long long* word,
                        unsigned call_number) { return static_cast<unsigned>(*word >> 32) == call_number; },
  };
  return real;
}

runtime& calls() noexcept {
  static runtime active = real_runtime();
  return active;
}

namespace {

errc classify(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return errc::out_of_memory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary:
    case cudaErrorNoKernelImageForDevice:
      return errc::backend_unavailable;
    // The errors that corrupt the context: every later call of this process returns the same.
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return errc::device_lost;
    default:
      return errc::device_error;
  }
}

std::string advice(errc code) {
  switch (code) {
    case errc::out_of_memory:
      return "; free some memory or reduce a smaller piece";
    case errc::backend_unavailable:
      return "; use serial() or openmp() on this machine";
    case errc::device_lost:
      return "; an earlier kernel of this process has failed, and CUDA works again only in a new process (compute-sanitizer finds "
             "the "
             "kernel)";
    default:
      return "";
  }
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  calls().get_last_error();  // else the application's next launch check would report our error as its own
  const errc code = classify(status);
  throw error(code,
              std::string(call) + " failed: " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")" + advice(code));
}

device_scope::device_scope(int device) {
  check(calls().get_device(&before_), "cudaGetDevice");
  // Also where the device is current already: a host thread that is new to CUDA has no context before this call, and
  // cudaPointerGetAttributes would tell it that the device sees none of the memory.
  check(calls().set_device(device), "cudaSetDevice");
  changed_ = before_ != device;
}

device_scope::~device_scope() {
  if (changed_) calls().set_device(before_);  // nothing to be done about a failure here; the next call reports it
}

}  // namespace onefold::cuda_backend
