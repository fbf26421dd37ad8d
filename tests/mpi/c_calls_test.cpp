/// @file c_calls_test.cpp  onefold_mpi.h has the bits of one core, for every form and type, and what it refuses it refuses on all ranks.

#include <complex>
#include <memory>
#include <utility>

#include <onefold/onefold_mpi.h>

#include "c_calls.h"
#include "ranks.hpp"

namespace onefold_test {
namespace {

struct destroys_layout {
  void operator()(onefold_mpi_layout* of) const { onefold_mpi_layout_destroy(of); }
};
using c_layout = std::unique_ptr<onefold_mpi_layout, destroys_layout>;

c_layout layout_of(uint64_t count) {
  onefold_mpi_layout* made = nullptr;
  EXPECT_EQ(onefold_mpi_layout_create(MPI_COMM_WORLD, count, &made), ONEFOLD_OK) << onefold_mpi_last_error();
  return c_layout(made);
}

onefold_executor any_c_executor(uint64_t seed) { return onefold::detail::c_executor(any_executor(seed)); }

onefold_request request_of(const kind& of, onefold_executor where, const std::byte* x, const std::byte* y, uint64_t count,
                           void* result) {
  onefold_request what =
      onefold_mpi_request(static_cast<int32_t>(of.what), static_cast<int32_t>(of.type), where, x, y, count, result);
  if (of.wide) what.flags = ONEFOLD_WIDE;
  what.ddof = 1;
  return what;
}

void expect_ok(int status) { EXPECT_EQ(status, ONEFOLD_OK) << onefold_mpi_last_error(); }

// What a call of C is refused with, where C++ would throw.
template <class Call>
auto thrown(const Call& call) {
  return [&call] {
    const int status = call();
    if (status != ONEFOLD_OK) throw onefold::error(static_cast<errc>(status), onefold_mpi_last_error());
  };
}

TEST(c_over_ranks, every_form_of_every_type_has_the_bits_of_one_core) {
  random_numbers random(current_seed());
  int kinds = 0;
  for (const kind& of : every_kind()) {
    const uint64_t n = 1 + random.below(4 * of.tile());
    const arrays in(of, n, random(), random.below(2) == 0);
    const char* style = "";
    const auto cuts = cuts_of(n, of.tile(), random, &style);
    const auto me = static_cast<std::size_t>(rank());
    const uint64_t begin = cuts[me], count = cuts[me + 1] - begin;
    onefold_mpi_layout* made = nullptr;
    expect_ok(onefold_mpi_layout_create_range(MPI_COMM_WORLD, begin, begin + count, &made));
    const c_layout rows(made);
    ASSERT_EQ(onefold_mpi_layout_begin(made), begin);
    ASSERT_EQ(onefold_mpi_layout_total(made), n);
    alignas(64) unsigned char result[64] = {};
    const onefold_request what = request_of(of, any_c_executor(random()), in.x(begin), in.y(begin), count, result);
    const auto root = static_cast<int>(random.below(static_cast<uint64_t>(ranks()) + 1)) - 1;
    if (random.below(2) == 0) {
      expect_ok(onefold_mpi_reduce(made, root, &what, 1, nullptr));
    } else {
      onefold_mpi_pending* started = nullptr;
      expect_ok(onefold_mpi_start(made, root, &what, 1, nullptr, &started));
      int done = 2;
      expect_ok(onefold_mpi_test(started, &done));
      EXPECT_TRUE(done == 0 || done == 1);
      expect_ok(onefold_mpi_wait(started));
    }
    ++kinds;
    if (root != ONEFOLD_MPI_ALL_RANKS && root != rank()) continue;
    const auto expected = on_one_core(of, in, n);
    compare(std::vector<unsigned char>(result, result + expected.size()), expected, text(of) + " by C, cut " + style);
  }
  EXPECT_GT(kinds, 300);
}

TEST(c_over_ranks, the_calls_of_a_c_program_do) {
  const parted in(3 * 4321, 1, 0x1p60);
  const auto rows = layout_of(in.mine.size());
  c_results found{};
  expect_ok(named_forms_of_c(rows.get(), in.mine.data(), in.mine.size(), &found));
  const std::vector<double>& all = in.all;
  using onefold::serial;
  expect_same(found.sum, onefold::sum(serial(), all), "sum");
  expect_same(found.dot, onefold::dot(serial(), all, all), "dot");
  expect_same(found.norm2, onefold::norm2(serial(), all), "norm2");
  expect_same(found.largest, onefold::max(serial(), all), "max");
  const auto place = onefold::argmin(serial(), all);
  expect_same(found.smallest.value, place.value, "argmin");
  expect_same(found.smallest.index, place.index, "argmin's index");
  expect_same(found.of_function, onefold::sum(serial(), all.size(), [&](uint64_t i) { return 2 * all[i] + 1; }), "a function");
  expect_same(found.dots[0], onefold::dot(serial(), all, all), "the first of several dots");
  expect_same(found.dots[1], onefold::dot(serial(), all, all), "the second");
  const auto farther = [](double a, double b) {
    return std::abs(a) == std::abs(b) ? std::max(a, b) : std::abs(a) > std::abs(b) ? a : b;
  };
  expect_same(found.farthest[0], onefold::reduce(serial(), all, farther), "an operator of its own");
  const auto of_function = [&](double x) { return 2 * x + 1; };
  expect_same(found.farthest[1], onefold::transform_reduce(serial(), all, farther, of_function), "of a function's values");
  const std::vector<float> floats(in.mine.begin(), in.mine.end()), ones(floats.size(), 1.0F), all_floats(all.begin(), all.end()),
      all_ones(all.size(), 1.0F);
  const float* const x[] = {floats.data(), ones.data()};
  float four[4] = {};
  expect_ok(onefold_mpi_multi_dot_f32(rows.get(), onefold_openmp(0), x, 2, x, 2, floats.size(), four));
  const auto expected_dots = onefold::multi_dot(serial(), {all_floats, all_ones}, {all_floats, all_ones});
  for (std::size_t k = 0; k < 4; ++k) expect_same(four[k], expected_dots[k], "dot " + std::to_string(k) + " of four of floats");
  onefold::mean_variance_result<double> moments{};
  for (const int ddof : {0, 2}) {
    onefold_request of_moments = onefold_mpi_request(ONEFOLD_MEAN_VARIANCE, ONEFOLD_F64, onefold_serial(), in.mine.data(), nullptr,
                                                     in.mine.size(), &moments);
    of_moments.ddof = ddof;
    expect_ok(onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_moments, 1, nullptr));
    expect_same(moments, onefold::mean_variance(serial(), all, onefold::ddof{ddof}), "ddof");
  }
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  expect_exact(found.exact_sum, onefold::sum(serial(), all, exactly), onefold::sum(serial(), all), "exact sum");
  EXPECT_EQ(found.holder, ranks() - 1) << "of the last element";

