/// @file dots_test.cpp  Several dots over ranks, and other calls of which each rank makes a few: started counts, who holds an element, results that are not there.

#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "ranks.hpp"

namespace onefold_test {
namespace {

struct vectors_of_ranks {
  std::vector<std::vector<double>> mine;
  std::vector<std::vector<double>> all;
  vectors_of_ranks(int how_many, uint64_t n) {
    for (int k = 0; k < how_many; ++k) {
      const parted one(n, 10 + static_cast<uint64_t>(k));
      mine.push_back(one.mine);
      all.push_back(one.all);
    }
  }
};

void expect_each(const std::vector<double>& got, const std::vector<double>& expected, const std::string& of) {
  ASSERT_EQ(got.size(), expected.size()) << of;
  for (std::size_t i = 0; i < got.size(); ++i) expect_same(got[i], expected[i], of);
}

TEST(dots_over_ranks, have_the_bits_of_one_core_as_many_as_there_are) {
  for (const uint64_t n : {uint64_t{3}, uint64_t{5'000}, uint64_t{70'001}}) {
    const vectors_of_ranks basis(7, n), others(3, n);
    const layout rows(MPI_COMM_WORLD, basis.mine[0].size());
    const auto here = rows.on(any_executor(n));
    const std::vector<double>& w = others.mine[2];
    const auto expected = onefold::multi_dot(onefold::serial(), basis.all, {others.all[2]});
    expect_each(onefold::multi_dot(here, basis.mine, {w}), expected, "a range of vectors with one");
    expect_each(onefold::multi_dot(here, {basis.mine[1], {basis.mine[0].data(), w.size()}}, others.mine),
                onefold::multi_dot(onefold::serial(), {basis.all[1], basis.all[0]}, others.all), "two with three");
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    expect_each(onefold::multi_dot(here, basis.mine, {w}, exactly),
                onefold::multi_dot(onefold::serial(), basis.all, {others.all[2]}, exactly), "exact");
    const onefold::mpi::communicator anyhow(MPI_COMM_WORLD);
    expect_each(onefold::multi_dot(anyhow.on(onefold::serial()), basis.mine, {w}),
                onefold::multi_dot(onefold::serial(), basis.all, {others.all[2]}, exactly), "without a layout");
    std::vector<double> dots(7);
    double norm = 0;
    onefold::mpi::batch work(here);
    work.add_multi_dot(basis.mine, {w}, dots.data()).add(onefold::norm2, w, &norm).run();
    expect_each(dots, expected, "in a batch");
    expect_same(norm, onefold::norm2(onefold::serial(), others.all[2]), "beside them");
    const int root = ranks() / 2;
    const std::optional<std::vector<double>> there = onefold::multi_dot(here.root(root), basis.mine, {w});
    EXPECT_EQ(there.has_value(), rank() == root);
    if (there) expect_each(*there, expected, "to a root");
  }
}

TEST(dots_over_ranks, that_cannot_be_are_an_error_on_every_rank) {
  const parted x(4'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto here = rows.on(onefold::serial());
  const std::vector<std::vector<double>> many(129, x.mine);
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "129 by 1 dots", [&] { static_cast<void>(onefold::multi_dot(here, many, {x.mine})); }));
  std::vector<double> results(129);
  onefold::mpi::batch work(here);
  EXPECT_TRUE(refuses(errc::invalid_argument, "129 by 1 dots", [&] { work.add_multi_dot(many, {x.mine}, results.data()); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "0 by 1 dots",
                      [&] { static_cast<void>(onefold::multi_dot(here, std::vector<std::vector<double>>(), {x.mine})); }));
  for (const int culprit : culprits()) {
    std::vector<double> other = x.mine;
    if (rank() == culprit) other.push_back(1);
    const std::string elsewhere = "rank " + std::to_string(culprit);
    expect_refused_everywhere(culprit, errc::invalid_argument, "length", elsewhere, [&] {
      static_cast<void>(onefold::multi_dot(here, {x.mine, x.mine}, {other}));
    });
    expect_refused_everywhere(culprit, errc::invalid_argument, "length", elsewhere, [&] {
      static_cast<void>(onefold::multi_dot(here, {x.mine, other}, {x.mine}));
    });
  }
  expect_each(onefold::multi_dot(here, {x.mine}, {x.mine}), onefold::multi_dot(onefold::serial(), {x.all}, {x.all}), "afterwards");
}

TEST(started_counts, are_named_by_their_forms) {
  const parted x(9'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto is_large = [&x](uint64_t i) { return x.mine[i] > 0.55; };
  auto count = onefold::mpi::start<form::count>(rows.on(onefold::serial()), x.mine);
  auto any = onefold::mpi::start<form::any>(rows.on(onefold::serial()), x.mine.size(), is_large);
  auto none = onefold::mpi::start<form::none>(rows.on(onefold::serial()), x.mine.data(), x.mine.size());
  expect_same(count.wait(), onefold::count(onefold::serial(), x.all), "count");
  expect_same(any.wait(), onefold::any(onefold::serial(), x.all.size(), [&x](uint64_t i) { return x.all[i] > 0.55; }), "any");
  expect_same(none.wait(), onefold::none(onefold::serial(), x.all), "none");
}

TEST(a_batch_over_ranks, takes_an_array_for_several_values) {
  const parted x(7'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto both = [&x](uint64_t i) { return std::array<double, 2>{x.mine[i], x.mine[i] * x.mine[i]}; };
  std::array<double, 2> sums{}, others{};
  onefold::mpi::batch work(rows.on(onefold::openmp()));
  work.add(onefold::sum, x.mine.size(), both, &sums).add(onefold::sum, x.mine.size(), both, others.data()).run();
  expect_same(sums,
              onefold::sum(onefold::serial(), x.all.size(),
                           [&x](uint64_t i) {
                             return std::array<double, 2>{x.all[i], x.all[i] * x.all[i]};
                           }),
              "an array");
  expect_same(others, sums, "the first of two");
}

TEST(a_layout, says_which_rank_holds_an_element) {
  // Every third rank has none.
  const uint64_t n = 1'000;
  const auto have_some = [](uint64_t of_ranks) { return of_ranks - (of_ranks + 1) / 3; };
  const auto me = static_cast<uint64_t>(rank());
  const auto before = [&](uint64_t r) { return n * have_some(r) / have_some(static_cast<uint64_t>(ranks())); };
  const layout rows(MPI_COMM_WORLD, before(me + 1) - before(me));
  ASSERT_EQ(rows.total(), n);
  for (const uint64_t index : {uint64_t{0}, uint64_t{1}, n / 2, n - 1}) {
    const int found = rows.rank_of(index);
    EXPECT_EQ(rows.holds(index), found == rank()) << index;
    const auto holder = static_cast<uint64_t>(found);
    EXPECT_TRUE(before(holder) <= index && index < before(holder + 1)) << index << " on " << found;
  }
  EXPECT_FALSE(rows.holds(n));
  EXPECT_TRUE(refuses(errc::invalid_argument, "there is no element 1000", [&] { static_cast<void>(rows.rank_of(n)); }));
  // Meanwhile a reduction may be under way that ranks put together within calls alone.
  const parted x(n);
  const layout others(MPI_COMM_WORLD, x.mine.size());
  auto later = onefold::mpi::start_reduce(others.on(onefold::serial()), x.mine, [](double a, double b) { return a < b ? b : a; });
  EXPECT_EQ(others.rank_of(0), 0);
  expect_same(later.wait(), onefold::max(onefold::serial(), x.all), "an operator that was started before");
}

TEST(a_result_that_is_not_there, is_no_number_when_it_is_asked_for_again) {
  const parted x(3'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  auto good = onefold::mpi::start(onefold::sum, rows.on(onefold::serial()), x.mine);
  const double sum = good.wait();
  expect_same(good.wait(), sum, "waited for twice");
  const int culprit = ranks() - 1;
  const std::vector<double> other(x.mine.size() + (rank() == culprit ? 1 : 0));
  auto bad = onefold::mpi::start(onefold::sum, rows.on(onefold::serial()), other);
  EXPECT_TRUE(
      refuses(rank() == culprit ? errc::invalid_argument : errc::communication_failed, "", [&] { static_cast<void>(bad.wait()); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "no result", [&] { static_cast<void>(bad.wait()); }));
  auto moved = std::move(good);
  EXPECT_TRUE(refuses(errc::invalid_argument, "moved",
                      [&] { static_cast<void>(good.wait()); }));  // NOLINT(bugprone-use-after-move): what is said of it
  expect_same(moved.wait(), sum, "moved");
}

TEST(exact_results_over_ranks, are_refused_where_absolute_values_are_rounded) {
  const std::vector<std::complex<double>> z(100, {3.0, 4.0});
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const layout rows(MPI_COMM_WORLD, z.size());
  const onefold::mpi::communicator anyhow(MPI_COMM_WORLD);
  for (const auto& where : {rows.on(onefold::serial()), anyhow.on(onefold::serial())}) {
    EXPECT_TRUE(
        refuses(errc::guarantee_not_met, "absolute values", [&] { static_cast<void>(onefold::norm_inf(where, z, exactly)); }));
    EXPECT_EQ(onefold::norm_inf(where, z), 5.0);
  }
}

TEST(reports_of_ranks, are_written_where_others_have_all_of_a_tile) {
  const parted x(1'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  onefold::report ran;
  ran.variant = "nothing yet";
  onefold::options how;
  how.report = &ran;
  expect_same(onefold::sum(rows.on(onefold::serial()), x.mine, how), onefold::sum(onefold::serial(), x.all), "sum");
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.guarantee, onefold::guarantee::fixed);
}

}  // namespace
}  // namespace onefold_test
