/// @file addressed_test.cpp  Arrays whose addresses stand in memory: the bits are those of a call with the address.

#include <cmath>
#include <cstring>
#include <limits>

#include <onefold/batch.hpp>
#include <onefold/onefold.hpp>

#include "any_elements.hpp"
#include "arrays_fixture.hpp"

namespace onefold_test {
namespace {

using onefold::array_at;
using onefold::count_at;
using onefold::errc;

static_assert(std::is_same_v<decltype(array_at{std::declval<double**>()}), array_at<double>>);
static_assert(std::is_same_v<decltype(array_at{std::declval<const float* const*>()}), array_at<float>>);

class an_address_in_memory : public arrays_of_an_executor {
 protected:
  void SetUp() override {
    arrays_of_an_executor::SetUp();
    if (!IsSkipped()) places_ = std::make_unique<block>(memory_for(where()), 2 * sizeof(void*));
  }
  // Writes the addresses, of which the first is that of an array of T.
  template <class T>
  [[nodiscard]] array_at<T> place_of(const T* first, const void* second = nullptr) const {
    const void* const both[] = {first, second};
    places_->write(0, both, sizeof(both));
    return {reinterpret_cast<const T* const*>(places_->address())};
  }
  [[nodiscard]] array_at<double> second_place() const { return {reinterpret_cast<const double* const*>(places_->address()) + 1}; }
  [[nodiscard]] count_at count_of(std::uint64_t n) const {
    set_count(n);
    return the_count();
  }

