#include "fixture.hpp"

#include <algorithm>
#include <map>

namespace onefold_test {

namespace {

constexpr slow_variant slow_variants[] = {
    {"serial_gpu", 1 << 16, 1 << 16, "one GPU thread: about 30 ns per element"},
    {"atomic_global", 1 << 16, 1 << 12, "one address for all: 2 ns per element, and a microsecond for each product"},
    {"atomic_shared", 1 << 20, 1 << 16, "a block's products wait for each other in shared memory"},
};

// Blocks that may multiply into one accumulator, at about a microsecond each.
constexpr std::uint64_t most_multiplying_blocks = 2048;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

std::vector<pairing> all_pairings() {
  std::vector<pairing> all;
  for (const auto& where : executors())
    for (const auto& variant : onefold::variants(where.where.backend()))
      if (variant.built) all.push_back({&where, &variant});
  return all;
}

}  // namespace

std::vector<reduction> reductions(bool (*keep)(const reduction&)) {
  std::vector<reduction> all;
  for (const auto& where : executors())
    for (int type = 0; type < onefold::full_type_count; ++type)
      for (int op = 0; op < onefold::operation_count; ++op)
        for (const auto& variant : onefold::variants(where.where.backend())) {
          const reduction one{&where, &variant, static_cast<element_type>(type), static_cast<operation>(op)};
          if (variant.supports(one.type, one.op) && (keep == nullptr || keep(one))) all.push_back(one);
        }
  return all;
}

std::vector<pairing> pairings(bool (*keep)(const pairing&)) {
  auto all = all_pairings();
  if (keep != nullptr) std::erase_if(all, [&](const pairing& one) { return !keep(one); });
  return all;
}

std::string name_of(const testing::TestParamInfo<reduction>& info) {
  const auto& one = info.param;
  return one.on->label + "_" + std::string(one.variant->name) + "_" + std::string(onefold::name(one.type)) + "_" +
         std::string(onefold::name(one.op));
}

std::string name_of(const testing::TestParamInfo<pairing>& info) {
  return info.param.on->label + "_" + std::string(info.param.variant->name);
}

void PrintTo(const reduction& one, std::ostream* out) {
  *out << one.variant->name << " of " << onefold::name(one.type) << " " << onefold::name(one.op) << " on " << one.on->label;
}

void PrintTo(const pairing& one, std::ostream* out) { *out << one.variant->name << " on " << one.on->label; }

std::uint64_t most_elements(const onefold::variant_info& variant, operation op) {
  for (const auto& slow : slow_variants)
    if (slow.name == variant.name) return op == operation::prod ? slow.most_for_prod : slow.most;
  return no_limit;
}

std::uint64_t most_elements(const onefold::variant_info& variant, operation op, onefold::finish how, int block_size) {
  const std::uint64_t most = most_elements(variant, op);
  const auto used = how == onefold::finish::automatic ? variant.default_finish : how;
  if (op != operation::prod || used != onefold::finish::atomic) return most;
  const int threads = block_size != 0 ? block_size : std::max(variant.default_block_size, 32);
  return std::min(most, most_multiplying_blocks * static_cast<std::uint64_t>(threads));
}

bool loads_vectors(const onefold::variant_info& variant) {
  for (const std::string_view word : {"vector", "16-byte", "bulk", "pack"})
    if (variant.name.find(word) != std::string_view::npos || variant.summary.find(word) != std::string_view::npos) return true;
  // How a peer loads is its own affair, and those with a guarantee load as the machine likes best: all are tried.
  return variant.seed == "peer" || variant.guarantee >= onefold::guarantee::fixed;
}

bool may_flush_subnormals(const onefold::variant_info& variant, element_type type, operation op, onefold::finish how) {
  if (variant.backend != onefold::backend::cuda || type != element_type::f32 || op != operation::sum) return false;
  const auto used = how == onefold::finish::automatic ? variant.default_finish : how;
  return used == onefold::finish::atomic || variant.name == "atomic_global";
}

std::vector<onefold::finish> finishes_of(const onefold::variant_info& variant) {
  if (variant.finishes.empty()) return {onefold::finish::automatic};
  return {variant.finishes.begin(), variant.finishes.end()};
}

attendance& attendance_of(const std::string& executor_label) {
  static std::map<std::string, attendance> all;
  return all[executor_label];
}

void dispatching_test::start(const executor_under_test& where) {
  auto& present = attendance_of(where.label);
  ++present.tests;
  if (where.cannot_run) {
    ++present.skipped;
    GTEST_SKIP() << where.label << ": " << *where.cannot_run;
  }
  before_ = dispatches();
}

void dispatching_test::TearDown() {
  if (IsSkipped() || HasFailure()) return;
  EXPECT_GT(dispatches(), before_) << "this test proved nothing: none of its calls came back with a value";
}

void reduction_test::SetUp() { start(*GetParam().on); }

trial reduction_test::one(onefold::finish how) const {
  trial asked;
  asked.where = where();
  asked.variant = variant().name;
  asked.type = type();
  asked.op = op();
  asked.how = how;
  asked.seed = current_seed();
  return asked;
}

testing::AssertionResult answers(const trial& asked, const void* input, std::uint64_t count, const expectation& expected) {
  return answers(asked, input, count, [&](const onefold::report&) { return expected; });
}

testing::AssertionResult answers(const trial& asked, const void* input, std::uint64_t count,
                                 const std::function<expectation(const onefold::report&)>& expected) {
  try {
    const outcome got = reduce(asked, input, count);
    return is_right(asked, count, got, expected(got.ran));
  } catch (const onefold::error& problem) {
    if (asked.how == onefold::finish::cooperative && problem.code() == onefold::errc::unsupported) {
      const auto* variant = native_variant(asked.variant, asked.where);
      const int block = asked.block_size != 0 ? asked.block_size : std::max(variant->default_block_size, 1);
      const auto& gpu = backend_under_test(onefold::backend::cuda).devices.at(0);
      const auto always_fit = static_cast<std::uint64_t>(gpu.multiprocessors) * static_cast<std::uint64_t>(block);
      const bool said_why = std::string_view(problem.what()).find("blocks on the device at once") != std::string_view::npos;
      if (said_why && count > always_fit) return testing::AssertionSuccess();
    }
    onefold::report none;
    none.variant = asked.variant;
    const expectation unknown;
    return testing::AssertionFailure() << "threw " << onefold::name(problem.code()) << ": " << problem.what() << "\n"
                                       << describe(asked, count, none, unknown, unknown.value);
  }
}

std::vector<std::size_t> telling_places(std::size_t count, std::size_t block, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<std::size_t> places{0,
                                  31,
                                  32,
                                  block - 1,
                                  block,
                                  2 * block - 1,
                                  2 * block,
                                  count / 2,
                                  count - 2,
                                  count - 1,
                                  random.below(count),
                                  random.below(count)};
  std::erase_if(places, [&](std::size_t place) { return place >= count; });
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

void pairing_test::SetUp() { start(*GetParam().on); }

trial pairing_test::one(element_type type, operation op, onefold::finish how) const {
  trial asked;
  asked.where = where();
  asked.variant = variant().name;
  asked.type = type;
  asked.op = op;
  asked.how = how;
  asked.seed = current_seed();
  return asked;
}

}  // namespace onefold_test
