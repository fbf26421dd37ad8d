/// @file policy_test.cpp  Launch policies: what is built in, what files may say and how others are refused, and what calls make of them. On the
/// CUDA runtime made of host memory, so without a GPU; that bits never depend on a policy is shown on one (forms/shapes_test.cpp).

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../../backends/cuda/fixed_order/plan.hpp"
#include "../../backends/cuda/policy.hpp"
#include "../support/gtest_support.hpp"
#include "fake_runtime.hpp"

namespace onefold_test {
namespace {

using onefold::errc;
using onefold::launch_policy;

template <class Call>
void expect_error(errc code, const std::vector<std::string>& words, Call call) {
  try {
    call();
    ADD_FAILURE() << "not refused";
  } catch (const onefold::error& problem) {
    EXPECT_EQ(problem.code(), code) << problem.what();
    for (const auto& word : words)
      EXPECT_NE(std::string(problem.what()).find(word), std::string::npos) << word << " in: " << problem.what();
  }
}

// --- the plan: every unit has exactly one place, whatever a policy says ---

onefold::fixed_order_policy any_policy(std::mt19937_64& random) {
  const auto up_to = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  return {.one_block_tiles = up_to(1, 16),
          .cluster_tiles = up_to(0, 128),
          .short_units = 1 << up_to(0, 20),
          .short_blocks = up_to(1, 1024),
          .wave_warps = up_to(0, 16),
          .stream_warps = 1 << up_to(0, 4),
          .stream_rounds = up_to(1, 64),
          .stream_leaves = up_to(1, 32768),
          .single_tiles = up_to(0, 1024)};
}

TEST(a_plan, has_a_place_for_every_unit_whatever_the_policy_says) {
  using namespace onefold::cuda_backend;
  std::mt19937_64 random(current_seed());
  constexpr int rounds = 100'000;
  for (int i = 0; i < rounds; ++i) {
    const auto policy = any_policy(random);
    const std::uint64_t units = (random() >> (random() % 40 + 24)) + 1;
    const int multiprocessors = static_cast<int>(random() % 200 + 1);
    const plan made = choose_plan(policy, units, multiprocessors, 0, 0);
    ASSERT_LE(made.log_warps, 4);
    ASSERT_GE(made.log_leaf, made.log_warps);
    ASSERT_GE(made.leaves, 1u);
    ASSERT_LE(made.leaves, most_leaves);
    ASSERT_GE(std::uint64_t{made.leaves} << made.log_leaf, units);
    ASSERT_LT(std::uint64_t{made.leaves - 1} << made.log_leaf, units) << "a leaf without a unit";
    ASSERT_LE(slot_header_bytes + std::uint64_t{made.blocks()} * slot_bytes_of(2 * sizeof(onefold::detail::moments)),
              slot_bytes(units))
        << "a workspace would be too small";
  }
}

// At the sizes where one rule ends and the next begins, on a GPU of 132 multiprocessors.
TEST(a_plan, of_the_built_in_policy_is_the_one_that_was_measured) {
  using namespace onefold::cuda_backend;
  struct known {
    std::uint64_t units;
    std::uint32_t leaves;
    int log_warps, log_leaf;
    bool one_wave;
  };
  constexpr known all[] = {{65, 33, 1, 1, true},         {256, 64, 2, 2, true},      {1024, 64, 4, 4, true},
                           {1025, 129, 3, 3, true},      {2112, 132, 4, 4, true},    {2113, 265, 3, 3, false},
                           {32768, 4096, 3, 3, false},   {32769, 2049, 3, 4, false}, {131072, 8192, 3, 4, false},
                           {1048576, 32768, 3, 5, false}};
  for (const auto& one : all) {
    const plan made = choose_plan({}, one.units, 132, 0, 0);
    EXPECT_EQ(made.leaves, one.leaves) << one.units;
    EXPECT_EQ(made.log_warps, one.log_warps) << one.units;
    EXPECT_EQ(made.log_leaf, one.log_leaf) << one.units;
    EXPECT_EQ(made.one_wave, one.one_wave) << one.units;
  }
}

// --- built in ---

TEST(built_in_policies, name_every_variant_that_has_a_choice_and_are_valid) {
  for (const int capability : {70, 75, 80, 86, 89, 90, 100, 120}) {
    const launch_policy policy = onefold::cuda_backend::built_in_policy(capability);
    EXPECT_EQ(policy.fixed_order.cluster_tiles == 0, capability < 90) << capability;
    std::size_t named = 0;
    for (const auto& variant : onefold::variants(onefold::backend::cuda)) {
      if (variant.block_sizes.empty() || variant.name == "fixed_order") continue;
      ++named;
      const bool has_little_memory = capability == 75 && variant.name == "persistent_blocks";
      EXPECT_EQ(onefold::cuda_backend::choices_of(policy, variant.name).block_size,
                has_little_memory ? 512 : variant.default_block_size)
          << variant.name;
      EXPECT_TRUE(std::ranges::find(variant.block_sizes, variant.default_block_size) != variant.block_sizes.end()) << variant.name;
    }
    EXPECT_EQ(policy.variants.size(), named);
    const onefold::cuda_backend::device_properties gpu{.number = 0,
                                                       .name = "x",
                                                       .compute_capability = capability,
                                                       .multiprocessors = 100,
                                                       .threads_per_multiprocessor = 2048,
                                                       .shared_bytes_per_block = 1,
                                                       .memory_bytes = 1,
                                                       .l2_bytes = 1,
                                                       .blocks_start_in_order = false,
                                                       .shared_bytes_per_multiprocessor = 1};
    EXPECT_EQ(onefold::cuda_backend::checked(policy, gpu), policy);
  }
}

TEST(built_in_policies, give_a_variant_that_none_names_512_threads_or_the_next_below) {
  const auto size = [](std::vector<int> offered) {
    return onefold::cuda_backend::built_in_block_size("someones_new_one", offered);
  };
  EXPECT_EQ(size({32, 64, 128, 256, 512, 1024}), 512);
  EXPECT_EQ(size({64, 384, 768}), 384);
  EXPECT_EQ(size({1024}), 1024);
  EXPECT_EQ(size({}), 0);
}

// --- in force ---

class a_policy : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("ONEFOLD_CUDA_POLICY");
    std::filesystem::remove(path());
  }

