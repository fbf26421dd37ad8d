#pragma once
/// @file multi_dot.hpp  Dots of several vectors with several others: what Krylov and eigenvalue solvers need at once.
///
///   multi_dot_into(gpu, {v0, v1, v2}, {w}, d_out);          out[i * columns + j] is the dot of v_i with w_j
///   std::vector<double> all = multi_dot(where, {v0, v1}, {w0, w1});
///
/// Vectors   ranges, or pointers and a count; float or double, all equally long, in memory that the executor can read. At most 128 dots.
/// Bits      each dot's are those that dot() gives, with guarantee::exact too.
/// Cost      on cuda() one launch and one read of every vector for up to 8 dots with one vector in common, and for up to 4 by 4; more dots are
///           several such launches, and exact ones one each, as are those of vectors in host memory, which each dot copies. On a CPU one read, and
///           the second-level cache for the rest.
/// Memory    a workspace is one for states of 128 bytes (workspace::bytes(n, 128)). Exact: docs/exact.md.
/// Errors, threads, graphs as in reduce.hpp.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <onefold/reduce.hpp>

namespace onefold {

/// A vector for multi_dot(): any range of elements, or a pointer and a count.
template <class T>
class vector_view {
 public:
  vector_view(const T* data, std::uint64_t count) noexcept : data_(data), count_(count) {}
  template <class R, ONEFOLD_WHERE(std::is_same_v<detail::element_of<const R>, T>)>
  vector_view(const R& range) : vector_view(detail::view_of(range).data, detail::view_of(range).count) {}  // NOLINT: as a span

  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return count_; }

 private:
  const T* data_;
  std::uint64_t count_;
};

namespace detail {

inline constexpr std::size_t most_vectors = ONEFOLD_MOST_DOTS;

// The vectors' places; `count` becomes their length, or must be it. Too many are left away: what is told of their number refuses them.
template <class T>
void put_places(std::initializer_list<vector_view<T>> vectors, std::array<const void*, most_vectors>& places, bool is_first,
                std::uint64_t& count) {
  std::size_t k = 0;
  for (const vector_view<T>& each : vectors) {
    if (is_first && k == 0) count = each.size();
    if (each.size() != count) throw_different_lengths(count, each.size());
    if (k < most_vectors) places[k] = each.data();
    ++k;
  }
}

template <class T>
void run_multi_dot(const executor& where, std::initializer_list<vector_view<T>> x, std::initializer_list<vector_view<T>> y,
                   T* output, bool waits, const options& how) {
  std::array<const void*, most_vectors> of_x{};
  std::array<const void*, most_vectors> of_y{};
  std::uint64_t count = 0;
  put_places(x, of_x, true, count);
  put_places(y, of_y, false, count);
  const onefold_vectors vectors{of_x.data(), of_y.data(), static_cast<std::int32_t>(x.size()), static_cast<std::int32_t>(y.size())};
  request what{where, element_type_of<T>, form::dot, nullptr, count, output, waits};
  what.vectors = &vectors;
  run(what, how);
}

template <class T>
std::vector<T> multi_dot_of(const executor& where, std::initializer_list<vector_view<T>> x, std::initializer_list<vector_view<T>> y,
                            const options& how) {
  auto results = telling_of_lacking_memory([&x, &y] { return std::vector<T>(x.size() * y.size()); });
  run_multi_dot(where, x, y, results.data(), true, how);
  return results;
}

}  // namespace detail

// Overloads and no template: a list in braces has no type of its own.

[[nodiscard]] inline std::vector<double> multi_dot(const executor& where, std::initializer_list<vector_view<double>> x,
                                                   std::initializer_list<vector_view<double>> y, const options& how = {}) {
  return detail::multi_dot_of(where, x, y, how);
}
[[nodiscard]] inline std::vector<float> multi_dot(const executor& where, std::initializer_list<vector_view<float>> x,
                                                  std::initializer_list<vector_view<float>> y, const options& how = {}) {
  return detail::multi_dot_of(where, x, y, how);
}
inline void multi_dot_into(const executor& where, std::initializer_list<vector_view<double>> x,
                           std::initializer_list<vector_view<double>> y, double* output, const options& how = {}) {
  detail::run_multi_dot(where, x, y, output, false, how);
}
inline void multi_dot_into(const executor& where, std::initializer_list<vector_view<float>> x,
                           std::initializer_list<vector_view<float>> y, float* output, const options& how = {}) {
  detail::run_multi_dot(where, x, y, output, false, how);
}

}  // namespace onefold
