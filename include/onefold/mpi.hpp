#pragma once
/// @file mpi.hpp  Reductions over the ranks of an MPI communicator, with the bits of one core (docs/ranks.md). Not part of onefold.hpp: it needs
/// <mpi.h> of MPI 3.0 or newer, and compiles with whatever MPI that belongs to.
///
///   onefold::mpi::layout rows(comm, x.size());                   // collective, once: rank after rank holds the next elements of one array
///   double s = onefold::sum(rows.on(onefold::openmp()), x);      // collective: the sum of all ranks' x, on every rank
///
///   onefold::mpi::batch work(rows.on(onefold::openmp()));        // several in one message, and while it is under way the ranks may do other things
///   work.add(onefold::dot, r, z, &rho).add(onefold::norm2, r, &norm);
///   work.start();
///   ...
///   work.wait();
///
///   onefold::mpi::communicator all(comm);                        // no layout: any elements on any rank
///   double e = onefold::sum(all.on(onefold::openmp()), particles);  // the correctly rounded sum (docs/exact.md)
///
///   double r = onefold::norm2(rows.on(onefold::openmp()), n, [&](std::uint64_t i) { return b[i] - Ax[i]; });  // this rank's b and Ax
///
/// Forms     all with a call of their own (reduce.hpp), of all element types, dots of two types too, and reduce, transform_reduce and count_if
///           (transform.hpp).
/// Functions of the index: `n`, or a box, says how many values this rank has, and f is asked for the indices that its own call names, 0 .. n - 1 or the
///           box's. The index in the whole array is rows.begin() + i, and so is that in a result. On the CPU's executors, and on cuda() where nvcc
///           compiles f, in a translation unit with device.cuh. On CPUs f is called once for each index, and anywhere before the call or start() returns. What it throws is thrown on its rank, and the others get communication_failed.
///           Where values may be absent argmin and its like and minmax go as operators of the caller's do; a mean, or a variance, is that of the
///           values that are there on all ranks.
/// Operators of the caller's own: values of up to 64 bytes, the same executors, and a layout. Of calls with one, or with an initial value, of which rank 0's
///           is taken, states (own_range_state.hpp) go along a binomial tree to rank 0, and results back. What the operator refers to lives until the
///           call, or wait(), returns: ranks put states together there.
/// Progress  of what was started with such an operator: only while this rank is in a call on the same layout, test() and wait() of anything among them. A
///           rank that does other things meanwhile keeps others waiting, as it does with most MPIs. Named forms get on as the MPI lets MPI_Iallreduce.
/// Bits      over a layout those of the array that holds all ranks' elements one after the other, on one core (docs/order.md): neither the number
///           of ranks, nor where they are cut, nor each rank's executor, nor the MPI and its algorithms are in them. Without a layout, or with
///           options::guarantee exact, those of the exact result. Forms whose bits depend on no order have one result in both.
/// Order     calls on one layout are collective: all ranks make the same ones in the same order, of the same forms, types and options.
/// Errors    onefold::error on every rank, those of the reductions on a rank that has one and communication_failed on the others: a count that is not the
///           layout's, ranks that call different forms, an MPI that folds in another order than the ranks'. Not seen, so that ranks may wait
///           for each other: calls that not all ranks make, or make on one layout, an operator of the caller's, or values that may be absent, on some alone, roots, element
///           sizes or guarantees that differ, exact sums of different forms or types or beside forms without an exact state, norm2 and
///           mean_variance of complex numbers beside other forms, batches whose messages differ in size, lack of memory for the messages themselves. With ONEFOLD_MPI_CHECK=1 in
///           the environment all but the first and the last of these are an error on every rank, for an MPI_Allreduce of 96 bytes more in each call, which
///           start() waits for too. Who
///           catches an error of his own ahead of a call says so with batch::give_up(), or calls MPI_Abort().
/// Cost      of a layout some collective operations, and O(1) memory on each rank. Of a call the local reduction, and an MPI_Allreduce of 256 bytes
///           to 2 KiB, of mean_variance of complex numbers 3; with operators of the caller's up to log2 P messages each way instead, one for all of a batch, of less than 8 KiB and some values for each
///           operator. Where ranges are cut within tiles (is_aligned()) each rank sends less than a tile of elements to the rank before, while it
///           reduces its own: a tile has 4 KiB, of complex numbers in norm1, norm_inf and mean_variance 8.
/// Threads   calls on one layout are made by one thread at a time. MPI_THREAD_FUNNELED suffices for calls by the main thread; executors' threads
///           do not call MPI.
/// Lifetime  a layout or communicator duplicates the one it is made of, and outlives the batches on it. All ranks destroy it, or MPI_Finalize comes
///           first.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/batch.hpp>
#include <onefold/detail/later_calls.hpp>
#include <onefold/mpi/distribution.hpp>
#include <onefold/mpi/states.hpp>
#include <onefold/mpi/transfer.hpp>
#include <onefold/mpi/transform.hpp>
#include <onefold/multi_dot.hpp>
#include <onefold/order.hpp>
#include <onefold/reduce.hpp>
#include <onefold/transform.hpp>

namespace onefold {

namespace mpi {

class batch;

/// Ranks, and this one's executor: what the forms take in the place of an executor. Made by on(). Results are on all ranks; of a `Rooted` one on one,
/// and calls give a std::optional, which is empty elsewhere.
template <bool Rooted>
class layout_on : public detail::over_ranks {
 public:
  template <class R>
  using result = std::conditional_t<Rooted, std::optional<R>, R>;