  [[nodiscard]] static std::string path() {
    return (std::filesystem::temp_directory_path() / ("onefold-policy-" + std::to_string(getpid()))).string();
  }
  static std::string write(const std::string& text) {
    std::ofstream(path()) << text;
    return path();
  }
  [[nodiscard]] onefold::report run(const onefold::executor& where, std::uint64_t count, onefold::options how = {}) {
    if (input_ == nullptr) input_ = runtime_.device_memory(most * sizeof(float));
    onefold::report ran;
    how.report = &ran;
    static_cast<void>(onefold::sum(where, static_cast<const float*>(input_), count, how));
    return ran;
  }
  static std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    if (at == std::string::npos) throw std::logic_error(what + " is not in the text");
    return text.replace(at, what.size(), by);
  }

  static constexpr std::uint64_t most = std::uint64_t{1} << 23;
  fake_runtime runtime_;
  onefold::executor where_ = onefold::cuda(fake_runtime::fresh_device());
  void* input_ = nullptr;
};

TEST_F(a_policy, decides_the_launch_of_fixed_order) {
  EXPECT_EQ(run(where_, most).block_size, 256);
  launch_policy chosen = onefold::policy_of(where_);
  chosen.fixed_order.stream_warps = 16;
  chosen.fixed_order.stream_leaves = 16;
  chosen.fixed_order.stream_rounds = 8;
  onefold::use_policy(where_, chosen);
  EXPECT_EQ(onefold::policy_of(where_), chosen);
  const auto ran = run(where_, most);  // 4096 units
  EXPECT_EQ(ran.block_size, 512);
  EXPECT_EQ(ran.grid_size, 32);
  EXPECT_EQ(run(where_, most, {.block_size = 64}).block_size, 64) << "a call's own option comes first";
  onefold::use_built_in_policy(where_);
  EXPECT_EQ(run(where_, most).block_size, 256);
}

TEST_F(a_policy, decides_the_launch_of_the_lectures_variants) {
  launch_policy chosen = onefold::policy_of(where_);
  const auto of = [&](std::string_view name) {
    return std::ranges::find(chosen.variants, name, &onefold::variant_policy::variant);
  };
  of("dual_load")->block_size = 128;
  of("grid_stride")->block_size = 64;
  of("grid_stride")->blocks_per_multiprocessor = 1;
  of("vector_load")->alone_rounds = 1024;
  of("hybrid_host")->host_values = 1000;
  onefold::use_policy(where_, chosen);
  EXPECT_EQ(run(where_, most, {.variant = "dual_load"}).block_size, 128);
  const auto strided = run(where_, most, {.variant = "grid_stride"});
  EXPECT_EQ(strided.block_size, 64);
  EXPECT_EQ(strided.grid_size, 132);
  EXPECT_EQ(run(where_, most, {.variant = "vector_load"}).grid_size, 1);
  EXPECT_EQ(run(where_, most, {.variant = "hybrid_host"}).launches, 2) << "4096 partials are too many for the host";
  EXPECT_EQ(run(where_, most, {.variant = "warp_shuffle"}).block_size, 512) << "not named";
}

