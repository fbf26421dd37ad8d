#pragma once
/// @file fold_loops.hpp  The reductions of the studies `folds` and `calls` as a user writes them: with onefold, and as loops by hand. Compiled once for each
/// instruction set, as users compile theirs, functions of the index that onefold is given too.

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

#include <onefold/types.hpp>

namespace onefold::perf {

enum class fold_case {
  argmin,
  argmax,
  minmax,
  mean_variance,
  together,
  lambda,
  three_arrays,
  filter,
  box,
  own_operator,
  argminmax,
  count,
  all,
  sum,
  max,
  dot,
  several,
  short_rows,
  prod,
  norm1,
  norm_inf
};

inline constexpr std::array fold_case_names = {"argmin",       "argmax", "minmax",  "mean_variance", "together",  "lambda",
                                               "three_arrays", "filter", "box",     "own_operator",  "argminmax", "count",
                                               "all",          "sum",    "max",     "dot",           "several",   "short_rows",
                                               "prod",         "norm1",  "norm_inf"};

constexpr const char* name(fold_case which) { return fold_case_names[static_cast<std::size_t>(which)]; }

/// Whether elements of this type are timed in this case: sums, dots and extrema of floats and doubles are the study `cpu`'s.
constexpr bool is_timed(fold_case which, element_type type) {
  const bool is_small =
      type == element_type::i8 || type == element_type::u8 || type == element_type::f16 || type == element_type::bf16;
  const bool of_complex = which == fold_case::prod || which == fold_case::norm1 || which == fold_case::norm_inf;
  if (is_complex(type)) return of_complex || which == fold_case::sum || which == fold_case::dot;
  if (of_complex) return false;
  if (!is_small && type != element_type::f32 && type != element_type::f64) return false;
  switch (which) {
    case fold_case::dot:
    case fold_case::sum:
      return is_small;
    case fold_case::max:
      return type == element_type::i8 || type == element_type::f16;
    case fold_case::all:
      return type == element_type::u8;
    case fold_case::count:
      return !is_small || type == element_type::u8;
    default:
      return !is_small;
  }
}

/// What own_operator reduces: an interval, or a rectangle, of 16 bytes.
template <class T>
struct extent_of {
  static constexpr int dimensions = 8 / sizeof(T);
  T low[dimensions], high[dimensions];
};

/// What is reduced.
template <class T>
struct fold_data {
  const T* x;      ///< of a box the first element within the ghost layers; own_operator: the numbers of all extents, side by side
  const T *y, *z;  ///< y: dot and three_arrays; z: three_arrays
  std::uint64_t count;                  ///< own_operator: of extents
  std::int64_t columns = 0, pitch = 0;  ///< of a box: of count / columns rows, and from one to the next
};

/// What comes out, so that the numbers of all can be compared: those that a case does not have are 0.
struct fold_answer {
  double of[5];
  friend bool operator==(const fold_answer&, const fold_answer&) = default;
};

/// One way to do it.
template <class T>
struct fold_way {
  const char* name;
  fold_answer (*run)(const fold_data<T>& of, int threads);
};

/// The ways of a case: onefold, perhaps what onefold calls by name and has the same bits (null where there is none), and loops by hand.
template <class T>
struct fold_ways {
  fold_way<T> onefold, built_in;
  const fold_way<T>* by_hand;
  int hands;
};

/// Small calls, `calls` of them one behind the other on the same elements. Their values' sum comes back.
struct call_loops {
  double (*sum)(const double* x, std::uint64_t count, int calls);
  double (*dot)(const double* x, const double* y, std::uint64_t count, int calls);
};

/// What was compiled for one instruction set.
struct fold_set {
  const char* instruction_set;
  fold_ways<float> (*f32)(fold_case which);
  fold_ways<double> (*f64)(fold_case which);
  fold_ways<std::int8_t> (*i8)(fold_case which);
  fold_ways<std::uint8_t> (*u8)(fold_case which);
  fold_ways<float16> (*f16)(fold_case which);
  fold_ways<bfloat16> (*bf16)(fold_case which);
  fold_ways<std::complex<float>> (*c64)(fold_case which);
  fold_ways<std::complex<double>> (*c128)(fold_case which);
  call_loops calls;
};

/// The widest that this machine has.
const fold_set& fold_set_of_this_machine();

#define ONEFOLD_FOLD_SET(set) \
  namespace set {             \
  const fold_set& folds();    \
  }
ONEFOLD_FOLD_SET(baseline)
#ifdef ONEFOLD_PEERS_X86
ONEFOLD_FOLD_SET(avx2)
ONEFOLD_FOLD_SET(avx512)
#endif
#undef ONEFOLD_FOLD_SET

}  // namespace onefold::perf
