/// @file rows_test.cpp  What a warp reads for functions of the index and operators of a user's, on a warp of host threads: the bits are those of the
/// CPU, however the rows of a box lie in the tiles.

#include "warp_on_host.hpp"

#include <onefold/detail/own_folds.hpp>
#include <onefold/device/own.cuh>
#include <onefold/device/rows.cuh>
#include <onefold/device/units.cuh>
#include <onefold/onefold.hpp>

#include <array>
#include <atomic>
#include <complex>
#include <string>

#include "../../backends/cuda/fixed_order/complex_folds.cuh"
#include "../../backends/cuda/fixed_order/complex_states.cuh"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

namespace dt = onefold::detail;
namespace dv = onefold::device;
namespace op = onefold::op;
using onefold::box;

// The result of a fold over n indices as the kernels make it: a node for each unit, by a warp, and the aligned binary tree over these. `Units`: what a warp
// takes at a time.
template <class Fold, template <class> class Units>
typename Fold::result reduced_by(const Fold& user, std::uint64_t n) {
  using own = dv::own_fold<Fold>;
  using units = Units<own>;
  using A = typename own::accumulator;
  const own fold{user};
  dv::tree_input in{};
  in.count = n;
  const std::uint64_t tile = dv::tile_elements<own>;
  in.end_tile = (n + tile - 1) / tile;
  const std::uint64_t elements = tile << units::log_tiles;
  std::vector<A> nodes((n + elements - 1) / elements);
  on_a_warp([&] {
    for (std::uint64_t unit = 0; unit < nodes.size(); ++unit) {
      const A node = units::is_whole(in, unit) ? units::whole_node(fold, in, unit) : units::any_node(fold, in, unit);
      if (threadIdx.x == 0) nodes[unit] = node;
    }
  });
  std::uint64_t left = nodes.size();
  for (; left > 1; left = (left + 1) / 2)
    for (std::uint64_t i = 0; i < left; i += 2) nodes[i / 2] = i + 1 < left ? fold.combine(nodes[i], nodes[i + 1]) : nodes[i];
  typename Fold::result result;
  fold.conclude(nodes.empty() ? fold.neutral() : nodes[0], n, &result);
  return result;
}

template <class Own>
using single_units = dv::detail::units_of<Own, dv::reading::single>;
template <class Own>
using units_of_many = dv::detail::stream_units<Own, dv::reading::single>;
template <class Fold>
typename Fold::result reduced(const Fold& user, std::uint64_t n) {
  return reduced_by<Fold, single_units>(user, n);
}

template <class T>
std::vector<unsigned char> bytes_of(const T& value) {
  std::vector<unsigned char> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

// A number of which sums round, for each index, none of which is another's.
template <class T>
T number_of(std::int64_t k, std::int64_t j, std::int64_t i) {
  std::uint64_t bits = static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(j) * 0xbf58476d1ce4e5b9U +
                       static_cast<std::uint64_t>(i) * 0x94d049bb133111ebU;
  bits ^= bits >> 29;
  bits *= 0xbf58476d1ce4e5b9U;
  bits ^= bits >> 32;
  return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits >> 11)) / 4503599627370496.0 - 1.0);
}
template <class T>
struct plane {
  T operator()(std::int64_t j, std::int64_t i) const { return number_of<T>(0, j, i); }
};
template <class T>
struct cube {
  T operator()(std::int64_t k, std::int64_t j, std::int64_t i) const { return number_of<T>(k, j, i); }
};
template <class T>
struct line {
  T operator()(std::uint64_t i) const { return number_of<T>(0, 0, static_cast<std::int64_t>(i)); }
};

template <class Box, class F>
void expect_sum(const Box& in, F f, const std::string& what) {
  EXPECT_EQ(bytes_of(reduced(dt::fold_of_form<onefold::form::sum>(in, f), in.size())), bytes_of(onefold::sum(in, f))) << what;
}

// Rows that are shorter than a warp's row of a tile, than a tile, as long as tiles, longer; beginning anywhere in one.
constexpr std::int64_t lengths[] = {1,   2,    3,    31,   32,   33,   63,   64,   65,   100,  511,  512,
                                    513, 1000, 1023, 1024, 1025, 1536, 2048, 3000, 8191, 8192, 8193, 9000};