  /// The same with results on one rank alone: that one learns of errors elsewhere, the others of their own.
  /// Errors: invalid_argument where the communicator has no such rank, on the rank that asks.
  [[nodiscard]] layout_on<true> root(int rank) const {
    const int ranks = of_->on.size();
    if (rank < 0 || rank >= ranks) detail::ranks::refuse_rank(rank, ranks, " cannot be the root");
    return {*of_, where_, rank};
  }

  // For the forms.
  template <form What, class T, class... M>
  [[nodiscard]] auto value(detail::array_view<T> x, const options& how, M... modifiers) const {
    detail::form_result_t<What, T, M...> found{};
    return run(detail::ranks::part_of<What>(x, &found, modifiers...), how, found);
  }
  template <class T, class... M>
  [[nodiscard]] auto dot(const T* x, const T* y, std::uint64_t count, const options& how, M... modifiers) const {
    detail::form_result_t<form::dot, T, M...> found{};
    const detail::array_view<T> first{x, count}, second{y, count};
    return run(detail::ranks::dot_of(first, second, &found, modifiers...), how, found);
  }
  template <class R, class S, class... M>
  [[nodiscard]] auto dot_of_ranges(const R& x, const S& y, const options& how, M... modifiers) const {
    detail::form_result_t<form::dot, detail::element_of<const R>, M...> found{};
    return run(detail::ranks::dot_of(detail::view_of(x), detail::view_of(y), &found, modifiers...), how, found);
  }
  template <class T, class U, class... M>
  [[nodiscard]] auto dot_of_two_types(detail::array_view<T> x, detail::array_view<U> y, const options& how, M...) const {
    static_assert(detail::counts_on_host<M...>, "over ranks the number of elements is the layout's");
    using A = detail::mixed_result_t<T, U, M...>;
    A found{};
    return run(detail::ranks::part_of_products(x, y, &found), how, found);
  }
  template <form What, class S, class F, bool OnDevice = detail::on_device<F>, class... M>
  [[nodiscard]] auto function(const S& over, F& f, const options& how, M... modifiers) const {
    const auto space = detail::later::space_for(over);
    return value_of_function<What, OnDevice>(space, f, space.size(), how, modifiers...);
  }
  template <class S, class F, bool OnDevice = detail::on_device<F>, class... Ops>
  [[nodiscard]] auto function_together(const S& over, F& f, const options& how, Ops...) const {
    using space = detail::space_of<S>;
    using values_type = detail::values_of<space, F>;
    static_assert(values_type::count == static_cast<int>(sizeof...(Ops)), "reduce_together takes an operator for each value of f");
    static_assert(!detail::value_traits<detail::value_at_t<space, F>>::can_be_absent, "reduce_together takes no absent values");
    static constexpr operation operators[] = {Ops::id...};
    std::array<typename values_type::type, sizeof...(Ops)> found{};
    typename detail::ranks::with_gpu_if<OnDevice, detail::ranks::operators_on_gpu<Ops...>,
                                        detail::ranks::values_of_function<space, F&>>::type values(detail::later::space_for(over),
                                                                                                   f, typename values_type::type());
    detail::ranks::part what = detail::ranks::part_of_values<form::sum>(values, found.data());
    what.form = form::reduce_together;
    what.operators = operators;
    return run(what, how, found);
  }
  // An operator, of the library's or the caller's, over functions of the index or of arrays.
  template <class Space, class F, class Op, class Init,
            bool OnDevice = detail::on_device<typename detail::function_given<F>::type>&& detail::on_device<Op>>
  [[nodiscard]] auto reduce_over(const Space& space, F& f, std::uint64_t other_count, Op& op, const Init& init,
                                 const options& how) const {
    using returned = detail::value_at_t<Space, F>;
    using value_type = typename detail::value_traits<returned>::type;
    if constexpr (!is_built_in_operator<std::decay_t<Op>>) {
      return reduce_by<OnDevice>(space, f, other_count, op, init, how);
    } else if constexpr (std::is_same_v<Init, detail::no_init>) {
      return value_of_function<form_of(std::decay_t<Op>::id), OnDevice>(space, f, other_count, how);
    } else {
      static_assert(is_full_element<value_type>, "the library's operators take elements");
      detail::operator_function<std::decay_t<Op>> combine;
      return reduce_by<OnDevice>(space, f, other_count, combine, init, how);
    }
  }
  template <class T>
  [[nodiscard]] result<std::vector<T>> dots(const vector_list<T>& x, const vector_list<T>& y, const options& how) const {
    auto found = detail::ranks::places_of_dots(x, y);
    const detail::ranks::borrowed_transfer with(*of_, where_, root_);
    detail::telling_of_lacking_memory([&with, &x, &y, &found] { detail::ranks::add_dots(with->parts, x, y, found.data()); });
    return run(*with, how, found);
  }
  // Each operator by itself, in one message.
  template <class T, class... Ops>
  [[nodiscard]] auto together(detail::array_view<T> x, const options& how, Ops...) const {
    using A = accumulator_t<T, false>;
    std::tuple<detail::form_result_t<form_of(Ops::id), T>...> found;
    const detail::ranks::borrowed_transfer with(*of_, where_, root_);
    detail::telling_of_lacking_memory([&with, &x, &found] {
      std::apply([&with, &x](auto&... each) { (with->parts.push_back(detail::ranks::part_of<form_of(Ops::id)>(x, &each)), ...); },
                 found);
    });
    with->run(how);
    result<std::array<A, sizeof...(Ops)>> values{};
    const auto all = std::apply([](auto... each) { return std::array<A, sizeof...(Ops)>{static_cast<A>(each)...}; }, found);
    if (with->is_root()) values = all;
    return values;
  }

