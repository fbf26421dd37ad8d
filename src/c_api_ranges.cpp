/// @file c_api_ranges.cpp  States of ranges for C.

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "c_api.hpp"
#include "dispatch.hpp"
#include "exchanged_parts.hpp"
#include "own_range.hpp"
#include "range.hpp"

using namespace onefold::detail;
using namespace onefold::detail::ranges;

struct onefold_range {
  std::variant<form_range, own_range> is;
};

namespace {

// Elements are copied on the terms of a form that all types have, and complex numbers the largest tiles in.
constexpr std::int32_t form_of_copies = ONEFOLD_NORM1;

// Calls one of the two for what a state is.
template <class State, class OfForm, class OfOwn>
decltype(auto) look_at(State* state, const OfForm& of_form, const OfOwn& of_own) {
  if (state == nullptr) refuse_null("state");
  if (auto* const own = std::get_if<own_range>(&state->is)) return of_own(*own);
  return of_form(std::get<form_range>(state->is));
}

// For what operators of the caller's do not have.
template <class State>
auto& of_a_form(State* state) {
  using found = std::conditional_t<std::is_const_v<State>, const form_range, form_range>;
  return look_at(
      state, [](auto& form) -> found& { return form; },
      [](auto&) -> found& {
        throw onefold::error(
            onefold::errc::unsupported,
            "the state of an operator of your own has no images: its elements lie in host memory, and CPUs reduce them");
      });
}

[[noreturn]] void refuse_other_kind() {
  throw onefold::error(onefold::errc::invalid_argument,
                       "a state of a form of the library's and one of an operator of your own cannot be appended to each other");
}

std::size_t bytes_of_any(const onefold_range& state) {
  return look_at(
      &state, [](const form_range& of) { return bytes_of(of); }, [](const own_range& of) { return of.bytes(); });
}

}  // namespace

int onefold_range_create(int32_t type, int32_t form, uint32_t flags, uint64_t begin, onefold_range** made) {
  return guarded([&] {
    clear_place(made, "place of the new state");
    *made = new onefold_range{create(checked_kind(type, form, flags), begin)};
  });
}

int onefold_range_create_together(int32_t type, const uint8_t* operators, size_t count, uint64_t begin, onefold_range** made) {
  return guarded([&] {
    clear_place(made, "place of the new state");
    *made = new onefold_range{create(checked_together(type, operators, count), begin)};
  });
}

int onefold_range_create_own(const onefold_own_operator* of, uint64_t begin, onefold_range** made) {
  return guarded([&] {
    clear_place(made, "place of the new state");
    if (of == nullptr) refuse_null("own operator");
    *made = new onefold_range{own_range(*of, begin)};
  });
}

void onefold_range_destroy(onefold_range* state) { delete state; }

int onefold_range_add(onefold_range* state, onefold_executor where, const void* x, const void* y, uint64_t count,
                      const onefold_options* how) {
  return guarded_with_report(how, [&] {
    look_at(
        state, [&](form_range& to) { add(to, where, arrays_at(x, to.of.has_two_inputs() ? y : nullptr), count, how); },
        [&](own_range& to) { to.add(where, x, count, how); });
  });
}

int onefold_range_add_products(onefold_range* state, onefold_executor where, const onefold_products* of, uint64_t count,
                               const onefold_options* how) {
  return guarded_with_report(how, [&] {
    const types_of_dot types = checked_types(of);
    look_at(
        state,
        [&](form_range& to) {
          check_takes_products(to.of, types);
          add(to, where, products_of(*of, types, 0), count, how);
        },
        [](own_range&) {
          throw onefold::error(onefold::errc::unsupported, "the state of an operator of your own takes no products of two arrays");
        });
  });
}

int onefold_range_add_made(onefold_range* state, const onefold_made_values* values, uint64_t count, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    const onefold_value_source source = source_of(values);
    range_input in = values_of(&source, 0);
    in.made = values;
    look_at(
        state,
        [&](form_range& to) {
          check_can_be_made(to.of);
          add(to, onefold_serial(), in, count, how);
        },
        [](own_range&) {
          throw onefold::error(onefold::errc::unsupported,
                               "a state of an operator in C takes no values that are reduced where they are made");
        });
  });
}

int onefold_range_add_values(onefold_range* state, onefold_executor where, const onefold_value_source* source, uint64_t count,
                             const onefold_options* how) {
  return guarded_with_report(how, [&] {
    look_at(
        state, [&](form_range& to) { add(to, where, values_of(source, 0), count, how); },
        [&](own_range& to) { to.add_values(where, source, count, how); });
  });
}

int onefold_range_add_parts(onefold_range* state, const onefold_range_part* parts, size_t count, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (state == nullptr) refuse_null("state");
    if (count > 0 && parts == nullptr) refuse_null("list of parts");
    const std::span<const onefold_range_part> all(parts, count);
    look_at(
        state,
        [&](form_range& to) {
          form_range* const only[] = {&to};
          add_parts(only, all, how);
        },
        [&](own_range& to) { to.add_parts(all, how); });
  });
}

