/// @file callbacks_test.cpp  Reductions of values that a function gives, and reductions in the caller's own code, on the CPU.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <thread>

#include "support.hpp"
#include "tree.hpp"

namespace onefold_test {
namespace {

using onefold::errc;
using onefold::operation;

// --- values from a function ------------------------------------------------------------------------------------------------------------

// A function of any kind as a source.
struct source {
  std::function<int(uint64_t first, uint64_t count, void* const* to)> give;
  detail::value_source erased{this, [](void* self, uint64_t first, uint64_t count, void* const* to) {
                                return static_cast<source*>(self)->give(first, count, to);
                              }};
};

// Gives the elements of arrays, and notes how often each is asked for, and in which blocks.
template <class T>
struct arrays_as_source {
  const std::vector<std::vector<T>>& arrays;
  std::vector<std::atomic<int>> asked = std::vector<std::atomic<int>>(arrays[0].size());
  std::atomic<uint64_t> most_bytes{0};

  int operator()(uint64_t first, uint64_t count, void* const* to) {
    for (uint64_t i = first; i < first + count; ++i) ++asked.at(i);
    for (std::size_t k = 0; k < arrays.size(); ++k) std::memcpy(to[k], arrays[k].data() + first, count * sizeof(T));
    const uint64_t bytes = count * sizeof(T) * arrays.size();
    uint64_t most = most_bytes.load();
    while (bytes > most && !most_bytes.compare_exchange_weak(most, bytes)) continue;
    return 0;
  }
};

std::vector<form> forms_of_one_array() {
  std::vector<form> all;
  for (int i = 0; i < onefold::form_count + onefold::record_count; ++i)
    if (const form what = static_cast<form>(i); what != form::dot && what != form::reduce_together) all.push_back(what);
  return all;
}

TEST(values_from_a_function, have_the_bits_of_an_array_that_holds_them) {
  for_each_type([]<class T>(T) {
    constexpr element_type type = onefold::element_type_of<T>;
    for (const uint64_t count : sizes<T>())
      for (const int results : {1, 2, 3, 5, onefold::most_results}) {
        if (results > 2 && count > 100'000) continue;
        if (is_sanitized && (results == 2 || results == 5)) continue;  // one, a few, and more than a block holds are left
        std::vector<std::vector<T>> arrays;
        for (int k = 0; k < results; ++k) arrays.push_back(values<T>(count, current_seed() + static_cast<uint64_t>(k), k % 2 == 0));
        for (const form what : forms_of_one_array())
          for (const bool wide : {false, true}) {
            if (!onefold::takes_type(what, type) || (wide && !onefold::can_be_wide(type, what))) continue;
            const std::size_t bytes = onefold::result_bytes(type, what, wide);
            std::vector<unsigned char> expected;
            for (const auto& x : arrays) {
              auto one = request_of(onefold::serial(), type, what, x.data(), count, nullptr);
              one.wide = wide;
              const auto result = results_of(one, bytes);
              expected.insert(expected.end(), result.begin(), result.end());
            }
            for (const auto& [words, where] : places()) {
              arrays_as_source<T> of{arrays};
              source from{[&](uint64_t first, uint64_t n, void* const* to) { return of(first, n, to); }};
              auto asked = request_of(where, type, what, nullptr, count, nullptr);
              asked.wide = wide;
              asked.results = results;
              asked.source = &from.erased;
              ASSERT_EQ(results_of(asked, expected.size()), expected)
                  << onefold::name(what) << (wide ? " wide" : "") << " of " << results << " by " << count << " on " << words;
              ASSERT_TRUE(std::ranges::all_of(of.asked, [](const auto& times) { return times.load() == 1; })) << "not once each";
              if (results <= 4) {
                ASSERT_LE(of.most_bytes.load(), 16384u);
              }
            }
          }
      }
  });
}

TEST(values_from_a_function, meet_an_operator_each) {
  const operation operators[] = {operation::min, operation::sum, operation::prod, operation::max, operation::sum};
  constexpr uint64_t count = 5 * 8192 + 333;
  std::vector<std::vector<double>> arrays;
  std::vector<unsigned char> expected;
  for (const operation op : operators) {
    arrays.push_back(values<double>(count, current_seed() + arrays.size(), true));
    const auto one =
        results_of(request_of(onefold::serial(), element_type::f64, onefold::form_of(op), arrays.back().data(), count, nullptr), 8);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  for (const auto& [words, where] : places()) {
    arrays_as_source<double> of{arrays};
    source from{[&](uint64_t first, uint64_t n, void* const* to) { return of(first, n, to); }};
    auto asked = request_of(where, element_type::f64, form::reduce_together, nullptr, count, nullptr);
    asked.results = 5;
    asked.operators = operators;
    asked.source = &from.erased;
    EXPECT_EQ(results_of(asked, expected.size()), expected) << words;
    asked.count = 0;
    EXPECT_NO_THROW(results_of(asked, expected.size()));
  }
}

TEST(values_from_a_function, of_many_groups) {
  constexpr uint64_t count = 300 * 8192 + 1;
  const auto f = [](uint64_t i) { return static_cast<double>(i % 1000) * 0.001 - 0.3; };
  std::vector<double> x(count);
  for (uint64_t i = 0; i < count; ++i) x[i] = f(i);
  source from{[&](uint64_t first, uint64_t n, void* const* to) {
    for (uint64_t i = 0; i < n; ++i) static_cast<double*>(to[0])[i] = f(first + i);
    return 0;
  }};
  for (const form what : forms_of_one_array()) {
    if (!onefold::takes_type(what, element_type::f64)) continue;
    const std::size_t bytes = onefold::result_bytes(element_type::f64, what);
    const auto expected = results_of(request_of(onefold::serial(), element_type::f64, what, x.data(), count, nullptr), bytes);
    for (const auto& [words, where] : places()) {
      auto asked = request_of(where, element_type::f64, what, nullptr, count, nullptr);
      EXPECT_EQ(results_of(request_of(where, element_type::f64, what, x.data(), count, nullptr), bytes), expected) << words;
      asked.source = &from.erased;
      EXPECT_EQ(results_of(asked, bytes), expected) << onefold::name(what) << " on " << words;
    }
  }
}

// --- failures ------------------------------------------------------------------------------------------------------------------------------

TEST(a_function_that_fails, ends_the_call_soon_and_leaves_the_library_well) {
  constexpr uint64_t count = 4000 * 8192;
  for (const auto& [words, where] : places())
    for (const uint64_t at : {uint64_t{0}, uint64_t{8192}, count / 2, count - 1}) {
      std::atomic<uint64_t> after{0};
      std::atomic<bool> failed{false};
      source from{[&](uint64_t first, uint64_t n, void* const* to) {
        std::fill_n(static_cast<double*>(to[0]), n, 1.0);
        if (failed) after += n;
        if (at < first || at >= first + n) return 0;
        failed = true;
        return 7;
      }};
      auto asked = request_of(where, element_type::f64, form::sum, nullptr, count, nullptr);
      asked.source = &from.erased;
      double result = 0;
      asked.output = &result;
      EXPECT_TRUE(refuses(errc::callback_failed, "returned 7", [&] { detail::run(asked, {}); })) << words;
      EXPECT_LT(after.load(), count / 4) << words;
      const std::vector<double> ones(1'000'000, 1.0);
      EXPECT_EQ(onefold::sum(where, ones), 1e6) << words;
    }
}

TEST(a_request_with_functions, is_refused_in_words) {
  source from{[](uint64_t, uint64_t, void* const*) { return 0; }};
  double result = 0;
  const auto asked = [&] {
    auto one = request_of(onefold::serial(), element_type::f64, form::sum, nullptr, 10, &result);
    one.source = &from.erased;
    return one;
  };
  auto one = asked();
  one.form = form::dot;
  EXPECT_TRUE(refuses(errc::unsupported, "dot takes two arrays", [&] { detail::run(one, {}); }));
  one = asked();
  one.output = nullptr;
  EXPECT_TRUE(refuses(errc::null_pointer, "output pointer is null", [&] { detail::run(one, {}); }));
  one = asked();
  one.output = reinterpret_cast<char*>(&result) + 1;
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "output pointer is not aligned", [&] { detail::run(one, {}); }));
  for (const int results : {-1, onefold::most_results + 1}) {  // 0 is one, as a C program leaves it
    one = asked();
    one.results = results;
    EXPECT_TRUE(refuses(errc::invalid_argument, "1 to 16", [&] { detail::run(one, {}); }));
  }
  one = asked();
  one.form = form::reduce_together;
  EXPECT_TRUE(refuses(errc::null_pointer, "operators", [&] { detail::run(one, {}); }));
  one = asked();
  one.form = form::argmax;
  one.count = 0;
  EXPECT_TRUE(refuses(errc::invalid_argument, "argmax of no elements", [&] { detail::run(one, {}); }));
  one = asked();
  onefold::options how;
  how.variant = "parallel_reduce";
  EXPECT_TRUE(refuses(errc::unsupported, "leave the variant's name away", [&] { detail::run(one, how); }));
  one.where = onefold::cuda();
  if (onefold::backends()[2].built)
    EXPECT_TRUE(refuses(errc::unsupported, "cannot call a function of the host's", [&] { detail::run(one, {}); }));
  else
    EXPECT_TRUE(refuses(errc::backend_not_built, "without the cuda backend", [&] { detail::run(one, {}); }));
}

// --- calls within calls ------------------------------------------------------------------------------------------------------------------

TEST(a_function_that_calls_onefold, gets_its_results) {
  constexpr uint64_t count = 40 * 8192;
  const std::vector<double> inner(200'000, 0.5);
  for (const auto& [words, where] : places()) {
    std::atomic<int> wrong{0};
    source from{[&](uint64_t first, uint64_t n, void* const* to) {
      for (const auto& [inner_words, inside] : places()) {
        if (onefold::sum(inside, inner) != 1e5) ++wrong;
        onefold::options how;
        how.variant = "parallel_reduce";
        if (onefold::sum(inside, inner, how) != 1e5) ++wrong;
      }
      std::fill_n(static_cast<double*>(to[0]), n, first == 0 ? 2.0 : 1.0);
      return 0;
    }};
    auto asked = request_of(where, element_type::f64, form::max, nullptr, count, nullptr);
    double result = 0;
    asked.output = &result;
    asked.source = &from.erased;
    detail::run(asked, {});
    EXPECT_EQ(result, 2.0) << words;
    EXPECT_EQ(wrong, 0) << words;
  }
}

TEST(an_operator_that_calls_onefold, gets_its_results) {
  constexpr uint64_t count = 40 * 8192;
  const std::vector<double> inner(200'000, 0.5);
  onefold::options named;
  named.variant = "parallel_reduce";
  for (const auto& [words, where] : places()) {
    std::atomic<int> wrong{0}, calls{0};
    // Every 4096th time, and so on the calling thread behind the others too, which has the states of all.
    const auto larger = [&](double a, double b) {
      if (calls++ % 4096 == 0 || std::max(a, b) >= static_cast<double>(count - 1))
        for (const auto& [inner_words, inside] : places())
          if (onefold::sum(inside, inner) != 1e5 || onefold::sum(inside, inner, named) != 1e5) ++wrong;
      return std::max(a, b);
    };
    EXPECT_EQ(onefold::transform_reduce(where, count, larger, [](uint64_t i) { return static_cast<double>(i); }), count - 1.0)
        << words;
    EXPECT_EQ(wrong, 0) << words;
  }
}

TEST(a_function_that_calls_onefold, may_do_so_on_several_host_threads_at_once) {
  constexpr uint64_t count = 40 * 8192;
  std::atomic<int> right{0};
  std::vector<std::thread> hosts;
  for (int t = 0; t < 4; ++t)
    hosts.emplace_back([&, t] {
      for (const auto& [words, where] : places()) {
        source from{[&, &where = where](uint64_t first, uint64_t n, void* const* to) {
          for (uint64_t i = 0; i < n; ++i)
            static_cast<double*>(to[0])[i] = static_cast<double>(first + i + static_cast<uint64_t>(t));
          source nested{
              [](uint64_t, uint64_t m, void* const* into) { return std::fill_n(static_cast<double*>(into[0]), m, 1.0), 0; }};
          auto again = request_of(where, element_type::f64, form::sum, nullptr, 70'000, nullptr);
          double ones = 0;
          again.output = &ones;
          again.source = &nested.erased;
          detail::run(again, {});
          return ones == 7e4 ? 0 : 1;
        }};
        auto asked = request_of(where, element_type::f64, form::max, nullptr, count, nullptr);
        double result = 0;
        asked.output = &result;
        asked.source = &from.erased;
        detail::run(asked, {});
        if (result == static_cast<double>(count - 1 + static_cast<uint64_t>(t))) ++right;
      }
    });
  for (auto& host : hosts) host.join();
  EXPECT_EQ(right.load(), 4 * static_cast<int>(places().size()));
}

// --- the caller's own reduction -------------------------------------------------------------------------------------------------------------

// A state of Words words: the first is a sum that depends on the order, the others count.
template <int Words>
struct state {
  double sum;
  uint64_t counts[Words - 1];
};

template <int Words>
state<Words> meet(const state<Words>& a, const state<Words>& b) {
  state<Words> both{a.sum + b.sum, {}};
  for (int k = 0; k < Words - 1; ++k) both.counts[k] = a.counts[k] * 3 + b.counts[k] * 5 + 1;  // the order of operands shows
  return both;
}

double value_at(uint64_t i) { return static_cast<double>(random_numbers(5).at(i) >> 11) * 0x1p-40; }

// The node of a lane, whose values are states of one value each.
template <int Words>
state<Words> lane_of(uint64_t first, int rows, uint64_t lanes_of_row) {
  const auto one = [](uint64_t i) {
    state<Words> of{value_at(i), {}};
    for (int k = 0; k < Words - 1; ++k) of.counts[k] = i + static_cast<uint64_t>(k);
    return of;
  };
  state<Words> lane = one(first);
  for (int r = 1; r < rows; ++r) lane = meet<Words>(lane, one(first + static_cast<uint64_t>(r) * lanes_of_row));
  return lane;
}

template <int Words>
state<Words> tree_of(uint64_t first, uint64_t count, uint64_t lanes_of_row) {
  return tree_v1<state<Words>>(
      count, lanes_of_row, [&](uint64_t i, int rows) { return lane_of<Words>(first + i, rows, lanes_of_row); }, meet<Words>);
}

template <int Words, std::uint32_t ValueBytes>
struct own_reduction {
  static constexpr uint64_t lanes_of_row = onefold::order::lanes_of_bytes(ValueBytes);
  static constexpr uint64_t group = 16 * 16 * lanes_of_row;
  uint64_t fails_at = ~uint64_t{0};
  int fails_at_level = 0;
  std::atomic<uint64_t> groups_done{0};

  detail::own_code erased{this, ValueBytes, sizeof(state<Words>), sizeof(state<Words>), groups, level, conclude};

  static int groups(void* self, uint64_t first, uint64_t count, void* states) {
    auto& mine = *static_cast<own_reduction*>(self);
    if (first % group != 0 || reinterpret_cast<std::uintptr_t>(states) % 8 != 0) return 99;
    auto* to = static_cast<state<Words>*>(states);
    for (uint64_t at = 0; at < count; at += group) {
      if (first + at <= mine.fails_at && mine.fails_at < first + at + group) return 3;
      *to++ = tree_of<Words>(first + at, std::min(group, count - at), lanes_of_row);
      ++mine.groups_done;
    }
    return 0;
  }
  static int level(void* self, void* states, uint64_t count) {
    if (static_cast<own_reduction*>(self)->fails_at_level != 0) return 4;
    auto* const nodes = static_cast<state<Words>*>(states);
    for (uint64_t i = 0; i < count / 2; ++i) nodes[i] = meet<Words>(nodes[2 * i], nodes[2 * i + 1]);
    if (count % 2 == 1) nodes[count / 2] = nodes[count - 1];
    return 0;
  }
  static int conclude(void*, const void* last, uint64_t count, void* result) {
    if (last == nullptr) return 5;
    if (count == 4242) return 6;
    std::memcpy(result, last, sizeof(state<Words>));
    return 0;
  }

  detail::request request(const onefold::executor& where, uint64_t count) {
    auto asked = request_of(where, element_type::f32, form::sum, nullptr, count, nullptr);
    asked.own = &erased;
    return asked;
  }
};

template <int Words, std::uint32_t ValueBytes>
void expect_the_tree(std::initializer_list<uint64_t> groups_and_rest) {
  own_reduction<Words, ValueBytes> own;
  for (const uint64_t groups : groups_and_rest)
    for (const uint64_t rest : {uint64_t{1}, own.lanes_of_row + 1, 16 * own.lanes_of_row, own.group}) {
      if (is_sanitized && groups > 50 && rest != own.lanes_of_row + 1) continue;  // the smaller ones have each rest
      const uint64_t count = groups * own.group + rest;
      const auto expected = tree_of<Words>(0, count, own.lanes_of_row);
      const auto* const begin = reinterpret_cast<const unsigned char*>(&expected);
      for (const auto& [words, where] : places()) {
        own.groups_done = 0;
        ASSERT_EQ(results_of(own.request(where, count), sizeof(expected)),
                  (std::vector<unsigned char>{begin, begin + sizeof(expected)}))
            << words << ", " << count;
        ASSERT_EQ(own.groups_done.load(), groups + 1);
      }
    }
}

TEST(a_reduction_of_the_callers_own, is_the_tree_of_its_operator) {
  expect_the_tree<5, 40>({0, 1, 2, 5, 70});  // a state of 40 bytes, as are the values
  expect_the_tree<2, 8>({0, 3, 20});
  expect_the_tree<1 + 1, 1>({0, 1});
  expect_the_tree<128, 64>({0, 1, 7, 8, 9, 40, 300});  // the largest of both
}

TEST(a_reduction_of_the_callers_own, may_fail_in_each_of_its_functions) {
  for (const auto& [words, where] : places()) {
    const auto call = [&, &where = where](auto& own, uint64_t count) {
      return [&, count] { results_of(own.request(where, count), 40); };
    };
    own_reduction<5, 40> own;
    own.fails_at = 33 * own.group + 5;
    EXPECT_TRUE(refuses(errc::callback_failed, "returned 3", call(own, 70 * own.group))) << words;
    own_reduction<5, 40> at_level;
    at_level.fails_at_level = 1;
    EXPECT_TRUE(refuses(errc::callback_failed, "returned 4", call(at_level, 70 * own.group))) << words;
    own_reduction<5, 40> empty;
    EXPECT_TRUE(refuses(errc::callback_failed, "returned 5", call(empty, 0))) << words;
    EXPECT_TRUE(refuses(errc::callback_failed, "returned 6", call(empty, 4242))) << words;
  }
}

// --- serial() from many threads ----------------------------------------------------------------------------------------------------------------

TEST(serial_calls, run_side_by_side) {
  std::atomic<int> right{0};
  std::vector<std::thread> hosts;
  for (int t = 0; t < 16; ++t)
    hosts.emplace_back([&] {
      const std::vector<float> x(1024, 0.25f);
      for (int i = 0; i < 1000; ++i)
        if (onefold::sum(onefold::serial(), x) == 256.0f) ++right;
    });
  for (auto& host : hosts) host.join();
  EXPECT_EQ(right.load(), 16'000);
}

}  // namespace
}  // namespace onefold_test
