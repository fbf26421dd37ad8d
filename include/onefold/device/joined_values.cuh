#pragma once
/// @file joined_values.cuh  A kernel that puts images of an array's parts together, in the caller's translation unit: of values that are reduced with an operator of his
/// own, and of forms that must know which values are there. Decision 0082.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <onefold/detail/joined_parts.hpp>
#include <onefold/detail/known_kernels.hpp>
#include <onefold/detail/own_folds.hpp>
#include <onefold/device/made_values.cuh>

namespace onefold {
namespace detail {

/// The elements that images have, by their index in the whole array, as a fold takes those of a function.
template <class Kept>
struct values_in_images {
  static constexpr int inputs = 0;
  using returned = Kept;
  joined_images all;
  joined_sizes sizes;
  std::uint64_t first = 0;

  __device__ returned operator()(std::uint64_t i) const { return *place_of(first + i); }
  using origin_type = std::uint64_t;
  __device__ origin_type origin(std::uint64_t begin) const { return begin; }
  __device__ returned at(origin_type begin, int offset) const { return (*this)(begin + static_cast<std::uint64_t>(offset)); }
  __device__ void move(std::uint64_t by) { first += by; }

 private:
  // Out of line: a lane asks for 16 rows, and few tiles are cut.
  __device__ __noinline__ const Kept* place_of(std::uint64_t i) const {
    const std::uint32_t number = all.part_of(i);
    const std::uint64_t place = number * all.image_bytes + all.part(sizes, number).place_of(sizes, i);
    return reinterpret_cast<const Kept*>(all.images + place);
  }
};

// The same fold of other values.
template <class V, class Op, class Init, class Old, class From>
auto with_values_from(const own_operator<V, Op, Init, Old>& of, const From& from) {
  return own_operator<V, Op, Init, From>(from, of.op, of.init);
}
template <form What, class T, bool Wide, class Fold, class Old, class From>
auto with_values_from(const form_of_function<What, T, Wide, Fold, Old>& of, const From& from) {
  return form_of_function<What, T, Wide, Fold, From>(from, of.ddof);
}
template <class T, bool Wide, class Old, class From>
auto with_values_from(const mean_of_present<T, Wide, Old>&, const From& from) {
  return mean_of_present<T, Wide, From>(from);
}

}  // namespace detail

namespace device {

namespace detail {
inline constexpr int joined_values_warps = 16;
inline constexpr std::uint32_t joined_values_at_once = 128;
inline constexpr int most_joined_depth = 64;  ///< of the tree
}  // namespace detail

/// One block. As many items as it has room for are loaded at once, a warp for each tile that is cut; one thread joins.
template <class Fold>
__global__ void __launch_bounds__(detail::joined_values_warps* warp_size, 1)
    joined_values_kernel(const __grid_constant__ onefold::detail::joined_images images,
                         const __grid_constant__ onefold::detail::joined_sizes sizes, const __grid_constant__ Fold of_images,
                         typename Fold::result* to) {
  using A = typename Fold::accumulator;
  using onefold::detail::joined_item;
  constexpr std::uint32_t at_once = detail::joined_values_at_once;
  static_assert(sizeof(A) <= 128, "what there is at once lies in shared memory");
  __shared__ alignas(64) unsigned char memory[(at_once + detail::most_joined_depth) * sizeof(A)];
  A* const values = reinterpret_cast<A*>(memory);
  A* const waiting = values + at_once;       // subtrees, as the number of tiles so far has ones
  __shared__ std::uint32_t items[at_once];   // of so many parts,
  __shared__ std::uint32_t behind[at_once];  // and of those ahead of it too
  __shared__ int heights[at_once];           // of cut tiles -1
  __shared__ std::uint64_t tile_of[at_once];
  __shared__ std::uint64_t borders[at_once + 1];
  const unsigned warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  onefold::detail::joined_images all = images;
  Fold fold = of_images;
  if (all.parts <= at_once) {  // what each element that is looked for asks for
    if (threadIdx.x <= all.parts) borders[threadIdx.x] = all.borders[threadIdx.x];
    __syncthreads();
    all.borders = fold.fold.from.all.borders = borders;
  }
  std::uint64_t tiles = 0;
  int depth = 0;
  for (std::uint32_t first_part = 0; first_part <= all.parts; first_part += at_once) {
    const std::uint32_t parts = ::min(at_once, all.parts + 1 - first_part);  // what is behind the last one counts as a part
    if (threadIdx.x < parts) items[threadIdx.x] = all.items(sizes, first_part + threadIdx.x);
    __syncthreads();
    if (threadIdx.x < parts) {
      std::uint32_t sum = 0;
      for (std::uint32_t p = 0; p <= threadIdx.x; ++p) sum += items[p];
      behind[threadIdx.x] = sum;
    }
    __syncthreads();
    const std::uint32_t all_items = behind[parts - 1];
    for (std::uint32_t begin = 0; begin < all_items; begin += at_once) {
      const std::uint32_t some = ::min(at_once, all_items - begin);
      if (threadIdx.x < some) {
        const std::uint32_t number = begin + threadIdx.x;
        std::uint32_t p = 0;
        while (behind[p] <= number) ++p;
        const joined_item item = all.item(sizes, first_part + p, number - (behind[p] - items[p]));
        heights[threadIdx.x] = item.is_cut ? -1 : item.height;
        tile_of[threadIdx.x] = item.tile;
        if (!item.is_cut) values[threadIdx.x] = *reinterpret_cast<const A*>(all.images + item.place);
      }
      __syncthreads();
      unsigned cut = 0;
      for (std::uint32_t i = 0; i < some; ++i) {
        if (heights[i] >= 0 || cut++ % warps != warp) continue;
        tree_input in{};
        in.count = all.total();
        const A node = detail::few_tiles_node(fold, in, piece_of_level{tile_of[i], 0});
        if (threadIdx.x % warp_size == 0) values[i] = node;
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        for (std::uint32_t i = 0; i < some; ++i) {
          const int height = ::max(heights[i], 0);
          A value = values[i];
          for (int level = height; (tiles >> level & 1) != 0; ++level) value = fold.combine(waiting[--depth], value);
          waiting[depth++] = value;
          tiles += std::uint64_t{1} << height;
        }
      }
      __syncthreads();
    }
  }
  if (threadIdx.x != 0) return;
  A value = fold.neutral();
  if (depth > 0) value = waiting[--depth];
  while (depth > 0) value = fold.combine(waiting[--depth], value);
  fold.conclude(value, all.total(), to);
}

}  // namespace device

namespace detail {

/// A range's values for such a kernel.
template <class Fold>
class joined_on_gpu {
  using made = values_on_gpu<Fold>;
  using kept = typename made::kept;
  static_assert(made::results == 1, "of functions of several values each has an image of its own");
  static auto of_images(const Fold& fold, const values_in_images<kept>& from) {
    const auto moved = with_values_from(fold, from);
    return device::own_fold<fold_of_range<std::decay_t<decltype(moved)>>>{fold_of_range<std::decay_t<decltype(moved)>>(moved)};
  }

