/* exact.c  guarantee exact: states of parts, added as words, and what is refused. */

#include "check.h"

enum { count = 3999 };

/* Every third value is there. */
static int fill_thirds(void* context, uint64_t first, uint64_t how_many, void* const* values) {
  (void)context;
  double* const to = values[0];
  for (uint64_t i = 0; i < how_many; ++i) to[i] = (first + i) % 3 == 0 ? 6 : -0.0;
  return 0;
}
static uint64_t a_third(void* context) { return *(const uint64_t*)context / 3; }

static onefold_request request_of(onefold_executor where, int32_t type, int32_t form, uint64_t how_many, void* output) {
  onefold_request what;
  memset(&what, 0, sizeof what);
  what.struct_bytes = sizeof what;
  what.where = where;
  what.type = type;
  what.form = form;
  what.count = how_many;
  what.output = output;
  return what;
}

static void test_on(onefold_executor where) {
  static double x[count];
  for (int i = 0; i < count; ++i) x[i] = i % 3 == 0 ? 1e300 : i % 3 == 1 ? -1e300 : (i % 7) * 1e-300;
  const size_t words = onefold_exact_words(ONEFOLD_F64, ONEFOLD_SUM);
  EXPECT(words == 76);
  int64_t whole[76], parts[2][76], sum[76];
  double result = 0, of_parts = 0;
  onefold_options how;
  memset(&how, 0, sizeof how);
  how.struct_bytes = sizeof how;
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  onefold_request what = request_of(where, ONEFOLD_F64, ONEFOLD_SUM, count, &result);
  what.input = x;
  what.exact_state = whole;
  EXPECT_OK(onefold_reduce(&what, &how));
  EXPECT(result > 1e-300 && result < 1e-296); /* what is left when the others have cancelled */
  what.output = &of_parts;
  what.count = count / 3;
  what.exact_state = parts[0];
  EXPECT_OK(onefold_reduce(&what, &how));
  what.input = x + count / 3;
  what.count = count - count / 3;
  what.exact_state = parts[1];
  EXPECT_OK(onefold_reduce(&what, &how));
  for (size_t i = 0; i < words; ++i) sum[i] = parts[0][i] + parts[1][i]; /* as MPI_SUM does */
  EXPECT_OK(onefold_exact_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, sum, &of_parts));
  EXPECT(memcmp(&result, &of_parts, sizeof result) == 0);
  EXPECT_OK(onefold_exact_add(ONEFOLD_F64, ONEFOLD_SUM, sum, NULL));
  EXPECT_REFUSED(onefold_exact_add(ONEFOLD_F64, ONEFOLD_SUM, (int64_t*)(void*)((char*)sum + 1), NULL), ONEFOLD_MISALIGNED_POINTER,
                 "state");
  EXPECT_REFUSED(onefold_exact_add(ONEFOLD_F64, ONEFOLD_SUM, sum, (const int64_t*)(const void*)((const char*)whole + 4)),
                 ONEFOLD_MISALIGNED_POINTER, "state");
  what.exact_state = (int64_t*)(void*)((char*)sum + 1);
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_MISALIGNED_POINTER, "state");
  what.exact_state = parts[1];
  EXPECT(memcmp(sum, whole, sizeof sum) == 0);
  EXPECT_OK(onefold_exact_add(ONEFOLD_F64, ONEFOLD_SUM, parts[0], parts[1]));
  EXPECT(memcmp(parts[0], whole, sizeof whole) == 0);
  uint64_t n = 0;
  EXPECT_OK(onefold_exact_count(ONEFOLD_F64, ONEFOLD_SUM, whole, &n));
  EXPECT(n == count);
  memset(sum, 0, sizeof sum);
  EXPECT_OK(onefold_exact_add(ONEFOLD_F64, ONEFOLD_SUM, sum, whole));
  EXPECT(memcmp(sum, whole, sizeof sum) == 0);
  const onefold_range_part turned[] = {{where, x + count / 3, NULL, count - count / 3}, {onefold_serial(), x, NULL, count / 3}};
  memset(sum, 0, sizeof sum);
  EXPECT_REFUSED(onefold_exact_add_parts(ONEFOLD_F64, ONEFOLD_SUM, sum, NULL, 2, NULL), ONEFOLD_NULL_POINTER, "parts");
  EXPECT_REFUSED(onefold_exact_add_parts(ONEFOLD_F64, ONEFOLD_PROD, sum, turned, 2, NULL), ONEFOLD_UNSUPPORTED, "no exact state");
  EXPECT_OK(onefold_exact_add_parts(ONEFOLD_F64, ONEFOLD_SUM, sum, turned, 2, NULL));
  EXPECT(memcmp(sum, whole, sizeof sum) == 0);
  EXPECT_OK(onefold_exact_add_parts(ONEFOLD_F64, ONEFOLD_SUM, sum, NULL, 0, NULL));
  EXPECT(memcmp(sum, whole, sizeof sum) == 0);
  sum[0] += 1;
  EXPECT_REFUSED(onefold_exact_add_parts(ONEFOLD_F64, ONEFOLD_SUM, sum, NULL, 0, NULL), ONEFOLD_INVALID_ARGUMENT, "no state");

  double stored[2] = {-7, -7};
  void* const outputs[] = {&stored[0], &stored[1]};
  EXPECT_REFUSED(onefold_exact_put_parts(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, turned, 2, outputs, NULL), ONEFOLD_UNSUPPORTED, "cuda");
  EXPECT_REFUSED(onefold_exact_put_parts(ONEFOLD_F64, ONEFOLD_PROD, 0, 0, turned, 2, outputs, NULL), ONEFOLD_UNSUPPORTED, "no exact state");
  EXPECT_REFUSED(onefold_exact_put_parts(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, NULL, 2, outputs, NULL), ONEFOLD_NULL_POINTER, "parts");
  EXPECT_REFUSED(onefold_exact_put_parts(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, turned, 2, NULL, NULL), ONEFOLD_NULL_POINTER, "outputs");
  EXPECT_OK(onefold_exact_put_parts(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, NULL, 0, NULL, NULL));
  EXPECT(stored[0] == -7 && stored[1] == -7);

  /* On CPUs done on return. */
  memset(sum, 7, sizeof sum);
  EXPECT_OK(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, x, NULL, count, sum, NULL));
  EXPECT(memcmp(sum, whole, sizeof sum) == 0);
  memset(sum, 7, sizeof sum);
  how.guarantee = ONEFOLD_GUARANTEE_FIXED; /* which it meets */
  EXPECT_OK(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, onefold_best(), x, NULL, count, sum, &how));
  how.guarantee = 99;
  EXPECT_REFUSED(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, x, NULL, count, parts[0], &how), ONEFOLD_INVALID_ARGUMENT,
                 "guarantee");
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  EXPECT(memcmp(sum, whole, sizeof sum) == 0);
  onefold_request made_values;
  memset(&made_values, 0, sizeof made_values);
  made_values.struct_bytes = sizeof made_values;
  made_values.where = where;
  made_values.type = ONEFOLD_F64;
  made_values.form = ONEFOLD_SUM;
  made_values.count = count;
  EXPECT_REFUSED(onefold_exact_put_words_of(&made_values, sum, NULL), ONEFOLD_UNSUPPORTED, "compiled with onefold/device.cuh");
  EXPECT_REFUSED(onefold_exact_put_words_of(NULL, sum, NULL), ONEFOLD_NULL_POINTER, "request");
  EXPECT_REFUSED(onefold_exact_put_words_of(&made_values, NULL, NULL), ONEFOLD_NULL_POINTER, "state");
  made_values.form = ONEFOLD_PROD;
  EXPECT_REFUSED(onefold_exact_put_words_of(&made_values, sum, NULL), ONEFOLD_UNSUPPORTED, "no exact state");
  of_parts = 0;
  EXPECT_OK(onefold_exact_put_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, where, sum, &of_parts));
  EXPECT(memcmp(&result, &of_parts, sizeof result) == 0);
  EXPECT_REFUSED(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_PROD, where, x, NULL, count, sum, NULL), ONEFOLD_UNSUPPORTED,
                 "no exact state");
  EXPECT_REFUSED(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, x, NULL, count, NULL, NULL), ONEFOLD_NULL_POINTER,
                 "state");
  /* A rank that fails, and sends its words: they are no state, and no sum of theirs with other ranks' is one. */
  EXPECT_REFUSED(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, NULL, NULL, count, sum, NULL), ONEFOLD_NULL_POINTER,
                 "input");
  EXPECT_REFUSED(onefold_exact_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, sum, &of_parts), ONEFOLD_INVALID_ARGUMENT, "no state");
  for (size_t i = 0; i < sizeof sum / sizeof *sum; ++i) sum[i] += 3 * whole[i];
  EXPECT_REFUSED(onefold_exact_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, sum, &of_parts), ONEFOLD_INVALID_ARGUMENT, "no state");
  EXPECT_OK(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, x, NULL, count, sum, NULL));
  EXPECT_REFUSED(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, x, NULL, count, (int64_t*)(void*)(x + 9), NULL),
                 ONEFOLD_INVALID_ARGUMENT, "inside the input");
  EXPECT_REFUSED(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, x, NULL, UINT64_MAX, sum, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "negative");
  EXPECT_REFUSED(onefold_exact_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, sum, &of_parts), ONEFOLD_INVALID_ARGUMENT, "no state");
  EXPECT_OK(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_SUM, where, x, NULL, count, sum, NULL));
  EXPECT_REFUSED(onefold_exact_put_result(ONEFOLD_F64, ONEFOLD_SUM, ONEFOLD_WIDE, 0, where, sum, &of_parts), ONEFOLD_UNSUPPORTED,
                 "flags");
  EXPECT_REFUSED(onefold_exact_put_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, where, sum, sum + 3), ONEFOLD_INVALID_ARGUMENT,
                 "inside the state");
  EXPECT(memcmp(sum, whole, sizeof sum) == 0);
  sum[8] += 1;
  EXPECT_REFUSED(onefold_exact_put_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, where, sum, &of_parts), ONEFOLD_INVALID_ARGUMENT,
                 "no state");

  how.guarantee = ONEFOLD_GUARANTEE_FIXED;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_GUARANTEE_NOT_MET, "no state that is exact");

  /* Values of a function, of which the others are absent. */
  uint64_t all = count;
  const onefold_value_source thirds = {&all, fill_thirds};
  onefold_mean_variance_result_f64 moments = {0, 1};
  onefold_request of_values = request_of(where, ONEFOLD_F64, ONEFOLD_MEAN_VARIANCE, count, &moments);
  of_values.source = &thirds;
  of_values.present = a_third;
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  EXPECT_OK(onefold_reduce(&of_values, &how));
  EXPECT(moments.mean == 6 && moments.variance == 0);
  of_values.present = NULL;
  EXPECT_OK(onefold_reduce(&of_values, &how));
  EXPECT(moments.mean == 2 && moments.variance == 8);
  /* Of other forms it is not asked. */
  double least = 0;
  of_values = request_of(where, ONEFOLD_F64, ONEFOLD_MAX, count, &least);
  uint64_t none = 0;
  const onefold_value_source of_none = {&none, fill_thirds};
  of_values.source = &of_none;
  of_values.present = a_third;
  EXPECT_OK(onefold_reduce(&of_values, NULL));
  EXPECT(least == 6);

  /* Integers have the states of doubles. */
  const int64_t longest[] = {INT64_MAX, INT64_MAX, INT64_MAX - 6};
  int64_t of_integers[210];
  onefold_request of_longest = request_of(where, ONEFOLD_I64, ONEFOLD_MEAN_VARIANCE, 3, &moments);
  of_longest.input = longest;
  of_longest.exact_state = of_integers;
  EXPECT_OK(onefold_reduce(&of_longest, &how));
  EXPECT(moments.mean == 0x1p63 && moments.variance == 8);
  EXPECT(onefold_exact_words(ONEFOLD_I64, ONEFOLD_MEAN_VARIANCE) == 210);
  EXPECT_OK(onefold_exact_result(ONEFOLD_F64, ONEFOLD_MEAN_VARIANCE, 0, 1, of_integers, &moments));
  EXPECT(moments.variance == 12);

  /* Complex numbers have the states of their parts, where exact ones are asked for. */
  double two[2];
  int64_t room[400];
  what.type = ONEFOLD_C128;
  what.count = 4;
  what.input = x;
  what.second = x;
  what.output = two;
  what.exact_state = room;
  what.form = ONEFOLD_SUM;
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  EXPECT_OK(onefold_reduce(&what, &how));
  what.form = ONEFOLD_DOT;
  EXPECT_OK(onefold_reduce(&what, &how));
  double imaginary = 1;
  EXPECT_OK(onefold_exact_count(ONEFOLD_F64, ONEFOLD_DOT, room, &n));
  EXPECT(n == 8); /* products of either part, two of each pair */
  EXPECT_OK(onefold_exact_result(ONEFOLD_F64, ONEFOLD_DOT, 0, 0, room + 142, &imaginary));
  EXPECT(two[0] > 0 && imaginary == 0 && two[1] == 0); /* of an array with itself */
  EXPECT_OK(onefold_exact_count(ONEFOLD_C128, ONEFOLD_DOT, room, &n));
  EXPECT(n == 4 && onefold_exact_words(ONEFOLD_C128, ONEFOLD_DOT) == 284 && onefold_exact_words(ONEFOLD_C64, ONEFOLD_NORM2) == 28);
  EXPECT(onefold_exact_words(ONEFOLD_C128, ONEFOLD_NORM1) == 0);
  int64_t pairs[284];
  double twice[2] = {0, 1};
  const onefold_range_part halves[2] = {{where, x + 2, x + 2, 3}, {where, x, x, 1}};
  memset(pairs, 0, sizeof pairs);
  EXPECT_OK(onefold_exact_add_parts(ONEFOLD_C128, ONEFOLD_DOT, pairs, halves, 2, NULL));
  EXPECT(memcmp(pairs, room, sizeof pairs) == 0);
  EXPECT_OK(onefold_exact_add(ONEFOLD_C128, ONEFOLD_DOT, pairs, room));
  EXPECT_OK(onefold_exact_result(ONEFOLD_C128, ONEFOLD_DOT, 0, 0, pairs, twice));
  EXPECT(twice[0] == 2 * two[0] && twice[1] == 0);
  EXPECT_REFUSED(onefold_exact_add(ONEFOLD_C128, ONEFOLD_NORM1, pairs, room), ONEFOLD_UNSUPPORTED, "this form of complex numbers");
  int64_t put[300];
  double both[2] = {0, 1};
  memset(put, 7, sizeof put);
  EXPECT_OK(onefold_exact_put_words(ONEFOLD_C128, ONEFOLD_DOT, where, x, x, 4, put, NULL));
  EXPECT(memcmp(put, room, sizeof(int64_t) * 284) == 0 && put[284] == put[299]);
  EXPECT_OK(onefold_exact_put_result(ONEFOLD_C128, ONEFOLD_DOT, 0, 0, where, put, both));
  EXPECT(memcmp(both, two, sizeof both) == 0);
  EXPECT_REFUSED(onefold_exact_put_result(ONEFOLD_C128, ONEFOLD_SUM, ONEFOLD_WIDE, 0, where, put, both), ONEFOLD_UNSUPPORTED,
                 "flags");
  const onefold_c64 floats[2] = {{0x1p24F, 1}, {1, 2}};
  int64_t of_floats[38];
  double wide[2] = {0, 0};
  EXPECT_OK(onefold_exact_put_words(ONEFOLD_C64, ONEFOLD_SUM, where, floats, NULL, 2, of_floats, NULL));
  EXPECT_OK(onefold_exact_put_result(ONEFOLD_C64, ONEFOLD_SUM, ONEFOLD_WIDE, 0, where, of_floats, wide));
  EXPECT(wide[0] == 0x1p24 + 1 && wide[1] == 3);
  EXPECT_REFUSED(onefold_exact_put_result(ONEFOLD_C128, ONEFOLD_DOT, 0, 0, where, put, put + 283), ONEFOLD_INVALID_ARGUMENT,
                 "inside the state");
  EXPECT_REFUSED(onefold_exact_put_words(ONEFOLD_C128, ONEFOLD_NORM1, where, x, NULL, 4, put, NULL), ONEFOLD_UNSUPPORTED,
                 "this form of complex numbers");
  put[150] += 1; /* of the imaginary part: neither is stored */
  EXPECT_REFUSED(onefold_exact_put_result(ONEFOLD_C128, ONEFOLD_DOT, 0, 0, where, put, both), ONEFOLD_INVALID_ARGUMENT, "no state");
  EXPECT(memcmp(both, two, sizeof both) == 0);
  what.form = ONEFOLD_NORM1;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_GUARANTEE_NOT_MET, "exact_state of complex numbers");
  how.guarantee = ONEFOLD_GUARANTEE_FIXED;
  what.form = ONEFOLD_SUM;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_GUARANTEE_NOT_MET, "exact_state of complex numbers");
}

