#ifndef ONEFOLD_ONEFOLD_H
#define ONEFOLD_ONEFOLD_H
/* onefold.h  Parallel reductions for C, and for every language that can call it. The library's one ABI: the C++ headers are made of it.
 *
 *   double total;
 *   if (onefold_sum_f64(onefold_openmp(0), x, n, &total) != 0) puts(onefold_last_error());
 *
 * Status   every function that can fail returns 0, or one of onefold_status; onefold_last_error() then has the sentence. Nothing is
 *          printed, no exception leaves the library, and the next call works (but after ONEFOLD_DEVICE_LOST and ONEFOLD_KOKKOS_FINALIZED).
 * Bits     tree v1 (docs/order.md): the same on every backend, unless onefold_options ask for less.
 * Threads  every function may be called from several threads at once.
 * Growth   a structure that may get more members begins with `struct_bytes`: sizeof of it, as the caller's compiler sees it. A member that is 0
 *          or NULL is the library's choice. So `onefold_options how = {.struct_bytes = sizeof how};` asks for nothing.
 * Linking  libonefold.a is written in C++: pkg-config --libs onefold names its standard library, too. libonefold.so needs nothing of the caller.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef ONEFOLD_IN_STATIC_LIBRARY /* the library's own units: several shared libraries of a program may each have one, and each calls its own */
#define ONEFOLD_API __attribute__((visibility("hidden")))
#elif defined(__GNUC__)
#define ONEFOLD_API __attribute__((visibility("default")))
#else
#define ONEFOLD_API
#endif

/** Grows by one with each change of this file that a compiled program could notice but for new functions and new members at the ends. */
#define ONEFOLD_ABI_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif

/** ONEFOLD_ABI_VERSION of the library that runs. */
ONEFOLD_API int onefold_abi_version(void);

/* --- status ----------------------------------------------------------------------------------------------------------------------------- */

/** What a call returns. */
typedef enum onefold_status {
  ONEFOLD_OK = 0,
  ONEFOLD_INVALID_ARGUMENT = 1,     /**< an argument that no backend could take */
  ONEFOLD_NULL_POINTER = 2,         /**< a null input with elements, or a null output */
  ONEFOLD_MISALIGNED_POINTER = 3,   /**< a pointer that is not aligned to its element type */
  ONEFOLD_DEVICE_POINTER = 4,       /**< GPU memory given to a CPU executor */
  ONEFOLD_HOST_POINTER = 5,         /**< host memory that the GPU cannot read, where it is not copied */
  ONEFOLD_WRONG_DEVICE = 6,         /**< memory of one GPU given to an executor on another */
  ONEFOLD_UNKNOWN_VARIANT = 7,      /**< no variant has this name; the sentence lists the nearest */
  ONEFOLD_UNSUPPORTED = 8,          /**< the variant, backend or device cannot do what was asked */
  ONEFOLD_GUARANTEE_NOT_MET = 9,    /**< the requested guarantee cannot be given */
  ONEFOLD_BACKEND_NOT_BUILT = 10,   /**< this build of onefold has no such backend */
  ONEFOLD_BACKEND_UNAVAILABLE = 11, /**< the backend is built but cannot run here (no driver, no device) */
  ONEFOLD_OUT_OF_MEMORY = 12,       /**< host or device memory could not be had */
  ONEFOLD_DEVICE_LOST = 13,         /**< an earlier error has made the GPU unusable for this process */
  ONEFOLD_DEVICE_ERROR = 14,        /**< another error that the CUDA runtime reported */
  ONEFOLD_KOKKOS_FINALIZED = 15,    /**< the application has finalised Kokkos, which cannot be started twice */
  ONEFOLD_CALLBACK_FAILED = 16,     /**< a function of the caller's returned something else than 0 */
  ONEFOLD_COMMUNICATION_FAILED = 17 /**< the ranks of a reduction do not fit together, or what connects them has failed */
} onefold_status;

/** "ok", "invalid_argument", ..; "unknown" for what is no status. Lives as long as the library. */
ONEFOLD_API const char* onefold_status_name(int status);

/** The sentence about this thread's last call that failed; valid until its next one. Empty before the first. At most 2 KiB. */
ONEFOLD_API const char* onefold_last_error(void);

/* --- what is reduced to what ------------------------------------------------------------------------------------------------------------ */

typedef enum onefold_type {
  ONEFOLD_F32 = 0, /**< float */
  ONEFOLD_F64 = 1, /**< double */
  ONEFOLD_I32 = 2, /**< int32_t, and so on */
  ONEFOLD_U32 = 3,
  ONEFOLD_I64 = 4,
  ONEFOLD_U64 = 5,
  ONEFOLD_I8 = 6, /**< arrays of these and below are converted as they are read: to 64 bits */
  ONEFOLD_U8 = 7, /**< bool too */
  ONEFOLD_I16 = 8,
  ONEFOLD_U16 = 9,
  ONEFOLD_F16 = 10,  /**< onefold_f16: to float */
  ONEFOLD_BF16 = 11, /**< onefold_bf16 */
  ONEFOLD_C64 =
      12, /**< onefold_c64: for sum, prod, dot, mean, sum_of_squares, norm1, norm2, norm_inf, count, all, any, none and mean_variance */
  ONEFOLD_C128 = 13
} onefold_type;

/** Complex numbers, with the layout of C's float _Complex and double _Complex and C++'s std::complex. */
typedef struct onefold_c64 {
  float real, imaginary;
} onefold_c64;
typedef struct onefold_c128 {
  double real, imaginary;
} onefold_c128;

/** Floats of two bytes by their bits: IEEE 754 binary16, with the layout of __half and _Float16, and bfloat16, that of __nv_bfloat16. */
typedef struct onefold_f16 {
  uint16_t bits;
} onefold_f16;
typedef struct onefold_bf16 {
  uint16_t bits;
} onefold_bf16;

typedef enum onefold_operation {
  ONEFOLD_OP_SUM = 0,
  ONEFOLD_OP_PROD = 1,
  ONEFOLD_OP_MIN = 2,
  ONEFOLD_OP_MAX = 3
} onefold_operation;

typedef enum onefold_form {
  ONEFOLD_SUM = 0,
  ONEFOLD_PROD = 1,
  ONEFOLD_MIN = 2, /**< IEEE 754-2019 minimum */
  ONEFOLD_MAX = 3,
  ONEFOLD_DOT = 4,
  ONEFOLD_SUM_OF_SQUARES = 5,
  ONEFOLD_NORM1 = 6,       /**< sum of |x_i|; of integers as an unsigned integer */
  ONEFOLD_NORM_INF = 7,    /**< largest |x_i|; of integers as an unsigned integer */
  ONEFOLD_MEAN = 8,        /**< of integers as a double */
  ONEFOLD_NORM2 = 9,       /**< without overflow on the way; of integers as a double */
  ONEFOLD_MIN_NUMBER = 10, /**< IEEE 754-2019 minimumNumber: a NaN counts as absent */
  ONEFOLD_MAX_NUMBER = 11,
  ONEFOLD_BIT_AND = 12, /**< of integers, as the two below; else ONEFOLD_UNSUPPORTED */
  ONEFOLD_BIT_OR = 13,
  ONEFOLD_BIT_XOR = 14,
  ONEFOLD_COUNT = 15, /**< how many are not zero: a uint64_t */
  ONEFOLD_ALL = 16,   /**< whether all are not zero: a uint8_t, 1 or 0; of no elements 1 */
  ONEFOLD_ANY = 17,   /**< whether one is */
  ONEFOLD_NONE = 18,
  ONEFOLD_ARGMIN = 19, /**< onefold_arg_result_*; of no elements ONEFOLD_INVALID_ARGUMENT */
  ONEFOLD_ARGMAX = 20,
  ONEFOLD_ARGMIN_MAGNITUDE = 21, /**< the same of absolute values; of integers as unsigned ones */
  ONEFOLD_ARGMAX_MAGNITUDE = 22,
  ONEFOLD_ARGMINMAX = 23,      /**< onefold_argminmax_result_* */
  ONEFOLD_MINMAX = 24,         /**< onefold_minmax_result_* */
  ONEFOLD_MEAN_VARIANCE = 25,  /**< onefold_mean_variance_result_f64; _f32 of f32, f16 and bf16 that are not accumulated in f64 */
  ONEFOLD_REDUCE_TOGETHER = 26 /**< several operators in one read: as many values of the type of a sum, side by side */
} onefold_form;

/** The value, and the first index that has it; of NaNs, the first. The index is at byte 8 for every type. */
/* clang-format off */
typedef struct onefold_arg_result_f32 { float value; uint64_t index; } onefold_arg_result_f32;
typedef struct onefold_arg_result_f64 { double value; uint64_t index; } onefold_arg_result_f64;
typedef struct onefold_arg_result_i32 { int32_t value; uint64_t index; } onefold_arg_result_i32;
typedef struct onefold_arg_result_u32 { uint32_t value; uint64_t index; } onefold_arg_result_u32;
typedef struct onefold_arg_result_i64 { int64_t value; uint64_t index; } onefold_arg_result_i64;
typedef struct onefold_arg_result_u64 { uint64_t value; uint64_t index; } onefold_arg_result_u64;
typedef struct onefold_arg_result_i8 { int8_t value; uint64_t index; } onefold_arg_result_i8;
typedef struct onefold_arg_result_u8 { uint8_t value; uint64_t index; } onefold_arg_result_u8;
typedef struct onefold_arg_result_i16 { int16_t value; uint64_t index; } onefold_arg_result_i16;
typedef struct onefold_arg_result_u16 { uint16_t value; uint64_t index; } onefold_arg_result_u16;
typedef struct onefold_arg_result_f16 { onefold_f16 value; uint64_t index; } onefold_arg_result_f16;
typedef struct onefold_arg_result_bf16 { onefold_bf16 value; uint64_t index; } onefold_arg_result_bf16;

typedef struct onefold_argminmax_result_f32 { onefold_arg_result_f32 min, max; } onefold_argminmax_result_f32;
typedef struct onefold_argminmax_result_f64 { onefold_arg_result_f64 min, max; } onefold_argminmax_result_f64;
typedef struct onefold_argminmax_result_i32 { onefold_arg_result_i32 min, max; } onefold_argminmax_result_i32;
typedef struct onefold_argminmax_result_u32 { onefold_arg_result_u32 min, max; } onefold_argminmax_result_u32;
typedef struct onefold_argminmax_result_i64 { onefold_arg_result_i64 min, max; } onefold_argminmax_result_i64;
typedef struct onefold_argminmax_result_u64 { onefold_arg_result_u64 min, max; } onefold_argminmax_result_u64;
typedef struct onefold_argminmax_result_i8 { onefold_arg_result_i8 min, max; } onefold_argminmax_result_i8;
typedef struct onefold_argminmax_result_u8 { onefold_arg_result_u8 min, max; } onefold_argminmax_result_u8;
typedef struct onefold_argminmax_result_i16 { onefold_arg_result_i16 min, max; } onefold_argminmax_result_i16;
typedef struct onefold_argminmax_result_u16 { onefold_arg_result_u16 min, max; } onefold_argminmax_result_u16;
typedef struct onefold_argminmax_result_f16 { onefold_arg_result_f16 min, max; } onefold_argminmax_result_f16;
typedef struct onefold_argminmax_result_bf16 { onefold_arg_result_bf16 min, max; } onefold_argminmax_result_bf16;

