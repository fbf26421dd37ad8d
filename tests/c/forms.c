/* forms.c  Every function of a form and type, on small whole numbers: the results are exact in every order. */

#include "check.h"

enum { count = 1000 };

/* What the numbers (i % 7) + 1, of which the first is 1, give. */
static double expected(const char* form, uint64_t n) {
  double sum = 0, squares = 0, largest = 0, least = 0, product = 1;
  for (uint64_t i = 0; i < n; ++i) {
    const double x = (double)(i % 7 + 1);
    sum += x;
    squares += x * x;
    product *= x;
    if (i == 0 || x < least) least = x;
    if (x > largest) largest = x;
  }
  if (strcmp(form, "sum") == 0 || strcmp(form, "norm1") == 0) return sum;
  if (strcmp(form, "prod") == 0) return product;
  if (strcmp(form, "min") == 0 || strcmp(form, "min_number") == 0) return least;
  if (strcmp(form, "count") == 0) return (double)n;
  if (strcmp(form, "bit_or") == 0) return 7;
  if (strcmp(form, "bit_and") == 0) return 0;
  if (strcmp(form, "bit_xor") == 0) return 7; /* of 142 times 1 .. 7, which is 0, and of 1 .. 6 */
  if (strcmp(form, "max") == 0 || strcmp(form, "max_number") == 0 || strcmp(form, "norm_inf") == 0) return largest;
  if (strcmp(form, "mean") == 0) return sum / (double)n;
  return squares; /* sum_of_squares, dot, norm2 after a square */
}

static onefold_executor places[4];

#define FILL(suffix, T)                                                            \
  static int fill_##suffix(void* context, uint64_t first, uint64_t n, T* values) { \
    if (context != NULL) return 1;                                                 \
    for (uint64_t i = 0; i < n; ++i) values[i] = (T)((first + i) % 7 + 1);         \
    return 0;                                                                      \
  }

