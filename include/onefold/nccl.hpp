#pragma once
/// @file nccl.hpp  Reductions over the ranks of an NCCL communicator, in stream order and with the bits of one core. Not part of onefold.hpp: it needs
/// <nccl.h> (NCCL 2.10 or newer) and the CUDA runtime.
///
///   onefold::nccl::layout rows(comm, 0, stream, count);            // collective, once: rank after rank holds the next elements of one array
///   onefold::sum_into(rows, x, count, d_sum);                      // collective, on `stream`: the sum of all ranks' x, in every rank's memory
///   onefold::dot_into(rows, x, y, count, d_dot);
///   onefold::reduce_into(rows, points, count, d_far, farther{});   // an operator of the caller's, in a translation unit for nvcc; so are functions:
///   onefold::norm2_into(rows, count, [=] __host__ __device__(std::uint64_t i) { return b[i] - Ax[i]; }, d_norm);  // this rank's b and Ax
///
/// Forms     the `*_into` calls of arrays (reduce.hpp) of all element types, complex numbers too, with accumulate_as and ddof: all but
///           reduce_together_into, which takes functions here, and multi_dot_into.
/// Functions of the index, in translation units of nvcc's with onefold/device.cuh: `n`, or a box, says how many values this rank has, and f is asked for the indices that its
///           own call names, 0 .. n - 1 or the box's; an index in a result is that in the whole array. f may return several values, also for reduce_together_into.
///           Values may be absent.
/// Operators of the caller's, there too: reduce_into, transform_reduce_into and count_if_into, of arrays and of functions, with an initial value or without. What is called, and
///           that value, are the same on all ranks.
/// Bits      those of the array that holds all ranks' elements one after the other, on one core (docs/order.md).
/// Exact     with guarantee::exact, sums and what is made of them (exact.hpp) are correctly rounded, and no order of the elements is in their bits: a layout then
///           says how many each rank has, and nothing of where they belong. Other forms are as without, where no order changes them, and else refused.
/// Order     calls are collective: all ranks make the same ones in the same order, as calls of NCCL's are. They do not wait for the stream, and may be
///           captured into a graph. On one thread for several GPUs: between ncclGroupStart() and ncclGroupEnd() make no calls of onefold's, but use a thread for
///           each GPU.
/// How       each rank's GPU makes the image of its range (range_state.hpp), some hundred bytes and elements of cut tiles; ncclAllGather brings all to
///           every rank, and a kernel puts them together: over up to 400 ranks, or fewer where these have very many subtrees
///           (onefold_range_can_join_images()). Over more a function of the host's does, in stream order, which costs 50 us. Of operators of the caller's, and of forms that
///           must know which values are there, a kernel of his translation unit does, over any number of ranks. Of exact results
///           each rank's GPU makes the words of its state, 152 to 3360 bytes, ncclAllReduce adds them as integers, and a kernel rounds. So neither CPUs nor GPUs wait
///           for each other outside of NCCL.
/// Results   lie in memory that the GPU reaches.
/// Errors    onefold::error: those of the reductions; communication_failed where NCCL has returned an error; device_error where the runtime has;
///           invalid_argument for another count than the layout's, or argmin and its like of no elements. What goes wrong in stream order, lack of memory
///           alone, is thrown by the next call and by check(); results then have all bits set. guarantee_not_met for exact results that there are not:
///           products of floats, of complex numbers prod, norm1 and norm_inf, and with operators of the caller's. unsupported where the host's function would have
///           to put together images of more than 24 KiB on each rank: those of functions of eight results, say. Ranks that ask for exact results of different kinds get
///           numbers with all bits set where the kinds have as many words (docs/exact.md); of different numbers of words nothing is promised. An error that is thrown on some ranks alone leaves the others waiting in NCCL, as an error between its calls does.
/// Cost      one reduction, a copy for each tile that is cut, one ncclAllGather and one launch for each result, or two small copies and the host's function:
///           docs/devices.md has figures. Device and pinned memory of 24 KiB for each rank of the communicator, had once; of functions of several values, or of
///           many, memory of the stream's pool beside it.
/// Loading   CUDA loads a kernel when it is first launched, and may wait for all that runs on the GPU meanwhile. A layout loads those of the caller's translation unit when it is made; the
///           library's are loaded by their first calls. One process that has several GPUs, and does not wait for their streams between first calls, sets
///           CUDA_MODULE_LOADING=EAGER: a collective that is under way on one GPU may else wait for a call on another that waits for it.
/// Lifetime  a layout outlives the work on its stream and the graphs that have recorded calls; it is destroyed before the communicator. All its calls use the same memory: a graph that has
///           recorded some runs neither beside another one nor beside calls on the layout's stream.
/// Threads   calls on one layout are made by one thread at a time.

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/joined_parts.hpp>
#include <onefold/detail/known_kernels.hpp>
#include <onefold/detail/later_calls.hpp>
#include <onefold/device/gpu_status.cuh>
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
  static_cast<void>(cudaGetLastError());  // else the application's next check would report our error as its own
  telling_of_lacking_memory([&status, &call] {
    throw error(code_of_gpu_status(status), std::string(call).append(" failed: ").append(cudaGetErrorString(status)));
  });
}
inline void check(ncclResult_t status, const char* call, ncclComm_t comm) {
  while (status == ncclInProgress) {  // of a communicator that does not block: what was asked for may not be on the stream yet
    std::this_thread::yield();
    if (const ncclResult_t asked = ncclCommGetAsyncError(comm, &status); asked != ncclSuccess) status = asked;
  }
  if (status == ncclSuccess) return;
  telling_of_lacking_memory([&call, &status] {
    throw error(errc::communication_failed, std::string(call).append(" failed: ").append(ncclGetErrorString(status)));
  });
}

