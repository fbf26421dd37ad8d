/// @file own_range_state_test.cpp  States of ranges of values that are reduced with an operator of the caller's: however an array is cut and put together
/// again, the result has the bits of reduce() on one core, and states of equal ranges have equal bytes.

#include <array>
#include <cfenv>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "../support/data.hpp"
#include "support.hpp"

namespace onefold_test {
namespace {

using onefold::errc;
using onefold::maybe;
using onefold::own_range_state;
using bytes = std::vector<std::byte>;

// --- values of several sizes, and what is made of them ------------------------------------------------------------------------------------------

// Exact parts that tell which elements there were, and a rounded one.
struct tally {  // 24 bytes: 8 lanes
  uint64_t count;
  uint64_t sum;
  double rounded;
};
struct tally_up {
  tally operator()(const tally& a, const tally& b) const { return {a.count + b.count, a.sum + b.sum, a.rounded + b.rounded}; }
};
tally make_tally(uint64_t random) { return {1, random, static_cast<double>(random >> 12) * 0x1p-52 - 0.4}; }

struct wide_value {  // 64 bytes: 4 lanes
  std::array<double, 8> of;
};
struct wide_sum {
  wide_value operator()(wide_value a, const wide_value& b) const {
    for (std::size_t i = 0; i < a.of.size(); ++i) a.of[i] += b.of[i];
    return a;
  }
};
wide_value make_wide(uint64_t random) {
  wide_value made{};
  for (std::size_t i = 0; i < made.of.size(); ++i) made.of[i] = static_cast<double>((random >> i) % 1009) * 0.1;
  return made;
}

struct saturating_sum {  // of 1 byte: 256 lanes
  unsigned char operator()(unsigned char a, unsigned char b) const { return static_cast<unsigned char>(a ^ b ^ (a & b & 1U)); }
};
unsigned char make_small(uint64_t random) { return static_cast<unsigned char>(random); }

struct plain_sum {
  float operator()(float a, float b) const { return a + b; }
};
float make_float(uint64_t random) { return static_cast<float>(static_cast<double>(random >> 12) * 0x1p-52 - 0.4); }
maybe<float> make_some(uint64_t random) { return random % 3 == 0 ? maybe<float>() : maybe<float>(make_float(random)); }

template <class V, class Op, class Make>
struct values_and_operator {
  using item = decltype(std::declval<Make>()(uint64_t{}));
  using state = own_range_state<item, Op>;
  using value = typename state::value_type;

  values_and_operator(uint64_t count, uint64_t seed, Make make) : all(count) {
    const random_numbers random(seed);
    for (uint64_t i = 0; i < count; ++i) all[i] = make(random.at(i));
  }
  // From element `first` on, as a function of the index.
  [[nodiscard]] auto from(uint64_t first) const {
    return [this, first](uint64_t i) -> const item& { return all.at(first + i); };
  }
  [[nodiscard]] value on_one_core(uint64_t count) const {
    return onefold::transform_reduce(onefold::serial(), count, Op(), from(0), value());
  }
  [[nodiscard]] state state_of(uint64_t origin, uint64_t first, uint64_t end,
                               const onefold::executor& where = onefold::serial()) const {
    state made(origin + first);
    if constexpr (std::is_same_v<item, value>) {
      if (first % 2 == 0) {
        made.add(where, all.data() + first, end - first);
        return made;
      }
    }
    made.add(where, end - first, from(first));
    return made;
  }
  std::vector<item> all;
};

// Cut anywhere, at borders and beside them, read by any executors, put together in any order.
template <class V, class Op, class Make>
void expect_the_bits_of_one_core(uint64_t tile, Make make) {
  random_numbers random(current_seed());
  const int rounds = is_sanitized ? 24 : 200;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t n = round == 0 ? 40 * tile + 3 : 1 + random.below(round % 3 == 0 ? tile : 9 * tile);
    const values_and_operator<V, Op, Make> in(n, random(), make);
    const uint64_t origin = round % 4 == 3 ? random.below(10 * tile) : 0;
    const auto cuts = cuts_of(n, tile, random);
    using state = typename values_and_operator<V, Op, Make>::state;
    std::vector<state> parts;
    for (std::size_t i = 1; i < cuts.size(); ++i)
      parts.push_back(in.state_of(origin, cuts[i - 1], cuts[i], places()[random.below(places().size())].where));
    while (parts.size() > 1) {
      const std::size_t left = random.below(parts.size() - 1);
      parts[left].append(state::from_bytes(parts[left + 1].bytes()));
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(left) + 1);
    }
    ASSERT_EQ(parts[0].begin(), origin);
    ASSERT_EQ(parts[0].end(), origin + n);
    ASSERT_EQ(parts[0].bytes(), in.state_of(origin, 0, n).bytes()) << n << " values";
    if (origin == 0) {
      ASSERT_EQ(bytes_of_value(parts[0].value({})), bytes_of_value(in.on_one_core(n))) << n << " values";
    } else {
      EXPECT_TRUE(refuses(errc::invalid_argument, "has no result", [&] { static_cast<void>(parts[0].value()); }));
    }
  }
}

