#include "complex_pieces.hpp"

#include <cstring>
#include <functional>
#include <type_traits>

#include "../../complex.hpp"

namespace onefold::cuda_backend {

namespace {

using onefold::detail::device_fold, onefold::detail::level_of, onefold::detail::moments_of_parts;

constexpr element_type types[] = {element_type::c64, element_type::c128};
constexpr form forms[] = {form::sum, form::prod, form::dot, form::mean, form::norm1, form::norm_inf};
constexpr form wide_forms[] = {form::sum, form::prod, form::dot, form::mean, form::norm1};

template <bool Mean, class V>
void conclude(const complex_conclusion&, const void* tree, std::uint64_t count, void* result) {
  V value;
  std::memcpy(&value, tree, sizeof(V));
  value = onefold::detail::concluded_complex<Mean>(value, count);
  std::memcpy(result, &value, sizeof(V));
}

void conclude_count(const complex_conclusion& of, const void* tree, std::uint64_t count, void* result) {
  std::uint64_t nonzero = 0;
  std::memcpy(&nonzero, tree, sizeof(nonzero));
  if (of.shows_state || of.what == form::count) {
    std::memcpy(result, &nonzero, sizeof(nonzero));
    return;
  }
  const bool holds = of.what == form::all ? nonzero == count : of.what == form::any ? nonzero != 0 : nonzero == 0;
  std::memcpy(result, &holds, sizeof(holds));
}

struct moments_operator {
  moments_of_parts operator()(const moments_of_parts& a, const moments_of_parts& b) const {
    using of_part = onefold::detail::mean_variance_fold<double>;
    return {of_part::combine(a.real, b.real), of_part::combine(a.imaginary, b.imaginary)};
  }
};

template <class R>
void conclude_moments(const complex_conclusion& of, const void* tree, std::uint64_t, void* result) {
  moments_of_parts value;
  std::memcpy(&value, tree, sizeof(value));
  if (of.shows_state) {
    std::memcpy(result, &value, sizeof(value));
    return;
  }
  const auto found = onefold::detail::moments_of_complex<R>(onefold::detail::mean_and_variance(value.real, of.ddof),
                                                            onefold::detail::mean_and_variance(value.imaginary, of.ddof));
  std::memcpy(result, &found, sizeof(found));
}

// Of numbers whose parts are of type T, added up, multiplied or compared as such of type A.
template <class T, class A>
complex_pieces of_numbers(form what) {
  return onefold::detail::with_complex_fold(what, []<class F, class Op, bool Mean>() {
    using V = std::conditional_t<std::is_same_v<F, onefold::detail::modulus>, A, onefold::detail::complex_of<A>>;
    complex_pieces made{};
    made.state_bytes = sizeof(V);
    made.level = level_of<V, Op>;
    made.conclude = conclude<Mean, V>;
    return made;
  });
}

template <class T>
complex_pieces of_states(const complex_conclusion& conclusion) {
  complex_pieces made{};
  made.is_told = true;
  made.of_node = made.conclusion = conclusion;
  made.of_node.shows_state = true;
  if (conclusion.what == form::mean_variance) {
    made.state_bytes = sizeof(moments_of_parts);
    made.level = level_of<moments_of_parts, moments_operator>;
    made.conclude = conclusion.wide ? conclude_moments<double> : conclude_moments<T>;
  } else {
    made.state_bytes = sizeof(std::uint64_t);
    made.level = level_of<std::uint64_t, std::plus<>>;
    made.conclude = conclude_count;
  }
  return made;
}

static_assert(sizeof(moments_of_parts) <= complex_pieces::most_state_bytes);

// The form whose result is the node over its array.
constexpr form form_of_node(form what) { return what == form::mean ? form::sum : what; }

}  // namespace

std::optional<complex_pieces> pieces_of_complex(const device_fold& whole) {
  for (const element_type type : types) {
    const bool is_single = type == element_type::c64;
    for (const form what : forms)
      if (whole.kernels == fold_of_complex(type, what, nullptr, nullptr).kernels) {
        complex_pieces made = is_single ? of_numbers<float, float>(what) : of_numbers<double, double>(what);
        made.of_piece = fold_of_complex(type, form_of_node(what), nullptr, nullptr);
        return made;
      }
    for (const form what : {form::count, form::mean_variance}) {
      const complex_conclusion any{0, what, true};
      if (whole.kernels != fold_of_complex_states(type, any, nullptr).kernels) continue;
      const auto& concluding = *static_cast<const complex_conclusion*>(whole.object);
      complex_pieces made = is_single ? of_states<float>(concluding) : of_states<double>(concluding);
      made.of_piece = fold_of_complex_states(type, made.of_node, nullptr);
      made.of_piece.object = nullptr;
      return made;
    }
  }
  for (const form what : wide_forms) {
    const device_fold known = fold_of_wide_complex(what, nullptr, nullptr);
    if (whole.kernels != known.kernels || whole.object != known.object) continue;
    complex_pieces made = of_numbers<float, double>(what);
    made.of_piece = fold_of_wide_complex(form_of_node(what), nullptr, nullptr);
    return made;
  }
  return std::nullopt;
}

}  // namespace onefold::cuda_backend
