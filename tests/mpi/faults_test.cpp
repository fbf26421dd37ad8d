/// @file faults_test.cpp  Each call of MPI that the library makes fails in its turn, on each rank: every rank comes back with an error or the right number,
/// nothing is lost, and what is called next on another layout is as if nothing had been.

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <onefold/onefold_mpi.h>

#include "failing_mpi.hpp"
#include "ranks.hpp"

namespace onefold_test {
namespace {

using bits = std::vector<unsigned char>;

template <class... R>
bits bits_of_all(const R&... results) {
  bits all;
  const auto add = [&all](const bits& more) { all.insert(all.end(), more.begin(), more.end()); };
  (add(bits_of(results)), ...);
  return all;
}
// On ranks that are given no result there are none to compare.
template <class R>
bits bits_of_rooted(const std::optional<R>& result) {
  return result ? bits_of(*result) : bits();
}

struct smaller {
  double operator()(double a, double b) const { return b < a ? b : a; }
};
// An order of the values is in its bits.
struct plus {
  double operator()(double a, double b) const { return a + b; }
};

class each_call_of_mpi : public testing::Test {
 protected:
  // Calls call(made) with the k-th call of MPI failing on a rank, for every k, and on each rank in turn; what make() gives is made ahead of it. Unless it is
  // told of an error, a rank is to have the bits of one core.
  template <class Make, class Call>
  void expect_to_fail_alone(const bits& expected, const Make& make, const Call& call) {
    uint64_t failures = 0, told = 0;
    for (int culprit = 0; culprit < ranks(); ++culprit)
      for (uint64_t k = 1;; ++k) {
        const std::string words = "call " + std::to_string(k) + " of rank " + std::to_string(culprit);
        SCOPED_TRACE(words);
        failing_mpi::watch();
        std::string problem;
        bits got;
        {
          const auto made = make();
          failing_mpi::arm(culprit, k);
          try {
            got = call(made);
          } catch (const onefold::error& one) {
            problem = one.what();
            EXPECT_EQ(one.code(), errc::communication_failed) << problem;
          }
        }
        const failing_mpi::remains left = failing_mpi::settle();
        EXPECT_EQ(left.not_freed, 0U) << problem;
        const auto failed = failing_mpi::failed_call();
        const bool is_to_be_told = failed && failed->find("_free") == std::string::npos;  // what frees has nobody to tell
        EXPECT_TRUE(!is_to_be_told || !problem.empty()) << *failed << " has failed, unsaid";
        if (problem.empty()) {
          if (!got.empty()) compare(got, expected, words);
        } else {
          EXPECT_NE(problem.find(" has failed: "), std::string::npos) << problem;
          ++told;
        }
        if (left.was_broken) {
          ++failures;
          ASSERT_LT(k, 300U) << "the call never gets through";
          continue;
        }
        // This time nothing has failed, behind all that has.
        EXPECT_EQ(problem, "");
        EXPECT_EQ(left.under_way, 0U) << "started and not waited for";
        ASSERT_GT(k, 2U) << "almost no call went through: this test proved nothing";
        break;
      }
    if (rank() == 0)
      std::printf("%s: %llu calls failed, of which this rank was told %llu times\n", current_test().c_str(),
                  static_cast<unsigned long long>(failures), static_cast<unsigned long long>(told));
  }
  // On a layout that is cut within tiles, or between them.
  template <class Call>
  void expect_to_fail_alone_on_layouts(const bits& expected, const Call& call) {
    expect_to_fail_alone(
        expected, [this] { return layout(MPI_COMM_WORLD, x_.mine.size()); }, call);
  }

