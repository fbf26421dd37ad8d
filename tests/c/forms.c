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
  if (strcmp(form, "all") == 0 || strcmp(form, "any") == 0) return 1;
  if (strcmp(form, "none") == 0) return 0;
  if (strcmp(form, "bit_or") == 0) return 7;
  if (strcmp(form, "bit_and") == 0) return 0;
  if (strcmp(form, "bit_xor") == 0) return 7; /* of 142 times 1 .. 7, which is 0, and of 1 .. 6 */
  if (strcmp(form, "max") == 0 || strcmp(form, "max_number") == 0 || strcmp(form, "norm_inf") == 0) return largest;
  if (strcmp(form, "mean") == 0) return sum / (double)n;
  return squares; /* sum_of_squares, dot, norm2 after a square */
}

/* 1 .. 7. */
#define NUMBERS_f32 \
  { 1, 2, 3, 4, 5, 6, 7 }
#define NUMBERS_i32 \
  { 1, 2, 3, 4, 5, 6, 7 }
#define NUMBERS_u32 \
  { 1, 2, 3, 4, 5, 6, 7 }
#define NUMBERS_i8 NUMBERS_i32
#define NUMBERS_u8 NUMBERS_i32
#define NUMBERS_i16 NUMBERS_i32
#define NUMBERS_u16 NUMBERS_i32
#define NUMBERS_f16                                                        \
  {                                                                        \
    {0x3c00}, {0x4000}, {0x4200}, {0x4400}, {0x4500}, {0x4600}, { 0x4700 } \
  }