  // Without an order.
  onefold_mpi_layout* made = nullptr;
  expect_ok(onefold_mpi_layout_create_unordered(MPI_COMM_WORLD, &made));
  const c_layout anywhere(made);
  double sum = 0;
  expect_ok(onefold_mpi_sum_f64(made, onefold_openmp(0), in.mine.data(), in.mine.size(), &sum));
  expect_same(sum, found.exact_sum, "without a layout");
  onefold_mpi_layout* of_fortran = nullptr;
  expect_ok(onefold_mpi_layout_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), in.mine.size(), &of_fortran));
  const c_layout rows_of_fortran(of_fortran);
  expect_ok(onefold_mpi_sum_f64(of_fortran, onefold_serial(), in.mine.data(), in.mine.size(), &sum));
  expect_same(sum, found.sum, "with a communicator of Fortran's");
}

TEST(c_over_ranks, functions_of_several_values_means_of_some_and_dots_of_two_types_do) {
  const parted in(9000);
  const auto rows = layout_of(in.mine.size());
  struct given {
    const double* x;
    uint64_t present;
  } mine{in.mine.data(), 0};
  // Of every third value nothing is there.
  const uint64_t begin = onefold_mpi_layout_begin(rows.get());
  std::vector<double> some(in.mine), all_some(in.all);
  uint64_t present = 0;
  for (std::size_t i = 0; i < all_some.size(); ++i) {
    if (i % 3 == 0) all_some[i] = -0.0;
    present += i % 3 == 0 ? 0 : 1;
    if (i >= begin && i < begin + some.size()) {
      some[i - begin] = all_some[i];
      mine.present += i % 3 == 0 ? 0 : 1;
    }
  }
  const onefold_value_source two{&mine, [](void* context, uint64_t first, uint64_t count, void* const* values) {
                                   const double* const x = static_cast<given*>(context)->x;
                                   for (uint64_t i = 0; i < count; ++i) {
                                     static_cast<double*>(values[0])[i] = x[first + i];
                                     static_cast<double*>(values[1])[i] = -2 * x[first + i];
                                   }
                                   return 0;
                                 }};
  mine.x = in.mine.data();
  double sums[2] = {}, together[2] = {};
  onefold_request what[2] = {
      onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, onefold_openmp(0), nullptr, nullptr, in.mine.size(), sums),
      onefold_mpi_request(ONEFOLD_REDUCE_TOGETHER, ONEFOLD_F64, onefold_openmp(0), nullptr, nullptr, in.mine.size(), together)};
  {
    std::uint8_t operators[2] = {ONEFOLD_OP_SUM, ONEFOLD_OP_MIN};
    for (onefold_request& each : what) {
      each.source = &two;
      each.results = 2;
    }
    what[1].operators = operators;
    onefold_mpi_pending* started = nullptr;
    expect_ok(onefold_mpi_start(rows.get(), ONEFOLD_MPI_ALL_RANKS, what, 2, nullptr, &started));
    operators[1] = 0xff;  // are not needed any more
    expect_ok(onefold_mpi_wait(started));
  }
  std::vector<double> other(in.all);
  for (double& x : other) x *= -2;
  expect_same(sums[0], onefold::sum(onefold::serial(), in.all), "the first of two values");
  expect_same(sums[1], onefold::sum(onefold::serial(), other), "the second");
  expect_same(together[0], sums[0], "together, a sum");
  expect_same(together[1], onefold::min(onefold::serial(), other), "together, a minimum");

  const onefold_value_source some_values{&mine, [](void* context, uint64_t first, uint64_t count, void* const* values) {
                                           std::memcpy(values[0], static_cast<given*>(context)->x + first, count * sizeof(double));
                                           return 0;
                                         }};
  mine.x = some.data();
  double mean = 0;
  onefold_request of_some = onefold_mpi_request(ONEFOLD_MEAN, ONEFOLD_F64, onefold_serial(), nullptr, nullptr, some.size(), &mean);
  of_some.source = &some_values;
  of_some.present = [](void* context) { return static_cast<given*>(context)->present; };
  expect_ok(onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_some, 1, nullptr));
  expect_same(mean, onefold::sum(onefold::serial(), all_some) / static_cast<double>(present), "mean of some");
  // Two means of them.
  const onefold_value_source twice{&mine, [](void* context, uint64_t first, uint64_t count, void* const* values) {
                                     const double* const from = static_cast<given*>(context)->x + first;
                                     for (uint64_t i = 0; i < count; ++i) {
                                       static_cast<double*>(values[0])[i] = from[i];
                                       static_cast<double*>(values[1])[i] = 2 * from[i];
                                     }
                                     return 0;
                                   }};
  double means[2] = {};
  of_some.source = &twice;
  of_some.results = 2;
  of_some.output = means;
  expect_ok(onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_some, 1, nullptr));
  expect_same(means[0], mean, "the first of two means of some");
  expect_same(means[1], 2 * mean, "the second");

  std::vector<float> floats(in.mine.begin(), in.mine.end()), all_floats(in.all.begin(), in.all.end());
  double mixed = 0;
  onefold_request of_two =
      onefold_mpi_request(ONEFOLD_DOT, ONEFOLD_F32, onefold_serial(), floats.data(), in.mine.data(), floats.size(), &mixed);
  of_two.second_type = 1 + ONEFOLD_F64;
  expect_ok(onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_two, 1, nullptr));
  expect_same(mixed, onefold::dot(onefold::serial(), all_floats, in.all), "dot of two types");
}