  const parted x_{2000 * 3}, y_{2000 * 3, 2}, far_{2000 * 3, 1, 0x1p60};
  const onefold::executor one_ = onefold::serial();
  const onefold::options exactly_ = [] {
    onefold::options how;
    how.guarantee = onefold::guarantee::exact;
    return how;
  }();
};

struct nothing {};

TEST_F(each_call_of_mpi, of_a_layout_that_is_made) {
  expect_to_fail_alone(
      bits_of_all(onefold::sum(one_, x_.all), uint64_t{x_.all.size()}), [] { return nothing(); },
      [this](nothing) {
        const layout rows(MPI_COMM_WORLD, x_.mine.size());
        return bits_of_all(onefold::sum(rows.on(one_), x_.mine), rows.total());
      });
}

TEST_F(each_call_of_mpi, of_sums_of_ranges_between_tiles) {
  const auto mine = onefold::mpi::aligned_range<double>(x_.all.size(), rank(), ranks());
  expect_to_fail_alone(
      bits_of(onefold::sum(one_, x_.all)), [&mine] { return layout(MPI_COMM_WORLD, mine.size()); },
      [this, &mine](const layout& rows) { return bits_of(onefold::sum(rows.on(one_), x_.all.data() + mine.begin, mine.size())); });
}

TEST_F(each_call_of_mpi, of_dots_of_cut_ranges) {
  expect_to_fail_alone_on_layouts(bits_of(onefold::dot(one_, x_.all, y_.all)),
                                  [this](const layout& rows) { return bits_of(onefold::dot(rows.on(one_), x_.mine, y_.mine)); });
}

TEST_F(each_call_of_mpi, of_a_result_on_one_rank) {
  const auto least = onefold::argmin(one_, x_.all);
  expect_to_fail_alone_on_layouts(bits_of(least), [this](const layout& rows) {
    return bits_of_rooted(onefold::argmin(rows.on(one_).root(ranks() - 1), x_.mine));
  });
}

TEST_F(each_call_of_mpi, of_exact_sums) {
  const double expected = onefold::sum(one_, far_.all, exactly_);
  expect_to_fail_alone(
      bits_of_all(expected, expected), [] { return nothing(); },
      [this](nothing) {
        const onefold::mpi::communicator all(MPI_COMM_WORLD);
        const double first = onefold::sum(all.on(one_), far_.mine);
        const layout rows(MPI_COMM_WORLD, far_.mine.size());
        return bits_of_all(first, onefold::sum(rows.on(one_), far_.mine, exactly_));
      });
}

TEST_F(each_call_of_mpi, of_a_batch) {
  const bits expected = bits_of_all(onefold::norm2(one_, x_.all), onefold::dot(one_, x_.all, y_.all), onefold::min(one_, x_.all),
                                    onefold::reduce(one_, y_.all, plus{}));
  expect_to_fail_alone_on_layouts(expected, [this](const layout& rows) {
    double norm = 0, dot = 0, least = 0, sum = 0;
    onefold::mpi::batch work(rows.on(one_));
    work.add(onefold::norm2, x_.mine, &norm).add(onefold::dot, x_.mine, y_.mine, &dot);
    work.add_reduce(x_.mine, smaller{}, &least).add_reduce(y_.mine, plus{}, &sum);
    work.run();
    return bits_of_all(norm, dot, least, sum);
  });
}

TEST_F(each_call_of_mpi, of_a_reduction_that_is_started) {
  const bits expected = bits_of_all(onefold::sum(one_, x_.all), onefold::sum(one_, far_.all, exactly_));
  expect_to_fail_alone_on_layouts(expected, [this](const layout& rows) {
    double exact = 0;
    onefold::mpi::batch work(rows.on(one_));
    work.add(onefold::sum, far_.mine, &exact);
    work.start(exactly_);
    auto later = onefold::mpi::start(onefold::sum, rows.on(one_), x_.mine);
    while (!later.test()) {
    }
    const double sum = later.wait();
    work.wait();
    return bits_of_all(sum, exact);
  });
}

TEST_F(each_call_of_mpi, of_an_operator_of_the_callers) {
  expect_to_fail_alone_on_layouts(bits_of(onefold::reduce(one_, x_.all, plus{})),
                                  [this](const layout& rows) { return bits_of(onefold::reduce(rows.on(one_), x_.mine, plus{})); });
}

// Which goes on within other calls, whose own failure ends it or does not.
TEST_F(each_call_of_mpi, of_operators_that_are_started) {
  const bits expected =
      bits_of_all(onefold::reduce(one_, x_.all, plus{}), onefold::sum(one_, y_.all), onefold::reduce(one_, y_.all, plus{}));
  expect_to_fail_alone_on_layouts(expected, [this](const layout& rows) {
    auto first = onefold::mpi::start_reduce(rows.on(one_), x_.mine, plus{});
    auto second = onefold::mpi::start_reduce(rows.on(one_).root(1), y_.mine, plus{});
    const double between = onefold::sum(rows.on(one_), y_.mine);
    const auto at_root = second.wait();
    const double last = first.wait();
    return at_root ? bits_of_all(last, between, *at_root) : bits();
  });
}

// What a rank has called is compared ahead of it, and an element is asked for.
TEST_F(each_call_of_mpi, of_calls_that_are_compared) {
  if (rank() == 0) ::setenv("ONEFOLD_MPI_CHECK", "1", 1);
  const int last = ranks() - 1;
  expect_to_fail_alone_on_layouts(bits_of_all(onefold::max(one_, x_.all), last), [this](const layout& rows) {
    const double greatest = onefold::max(rows.on(one_), x_.mine);
    return bits_of_all(greatest, rows.rank_of(rows.total() - 1));
  });
  ::unsetenv("ONEFOLD_MPI_CHECK");
}

TEST_F(each_call_of_mpi, of_calls_in_c) {
  struct destroy {
    void operator()(onefold_mpi_layout* of) const { onefold_mpi_layout_destroy(of); }
  };
  const auto check = [](int status) {
    if (status != 0) throw onefold::error(static_cast<errc>(status), onefold_mpi_last_error());
  };
  expect_to_fail_alone(
      bits_of(onefold::dot(one_, x_.all, y_.all)), [] { return nothing(); },
      [this, &check](nothing) {
        onefold_mpi_layout* made = nullptr;
        const int status = onefold_mpi_layout_create(MPI_COMM_WORLD, x_.mine.size(), &made);
        const std::unique_ptr<onefold_mpi_layout, destroy> rows(made);
        EXPECT_EQ(status == 0, rows != nullptr);
        check(status);
        double dot = 0;
        check(onefold_mpi_dot_f64(rows.get(), onefold_serial(), x_.mine.data(), y_.mine.data(), x_.mine.size(), &dot));
        return bits_of(dot);
      });
}

class shared_among_ranks : public testing::Environment {
 public:
  void SetUp() override { failing_mpi::start(); }
  void TearDown() override { failing_mpi::stop(); }
};
const testing::Environment* const memory = testing::AddGlobalTestEnvironment(new shared_among_ranks);

}  // namespace
}  // namespace onefold_test