 private:
  std::unique_ptr<block> places_;
};

TEST_P(an_address_in_memory, gives_the_bits_of_that_array) {
  const auto& at = where();
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{512}, std::uint64_t{16'385}, most - 3}) {
    expect_same(onefold::sum(at, place_of(x()), n), onefold::sum(at, x(), n), "sum", n);
    count_dispatch(at);
    expect_same(onefold::sum(at, place_of(x() + 1), n), onefold::sum(at, x() + 1, n), "sum behind an element", n);
    expect_same(onefold::sum(at, place_of(f() + 3), n, onefold::accumulate_as<double>),
                onefold::sum(at, f() + 3, n, onefold::accumulate_as<double>), "wide sum", n);
    expect_same(onefold::dot(at, place_of(x(), y() + 1), second_place(), n), onefold::dot(at, x(), y() + 1, n), "dot", n);
    expect_same(onefold::dot(at, place_of(x() + 1), y(), n), onefold::dot(at, x() + 1, y(), n), "dot with an array", n);
    expect_same(onefold::dot(at, y(), place_of(x() + 1), n), onefold::dot(at, y(), x() + 1, n), "dot of an array", n);
    expect_same(onefold::norm2(at, place_of(x()), n), onefold::norm2(at, x(), n), "norm2", n);
    expect_same(onefold::prod(at, place_of(f() + 1), n), onefold::prod(at, f() + 1, n), "prod", n);
    expect_same(onefold::min(at, place_of(x()), n), onefold::min(at, x(), n), "min", n);
    expect_same(onefold::mean(at, place_of(f()), n), onefold::mean(at, f(), n), "mean", n);
    expect_same(onefold::count(at, place_of(f()), n), onefold::count(at, f(), n), "count", n);
    expect_same(onefold::all(at, place_of(f()), n), onefold::all(at, f(), n), "all", n);
    guarded_output output(memory_for(at), element_type::f64);
    onefold::max_into(at, place_of(x() + 2), n, static_cast<double*>(output.address()));
    onefold::synchronize(at);
    const double largest = onefold::max(at, x() + 2, n);
    EXPECT_EQ(std::memcmp(output.bytes().data(), &largest, sizeof(largest)), 0) << "max of " << n;
    EXPECT_TRUE(output.surroundings_unchanged());
    onefold::dot_into(at, place_of(x()), y(), n, static_cast<double*>(output.address()));
    onefold::synchronize(at);
    const double product = onefold::dot(at, x(), y(), n);
    EXPECT_EQ(std::memcmp(output.bytes().data(), &product, sizeof(product)), 0) << "dot of " << n;
    EXPECT_TRUE(output.surroundings_unchanged());
  }
}

TEST_P(an_address_in_memory, gives_the_places_in_that_array) {
  const auto& at = where();
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{513}, std::uint64_t{16'385}, most - 3}) {
    const auto same = [n](const auto& got, const auto& expected, const char* what) {
      EXPECT_EQ(std::memcmp(&got.value, &expected.value, sizeof(got.value)), 0) << what << " of " << n;
      EXPECT_EQ(got.index, expected.index) << what << " of " << n;
    };
    same(onefold::argmin(at, place_of(x() + 1), n), onefold::argmin(at, x() + 1, n), "argmin of doubles");
    count_dispatch(at);
    same(onefold::argmax(at, place_of(f() + 3), n), onefold::argmax(at, f() + 3, n), "argmax of floats");
    same(onefold::argmax_magnitude(at, place_of(x()), n), onefold::argmax_magnitude(at, x(), n), "argmax_magnitude");
  }
}

TEST_P(an_address_in_memory, may_be_one_of_several_in_a_batch) {
  const auto& at = where();
  constexpr std::uint64_t n = 20'003;
  const double* const both[] = {x() + 1, y()};
  const onefold::arrays_at arrays{place_of(x() + 1, y()).place, 2};
  double norms[2] = {}, products[2] = {}, squares[2] = {}, with_one[2] = {}, counted[2] = {};
  std::uint64_t present[2] = {};
  onefold::batch work(at);
  work.add(onefold::norm2, arrays, n, norms)
      .add(onefold::dot, arrays, x(), n, products)
      .add(onefold::dot, arrays, arrays, n, squares)
      .add(onefold::dot, arrays, second_place(), n, with_one)
      .add(onefold::sum, arrays, n, counted, count_of(777))
      .add<form::count>(arrays, n, present);
  EXPECT_EQ(work.size(), 12U);
  work.run();
  count_dispatch(at);
  for (int k = 0; k < 2; ++k) {
    expect_same(norms[k], onefold::norm2(at, both[k], n), "norm2", n);
    expect_same(products[k], onefold::dot(at, both[k], x(), n), "dot with an array", n);
    expect_same(squares[k], onefold::dot(at, both[k], both[k], n), "dot of as many", n);
    expect_same(with_one[k], onefold::dot(at, both[k], y(), n), "dot with an address", n);
    expect_same(counted[k], onefold::sum(at, both[k], 777), "sum", 777);
    expect_same(present[k], onefold::count(at, both[k], n), "count", n);
  }
  EXPECT_TRUE(refuses(errc::invalid_argument, "as many", [&] {
    work.add(onefold::dot, arrays, onefold::arrays_at{arrays.first, 1}, n, squares);
  }));
}

TEST_P(an_address_in_memory, may_stand_beside_a_count_and_in_a_batch) {
  const auto& at = where();
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{777}, most - 3}) {
    expect_same(onefold::norm1(at, place_of(f() + 1), most - 1, count_of(n)), onefold::norm1(at, f() + 1, n), "norm1", n);
    count_dispatch(at);
    double rho = 1, norm = 1, mixed = 1, all = 1;
    float wide = 1;
    std::uint64_t some = 1;
    const auto first = place_of(x() + 1, y());
    onefold::batch work(at);
    work.add(onefold::dot, first, second_place(), most - 3, &rho, count_of(n))
        .add(onefold::norm2, first, n, &norm)
        .add(onefold::dot, x(), second_place(), n, &mixed)
        .add<form::count>(second_place(), n, &some)
        .add(onefold::sum, x(), most, &all)
        .add(onefold::sum, f(), most, &wide);
    EXPECT_EQ(work.size(), 6U);
    work.run();
    expect_same(rho, onefold::dot(at, x() + 1, y(), n), "dot", n);
    expect_same(norm, onefold::norm2(at, x() + 1, n), "norm2", n);
    expect_same(mixed, onefold::dot(at, x(), y(), n), "dot with an array", n);
    expect_same(some, onefold::count(at, y(), n), "count", n);
    expect_same(all, onefold::sum(at, x(), most), "sum beside them", most);
    expect_same(wide, onefold::sum(at, f(), most), "sum of floats beside them", most);
  }
}

