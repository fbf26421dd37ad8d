#ifndef ONEFOLD_ONEFOLD_MPI_H
#define ONEFOLD_ONEFOLD_MPI_H
/* onefold_mpi.h  Reductions over the ranks of an MPI communicator, for C and for every language that can call it: onefold/mpi.hpp with the requests of
 * onefold.h (docs/ranks.md).
 *
 *   onefold_mpi_layout* rows;
 *   onefold_mpi_layout_create(comm, n, &rows);                             // collective, once: rank after rank holds the next elements of one array
 *   onefold_mpi_dot_f64(rows, onefold_openmp(0), x, y, n, &rho);           // collective: of all ranks' elements, on every rank
 *   ..
 *   onefold_mpi_layout_destroy(rows);                                      // collective, ahead of MPI_Finalize
 *
 * Linking  with the functions that src/mpi/onefold_mpi.cpp defines, which is compiled by whatever MPI the program has: CMake's target onefold::mpi_c does
 *          so, of find_package(onefold COMPONENTS mpi), and `mpicxx -std=c++17 -c $(pkg-config --variable=mpi_source onefold)` does without CMake.
 * Status   as in onefold.h, but that the sentence is onefold_mpi_last_error(). What is wrong on one rank alone is an error on all: its own there,
 *          ONEFOLD_COMMUNICATION_FAILED on the others. What is no request (a type or form that there is not, members that ranks have no use for,
 *          options, a report or an executor that are none, several executors in one call, a list, operators or a function that are NULL) is refused before anything
 *          is sent, on each rank that makes it: others would wait.
 * Bits, order of calls, cost, threads  as in onefold/mpi.hpp.
 */

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <onefold/onefold.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How elements lie on the ranks of a communicator, of which it has a duplicate. */
typedef struct onefold_mpi_layout onefold_mpi_layout;
/** A reduction that has been started. */
typedef struct onefold_mpi_pending onefold_mpi_pending;

/** The sentence about this thread's last call of this header that failed; valid until its next one. Empty before the first. */
const char* onefold_mpi_last_error(void);

/* --- layouts: collective to make and to destroy ------------------------------------------------------------------------------------------- */

/** This rank holds the next `count` elements, behind those of the ranks before it. *made is NULL after an error. Errors: ONEFOLD_INVALID_ARGUMENT for
 *  MPI_COMM_NULL, a communicator between two groups, and, on all ranks, impossible counts; ONEFOLD_COMMUNICATION_FAILED; ONEFOLD_OUT_OF_MEMORY. */
int onefold_mpi_layout_create(MPI_Comm comm, uint64_t count, onefold_mpi_layout** made);
/** The same of the elements begin .. end - 1, which must be the next ones. */
int onefold_mpi_layout_create_range(MPI_Comm comm, uint64_t begin, uint64_t end, onefold_mpi_layout** made);
/** Any elements on any rank, as many in each call as it says: results are those of ONEFOLD_GUARANTEE_EXACT, or of forms whose bits depend on no order. */
int onefold_mpi_layout_create_unordered(MPI_Comm comm, onefold_mpi_layout** made);
/** The first of them of a communicator of Fortran's: an INTEGER, or the MPI_VAL of a TYPE(MPI_Comm). The others are made of MPI_Comm_f2c(). */
int onefold_mpi_layout_create_f(MPI_Fint comm, uint64_t count, onefold_mpi_layout** made);
/** Nothing of it is under way. NULL is none. */
void onefold_mpi_layout_destroy(onefold_mpi_layout* layout);

