/// @file batched_test.cpp  The blocks of a launch of several reductions, on blocks of host threads that run one after the other: each result has the
/// bits that serial() gives.

#include "warp_on_host.hpp"

#include "../../backends/cpu/forms.hpp"
#include "../../backends/cuda/fixed_order/batched.cuh"
#include "../../backends/cuda/fixed_order/runs.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../support/gtest_support.hpp"
#include "batch_on_host.hpp"

namespace onefold_test {
namespace {

namespace cb = onefold::cuda_backend;
namespace dt = onefold::detail;
using onefold::element_type;
using onefold::form;

struct wanted {
  element_type type;
  form what;
  bool wide;
};

constexpr form forms_with_a_place[] = {form::argmin, form::argmax, form::argmin_magnitude, form::argmax_magnitude};

std::vector<wanted> all_forms() {
  std::vector<wanted> all;
  for (const element_type type : {element_type::f32, element_type::f64}) {
    for (int what = 0; what < onefold::form_count; ++what)
      for (const bool wide : {false, true}) {
        const auto its = static_cast<form>(what);
        if (onefold::takes_type(its, type) && (!wide || onefold::can_be_wide(type, its))) all.push_back({type, its, wide});
      }
    for (const form what : forms_with_a_place) all.push_back({type, what, false});
  }
  return all;
}

TEST(the_kernel_of_batches, has_every_form_with_one_result_or_one_place_of_floats_and_of_doubles) {
  for (const wanted& each : all_forms()) EXPECT_GE(cb::batched_fold(each.type, each.what, each.wide), 0) << name(each.what);
  EXPECT_EQ(cb::batched_fold(element_type::i32, form::sum, false), -1);
  EXPECT_EQ(cb::batched_fold(element_type::i64, form::argmin, false), -1);
  EXPECT_EQ(cb::batched_fold(element_type::f16, form::argmax, false), -1);
  EXPECT_EQ(cb::batched_fold(element_type::f64, form::argminmax, false), -1);
  EXPECT_EQ(cb::batched_fold(element_type::f32, form::minmax, false), -1);
  EXPECT_EQ(cb::batched_fold(element_type::f32, form::bit_and, false), -1);
}

TEST(the_leaves_of_an_item, hold_all_units_and_are_as_many_as_may_be) {
  for (const std::uint64_t units : {1, 2, 3, 31, 32, 33, 100, 4096, 4097, 1'000'000})
    for (const std::uint32_t most : {0U, 1U, 2U, 100U, 256U, 10'000U}) {
      const auto plan = cb::plan_of_item(units, most);
      EXPECT_GE(std::uint64_t{plan.leaves} << plan.log_leaf, units);
      EXPECT_LT(std::uint64_t{plan.leaves - 1} << plan.log_leaf, units);
      EXPECT_LE(plan.leaves, std::clamp(most, 1U, cb::most_batched_leaves));
      if (units <= 32) {
        EXPECT_EQ(plan.leaves, 1U);
      }
    }
}

// Of a result: a number, or a value and its index, without the bytes between them, which nobody specifies.
using result_bits = std::array<std::uint64_t, 2>;
result_bits specified(const wanted& form, result_bits of) {
  if (has_index(form.what) && size_of(form.type) == 4) of[0] &= 0xffffffff;
  return of;
}

result_bits bits_of(const batch_on_host::result_bytes& result) {
  result_bits bits{};
  std::memcpy(bits.data(), result.data(), sizeof(bits));
  return bits;
}

// A batch of the first kernel.
class launches : public batch_on_host {
 public:
  void add(const wanted& form, const void* x, const void* y, std::uint64_t count, std::uint32_t most_leaves,
           const std::uint64_t* count_at = nullptr) {
    const std::uint64_t tile = onefold::order::tile_rows * onefold::order::row_bytes / size_of(form.type);
    cb::batched_item item{};
    item.x = x;
    item.y = y;
    item.count = count;
    item.count_at = count_at;
    item.fold = static_cast<std::uint8_t>(cb::batched_fold(form.type, form.what, form.wide));
    item.how = static_cast<std::uint8_t>(static_cast<int>(dt::conclusion_of(form.type, form.what, form.wide)) |
                                         cb::batched_place_of(form.what));
    item.argument = size_of(form.type);
    item.bytes = static_cast<std::uint8_t>(onefold::result_bytes(form.type, form.what, form.wide));
    batch_on_host::add(item, (count + tile - 1) / tile, most_leaves);
    forms_.push_back(form);
  }

  void run(unsigned warps) {
    run_blocks<cb::detail::batched_memory>(warps, [](const auto& table, std::uint32_t block, auto& shared) {
      cb::run_batched_block(cb::batched_folds{}, table, block, shared);
    });
  }

  [[nodiscard]] result_bits result(int item) const {
    const auto at = static_cast<std::size_t>(item);
    return specified(forms_[at], bits_of(stored(at)));
  }
  // Of a result in words.
  [[nodiscard]] result_bits received(int item) const {
    const auto at = static_cast<std::size_t>(item);
    return specified(forms_[at], bits_of(in_words(at)));
  }

 private:
  std::vector<wanted> forms_;
};

// Bits of a form's result on one core; of a place of nothing what a GPU stores, 0 and an index that no element has.
result_bits alone(const wanted& form, const void* x, const void* y, std::uint64_t count) {
  result_bits result{};
  if (count == 0 && has_index(form.what)) return {0, ~std::uint64_t{0}};
  dt::run({onefold::serial(), form.type, form.what, x, count, result.data(), true, y, form.wide}, {});
  return specified(form, result);
}

template <class T>
std::vector<T> values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> all(count);
  for (T& value : all) value = static_cast<T>(normal(random));
  if (count > 10) {
    all[count / 2] = static_cast<T>(-0.0);
    all[count / 3] = 0;
  }
  return all;
}

class batches_on_host : public testing::Test {
 protected:
  static constexpr std::size_t most = 40'000;
  const std::vector<float> f32_[2] = {values<float>(most + 8, 1), values<float>(most + 8, 2)};
  const std::vector<double> f64_[2] = {values<double>(most + 8, 3), values<double>(most + 8, 4)};

