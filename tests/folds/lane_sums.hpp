#pragma once
/// @file lane_sums.hpp  Sums of functions of the index, compiled several times, each with other flags (tests/CMakeLists.txt).

#include <cstdint>

#include <onefold/executor.hpp>

namespace onefold_test {

/// What the functions read: two arrays, and how many of their elements.
template <class T>
struct two_arrays {
  const T* x;
  const T* y;
  std::uint64_t count;
};

/// Of a function that throws nowhere.
inline constexpr std::uint64_t at_no_index = ~std::uint64_t{0};

/// The sums, or the means, of the first `results` values of functions of i, whatever the flags: x, x y, 0 or x, -y, x or y, then x times 1, 2, ..; of one
/// result x y alone. results is 1, 2, 5 or 16.
template <class T>
using sums_of_values = void (*)(const onefold::executor& where, const two_arrays<T>& of, int results, bool means, T* to);

/// One set of flags.
struct flags {
  const char* name;
  bool (*can_run)();
  bool adds_rows;
  sums_of_values<float> f32;
  sums_of_values<double> f64;
  /// How many indices there are, as a sum of ones beside another sum. calls[i] says how often a value was asked for; that at fails_at is a std::out_of_range.
  std::uint64_t (*count_calls)(const onefold::executor& where, std::uint64_t count, std::uint64_t fails_at, unsigned char* calls);
};

#define ONEFOLD_FLAGS(name) extern const flags flags_##name;
ONEFOLD_FLAGS(plain)
#ifdef ONEFOLD_TEST_FUSED
ONEFOLD_FLAGS(fused)
ONEFOLD_FLAGS(hostile)
ONEFOLD_FLAGS(avx512)
#endif
#undef ONEFOLD_FLAGS

}  // namespace onefold_test
