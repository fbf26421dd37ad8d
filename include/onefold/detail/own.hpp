#pragma once
/// @file own.hpp  A reduction with an operator of the caller's, as the compiled library calls it on CPUs: tree v1 in the caller's translation
/// unit, so that operator and function are inlined; threads, order and everything around them are the library's.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <onefold/detail/callback.hpp>
#include <onefold/detail/unit.hpp>
#include <onefold/operators.hpp>
#include <onefold/order.hpp>

namespace onefold {
namespace detail {
ONEFOLD_BEGIN_ARITHMETIC

template <class V>
constexpr void check_value_type() {
  static_assert(std::is_trivially_copyable<V>::value,
                "values that are reduced are copied as bytes: their type must be trivially copyable");
  static_assert(std::is_default_constructible<V>::value, "the type of values that are reduced must have a default constructor");
  static_assert(sizeof(V) <= most_value_bytes, "values that are reduced have at most 64 bytes");
}

/// Where there is no initial value.
struct no_init {};

/// Whether a number of type From keeps what it is as a To: a literal does, and what is rounded among floats; nothing behind a point is cut off, and no longer
/// integer is made a shorter one. Types that are no numbers convert as they say.
template <class From, class To>
inline constexpr bool becomes_without_loss =
    !std::is_arithmetic_v<From> || !std::is_integral_v<To> ||
    (std::is_integral_v<From> && (sizeof(From) <= sizeof(To) || sizeof(From) <= sizeof(int)));

/// Of values V, what op gives and the initial value become such.
template <class V, class Op, class Init>
constexpr void check_operator() {
  static_assert(std::is_invocable_v<Op&, const V&, const V&>, "the operator is called with two values");
  if constexpr (std::is_invocable_v<Op&, const V&, const V&>)
    static_assert(
        becomes_without_loss<std::decay_t<std::invoke_result_t<Op&, const V&, const V&>>, V>,
        "what the operator returns becomes a value again, which would lose what it has: let values have the type that it returns");
  static_assert(std::is_same_v<Init, no_init> || becomes_without_loss<Init, V>,
                "the initial value becomes one of the values' type, which would lose what it has: convert it, or the values");
}

/// What becomes of the tree's value: of floats every NaN becomes the same one.
struct canonical_conclusion {
  template <class V>
  V operator()(const V& tree, std::uint64_t) const {
    return canonical(tree);
  }
};

inline constexpr const char* nothing_to_reduce =
    "a reduction of no elements with an operator of your own: give it an initial value";

/// The reduction of f over a space with `op`, as own_code. `op` must commute and be associative up to rounding; it needs no identity.
///
/// Space, F  as in block_callback; f returns V, or maybe<V>, or std::optional<V>
/// Op        op(V, V), which gives what converts to V
/// Init      V's initial value, or no_init
/// Conclusion  makes a V, the result, of the tree's value and the number of elements
/// RowBytes  bytes of what a row of the tree holds: of a value, where that is what the caller reduces
template <class Space, class F, class Op, class Init = no_init, class Conclusion = canonical_conclusion,
          std::size_t RowBytes = sizeof(typename value_traits<value_at_t<Space, F>>::type)>
class own_reduction {
 public:
  using returned = value_at_t<Space, F>;
  using value = typename value_traits<returned>::type;
  using state = maybe<value>;

  /// @param nothing  what to say where there are no elements and no initial value
  own_reduction(const Space& space, F& f, Op& op, Init init = {}, const char* nothing = nothing_to_reduce)
      : code_{this, static_cast<std::uint32_t>(RowBytes), sizeof(state), sizeof(value), groups, level, conclude},
        space_(space),
        f_(f),
        op_(op),
        init_(init),
        nothing_(nothing) {
    check_value_type<value>();
    check_operator<value, Op, Init>();
  }
  own_reduction(const own_reduction&) = delete;
  own_reduction& operator=(const own_reduction&) = delete;

