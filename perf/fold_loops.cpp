/// @file fold_loops.cpp  See fold_loops.hpp. Compiled once for each instruction set (peers.cmake); ONEFOLD_PEERS_NAME says for which.

#include "fold_loops.hpp"

#ifdef __F16C__
#include <immintrin.h>
#endif

#include <array>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

#include <onefold/onefold.hpp>

namespace onefold::perf::ONEFOLD_PEERS_NAME {

namespace {

#define ONEFOLD_TEXT(name) #name
#define ONEFOLD_TEXT_OF(name) ONEFOLD_TEXT(name)

// A loop over i with one thread or with several. They are two, because a parallel region of one thread costs what it would with more.
#define ONEFOLD_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define ONEFOLD_SIMD_LOOP(clauses, ...)                                \
  if (threads == 1) {                                                  \
    ONEFOLD_PRAGMA(omp simd clauses)                                   \
    for (std::uint64_t i = 0; i < n; ++i) __VA_ARGS__                  \
  } else {                                                             \
    ONEFOLD_PRAGMA(omp parallel for simd num_threads(threads) clauses) \
    for (std::uint64_t i = 0; i < n; ++i) __VA_ARGS__                  \
  }

executor with(int threads) { return threads == 1 ? serial() : openmp(threads); }

template <class T>
T lesser(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T greater(T a, T b) {
  return a < b ? b : a;
}

// --- argmin and argmax -------------------------------------------------------------------------------------------

// argmax is argmin with the comparison turned round.
template <bool Least, class T>
bool is_ahead(T a, T b) {
  return Least ? a < b : b < a;
}

template <bool Least, class T>
fold_answer arg_onefold(const fold_data<T>& of, int threads) {
  const auto found = [&] {
    if constexpr (Least)
      return argmin(with(threads), of.x, of.count);
    else
      return argmax(with(threads), of.x, of.count);
  }();
  return {{static_cast<double>(found.value), static_cast<double>(found.index)}};
}

template <bool Least, class T>
T extreme(const T* x, std::uint64_t n, int threads) {
  T best = x[0];
  if constexpr (Least) {
    ONEFOLD_SIMD_LOOP(reduction(min : best), { best = x[i] < best ? x[i] : best; })
  } else {
    ONEFOLD_SIMD_LOOP(reduction(max : best), { best = best < x[i] ? x[i] : best; })
  }
  return best;
}

// The value first, with vectors; then where it stands: the array is read once, and up to there again.
template <bool Least, class T>
fold_answer arg_twice(const fold_data<T>& of, int threads) {
  const T best = extreme<Least>(of.x, of.count, threads);
  std::uint64_t at = 0;
  while (of.x[at] != best) ++at;
  return {{static_cast<double>(best), static_cast<double>(at)}};
}

// The same for a block that stays in the first-level cache: the array is read once.
constexpr std::uint64_t arg_block = 2048;

template <bool Least, class T>
struct place {
  T value;
  std::uint64_t index;  // of the block's begin, until find()

  static place of_block(const T* x, std::uint64_t begin, std::uint64_t n) { return {extreme<Least>(x + begin, n, 1), begin}; }
  void take(const place& other) {
    if (is_ahead<Least>(other.value, value) || (other.value == value && other.index < index)) *this = other;
  }
  void find(const T* x) {
    while (x[index] != value) ++index;
  }
};

template <class Best, class T>
Best best_of_blocks(const T* x, std::uint64_t begin, std::uint64_t end) {
  Best best = Best::of_block(x, begin, 1);
  for (std::uint64_t block = begin; block < end; block += arg_block)
    best.take(Best::of_block(x, block, end - block < arg_block ? end - block : arg_block));
  return best;
}

template <class Best, class T>
Best find_by_blocks(const fold_data<T>& of, int threads) {
  Best best = Best::of_block(of.x, 0, 1);
  if (threads == 1) {
    best = best_of_blocks<Best>(of.x, 0, of.count);
  } else {
    const std::uint64_t share = (of.count / static_cast<std::uint64_t>(threads) + arg_block) / arg_block * arg_block;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (std::uint64_t begin = 0; begin < of.count; begin += share) {
      const auto own = best_of_blocks<Best>(of.x, begin, begin + share < of.count ? begin + share : of.count);
#pragma omp critical(onefold_perf_arg)
      best.take(own);
    }
  }
  best.find(of.x);
  return best;
}

template <bool Least, class T>
fold_answer arg_by_blocks(const fold_data<T>& of, int threads) {
  const auto best = find_by_blocks<place<Least, T>>(of, threads);
  return {{static_cast<double>(best.value), static_cast<double>(best.index)}};
}

// --- several results ---------------------------------------------------------------------------------------------

template <class T>
fold_answer minmax_onefold(const fold_data<T>& of, int threads) {
  const auto [low, high] = minmax(with(threads), of.x, of.count);
  return {{static_cast<double>(low), static_cast<double>(high)}};
}

template <class T>
std::pair<T, T> extremes_of(const T* x, std::uint64_t n, int threads) {
  T low = x[0];
  T high = x[0];
  ONEFOLD_SIMD_LOOP(reduction(min
                              : low) reduction(max
                                               : high),
                    {
                      low = x[i] < low ? x[i] : low;
                      high = high < x[i] ? x[i] : high;
                    })
  return {low, high};
}
template <class T>
fold_answer minmax_loop(const fold_data<T>& of, int threads) {
  const auto [low, high] = extremes_of(of.x, of.count, threads);
  return {{static_cast<double>(low), static_cast<double>(high)}};
}

template <class T>
fold_answer mean_variance_onefold(const fold_data<T>& of, int threads) {
  const auto [mean, variance] = mean_variance(with(threads), of.x, of.count);
  return {{static_cast<double>(mean), static_cast<double>(variance)}};
}

// In double, as onefold does it too.
template <class T>
fold_answer mean_variance_twice(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  double sum = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : sum), { sum += static_cast<double>(x[i]); })
  const double mean = sum / static_cast<double>(n);
  double squares = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : squares), {
    const double d = static_cast<double>(x[i]) - mean;
    squares += d * d;
  })
  return {{mean, squares / static_cast<double>(n)}};
}

