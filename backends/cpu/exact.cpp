#include "exact.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../exact/state.hpp"
#include "instruction_set.hpp"
#include "plan.hpp"

namespace onefold::cpu {

namespace {

namespace exact = detail::exact;
static_assert(exact_nan == exact::has_nan && exact_infinity == exact::has_infinity &&
              exact_minus_infinity == exact::has_minus_infinity && exact_other_than_minus_zero == exact::has_other_than_minus_zero);
static_assert(exact::bytes_of(exact::kinds[7]) <= detail::most_state_bytes);

const exact_row& row_of(const exact_table& kernels, element_type type) {
  switch (type) {
    case element_type::f16:
      return kernels.f16;
    case element_type::bf16:
      return kernels.bf16;
    case element_type::f32:
      return kernels.f32;
    default:
      return kernels.f64;
  }
}

// A third-level cache's share of one program, or what there is at least.
constexpr std::uint64_t most_in_caches = std::uint64_t{24} << 20;

// On cache lines of its own: workers read it while the starting thread goes on to write to its stack.
struct alignas(128) exact_fold {
  const std::byte* x;
  const std::byte* y;
  std::size_t element_bytes;
  const exact::kind_row& kind;
  add_exactly first;   // of the first sum
  add_exactly second;  // of the second, or null
  bool far;            // the input is more than caches hold

  explicit exact_fold(const detail::request& what)
      : x(static_cast<const std::byte*>(what.input)),
        y(what.form == form::dot ? static_cast<const std::byte*>(what.second) : x),
        element_bytes(size_of(what.type)),
        kind(exact::kind_of(what.form, what.type)),
        far(what.count * element_bytes > most_in_caches) {
    const exact_row& row = row_of(*chosen_instructions().exact, what.type);
    const bool is_moments = what.form == form::mean_variance;
    const bool is_sum = what.form == form::sum || what.form == form::mean || is_moments;
    first = what.form == form::norm1 ? row.absolute_sum : is_sum ? row.sum : row.products;
    second = is_moments ? row.products : nullptr;
  }

  void groups(std::uint64_t begin, std::uint64_t count, std::byte* states) const {
    const std::size_t bytes = exact::bytes_of(kind);
    for (std::uint64_t here = 0; count > 0; begin += here, count -= here, states += bytes) {
      here = std::min(count, most_exact_elements);
      auto* const state = reinterpret_cast<std::uint64_t*>(states);
      std::fill_n(state, bytes / sizeof(*state), 0);
      const std::byte* const a = x + begin * element_bytes;
      const std::byte* const b = y + begin * element_bytes;
      first(a, b, here, far, state, state + 1);
      if (second == nullptr) continue;
      std::uint64_t of_squares = 0;  // the flags are those of the elements
      second(a, a, here, false, &of_squares, state + 1 + exact::integer_words(kind.limbs[0]));
    }
  }

  [[nodiscard]] cpu_fold fold() {
    return {this, most_exact_elements, static_cast<std::uint32_t>(exact::bytes_of(kind)),
            [](void* context, std::uint64_t begin, std::uint64_t count, void* states) {
              return static_cast<const exact_fold*>(context)->groups(begin, count, static_cast<std::byte*>(states)), 0;
            },
            [](void* context, void* states, std::uint64_t count) {
              return static_cast<const exact_fold*>(context)->level(static_cast<std::uint64_t*>(states), count), 0;
            }};
  }

 private:
  void level(std::uint64_t* states, std::uint64_t count) const {
    const std::size_t words = exact::bytes_of(kind) / sizeof(*states);
    for (std::uint64_t i = 0; i < count / 2; ++i) {
      exact::merge(kind, states + 2 * i * words, states + (2 * i + 1) * words);
      if (i > 0) std::copy_n(states + 2 * i * words, words, states + i * words);
    }
    if (count % 2 == 1 && count > 1) std::copy_n(states + (count - 1) * words, words, states + count / 2 * words);
  }
};

}  // namespace

int reduce_exactly(const detail::request& what, int threads) {
  exact_fold of(what);
  alignas(64) std::uint64_t state[detail::most_state_bytes / sizeof(std::uint64_t)] = {};
  int used = 1;
  if (what.count > 0) {
    const cpu_fold fold = of.fold();
    const std::uint64_t bytes = what.count * of.element_bytes * (what.form == form::dot ? 2 : 1);
    plan how(what, fold, bytes, threads);
    how.timed_bytes = bytes;
    static_cast<void>(how.run(fold, what.count, state));  // no function of the library's fails
    used = how.threads;
  }
  if (what.exact_state != nullptr) exact::store(of.kind, state, what.count, what.exact_state);
  exact::conclude(what.type, what.form, what.wide, state, what.count, what.ddof, what.output);
  return used;
}

std::string exact_implementation() {
  const std::string_view fixed = chosen_instructions().name;
  return "superaccumulator" + std::string(fixed.substr(fixed.find('/')));
}

}  // namespace onefold::cpu
