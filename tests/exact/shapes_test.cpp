/// @file shapes_test.cpp  Sizes, alignments, and elements that are far from the others: wherever vectors, blocks and threads begin
/// and end.

#include <map>
#include <memory>
#include <tuple>

#include "fixture.hpp"

namespace onefold_test {
namespace {

// Arrays and their oracles, made once for all executors.
template <class T>
struct prepared {
  std::vector<T> x, y;
  exact_elements elements{onefold::element_type_of<T>};
  exact_pairs pairs{onefold::element_type_of<T>};
};

template <class T>
const prepared<T>& prepare(std::size_t count, spread kind, signs sign) {
  static std::map<std::tuple<std::size_t, spread, signs>, std::unique_ptr<prepared<T>>> all;
  auto& one = all[{count, kind, sign}];
  if (one != nullptr) return *one;
  const std::uint64_t seed =
      seed_of("exact shapes") + 100 * count + 10 * static_cast<std::uint64_t>(kind) + static_cast<std::uint64_t>(sign);
  one = std::make_unique<prepared<T>>();
  one->x = random_elements<T>(count, kind, sign, seed);
  one->y = random_elements<T>(count, kind, signs::both, seed + 1);
  one->elements = exact_elements(std::span<const T>(one->x));
  one->pairs = exact_pairs(std::span<const T>(one->x), std::span<const T>(one->y));
  return *one;
}

class exact_shapes : public executor_test {
 protected:
  template <class T>
  void expect_right(const prepared<T>& data, std::size_t offset_x, std::size_t offset_y, const std::string& said) {
    const walled<T> x(data.x, offset_x), y(data.y, offset_y);
    ASSERT_EQ(wrong_results<T>(where(), x.data(), data.x.size(), data.elements), "") << said;
    ASSERT_EQ(wrong_dots<T>(where(), x.data(), y.data(), data.x.size(), data.pairs), "") << said;
  }
};

TEST_P(exact_shapes, of_each_small_size_are_right) {
  for_each_float([&]<class T> {
    for (const spread kind : {spread::whole, spread::within_60}) {
      const std::size_t most = cases(1'100) + 100;
      const auto x = random_elements<T>(most, kind, signs::both, current_seed()),
                 y = random_elements<T>(most, kind, signs::both, 77);
      exact_elements elements(onefold::element_type_of<T>);
      exact_pairs pairs(onefold::element_type_of<T>);
      walled<T> one, other;
      for (std::size_t n = 0; n < most; ++n) {
        one.assign(std::span(x).first(n), n % 3);
        other.assign(std::span(y).first(n), n % 5);
        ASSERT_EQ(wrong_results<T>(where(), one.data(), n, elements), "") << name(kind);
        ASSERT_EQ(wrong_dots<T>(where(), one.data(), other.data(), n, pairs), "") << name(kind);
        elements.add(scalar_of(x[n]).bits);
        pairs.add(scalar_of(x[n]).bits, scalar_of(y[n]).bits);
      }
    }
  });
}

TEST_P(exact_shapes, at_each_alignment_are_right) {
  for_each_float([&]<class T> {
    for (const std::size_t n : {std::size_t{77}, std::size_t{1'000}, std::size_t{5'003}}) {
      const auto& data = prepare<T>(n, spread::within_250, signs::both);
      for (std::size_t offset = 0; offset <= 64 / sizeof(T); ++offset)
        ASSERT_NO_FATAL_FAILURE(expect_right(data, offset, 7 * offset % 9, "offset " + std::to_string(offset)));
    }
  });
}

TEST_P(exact_shapes, of_every_size_spread_and_sign_are_right) {
  for_each_float([&]<class T> {
    for (const std::size_t n : {4'095u, 4'096u, 4'097u, (1u << 14) - 1, (1u << 14) + 1, 30'000u})
      for (const spread kind : spreads)
        for (const signs sign : {signs::both, signs::plus, signs::minus}) {
          if (is_sanitized && n > 5'000) continue;
          ASSERT_NO_FATAL_FAILURE(
              expect_right(prepare<T>(n, kind, sign), n % 2, n % 3, std::string(name(kind)) + ", " + std::string(name(sign))));
        }
  });
}

TEST_P(exact_shapes, of_large_arrays_are_right) {
  for_each_float([&]<class T> {
    for (const spread kind : {spread::whole, spread::within_60, spread::highest})
      ASSERT_NO_FATAL_FAILURE(expect_right(prepare<T>((1 << 17) + 3, kind, signs::both), 1, 0, std::string(name(kind))));
  });
}

// One element whose exponent has nothing to do with those of the others, in each class of positions.
TEST_P(exact_shapes, with_one_element_far_from_the_others_are_right) {
  const std::size_t n = 10'007;
  const std::size_t places[] = {0,   1,   2,   3,   7,   8,     15,    16,    31,    32,    63,    64,    127,    128,   129,  255,
                                256, 511, 512, 513, 767, 1'023, 1'024, 2'047, 2'048, 4'095, 4'096, 5'000, n - 17, n - 2, n - 1};
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    const std::uint64_t middle = in.last_field() / 2, highest = in.last_field() - 1;
    const struct {
      fields others;
      std::uint64_t far;  // the exponent field of the one
    } kinds[] = {{{middle, middle + 3}, highest},
                 {{middle, middle + 3}, 0},
                 {{highest - 2, highest}, 0},
                 {{0, 0}, highest},
                 {{0, 0}, middle},
                 {{middle, middle + 3}, middle / 2},
                 {{middle, middle}, middle + middle / 3}};
    for (const auto& kind : kinds) {
      random_numbers random(current_seed() + kind.far);
      std::vector<T> x(n);
      for (T& one : x) one = random_element<T>(random, kind.others, signs::both);
      // Wherever the one stands, the set is the same.
      x[0] = from_bits<T>(kind.far << in.stored | 1);
      const exact_elements expected{std::span<const T>(x)};
      walled<T> there(x, 1);
      std::size_t now = 0;
      for (std::size_t i = 0; i < std::size(places); i += is_sanitized ? 6 : 1) {
        const std::size_t place = places[i];
        std::swap(there.data()[now], there.data()[place]);
        now = place;
        ASSERT_EQ(wrong_results<T>(where(), there.data(), n, expected), "") << "exponent field " << kind.far << " at " << place;
      }
    }
  });
}

// The same of an infinity or a NaN, which a kernel may look for in blocks.
TEST_P(exact_shapes, with_one_element_that_is_no_number_are_right) {
  const std::size_t n = 5'003;
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    std::vector<T> x = random_elements<T>(n, spread::within_60, signs::both, current_seed());
    for (const std::uint64_t bits : {in.nan(), in.nan() | in.sign(), in.infinity() | 1, in.infinity(), in.infinity() | in.sign()}) {
      x[0] = from_bits<T>(bits);
      const exact_elements expected{std::span<const T>(x)};
      walled<T> there(x);
      std::size_t now = 0;
      for (std::size_t place = 0; place < n; place += 1 + place / (is_sanitized ? 1 : 7)) {
        std::swap(there.data()[now], there.data()[place]);
        now = place;
        ASSERT_EQ(wrong_results<T>(where(), there.data(), n, expected), "") << "bits " << bits << " at " << place;
      }
    }
  });
}

// Stretches of all sorts one behind the other: what a kernel has learned of one is wrong of the next.
TEST_P(exact_shapes, of_stretches_that_have_nothing_in_common_are_right) {
  for_each_float([&]<class T> {
    for (std::uint64_t i = 0; i < cases(50); ++i) {
      random_numbers random(current_seed() + i);
      std::vector<T> x;
      const std::uint64_t stretches = 2 + random.below(4);
      for (std::uint64_t k = 0; k < stretches; ++k) {
        const spread kind = spreads[random.below(std::size(spreads))];
        const fields within = fields_of(layout<T>(), kind, random);
        const bool is_zero = random.below(8) == 0;
        const std::uint64_t length = k + 1 < stretches && random.below(2) == 0 ? 4096 : 1 + random.below(6000);
        for (std::uint64_t j = 0; j < length; ++j) {
          const T value = random_element<T>(random, within, signs::both);
          x.push_back(is_zero ? from_bits<T>(scalar_of(value).bits & layout<T>().sign()) : value);
        }
        if (random.below(6) == 0) x.back() = infinity<T>(random.below(2) == 0);
        if (random.below(6) == 0) x.back() = largest<T>(random.below(2) == 0);
      }
      const exact_elements expected{std::span<const T>(x)};
      const walled<T> there(x, i % 3);
      ASSERT_EQ(wrong_results<T>(where(), there.data(), x.size(), expected), "") << "case " << i;
    }
  });
}

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_shapes);

}  // namespace
}  // namespace onefold_test
