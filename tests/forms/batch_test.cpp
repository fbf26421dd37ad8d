/// @file batch_test.cpp  Several reductions launched together and waited for once: each has the bits that it has alone.

#include <array>
#include <cstring>
#include <memory>
#include <span>

#include <onefold/batch.hpp>
#include <onefold/multi_dot.hpp>

#include "record_fixture.hpp"

namespace onefold_test {
namespace {

std::vector<const executor_under_test*> all_executors() {
  std::vector<const executor_under_test*> all;
  for (const auto& group : {each_of_the_executors(), further_executors()}) all.insert(all.end(), group.begin(), group.end());
  return all;
}

class a_batch : public dispatching_test, public testing::WithParamInterface<const executor_under_test*> {
 protected:
  void SetUp() override { start(*GetParam()); }
  [[nodiscard]] const onefold::executor& where() const { return GetParam()->where; }

  // An array where the executor can read it.
  template <class T>
  class placed {
   public:
    placed(const onefold::executor& where, std::uint64_t count, std::uint64_t seed)
        : memory_(memory_for(where), any_values(onefold::element_type_of<T>, count, seed), operation::sum), count_(count) {
      data_ = static_cast<const T*>(memory_.all());
    }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] std::uint64_t size() const { return count_; }

   private:
    guarded_input memory_;
    std::uint64_t count_;
    const T* data_;
  };
};

template <class T>
void expect_same(const T& got, const T& alone, const char* what) {
  EXPECT_EQ(std::memcmp(&got, &alone, sizeof(T)), 0) << what;
}

TEST_P(a_batch, gives_each_result_the_bits_that_it_has_alone) {
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{100'003}}) {
    const placed<double> r(where(), n, 1), z(where(), n, 2);
    const placed<float> f(where(), n + 7, 3);
    const placed<std::int32_t> i(where(), n, 4);
    double rho = 0, norm = 0, wide = 0;
    float least = 0;
    std::uint64_t marked = 0;
    bool some = false;
    onefold::mean_variance_result<double> moments{};
    onefold::arg_result<std::int32_t> largest{};
    onefold::batch work(where());
    work.add(onefold::dot, r.data(), z.data(), n, &rho)
        .add(onefold::norm2, r.data(), n, &norm)
        .add(onefold::sum, f.data(), f.size(), &wide, onefold::accumulate_as<double>)
        .add(onefold::min, f.data(), f.size(), &least)
        .add<form::count>(i.data(), n, &marked)
        .add<form::any>(i.data(), n, &some)
        .add(onefold::mean_variance, r.data(), n, &moments, onefold::ddof{1})
        .add(onefold::argmax, i.data(), n, &largest);
    ASSERT_EQ(work.size(), 8U);
    for (int again = 0; again < 2; ++again) {
      work.run();
      count_dispatch(where());
      expect_same(rho, onefold::dot(where(), r.data(), z.data(), n), "dot");
      expect_same(norm, onefold::norm2(where(), r.data(), n), "norm2");
      expect_same(wide, onefold::sum(where(), f.data(), f.size(), onefold::accumulate_as<double>), "sum");
      expect_same(least, onefold::min(where(), f.data(), f.size()), "min");
      EXPECT_EQ(marked, onefold::count(where(), i.data(), n));
      EXPECT_EQ(some, onefold::any(where(), i.data(), n));
      expect_same(moments, onefold::mean_variance(where(), r.data(), n, onefold::ddof{1}), "mean_variance");
      const auto alone = onefold::argmax(where(), i.data(), n);
      EXPECT_EQ(largest.value, alone.value);
      EXPECT_EQ(largest.index, alone.index);
      rho = norm = wide = 0;
    }
  }
}

TEST_P(a_batch, has_dots_of_two_types) {
  constexpr std::uint64_t n = 20'001;
  const placed<double> x(where(), n, 1);
  const placed<float> f(where(), n, 2);
  const placed<std::int32_t> i(where(), n, 3);
  double rho = 0, other = 0, norm = 0;
  float weighted = 0;
  onefold::batch work(where());
  work.add(onefold::dot, f.data(), x.data(), n, &rho)
      .add(onefold::norm2, x.data(), n, &norm)
      .add(onefold::dot, std::span<const double>(x.data(), n), std::span<const std::int32_t>(i.data(), n), &other)
      .add(onefold::dot, i.data(), f.data(), n, &weighted)
      .run();
  count_dispatch(where());
  expect_same(rho, onefold::dot(where(), f.data(), x.data(), n), "dot of floats and doubles");
  expect_same(other, onefold::dot(where(), x.data(), i.data(), n), "dot of doubles and integers");
  expect_same(weighted, onefold::dot(where(), i.data(), f.data(), n), "dot of integers and floats");
  expect_same(norm, onefold::norm2(where(), x.data(), n), "norm2 beside them");
}

TEST_P(a_batch, of_many_reductions) {
  const placed<double> x(where(), 10'000, 5);
  constexpr std::size_t many = 64;
  std::array<double, many> results{};
  onefold::batch work(where());
  for (std::size_t k = 0; k < many; ++k) work.add(onefold::sum, x.data() + k, x.size() - 2 * k, &results[k]);
  work.run();
  count_dispatch(where());
  for (std::size_t k = 0; k < many; ++k)
    expect_same(results[k], onefold::sum(where(), x.data() + k, x.size() - 2 * k), std::to_string(k).c_str());
}

// Forms and sizes in turn, misaligned, more than one launch takes, and some too large to be launched together.
TEST_P(a_batch, of_many_forms_and_sizes) {
  constexpr std::uint64_t large = std::uint64_t{1} << 23;  // floats
  const placed<double> x(where(), 300'008, 5), y(where(), 300'008, 6);
  const placed<float> f(where(), large, 7), g(where(), 300'008, 8);
  constexpr std::uint64_t counts[] = {1, 5, 511, 512, 513, 10'000, 16'384, 16'385, 33'000, 300'000};
  constexpr form forms[] = {form::sum,   form::dot,  form::norm2,      form::max,          form::norm1, form::sum_of_squares,
                            form::count, form::mean, form::min_number, form::mean_variance};
  constexpr std::size_t many = 170;
  constexpr std::size_t places = 4;  // words of a result
  std::array<std::uint64_t, many * places> together{}, alone{};
  std::vector<onefold_request> requests;
  for (std::size_t k = 0; k < many; ++k) {
    const bool doubles = k % 3 != 0;
    const std::uint64_t count = k == 90 ? large - 3 : counts[k % std::size(counts)];
    onefold::detail::request what{where(),
                                  doubles && k != 90 ? element_type::f64 : element_type::f32,
                                  k == 90 ? form::sum : forms[k / 7 % std::size(forms)],
                                  nullptr,
                                  count,
                                  &alone[k * places],
                                  true};
    const bool are_doubles = what.type == element_type::f64;
    what.input = are_doubles ? static_cast<const void*>(x.data() + k % 5) : f.data() + k % 3;
    what.second = are_doubles ? static_cast<const void*>(y.data() + k % 4) : g.data() + k % 7;
    if (what.form != form::dot) what.second = nullptr;
    onefold::detail::run(what, {});
    what.output = &together[k * places];
    requests.push_back(onefold::detail::c_request(what));
  }
  for (int again = 0; again < 3; ++again) {
    together.fill(0);
    ASSERT_EQ(onefold_reduce_batch(requests.data(), requests.size(), nullptr), 0) << onefold_last_error();
    count_dispatch(where());
    for (std::size_t k = 0; k < many; ++k)
      ASSERT_EQ(std::memcmp(&together[k * places], &alone[k * places], places * 8), 0)
          << "number " << k << ", " << name(static_cast<form>(requests[k].form)) << " of " << requests[k].count;
  }
}

TEST_P(a_batch, stores_results_where_the_executor_writes) {
  const placed<double> x(where(), 20'000, 5);
  const placed<float> f(where(), 20'000, 6);
  guarded_output sum(memory_for(where()), element_type::f64), least(memory_for(where()), element_type::f32);
  double norm = 0;
  onefold::detail::request asked[] = {
      {where(), element_type::f64, form::sum, x.data(), x.size(), sum.address(), false},
      {where(), element_type::f64, form::norm2, x.data(), x.size(), &norm, true},
      {where(), element_type::f32, form::min, f.data(), f.size(), least.address(), false},
  };
  std::vector<onefold_request> requests;
  for (const auto& one : asked) requests.push_back(onefold::detail::c_request(one));
  ASSERT_EQ(onefold_reduce_batch(requests.data(), requests.size(), nullptr), 0) << onefold_last_error();
  count_dispatch(where());
  onefold::synchronize(where());
  expect_same(norm, onefold::norm2(where(), x.data(), x.size()), "norm2");
  const double total = onefold::sum(where(), x.data(), x.size());
  const float smallest = onefold::min(where(), f.data(), f.size());
  EXPECT_EQ(std::memcmp(sum.bytes().data(), &total, sizeof(total)), 0);
  EXPECT_EQ(std::memcmp(least.bytes().data(), &smallest, sizeof(smallest)), 0);
  EXPECT_TRUE(sum.surroundings_unchanged() && least.surroundings_unchanged());
}

TEST_P(a_batch, takes_arrays_without_elements) {
  double sum = 1, mean = 1;
  float product = 0;
  onefold::batch work(where());
  work.add(onefold::sum, static_cast<const double*>(nullptr), 0, &sum)
      .add(onefold::mean, static_cast<const double*>(nullptr), 0, &mean)
      .add(onefold::prod, static_cast<const float*>(nullptr), 0, &product);
  work.run();
  count_dispatch(where());
  EXPECT_EQ(sum, 0.0);
  EXPECT_NE(mean, mean);
  EXPECT_EQ(product, 1.0F);
}

TEST_P(a_batch, that_fails_in_one_reduction_leaves_the_next_batch_working) {
  const placed<double> x(where(), 1000, 6);
  double first = 0, third = 0;
  onefold::arg_result<double> second{};
  onefold::batch work(where());
  work.add(onefold::sum, x.data(), x.size(), &first)
      .add(onefold::argmin, x.data(), 0, &second)  // of nothing there is no index
      .add(onefold::max, x.data(), x.size(), &third);
  EXPECT_THROW(work.run(), onefold::error);
  work.clear();
  work.add(onefold::sum, x.data(), x.size(), &first).run();
  count_dispatch(where());
  expect_same(first, onefold::sum(where(), x.data(), x.size()), "sum");
}

INSTANTIATE_TEST_SUITE_P(forms, a_batch, testing::ValuesIn(all_executors()), label_of_executor);

TEST(batches, are_empty_without_harm_and_refuse_what_they_cannot_do) {
  EXPECT_EQ(onefold_reduce_batch(nullptr, 0, nullptr), ONEFOLD_OK);
  EXPECT_EQ(onefold_reduce_batch(nullptr, 1, nullptr), ONEFOLD_NULL_POINTER);
  onefold::batch(onefold::serial()).run();

  const double x[2] = {1, 2};
  double result = 0;
  onefold_request requests[2] = {};
  for (onefold_request& each : requests) {
    each.struct_bytes = sizeof(each);
    each.where = onefold_serial();
    each.type = ONEFOLD_F64;
    each.form = ONEFOLD_SUM;
    each.input = x;
    each.count = 2;
    each.output = &result;
  }
  EXPECT_EQ(onefold_reduce_batch(requests, 2, nullptr), ONEFOLD_OK);
  EXPECT_EQ(result, 3);
  requests[1].where = onefold_openmp(2);
  EXPECT_EQ(onefold_reduce_batch(requests, 2, nullptr), ONEFOLD_INVALID_ARGUMENT);
  requests[1].where = requests[0].where;
  requests[1].form = 99;
  EXPECT_EQ(onefold_reduce_batch(requests, 2, nullptr), ONEFOLD_INVALID_ARGUMENT);
  requests[1].form = ONEFOLD_SUM;
  requests[1].struct_bytes = 3;
  EXPECT_EQ(onefold_reduce_batch(requests, 2, nullptr), ONEFOLD_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace onefold_test
