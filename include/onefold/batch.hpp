#pragma once
/// @file batch.hpp  Several reductions that are launched together and waited for once, as a Krylov solver's of one iteration.
///
///   batch work(gpu);
///   work.add(dot, r, z, &rho).add(norm2, r, &norm).add<form::count>(flags, &marked);
///   work.add(sum, n, f, &mass).add(reduce_together, x, &low_and_high, op::min{}, op::max{}).add_transform_reduce(x, y, op, g, &widest);
///   work.run();
///
/// Inputs    as each call takes them: ranges, or pointers and a count, or array_at or arrays_at and a count, or a number of indices or a box and a function;
///           accumulate_as, ddof or count_at, and the operators of reduce_together, behind the result's address. Arrays and results live until run() returns.
///           No request reads what another one stores.
/// Functions and operators are copied, into memory of the batch's, and called whenever it is run, as the call would; so what they refer to lives as long.
///           Copies of a batch have them in common. What they throw reaches the caller of run(). For cuda() include onefold/device.cuh and compile with nvcc.
/// Results   at host memory, all of them there when run() returns; each has the bits that it has alone. After an error none is specified, and the batch may be
///           run again.
/// Cost      on cuda() one wait, and one launch for up to 72 reductions of floats or doubles, of up to 16 MiB, by forms with one result, argmin,
///           argmax and those of magnitudes, and another for up to 72 of all else of real numbers, of up to 2 MiB, or 16
///           of small elements but in products, places, mean_variance and reduce_together, and a third for up to 72 of complex numbers, of up to 16 MiB; larger arrays, functions and operators of the caller's, multi_dot and dots of two types have a launch each.
///           Of functions and operators there is one wait for each 64 of them. On a CPU as one call after the other. A batch may be run again and again.
/// Errors, threads as in reduce.hpp; one batch is used by one thread at a time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/batched_calls.hpp>
#include <onefold/detail/later_calls.hpp>
#include <onefold/error.hpp>
#include <onefold/multi_dot.hpp>
#include <onefold/reduce.hpp>
#include <onefold/transform.hpp>

