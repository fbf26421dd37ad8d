/// @file sanitizer_run.cpp  Every variant with every finish, the forms, and exact sums, on a few odd sizes, for compute-sanitizer to
/// look over. Checks the results too. Arguments: names of variants, or none for all. Exit code 0: all right; 1: something was wrong;
/// 77: no GPU here.

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/cuda.hpp"
#include "../support/data.hpp"
#include "../support/form_trial.hpp"
#include "../support/place.hpp"
#include "../support/trial.hpp"
#include "functions.hpp"

namespace {

using namespace onefold_test;
using onefold::finish;

struct task {
  element_type type;
  operation op;
};
// A float sum and an integer minimum take the two kinds of atomics, in both element sizes.
constexpr task tasks[] = {{element_type::f32, operation::sum},
                          {element_type::f32, operation::min},
                          {element_type::i64, operation::sum},
                          {element_type::i64, operation::min}};
constexpr std::uint64_t counts[] = {1, 33, 1025, 70'001};
// fixed_order takes one block, a cluster, and a grid that hands over in global memory.
constexpr std::uint64_t form_counts[] = {1, 33, 1025, 20'001, 140'001};
constexpr std::uint64_t most_of_one_at_a_time = 1'025;  // serial_gpu and the atomics per element, which the tools slow down most

int failures = 0;
int calls = 0;

void report_failure(const std::string& sentence) {
  if (++failures <= 20) std::fprintf(stderr, "%s\n", sentence.c_str());
}

// A cooperative launch is refused where its grid cannot be resident.
bool cannot_be_resident(const trial& one, const onefold::error& problem) {
  return one.how == finish::cooperative && problem.code() == onefold::errc::unsupported;
}

void check(const trial& one, guarded_input& input, std::uint64_t offset, std::uint64_t count) {
  const expectation expected = expected_exactly(one.op, input.payload(), offset, count);
  const void* data = input.window(offset, count);
  try {
    const outcome got = reduce(one, data, count);
    ++calls;
    if (const auto wrong = disagreement(expected, got.value))
      report_failure(*wrong + "\n" + describe(one, count, got.ran, expected, got.value));
    if (got.ran.finish == finish::host) return;  // has no call that leaves the result on the device
    guarded_output output(memory::device, one.type);
    const auto ran = reduce_into(one, data, count, output.address());
    ++calls;
    onefold::synchronize(one.where);
    if (const auto wrong = disagreement(expected, output.value()))
      report_failure(*wrong + "\n" + describe(one, count, ran, expected, output.value()));
    if (!output.surroundings_unchanged()) report_failure("wrote beside its output: " + std::string(one.variant));
  } catch (const onefold::error& problem) {
    if (!cannot_be_resident(one, problem)) report_failure(std::string(one.variant) + ": " + problem.what());
  }
}

void check_variant(const onefold::variant_info& variant) {
  auto finishes = std::vector<finish>(variant.finishes.begin(), variant.finishes.end());
  if (finishes.empty()) finishes.push_back(finish::automatic);
  auto widths = std::vector<int>(variant.widths.begin(), variant.widths.end());
  if (widths.empty()) widths.push_back(variant.default_width);
  const bool one_at_a_time = variant.name == "serial_gpu" || variant.name.starts_with("atomic_");
  for (const auto& [type, op] : tasks) {
    if (!variant.supports(type, op)) continue;
    guarded_input input(memory::device, exact_data(type, op, counts[3] + 1, 1), op);
    for (const auto how : finishes) {
      trial one;
      one.where = onefold::cuda();
      one.variant = variant.name;
      one.type = type;
      one.op = op;
      one.how = how;
      one.seed = 1;
      for (const std::uint64_t count : counts)
        if (!one_at_a_time || count <= most_of_one_at_a_time) check(one, input, count % 2, count);
      // The block sizes that take other paths: the smallest, one warp as a rule, and the largest.
      for (const int block_size : variant.block_sizes) {
        if (block_size != variant.block_sizes.front() && block_size != variant.block_sizes.back()) continue;
        one.block_size = block_size;
        for (const int width : widths) {
          one.width = width;
          check(one, input, 1, 1025);
        }
      }
      // The other widths, with several blocks of each.
      one.block_size = 0;
      for (const int width : widths) {
        if (width == variant.default_width) continue;
        one.width = width;
        check(one, input, 1, counts[3]);
      }
    }
    if (!input.unchanged()) report_failure("changed its input: " + std::string(variant.name));
  }
}

// The forms take other loads and other work: two inputs, three sums, a conversion.
struct form_task {
  element_type type;
  form what;
  bool wide;
};
constexpr form_task form_tasks[] = {{element_type::f32, form::dot, false},   {element_type::f32, form::sum, true},
                                    {element_type::f64, form::norm2, false}, {element_type::f64, form::dot, false},
                                    {element_type::i32, form::mean, false},  {element_type::i64, form::norm_inf, false}};

void check_forms() {
  for (const auto& [type, what, wide] : form_tasks) {
    const elements x = exact_form_data(type, what, form_counts[4] + 3, 1, 0),
                   y = exact_form_data(type, what, form_counts[4] + 3, 1, 1);
    guarded_input at_x(memory::device, x, operation::sum), at_y(memory::device, y, operation::sum);
    for (const std::uint64_t count : form_counts) {
      // Both inputs on a boundary, and each beside one.
      for (const auto& [first_x, first_y] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 0}, {0, 3}, {1, 2}}) {
        const form_trial one{
            onefold::cuda(), what, type, wide, 1, "exact, offsets " + std::to_string(first_x) + " and " + std::to_string(first_y)};
        const expectation expected = form_exactly({what, wide, &x, first_x, &y, first_y, count});
        try {
          const outcome got = reduce(one, at_x.window(first_x, count), at_y.window(first_y, count), count);
          ++calls;
          if (const auto wrong = disagreement(expected, got.value))
            report_failure(*wrong + "\n" + describe(one, count, got.ran, expected, got.value));
          guarded_output output(memory::device, expected.value.type);
          const auto ran = reduce_into(one, at_x.window(first_x, count), at_y.window(first_y, count), count, output.address());
          ++calls;
          onefold::synchronize(one.where);
          if (const auto wrong = disagreement(expected, output.value()))
            report_failure(*wrong + "\n" + describe(one, count, ran, expected, output.value()));
          if (!output.surroundings_unchanged()) report_failure("wrote beside its output: " + std::string(onefold::name(what)));
        } catch (const onefold::error& problem) {
          report_failure(std::string(onefold::name(what)) + ": " + problem.what());
        }
      }
    }
    if (!at_x.unchanged() || !at_y.unchanged()) report_failure("changed an input: " + std::string(onefold::name(what)));
  }
}

