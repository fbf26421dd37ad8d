#pragma once
/// @file atomic.cuh  An atomic combine for every operator and type: the hardware's own where it has one, else compare-and-swap.

#include <type_traits>

#include <onefold/operators.hpp>

namespace onefold::cuda_backend {

/// Integers of T's size, for the atomics that take no floats.
template <class T>
using unsigned_bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
template <class T>
using signed_bits = std::conditional_t<sizeof(T) == 4, int, long long>;

template <class To, class From>
__device__ inline To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  memcpy(&result, &value, sizeof(To));
  return result;
}

/// Whether atomic_combine is one instruction: the hardware multiplies nothing atomically.
template <class Op>
inline constexpr bool has_native_atomic = !std::is_same_v<Op, op::prod>;

namespace detail {

// Those who lose wait longer each time: without it, every round of N contenders sends N requests for one winner.
template <class Op, class T>
__device__ inline void compare_and_swap(T* address, T value) {
  using bits = unsigned_bits<T>;
  auto* place = reinterpret_cast<bits*>(address);
  bits seen = *const_cast<volatile bits*>(place);
  for (unsigned pause_ns = 32;; pause_ns = pause_ns < 4096 ? 2 * pause_ns : pause_ns) {
    const bits expected = seen;
    seen = atomicCAS(place, expected, bit_cast<bits>(Op::combine(bit_cast<T>(expected), value)));
    if (seen == expected) return;
    __nanosleep(pause_ns);
  }
}

// Floats of one sign are ordered as their bits are, so extrema of floats are integer atomics: signed ones for values without the sign
// bit; for values with it unsigned ones turned round. A NaN is given the sign with which it wins against everything; handing the
// result over makes it canonical.
template <class Op, class T>
__device__ inline void float_extremum(T* address, T value) {
  static_assert(std::is_same_v<Op, op::max> || std::is_same_v<Op, op::min>, "atomic_combine() lists the operators");
  using bits = unsigned_bits<T>;
  constexpr bool maximum = std::is_same_v<Op, op::max>;
  constexpr bits sign = bits{1} << (sizeof(T) * 8 - 1);
  constexpr bits quiet_nan = sizeof(T) == 4 ? bits{0x7fc00000u} : static_cast<bits>(0x7ff8000000000000ull);
  const bits pattern = value == value ? bit_cast<bits>(value) : maximum ? quiet_nan : (quiet_nan | sign);
  auto* as_unsigned = reinterpret_cast<bits*>(address);
  auto* as_signed = reinterpret_cast<signed_bits<T>*>(address);
  if ((pattern & sign) != 0)
    maximum ? atomicMin(as_unsigned, pattern) : atomicMax(as_unsigned, pattern);
  else
    maximum ? atomicMax(as_signed, bit_cast<signed_bits<T>>(pattern)) : atomicMin(as_signed, bit_cast<signed_bits<T>>(pattern));
}

}  // namespace detail

/// *address = *address (+) value as one indivisible step, in global or shared memory. No order, no fence.
/// A float sum in global memory flushes subnormal operands and results to zero: so does the hardware's instruction (PTX ISA, atom).
template <class Op, class T>
__device__ inline void atomic_combine(T* address, T value) {
  using integer = std::conditional_t<std::is_signed_v<T>, signed_bits<T>, unsigned_bits<T>>;
  if constexpr (!has_native_atomic<Op>) {
    detail::compare_and_swap<Op>(address, value);
  } else if constexpr (std::is_same_v<Op, op::sum>) {
    if constexpr (std::is_floating_point_v<T>)
      atomicAdd(address, value);
    else  // two's complement addition is the same for both signs, and there is no signed 64-bit atomicAdd
      atomicAdd(reinterpret_cast<unsigned_bits<T>*>(address), static_cast<unsigned_bits<T>>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    detail::float_extremum<Op>(address, value);
  } else if constexpr (std::is_same_v<Op, op::max>) {
    atomicMax(reinterpret_cast<integer*>(address), static_cast<integer>(value));
  } else {
    static_assert(std::is_same_v<Op, op::min>, "atomic_combine() lists the operators");
    atomicMin(reinterpret_cast<integer*>(address), static_cast<integer>(value));
  }
}

}  // namespace onefold::cuda_backend
