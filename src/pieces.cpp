/// @file pieces.cpp  Subtrees of tree v1 that are reduced one after the other, combined in the order of the tree; exact
/// states, added.

#include <onefold/detail/pieces.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/cpu/forms.hpp"
#include "../backends/float_environment.hpp"
#include "../backends/forest.hpp"
#include "../backends/no_elements.hpp"
#include "select.hpp"

namespace onefold::detail {

namespace {

using node_memory = std::array<std::byte, forest::memory_bytes(cpu::most_form_bytes)>;

std::uint64_t elements_of_a_tile(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return order::tile_elements<T>;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  return order::tile_elements<float>;
}

}  // namespace

struct piecewise_reduction::state {
  const cpu::form_row& row;
  executor where;
  element_type type;
  form what;
  bool wide;
  std::int64_t ddof;
  std::uint64_t piece_elements;
  std::uint64_t pieces = 0;
  std::uint64_t count = 0;                     // of all elements so far
  std::vector<std::int64_t> exact_words = {};  // of their exact state; empty where there is none
  alignas(16) node_memory memory = {};
  forest nodes{memory.data(), row.state_bytes,
               [](void* of, void* states, std::uint64_t how_many) {
                 const auto& folded = *static_cast<const cpu::form_row*>(of);
                 return folded.level(states, how_many, folded.state_bytes), 0;
               },
               const_cast<cpu::form_row*>(&row)};

  // Whether these options mean the variant that makes exact states, and no tree.
  [[nodiscard]] bool is_exact(const options& how) const {
    if (!exact::has_state(what, type)) return false;
    return how.variant.empty() ? how.guarantee == guarantee::exact : is_exact_variant(how.variant);
  }

  void add_exactly(const request& piece, const options& how) {
    const auto number_of = [](auto name) { return static_cast<std::int32_t>(name); };
    std::vector<std::int64_t> words(onefold_exact_words(number_of(type), number_of(what)));
    request asked = piece;
    asked.exact_state = words.data();
    run(asked, how);
    exact_words.resize(words.size());
    check_status(onefold_exact_add(number_of(type), number_of(what), exact_words.data(), words.data()));
  }

  void add_to_the_tree(request& piece, const options& how, report& ran) {
    alignas(moments) std::byte value[cpu::most_form_bytes] = {};
    piece.tree_value = value;
    run(piece, how);
    // Without an order to keep, the value of a piece is its result: such variants take no form that makes something else of it.
    if (ran.guarantee < guarantee::fixed) std::memcpy(value, piece.output, sizeof(std::uint64_t));
    cpu::shift_indices(row, value, count);
    const default_float_environment one_operation_is_one_operation;
    static_cast<void>(nodes.push(value));
  }
};

bool piecewise_reduction::is_for(const executor& where, form what, const options& how) noexcept {
  if (what == form::reduce_together) return false;
  return !is_for_cuda(where) || how.variant.empty() || how.variant == "fixed_order" || how.variant == "superaccumulator";
}

piecewise_reduction::piecewise_reduction(const executor& where, element_type type, form what, bool wide, std::uint64_t tiles,
                                         std::int64_t ddof) {
  if (!std::has_single_bit(tiles) || tiles > std::uint64_t{1} << 40)
    throw error(errc::invalid_argument, "a piece takes a power of two of tiles, at most 2^40");
  if (what == form::reduce_together)
    throw error(errc::unsupported, "reduce_together does not take pieces: reduce them with one operator after the other");
  state_.reset(new state{cpu::row_of(type, what, wide), where, type, what, wide, ddof, tiles * elements_of_a_tile(type)});
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
  std::uint64_t result[4] = {};
  request what{now.where, now.type, now.what, x, count, result, true, y, now.wide};
  const bool is_exact = now.is_exact(asked);
  if (now.count > 0 && is_exact == now.exact_words.empty())
    throw error(errc::invalid_argument, "all pieces of a reduction are added exactly, or none is");
  if (is_exact)
    now.add_exactly(what, asked);
  else
    now.add_to_the_tree(what, asked, ran);
  ++now.pieces;
  now.count += count;
  if (how.report != nullptr) *how.report = std::move(ran);
}

void piecewise_reduction::result(void* to) const {
  const state& now = *state_;
  if (now.count == 0 && now.row.has_index())
    throw error(errc::invalid_argument, std::string(name(now.what)) + " of no elements: there is no index");
  if (now.count == 0) return static_cast<void>(store_empty(now.type, now.what, now.wide, to));
  if (!now.exact_words.empty())
    return check_status(onefold_exact_result(static_cast<std::int32_t>(now.type), static_cast<std::int32_t>(now.what),
                                             now.wide ? ONEFOLD_WIDE : 0U, now.ddof, now.exact_words.data(), to));
  const default_float_environment one_operation_is_one_operation;
  alignas(16) node_memory memory;
  forest all(now.nodes, memory.data());
  static_cast<void>(all.close());
  now.row.conclude(now.row, memory.data(), now.count, now.ddof, to);
}

std::uint64_t piecewise_reduction::bits() const {
  std::uint64_t all[4] = {};
  result(all);
  return all[0];
}

void piecewise_reduction::exact_state(std::int64_t* words) const {
  const state& now = *state_;
  if (now.count > 0 && now.exact_words.empty())
    throw error(errc::invalid_argument, "pieces that were not added under guarantee::exact have no exact state");
  std::fill_n(words, onefold_exact_words(static_cast<std::int32_t>(now.type), static_cast<std::int32_t>(now.what)), 0);
  std::copy(now.exact_words.begin(), now.exact_words.end(), words);
}

}  // namespace onefold::detail
