#include "streams.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <onefold/error.hpp>

#include "captures.hpp"

namespace onefold::cuda_backend {

namespace {

// An application that makes and destroys streams without end would otherwise leave memory behind for each.
constexpr std::size_t most_kept = memory_use::most_streams;
// In how many of these a new stream looks for one that is idle. Each costs a small copy; those at work go to the end of the queue.
constexpr std::size_t most_looked_at = 4;

using kept_memory = std::pair<unsigned long long, std::shared_ptr<stream_memory>>;

// What is kept of the streams of a device.
struct device_streams {
  cudaStream_t own_stream = nullptr;
  unsigned long long own_stream_id = 0;  // not yet asked for
  cudaStream_t side_stream = nullptr;    // for what must not wait for any other stream, nor they for it
  cudaStream_t copy_stream = nullptr;    // of all calls that copy: there is one way to the device
  bool asked_for_pool = false;
  cudaMemPool_t pool = nullptr;                                            // null where the device has no stream-ordered memory
  std::map<unsigned long long, std::shared_ptr<stream_memory>> of_stream;  // by stream id, which CUDA never gives twice
  std::deque<unsigned long long> oldest_first;
  std::list<kept_memory> of_no_stream;                   // of streams that have another by now, not known to be idle
  std::vector<std::shared_ptr<stream_memory>> recorded;  // of calls that graphs have recorded, and of such whose graphs are gone
};

// Never destroyed: at exit the CUDA runtime may be gone before our destructors would run, and the driver frees everything anyway.
std::mutex& streams_lock() {
  static auto& lock = *new std::mutex;
  return lock;
}
std::map<int, device_streams>& all_streams() {
  static auto& all = *new std::map<int, device_streams>;
  return all;
}

// Requires the lock, and that there is such a device.
device_streams& streams_of(int device) { return all_streams()[device]; }

cudaStream_t own_stream_of(device_streams& kept) {
  // A blocking stream: it waits for work on CUDA's legacy default stream, where callers without streams of their own put theirs.
  if (kept.own_stream == nullptr) check(calls().stream_create(&kept.own_stream, cudaStreamDefault), "cudaStreamCreateWithFlags");
  return kept.own_stream;
}

cudaStream_t side_stream_of(device_streams& kept) {
  if (kept.side_stream == nullptr)
    check(calls().stream_create(&kept.side_stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return kept.side_stream;
}

// The library's pool on the current device.
cudaMemPool_t pool_of(int device, device_streams& kept) {
  if (kept.asked_for_pool) return kept.pool;
  const cudaError_t made = calls().pool_create(&kept.pool, device);
  if (made == cudaErrorNotSupported || made == cudaErrorOperatingSystem)
    calls().get_last_error();  // a device without pools: plain allocations do
  else
    check(made, "cudaMemPoolCreate");
  kept.asked_for_pool = true;
  return kept.pool;
}

// Puts the first of a list into the table, as that of its stream where it can be. What kernels may be using is never given up for a lack of memory.
void put_back(device_streams& kept, std::list<kept_memory>& from) noexcept {
  const auto& [id, work] = from.front();
  if (id != 0 && !kept.of_stream.contains(id)) {  // else another thread's call on the stream has made one meanwhile
    try {
      kept.of_stream.emplace(id, work);
      try {
        kept.oldest_first.push_back(id);
        return from.pop_front();
      } catch (const std::bad_alloc&) {
        kept.of_stream.erase(id);
      }
    } catch (const std::bad_alloc&) {
    }
  }
  kept.of_no_stream.splice(kept.of_no_stream.end(), from, from.begin());
}

// Takes up to `most` that no call is using out of the table, the oldest first.
void take_unused(device_streams& kept, std::size_t most, std::list<kept_memory>& taken) {
  for (auto id = kept.oldest_first.begin(); id != kept.oldest_first.end() && taken.size() < most;) {
    const auto found = kept.of_stream.find(*id);
    if (found != kept.of_stream.end()) {
      if (found->second.use_count() != 1) {
        ++id;
        continue;
      }
      taken.emplace_back(*id, nullptr);
      taken.back().second = std::move(found->second);
      kept.of_stream.erase(found);
    }
    id = kept.oldest_first.erase(id);
  }
}
void take_unused(std::list<kept_memory>& of_no_stream, std::list<kept_memory>& taken) noexcept {
  for (auto one = of_no_stream.begin(); one != of_no_stream.end();) {
    const auto next = std::next(one);
    if (one->second.use_count() == 1) taken.splice(taken.end(), of_no_stream, one);
    one = next;
  }
}

// One of the oldest whose work has ended, or none. The others of these go to the end of the queue. CUDA is asked without the lock.
std::shared_ptr<stream_memory> idle_memory(int device) {
  std::list<kept_memory> oldest;
  cudaStream_t side = nullptr;
  {
    const std::lock_guard lock(streams_lock());
    device_streams& kept = streams_of(device);
    side = side_stream_of(kept);
    take_unused(kept.of_no_stream, oldest);
    const std::size_t before = oldest.size();
    try {
      take_unused(kept, before + most_looked_at, oldest);
    } catch (const std::bad_alloc&) {  // those that were taken will do
    }
  }
  std::shared_ptr<stream_memory> found;
  for (auto one = oldest.begin(); one != oldest.end(); ++one) {
    try {
      if (!one->second->is_idle(side)) continue;
    } catch (const std::exception&) {  // then it stays; who needs it is told
      continue;
    }
    found = std::move(one->second);
    oldest.erase(one);
    break;
  }
  const std::lock_guard lock(streams_lock());
  device_streams& kept = streams_of(device);
  while (!oldest.empty()) put_back(kept, oldest);
  return found;
}

}  // namespace

cudaStream_t stream_of(int device, bool has_stream, cudaStream_t stream) {
  if (has_stream) return stream;
  const std::lock_guard lock(streams_lock());
  return own_stream_of(streams_of(device));
}

cudaStream_t copy_stream_of(int device) {
  const std::lock_guard lock(streams_lock());
  device_streams& kept = streams_of(device);
  if (kept.copy_stream == nullptr)
    check(calls().stream_create(&kept.copy_stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return kept.copy_stream;
}

cudaStream_t side_stream_of(int device) {
  const std::lock_guard lock(streams_lock());
  return side_stream_of(streams_of(device));
}

std::shared_ptr<stream_memory> memory_of(int device, bool has_stream, cudaStream_t stream) {
  unsigned long long id = 0;
  cudaMemPool_t pool = nullptr;
  bool is_crowded = false;
  {
    const std::lock_guard lock(streams_lock());
    device_streams& kept = streams_of(device);
    if (!has_stream) {
      stream = own_stream_of(kept);
      id = kept.own_stream_id;
    }
    if (id == 0) check(calls().stream_get_id(stream, &id), "cudaStreamGetId");
    if (!has_stream) kept.own_stream_id = id;
    if (const auto known = kept.of_stream.find(id); known != kept.of_stream.end()) return known->second;
    pool = pool_of(device, kept);
    is_crowded = kept.of_stream.size() + kept.of_no_stream.size() >= most_kept;
  }
  // Where all are at work, so many streams are, and there is one more.
  std::shared_ptr<stream_memory> fresh = is_crowded ? idle_memory(device) : nullptr;
  if (fresh == nullptr) fresh = std::make_shared<stream_memory>();
  fresh->stream = fresh->memory_stream = stream;
  fresh->pool = pool;
  const std::lock_guard lock(streams_lock());
  device_streams& kept = streams_of(device);
  std::list<kept_memory> one;
  one.emplace_back(id, fresh);
  fresh.reset();
  put_back(kept, one);
  if (const auto known = kept.of_stream.find(id); known != kept.of_stream.end())
    return known->second;  // this, or of another thread's call on the stream
  throw std::bad_alloc();
}

std::shared_ptr<stream_memory> recorded_memory_of(int device, cudaStream_t stream) {
  std::shared_ptr<stream_memory> work;
  {
    const std::lock_guard lock(streams_lock());
    device_streams& kept = streams_of(device);
    const cudaStream_t side = side_stream_of(kept);
    const cudaMemPool_t pool = pool_of(device, kept);
    const auto unused = std::ranges::find_if(kept.recorded, [](const std::shared_ptr<stream_memory>& one) {
      return one.use_count() == 1 && !one->is_recorded.load(std::memory_order_acquire);
    });
    work = unused != kept.recorded.end() ? *unused : kept.recorded.emplace_back(std::make_shared<stream_memory>());
    // What graphs that are gone have recorded, and this one has outgrown since.
    for (buffer* piece : {&work->partials[0], &work->partials[1], &work->control, &work->slots}) piece->free_outgrown(side);
    work->is_recorded.store(true, std::memory_order_relaxed);
    work->memory_stream = side;
    work->pool = pool;
  }
  work->stream = stream;
  give_to_graph(*work, stream);
  return work;
}

memory_use memory_held(int device) {
  const std::lock_guard lock(streams_lock());
  const device_streams& kept = streams_of(device);
  memory_use held{};
  const auto add = [&](const stream_memory& work) {
    for (const buffer* piece : {&work.partials[0], &work.partials[1], &work.control, &work.slots, &work.copies})
      held.device_bytes += piece->held_bytes();
    for (const buffer* piece : {&work.host_partials, &work.host_result}) held.pinned_bytes += piece->held_bytes();
    held.pinned_bytes += work.batch_results.size_bytes();
  };
  for (const auto& [id, work] : kept.of_stream) add(*work);
  for (const auto& [id, work] : kept.of_no_stream) add(*work);
  for (const auto& work : kept.recorded) add(*work);
  held.streams = static_cast<int>(kept.of_stream.size());
  return held;
}

void release_held_memory(int device) {
  std::list<kept_memory> taken;
  cudaStream_t side = nullptr;
  cudaMemPool_t pool = nullptr;
  std::exception_ptr problem;
  {
    const std::lock_guard lock(streams_lock());
    device_streams& kept = streams_of(device);
    side = side_stream_of(kept);
    pool = kept.pool;
    take_unused(kept.of_no_stream, taken);
    try {
      for (auto& one : kept.recorded) {
        if (one.use_count() != 1 || one->is_recorded.load(std::memory_order_acquire)) continue;
        taken.emplace_back(0, nullptr);
        taken.back().second = std::move(one);
      }
      take_unused(kept, taken.size() + kept.of_stream.size(), taken);
    } catch (const std::bad_alloc&) {  // those that were taken, first
      problem = std::current_exception();
    }
    std::erase(kept.recorded, nullptr);
  }
  // Each is waited for by itself and without the lock: cudaDeviceSynchronize would spoil every capture of the process.
  const auto give_back = [&](kept_memory& one) {
    if (one.second->end_in_doubt) return;  // a call on it has failed, and then its mark too
    while (!one.second->is_idle(side)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    one.second = nullptr;
  };
  for (auto& one : taken) {
    try {
      give_back(one);
    } catch (const std::exception&) {
      problem = std::current_exception();
    }
  }
  {
    const std::lock_guard lock(streams_lock());
    device_streams& kept = streams_of(device);
    taken.remove_if([](const kept_memory& one) { return one.second == nullptr; });
    while (!taken.empty()) put_back(kept, taken);
  }
  if (problem != nullptr) std::rethrow_exception(problem);
  if (pool != nullptr) check(calls().pool_trim(pool, 0), "cudaMemPoolTrimTo");
}

}  // namespace onefold::cuda_backend