TEST(c_over_ranks, tell_what_ran_and_which_ranges_are_whole) {
  uint64_t begin = 1, end = 0;
  expect_ok(onefold_mpi_aligned_range(ONEFOLD_F64, 9000, rank(), ranks(), &begin, &end));
  const auto range = onefold::mpi::aligned_range<double>(9000, rank(), ranks());
  EXPECT_EQ(begin, range.begin);
  EXPECT_EQ(end, range.end);
  const auto expect_range = [](int32_t type, const onefold::index_range& expected) {
    uint64_t of_begin = 1, of_end = 0;
    expect_ok(onefold_mpi_aligned_range(type, 100'001, rank(), ranks(), &of_begin, &of_end));
    EXPECT_EQ(of_begin, expected.begin) << type;
    EXPECT_EQ(of_end, expected.end) << type;
  };
  expect_range(ONEFOLD_I8, onefold::mpi::aligned_range<std::int8_t>(100'001, rank(), ranks()));
  expect_range(ONEFOLD_U16, onefold::mpi::aligned_range<std::uint16_t>(100'001, rank(), ranks()));
  expect_range(ONEFOLD_F32, onefold::mpi::aligned_range<float>(100'001, rank(), ranks()));
  expect_range(ONEFOLD_C128, onefold::mpi::aligned_range<std::complex<double>>(100'001, rank(), ranks()));
  const std::vector<double> x(end - begin, 0.25);
  const auto rows = layout_of(x.size());
  EXPECT_EQ(onefold_mpi_layout_is_aligned(rows.get(), ONEFOLD_F64), 1);
  const auto cut = layout_of(101);
  EXPECT_EQ(onefold_mpi_layout_is_aligned(cut.get(), ONEFOLD_F64), ranks() == 1 ? 1 : 0);
  EXPECT_EQ(onefold_mpi_layout_is_aligned(cut.get(), 99), 0);
  EXPECT_TRUE(refuses(errc::invalid_argument, "more than an array can have",
                      thrown([&] { return onefold_mpi_aligned_range(ONEFOLD_F64, ~uint64_t{4}, rank(), ranks(), &begin, &end); })));
  onefold_mpi_layout* made = nullptr;
  expect_ok(onefold_mpi_layout_create_unordered(MPI_COMM_WORLD, &made));
  const c_layout anywhere(made);
  EXPECT_EQ(onefold_mpi_layout_is_aligned(made, ONEFOLD_F64), 0);
  int holder = 0;
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "no element has an index", thrown([&] { return onefold_mpi_rank_of(made, 0, &holder); })));
  // Whole tiles of doubles, of which two are one of floats and eight one of bytes.
  const auto halves = layout_of(512);
  const std::pair<int32_t, bool> which[] = {
      {ONEFOLD_F64, true}, {ONEFOLD_F32, ranks() == 1}, {ONEFOLD_F16, ranks() == 1}, {ONEFOLD_U8, ranks() == 1}};
  for (const auto& [type, is_aligned] : which)
    EXPECT_EQ(onefold_mpi_layout_is_aligned(halves.get(), type), is_aligned ? 1 : 0) << type;
  const auto two_tiles = layout_of(1024);
  EXPECT_EQ(onefold_mpi_layout_is_aligned(two_tiles.get(), ONEFOLD_F32), 1);
  EXPECT_EQ(onefold_mpi_layout_is_aligned(two_tiles.get(), ONEFOLD_F16), ranks() == 1 ? 1 : 0);

  onefold_report ran{};
  ran.struct_bytes = sizeof(ran);
  onefold_options how{};
  how.struct_bytes = sizeof(how);
  how.report = &ran;
  double sum = 0;
  const onefold_request what = onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, onefold_serial(), x.data(), nullptr, x.size(), &sum);
  expect_ok(onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &what, 1, &how));
  expect_same(sum, 2250.0, "9000 quarters");
  EXPECT_EQ(ran.struct_bytes, sizeof(ran));
  EXPECT_EQ(std::string_view(ran.variant), "fixed_order");
  EXPECT_EQ(ran.guarantee, ONEFOLD_GUARANTEE_FIXED);
  // What ran here is what it would have been alone.
  const std::vector<double> many(200'000, 0.25);
  const auto rows_of_many = layout_of(many.size());
  const onefold_request of_many =
      onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, onefold_openmp(2), many.data(), nullptr, many.size(), &sum);
  expect_ok(onefold_mpi_reduce(rows_of_many.get(), ONEFOLD_MPI_ALL_RANKS, &of_many, 1, &how));
  EXPECT_GE(ran.threads, 1);
  EXPECT_EQ(ran.backend, ONEFOLD_OPENMP);
  how.variant = "no_such";
  EXPECT_NE(onefold_mpi_reduce(rows_of_many.get(), ONEFOLD_MPI_ALL_RANKS, &of_many, 1, &how), ONEFOLD_OK);
  how.variant = nullptr;
  how.knobs.block_size = -1;
  EXPECT_NE(onefold_mpi_reduce(rows_of_many.get(), ONEFOLD_MPI_ALL_RANKS, &of_many, 1, &how), ONEFOLD_OK);
}

TEST(c_over_ranks, what_one_rank_does_wrong_is_an_error_on_all) {
  const parted in(5000);
  const auto rows = layout_of(in.mine.size());
  for (const int culprit : culprits()) {
    const bool is_wrong = rank() == culprit;
    double sum = 0;
    expect_refused_everywhere(culprit, errc::invalid_argument, "the layout has", "could not take part", thrown([&] {
                                return onefold_mpi_sum_f64(rows.get(), onefold_serial(), in.mine.data(),
                                                           in.mine.size() - (is_wrong ? 1 : 0), &sum);
                              }));
    expect_refused_everywhere(culprit, errc::null_pointer, "null", "could not take part", thrown([&] {
                                return onefold_mpi_sum_f64(rows.get(), onefold_serial(), is_wrong ? nullptr : in.mine.data(),
                                                           in.mine.size(), &sum);
                              }));
    const onefold_request what =
        onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, onefold_serial(), in.mine.data(), nullptr, in.mine.size(), &sum);
    if (is_wrong) {
      expect_ok(onefold_mpi_give_up(rows.get(), ONEFOLD_MPI_ALL_RANKS, &what, 1, nullptr));
    } else {
      EXPECT_TRUE(refuses(errc::communication_failed, "given the reduction up",
                          thrown([&] { return onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &what, 1, nullptr); })));
    }
    // A misaligned result, and tables of several dots, of C's alone.
    alignas(double) unsigned char bytes[2 * sizeof(double)];
    expect_refused_everywhere(culprit, errc::misaligned_pointer, "not aligned", "could not take part", thrown([&] {
                                onefold_request misplaced = what;
                                misplaced.output = bytes + (is_wrong ? 1 : 0);
                                return onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &misplaced, 1, nullptr);
                              }));
    const void* const table[] = {in.mine.data()};
    const onefold_vectors vectors{table, is_wrong ? nullptr : table, 1, 1};
    onefold_request of_dots = what;
    of_dots.form = ONEFOLD_DOT;
    of_dots.input = nullptr;
    of_dots.vectors = &vectors;
    expect_refused_everywhere(culprit, errc::null_pointer, "null", "could not take part",
                              thrown([&] { return onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_dots, 1, nullptr); }));
    if (is_wrong) {
      expect_ok(onefold_mpi_give_up(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_dots, 1, nullptr));
    } else {
      EXPECT_TRUE(refuses(errc::communication_failed, "given the reduction up",
                          thrown([&] { return onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_dots, 1, nullptr); })));
    }
    // Another ddof is another result.
    onefold::mean_variance_result<double> moments{};
    onefold_request of_moments = onefold_mpi_request(ONEFOLD_MEAN_VARIANCE, ONEFOLD_F64, onefold_serial(), in.mine.data(), nullptr,
                                                     in.mine.size(), &moments);
    of_moments.ddof = is_wrong ? 1 : 0;
    onefold_options exactly{};
    exactly.struct_bytes = sizeof(exactly);
    exactly.guarantee = ONEFOLD_GUARANTEE_EXACT;
    for (const onefold_options* how :
         {static_cast<const onefold_options*>(nullptr), static_cast<const onefold_options*>(&exactly)}) {
      if (ranks() == 1) break;
      EXPECT_TRUE(refuses(errc::communication_failed, "",
                          thrown([&] { return onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_moments, 1, how); })));
    }
    // Its own come out of wait().
    onefold_request wrong = what;
    if (is_wrong) wrong.input = nullptr;
    onefold_mpi_pending* started = nullptr;
    expect_ok(onefold_mpi_start(rows.get(), ONEFOLD_MPI_ALL_RANKS, &wrong, 1, nullptr, &started));
    expect_refused_everywhere(culprit, errc::null_pointer, "null", "could not take part",
                              thrown([&] { return onefold_mpi_wait(started); }));
    // A callback that is none, or fails.
    onefold_value_source none{nullptr, [](void*, uint64_t, uint64_t count, void* const* values) {
                                std::memset(values[0], 0, count * sizeof(double));
                                return 0;
                              }};
    if (is_wrong) none.fill = nullptr;
    onefold_request of_none = what;
    of_none.input = nullptr;
    of_none.source = &none;
    expect_refused_everywhere(culprit, errc::null_pointer, "fill", "could not take part",
                              thrown([&] { return onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_none, 1, nullptr); }));
    int fails = is_wrong ? 1 : 0;
    const onefold_value_source source{&fails, [](void* context, uint64_t, uint64_t count, void* const* values) {
                                        std::memset(values[0], 0, count * sizeof(double));
                                        return *static_cast<int*>(context);
                                      }};
    onefold_request of_function = what;
    of_function.input = nullptr;
    of_function.source = &source;
    expect_refused_everywhere(culprit, errc::callback_failed, "", "could not take part", thrown([&] {
                                return onefold_mpi_reduce(rows.get(), ONEFOLD_MPI_ALL_RANKS, &of_function, 1, nullptr);
                              }));
  }
  double sum = 0;
  expect_ok(onefold_mpi_sum_f64(rows.get(), onefold_serial(), in.mine.data(), in.mine.size(), &sum));
  expect_same(sum, onefold::sum(onefold::serial(), in.all), "afterwards");
}

