#pragma once
/// @file team.hpp  Threads of onefold's own, one team in a process. They serve calls for which OpenMP's team is not to be had, and best().
///
/// The calling thread works too, and waits for no helper that has not begun: what late ones would have done it does itself. So a call never
/// takes much longer than on one thread, however busy the machine is. With OpenMP's team the end of a region waits for all, and two threads
/// that spin on one core wait for the kernel's next tick: 12 to 96 ms for what one thread does in 8 us.

namespace onefold::threads {

/// More there cannot be.
inline constexpr int most_helpers = 0xffff;

/// Starts helpers until there are `wanted`, as far as the system gives them, and returns how many there are, at most `wanted`. None in a forked
/// process, and none once the program's end has begun. They are bound to OpenMP's places where OpenMP binds threads (OMP_PROC_BIND), and
/// else may run where the process may. `lacks_memory` is set where that is why there are fewer. Requires in_use().
int helpers(int wanted, bool* lacks_memory = nullptr) noexcept;

/// How many there are. Requires in_use().
int helpers_there() noexcept;

/// Lets helpers 1 to `count` call work(context, number) once each, if they come before dismiss(). `work` must not throw. Requires
/// in_use() and helpers(count) == count.
void summon(int count, void (*work)(const void* context, int number), const void* context) noexcept;

/// From here on no helper begins. Waits for those that have begun.
void dismiss() noexcept;

}  // namespace onefold::threads