// One read, and no digit left where the mean is far from 0.
template <class T>
fold_answer mean_variance_naive(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  double sum = 0;
  double squares = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : sum, squares), {
    const double v = static_cast<double>(x[i]);
    sum += v;
    squares += v * v;
  })
  const double mean = sum / static_cast<double>(n);
  return {{mean, squares / static_cast<double>(n) - mean * mean}};
}

template <class T>
fold_answer together_onefold(const fold_data<T>& of, int threads) {
  const auto found = reduce_together(with(threads), of.x, of.count, op::sum{}, op::min{}, op::max{});
  return {{static_cast<double>(found[0]), static_cast<double>(found[1]), static_cast<double>(found[2])}};
}

template <class T>
fold_answer together_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  T sum = 0;
  T low = x[0];
  T high = x[0];
  ONEFOLD_SIMD_LOOP(reduction(+ : sum) reduction(min : low) reduction(max : high), {
    sum += x[i];
    low = x[i] < low ? x[i] : low;
    high = high < x[i] ? x[i] : high;
  })
  return {{static_cast<double>(sum), static_cast<double>(low), static_cast<double>(high)}};
}

// --- functions of the index --------------------------------------------------------------------------------------

template <class T>
fold_answer lambda_onefold(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  return {{static_cast<double>(sum(with(threads), of.count, [=](std::uint64_t i) { return x[i] * x[i]; }))}};
}

template <class T>
fold_answer lambda_built_in(const fold_data<T>& of, int threads) {
  return {{static_cast<double>(sum_of_squares(with(threads), of.x, of.count))}};
}

template <class T>
fold_answer lambda_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  T sum = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : sum), { sum += x[i] * x[i]; })
  return {{static_cast<double>(sum)}};
}

template <class T>
fold_answer three_arrays_onefold(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const T* const y = of.y;
  const T* const z = of.z;
  return {{static_cast<double>(sum(with(threads), of.count, [=](std::uint64_t i) { return x[i] * y[i] * z[i]; }))}};
}

template <class T>
fold_answer three_arrays_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const T* const y = of.y;
  const T* const z = of.z;
  const std::uint64_t n = of.count;
  T sum = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : sum), { sum += x[i] * y[i] * z[i]; })
  return {{static_cast<double>(sum)}};
}

template <class T>
fold_answer filter_onefold(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const auto kept = [=](std::uint64_t i) { return x[i] < T(-2) || x[i] > T(2) ? maybe<T>(absent) : maybe<T>(x[i]); };
  return {{static_cast<double>(sum(with(threads), of.count, kept))}};
}

template <class T>
fold_answer filter_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  T sum = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : sum), { sum += x[i] < T(-2) || x[i] > T(2) ? T(0) : x[i]; })
  return {{static_cast<double>(sum)}};
}

template <class T>
fold_answer box_onefold(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::int64_t pitch = of.pitch;
  const auto where = box(static_cast<std::int64_t>(of.count) / of.columns, of.columns);
  return {{static_cast<double>(
      sum(with(threads), where, [=](std::int64_t j, std::int64_t i) { return x[j * pitch + i] * x[j * pitch + i]; }))}};
}

template <class T>
T row_of_squares(const T* x, std::int64_t columns) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < columns; ++i) sum += x[i] * x[i];
  return sum;
}

