/// @file own_folds_test.cpp  Folds of a user's on the GPU have the bits of tree v1 as docs/order.md says it, by whichever way they come.

#include "own_folds.hpp"

#include <cstring>
#include <random>
#include <vector>

#include <onefold/detail/request.hpp>
#include <onefold/onefold.hpp>

#include "../folds/tree.hpp"
#include "../support/cuda.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

using onefold::maybe;

// An array on the host and, from an offset on, on the device.
template <class T>
struct both_sides {
  both_sides(std::uint64_t n, std::uint64_t offset, std::uint64_t seed) : host(n), memory((n + offset) * sizeof(T)) {
    std::mt19937_64 random(seed);
    for (T& x : host) fill(x, random);
    device = memory.template as<T>() + offset;
    if (n > 0) copy_to_device(device, host.data(), n * sizeof(T));
  }
  static void fill(float& x, std::mt19937_64& random) { x = std::uniform_real_distribution<float>(-1, 1)(random); }
  static void fill(double& x, std::mt19937_64& random) { x = std::uniform_real_distribution<double>(-1, 1)(random); }
  template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
  static void fill(I& x, std::mt19937_64& random) {
    x = static_cast<I>(random());
  }
  template <class E, int N>
  static void fill(several<E, N>& x, std::mt19937_64& random) {
    for (E& one : x.of) fill(one, random);
  }

  std::vector<T> host;
  device_memory memory;
  T* device = nullptr;
};

template <class T>
maybe<T> as_maybe(const maybe<T>& x) {
  return x;
}
template <class T>
maybe<T> as_maybe(const T& x) {
  return maybe<T>(x);
}

// The result of `fold` on the host; value(i) is what becomes of index i.
template <class Fold, class Value>
typename Fold::result expected(const Fold& fold, std::uint64_t n, const Value& value) {
  using A = typename Fold::accumulator;
  constexpr std::uint64_t lanes = static_cast<std::uint64_t>(onefold::order::lanes_of_bytes(sizeof(typename Fold::value_type)));
  const auto lane_of = [&](std::uint64_t first, int rows) {
    maybe<A> node;
    if constexpr (std::is_same_v<Fold, filtered_argmin> || std::is_same_v<Fold, counted>) {
      typename Fold::lane lane{};
      int there = 0;
      for (int r = 0; r < rows; ++r) {
        const auto v = as_maybe(value(first + static_cast<std::uint64_t>(r) * lanes));
        if (!v.present) continue;
        if constexpr (std::is_same_v<Fold, filtered_argmin>)
          lane = there++ == 0 ? fold.first(v.value, r) : fold.next(lane, v.value, r);
        else
          lane = there++ == 0 ? fold.first(v.value) : fold.next(lane, v.value, r);
      }
      if (there > 0) node = maybe<A>(fold.close(lane, there, first, static_cast<int>(lanes)));
    } else {
      for (int r = 0; r < rows; ++r) {
        const auto v = as_maybe(value(first + static_cast<std::uint64_t>(r) * lanes));
        if (v.present) node = maybe<A>(node.present ? fold.combine(node.value, v.value) : static_cast<A>(v.value));
      }
    }
    return node;
  };
  const auto combine = [&](const maybe<A>& a, const maybe<A>& b) {
    if (!a.present) return b;
    if (!b.present) return a;
    return maybe<A>(fold.combine(a.value, b.value));
  };
  typename Fold::result result{};
  if (n == 0) {
    fold.conclude(nullptr, 0, &result);
    return result;
  }
  const maybe<A> tree = tree_v1<maybe<A>>(n, lanes, lane_of, combine);
  fold.conclude(tree.present ? &tree.value : nullptr, n, &result);
  return result;
}

// One reduction: waits, or stores at `output`.
template <class Fold>
void reduce(const Fold& fold, const onefold::executor& where, std::uint64_t n, void* output, bool waits,
            const onefold::options& how, const void* x = nullptr, const void* y = nullptr, const void* z = nullptr) {
  const onefold::detail::device_fold row = device_fold_of(fold, x, y, z);
  onefold::detail::request what{where, onefold::element_type::f32, onefold::form::sum, nullptr, n, output, waits};
  what.device = &row;
  onefold::detail::run(what, how);
}

