/// @file packed_test.cpp  What a warp reads in packs from any boundary, on a warp of host threads: its nodes are those of docs/order.md, made lane by lane.

#include "warp_on_host.hpp"

#include <onefold/device/packed.cuh>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>

#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

namespace dt = onefold::detail;
namespace dv = onefold::device;
using onefold::element_type;
using onefold::form;

template <class Fold>
using maybe_node = std::optional<typename Fold::accumulator>;

template <class Fold>
maybe_node<Fold> combined(const maybe_node<Fold>& a, const maybe_node<Fold>& b) {
  if (!a) return b;
  if (!b) return a;
  return Fold::combine(*a, *b);
}

// A tile's node as docs/order.md has it.
template <class Fold>
maybe_node<Fold> node_of_tile(const typename Fold::element* x, const typename Fold::element* y, std::uint64_t n,
                              std::uint64_t tile) {
  constexpr int L = dv::lanes<Fold>;
  std::vector<maybe_node<Fold>> lane(L);
  for (int j = 0; j < L; ++j) {
    const std::uint64_t first = tile * dv::tile_elements<Fold> + static_cast<unsigned>(j);
    dv::lane_t<Fold> so_far{};
    int rows = 0;
    for (; rows < onefold::order::tile_rows; ++rows) {
      const std::uint64_t i = first + static_cast<std::uint64_t>(rows) * L;
      if (i >= n) break;
      const auto value = dv::detail::value_of(Fold{}, x[i], y[i]);
      so_far = rows == 0 ? dv::first_of_lane(Fold{}, value, 0) : dv::next_of_lane(Fold{}, so_far, value, rows);
    }
    if (rows > 0) lane[static_cast<std::size_t>(j)] = dv::node_of_lane(Fold{}, so_far, rows, first);
  }
  for (std::size_t half = L / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) lane[j] = combined<Fold>(lane[j], lane[j + half]);
  return lane[0];
}

// Bytes in which every NaN looks alike.
template <class T>
void append(std::string& to, T value) {
  value = dt::canonical(value);
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
template <class T>
void append(std::string& to, const dt::arg_state<T>& of) {
  append(to, of.value);
  append(to, of.index);
}
template <class T>
void append(std::string& to, const dt::two_args<T>& of) {
  append(to, of.min);
  append(to, of.max);
}
template <class T>
void append(std::string& to, const dt::two_values<T>& of) {
  append(to, of.min);
  append(to, of.max);
}
template <class T>
void append(std::string& to, const dt::four_values<T>& of) {
  for (const auto value : {of.sum, of.prod}) append(to, value);
  for (const auto value : {of.min, of.max}) append(to, value);
}
void append(std::string& to, const dt::moments& of) {
  append(to, of.count);
  append(to, of.mean);
  append(to, of.deviation);
}
template <class A>
std::string bytes_of(const A& node) {
  std::string bytes;
  append(bytes, node);
  return bytes;
}

// Numbers of all sizes; `wild` ones of all bits, with few NaNs.
template <class E>
E element_of(std::mt19937_64& random, bool wild) {
  const std::uint64_t bits = random();
  E made;
  if constexpr (dt::is_half<E>)
    made = wild && bits % 64 != 0 ? E::from_bits(static_cast<std::uint16_t>(bits >> 32 & 0xfbff & ~(1U << (dt::digits_of<E> - 1))))
           : wild                 ? E::from_bits(static_cast<std::uint16_t>(bits >> 32))
                                  : E(static_cast<float>(static_cast<int>(bits >> 40 & 0x3ff) - 511) / 64);
  else if constexpr (std::is_floating_point_v<E>)
    made =
        static_cast<E>(static_cast<std::int64_t>(bits >> 8) - (std::int64_t{1} << 55)) * static_cast<E>(wild ? 0x1p-50 : 0x1p-55);
  else
    made = static_cast<E>(wild ? bits : bits % 7);
  return made;
}

// An array that begins `shift` elements behind a 16-byte boundary. Nothing of it may be read but packs that hold elements, and where it begins on a boundary no
// byte behind its end, which is that of the memory.
template <class E>
struct array {
  struct release {
    void operator()(E* of) const { ::operator delete (of, std::align_val_t{16}); }
  };
  std::unique_ptr<E, release> memory;
  E* begin;
  array(std::uint64_t n, std::uint64_t shift, bool wild, std::uint64_t seed)
      : memory(static_cast<E*>(
            ::operator new (shift == 0 ? n * sizeof(E) : ((n + shift) * sizeof(E) + 15) / 16 * 16, std::align_val_t{16}))),
        begin(memory.get() + shift) {
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 0; i < n; ++i) begin[i] = element_of<E>(random, wild);
  }
};

