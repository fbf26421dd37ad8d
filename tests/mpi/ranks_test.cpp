/// @file ranks_test.cpp  Reductions over ranks: every form of every type, however the array lies on them, has the bits of one core.

#include <atomic>
#include <complex>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#ifdef ONEFOLD_HAVE_CUDA
#include "../support/cuda.hpp"
#endif
#include "ranks.hpp"

namespace onefold_test {
namespace {

namespace of_ranks = onefold::detail::ranks;

// This rank's ranges of arrays in the memory of a GPU, of which the ranks of one machine take one after the other.
class ranges_on_a_gpu {
 public:
  static onefold::executor where() {
    static const onefold::devices all = onefold::devices::all();
    return all[static_cast<std::size_t>(rank()) % all.size()];
  }
  static bool are_here() {
    static const bool is_here = backend_under_test(onefold::backend::cuda).usable;
    return is_here;
  }
  const void* copy([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t bytes) {
#ifdef ONEFOLD_HAVE_CUDA
    if (from == nullptr) return nullptr;
    expect_success(cudaSetDevice(where().device()), "cudaSetDevice");
    held_.push_back(std::make_unique<device_memory>(bytes));
    void* const to = held_.back()->as<void>();
    copy_to_device(to, from, bytes);
    return to;
#else
    return from;
#endif
  }

 private:
#ifdef ONEFOLD_HAVE_CUDA
  std::vector<std::unique_ptr<device_memory>> held_;
#endif
};

// --- every form of every type, by number ------------------------------------------------------------------------------------------------------

enum class way { blocking, nonblocking, to_a_root };

of_ranks::part part_of(const kind& of, const arrays& in, uint64_t first, uint64_t count, void* result) {
  return {of.type, of.what, of.wide, 1, in.x(first), in.y(first), count, count, result};
}

// An array as a function that counts how often it is called for each index.
class array_as_function final : public of_ranks::function_values {
 public:
  array_as_function(const kind& of, const std::byte* x, uint64_t count) : bytes_(of.element_bytes()), x_(x), asked_(count) {}
  void begin(const onefold::executor&) override {
    for (auto& times : asked_) times = 0;
  }
  [[nodiscard]] const onefold_value_source* source() const noexcept override { return &source_; }
  void check(int status) const override { onefold::detail::check_status(status); }
  [[nodiscard]] bool any_present() const noexcept override { return true; }
  [[nodiscard]] bool was_asked_once_for_each() const {
    return std::all_of(asked_.begin(), asked_.end(), [](const auto& times) { return times.load() == 1; });
  }

