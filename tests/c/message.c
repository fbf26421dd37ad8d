/* message.c  Messages of ranks: three ranks' parts of an array, merged as an operator of MPI_Allreduce would, and what is refused. */

#include "check.h"

enum { tile = 1024, count = 3 * tile + 77, cut = tile, second_cut = 2 * tile, ranks = 3 };

static float x[count], y[count];
static const onefold_message_part parts[2] = {{ONEFOLD_F32, ONEFOLD_DOT, 0, 6}, {ONEFOLD_F32, ONEFOLD_ARGMAX, 0, 6}};
static const uint64_t cuts[ranks + 1] = {0, cut, second_cut, count};
/* As a message is kept: of whole words. */
static uint64_t messages[ranks][1024 / 8];

static void fill_messages(onefold_executor where, size_t bytes) {
  for (int rank = 0; rank < ranks; ++rank) {
    const uint64_t first = cuts[rank], part = cuts[rank + 1] - first;
    EXPECT_OK(onefold_message_begin(messages[rank], bytes, parts, 2, 5, rank));
    EXPECT_OK(onefold_message_add(messages[rank], 0, where, x + first, y + first, first, part, count, NULL));
    EXPECT_OK(onefold_message_add(messages[rank], 1, where, x + first, NULL, first, part, count, NULL));
  }
}

/* x, and its negative. */
static int give_two(void* context, uint64_t first, uint64_t n, void* const* values) {
  (void)context;
  for (uint64_t i = 0; i < n; ++i) {
    ((float*)values[0])[i] = x[first + i];
    ((float*)values[1])[i] = -x[first + i];
  }
  return 0;
}
static int give_none(void* context, uint64_t first, uint64_t n, void* const* values) {
  (void)context, (void)first, (void)n, (void)values;
  return 3;
}

