/* own_range.c  States of ranges of values that are reduced with an operator of the caller's: a code merges them over a transport of its own. */

#include "check.h"

enum { count = 9000, cut = 1777 };

/* Points and their distance from the origin, of which the one that is farther away is kept, and of two at one distance the earlier. */
typedef struct point {
  double x, y;
  uint64_t id;
} point;

static double distance(const point* of) { return of->x * of->x + of->y * of->y; }

static int farther(void* context, void* a, const void* b, uint64_t n) {
  point* mine = a;
  const point* others = b;
  if (context != NULL) return 5;
  for (uint64_t i = 0; i < n; ++i) {
    const double here = distance(mine + i), there = distance(others + i);
    if (there > here || (there == here && others[i].id < mine[i].id)) mine[i] = others[i];
  }
  return 0;
}

/* Sums of floats, whose bits depend on the order. */
static int add(void* context, void* a, const void* b, uint64_t n) {
  float* to = a;
  const float* from = b;
  uint64_t* const called = context;
  if (called != NULL) ++*called;
  for (uint64_t i = 0; i < n; ++i) to[i] += from[i];
  return 0;
}

static point points[count];
static float floats[count];

/* Of the elements behind *context; where values may be absent every third one is. */
static int give_floats(void* context, uint64_t first, uint64_t n, void* const* values) {
  const float* from = (const float*)context + first;
  unsigned char* present = values[1];
  memcpy(values[0], from, n * sizeof *from);
  if (present != NULL)
    for (uint64_t i = 0; i < n; ++i) present[i] = (from + i - floats) % 3 == 0 ? 0 : 1;
  return 0;
}
static int give_none_there(void* context, uint64_t first, uint64_t n, void* const* values) {
  (void)context, (void)first;
  memset(values[0], 255, n * sizeof(float));
  memset(values[1], 0, n);
  return 0;
}
static int give_nothing(void* context, uint64_t first, uint64_t n, void* const* values) {
  (void)context, (void)first, (void)n, (void)values;
  return 3;
}

static const onefold_own_operator farthest = {sizeof farthest, NULL, sizeof(point), 0, farther};
static const onefold_own_operator sums = {sizeof sums, NULL, sizeof(float), 0, add};
static const onefold_own_operator some_sums = {sizeof some_sums, NULL, sizeof(float), 1, add};

/* Each rank's part, sent as bytes and put together by whoever gets them, in any association. */
static void test_ranks_on(onefold_executor where) {
  static const uint64_t borders[] = {0, 1, 128, 128, cut, 6000, 8192, count};
  enum { ranks = sizeof borders / sizeof borders[0] - 1 };
  static unsigned char bytes[ranks][20000];
  size_t sizes[ranks];
  onefold_range *all = NULL, *received = NULL, *right = NULL, *at_once = NULL;
  point last, of_all, expected = points[0];
  for (int i = 1; i < count; ++i) farther(NULL, &expected, points + i, 1);
  for (int r = 0; r < ranks; ++r) {
    onefold_range* mine = NULL;
    EXPECT_OK(onefold_range_create_own(&farthest, borders[r], &mine));
    EXPECT_OK(onefold_range_add(mine, where, points + borders[r], NULL, borders[r + 1] - borders[r], NULL));
    EXPECT(onefold_range_begin(mine) == borders[r] && onefold_range_end(mine) == borders[r + 1]);
    sizes[r] = onefold_range_bytes(mine);
    EXPECT(sizes[r] >= 40 && sizes[r] <= sizeof bytes[r]);
    EXPECT_OK(onefold_range_write(mine, bytes[r], sizes[r]));
    onefold_range_destroy(mine);
  }
  EXPECT_OK(onefold_range_create_own(&farthest, 0, &all));
  EXPECT_OK(onefold_range_create_own(&farthest, 0, &received));
  EXPECT_OK(onefold_range_create_own(&farthest, borders[4], &right));
  for (int r = 4; r < ranks; ++r) {
    EXPECT_OK(onefold_range_read(received, bytes[r], sizes[r]));
    EXPECT_OK(onefold_range_append(right, received));
  }
  for (int r = 0; r < 4; ++r) {
    EXPECT_OK(onefold_range_read(received, bytes[r], sizes[r]));
    EXPECT_OK(onefold_range_append(all, received));
  }
  EXPECT_OK(onefold_range_append(all, right));
  EXPECT_OK(onefold_range_result(all, 0, &of_all));
  EXPECT(memcmp(&of_all, &expected, sizeof expected) == 0);

  static unsigned char put_together[20000], in_one[20000];
  EXPECT_OK(onefold_range_create_own(&farthest, 0, &at_once));
  const onefold_range_part parts[] = {{where, points, NULL, 4000}, {onefold_serial(), points + 4000, NULL, count - 4000}};
  EXPECT_OK(onefold_range_add_parts(at_once, parts, 2, NULL));
  EXPECT_OK(onefold_range_result(at_once, 0, &last));
  EXPECT(memcmp(&last, &expected, sizeof expected) == 0);
  EXPECT(onefold_range_bytes(all) == onefold_range_bytes(at_once));
  EXPECT_OK(onefold_range_write(all, put_together, onefold_range_bytes(all)));
  EXPECT_OK(onefold_range_write(at_once, in_one, onefold_range_bytes(all)));
  EXPECT(memcmp(put_together, in_one, onefold_range_bytes(all)) == 0);
  onefold_range_destroy(at_once);
  onefold_range_destroy(right);
  onefold_range_destroy(received);
  onefold_range_destroy(all);
}

