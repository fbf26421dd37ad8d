#pragma once
/// @file team.hpp  Threads of onefold's own, one team in a process. They serve calls for which OpenMP's team is not to be had, and best().
///
/// The calling thread works too, and waits for no helper that has not begun: what late ones would have done it does itself. So a call never
/// takes much longer than on one thread, however busy the machine is. With OpenMP's team the end of a region waits for all, and two threads
/// that spin on one core wait for the kernel's next tick: 12 to 96 ms for what one thread does in 8 us.

namespace onefold::threads {

/// Starts helpers until there are `wanted`, as far as the system gives them, and returns how many there are, at most `wanted`. None in a forked
/// process, and none once the program's end has begun. They are bound to OpenMP's places where OpenMP binds threads (OMP_PROC_BIND), and
/// else may run where the process may. Requires in_use().
int helpers(int wanted) noexcept;

/// How many there are. Requires in_use().
int helpers_there() noexcept;

/// Lets helpers 1 to `count` call work(context, number) once each, if they come before dismiss(). `work` must not throw. Requires
/// in_use() and helpers(count) == count.
void summon(int count, void (*work)(const void* context, int number), const void* context) noexcept;

/// From here on no helper begins. Waits for those that have begun.
void dismiss() noexcept;

/// A processor's hint that this thread waits for another.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `done()`: at first with pause(), which is quickest, then giving the core to others, one of which may be whom we wait for.
template <class Condition>
void wait_politely(Condition&& done) noexcept;

namespace detail {
/// One step of a wait that has gone on for `steps` steps.
void yield_step(unsigned steps) noexcept;
}  // namespace detail

template <class Condition>
void wait_politely(Condition&& done) noexcept {
  constexpr unsigned spins = 500;  // 10 to 20 us
  for (unsigned steps = 0; !done(); ++steps) {
    if (steps < spins)
      pause();
    else
      detail::yield_step(steps - spins);
  }
}

}  // namespace onefold::threads
