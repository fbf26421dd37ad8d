/// @file c_api_forms.cpp  The C interface's function of each form and type: each packs a request.

#include <onefold/onefold.h>

#include <onefold/types.hpp>

namespace {

using onefold::element_type;
using onefold::form;

template <form What, element_type Type>
onefold_request request_of(const onefold_executor& where, const void* x, std::uint64_t n, void* result, unsigned flags) {
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = where;
  what.type = static_cast<std::int32_t>(Type);
  what.form = static_cast<std::int32_t>(What);
  what.input = x;
  what.count = n;
  what.output = result;
  what.flags = flags;
  return what;
}

// A function for values of one type, as the source of all types.
template <class Fill>
struct typed_source {
  void* context;
  Fill fill;
};

template <class Fill, class T>
int fill_typed(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
  const auto& of = *static_cast<const typed_source<Fill>*>(context);
  return of.fill(of.context, first, count, static_cast<T*>(values[0]));
}

template <class T, class Fill>
int reduce_values(onefold_request what, Fill fill, void* context) {
  typed_source<Fill> typed{context, fill};
  const onefold_value_source source{&typed, fill == nullptr ? nullptr : fill_typed<Fill, T>};
  what.source = &source;
  return onefold_reduce(&what, nullptr);
}

template <element_type Type, class T>
int multi_dot(const onefold_executor& where, const T* const* x, std::int32_t rows, const T* const* y, std::int32_t columns,
              std::uint64_t n, T* results, unsigned flags, const onefold_options* how) {
  // Pointers to pointers of another type are copied, because C++ lets nobody read the ones as the others; but not where the numbers will be refused.
  const void* all[2 * ONEFOLD_MOST_DOTS];
  const void** const second = all + ONEFOLD_MOST_DOTS;
  const bool are_taken = rows > 0 && columns > 0 && std::int64_t{rows} * columns <= ONEFOLD_MOST_DOTS;
  for (std::int32_t i = 0; are_taken && x != nullptr && i < rows; ++i) all[i] = x[i];
  for (std::int32_t j = 0; are_taken && y != nullptr && j < columns; ++j) second[j] = y[j];
  const onefold_vectors vectors{x == nullptr ? nullptr : all, y == nullptr ? nullptr : second, rows, columns};
  auto what = request_of<form::dot, Type>(where, nullptr, n, results, flags);
  what.vectors = &vectors;
  return onefold_reduce(&what, how);
}

}  // namespace

int onefold_multi_dot_f32(onefold_executor where, const float* const* x, std::int32_t rows, const float* const* y,
                          std::int32_t columns, std::uint64_t n, float* results) {
  return multi_dot<element_type::f32>(where, x, rows, y, columns, n, results, 0, nullptr);
}
int onefold_multi_dot_f64(onefold_executor where, const double* const* x, std::int32_t rows, const double* const* y,
                          std::int32_t columns, std::uint64_t n, double* results) {
  return multi_dot<element_type::f64>(where, x, rows, y, columns, n, results, 0, nullptr);
}
int onefold_multi_dot_f32_into(onefold_executor where, const float* const* x, std::int32_t rows, const float* const* y,
                               std::int32_t columns, std::uint64_t n, float* results, const onefold_options* how) {
  return multi_dot<element_type::f32>(where, x, rows, y, columns, n, results, ONEFOLD_INTO, how);
}
int onefold_multi_dot_f64_into(onefold_executor where, const double* const* x, std::int32_t rows, const double* const* y,
                               std::int32_t columns, std::uint64_t n, double* results, const onefold_options* how) {
  return multi_dot<element_type::f64>(where, x, rows, y, columns, n, results, ONEFOLD_INTO, how);
}

#define ONEFOLD_C_DEFINE_AS(name, suffix, type, T, R, flags)                                                   \
  int onefold_##name##_##suffix(onefold_executor where, const T* x, std::uint64_t n, R* result) {              \
    const auto what = request_of<form::name, element_type::type>(where, x, n, result, flags);                  \
    return onefold_reduce(&what, nullptr);                                                                     \
  }                                                                                                            \
  int onefold_##name##_##suffix##_into(onefold_executor where, const T* x, std::uint64_t n, R* result,         \
                                       const onefold_options* how) {                                           \
    const auto what = request_of<form::name, element_type::type>(where, x, n, result, (flags) | ONEFOLD_INTO); \
    return onefold_reduce(&what, how);                                                                         \
  }
#define ONEFOLD_C_DEFINE_OF_ARRAY(name, suffix, T, R) ONEFOLD_C_DEFINE_AS(name, suffix, suffix, T, R, 0U)
#define ONEFOLD_C_DEFINE(name, suffix, T, R)                                                                             \
  ONEFOLD_C_DEFINE_OF_ARRAY(name, suffix, T, R)                                                                          \
  int onefold_##name##_##suffix##_of(onefold_executor where, std::uint64_t n, onefold_fill_##suffix fill, void* context, \
                                     R* result) {                                                                        \
    return reduce_values<T>(request_of<form::name, element_type::suffix>(where, nullptr, n, result, 0), fill, context);  \
  }

#define ONEFOLD_C_DEFINE_DOT(suffix, type, T, R, flags)                                                       \
  int onefold_dot_##suffix(onefold_executor where, const T* x, const T* y, std::uint64_t n, R* result) {      \
    auto what = request_of<form::dot, element_type::type>(where, x, n, result, flags);                        \
    what.second = y;                                                                                          \
    return onefold_reduce(&what, nullptr);                                                                    \
  }                                                                                                           \
  int onefold_dot_##suffix##_into(onefold_executor where, const T* x, const T* y, std::uint64_t n, R* result, \
                                  const onefold_options* how) {                                               \
    auto what = request_of<form::dot, element_type::type>(where, x, n, result, (flags) | ONEFOLD_INTO);       \
    what.second = y;                                                                                          \
    return onefold_reduce(&what, how);                                                                        \
  }

