/// @file lane_sums_flags.cpp  See lane_sums.hpp. Compiled once for each set of flags; ONEFOLD_TEST_FLAGS is its name.

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include <onefold/onefold.hpp>

#include "lane_sums.hpp"

namespace onefold_test {

namespace {

#define ONEFOLD_TEXT(name) #name
#define ONEFOLD_TEXT_OF(name) ONEFOLD_TEXT(name)
#define ONEFOLD_JOINED(a, b) a##b
#define ONEFOLD_NAMED(a, b) ONEFOLD_JOINED(a, b)

// Result r of index i. Of one operation at most, so that no flag changes it.
template <std::size_t R, class T>
T value(const two_arrays<T>& of, std::uint64_t i) {
  if constexpr (R == 0)
    return of.x[i];
  else if constexpr (R == 1)
    return of.x[i] * of.y[i];
  else if constexpr (R == 2)
    return i % 3 == 0 ? T(0) : of.x[i];
  else if constexpr (R == 3)
    return -of.y[i];
  else if constexpr (R == 4)
    return i % 2 == 0 ? of.x[i] : of.y[i];
  else
    return of.x[i] * T(R - 4);
}

template <class T, class F>
void store(const onefold::executor& where, std::uint64_t count, bool means, const F& f, T* to) {
  const auto all = means ? onefold::mean(where, count, f) : onefold::sum(where, count, f);
  for (const T one : all) *to++ = one;
}

template <class T, std::size_t... R>
void several(const onefold::executor& where, const two_arrays<T>& of, bool means, T* to, std::index_sequence<R...>) {
  store(
      where, of.count, means, [of](std::uint64_t i) { return std::array<T, sizeof...(R)>{value<R>(of, i)...}; }, to);
}

template <class T>
void sums(const onefold::executor& where, const two_arrays<T>& of, int results, bool means, T* to) {
  const auto product = [of](std::uint64_t i) { return value<1>(of, i); };
  switch (results) {
    case 1:
      *to = means ? onefold::mean(where, of.count, product) : onefold::sum(where, of.count, product);
      break;
    case 2:
      several(where, of, means, to, std::make_index_sequence<2>{});
      break;
    case 5:
      several(where, of, means, to, std::make_index_sequence<5>{});
      break;
    default:
      several(where, of, means, to, std::make_index_sequence<16>{});
      break;
  }
}

std::uint64_t calls(const onefold::executor& where, std::uint64_t count, std::uint64_t fails_at, unsigned char* calls) {
  const auto both = onefold::sum(where, count, [=](std::uint64_t i) {
    ++calls[i];  // no two threads are asked for one index
    if (i == fails_at) throw std::out_of_range("the caller's own");
    return std::array<double, 2>{static_cast<double>(i), 1};
  });
  return static_cast<std::uint64_t>(both[1]);
}

bool can_run() {
#if defined(ONEFOLD_TEST_FUSED) && defined(__x86_64__)
#if defined(__AVX512F__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#elif defined(__FMA__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
#endif
  return true;
}

}  // namespace

extern const flags ONEFOLD_NAMED(flags_, ONEFOLD_TEST_FLAGS) = {
    ONEFOLD_TEXT_OF(ONEFOLD_TEST_FLAGS), can_run, onefold::detail::can_add_rows, sums<float>, sums<double>, calls};

}  // namespace onefold_test
