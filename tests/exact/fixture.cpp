#include "fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace onefold_test {

namespace {

std::string mismatch(const onefold::executor& where, std::string_view call, element_type type, bool wide, std::uint64_t count,
                     const scalar& expected, const scalar& got) {
  return std::string(call) + " of " + std::to_string(count) + " " + std::string(onefold::name(type)) +
         (wide ? " accumulated as double" : "") + " on " + text(where) + ": expected " + text(expected) + ", got " + text(got) +
         "\n";
}

template <class Function, class T, class... M>
std::string wrong_result(const Function& function, form what, const onefold::executor& where, const T* x, std::uint64_t count,
                         const exact_elements& expected, M... modifier) {
  constexpr bool wide = sizeof...(M) != 0;
  const scalar right = expected.result(what, wide), got = scalar_of(function(where, x, count, modifier..., exactly));
  if (got == right) return {};
  return mismatch(where, onefold::name(what), onefold::element_type_of<T>, wide, count, right, got);
}

template <class T, class... M>
std::string wrong_moments(const onefold::executor& where, const T* x, std::uint64_t count, const exact_elements& expected,
                          std::int64_t ddof, M... modifier) {
  constexpr bool wide = sizeof...(M) != 0;
  const auto [mean, variance] = onefold::mean_variance(where, x, count, onefold::ddof{ddof}, modifier..., exactly);
  const scalar first = expected.result(form::mean, wide), second = expected.variance(ddof, wide);
  const auto call = "mean_variance with ddof " + std::to_string(ddof);
  if (scalar_of(mean) != first)
    return mismatch(where, call + ", mean", onefold::element_type_of<T>, wide, count, first, scalar_of(mean));
  if (scalar_of(variance) != second)
    return mismatch(where, call + ", variance", onefold::element_type_of<T>, wide, count, second, scalar_of(variance));
  return {};
}

template <class T, class... M>
std::string wrong_in_one_width(const onefold::executor& where, const T* x, std::uint64_t count, const exact_elements& expected,
                               std::int64_t ddof, M... modifier) {
  const auto wrong = [&](const auto& function, form what) {
    return wrong_result(function, what, where, x, count, expected, modifier...);
  };
  return wrong(onefold::sum, form::sum) + wrong(onefold::norm1, form::norm1) +
         wrong(onefold::sum_of_squares, form::sum_of_squares) + wrong(onefold::norm2, form::norm2) +
         wrong(onefold::mean, form::mean) + wrong_moments(where, x, count, expected, ddof, modifier...);
}

// --- on a GPU

// A copy of an array in device memory, among NaN and as far from a boundary of 64 bytes as the array. The memory is kept, and
// grows.
class device_copy {
 public:
  template <class T>
  const T* of(const T* x, std::uint64_t count) {
    constexpr std::size_t zone = 128;
    const std::size_t before = zone + reinterpret_cast<std::uintptr_t>(x) % 64;
    std::vector<T>& image = image_of<T>();
    image.assign((before + 2 * zone) / sizeof(T) + count, from_bits<T>(layout<T>().nan()));
    std::copy(x, x + count, image.begin() + static_cast<std::ptrdiff_t>(before / sizeof(T)));
    const std::size_t bytes = image.size() * sizeof(T);
    if (!memory_ || memory_->bytes() < bytes) {
      memory_.reset();
      memory_.emplace(memory::device, 2 * bytes);
    }
    memory_->write(0, image.data(), bytes);
    return reinterpret_cast<const T*>(memory_->address() + before);
  }

 private:
  template <class T>
  static std::vector<T>& image_of() {
    static std::vector<T> image;
    return image;
  }
  std::optional<block> memory_;
};

// The results of calls that store them on the GPU, one behind the other and waited for once.
class stored_results {
 public:
  stored_results(const onefold::executor& where, const void* x, const void* y, element_type type, std::uint64_t count)
      : where_(where), x_(x), y_(y), type_(type), count_(count) {
    const std::vector<std::byte> nothing(most * bytes_of_place, std::byte{0xa5});
    place().write(0, nothing.data(), nothing.size());
  }