void test_exact(void) {
  test_on(onefold_serial());
  onefold_backend_info openmp = {.struct_bytes = sizeof openmp};
  EXPECT_OK(onefold_describe_backend(ONEFOLD_OPENMP, &openmp, NULL, 0));
  if (openmp.built) test_on(onefold_openmp(0));
  int64_t state[76];
  double result = 0;
  uint64_t n = 0;
  memset(state, 0, sizeof state);
  EXPECT_OK(onefold_exact_result(ONEFOLD_F64, ONEFOLD_MEAN, 0, 0, state, &result));
  EXPECT(result != result);
  EXPECT(onefold_exact_words(ONEFOLD_F64, ONEFOLD_PROD) == 0 && onefold_exact_words(ONEFOLD_I32, ONEFOLD_SUM) == 0);
  EXPECT(onefold_exact_words(-1, ONEFOLD_SUM) == 0 && onefold_exact_words(ONEFOLD_F32, 99) == 0);
  EXPECT_REFUSED(onefold_exact_add(ONEFOLD_F64, ONEFOLD_PROD, state, NULL), ONEFOLD_UNSUPPORTED, "no exact state");
  EXPECT_REFUSED(onefold_exact_add(ONEFOLD_F64, ONEFOLD_SUM, NULL, NULL), ONEFOLD_NULL_POINTER, "state");
  EXPECT_REFUSED(onefold_exact_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, NULL, &result), ONEFOLD_NULL_POINTER, "state");
  EXPECT_REFUSED(onefold_exact_result(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, state, NULL), ONEFOLD_NULL_POINTER, "result");
  EXPECT_REFUSED(onefold_exact_result(ONEFOLD_F64, ONEFOLD_SUM, ONEFOLD_WIDE, 0, state, &result), ONEFOLD_UNSUPPORTED, "flags");
  EXPECT_REFUSED(onefold_exact_count(ONEFOLD_F64, ONEFOLD_SUM, state, NULL), ONEFOLD_NULL_POINTER, "count");
  state[9] = 1;
  EXPECT_REFUSED(onefold_exact_count(ONEFOLD_F64, ONEFOLD_SUM, state, &n), ONEFOLD_INVALID_ARGUMENT, "no state");
}
