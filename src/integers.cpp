#include "integers.hpp"

#include <cstdint>

namespace onefold::detail {

namespace {

using fill_values = int (*)(void*, std::uint64_t, std::uint64_t, void* const*);

// Of up to 32 bits: a double has each of them.
template <class T>
int fill_doubles(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
  const T* const x = static_cast<const T*>(context) + first;
  auto* const to = static_cast<double*>(values[0]);
  for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<double>(x[i]);
  return 0;
}

// Of 64 bits: two doubles for each, its upper and its lower half. They are twice as many, and so each is twice as large: then their mean is that of the
// integers.
template <class T>
int fill_halves(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
  const T* const x = static_cast<const T*>(context);
  auto* const to = static_cast<double*>(values[0]);
  for (std::uint64_t i = 0; i < count; ++i) {
    const T whole = x[(first + i) / 2];
    to[i] = (first + i) % 2 == 0 ? 0x1p33 * static_cast<double>(whole >> 32) : 2 * static_cast<double>(whole & 0xffffffff);
  }
  return 0;
}

fill_values filling(element_type type) noexcept {
  switch (type) {
    case element_type::i8:
      return fill_doubles<std::int8_t>;
    case element_type::u8:
      return fill_doubles<std::uint8_t>;
    case element_type::i16:
      return fill_doubles<std::int16_t>;
    case element_type::u16:
      return fill_doubles<std::uint16_t>;
    case element_type::i32:
      return fill_doubles<std::int32_t>;
    case element_type::u32:
      return fill_doubles<std::uint32_t>;
    case element_type::i64:
      return fill_halves<std::int64_t>;
    case element_type::u64:
      return fill_halves<std::uint64_t>;
    default:
      return nullptr;  // no integers
  }
}

bool is_of_an_array(const request& what) noexcept {
  return what.source == nullptr && what.own == nullptr && what.device == nullptr && what.vectors == nullptr;
}

}  // namespace

void read_integers_exactly(request& what, const options& how, integers_as_doubles& memory) noexcept {
  const bool is_long = size_of(what.type) == sizeof(std::int64_t);
  const bool has_form = what.form == form::mean || (!is_long && (what.form == form::norm2 || what.form == form::mean_variance));
  const fill_values fill = filling(what.type);
  if (how.guarantee != guarantee::exact || what.where.backend() == backend::cuda || !has_form || fill == nullptr) return;
  if (!is_of_an_array(what) || what.exact_state != nullptr || what.tree_value != nullptr) return;
  memory = {{const_cast<void*>(what.input), fill},
            {what.input, static_cast<std::uint32_t>(size_of(what.type)), static_cast<std::uint32_t>(size_of(what.type))}};
  what.type = element_type::f64;
  what.input = nullptr;
  what.source = &memory.source;
  what.arrays = &memory.array;
  what.array_count = 1;
  if (is_long) what.count *= 2;
}

}  // namespace onefold::detail