 private:
  friend class layout;
  friend class communicator;
  friend class batch;
  template <bool>
  friend class layout_on;

  layout_on(detail::ranks::shared_state& of, const executor& where, int root) noexcept : of_(&of), where_(where), root_(root) {}

  template <form What, bool OnDevice, class Space, class F, class... M>
  [[nodiscard]] auto value_of_function(const Space& space, F& f, std::uint64_t other_count, const options& how,
                                       M... modifiers) const {
    using element = typename detail::values_of<Space, F>::type;
    constexpr bool can_be_absent = detail::value_traits<detail::value_at_t<Space, F>>::can_be_absent;
    if constexpr (can_be_absent && (has_index(What) || What == form::minmax)) {
      return value_of_some<What, OnDevice>(space, f, other_count, how);
    } else {
      detail::index_result_t<What, Space, F, M...> found{};
      constexpr bool wide = (detail::is_wide<M, element>() || ...);
      detail::ranks::source_of_form_t<What, wide, OnDevice, Space, F&> values(space, f, detail::instead_of_absent<What, element>());
      detail::ranks::part what = detail::ranks::part_of_values<What>(values, detail::ranks::first_result(&found), modifiers...);
      what.second_count = other_count;
      return run(what, how, found);
    }
  }
  // Where values may be absent, of forms that have more than one number: an operator on values and their indices in the whole array. What all ranks begin with
  // has an index that no value has.
  template <form What, bool OnDevice, class Space, class F>
  [[nodiscard]] auto value_of_some(const Space& space, F& f, std::uint64_t other_count, const options& how) const {
    detail::ranks::result_of_some<What, Space, F> found{};
    using function = std::conditional_t<OnDevice, std::decay_t<F>, F&>;  // a GPU has a copy
    auto part = detail::ranks::part_of_some<What, OnDevice, function>(space, f, other_count, of_->begin, &found);
    return run_states(part, how, found);
  }
  template <bool OnDevice, class Space, class F, class Op, class Init>
  [[nodiscard]] auto reduce_by(const Space& space, F& f, std::uint64_t other_count, Op& op, const Init& init,
                               const options& how) const {
    typename detail::value_traits<detail::value_at_t<Space, F>>::type found{};
    detail::ranks::result_store<decltype(found)> store{&found};
    detail::ranks::typed_state_part<Space, F&, Op&, Init, decltype(store), OnDevice> part(space, f, other_count, op, init, store);
    return run_states(part, how, found);
  }

  template <class R>
  [[nodiscard]] result<R> run_states(detail::ranks::state_part& what, const options& how, const R& found) const {
    const detail::ranks::borrowed_transfer with(*of_, where_, root_);
    detail::telling_of_lacking_memory([&with, &what] { with->states.push_back(&what); });
    return run(*with, how, found);
  }
  template <class R>
  [[nodiscard]] result<R> run(const detail::ranks::part& what, const options& how, const R& found) const {
    const detail::ranks::borrowed_transfer with(*of_, where_, root_);
    detail::telling_of_lacking_memory([&with, &what] { with->parts.push_back(what); });
    return run(*with, how, found);
  }
  template <class R>
  [[nodiscard]] static result<R> run(detail::ranks::transfer& with, const options& how, const R& found) {
    with.run(how);
    if constexpr (Rooted)
      return with.is_root() ? result<R>(found) : result<R>();
    else
      return found;
  }

  detail::ranks::shared_state* of_;
  executor where_;
  int root_;
};
using placed_layout = layout_on<false>;

/// How an array lies on the ranks of a communicator: rank after rank holds the next elements, some perhaps none. Collective to make. What has been moved from can be
/// assigned to, and nothing else.
class layout : public detail::lacks_executor {
 public:
  /// This rank holds `count` elements. Errors: communication_failed; on every rank invalid_argument for impossible counts, and for a communicator
  /// between two groups; on this one for MPI_COMM_NULL.
  layout(MPI_Comm comm, std::uint64_t count) : state_(make(comm, count, nullptr)) {}
  /// This rank holds the elements begin .. end - 1 of the array. Errors: on every rank, too, where these are not the ranges of rank after rank.
  layout(MPI_Comm comm, std::uint64_t begin, std::uint64_t end) : state_(make(comm, end - begin, &begin)) {}

  /// Where a call runs: on these ranks, here on this executor. Each rank may name another.
  [[nodiscard]] placed_layout on(const executor& where) const noexcept { return {*state_, where, -1}; }