template <class R>
void expect_same(const R& got, const R& wanted, const std::string& where) {
  if constexpr (std::is_same_v<R, filtered_argmin::result>) {  // whose padding says nothing
    EXPECT_EQ(got.value, wanted.value) << where;
    EXPECT_EQ(got.index, wanted.index) << where;
  } else {
    EXPECT_EQ(std::memcmp(&got, &wanted, sizeof(R)), 0) << where;
  }
}

class own_folds_cuda : public testing::Test {
 protected:
  void SetUp() override {
    const auto all = onefold::backends();
    for (const auto& info : all)
      if (info.where == onefold::backend::cuda && !info.usable) GTEST_SKIP() << info.detail;
  }

  // Every way to a result: the host waits; into device memory on a stream; with a workspace; replayed from a graph; in asked shapes.
  template <class Fold, class Value>
  void check(const Fold& fold, std::uint64_t n, const Value& value, const void* x = nullptr, const void* y = nullptr,
             const void* z = nullptr) {
    using R = typename Fold::result;
    const R wanted = expected(fold, n, value);
    const std::string place = "n = " + std::to_string(n);
    R got{};
    reduce(fold, onefold::cuda(), n, &got, true, {}, x, y, z);
    expect_same(got, wanted, place + ", waits");

    const stream own;
    const auto where = onefold::cuda(0, own.get());
    const device_memory output(sizeof(R));
    const auto read = [&] {
      own.synchronize();
      R stored{};
      expect_success(cudaMemcpy(&stored, output.as<void>(), sizeof(R), cudaMemcpyDeviceToHost), "cudaMemcpy");
      // On the same stream: cudaMemset() does not wait, and would come behind a quick replay.
      expect_success(cudaMemsetAsync(output.as<void>(), 0xff, sizeof(R), own.get()), "cudaMemsetAsync");
      return stored;
    };
    reduce(fold, where, n, output.as<void>(), false, {}, x, y, z);
    expect_same(read(), wanted, place + ", on a stream");

    const std::size_t state_bytes = device_fold_of(fold, x, y, z).state_bytes;
    const device_memory room(onefold::workspace::bytes(n, state_bytes));
    onefold::workspace workspace(where, room.as<void>(), onefold::workspace::bytes(n, state_bytes));
    onefold::options how;
    how.workspace = &workspace;
    reduce(fold, where, n, output.as<void>(), false, how, x, y, z);
    expect_same(read(), wanted, place + ", with a workspace");
    reduce(fold, where, n, &got, true, how, x, y, z);
    expect_same(got, wanted, place + ", with a workspace, waits");

    recording graph(own.get());
    reduce(fold, where, n, output.as<void>(), false, {}, x, y, z);
    graph.end();
    for (int i = 0; i < 3; ++i) {
      graph.replay();
      expect_same(read(), wanted, place + ", from a graph");
    }

    for (const int block : {32, 128, 512}) {
      onefold::options shaped;
      shaped.block_size = block;
      shaped.grid_size = 7;
      reduce(fold, where, n, output.as<void>(), false, shaped, x, y, z);
      expect_same(read(), wanted, place + ", in blocks of " + std::to_string(block));
    }
  }

  template <class Fold>
  static std::vector<std::uint64_t> sizes() {
    const std::uint64_t tile = 16 * static_cast<std::uint64_t>(onefold::order::lanes_of_bytes(sizeof(typename Fold::value_type)));
    return {0,
            1,
            2,
            31,
            33,
            tile - 1,
            tile,
            tile + 1,
            2 * tile,
            3 * tile,
            8 * tile - 1,
            17 * tile + 5,
            130 * tile + 3,
            (1u << 17) + 5,
            (1u << 22) + 3};
  }

  template <class Fold>
  void check_one_array(const Fold& fold) {
    using E = typename Fold::element;
    for (const std::uint64_t offset : {0, 1}) {
      const both_sides<E> x(sizes<Fold>().back(), offset, current_seed());
      for (const std::uint64_t n : sizes<Fold>())
        check(
            fold, n, [&](std::uint64_t i) { return fold.value(x.host[i]); }, x.device);
    }
  }
};