TEST_P(an_address_in_memory, that_is_null_or_misaligned_is_refused_where_elements_are_read) {
  const auto& at = where();
  const bool on_gpu = at.backend() == onefold::backend::cuda;
  const double* const nowhere = nullptr;
  const auto* const crooked = reinterpret_cast<const double*>(reinterpret_cast<const char*>(x()) + 4);
  for (const std::uint64_t n : {std::uint64_t{3}, most - 3}) {
    EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(onefold::sum(at, place_of(nowhere), n)); }));
    EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(onefold::argmin(at, place_of(nowhere), n)); }));
    EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(onefold::any(at, place_of(nowhere), n)); }));
    EXPECT_TRUE(refuses(errc::null_pointer, "null",
                        [&] { static_cast<void>(onefold::dot(at, place_of(x(), nullptr), second_place(), n)); }));
    EXPECT_TRUE(refuses(on_gpu ? errc::null_pointer : errc::misaligned_pointer, "aligned",
                        [&] { static_cast<void>(onefold::norm2(at, place_of(crooked), n)); }));
    double rho = 0, sum = 0;
    onefold::batch work(at);
    work.add(onefold::sum, x(), n, &sum).add(onefold::dot, y(), place_of(nowhere), n, &rho);
    EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { work.run(); }));
    work.clear();
    work.add(onefold::sum, place_of(x()), n, &sum).run();
    expect_same(sum, onefold::sum(at, x(), n), "sum after it", n);
  }
  count_dispatch(at);
  // Of no elements nobody looks.
  EXPECT_EQ(onefold::sum(at, place_of(nowhere), 0), 0.0);
  EXPECT_EQ(onefold::sum(at, place_of(crooked), most, count_of(0)), 0.0);
}

TEST_P(an_address_in_memory, that_no_call_waits_for_sets_all_bits_where_it_cannot_be_followed) {
  const auto& at = where();
  if (at.backend() != onefold::backend::cuda) {
    double result = 0;
    EXPECT_TRUE(refuses(errc::null_pointer, "null",
                        [&] { onefold::sum_into(at, place_of(static_cast<const double*>(nullptr)), 3, &result); }));
    count_dispatch(at);
    return;
  }
  const auto all_set = [](const guarded_output& output) {
    onefold::synchronize(onefold::cuda());
    for (const std::byte each : output.bytes())
      if (each != std::byte{0xff}) return false;
    return output.surroundings_unchanged();
  };
  const auto nowhere = place_of(static_cast<const double*>(nullptr));
  for (const std::uint64_t n : {std::uint64_t{3}, most - 3}) {
    const guarded_output number(memory::device, element_type::f64), truth(memory::device, element_type::i8),
        place(memory::device, element_type::f64, sizeof(onefold::arg_result<double>));
    onefold::sum_into(at, nowhere, n, static_cast<double*>(number.address()));
    EXPECT_TRUE(all_set(number)) << n;
    onefold::any_into(at, nowhere, n, static_cast<bool*>(truth.address()));
    EXPECT_TRUE(all_set(truth)) << n;
    onefold::argmax_into(at, nowhere, n, static_cast<onefold::arg_result<double>*>(place.address()));
    EXPECT_TRUE(all_set(place)) << n;
  }
  count_dispatch(at);
}

INSTANTIATE_TEST_SUITE_P(forms, an_address_in_memory, testing::ValuesIn(each_of_the_executors()), label_of_executor);

