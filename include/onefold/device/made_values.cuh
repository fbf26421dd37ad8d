#pragma once
/// @file made_values.cuh  Values of a function on a GPU as the state of a range has them: nodes of complete subtrees of tree v1, and the values at cut tiles. In the
/// caller's translation unit, with CUDA's runtime alone; decision 0075.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/known_kernels.hpp>
#include <onefold/detail/own_folds.hpp>
#include <onefold/detail/range_parts.hpp>
#include <onefold/device/gpu_status.cuh>
#include <onefold/device/kernel.cuh>
#include <onefold/device/own.cuh>

namespace onefold {
namespace detail {

// --- values from a later index on -------------------------------------------------------------------------------------------------------------

struct as_returned {
  template <class V>
  ONEFOLD_HOST_DEVICE const V& operator()(const V& value) const {
    return value;
  }
};
/// As elements of an array: what is absent is one that changes no other, which a state cannot tell from those that are there.
template <class T>
struct or_instead {
  T instead;
  template <class V>
  ONEFOLD_HOST_DEVICE T operator()(const V& value) const {
    if constexpr (value_traits<V>::can_be_absent)
      return value.present ? static_cast<T>(value.value) : instead;
    else
      return static_cast<T>(value);
  }
};

/// Where the values of a fold come from, as in own_folds.hpp.
template <class From, class Settle, int Inputs = From::inputs>
struct later_values {
  static constexpr int inputs = Inputs;
  template <int K>
  using input = typename From::template input<K>;
  using returned = std::decay_t<decltype(std::declval<const Settle&>()(std::declval<typename From::returned>()))>;
  From from;
  Settle settle;
  ONEFOLD_ANY_SIDE
  template <class... X>
  ONEFOLD_HOST_DEVICE returned operator()(const X&... x) const {
    return settle(from(x...));
  }
  ONEFOLD_HOST_DEVICE void move(std::uint64_t) {}  // whose arrays move
};
template <class From, class Settle>
struct later_values<From, Settle, 0> {
  static constexpr int inputs = 0;
  using returned = std::decay_t<decltype(std::declval<const Settle&>()(std::declval<typename From::returned>()))>;
  From from;
  Settle settle;
  std::uint64_t first = 0;  // modulo 2^64: nobody asks for what is ahead of index 0
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE returned operator()(std::uint64_t i) const { return settle(from(first + i)); }
  using origin_type = typename From::origin_type;
  ONEFOLD_HOST_DEVICE origin_type origin(std::uint64_t begin) const { return from.origin(first + begin); }
  ONEFOLD_ANY_SIDE
  template <class Place>
  ONEFOLD_HOST_DEVICE returned at(const Place& begin, int offset) const {
    return settle(from.at(begin, offset));
  }
  ONEFOLD_HOST_DEVICE void move(std::uint64_t by) { first += by; }
};

/// A fold of values that begin at a later index; places in its nodes are those of the whole array.
template <class Fold>
struct fold_of_range : Fold {
  std::uint64_t before = 0;  // what is added to a place
  explicit fold_of_range(const Fold& of) : Fold(of) {}
  ONEFOLD_HOST_DEVICE void move(std::uint64_t by) {
    this->from.move(by);
    before += by;
  }
  template <class Lane>
  ONEFOLD_HOST_DEVICE typename Fold::accumulator close(const Lane& of, int rows, std::uint64_t index, int lanes) const {
    return Fold::close(of, rows, index + before, lanes);
  }
};

}  // namespace detail

namespace device {

// --- kernels ----------------------------------------------------------------------------------------------------------------------------------

/// Subtrees over the nodes first .. end - 1 of a level: `mains` of 2^height nodes, smaller ones ahead of them and behind.
struct level_of_range {
  std::uint64_t first;
  std::uint64_t end;
  int height;
  std::uint32_t heads;
  std::uint32_t tails;
  std::uint64_t mains_begin;  ///< in subtrees of that height
  std::uint64_t mains_end;

  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t mains() const { return mains_end - mains_begin; }
  [[nodiscard]] std::uint64_t all() const { return heads + mains() + tails; }
};
/// With the greatest height, up to `most`, that a subtree of these nodes has.
inline level_of_range make_level(std::uint64_t first, std::uint64_t end, int most) {
  level_of_range made{first, end, most, 0, 0, 0, 0};
  for (;; --made.height) {
    const std::uint64_t size = std::uint64_t{1} << made.height;
    made.mains_begin = (first + size - 1) >> made.height;
    made.mains_end = end >> made.height;
    if (made.mains_begin < made.mains_end) break;
  }
  for (std::uint64_t left = (made.mains_begin << made.height) - first; left != 0; left &= left - 1) ++made.heads;
  for (std::uint64_t left = end - (made.mains_end << made.height); left != 0; left &= left - 1) ++made.tails;
  return made;
}

inline constexpr std::uint64_t image_place_bytes = 64;

struct piece_of_level {
  std::uint64_t first;
  int height;
};
__device__ inline piece_of_level piece_of(const level_of_range& of, std::uint64_t number) {
  if (number < of.heads) {  // the smallest first
    std::uint64_t at = of.first, left = (of.mains_begin << of.height) - of.first;
    for (; number > 0; --number) {
      at += left & (~left + 1);
      left &= left - 1;
    }
    return {at, __ffsll(static_cast<long long>(left)) - 1};
  }
  number -= of.heads;
  if (number < of.mains()) return {(of.mains_begin + number) << of.height, of.height};
  std::uint64_t at = of.mains_end << of.height, left = of.end - at;
  for (number -= of.mains();; --number) {
    const int height = 63 - __clzll(static_cast<long long>(left));
    if (number == 0) return {at, height};
    at += std::uint64_t{1} << height;
    left ^= std::uint64_t{1} << height;
  }
}

/// Where the nodes of a level go: those of mains to the next level, the others to the result.
template <class A>
struct places_of_level {
  A* heads;
  A* mains;
  A* tails;
  __device__ void put(const level_of_range& level, std::uint64_t number, piece_of_level, const A& node) const {
    if (number < level.heads) {
      heads[number] = node;
      return;
    }
    number -= level.heads;
    *(number < level.mains() ? mains + number : tails + (number - level.mains())) = node;
  }
};

namespace detail {

using onefold::detail::arg_state;
using onefold::detail::moments;
using onefold::detail::side_by_side;
using onefold::detail::two_args;

// A node as an image has it (onefold_range_put_image()): places are counted from its first element on, and nobody is told how many there are.
template <class A>
__device__ inline void store_in_image(unsigned char* at, const A& node, std::uint64_t, std::uint64_t) {
  static_assert(sizeof(A) <= image_place_bytes, "a place of an image has a node");
  *reinterpret_cast<A*>(at) = node;
}
template <class V>
__device__ inline void store_in_image(unsigned char* at, const arg_state<V>& node, std::uint64_t first, std::uint64_t) {
  *reinterpret_cast<arg_state<V>*>(at) = {node.value, node.index - first};
}
template <class V>
__device__ inline void store_in_image(unsigned char* at, const two_args<V>& node, std::uint64_t first, std::uint64_t) {
  *reinterpret_cast<two_args<V>*>(at) = {{node.min.value, node.min.index - first}, {node.max.value, node.max.index - first}};
}
__device__ inline void store_in_image(unsigned char* at, const moments& node, std::uint64_t, std::uint64_t) {
  reinterpret_cast<double*>(at)[0] = node.mean;
  reinterpret_cast<double*>(at)[1] = node.deviation;
}
// Of several results each has an image.
template <class A, int K>
__device__ inline void store_in_image(unsigned char* at, const side_by_side<A, K>& node, std::uint64_t first,
                                      std::uint64_t stride) {
  for (int k = 0; k < K; ++k) store_in_image(at + k * stride, node.of[k], first, stride);
}

}  // namespace detail

/// The same, where the result is an image.
template <class A>
struct places_in_image {
  unsigned char* heads;
  A* mains;  ///< for the next level; null: they go to the image too
  unsigned char* last_mains;
  unsigned char* tails;
  std::uint64_t stride;  ///< bytes from one result's image to the next one's
  std::uint64_t first;   ///< the element at which piece 0 begins,
  std::uint64_t each;    ///< and the elements of a node below this level
  __device__ void put(const level_of_range& level, std::uint64_t number, piece_of_level piece, const A& node) const {
    unsigned char* to = heads;
    if (number >= level.heads) {
      number -= level.heads;
      if (number < level.mains()) {
        if (mains != nullptr) {
          mains[number] = node;
          return;
        }
        to = last_mains;
      } else {
        number -= level.mains();
        to = tails;
      }
    }
    detail::store_in_image(to + number * image_place_bytes, node, first + piece.first * each, stride);
  }
};

namespace detail {

// The node over tiles of which there are fewer than a warp takes at a time, as those of an array of their own. By one warp.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator few_tiles_node(const Fold& fold, const tree_input& in, piece_of_level piece) {
  const std::uint64_t before = piece.first * tile_elements<Fold>, behind = in.count - before;
  const std::uint64_t most = tile_elements<Fold> << piece.height;
  Fold moved = fold;
  moved.fold.move(before);
  tree_input part{};
  part.count = behind < most ? behind : most;
  part.end_tile = (part.count + tile_elements<Fold> - 1) / tile_elements<Fold>;
  const auto advanced = [before](const void* x, std::size_t bytes) {
    return static_cast<const unsigned char*>(x) + before * bytes;
  };
  if constexpr (Fold::inputs > 0) part.x = advanced(in.x, sizeof(typename Fold::template input<0>));
  if constexpr (Fold::inputs > 1) part.y = advanced(in.y, sizeof(typename Fold::template input<1>));
  if constexpr (Fold::inputs > 2) part.z = advanced(in.z, sizeof(typename Fold::template input<2>));
  return units_of<Fold, reading::single>::any_node(moved, part, 0);
}

}  // namespace detail

/// The nodes over subtrees of tiles, one for each block. Of the last tile there may be a part.
template <class Fold, class Places>
__global__ void __launch_bounds__(detail::bound_threads<Fold>(), detail::least_blocks<Fold>())
    subtrees_kernel(const __grid_constant__ tree_input in, const __grid_constant__ level_of_range level,
                    const __grid_constant__ Places to, const __grid_constant__ Fold fold) {
  using A = typename Fold::accumulator;
  using units = detail::units_of<Fold, reading::single>;
  __shared__ detail::shared_values<Fold> shared;
  const piece_of_level piece = piece_of(level, blockIdx.x);
  A node = fold.neutral();
  if (units::log_tiles > 0 && piece.height < units::log_tiles) {
    if (threadIdx.x >= warp_size) return;
    if constexpr (units::log_tiles > 0) node = detail::few_tiles_node(fold, in, piece);
  } else {
    const std::uint64_t first = piece.first >> units::log_tiles;
    const int log_units = piece.height - units::log_tiles;
    for (unsigned i = threadIdx.x / warp_size; i < 1U << log_units; i += blockDim.x / warp_size) {
      const std::uint64_t unit = first + i;
      A of_unit = fold.neutral();
      if (units::is_whole(in, unit)) [[likely]]
        of_unit = units::whole_node(fold, in, unit);
      else if (units::exists(in, unit))
        of_unit = units::any_node(fold, in, unit);
      if (threadIdx.x % warp_size == 0) shared.values()[i] = of_unit;
    }
    __syncthreads();
    if (threadIdx.x >= warp_size) return;
    node = detail::tree_of(fold, shared.values(), log_units);
  }
  if (threadIdx.x == 0) to.put(level, blockIdx.x, piece, node);
}

/// The nodes over subtrees of nodes, of which number `base` lies first.
template <class Fold, class Places>
__global__ void __launch_bounds__(most_warps* warp_size, 1)
    joined_subtrees_kernel(const typename Fold::accumulator* nodes, std::uint64_t base,
                           const __grid_constant__ level_of_range level, const __grid_constant__ Places to,
                           const __grid_constant__ Fold fold) {
  __shared__ detail::shared_values<Fold> shared;
  const piece_of_level piece = piece_of(level, blockIdx.x);
  if (threadIdx.x < 1U << piece.height) shared.values()[threadIdx.x] = nodes[piece.first - base + threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= warp_size) return;
  const auto node = detail::tree_of(fold, shared.values(), piece.height);
  if (threadIdx.x == 0) to.put(level, blockIdx.x, piece, node);
}

namespace detail {

// Where value i goes: of several results each has an array, `apart` values behind the one before.
template <class V>
__device__ inline void keep_value(V* to, const V& value, std::uint64_t i, std::uint64_t) {
  to[i] = value;
}
template <class T, std::size_t K>
__device__ inline void keep_value(T* to, const std::array<T, K>& value, std::uint64_t i, std::uint64_t apart) {
  T of[K];
  std::memcpy(of, &value, sizeof(of));  // std::array's own functions are the host's
  for (std::size_t k = 0; k < K; ++k) to[k * apart + i] = of[k];
}
template <int K, class From>
__device__ inline typename From::template input<K> kept_element(const void* x, std::uint64_t i) {
  return static_cast<const typename From::template input<K>*>(x)[i];
}

}  // namespace detail

/// The values themselves.
template <class From, class Kept>
__global__ void kept_values_kernel(const __grid_constant__ tree_input in, const __grid_constant__ From from, Kept* to,
                                   std::uint64_t apart) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= in.count) return;
  if constexpr (From::inputs == 0)
    detail::keep_value(to, from(i), i, apart);
  else if constexpr (From::inputs == 1)
    detail::keep_value(to, from(detail::kept_element<0, From>(in.x, i)), i, apart);
  else if constexpr (From::inputs == 2)
    detail::keep_value(to, from(detail::kept_element<0, From>(in.x, i), detail::kept_element<1, From>(in.y, i)), i, apart);
  else
    detail::keep_value(to,
                       from(detail::kept_element<0, From>(in.x, i), detail::kept_element<1, From>(in.y, i),
                            detail::kept_element<2, From>(in.z, i)),
                       i, apart);
}

}  // namespace device

