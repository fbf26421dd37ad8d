#pragma once
/// @file batch.hpp  Several reductions that are launched together and waited for once, as a Krylov solver's of one iteration.
///
///   batch work(gpu);
///   work.add(dot, r, z, &rho).add(norm2, r, &norm).add<form::count>(flags, &marked);
///   work.run();
///
/// Inputs    as each call takes them: ranges, or pointers and a count, or array_at or arrays_at and a count; accumulate_as, ddof or count_at behind the result's
///           address. They and the results live until run() returns. No request reads what another one stores.
/// Results   at host memory, all of them there when run() returns; each has the bits that it has alone. After an error none is specified.
/// Cost      on cuda() one wait, and one launch for up to 72 reductions of floats or doubles, of up to 16 MiB, by forms with one result, argmin,
///           argmax and those of magnitudes, and another for up to 72 of all else of real numbers, of up to 2 MiB, or 16
///           of small elements but in products, places, mean_variance and reduce_together, and a third for up to 72 of complex numbers, of up to 16 MiB; larger arrays have a launch each. On a CPU as one call after the other. A batch may be run again and again.
/// Errors, threads as in reduce.hpp; one batch is used by one thread at a time.

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <onefold/error.hpp>
#include <onefold/reduce.hpp>

namespace onefold {

/// Arrays whose addresses stand side by side in memory, as batched BLAS calls take them: `number` of them from `first` on, each as array_at says.
template <class T>
struct arrays_at {
  const T* const* first;
  std::uint64_t number;
};
template <class T>
arrays_at(T* const*, std::uint64_t) -> arrays_at<std::remove_const_t<T>>;

class batch {
 public:
  explicit batch(const executor& where) : where_(where) {}

  /// A named form of an array: `add(norm2, x, &result)`.
  template <form What, class R, class T = detail::element_of<const R>, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
  batch& add(detail::named_reduction<What>, const R& x, detail::form_result_t<What, T, M...>* result, M... modifiers) {
    return add_array<What>(detail::view_of(x), result, modifiers...);
  }
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
  batch& add(detail::named_reduction<What>, const T* x, std::uint64_t count, detail::form_result_t<What, T, M...>* result,
             M... modifiers) {
    return add_array<What>(detail::array_view<T>{x, count}, result, modifiers...);
  }
  /// The same for count, all, any and none, which are functions: `add<form::count>(x, &result)`.
  template <form What, class R, class T = detail::element_of<const R>, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
  batch& add(const R& x, detail::form_result_t<What, T, M...>* result, M... modifiers) {
    return add_array<What>(detail::view_of(x), result, modifiers...);
  }
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
  batch& add(const T* x, std::uint64_t count, detail::form_result_t<What, T, M...>* result, M... modifiers) {
    return add_array<What>(detail::array_view<T>{x, count}, result, modifiers...);
  }

