/// @file catalogue_test.cpp  The catalogue says what there is, and why something cannot run.

#include <algorithm>
#include <cctype>
#include <set>

#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

using onefold::backend;
using onefold::errc;
using onefold::finish;

TEST(catalogue, lists_each_name_of_a_backend_once_and_in_snake_case) {
  std::set<std::pair<backend, std::string_view>> names;
  for (const auto& variant : onefold::variants()) {
    EXPECT_TRUE(names.insert({variant.backend, variant.name}).second) << variant.name << " stands twice";
    EXPECT_TRUE(std::ranges::all_of(variant.name, [](char c) {
      return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) || c == '_';
    })) << variant.name;
    EXPECT_NE(variant.name, "");
    EXPECT_NE(variant.seed, "") << variant.name;
    EXPECT_NE(variant.summary, "") << variant.name;
  }
}

TEST(catalogue, has_variants_for_every_backend_built_or_not) {
  EXPECT_FALSE(onefold::variants(backend::serial).empty());
  EXPECT_FALSE(onefold::variants(backend::cuda).empty());
  EXPECT_EQ(onefold::variants(backend::serial).data(), onefold::variants(backend::openmp).data());
  EXPECT_EQ(onefold::variants(backend::serial).size() + onefold::variants(backend::cuda).size(), onefold::variants().size());
}

TEST(catalogue, says_whether_a_variant_is_built) {
  for (const auto& variant : onefold::variants())
    EXPECT_EQ(variant.built, backend_under_test(variant.backend).built) << variant.name;
}

TEST(catalogue, finds_each_variant_by_its_name_and_nothing_by_others) {
  for (const auto& variant : onefold::variants()) {
    EXPECT_EQ(onefold::find_variant(variant.name, variant.backend), &variant);
    const auto* first = onefold::find_variant(variant.name);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->name, variant.name);
    EXPECT_LE(first, &variant);
  }
  for (const char* text : {"", "Warp_shuffle", "parallel_reduce ", "sum"}) {
    EXPECT_EQ(onefold::find_variant(text), nullptr) << text;
    for (const auto where : {backend::serial, backend::openmp, backend::cuda})
      EXPECT_EQ(onefold::find_variant(text, where), nullptr) << text;
  }
}

TEST(catalogue, finds_by_name_only_what_is_native_to_the_backend) {
  for (const auto where : {backend::serial, backend::openmp}) {
    ASSERT_NE(onefold::find_variant("parallel_reduce", where), nullptr);
    EXPECT_EQ(onefold::find_variant("parallel_reduce", where), onefold::find_variant("parallel_reduce"));
    EXPECT_EQ(onefold::find_variant("vector_load", where), nullptr);
  }
  EXPECT_EQ(onefold::find_variant("parallel_reduce", backend::cuda), nullptr);
  EXPECT_NE(onefold::find_variant("vector_load", backend::cuda), nullptr);
}

// The default, and the one name that means the same bits everywhere.
TEST(catalogue, has_the_fixed_order_on_every_backend_and_promises_it) {
  for (const auto where : {backend::serial, backend::openmp, backend::cuda}) {
    const auto* variant = onefold::find_variant("fixed_order", where);
    ASSERT_NE(variant, nullptr) << onefold::name(where);
    EXPECT_EQ(variant->guarantee, onefold::guarantee::fixed);
    if (!variant->built) continue;
    EXPECT_TRUE(variant->takes_everything);
    for (int type = 0; type < onefold::full_type_count; ++type)
      for (int what = 0; what < onefold::form_count; ++what)
        EXPECT_EQ(variant->supports(static_cast<element_type>(type), static_cast<onefold::form>(what)),
                  onefold::takes_type(static_cast<onefold::form>(what), static_cast<element_type>(type)));
  }
  for (const auto& variant : onefold::variants())
    EXPECT_EQ(variant.guarantee == onefold::guarantee::fixed, variant.name == "fixed_order") << variant.name;
}

TEST(catalogue, says_which_forms_complex_numbers_have_where) {
  using onefold::form;
  for (const auto& variant : onefold::variants()) {
    SCOPED_TRACE(variant.name);
    const bool is_default = variant.built && variant.takes_everything;
    for (const auto type : {element_type::c64, element_type::c128}) {
      for (const auto what : {form::sum, form::dot, form::norm2, form::count, form::any, form::mean_variance})
        EXPECT_EQ(variant.supports(type, what), is_default);
      for (const auto what : {form::min, form::argmax, form::minmax, form::bit_or}) EXPECT_FALSE(variant.supports(type, what));
    }
  }
}

