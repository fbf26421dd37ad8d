/// @file folds.cpp  Reductions with several results, functions of the index, operators of the user's, flags, small types and complex numbers on the CPU, side by side
/// with loops by hand.

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu.hpp"
#include "expectation.hpp"
#include "fold_loops.hpp"
#include "record.hpp"
#include "studies.hpp"
#include "turns.hpp"

namespace onefold::perf {

const fold_set& fold_set_of_this_machine() {
#ifdef ONEFOLD_PEERS_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return avx512::folds();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::folds();
#endif
  return baseline::folds();
}

namespace {

// From here on an array lies in memory, and a bare read is the limit.
constexpr std::uint64_t bytes_beyond_caches = std::uint64_t{128} << 20;
constexpr std::int64_t ghost_layers = 2;
constexpr std::int64_t short_row = 100;  // elements: neither begins nor ends on a cache line

enum class role { onefold, built_in, by_hand, read };

struct contender {
  std::string name;
  role is;
  std::function<fold_answer()> run;
  samples times = {};
};

// Numbers of an array for each element that counts.
template <class T>
constexpr std::uint64_t numbers_of(fold_case which) {
  if constexpr (!is_complex(element_type_of<T>))
    if (which == fold_case::own_operator) return sizeof(extent_of<T>) / sizeof(T);
  return 1;
}

constexpr std::uint64_t arrays_of(fold_case which) {
  return which == fold_case::three_arrays ? 3 : which == fold_case::dot ? 2 : 1;
}

// Sums of powers stay exact only where most of them are 0.
bool is_sparse(fold_case which) {
  return which == fold_case::lambda || which == fold_case::box || which == fold_case::short_rows || which == fold_case::several;
}

// Any number of small whole ones.
template <class T>
T plain_number_at(std::uint64_t i) {
  if constexpr (is_complex(element_type_of<T>)) {
    using R = typename T::value_type;
    return {element_at<R>(2 * i, false), element_at<R>(2 * i + 1, false)};
  } else {
    return element_at<T>(i, false);
  }
}

// Of those that have an order the least and the largest element once each, in the middle: where to look for an extreme is known half way, as in the mean.
template <class T>
T number_at(fold_case which, std::uint64_t i, std::uint64_t numbers) {
  if constexpr (is_complex(element_type_of<T>)) {
    using R = typename T::value_type;
    // Any power of i: products that stay what they are.
    if (which == fold_case::prod) return i % 2 == 0 ? T(i % 3 == 0 ? R(-1) : R(1), 0) : T(0, i % 5 == 0 ? R(-1) : R(1));
    // Whole numbers of 12 bits, whose squares are exact, and few of which are as large as the largest.
    const auto part = [](std::uint64_t k) { return static_cast<R>(static_cast<int>(k * 0x9e3779b97f4a7c15U >> 52) - 2048); };
    if (which == fold_case::norm_inf) return {part(2 * i), part(2 * i + 1)};
  } else {
    if (which == fold_case::all) return T(1);
    if (i == numbers / 2) return which == fold_case::argmax ? T(9) : T(-9);
    if (i == numbers / 2 + 1) return which == fold_case::argmax ? T(-9) : T(9);
    if (is_sparse(which)) return sparse_element_at<T>(i);
  }
  return plain_number_at<T>(i);
}

// Arrays of a case, and what it takes of them.
template <class T>
class case_data {
 public:
  case_data(fold_case which, std::uint64_t count)
      : shape_(which, count),
        bytes_(shape_.count * numbers_of<T>(which) * sizeof(T) * arrays_of(which)),
        first_(
            shape_.numbers, arrays_of(which) > 1, 0,
            [=, numbers = shape_.numbers](std::uint64_t i) { return number_at<T>(which, i, numbers); },
            [](std::uint64_t i) { return plain_number_at<T>(~i); }),
        third_(
            arrays_of(which) > 2 ? shape_.numbers : 0, false, 0, [](std::uint64_t i) { return plain_number_at<T>(3 * i + 1); },
            [](std::uint64_t) { return T(0); }) {}

