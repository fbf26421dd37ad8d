/// @file dots.cu  The kernels of dots of several vectors: a function of the index that gives all products.

#include "dots.hpp"
#include "library_fold.cuh"

namespace onefold::cuda_backend {

namespace {

// Rows x Columns products, of which those of vectors that are not there are zeros that nobody stores. A shape for each number of vectors would be as
// many kernels; these lose nothing where memory is what counts.
template <class T, int Rows, int Columns>
struct dots_fold : dots_of_launch {
  struct sums {
    T of[Rows * Columns];
  };
  static constexpr int inputs = 0;
  using value_type = T;
  using accumulator = sums;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;
  static constexpr bool reads_many = true;

  // The results that are asked for, each at its place.
  struct result {
    using stored_in_parts = void;
    sums all;
    int rows, columns, stride;
    template <class Put>
    __device__ void store(const Put& put) const {
      for (int i = 0; i < Rows; ++i)
        for (int j = 0; j < Columns; ++j)
          if (i < rows && j < columns)
            put((i * stride + j) * static_cast<int>(sizeof(T)), onefold::detail::canonical(all.of[i * Columns + j]));
    }
  };

  __device__ T element(const void* vector, std::uint64_t i) const {
    return vector != nullptr ? __ldcs(static_cast<const T*>(vector) + i) : T(0);
  }
  __device__ sums value(std::uint64_t i) const {
    T of_y[Columns];
#pragma unroll
    for (int j = 0; j < Columns; ++j) of_y[j] = element(y[j], i);
    sums made;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const T of_x = element(x[k], i);
#pragma unroll
      for (int j = 0; j < Columns; ++j) made.of[k * Columns + j] = onefold::detail::rounded_multiply(of_x, of_y[j]);
    }
    return made;
  }
  __device__ sums combine(const sums& a, const sums& b) const {
    sums made;
#pragma unroll
    for (int k = 0; k < Rows * Columns; ++k) made.of[k] = onefold::detail::rounded_add(a.of[k], b.of[k]);
    return made;
  }
  __device__ sums neutral() const {
    sums made;
#pragma unroll
    for (int k = 0; k < Rows * Columns; ++k) made.of[k] = -T(0);
    return made;
  }
  __device__ void conclude(const sums* tree, std::uint64_t, result* to) const {
    to->all = tree != nullptr ? *tree : sums{};
    to->rows = rows;
    to->columns = columns;
    to->stride = stride;
  }
};

template <class T, int Rows, int Columns>
onefold::detail::device_fold made_of(const dots_of_launch& dots) {
  using fold = dots_fold<T, Rows, Columns>;
  static_assert(sizeof(fold) == sizeof(dots_of_launch), "its data are the vectors");
  auto made = make_library_fold(static_cast<const fold&>(dots));
  made.result_bytes = static_cast<std::uint32_t>((dots.rows - 1) * dots.stride + dots.columns) * sizeof(T);
  made.result_alignment = alignof(T);
  return made;
}

template <class T>
onefold::detail::device_fold fold_of(const dots_of_launch& dots) {
  return dots.rows == 1 ? made_of<T, 1, dots_of_launch::longest>(dots)
                        : made_of<T, dots_of_launch::square, dots_of_launch::square>(dots);
}

}  // namespace

onefold::detail::device_fold fold_of_dots(element_type type, const dots_of_launch& dots) {
  return type == element_type::f32 ? fold_of<float>(dots) : fold_of<double>(dots);
}

}  // namespace onefold::cuda_backend
