#include "runtime.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <string>

#include <onefold/device/gpu_status.cuh>
#include <onefold/error.hpp>

namespace onefold::cuda_backend {

namespace {

// A pool of the library's own: the application's default pool has its own rules. What is free in it goes back when the host next waits for a stream.
cudaError_t create_pool(cudaMemPool_t* pool, int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  return cudaMemPoolCreate(pool, &properties);
}

cudaError_t share_pool(cudaMemPool_t pool, int device) {
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = device;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  return cudaMemPoolSetAccess(pool, &access, 1);
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
  const driver_launch launch = launch_of_driver();
  if (launch == nullptr) return cudaErrorNotSupported;  // a caller's kernel, whose handle its own runtime has given
  // The numbers of the driver's errors are the runtime's.
  return static_cast<cudaError_t>(launch(&same, function, arguments, nullptr));
}

// The driver's calls about contexts, which the runtime has no words for. Asked of the library that the runtime has loaded, since
// cudaGetDriverEntryPoint might give the calling thread a context before we have looked whether it has one.
// Types spelled out: cuda.h may give a name to a later version of a function than the library's symbol of this name is.
struct driver_calls {
  CUresult (*get_current)(CUcontext* current);
  CUresult (*set_current)(CUcontext wanted);
  CUresult (*retain_primary)(CUcontext* primary, CUdevice device);
  CUresult (*context_of_stream)(CUstream stream, CUcontext* found);
  CUresult (*pointer_attribute)(void* found, CUpointer_attribute attribute, CUdeviceptr pointer);
};
template <class Call>
void find(void* library, const char* name, Call& call) {
  call = library == nullptr ? nullptr : reinterpret_cast<Call>(dlsym(library, name));
}
const driver_calls& driver() {
  static std::atomic<void*> known{nullptr};
  void* library = known.load(std::memory_order_acquire);
  if (library == nullptr) {  // before the runtime has loaded it there is nothing to remember
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    static constexpr driver_calls none{};
    if (library == nullptr) return none;
    known.store(library, std::memory_order_release);
  }
  static const driver_calls found = [library] {
    driver_calls calls{};
    find(library, "cuCtxGetCurrent", calls.get_current);
    find(library, "cuCtxSetCurrent", calls.set_current);
    find(library, "cuDevicePrimaryCtxRetain", calls.retain_primary);
    find(library, "cuStreamGetCtx", calls.context_of_stream);
    find(library, "cuPointerGetAttribute", calls.pointer_attribute);
    return calls;
  }();
  return found;
}
template <class Call, class... Arguments>
cudaError_t ask_driver(Call call, Arguments... arguments) {
  // The numbers of the driver's errors are the runtime's.
  return call == nullptr ? cudaErrorSymbolNotFound : static_cast<cudaError_t>(call(arguments...));
}

cudaError_t graph_of_capture(cudaStream_t stream, cudaGraph_t* graph) {
  cudaStreamCaptureStatus status{};
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(stream, &status, nullptr, graph);
#else
  return cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, graph);
#endif
}

}  // namespace