namespace detail {

// --- the host's side --------------------------------------------------------------------------------------------------------------------------

/// Pinned memory, to which kernels write what the host waits for. As many pieces as there were calls at the same time are kept for later ones.
class pinned_piece {
 public:
  static constexpr std::size_t size = std::size_t{256} * 1024;  ///< two cut tiles of 16 results, and 60 nodes of 1 KiB

  pinned_piece() {
    {
      const std::lock_guard<std::mutex> lock(kept().mutex);
      if (!kept().free.empty()) {
        memory_ = kept().free.back();
        kept().free.pop_back();
        return;
      }
    }
    {  // so that giving it back needs no memory
      const std::lock_guard<std::mutex> lock(kept().mutex);
      kept().free.reserve(kept().made + 1);
      ++kept().made;
    }
    if (const cudaError_t status = cudaHostAlloc(&memory_, size, cudaHostAllocPortable); status != cudaSuccess) {
      cudaGetLastError();
      throw error(code_of_gpu_status(status), std::string("cudaHostAlloc has failed: ") + cudaGetErrorString(status));
    }
  }
  ~pinned_piece() {
    if (may_be_written) return;  // nobody gets it any more
    const std::lock_guard<std::mutex> lock(kept().mutex);
    kept().free.push_back(memory_);
  }
  pinned_piece(const pinned_piece&) = delete;
  pinned_piece& operator=(const pinned_piece&) = delete;

