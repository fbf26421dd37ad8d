#include "workspace.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include <onefold/error.hpp>
#include <onefold/operators.hpp>

namespace onefold::cuda_backend {

// In store_value.cu: one of the library's kernels, all of which are compiled alike.
const void* any_kernel();

namespace {

constexpr std::size_t cell_bytes = 8;  // of the widest element type
constexpr std::size_t cells = static_cast<std::size_t>(element_type_count) * operation_count;
constexpr std::size_t control_bytes = (cells + 1) * cell_bytes;

// An application that makes and destroys streams without end would otherwise leave a lane behind for each.
constexpr std::size_t most_lanes = memory_use::most_streams;

std::size_t cell_of(element_type type, operation op) {
  return static_cast<std::size_t>(type) * operation_count + static_cast<std::size_t>(op);
}

template <class T, class Op>
void put_neutral(std::byte* cells_begin) {
  const T neutral = Op::template neutral<T>();
  std::memcpy(cells_begin + cell_of(element_type_of<T>, Op::id) * cell_bytes, &neutral, sizeof(T));
}

struct device_state {
  device_properties properties;
  cudaStream_t own_stream = nullptr;
  unsigned long long own_stream_id = 0;  // not yet asked for
  bool asked_for_pool = false;
  cudaMemPool_t pool = nullptr;                               // null where the device has no stream-ordered memory
  std::map<unsigned long long, std::shared_ptr<lane>> lanes;  // by stream id, which CUDA never gives twice
  std::deque<unsigned long long> oldest_first;
};

// Never destroyed: at exit the CUDA runtime may be gone before our destructors would run, and the driver frees everything anyway.
std::mutex& states_lock() {
  static auto& lock = *new std::mutex;
  return lock;
}
std::map<int, device_state>& states() {
  static auto& all = *new std::map<int, device_state>;
  return all;
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
          .l2_bytes = static_cast<std::size_t>(found.l2CacheSize)};
}

device_state& state_of(int device) {
  auto& all = states();
  if (const auto known = all.find(device); known != all.end()) return known->second;
  const int count = device_count();
  if (device < 0 || device >= count)
    throw error(errc::backend_unavailable, "there is no CUDA device " + std::to_string(device) + ": this machine shows " +
                                               std::to_string(count) + ", numbered from 0");
  device_state fresh;
  fresh.properties = ask_properties(device);
  return all.emplace(device, std::move(fresh)).first->second;
}

cudaStream_t own_stream_of(device_state& state) {
  if (state.own_stream == nullptr) check(calls().stream_create(&state.own_stream), "cudaStreamCreate");
  return state.own_stream;
}

[[noreturn]] void refuse_captured() {
  throw error(
      errc::unsupported,
      "the stream is being captured, and this call must first allocate or initialise working memory: give it a workspace, or make "
      "the same call once before the capture");
}

// The library's pool on the current device.
cudaMemPool_t pool_of(int device, device_state& state) {
  if (state.asked_for_pool) return state.pool;
  const cudaError_t made = calls().pool_create(&state.pool, device);
  if (made == cudaErrorNotSupported || made == cudaErrorOperatingSystem)
    calls().get_last_error();  // a device without pools: plain allocations do
  else
    check(made, "cudaMemPoolCreate");
  state.asked_for_pool = true;
  return state.pool;
}

}  // namespace

int device_count() {
  int count = 0;
  check(calls().get_device_count(&count), "cudaGetDeviceCount");
  if (count == 0) throw error(errc::backend_unavailable, "the CUDA driver shows no device (is CUDA_VISIBLE_DEVICES empty?)");
  return count;
}