TEST(rows_of_a_warp, of_a_box_of_two_coordinates) {
  for (const std::int64_t length : lengths) {
    const std::int64_t rows = 5000 / length + 3;
    const std::string what = std::to_string(rows) + " rows of " + std::to_string(length);
    expect_sum(box({-2, rows - 2}, {3, length + 3}), plane<float>{}, what + " floats");
    expect_sum(box({7, rows + 7}, {-5, length - 5}), plane<double>{}, what + " doubles");
  }
}

TEST(rows_of_a_warp, of_a_box_of_three_coordinates) {
  for (const std::int64_t length : {1, 5, 33, 100, 700, 2500})
    for (const std::int64_t rows : {1, 7, 40}) {
      const std::int64_t planes = 4000 / (length * rows) + 2;
      const std::string what = std::to_string(planes) + " planes of " + std::to_string(rows) + " rows of " + std::to_string(length);
      expect_sum(box({1, planes + 1}, {-3, rows - 3}, {2, length + 2}), cube<float>{}, what + " floats");
      expect_sum(box({0, planes}, {5, rows + 5}, {-1, length - 1}), cube<double>{}, what + " doubles");
    }
}

// Asks are counted: each index is asked for once, and none behind the last.
constexpr std::uint64_t most_asked = 3000;
std::atomic<int> asks[most_asked];
template <class T>
struct counted_line {
  T operator()(std::uint64_t i) const {
    asks[i].fetch_add(1, std::memory_order_relaxed);
    return line<T>{}(i);
  }
};
template <class T>
struct counted_half_of_line {
  onefold::maybe<T> operator()(std::uint64_t i) const {
    const T value = counted_line<T>{}(i);
    if (value < 0) return onefold::absent;
    return value;
  }
};
template <template <class> class Units, class F>
void expect_each_once(F f, std::uint64_t n) {
  const auto expected = bytes_of(onefold::sum(n, f));
  for (auto& one : asks) one = 0;
  const auto fold = dt::fold_of_form<onefold::form::sum>(dt::as_space(n), f);
  EXPECT_EQ(bytes_of(reduced_by<std::decay_t<decltype(fold)>, Units>(fold, n)), expected) << n << " indices";
  for (std::uint64_t i = 0; i < most_asked; ++i) ASSERT_EQ(asks[i], i < n ? 1 : 0) << "index " << i << " of " << n;
}

TEST(rows_of_a_warp, ask_for_each_index_once_wherever_the_last_tile_ends) {
  std::vector<std::uint64_t> counts{1, 2, 31, 32, 33, 63, 64, 65};
  for (const std::uint64_t tile : {512, 1024})
    for (std::uint64_t row = 0; row <= 16; ++row)  // so many whole ones behind two tiles, and a part of another
      for (const std::uint64_t more : {0, 1, 31, 33})
        if (const std::uint64_t n = tile + row * tile / 16 + more; n < most_asked)
          counts.push_back(n), counts.push_back(std::min(n + tile / 2, most_asked));
  for (const std::uint64_t n : counts) {
    expect_each_once<single_units>(counted_line<float>{}, n);
    expect_each_once<single_units>(counted_half_of_line<float>{}, n);
    expect_each_once<units_of_many>(counted_line<double>{}, n);
    expect_each_once<units_of_many>(counted_half_of_line<double>{}, n);
  }
  using own = dv::own_fold<decltype(dt::fold_of_form<onefold::form::sum>(dt::as_space(std::uint64_t{}),
                                                                         std::declval<counted_line<double>&>()))>;
  static_assert(units_of_many<own>::log_tiles == 1 && single_units<own>::log_tiles == 0, "the test is of two tiles at a time");
}

// Of single bytes a tile has the most indices.
struct byte_at {
  std::uint8_t operator()(std::int64_t j, std::int64_t i) const {
    return static_cast<std::uint8_t>(number_of<double>(0, j, i) * 127 + 128);
  }
};
struct mixed {  // commutes and is associative, and sees every bit
  std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return static_cast<std::uint8_t>(a + b); }
};

