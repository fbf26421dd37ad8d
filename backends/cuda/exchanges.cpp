#include "exchanges.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <onefold/device/gpu_status.cuh>
#include <onefold/error.hpp>

#include "captures.hpp"
#include "device.hpp"
#include "pointers.hpp"
#include "runtime.hpp"
#include "stream_memory.hpp"
#include "streams.hpp"

namespace onefold::cuda_backend {

namespace {

// A stream, in the context of its device. Two are the same stream where all is the same.
struct member {
  int device;
  cudaStream_t stream;
  unsigned long long id = 0;  // which CUDA never gives twice; 0 of a stream that is being captured

  friend bool operator==(const member&, const member&) = default;
};

// Beyond so many a new list of streams looks for one that is idle. An application that makes and destroys streams without end would otherwise leave memory behind.
constexpr std::size_t most_kept = memory_use::most_streams;
// Every GPU waits for every other one, as long as that is a few events; of more of them the first waits for the others, and they for it.
constexpr std::size_t most_all_to_all = 3;

// What the exchanges of one list of streams use in turn, or those that one graph has recorded.
//
// Two halves are enough. What the streams are given for exchange k + 2 overwrites what they had for exchange k, which a GPU may still read: but on each stream it comes
// behind that stream's part of exchange k + 1, and this waits for what all streams were given ahead of it, the reading of exchange k too.
struct place : in_graphs {
  place(std::vector<member> all, bool pinned)
      : members(std::move(all)), is_pinned(pinned), memory(pinned ? buffer::place::host : buffer::place::device) {
    reached.resize(members.size());
    ended.resize(members.size());
  }
  ~place() {
    for (const auto* const events : {&reached, &ended})
      for (const cudaEvent_t event : *events)
        if (event != nullptr) forget(calls().event_destroy(event));
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  [[nodiscard]] int home() const { return members.front().device; }
  [[nodiscard]] bool has_same_devices(const std::vector<member>& others) const {
    return std::ranges::equal(members, others, {}, &member::device, &member::device);
  }

  std::vector<member> members;
  bool is_pinned;
  buffer memory;
  std::size_t half_bytes = 0;
  unsigned turn = 0;
  std::vector<cudaEvent_t> reached;  // of each member, behind what it had before it waits for the others
  std::vector<cudaEvent_t> ended;    // behind all of the last exchange
  bool is_taken = true;              // by a call
  bool is_for_graphs = false;
  bool has_ended_events = false;
  bool is_given_up = false;  // nobody knows when the last exchange ends
};

// Never destroyed, as all that is kept between calls. `pools` are of the memory that other devices reach: a pool says who does for all that is had from it.
struct kept_exchanges {
  struct shared_pool {
    cudaMemPool_t pool = nullptr;
    std::map<int, bool> reached_by;
  };
  std::mutex lock;
  std::vector<std::shared_ptr<place>> places;  // the oldest first
  std::map<int, shared_pool> pools;            // of each home
};
kept_exchanges& kept() {
  static auto& all = *new kept_exchanges;
  return all;
}

// In the device's context, with what a call of CUDA's does to this thread undone behind it.
template <class Call>
void on_device(int device, const Call& call) {
  const device_scope current(device);
  call();
}

// --- the memory ------------------------------------------------------------------------------------------------------------------------------------

// The pool on `home` from which all these devices reach what they are given; null where there is none. Requires the lock.
cudaMemPool_t pool_for(const std::vector<member>& members) {
  const int home = members.front().device;
  kept_exchanges::shared_pool& its = kept().pools[home];
  if (its.pool == nullptr) {
    const cudaError_t made = calls().pool_create(&its.pool, home);
    if (made == cudaErrorNotSupported || made == cudaErrorOperatingSystem) {
      calls().get_last_error();
      its.pool = nullptr;
      return nullptr;
    }
    check(made, "cudaMemPoolCreate");
  }
  for (const member& one : members) {
    if (one.device == home) continue;
    const auto known = its.reached_by.find(one.device);
    if (known != its.reached_by.end()) {
      if (!known->second) return nullptr;
      continue;
    }
    int can = 0;
    check(calls().can_access_peer(&can, one.device, home), "cudaDeviceCanAccessPeer");
    if (can != 0) {
      const cudaError_t shared = calls().pool_share(its.pool, one.device);
      if (shared == cudaErrorNotSupported || shared == cudaErrorPeerAccessUnsupported) {
        forget(shared);
        can = 0;
      } else {
        check(shared, "cudaMemPoolSetAccess");
      }
    }
    its.reached_by[one.device] = can != 0;
    if (can == 0) return nullptr;
  }
  return its.pool;
}

bool is_one_device(const std::vector<member>& members) {
  return std::ranges::all_of(members, [&](const member& one) { return one.device == members.front().device; });
}

// Whether the GPUs have to hand over through pinned memory. Requires the lock.
bool needs_pinned(const std::vector<member>& members) {
  bool needs = false;
  on_device(members.front().device, [&] { needs = pool_for(members) == nullptr && !is_one_device(members); });
  return needs;
}

// Memory that is there for all streams, whatever they are doing. Requires the lock.
void* memory_of(place& in, std::size_t bytes) {
  if (bytes > in.half_bytes) {
    const std::size_t wanted = (std::max({bytes, 2 * in.half_bytes, std::size_t{4096}}) + 255) / 256 * 256;
    on_device(in.home(), [&] {  // what it outgrows is no more than it, and kept: work may use it
      const cudaStream_t side = in.is_pinned ? nullptr : side_stream_of(in.home());
      in.memory.at_least(2 * wanted, side, in.is_pinned ? nullptr : pool_for(in.members), true);
      if (!in.is_pinned) check(calls().stream_synchronize(side), "cudaStreamSynchronize");
    });
    in.half_bytes = wanted;
  }
  return static_cast<std::byte*>(in.memory.data()) + in.turn % 2 * in.half_bytes;
}

void make_events(place& in) {
  for (std::size_t i = 0; i < in.members.size(); ++i) {
    if (in.reached[i] != nullptr && in.ended[i] != nullptr) continue;
    on_device(in.members[i].device, [&] {
      for (cudaEvent_t* const event : {&in.reached[i], &in.ended[i]})
        if (*event == nullptr) check(calls().event_create(event), "cudaEventCreateWithFlags");
    });
  }
}

// --- the places --------------------------------------------------------------------------------------------------------------------------------------

// Whether all of the last exchange has ended. Throws when CUDA does not answer.
bool is_idle(const place& in) {
  if (!in.has_ended_events) return true;
  for (std::size_t i = 0; i < in.members.size(); ++i) {
    const cudaError_t status = calls().event_query(in.ended[i]);
    if (status == cudaErrorNotReady) {
      calls().get_last_error();
      return false;
    }
    check(status, "cudaEventQuery");
  }
  return true;
}

// The oldest that is idle, for other streams of the same devices; or none. Requires the lock.
std::shared_ptr<place> idle_place(const std::vector<member>& members) {
  for (const auto& one : kept().places) {
    if (one->is_taken || one->is_given_up || one->is_for_graphs || !one->has_same_devices(members)) continue;
    bool idle = false;
    try {
      on_device(one->home(), [&] { idle = is_idle(*one); });
    } catch (const error&) {  // then it stays; who needs it is told
    }
    if (!idle) continue;
    one->members = members;
    one->has_ended_events = false;
    return one;
  }
  return nullptr;
}

// A place that no other call has, until it is given back.
std::shared_ptr<place> take(const std::vector<member>& members, bool is_captured) {
  kept_exchanges& all = kept();
  const std::lock_guard lock(all.lock);
  std::shared_ptr<place> found;
  for (const auto& one : all.places) {
    if (one->is_taken || one->is_given_up || one->is_for_graphs != is_captured) continue;
    const bool fits =
        is_captured ? !one->is_recorded.load(std::memory_order_acquire) && one->has_same_devices(members) : one->members == members;
    if (!fits) continue;
    found = one;
    break;
  }
  if (found == nullptr && !is_captured && all.places.size() >= most_kept) found = idle_place(members);
  if (found == nullptr) {
    found = std::make_shared<place>(members, needs_pinned(members));
    found->is_for_graphs = is_captured;
    all.places.push_back(found);
  }
  found->is_taken = true;
  if (is_captured) {
    found->members = members;
    found->turn = 0;
  }
  return found;
}

void give_back(place& one) noexcept {
  const std::lock_guard lock(kept().lock);
  one.is_taken = false;
}

// --- one exchange --------------------------------------------------------------------------------------------------------------------------------------

class exchange final : public onefold::detail::exchange_in_progress {
 public:
  exchange(const std::vector<member>& members, bool is_captured, std::size_t bytes)
      : is_captured_(is_captured), place_(take(members, is_captured)) {
    try {
      make_events(*place_);
      {
        const std::lock_guard lock(kept().lock);
        memory_ = memory_of(*place_, bytes);
      }
      if (is_captured_) {
        place_->is_recorded.store(true, std::memory_order_relaxed);
        on_device(place_->home(), [&] { give_to_graph(*place_, place_->members.front().stream); });
      }
    } catch (...) {
      give_back(*place_);
      throw;
    }
  }
  ~exchange() override {
    if (place_ == nullptr) return;
    if (!is_captured_) {
      // What the next exchange on these streams writes has another layout, perhaps: it waits for what all of them have got.
      try {
        wait_for_each_other();
        mark_ends();
      } catch (...) {
        place_->has_ended_events = false;
        place_->is_given_up = !wait_quietly();
      }
    }
    give_back(*place_);
  }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  [[nodiscard]] void* memory() const noexcept override { return memory_; }

