/// @file selection_test.cpp  Which variant a request means, and the sentences for requests that cannot be met.

#include <numeric>

#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

using onefold::backend;
using onefold::errc;
using onefold::guarantee;

const std::vector<float> ones(1000, 1.0f);

float sum_with(const onefold::executor& where, const onefold::options& how) { return onefold::sum(where, ones, how); }

TEST(selection, of_an_unknown_name_lists_the_nearest) {
  EXPECT_TRUE(refuses(errc::unknown_variant, "did you mean parallel_reduce?",
                      [] { sum_with(onefold::serial(), {.variant = "paralel_reduce"}); }));
  for (const auto& variant : onefold::variants()) {
    std::string misspelt(variant.name);
    misspelt.erase(misspelt.size() / 2, 1);
    if (onefold::find_variant(misspelt) != nullptr) continue;
    EXPECT_TRUE(refuses(errc::unknown_variant, variant.name, [&] { sum_with(onefold::serial(), {.variant = misspelt}); }))
        << misspelt;
  }
}

TEST(selection, of_a_name_like_no_other_says_where_the_list_is) {
  EXPECT_TRUE(refuses(errc::unknown_variant, "onefold::variants() lists the names",
                      [] { sum_with(onefold::serial(), {.variant = "quicksort_by_bogo"}); }));
  EXPECT_TRUE(
      refuses(errc::unknown_variant, "\"quicksort_by_bogo\"", [] { sum_with(onefold::best(), {.variant = "quicksort_by_bogo"}); }));
}

// A request for a strong guarantee is never met by a weaker path: on every backend it is refused, whether a variant is named or
// not.
TEST(selection, of_a_guarantee_that_nothing_gives_is_refused_everywhere) {
  for (const auto& where : {onefold::serial(), onefold::openmp(), onefold::best(), onefold::cuda()}) {
    const auto& info = backend_under_test(where.chooses_itself() ? backend::serial : where.backend());
    if (!info.built) continue;
    for (const auto wanted : {guarantee::fixed, guarantee::exact}) {
      EXPECT_TRUE(refuses(errc::guarantee_not_met, onefold::name(wanted), [&] { sum_with(where, {.guarantee = wanted}); }))
          << text(where);
      for (const auto& variant : onefold::variants(where.chooses_itself() ? backend::serial : where.backend()))
        EXPECT_TRUE(variant.guarantee >= wanted ||
                    refuses(errc::guarantee_not_met, variant.name,
                            [&] { sum_with(where, {.variant = variant.name, .guarantee = wanted}); }))
            << variant.name << " on " << text(where);
    }
  }
  EXPECT_EQ(sum_with(onefold::serial(), {}), 1000.0f);
}

TEST(selection, of_the_cpu_reference_on_the_gpu_is_refused) {
  if (!backend_under_test(backend::cuda).built) GTEST_SKIP() << "built without the cuda backend";
  EXPECT_TRUE(refuses(errc::unsupported, "serial and openmp", [] { sum_with(onefold::cuda(), {.variant = "parallel_reduce"}); }));
}

TEST(selection, of_nothing_on_the_cpu_is_the_reference) {
  onefold::report ran;
  EXPECT_EQ(sum_with(onefold::serial(), {.report = &ran}), 1000.0f);
  EXPECT_EQ(ran.variant, "parallel_reduce");
  EXPECT_EQ(ran.implementation, "Kokkos::parallel_reduce");
  EXPECT_EQ(ran.backend, backend::serial);
}

TEST(best, takes_one_thread_for_little_and_all_for_much) {
  onefold::report ran;
  EXPECT_EQ(onefold::sum(ones, {.report = &ran}), 1000.0f);
  EXPECT_EQ(ran.backend, backend::serial);
  const std::vector<float> many(256 * 1024 / sizeof(float), 1.0f);
  EXPECT_EQ(onefold::sum(many, {.report = &ran}), static_cast<float>(many.size()));
  EXPECT_EQ(ran.backend, backend_under_test(backend::openmp).built ? backend::openmp : backend::serial);
  EXPECT_EQ(onefold::sum(std::span(many).first(many.size() - 1), {.report = &ran}), static_cast<float>(many.size() - 1));
  EXPECT_EQ(ran.backend, backend::serial);
}

TEST(best, takes_the_name_of_any_variant) {
  for (const auto& variant : onefold::variants()) EXPECT_EQ(onefold::sum(ones, {.variant = variant.name}), 1000.0f) << variant.name;
}

// --- the typed front door
// ------------------------------------------------------------------------------------------------------------

TEST(front_door, takes_vectors_spans_arrays_and_pointers) {
  std::vector<double> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  const double c_array[] = {1, 2, 3};
  const std::array<double, 3> array{1, 2, 3};
  EXPECT_EQ(onefold::sum(numbers), 5050.0);
  EXPECT_EQ(onefold::sum(onefold::serial(), numbers), 5050.0);
  EXPECT_EQ(onefold::sum(std::span<const double>(numbers).subspan(50)), 3775.0);
  EXPECT_EQ(onefold::sum(numbers.data(), 10), 55.0);
  EXPECT_EQ(onefold::sum(onefold::serial(), numbers.data(), 10), 55.0);
  EXPECT_EQ(onefold::sum(c_array), 6.0);
  EXPECT_EQ(onefold::prod(array), 6.0);
  EXPECT_EQ(onefold::reduce(array, onefold::op::max{}), 3.0);
  EXPECT_EQ(onefold::reduce(onefold::serial(), array, onefold::op::min{}), 1.0);
  EXPECT_EQ(onefold::reduce(numbers.data(), 3, onefold::op::sum{}), 6.0);
}

TEST(front_door, has_a_name_for_every_operator) {
  const std::vector<long long> numbers{3, -4, 5};
  EXPECT_EQ(onefold::sum(numbers), 4);
  EXPECT_EQ(onefold::prod(numbers), -60);
  EXPECT_EQ(onefold::min(numbers), -4);
  EXPECT_EQ(onefold::max(numbers), 5);
  static_assert(std::is_same_v<decltype(onefold::sum(numbers)), long long>, "the value has the type of the elements");
}

TEST(front_door, stores_where_it_is_told_to) {
  const std::vector<unsigned> numbers{3, 4, 5};
  unsigned result = 0;
  onefold::sum_into(onefold::serial(), numbers, &result);
  EXPECT_EQ(result, 12u);
  onefold::prod_into(onefold::serial(), numbers.data(), 2, &result);
  EXPECT_EQ(result, 12u);
  onefold::min_into(onefold::best(), numbers, &result);
  EXPECT_EQ(result, 3u);
  onefold::max_into(onefold::serial(), numbers, &result);
  EXPECT_EQ(result, 5u);
  onefold::reduce_into(onefold::serial(), numbers, &result, onefold::op::sum{});
  EXPECT_EQ(result, 12u);
}

TEST(front_door, gives_the_identity_for_empty_ranges) {
  const std::vector<float> none;
  EXPECT_EQ(onefold::sum(none), 0.0f);
  EXPECT_FALSE(std::signbit(onefold::sum(none)));
  EXPECT_EQ(onefold::prod(none), 1.0f);
  EXPECT_EQ(onefold::min(none), std::numeric_limits<float>::infinity());
  EXPECT_EQ(onefold::max(none), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(onefold::max(static_cast<const int*>(nullptr), 0), std::numeric_limits<int>::lowest());
}

}  // namespace
}  // namespace onefold_test