/** The index of this rank's first element in the array of all ranks, and how many elements all of them have. */
uint64_t onefold_mpi_layout_begin(const onefold_mpi_layout* layout);
uint64_t onefold_mpi_layout_total(const onefold_mpi_layout* layout);
/** Whether no rank's range begins within a tile of elements of this onefold_type, so that calls send no elements. */
int onefold_mpi_layout_is_aligned(const onefold_mpi_layout* layout, int32_t type);
/** The range of a rank, *begin .. *end - 1, where `total` elements of this type are shared out evenly in whole tiles. No call of MPI's. */
int onefold_mpi_aligned_range(int32_t type, uint64_t total, int rank, int ranks, uint64_t* begin, uint64_t* end);
/** The rank that holds an element, the one of an extremum say. Collective: all ranks ask for the same one. */
int onefold_mpi_rank_of(onefold_mpi_layout* layout, uint64_t index, int* rank);

/* --- calls: collective ---------------------------------------------------------------------------------------------------------------------- */

/** In the place of a root: results are on all ranks. */
#define ONEFOLD_MPI_ALL_RANKS (-1)

/** Reduces the elements of all ranks by each of the `count` requests, in one message where none is exact or all are, and stores the results, in host memory, on
 *  rank `root` or on all. The requests are those of onefold_reduce() for this rank's elements, and all name one executor: arrays, two of one type or two for
 *  ONEFOLD_DOT, `vectors`, and a `source` on the CPU executors, which is asked for the indices 0 .. count - 1; ONEFOLD_MEAN of a source takes `present`. What
 *  ranks have no use for is ONEFOLD_UNSUPPORTED: ONEFOLD_INTO, `own`, `exact_state`, counts and addresses in memory, ONEFOLD_REDUCE_TOGETHER of an array, whose operators are as
 *  many requests. `how` may be NULL; its report says what this rank has reduced. */
int onefold_mpi_reduce(onefold_mpi_layout* layout, int root, const onefold_request* requests, size_t count,
                       const onefold_options* how);

/** In the place of that on a rank that cannot take part, because something of its own has failed: with the same requests, whose arrays are not read and may be NULL. On the
 *  other ranks the call is ONEFOLD_COMMUNICATION_FAILED, and nobody waits for ever. */
int onefold_mpi_give_up(onefold_mpi_layout* layout, int root, const onefold_request* requests, size_t count,
                        const onefold_options* how);

/** Starts a reduction, and waits for the ranks that hold elements of the same tile to start it, where there are such: this rank's elements are reduced when it returns, and *started has to be waited for, which is also where this rank's own errors come out. Several may be
 *  under way, started in one order on all ranks. Results, and what `source` refers to, live until then. Where MPI or memory has failed, or the call is none, that is returned
 *  here: nothing is under way, and *started is NULL. */
int onefold_mpi_start(onefold_mpi_layout* layout, int root, const onefold_request* requests, size_t count,
                      const onefold_options* how, onefold_mpi_pending** started);
/** *done is 1 if onefold_mpi_wait() would return at once, else 0. */
int onefold_mpi_test(onefold_mpi_pending* started, int* done);
/** Waits, stores the results and gives `started` back, also where it fails. */
int onefold_mpi_wait(onefold_mpi_pending* started);

/* --- operators of the caller's: collective ------------------------------------------------------------------------------------------------ */

/** A reduction of this rank's values by an operator of the caller's, as states of onefold_range_create_own() are made. */
typedef struct onefold_mpi_own_request {
  size_t struct_bytes;
  const onefold_own_operator*
      of; /**< its context outlives the reduction; all else is copied. On all ranks the same, which nothing can tell but by the size of values */
  onefold_executor where;             /**< onefold_serial() or onefold_openmp() */
  const void* input;                  /**< `count` values in host memory, which are all there; or NULL, and */
  const onefold_value_source* source; /**< what gives this rank's values 0 .. count - 1, as onefold_range_add_values() asks it */
  uint64_t count;
  void* output; /**< one value; may be NULL on ranks that get none */
} onefold_mpi_own_request;