  const std::vector<float>* f32_of_test = nullptr;  // instead
  const std::vector<double>* f64_of_test = nullptr;

  [[nodiscard]] const void* at(element_type type, int which, std::size_t offset) const {
    if (type == element_type::f32 && f32_of_test != nullptr) return f32_of_test->data() + offset;
    if (type == element_type::f64 && f64_of_test != nullptr) return f64_of_test->data() + offset;
    if (type == element_type::f32) return f32_[which].data() + offset;
    return f64_[which].data() + offset;
  }
};

TEST_F(batches_on_host, of_all_forms_have_the_bits_that_each_has_alone) {
  const std::vector<wanted> forms = all_forms();
  const std::size_t counts[] = {1, 700, 2049, 20'000};
  for (std::size_t begin = 0; begin < forms.size(); begin += 16) {
    launches batch;
    std::vector<result_bits> expected;
    for (std::size_t i = begin; i < std::min(begin + 16, forms.size()); ++i) {
      const wanted& form = forms[i];
      const std::size_t count = counts[i % 4];
      const void* const x = at(form.type, 0, i % 3);
      const void* const y = at(form.type, 1, i % 5);
      batch.add(form, x, y, count, 256);
      expected.push_back(alone(form, x, y, count));
    }
    batch.run(4);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(batch.result(static_cast<int>(i)), expected[i])
          << name(forms[begin + i].what) << " of " << name(forms[begin + i].type);
  }
}

TEST_F(batches_on_host, send_words_to_a_host_that_polls) {
  const std::vector<wanted> forms = all_forms();
  launches batch;
  batch.add(forms.front(), at(forms.front().type, 0, 0), at(forms.front().type, 1, 0), 700, 256);
  batch.send_words();
  for (const wanted& form : forms) batch.add(form, at(form.type, 0, 1), at(form.type, 1, 2), 700, 256);
  batch.run(4);
  const wanted& first = forms.front();
  EXPECT_EQ(batch.result(0), alone(first, at(first.type, 0, 0), at(first.type, 1, 0), 700)) << "stored, beside words";
  for (std::size_t i = 0; i < forms.size(); ++i)
    EXPECT_EQ(batch.received(static_cast<int>(i) + 1), alone(forms[i], at(forms[i].type, 0, 1), at(forms[i].type, 1, 2), 700))
        << name(forms[i].what) << " of " << name(forms[i].type);
}

TEST_F(batches_on_host, of_several_blocks_hand_over_in_slots_and_count_their_launch_once) {
  launches batch;
  const wanted forms[] = {{element_type::f64, form::norm2, false},
                          {element_type::f64, form::dot, false},
                          {element_type::f32, form::sum, false},
                          {element_type::f32, form::max, false},
                          {element_type::f64, form::sum, false}};
  const std::uint64_t counts[] = {40'000, 17'000, 100, 39'999, 16'385};
  std::vector<result_bits> expected;
  for (int i = 0; i < 5; ++i) {
    batch.add(forms[i], at(forms[i].type, 0, 1), at(forms[i].type, 1, 2), counts[i], 256);
    expected.push_back(alone(forms[i], at(forms[i].type, 0, 1), at(forms[i].type, 1, 2), counts[i]));
  }
  ASSERT_EQ(batch.several(), 4U);
  for (unsigned again = 1; again < 3; ++again) {
    batch.run(2);
    EXPECT_EQ(batch.header().launches, again);
    EXPECT_EQ(batch.header().ended, 0U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(batch.result(i), expected[static_cast<std::size_t>(i)]) << i;
  }
}

TEST_F(batches_on_host, count_what_stands_in_memory) {
  const std::uint64_t stored[] = {0, 1, 512, 700, 16'384, 16'385, 30'001, 40'000, 41'000};  // the last is more than there may be

  for (const wanted& form : all_forms()) {
    launches batch;
    for (const std::uint64_t& n : stored) batch.add(form, at(form.type, 0, 1), at(form.type, 1, 2), 40'000, 256, &n);
    batch.run(2);
    for (std::size_t i = 0; i < std::size(stored); ++i)
      EXPECT_EQ(batch.result(static_cast<int>(i)),
                alone(form, at(form.type, 0, 1), at(form.type, 1, 2), std::min<std::uint64_t>(stored[i], 40'000)))
          << name(form.what) << " of " << stored[i];
  }
}

TEST_F(batches_on_host, follow_addresses_that_stand_in_memory) {
  const std::uint64_t counts[] = {1, 700, 2049, 20'000};
  const std::uint64_t counted = 1025;
  for (const wanted& form : all_forms()) {
    const void* const x = at(form.type, 0, 1);
    const void* const y = at(form.type, 1, 2);
    launches batch;
    std::vector<result_bits> expected;
    for (const std::uint64_t count : counts)
      for (const bool is_counted : {false, true}) {
        const std::uint64_t n = is_counted ? std::min(count, counted) : count;
        batch.add(form, nullptr, y, count, 256, is_counted ? &counted : nullptr);
        batch.take_addresses(&x, nullptr);
        expected.push_back(alone(form, x, y, n));
        if (form.what != form::dot) continue;
        batch.add(form, x, nullptr, count, 256, is_counted ? &counted : nullptr);
        batch.take_addresses(nullptr, &y);
        expected.push_back(expected.back());
        batch.add(form, nullptr, nullptr, count, 256, is_counted ? &counted : nullptr);
        batch.take_addresses(&x, &y);
        expected.push_back(expected.back());
      }
    batch.add(form, x, y, 700, 256);
    expected.push_back(alone(form, x, y, 700));
    batch.run(2);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(batch.result(static_cast<int>(i)), expected[i]) << name(form.what) << " of " << name(form.type) << ", item " << i;
  }
}

TEST_F(batches_on_host, set_all_bits_of_results_of_arrays_that_cannot_be_followed) {
  const void* const nowhere = nullptr;
  const std::uint64_t none = 0;
  for (const wanted& form : all_forms()) {
    const void* const x = at(form.type, 0, 1);
    const void* const y = at(form.type, 1, 2);
    const void* const crooked = static_cast<const char*>(x) + size_of(form.type) / 2;
    const std::size_t bytes = onefold::result_bytes(form.type, form.what, form.wide);
    result_bits all_set{};
    std::memset(&all_set, 0xff, bytes);
    all_set = specified(form, all_set);
    launches batch;
    std::vector<result_bits> expected;
    const auto add = [&](std::uint64_t count, const void* const& x_at, const void* const* y_at, const std::uint64_t* count_at,
                         const result_bits& result) {
      batch.add(form, nullptr, y, count, 256, count_at);
      batch.take_addresses(&x_at, y_at);
      expected.push_back(result);
    };
    for (const std::uint64_t count : {std::uint64_t{3}, std::uint64_t{40'000}}) {
      add(count, nowhere, nullptr, nullptr, all_set);
      add(count, crooked, nullptr, nullptr, all_set);
      if (form.what == form::dot) add(count, x, &nowhere, nullptr, all_set);
      add(count, x, nullptr, nullptr, alone(form, x, y, count));
      add(count, nowhere, nullptr, &none, alone(form, x, y, 0));
    }
    const unsigned first_in_words = batch.items();
    batch.send_words();
    for (const std::uint64_t count : {std::uint64_t{3}, std::uint64_t{40'000}}) add(count, nowhere, nullptr, nullptr, all_set);
    for (unsigned again = 1; again < 3; ++again) {
      batch.run(2);
      EXPECT_EQ(batch.header().launches, again);
      EXPECT_EQ(batch.header().ended, 0U);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const int item = static_cast<int>(i);
        const result_bits found = i < first_in_words ? batch.result(item) : batch.received(item);
        EXPECT_EQ(found, expected[i]) << name(form.what) << " of " << name(form.type) << ", item " << i;
      }
    }
  }
}

// Contents in which the first of equal values is hard to tell.
template <class T>
std::vector<std::vector<T>> hard_to_place(std::size_t count) {
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<std::vector<T>> all;
  const auto of_any = [&](std::initializer_list<T> any, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> x(count);
    for (T& each : x) each = std::data(any)[random() % any.size()];
    all.push_back(std::move(x));
  };
  of_any({T(0), T(-0.0)}, 1);
  of_any({-infinity}, 2);
  of_any({infinity}, 3);
  of_any({T(3), T(-3), T(2), T(-2)}, 4);
  of_any({nan, -nan}, 5);
  of_any({std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::denorm_min(), T(0)}, 6);
  // One that is before all others, late.
  for (const T late : {infinity, -infinity, nan, -nan, T(0.5), T(-0.5)}) {
    std::vector<T> x(count, T(1));
    for (const std::size_t at : {count - 1, count / 2 + 7, count / 2 + 8}) x[at] = late;
    all.push_back(std::move(x));
  }
  return all;
}

TEST_F(batches_on_host, find_the_first_of_equal_values_wherever_it_stands) {
  constexpr std::size_t count = 36'000;
  const auto f32s = hard_to_place<float>(count + 4);
  const auto f64s = hard_to_place<double>(count + 4);
  ASSERT_EQ(f32s.size(), f64s.size());
  for (std::size_t k = 0; k < f32s.size(); ++k) {
    f32_of_test = &f32s[k];
    f64_of_test = &f64s[k];
    for (const element_type type : {element_type::f32, element_type::f64}) {
      if (is_sanitized && k % 2 != (type == element_type::f32 ? 0 : 1)) continue;
      launches batch;
      std::vector<result_bits> expected;
      for (const form what : forms_with_a_place)
        for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{513}, std::uint64_t{1023}, std::uint64_t{2049}, count / 2 + 8,
                                      std::uint64_t{count}}) {
          const void* const x = at(type, 0, (n + k) % 4);
          batch.add({type, what, false}, x, nullptr, n, 256);
          expected.push_back(alone({type, what, false}, x, nullptr, n));
        }
      EXPECT_GT(batch.several(), 0U);
      batch.run(2);
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(batch.result(static_cast<int>(i)), expected[i]) << "contents " << k << " of " << name(type) << ", item " << i;
    }
  }
}

TEST_F(batches_on_host, whose_leaves_are_read_in_parts_have_the_same_bits) {
  // More tiles than the values that a block folds together.
  const std::vector<float> many = values<float>(300 * 1024 + 5, 9);
  const wanted sum{element_type::f32, form::sum, false};
  launches batch;
  batch.add(sum, many.data(), nullptr, many.size(), 1);
  batch.add({element_type::f32, form::norm2, false}, many.data() + 1, nullptr, many.size() - 1, 0);
  const wanted place{element_type::f32, form::argmin_magnitude, false};
  batch.add(place, many.data() + 2, nullptr, many.size() - 2, 1);
  ASSERT_EQ(batch.several(), 0U);
  batch.run(4);
  EXPECT_EQ(batch.result(0), alone(sum, many.data(), nullptr, many.size()));
  EXPECT_EQ(batch.result(2), alone(place, many.data() + 2, nullptr, many.size() - 2));
  EXPECT_EQ(batch.result(1), alone({element_type::f32, form::norm2, false}, many.data() + 1, nullptr, many.size() - 1));
}

// --- behind a kernel that reads leaves ------------------------------------------------------------------------------------------------------------

TEST(whole_leaves, hold_the_subtrees_that_are_not_smaller_and_no_other) {
  std::mt19937 random(11);
  for (int again = 0; again < 3000; ++again) {
    const std::uint64_t first = random() % (again % 2 == 0 ? 100 : 100'000),
                        end = first + 1 + random() % (again % 3 == 0 ? 40 : 30'000);
    const int log_leaf = static_cast<int>(random() % 8);
    const auto whole = cb::whole_leaves_of({first, end}, log_leaf);
    std::uint64_t next = whole.first;
    dt::for_subtrees(first, end, [&](std::uint64_t begin, int height) {
      const std::uint64_t behind = begin + (std::uint64_t{1} << height);
      if (height >= log_leaf) {
        EXPECT_EQ(begin, next);
        next = behind;
      } else {
        EXPECT_TRUE(behind <= whole.first || begin >= whole.end);
      }
    });
    EXPECT_EQ(next, std::max(whole.first, whole.end)) << first << " to " << end << ", leaves of 2^" << log_leaf;
  }
}

// What fixed_order shows of its tree.
std::vector<std::byte> node_alone(const wanted& form, const void* x, const void* y, std::uint64_t count) {
  result_bits result{};
  alignas(16) std::byte state[onefold::cpu::most_form_bytes] = {};
  onefold::detail::request what{onefold::serial(), form.type, form.what, x, count, result.data(), true, y, form.wide};
  what.tree_value = state;
  dt::run(what, {});
  return {state, state + onefold::cpu::row_of(form.type, form.what, form.wide).state_bytes};
}

// The form whose accumulator is that of the form's nodes.
wanted form_of_nodes(wanted form) {
  if (form.what == form::all || form.what == form::any || form.what == form::none) form.what = form::count;
  return form;
}

class leaves_on_host : public batches_on_host {
 protected:
  // The state of a leaf of a form that has an index, `before` elements behind the first leaf. A kernel that reads whole units of two tiles has found in
  // which the value is, and any NaN for one.
  static void as_a_leaf_leaves_it(const wanted& form, std::vector<std::byte>& state, std::uint64_t before, bool by_units) {
    const std::uint64_t unit = 2 * onefold::order::tile_rows * onefold::order::row_bytes / size_of(form.type);
    std::uint64_t index = 0;
    std::memcpy(&index, state.data() + 8, sizeof(index));
    index += before;
    if (by_units) index = index / unit * unit < before ? before : index / unit * unit;
    std::memcpy(state.data() + 8, &index, sizeof(index));
    const auto with_any_nan = [&]<class T>(T value) {
      std::memcpy(&value, state.data(), sizeof(value));
      if (!std::isnan(value)) return;
      value = std::copysign(value, T(-1));
      std::memcpy(state.data(), &value, sizeof(value));
    };
    if (form.type == element_type::f32)
      with_any_nan(0.0f);
    else
      with_any_nan(0.0);
  }

  // The nodes of a run of tiles whose first has the number `first`, by the block of the launch behind that of its leaves, twice.
  void compare(const wanted& form, std::uint64_t first, std::uint64_t tiles, int log_leaf, std::size_t offset, unsigned warps) {
    const std::size_t element = size_of(form.type);
    const std::uint64_t tile = onefold::order::tile_rows * onefold::order::row_bytes / element;
    const void* const x = at(form.type, 0, offset);
    const void* const y = at(form.type, 1, offset);
    constexpr std::size_t place = 64;
    std::vector<std::uint64_t> places(cb::most_batched * 2 * place / sizeof(std::uint64_t));
    const std::size_t state_bytes = onefold::cpu::row_of(form.type, form.what, form.wide).state_bytes;
    cb::batched_run run{};
    run.item.x = x;
    run.item.y = form.what == form::dot ? y : nullptr;
    run.item.output = places.data();
    run.item.fold = static_cast<std::uint8_t>(cb::batched_fold(form.type, form.what, form.wide));
    run.item.how = static_cast<std::uint8_t>(cb::batched_item::in_words | cb::batched_place_of(form.what));
    run.item.argument = element;
    run.item.bytes = static_cast<std::uint8_t>(state_bytes);
    run.type = form.type;
    run.what = form.what;
    run.wide = form.wide;
    run.tiles = {first, first + tiles};
    run.count = tiles * tile;
    run.stride = 2 * place;

    // As the leaves' kernel leaves them.
    const std::size_t slot_bytes = onefold::device::slot_bytes_of(state_bytes);
    const auto whole = cb::whole_leaves_of(run.tiles, log_leaf);
    std::vector<onefold::device::slot_word> memory(onefold::device::slot_header_bytes / sizeof(onefold::device::slot_word) +
                                                   4 * tiles + 16);
    auto* const slots = reinterpret_cast<std::byte*>(memory.data()) + onefold::device::slot_header_bytes;
    const auto read_leaves = [&](unsigned long long launch) {
      for (std::uint64_t leaf = whole.first; leaf < whole.end; leaf += std::uint64_t{1} << log_leaf) {
        const std::size_t before = static_cast<std::size_t>(leaf - first) * tile * element;
        auto state = node_alone(form, static_cast<const std::byte*>(x) + before, static_cast<const std::byte*>(y) + before,
                                tile << log_leaf);
        if (has_index(form.what)) as_a_leaf_leaves_it(form, state, (leaf - whole.first) * tile, launch == 2);
        std::byte* const slot = slots + static_cast<std::size_t>((leaf - whole.first) >> log_leaf) * slot_bytes;
        for (std::size_t w = 0; w * 8 < state.size(); ++w) {
          onefold::device::slot_word word{0, launch};
          std::memcpy(&word.bits, state.data() + 8 * w, std::min<std::size_t>(8, state.size() - 8 * w));
          std::memcpy(slot + w * sizeof(word), &word, sizeof(word));
        }
      }
    };

    // Elements beside them, from an odd place, one copy of which a host polls for.
    std::vector<unsigned char> copied(2 * 4096, 0xee);
    unsigned long long told = 0;
    const auto* const bytes = static_cast<const unsigned char*>(x);
    std::vector<cb::batched_request> beside(2);
    for (int k = 0; k < 2; ++k) {
      beside[k].item.x = bytes + (k == 0 ? 4 : 3);
      beside[k].item.count = k == 0 ? 4000 : 1001;
      beside[k].item.output = copied.data() + 4096 * k;
      beside[k].item.argument = k == 0 ? reinterpret_cast<std::uintptr_t>(&told) : 0;
      beside[k].item.fold = cb::batched_item::copied;
    }
    ASSERT_TRUE(cb::fits_a_table(run, beside.size()));
    cb::batched_table table = cb::table_behind_leaves(run, log_leaf, slots, slot_bytes, beside);
    table.header = memory.data();
    for (unsigned long long launch = 1; launch < 3; ++launch) {
      table.call_number = static_cast<std::uint32_t>(launch + 5);
      read_leaves(launch);
      for (std::uint32_t block = 0; block < table.blocks; ++block) {
        const auto shared = std::make_unique<cb::detail::batched_memory>();
        on_a_block(warps, [&] { cb::run_batched_block(cb::batched_folds{}, table, block, *shared); });
      }
      const auto& header = *reinterpret_cast<const onefold::device::slot_header*>(memory.data());
      EXPECT_EQ(header.launches, table.several > 0 ? launch : 0);
      EXPECT_EQ(header.ended, 0U);
      EXPECT_EQ(told, std::uint64_t{table.call_number} << 32);
      EXPECT_EQ(std::memcmp(copied.data(), bytes + 4, 4000), 0);
      EXPECT_EQ(std::memcmp(copied.data() + 4096, bytes + 3, 1001), 0);
      EXPECT_EQ(copied[4000], 0xee);
      EXPECT_EQ(copied[4096 + 1001], 0xee);
      std::size_t next = 0;
      dt::for_subtrees(first, first + tiles, [&](std::uint64_t begin, int height) {
        const std::size_t before = static_cast<std::size_t>(begin - first) * tile * element;
        auto expected =
            node_alone(form, static_cast<const std::byte*>(x) + before, static_cast<const std::byte*>(y) + before, tile << height);
        std::vector<std::byte> got(expected.size());
        if (has_index(form.what) && element == 4) std::fill_n(expected.begin() + 4, 4, std::byte{0});
        for (std::size_t w = 0; w * 4 < got.size(); ++w) {
          const std::uint64_t sent = places[next + w];
          EXPECT_EQ(sent >> 32, table.call_number);
          std::memcpy(got.data() + 4 * w, &sent, 4);
        }
        EXPECT_EQ(got, expected) << name(form.what) << " of " << name(form.type) << ", tiles " << begin << " and 2^" << height
                                 << " in all, of " << tiles << " from " << first << ", leaves of 2^" << log_leaf;
        next += 2 * place / sizeof(std::uint64_t);
      });
    }
  }
};

TEST_F(leaves_on_host, become_nodes_beside_those_of_few_tiles) {
  const std::uint64_t most_tiles = 38;  // of f32; twice as many of f64
  std::mt19937 random(7);
  for (const wanted& each : all_forms()) {
    const wanted form = form_of_nodes(each);
    const std::uint64_t all = form.type == element_type::f32 ? most_tiles : 2 * most_tiles;
    compare(form, 5, all, 2, 1, 2);
    compare(form, random() % 64, all - random() % 20, 1 + static_cast<int>(random() % 2), random() % 4, 1);
    compare(form, 64, 16, 0, 0, 4);
  }
}

TEST_F(leaves_on_host, have_the_first_of_equal_values) {
  const auto f32s = hard_to_place<float>(most);
  const auto f64s = hard_to_place<double>(most);
  std::mt19937 random(8);
  for (std::size_t k = 0; k < f32s.size(); ++k) {
    f32_of_test = &f32s[k];
    f64_of_test = &f64s[k];
    for (const form what : forms_with_a_place) {
      compare({element_type::f32, what, false}, 3, 37, 1, random() % 4, 2);
      compare({element_type::f64, what, false}, 1 + random() % 64, 70, 1 + static_cast<int>(random() % 2), random() % 4, 1);
    }
  }
}

TEST_F(leaves_on_host, are_collected_by_several_warps_where_they_are_many) {
  // A subtree of 1024 leaves, more than one warp collects.
  const std::vector<float> many = values<float>(1100 * 1024, 21);
  f32_of_test = &many;
  compare({element_type::f32, form::sum, false}, 1021, 1030, 0, 0, 3);
  compare({element_type::f32, form::norm2, false}, 1023, 1026, 0, 2, 2);
  compare({element_type::f32, form::argmax_magnitude, false}, 1022, 1030, 0, 1, 2);
}

}  // namespace
}  // namespace onefold_test
