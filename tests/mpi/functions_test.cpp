/// @file functions_test.cpp  Functions of the index over ranks: each rank's is asked for the indices that its own call names, and the result has the
/// bits of one core over an array with all values.

#include <array>
#include <atomic>
#include <stdexcept>

#include "ranks.hpp"

namespace onefold_test {
namespace {

using onefold::absent;
using onefold::maybe;

// This rank's part of an array as a function of its own indices.
auto function_of(const parted& x) {
  return [&x](uint64_t i) { return x.mine.at(i); };
}

#define ONEFOLD_EXPECT_FUNCTION(form) expect_same(onefold::form(here, x.mine.size(), f), onefold::form(one, x.all), #form)

TEST(functions_over_ranks, are_taken_by_every_form) {
  for (const uint64_t n : {uint64_t{0}, uint64_t{7}, uint64_t{40'000}}) {
    const parted x(n);
    const layout rows(MPI_COMM_WORLD, x.mine.size());
    const auto here = rows.on(onefold::openmp());
    const auto one = onefold::serial();
    const auto f = function_of(x);
    ONEFOLD_EXPECT_FUNCTION(sum);
    ONEFOLD_EXPECT_FUNCTION(prod);
    ONEFOLD_EXPECT_FUNCTION(min);
    ONEFOLD_EXPECT_FUNCTION(max);
    ONEFOLD_EXPECT_FUNCTION(sum_of_squares);
    ONEFOLD_EXPECT_FUNCTION(norm1);
    ONEFOLD_EXPECT_FUNCTION(norm2);
    ONEFOLD_EXPECT_FUNCTION(norm_inf);
    ONEFOLD_EXPECT_FUNCTION(mean);
    ONEFOLD_EXPECT_FUNCTION(min_number);
    ONEFOLD_EXPECT_FUNCTION(max_number);
    ONEFOLD_EXPECT_FUNCTION(count);
    ONEFOLD_EXPECT_FUNCTION(all);
    ONEFOLD_EXPECT_FUNCTION(any);
    ONEFOLD_EXPECT_FUNCTION(none);
    ONEFOLD_EXPECT_FUNCTION(minmax);
    ONEFOLD_EXPECT_FUNCTION(mean_variance);
    if (n == 0) {
      EXPECT_TRUE(refuses(errc::invalid_argument, "no index", [&] { static_cast<void>(onefold::argmin(here, 0, f)); }));
      continue;
    }
    ONEFOLD_EXPECT_FUNCTION(argmin);
    ONEFOLD_EXPECT_FUNCTION(argmax);
    ONEFOLD_EXPECT_FUNCTION(argmin_magnitude);
    ONEFOLD_EXPECT_FUNCTION(argmax_magnitude);
    ONEFOLD_EXPECT_FUNCTION(argminmax);
    expect_same(onefold::mean_variance(here, x.mine.size(), f, onefold::ddof{1}),
                onefold::mean_variance(one, x.all, onefold::ddof{1}), "ddof");
    const auto g = [&x](uint64_t i) { return static_cast<float>(x.mine.at(i)); };
    const std::vector<float> floats(x.all.begin(), x.all.end());
    expect_same(onefold::sum(here, x.mine.size(), g, onefold::accumulate_as<double>),
                onefold::sum(one, floats, onefold::accumulate_as<double>), "wide");
    const auto positive = [&x](uint64_t i) { return x.mine.at(i) > 0; };
    const auto is_positive = [&x](uint64_t i) { return x.all.at(i) > 0; };
    expect_same(onefold::count(here, x.mine.size(), positive), onefold::count(one, n, is_positive), "count of truths");
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    const parted far(n, 1, 0x1p60);
    const auto of_far = function_of(far);
    if (n > 1000)
      expect_exact(onefold::sum(here, far.mine.size(), of_far, exactly), onefold::sum(one, far.all, exactly),
                   onefold::sum(one, far.all), "exact sum");
    expect_same(onefold::norm2(here, x.mine.size(), f, exactly), onefold::norm2(one, x.all, exactly), "exact norm2");
  }
}

TEST(functions_over_ranks, of_boxes_have_the_coordinates_of_their_call) {
  // Slabs of planes: rank after rank has the next ones.
  const int planes = 7, rows_of_plane = 11, columns = 23;
  const auto me = static_cast<std::int64_t>(rank()), count = static_cast<std::int64_t>(ranks());
  const std::int64_t begin = planes * me / count, end = planes * (me + 1) / count;
  const auto at = [](std::int64_t k, std::int64_t j, std::int64_t i) {
    return 1.0 / static_cast<double>(1 + i + columns * (j + rows_of_plane * k));
  };
  const auto mine = onefold::box({begin, end}, rows_of_plane, columns);
  const auto all = onefold::box(planes, rows_of_plane, columns);
  const layout slabs(MPI_COMM_WORLD, mine.size());
  const auto here = slabs.on(onefold::best());
  expect_same(onefold::sum(here, mine, at), onefold::sum(onefold::serial(), all, at), "sum over a box");
  expect_same(onefold::argmin(here, mine, at), onefold::argmin(onefold::serial(), all, at), "argmin over a box");
  // The same planes with a layer of ghosts around them, which are not called for.
  const auto with_ghosts = [&](std::int64_t k, std::int64_t j, std::int64_t i) { return at(begin + k - 1, j - 1, i - 1); };
  const auto interior = onefold::box({1, end - begin + 1}, {1, rows_of_plane + 1}, {1, columns + 1});
  expect_same(onefold::norm2(here, interior, with_ghosts), onefold::norm2(onefold::serial(), all, at), "interior");
}

TEST(functions_over_ranks, of_several_values_are_called_once_for_all) {
  const parted x(20'011, 1, 0x1p60);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto here = rows.on(onefold::openmp());
  const auto three = [](double value) { return std::array<double, 3>{value, value * value, -value}; };
  std::vector<std::atomic<int>> asked(x.mine.size());
  const auto mine = [&](uint64_t i) { return ++asked.at(i), three(x.mine.at(i)); };
  const auto all = [&](uint64_t i) { return three(x.all.at(i)); };
  const uint64_t count = x.mine.size(), n = x.all.size();
  expect_same(onefold::sum(here, count, mine), onefold::sum(onefold::serial(), n, all), "three sums");
  for (const auto& times : asked) ASSERT_EQ(times.load(), 1);
  expect_same(onefold::max(here, count, mine), onefold::max(onefold::serial(), n, all), "three maxima");
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  expect_exact(onefold::sum(here, count, mine, exactly), onefold::sum(onefold::serial(), n, all, exactly),
               onefold::sum(onefold::serial(), n, all), "three exact sums");
  using namespace onefold::op;
  const auto together = onefold::reduce_together(here, count, mine, min{}, sum{}, prod{});
  expect_same(together, onefold::reduce_together(onefold::serial(), n, all, min{}, sum{}, prod{}), "reduce_together");
  expect_same(onefold::reduce_together(here, count, mine, min{}, max{}, max{}),
              onefold::reduce_together(onefold::serial(), n, all, min{}, max{}, max{}), "reduce_together of extrema");
  const auto at_root = onefold::sum(here.root(0), count, mine);
  EXPECT_EQ(at_root.has_value(), rank() == 0);
  if (at_root) expect_same(*at_root, onefold::sum(onefold::serial(), n, all), "three sums at a root");
}

TEST(functions_over_ranks, may_leave_values_out) {
  const parted x(5'000);
  const uint64_t count = x.mine.size(), n = x.all.size();
  const layout rows(MPI_COMM_WORLD, count);
  const auto here = rows.on(onefold::serial());
  // None, all, or those on one rank alone.
  for (const double above : {2.0, -1.0, 0.3})
    for (const bool one_rank : {false, true}) {
      const uint64_t begin = one_rank ? n * static_cast<uint64_t>(ranks() / 2) / static_cast<uint64_t>(ranks()) : 0;
      const uint64_t end = one_rank ? n * static_cast<uint64_t>(ranks() / 2 + 1) / static_cast<uint64_t>(ranks()) : n;
      const auto of_whole = [&](uint64_t i) -> maybe<double> {
        if (i < begin || i >= end || x.all.at(i) <= above) return absent;
        return x.all.at(i);
      };
      const auto mine = [&](uint64_t i) { return of_whole(rows.begin() + i); };
      const auto one = onefold::serial();
      expect_same(onefold::sum(here, count, mine), onefold::sum(one, n, of_whole), "sum");
      expect_same(onefold::prod(here, count, mine), onefold::prod(one, n, of_whole), "prod");
      expect_same(onefold::min(here, count, mine), onefold::min(one, n, of_whole), "min");
      expect_same(onefold::min_number(here, count, mine), onefold::min_number(one, n, of_whole), "min_number");
      expect_same(onefold::max_number(here, count, mine), onefold::max_number(one, n, of_whole), "max_number");
      expect_same(onefold::norm2(here, count, mine), onefold::norm2(one, n, of_whole), "norm2");
      expect_same(onefold::all(here, count, mine), onefold::all(one, n, of_whole), "all");
      expect_same(onefold::minmax(here, count, mine), onefold::minmax(one, n, of_whole), "minmax");
      onefold::options exactly;
      exactly.guarantee = onefold::guarantee::exact;
      expect_same(onefold::sum(here, count, mine, exactly), onefold::sum(one, n, of_whole, exactly), "exact sum");
    }
}

TEST(functions_over_ranks, may_leave_values_out_where_an_extremum_is) {
  random_numbers random(current_seed());
  for (int round = 0; round < 12; ++round) {
    // Few different values, many of them equal; NaN now and then; sometimes those of one rank's range alone.
    const uint64_t n = 1 + random.below(round % 2 == 0 ? 40 : 3'000);
    const uint64_t seed = random(), absent_of_ten = random.below(11), nan_of = 1 + random.below(2 * n);
    const char* style = "";
    const auto cuts = cuts_of(n, 256, random, &style);
    const layout rows(MPI_COMM_WORLD, cuts[static_cast<std::size_t>(rank()) + 1] - cuts[static_cast<std::size_t>(rank())]);
    const random_numbers data(seed);
    const auto of_whole = [&](uint64_t i) -> maybe<float> {
      const uint64_t bits = data.at(i);
      if (bits % 10 < absent_of_ten) return absent;
      if (i % nan_of == nan_of - 1) return std::numeric_limits<float>::quiet_NaN();
      const auto value = static_cast<float>(static_cast<int>(bits / 10 % 9) - 4);
      return value == 0 && bits / 100 % 2 == 0 ? -0.0F : value;
    };
    const auto mine = [&](uint64_t i) { return of_whole(rows.begin() + i); };
    const auto here = rows.on(any_executor(seed));
    const auto one = onefold::serial();
    const uint64_t count = rows.count();
    expect_same(onefold::minmax(here, count, mine), onefold::minmax(one, n, of_whole), "minmax");
    bool is_any_there = false;
    for (uint64_t i = 0; i < n; ++i) is_any_there = is_any_there || of_whole(i).present;
    const auto expect_arg = [&](const auto& form, const std::string& of) {
      if (!is_any_there) {
        EXPECT_TRUE(refuses(errc::invalid_argument, "there is no index", [&] { static_cast<void>(form(here, count, mine)); }))
            << of;
        return;
      }
      const auto got = form(here, count, mine), expected = form(one, n, of_whole);
      expect_same(got.value, expected.value, of);
      expect_same(got.index, expected.index, of + "'s index");
      const auto rooted = form(here.root(ranks() - 1), count, mine);
      EXPECT_EQ(rooted.has_value(), rank() == ranks() - 1);
      if (rooted) expect_same(rooted->index, expected.index, of + "'s index at a root");
    };
    expect_arg(onefold::argmin, "argmin");
    expect_arg(onefold::argmax, "argmax");
    expect_arg(onefold::argmin_magnitude, "argmin_magnitude");
    expect_arg(onefold::argmax_magnitude, "argmax_magnitude");
    if (!is_any_there) continue;
    const auto both = onefold::argminmax(here, count, mine), expected = onefold::argminmax(one, n, of_whole);
    expect_same(both.min.index, expected.min.index, "argminmax");
    expect_same(both.max.index, expected.max.index, "argminmax");
    expect_same(both.max.value, expected.max.value, "argminmax");
  }
  // A box, whose index runs on over the ranks; and integers that are as large as what stands for none.
  const layout planes(MPI_COMM_WORLD, 6);
  const auto here = planes.on(onefold::openmp());
  const auto largest = [](std::int64_t, std::int64_t i) -> maybe<std::int32_t> {
    if (i == 0) return absent;
    return std::numeric_limits<std::int32_t>::max();
  };
  EXPECT_EQ(onefold::argmin(here, onefold::box(2, 3), largest).index, 1U);
  EXPECT_EQ(onefold::argmin(here, onefold::box(2, 3), largest).value, std::numeric_limits<std::int32_t>::max());
  const int last = ranks() - 1;
  const auto of_last = [last](std::int64_t j, std::int64_t i) -> maybe<std::int32_t> {
    if (rank() != last || j == 0) return absent;
    return static_cast<std::int32_t>(i);
  };
  EXPECT_EQ(onefold::argmax(here, onefold::box(2, 3), of_last).index, planes.total() - 1);

  // What is wrong is an error everywhere.
  if (ranks() > 1) {
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      static_cast<void>(rank() == 0 ? onefold::argmin(here, onefold::box(2, 3), largest)
                                    : onefold::argmax(here, onefold::box(2, 3), largest));
    }));
  }
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "values that may be absent has no exact result",
                      [&] { static_cast<void>(onefold::argmin(here, onefold::box(2, 3), largest, exactly)); }));
  EXPECT_EQ(onefold::argmin(here, onefold::box(2, 3), largest).index, 1U) << "and the next call works";
}

// --- means of values of which some are absent -------------------------------------------------------------------------------------------------

// Values of one kind, of which none, all, few, one, or those on one rank alone are there.
template <class T>
struct with_gaps {
  random_numbers random;
  uint64_t which, one, begin, end;