TEST_F(a_policy, of_one_device_is_none_of_another) {
  const auto other = onefold::cuda(fake_runtime::fresh_device());
  launch_policy chosen;
  chosen.fixed_order.short_blocks = 7;
  onefold::use_policy(where_, chosen);
  EXPECT_EQ(onefold::policy_of(where_).fixed_order.short_blocks, 7);
  EXPECT_EQ(onefold::policy_of(other).fixed_order.short_blocks, 64);
}

TEST_F(a_policy, with_a_number_out_of_its_range_is_refused_by_name_and_nothing_changes) {
  const launch_policy before = onefold::policy_of(where_);
  const auto refuse = [&](auto change, const std::vector<std::string>& words) {
    launch_policy chosen = before;
    change(chosen);
    expect_error(errc::invalid_argument, words, [&] { onefold::use_policy(where_, chosen); });
    EXPECT_EQ(onefold::policy_of(where_), before);
  };
  refuse([](auto& p) { p.fixed_order.one_block_tiles = 0; }, {"one_block_tiles", "fixed_order", "1 to 16"});
  refuse([](auto& p) { p.fixed_order.cluster_tiles = 129; }, {"cluster_tiles", "129", "0 to 128"});
  refuse([](auto& p) { p.fixed_order.stream_warps = 12; }, {"stream_warps", "12", "a power of two"});
  refuse([](auto& p) { p.fixed_order.stream_leaves = -1; }, {"stream_leaves", "-1"});
  refuse([](auto& p) { p.variants.front().block_size = 96; }, {"block_size", "96", "atomic_global"});
  refuse([](auto& p) { p.variants.front().block_size = 0; }, {"block_size", "atomic_global"});
  refuse([](auto& p) { p.variants.front().host_values = 5; }, {"atomic_global", "no host_values"});
  refuse([](auto& p) { p.variants.front().blocks_per_multiprocessor = 5; }, {"atomic_global", "no blocks_per_multiprocessor"});
  refuse([](auto& p) { p.variants.push_back({.variant = "nope", .block_size = 32}); }, {"nope"});
  refuse([](auto& p) { p.variants.push_back({.variant = "fixed_order", .block_size = 32}); }, {"fixed_order"});
}

TEST_F(a_policy, is_a_cuda_executors) {
  expect_error(errc::unsupported, {"serial", "cuda()"}, [] { static_cast<void>(onefold::policy_of(onefold::serial())); });
  expect_error(errc::unsupported, {"best()"}, [] { onefold::use_built_in_policy(onefold::best()); });
}

// --- files ---

TEST_F(a_policy, comes_back_from_its_file) {
  launch_policy chosen = onefold::policy_of(where_);
  chosen.fixed_order = {2, 16, 100, 5, 3, 4, 9, 77, 12};
  chosen.variants.back().block_size = 256;
  onefold::use_policy_file(where_, write(onefold::policy_text(where_, chosen)));
  EXPECT_EQ(onefold::policy_of(where_), chosen);
}

TEST_F(a_policy, in_a_file_may_say_less_in_any_order_with_comments_and_windows_lines) {
  const std::string text = onefold::policy_text(where_, {});
  const std::string heading = text.substr(0, text.find("[fixed_order]"));
  onefold::use_policy_file(
      where_, write(heading + "\r\n[grid_stride] # later\r\n block_size=64\r\n\n[fixed_order]\nstream_rounds = 3 # why not"));
  launch_policy expected = onefold::cuda_backend::built_in_policy(90);
  expected.fixed_order.stream_rounds = 3;
  std::ranges::find(expected.variants, "grid_stride", &onefold::variant_policy::variant)->block_size = 64;
  EXPECT_EQ(onefold::policy_of(where_), expected);
}

