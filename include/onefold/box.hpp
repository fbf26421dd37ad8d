#pragma once
/// @file box.hpp  What a function of the index is reduced over: 0 .. n - 1, or a box of two or three coordinates.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <onefold/detail/any_side.hpp>
#include <onefold/error.hpp>
#include <onefold/operators.hpp>

namespace onefold {

/// begin, begin + 1, .., end - 1; nothing where end <= begin, as in a loop. Errors: invalid_argument (a bound without a sign that is 2^63 or more).
struct interval {
  std::int64_t begin;
  std::int64_t end;
  /// 0 .. n - 1
  template <class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
  constexpr interval(N n) : begin(0), end(bound(n)) {}
  template <class B, class E, std::enable_if_t<std::is_integral_v<B> && std::is_integral_v<E>, int> = 0>
  constexpr interval(B first, E behind_last) : begin(bound(first)), end(bound(behind_last)) {}

  [[nodiscard]] constexpr std::uint64_t size() const noexcept {
    return end > begin ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) : 0;
  }

 private:
  template <class N>
  static constexpr std::int64_t bound(N n) {
    if constexpr (std::is_unsigned_v<N> && sizeof(N) == sizeof(std::int64_t)) {
      if (n > static_cast<N>(INT64_MAX))
        detail::telling_of_lacking_memory(
            [] { throw error(errc::invalid_argument, "a bound of a box is a negative number without its sign"); });
    }
    return static_cast<std::int64_t>(n);
  }
};

/// All (i) or (j, i) or (k, j, i), the last coordinate fastest. Made by box().
template <int Rank>
struct index_box {
  std::int64_t begin[std::size_t{Rank}];
  std::uint64_t extent[std::size_t{Rank}];
  std::uint64_t count;  ///< product of the extents

  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return count; }
};

namespace detail {

template <int Rank>
index_box<Rank> make_box(const interval (&of)[std::size_t{Rank}]) {
  index_box<Rank> made{};
  made.count = 1;
  for (int d = 0; d < Rank; ++d) {
    made.begin[d] = of[d].begin;
    made.extent[d] = of[d].size();
    if (made.extent[d] == 0) made.count = 0;
  }
  for (int d = 0; d < Rank && made.count > 0; ++d) {
    if (made.count > (std::uint64_t{1} << 62) / made.extent[d])
      telling_of_lacking_memory([] {
        throw error(errc::invalid_argument, "a box of more than 2^62 indices cannot be: is one of its bounds a negative number?");
      });
    made.count *= made.extent[d];
  }
  return made;
}

}  // namespace detail

/// The box of all (j, i): `box(nj, ni)` begins at 0, `box({j0, j1}, {i0, i1})` at (j0, i0), so that the interior of an array with ghost layers
/// needs no division. Errors: invalid_argument (more than 2^62 indices).
inline index_box<2> box(interval j, interval i) { return detail::make_box<2>({j, i}); }
/// The box of all (k, j, i).
inline index_box<3> box(interval k, interval j, interval i) { return detail::make_box<3>({k, j, i}); }

namespace detail {

/// 0 .. n - 1, given to a function as a std::uint64_t.
struct index_line {
  std::uint64_t count;
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return count; }
};

template <class S>
struct is_index_box : std::false_type {};
template <>
struct is_index_box<index_line> : std::true_type {};
template <int Rank>
struct is_index_box<index_box<Rank>> : std::true_type {};

/// What may stand where an array stands in a call that takes a function of the index.
template <class S>
inline constexpr bool is_index_space = (std::is_integral_v<S> && !std::is_same_v<S, bool>) || is_index_box<S>::value;

template <class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
constexpr index_line as_space(N n) {
  if constexpr (std::is_signed_v<N>) {
    if (n < 0) telling_of_lacking_memory([] { throw error(errc::invalid_argument, "the number of indices is negative"); });
  }
  return {static_cast<std::uint64_t>(n)};
}
constexpr index_line as_space(const index_line& of) { return of; }
template <int Rank>
constexpr const index_box<Rank>& as_space(const index_box<Rank>& of) {
  return of;
}

// f at the index with number `i` of a space.