// Sums, whose bits depend on the order, of values of which every third one may be absent.
struct c_sums {
  const double* x;
  uint64_t first;  // of the whole array
  int fails = 0;

  static int combine(void* context, void* a, const void* b, uint64_t count) {
    auto* const to = static_cast<double*>(a);
    for (uint64_t i = 0; i < count; ++i) to[i] += static_cast<const double*>(b)[i];
    return context == nullptr ? 0 : static_cast<const c_sums*>(context)->fails;
  }
  static int fill(void* context, uint64_t first, uint64_t count, void* const* values) {
    const auto& of = *static_cast<const c_sums*>(context);
    std::memcpy(values[0], of.x + first, count * sizeof(double));
    auto* const present = static_cast<unsigned char*>(values[1]);
    for (uint64_t i = 0; present != nullptr && i < count; ++i) present[i] = is_there(of.first + first + i) ? 1 : 0;
    return of.fails;
  }
  static bool is_there(uint64_t i) { return i % 3 != 0; }
};
onefold_mpi_own_request own_request(const onefold_own_operator& of, onefold_executor where, uint64_t count, double* output) {
  onefold_mpi_own_request what{};
  what.struct_bytes = sizeof(what);
  what.of = &of;
  what.where = where;
  what.count = count;
  what.output = output;
  return what;
}

