/// @file started_operators_test.cpp  Operators of the caller's over ranks, started or in batches: the bits of the calls that wait, and of one core, in whatever
/// order ranks wait, and whoever comes late.

#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ranks.hpp"

namespace onefold_test {
namespace {

using onefold::maybe;
using onefold::mpi::batch;
using onefold::mpi::start_count_if;
using onefold::mpi::start_reduce;
using onefold::mpi::start_transform_reduce;

struct plus {
  double operator()(double a, double b) const { return a + b; }
};
struct problem_of_mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An array that all ranks know, cut anyhow, and functions of it.
struct cut_array {
  cut_array(uint64_t n, random_numbers& random) : all(n), other(n), tallies(n) {
    const random_numbers values(random());
    for (uint64_t i = 0; i < n; ++i) {
      all[i] = static_cast<double>(values.at(2 * i) >> 12) * 0x1p-52 - 0.4;
      other[i] = static_cast<double>(values.at(2 * i + 1) >> 12) * 0x1p-52 - 0.6;
      tallies[i] = {1, i, all[i]};
    }
    const auto cuts = cuts_of(n, random.below(2) == 0 ? 512 : 128, random, &style);
    begin = cuts[static_cast<std::size_t>(rank())];
    end = cuts[static_cast<std::size_t>(rank()) + 1];
  }
  template <class T>
  [[nodiscard]] std::vector<T> part_of(const std::vector<T>& whole) const {
    return {whole.begin() + static_cast<std::ptrdiff_t>(begin), whole.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  [[nodiscard]] std::string text() const { return std::to_string(all.size()) + " elements cut " + style; }
  std::vector<double> all;
  std::vector<double> other;
  std::vector<tally> tallies;
  const char* style = "";
  uint64_t begin = 0;
  uint64_t end = 0;
};

template <class T>
void expect_there(const std::optional<T>& got, int root, const T& expected, const std::string& of) {
  ASSERT_EQ(got.has_value(), rank() == root) << of;
  if (got) expect_same(*got, expected, of);
}

TEST(started_operators, have_the_bits_of_one_core) {
  random_numbers random(current_seed());
  const auto one = onefold::serial();
  const auto large = [](double a) { return a > 0.2; };
  const auto square = [](double a) { return a * a; };
  const auto product = [](double a, double b) { return a * b; };
  const auto triple = [](double a, double b, double c) { return a * b + c; };
  const onefold::op::sum sum;
  for (int round = 0; round < 8; ++round) {
    const cut_array x(1 + random.below(round < 4 ? 20 : 6'000), random);
    const auto mine = x.part_of(x.all), other = x.part_of(x.other);
    const auto tallies = x.part_of(x.tallies);
    const uint64_t n = mine.size();
    const layout rows(MPI_COMM_WORLD, n);
    const auto here = rows.on(any_executor(random()));
    const std::string words = x.text();
    const tally first{10, 20, 0.3};
    const auto at = [&mine](uint64_t i) { return mine.at(i); };
    const auto at_all = [&x](uint64_t i) { return x.all.at(i); };

    expect_same(start_reduce(here, tallies, tally_up{}).wait(), onefold::reduce(one, x.tallies, tally_up{}), "tally of " + words);
    expect_same(start_reduce(here, tallies.data(), n, tally_up{}, first).wait(), onefold::reduce(one, x.tallies, tally_up{}, first),
                "initial value of " + words);
    expect_same(start_reduce(here, n, at, plus{}).wait(), onefold::reduce(one, x.all, plus{}), "function of " + words);
    expect_same(start_reduce(here, mine, sum).wait(), onefold::sum(one, x.all), "the library's operator of " + words);
    expect_same(start_reduce(here, mine.data(), n, sum).wait(), onefold::sum(one, x.all), "the library's operator of " + words);
    expect_same(start_reduce(here, mine, sum, 0.1).wait(), onefold::reduce(one, x.all, sum, 0.1),
                "with an initial value, of " + words);
    expect_same(start_transform_reduce(here, mine, plus{}, square).wait(), onefold::transform_reduce(one, x.all, plus{}, square),
                "squares of " + words);
    expect_same(start_transform_reduce(here, mine, other, plus{}, product, 0.1).wait(),
                onefold::transform_reduce(one, x.all, x.other, plus{}, product, 0.1), "products of " + words);
    expect_same(start_transform_reduce(here, mine, other, sum, product).wait(),
                onefold::transform_reduce(one, x.all, x.other, sum, product), "the library's products of " + words);
    expect_same(start_transform_reduce(here, mine.data(), other.data(), mine.data(), n, plus{}, triple).wait(),
                onefold::transform_reduce(one, x.all, x.other, x.all, plus{}, triple), "three arrays of " + words);
    expect_same(start_transform_reduce(here, n, plus{}, at, 0.1).wait(),
                onefold::transform_reduce(one, x.all.size(), plus{}, at_all, 0.1), "function and initial value of " + words);
    expect_same(start_count_if(here, mine, large).wait(), onefold::count_if(one, x.all, large), "count_if of " + words);
    expect_same(start_count_if(here, mine.data(), n, large).wait(), onefold::count_if(one, x.all, large), "count_if of " + words);
    expect_same(start_count_if(here, n, [&](uint64_t i) { return large(mine[i]); }).wait(), onefold::count_if(one, x.all, large),
                "count_if of " + words);
    const int root = static_cast<int>(random.below(static_cast<uint64_t>(ranks())));
    auto there = start_reduce(here.root(root), tallies, tally_up{});
    auto count_there = start_count_if(here.root(root), mine, large);
    expect_there(count_there.wait(), root, onefold::count_if(one, x.all, large), "count_if at a root, of " + words);
    expect_there(there.wait(), root, onefold::reduce(one, x.tallies, tally_up{}), "at a root, of " + words);
  }
  const layout empty(MPI_COMM_WORLD, 0);
  const std::vector<double> none;
  expect_same(start_reduce(empty.on(one), none, plus{}, 2.5).wait(), 2.5, "no elements");
  EXPECT_TRUE(refuses(errc::invalid_argument, "initial value",
                      [&] { static_cast<void>(start_reduce(empty.on(one), none, plus{}).wait()); }));
}

TEST(started_operators, of_planes_of_a_grid) {
  const uint64_t first = 23 * static_cast<uint64_t>(rank()) / static_cast<uint64_t>(ranks()),
                 last = 23 * static_cast<uint64_t>(rank() + 1) / static_cast<uint64_t>(ranks());
  const layout rows(MPI_COMM_WORLD, (last - first) * 17 * 13);
  const auto f = [](uint64_t k, uint64_t j, uint64_t i) { return 1.0 / static_cast<double>(1 + i + 13 * (j + 17 * k)); };
  const auto slab = onefold::box({first, last}, 17, 13), whole = onefold::box(23, 17, 13);
  double started = 0;
  batch work(rows.on(onefold::openmp()));
  work.add_transform_reduce(slab, plus{}, f, &started).run();
  const double expected = onefold::transform_reduce(onefold::serial(), whole, plus{}, f);
  expect_same(started, expected, "a batch of slabs");
  expect_same(start_transform_reduce(rows.on(onefold::serial()), slab, plus{}, f).wait(), expected, "slabs");
}

TEST(started_operators, are_waited_for_in_any_order_with_other_calls_between) {
  random_numbers random(current_seed() + 1);
  const auto one = onefold::serial();
  for (int round = 0; round < 6; ++round) {
    const cut_array x(5'000 + random.below(5'000), random);
    const auto mine = x.part_of(x.all);
    const auto tallies = x.part_of(x.tallies);
    const layout rows(MPI_COMM_WORLD, mine.size());
    const auto here = rows.on(onefold::serial());
    std::vector<onefold::mpi::pending<tally>> tallied;
    std::vector<onefold::mpi::pending<double>> norms;
    for (int k = 0; k < 4; ++k) {
      tallied.push_back(start_reduce(here, tallies, tally_up{}, tally{static_cast<uint64_t>(k), 0, 0.1}));
      norms.push_back(onefold::mpi::start(onefold::norm2, here, mine));
    }
    const auto expect_tally = [&](int k) {
      expect_same(tallied[static_cast<std::size_t>(k)].wait(),
                  onefold::reduce(one, x.tallies, tally_up{}, tally{static_cast<uint64_t>(k), 0, 0.1}), "tally of " + x.text());
    };
    // Some wait ahead of calls that are collective, and others behind them.
    const bool early = (rank() + round) % 2 == 0;
    if (early) expect_tally(3);
    expect_same(onefold::sum(here, mine), onefold::sum(one, x.all), "sum of " + x.text());
    expect_same(onefold::reduce(here, mine, plus{}), onefold::reduce(one, x.all, plus{}), "operator of " + x.text());
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    expect_same(onefold::sum(here, mine, exactly), onefold::sum(one, x.all, exactly), "exact sum of " + x.text());
    if (!early) expect_tally(3);
    for (int k = 0; k < 3; ++k) expect_tally((k + rank()) % 3);
    for (auto& norm : norms) expect_same(norm.wait(), onefold::norm2(one, x.all), "norm of " + x.text());
    // One that nobody waits for, on some ranks while others do.
    auto left = start_reduce(here, tallies, tally_up{});
    auto asked = start_reduce(here, mine, plus{});
    if (rank() % 2 == 0) expect_same(left.wait(), onefold::reduce(one, x.tallies, tally_up{}), "waited for here");
    left = start_reduce(here, tallies, tally_up{});
    expect_same(asked.wait(), onefold::reduce(one, x.all, plus{}), "asked for");
  }
}

TEST(started_operators, are_waited_for_in_different_orders_by_ranks_that_start_at_different_times) {
  const std::vector<double> x(3, 1.0);
  const layout rows(MPI_COMM_WORLD, x.size());
  for (int round = 0; round < 6; ++round) {
    // With four ranks and more some have states of others to pass on, of one tree while they wait for another.
    if (rank() % 2 == round % 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::vector<onefold::mpi::pending<double>> sums;
    for (int k = 0; k < 3; ++k) sums.push_back(start_reduce(rows.on(onefold::serial()), x, plus{}, static_cast<double>(k)));
    for (int k = 0; k < 3; ++k) {
      const int which = (k + rank() / 2) % 3;
      EXPECT_EQ(sums[static_cast<std::size_t>(which)].wait(), 3.0 * ranks() + which);
    }
  }
}

TEST(started_operators, of_a_rank_that_comes_late_are_asked_for_meanwhile) {
  const parted x(9'000);
  const layout rows(MPI_COMM_WORLD, onefold::mpi::aligned_range<double>(x.all.size(), rank(), ranks()).size());
  const std::vector<double> mine(x.all.begin() + static_cast<std::ptrdiff_t>(rows.begin()),
                                 x.all.begin() + static_cast<std::ptrdiff_t>(rows.begin() + rows.count()));
  for (const int late : culprits()) {
    // It starts when all others have started and asked: they cannot have waited for it.
    int none = 0;
    if (rank() == late) {
      for (int other = 0; other < ranks(); ++other)
        if (other != late) MPI_Recv(&none, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    auto sum = start_reduce(rows.on(onefold::serial()), mine, plus{});
    if (rank() != late) {
      EXPECT_FALSE(sum.test()) << "without the values of rank " << late;
      MPI_Send(&none, 0, MPI_INT, late, 0, MPI_COMM_WORLD);
    }
    while (!sum.test()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    expect_same(sum.wait(), onefold::reduce(onefold::serial(), x.all, plus{}), "late rank");
  }
}

TEST(batches_of_operators, hold_named_forms_too) {
  random_numbers random(current_seed() + 2);
  const auto one = onefold::serial();
  const auto large = [](double a) { return a > 0.2; };
  const auto product = [](double a, double b) { return a * b; };
  for (int round = 0; round < 4; ++round) {
    cut_array x(1 + random.below(round < 2 ? 30 : 8'000), random);
    auto mine = x.part_of(x.all);
    const auto other = x.part_of(x.other);
    const auto tallies = x.part_of(x.tallies);
    const uint64_t n = mine.size();
    const layout rows(MPI_COMM_WORLD, n);
    const int root = static_cast<int>(random.below(static_cast<uint64_t>(ranks())));
    tally all{}, with_first{};
    double sum = 0, norm = 0, dot = 0, most = 0, scaled = 0;
    uint64_t count = 0, threes = 0;
    const tally first{1, 2, 0.25};
    const auto fill = [&](batch& work) {
      work.add(onefold::norm2, mine, &norm)
          .add_reduce(tallies, tally_up{}, &all)
          .add_reduce(mine.data(), n, onefold::op::max{}, &most)
          .add_transform_reduce(mine, other, plus{}, product, &dot)
          .add(onefold::sum, mine, &sum)
          .add_count_if(mine, large, &count)
          .add_count_if(
              n, [&mine](uint64_t i) { return mine[i] < -0.1; }, &threes)
          .add_reduce(tallies.data(), n, tally_up{}, first, &with_first)
          .add_transform_reduce(
              n, onefold::op::sum{}, [&mine](uint64_t i) { return 2 * mine[i]; }, 0.5, &scaled);
    };
    batch everywhere(rows.on(any_executor(random()))), there(rows.on(onefold::serial()).root(root));
    fill(everywhere);
    fill(there);
    EXPECT_EQ(everywhere.size(), 9U);
    for (int again = 0; again < 4; ++again) {
      batch& work = again % 2 == 0 ? everywhere : there;
      again < 2 ? work.run() : work.start();
      while (again == 2 && !work.test()) {
      }
      if (again >= 2) work.wait();
      if (work.is_root()) {
        const std::string words = x.text();
        expect_same(norm, onefold::norm2(one, x.all), "norm2 of " + words);
        expect_same(all, onefold::reduce(one, x.tallies, tally_up{}), "tally of " + words);
        expect_same(with_first, onefold::reduce(one, x.tallies, tally_up{}, first), "initial value of " + words);
        expect_same(most, onefold::max(one, x.all), "max of " + words);
        expect_same(dot, onefold::transform_reduce(one, x.all, x.other, plus{}, product), "products of " + words);
        expect_same(sum, onefold::sum(one, x.all), "sum of " + words);
        expect_same(count, onefold::count_if(one, x.all, large), "count_if of " + words);
        expect_same(threes, onefold::count_if(one, x.all, [](double a) { return a < -0.1; }), "count_if of " + words);
        expect_same(scaled,
                    onefold::transform_reduce(
                        one, x.all, onefold::op::sum{}, [](double a) { return 2 * a; }, 0.5),
                    "the library's with an initial value, of " + words);
      }
      for (double& value : mine) value *= 1.25;
      for (double& value : x.all) value *= 1.25;
    }
    everywhere.start();
    everywhere.clear();
    EXPECT_EQ(everywhere.size(), 0U);
    everywhere.add_reduce(mine, plus{}, &sum).run();
    expect_same(sum, onefold::reduce(one, x.all, plus{}), "after clear, of " + x.text());
  }
}

TEST(batches_of_operators, leave_absent_values_out) {
  const parted x(7'000);
  const uint64_t n = x.mine.size();
  const layout rows(MPI_COMM_WORLD, n);
  const auto here = rows.on(onefold::openmp());
  const auto one = onefold::serial();
  for (const double above : {-1.0, 0.5, 2.0}) {
    const auto keep = [above](double value) { return value > above ? maybe<double>(value) : maybe<double>(); };
    const auto some = [&x, keep](uint64_t i) { return keep(x.mine[i]); };
    const auto some_of_all = [&x, keep](uint64_t i) { return keep(x.all[i]); };
    double sum = 0;
    onefold::arg_result<double> least{};
    onefold::minmax_result<double> both{};
    batch work(here);
    work.add_transform_reduce(x.mine, plus{}, keep, 0.25, &sum).add(onefold::minmax, n, some, &both);
    if (above < 1) work.add(onefold::argmin, n, some, &least);
    work.run();
    expect_same(sum, onefold::transform_reduce(one, x.all, plus{}, keep, 0.25), "some");
    const auto expected = onefold::minmax(one, x.all.size(), some_of_all);
    expect_same(both, expected, "minmax of some");
    auto later = onefold::mpi::start(onefold::minmax, here, n, some);
    auto most = onefold::mpi::start(onefold::argmax, here, n, some);
    auto pair = onefold::mpi::start(onefold::argminmax, here, n, some);
    if (above < 1) {
      expect_same(least.index, onefold::argmin(one, x.all.size(), some_of_all).index, "argmin of some");
      expect_same(most.wait().index, onefold::argmax(one, x.all.size(), some_of_all).index, "argmax of some");
      expect_same(pair.wait().min.index, least.index, "argminmax of some");
    } else {
      EXPECT_TRUE(refuses(errc::invalid_argument, "there is no index", [&] { static_cast<void>(most.wait()); }));
      EXPECT_TRUE(refuses(errc::invalid_argument, "there is no index", [&] { static_cast<void>(pair.wait()); }));
    }
    expect_same(later.wait(), expected, "minmax of some, started");
  }
}

// --- misuse -----------------------------------------------------------------------------------------------------------------------------------

TEST(started_operators, that_throw_on_one_rank_are_an_error_on_every_rank) {
  on_two_layouts([](const layout& rows, const std::vector<double>& x) {
    const auto here = rows.on(onefold::serial());
    for (const int culprit : culprits()) {
      uint64_t elements = x.size();
      MPI_Bcast(&elements, 1, MPI_UINT64_T, culprit, MPI_COMM_WORLD);
      if (elements == 0) continue;
      const bool other = rank() == culprit;
      const std::string by = "rank " + std::to_string(culprit) + " could not take part";
      const auto f = [&](double value) { return other ? throw problem_of_mine("mine") : value; };
      const auto expect_thrown = [&](const auto& call) {
        if (other)
          EXPECT_THROW(call(), problem_of_mine);
        else
          EXPECT_TRUE(refuses(errc::communication_failed, by, call));
      };
      auto thrown = start_transform_reduce(here, x, plus{}, f);
      auto good = start_reduce(here, x, plus{});
      expect_thrown([&] { static_cast<void>(thrown.wait()); });
      expect_same(good.wait(), onefold::sum(here, x), "one that was under way");
      // In a batch, in a form of the library's and in an operator: neither has a result.
      double sum = 0, own = 0;
      for (const bool in_operator : {false, true}) {
        batch work(here);
        if (in_operator)
          work.add(onefold::sum, x, &sum).add_transform_reduce(x, plus{}, f, &own);
        else
          work.add_reduce(x, plus{}, &own)
              .add(
                  onefold::sum, x.size(), [&](uint64_t i) { return f(x[i]); }, &sum);
        expect_thrown([&] { work.run(); });
        expect_thrown([&] {
          work.start();
          while (!work.test()) {
          }
          work.wait();
        });
      }
      batch work(here);
      work.add(onefold::sum, x, &sum).add_reduce(x, plus{}, &own);
      for (const bool starts : {false, true}) {
        if (other) work.give_up();
        const auto call = [&] {
          starts ? work.start() : work.run();
          if (starts) work.wait();
        };
        if (other)
          EXPECT_NO_THROW(call());
        else
          EXPECT_TRUE(refuses(errc::communication_failed, "rank " + std::to_string(culprit) + " has given the reduction up", call));
      }
      EXPECT_NO_THROW(work.run());
      expect_same(own, onefold::sum(here, x), "the next run");
      // A root alone learns of it.
      for (const int root : culprits()) {
        auto at_root = start_transform_reduce(here.root(root), x, plus{}, f);
        if (other)
          EXPECT_THROW(static_cast<void>(at_root.wait()), problem_of_mine);
        else if (rank() == root)
          EXPECT_TRUE(refuses(errc::communication_failed, by, [&] { static_cast<void>(at_root.wait()); }));
        else
          EXPECT_FALSE(at_root.wait().has_value());
      }
    }
  });
}

TEST(started_operators, that_throw_where_ranks_meet_are_an_error_on_every_rank) {
  if (ranks() == 1) GTEST_SKIP() << "nobody meets";
  // Two values on each rank: their operator is called where states of ranks are put together, and in the result.
  const std::vector<double> x(2, 1.0);
  const layout rows(MPI_COMM_WORLD, x.size());
  const auto here = rows.on(onefold::serial());
  const auto fails = [](double a, double b) { return rank() == 0 ? throw problem_of_mine("mine") : a + b; };
  auto thrown = start_reduce(here, x, fails);
  if (rank() == 0)
    EXPECT_THROW(static_cast<void>(thrown.wait()), problem_of_mine);
  else
    EXPECT_TRUE(refuses(errc::communication_failed, "rank 0 could not take part", [&] { static_cast<void>(thrown.wait()); }));
  EXPECT_EQ(start_reduce(here, x, plus{}).wait(), 2.0 * ranks());
}

TEST(started_operators, of_different_calls_are_an_error_on_every_rank) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const parted x(1'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto here = rows.on(onefold::serial());
  const auto sum = [](const auto& a, const auto& b) { return a + b; };
  const auto narrow = [](double value) { return static_cast<float>(value); };
  for (const int culprit : culprits()) {
    const bool other = rank() == culprit;
    const auto refused = [&](const auto& call) {
      EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", call)) << culprit;
    };
    double a = 0, b = 0;
    float c = 0;
    batch one(here), two(here), narrow_one(here), with_init(here), other_named(here);
    one.add(onefold::sum, x.mine, &b).add_reduce(x.mine, sum, &a);
    two.add(onefold::sum, x.mine, &b).add_reduce(x.mine, sum, &a).add_reduce(x.mine, sum, &b);
    narrow_one.add(onefold::sum, x.mine, &b).add_transform_reduce(x.mine, sum, narrow, &c);
    with_init.add(onefold::sum, x.mine, &b).add_reduce(x.mine, sum, 1.0, &a);
    other_named.add(onefold::prod, x.mine, &b).add_reduce(x.mine, sum, &a);
    for (batch* odd : {&two, &narrow_one, &with_init, &other_named}) {
      batch& mine = other ? *odd : one;
      refused([&] { mine.run(); });
      refused([&] {
        mine.start();
        mine.wait();
      });
    }
    auto later = other ? start_reduce(here, x.mine, sum, 1.0) : start_reduce(here, x.mine, sum);
    refused([&] { static_cast<void>(later.wait()); });
    EXPECT_NO_THROW(one.run()) << "and the next call works";
    expect_same(a, onefold::sum(onefold::serial(), x.all), "the next call");
  }
}

TEST(started_operators, that_cannot_be_met_are_refused_on_every_rank) {
  const std::vector<double> x(10, 1.5);
  const onefold::mpi::communicator world(MPI_COMM_WORLD);
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "make a layout",
                      [&] { static_cast<void>(start_reduce(world.on(onefold::serial()), x, plus{}).wait()); }));
  const layout rows(MPI_COMM_WORLD, x.size());
  double own = 0;
  batch work(rows.on(onefold::serial()));
  work.add_reduce(x, plus{}, &own);
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "no exact result", [&] { work.run(exactly); }));
  work.start();
  EXPECT_TRUE(refuses(errc::invalid_argument, "under way", [&] { work.start(); }));
  double more = -1;
  EXPECT_TRUE(refuses(errc::invalid_argument, "before more is added", [&] { work.add_reduce(x, plus{}, &more); }));
  work.wait();
  EXPECT_EQ(own, 15.0 * ranks());
  EXPECT_EQ(more, -1);
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] {
    static_cast<void>(start_transform_reduce(rows.on(onefold::serial()), -1, plus{}, [](uint64_t) { return 1.0; }).wait());
  }));
}

}  // namespace
}  // namespace onefold_test
