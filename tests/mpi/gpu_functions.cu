#include "gpu_functions.hpp"

#include <mpi.h>

#include <onefold/device.cuh>
#include <onefold/mpi.hpp>
#include <onefold/onefold.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "../support/both_sides.cuh"
#include "../support/functions_of_ranks.cuh"

namespace onefold_test {

namespace {

namespace op = onefold::op;
using onefold::form;

struct some_in_box {
  in_box value;
  template <class I>
  ONEFOLD_HOST_DEVICE onefold::maybe<double> operator()(I j, I i) const {
    const double x = value(j, i);
    return {x, x < 0};
  }
};
struct none_at {
  ONEFOLD_HOST_DEVICE onefold::maybe<double> operator()(std::uint64_t) const { return onefold::absent; }
};
struct some_float {
  ONEFOLD_HOST_DEVICE onefold::maybe<float> operator()(float x) const { return {x, x > 1.9F}; }
};
struct some_of {
  const float* x;
  ONEFOLD_HOST_DEVICE onefold::maybe<float> operator()(std::uint64_t i) const { return {x[i], x[i] > 1.9F}; }
};
struct some_integer_at {
  value_at value;
  ONEFOLD_HOST_DEVICE onefold::maybe<std::int32_t> operator()(std::uint64_t i) const {
    const double x = value(i);
    return {static_cast<std::int32_t>(x * 1000), x > -0.5};
  }
};
struct minus_zero_if {
  bool is_there;
  ONEFOLD_HOST_DEVICE onefold::maybe<double> operator()(std::uint64_t) const { return {-0.0, is_there}; }
};
struct sum_of_both {
  double of[2];
};
struct add_both {
  ONEFOLD_HOST_DEVICE sum_of_both operator()(const sum_of_both& a, const sum_of_both& b) const {
    return {{a.of[0] + b.of[0], a.of[1] + b.of[1]}};
  }
};
struct both_at {
  value_at value;
  ONEFOLD_HOST_DEVICE sum_of_both operator()(std::uint64_t i) const { return {{value(i), value(2 * i)}}; }
};
struct add_floats {
  ONEFOLD_HOST_DEVICE float operator()(float a, float b) const { return a + b; }
};
struct times {
  ONEFOLD_HOST_DEVICE double operator()(double a, float b) const { return a * static_cast<double>(b); }
};
struct is_large {
  ONEFOLD_HOST_DEVICE bool operator()(double x) const { return x > 0.3; }
};

}  // namespace

std::vector<both_results> functions_over_ranks_on_both_sides(std::uint64_t count) {
  const onefold::mpi::layout rows(MPI_COMM_WORLD, count);
  const onefold::mpi::communicator anywhere(MPI_COMM_WORLD);
  const value_at value{rows.begin()};
  const managed_array<double> x(count);
  const managed_array<float> y(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    x.get()[i] = value(i);
    y.get()[i] = float_at{value}(i) + 2;
  }
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const auto width = static_cast<std::int64_t>(count);

  comparison compare;
  compare("sum", [&](const onefold::executor& w) { return onefold::sum(rows.on(w), count, value); });
  compare("sum of floats in double", [&](const onefold::executor& w) {
    return onefold::sum(rows.on(w), count, float_at{value}, onefold::accumulate_as<double>);
  });
  compare("mean", [&](const onefold::executor& w) { return onefold::mean(rows.on(w), count, value); });
  compare("norm2", [&](const onefold::executor& w) { return onefold::norm2(rows.on(w), count, value); });
  compare("max", [&](const onefold::executor& w) { return onefold::max(rows.on(w), count, float_at{value}); });
  if (rows.total() > 0) {
    compare("argmin", [&](const onefold::executor& w) { return onefold::argmin(rows.on(w), count, value); });
    compare("minmax", [&](const onefold::executor& w) { return onefold::minmax(rows.on(w), count, float_at{value}); });
  }
  compare("mean_variance",
          [&](const onefold::executor& w) { return onefold::mean_variance(rows.on(w), count, value, onefold::ddof{1}); });
  compare("two sums", [&](const onefold::executor& w) { return onefold::sum(rows.on(w), count, two_at{value}); });
  compare("three sums of integers", [&](const onefold::executor& w) { return onefold::sum(rows.on(w), count, three_at{value}); });
  compare("an operator each", [&](const onefold::executor& w) {
    return onefold::reduce_together(rows.on(w), count, three_at{value}, op::sum{}, op::min{}, op::max{});
  });
  compare("a sum and a maximum", [&](const onefold::executor& w) {
    return onefold::reduce_together(rows.on(w), count, two_at{value}, op::sum{}, op::max{});
  });
  compare("sum of squares of some",
          [&](const onefold::executor& w) { return onefold::sum_of_squares(rows.on(w), count, some_at{value}); });
  // What a GPU is asked apart: how many values are there, and where.
  compare("sum of some", [&](const onefold::executor& w) { return onefold::sum(rows.on(w), count, some_at{value}); });
  compare("sum of none", [&](const onefold::executor& w) { return onefold::sum(rows.on(w), count, none_at{}); });
  compare("mean of some", [&](const onefold::executor& w) { return onefold::mean(rows.on(w), count, some_at{value}); });
  compare("mean of none", [&](const onefold::executor& w) { return onefold::mean(rows.on(w), count, none_at{}); });
  compare("mean and variance of some",
          [&](const onefold::executor& w) { return onefold::mean_variance(rows.on(w), count, some_at{value}, onefold::ddof{1}); });
  compare("mean and variance of none",
          [&](const onefold::executor& w) { return onefold::mean_variance(rows.on(w), count, none_at{}); });
  compare("mean and variance of some elements, in double", [&](const onefold::executor& w) {
    return onefold::mean_variance(rows.on(w), count, some_of{y.get()}, onefold::accumulate_as<double>);
  });
  compare("mean and variance of some in a box", [&](const onefold::executor& w) {
    return onefold::mean_variance(rows.on(w), onefold::box({0, 1}, {0, width}), some_in_box{{value, width}});
  });
  compare("mean and variance of some, in a batch and started", [&](const onefold::executor& w) {
    onefold::mean_variance_result<double> of_some{}, of_all{};
    double largest = 0;
    onefold::mpi::batch work(rows.on(w));
    work.add(onefold::mean_variance, count, some_at{value}, &of_some, onefold::ddof{1}).add(onefold::max, count, value, &largest);
    work.add(onefold::mean_variance, count, value, &of_all);
    work.run();
    auto later = onefold::mpi::start(onefold::mean_variance, rows.on(w), count, some_at{value});
    const auto found = later.wait();
    return std::array<double, 7>{of_some.mean, of_some.variance, of_all.mean, of_all.variance, largest, found.mean, found.variance};
  });
  compare("largest number of some", [&](const onefold::executor& w) {
    return std::array<double, 2>{onefold::max_number(rows.on(w), count, some_at{value}),
                                 onefold::max_number(rows.on(w), count, none_at{})};
  });
  compare("sum of some elements", [&](const onefold::executor& w) {
    return onefold::transform_reduce(rows.on(w), y.get(), count, op::sum{}, some_float());
  });
  compare("mean of some in a box", [&](const onefold::executor& w) {
    return onefold::mean(rows.on(w), onefold::box({0, 1}, {0, width}), some_in_box{{value, width}});
  });
  compare("minmax of some", [&](const onefold::executor& w) { return onefold::minmax(rows.on(w), count, some_at{value}); });
  compare("minmax of none", [&](const onefold::executor& w) { return onefold::minmax(rows.on(w), count, none_at{}); });
  if (rows.total() > 3) {
    compare("argmin of some", [&](const onefold::executor& w) { return onefold::argmin(rows.on(w), count, some_at{value}); });
    compare("argminmax of some in a box", [&](const onefold::executor& w) {
      return onefold::argminmax(rows.on(w), onefold::box({0, 1}, {0, width}), some_in_box{{value, width}});
    });
    compare("some in a batch", [&](const onefold::executor& w) {
      std::array<double, 4> found{};
      onefold::arg_result<double> place{};
      onefold::mpi::batch work(rows.on(w));
      work.add(onefold::argmax, count, some_at{value}, &place).add(onefold::mean, count, some_at{value}, &found[0]);
      work.add(onefold::sum, count, none_at{}, &found[1]);
      work.run();
      found[2] = place.value;
      found[3] = static_cast<double>(place.index);
      return found;
    });
  }
  compare("over a box", [&](const onefold::executor& w) {
    return onefold::sum(rows.on(w), onefold::box({0, 1}, {0, width}), in_box{value, width});
  });
  compare("dot of two types", [&](const onefold::executor& w) {
    return onefold::transform_reduce(rows.on(w), x.get(), y.get(), count, op::sum{}, times());
  });
  compare("dot of two types by its name", [&](const onefold::executor& w) {
    double in_a_batch = 0;
    onefold::mpi::batch work(rows.on(w));
    work.add(onefold::dot, y.get(), x.get(), count, &in_a_batch).run();
    return std::array<double, 2>{onefold::dot(rows.on(w), x.get(), y.get(), count), in_a_batch};
  });
  compare("count_if", [&](const onefold::executor& w) { return onefold::count_if(rows.on(w), x.get(), count, is_large()); });
  if (rows.total() > 0) {
    compare("an operator",
            [&](const onefold::executor& w) { return onefold::transform_reduce(rows.on(w), count, add_both(), both_at{value}); });
    compare("an operator on an array",
            [&](const onefold::executor& w) { return onefold::reduce(rows.on(w), y.get(), count, add_floats()); });
  }
  compare("an operator and an initial value",
          [&](const onefold::executor& w) { return onefold::reduce(rows.on(w), y.get(), count, add_floats(), 5.0F); });
  compare("an initial value",
          [&](const onefold::executor& w) { return onefold::transform_reduce(rows.on(w), count, op::sum{}, value, 3.0); });
  compare("exact", [&](const onefold::executor& w) { return onefold::sum(rows.on(w), count, value, exactly); });
  compare("exact mean of some", [&](const onefold::executor& w) {
    return std::array<double, 2>{onefold::mean(rows.on(w), count, some_at{value}, exactly),
                                 onefold::mean(rows.on(w), count, none_at{}, exactly)};
  });
  compare("exact mean and variance of some", [&](const onefold::executor& w) {
    return onefold::mean_variance(rows.on(w), count, some_at{value}, onefold::ddof{1}, exactly);
  });
  compare("exact mean and variance of none",
          [&](const onefold::executor& w) { return onefold::mean_variance(rows.on(w), count, none_at{}, exactly); });
  compare("exact mean and variance of some elements anywhere, in double", [&](const onefold::executor& w) {
    return onefold::mean_variance(anywhere.on(w), count, some_of{y.get()}, onefold::accumulate_as<double>);
  });
  compare("exact mean and variance of some integers", [&](const onefold::executor& w) {
    return onefold::mean_variance(anywhere.on(w), count, some_integer_at{value}, onefold::ddof{1});
  });
  compare("exact means of some in a batch, beside a sum", [&](const onefold::executor& w) {
    std::array<double, 3> found{};
    onefold::mean_variance_result<double> moments{};
    onefold::mpi::batch work(rows.on(w));
    work.add(onefold::mean, count, some_at{value}, &found[0]).add(onefold::sum, count, some_at{value}, &found[1]);
    work.add(onefold::mean_variance, count, some_at{value}, &moments);
    work.run(exactly);
    found[2] = moments.variance;
    return found;
  });
  // Values are there on the last rank alone, and are -0: of the others' nothing, the sum stays -0, and a norm of the last rank's is +0.
  compare("exact sum of minus zeros, of which one rank has some", [&](const onefold::executor& w) {
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const minus_zero_if zeros{rank + 1 == ranks};
    return std::array<double, 3>{onefold::sum(anywhere.on(w), count, zeros), onefold::norm1(anywhere.on(w), count, zeros),
                                 onefold::sum(anywhere.on(w), count, minus_zero_if{false})};
  });
  compare("exact sum of minus zeros is one where there are some", [&](const onefold::executor& w) {
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double zero = onefold::sum(anywhere.on(w), 3, minus_zero_if{rank + 1 == ranks});
    const double none = onefold::sum(anywhere.on(w), 3, minus_zero_if{false});
    if (zero != 0 || !std::signbit(zero) || none != 0 || std::signbit(none)) throw std::logic_error("another zero than there is");
    return std::array<double, 2>{zero, none};
  });
  compare("exact, of elements anywhere",
          [&](const onefold::executor& w) { return onefold::sum(anywhere.on(w), count, float_at{value}); });
  compare("exact sums of several", [&](const onefold::executor& w) { return onefold::sum(anywhere.on(w), count, two_at{value}); });
  compare("exact means of several, in a batch with another", [&](const onefold::executor& w) {
    std::array<double, 2> means{};
    std::array<double, 3> found{};
    onefold::mpi::batch work(rows.on(w));
    work.add(onefold::mean, count, two_at{value}, &means).add(onefold::norm1, count, value, &found[2]);
    work.run(exactly);
    std::copy(means.begin(), means.end(), found.begin());
    return found;
  });
  compare("exact norm2", [&](const onefold::executor& w) { return onefold::norm2(rows.on(w), count, value, exactly); });
  compare("on the last rank", [&](const onefold::executor& w) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return onefold::sum(rows.on(w).root(ranks - 1), count, value).value_or(-1.0);
  });
  compare("started", [&](const onefold::executor& w) {
    auto later = onefold::mpi::start(onefold::sum, rows.on(w), count, value);
    auto after = onefold::mpi::start_reduce(rows.on(w), y.get(), count, add_floats(), 1.0F);
    const float second = after.wait();
    return std::array<double, 2>{later.wait(), static_cast<double>(second)};
  });
  compare("a batch", [&](const onefold::executor& w) {
    std::array<double, 4> found{};
    float reduced = 0;
    std::uint64_t large = 0;
    onefold::mpi::batch work(rows.on(w));
    work.add(onefold::norm2, count, value, &found[0]).add(onefold::sum, x.get(), count, &found[1]);
    work.add_transform_reduce(x.get(), y.get(), count, op::sum{}, times(), &found[2]);
    work.add_reduce(y.get(), count, add_floats(), 0.5F, &reduced).add_count_if(x.get(), count, is_large(), &large);
    for (int again = 0; again < 2; ++again) work.run();
    found[3] = static_cast<double>(reduced) + static_cast<double>(large);
    return found;
  });
  return std::move(compare.all);
}

}  // namespace onefold_test