TEST(c_over_ranks, operators_of_its_own_have_the_bits_of_one_core) {
  random_numbers random(current_seed());
  const onefold_own_operator sums{sizeof(sums), nullptr, sizeof(double), 0, &c_sums::combine};
  const onefold_own_operator some_sums{sizeof(some_sums), nullptr, sizeof(double), 1, &c_sums::combine};
  const auto add = [](double a, double b) { return a + b; };
  for (int round = 0; round < 40; ++round) {
    const uint64_t n = 2 + random.below(round % 2 == 0 ? 5000 : 40);  // at least one value is there
    const parted in(n, random());
    const char* style = "";
    const auto cuts = cuts_of(n, 512, random, &style);
    const auto me = static_cast<std::size_t>(rank());
    const uint64_t begin = cuts[me], count = cuts[me + 1] - begin;
    onefold_mpi_layout* made = nullptr;
    expect_ok(onefold_mpi_layout_create_range(MPI_COMM_WORLD, begin, begin + count, &made));
    const c_layout rows(made);
    c_sums mine{in.all.data() + begin, begin};
    const onefold_value_source source{&mine, &c_sums::fill};
    const onefold_executor where = any_c_executor(random());
    const auto root = static_cast<int>(random.below(static_cast<uint64_t>(ranks()) + 1)) - 1;
    const bool has_result = root < 0 || root == rank();
    double found[3] = {1, 2, 3};
    onefold_mpi_own_request what[3];
    for (int k = 0; k < 3; ++k) what[k] = own_request(k == 2 ? some_sums : sums, where, count, has_result ? found + k : nullptr);
    what[0].input = mine.x;
    what[1].source = what[2].source = &source;
    if (random.below(2) == 0) {
      expect_ok(onefold_mpi_reduce_own(made, root, what, 3, nullptr));
    } else {
      onefold_mpi_pending* started = nullptr;
      expect_ok(onefold_mpi_start_own(made, root, what, 3, nullptr, &started));
      std::memset(static_cast<void*>(what), 0, sizeof(what));  // which nobody needs any more
      int done = 0;
      expect_ok(onefold_mpi_test(started, &done));
      expect_ok(onefold_mpi_wait(started));
    }
    if (!has_result) continue;
    const std::string of = std::string("sums by an operator of C, cut ") + style;
    expect_same(found[0], onefold::reduce(onefold::serial(), in.all, add), of);
    expect_same(found[1], onefold::reduce(onefold::serial(), in.all, add), of + ", of a function's values");
    const auto some = [&](uint64_t i) { return onefold::maybe<double>(in.all[i], c_sums::is_there(i)); };
    expect_same(found[2], onefold::transform_reduce(onefold::serial(), n, add, some), of + ", of which some are absent");
  }
}