/** Reduces the values of all ranks by each of the `count` requests, with the bits of one core. Of a layout with an order: ONEFOLD_GUARANTEE_NOT_MET of others and of
 *  ONEFOLD_GUARANTEE_EXACT. Where no rank has a value ONEFOLD_INVALID_ARGUMENT. The states go along a tree of the ranks, so that ranks get on within calls on their layout alone (docs/ranks.md):
 *  that says more of onefold_mpi_start_own(), which is to onefold_mpi_start() what this one is to onefold_mpi_reduce(), and whose operators are called until the wait
 *  returns. Cost: the local reduction, and two messages of some KiB for each doubling of the ranks. */
int onefold_mpi_reduce_own(onefold_mpi_layout* layout, int root, const onefold_mpi_own_request* requests, size_t count,
                           const onefold_options* how);
int onefold_mpi_give_up_own(onefold_mpi_layout* layout, int root, const onefold_mpi_own_request* requests, size_t count,
                            const onefold_options* how);
int onefold_mpi_start_own(onefold_mpi_layout* layout, int root, const onefold_mpi_own_request* requests, size_t count,
                          const onefold_options* how, onefold_mpi_pending** started);

/* --- one form of one array ------------------------------------------------------------------------------------------------------------------ */

/** A request of `count` elements at x, for ONEFOLD_DOT also at y. Its other members may be set behind. */
static inline onefold_request onefold_mpi_request(int32_t form, int32_t type, onefold_executor where, const void* x, const void* y,
                                                  uint64_t count, void* result) {
  onefold_request what;
  memset(&what, 0, sizeof(what));
  what.struct_bytes = sizeof(what);
  what.where = where;
  what.type = type;
  what.form = form;
  what.input = x;
  what.second = y;
  what.count = count;
  what.output = result;
  return what;
}

/** onefold_mpi_<form>_<type>(layout, where, x, count, &result), and onefold_mpi_dot_<type>(layout, where, x, y, count, &result): the result on all ranks. */
#ifdef ONEFOLD_MPI_DEFINES_FORMS /* onefold_mpi.cpp */
#define ONEFOLD_MPI_BODY(...) \
  { __VA_ARGS__ }
#else
#define ONEFOLD_MPI_BODY(...) ;
#endif
#define ONEFOLD_MPI_FORM(name, type, T, R, FORM, TYPE)                                                                       \
  int onefold_mpi_##name##_##type(onefold_mpi_layout* layout, onefold_executor where, const T* x, uint64_t count, R* result) \
      ONEFOLD_MPI_BODY(const onefold_request what = onefold_mpi_request(FORM, TYPE, where, x, NULL, count, result);          \
                       return onefold_mpi_reduce(layout, ONEFOLD_MPI_ALL_RANKS, &what, 1, NULL);)
#define ONEFOLD_MPI_SUMS(type, T, TYPE)                                                                                  \
  ONEFOLD_MPI_FORM(sum, type, T, T, ONEFOLD_SUM, TYPE)                                                                   \
  int onefold_mpi_dot_##type(onefold_mpi_layout* layout, onefold_executor where, const T* x, const T* y, uint64_t count, \
                             T* result)                                                                                  \
      ONEFOLD_MPI_BODY(const onefold_request what = onefold_mpi_request(ONEFOLD_DOT, TYPE, where, x, y, count, result);  \
                       return onefold_mpi_reduce(layout, ONEFOLD_MPI_ALL_RANKS, &what, 1, NULL);)
#define ONEFOLD_MPI_NORMS(type, T, R, TYPE)                      \
  ONEFOLD_MPI_FORM(mean, type, T, T, ONEFOLD_MEAN, TYPE)         \
  ONEFOLD_MPI_FORM(norm1, type, T, R, ONEFOLD_NORM1, TYPE)       \
  ONEFOLD_MPI_FORM(norm2, type, T, R, ONEFOLD_NORM2, TYPE)       \
  ONEFOLD_MPI_FORM(norm_inf, type, T, R, ONEFOLD_NORM_INF, TYPE) \
  ONEFOLD_MPI_FORM(sum_of_squares, type, T, R, ONEFOLD_SUM_OF_SQUARES, TYPE)