/* A sum is that of the library, and of values that are there that of the others in their places. */
static void test_sums_on(onefold_executor where) {
  for (uint64_t first = 0; first <= 1100; first += 275) {
    float expected = 0, got = 0;
    onefold_range *left = NULL, *right = NULL;
    const onefold_value_source begin = {floats, give_floats}, rest = {floats + first, give_floats};
    EXPECT_OK(onefold_sum_f32(where, floats, count, &expected));
    EXPECT_OK(onefold_range_create_own(&sums, 0, &left));
    EXPECT_OK(onefold_range_create_own(&sums, first, &right));
    EXPECT_OK(onefold_range_add_values(left, where, &begin, first, NULL));
    EXPECT_OK(onefold_range_add_values(right, where, &rest, count - first, NULL));
    EXPECT_OK(onefold_range_append(left, right));
    EXPECT_OK(onefold_range_result(left, 0, &got));
    EXPECT(memcmp(&got, &expected, sizeof got) == 0);
    onefold_range_destroy(right);
    onefold_range_destroy(left);
  }
  /* Absent ones as -0, which changes no sum. */
  static float without[count];
  for (int i = 0; i < count; ++i) without[i] = i % 3 == 0 ? -0.0f : floats[i];
  float expected = 0, got = 0;
  EXPECT_OK(onefold_sum_f32(where, without, count, &expected));
  onefold_range *made = NULL, *next = NULL;
  const onefold_value_source begin = {floats, give_floats}, rest = {floats + cut, give_floats}, none = {NULL, give_none_there};
  EXPECT_OK(onefold_range_create_own(&some_sums, 0, &made));
  EXPECT_OK(onefold_range_create_own(&some_sums, cut, &next));
  EXPECT_OK(onefold_range_add_values(made, where, &begin, cut, NULL));
  EXPECT_OK(onefold_range_add_values(next, where, &rest, count - cut, NULL));
  EXPECT_OK(onefold_range_append(made, next));
  EXPECT_OK(onefold_range_add_values(made, where, &none, 5000, NULL));
  EXPECT_OK(onefold_range_result(made, 0, &got));
  EXPECT(memcmp(&got, &expected, sizeof got) == 0);
  onefold_range_destroy(next);
  onefold_range_destroy(made);
  made = NULL;
  EXPECT_OK(onefold_range_create_own(&some_sums, 0, &made));
  EXPECT_OK(onefold_range_add_values(made, where, &none, 5000, NULL));
  EXPECT(onefold_range_end(made) == 5000);
  EXPECT_REFUSED(onefold_range_result(made, 0, &got), ONEFOLD_INVALID_ARGUMENT, "no value is there");
  EXPECT_OK(onefold_range_add(made, where, floats, NULL, 1, NULL)); /* those of arrays are all there */
  EXPECT_OK(onefold_range_result(made, 0, &got));
  EXPECT(got == floats[0]);
  onefold_range_destroy(made);
}