 private:
  static int fill(void* context, uint64_t first, uint64_t count, void* const* values) {
    auto& own = *static_cast<array_as_function*>(context);
    for (uint64_t i = first; i < first + count; ++i) ++own.asked_.at(i);
    std::memcpy(values[0], own.x_ + first * own.bytes_, count * own.bytes_);
    return 0;
  }
  std::size_t bytes_;
  const std::byte* x_;
  std::vector<std::atomic<int>> asked_;
  onefold_value_source source_{this, fill};
};

// How n elements lie that are cut there.
std::unique_ptr<of_ranks::shared_state> layout_of(const std::vector<uint64_t>& cuts) {
  const auto me = static_cast<std::size_t>(rank());
  auto rows = std::make_unique<of_ranks::shared_state>(MPI_COMM_WORLD);
  rows->make_layout(cuts[me + 1] - cuts[me], nullptr);
  EXPECT_EQ(rows->begin, cuts[me]);
  EXPECT_EQ(rows->total, cuts.back());
  return rows;
}

// One reduction, or several at once.
void reduce_and_compare(of_ranks::shared_state& rows, const std::vector<kind>& of, const std::vector<arrays>& in,
                        random_numbers& random, const std::string& words, const onefold::options& options = {}) {
  of_ranks::transfer with(rows);
  with.where = any_executor(random());
  const auto how = static_cast<way>(random.below(3));
  const auto root = static_cast<int>(random.below(static_cast<uint64_t>(ranks())));
  const bool starts = random.below(3) == 0;
  if (how == way::to_a_root) with.root = root;
  alignas(64) unsigned char results[8][64] = {};
  ranges_on_a_gpu on_a_gpu;
  const bool is_on_a_gpu = (random() >> rank()) % 2 == 0 && ranges_on_a_gpu::are_here();
  if (is_on_a_gpu) with.where = ranges_on_a_gpu::where();
  std::vector<std::unique_ptr<array_as_function>> functions;
  const uint64_t gives_functions = random();
  for (std::size_t i = 0; i < of.size(); ++i) {
    with.parts.push_back(part_of(of[i], in[i], rows.begin, rows.count, results[i]));
    if (is_on_a_gpu) {
      ++counted().on_a_gpu;
      auto& part = with.parts.back();
      part.x = on_a_gpu.copy(part.x, rows.count * of[i].element_bytes());
      part.y = on_a_gpu.copy(part.y, rows.count * of[i].element_bytes());
      continue;
    }
    // On some ranks a function gives what others have as an array.
    if ((gives_functions >> (i + static_cast<std::size_t>(rank()))) % 2 == 0 || is_small(of[i].type) || of[i].is_of_complex() ||
        of[i].what == form::dot)
      continue;
    functions.push_back(std::make_unique<array_as_function>(of[i], in[i].x(rows.begin), rows.count));
    with.parts.back().values = functions.back().get();
  }
  const uint64_t tests = random.below(3);
  try {
    if (how == way::nonblocking || starts) {
      with.start(options);
      for (uint64_t i = 0; i < tests; ++i) static_cast<void>(with.test());
      with.wait();
    } else {
      with.run(options);
    }
  } catch (const onefold::error& problem) {
    // Some algorithms that an MPI can be forced to take combine in no order of the ranks. That is to be seen.
    if (problem.code() != errc::communication_failed || std::string(problem.what()).find("another order") == std::string::npos)
      throw;
    ++counted().refused;
    return;
  }
  for (const auto& each : functions) EXPECT_TRUE(each->was_asked_once_for_each()) << words;
  if (!with.is_root()) return;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto expected = on_one_core(of[i], in[i], rows.total, options);
    compare(std::vector<unsigned char>(results[i], results[i] + expected.size()), expected,
            text(of[i]) + ", " + std::to_string(rows.total) + " elements cut " + words);
  }
}

TEST(over_ranks, every_form_of_every_type_has_the_bits_of_one_core) {
  random_numbers random(current_seed());
  int kinds = 0;
  for (int t = 0; t < every_type_count; ++t)
    for (int round = 0; round < 4; ++round) {
      const auto type = static_cast<element_type>(t);
      const uint64_t tile = 4096 / onefold::size_of(type);
      const uint64_t n = 1 + random.below(round == 0 ? tile : 12 * tile);
      const char* style = "";
      const auto cuts = cuts_of(n, tile, random, &style);
      std::unique_ptr<of_ranks::shared_state> rows;
      for (const kind& of : every_kind()) {
        if (of.type != type) continue;
        if (rows == nullptr) rows = layout_of(cuts);
        std::vector<arrays> in;
        in.emplace_back(of, n, random(), round % 2 == 0);
        reduce_and_compare(*rows, {of}, in, random, style);
        ++kinds;
      }
    }
  EXPECT_GT(kinds, 1300);
}

TEST(over_ranks, arrays_of_fewer_elements_than_ranks_do) {
  random_numbers random(current_seed());
  for (const form what : {form::sum, form::dot, form::norm2, form::argmax, form::mean_variance, form::min_number})
    for (uint64_t n = 1; n < 12; ++n) {
      const kind of{element_type::f64, what};
      std::vector<arrays> in;
      in.emplace_back(of, n, random(), n % 2 == 0);
      const char* style = "";
      const auto cuts = cuts_of(n, of.tile(), random, &style);
      reduce_and_compare(*layout_of(cuts), {of}, in, random, style);
    }
}

TEST(over_ranks, several_forms_of_several_types_go_in_one_message) {
  random_numbers random(current_seed());
  const auto kinds = every_kind();
  for (int round = 0; round < 30; ++round) {
    const uint64_t n = 1 + random.below(6000);
    std::vector<kind> of;
    std::vector<arrays> in;
    for (uint64_t i = 0; i < 1 + random.below(8); ++i) {
      of.push_back(kinds[random.below(kinds.size())]);
      in.emplace_back(of.back(), n, random(), random.below(2) == 0);
    }
    const char* style = "";
    const auto cuts = cuts_of(n, 512, random, &style);
    reduce_and_compare(*layout_of(cuts), of, in, random, style);
  }
}

TEST(over_ranks, many_elements_do) {
  random_numbers random(current_seed());
  for (const kind of :
       {kind{element_type::f64, form::sum}, kind{element_type::f32, form::dot}, kind{element_type::f32, form::mean},
        kind{element_type::f64, form::norm2}, kind{element_type::f16, form::sum}, kind{element_type::f32, form::argmin}}) {
    const uint64_t n = (is_sanitized ? 300'000 : 3'000'000) + random.below(is_sanitized ? 100'000 : 1'000'000);
    std::vector<arrays> in;
    in.emplace_back(of, n, random(), true);
    for (int round = 0; round < 3; ++round) {
      const char* style = "";
      const auto cuts = cuts_of(n, of.tile(), random, &style);
      reduce_and_compare(*layout_of(cuts), {of}, in, random, style);
    }
  }
}

TEST(over_ranks, exact_results_go_in_one_message_with_others) {
  random_numbers random(current_seed());
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  for (int round = 0; round < 20; ++round) {
    const uint64_t n = 1 + random.below(3000);
    std::vector<kind> of;
    std::vector<arrays> in;
    for (const form what :
         {form::sum, form::norm1, form::dot, form::norm2, form::mean, form::mean_variance, form::max, form::count})
      if (random.below(2) == 0) {
        const element_type types[] = {element_type::f32, element_type::f64, element_type::f16, element_type::bf16};
        of.push_back({types[random.below(4)], what});
        if (random.below(3) == 0 && (what == form::sum || what == form::mean || what == form::mean_variance || what == form::dot ||
                                     what == form::norm2 || what == form::count))
          of.back().type = random.below(2) == 0 ? element_type::c64 : element_type::c128;
        else if (random.below(3) == 0 && (what == form::mean || what == form::norm2 || what == form::mean_variance)) {
          const element_type whole[] = {element_type::i8, element_type::u16, element_type::i32, element_type::i64,
                                        element_type::u64};
          of.back().type = whole[random.below(5)];
        }
        in.emplace_back(of.back(), n, random(), random.below(2) == 0);
      }
    if (of.empty()) continue;
    const char* style = "";
    const auto cuts = cuts_of(n, 512, random, &style);
    reduce_and_compare(*layout_of(cuts), of, in, random, style, exactly);
  }
}

// --- the calls themselves -----------------------------------------------------------------------------------------------------------------

#define ONEFOLD_EXPECT_FORM(form) expect_same(onefold::form(here, x.mine), onefold::form(one, x.all), #form)

TEST(calls_over_ranks, take_a_layout_on_an_executor_where_others_take_an_executor) {
  const parted x(40'000), y(40'000, 2);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  EXPECT_EQ(rows.total(), x.all.size());
  EXPECT_EQ(rows.count(), x.mine.size());
  EXPECT_EQ(rows.begin(), x.all.size() * static_cast<uint64_t>(rank()) / static_cast<uint64_t>(ranks()));
  const auto here = rows.on(onefold::openmp());
  const auto one = onefold::serial();
  ONEFOLD_EXPECT_FORM(sum);
  ONEFOLD_EXPECT_FORM(prod);
  ONEFOLD_EXPECT_FORM(min);
  ONEFOLD_EXPECT_FORM(max);
  ONEFOLD_EXPECT_FORM(sum_of_squares);
  ONEFOLD_EXPECT_FORM(norm1);
  ONEFOLD_EXPECT_FORM(norm2);
  ONEFOLD_EXPECT_FORM(norm_inf);
  ONEFOLD_EXPECT_FORM(mean);
  ONEFOLD_EXPECT_FORM(min_number);
  ONEFOLD_EXPECT_FORM(max_number);
  ONEFOLD_EXPECT_FORM(count);
  ONEFOLD_EXPECT_FORM(all);
  ONEFOLD_EXPECT_FORM(any);
  ONEFOLD_EXPECT_FORM(none);
  ONEFOLD_EXPECT_FORM(argmin);
  ONEFOLD_EXPECT_FORM(argmax);
  ONEFOLD_EXPECT_FORM(argmin_magnitude);
  ONEFOLD_EXPECT_FORM(argmax_magnitude);
  ONEFOLD_EXPECT_FORM(argminmax);
  ONEFOLD_EXPECT_FORM(minmax);
  ONEFOLD_EXPECT_FORM(mean_variance);
  expect_same(onefold::dot(here, x.mine, y.mine), onefold::dot(one, x.all, y.all), "dot");
  expect_same(onefold::dot(here, x.mine.data(), y.mine.data(), x.mine.size()), onefold::dot(one, x.all, y.all), "dot of pointers");
  expect_same(onefold::sum(here, x.mine.data(), x.mine.size()), onefold::sum(one, x.all), "sum of a pointer");
  expect_same(onefold::mean_variance(here, x.mine, onefold::ddof{1}), onefold::mean_variance(one, x.all, onefold::ddof{1}), "ddof");
  expect_same(onefold::reduce_together(here, x.mine, onefold::op::min{}, onefold::op::sum{}, onefold::op::max{}),
              onefold::reduce_together(one, x.all, onefold::op::min{}, onefold::op::sum{}, onefold::op::max{}), "reduce_together");
  const std::vector<float> f(x.mine.begin(), x.mine.end()), all_f(x.all.begin(), x.all.end());
  expect_same(onefold::sum(here, f, onefold::accumulate_as<double>), onefold::sum(one, all_f, onefold::accumulate_as<double>),
              "wide");
  expect_same(onefold::dot(here, f, f, onefold::accumulate_as<double>),
              onefold::dot(one, all_f, all_f, onefold::accumulate_as<double>), "wide");
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const parted far(x.all.size(), 1, 0x1p60);
  if (x.all.size() > 1000)
    expect_exact(onefold::sum(here, far.mine, exactly), onefold::sum(one, far.all, exactly), onefold::sum(one, far.all),
                 "exact sum");
  onefold::report ran;
  onefold::options reported;
  reported.report = &ran;
  expect_same(onefold::sum(rows.on(onefold::serial()), x.mine, reported), onefold::sum(one, x.all), "sum with a report");
  EXPECT_EQ(ran.variant, "fixed_order");
}

template <class C>
void expect_complex_calls() {
  using T = typename C::value_type;
  const parted of_parts(2 * 23'456);
  std::vector<C> all, mine, other;
  for (std::size_t i = 0; i < of_parts.all.size(); i += 2)
    all.emplace_back(static_cast<T>(of_parts.all[i]), static_cast<T>(of_parts.all[i + 1]));
  const auto me = static_cast<std::size_t>(rank()), count = static_cast<std::size_t>(ranks());
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(all.size() * me / count),
             end = all.begin() + static_cast<std::ptrdiff_t>(all.size() * (me + 1) / count);
  const struct { std::vector<C> mine, all; } x{{begin, end}, all};
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  const auto here = rows.on(onefold::openmp());
  const auto one = onefold::serial();
  ONEFOLD_EXPECT_FORM(sum);
  ONEFOLD_EXPECT_FORM(prod);
  ONEFOLD_EXPECT_FORM(mean);
  ONEFOLD_EXPECT_FORM(sum_of_squares);
  ONEFOLD_EXPECT_FORM(norm1);
  ONEFOLD_EXPECT_FORM(norm2);
  ONEFOLD_EXPECT_FORM(norm_inf);
  ONEFOLD_EXPECT_FORM(count);
  ONEFOLD_EXPECT_FORM(all);
  ONEFOLD_EXPECT_FORM(any);
  ONEFOLD_EXPECT_FORM(none);
  std::vector<C> y = x.mine;
  for (C& z : y) z = {z.imag(), -z.real() / 3};
  std::vector<C> all_y = x.all;
  for (C& z : all_y) z = {z.imag(), -z.real() / 3};
  const C dot = onefold::dot(here, x.mine, y);
  expect_same(dot, onefold::dot(one, x.all, all_y), "dot, conjugated");
  const auto both = onefold::mean_variance(here, x.mine, onefold::ddof{1}),
             expected = onefold::mean_variance(one, x.all, onefold::ddof{1});
  expect_same(both.mean, expected.mean, "mean");
  expect_same(both.variance, expected.variance, "variance");
  auto later = onefold::mpi::start(onefold::norm2, here, y);
  C sum{}, product{};
  T norm{};
  onefold::mpi::batch work(here);
  work.add(onefold::sum, y, &sum).add(onefold::dot, y, x.mine, &product).add(onefold::norm_inf, x.mine, &norm).run();
  expect_same(sum, onefold::sum(one, all_y), "sum of a batch");
  expect_same(product, onefold::dot(one, all_y, x.all), "dot of a batch");
  expect_same(norm, onefold::norm_inf(one, x.all), "norm_inf of a batch");
  expect_same(later.wait(), onefold::norm2(one, all_y), "norm2 later");
  const std::optional<C> rooted = onefold::sum(here.root(ranks() - 1), x.mine);
  EXPECT_EQ(rooted.has_value(), rank() == ranks() - 1);
  if (rooted) expect_same(*rooted, onefold::sum(one, x.all), "sum to a root");
  const layout nothing(MPI_COMM_WORLD, 0);
  const std::vector<C> none;
  expect_same(onefold::prod(nothing.on(one), none), onefold::prod(one, none), "prod of none");
  expect_same(onefold::mean(nothing.on(one), none), onefold::mean(one, none), "mean of none");

  // Without an order: exact results, and what depends on none.
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  random_numbers random(current_seed());
  std::vector<C> some;
  for (const C& z : x.all)
    if (random.below(count) == me) some.push_back(z);
  const onefold::mpi::communicator world(MPI_COMM_WORLD);
  const auto anyhow = world.on(onefold::openmp());
  expect_same(onefold::sum(anyhow, some), onefold::sum(one, x.all, exactly), "exact sum");
  expect_same(onefold::mean(here, x.mine, exactly), onefold::mean(one, x.all, exactly), "exact mean");
  const auto moments = onefold::mean_variance(anyhow, some, onefold::ddof{1}),
             right = onefold::mean_variance(one, x.all, onefold::ddof{1}, exactly);
  expect_same(moments.mean, right.mean, "exact mean beside a variance");
  expect_same(moments.variance, right.variance, "exact variance");
  expect_same(onefold::norm2(anyhow, some), onefold::norm2(one, x.all, exactly), "exact norm");
  expect_same(onefold::sum_of_squares(anyhow, some), onefold::sum_of_squares(one, x.all, exactly), "exact sum of squares");
  expect_same(onefold::norm_inf(anyhow, some), onefold::norm_inf(one, x.all), "norm_inf");
  expect_same(onefold::count(anyhow, some), onefold::count(one, x.all), "count");
  std::vector<C> others = some;
  for (C& z : others) z = {z.imag(), -z.real() / 3};
  expect_same(onefold::dot(anyhow, some, others), onefold::dot(one, x.all, all_y, exactly), "exact dot");
  expect_same(onefold::dot(here, x.mine, y, exactly), onefold::dot(one, x.all, all_y, exactly), "exact dot of a layout");
  onefold::mpi::batch exact_work(anyhow);
  onefold::mean_variance_result<C> stored{};
  exact_work.add(onefold::dot, others, some, &product)
      .add(onefold::mean_variance, some, &stored, onefold::ddof{1})
      .add(onefold::mean, some, &sum)
      .run();
  expect_same(stored.mean, right.mean, "exact mean of moments of a batch");
  expect_same(stored.variance, right.variance, "exact variance of a batch");
  expect_same(product, onefold::dot(one, all_y, x.all, exactly), "exact dot of a batch");
  expect_same(sum, onefold::mean(one, x.all, exactly), "exact mean of a batch");
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "make a layout", [&] { static_cast<void>(onefold::norm1(anyhow, some)); }));
  EXPECT_TRUE(
      refuses(errc::guarantee_not_met, "no exact result", [&] { static_cast<void>(onefold::norm1(here, x.mine, exactly)); }));
}

TEST(complex_numbers_over_ranks, are_taken_by_every_call) {
  expect_complex_calls<std::complex<float>>();
  expect_complex_calls<std::complex<double>>();
}

TEST(complex_numbers_over_ranks, are_accumulated_in_the_wider_type) {
  const parted of_parts(2 * 23'457);
  std::vector<std::complex<float>> all;
  for (std::size_t i = 0; i < of_parts.all.size(); i += 2)
    all.emplace_back(static_cast<float>(of_parts.all[i]), static_cast<float>(of_parts.all[i + 1]));
  const auto place = [&](int of) {
    return all.begin() + static_cast<std::ptrdiff_t>(all.size() * static_cast<std::size_t>(of) / static_cast<std::size_t>(ranks()));
  };
  const std::vector<std::complex<float>> mine(place(rank()), place(rank() + 1));
  const layout rows(MPI_COMM_WORLD, mine.size());
  const auto here = rows.on(onefold::openmp());
  const auto one = onefold::serial();
  constexpr auto wide = onefold::accumulate_as<std::complex<double>>;
  expect_same(onefold::sum(here, mine, wide), onefold::sum(one, all, wide), "sum");
  expect_same(onefold::norm1(here, mine, wide), onefold::norm1(one, all, wide), "norm1");
  expect_same(onefold::norm2(here, mine, wide), onefold::norm2(one, all, wide), "norm2");
  expect_same(onefold::dot(here, mine, mine, wide), onefold::dot(one, all, all, wide), "dot");
  expect_same(onefold::mean_variance(here, mine, wide).mean, onefold::mean_variance(one, all, wide).mean, "mean");
  const onefold::options exactly{.guarantee = onefold::guarantee::exact};
  expect_same(onefold::sum(here, mine, wide, exactly), onefold::sum(one, all, wide, exactly), "exact sum");
  expect_same(onefold::dot(here, mine, mine, wide, exactly), onefold::dot(one, all, all, wide, exactly), "exact dot");
  expect_same(onefold::mean_variance(here, mine, wide, exactly).variance, onefold::mean_variance(one, all, wide, exactly).variance,
              "exact variance");
  const layout nothing(MPI_COMM_WORLD, 0);
  expect_same(onefold::prod(nothing.on(one), std::vector<std::complex<float>>(), wide), std::complex<double>(1, 0), "prod of none");
}

// A dot of two types, of which each rank has its arrays where its executor reads them: the sum of an array that holds all products.
template <class T>
std::vector<T> elements_of_a_type(uint64_t n, uint64_t seed) {
  const random_numbers random(seed);
  std::vector<T> all(n);
  for (uint64_t i = 0; i < n; ++i)
    if constexpr (std::is_integral_v<T>)
      all[i] = static_cast<T>(random.at(i) >> 17);
    else
      all[i] = static_cast<T>(static_cast<float>(static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.4));
  return all;
}
template <class A, class T, class U>
A product_of_two_types(T x, U y) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<std::make_unsigned_t<A>>(x) * static_cast<std::make_unsigned_t<A>>(y));
  else
    return static_cast<A>(x) * static_cast<A>(y);
}
template <class T, class U, class A, class... M>
void expect_dots_of_two_types(random_numbers& random, M... modifiers) {
  for (int round = 0; round < 8; ++round) {
    const uint64_t tile = 4096 / sizeof(A), n = round == 0 ? 0 : random.below(round < 4 ? tile : 9 * tile);
    const auto x = elements_of_a_type<T>(n, random());
    const auto y = elements_of_a_type<U>(n, random());
    std::vector<A> products(n);
    for (uint64_t i = 0; i < n; ++i) products[i] = product_of_two_types<A>(x[i], y[i]);
    const A expected = onefold::sum(onefold::serial(), products);

    const char* style = "";
    const auto cuts = cuts_of(n, tile, random, &style);
    const uint64_t begin = cuts[static_cast<std::size_t>(rank())], count = cuts[static_cast<std::size_t>(rank()) + 1] - begin;
    const layout rows(MPI_COMM_WORLD, begin, begin + count);
    onefold::executor here = any_executor(random());
    const T* my_x = x.data() + begin;
    const U* my_y = y.data() + begin;
    ranges_on_a_gpu on_a_gpu;
    if ((random() >> rank()) % 2 == 0 && ranges_on_a_gpu::are_here()) {
      ++counted().on_a_gpu;
      here = ranges_on_a_gpu::where();
      // As in all of x, so that it is aligned as little.
      if (n > 0) my_x = static_cast<const T*>(on_a_gpu.copy(x.data(), n * sizeof(T))) + begin;
      if (n > 0) my_y = static_cast<const U*>(on_a_gpu.copy(y.data(), n * sizeof(U))) + begin;
    }
    const onefold::mpi::placed_layout where = rows.on(here);
    const std::span<const T> of_x(my_x, count);
    const std::span<const U> of_y(my_y, count);
    const std::string words = std::to_string(n) + " products cut " + style;
    expect_same(onefold::dot(where, my_x, my_y, count, modifiers...), expected, words);
    expect_same(onefold::dot(where, of_x, of_y, modifiers...), expected, words);
    expect_same(onefold::dot(where, of_x, of_y, modifiers..., onefold::options{}), expected, words);
    const int root = ranks() - 1;
    const auto at_root = onefold::dot(where.root(root), my_x, my_y, count, modifiers..., onefold::options{});
    ASSERT_EQ(at_root.has_value(), rank() == root);
    if (at_root) expect_same(*at_root, expected, words);
    auto of_pointers = onefold::mpi::start(onefold::dot, where, my_x, my_y, count, modifiers...);
    auto of_ranges = onefold::mpi::start(onefold::dot, where, of_x, of_y, modifiers...);
    expect_same(of_pointers.wait(), expected, words);
    expect_same(of_ranges.wait(), expected, words);
    A first{}, second{};
    onefold::mpi::batch work(where);
    work.add(onefold::dot, my_x, my_y, count, &first, modifiers...).add(onefold::dot, of_x, of_y, &second, modifiers...);
    for (int again = 0; again < 2; ++again) {
      work.run();
      expect_same(first, expected, words);
      expect_same(second, expected, words);
    }
  }
}