  bool may_be_written = false;  ///< whether something on the device may write to it when this one ends

  void* take(std::size_t bytes) {
    void* const taken = static_cast<unsigned char*>(memory_) + used_;
    used_ += (bytes + 15) / 16 * 16;
    return taken;
  }

 private:
  struct all_kept {
    std::mutex mutex;
    std::vector<void*> free;
    std::size_t made = 0;
  };
  // Not destroyed: at a process's end nobody knows whether CUDA is still there.
  static all_kept& kept() {
    static all_kept& all = *new all_kept;
    return all;
  }
  void* memory_ = nullptr;
  std::size_t used_ = 0;
};

/// An executor of cuda() whose device is current for as long as this lives, and what is under way on its stream.
class gpu_of_call {
 public:
  explicit gpu_of_call(const executor& where) {
    check_status(onefold_enter_gpu(c_executor(where), &scope_));
    void* stream = nullptr;
    if (const int status = onefold_stream_of(c_executor(where), &stream); status != ONEFOLD_OK) {
      onefold_leave_gpu(&scope_);
      check_status(status);
    }
    stream_ = static_cast<cudaStream_t>(stream);
  }
  ~gpu_of_call() {
    if (is_under_way_) {
      bool is_captured = true;
      const bool is_known = is_done(ask_for_capture(is_captured));
      const cudaError_t waited = is_known && !is_captured ? cudaStreamSynchronize(stream_) : cudaErrorNotReady;
      is_done(waited);
      if (piece_) piece_->may_be_written = !tells_of_the_end(waited);
    }
    if (between_ != nullptr) is_done(is_of_pool_ ? cudaFreeAsync(between_, stream_) : cudaFree(between_));
    onefold_leave_gpu(&scope_);
  }
  gpu_of_call(const gpu_of_call&) = delete;
  gpu_of_call& operator=(const gpu_of_call&) = delete;

  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
  /// Memory of the device, once.
  void* allocate(std::size_t bytes) {
    const cudaError_t status = cudaMallocAsync(&between_, bytes, stream_);
    is_of_pool_ = status != cudaErrorNotSupported;
    if (is_of_pool_) {
      check(status, "cudaMallocAsync");
    } else {  // a device without pools: freeing such memory waits for what uses it, and not for graphs
      cudaGetLastError();
      if (is_capturing())
        throw error(errc::unsupported,
                    "this GPU has no memory in stream order, so a graph cannot hold what is kept between the kernels of this call");
      check(cudaMalloc(&between_, bytes), "cudaMalloc");
    }
    return between_;
  }
  /// Where a kernel stores what wait() copies to the places `to`: one array behind the other.
  template <class T>
  T* results(void* const* to, std::size_t arrays, std::size_t count) {
    refuse_capture();
    if (!piece_) piece_.emplace();
    T* const from = static_cast<T*>(piece_->take(arrays * count * sizeof(T)));
    for (std::size_t k = 0; k < arrays; ++k) copies_.push_back({to[k], from + k * count, count * sizeof(T)});
    return from;
  }
  /// By its own status: the thread's last error may be one that the application has left there.
  template <class... P>
  void launch(void (*kernel)(P...), unsigned blocks, unsigned threads, std::common_type_t<P>... arguments) {
    void* all[] = {static_cast<void*>(&arguments)...};
    // Throws for a stream that nothing may be put on, without spoiling a capture under way elsewhere.
    if (!is_under_way_) static_cast<void>(is_capturing());
    is_under_way_ = true;
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), all, 0, stream_),
          "the launch of a function's values");
  }
  void wait() {
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    is_under_way_ = false;
    for (const copy& each : copies_) std::memcpy(each.to, each.from, each.bytes);
  }
  /// What is under way goes on: nothing of it is the host's.
  void leave() noexcept { is_under_way_ = false; }

 private:
  struct copy {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw_error(status, what);
  }
  static bool is_done(cudaError_t status) noexcept {
    if (status != cudaSuccess) cudaGetLastError();  // else the application's next check would report it
    return status == cudaSuccess;
  }
  cudaError_t ask_for_capture(bool& is_captured) const noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t asked = cudaStreamIsCapturing(stream_, &status);
    is_captured = status != cudaStreamCaptureStatusNone;
    return asked;
  }
  [[nodiscard]] bool is_capturing() const {
    bool is_captured = false;
    check(ask_for_capture(is_captured), "cudaStreamIsCapturing");
    return is_captured;
  }
  // Ahead of all that a graph would record.
  void refuse_capture() const {
    if (is_capturing())
      throw error(errc::unsupported,
                  "the stream is being captured, and a call that makes a state would have to wait for it: put an image of the "
                  "range into the GPU's memory");
  }
  [[noreturn]] static void throw_error(cudaError_t status, const char* what) {
    cudaGetLastError();
    throw error(code_of_gpu_status(status), std::string(what) + " has failed: " + cudaGetErrorString(status));
  }

  onefold_gpu_scope scope_;
  cudaStream_t stream_ = nullptr;
  bool is_under_way_ = false;
  void* between_ = nullptr;
  bool is_of_pool_ = true;
  std::optional<pinned_piece> piece_;  // when there is a device
  std::vector<copy> copies_;
};

