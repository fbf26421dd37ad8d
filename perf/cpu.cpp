#include "cpu.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

#ifdef ONEFOLD_HAVE_TBB
#include <execution>
#endif

#include "data.hpp"

namespace onefold::perf {

namespace {

// The peers' own operators: what a user would write.
struct plain_sum {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct plain_prod {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a * b);
  }
};
struct plain_min {
  template <class T>
  static T combine(T a, T b) {
    return b < a ? b : a;
  }
};
struct plain_max {
  template <class T>
  static T combine(T a, T b) {
    return a < b ? b : a;
  }
};

// Calls body(T{}, operator{}) for the type and operator.
template <class Body>
auto with(element_type type, operation op, Body body) {
  const auto with_type = [&]<class T>(T zero) {
    switch (op) {
      case operation::sum:
        return body(zero, plain_sum{});
      case operation::prod:
        return body(zero, plain_prod{});
      case operation::min:
        return body(zero, plain_min{});
      case operation::max:
        break;
    }
    return body(zero, plain_max{});
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return with_type(T{});
#include <onefold/types.def>
    default:
      break;
  }
  return with_type(0.0f);
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

template <class T, class Op>
T plain_loop(const T* input, std::uint64_t count) {
  T value = input[0];
  for (std::uint64_t i = 1; i < count; ++i) value = Op::combine(value, input[i]);
  return value;
}

std::uint64_t run_onefold(const executor& where, element_type type, operation op, const void* input, std::uint64_t count) {
  std::uint64_t bits = 0;
  detail::run({where, type, form_of(op), input, count, &bits, true}, {});
  return bits;
}

}  // namespace

cpu_bench::cpu_bench(element_type type, operation op, std::uint64_t count)
    : type_(type), count_(count), data_(new std::byte[std::max<std::uint64_t>(count, 1) * size_of(type)]) {
  with(type, op, [&]<class T>(T, auto) {
    T* values = reinterpret_cast<T*>(data_.get());
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < count; ++i) values[i] = element_at<T>(i, op == operation::prod);
    return 0;
  });
}

samples cpu_bench::time(const std::function<void()>& work, int repeats) const {
  samples all;
  work();
  for (int k = 0; k < repeats; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    all.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(all.seconds.begin(), all.seconds.end());
  return all;
}

void cpu_bench::read(int threads) const { read_words(data_.get(), bytes(), threads); }

#if defined(__x86_64__) && !defined(__clang__)
#define ONEFOLD_PERF_WIDEST [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define ONEFOLD_PERF_WIDEST
#endif

namespace {

// Next to nothing done with each word, in chains of which none waits for another.
ONEFOLD_PERF_WIDEST std::uint64_t glance(const std::uint64_t* word, std::int64_t count) {
  constexpr int chains = 32;
  std::uint64_t chain[chains] = {};
  std::int64_t i = 0;
  for (; i + chains <= count; i += chains)
    for (int k = 0; k < chains; ++k) chain[k] |= word[i + k];
  for (; i < count; ++i) chain[0] |= word[i];
  std::uint64_t seen = 0;
  for (const std::uint64_t value : chain) seen |= value;
  return seen;
}

}  // namespace

void read_words(const void* begin, std::uint64_t bytes, int threads) {
  constexpr std::int64_t piece = std::int64_t{16} * 1024;  // words: 128 KiB
  const auto* words = static_cast<const std::uint64_t*>(begin);
  const auto whole = static_cast<std::int64_t>(bytes / sizeof(std::uint64_t));
  std::uint64_t seen = 0;
  if (threads == 1) {
    seen = glance(words, whole);
  } else {
    // Pieces for whoever is free: with fixed shares the read is as slow as the slowest core, and no limit.
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(| : seen)
    for (std::int64_t first = 0; first < whole; first += piece) seen |= glance(words + first, std::min(piece, whole - first));
  }
  static std::uint64_t kept;
  *const_cast<volatile std::uint64_t*>(&kept) = seen;  // keeps the loads
}

std::vector<cpu_peer> cpu_peers(element_type type, operation op) {
  std::vector<cpu_peer> all;
  with(type, op, [&]<class T, class Op>(T, Op) {
    const auto add = [&](std::string name, int threads, auto reduce) {
      all.push_back({std::move(name), threads, [reduce](const void* input, std::uint64_t count) {
                       return bits_of<T>(reduce(static_cast<const T*>(input), count));
                     }});
    };
    add("plain loop", 1, [](const T* input, std::uint64_t count) { return plain_loop<T, Op>(input, count); });
    const auto combine = [](T a, T b) { return Op::combine(a, b); };
    add("std::reduce", 1,
        [combine](const T* input, std::uint64_t count) { return std::reduce(input + 1, input + count, input[0], combine); });
#ifdef ONEFOLD_HAVE_TBB
    add("std::reduce(par_unseq)", omp_get_max_threads(), [combine](const T* input, std::uint64_t count) {
      return std::reduce(std::execution::par_unseq, input + 1, input + count, input[0], combine);
    });
#endif
    return 0;
  });
  const auto add_onefold = [&](std::string name, int threads, executor where) {
    all.push_back({std::move(name), threads,
                   [=](const void* input, std::uint64_t count) { return run_onefold(where, type, op, input, count); }});
  };
  add_onefold("serial", 1, serial());
  for (const auto& known : backends())
    if (known.where == backend::openmp && known.usable)
      for (int threads = 1; threads <= known.threads;
           threads = threads < known.threads ? std::min(2 * threads, known.threads) : threads + 1)
        add_onefold("openmp(" + std::to_string(threads) + ")", threads, openmp(threads));
  return all;
}

std::vector<std::byte> host_copy(element_type type, std::uint64_t count) {
  std::vector<std::byte> bytes(count * size_of(type));
  const auto put = [&]<class T>(T) {
    T* values = reinterpret_cast<T*>(bytes.data());
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < count; ++i) values[i] = element_at<T>(i, false);
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    put(T{});                 \
    break;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  return bytes;
}

std::uint64_t expected_bits(element_type type, operation op, std::uint64_t count) {
  return with(type, op, [&]<class T, class Op>(T, Op) {
    const auto join = [](std::optional<T>& value, T other) { value = value ? Op::combine(*value, other) : other; };
    std::optional<T> whole;
    // By all threads, since every order gives the same bits: one takes seconds for the largest arrays.
#pragma omp parallel
    {
      std::optional<T> share;
#pragma omp for schedule(static) nowait
      for (std::uint64_t i = 0; i < count; ++i) join(share, element_at<T>(i, op == operation::prod));
#pragma omp critical
      if (share) join(whole, *share);
    }
    return bits_of(whole.value_or(T(0)));
  });
}

}  // namespace onefold::perf