TEST(c_over_ranks, what_one_rank_does_wrong_with_its_operator_is_an_error_on_all) {
  const parted in(20'000);  // so that each rank has a whole tile, for which its operator is called
  const auto rows = layout_of(in.mine.size());
  c_sums mine{in.mine.data(), 0};
  onefold_own_operator sums{sizeof(sums), &mine, sizeof(double), 0, &c_sums::combine};
  double sum = 0;
  const auto run = [&](const onefold_mpi_own_request& what) { return onefold_mpi_reduce_own(rows.get(), -1, &what, 1, nullptr); };
  onefold_mpi_own_request right = own_request(sums, onefold_openmp(2), in.mine.size(), &sum);
  right.input = mine.x;
  for (const int culprit : culprits()) {
    const bool is_wrong = rank() == culprit;
    onefold_mpi_own_request what = right;
    if (is_wrong) --what.count;
    expect_refused_everywhere(culprit, errc::invalid_argument, "the layout has", "could not take part",
                              thrown([&] { return run(what); }));
    what = right;
    if (is_wrong) what.input = nullptr;
    expect_refused_everywhere(culprit, errc::null_pointer, "null", "could not take part", thrown([&] { return run(what); }));
    what = right;
    if (is_wrong) what.output = nullptr;
    expect_refused_everywhere(culprit, errc::null_pointer, "null", "could not take part", thrown([&] { return run(what); }));
    mine.fails = is_wrong ? 7 : 0;
    expect_refused_everywhere(culprit, errc::callback_failed, "7", "could not take part", thrown([&] { return run(right); }));
    onefold_mpi_pending* started = nullptr;
    expect_ok(onefold_mpi_start_own(rows.get(), -1, &right, 1, nullptr, &started));
    expect_refused_everywhere(culprit, errc::callback_failed, "7", "could not take part",
                              thrown([&] { return onefold_mpi_wait(started); }));
    mine.fails = 0;
    if (is_wrong) {
      expect_ok(onefold_mpi_give_up_own(rows.get(), -1, &right, 1, nullptr));
    } else {
      EXPECT_TRUE(refuses(errc::communication_failed, "given the reduction up", thrown([&] { return run(right); })));
    }
    if (ranks() == 1) continue;
    const onefold_own_operator others{sizeof(others), nullptr, sizeof(double), is_wrong ? 1U : 0U, &c_sums::combine};
    what = right;
    what.of = &others;
    EXPECT_TRUE(refuses(errc::communication_failed, "same reductions", thrown([&] { return run(what); })));
  }
  // Of nothing; and of values of which none is there.
  const auto nothing = layout_of(0);
  onefold_mpi_own_request what = own_request(sums, onefold_serial(), 0, &sum);
  EXPECT_TRUE(refuses(errc::invalid_argument, "no elements",
                      thrown([&] { return onefold_mpi_reduce_own(nothing.get(), -1, &what, 1, nullptr); })));
  const onefold_own_operator some_sums{sizeof(some_sums), nullptr, sizeof(double), 1, &c_sums::combine};
  const onefold_value_source absent{nullptr, [](void*, uint64_t, uint64_t count, void* const* values) {
                                      std::memset(values[0], 255, count * sizeof(double));
                                      std::memset(values[1], 0, count);
                                      return 0;
                                    }};
  what = own_request(some_sums, onefold_serial(), in.mine.size(), &sum);
  what.source = &absent;
  EXPECT_TRUE(refuses(errc::invalid_argument, "no elements", thrown([&] { return run(what); })));
  // Without an order there is no such result, and no exact one.
  onefold_mpi_layout* made = nullptr;
  expect_ok(onefold_mpi_layout_create_unordered(MPI_COMM_WORLD, &made));
  const c_layout anywhere(made);
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "knows no order",
                      thrown([&] { return onefold_mpi_reduce_own(made, -1, &right, 1, nullptr); })));
  onefold_options how{};
  how.struct_bytes = sizeof(how);
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "no exact result",
                      thrown([&] { return onefold_mpi_reduce_own(rows.get(), -1, &right, 1, &how); })));
  // What is none is refused before anything is sent.
  const auto refused = [&](errc code, const char* sentence, const auto& change) {
    onefold_mpi_own_request changed = right;
    onefold_own_operator of = sums;
    changed.of = &of;
    change(changed, of);
    EXPECT_TRUE(refuses(code, sentence, thrown([&] { return run(changed); })));
  };
  using request = onefold_mpi_own_request;
  using own_operator = onefold_own_operator;
  refused(errc::null_pointer, "request.of", [](request& changed, own_operator&) { changed.of = nullptr; });
  refused(errc::invalid_argument, "sizeof", [](request& changed, own_operator&) { changed.struct_bytes = 8; });
  refused(errc::invalid_argument, "both", [&](request& changed, own_operator&) { changed.source = &absent; });
  refused(errc::null_pointer, "combine", [](request&, own_operator& of) { of.combine = nullptr; });
  refused(errc::invalid_argument, "value_bytes", [](request&, own_operator& of) { of.value_bytes = 65; });
  refused(errc::invalid_argument, "backend", [](request& changed, own_operator&) { changed.where.backend = 7; });
  EXPECT_TRUE(refuses(errc::invalid_argument, "no request",
                      thrown([&] { return onefold_mpi_reduce_own(rows.get(), -1, &right, 0, nullptr); })));
  expect_ok(run(right));
  expect_same(sum, onefold::reduce(onefold::serial(), in.all, [](double a, double b) { return a + b; }), "afterwards");
}