  /// Index of this rank's first element, number of its elements, and of all ranks'.
  [[nodiscard]] std::uint64_t begin() const noexcept { return state_->begin; }
  [[nodiscard]] std::uint64_t count() const noexcept { return state_->count; }
  [[nodiscard]] std::uint64_t total() const noexcept { return state_->total; }
  /// Whether this rank holds an element of the whole array: that of an extremum's index, say.
  [[nodiscard]] bool holds(std::uint64_t index) const noexcept { return index - begin() < count(); }
  /// The rank that holds it, on all ranks, which ask for the same one. Collective: one MPI_Allreduce of an int. Errors: invalid_argument, on all ranks, where there is no such element.
  [[nodiscard]] int rank_of(std::uint64_t index) const { return state_->rank_of(index); }
  /// Whether no rank's range begins within a tile of elements of type T, so that calls send no elements: aligned_range() makes such ranges.
  template <class T>
  [[nodiscard]] bool is_aligned() const noexcept {
    return !state_->plans[detail::ranks::size_index(sizeof(detail::tile_element<T>))].is_ragged;
  }

 private:
  static std::unique_ptr<detail::ranks::shared_state> make(MPI_Comm comm, std::uint64_t count, const std::uint64_t* begin) {
    return detail::telling_of_lacking_memory([&comm, &count, &begin] {
      auto made = std::make_unique<detail::ranks::shared_state>(comm);
      made->make_layout(count, begin);
      return made;
    });
  }
  std::unique_ptr<detail::ranks::shared_state> state_;
};

using onefold::index_range;

/// The range of a rank where `total` elements of type T are shared out evenly in whole tiles: neighbours send each other no elements then. No call
/// of MPI's.
/// Errors: invalid_argument where there is no such rank.
template <class T>
[[nodiscard]] constexpr index_range aligned_range(std::uint64_t total, int rank, int ranks) {
  if (rank < 0 || rank >= ranks) detail::ranks::refuse_rank(rank, ranks);
  return detail::aligned_share<T>(total, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks));
}

/// Ranks whose elements lie anyhow: particles, blocks of a grid, unstructured meshes. Results are those of guarantee::exact, or of forms whose
/// bits depend on no order; others are refused. Collective to make. What has been moved from can be assigned to, and nothing else.
class communicator : public detail::lacks_executor {
 public:
  explicit communicator(MPI_Comm comm)
      : state_(detail::telling_of_lacking_memory([&comm] { return std::make_unique<detail::ranks::shared_state>(comm); })) {}

  /// Where a call runs: on these ranks, here on this executor.
  [[nodiscard]] placed_layout on(const executor& where) const noexcept { return {*state_, where, -1}; }

 private:
  std::unique_ptr<detail::ranks::shared_state> state_;
};

/// Several reductions in one message (one more where some are exact and some are not, and one between two ranks of all operators of the caller's), waited for
/// or not. A batch may be run again and again.
///
/// Inputs    as each call takes them: ranges, or pointers and a count, with accumulate_as or ddof behind the result's address. They live until
///           start() has returned; results, and what operators of the caller's refer to, until wait() has.
/// Results   there when run() or wait() returns; on one rank alone where the layout has a root. After an error none is specified.
class batch {
 public:
  template <bool Rooted>
  explicit batch(const layout_on<Rooted>& on)
      : with_(detail::telling_of_lacking_memory([&on] { return std::make_unique<detail::ranks::transfer>(*on.of_); })) {
    with_->where = on.where_;
    with_->root = on.root_;
  }

  /// A named form of an array: `add(norm2, x, &result)`.
  template <form What, class R, class T = detail::element_of<const R>, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
  batch& add(detail::named_reduction<What>, const R& x, detail::form_result_t<What, T, M...>* result, M... modifiers) {
    return add_part(detail::ranks::part_of<What>(detail::view_of(x), result, modifiers...));
  }
  template <form What, class T, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
  batch& add(detail::named_reduction<What>, const T* x, std::uint64_t count, detail::form_result_t<What, T, M...>* result,
             M... modifiers) {
    return add_part(detail::ranks::part_of<What>(detail::array_view<T>{x, count}, result, modifiers...));
  }
  /// The same for count, all, any and none, which are functions: `add<form::count>(x, &result)`.
  template <form What, class R, class T = detail::element_of<const R>, ONEFOLD_WHERE(detail::takes<What, T>())>
  batch& add(const R& x, detail::form_result_t<What, T>* result) {
    return add_part(detail::ranks::part_of<What>(detail::view_of(x), result));
  }
  template <form What, class T, ONEFOLD_WHERE(detail::takes<What, T>())>
  batch& add(const T* x, std::uint64_t count, detail::form_result_t<What, T>* result) {
    return add_part(detail::ranks::part_of<What>(detail::array_view<T>{x, count}, result));
  }
  /// A dot product: `add(dot, x, y, &result)`.
  template <class R, class S, class T = detail::element_of<const R>, class... M,
            ONEFOLD_WHERE(detail::have_same_elements<R, S>&& detail::dot_takes<T, M...>)>
  batch& add(detail::named_dot, const R& x, const S& y, detail::form_result_t<form::dot, T, M...>* result, M... modifiers) {
    return add_part(detail::ranks::dot_of(detail::view_of(x), detail::view_of(y), result, modifiers...));
  }
  template <class T, class... M, ONEFOLD_WHERE(detail::dot_takes<T, M...>)>
  batch& add(detail::named_dot, const T* x, const T* y, std::uint64_t count, detail::form_result_t<form::dot, T, M...>* result,
             M... modifiers) {
    return add_part(detail::ranks::dot_of(detail::array_view<T>{x, count}, detail::array_view<T>{y, count}, result, modifiers...));
  }

