#pragma once
/// @file types.hpp  The vocabulary: element types, operators, backends, finishes and guarantees, with their names as text.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <onefold/detail/standard.hpp>
#include <onefold/float16.hpp>

namespace onefold {

/// The element types that the compiled library knows.
enum class element_type : std::uint8_t {
#define ONEFOLD_TYPE(name, type) name,
#define ONEFOLD_SMALL_TYPE(name, type) name,
#define ONEFOLD_COMPLEX_TYPE(name, type, part) name,
#include <onefold/types.def>
};

/// The operators that the compiled library knows.
enum class operation : std::uint8_t {
#define ONEFOLD_OP(name) name,
#include <onefold/ops.def>
#undef ONEFOLD_OP
};

/// Those of real numbers, which come first.
inline constexpr int element_type_count = 0
#define ONEFOLD_TYPE(name, type) +1
#define ONEFOLD_SMALL_TYPE(name, type) +1
#include <onefold/types.def>
    ;

/// Those of 4 and 8 bytes, which come first.
inline constexpr int full_type_count = 0
#define ONEFOLD_TYPE(name, type) +1
#include <onefold/types.def>
    ;

/// Whether an element has 1 or 2 bytes. Such elements are converted to a larger type when they are read, and computed with there.
constexpr bool is_small(element_type type) noexcept {
  return static_cast<int>(type) >= full_type_count && static_cast<int>(type) < element_type_count;
}

/// Whether an element is a complex number.
constexpr bool is_complex(element_type type) noexcept { return static_cast<int>(type) >= element_type_count; }

/// The type of a complex number's parts; of others the type itself.
constexpr element_type part_type(element_type type) noexcept {
  switch (type) {
#define ONEFOLD_COMPLEX_TYPE(name, T, part) \
  case element_type::name:                  \
    return element_type::part;
#include <onefold/types.def>
    default:
      return type;
  }
}

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
#define ONEFOLD_SMALL_TYPE(name, type) #name,
#define ONEFOLD_COMPLEX_TYPE(name, type, part) #name,
#include <onefold/types.def>
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
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#define ONEFOLD_COMPLEX_TYPE(name, T, part) ONEFOLD_TYPE(name, T)
#include <onefold/types.def>
    default:
      break;
  }
  return 0;
}

/// Whether elements of a type are floats.
constexpr bool is_float(element_type type) noexcept {
  return
#define ONEFOLD_FLOAT(name, T, digits) type == element_type::name ||
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#include <onefold/types.def>
      false;
}

/// Whether elements of a type are signed integers.
constexpr bool is_signed_integer(element_type type) noexcept {
  return
#define ONEFOLD_SMALL_INTEGERS(name, T, magnitude, U) type == element_type::name ||
#include <onefold/types.def>
#define ONEFOLD_INTEGERS(name, T, magnitude, U) type == element_type::name ||
#include <onefold/types.def>
      false;
}

namespace detail {
/// Binary digits of a float, with the leading one; 0 of other types.
constexpr int digits_of_type(element_type type) noexcept {
  switch (type) {
#define ONEFOLD_FLOAT(name, T, digits) \
  case element_type::name:             \
    return digits;
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#include <onefold/types.def>
    default:
      return 0;
  }
}
}  // namespace detail

// `long` and `long long` are both 64 bits wide on the platforms of HPC but are different types, and only one of them is
// std::int64_t: any standard integer is therefore taken for the element type of its size and sign. So is bool, for u8. Not char, which has another sign on other machines.

namespace detail {
template <class T>
inline constexpr bool is_standard_integer =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, long> || std::is_same_v<T, unsigned long> ||
    std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long>;
template <class T>
inline constexpr bool is_small_integer = std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char> ||
                                         std::is_same_v<T, short> || std::is_same_v<T, unsigned short> || std::is_same_v<T, bool>;
}  // namespace detail

/// Whether values of a C++ type can be computed with: float, double, and the standard signed and unsigned integers of 32 and 64 bits.
template <class T>
inline constexpr bool is_full_element = std::is_same_v<T, float> || std::is_same_v<T, double> || detail::is_standard_integer<T>;

