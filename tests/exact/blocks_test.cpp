/// @file blocks_test.cpp  Arrays whose elements change their range on the way: what was right for the elements so far is wrong for
/// those that follow.

#include "fixture.hpp"

namespace onefold_test {
namespace {

// Pieces of arrays, mostly zeros, so that there can be many: their other elements have exponents that nothing before prepares for.
template <class T>
class changing_array {
 public:
  explicit changing_array(std::uint64_t seed) : random_(seed) {
    const std::size_t pieces = 2 + random_.below(6);
    for (std::size_t i = 0; i < pieces; ++i) append_piece();
  }
  [[nodiscard]] const std::vector<T>& x() const { return x_; }
  [[nodiscard]] const std::string& said() const { return said_; }

 private:
  void append_piece() {
    constexpr float_layout in = layout<T>();
    constexpr std::size_t lengths[] = {4'096, 4'096, 4'096, 1'000, 4'097, 2'048, 8'192};
    const std::size_t first = x_.size(), length = lengths[random_.below(std::size(lengths))];
    x_.resize(first + length, from_bits<T>(0));
    const auto put = [&](const T& one) { x_[first + random_.below(length)] = one; };
    // Few or many, from one exponent to all.
    const std::size_t many = 1 + random_.below(random_.below(3) == 0 ? 300 : 12);
    const fields within = fields_of(in, spreads[random_.below(std::size(spreads))], random_);
    const signs sign = random_.below(3) == 0 ? signs::plus : signs::both;
    const std::uint64_t kind = random_.below(8);
    said_ += (said_.empty() ? "" : ", ") + std::to_string(length) + " from exponent field " + std::to_string(within.low) + " to " +
             std::to_string(within.high);
    if (kind == 0) return;  // nothing but zeros
    for (std::size_t i = 0; i < many; ++i) put(random_element<T>(random_, within, sign));
    if (kind <= 2) {  // what cancels, exactly, and leaves the others
      const T huge = kind == 1 ? largest<T>() : random_element<T>(random_, fields_of(in, spread::highest, random_), signs::plus);
      const std::size_t at = first + random_.below(length / 4), behind = at + (std::size_t{1} << random_.below(10));
      x_[at] = huge;
      x_[behind] = negated(huge);
      said_ += ", two that cancel";
    } else if (kind == 3 && random_.below(2) == 0) {
      const std::uint64_t bits[] = {in.nan(), in.infinity(), in.infinity() | in.sign()};
      put(from_bits<T>(bits[random_.below(3)]));
      said_ += ", one that is no number";
    }
  }

  random_numbers random_;
  std::vector<T> x_;
  std::string said_;
};

class exact_blocks : public executor_test {};

TEST_P(exact_blocks, of_changing_ranges_are_right) {
  for_each_float([&]<class T> {
    for (std::uint64_t i = 0; i < std::max<std::uint64_t>(cases(120), 20); ++i) {
      const changing_array<T> array(current_seed() + i);
      const std::vector<T>& x = array.x();
      exact_elements expected(onefold::element_type_of<T>);
      std::uint64_t zeros = 0;
      for (const T& one : x) {
        if (const std::uint64_t bits = scalar_of(one).bits; bits != 0)
          expected.add(bits);
        else
          ++zeros;
      }
      if (zeros != 0) expected.add(0, zeros);
      ASSERT_EQ(wrong_results<T>(where(), x.data(), x.size(), expected), "") << array.said();
      onefold::exact_state<form::sum, T> state;
      state.add(where(), placed(where(), x.data(), x.size()), x.size());
      ASSERT_EQ((std::vector<std::int64_t>(state.words(), state.words() + state.size())), expected.words(form::sum))
          << array.said();
    }
  });
}

TEST_P(exact_blocks, of_products_of_changing_ranges_are_right) {
  for_each_float([&]<class T> {
    for (std::uint64_t i = 0; i < std::max<std::uint64_t>(cases(120), 20); ++i) {
      const changing_array<T> one(current_seed() + i), other(current_seed() + 1'000 + i);
      const std::size_t n = std::min(one.x().size(), other.x().size());
      std::vector<T> y(other.x().begin(), other.x().begin() + static_cast<std::ptrdiff_t>(n));
      if (i % 2 == 0)
        for (T& value : y)
          if (scalar_of(value).bits == 0) value = static_cast<T>(1.0f);  // so that most elements of x have products
      exact_pairs expected(onefold::element_type_of<T>);
      for (std::size_t k = 0; k < n; ++k) expected.add(scalar_of(one.x()[k]).bits, scalar_of(y[k]).bits);
      ASSERT_EQ(wrong_dots<T>(where(), one.x().data(), y.data(), n, expected), "") << one.said() << " times " << other.said();
    }
  });
}

// A number that is none behind elements of every range, wherever a block may begin.
TEST_P(exact_blocks, before_one_that_is_no_number_are_right) {
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    const std::uint64_t highest = in.last_field() - 1;
    for (const auto& [one, other] : {std::pair{highest, std::uint64_t{1}},
                                     {highest, highest},
                                     {highest - 3, std::uint64_t{0}},
                                     {highest / 2, highest / 2},
                                     {highest - 8, highest / 2},
                                     {highest / 4, std::uint64_t{2}}})
      for (const std::size_t place : {1u, 255u, 4'096u, 4'097u, 8'191u, 8'192u, 12'288u, 16'383u, 16'384u, 20'480u})
        for (const std::uint64_t bits : {in.nan(), in.infinity(), in.infinity() | in.sign()}) {
          std::vector<T> x(place + 5, from_bits<T>(0));
          x[0] = from_bits<T>(one << in.stored);
          x[place / 2] = from_bits<T>(other << in.stored | 1);
          x[place] = from_bits<T>(bits);
          exact_elements expected(onefold::element_type_of<T>);
          for (const std::size_t at : {std::size_t{0}, place / 2, place})
            if (at == place || at == 0 || place / 2 != 0) expected.add(scalar_of(x[at]).bits);
          expected.add(0, x.size() - expected.count());
          ASSERT_EQ(wrong_results<T>(where(), x.data(), x.size(), expected), "")
              << "fields " << one << " and " << other << ", bits " << bits << " at " << place;
        }
  });
}

// Most elements at one place, of one sign and with the largest digits, between few that are too far away for anything but bins: what is at one place is
// more than one word of 64 bits holds.
TEST_P(exact_blocks, at_one_place_beside_far_ones_are_right) {
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    const std::uint64_t highest = in.last_field() - 1, largest_digits = (std::uint64_t{1} << in.stored) - 1;
    for (const std::uint64_t field : {std::uint64_t{0}, std::uint64_t{1}, highest / 2, highest / 2 + 40, highest})
      for (const std::uint64_t sign : {std::uint64_t{0}, in.sign()})
        for (const std::size_t n : {2'500u, 4'096u, 16'384u, 40'000u}) {
          if (field > highest) continue;  // of small types
          const T often = from_bits<T>(sign | field << in.stored | largest_digits);
          std::vector<T> x(n, often), y(n, from_bits<T>(highest / 2 << in.stored | largest_digits));
          exact_elements expected(onefold::element_type_of<T>);
          exact_pairs pairs(onefold::element_type_of<T>);
          std::uint64_t far = 0;
          for (std::size_t i = 7; i < n; i += 997, ++far)
            x[i] = from_bits<T>(far % 2 == 0 ? std::uint64_t{1} : in.sign() | highest << in.stored);
          for (std::size_t i = 7; i < n; i += 997) {
            expected.add(scalar_of(x[i]).bits);
            pairs.add(scalar_of(x[i]).bits, scalar_of(y[i]).bits);
          }
          expected.add(scalar_of(often).bits, n - far);
          for (std::size_t i = 0; i < n; ++i)
            if (i % 997 != 7) pairs.add(scalar_of(often).bits, scalar_of(y[i]).bits);
          ASSERT_EQ(wrong_results<T>(where(), x.data(), n, expected), "") << n << " of field " << field << ", sign " << sign;
          ASSERT_EQ(wrong_dots<T>(where(), x.data(), y.data(), n, pairs), "") << n << " of field " << field << ", sign " << sign;
        }
  });
}

