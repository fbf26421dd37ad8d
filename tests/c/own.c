/* own.c  Several results in one read, values of a function and operators of the caller's, through the erased call. */

#include "check.h"

enum { count = 5000 };

/* Two results of each index: i, and its square. */
static int pairs(void* context, uint64_t first, uint64_t n, void* const* values) {
  double* const a = values[0];
  double* const b = values[1];
  (void)context;
  for (uint64_t i = 0; i < n; ++i) {
    a[i] = (double)(first + i);
    b[i] = (double)((first + i) * (first + i));
  }
  return 0;
}

/* The operator of an exclusive or, on 8-byte words: associative, so that its groups need no order. */
static uint64_t word(uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15u; }

static const uint64_t group_elements = 16 * 16 * 32; /* tiles, rows, lanes of 8 bytes */

static int groups(void* context, uint64_t first, uint64_t n, void* states) {
  uint64_t* to = states;
  if (context != NULL) return 1;
  for (uint64_t i = 0; i < n; ++i) {
    if (i % group_elements == 0) to[i / group_elements] = 0;
    to[i / group_elements] ^= word(first + i);
  }
  return 0;
}

static int level(void* context, void* states, uint64_t n) {
  uint64_t* of = states;
  (void)context;
  for (uint64_t i = 0; i < n; i += 2) of[i / 2] = i + 1 < n ? of[i] ^ of[i + 1] : of[i];
  return 0;
}

static int conclude(void* context, const void* state, uint64_t n, void* result) {
  (void)context;
  (void)n;
  *(uint64_t*)result = state == NULL ? 0 : *(const uint64_t*)state;
  return 0;
}

static void test_on(onefold_executor where) {
  double x[count];
  for (int i = 0; i < count; ++i) x[i] = (double)(i % 9 - 4);
  const uint8_t operators[3] = {ONEFOLD_OP_MAX, ONEFOLD_OP_SUM, ONEFOLD_OP_MIN};
  double three[3] = {0, 0, 0}, two[2] = {0, 0}, alone = 0;
  onefold_request what = {.struct_bytes = sizeof what,
                          .where = where,
                          .type = ONEFOLD_F64,
                          .form = ONEFOLD_REDUCE_TOGETHER,
                          .input = x,
                          .count = count,
                          .output = three,
                          .results = 3,
                          .operators = operators};
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT_OK(onefold_sum_f64(where, x, count, &alone));
  EXPECT(three[0] == 4 && three[1] == alone && three[2] == -4);

  const onefold_value_source source = {NULL, pairs};
  what.input = NULL;
  what.source = &source;
  what.form = ONEFOLD_SUM;
  what.results = 2;
  what.operators = NULL;
  what.output = two;
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(two[0] == 12497500 && two[1] == 41654167500.0);

  what.input = x;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "give one of them");
  what.input = NULL;
  what.type = ONEFOLD_C128;
  what.results = 1;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_UNSUPPORTED, "a function gives real numbers of 4 or 8 bytes, not c128");
  what.type = ONEFOLD_F64;

  uint64_t expected = 0, got = 0;
  for (uint64_t i = 0; i < 100000; ++i) expected ^= word(i);
  onefold_own_code own = {NULL, 8, 8, 8, groups, level, conclude};
  what.source = NULL;
  what.own = &own;
  what.results = 0;
  what.count = 100000;
  what.output = &got;
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(got == expected);
  what.count = 0;
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(got == 0);
  what.count = 100000;
  for (int32_t type = -1; type <= 99; type += type < 14 ? 1 : 85) { /* type and form say nothing here */
    what.type = type;
    what.form = type == 2 ? 1000 : type == 3 ? -1 : type == ONEFOLD_C64 ? ONEFOLD_MAX : type % 2 == 0 ? ONEFOLD_SUM : ONEFOLD_BIT_AND;
    got = 0;
    EXPECT_OK(onefold_reduce(&what, NULL));
    EXPECT(got == expected);
  }
  what.type = ONEFOLD_F64;
  what.form = ONEFOLD_SUM;
  own.context = &own;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_CALLBACK_FAILED, "");
  own.context = NULL;
  what.input = x;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "give one of them");
  what.input = NULL;
  what.source = &source;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "give one of them");
  what.source = NULL;
  own.level = NULL;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_NULL_POINTER, "operator");
  own.level = level;
  own.state_bytes = 1025;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "state_bytes");
  own.state_bytes = 8;
  own.value_bytes = 65;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "value_bytes");
}

void test_own(void) {
  onefold_backend_info openmp = {.struct_bytes = sizeof openmp};
  test_on(onefold_serial());
  EXPECT_OK(onefold_describe_backend(ONEFOLD_OPENMP, &openmp, NULL, 0));
  if (openmp.built) test_on(onefold_openmp(0));
}
