#pragma once
/// @file own_folds.hpp  Folds as a user writes them, for host and device: what own_folds.cu compiles with nvcc, and the test reduces once more
/// by itself.

#include <cstdint>
#include <limits>

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/folds.hpp>
#include <onefold/maybe.hpp>

namespace onefold_test {

#define ONEFOLD_BOTH ONEFOLD_HOST_DEVICE

/// N values of type T that are added side by side, as the type of elements: 12, 16, 24, 40 and 64 bytes.
template <class T, int N>
struct several {
  T of[N];
};

template <class T, int N>
struct side_by_side {
  static constexpr int inputs = 1;
  using element = several<T, N>;
  using value_type = element;
  using accumulator = element;
  using result = element;
  T bias;  // what is given for nothing
  ONEFOLD_BOTH element value(const element& x) const { return x; }
  ONEFOLD_BOTH element combine(const element& a, const element& b) const {
    element sum;
    for (int i = 0; i < N; ++i) sum.of[i] = a.of[i] + b.of[i];
    return sum;
  }
  ONEFOLD_BOTH void conclude(const element* tree, std::uint64_t, result* to) const {
    for (int i = 0; i < N; ++i) to->of[i] = tree == nullptr ? bias : tree->of[i];
  }
};

/// A lambda of a user's over one array: packs, and the neutral element of a sum.
template <class F>
struct mapped_sum {
  static constexpr int inputs = 1;
  static constexpr bool has_neutral = true;
  using element = float;
  using value_type = float;
  using accumulator = float;
  using result = float;
  F f;
  ONEFOLD_BOTH float value(float x) const { return f(x); }
  ONEFOLD_BOTH float combine(float a, float b) const { return onefold::op::sum::combine(a, b); }
  ONEFOLD_BOTH float neutral() const { return onefold::op::sum::neutral<float>(); }
  ONEFOLD_BOTH void conclude(const float* tree, std::uint64_t, float* to) const { *to = tree == nullptr ? 0.0f : *tree; }
};

struct doubled_and_one {
  ONEFOLD_BOTH float operator()(float x) const { return onefold::detail::rounded_add(onefold::detail::rounded_add(x, x), 1.0f); }
};

/// What a function of the index is made of in these tests: some numbers of both signs, from memory of the executor's.
struct sum_of_index {
  static constexpr int inputs = 0;
  using value_type = double;
  using accumulator = double;
  using result = double;
  const double* x;
  const double* y;
  ONEFOLD_BOTH double value(std::uint64_t i) const { return onefold::detail::rounded_multiply(x[i], y[i]); }
  ONEFOLD_BOTH double combine(double a, double b) const { return onefold::detail::rounded_add(a, b); }
  ONEFOLD_BOTH void conclude(const double* tree, std::uint64_t, double* to) const { *to = tree == nullptr ? 0.25 : *tree; }
};

/// Leaves out all that do not lie above a bound.
struct filtered_sum {
  static constexpr int inputs = 1;
  static constexpr bool has_neutral = true;
  using element = double;
  using value_type = double;
  using accumulator = double;
  using result = double;
  double above;
  ONEFOLD_BOTH onefold::maybe<double> value(double x) const { return x > above ? onefold::maybe<double>(x) : onefold::absent; }
  ONEFOLD_BOTH double combine(double a, double b) const { return onefold::detail::rounded_add(a, b); }
  ONEFOLD_BOTH double neutral() const { return -0.0; }
  ONEFOLD_BOTH void conclude(const double* tree, std::uint64_t, double* to) const { *to = tree == nullptr ? -1.0 : *tree; }
};

/// Three arrays of different types.
struct mixed_sum {
  static constexpr int inputs = 3;
  template <int K>
  using input = std::conditional_t<K == 0, float, std::conditional_t<K == 1, double, std::int32_t>>;
  using value_type = double;
  using accumulator = double;
  using result = double;
  ONEFOLD_BOTH double value(float x, double y, std::int32_t z) const {
    return onefold::detail::rounded_add(onefold::detail::rounded_multiply(static_cast<double>(x), y), static_cast<double>(z));
  }
  ONEFOLD_BOTH double combine(double a, double b) const { return onefold::detail::rounded_add(a, b); }
  ONEFOLD_BOTH void conclude(const double* tree, std::uint64_t, double* to) const { *to = tree == nullptr ? 0.0 : *tree; }
};

/// Two arrays whose elements often lie better than their type promises: 8 bytes, on boundaries of 4.
struct product_of_pairs {
  static constexpr int inputs = 2;
  using element = several<float, 2>;
  using value_type = float;
  using accumulator = float;
  using result = float;
  ONEFOLD_BOTH float value(const element& x, const element& y) const {
    return onefold::detail::rounded_add(onefold::detail::rounded_multiply(x.of[0], y.of[0]),
                                        onefold::detail::rounded_multiply(x.of[1], y.of[1]));
  }
  ONEFOLD_BOTH float combine(float a, float b) const { return onefold::detail::rounded_add(a, b); }
  ONEFOLD_BOTH void conclude(const float* tree, std::uint64_t, float* to) const { *to = tree == nullptr ? 0.0f : *tree; }
};

/// The first place of the least of the values that are not left out: lanes that are no accumulators, and a result of two parts.
struct filtered_argmin {
  using least = onefold::detail::arg_fold<float, onefold::op::min>;
  static constexpr int inputs = 0;
  static constexpr bool is_plain = false;
  using value_type = float;
  using lane = least::lane;
  using accumulator = least::accumulator;
  struct result {
    float value;
    std::uint64_t index;
  };
  const float* x;
  float above;
  ONEFOLD_BOTH onefold::maybe<float> value(std::uint64_t i) const {
    return x[i] > above ? onefold::maybe<float>(x[i]) : onefold::absent;
  }
  ONEFOLD_BOTH lane first(float v, int row) const {
    lane begun = least::first(v);
    begun.row = row;
    return begun;
  }
  ONEFOLD_BOTH lane next(const lane& so_far, float v, int row) const { return least::next(so_far, v, row); }
  ONEFOLD_BOTH accumulator close(const lane& of, int rows, std::uint64_t index, int lanes) const {
    return least::close(of, rows, index, lanes);
  }
  ONEFOLD_BOTH accumulator combine(const accumulator& a, const accumulator& b) const { return least::combine(a, b); }
  ONEFOLD_BOTH void conclude(const accumulator* tree, std::uint64_t, result* to) const {
    *to = tree == nullptr ? result{-1.0f, ~std::uint64_t{0}} : result{tree->value, tree->index};
  }
};

/// Values of one byte, with 256 lanes.
struct bytes_together {
  static constexpr int inputs = 1;
  using element = std::uint8_t;
  using value_type = std::uint8_t;
  using accumulator = std::uint8_t;
  using result = std::uint8_t;
  ONEFOLD_BOTH std::uint8_t value(std::uint8_t x) const { return x; }
  ONEFOLD_BOTH std::uint8_t combine(std::uint8_t a, std::uint8_t b) const { return static_cast<std::uint8_t>(a * 5 + b * 5 + 7); }
  ONEFOLD_BOTH void conclude(const std::uint8_t* tree, std::uint64_t, std::uint8_t* to) const { *to = tree == nullptr ? 3 : *tree; }
};

/// A state that is larger than what kernels for few tiles hold: a histogram.
struct counted {
  static constexpr int bins = 40;
  static constexpr int inputs = 1;
  static constexpr bool has_neutral = true;
  using element = std::uint64_t;
  using value_type = std::uint64_t;
  struct accumulator {
    std::uint64_t of[bins];
  };
  static constexpr bool is_plain = false;
  using lane = accumulator;
  using result = accumulator;
  ONEFOLD_BOTH std::uint64_t value(std::uint64_t x) const { return x; }
  ONEFOLD_BOTH lane first(std::uint64_t v) const {
    lane one = neutral();
    ++one.of[v % bins];
    return one;
  }
  ONEFOLD_BOTH lane next(lane so_far, std::uint64_t v, int) const {
    ++so_far.of[v % bins];
    return so_far;
  }
  ONEFOLD_BOTH accumulator close(const lane& of, int, std::uint64_t, int) const { return of; }
  ONEFOLD_BOTH accumulator combine(const accumulator& a, const accumulator& b) const {
    accumulator sum;
    for (int i = 0; i < bins; ++i) sum.of[i] = a.of[i] + b.of[i];
    return sum;
  }
  ONEFOLD_BOTH accumulator neutral() const {
    accumulator none;
    for (int i = 0; i < bins; ++i) none.of[i] = 0;
    return none;
  }
  ONEFOLD_BOTH void conclude(const accumulator* tree, std::uint64_t, result* to) const {
    *to = tree == nullptr ? neutral() : *tree;
  }
};

/// In own_folds.cu, for each of the folds above.
template <class Fold>
onefold::detail::device_fold device_fold_of(const Fold& fold, const void* x, const void* y, const void* z);

/// Calls body(Fold) for each kind of fold.
#define ONEFOLD_FOR_EACH_OWN_FOLD(body)                                                                                          \
  body((side_by_side<float, 3>)) body((side_by_side<double, 2>)) body((side_by_side<double, 3>)) body((side_by_side<double, 5>)) \
      body((side_by_side<double, 8>)) body((mapped_sum<doubled_and_one>)) body((sum_of_index)) body((filtered_sum))              \
          body((mixed_sum)) body((product_of_pairs)) body((filtered_argmin)) body((bytes_together)) body((counted))

}  // namespace onefold_test