#define ONEFOLD_MPI_EXTREMA(type, T, TYPE)                                           \
  ONEFOLD_MPI_FORM(min, type, T, T, ONEFOLD_MIN, TYPE)                               \
  ONEFOLD_MPI_FORM(max, type, T, T, ONEFOLD_MAX, TYPE)                               \
  ONEFOLD_MPI_FORM(argmin, type, T, onefold_arg_result_##type, ONEFOLD_ARGMIN, TYPE) \
  ONEFOLD_MPI_FORM(argmax, type, T, onefold_arg_result_##type, ONEFOLD_ARGMAX, TYPE)
#define ONEFOLD_MPI_MULTI_DOT(type, T, TYPE)                                                                             \
  int onefold_mpi_multi_dot_##type(onefold_mpi_layout* layout, onefold_executor where, const T* const* x, int rows,      \
                                   const T* const* y, int columns, uint64_t count, T* results)                           \
      ONEFOLD_MPI_BODY(onefold_request what = onefold_mpi_request(ONEFOLD_DOT, TYPE, where, NULL, NULL, count, results); \
                       onefold_vectors vectors; vectors.x = (const void* const*)x; vectors.y = (const void* const*)y;    \
                       vectors.rows = rows; vectors.columns = columns; what.vectors = &vectors;                          \
                       return onefold_mpi_reduce(layout, ONEFOLD_MPI_ALL_RANKS, &what, 1, NULL);)
ONEFOLD_MPI_SUMS(f32, float, ONEFOLD_F32)
ONEFOLD_MPI_SUMS(f64, double, ONEFOLD_F64)
ONEFOLD_MPI_SUMS(c64, onefold_c64, ONEFOLD_C64)
ONEFOLD_MPI_SUMS(c128, onefold_c128, ONEFOLD_C128)
ONEFOLD_MPI_SUMS(i32, int32_t, ONEFOLD_I32)
ONEFOLD_MPI_SUMS(u32, uint32_t, ONEFOLD_U32)
ONEFOLD_MPI_SUMS(i64, int64_t, ONEFOLD_I64)
ONEFOLD_MPI_SUMS(u64, uint64_t, ONEFOLD_U64)
ONEFOLD_MPI_NORMS(f32, float, float, ONEFOLD_F32)
ONEFOLD_MPI_NORMS(f64, double, double, ONEFOLD_F64)
ONEFOLD_MPI_NORMS(c64, onefold_c64, float, ONEFOLD_C64)
ONEFOLD_MPI_NORMS(c128, onefold_c128, double, ONEFOLD_C128)
ONEFOLD_MPI_EXTREMA(f32, float, ONEFOLD_F32)
ONEFOLD_MPI_EXTREMA(f64, double, ONEFOLD_F64)
ONEFOLD_MPI_EXTREMA(i32, int32_t, ONEFOLD_I32)
ONEFOLD_MPI_EXTREMA(u32, uint32_t, ONEFOLD_U32)
ONEFOLD_MPI_EXTREMA(i64, int64_t, ONEFOLD_I64)
ONEFOLD_MPI_EXTREMA(u64, uint64_t, ONEFOLD_U64)
/* `rows` arrays with `columns` ones, row by row: ONEFOLD_MOST_DOTS results at most. */
ONEFOLD_MPI_MULTI_DOT(f32, float, ONEFOLD_F32)
ONEFOLD_MPI_MULTI_DOT(f64, double, ONEFOLD_F64)
#undef ONEFOLD_MPI_BODY
#undef ONEFOLD_MPI_FORM
#undef ONEFOLD_MPI_SUMS
#undef ONEFOLD_MPI_NORMS
#undef ONEFOLD_MPI_EXTREMA
#undef ONEFOLD_MPI_MULTI_DOT

#ifdef __cplusplus
}
#endif

#endif
