#include "order_free.hpp"

#include <cmath>

namespace onefold::perf {

namespace {

// How far ahead the loops with prefetches ask for lines.
constexpr int bytes_ahead = 8192;
constexpr int cache_line = 64;

template <class T, int Bytes>
struct vector_of {
  typedef T type __attribute__((vector_size(Bytes)));
};
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <form What, class T>
T mapped(T x, T y) {
  if (What == form::dot || What == form::sum_of_squares) return x * y;
  return What == form::norm1 ? std::fabs(x) : x;
}
template <form What, class T>
T joined(T a, T b) {
  if (What == form::min) return b < a ? b : a;
  if (What == form::max) return a < b ? b : a;
  return a + b;
}

#ifdef __clang__
#define ONEFOLD_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define ONEFOLD_UNROLLED _Pragma("GCC unroll 16")
#endif

// One loop for each instruction set: the attribute cannot depend on a template parameter. The values' chains are independent, so that
// no addition waits for the one before; the loop that the compiler would make of a plain one has a single chain. With several streams
// the array is read at as many places in turn, far apart, because one core's prefetchers follow each of them: more lines are on their
// way from memory.
#define ONEFOLD_ORDER_FREE(name, target_attribute, Bytes)                                                          \
  template <form What, class T, int Chains, bool Ahead, int Streams = 1>                                           \
  [[gnu::noinline]] target_attribute T name(const T* x, const T* y, std::uint64_t count) {                         \
    using vec = typename vector_of<T, Bytes>::type;                                                                \
    using bits = typename vector_of<bits_of<T>, Bytes>::type;                                                      \
    constexpr std::uint64_t width = Bytes / sizeof(T);                                                             \
    constexpr int of_each = Chains / Streams;                                                                      \
    constexpr std::uint64_t step = width * static_cast<std::uint64_t>(of_each);                                    \
    const std::uint64_t apart = count / Streams / step * step;                                                     \
    constexpr bool extreme = What == form::min || What == form::max;                                               \
    vec chain[Chains];                                                                                             \
    ONEFOLD_UNROLLED                                                                                               \
    for (int k = 0; k < Chains; ++k) chain[k] = (extreme ? x[0] : T(0)) + vec{};                                   \
    for (std::uint64_t i = 0; i < apart; i += step) {                                                              \
      ONEFOLD_UNROLLED                                                                                             \
      for (int k = 0; k < Chains; ++k) {                                                                           \
        const std::uint64_t at =                                                                                   \
            static_cast<std::uint64_t>(k / of_each) * apart + i + static_cast<std::uint64_t>(k % of_each) * width; \
        const T* const here = x + at;                                                                              \
        const T* const there = y + (What == form::dot ? at : 0);                                                   \
        if (Ahead && k * Bytes % cache_line == 0) {                                                                \
          __builtin_prefetch(reinterpret_cast<const char*>(here) + bytes_ahead);                                   \
          if (What == form::dot) __builtin_prefetch(reinterpret_cast<const char*>(there) + bytes_ahead);           \
        }                                                                                                          \
        vec v;                                                                                                     \
        __builtin_memcpy(&v, here, sizeof(v));                                                                     \
        if constexpr (What == form::dot) {                                                                         \
          vec w;                                                                                                   \
          __builtin_memcpy(&w, there, sizeof(w));                                                                  \
          chain[k] += v * w;                                                                                       \
        } else if constexpr (What == form::sum_of_squares) {                                                       \
          chain[k] += v * v;                                                                                       \
        } else if constexpr (What == form::norm1) {                                                                \
          bits b;                                                                                                  \
          __builtin_memcpy(&b, &v, sizeof(v));                                                                     \
          b &= static_cast<bits_of<T>>(~(std::uint64_t{1} << (8 * sizeof(T) - 1)));                                \
          __builtin_memcpy(&v, &b, sizeof(v));                                                                     \
          chain[k] += v;                                                                                           \
        } else if constexpr (What == form::min) {                                                                  \
          chain[k] = v < chain[k] ? v : chain[k];                                                                  \
        } else if constexpr (What == form::max) {                                                                  \
          chain[k] = v > chain[k] ? v : chain[k];                                                                  \
        } else {                                                                                                   \
          chain[k] += v;                                                                                           \
        }                                                                                                          \
      }                                                                                                            \
    }                                                                                                              \
    ONEFOLD_UNROLLED                                                                                               \
    for (int k = 1; k < Chains; ++k) {                                                                             \
      if constexpr (What == form::min)                                                                             \
        chain[0] = chain[k] < chain[0] ? chain[k] : chain[0];                                                      \
      else if constexpr (What == form::max)                                                                        \
        chain[0] = chain[k] > chain[0] ? chain[k] : chain[0];                                                      \
      else                                                                                                         \
        chain[0] += chain[k];                                                                                      \
    }                                                                                                              \
    T lanes[width];                                                                                                \
    __builtin_memcpy(lanes, &chain[0], sizeof(lanes));                                                             \
    T value = lanes[0];                                                                                            \
    for (std::uint64_t j = 1; j < width; ++j) value = joined<What>(value, lanes[j]);                               \
    for (std::uint64_t i = apart * Streams; i < count; ++i)                                                        \
      value = joined<What>(value, mapped<What>(x[i], What == form::dot ? y[i] : x[i]));                            \
    return value;                                                                                                  \
  }

ONEFOLD_ORDER_FREE(with_16_bytes, , 16)
#ifdef __x86_64__
ONEFOLD_ORDER_FREE(with_32_bytes, [[gnu::target("avx2,fma")]], 32)
#ifdef __clang__  // takes vectors as wide as they are written
#define ONEFOLD_TARGET_64 "avx512f,avx512vl,avx512dq,avx512bw"
#else
#define ONEFOLD_TARGET_64 "avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512"
#endif
ONEFOLD_ORDER_FREE(with_64_bytes, [[gnu::target(ONEFOLD_TARGET_64)]], 64)
#endif

template <form What, class T>
std::vector<order_free_loop<T>> loops() {
  // Those whose time from memory is of interest.
  [[maybe_unused]] constexpr bool of_streams = What == form::sum || What == form::dot;
  std::vector<order_free_loop<T>> all;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw")) {
    all.insert(all.end(), {{"64 B x 4", with_64_bytes<What, T, 4, false>},
                           {"64 B x 8", with_64_bytes<What, T, 8, false>},
                           {"64 B x 8 ahead", with_64_bytes<What, T, 8, true>},
                           {"64 B x 16", with_64_bytes<What, T, 16, false>}});
    if constexpr (of_streams) all.push_back({"64 B x 8, 4 streams", with_64_bytes<What, T, 8, false, 4>});
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    all.insert(all.end(), {{"32 B x 4", with_32_bytes<What, T, 4, false>},
                           {"32 B x 8", with_32_bytes<What, T, 8, false>},
                           {"32 B x 8 ahead", with_32_bytes<What, T, 8, true>},
                           {"32 B x 12", with_32_bytes<What, T, 12, false>}});
    if constexpr (of_streams) all.push_back({"32 B x 8, 4 streams", with_32_bytes<What, T, 8, false, 4>});
  }
  if (!all.empty()) return all;
#endif
  all.insert(all.end(), {{"16 B x 4", with_16_bytes<What, T, 4, false>},
                         {"16 B x 8", with_16_bytes<What, T, 8, false>},
                         {"16 B x 8 ahead", with_16_bytes<What, T, 8, true>}});
  if constexpr (of_streams) all.push_back({"16 B x 8, 4 streams", with_16_bytes<What, T, 8, false, 4>});
  return all;
}

}  // namespace

template <class T>
std::vector<order_free_loop<T>> order_free_loops(form what) {
  switch (what) {
    case form::sum:
      return loops<form::sum, T>();
    case form::dot:
      return loops<form::dot, T>();
    case form::sum_of_squares:
      return loops<form::sum_of_squares, T>();
    case form::norm1:
      return loops<form::norm1, T>();
    case form::min:
      return loops<form::min, T>();
    case form::max:
      return loops<form::max, T>();
    default:
      return {};
  }
}
template std::vector<order_free_loop<float>> order_free_loops<float>(form);
template std::vector<order_free_loop<double>> order_free_loops<double>(form);

}  // namespace onefold::perf
