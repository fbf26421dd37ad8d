#include "workspace.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include <onefold/error.hpp>
#include <onefold/operators.hpp>

namespace onefold::cuda_backend {

namespace {

constexpr std::size_t cell_bytes = 8;  // of the widest element type
constexpr std::size_t cells = static_cast<std::size_t>(element_type_count) * operation_count;
constexpr std::size_t control_bytes = (cells + 1) * cell_bytes;

// An application that makes and destroys streams without end would otherwise leave a lane behind for each.
constexpr std::size_t most_lanes = 64;

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

[[noreturn]] void refuse_captured() {
  throw error(
      errc::unsupported,
      "the stream is being captured, and this call must first allocate or initialise working memory: make the same call once "
      "before the capture");
}

void refuse_while_capturing(cudaStream_t stream) {
  if (is_capturing(stream)) refuse_captured();
}

}  // namespace

int device_count() {
  int count = 0;
  check(calls().get_device_count(&count), "cudaGetDeviceCount");
  if (count == 0) throw error(errc::backend_unavailable, "the CUDA driver shows no device (is CUDA_VISIBLE_DEVICES empty?)");
  return count;
}

const device_properties& properties_of(int device) {
  const std::lock_guard lock(states_lock());
  return state_of(device).properties;
}

buffer::~buffer() {
  if (data_ == nullptr || kept_) return;
  where_ == place::device ? calls().free(data_) : calls().free_host(data_);
}

void* buffer::at_least(std::size_t bytes, cudaStream_t stream) {
  if (bytes <= bytes_) return data_;
  refuse_while_capturing(stream);
  const std::size_t wanted = (bytes + 255) / 256 * 256;
  void* grown = nullptr;
  if (where_ == place::device)
    check(calls().malloc(&grown, wanted), "cudaMalloc");
  else
    check(calls().host_alloc(&grown, wanted, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  // The old piece goes only now, so that a failure above leaves a working buffer. cudaFree waits for kernels that still use it.
  void* old = std::exchange(kept_, false) ? nullptr : data_;
  data_ = grown;
  bytes_ = wanted;
  if (old != nullptr)
    where_ == place::device ? check(calls().free(old), "cudaFree") : check(calls().free_host(old), "cudaFreeHost");
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
  void* place = control.at_least(control_bytes, stream);
  check(calls().memcpy_async(place, image.data(), control_bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  check(calls().stream_synchronize(stream), "cudaStreamSynchronize");  // the image is on our stack
  control_in_doubt = false;
}

void lane::keep_for_good() {
  for (buffer* used : {&partials[0], &partials[1], &control}) used->keep_for_good();
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

std::shared_ptr<lane> lane_of(int device, bool has_stream, cudaStream_t stream, bool captured) {
  const std::lock_guard lock(states_lock());
  device_state& state = state_of(device);
  if (!has_stream && state.own_stream == nullptr) check(calls().stream_create(&state.own_stream), "cudaStreamCreate");
  if (!has_stream) stream = state.own_stream;
  if (captured) {
    // A stream that is being captured does not tell its id. The youngest lane with its handle is its own, if it has one; else it may be
    // that of a destroyed stream whose handle CUDA has given again, which does no harm: nobody else can ask for it any more.
    for (auto id = state.oldest_first.rbegin(); id != state.oldest_first.rend(); ++id)
      if (const auto& known = state.lanes.at(*id); known->stream == stream) return known;
    refuse_captured();
  }
  unsigned long long id = 0;
  check(calls().stream_get_id(stream, &id), "cudaStreamGetId");
  if (const auto known = state.lanes.find(id); known != state.lanes.end()) return known->second;

  auto fresh = std::make_shared<lane>();
  fresh->stream = stream;
  while (state.oldest_first.size() >= most_lanes) {
    state.lanes.erase(state.oldest_first.front());  // a call that still holds it keeps it alive
    state.oldest_first.pop_front();
  }
  state.lanes.emplace(id, fresh);
  state.oldest_first.push_back(id);
  return fresh;
}

}  // namespace onefold::cuda_backend
