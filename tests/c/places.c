/* places.c  Backends, the catalogue, workspaces and launch policies. */

#include <stdlib.h>

#include "check.h"

static void test_catalogue(void) {
  const size_t count = onefold_variant_count();
  int defaults = 0;
  EXPECT(count > 2);
  EXPECT(onefold_variant(count) == NULL);
  for (size_t i = 0; i < count; ++i) {
    const onefold_variant_info* row = onefold_variant(i);
    char sentence[1024];
    EXPECT(row->name[0] != 0 && row->seed[0] != 0 && row->summary[0] != 0 && row->limits != NULL && row->width_meaning != NULL);
    EXPECT(row->guarantee >= ONEFOLD_GUARANTEE_NONE && row->guarantee <= ONEFOLD_GUARANTEE_EXACT);
    EXPECT_OK(onefold_why_not(row->name, row->backend, onefold_best(), sentence, sizeof sentence));
    EXPECT(row->built || sentence[0] != 0);
    if (strcmp(row->name, "fixed_order") == 0) ++defaults;
  }
  EXPECT(defaults == 2); /* of the CPU, and of CUDA */

  char sentence[8];
  EXPECT_OK(onefold_why_not("fixed_order", ONEFOLD_SERIAL, onefold_serial(), sentence, sizeof sentence));
  EXPECT(sentence[0] == 0);
  EXPECT_OK(onefold_why_not("vector_load", ONEFOLD_CUDA, onefold_serial(), sentence, sizeof sentence));
  EXPECT(strlen(sentence) == 7); /* cut */
  EXPECT_REFUSED(onefold_why_not("no such", ONEFOLD_SERIAL, onefold_serial(), sentence, sizeof sentence), ONEFOLD_UNKNOWN_VARIANT,
                 "no such");
  EXPECT_REFUSED(onefold_why_not("vector_load", ONEFOLD_SERIAL, onefold_serial(), sentence, sizeof sentence), ONEFOLD_UNKNOWN_VARIANT,
                 "of cuda it is one");
  EXPECT_REFUSED(onefold_why_not("fixed_order", 9, onefold_serial(), sentence, sizeof sentence), ONEFOLD_INVALID_ARGUMENT,
                 "backend");
  EXPECT_REFUSED(onefold_why_not(NULL, 0, onefold_serial(), sentence, sizeof sentence), ONEFOLD_NULL_POINTER, "name");
  EXPECT_REFUSED(onefold_why_not("fixed_order", 0, onefold_serial(), NULL, 0), ONEFOLD_NULL_POINTER, "sentence");
}

static void test_workspace(onefold_executor where, int gpu) {
  onefold_workspace* made = NULL;
  EXPECT(onefold_workspace_bytes(1) > 0 && onefold_workspace_bytes((uint64_t)1 << 30) > onefold_workspace_bytes(1));
  if (!gpu) {
    double x[2] = {1, 2}, result = 0;
    onefold_options how = {.struct_bytes = sizeof how};
    EXPECT_OK(onefold_workspace_create(where, 1000, &made));
    EXPECT(made == NULL && onefold_workspace_size(made) == 0);
    how.workspace = made;
    how.needs_workspace = 1;
    EXPECT_OK(onefold_sum_f64_into(where, x, 2, &result, &how));
    EXPECT(result == 3);
    EXPECT_OK(onefold_workspace_create_at(where, x, sizeof x, &made));
    EXPECT(made == NULL);
  } else {
    EXPECT_OK(onefold_workspace_create(where, 1000, &made));
    EXPECT(onefold_workspace_size(made) == onefold_workspace_bytes(1000));
  }
  onefold_workspace_destroy(made);
  EXPECT_REFUSED(onefold_workspace_create(where, 1000, NULL), ONEFOLD_NULL_POINTER, "workspace");
  EXPECT_REFUSED(onefold_workspace_create_at(where, NULL, 1000, &made), ONEFOLD_NULL_POINTER, "memory");
}

static void test_memory(onefold_executor where) {
  onefold_memory_use used = {.struct_bytes = sizeof used};
  EXPECT_OK(onefold_synchronize(where));
  EXPECT_OK(onefold_release_memory(where));
  EXPECT_OK(onefold_memory_in_use(where, &used));
  EXPECT(used.device_bytes == 0 && used.streams == 0);
  EXPECT_REFUSED(onefold_memory_in_use(where, NULL), ONEFOLD_NULL_POINTER, "memory_use");
  used.struct_bytes = 1;
  EXPECT_REFUSED(onefold_memory_in_use(where, &used), ONEFOLD_INVALID_ARGUMENT, "memory_use");
}