inline void forget(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}
struct free_device {
  void operator()(void* memory) const noexcept { forget(cudaFree(memory)); }
};
struct free_pinned {
  void operator()(void* memory) const noexcept { forget(cudaFreeHost(memory)); }
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

/// For as long as it lives a device's primary context is current, and no call spoils a capture that is under way elsewhere.
class device_scope {
 public:
  explicit device_scope(int device) { check_status(onefold_enter_gpu(c_executor(cuda(device)), &scope_)); }
  ~device_scope() { onefold_leave_gpu(&scope_); }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  onefold_gpu_scope scope_;
};

/// What puts the images of all ranks together: always the same for a form, an element type and an accumulator. A kernel, or a function of the host's, for
/// which the rest is.
struct conclusion {
  std::int32_t what;
  std::int32_t type;
  bool wide;
  std::int64_t ddof;
  int number = 0;          ///< of a function's results, each of which has an image,
  int results = 1;         ///< which is one of as many side by side
  std::size_t stride = 0;  ///< bytes of the largest image: from one result's to the next one's, `results` times to the next rank's
  bool by_kernel = false;
  void (*run)(const conclusion&) = nullptr;
  const std::vector<std::uint64_t>* counts = nullptr;
  const std::byte* images = nullptr;
  void* result = nullptr;
  std::atomic<int>* failure = nullptr;

