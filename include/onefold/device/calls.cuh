#pragma once
/// @file calls.cuh  Calls with functions of the caller's, for cuda(): what device.cuh adds to reduce.hpp and transform.hpp.

#include <type_traits>

#include <onefold/detail/device_code.hpp>
#include <onefold/detail/device_exact.hpp>
#include <onefold/detail/own_folds.hpp>
#include <onefold/device/exact_values.cuh>
#include <onefold/device/fold_maker.cuh>
#include <onefold/transform.hpp>

namespace onefold {
namespace detail {

template <class F>
struct has_device_code<F, std::enable_if_t<!is_host_only<F>>> : std::true_type {};

// Whether a copy of its bytes is a copy of it on the device. Of a lambda for host and device that is so, though nvcc's wrapper of it on the host is not
// trivially copyable.
template <class F>
inline constexpr bool is_copied_as_bytes = std::is_trivially_copyable<F>::value ||
#ifdef __CUDACC_EXTENDED_LAMBDA__
                                           __nv_is_extended_host_device_lambda_closure_type(F) ||
#endif
                                           false;

template <class F>
constexpr void check_for_device() {
#ifdef __CUDACC_EXTENDED_LAMBDA__
  static_assert(!__nv_is_extended_device_lambda_closure_type(F),
                "a lambda for onefold is __host__ __device__, because the executor is chosen at run time");
#endif
  static_assert(is_copied_as_bytes<F>,
                "a function object for cuda() is copied to the device byte by byte, so it must be trivially copyable: capture "
                "pointers by value; or "
                "pass onefold::host_only(f) if it is for the CPU alone");
}
template <class F, class... T>
struct function_inside<function_of_arrays<F, T...>> : function_inside<std::decay_t<F>> {};
template <class P>
struct function_inside<one_where<P>> : function_inside<P> {};
template <class F>
struct check_function {
  static constexpr bool done = (check_for_device<typename function_inside<F>::type>(), true);
};

/// How the exact sum of a call is made, of the calls that have one.
template <class Fold>
struct exact_sum_of {
  using type = void;
};
/// Of floats and doubles; of integers, whose other sums the fixed order does not round either; void of others.
template <form What, class T, int Results>
using exact_sum_of_form =
    std::conditional_t<std::is_floating_point_v<T> && (What == form::sum || What == form::mean || What == form::norm1 ||
                                                       What == form::sum_of_squares || What == form::norm2),
                       device::exact_sums::values_sum<What, T, Results>,
                       std::conditional_t<std::is_integral_v<T> && (What == form::mean || What == form::norm2 ||
                                                                    (What == form::mean_variance && Results == 1)),
                                          device::exact_sums::whole_values_sum<What, T, Results>, void>>;
/// `Sum`, if it is one, of values that are `Counted` where they may be absent.
template <class Sum, bool Counted>
using counted_if = std::conditional_t<Counted && !std::is_void_v<Sum>, device::exact_sums::counted<Sum>, Sum>;
/// Both moments of floats and doubles are a sum and a sum of squares, each of which asks for all values.
template <class Sum>
struct exact_moments {
  using squares = exact_sum_of_form<form::sum_of_squares, typename Sum::terms::type, 1>;
};
template <form What, class T, bool Wide, class Fold, class From>
struct exact_sum_of<form_of_function<What, T, Wide, Fold, From>> {
  using type = exact_sum_of_form<What, T, 1>;
};
template <class T, bool Wide, class Fold, class From>
struct exact_sum_of<form_of_function<form::mean_variance, T, Wide, Fold, From>> {
  static constexpr bool counts = value_traits<typename From::returned>::can_be_absent;
  using type =
      std::conditional_t<std::is_floating_point_v<T>, exact_moments<counted_if<exact_sum_of_form<form::sum, T, 1>, counts>>,
                         counted_if<exact_sum_of_form<form::mean_variance, T, 1>, counts>>;
};
template <class T, bool Wide, class From>
struct exact_sum_of<mean_of_present<T, Wide, From>> {
  using type = counted_if<exact_sum_of_form<form::mean, T, 1>, true>;
};
template <form What, class T, bool Wide, class Fold, int K, class From>
struct exact_sum_of<form_of_values<What, T, Wide, Fold, K, From>> {
  using type = exact_sum_of_form<What, T, K>;
};

/// The kernel of an exact sum of a fold's values.
template <class Sum, class Fold, int Which = 0>
class exact_sum_kernel {
  static const void* symbol() { return reinterpret_cast<const void*>(&device::exact_values_kernel<Sum, Fold, Which>); }
  static constexpr std::uint64_t shared_bytes = std::uint64_t{Sum::warps} * Sum::bytes_of_warp;