/// The arrays that a function reads, as bytes.
struct arrays_on_gpu {
  onefold_array all[3] = {};
  int number = 0;

  template <class F>
  explicit arrays_on_gpu(const F&) {}
  template <class F, class... T>
  explicit arrays_on_gpu(const function_of_arrays<F, T...>& f) {
    std::apply([&](const T*... each) { (take(each), ...); }, f.arrays);
  }
  template <class T>
  void take(const T* array) {
    all[number++] = {array, sizeof(T), alignof(T)};
  }
  void check(const executor& where, std::uint64_t count) const {
    check_status(onefold_check_gpu_arrays(c_executor(where), all, number, count));
  }
  /// From an element on, which may be ahead of the first.
  [[nodiscard]] device::tree_input from(std::uint64_t first) const {
    const auto at = [&](int k) {
      return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(all[k].data) +
                                           static_cast<std::uintptr_t>(first * all[k].element_bytes));
    };
    device::tree_input in{};
    in.x = at(0);
    in.y = at(1);
    in.z = at(2);
    return in;
  }
};

/// What is kept of a value, of several results each by itself.
template <class V>
struct kept_of {
  using type = V;
  static constexpr std::size_t results = 1;
};
template <class T, std::size_t K>
struct kept_of<std::array<T, K>> {
  using type = T;
  static constexpr std::size_t results = K;
};