#define NUMBERS_bf16                                                       \
  {                                                                        \
    {0x3f80}, {0x4000}, {0x4040}, {0x4080}, {0x40a0}, {0x40c0}, { 0x40e0 } \
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

#define ARG(form, suffix, of_value, T, at)                                                                     \
  {                                                                                                            \
    onefold_arg_result_##of_value got, stored, made;                                                           \
    EXPECT_OK(onefold_##form##_##suffix(places[p], x, count, &got));                                           \
    EXPECT(got.value == (at) + 1 && got.index == at);                                                          \
    EXPECT_OK(onefold_##form##_##suffix##_into(places[p], x, count, &stored, NULL));                           \
    EXPECT(stored.value == (at) + 1 && stored.index == at);                                                    \
    EXPECT_OK(onefold_##form##_##suffix##_of(places[p], count, fill_##suffix, NULL, &made));                   \
    EXPECT(made.value == (at) + 1 && made.index == at);                                                        \
    EXPECT_REFUSED(onefold_##form##_##suffix(places[p], x, 0, &got), ONEFOLD_INVALID_ARGUMENT, "no elements"); \
  }

#define TYPE(suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type)             \
  FILL(suffix, T)                                                                               \
  static void test_##suffix(int p) {                                                            \
    T x[count];                                                                                 \
    for (int i = 0; i < count; ++i) x[i] = (T)(i % 7 + 1);                                      \
    NUMBER(sum, suffix, T, total)                                                               \
    NUMBER(prod, suffix, T, total)                                                              \
    NUMBER(min, suffix, T, T)                                                                   \
    NUMBER(max, suffix, T, T)                                                                   \
    NUMBER(sum_of_squares, suffix, T, total)                                                    \
    NUMBER(norm1, suffix, T, total_magnitude)                                                   \
    NUMBER(norm_inf, suffix, T, magnitude)                                                      \
    NUMBER(min_number, suffix, T, T)                                                            \
    NUMBER(max_number, suffix, T, T)                                                            \
    NUMBER(count, suffix, T, uint64_t)                                                          \
    NUMBER(mean, suffix, T, mean_type) {                                                        \
      const T few[4] = {1, 1, 1, 1};                                                            \
      mean_type norm = 0, stored = 0, made = 0;                                                 \
      EXPECT_OK(onefold_norm2_##suffix(places[p], few, 4, &norm));                              \
      EXPECT(norm == 2);                                                                        \
      EXPECT_OK(onefold_norm2_##suffix##_into(places[p], few, 4, &stored, NULL));               \
      EXPECT(stored == 2);                                                                      \
      EXPECT_OK(onefold_norm2_##suffix##_of(places[p], 1, fill_##suffix, NULL, &made));         \
      EXPECT(made == 1);                                                                        \
      T dot = 0, dot_stored = 0;                                                                \
      EXPECT_OK(onefold_dot_##suffix(places[p], x, x, count, &dot));                            \
      EXPECT(dot == (T)expected("dot", count));                                                 \
      EXPECT_OK(onefold_dot_##suffix##_into(places[p], x, x, count, &dot_stored, NULL));        \
      EXPECT(dot_stored == dot);                                                                \
    }                                                                                           \
    NUMBER(all, suffix, T, uint8_t)                                                             \
    NUMBER(any, suffix, T, uint8_t)                                                             \
    NUMBER(none, suffix, T, uint8_t)                                                            \
    ARG(argmin, suffix, suffix, T, 0)                                                           \
    ARG(argmax, suffix, suffix, T, 6)                                                           \
    ARG(argmin_magnitude, suffix, of_magnitude, T, 0)                                           \
    ARG(argmax_magnitude, suffix, of_magnitude, T, 6) {                                         \
      onefold_argminmax_result_##suffix got, stored, made;                                      \
      EXPECT_OK(onefold_argminmax_##suffix(places[p], x, count, &got));                         \
      EXPECT(got.min.value == 1 && got.min.index == 0);                                         \
      EXPECT(got.max.value == 7 && got.max.index == 6);                                         \
      EXPECT_OK(onefold_argminmax_##suffix##_into(places[p], x, count, &stored, NULL));         \
      EXPECT(stored.min.value == 1 && stored.min.index == 0);                                   \
      EXPECT(stored.max.value == 7 && stored.max.index == 6);                                   \
      EXPECT_OK(onefold_argminmax_##suffix##_of(places[p], count, fill_##suffix, NULL, &made)); \
      EXPECT(made.min.index == 0 && made.max.index == 6);                                       \
    }                                                                                           \
    {                                                                                           \
      onefold_minmax_result_##suffix got, stored, made;                                         \
      EXPECT_OK(onefold_minmax_##suffix(places[p], x, count, &got));                            \
      EXPECT(got.min == 1 && got.max == 7);                                                     \
      EXPECT_OK(onefold_minmax_##suffix##_into(places[p], x, count, &stored, NULL));            \
      EXPECT(stored.min == 1 && stored.max == 7);                                               \
      EXPECT_OK(onefold_minmax_##suffix##_of(places[p], count, fill_##suffix, NULL, &made));    \
      EXPECT(made.min == 1 && made.max == 7);                                                   \
    }                                                                                           \
    MEAN_VARIANCE_##mean_type(suffix)                                                           \
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

/* The form of this name of arrays of 7 elements, which every sum and product of them fits, or wraps in; norm2 of one. */
#define WIDE(form, suffix, T, wide, R)                                                       \
  {                                                                                          \
    const T x[7] = NUMBERS_##suffix;                                                         \
    const uint64_t n = strcmp(#form, "norm2") == 0 ? 1 : 7;                                  \
    R got = 0, stored = 0;                                                                   \
    EXPECT_OK(onefold_##form##_##suffix##_as_##wide(places[p], x, n, &got));                 \
    EXPECT(got == (R)expected(#form, n));                                                    \
    EXPECT_OK(onefold_##form##_##suffix##_as_##wide##_into(places[p], x, n, &stored, NULL)); \
    EXPECT(stored == got);                                                                   \
  }
#define WIDE_DOT(suffix, T, wide, R)                                                       \
  {                                                                                        \
    const T x[7] = NUMBERS_##suffix;                                                       \
    R got = 0, stored = 0;                                                                 \
    EXPECT_OK(onefold_dot_##suffix##_as_##wide(places[p], x, x, 7, &got));                 \
    EXPECT_OK(onefold_dot_##suffix##_as_##wide##_into(places[p], x, x, 7, &stored, NULL)); \
    EXPECT(got == (R)140 && stored == got);                                                \
  }
#define WIDE_VARIANCE(suffix, T, wide, R)                                                            \
  {                                                                                                  \
    const T x[7] = NUMBERS_##suffix;                                                                 \
    onefold_mean_variance_result_f64 got, stored;                                                    \
    EXPECT_OK(onefold_mean_variance_##suffix##_as_##wide(places[p], x, 7, 0, &got));                 \
    EXPECT_OK(onefold_mean_variance_##suffix##_as_##wide##_into(places[p], x, 7, 0, &stored, NULL)); \
    EXPECT(got.mean == 4 && got.variance == 4 && stored.mean == 4 && stored.variance == 4);          \
  }

static void test_wide(int p) {
  ONEFOLD_C_WIDE_FORMS(WIDE)
  ONEFOLD_C_WIDE_TYPES(WIDE_DOT)
  ONEFOLD_C_WIDE_FLOATS(WIDE_VARIANCE)
  const float far[2] = {16777216, 1};
  const float ones[2] = {1, 1};
  double got = 0;
  EXPECT_OK(onefold_sum_f32_as_f64(places[p], far, 2, &got));
  EXPECT(got == 16777217);
  EXPECT_OK(onefold_dot_f32_as_f64(places[p], far, ones, 2, &got));
  EXPECT(got == 16777217);
  const int32_t most[2] = {INT32_MAX, INT32_MAX}, least[2] = {INT32_MIN, INT32_MIN};
  int64_t sum = 0;
  uint64_t sizes = 0;
  EXPECT_OK(onefold_sum_i32_as_i64(places[p], most, 2, &sum));
  EXPECT(sum == 2 * (int64_t)INT32_MAX);
  EXPECT_OK(onefold_prod_i32_as_i64(places[p], least, 2, &sum));
  EXPECT(sum == (int64_t)1 << 62);
  EXPECT_OK(onefold_norm1_i32_as_i64(places[p], least, 2, &sizes));
  EXPECT(sizes == (uint64_t)1 << 32);
  /* small integers in their own type, beyond its border */
  const int8_t beyond[2] = {INT8_MAX, 1};
  int8_t in_a_byte[3] = {5, 0, 5};
  uint8_t size = 0;
  EXPECT_OK(onefold_sum_i8_as_i8(places[p], beyond, 2, &in_a_byte[1]));
  EXPECT(in_a_byte[0] == 5 && in_a_byte[1] == INT8_MIN && in_a_byte[2] == 5);
  EXPECT_OK(onefold_norm1_i8_as_i8(places[p], beyond, 2, &size));
  EXPECT(size == 128);
  const uint16_t many[2] = {UINT16_MAX, UINT16_MAX};
  uint16_t in_two = 0;
  EXPECT_OK(onefold_dot_u16_as_u16(places[p], many, many, 2, &in_two));
  EXPECT(in_two == 2);
}

/* --- elements of 1 and 2 bytes */

/* The same of an array alone, for integers, whose sums have 64 bits. */
#define SMALL(form, suffix, T, R)                                                \
  {                                                                              \
    const uint64_t n = strcmp(#form, "prod") == 0 ? 7 : count;                   \
    const R want = (R)expected(#form, n);                                        \
    R got = 0, stored = 0;                                                       \
    EXPECT_OK(onefold_##form##_##suffix(places[p], x, n, &got));                 \
    EXPECT(got == want);                                                         \
    EXPECT_OK(onefold_##form##_##suffix##_into(places[p], x, n, &stored, NULL)); \
    EXPECT(stored == want);                                                      \
  }
#define SMALL_INTEGERS(suffix, T, total, total_magnitude, magnitude, of_magnitude) \
  static void test_##suffix(int p) {                                               \
    T x[count];                                                                    \
    for (int i = 0; i < count; ++i) x[i] = (T)(i % 7 + 1);                         \
    SMALL(sum, suffix, T, total)                                                   \
    SMALL(prod, suffix, T, total)                                                  \
    SMALL(min, suffix, T, T)                                                       \
    SMALL(max, suffix, T, T)                                                       \
    SMALL(sum_of_squares, suffix, T, total)                                        \
    SMALL(norm1, suffix, T, total_magnitude)                                       \
    SMALL(norm_inf, suffix, T, magnitude)                                          \
    SMALL(min_number, suffix, T, T)                                                \
    SMALL(max_number, suffix, T, T)                                                \
    SMALL(count, suffix, T, uint64_t)                                              \
    SMALL(all, suffix, T, uint8_t)                                                 \
    SMALL(any, suffix, T, uint8_t)                                                 \
    SMALL(none, suffix, T, uint8_t)                                                \
    SMALL(mean, suffix, T, double)                                                 \
    ONEFOLD_C_BIT_FORMS_OF(SMALL, suffix, T) {                                     \
      total dot = 0;                                                               \
      onefold_arg_result_##suffix least;                                           \
      onefold_arg_result_##of_magnitude largest;                                   \
      onefold_argminmax_result_##suffix both;                                      \
      onefold_minmax_result_##suffix extremes;                                     \
      onefold_mean_variance_result_f64 moments;                                    \
      EXPECT_OK(onefold_dot_##suffix(places[p], x, x, count, &dot));               \
      EXPECT(dot == (total)expected("dot", count));                                \
      EXPECT_OK(onefold_argmin_##suffix(places[p], x, count, &least));             \
      EXPECT(least.value == 1 && least.index == 0);                                \
      EXPECT_OK(onefold_argmax_magnitude_##suffix(places[p], x, count, &largest)); \
      EXPECT(largest.value == 7 && largest.index == 6);                            \
      EXPECT_OK(onefold_argminmax_##suffix(places[p], x, count, &both));           \
      EXPECT(both.min.value == 1 && both.min.index == 0);                          \
      EXPECT(both.max.value == 7 && both.max.index == 6);                          \
      EXPECT_OK(onefold_minmax_##suffix(places[p], x, count, &extremes));          \
      EXPECT(extremes.min == 1 && extremes.max == 7);                              \
      EXPECT_OK(onefold_mean_variance_##suffix(places[p], x, 7, 0, &moments));     \
      EXPECT(moments.mean == 4 && moments.variance == 4);                          \
    }                                                                              \
  }
SMALL_INTEGERS(i8, int8_t, int64_t, uint64_t, uint8_t, u8)
SMALL_INTEGERS(u8, uint8_t, uint64_t, uint64_t, uint8_t, u8)
SMALL_INTEGERS(i16, int16_t, int64_t, uint64_t, uint16_t, u16)
SMALL_INTEGERS(u16, uint16_t, uint64_t, uint64_t, uint16_t, u16)

#define SMALL_FLOATS(suffix)                                                      \
  static void test_##suffix(int p) {                                              \
    const onefold_##suffix x[7] = NUMBERS_##suffix;                               \
    const onefold_##suffix one = x[0], seven = x[6];                              \
    float sum = 0, dot = 0, norm = 0;                                             \
    onefold_##suffix least = {0}, largest = {0};                                  \
    onefold_argminmax_result_##suffix both;                                       \
    onefold_mean_variance_result_f32 moments;                                     \
    EXPECT_OK(onefold_sum_##suffix(places[p], x, 7, &sum));                       \
    EXPECT_OK(onefold_dot_##suffix(places[p], x, x, 7, &dot));                    \
    EXPECT_OK(onefold_norm2_##suffix(places[p], x, 1, &norm));                    \
    EXPECT(sum == 28 && dot == 140 && norm == 1);                                 \
    EXPECT_OK(onefold_min_##suffix(places[p], x, 7, &least));                     \
    EXPECT_OK(onefold_norm_inf_##suffix##_into(places[p], x, 7, &largest, NULL)); \
    EXPECT(least.bits == one.bits && largest.bits == seven.bits);                 \
    EXPECT_OK(onefold_argminmax_##suffix(places[p], x, 7, &both));                \
    EXPECT(both.min.value.bits == one.bits && both.min.index == 0);               \
    EXPECT(both.max.value.bits == seven.bits && both.max.index == 6);             \
    EXPECT_OK(onefold_mean_variance_##suffix(places[p], x, 7, 0, &moments));      \
    EXPECT(moments.mean == 4 && moments.variance == 4);                           \
  }
SMALL_FLOATS(f16)
SMALL_FLOATS(bf16)

/* Two arrays of all pairs of types with 1 .. 7 in them; f16 and bf16 as those of NUMBERS. */
static void test_mixed(int p) {
  static float f32[count];
  static double f64[count];
  static int32_t i32[count];
  static uint32_t u32[count];
  static int64_t i64[count];
  static uint64_t u64[count];
  static int8_t i8[count];
  static uint8_t u8[count];
  static int16_t i16[count];
  static uint16_t u16[count];
  static onefold_f16 f16[count];
  static onefold_bf16 bf16[count];
  static const onefold_f16 halves[7] = NUMBERS_f16;
  static const onefold_bf16 brains[7] = NUMBERS_bf16;
  const struct {
    int32_t type;
    const void* x;
  } arrays[] = {{ONEFOLD_F32, f32}, {ONEFOLD_F64, f64}, {ONEFOLD_I32, i32}, {ONEFOLD_U32, u32},
                {ONEFOLD_I64, i64}, {ONEFOLD_U64, u64}, {ONEFOLD_I8, i8},   {ONEFOLD_U8, u8},
                {ONEFOLD_I16, i16}, {ONEFOLD_U16, u16}, {ONEFOLD_F16, f16}, {ONEFOLD_BF16, bf16}};
  for (int i = 0; i < count; ++i) {
    const int number = i % 7 + 1;
    f32[i] = (float)number;
    f64[i] = number;
    i32[i] = number;
    u32[i] = (uint32_t)number;
    i64[i] = number;
    u64[i] = (uint64_t)number;
    i8[i] = (int8_t)number;
    u8[i] = (uint8_t)number;
    i16[i] = (int16_t)number;
    u16[i] = (uint16_t)number;
    f16[i] = halves[i % 7];
    bf16[i] = brains[i % 7];
  }
  for (int a = 0; a < 12; ++a)
    for (int b = 0; b < 12; ++b) {
      union {
        float f32;
        double f64;
        uint32_t u32;
        uint64_t u64;
      } got, stored;
      EXPECT_OK(onefold_mixed_dot(places[p], arrays[a].type, arrays[a].x, arrays[b].type, arrays[b].x, count, &got));
      EXPECT_OK(onefold_mixed_dot_into(places[p], arrays[a].type, arrays[a].x, arrays[b].type, arrays[b].x, count, &stored, NULL));
      const double want = expected("dot", count);
      switch (onefold_mixed_dot_type(arrays[a].type, arrays[b].type)) {
        case ONEFOLD_F32:
          EXPECT(got.f32 == (float)want && stored.f32 == got.f32);
          break;
        case ONEFOLD_F64:
          EXPECT(got.f64 == want && stored.f64 == want);
          break;
        case ONEFOLD_I32:
        case ONEFOLD_U32:
          EXPECT(got.u32 == (uint32_t)want && stored.u32 == got.u32);
          break;
        default:
          EXPECT(got.u64 == (uint64_t)want && stored.u64 == got.u64);
      }
    }
  float result = 0;
  EXPECT_REFUSED(onefold_mixed_dot(places[p], ONEFOLD_F32, f32, ONEFOLD_C64, f64, 8, &result), ONEFOLD_UNSUPPORTED, "two types");
  EXPECT_REFUSED(onefold_mixed_dot(places[p], ONEFOLD_F32, f32, INT32_MAX, f64, 8, &result), ONEFOLD_INVALID_ARGUMENT, "2147483647");
  onefold_c64 numbers[2] = {{1, 2}, {3, 4}}, product = {0, 0};
  const onefold_request one_type = {.struct_bytes = sizeof one_type,
                                    .where = places[p],
                                    .type = ONEFOLD_C64,
                                    .form = ONEFOLD_DOT,
                                    .input = numbers,
                                    .second = numbers,
                                    .count = 2,
                                    .output = &product,
                                    .second_type = ONEFOLD_C64 + 1};
  EXPECT_REFUSED(onefold_reduce(&one_type, NULL), ONEFOLD_UNSUPPORTED, "two types");
  EXPECT_REFUSED(onefold_reduce_batch(&one_type, 1, NULL), ONEFOLD_UNSUPPORTED, "two types");
  EXPECT_REFUSED(onefold_mixed_dot(places[p], ONEFOLD_F32, f32, ONEFOLD_I8, i8, 8, f32), ONEFOLD_INVALID_ARGUMENT, "inside");
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
#define CALL(suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type) test_##suffix(p);
    ONEFOLD_C_TYPES(CALL)
    ONEFOLD_C_SMALL_TYPES(CALL)
#define CALL_BITS(suffix, T) test_bits_##suffix(p);
    ONEFOLD_C_INTEGERS(CALL_BITS)
    test_wide(p);
    test_mixed(p);
  }
}