template <class T>
fold_answer box_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::int64_t rows = static_cast<std::int64_t>(of.count) / of.columns;
  const std::int64_t columns = of.columns;
  const std::int64_t pitch = of.pitch;
  T sum = 0;
  if (threads == 1) {
    for (std::int64_t j = 0; j < rows; ++j) sum += row_of_squares(x + j * pitch, columns);
  } else {
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (std::int64_t j = 0; j < rows; ++j) sum += row_of_squares(x + j * pitch, columns);
  }
  return {{static_cast<double>(sum)}};
}

// Five results of one function.

template <class T>
fold_answer several_onefold(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const auto all = sum(with(threads), of.count, [=](std::uint64_t i) {
    const T v = x[i];
    return std::array<T, 5>{v, v * v, v < 0 ? -v : v, v * v * v, greater(v, T(0))};
  });
  fold_answer found{};
  for (std::size_t r = 0; r < all.size(); ++r) found.of[r] = static_cast<double>(all[r]);
  return found;
}

template <class T>
fold_answer several_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  T sum = 0;
  T squares = 0;
  T magnitudes = 0;
  T cubes = 0;
  T positive = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : sum, squares, magnitudes, cubes, positive), {
    const T v = x[i];
    sum += v;
    squares += v * v;
    magnitudes += v < 0 ? -v : v;
    cubes += v * v * v;
    positive += greater(v, T(0));
  })
  return {{static_cast<double>(sum), static_cast<double>(squares), static_cast<double>(magnitudes), static_cast<double>(cubes),
           static_cast<double>(positive)}};
}

// --- an operator of the user's -----------------------------------------------------------------------------------

template <class T>
fold_answer answer_of(const extent_of<T>& extent) {
  if constexpr (extent_of<T>::dimensions == 2)
    return {{static_cast<double>(extent.low[0]), static_cast<double>(extent.high[0]), static_cast<double>(extent.low[1]),
             static_cast<double>(extent.high[1])}};
  else
    return {{static_cast<double>(extent.low[0]), static_cast<double>(extent.high[0])}};
}

template <class T>
struct join {
  extent_of<T> operator()(const extent_of<T>& a, const extent_of<T>& b) const {
    extent_of<T> both;
    for (int d = 0; d < extent_of<T>::dimensions; ++d) {
      both.low[d] = lesser(a.low[d], b.low[d]);
      both.high[d] = greater(a.high[d], b.high[d]);
    }
    return both;
  }
};

template <class T>
fold_answer own_operator_onefold(const fold_data<T>& of, int threads) {
  return answer_of(reduce(with(threads), reinterpret_cast<const extent_of<T>*>(of.x), of.count, join<T>{}));
}

// Each number for itself, which is what compilers make vectors of.
template <class T>
fold_answer own_operator_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  if constexpr (extent_of<T>::dimensions == 2) {
    T low0 = x[0];
    T low1 = x[1];
    T high0 = x[2];
    T high1 = x[3];
    ONEFOLD_SIMD_LOOP(reduction(min
                                : low0, low1) reduction(max
                                                        : high0, high1),
                      {
                        low0 = x[4 * i] < low0 ? x[4 * i] : low0;
                        low1 = x[4 * i + 1] < low1 ? x[4 * i + 1] : low1;
                        high0 = high0 < x[4 * i + 2] ? x[4 * i + 2] : high0;
                        high1 = high1 < x[4 * i + 3] ? x[4 * i + 3] : high1;
                      })
    return answer_of(extent_of<T>{{low0, low1}, {high0, high1}});
  } else {
    T low = x[0];
    T high = x[1];
    ONEFOLD_SIMD_LOOP(reduction(min
                                : low) reduction(max
                                                 : high),
                      {
                        low = x[2 * i] < low ? x[2 * i] : low;
                        high = high < x[2 * i + 1] ? x[2 * i + 1] : high;
                      })
    return answer_of(extent_of<T>{{low}, {high}});
  }
}

// With the operator as OpenMP can take it.
#pragma omp declare reduction(join_f32 : extent_of<float> : omp_out = join<float>{}(omp_out, omp_in)) initializer(omp_priv = omp_orig)
#pragma omp declare reduction(join_f64 : extent_of<double> : omp_out = join<double>{}(omp_out, omp_in)) initializer(omp_priv = omp_orig)

template <class T>
fold_answer own_operator_declared(const fold_data<T>& of, int threads) {
  const auto* const x = reinterpret_cast<const extent_of<T>*>(of.x);
  const std::uint64_t n = of.count;
  extent_of<T> all = x[0];
  if constexpr (extent_of<T>::dimensions == 2) {
    ONEFOLD_SIMD_LOOP(reduction(join_f32 : all), { all = join<float>{}(all, x[i]); })
  } else {
    ONEFOLD_SIMD_LOOP(reduction(join_f64 : all), { all = join<double>{}(all, x[i]); })
  }
  return answer_of(all);
}