/// The values of a fold of a range. What is asked for is there when wait() has returned.
template <class Fold>
class values_on_gpu {
  using own = device::own_fold<Fold>;
  using From = std::decay_t<decltype(std::declval<const Fold&>().from)>;

 public:
  using node = typename own::accumulator;
  using kept = typename kept_of<typename From::returned>::type;
  static constexpr std::size_t results = kept_of<typename From::returned>::results;
  static constexpr std::uint64_t tile = device::tile_elements<own>;

  values_on_gpu(const executor& where, const Fold& fold, const arrays_on_gpu& arrays)
      : where_(where), fold_(fold), arrays_(arrays) {}

  void check(std::uint64_t count) { arrays_.check(where_, count); }

  /// Those of the indices first .. first + count - 1, less than a tile: of result k to to[k].
  void values(std::uint64_t first, std::uint64_t count, void* const* to) {
    if (count == 0) return;
    put_values(first, count, begin().template results<kept>(to, results, static_cast<std::size_t>(count)), count);
  }

  /// How many nodes there are over the maximal subtrees of these tiles.
  static std::size_t number_of_nodes(std::uint64_t first_tile, std::uint64_t end_tile) {
    std::size_t number = 0;
    for_subtrees(first_tile, end_tile, [&](std::uint64_t, int) { ++number; });
    return number;
  }
  /// Those nodes, of the tiles first_tile .. end_tile - 1 of the whole array, in the order of for_subtrees(): over `count` values, the first of which is that of the index
  /// `from`. A launch, and one for each factor of 512 in the number of tiles.
  void nodes(std::uint64_t from, std::uint64_t first_tile, std::uint64_t end_tile, std::uint64_t count, void* to) {
    if (first_tile == end_tile) return;
    node* const first = begin().template results<node>(&to, 1, number_of_nodes(first_tile, end_tile));
    put_nodes(from, first_tile, end_tile, count, places_in(first));
  }