TEST_F(own_folds_cuda, of_values_of_12_bytes) { check_one_array(side_by_side<float, 3>{2.0f}); }
TEST_F(own_folds_cuda, of_values_of_16_bytes) { check_one_array(side_by_side<double, 2>{2.0}); }
TEST_F(own_folds_cuda, of_values_of_24_bytes) { check_one_array(side_by_side<double, 3>{2.0}); }
TEST_F(own_folds_cuda, of_values_of_40_bytes) { check_one_array(side_by_side<double, 5>{2.0}); }
TEST_F(own_folds_cuda, of_values_of_64_bytes) { check_one_array(side_by_side<double, 8>{2.0}); }
TEST_F(own_folds_cuda, of_values_of_one_byte) { check_one_array(bytes_together{}); }
TEST_F(own_folds_cuda, that_map_one_array) { check_one_array(mapped_sum<doubled_and_one>{}); }
TEST_F(own_folds_cuda, with_a_state_of_320_bytes) { check_one_array(counted{}); }

TEST_F(own_folds_cuda, that_leave_values_out) {
  for (const double above : {-2.0, 0.0, 0.99, 2.0}) check_one_array(filtered_sum{above});
}

TEST_F(own_folds_cuda, of_the_index) {
  const std::uint64_t most = sizes<sum_of_index>().back();
  const both_sides<double> x(most, 0, current_seed()), y(most, 1, current_seed() + 1);
  const sum_of_index there{x.device, y.device}, here{x.host.data(), y.host.data()};
  for (const std::uint64_t n : sizes<sum_of_index>()) check(there, n, [&](std::uint64_t i) { return here.value(i); });
}

TEST_F(own_folds_cuda, of_the_index_with_lanes_of_their_own) {
  const std::uint64_t most = sizes<filtered_argmin>().back();
  both_sides<float> x(most, 0, current_seed());
  for (const float above : {-2.0f, 0.5f, 0.9999f, 2.0f}) {
    const filtered_argmin there{x.device, above}, here{x.host.data(), above};
    for (const std::uint64_t n : sizes<filtered_argmin>()) check(there, n, [&](std::uint64_t i) { return here.value(i); });
  }
}

TEST_F(own_folds_cuda, of_three_arrays_of_different_types) {
  const std::uint64_t most = sizes<mixed_sum>().back();
  const both_sides<float> x(most, 1, current_seed());
  const both_sides<double> y(most, 0, current_seed() + 1);
  const both_sides<std::int32_t> z(most, 3, current_seed() + 2);
  const mixed_sum fold{};
  for (const std::uint64_t n : sizes<mixed_sum>())
    check(
        fold, n, [&](std::uint64_t i) { return fold.value(x.host[i], y.host[i], z.host[i]); }, x.device, y.device, z.device);
}

TEST_F(own_folds_cuda, of_two_arrays_whose_elements_lie_well_or_not) {
  using element = product_of_pairs::element;
  const product_of_pairs fold{};
  const std::uint64_t most = sizes<product_of_pairs>().back();
  for (const std::uint64_t offset_of_x : {0, 1})
    for (const std::uint64_t offset_of_y : {0, 1, 2}) {
      const both_sides<element> x(most, offset_of_x, current_seed()), y(most, offset_of_y, current_seed() + 1);
      for (const std::uint64_t n : sizes<product_of_pairs>())
        check(
            fold, n, [&](std::uint64_t i) { return fold.value(x.host[i], y.host[i]); }, x.device, y.device);
    }
}

TEST_F(own_folds_cuda, are_refused_what_they_cannot_read) {
  const side_by_side<double, 2> fold{2.0};
  several<double, 2> result{};
  const std::vector<several<double, 2>> host(100);
  EXPECT_TRUE(refuses(onefold::errc::host_pointer, "input is host memory",
                      [&] { reduce(fold, onefold::cuda(), 100, &result, true, {}, host.data()); }));
  EXPECT_TRUE(refuses(onefold::errc::null_pointer, "input pointer is null",
                      [&] { reduce(fold, onefold::cuda(), 100, &result, true, {}); }));
  const device_memory input(1 << 26);
  EXPECT_TRUE(refuses(onefold::errc::misaligned_pointer, "8 bytes",
                      [&] { reduce(fold, onefold::cuda(), 100, &result, true, {}, input.as<unsigned char>() + 4); }));
  onefold::workspace small(onefold::cuda(), 1);
  onefold::options how;
  how.workspace = &small;
  EXPECT_TRUE(refuses(onefold::errc::unsupported, "workspace::bytes",
                      [&] { reduce(fold, onefold::cuda(), 2'000'000, &result, true, how, input.as<void>()); }));
}

}  // namespace
}  // namespace onefold_test