  [[nodiscard]] fold_data<T> view() const {
    return {.x = first_.x + shape_.first,
            .y = first_.y,
            .z = third_.x,
            .count = shape_.count,
            .columns = shape_.columns,
            .pitch = shape_.pitch};
  }
  /// That count: ghost layers do not.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void read(int threads) const {
    read_words(first_.x, first_.count * sizeof(T), threads);
    if (first_.y == nullptr) return;
    read_words(first_.y, first_.count * sizeof(T), threads);
    if (third_.count != 0) read_words(third_.x, third_.count * sizeof(T), threads);
  }

 private:
  // A box is about as high as it is wide, with ghost layers on each side.
  struct shape {
    std::uint64_t count;
    std::uint64_t numbers;  // in the array
    std::uint64_t first = 0;
    std::int64_t columns = 0, pitch = 0;

    shape(fold_case which, std::uint64_t n) : count(n), numbers(n * numbers_of<T>(which)) {
      if (which == fold_case::short_rows) {
        columns = short_row;
      } else if (which == fold_case::box) {
        columns = 1;
        while (columns * columns < static_cast<std::int64_t>(n)) columns *= 2;
      } else {
        return;
      }
      const auto rows = static_cast<std::int64_t>(n) / columns;
      pitch = columns + 2 * ghost_layers;
      count = static_cast<std::uint64_t>(rows * columns);
      numbers = static_cast<std::uint64_t>((rows + 2 * ghost_layers) * pitch);
      first = static_cast<std::uint64_t>(ghost_layers * pitch + ghost_layers);
    }
  };

  shape shape_;
  std::uint64_t bytes_;
  arrays<T> first_, third_;
};

bool agree(fold_case which, element_type type, std::uint64_t count, const fold_answer& a, const fold_answer& b) {
  if (which != fold_case::mean_variance && which != fold_case::norm1) return a == b;
  // The last places differ with the way to them; a loop's sum of floats that are all positive loses more of them with every element.
  double tolerance = type == element_type::f32 || type == element_type::c64 ? 1e-5 : 1e-9;
  if (type == element_type::c64) tolerance += 1e-9 * static_cast<double>(count);
  return std::ranges::equal(a.of, b.of, [=](double u, double v) { return std::fabs(u - v) <= tolerance * (1 + std::fabs(v)); });
}

template <class T>
fold_ways<T> ways_of(fold_case which) {
  const fold_set& set = fold_set_of_this_machine();
  if constexpr (std::is_same_v<T, float>)
    return set.f32(which);
  else if constexpr (std::is_same_v<T, double>)
    return set.f64(which);
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return set.i8(which);
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return set.u8(which);
  else if constexpr (std::is_same_v<T, float16>)
    return set.f16(which);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return set.bf16(which);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return set.c64(which);
  else
    return set.c128(which);
}

template <class T>
std::vector<contender> contenders(fold_case which, const case_data<T>& data, int threads) {
  const auto ways = ways_of<T>(which);
  const auto view = data.view();
  std::vector<contender> all;
  const auto add = [&](const fold_way<T>& way, role is) {
    all.push_back({way.name, is, [run = way.run, view, threads] { return run(view, threads); }});
  };
  add(ways.onefold, role::onefold);
  if (ways.built_in.run != nullptr) add(ways.built_in, role::built_in);
  for (int i = 0; i < ways.hands; ++i) add(ways.by_hand[i], role::by_hand);
  const fold_answer ours = all.front().run();
  if (ways.onefold.run(view, 1) != ours)
    throw std::runtime_error(fmt::format("onefold's {} has other bits with {} threads than with one", name(which), threads));
  for (const auto& one : all)
    if (!agree(which, element_type_of<T>, view.count, ours, one.run()))
      throw std::runtime_error(
          fmt::format("{} of {} {}: {} is not what onefold says", name(which), view.count, name(element_type_of<T>), one.name));
  if (data.bytes() >= bytes_beyond_caches)
    all.push_back({"bare read", role::read, [&data, threads] {
                     data.read(threads);
                     return fold_answer{};
                   }});
  return all;
}

template <class T>
nlohmann::json one_row(const study_options& how, fold_case which, std::uint64_t count, int threads) {
  const case_data<T> data(which, count);
  auto all = contenders(which, data, threads);
  measure_in_turns(all, {.repeats = how.repeats, .longest_s = how.quick ? 0.1 : 0.5});
  const contender* best = nullptr;
  for (const auto& one : all)
    if (one.is == role::by_hand && (best == nullptr || one.times.median() < best->times.median())) best = &one;
  const samples& ours = all.front().times;
  nlohmann::json row{{"case", name(which)},        {"type", name(element_type_of<T>)},
                     {"count", data.view().count}, {"bytes", data.bytes()},
                     {"threads", threads},         {"best", best->name},
                     {"onefold", to_json(ours)},   {"by_hand", nlohmann::json::object()}};
  progress("");
  fmt::print("{:<14} {:<4} {:>10} {:>3} {:>9.2f} {:>8.3f}", name(which), name(element_type_of<T>), data.view().count, threads,
             gigabytes_per_second(data.bytes(), ours.median()), best->times.median() / ours.median());
  const auto share = [&](role is, const char* member) {
    const auto found = std::ranges::find(all, is, &contender::is);
    if (found == all.end()) {
      fmt::print(" {:>8}", "-");
      return;
    }
    row[member] = to_json(found->times);
    fmt::print(" {:>8.3f}", found->times.median() / ours.median());
  };
  share(role::built_in, "built_in");
  share(role::read, "read_limit");
  for (const auto& one : all)
    if (one.is == role::by_hand) row["by_hand"][one.name] = to_json(one.times);
  fmt::print("  {}\n", best->name);
  std::fflush(stdout);
  return row;
}

// More elements have one or two bytes each: fewer of others are beyond all caches.
constexpr std::uint64_t most_large = std::uint64_t{1} << 26;

// Of the types that are timed in this case.
template <class... T>
void add_rows(nlohmann::json& rows, const study_options& how, fold_case which, std::uint64_t count, int threads) {
  const auto add = [&]<class U>(U) {
    if (is_timed(which, element_type_of<U>) && (sizeof(U) <= 2 || count <= most_large))
      rows.push_back(one_row<U>(how, which, count, threads));
  };
  (add(T()), ...);
}

}  // namespace