  /// Puts on the stream what makes the image (onefold_range_put_image()) of `count` values, of which the first has the index `begin` in the whole array: of result k at
  /// `image` + k * `stride`, in memory of the device. Waits for nothing.
  void put_image(std::uint64_t begin, std::uint64_t count, void* image, std::uint64_t stride) {
    if (count == 0) return;
    const range_parts parts{tile, begin, begin + count};
    auto* const nodes = static_cast<unsigned char*>(image);
    const auto place = [nodes](std::size_t number) { return nodes + number * device::image_place_bytes; };
    const std::size_t number = number_of_nodes(parts.nodes_begin() / tile, parts.nodes_end() / tile);
    unsigned char* const head = place(number == 0 ? 1 : number);
    const std::uint64_t head_bytes = (parts.nodes_begin() - begin) * sizeof(kept);
    unsigned char* const tail =
        head + (head_bytes + device::image_place_bytes - 1) / device::image_place_bytes * device::image_place_bytes;
    const auto places = [&place, &stride](const numbered_level& at, node* mains) {
      return device::places_in_image<node>{place(at.heads), mains,  place(at.last_mains), place(at.tails), stride,
                                           at.first,        at.each};
    };
    put_parts(parts, places, reinterpret_cast<kept*>(head), reinterpret_cast<kept*>(tail), stride / sizeof(kept));
  }
  /// The same of one result for a kernel of this translation unit (joined_values.cuh): nodes as they are, places in them those of the whole array.
  void put_parts(std::uint64_t begin, std::uint64_t count, void* nodes, void* head, void* tail) {
    if (count == 0) return;
    put_parts({tile, begin, begin + count}, places_in(static_cast<node*>(nodes)), static_cast<kept*>(head),
              static_cast<kept*>(tail), 0);
  }

  void wait() {
    if (!gpu_) return;
    gpu_->wait();
    gpu_.reset();
  }
  /// Where something has failed: waits for what is under way, and copies nothing.
  void forget() noexcept { gpu_.reset(); }

 private:
  template <class Places>
  struct node_kernels {
    static inline const bool are_known =
        known_kernels::add(reinterpret_cast<const void*>(device::subtrees_kernel<own, Places>),
                           reinterpret_cast<const void*>(device::joined_subtrees_kernel<own, Places>));
  };
  struct value_kernels {
    static inline const bool are_known = known_kernels::add(reinterpret_cast<const void*>(device::kept_values_kernel<From, kept>));
  };

  // Where the nodes of a level are among all that are asked for, the elements ahead of its piece 0, and those of a node below it.
  struct numbered_level {
    std::size_t heads, last_mains, tails;
    std::uint64_t first, each;
  };

  // All nodes, from the first one's place on.
  static auto places_in(node* first) {
    return [first](const numbered_level& at, node* mains) {
      return device::places_of_level<node>{first + at.heads, mains == nullptr ? first + at.last_mains : mains, first + at.tails};
    };
  }
  // The nodes, and the values at cut tiles. What is on the stream then goes on by itself.
  template <class Places>
  void put_parts(const range_parts& parts, const Places& places, kept* head, kept* tail, std::uint64_t apart) {
    const std::uint64_t before = parts.nodes_begin() - parts.begin, behind = parts.end - parts.nodes_end();
    if (parts.nodes_begin() != parts.nodes_end())
      put_nodes(before, parts.nodes_begin() / tile, parts.nodes_end() / tile, parts.nodes_end() - parts.nodes_begin(), places);
    put_values(0, before, head, apart);
    put_values(parts.nodes_end() - parts.begin, behind, tail, apart);
    begin().leave();
    gpu_.reset();
  }
  gpu_of_call& begin() {
    if (!gpu_) gpu_.emplace(where_);
    return *gpu_;
  }

  void put_values(std::uint64_t first, std::uint64_t count, kept* to, std::uint64_t apart) {
    static_cast<void>(&value_kernels::are_known);
    if (count == 0) return;
    gpu_of_call& gpu = begin();
    device::tree_input in = arrays_.from(first);
    in.count = count;
    From from = fold_.from;
    from.move(first);
    constexpr unsigned threads = 128;
    gpu.launch(device::kept_values_kernel<From, kept>, static_cast<unsigned>((count + threads - 1) / threads), threads, in, from,
               to, apart);
  }