/// Whether a C++ type can be an array's element: those, the integers of 8 and 16 bits, bool, the floats of float16.hpp, and std::complex of float and
/// double.
template <class T>
inline constexpr bool is_element = is_full_element<T> || detail::is_small_integer<T> || detail::is_half<T> ||
                                   std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

#if ONEFOLD_CXX20
/// is_element as a concept.
template <class T>
concept element = is_element<T>;
#endif

namespace detail {
template <class T>
constexpr element_type element_type_for() noexcept {
  static_assert(
      is_element<T>,
      "onefold's elements are float, double, std::complex of these, integers of 8 to 64 bits, bool, and halves (float16.hpp)");
  if constexpr (!is_element<T>) return element_type::f32;
#define ONEFOLD_FLOAT(name, E, digits) else if constexpr (std::is_same_v<half_like_t<T>, E>) return element_type::name;
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#define ONEFOLD_COMPLEX_TYPE ONEFOLD_FLOAT
#define ONEFOLD_INTEGERS(name, I, magnitude, U)                                                                       \
  else if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(I)) return std::is_signed_v<T> ? element_type::name \
                                                                                                 : element_type::magnitude;
#define ONEFOLD_SMALL_INTEGERS ONEFOLD_INTEGERS
#include <onefold/types.def>
}
}  // namespace detail

/// The element type of the C++ type T.
template <class T>
inline constexpr element_type element_type_of = detail::element_type_for<T>();

/// Whether a form asks which of two elements is the smaller one, as no form of complex numbers can, which have no order.
constexpr bool asks_for_order(form what) noexcept {
  return what == form::min || what == form::max || what == form::min_number || what == form::max_number || what == form::argmin ||
         what == form::argmax || what == form::argminmax || what == form::minmax;
}

/// Whether a form asks of each element whether it is zero: a complex number is where both parts are.
constexpr bool asks_for_zero(form what) noexcept {
  return what == form::count || what == form::all || what == form::any || what == form::none;
}

/// Whether a form takes elements of this type: those that combine bits take integers, and of complex numbers there is no order.
constexpr bool takes_type(form what, element_type type) noexcept {
  if (is_complex(type))
    return what == form::sum || what == form::prod || what == form::dot || what == form::mean || what == form::sum_of_squares ||
           what == form::norm1 || what == form::norm2 || what == form::norm_inf || what == form::mean_variance ||
           asks_for_zero(what);
  return !is_float(type) || (what != form::bit_and && what != form::bit_or && what != form::bit_xor);
}

/// The type that values are added and multiplied in: the elements' own, but for small integers 64 bits and for small floats f32. `wide`
/// is the other one, which accumulate_as asks for: f64 for floats, c128 for c64, 64 bits for integers of 32, and for small integers the narrower one
/// that is their own, which has the lowest bytes of the 64 bits.
constexpr element_type accumulator_type(element_type type, bool wide = false) noexcept {
  switch (type) {
    case element_type::f32:
#define ONEFOLD_SMALL_FLOAT(name, T, digits) case element_type::name:
#include <onefold/types.def>
      return wide ? element_type::f64 : element_type::f32;
    case element_type::c64:
      return wide ? element_type::c128 : type;
    case element_type::i32:
      return wide ? element_type::i64 : type;
    case element_type::u32:
      return wide ? element_type::u64 : type;
#define ONEFOLD_SMALL_INTEGERS(name, T, magnitude, U) case element_type::name:
#include <onefold/types.def>
      return wide ? type : element_type::i64;
#define ONEFOLD_SMALL_INTEGERS(name, T, magnitude, U) case element_type::magnitude:
#include <onefold/types.def>
      return wide ? type : element_type::u64;
    default:
      return type;
  }
}

/// The type of absolute values: the unsigned integer of an integer's size; a float's own type; that of a complex number's parts.
constexpr element_type magnitude_type(element_type type) noexcept {
  switch (type) {
#define ONEFOLD_INTEGERS(name, T, magnitude, U) \
  case element_type::name:                      \
    return element_type::magnitude;
#define ONEFOLD_SMALL_INTEGERS ONEFOLD_INTEGERS
#include <onefold/types.def>
    default:
      return part_type(type);
  }
}