// --- places of both extremes -------------------------------------------------------------------------------------

template <class T>
fold_answer argminmax_onefold(const fold_data<T>& of, int threads) {
  const auto found = argminmax(with(threads), of.x, of.count);
  return {{static_cast<double>(found.min.value), static_cast<double>(found.min.index), static_cast<double>(found.max.value),
           static_cast<double>(found.max.index)}};
}

template <class T>
struct places {
  place<true, T> least;
  place<false, T> greatest;

  static places of_block(const T* x, std::uint64_t begin, std::uint64_t n) {
    const auto [low, high] = extremes_of(x + begin, n, 1);
    return {{low, begin}, {high, begin}};
  }
  void take(const places& other) {
    least.take(other.least);
    greatest.take(other.greatest);
  }
  void find(const T* x) {
    least.find(x);
    greatest.find(x);
  }
};

template <class T>
fold_answer argminmax_by_blocks(const fold_data<T>& of, int threads) {
  const auto best = find_by_blocks<places<T>>(of, threads);
  return {{static_cast<double>(best.least.value), static_cast<double>(best.least.index), static_cast<double>(best.greatest.value),
           static_cast<double>(best.greatest.index)}};
}

// --- flags, and elements of one and two bytes --------------------------------------------------------------------

// As a loop computes with it: floats of two bytes as float, bytes in words.
template <class T>
auto widened(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return static_cast<float>(value);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::int64_t>(value);
  else
    return value;
}

// The sum of what each(begin, n) gives for blocks of elements.
template <class Sum, class Each>
Sum sum_of_blocks(std::uint64_t count, std::uint64_t block, int threads, const Each& each) {
  const auto sum_at = [&](std::uint64_t begin) {
    return static_cast<Sum>(each(begin, count - begin < block ? count - begin : block));
  };
  Sum sum = 0;
  if (threads == 1) {
    for (std::uint64_t begin = 0; begin < count; begin += block) sum += sum_at(begin);
  } else {
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (std::uint64_t begin = 0; begin < count; begin += block) sum += sum_at(begin);
  }
  return sum;
}
// Elements of one byte whose sum has room in 32 bits.
constexpr std::uint64_t byte_block = 4096;

template <class T>
fold_answer count_onefold(const fold_data<T>& of, int threads) {
  return {{static_cast<double>(onefold::count(with(threads), of.x, of.count))}};
}
template <class T>
fold_answer count_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  std::uint64_t set = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : set), { set += x[i] != T(0) ? 1U : 0U; })
  return {{static_cast<double>(set)}};
}

template <class T>
fold_answer count_by_blocks(const fold_data<T>& of, int threads) {
  return {
      {static_cast<double>(sum_of_blocks<std::uint64_t>(of.count, byte_block, threads, [&](std::uint64_t begin, std::uint64_t n) {
        const T* const x = of.x + begin;
        std::uint32_t set = 0;
#pragma omp simd reduction(+ : set)
        for (std::uint64_t i = 0; i < n; ++i) set += x[i] != T(0) ? 1U : 0U;
        return set;
      }))}};
}

template <class T>
fold_answer all_onefold(const fold_data<T>& of, int threads) {
  return {{onefold::all(with(threads), of.x, of.count) ? 1.0 : 0.0}};
}
template <class T>
fold_answer all_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  T zeros = 0;
  ONEFOLD_SIMD_LOOP(reduction(| : zeros), { zeros = static_cast<T>(zeros | (x[i] == T(0) ? T(1) : T(0))); })
  return {{zeros == 0 ? 1.0 : 0.0}};
}

template <class T>
fold_answer sum_onefold(const fold_data<T>& of, int threads) {
  return {{static_cast<double>(onefold::sum(with(threads), of.x, of.count))}};
}
template <class T>
fold_answer sum_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  auto sum = widened(T(0));
  ONEFOLD_SIMD_LOOP(reduction(+ : sum), { sum += widened(x[i]); })
  return {{static_cast<double>(sum)}};
}
template <class T>
fold_answer sum_by_blocks(const fold_data<T>& of, int threads) {
  return {
      {static_cast<double>(sum_of_blocks<std::int64_t>(of.count, byte_block, threads, [&](std::uint64_t begin, std::uint64_t n) {
        const T* const x = of.x + begin;
        std::int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::uint64_t i = 0; i < n; ++i) sum += x[i];
        return sum;
      }))}};
}

// g++ 12 makes no vectors of conversions of halves.
#ifdef __F16C__
// Vectors of 8: g++ 12 warns of its own header where they have 16.
using floats = __m256;
inline floats floats_at(const float16* x) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))); }