TEST(c_over_ranks, requests_that_are_none_are_refused_before_anything_is_sent) {
  const parted in(5000);
  const auto rows = layout_of(in.mine.size());
  double sum = 0;
  const onefold_request right =
      onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, onefold_serial(), in.mine.data(), nullptr, in.mine.size(), &sum);
  const onefold_value_source source{nullptr, [](void*, uint64_t, uint64_t, void* const*) { return 0; }};
  const onefold_own_code own{};
  const onefold_vectors vectors{};
  const std::uint64_t count = 1;
  int64_t words[80];
  const auto refused = [&](errc code, const char* sentence, const auto& change, int root = ONEFOLD_MPI_ALL_RANKS) {
    onefold_request what = right;
    change(what);
    EXPECT_TRUE(refuses(code, sentence, thrown([&] { return onefold_mpi_reduce(rows.get(), root, &what, 1, nullptr); })));
    onefold_mpi_pending* started = reinterpret_cast<onefold_mpi_pending*>(words);
    EXPECT_TRUE(refuses(code, sentence, thrown([&] { return onefold_mpi_start(rows.get(), root, &what, 1, nullptr, &started); })));
    EXPECT_EQ(started, nullptr);
  };
  using request = onefold_request;
  refused(errc::invalid_argument, "onefold_type", [](request& what) { what.type = 99; });
  refused(errc::invalid_argument, "onefold_form", [](request& what) { what.form = -1; });
  refused(errc::invalid_argument, "sizeof", [](request& what) { what.struct_bytes = 8; });
  refused(errc::invalid_argument, "backend", [](request& what) { what.where.backend = 7; });
  refused(errc::invalid_argument, "flags", [](request& what) { what.flags = 64; });
  refused(errc::unsupported, "ONEFOLD_INTO", [](request& what) { what.flags = ONEFOLD_INTO; });
  refused(errc::unsupported, "own", [&](request& what) { what.own = &own; });
  refused(errc::unsupported, "exact_state", [&](request& what) { what.exact_state = words; });
  refused(errc::unsupported, "count_at", [&](request& what) { what.count_at = &count; });
  refused(errc::unsupported, "tree_value", [&](request& what) { what.tree_value = words; });
  refused(errc::unsupported, "device", [&](request& what) { what.device = words; });
  refused(errc::unsupported, "a request for each operator", [](request& what) { what.form = ONEFOLD_REDUCE_TOGETHER; });
  refused(errc::invalid_argument, "two types of real numbers", [](request& what) { what.second_type = 2; });
  refused(errc::unsupported, "vectors", [&](request& what) { what.vectors = &vectors; });
  refused(errc::invalid_argument, "0 by 0 dots", [&](request& what) {
    what.form = ONEFOLD_DOT;
    what.vectors = &vectors;
  });
  refused(errc::invalid_argument, "beside arrays", [&](request& what) { what.source = &source; });
  refused(errc::invalid_argument, "results is 2", [](request& what) { what.results = 2; });
  refused(errc::invalid_argument, "results is -3", [](request& what) { what.results = -3; });
  refused(errc::unsupported, "a wider type", [](request& what) { what.flags = ONEFOLD_WIDE; });
  const auto of_source = [&](request& what) {
    what.input = nullptr;
    what.source = &source;
  };
  refused(errc::unsupported, "4 or 8 bytes", [&](request& what) {
    of_source(what);
    what.type = ONEFOLD_F16;
  });
  refused(errc::unsupported, "present", [&](request& what) {
    of_source(what);
    what.present = [](void*) { return uint64_t{0}; };
  });
  refused(errc::unsupported, "second_type", [&](request& what) {
    of_source(what);
    what.second_type = 1 + ONEFOLD_F32;
  });
  refused(errc::null_pointer, "operators", [&](request& what) {
    of_source(what);
    what.form = ONEFOLD_REDUCE_TOGETHER;
  });
  refused(
      errc::invalid_argument, "cannot be the root", [](request&) {}, ranks());
  const onefold_request several[2] = {
      right, onefold_mpi_request(ONEFOLD_MAX, ONEFOLD_F64, onefold_openmp(2), in.mine.data(), nullptr, in.mine.size(), &sum)};
  EXPECT_TRUE(refuses(errc::invalid_argument, "several executors",
                      thrown([&] { return onefold_mpi_reduce(rows.get(), -1, several, 2, nullptr); })));
  EXPECT_TRUE(refuses(errc::invalid_argument, "no request",
                      thrown([&] { return onefold_mpi_reduce(rows.get(), -1, &right, 0, nullptr); })));
  EXPECT_TRUE(refuses(errc::null_pointer, "layout", thrown([&] { return onefold_mpi_reduce(nullptr, -1, &right, 1, nullptr); })));
  EXPECT_TRUE(refuses(errc::null_pointer, "started", thrown([] { return onefold_mpi_wait(nullptr); })));
  onefold_options how{};
  EXPECT_TRUE(refuses(errc::invalid_argument, "options.struct_bytes",
                      thrown([&] { return onefold_mpi_reduce(rows.get(), -1, &right, 1, &how); })));
  // A workspace, which the CPU executors do not use, stays the caller's.
  const onefold::workspace memory(onefold::serial(), 1);
  how.struct_bytes = sizeof(how);
  how.workspace = onefold::detail::workspace_access::handle(memory);
  expect_ok(onefold_mpi_reduce(rows.get(), -1, &right, 1, &how));
  how.guarantee = 77;
  EXPECT_TRUE(refuses(errc::invalid_argument, "onefold_guarantee",
                      thrown([&] { return onefold_mpi_reduce(rows.get(), -1, &right, 1, &how); })));
  onefold_mpi_layout* made = rows.get();
  EXPECT_TRUE(refuses(errc::invalid_argument, "", thrown([&] { return onefold_mpi_layout_create(MPI_COMM_NULL, 1, &made); })));
  EXPECT_EQ(made, nullptr);
  onefold_mpi_layout_destroy(nullptr);
  expect_ok(onefold_mpi_reduce(rows.get(), -1, &right, 1, nullptr));
  expect_same(sum, onefold::sum(onefold::serial(), in.all), "afterwards");
}

}  // namespace
}  // namespace onefold_test