int onefold_ranges_add_parts(onefold_range* const* states, size_t number, const onefold_range_part* parts, size_t count,
                             const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (number > 0 && states == nullptr) refuse_null("list of states");
    if (number > 0 && count > 0 && parts == nullptr) refuse_null("list of parts");
    if (count > 0 && number > std::numeric_limits<std::size_t>::max() / count)
      throw onefold::error(onefold::errc::invalid_argument, "there are more parts than memory has");
    std::vector<form_range*> to;
    to.reserve(number);
    for (std::size_t k = 0; k < number; ++k) {
      if (states[k] == nullptr) refuse_null("state");
      look_at(
          states[k], [&](form_range& state) { to.push_back(&state); },
          [](own_range&) {
            throw onefold::error(onefold::errc::unsupported,
                                 "the state of an operator of your own gets its parts by itself: onefold_range_add_parts()");
          });
    }
    std::vector<form_range*> sorted = to;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      throw onefold::error(onefold::errc::invalid_argument, "one state stands twice in the list of states");
    add_parts(to, {parts, number * count}, how);
  });
}

int onefold_range_put_parts(int32_t type, const int32_t* forms, size_t results, uint32_t flags, int64_t ddof,
                            const onefold_range_part* parts, size_t count, void* const* outputs, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    if (results > 0 && forms == nullptr) refuse_null("list of forms");
    if (results > 0 && count > 0 && parts == nullptr) refuse_null("list of parts");
    if (count > 0 && outputs == nullptr) refuse_null("list of outputs");
    if (count > 0 && results > std::numeric_limits<std::size_t>::max() / count)
      throw onefold::error(onefold::errc::invalid_argument, "there are more parts than memory has");
    std::vector<range_kind> kinds;
    kinds.reserve(results);
    for (std::size_t k = 0; k < results; ++k) kinds.push_back(checked_kind(type, forms[k], flags));
    put_parts(kinds, ddof, {{parts, results * count}, {outputs, count}}, how);
  });
}

int onefold_range_image_bytes(const onefold_range* state, uint64_t count, size_t* bytes) {
  return guarded([&] {
    const form_range& before = of_a_form(state);
    if (bytes == nullptr) refuse_null("place of the size");
    *bytes = image_bytes(before, count);
  });
}

int onefold_range_put_image(const onefold_range* state, onefold_executor where, const void* x, const void* y, uint64_t count,
                            void* image, const onefold_options* how) {
  return guarded([&] {
    const form_range& before = of_a_form(state);
    put_image(before, where, arrays_at(x, before.of.has_two_inputs() ? y : nullptr), count, image, how);
  });
}

int onefold_range_add_image(onefold_range* state, const void* image, uint64_t count) {
  return guarded([&] { add_image(of_a_form(state), image, count); });
}

int onefold_range_can_join_images(int32_t type, int32_t form, uint32_t flags, size_t parts, uint64_t total) {
  int can = 0;
  const int status = guarded([&] {
    const range_kind of = checked_kind(type, form, flags);
    can = can_join_images({of.type, of.what, of.wide, nullptr, 0, nullptr, parts, total, 0}) ? 1 : 0;
  });
  return status == ONEFOLD_OK ? can : 0;
}

int onefold_range_load_join_images(int32_t type, int32_t form, uint32_t flags, onefold_executor where) {
  return guarded([&] {
    const range_kind of = checked_kind(type, form, flags);
    const images_of_parts all{of.type, of.what, of.wide, nullptr, 0, nullptr, 1, 1, 0};
    check_can_join(where, all);
    find_backend(onefold::backend::cuda)->load_join_images(executor_of(where), all);
  });
}

int onefold_range_join_images(int32_t type, int32_t form, uint32_t flags, onefold_executor where, const void* images, size_t stride,
                              const uint64_t* borders, size_t parts, uint64_t total, void* result) {
  return onefold_range_join_images_ddof(type, form, flags, 0, where, images, stride, borders, parts, total, result);
}

int onefold_range_join_images_ddof(int32_t type, int32_t form, uint32_t flags, int64_t ddof, onefold_executor where,
                                   const void* images, size_t stride, const uint64_t* borders, size_t parts, uint64_t total,
                                   void* result) {
  return guarded([&] {
    const range_kind of = checked_kind(type, form, flags);
    join_images(where, {of.type, of.what, of.wide, images, stride, borders, parts, total, ddof}, result);
  });
}

int onefold_range_append(onefold_range* state, const onefold_range* next) {
  return guarded([&] {
    look_at(
        state,
        [next](form_range& to) {
          look_at(
              next, [&to](const form_range& from) { append(to, from); }, [](const own_range&) { refuse_other_kind(); });
        },
        [next](own_range& to) {
          look_at(
              next, [](const form_range&) { refuse_other_kind(); }, [&to](const own_range& from) { to.append(from); });
        });
  });
}