/* The bytes of docs/order.md. */
static void test_bytes(void) {
  static const unsigned char header[32] = {0x6f, 0x6e, 0x65, 0x66, 0x6f, 0x6c, 0x64, 0, 1, 0, 255, 255, 1, 4, 0, 0,
                                           3,    0,    0,    0,    0,    0,    0,    0, 6, 0, 0,   0,   0, 0, 0, 0};
  unsigned char bytes[100], again[100];
  onefold_range* made = NULL;
  const onefold_value_source three = {floats + 2, give_floats}; /* floats[3] is absent */
  EXPECT_OK(onefold_range_create_own(&some_sums, 3, &made));
  EXPECT_OK(onefold_range_add_values(made, onefold_serial(), &three, 3, NULL));
  EXPECT(onefold_range_bytes(made) == 32 + 3 * 5 + 8);
  EXPECT_OK(onefold_range_write(made, bytes, 55));
  EXPECT(memcmp(bytes, header, sizeof header) == 0);
  EXPECT(bytes[32] == 1 && memcmp(bytes + 33, floats + 2, 4) == 0);
  EXPECT(bytes[37] == 0 && bytes[38] == 0 && bytes[41] == 0);
  EXPECT(bytes[42] == 1 && memcmp(bytes + 43, floats + 4, 4) == 0);
  uint64_t hash = 14695981039346656037u, written;
  for (int i = 0; i < 47; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  memcpy(&written, bytes + 47, 8);
  EXPECT(written == hash);
  for (size_t i = 0; i < 55; ++i) {
    bytes[i] ^= 2;
    EXPECT_REFUSED(onefold_range_read(made, bytes, 55), ONEFOLD_INVALID_ARGUMENT, "");
    bytes[i] ^= 2;
    EXPECT_REFUSED(onefold_range_read(made, bytes, i), ONEFOLD_INVALID_ARGUMENT, "");
  }
  /* A flag that is none, and an absent value that has bytes, under a right checksum. */
  for (int i = 32; i <= 38; i += 6) {
    bytes[i] ^= 2;
    hash = 14695981039346656037u;
    for (int k = 0; k < 47; ++k) hash = (hash ^ bytes[k]) * 1099511628211u;
    memcpy(bytes + 47, &hash, 8);
    EXPECT_REFUSED(onefold_range_read(made, bytes, 55), ONEFOLD_INVALID_ARGUMENT, "damaged");
    bytes[i] ^= 2;
  }
  memcpy(bytes + 47, &written, 8);
  EXPECT_OK(onefold_range_read(made, bytes, 55));
  EXPECT_OK(onefold_range_write(made, again, 55));
  EXPECT(memcmp(bytes, again, 55) == 0);
  onefold_range* other = NULL;
  EXPECT_OK(onefold_range_create_own(&sums, 0, &other));
  EXPECT_REFUSED(onefold_range_read(other, bytes, 55), ONEFOLD_INVALID_ARGUMENT, "4 bytes that may be absent");
  onefold_range_destroy(other);
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_SUM, 0, 0, &other));
  EXPECT(onefold_range_read(other, bytes, 55) == ONEFOLD_INVALID_ARGUMENT);
  unsigned char of_form[60];
  EXPECT(onefold_range_bytes(other) <= sizeof of_form);
  EXPECT_OK(onefold_range_write(other, of_form, onefold_range_bytes(other)));
  EXPECT_REFUSED(onefold_range_read(made, of_form, onefold_range_bytes(other)), ONEFOLD_INVALID_ARGUMENT, "of the library's");
  EXPECT_REFUSED(onefold_range_append(made, other), ONEFOLD_INVALID_ARGUMENT, "operator of your own");
  EXPECT_REFUSED(onefold_range_append(other, made), ONEFOLD_INVALID_ARGUMENT, "operator of your own");
  onefold_range_destroy(other);
  onefold_range_destroy(made);
}