TEST_F(a_policy, in_a_file_of_another_gpu_or_version_is_refused_with_a_sentence) {
  const std::string text = onefold::policy_text(where_, {});
  const launch_policy before = onefold::policy_of(where_);
  const auto refuse = [&](errc code, const std::string& what, const std::string& by, std::vector<std::string> words) {
    words.push_back(path());
    expect_error(code, words, [&] { onefold::use_policy_file(where_, write(replaced(text, what, by))); });
    EXPECT_EQ(onefold::policy_of(where_), before);
  };
  refuse(errc::unsupported, "gpu = a fake", "gpu = NVIDIA A100", {"NVIDIA A100", "a fake", "onefold-perf tune"});
  refuse(errc::unsupported, "compute_capability = 9.0", "compute_capability = 8.0", {"8.0", "9.0"});
  refuse(errc::unsupported, "multiprocessors = 132", "multiprocessors = 66", {"66", "132"});
  refuse(errc::unsupported, "onefold = " ONEFOLD_VERSION_STRING, "onefold = 99.0.0", {"99.0.0", ONEFOLD_VERSION_STRING});
  refuse(errc::unsupported, "format = 1", "format = 2", {"format"});
}

TEST_F(a_policy, in_a_file_that_is_none_is_refused_with_the_line) {
  const std::string text = onefold::policy_text(where_, {});
  const auto refuse = [&](const std::string& content, std::vector<std::string> words) {
    words.push_back(path());
    expect_error(errc::invalid_argument, words, [&] { onefold::use_policy_file(where_, write(content)); });
  };
  refuse("", {"format"});
  refuse("# nothing\n", {"format"});
  refuse("{\"json\": 1}", {"line 1"});
  refuse(replaced(text, "format = 1\n", ""), {"line 2", "format"});
  refuse(text.substr(0, text.find("multiprocessors")), {"multiprocessors"});
  refuse(replaced(text, "short_blocks = 64", "short_blocks = 0"), {"short_blocks", "1 to 1024"});
  refuse(replaced(text, "short_blocks = 64", "short_blocks = 3x"), {"3x", "line "});
  refuse(replaced(text, "short_blocks = 64", "short_blocks ="), {"line "});
  refuse(replaced(text, "short_blocks = 64", "short_blocks = 99999999999999"), {"99999999999999"});
  refuse(replaced(text, "short_blocks = 64", "short_bloks = 32"), {"short_bloks"});
  refuse(replaced(text, "short_blocks = 64", "short_blocks = 64\nshort_blocks = 64"), {"twice"});
  refuse(replaced(text, "[grid_stride]", "[grid_strife]"), {"grid_strife"});
  refuse(replaced(text, "[grid_stride]", "[fixed_order]"), {"twice"});
  refuse(replaced(text, "[grid_stride]", "[grid_stride"), {"]"});
  refuse(replaced(text, "[fixed_order]", ""), {"no section"});
  refuse(text + std::string(2 << 20, '#'), {"too large"});
  expect_error(errc::invalid_argument, {"/nowhere/at/all"}, [&] { onefold::use_policy_file(where_, "/nowhere/at/all"); });
  expect_error(errc::invalid_argument, {"/tmp"}, [&] { onefold::use_policy_file(where_, "/tmp"); });
}

TEST_F(a_policy, is_read_from_the_environment_when_a_device_is_first_used) {
  EXPECT_EQ(run(where_, most).block_size, 256);
  launch_policy chosen;
  chosen.fixed_order.stream_warps = 4;
  setenv("ONEFOLD_CUDA_POLICY", write(onefold::policy_text(where_, chosen)).c_str(), 1);
  EXPECT_EQ(run(onefold::cuda(fake_runtime::fresh_device()), most).block_size, 128);
  EXPECT_EQ(run(where_, most).block_size, 256) << "its policy was asked for before";
  setenv("ONEFOLD_CUDA_POLICY", "", 1);
  EXPECT_EQ(run(onefold::cuda(fake_runtime::fresh_device()), most).block_size, 256);
}

TEST_F(a_policy, of_the_environment_that_is_none_is_told_at_every_call_until_another_is_chosen) {
  setenv("ONEFOLD_CUDA_POLICY", "/nowhere/at/all", 1);
  const auto fresh = onefold::cuda(fake_runtime::fresh_device());
  for (int i = 0; i < 2; ++i)
    expect_error(errc::invalid_argument, {"ONEFOLD_CUDA_POLICY", "/nowhere/at/all"}, [&] { static_cast<void>(run(fresh, most)); });
  onefold::use_built_in_policy(fresh);
  EXPECT_EQ(run(fresh, most).block_size, 256);
}

}  // namespace
}  // namespace onefold_test