TEST(dots_of_two_types_over_ranks, have_the_bits_of_an_array_of_the_products) {
  random_numbers random(current_seed());
  expect_dots_of_two_types<float, double, double>(random);
  expect_dots_of_two_types<double, onefold::float16, double>(random);
  expect_dots_of_two_types<onefold::bfloat16, float, float>(random);
  expect_dots_of_two_types<float, onefold::float16, double>(random, onefold::accumulate_as<double>);
  expect_dots_of_two_types<std::int8_t, float, float>(random, onefold::accumulate_as<float>);
  expect_dots_of_two_types<std::int8_t, std::uint8_t, uint64_t>(random);
  expect_dots_of_two_types<std::int32_t, std::uint32_t, std::uint32_t>(random);
  expect_dots_of_two_types<std::uint32_t, std::int32_t, uint64_t>(random, onefold::accumulate_as<uint64_t>);
}

TEST(dots_of_two_types_over_ranks, can_be_exact_on_any_distribution) {
  const parted of(4'321);
  const auto rounded = [](const std::vector<double>& x, auto as) { return std::vector<decltype(as)>(x.begin(), x.end()); };
  const auto floats = rounded(of.mine, float()), all_floats = rounded(of.all, float());
  const auto halves = rounded(of.mine, onefold::bfloat16()), all_halves = rounded(of.all, onefold::bfloat16());
  const onefold::options exactly{.guarantee = onefold::guarantee::exact};
  const double expected = onefold::dot(onefold::serial(), all_floats, of.all, exactly);
  const float of_halves = onefold::dot(onefold::serial(), all_halves, all_floats, exactly);
  const double wide = onefold::dot(onefold::serial(), all_halves, all_floats, onefold::accumulate_as<double>, exactly);
  const layout rows(MPI_COMM_WORLD, of.mine.size());
  const onefold::mpi::communicator world(MPI_COMM_WORLD);
  for (const onefold::executor here : {onefold::serial(), onefold::openmp()}) {
    expect_same(onefold::dot(rows.on(here), floats, of.mine, exactly), expected, "floats and doubles");
    expect_same(onefold::dot(world.on(here), of.mine, floats), expected, "doubles and floats, without a layout");
    expect_same(onefold::dot(world.on(here), halves, floats), of_halves, "bfloat16 and floats");
    double in_batch = 0, sum = 0, in_double = 0;
    onefold::mpi::batch(world.on(here))
        .add(onefold::dot, floats, of.mine, &in_batch)
        .add(onefold::sum, of.mine, &sum)
        .add(onefold::dot, halves, floats, &in_double, onefold::accumulate_as<double>)
        .run();
    expect_same(in_batch, expected, "in a batch");
    expect_same(sum, onefold::sum(onefold::serial(), of.all, exactly), "a sum beside it");
    expect_same(in_double, wide, "in double");
  }
  if (ranks() == 1) return;
  for (const int culprit : culprits()) {
    const bool other = rank() == culprit;
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      static_cast<void>(other ? onefold::dot(world.on(onefold::serial()), of.mine, of.mine)
                              : onefold::dot(world.on(onefold::serial()), floats, of.mine));
    }));
  }
}

