/// @file counted_test.cpp  A number of elements that stands in memory: the bits are those of a call with that number.

#include <cstring>
#include <span>

#include <onefold/batch.hpp>
#include <onefold/onefold.hpp>

#include "arrays_fixture.hpp"

namespace onefold_test {
namespace {

using onefold::count_at;
using onefold::errc;

class a_count_in_memory : public arrays_of_an_executor {};

TEST_P(a_count_in_memory, gives_the_bits_of_that_many_elements) {
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{512}, std::uint64_t{16'385}, most}) {
    set_count(n);
    const auto& at = where();
    expect_same(onefold::sum(at, x(), most, the_count()), onefold::sum(at, x(), n), "sum", n);
    count_dispatch(at);
    if (n < most)
      expect_same(onefold::sum(at, f() + 1, most - 1, the_count(), onefold::accumulate_as<double>),
                  onefold::sum(at, f() + 1, n, onefold::accumulate_as<double>), "wide sum", n);
    expect_same(onefold::dot(at, x(), y(), most, the_count()), onefold::dot(at, x(), y(), n), "dot", n);
    expect_same(onefold::norm2(at, x(), most, the_count()), onefold::norm2(at, x(), n), "norm2", n);
    expect_same(onefold::prod(at, f(), most, the_count()), onefold::prod(at, f(), n), "prod", n);
    expect_same(onefold::min(at, x(), most, the_count()), onefold::min(at, x(), n), "min", n);
    expect_same(onefold::mean(at, f(), most, the_count()), onefold::mean(at, f(), n), "mean", n);
    guarded_output output(memory_for(at), element_type::f64);
    onefold::max_into(at, x(), most, static_cast<double*>(output.address()), the_count());
    onefold::synchronize(at);
    const double largest = onefold::max(at, x(), n);
    EXPECT_EQ(std::memcmp(output.bytes().data(), &largest, sizeof(largest)), 0) << "max of " << n;
    EXPECT_TRUE(output.surroundings_unchanged());
  }
}

// A range's size is then the most that it may be, as a count that is given.
TEST_P(a_count_in_memory, stands_beside_ranges_too) {
  const std::uint64_t n = 16'385;
  set_count(n);
  const auto& at = where();
  const std::span<const double> xs(x(), most);
  const std::span<const double> ys(y(), most);
  const std::span<const float> fs(f(), most);
  const double product = onefold::dot(at, x(), y(), n);
  const double wide = onefold::dot(at, f(), f(), n, onefold::accumulate_as<double>);
  expect_same(onefold::sum(at, xs, the_count()), onefold::sum(at, x(), n), "sum", n);
  count_dispatch(at);
  expect_same(onefold::dot(at, xs, ys, the_count()), product, "dot", n);
  expect_same(onefold::dot(at, fs, fs, onefold::accumulate_as<double>, the_count()), wide, "wide dot", n);
  if (at.backend() != onefold::backend::cuda) {  // best() takes what lies on the host for the CPU
    expect_same(onefold::dot(xs, ys, the_count()), product, "dot on best()", n);
    expect_same(onefold::dot(x(), y(), most, the_count()), product, "dot of pointers on best()", n);
  }
  guarded_output output(memory_for(at), element_type::f64);
  const auto stores = [&](double expected, const char* what) {
    onefold::synchronize(at);
    EXPECT_EQ(std::memcmp(output.bytes().data(), &expected, sizeof(expected)), 0) << what;
    EXPECT_TRUE(output.surroundings_unchanged());
  };
  onefold::dot_into(at, xs, ys, static_cast<double*>(output.address()), the_count());
  stores(product, "dot_into");
  onefold::dot_into(at, fs, fs, static_cast<double*>(output.address()), the_count(), onefold::accumulate_as<double>);
  stores(wide, "wide dot_into");
  EXPECT_TRUE(refuses(errc::invalid_argument, "differ in length",
                      [&] { static_cast<void>(onefold::dot(at, xs, ys.first(most - 1), the_count())); }));
}

// Of no elements a call that returns the place throws, as with a count of the host's; one that stores it on a GPU gives an index that no element has.
TEST_P(a_count_in_memory, gives_the_places_of_that_many_elements) {
  const auto& at = where();
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{513}, std::uint64_t{16'385}, most}) {
    set_count(n);
    const auto same = [n](const auto& got, const auto& expected, const char* what) {
      EXPECT_EQ(std::memcmp(&got.value, &expected.value, sizeof(got.value)), 0) << what << " of " << n;
      EXPECT_EQ(got.index, expected.index) << what << " of " << n;
    };
    same(onefold::argmin(at, x(), most, the_count()), onefold::argmin(at, x(), n), "argmin of doubles");
    count_dispatch(at);
    same(onefold::argmax(at, f(), most, the_count()), onefold::argmax(at, f(), n), "argmax of floats");
    same(onefold::argmin_magnitude(at, f(), most, the_count()), onefold::argmin_magnitude(at, f(), n), "argmin_magnitude");
    same(onefold::argmax_magnitude(at, x(), most, the_count()), onefold::argmax_magnitude(at, x(), n), "argmax_magnitude");
    onefold::arg_result<float> least{};
    double sum = 0;
    onefold::batch work(at);
    work.add(onefold::argmin, f(), most, &least, the_count()).add(onefold::sum, x(), most, &sum, the_count()).run();
    same(least, onefold::argmin(at, f(), n), "argmin in a batch");
    expect_same(sum, onefold::sum(at, x(), n), "sum beside it", n);
  }
  set_count(0);
  EXPECT_TRUE(refuses(errc::invalid_argument, "no index", [&] { static_cast<void>(onefold::argmax(at, x(), most, the_count())); }));
  onefold::arg_result<double> largest{};
  double sum = 1;
  onefold::batch work(at);
  work.add(onefold::sum, x(), most, &sum, the_count()).add(onefold::argmax_magnitude, x(), most, &largest, the_count());
  EXPECT_TRUE(refuses(errc::invalid_argument, "no index", [&] { work.run(); }));
  EXPECT_EQ(sum, 0.0);
  if (at.backend() != onefold::backend::cuda) return;
  const block stored(memory_for(at), sizeof(largest));
  onefold::argmin_into(at, x(), most, reinterpret_cast<onefold::arg_result<double>*>(stored.address()), the_count());
  onefold::synchronize(at);
  stored.read(0, &largest, sizeof(largest));
  EXPECT_EQ(largest.value, 0.0);
  EXPECT_EQ(largest.index, ~std::uint64_t{0});
}

TEST_P(a_count_in_memory, may_stand_in_a_batch) {
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{777}, most}) {
    set_count(n);
    double rho = 1, norm = 1, all = 1;
    std::uint64_t marked = 1;
    bool none = n != 0;
    onefold::batch work(where());
    work.add(onefold::dot, x(), y(), most, &rho, the_count())
        .add(onefold::norm2, x(), most, &norm, the_count())
        .add<onefold::form::count>(x(), most, &marked, the_count())
        .add<onefold::form::none>(std::span<const float>(f(), most), &none, the_count())
        .add(onefold::sum, x(), most, &all);
    work.run();
    count_dispatch(where());
    expect_same(rho, onefold::dot(where(), x(), y(), n), "dot", n);
    expect_same(norm, onefold::norm2(where(), x(), n), "norm2", n);
    EXPECT_EQ(marked, onefold::count(where(), x(), n)) << n;
    EXPECT_EQ(none, onefold::none(where(), f(), n)) << n;
    expect_same(all, onefold::sum(where(), x(), most), "sum", most);
  }
}

