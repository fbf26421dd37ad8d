#pragma once
/// @file fused_fixture.hpp  For calls with functions of the index and operators of the caller's: the CPU executors, results compared by their
/// bits, and tree v1 of any values with any operator.

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "../variants/fixture.hpp"

namespace onefold_test {

/// serial(), openmp() with one, two and all threads, and best(), as far as they can run.
struct cpu_executor {
  std::string label;
  onefold::executor where;
};
[[nodiscard]] inline std::vector<cpu_executor> cpu_executors() {
  std::vector<cpu_executor> all;
  bool openmp = false;
  for (const auto& known : executors()) {
    if (known.where.backend() == onefold::backend::cuda || known.cannot_run) continue;
    all.push_back({known.label, known.where});
    openmp = openmp || known.where.backend() == onefold::backend::openmp;
  }
  if (openmp && backend_under_test(onefold::backend::openmp).threads >= 2) all.push_back({"openmp_2", onefold::openmp(2)});
  all.push_back({"best", onefold::best()});
  return all;
}

class cpu_test : public testing::TestWithParam<cpu_executor> {
 protected:
  [[nodiscard]] const onefold::executor& where() const { return GetParam().where; }
};
[[nodiscard]] inline std::string name_of(const testing::TestParamInfo<cpu_executor>& info) { return info.param.label + "_"; }
inline void PrintTo(const cpu_executor& one, std::ostream* out) { *out << one.label; }

/// Results as their bits, so that -0 is not +0 and a NaN is itself.
template <class T>
std::vector<std::uint64_t> bits_of(const T& value) {
  static_assert(std::is_arithmetic_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return {bits};
}
template <class T>
std::vector<std::uint64_t> bits_of(const onefold::arg_result<T>& both) {
  return {bits_of(both.value)[0], both.index};
}
template <class T>
std::vector<std::uint64_t> bits_of(const onefold::minmax_result<T>& both) {
  return {bits_of(both.min)[0], bits_of(both.max)[0]};
}
template <class T>
std::vector<std::uint64_t> bits_of(const onefold::mean_variance_result<T>& both) {
  return {bits_of(both.mean)[0], bits_of(both.variance)[0]};
}
template <class T, std::size_t K>
std::vector<std::uint64_t> bits_of(const std::array<T, K>& several) {
  std::vector<std::uint64_t> all;
  for (const T& one : several) {
    const auto bits = bits_of(one);
    all.insert(all.end(), bits.begin(), bits.end());
  }
  return all;
}

/// Tree v1 by the words of the page: values of V, of which some may be absent, with an operator. Nothing where all are.
template <class V, class Op>
std::optional<V> tree_v1(const std::vector<std::optional<V>>& values, Op&& op) {
  const auto join = [&](const std::optional<V>& a, const std::optional<V>& b) -> std::optional<V> {
    if (!a) return b;
    if (!b) return a;
    return static_cast<V>(op(*a, *b));
  };
  std::size_t lanes = 1;
  while (2 * lanes * sizeof(V) <= 256) lanes *= 2;
  std::vector<std::optional<V>> level;
  for (std::size_t start = 0; start < values.size(); start += 16 * lanes) {
    std::vector<std::optional<V>> lane(lanes);
    for (std::size_t i = start; i < std::min(values.size(), start + 16 * lanes); ++i)
      lane[(i - start) % lanes] = join(lane[(i - start) % lanes], values[i]);
    for (std::size_t h = lanes / 2; h >= 1; h /= 2)
      for (std::size_t j = 0; j < h; ++j) lane[j] = join(lane[j], lane[j + h]);
    level.push_back(lane[0]);
  }
  while (level.size() > 1) {
    std::vector<std::optional<V>> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? join(level[i], level[i + 1]) : level[i]);
    level = std::move(next);
  }
  return level.empty() ? std::nullopt : level[0];
}
template <class V, class Op>
std::optional<V> tree_v1(const std::vector<V>& values, Op&& op) {
  return tree_v1(std::vector<std::optional<V>>(values.begin(), values.end()), op);
}

/// Any elements, as a vector of their type.
template <class T>
std::vector<T> any_vector(std::size_t count, std::uint64_t seed) {
  const elements data = any_values(onefold::element_type_of<T>, count, seed);
  const auto all = data.as<T>();
  return {all.begin(), all.end()};
}

}  // namespace onefold_test