TEST(rows_of_a_warp, of_a_box_of_bytes) {
  for (const std::int64_t length : {1, 40, 300, 4095, 4096, 4097, 5000, 8191, 8192, 8193, 12000}) {
    const auto in = box({-1, 30000 / length + 3}, {9, length + 9});
    byte_at f;
    mixed add;
    EXPECT_EQ(reduced(dt::fold_of_own(in, f, add, dt::no_init{}), in.size()), onefold::transform_reduce(in, add, f))
        << "rows of " << length;
  }
}

// A unit behind many others.
template <class Box, class F>
void expect_unit(const Box& in, const F& f, std::uint64_t unit) {
  F function = f;
  using own = dv::own_fold<decltype(dt::fold_of_form<onefold::form::sum>(in, function))>;
  const own fold{dt::fold_of_form<onefold::form::sum>(in, function)};
  const std::uint64_t elements = dv::tile_elements<own> << dv::log_tiles_of_rows<own>;
  dv::tree_input of_all{};
  of_all.count = in.size();
  ASSERT_LE((unit + 1) * elements, of_all.count);
  const auto at = [&](std::uint64_t i) {  // by division
    const std::uint64_t n = unit * elements + i;
    return f(in.begin[0] + static_cast<std::int64_t>(n / in.extent[1]), in.begin[1] + static_cast<std::int64_t>(n % in.extent[1]));
  };
  decltype(fold.neutral()) whole{};
  decltype(fold.neutral()) cut{};
  on_a_warp([&] {
    const auto by_rows = dv::rows_node<own, true, 1>(fold, of_all, unit);
    const auto by_index = dv::rows_node<own, false, 1>(fold, of_all, unit);
    if (threadIdx.x == 0) {
      whole = by_rows;
      cut = by_index;
    }
  });
  const auto expected = bytes_of(onefold::sum(elements, at));
  EXPECT_EQ(bytes_of(whole), expected) << unit;
  EXPECT_EQ(bytes_of(cut), expected) << unit;
}

TEST(rows_of_a_warp, of_boxes_that_are_larger_than_memory) {
  for (const std::uint64_t length : {std::uint64_t{100000}, (std::uint64_t{1} << 31) - 4096, (std::uint64_t{1} << 31) + 7,
                                     (std::uint64_t{1} << 32) + 1000, (std::uint64_t{1} << 40) + 3, std::uint64_t{1} << 41}) {
    const auto of = box({-1, 9}, {-7, static_cast<std::int64_t>(length) - 7});
    for (std::uint64_t row = 1; row < 8; ++row) {  // ends and begins of rows
      expect_unit(of, plane<float>{}, row * length / 1024);
      expect_unit(of, plane<double>{}, row * length / 512);
      expect_unit(of, plane<double>{}, row * length / 512 - 1);
    }
    expect_unit(of, plane<float>{}, length / 2048);
  }
  const auto many = box({0, std::int64_t{1} << 40}, {0, 1000});
  for (const std::uint64_t unit : {std::uint64_t{0}, std::uint64_t{1} << 33, (std::uint64_t{1000} << 30) - 1}) {
    expect_unit(many, plane<float>{}, unit);
    expect_unit(many, plane<double>{}, unit);
  }
}

TEST(rows_of_a_warp, of_planes_that_are_larger_than_memory) {
  // Two planes, and units about the end of the first.
  for (const std::int64_t rows : {std::int64_t{9000}, (std::int64_t{1} << 33) + 5}) {
    const std::int64_t length = 300;
    auto of = box({0, 2}, {0, rows}, {0, length});
    cube<double> f;
    using own = dv::own_fold<decltype(dt::fold_of_form<onefold::form::sum>(of, f))>;
    const own fold{dt::fold_of_form<onefold::form::sum>(of, f)};
    dv::tree_input of_all{};
    of_all.count = of.size();
    for (const std::uint64_t unit :
         {static_cast<std::uint64_t>(rows * length) / 512, static_cast<std::uint64_t>(rows * length) / 512 - 1,
          static_cast<std::uint64_t>(rows * length) / 1024}) {
      const auto at = [&](std::uint64_t i) {
        const auto n = static_cast<std::int64_t>(unit * 512 + i);
        return f(n / length / rows, n / length % rows, n % length);
      };
      double whole = 0;
      on_a_warp([&] {
        const double node = dv::rows_node<own, true, 1>(fold, of_all, unit);
        if (threadIdx.x == 0) whole = node;
      });
      EXPECT_EQ(bytes_of(whole), bytes_of(onefold::sum(std::uint64_t{512}, at))) << rows << " rows, unit " << unit;
    }
  }
}

