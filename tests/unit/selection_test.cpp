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

// Every executor of the backends that are built, and best(); cuda() without a GPU too, since what cannot be chosen is refused before the
// device is asked.
std::vector<onefold::executor> every_executor() {
  std::vector<onefold::executor> all{onefold::best()};
  for (const auto& where : {onefold::serial(), onefold::openmp(1), onefold::openmp(), onefold::cuda()})
    if (backend_under_test(where.backend()).built) all.push_back(where);
  return all;
}

backend backend_of(const onefold::executor& where) { return where.chooses_itself() ? backend::serial : where.backend(); }

// The executors whose memory is the host's.
std::vector<onefold::executor> cpu_executors() {
  auto all = every_executor();
  std::erase_if(all, [](const onefold::executor& where) { return backend_of(where) == backend::cuda; });
  return all;
}

// A request for a strong guarantee is never met by a weaker path.
TEST(selection, of_the_exact_guarantee_runs_the_superaccumulator_and_no_other) {
  for (const auto& where : every_executor()) {
    const bool on_gpu = backend_of(where) == backend::cuda;
    if (on_gpu) {
      for (const std::string_view named : {"", "superaccumulator"}) {
        const auto call = [&] { return sum_with(where, {.variant = named, .guarantee = guarantee::exact}); };
        if (backend_under_test(backend::cuda).usable)
          EXPECT_EQ(call(), 1000.0f);
        else
          EXPECT_TRUE(refuses(errc::backend_unavailable, "", call)) << text(where);
      }
    } else {
      onefold::report ran;
      EXPECT_EQ(sum_with(where, {.guarantee = guarantee::exact, .report = &ran}), 1000.0f);
      EXPECT_EQ(ran.variant, "superaccumulator");
      EXPECT_EQ(ran.implementation.substr(0, ran.implementation.find('/')), "superaccumulator");
      EXPECT_EQ(ran.guarantee, guarantee::exact);
    }
    for (const auto& variant : onefold::variants()) {
      if (variant.guarantee == guarantee::exact) continue;
      EXPECT_TRUE(refuses(
          onefold::find_variant(variant.name, backend_of(where)) == nullptr && on_gpu ? errc::unsupported : errc::guarantee_not_met,
          "", [&] { sum_with(where, {.variant = variant.name, .guarantee = guarantee::exact}); }))
          << variant.name << " on " << text(where);
    }
  }
  EXPECT_EQ(sum_with(onefold::serial(), {}), 1000.0f);
}

TEST(selection, of_the_fixed_guarantee_with_a_variant_that_does_not_give_it_is_refused) {
  for (const auto& where : every_executor()) {
    int refused = 0;
    for (const auto& variant : onefold::variants()) {
      const auto* native = native_variant(variant.name, where);
      if (native == nullptr || native->guarantee >= guarantee::fixed) continue;
      ++refused;
      for (const auto wanted : {guarantee::fixed, guarantee::exact})
        EXPECT_TRUE(refuses(errc::guarantee_not_met, native->name,
                            [&] { sum_with(where, {.variant = variant.name, .guarantee = wanted}); }))
            << variant.name << " on " << text(where);
      EXPECT_TRUE(refuses(errc::guarantee_not_met, "name fixed_order",
                          [&] { sum_with(where, {.variant = variant.name, .guarantee = guarantee::fixed}); }));
    }
    EXPECT_GT(refused, 20) << text(where);
  }
}

TEST(selection, of_a_named_variant_without_a_guarantee_runs_it_and_reports_what_it_promises) {
  for (const auto& where : cpu_executors()) {
    for (const auto& variant : onefold::variants()) {
      for (const auto wanted : {std::optional<guarantee>{}, std::optional(guarantee::none)}) {
        onefold::report ran;
        EXPECT_EQ(sum_with(where, {.variant = variant.name, .guarantee = wanted, .report = &ran}), 1000.0f) << variant.name;
        EXPECT_EQ(ran.variant, variant.name);
        const bool is_native = onefold::find_variant(variant.name, backend::serial) != nullptr;
        EXPECT_EQ(ran.guarantee, is_native ? variant.guarantee : guarantee::none) << variant.name;
        EXPECT_EQ(ran.implementation.starts_with(std::string(variant.name) + "/"), variant.guarantee >= guarantee::fixed)
            << variant.name << " ran as " << ran.implementation;
      }
    }
  }
}

