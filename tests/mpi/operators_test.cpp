/// @file operators_test.cpp  Operators of the caller's over ranks: reduce(), transform_reduce() and count_if() have the bits of one core.

#include <array>
#include <atomic>
#include <stdexcept>

#include "ranks.hpp"

namespace onefold_test {
namespace {

using onefold::absent;
using onefold::maybe;

struct large_value {
  std::array<float, 16> of;
};
struct large_sum {
  large_value operator()(large_value a, const large_value& b) const {
    for (std::size_t i = 0; i < a.of.size(); ++i) a.of[i] += b.of[i];
    return a;
  }
};

TEST(operators_over_ranks, have_the_bits_of_one_core) {
  random_numbers random(current_seed());
  for (int round = 0; round < 7; ++round) {
    const uint64_t n = 1 + random.below(round < 3 ? 20 : 3'000);
    const uint64_t seed = random();
    std::vector<tally> all(n);
    std::vector<large_value> large(n);
    const random_numbers values(seed);
    for (uint64_t i = 0; i < n; ++i) {
      all[i] = {1, i, static_cast<double>(values.at(i) >> 12) * 0x1p-52 - 0.4};
      for (std::size_t k = 0; k < large[i].of.size(); ++k)
        large[i].of[k] = static_cast<float>(all[i].rounded) * static_cast<float>(k);
    }
    const char* style = "";
    const auto cuts = cuts_of(n, 128, random, &style);
    const auto me = static_cast<std::size_t>(rank());
    const layout rows(MPI_COMM_WORLD, cuts[me + 1] - cuts[me]);
    const auto part_of = [&](const auto& whole) {
      return std::vector<std::decay_t<decltype(whole[0])>>(whole.begin() + static_cast<std::ptrdiff_t>(cuts[me]),
                                                           whole.begin() + static_cast<std::ptrdiff_t>(cuts[me + 1]));
    };
    const auto mine = part_of(all);
    const auto mine_large = part_of(large);
    const auto here = rows.on(any_executor(random()));
    const auto one = onefold::serial();
    const std::string words = std::to_string(n) + " elements cut " + style;

    const tally total = onefold::reduce(here, mine, tally_up{});
    EXPECT_EQ(total.count, n) << words;
    EXPECT_EQ(total.sum, n * (n - 1) / 2) << words;
    expect_same(total, onefold::reduce(one, all, tally_up{}), "tally of " + words);
    expect_same(onefold::reduce(here, mine_large.data(), mine_large.size(), large_sum{}), onefold::reduce(one, large, large_sum{}),
                "64 bytes of " + words);
    const tally first{10, 20, 0.3};
    expect_same(onefold::reduce(here, mine.data(), mine.size(), tally_up{}, first), onefold::reduce(one, all, tally_up{}, first),
                "initial value of " + words);
    // An operator with memory, and a function of the index, which is called once for each.
    const double scale = 1.0 + 0x1p-30;
    const auto sum = [scale](double a, double b) { return a + b * scale + (a - a * scale); };
    std::vector<std::atomic<int>> asked(mine.size());
    const auto f = [&](uint64_t i) { return ++asked.at(i), mine.at(i).rounded; };
    const double expected = onefold::transform_reduce(one, n, sum, [&](uint64_t i) { return all.at(i).rounded; });
    expect_same(onefold::transform_reduce(here, mine.size(), sum, f), expected, "function of " + words);
    for (const auto& times : asked) ASSERT_EQ(times.load(), 1);
    expect_same(onefold::reduce(here, mine.size(), f, sum), expected, "function of " + words);
    const int root = static_cast<int>(random.below(static_cast<uint64_t>(ranks())));
    const auto at_root = onefold::reduce(here.root(root), mine, tally_up{});
    ASSERT_EQ(at_root.has_value(), rank() == root);
    if (at_root) expect_same(*at_root, total, "at a root of " + words);
  }
}

TEST(operators_over_ranks, of_the_library_take_functions_of_arrays) {
  const parted x(10'001), y(10'001, 2), z(10'001, 3);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto here = rows.on(onefold::openmp());
  const auto one = onefold::serial();
  const auto square = [](double a) { return a * a; };
  const auto product = [](double a, double b) { return a * b; };
  const auto triple = [](double a, double b, double c) { return a * b + c; };
  const onefold::op::sum sum;
  const onefold::op::max max;
  const uint64_t n = x.mine.size(), all = x.all.size();
  expect_same(onefold::transform_reduce(here, x.mine, sum, square), onefold::transform_reduce(one, x.all, sum, square), "1");
  expect_same(onefold::transform_reduce(here, x.mine, y.mine, sum, product),
              onefold::transform_reduce(one, x.all, y.all, sum, product), "2");
  expect_same(onefold::transform_reduce(here, x.mine, y.mine, z.mine, max, triple),
              onefold::transform_reduce(one, x.all, y.all, z.all, max, triple), "3");
  expect_same(onefold::transform_reduce(here, x.mine.data(), n, sum, square), onefold::transform_reduce(one, x.all, sum, square),
              "1");
  expect_same(onefold::transform_reduce(here, x.mine.data(), y.mine.data(), n, sum, product),
              onefold::transform_reduce(one, x.all, y.all, sum, product), "2");
  expect_same(onefold::transform_reduce(here, x.mine.data(), y.mine.data(), z.mine.data(), n, max, triple),
              onefold::transform_reduce(one, x.all, y.all, z.all, max, triple), "3");
  // With an initial value.
  expect_same(onefold::transform_reduce(here, x.mine, sum, square, 0.1), onefold::transform_reduce(one, x.all, sum, square, 0.1),
              "1");
  expect_same(onefold::transform_reduce(here, x.mine, y.mine, sum, product, 0.1),
              onefold::transform_reduce(one, x.all, y.all, sum, product, 0.1), "2");
  expect_same(onefold::transform_reduce(here, x.mine, y.mine, z.mine, max, triple, 9.0),
              onefold::transform_reduce(one, x.all, y.all, z.all, max, triple, 9.0), "3");
  expect_same(onefold::transform_reduce(here, x.mine.data(), n, sum, square, 0.1),
              onefold::transform_reduce(one, x.all, sum, square, 0.1), "1");
  expect_same(onefold::transform_reduce(here, x.mine.data(), y.mine.data(), n, sum, product, 0.1),
              onefold::transform_reduce(one, x.all, y.all, sum, product, 0.1), "2");
  expect_same(onefold::transform_reduce(here, x.mine.data(), y.mine.data(), z.mine.data(), n, max, triple, 9.0),
              onefold::transform_reduce(one, x.all, y.all, z.all, max, triple, 9.0), "3");
  const auto f = [&x](uint64_t i) { return x.mine.at(i); };
  const auto f_of_all = [&x](uint64_t i) { return x.all.at(i); };
  expect_same(onefold::transform_reduce(here, n, sum, f), onefold::transform_reduce(one, all, sum, f_of_all), "index");
  expect_same(onefold::transform_reduce(here, n, sum, f, 0.1), onefold::transform_reduce(one, all, sum, f_of_all, 0.1), "index");
  // And of elements as they are.
  expect_same(onefold::reduce(here, x.mine, sum), onefold::sum(one, x.all), "sum");
  expect_same(onefold::reduce(here, x.mine.data(), n, max), onefold::max(one, x.all), "max");
  expect_same(onefold::reduce(here, x.mine, sum, 0.1), onefold::reduce(one, x.all, sum, 0.1), "sum and a number");
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  expect_same(onefold::transform_reduce(here, x.mine, sum, square, exactly),
              onefold::transform_reduce(one, x.all, sum, square, exactly), "exact");
  const auto large = [](double a) { return a > 0.2; };
  const auto of_all = onefold::count_if(one, x.all, large);
  expect_same(onefold::count_if(here, x.mine, large), of_all, "count_if");
  expect_same(onefold::count_if(here, x.mine.data(), n, large), of_all, "count_if");
  expect_same(onefold::count_if(here, n, [&](uint64_t i) { return large(x.mine[i]); }), of_all, "count_if");
}

TEST(operators_over_ranks, leave_absent_values_out) {
  const parted x(4'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto here = rows.on(onefold::openmp());
  const auto sum = [](double a, double b) { return a + b; };
  for (const double above : {-1.0, 0.5, 2.0}) {
    const auto some = [above](double value) { return value > above ? maybe<double>(value) : maybe<double>(); };
    expect_same(onefold::transform_reduce(here, x.mine, sum, some, 0.25),
                onefold::transform_reduce(onefold::serial(), x.all, sum, some, 0.25), "some");
    if (above < 1) {
      expect_same(onefold::transform_reduce(here, x.mine, sum, some),
                  onefold::transform_reduce(onefold::serial(), x.all, sum, some), "some");
    } else {
      EXPECT_TRUE(refuses(errc::invalid_argument, "no elements",
                          [&] { static_cast<void>(onefold::transform_reduce(here, x.mine, sum, some)); }));
      // An error of those that ask for the result.
      for (const int root : {0, ranks() - 1}) {
        const auto at_root = [&] { static_cast<void>(onefold::transform_reduce(here.root(root), x.mine, sum, some)); };
        if (rank() == root)
          EXPECT_TRUE(refuses(errc::invalid_argument, "no elements", at_root));
        else
          EXPECT_NO_THROW(at_root());
      }
    }
    expect_same(onefold::transform_reduce(here, x.mine, onefold::op::sum{}, some),
                onefold::transform_reduce(onefold::serial(), x.all, onefold::op::sum{}, some), "some, with the library's operator");
  }
}

// --- misuse -----------------------------------------------------------------------------------------------------------------------------------

struct problem_of_mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(operators_over_ranks, that_throw_on_one_rank_are_an_error_on_every_rank) {
  on_two_layouts([](const layout& rows, const std::vector<double>& x) {
    const auto here = rows.on(onefold::openmp());
    for (const int culprit : culprits()) {
      uint64_t elements = x.size();
      MPI_Bcast(&elements, 1, MPI_UINT64_T, culprit, MPI_COMM_WORLD);
      const bool other = rank() == culprit;
      const std::string by = "rank " + std::to_string(culprit) + " could not take part";
      const auto sum = [](double a, double b) { return a + b; };
      const auto f = [&](double value) { return other ? throw problem_of_mine("mine") : value; };
      const auto expect_thrown = [&](const auto& call) {
        if (other)
          EXPECT_THROW(call(), problem_of_mine);
        else
          EXPECT_TRUE(refuses(errc::communication_failed, by, call));
      };
      if (elements > 0) {
        expect_thrown([&] { static_cast<void>(onefold::transform_reduce(here, x, sum, f)); });
        expect_thrown([&] { static_cast<void>(onefold::transform_reduce(here, x, onefold::op::sum{}, f)); });
        const auto fails = [&](double a, double b) { return other ? throw problem_of_mine("mine") : a + b; };
        if (elements > 600) expect_thrown([&] { static_cast<void>(onefold::reduce(here, x, fails)); });
        expect_refused_everywhere(culprit, errc::null_pointer, "null", by,
                                  [&] { static_cast<void>(onefold::reduce(here, other ? nullptr : x.data(), x.size(), sum)); });
        expect_refused_everywhere(culprit, errc::null_pointer, "null", by, [&] {
          static_cast<void>(onefold::transform_reduce(here, other ? nullptr : x.data(), x.size(), onefold::op::sum{},
                                                      [](double value) { return value; }));
        });
      }
      std::vector<double> more = x;
      if (other) more.push_back(1);
      const auto product = [](double a, double b) { return a * b; };
      expect_refused_everywhere(culprit, errc::invalid_argument, "make a layout for each distribution", by,
                                [&] { static_cast<void>(onefold::reduce(here, more, sum)); });
      expect_refused_everywhere(culprit, errc::invalid_argument, "differ in length", by,
                                [&] { static_cast<void>(onefold::transform_reduce(here, x, more, sum, product)); });
      expect_refused_everywhere(culprit, errc::invalid_argument, "differ in length", by,
                                [&] { static_cast<void>(onefold::transform_reduce(here, x, more, onefold::op::sum{}, product)); });
      const std::int64_t count = other ? -1 : static_cast<std::int64_t>(x.size());
      expect_refused_everywhere(culprit, errc::invalid_argument, "negative", by, [&] {
        static_cast<void>(onefold::transform_reduce(here, count, sum, [&](uint64_t i) { return x.at(i); }));
      });
      // Each rank its own executor: what the GPU is asked for is refused there.
      if (elements > 0) {
        const auto call = [&] { static_cast<void>(onefold::reduce(rows.on(other ? onefold::cuda() : onefold::serial()), x, sum)); };
        if (other)
          EXPECT_THROW(call(), onefold::error);
        else
          EXPECT_TRUE(refuses(errc::communication_failed, by, call));
      }
      expect_same(onefold::reduce(here, x, sum), onefold::sum(here, x), "the next call");
    }
  });
}

TEST(operators_over_ranks, of_different_calls_are_an_error_on_every_rank) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const parted x(1'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto here = rows.on(onefold::serial());
  const auto sum = [](const auto& a, const auto& b) { return a + b; };
  for (const int culprit : culprits()) {
    const bool other = rank() == culprit;
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      if (other)
        static_cast<void>(onefold::transform_reduce(here, x.mine, sum, [](double value) { return static_cast<float>(value); }));
      else
        static_cast<void>(onefold::reduce(here, x.mine, sum));
    }));
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      if (other)
        static_cast<void>(onefold::reduce(here, x.mine, sum, 1.0));
      else
        static_cast<void>(onefold::reduce(here, x.mine, sum));
    }));
    // Of one size: the library's operators, and types.
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      if (other)
        static_cast<void>(onefold::reduce(here, x.mine, onefold::op::max{}, 1.0));
      else
        static_cast<void>(onefold::reduce(here, x.mine, onefold::op::sum{}, 1.0));
    }));
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      if (other)
        static_cast<void>(
            onefold::transform_reduce(here, x.mine, sum, [](double value) { return static_cast<std::int64_t>(value); }));
      else
        static_cast<void>(onefold::reduce(here, x.mine, sum));
    }));
  }
}

TEST(operators_over_ranks, that_cannot_be_met_are_refused_on_every_rank) {
  const std::vector<double> x(10, 1.5), none;
  const auto sum = [](double a, double b) { return a + b; };
  const onefold::mpi::communicator world(MPI_COMM_WORLD);
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "make a layout",
                      [&] { static_cast<void>(onefold::reduce(world.on(onefold::serial()), x, sum)); }));
  const layout rows(MPI_COMM_WORLD, x.size()), empty(MPI_COMM_WORLD, 0);
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "no exact result",
                      [&] { static_cast<void>(onefold::reduce(rows.on(onefold::serial()), x, sum, exactly)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "initial value",
                      [&] { static_cast<void>(onefold::reduce(empty.on(onefold::serial()), none, sum)); }));
  expect_same(onefold::reduce(empty.on(onefold::serial()), none, sum, 2.5), 2.5, "no elements");
}

}  // namespace
}  // namespace onefold_test