  [[nodiscard]] const own_code* code() const noexcept { return &code_; }
  template <class How = options>
  void run(const request& what, const How& how) const {
    thrown_.run(what, how);
  }
  /// What a device cannot say: there are no elements and no initial value.
  [[noreturn]] void refuse_nothing() const { throw error(errc::invalid_argument, nothing_); }

 private:
  template <class Work>
  static int guarded(void* context, const Work& work) {
    auto& own = *static_cast<own_reduction*>(context);
    try {
      work(own);
      return 0;
    } catch (...) {
      own.thrown_.keep();
      return 1;
    }
  }

  // States lie in memory of the library's, which knows their size and nothing else of them.
  static state load(const void* states, std::uint64_t i) {
    state found;
    std::memcpy(static_cast<void*>(&found), static_cast<const unsigned char*>(states) + i * sizeof(state), sizeof(state));
    return found;
  }
  static void store(void* states, std::uint64_t i, const state& now) {
    std::memcpy(static_cast<unsigned char*>(states) + i * sizeof(state), static_cast<const void*>(&now), sizeof(state));
  }

  state combine(const state& a, const state& b) {
    if (!a.present) return b;
    if (!b.present) return a;
    return state(static_cast<value>(op_(a.value, b.value)));
  }

  // What is kept of an element until its tile is reduced: no flag where all are present, so that lanes can become vector code.
  static constexpr bool can_be_absent = value_traits<returned>::can_be_absent;
  using item = std::conditional_t<can_be_absent, state, value>;

  static constexpr std::uint64_t lanes = order::lanes_of_bytes(RowBytes);
  static constexpr std::uint64_t tile_elements = order::tile_rows * lanes;

  // Elements that are read where they lie.
  static constexpr bool is_in_memory = is_plain_array<F> && std::is_same_v<returned, item>;
  const item* in_memory(std::uint64_t first) const {
    if constexpr (is_in_memory)
      return std::get<0>(f_.arrays) + first;
    else
      return nullptr;
  }

  // Items that nobody has made yet: the constructors of 4 KiB of them would take longer than the reduction of what there is.
  template <std::uint64_t N>
  struct room {
    union {
      alignas(64) item of[N];
    };
    room() {}  // = default would be deleted where an item's is no trivial one
  };

  // Tiles of a group lie side by side, lane j of tile t at j * group_tiles + t: so halving them is a loop over neighbours, whichever lane it is at.
  static constexpr std::uint64_t group_tiles = order::group_tiles;

  // The lanes of a whole tile from number `first` on.
  void tile(std::uint64_t first, item* lane) {
    if constexpr (is_in_memory) {
      columns_of(in_memory(first), lane);
    } else {
      room<tile_elements> items;
      store_values(items.of, f_, space_, first, tile_elements);
      columns_of(items.of, lane);
    }
  }

  // The value of a tile of which the first `count` elements exist.
  item short_tile(std::uint64_t first, std::uint64_t count) {
    if constexpr (is_in_memory) {
      return short_tile_of(in_memory(first), count);
    } else {
      room<tile_elements> items;
      store_values(items.of, f_, space_, first, count);
      return short_tile_of(items.of, count);
    }
  }

  item combine_items(const item& a, const item& b) {
    if constexpr (can_be_absent)
      return combine(a, b);
    else
      return static_cast<value>(op_(a, b));
  }

  // Apart from f, whose last operation could be fused with the operator's first.
  ONEFOLD_APART void columns_of(const item* __restrict x, item* __restrict lane) {
    for (std::uint64_t j = 0; j < lanes; ++j)
      lane[j * group_tiles] = column(x + j, std::make_index_sequence<order::tile_rows - 1>{});
  }

  // From top to bottom, spelled out: compilers make vectors of neighbouring columns where there is no loop within.
  template <std::size_t... Row>
  item column(const item* x, std::index_sequence<Row...>) {
    item v = *x;
    ((v = combine_items(v, x[(Row + 1) * lanes])), ...);
    return v;
  }