typedef struct onefold_minmax_result_f32 { float min, max; } onefold_minmax_result_f32;
typedef struct onefold_minmax_result_f64 { double min, max; } onefold_minmax_result_f64;
typedef struct onefold_minmax_result_i32 { int32_t min, max; } onefold_minmax_result_i32;
typedef struct onefold_minmax_result_u32 { uint32_t min, max; } onefold_minmax_result_u32;
typedef struct onefold_minmax_result_i64 { int64_t min, max; } onefold_minmax_result_i64;
typedef struct onefold_minmax_result_u64 { uint64_t min, max; } onefold_minmax_result_u64;
typedef struct onefold_minmax_result_i8 { int8_t min, max; } onefold_minmax_result_i8;
typedef struct onefold_minmax_result_u8 { uint8_t min, max; } onefold_minmax_result_u8;
typedef struct onefold_minmax_result_i16 { int16_t min, max; } onefold_minmax_result_i16;
typedef struct onefold_minmax_result_u16 { uint16_t min, max; } onefold_minmax_result_u16;
typedef struct onefold_minmax_result_f16 { onefold_f16 min, max; } onefold_minmax_result_f16;
typedef struct onefold_minmax_result_bf16 { onefold_bf16 min, max; } onefold_minmax_result_bf16;

typedef struct onefold_mean_variance_result_f32 { float mean, variance; } onefold_mean_variance_result_f32;
typedef struct onefold_mean_variance_result_f64 { double mean, variance; } onefold_mean_variance_result_f64;
typedef struct onefold_mean_variance_result_c64 { onefold_c64 mean; float variance; } onefold_mean_variance_result_c64;
typedef struct onefold_mean_variance_result_c128 { onefold_c128 mean; double variance; } onefold_mean_variance_result_c128;
/* clang-format on */

/* --- where it runs ---------------------------------------------------------------------------------------------------------------------- */

typedef enum onefold_backend {
  ONEFOLD_SERIAL = 0,
  ONEFOLD_OPENMP = 1,
  ONEFOLD_CUDA = 2,
  ONEFOLD_BEST = 255 /**< whichever of them can read the array */
} onefold_backend;

/** A place to run: a value, made by one of the functions below. */
typedef struct onefold_executor {
  int32_t backend;    /**< onefold_backend */
  int32_t threads;    /**< of OpenMP; 0 for all */
  int32_t device;     /**< the CUDA device's number */
  int32_t own_stream; /**< not 0: `stream` is the caller's */
  void* stream;       /**< a cudaStream_t */
} onefold_executor;

/** One CPU thread: the calling one. */
ONEFOLD_API onefold_executor onefold_serial(void);
/** So many threads, the calling one among them; 0 takes all of OpenMP's (OMP_NUM_THREADS). They are OpenMP's where it has as many, else
 *  onefold's own. */
ONEFOLD_API onefold_executor onefold_openmp(int threads);
/** The NVIDIA GPU with this number, on the caller's stream (a cudaStream_t), which must outlive its work; NULL is CUDA's default stream. */
ONEFOLD_API onefold_executor onefold_cuda(int device, void* stream);
/** The same on a stream of the library's, which is ordered with CUDA's legacy default stream. */
ONEFOLD_API onefold_executor onefold_cuda_device(int device);
/** Chosen at each call: the GPU that holds the data, else the CPU with as many threads as pay. */
ONEFOLD_API onefold_executor onefold_best(void);

/** Waits until everything put on the executor's stream is done; returns at once for the CPU and onefold_best(). */
ONEFOLD_API int onefold_synchronize(onefold_executor where);

/* --- what a caller may ask for, and what ran -------------------------------------------------------------------------------------------- */

/** What is promised about the bits of a result. */
typedef enum onefold_guarantee {
  ONEFOLD_GUARANTEE_DEFAULT = 0, /**< ONEFOLD_GUARANTEE_FIXED, or what the named variant promises */
  ONEFOLD_GUARANTEE_NONE = 1,    /**< any order of combination */
  ONEFOLD_GUARANTEE_FIXED = 2,   /**< tree v1: the same bits on every backend */
  ONEFOLD_GUARANTEE_EXACT = 3    /**< correctly rounded */
} onefold_guarantee;

/** How the partial results of a CUDA grid's blocks become one value. */
typedef enum onefold_finish {
  ONEFOLD_FINISH_AUTOMATIC = 0,
  ONEFOLD_FINISH_NONE = 1,
  ONEFOLD_FINISH_ATOMIC = 2,
  ONEFOLD_FINISH_HOST = 3,
  ONEFOLD_FINISH_RELAUNCH = 4,
  ONEFOLD_FINISH_LAST_BLOCK = 5,
  ONEFOLD_FINISH_COOPERATIVE = 6
} onefold_finish;

/** Working memory on a GPU, for the reductions of one stream: see onefold_workspace_create(). */
typedef struct onefold_workspace onefold_workspace;

/** What ran. The caller sets struct_bytes; the call fills in the rest where it succeeds, with 0 for members that the library does not know. Texts that are
 *  longer are cut. */
typedef struct onefold_report {
  size_t struct_bytes;
  char variant[64];        /**< the name that was asked for, or that the library chose */
  char implementation[64]; /**< what ran: "fixed_order/avx512", "Kokkos::parallel_reduce", .. */
  int32_t backend;         /**< onefold_backend */
  int32_t guarantee;       /**< onefold_guarantee */
  int32_t finish;          /**< onefold_finish */
  int32_t threads;         /**< CPU threads; 0 on the GPU */
  int32_t device;          /**< CUDA device; -1 on the CPU */
  int32_t block_size;      /**< threads per block of the first launch */
  int32_t width;           /**< the variant's own parameter; 0 where it has none */
  int32_t launches;        /**< kernels that onefold started */
  int64_t grid_size;       /**< blocks of the first launch */
  uint64_t shared_bytes;   /**< dynamic shared memory per block of the first launch */
  uint64_t scratch_bytes;  /**< device memory for a copy of the input: of an in-place variant, or of arrays in host memory */
} onefold_report;

/** The knobs of the lectures' variants: nobody who wants a result needs them. One that is set is met or refused on cuda, never replaced; CPUs have no use for it. */
typedef struct onefold_knobs {
  int32_t finish;     /**< onefold_finish */
  int32_t block_size; /**< threads per block */
  int64_t grid_size;  /**< blocks */
  int32_t width;      /**< the variant's own parameter */
  int32_t reserved;   /**< 0 */
} onefold_knobs;

/** Requests; what is 0 or NULL is the library's choice. */
typedef struct onefold_options {
  size_t struct_bytes;
  const char* variant;          /**< by name; NULL for the default */
  size_t variant_bytes;         /**< its length, or 0 where it ends with a 0 */
  int32_t guarantee;            /**< onefold_guarantee */
  int32_t needs_workspace;      /**< not 0: a cuda call without a workspace is refused */
  onefold_workspace* workspace; /**< cuda: working memory of the caller's own; with it nothing is allocated */
  onefold_report* report;       /**< where to write what ran */
  onefold_knobs knobs;
} onefold_options;

/* --- values and operators of the caller's ----------------------------------------------------------------------------------------------- */

/** Store the values of the indices first .. first + count - 1 at `values` and return 0, or another number to end the call with
 *  ONEFOLD_CALLBACK_FAILED. Each index is asked for once, in blocks that stay in the first-level cache, from several threads at once. They must
 *  return: no longjmp, and no exception. In Fortran declare them `recursive`, or compile them with -frecursive or -fopenmp: else larger local arrays are
 *  static, and threads share them. */
typedef int (*onefold_fill_f32)(void* context, uint64_t first, uint64_t count, float* values);
typedef int (*onefold_fill_f64)(void* context, uint64_t first, uint64_t count, double* values);
typedef int (*onefold_fill_i32)(void* context, uint64_t first, uint64_t count, int32_t* values);
typedef int (*onefold_fill_u32)(void* context, uint64_t first, uint64_t count, uint32_t* values);
typedef int (*onefold_fill_i64)(void* context, uint64_t first, uint64_t count, int64_t* values);
typedef int (*onefold_fill_u64)(void* context, uint64_t first, uint64_t count, uint64_t* values);

/** Values instead of arrays, of any type and of several results, for the CPU executors. */
typedef struct onefold_value_source {
  void* context;
  /** As onefold_fill_*, but value i of result k belongs at values[k] + i; there is values[0] alone where there is one result. */
  int (*fill)(void* context, uint64_t first, uint64_t count, void* const* values);
} onefold_value_source;

/** Values that code of the caller's makes and reduces where it makes them, on a GPU say: onefold/device.cuh has such code for functions of the index. For states of
 *  ranges and messages of ranks. The functions return 0, or another number to end the call with ONEFOLD_CALLBACK_FAILED. */
typedef struct onefold_made_values {
  void* context;
  /** As onefold_value_source's; of fewer values than a tile has. */
  int (*fill)(void* context, uint64_t first, uint64_t count, void* const* values);
  /** The maximal aligned subtrees of the tiles first_tile .. end_tile - 1 of tree v1, over the values of the indices from .. from + count - 1, the first of which begins
   *  a tile: the tree's accumulator of each, for each result, one behind the other at `states`, as docs/order.md has nodes, with places in the whole array. */
  int (*reduce)(void* context, uint64_t from, uint64_t first_tile, uint64_t end_tile, uint64_t count, void* states);
  /** Called behind some of these: what they make need not be there before it has returned. NULL where it is. */
  int (*wait)(void* context);
} onefold_made_values;

/** A reduction with an operator of the caller's, for the CPU executors: his functions make the states of groups, and combine them. They are
 *  called from several threads at once, and return 0, or another number to end the call with ONEFOLD_CALLBACK_FAILED. A lane, a tile and a
 *  group are those of docs/order.md: 256 / value_bytes lanes (the power of two below), 16 rows a tile, 16 tiles a group. */
typedef struct onefold_own_code {
  void* context;
  uint32_t value_bytes;  /**< of what a row holds: 1 to 64 */
  uint32_t state_bytes;  /**< 1 to 1024 */
  uint32_t result_bytes; /**< of what conclude() stores */
  /** Stores the states of the groups that `count` elements from number `first` on fill, the last one perhaps in part; `first` begins one. */
  int (*groups)(void* context, uint64_t first, uint64_t count, void* states);
  /** One level up: of `count` states, in place, state i becomes state 2i (+) state 2i + 1; one without a right sibling moves as it is. */
  int (*level)(void* context, void* states, uint64_t count);
  /** Stores the result of the tree's state; of no elements where `state` is NULL. */
  int (*conclude)(void* context, const void* state, uint64_t count, void* result);
} onefold_own_code;