// The sum of n values: those of a vector's length from number i on, and one by itself.
template <class Vector, class One>
float sum_in_vectors(std::uint64_t n, const Vector& vector_at, const One& one_at) {
  constexpr std::uint64_t lanes = sizeof(floats) / sizeof(float);
  floats sums[4] = {};
  std::uint64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes)
    for (std::uint64_t s = 0; s < 4; ++s) sums[s] += vector_at(i + s * lanes);
  const floats all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float sum = 0;
  for (std::uint64_t lane = 0; lane < lanes; ++lane) sum += all[lane];
  for (; i < n; ++i) sum += one_at(i);
  return sum;
}
constexpr std::uint64_t half_block = std::uint64_t{1} << 16;

fold_answer half_sum_in_vectors(const fold_data<float16>& of, int threads) {
  return {{static_cast<double>(sum_of_blocks<float>(of.count, half_block, threads, [&](std::uint64_t begin, std::uint64_t n) {
    const float16* const x = of.x + begin;
    return sum_in_vectors(
        n, [=](std::uint64_t i) { return floats_at(x + i); }, [=](std::uint64_t i) { return static_cast<float>(x[i]); });
  }))}};
}

fold_answer half_dot_in_vectors(const fold_data<float16>& of, int threads) {
  return {{static_cast<double>(sum_of_blocks<float>(of.count, half_block, threads, [&](std::uint64_t begin, std::uint64_t n) {
    const float16* const x = of.x + begin;
    const float16* const y = of.y + begin;
    return sum_in_vectors(
        n, [=](std::uint64_t i) { return floats_at(x + i) * floats_at(y + i); },
        [=](std::uint64_t i) { return static_cast<float>(x[i]) * static_cast<float>(y[i]); });
  }))}};
}
#endif

template <class T>
fold_answer dot_onefold(const fold_data<T>& of, int threads) {
  return {{static_cast<double>(onefold::dot(with(threads), of.x, of.y, of.count))}};
}
template <class T>
fold_answer dot_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const T* const y = of.y;
  const std::uint64_t n = of.count;
  auto sum = widened(T(0));
  ONEFOLD_SIMD_LOOP(reduction(+ : sum), { sum += widened(x[i]) * widened(y[i]); })
  return {{static_cast<double>(sum)}};
}
template <class T>
fold_answer dot_by_blocks(const fold_data<T>& of, int threads) {
  return {
      {static_cast<double>(sum_of_blocks<std::int64_t>(of.count, byte_block, threads, [&](std::uint64_t begin, std::uint64_t n) {
        const T* const x = of.x + begin;
        const T* const y = of.y + begin;
        std::int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::uint64_t i = 0; i < n; ++i) sum += static_cast<std::int16_t>(x[i]) * static_cast<std::int16_t>(y[i]);
        return sum;
      }))}};
}

template <class T>
fold_answer max_onefold(const fold_data<T>& of, int threads) {
  return {{static_cast<double>(widened(onefold::max(with(threads), of.x, of.count)))}};
}
template <class T>
fold_answer max_loop(const fold_data<T>& of, int threads) {
  const T* const x = of.x;
  const std::uint64_t n = of.count;
  if constexpr (std::is_integral_v<T>) {
    T best = x[0];
    ONEFOLD_SIMD_LOOP(reduction(max : best), { best = best < x[i] ? x[i] : best; })
    return {{static_cast<double>(best)}};
  } else {
    float best = static_cast<float>(x[0]);
    ONEFOLD_SIMD_LOOP(reduction(max
                                : best),
                      {
                        const auto value = static_cast<float>(x[i]);
                        best = best < value ? value : best;
                      })
    return {{static_cast<double>(best)}};
  }
}

// --- complex numbers ---------------------------------------------------------------------------------------------

template <class T>
fold_answer answer_of(const std::complex<T>& value) {
  return {{static_cast<double>(value.real()), static_cast<double>(value.imag())}};
}

template <class C>
fold_answer complex_sum_onefold(const fold_data<C>& of, int threads) {
  return answer_of(onefold::sum(with(threads), of.x, of.count));
}
// A standard library's operator+ and operator* are not what OpenMP can reduce with, so both parts by themselves.
template <class C>
fold_answer complex_sum_loop(const fold_data<C>& of, int threads) {
  using T = typename C::value_type;
  const auto* const x = reinterpret_cast<const T*>(of.x);
  const std::uint64_t n = of.count;
  T real = 0;
  T imaginary = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : real, imaginary), {
    real += x[2 * i];
    imaginary += x[2 * i + 1];
  })
  return answer_of(std::complex<T>(real, imaginary));
}