// With other forms in one message.
TEST(dots_of_two_types_over_ranks, may_be_of_one_type_with_two_names) {
  const parted x(3'000);
  std::unique_ptr<bool[]> mask(new bool[x.mine.size()]), all_mask(new bool[x.all.size()]);
  std::vector<std::uint8_t> bytes(x.mine.size()), all_bytes(x.all.size());
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  for (std::size_t i = 0; i < x.all.size(); ++i) {
    all_mask[i] = i % 3 != 0;
    all_bytes[i] = static_cast<std::uint8_t>(i * 7);
  }
  for (std::size_t i = 0; i < x.mine.size(); ++i) {
    mask[i] = all_mask[rows.begin() + i];
    bytes[i] = all_bytes[rows.begin() + i];
  }
  const auto here = rows.on(onefold::openmp());
  const auto expected = onefold::dot(onefold::serial(), all_mask.get(), all_bytes.data(), x.all.size());
  expect_same(onefold::dot(here, mask.get(), bytes.data(), bytes.size()), expected, "bools by bytes");
  std::uint64_t batched = 0;
  onefold::mpi::batch(here).add(onefold::dot, mask.get(), bytes.data(), bytes.size(), &batched).run();
  expect_same(batched, expected, "bools by bytes in a batch");
}

TEST(dots_of_two_types_over_ranks, go_with_others) {
  const parted of(4321);
  const std::vector<float> floats(of.mine.begin(), of.mine.end()), all_floats(of.all.begin(), of.all.end());
  const layout rows(MPI_COMM_WORLD, of.mine.size());
  double dot = 0, norm = 0, largest = 0;
  onefold::mpi::batch work(rows.on(onefold::openmp()));
  work.add(onefold::norm2, of.mine, &norm);
  work.add(onefold::dot, floats, of.mine, &dot).add(onefold::max, of.mine, &largest).start();
  work.wait();
  expect_same(dot, onefold::dot(onefold::serial(), all_floats, of.all), "dot of floats and doubles");
  expect_same(norm, onefold::norm2(onefold::serial(), of.all), "norm2");
  expect_same(largest, onefold::max(onefold::serial(), of.all), "max");
}

TEST(dots_of_two_types_over_ranks, are_refused_on_every_rank) {
  const std::vector<float> x(700, 0.5F);
  const std::vector<double> y(701, 2.0);
  const layout rows(MPI_COMM_WORLD, x.size());
  for (const onefold::executor here : {onefold::serial(), onefold::best()}) {
    const auto where = rows.on(here);
    const std::vector<std::int64_t> wholes(x.size(), 3);
    EXPECT_TRUE(refuses(errc::guarantee_not_met, "dot of i64 and f64 has no exact result", [&] {
      static_cast<void>(
          onefold::dot(where, wholes.data(), y.data(), x.size(), onefold::options{.guarantee = onefold::guarantee::exact}));
    }));
    const onefold::mpi::communicator world(MPI_COMM_WORLD);
    EXPECT_TRUE(refuses(errc::guarantee_not_met, "make a layout",
                        [&] { static_cast<void>(onefold::dot(world.on(here), wholes.data(), y.data(), x.size())); }));
    for (const int culprit : culprits()) {
      expect_refused_everywhere(culprit, errc::null_pointer, "second input", "could not take part", [&] {
        const double* const nothing = nullptr;
        static_cast<void>(onefold::dot(where, x.data(), rank() == culprit ? nothing : y.data(), x.size()));
      });
      expect_refused_everywhere(culprit, errc::misaligned_pointer, "input", "could not take part", [&] {
        const auto* const odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.data()) + 2);
        static_cast<void>(onefold::dot(where, rank() == culprit ? odd : x.data(), y.data(), x.size()));
      });
      expect_refused_everywhere(culprit, errc::invalid_argument, "700 and 701", "could not take part", [&] {
        static_cast<void>(onefold::dot(where, x, std::span(y.data(), rank() == culprit ? 701 : 700)));
      });
    }
    EXPECT_EQ(onefold::dot(where, x.data(), y.data(), x.size()), 700.0 * ranks());
  }
  EXPECT_THROW(static_cast<void>(onefold::dot(rows.on(onefold::cuda(1000)), x.data(), y.data(), x.size())), onefold::error);
}

