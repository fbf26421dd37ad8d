#include "parallel_reduce.hpp"

#include <Kokkos_Core.hpp>

#include <mutex>
#include <type_traits>

#include <onefold/operators.hpp>

#include "../float_environment.hpp"
#include "../float_semantics.hpp"
#include "../threads/process.hpp"
#include "lifetime.hpp"

namespace onefold::kokkos_backend {

namespace {

// A reducer of our own, because the identities of Kokkos's differ between its versions (its float Min once started at FLT_MAX).
template <class T, class Op>
struct fold {
  using reducer = fold;  // Kokkos looks for these three names
  using value_type = T;
  using result_view_type = Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  T* value;

  void join(T& into, const T& from) const { into = Op::combine(into, from); }
#if KOKKOS_VERSION < 40000
  // Before 4.0 Kokkos joins the threads' values through volatile references.
  void join(volatile T& into, const volatile T& from) const { into = Op::template combine<T>(into, from); }
#endif
  void init(T& x) const { x = Op::template neutral<T>(); }
  T& reference() const { return *value; }
  result_view_type view() const { return result_view_type(value); }
  bool references_scalar() const { return true; }
};

// Left to right. Out of line: inlined beside calls, g++ keeps the running float in an integer register across the loop and moves it
// back and forth, at half the speed.
template <class T, class Op>
[[gnu::noinline]] T fold_range(T value, const T* begin, const T* end) {
  for (const T* x = begin; x != end; ++x) value = Op::combine(value, *x);
  return value;
}

// Part t of `parts` equal parts, in a plain loop with its value in a register. With one element per call of the functor Kokkos's
// reference to the value would be stored to each time, at half the speed; a pool with more threads than parts would take part whole;
// and workers, who inherit the floating-point environment of whoever started them, could not be given the default one.
template <class T, class Op>
struct each_part {
  const T* input;
  std::int64_t count;
  int parts;
  void operator()(std::int64_t t, T& value) const {
    const detail::default_float_environment one_operation_is_one_operation;
    const std::int64_t length = count / parts;
    const std::int64_t longer = count % parts;  // the first parts take one element more
    const std::int64_t begin = t * length + (t < longer ? t : longer);
    const std::int64_t end = begin + length + (t < longer ? 1 : 0);
    value = fold_range<T, Op>(value, input + begin, input + end);
  }
};

struct without_kokkos {};

// One part, as Kokkos::Serial would have it computed.
template <class T, class Op>
T reduce_alone(const T* input, std::int64_t count) {
  T value = Op::template neutral<T>();
  each_part<T, Op>{input, count, 1}(0, value);
  return value;
}

template <class Space, class T, class Op>
T reduce_on(const T* input, std::int64_t count, int threads) {
  using range = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
  std::unique_lock lock(threads::in_use(), std::defer_lock);
#ifdef KOKKOS_ENABLE_SERIAL
  // serial() waits for nobody: where another call has Kokkos it is computed as Kokkos::Serial would.
  if (std::is_same_v<Space, Kokkos::Serial> && !lock.try_lock()) return reduce_alone<T, Op>(input, count);
#endif
  if (!lock.owns_lock()) lock.lock();
  T value = Op::template neutral<T>();
  Kokkos::parallel_reduce("onefold", range(0, threads, Kokkos::ChunkSize(1)), each_part<T, Op>{input, count, threads},
                          fold<T, Op>{&value});
  return value;
}

// Finds the element type and the operator, and calls. Space: an execution space of Kokkos, or without_kokkos.
template <class Space>
void dispatch(element_type type, operation op, const void* input, std::uint64_t count, void* output, int threads) {
  const auto call = [&]<class T, class Op>(T, Op) {
    const auto reduce = [&] {
      const auto* const elements = static_cast<const T*>(input);
      if constexpr (std::is_same_v<Space, without_kokkos>)
        return reduce_alone<T, Op>(elements, static_cast<std::int64_t>(count));
      else
        return reduce_on<Space, T, Op>(elements, static_cast<std::int64_t>(count), threads);
    };
    // n = 0 is the operator's identity, which for a float sum is not the neutral element.
    *static_cast<T*>(output) = count == 0 ? Op::template identity<T>() : detail::canonical(reduce());
  };
  const auto with_type = [&]<class T>(T zero) {
    switch (op) {
#define ONEFOLD_OP(name) \
  case operation::name:  \
    return call(zero, op::name{});
#include <onefold/ops.def>
#undef ONEFOLD_OP
    }
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return with_type(T{});
#include <onefold/types.def>
    default:  // small types are refused
      break;
  }
}

}  // namespace

bool reduce_serial(element_type type, operation op, const void* input, std::uint64_t count, void* output) {
  const bool with_kokkos = !threads::working() && runs();  // whom it works for has Kokkos's threads
  if (with_kokkos)
    dispatch<Kokkos::Serial>(type, op, input, count, output, 1);
  else
    dispatch<without_kokkos>(type, op, input, count, output, 1);
  return with_kokkos;
}

#ifdef ONEFOLD_HAVE_OPENMP
void reduce_openmp(element_type type, operation op, const void* input, std::uint64_t count, void* output, int threads) {
  dispatch<Kokkos::OpenMP>(type, op, input, count, output, threads);
}
#endif

}  // namespace onefold::kokkos_backend
