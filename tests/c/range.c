/* range.c  States of ranges: parts of an array, appended as objects and as bytes, and what is refused. */

#include "check.h"

enum { count = 5000, cut = 1777 };

static float x[count], y[count];

static onefold_range* part(int form, onefold_executor where, uint64_t first, uint64_t end) {
  onefold_range* made = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, form, 0, first, &made));
  EXPECT_OK(onefold_range_add(made, where, x + first, y + first, end - first, NULL));
  EXPECT(onefold_range_begin(made) == first && onefold_range_end(made) == end);
  return made;
}

/* Of the elements behind *context. */
static int give_values(void* context, uint64_t first, uint64_t n, void* const* values) {
  memcpy(values[0], (const float*)context + first, n * sizeof(float));
  return 0;
}
static int give_none(void* context, uint64_t first, uint64_t n, void* const* values) {
  (void)context, (void)first, (void)n, (void)values;
  return 3;
}

static void test_values_on(onefold_executor where) {
  float of_whole = 0, of_parts = 0;
  EXPECT_OK(onefold_norm2_f32(where, x, count, &of_whole));
  onefold_range* made = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_NORM2, 0, 0, &made));
  const onefold_value_source first = {x, give_values}, second = {x + cut, give_values}, none = {NULL, give_none};
  EXPECT_OK(onefold_range_add_values(made, where, &first, cut, NULL));
  EXPECT_REFUSED(onefold_range_add_values(made, where, &none, count - cut, NULL), ONEFOLD_CALLBACK_FAILED, "returned 3");
  EXPECT_REFUSED(onefold_range_add_values(made, where, NULL, 3, NULL), ONEFOLD_NULL_POINTER, "function");
  EXPECT_REFUSED(onefold_range_add_values(NULL, where, &first, 3, NULL), ONEFOLD_NULL_POINTER, "state");
  EXPECT_OK(onefold_range_add_values(made, where, &second, count - cut, NULL));
  EXPECT_OK(onefold_range_result(made, 0, &of_parts));
  EXPECT(memcmp(&of_whole, &of_parts, sizeof of_whole) == 0);
  onefold_range_destroy(made);
}

/* Trees' nodes of a sum, as whoever makes the values has them: a node is the sum of its subtree's elements. What was made is there when it has been waited for. */
static int waits, fails_to_reduce, with_minima;
static int make_nodes(void* context, uint64_t from, uint64_t first_tile, uint64_t end_tile, uint64_t n, void* states) {
  const uint64_t tile = 1024;
  float* node = states;
  for (uint64_t first = first_tile; first < end_tile;) {
    uint64_t tiles = 1;
    while (first % (2 * tiles) == 0 && first + 2 * tiles <= end_tile) tiles *= 2;
    const uint64_t before = (first - first_tile) * tile;
    const uint64_t elements = n - before < tiles * tile ? n - before : tiles * tile;
    if (onefold_sum_f32(onefold_serial(), (const float*)context + from + before, elements, node++) != ONEFOLD_OK) return 1;
    if (with_minima && onefold_min_f32(onefold_serial(), (const float*)context + from + before, elements, node++) != ONEFOLD_OK)
      return 1;
    first += tiles;
  }
  waits = 0;
  return fails_to_reduce;
}
static int count_waits(void* context) {
  (void)context;
  ++waits;
  return 0;
}

