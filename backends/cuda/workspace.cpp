#include "workspace.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

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
// How many lanes a new stream looks at for one that is idle. Each costs a small copy; those at work go to the end of the queue.
constexpr std::size_t most_looked_at = 4;

using kept_lane = std::pair<unsigned long long, std::shared_ptr<lane>>;

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
  cudaStream_t side_stream = nullptr;    // for what must not wait for any other stream, nor they for it
  bool asked_for_pool = false;
  cudaMemPool_t pool = nullptr;                               // null where the device has no stream-ordered memory
  std::map<unsigned long long, std::shared_ptr<lane>> lanes;  // by stream id, which CUDA never gives twice
  std::deque<unsigned long long> oldest_first;
  std::vector<std::shared_ptr<lane>> of_no_stream;  // of streams that have another by now, not known to be idle
  std::vector<std::shared_ptr<lane>> recorded;      // of calls that graphs have recorded, and of such whose graphs are gone
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
          .blocks_start_in_order = blocks_start_in_order(device, 10 * found.major + found.minor)};
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
  // A blocking stream: it waits for work on CUDA's legacy default stream, where callers without streams of their own put theirs.
  if (state.own_stream == nullptr) check(calls().stream_create(&state.own_stream, cudaStreamDefault), "cudaStreamCreateWithFlags");
  return state.own_stream;
}