static void test_policy(onefold_executor gpu) {
  onefold_tree_policy tree;
  onefold_variant_policy variants[64];
  size_t count = 0, needed = 0;
  EXPECT_OK(onefold_policy_of(gpu, &tree, variants, 64, &count));
  EXPECT(tree.one_block_tiles >= 1 && count <= 64);
  EXPECT_OK(onefold_policy_text(gpu, &tree, variants, count, NULL, 0, &needed));
  char* text = malloc(needed);
  EXPECT_OK(onefold_policy_text(gpu, &tree, variants, count, text, needed, &needed));
  EXPECT(strlen(text) + 1 == needed);
  free(text);
  tree.stream_warps = 4;
  EXPECT_OK(onefold_use_policy(gpu, &tree, NULL, 0));
  EXPECT_OK(onefold_policy_of(gpu, &tree, NULL, 0, &count));
  EXPECT(tree.stream_warps == 4);
  EXPECT_OK(onefold_use_built_in_policy(gpu));
  EXPECT_REFUSED(onefold_use_policy_file(gpu, "/no such file"), ONEFOLD_INVALID_ARGUMENT, "");
}

void test_places(void) {
  onefold_backend_info info = {.struct_bytes = sizeof info};
  EXPECT_OK(onefold_describe_backend(ONEFOLD_SERIAL, &info, NULL, 0));
  EXPECT(info.backend == ONEFOLD_SERIAL && info.built && info.usable && info.threads == 1 && info.devices == 0 &&
         info.detail[0] != 0);
  EXPECT_REFUSED(onefold_describe_backend(ONEFOLD_BEST, &info, NULL, 0), ONEFOLD_INVALID_ARGUMENT, "backend");
  EXPECT_REFUSED(onefold_describe_backend(ONEFOLD_SERIAL, NULL, NULL, 0), ONEFOLD_NULL_POINTER, "backend_info");

  test_catalogue();
  test_workspace(onefold_serial(), 0);
  test_workspace(onefold_best(), 0);
  test_memory(onefold_serial());
  test_memory(onefold_best());

  onefold_tree_policy tree = {0};
  onefold_variant_policy one;
  size_t count = 0;
  EXPECT_REFUSED(onefold_policy_of(onefold_serial(), &tree, NULL, 0, &count), ONEFOLD_UNSUPPORTED, "cuda()");
  EXPECT_REFUSED(onefold_policy_of(onefold_serial(), NULL, NULL, 0, &count), ONEFOLD_NULL_POINTER, "policy");
  EXPECT_REFUSED(onefold_use_policy(onefold_best(), &tree, &one, 0), ONEFOLD_UNSUPPORTED, "best()");
  EXPECT_REFUSED(onefold_use_built_in_policy(onefold_serial()), ONEFOLD_UNSUPPORTED, "cuda()");
  EXPECT_REFUSED(onefold_use_policy_file(onefold_serial(), NULL), ONEFOLD_NULL_POINTER, "path");
  EXPECT_REFUSED(onefold_policy_text(onefold_serial(), &tree, NULL, 0, NULL, 0, NULL), ONEFOLD_UNSUPPORTED, "cuda()");

  onefold_device_info gpus[4];
  EXPECT_OK(onefold_describe_backend(ONEFOLD_CUDA, &info, gpus, 4));
  EXPECT(info.usable == (info.devices > 0));
  if (info.devices > 0) {
    EXPECT(gpus[0].number == 0 && gpus[0].name[0] != 0 && gpus[0].multiprocessors > 0 && gpus[0].memory_bytes > 0);
    test_workspace(onefold_cuda_device(0), 1);
    test_policy(onefold_cuda_device(0));
    EXPECT_OK(onefold_synchronize(onefold_cuda(0, NULL)));
  } else {
    printf("c: no GPU here: %s\n", info.detail);
    EXPECT(onefold_synchronize(onefold_cuda_device(0)) == (info.built ? ONEFOLD_BACKEND_UNAVAILABLE : ONEFOLD_BACKEND_NOT_BUILT));
  }
}