TEST_P(a_count_in_memory, that_is_larger_than_it_may_be) {
  set_count(most + 5);
  if (where().backend() == onefold::backend::cuda) {
    expect_same(onefold::sum(where(), x(), 1000, the_count()), onefold::sum(where(), x(), 1000), "sum", 1000);
  } else {
    EXPECT_TRUE(refuses(errc::invalid_argument, "the most that it may be",
                        [&] { static_cast<void>(onefold::sum(where(), x(), 1000, the_count())); }));
  }
  count_dispatch(where());
}

INSTANTIATE_TEST_SUITE_P(forms, a_count_in_memory, testing::ValuesIn(each_of_the_executors()), label_of_executor);

TEST(counts_in_memory, are_for_arrays_and_refused_elsewhere) {
  const double x[4] = {1, 2, 3, 4};
  const std::uint64_t two = 2;
  EXPECT_EQ(onefold::sum(x, 4, count_at{&two}), 3.0);  // best()
  EXPECT_EQ(onefold::argmax(onefold::serial(), x, 4, count_at{&two}).index, 1U);
  const std::uint64_t none = 0;
  EXPECT_TRUE(refuses(errc::invalid_argument, "no index",
                      [&] { static_cast<void>(onefold::argmax(onefold::serial(), x, 4, count_at{&none})); }));
  double result = 0;
  onefold::detail::request asked{onefold::serial(), element_type::f64, form::sum, x, 4, &result, true};
  asked.count_at = reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(&two) + 1);
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "count", [&] { onefold::detail::run(asked, {}); }));
}

}  // namespace
}  // namespace onefold_test