// Inputs that lie at the very end of their allocations, behind every alignment: a load of 16 bytes of which one is not the array's is seen.
void check_ends() {
  for (const auto& [type, what, wide] : form_tasks) {
    const std::size_t size = onefold::size_of(type);
    const std::size_t pack = 16 / size;
    for (std::size_t n = 4 * 4096 / size - 1; n <= 4 * 4096 / size + pack; ++n) {
      for (std::size_t first = 0; first < pack; ++first) {
        const std::size_t first_y = n % 2 == 0 ? first : 0;
        const elements x = exact_form_data(type, what, first + n, 1, 0), y = exact_form_data(type, what, first_y + n, 1, 1);
        block at_x(memory::device, x.size() * size), at_y(memory::device, y.size() * size);
        at_x.write(0, x.data(), at_x.bytes());
        at_y.write(0, y.data(), at_y.bytes());
        const auto bits = [&](const onefold::executor& where, const void* from_x, const void* from_y, const onefold::options& how) {
          std::uint64_t value = 0;
          onefold::detail::run({where, type, what, static_cast<const std::byte*>(from_x) + first * size, n, &value, true,
                                static_cast<const std::byte*>(from_y) + first_y * size, wide},
                               how);
          return value;
        };
        // Blocks of two warps, so that all of the main kernel's ways of reading are taken.
        const auto got = bits(onefold::cuda(), at_x.address(), at_y.address(), {.variant = "fixed_order", .block_size = 64});
        ++calls;
        if (got != bits(onefold::serial(), x.data(), y.data(), {}))
          report_failure(std::string(onefold::name(what)) + " at the end of memory, n = " + std::to_string(n) + ", offsets " +
                         std::to_string(first) + " and " + std::to_string(first_y));
      }
    }
  }
}

