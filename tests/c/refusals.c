/* refusals.c  What is refused, and how it is told. */

#include "check.h"

#include <stddef.h>
#include <stdlib.h>

static onefold_request sum_of(const double* x, uint64_t n, double* result) {
  onefold_request what = {.struct_bytes = sizeof what,
                          .where = onefold_serial(),
                          .type = ONEFOLD_F64,
                          .form = ONEFOLD_SUM,
                          .input = x,
                          .count = n,
                          .output = result};
  return what;
}

/* A structure of a newer header: one member more. */
struct newer_request {
  onefold_request known;
  uint64_t more;
};

void test_refusals(void) {
  const double x[4] = {1, 2, 3, 4};
  double result = 0;

  EXPECT(onefold_abi_version() == ONEFOLD_ABI_VERSION);
  EXPECT(strcmp(onefold_status_name(ONEFOLD_OK), "ok") == 0);
  EXPECT(strcmp(onefold_status_name(ONEFOLD_INVALID_ARGUMENT), "invalid_argument") == 0);
  EXPECT(strcmp(onefold_status_name(ONEFOLD_CALLBACK_FAILED), "callback_failed") == 0);
  EXPECT(strcmp(onefold_status_name(ONEFOLD_COMMUNICATION_FAILED), "communication_failed") == 0);
  EXPECT(strcmp(onefold_status_name(ONEFOLD_COMMUNICATION_FAILED + 1), "unknown") == 0);
  EXPECT(strcmp(onefold_status_name(-1), "unknown") == 0);

  EXPECT_REFUSED(onefold_sum_f64(onefold_serial(), NULL, 4, &result), ONEFOLD_NULL_POINTER, "null");
  EXPECT_REFUSED(onefold_sum_f64(onefold_serial(), x, 4, NULL), ONEFOLD_NULL_POINTER, "output");
  EXPECT_OK(onefold_sum_f64(onefold_serial(), NULL, 0, &result));
  EXPECT(result == 0);
  EXPECT_REFUSED(onefold_sum_f64(onefold_serial(), (const double*)((const char*)x + 1), 2, &result), ONEFOLD_MISALIGNED_POINTER,
                 "aligned");
  EXPECT_REFUSED(onefold_sum_f64(onefold_serial(), x, (uint64_t)-4, &result), ONEFOLD_INVALID_ARGUMENT, "negative");
  EXPECT_REFUSED(onefold_sum_f64(onefold_cuda(9999, NULL), x, 4, &result),
                 onefold_sum_f64(onefold_cuda_device(9999), x, 4, &result), "");
  EXPECT(onefold_sum_f64(onefold_cuda(9999, NULL), x, 4, &result) != ONEFOLD_OK);
  onefold_executor nowhere = onefold_serial();
  nowhere.backend = 77;
  EXPECT_REFUSED(onefold_sum_f64(nowhere, x, 4, &result), ONEFOLD_INVALID_ARGUMENT, "executor");

  onefold_request what = sum_of(x, 4, &result);
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(result == 10);
  EXPECT_REFUSED(onefold_reduce(NULL, NULL), ONEFOLD_NULL_POINTER, "request");
  what.struct_bytes = 0;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "struct_bytes");
  what.struct_bytes = offsetof(onefold_request, second); /* of an older header */
  result = 0;
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(result == 10);
  struct newer_request newer = {sum_of(x, 4, &result), 0};
  newer.known.struct_bytes = sizeof newer;
  result = 0;
  EXPECT_OK(onefold_reduce(&newer.known, NULL));
  EXPECT(result == 10);
  newer.more = 1;
  EXPECT_REFUSED(onefold_reduce(&newer.known, NULL), ONEFOLD_UNSUPPORTED, "newer");

  uint64_t count = 3; /* in memory, and at most 4 */
  what = sum_of(x, 4, &result);
  what.count_at = &count;
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(result == 6);
  count = 5;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "the most that it may be");

  const onefold_c64 z[3] = {{1, 2}, {3, 4}, {5, 6}}; /* both of complex numbers */
  const onefold_c64* of_z = z;
  onefold_c64 of_two = {0, 0};
  count = 2;
  what = sum_of(NULL, 3, NULL);
  what.type = ONEFOLD_C64;
  what.output = &of_two;
  what.count_at = &count;
  what.input_at = (const void* const*)&of_z;
  EXPECT_OK(onefold_reduce_batch(&what, 1, NULL));
  EXPECT(of_two.real == 4 && of_two.imaginary == 6);

  const double* const of_arrays[3] = {x, x + 1, x + 2}; /* of several arrays */
  double products[3] = {0, 0, 0};
  what = sum_of(NULL, 2, products);
  what.form = ONEFOLD_DOT;
  what.input_at = (const void* const*)of_arrays;
  what.second = x;
  EXPECT_OK(onefold_reduce_arrays(&what, 3, NULL));
  for (int k = 0; k < 3; ++k) EXPECT(products[k] == x[k] * x[0] + x[k + 1] * x[1]);
  what.second = NULL;
  what.second_at = (const void* const*)of_arrays;
  EXPECT_OK(onefold_reduce_arrays(&what, 2, NULL));
  EXPECT(products[0] == x[0] * x[0] + x[1] * x[1] && products[1] == x[1] * x[1] + x[2] * x[2]);
  onefold_arg_result_f64 largest[2] = {{0, 9}, {0, 9}};
  what = sum_of(NULL, 2, NULL);
  what.form = ONEFOLD_ARGMAX;
  what.output = largest;
  what.input_at = (const void* const*)of_arrays;
  EXPECT_OK(onefold_reduce_arrays(&what, 2, NULL));
  EXPECT(largest[0].value == x[1] && largest[1].value == x[2] && largest[1].index == 1);
  EXPECT_OK(onefold_reduce_arrays(&what, 0, NULL));
  /* A second type that is the first one is none: the results have the size that they have without it. */
  const int8_t bytes[3] = {3, 5, 7};
  const int8_t* const of_bytes[2] = {bytes, bytes + 1};
  int8_t wrapped[16];
  memset(wrapped, 9, sizeof wrapped);
  what = sum_of(NULL, 2, NULL);
  what.type = ONEFOLD_I8;
  what.form = ONEFOLD_DOT;
  what.second_type = 1 + ONEFOLD_I8;
  what.flags = ONEFOLD_WIDE;
  what.output = wrapped;
  what.input_at = what.second_at = (const void* const*)of_bytes;
  EXPECT_OK(onefold_reduce_arrays(&what, 2, NULL));
  EXPECT(wrapped[0] == 3 * 3 + 5 * 5 && wrapped[1] == 5 * 5 + 7 * 7);
  for (size_t k = 2; k < sizeof wrapped; ++k) EXPECT(wrapped[k] == 9);
  what = sum_of(NULL, 2, NULL);
  what.form = ONEFOLD_ARGMAX;
  what.output = largest;
  what.input_at = NULL;
  EXPECT_REFUSED(onefold_reduce_arrays(&what, 2, NULL), ONEFOLD_NULL_POINTER, "addresses");
  EXPECT_REFUSED(onefold_reduce_arrays(NULL, 2, NULL), ONEFOLD_NULL_POINTER, "request");
  what.input_at = (const void* const*)of_arrays;
  EXPECT_REFUSED(onefold_reduce_arrays(&what, (size_t)1 << 60, NULL), ONEFOLD_INVALID_ARGUMENT, "cannot be");

  /* Of a program whose header is older: its requests are shorter, and lie closer together. */
  const size_t older = offsetof(onefold_request, lanes);
  double sums[2] = {0, 0};
  unsigned char* const close_together = malloc(2 * older);
  EXPECT(close_together != NULL);
  for (int k = 0; k < 2 && close_together != NULL; ++k) {
    what = sum_of(x + k, 2, &sums[k]);
    what.struct_bytes = older;
    memcpy(close_together + (size_t)k * older, &what, older);
  }
  EXPECT_OK(onefold_reduce_batch((const onefold_request*)(const void*)close_together, 2, NULL));
  EXPECT(sums[0] == x[0] + x[1] && sums[1] == x[1] + x[2]);
  ((onefold_request*)(void*)close_together)->struct_bytes = 8;
  EXPECT_REFUSED(onefold_reduce_batch((const onefold_request*)(const void*)close_together, 2, NULL), ONEFOLD_INVALID_ARGUMENT,
                 "request");
  free(close_together);

  const void* place = x; /* where the array's address stands */
  what = sum_of(NULL, 4, &result);
  what.input_at = (const void* const*)&place;
  result = 0;
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(result == 10);
  place = NULL;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_NULL_POINTER, "input pointer is null");
  place = (const char*)x + 1;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_MISALIGNED_POINTER, "input");
  place = x;
  what.input = x;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "two addresses");
  what.input = NULL;
  what.second_at = (const void* const*)&place;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_UNSUPPORTED, "two in dot");
  what.form = ONEFOLD_DOT;
  EXPECT_OK(onefold_reduce(&what, NULL));
  EXPECT(result == 30);
  what.second_at = NULL;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_NULL_POINTER, "second input");
  what.second_at = (const void* const*)(const void*)((const char*)&place + 1);
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_MISALIGNED_POINTER, "address of an array");

  what = sum_of(x, 4, &result);
  what.reserved = 1;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "reserved");
  what.reserved = 0;
  what.reserved_2 = -3;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "reserved");

  what = sum_of(x, 4, &result);
  what.type = ONEFOLD_C128 + 1;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "request.type");
  what = sum_of(x, 4, &result);
  what.form = -1;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "request.form");
  what = sum_of(x, 4, &result);
  what.form = ONEFOLD_BIT_XOR;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_UNSUPPORTED, "bits");
  what = sum_of(x, 4, &result);
  what.array_count = 4;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "request.array_count");
  const onefold_array crooked = {x, sizeof *x, 3};
  what.arrays = &crooked;
  what.array_count = 1;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "alignment");
  what = sum_of(x, 4, &result);
  what.flags = 4;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "request.flags");
  what = sum_of(x, 4, &result);
  what.flags = ONEFOLD_WIDE;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_UNSUPPORTED, "f64");
  what = sum_of(x, 4, &result);
  what.results = 17;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "1 to 16");
  what = sum_of(x, 4, &result);
  what.form = ONEFOLD_REDUCE_TOGETHER;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_NULL_POINTER, "operators");
  const uint8_t none[1] = {9};
  what.operators = none;
  EXPECT_REFUSED(onefold_reduce(&what, NULL), ONEFOLD_INVALID_ARGUMENT, "operator");

  onefold_report ran = {.struct_bytes = sizeof ran};
  onefold_options how = {.struct_bytes = sizeof how};
  what = sum_of(x, 4, &result);
  how.report = &ran;
  EXPECT_OK(onefold_reduce(&what, &how));
  EXPECT(strcmp(ran.variant, "fixed_order") == 0 && strncmp(ran.implementation, "fixed_order/", 12) == 0);
  EXPECT(ran.backend == ONEFOLD_SERIAL && ran.guarantee == ONEFOLD_GUARANTEE_FIXED && ran.threads == 1 && ran.device == -1);
  for (size_t slip = 0; slip <= sizeof(&ran); slip += sizeof(&ran)) {
    ran.struct_bytes = slip;
    EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_INVALID_ARGUMENT, "report");
  }
  struct {
    onefold_report known;
    int64_t more[2];
  } longer = {.known = {.struct_bytes = sizeof longer}, .more = {1, 2}};
  how.report = &longer.known;
  EXPECT_OK(onefold_reduce(&what, &how));
  EXPECT(longer.known.threads == 1 && longer.known.struct_bytes == sizeof longer && longer.more[0] == 0 && longer.more[1] == 0);
  how.report = NULL;
  how.variant = "fixd_order";
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_UNKNOWN_VARIANT, "did you mean fixed_order");
  how.variant = "fixed_order and more";
  how.variant_bytes = 11;
  EXPECT_OK(onefold_reduce(&what, &how));
  how.variant = NULL;
  how.guarantee = ONEFOLD_GUARANTEE_EXACT;
  EXPECT_OK(onefold_reduce(&what, &how));
  what.form = ONEFOLD_PROD;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_GUARANTEE_NOT_MET, "no exact form");
  what.form = ONEFOLD_SUM;
  how.guarantee = 7;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_INVALID_ARGUMENT, "guarantee");
  how.guarantee = ONEFOLD_GUARANTEE_FIXED;
  how.knobs.finish = 7;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_INVALID_ARGUMENT, "finish");
  how.knobs.finish = ONEFOLD_FINISH_AUTOMATIC;
  how.knobs.block_size = -1;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_INVALID_ARGUMENT, "block_size");
  how.knobs.block_size = 0;
  EXPECT_OK(onefold_reduce(&what, &how));
  how.struct_bytes = 3;
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_INVALID_ARGUMENT, "options");
  EXPECT_REFUSED(onefold_sum_f64_into(onefold_serial(), x, 4, &result, &how), ONEFOLD_INVALID_ARGUMENT, "options");
  how.struct_bytes = sizeof(&how); /* the slip: nothing of what is asked for would be read */
  EXPECT_REFUSED(onefold_reduce(&what, &how), ONEFOLD_INVALID_ARGUMENT, "options");
  EXPECT_REFUSED(onefold_sum_f64_into(onefold_serial(), x, 4, &result, &how), ONEFOLD_INVALID_ARGUMENT, "options");

  EXPECT_REFUSED(onefold_sum_f64_of(onefold_serial(), 4, NULL, NULL, &result), ONEFOLD_NULL_POINTER, "function");
}
