/// @file gpu_test.cpp  guarantee::exact on cuda(): states with the bytes of those that serial() makes, whatever the data do to the
/// kernels' ways, and calls on streams, in graphs, with workspaces and between others. The reference is the CPU's, which other tests
/// hold against whole numbers: this file needs no oracle.

#include <cuda_runtime_api.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>

#include <onefold/onefold.hpp>

#include "../forms/fixture.hpp"
#include "../support/cuda.hpp"
#include "integer_types.hpp"
#include "options.hpp"

namespace onefold_test {
namespace {

using onefold::accumulate_as;
using onefold::bfloat16;
using onefold::errc;
using onefold::exact_state;
using onefold::float16;
using onefold::guarantee;

// --- data

// Of the digits behind the point.
template <class T>
constexpr int stored_bits = sizeof(T) == 8               ? 52
                            : sizeof(T) == 4             ? 23
                            : std::is_same_v<T, float16> ? 10
                                                         : 7;
// The exponent fields of infinities and NaN, of the greatest numbers, and of 1.
template <class T>
constexpr std::uint64_t last_field = (std::uint64_t{1} << (8 * sizeof(T) - 1 - stored_bits<T>)) - 1;
template <class T>
constexpr std::uint64_t highest_field = last_field<T> - 1;
template <class T>
constexpr std::uint64_t field_of_one = last_field<T> / 2;

template <class T>
T from_fields(bool negative, std::uint64_t field, std::uint64_t digits) {
  const std::uint64_t sign = std::uint64_t{negative} << (8 * sizeof(T) - 1);
  return value_of<T>({onefold::element_type_of<T>, sign | field << stored_bits<T> | digits});
}

enum class contents {
  normal,
  within_60,
  within_250,
  all_exponents,
  all_bits,
  zeros,
  minus_zeros,
  both_zeros,
  subnormal,
  greatest,
  greatest_in_turns,
  small,
  large,
  outliers,  // far from the others; few, some and many
  some_outliers,
  many_outliers,
  nans,
  infinities,
  plus_infinities,
  mostly_zeros,
  ones,
  tiny_products  // whose products are about as small as a number can be
};
constexpr contents each_contents[] = {
    contents::normal,    contents::within_60,    contents::within_250,        contents::all_exponents,
    contents::all_bits,  contents::zeros,        contents::minus_zeros,       contents::both_zeros,
    contents::subnormal, contents::greatest,     contents::greatest_in_turns, contents::small,
    contents::large,     contents::outliers,     contents::some_outliers,     contents::many_outliers,
    contents::nans,      contents::infinities,   contents::plus_infinities,   contents::mostly_zeros,
    contents::ones,      contents::tiny_products};

template <class T>
T element(contents kind, random_numbers& random) {
  const std::uint64_t bits = random(), digits = bits >> 12 & ((std::uint64_t{1} << stored_bits<T>)-1);
  const bool negative = (bits & 1) != 0;
  const auto around = [&](std::uint64_t middle, std::uint64_t reach) {
    const std::uint64_t low = middle > reach ? middle - reach : 0, high = std::min(middle + reach, highest_field<T>);
    return from_fields<T>(negative, low + random.below(high - low + 1), digits);
  };
  const auto normal = [&] { return around(field_of_one<T>, 3); };
  const auto far_with_chance = [&](std::uint64_t one_of) {
    return random.below(one_of) == 0 ? around(field_of_one<T>, last_field<T>) : normal();
  };
  switch (kind) {
    case contents::within_60:
      return around(field_of_one<T>, 60);
    case contents::within_250:
      return around(field_of_one<T>, 250);
    case contents::all_exponents:
      return around(field_of_one<T>, last_field<T>);
    case contents::all_bits:
      return from_fields<T>(negative, random.below(last_field<T> + 1), digits);
    case contents::zeros:
      return from_fields<T>(false, 0, 0);
    case contents::minus_zeros:
      return from_fields<T>(true, 0, 0);
    case contents::both_zeros:
      return from_fields<T>(negative, 0, 0);
    case contents::subnormal:
      return from_fields<T>(negative, 0, digits);
    case contents::greatest:
      return around(highest_field<T>, 8);
    case contents::greatest_in_turns:
      return from_fields<T>(negative, highest_field<T>, (std::uint64_t{1} << stored_bits<T>)-1);
    case contents::small:
      return around(last_field<T> / 8, 2);
    case contents::large:
      return around(last_field<T> * 7 / 8, 2);
    case contents::outliers:
      return far_with_chance(3'000);
    case contents::some_outliers:
      return far_with_chance(150);
    case contents::many_outliers:
      return far_with_chance(9);
    case contents::nans:
      return random.below(4'000) == 0 ? from_fields<T>(negative, last_field<T>, digits | 1) : normal();
    case contents::infinities:
      return random.below(400) == 0 ? from_fields<T>(negative, last_field<T>, 0) : normal();
    case contents::plus_infinities:
      return random.below(400) == 0 ? from_fields<T>(false, last_field<T>, 0) : normal();
    case contents::mostly_zeros:
      return random.below(40) != 0 ? from_fields<T>(negative, 0, 0) : normal();
    case contents::ones:
      return from_fields<T>(false, field_of_one<T>, 0);
    case contents::tiny_products:
      return around((field_of_one<T> - static_cast<std::uint64_t>(stored_bits<T>)) / 2, 8);
    default:
      return normal();
  }
}

template <class T>
std::vector<T> elements_of(contents kind, std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<T> x(count);
  for (T& one : x) one = element<T>(kind, random);
  return x;
}

// An array of the host's and its copy on the GPU, whose first elements lie on boundaries of 256 bytes there.
template <class T>
class on_both {
 public:
  explicit on_both(std::vector<T> x) : host_(std::move(x)), device_(memory::device, host_.size() * sizeof(T)) { copy(); }
  void assign(std::vector<T> x) {
    host_ = std::move(x);
    copy();
  }
  [[nodiscard]] const T* host(std::size_t offset = 0) const { return host_.data() + offset; }
  [[nodiscard]] const T* device(std::size_t offset = 0) const { return reinterpret_cast<const T*>(device_.address()) + offset; }
  [[nodiscard]] std::size_t size() const { return host_.size(); }

 private:
  void copy() { device_.write(0, host_.data(), host_.size() * sizeof(T)); }
  std::vector<T> host_;
  block device_;
};

// --- comparison

std::string bytes_text(const void* of, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(static_cast<const unsigned char*>(of)[i]));
    text += digits;
  }
  return text;
}

// Device memory for one result, with what no result is in it.
class result_on_gpu {
 public:
  void clear() {
    const std::vector<std::byte> nothing(memory_.bytes(), std::byte{0xa5});
    memory_.write(0, nothing.data(), nothing.size());
  }
  template <class R>
  [[nodiscard]] R* address(std::size_t i = 0) const {
    return reinterpret_cast<R*>(memory_.address()) + i;
  }
  template <class R>
  [[nodiscard]] R value(std::size_t i = 0) const {
    alignas(R) std::byte bytes[sizeof(R)];
    memory_.read(i * sizeof(R), bytes, sizeof(R));
    R result;
    std::memcpy(&result, bytes, sizeof(R));
    return result;
  }

 private:
  block memory_{memory::device, 4096};
};

// "", or both sides.
template <class R>
std::string difference(const R& expected, const R& got, std::string_view what) {
  if (std::memcmp(&expected, &got, sizeof(R)) == 0) return {};
  return std::string(what) + ": expected the bytes " + bytes_text(&expected, sizeof(R)) + ", got " + bytes_text(&got, sizeof(R)) +
         "\n";
}

template <form What, class T>
exact_state<What, T> state_of(const onefold::executor& where, const T* x, const T* y, std::uint64_t count) {
  exact_state<What, T> state;
  if constexpr (What == form::dot)
    state.add(where, x, y, count);
  else
    state.add(where, x, count);
  return state;
}

template <form What, class T>
std::string difference(const exact_state<What, T>& expected, const exact_state<What, T>& got) {
  std::string wrong;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected.words()[i] != got.words()[i])
      wrong += " word " + std::to_string(i) + " is " + std::to_string(got.words()[i]) + " and not " +
               std::to_string(expected.words()[i]) + "\n";
  return wrong.empty() ? wrong : "state of " + std::string(onefold::name(What)) + ":" + wrong;
}

// The number that a call stores in device memory, which its kernels round.
template <form What, class T, class... M>
std::string wrong_number(const onefold::executor& where, const exact_state<What, T>& right, const T* x, const T* y,
                         std::uint64_t count, result_on_gpu& place, M... modifiers) {
  const auto expected = right.value(modifiers...);
  place.clear();
  onefold::detail::request asked{where, onefold::element_type_of<T>, What, x, count, place.address<std::byte>(), false, y};
  (onefold::detail::apply<T>(asked, modifiers), ...);
  onefold::detail::run(asked, exactly);
  onefold::synchronize(where);
  count_dispatch(where);
  return difference(expected, place.value<decltype(right.value(modifiers...))>(), onefold::name(What));
}

// What is wrong with the state, and with numbers that come of it.
template <form What, class T>
std::string wrong_form(const onefold::executor& where, const on_both<T>& x, std::size_t at_x, const on_both<T>& y, std::size_t at_y,
                       std::uint64_t count) {
  static result_on_gpu place;
  const T *const here = x.device(at_x), *const there = What == form::dot ? y.device(at_y) : nullptr;
  const auto right = state_of<What>(onefold::serial(), x.host(at_x), y.host(at_y), count);
  std::string wrong = difference(right, state_of<What>(where, here, there, count));
  wrong += wrong_number<What>(where, right, here, there, count, place);
  if constexpr (What == form::mean_variance) wrong += wrong_number<What>(where, right, here, there, count, place, onefold::ddof{1});
  if constexpr (!std::is_same_v<T, double> && !std::is_integral_v<T>)
    wrong += wrong_number<What>(where, right, here, there, count, place, accumulate_as<double>);
  return wrong;
}

template <class T>
std::string wrong_forms_of_one(const onefold::executor& where, const on_both<T>& x, std::size_t at, std::uint64_t count) {
  return wrong_form<form::sum>(where, x, at, x, at, count) + wrong_form<form::norm1>(where, x, at, x, at, count) +
         wrong_form<form::norm2>(where, x, at, x, at, count) + wrong_form<form::mean>(where, x, at, x, at, count) +
         wrong_form<form::sum_of_squares>(where, x, at, x, at, count) +
         wrong_form<form::mean_variance>(where, x, at, x, at, count) + wrong_form<form::dot>(where, x, at, x, at, count);
}

template <class F>
void for_each_float(F&& f) {
  f.template operator()<float>();
  f.template operator()<double>();
  f.template operator()<float16>();
  f.template operator()<bfloat16>();
}

template <class T>
std::string said(contents kind, std::uint64_t count) {
  return std::string(onefold::name(onefold::element_type_of<T>)) + ", contents " + std::to_string(static_cast<int>(kind)) + ", " +
         std::to_string(count) + " elements";
}

// --- states

class exact_gpu : public cuda_form_test {
 protected:
  const onefold::executor where_ = onefold::cuda();
};

TEST_F(exact_gpu, makes_the_states_of_any_contents_and_alignment_cuda) {
  constexpr std::size_t room = 16;
  constexpr std::pair<std::size_t, std::size_t> apart[] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}, {5, 3}, {3, 8}, {7, 0}};
  for_each_float([&]<class T> {
    for (const contents kind : each_contents)
      for (const std::uint64_t n : {1, 2, 3, 31, 33, 255, 256, 257, 1'000, 5'000, 20'000}) {
        const on_both<T> x(elements_of<T>(kind, n + room, current_seed() + n)),
            y(elements_of<T>(kind, n + room, current_seed() + n + 1));
        for (const std::size_t offset : {0, 1, 5})
          ASSERT_EQ(wrong_forms_of_one(where_, x, offset, n), "") << said<T>(kind, n) << ", offset " << offset;
        for (const auto& [at_x, at_y] : apart)
          ASSERT_EQ(wrong_form<form::dot>(where_, x, at_x, y, at_y, n), "")
              << said<T>(kind, n) << ", offsets " << at_x << " and " << at_y;
      }
  });
}