TEST(selection, of_nothing_is_the_fixed_order_and_says_so) {
  for (const auto& where : cpu_executors()) {
    for (const auto wanted : {std::optional<guarantee>{}, std::optional(guarantee::fixed)}) {
      for (const std::string_view named : {"", "fixed_order"}) {
        onefold::report ran;
        EXPECT_EQ(sum_with(where, {.variant = named, .guarantee = wanted, .report = &ran}), 1000.0f);
        EXPECT_EQ(ran.variant, "fixed_order");
        EXPECT_TRUE(ran.implementation.starts_with("fixed_order/")) << ran.implementation;
        EXPECT_EQ(ran.guarantee, guarantee::fixed);
        EXPECT_EQ(ran.backend, backend_of(where));
      }
    }
  }
}

// No promise asked for: whatever is fastest may run, and says what it promises.
TEST(selection, of_no_guarantee_may_take_any_variant) {
  for (const auto& where : cpu_executors()) {
    onefold::report ran;
    EXPECT_EQ(sum_with(where, {.guarantee = guarantee::none, .report = &ran}), 1000.0f);
    const auto* variant = onefold::find_variant(ran.variant, backend_of(where));
    ASSERT_NE(variant, nullptr) << ran.variant;
    EXPECT_EQ(ran.guarantee, variant->guarantee);
    EXPECT_EQ(onefold::norm2(where, std::vector<float>{3, 4}, {.guarantee = guarantee::none}), 5.0f)
        << "a form that few variants take must find one that does";
  }
}

// Variants that reduce elements as they are refuse the other forms with a sentence that says what they take.
template <class Call>
void expect_plain_only(const onefold::executor& where, std::string_view words, Call call) {
  for (const auto& variant : onefold::variants()) {
    const auto* native = native_variant(variant.name, where);
    if (native == nullptr || native->supports(element_type::f32, onefold::form::dot)) continue;
    const std::string reason(native->built ? native->limits : words);
    EXPECT_TRUE(refuses(errc::unsupported, words, [&] { call({.variant = variant.name}); })) << variant.name << text(where);
    EXPECT_TRUE(refuses(errc::unsupported, reason, [&] { call({.variant = variant.name}); })) << variant.name << text(where);
    EXPECT_TRUE(refuses(errc::unsupported, native->name, [&] { call({.variant = variant.name}); })) << variant.name << text(where);
  }
}

TEST(selection, of_a_form_that_the_named_variant_does_not_take_is_refused_with_the_reason) {
  for (const auto& where : every_executor()) {
    const auto refused = [&](std::string_view words, auto call) { expect_plain_only(where, words, call); };
    using how = const onefold::options&;
    refused("dot of f32", [&](how with) { static_cast<void>(onefold::dot(where, ones, ones, with)); });
    refused("sum_of_squares of f32", [&](how with) { static_cast<void>(onefold::sum_of_squares(where, ones, with)); });
    refused("norm1 of f32", [&](how with) { static_cast<void>(onefold::norm1(where, ones, with)); });
    refused("norm_inf of f32", [&](how with) { static_cast<void>(onefold::norm_inf(where, ones, with)); });
    refused("norm2 of f32", [&](how with) { static_cast<void>(onefold::norm2(where, ones, with)); });
    refused("mean of f32", [&](how with) { static_cast<void>(onefold::mean(where, ones, with)); });
    refused("accumulated in a wider type",
            [&](how with) { static_cast<void>(onefold::sum(where, ones, onefold::accumulate_as<double>, with)); });
    refused("norm1 of i64", [&](how with) { static_cast<void>(onefold::norm1(where, std::vector<long>{1, 2}, with)); });
  }
  EXPECT_EQ(onefold::dot(ones, ones), 1000.0f);
}

TEST(selection, of_the_cpu_reference_on_the_gpu_is_refused) {
  if (!backend_under_test(backend::cuda).built) GTEST_SKIP() << "built without the cuda backend";
  EXPECT_TRUE(refuses(errc::unsupported, "serial and openmp", [] { sum_with(onefold::cuda(), {.variant = "parallel_reduce"}); }));
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
