/// @file exact_words_test.cpp  The words of exact states in a GPU's memory: what is put on the stream, and that nobody waits for it. On a device that is not
/// there, whose streams work as late as they may (slow_device.hpp).

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <onefold/onefold.hpp>

#include "../../backends/cuda/runtime.hpp"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "fake_runtime.hpp"
#include "slow_device.hpp"

namespace onefold_test {
namespace {

using onefold::element_type;
using onefold::errc;
using onefold::exact_state;
using onefold::form;

template <class T>
std::vector<T> some_numbers(std::size_t count, std::uint64_t seed) {
  const random_numbers random(seed);
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<float>(static_cast<double>(random.at(i) >> 11) * 0x1p-50 - 3.0);
    if constexpr (std::is_integral_v<T>)
      x[i] = static_cast<T>(static_cast<std::int64_t>(number));
    else
      x[i] = static_cast<T>(number);
  }
  return x;
}

class exact_words : public testing::Test {
 protected:
  template <class T>
  [[nodiscard]] T* on_device(const std::vector<T>& x) {
    auto* const memory = static_cast<T*>(runtime_.device_memory(x.size() * sizeof(T) + 1));
    std::memcpy(static_cast<void*>(memory), x.data(), x.size() * sizeof(T));
    return memory;
  }