// Products of what is far apart in x and in y: subnormal ones, those that overflow and cancel, infinity times zero.
TEST_F(exact_gpu, makes_the_states_of_products_of_different_contents_cuda) {
  const std::uint64_t n = 6'001;
  for_each_float([&]<class T> {
    for (const contents of_x : each_contents) {
      const on_both<T> x(elements_of<T>(of_x, n + 1, current_seed()));
      for (const contents of_y : each_contents) {
        if (of_x == of_y) continue;
        const on_both<T> y(elements_of<T>(of_y, n + 1, current_seed() + 1));
        ASSERT_EQ(wrong_form<form::dot>(where_, x, 0, y, 1, n), "")
            << said<T>(of_x, n) << " times contents " << static_cast<int>(of_y);
      }
    }
  });
}

TEST_F(exact_gpu, makes_the_states_of_large_arrays_cuda) {
  const auto expect_right = [&]<class T>(contents kind, std::size_t n) {
    const on_both<T> x(elements_of<T>(kind, n + 1, current_seed())), y(elements_of<T>(kind, n, current_seed() + 1));
    ASSERT_EQ(wrong_form<form::sum>(where_, x, 1, x, 1, n), "") << said<T>(kind, n);
    ASSERT_EQ(wrong_form<form::dot>(where_, x, 1, y, 0, n), "") << said<T>(kind, n);
    ASSERT_EQ(wrong_form<form::dot>(where_, x, 0, y, 0, n), "") << said<T>(kind, n);
    ASSERT_EQ(wrong_form<form::mean_variance>(where_, x, 0, x, 0, n), "") << said<T>(kind, n);
  };
  for_each_float([&]<class T> {
    for (const contents kind :
         {contents::normal, contents::all_exponents, contents::greatest_in_turns, contents::some_outliers, contents::ones})
      ASSERT_NO_FATAL_FAILURE(expect_right.template operator()<T>(kind, 1'000'003));
  });
  for (const contents kind : {contents::normal, contents::within_60, contents::many_outliers}) {
    ASSERT_NO_FATAL_FAILURE(expect_right.operator()<double>(kind, 10'000'000));
    ASSERT_NO_FATAL_FAILURE(expect_right.operator()<float>(kind, 10'000'019));
  }
}

// So large that blocks ask for the last units (decision 0087), which hold something else than the others do. The elements are a few, again and again.
template <class T>
std::vector<T> with_other_end(contents kind, contents end, std::size_t count, std::uint64_t seed) {
  const std::vector<T> some = elements_of<T>(kind, (std::size_t{1} << 20) + 7, seed);
  const std::vector<T> others = elements_of<T>(end, (std::size_t{1} << 16) + 3, seed + 1);
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; i += some.size()) std::copy_n(some.data(), std::min(some.size(), count - i), x.data() + i);
  for (std::size_t i = count - count / 20; i < count; i += others.size())
    std::copy_n(others.data(), std::min(others.size(), count - i), x.data() + i);
  return x;
}

TEST_F(exact_gpu, makes_the_states_of_arrays_whose_end_is_asked_for_cuda) {
  int multiprocessors = 0;
  expect_success(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
  const onefold::executor cpu = onefold::openmp();
  const auto expect_right = [&]<class T>(contents kind, contents end) {
    // 16 KiB for each of 64 turns of three blocks, and some more.
    const std::size_t n = static_cast<std::size_t>(multiprocessors) * 64 * 3 * 16384 / sizeof(T) / 15 * 16 + 12'345;
    const on_both<T> x(with_other_end<T>(kind, end, n + 1, current_seed()));
    const auto difference_of = [&]<form What>(std::integral_constant<form, What>) {
      return difference(state_of<What>(cpu, x.host(1), x.host(), n), state_of<What>(where_, x.device(1), x.device(), n));
    };
    const std::string words = said<T>(kind, n) + ", at the end " + std::to_string(static_cast<int>(end));
    ASSERT_EQ(difference_of(std::integral_constant<form, form::sum>{}), "") << words;
    if constexpr (sizeof(T) > 2) {
      ASSERT_EQ(difference_of(std::integral_constant<form, form::dot>{}), "") << words;
      ASSERT_EQ(difference_of(std::integral_constant<form, form::sum_of_squares>{}), "") << words;
    }
    count_dispatch(where_);
  };
  using enum contents;
  for (const auto& [kind, end] : {std::pair{normal, within_60}, std::pair{normal, nans}, std::pair{within_60, infinities},
                                  std::pair{zeros, minus_zeros}, std::pair{nans, normal}})
    ASSERT_NO_FATAL_FAILURE(expect_right.operator()<float>(kind, end));
  for (const auto& [kind, end] :
       {std::pair{normal, within_60}, std::pair{small, large}, std::pair{all_exponents, normal},
        std::pair{all_exponents, all_exponents}, std::pair{normal, all_bits}, std::pair{minus_zeros, zeros}})
    ASSERT_NO_FATAL_FAILURE(expect_right.operator()<double>(kind, end));
  ASSERT_NO_FATAL_FAILURE(expect_right.operator()<float16>(normal, infinities));
  ASSERT_NO_FATAL_FAILURE(expect_right.operator()<bfloat16>(all_exponents, normal));
}

// --- windows: a warp's bins lie where its first elements do, and it must notice when those that follow lie elsewhere

struct stretch {
  contents kind;
  double share;  // of the array
};

template <class T>
std::vector<T> stretches_of(const std::vector<stretch>& all, std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<T> x;
  x.reserve(count);
  for (const auto& [kind, share] : all) {
    const auto end = std::min(x.size() + static_cast<std::size_t>(share * static_cast<double>(count)), count);
    while (x.size() < end) x.push_back(element<T>(kind, random));
  }
  while (x.size() < count) x.push_back(element<T>(all.back().kind, random));
  return x;
}

// Any few exponents, others every `length` elements.
template <class T>
std::vector<T> changing(std::size_t length, std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<T> x(count);
  std::uint64_t field = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % length == 0) field = random.below(highest_field<T> - 1);
    const std::uint64_t bits = random();
    x[i] = from_fields<T>((bits & 1) != 0, field + (bits >> 1 & 1), bits >> 12 & ((std::uint64_t{1} << stored_bits<T>)-1));
  }
  return x;
}

class exact_windows : public exact_gpu {
 protected:
  template <class T>
  void expect_right(const std::vector<T>& data, const std::string& words) {
    const std::size_t n = data.size() - 1;
    const on_both<T> x(data);
    const on_both<T> y(elements_of<T>(contents::within_60, data.size(), current_seed()));
    for (const std::size_t offset : {0, 1}) {
      ASSERT_EQ(wrong_form<form::sum>(where_, x, offset, x, offset, n), "") << words << ", offset " << offset;
      ASSERT_EQ(wrong_form<form::dot>(where_, x, offset, y, 0, n), "") << words << ", offset " << offset;
    }
    ASSERT_EQ(wrong_form<form::norm1>(where_, x, 0, x, 0, n), "") << words;
    ASSERT_EQ(wrong_form<form::sum_of_squares>(where_, x, 0, x, 0, n), "") << words;
    ASSERT_EQ(wrong_form<form::mean_variance>(where_, x, 0, x, 0, n), "") << words;
  }
};

