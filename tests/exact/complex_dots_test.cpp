/// @file complex_dots_test.cpp  States of exact dots of complex numbers: for each part one of its products, compared with the oracle's words, in one
/// piece and added from many.

#include <complex>
#include <cstring>

#include "fixture.hpp"

namespace onefold_test {
namespace {

class states_of_exact_complex_dots : public executor_test {};

template <class F>
void for_float_and_double(F&& f) {
  f.template operator()<float>();
  f.template operator()<double>();
}

template <class T>
struct complex_pairs {
  std::vector<std::complex<T>> x, y;

  void add(T a, T b, T c, T d) {
    x.emplace_back(a, b);
    y.emplace_back(c, d);
  }
};

// docs/exact.md: of (a, b) and (c, d) the real part is a c + b d, and the imaginary part a d + b (-c).
template <class T>
struct expected_parts {
  exact_pairs real{onefold::element_type_of<T>}, imaginary{onefold::element_type_of<T>};

  explicit expected_parts(const complex_pairs<T>& of) {
    for (std::size_t i = 0; i < of.x.size(); ++i) {
      const auto bits = [](T value) { return scalar_of(value).bits; };
      const std::uint64_t a = bits(of.x[i].real()), b = bits(of.x[i].imag()), c = bits(of.y[i].real()), d = bits(of.y[i].imag());
      real.add(a, c);
      real.add(b, d);
      imaginary.add(a, d);
      imaginary.add(b, c ^ layout<T>().sign());
    }
  }
  [[nodiscard]] std::vector<std::int64_t> words() const {
    std::vector<std::int64_t> both = real.words();
    const auto second = imaginary.words();
    both.insert(both.end(), second.begin(), second.end());
    return both;
  }
};

template <class T>
constexpr auto type_of_parts = static_cast<std::int32_t>(onefold::element_type_of<T>);

// The words of both parts' states, and the result that came with them.
template <class T>
std::vector<std::int64_t> states_of(const onefold::executor& where, const std::complex<T>* x, const std::complex<T>* y,
                                    std::uint64_t count, std::complex<T>& result) {
  std::vector<std::int64_t> words(2 * onefold_exact_words(type_of_parts<T>, ONEFOLD_DOT), 99);
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = onefold::detail::c_executor(where);
  what.type = sizeof(T) == 4 ? ONEFOLD_C64 : ONEFOLD_C128;
  what.form = ONEFOLD_DOT;
  what.input = x;
  what.second = y;
  what.count = count;
  what.output = &result;
  what.exact_state = words.data();
  onefold_options how{};
  how.struct_bytes = sizeof(how);
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  onefold::detail::check_status(onefold_reduce(&what, &how));
  return words;
}

template <class T>
std::complex<T> result_of(const std::vector<std::int64_t>& words) {
  T part[2];
  for (std::size_t k = 0; k < 2; ++k)
    onefold::detail::check_status(
        onefold_exact_result(type_of_parts<T>, ONEFOLD_DOT, 0, 0, words.data() + k * words.size() / 2, &part[k]));
  return {part[0], part[1]};
}

template <class T>
void expect_parts(const expected_parts<T>& expected, const std::complex<T>& got) {
  ASSERT_EQ(scalar_of(got.real()), expected.real.result());
  ASSERT_EQ(scalar_of(got.imag()), expected.imaginary.result());
}

// In one piece, and in random ones, whose words are added in any order and by whoever adds integers.
template <class T>
void expect_states(const onefold::executor& where, const complex_pairs<T>& of, random_numbers& random) {
  const expected_parts<T> expected(of);
  const std::vector<std::int64_t> right = expected.words();
  std::complex<T> result;
  ASSERT_EQ(states_of(where, of.x.data(), of.y.data(), of.x.size(), result), right);
  ASSERT_NO_FATAL_FAILURE(expect_parts(expected, result));
  ASSERT_NO_FATAL_FAILURE(expect_parts(expected, result_of<T>(right)));
  for (int division = 0; division < 3; ++division) {
    std::vector<std::int64_t> sum(right.size()), merged(right.size());
    const std::size_t half = right.size() / 2;
    for (std::size_t from = 0; from < of.x.size();) {
      const std::size_t here = std::min<std::size_t>(of.x.size() - from, random.below(1 + of.x.size() / (1 + random.below(5))));
      const auto piece =
          states_of(random.below(2) == 0 ? where : onefold::serial(), of.x.data() + from, of.y.data() + from, here, result);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += piece[i];
      for (const std::size_t k : {std::size_t{0}, half})
        onefold::detail::check_status(onefold_exact_add(type_of_parts<T>, ONEFOLD_DOT, merged.data() + k, piece.data() + k));
      from += here;
    }
    ASSERT_EQ(merged, right);
    ASSERT_NO_FATAL_FAILURE(expect_parts(expected, result_of<T>(sum)));
    for (const std::size_t k : {std::size_t{0}, half})
      onefold::detail::check_status(onefold_exact_add(type_of_parts<T>, ONEFOLD_DOT, sum.data() + k, nullptr));
    ASSERT_EQ(sum, right);
  }
}

TEST_P(states_of_exact_complex_dots, have_a_state_for_each_part) {
  for_float_and_double([&]<class T> {
    random_numbers random(current_seed());
    for (const std::size_t n : {0u, 1u, 2u, 3u, 100u, 2'049u, 9'001u})
      for (const spread kind : {spread::whole, spread::within_60, spread::highest, spread::subnormal}) {
        const auto parts = random_elements<T>(4 * n, kind, signs::both, current_seed() + n);
        complex_pairs<T> of;
        for (std::size_t i = 0; i < n; ++i) of.add(parts[4 * i], parts[4 * i + 1], parts[4 * i + 2], parts[4 * i + 3]);
        ASSERT_NO_FATAL_FAILURE(expect_states(where(), of, random)) << n;
        // Beside the same pairs with the other sign and in another order: all cancel but one product.
        const std::size_t all = of.x.size();
        for (std::size_t i = 0; i < all; ++i) {
          of.x.push_back(-of.x[all - 1 - i]);
          of.y.push_back(of.y[all - 1 - i]);
        }
        of.add(from_bits<T>(1), T(0), from_bits<T>(1), T(1));
        ASSERT_NO_FATAL_FAILURE(expect_states(where(), of, random)) << n;
      }
    count_dispatch(where());
  });
}

TEST_P(states_of_exact_complex_dots, with_special_parts_have_states) {
  for_float_and_double([&]<class T> {
    constexpr float_layout in = layout<T>();
    random_numbers random(current_seed());
    const T some[] = {T(0), from_bits<T>(in.sign()), T(1), infinity<T>(), infinity<T>(true), from_bits<T>(in.nan()), largest<T>()};
    for (const T a : some)
      for (const T b : some)
        for (const T c : some)
          for (const T d : some) {
            complex_pairs<T> of;
            of.add(a, b, c, d);
            if (random.below(2) == 0) of.add(T(0), from_bits<T>(in.sign()), from_bits<T>(in.sign()), T(0));
            ASSERT_NO_FATAL_FAILURE(expect_states(where(), of, random)) << a << " " << b << " " << c << " " << d;
          }
    count_dispatch(where());
  });
}

// The products of a part are counted, as those of an array twice as long.
TEST(states_of_complex_dots, count_products_and_are_those_of_dots_of_parts) {
  complex_pairs<double> of;
  of.add(1, 2, 3, 4);
  of.add(5, 6, 7, 8);
  of.add(9, 10, 11, 12);
  std::complex<double> result;
  const auto words = states_of(onefold::serial(), of.x.data(), of.y.data(), 3, result);
  EXPECT_EQ(result, onefold::dot(onefold::serial(), of.x, of.y, exactly));
  std::uint64_t count = 0;
  onefold::detail::check_status(onefold_exact_count(ONEFOLD_F64, ONEFOLD_DOT, words.data(), &count));
  EXPECT_EQ(count, 6u);
  onefold::exact_state<form::dot, double> of_parts;
  of_parts.add(onefold::serial(), reinterpret_cast<const double*>(of.x.data()), reinterpret_cast<const double*>(of.y.data()), 6);
  EXPECT_EQ(std::memcmp(of_parts.words(), words.data(), sizeof(of_parts)), 0);
}

TEST(states_of_complex_dots, are_refused_without_the_guarantee_and_of_other_forms) {
  const std::vector<std::complex<double>> z{{1, 2}, {3, 4}};
  std::int64_t words[500];
  double result[4];
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = onefold::detail::c_executor(onefold::serial());
  what.type = ONEFOLD_C128;
  what.form = ONEFOLD_DOT;
  what.input = what.second = z.data();
  what.count = z.size();
  what.output = result;
  what.exact_state = words;
  const auto reduce = [&](std::int32_t guarantee) {
    onefold_options how{};
    how.struct_bytes = sizeof(how);
    how.guarantee = guarantee;
    onefold::detail::check_status(onefold_reduce(&what, &how));
  };
  EXPECT_TRUE(refuses(onefold::errc::guarantee_not_met, "dot", [&] { reduce(ONEFOLD_GUARANTEE_DEFAULT); }));
  what.form = ONEFOLD_NORM1;
  EXPECT_TRUE(refuses(onefold::errc::guarantee_not_met, "", [&] { reduce(ONEFOLD_GUARANTEE_EXACT); }));
}

ONEFOLD_TEST_EXACT_PLACES(states_of_exact_complex_dots);

}  // namespace
}  // namespace onefold_test