  void call(form what, bool wide, const scalar& first, std::int64_t ddof = 0, const std::optional<scalar>& second = {}) {
    if (asked_.size() == most) throw std::logic_error("the test has room for fewer results");
    const onefold::detail::request asked{.where = where_,
                                         .type = type_,
                                         .form = what,
                                         .input = x_,
                                         .count = count_,
                                         .output = place().address() + asked_.size() * bytes_of_place,
                                         .waits = false,
                                         .second = y_,
                                         .wide = wide,
                                         .ddof = ddof};
    asked_.push_back({what, wide, first, second});
    onefold::detail::run(asked, exactly);
  }

  [[nodiscard]] std::string wrong() const {
    onefold::synchronize(where_);
    std::byte found[most * bytes_of_place];
    place().read(0, found, sizeof(found));
    std::string all;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const auto& [what, wide, first, second] = asked_[i];
      const std::byte* at = found + i * bytes_of_place;
      const std::string call = std::string(onefold::name(what)) + ", stored on the device,";
      for (const auto& expected : {std::optional(first), second}) {
        if (!expected) continue;
        scalar got{expected->type, 0};
        std::memcpy(&got.bits, at, std::min(onefold::size_of(expected->type), sizeof(got.bits)));
        at += onefold::size_of(expected->type);
        if (got != *expected) all += mismatch(where_, call, type_, wide, count_, *expected, got);
      }
    }
    return all;
  }

 private:
  static constexpr std::size_t most = 16, bytes_of_place = 16;
  struct one {
    form what;
    bool wide;
    scalar first;
    std::optional<scalar> second;
  };
  static block& place() {
    static block memory(memory::device, most * bytes_of_place);
    return memory;
  }
  onefold::executor where_;
  const void *x_, *y_;
  element_type type_;
  std::uint64_t count_;
  std::vector<one> asked_;
};

template <class T>
std::string wrong_stored_results(const onefold::executor& where, const T* x, std::uint64_t count, const exact_elements& expected,
                                 std::int64_t ddof) {
  stored_results stored(where, x, nullptr, onefold::element_type_of<T>, count);
  for (const bool wide : {false, true}) {
    if (wide && std::is_same_v<T, double>) continue;
    for (const form what : {form::sum, form::norm1, form::sum_of_squares, form::norm2, form::mean})
      stored.call(what, wide, expected.result(what, wide));
    stored.call(form::mean_variance, wide, expected.result(form::mean, wide), ddof, expected.variance(ddof, wide));
  }
  return stored.wrong();
}

bool is_on_gpu(const onefold::executor& where) { return where.backend() == onefold::backend::cuda; }

}  // namespace

std::vector<const executor_under_test*> exact_places() {
  static const std::vector<executor_under_test> known = [] {
    std::vector<executor_under_test> found{{"serial", onefold::serial(), std::nullopt}};
    const auto& openmp = backend_under_test(onefold::backend::openmp);
    if (!openmp.built) return found;
    for (const int threads : {1, 2, 7})
      found.push_back({"openmp" + std::to_string(threads), onefold::openmp(threads),
                       openmp.usable ? std::nullopt : std::optional(openmp.detail)});
    return found;
  }();
  std::vector<const executor_under_test*> all;
  for (const auto& one : known) all.push_back(&one);
  return all;
}

std::vector<const executor_under_test*> exact_places_and_gpu() {
  auto all = exact_places();
  for (const auto* one : each_of_the_executors())
    if (is_on_gpu(one->where)) all.push_back(one);
  return all;
}

template <onefold::element T>
const T* placed(const onefold::executor& where, const T* x, std::uint64_t count, int number) {
  static device_copy copies[2];
  return is_on_gpu(where) ? copies[number].of(x, count) : x;
}