static void test_made_values(void) {
  const onefold_made_values second = {x + cut, give_values, make_nodes, count_waits}, no_wait = {x, give_values, make_nodes, NULL};
  const onefold_made_values lacking = {x, give_values, NULL, NULL};
  onefold_range* made = part(ONEFOLD_SUM, onefold_serial(), 0, cut);
  float of_whole = 0, of_parts = 0;
  EXPECT_OK(onefold_sum_f32(onefold_serial(), x, count, &of_whole));
  fails_to_reduce = 4;
  EXPECT_REFUSED(onefold_range_add_made(made, &second, count - cut, NULL), ONEFOLD_CALLBACK_FAILED, "returned 4");
  fails_to_reduce = 0;
  EXPECT_REFUSED(onefold_range_add_made(made, &lacking, count - cut, NULL), ONEFOLD_NULL_POINTER, "functions");
  EXPECT_REFUSED(onefold_range_add_made(made, NULL, count - cut, NULL), ONEFOLD_NULL_POINTER, "functions");
  onefold_range* of_dot = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_DOT, 0, 0, &of_dot));
  EXPECT_REFUSED(onefold_range_add_made(of_dot, &second, 5, NULL), ONEFOLD_UNSUPPORTED, "of dot there are none");
  EXPECT(onefold_range_end(of_dot) == 0);
  onefold_range_destroy(of_dot);
  EXPECT_REFUSED(onefold_range_add_made(NULL, &second, count - cut, NULL), ONEFOLD_NULL_POINTER, "state");
  EXPECT(onefold_range_end(made) == cut);
  EXPECT_OK(onefold_range_add_made(made, &second, count - cut, NULL));
  EXPECT(waits == 1);
  EXPECT_OK(onefold_range_result(made, 0, &of_parts));
  EXPECT(memcmp(&of_whole, &of_parts, sizeof of_whole) == 0);
  onefold_range_destroy(made);

  static const uint8_t operators[] = {ONEFOLD_OP_SUM, ONEFOLD_OP_MIN};
  EXPECT_OK(onefold_range_create_together(ONEFOLD_F32, operators, 2, 0, &made));
  float of_both[2] = {0, 0}, least = 0;
  with_minima = 1;
  EXPECT_OK(onefold_range_add_made(made, &no_wait, count, NULL));
  with_minima = 0;
  EXPECT_OK(onefold_range_result(made, 0, of_both));
  EXPECT_OK(onefold_min_f32(onefold_serial(), x, count, &least));
  EXPECT(memcmp(&of_both[0], &of_whole, sizeof least) == 0 && memcmp(&of_both[1], &least, sizeof least) == 0);
  onefold_range_destroy(made);

  /* As a message of the only rank. */
  const onefold_message_part parts[] = {{ONEFOLD_F32, ONEFOLD_SUM, 0, 6}};
  static uint64_t message[256];
  const size_t bytes = onefold_message_bytes(parts, 1);
  EXPECT(bytes > 0 && bytes <= sizeof message);
  EXPECT_OK(onefold_message_begin(message, bytes, parts, 1, 5, 0));
  EXPECT_REFUSED(onefold_message_add_made(message, 0, 1, NULL, 0, 0, count, count, NULL), ONEFOLD_NULL_POINTER, "functions");
  EXPECT_REFUSED(onefold_message_add_made(message, 1, 1, &no_wait, 0, 0, count, count, NULL), ONEFOLD_INVALID_ARGUMENT, "0 to 0");
  EXPECT_REFUSED(onefold_message_add_made(NULL, 0, 1, &no_wait, 0, 0, count, count, NULL), ONEFOLD_NULL_POINTER, "message");
  EXPECT_OK(onefold_message_add_made(message, 0, 1, &no_wait, 0, 0, count, count, NULL));
  of_parts = 0;
  EXPECT_OK(onefold_message_result(message, 0, 1, count, 0, &of_parts));
  EXPECT(memcmp(&of_whole, &of_parts, sizeof of_whole) == 0);
}

/* The array's numbers as the parts of complex ones. */
static void test_complex_on(onefold_executor where) {
  enum { half = count / 2, middle = 1001 };
  const onefold_c64 *a = (const onefold_c64*)(const void*)x, *b = (const onefold_c64*)(const void*)y;
  onefold_c64 dot, of_parts;
  EXPECT_OK(onefold_dot_c64(where, a, b, half, &dot));
  onefold_range *first = NULL, *second = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_C64, ONEFOLD_DOT, 0, 0, &first));
  EXPECT_OK(onefold_range_create(ONEFOLD_C64, ONEFOLD_DOT, 0, middle, &second));
  EXPECT_OK(onefold_range_add(first, where, a, b, middle, NULL));
  EXPECT_OK(onefold_range_add(second, where, a + middle, b + middle, half - middle, NULL));
  EXPECT_OK(onefold_range_append(first, second));
  EXPECT_OK(onefold_range_result(first, 0, &of_parts));
  EXPECT(memcmp(&dot, &of_parts, sizeof dot) == 0);
  onefold_range_destroy(second);
  onefold_range_destroy(first);
}