TEST(calls_over_ranks, give_results_to_a_root_alone) {
  const parted x(10'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  for (int root = 0; root < ranks(); ++root) {
    const auto there = rows.on(onefold::serial()).root(root);
    const std::optional<double> sum = onefold::sum(there, x.mine), dot = onefold::dot(there, x.mine, x.mine);
    const auto both = onefold::reduce_together(there, x.mine, onefold::op::min{}, onefold::op::sum{});
    auto later = onefold::mpi::start(onefold::norm2, there, x.mine);
    const std::optional<double> norm = later.wait();
    for (const bool there_is_one : {sum.has_value(), dot.has_value(), both.has_value(), norm.has_value()})
      EXPECT_EQ(there_is_one, rank() == root);
    if (rank() != root) continue;
    expect_same(*sum, onefold::sum(onefold::serial(), x.all), "sum");
    expect_same(*dot, onefold::dot(onefold::serial(), x.all, x.all), "dot");
    expect_same((*both)[1], onefold::sum(onefold::serial(), x.all), "sum of two");
    expect_same(*norm, onefold::norm2(onefold::serial(), x.all), "norm2");
  }
}

TEST(calls_over_ranks, can_be_started_and_waited_for) {
  const parted x(50'000), y(50'000, 2);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  auto sum = onefold::mpi::start(onefold::sum, rows.on(onefold::serial()), x.mine);
  auto dot = onefold::mpi::start(onefold::dot, rows.on(onefold::openmp()), x.mine, y.mine);
  auto mean =
      onefold::mpi::start(onefold::mean_variance, rows.on(onefold::serial()), x.mine.data(), x.mine.size(), onefold::ddof{1});
  expect_same(onefold::max(rows.on(onefold::serial()), y.mine), onefold::max(y.all), "max meanwhile");
  while (!mean.test()) {
  }
  expect_same(mean.wait(), onefold::mean_variance(onefold::serial(), x.all, onefold::ddof{1}), "mean_variance");
  expect_same(dot.wait(), onefold::dot(onefold::serial(), x.all, y.all), "dot");
  expect_same(sum.wait(), onefold::sum(onefold::serial(), x.all), "sum");
  // One that nobody waits for.
  static_cast<void>(onefold::mpi::start(onefold::sum, rows.on(onefold::serial()), x.mine));
}