  // Of whole tiles; their values are their first lanes then.
  void halve(item* lane, std::uint64_t tiles) {
    for (std::uint64_t h = lanes / 2; h >= 1; h /= 2)
      for (std::uint64_t j = 0; j < h; ++j) combine_tiles(lane + j * group_tiles, lane + (j + h) * group_tiles, tiles);
  }

  // One lane with another, of `tiles` tiles: mostly of a whole group, a number that compilers know.
  ONEFOLD_APART void combine_tiles(item* __restrict a, const item* __restrict b, std::uint64_t tiles) {
    if (tiles == group_tiles)
      for (std::uint64_t t = 0; t < group_tiles; ++t) a[t] = combine_items(a[t], b[t]);
    else
      for (std::uint64_t t = 0; t < tiles; ++t) a[t] = combine_items(a[t], b[t]);
  }

  [[gnu::noinline]] item short_tile_of(const item* x, std::uint64_t count) {
    item lane[lanes];
    const std::uint64_t width = count < lanes ? count : lanes;
    for (std::uint64_t j = 0; j < width; ++j) {
      lane[j] = x[j];
      for (std::uint64_t i = j + lanes; i < count; i += lanes) lane[j] = combine_items(lane[j], x[i]);
    }
    for (std::uint64_t h = lanes / 2; h >= 1; h /= 2)
      for (std::uint64_t j = 0; j + h < width && j < h; ++j) lane[j] = combine_items(lane[j], lane[j + h]);
    return lane[0];
  }

  // Of `count` values, at least 1; the first becomes their subtree's.
  item subtree(item* of, std::uint64_t count) {
    for (; count > 1; count = (count + 1) / 2) {
      for (std::uint64_t i = 0; i < count / 2; ++i) of[i] = combine_items(of[2 * i], of[2 * i + 1]);
      if (count % 2 == 1) of[count / 2] = of[count - 1];
    }
    return of[0];
  }

  static int groups(void* context, std::uint64_t first, std::uint64_t count, void* states) {
    return guarded(context, [&count, &first, &states](own_reduction& own) {
      room<group_tiles * lanes> lanes_of_tiles;
      item* const lane = lanes_of_tiles.of;
      for (std::uint64_t g = 0; count > 0; ++g) {
        const std::uint64_t whole = count / tile_elements < group_tiles ? count / tile_elements : group_tiles;
        for (std::uint64_t t = 0; t < whole; ++t) own.tile(first + t * tile_elements, lane + t);
        own.halve(lane, whole);
        first += whole * tile_elements;
        count -= whole * tile_elements;
        std::uint64_t tiles = whole;
        if (tiles < group_tiles && count > 0) {
          lane[tiles++] = own.short_tile(first, count);
          count = 0;
        }
        store(states, g, state(own.subtree(lane, tiles)));
      }
    });
  }

  static int level(void* context, void* states, std::uint64_t count) {
    return guarded(context, [&count, &states](own_reduction& own) {
      for (std::uint64_t i = 0; i < count / 2; ++i) store(states, i, own.combine(load(states, 2 * i), load(states, 2 * i + 1)));
      if (count % 2 == 1) store(states, count / 2, load(states, count - 1));
    });
  }

  static int conclude(void* context, const void* tree, std::uint64_t count, void* result) {
    return guarded(context, [&tree, &count, &result](own_reduction& own) {
      state last = tree == nullptr ? state() : load(tree, 0);
      if constexpr (!std::is_same_v<Init, no_init>) last = own.combine(state(static_cast<value>(own.init_)), last);
      if (!last.present) own.refuse_nothing();
      last.value = Conclusion()(last.value, count);
      std::memcpy(result, static_cast<const void*>(&last.value), sizeof(value));
    });
  }

  own_code code_;
  const Space& space_;
  F& f_;
  Op& op_;
  Init init_;
  const char* nothing_;
  mutable thrown thrown_;
};

ONEFOLD_END_ARITHMETIC
}  // namespace detail
}  // namespace onefold