TEST_F(exact_windows, are_left_late_cuda) {
  using enum contents;
  const std::vector<std::vector<stretch>> arrays{{{small, 0.01}, {large, 0.99}},
                                                 {{large, 0.01}, {small, 0.99}},
                                                 {{small, 0.5}, {large, 0.5}},
                                                 {{large, 0.5}, {small, 0.5}},
                                                 {{small, 0.99}, {large, 0.01}},
                                                 {{large, 0.99}, {small, 0.01}},
                                                 {{normal, 0.7}, {all_exponents, 0.3}},
                                                 {{all_exponents, 0.3}, {normal, 0.7}},
                                                 {{zeros, 0.6}, {all_exponents, 0.4}},
                                                 {{zeros, 0.9}, {small, 0.05}, {large, 0.05}},
                                                 {{minus_zeros, 0.5}, {small, 0.5}},
                                                 {{minus_zeros, 0.9}, {zeros, 0.1}},
                                                 {{zeros, 0.5}, {minus_zeros, 0.5}},
                                                 {{small, 0.8}, {nans, 0.2}},
                                                 {{small, 0.8}, {infinities, 0.2}},
                                                 {{small, 0.5}, {large, 0.3}, {plus_infinities, 0.2}},
                                                 {{small, 0.6}, {some_outliers, 0.2}, {large, 0.2}},
                                                 {{normal, 0.6}, {outliers, 0.2}, {some_outliers, 0.1}, {many_outliers, 0.1}},
                                                 {{subnormal, 0.5}, {greatest, 0.5}},
                                                 {{greatest, 0.5}, {subnormal, 0.5}},
                                                 {{greatest_in_turns, 0.7}, {tiny_products, 0.3}},
                                                 {{small, 0.2}, {normal, 0.2}, {large, 0.2}, {tiny_products, 0.2}, {normal, 0.2}}};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto words = [&](std::size_t n) { return "array " + std::to_string(i) + ", " + std::to_string(n) + " elements"; };
    // A unit for each warp, and several.
    for (const std::size_t n : {30'001, 300'001})
      ASSERT_NO_FATAL_FAILURE(expect_right(stretches_of<float>(arrays[i], n, current_seed() + i), words(n) + " of f32"));
    for (const std::size_t n : {3'001, 300'001, 1'900'001})
      ASSERT_NO_FATAL_FAILURE(expect_right(stretches_of<double>(arrays[i], n, current_seed() + i), words(n) + " of f64"));
  }
}

TEST_F(exact_windows, are_left_again_and_again_cuda) {
  for (const std::size_t length : {1, 2, 31, 64, 128, 256, 300, 512, 3'000, 50'000})
    for (const std::size_t n : {4'001, 100'001, 1'700'001}) {
      const std::string words = "others every " + std::to_string(length) + ", " + std::to_string(n) + " elements";
      ASSERT_NO_FATAL_FAILURE(expect_right(changing<double>(length, n, current_seed() + length), words));
      if (n > 1'000'000) continue;
      ASSERT_NO_FATAL_FAILURE(expect_right(changing<float>(length, n, current_seed() + length), words));
    }
}

// One element far from the others, in each class of positions: it is added apart, and nobody stops.
TEST_F(exact_windows, are_kept_for_one_element_cuda) {
  const std::size_t n = 70'003;
  for (const std::uint64_t field : {std::uint64_t{0}, std::uint64_t{1}, field_of_one<double> - 300, field_of_one<double> + 300,
                                    highest_field<double>, last_field<double>}) {
    std::vector<double> data = elements_of<double>(contents::normal, n, current_seed());
    const std::vector<double> others = data;
    for (const std::size_t place :
         {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256}, n / 2, n - 258, n - 2, n - 1}) {
      data[place] = from_fields<double>(true, field, 0);
      const on_both<double> x(data);
      ASSERT_EQ(wrong_forms_of_one(where_, x, 0, n), "") << "field " << field << " at " << place;
      data[place] = others[place];
    }
  }
}

// --- complex numbers, and nothing at all

// One that is as good as nothing beside the others, which have zeros among them: subnormal ones have no digit in their upper word, as zeros have none.
template <class T>
std::string lost_among_zeros(const onefold::executor& where, std::uint64_t seed) {
  const std::size_t n = 300'003;
  std::vector<T> data = elements_of<T>(contents::normal, n, seed);
  for (std::size_t i = 0; i < n; i += 7) data[i] = i % 2 == 0 ? T(0) : -T(0);
  for (const std::uint64_t digits : {std::uint64_t{1}, std::uint64_t{1} << (stored_bits<T> - 1)})
    for (const std::size_t place : {std::size_t{0}, std::size_t{1}, n / 2, n - 258, n - 2}) {
      const T other = data[place];
      data[place] = from_fields<T>(false, 0, digits);
      const on_both<T> x(data);
      if (const std::string wrong = wrong_forms_of_one(where, x, 0, n); !wrong.empty())
        return wrong + ", digits " + std::to_string(digits) + " at " + std::to_string(place);
      data[place] = other;
    }
  return {};
}
TEST_F(exact_gpu, loses_no_subnormal_number_among_zeros_cuda) {
  EXPECT_EQ(lost_among_zeros<double>(where_, current_seed()), "");
  EXPECT_EQ(lost_among_zeros<float>(where_, current_seed()), "");
}

TEST_F(exact_gpu, sums_complex_numbers_at_odd_places_cuda) {
  result_on_gpu place;
  const auto expect_right = [&]<class T> {
    using complex = std::complex<T>;
    for (const contents kind :
         {contents::normal, contents::all_exponents, contents::some_outliers, contents::many_outliers, contents::infinities,
          contents::nans, contents::minus_zeros, contents::small, contents::greatest_in_turns})
      for (const std::size_t n : {1, 2, 3, 100, 1'000, 4'097, 100'001, 800'001}) {
        const on_both<T> parts(elements_of<T>(kind, 2 * n + 3, current_seed() + n));
        for (const std::size_t offset : {0, 1, 3}) {  // in parts: pairs that lie across boundaries, too
          const auto* const here = reinterpret_cast<const complex*>(parts.host(offset));
          const auto* const there = reinterpret_cast<const complex*>(parts.device(offset));
          const auto check = [&](const auto& function, const auto& store, std::string_view name) {
            const auto right = function(onefold::serial(), here, n, exactly);
            using R = std::remove_cv_t<decltype(right)>;
            place.clear();
            store(where_, there, n, place.address<R>(), exactly);
            onefold::synchronize(where_);
            count_dispatch(where_);
            return difference(right, R(function(where_, there, n, exactly)), name) +
                   difference(right, place.value<R>(), std::string(name) + " stored");
          };
          ASSERT_EQ(check(onefold::sum, onefold::sum_into, "sum") + check(onefold::mean, onefold::mean_into, "mean") +
                        check(onefold::mean_variance, onefold::mean_variance_into, "mean_variance") +
                        check(onefold::norm2, onefold::norm2_into, "norm2") +
                        check(onefold::sum_of_squares, onefold::sum_of_squares_into, "sum_of_squares"),
                    "")
              << "parts of " << said<T>(kind, n) << ", offset " << offset;
          if constexpr (std::is_same_v<T, float>) {
            using wide = std::complex<double>;
            constexpr auto as = onefold::accumulate_as<wide>;
            place.clear();
            onefold::mean_into(where_, there, n, place.address<wide>(), as, exactly);
            onefold::synchronize(where_);
            ASSERT_EQ(difference(onefold::mean(onefold::serial(), here, n, as, exactly), place.value<wide>(), "wide mean stored") +
                          difference(onefold::dot(onefold::serial(), here, here, n, as, exactly),
                                     wide(onefold::dot(where_, there, there, n, as, exactly)), "wide dot"),
                      "")
                << "parts of " << said<T>(kind, n) << ", offset " << offset;
          }
        }
      }
  };
  expect_right.operator()<float>();
  expect_right.operator()<double>();
}

TEST_F(exact_gpu, makes_dots_of_complex_numbers_at_odd_places_cuda) {
  result_on_gpu place;
  const auto expect_right = [&]<class T> {
    using complex = std::complex<T>;
    for (const contents kind :
         {contents::normal, contents::all_exponents, contents::some_outliers, contents::infinities, contents::nans,
          contents::both_zeros, contents::minus_zeros, contents::small, contents::greatest_in_turns, contents::tiny_products})
      for (const std::size_t n : {1, 2, 3, 100, 1'000, 4'097, 100'001, 800'001}) {
        const on_both<T> x(elements_of<T>(kind, 2 * n + 3, current_seed() + n));
        const on_both<T> y(elements_of<T>(kind, 2 * n + 3, current_seed() + n + 1));
        constexpr std::pair<std::size_t, std::size_t> apart[] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}, {3, 2}, {2, 0}, {0, 2}};
        for (const auto& [at_x, at_y] : apart) {  // in parts: pairs that lie across boundaries, too
          const auto as_complex = [](const T* parts) { return reinterpret_cast<const complex*>(parts); };
          const auto right = onefold::dot(onefold::serial(), as_complex(x.host(at_x)), as_complex(y.host(at_y)), n, exactly);
          const complex got = onefold::dot(where_, as_complex(x.device(at_x)), as_complex(y.device(at_y)), n, exactly);
          place.clear();
          onefold::dot_into(where_, as_complex(x.device(at_x)), as_complex(y.device(at_y)), n, place.address<complex>(), exactly);
          onefold::synchronize(where_);
          count_dispatch(where_);
          ASSERT_EQ(difference(right, got, "dot") + difference(right, place.value<complex>(), "dot stored"), "")
              << "parts of " << said<T>(kind, n) << ", offsets " << at_x << " and " << at_y;
        }
        const auto* const same = reinterpret_cast<const complex*>(x.device());
        ASSERT_EQ(difference(onefold::dot(onefold::serial(), reinterpret_cast<const complex*>(x.host()),
                                          reinterpret_cast<const complex*>(x.host()), n, exactly),
                             onefold::dot(where_, same, same, n, exactly), "dot with itself"),
                  "")
            << said<T>(kind, n);
      }
  };
  expect_right.operator()<float>();
  expect_right.operator()<double>();
}