const runtime& real_runtime() noexcept {
  static const runtime real{
      .get_device_count = cudaGetDeviceCount,
      .get_context = [](context* current) { return ask_driver(driver().get_current, current); },
      .set_context = [](context wanted) { return ask_driver(driver().set_current, wanted); },
      // A device has the same number for the driver as for the runtime.
      .retain_primary_context = [](context* primary, int device) { return ask_driver(driver().retain_primary, primary, device); },
      .context_of_stream = [](cudaStream_t stream,
                              context* found) { return ask_driver(driver().context_of_stream, stream, found); },
      .context_of_memory =
          [](context* found, const void* pointer) {
            return ask_driver(driver().pointer_attribute, static_cast<void*>(found), CU_POINTER_ATTRIBUTE_CONTEXT,
                              reinterpret_cast<CUdeviceptr>(pointer));
          },
      .allocation_of =
          [](const void** begin, std::size_t* bytes, const void* pointer) {
            const auto of = reinterpret_cast<CUdeviceptr>(pointer);
            const cudaError_t status =
                ask_driver(driver().pointer_attribute, static_cast<void*>(begin), CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, of);
            return status != cudaSuccess
                       ? status
                       : ask_driver(driver().pointer_attribute, static_cast<void*>(bytes), CU_POINTER_ATTRIBUTE_RANGE_SIZE, of);
          },
      .exchange_capture_mode = cudaThreadExchangeStreamCaptureMode,
      .get_attribute = cudaDeviceGetAttribute,
      .get_properties = [](cudaDeviceProp* properties, int device) { return cudaGetDeviceProperties(properties, device); },
      .get_driver_version = cudaDriverGetVersion,
      .get_last_error = cudaGetLastError,
      .pool_create = create_pool,
      .pool_trim = cudaMemPoolTrimTo,
      .can_access_peer = cudaDeviceCanAccessPeer,
      .pool_share = share_pool,
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
      .stream_create = cudaStreamCreateWithFlags,
      .stream_synchronize = cudaStreamSynchronize,
      .stream_wait_event = [](cudaStream_t stream, cudaEvent_t event) { return cudaStreamWaitEvent(stream, event, 0); },
      .stream_get_id = cudaStreamGetId,
      .stream_is_capturing = cudaStreamIsCapturing,
      .stream_get_graph = graph_of_capture,
      .user_object_create =
          [](cudaUserObject_t* object, void* value, cudaHostFn_t when_gone) {
            return cudaUserObjectCreate(object, value, when_gone, 1, cudaUserObjectNoDestructorSync);
          },
      .user_object_release = [](cudaUserObject_t object) { return cudaUserObjectRelease(object, 1); },
      .graph_take_user_object =
          [](cudaGraph_t graph, cudaUserObject_t object) {
            return cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
          },
      .event_create = [](cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDisableTiming); },
      .event_record = [](cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, stream); },
      .event_query = cudaEventQuery,
      .event_destroy = cudaEventDestroy,
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
      .have_ended = [](unsigned long long ended, unsigned long long launched) { return ended == launched; },
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
    default:
      return onefold::detail::code_of_gpu_status(status);
  }
}

// The driver's own calls, cuCtxSetCurrent say, leave nothing where the runtime keeps the last error: what stands there is the application's.
bool is_of_the_driver(const char* call) { return call[0] == 'c' && call[1] == 'u' && call[2] >= 'A' && call[2] <= 'Z'; }

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
  // Else the application's next launch check would report our error as its own.
  if (!is_of_the_driver(call)) calls().get_last_error();
  const errc code = classify(status);
  throw error(code,
              std::string(call) + " failed: " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")" + advice(code));
}

void forget(cudaError_t status) noexcept {
  if (status != cudaSuccess) calls().get_last_error();
}

namespace {

// Retained for as long as the process lives, as the runtime does it. Not by cudaSetDevice, which would also change the device that a thread
// without a context is given by its next call of the runtime.
context primary_context_of(int device) {
  static constinit std::array<std::atomic<context>, 64> known{};
  const auto index = static_cast<std::size_t>(device);
  if (index < known.size())
    if (context found = known[index].load(std::memory_order_acquire)) return found;
  context found = nullptr;
  check(calls().retain_primary_context(&found, device), "cuDevicePrimaryCtxRetain");
  if (index < known.size()) known[index].store(found, std::memory_order_release);
  return found;
}

}  // namespace

device_scope::device_scope(int device) {
  check(calls().get_context(&before_), "cuCtxGetCurrent");
  primary_ = primary_context_of(device);
  if (before_ != primary_) check(calls().set_context(primary_), "cuCtxSetCurrent");
  const cudaError_t exchanged = calls().exchange_capture_mode(&mode_);
  if (exchanged == cudaSuccess) return;
  if (before_ != primary_) static_cast<void>(calls().set_context(before_));
  check(exchanged, "cudaThreadExchangeStreamCaptureMode");
}

device_scope::~device_scope() {
  // Nothing to be done about failures here; the next call reports them.
  forget(calls().exchange_capture_mode(&mode_));
  if (before_ != primary_) static_cast<void>(calls().set_context(before_));
}

}  // namespace onefold::cuda_backend