TEST(calls_over_ranks, of_a_batch_can_be_run_again_with_other_contents) {
  parted x(20'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  double sum = 0, norm = 0, dot = 0;
  uint64_t count = 0;
  onefold::arg_result<double> most{};
  onefold::mpi::batch work(rows.on(onefold::openmp()));
  work.add(onefold::sum, x.mine, &sum)
      .add(onefold::norm2, x.mine.data(), x.mine.size(), &norm)
      .add(onefold::dot, x.mine, x.mine, &dot);
  work.add<form::count>(x.mine, &count).add(onefold::argmax, x.mine, &most);
  EXPECT_EQ(work.size(), 5U);
  EXPECT_TRUE(work.is_root());
  for (int round = 0; round < 3; ++round) {
    if (round == 1) {
      work.start();
      EXPECT_TRUE(refuses(errc::invalid_argument, "under way", [&] { work.start(); }));
      EXPECT_TRUE(refuses(errc::invalid_argument, "before more is added", [&] { work.add(onefold::sum, x.mine, &dot); }));
      EXPECT_TRUE(refuses(errc::invalid_argument, "before more is added", [&] {
        work.add(
            onefold::sum, 5, [](uint64_t) { return 1.0; }, &dot);
      }));
      const std::vector<float> floats(x.mine.size());
      EXPECT_TRUE(refuses(errc::invalid_argument, "before more is added", [&] { work.add(onefold::dot, floats, x.mine, &dot); }));
      EXPECT_EQ(work.size(), 5U);
      work.wait();
    } else {
      work.run();
    }
    expect_same(sum, onefold::sum(onefold::serial(), x.all), "sum");
    expect_same(norm, onefold::norm2(onefold::serial(), x.all), "norm2");
    expect_same(dot, onefold::dot(onefold::serial(), x.all, x.all), "dot");
    expect_same(count, onefold::count(onefold::serial(), x.all), "count");
    expect_same(most.index, onefold::argmax(onefold::serial(), x.all).index, "argmax");
    for (double& value : x.mine) value *= 1.25;
    for (double& value : x.all) value *= 1.25;
  }
  onefold::mpi::batch other = std::move(work);
  EXPECT_EQ(other.size(), 5U);
  EXPECT_EQ(work.size(), 0U);  // NOLINT(bugprone-use-after-move): what is said of it
  EXPECT_TRUE(refuses(errc::invalid_argument, "moved from", [&] { work.add(onefold::sum, x.mine, &sum); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "moved from", [&] { work.run(); }));
  work.clear();
}

// A place for a result that is missing on one rank is an error on all.
TEST(calls_over_ranks, of_a_batch_without_a_place_for_a_result_end_everywhere) {
  const parted x(5'000);
  const layout rows(MPI_COMM_WORLD, x.mine.size());
  double sum = 0, largest = 0;
  const int lacking = ranks() - 1;
  onefold::mpi::batch work(rows.on(onefold::serial()));
  work.add(onefold::sum, x.mine, &sum).add(onefold::max, x.mine, rank() == lacking ? nullptr : &largest);
  EXPECT_TRUE(rank() == lacking ? refuses(errc::null_pointer, "result pointer of max", [&] { work.run(); })
                                : refuses(errc::communication_failed, "rank " + std::to_string(lacking), [&] { work.run(); }));
  // Of operators of one's own, and of what goes as these do.
  const auto longest = [](double a, double b) { return a < b ? b : a; };
  const auto some = [&x](std::uint64_t i) { return i % 3 == 0 ? onefold::maybe<double>() : onefold::maybe<double>(x.mine[i]); };
  double far = 0;
  onefold::arg_result<double> least;
  for (const bool of_values : {false, true}) {
    onefold::mpi::batch own(rows.on(onefold::serial()));
    own.add(onefold::sum, x.mine, &sum);
    if (of_values)
      own.add(onefold::argmin, x.mine.size(), some, rank() == lacking ? nullptr : &least);
    else
      own.add_reduce(x.mine, longest, rank() == lacking ? nullptr : &far);
    EXPECT_TRUE(rank() == lacking ? refuses(errc::null_pointer, "result pointer", [&] { own.run(); })
                                  : refuses(errc::communication_failed, "rank " + std::to_string(lacking), [&] { own.run(); }));
  }
  onefold::mpi::batch at_root(rows.on(onefold::serial()).root(0));
  at_root.add_reduce(x.mine, longest, rank() == 0 ? &far : nullptr);
  at_root.run();
  if (rank() == 0) expect_same(far, onefold::max(onefold::serial(), x.all), "the longest on the root");
  // The root alone has need of one.
  onefold::mpi::batch rooted(rows.on(onefold::serial()).root(0));
  rooted.add(onefold::max, x.mine, rank() == 0 ? &largest : nullptr);
  rooted.run();
  if (rank() == 0) expect_same(largest, onefold::max(onefold::serial(), x.all), "max on the root");
}

TEST(calls_over_ranks, of_no_elements_give_what_one_core_gives) {
  const std::vector<double> none;
  const layout rows(MPI_COMM_WORLD, 0);
  const auto here = rows.on(onefold::serial());
  expect_same(onefold::sum(here, none), onefold::sum(onefold::serial(), none), "sum");
  expect_same(onefold::prod(here, none), onefold::prod(onefold::serial(), none), "prod");
  expect_same(onefold::min(here, none), onefold::min(onefold::serial(), none), "min");
  expect_same(onefold::mean(here, none), onefold::mean(onefold::serial(), none), "mean");
  expect_same(onefold::all(here, none), onefold::all(onefold::serial(), none), "all");
  EXPECT_TRUE(refuses(errc::invalid_argument, "there is no index", [&] { static_cast<void>(onefold::argmin(here, none)); }));
}

TEST(a_communicator_without_a_layout, has_exact_results_however_the_elements_lie) {
  const uint64_t n = 5000;
  std::vector<double> all(n);
  random_numbers random(current_seed());
  for (double& value : all) value = std::bit_cast<double>((random() & 0x800fffffffffffffU) | ((random() % 1200 + 400) << 52));
  const onefold::mpi::communicator world(MPI_COMM_WORLD);
  const auto here = world.on(onefold::serial());
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  for (int round = 0; round < 20; ++round) {
    std::vector<double> mine;
    for (const double value : all)
      if (random.below(static_cast<uint64_t>(ranks())) == static_cast<uint64_t>(rank())) mine.push_back(value);
    expect_same(onefold::sum(here, mine), onefold::sum(onefold::serial(), all, exactly), "exact sum");
    expect_same(onefold::norm2(here, mine), onefold::norm2(onefold::serial(), all, exactly), "exact norm");
    expect_same(onefold::dot(here, mine, mine), onefold::dot(onefold::serial(), all, all, exactly), "exact dot");
    expect_same(onefold::max(here, mine), onefold::max(onefold::serial(), all), "max");
    expect_same(onefold::count(here, mine), onefold::count(onefold::serial(), all), "count");
    double sum = 0, norm = 0;
    onefold::mpi::batch both(here);
    both.add(onefold::sum, mine, &sum).add(onefold::norm1, mine, &norm).start();
    both.wait();
    expect_same(sum, onefold::sum(onefold::serial(), all, exactly), "exact sum of two");
    expect_same(norm, onefold::norm1(onefold::serial(), all, exactly), "exact norm of two");
  }
}

// --- layouts --------------------------------------------------------------------------------------------------------------------------------

TEST(a_layout, is_made_of_offsets_too) {
  const uint64_t n = 10'000;
  const auto me = static_cast<uint64_t>(rank()), count = static_cast<uint64_t>(ranks());
  const layout rows(MPI_COMM_WORLD, n * me / count, n * (me + 1) / count);
  EXPECT_EQ(rows.begin(), n * me / count);
  EXPECT_EQ(rows.total(), n);
  // Of ranks in another order, or with a hole between them, every rank is told.
  if (ranks() > 1) {
    EXPECT_TRUE(refuses(errc::invalid_argument, "MPI_Comm_split",
                        [&] { layout(MPI_COMM_WORLD, n * (count - 1 - me) / count, n * (count - me) / count); }));
    EXPECT_TRUE(refuses(errc::invalid_argument, "MPI_Comm_split", [&] { layout(MPI_COMM_WORLD, me * 11, me * 11 + 10); }));
    EXPECT_TRUE(
        refuses(errc::invalid_argument, "negative", [&] { layout(MPI_COMM_WORLD, rank() == 1 ? static_cast<uint64_t>(-1) : 5); }));
  }
}

TEST(a_layout, says_whether_ranges_are_cut_within_tiles) {
  for (const uint64_t n : {0U, 1U, 511U, 512U, 513U, 100'000U}) {
    uint64_t last = 0;
    for (int r = 0; r < ranks(); ++r) {
      const auto range = onefold::mpi::aligned_range<double>(n, r, ranks());
      EXPECT_EQ(range.begin, last);
      EXPECT_TRUE(range.begin % 512 == 0 || range.begin == n);
      EXPECT_LE(range.size(), n / static_cast<uint64_t>(ranks()) + 512);
      last = range.end;
    }
    EXPECT_EQ(last, n);
    const auto mine = onefold::mpi::aligned_range<double>(n, rank(), ranks());
    const layout rows(MPI_COMM_WORLD, mine.begin, mine.end);
    EXPECT_TRUE(rows.is_aligned<double>());
    EXPECT_TRUE(rows.is_aligned<std::int64_t>());
  }
  const layout rows(MPI_COMM_WORLD, 1000);
  EXPECT_EQ(rows.is_aligned<double>(), ranks() == 1);
  // Complex numbers have the longer tiles in some forms, as many elements as floats and doubles have.
  const auto mine = onefold::mpi::aligned_range<std::complex<float>>(5000, rank(), ranks());
  EXPECT_TRUE(mine.begin % 1024 == 0 || mine.begin == 5000);
  EXPECT_TRUE(layout(MPI_COMM_WORLD, mine.size()).is_aligned<std::complex<float>>());
  const layout halves(MPI_COMM_WORLD, 256);
  EXPECT_EQ(halves.is_aligned<std::complex<double>>(), ranks() == 1);
  const layout floats(MPI_COMM_WORLD, 512);
  EXPECT_TRUE(floats.is_aligned<double>());
  EXPECT_EQ(floats.is_aligned<float>(), ranks() == 1);
}

TEST(a_layout, can_be_moved_and_be_one_of_several) {
  const parted x(3000);
  layout first(MPI_COMM_WORLD, x.mine.size());
  const layout second(MPI_COMM_WORLD, x.mine.size());
  const layout moved = std::move(first);
  expect_same(onefold::sum(moved.on(onefold::serial()), x.mine), onefold::sum(second.on(onefold::serial()), x.mine), "sum");
}

// --- misuse: an error on every rank, and the next call works --------------------------------------------------------------------------------

TEST(misuse, a_count_that_is_not_the_layouts_is_an_error_on_every_rank) {
  on_two_layouts([](const layout& rows, std::vector<double> x) {
    const auto here = rows.on(onefold::serial());
    for (int culprit = 0; culprit < ranks(); ++culprit)
      for (const bool more : {true, false}) {
        std::vector<double> wrong = x;
        if (rank() == culprit) wrong.resize(more || x.empty() ? x.size() + 1 : x.size() - 1);
        const std::string by = "rank " + std::to_string(culprit) + " could not take part";
        expect_refused_everywhere(culprit, errc::invalid_argument, "make a layout for each distribution", by,
                                  [&] { static_cast<void>(onefold::sum(here, wrong)); });
        expect_refused_everywhere(culprit, errc::invalid_argument, "make a layout for each distribution", by,
                                  [&] { static_cast<void>(onefold::max(here, wrong)); });
        onefold::options exactly;
        exactly.guarantee = onefold::guarantee::exact;
        expect_refused_everywhere(culprit, errc::invalid_argument, "make a layout for each distribution", by,
                                  [&] { static_cast<void>(onefold::sum(here, wrong, exactly)); });
        EXPECT_EQ(onefold::count(here, x), onefold::count(here, x)) << "and the next call works";
      }
  });
}

TEST(misuse, of_ranks_that_call_different_forms_is_an_error_on_every_rank) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  on_two_layouts([](const layout& rows, const std::vector<double>& x) {
    const std::vector<float> floats(x.size(), 1.5F);
    const std::vector<std::int32_t> wholes(x.size(), 3);
    const auto here = rows.on(onefold::serial());
    for (int culprit = 0; culprit < ranks(); ++culprit) {
      const bool other = rank() == culprit;
      const auto refused = [&](const auto& call) {
        EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", call)) << culprit;
      };
      refused([&] { static_cast<void>(other ? onefold::prod(here, x) : onefold::sum(here, x)); });
      refused([&] { static_cast<void>(other ? onefold::max(here, x) : onefold::sum(here, x)); });
      refused([&] { static_cast<void>(other ? onefold::sum(here, x) : onefold::max(here, x)); });
      refused([&] { static_cast<void>(other ? onefold::dot(here, x, x) : onefold::sum(here, x)); });
      refused([&] { static_cast<void>(other ? onefold::sum(here, x) : onefold::dot(here, x, x)); });
      refused([&] { static_cast<void>(other ? onefold::sum(here, x) : onefold::dot(here, x, floats)); });
      refused([&] { static_cast<void>(other ? onefold::dot(here, x, wholes) : onefold::dot(here, x, floats)); });
      refused([&] { static_cast<void>(other ? onefold::sum(here, x) : onefold::norm2(here, x)); });
      double a = 0, b = 0;
      onefold::mpi::batch one(here), two(here);
      one.add(onefold::sum, x, &a);
      two.add(onefold::sum, x, &a).add(onefold::sum, x, &b);
      refused([&] { other ? one.run() : two.run(); });
      refused([&] {
        other ? two.start() : one.start();
        other ? two.wait() : one.wait();
      });
      onefold::options exactly;
      exactly.guarantee = onefold::guarantee::exact;
      refused([&] { static_cast<void>(other ? onefold::mean(here, x, exactly) : onefold::sum(here, x, exactly)); });
      EXPECT_EQ(onefold::count(here, x), onefold::count(here, x)) << "and the next call works";
    }
  });
}

TEST(misuse, of_ranks_that_call_forms_of_complex_numbers_with_other_tiles_is_an_error_on_every_rank) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const std::vector<std::complex<float>> x(3000, {1, 2});
  const layout rows(MPI_COMM_WORLD, x.size());
  const auto here = rows.on(onefold::serial());
  for (const int culprit : culprits()) {
    const bool other = rank() == culprit;
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      if (other)
        static_cast<void>(onefold::norm1(here, x));
      else
        static_cast<void>(onefold::sum(here, x));
    })) << culprit;
    EXPECT_EQ(onefold::count(here, x), rows.total()) << "and the next call works";
  }
}