/* One form of one type on every place: the value, stored in order, and of a function. prod of few elements, which it can hold. */
#define NUMBER(form, suffix, T, R)                                                                                         \
  {                                                                                                                        \
    const uint64_t n = strcmp(#form, "prod") == 0 ? 7 : count;                                                             \
    const R want = (R)expected(#form, n);                                                                                  \
    R got = 0, stored = 0, made = 0;                                                                                       \
    EXPECT_OK(onefold_##form##_##suffix(places[p], x, n, &got));                                                           \
    EXPECT(got == want);                                                                                                   \
    EXPECT_OK(onefold_##form##_##suffix##_into(places[p], x, n, &stored, NULL));                                           \
    EXPECT(stored == want);                                                                                                \
    EXPECT_OK(onefold_##form##_##suffix##_of(places[p], n, fill_##suffix, NULL, &made));                                   \
    EXPECT(made == want);                                                                                                  \
    EXPECT_REFUSED(onefold_##form##_##suffix##_of(places[p], n, fill_##suffix, &got, &made), ONEFOLD_CALLBACK_FAILED, ""); \
  }

#define ARG(form, suffix, T, at)                                                                               \
  {                                                                                                            \
    onefold_arg_result_##suffix got, stored, made;                                                             \
    EXPECT_OK(onefold_##form##_##suffix(places[p], x, count, &got));                                           \
    EXPECT(got.value == x[at] && got.index == at);                                                             \
    EXPECT_OK(onefold_##form##_##suffix##_into(places[p], x, count, &stored, NULL));                           \
    EXPECT(stored.value == x[at] && stored.index == at);                                                       \
    EXPECT_OK(onefold_##form##_##suffix##_of(places[p], count, fill_##suffix, NULL, &made));                   \
    EXPECT(made.value == x[at] && made.index == at);                                                           \
    EXPECT_REFUSED(onefold_##form##_##suffix(places[p], x, 0, &got), ONEFOLD_INVALID_ARGUMENT, "no elements"); \
  }

#define TYPE(suffix, T, magnitude, mean_type)                                                \
  FILL(suffix, T)                                                                            \
  static void test_##suffix(int p) {                                                         \
    T x[count];                                                                              \
    for (int i = 0; i < count; ++i) x[i] = (T)(i % 7 + 1);                                   \
    NUMBER(sum, suffix, T, T)                                                                \
    NUMBER(prod, suffix, T, T)                                                               \
    NUMBER(min, suffix, T, T)                                                                \
    NUMBER(max, suffix, T, T)                                                                \
    NUMBER(sum_of_squares, suffix, T, T)                                                     \
    NUMBER(norm1, suffix, T, magnitude)                                                      \
    NUMBER(norm_inf, suffix, T, magnitude)                                                   \
    NUMBER(min_number, suffix, T, T)                                                         \
    NUMBER(max_number, suffix, T, T)                                                         \
    NUMBER(count, suffix, T, uint64_t)                                                       \
    NUMBER(mean, suffix, T, mean_type) {                                                     \
      const T few[4] = {1, 1, 1, 1};                                                         \
      mean_type norm = 0, stored = 0, made = 0;                                              \
      EXPECT_OK(onefold_norm2_##suffix(places[p], few, 4, &norm));                           \
      EXPECT(norm == 2);                                                                     \
      EXPECT_OK(onefold_norm2_##suffix##_into(places[p], few, 4, &stored, NULL));            \
      EXPECT(stored == 2);                                                                   \
      EXPECT_OK(onefold_norm2_##suffix##_of(places[p], 1, fill_##suffix, NULL, &made));      \
      EXPECT(made == 1);                                                                     \
      T dot = 0, dot_stored = 0;                                                             \
      EXPECT_OK(onefold_dot_##suffix(places[p], x, x, count, &dot));                         \
      EXPECT(dot == (T)expected("dot", count));                                              \
      EXPECT_OK(onefold_dot_##suffix##_into(places[p], x, x, count, &dot_stored, NULL));     \
      EXPECT(dot_stored == dot);                                                             \
    }                                                                                        \
    ARG(argmin, suffix, T, 0)                                                                \
    ARG(argmax, suffix, T, 6) {                                                              \
      onefold_minmax_result_##suffix got, stored, made;                                      \
      EXPECT_OK(onefold_minmax_##suffix(places[p], x, count, &got));                         \
      EXPECT(got.min == 1 && got.max == 7);                                                  \
      EXPECT_OK(onefold_minmax_##suffix##_into(places[p], x, count, &stored, NULL));         \
      EXPECT(stored.min == 1 && stored.max == 7);                                            \
      EXPECT_OK(onefold_minmax_##suffix##_of(places[p], count, fill_##suffix, NULL, &made)); \
      EXPECT(made.min == 1 && made.max == 7);                                                \
    }                                                                                        \
    MEAN_VARIANCE_##mean_type(suffix)                                                        \
  }
#define MEAN_VARIANCE_float(suffix) MEAN_VARIANCE(suffix, onefold_mean_variance_result_f32)
#define MEAN_VARIANCE_double(suffix) MEAN_VARIANCE(suffix, onefold_mean_variance_result_f64)
/* 1 .. 7 have the mean 4 and the sum of squared deviations 28. */
#define MEAN_VARIANCE(suffix, R)                                                                 \
  {                                                                                              \
    R got, stored, made;                                                                         \
    EXPECT_OK(onefold_mean_variance_##suffix(places[p], x, 7, 0, &got));                         \
    EXPECT(got.mean == 4 && got.variance == 4);                                                  \
    EXPECT_OK(onefold_mean_variance_##suffix##_into(places[p], x, 7, 3, &stored, NULL));         \
    EXPECT(stored.mean == 4 && stored.variance == 7);                                            \
    EXPECT_OK(onefold_mean_variance_##suffix##_of(places[p], 7, fill_##suffix, NULL, 0, &made)); \
    EXPECT(made.mean == 4 && made.variance == 4);                                                \
  }

ONEFOLD_C_TYPES(TYPE)

#define BITS(suffix, T)                                    \
  static void test_bits_##suffix(int p) {                  \
    T x[count];                                            \
    for (int i = 0; i < count; ++i) x[i] = (T)(i % 7 + 1); \
    ONEFOLD_C_BIT_FORMS_OF(NUMBER, suffix, T)              \
  }
ONEFOLD_C_INTEGERS(BITS)

#define WIDE(form)                                                                               \
  {                                                                                              \
    const uint64_t n = strcmp(#form, "prod") == 0 ? 7 : strcmp(#form, "norm2") == 0 ? 1 : count; \
    double got = 0, stored = 0;                                                                  \
    EXPECT_OK(onefold_##form##_f32_as_f64(places[p], x, n, &got));                               \
    EXPECT(got == expected(#form, n));                                                           \
    EXPECT_OK(onefold_##form##_f32_as_f64_into(places[p], x, n, &stored, NULL));                 \
    EXPECT(stored == got);                                                                       \
  }

static void test_wide(int p) {
  float x[count];
  for (int i = 0; i < count; ++i) x[i] = (float)(i % 7 + 1);
  ONEFOLD_C_WIDE_FORMS(WIDE)
  const float far[2] = {16777216, 1};
  const float ones[2] = {1, 1};
  double got = 0, stored = 0;
  EXPECT_OK(onefold_sum_f32_as_f64(places[p], far, 2, &got));
  EXPECT(got == 16777217);
  EXPECT_OK(onefold_dot_f32_as_f64(places[p], far, ones, 2, &got));
  EXPECT_OK(onefold_dot_f32_as_f64_into(places[p], far, ones, 2, &stored, NULL));
  EXPECT(got == 16777217 && stored == got);
  onefold_mean_variance_result_f64 both, both_stored;
  EXPECT_OK(onefold_mean_variance_f32_as_f64(places[p], x, 7, 0, &both));
  EXPECT_OK(onefold_mean_variance_f32_as_f64_into(places[p], x, 7, 0, &both_stored, NULL));
  EXPECT(both.mean == 4 && both.variance == 4 && both_stored.mean == 4 && both_stored.variance == 4);
}

void test_forms(void) {
  onefold_backend_info openmp = {.struct_bytes = sizeof openmp};
  EXPECT_OK(onefold_describe_backend(ONEFOLD_OPENMP, &openmp, NULL, 0));
  int all = 0;
  places[all++] = onefold_serial();
  places[all++] = onefold_best();
  if (openmp.built) {
    places[all++] = onefold_openmp(0);
    places[all++] = onefold_openmp(1);
  }
  for (int p = 0; p < all; ++p) {
#define CALL(suffix, T, magnitude, mean_type) test_##suffix(p);
    ONEFOLD_C_TYPES(CALL)
#define CALL_BITS(suffix, T) test_bits_##suffix(p);
    ONEFOLD_C_INTEGERS(CALL_BITS)
    test_wide(p);
  }
}
