/// @file sizes_test.cpp  Every size where something changes (a warp, a block, a tile, a wave), with every finish, block size and
/// width.

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "fixture.hpp"

namespace onefold_test {
namespace {

// Elements that one full wave of threads takes: the most threads that the device holds at once.
std::uint64_t threads_at_once(const onefold::executor& where) {
  const auto& backend = backend_under_test(where.backend());
  if (where.backend() == onefold::backend::cuda) return static_cast<std::uint64_t>(backend.devices.at(0).multiprocessors) * 2048;
  return static_cast<std::uint64_t>(backend.threads) * 1024;
}

// Around each of these the number of warps, blocks, tiles or passes changes.
struct edges {
  std::uint64_t block;      ///< threads
  std::uint64_t per_block;  ///< elements that one block took in a run of many, 0 where there are no blocks
  std::uint64_t wave;
};

void add_around(std::vector<std::uint64_t>& sizes, std::uint64_t edge) {
  if (edge == 0) return;
  for (const std::uint64_t size : {edge - 1, edge, edge + 1}) sizes.push_back(size);
}

std::vector<std::uint64_t> tidy(std::vector<std::uint64_t> sizes, std::uint64_t most) {
  std::erase_if(sizes, [&](std::uint64_t size) { return size > most; });
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<std::uint64_t> every_size(const edges& at, element_type type, std::uint64_t most, std::uint64_t seed) {
  const std::uint64_t tile = 4096 / onefold::size_of(type);
  std::vector<std::uint64_t> sizes{0, 1, 2, 3, 3 * at.wave + 7, 1'000'003, 1 << 20};
  for (const std::uint64_t edge :
       {std::uint64_t{32}, at.block, 2 * at.block, at.per_block, 2 * at.per_block, 3 * at.per_block, tile, 2 * tile, at.wave})
    add_around(sizes, edge);
  random_numbers random(seed);
  for (int i = 0; i < 20; ++i)
    sizes.push_back(static_cast<std::uint64_t>(
        std::exp2(std::log2(static_cast<double>(std::min<std::uint64_t>(most, 1 << 20))) * random.unit())));
  return tidy(std::move(sizes), most);
}

// What one block took of `count` elements.
std::uint64_t elements_per_block(const trial& asked, const void* input, std::uint64_t count) {
  const auto grid = reduce(asked, input, count).ran.grid_size;
  return grid <= 0 ? 0 : (count + static_cast<std::uint64_t>(grid) - 1) / static_cast<std::uint64_t>(grid);
}

class each_reduction : public reduction_test {
 protected:
  // Runs these sizes, and each with these finishes. Red zones lie close behind every size.
  void expect_exact(guarded_input& input, const std::vector<std::uint64_t>& sizes, const std::vector<onefold::finish>& finishes,
                    const trial& like) const {
    oracle reference(type(), op());
    std::uint64_t taken = 0;
    for (const std::uint64_t count : sizes) {
      reference.take(input.payload(), taken, count);
      taken = count;
      const expectation expected = reference.exactly();
      const void* data = input.window(0, count);
      for (const auto how : finishes) {
        trial asked = like;
        asked.how = how;
        if (count > most_elements(variant(), op(), how, like.block_size)) continue;
        ASSERT_TRUE(answers(asked, data, count, expected));
      }
    }
  }
};

TEST_P(each_reduction, is_exact_at_every_size_with_every_finish) {
  const std::uint64_t wave = threads_at_once(where());
  const std::uint64_t most = count_of(std::max<std::uint64_t>(1 << 20, 3 * wave + 7));
  guarded_input input(memory_for(where()), exact_data(type(), op(), most, current_seed()), op());
  const std::uint64_t probe = std::min<std::uint64_t>(most_elements(variant(), op(), variant().default_finish, 0), 1 << 17);
  const edges at{block(), elements_per_block(one(), input.window(0, probe), probe), wave};
  expect_exact(input, every_size(at, type(), most, current_seed()), finishes_of(variant()), one());
  EXPECT_TRUE(input.unchanged()) << "the reduction changed its input";
}

INSTANTIATE_TEST_SUITE_P(variants, each_reduction, testing::ValuesIn(reductions()), param_name);

#ifdef ONEFOLD_HAVE_CUDA

std::vector<std::uint64_t> some_sizes(const edges& at, std::uint64_t most, std::uint64_t seed) {
  std::vector<std::uint64_t> sizes{1, 2, 3, 70'001};
  for (const std::uint64_t edge : {std::uint64_t{32}, at.block, 2 * at.block, at.per_block, 2 * at.per_block})
    add_around(sizes, edge);
  random_numbers random(seed);
  for (int i = 0; i < 4; ++i) sizes.push_back(static_cast<std::uint64_t>(std::exp2(17 * random.unit())));
  return tidy(std::move(sizes), most);
}

// The CPU executors have no launch to shape.
class each_launch : public each_reduction {
 protected:
  void expect_exact_when(const trial& asked) const {
    const std::uint64_t most = count_of(1 << 17);
    guarded_input input(memory_for(where()), exact_data(type(), op(), most, current_seed()), op());
    const std::uint64_t probe = std::min(most_elements(variant(), op(), variant().default_finish, asked.block_size), most);
    const auto block_size = static_cast<std::uint64_t>(asked.block_size != 0 ? asked.block_size : variant().default_block_size);
    const edges at{block_size, elements_per_block(asked, input.window(0, probe), probe), 0};
    expect_exact(input, some_sizes(at, most, current_seed()), some_finishes(), asked);
  }

  // Launching again is where the shape of one launch must fit the next one's work.
  std::vector<onefold::finish> some_finishes() const {
    std::vector<onefold::finish> finishes{onefold::finish::automatic};
    if (std::ranges::find(variant().finishes, onefold::finish::relaunch) != variant().finishes.end())
      finishes.push_back(onefold::finish::relaunch);
    return finishes;
  }
};

TEST_P(each_launch, is_exact_with_every_block_size) {
  for (const int block_size : variant().block_sizes) {
    trial asked = one();
    asked.block_size = block_size;
    ASSERT_NO_FATAL_FAILURE(expect_exact_when(asked));
  }
  if (variant().block_sizes.empty()) expect_exact_when(one());
}

TEST_P(each_launch, is_exact_with_every_width) {
  for (const int width : variant().widths) {
    trial asked = one();
    asked.width = width;
    ASSERT_NO_FATAL_FAILURE(expect_exact_when(asked));
  }
  if (variant().widths.empty()) expect_exact_when(one());
}

// Few sizes, since these are pairs: less than a warp, an element more than the widest blocks take at once, and many blocks.
TEST_P(each_launch, is_exact_with_every_block_size_and_width) {
  const bool has_pairs = !variant().widths.empty() && !variant().block_sizes.empty();
  const std::uint64_t most = has_pairs ? count_of(70'001) : 3;
  guarded_input input(memory_for(where()), exact_data(type(), op(), most, current_seed()), op());
  if (!has_pairs) return expect_exact(input, {most}, {onefold::finish::automatic}, one());
  for (const std::uint64_t count : tidy({3, 2'049, 6'145, most}, most)) {
    const expectation expected = expected_exactly(op(), input.payload(), 0, count);
    const void* data = input.window(0, count);
    for (const int block_size : variant().block_sizes) {
      for (const int width : variant().widths) {
        for (const auto how : some_finishes()) {
          if (count > most_elements(variant(), op(), how, block_size)) continue;
          trial asked = one(how);
          asked.block_size = block_size;
          asked.width = width;
          ASSERT_TRUE(answers(asked, data, count, expected));
        }
      }
    }
  }
}

TEST_P(each_launch, is_exact_with_any_grid_that_may_be_chosen) {
  if (!variant().grid_size_free) return expect_exact_when(one());
  // One block, a few, a number that is no power of two, and one block for every multiprocessor, which every finish can have.
  for (const std::int64_t grid :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, static_cast<std::int64_t>(threads_at_once(where()) / 2048)}) {
    trial asked = one();
    asked.grid_size = grid;
    ASSERT_NO_FATAL_FAILURE(expect_exact_when(asked));
    for (const auto how : finishes_of(variant())) {
      const std::uint64_t count = count_of(70'001);
      guarded_input input(memory_for(where()), exact_data(type(), op(), count, current_seed()), op());
      asked.how = how;
      ASSERT_TRUE(answers(asked, input.all(), count, expected_exactly(op(), input.payload())));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_launch,
                         testing::ValuesIn(reductions([](const reduction& one) { return on_cuda(*one.on); })), param_name);

// Several full waves of the widest loads that any variant has: eight 16-byte packs per thread. One array serves all variants.
class each_cuda_sum : public reduction_test {
 protected:
  struct waves {
    element_type type;
    std::uint64_t seed;
    std::vector<std::uint64_t> sizes;
    std::vector<expectation> expected;
    std::optional<guarded_input> input;
  };
  waves& data() const {
    static std::optional<waves> now;
    if (now && now->type == type()) return *now;
    now.emplace();
    now->type = type();
    now->seed = seed_of("waves " + std::string(onefold::name(type())));
    const std::uint64_t pack = 16 / onefold::size_of(type());
    const std::uint64_t wave = threads_at_once(where()) * pack;
    for (const std::uint64_t edge : {wave, 8 * wave}) add_around(now->sizes, edge);
    now->sizes.push_back(3 * 8 * wave + 7);
    const elements values = exact_data(type(), op(), now->sizes.back(), now->seed);
    oracle reference(type(), op());
    std::uint64_t taken = 0;
    for (const std::uint64_t size : now->sizes) {
      reference.take(values, taken, size);
      taken = size;
      now->expected.push_back(reference.exactly());
    }
    now->input.emplace(memory::device, values, op());
    return *now;
  }
};

TEST_P(each_cuda_sum, is_exact_over_several_full_waves) {
  auto& [of_type, seed, sizes, expected, input] = data();
  trial asked = one();
  asked.seed = seed;
  if (const std::uint64_t most = count_of(sizes.back()); most < sizes.back()) {  // a slow variant: as many as it can take
    ASSERT_TRUE(answers(asked, input->window(0, most), most, expected_exactly(op(), input->payload(), 0, most)));
    return;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) ASSERT_TRUE(answers(asked, input->window(0, sizes[i]), sizes[i], expected[i]));
}

INSTANTIATE_TEST_SUITE_P(variants, each_cuda_sum, testing::ValuesIn(reductions([](const reduction& one) {
                           return on_cuda(*one.on) && one.op == operation::sum;
                         })),
                         param_name);

#endif

}  // namespace
}  // namespace onefold_test