static void test_on(onefold_executor where) {
  test_values_on(where);
  test_complex_on(where);
  float of_whole = 0, of_parts = 0;
  EXPECT_OK(onefold_dot_f32(where, x, y, count, &of_whole));
  onefold_range* first = part(ONEFOLD_DOT, where, 0, cut);
  onefold_range* second = part(ONEFOLD_DOT, where, cut, count);
  static unsigned char bytes[20000], again[20000];
  const size_t size = onefold_range_bytes(second);
  EXPECT(size > 0 && size <= sizeof bytes);
  EXPECT_OK(onefold_range_write(second, bytes, size)); /* and sent to whoever has the first part */
  onefold_range* received = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_DOT, 0, 0, &received));
  EXPECT_OK(onefold_range_read(received, bytes, size));
  EXPECT(onefold_range_begin(received) == cut && onefold_range_end(received) == count);
  EXPECT_OK(onefold_range_append(first, received));
  EXPECT_OK(onefold_range_result(first, 0, &of_parts));
  EXPECT(memcmp(&of_whole, &of_parts, sizeof of_whole) == 0);

  EXPECT_REFUSED(onefold_range_append(second, first), ONEFOLD_INVALID_ARGUMENT, "neighbours");
  EXPECT_REFUSED(onefold_range_result(second, 0, &of_parts), ONEFOLD_INVALID_ARGUMENT, "has no result");
  EXPECT_REFUSED(onefold_range_result(first, 0, (char*)&of_parts + 1), ONEFOLD_MISALIGNED_POINTER, "output pointer");
  EXPECT_REFUSED(onefold_range_add(second, where, NULL, y, 3, NULL), ONEFOLD_NULL_POINTER, "input");
  EXPECT(onefold_range_add(second, onefold_cuda_device(1000), x, y, 3, NULL) != ONEFOLD_OK); /* there is none */
  EXPECT_REFUSED(onefold_range_write(second, again, size - 1), ONEFOLD_INVALID_ARGUMENT, "room");
  bytes[40] ^= 1;
  EXPECT_REFUSED(onefold_range_read(second, bytes, size), ONEFOLD_INVALID_ARGUMENT, "damaged");
  bytes[40] ^= 1;
  onefold_range* sums = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_SUM, 0, count, &sums));
  EXPECT_REFUSED(onefold_range_append(second, sums), ONEFOLD_INVALID_ARGUMENT, "sum of f32");
  EXPECT_REFUSED(onefold_range_read(sums, bytes, size), ONEFOLD_INVALID_ARGUMENT, "dot of f32");
  EXPECT_OK(onefold_range_write(second, again, size)); /* as it was before all that was refused */
  EXPECT(memcmp(bytes, again, size) == 0);
  onefold_range_destroy(sums);
  onefold_range_destroy(received);
  onefold_range_destroy(second);
  onefold_range_destroy(first);

  onefold_arg_result_f32 least, of_least;
  EXPECT_OK(onefold_argmin_f32(where, x, count, &least));
  first = part(ONEFOLD_ARGMIN, where, 0, cut);
  second = part(ONEFOLD_ARGMIN, where, cut, count);
  EXPECT_OK(onefold_range_append(first, second));
  EXPECT_OK(onefold_range_result(first, 0, &of_least));
  EXPECT(least.value == of_least.value && least.index == of_least.index);
  onefold_range_destroy(second);
  onefold_range_destroy(first);
}

