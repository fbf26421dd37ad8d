#pragma once
/// @file ranks.hpp  What the tests on several ranks share: kinds of reductions, arrays that every rank knows whole, and counted comparisons.

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <onefold/mpi.hpp>
#include <onefold/onefold.hpp>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "../support/kinds.hpp"

namespace onefold_test {

using onefold::element_type;
using onefold::errc;
using onefold::form;
using onefold::mpi::layout;
using std::uint64_t;

inline int rank() {
  int mine = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  return mine;
}
inline int ranks() {
  int all = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  return all;
}

/// Results that were compared with those of one core, and how many of them differ.
struct comparisons {
  uint64_t made = 0;
  uint64_t different = 0;
  uint64_t on_a_gpu = 0;  ///< ranges of ranks that a GPU reduced
  uint64_t refused = 0;   ///< with an error, because the MPI combined in another order than that of the ranks
};
inline comparisons& counted() {
  static comparisons all;
  return all;
}
/// A line for the first few differences; the rest are counted.
template <class Bytes>
void compare(const Bytes& got, const Bytes& expected, const std::string& of) {
  ++counted().made;
  if (got == expected) return;
  if (++counted().different <= 5) ADD_FAILURE() << of << ": other bits than on one core";
}
template <class T>
std::vector<unsigned char> bits_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<unsigned char> all(sizeof(value));
  std::memcpy(all.data(), &value, sizeof(value));
  return all;
}

/// Two arrays that all ranks know. `tame` floats are of moderate size, with zeros of both signs; others are of any bits, NaN among them.
class arrays {
 public:
  arrays(const kind& of, uint64_t count, uint64_t seed, bool tame) : of_(of) {
    for (int k = 0; k < 2; ++k) {
      const random_numbers random(seed + static_cast<uint64_t>(k));
      elements_[k].resize(count * of.element_bytes() + 8);
      const std::size_t number_bytes = size_of(part_type(of.type));  // two of each complex number
      for (uint64_t i = 0; i < count * of.element_bytes() / number_bytes; ++i) {
        const uint64_t bits = tame ? tame_bits(random.at(i)) : random.at(i);
        std::memcpy(elements_[k].data() + i * number_bytes, &bits, number_bytes);
      }
    }
  }
  [[nodiscard]] const std::byte* x(uint64_t first = 0) const { return elements_[0].data() + first * of_.element_bytes(); }
  [[nodiscard]] const std::byte* y(uint64_t first = 0) const {
    return of_.what == form::dot ? elements_[1].data() + first * of_.element_bytes() : nullptr;
  }

 private:
  [[nodiscard]] uint64_t tame_bits(uint64_t random) const {
    auto value = static_cast<float>(static_cast<double>(random >> 11) * 0x1p-53 - 0.3);
    if (random % 11 == 3) value = random % 2 == 0 ? -0.0F : 0.0F;
    switch (part_type(of_.type)) {
      case element_type::f32:
        return std::bit_cast<uint32_t>(value);
      case element_type::f64:
        return std::bit_cast<uint64_t>(double{value} * 1.000000001);
      case element_type::f16:
        return onefold::float16(value).bits();
      case element_type::bf16:
        return onefold::bfloat16(value).bits();
      default:
        return random % 7 - 3;
    }
  }
  kind of_;
  std::vector<std::byte> elements_[2];
};

/// The reduction of `count` elements on one core.
inline std::vector<unsigned char> on_one_core(const kind& of, const arrays& in, uint64_t count, const onefold::options& how = {}) {
  alignas(64) unsigned char memory[64] = {};
  onefold::detail::request what{onefold::serial(), of.type, of.what, in.x(), count, memory, true, in.y()};
  what.wide = of.wide;
  what.ddof = 1;
  onefold::detail::run(what, how);
  return {memory, memory + onefold::result_bytes(of.type, of.what, of.wide)};
}