template <form What, class T, bool Wide = false>
void expect_nodes() {
  using Fold = dt::form_fold_t<What, T, Wide>;
  using E = typename Fold::element;
  using A = typename Fold::accumulator;
  using family = dv::fold_family<dv::combination_of<Fold>, Fold>;
  using units = dv::packed_tiles<family>;
  const family fold{{}, 0};
  constexpr std::uint64_t tile = dv::tile_elements<Fold>;
  constexpr std::uint64_t row = dv::lanes<Fold>;
  const std::uint64_t ends[] = {5 * tile + 3 * row + 5, 4 * tile + 1, 4 * tile + row - 1, 5 * tile, 6 * tile - 1};
  // With a sanitizer each form has a third of them, and three forms that follow each other have all.
  int turn = static_cast<int>(What) + (Wide ? 1 : 0);
  for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{1}, 16 / sizeof(E) - 1}) {
    for (const bool wild : {false, true}) {
      for (const std::uint64_t n : ends) {
        if (is_sanitized && turn++ % 3 != 0) continue;
        const array<E> x(n, shift, wild, 1);
        const array<E> y(n, 16 / sizeof(E) / 2 - shift % 2, wild, 2);
        dv::tree_input in{};
        in.x = x.begin;
        in.y = y.begin;
        in.count = n;
        in.end_packed = n / tile;
        in.end_tile = (n + tile - 1) / tile;
        std::vector<std::string> bits(4);
        on_a_warp([&] {
          for (std::uint64_t unit = 0; unit < bits.size() && units::exists(in, unit); ++unit) {
            A node = units::is_whole(in, unit) ? units::whole_node(fold, in, unit) : units::any_node(fold, in, unit);
            if constexpr (units::leaves_places) node = units::with_places(fold, in, node);
            if (threadIdx.x == 7) bits[unit] = bytes_of(node);
          }
        });
        for (std::uint64_t unit = 0; unit < bits.size(); ++unit) {
          const auto expected = combined<Fold>(node_of_tile<Fold>(x.begin, y.begin, n, 2 * unit),
                                               node_of_tile<Fold>(x.begin, y.begin, n, 2 * unit + 1));
          EXPECT_EQ(bits[unit], expected ? bytes_of(*expected) : std::string())
              << onefold::name(What) << " of " << onefold::name(onefold::element_type_of<T>) << " shift " << shift << " unit "
              << unit << " of " << n << (wild ? " wild" : "") << (Wide ? " wide" : "");
        }
      }
    }
  }
}

template <form What, class T>
void expect_form() {
  constexpr element_type type = onefold::element_type_of<T>;
  if constexpr (onefold::takes_type(What, type)) expect_nodes<What, T>();
  if constexpr (onefold::can_be_wide(type, What)) expect_nodes<What, T, true>();
}

template <class T>
void expect_all_forms() {
#define ONEFOLD_FORM(name) expect_form<form::name, T>();
#include <onefold/forms.def>
#undef ONEFOLD_FORM
#define ONEFOLD_RECORD(name) expect_form<form::name, T>();
#include <onefold/records.def>
#undef ONEFOLD_RECORD
}

#define ONEFOLD_SMALL_TYPE(name, T) \
  TEST(PackedTiles, name) { expect_all_forms<T>(); }
#include <onefold/types.def>

TEST(PackedTiles, places_of_full_types) {
#define ONEFOLD_TYPE(name, T)               \
  expect_form<form::argminmax, T>();        \
  expect_form<form::argmin_magnitude, T>(); \
  expect_form<form::argmax_magnitude, T>();
#include <onefold/types.def>
}

TEST(PackedTiles, wide_integers) {
  expect_nodes<form::sum, std::int32_t, true>();
  expect_nodes<form::dot, std::int32_t, true>();
  expect_nodes<form::norm1, std::int32_t, true>();
  expect_nodes<form::sum_of_squares, std::uint32_t, true>();
  expect_nodes<form::prod, std::uint32_t, true>();
}

}  // namespace
}  // namespace onefold_test