const device_properties& properties_of(int device) {
  static constinit remembered<const device_properties*> before;
  if (const auto* known = before.known(device)) return *known;
  const std::lock_guard lock(states_lock());
  const device_properties& found = state_of(device).properties;
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

void refuse_while_capturing(cudaStream_t stream) {
  if (is_capturing(stream)) refuse_captured();
}

buffer::~buffer() {
  if (data_ == nullptr || kept_) return;
  if (pool_ != nullptr) calls().device_synchronize();  // cudaFree waits for work that uses its memory, but not for a pool's
  where_ == place::device ? calls().free(data_) : calls().free_host(data_);
}

void* buffer::at_least(std::size_t bytes, cudaStream_t stream, cudaMemPool_t pool) {
  if (bytes <= bytes_) return data_;
  refuse_while_capturing(stream);
  const std::size_t wanted = (bytes + 255) / 256 * 256;
  void* grown = nullptr;
  if (where_ == place::host)
    check(calls().host_alloc(&grown, wanted, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  else if (pool != nullptr)
    check(calls().malloc_from_pool_async(&grown, wanted, pool, stream), "cudaMallocFromPoolAsync");
  else
    check(calls().malloc(&grown, wanted), "cudaMalloc");
  // The old piece goes only now, so that a failure above leaves a working buffer. cudaFree waits for kernels that still use it; memory of a
  // pool is freed in stream order behind them.
  void* old = std::exchange(kept_, false) ? nullptr : data_;
  const cudaMemPool_t old_pool = pool_;
  data_ = grown;
  bytes_ = wanted;
  pool_ = pool;
  if (old == nullptr) return data_;
  if (where_ == place::host)
    check(calls().free_host(old), "cudaFreeHost");
  else if (old_pool != nullptr)
    check(calls().free_async(old, stream), "cudaFreeAsync");
  else
    check(calls().free(old), "cudaFree");
  return data_;
}

void lane::prepare() {
  if (!control_in_doubt) return;
  refuse_while_capturing(stream);
  std::array<std::byte, control_bytes> image{};  // a ticket of zero, and behind each cell's place its neutral element
#define ONEFOLD_TYPE(type_name, T)        \
  put_neutral<T, op::sum>(image.data());  \
  put_neutral<T, op::prod>(image.data()); \
  put_neutral<T, op::min>(image.data());  \
  put_neutral<T, op::max>(image.data());
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  static_assert(operation_count == 4, "prepare() lists the operators");
  void* place = control.at_least(control_bytes, stream, pool);
  check(calls().memcpy_async(place, image.data(), control_bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  check(calls().stream_synchronize(stream), "cudaStreamSynchronize");  // the image is on our stack
  control_in_doubt = false;
}

std::byte* lane::result_on_host() {
  void* place = host_result.at_least(value_at + sizeof(std::uint64_t), stream);
  if (device_result == nullptr) {
    std::memset(place, 0, value_at);
    check(calls().host_get_device_pointer(&device_result, place, 0), "cudaHostGetDevicePointer");
  }
  return static_cast<std::byte*>(place);
}

void* lane::slots_of(std::size_t bytes) {
  if (bytes > slots.size_bytes()) {
    refuse_while_capturing(stream);
    slots_in_doubt = true;  // until they have been filled with zeros, whatever fails before
  }
  void* place = slots.at_least(bytes, stream, pool);
  if (slots_in_doubt) {
    refuse_while_capturing(stream);  // recorded, the zeros would be written when the graph runs, and missed until then
    check(calls().memset_async(place, 0, slots.size_bytes(), stream), "cudaMemsetAsync");
    slots_in_doubt = false;
  }
  return place;
}

void lane::keep_for_good() {
  for (buffer* used : {&partials[0], &partials[1], &control, &slots}) used->keep_for_good();
}

bool lane::is_kept() const { return partials[0].is_kept() || partials[1].is_kept() || control.is_kept() || slots.is_kept(); }

void* lane::accumulator(element_type type, operation op) const {
  return static_cast<std::byte*>(control.data()) + cell_of(type, op) * cell_bytes;
}

unsigned* lane::ticket() const { return reinterpret_cast<unsigned*>(static_cast<std::byte*>(control.data()) + cells * cell_bytes); }

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(calls().stream_is_capturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

cudaStream_t stream_of(int device, bool has_stream, cudaStream_t stream) {
  if (has_stream) return stream;
  const std::lock_guard lock(states_lock());
  return own_stream_of(state_of(device));
}

std::shared_ptr<lane> lane_of(int device, bool has_stream, cudaStream_t stream, bool captured) {
  const std::lock_guard lock(states_lock());
  device_state& state = state_of(device);
  if (!has_stream) stream = own_stream_of(state);
  if (captured) {
    // A stream that is being captured does not tell its id. The youngest lane with its handle is its own, if it has one; else it may be
    // that of a destroyed stream whose handle CUDA has given again, which does no harm: nobody else can ask for it any more.
    for (auto id = state.oldest_first.rbegin(); id != state.oldest_first.rend(); ++id)
      if (const auto& known = state.lanes.at(*id); known->stream == stream) return known;
    refuse_captured();
  }
  unsigned long long id = has_stream ? 0 : state.own_stream_id;
  if (id == 0) check(calls().stream_get_id(stream, &id), "cudaStreamGetId");
  if (!has_stream) state.own_stream_id = id;
  if (const auto known = state.lanes.find(id); known != state.lanes.end()) return known->second;

  auto fresh = std::make_shared<lane>();
  fresh->stream = stream;
  fresh->pool = pool_of(device, state);
  while (state.oldest_first.size() >= most_lanes) {
    state.lanes.erase(state.oldest_first.front());  // a call that still holds it keeps it alive
    state.oldest_first.pop_front();
  }
  state.lanes.emplace(id, fresh);
  state.oldest_first.push_back(id);
  return fresh;
}

device_workspace::device_workspace(int number, void* given, std::size_t size) : device(number), memory(given) {
  of = backend::cuda;
  bytes = size;
  const device_scope current(device);
  const cudaStream_t stream = stream_of(device, false, nullptr);
  if (given == nullptr) {
    // From the pool, but finished before the constructor is: the first call may be on any stream.
    {
      const std::lock_guard lock(states_lock());
      work.pool = pool_of(device, state_of(device));
    }
    memory = work.slots.at_least(size, stream, work.pool);
  }
  work.stream = stream;
  work.result_on_host();
  check(calls().memset_async(memory, 0, size, stream), "cudaMemsetAsync");
  check(calls().stream_synchronize(stream), "cudaStreamSynchronize");
}

device_workspace::~device_workspace() {
  // Nothing can be done about a failure here: it is a lost device, which the next call reports.
  int before = 0;
  const bool known = calls().get_device(&before) == cudaSuccess;
  calls().set_device(device);
  calls().device_synchronize();
  if (known && before != device) calls().set_device(before);
}

memory_use memory_held(int device) {
  const std::lock_guard lock(states_lock());
  memory_use held{};
  for (const auto& [id, work] : state_of(device).lanes) {
    const std::lock_guard quiet(work->in_use);
    ++held.streams;
    for (const buffer* piece : {&work->partials[0], &work->partials[1], &work->control, &work->slots})
      held.device_bytes += piece->size_bytes();
    for (const buffer* piece : {&work->host_partials, &work->host_result}) held.pinned_bytes += piece->size_bytes();
  }
  return held;
}

void release_held_memory(int device) {
  const std::lock_guard lock(states_lock());
  device_state& state = state_of(device);
  check(calls().device_synchronize(), "cudaDeviceSynchronize");
  std::erase_if(state.oldest_first, [&](unsigned long long id) {
    const auto found = state.lanes.find(id);
    if (found->second->is_kept()) return false;
    state.lanes.erase(found);  // a call that still holds it keeps it alive
    return true;
  });
  if (state.pool != nullptr) check(calls().pool_trim(state.pool, 0), "cudaMemPoolTrimTo");
}

}  // namespace onefold::cuda_backend