#define ONEFOLD_C_DEFINE_VARIANCE(suffix, type, T, R, flags)                                                                   \
  int onefold_mean_variance_##suffix(onefold_executor where, const T* x, std::uint64_t n, std::int64_t ddof, R* result) {      \
    auto what = request_of<form::mean_variance, element_type::type>(where, x, n, result, flags);                               \
    what.ddof = ddof;                                                                                                          \
    return onefold_reduce(&what, nullptr);                                                                                     \
  }                                                                                                                            \
  int onefold_mean_variance_##suffix##_into(onefold_executor where, const T* x, std::uint64_t n, std::int64_t ddof, R* result, \
                                            const onefold_options* how) {                                                      \
    auto what = request_of<form::mean_variance, element_type::type>(where, x, n, result, (flags) | ONEFOLD_INTO);              \
    what.ddof = ddof;                                                                                                          \
    return onefold_reduce(&what, how);                                                                                         \
  }

#define ONEFOLD_C_DEFINE_VARIANCE_OF_VALUES(suffix, T, R)                                                                     \
  int onefold_mean_variance_##suffix##_of(onefold_executor where, std::uint64_t n, onefold_fill_##suffix fill, void* context, \
                                          std::int64_t ddof, R* result) {                                                     \
    auto what = request_of<form::mean_variance, element_type::suffix>(where, nullptr, n, result, 0);                          \
    what.ddof = ddof;                                                                                                         \
    return reduce_values<T>(what, fill, context);                                                                             \
  }

#define ONEFOLD_C_DEFINE_TYPE(suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type)          \
  ONEFOLD_C_FORMS_OF(ONEFOLD_C_DEFINE, suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type) \
  ONEFOLD_C_DEFINE_DOT(suffix, suffix, T, total, 0U)                                                          \
  ONEFOLD_C_DEFINE_VARIANCE(suffix, suffix, T, ONEFOLD_C_VARIANCE_OF_##mean_type, 0U)                         \
  ONEFOLD_C_DEFINE_VARIANCE_OF_VALUES(suffix, T, ONEFOLD_C_VARIANCE_OF_##mean_type)
#define ONEFOLD_C_DEFINE_SMALL_TYPE(suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type)             \
  ONEFOLD_C_FORMS_OF(ONEFOLD_C_DEFINE_OF_ARRAY, suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type) \
  ONEFOLD_C_DEFINE_DOT(suffix, suffix, T, total, 0U)                                                                   \
  ONEFOLD_C_DEFINE_VARIANCE(suffix, suffix, T, ONEFOLD_C_VARIANCE_OF_##mean_type, 0U)

#define ONEFOLD_C_DEFINE_BITS(suffix, T) ONEFOLD_C_BIT_FORMS_OF(ONEFOLD_C_DEFINE, suffix, T)
#define ONEFOLD_C_DEFINE_SMALL_BITS(suffix, T) ONEFOLD_C_BIT_FORMS_OF(ONEFOLD_C_DEFINE_OF_ARRAY, suffix, T)
#define ONEFOLD_C_DEFINE_WIDE(name, suffix, T, wide, R) ONEFOLD_C_DEFINE_AS(name, suffix##_as_##wide, suffix, T, R, ONEFOLD_WIDE)
#define ONEFOLD_C_DEFINE_WIDE_DOT(suffix, T, wide, R) ONEFOLD_C_DEFINE_DOT(suffix##_as_##wide, suffix, T, R, ONEFOLD_WIDE)
#define ONEFOLD_C_DEFINE_WIDE_VARIANCE(suffix, T, wide, R) \
  ONEFOLD_C_DEFINE_VARIANCE(suffix##_as_##wide, suffix, T, onefold_mean_variance_result_f64, ONEFOLD_WIDE)

ONEFOLD_C_TYPES(ONEFOLD_C_DEFINE_TYPE)
ONEFOLD_C_SMALL_TYPES(ONEFOLD_C_DEFINE_SMALL_TYPE)
ONEFOLD_C_INTEGERS(ONEFOLD_C_DEFINE_BITS)
ONEFOLD_C_SMALL_INTEGERS(ONEFOLD_C_DEFINE_SMALL_BITS)
ONEFOLD_C_WIDE_FORMS(ONEFOLD_C_DEFINE_WIDE)
ONEFOLD_C_WIDE_TYPES(ONEFOLD_C_DEFINE_WIDE_DOT)
ONEFOLD_C_WIDE_FLOATS(ONEFOLD_C_DEFINE_WIDE_VARIANCE)

#define ONEFOLD_C_DEFINE_COMPLEX(suffix, T, part)                        \
  ONEFOLD_C_COMPLEX_FORMS_OF(ONEFOLD_C_DEFINE_OF_ARRAY, suffix, T, part) \
  ONEFOLD_C_DEFINE_DOT(suffix, suffix, T, T, 0U)                         \
  ONEFOLD_C_DEFINE_VARIANCE(suffix, suffix, T, onefold_mean_variance_result_##suffix, 0U)
ONEFOLD_C_COMPLEX_TYPES(ONEFOLD_C_DEFINE_COMPLEX)
ONEFOLD_C_WIDE_COMPLEX_FORMS(ONEFOLD_C_DEFINE_WIDE)
ONEFOLD_C_DEFINE_DOT(c64_as_c128, c64, onefold_c64, onefold_c128, ONEFOLD_WIDE)
ONEFOLD_C_DEFINE_VARIANCE(c64_as_c128, c64, onefold_c64, onefold_mean_variance_result_c128, ONEFOLD_WIDE)