  /// Of two types, as dot() takes them.
  template <class R, class S, class... M,
            ONEFOLD_WHERE(detail::takes_mixed<detail::element_of<const R>, detail::element_of<const S>, M...>())>
  batch& add(detail::named_dot, const R& x, const S& y,
             detail::mixed_result_t<detail::element_of<const R>, detail::element_of<const S>, M...>* result, M... modifiers) {
    return add_products(detail::view_of(x), detail::view_of(y), result, modifiers...);
  }
  template <class T, class U, class... M, ONEFOLD_WHERE(detail::takes_mixed<T, U, M...>())>
  batch& add(detail::named_dot, const T* x, const U* y, std::uint64_t count, detail::mixed_result_t<T, U, M...>* result,
             M... modifiers) {
    return add_products(detail::array_view<T>{x, count}, detail::array_view<U>{y, count}, result, modifiers...);
  }

  /// A function of the index: `add(norm2, n, f, &result)`; of K values `result` is the std::array of K results, or the first of as many. f is copied, and is
  /// asked for its values whenever the batch is run.
  template <form What, class S, class F, class Result, class... M, class G = std::decay_t<F>, bool OnDevice = detail::on_device<G>,
            ONEFOLD_WHERE(detail::stores_index_result<detail::takes_function<What, S, G, void, M...>::value,
                                                      detail::index_result<What, detail::space_of<S>, G, M...>, Result>)>
  batch& add(detail::named_reduction<What>, const S& over, F&& f, Result* result, M... modifiers) {
    return add_function<What, OnDevice>(over, std::forward<F>(f), detail::ranks::first_result(result), modifiers...);
  }
  template <form What, class S, class F, class Result, class G = std::decay_t<F>, bool OnDevice = detail::on_device<G>,
            ONEFOLD_WHERE(detail::stores_index_result<detail::takes_function<What, S, G>::value,
                                                      detail::index_result<What, detail::space_of<S>, G>, Result>)>
  batch& add(const S& over, F&& f, Result* result) {
    return add_function<What, OnDevice>(over, std::forward<F>(f), detail::ranks::first_result(result));
  }

  /// Dots of several vectors with several others: `add_multi_dot(basis, {w}, results)` stores as multi_dot_into() does, from `results` on.
  batch& add_multi_dot(const vector_list<double>& x, const vector_list<double>& y, double* results) {
    return add_dots(x, y, results);
  }
  batch& add_multi_dot(const vector_list<float>& x, const vector_list<float>& y, float* results) { return add_dots(x, y, results); }

  // Where nothing above fits compilers show this line, in the place of all candidates. A count is add<form::count>(x, &result).
  void add(...) = delete;  // It takes a form, what its call takes behind the executor, the address of what its call returns
  // Nor is anything that is gone when the batch runs.
  template <class... A, ONEFOLD_WHERE((detail::is_temporary_array<A> || ...))>
  void add(A&&...) = delete;  // The batch reads its arrays when it runs: give it one that lives until then, and no temporary
  template <form What, class... A, ONEFOLD_WHERE((detail::is_temporary_array<A> || ...))>
  void add(A&&...) = delete;  // The batch reads its arrays when it runs: give it one that lives until then, and no temporary

  /// An operator, of the caller's or the library's: the arguments of reduce(), transform_reduce() or count_if() that stand behind the executor, and the result's
  /// address, which is of the type that these calls return.
  ///
  ///   work.add_reduce(points, farther{}, &far).add_reduce(points.data(), points.size(), farther{}, first, &far_of_first);
  ///   work.add_transform_reduce(m, v, op::sum{}, energy_of, &energy).add_transform_reduce(n, combine, f, init, &result);
  ///   work.add_count_if(x, is_large, &large);
  ///
  /// What is called and an initial value are copied. The states of all operators of the caller's, and of calls with an initial value, go in one message
  /// between two ranks; those of the library's go with the named forms.
  template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
  batch& add_reduce(A&&... arguments_and_result) {
    static_assert(!detail::has_temporary_vector<A...>,
                  "the batch reads its arrays when it runs: give it one that lives until then, and no temporary");
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    return detail::later::add_reduce(
        of, [this](const auto&... form) -> batch& { return this->add(form...); },
        [this](const auto& all) -> batch& {
          constexpr std::size_t count = sizeof...(A) - 1;
          return this->template add_call<OnDevice>(detail::later::describe_reduce<count>(all), std::get<count>(all));
        });
  }
  template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
  batch& add_transform_reduce(A&&... arguments_and_result) {
    static_assert(!detail::has_temporary_vector<A...>,
                  "the batch reads its arrays when it runs: give it one that lives until then, and no temporary");
    constexpr std::size_t count = sizeof...(A) - 1;
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    return add_call<OnDevice>(detail::later::describe_transform_reduce<count>(of), std::get<count>(of));
  }
  template <class... A, bool OnDevice = detail::compiles_for_device<A...>>
  batch& add_count_if(A&&... arguments_and_result) {
    static_assert(!detail::has_temporary_vector<A...>,
                  "the batch reads its arrays when it runs: give it one that lives until then, and no temporary");
    constexpr std::size_t count = sizeof...(A) - 1;
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    return add_call<OnDevice>(detail::later::describe_count_if<count>(of), std::get<count>(of));
  }

