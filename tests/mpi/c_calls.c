#include "c_calls.h"

static int twice_and_one(void* context, uint64_t first, uint64_t count, void* const* values) {
  const double* x = (const double*)context + first;
  double* to = (double*)values[0];
  for (uint64_t i = 0; i < count; ++i) to[i] = 2 * x[i] + 1;
  return 0;
}

/* Of two numbers that are as far from zero the one that is not negative. */
static int farther(void* context, void* a, const void* b, uint64_t count) {
  double* mine = (double*)a;
  const double* others = (const double*)b;
  (void)context;
  for (uint64_t i = 0; i < count; ++i) {
    const double here = mine[i] < 0 ? -mine[i] : mine[i], there = others[i] < 0 ? -others[i] : others[i];
    if (there > here || (there == here && others[i] > mine[i])) mine[i] = others[i];
  }
  return 0;
}

int named_forms_of_c(onefold_mpi_layout* rows, const double* x, uint64_t count, c_results* found) {
  const onefold_executor here = onefold_openmp(2);
  const onefold_value_source source = {(void*)x, twice_and_one};
  onefold_options exactly = {.struct_bytes = sizeof exactly, .guarantee = ONEFOLD_GUARANTEE_EXACT};
  onefold_request what[2];
  onefold_mpi_pending* started;
  int status;
  if ((status = onefold_mpi_sum_f64(rows, here, x, count, &found->sum)) != 0) return status;
  if ((status = onefold_mpi_dot_f64(rows, here, x, x, count, &found->dot)) != 0) return status;
  if ((status = onefold_mpi_norm2_f64(rows, here, x, count, &found->norm2)) != 0) return status;
  if ((status = onefold_mpi_argmin_f64(rows, here, x, count, &found->smallest)) != 0) return status;
  if ((status = onefold_mpi_multi_dot_f64(rows, here, &x, 1, (const double* const[]){x, x}, 2, count, found->dots)) != 0)
    return status;
  what[0] = onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, here, NULL, NULL, count, &found->of_function);
  what[0].source = &source;
  what[1] = onefold_mpi_request(ONEFOLD_MAX, ONEFOLD_F64, here, x, NULL, count, &found->largest);
  if ((status = onefold_mpi_start(rows, ONEFOLD_MPI_ALL_RANKS, what, 2, NULL, &started)) != 0) return status;
  if ((status = onefold_mpi_wait(started)) != 0) return status;
  what[0] = onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, here, x, NULL, count, &found->exact_sum);
  if ((status = onefold_mpi_reduce(rows, ONEFOLD_MPI_ALL_RANKS, what, 1, &exactly)) != 0) return status;
  const onefold_own_operator farthest = {sizeof farthest, NULL, sizeof(double), 0, farther};
  const onefold_mpi_own_request own[2] = {
      {.struct_bytes = sizeof *own, .of = &farthest, .where = here, .input = x, .count = count, .output = &found->farthest[0]},
      {.struct_bytes = sizeof *own,
       .of = &farthest,
       .where = here,
       .source = &source,
       .count = count,
       .output = &found->farthest[1]}};
  if ((status = onefold_mpi_reduce_own(rows, ONEFOLD_MPI_ALL_RANKS, own, 2, NULL)) != 0) return status;
  return onefold_mpi_rank_of(rows, onefold_mpi_layout_total(rows) - 1, &found->holder);
}
