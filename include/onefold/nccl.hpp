#pragma once
/// @file nccl.hpp  Reductions over the ranks of an NCCL communicator, in stream order and with the bits of one core. Not part of onefold.hpp: it needs
/// <nccl.h> (NCCL 2.10 or newer) and the CUDA runtime.
///
///   onefold::nccl::layout rows(comm, 0, stream, count);            // collective, once: rank after rank holds the next elements of one array
///   onefold::sum_into(rows, x, count, d_sum);                      // collective, on `stream`: the sum of all ranks' x, in every rank's memory
///   onefold::dot_into(rows, x, y, count, d_dot);
///
/// Forms     all `*_into` calls of arrays (reduce.hpp) of all element types, complex numbers too, with accumulate_as and ddof.
/// Bits      those of the array that holds all ranks' elements one after the other, on one core (docs/order.md).
/// Exact     with guarantee::exact, sums and what is made of them (exact.hpp) are correctly rounded, and no order of the elements is in their bits: a layout then
///           says how many each rank has, and nothing of where they belong. Other forms are as without, where no order changes them, and else refused.
/// Order     calls are collective: all ranks make the same ones in the same order, as calls of NCCL's are. They do not wait for the stream, and may be
///           captured into a graph. On one thread for several GPUs: between ncclGroupStart() and ncclGroupEnd() make no calls of onefold's, but use a thread for
///           each GPU.
/// How       each rank's GPU makes the image of its range (range_state.hpp), some hundred bytes and elements of cut tiles; ncclAllGather brings all to
///           every rank, and a kernel puts them together: of real numbers, over up to 400 ranks, or fewer where these have very many subtrees
///           (onefold_range_can_join_images()). Of complex numbers a function of the host's does, in stream order, which costs 50 us. Of exact results
///           each rank's GPU makes the words of its state, 152 to 2272 bytes, ncclAllReduce adds them as integers, and a kernel rounds. So neither CPUs nor GPUs wait
///           for each other outside of NCCL.
/// Results   lie in memory that the GPU reaches.
/// Errors    onefold::error: those of the reductions; communication_failed where NCCL has returned an error; device_error where the runtime has;
///           invalid_argument for another count than the layout's, or argmin and its like of no elements. What goes wrong in stream order, lack of memory
///           alone, is thrown by the next call and by check(); results then have all bits set. guarantee_not_met for exact results that there are not:
///           products of floats, and of complex numbers prod, norm1 and mean_variance. Ranks that ask for exact results of different kinds get numbers
///           with all bits set.
/// Cost      one reduction, a copy for each tile that is cut, one ncclAllGather and one launch, or two small copies and the host's function: docs/devices.md has
///           figures. Device and pinned memory of 24 KiB for each rank of the communicator, had once.
/// Lifetime  a layout outlives the work on its stream and the graphs that have recorded calls; it is destroyed before the communicator.
/// Threads   calls on one layout are made by one thread at a time.

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/exact.hpp>
#include <onefold/executor.hpp>
#include <onefold/range_state.hpp>
#include <onefold/reduce.hpp>