/* Several operators in one read, whose state is sent too. */
static void test_together_on(onefold_executor where) {
  static const uint8_t operators[] = {ONEFOLD_OP_SUM, ONEFOLD_OP_MIN, ONEFOLD_OP_MAX};
  float of_whole[3], of_parts[3] = {0};
  EXPECT_OK(onefold_sum_f32(where, x, count, &of_whole[0]));
  EXPECT_OK(onefold_min_f32(where, x, count, &of_whole[1]));
  EXPECT_OK(onefold_max_f32(where, x, count, &of_whole[2]));
  onefold_range* first = NULL;
  onefold_range* second = NULL;
  onefold_range* received = NULL;
  EXPECT_OK(onefold_range_create_together(ONEFOLD_F32, operators, 3, 0, &first));
  EXPECT_OK(onefold_range_create_together(ONEFOLD_F32, operators, 3, cut, &second));
  EXPECT_OK(onefold_range_create_together(ONEFOLD_F32, operators, 3, 0, &received));
  EXPECT_OK(onefold_range_add(first, where, x, NULL, cut, NULL));
  const onefold_value_source rest = {x + cut, give_values};
  EXPECT_OK(onefold_range_add_values(second, where, &rest, count - cut, NULL));
  static unsigned char bytes[20000];
  const size_t size = onefold_range_bytes(second);
  EXPECT(size > 0 && size <= sizeof bytes);
  EXPECT_OK(onefold_range_write(second, bytes, size));
  EXPECT(bytes[11] == ONEFOLD_REDUCE_TOGETHER && bytes[13] == 3 && memcmp(bytes + 32, operators, 3) == 0);
  EXPECT_OK(onefold_range_read(received, bytes, size));
  EXPECT_OK(onefold_range_append(first, received));
  EXPECT_OK(onefold_range_result(first, 0, of_parts));
  EXPECT(memcmp(of_whole, of_parts, sizeof of_whole) == 0);

  EXPECT_REFUSED(onefold_range_append(first, received), ONEFOLD_INVALID_ARGUMENT, "neighbours");
  EXPECT_REFUSED(onefold_range_append(NULL, received), ONEFOLD_NULL_POINTER, "state");
  onefold_range* other = NULL;
  EXPECT_OK(onefold_range_create_together(ONEFOLD_F32, operators, 2, count, &other));
  EXPECT_REFUSED(onefold_range_append(first, other), ONEFOLD_INVALID_ARGUMENT, "reduce_together (sum, min) of f32");
  EXPECT_REFUSED(onefold_range_read(other, bytes, size), ONEFOLD_INVALID_ARGUMENT, "reduce_together (sum, min, max) of f32");
  onefold_range_destroy(other);
  onefold_range_destroy(received);
  onefold_range_destroy(second);
  onefold_range_destroy(first);

  static const uint8_t unknown[] = {ONEFOLD_OP_SUM, 4};
  other = (onefold_range*)(void*)x; /* is NULL after an error, so that a way out may destroy it */
  EXPECT_REFUSED(onefold_range_create_together(ONEFOLD_F32, unknown, 2, 0, &other), ONEFOLD_INVALID_ARGUMENT, "operator");
  EXPECT(other == NULL);
  other = (onefold_range*)(void*)x;
  EXPECT_REFUSED(onefold_range_create(ONEFOLD_F64, ONEFOLD_BIT_XOR, 0, 0, &other), ONEFOLD_UNSUPPORTED, "bit_xor");
  EXPECT(other == NULL);
  EXPECT_REFUSED(onefold_range_create_together(ONEFOLD_F32, operators, 0, 0, &other), ONEFOLD_INVALID_ARGUMENT, "operators");
  EXPECT_REFUSED(onefold_range_create_together(ONEFOLD_F32, NULL, 2, 0, &other), ONEFOLD_NULL_POINTER, "operators");
  EXPECT_REFUSED(onefold_range_create_together(ONEFOLD_F32, operators, 2, 0, NULL), ONEFOLD_NULL_POINTER, "new state");
  EXPECT_REFUSED(onefold_range_create_together(ONEFOLD_C64, operators, 2, 0, &other), ONEFOLD_UNSUPPORTED, "complex");
  EXPECT(other == NULL);
}