template <class C>
fold_answer complex_dot_onefold(const fold_data<C>& of, int threads) {
  return answer_of(onefold::dot(with(threads), of.x, of.y, of.count));
}
template <class C>
fold_answer complex_dot_loop(const fold_data<C>& of, int threads) {
  using T = typename C::value_type;
  const auto* const x = reinterpret_cast<const T*>(of.x);
  const auto* const y = reinterpret_cast<const T*>(of.y);
  const std::uint64_t n = of.count;
  T real = 0;
  T imaginary = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : real, imaginary), {
    real += x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
    imaginary += x[2 * i] * y[2 * i + 1] - x[2 * i + 1] * y[2 * i];
  })
  return answer_of(std::complex<T>(real, imaginary));
}

template <class C>
fold_answer complex_prod_onefold(const fold_data<C>& of, int threads) {
  return answer_of(onefold::prod(with(threads), of.x, of.count));
}
template <class C>
fold_answer complex_norm1_onefold(const fold_data<C>& of, int threads) {
  return {{static_cast<double>(onefold::norm1(with(threads), of.x, of.count))}};
}
template <class C>
fold_answer complex_norm_inf_onefold(const fold_data<C>& of, int threads) {
  return {{static_cast<double>(onefold::norm_inf(with(threads), of.x, of.count))}};
}

// What std::complex does where nothing is infinite.
template <class T>
std::complex<T> times(const std::complex<T>& a, const std::complex<T>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
// Of n numbers, with as many products under way as keep a core busy.
template <class T>
std::complex<T> product_in_lanes(const std::complex<T>* of, std::uint64_t n) {
  constexpr std::uint64_t lanes = 256 / sizeof(T);
  const auto* const x = reinterpret_cast<const T*>(of);
  T real[lanes];
  T imaginary[lanes];
  for (std::uint64_t j = 0; j < lanes; ++j) {
    real[j] = 1;
    imaginary[j] = 0;
  }
  std::uint64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma omp simd
    for (std::uint64_t j = 0; j < lanes; ++j) {
      const T a = real[j];
      const T b = imaginary[j];
      const T c = x[2 * (i + j)];
      const T d = x[2 * (i + j) + 1];
      real[j] = a * c - b * d;
      imaginary[j] = a * d + b * c;
    }
  }
  std::complex<T> all = 1;
  for (std::uint64_t j = 0; j < lanes; ++j) all = times(all, {real[j], imaginary[j]});
  for (; i < n; ++i) all = times(all, of[i]);
  return all;
}
template <class C>
fold_answer complex_prod_in_lanes(const fold_data<C>& of, int threads) {
  if (threads == 1) return answer_of(product_in_lanes(of.x, of.count));
  C all = 1;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    const auto share = [&](int k) { return of.count / static_cast<std::uint64_t>(threads) * static_cast<std::uint64_t>(k); };
    const std::uint64_t end = t + 1 == threads ? of.count : share(t + 1);
    const C own = product_in_lanes(of.x + share(t), end - share(t));
#pragma omp critical(onefold_perf_prod)
    all = times(all, own);
  }
  return answer_of(all);
}

#pragma omp declare reduction(times_f32 : std::complex <float> : omp_out = times(omp_out, omp_in)) initializer(omp_priv = 1)
#pragma omp declare reduction(times_f64 : std::complex <double> : omp_out = times(omp_out, omp_in)) initializer(omp_priv = 1)
template <class C>
fold_answer complex_prod_declared(const fold_data<C>& of, int threads) {
  const C* const x = of.x;
  const std::uint64_t n = of.count;
  C all = 1;
  if constexpr (std::is_same_v<C, std::complex<float>>) {
    ONEFOLD_SIMD_LOOP(reduction(times_f32 : all), { all = times(all, x[i]); })
  } else {
    ONEFOLD_SIMD_LOOP(reduction(times_f64 : all), { all = times(all, x[i]); })
  }
  return answer_of(all);
}

// The root in R: of the parts' type it overflows from the root of the largest number on, which onefold's does not.
template <class C, class R>
fold_answer complex_norm1_loop(const fold_data<C>& of, int threads) {
  using T = typename C::value_type;
  const auto* const x = reinterpret_cast<const T*>(of.x);
  const std::uint64_t n = of.count;
  T sum = 0;
  ONEFOLD_SIMD_LOOP(reduction(+ : sum), {
    const R a = x[2 * i];
    const R b = x[2 * i + 1];
    sum += static_cast<T>(std::sqrt(a * a + b * b));
  })
  return {{static_cast<double>(sum)}};
}
// One root, of the largest square.
template <class C, class R>
fold_answer complex_norm_inf_loop(const fold_data<C>& of, int threads) {
  using T = typename C::value_type;
  const auto* const x = reinterpret_cast<const T*>(of.x);
  const std::uint64_t n = of.count;
  R largest = 0;
  ONEFOLD_SIMD_LOOP(reduction(max
                              : largest),
                    {
                      const R a = x[2 * i];
                      const R b = x[2 * i + 1];
                      const R size = a * a + b * b;
                      largest = largest < size ? size : largest;
                    })
  return {{static_cast<double>(static_cast<T>(std::sqrt(largest)))}};
}