  /// Runs all of them and waits.
  void run(const options& how = {}) { given().run(how); }
  /// Reduces this rank's elements, and sends what is known of them: wait() has the results. Waits for the neighbours that hold elements of the same
  /// tile to start, where there are such. Several batches may be under way, started in one order on all ranks, and waited for in any.
  void start(const options& how = {}) { given().start(how); }
  /// Whether wait() would return at once. Operators of the caller's get on here, and in wait(), alone (Progress, above): it may call them.
  [[nodiscard]] bool test() { return given().test(); }
  /// Waits for what was started. Errors of this rank's own, too, are thrown here, when the others have learned of them.
  void wait() { given().wait(); }
  /// Ahead of run() or start() on a rank that cannot take part, because an exception of its own has come: the call then reads no array, and returns; on
  /// the other ranks it throws communication_failed, and nobody waits for ever. The batch needs the same reductions as theirs.
  batch& give_up() noexcept {
    if (with_ != nullptr) with_->gives_up = true;
    return *this;
  }

  /// Whether this rank gets the results.
  [[nodiscard]] bool is_root() const noexcept { return with_ != nullptr && with_->is_root(); }
  [[nodiscard]] std::size_t size() const noexcept { return with_ == nullptr ? 0 : with_->parts.size() + with_->states.size(); }
  /// Forgets the reductions. What is under way is waited for; what has gone wrong with it is told to nobody then, nor where a batch is destroyed.
  void clear() noexcept {
    if (with_ != nullptr) with_->clear();
    functions_.clear();
  }

 private:
  template <form What, bool OnDevice, class S, class F, class... M>
  batch& add_function(const S& over, F&& f,
                      typename detail::index_result<What, detail::space_of<S>, std::decay_t<F>, M...>::one* result,
                      M... modifiers) {
    const auto space = detail::later::space_for(over);
    return add_values<What, OnDevice>(space, std::forward<F>(f), space.size(), result, modifiers...);
  }
  template <form What, bool OnDevice, class Space, class F, class R, class... M>
  batch& add_values(const Space& space, F&& f, std::uint64_t other_count, R* result, M... modifiers) {
    using function = std::decay_t<F>;
    using element = typename detail::values_of<Space, function>::type;
    constexpr bool can_be_absent = detail::value_traits<detail::value_at_t<Space, function>>::can_be_absent;
    open();
    return detail::telling_of_lacking_memory([this, &space, &f, &result, &modifiers..., &other_count]() -> batch& {
      if constexpr (can_be_absent && (has_index(What) || What == form::minmax)) {
        return keep([this, &space, &f, &other_count, &result] {
          return new detail::ranks::typed_part_of_some<What, OnDevice, Space, function>(
              detail::ranks::part_of_some<What, OnDevice, function>(space, std::forward<F>(f), other_count, with_->begin(),
                                                                    result));
        });
      } else {
        constexpr bool wide = (detail::is_wide<M, element>() || ...);
        auto values = std::make_unique<detail::ranks::source_of_form_t<What, wide, OnDevice, Space, function>>(
            space, std::forward<F>(f), detail::instead_of_absent<What, element>());
        with_->parts.reserve(with_->parts.size() + 1);
        detail::ranks::part what = detail::ranks::part_of_values<What>(*values, result, modifiers...);
        what.second_count = other_count;
        functions_.push_back(std::move(values));
        with_->parts.push_back(what);
        return *this;
      }
    });
  }
  template <bool CompilesForDevice, class Space, class F, class Op, class Init, class R,
            bool OnDevice = CompilesForDevice&& detail::on_device<typename detail::function_given<F>::type>&& detail::on_device<Op>>
  batch& add_call(detail::later::described_call<Space, F, Op, Init>&& call, R* result) {
    static_assert(std::is_same_v<R, typename detail::later::described_call<Space, F, Op, Init>::result>,
                  "the result is of the type that the call without a batch returns");
    if constexpr (!is_built_in_operator<Op>) {
      return add_state<OnDevice>(std::move(call), std::move(call.op), result);
    } else if constexpr (std::is_same_v<Init, detail::no_init>) {
      return add_values<form_of(Op::id), OnDevice>(call.space, std::move(call.f), call.other_count,
                                                   detail::ranks::first_result(result));
    } else {
      static_assert(is_full_element<R>, "the library's operators take elements");
      return add_state<OnDevice>(std::move(call), detail::operator_function<Op>{}, result);
    }
  }
  template <bool OnDevice, class Space, class F, class Op, class Init, class Called, class R>
  batch& add_state(detail::later::described_call<Space, F, Op, Init>&& call, Called&& op, R* result) {
    using store = detail::ranks::result_store<R>;
    open();
    return detail::telling_of_lacking_memory([this, &call, &op, &result]() -> batch& {
      return keep([&call, &op, &result] {
        return new detail::ranks::typed_state_part<Space, F, std::decay_t<Called>, Init, store, OnDevice>(
            call.space, std::move(call.f), call.other_count, std::forward<Called>(op), call.init, store{result});
      });
    });
  }
  template <class Make>
  batch& keep(const Make& make) {
    with_->states.reserve(with_->states.size() + 1);
    with_->kept.reserve(with_->kept.size() + 1);
    with_->kept.emplace_back(make());
    with_->states.push_back(with_->kept.back().get());
    return *this;
  }
  template <class T, class U, class A, class... M>
  batch& add_products(detail::array_view<T> x, detail::array_view<U> y, A* result, M...) {
    static_assert(detail::counts_on_host<M...>, "over ranks the number of elements is the layout's");
    open();
    return detail::telling_of_lacking_memory([this, &x, &y, &result]() -> batch& {
      with_->parts.push_back(detail::ranks::part_of_products(x, y, result));
      return *this;
    });
  }
  template <class T>
  batch& add_dots(const vector_list<T>& x, const vector_list<T>& y, T* results) {
    open();
    detail::ranks::check_dots(x, y);
    detail::telling_of_lacking_memory([this, &x, &y, &results] { detail::ranks::add_dots(with_->parts, x, y, results); });
    return *this;
  }
  batch& add_part(const detail::ranks::part& what) {
    open();
    detail::telling_of_lacking_memory([this, &what] { with_->parts.push_back(what); });
    return *this;
  }
  detail::ranks::transfer& given() const {
    if (with_ == nullptr)
      detail::telling_of_lacking_memory(
          [] { throw error(errc::invalid_argument, "the batch has been moved from: make another one"); });
    return *with_;
  }
  // For more reductions.
  void open() const { given().refuse_while_under_way("more is added"); }