  void wait_for_each_other() override {
    const std::size_t count = place_->members.size();
    if (count == 1) return;
    const device_scope current(place_->home());
    if (count <= most_all_to_all) {
      for (std::size_t i = 0; i < count; ++i) record(place_->reached, i);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < count; ++k)
          if (k != i) wait_for(i, place_->reached[k]);
      return;
    }
    for (std::size_t i = 1; i < count; ++i) record(place_->reached, i);
    for (std::size_t i = 1; i < count; ++i) wait_for(0, place_->reached[i]);
    record(place_->reached, 0);
    for (std::size_t i = 1; i < count; ++i) wait_for(i, place_->reached[0]);
  }

  void end() override {
    if (!is_captured_) mark_ends();
    ++place_->turn;
    give_back(*std::exchange(place_, nullptr));
  }

 private:
  // In the context of the first device, which does for streams that are what their handles say: to change it takes as long as to record an event.
  template <class Call>
  static void on_stream(const member& its, const Call& call) {
    if (its.stream == nullptr || its.stream == cudaStreamLegacy || its.stream == cudaStreamPerThread)
      on_device(its.device, call);
    else
      call();
  }
  void record(const std::vector<cudaEvent_t>& events, std::size_t which) {
    const member& its = place_->members[which];
    on_stream(its, [&] { check(calls().event_record(events[which], its.stream), "cudaEventRecord"); });
  }
  void wait_for(std::size_t which, cudaEvent_t event) {
    const member& its = place_->members[which];
    on_stream(its, [&] { check(calls().stream_wait_event(its.stream, event), "cudaStreamWaitEvent"); });
  }
  // Whether nothing of what was put on the streams goes on.
  bool wait_quietly() noexcept {
    bool is_over = true;
    for (const member& its : place_->members) {
      try {
        on_device(its.device, [&] {
          const cudaError_t status = calls().stream_synchronize(its.stream);
          forget(status);
          is_over = is_over && onefold::detail::tells_of_the_end(status);
        });
      } catch (const error& problem) {  // a lost device, which the next call reports
        is_over = is_over && problem.code() == errc::device_lost;
      } catch (const std::exception&) {
        is_over = false;
      }
    }
    return is_over;
  }
  void mark_ends() {
    const device_scope current(place_->home());
    for (std::size_t i = 0; i < place_->members.size(); ++i) record(place_->ended, i);
    place_->has_ended_events = true;
  }