// Arrays whose addresses the kernel of batches reads, at the very end of their allocations, in one launch with an address that it cannot follow.
void check_addresses() {
  for (const auto& [type, what, wide] : form_tasks) {
    if (type != element_type::f32 && type != element_type::f64) continue;
    const std::size_t size = onefold::size_of(type);
    for (const std::uint64_t n : form_counts)
      for (const std::size_t first : {0, 1}) {
        const elements x = exact_form_data(type, what, first + n, 1, 0), y = exact_form_data(type, what, n, 1, 1);
        block at_x(memory::device, x.size() * size), at_y(memory::device, y.size() * size),
            places(memory::device, 3 * sizeof(void*)), results(memory::device, 2 * sizeof(std::uint64_t));
        at_x.write(0, x.data(), at_x.bytes());
        at_y.write(0, y.data(), at_y.bytes());
        const void* const addresses[] = {at_x.address() + first * size, at_y.address(), nullptr};
        places.write(0, addresses, sizeof(addresses));
        const std::uint64_t zeros[2] = {};
        results.write(0, zeros, sizeof(zeros));
        const auto* const place = reinterpret_cast<const void* const*>(places.address());
        std::vector<onefold_request> requests;
        for (const int of_x : {0, 2}) {
          onefold::detail::request asked{
              onefold::cuda(), type, what, nullptr, n, results.address() + requests.size() * sizeof(std::uint64_t), false};
          asked.wide = wide;
          asked.input_at = place + of_x;
          if (what == form::dot) asked.second_at = place + 1;
          requests.push_back(onefold::detail::c_request(asked));
        }
        onefold::detail::run_batch(requests, {});
        onefold::synchronize(onefold::cuda());
        ++calls;
        std::uint64_t expected[2] = {}, got[2] = {};
        onefold::detail::run({onefold::serial(), type, what, static_cast<const std::byte*>(x.data()) + first * size, n, expected,
                              true, y.data(), wide},
                             {});
        std::memset(expected + 1, 0xff, onefold::result_bytes(type, what, wide));
        results.read(0, got, sizeof(got));
        if (std::memcmp(expected, got, sizeof(got)) != 0)
          report_failure(std::string(onefold::name(what)) + " by an address in memory, n = " + std::to_string(n) + ", offset " +
                         std::to_string(first));
      }
  }
}

// --- exact sums

// Elements of a few exponents, others every `length`: 0 for the same everywhere. Where they change, warps leave their window of
// bins.
template <class T>
std::vector<T> numbers_of_exponents(std::size_t count, std::size_t length, std::uint64_t seed) {
  constexpr int digits = sizeof(T) == 8 ? 52 : sizeof(T) == 4 ? 23 : std::is_same_v<T, onefold::float16> ? 10 : 7;
  constexpr std::uint64_t last_field = (std::uint64_t{1} << (8 * sizeof(T) - 1 - digits)) - 1;
  random_numbers random(seed);
  std::uint64_t field = last_field / 2;
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (length != 0 && i % length == 0) field = random.below(last_field - 1);
    const std::uint64_t any = random();
    x[i] = value_of<T>({onefold::element_type_of<T>, (any & 1) << (8 * sizeof(T) - 1) | (field + (any >> 1 & 1)) << digits |
                                                         (any >> 12 & ((std::uint64_t{1} << digits) - 1))});
  }
  return x;
}