  static int ask(device_kernel_info* answer) {
    cudaFunction_t function = nullptr;
    cudaFuncAttributes attributes{};
    int device = 0;
    int lent = 0;  // to a block
    cudaError_t status = cudaFuncGetAttributes(&attributes, symbol());
    if (status == cudaSuccess) status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&lent, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    const int dynamic = lent - static_cast<int>(attributes.sharedSizeBytes);
    if (status == cudaSuccess)
      status = cudaFuncSetAttribute(symbol(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    dynamic < static_cast<int>(shared_bytes) ? dynamic : static_cast<int>(shared_bytes));
    if (status == cudaSuccess) status = cudaGetFuncBySymbol(&function, symbol());
    if (status != cudaSuccess) cudaGetLastError();  // told to the caller, and nobody else's
    answer->function = function;
    answer->code_capability = attributes.ptxVersion;
    return static_cast<int>(status);
  }

 public:
  static const device_exact& made(const device_exact* squares = nullptr) {
    static device_kernels_known known[device_kernels::known_devices];
    static const device_exact made{sizeof(device_exact),
                                   Sum::results,
                                   Sum::threads,
                                   Sum::blocks,
                                   shared_bytes,
                                   Sum::most_of_thread * Sum::threads,
                                   std::uint64_t{Sum::rows} * device::warp_size,
                                   symbol(),
                                   &ask,
                                   known,
                                   squares,
                                   Sum::counts,
                                   std::uint64_t{Sum::bytes_of_warp}};
    return made;
  }
};
template <class Sum, class Fold>
struct exact_kernels {
  static const device_exact& made() { return exact_sum_kernel<Sum, Fold>::made(); }
};
template <class Sum, class Fold>
struct exact_kernels<exact_moments<Sum>, Fold> {
  static const device_exact& made() {
    return exact_sum_kernel<Sum, Fold>::made(&exact_sum_kernel<typename exact_moments<Sum>::squares, Fold, 1>::made());
  }
};

/// The row that tells of a fold object: with an exact sum, if it has one.
template <class Fold, class Sum = typename exact_sum_of<Fold>::type>
class row_of_call {
 public:
  using type = device_fold_with_exact;
  static type of(const Fold& fold) {
    type made{};
    static_cast<device_fold&>(made) = make_device_fold(fold);
    made.struct_bytes = sizeof(made);
    made.exact = &exact_kernels<Sum, Fold>::made();
    return made;
  }
};
template <class Fold>
class row_of_call<Fold, void> {
 public:
  using type = device_fold;
  static type of(const Fold& fold) { return make_device_fold(fold); }
};

/// A fold object and the row that tells of it, for as long as a call takes.
template <class Fold>
class made_device_side {
 public:
  template <class F>
  made_device_side(const Fold& fold, const F& f) : fold_(fold), row_(row_of_call<Fold>::of(fold_)) {
    name_arrays(f);
  }
  made_device_side(const made_device_side&) = delete;
  made_device_side& operator=(const made_device_side&) = delete;
  [[nodiscard]] const device_fold* row() const noexcept { return &row_; }

 private:
  template <class F>
  void name_arrays(const F&) {}
  template <class F, class... T>
  void name_arrays(const function_of_arrays<F, T...>& f) {
    int k = 0;
    std::apply([&](const T*... x) { ((row_.input[k++] = x), ...); }, f.arrays);
  }

  Fold fold_;
  typename row_of_call<Fold>::type row_;
};

template <>
struct device_side<true> {
  template <form What, class Space, class F, class... Modifiers>
  static auto of_form(const Space& space, F& f, Modifiers... modifiers) {
    static_assert(check_function<F>::done, "");
    return made_device_side<decltype(fold_of_form<What>(space, f, modifiers...))>(fold_of_form<What>(space, f, modifiers...), f);
  }
  template <class Space, class F, class... Ops>
  static auto of_operators(const Space& space, F& f, Ops... ops) {
    static_assert(check_function<F>::done, "");
    return made_device_side<decltype(fold_of_operators(space, f, ops...))>(fold_of_operators(space, f, ops...), f);
  }
  template <class Space, class F, class Op, class Init>
  static auto of_own(const Space& space, F& f, Op& op, const Init& init) {
    static_assert(check_function<F>::done && check_function<Op>::done, "");
    return made_device_side<decltype(fold_of_own(space, f, op, init))>(fold_of_own(space, f, op, init), f);
  }
};

}  // namespace detail
}  // namespace onefold

#include <onefold/device/joined_values.cuh>  // as does made_values.cuh, they use check_function