// --- tables ------------------------------------------------------------------------------------------------------

template <class T, bool Least>
constexpr fold_way<T> arg_loops[] = {{"min, then find", arg_twice<Least, T>},
                                     {"min of blocks, then find", arg_by_blocks<Least, T>}};
template <class T>
constexpr fold_way<T> minmax_loops[] = {{"omp simd", minmax_loop<T>}};
template <class T>
constexpr fold_way<T> mean_variance_loops[] = {{"two passes", mean_variance_twice<T>},
                                               {"sums of x and x^2", mean_variance_naive<T>}};
template <class T>
constexpr fold_way<T> together_loops[] = {{"omp simd", together_loop<T>}};
template <class T>
constexpr fold_way<T> lambda_loops[] = {{"omp simd", lambda_loop<T>}};
template <class T>
constexpr fold_way<T> three_arrays_loops[] = {{"omp simd", three_arrays_loop<T>}};
template <class T>
constexpr fold_way<T> filter_loops[] = {{"omp simd", filter_loop<T>}};
template <class T>
constexpr fold_way<T> box_loops[] = {{"omp simd", box_loop<T>}};
template <class T>
constexpr fold_way<T> several_loops[] = {{"omp simd", several_loop<T>}};
template <class T>
constexpr fold_way<T> own_operator_loops[] = {{"omp simd, each number", own_operator_loop<T>},
                                              {"omp simd, declared", own_operator_declared<T>}};

template <class T>
constexpr fold_way<T> argminmax_loops[] = {{"both of blocks, then find", argminmax_by_blocks<T>}};
template <class T>
constexpr fold_way<T> count_loops[] = {{"omp simd", count_loop<T>}};
template <class T>
constexpr fold_way<T> all_loops[] = {{"omp simd", all_loop<T>}};
template <class T>
constexpr fold_way<T> sum_loops[] = {{"omp simd", sum_loop<T>}};
template <class T>
constexpr fold_way<T> sums_of_bytes[] = {{"omp simd", sum_loop<T>}, {"omp simd, blocks in 32 bits", sum_by_blocks<T>}};
#ifdef __F16C__
constexpr fold_way<float16> half_sums[] = {{"omp simd", sum_loop<float16>}, {"converted in vectors", half_sum_in_vectors}};
constexpr fold_way<float16> half_dots[] = {{"omp simd", dot_loop<float16>}, {"converted in vectors", half_dot_in_vectors}};
#else
constexpr fold_way<float16> half_sums[] = {{"omp simd", sum_loop<float16>}};
constexpr fold_way<float16> half_dots[] = {{"omp simd", dot_loop<float16>}};
#endif
template <class T>
constexpr fold_way<T> dot_loops[] = {{"omp simd", dot_loop<T>}};
template <class T>
constexpr fold_way<T> dots_of_bytes[] = {{"omp simd", dot_loop<T>}, {"omp simd, blocks in 32 bits", dot_by_blocks<T>}};
template <class C>
constexpr fold_way<C> complex_sums[] = {{"omp simd", complex_sum_loop<C>}};
template <class C>
constexpr fold_way<C> complex_dots[] = {{"omp simd", complex_dot_loop<C>}};
template <class C>
constexpr fold_way<C> complex_prods[] = {{"in lanes", complex_prod_in_lanes<C>}, {"omp simd, declared", complex_prod_declared<C>}};
template <class C>
constexpr fold_way<C> complex_norms1[] = {{"omp simd", complex_norm1_loop<C, typename C::value_type>}};
template <>
constexpr fold_way<std::complex<float>> complex_norms1<std::complex<float>>[] = {
    {"omp simd", complex_norm1_loop<std::complex<float>, float>},
    {"omp simd, in doubles", complex_norm1_loop<std::complex<float>, double>}};
template <class C>
constexpr fold_way<C> complex_norms_inf[] = {{"omp simd", complex_norm_inf_loop<C, typename C::value_type>}};
template <>
constexpr fold_way<std::complex<float>> complex_norms_inf<std::complex<float>>[] = {
    {"omp simd", complex_norm_inf_loop<std::complex<float>, float>},
    {"omp simd, in doubles", complex_norm_inf_loop<std::complex<float>, double>}};
template <class T>
constexpr fold_way<T> counts_of_bytes[] = {{"omp simd", count_loop<T>}, {"omp simd, blocks in 32 bits", count_by_blocks<T>}};
template <class T>
constexpr fold_way<T> max_loops[] = {{"omp simd", max_loop<T>}};

