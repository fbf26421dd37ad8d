#include "fixed_order.hpp"

#include <unistd.h>
#ifndef ONEFOLD_ONLY_FIXED_ORDER
#include <Kokkos_Core.hpp>
#endif

#ifdef ONEFOLD_HAVE_OPENMP
#include <omp.h>

#include "../threads/process.hpp"
#include "../threads/team.hpp"
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <onefold/error.hpp>
#include <onefold/order.hpp>

#include "../float_environment.hpp"
#include "../forest.hpp"
#include "../forms.hpp"
#include "fixed_order_kernels.hpp"
#include "lifetime.hpp"

namespace onefold::kokkos_backend {

namespace {

// --- the instruction set ------------------------------------------------------------------------------------------------------------

struct instruction_set {
  std::string_view name;
  const kernel_table* kernels;
  const kernel_table* narrow;  ///< those with registers of 32 bytes, where this set has longer ones that need not be used
  bool here;
};

struct choice {
  instruction_set set;
  std::optional<error> refusal;
};

// The best that this machine has, or the one that ONEFOLD_INSTRUCTION_SET names, which is then used for everything. Where that cannot be had
// no other is taken: whoever sets it compares or measures, and would take one set's results for another's.
const instruction_set& chosen() {
  static const choice made = []() -> choice {
#ifdef ONEFOLD_X86_KERNELS
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    const instruction_set sets[] = {{"fixed_order/avx512", &avx512_kernels, &avx2_kernels, avx512},
                                    {"fixed_order/avx2", &avx2_kernels, nullptr, avx2},
                                    {"fixed_order/baseline", &baseline_kernels, nullptr, true}};
#else
    const instruction_set sets[] = {{"fixed_order/portable", &baseline_kernels, nullptr, true}};
#endif
    const auto short_name = [](const instruction_set& set) { return set.name.substr(set.name.find('/') + 1); };
    // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
    const char* const variable = std::getenv("ONEFOLD_INSTRUCTION_SET");
    const std::string_view wanted = variable == nullptr ? "" : variable;
    if (wanted.empty()) return {*std::ranges::find_if(sets, &instruction_set::here), {}};
    const auto named = std::ranges::find(sets, wanted, short_name);
    if (named != std::end(sets) && named->here) return {{named->name, named->kernels, nullptr, true}, {}};
    std::string sentence = "the environment variable ONEFOLD_INSTRUCTION_SET is \"" + std::string(wanted.substr(0, 40)) + "\", " +
                           (named == std::end(sets) ? "which names no instruction set" : "which this processor does not have") +
                           ": unset it, or take one of";
    const char* before = " ";
    for (const auto& set : sets) {
      if (!set.here) continue;
      sentence += before + std::string(short_name(set));
      before = ", ";
    }
    return {sets[std::size(sets) - 1], error(named == std::end(sets) ? errc::invalid_argument : errc::unsupported, sentence)};
  }();
  if (made.refusal) throw error(*made.refusal);
  return made.set;
}

// One operation for each load, so that loads are what counts. The others test what they load, and take their time over it.
template <class Fold>
inline constexpr bool is_light = !std::is_same_v<Fold, detail::norm2_fold>;
template <class E, class A, class Map, class Op>
inline constexpr bool is_light<detail::fold<E, A, Map, Op>> =
    std::is_integral_v<E> || std::is_same_v<Op, op::sum> || std::is_same_v<Op, op::prod>;

// A core's own second-level cache.
std::uint64_t own_cache_bytes() {
  static const std::uint64_t bytes = [] {
    long found = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    found = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return found > 0 ? static_cast<std::uint64_t>(found) : std::uint64_t{1} << 20;
  }();
  return bytes;
}

bool is_amd() {
#ifdef ONEFOLD_X86_KERNELS
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

// Whether loads of 32 bytes are faster than loads of 64 for so many bytes of input. From a core's own caches they are where the input does not
// begin on a cache line, so that each of the longer loads takes two lines: 0.65 to 0.9 of the time for sums on an Intel Xeon, 0.94 to 0.97
// on a Zen 4. On the line the longer ones take 0.87 of the time (Xeon). Where the third-level cache gives, a Zen 4 takes 1.02 to 1.15 times
// as long with the shorter ones, whose prefetches come at times only; from memory 0.94 to 0.97 of the time. A Xeon takes up to 1.2 times as long
// with them from memory, with 16 threads. (perf/results/*-cpu-*, *-xeon-*)
template <class Fold>
bool narrow_is_faster(std::uint64_t bytes, int threads, bool on_line) {
  constexpr std::uint64_t shared_cache = std::uint64_t{48} << 20;
  const bool from_own_caches = bytes < own_cache_bytes() * static_cast<std::uint64_t>(threads);
  return (is_amd() && bytes >= shared_cache) || (is_light<Fold> && !on_line && from_own_caches);
}

template <class Fold>
fold_groups kernel_of(const kernel_table& kernels) {
  using f32 = float;
  using f64 = double;
  using i32 = std::int32_t;
  using u32 = std::uint32_t;
  using i64 = std::int64_t;
  using u64 = std::uint64_t;
  using namespace detail;
  using op::max, op::min, op::prod, op::sum;
  if constexpr (std::is_same_v<Fold, norm2_fold>) return kernels.norm2_f64;
#define ONEFOLD_FOLD(E, A, map, op) \
  if constexpr (std::is_same_v<Fold, fold<E, A, map, op>>) return kernels.E##_##A##_##map##_##op;
  ONEFOLD_FIXED_ORDER_FOLDS(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
}

// --- runs of groups -------------------------------------------------------------------------------------------------------------------

template <class Fold>
struct operands {
  using element = typename Fold::element;
  static constexpr std::uint64_t group = group_tiles * order::tile_elements<element>;
  const element* x;
  const element* y;
  std::uint64_t count;
  fold_groups kernel;

  [[nodiscard]] std::uint64_t groups() const { return count / group + (count % group != 0 ? 1 : 0); }
  [[nodiscard]] std::uint64_t bytes() const { return count * sizeof(element) * Fold::inputs; }
  [[nodiscard]] bool on_cache_line() const {
    return (reinterpret_cast<std::uintptr_t>(x) | (Fold::inputs == 2 ? reinterpret_cast<std::uintptr_t>(y) : 0)) % 64 == 0;
  }

  // Values of the groups from `first` up to, but not including, `end`.
  void run(std::uint64_t first, std::uint64_t end, typename Fold::accumulator* values) const {
    kernel(x + first * group, Fold::inputs == 2 ? y + first * group : nullptr, std::min(count, end * group) - first * group,
           values);
  }

  // The value of the subtree over the groups from `first` up to, but not including, `end`.
  [[nodiscard]] typename Fold::accumulator value(std::uint64_t first, std::uint64_t end) const {
    constexpr std::uint64_t at_once = 64;
    typename Fold::accumulator values[at_once];
    if (end - first == 1) {
      run(first, end, values);
      return values[0];
    }
    detail::forest<Fold> tree;
    for (; first < end; first += at_once) {
      const std::uint64_t next = std::min(first + at_once, end);
      run(first, next, values);
      for (std::uint64_t i = first; i < next; ++i) tree.push(values[i - first], group_level, i);
    }
    return tree.root();
  }
};

#ifdef ONEFOLD_HAVE_OPENMP
// --- on threads ----------------------------------------------------------------------------------------------------------------------
//
// The groups are cut into units of equally many groups, a power of two, so that a unit's value is a node of the tree whoever computes it.
// Each thread has a share of neighbouring units, the same in every call for the same input: what it touched first lies near to it. It takes
// its share in pieces that get smaller, and then what others have left of theirs. Cores are not equally fast, in a virtual machine least of
// all: this takes half to all of the time of shares that are fixed. (decision 0021)
//
// The threads are those of OpenMP's team, of which all come, or helpers of onefold's own, of which any may come late or not at all.
// (decision 0024)

// Bytes of input for each thread. Two threads take 2.2 us for 256 KiB where one takes 2.4, and 3.5 us for 512 KiB where one takes 4.9;
// starting and joining a team that spins is 0.5 us of that.
constexpr std::uint64_t bytes_per_thread = std::uint64_t{128} * 1024;

// Threads that there is work for.
template <class Fold>
int useful_threads(const operands<Fold>& what, int threads) {
  if (threads == 1) return 1;
  const std::uint64_t most = std::min(what.bytes() / bytes_per_thread, what.groups());
  if (most < 2) return 1;
  return static_cast<int>(std::min<std::uint64_t>(most, static_cast<std::uint64_t>(threads)));
}

constexpr std::uint64_t most_units = 64;  // of a share. 32 are as good, and so are 512: the threads end together with all of them.

// How many of `left` units are taken at once. Fewer and fewer, because an atomic operation lets no later load start.
constexpr std::uint64_t piece_of(std::uint64_t left) { return std::max<std::uint64_t>(left / 8, 1); }

constexpr std::size_t largest_accumulator = sizeof(detail::norm2_fold::accumulator);

// Of one share. On cache lines of its own, two of them, because processors fetch them in pairs.
struct alignas(128) slot {
  // The number of a call and, in the low bits, how many of the share's units are taken in it. Whoever comes first in a call finds the number
  // of an earlier one. Were it for the starting thread to reset these, it would have to fetch all their lines before it starts.
  std::atomic<std::uint64_t> taken{0};
  alignas(128) std::byte values[most_units * largest_accumulator];
};
constexpr int taken_bits = 16;
static_assert(most_units < 1 << taken_bits);

// Memory for whoever holds threads::in_use(): a slot for each share, and room to put all values side by side. Kept between calls: to allocate
// and free it takes 0.2 us, of 4 that two threads take for 256 KiB. Never freed, since a call may come at any time before the program ends.
struct team_memory {
  slot* slots = nullptr;
  std::byte* values = nullptr;
  std::size_t shares = 0;
  std::uint64_t calls = 0;

  static team_memory& for_shares(std::size_t shares) {
    static team_memory memory;
    if (memory.shares < shares) {
      auto values = std::make_unique<std::byte[]>(shares * sizeof(slot::values));
      slot* const slots = new slot[shares];
      delete[] std::exchange(memory.slots, slots);
      delete[] std::exchange(memory.values, values.release());
      memory.shares = shares;
    }
    return memory;
  }
};

template <class Fold>
typename Fold::accumulator* as_values(std::byte* memory) {
  static_assert(sizeof(typename Fold::accumulator) <= largest_accumulator);
  return static_cast<typename Fold::accumulator*>(static_cast<void*>(memory));
}

// What a worker needs to know, in two cache lines of its own as well. In a closure on the stack it would share them with what the starting
// thread goes on to write while the workers read: that costs 3 to 8 % of all that 16 threads do for 4 MiB.
template <class Fold>
struct alignas(128) team_work {
  operands<Fold> what;
  slot* slots;
  std::uint64_t call;
  std::uint64_t unit;  // groups of a unit
  std::uint64_t shares;
  std::uint64_t length;  // units of a share
  std::uint64_t longer;  // so many of the first shares have one more
  bool all_come;         // to every share its own thread

  [[nodiscard]] std::uint64_t size(std::uint64_t share) const { return length + (share < longer ? 1 : 0); }
  // What a share's own thread begins with. Where it is sure to come nobody else may take it, so that it need not wait for the line that tells
  // what is taken: up to 15 % of 1 and 2 MiB with 16 threads.
  [[nodiscard]] std::uint64_t first_piece(std::uint64_t share) const { return all_come ? piece_of(size(share)) : 0; }

  void run(std::uint64_t share, std::uint64_t first, std::uint64_t end) const {
    const std::uint64_t begin = share * length + std::min(share, longer);
    auto* const values = as_values<Fold>(slots[share].values);
    if (unit == 1) {
      what.run(begin + first, begin + end, values + first);
    } else {
      for (; first < end; ++first)
        values[first] = what.value((begin + first) * unit, std::min((begin + first + 1) * unit, what.groups()));
    }
  }

  // Takes what a share has left, piece by piece. Returns whether there was anything.
  bool take(std::uint64_t share) const {
    std::atomic<std::uint64_t>& state = slots[share].taken;
    const std::uint64_t all = size(share);
    bool any = false;
    std::uint64_t now = state.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t first = now >> taken_bits == call ? now & ((1U << taken_bits) - 1) : first_piece(share);
      if (first >= all) return any;
      const std::uint64_t end = first + piece_of(all - first);
      // Relaxed: inputs were written before the threads started, and values are read when all have ended.
      if (!state.compare_exchange_weak(now, call << taken_bits | end, std::memory_order_relaxed)) continue;
      run(share, first, end);
      any = true;
      now = state.load(std::memory_order_relaxed);
    }
  }

  void own(std::uint64_t share) const {
    __builtin_prefetch(&slots[share], 1);
    if (all_come) run(share, 0, first_piece(share));
    take(share);
  }

  // From the other shares, as long as one of them has something left. Of short ones only from those 1, 2, 4, 8... further on: where all are
  // done, which is the rule there, 16 threads that each read 15 lines that others have just written take 10 % of the time of 8 MiB. The calling
  // thread, which is that of share 0, looks at all where others may not come.
  void help(std::uint64_t share) const {
    const bool last_resort = !all_come && share == 0;
    if (length == 1 && !last_resort) return;
    const bool all = length >= 16 || last_resort;
    const auto other = [&](std::uint64_t distance) {
      return share + distance < shares ? share + distance : share + distance - shares;
    };
    const auto next = [&](std::uint64_t distance) { return all ? distance + 1 : 2 * distance; };
    for (std::uint64_t d = 1; d < shares; d = next(d)) __builtin_prefetch(&slots[other(d)]);
    for (bool any = true; any;) {
      any = false;
      for (std::uint64_t d = 1; d < shares; d = next(d)) any |= take(other(d));
    }
  }

  void operator()(std::int64_t t) const {
    // Workers inherit the environment of whoever started them.
    const detail::default_float_environment one_operation_is_one_operation;
    own(static_cast<std::uint64_t>(t));
    help(static_cast<std::uint64_t>(t));
  }
};

// Of the call under way, for whoever holds threads::in_use(). A static object and no parameter, which workers would have to read from the
// stack of the thread that starts them.
template <class Fold>
team_work<Fold> work_now;

template <class Fold>
void on_openmps_team() {
#ifndef ONEFOLD_ONLY_FIXED_ORDER
  using range = Kokkos::RangePolicy<Kokkos::OpenMP, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
  if (tools_see_kokkos()) {  // tools see what goes through Kokkos
    Kokkos::parallel_for("onefold", range(0, static_cast<std::int64_t>(work_now<Fold>.shares), Kokkos::ChunkSize(1)),
                         work_now<Fold>);
    return;
  }
#endif
  // As many threads as other regions have: libgomp pays for a team of another size. There may be fewer, if the application wants it so.
#pragma omp parallel num_threads(pool_size())
  for (auto t = static_cast<std::uint64_t>(omp_get_thread_num()); t < work_now<Fold>.shares;
       t += static_cast<std::uint64_t>(omp_get_num_threads()))
    work_now<Fold>(static_cast<std::int64_t>(t));
}

template <class Fold>
void on_helpers() {
  threads::summon(
      static_cast<int>(work_now<Fold>.shares) - 1,
      [](const void* context, int number) { (*static_cast<const team_work<Fold>*>(context))(number); }, &work_now<Fold>);
  work_now<Fold>(0);
  threads::dismiss();
}

// `openmps`: on OpenMP's team; else on so many threads less one of onefold's own, which must be there.
template <class Fold>
typename Fold::accumulator on_threads(const operands<Fold>& what, int threads, bool openmps) {
  const auto shares = static_cast<std::uint64_t>(threads);
  std::uint64_t unit = 1;
  while (what.groups() > shares * most_units * unit) unit *= 2;
  const std::uint64_t units = (what.groups() - 1) / unit + 1;

  team_memory& memory = team_memory::for_shares(shares);
  auto& work = work_now<Fold>;
  work = {what, memory.slots, ++memory.calls, unit, shares, units / shares, units % shares, openmps};
  if (openmps)
    on_openmps_team<Fold>();
  else
    on_helpers<Fold>();

  // The values lie in other cores' caches: all are asked for before the first is waited for.
  for (std::uint64_t t = 1; t < shares; ++t)
    for (std::size_t byte = 0; byte < work.size(t) * sizeof(typename Fold::accumulator); byte += 64)
      __builtin_prefetch(memory.slots[t].values + byte);
  auto* const nodes = as_values<Fold>(memory.values);
  std::uint64_t count = 0;
  for (std::uint64_t t = 0; t < shares; ++t) {
    const auto* const values = as_values<Fold>(memory.slots[t].values);
    for (std::uint64_t i = 0; i < work.size(t); ++i) nodes[count++] = values[i];
  }
  // Level by level: one by one into a forest a sum of 8 MiB with 16 threads takes 4 to 6 % longer. A node without a right sibling goes up as it is.
  for (; count > 1; count = (count + 1) / 2) {
    for (std::uint64_t i = 0; i < count / 2; ++i) nodes[i] = Fold::combine(nodes[2 * i], nodes[2 * i + 1]);
    if (count % 2 == 1) nodes[count / 2] = nodes[count - 1];
  }
  return nodes[0];
}

// What is known of OpenMP's team at the time of a call. Made and asked while threads::in_use() is held.
//
// Where two of its threads share a core, because other programs have the others, one spins while the other has work: a call of
// microseconds takes until the kernel's next tick. A call that took as long may have found such a machine, and helpers, who sleep when there is
// nothing to do, serve the calls of 20 times that time: so it is lost in one call of many, and a hiccup is soon forgotten.
class openmps_team {
 public:
  using clock = std::chrono::steady_clock;
  explicit openmps_team(std::uint64_t bytes) : bytes_(bytes) {}

  [[nodiscard]] bool is_late() const { return begin_ < late_until; }

  // Whether the program runs loops of OpenMP's. Its threads spin for milliseconds after each, on the cores that helpers need: beside such a
  // loop helpers take 12 times as long for 4 MiB as its own threads do.
  [[nodiscard]] bool is_in_use() const {
    if (begin_ >= look_again) {
      seen = threads::has_threads_of_others(pool_size());
      look_again = begin_ + std::chrono::milliseconds(100);
    }
    return seen;
  }

  void has_served() const {
    if (!std::exchange(has_started, true)) return;  // that takes its time anywhere
    const auto end = clock::now();
    // A gigabyte in a second is less than any machine reads.
    if (end - begin_ > std::chrono::milliseconds(1) + std::chrono::nanoseconds(bytes_)) late_until = end + 20 * (end - begin_);
  }

 private:
  inline static constinit clock::time_point late_until{};
  inline static constinit clock::time_point look_again{};
  inline static constinit bool seen = false;
  inline static constinit bool has_started = false;
  std::uint64_t bytes_;
  clock::time_point begin_ = clock::now();
};

// best() on OpenMP's team: whether it may. The system's refusal is no error to it.
bool may_use_openmps_team() {
  try {
    return threads::openmp_team_is_ours(pool_size());
  } catch (const error&) {
    return false;
  }
}

// With up to `threads` threads, of whichever kind the caller may use; returns how many. `best` chooses, and takes what it can get.
template <class Fold>
int on_some_threads(const operands<Fold>& what, int threads, bool best, typename Fold::accumulator& value) {
  bool ours = !best && threads::openmp_team_is_ours(pool_size());
  std::unique_lock lock(threads::in_use(), std::defer_lock);
  if (best)
    static_cast<void>(lock.try_lock());  // who has all threads needs them longer than this one needs for its work
  else
    lock.lock();
  const openmps_team team(what.bytes());
  if (best && lock.owns_lock()) ours = team.is_in_use() && may_use_openmps_team();
  bool openmps = ours && (!team.is_late() || tools_see_kokkos());
  if (!openmps) {
    const int had = lock.owns_lock() ? threads::helpers(threads - 1) + 1 : 1;
    openmps = ours && had < threads;  // better late than not at all
    if (!best && !openmps && had < threads && !threads::ending())
      throw error(errc::backend_unavailable, "the system gives this process " + std::to_string(had) + " of " +
                                                 std::to_string(threads) +
                                                 " threads: raise the limit (ulimit -u, the container's), or use serial()");
    if (!openmps) threads = had;
  }
  value = threads == 1 ? what.value(0, what.groups()) : on_threads(what, threads, openmps);
  if (openmps) team.has_served();
  return threads;
}
#endif

}  // namespace

int reduce_fixed_order(const detail::request& what, [[maybe_unused]] int threads) {
  std::uint64_t bits = 0;
  int working = 1;
  if (what.count == 0) {
    bits = detail::empty_result(what.type, what.form, what.wide);
  } else {
    detail::with_fold(what.type, what.form, what.wide, [&]<class Fold>() {
      using E = typename Fold::element;
      operands<Fold> all{static_cast<const E*>(what.input), static_cast<const E*>(what.second), what.count, nullptr};
#ifdef ONEFOLD_HAVE_OPENMP
      working = useful_threads(all, threads);
#endif
      const bool narrow = chosen().narrow != nullptr && narrow_is_faster<Fold>(all.bytes(), working, all.on_cache_line());
      all.kernel = kernel_of<Fold>(narrow ? *chosen().narrow : *chosen().kernels);
      typename Fold::accumulator value;
#ifdef ONEFOLD_HAVE_OPENMP
      if (working > 1)
        working = on_some_threads(all, working, what.best && !tools_see_kokkos(), value);
      else
#endif
        value = all.value(0, all.groups());
      if (what.tree_value != nullptr) std::memcpy(what.tree_value, &value, sizeof(value));
      bits = detail::conclude(detail::conclusion_of(what.type, what.form, what.wide), value, what.count);
    });
  }
  std::memcpy(what.output, &bits, size_of(result_type(what.type, what.form, what.wide)));
  return working;
}

std::string_view fixed_order_implementation() { return chosen().name; }

void check_instruction_set() { static_cast<void>(chosen()); }

}  // namespace onefold::kokkos_backend