/// Where the ranks' ranges begin and end, from 0 to n; on all ranks the same.
inline std::vector<uint64_t> cuts_of(uint64_t n, uint64_t tile, random_numbers& random, const char** style) {
  static constexpr const char* names[] = {"even",           "between tiles", "anywhere",   "many without elements",
                                          "beside borders", "within a tile", "one has all"};
  const uint64_t which = random.below(std::size(names));
  *style = names[which];
  const auto count = static_cast<uint64_t>(ranks());
  const uint64_t one = random.below(n + 1);
  std::vector<uint64_t> cuts{0};
  for (uint64_t i = 1; i < count; ++i) {
    const uint64_t any = random.below(n + 1), even = n * i / count;
    switch (which) {
      case 0:
        cuts.push_back(even);
        break;
      case 1:
        cuts.push_back(even / tile * tile);
        break;
      case 2:
        cuts.push_back(any);
        break;
      case 3:
        cuts.push_back(any % 3 == 0 ? one : any % 3 == 1 ? 0 : n);
        break;
      case 4:
        cuts.push_back(std::min(n, any / tile * tile + random.below(3)));
        break;
      case 5:
        cuts.push_back(std::min(n, one / tile * tile + random.below(tile)));
        break;
      default:
        cuts.push_back(2 * i > count ? n : 0);
    }
  }
  cuts.push_back(n);
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// Each rank its own, and another one each time.
inline onefold::executor any_executor(uint64_t seed) {
  const onefold::executor all[] = {onefold::serial(), onefold::openmp(), onefold::best(), onefold::openmp(2)};
  return all[(seed + static_cast<uint64_t>(rank())) % std::size(all)];
}

/// This rank's part of an array that all ranks know. `far`: the size of two elements that cancel, and all digits of others with them where a sum is rounded.
struct parted {
  explicit parted(uint64_t n, uint64_t seed = 1, double far = 0) : all(n) {
    const random_numbers random(seed);
    for (uint64_t i = 0; i < n; ++i) all[i] = static_cast<double>(random.at(i) >> 12) * 0x1p-52 - 0.4;
    if (far != 0 && n > 10) {
      all[n / 5] = far;
      all[n - n / 5] = -far;
    }
    const auto me = static_cast<uint64_t>(rank()), count = static_cast<uint64_t>(ranks());
    mine.assign(all.begin() + static_cast<std::ptrdiff_t>(n * me / count),
                all.begin() + static_cast<std::ptrdiff_t>(n * (me + 1) / count));
  }
  std::vector<double> all;
  std::vector<double> mine;
};

template <class T>
void expect_same(const T& got, const T& expected, const std::string& of) {
  compare(bits_of(got), bits_of(expected), of);
}

/// That an exact result is one, of data of which the fixed order gives another.
template <class T>
void expect_exact(const T& got, const T& exact, const T& fixed, const std::string& of) {
  EXPECT_NE(bits_of(exact), bits_of(fixed)) << of << ": these data cannot tell";
  expect_same(got, exact, of);
}

/// Exact parts that tell which elements there were, and a rounded one.
struct tally {
  uint64_t count;
  uint64_t sum;
  double rounded;
};
/// An operator on them.
struct tally_up {
  tally operator()(const tally& a, const tally& b) const { return {a.count + b.count, a.sum + b.sum, a.rounded + b.rounded}; }
};

/// Ranks that do something wrong in turn: the first, the last, and one between.
inline std::vector<int> culprits() {
  std::vector<int> some{0};
  for (const int next : {ranks() / 2, ranks() - 1})
    if (next > some.back()) some.push_back(next);
  return some;
}

/// What a rank that does it is refused with, and the others.
template <class Call>
void expect_refused_everywhere(int culprit, errc code, std::string_view words, std::string_view words_elsewhere, const Call& call) {
  if (rank() == culprit)
    EXPECT_TRUE(refuses(code, words, call));
  else
    EXPECT_TRUE(refuses(errc::communication_failed, words_elsewhere, call));
}

/// Of layouts that are cut within tiles and between them.
template <class Test>
void on_two_layouts(const Test& test) {
  const parted cut(4321 * 3);
  test(layout(MPI_COMM_WORLD, cut.mine.size()), cut.mine);
  const auto mine = onefold::mpi::aligned_range<double>(9000, rank(), ranks());
  const std::vector<double> whole(mine.size(), 0.25);
  test(layout(MPI_COMM_WORLD, mine.begin, mine.end), whole);
}

}  // namespace onefold_test