template <class T, int Count>
fold_ways<T> these(fold_answer (*onefold)(const fold_data<T>&, int), const fold_way<T> (&by_hand)[Count],
                   fold_way<T> built_in = {}) {
  return {{"onefold", onefold}, built_in, by_hand, Count};
}

// Of a case that is_timed() for it.
template <class T>
fold_ways<T> ways_of_small(fold_case which) {
  if constexpr (std::is_integral_v<T>) {
    if (which == fold_case::count) return these(count_onefold<T>, counts_of_bytes<T>);
    if (which == fold_case::all) return these(all_onefold<T>, all_loops<T>);
    if (which == fold_case::sum) return these(sum_onefold<T>, sums_of_bytes<T>);
    if (which == fold_case::dot) return these(dot_onefold<T>, dots_of_bytes<T>);
    return these(max_onefold<T>, max_loops<T>);
  } else if constexpr (std::is_same_v<T, float16>) {
    if (which == fold_case::sum) return these(sum_onefold<T>, half_sums);
    if (which == fold_case::dot) return these(dot_onefold<T>, half_dots);
    return these(max_onefold<T>, max_loops<T>);
  } else {
    if (which == fold_case::dot) return these(dot_onefold<T>, dot_loops<T>);
    return these(sum_onefold<T>, sum_loops<T>);
  }
}

template <class C>
fold_ways<C> ways_of_complex(fold_case which) {
  if (which == fold_case::dot) return these(complex_dot_onefold<C>, complex_dots<C>);
  if (which == fold_case::prod) return these(complex_prod_onefold<C>, complex_prods<C>);
  if (which == fold_case::norm1) return these(complex_norm1_onefold<C>, complex_norms1<C>);
  if (which == fold_case::norm_inf) return these(complex_norm_inf_onefold<C>, complex_norms_inf<C>);
  return these(complex_sum_onefold<C>, complex_sums<C>);
}

template <class T>
fold_ways<T> ways(fold_case which) {
  switch (which) {
    case fold_case::argmin:
      return these(arg_onefold<true, T>, arg_loops<T, true>);
    case fold_case::argmax:
      return these(arg_onefold<false, T>, arg_loops<T, false>);
    case fold_case::minmax:
      return these(minmax_onefold<T>, minmax_loops<T>);
    case fold_case::mean_variance:
      return these(mean_variance_onefold<T>, mean_variance_loops<T>);
    case fold_case::together:
      return these(together_onefold<T>, together_loops<T>);
    case fold_case::lambda:
      return these(lambda_onefold<T>, lambda_loops<T>, {"sum_of_squares", lambda_built_in<T>});
    case fold_case::three_arrays:
      return these(three_arrays_onefold<T>, three_arrays_loops<T>);
    case fold_case::filter:
      return these(filter_onefold<T>, filter_loops<T>);
    case fold_case::box:
    case fold_case::short_rows:
      return these(box_onefold<T>, box_loops<T>);
    case fold_case::several:
      return these(several_onefold<T>, several_loops<T>);
    case fold_case::argminmax:
      return these(argminmax_onefold<T>, argminmax_loops<T>);
    case fold_case::count:
      return these(count_onefold<T>, count_loops<T>);
    case fold_case::own_operator:
    case fold_case::all:  // these are not timed
    case fold_case::sum:
    case fold_case::max:
    case fold_case::dot:
    case fold_case::prod:
    case fold_case::norm1:
    case fold_case::norm_inf:
      break;
  }
  return these(own_operator_onefold<T>, own_operator_loops<T>);
}

// --- small calls -------------------------------------------------------------------------------------------------

// The compiler may not know that the elements are those of the call before.
void forget(const double* x) { asm volatile("" : : "r"(x) : "memory"); }

double sums(const double* x, std::uint64_t count, int calls) {
  double all = 0;
  for (int c = 0; c < calls; ++c) {
    forget(x);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::uint64_t i = 0; i < count; ++i) sum += x[i];
    all += sum;
  }
  return all;
}

double dots(const double* x, const double* y, std::uint64_t count, int calls) {
  double all = 0;
  for (int c = 0; c < calls; ++c) {
    forget(x);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::uint64_t i = 0; i < count; ++i) sum += x[i] * y[i];
    all += sum;
  }
  return all;
}

}  // namespace

const fold_set& folds() {
  static constexpr fold_set all{ONEFOLD_TEXT_OF(ONEFOLD_PEERS_NAME),
                                ways<float>,
                                ways<double>,
                                ways_of_small<std::int8_t>,
                                ways_of_small<std::uint8_t>,
                                ways_of_small<float16>,
                                ways_of_small<bfloat16>,
                                ways_of_complex<std::complex<float>>,
                                ways_of_complex<std::complex<double>>,
                                {sums, dots}};
  return all;
}

}  // namespace onefold::perf::ONEFOLD_PEERS_NAME