  // As nodes(). places(level, mains) tells where those of a level go, `mains` being null on the last one.
  template <class Places>
  void put_nodes(std::uint64_t from, std::uint64_t first_tile, std::uint64_t end_tile, std::uint64_t count, const Places& places) {
    constexpr int log_most = device::detail::shared_values<own>::log_most;
    constexpr int log_units = 4;  // of a block: a warp for each, as long as there are few blocks
    constexpr int of_block =
        log_most < log_units + device::log_tiles_of_rows<own> ? log_most : log_units + device::log_tiles_of_rows<own>;
    // A block's subtrees are as aligned behind such a tile as in the whole array, in which those of later launches are numbered.
    const std::uint64_t base = first_tile >> log_most << log_most;
    std::vector<device::level_of_range> levels{device::make_level(first_tile - base, end_tile - base, of_block)};
    std::size_t number = levels[0].heads + levels[0].tails, between = 0;
    std::uint64_t begin = levels[0].mains_begin + (base >> levels[0].height);
    std::uint64_t end = levels[0].mains_end + (base >> levels[0].height);
    while (!(end - begin == 1 || (end - begin == 2 && begin % 2 == 1))) {  // until no two are siblings
      between += static_cast<std::size_t>(end - begin);
      levels.push_back(device::make_level(begin, end, log_most));
      number += levels.back().heads + levels.back().tails;
      begin = levels.back().mains_begin;
      end = levels.back().mains_end;
    }
    number += static_cast<std::size_t>(end - begin);

    gpu_of_call& gpu = this->begin();
    node* mains = between == 0 ? nullptr : static_cast<node*>(gpu.allocate(between * sizeof(node)));  // that the next launch reads
    const std::uint64_t ahead = (first_tile - base) * tile;
    own fold{fold_};
    fold.fold.from.move(from - ahead);
    fold.fold.before = base * tile;
    device::tree_input in = arrays_.from(from - ahead);
    in.count = ahead + count;
    in.end_tile = end_tile - base;
    numbered_level at{0, 0, number, base * tile, tile};
    for (std::size_t k = 0; k < levels.size(); ++k) {
      const device::level_of_range& level = levels[k];
      const bool is_last = k + 1 == levels.size();
      const node* const below = k > 0 ? mains - levels[k - 1].mains() : nullptr;
      at.tails -= level.tails;
      at.last_mains = at.heads + level.heads;
      const auto to = places(at, is_last ? nullptr : mains);
      using Places_of_level = std::decay_t<decltype(to)>;
      static_cast<void>(&node_kernels<Places_of_level>::are_known);
      if (level.all() > 0x7fffffff)
        throw error(
            errc::unsupported,
            std::to_string(count) + " values need more blocks than one launch can have: add them in parts, one behind the other");
      const auto blocks = static_cast<unsigned>(level.all());
      constexpr unsigned threads = device::most_warps * device::warp_size;
      // Many blocks overlap better with half as many threads: an operator on 16 bytes of 2^24 doubles took 66 us and takes 50 on an H200 (0082).
      const unsigned of_subtrees = blocks < 512 ? threads : threads / 2;
      if (k == 0)
        gpu.launch(device::subtrees_kernel<own, Places_of_level>, blocks, of_subtrees, in, level, to, fold);
      else
        gpu.launch(device::joined_subtrees_kernel<own, Places_of_level>, blocks, threads, below, level.first, level, to, fold);
      at.heads += level.heads;
      at.first = 0;
      at.each <<= level.height;
      if (!is_last) mains += level.mains();
    }
  }

  executor where_;
  Fold fold_;
  arrays_on_gpu arrays_;
  std::optional<gpu_of_call> gpu_;
};

/// The same as the compiled library takes it.
template <class Fold>
class made_on_gpu {
 public:
  made_on_gpu(const executor& where, const Fold& fold, const arrays_on_gpu& arrays) : of_(where, fold, arrays) {}
  made_on_gpu(const made_on_gpu&) = delete;
  made_on_gpu& operator=(const made_on_gpu&) = delete;