  std::vector<std::unique_ptr<detail::ranks::function_values>> functions_;
  std::unique_ptr<detail::ranks::transfer> with_;
};

/// A reduction that has been started. Destroying it waits for it, and tells nobody what has gone wrong.
template <class R>
class pending {
 public:
  /// Whether wait() would return at once. A reduction with an operator of the caller's gets on here and in wait() alone.
  [[nodiscard]] bool test() { return with_.test(); }
  /// Waits, and returns the result; of a rooted layout a std::optional. Where it has thrown there is none: asked again it throws invalid_argument.
  [[nodiscard]] R wait() {
    if (found_ == nullptr || !is_there_) {
      if (found_ == nullptr || std::exchange(has_thrown_, true))
        detail::telling_of_lacking_memory(
            [] { throw error(errc::invalid_argument, "there is no result to wait for: it has been moved, or wait() has thrown"); });
      with_.wait();
      has_thrown_ = false;
      is_there_ = true;
    }
    return with_.is_root() ? R(*found_) : R();
  }

  // For start().
  template <bool Rooted, class Result, class Add>
  pending(const layout_on<Rooted>& where, Result result, const Add& add)
      : found_(detail::telling_of_lacking_memory([&result] { return std::make_unique<Result>(result); })), with_(where) {
    add(with_, found_.get());
    with_.start();
  }

 private:
  template <class T>
  struct bare {
    using type = T;
  };
  template <class T>
  struct bare<std::optional<T>> {
    using type = T;
  };
  std::unique_ptr<typename bare<R>::type> found_;
  bool is_there_ = false;
  bool has_thrown_ = false;
  batch with_;
};

/// Starts a named form, as `sum(where, x)` runs it: `auto later = start(sum, rows.on(openmp()), x); .. later.wait()`. With options: batch.
template <form What, bool Rooted, class R, class T = detail::element_of<const R>, class... M,
          ONEFOLD_WHERE(detail::takes<What, T, M...>())>
[[nodiscard]] auto start(detail::named_reduction<What> what, const layout_on<Rooted>& where, const R& x, M... modifiers) {
  using result = detail::form_result_t<What, T, M...>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&what, &x, &modifiers...](batch& with, result* to) { with.add(what, x, to, modifiers...); });
}
template <form What, bool Rooted, class T, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
[[nodiscard]] auto start(detail::named_reduction<What> what, const layout_on<Rooted>& where, const T* x, std::uint64_t count,
                         M... modifiers) {
  using result = detail::form_result_t<What, T, M...>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&what, &x, &count, &modifiers...](batch& with, result* to) { with.add(what, x, count, to, modifiers...); });
}
template <form What, bool Rooted, class S, class F, class... M, class G = std::decay_t<F>, bool OnDevice = detail::on_device<G>,
          ONEFOLD_WHERE(detail::takes_function<What, S, G, void, M...>::value)>
[[nodiscard]] auto start(detail::named_reduction<What> what, const layout_on<Rooted>& where, const S& over, F&& f, M... modifiers) {
  using result = detail::index_result_t<What, detail::space_of<S>, std::decay_t<F>, M...>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&what, &over, &f, &modifiers...](batch& with, result* to) {
        with.add(what, over, std::forward<F>(f), detail::ranks::first_result(to), modifiers...);
      });
}
/// The same for count, all, any and none, which are functions: `start<form::any>(rows.on(openmp()), x)`.
template <form What, bool Rooted, class R, class T = detail::element_of<const R>, ONEFOLD_WHERE(detail::takes<What, T>())>
[[nodiscard]] auto start(const layout_on<Rooted>& where, const R& x) {
  using result = detail::form_result_t<What, T>;
  return pending<typename layout_on<Rooted>::template result<result>>(where, result{},
                                                                      [&x](batch& with, result* to) { with.add<What>(x, to); });
}
template <form What, bool Rooted, class T, ONEFOLD_WHERE(detail::takes<What, T>())>
[[nodiscard]] auto start(const layout_on<Rooted>& where, const T* x, std::uint64_t count) {
  using result = detail::form_result_t<What, T>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&x, &count](batch& with, result* to) { with.add<What>(x, count, to); });
}
template <form What, bool Rooted, class S, class F, class G = std::decay_t<F>, bool OnDevice = detail::on_device<G>,
          ONEFOLD_WHERE(detail::takes_function<What, S, G>::value)>