template <onefold::element T>
void walled<T>::assign(std::span<const T> x, std::size_t offset) {
  constexpr std::size_t line = 64 / sizeof(T);
  const T nan = from_bits<T>(layout<T>().nan());
  memory_.resize(x.size() + offset + 4 * line);
  const auto past_line = reinterpret_cast<std::uintptr_t>(memory_.data()) % 64 / sizeof(T);
  const auto before = static_cast<std::ptrdiff_t>(2 * line - past_line + offset);
  std::fill(memory_.begin(), memory_.begin() + before, nan);
  std::fill(std::copy(x.begin(), x.end(), memory_.begin() + before), memory_.end(), nan);
  first_ = memory_.data() + before;
}

template <onefold::element T>
std::string wrong_results(const onefold::executor& where, const T* x, std::uint64_t count, const exact_elements& expected,
                          std::int64_t ddof) {
  x = placed(where, x, count);
  std::string wrong = wrong_in_one_width(where, x, count, expected, ddof);
  if constexpr (!std::is_same_v<T, double>)
    wrong += wrong_in_one_width(where, x, count, expected, ddof, onefold::accumulate_as<double>);
  if (is_on_gpu(where)) wrong += wrong_stored_results(where, x, count, expected, ddof);
  count_dispatch(where);
  return wrong;
}

template <onefold::element T>
std::string wrong_dots(const onefold::executor& where, const T* x, const T* y, std::uint64_t count, const exact_pairs& expected) {
  constexpr element_type type = onefold::element_type_of<T>;
  const bool is_square = x == y;
  x = placed(where, x, count);
  y = is_square ? x : placed(where, y, count, 1);
  const scalar right = expected.result(), got = scalar_of(onefold::dot(where, x, y, count, exactly));
  std::string wrong;
  if (got != right) wrong += mismatch(where, "dot", type, false, count, right, got);
  if constexpr (!std::is_same_v<T, double>) {
    const scalar wide = expected.result(true),
                 got_wide = scalar_of(onefold::dot(where, x, y, count, onefold::accumulate_as<double>, exactly));
    if (got_wide != wide) wrong += mismatch(where, "dot", type, true, count, wide, got_wide);
  }
  if (is_on_gpu(where)) {
    stored_results stored(where, x, y, type, count);
    stored.call(form::dot, false, right);
    if constexpr (!std::is_same_v<T, double>) stored.call(form::dot, true, expected.result(true));
    wrong += stored.wrong();
  }
  count_dispatch(where);
  return wrong;
}

template <onefold::element T>
void expect_exact(const onefold::executor& where, std::span<const T> x, std::string_view data) {
  const walled<T> there(x);
  EXPECT_EQ(wrong_results(where, there.data(), x.size(), exact_elements(x)), "") << data << " " << text_of(x);
}

template <onefold::element T>
void expect_exact_dot(const onefold::executor& where, std::span<const T> x, std::span<const T> y, std::string_view data) {
  const walled<T> one(x), other(y);
  EXPECT_EQ(wrong_dots(where, one.data(), other.data(), x.size(), exact_pairs(x, y)), "")
      << data << " " << text_of(x) << " " << text_of(y);
}

#define ONEFOLD_TEST_FLOAT(T)                                                                                                    \
  template class walled<T>;                                                                                                      \
  template const T* placed<T>(const onefold::executor&, const T*, std::uint64_t, int);                                           \
  template std::string wrong_results<T>(const onefold::executor&, const T*, std::uint64_t, const exact_elements&, std::int64_t); \
  template std::string wrong_dots<T>(const onefold::executor&, const T*, const T*, std::uint64_t, const exact_pairs&);           \
  template void expect_exact<T>(const onefold::executor&, std::span<const T>, std::string_view);                                 \
  template void expect_exact_dot<T>(const onefold::executor&, std::span<const T>, std::span<const T>, std::string_view);
ONEFOLD_TEST_FLOAT(float)
ONEFOLD_TEST_FLOAT(double)
ONEFOLD_TEST_FLOAT(onefold::float16)
ONEFOLD_TEST_FLOAT(onefold::bfloat16)

}  // namespace onefold_test