// An array in device memory that ends where its allocation does.
template <class T>
class array_at_end {
 public:
  array_at_end(const std::vector<T>& x, std::size_t first)
      : memory_(memory::device, (first + x.size()) * sizeof(T)), first_(first) {
    const std::vector<std::byte> before(first * sizeof(T), std::byte{0xff});  // NaN
    memory_.write(0, before.data(), before.size());
    memory_.write(first * sizeof(T), x.data(), x.size() * sizeof(T));
  }
  [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(memory_.address()) + first_; }

 private:
  block memory_;
  std::size_t first_;
};

// For its lifetime bins of integers are asked for.
class bins_of_integers {
 public:
  bins_of_integers() {
    if (const char* const before = getenv(variable)) before_ = before;
    setenv(variable, "integers", 1);
  }
  ~bins_of_integers() {
    if (before_)
      setenv(variable, before_->c_str(), 1);
    else
      unsetenv(variable);
  }
  bins_of_integers(const bins_of_integers&) = delete;
  bins_of_integers& operator=(const bins_of_integers&) = delete;

 private:
  static constexpr const char* variable = "ONEFOLD_CUDA_EXACT";
  std::optional<std::string> before_;
};

// The state, which the host rounds, and the number that the kernels do; the words in the GPU's memory, and the number that is made of them there.
template <onefold::form What, class T>
void check_exact_form(const std::vector<T>& x, const std::vector<T>& y, const T* on_gpu_x, const T* on_gpu_y,
                      const std::string& said) {
  onefold::exact_state<What, T> expected, got;
  if constexpr (What == onefold::form::dot) {
    expected.add(onefold::serial(), x, y);
    got.add(onefold::cuda(), on_gpu_x, on_gpu_y, x.size());
  } else {
    expected.add(onefold::serial(), x);
    got.add(onefold::cuda(), on_gpu_x, x.size());
  }
  const auto number = expected.value();
  block output(memory::device, sizeof(number));
  onefold::detail::run({onefold::cuda(), onefold::element_type_of<T>, What, on_gpu_x, x.size(), output.address(), false, on_gpu_y},
                       {.guarantee = onefold::guarantee::exact});
  onefold::synchronize(onefold::cuda());
  std::byte stored[sizeof(number)];
  output.read(0, stored, sizeof(stored));
  const std::size_t bytes_of_words = expected.size() * sizeof(std::int64_t);
  block words(memory::device, bytes_of_words), concluded(memory::device, sizeof(number));
  auto* const words_there = reinterpret_cast<std::int64_t*>(words.address());
  if constexpr (What == onefold::form::dot)
    onefold::exact_state<What, T>::put_words(onefold::cuda(), on_gpu_x, on_gpu_y, x.size(), words_there);
  else
    onefold::exact_state<What, T>::put_words(onefold::cuda(), on_gpu_x, x.size(), words_there);
  using result = std::remove_cv_t<decltype(number)>;
  onefold::exact_state<What, T>::put_value(onefold::cuda(), words_there, reinterpret_cast<result*>(concluded.address()));
  onefold::synchronize(onefold::cuda());
  std::int64_t put[onefold::exact_state<What, T>::size()];
  std::byte of_words[sizeof(number)];
  words.read(0, put, sizeof(put));
  concluded.read(0, of_words, sizeof(of_words));
  calls += 4;
  if (std::memcmp(expected.words(), got.words(), bytes_of_words) != 0 || std::memcmp(&number, stored, sizeof(stored)) != 0 ||
      std::memcmp(expected.words(), put, bytes_of_words) != 0 || std::memcmp(&number, of_words, sizeof(of_words)) != 0)
    report_failure("exact " + std::string(onefold::name(What)) + " of " + std::to_string(x.size()) + " " +
                   std::string(onefold::name(onefold::element_type_of<T>)) + ", " + said);
}

