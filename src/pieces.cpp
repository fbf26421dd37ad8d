/// @file pieces.cpp  Subtrees of tree v1 that are reduced one after the other, combined in the order of the tree.

#include <onefold/detail/pieces.hpp>

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/float_environment.hpp"
#include "../backends/forest.hpp"
#include "../backends/forms.hpp"

namespace onefold::detail {

namespace {

// The pieces' values as nodes of one level, whatever their type.
struct any_forest {
  virtual ~any_forest() = default;
  virtual void push(const std::byte* value, int level, std::uint64_t index) = 0;
  [[nodiscard]] virtual std::uint64_t conclude(conclusion how, std::uint64_t count) const = 0;
};

template <class Fold>
struct forest_of final : any_forest {
  forest<Fold> nodes;

  void push(const std::byte* value, int level, std::uint64_t index) override {
    typename Fold::accumulator node;
    std::memcpy(&node, value, sizeof(node));
    nodes.push(node, level, index);
  }
  [[nodiscard]] std::uint64_t conclude(conclusion how, std::uint64_t count) const override {
    return detail::conclude(how, nodes.root(), count);
  }
};

std::uint64_t elements_of_a_tile(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return order::tile_elements<T>;
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  }
  return order::tile_elements<float>;
}

}  // namespace

struct piecewise_reduction::state {
  executor where;
  element_type type;
  form what;
  bool wide;
  int level;  // of the node that a piece is
  std::uint64_t piece_elements;
  std::uint64_t pieces = 0;
  std::uint64_t count = 0;  // of all elements so far
  std::unique_ptr<any_forest> nodes = nullptr;
};

piecewise_reduction::piecewise_reduction(const executor& where, element_type type, form what, bool wide, std::uint64_t tiles) {
  if (!std::has_single_bit(tiles) || tiles > std::uint64_t{1} << 40)
    throw error(errc::invalid_argument, "a piece takes a power of two of tiles, at most 2^40");
  state_ = std::make_unique<state>(state{where, type, what, wide, std::countr_zero(tiles), tiles * elements_of_a_tile(type)});
  with_fold(type, what, wide, [&]<class Fold>() { state_->nodes = std::make_unique<forest_of<Fold>>(); });
}

piecewise_reduction::~piecewise_reduction() = default;
piecewise_reduction::piecewise_reduction(piecewise_reduction&&) noexcept = default;
piecewise_reduction& piecewise_reduction::operator=(piecewise_reduction&&) noexcept = default;

std::uint64_t piecewise_reduction::piece_elements() const noexcept { return state_->piece_elements; }

void piecewise_reduction::add(const void* x, const void* y, std::uint64_t count, const options& how) {
  state& now = *state_;
  if (count > now.piece_elements)
    throw error(errc::invalid_argument, "a piece has more elements than were announced: give it in pieces");
  if (now.count != now.pieces * now.piece_elements)
    throw error(errc::invalid_argument, "a piece follows one that was shorter than the others, which only the last may be");
  if (count == 0) return;

  report ran;
  options asked = how;
  asked.report = &ran;
  alignas(squares) std::byte value[sizeof(squares)] = {};
  std::uint64_t result = 0;
  request what{now.where, now.type, now.what, x, count, &result, true, y, now.wide};
  what.tree_value = value;
  run(what, asked);
  // Without an order to keep, the value of a piece is its result: such variants take no form that makes something else of it.
  if (ran.guarantee < guarantee::fixed) std::memcpy(value, &result, sizeof(result));
  const default_float_environment one_operation_is_one_operation;
  now.nodes->push(value, now.level, now.pieces++);
  now.count += count;
  if (how.report != nullptr) *how.report = std::move(ran);
}

std::uint64_t piecewise_reduction::bits() const {
  const state& now = *state_;
  if (now.count == 0) return empty_result(now.type, now.what, now.wide);
  const default_float_environment one_operation_is_one_operation;
  return now.nodes->conclude(conclusion_of(now.type, now.what, now.wide), now.count);
}

}  // namespace onefold::detail