// A value of 16 bytes, with an operator whose order can be seen, and without a neutral element.
struct pair_of_sums {
  double a;
  double b;
};
struct add_pairs {
  pair_of_sums operator()(const pair_of_sums& x, const pair_of_sums& y) const { return {x.a + y.a, x.b + y.b}; }
};
struct add_doubles {
  double operator()(double x, double y) const { return x + y; }
};

TEST(rows_of_a_warp, of_every_kind_of_fold) {
  for (const std::uint64_t n : {1U, 31U, 511U, 512U, 513U, 1024U, 1025U, 2048U, 5000U}) {
    const dt::index_line all{n};
    const auto expect = [&](const auto& found, const auto& wanted, const char* what) {
      EXPECT_EQ(bytes_of(found), bytes_of(wanted)) << what << " of " << n;
    };
    line<float> f;
    line<double> d;
    expect(reduced(dt::fold_of_form<onefold::form::sum>(all, f), n), onefold::sum(n, f), "sum");
    expect(reduced(dt::fold_of_form<onefold::form::mean_variance>(all, d), n), onefold::mean_variance(n, d), "mean_variance");
    expect(reduced(dt::fold_of_form<onefold::form::argmin>(all, d), n), onefold::argmin(n, d), "argmin");
    const auto positive = [](std::uint64_t i) {
      const double v = line<double>{}(i);
      return v > 0 ? onefold::maybe<double>(v) : onefold::maybe<double>();
    };
    auto filter = positive;
    expect(reduced(dt::fold_of_form<onefold::form::sum>(all, filter), n), onefold::sum(n, filter), "a filtered sum");
    expect(reduced(dt::fold_of_form<onefold::form::mean_variance>(all, filter), n), onefold::mean_variance(n, filter),
           "a filtered mean_variance");
    if (n > 40) {
      expect(reduced(dt::fold_of_form<onefold::form::argmax>(all, filter), n), onefold::argmax(n, filter), "a filtered argmax");
      expect(reduced(dt::fold_of_form<onefold::form::argminmax>(all, filter), n), onefold::argminmax(n, filter),
             "a filtered argminmax");
    }
    auto two = [](std::uint64_t i) { return pair_of_sums{line<double>{}(i), line<double>{}(i + 1)}; };
    add_pairs pairs;
    expect(reduced(dt::fold_of_own(all, two, pairs, dt::no_init{}), n), onefold::transform_reduce(n, pairs, two), "16 bytes");
    add_doubles add;
    expect(reduced(dt::fold_of_own(all, d, add, 0.3), n), onefold::transform_reduce(n, add, d, 0.3), "an operator");
    auto filtered = positive;
    expect(reduced(dt::fold_of_own(all, filtered, add, 0.3), n), onefold::transform_reduce(n, add, filtered, 0.3),
           "an operator with a filter");
    auto five = [](std::uint64_t i) {
      const float v = line<float>{}(i);
      return std::array<float, 5>{v, v * v, v < 0 ? -v : v, v, v};
    };
    const auto together = reduced(dt::fold_of_operators(all, five, op::sum{}, op::sum{}, op::sum{}, op::min{}, op::max{}), n);
    const auto wanted = onefold::reduce_together(onefold::serial(), n, five, op::sum{}, op::sum{}, op::sum{}, op::min{}, op::max{});
    expect(together, wanted, "five results");

    // A record for each of several values.
    const auto expect_each = [&](const auto& found, const auto& alone, const char* what) {
      for (std::size_t k = 0; k < alone.size(); ++k) expect(found.of[k], alone[k], what);
    };
    auto three = [](std::uint64_t i) {
      return std::array<double, 3>{line<double>{}(i), -line<double>{}(2 * i), line<double>{}(i / 7)};
    };
    expect_each(reduced(dt::fold_of_form<onefold::form::argmin>(all, three), n), onefold::argmin(n, three), "argmin of three");
    expect_each(reduced(dt::fold_of_form<onefold::form::argmax_magnitude>(all, three), n), onefold::argmax_magnitude(n, three),
                "argmax_magnitude of three");
    expect_each(reduced(dt::fold_of_form<onefold::form::argminmax>(all, three), n), onefold::argminmax(n, three),
                "argminmax of three");
    expect_each(reduced(dt::fold_of_form<onefold::form::minmax>(all, five), n), onefold::minmax(n, five), "minmax of five");
    expect_each(reduced(dt::fold_of_form<onefold::form::mean_variance>(all, three, onefold::ddof{1}), n),
                onefold::mean_variance(onefold::serial(), n, three, onefold::ddof{1}), "mean_variance of three");
    expect_each(reduced(dt::fold_of_form<onefold::form::mean>(all, five), n), onefold::mean(n, five), "mean of five");
  }
}