// A piece of an array has 32 MiB unless it is said otherwise, and this one has more.
TEST_F(exact_gpu, makes_dots_of_complex_numbers_in_host_memory_cuda) {
  using complex = std::complex<double>;
  const std::size_t n = 5'000'001;
  const auto x = elements_of<double>(contents::within_60, 2 * n, current_seed());
  const auto y = elements_of<double>(contents::normal, 2 * n, current_seed() + 1);
  const auto* const a = reinterpret_cast<const complex*>(x.data());
  const auto* const b = reinterpret_cast<const complex*>(y.data());
  for (const std::size_t some : {std::size_t{1}, std::size_t{1'001}, n})
    EXPECT_EQ(
        difference(onefold::dot(onefold::serial(), a, b, some, exactly), complex(onefold::dot(where_, a, b, some, exactly)), "dot"),
        "")
        << some;
  EXPECT_EQ(onefold::dot(where_, a, b, 0, exactly), complex());
  // Mean and variance are of both parts' states, whoever waits for them.
  const auto right = onefold::mean_variance(onefold::serial(), a, n, exactly);
  result_on_gpu place;
  onefold::mean_variance_into(where_, a, n, place.address<std::remove_cv_t<decltype(right)>>(), exactly);
  onefold::synchronize(where_);
  EXPECT_EQ(difference(right, place.value<std::remove_cv_t<decltype(right)>>(), "mean_variance stored") +
                difference(right, onefold::mean_variance(where_, a, n, exactly), "mean_variance"),
            "");
  count_dispatch(where_);
}

TEST_F(exact_gpu, makes_several_dots_at_once_cuda) {
  const auto expect_right = [&]<class T> {
    const std::size_t n = 30'011;
    const on_both<T> x(elements_of<T>(contents::within_60, 5 * n, current_seed()));
    const auto view = [&](std::size_t k, bool on_device) {
      return onefold::vector_view<T>{on_device ? x.device(k * n) : x.host(k * n), n};
    };
    const auto dots = [&](const onefold::executor& where, bool on_device) {
      return onefold::multi_dot(where, {view(0, on_device), view(1, on_device)},
                                {view(2, on_device), view(3, on_device), view(4, on_device)}, exactly);
    };
    const auto right = dots(onefold::serial(), false);
    const auto got = dots(where_, true);
    ASSERT_EQ(right.size(), got.size());
    result_on_gpu place;
    place.clear();
    onefold::multi_dot_into(where_, {view(0, true), view(1, true)}, {view(2, true), view(3, true), view(4, true)},
                            place.address<T>(), exactly);
    onefold::synchronize(where_);
    for (std::size_t k = 0; k < right.size(); ++k) {
      EXPECT_EQ(difference(right[k], got[k], "dot"), "") << k;
      EXPECT_EQ(difference(right[k], place.value<T>(k), "dot stored"), "") << k;
    }
  };
  expect_right.operator()<float>();
  expect_right.operator()<double>();
  count_dispatch(where_);
}

TEST_F(exact_gpu, has_states_of_both_parts_of_complex_numbers_cuda) {
  const auto expect_right = [&]<class T>(element_type type) {
    for (const std::size_t n : {0, 1, 1'000, 100'001}) {
      const on_both<T> parts(elements_of<T>(contents::all_exponents, 2 * n + 2, current_seed() + n));
      const on_both<T> others(elements_of<T>(contents::within_60, 2 * n + 2, current_seed() + n + 1));
      for (const form what : {form::sum, form::mean, form::mean_variance, form::dot, form::sum_of_squares, form::norm2}) {
        std::int64_t words[2][420] = {};
        T results[2][3] = {};
        for (const int on_gpu : {0, 1}) {
          onefold::detail::request asked{on_gpu != 0 ? where_ : onefold::serial(),
                                         type,
                                         what,
                                         on_gpu != 0 ? parts.device(1) : parts.host(1),
                                         n,
                                         results[on_gpu],
                                         true,
                                         on_gpu != 0 ? others.device(0) : others.host(0)};
          asked.exact_state = words[on_gpu];
          onefold::detail::run(asked, exactly);
        }
        EXPECT_EQ(std::memcmp(words[0], words[1], sizeof(words[0])), 0) << name(what) << " of " << n << " " << name(type);
        if (n == 0) continue;  // where a mean has any NaN
        EXPECT_EQ(std::memcmp(results[0], results[1], sizeof(results[0])), 0) << name(what) << " of " << n << " " << name(type);
      }
    }
  };
  expect_right.operator()<float>(element_type::c64);
  expect_right.operator()<double>(element_type::c128);
  count_dispatch(where_);
}

TEST_F(exact_gpu, of_no_elements_gives_what_the_cpu_gives_cuda) {
  result_on_gpu place;
  for_each_float([&]<class T> {
    const T* const nothing = nullptr;
    const auto expect_right = [&]<form What> {
      const exact_state<What, T> none;
      exact_state<What, T> got;
      if constexpr (What == form::dot)
        got.add(where_, nothing, nothing, 0);
      else
        got.add(where_, nothing, 0);
      EXPECT_EQ(difference(none, got) + wrong_number<What>(where_, none, nothing, nothing, 0, place), "");
      EXPECT_EQ(got.count(), 0u);
    };
    expect_right.template operator()<form::sum>();
    expect_right.template operator()<form::norm1>();
    expect_right.template operator()<form::dot>();
    expect_right.template operator()<form::norm2>();
    expect_right.template operator()<form::sum_of_squares>();
    expect_right.template operator()<form::mean>();
    expect_right.template operator()<form::mean_variance>();
    EXPECT_EQ(scalar_of(onefold::sum(where_, nothing, 0, exactly)),
              scalar_of(onefold::sum(onefold::serial(), nothing, 0, exactly)));
    EXPECT_TRUE(std::isnan(onefold::mean(where_, nothing, 0, exactly)));
  });
  const std::complex<double>* const nothing = nullptr;
  EXPECT_EQ(onefold::sum(where_, nothing, 0, exactly), std::complex<double>());
  EXPECT_TRUE(std::isnan(onefold::mean(where_, nothing, 0, exactly).real()));
}

// --- states that go on

TEST_F(exact_gpu, adds_to_states_that_others_have_begun_cuda) {
  const std::size_t n = 50'003;
  for_each_float([&]<class T> {
    const on_both<T> x(elements_of<T>(contents::all_exponents, n, current_seed()));
    exact_state<form::mean_variance, T> whole, parts;
    whole.add(onefold::serial(), x.host(), n);
    random_numbers random(current_seed());
    for (std::size_t at = 0; at < n;) {
      const std::size_t length = std::min(n - at, 1 + random.below(9'000));
      if (random.below(2) == 0)
        parts.add(where_, x.device(at), length);
      else
        parts.add(onefold::serial(), x.host(at), length);
      at += length;
    }
    EXPECT_EQ(difference(whole, parts), "");
    EXPECT_EQ(parts.count(), n);
    count_dispatch(where_);
  });
}

// --- integers, whose means, norms and variances have the states of doubles

enum class integers { any_bits, small, least, greatest };
template <class T>
std::vector<T> integers_of(integers kind, std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<T> x(count);
  for (T& one : x)
    one = kind == integers::any_bits ? static_cast<T>(random())
          : kind == integers::small  ? static_cast<T>(random.below(7))
          : kind == integers::least  ? std::numeric_limits<T>::min()
                                     : std::numeric_limits<T>::max();
  return x;
}
constexpr integers each_integers[] = {integers::any_bits, integers::small, integers::least, integers::greatest};

TEST_F(exact_gpu, makes_the_states_of_integers_cuda) {
  constexpr std::size_t room = 16;
  for_each_integer([&]<class T> {
    for (const integers kind : each_integers)
      for (const std::uint64_t n : {1, 2, 3, 31, 257, 5'000, 100'003, 3'000'017}) {
        const on_both<T> x(integers_of<T>(kind, n + room, current_seed() + n));
        for (const std::size_t at : {0, 1, 5})
          ASSERT_EQ(wrong_form<form::mean>(where_, x, at, x, at, n) + wrong_form<form::norm2>(where_, x, at, x, at, n) +
                        wrong_form<form::mean_variance>(where_, x, at, x, at, n),
                    "")
              << onefold::name(onefold::element_type_of<T>) << ", kind " << static_cast<int>(kind) << ", " << n << " elements from "
              << at << " on";
      }
  });
}

TEST_F(exact_gpu, takes_integers_in_host_memory_and_none_cuda) {
  for_each_integer([&]<class T> {
    const std::size_t n = 2'000'003;
    const std::vector<T> x = integers_of<T>(integers::any_bits, n, current_seed());
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, n}) {
      const auto here = [&](const auto& where) {
        exact_state<form::mean_variance, T> state;
        state.add(where, x.data(), count);
        return state;
      };
      EXPECT_EQ(difference(here(onefold::serial()), here(where_)), "") << count;
      EXPECT_EQ(onefold::norm2(where_, x.data(), count, exactly), onefold::norm2(onefold::serial(), x.data(), count, exactly));
      const double mean = onefold::mean(where_, x.data(), count, exactly);
      EXPECT_EQ(std::isnan(mean), count == 0);
      if (count != 0) {
        EXPECT_EQ(mean, onefold::mean(onefold::serial(), x.data(), count, exactly));
      }
    }
  });
  count_dispatch(where_);
}

// --- words in the GPU's memory

// What is wrong with the words of x and y, with those of others that are added to them there, and with the results of both.
template <form What, class T>
std::string wrong_words(const onefold::executor& where, const on_both<T>& x, std::size_t at_x, const on_both<T>& y,
                        std::size_t at_y, std::uint64_t count) {
  using state = exact_state<What, T>;
  static result_on_gpu words, results;
  words.clear();
  auto* const here = words.address<std::int64_t>(1);
  if constexpr (What == form::dot)
    state::put_words(where, x.device(at_x), y.device(at_y), count, here);
  else
    state::put_words(where, x.device(at_x), count, here);
  state right = state_of<What>(onefold::serial(), x.host(at_x), y.host(at_y), count), got;
  const auto conclude = [&](const state& of, auto... modifiers) {
    const auto expected = of.value(modifiers...);
    using R = std::remove_cv_t<decltype(expected)>;
    results.clear();
    state::put_value(where, here, results.address<R>(1), modifiers...);
    onefold::synchronize(where);
    std::string wrong = difference(expected, results.value<R>(1), onefold::name(What));
    if (results.value<unsigned char>(sizeof(R) - 1) != 0xa5 || results.value<unsigned char>(2 * sizeof(R)) != 0xa5)
      wrong += "wrote beside the result\n";
    return wrong;
  };
  const auto conclude_all = [&](const state& of) {
    std::string wrong = conclude(of);
    if constexpr (What == form::mean_variance) wrong += conclude(of, onefold::ddof{1});
    if constexpr (!std::is_same_v<T, double> && !std::is_integral_v<T>) wrong += conclude(of, accumulate_as<double>);
    return wrong;
  };
  std::string wrong = conclude_all(right);
  for (std::size_t i = 0; i < state::size(); ++i) got.words()[i] = words.value<std::int64_t>(1 + i);
  wrong += difference(right, got);
  if (words.value<std::uint64_t>(0) != 0xa5a5a5a5a5a5a5a5U || words.value<std::uint64_t>(1 + state::size()) != 0xa5a5a5a5a5a5a5a5U)
    wrong += "wrote beside the words\n";
  // As ncclAllReduce adds the words of five more ranks.
  for (std::size_t i = 0; i < state::size(); ++i) got.words()[i] *= 6;
  expect_success(cudaMemcpy(here, got.words(), state::size() * sizeof(std::int64_t), cudaMemcpyDefault), "cudaMemcpy");
  wrong += conclude_all(got);
  count_dispatch(where);
  return wrong;
}

TEST_F(exact_gpu, puts_words_into_its_memory_and_makes_results_of_them_cuda) {
  for_each_float([&]<class T> {
    for (const contents kind : each_contents)
      for (const std::uint64_t n : {0, 1, 257, 20'000, 300'001}) {
        const on_both<T> x(elements_of<T>(kind, n + 3, current_seed() + n)), y(elements_of<T>(kind, n + 3, current_seed() + n + 1));
        const std::string wrong = wrong_words<form::sum>(where_, x, 1, x, 1, n) + wrong_words<form::norm1>(where_, x, 0, x, 0, n) +
                                  wrong_words<form::norm2>(where_, x, 0, x, 0, n) + wrong_words<form::mean>(where_, x, 0, x, 0, n) +
                                  wrong_words<form::sum_of_squares>(where_, x, 1, x, 1, n) +
                                  wrong_words<form::mean_variance>(where_, x, 0, x, 0, n) +
                                  wrong_words<form::dot>(where_, x, 1, y, 0, n);
        ASSERT_EQ(wrong, "") << said<T>(kind, n);
      }
  });
}

TEST_F(exact_gpu, puts_words_of_integers_into_its_memory_cuda) {
  for_each_integer([&]<class T> {
    for (const integers kind : each_integers)
      for (const std::uint64_t n : {0, 1, 257, 300'001}) {
        const on_both<T> x(integers_of<T>(kind, n + 3, current_seed() + n));
        const std::string wrong = wrong_words<form::norm2>(where_, x, 0, x, 0, n) + wrong_words<form::mean>(where_, x, 1, x, 1, n) +
                                  wrong_words<form::mean_variance>(where_, x, 0, x, 0, n);
        ASSERT_EQ(wrong, "") << onefold::name(onefold::element_type_of<T>) << ", kind " << static_cast<int>(kind) << ", " << n;
      }
  });
}

// Of each form with states of the parts, of an array and of it six times.
template <class T>
std::string wrong_words_of_complex(const onefold::executor& where, form what, const on_both<T>& x, std::size_t at_x,
                                   const on_both<T>& y, std::size_t at_y, std::uint64_t count) {
  using complex = std::complex<T>;
  constexpr std::int32_t type = sizeof(T) == sizeof(float) ? ONEFOLD_C64 : ONEFOLD_C128;
  const auto its = static_cast<std::int32_t>(what);
  const bool is_of_each = onefold::detail::exact::has_state_for_each_part(what), is_dot = what == form::dot;
  const std::size_t size = (is_of_each ? 2 : 1) * onefold::detail::exact::kind_of(what, onefold::element_type_of<T>).words();
  static result_on_gpu words, results;
  words.clear();
  results.clear();
  auto* const here = words.address<std::int64_t>(1);
  auto* const result = results.address<complex>(1);
  const onefold_executor on = onefold::detail::c_executor(where);
  EXPECT_EQ(onefold_exact_put_words(type, its, on, x.device(at_x), is_dot ? y.device(at_y) : nullptr, count, here, nullptr), 0)
      << onefold_last_error();
  EXPECT_EQ(onefold_exact_put_result(type, its, 0, 0, on, here, result), 0) << onefold_last_error();
  onefold::synchronize(where);
  std::int64_t right[420];
  T expected[3];
  onefold_request asked{};
  asked.struct_bytes = sizeof(asked);
  asked.where = onefold_serial();
  asked.type = type;
  asked.form = its;
  asked.input = x.host(at_x);
  asked.second = is_dot ? y.host(at_y) : nullptr;
  asked.count = count;
  asked.output = expected;
  asked.exact_state = right;
  onefold_options how{};
  how.struct_bytes = sizeof(how);
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  EXPECT_EQ(onefold_reduce(&asked, &how), 0) << onefold_last_error();
  std::string wrong;
  for (std::size_t i = 0; i < size; ++i)
    if (words.value<std::int64_t>(1 + i) != right[i]) wrong += "word " + std::to_string(i) + "\n";
  if (words.value<std::uint64_t>(0) != 0xa5a5a5a5a5a5a5a5U || words.value<std::uint64_t>(1 + size) != 0xa5a5a5a5a5a5a5a5U)
    wrong += "wrote beside the words\n";
  const std::size_t bytes = (what == form::mean_variance ? 3 : is_of_each ? 2 : 1) * sizeof(T);
  const auto see = [&](const void* of) {
    const auto got = results.value<std::array<complex, 3>>(0);
    if (std::memcmp(&got[1], of, bytes) != 0) wrong += std::string(onefold::name(what)).append("\n");
    if (results.value<unsigned char>(sizeof(complex) - 1) != 0xa5 || results.value<unsigned char>(sizeof(complex) + bytes) != 0xa5)
      wrong += "wrote beside the result\n";
  };
  see(expected);
  for (std::size_t i = 0; i < size; ++i) right[i] *= 6;
  expect_success(cudaMemcpy(here, right, size * sizeof(*right), cudaMemcpyDefault), "cudaMemcpy");
  T of_six[3];
  EXPECT_EQ(onefold_exact_put_result(type, its, 0, 0, onefold_serial(), right, of_six), 0) << onefold_last_error();
  EXPECT_EQ(onefold_exact_put_result(type, its, 0, 0, on, here, result), 0) << onefold_last_error();
  onefold::synchronize(where);
  see(of_six);
  count_dispatch(where);
  return wrong;
}

TEST_F(exact_gpu, puts_words_of_complex_numbers_into_its_memory_cuda) {
  const auto compare = [&]<class T>(T) {
    for (const contents kind : each_contents)
      for (const std::uint64_t n : {0, 1, 255, 20'000, 300'001}) {
        const std::size_t parts = 2 * n + 4;
        const on_both<T> x(elements_of<T>(kind, parts, current_seed() + n)), y(elements_of<T>(kind, parts, current_seed() + n + 1));
        for (const form what : {form::sum, form::mean, form::mean_variance, form::dot, form::sum_of_squares, form::norm2})
          ASSERT_EQ(wrong_words_of_complex(where_, what, x, 1, y, 0, n), "") << said<T>(kind, n);
        ASSERT_EQ(wrong_words_of_complex(where_, form::dot, x, 1, x, 1, n), "") << said<T>(kind, n);
      }
  };
  compare(float{});
  compare(double{});
}

TEST_F(exact_gpu, gives_a_number_of_ones_alone_for_words_that_are_no_state_cuda) {
  using state = exact_state<form::mean_variance, double>;
  const std::size_t n = 10'007;
  const on_both<double> x(elements_of<double>(contents::normal, n, current_seed()));
  const auto right = state_of<form::mean_variance>(onefold::serial(), x.host(), x.host(), n);
  result_on_gpu place;
  random_numbers random(current_seed());
  for (int i = 0; i < 300; ++i) {
    state bad = right;
    bad.words()[random.below(state::size())] ^= std::int64_t{1} << random.below(64);
    place.clear();
    auto* const words = place.address<std::int64_t>(8);
    auto* const result = place.address<onefold::mean_variance_result<double>>();
    expect_success(cudaMemcpy(words, bad.words(), state::size() * sizeof(std::int64_t), cudaMemcpyDefault), "cudaMemcpy");
    state::put_value(where_, words, result);
    onefold::synchronize(where_);
    ASSERT_EQ(place.value<std::uint64_t>(0), ~std::uint64_t{0}) << i;
    ASSERT_EQ(place.value<std::uint64_t>(1), ~std::uint64_t{0}) << i;
    ASSERT_EQ(place.value<std::uint64_t>(2), 0xa5a5a5a5a5a5a5a5U) << i;
  }
  EXPECT_TRUE(refuses(errc::host_pointer, "exact_state::add()",
                      [&] { state::put_words(where_, x.host(), n, place.address<std::int64_t>()); }));
  count_dispatch(where_);
}

// Words, what adds those of another part to them, and the result, one behind the other in a graph, on other data at each replay.
TEST_F(exact_gpu, records_words_and_their_results_in_graphs_cuda) {
  using state = exact_state<form::dot, double>;
  const std::size_t n = 200'003;
  for (const bool warm : {true, false}) {
    const stream own;
    const auto where = onefold::cuda(0, own.get());
    on_both<double> x(elements_of<double>(contents::normal, n, 1));
    result_on_gpu place;
    const auto calls = [&] {
      state::put_words(where, x.device(), x.device(1), n - 1, place.address<std::int64_t>(8));
      state::put_value(where, place.address<std::int64_t>(8), place.address<double>(0));
      onefold::sum_into(where, x.device(), n, place.address<double>(1), exactly);
      state::put_words(where, x.device(2), x.device(), n - 2, place.address<std::int64_t>(8));
      state::put_value(where, place.address<std::int64_t>(8), place.address<double>(2));
    };
    if (warm) {
      calls();
      own.synchronize();
    }
    recording graph(own.get());
    calls();
    graph.end();
    for (const contents kind : {contents::many_outliers, contents::all_exponents, contents::infinities, contents::normal}) {
      x.assign(elements_of<double>(kind, n, current_seed()));
      place.clear();
      graph.replay();
      own.synchronize();
      const auto serial = onefold::serial();
      ASSERT_EQ(difference(onefold::dot(serial, x.host(), x.host(1), n - 1, exactly), place.value<double>(0), "dot") +
                    difference(onefold::sum(serial, x.host(), n, exactly), place.value<double>(1), "sum") +
                    difference(onefold::dot(serial, x.host(2), x.host(), n - 2, exactly), place.value<double>(2), "second dot"),
                "")
          << static_cast<int>(kind) << (warm ? "" : ", recorded at the stream's first call");
      count_dispatch(where);
    }
  }
}

// --- streams and graphs

// A copy ahead and one behind on the same stream, with nothing waited for in between.
TEST_F(exact_gpu, keeps_its_place_on_the_callers_stream_cuda) {
  const std::size_t n = 500'009;
  const stream own;
  const auto where = onefold::cuda(0, own.get());
  const auto data = elements_of<double>(contents::many_outliers, n, current_seed()),
             stale = elements_of<double>(contents::nans, n, 1);
  const double right = onefold::sum(onefold::serial(), data, exactly);
  block fresh_source(memory::pinned, n * sizeof(double)), stale_source(memory::pinned, n * sizeof(double)),
      result(memory::pinned, 64);
  fresh_source.write(0, data.data(), n * sizeof(double));
  stale_source.write(0, stale.data(), n * sizeof(double));
  const block input(memory::device, n * sizeof(double)), output(memory::device, 64);
  const auto* const x = reinterpret_cast<const double*>(input.address());
  auto* const sum = reinterpret_cast<double*>(output.address());
  const auto copy = [&](std::byte* to, const std::byte* from, std::size_t bytes) {
    expect_success(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, own.get()), "cudaMemcpyAsync");
  };
  copy(input.address(), stale_source.address(), n * sizeof(double));
  onefold::sum_into(where, x, n, sum, exactly);  // warm: memory is had before
  for (int round = 0; round < 3; ++round) {
    copy(input.address(), fresh_source.address(), n * sizeof(double));
    onefold::sum_into(where, x, n, sum, exactly);
    copy(result.address(), output.address(), sizeof(double));
    copy(input.address(), stale_source.address(), n * sizeof(double));
    own.synchronize();
    double got = 0;
    result.read(0, &got, sizeof(got));
    ASSERT_EQ(scalar_of(got), scalar_of(right)) << round;
    count_dispatch(where);
  }
}

// Exact and other calls in one graph, on other data at each replay, with calls of the same stream in between.
TEST_F(exact_gpu, is_recorded_and_replayed_on_other_data_cuda) {
  const std::size_t n = 200'003;
  for (const bool warm : {true, false}) {
    const stream own;
    const auto where = onefold::cuda(0, own.get());
    on_both<double> x(elements_of<double>(contents::normal, n, 1)), y(elements_of<double>(contents::within_60, n, 2));
    const on_both<float> narrow(elements_of<float>(contents::within_60, n, 3));
    result_on_gpu place;
    using complex_moments = onefold::mean_variance_result<std::complex<double>>;
    const auto calls = [&] {
      onefold::sum_into(where, x.device(), n, place.address<double>(0), exactly);
      onefold::sum_into(where, x.device(), n, place.address<double>(1), fixed);
      onefold::dot_into(where, x.device(), y.device(1), n - 1, place.address<double>(2), exactly);
      onefold::norm2_into(where, narrow.device(3), n - 3, place.address<float>(6), exactly);
      onefold::mean_variance_into(where, x.device(1), n - 1, place.address<onefold::mean_variance_result<double>>(2), exactly);
      onefold::sum_into(where, reinterpret_cast<const std::complex<double>*>(x.device(1)), n / 2,
                        place.address<std::complex<double>>(3), exactly);
      onefold::mean_variance_into(where, reinterpret_cast<const std::complex<double>*>(x.device(1)), n / 2,
                                  place.address<complex_moments>(3), exactly);
      onefold::dot_into(where, x.device(), x.device(), n, place.address<double>(8), fixed);
    };
    if (warm) {  // once before, so that no memory is needed in the recording
      calls();
      own.synchronize();
    }
    recording graph(own.get());
    EXPECT_TRUE(refuses(errc::unsupported, "captured", [&] { static_cast<void>(onefold::sum(where, x.device(), n, exactly)); }));
    calls();
    graph.end();
    for (const contents kind :
         {contents::many_outliers, contents::normal, contents::all_exponents, contents::minus_zeros, contents::infinities}) {
      x.assign(elements_of<double>(kind, n, current_seed()));
      place.clear();
      graph.replay();
      own.synchronize();
      count_dispatch(where);
      const auto serial = onefold::serial();
      const std::string wrong =
          difference(onefold::sum(serial, x.host(), n, exactly), place.value<double>(0), "sum") +
          difference(onefold::sum(serial, x.host(), n, fixed), place.value<double>(1), "sum in the fixed order") +
          difference(onefold::dot(serial, x.host(), y.host(1), n - 1, exactly), place.value<double>(2), "dot") +
          difference(onefold::norm2(serial, narrow.host(3), n - 3, exactly), place.value<float>(6), "norm2") +
          difference(onefold::mean_variance(serial, x.host(1), n - 1, exactly),
                     place.value<onefold::mean_variance_result<double>>(2), "mean_variance") +
          difference(onefold::sum(serial, reinterpret_cast<const std::complex<double>*>(x.host(1)), n / 2, exactly),
                     place.value<std::complex<double>>(3), "complex sum") +
          difference(onefold::mean_variance(serial, reinterpret_cast<const std::complex<double>*>(x.host(1)), n / 2, exactly),
                     place.value<complex_moments>(3), "complex mean_variance") +
          difference(onefold::dot(serial, x.host(), x.host(), n, fixed), place.value<double>(8), "dot in the fixed order");
      ASSERT_EQ(wrong, "") << "contents " << static_cast<int>(kind) << (warm ? "" : ", recorded at the stream's first call");
      // Outside of the graph the stream goes on, and the graph does not mind.
      ASSERT_EQ(scalar_of(onefold::norm1(where, x.device(), n / 2, exactly)),
                scalar_of(onefold::norm1(serial, x.host(), n / 2, exactly)));
    }
  }
}

// Several host threads, each with a stream, and two on the default stream.
TEST_F(exact_gpu, serves_several_streams_and_threads_at_once_cuda) {
  const std::size_t n = 60'001;
  on_host_threads(6, [&](std::size_t t) -> std::string {
    std::optional<stream> own;
    if (t < 4) own.emplace();
    const auto where = own ? onefold::cuda(0, own->get()) : onefold::cuda();
    const on_both<double> x(elements_of<double>(each_contents[t % 4], n, t));
    const on_both<float> y(elements_of<float>(each_contents[t % 4], n, t + 1));
    result_on_gpu place;
    for (std::size_t call = 0; call < 40; ++call) {
      const std::size_t count = n - 1'009 * call;
      onefold::sum_into(where, x.device(), count, place.address<double>(0), exactly);
      onefold::dot_into(where, y.device(), y.device(1), count - 1, place.address<float>(2), exactly);
      onefold::sum_into(where, x.device(), count, place.address<double>(2), fixed);
      const double norm = onefold::norm2(where, x.device(), count, exactly);
      onefold::synchronize(where);
      const auto serial = onefold::serial();
      const std::string wrong =
          difference(onefold::sum(serial, x.host(), count, exactly), place.value<double>(0), "sum") +
          difference(onefold::dot(serial, y.host(), y.host(1), count - 1, exactly), place.value<float>(2), "dot") +
          difference(onefold::sum(serial, x.host(), count, fixed), place.value<double>(2), "sum in the fixed order") +
          difference(onefold::norm2(serial, x.host(), count, exactly), norm, "norm2");
      if (!wrong.empty()) return "thread " + std::to_string(t) + ", call " + std::to_string(call) + ": " + wrong;
      count_dispatch(where);
    }
    return {};
  });
}

// Two streams, from one thread, with nothing waited for.
TEST_F(exact_gpu, of_two_streams_in_turns_is_right_cuda) {
  constexpr std::size_t calls = 60, n = 1'000'003;
  const stream one, other;
  const on_both<double> x(elements_of<double>(contents::many_outliers, n, current_seed()));
  result_on_gpu of_one, of_other;
  for (std::size_t i = 0; i < calls; ++i) {
    onefold::sum_into(onefold::cuda(0, one.get()), x.device(i), n - i, of_one.address<double>(i), exactly);
    onefold::sum_of_squares_into(onefold::cuda(0, other.get()), x.device(i), n - i, of_other.address<double>(i), exactly);
  }
  one.synchronize();
  other.synchronize();
  for (std::size_t i = 0; i < calls; i += 7) {
    ASSERT_EQ(scalar_of(of_one.value<double>(i)), scalar_of(onefold::sum(onefold::serial(), x.host(i), n - i, exactly))) << i;
    ASSERT_EQ(scalar_of(of_other.value<double>(i)),
              scalar_of(onefold::sum_of_squares(onefold::serial(), x.host(i), n - i, exactly)))
        << i;
  }
  count_dispatch(onefold::cuda());
}

// --- working memory

// Exact calls and those of the fixed order one behind the other, not waited for: they share the memory of their stream, or one
// workspace.
class exact_in_turns : public exact_gpu {
 protected:
  static void expect_right(const onefold::executor& where, onefold::workspace* own) {
    constexpr std::size_t calls = 160, most = 1'000'000;
    using complex = std::complex<double>;
    using complex_moments = onefold::mean_variance_result<complex>;
    const on_both<double> x(elements_of<double>(contents::normal, most, current_seed())),
        y(elements_of<double>(contents::outliers, most, current_seed() + 1));
    const onefold::options exact_here{.guarantee = guarantee::exact, .workspace = own},
        fixed_here{.guarantee = guarantee::fixed, .workspace = own};
    result_on_gpu place;
    place.clear();
    struct call {
      std::size_t at, count;
      std::uint64_t kind;
    };
    std::vector<call> made;
    random_numbers random(current_seed());
    for (std::size_t i = 0; i < calls; ++i) {
      const auto count = static_cast<std::size_t>(std::exp2(19.9 * random.unit()));
      const call now{random.below(most - count), count, random.below(7)};
      made.push_back(now);
      double* const to = place.address<double>(3 * i);
      const double *const a = x.device(now.at), *const b = y.device(now.at);
      if (now.kind == 0) onefold::sum_into(where, a, count, to, exact_here);
      if (now.kind == 1) onefold::sum_into(where, a, count, to, fixed_here);
      if (now.kind == 2) onefold::dot_into(where, a, b, count, to, exact_here);
      if (now.kind == 3) onefold::dot_into(where, a, b, count, to, fixed_here);
      if (now.kind == 4) onefold::norm2_into(where, b, count, to, exact_here);
      if (now.kind == 5)
        onefold::mean_variance_into(where, b, count, reinterpret_cast<onefold::mean_variance_result<double>*>(to), exact_here);
      if (now.kind == 6)
        onefold::mean_variance_into(where, reinterpret_cast<const complex*>(b), count / 2, reinterpret_cast<complex_moments*>(to),
                                    exact_here);
    }
    onefold::synchronize(where);
    count_dispatch(where);
    const auto serial = onefold::serial();
    for (std::size_t i = 0; i < calls; ++i) {
      const auto& [at, count, kind] = made[i];
      const double *const a = x.host(at), *const b = y.host(at);
      if (kind == 6) {
        if (count < 2) continue;  // the mean of none is any NaN
        ASSERT_EQ(difference(onefold::mean_variance(serial, reinterpret_cast<const complex*>(b), count / 2, exactly),
                             place.value<complex_moments>(i), "complex mean_variance"),
                  "")
            << "call " << i << ", " << count / 2 << " numbers";
        continue;
      }
      const double right = kind == 0   ? onefold::sum(serial, a, count, exactly)
                           : kind == 1 ? onefold::sum(serial, a, count, fixed)
                           : kind == 2 ? onefold::dot(serial, a, b, count, exactly)
                           : kind == 3 ? onefold::dot(serial, a, b, count, fixed)
                           : kind == 4 ? onefold::norm2(serial, b, count, exactly)
                                       : onefold::mean_variance(serial, b, count, exactly).mean;
      ASSERT_EQ(difference(right, place.value<double>(3 * i), "result"), "")
          << "call " << i << " of kind " << kind << ", " << count << " elements";
      if (kind == 5) {
        ASSERT_EQ(
            difference(onefold::mean_variance(serial, b, count, exactly).variance, place.value<double>(3 * i + 1), "variance"), "")
            << "call " << i;
      }
    }
  }
};

TEST_F(exact_in_turns, with_the_fixed_order_on_one_stream_cuda) {
  const stream own;
  expect_right(onefold::cuda(0, own.get()), nullptr);
  expect_right(onefold::cuda(), nullptr);
}

TEST_F(exact_in_turns, with_the_fixed_order_in_one_workspace_cuda) {
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  onefold::workspace own(where, 1'000'000);
  expect_right(where, &own);
  expect_right(where, &own);
}

TEST_F(exact_gpu, takes_a_workspace_for_few_elements_and_does_not_overrun_it_cuda) {
  constexpr std::size_t zone = 256;
  const std::size_t bytes = onefold::workspace::bytes(1);
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const on_both<double> x(elements_of<double>(contents::all_exponents, 20'000, current_seed()));
  for (const bool ones : {true, false}) {
    block memory(memory::device, bytes + 2 * zone);
    std::vector<std::uint64_t> content((bytes + 2 * zone) / 8);
    random_numbers random(current_seed());
    for (auto& word : content) word = ones ? ~std::uint64_t{0} : random();
    memory.write(0, content.data(), content.size() * 8);
    {
      onefold::workspace own(where, memory.address() + zone, bytes);
      const onefold::options how{.guarantee = guarantee::exact, .workspace = &own};
      const double first = onefold::sum(where, x.device(), 1, how);
      EXPECT_EQ(scalar_of(first), scalar_of(*x.host()));
      const auto moments = onefold::mean_variance(where, x.device(), 1, how);
      EXPECT_EQ(difference(onefold::mean_variance(onefold::serial(), x.host(), 1, exactly), moments, "mean_variance"), "");
      exact_state<form::dot, double> state;
      state.add(where, x.device(), x.device(), 1, how);
      EXPECT_EQ(difference(state_of<form::dot>(onefold::serial(), x.host(), x.host(), 1), state), "");
      count_dispatch(where);
    }
    std::vector<std::uint64_t> now(content.size());
    memory.read(0, now.data(), now.size() * 8);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (i < zone / 8 || i >= (zone + bytes) / 8) {
        ASSERT_EQ(now[i], content[i]) << "wrote beside the workspace, at byte " << 8 * i;
      }
  }
}

TEST_F(exact_gpu, records_its_first_call_with_a_workspace_cuda) {
  const std::size_t n = 300'001;
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  onefold::workspace own(where, n);
  on_both<float16> x(elements_of<float16>(contents::normal, n, 1));
  result_on_gpu place;
  recording graph(on.get());
  onefold::mean_variance_into(where, x.device(1), n - 1, place.address<onefold::mean_variance_result<float>>(),
                              {.guarantee = guarantee::exact, .workspace = &own});
  graph.end();
  for (std::uint64_t round = 0; round < 3; ++round) {
    x.assign(elements_of<float16>(contents::all_exponents, n, round));
    place.clear();
    graph.replay();
    on.synchronize();
    const auto right = onefold::mean_variance(onefold::serial(), x.host(1), n - 1, exactly);
    ASSERT_EQ(difference(right, place.value<onefold::mean_variance_result<float>>(), "mean_variance"), "") << round;
    // Between replays the workspace serves other calls.
    ASSERT_EQ(scalar_of(onefold::sum(where, x.device(), n, {.guarantee = guarantee::fixed, .workspace = &own})),
              scalar_of(onefold::sum(onefold::serial(), x.host(), n, fixed)));
    count_dispatch(where);
  }
}

// The states of both parts have their place there until a kernel makes the result of them.
TEST_F(exact_gpu, keeps_both_parts_moments_in_a_workspace_cuda) {
  using complex = std::complex<double>;
  using moments = onefold::mean_variance_result<complex>;
  const std::size_t n = 5'001;
  const on_both<double> x(elements_of<double>(contents::all_exponents, 2 * n, current_seed()));
  const auto* const there = reinterpret_cast<const complex*>(x.device());
  const auto right = onefold::mean_variance(onefold::serial(), reinterpret_cast<const complex*>(x.host()), n, exactly);
  result_on_gpu place;
  for (const bool has_room : {true, false}) {
    const block memory(memory::device, has_room ? onefold::workspace::bytes(1, 1680) : onefold::workspace::bytes(1));
    onefold::workspace own(where_, memory.address(), memory.bytes());
    const onefold::options how{.guarantee = guarantee::exact, .workspace = &own};
    place.clear();
    const auto call = [&] { onefold::mean_variance_into(where_, there, n, place.address<moments>(), how); };
    if (!has_room) {
      EXPECT_TRUE(refuses(errc::unsupported, "bytes", call));
      continue;
    }
    call();
    onefold::synchronize(where_);
    EXPECT_EQ(difference(right, place.value<moments>(), "mean_variance"), "");
    // A host that waits needs no more than for real numbers.
    EXPECT_EQ(difference(right, onefold::mean_variance(where_, there, n, how), "mean_variance returned"), "");
  }
  count_dispatch(where_);
}

TEST_F(exact_gpu, refuses_a_workspace_that_is_too_small_cuda) {
  const on_both<double> x(elements_of<double>(contents::normal, 1'000, current_seed()));
  const block memory(memory::device, 1'024);
  result_on_gpu place;
  place.clear();
  onefold::workspace small(where_, memory.address(), memory.bytes());
  const onefold::options how{.guarantee = guarantee::exact, .workspace = &small};
  EXPECT_TRUE(refuses(errc::unsupported, "workspace holds 1024 bytes",
                      [&] { static_cast<void>(onefold::sum(where_, x.device(), 1'000, how)); }));
  EXPECT_TRUE(refuses(errc::unsupported, "workspace holds 1024 bytes",
                      [&] { onefold::dot_into(where_, x.device(), x.device(), 1'000, place.address<double>(), how); }));
  exact_state<form::sum, double> state;
  EXPECT_TRUE(refuses(errc::unsupported, "workspace holds 1024 bytes", [&] { state.add(where_, x.device(), 1'000, how); }));
  EXPECT_EQ(state.count(), 0u);
  EXPECT_EQ(scalar_of(place.value<double>()).bits, 0xa5a5a5a5a5a5a5a5u);
  EXPECT_EQ(scalar_of(onefold::sum(where_, x.device(), 1'000, exactly)),
            scalar_of(onefold::sum(onefold::serial(), x.host(), 1'000, exactly)));
  count_dispatch(where_);
}

// --- other ways to ask

TEST_F(exact_gpu, reads_pinned_and_managed_memory_and_stores_there_cuda) {
  const std::size_t n = 30'011;
  const auto data = elements_of<double>(contents::some_outliers, n, current_seed());
  const double right = onefold::sum(onefold::serial(), data, exactly);
  for (const memory kind : {memory::pinned, memory::managed}) {
    block input(kind, n * sizeof(double)), output(kind, 64);
    input.write(0, data.data(), n * sizeof(double));
    const auto* const x = reinterpret_cast<const double*>(input.address());
    EXPECT_EQ(scalar_of(onefold::sum(where_, x, n, exactly)), scalar_of(right));
    onefold::sum_into(where_, x, n, reinterpret_cast<double*>(output.address()), exactly);
    onefold::synchronize(where_);
    double got = 0;
    output.read(0, &got, sizeof(got));
    EXPECT_EQ(scalar_of(got), scalar_of(right));
    count_dispatch(where_);
  }
}

TEST_F(exact_gpu, is_taken_by_a_batch_cuda) {
  const std::size_t n = 100'003;
  const on_both<double> x(elements_of<double>(contents::many_outliers, n, 1)),
      y(elements_of<double>(contents::all_exponents, n, 2));
  const on_both<int> whole(std::vector<int>(1'000, 7));
  double sum = 0, dot = 0, norm = 0;
  float mean = 0;
  int seven = 0;
  std::complex<double> both;
  onefold::mean_variance_result<double> moments{};
  const auto* const floats = reinterpret_cast<const float*>(whole.device());
  const auto* const complex = reinterpret_cast<const std::complex<double>*>(x.device());
  onefold::batch work(where_);
  work.add(onefold::sum, x.device(), n, &sum)
      .add(onefold::dot, x.device(), y.device(), n, &dot)
      .add(onefold::norm2, y.device(1), n - 1, &norm);
  work.add(onefold::mean, floats, 1'000, &mean).add(onefold::sum, whole.device(), 1'000, &seven);
  work.add(onefold::mean_variance, x.device(), n, &moments).add(onefold::sum, complex, n / 2, &both);
  const auto serial = onefold::serial();
  for (int round = 0; round < 2; ++round) {
    work.run(exactly);
    EXPECT_EQ(difference(onefold::sum(serial, x.host(), n, exactly), sum, "sum") +
                  difference(onefold::dot(serial, x.host(), y.host(), n, exactly), dot, "dot") +
                  difference(onefold::norm2(serial, y.host(1), n - 1, exactly), norm, "norm2") +
                  difference(onefold::mean(serial, reinterpret_cast<const float*>(whole.host()), 1'000, exactly), mean, "mean") +
                  difference(onefold::mean_variance(serial, x.host(), n, exactly), moments, "mean_variance") +
                  difference(onefold::sum(serial, reinterpret_cast<const std::complex<double>*>(x.host()), n / 2, exactly), both,
                             "complex sum"),
              "");
    EXPECT_EQ(seven, 7'000);
    count_dispatch(where_);
  }
}

TEST_F(exact_gpu, says_in_its_report_what_ran_cuda) {
  const on_both<double> x(elements_of<double>(contents::normal, 100'000, current_seed()));
  const on_both<int> whole(std::vector<int>(100, 3));
  for (const std::string_view asked : {"", "superaccumulator"}) {
    onefold::report ran;
    const onefold::options how{.variant = asked, .guarantee = guarantee::exact, .report = &ran};
    EXPECT_EQ(scalar_of(onefold::sum(where_, x.device(), x.size(), how)),
              scalar_of(onefold::sum(onefold::serial(), x.host(), x.size(), exactly)));
    EXPECT_EQ(ran.variant, "superaccumulator");
    EXPECT_EQ(ran.implementation, "superaccumulator");
    EXPECT_EQ(ran.guarantee, guarantee::exact);
    EXPECT_EQ(ran.backend, onefold::backend::cuda);
    EXPECT_EQ(ran.device, 0);
    EXPECT_EQ(ran.launches, 1);
    EXPECT_GT(ran.grid_size, 1);
    EXPECT_GT(ran.block_size, 0);
    static_cast<void>(onefold::mean_variance(where_, x.device(), x.size(), how));
    EXPECT_EQ(ran.launches, 2);
    static_cast<void>(onefold::mean_variance(where_, whole.device(), whole.size(), how));
    EXPECT_EQ(ran.launches, 1);  // both sums of integers come of one read
  }
  // Named, it is what runs without that guarantee too, and says more than was asked for.
  onefold::report ran;
  static_cast<void>(onefold::sum(where_, x.device(), x.size(), {.variant = "superaccumulator", .report = &ran}));
  EXPECT_EQ(ran.guarantee, guarantee::exact);
  // Of what no order changes.
  EXPECT_EQ(onefold::sum(where_, whole.device(), 100, {.guarantee = guarantee::exact, .report = &ran}), 300);
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.guarantee, guarantee::exact);
  EXPECT_EQ(onefold::max(where_, x.device(), x.size(), {.guarantee = guarantee::exact, .report = &ran}),
            onefold::max(onefold::serial(), x.host(), x.size()));
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(scalar_of(onefold::sum(onefold::best(), x.device(), x.size(), {.guarantee = guarantee::exact, .report = &ran})),
            scalar_of(onefold::sum(onefold::serial(), x.host(), x.size(), exactly)));
  EXPECT_EQ(ran.backend, onefold::backend::cuda);
  count_dispatch(where_);
}

// What bins are decides the time, and nothing else (decision 0053).
class exact_bins : public exact_gpu {
 protected:
  void SetUp() override {
    exact_gpu::SetUp();
    if (const char* const before = getenv(variable)) before_ = before;
  }
  void TearDown() override {
    if (before_)
      setenv(variable, before_->c_str(), 1);
    else
      unsetenv(variable);
    exact_gpu::TearDown();
  }
  template <class T>
  void expect_same_states(const std::vector<T>& data, const std::string& words) {
    const on_both<T> x(data);
    for (const char* const bins : {"doubles", "integers"}) {
      if (bins[0] == 'd' && !has_room_for_doubles()) continue;
      setenv(variable, bins, 1);
      for (const std::size_t offset : {0, 1})
        ASSERT_EQ(wrong_forms_of_one(where_, x, offset, data.size() - 1), "")
            << words << ", offset " << offset << ", bins of " << bins;
    }
  }

 private:
  // Whether this GPU lends a block as much as the window of doubles takes.
  static bool has_room_for_doubles() {
    int bytes = 0;
    expect_success(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "cudaDeviceGetAttribute");
    return bytes >= 114 * 1024;
  }
  static constexpr const char* variable = "ONEFOLD_CUDA_EXACT";
  std::optional<std::string> before_;
};

TEST_F(exact_bins, of_either_kind_make_the_states_of_any_contents_cuda) {
  for_each_float([&]<class T> {
    for (const contents kind : each_contents)
      for (const std::size_t n : {3, 1'001, 30'011, 700'001}) {
        if (n == 700'001 && kind != contents::normal && kind != contents::all_bits && kind != contents::mostly_zeros) continue;
        ASSERT_NO_FATAL_FAILURE(expect_same_states(elements_of<T>(kind, n, current_seed() + n), said<T>(kind, n)));
      }
  });
}

TEST_F(exact_bins, of_either_kind_follow_changing_exponents_cuda) {
  for_each_float([&]<class T> {
    for (const std::size_t length : {1, 7, 300, 5'000})
      ASSERT_NO_FATAL_FAILURE(expect_same_states(changing<T>(length, 60'001, current_seed() + length),
                                                 "others every " + std::to_string(length) + " elements"));
  });
}

// Nothing cancels, and pieces are as great as they get.
TEST_F(exact_bins, of_either_kind_take_many_numbers_of_one_sign_whose_digits_are_ones_cuda) {
  const std::size_t n = 20'000'003;
  for (const std::uint64_t field : {std::uint64_t{126}, std::uint64_t{127}}) {
    const std::vector<float> x(n, from_fields<float>(false, field, 0x7fffff));
    ASSERT_NO_FATAL_FAILURE(expect_same_states(x, "exponent field " + std::to_string(field)));
  }
}

TEST_F(exact_gpu, refuses_what_has_no_exact_sum_and_memory_that_it_cannot_read_cuda) {
  const on_both<double> x(elements_of<double>(contents::normal, 1'000, current_seed()));
  const on_both<int> whole(std::vector<int>(100, 3));
  const on_both<std::int64_t> longer(std::vector<std::int64_t>(1'000, 3));
  const double* const there = x.device();
  const auto refused = [&](errc code, std::string_view words, auto&& call) {
    return refuses(code, words, [&] { static_cast<void>(call()); });
  };
  constexpr errc not_met = errc::guarantee_not_met;
  EXPECT_TRUE(refused(not_met, "prod", [&] { return onefold::prod(where_, there, 1'000, exactly); }));
  EXPECT_TRUE(refused(not_met, "i64", [&] { return onefold::dot(where_, there, longer.device(), 1'000, exactly); }));
  EXPECT_TRUE(refused(not_met, "fixed_order", [&] {
    return onefold::sum(where_, there, 1'000, {.variant = "fixed_order", .guarantee = guarantee::exact});
  }));
  EXPECT_TRUE(refused(not_met, "complex",
                      [&] { return onefold::norm1(where_, reinterpret_cast<const std::complex<double>*>(there), 500, exactly); }));
  // A function without code for the GPU.
  EXPECT_TRUE(refused(errc::unsupported, "compile this call with nvcc", [&] {
    return onefold::sum(
        where_, std::uint64_t{1'000}, [](std::uint64_t i) { return static_cast<double>(i); }, exactly);
  }));
  // The host's memory, to write to.
  double stored = 7;
  EXPECT_TRUE(refuses(errc::host_pointer, "", [&] { onefold::sum_into(where_, there, 1'000, &stored, exactly); }));
  EXPECT_EQ(stored, 7);
  const auto* const odd = reinterpret_cast<const double*>(reinterpret_cast<const std::byte*>(there) + 4);
  EXPECT_TRUE(refused(errc::misaligned_pointer, "", [&] { return onefold::sum(where_, odd, 10, exactly); }));
  EXPECT_TRUE(
      refused(errc::null_pointer, "", [&] { return onefold::sum(where_, static_cast<const double*>(nullptr), 10, exactly); }));
  // And goes on.
  EXPECT_EQ(scalar_of(onefold::sum(where_, there, 1'000, exactly)),
            scalar_of(onefold::sum(onefold::serial(), x.host(), 1'000, exactly)));
  count_dispatch(where_);
}

}  // namespace
}  // namespace onefold_test