int onefold_range_result(const onefold_range* state, int64_t ddof, void* result) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (result == nullptr) refuse_null("result");
    look_at(
        state,
        [&](const form_range& of) {
          check_output_alignment(result, result_alignment(of.of.type, of.of.what, of.of.wide));
          store_result(of, ddof, result);
        },
        [&](const own_range& of) { of.store_result(result); });
  });
}

uint64_t onefold_range_begin(const onefold_range* state) {
  if (state == nullptr) return 0;
  return look_at(
      state, [](const form_range& of) { return of.begin; }, [](const own_range& of) { return of.begin(); });
}
uint64_t onefold_range_end(const onefold_range* state) {
  if (state == nullptr) return 0;
  return look_at(
      state, [](const form_range& of) { return of.end; }, [](const own_range& of) { return of.end(); });
}
size_t onefold_range_bytes(const onefold_range* state) { return state == nullptr ? 0 : bytes_of_any(*state); }

int onefold_range_write(const onefold_range* state, void* bytes, size_t size) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (bytes == nullptr) refuse_null("place of the bytes");
    if (size != bytes_of_any(*state))
      throw onefold::error(onefold::errc::invalid_argument, "the state takes " + std::to_string(bytes_of_any(*state)) +
                                                                " bytes, and room was given for " + std::to_string(size));
    auto* const to = static_cast<std::byte*>(bytes);
    look_at(
        state, [to](const form_range& of) { write(of, to); }, [to](const own_range& of) { of.write(to); });
  });
}

int onefold_range_read(onefold_range* state, const void* bytes, size_t size) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (bytes == nullptr && size != 0) refuse_null("place of the bytes");
    const auto* const from = static_cast<const std::byte*>(bytes);
    look_at(
        state, [&](form_range& to) { to = read(to.of, from, size); }, [&](own_range& to) { to.read(from, size); });
  });
}

int onefold_copy_elements(int32_t type, onefold_executor where, const void* x, uint64_t count, void* to) {
  return guarded([&] {
    const range_kind kind = checked_kind(type, form_of_copies, 0);
    if (count >= kind.tile())
      throw onefold::error(onefold::errc::invalid_argument,
                           "fewer elements than a tile has are copied, and not " + std::to_string(count));
    if (count == 0) return;
    if (to == nullptr) refuse_null("place of the elements");
    const range_reader reader{kind, where, checked_options(nullptr)};
    reader.check(arrays_at(x, nullptr), count);
    reader.copy(to, x, static_cast<std::size_t>(count) * onefold::size_of(kind.type));
  });
}

int onefold_copy_products(int32_t type, onefold_executor where, const onefold_products* of, uint64_t from, uint64_t count,
                          void* to) {
  return guarded([&] {
    const range_kind kind = checked_kind(type, ONEFOLD_SUM, 0);
    const types_of_dot types = checked_types(of);
    check_takes_products(kind, types);
    if (count >= kind.tile())
      throw onefold::error(onefold::errc::invalid_argument,
                           "fewer products than a tile has are copied, and not " + std::to_string(count));
    if (count == 0) return;
    if (to == nullptr) refuse_null("place of the products");
    range_reader reader{kind, where, checked_options(nullptr)};
    const range_input in = products_of(*of, types, from);
    if (const std::optional<onefold_executor> gpu = reader.gpu_of(in)) reader.where = *gpu;
    reader.check(in, count);
    const raw_elements kept = keep(reader, in, count);
    std::memcpy(to, kept.x.data(), kept.x.size());
  });
}

int onefold_copy_values(int32_t type, onefold_executor where, const onefold_value_source* source, uint64_t from, uint64_t count,
                        void* const* to) {
  return guarded([&] {
    const range_kind kind = checked_kind(type, form_of_copies, 0);
    if (count >= kind.tile())
      throw onefold::error(onefold::errc::invalid_argument,
                           "fewer values than a tile has are made, and not " + std::to_string(count));
    if (count == 0) return;
    if (to == nullptr) refuse_null("list of the values' places");
    const range_input in = values_of(source, from);
    range_reader{kind, where, checked_options(nullptr)}.check(in, count);
    make_values(in, count, to);
  });
}

int onefold_is_free_of_order(int32_t type, int32_t form) {
  const bool has_type = (type >= 0 && type < onefold::element_type_count) || type == ONEFOLD_C64 || type == ONEFOLD_C128;
  if (!has_type || form < 0 || form > ONEFOLD_REDUCE_TOGETHER) return 0;
  return exact::is_free_of_order(static_cast<onefold::form>(form), static_cast<onefold::element_type>(type)) ? 1 : 0;
}

uint64_t onefold_tile_elements(int32_t type, int32_t form) {
  uint64_t elements = 0;
  const int status = guarded([&] {
    const uint8_t sum = ONEFOLD_OP_SUM;  // whatever the operators
    elements = (form == ONEFOLD_REDUCE_TOGETHER ? checked_together(type, &sum, 1) : checked_kind(type, form, 0)).tile();
  });
  return status == ONEFOLD_OK ? elements : 0;
}