/** What an onefold_own_code calls whose result is a mean and a variance of values of which some are absent: the state of one tile of `lanes` lanes
 *  (4 to 256), of which the first `count` values exist (1 to 16 * lanes), and value i is there where present[i] is not 0. A state has 24 bytes:
 *  uint64_t count, double mean, double deviation (docs/order.md). */
ONEFOLD_API void onefold_moments_of_tile(int32_t lanes, const double* values, const unsigned char* present, uint64_t count,
                                         void* state);
/** `level` of an onefold_own_code with such states. */
ONEFOLD_API void onefold_moments_level(void* states, uint64_t count);

/** An array that functions of the caller's read. */
typedef struct onefold_array {
  const void* data;
  uint32_t element_bytes;
  uint32_t alignment; /**< what an element's address is a multiple of */
} onefold_array;

/* For code of the caller's that uses a GPU beside the library, as the headers' kernels do. */

/** The number of the GPU that memory belongs to, be it the device's or managed; -1 of the host's. Where ONEFOLD_BEST goes with an array. Cost: 20 to 100 ns. */
ONEFOLD_API int32_t onefold_gpu_of(const void* memory);

/** Makes the primary context of the executor's GPU the calling thread's, and lets it call what would fail, or spoil it, while a stream of the process is being captured. Fails
 *  as a reduction with this executor does; then nothing has changed. `scope` is the caller's, aligned as a pointer, and holds what was until onefold_leave_gpu() puts that back. */
typedef struct onefold_gpu_scope {
  void* held[4];
} onefold_gpu_scope;
ONEFOLD_API int onefold_enter_gpu(onefold_executor where, onefold_gpu_scope* scope);
ONEFOLD_API void onefold_leave_gpu(onefold_gpu_scope* scope);
/** The cudaStream_t that this executor's calls run on: its own, or one of the library's. Fails as onefold_enter_gpu(). */
ONEFOLD_API int onefold_stream_of(onefold_executor where, void** stream);
/** Looks at arrays of `count` elements each that a kernel is to read on the executor's GPU, 3 at most: ONEFOLD_NULL_POINTER, ONEFOLD_MISALIGNED_POINTER, ONEFOLD_HOST_POINTER for memory that
 *  the GPU cannot read, ONEFOLD_WRONG_DEVICE. Of no elements none is looked at. */
ONEFOLD_API int onefold_check_gpu_arrays(onefold_executor where, const onefold_array* arrays, int32_t array_count, uint64_t count);
/** The same of a place that a kernel is to store a result at, of a type with this alignment. */
ONEFOLD_API int onefold_check_gpu_output(onefold_executor where, const void* output, uint32_t alignment);

/** Two sets of vectors for ONEFOLD_DOT, of which each of the one meets each of the other: rows * columns results, row by row, at most
 *  ONEFOLD_MOST_DOTS. On a GPU one launch and one read of every vector for up to 8 dots with one vector in common, or 4 by 4; else some more. */
typedef struct onefold_vectors {
  const void* const* x; /**< `rows` arrays of count elements */
  const void* const* y; /**< `columns` arrays */
  int32_t rows;
  int32_t columns;
} onefold_vectors;
#define ONEFOLD_MOST_DOTS 128

/* --- the call --------------------------------------------------------------------------------------------------------------------------- */

/** onefold_request::flags: the result is stored in the order of the executor's stream, and the host does not wait for it. `output` is then
 *  memory that the executor can write: on a GPU device memory or registered host memory. The CPU executors are done on return. */
#define ONEFOLD_INTO 1u
/** onefold_request::flags: floats other than f64 are accumulated in f64 and c64 in c128, in every form that rounds but norm_inf, and i32 and u32 in 64
 *  bits, in those that add or multiply; the result is of that type, or of its parts'. Integers of 1 and 2 bytes, which have 64 bits without it, are in these forms accumulated in their own
 *  type, in which they wrap: the result is the lowest bytes of that of 64 bits. Dots of two types: f32 becomes f64, and u32 becomes u64. */
#define ONEFOLD_WIDE 2u

/** A reduction. Of `input`, `input_at`, `source` and `own` one is not NULL, unless count is 0. */
typedef struct onefold_request {
  size_t struct_bytes;
  onefold_executor where;
  int32_t type;      /**< onefold_type */
  int32_t form;      /**< onefold_form */
  const void* input; /**< count elements of this type, in memory that the executor can read, or on a GPU of the host's */
  uint64_t count;
  void* output;             /**< a result; with ONEFOLD_INTO see there. Must not overlap the input. Unspecified after an error */
  const void* second;       /**< ONEFOLD_DOT: its second array */
  uint32_t flags;           /**< ONEFOLD_INTO, ONEFOLD_WIDE */
  int32_t results;          /**< ONEFOLD_REDUCE_TOGETHER and `source`: how many; 0 for one, at most 16 */
  const uint8_t* operators; /**< ONEFOLD_REDUCE_TOGETHER: onefold_operation, one for each result */
  int64_t ddof;             /**< ONEFOLD_MEAN_VARIANCE: what is taken from the count; 1 for the variance of a sample. Of no more elements than
                                 that the variance is NaN */
  const onefold_value_source* source; /**< values instead of input */
  const onefold_own_code* own;        /**< code of the caller's: type and form say nothing */
  const void* device;                 /**< made by onefold/device.cuh; else NULL */
  void* tree_value;                   /**< for onefold's own tool; NULL */
  /** The arrays that `source` and `own` read, of `count` elements each: what the executor cannot read is refused then, and ONEFOLD_BEST goes
   *  where the first one lies. NULL where nothing is known of them. */
  const onefold_array* arrays;
  int32_t array_count;            /**< at most 3 */
  int32_t reserved;               /**< 0 */
  const onefold_vectors* vectors; /**< ONEFOLD_DOT of f32 and f64: instead of input and second */
  /** ONEFOLD_GUARANTEE_EXACT: where onefold_exact_words() words are stored too; else NULL. Of several results as many for each. Of complex numbers those
   *  of the parts' type: of sum, mean, mean_variance and dot for the real part and then for the imaginary one, of sum_of_squares and norm2 once. Each part of a dot has two
   *  products for every pair of numbers, and counts them. It is the host's memory: with ONEFOLD_INTO cuda refuses it, and onefold_exact_put_words() puts words
   *  into a GPU's. */
  int64_t* exact_state;
  /** Arrays: NULL, or where the number of elements stands, in memory that the executor reads; `count` is then the most that it may be. cuda reads it
   *  when the reduction begins, in stream order, and takes more than `count` for `count`; it does so for all types and forms; of exact
   *  sums that wait by themselves, and of complex numbers, the host reads it first, and of the latter not with ONEFOLD_INTO or in a batch. Of 0 elements forms with an index are ONEFOLD_INVALID_ARGUMENT; with ONEFOLD_INTO cuda stores the value 0
   *  and the index 2^64 - 1. The CPU executors read it in the call, and refuse more. */
  const uint64_t* count_at;
  /** ONEFOLD_MEAN of `source`, and ONEFOLD_MEAN_VARIANCE under ONEFOLD_GUARANTEE_EXACT, on CPUs: NULL, or what says how many of the values are there. It is
   *  called once, with the source's context, when all values were asked for, and is what the sum is divided by; a value that is absent is stored as -0, or
   *  0 of integers. Of other forms what it says is not used. cuda refuses it. */
  uint64_t (*present)(void* context);
  /** Arrays: NULL, or where the address of the input, and of ONEFOLD_DOT's second array, stands, in memory that the executor reads; `input`, or `second`, is
   *  NULL then. cuda reads it when the reduction begins, in stream order and at every replay of a graph, for all types and forms; of exact sums the host reads it first, and not with ONEFOLD_INTO or in a batch;
   *  count_at may stand beside it. The address is one that the GPU can read, of any array that begins at an element's alignment. What is NULL or off that
   *  alignment is ONEFOLD_NULL_POINTER in a call that waits; with ONEFOLD_INTO all bits of the result are set, as of no number but an integer that a reduction gives. Other
   *  addresses that cannot be read are what they are in a kernel of the caller's. The CPU executors read it in the call and check it as `input`. Of 0 elements
   *  it is not read. */
  const void* const* input_at;
  const void* const* second_at;
  /** ONEFOLD_SUM and ONEFOLD_MEAN of `source`, of f32 and f64 without ONEFOLD_WIDE: NULL, or what may be called in the place of the source's fill, with its
   *  context, where values are added in the order of docs/order.md on a CPU. It adds the rows of the tiles that the indices first .. first + count - 1 fill,
   *  the last one perhaps in part, each addition rounded once: at lanes[k] it stores, for result k, the sums of the first tile's lanes, 256 bytes of them,
   *  then those of the next tile's. Lanes without elements are -0. `first` begins a tile, and there are at most 16 tiles. It returns what a fill returns. */
  int (*lanes)(void* context, uint64_t first, uint64_t count, void* const* lanes);
  /** ONEFOLD_DOT: 0, or 1 + the onefold_type of `second` where that is another than the input's, of real numbers both: onefold_mixed_dot(), and ONEFOLD_WIDE. */
  int32_t second_type;
  int32_t reserved_2; /**< 0 */
} onefold_request;

/** Checks, chooses and runs. `how` may be NULL. Cost: one read of the input, and 35 ns (CPU) to 10 us (GPU, to the host) for a call.
 *  Errors, after which results are unspecified: ONEFOLD_NULL_POINTER and ONEFOLD_MISALIGNED_POINTER for arrays and output; ONEFOLD_HOST_POINTER,
 *  ONEFOLD_DEVICE_POINTER and ONEFOLD_WRONG_DEVICE for memory that the executor does not reach; ONEFOLD_INVALID_ARGUMENT for numbers that are none of the above, an output within an input, and an
 *  index of no elements; ONEFOLD_UNSUPPORTED for forms, types and options that do not go together; ONEFOLD_UNKNOWN_VARIANT; ONEFOLD_GUARANTEE_NOT_MET;
 *  ONEFOLD_BACKEND_NOT_BUILT, ONEFOLD_BACKEND_UNAVAILABLE; ONEFOLD_OUT_OF_MEMORY; ONEFOLD_CALLBACK_FAILED where a function of the caller's has; ONEFOLD_DEVICE_ERROR
 *  and ONEFOLD_DEVICE_LOST where the CUDA runtime has, for earlier work too. onefold_last_error() is the sentence. */
ONEFOLD_API int onefold_reduce(const onefold_request* what, const onefold_options* how);