// --- complex numbers, element by element ------------------------------------------------------------------------------------------------------

// A fold of complex numbers, or of pairs of them, with the numbers as a function of the index, and so its view of whole tiles.
template <class Fold>
struct of_numbers : Fold {
  static constexpr int inputs = 0;
  inline static const typename Fold::element *z = nullptr, *y = nullptr;
  auto value(std::uint64_t i) const {
    if constexpr (Fold::inputs == 2)
      return Fold::value(z[i], y[i]);
    else
      return Fold::value(z[i]);
  }
};
template <class Fold, class = void>
struct of_memory : of_numbers<Fold> {
  static void read(const typename Fold::element* z) { of_numbers<Fold>::z = z; }
};
template <class Fold>
struct of_memory<Fold, std::void_t<typename Fold::of_whole_tiles>> : of_numbers<Fold> {
  using of_whole_tiles = of_numbers<typename Fold::of_whole_tiles>;
  static void read(const typename Fold::element* z, const typename Fold::element* y = nullptr) {
    of_numbers<Fold>::z = of_whole_tiles::z = z;
    of_numbers<Fold>::y = of_whole_tiles::y = y;
  }
};

// What a fold stores, as the bytes of an R.
template <class R, class Fold, class T>
std::vector<unsigned char> stored(onefold::form what, std::int64_t ddof, bool shows_state, const std::vector<std::complex<T>>& x,
                                  bool wide = false) {
  of_memory<Fold> fold;
  static_cast<onefold::cuda_backend::complex_conclusion&>(fold) = {ddof, what, shows_state, wide};
  fold.read(reinterpret_cast<const typename Fold::element*>(x.data()));
  const auto result = reduced(fold, x.size());
  std::vector<unsigned char> bytes;
  result.store([&](int place, const auto& part) {
    EXPECT_EQ(place, 0);
    bytes = bytes_of(part);
  });
  EXPECT_EQ(bytes.size(), sizeof(R));
  return bytes;
}

template <class T>
void expect_states_of(const std::vector<std::complex<T>>& x) {
  using C = std::complex<T>;
  using counted = onefold::cuda_backend::complex_count<T>;
  using moments = onefold::cuda_backend::complex_moments<T>;
  const std::size_t n = x.size();
  const auto& on = onefold::serial();
  for (const std::int64_t ddof : {0, 1, 7})
    EXPECT_EQ((stored<onefold::mean_variance_result<C>, moments>(onefold::form::mean_variance, ddof, false, x)),
              bytes_of(onefold::mean_variance(on, x.data(), n, onefold::ddof{ddof})))
        << n << " with " << ddof;
  const std::uint64_t count = onefold::count(on, x.data(), n);
  EXPECT_EQ((stored<std::uint64_t, counted>(onefold::form::count, 0, false, x)), bytes_of(count)) << n;
  EXPECT_EQ((stored<std::uint64_t, counted>(onefold::form::any, 0, true, x)), bytes_of(count)) << n;
  EXPECT_EQ((stored<bool, counted>(onefold::form::all, 0, false, x)), bytes_of(onefold::all(on, x.data(), n))) << n;
  EXPECT_EQ((stored<bool, counted>(onefold::form::any, 0, false, x)), bytes_of(onefold::any(on, x.data(), n))) << n;
  EXPECT_EQ((stored<bool, counted>(onefold::form::none, 0, false, x)), bytes_of(onefold::none(on, x.data(), n))) << n;
}

