#ifndef ONEFOLD_TESTS_C_CALLS_H
#define ONEFOLD_TESTS_C_CALLS_H
/* c_calls.h  What a program in C makes of onefold_mpi.h: compiled as C, compared with one core by c_calls_test.cpp. */

#include <onefold/onefold_mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct c_results {
  double sum, dot, norm2, largest, of_function, exact_sum;
  double dots[2];
  double farthest[2]; /* by an operator of its own */
  onefold_arg_result_f64 smallest;
  int holder;
} c_results;

/* Of this rank's x; the first status that is not ONEFOLD_OK. */
int named_forms_of_c(onefold_mpi_layout* rows, const double* x, uint64_t count, c_results* found);

#ifdef __cplusplus
}
#endif

#endif
