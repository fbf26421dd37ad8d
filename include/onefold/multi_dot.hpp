#pragma once
/// @file multi_dot.hpp  Dots of several vectors with several others: what Krylov and eigenvalue solvers need at once.
///
///   multi_dot_into(gpu, {v0, v1, v2}, {w}, d_out);          out[i * columns + j] is the dot of v_i with w_j
///   std::vector<double> all = multi_dot(where, {v0, v1}, {w0, w1});
///
///   std::vector<std::vector<double>> basis;                 // as many as there are by now: k of them
///   std::vector<double> h = multi_dot(where, basis, {w});   // the k coefficients of a Gram-Schmidt step
///
/// Vectors   a vector_list each: vectors in braces, a range of vectors, addresses and their number, or the columns of a matrix. float or double, all equally
///           long, in memory that the executor can read. At most 128 dots; of no vectors there is none.
/// Bits      each dot's are those that dot() gives, with guarantee::exact too.
/// Cost      on cuda() one launch and one read of every vector for up to 8 dots with one vector in common, and for up to 4 by 4; more dots are
///           several such launches, and exact ones one each, as are those of vectors in host memory, which each dot copies. On a CPU one read, and
///           the second-level cache for the rest.
/// Memory    a workspace is one for states of 128 bytes (workspace::bytes(n, 128)). Exact: docs/exact.md.
/// Errors, threads, graphs as in reduce.hpp. Over MPI's ranks: mpi.hpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
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

}  // namespace detail

/// Vectors for multi_dot(), as many as are known when the program runs. They are not owned.
template <class T>
class vector_list {
 public:
  /// {v0, v1}: each a range of elements, or {pointer, count}. Calls throw invalid_argument where vectors differ in length.
  vector_list(std::initializer_list<vector_view<T>> each) { take(each); }
  /// A range of vectors: a std::vector<std::vector<T>>, a std::vector<vector_view<T>>.
  template <class R, class V = decltype(*std::begin(std::declval<const R&>())),
            ONEFOLD_WHERE(std::is_convertible_v<V, vector_view<T>>&& std::is_reference_v<V>)>
  vector_list(const R& each) {  // NOLINT(google-explicit-constructor): it is such a list
    take(each);
  }
  /// `number` vectors of `count` elements, whose addresses stand side by side from `first` on.
  vector_list(const T* const* first, std::size_t number, std::uint64_t count) noexcept
      : number_(number), count_(count), other_count_(count) {
    for (std::size_t k = 0; first != nullptr && k < number && k < detail::most_vectors; ++k) places_[k] = first[k];
  }
  /// The columns of a matrix that is stored column after column, each `leading_dimension` elements behind the one before.
  static vector_list columns(const T* matrix, std::uint64_t rows, std::size_t number, std::uint64_t leading_dimension) noexcept {
    vector_list made(nullptr, 0, rows);
    made.number_ = number;
    for (std::size_t k = 0; matrix != nullptr && k < number && k < detail::most_vectors; ++k)
      made.places_[k] = matrix + k * leading_dimension;
    return made;
  }

  /// Number of vectors, and of the elements of each; another number of elements where not all have as many.
  [[nodiscard]] std::size_t size() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t other_count() const noexcept { return other_count_; }
  /// Their addresses. Where there are more than any call takes, these are the first ONEFOLD_MOST_DOTS.
  [[nodiscard]] const void* const* places() const noexcept { return places_.data(); }

 private:
  template <class R>
  void take(const R& vectors) {
    for (const auto& each : vectors) {
      const vector_view<T> view(each);
      if (number_ == 0) count_ = other_count_ = view.size();
      if (view.size() != count_) other_count_ = view.size();
      if (number_ < detail::most_vectors) places_[number_] = view.data();
      ++number_;
    }
  }

  std::size_t number_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t other_count_ = 0;
  std::array<const void*, detail::most_vectors> places_{};
};

namespace detail {

// What C takes, which refuses a number of dots that is none.
template <class T>
onefold_vectors c_vectors(const vector_list<T>& x, const vector_list<T>& y) {
  for (const std::uint64_t other : {x.other_count(), y.count(), y.other_count()})
    if (x.size() > 0 && y.size() > 0 && other != x.count()) throw_different_lengths(x.count(), other);
  const auto number = [](std::size_t of) {
    return static_cast<std::int32_t>(of < std::size_t{INT32_MAX} ? of : std::size_t{INT32_MAX});
  };
  return {x.places(), y.places(), number(x.size()), number(y.size())};
}

template <class T>
void run_multi_dot(const executor& where, const vector_list<T>& x, const vector_list<T>& y, T* output, bool waits,
                   const options& how) {
  if (x.size() == 0 || y.size() == 0) return;  // a basis that has no vector yet
  const onefold_vectors vectors = c_vectors(x, y);
  request what{where, element_type_of<T>, form::dot, nullptr, x.count(), output, waits};
  what.vectors = &vectors;
  run(what, how);
}

template <class T>
std::vector<T> multi_dot_of(const executor& where, const vector_list<T>& x, const vector_list<T>& y, const options& how) {
  const bool are_taken = x.size() <= most_vectors && y.size() <= most_vectors;
  auto results = telling_of_lacking_memory([&x, &y, &are_taken] {
    return std::vector<T>(are_taken ? x.size() * y.size() : x.size() != 0 && y.size() != 0 ? 1 : 0);
  });
  run_multi_dot(where, x, y, results.data(), true, how);
  return results;
}

}  // namespace detail

// Overloads and no template: a list in braces has no type of its own.

[[nodiscard]] inline std::vector<double> multi_dot(const executor& where, const vector_list<double>& x,
                                                   const vector_list<double>& y, const options& how = {}) {
  return detail::multi_dot_of(where, x, y, how);
}
[[nodiscard]] inline std::vector<float> multi_dot(const executor& where, const vector_list<float>& x, const vector_list<float>& y,
                                                  const options& how = {}) {
  return detail::multi_dot_of(where, x, y, how);
}
inline void multi_dot_into(const executor& where, const vector_list<double>& x, const vector_list<double>& y, double* output,
                           const options& how = {}) {
  detail::run_multi_dot(where, x, y, output, false, how);
}
inline void multi_dot_into(const executor& where, const vector_list<float>& x, const vector_list<float>& y, float* output,
                           const options& how = {}) {
  detail::run_multi_dot(where, x, y, output, false, how);
}

}  // namespace onefold
