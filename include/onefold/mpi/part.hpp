#pragma once
/// @file part.hpp  One reduction of a batch over ranks.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/mpi/function_values.hpp>
#include <onefold/mpi/states.hpp>
#include <onefold/types.hpp>

namespace onefold {
namespace detail {
namespace ranks {

/// One reduction of a batch, or of a function of several values as many.
struct part {
  element_type type;
  onefold::form form;
  bool wide;
  std::int64_t ddof;
  const void* x;
  const void* y;  // of dot
  std::uint64_t count;
  std::uint64_t second_count;  // of y
  void* result;
  function_values* values = nullptr;       // not null: instead of x
  int results = 1;                         // of a function, side by side
  const operation* operators = nullptr;    // reduce_together: one for each
  void (*store_nothing)(void*) = nullptr;  // not null: the result where all values are absent
  bool counts_present = false;             // a mean, or mean and variance, of those that are not
  bool is_of_products = false;             // instead of x, two arrays of which this sums up the products
  onefold_products products = {};          // these

  /// 0, or which two types these have: to the message they are a sum like any other.
  [[nodiscard]] std::uint64_t number_of_products() const noexcept {
    return is_of_products ? 1 + static_cast<std::uint64_t>(products.x_type) * 64 + static_cast<std::uint64_t>(products.y_type) : 0;
  }
  /// What else of a call decides its result, so that ranks notice where it differs.
  [[nodiscard]] std::uint64_t number_beside_its_form() const noexcept {
    return form == onefold::form::mean_variance ? static_cast<std::uint64_t>(ddof) : number_of_products();
  }
  [[nodiscard]] std::uint32_t flags() const noexcept { return wide ? ONEFOLD_WIDE : 0U; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return size_of(type); }
  /// Whether what its tree sums up is divided by a number that the tree does not know.
  [[nodiscard]] bool is_mean_of_present() const noexcept { return counts_present && form == onefold::form::mean; }
  /// Which elements' tiles its own are as long as.
  [[nodiscard]] int tile_size() const noexcept { return size_index(row_bytes_of(type, form)); }
  /// Whether another form of its elements has such tiles.
  [[nodiscard]] bool may_have_tile_size(int size) const noexcept {
    return size == size_index(element_bytes()) || size == size_index(size_of(part_type(type)));
  }
  [[nodiscard]] int arrays() const noexcept {
    return values != nullptr ? values->kept_arrays() : form == onefold::form::dot ? 2 : 1;
  }
  [[nodiscard]] onefold::form form_of_result(int k) const noexcept { return operators == nullptr ? form : form_of(operators[k]); }
  [[nodiscard]] void* place_of_result(int k) const noexcept {
    return static_cast<std::byte*>(result) + static_cast<std::size_t>(k) * result_bytes(type, form_of_result(k), wide);
  }
  /// What the address of a result is a multiple of.
  [[nodiscard]] std::size_t result_alignment() const noexcept {
    return has_index(form) ? alignof(std::uint64_t) : size_of(part_type(result_type(type, form, wide)));
  }
  [[nodiscard]] bool is_free_of_order() const noexcept {
    for (int k = 0; k < results; ++k)
      if (!exact::is_free_of_order(form_of_result(k), type)) return false;
    return true;
  }
  /// Whether that is the exact result as it is.
  [[nodiscard]] bool is_exact_in_any_order() const noexcept {
    for (int k = 0; k < results; ++k)
      if (!exact::is_exact_in_any_order(form_of_result(k), type)) return false;
    return true;
  }
  /// Whether there is an exact result that depends on the order otherwise. Of complex numbers it is that of the parts.
  [[nodiscard]] bool has_exact_state() const noexcept {
    if (is_of_products)
      return exact::has_state_of_two(static_cast<element_type>(products.x_type), static_cast<element_type>(products.y_type), type);
    return is_complex(type) ? exact::has_state_of_parts(form) : exact::has_state(form, type);
  }
  /// That its exact state is one of; to the message products are elements of a sum.
  [[nodiscard]] onefold::form exact_form() const noexcept { return is_of_products ? onefold::form::dot : form; }
  /// Of each result.
  [[nodiscard]] std::size_t exact_words() const noexcept { return exact::words_of(exact_form(), type); }
  [[nodiscard]] std::string text() const {
    if (is_of_products)
      return "dot of " + std::string(name(static_cast<element_type>(products.x_type))) + " and " +
             std::string(name(static_cast<element_type>(products.y_type)));
    return std::string(name(form)) + " of " + std::string(name(type));
  }
  /// Of one of its arrays, from an element on.
  [[nodiscard]] const void* array(int k, std::uint64_t from) const noexcept {
    const auto* const all = static_cast<const std::byte*>(k == 0 ? x : y);
    return all == nullptr ? nullptr : all + from * element_bytes();
  }
};

}  // namespace ranks
}  // namespace detail
}  // namespace onefold
