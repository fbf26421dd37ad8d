/// @file complex_batched_test.cpp  The blocks of the third kernel of batches, on blocks of host threads that run one after the other: of every form of complex
/// numbers each result has the bits that serial() gives.

#include "warp_on_host.hpp"

#include "../../backends/cuda/fixed_order/complex_batched.cuh"

#include <complex>
#include <cstring>
#include <limits>
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
using result_bytes = batch_on_host::result_bytes;

struct wanted {
  element_type type;
  form what;
  bool wide = false;
};
std::string sentence_of(const wanted& one) {
  return std::string(name(one.what)) + " of " + std::string(name(one.type)) + (one.wide ? " in c128" : "");
}

std::vector<wanted> all_forms() {
  std::vector<wanted> all;
  for (const element_type type : {element_type::c64, element_type::c128})
    for (int what = 0; what < onefold::form_count + onefold::record_count; ++what)
      for (const bool wide : {false, true})
        if (onefold::takes_type(static_cast<form>(what), type) && (!wide || onefold::can_be_wide(type, static_cast<form>(what))))
          all.push_back({type, static_cast<form>(what), wide});
  return all;
}

result_bytes alone(const wanted& one, const void* x, const void* y, std::uint64_t count) {
  result_bytes result{};
  dt::request what{onefold::serial(), one.type, one.what, x, count, result.data(), true, one.what == form::dot ? y : nullptr};
  what.wide = one.wide;
  what.ddof = one.what == form::mean_variance ? 1 : 0;
  dt::run(what, {});
  return result;
}

class launches : public batch_on_host {
 public:
  void add(const wanted& one, const void* x, const void* y, std::uint64_t count, std::uint32_t most_leaves,
           const std::uint64_t* count_at = nullptr) {
    cb::batched_item item{};
    item.x = x;
    item.y = one.what == form::dot ? y : nullptr;
    item.count = count;
    item.count_at = count_at;
    item.fold = cb::complex_batched_fold(one.type, one.what, one.wide);
    item.how = static_cast<std::uint8_t>(static_cast<int>(one.what) | (one.wide ? cb::complex_is_wide : 0));
    item.argument = one.what == form::mean_variance ? 1 : 0;
    item.bytes = static_cast<std::uint8_t>(onefold::result_bytes(one.type, one.what, one.wide));
    const std::uint64_t unit = std::uint64_t{1} << cb::log_complex_unit(one.type, one.what);
    batch_on_host::add(item, (count + unit - 1) / unit, most_leaves);
    is_dot_ = one.what == form::dot;
  }
  void take_addresses(const void* const* x_at, const void* const* y_at) {
    batch_on_host::take_addresses(x_at, is_dot_ ? y_at : nullptr);
  }
  void run(unsigned warps) {
    run_blocks<cb::detail::complex_memory>(
        warps, [](const auto& table, std::uint32_t block, auto& shared) { cb::run_complex_block(table, block, shared); });
  }

  [[nodiscard]] const result_bytes& result(std::size_t item) const { return stored(item); }

 private:
  bool is_dot_ = false;
};

// Random numbers of any size, with zeros of both signs among them.
template <class T>
std::vector<T> parts_of(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> all(2 * count);
  for (T& part : all) part = static_cast<T>(normal(random));
  for (std::size_t i = 0; i + 1 < all.size(); i += 1994) {
    all[i] = T(0);
    all[i + 1] = T(-0.0);
  }
  return all;
}

class complex_batches : public testing::Test {
 protected:
  static constexpr std::size_t most = 40'000;
  // Behind `offset` parts: an odd number of them is no boundary of the elements' size.
  [[nodiscard]] const void* at(element_type type, int which, std::size_t offset) const {
    return type == element_type::c64 ? static_cast<const void*>(c64_[which].data() + offset) : c128_[which].data() + offset;
  }

 private:
  const std::vector<float> c64_[2] = {parts_of<float>(most + 8, 1), parts_of<float>(most + 8, 2)};
  const std::vector<double> c128_[2] = {parts_of<double>(most + 8, 3), parts_of<double>(most + 8, 4)};
};

TEST(the_units_of_complex_numbers, are_what_a_warp_takes) {
  const auto unit_of = [](element_type type, form what) { return 1 << cb::log_complex_unit(type, what); };
  for (const form what : {form::sum, form::mean, form::prod, form::dot, form::count, form::any}) {
    EXPECT_EQ(unit_of(element_type::c64, what), 512) << name(what);
    EXPECT_EQ(unit_of(element_type::c128, what), 512) << name(what);
  }
  for (const form what : {form::norm1, form::norm_inf, form::mean_variance}) {
    EXPECT_EQ(unit_of(element_type::c64, what), 1024) << name(what);
    EXPECT_EQ(unit_of(element_type::c128, what), 512) << name(what);
  }
  for (const form what : {form::sum_of_squares, form::norm2}) {
    EXPECT_EQ(unit_of(element_type::c64, what), 512) << name(what);
    EXPECT_EQ(unit_of(element_type::c128, what), 256) << name(what);
  }
}