[[nodiscard]] auto start(const layout_on<Rooted>& where, const S& over, F&& f) {
  using result = detail::index_result_t<What, detail::space_of<S>, G>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&over, &f](batch& with, result* to) { with.add<What>(over, std::forward<F>(f), to); });
}
template <bool Rooted, class R, class S, class T = detail::element_of<const R>, class... M,
          ONEFOLD_WHERE(detail::have_same_elements<R, S>&& detail::dot_takes<T, M...>)>
[[nodiscard]] auto start(detail::named_dot what, const layout_on<Rooted>& where, const R& x, const S& y, M... modifiers) {
  using result = detail::form_result_t<form::dot, T, M...>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&what, &x, &y, &modifiers...](batch& with, result* to) { with.add(what, x, y, to, modifiers...); });
}
template <bool Rooted, class T, class... M, ONEFOLD_WHERE(detail::dot_takes<T, M...>)>
[[nodiscard]] auto start(detail::named_dot what, const layout_on<Rooted>& where, const T* x, const T* y, std::uint64_t count,
                         M... modifiers) {
  using result = detail::form_result_t<form::dot, T, M...>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{},
      [&what, &x, &y, &count, &modifiers...](batch& with, result* to) { with.add(what, x, y, count, to, modifiers...); });
}

template <bool Rooted, class R, class S, class... M,
          ONEFOLD_WHERE(detail::takes_mixed<detail::element_of<const R>, detail::element_of<const S>, M...>())>
[[nodiscard]] auto start(detail::named_dot what, const layout_on<Rooted>& where, const R& x, const S& y, M... modifiers) {
  using result = detail::mixed_result_t<detail::element_of<const R>, detail::element_of<const S>, M...>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&what, &x, &y, &modifiers...](batch& with, result* to) { with.add(what, x, y, to, modifiers...); });
}
template <bool Rooted, class T, class U, class... M, ONEFOLD_WHERE(detail::takes_mixed<T, U, M...>())>
[[nodiscard]] auto start(detail::named_dot what, const layout_on<Rooted>& where, const T* x, const U* y, std::uint64_t count,
                         M... modifiers) {
  using result = detail::mixed_result_t<T, U, M...>;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{},
      [&what, &x, &y, &count, &modifiers...](batch& with, result* to) { with.add(what, x, y, count, to, modifiers...); });
}

/// Starts what reduce(where, ..), transform_reduce(where, ..) and count_if(where, ..) run, of the same arguments: `auto far = start_reduce(rows.on(openmp()), points,
/// farther{}); .. far.wait()`. What is called is copied. With options: batch.
template <bool Rooted, class... A, bool OnDevice = detail::compiles_for_device<A...>>
[[nodiscard]] auto start_reduce(const layout_on<Rooted>& where, A&&... arguments) {
  using call = decltype(detail::later::describe_reduce<sizeof...(A)>(std::declval<const std::tuple<A&&...>&>()));
  using result = typename call::result;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&arguments...](batch& with, result* to) { with.add_reduce(std::forward<A>(arguments)..., to); });
}
template <bool Rooted, class... A, bool OnDevice = detail::compiles_for_device<A...>>
[[nodiscard]] auto start_transform_reduce(const layout_on<Rooted>& where, A&&... arguments) {
  using call = decltype(detail::later::describe_transform_reduce<sizeof...(A)>(std::declval<const std::tuple<A&&...>&>()));
  using result = typename call::result;
  return pending<typename layout_on<Rooted>::template result<result>>(
      where, result{}, [&arguments...](batch& with, result* to) { with.add_transform_reduce(std::forward<A>(arguments)..., to); });
}
template <bool Rooted, class... A, bool OnDevice = detail::compiles_for_device<A...>>
[[nodiscard]] auto start_count_if(const layout_on<Rooted>& where, A&&... arguments) {
  return pending<typename layout_on<Rooted>::template result<std::uint64_t>>(
      where, std::uint64_t{},
      [&arguments...](batch& with, std::uint64_t* to) { with.add_count_if(std::forward<A>(arguments)..., to); });
}

}  // namespace mpi

/// multi_dot() over ranks: the dots of all ranks' vectors, in one message. Each dot reads its two vectors, so that w is read k times for k dots with it.
/// All ranks ask for as many dots. Errors: those of dot(), on every rank; on the rank that asks invalid_argument for no dots and for more than 128.
template <bool Rooted>
[[nodiscard]] auto multi_dot(const mpi::layout_on<Rooted>& where, const vector_list<double>& x, const vector_list<double>& y,
                             const options& how = {}) {
  return where.dots(x, y, how);
}
template <bool Rooted>
[[nodiscard]] auto multi_dot(const mpi::layout_on<Rooted>& where, const vector_list<float>& x, const vector_list<float>& y,
                             const options& how = {}) {
  return where.dots(x, y, how);
}

}  // namespace onefold