// Two huge elements that cancel, behind a block that promised small ones: what stood in between must be left.
TEST_P(exact_blocks, with_huge_elements_behind_small_ones_are_right) {
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    const std::uint64_t highest = in.last_field() - 1;
    for (const std::uint64_t field : {highest, highest - 1, highest - 5, highest - 12, highest - 20})
      for (std::uint64_t below = 0; below < std::min<std::uint64_t>(field, 330); below += is_sanitized ? 41 : 7)
        for (const std::size_t distance : {1u, 2u, 8u, 16u, 64u, 512u}) {
          std::vector<T> x(4'096 + 2'000, from_bits<T>(0));
          const T rest = from_bits<T>((field - below) << in.stored), huge = from_bits<T>(field << in.stored | 5);
          x[4'096] = rest;
          x[4'096 + distance] = huge;
          x[4'096 + 2 * distance] = negated(huge);
          const auto sum = static_cast<double>(exact_value(onefold::sum, where(), x));
          ASSERT_EQ(sum, static_cast<double>(rest))
              << "exponent field " << field << ", " << below << " below, " << distance << " apart";
        }
    count_dispatch(where());
  });
}

// More than a cache holds, of which each part is as it may be: large arrays may be read in another way.
TEST_P(exact_blocks, of_more_than_caches_hold_are_right) {
  for_each_float([&]<class T> {
    const std::size_t n = ((std::size_t{26} << 20) / sizeof(T)) / (is_sanitized ? 100 : 1);
    for (const spread kind : {spread::within_60, spread::whole}) {
      // The same few thousand elements again and again, so that the oracle adds them once.
      const auto part = random_elements<T>(4'999, kind, signs::both, current_seed());
      const exact_elements of_part{std::span<const T>(part)};
      const exact_pairs of_pairs{std::span<const T>(part), std::span<const T>(part)};
      exact_elements expected(onefold::element_type_of<T>);
      exact_pairs pairs(onefold::element_type_of<T>);
      std::vector<T> x;
      x.reserve(n + 2 * part.size());
      for (; x.size() < n; x.insert(x.end(), part.begin(), part.end())) {
        expected.merge(of_part);
        pairs.merge(of_pairs);
      }
      for (const std::uint64_t bits : {std::uint64_t{1}, layout<T>().infinity() - 1, layout<T>().infinity()}) {
        x.push_back(from_bits<T>(bits));
        expected.add(bits);
        ASSERT_EQ(scalar_of(exact_value(onefold::sum, where(), x)), expected.result(form::sum)) << name(kind) << " and " << bits;
        if (bits != 1) continue;
        const auto [mean, variance] = exact_value(onefold::mean_variance, where(), x);
        ASSERT_EQ(scalar_of(mean), expected.result(form::mean)) << name(kind);
        ASSERT_EQ(scalar_of(variance), expected.variance()) << name(kind);
      }
      ASSERT_EQ(scalar_of(exact_value(onefold::norm1, where(), x)), expected.result(form::norm1)) << name(kind);
      x.resize(x.size() - 3);
      ASSERT_EQ(scalar_of(exact_dot(where(), x, x)), pairs.result()) << name(kind);
    }
    count_dispatch(where());
  });
}

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_blocks);

}  // namespace
}  // namespace onefold_test