/* Both parts in one call, which is how several GPUs are at work at the same time; and images, which they alone make. */
static void test_parts_on(onefold_executor where) {
  float of_whole = 0, of_parts = 0;
  EXPECT_OK(onefold_dot_f32(where, x, y, count, &of_whole));
  const onefold_range_part both[] = {{where, x, y, cut}, {onefold_serial(), x + cut, y + cut, count - cut}};
  const onefold_range_part lacking[] = {{where, x, y, cut}, {where, NULL, y, 3}};
  onefold_range* made = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_DOT, 0, 0, &made));
  EXPECT_REFUSED(onefold_range_add_parts(made, lacking, 2, NULL), ONEFOLD_NULL_POINTER, "input");
  EXPECT_REFUSED(onefold_range_add_parts(made, NULL, 2, NULL), ONEFOLD_NULL_POINTER, "parts");
  EXPECT_REFUSED(onefold_range_add_parts(NULL, both, 2, NULL), ONEFOLD_NULL_POINTER, "state");
  /* What fails tells of nothing that ran. */
  onefold_report ran = {.struct_bytes = sizeof ran, .threads = -7};
  onefold_options how = {.struct_bytes = sizeof how, .report = &ran};
  EXPECT_REFUSED(onefold_range_add_parts(made, lacking, 2, &how), ONEFOLD_NULL_POINTER, "input");
  EXPECT(ran.threads == -7 && ran.variant[0] == '\0');
  float first = 0, second = 0;
  const onefold_request some[] = {
      {.struct_bytes = sizeof *some, .where = where, .type = ONEFOLD_F32, .form = ONEFOLD_SUM, .input = x, .count = cut, .output = &first},
      {.struct_bytes = sizeof *some, .where = where, .type = ONEFOLD_F32, .form = ONEFOLD_SUM, .count = cut, .output = &second}};
  EXPECT_REFUSED(onefold_reduce_batch(some, 2, &how), ONEFOLD_NULL_POINTER, "input");
  EXPECT(ran.threads == -7 && ran.variant[0] == '\0');
  how.knobs.width = -1;
  EXPECT_REFUSED(onefold_range_add_parts(made, NULL, 0, &how), ONEFOLD_INVALID_ARGUMENT, "width");
  EXPECT_REFUSED(onefold_range_add(made, where, x, y, 0, &how), ONEFOLD_INVALID_ARGUMENT, "width");
  how.knobs.width = 0;
  EXPECT_OK(onefold_range_add_parts(made, both, 2, &how));
  /* In stream order GPUs alone store results: of these parts one is a CPU's. */
  const int32_t dots[] = {ONEFOLD_DOT, ONEFOLD_REDUCE_TOGETHER}, differing[] = {ONEFOLD_SUM, ONEFOLD_ARGMIN};
  float kept[2] = {-7, -7};
  void* const outputs[] = {&kept[0], &kept[1]};
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, dots, 1, 0, 0, both, 2, outputs, NULL), ONEFOLD_UNSUPPORTED, "cuda");
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, NULL, 1, 0, 0, both, 2, outputs, NULL), ONEFOLD_NULL_POINTER, "forms");
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, dots, 1, 0, 0, NULL, 2, outputs, NULL), ONEFOLD_NULL_POINTER, "parts");
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, dots, 1, 0, 0, both, 2, NULL, NULL), ONEFOLD_NULL_POINTER, "outputs");
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, dots, 2, 0, 0, both, 1, outputs, NULL), ONEFOLD_UNSUPPORTED, "reduce_together");
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, differing, 2, 0, 0, both, 1, outputs, NULL), ONEFOLD_INVALID_ARGUMENT, "size");
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, dots, 1, 8, 0, both, 2, outputs, NULL), ONEFOLD_INVALID_ARGUMENT, "flags");
  EXPECT_REFUSED(onefold_range_put_parts(77, dots, 1, 0, 0, both, 2, outputs, NULL), ONEFOLD_INVALID_ARGUMENT, "type");
  EXPECT_REFUSED(onefold_range_put_parts(ONEFOLD_F32, dots, SIZE_MAX, 0, 0, both, 2, outputs, NULL), ONEFOLD_INVALID_ARGUMENT, "memory");
  EXPECT_OK(onefold_range_put_parts(ONEFOLD_F32, NULL, 0, 0, 0, NULL, 2, outputs, NULL));
  EXPECT_OK(onefold_range_put_parts(ONEFOLD_F32, dots, 1, 0, 0, NULL, 0, NULL, NULL));
  EXPECT(kept[0] == -7 && kept[1] == -7);
  EXPECT(ran.threads >= 0 && strcmp(ran.variant, "fixed_order") == 0);
  EXPECT_OK(onefold_range_add_parts(made, NULL, 0, NULL));
  EXPECT_OK(onefold_range_result(made, 0, &of_parts));
  EXPECT(memcmp(&of_whole, &of_parts, sizeof of_whole) == 0);
  /* Of two dots at once. */
  const onefold_range_part all[] = {{where, x, y, cut}, {onefold_serial(), x + cut, y + cut, count - cut}, {where, y, y, cut}, {where, y + cut, y + cut, count - cut}};
  onefold_range* several[2] = {NULL, NULL};
  for (int k = 0; k < 2; ++k) EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_DOT, 0, 0, &several[k]));
  EXPECT_OK(onefold_ranges_add_parts(several, 2, all, 2, NULL));
  float dot_of_second = 0;
  EXPECT_OK(onefold_dot_f32(where, y, y, count, &dot_of_second));
  EXPECT_OK(onefold_range_result(several[0], 0, &of_parts));
  EXPECT(memcmp(&of_whole, &of_parts, sizeof of_whole) == 0);
  EXPECT_OK(onefold_range_result(several[1], 0, &of_parts));
  EXPECT(memcmp(&dot_of_second, &of_parts, sizeof of_parts) == 0);
  for (int k = 0; k < 2; ++k) onefold_range_destroy(several[k]);
  EXPECT_OK(onefold_range_result(made, 0, &of_parts));

  float stored = 0;
  char many[129] = {0};
  EXPECT_OK(onefold_store(where, &stored, &of_parts, sizeof stored));
  EXPECT(memcmp(&stored, &of_parts, sizeof stored) == 0);
  EXPECT_OK(onefold_store(onefold_best(), NULL, NULL, 0));
  EXPECT_REFUSED(onefold_store(where, NULL, &of_parts, sizeof stored), ONEFOLD_NULL_POINTER, "output");
  EXPECT_REFUSED(onefold_store(where, &stored, NULL, sizeof stored), ONEFOLD_NULL_POINTER, "value");
  EXPECT_REFUSED(onefold_store(where, many, many, sizeof many), ONEFOLD_INVALID_ARGUMENT, "128");

  size_t bytes = 0;
  EXPECT_OK(onefold_range_image_bytes(made, 5000, &bytes));
  EXPECT(bytes > 0 && bytes < 24 * 1024);
  EXPECT_REFUSED(onefold_range_image_bytes(made, 5000, NULL), ONEFOLD_NULL_POINTER, "size");
  EXPECT_REFUSED(onefold_range_image_bytes(NULL, 5000, &bytes), ONEFOLD_NULL_POINTER, "state");
  EXPECT_REFUSED(onefold_range_put_image(made, where, x, y, 5, x, NULL), ONEFOLD_UNSUPPORTED, "cuda()");
  EXPECT_REFUSED(onefold_range_put_image(made, where, x, y, 5, NULL, NULL), ONEFOLD_NULL_POINTER, "image");
  const uint64_t borders[2] = {0, 3}, late[1] = {1};
  EXPECT(onefold_range_can_join_images(ONEFOLD_F32, ONEFOLD_REDUCE_TOGETHER, 0, 2, 5) == 0);
  EXPECT(onefold_range_load_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, onefold_serial()) == ONEFOLD_UNSUPPORTED);
  EXPECT(onefold_range_load_join_images(ONEFOLD_F32, ONEFOLD_REDUCE_TOGETHER, 0, onefold_cuda(0, NULL)) != ONEFOLD_OK);
  EXPECT(onefold_range_can_join_images(ONEFOLD_C64, ONEFOLD_MAX, 0, 2, 5) == 0);
  EXPECT(onefold_range_can_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, 0, 5) == 0);
  EXPECT(onefold_range_can_join_images(77, ONEFOLD_SUM, 0, 1, 5) == 0);
  EXPECT_REFUSED(onefold_range_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, where, x, 64, borders, 1, 5, NULL), ONEFOLD_NULL_POINTER,
                 "result");
  EXPECT_REFUSED(onefold_range_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, where, NULL, 64, borders, 1, 5, &stored),
                 ONEFOLD_NULL_POINTER, "images");
  EXPECT_REFUSED(onefold_range_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, where, x, 64, late, 1, 5, &stored),
                 ONEFOLD_INVALID_ARGUMENT, "begins at 0");
  EXPECT_REFUSED(onefold_range_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, where, x, 64, borders, 2, 2, &stored),
                 ONEFOLD_INVALID_ARGUMENT, "ends");
  EXPECT_REFUSED(onefold_range_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, where, x, 64, borders, 2, 5, &stored), ONEFOLD_UNSUPPORTED,
                 "cuda()");
  EXPECT_REFUSED(onefold_range_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, where, x, 8, borders, 1, 5, &stored),
                 ONEFOLD_MISALIGNED_POINTER, "16 bytes");
  EXPECT_REFUSED(onefold_range_join_images_ddof(ONEFOLD_F32, ONEFOLD_MEAN_VARIANCE, 0, 1, where, x, 64, borders, 2, 5, &stored),
                 ONEFOLD_UNSUPPORTED, "cuda()");
  EXPECT_REFUSED(onefold_range_join_images(ONEFOLD_F32, ONEFOLD_SUM, 0, where, x, 64, NULL, 1, 5, &stored), ONEFOLD_NULL_POINTER,
                 "borders");
  EXPECT_REFUSED(onefold_range_add_image(made, NULL, 5), ONEFOLD_NULL_POINTER, "image");
  EXPECT_REFUSED(onefold_range_add_image(NULL, x, 5), ONEFOLD_NULL_POINTER, "state");
  onefold_range_destroy(made);
}