TEST_F(complex_batches, have_the_bits_that_each_form_has_alone) {
  expect_what_each_has_alone<launches>(all_forms(), {1, 33, 255, 257, 513, 2049, 20'000}, 4, 3,
                                       [this](auto... place) { return at(place...); });
}

TEST_F(complex_batches, send_words_to_a_host_that_polls) {
  const std::vector<wanted> all = all_forms();
  launches batch;
  batch.send_words();
  for (const wanted& one : all) batch.add(one, at(one.type, 0, 2), at(one.type, 1, 4), 700, 256);
  batch.run(4);
  for (std::size_t i = 0; i < all.size(); ++i) {
    result_bytes expected = alone(all[i], at(all[i].type, 0, 2), at(all[i].type, 1, 4), 700);
    EXPECT_EQ(batch.in_words(i), expected) << sentence_of(all[i]);
  }
}

TEST_F(complex_batches, count_what_stands_in_memory_and_follow_addresses) {
  const std::uint64_t stored[] = {0, 1, 700, 16'385, 40'000, std::uint64_t{1} << 63};  // the last is more than there may be
  for (const wanted& one : all_forms()) {
    const void* const x = at(one.type, 0, 1);
    const void* const y = at(one.type, 1, 2);
    launches batch;
    for (const std::uint64_t& n : stored) {
      batch.add(one, nullptr, nullptr, 40'000, 256, &n);
      batch.take_addresses(&x, &y);
    }
    for (unsigned again = 1; again < 3; ++again) {
      batch.run(2);
      ASSERT_GT(batch.several(), 0U);
      EXPECT_EQ(batch.header().launches, again);
      EXPECT_EQ(batch.header().ended, 0U);
      for (std::size_t i = 0; i < std::size(stored); ++i)
        EXPECT_EQ(batch.stored(i), alone(one, x, y, std::min<std::uint64_t>(stored[i], 40'000)))
            << sentence_of(one) << ", " << stored[i] << " elements";
    }
  }
}

TEST_F(complex_batches, set_all_bits_of_results_of_arrays_that_cannot_be_followed) {
  const void* const nowhere = nullptr;
  for (const wanted& one : all_forms()) {
    const void* const x = at(one.type, 0, 1);
    const void* const y = at(one.type, 1, 2);
    const void* const crooked = static_cast<const char*>(x) + size_of(part_type(one.type)) / 2;
    launches batch;
    batch.add(one, nullptr, nullptr, 40'000, 256);
    batch.take_addresses(&nowhere, &y);
    batch.add(one, nullptr, nullptr, 40'000, 256);
    batch.take_addresses(&x, &y);
    batch.add(one, nullptr, nullptr, 700, 256);
    batch.take_addresses(&crooked, &y);
    result_bytes all_set{};
    std::memset(all_set.data(), 0xff, onefold::result_bytes(one.type, one.what, one.wide));
    for (int again = 0; again < 2; ++again) {
      batch.run(2);
      EXPECT_EQ(batch.stored(0), all_set) << sentence_of(one);
      EXPECT_EQ(batch.stored(1), alone(one, x, y, 40'000)) << sentence_of(one) << ", beside";
      EXPECT_EQ(batch.stored(2), all_set) << sentence_of(one);
    }
  }
}

// Infinities, NaNs, and numbers whose squares are none.
TEST_F(complex_batches, of_special_values_have_the_bits_that_each_form_has_alone) {
  const auto compare = [&]<class T>(T, element_type type) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    const T specials[] = {
        inf,    -inf, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(),
        T(-0.0)};
    for (const T special : specials) {
      std::vector<T> z = parts_of<T>(3000, 9);
      z[2 * 1777 + 1] = special;
      for (const form what : {form::sum, form::prod, form::mean, form::dot, form::norm1, form::norm_inf, form::norm2,
                              form::sum_of_squares, form::mean_variance, form::count})
        for (const bool wide : {false, true}) {
          if (wide && !onefold::can_be_wide(type, what)) continue;
          const wanted one{type, what, wide};
          launches batch;
          batch.add(one, z.data(), z.data(), 3000, 256);
          batch.run(2);
          EXPECT_EQ(batch.stored(0), alone(one, z.data(), z.data(), 3000)) << sentence_of(one) << " with " << special;
        }
    }
  };
  compare(0.0F, element_type::c64);
  compare(0.0, element_type::c128);
}

}  // namespace
}  // namespace onefold_test
