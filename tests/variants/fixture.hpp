#pragma once
/// @file fixture.hpp  The parameters of the variants' tests, made from onefold::variants(): no test lists a variant.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "../support/place.hpp"

namespace onefold_test {

/// A variant on an executor with a type and an operator that it takes.
struct reduction {
  const executor_under_test* on;
  const onefold::variant_info* variant;
  element_type type;
  operation op;
};

/// A variant on an executor.
struct pairing {
  const executor_under_test* on;
  const onefold::variant_info* variant;
};

/// Every executor with each of its native variants, and every type and operator that the variant takes and `keep` lets pass. The
/// variant varies fastest.
[[nodiscard]] std::vector<reduction> reductions(bool (*keep)(const reduction&) = nullptr);
[[nodiscard]] std::vector<pairing> pairings(bool (*keep)(const pairing&) = nullptr);

[[nodiscard]] inline bool on_cuda(const executor_under_test& where) { return where.where.backend() == onefold::backend::cuda; }

/// "cuda_warp_shuffle_f32_sum"
[[nodiscard]] std::string name_of(const testing::TestParamInfo<reduction>& info);
[[nodiscard]] std::string name_of(const testing::TestParamInfo<pairing>& info);
inline constexpr auto param_name = [](const auto& info) { return name_of(info); };
void PrintTo(const reduction& one, std::ostream* out);
void PrintTo(const pairing& one, std::ostream* out);

/// A variant that takes so long per element that large inputs are left out.
struct slow_variant {
  std::string_view name;
  std::uint64_t most;           ///< elements
  std::uint64_t most_for_prod;  ///< elements, where there is no atomic multiplication
  std::string_view reason;
};
/// The most elements that this variant is given with this operator.
[[nodiscard]] std::uint64_t most_elements(const onefold::variant_info& variant, operation op);

/// The same with a finish: thousands of block partials that multiply into one accumulator wait for each other.
[[nodiscard]] std::uint64_t most_elements(const onefold::variant_info& variant, operation op, onefold::finish how, int block_size);

/// Whether a variant reads several elements with one instruction, so that every alignment is another path.
[[nodiscard]] bool loads_vectors(const onefold::variant_info& variant);

/// Whether a subnormal sum may come as zero: f32, added by the hardware's atomics in global memory (building_blocks/atomic.cuh).
[[nodiscard]] bool may_flush_subnormals(const onefold::variant_info& variant, element_type type, operation op, onefold::finish how);

/// The finishes to ask for: every one that the variant offers, or its only way.
[[nodiscard]] std::vector<onefold::finish> finishes_of(const onefold::variant_info& variant);

/// A test skips where its executor cannot run, and fails when it ended without one call that came back.
class dispatching_test : public testing::Test {
 protected:
  void start(const executor_under_test& where);
  void TearDown() override;

 private:
  std::uint64_t before_ = 0;
};

/// How many tests began on each executor, and how many of those were skipped: for the last test of the program.
struct attendance {
  std::uint64_t tests = 0;
  std::uint64_t skipped = 0;
};
[[nodiscard]] attendance& attendance_of(const std::string& executor_label);

class reduction_test : public dispatching_test, public testing::WithParamInterface<reduction> {
 protected:
  void SetUp() override;

  [[nodiscard]] const onefold::executor& where() const { return GetParam().on->where; }
  [[nodiscard]] const onefold::variant_info& variant() const { return *GetParam().variant; }
  [[nodiscard]] element_type type() const { return GetParam().type; }
  [[nodiscard]] operation op() const { return GetParam().op; }

  /// A trial of this variant with the default launch.
  [[nodiscard]] trial one(onefold::finish how = onefold::finish::automatic) const;

  /// Elements that keep every path of this variant busy, and not more than it can take.
  [[nodiscard]] std::uint64_t count_of(std::uint64_t wanted) const { return std::min(wanted, most_elements(variant(), op())); }

  /// Threads per block where nothing else is asked for; on the CPU a number that the sizes of the tests are built around.
  [[nodiscard]] std::uint64_t block() const { return static_cast<std::uint64_t>(std::max(variant().default_block_size, 64)); }
};

class pairing_test : public dispatching_test, public testing::WithParamInterface<pairing> {
 protected:
  void SetUp() override;
  [[nodiscard]] const onefold::executor& where() const { return GetParam().on->where; }
  [[nodiscard]] const onefold::variant_info& variant() const { return *GetParam().variant; }
  [[nodiscard]] trial one(element_type type, operation op, onefold::finish how = onefold::finish::automatic) const;
};

/// Calls and checks, but lets pass that a cooperative launch is refused when its grid cannot be resident: only above one block for
/// each multiprocessor, since so many always fit.
[[nodiscard]] testing::AssertionResult answers(const trial& asked, const void* input, std::uint64_t count,
                                               const expectation& expected);

/// The same, where what is expected depends on what ran.
[[nodiscard]] testing::AssertionResult answers(const trial& asked, const void* input, std::uint64_t count,
                                               const std::function<expectation(const onefold::report&)>& expected);

/// First, last, the edges of warps and blocks, and two places that the seed chooses.
[[nodiscard]] std::vector<std::size_t> telling_places(std::size_t count, std::size_t block, std::uint64_t seed);

}  // namespace onefold_test