template <class T>
void check_exact_of(std::size_t count, std::size_t length, std::size_t first_x, std::size_t first_y) {
  const auto x = numbers_of_exponents<T>(count, length, 1), y = numbers_of_exponents<T>(count, length, 2);
  const array_at_end<T> at_x(x, first_x), at_y(y, first_y);
  const std::string said =
      "others every " + std::to_string(length) + ", offsets " + std::to_string(first_x) + " and " + std::to_string(first_y);
  check_exact_form<onefold::form::sum>(x, y, at_x.data(), at_y.data(), said);
  check_exact_form<onefold::form::dot>(x, y, at_x.data(), at_y.data(), said);
  check_exact_form<onefold::form::norm1>(x, y, at_x.data(), at_y.data(), said);
  check_exact_form<onefold::form::norm2>(x, y, at_x.data(), at_y.data(), said);
  check_exact_form<onefold::form::mean_variance>(x, y, at_x.data(), at_y.data(), said);
}

template <class T>
void check_exact_sums_of() {
  constexpr std::size_t pack = 16 / sizeof(T);
  for (const std::size_t count : {1, 33, 1'025, 20'001, 140'001})
    for (const std::size_t length : {0, 1, 700}) check_exact_of<T>(count, length, 0, 0);
  // Behind every alignment, with every rest of a pack.
  for (std::size_t count = 4'095; count <= 4'096 + pack; ++count)
    for (std::size_t first = 0; first<pack; first += pack> 4 ? 3 : 1) {
      check_exact_of<T>(count, 0, first, first);
      check_exact_of<T>(count, 300, first, (first + count) % pack);
    }
}

void check_exact_sums() {
  check_exact_sums_of<float>();
  check_exact_sums_of<double>();
  check_exact_sums_of<onefold::float16>();
  check_exact_sums_of<onefold::bfloat16>();
  check_exact_of<double>(900'001, 500'000, 1, 0);  // warps that have begun leave their windows
}

// Sums of parts, whose addresses are those of a part, and dots, whose products take parts of both.
template <class T>
void check_exact_complex() {
  using complex = std::complex<T>;
  for (const std::size_t count : {33, 20'001})
    for (const auto& [first_x, first_y] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 0}, {2, 3}}) {
      const auto parts_of_x = numbers_of_exponents<T>(2 * count, 100, 3), parts_of_y = numbers_of_exponents<T>(2 * count, 300, 4);
      const array_at_end<T> at_x(parts_of_x, first_x), at_y(parts_of_y, first_y);
      const auto numbers = [](const std::vector<T>& parts) {
        const auto* const all = reinterpret_cast<const complex*>(parts.data());
        return std::vector<complex>(all, all + parts.size() / 2);
      };
      const auto x = numbers(parts_of_x), y = numbers(parts_of_y);
      const auto *const on_gpu_x = reinterpret_cast<const complex*>(at_x.data()), *const on_gpu_y =
                                                                                      reinterpret_cast<const complex*>(at_y.data());
      const std::string said = "parts from " + std::to_string(first_x) + " and " + std::to_string(first_y);
      check_exact_form<onefold::form::sum>(x, y, on_gpu_x, on_gpu_y, said);
      check_exact_form<onefold::form::mean>(x, y, on_gpu_x, on_gpu_y, said);
      check_exact_form<onefold::form::mean_variance>(x, y, on_gpu_x, on_gpu_y, said);
      check_exact_form<onefold::form::dot>(x, y, on_gpu_x, on_gpu_y, said);
      check_exact_form<onefold::form::norm2>(x, y, on_gpu_x, on_gpu_y, said);
    }
}

template <class T>
std::vector<T> integers_of_all_sizes(std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<T> x(count);
  for (T& one : x) one = static_cast<T>(static_cast<T>(random()) >> random.below(8 * sizeof(T)));
  return x;
}

template <class T>
void check_exact_integers() {
  constexpr std::size_t pack = 16 / sizeof(T);
  for (const std::size_t count : {33, 20'001})
    for (const std::size_t first : {std::size_t{0}, pack - 1}) {
      const auto x = integers_of_all_sizes<T>(count, 5);
      const array_at_end<T> at_x(x, first);
      const std::string said = "offset " + std::to_string(first);
      check_exact_form<onefold::form::mean>(x, x, at_x.data(), at_x.data(), said);
      check_exact_form<onefold::form::norm2>(x, x, at_x.data(), at_x.data(), said);
      check_exact_form<onefold::form::mean_variance>(x, x, at_x.data(), at_x.data(), said);
    }
}

template <class T, class U>
void check_exact_dot_of(const std::vector<T>& x, const std::vector<U>& y) {
  constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};
  for (const auto& [first_x, first_y] : {std::pair<std::size_t, std::size_t>{0, 0}, {3, 5}}) {
    const array_at_end<T> at_x(x, first_x);
    const array_at_end<U> at_y(y, first_y);
    const auto expected = onefold::dot(onefold::serial(), x, y, exactly);
    const auto got = onefold::dot(onefold::cuda(), at_x.data(), at_y.data(), x.size(), exactly),
               turned = onefold::dot(onefold::cuda(), at_y.data(), at_x.data(), x.size(), exactly);
    calls += 2;
    if (std::memcmp(&expected, &got, sizeof(got)) != 0 || std::memcmp(&expected, &turned, sizeof(turned)) != 0)
      report_failure("exact dot of " + std::to_string(x.size()) + " " + std::string(onefold::name(onefold::element_type_of<T>)) +
                     " with " + std::string(onefold::name(onefold::element_type_of<U>)) + ", offsets " + std::to_string(first_x) +
                     " and " + std::to_string(first_y));
  }
}

void check_exact_dots_of_two_types() {
  for (const std::size_t count : {33, 20'001}) {
    const auto floats = numbers_of_exponents<float>(count, 100, 6);
    const auto doubles = numbers_of_exponents<double>(count, 300, 7);
    check_exact_dot_of(floats, doubles);
    check_exact_dot_of(floats, numbers_of_exponents<onefold::bfloat16>(count, 100, 8));
    check_exact_dot_of(numbers_of_exponents<onefold::float16>(count, 100, 9), numbers_of_exponents<onefold::bfloat16>(count, 1, 8));
    check_exact_dot_of(floats, integers_of_all_sizes<std::uint8_t>(count, 5));
    check_exact_dot_of(doubles, integers_of_all_sizes<std::int32_t>(count, 5));
  }
}

template <onefold::form What, class T>
void check_exact_function(const std::vector<T>& x, const T* on_gpu) {
  onefold::exact_state<What, T> expected;
  expected.add(onefold::serial(), x);
  ++calls;
  if (words_of_function<What>(on_gpu, x.size()) != std::vector<std::int64_t>(expected.words(), expected.words() + expected.size()))
    report_failure("exact " + std::string(onefold::name(What)) + " of a function, of " + std::to_string(x.size()) + " " +
                   std::string(onefold::name(onefold::element_type_of<T>)));
}

template <class T>
void check_exact_functions_of(std::size_t count, std::size_t length) {
  const auto x = numbers_of_exponents<T>(count, length, 1), y = numbers_of_exponents<T>(count, length, 2);
  const array_at_end<T> at_x(x, 0), at_y(y, 0);
  check_exact_function<onefold::form::sum>(x, at_x.data());
  check_exact_function<onefold::form::norm2>(x, at_x.data());
  check_exact_function<onefold::form::mean_variance>(x, at_x.data());
  std::vector<T> some;
  for (std::size_t i = 0; i < count; i += 3) some.push_back(x[i]);
  constexpr onefold::options exactly{.guarantee = onefold::guarantee::exact};
  const std::array<T, 3> expected{onefold::sum(onefold::serial(), x, exactly), onefold::sum(onefold::serial(), y, exactly),
                                  onefold::sum(onefold::serial(), some, exactly)},
      got = sums_of_functions(at_x.data(), at_y.data(), count);
  calls += 2;
  if (std::memcmp(&expected, &got, sizeof(got)) != 0)
    report_failure("exact sums of functions, of " + std::to_string(count) + " " +
                   std::string(onefold::name(onefold::element_type_of<T>)));
}

void check_exact_functions() {
  for (const std::size_t count : {33, 20'001}) {
    for (const std::size_t length : {0, 1, 700}) {
      check_exact_functions_of<float>(count, length);
      check_exact_functions_of<double>(count, length);
    }
    const auto ints = integers_of_all_sizes<std::int32_t>(count, 5);
    const auto longs = integers_of_all_sizes<std::int64_t>(count, 5);
    const auto unsigned_longs = integers_of_all_sizes<std::uint64_t>(count, 5);
    const array_at_end<std::int32_t> at_ints(ints, 0);
    const array_at_end<std::int64_t> at_longs(longs, 0);
    const array_at_end<std::uint64_t> at_unsigned_longs(unsigned_longs, 0);
    check_exact_function<onefold::form::mean>(ints, at_ints.data());
    check_exact_function<onefold::form::mean_variance>(longs, at_longs.data());
    check_exact_function<onefold::form::norm2>(unsigned_longs, at_unsigned_longs.data());
  }
}

// The kernels of GPUs with few units for doubles, whatever this one takes by itself.
void check_exact_bins_of_integers() {
  const bins_of_integers asked;
  for (const std::size_t count : {33, 20'001})
    for (const std::size_t length : {0, 1, 700}) {
      check_exact_of<float>(count, length, 0, 0);
      check_exact_of<double>(count, length, 1, 0);
      check_exact_of<onefold::float16>(count, length, 3, 3);
      check_exact_of<onefold::bfloat16>(count, length, 0, 1);
    }
  check_exact_of<double>(200'001, 100'000, 1, 0);
  check_exact_complex<double>();
}

// Three streams, on as many GPUs as there are, exchange what they know of their parts; twice, without a wait between them.
template <form What, class T, class Call>
void check_exchanged(const Call& put, const std::vector<T>& x, bool exactly) {
  using R = onefold::detail::form_result_t<What, T>;
  int gpus = 0;
  expect_success(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  onefold::options how;
  if (exactly) how.guarantee = onefold::guarantee::exact;
  std::vector<onefold::executor> each;
  std::vector<std::unique_ptr<stream>> streams;
  std::vector<std::unique_ptr<device_memory>> memory;
  std::vector<typename onefold::parts<T>::part> list;
  std::vector<R*> to[2];
  const std::size_t cuts[] = {0, x.size() / 3, x.size() / 2 + 1, x.size()};
  for (int i = 0; i < 3; ++i) {
    expect_success(cudaSetDevice(i % gpus), "cudaSetDevice");
    streams.push_back(std::make_unique<stream>());
    each.push_back(onefold::cuda(i % gpus, streams.back()->get()));
    const std::size_t its = cuts[i + 1] - cuts[i];
    memory.push_back(std::make_unique<device_memory>(its * sizeof(T)));
    copy_to_device(memory.back()->as<T>(), x.data() + cuts[i], its * sizeof(T));
    list.emplace_back(memory.back()->as<const T>(), its);
    memory.push_back(std::make_unique<device_memory>(2 * sizeof(R)));
    for (int k = 0; k < 2; ++k) to[k].push_back(memory.back()->as<R>() + k);
  }
  expect_success(cudaSetDevice(0), "cudaSetDevice");
  const onefold::devices all(each);
  for (const auto& places : to) put(all, onefold::parts<T>(list), onefold::outputs<R>(places), how);
  alignas(16) std::byte expected[64] = {};
  onefold::detail::request one{onefold::serial(), onefold::element_type_of<T>, What, x.data(), x.size(), expected, true};
  onefold::detail::run(one, how);
  for (std::size_t i = 0; i < 3; ++i) {
    onefold::synchronize(all[i]);
    for (const auto& places : to) {
      R got;
      expect_success(cudaMemcpy(&got, places[i], sizeof(got), cudaMemcpyDefault), "cudaMemcpy");
      ++calls;
      if (std::memcmp(&got, expected, sizeof(got)) != 0)
        report_failure("exchanged parts have another result than the whole: " + std::string(onefold::name(What)));
    }
  }
}

void check_exchanged_parts() {
  std::vector<double> x(9'001);
  const random_numbers random(1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  const std::vector<float> floats(x.begin(), x.end());
  std::vector<std::int64_t> integers;
  std::vector<std::uint8_t> small;
  std::vector<std::complex<double>> z;
  for (const double one : x) {
    integers.push_back(static_cast<std::int64_t>(one * 0x1p40));
    small.push_back(static_cast<std::uint8_t>(one * 100 + 30));
    z.emplace_back(one, -one);
  }
  for (const bool exactly : {false, true}) {
    const auto sums = [](const auto&... of) { onefold::sum_into(of...); };
    check_exchanged<form::sum>(sums, x, exactly);
    check_exchanged<form::sum>(sums, z, exactly);
    check_exchanged<form::mean_variance>([](const auto&... of) { onefold::mean_variance_into(of...); }, floats, exactly);
    check_exchanged<form::norm2>([](const auto&... of) { onefold::norm2_into(of...); }, x, exactly);
  }
  check_exchanged<form::argmin>([](const auto&... of) { onefold::argmin_into(of...); }, integers, false);
  check_exchanged<form::minmax>([](const auto&... of) { onefold::minmax_into(of...); }, small, false);
}

// Run with superaccumulator, or named by themselves: racecheck takes minutes for all.
constexpr struct {
  std::string_view name;
  void (*run)();
} further_exact_checks[] = {
    {"exact_complex",
     [] {
       check_exact_complex<float>();
       check_exact_complex<double>();
     }},
    {"exact_integers",
     [] {
       check_exact_integers<std::int8_t>();
       check_exact_integers<std::uint16_t>();
       check_exact_integers<std::int32_t>();
       check_exact_integers<std::uint64_t>();
     }},
    {"exact_dots_of_two_types", check_exact_dots_of_two_types},
    {"exact_functions", check_exact_functions},
    {"exact_bins_of_integers", check_exact_bins_of_integers},
    {"exchanged_parts", check_exchanged_parts},
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> wanted(argv + 1, argv + argc);
  const auto& cuda = backend_under_test(onefold::backend::cuda);
  if (!cuda.usable) {
    std::fprintf(stderr, "%s\n", cuda.detail.c_str());
    return 77;
  }
  static std::string command = argv[0];
  set_repeat_command([] { return command; });
  int variants = 0;
  try {
    for (const auto& variant : onefold::variants(onefold::backend::cuda)) {
      if (!wanted.empty() && std::ranges::find(wanted, variant.name) == wanted.end()) continue;
      check_variant(variant);
      if (variant.name == "fixed_order") {
        check_forms();
        check_ends();
        check_addresses();
      }
      if (variant.name == "superaccumulator") {
        check_exact_sums();
        for (const auto& check : further_exact_checks) check.run();
      }
      ++variants;
    }
    for (const auto& check : further_exact_checks)
      if (std::ranges::find(wanted, check.name) != wanted.end()) check.run();
  } catch (const std::exception& problem) {
    report_failure(problem.what());
  }
  if (calls == 0) report_failure("nothing ran: is there a variant of that name?");
  std::printf("%d variants, %d calls, %d failures\n", variants, calls, failures);
  return failures == 0 ? 0 : 1;
}