TEST(addresses_in_memory, are_of_arrays_and_refused_elsewhere) {
  const std::vector<double> x = {1, 2, 3, 4};
  const std::vector<double> y = {1, 1, 1, 2};
  const double* const arrays[] = {x.data(), y.data()};
  EXPECT_EQ(onefold::sum(array_at{arrays}, 4), 10.0);  // best()
  EXPECT_EQ(onefold::dot(array_at{arrays}, array_at{arrays + 1}, 4), 14.0);
  const auto [low, high] = onefold::minmax(onefold::serial(), array_at{arrays}, 4);  // CPUs have it in every form
  EXPECT_EQ(low, 1.0);
  EXPECT_EQ(high, 4.0);
  EXPECT_EQ(onefold::mean_variance(onefold::serial(), array_at{arrays}, 4, onefold::ddof{1}).mean, 2.5);
  EXPECT_EQ(onefold::sum(onefold::serial(), array_at{arrays + 1}, 4, {.guarantee = onefold::guarantee::exact}), 5.0);
  const std::int32_t counts[] = {5, 6};
  const std::int32_t* const of_counts = counts;
  EXPECT_EQ(onefold::sum(onefold::openmp(), array_at{&of_counts}, 2), 11);

  double result = 0;
  onefold::detail::request asked{onefold::serial(), element_type::f64, form::sum, x.data(), 4, &result, true};
  asked.input_at = reinterpret_cast<const void* const*>(arrays);
  EXPECT_TRUE(refuses(errc::invalid_argument, "two addresses", [&] { onefold::detail::run(asked, {}); }));
  asked.input = nullptr;
  asked.input_at = reinterpret_cast<const void* const*>(reinterpret_cast<const char*>(arrays) + 4);
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "address", [&] { onefold::detail::run(asked, {}); }));
  // The output lies in the array.
  std::vector<double> own = x;
  const double* const of_own = own.data();
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "inside", [&] { onefold::sum_into(onefold::serial(), array_at{&of_own}, 4, &own[2]); }));
}

// Every form of complex numbers, on CPUs.
TEST(addresses_and_counts_in_memory, are_of_complex_numbers_too) {
  for (const element_type type : {element_type::c64, element_type::c128}) {
    const elements x = any_elements(type, 5000, 1), y = any_elements(type, 5000, 2);
    const void* const arrays[] = {x.data(), y.data()};
    for (const auto& at : {onefold::serial(), onefold::openmp(), onefold::best()})
      for (int what = 0; what < onefold::form_count + onefold::record_count; ++what) {
        const auto its = static_cast<form>(what);
        if (!onefold::takes_type(its, type)) continue;
        for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{777}, std::uint64_t{5000}}) {
          std::uint64_t expected[4] = {}, found[4] = {};
          onefold::detail::request plain{at, type, its, x.data(), n, expected, true};
          if (its == form::dot) plain.second = y.data();
          onefold::detail::run(plain, {});
          onefold::detail::request placed = plain;
          placed.output = found;
          placed.count = 5000;
          placed.count_at = &n;
          placed.input = nullptr;
          placed.input_at = arrays;
          if (its == form::dot) {
            placed.second = nullptr;
            placed.second_at = arrays + 1;
          }
          onefold::detail::run(placed, {});
          EXPECT_EQ(std::memcmp(found, expected, sizeof(found)), 0)
              << onefold::name(its) << " of " << n << " " << onefold::name(type);
        }
      }
  }
  const std::complex<double> z[] = {{1, 2}, {3, 4}};
  const std::complex<double>* const of_z = z;
  const std::uint64_t one = 1, three = 3;
  EXPECT_EQ(onefold::sum(onefold::serial(), array_at{&of_z}, 2), (std::complex<double>{4, 6}));
  EXPECT_EQ(onefold::dot(onefold::serial(), array_at{&of_z}, z, 2, count_at{&one}), (std::complex<double>{5, 0}));
  EXPECT_TRUE(refuses(errc::invalid_argument, "the most that it may be",
                      [&] { static_cast<void>(onefold::sum(onefold::serial(), z, 2, count_at{&three})); }));
  const std::complex<double>* const nowhere = nullptr;
  EXPECT_TRUE(
      refuses(errc::null_pointer, "input", [&] { static_cast<void>(onefold::sum(onefold::serial(), array_at{&nowhere}, 2)); }));
}

}  // namespace
}  // namespace onefold_test