/** Several requests with one executor: all are launched, in any order, and those without ONEFOLD_INTO are waited for once. Each result has the bits
 *  that it has alone; after an error, one of onefold_reduce()'s, none is specified. None reads what another one stores. On cuda, floats and doubles reduced by forms with one
 *  result, argmin, argmax and those of magnitudes are launched together, up to 72 at a time and up to 16 MiB each. `how` is for each; its report is that
 *  of the last, or of its launch. On cuda onefold_request::exact_state is ONEFOLD_UNSUPPORTED beside other requests. */
ONEFOLD_API int onefold_reduce_batch(const onefold_request* requests, size_t count, const onefold_options* how);

/** Such a batch of `arrays` reductions of arrays whose addresses stand side by side, as in batched BLAS calls: of that at what->input_at[k], and of
 *  ONEFOLD_DOT with that at what->second_at[k] or with `second`, the result goes to place k of an array of results at what->output. What else the request
 *  says is for each; it asks for no exact_state. Errors as of a batch. */
ONEFOLD_API int onefold_reduce_arrays(const onefold_request* what, size_t arrays, const onefold_options* how);

/* --- parts of an array on several executors ------------------------------------------------------------------------------------------------------ */

/** Elements that lie where one executor reads them: a GPU's memory, or host memory, which cuda() copies. */
typedef struct onefold_range_part {
  onefold_executor where;
  const void* x;
  const void* y; /**< of ONEFOLD_DOT; else it is not looked at */
  uint64_t count;
} onefold_range_part;

/** Stores `bytes` bytes at `output`, memory that the executor writes to: on cuda() in the order of its stream and without waiting for it, capturable; on CPUs
 *  in the call. `value` is host memory that is read in the call. For a result of at most 128 bytes that several GPUs are to have, one call for each. Errors:
 *  those of an output of onefold_reduce(). */
ONEFOLD_API int onefold_store(onefold_executor where, void* output, const void* value, size_t bytes);

/* --- exact sums: docs/exact.md --------------------------------------------------------------------------------------------------------------- */

/** int64 words of the state of a form of elements of this type, or 0 where it has none. A state of all zeros is that of no elements.
 *  Of ONEFOLD_C64 and ONEFOLD_C128 the words are those of the parts' type: of ONEFOLD_SUM, ONEFOLD_MEAN, ONEFOLD_MEAN_VARIANCE and ONEFOLD_DOT twice as many, those of the
 *  real part and behind them those of the imaginary one, which are of as many elements, and of ONEFOLD_SUM_OF_SQUARES and ONEFOLD_NORM2 as many; other forms have none. */
ONEFOLD_API size_t onefold_exact_words(int32_t type, int32_t form);
/** Adds a state to another; either may be the sum, word by word, of up to 2^31 states. Both are looked at first: what is no state is
 *  refused with ONEFOLD_INVALID_ARGUMENT, and `to` is left as it was. With `from` NULL `to` is made canonical. */
ONEFOLD_API int onefold_exact_add(int32_t type, int32_t form, int64_t* to, const int64_t* from);
/** Adds the elements of several parts to a state of that type and form, each part on its executor, those of GPUs at the same time. The report is for the
 *  first part with elements; where none has any it is left as it was. A state that is refused, or a part, leaves `to` as it was. */
ONEFOLD_API int onefold_exact_add_parts(int32_t type, int32_t form, int64_t* to, const onefold_range_part* parts, size_t count,
                                        const onefold_options* how);
/** Stores the rounded result of a state. flags: ONEFOLD_WIDE or 0; ddof as in onefold_request. */
ONEFOLD_API int onefold_exact_result(int32_t type, int32_t form, uint32_t flags, int64_t ddof, const int64_t* state, void* result);
/** Stores the number of elements of a state, or of pairs. Of complex numbers that is half the number of terms that dot, sum_of_squares and norm2 count; an
 *  odd number of these is ONEFOLD_INVALID_ARGUMENT. */
ONEFOLD_API int onefold_exact_count(int32_t type, int32_t form, const int64_t* state, uint64_t* count);

/** In stream order, in a GPU's memory: where the words of several states are added there, by ncclAllReduce of ncclInt64 with ncclSum say, no host waits for
 *  anything. onefold_exact_put_words() puts on the stream of `where` what stores the canonical words of the state of `count` elements at x, and for ONEFOLD_DOT
 *  at y, in memory that the GPU reads, at `words`: onefold_exact_words() of them, aligned to 8 bytes, in memory that it writes. Where an executor of CPUs fails to
 *  make a state of the elements it leaves words there that are no state, so that their sum with other ranks' is refused; cuda leaves what was, and so does the refusal of
 *  words that lie in an input, or of a form that has no exact state.
 *  onefold_exact_put_result() puts there what stores at `result`, in memory that the GPU writes, the rounded result of words that are canonical or the sum of up
 *  to 2^31 canonical ones; flags and ddof as above. Words that are no state give a result whose bits are all set, a NaN that no reduction gives. Both may be
 *  captured; neither waits. With an executor of CPUs both work on the host's memory and are done on return, and words that are no state are refused;
 *  ONEFOLD_BEST goes where the words lie. `how` as in onefold_reduce(). Cost: a reduction; a kernel of one warp. */
ONEFOLD_API int onefold_exact_put_words(int32_t type, int32_t form, onefold_executor where, const void* x, const void* y,
                                        uint64_t count, int64_t* words, const onefold_options* how);
/** onefold_exact_put_words() of what a request of cuda()'s has in the place of an array: of values that onefold/device.cuh has compiled (onefold_request::device), of
 *  each result one state behind the other. The request's output says nothing. */
ONEFOLD_API int onefold_exact_put_words_of(const onefold_request* what, int64_t* words, const onefold_options* how);
ONEFOLD_API int onefold_exact_put_result(int32_t type, int32_t form, uint32_t flags, int64_t ddof, onefold_executor where,
                                         const int64_t* words, void* result);

/** onefold_range_put_parts() of one exact result: in stream order, from parts in the memory of several GPUs to each of them. Which part has which elements is not in the bits. Each GPU
 *  makes the words of its part, and all add those of all. ONEFOLD_UNSUPPORTED, with nothing stored, where a part lies elsewhere than in its GPU's memory or an executor is another
 *  than cuda() (ONEFOLD_BEST is that of its part): then onefold_exact_add_parts() and onefold_store() do the same, with a wait; and for a form that has no exact
 *  state. */
ONEFOLD_API int onefold_exact_put_parts(int32_t type, int32_t form, uint32_t flags, int64_t ddof, const onefold_range_part* parts,
                                        size_t count, void* const* outputs, const onefold_options* how);

/* --- the state of a range: docs/order.md --------------------------------------------------------------------------------------------------- */

/** What is known of the elements begin .. end - 1 of an array, whoever holds the others: states of neighbours are appended to each other, and that of
 *  all elements gives the result that the array has on one core, to the bit. Every function that fails leaves its state as it was. One state is
 *  used by one thread at a time; several may read it. */
typedef struct onefold_range onefold_range;

/** The state of no elements, the first of which is to have the index `begin`. Of every form but ONEFOLD_REDUCE_TOGETHER of every type that has it;
 *  flags: ONEFOLD_WIDE or 0. After an error *made is NULL, as it is after one of the next two. */
ONEFOLD_API int onefold_range_create(int32_t type, int32_t form, uint32_t flags, uint64_t begin, onefold_range** made);
/** The same of ONEFOLD_REDUCE_TOGETHER: `count` operators, 1 to 16, each an ONEFOLD_OP_*, of real numbers of any type. Its result is that many values in a
 *  row, as onefold_reduce() stores them. Elements are read once on CPUs, and once for each operator on cuda(); a function gives one value for all of
 *  them. Parts are read one behind the other, and there are no images (ONEFOLD_UNSUPPORTED). */
ONEFOLD_API int onefold_range_create_together(int32_t type, const uint8_t* operators, size_t count, uint64_t begin,
                                              onefold_range** made);
/** An operator of the caller's on values of his, which the library calls for many pairs at a time, as MPI_Op_create()'s functions are. */
typedef struct onefold_own_operator {
  size_t struct_bytes;
  void* context;
  uint32_t value_bytes;   /**< 1 to 64 */
  uint32_t can_be_absent; /**< not 0: functions say of each value whether it is there, and the operator gets those that are */
  /** Value i at `a` becomes value i at `a` (+) value i at `b`, for i < count; the two places do not overlap. It commutes, and is associative up to rounding. It
   *  returns 0, or another number to end the call with ONEFOLD_CALLBACK_FAILED. It is called from several threads at once, under the default floating-point
   *  environment, and must return: no longjmp, and no exception. Values are aligned as value_bytes is, to 16 at most, where those of arrays are. */
  int (*combine)(void* context, void* a, const void* b, uint64_t count);
} onefold_own_operator;
/** The state of values that are reduced with an operator of the caller's, which is copied; what its context points to outlives the state. Its bytes are those that
 *  own_range_state of C++ has of values of this size, which may be absent or not. Elements lie in host memory, and CPUs reduce them:
 *
 *    onefold_range_add()         x has `count` values, which are all there
 *    onefold_range_add_values()  fill() stores values at values[0] and, where they may be absent, for each a byte at values[1]: 1, or 0 where it is not
 *                                there. It is asked for at most a tile of values at a time: 4096 bytes, or less.
 *    onefold_range_result()      stores a value. ONEFOLD_INVALID_ARGUMENT where none is there
 *
 *  Images are refused (ONEFOLD_UNSUPPORTED); states are appended to each other where size and can_be_absent are the same, with the operator of the one that is
 *  appended to. Cost: for a tile 15 calls of combine with 256 bytes of values each, or a little less, and 2 to 8 with fewer. */
ONEFOLD_API int onefold_range_create_own(const onefold_own_operator* of, uint64_t begin, onefold_range** made);
/** Gives the state back. NULL is none. */
ONEFOLD_API void onefold_range_destroy(onefold_range* state);
/** Appends the elements end .. end + count - 1: `count` elements at x, and for ONEFOLD_DOT as many at y, which else is not looked at. `how`, which
 *  may be NULL, asks for no other variant than fixed_order. The report is that of the largest subtree, or of one element where there is none. Cost: one read, and a microsecond; on cuda()
 *  a wait of some microseconds. */
ONEFOLD_API int onefold_range_add(onefold_range* state, onefold_executor where, const void* x, const void* y, uint64_t count,
                                  const onefold_options* how);
/** The same of values that a function gives, which is asked for the indices 0 .. count - 1; those that it gives for the tiles at the ends stay in the
 *  state. For real numbers of 4 and 8 bytes, and every form but ONEFOLD_DOT. */
ONEFOLD_API int onefold_range_add_values(onefold_range* state, onefold_executor where, const onefold_value_source* source,
                                         uint64_t count, const onefold_options* how);