namespace onefold {
namespace nccl {

namespace detail {

using namespace onefold::detail;  // NOLINT(google-build-using-namespace)

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  telling_of_lacking_memory([&status, &call] {
    throw error(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::device_error,
                std::string(call).append(" failed: ").append(cudaGetErrorString(status)));
  });
}
inline void check(ncclResult_t status, const char* call) {
  if (status == ncclSuccess || status == ncclInProgress) return;
  telling_of_lacking_memory([&call, &status] {
    throw error(errc::communication_failed, std::string(call).append(" failed: ").append(ncclGetErrorString(status)));
  });
}

struct free_device {
  void operator()(void* memory) const noexcept { static_cast<void>(cudaFree(memory)); }
};
struct free_pinned {
  void operator()(void* memory) const noexcept { static_cast<void>(cudaFreeHost(memory)); }
};
using device_memory = std::unique_ptr<void, free_device>;
using pinned_memory = std::unique_ptr<void, free_pinned>;

inline device_memory allocate_device(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return device_memory(memory);
}
inline pinned_memory allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  return pinned_memory(memory);
}

/// For as long as it lives a device is current.
class device_scope {
 public:
  explicit device_scope(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~device_scope() { static_cast<void>(cudaSetDevice(before_)); }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int before_ = 0;
};

/// What puts the images of all ranks together: always the same for a form, an element type and an accumulator. A kernel, or a function of the host's, for
/// which the rest is.
struct conclusion {
  std::int32_t what;
  std::int32_t type;
  bool wide;
  std::int64_t ddof;
  std::size_t stride = 0;  ///< bytes from one rank's image to the next one's
  bool by_kernel = false;
  void (*run)(const conclusion&) = nullptr;
  const std::vector<std::uint64_t>* counts = nullptr;
  const std::byte* images = nullptr;
  void* result = nullptr;
  std::atomic<int>* failure = nullptr;

