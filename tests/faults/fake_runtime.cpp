#include "fake_runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "../../backends/cuda/runtime.hpp"

namespace onefold_test {

namespace {

fake_runtime* active = nullptr;

// A host thread without a context is told that no memory is the device's.
thread_local onefold::cuda_backend::context current_context = nullptr;

thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;

constexpr std::uintptr_t foreign_bit = std::uintptr_t{1} << 40;

int device_of(onefold::cuda_backend::context one) {
  return one == nullptr ? 0 : static_cast<int>((reinterpret_cast<std::uintptr_t>(one) & ~foreign_bit) - 1);
}

constexpr std::size_t most_bytes = std::size_t{1} << 30;

std::uintptr_t next_stream = 0x1000;
int next_device = 0;

cudaStream_t as_stream(std::uintptr_t number) { return reinterpret_cast<cudaStream_t>(number); }

}  // namespace

// The table's functions are plain pointers, so what they do goes through the active fake.
fake_runtime::fake_runtime() {
  active = this;
  make_current(0);
  static_assert(sizeof(onefold::cuda_backend::runtime) == 48 * sizeof(void (*)()), "a new call of the runtime needs its fake here");
  onefold::cuda_backend::calls() = {
      .get_device_count =
          [](int* count) {
            *count = devices;
            return active->step("cudaGetDeviceCount");
          },
      .get_context =
          [](context* current) {
            *current = current_context;
            return active->step("cuCtxGetCurrent");
          },
      .set_context =
          [](context wanted) {
            const auto status = active->step("cuCtxSetCurrent");
            if (status == cudaSuccess) current_context = wanted;
            return status;
          },
      .retain_primary_context =
          [](context* primary, int device) {
            *primary = primary_context(device);
            return active->step("cuDevicePrimaryCtxRetain");
          },
      .context_of_stream =
          [](cudaStream_t stream, context* found) {
            const auto known = active->foreign_streams_.find(stream);
            *found = known == active->foreign_streams_.end() ? primary_context(device_of(current_context)) : known->second;
            return active->step("cuStreamGetCtx");
          },
      .context_of_memory =
          [](context* found, const void* pointer) {
            const auto status = active->step("cuPointerGetAttribute");
            if (status != cudaSuccess) return status;
            const auto known = active->memory_.find(const_cast<void*>(pointer));
            if (known == active->memory_.end()) return cudaErrorInvalidValue;
            *found = known->second.owner;
            return cudaSuccess;
          },
      .allocation_of =
          [](const void** begin, std::size_t* bytes, const void* pointer) {
            const auto status = active->step("cuPointerGetAttribute");
            if (status != cudaSuccess) return status;
            const auto found = active->find(pointer);
            if (found == active->memory_.end()) return cudaErrorInvalidValue;
            *begin = found->first;
            *bytes = found->second.bytes;
            return cudaSuccess;
          },
      .exchange_capture_mode =
          [](cudaStreamCaptureMode* wanted) {
            const auto status = active->step("cudaThreadExchangeStreamCaptureMode");
            if (status == cudaSuccess) std::swap(mode, *wanted);
            return status;
          },
      .get_attribute =
          [](int* value, cudaDeviceAttr, int) {
            *value = 0;
            return active->step("cudaDeviceGetAttribute");
          },
      .get_properties =
          [](cudaDeviceProp* properties, int) {
            *properties = {};
            std::strcpy(properties->name, "a fake");
            properties->major = 9;
            properties->multiProcessorCount = 132;
            properties->maxThreadsPerMultiProcessor = 2048;
            properties->sharedMemPerBlockOptin = 232448;
            properties->sharedMemPerMultiprocessor = 233472;
            properties->totalGlobalMem = std::size_t{1} << 36;
            properties->l2CacheSize = 50 << 20;
            return active->step("cudaGetDeviceProperties");
          },
      .get_driver_version =
          [](int* version) {
            *version = 13000;
            return active->step("cudaDriverGetVersion");
          },
      // Clears a record and has no failure of its own.
      .get_last_error = [] { return std::exchange(active->last_error_, cudaSuccess); },
      .pool_create =
          [](cudaMemPool_t* pool, int device) {
            const auto status = active->step("cudaMemPoolCreate");
            if (status == cudaSuccess) *pool = reinterpret_cast<cudaMemPool_t>(static_cast<std::uintptr_t>(device) + 1);
            return status;
          },
      .pool_trim = [](cudaMemPool_t, std::size_t) { return active->step("cudaMemPoolTrimTo"); },
      .can_access_peer =
          [](int* can, int, int) {
            *can = active->peers_ ? 1 : 0;
            return active->step("cudaDeviceCanAccessPeer");
          },
      .pool_share = [](cudaMemPool_t, int) { return active->step("cudaMemPoolSetAccess"); },
      .malloc_from_pool_async =
          [](void** pointer, std::size_t bytes, cudaMemPool_t, cudaStream_t stream) {
            active->use(stream);
            active->spoil_on(stream, "cudaMallocFromPoolAsync");  // it would be the graph's, and nobody else's
            return active->allocate("cudaMallocFromPoolAsync", pointer, bytes, kind::device);
          },
      .malloc = [](void** pointer, std::size_t bytes) { return active->allocate("cudaMalloc", pointer, bytes, kind::device); },
      .free = [](void* pointer) { return active->release("cudaFree", pointer); },
      .malloc_async =
          [](void** pointer, std::size_t bytes, cudaStream_t stream) {
            active->use(stream);
            return active->allocate("cudaMallocAsync", pointer, bytes, kind::async);
          },
      .free_async =
          [](void* pointer, cudaStream_t stream) {
            active->use(stream);
            return active->release("cudaFreeAsync", pointer);
          },
      .host_alloc = [](void** pointer, std::size_t bytes,
                       unsigned) { return active->allocate("cudaHostAlloc", pointer, bytes, kind::host); },
      .free_host = [](void* pointer) { return active->release("cudaFreeHost", pointer); },
      .host_get_device_pointer =
          [](void** device_pointer, void* host_pointer, unsigned) {
            *device_pointer = host_pointer;
            return active->step("cudaHostGetDevicePointer");
          },
      .memcpy_async =
          [](void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
            active->use(stream);
            const auto status = active->step("cudaMemcpyAsync");
            if (status == cudaSuccess) std::memcpy(to, from, bytes);
            return status;
          },
      .memset_async =
          [](void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
            active->use(stream);
            // Of onefold's own memory it would not be done before the graph runs; the caller's is to be filled when that does.
            const auto found = active->memory_.find(pointer);
            if (found == active->memory_.end() || found->second.of != kind::test) active->spoil_on(stream, "cudaMemsetAsync");
            const auto status = active->step("cudaMemsetAsync");
            if (status == cudaSuccess) std::memset(pointer, value, bytes);
            return status;
          },
      .stream_create =
          [](cudaStream_t* stream, unsigned) {
            const auto status = active->step("cudaStreamCreateWithFlags");
            if (status == cudaSuccess) *stream = fresh_stream();
            return status;
          },
      .stream_synchronize =
          [](cudaStream_t stream) {
            active->use(stream);
            active->spoil_on(stream, "cudaStreamSynchronize");
            active->spoil("cudaStreamSynchronize");
            return active->step("cudaStreamSynchronize");
          },
      .stream_wait_event =
          [](cudaStream_t stream, cudaEvent_t) {
            active->use(stream);
            active->spoil_on(stream, "cudaStreamWaitEvent");
            return active->step("cudaStreamWaitEvent");
          },
      .stream_get_id =
          [](cudaStream_t stream, unsigned long long* id) {
            *id = reinterpret_cast<std::uintptr_t>(stream) + active->rebirths_[stream];
            if (active->captured_ == stream) {  // as the real one does
              active->spoil("cudaStreamGetId");
              return cudaErrorStreamCaptureUnsupported;
            }
            return active->step("cudaStreamGetId");
          },
      .stream_is_capturing =
          [](cudaStream_t stream, cudaStreamCaptureStatus* status) {
            *status = active->captured_ == stream ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
            return active->step("cudaStreamIsCapturing");
          },
      .stream_get_graph =
          [](cudaStream_t, cudaGraph_t* graph) {
            *graph = reinterpret_cast<cudaGraph_t>(active->graph_);
            return active->step("cudaStreamGetCaptureInfo");
          },
      .user_object_create =
          [](cudaUserObject_t* object, void* value, cudaHostFn_t when_gone) {
            const auto status = active->step("cudaUserObjectCreate");
            if (status != cudaSuccess) return status;
            active->objects_.push_back({value, when_gone, 0});
            *object = reinterpret_cast<cudaUserObject_t>(active->objects_.size());
            return status;
          },
      .user_object_release =
          [](cudaUserObject_t object) {
            auto& known = active->objects_.at(reinterpret_cast<std::uintptr_t>(object) - 1);
            known.when_gone(known.value);
            known.when_gone = nullptr;
            return active->step("cudaUserObjectRelease");
          },
      .graph_take_user_object =
          [](cudaGraph_t graph, cudaUserObject_t object) {
            const auto status = active->step("cudaGraphRetainUserObject");
            if (status == cudaSuccess)
              active->objects_.at(reinterpret_cast<std::uintptr_t>(object) - 1).graph = reinterpret_cast<std::uintptr_t>(graph);
            return status;
          },
      .event_create =
          [](cudaEvent_t* event) {
            const auto status = active->step("cudaEventCreateWithFlags");
            if (status == cudaSuccess) *event = reinterpret_cast<cudaEvent_t>(++active->live_events_);
            return status;
          },
      .event_record =
          [](cudaEvent_t, cudaStream_t stream) {
            active->use(stream);
            active->spoil_on(stream, "cudaEventRecord");
            return active->step("cudaEventRecord");
          },
      .event_query =
          [](cudaEvent_t) {
            const auto status = active->step("cudaEventQuery");
            return status == cudaSuccess && active->busy_ ? cudaErrorNotReady : status;
          },
      .event_destroy =
          [](cudaEvent_t) {
            --active->live_events_;
            return active->step("cudaEventDestroy");
          },
      .pointer_get_attributes =
          [](cudaPointerAttributes* attributes, const void* pointer) {
            *attributes = {};
            attributes->type = cudaMemoryTypeUnregistered;
            const auto found = active->find(pointer);
            if (current_context != nullptr && found != active->memory_.end()) {
              const allocation& piece = found->second;
              attributes->type = piece.of == kind::host ? cudaMemoryTypeHost : piece.type;
              attributes->device = piece.device == any_device ? active->current_device() : piece.device;
              attributes->devicePointer = const_cast<void*>(pointer);
            }
            return active->step("cudaPointerGetAttributes");
          },
      .launch_kernel =
          [](const cudaLaunchConfig_t* config, const void* kernel, void**) {
            active->use(config->stream);
            const auto status = active->step("cudaLaunchKernelExC");
            if (status == cudaSuccess && config->dynamicSmemBytes > active->shared_bytes_of(kernel)) return cudaErrorInvalidValue;
            if (status == cudaSuccess) ++active->launches_;
            return status;
          },
      .get_function =
          [](cudaFunction_t* function, const void* kernel) {
            *function = static_cast<cudaFunction_t>(const_cast<void*>(kernel));
            return active->step("cudaGetFuncBySymbol");
          },
      .launch_function =
          [](const cudaLaunchConfig_t* config, cudaFunction_t, void**) {
            active->use(config->stream);
            const auto status = active->step("cuLaunchKernelEx");
            if (status == cudaSuccess) ++active->launches_;
            return status;
          },
      .max_active_blocks =
          [](int* blocks, const void* kernel, int block_size, std::size_t shared_bytes) {
            // Four times a real one's, so that the cooperative finish has room; and as there none where the kernel may not have its memory.
            *blocks = shared_bytes > active->shared_bytes_of(kernel) ? 0 : std::max(8192 / block_size, 1);
            return active->step("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
          },
      .func_get_attributes =
          [](cudaFuncAttributes* attributes, const void*) {
            *attributes = {};
            attributes->ptxVersion = 90;
            return active->step("cudaFuncGetAttributes");
          },
      .func_set_attribute =
          [](const void* kernel, cudaFuncAttribute attribute, int value) {
            const auto status = active->step("cudaFuncSetAttribute");
            if (status == cudaSuccess && attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
              active->shared_bytes_[kernel] = static_cast<std::size_t>(value);
            return status;
          },
      .has_arrived = [](const volatile unsigned long long*, unsigned) { return true; },
      .have_ended = [](unsigned long long, unsigned long long) { return !active->busy_; },
  };
}

fake_runtime::~fake_runtime() {
  // What onefold keeps for its streams stays alive, as the fake's streams are never used again.
  for (const auto& [pointer, piece] : memory_)
    if (piece.of == kind::test) std::free(pointer);
  onefold::cuda_backend::calls() = onefold::cuda_backend::real_runtime();
  active = nullptr;
}

int fake_runtime::fresh_device() { return ++next_device; }
cudaStream_t fake_runtime::fresh_stream() { return as_stream(next_stream += 0x10); }

onefold::cuda_backend::context fake_runtime::primary_context(int device) {
  return reinterpret_cast<context>(static_cast<std::uintptr_t>(device) + 1);
}
onefold::cuda_backend::context fake_runtime::foreign_context(int device) {
  return reinterpret_cast<context>((static_cast<std::uintptr_t>(device) + 1) | foreign_bit);
}
onefold::cuda_backend::context fake_runtime::context_now() { return current_context; }
void fake_runtime::make_current(context wanted) { current_context = wanted; }
void fake_runtime::make_current(int device) { current_context = primary_context(device); }
int fake_runtime::current_device() const { return device_of(current_context); }
cudaStreamCaptureMode fake_runtime::capture_mode() { return mode; }

void fake_runtime::put_mode_back() { mode = cudaStreamCaptureModeGlobal; }

void fake_runtime::capture(std::optional<cudaStream_t> stream) {
  captured_ = stream;
  if (stream) ++graph_;
}

void fake_runtime::destroy_graphs() {
  for (auto& object : objects_) {
    if (object.when_gone == nullptr || object.graph == 0) continue;
    object.when_gone(object.value);
    object.when_gone = nullptr;
  }
}

void fake_runtime::spoil(const char* name) {
  if (captured_ && mode != cudaStreamCaptureModeRelaxed) spoilt_capture_ = name;
}

void* fake_runtime::memory_of(std::size_t bytes, context owner, cudaMemoryType type) {
  void* const pointer = device_memory(bytes);
  memory_[pointer].owner = owner;
  memory_[pointer].type = type;
  return pointer;
}

void* fake_runtime::device_memory(std::size_t bytes, int device) {
  void* pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(pointer, 0, bytes);
  memory_[pointer] = {kind::test, device, bytes};
  return pointer;
}

int fake_runtime::device_of_memory(const void* place) const {
  const auto found = find(place);
  if (found == memory_.end() || found->second.of == kind::host || found->second.type != cudaMemoryTypeDevice) return -1;
  return std::max(found->second.device, 0);
}

std::map<void*, fake_runtime::allocation>::const_iterator fake_runtime::find(const void* place) const {
  auto next = memory_.upper_bound(const_cast<void*>(place));
  if (next == memory_.begin()) return memory_.end();
  --next;
  return place < static_cast<const std::byte*>(next->first) + next->second.bytes ? next : memory_.end();
}

void fake_runtime::fail(std::uint64_t k, cudaError_t status, bool sticky) {
  mend();
  fails_at_ = calls_made_ + k;
  status_ = status;
  sticky_ = sticky;
}

void fake_runtime::mend() {
  fails_at_ = 0;
  broken_ = false;
  failed_call_.reset();
}

std::size_t fake_runtime::live() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      memory_, [](const auto& entry) { return entry.second.of == kind::device || entry.second.of == kind::host; }));
}

