#include "pointer_kind.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace onefold::detail {

namespace {

// From the CUDA driver's stable binary interface (cuda.h). Spelled out so that a library built without CUDA, linked into an
// application that uses CUDA, still recognises a device pointer instead of crashing on it.
using get_attributes = int (*)(unsigned count, const int* attributes, void** values, std::uintptr_t pointer);
constexpr int attribute_memory_type = 2;
constexpr int attribute_is_managed = 8;
constexpr int attribute_device_ordinal = 9;
constexpr unsigned memory_type_device = 2;

// The time in ticks of 1 to 10 ms, in 5 ns. Negative where there is no such clock.
std::int64_t tick() noexcept {
#ifdef CLOCK_MONOTONIC_COARSE
  timespec now{};
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0) return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#endif
  return -1;
}

// Held by the thread that asks the loader, and while the process is forked: the child would have the loader's lock held for ever by a thread that
// it does not have.
constinit std::atomic<bool> asking{false};

// Whether this thread holds it now. Not waited for without end: a signal handler may fork, or call, on the thread that holds it.
bool hold_asking() noexcept {
  for (int steps = 0; steps < 10'000; ++steps) {
    if (!asking.exchange(true, std::memory_order_acquire)) return true;
    sched_yield();
  }
  return false;
}

void release_asking(bool held) noexcept {
  if (held) asking.store(false, std::memory_order_release);
}

constinit thread_local bool held_to_fork = false;
[[maybe_unused]] const int registered =
    pthread_atfork([] { held_to_fork = hold_asking(); }, [] { release_asking(held_to_fork); }, [] { release_asking(true); });

// Shared objects that this process has loaded so far; libraries that were unloaded count too. 40 ns, and ten times as much where the loader's
// list, which it walks along, is not in the caches. Never 0: the program is one.
unsigned long long objects_loaded() noexcept {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = first->dlpi_adds;
        return 1;  // the count is the same for all of them
      },
      &loaded);
  return loaded;
}

// A process can hold device memory only after it has loaded the driver: asking for the library without loading it starts nothing. But
// the question takes 12 us where the answer is no, because all library folders are searched; so it is asked again only after another
// object has been loaded, and whether one has been, once in a tick: from loading the driver to the first allocation takes many.
get_attributes driver_query() noexcept {
  static std::atomic<get_attributes> found{nullptr};
  static std::atomic<unsigned long long> absent_at{0};  // objects loaded when the driver was not among them
  static std::atomic<std::int64_t> absent_in{-1};       // the tick in which that was last so
  if (const auto query = found.load(std::memory_order_acquire)) return query;
  const std::int64_t now = tick();
  if (now >= 0 && now == absent_in.load(std::memory_order_relaxed)) return nullptr;
  struct alone {
    const bool held = hold_asking();
    ~alone() { release_asking(held); }
  } const while_asking;
  // Counted first: an object that comes in between makes the next tick's call ask again.
  const unsigned long long loaded = objects_loaded();
  if (loaded != absent_at.load(std::memory_order_relaxed)) {
    if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      const auto query = reinterpret_cast<get_attributes>(dlsym(driver, "cuPointerGetAttributes"));
      if (query != nullptr) found.store(query, std::memory_order_release);
      return query;
    }
    absent_at.store(loaded, std::memory_order_relaxed);
  }
  absent_in.store(now, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

constinit thread_local int asked_for_none = 0;

all_is_host_memory::all_is_host_memory() noexcept { ++asked_for_none; }
all_is_host_memory::~all_is_host_memory() { --asked_for_none; }

bool may_hold_device_memory() noexcept { return asked_for_none == 0 && driver_query() != nullptr; }

pointer_place locate(const void* pointer) noexcept {
  if (asked_for_none != 0) return {};
  const get_attributes query = driver_query();
  if (query == nullptr || pointer == nullptr) return {};
  // All at once: this call leaves zeros where the driver does not know the memory, which the one for a single attribute reports as an error.
  constexpr int asked[] = {attribute_memory_type, attribute_is_managed, attribute_device_ordinal};
  unsigned type = 0;
  unsigned managed = 0;
  int device = 0;
  void* values[] = {&type, &managed, &device};
  if (query(3, asked, values, reinterpret_cast<std::uintptr_t>(pointer)) != 0 || type != memory_type_device) return {};
  return {managed != 0 ? pointer_kind::managed : pointer_kind::device, device};
}

pointer_kind kind_asked_often(const void* pointer) noexcept {
  // The last places that a CPU may read, each in a slot of its own; another place takes the slot over. CUDA gives memory out, and takes addresses
  // for it, in larger pieces than these.
  struct place {
    std::uintptr_t piece;
    std::int64_t seen_in;
    pointer_kind kind;
  };
  constexpr std::size_t places = 16;
  static thread_local place seen[places];
  const auto piece = (reinterpret_cast<std::uintptr_t>(pointer) >> 16) + 1;  // 0 is none
  place& slot = seen[piece % places];
  const std::int64_t now = tick();
  if (slot.piece == piece && slot.seen_in == now && now >= 0) return slot.kind;
  const pointer_kind kind = locate(pointer).kind;
  if (kind != pointer_kind::device) slot = {piece, now, kind};
  return kind;
}

bool is_on_device(const void* pointer) noexcept { return kind_asked_often(pointer) == pointer_kind::device; }

}  // namespace onefold::detail