  with_gaps(uint64_t seed, uint64_t n, const std::vector<uint64_t>& cuts)
      : random(seed), which(seed % 6), one(random.at(~uint64_t{0}) % (n + 1)), begin(0), end(n) {
    if (which != 5) return;
    const auto rank = static_cast<std::size_t>(random.at(~uint64_t{1}) % (cuts.size() - 1));
    begin = cuts[rank];
    end = cuts[rank + 1];
  }
  maybe<T> operator()(uint64_t i) const {
    const uint64_t bits = random.at(i);
    const bool is_there = which == 0   ? false
                          : which == 1 ? true
                          : which == 2 ? bits % 3 != 0
                          : which == 3 ? bits % 800 == 0
                          : which == 4 ? i == one
                                       : begin <= i && i < end;
    if (!is_there) return absent;
    if constexpr (std::is_integral_v<T>) return static_cast<T>(bits >> 8);
    if (bits % 7 == 1) return -T(0);
    if (bits % 30'011 == 5) return std::numeric_limits<T>::infinity();
    if (bits % 40'009 == 6) return std::numeric_limits<T>::quiet_NaN();
    return static_cast<T>(static_cast<double>(bits >> 12) * 0x1p-52 - 0.4);
  }
};

template <class T>
void expect_means_of_present(uint64_t tile) {
  random_numbers random(current_seed());
  for (int round = 0; round < 30; ++round) {
    const uint64_t sizes[] = {0, 1, tile - 1, tile, tile + 1, 2 * tile};
    const uint64_t n = round < 6 ? sizes[round] : random.below(round % 2 == 0 ? tile : 40 * tile);
    const char* style = "";
    const auto cuts = cuts_of(n, tile, random, &style);
    const with_gaps<T> of_whole(random(), n, cuts);
    const auto me = static_cast<std::size_t>(rank());
    const layout rows(MPI_COMM_WORLD, cuts[me + 1] - cuts[me]);
    const auto mine = [&](uint64_t i) { return of_whole(rows.begin() + i); };
    const auto here = rows.on(any_executor(static_cast<uint64_t>(round)));
    const auto one = onefold::serial();
    const uint64_t count = rows.count();
    const std::string of = std::to_string(n) + " values, " + style + ", presence " + std::to_string(of_whole.which);
    const auto mean = onefold::mean(one, n, of_whole);
    expect_same(onefold::mean(here, count, mine), mean, "mean of " + of);
    const auto both = onefold::mean_variance(one, n, of_whole, onefold::ddof{1});
    const auto found = onefold::mean_variance(here, count, mine, onefold::ddof{1});
    expect_same(found.mean, both.mean, "mean_variance's mean of " + of);
    expect_same(found.variance, both.variance, "mean_variance's variance of " + of);
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    expect_same(onefold::mean(here, count, mine, exactly), onefold::mean(one, n, of_whole, exactly), "exact mean of " + of);
    expect_same(onefold::mean_variance(here, count, mine, exactly), onefold::mean_variance(one, n, of_whole, exactly),
                "exact mean_variance of " + of);
    if constexpr (std::is_same_v<T, float>) {
      expect_same(onefold::mean(here, count, mine, onefold::accumulate_as<double>),
                  onefold::mean(one, n, of_whole, onefold::accumulate_as<double>), "wide mean of " + of);
      expect_same(onefold::mean_variance(here, count, mine, onefold::accumulate_as<double>),
                  onefold::mean_variance(one, n, of_whole, onefold::accumulate_as<double>), "wide mean_variance of " + of);
    }
    const int root = ranks() / 2;
    const auto rooted = onefold::mean_variance(here.root(root), count, mine, onefold::ddof{1});
    EXPECT_EQ(rooted.has_value(), rank() == root);
    if (rooted) {
      expect_same(rooted->variance, both.variance, "rooted mean_variance of " + of);
    }
    // Beside others in one message, started, and again.
    T sum{}, largest{};
    auto mean_of_batch = mean;
    auto both_of_batch = both;
    onefold::mpi::batch work(here);
    work.add(onefold::max, count, mine, &largest)
        .add(onefold::mean_variance, count, mine, &both_of_batch, onefold::ddof{1})
        .add(onefold::sum, count, mine, &sum)
        .add(onefold::mean, count, mine, &mean_of_batch);
    for (int turn = 0; turn < 2; ++turn) {
      mean_of_batch = {};
      both_of_batch = {};
      turn == 0 ? work.run() : work.start();
      if (turn == 1) work.wait();
      expect_same(mean_of_batch, mean, "mean in a batch of " + of);
      expect_same(both_of_batch.mean, both.mean, "mean_variance in a batch of " + of);
      expect_same(both_of_batch.variance, both.variance, "mean_variance in a batch of " + of);
      expect_same(sum, onefold::sum(one, n, of_whole), "sum in a batch of " + of);
      expect_same(largest, onefold::max(one, n, of_whole), "max in a batch of " + of);
    }
    auto later = onefold::mpi::start(onefold::mean, here, count, mine);
    auto later_both = onefold::mpi::start(onefold::mean_variance, here, count, mine, onefold::ddof{1});
    expect_same(later_both.wait().variance, both.variance, "started mean_variance of " + of);
    expect_same(later.wait(), mean, "started mean of " + of);
  }
}

TEST(functions_over_ranks, may_leave_values_out_of_means_of_doubles) { expect_means_of_present<double>(512); }
TEST(functions_over_ranks, may_leave_values_out_of_means_of_floats) { expect_means_of_present<float>(1024); }
TEST(functions_over_ranks, may_leave_values_out_of_means_of_integers) {
  expect_means_of_present<std::int32_t>(1024);
  expect_means_of_present<uint64_t>(512);
}

TEST(functions_over_ranks, that_leave_values_out_of_means_are_called_once_and_fail_everywhere) {
  on_two_layouts([](const layout& rows, const std::vector<double>& x) {
    const auto here = rows.on(onefold::openmp());
    std::vector<std::atomic<int>> asked(x.size());
    const auto counted = [&](uint64_t i) -> maybe<double> {
      ++asked.at(i);
      if (i % 5 == 0) return absent;
      return x.at(i);
    };
    const auto both = onefold::mean_variance(here, x.size(), counted);
    for (const auto& times : asked) ASSERT_EQ(times.load(), 1);
    const auto mean = onefold::mean(here, x.size(), counted);
    for (const auto& times : asked) ASSERT_EQ(times.load(), 2);
    for (const int culprit : culprits()) {
      uint64_t elements = x.size();
      MPI_Bcast(&elements, 1, MPI_UINT64_T, culprit, MPI_COMM_WORLD);
      if (elements == 0) continue;  // whose function is not called
      for (const uint64_t at : {uint64_t{0}, elements / 2, elements - 1}) {
        const auto throws = [&](uint64_t i) -> maybe<double> {
          return i == at && rank() == culprit ? throw std::out_of_range("mine") : counted(i);
        };
        const auto expect_thrown = [&](const auto& call) {
          if (rank() == culprit) {
            EXPECT_THROW(call(), std::out_of_range);
          } else {
            EXPECT_TRUE(refuses(errc::communication_failed, "could not take part", call));
          }
        };
        expect_thrown([&] { static_cast<void>(onefold::mean(here, x.size(), throws)); });
        expect_thrown([&] { static_cast<void>(onefold::mean_variance(here, x.size(), throws)); });
      }
      expect_same(onefold::mean_variance(here, x.size(), counted), both, "and the next call works");
      expect_same(onefold::mean(here, x.size(), counted), mean, "and the next call works");
      // Values that may be absent on one rank alone: there are flags beside those that it sends, or receives.
      if (ranks() == 1 || rows.is_aligned<double>()) continue;
      EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
        if (rank() == culprit)
          static_cast<void>(onefold::mean_variance(here, x.size(), counted));
        else
          static_cast<void>(onefold::mean_variance(here, x.size(), [&](uint64_t i) { return x.at(i); }));
      }));
    }
  });
}

TEST(functions_over_ranks, go_in_batches_and_are_started) {
  parted x(30'000);
  const uint64_t count = x.mine.size();
  const layout rows(MPI_COMM_WORLD, count);
  const auto here = rows.on(onefold::openmp());
  double norm = 0, sum = 0, two[2] = {};
  uint64_t nonzero = 0;
  onefold::mpi::batch work(here);
  // Temporaries: the batch has copies.
  work.add(onefold::norm2, count, function_of(x), &norm)
      .add(onefold::sum, x.mine, &sum)
      .add(
          onefold::sum, count,
          [&x](uint64_t i) {
            return std::array<double, 2>{x.mine[i], -x.mine[i]};
          },
          two);
  work.add<form::count>(count, function_of(x), &nonzero);
  EXPECT_EQ(work.size(), 4U);
  for (int round = 0; round < 2; ++round) {
    round == 0 ? work.run() : work.start();
    if (round == 1) work.wait();
    expect_same(norm, onefold::norm2(onefold::serial(), x.all), "norm2");
    expect_same(sum, onefold::sum(onefold::serial(), x.all), "sum");
    expect_same(two[0], sum, "first sum of two");
    expect_same(two[1], -sum, "second sum of two");
    expect_same(nonzero, onefold::count(onefold::serial(), x.all), "count");
    for (double& value : x.mine) value *= 1.25;
    for (double& value : x.all) value *= 1.25;
  }
  auto later = onefold::mpi::start(onefold::mean_variance, here, count, function_of(x), onefold::ddof{1});
  auto both = onefold::mpi::start(onefold::max, here, count, [&x](uint64_t i) {
    return std::array<double, 2>{x.mine[i], -x.mine[i]};
  });
  expect_same(both.wait()[0], onefold::max(onefold::serial(), x.all), "started max");
  expect_same(later.wait(), onefold::mean_variance(onefold::serial(), x.all, onefold::ddof{1}), "started mean_variance");
}

TEST(functions_over_ranks, have_exact_results_without_a_layout) {
  const parted x(9'001);
  const onefold::mpi::communicator world(MPI_COMM_WORLD);
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const auto here = world.on(onefold::openmp());
  const parted far(9'001, 1, 0x1p60);
  expect_exact(onefold::sum(here, far.mine.size(), function_of(far)), onefold::sum(onefold::serial(), far.all, exactly),
               onefold::sum(onefold::serial(), far.all), "exact sum");
  // Of integers near the largest, whose sum wraps.
  const auto whole = [](double value) {
    return std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>((value + 1) * 1000);
  };
  std::vector<std::int64_t> integers;
  for (const double one : x.all) integers.push_back(whole(one));
  const auto mine = [&](std::uint64_t i) { return whole(x.mine[i]); };
  expect_same(onefold::mean(here, x.mine.size(), mine), onefold::mean(onefold::serial(), integers, exactly),
              "exact mean of integers");
  expect_same(onefold::norm2(here, x.mine.size(), mine), onefold::norm2(onefold::serial(), integers, exactly),
              "exact norm of integers");
  expect_same(onefold::max(here, x.mine.size(), function_of(x)), onefold::max(onefold::serial(), x.all), "max");
  // Means of those that are there, which the states count.
  const auto positive = [](double value) { return value > 0.2 ? maybe<double>(value) : maybe<double>(); };
  const auto mine_of_some = [&](uint64_t i) { return positive(x.mine[i]); };
  const auto some = [&](uint64_t i) { return positive(x.all[i]); };
  expect_same(onefold::mean(here, x.mine.size(), mine_of_some), onefold::mean(onefold::serial(), x.all.size(), some, exactly),
              "exact mean of some");
  expect_same(onefold::mean_variance(here, x.mine.size(), mine_of_some),
              onefold::mean_variance(onefold::serial(), x.all.size(), some, exactly), "exact mean_variance of some");
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "make a layout",
                      [&] { static_cast<void>(onefold::prod(here, x.mine.size(), function_of(x))); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { static_cast<void>(onefold::sum(here, -1, function_of(x))); }));
}

// --- misuse -----------------------------------------------------------------------------------------------------------------------------------

struct problem_of_mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(functions_over_ranks, that_throw_on_one_rank_are_an_error_on_every_rank) {
  on_two_layouts([](const layout& rows, const std::vector<double>& x) {
    const auto here = rows.on(onefold::openmp());
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    for (const int culprit : culprits()) {
      uint64_t elements = x.size();
      MPI_Bcast(&elements, 1, MPI_UINT64_T, culprit, MPI_COMM_WORLD);
      if (elements == 0) continue;  // whose function is not called
      const std::string by = "rank " + std::to_string(culprit) + " could not take part";
      const std::vector<uint64_t> places = {0, elements / 2, elements - 1};
      for (const uint64_t place : places) {
        const auto f = [&](uint64_t i) { return rank() == culprit && i == place ? throw problem_of_mine("mine") : x.at(i); };
        const auto expect_thrown = [&](const auto& call) {
          if (rank() == culprit)
            EXPECT_THROW(call(), problem_of_mine);
          else
            EXPECT_TRUE(refuses(errc::communication_failed, by, call));
        };
        expect_thrown([&] { static_cast<void>(onefold::sum(here, x.size(), f)); });
        if (place != places[1]) continue;
        expect_thrown([&] { static_cast<void>(onefold::max(here, x.size(), f)); });
        expect_thrown([&] { static_cast<void>(onefold::sum(here, x.size(), f, exactly)); });
        expect_thrown([&] { static_cast<void>(onefold::mpi::start(onefold::norm2, here, x.size(), f).wait()); });
      }
      expect_same(onefold::sum(here, x.size(), [&](uint64_t i) { return x.at(i); }), onefold::sum(here, x), "the next call");
      // A count that is not the layout's.
      const std::int64_t wrong = rank() == culprit ? -1 : static_cast<std::int64_t>(x.size());
      expect_refused_everywhere(culprit, errc::invalid_argument, "negative", by,
                                [&] { static_cast<void>(onefold::sum(here, wrong, [&](uint64_t i) { return x.at(i); })); });
      const uint64_t more = x.size() + (rank() == culprit ? 1 : 0);
      expect_refused_everywhere(culprit, errc::invalid_argument, "make a layout for each distribution", by,
                                [&] { static_cast<void>(onefold::sum(here, more, [&](uint64_t i) { return x.at(i); })); });
    }
  });
}

TEST(functions_over_ranks, of_the_host_are_refused_on_a_gpu) {
  const layout rows(MPI_COMM_WORLD, 1'000);
  const auto never = [](uint64_t) -> double { throw problem_of_mine("called"); };
  // Which error it is depends on whether there is a GPU.
  EXPECT_THROW(static_cast<void>(onefold::sum(rows.on(onefold::cuda()), 1'000, never)), onefold::error);
  EXPECT_THROW(static_cast<void>(onefold::max(rows.on(onefold::cuda()), 1'000, never)), onefold::error);
}

}  // namespace
}  // namespace onefold_test