/** Two arrays of elements of two different types of real numbers. */
typedef struct onefold_products {
  const void* x;
  const void* y;
  int32_t x_type; /**< onefold_type */
  int32_t y_type;
} onefold_products;
/** Of a state of ONEFOLD_SUM: appends the products of the elements 0 .. count - 1 of x and y, as onefold_mixed_dot() makes them. The
 *  state's type, without ONEFOLD_WIDE, is onefold_mixed_dot_type(), or the wider one that ONEFOLD_WIDE asks for in such a dot: ONEFOLD_F64 in the place of
 *  ONEFOLD_F32, ONEFOLD_U64 in that of ONEFOLD_U32. So the state is that of an array that holds the products, with all that such a state may do, and of all
 *  elements it has the result of onefold_mixed_dot(). ONEFOLD_INVALID_ARGUMENT for another type, ONEFOLD_UNSUPPORTED for another form. Both arrays may be
 *  of one type of that size. On cuda() each subtree is a launch, two for each doubling of the range at most, and is waited for where not both arrays lie in the GPU's memory. */
ONEFOLD_API int onefold_range_add_products(onefold_range* state, onefold_executor where, const onefold_products* of, uint64_t count,
                                           const onefold_options* how);
/** The same of values that are reduced where they are made. Of real numbers of 4 and 8 bytes, and every form but ONEFOLD_DOT: others, and operators of the caller's, are ONEFOLD_UNSUPPORTED. Not asked of `how` is the
 *  report, which says nothing. */
ONEFOLD_API int onefold_range_add_made(onefold_range* state, const onefold_made_values* values, uint64_t count,
                                       const onefold_options* how);
/** The same of the elements of several parts, one behind the other, so that each is reduced where it lies. What GPUs have in their memory is under way on
 *  all of them before the first is waited for, and host arrays for several GPUs are copied at the same time; so options::workspace is refused where several executors are. The report is for the first part with
 *  elements; where none has any it is left as it was. */
ONEFOLD_API int onefold_range_add_parts(onefold_range* state, const onefold_range_part* parts, size_t count,
                                        const onefold_options* how);
/** The same for `number` states at once, of any kinds, each of which gets `count` parts of its own: parts[0 .. count - 1] are states[0]'s, the next ones states[1]'s,
 *  and so on. For several dots of vectors that lie on several GPUs, say. The report is for the first part of all that has elements. Where a part is refused, all states
 *  are left as they were. A state that stands there twice is ONEFOLD_INVALID_ARGUMENT, one of an operator of the caller's ONEFOLD_UNSUPPORTED. */
ONEFOLD_API int onefold_ranges_add_parts(onefold_range* const* states, size_t number, const onefold_range_part* parts, size_t count,
                                         const onefold_options* how);

/** In stream order, on several GPUs of this process: puts on the streams of the parts' executors what stores at outputs[i], in memory that executor i writes, the
 *  results of an array whose parts lie in the memory of these GPUs, with its bits. No host waits, and it may be captured: into one graph, to which all of these streams have been
 *  joined; where some have not it is ONEFOLD_INVALID_ARGUMENT. `results` forms of one type, parts[k * count .. k * count + count - 1] being result k's, of the same executors for
 *  each; result k lies k times the bytes of one behind outputs[i], so that all forms have results of the same size. What the GPUs know of their parts goes through memory of the
 *  first one where all reach it, as over NVLink, and else through pinned memory of the host; events order the streams, and no kernel waits for another GPU. flags, ddof and `how` as in
 *  onefold_reduce(); the report is for the first part of all that has elements. ONEFOLD_UNSUPPORTED, with nothing stored, where a part lies elsewhere than in its GPU's memory,
 *  an executor is another than cuda() (ONEFOLD_BEST is that of its part, if the output lies there too) or onefold_range_can_join_images() says no: then onefold_ranges_add_parts() and
 *  onefold_store() do the same, with a wait. */
ONEFOLD_API int onefold_range_put_parts(int32_t type, const int32_t* forms, size_t results, uint32_t flags, int64_t ddof,
                                        const onefold_range_part* parts, size_t count, void* const* outputs,
                                        const onefold_options* how);

/** In stream order: an image is what a GPU makes of elements that are to be appended to a state. onefold_range_put_image() puts on the stream of
 *  `where`, an executor of cuda(), what makes the image of `count` elements at x, in that GPU's memory, which follow those of `state`, whose kind and
 *  end alone are looked at. It does not wait, and may be captured. `image` is memory that the GPU writes to, aligned to 16 bytes, of as many bytes as
 *  onefold_range_image_bytes() says. When the work has ended and the image lies in host memory, onefold_range_add_image() appends it to a state with that
 *  end; it makes no call of CUDA's. Images are for the library that made them: what is to be kept, or goes elsewhere, are the bytes of states. */
ONEFOLD_API int onefold_range_image_bytes(const onefold_range* state, uint64_t count, size_t* bytes);
ONEFOLD_API int onefold_range_put_image(const onefold_range* state, onefold_executor where, const void* x, const void* y,
                                        uint64_t count, void* image, const onefold_options* how);
ONEFOLD_API int onefold_range_add_image(onefold_range* state, const void* image, uint64_t count);
/** In stream order, from images to the result, by one kernel: puts on the stream of `where`, an executor of cuda(), what stores at `result` the result of an
 *  array of `total` elements that has `parts` parts. Part p begins with element borders[p], the first one with 0, and ends where the next one begins, the last
 *  one with `total`; its image, as onefold_range_put_image() makes it on a state that ends with borders[p], is `p * stride` bytes behind `images`. Images and
 *  result lie in memory that the GPU reaches; images and stride are aligned to 16 bytes. It reads `borders` before it returns, does not wait, allocates nothing, and may
 *  be captured. onefold_range_can_join_images() returns 1 if there is a kernel for that, of all forms but reduce_together, of complex numbers not of no elements, and room for so
 *  many parts (64 and more of doubles, 400 where they are small), else 0; then the other functions fail with ONEFOLD_UNSUPPORTED. Places of no
 *  elements are ONEFOLD_INVALID_ARGUMENT. flags: ONEFOLD_WIDE or 0. */
ONEFOLD_API int onefold_range_can_join_images(int32_t type, int32_t form, uint32_t flags, size_t parts, uint64_t total);
/** Loads that kernel onto the GPU of `where`, as its first launch would, during which CUDA may wait for all that runs there: ahead of collectives between GPUs of one process.
 *  Fails as onefold_range_join_images() does where there is none for any parts. */
ONEFOLD_API int onefold_range_load_join_images(int32_t type, int32_t form, uint32_t flags, onefold_executor where);
ONEFOLD_API int onefold_range_join_images(int32_t type, int32_t form, uint32_t flags, onefold_executor where, const void* images,
                                          size_t stride, const uint64_t* borders, size_t parts, uint64_t total, void* result);
/** The same with a ddof as in onefold_request, which is 0 there. */
ONEFOLD_API int onefold_range_join_images_ddof(int32_t type, int32_t form, uint32_t flags, int64_t ddof, onefold_executor where,
                                               const void* images, size_t stride, const uint64_t* borders, size_t parts,
                                               uint64_t total, void* result);

/** Appends the elements of `next`, which must be a state of the same form, type and operators that begins where `state` ends. Cost: about a microsecond. */
ONEFOLD_API int onefold_range_append(onefold_range* state, const onefold_range* next);
/** Stores the result of a state that begins at 0, as onefold_reduce() does that of an array; ddof as in onefold_request. */
ONEFOLD_API int onefold_range_result(const onefold_range* state, int64_t ddof, void* result);
/** Indices of the first element, and of the one behind the last. */
ONEFOLD_API uint64_t onefold_range_begin(const onefold_range* state);
ONEFOLD_API uint64_t onefold_range_end(const onefold_range* state);
/** Bytes that onefold_range_write() stores: some hundreds, and up to 8 KiB of elements (ONEFOLD_DOT, and complex numbers in norm1, norm_inf and
 *  mean_variance: 16) where the range begins and ends within tiles. */
ONEFOLD_API size_t onefold_range_bytes(const onefold_range* state);
/** Stores the state as bytes, which have no padding and are the same on every machine; `size` is onefold_range_bytes(). */
ONEFOLD_API int onefold_range_write(const onefold_range* state, void* bytes, size_t size);
/** Makes of `state` the one that `size` bytes say, which must be of its form, type and operators. What is no such state, is cut or damaged is refused with
 *  ONEFOLD_INVALID_ARGUMENT. */
ONEFOLD_API int onefold_range_read(onefold_range* state, const void* bytes, size_t size);
/* --- messages: reductions of several ranks in one collective operation ------------------------------------------------------------------------ */

/** One of the reductions of a message. */
typedef struct onefold_message_part {
  int32_t type;
  int32_t form;
  uint32_t flags;  /**< ONEFOLD_WIDE or 0 */
  uint32_t values; /**< room for so many values of subtrees: twice the binary digits of the number of tiles suffice, and so do 128, the most there may be; 1 where no order is in the bits */
} onefold_message_part;

/** Bytes of a message with these parts, 1000 at most, a multiple of 256; 0 where there can be none. It is copied as bytes between machines of one kind, and lies at addresses aligned to 8 bytes.
 *  Nobody looks whether its bytes are those that were sent: where a transport may damage them, send the bytes of states, which have a checksum. */
ONEFOLD_API size_t onefold_message_bytes(const onefold_message_part* parts, size_t count);
/** Begins the message of a rank, 0 to 2^31 - 2. Messages with other parts, or another tag, do not fit to it, which all ranks learn. */
ONEFOLD_API int onefold_message_begin(void* message, size_t bytes, const onefold_message_part* parts, size_t count, uint64_t tag,
                                      int32_t rank);
/** A number that is equal in messages that fit to each other; 0 of NULL. */
ONEFOLD_API uint64_t onefold_message_signature(const void* message);
/** Adds the elements first .. first + count - 1 of all ranks' `total` to part `which`: they lie at x, for ONEFOLD_DOT also at y, behind those that were
 *  added. Where their order is in the bits they begin with a tile, and end with one or at `total`; a rank without elements adds none at its
 *  place. Where it is not (onefold_is_free_of_order()) they are any. `where` and `how` as in onefold_range_add(). Cost: one read, and 50 ns for
 *  each subtree. */
ONEFOLD_API int onefold_message_add(void* message, size_t which, onefold_executor where, const void* x, const void* y,
                                    uint64_t first, uint64_t count, uint64_t total, const onefold_options* how);
/** The same of products of elements of two types, for a part of ONEFOLD_SUM of their type: those of the elements from .. from + count - 1 of x and y
 *  (onefold_range_add_products()). */
ONEFOLD_API int onefold_message_add_products(void* message, size_t which, onefold_executor where, const onefold_products* of,
                                             uint64_t from, uint64_t first, uint64_t count, uint64_t total,
                                             const onefold_options* how);
/** The same of values that a function gives, which is asked for its own indices from .. from + count - 1. Where it gives several these are for the
 *  parts which .. which + results - 1, all of one form and type, or all sums, products, minima or maxima of one. */