  /// A dot product: `add(dot, x, y, &result)`.
  template <class R, class S, class T = detail::element_of<const R>, class... M,
            ONEFOLD_WHERE(detail::have_same_elements<R, S>&& detail::dot_takes<T, M...>)>
  batch& add(detail::named_dot, const R& x, const S& y, detail::form_result_t<form::dot, T, M...>* result, M... modifiers) {
    const auto all = detail::view_of(x);
    return add_dot(all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), result, modifiers...);
  }
  template <class T, class... M, ONEFOLD_WHERE(detail::dot_takes<T, M...>)>
  batch& add(detail::named_dot, const T* x, const T* y, std::uint64_t count, detail::form_result_t<form::dot, T, M...>* result,
             M... modifiers) {
    return add_dot(x, y, count, result, modifiers...);
  }
  /// Of two types, as dot() takes them: a launch of its own on cuda().
  template <class R, class S, class T = detail::element_of<const R>, class U = detail::element_of<const S>,
            ONEFOLD_WHERE(detail::are_mixed<T, U>)>
  batch& add(detail::named_dot, const R& x, const S& y, detail::common_accumulator<T, U>* result) {
    const auto all = detail::view_of(x);
    return add_mixed_dot(all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), result);
  }
  template <class T, class U, ONEFOLD_WHERE(detail::are_mixed<T, U>)>
  batch& add(detail::named_dot, const T* x, const U* y, std::uint64_t count, detail::common_accumulator<T, U>* result) {
    return add_mixed_dot(x, y, count, result);
  }

  /// Of arrays whose addresses stand in memory: `add(sum, array_at{place}, n, &result)`; of dot's two arrays one may be a pointer.
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes_at<What, T, M...>())>
  batch& add(detail::named_reduction<What>, array_at<T> x, std::uint64_t count, detail::form_result_t<What, T, M...>* result,
             M... modifiers) {
    return add_request(detail::request_at<What>(where_, x, count, result, true, modifiers...));
  }
  template <form What, class T, ONEFOLD_WHERE(detail::takes_at<What, T>())>
  batch& add(array_at<T> x, std::uint64_t count, detail::form_result_t<What, T>* result) {
    return add_request(detail::request_at<What>(where_, x, count, result, true));
  }
  template <class X, class Y, class... M, ONEFOLD_WHERE(detail::dot_takes_at<X, Y, M...>())>
  batch& add(detail::named_dot, X x, Y y, std::uint64_t count, detail::dot_at_result<X, M...>* result, M... modifiers) {
    return add_request(detail::dot_request_at(where_, x, y, count, result, true, modifiers...));
  }

  /// Of K such arrays: `add(sum, arrays_at{places, K}, n, results)` stores K results, from `results` on. It is K requests; what stands behind the results,
  /// count_at too, is for each.
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes_at<What, T, M...>())>
  batch& add(detail::named_reduction<What> each, arrays_at<T> x, std::uint64_t count, detail::form_result_t<What, T, M...>* results,
             M... modifiers) {
    for (std::uint64_t k = 0; k < x.number; ++k) add(each, array_at<T>{x.first + k}, count, results + k, modifiers...);
    return *this;
  }
  template <form What, class T, ONEFOLD_WHERE(detail::takes_at<What, T>())>
  batch& add(arrays_at<T> x, std::uint64_t count, detail::form_result_t<What, T>* results) {
    for (std::uint64_t k = 0; k < x.number; ++k) add<What>(array_at<T>{x.first + k}, count, results + k);
    return *this;
  }
  /// Their dots with one other array, which is a pointer or array_at, or with as many others; throws invalid_argument where these are not as many.
  template <class T, class Y, class... M, ONEFOLD_WHERE(detail::dot_takes_at<array_at<T>, Y, M...>())>
  batch& add(detail::named_dot each, arrays_at<T> x, Y y, std::uint64_t count, detail::form_result_t<form::dot, T, M...>* results,
             M... modifiers) {
    for (std::uint64_t k = 0; k < x.number; ++k) add(each, array_at<T>{x.first + k}, y, count, results + k, modifiers...);
    return *this;
  }
  template <class T, class... M, ONEFOLD_WHERE(detail::takes_at<form::dot, T, M...>())>
  batch& add(detail::named_dot each, arrays_at<T> x, arrays_at<T> y, std::uint64_t count,
             detail::form_result_t<form::dot, T, M...>* results, M... modifiers) {
    if (x.number != y.number)
      throw error(errc::invalid_argument, "dots of " + std::to_string(x.number) + " arrays with " + std::to_string(y.number) +
                                              " others: give as many, or one for all");
    for (std::uint64_t k = 0; k < x.number; ++k)
      add(each, array_at<T>{x.first + k}, array_at<T>{y.first + k}, count, results + k, modifiers...);
    return *this;
  }

  /// Runs all of them and waits once.
  void run(const options& how = {}) const { detail::run_batch(requests_, how); }

  [[nodiscard]] std::size_t size() const noexcept { return requests_.size(); }
  void clear() noexcept { requests_.clear(); }

 private:
  template <form What, class T, class... M>
  batch& add_array(detail::array_view<T> x, void* result, M... modifiers) {
    detail::request what{where_, element_type_of<T>, What, x.data, x.count, result, true};
    (detail::apply<T>(what, modifiers), ...);
    return add_request(what);
  }
  template <class T, class... M>
  batch& add_dot(const T* x, const T* y, std::uint64_t count, void* result, M... modifiers) {
    detail::request what{where_, element_type_of<T>, form::dot, x, count, result, true, y};
    (detail::apply<T>(what, modifiers), ...);
    return add_request(what);
  }
  template <class T, class U>
  batch& add_mixed_dot(const T* x, const U* y, std::uint64_t count, void* result) {
    detail::request what{where_, element_type_of<T>, form::dot, x, count, result, true, y};
    what.second_type = 1 + static_cast<std::int32_t>(element_type_of<U>);
    return add_request(what);
  }
  batch& add_request(const detail::request& what) {
    requests_.push_back(detail::c_request(what));
    return *this;
  }

  executor where_;
  std::vector<onefold_request> requests_;
};

}  // namespace onefold