template <class T>
void expect_states_of_complex_numbers() {
  for (const std::size_t n : {0U, 1U, 2U, 31U, 33U, 65U, 511U, 512U, 513U, 1023U, 1024U, 1025U, 2049U, 5003U, 20001U}) {
    std::vector<std::complex<T>> x(n), zeros(n, {T(0), -T(0)});
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::int64_t>(i);
      x[i] = {number_of<T>(1, 0, k), i % 5 == 0 ? -T(0) : T(1000) + number_of<T>(2, 0, k)};
      if (i % 3 == 0) x[i] = {T(0), x[i].imag()};
    }
    expect_states_of(x);
    expect_states_of(zeros);
    if (n == 0) continue;
    zeros[n / 2] = {T(0), std::numeric_limits<T>::denorm_min()};
    expect_states_of(zeros);
    x[n / 3] = {std::numeric_limits<T>::infinity(), T(1)};
    expect_states_of(x);
    x[n / 2] = {T(1), std::numeric_limits<T>::quiet_NaN()};
    expect_states_of(x);
  }
}

// c64 accumulated in c128, at least one.
template <class F, class Op>
std::vector<unsigned char> in_double(const std::vector<std::complex<float>>& x, const std::vector<std::complex<float>>& y,
                                     bool divides = false) {
  using fold_type = onefold::cuda_backend::wide_complex_fold<F, Op>;
  of_memory<fold_type> fold;
  static_cast<onefold::cuda_backend::wide_complex_conclusion&>(fold) = {divides};
  const auto elements_of = [](const auto& z) { return reinterpret_cast<const typename fold_type::element*>(z.data()); };
  fold.read(elements_of(x), elements_of(y));
  return bytes_of(reduced(fold, x.size()));
}

TEST(rows_of_a_warp, of_complex_numbers_in_double) {
  constexpr auto wide = onefold::accumulate_as<std::complex<double>>;
  const auto& on = onefold::serial();
  const auto expect = [&](const std::vector<std::complex<float>>& x, const std::vector<std::complex<float>>& y) {
    const std::size_t n = x.size();
    EXPECT_EQ((in_double<dt::identity_function, dt::complex_sum>(x, y)), bytes_of(onefold::sum(on, x, wide))) << n;
    EXPECT_EQ((in_double<dt::identity_function, dt::complex_sum>(x, y, true)), bytes_of(onefold::mean(on, x, wide))) << n;
    EXPECT_EQ((in_double<dt::identity_function, dt::complex_product>(x, y)), bytes_of(onefold::prod(on, x, wide))) << n;
    EXPECT_EQ((in_double<dt::conjugated_product, dt::complex_sum>(x, y)), bytes_of(onefold::dot(on, x, y, wide))) << n;
    EXPECT_EQ((in_double<dt::modulus_in_double, dt::operator_function<op::sum>>(x, y)), bytes_of(onefold::norm1(on, x, wide))) << n;
    const auto moments = onefold::mean_variance(on, x, wide, onefold::ddof{1});
    EXPECT_EQ(
        (stored<decltype(moments), onefold::cuda_backend::complex_moments<float>>(onefold::form::mean_variance, 1, false, x, true)),
        bytes_of(moments))
        << n;
  };
  for (const std::size_t n : {1U, 2U, 31U, 33U, 65U, 511U, 512U, 513U, 1023U, 1024U, 1025U, 2049U, 5003U, 20001U}) {
    std::vector<std::complex<float>> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::int64_t>(i);
      x[i] = {number_of<float>(1, 0, k), 1.0F + number_of<float>(2, 0, k)};
      y[i] = {number_of<float>(3, 0, k), i % 5 == 0 ? -0.0F : number_of<float>(4, 0, k)};
    }
    expect(x, y);
    expect(std::vector<std::complex<float>>(n, {0.0F, -0.0F}), y);
    x[n / 3] = {std::numeric_limits<float>::infinity(), 1.0F};
    expect(x, y);
    y[n / 2] = {1.0F, std::numeric_limits<float>::quiet_NaN()};
    expect(y, x);
  }
}

TEST(rows_of_a_warp, of_states_of_complex_numbers) {
  expect_states_of_complex_numbers<float>();
  expect_states_of_complex_numbers<double>();
}

}  // namespace
}  // namespace onefold_test