  [[nodiscard]] std::uint32_t flags() const noexcept { return wide ? ONEFOLD_WIDE : 0U; }
  [[nodiscard]] bool is_for(const conclusion& other) const noexcept {
    return what == other.what && type == other.type && wide == other.wide && ddof == other.ddof && number == other.number &&
           results == other.results;
  }
};

// In the runtime's own thread: no call of CUDA's, and no exception leaves it.
template <form What, class T, class A>
void conclude(const conclusion& of) {
  using result = typename range_state<What, T, A>::value_type;
  std::memset(of.result, 0xff, sizeof(result));
  try {
    range_state<What, T, A> all;
    const std::byte* image = of.images + static_cast<std::size_t>(of.number) * of.stride;
    for (const std::uint64_t count : *of.counts) {
      all.add_image(image, count);
      image += static_cast<std::size_t>(of.results) * of.stride;
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
inline constexpr std::size_t most_results = 16;

/// Memory of the device, a layout's own where that is enough, or of the stream's pool, to which it is given back in stream order.
class memory_of_call {
 public:
  memory_of_call(void* own, std::size_t own_bytes, std::size_t bytes, cudaStream_t stream) : memory_(own), stream_(stream) {
    if (bytes <= own_bytes) return;
    check(cudaMallocAsync(&memory_, bytes, stream), "cudaMallocAsync");
    is_of_pool_ = true;
  }
  ~memory_of_call() {
    if (is_of_pool_) forget(cudaFreeAsync(memory_, stream_));
  }
  memory_of_call(const memory_of_call&) = delete;
  memory_of_call& operator=(const memory_of_call&) = delete;
  [[nodiscard]] std::byte* get() const noexcept { return static_cast<std::byte*>(memory_); }

 private:
  void* memory_;
  cudaStream_t stream_;
  bool is_of_pool_ = false;
};

/// Whether an element that changes no other can stand for an absent value: the result, where all are absent, is that of none, and no place or number is asked for.
template <form What, class T>
inline constexpr bool takes_absent_values = !has_index(What) && What != form::minmax && What != form::mean &&
                                            What != form::mean_variance && !hides_that_all_are_absent<What, T>;

}  // namespace detail

/// How an array lies on the ranks of a communicator: rank after rank holds the next elements, some perhaps none. What the `*_into` calls take in the place of
/// an executor.
class layout : public onefold::detail::over_streams {
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
    detail::check(ncclCommCount(comm, &ranks), "ncclCommCount", comm);
    detail::check(ncclCommUserRank(comm, &rank_), "ncclCommUserRank", comm);
    onefold::detail::telling_of_lacking_memory([this, &ranks] {
      counts_.resize(static_cast<std::size_t>(ranks));
      borders_.reserve(counts_.size());
    });
    mine_ = detail::allocate_device(detail::most_image_bytes);
    all_ = detail::allocate_device(counts_.size() * detail::most_image_bytes);
    borders_on_device_ = detail::allocate_device((counts_.size() + 1) * sizeof(std::uint64_t));
    images_ = detail::allocate_pinned(counts_.size() * detail::most_image_bytes);
    result_ = detail::allocate_pinned(detail::most_results * detail::most_result_bytes);

    onefold::detail::known_kernels::for_each([](const void* symbol) {
      cudaFuncAttributes loaded{};
      if (cudaFuncGetAttributes(&loaded, symbol) != cudaSuccess) cudaGetLastError();  // its launch says why
    });

    const std::size_t bytes = counts_.size() * sizeof(std::uint64_t);
    std::memcpy(images_.get(), &count, sizeof(count));
    detail::check(cudaMemcpyAsync(mine_.get(), images_.get(), sizeof(count), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    detail::check(ncclAllGather(mine_.get(), all_.get(), 1, ncclUint64, comm, stream), "ncclAllGather", comm);
    detail::check(cudaMemcpyAsync(images_.get(), all_.get(), bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    detail::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::memcpy(counts_.data(), images_.get(), bytes);
    for (int i = 0; i < rank_; ++i) begin_ += counts_[static_cast<std::size_t>(i)];
    constexpr std::uint64_t most = std::uint64_t{1} << 60;
    for (const std::uint64_t one : counts_) {  // the same on all ranks
      borders_.push_back(total_);
      if (one > most || total_ + one > most)
        onefold::detail::telling_of_lacking_memory(
            [] { throw error(errc::invalid_argument, "a layout has at most 2^60 elements: is a count negative?"); });
      total_ += one;
    }
    detail::check(cudaMemcpyAsync(borders_on_device_.get(), borders_.data(), bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    detail::check(cudaMemcpyAsync(static_cast<std::byte*>(borders_on_device_.get()) + bytes, &total_, sizeof(total_),
                                  cudaMemcpyDefault, stream),
                  "cudaMemcpyAsync");
    detail::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  layout(const layout&) = delete;
  layout& operator=(const layout&) = delete;
  /// Waits for the stream.
  ~layout() {
    onefold_gpu_scope scope;  // a null stream is that of the current device
    if (onefold_enter_gpu(onefold::detail::c_executor(cuda(device_)), &scope) != ONEFOLD_OK) return;
    detail::forget(cudaStreamSynchronize(stream_));
    // Here, where the device's context is current, and no capture of another stream is spoilt.
    for (detail::device_memory* of : {&mine_, &all_, &borders_on_device_}) of->reset();
    for (detail::pinned_memory* of : {&images_, &result_}) of->reset();
    onefold_leave_gpu(&scope);
  }

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
      if (!onefold::detail::exact::is_exact_in_any_order(What, element_type_of<T>))
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
    gather(mine_.get(), all_.get(), its.stride);
    put_result(its, all_.get(), output, sizeof(result));
  }

  template <form What, bool OnDevice, class S, class F, class... M>
  void function_into(const S& over, F& f, void* output, const options& how, M... modifiers) const {
    static_assert(OnDevice,
                  "over NCCL's ranks functions are compiled by nvcc, in a translation unit that includes onefold/device.cuh");
    using Space = onefold::detail::space_of<S>;
    using values = onefold::detail::values_of<Space, F>;
    using T = typename values::type;
    constexpr bool wide = (onefold::detail::is_wide<M, T>() || ...);
    constexpr bool can_be_absent = onefold::detail::value_traits<onefold::detail::value_at_t<Space, F>>::can_be_absent;
    constexpr int results = values::several ? values::count : 1;
    const Space space = onefold::detail::as_space(over);
    check();
    check_call(What, space.size(), output);
    onefold::detail::request asked{serial(), element_type_of<T>, What, nullptr, 0, nullptr, true};
    (onefold::detail::apply<T>(asked, modifiers), ...);
    if (how.guarantee == guarantee::exact && !onefold::detail::exact::is_free_of_order(What, element_type_of<T>))
      return put_exact_values<What, OnDevice, T, results>(over, f, output, how, wide ? ONEFOLD_WIDE : 0U, asked.ddof);
    refuse_variants(how);
    if constexpr (can_be_absent && !detail::takes_absent_values<What, T>) {
      static_assert(!values::several, "forms with several results take functions of one value where it may be absent");
      put_joined(
          onefold::detail::device_joined<OnDevice>::template of_form<What, T, wide>(cuda(device_, stream_), space, f, asked.ddof),
          space.size(), output, alignof(onefold::detail::form_result_t<What, T, M...>));
    } else {
      auto made = onefold::detail::device_ranges<OnDevice>::template values_of_form<What, T, wide>(
          cuda(device_, stream_), space, f, onefold::detail::instead_of_absent<What, T>());
      using A = accumulator_t<T, wide>;
      const detail::conclusion wanted{static_cast<std::int32_t>(What), static_cast<std::int32_t>(element_type_of<T>), wide,
                                      asked.ddof};
      put_values(made, space.size(), results, output, sizeof(typename range_state<What, T, A>::value_type),
                 [this, &wanted](int k) -> detail::conclusion& {
                   return conclusion_for(numbered(wanted, k, results), detail::conclude<What, T, A>,
                                         stride_of<range_state<What, T, A>>);
                 });
    }
    report_of_images(how);
  }
  /// With an operator of the caller's, or an initial value.
  template <bool OnDevice, class Call>
  void call_into(Call& call, typename Call::result* output, const options& how) const {
    static_assert(
        OnDevice,
        "over NCCL's ranks operators and functions are compiled by nvcc, in a translation unit that includes onefold/device.cuh");
    using Op = std::decay_t<decltype(call.op)>;
    using Init = std::decay_t<decltype(call.init)>;
    if (call.other_count != call.space.size()) onefold::detail::throw_different_lengths(call.space.size(), call.other_count);
    if constexpr (is_built_in_operator<Op> && std::is_same_v<Init, onefold::detail::no_init>) {
      function_into<form_of(Op::id), OnDevice>(call.space, call.f, output, how);
    } else if constexpr (is_built_in_operator<Op>) {
      constexpr form what = form_of(Op::id);
      using T = typename Call::result;
      if (how.guarantee == guarantee::exact && !onefold::detail::exact::is_free_of_order(what, element_type_of<T>))
        refuse_exact_with("an initial value");
      onefold::detail::operator_function<Op> combine;
      refuse_variants(how);
      own_into<OnDevice>(call.space, call.f, combine, call.init, output);
      report_of_images(how);
    } else {
      if (how.guarantee == guarantee::exact) refuse_exact_with("an operator of your own");
      refuse_variants(how);
      own_into<OnDevice>(call.space, call.f, call.op, call.init, output);
      report_of_images(how);
    }
  }
  template <bool OnDevice, class S, class F, class... Ops>
  void function_together_into(const S& over, F& f, void* output, const options& how, Ops...) const {
    static_assert(OnDevice,
                  "over NCCL's ranks functions are compiled by nvcc, in a translation unit that includes onefold/device.cuh");
    using Space = onefold::detail::space_of<S>;
    using values = onefold::detail::values_of<Space, F>;
    using T = typename values::type;
    static_assert(values::count == static_cast<int>(sizeof...(Ops)), "reduce_together takes an operator for each value of f");
    static_assert(!onefold::detail::value_traits<onefold::detail::value_at_t<Space, F>>::can_be_absent,
                  "reduce_together takes no absent values: make a call for each operator");
    const Space space = onefold::detail::as_space(over);
    check();
    check_call(form::reduce_together, space.size(), output);
    constexpr bool are_free = (onefold::detail::exact::is_free_of_order(form_of(Ops::id), element_type_of<T>) && ...);
    if (how.guarantee == guarantee::exact && !are_free) refuse_exact(form::reduce_together, element_type_of<T>);
    refuse_variants(how);
    auto made = onefold::detail::device_ranges<OnDevice>::template values_of_operators<Ops...>(cuda(device_, stream_), space, f);
    put_values(made, space.size(), static_cast<int>(sizeof...(Ops)), output, sizeof(T), [this](int k) -> detail::conclusion& {
      using find = detail::conclusion& (layout::*)(int) const;
      static constexpr find each[] = {&layout::conclusion_of_operator<form_of(Ops::id), T, static_cast<int>(sizeof...(Ops))>...};
      return (this->*each[k])(k);
    });
    report_of_images(how);
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

  // As arrays refuse them.
  static void refuse_variants(const options& how) {
    if (how.variant.empty() || how.variant == "fixed_order") return;
    onefold::detail::telling_of_lacking_memory([] {
      throw error(errc::unsupported, "over ranks a function is reduced by fixed_order alone: leave the variant's name away");
    });
  }
  void report_of_images(const options& how) const {
    if (how.report == nullptr) return;
    onefold::detail::telling_of_lacking_memory([this, &how] {
      report ran;
      ran.variant = ran.implementation = "fixed_order";
      ran.backend = backend::cuda;
      ran.guarantee = guarantee::fixed;
      ran.device = device_;
      *how.report = std::move(ran);
    });
  }

  // The words of all ranks' states are added as integers.
  template <form What, class T>
  void put_exactly(const T* x, const T* y, std::uint64_t count, void* output, const options& how, std::uint32_t flags,
                   std::int64_t ddof) const {
    constexpr std::size_t words = onefold::detail::exact::words_of(What, element_type_of<T>);
    if constexpr (words == 0) {
      refuse_exact(What, element_type_of<T>);
    } else {
      put_rounded<What, T>(1, words, output, flags, ddof, [&x, &y, &count, &how](const executor& where, std::int64_t* mine) {
        onefold::detail::check_status(
            onefold::detail::with_c_options(how, [&where, &x, &y, &count, &mine](const onefold_options* wishes) {
              return onefold_exact_put_words(static_cast<std::int32_t>(element_type_of<T>), static_cast<std::int32_t>(What),
                                             onefold::detail::c_executor(where), x, What == form::dot ? y : nullptr, count, mine,
                                             wishes);
            }));
      });
    }
  }

  // Of K values of a function.
  template <form What, bool OnDevice, class T, int K, class S, class F>
  void put_exact_values(const S& over, F& f, void* output, const options& how, std::uint32_t flags, std::int64_t ddof) const {
    constexpr std::size_t words = onefold::detail::exact::words_of(What, element_type_of<T>);
    if constexpr (words == 0) {
      refuse_exact(What, element_type_of<T>);
    } else {
      put_rounded<What, T>(K, words, output, flags, ddof, [&over, &f, &how](const executor& where, std::int64_t* mine) {
        onefold::detail::put_words_of_function<OnDevice, What>(where, over, f, mine, how);
      });
    }
  }
  // As many results, of so many words each, which put(where, mine) puts on the stream for this rank's values.
  template <form What, class T, class Put>
  void put_rounded(std::size_t results, std::size_t words, void* output, std::uint32_t flags, std::int64_t ddof,
                   const Put& put) const {
    constexpr auto type = static_cast<std::int32_t>(element_type_of<T>);
    const std::size_t all_words = words * results, bytes = all_words * sizeof(std::int64_t);
    const std::size_t apart = result_bytes(element_type_of<T>, What, (flags & ONEFOLD_WIDE) != 0);
    const executor where = cuda(device_, stream_);
    const detail::device_scope current(device_);
    const detail::memory_of_call mine(mine_.get(), detail::most_image_bytes, bytes, stream_);
    const detail::memory_of_call all(all_.get(), detail::most_image_bytes, bytes, stream_);
    const auto* const of_all = reinterpret_cast<const std::int64_t*>(all.get());
    put(where, reinterpret_cast<std::int64_t*>(mine.get()));
    detail::check(ncclAllReduce(mine.get(), all.get(), all_words, ncclInt64, ncclSum, comm_, stream_), "ncclAllReduce", comm_);
    for (std::size_t k = 0; k < results; ++k)
      onefold::detail::check_status(onefold_exact_put_result(type, static_cast<std::int32_t>(What), flags, ddof,
                                                             onefold::detail::c_executor(where), of_all + k * words,
                                                             static_cast<std::byte*>(output) + k * apart));
  }
  [[noreturn]] static void refuse_exact(form what, element_type type) {
    onefold::detail::telling_of_lacking_memory([&what, &type] {
      throw error(
          errc::guarantee_not_met,
          std::string(name(what)).append(" of ").append(name(type)).append(" has no exact result here: leave the guarantee away"));
    });
    onefold::detail::throw_out_of_memory();  // not reached
  }

  [[noreturn]] static void refuse_exact_with(const char* what) {
    onefold::detail::telling_of_lacking_memory([what] {
      throw error(
          errc::guarantee_not_met,
          std::string("a reduction over ranks with ").append(what).append(" has no exact result: leave the guarantee away"));
    });
    onefold::detail::throw_out_of_memory();  // not reached
  }

  template <bool OnDevice, class Space, class F, class Op, class Init>
  void own_into(const Space& space, F& f, Op& op, const Init& init, void* output) const {
    check();
    check_call(form::sum, space.size(), output);
    if constexpr (std::is_same_v<Init, onefold::detail::no_init>) {
      if (total_ == 0)
        onefold::detail::telling_of_lacking_memory([] { throw error(errc::invalid_argument, onefold::detail::nothing_to_reduce); });
    }
    put_joined(onefold::detail::device_joined<OnDevice>::of_own(cuda(device_, stream_), space, f, op, init), space.size(), output,
               alignof(typename onefold::detail::value_traits<onefold::detail::value_at_t<Space, F>>::type));
  }
  // Values whose images a kernel of the caller's translation unit puts together.
  template <class Values>
  void put_joined(Values made, std::uint64_t count, void* output, std::size_t alignment) const {
    made.check(count);
    onefold::detail::check_status(onefold_check_gpu_output(onefold::detail::c_executor(cuda(device_, stream_)), output,
                                                           static_cast<std::uint32_t>(alignment)));
    std::uint64_t most = 64;  // a collective has something to send
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      const onefold::detail::joined_part part(Values::sizes, borders_[rank], borders_[rank] + counts_[rank]);
      if (part.bytes(Values::sizes) > most) most = part.bytes(Values::sizes);
    }
    const auto bytes = static_cast<std::size_t>(most);
    const detail::device_scope current(device_);
    const detail::memory_of_call mine(mine_.get(), detail::most_image_bytes, bytes, stream_);
    const detail::memory_of_call all(all_.get(), detail::most_image_bytes * counts_.size(), bytes * counts_.size(), stream_);
    made.put_image(begin_, count, reinterpret_cast<unsigned char*>(mine.get()));
    gather(mine.get(), all.get(), bytes);
    made.put_result({reinterpret_cast<const unsigned char*>(all.get()), static_cast<const std::uint64_t*>(borders_on_device_.get()),
                     static_cast<std::uint32_t>(counts_.size()), most},
                    output, stream_);
  }

  // Images of all ranks, each of so many bytes.
  void gather(const void* mine, void* all, std::size_t bytes) const {
    detail::check(ncclAllGather(mine, all, bytes, ncclUint8, comm_, stream_), "ncclAllGather", comm_);
  }
  // Puts them together. `are_on_host`: whether the host has them from a result before this one.
  void put_result(const detail::conclusion& its, const void* all, void* output, std::size_t bytes, bool are_on_host = false) const {
    const std::size_t stride = static_cast<std::size_t>(its.results) * its.stride;
    if (its.by_kernel) {
      onefold::detail::check_status(onefold_range_join_images_ddof(
          its.type, its.what, its.flags(), its.ddof, onefold::detail::c_executor(cuda(device_, stream_)),
          static_cast<const std::byte*>(all) + static_cast<std::size_t>(its.number) * its.stride, stride, borders_.data(),
          borders_.size(), total_, output));
      return;
    }
    if (!are_on_host)
      detail::check(cudaMemcpyAsync(images_.get(), all, stride * counts_.size(), cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
    detail::check(cudaLaunchHostFunc(stream_, detail::run_conclusion, const_cast<detail::conclusion*>(&its)), "cudaLaunchHostFunc");
    detail::check(cudaMemcpyAsync(output, its.result, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
  }
  // Of functions: each of their results has an image. conclusion(k) is what makes result number k of them.
  template <class Values, class Conclusion>
  void put_values(Values& made, std::uint64_t count, int results, void* output, std::size_t bytes,
                  const Conclusion& conclusion) const {
    std::size_t stride = 0;
    bool by_kernel = true;
    for (int k = 0; k < results; ++k) {
      const detail::conclusion& its = conclusion(k);
      if (its.stride > stride) stride = its.stride;
      by_kernel = by_kernel && its.by_kernel;
    }
    const std::size_t mine_bytes = static_cast<std::size_t>(results) * stride;
    if (!by_kernel && mine_bytes > detail::most_image_bytes) refuse_image();
    made.check(count);
    const detail::device_scope current(device_);
    const detail::memory_of_call mine(mine_.get(), detail::most_image_bytes, mine_bytes, stream_);
    const detail::memory_of_call all(all_.get(), detail::most_image_bytes * counts_.size(), mine_bytes * counts_.size(), stream_);
    made.put_image(begin_, count, mine.get(), stride);
    gather(mine.get(), all.get(), mine_bytes);
    bool are_on_host = false;
    for (int k = 0; k < results; ++k) {
      const detail::conclusion& its = conclusion(k);
      put_result(its, all.get(), static_cast<std::byte*>(output) + static_cast<std::size_t>(k) * bytes, bytes, are_on_host);
      are_on_host = are_on_host || !its.by_kernel;
    }
  }
  [[noreturn]] static void refuse_image() {
    onefold::detail::telling_of_lacking_memory(
        [] { throw error(errc::unsupported, "an image is larger than a layout has room for"); });
    onefold::detail::throw_out_of_memory();  // not reached
  }
  static detail::conclusion numbered(detail::conclusion of, int number, int results) noexcept {
    of.number = number;
    of.results = results;
    return of;
  }
  template <form What, class T, int Results>
  detail::conclusion& conclusion_of_operator(int k) const {
    const detail::conclusion wanted{static_cast<std::int32_t>(What), static_cast<std::int32_t>(element_type_of<T>), false, 0};
    return conclusion_for(numbered(wanted, k, Results), detail::conclude<What, T, accumulator_t<T, false>>,
                          stride_of<range_state<What, T>>);
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
      if (made->results == 1 && made->stride > detail::most_image_bytes) refuse_image();
      made->by_kernel = onefold_range_can_join_images(made->type, made->what, made->flags(), counts_.size(), total_) != 0;
      if (made->by_kernel)  // ahead of a collective that is under way
        onefold::detail::check_status(onefold_range_load_join_images(made->type, made->what, made->flags(),
                                                                     onefold::detail::c_executor(cuda(device_, stream_))));
      made->run = run;
      made->counts = &counts_;
      made->images = static_cast<const std::byte*>(images_.get());
      made->result = static_cast<std::byte*>(result_.get()) + static_cast<std::size_t>(made->number) * detail::most_result_bytes;
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
  detail::device_memory borders_on_device_;  // and the total, for kernels of the caller's translation unit
  detail::pinned_memory images_, result_;
  mutable std::vector<std::unique_ptr<detail::conclusion>> conclusions_;
  mutable std::atomic<int> failure_{0};
};

namespace detail {

/// The arguments of a call without the place of its result, which stands behind what is reduced, and without options at the end.
template <class... A>
struct arguments_into {
  using all = std::tuple<A&&...>;
  template <std::size_t K>
  using type = onefold::detail::later::bare<std::tuple_element_t<K, all>>;
  static constexpr std::size_t head = onefold::detail::later::call_shape<A...>::head;
  static_assert(sizeof...(A) > head + 1,
                "the place of the result stands behind what is reduced, then come an operator and perhaps more");
  static constexpr bool has_options = std::is_same_v<type<sizeof...(A) - 1>, options>;
  static constexpr std::size_t count = sizeof...(A) - 1 - (has_options ? 1 : 0);

  template <std::size_t... K>
  static auto without_result(const all& of, std::index_sequence<K...>) {
    return std::forward_as_tuple(onefold::detail::later::argument<(K < head ? K : K + 1)>(of)...);
  }
  static auto described(const all& of) { return without_result(of, std::make_index_sequence<count>()); }
  static options how([[maybe_unused]] const all& of) {
    if constexpr (has_options)
      return std::get<sizeof...(A) - 1>(of);
    else
      return {};
  }
};

}  // namespace detail
}  // namespace nccl

/// reduce_into(), transform_reduce_into() and count_if_into() over the ranks, of the same arguments as with an executor: arrays or indices of this rank. The operator,
/// and an initial value, are the same on all ranks.
template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
void reduce_into(const nccl::layout& rows, A&&... arguments) {
  using into = nccl::detail::arguments_into<A...>;
  static_assert(detail::later::call_shape<A...>::arrays == 1,
                "reduce_into takes an array: of a function there is transform_reduce_into");
  const std::tuple<A&&...> of(std::forward<A>(arguments)...);
  auto call = detail::later::describe_reduce<into::count>(into::described(of));
  using op_type = decltype(call.op);
  if constexpr (is_built_in_operator<op_type> && std::is_same_v<decltype(call.init), detail::no_init>) {
    if (call.other_count != call.space.size()) detail::throw_different_lengths(call.space.size(), call.other_count);
    const auto* const x = std::get<0>(call.f.arrays);
    using T = std::remove_cv_t<std::remove_reference_t<decltype(*x)>>;
    detail::form_result_t<form_of(op_type::id), T>* const output = std::get<into::head>(of);
    rows.template into<form_of(op_type::id), T>(x, nullptr, call.space.size(), output, into::how(of));
  } else {
    rows.template call_into<OnDevice>(call, std::get<into::head>(of), into::how(of));
  }
}
template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
void transform_reduce_into(const nccl::layout& rows, A&&... arguments) {
  using into = nccl::detail::arguments_into<A...>;
  const std::tuple<A&&...> of(std::forward<A>(arguments)...);
  auto call = detail::later::describe_transform_reduce<into::count>(into::described(of));
  rows.template call_into<OnDevice>(call, std::get<into::head>(of), into::how(of));
}
template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
void count_if_into(const nccl::layout& rows, A&&... arguments) {
  using into = nccl::detail::arguments_into<A...>;
  const std::tuple<A&&...> of(std::forward<A>(arguments)...);
  auto call = detail::later::describe_count_if<into::count>(into::described(of));
  rows.template call_into<OnDevice>(call, std::get<into::head>(of), into::how(of));
}

}  // namespace onefold
