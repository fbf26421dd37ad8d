/* One dot product, one norm and one smallest element of a vector whose rows lie on the ranks of MPI, in C: the same bits on any number of ranks.
 *
 *   mpirun -n 3 ranks
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <onefold/onefold_mpi.h>

enum { all_rows = 1000003 };

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The squared residual of a row of this rank's: a loop of the code's own, whose values are added up where they are made. */
typedef struct rows_of_rank {
  const double *b, *x;
} rows_of_rank;
static int squared_residuals(void* context, uint64_t first, uint64_t count, void* const* values) {
  const rows_of_rank* rows = context;
  double* to = values[0];
  for (uint64_t i = 0; i < count; ++i) {
    const double r = rows->b[first + i] - rows->x[first + i];
    to[i] = r * r;
  }
  return 0;
}

/* The first call that fails, on all ranks. */
static int reduce(MPI_Comm comm, int rank, const rows_of_rank* of, uint64_t count) {
  const onefold_executor here = onefold_serial();
  const onefold_value_source residuals = {(void*)of, squared_residuals};
  onefold_mpi_layout* rows = NULL;
  onefold_arg_result_f64 least = {0, 0};
  double dot = 0, norm = 0, residual = 0, exact = 0;
  onefold_options exactly = {.struct_bytes = sizeof exactly, .guarantee = ONEFOLD_GUARANTEE_EXACT};
  int owner = 0;

  int status = onefold_mpi_layout_create(comm, count, &rows);
  if (status == 0) status = onefold_mpi_dot_f64(rows, here, of->b, of->x, count, &dot);
  if (status == 0) {
    /* Two in one message: a norm of an array, and a sum of values that no array holds. */
    onefold_request two[2] = {onefold_mpi_request(ONEFOLD_NORM2, ONEFOLD_F64, here, of->x, NULL, count, &norm),
                              onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, here, NULL, NULL, count, &residual)};
    two[1].source = &residuals;
    status = onefold_mpi_reduce(rows, ONEFOLD_MPI_ALL_RANKS, two, 2, NULL);
  }
  if (status == 0) status = onefold_mpi_argmin_f64(rows, here, of->x, count, &least);
  if (status == 0) status = onefold_mpi_rank_of(rows, least.index, &owner);
  if (status == 0) {
    /* Correctly rounded, and so the same wherever each element lies. */
    const onefold_request sum = onefold_mpi_request(ONEFOLD_SUM, ONEFOLD_F64, here, of->x, NULL, count, &exact);
    status = onefold_mpi_reduce(rows, ONEFOLD_MPI_ALL_RANKS, &sum, 1, &exactly);
  }
  if (status != 0) fprintf(stderr, "rank %d: %s\n", rank, onefold_mpi_last_error());
  if (status == 0 && rank == 0)
    printf("dot 0x%016" PRIx64 ", norm 0x%016" PRIx64 ", residual 0x%016" PRIx64 ", exact sum 0x%016" PRIx64
           "\nleast %g, row %" PRIu64 "\n",
           bits_of(dot), bits_of(norm), bits_of(residual), bits_of(exact), least.value, least.index);
  if (status == 0 && rank == owner) fprintf(stderr, "rank %d has the least\n", rank);
  onefold_mpi_layout_destroy(rows);
  return status;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const uint64_t begin = (uint64_t)all_rows * (uint64_t)rank / (uint64_t)ranks,
                 end = (uint64_t)all_rows * ((uint64_t)rank + 1) / (uint64_t)ranks;
  const uint64_t count = end - begin;
  double* b = malloc((count + 1) * sizeof *b);
  double* x = malloc((count + 1) * sizeof *x);
  if (b == NULL || x == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (uint64_t i = 0; i < count; ++i) {
    b[i] = 1.0 / (double)(begin + i + 1);
    x[i] = b[i] - 1e-9 * (double)((begin + i) % 1009);
  }
  const rows_of_rank mine = {b, x};
  const int status = reduce(MPI_COMM_WORLD, rank, &mine, count);
  free(b);
  free(x);
  MPI_Finalize();
  return status == 0 ? 0 : 1;
}