  bool is_captured_;
  std::shared_ptr<place> place_;
  void* memory_ = nullptr;
};

// The executors' streams, each once, and whether they are being captured.
std::vector<member> members_of(std::span<const executor> gpus, bool& is_captured) {
  std::vector<member> members;
  cudaGraph_t graph = nullptr;
  for (const executor& where : gpus) {
    properties_of(where.device());
    const device_scope current(where.device());
    refuse_foreign_stream(where, current);
    member one{where.device(), stream_of(where.device(), where.has_stream(), where.stream())};
    cudaGraph_t its = nullptr;
    if (where.has_stream() && is_capturing(one.stream)) {
      check(calls().stream_get_graph(one.stream, &its), "cudaStreamGetCaptureInfo");
      if (its == nullptr) check(cudaErrorStreamCaptureInvalidated, "cudaStreamGetCaptureInfo");
    } else {
      check(calls().stream_get_id(one.stream, &one.id), "cudaStreamGetId");
    }
    if (members.empty()) graph = its;
    if (its != graph)
      throw error(
          errc::invalid_argument,
          "some of the executors' streams are being captured into a graph and others are not: let all of them wait for an event "
          "of the stream that the capture began with");
    if (std::ranges::find(members, one) == members.end()) members.push_back(one);
  }
  is_captured = graph != nullptr;
  return members;
}

}  // namespace

std::unique_ptr<onefold::detail::exchange_in_progress> begin_exchange(std::span<const executor> gpus, std::size_t bytes) {
  bool is_captured = false;
  const std::vector<member> members = members_of(gpus, is_captured);
  return std::make_unique<exchange>(members, is_captured, bytes);
}

bool is_exchanged_with(const void* memory, int device) noexcept {
  const auto* const at = static_cast<const std::byte*>(memory);
  const std::lock_guard lock(kept().lock);
  return std::ranges::any_of(kept().places, [&](const std::shared_ptr<place>& one) {
    const auto* const begin = static_cast<const std::byte*>(one->memory.data());
    return begin != nullptr && at >= begin && at < begin + one->memory.size_bytes() &&
           std::ranges::find(one->members, device, &member::device) != one->members.end();
  });
}

memory_use exchange_memory_held(int device) {
  const std::lock_guard lock(kept().lock);
  memory_use held{};
  for (const auto& one : kept().places)
    if (one->home() == device) (one->is_pinned ? held.pinned_bytes : held.device_bytes) += one->memory.held_bytes();
  return held;
}

void release_exchange_memory(int device) {
  kept_exchanges& all = kept();
  std::vector<std::shared_ptr<place>> taken;
  {
    const std::lock_guard lock(all.lock);
    taken.reserve(all.places.size());
    for (const auto& one : all.places) {
      if (one->home() != device || one->is_taken || one->is_given_up || one->is_recorded.load(std::memory_order_acquire)) continue;
      taken.push_back(one);
      one->is_taken = true;
    }
  }
  std::exception_ptr problem;
  for (auto& one : taken) {
    try {
      while (!is_idle(*one)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    } catch (const std::exception&) {
      problem = std::current_exception();
      give_back(*one);
      one = nullptr;
    }
  }
  cudaMemPool_t pool = nullptr;
  {
    const std::lock_guard lock(all.lock);
    std::erase_if(all.places, [&](const std::shared_ptr<place>& one) { return std::ranges::find(taken, one) != taken.end(); });
    if (const auto found = all.pools.find(device); found != all.pools.end()) {
      pool = found->second.pool;
      found->second.reached_by.clear();  // asked again when there is something to share
    }
  }
  taken.clear();  // in the device's context
  if (problem != nullptr) std::rethrow_exception(problem);
  if (pool != nullptr) check(calls().pool_trim(pool, 0), "cudaMemPoolTrimTo");
}

}  // namespace onefold::cuda_backend