  [[nodiscard]] const onefold_made_values* values() const noexcept { return &made_; }
  /// Throws what was thrown in a call that has returned this.
  void check(int status) {
    if (status != ONEFOLD_OK) of_.forget();
    if (status == ONEFOLD_CALLBACK_FAILED && failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
    check_status(status);
  }
  void check_arrays(std::uint64_t count) { of_.check(count); }

 private:
  template <class Work>
  static int guarded(void* context, const Work& work) {
    auto& own = *static_cast<made_on_gpu*>(context);
    try {
      work(own.of_);
      return 0;
    } catch (...) {
      own.failure_ = std::current_exception();
      return 1;
    }
  }
  static int fill(void* context, std::uint64_t first, std::uint64_t count, void* const* to) {
    return guarded(context, [&](values_on_gpu<Fold>& of) { of.values(first, count, to); });
  }
  static int reduce(void* context, std::uint64_t from, std::uint64_t first_tile, std::uint64_t end_tile, std::uint64_t count,
                    void* states) {
    return guarded(context, [&](values_on_gpu<Fold>& of) { of.nodes(from, first_tile, end_tile, count, states); });
  }
  static int wait(void* context) {
    return guarded(context, [](values_on_gpu<Fold>& of) { of.wait(); });
  }

  values_on_gpu<Fold> of_;
  onefold_made_values made_{this, fill, reduce, wait};
  std::exception_ptr failure_;
};

template <>
struct device_ranges<true> {
  template <form What, class T, bool Wide, class Space, class F>
  static auto of_form(const executor& where, const Space& space, F& f, T instead) {
    return of<made_on_gpu>(where, fold_of_form<What, T, Wide>(space, f, instead), f);
  }
  template <class... Ops, class Space, class F>
  static auto of_operators(const executor& where, const Space& space, F& f) {
    return of<made_on_gpu>(where, fold_of_operators<Ops...>(space, f), f);
  }
  /// Of mean_variance of values of which some are absent: what is kept is maybe<T>, and a node maybe<moments>.
  template <class T, bool Wide, class Space, class F>
  static auto of_present_moments(const executor& where, const Space& space, F& f) {
    static_assert(check_function<F>::done, "");
    using later = later_values<typename origin<Space, F>::type, as_returned>;
    using own = form_of_function<form::mean_variance, T, Wide, form_fold_t<form::mean_variance, T, Wide>, later>;
    const auto fold = fold_of_range<own>(own(later{origin<Space, F>::of(space, f), {}}, 0));
    using made = values_on_gpu<std::decay_t<decltype(fold)>>;
    static_assert(std::is_same_v<typename made::kept, maybe<T>> && std::is_same_v<typename made::node, maybe<moments>>, "");
    return of<made_on_gpu>(where, fold, f);
  }
  /// For put_image().
  template <form What, class T, bool Wide, class Space, class F>
  static auto values_of_form(const executor& where, const Space& space, F& f, T instead) {
    return of<values_on_gpu>(where, fold_of_form<What, T, Wide>(space, f, instead), f);
  }
  template <class... Ops, class Space, class F>
  static auto values_of_operators(const executor& where, const Space& space, F& f) {
    return of<values_on_gpu>(where, fold_of_operators<Ops...>(space, f), f);
  }
  template <class Space, class F, class Op>
  static auto of_own(const executor& where, const Space& space, F& f, Op& op) {
    return of<values_on_gpu>(where, fold_of_own(space, f, op, no_init{}), f);
  }

  /// What has a fold's values, and the fold of an operator of the caller's: also for joined_values.cuh.
  template <template <class> class Values, class Fold, class F>
  static Values<Fold> of(const executor& where, const Fold& fold, const F& f) {
    return Values<Fold>(where, fold, arrays_on_gpu(f));
  }
  template <class Space, class F, class Op, class Init>
  static auto fold_of_own(const Space& space, F& f, Op& op, const Init& init) {
    static_assert(check_function<F>::done && check_function<Op>::done, "");
    using later = later_values<typename origin<Space, F>::type, as_returned>;
    using V = typename value_traits<value_at_t<Space, F>>::type;
    using own = own_operator<V, std::decay_t<Op>, Init, later>;
    return fold_of_range<own>(own(later{origin<Space, F>::of(space, f), {}}, op, init));
  }

 private:
  template <form What, class T, bool Wide, class Space, class F>
  static auto fold_of_form(const Space& space, F& f, T instead) {
    static_assert(check_function<F>::done, "");
    using values = values_of<Space, F>;
    using from = typename origin<Space, F>::type;
    if constexpr (values::several) {
      using later = later_values<from, as_returned>;
      using fold = form_of_values<What, T, Wide, form_fold_t<What, T, Wide>, values::count, later>;
      return fold_of_range<fold>({later{origin<Space, F>::of(space, f), {}}, 0});
    } else {
      using later = later_values<from, or_instead<T>>;
      using fold = form_of_function<What, T, Wide, form_fold_t<What, T, Wide>, later>;
      return fold_of_range<fold>({later{origin<Space, F>::of(space, f), {instead}}, 0});
    }
  }
  template <class... Ops, class Space, class F>
  static auto fold_of_operators(const Space& space, F& f) {
    static_assert(check_function<F>::done, "");
    using later = later_values<typename origin<Space, F>::type, as_returned>;
    using fold = together_of_values<typename values_of<Space, F>::type, later, Ops...>;
    return fold_of_range<fold>(fold(later{origin<Space, F>::of(space, f), {}}));
  }
};

}  // namespace detail
}  // namespace onefold