ONEFOLD_API int onefold_message_add_values(void* message, size_t which, size_t results, onefold_executor where,
                                           const onefold_value_source* source, uint64_t from, uint64_t first, uint64_t count,
                                           uint64_t total, const onefold_options* how);
/** The same of values that are reduced where they are made, on the terms of onefold_range_add_made(). After an error of these functions onefold_message_fail() alone may follow. */
ONEFOLD_API int onefold_message_add_made(void* message, size_t which, size_t results, const onefold_made_values* values,
                                         uint64_t from, uint64_t first, uint64_t count, uint64_t total, const onefold_options* how);
/** The same of trees whose values are made by code of the caller's, which is asked for its own elements from .. from + count - 1: its states are those of the part's
 *  form, and its rows the tree's. So mean_variance takes values of which some are absent (onefold_moments_of_tile()). conclude() is not called, and may
 *  be NULL. For parts whose order is in the bits, and the CPU executors. */
ONEFOLD_API int onefold_message_add_own(void* message, size_t which, onefold_executor where, const onefold_own_code* own,
                                        uint64_t from, uint64_t first, uint64_t count, uint64_t total, const onefold_options* how);
/** Copies elements, fewer than a tile has, from where the executor reads them to the host, for the rank that has the first element of their tile. What a
 *  reduction refuses is refused. */
ONEFOLD_API int onefold_copy_elements(int32_t type, onefold_executor where, const void* x, uint64_t count, void* to);
/** The same of products of the elements from .. from + count - 1 of x and y, in the `type` of their sum. */
ONEFOLD_API int onefold_copy_products(int32_t type, onefold_executor where, const onefold_products* of, uint64_t from,
                                      uint64_t count, void* to);
/** The same of values that a function gives: those of the indices from .. from + count - 1 of result k are stored at to[k]. It is called under the default
 *  floating-point environment, as in a reduction. */
ONEFOLD_API int onefold_copy_values(int32_t type, onefold_executor where, const onefold_value_source* source, uint64_t from,
                                    uint64_t count, void* const* to);
/** Says that `rank` cannot take part, for this status: all ranks learn it. ONEFOLD_OK: it has given the reduction up;
 *  ONEFOLD_COMMUNICATION_FAILED: it asks for other reductions. Memory that holds no message, because onefold_message_begin() has failed, is left
 *  alone: merged, it is a message that does not fit. */
ONEFOLD_API void onefold_message_fail(void* message, int32_t status, int32_t rank);
/** `right` becomes the message of the ranks of `left` and those of `right`, which follow them. For the operator of an MPI_Allreduce, made with commute = 0, on one element of MPI_Type_contiguous(bytes, MPI_BYTE):
 *  it allocates nothing and cannot fail; what does not fit together becomes a message without a result. Cost: some ten nanoseconds. */
ONEFOLD_API void onefold_message_merge(const void* left, void* right);
/** Stores the result of part `which` of the message of all `ranks`; ddof as in onefold_request. `total` as above; of a part that is free of
 *  order it may be UINT64_MAX, which is any. ONEFOLD_COMMUNICATION_FAILED where a rank could not take part, the messages did not fit, or were merged in another
 *  order than the ranks'. */
ONEFOLD_API int onefold_message_result(const void* message, size_t which, int32_t ranks, uint64_t total, int64_t ddof,
                                       void* result);
/** The same of a part of ONEFOLD_MEAN whose elements stand for absent values, but for `present` of them, as -0 or 0 of integers: the sum is divided by that many. */
ONEFOLD_API int onefold_message_mean_of_present(const void* message, size_t which, int32_t ranks, uint64_t total, uint64_t present,
                                                void* result);
/** How many elements a tile of tree v1 has for this type and form: where ranks' parts begin with a tile nothing but messages goes between them. 0 of a
 *  type or form that there is not. */
ONEFOLD_API uint64_t onefold_tile_elements(int32_t type, int32_t form);
/** Whether a form of elements of this type has the same bits in any order: integers' sums, extrema, counts and their like, norm_inf of complex numbers. */
ONEFOLD_API int onefold_is_free_of_order(int32_t type, int32_t form);

/* --- each form by its name -------------------------------------------------------------------------------------------------------------- */

/* For each type T of f32 f64 i32 u32 i64 u64 i8 u8 i16 u16 f16 bf16, and each form with one result but dot, of which sum is an example:
 *
 *   int onefold_sum_f64(onefold_executor where, const double* x, uint64_t n, double* result);
 *       waits for the result, which is stored in the host's memory
 *   int onefold_sum_f64_into(onefold_executor where, const double* x, uint64_t n, double* result, const onefold_options* how);
 *       ordered on the executor's stream, as with ONEFOLD_INTO; `how` may be NULL
 *   int onefold_sum_f64_of(onefold_executor where, uint64_t n, onefold_fill_f64 fill, void* context, double* result);
 *       of values that a function gives; for the CPU executors, and types of 4 and 8 bytes
 *
 *   form                                  result of f32, f64, i32, u32, i64, u64     of i8, u8, i16, u16, f16, bf16
 *   sum prod sum_of_squares               float, double, int32_t, uint32_t, ..       int64_t, uint64_t, int64_t, uint64_t, float, float
 *   norm1                                 float, double, uint32_t, uint32_t, ..      uint64_t for the integers, float, float
 *   min max min_number max_number         of the type of the elements
 *   bit_and bit_or bit_xor                of the integers the same
 *   norm_inf                              of that type, unsigned
 *   count                                 uint64_t
 *   all any none                          uint8_t
 *   mean norm2                            float, double, and double for the integers; float for f16 and bf16
 *   argmin argmax                         onefold_arg_result_f32, onefold_arg_result_f64, ..
 *   argmin_magnitude argmax_magnitude     the same, unsigned
 *   argminmax minmax                      onefold_argminmax_result_f32, .., onefold_minmax_result_f32, ..
 *
 * with one argument more:
 *
 *   int onefold_dot_f64(onefold_executor where, const double* x, const double* y, uint64_t n, double* result);
 *   int onefold_dot_f64_into(onefold_executor where, const double* x, const double* y, uint64_t n, double* result, const onefold_options* how);
 *   int onefold_mean_variance_f64(onefold_executor where, const double* x, uint64_t n, int64_t ddof, onefold_mean_variance_result_f64* result);
 *   int onefold_mean_variance_f64_into(.., uint64_t n, int64_t ddof, onefold_mean_variance_result_f64* result, const onefold_options* how);
 *   int onefold_mean_variance_f64_of(onefold_executor where, uint64_t n, onefold_fill_f64 fill, void* context, int64_t ddof,
 *                                    onefold_mean_variance_result_f64* result);
 *       result is onefold_mean_variance_result_f32 for f32, f16 and bf16, and onefold_mean_variance_result_f64 for all others
 *
 * and elements accumulated in a wider type: f32, f16 and bf16 in f64 in the forms sum prod sum_of_squares norm1 mean norm2 dot mean_variance; i32
 * in i64 and u32 in u64 in the forms sum prod sum_of_squares norm1 dot; in the same forms i8, u8, i16 and u16 in their own type:
 *
 *   int onefold_sum_f32_as_f64(onefold_executor where, const float* x, uint64_t n, double* result);
 *   int onefold_sum_f32_as_f64_into(onefold_executor where, const float* x, uint64_t n, double* result, const onefold_options* how);
 */

/* For complex numbers, T being c64 or c128, in the same way the forms sum prod mean dot, whose result is complex, and sum_of_squares norm1 norm2
 * norm_inf, whose result is a float or a double. dot takes the conjugate of x. Also count all any none, of numbers that are not zero in one part at
 * least, and mean_variance, whose variance is the real mean of |x - mean|^2. Complex numbers have no order, so there is no min, max or argmin of them:
 * that is ONEFOLD_UNSUPPORTED.
 *
 *   int onefold_sum_c128(onefold_executor where, const onefold_c128* x, uint64_t n, onefold_c128* result);
 *   int onefold_mean_variance_c128(onefold_executor where, const onefold_c128* x, uint64_t n, int64_t ddof,
 *                                  onefold_mean_variance_result_c128* result);
 *
 * and c64 accumulated in c128 in the forms sum prod mean dot sum_of_squares norm1 norm2 mean_variance:
 *
 *   int onefold_sum_c64_as_c128(onefold_executor where, const onefold_c64* x, uint64_t n, onefold_c128* result);
 *   int onefold_norm2_c64_as_c128(onefold_executor where, const onefold_c64* x, uint64_t n, double* result);
 */

/* ONEFOLD_C_COMPLEX_TYPES(X): X(suffix, type, type of its parts); ONEFOLD_C_COMPLEX_FORMS_OF(X, ..): X(form, suffix, type, result) */
#define ONEFOLD_C_COMPLEX_TYPES(X) X(c64, onefold_c64, float) X(c128, onefold_c128, double)
#define ONEFOLD_C_COMPLEX_FORMS_OF(X, suffix, T, part) \
  X(sum, suffix, T, T)                                 \
  X(prod, suffix, T, T)                                \
  X(mean, suffix, T, T)                                \
  X(sum_of_squares, suffix, T, part)                   \
  X(norm1, suffix, T, part)                            \
  X(norm2, suffix, T, part)                            \
  X(norm_inf, suffix, T, part)                         \
  X(count, suffix, T, uint64_t) X(all, suffix, T, uint8_t) X(any, suffix, T, uint8_t) X(none, suffix, T, uint8_t)
/* ONEFOLD_C_WIDE_COMPLEX_FORMS(X): X(form, suffix, type, suffix of the wider type, type of the result) */
#define ONEFOLD_C_WIDE_COMPLEX_FORMS(X)             \
  X(sum, c64, onefold_c64, c128, onefold_c128)      \
  X(prod, c64, onefold_c64, c128, onefold_c128)     \
  X(mean, c64, onefold_c64, c128, onefold_c128)     \
  X(sum_of_squares, c64, onefold_c64, c128, double) \
  X(norm1, c64, onefold_c64, c128, double)          \
  X(norm2, c64, onefold_c64, c128, double)

/* ONEFOLD_C_TYPES(X), ONEFOLD_C_SMALL_TYPES(X): X(suffix, type, type of a sum, of norm1, of norm_inf, suffix of that, type of a mean) */
#define ONEFOLD_C_TYPES(X)                                    \
  X(f32, float, float, float, float, f32, float)              \
  X(f64, double, double, double, double, f64, double)         \
  X(i32, int32_t, int32_t, uint32_t, uint32_t, u32, double)   \
  X(u32, uint32_t, uint32_t, uint32_t, uint32_t, u32, double) \
  X(i64, int64_t, int64_t, uint64_t, uint64_t, u64, double)   \
  X(u64, uint64_t, uint64_t, uint64_t, uint64_t, u64, double)