TEST(catalogue, offers_the_defaults_among_the_choices) {
  const auto holds = [](const auto& choices, auto value) { return std::ranges::find(choices, value) != choices.end(); };
  for (const auto& variant : onefold::variants()) {
    SCOPED_TRACE(variant.name);
    if (!variant.built) continue;
    EXPECT_NE(variant.default_finish, finish::automatic);
    if (!variant.finishes.empty()) {
      EXPECT_TRUE(holds(variant.finishes, variant.default_finish));
    }
    EXPECT_FALSE(holds(variant.finishes, finish::automatic));
    EXPECT_FALSE(holds(variant.finishes, finish::none));
    if (!variant.block_sizes.empty() && variant.default_block_size != 0) {  // 0: by the count
      EXPECT_TRUE(holds(variant.block_sizes, variant.default_block_size));
    }
    if (!variant.widths.empty()) {
      EXPECT_TRUE(holds(variant.widths, variant.default_width));
      EXPECT_NE(variant.width_meaning, "");
    }
    unsigned operators = 0;
    for (const unsigned of_type : variant.operators) {
      operators |= of_type;
      EXPECT_LT(of_type, 1U << onefold::operation_count);
    }
    EXPECT_TRUE(variant.takes_everything || operators != 0) << "takes nothing at all";
    EXPECT_EQ(variant.takes_everything, variant.limits.empty()) << "what is refused must be said, and nothing else";
  }
}

TEST(catalogue, says_why_a_cuda_kernel_cannot_run_on_a_cpu) {
  for (const auto& variant : onefold::variants(backend::cuda)) {
    for (const auto& where : {onefold::serial(), onefold::openmp()}) {
      if (onefold::find_variant(variant.name, where.backend()) != nullptr) {  // fixed_order: runs there too, under its own name
        EXPECT_EQ(onefold::why_not(variant, onefold::serial()), std::nullopt);
        continue;
      }
      const auto reason = onefold::why_not(variant, where);
      ASSERT_TRUE(reason.has_value());
      EXPECT_NE(reason->find(variant.name), std::string::npos);
      EXPECT_NE(reason->find("Kokkos::parallel_reduce"), std::string::npos);
    }
  }
}

TEST(catalogue, says_why_the_reference_cannot_run_on_a_gpu) {
  for (const auto& variant : onefold::variants(backend::serial)) {
    const auto reason = onefold::why_not(variant, onefold::cuda());
    if (onefold::find_variant(variant.name, backend::cuda) != nullptr) {
      const auto& cuda = backend_under_test(backend::cuda);
      EXPECT_EQ(reason, cuda.usable ? std::nullopt : std::optional(cuda.detail)) << "only the GPU itself can be the reason";
      continue;
    }
    ASSERT_TRUE(reason.has_value());
    EXPECT_NE(reason->find("serial and openmp"), std::string::npos);
  }
}

TEST(catalogue, has_nothing_against_what_can_run) {
  for (const auto& variant : onefold::variants(backend::serial)) {
    EXPECT_EQ(onefold::why_not(variant, onefold::serial()), std::nullopt);
    EXPECT_EQ(onefold::why_not(variant, onefold::best()), std::nullopt);
  }
}

TEST(catalogue, says_that_a_backend_is_not_built_or_not_usable) {
  const auto& cuda = backend_under_test(backend::cuda);
  if (cuda.usable) {
    for (const auto& variant : onefold::variants(backend::cuda))
      EXPECT_EQ(onefold::why_not(variant, onefold::cuda()), std::nullopt);
    return;
  }
  for (const auto& variant : onefold::variants(backend::cuda)) EXPECT_EQ(onefold::why_not(variant, onefold::cuda()), cuda.detail);
  EXPECT_NE(cuda.detail, "");
}

TEST(backends, are_listed_each_once_with_a_sentence) {
  const auto all = onefold::backends();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(onefold::backend_count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].where, static_cast<backend>(i));
    EXPECT_NE(all[i].detail, "");
    if (all[i].usable) {
      EXPECT_TRUE(all[i].built);
    }
    EXPECT_EQ(all[i].where == backend::cuda && all[i].usable, !all[i].devices.empty());
  }
  EXPECT_TRUE(all[0].usable) << all[0].detail;
  EXPECT_EQ(all[0].threads, 1);
}

TEST(synchronize, returns_at_once_where_nothing_is_pending) {
  EXPECT_NO_THROW(onefold::synchronize(onefold::serial()));
  EXPECT_NO_THROW(onefold::synchronize(onefold::best()));
  const auto& cuda = backend_under_test(backend::cuda);
  if (cuda.usable) return;
  const auto code = cuda.built ? errc::backend_unavailable : errc::backend_not_built;
  EXPECT_TRUE(refuses(code, cuda.detail, [] { onefold::synchronize(onefold::cuda()); }));
}

}  // namespace
}  // namespace onefold_test
