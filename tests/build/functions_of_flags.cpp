/// @file functions_of_flags.cpp  For hostile_flags: sums of functions of the index beside sums of arrays that hold their values, made by the same code under the
/// same flags: values of one operation, which no flag makes another number wherever it is compiled into. Says whether rows are added here, and fails where a bit differs.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include <onefold/onefold.hpp>

namespace {

template <class T, std::size_t K, class F>
bool agree(const char* what, std::uint64_t count, const F& f) {
  std::array<std::vector<T>, K> values;
  for (auto& each : values) each.resize(count);
  T* to[K];
  for (std::size_t k = 0; k < K; ++k) to[k] = values[k].data();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::array<T, K> here = f(i);
    for (std::size_t k = 0; k < K; ++k) {
      const volatile T stored = here[k];  // so that nothing is made of several values at once
      to[k][i] = stored;
    }
  }
  bool all = true;
  const auto compare = [&](const std::array<T, K>& found, const char* form, const auto& of_array) {
    for (std::size_t k = 0; k < K; ++k) {
      const T expected = of_array(values[k]);
      if (std::memcmp(&found[k], &expected, sizeof(T)) == 0) continue;
      std::printf("%s of %s, result %zu of %zu, %llu indices: %a is not %a\n", form, what, k, K,
                  static_cast<unsigned long long>(count), static_cast<double>(found[k]), static_cast<double>(expected));
      all = false;
    }
  };
  compare(onefold::sum(onefold::serial(), count, f), "sum", [](const auto& x) { return onefold::sum(onefold::serial(), x); });
  compare(onefold::mean(onefold::best(), count, f), "mean", [](const auto& x) { return onefold::mean(onefold::serial(), x); });
  return all;
}

template <class T>
bool agree() {
  constexpr std::uint64_t most = 40'000;
  std::vector<T> x(most), y(most), zeros(most, -T(0));
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < most; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    x[i] = static_cast<T>(static_cast<std::int64_t>(state)) * T(0x1p-50);
    y[i] = static_cast<T>(static_cast<std::int64_t>(state << 20)) * T(0x1p-70);
  }
  bool all = true;
  for (const std::uint64_t count : {1U, 100U, 511U, 512U, 1'024U, 1'600U, 8'192U, 20'000U, 40'000U}) {
    all &= agree<T, 1>("a product", count, [&](std::uint64_t i) { return std::array<T, 1>{x[i] * y[i]}; });
    all &= agree<T, 3>("three values", count, [&](std::uint64_t i) { return std::array<T, 3>{x[i], x[i] * x[i], x[i] * y[i]}; });
    all &= agree<T, 5>("five values", count, [&](std::uint64_t i) {
      const T v = x[i];
      return std::array<T, 5>{v, v * v, v < 0 ? -v : v, v * y[i], v < 0 ? T(0) : v};
    });
    all &= agree<T, 4>("conditions", count, [&](std::uint64_t i) {
      if (x[i] > 1) return std::array<T, 4>{y[i], T(1), x[i] * y[i], T(0)};
      return std::array<T, 4>{x[i] * T(0.1), T(0), x[i] - y[i], x[i] + y[i]};
    });
    all &= agree<T, 2>("zeros", count, [&](std::uint64_t i) { return std::array<T, 2>{zeros[i], i % 3 == 2 ? T(0) : zeros[i]}; });
  }
  return all;
}

// Extrema of values of which some are absent and some no numbers: operators that are spelled out here. Sum and product of values that are absent or not are not:
// they have the elements that change nothing.
template <class T>
bool keep_nan(std::uint64_t first_nan) {
  constexpr std::uint64_t count = 3'000;
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> x(count), there;
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < count; ++i) {
    x[i] = static_cast<T>(first_nan == count ? 0 : static_cast<std::int64_t>(i * 7919 % 2003) - 1000);
    const bits nan = (sizeof(T) == 4 ? bits{0x7fc00123} : static_cast<bits>(0x7ff8000000000123)) | static_cast<bits>(i % 2)
                                                                                                       << (8 * sizeof(T) - 1);
    if (first_nan == count) {  // zeros of both signs alone
      const bits zero = static_cast<bits>(i * 7 % 11 == 3) << (8 * sizeof(T) - 1);
      std::memcpy(&x[i], &zero, sizeof(T));
    }
    if (i >= first_nan && i % 5 == 0) std::memcpy(&x[i], &nan, sizeof(T));
    if (i % 3 == 0) continue;
    there.push_back(x[i]);
    places.push_back(i);
  }
  const auto f = [&x](std::uint64_t i) { return i % 3 == 0 ? onefold::maybe<T>() : onefold::maybe<T>(x[i]); };
  const auto one = onefold::serial();
  const auto same = [](const char* form, T found, T expected) {
    if (std::memcmp(&found, &expected, sizeof(T)) == 0) return true;
    std::printf("%s of values that may be absent, some of them NaN: %a is not %a\n", form, static_cast<double>(found),
                static_cast<double>(expected));
    return false;
  };
  bool all = same("min", onefold::min(one, count, f), onefold::min(one, there));
  all &= same("max", onefold::max(one, count, f), onefold::max(one, there));
  all &= same("min_number", onefold::min_number(one, count, f), onefold::min_number(one, there));
  all &= same("max_number", onefold::max_number(one, count, f), onefold::max_number(one, there));
  const auto both = onefold::minmax(one, count, f), both_there = onefold::minmax(one, there);
  all &= same("minmax", both.min, both_there.min) & same("minmax", both.max, both_there.max);
  const auto least = onefold::argmin(one, count, f), least_there = onefold::argmin(one, there);
  all &= same("argmin", least.value, least_there.value);
  if (least.index != places[least_there.index]) {
    std::printf("argmin of values that may be absent: at %llu, not at %llu\n", static_cast<unsigned long long>(least.index),
                static_cast<unsigned long long>(places[least_there.index]));
    all = false;
  }
  onefold::own_range_state<T, onefold::detail::operator_function<onefold::op::max>> state(0);
  state.add(one, there);
  return all & same("own_range_state", state.value(), onefold::max(one, there));
}

}  // namespace

int main() {
  if (onefold::detail::can_add_rows) std::puts("adds rows");
  const bool floats = agree<float>();
  const bool doubles = agree<double>();
  bool nan = true;
  for (const std::uint64_t first : {0U, 1'000U, 3'000U}) nan = nan & keep_nan<float>(first) & keep_nan<double>(first);
  return floats && doubles && nan ? 0 : 1;
}
