#pragma once
/// @file support.hpp  Types, sizes, data and executors of the tests of reductions as data; requests of theirs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/onefold.hpp>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {

using std::uint64_t;
namespace detail = onefold::detail;
using onefold::element_type;
using onefold::form;

struct place_to_run {
  std::string words;
  onefold::executor where;
};

/// Found once: to ask for the backends may load the CUDA driver.
inline const std::vector<place_to_run>& places() {
  static const std::vector<place_to_run> found = [] {
    std::vector<place_to_run> all{{"serial()", onefold::serial()}, {"best()", onefold::best()}};
    for (const auto& info : onefold::backends())
      if (info.where == onefold::backend::openmp && info.built) {
        all.push_back({"openmp()", onefold::openmp()});
        if (info.threads >= 2) all.push_back({"openmp(2)", onefold::openmp(2)});
      }
    return all;
  }();
  return found;
}

/// Lanes of a row of elements of type T.
template <class T>
constexpr uint64_t lanes = 256 / sizeof(T);

/// Around rows, tiles and groups of 16 tiles.
template <class T>
std::vector<uint64_t> sizes() {
  const uint64_t tile = 16 * lanes<T>, group = 16 * tile;
  return {1,
          2,
          3,
          lanes<T> - 1,
          lanes<T>,
          lanes<T> + 1,
          5 * lanes<T> + 3,
          tile - 1,
          tile,
          tile + 1,
          2 * tile,
          4 * tile - 1,
          5 * tile + 77,
          group - 1,
          group,
          group + 1,
          3 * group + 2 * tile + 5,
          20 * group + 12345};
}

/// Of any bits, NaN and infinities among them; floats of `tame` ones are numbers of moderate size.
template <class T>
std::vector<T> values(uint64_t count, uint64_t seed, bool tame) {
  std::vector<T> all(count);
  const random_numbers random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bits = random.at(i);
    if constexpr (std::is_floating_point_v<T>) {
      if (tame) {
        all[i] = static_cast<T>(static_cast<double>(bits >> 11) * 0x1p-53 - 0.25);
        continue;
      }
    }
    std::memcpy(&all[i], &bits, sizeof(T));
  }
  return all;
}

/// A request of `count` elements at x, or of values or code to be set.
inline detail::request request_of(const onefold::executor& where, element_type type, form what, const void* x, uint64_t count,
                                  void* output) {
  return {where, type, what, x, count, output, true};
}

/// What a request stores, as bytes; behind it nothing may be written.
inline std::vector<unsigned char> results_of(detail::request asked, std::size_t bytes, const onefold::options& how = {}) {
  alignas(64) unsigned char memory[1024];
  std::fill(std::begin(memory), std::end(memory), static_cast<unsigned char>(0xa5));
  asked.output = memory;
  detail::run(asked, how);
  EXPECT_TRUE(std::all_of(memory + bytes, std::end(memory), [](unsigned char byte) { return byte == 0xa5; }));
  return {memory, memory + bytes};
}

/// A value, as bytes.
template <class T>
std::vector<std::byte> bytes_of_value(const T& of) {
  std::vector<std::byte> all(sizeof(of));
  std::memcpy(all.data(), &of, sizeof(of));
  return all;
}

/// Calls body(T{}) for each element type.
template <class Body>
void for_each_type(const Body& body) {
#define ONEFOLD_TYPE(name, T) \
  {                           \
    SCOPED_TRACE(#name);      \
    body(T{});                \
  }
#include <onefold/types.def>
}

// --- cuts -----------------------------------------------------------------------------------------------------------------------------------

// Where the parts of n elements begin and end, from 0 to n.
inline std::vector<uint64_t> cuts_of(uint64_t n, uint64_t tile, random_numbers& random) {
  std::vector<uint64_t> cuts{0, n};
  const uint64_t style = random.below(6);
  const uint64_t parts = 1 + random.below(12);
  for (uint64_t i = 0; i < parts; ++i) {
    const uint64_t any = random.below(n + 1);
    const uint64_t border = std::min(n, any / tile * tile);
    switch (style) {
      case 0:  // anywhere
        cuts.push_back(any);
        break;
      case 1:  // between tiles
        cuts.push_back(border);
        break;
      case 2:  // on both sides of a border: parts of one element
        for (const uint64_t beside : {border, border + 1, border + 2}) cuts.push_back(std::min(n, beside));
        if (border > 0) cuts.push_back(border - 1);
        break;
      case 3:  // nothing between
        cuts.insert(cuts.end(), 1 + random.below(3), any);
        break;
      case 4:  // within one tile
        cuts.push_back(std::min(n, n / 2 / tile * tile + random.below(tile)));
        break;
      default:
        cuts.push_back(random.below(2) == 0 ? any : border);
    }
  }
  std::ranges::sort(cuts);
  return cuts;
}

}  // namespace onefold_test