// Values of subtrees of other sizes, of which there are so many that their messages would have other sizes too.
TEST(misuse, of_ranks_that_call_forms_with_other_states_is_an_error_on_every_rank) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const std::vector<double> x(100'000, 0.5);
  const layout rows(MPI_COMM_WORLD, x.size());
  const auto here = rows.on(onefold::serial());
  for (const int culprit : culprits()) {
    EXPECT_TRUE(refuses(errc::communication_failed, "do not ask for the same", [&] {
      if (rank() == culprit)
        static_cast<void>(onefold::norm2(here, x));
      else
        static_cast<void>(onefold::sum(here, x));
    })) << culprit;
    EXPECT_EQ(onefold::count(here, x), rows.total()) << "and the next call works";
  }
}

// While it lives layouts are made that compare calls. It is enough that one rank asks for it.
struct checked_layouts {
  checked_layouts() {
    if (rank() == ranks() - 1) ::setenv("ONEFOLD_MPI_CHECK", "1", 1);
  }
  ~checked_layouts() { ::unsetenv("ONEFOLD_MPI_CHECK"); }
};

TEST(misuse, that_leaves_ranks_waiting_is_an_error_on_every_rank_where_calls_are_compared) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const checked_layouts checked;
  const onefold::mpi::communicator all(MPI_COMM_WORLD);
  on_two_layouts([&](const layout& rows, const std::vector<double>& x) {
    const auto here = rows.on(onefold::serial());
    const std::vector<float> floats(x.size(), 1);
    const std::vector<std::complex<double>> complex(x.size(), {1, 2});
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    const auto larger = [](double a, double b) { return a < b ? b : a; };
    for (const int culprit : culprits()) {
      const bool other = rank() == culprit;
      const auto refused = [&](const char* words, const auto& call, const auto& call_of_the_culprit) {
        EXPECT_TRUE(refuses(errc::communication_failed, std::string("do not make the same call: they differ in ") + words, [&] {
          if (other)
            call_of_the_culprit();
          else
            call();
        })) << culprit;
      };
      const auto sum = [&] { static_cast<void>(onefold::sum(here, x)); };
      const auto exact_sum = [&] { static_cast<void>(onefold::sum(here, x, exactly)); };
      const auto own = [&] { static_cast<void>(onefold::reduce(here, x, larger)); };
      refused("forms, types", sum, [&] { static_cast<void>(onefold::sum(here, floats)); });
      refused("forms, types", sum, [&] { static_cast<void>(onefold::sum(here, complex)); });
      refused("forms, types", sum, [&] { static_cast<void>(onefold::prod(here, x)); });
      refused("forms, types", exact_sum, [&] { static_cast<void>(onefold::dot(here, x, x, exactly)); });
      refused("forms, types", exact_sum, [&] { static_cast<void>(onefold::sum(here, floats, exactly)); });
      refused("forms, types", exact_sum, [&] { static_cast<void>(onefold::mean_variance(here, x, exactly)); });
      refused(
          "forms, types", [&] { static_cast<void>(onefold::sum(all.on(onefold::serial()), x)); },
          [&] { static_cast<void>(onefold::sum(all.on(onefold::serial()), floats)); });
      refused("whether it is exact", sum, exact_sum);
      refused("its root", sum, [&] { static_cast<void>(onefold::sum(here.root(0), x)); });
      refused(
          "its root", [&] { static_cast<void>(onefold::sum(here.root(1), x)); },
          [&] { static_cast<void>(onefold::sum(here.root(0), x)); });
      const char* const what = "what is called, or whether it is waited for";
      refused(what, sum, [&] { static_cast<void>(onefold::mpi::start(onefold::sum, here, x)); });
      refused(what, sum, [&] { static_cast<void>(rows.rank_of(0)); });
      refused(
          "forms, types, numbers of results, or the index", [&] { static_cast<void>(rows.rank_of(1)); },
          [&] { static_cast<void>(rows.rank_of(0)); });
      refused("the number of reductions", sum, own);
      double a = 0, b = 0;
      onefold::mpi::batch many(here), few(here), both(here);
      for (int i = 0; i < 40; ++i) many.add(onefold::sum, x, &a);
      few.add(onefold::sum, x, &a);
      both.add(onefold::sum, x, &a).add_reduce(x, larger, &b);
      refused(
          "the number of reductions", [&] { many.run(); }, [&] { few.run(); });
      refused(
          "the number of operators", [&] { few.start(); }, [&] { both.start(); });
      refused(
          "the number of operators", [&] { both.run(); }, [&] { few.run(); });

      // What agrees is as if nothing had been asked.
      const auto plain = onefold::sum(here, x), exact = onefold::sum(here, x, exactly);
      both.run();
      EXPECT_EQ(a, plain);
      EXPECT_EQ(b, onefold::max(here, x));
      EXPECT_EQ(exact, onefold::sum(all.on(onefold::serial()), x));
      auto later = onefold::mpi::start_reduce(here, x, larger);
      EXPECT_EQ(onefold::count(here, x), rows.total());
      EXPECT_EQ(later.wait(), b);
    }
  });
}

// The order of the elements is that of the communicator's ranks, whatever their numbers elsewhere.
TEST(a_layout, may_be_of_any_communicator) {
  const kind of{element_type::f64, form::sum};
  const uint64_t n = 12'345;
  const arrays in(of, n, 99, true);
  for (const int halves : {1, 2}) {
    MPI_Comm turned = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank() % halves, -rank(), &turned);
    int mine = 0, all = 0;
    MPI_Comm_rank(turned, &mine);
    MPI_Comm_size(turned, &all);
    const auto cut = [&](int which) { return n * static_cast<uint64_t>(which) / static_cast<uint64_t>(all); };
    const uint64_t begin = cut(mine), count = cut(mine + 1) - begin;
    const auto* const x = reinterpret_cast<const double*>(in.x(begin));
    {
      const layout rows(turned, count);
      EXPECT_EQ(rows.begin(), begin);
      compare(bits_of(onefold::sum(rows.on(onefold::serial()), x, count)), on_one_core(of, in, n), "a turned communicator");
      const onefold::mpi::communicator any(turned);
      onefold::options exactly;
      exactly.guarantee = onefold::guarantee::exact;
      compare(bits_of(onefold::sum(any.on(onefold::serial()), x, count)), on_one_core(of, in, n, exactly),
              "exactly, on a turned communicator");
    }
    MPI_Comm_free(&turned);
  }
}