/* A function of two values fills two parts of a message: of one form, or of two operators of which one depends on no order. */
static void test_values_on(onefold_executor where) {
  const int32_t forms[2] = {ONEFOLD_SUM, ONEFOLD_MIN};
  const onefold_value_source two = {NULL, give_two}, none = {NULL, give_none};
  float sum = 0, least = 0, found[2];
  EXPECT_OK(onefold_sum_f32(where, x, count, &sum));
  for (int second = 0; second < 2; ++second) {
    const onefold_message_part of[2] = {{ONEFOLD_F32, ONEFOLD_SUM, 0, 6}, {ONEFOLD_F32, forms[second], 0, 6}};
    const size_t bytes = onefold_message_bytes(of, 2);
    for (int rank = 0; rank < ranks; ++rank) {
      const uint64_t first = cuts[rank], part = cuts[rank + 1] - first;
      EXPECT_OK(onefold_message_begin(messages[rank], bytes, of, 2, 5, rank));
      EXPECT_OK(onefold_message_add_values(messages[rank], 0, 2, where, &two, first, first, part, count, NULL));
    }
    onefold_message_merge(messages[0], messages[1]);
    onefold_message_merge(messages[1], messages[2]);
    for (size_t k = 0; k < 2; ++k) EXPECT_OK(onefold_message_result(messages[2], k, ranks, count, 0, &found[k]));
    EXPECT_OK(onefold_max_f32(where, x, count, &least));
    EXPECT(found[0] == sum && found[1] == (second == 0 ? -sum : -least));
    EXPECT_OK(onefold_message_begin(messages[0], bytes, of, 2, 5, 0));
  }
  void* const message = messages[0];
  EXPECT_REFUSED(onefold_message_add_values(message, 0, 3, where, &two, 0, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT, "part");
  EXPECT_REFUSED(onefold_message_add_values(message, 0, 0, where, &two, 0, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "results");
  EXPECT_REFUSED(onefold_message_add_values(message, 0, 2, where, NULL, 0, 0, tile, count, NULL), ONEFOLD_NULL_POINTER, "function");
  EXPECT_REFUSED(onefold_message_add_values(message, 0, 2, where, &none, 0, 0, tile, count, NULL), ONEFOLD_CALLBACK_FAILED,
                 "function");
  EXPECT_REFUSED(onefold_message_add_values(message, 0, 2, where, &two, 0, 1, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "whole tiles");

  /* Nothing beyond the last element, and not without the first. */
  const onefold_message_part sums[2] = {{ONEFOLD_F32, ONEFOLD_SUM, 0, 6}, {ONEFOLD_F32, ONEFOLD_SUM, 0, 6}};
  const size_t bytes_of_sums = onefold_message_bytes(sums, 2);
  EXPECT_OK(onefold_message_begin(message, bytes_of_sums, sums, 2, 5, 0));
  const uint64_t last = count / tile * tile;
  EXPECT_REFUSED(onefold_message_add(message, 0, where, x, NULL, last + tile, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT, "none of");
  EXPECT_REFUSED(onefold_message_add(message, 0, where, x, NULL, last, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT, "none of");
  EXPECT_OK(onefold_message_add(message, 0, where, x + tile, NULL, tile, tile, tile + tile, NULL));
  EXPECT_REFUSED(onefold_message_result(message, 0, 1, tile, 0, &sum), ONEFOLD_COMMUNICATION_FAILED, "not with the first");

  /* Where there is no message. */
  memset(message, 255, bytes_of_sums);
  EXPECT_REFUSED(onefold_message_add_values(message, 0, 2, where, &two, 0, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "memory of a message");
  EXPECT_REFUSED(onefold_message_add(message, 0, where, x, NULL, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "memory of a message");

  float some[2][5];
  void* const places[2] = {some[0], some[1]};
  EXPECT_OK(onefold_copy_values(ONEFOLD_F32, where, &two, 7, 5, places));
  EXPECT(memcmp(some[0], x + 7, sizeof some[0]) == 0 && some[1][4] == -x[11]);
  EXPECT_OK(onefold_copy_values(ONEFOLD_F32, where, &two, 7, 0, NULL));
  EXPECT_REFUSED(onefold_copy_values(ONEFOLD_F32, where, &two, 0, tile, places), ONEFOLD_INVALID_ARGUMENT, "fewer values");
  EXPECT_REFUSED(onefold_copy_values(ONEFOLD_F32, where, &two, 0, 5, NULL), ONEFOLD_NULL_POINTER, "places");
  EXPECT_REFUSED(onefold_copy_values(ONEFOLD_F32, where, &none, 0, 5, places), ONEFOLD_CALLBACK_FAILED, "returned 3");
  EXPECT(onefold_copy_values(ONEFOLD_F32, onefold_cuda_device(0), &two, 0, 5, places) != ONEFOLD_OK);
}

/* Code whose states are those of mean_variance; what *context says is absent. */
static int moments(void* context, uint64_t first, uint64_t n, void* states) {
  enum { lanes = 64, state_bytes = 24, group_tiles = 16 };
  unsigned char tiles[group_tiles * state_bytes], *to = states;
  for (; n > 0; to += state_bytes) {
    uint64_t made = 0;
    for (; made < group_tiles && n > 0; ++made) {
      const uint64_t here = n < tile ? n : tile;
      double values[tile];
      unsigned char present[tile];
      for (uint64_t i = 0; i < here; ++i) {
        values[i] = x[first + i];
        present[i] = *(const int*)context == 0 || (first + i) % 3 != 0;
      }
      onefold_moments_of_tile(lanes, values, present, here, tiles + made * state_bytes);
      first += here;
      n -= here;
    }
    for (; made > 1; made = (made + 1) / 2) onefold_moments_level(tiles, made);
    memcpy(to, tiles, state_bytes);
  }
  return 0;
}
static int moments_level(void* context, void* states, uint64_t n) {
  (void)context;
  onefold_moments_level(states, n);
  return 0;
}
static int no_result(void* context, const void* state, uint64_t n, void* result) {
  (void)context, (void)state, (void)n, (void)result;
  return 0;
}

/* Trees whose values the caller's code makes: of all values as the form does, and of those that are there. */
static void test_own_code_on(onefold_executor where) {
  const onefold_message_part of[2] = {{ONEFOLD_F32, ONEFOLD_MEAN_VARIANCE, 0, 6}, {ONEFOLD_F32, ONEFOLD_MAX, 0, 1}};
  const size_t bytes = onefold_message_bytes(of, 2);
  for (int leaves_out = 0; leaves_out < 2; ++leaves_out) {
    int context = leaves_out;
    const onefold_own_code own = {&context, sizeof(float), 24, 1, moments, moments_level, no_result};
    onefold_mean_variance_result_f32 found, expected;
    for (int rank = 0; rank < ranks; ++rank) {
      const uint64_t first = cuts[rank], part = cuts[rank + 1] - first;
      EXPECT_OK(onefold_message_begin(messages[rank], bytes, of, 2, 5, rank));
      EXPECT_OK(onefold_message_add_own(messages[rank], 0, where, &own, first, first, part, count, NULL));
      EXPECT_OK(onefold_message_add(messages[rank], 1, where, x + first, NULL, first, part, count, NULL));
    }
    onefold_message_merge(messages[1], messages[2]);
    onefold_message_merge(messages[0], messages[2]);
    EXPECT_OK(onefold_message_result(messages[2], 0, ranks, count, 1, &found));
    if (leaves_out == 0) {
      EXPECT_OK(onefold_mean_variance_f32(where, x, count, 1, &expected));
      EXPECT(memcmp(&found, &expected, sizeof found) == 0);
    } else {
      double mean = 0;
      int there = 0;
      for (int i = 0; i < count; ++i)
        if (i % 3 != 0) mean += x[i], ++there;
      mean /= there;
      EXPECT(found.mean - mean < 1e-4 && mean - found.mean < 1e-4);
    }
  }
  int none = 0;
  onefold_own_code own = {&none, sizeof(float), 24, 1, moments, moments_level, no_result};
  void* const message = messages[0];
  EXPECT_OK(onefold_message_begin(message, bytes, of, 2, 5, 0));
  EXPECT_REFUSED(onefold_message_add_own(message, 0, where, NULL, 0, 0, tile, count, NULL), ONEFOLD_NULL_POINTER, "own code");
  EXPECT_REFUSED(onefold_message_add_own(NULL, 0, where, &own, 0, 0, tile, count, NULL), ONEFOLD_NULL_POINTER, "message");
  EXPECT_REFUSED(onefold_message_add_own(message, 2, where, &own, 0, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT, "part");
  EXPECT_REFUSED(onefold_message_add_own(message, 1, where, &own, 0, 0, tile, count, NULL), ONEFOLD_UNSUPPORTED, "any order");
  EXPECT_REFUSED(onefold_message_add_own(message, 0, where, &own, 0, 1, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "whole tiles");
  own.level = NULL;
  EXPECT_REFUSED(onefold_message_add_own(message, 0, where, &own, 0, 0, tile, count, NULL), ONEFOLD_NULL_POINTER, "level");
  own.level = moments_level;
  own.groups = NULL;
  EXPECT_REFUSED(onefold_message_add_own(message, 0, where, &own, 0, 0, tile, count, NULL), ONEFOLD_NULL_POINTER, "groups");
  own.groups = moments;
  own.state_bytes = 16;
  EXPECT_REFUSED(onefold_message_add_own(message, 0, where, &own, 0, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "state_bytes");
  own.state_bytes = 24;
  own.value_bytes = sizeof(double);
  EXPECT_REFUSED(onefold_message_add_own(message, 0, where, &own, 0, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "value_bytes");
  own.value_bytes = 0;
  EXPECT_REFUSED(onefold_message_add_own(message, 0, where, &own, 0, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "value_bytes");

  /* A mean of elements of which some stand for absent ones. */
  const onefold_message_part mean = {ONEFOLD_F32, ONEFOLD_MEAN, 0, 6};
  float sum = 0, of_some = 0;
  EXPECT_OK(onefold_message_begin(message, onefold_message_bytes(&mean, 1), &mean, 1, 5, 0));
  EXPECT_OK(onefold_message_add(message, 0, where, x, NULL, 0, count, count, NULL));
  EXPECT_OK(onefold_sum_f32(where, x, count, &sum));
  EXPECT_OK(onefold_message_mean_of_present(message, 0, 1, count, count - 100, &of_some));
  EXPECT(of_some == sum / (float)(count - 100));
  EXPECT_OK(onefold_message_mean_of_present(message, 0, 1, count, 0, &of_some));
  EXPECT(of_some != of_some);
  EXPECT_REFUSED(onefold_message_mean_of_present(message, 0, 1, count, count + 1, &of_some), ONEFOLD_INVALID_ARGUMENT, "there");
  EXPECT_REFUSED(onefold_message_mean_of_present(message, 1, 1, count, 5, &of_some), ONEFOLD_INVALID_ARGUMENT, "part");
  EXPECT_REFUSED(onefold_message_mean_of_present(NULL, 0, 1, count, 5, &of_some), ONEFOLD_NULL_POINTER, "message");
  EXPECT_REFUSED(onefold_message_mean_of_present(message, 0, 1, count, 5, NULL), ONEFOLD_NULL_POINTER, "result");
  const onefold_message_part of_sum = {ONEFOLD_F32, ONEFOLD_SUM, 0, 6};
  EXPECT_OK(onefold_message_begin(message, onefold_message_bytes(&of_sum, 1), &of_sum, 1, 5, 0));
  EXPECT_OK(onefold_message_add(message, 0, where, x, NULL, 0, count, count, NULL));
  EXPECT_REFUSED(onefold_message_mean_of_present(message, 0, 1, count, 5, &of_some), ONEFOLD_UNSUPPORTED, "a mean is");
}

static void test_on(onefold_executor where) {
  test_values_on(where);
  test_own_code_on(where);
  float of_whole = 0, dot = 0;
  onefold_arg_result_f32 most, found;
  EXPECT_OK(onefold_dot_f32(where, x, y, count, &of_whole));
  EXPECT_OK(onefold_argmax_f32(where, x, count, &most));
  const size_t bytes = onefold_message_bytes(parts, 2);
  EXPECT(bytes == 256);
  for (int left_first = 0; left_first < 2; ++left_first) {
    fill_messages(where, bytes);
    EXPECT(onefold_message_signature(messages[0]) == onefold_message_signature(messages[2]));
    if (left_first) onefold_message_merge(messages[0], messages[1]);
    onefold_message_merge(messages[1], messages[2]);
    if (!left_first) onefold_message_merge(messages[0], messages[2]);
    EXPECT_OK(onefold_message_result(messages[2], 0, ranks, count, 0, &dot));
    EXPECT(memcmp(&dot, &of_whole, sizeof dot) == 0);
    EXPECT_OK(onefold_message_result(messages[2], 1, ranks, count, 0, &found));
    EXPECT(found.value == most.value && found.index == most.index);
  }
  EXPECT_REFUSED(onefold_message_result(messages[2], 0, ranks, count + 1, 0, &dot), ONEFOLD_COMMUNICATION_FAILED,
                 "elements together");
  EXPECT_REFUSED(onefold_message_result(messages[2], 2, ranks, count, 0, &dot), ONEFOLD_INVALID_ARGUMENT, "part");

  /* What does not fit together has no result, and says why. */
  fill_messages(where, bytes);
  onefold_message_merge(messages[1], messages[0]);
  EXPECT_REFUSED(onefold_message_result(messages[0], 0, ranks, count, 0, &dot), ONEFOLD_COMMUNICATION_FAILED, "another order");
  fill_messages(where, bytes);
  EXPECT_OK(onefold_message_begin(messages[0], bytes, parts, 2, 6, 0));
  onefold_message_merge(messages[0], messages[1]);
  EXPECT_REFUSED(onefold_message_result(messages[1], 0, ranks, count, 0, &dot), ONEFOLD_COMMUNICATION_FAILED, "rank 1");
  fill_messages(where, bytes);
  onefold_message_fail(messages[1], ONEFOLD_OUT_OF_MEMORY, 1);
  onefold_message_merge(messages[0], messages[1]);
  onefold_message_merge(messages[1], messages[2]);
  EXPECT_REFUSED(onefold_message_result(messages[2], 0, ranks, count, 0, &dot), ONEFOLD_COMMUNICATION_FAILED,
                 "rank 1 could not take part in the reduction (out_of_memory)");
  fill_messages(where, bytes);
  onefold_message_fail(messages[2], ONEFOLD_OK, 2);
  EXPECT_REFUSED(onefold_message_result(messages[2], 0, ranks, count, 0, &dot), ONEFOLD_COMMUNICATION_FAILED,
                 "given the reduction up");

  EXPECT_OK(onefold_message_begin(messages[0], bytes, parts, 2, 5, 0));
  EXPECT_REFUSED(onefold_message_add(messages[0], 0, where, x + 1, y + 1, 1, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "whole tiles");
  EXPECT_REFUSED(onefold_message_add(messages[0], 0, where, NULL, y, 0, tile, count, NULL), ONEFOLD_NULL_POINTER, "null");
  EXPECT(onefold_message_add(messages[0], 0, onefold_cuda_device(1000), x, y, 0, tile, count, NULL) !=
         ONEFOLD_OK); /* there is none */
  EXPECT_OK(onefold_message_add(messages[0], 0, where, x, y, 0, tile, count, NULL));
  EXPECT_REFUSED(onefold_message_add(messages[0], 0, where, x, y, 0, tile, count, NULL), ONEFOLD_INVALID_ARGUMENT, "neighbours");

  float some[5] = {0};
  EXPECT_OK(onefold_copy_elements(ONEFOLD_F32, where, x + 3, 5, some));
  EXPECT(memcmp(some, x + 3, sizeof some) == 0);
  EXPECT_OK(onefold_copy_elements(ONEFOLD_F32, where, NULL, 0, NULL));
  EXPECT_REFUSED(onefold_copy_elements(ONEFOLD_F32, where, NULL, 5, some), ONEFOLD_NULL_POINTER, "null");
  EXPECT_REFUSED(onefold_copy_elements(ONEFOLD_F32, where, x, tile, some), ONEFOLD_INVALID_ARGUMENT, "fewer elements");
  static float parts_of_complex[2 * (tile - 1)]; /* which have tiles of as many elements as floats, in norm1 */
  EXPECT_OK(onefold_copy_elements(ONEFOLD_C64, where, x, tile - 1, parts_of_complex));
  EXPECT(memcmp(parts_of_complex, x, sizeof parts_of_complex) == 0);
  EXPECT_REFUSED(onefold_copy_elements(ONEFOLD_C64, where, x, tile, parts_of_complex), ONEFOLD_INVALID_ARGUMENT, "fewer elements");
}

void test_messages(void) {
  for (int i = 0; i < count; ++i) {
    x[i] = (float)((i * 37) % 1001) * 0.125f - 60.0f;
    y[i] = 1.0f / (float)(i + 1);
  }
  test_on(onefold_serial());
  test_on(onefold_best());

  const onefold_message_part none = {ONEFOLD_C64, ONEFOLD_MIN, 0, 6}, no_room = {ONEFOLD_F32, ONEFOLD_SUM, 0, 0};
  EXPECT(onefold_message_bytes(&none, 1) == 0 && onefold_message_bytes(&no_room, 1) == 0 && onefold_message_bytes(parts, 0) == 0);
  EXPECT(onefold_tile_elements(ONEFOLD_F32, ONEFOLD_DOT) == tile &&
         onefold_tile_elements(ONEFOLD_F32, ONEFOLD_REDUCE_TOGETHER) == tile);
  EXPECT(onefold_tile_elements(ONEFOLD_F64, ONEFOLD_SUM) == 512 && onefold_tile_elements(ONEFOLD_C128, ONEFOLD_SUM) == 256);
  EXPECT(onefold_tile_elements(ONEFOLD_C64, ONEFOLD_MIN) == 0 && onefold_tile_elements(99, ONEFOLD_SUM) == 0 &&
         onefold_tile_elements(ONEFOLD_F32, -1) == 0);

  /* Too little room, which only some orders of merging come to see. */
  static uint64_t narrow[3][256 / 8];
  static const uint64_t borders[4] = {tile, 4 * tile, 7 * tile, 8 * tile};
  const onefold_message_part two = {ONEFOLD_F32, ONEFOLD_SUM, 0, 2};
  float sum = 0;
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_OK(onefold_message_begin(narrow[rank], 256, &two, 1, 5, rank));
    EXPECT_OK(onefold_message_add(narrow[rank], 0, onefold_serial(), x, NULL, borders[rank], borders[rank + 1] - borders[rank],
                                  8 * tile, NULL));
  }
  onefold_message_merge(narrow[0], narrow[1]);
  onefold_message_merge(narrow[1], narrow[2]);
  EXPECT_REFUSED(onefold_message_result(narrow[2], 0, 3, 8 * tile, 0, &sum), ONEFOLD_COMMUNICATION_FAILED, "too little room");
  EXPECT_REFUSED(onefold_message_begin((char*)narrow + 1, 256, &two, 1, 5, 0), ONEFOLD_MISALIGNED_POINTER, "aligned");

  /* Memory that holds no message. */
  static uint64_t nothing[64];
  for (int filled = 0; filled < 2; ++filled) {
    memset(nothing, filled == 0 ? 0 : 0xAB, sizeof nothing);
    EXPECT_REFUSED(onefold_message_add(nothing, 0, onefold_serial(), x, y, 0, count, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                   "holds none");
    EXPECT_REFUSED(onefold_message_add(nothing, 77, onefold_serial(), x, y, 0, count, count, NULL), ONEFOLD_INVALID_ARGUMENT,
                   "holds none");
    onefold_message_fail(nothing, ONEFOLD_OUT_OF_MEMORY, 0);
    EXPECT(((const unsigned char*)nothing)[20] == (filled == 0 ? 0 : 0xAB));
  }
  onefold_message_fail(NULL, ONEFOLD_OUT_OF_MEMORY, 0);
  onefold_message_merge(NULL, NULL);
  EXPECT(onefold_message_signature(NULL) == 0);
  EXPECT_REFUSED(onefold_message_begin(messages[0], 255, parts, 2, 5, 0), ONEFOLD_INVALID_ARGUMENT, "bytes of the message");
  EXPECT_REFUSED(onefold_message_begin(messages[0], 256, parts, 2, 5, -1), ONEFOLD_INVALID_ARGUMENT, "rank");
  EXPECT_REFUSED(onefold_message_begin(NULL, 256, parts, 2, 5, 0), ONEFOLD_NULL_POINTER, "message");
  // Of real numbers one reduction by itself has a message of the same size in every form and type.
  for (uint32_t values = 1; values <= 60; ++values) {
    const onefold_message_part of_sum = {ONEFOLD_F64, ONEFOLD_SUM, 0, values};
    const size_t bytes = onefold_message_bytes(&of_sum, 1);
    EXPECT(bytes >= 64 + 8 * values);
    for (int32_t type = ONEFOLD_F32; type <= ONEFOLD_U64; ++type)
      for (int32_t form = ONEFOLD_SUM; form < ONEFOLD_REDUCE_TOGETHER; ++form) {
        const onefold_message_part one = {type, form, 0, values};
        const size_t its = onefold_message_bytes(&one, 1);
        EXPECT(its == bytes || its == 0);  // 0: there is no such reduction
      }
  }
  EXPECT(onefold_is_free_of_order(ONEFOLD_F32, ONEFOLD_MAX) && onefold_is_free_of_order(ONEFOLD_I32, ONEFOLD_SUM));
  EXPECT(!onefold_is_free_of_order(ONEFOLD_F32, ONEFOLD_SUM) && !onefold_is_free_of_order(99, ONEFOLD_MAX));
  EXPECT(onefold_is_free_of_order(ONEFOLD_C128, ONEFOLD_NORM_INF) && !onefold_is_free_of_order(ONEFOLD_C128, ONEFOLD_SUM));
}