ONEFOLD_ANY_SIDE
template <class F>
ONEFOLD_HOST_DEVICE decltype(auto) call_at(F& f, const index_line&, std::uint64_t i) {
  return f(i);
}
ONEFOLD_ANY_SIDE
template <class F>
ONEFOLD_HOST_DEVICE decltype(auto) call_at(F& f, const index_box<2>& in, std::uint64_t i) {
  const std::uint64_t row = i / in.extent[1];
  return f(in.begin[0] + static_cast<std::int64_t>(row), in.begin[1] + static_cast<std::int64_t>(i - row * in.extent[1]));
}
ONEFOLD_ANY_SIDE
template <class F>
ONEFOLD_HOST_DEVICE decltype(auto) call_at(F& f, const index_box<3>& in, std::uint64_t i) {
  const std::uint64_t row = i / in.extent[2];
  const std::uint64_t plane = row / in.extent[1];
  return f(in.begin[0] + static_cast<std::int64_t>(plane), in.begin[1] + static_cast<std::int64_t>(row - plane * in.extent[1]),
           in.begin[2] + static_cast<std::int64_t>(i - row * in.extent[2]));
}

// The indices with the numbers first .. first + count - 1, row by row: at(f)(c) is f at the index with number first + done() + c for
// c < length(). There is no division within a row, so that compilers can make vector code of it; and no conversion, behind which g++ sees no steps:
// length(), and with it c, is of the type of f's last coordinate. An object with a loop around it and no function that is called for each row: what
// that function would hold, a __restrict pointer too, is one of many to g++.

template <class Space>
class rows_of;

template <>
class rows_of<index_line> {
 public:
  using index = std::uint64_t;
  rows_of(const index_line&, std::uint64_t first, std::uint64_t count) : first_(first), count_(count) {}
  [[nodiscard]] bool more() const { return done_ < count_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] index length() const { return count_; }
  template <class F>
  auto at(F& f) const {
    return [&f, first = first_](std::uint64_t c) -> decltype(auto) { return f(first + c); };
  }
  void next() { done_ = count_; }

 private:
  std::uint64_t first_, count_, done_ = 0;
};

template <int Rank>
class rows_of<index_box<Rank>> {
 public:
  using index = std::int64_t;
  rows_of(const index_box<Rank>& in, std::uint64_t first, std::uint64_t count)
      : in_(in), count_(count), line_(first / in.extent[Rank - 1]), column_(first - line_ * in.extent[Rank - 1]) {}
  [[nodiscard]] bool more() const { return done_ < count_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] index length() const {
    const std::uint64_t row = in_.extent[Rank - 1] - column_;
    const std::uint64_t left = count_ - done_;
    return static_cast<index>(row < left ? row : left);
  }
  template <class F>
  auto at(F& f) const {
    const std::int64_t i = in_.begin[Rank - 1] + static_cast<std::int64_t>(column_);
    if constexpr (Rank == 2) {
      const std::int64_t j = in_.begin[0] + static_cast<std::int64_t>(line_);
      return [&f, j, i](std::int64_t c) -> decltype(auto) { return f(j, i + c); };
    } else {
      const std::uint64_t plane = line_ / in_.extent[1];
      const std::int64_t k = in_.begin[0] + static_cast<std::int64_t>(plane);
      const std::int64_t j = in_.begin[1] + static_cast<std::int64_t>(line_ - plane * in_.extent[1]);
      return [&f, k, j, i](std::int64_t c) -> decltype(auto) { return f(k, j, i + c); };
    }
  }
  void next() {
    done_ += static_cast<std::uint64_t>(length());
    ++line_;
    column_ = 0;
  }

 private:
  const index_box<Rank>& in_;
  std::uint64_t count_, line_, column_, done_ = 0;
};

// The same with a function: row(done, length, at).
template <class F, class Space, class Row>
void for_rows(F& f, const Space& in, std::uint64_t first, std::uint64_t count, const Row& row) {
  for (rows_of<Space> rows(in, first, count); rows.more(); rows.next()) row(rows.done(), rows.length(), rows.at(f));
}

template <class Space, class F>
struct value_at;
template <class F>
struct value_at<index_line, F> : std::invoke_result<F&, std::uint64_t> {};
template <class F>
struct value_at<index_box<2>, F> : std::invoke_result<F&, std::int64_t, std::int64_t> {};
template <class F>
struct value_at<index_box<3>, F> : std::invoke_result<F&, std::int64_t, std::int64_t, std::int64_t> {};
/// What f gives for an index of the space.
template <class Space, class F>
using value_at_t = std::decay_t<typename value_at<Space, F>::type>;

template <class S>
using space_of = std::decay_t<decltype(as_space(std::declval<const S&>()))>;

}  // namespace detail
}  // namespace onefold