namespace onefold {

/// Arrays whose addresses stand side by side in memory, as batched BLAS calls take them: `number` of them from `first` on, each as array_at says.
template <class T>
struct arrays_at {
  const T* const* first;
  std::uint64_t number;
};
template <class T>
arrays_at(T* const*, std::uint64_t) -> arrays_at<std::remove_const_t<T>>;

namespace detail {

/// Whether a place for a function's results is one for what the call returns, or for the first of several.
template <bool Takes, class Index, class Result>
inline constexpr bool stores_index_result = false;
template <class Index, class Result>
inline constexpr bool stores_index_result<true, Index, Result> =
    std::is_same_v<Result, typename Index::type> || std::is_same_v<Result, typename Index::one>;
/// The same of K results of reduce_together.
template <class T, std::size_t K, class Result>
inline constexpr bool stores_together = std::is_same_v<Result, std::array<T, K>> || std::is_same_v<Result, T>;

template <class... Ops>
struct list_of_operators {
  static constexpr operation of[] = {Ops::id...};
};

/// The lists of multi_dot's vectors.
struct listed_vectors {
  std::array<const void*, most_vectors> x{};
  std::array<const void*, most_vectors> y{};
  onefold_vectors all{};
};

}  // namespace detail

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
  template <class R, class S, class T = detail::element_of<const R>, class U = detail::element_of<const S>, class... M,
            ONEFOLD_WHERE(detail::takes_mixed<T, U, M...>())>
  batch& add(detail::named_dot, const R& x, const S& y, detail::mixed_result_t<T, U, M...>* result, M... modifiers) {
    const auto all = detail::view_of(x);
    return add_mixed_dot(all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), result, modifiers...);
  }
  template <class T, class U, class... M, ONEFOLD_WHERE(detail::takes_mixed<T, U, M...>())>
  batch& add(detail::named_dot, const T* x, const U* y, std::uint64_t count, detail::mixed_result_t<T, U, M...>* result,
             M... modifiers) {
    return add_mixed_dot(x, y, count, result, modifiers...);
  }

  /// Of arrays whose addresses stand in memory: `add(sum, array_at{place}, n, &result)`; of dot's two arrays one may be a pointer.
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes_at<What, T, M...>())>
  batch& add(detail::named_reduction<What>, array_at<T> x, std::uint64_t count, detail::form_result_t<What, T, M...>* result,
             M... modifiers) {
    return add_request(detail::request_at<What>(where_, x, count, result, true, modifiers...));
  }
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes_at<What, T, M...>())>
  batch& add(array_at<T> x, std::uint64_t count, detail::form_result_t<What, T, M...>* result, M... modifiers) {
    return add_request(detail::request_at<What>(where_, x, count, result, true, modifiers...));
  }
  template <class X, class Y, class... M, ONEFOLD_WHERE(detail::dot_takes_at<X, Y, M...>())>
  batch& add(detail::named_dot, X x, Y y, std::uint64_t count, detail::dot_at_result<X, Y, M...>* result, M... modifiers) {
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
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes_at<What, T, M...>())>
  batch& add(arrays_at<T> x, std::uint64_t count, detail::form_result_t<What, T, M...>* results, M... modifiers) {
    for (std::uint64_t k = 0; k < x.number; ++k) add<What>(array_at<T>{x.first + k}, count, results + k, modifiers...);
    return *this;
  }
  /// Their dots with one other array, which is a pointer or array_at, or with as many others; throws invalid_argument where these are not as many.
  template <class T, class Y, class... M, ONEFOLD_WHERE(detail::dot_takes_at<array_at<T>, Y, M...>())>
  batch& add(detail::named_dot each, arrays_at<T> x, Y y, std::uint64_t count, detail::dot_at_result<array_at<T>, Y, M...>* results,
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

  /// Several operators in one read: `add(reduce_together, x, &results, op::sum{}, op::min{})`, where `results` is the std::array that reduce_together()
  /// returns, or the first of as many.
  template <class R, class Result, class... Ops, class T = detail::element_of<const R>,
            ONEFOLD_WHERE(detail::is_real<T>&& detail::are_operators<Ops...>)>
  batch& add(detail::named_reduce_together, const R& x, Result* results, Ops...) {
    return add_together<T, Ops...>(detail::view_of(x), results);
  }
  template <class T, class Result, class... Ops, ONEFOLD_WHERE(detail::is_real<T>&& detail::are_operators<Ops...>)>
  batch& add(detail::named_reduce_together, const T* x, std::uint64_t count, Result* results, Ops...) {
    return add_together<T, Ops...>(detail::array_view<T>{x, count}, results);
  }

  /// A function of the index, `over` a number of indices or a box: `add(norm2, n, f, &result)`. Of K values `result` is the std::array of K results, or the first
  /// of as many.
  template <form What, class S, class F, class Result, class... M, class G = std::decay_t<F>, bool OnDevice = detail::on_device<G>,
            ONEFOLD_WHERE(detail::stores_index_result<detail::takes_function<What, S, G, void, M...>::value,
                                                      detail::index_result<What, detail::space_of<S>, G, M...>, Result>)>
  batch& add(detail::named_reduction<What>, const S& over, F&& f, Result* result, M... modifiers) {
    return add_function<OnDevice, What>(over, std::forward<F>(f), result, modifiers...);
  }
  /// The same for count, all, any and none: `add<form::count>(n, f, &result)`.
  template <form What, class S, class F, class Result, class G = std::decay_t<F>, bool OnDevice = detail::on_device<G>,
            ONEFOLD_WHERE(detail::stores_index_result<detail::takes_function<What, S, G>::value,
                                                      detail::index_result<What, detail::space_of<S>, G>, Result>)>
  batch& add(const S& over, F&& f, Result* result) {
    return add_function<OnDevice, What>(over, std::forward<F>(f), result);
  }
  /// With an operator for each value of f.
  template <class S, class F, class Result, class... Ops, class G = std::decay_t<F>, bool OnDevice = detail::on_device<G>,
            ONEFOLD_WHERE(detail::takes_function<form::sum, S, G>::value&& detail::are_operators<Ops...>)>
  batch& add(detail::named_reduce_together, const S& over, F&& f, Result* results, Ops... ops) {
    using Space = detail::space_of<S>;
    static_assert(
        detail::stores_together<typename detail::values_of<Space, G>::type, sizeof...(Ops), Result>,
        "the results are a std::array of as many as there are operators, of the type of f's values, or the first of them");
    return keep_call([results, ops..., space = Space(detail::as_space(over)), called = G(std::forward<F>(f))](
                         const executor& where, const detail::taken_call& how) mutable {
      detail::named_reduce_together::store<OnDevice>(where, space, called, results, true, how, ops...);
    });
  }

  // Where nothing above fits compilers show this line, in the place of all candidates. A count is add<form::count>(x, &result).
  void add(...) = delete;  // It takes a form, what its call takes behind the executor, the address of what its call returns
  // Nor is anything that is gone when the batch runs.
  template <class... A, ONEFOLD_WHERE((detail::is_temporary_array<A> || ...))>
  void add(A&&...) = delete;  // The batch reads its arrays when it runs: give it one that lives until then, and no temporary
  template <form What, class... A, ONEFOLD_WHERE((detail::is_temporary_array<A> || ...))>
  void add(A&&...) = delete;  // The batch reads its arrays when it runs: give it one that lives until then, and no temporary

  /// Dots of several vectors with several others: `add_multi_dot({v0, v1}, {w}, results)` stores as multi_dot_into() does, from `results` on.
  batch& add_multi_dot(const vector_list<double>& x, const vector_list<double>& y, double* results) {
    return add_vectors(x, y, results);
  }
  batch& add_multi_dot(const vector_list<float>& x, const vector_list<float>& y, float* results) {
    return add_vectors(x, y, results);
  }

  /// An operator, of the caller's or the library's: the arguments of reduce(), transform_reduce() or count_if() without executor and options, and the result's
  /// address, which is of the type that these calls return.
  ///
  ///   work.add_reduce(points, farther{}, &far).add_reduce(points.data(), points.size(), farther{}, first, &far_of_first);
  ///   work.add_transform_reduce(m, v, op::sum{}, energy_of, &energy).add_transform_reduce(n, combine, f, init, &result);
  ///   work.add_count_if(x, is_large, &large);
  template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
  batch& add_reduce(A&&... arguments_and_result) {
    static_assert(!detail::has_temporary_vector<A...>,
                  "the batch reads its arrays when it runs: give it one that lives until then, and no temporary");
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    return detail::later::add_reduce(
        of, [this](const auto&... form) -> batch& { return this->add(form...); },
        [this](const auto& all) -> batch& {
          constexpr std::size_t count = sizeof...(A) - 1;
          check_space(std::get<0>(all));
          return this->template add_call<OnDevice>(detail::later::describe_reduce<count>(all), std::get<count>(all));
        });
  }
  template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
  batch& add_transform_reduce(A&&... arguments_and_result) {
    static_assert(!detail::has_temporary_vector<A...>,
                  "the batch reads its arrays when it runs: give it one that lives until then, and no temporary");
    constexpr std::size_t count = sizeof...(A) - 1;
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    check_space(std::get<0>(of));
    return add_call<OnDevice>(detail::later::describe_transform_reduce<count>(of), std::get<count>(of));
  }
  template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
  batch& add_count_if(A&&... arguments_and_result) {
    static_assert(!detail::has_temporary_vector<A...>,
                  "the batch reads its arrays when it runs: give it one that lives until then, and no temporary");
    constexpr std::size_t count = sizeof...(A) - 1;
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    check_space(std::get<0>(of));
    return add_call<OnDevice>(detail::later::describe_count_if<count>(of), std::get<count>(of));
  }

  /// Runs all of them and waits once.
  void run(const options& how = {}) const {
    if (calls_.empty()) return detail::run_batch(requests_, how);
    detail::telling_of_lacking_memory([this, &how] { detail::run_batch_with_calls(where_, requests_, calls_, how); });
  }

  [[nodiscard]] std::size_t size() const noexcept { return requests_.size(); }
  /// Forgets the reductions, and gives back what was copied of them.
  void clear() noexcept {
    requests_.clear();
    calls_.clear();
    vectors_.clear();
  }

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
  template <class T, class U, class... M>
  batch& add_mixed_dot(const T* x, const U* y, std::uint64_t count, void* result, M... modifiers) {
    detail::request what = detail::mixed_request<T, U>(where_, count, result, true, modifiers...);
    what.input = x;
    what.second = y;
    return add_request(what);
  }
  template <class T, class... Ops, class Result>
  batch& add_together(detail::array_view<T> x, Result* results) {
    static_assert(
        detail::stores_together<accumulator_t<T, false>, sizeof...(Ops), Result>,
        "the results are a std::array of as many as there are operators, of the type that sums of the elements have, or the "
        "first of them");
    return add_request(detail::together_request<T, Ops...>(where_, x, results, true, detail::list_of_operators<Ops...>::of));
  }
  template <class T>
  batch& add_vectors(const vector_list<T>& x, const vector_list<T>& y, T* results) {
    if (x.size() == 0 || y.size() == 0) return *this;
    return detail::telling_of_lacking_memory([this, &x, &y, &results]() -> batch& {
      auto listed = std::make_shared<detail::listed_vectors>();
      listed->all = detail::c_vectors(x, y);
      std::copy_n(listed->all.x, detail::most_vectors, listed->x.begin());
      std::copy_n(listed->all.y, detail::most_vectors, listed->y.begin());
      listed->all.x = listed->x.data();
      listed->all.y = listed->y.data();
      detail::request what{where_, element_type_of<T>, form::dot, nullptr, x.count(), results, true};
      what.vectors = &listed->all;
      vectors_.push_back(std::move(listed));
      return add_request(what);
    });
  }

  template <bool OnDevice, form What, class S, class F, class Result, class... M>
  batch& add_function(const S& over, F&& f, Result* result, M... modifiers) {
    using Space = detail::space_of<S>;
    return keep_call([result, modifiers..., space = Space(detail::as_space(over)), called = std::decay_t<F>(std::forward<F>(f))](
                         const executor& where, const detail::taken_call& how) mutable {
      detail::run_function<OnDevice, What>(where, space, called, result, true, how, modifiers...);
    });
  }
  // A number of indices may be negative.
  template <class S>
  static void check_space([[maybe_unused]] const S& over) {
    if constexpr (std::is_integral_v<S>) static_cast<void>(detail::as_space(over));
  }
  template <bool CompilesForDevice, class Space, class F, class Op, class Init, class R,
            bool OnDevice = CompilesForDevice&& detail::on_device<typename detail::function_given<F>::type>&& detail::on_device<Op>>
  batch& add_call(detail::later::described_call<Space, F, Op, Init>&& call, R* result) {
    using described = detail::later::described_call<Space, F, Op, Init>;
    static_assert(std::is_same_v<R, typename described::result>, "the result is of the type that the call without a batch returns");
    if (call.other_count != call.space.size()) detail::throw_different_lengths(call.space.size(), call.other_count);
    return keep_call([result, call = described(std::move(call))](const executor& where, const detail::taken_call& how) mutable {
      detail::run_transform<OnDevice>(where, call.space, call.f, call.op, call.init, result, true, how);
    });
  }
  // Keeps a call, in whose place a request is made when it is run.
  template <class Run>
  batch& keep_call(Run run) {
    return detail::telling_of_lacking_memory([this, &run]() -> batch& {
      auto kept = std::make_shared<detail::batched_call_of<Run>>(std::move(run));
      calls_.push_back({requests_.size(), std::move(kept)});
      try {
        requests_.emplace_back();
      } catch (...) {
        calls_.pop_back();
        throw;
      }
      return *this;
    });
  }
  batch& add_request(const detail::request& what) {
    detail::telling_of_lacking_memory([this, &what] { requests_.push_back(detail::c_request(what)); });
    return *this;
  }

  executor where_;
  std::vector<onefold_request> requests_;  // of a call nothing is written in its place
  std::vector<detail::call_among_requests> calls_;
  std::vector<std::shared_ptr<const detail::listed_vectors>> vectors_;
};

}  // namespace onefold