  static constexpr std::uint32_t log_of(std::uint64_t tile) {
    std::uint32_t log = 0;
    while (std::uint64_t{1} << log < tile) ++log;
    return log;
  }
  using own = decltype(of_images(std::declval<const Fold&>(), std::declval<const values_in_images<kept>&>()));
  static inline const bool kernel_is_known = known_kernels::add(reinterpret_cast<const void*>(device::joined_values_kernel<own>));

 public:
  static constexpr joined_sizes sizes{log_of(made::tile), sizeof(typename made::node), sizeof(kept)};

  joined_on_gpu(const executor& where, const Fold& fold, const arrays_on_gpu& arrays) : fold_(fold), of_(where, fold, arrays) {}

  void check(std::uint64_t count) { of_.check(count); }
  /// Puts on the stream what makes the image of the elements begin .. begin + count - 1.
  void put_image(std::uint64_t begin, std::uint64_t count, unsigned char* image) {
    const joined_part part(sizes, begin, begin + count);
    of_.put_parts(begin, count, image, image + part.head(sizes), image + part.tail(sizes));
  }
  /// And what puts the images together.
  void put_result(const joined_images& all, void* output, cudaStream_t stream) {
    static_cast<void>(&kernel_is_known);
    const auto fold = of_images(fold_, {all, sizes});
    static_assert(std::is_same_v<typename own::accumulator, typename made::node>);
    auto images = all;
    auto of = fold;
    auto sizes_of_parts = sizes;
    auto* result = static_cast<typename own::result*>(output);
    void* arguments[] = {&images, &sizes_of_parts, &of, &result};
    constexpr unsigned threads = device::detail::joined_values_warps * device::warp_size;
    // By its own status: the thread's last error may be one that the application has left there.
    if (const cudaError_t status = cudaLaunchKernel(reinterpret_cast<const void*>(&device::joined_values_kernel<own>), dim3(1),
                                                    dim3(threads), arguments, 0, stream);
        status != cudaSuccess) {
      cudaGetLastError();
      throw error(code_of_gpu_status(status), std::string("a kernel cannot be launched: ") + cudaGetErrorString(status));
    }
  }

 private:
  Fold fold_;
  made of_;
};

template <>
struct device_joined<true> {
  /// With an operator of the caller's.
  template <class Space, class F, class Op, class Init>
  static auto of_own(const executor& where, const Space& space, F& f, Op& op, const Init& init) {
    return ranges::of<joined_on_gpu>(where, ranges::fold_of_own(space, f, op, init), f);
  }
  /// Of values of which some are absent.
  template <form What, class T, bool Wide, class Space, class F>
  static auto of_form(const executor& where, const Space& space, F& f, std::int64_t ddof) {
    static_assert(check_function<F>::done, "");
    using later = later_values<typename origin<Space, F>::type, as_returned>;
    const later values{origin<Space, F>::of(space, f), {}};
    if constexpr (What == form::mean) {
      using own = mean_of_present<T, Wide, later>;
      return ranges::of<joined_on_gpu>(where, fold_of_range<own>(own(values)), f);
    } else {
      using own = form_of_function<What, T, Wide, form_fold_t<What, T, Wide>, later>;
      return ranges::of<joined_on_gpu>(where, fold_of_range<own>(own(values, ddof)), f);
    }
  }

 private:
  using ranges = device_ranges<true>;
};

}  // namespace detail
}  // namespace onefold