/* Floats with doubles, of which some are products already. */
static double z[count];
static void test_products_on(onefold_executor where) {
  static double products[count];
  double expected = 0, found = 1;
  for (int i = 0; i < count; ++i) z[i] = (double)y[i] * 0.999, products[i] = (double)x[i] * z[i];
  EXPECT_OK(onefold_mixed_dot(onefold_serial(), ONEFOLD_F32, x, ONEFOLD_F64, z, count, &expected));
  const uint64_t rest = cut + 11;
  const onefold_products begin = {x, z, ONEFOLD_F32, ONEFOLD_F64}, end = {z + rest, x + rest, ONEFOLD_F64, ONEFOLD_F32};
  const onefold_products half = {x, NULL, ONEFOLD_F32, ONEFOLD_F64}, of_one = {z, z, ONEFOLD_F64, ONEFOLD_F64};
  onefold_range *all = NULL, *next = NULL, *floats = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, &all));
  EXPECT_OK(onefold_range_create(ONEFOLD_F64, ONEFOLD_SUM, 0, cut, &next));
  EXPECT_OK(onefold_range_add_products(all, where, &begin, cut, NULL));
  EXPECT_OK(onefold_range_add(next, where, products + cut, NULL, 11, NULL));
  EXPECT_OK(onefold_range_add_products(next, where, &end, count - rest, NULL));
  EXPECT_OK(onefold_range_append(all, next));
  EXPECT_OK(onefold_range_result(all, 0, &found));
  EXPECT(memcmp(&found, &expected, sizeof found) == 0);
  EXPECT_REFUSED(onefold_range_add_products(all, where, &half, 3, NULL), ONEFOLD_NULL_POINTER, "second input");
  EXPECT_REFUSED(onefold_range_add_products(all, where, &half, 3000, NULL), ONEFOLD_NULL_POINTER, "second input");
  EXPECT_REFUSED(onefold_range_add_products(all, where, NULL, 3, NULL), ONEFOLD_NULL_POINTER, "products");
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_SUM, 0, 0, &floats));
  EXPECT_REFUSED(onefold_range_add_products(floats, where, &begin, 3, NULL), ONEFOLD_INVALID_ARGUMENT, "are f64, and not f32");
  EXPECT(onefold_range_end(all) == count && onefold_range_end(floats) == 0);
  onefold_range* squares = NULL;
  EXPECT_OK(onefold_range_create(ONEFOLD_F64, ONEFOLD_SUM, 0, 0, &squares));
  EXPECT_OK(onefold_range_add_products(squares, where, &of_one, count, NULL));
  EXPECT_OK(onefold_range_result(squares, 0, &found));
  EXPECT_OK(onefold_mixed_dot(onefold_serial(), ONEFOLD_F64, z, ONEFOLD_F64, z, count, &expected));
  EXPECT(memcmp(&found, &expected, sizeof found) == 0);
  onefold_range_destroy(squares);
  onefold_range_destroy(all);
  onefold_range_destroy(next);
  onefold_range_destroy(floats);
}