/// The type of a form's result, or of each of its results but an index. `wide` says that elements are accumulated in the wider type.
constexpr element_type result_type(element_type type, form what, bool wide = false) noexcept {
  switch (what) {
    case form::count:
      return element_type::u64;
    case form::all:
    case form::any:
    case form::none:
      return element_type::u8;
    case form::norm2:
      if (is_complex(type)) return part_type(accumulator_type(type, wide));
      [[fallthrough]];
    case form::mean:
    case form::mean_variance:
      return is_float(type) || is_complex(type) ? accumulator_type(type, wide) : element_type::f64;
    case form::norm1:
      return magnitude_type(accumulator_type(type, wide));
    case form::norm_inf:
    case form::argmin_magnitude:
    case form::argmax_magnitude:
      return magnitude_type(type);
    case form::sum_of_squares:
      if (is_complex(type)) return part_type(accumulator_type(type, wide));
      [[fallthrough]];
    case form::sum:
    case form::prod:
    case form::dot:
    case form::reduce_together:
      return accumulator_type(type, wide);
    default:
      return type;
  }
}

/// Whether a form can be asked to accumulate in the other type: floats and complex numbers of floats in every form that rounds but norm_inf, integers of
/// up to 32 bits in those that add or multiply.
constexpr bool can_be_wide(element_type type, form what) noexcept {
  if (accumulator_type(type, true) == accumulator_type(type)) return false;
  switch (what) {
    case form::sum:
    case form::prod:
    case form::dot:
    case form::sum_of_squares:
    case form::norm1:
      return true;
    case form::mean:
    case form::norm2:
    case form::mean_variance:
      return is_float(type) || is_complex(type);
    default:
      return false;
  }
}

/// Most results of a reduce_together.
inline constexpr int most_results = 16;

/// Whether a form's result is a value and its index.
constexpr bool is_arg(form what) noexcept {
  return what == form::argmin || what == form::argmax || what == form::argmin_magnitude || what == form::argmax_magnitude;
}

/// Whether a form has an index among its results, of which there is none where there are no elements.
constexpr bool has_index(form what) noexcept { return is_arg(what) || what == form::argminmax; }

namespace detail {
template <form What>
inline constexpr bool gives_arg = is_arg(What);  // a value, which device code may ask for too
}

/// Bytes of what a form stores, `results` values in a row for reduce_together (results.hpp).
constexpr std::size_t result_bytes(element_type type, form what, bool wide = false, int results = 1) noexcept {
  const std::size_t one = size_of(result_type(type, what, wide));
  if (is_complex(type) && what == form::mean_variance) return one + one / 2;  // the variance is real
  if (is_arg(what)) return 2 * sizeof(std::uint64_t);
  if (what == form::argminmax) return 4 * sizeof(std::uint64_t);
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
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#define ONEFOLD_COMPLEX_TYPE(name, T, part) ONEFOLD_TYPE(name, T)
#include <onefold/types.def>

// T itself where the result has T's type: a `long long` stays one. A byte of all, any and none is a bool.
template <form What, class T, element_type Result>
using type_with_name = std::conditional_t<What == form::all || What == form::any || What == form::none, bool,
                                          std::conditional_t<element_type_of<T> == Result, T, typename c_type<Result>::type>>;
}  // namespace detail

/// The C++ type of the result of a form on elements of type T.
template <form What, class T, bool Wide = false>
using result_t = detail::type_with_name<What, T, result_type(element_type_of<T>, What, Wide)>;

/// The C++ type that accumulate_as asks for of elements of type T, with `Wide`, or names though it is asked for anyway.
template <class T, bool Wide>
using accumulator_t = detail::type_with_name<form::sum, T, accumulator_type(element_type_of<T>, Wide)>;

/// Whether a C++ type can be named in accumulate_as: those that values can be computed with, std::complex of float and double, and the integers of 1 and
/// 2 bytes, for elements of that very type. No bool, of which 1 + 1 is no value, and no float of 2 bytes, whose sums are rounded to float or double.
template <class A>
inline constexpr bool is_accumulator = is_full_element<A> || std::is_same_v<A, std::complex<float>> ||
                                       std::is_same_v<A, std::complex<double>> ||
                                       (detail::is_small_integer<A> && !std::is_same_v<A, bool>);

}  // namespace onefold