#define ONEFOLD_C_SMALL_TYPES(X)                              \
  X(i8, int8_t, int64_t, uint64_t, uint8_t, u8, double)       \
  X(u8, uint8_t, uint64_t, uint64_t, uint8_t, u8, double)     \
  X(i16, int16_t, int64_t, uint64_t, uint16_t, u16, double)   \
  X(u16, uint16_t, uint64_t, uint64_t, uint16_t, u16, double) \
  X(f16, onefold_f16, float, float, onefold_f16, f16, float)  \
  X(bf16, onefold_bf16, float, float, onefold_bf16, bf16, float)

/* ONEFOLD_C_FORMS_OF(X, ..): X(form, suffix, type, result) for every form of one array that takes no further argument */
#define ONEFOLD_C_FORMS_OF(X, suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type) \
  X(sum, suffix, T, total)                                                                           \
  X(prod, suffix, T, total)                                                                          \
  X(min, suffix, T, T)                                                                               \
  X(max, suffix, T, T)                                                                               \
  X(sum_of_squares, suffix, T, total)                                                                \
  X(norm1, suffix, T, total_magnitude)                                                               \
  X(norm_inf, suffix, T, magnitude)                                                                  \
  X(mean, suffix, T, mean_type)                                                                      \
  X(norm2, suffix, T, mean_type)                                                                     \
  X(min_number, suffix, T, T)                                                                        \
  X(max_number, suffix, T, T)                                                                        \
  X(count, suffix, T, uint64_t)                                                                      \
  X(all, suffix, T, uint8_t)                                                                         \
  X(any, suffix, T, uint8_t)                                                                         \
  X(none, suffix, T, uint8_t)                                                                        \
  X(argmin, suffix, T, onefold_arg_result_##suffix)                                                  \
  X(argmax, suffix, T, onefold_arg_result_##suffix)                                                  \
  X(argmin_magnitude, suffix, T, onefold_arg_result_##of_magnitude)                                  \
  X(argmax_magnitude, suffix, T, onefold_arg_result_##of_magnitude)                                  \
  X(argminmax, suffix, T, onefold_argminmax_result_##suffix)                                         \
  X(minmax, suffix, T, onefold_minmax_result_##suffix)

/* ONEFOLD_C_INTEGERS(X), ONEFOLD_C_SMALL_INTEGERS(X): X(suffix, type) for the integers; ONEFOLD_C_BIT_FORMS_OF(X, ..): X(form, suffix, type,
 * result) for the forms that combine their bits */
#define ONEFOLD_C_INTEGERS(X) X(i32, int32_t) X(u32, uint32_t) X(i64, int64_t) X(u64, uint64_t)
#define ONEFOLD_C_SMALL_INTEGERS(X) X(i8, int8_t) X(u8, uint8_t) X(i16, int16_t) X(u16, uint16_t)
#define ONEFOLD_C_BIT_FORMS_OF(X, suffix, T) X(bit_and, suffix, T, T) X(bit_or, suffix, T, T) X(bit_xor, suffix, T, T)

/* ONEFOLD_C_WIDE_FORMS(X): X(form, suffix, type, suffix of the wider type, type of the result) for the forms of one array that accumulate in it */
#define ONEFOLD_C_WIDE_FLOAT_FORMS_OF(X, suffix, T) \
  X(sum, suffix, T, f64, double)                    \
  X(prod, suffix, T, f64, double)                   \
  X(sum_of_squares, suffix, T, f64, double)         \
  X(norm1, suffix, T, f64, double) X(mean, suffix, T, f64, double) X(norm2, suffix, T, f64, double)
#define ONEFOLD_C_WIDE_INTEGER_FORMS_OF(X, suffix, T, wide, R, size) \
  X(sum, suffix, T, wide, R) X(prod, suffix, T, wide, R) X(sum_of_squares, suffix, T, wide, R) X(norm1, suffix, T, wide, size)
#define ONEFOLD_C_WIDE_FORMS(X)                                            \
  ONEFOLD_C_WIDE_FLOAT_FORMS_OF(X, f32, float)                             \
  ONEFOLD_C_WIDE_FLOAT_FORMS_OF(X, f16, onefold_f16)                       \
  ONEFOLD_C_WIDE_FLOAT_FORMS_OF(X, bf16, onefold_bf16)                     \
  ONEFOLD_C_WIDE_INTEGER_FORMS_OF(X, i32, int32_t, i64, int64_t, uint64_t) \
  ONEFOLD_C_WIDE_INTEGER_FORMS_OF(X, u32, uint32_t, u64, uint64_t, uint64_t) ONEFOLD_C_OWN_TYPE_FORMS(X)
/* The same of the small integers that are accumulated in their own type, and ONEFOLD_C_OWN_TYPES(X) as ONEFOLD_C_WIDE_TYPES(X) */
#define ONEFOLD_C_OWN_TYPE_FORMS(X)                                        \
  ONEFOLD_C_WIDE_INTEGER_FORMS_OF(X, i8, int8_t, i8, int8_t, uint8_t)      \
  ONEFOLD_C_WIDE_INTEGER_FORMS_OF(X, u8, uint8_t, u8, uint8_t, uint8_t)    \
  ONEFOLD_C_WIDE_INTEGER_FORMS_OF(X, i16, int16_t, i16, int16_t, uint16_t) \
  ONEFOLD_C_WIDE_INTEGER_FORMS_OF(X, u16, uint16_t, u16, uint16_t, uint16_t)
#define ONEFOLD_C_OWN_TYPES(X) \
  X(i8, int8_t, i8, int8_t) X(u8, uint8_t, u8, uint8_t) X(i16, int16_t, i16, int16_t) X(u16, uint16_t, u16, uint16_t)
/* ONEFOLD_C_WIDE_TYPES(X), ONEFOLD_C_WIDE_FLOATS(X): X(suffix, type, suffix of the wider type, that type), for dot and mean_variance */
#define ONEFOLD_C_WIDE_FLOATS(X) X(f32, float, f64, double) X(f16, onefold_f16, f64, double) X(bf16, onefold_bf16, f64, double)
#define ONEFOLD_C_WIDE_TYPES(X) \
  ONEFOLD_C_WIDE_FLOATS(X) X(i32, int32_t, i64, int64_t) X(u32, uint32_t, u64, uint64_t) ONEFOLD_C_OWN_TYPES(X)

#define ONEFOLD_C_DECLARE_OF_ARRAY(form, suffix, T, R)                                                        \
  ONEFOLD_API int onefold_##form##_##suffix(onefold_executor where, const T* x, uint64_t n, R* result);       \
  ONEFOLD_API int onefold_##form##_##suffix##_into(onefold_executor where, const T* x, uint64_t n, R* result, \
                                                   const onefold_options* how);
#define ONEFOLD_C_DECLARE(form, suffix, T, R)                                                                                   \
  ONEFOLD_C_DECLARE_OF_ARRAY(form, suffix, T, R)                                                                                \
  ONEFOLD_API int onefold_##form##_##suffix##_of(onefold_executor where, uint64_t n, onefold_fill_##suffix fill, void* context, \
                                                 R* result);
#define ONEFOLD_C_DECLARE_DOT(suffix, T, total)                                                                          \
  ONEFOLD_API int onefold_dot_##suffix(onefold_executor where, const T* x, const T* y, uint64_t n, total* result);       \
  ONEFOLD_API int onefold_dot_##suffix##_into(onefold_executor where, const T* x, const T* y, uint64_t n, total* result, \
                                              const onefold_options* how);
#define ONEFOLD_C_VARIANCE_OF_float onefold_mean_variance_result_f32
#define ONEFOLD_C_VARIANCE_OF_double onefold_mean_variance_result_f64
#define ONEFOLD_C_DECLARE_VARIANCE(suffix, T, R)                                                                                 \
  ONEFOLD_API int onefold_mean_variance_##suffix(onefold_executor where, const T* x, uint64_t n, int64_t ddof, R* result);       \
  ONEFOLD_API int onefold_mean_variance_##suffix##_into(onefold_executor where, const T* x, uint64_t n, int64_t ddof, R* result, \
                                                        const onefold_options* how);
#define ONEFOLD_C_DECLARE_VARIANCE_OF_VALUES(suffix, R)                                                               \
  ONEFOLD_API int onefold_mean_variance_##suffix##_of(onefold_executor where, uint64_t n, onefold_fill_##suffix fill, \
                                                      void* context, int64_t ddof, R* result);
#define ONEFOLD_C_DECLARE_TYPE(suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type)          \
  ONEFOLD_C_FORMS_OF(ONEFOLD_C_DECLARE, suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type) \
  ONEFOLD_C_DECLARE_DOT(suffix, T, total)                                                                      \
  ONEFOLD_C_DECLARE_VARIANCE(suffix, T, ONEFOLD_C_VARIANCE_OF_##mean_type)                                     \
  ONEFOLD_C_DECLARE_VARIANCE_OF_VALUES(suffix, ONEFOLD_C_VARIANCE_OF_##mean_type)
#define ONEFOLD_C_DECLARE_SMALL_TYPE(suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type)             \
  ONEFOLD_C_FORMS_OF(ONEFOLD_C_DECLARE_OF_ARRAY, suffix, T, total, total_magnitude, magnitude, of_magnitude, mean_type) \
  ONEFOLD_C_DECLARE_DOT(suffix, T, total)                                                                               \
  ONEFOLD_C_DECLARE_VARIANCE(suffix, T, ONEFOLD_C_VARIANCE_OF_##mean_type)
#define ONEFOLD_C_DECLARE_BITS(suffix, T) ONEFOLD_C_BIT_FORMS_OF(ONEFOLD_C_DECLARE, suffix, T)
#define ONEFOLD_C_DECLARE_SMALL_BITS(suffix, T) ONEFOLD_C_BIT_FORMS_OF(ONEFOLD_C_DECLARE_OF_ARRAY, suffix, T)
#define ONEFOLD_C_DECLARE_WIDE(form, suffix, T, wide, R) ONEFOLD_C_DECLARE_OF_ARRAY(form, suffix##_as_##wide, T, R)
#define ONEFOLD_C_DECLARE_WIDE_DOT(suffix, T, wide, R) ONEFOLD_C_DECLARE_DOT(suffix##_as_##wide, T, R)
#define ONEFOLD_C_DECLARE_WIDE_VARIANCE(suffix, T, wide, R) \
  ONEFOLD_C_DECLARE_VARIANCE(suffix##_as_##wide, T, onefold_mean_variance_result_f64)

ONEFOLD_C_TYPES(ONEFOLD_C_DECLARE_TYPE)
ONEFOLD_C_SMALL_TYPES(ONEFOLD_C_DECLARE_SMALL_TYPE)
ONEFOLD_C_INTEGERS(ONEFOLD_C_DECLARE_BITS)
ONEFOLD_C_SMALL_INTEGERS(ONEFOLD_C_DECLARE_SMALL_BITS)
ONEFOLD_C_WIDE_FORMS(ONEFOLD_C_DECLARE_WIDE)
ONEFOLD_C_WIDE_TYPES(ONEFOLD_C_DECLARE_WIDE_DOT)
ONEFOLD_C_WIDE_FLOATS(ONEFOLD_C_DECLARE_WIDE_VARIANCE)
#define ONEFOLD_C_DECLARE_COMPLEX(suffix, T, part)                        \
  ONEFOLD_C_COMPLEX_FORMS_OF(ONEFOLD_C_DECLARE_OF_ARRAY, suffix, T, part) \
  ONEFOLD_C_DECLARE_DOT(suffix, T, T)                                     \
  ONEFOLD_C_DECLARE_VARIANCE(suffix, T, onefold_mean_variance_result_##suffix)
ONEFOLD_C_COMPLEX_TYPES(ONEFOLD_C_DECLARE_COMPLEX)
ONEFOLD_C_WIDE_COMPLEX_FORMS(ONEFOLD_C_DECLARE_WIDE)
ONEFOLD_C_DECLARE_DOT(c64_as_c128, onefold_c64, onefold_c128)
ONEFOLD_C_DECLARE_VARIANCE(c64_as_c128, onefold_c64, onefold_mean_variance_result_c128)

/** Dots of each of `rows` vectors x[i] with each of `columns` vectors y[j], n elements each: results[i * columns + j], each with the bits that
 *  it has alone. One dot at least and 128 at most: more are several calls, with the same bits. */
ONEFOLD_API int onefold_multi_dot_f32(onefold_executor where, const float* const* x, int32_t rows, const float* const* y,
                                      int32_t columns, uint64_t n, float* results);
ONEFOLD_API int onefold_multi_dot_f64(onefold_executor where, const double* const* x, int32_t rows, const double* const* y,
                                      int32_t columns, uint64_t n, double* results);
/** The same as with ONEFOLD_INTO. A workspace needs onefold_workspace_bytes_of_states(n, 128). */
ONEFOLD_API int onefold_multi_dot_f32_into(onefold_executor where, const float* const* x, int32_t rows, const float* const* y,
                                           int32_t columns, uint64_t n, float* results, const onefold_options* how);
ONEFOLD_API int onefold_multi_dot_f64_into(onefold_executor where, const double* const* x, int32_t rows, const double* const* y,
                                           int32_t columns, uint64_t n, double* results, const onefold_options* how);

/** The dot of two arrays of any two types of real numbers, on every executor: each pair of elements becomes two numbers of the type that C adds both in,
 *  whose products are summed up with the bits that an array of them has. That type is f64 if either is; else f32 if either is a float; of whole numbers, of
 *  which those of 1 and 2 bytes count as 8, the larger one, and of equal ones that without a sign. With one type it is that type's dot. Errors: those of
 *  onefold_reduce(). ONEFOLD_GUARANTEE_EXACT gives the exact sum of the products of the elements, rounded once; guarantee_not_met where not all elements are numbers of that
 *  type (whole numbers of 4 bytes of f32, of 8 of f64). On cuda host memory is copied, and a graph takes it as other
 *  calls where both lie in the GPU's memory; in a batch it is a launch of its own. Cost: one read of both. */
ONEFOLD_API int onefold_mixed_dot(onefold_executor where, int32_t x_type, const void* x, int32_t y_type, const void* y, uint64_t n,
                                  void* result);
/** The same as with ONEFOLD_INTO. */
ONEFOLD_API int onefold_mixed_dot_into(onefold_executor where, int32_t x_type, const void* x, int32_t y_type, const void* y,
                                       uint64_t n, void* result, const onefold_options* how);
/** The onefold_type of that dot, or -1 where one of the two is no type of real numbers. */
ONEFOLD_API int32_t onefold_mixed_dot_type(int32_t x_type, int32_t y_type);

/* --- working memory on a GPU ------------------------------------------------------------------------------------------------------------ */

/** Device bytes that reductions of up to `count` elements need, on any device, of any form and type; but several dots at once, and several exact sums of a function, have larger states. */
ONEFOLD_API size_t onefold_workspace_bytes(uint64_t count);
/** The same where what a fold of the caller's keeps of values, its state, has so many bytes; the other one serves up to 48. */
ONEFOLD_API size_t onefold_workspace_bytes_of_states(uint64_t count, size_t state_bytes);
/** Takes so much on the executor's device: one for each stream, for any number of calls after each other. It must outlive the work that
 *  uses it, and the graphs that have captured it. For executors that need none, those of the CPU and onefold_best(), *made becomes NULL,
 *  which every function here takes. Errors: ONEFOLD_OUT_OF_MEMORY, ONEFOLD_NULL_POINTER, and those of the executor. Waits for the device. */
ONEFOLD_API int onefold_workspace_create(onefold_executor where, uint64_t count, onefold_workspace** made);
/** Uses `bytes` bytes of device memory at `memory`, aligned to 16 bytes, which stay the caller's. Errors: ONEFOLD_MISALIGNED_POINTER; ONEFOLD_HOST_POINTER for managed and
 *  pinned memory too; ONEFOLD_WRONG_DEVICE. */
ONEFOLD_API int onefold_workspace_create_at(onefold_executor where, void* memory, size_t bytes, onefold_workspace** made);
/** Device bytes that it holds; 0 of NULL. */
ONEFOLD_API size_t onefold_workspace_size(const onefold_workspace* of);
/** Waits for calls that use memory of its own, not for replays of graphs, and gives it back. */
ONEFOLD_API void onefold_workspace_destroy(onefold_workspace* made);

/** Device memory that the library holds for streams without a workspace. */
typedef struct onefold_memory_use {
  size_t struct_bytes;
  size_t device_bytes; /**< in use or kept for the next call */
  size_t pinned_bytes; /**< of host memory */
  int32_t streams;     /**< that it is kept for */
  int32_t reserved;
} onefold_memory_use;

/** What the library holds on the executor's device; all 0 for the CPU executors and onefold_best(). */
ONEFOLD_API int onefold_memory_in_use(onefold_executor where, onefold_memory_use* used);
/** Waits for the work that uses it and gives it back, but for what graphs have captured and calls are using. */
ONEFOLD_API int onefold_release_memory(onefold_executor where);

/* --- what there is ---------------------------------------------------------------------------------------------------------------------- */

typedef struct onefold_device_info {
  int32_t number;                /**< for onefold_cuda() */
  int32_t compute_capability[2]; /**< major, minor */
  int32_t multiprocessors;
  uint64_t memory_bytes;
  uint64_t l2_bytes;
  char name[256]; /**< "NVIDIA H200" */
} onefold_device_info;

typedef struct onefold_backend_info {
  size_t struct_bytes;
  int32_t backend;   /**< onefold_backend */
  int32_t built;     /**< not 0: compiled into this library */
  int32_t usable;    /**< not 0: and can run here, now */
  int32_t threads;   /**< CPU backends: what serial and openmp use; 0 for cuda */
  size_t devices;    /**< cuda: GPUs here */
  char detail[1024]; /**< versions when usable, else the sentence that says what prevents it */
} onefold_backend_info;

/** What is known of a backend in this build, on this machine, and of the first `capacity` of its GPUs, stored at `devices`, which may be NULL.
 *  Cost: the first call for ONEFOLD_CUDA may load the driver. */
ONEFOLD_API int onefold_describe_backend(int backend, onefold_backend_info* info, onefold_device_info* devices, size_t capacity);

/** One row of the catalogue. All of it lives as long as the library, which may give more members than the caller's header knows. */
typedef struct onefold_variant_info {
  const char* name;          /**< the one name */
  const char* seed;          /**< the lecture it comes from, or "beyond", "peer", "reference" */
  const char* summary;       /**< its idea in a line */
  const char* limits;        /**< types and operators it refuses, and why; empty when it takes all */
  const char* width_meaning; /**< of the variant's own parameter */
  const uint8_t* finishes;   /**< onefold_finish */
  size_t finish_count;
  const int* block_sizes; /**< threads */
  size_t block_size_count;
  const int* widths;
  size_t width_count;
  int32_t backend;            /**< ONEFOLD_CUDA, or ONEFOLD_SERIAL for those of both CPU backends */
  int32_t built;              /**< what follows is only known when it is */
  int32_t guarantee;          /**< onefold_guarantee */
  int32_t default_finish;     /**< onefold_finish */
  int32_t default_block_size; /**< 0 where the variant chooses it by the count */
  int32_t grid_size_free;
  int32_t default_width;
  int32_t min_compute_capability; /**< 10 * major + minor; 0 on the CPU */
  int32_t takes_everything;       /**< every form of every type, wider accumulators, functions and operators of the caller's */
  uint8_t operators[16];          /**< of each type, bit i: operator i */
} onefold_variant_info;

/** Variants of all backends, built or not. */
ONEFOLD_API size_t onefold_variant_count(void);
/** A row, in learning order, those of the CPU first; NULL behind the last. */
ONEFOLD_API const onefold_variant_info* onefold_variant(size_t number);
/** Why the variant with this name, native to ONEFOLD_SERIAL or ONEFOLD_CUDA as `backend` says, cannot run on this executor here: the sentence
 *  is stored at `sentence` with its ending 0, cut to `bytes`; empty when the variant can. At most 1024 bytes. */
ONEFOLD_API int onefold_why_not(const char* variant, int backend, onefold_executor where, char* sentence, size_t bytes);

/* --- launch policies: what decides how long a reduction takes on a GPU, and never its bits ---------------------------------------------- */

/** The launch choices of the default, fixed_order: docs/tuning.md. */
typedef struct onefold_tree_policy {
  int32_t one_block_tiles, cluster_tiles, short_units, short_blocks, wave_warps, stream_warps, stream_rounds, stream_leaves,
      single_tiles;
} onefold_tree_policy;

/** Those of a variant of the lectures; 0 for what it does not have. */
typedef struct onefold_variant_policy {
  char variant[64];
  int32_t block_size, blocks_per_multiprocessor, alone_rounds, host_values;
} onefold_variant_policy;

/** What calls on the executor's GPU follow, with the first `capacity` rows of *count stored at `variants`. */
ONEFOLD_API int onefold_policy_of(onefold_executor where, onefold_tree_policy* tree, onefold_variant_policy* variants,
                                  size_t capacity, size_t* count);
/** Lets calls on the executor's GPU follow these from now on. Variants that are not named keep the library's choice. */
ONEFOLD_API int onefold_use_policy(onefold_executor where, const onefold_tree_policy* tree, const onefold_variant_policy* variants,
                                   size_t count);
/** The same with a file that `onefold-perf tune` has written, or onefold_policy_text(). */
ONEFOLD_API int onefold_use_policy_file(onefold_executor where, const char* path);
/** Back to the library's own choices. */
ONEFOLD_API int onefold_use_built_in_policy(onefold_executor where);
/** The content of such a file, cut to `bytes` with its ending 0; *needed is what all of it takes. */
ONEFOLD_API int onefold_policy_text(onefold_executor where, const onefold_tree_policy* tree, const onefold_variant_policy* variants,
                                    size_t count, char* text, size_t bytes, size_t* needed);

#ifdef __cplusplus
}
#endif

#endif