TEST(own_range_states, of_24_bytes_have_the_bits_of_one_core) { expect_the_bits_of_one_core<tally, tally_up>(128, make_tally); }
TEST(own_range_states, of_64_bytes_have_the_bits_of_one_core) { expect_the_bits_of_one_core<wide_value, wide_sum>(64, make_wide); }
TEST(own_range_states, of_a_byte_have_the_bits_of_one_core) {
  expect_the_bits_of_one_core<unsigned char, saturating_sum>(4096, make_small);
}
TEST(own_range_states, of_floats_have_the_bits_of_one_core) { expect_the_bits_of_one_core<float, plain_sum>(1024, make_float); }
TEST(own_range_states, of_values_that_may_be_absent_have_the_bits_of_one_core) {
  expect_the_bits_of_one_core<maybe<float>, plain_sum>(1024, make_some);
}

TEST(own_range_states, lose_no_element_and_take_none_twice) {
  const uint64_t n = 12'345;
  own_range_state<tally, tally_up> all;
  for (uint64_t at = 0; at < n;) {
    const uint64_t count = std::min(n - at, (at * 7919) % 900);
    all.add(places().back().where, count, [at](uint64_t i) { return tally{1, at + i, 0}; });
    at += count == 0 ? 0 : count;
    if (count == 0) all.add(onefold::serial(), 1, [at](uint64_t) { return tally{1, at, 0}; }), ++at;
  }
  EXPECT_EQ(all.value().count, n);
  EXPECT_EQ(all.value().sum, n * (n - 1) / 2);
}

// --- operators with memory, and values alone -------------------------------------------------------------------------------------------------------