cudaStream_t side_stream_of(device_state& state) {
  if (state.side_stream == nullptr)
    check(calls().stream_create(&state.side_stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return state.side_stream;
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

buffer::~buffer() {
  if (data_ == nullptr) return;
  // Failures here are those of earlier work, which others are told of.
  forget(where_ == place::device ? calls().free(data_) : calls().free_host(data_));
}

void* buffer::at_least(std::size_t bytes, cudaStream_t stream, cudaMemPool_t pool) {
  if (bytes <= size_bytes()) return data_;
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
  void* const old = data_;
  const cudaMemPool_t old_pool = pool_;
  data_ = grown;
  bytes_.store(wanted, std::memory_order_relaxed);
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

lane::~lane() {
  if (mark != nullptr) forget(calls().event_destroy(mark));
}

void* lane::piece(buffer& of, std::size_t bytes) {
  if (bytes <= of.size_bytes()) return of.data();
  void* const place = of.at_least(bytes, memory_stream, pool);
  if (memory_stream != stream) check(calls().stream_synchronize(memory_stream), "cudaStreamSynchronize");
  return place;
}

void lane::prepare() {
  if (!control_in_doubt) return;
  std::array<std::byte, control_bytes> image{};  // a ticket of zero, and behind each cell's place its neutral element
#define ONEFOLD_TYPE(type_name, T)        \
  put_neutral<T, op::sum>(image.data());  \
  put_neutral<T, op::prod>(image.data()); \
  put_neutral<T, op::min>(image.data());  \
  put_neutral<T, op::max>(image.data());
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  static_assert(operation_count == 4, "prepare() lists the operators");
  void* const place = piece(control, control_bytes);
  check(calls().memcpy_async(place, image.data(), control_bytes, cudaMemcpyHostToDevice, memory_stream), "cudaMemcpyAsync");
  check(calls().stream_synchronize(memory_stream), "cudaStreamSynchronize");  // the image is on our stack
  control_in_doubt = false;
}

std::byte* lane::result_on_host() {
  void* place = piece(host_result, value_at + sizeof(std::uint64_t));
  if (device_result == nullptr) {
    std::memset(place, 0, value_at);
    check(calls().host_get_device_pointer(&device_result, place, 0), "cudaHostGetDevicePointer");
  }
  return static_cast<std::byte*>(place);
}

void* lane::slots_of(std::size_t bytes) {
  if (bytes > slots.size_bytes()) slots_in_doubt = true;  // until they have been filled with zeros, whatever fails before
  void* const place = piece(slots, bytes);
  if (slots_in_doubt) {
    // On a stream that is being captured the zeros would be written when the graph runs, and missed until then.
    check(calls().memset_async(place, 0, slots.size_bytes(), memory_stream), "cudaMemsetAsync");
    if (memory_stream != stream)
      check(calls().stream_synchronize(memory_stream), "cudaStreamSynchronize");
    else
      leave_mark();  // before which the number of launches, which is_idle() reads, may be anything
    slot_launches = 0;
    slots_in_doubt = false;
  }
  return place;
}

void lane::leave_mark() {
  if (mark == nullptr) check(calls().event_create(&mark), "cudaEventCreateWithFlags");
  check(calls().event_record(mark, stream), "cudaEventRecord");
  is_marked = true;
}

bool lane::is_idle(cudaStream_t side) {
  const std::lock_guard after_the_last_call(in_use);
  if (end_in_doubt || is_recorded.load(std::memory_order_acquire)) return false;
  if (is_marked) {
    const cudaError_t asked = calls().event_query(mark);
    if (asked == cudaErrorNotReady) {
      forget(asked);
      return false;
    }
    check(asked, "cudaEventQuery");
    is_marked = false;
  }
  if (slot_launches == 0) return true;
  unsigned long long ended = 0;  // the first word of the slots: their last writer raises it in its last act
  check(calls().memcpy_async(&ended, slots.data(), sizeof(ended), cudaMemcpyDeviceToHost, side), "cudaMemcpyAsync");
  check(calls().stream_synchronize(side), "cudaStreamSynchronize");
  return calls().have_ended(ended, slot_launches);
}

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

namespace {

void keep(device_state& state, unsigned long long id, std::shared_ptr<lane> work) {
  if (state.lanes.contains(id)) {  // another thread's call on the stream has made one meanwhile
    state.of_no_stream.push_back(std::move(work));
    return;
  }
  state.oldest_first.push_back(id);
  state.lanes.emplace(id, std::move(work));
}

// Takes up to `most` lanes that no call is using out of the table, the oldest first.
std::vector<kept_lane> take_unused(device_state& state, std::size_t most) {
  std::vector<kept_lane> taken;
  std::erase_if(state.oldest_first, [&](unsigned long long id) {
    const auto found = state.lanes.find(id);
    if (found == state.lanes.end()) return true;
    if (taken.size() == most || found->second.use_count() != 1) return false;
    taken.emplace_back(id, std::move(found->second));
    state.lanes.erase(found);
    return true;
  });
  return taken;
}

// One of the oldest lanes whose work has ended, or none. The others of these go to the end of the queue. CUDA is asked without the lock.
std::shared_ptr<lane> idle_lane(int device) {
  std::vector<kept_lane> oldest;
  cudaStream_t side = nullptr;
  {
    const std::lock_guard lock(states_lock());
    device_state& state = state_of(device);
    side = side_stream_of(state);
    oldest = take_unused(state, most_looked_at);
    for (auto& one : state.of_no_stream)
      if (one.use_count() == 1) oldest.emplace_back(0, std::move(one));
    std::erase(state.of_no_stream, nullptr);
  }
  std::shared_ptr<lane> found;
  for (auto& [id, one] : oldest) {
    try {
      if (found == nullptr && one->is_idle(side)) found = std::move(one);
    } catch (const error&) {  // then it stays; who needs it is told
    }
  }
  const std::lock_guard lock(states_lock());
  device_state& state = state_of(device);
  for (auto& [id, one] : oldest) {
    if (one == nullptr) continue;
    if (id == 0)
      state.of_no_stream.push_back(std::move(one));
    else
      keep(state, id, std::move(one));
  }
  return found;
}

}  // namespace

std::shared_ptr<lane> lane_of(int device, bool has_stream, cudaStream_t stream) {
  unsigned long long id = 0;
  cudaMemPool_t pool = nullptr;
  bool is_crowded = false;
  {
    const std::lock_guard lock(states_lock());
    device_state& state = state_of(device);
    if (!has_stream) {
      stream = own_stream_of(state);
      id = state.own_stream_id;
    }
    if (id == 0) check(calls().stream_get_id(stream, &id), "cudaStreamGetId");
    if (!has_stream) state.own_stream_id = id;
    if (const auto known = state.lanes.find(id); known != state.lanes.end()) return known->second;
    pool = pool_of(device, state);
    is_crowded = state.lanes.size() + state.of_no_stream.size() >= most_lanes;
  }
  // Where all are at work, so many streams are, and there is one more.
  std::shared_ptr<lane> fresh = is_crowded ? idle_lane(device) : nullptr;
  if (fresh == nullptr) fresh = std::make_shared<lane>();
  fresh->stream = fresh->memory_stream = stream;
  fresh->pool = pool;
  const std::lock_guard lock(states_lock());
  device_state& state = state_of(device);
  if (const auto known = state.lanes.find(id); known != state.lanes.end()) {  // of another thread's call on the stream
    state.of_no_stream.push_back(std::move(fresh));
    return known->second;
  }
  keep(state, id, fresh);
  return fresh;
}

std::shared_ptr<lane> recorded_lane_of(int device, cudaStream_t stream) {
  std::shared_ptr<lane> work;
  {
    const std::lock_guard lock(states_lock());
    device_state& state = state_of(device);
    const cudaStream_t side = side_stream_of(state);
    const cudaMemPool_t pool = pool_of(device, state);
    const auto unused = std::ranges::find_if(state.recorded, [](const std::shared_ptr<lane>& one) {
      return one.use_count() == 1 && !one->is_recorded.load(std::memory_order_acquire);
    });
    work = unused != state.recorded.end() ? *unused : state.recorded.emplace_back(std::make_shared<lane>());
    work->is_recorded.store(true, std::memory_order_relaxed);
    work->memory_stream = side;
    work->pool = pool;
  }
  work->stream = stream;
  // The runtime tells us when the graph, and all that was made from it, is gone and its launches have ended.
  cudaUserObject_t object = nullptr;
  const auto give_up = [](void* recorded) { static_cast<lane*>(recorded)->is_recorded.store(false, std::memory_order_release); };
  const cudaError_t made = calls().user_object_create(&object, work.get(), give_up);
  if (made != cudaSuccess) give_up(work.get());
  check(made, "cudaUserObjectCreate");
  cudaGraph_t graph = nullptr;
  try {
    check(calls().stream_get_graph(stream, &graph), "cudaStreamGetCaptureInfo");
    check(calls().graph_take_user_object(graph, object), "cudaGraphRetainUserObject");
  } catch (const error&) {
    forget(calls().user_object_release(object));  // which gives up
    throw;
  }
  return work;
}

device_workspace::device_workspace(int number, void* given, std::size_t size)
    : device(number), memory(given), work(std::make_unique<lane>()) {
  of = backend::cuda;
  bytes = size;
  const device_scope current(device);
  const cudaStream_t stream = stream_of(device, false, nullptr);
  work->stream = work->memory_stream = stream;
  work->slots_in_doubt = false;
  // Plain memory, of no pool: freeing it waits for work that uses it, whatever has become of the streams.
  if (given == nullptr) memory = work->piece(work->slots, size);
  work->result_on_host();
  check(calls().memset_async(memory, 0, size, stream), "cudaMemsetAsync");
  check(calls().stream_synchronize(stream), "cudaStreamSynchronize");
}

device_workspace::~device_workspace() {
  try {
    const device_scope current(device);
    try {
      // Freeing memory of no pool waits, too, as far as is known; here it can be seen. What graphs have launched cannot.
      while (work->slots.data() != nullptr && !is_recorded && !work->is_idle(work->memory_stream))
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    } catch (const error&) {  // a lost device, which the next call reports
    }
    work.reset();
  } catch (const error&) {
    work.reset();
  }
}

memory_use memory_held(int device) {
  const std::lock_guard lock(states_lock());
  const device_state& state = state_of(device);
  memory_use held{};
  const auto add = [&](const lane& work) {
    for (const buffer* piece : {&work.partials[0], &work.partials[1], &work.control, &work.slots})
      held.device_bytes += piece->size_bytes();
    for (const buffer* piece : {&work.host_partials, &work.host_result}) held.pinned_bytes += piece->size_bytes();
  };
  for (const auto& [id, work] : state.lanes) add(*work);
  for (const auto& work : state.of_no_stream) add(*work);
  for (const auto& work : state.recorded) add(*work);
  held.streams = static_cast<int>(state.lanes.size());
  return held;
}

void release_held_memory(int device) {
  std::vector<kept_lane> taken;
  cudaStream_t side = nullptr;
  cudaMemPool_t pool = nullptr;
  {
    const std::lock_guard lock(states_lock());
    device_state& state = state_of(device);
    side = side_stream_of(state);
    pool = state.pool;
    taken = take_unused(state, state.lanes.size());
    for (auto* more : {&state.of_no_stream, &state.recorded}) {
      for (auto& one : *more)
        if (one.use_count() == 1 && !one->is_recorded.load(std::memory_order_acquire)) taken.emplace_back(0, std::move(one));
      std::erase(*more, nullptr);
    }
  }
  // Each is waited for by itself and without the lock: cudaDeviceSynchronize would spoil every capture of the process.
  const auto give_back = [&](kept_lane& one) {
    if (one.second->end_in_doubt) return;  // a call on it has failed, and then its mark too
    while (!one.second->is_idle(side)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    one.second = nullptr;
  };
  std::exception_ptr problem;
  for (auto& one : taken) {
    try {
      give_back(one);
    } catch (const error&) {
      problem = std::current_exception();
    }
  }
  {
    const std::lock_guard lock(states_lock());
    device_state& state = state_of(device);
    for (auto& [id, one] : taken) {
      if (one == nullptr) continue;
      if (id == 0)
        state.of_no_stream.push_back(std::move(one));
      else
        keep(state, id, std::move(one));
    }
  }
  if (problem != nullptr) std::rethrow_exception(problem);
  if (pool != nullptr) check(calls().pool_trim(pool, 0), "cudaMemPoolTrimTo");
}

}  // namespace onefold::cuda_backend