  [[nodiscard]] std::uint32_t flags() const noexcept { return wide ? ONEFOLD_WIDE : 0U; }
  [[nodiscard]] bool is_for(const conclusion& other) const noexcept {
    return what == other.what && type == other.type && wide == other.wide && ddof == other.ddof;
  }
};

// In the runtime's own thread: no call of CUDA's, and no exception leaves it.
template <form What, class T, class A>
void conclude(const conclusion& of) {
  using result = typename range_state<What, T, A>::value_type;
  std::memset(of.result, 0xff, sizeof(result));
  try {
    range_state<What, T, A> all;
    const std::byte* image = of.images;
    for (const std::uint64_t count : *of.counts) {
      all.add_image(image, count);
      image += of.stride;
    }
    result found;
    if constexpr (What == form::mean_variance)
      found = all.value(ddof{of.ddof});
    else
      found = all.value();
    std::memcpy(of.result, &found, sizeof(found));
  } catch (const error& problem) {
    of.failure->store(static_cast<int>(problem.code()), std::memory_order_relaxed);
  } catch (...) {
    of.failure->store(static_cast<int>(errc::out_of_memory), std::memory_order_relaxed);
  }
}

inline void run_conclusion(void* of) {
  const auto& what = *static_cast<const conclusion*>(of);
  what.run(what);
}

inline constexpr std::size_t most_image_bytes = std::size_t{24} * 1024;
inline constexpr std::size_t most_result_bytes = 64;

}  // namespace detail

/// How an array lies on the ranks of a communicator: rank after rank holds the next elements, some perhaps none. What the `*_into` calls take in the place of
/// an executor.
class layout : public onefold::detail::place_of_streams {
 public:
  /// Collective; waits for the stream.
  ///
  /// @param comm    of NCCL's, with this GPU; it outlives the layout
  /// @param device  the number of the GPU, for cuda(); it need not be current
  /// @param stream  on which calls put their work, of that GPU
  /// @param count   elements of this rank
  layout(ncclComm_t comm, int device, cudaStream_t stream, std::uint64_t count)
      : comm_(comm), device_(device), stream_(stream), count_(count) {
    const detail::device_scope current(device);
    int ranks = 0;
    detail::check(ncclCommCount(comm, &ranks), "ncclCommCount");
    detail::check(ncclCommUserRank(comm, &rank_), "ncclCommUserRank");
    onefold::detail::telling_of_lacking_memory([this, &ranks] {
      counts_.resize(static_cast<std::size_t>(ranks));
      borders_.reserve(counts_.size());
    });
    mine_ = detail::allocate_device(detail::most_image_bytes);
    all_ = detail::allocate_device(counts_.size() * detail::most_image_bytes);
    images_ = detail::allocate_pinned(counts_.size() * detail::most_image_bytes);
    result_ = detail::allocate_pinned(detail::most_result_bytes);

    const std::size_t bytes = counts_.size() * sizeof(std::uint64_t);
    std::memcpy(images_.get(), &count, sizeof(count));
    detail::check(cudaMemcpyAsync(mine_.get(), images_.get(), sizeof(count), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    detail::check(ncclAllGather(mine_.get(), all_.get(), 1, ncclUint64, comm, stream), "ncclAllGather");
    detail::check(cudaMemcpyAsync(images_.get(), all_.get(), bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    detail::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::memcpy(counts_.data(), images_.get(), bytes);
    for (int i = 0; i < rank_; ++i) begin_ += counts_[static_cast<std::size_t>(i)];
    for (const std::uint64_t one : counts_) {
      borders_.push_back(total_);
      total_ += one;
    }
  }
  layout(const layout&) = delete;
  layout& operator=(const layout&) = delete;
  /// Waits for the stream.
  ~layout() { static_cast<void>(cudaStreamSynchronize(stream_)); }

  /// Elements of this rank, of all ranks, and the index that this rank's first has among them.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }

  /// Throws what has gone wrong in stream order since the last call.
  void check() const {
    const int failure = failure_.exchange(0, std::memory_order_relaxed);
    if (failure == 0) return;
    onefold::detail::telling_of_lacking_memory(
        [&failure] { throw error(static_cast<errc>(failure), "an earlier reduction of this layout has failed in stream order"); });
  }

  // For the forms.
  template <form What, class T, class... M>
  void into(const T* x, const T* y, std::uint64_t count, void* output, const options& how, M... modifiers) const {
    static_assert(onefold::detail::counts_on_host<M...>, "over ranks the number of elements is the layout's");
    constexpr bool wide = (onefold::detail::is_wide<M, T>() || ...);
    using A = accumulator_t<T, wide>;
    using state = range_state<What, T, A>;
    using result = typename state::value_type;
    static_assert(sizeof(result) <= detail::most_result_bytes);
    check();
    check_call(What, count, output);
    onefold::detail::request asked{serial(), element_type_of<T>, What, nullptr, 0, nullptr, true};
    (onefold::detail::apply<T>(asked, modifiers), ...);
    options by_order = how;
    if (how.guarantee == guarantee::exact) {
      if (!onefold::detail::exact::is_free_of_order(What, element_type_of<T>))
        return put_exactly<What>(x, y, count, output, how, wide ? ONEFOLD_WIDE : 0U, asked.ddof);
      by_order.guarantee = guarantee::fixed;
    }
    detail::conclusion wanted{};
    wanted.what = static_cast<std::int32_t>(What);
    wanted.type = static_cast<std::int32_t>(element_type_of<T>);
    wanted.wide = wide;
    wanted.ddof = asked.ddof;
    detail::conclusion& its = conclusion_for(wanted, detail::conclude<What, T, A>, stride_of<state>);

    const detail::device_scope current(device_);
    state(begin_).put_image(cuda(device_, stream_), x, y, count, mine_.get(), by_order);
    detail::check(ncclAllGather(mine_.get(), all_.get(), its.stride, ncclUint8, comm_, stream_), "ncclAllGather");
    if (its.by_kernel) {
      onefold::detail::check_status(onefold_range_join_images_ddof(its.type, its.what, its.flags(), its.ddof,
                                                                   onefold::detail::c_executor(cuda(device_, stream_)), all_.get(),
                                                                   its.stride, borders_.data(), borders_.size(), total_, output));
      return;
    }
    detail::check(cudaMemcpyAsync(images_.get(), all_.get(), its.stride * counts_.size(), cudaMemcpyDefault, stream_),
                  "cudaMemcpyAsync");
    detail::check(cudaLaunchHostFunc(stream_, detail::run_conclusion, &its), "cudaLaunchHostFunc");
    detail::check(cudaMemcpyAsync(output, result_.get(), sizeof(result), cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
  }

 private:
  void check_call(form what, std::uint64_t count, const void* output) const {
    if (count == count_ && output != nullptr && !(total_ == 0 && has_index(what))) return;
    onefold::detail::telling_of_lacking_memory([this, &count, &output] {
      if (count != count_)
        throw error(errc::invalid_argument, std::string("the call has ")
                                                .append(std::to_string(count))
                                                .append(" elements and this rank's part of the layout ")
                                                .append(std::to_string(count_)));
      if (output == nullptr) throw error(errc::null_pointer, "the output pointer is null: give the address of one element");
      throw error(errc::invalid_argument, onefold::detail::no_index);
    });
  }

  // The words of all ranks' states are added as integers.
  template <form What, class T>
  void put_exactly(const T* x, const T* y, std::uint64_t count, void* output, const options& how, std::uint32_t flags,
                   std::int64_t ddof) const {
    constexpr std::size_t words = onefold::detail::exact::words_of(What, element_type_of<T>);
    if constexpr (words == 0) {
      onefold::detail::telling_of_lacking_memory([] {
        throw error(errc::guarantee_not_met, std::string(name(What))
                                                 .append(" of ")
                                                 .append(name(element_type_of<T>))
                                                 .append(" has no exact result here: leave the guarantee away"));
      });
    } else {
      static_assert(words * sizeof(std::int64_t) <= detail::most_image_bytes);
      constexpr auto type = static_cast<std::int32_t>(element_type_of<T>);
      constexpr auto what = static_cast<std::int32_t>(What);
      const onefold_executor where = onefold::detail::c_executor(cuda(device_, stream_));
      auto* const mine = static_cast<std::int64_t*>(mine_.get());
      auto* const all = static_cast<std::int64_t*>(all_.get());
      const detail::device_scope current(device_);
      onefold::detail::check_status(
          onefold::detail::with_c_options(how, [&where, &x, &y, &count, &mine](const onefold_options* wishes) {
            return onefold_exact_put_words(type, what, where, x, What == form::dot ? y : nullptr, count, mine, wishes);
          }));
      detail::check(ncclAllReduce(mine, all, words, ncclInt64, ncclSum, comm_, stream_), "ncclAllReduce");
      onefold::detail::check_status(onefold_exact_put_result(type, what, flags, ddof, where, all, output));
    }
  }

  // Bytes of the largest of the ranks' images.
  template <class State>
  static std::size_t stride_of(const std::vector<std::uint64_t>& counts) {
    std::size_t most = 16;
    std::uint64_t begin = 0;
    for (const std::uint64_t count : counts) {
      const std::size_t bytes = State(begin).image_bytes(count);
      if (bytes > most) most = bytes;
      begin += count;
    }
    return most;
  }
  detail::conclusion& conclusion_for(const detail::conclusion& wanted, void (*run)(const detail::conclusion&),
                                     std::size_t (*stride)(const std::vector<std::uint64_t>&)) const {
    for (const auto& one : conclusions_)
      if (one->is_for(wanted)) return *one;
    return onefold::detail::telling_of_lacking_memory([this, &wanted, &stride, &run]() -> detail::conclusion& {
      auto made = std::make_unique<detail::conclusion>(wanted);
      made->stride = stride(counts_);
      if (made->stride > detail::most_image_bytes) throw error(errc::unsupported, "an image is larger than a layout has room for");
      made->by_kernel = onefold_range_can_join_images(made->type, made->what, made->flags(), counts_.size(), total_) != 0;
      made->run = run;
      made->counts = &counts_;
      made->images = static_cast<const std::byte*>(images_.get());
      made->result = result_.get();
      made->failure = &failure_;
      conclusions_.push_back(std::move(made));
      return *conclusions_.back();
    });
  }

  ncclComm_t comm_;
  int device_;
  cudaStream_t stream_;
  std::uint64_t count_;
  int rank_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::uint64_t> counts_;   // of all ranks
  std::vector<std::uint64_t> borders_;  // where they begin
  // What one call leaves the next one on the stream overwrites, behind it.
  detail::device_memory mine_, all_;
  detail::pinned_memory images_, result_;
  mutable std::vector<std::unique_ptr<detail::conclusion>> conclusions_;
  mutable std::atomic<int> failure_{0};
};

}  // namespace nccl
}  // namespace onefold
