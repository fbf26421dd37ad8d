/// @file report_test.cpp  What ran is what was asked for, and the names of CUDA variants run everywhere.

#include "fixture.hpp"

namespace onefold_test {
namespace {

class each_report : public reduction_test {};

TEST_P(each_report, says_what_ran) {
  const std::uint64_t count = count_of(5'000);
  guarded_input input(memory_for(where()), exact_data(type(), op(), count, current_seed()), op());
  const expectation expected = expected_exactly(op(), input.payload());
  ASSERT_TRUE(answers(one(), input.all(), count, expected));
  const auto ran = reduce(one(), input.all(), count).ran;
  EXPECT_EQ(ran.guarantee, variant().guarantee);
  if (on_cuda(*GetParam().on)) {
    EXPECT_EQ(ran.finish, variant().default_finish);
    EXPECT_EQ(ran.width, variant().default_width);
    if (!variant().block_sizes.empty()) {
      EXPECT_TRUE(std::ranges::find(variant().block_sizes, ran.block_size) != variant().block_sizes.end()) << ran.block_size;
    }
    if (variant().default_block_size != 0) {  // 0: by the count
      EXPECT_EQ(ran.block_size, variant().default_block_size);
    }
  } else if (GetParam().on->label == "openmp_all" && variant().guarantee == onefold::guarantee::none) {
    EXPECT_EQ(ran.threads, backend_under_test(onefold::backend::openmp).threads);
  }
  // The report is written over, not added to.
  onefold::report again;
  again.launches = 77;
  again.implementation = "something else";
  again = reduce(one(), input.all(), count, again).ran;
  EXPECT_EQ(again.launches, ran.launches);
  EXPECT_EQ(again.implementation, ran.implementation);
}

INSTANTIATE_TEST_SUITE_P(variants, each_report, testing::ValuesIn(reductions()), param_name);

// One test source runs everywhere: on the CPU the name of a CUDA kernel means its reference, unless the CPU has a variant of that
// name. The first, the middle and the last name of the catalogue stand for all, since the reference is one and the same.
std::vector<pairing> cuda_names_on_the_cpu() {
  std::vector<const onefold::variant_info*> names;
  for (const auto& variant : onefold::variants(onefold::backend::cuda))
    if (onefold::find_variant(variant.name, onefold::backend::serial) == nullptr) names.push_back(&variant);
  std::vector<pairing> all;
  for (const auto& where : executors())
    if (!on_cuda(where))
      for (const std::size_t i : {std::size_t{0}, names.size() / 2, names.size() - 1})
        if (std::ranges::none_of(all, [&](const pairing& known) { return known.on == &where && known.variant == names[i]; }))
          all.push_back({&where, names[i]});
  return all;
}

class each_cuda_name_on_the_cpu : public pairing_test {};

TEST_P(each_cuda_name_on_the_cpu, runs_the_reference_and_says_so) {
  for (int t = 0; t < onefold::full_type_count; ++t) {
    for (int o = 0; o < onefold::operation_count; ++o) {
      const auto type = static_cast<element_type>(t);
      const auto op = static_cast<operation>(o);
      guarded_input input(memory::host, exact_data(type, op, 10'007, current_seed()), op);
      const expectation expected = expected_exactly(op, input.payload());
      ASSERT_TRUE(answers(one(type, op), input.all(), 10'007, expected));
      // The launch shape has no meaning here: it is accepted and not used.
      trial shaped = one(type, op, onefold::finish::last_block);
      shaped.block_size = 256;
      shaped.grid_size = 3;
      shaped.width = 32;
      const auto got = reduce(shaped, input.all(), 10'007);
      EXPECT_FALSE(disagreement(expected, got.value)) << describe(shaped, 10'007, got.ran, expected, got.value);
      EXPECT_EQ(got.ran.variant, variant().name);
      EXPECT_EQ(got.ran.guarantee, onefold::guarantee::none);
      EXPECT_EQ(got.ran.implementation, "Kokkos::parallel_reduce");
      EXPECT_EQ(got.ran.finish, onefold::finish::none);
      EXPECT_EQ(got.ran.block_size, 0);
      EXPECT_EQ(got.ran.grid_size, 0);
      EXPECT_EQ(got.ran.width, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_cuda_name_on_the_cpu, testing::ValuesIn(cuda_names_on_the_cpu()), param_name);

}  // namespace
}  // namespace onefold_test
