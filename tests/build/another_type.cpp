/// @file another_type.cpp  With a line more in types.def the CPU's kernels have the type in every form: of numbers that it shares with float16 they make the same
/// results, for a tree depends on the size of elements alone. The program says what differs.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "../../backends/cpu/forms.hpp"
#include "../../backends/exact/rounding.hpp"

namespace {

using namespace onefold;
using other = six_bits_of_exponent;

static_assert(element_type_of<other> == element_type::e6 && size_of(element_type::e6) == 2 && is_small(element_type::e6));
static_assert(is_float(element_type::e6) && accumulator_type(element_type::e6) == element_type::f32 &&
              accumulator_type(element_type::e6, true) == element_type::f64 &&
              magnitude_type(element_type::e6) == element_type::e6);
static_assert(detail::exact::format_of(element_type::e6).least == -39 && detail::exact::format_of(element_type::e6).beyond == 32);

int failures = 0;

template <class E>
std::vector<std::byte> results(form what, bool wide, const std::vector<float>& x, const std::vector<float>& y) {
  const auto as_elements = [](const std::vector<float>& from) {
    std::vector<E> made;
    for (const float value : from) made.push_back(E(value));
    return made;
  };
  const std::vector<E> of_x = as_elements(x), of_y = as_elements(y);
  const cpu::form_row& row = cpu::row_of(element_type_of<E>, what, wide);
  alignas(std::uint64_t) std::byte state[cpu::most_form_bytes] = {};
  alignas(std::uint64_t) std::byte result[32] = {};
  (cpu::baseline_kernels.*row.kernel)(of_x.data(), row.inputs == 2 ? of_y.data() : nullptr, x.size(), cpu::input_from::caches,
                                      state);
  if (row.has_index()) {
    std::byte values[cpu::most_form_bytes];
    std::memcpy(values, state, sizeof(values));
    cpu::place_values(row, state, 0);
    for (int k = 0; k < row.args; ++k) {
      const std::uint64_t index = cpu::find_value(row, cpu::baseline_kernels, of_x.data(), x.size(), values + k * sizeof(float));
      std::memcpy(state + static_cast<std::size_t>(k) * cpu::arg_bytes + cpu::index_offset, &index, sizeof(index));
    }
  }
  row.conclude(row, state, x.size(), 1, result);
  // Elements as floats, so that those of two types can be compared.
  std::vector<std::byte> all;
  const bool are_elements = result_type(element_type_of<E>, what, wide) == element_type_of<E>;
  const std::size_t stride = row.has_index() ? cpu::arg_bytes : sizeof(E);
  for (std::size_t at = 0; are_elements && at < row.result_bytes; at += stride) {
    E element;
    std::memcpy(&element, result + at, sizeof(element));
    const float value = element;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    all.insert(all.end(), bytes, bytes + sizeof(value));
    if (row.has_index()) all.insert(all.end(), result + at + cpu::index_offset, result + at + cpu::arg_bytes);
  }
  if (!are_elements) all.assign(result, result + row.result_bytes);
  return all;
}

void compare(const char* data, const std::vector<float>& x, const std::vector<float>& y) {
  int forms = 0;
  for (int i = 0; i < form_count + record_count; ++i)
    for (const bool wide : {false, true}) {
      const auto what = static_cast<form>(i);
      if (what == form::reduce_together || !takes_type(what, element_type::e6) || (wide && !can_be_wide(element_type::e6, what)))
        continue;
      ++forms;
      if (results<other>(what, wide, x, y) == results<float16>(what, wide, x, y)) continue;
      std::printf("%s of %s%s differs from that of float16\n", name(what).data(), data, wide ? ", wide," : "");
      ++failures;
    }
  if (forms != 31) {
    std::printf("%d forms were compared, not 31\n", forms);
    ++failures;
  }
}

}  // namespace

int main() {
  std::mt19937 random(1);
  // Numbers of both formats: 10 digits, and sizes of 2^-14 and more.
  const auto number = [&] {
    const float digits = static_cast<float>(static_cast<int>(random() % 2047) - 1023);
    return std::ldexp(digits, static_cast<int>(random() % 8) - 9);
  };
  for (const std::size_t count : {1, 17, 255, 256, 3000, 4096, 20000}) {
    std::vector<float> x(count), y(count);
    for (float& each : x) each = number();
    for (float& each : y) each = number();
    compare("numbers", x, y);
    x[random() % count] = std::numeric_limits<float>::infinity();
    compare("an infinity among numbers", x, y);
    x[random() % count] = std::numeric_limits<float>::quiet_NaN();
    compare("a NaN among numbers", x, y);
    for (float& each : x) each = random() % 2 == 0 ? -0.0F : 0.0F;
    compare("zeros", x, y);
  }
  // Every number of the type alone is what its own conversion makes of it.
  for (int bits = 0; bits < 0x10000; ++bits) {
    const other element = other::from_bits(static_cast<std::uint16_t>(bits));
    float sum;
    const cpu::form_row& row = cpu::row_of(element_type::e6, form::sum, false);
    (cpu::baseline_kernels.*row.kernel)(&element, nullptr, 1, cpu::input_from::caches, &sum);
    const float value = element;
    const bool is_same =
        std::isnan(value) ? std::isnan(sum) : std::memcmp(&sum, &value, sizeof(sum)) == 0 && other(value).bits() == bits;
    if (is_same) continue;
    std::printf("the element with the bits 0x%04x becomes %a\n", static_cast<unsigned>(bits), static_cast<double>(sum));
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}