nlohmann::json folds(const study_options& how) {
  constexpr int powers[] = {12, 14, 17, 20, 23, 26, 28};
  constexpr int quick_powers[] = {12, 20};
  std::vector<int> asked;
  for (const int power : how.quick ? std::span<const int>(quick_powers) : std::span<const int>(powers))
    if (power >= how.first_power && power <= how.last_power) asked.push_back(power);
  if (asked.empty()) throw std::runtime_error("no size of this study lies between --from and --to");
  std::vector<int> teams;
  if (how.threads != "all") teams.push_back(1);
  if (how.threads != "1" && omp_get_max_threads() > 1) teams.push_back(omp_get_max_threads());
  if (teams.empty()) throw std::runtime_error("--threads all: this machine has one");
  fmt::print(
      "onefold on the CPU beside loops by hand, compiled for {}: speed as a part of the best loop's, of the built-in reduction's, "
      "and of a bare read's\n",
      fold_set_of_this_machine().instruction_set);
  fmt::print("{:<14} {:<4} {:>10} {:>3} {:>9} {:>8} {:>8} {:>8}  {}\n", "case", "type", "n", "thr", "GB/s", "by hand", "built in",
             "read", "best by hand");
  nlohmann::json rows;
  for (int c = 0; c < static_cast<int>(fold_case_names.size()); ++c) {
    const auto which = static_cast<fold_case>(c);
    if (!how.cases.empty() && std::ranges::find(how.cases, name(which)) == how.cases.end()) continue;
    for (const int threads : teams)
      for (const int power : asked) {
        progress(fmt::format("{} of 2^{}", name(which), power));
        add_rows<float, double, std::int8_t, std::uint8_t, float16, bfloat16, std::complex<float>, std::complex<double>>(
            rows, how, which, std::uint64_t{1} << power, threads);
      }
  }
  // Only now: it asks for the GPUs too, and in a process with a CUDA driver every call on host memory takes longer.
  nlohmann::json record = heading("folds", how, nullptr);
  record["instruction_set"] = fold_set_of_this_machine().instruction_set;
  record["rows"] = std::move(rows);
  return record;
}

}  // namespace onefold::perf