std::size_t fake_runtime::live_async() const {
  return static_cast<std::size_t>(std::ranges::count_if(memory_, [](const auto& entry) { return entry.second.of == kind::async; }));
}

std::set<void*> fake_runtime::live_addresses() const {
  std::set<void*> all;
  for (const auto& [pointer, piece] : memory_)
    if (piece.of == kind::device || piece.of == kind::host) all.insert(pointer);
  return all;
}

cudaError_t fake_runtime::step(const char* name) {
  ++calls_made_;
  if (broken_) return status_;
  if (calls_made_ != fails_at_) return cudaSuccess;
  failed_call_ = name;
  if (std::string_view(name).starts_with("cuda")) last_error_ = status_;  // the driver's own calls leave nothing behind
  broken_ = sticky_;
  return status_;
}

cudaError_t fake_runtime::allocate(const char* name, void** pointer, std::size_t bytes, kind of) {
  if (of != kind::async) spoil(name);
  if (const auto status = step(name); status != cudaSuccess) return status;
  if (bytes > most_bytes) return cudaErrorMemoryAllocation;
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*pointer, 0, bytes);
  memory_[*pointer] = {of, current_device(), bytes};
  return cudaSuccess;
}

cudaError_t fake_runtime::release(const char* name, void* pointer) {
  if (std::string_view(name) != "cudaFreeAsync") spoil(name);
  const auto known = memory_.find(pointer);
  if (known == memory_.end()) std::abort();  // a pointer that was never given, or was freed before
  memory_.erase(known);
  std::free(pointer);
  return step(name);
}

}  // namespace onefold_test