void test_range(void) {
  for (int i = 0; i < count; ++i) {
    x[i] = (float)((i * 7919) % 1013) * 0.1f - 40.0f;
    y[i] = 1.0f / (float)(i + 1);
  }
  test_made_values();
  test_on(onefold_serial());
  test_products_on(onefold_serial());
  test_products_on(onefold_best());
  test_together_on(onefold_serial());
  test_parts_on(onefold_serial());
  onefold_backend_info openmp = {.struct_bytes = sizeof openmp};
  EXPECT_OK(onefold_describe_backend(ONEFOLD_OPENMP, &openmp, NULL, 0));
  if (openmp.built) test_on(onefold_openmp(0));
  if (openmp.built) test_products_on(onefold_openmp(0));
  if (openmp.built) test_together_on(onefold_openmp(0));
  if (openmp.built) test_parts_on(onefold_openmp(0));

  onefold_range* made = NULL;
  EXPECT_REFUSED(onefold_range_create(ONEFOLD_C64, ONEFOLD_MAX, 0, 0, &made), ONEFOLD_UNSUPPORTED, "complex numbers have no order");
  EXPECT_REFUSED(onefold_range_create(ONEFOLD_F64, ONEFOLD_REDUCE_TOGETHER, 0, 0, &made), ONEFOLD_UNSUPPORTED, "each operator");
  EXPECT_REFUSED(onefold_range_create(ONEFOLD_F64, ONEFOLD_SUM, ONEFOLD_WIDE, 0, &made), ONEFOLD_UNSUPPORTED, "wider");
  EXPECT(made == NULL);
  onefold_range_destroy(NULL);
  onefold_mean_variance_result_f64 both, of_both;
  EXPECT_OK(onefold_mean_variance_f32_as_f64(onefold_serial(), x, count, 1, &both));
  EXPECT_OK(onefold_range_create(ONEFOLD_F32, ONEFOLD_MEAN_VARIANCE, ONEFOLD_WIDE, 0, &made));
  EXPECT_OK(onefold_range_add(made, onefold_best(), x, NULL, count, NULL));
  EXPECT_OK(onefold_range_result(made, 1, &of_both));
  EXPECT(both.mean == of_both.mean && both.variance == of_both.variance);
  onefold_range_destroy(made);
}