static void test_refusals_on(onefold_executor where) {
  float got = 0;
  unsigned char bytes[4000], again[4000];
  onefold_range *made = NULL, *other = NULL;
  EXPECT_OK(onefold_range_create_own(&sums, cut, &made));
  EXPECT_OK(onefold_range_add(made, where, floats + cut, NULL, 100, NULL));
  const size_t size = onefold_range_bytes(made);
  EXPECT_OK(onefold_range_write(made, bytes, size));
  const onefold_value_source nothing = {NULL, give_nothing}, no_function = {NULL, NULL};
  for (uint64_t n = 3; n <= 5000; n += 4997) {
    EXPECT_REFUSED(onefold_range_add_values(made, where, &nothing, n, NULL), ONEFOLD_CALLBACK_FAILED, "returned 3");
    EXPECT_REFUSED(onefold_range_add(made, where, NULL, NULL, n, NULL), ONEFOLD_NULL_POINTER, "input");
    EXPECT(onefold_range_add(made, onefold_cuda_device(1000), floats, NULL, n, NULL) != ONEFOLD_OK);
    const onefold_options exactly = {.struct_bytes = sizeof exactly, .guarantee = ONEFOLD_GUARANTEE_EXACT};
    EXPECT(onefold_range_add(made, where, floats, NULL, n, &exactly) == ONEFOLD_GUARANTEE_NOT_MET);
  }
  EXPECT_REFUSED(onefold_range_add_values(made, where, NULL, 3, NULL), ONEFOLD_NULL_POINTER, "function");
  EXPECT_REFUSED(onefold_range_add_values(made, where, &no_function, 3, NULL), ONEFOLD_NULL_POINTER, "function");
  EXPECT_REFUSED(onefold_range_add(made, where, NULL, NULL, 30000, NULL), ONEFOLD_NULL_POINTER, "30000 elements");
  EXPECT_REFUSED(onefold_range_add(made, where, floats, NULL, UINT64_MAX, NULL), ONEFOLD_INVALID_ARGUMENT, "negative");
  const onefold_range_part parts[] = {{where, floats, NULL, 4000}, {where, NULL, NULL, 3}};
  EXPECT_REFUSED(onefold_ranges_add_parts(&made, 1, parts, 2, NULL), ONEFOLD_UNSUPPORTED, "by itself");
  EXPECT_REFUSED(onefold_range_add_parts(made, parts, 2, NULL), ONEFOLD_NULL_POINTER, "input");
  EXPECT_REFUSED(onefold_range_result(made, 0, &got), ONEFOLD_INVALID_ARGUMENT, "has no result");
  EXPECT_REFUSED(onefold_range_append(made, made), ONEFOLD_INVALID_ARGUMENT, "neighbours");
  EXPECT_REFUSED(onefold_range_write(made, again, size + 1), ONEFOLD_INVALID_ARGUMENT, "room");
  size_t image = 0;
  EXPECT_REFUSED(onefold_range_image_bytes(made, 5, &image), ONEFOLD_UNSUPPORTED, "no images");
  EXPECT_REFUSED(onefold_range_put_image(made, where, floats, NULL, 5, floats, NULL), ONEFOLD_UNSUPPORTED, "no images");
  EXPECT_REFUSED(onefold_range_add_image(made, floats, 5), ONEFOLD_UNSUPPORTED, "no images");
  EXPECT_OK(onefold_range_create_own(&farthest, cut + 100, &other));
  EXPECT_REFUSED(onefold_range_append(made, other), ONEFOLD_INVALID_ARGUMENT, "values of 24 bytes");
  onefold_range_destroy(other);
  EXPECT_OK(onefold_range_create_own(&some_sums, cut + 100, &other));
  EXPECT_REFUSED(onefold_range_append(made, other), ONEFOLD_INVALID_ARGUMENT, "may be absent");
  onefold_range_destroy(other);
  EXPECT_OK(onefold_range_write(made, again, size)); /* as it was before all that was refused */
  EXPECT(memcmp(bytes, again, size) == 0);
  onefold_report ran = {.struct_bytes = sizeof ran};
  const onefold_options how = {.struct_bytes = sizeof how, .report = &ran};
  EXPECT_OK(onefold_range_add(made, where, floats, NULL, 5000, &how));
  EXPECT(strcmp(ran.variant, "fixed_order") == 0);
  onefold_range_destroy(made);

  /* An operator that fails, within tiles, between them, and where states meet. */
  onefold_own_operator fails = farthest;
  fails.context = &fails;
  for (uint64_t n = 2; n <= 600; n += 299) {
    made = NULL;
    EXPECT_OK(onefold_range_create_own(&fails, 0, &made));
    const int status = onefold_range_add(made, where, points, NULL, n, NULL);
    point found;
    if (n < 128) {
      EXPECT(status == ONEFOLD_OK);
      EXPECT_REFUSED(onefold_range_result(made, 0, &found), ONEFOLD_CALLBACK_FAILED, "returned 5");
    } else {
      EXPECT(status == ONEFOLD_CALLBACK_FAILED && onefold_range_end(made) == 0);
    }
    onefold_range_destroy(made);
  }
  other = NULL;
  EXPECT_REFUSED(onefold_range_create_own(NULL, 0, &other), ONEFOLD_NULL_POINTER, "operator");
  EXPECT_REFUSED(onefold_range_create_own(&sums, 0, NULL), ONEFOLD_NULL_POINTER, "new state");
  EXPECT_REFUSED(onefold_range_create_own(&sums, UINT64_MAX, &other), ONEFOLD_INVALID_ARGUMENT, "negative");
  onefold_own_operator wrong = sums;
  wrong.combine = NULL;
  EXPECT_REFUSED(onefold_range_create_own(&wrong, 0, &other), ONEFOLD_NULL_POINTER, "combine");
  wrong = sums;
  wrong.value_bytes = 65;
  EXPECT_REFUSED(onefold_range_create_own(&wrong, 0, &other), ONEFOLD_INVALID_ARGUMENT, "value_bytes");
  wrong.value_bytes = 0;
  EXPECT_REFUSED(onefold_range_create_own(&wrong, 0, &other), ONEFOLD_INVALID_ARGUMENT, "value_bytes");
  wrong = sums;
  wrong.struct_bytes = 8;
  EXPECT_REFUSED(onefold_range_create_own(&wrong, 0, &other), ONEFOLD_INVALID_ARGUMENT, "operator");
  EXPECT(other == NULL);
}