TEST(own_range_states, keep_their_operator_or_refer_to_it) {
  const double scale = 0.5;
  const auto combine = [scale](double a, double b) { return (a + b) * (scale + 0.5); };
  const random_numbers random(current_seed());
  std::vector<double> x(3'000);
  for (uint64_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random.at(i) >> 12) * 0x1p-52;
  const double expected = onefold::reduce(onefold::serial(), x, combine);
  own_range_state<double, decltype(combine)> kept(0, combine);
  own_range_state<double, decltype(combine)&> referred(0, combine);
  kept.add(onefold::best(), x.data(), 1'000).add(onefold::serial(), x.data() + 1'000, 2'000);
  referred.add(onefold::best(), x);
  EXPECT_EQ(kept.value(), expected);
  EXPECT_EQ(referred.value(), expected);
  EXPECT_EQ(kept.value(2.5), onefold::reduce(onefold::serial(), x, combine, 2.5));
  EXPECT_EQ(referred.bytes(), kept.bytes());
  EXPECT_EQ((own_range_state<double, decltype(combine)>::from_bytes(kept.bytes().data(), kept.bytes().size(), combine).value()),
            expected);
  const auto copy = kept;
  EXPECT_EQ(kept.append(own_range_state<double, decltype(combine)>(3'000, combine)).bytes(), copy.bytes());
}

TEST(own_range_states, of_no_values_have_the_initial_one_alone) {
  own_range_state<tally, tally_up> none;
  EXPECT_TRUE(refuses(errc::invalid_argument, "initial value", [&] { static_cast<void>(none.value()); }));
  EXPECT_EQ(none.value({3, 4, 5}).sum, 4U);
  none.add(onefold::serial(), nullptr, 0).add(onefold::serial(), 0, make_tally);
  own_range_state<maybe<float>, plain_sum> absent;
  absent.add(onefold::openmp(), 5'000, [](uint64_t) { return maybe<float>(); });
  EXPECT_EQ(absent.end(), 5'000U);
  EXPECT_EQ(absent.value(7.0F), 7.0F);
  EXPECT_TRUE(refuses(errc::invalid_argument, "initial value", [&] { static_cast<void>(absent.value()); }));
}

// Whatever the thread has set.
TEST(own_range_states, are_the_same_in_every_rounding_mode) {
  const auto make = [] {
    own_range_state<float, plain_sum> first, second(1'111);
    const auto third = [](uint64_t i) { return 1.0F / static_cast<float>(i + 3); };
    first.add(onefold::serial(), 1'111, third);
    second.add(onefold::serial(), 5'000, third);
    return std::pair(first.append(second).bytes(), first.value(0.1F));
  };
  const auto expected = make();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = make();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got, expected);
  }
}

// --- bytes ----------------------------------------------------------------------------------------------------------------------------------------

template <class T>
void put(bytes& to, const T& value) {
  const bytes more = bytes_of_value(value);
  to.insert(to.end(), more.begin(), more.end());
}
bytes document(unsigned char can_be_absent, unsigned char value_bytes, uint64_t begin, uint64_t end) {
  bytes all;
  for (const int byte : {0x6f, 0x6e, 0x65, 0x66, 0x6f, 0x6c, 0x64, 0x00, 1, 0, 255, 255})
    put(all, static_cast<unsigned char>(byte));
  for (const unsigned char byte : {can_be_absent, value_bytes, static_cast<unsigned char>(0), static_cast<unsigned char>(0)})
    put(all, byte);
  put(all, begin);
  put(all, end);
  return all;
}
bytes summed(bytes all) {
  uint64_t hash = 14695981039346656037U;
  for (const std::byte byte : all) hash = (hash ^ static_cast<uint64_t>(byte)) * 1099511628211U;
  put(all, hash);
  return all;
}

TEST(the_bytes_of_an_own_state, are_those_of_the_document) {
  // Element 126 ends the first tile of 128; 127 .. 383 are two more and a half.
  own_range_state<tally, tally_up> state(126);
  state.add(onefold::serial(), 264, [](uint64_t i) { return tally{1, 126 + i, 0.5}; });
  bytes expected = document(0, 24, 126, 390);
  for (const uint64_t i : {uint64_t{126}, uint64_t{127}}) put(expected, tally{1, i, 0.5});
  put(expected, tally{128, 128 * 128 + 127 * 128 / 2, 64.0});  // tile 1, which is no left sibling
  put(expected, tally{128, 128 * 256 + 127 * 128 / 2, 64.0});
  for (uint64_t i = 384; i < 390; ++i) put(expected, tally{1, i, 0.5});
  EXPECT_EQ(state.bytes(), summed(expected));

  own_range_state<maybe<float>, plain_sum> some(3);
  some.add(onefold::serial(), 3, [](uint64_t i) { return i == 1 ? maybe<float>() : maybe<float>(1.5F); });
  expected = document(1, 4, 3, 6);
  for (const bool is_there : {true, false, true}) {
    put(expected, static_cast<unsigned char>(is_there ? 1 : 0));
    put(expected, is_there ? 1.5F : 0.0F);
  }
  EXPECT_EQ(some.bytes(), summed(expected));
}

TEST(the_bytes_of_an_own_state, are_refused_where_they_are_none) {
  using state = own_range_state<float, plain_sum>;
  const auto expect_refused = [](std::string_view words, const bytes& bad) {
    EXPECT_TRUE(refuses(errc::invalid_argument, words, [&] { static_cast<void>(state::from_bytes(bad)); })) << words;
  };
  state good(3);
  good.add(onefold::serial(), 2'000, [](uint64_t i) { return static_cast<float>(i); });
  const bytes all = good.bytes();
  EXPECT_EQ(state::from_bytes(all).bytes(), all);
  for (std::size_t i = 0; i < all.size(); i += i < 40 ? 1 : 97) {
    bytes bad = all;
    bad[i] ^= std::byte{4};
    expect_refused("", bad);
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{39}, all.size() / 2, all.size() - 1})
    expect_refused("", bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size)));
  bytes more = all;
  more.push_back({});
  expect_refused("damaged", more);
  expect_refused("values of 8 bytes", summed(document(0, 8, 0, 0)));
  expect_refused("may be absent", summed(document(1, 4, 0, 0)));
  expect_refused("damaged", summed(document(0, 4, 5, 4)));
  expect_refused("damaged", summed(document(0, 4, 0, ~uint64_t{0})));
  expect_refused("damaged", summed(document(0, 4, 0, 1)));
  bytes of_library = onefold::range_state<form::sum, float>().bytes();
  expect_refused("of the library's", of_library);
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "", [&] { static_cast<void>(onefold::range_state<form::sum, float>::from_bytes(all)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "bytes", [] { static_cast<void>(state::from_bytes(nullptr, 50)); }));
  bytes flag = document(1, 4, 3, 4);
  put(flag, static_cast<unsigned char>(2));
  put(flag, 1.0F);
  EXPECT_TRUE(refuses(errc::invalid_argument, "damaged",
                      [&] { static_cast<void>(own_range_state<maybe<float>, plain_sum>::from_bytes(summed(flag))); }));
  const auto absent = [](float hidden) {
    bytes one = document(1, 4, 3, 4);
    put(one, static_cast<unsigned char>(0));
    put(one, hidden);
    return own_range_state<maybe<float>, plain_sum>::from_bytes(summed(one));
  };
  EXPECT_EQ(absent(0.0F).end(), 4U);
  EXPECT_TRUE(refuses(errc::invalid_argument, "damaged", [&] { static_cast<void>(absent(1.0F)); }));
}

// --- the same states in C: onefold_range_create_own() ------------------------------------------------------------------------------------------------

struct destroy_range {
  void operator()(onefold_range* of) const { onefold_range_destroy(of); }
};
using c_state = std::unique_ptr<onefold_range, destroy_range>;

template <class V, class Op>
int combine_many(void*, void* a, const void* b, uint64_t count) {
  V* const to = static_cast<V*>(a);
  const V* const from = static_cast<const V*>(b);
  for (uint64_t i = 0; i < count; ++i) to[i] = Op()(to[i], from[i]);
  return 0;
}
template <class Item, class Op>
c_state make_c_state(uint64_t begin) {
  using V = typename own_range_state<Item, Op>::value_type;
  const onefold_own_operator own{sizeof(own), nullptr, sizeof(V), std::is_same_v<Item, V> ? 0U : 1U, combine_many<V, Op>};
  onefold_range* made = nullptr;
  detail::check_status(onefold_range_create_own(&own, begin, &made));
  return c_state(made);
}
bytes bytes_of_state(const c_state& of) {
  bytes all(onefold_range_bytes(of.get()));
  detail::check_status(onefold_range_write(of.get(), all.data(), all.size()));
  return all;
}
template <class V, class Op, class Make>
void expect_the_same_in_c(uint64_t tile, Make make) {
  using all_values = values_and_operator<V, Op, Make>;
  using item = typename all_values::item;
  random_numbers random(current_seed());
  for (int round = 0; round < 16; ++round) {
    const uint64_t n = round == 0 ? 33 * tile + 5 : 1 + random.below(7 * tile),
                   origin = round % 4 == 3 ? random.below(9 * tile) : 0;
    const all_values in(n, random(), make);
    const uint64_t cut = random.below(n + 1);
    struct context_of_fill {
      const all_values& in;
      uint64_t first;
    };
    const auto c_state_of = [&](uint64_t first, uint64_t end) {
      context_of_fill context{in, first};
      const onefold_value_source source{&context, [](void* is, uint64_t from, uint64_t count, void* const* to) {
                                          const auto& of = *static_cast<const context_of_fill*>(is);
                                          for (uint64_t i = 0; i < count; ++i) {
                                            const maybe<V> one = of.in.all.at(of.first + from + i);
                                            static_cast<V*>(to[0])[i] = one.value;
                                            if (to[1] != nullptr) static_cast<unsigned char*>(to[1])[i] = one.present ? 1 : 0;
                                          }
                                          return 0;
                                        }};
      c_state made = make_c_state<item, Op>(origin + first);
      const onefold_executor where = detail::c_executor(places()[random.below(places().size())].where);
      detail::check_status(onefold_range_add_values(made.get(), where, &source, end - first, nullptr));
      return made;
    };
    // One part in C and the other in C++, each read by the other one.
    const c_state left = c_state_of(0, cut), right = c_state_of(cut, n), read_left = make_c_state<item, Op>(7),
                  read_right = make_c_state<item, Op>(7);
    auto of_left = in.state_of(origin, 0, cut);
    const auto of_right = in.state_of(origin, cut, n);
    ASSERT_EQ(bytes_of_state(left), of_left.bytes()) << cut << " of " << n;
    ASSERT_EQ(bytes_of_state(right), of_right.bytes()) << cut << " of " << n;
    const bytes sent = of_right.bytes();
    detail::check_status(onefold_range_read(read_right.get(), sent.data(), sent.size()));
    detail::check_status(onefold_range_append(left.get(), read_right.get()));
    of_left.append(all_values::state::from_bytes(bytes_of_state(right)));
    ASSERT_EQ(bytes_of_state(left), of_left.bytes()) << cut << " of " << n;
    if (origin != 0) continue;
    V result{};
    const int status = onefold_range_result(left.get(), 0, &result);
    if (status == ONEFOLD_INVALID_ARGUMENT) {  // none is there
      EXPECT_TRUE(refuses(errc::invalid_argument, "initial value", [&] { static_cast<void>(of_left.value()); }));
      continue;
    }
    ASSERT_EQ(status, ONEFOLD_OK);
    ASSERT_EQ(bytes_of_value(result), bytes_of_value(of_left.value()));
  }
}

TEST(own_range_states, have_the_same_bytes_in_c) {
  expect_the_same_in_c<tally, tally_up>(128, make_tally);
  expect_the_same_in_c<wide_value, wide_sum>(64, make_wide);
  expect_the_same_in_c<unsigned char, saturating_sum>(4096, make_small);
  expect_the_same_in_c<float, plain_sum>(1024, make_float);
  expect_the_same_in_c<float, plain_sum>(1024, make_some);
  expect_the_same_in_c<float, plain_sum>(
      1024, [](uint64_t random) { return random % 900 == 0 ? maybe<float>(make_float(random)) : maybe<float>(); });
}

// Whatever the thread has set: what is kept is combined when a neighbour comes, and when the result is asked for.
TEST(own_range_states, are_the_same_in_every_rounding_mode_in_c) {
  std::vector<float> x(6'111);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0F / static_cast<float>(i + 3);
  // Tiles of 1024: the second one is in both states, and the five whole ones are two nodes then, the first one of four.
  constexpr uint64_t cut = 1'111;
  const auto make = [&x] {
    const c_state first = make_c_state<float, plain_sum>(0), second = make_c_state<float, plain_sum>(cut);
    detail::check_status(onefold_range_add(first.get(), onefold_serial(), x.data(), nullptr, cut, nullptr));
    detail::check_status(onefold_range_add(second.get(), onefold_serial(), x.data() + cut, nullptr, x.size() - cut, nullptr));
    detail::check_status(onefold_range_append(first.get(), second.get()));
    float result = 0;
    detail::check_status(onefold_range_result(first.get(), 0, &result));
    return std::pair(bytes_of_state(first), result);
  };
  const auto expected = make();
  EXPECT_EQ(expected.second, onefold::reduce(onefold::serial(), x, plain_sum()));
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = make();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got.first, expected.first) << mode;    // append()
    EXPECT_EQ(got.second, expected.second) << mode;  // the last tile, and what is to the left of it
  }
}

// Whatever byte of the header is another, under a checksum that is right, in C++ and in C.
TEST(the_bytes_of_an_own_state, of_others_are_refused_by_their_header) {
  using state = own_range_state<tally, tally_up>;
  state good(5);
  good.add(onefold::serial(), 300, [](uint64_t i) { return tally{1, i, 0.5}; });
  const bytes written = good.bytes(), body(written.begin(), written.end() - 8);
  ASSERT_EQ(summed(body), written);
  state kept(77);
  kept.add(onefold::serial(), 3, [](uint64_t i) { return tally{1, i, 0}; });
  const bytes before = kept.bytes();
  const c_state kept_in_c = make_c_state<tally, tally_up>(77);
  detail::check_status(onefold_range_read(kept_in_c.get(), before.data(), before.size()));
  // The magic number, the version, the library's types and forms, whether values may be absent, their size, and what must be 0.
  for (std::size_t at = 0; at < 16; ++at)
    for (const int bits : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      bytes bad = body;
      bad[at] ^= static_cast<std::byte>(bits);
      bad = summed(bad);
      ASSERT_TRUE(refuses(errc::invalid_argument, "", [&] { kept = state::from_bytes(bad); })) << "byte " << at << ": " << bits;
      ASSERT_EQ(onefold_range_read(kept_in_c.get(), bad.data(), bad.size()), ONEFOLD_INVALID_ARGUMENT)
          << "byte " << at << ": " << bits;
    }
  EXPECT_EQ(kept.bytes(), before);
  EXPECT_EQ(bytes_of_state(kept_in_c), before);
  const auto expect_told = [&](std::string_view words, std::size_t at, int value) {
    bytes bad = body;
    bad[at] = static_cast<std::byte>(value);
    bad = summed(bad);
    EXPECT_TRUE(refuses(errc::invalid_argument, words, [&] { static_cast<void>(state::from_bytes(bad)); }));
    EXPECT_TRUE(refuses(errc::invalid_argument, words,
                        [&] { detail::check_status(onefold_range_read(kept_in_c.get(), bad.data(), bad.size())); }));
  };
  expect_told("version 2", 8, 2);
  expect_told("version 257", 9, 1);
  expect_told("values of 25 bytes, and one of 24 bytes", 13, 25);
  expect_told("may be absent, and one of 24 bytes", 12, 1);
  expect_told("do not begin like one", 7, 1);
  expect_told("of a form of the library's", 10, 1);
  expect_told("damaged", 14, 1);
  expect_told("damaged", 15, 1);
  // States of all other operators here, of values of other sizes and of some that may be absent.
  const auto expect_foreign = [&](const bytes& foreign) {
    EXPECT_TRUE(refuses(errc::invalid_argument, "values of", [&] { kept = state::from_bytes(foreign); }));
    EXPECT_EQ(onefold_range_read(kept_in_c.get(), foreign.data(), foreign.size()), ONEFOLD_INVALID_ARGUMENT);
  };
  expect_foreign(own_range_state<wide_value, wide_sum>(5).bytes());
  expect_foreign(own_range_state<unsigned char, saturating_sum>(5).bytes());
  expect_foreign(own_range_state<float, plain_sum>(5).bytes());
  expect_foreign(own_range_state<maybe<float>, plain_sum>(5).bytes());
  expect_foreign(own_range_state<maybe<tally>, tally_up>(5).bytes());
  expect_foreign(bytes_of_state(make_c_state<float, plain_sum>(5)));
  // Nor are they the library's, of several operators neither.
  EXPECT_THROW(static_cast<void>(onefold::range_state<form::argmin, double>::from_bytes(written)), onefold::error);
  EXPECT_THROW(static_cast<void>(onefold::together_range_state<double, onefold::op::sum, onefold::op::min>::from_bytes(written)),
               onefold::error);
  EXPECT_TRUE(refuses(errc::invalid_argument, "of the library's", [&] {
    static_cast<void>(state::from_bytes(onefold::together_range_state<double, onefold::op::sum, onefold::op::min>().bytes()));
  }));
  EXPECT_EQ(kept.bytes(), before);
  EXPECT_EQ(bytes_of_state(kept_in_c), before);
}

// --- what fails -------------------------------------------------------------------------------------------------------------------------------------

struct problem_of_mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(own_range_states, are_what_they_were_after_what_fails) {
  bool fails = false;
  const auto sum = [&fails](double a, double b) { return fails ? throw problem_of_mine("mine") : a + b; };
  own_range_state<double, decltype(sum)&> state(100, sum);
  state.add(onefold::serial(), 900, [](uint64_t) { return 1.0; });
  const bytes before = state.bytes();
  own_range_state<double, decltype(sum)&> next(1'000, sum);
  next.add(onefold::serial(), 600, [](uint64_t) { return 1.0; });
  const std::vector<double> x(5'000, 1.0);
  for (const auto& place : places()) {
    fails = true;
    EXPECT_THROW(state.add(place.where, x), problem_of_mine);
    EXPECT_EQ(state.bytes(), before);
    EXPECT_THROW(state.append(next), problem_of_mine);
    EXPECT_EQ(state.bytes(), before);
    fails = false;
    for (const uint64_t at : {0U, 30U, 3'000U, 4'999U})
      EXPECT_THROW(state.add(place.where, 5'000, [at](uint64_t i) { return i == at ? throw problem_of_mine("mine") : 1.0; }),
                   problem_of_mine);
    EXPECT_EQ(state.bytes(), before);
  }
  const auto expect_refused = [&](errc code, std::string_view words, const auto& call) {
    EXPECT_TRUE(refuses(code, words, call)) << words;
    EXPECT_EQ(state.bytes(), before);
  };
  for (const uint64_t count : {uint64_t{3}, uint64_t{3'000}}) {
    const double* const none = nullptr;
    expect_refused(errc::null_pointer, "null", [&] { state.add(onefold::serial(), none, count); });
    EXPECT_THROW(state.add(onefold::cuda(), x.data(), count), onefold::error);
    expect_refused(errc::guarantee_not_met, "",
                   [&] { state.add(onefold::serial(), x.data(), count, {.guarantee = onefold::guarantee::exact}); });
    expect_refused(errc::unknown_variant, "", [&] { state.add(onefold::serial(), x.data(), count, {.variant = "no_such"}); });
  }
  expect_refused(errc::invalid_argument, "negative", [&] { state.add(onefold::serial(), x.data(), ~uint64_t{0}); });
  expect_refused(errc::invalid_argument, "negative", [&] { state.add(onefold::serial(), -1, [](uint64_t) { return 1.0; }); });
  expect_refused(errc::invalid_argument, "neighbours", [&] { state.append(state); });
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { own_range_state<double, decltype(sum)&>(~uint64_t{0}, sum); }));
  onefold::report ran;
  EXPECT_THROW(state.add(onefold::serial(), 5'000, [](uint64_t i) { return i == 4'999 ? throw problem_of_mine("mine") : 1.0; },
                         {.report = &ran}),
               problem_of_mine);
  EXPECT_EQ(ran.variant, "") << "of what has failed nothing is told";
  state.add(onefold::serial(), x, {.report = &ran});
  EXPECT_EQ(ran.variant, "fixed_order");
}

}  // namespace
}  // namespace onefold_test