TEST(misuse, of_roots_and_communicators_that_are_none_is_refused) {
  const std::vector<double> x(10, 1);
  const layout rows(MPI_COMM_WORLD, x.size());
  const auto here = rows.on(onefold::serial());
  for (const int root : {-1, ranks(), -2147483647})
    EXPECT_TRUE(refuses(errc::invalid_argument, "rank " + std::to_string(root) + " cannot be the root",
                        [&] { static_cast<void>(here.root(root)); }));
  for (const auto& [one, of] : {std::pair{-1, 4}, std::pair{4, 4}, std::pair{0, 0}})
    EXPECT_TRUE(refuses(errc::invalid_argument, "rank " + std::to_string(one) + " is none",
                        [&one = one, &of = of] { static_cast<void>(onefold::mpi::aligned_range<double>(9000, one, of)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "MPI_COMM_NULL", [&] { const layout none(MPI_COMM_NULL, 0); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "MPI_COMM_NULL", [&] { const onefold::mpi::communicator none(MPI_COMM_NULL); }));
  if (ranks() > 1) {
    MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, rank(), &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank() % 2 == 0 ? 1 : 0, 5, &between);
    EXPECT_TRUE(refuses(errc::invalid_argument, "between two groups", [&] { const layout none(between, 3); }));
    EXPECT_TRUE(refuses(errc::invalid_argument, "between two groups", [&] { const onefold::mpi::communicator none(between); }));
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
  }
  EXPECT_EQ(onefold::count(here, x), rows.total());
}

TEST(misuse, a_rank_that_throws_leaves_no_other_waiting) {
  on_two_layouts([](const layout& rows, const std::vector<double>& x) {
    for (int culprit = 0; culprit < ranks(); ++culprit) {
      const bool other = rank() == culprit;
      const std::string by = "rank " + std::to_string(culprit) + " could not take part";
      // A null pointer, and an executor that is not there, which all ranks must get through alike: who has elements.
      uint64_t smallest = 0;
      const uint64_t mine = x.size();
      MPI_Allreduce(&mine, &smallest, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
      if (smallest > 0) {
        expect_refused_everywhere(culprit, errc::null_pointer, "null", by + " in the reduction (null_pointer)", [&] {
          static_cast<void>(onefold::sum(rows.on(onefold::serial()), other ? nullptr : x.data(), x.size()));
        });
        expect_refused_everywhere(culprit, errc::null_pointer, "null", by, [&] {
          static_cast<void>(onefold::max(rows.on(onefold::serial()), other ? nullptr : x.data(), x.size()));
        });
      }
      expect_refused_everywhere(culprit, errc::invalid_argument, "differ in length", by, [&] {
        std::vector<double> y = x;
        if (other) y.push_back(1);
        static_cast<void>(onefold::dot(rows.on(onefold::serial()), x, y));
      });
      double sum = 0;
      onefold::mpi::batch work(rows.on(onefold::serial()));
      work.add(onefold::sum, x, &sum);
      if (other)
        EXPECT_NO_THROW(work.give_up().run());
      else
        EXPECT_TRUE(refuses(errc::communication_failed, "rank " + std::to_string(culprit) + " has given the reduction up",
                            [&] { work.run(); }));
      // Said while a call is under way it is for the next one.
      work.start();
      if (other) work.give_up();
      EXPECT_NO_THROW(work.wait());
      expect_same(sum, onefold::sum(rows.on(onefold::serial()), x), "a batch that was under way");
      if (other)
        EXPECT_NO_THROW(work.run());
      else
        EXPECT_TRUE(refuses(errc::communication_failed, "has given the reduction up", [&] { work.run(); }));
      onefold::options exactly;
      exactly.guarantee = onefold::guarantee::exact;
      if (other)
        EXPECT_TRUE(refuses(errc::null_pointer, "null",
                            [&] {
                              static_cast<void>(
                                  onefold::sum(rows.on(onefold::serial()), static_cast<double*>(nullptr), x.size(), exactly));
                            }) ||
                    x.empty());
      else
        EXPECT_TRUE(refuses(errc::communication_failed, by, [&] { work.run(exactly); }) || smallest == 0);
      EXPECT_NO_THROW(work.run());
    }
  });
}

TEST(misuse, what_needs_an_order_is_refused_without_a_layout) {
  const onefold::mpi::communicator world(MPI_COMM_WORLD);
  const std::vector<double> x(10, 1.5);
  const auto here = world.on(onefold::serial());
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "make a layout", [&] { static_cast<void>(onefold::prod(here, x)); }));
  onefold::options fixed;
  fixed.guarantee = onefold::guarantee::fixed;
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "make a layout", [&] { static_cast<void>(onefold::sum(here, x, fixed)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "needs a layout", [&] { static_cast<void>(onefold::argmin(here, x)); }));
  const layout rows(MPI_COMM_WORLD, x.size());
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "no exact result",
                      [&] { static_cast<void>(onefold::prod(rows.on(onefold::serial()), x, exactly)); }));
  // No such GPU; which error it is depends on whether there is any.
  EXPECT_THROW(static_cast<void>(onefold::sum(rows.on(onefold::cuda(1000)), x)), onefold::error);
}

// --- an MPI that folds in a wrong order -------------------------------------------------------------------------------------------------------

// Messages of simulated ranks, merged by hand.
struct messages {
  explicit messages(int ranks_made, form what = form::sum) {
    const onefold_message_part part{ONEFOLD_F64, static_cast<std::int32_t>(what), 0, 20};
    const std::vector<double> x(512 * 3, 0.5);
    for (int r = 0; r < ranks_made; ++r) {
      std::vector<uint64_t>& made = all.emplace_back(onefold_message_bytes(&part, 1) / 8);
      onefold::detail::check_status(onefold_message_begin(made.data(), made.size() * 8, &part, 1, 7, r));
      onefold::detail::check_status(onefold_message_add(made.data(), 0, onefold_serial(), x.data(), nullptr,
                                                        1536 * static_cast<uint64_t>(r), 1536,
                                                        1536 * static_cast<uint64_t>(ranks_made), nullptr));
    }
  }
  void merge(std::size_t left, std::size_t right) { onefold_message_merge(all[left].data(), all[right].data()); }
  double result(std::size_t of) {
    double found = 0;
    onefold::detail::check_status(
        onefold_message_result(all[of].data(), 0, static_cast<int>(all.size()), 1536 * all.size(), 0, &found));
    return found;
  }
  std::vector<std::vector<uint64_t>> all;
};

TEST(messages_of_ranks, are_merged_in_any_association_and_in_no_other_order) {
  for (const form what : {form::sum, form::max}) {
    const double expected = what == form::sum ? 3 * 768.0 : 0.5;
    messages left_first(3, what), right_first(3, what), exchanged(3, what), twice(3, what), one_missing(3, what);
    left_first.merge(0, 1);
    left_first.merge(1, 2);
    EXPECT_EQ(left_first.result(2), expected);
    right_first.merge(1, 2);
    right_first.merge(0, 2);
    EXPECT_EQ(right_first.result(2), expected);
    exchanged.merge(1, 0);
    exchanged.merge(0, 2);
    EXPECT_TRUE(refuses(errc::communication_failed, "another order", [&] { exchanged.result(2); }));
    twice.merge(0, 1);
    twice.merge(0, 1);
    twice.merge(1, 2);
    EXPECT_TRUE(refuses(errc::communication_failed, "another order", [&] { twice.result(2); }));
    one_missing.merge(1, 2);
    EXPECT_TRUE(refuses(errc::communication_failed, "another order", [&] { one_missing.result(2); }));
  }
}

}  // namespace
}  // namespace onefold_test
