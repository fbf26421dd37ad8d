#pragma once
/// @file present_moments.hpp  mean_variance of a function's values of which some may be absent, as the compiled library calls it on CPUs.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/detail/callback.hpp>
#include <onefold/detail/conclusions.hpp>
#include <onefold/order.hpp>

namespace onefold {
namespace detail {

/// As own_code. Values are made here, in blocks; what becomes of them is the library's, whose products nobody fuses.
///
/// Space, F  as in block_callback; f returns maybe<T> or std::optional<T>
/// Wide      whether the moments are in the wider of T's two types
template <class Space, class F, bool Wide>
class present_moments {
 public:
  using T = typename value_traits<value_at_t<Space, F>>::type;
  using result = result_of_form<form::mean_variance, T, Wide>;

  present_moments(const Space& space, F& f, std::int64_t ddof)
      : code_{this, sizeof(T), sizeof(moments), sizeof(result), groups, level, conclude}, space_(space), f_(f), ddof_(ddof) {}
  present_moments(const present_moments&) = delete;
  present_moments& operator=(const present_moments&) = delete;

  [[nodiscard]] const own_code* code() const noexcept { return &code_; }
  template <class How = options>
  void run(const request& what, const How& how) const {
    thrown_.run(what, how);
  }
  /// What the functions have thrown, of a call of another kind.
  [[nodiscard]] const thrown& failures() const noexcept { return thrown_; }

 private:
  static constexpr std::int32_t lanes = order::lanes_of_bytes(sizeof(T));
  static constexpr std::uint64_t tile_elements = std::uint64_t{order::tile_rows} * lanes;

  void tile(std::uint64_t first, std::uint64_t count, void* state) {
    double values[tile_elements];
    unsigned char present[tile_elements];
    for_rows(f_, space_, first, count, [&values, &present](std::uint64_t k, auto length, const auto& at) {
      for (decltype(length) c = 0; c < length; ++c) {
        const maybe<T> here = as_maybe(at(c));
        values[k + static_cast<std::uint64_t>(c)] = here.present ? static_cast<double>(here.value) : 0.0;
        present[k + static_cast<std::uint64_t>(c)] = here.present ? 1 : 0;
      }
    });
    onefold_moments_of_tile(lanes, values, present, count, state);
  }

  static int groups(void* context, std::uint64_t first, std::uint64_t count, void* states) {
    auto& own = *static_cast<present_moments*>(context);
    auto* to = static_cast<unsigned char*>(states);
    try {
      for (; count > 0; to += sizeof(moments)) {
        moments tiles[order::group_tiles];
        std::uint64_t made = 0;
        for (; made < order::group_tiles && count > 0; ++made) {
          const std::uint64_t here = count < tile_elements ? count : tile_elements;
          own.tile(first, here, tiles + made);
          first += here;
          count -= here;
        }
        for (; made > 1; made = (made + 1) / 2) onefold_moments_level(tiles, made);
        std::memcpy(to, tiles, sizeof(moments));
      }
      return 0;
    } catch (...) {
      own.thrown_.keep();
      return 1;
    }
  }

  static int level(void*, void* states, std::uint64_t count) {
    onefold_moments_level(states, count);
    return 0;
  }

  static int conclude(void* context, const void* tree, std::uint64_t count, void* to) {
    const auto& own = *static_cast<const present_moments*>(context);
    moments found{};  // of nothing
    if (tree != nullptr) std::memcpy(&found, tree, sizeof(found));
    const result made = concluded<form::mean_variance, T, Wide>::of(found, count, own.ddof_);
    std::memcpy(to, &made, sizeof(made));
    return 0;
  }

  own_code code_;
  const Space& space_;
  F& f_;
  std::int64_t ddof_;
  mutable thrown thrown_;
};

}  // namespace detail
}  // namespace onefold
