#pragma once
/// @file types.hpp  The vocabulary: element types, operators, backends, finishes and guarantees, with their names as text.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <onefold/detail/standard.hpp>

namespace onefold {

/// The element types that the compiled library knows.
enum class element_type : std::uint8_t {
#define ONEFOLD_TYPE(name, type) name,
#include <onefold/types.def>
#undef ONEFOLD_TYPE
};

/// The operators that the compiled library knows.
enum class operation : std::uint8_t {
#define ONEFOLD_OP(name) name,
#include <onefold/ops.def>
#undef ONEFOLD_OP
};

inline constexpr int element_type_count = 0
#define ONEFOLD_TYPE(name, type) +1
#include <onefold/types.def>
#undef ONEFOLD_TYPE
    ;

inline constexpr int operation_count = 0
#define ONEFOLD_OP(name) +1
#include <onefold/ops.def>
#undef ONEFOLD_OP
    ;

/// What is reduced to what (docs/order.md): the elements as they are with one of the operators, values made of them, and, behind those, what
/// has several results.
enum class form : std::uint8_t {
#define ONEFOLD_FORM(name) name,
#include <onefold/forms.def>
#undef ONEFOLD_FORM
#define ONEFOLD_RECORD(name) name,
#include <onefold/records.def>
#undef ONEFOLD_RECORD
};

/// Forms with one result, which come first.
inline constexpr int form_count = 0
#define ONEFOLD_FORM(name) +1
#include <onefold/forms.def>
#undef ONEFOLD_FORM
    ;

/// Forms with several results.
inline constexpr int record_count = 0
#define ONEFOLD_RECORD(name) +1
#include <onefold/records.def>
#undef ONEFOLD_RECORD
    ;

/// Whether a form has several results.
constexpr bool is_record(form what) noexcept { return static_cast<int>(what) >= form_count; }

/// The form that reduces the elements as they are with this operator: the first forms are the operators, in their order.
constexpr form form_of(operation op) noexcept { return static_cast<form>(op); }
constexpr form form_of(form what) noexcept { return what; }

/// Whether the elements are reduced as they are.
constexpr bool is_plain(form what) noexcept { return static_cast<int>(what) < operation_count; }

/// The operator of such a form.
constexpr operation operation_of(form what) noexcept { return static_cast<operation>(what); }

#define ONEFOLD_OP(name) static_assert(form_of(operation::name) == form::name, "forms.def begins with the operators of ops.def");
#include <onefold/ops.def>
#undef ONEFOLD_OP

/// Where a reduction runs.
enum class backend : std::uint8_t { serial, openmp, cuda };

inline constexpr int backend_count = 3;

/// How the partial results of a CUDA grid's blocks become one value.
enum class finish : std::uint8_t {
  automatic,    ///< the variant's own choice
  none,         ///< nothing to finish: the variant leaves no block partials (seen in reports only)
  atomic,       ///< every block combines its partial into one accumulator with an atomic; a one-thread kernel hands it over
  host,         ///< the partials are copied back and combined on the CPU; only where the host waits anyway
  relaunch,     ///< the kernel runs again over the partials, and again, until one is left
  last_block,   ///< one launch: the block that arrives last combines the partials
  cooperative,  ///< one launch with a grid-wide barrier, then the first block combines the partials
};

inline constexpr int finish_count = 7;

/// What is promised about the bits of a result, weakest first.
enum class guarantee : std::uint8_t {
  none,   ///< any order of combination; whatever is fastest
  fixed,  ///< tree v1: the same bits on every backend
  exact,  ///< correctly rounded
};

inline constexpr int guarantee_count = 3;

namespace detail {

inline constexpr std::string_view type_names[] = {
#define ONEFOLD_TYPE(name, type) #name,
#include <onefold/types.def>
#undef ONEFOLD_TYPE
};
inline constexpr std::string_view operation_names[] = {
#define ONEFOLD_OP(name) #name,
#include <onefold/ops.def>
#undef ONEFOLD_OP
};
inline constexpr std::string_view form_names[] = {
#define ONEFOLD_FORM(name) #name,
#include <onefold/forms.def>
#undef ONEFOLD_FORM
#define ONEFOLD_RECORD(name) #name,
#include <onefold/records.def>
#undef ONEFOLD_RECORD
};
inline constexpr std::string_view backend_names[backend_count] = {"serial", "openmp", "cuda"};
inline constexpr std::string_view finish_names[finish_count] = {"automatic", "none",       "atomic",     "host",
                                                                "relaunch",  "last_block", "cooperative"};
inline constexpr std::string_view guarantee_names[guarantee_count] = {"none", "fixed", "exact"};

template <class Enum, std::size_t N>
constexpr std::string_view name_in(const std::string_view (&names)[N], Enum value) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? names[i] : std::string_view("unknown");
}

template <class Enum, std::size_t N>
constexpr std::optional<Enum> find_in(const std::string_view (&names)[N], std::string_view text) noexcept {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace detail

constexpr std::string_view name(element_type type) noexcept { return detail::name_in(detail::type_names, type); }
constexpr std::string_view name(operation op) noexcept { return detail::name_in(detail::operation_names, op); }
constexpr std::string_view name(form what) noexcept { return detail::name_in(detail::form_names, what); }
constexpr std::string_view name(backend where) noexcept { return detail::name_in(detail::backend_names, where); }
constexpr std::string_view name(finish how) noexcept { return detail::name_in(detail::finish_names, how); }
constexpr std::string_view name(guarantee promise) noexcept { return detail::name_in(detail::guarantee_names, promise); }

/// The value with this name, or nothing. `Enum` is one of the enumerations above: `parse<finish>("host")`.
template <class Enum>
constexpr std::optional<Enum> parse(std::string_view text) noexcept {
  if constexpr (std::is_same_v<Enum, element_type>) {
    return detail::find_in<Enum>(detail::type_names, text);
  } else if constexpr (std::is_same_v<Enum, operation>) {
    return detail::find_in<Enum>(detail::operation_names, text);
  } else if constexpr (std::is_same_v<Enum, form>) {
    return detail::find_in<Enum>(detail::form_names, text);
  } else if constexpr (std::is_same_v<Enum, backend>) {
    return detail::find_in<Enum>(detail::backend_names, text);
  } else if constexpr (std::is_same_v<Enum, finish>) {
    return detail::find_in<Enum>(detail::finish_names, text);
  } else {
    static_assert(std::is_same_v<Enum, guarantee>, "parse<Enum>() knows the enumerations of onefold/types.hpp");
    return detail::find_in<Enum>(detail::guarantee_names, text);
  }
}

/// Bytes of one element.
constexpr std::size_t size_of(element_type type) noexcept {
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return sizeof(T);
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  }
  return 0;
}

// `long` and `long long` are both 64 bits wide on the platforms of HPC but are different types, and only one of them is
// std::int64_t: any standard integer of 4 or 8 bytes is therefore taken for the element type of its size and sign.

/// Whether a C++ type can be an element: float, double, and the standard signed and unsigned integers of 32 and 64 bits.
template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int> ||
                                   std::is_same_v<T, unsigned> || std::is_same_v<T, long> || std::is_same_v<T, unsigned long> ||
                                   std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long>;

#if ONEFOLD_CXX20
/// is_element as a concept.
template <class T>
concept element = is_element<T>;
#endif

namespace detail {
template <class T>
constexpr element_type element_type_for() noexcept {
  static_assert(is_element<T>, "onefold's elements are float, double and the signed and unsigned integers of 32 and 64 bits");
  if constexpr (std::is_same_v<T, float>)
    return element_type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return element_type::f64;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? element_type::i32 : element_type::u32;
  else
    return std::is_signed_v<T> ? element_type::i64 : element_type::u64;
}
}  // namespace detail

/// The element type of the C++ type T.
template <class T>
inline constexpr element_type element_type_of = detail::element_type_for<T>();

/// Whether a form takes elements of this type: those that combine bits take integers.
constexpr bool takes_type(form what, element_type type) noexcept {
  const bool is_float = type == element_type::f32 || type == element_type::f64;
  return !is_float || (what != form::bit_and && what != form::bit_or && what != form::bit_xor);
}

/// The type of a form's result, or of each of its results but an index. `wide` says that f32 elements are accumulated in f64 (accumulate_as<double>).
constexpr element_type result_type(element_type type, form what, bool wide = false) noexcept {
  if (wide) return element_type::f64;
  if (what == form::count) return element_type::u64;
  if (type == element_type::f32 || type == element_type::f64) return type;
  if (what == form::mean || what == form::norm2 || what == form::mean_variance) return element_type::f64;
  if (what == form::norm1 || what == form::norm_inf) return size_of(type) == 4 ? element_type::u32 : element_type::u64;
  return type;
}

/// Whether a form can be asked to accumulate f32 elements in f64: every form that rounds.
constexpr bool can_be_wide(element_type type, form what) noexcept {
  if (type != element_type::f32) return false;
  switch (what) {
    case form::sum:
    case form::prod:
    case form::dot:
    case form::sum_of_squares:
    case form::norm1:
    case form::mean:
    case form::norm2:
    case form::mean_variance:
      return true;
    default:
      return false;
  }
}

/// Most results of a reduce_together.
inline constexpr int most_results = 16;

/// Bytes of what a form stores, `results` values in a row for reduce_together (results.hpp).
constexpr std::size_t result_bytes(element_type type, form what, bool wide = false, int results = 1) noexcept {
  const std::size_t one = size_of(result_type(type, what, wide));
  if (what == form::argmin || what == form::argmax) return 2 * sizeof(std::uint64_t);
  if (what == form::minmax || what == form::mean_variance) return 2 * one;
  if (what == form::reduce_together) return static_cast<std::size_t>(results) * one;
  return one;
}

namespace detail {
template <element_type Type>
struct c_type;
#define ONEFOLD_TYPE(name, T)         \
  template <>                         \
  struct c_type<element_type::name> { \
    using type = T;                   \
  };
#include <onefold/types.def>
#undef ONEFOLD_TYPE

// T itself where the result has T's type: a `long long` stays one.
template <class T, element_type Result>
using type_with_name = std::conditional_t<element_type_of<T> == Result, T, typename c_type<Result>::type>;
}  // namespace detail

/// The C++ type of the result of a form on elements of type T.
template <form What, class T, bool Wide = false>
using result_t = detail::type_with_name<T, result_type(element_type_of<T>, What, Wide)>;

}  // namespace onefold
