/// @file gpu_integers.cu  Exact means, norms and variances of functions that give integers, on both sides.

#include "gpu_functions.hpp"

#include <onefold/device.cuh>
#include <onefold/onefold.hpp>

#include <array>
#include <limits>

#include "../support/both_sides.cuh"
#include "gpu_calls.cuh"

namespace onefold_test {

namespace {

template <class T>
void compare_integers(comparison& compare, whole_kind kind, std::uint64_t n, const std::string& type) {
  constexpr std::uint64_t beyond = 16;
  managed_array<T> array(n + beyond);
  std::uint64_t bits = n + 9;
  for (std::uint64_t i = 0; i < n + beyond; ++i) {
    bits = bits * 6364136223846793005U + 1442695040888963407U;
    const bool is_least = (bits >> 40) % 3 == 0;
    array.get()[i] = kind == whole_kind::any ? static_cast<T>(bits >> (64 - 8 * sizeof(T)))
                     : is_least              ? std::numeric_limits<T>::min()
                                             : std::numeric_limits<T>::max();
  }
  const T* const x = array.get();
  const auto exactly = exactly_so();
  const auto moments_of = [&](const char* which, const auto& values) {
    const std::string of = std::string(" of ") + which + " of " + type;
    using moments = decltype(onefold::mean_variance(onefold::serial(), n, values, exactly));
    compare("mean" + of, [&](const auto& where) { return onefold::mean(where, n, values, exactly); });
    compare("mean_into" + of, [&](const auto& where) {
      return stored<double>(where, [&](double* to) { onefold::mean_into(where, n, values, to, exactly); });
    });
    compare("norm2" + of, [&](const auto& where) { return onefold::norm2(where, n, values, exactly); });
    compare("norm2_into" + of, [&](const auto& where) {
      return stored<double>(where, [&](double* to) { onefold::norm2_into(where, n, values, to, exactly); });
    });
    compare("mean_variance" + of, [&](const auto& where) { return onefold::mean_variance(where, n, values, exactly); });
    compare("mean_variance_into" + of, [&](const auto& where) {
      return stored<moments>(where,
                             [&](moments* to) { onefold::mean_variance_into(where, n, values, to, onefold::ddof{1}, exactly); });
    });
  };
  moments_of("all", element_of_array<T>{x});
  for (const std::uint64_t present : {1U, 0U})
    moments_of(present == 0 ? "none" : "some", [=] __host__ __device__(std::uint64_t i) {
      return i % 3 < present ? onefold::maybe<T>(x[i]) : onefold::maybe<T>(onefold::absent);
    });
  const auto three = [=] __host__ __device__(std::uint64_t i) { return std::array<T, 3>{x[i], T(1), x[i + 7]}; };
  if constexpr (sizeof(T) == 8)
    compare("three means of " + type, [&](const auto& where) { return onefold::mean(where, n, three, exactly); });
  else
    compare("three norms of " + type, [&](const auto& where) { return onefold::norm2(where, n, three, exactly); });
  const auto sixteen = [=] __host__ __device__(std::uint64_t i) {
    const T* const at = x + i;
    return std::array<T, 16>{at[0], at[1], at[2],  at[3],  at[4],  at[5],  at[6],  at[7],
                             at[8], at[9], at[10], at[11], at[12], at[13], at[14], at[15]};
  };
  if constexpr (sizeof(T) == 4)
    compare("sixteen means, stored, of " + type, [&](const auto& where) {
      return stored<std::array<double, 16>>(
          where, [&](std::array<double, 16>* to) { onefold::mean_into(where, n, sixteen, to->data(), exactly); });
    });
  else
    compare("sixteen norms of " + type, [&](const auto& where) { return onefold::norm2(where, n, sixteen, exactly); });
}

}  // namespace

std::vector<both_results> exact_integers(whole_kind kind, std::uint64_t count) {
  comparison compare;
  compare_integers<std::int32_t>(compare, kind, count, "i32");
  compare_integers<std::uint32_t>(compare, kind, count, "u32");
  compare_integers<std::int64_t>(compare, kind, count, "i64");
  compare_integers<std::uint64_t>(compare, kind, count, "u64");
  return compare.all;
}

}  // namespace onefold_test