/* The operator gets as many pairs in a call as a row has. */
static void test_calls(void) {
  uint64_t called = 0;
  onefold_own_operator counting = sums;
  counting.context = &called;
  onefold_range* made = NULL;
  EXPECT_OK(onefold_range_create_own(&counting, 0, &made));
  EXPECT_OK(onefold_range_add(made, onefold_serial(), floats, NULL, 1024, NULL)); /* a tile: 16 rows, 64 lanes */
  EXPECT(called == 15 + 6);
  onefold_range_destroy(made);
}

void test_own_range(void) {
  for (int i = 0; i < count; ++i) {
    points[i] = (point){(i * 7919) % 1013 - 506.0, (i * 104729) % 997 - 498.0, (uint64_t)i};
    floats[i] = (float)((i * 7919) % 1013) * 0.1f - 40.0f;
  }
  onefold_backend_info openmp = {.struct_bytes = sizeof openmp};
  EXPECT_OK(onefold_describe_backend(ONEFOLD_OPENMP, &openmp, NULL, 0));
  const onefold_executor places[] = {onefold_serial(), onefold_best(), onefold_openmp(0)};
  for (int i = 0; i < (openmp.built ? 3 : 2); ++i) {
    test_ranks_on(places[i]);
    test_sums_on(places[i]);
    test_refusals_on(places[i]);
  }
  test_bytes();
  test_calls();
}
