/// @file fixed_order_levels_test.cpp  The kernels of tree v1 compiled at -O0 and at -O3 -march=native, and as the library has them: the same
/// bits from every instruction set and level of optimisation. CMakeLists.txt compiles them again and gives their tables other names.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include <onefold/detail/folds.hpp>

#include "../../backends/cpu/kernels/table.hpp"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"

namespace onefold::cpu {
extern const kernel_table baseline_kernels_plain;  // -O0
extern const kernel_table baseline_kernels_native;
#ifdef ONEFOLD_X86_KERNELS
extern const kernel_table avx2_kernels_plain;
extern const kernel_table avx512_kernels_plain;
#endif
}  // namespace onefold::cpu

namespace onefold_test {
namespace {

using namespace onefold::cpu;

std::vector<std::pair<std::string, const kernel_table*>> tables() {
  std::vector<std::pair<std::string, const kernel_table*>> all{
      {"baseline -O0", &baseline_kernels_plain}, {"baseline -O3", &baseline_kernels_native}, {"baseline", &baseline_kernels}};
#ifdef ONEFOLD_X86_KERNELS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.insert(all.end(), {{"avx2 -O0", &avx2_kernels_plain}, {"avx2", &avx2_kernels}});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    all.insert(all.end(), {{"avx512 -O0", &avx512_kernels_plain}, {"avx512", &avx512_kernels}});
#endif
  return all;
}

using f32 = float;
using f64 = double;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using f16 = onefold::float16;
using bf16 = onefold::bfloat16;

// A table's values for the groups of this input, as bits; every NaN is one, as it is in results.
template <class A>
std::vector<std::uint64_t> values(fold_groups kernel, const void* x, const void* y, std::uint64_t count, input_from from,
                                  std::size_t how_many) {
  std::vector<A> found(how_many, A(0));
  kernel(x, y, count, from, found.data());
  std::vector<std::uint64_t> bits(how_many, 0);
  for (std::size_t i = 0; i < how_many; ++i) {
    if constexpr (std::is_floating_point_v<A>)
      if (std::isnan(found[i])) found[i] = std::numeric_limits<A>::quiet_NaN();
    std::memcpy(&bits[i], &found[i], sizeof(A));
  }
  return bits;
}

// Random bits: all exponents, NaN and infinities among them; and with `tame` floats that do not end in one, subnormal halves among them.
std::vector<std::byte> bytes(std::size_t count, std::size_t element, std::uint64_t seed, bool tame) {
  std::vector<std::byte> all(count * element);
  random_numbers random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = random();
    if (tame && element == 2) bits &= 0xbfff;  // of a half the exponent that is none, of an integer a bit
    if (tame && element == 4) bits = (bits & 0x807fffff) | 0x3f000000;
    if (tame && element == 8) bits = (bits & 0x800fffffffffffff) | 0x3fe0000000000000;
    std::memcpy(all.data() + i * element, &bits, element);
  }
  return all;
}

// What elements consist of.
template <class E>
constexpr std::size_t part_bytes = sizeof(E);
template <class T>
constexpr std::size_t part_bytes<std::complex<T>> = sizeof(T);

// A group has as many elements as if they were of type Row.
template <class E, class A, class Row = E>
void compare(const char* name, fold_groups kernel_table::*which, std::size_t parts) {
  constexpr std::uint64_t group = 65536 / sizeof(Row);
  constexpr std::uint64_t most = (std::is_floating_point_v<E> ? 9 : 2) * group + 4321;  // two for each stream, where there are some
  for (const bool tame : {true, false}) {
    const auto x = bytes(most * (sizeof(E) / part_bytes<E>), part_bytes<E>, current_seed(), tame);
    const auto y = bytes(most * (sizeof(E) / part_bytes<E>), part_bytes<E>, ~current_seed(), tame);
    for (const std::uint64_t count :
         {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{1000}, std::uint64_t{2049}, std::uint64_t{9999}, group, most}) {
      const std::size_t how_many = (count + group - 1) / group * parts;
      const auto all = tables();
      const auto first = values<A>(all[0].second->*which, x.data(), y.data(), count, input_from::caches, how_many);
      for (const auto& [table, kernels] : all)
        for (const input_from from : {input_from::caches, input_from::memory, input_from::memory_in_streams})
          ASSERT_EQ(values<A>(kernels->*which, x.data(), y.data(), count, from, how_many), first)
              << name << " of " << count << (from == input_from::caches ? ": " : " from memory: ") << table << " differs from "
              << all[0].first;
    }
  }
}

TEST(every_level_of_optimisation, gives_the_same_bits) {
#define ONEFOLD_FOLD(E, A, map, op) compare<E, A>(#E " " #A " " #map " " #op, &kernel_table::E##_##A##_##map##_##op, 1);
#include "../../backends/cpu/kernels/folds.def"
  compare<f64, f64>("norm2 f64", &kernel_table::norm2_f64, 3);
  compare<std::complex<f32>, f32>("sum c64", &kernel_table::c64_sum, 2);
  compare<std::complex<f64>, f64>("sum c128", &kernel_table::c128_sum, 2);
  compare<std::complex<f32>, f32>("dot c64", &kernel_table::c64_dot, 2);
  compare<std::complex<f64>, f64>("dot c128", &kernel_table::c128_dot, 2);
  compare<std::complex<f32>, f32>("prod c64", &kernel_table::c64_prod, 2);
  compare<std::complex<f64>, f64>("prod c128", &kernel_table::c128_prod, 2);
  compare<std::complex<f32>, f32, f32>("norm1 c64", &kernel_table::c64_norm1, 1);
  compare<std::complex<f64>, f64, f64>("norm1 c128", &kernel_table::c128_norm1, 1);
  compare<std::complex<f32>, f32, f32>("norm_inf c64", &kernel_table::c64_norm_inf, 1);
  compare<std::complex<f64>, f64, f64>("norm_inf c128", &kernel_table::c128_norm_inf, 1);
#define ONEFOLD_TYPE(E, T)                                                              \
  compare<E, onefold::detail::compared<E>>("minmax " #E, &kernel_table::E##_minmax, 2); \
  compare<E, f64>("mean_variance " #E, &kernel_table::E##_mean_variance, 3);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
}

}  // namespace
}  // namespace onefold_test