  // Of x on the device, to which somebody adds the words of other elements behind it on the stream.
  template <form What, class T, class... M>
  void expect_the_result_of_both(std::size_t count, M... modifiers) {
    using state = exact_state<What, T>;
    using result = decltype(state().value(modifiers...));
    SCOPED_TRACE(std::string(name(What)).append(" of ").append(name(onefold::element_type_of<T>)));
    slow_.reduces(onefold::element_type_of<T>, {What}, sizeof...(M) != 0 && What != form::mean_variance);
    const auto x = some_numbers<T>(count, 1), y = some_numbers<T>(count, 2), others = some_numbers<T>(1'000, 3);
    state here, there;
    if constexpr (What == form::dot) {
      here.add(onefold::serial(), x, y);
      there.add(onefold::serial(), others, others);
    } else {
      here.add(onefold::serial(), x);
      there.add(onefold::serial(), others);
    }
    const T *const d_x = on_device(x), *const d_y = on_device(y);
    auto* const words = on_device(std::vector<std::int64_t>(state::size(), 7));
    auto* const d_result = static_cast<result*>(runtime_.device_memory(sizeof(result)));
    if constexpr (What == form::dot)
      state::put_words(where_, d_x, d_y, count, words);
    else
      state::put_words(where_, d_x, count, words);
    std::vector<std::int64_t> alone(state::size());
    slow_.enqueue(where_.stream(), [&] {
      for (std::size_t i = 0; i < state::size(); ++i) {
        alone[i] = words[i];
        words[i] += there.words()[i];
      }
    });
    state::put_value(where_, words, d_result, modifiers...);
    EXPECT_GE(slow_.pending(), count == 0 ? 2u : 3u) << "somebody has waited";
    onefold::synchronize(where_);
    EXPECT_EQ(std::memcmp(alone.data(), here.words(), state::size() * sizeof(std::int64_t)), 0);
    here += there;
    const result right = here.value(modifiers...);
    EXPECT_EQ(std::memcmp(d_result, &right, sizeof(right)), 0);
  }
  template <class T>
  void expect_the_results_of_both(std::size_t count) {
    expect_the_result_of_both<form::sum, T>(count);
    expect_the_result_of_both<form::norm1, T>(count);
    expect_the_result_of_both<form::dot, T>(count);
    expect_the_result_of_both<form::sum_of_squares, T>(count);
    expect_the_result_of_both<form::norm2, T>(count);
    expect_the_result_of_both<form::mean, T>(count);
    expect_the_result_of_both<form::mean_variance, T>(count, onefold::ddof{1});
  }

  template <class T>
  void expect_the_results_of_integers(std::size_t count) {
    expect_the_result_of_both<form::norm2, T>(count);
    expect_the_result_of_both<form::mean, T>(count);
    expect_the_result_of_both<form::mean_variance, T>(count, onefold::ddof{1});
  }

  fake_runtime runtime_;
  slow_device slow_{runtime_, slow_device::copies::late};
  onefold::executor where_ = onefold::cuda(fake_runtime::fresh_device(), fake_runtime::fresh_stream());
};

TEST_F(exact_words, are_stored_added_and_rounded_in_stream_order) {
  for (const std::size_t count : {0, 1, 5'000}) {
    expect_the_results_of_both<double>(count);
    expect_the_results_of_both<float>(count);
    expect_the_results_of_both<onefold::float16>(count);
    expect_the_results_of_both<onefold::bfloat16>(count);
    expect_the_result_of_both<form::sum, float>(count, onefold::accumulate_as<double>);
    expect_the_results_of_integers<std::int8_t>(count);
    expect_the_results_of_integers<std::uint64_t>(count);
  }
}

// Both parts' states lie side by side, and so do the results.
TEST_F(exact_words, of_complex_numbers_are_those_of_their_parts) {
  using complex = std::complex<double>;
  constexpr std::size_t most_words = 2 * exact_state<form::dot, double>::size();
  const onefold::options exactly{.guarantee = onefold::guarantee::exact};
  const auto compare = [&](form what, std::size_t count, const auto& on_one_core) {
    SCOPED_TRACE(std::string(name(what)).append(" of ").append(std::to_string(count)));
    slow_.reduces(element_type::f64, {what});
    const auto parts_of = [](const std::vector<double>& parts) { return reinterpret_cast<const complex*>(parts.data()); };
    // The array, and the array of two ranks that have the same.
    auto x = some_numbers<double>(2 * count, 1), y = some_numbers<double>(2 * count, 2);
    const double *const d_x = on_device(x), *const d_y = on_device(y);
    auto* const words = on_device(std::vector<std::int64_t>(most_words + 1, 7));
    auto* const result = on_device(std::vector<double>(3, 5.0));
    const auto its = static_cast<std::int32_t>(what);
    const onefold_executor where = onefold::detail::c_executor(where_);
    ASSERT_EQ(onefold_exact_put_words(ONEFOLD_C128, its, where, d_x, what == form::dot ? d_y : nullptr, count, words, nullptr), 0)
        << onefold_last_error();
    slow_.enqueue(where_.stream(), [=] {
      for (std::size_t i = 0; i < most_words; ++i) words[i] *= 2;
    });
    ASSERT_EQ(onefold_exact_put_result(ONEFOLD_C128, its, 0, 0, where, words, result), 0) << onefold_last_error();
    EXPECT_GE(slow_.pending(), count == 0 ? 2u : 3u) << "somebody has waited";
    onefold::synchronize(where_);
    x.insert(x.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(2 * count));
    y.insert(y.end(), y.begin(), y.begin() + static_cast<std::ptrdiff_t>(2 * count));
    const auto right = on_one_core(parts_of(x), parts_of(y), 2 * count);
    EXPECT_EQ(std::memcmp(result, &right, sizeof(right)), 0);
    EXPECT_EQ(result[sizeof(right) / sizeof(double)], 5.0);
    EXPECT_EQ(words[most_words], 7);
  };
  const auto one = onefold::serial();
  for (const std::size_t count : {0, 1, 3'000}) {
    compare(form::sum, count, [&](const complex* x, const complex*, std::size_t n) { return onefold::sum(one, x, n, exactly); });
    compare(form::mean, count, [&](const complex* x, const complex*, std::size_t n) { return onefold::mean(one, x, n, exactly); });
    compare(form::dot, count,
            [&](const complex* x, const complex* y, std::size_t n) { return onefold::dot(one, x, y, n, exactly); });
    compare(form::norm2, count,
            [&](const complex* x, const complex*, std::size_t n) { return onefold::norm2(one, x, n, exactly); });
    compare(form::sum_of_squares, count,
            [&](const complex* x, const complex*, std::size_t n) { return onefold::sum_of_squares(one, x, n, exactly); });
  }
  auto* const words = on_device(std::vector<std::int64_t>(most_words));
  EXPECT_EQ(
      onefold_exact_put_words(ONEFOLD_C128, ONEFOLD_NORM1, onefold::detail::c_executor(where_), words, nullptr, 1, words, nullptr),
      ONEFOLD_UNSUPPORTED);
}

TEST_F(exact_words, that_are_no_state_give_a_number_of_ones_alone) {
  slow_.reduces(element_type::f64, {form::sum});
  auto* const words = on_device(std::vector<std::int64_t>(76, 5));
  auto* const result = on_device(std::vector<double>(2));
  exact_state<form::sum, double>::put_value(where_, words, result);
  onefold::synchronize(where_);
  const std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(std::memcmp(result, &ones, sizeof(ones)), 0);
  EXPECT_EQ(result[1], 0);
}

TEST_F(exact_words, lie_where_the_gpu_writes_and_are_made_of_what_it_reads) {
  using sum = exact_state<form::sum, double>;
  slow_.reduces(element_type::f64, {form::sum});
  const auto x = some_numbers<double>(1'000, 1);
  std::vector<std::int64_t> host(sum::size() + 1, 3);
  const double* const d_x = on_device(x);
  auto* const words = on_device(host);
  auto* const result = on_device(x);
  double stored = 7;
  const auto before = host;
  EXPECT_TRUE(refuses(errc::host_pointer, "", [&] { sum::put_words(where_, d_x, 1'000, host.data()); }));
  EXPECT_TRUE(refuses(errc::host_pointer, "", [&] { sum::put_words(where_, d_x, 0, host.data()); }));
  EXPECT_TRUE(refuses(errc::host_pointer, "exact_state::add()", [&] { sum::put_words(where_, x.data(), 1'000, words); }));
  EXPECT_TRUE(refuses(errc::host_pointer, "", [&] { sum::put_value(where_, words, &stored); }));
  EXPECT_TRUE(refuses(errc::host_pointer, "", [&] { sum::put_value(where_, host.data(), result); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "state", [&] { sum::put_words(where_, d_x, 1'000, nullptr); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "input", [&] { sum::put_words(where_, nullptr, 1'000, words); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "result", [&] { sum::put_value(where_, words, nullptr); }));
  const auto odd = [](auto* of) { return reinterpret_cast<decltype(of)>(reinterpret_cast<std::uintptr_t>(of) + 4); };
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "state", [&] { sum::put_words(where_, d_x, 1'000, odd(words)); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "output", [&] { sum::put_value(where_, words, odd(result)); }));
  auto* const inside = reinterpret_cast<std::int64_t*>(const_cast<double*>(d_x) + 999);
  EXPECT_TRUE(refuses(errc::invalid_argument, "inside the input", [&] { sum::put_words(where_, d_x, 1'000, inside); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "inside the state",
                      [&] { sum::put_value(where_, words, reinterpret_cast<double*>(words) + 75); }));
  // A call that does not wait has no state for the host.
  onefold::detail::request asked{where_, element_type::f64, form::sum, d_x, 1'000, result, false};
  asked.exact_state = host.data();
  EXPECT_TRUE(refuses(errc::unsupported, "onefold_exact_put_words()",
                      [&] { onefold::detail::run(asked, {.guarantee = onefold::guarantee::exact}); }));
  EXPECT_EQ(slow_.pending(), 0u);
  EXPECT_EQ(host, before);
  EXPECT_EQ(stored, 7);
}

// A launch that adds leaves its limbs to one that concludes. Where that has failed, zeros are put in their place before the next call's launches.
TEST_F(exact_words, of_a_call_that_has_failed_between_its_launches_are_not_the_next_ones) {
  static std::size_t zeros = 0;
  static decltype(onefold::cuda_backend::calls().memset_async) base = nullptr;
  zeros = 0;
  base = onefold::cuda_backend::calls().memset_async;
  onefold::cuda_backend::calls().memset_async = [](void* to, int value, std::size_t bytes, cudaStream_t stream) {
    zeros += value == 0 ? bytes : 0;
    return base(to, value, bytes, stream);
  };
  const auto x = some_numbers<double>(5'000, 1);
  const double* const there = on_device(x);
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  onefold::workspace own(where_, x.size());
  onefold::options in_own = exactly;
  in_own.workspace = &own;
  slow_.reduces(element_type::f64, {form::mean_variance});
  const auto moments = [&](const onefold::options& how) { return onefold::mean_variance(where_, there, x.size(), how); };
  for (const onefold::options& how : {exactly, in_own}) {
    static_cast<void>(moments(how));
    bool has_failed_between = false;
    for (std::uint64_t k = 1; !has_failed_between; ++k) {
      ASSERT_LT(k, 100U) << "no second launch";
      slow_.forget();
      zeros = 0;
      runtime_.fail(k, cudaErrorMemoryAllocation, false);
      try {
        static_cast<void>(moments(how));
      } catch (const onefold::error& problem) {
        has_failed_between = slow_.launches() == 1 && runtime_.failed_call().value_or("").find("Launch") != std::string::npos;
      }
      const bool is_over = !runtime_.failed_call().has_value();
      runtime_.mend();
      fake_runtime::put_mode_back();
      ASSERT_FALSE(is_over) << "no launch has failed between two";
      if (has_failed_between && how.workspace == nullptr) static_cast<void>(moments(how));
      if (has_failed_between) {
        EXPECT_GE(zeros, std::size_t{100} * sizeof(std::uint64_t));
      }
    }
    const auto found = moments(how), right = onefold::mean_variance(onefold::serial(), x, exactly);
    EXPECT_EQ(found.mean, right.mean);
    EXPECT_EQ(found.variance, right.variance);
  }
  onefold::cuda_backend::calls().memset_async = base;
}

}  // namespace
}  // namespace onefold_test
