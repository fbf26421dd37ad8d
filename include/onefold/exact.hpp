#pragma once
/// @file exact.hpp  Exact sums that go on: the state of guarantee::exact, to which arrays and other states are added (docs/exact.md).
///
///   exact_state<form::sum, double> total;
///   total += x;                                  // on best(); or total.add(openmp(), x)
///   MPI_Allreduce(MPI_IN_PLACE, total.words(), total.size(), MPI_INT64_T, MPI_SUM, comm);
///   double sum = total.value();
///
///   total.add(openmp(), n, [&](auto i) { return m[i] * v[i]; });     // and what a function of the index gives
///
/// In stream order, in a GPU's memory:
///
///   using state = exact_state<form::sum, double>;
///   state::put_words(cuda(0, stream), x, n, words);             // state::size() words of device memory
///   ncclAllReduce(words, words, state::size(), ncclInt64, ncclSum, comm, stream);
///   state::put_value(cuda(0, stream), words, d_sum);            // the rounded sum of all, in device memory
///
/// Forms     sum, norm1, dot, sum_of_squares, norm2, mean, mean_variance of floats; norm2, mean, mean_variance of integers, whose states
///           are those of doubles; sum, mean, mean_variance, dot, sum_of_squares, norm2 of complex numbers, whose words are those of their parts'
///           type: of sum, mean, mean_variance and dot those of the real part and behind them those of the imaginary one.
/// Bits      equal sets of elements have equal words, in whatever order and parts they were added, on whatever executor.
/// Errors    those of the reductions; invalid_argument where words are no state, or of complex numbers those of two parts that are not of as many
///           elements; the state then is not changed.
/// Cost      of adding an array that of a reduction and a microsecond; of adding a state 1 to 2 us, of a value 0.2 to 1.1 (a Zen 5).
/// Threads   one state is used by one thread at a time.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/reduce.hpp>

namespace onefold {

namespace detail {

/// Options of a call on a function whose request is run for the words of its state.
struct taken_words {
  using runs = int (*)(const onefold_request&, std::int64_t*, const onefold_options*);  // returns what the C interface does
  options wishes;
  std::int64_t* words;
  runs run;

  taken_words(const options& how, std::int64_t* to, runs by) : wishes(how), words(to), run(by) {
    wishes.guarantee = guarantee::exact;
  }
  [[nodiscard]] taken_call call() { return {wishes, take, this}; }

 private:
  static int take(void* context, const onefold_request& what) {
    const auto& taken = *static_cast<taken_words*>(context);
    return with_c_options(taken.wishes,
                          [&what, &taken](const onefold_options* asked) { return taken.run(what, taken.words, asked); });
  }
};

/// Puts on the stream of cuda() what stores the words of the states of a function's values there, of one result behind the other.
template <bool OnDevice, form What, class S, class F>
void put_words_of_function(const executor& where, const S& over, F& f, std::int64_t* words, const options& how) {
  taken_words to{how, words, [](const onefold_request& what, std::int64_t* memory, const onefold_options* wishes) {
                   return onefold_exact_put_words_of(&what, memory, wishes);
                 }};
  run_function<OnDevice, What>(where, over, f, words, false, to.call());
}

}  // namespace detail

template <form What, class T>
class exact_state {
  static_assert(detail::exact::number_of_states(What, element_type_of<T>) > 0,
                "sum, norm1, dot, sum_of_squares, norm2, mean and mean_variance of float, double and floats of two bytes have an "
                "exact state, norm2, mean and mean_variance of integers, and sum, mean, mean_variance, dot, sum_of_squares and "
                "norm2 of complex numbers");

  template <class X, class Y>
  static constexpr bool has_dots_of() {
    if constexpr (!detail::are_mixed<X, Y>) {
      return false;
    } else if constexpr (std::is_same_v<detail::mixed_result_t<X, Y>, T>) {
      return true;
    } else if constexpr (detail::takes_mixed<X, Y, accumulate_as_t<T>>()) {
      return std::is_same_v<detail::mixed_result_t<X, Y, accumulate_as_t<T>>, T>;
    } else {
      return false;
    }
  }

 public:
  /// Adds `count` elements at x.
  template <form W = What, ONEFOLD_WHERE(W != form::dot)>
  exact_state& add(const executor& where, const T* x, std::uint64_t count, const options& how = {}) {
    return add_arrays(where, x, nullptr, count, how);
  }
  /// Adds a range's.
  template <class R, form W = What, ONEFOLD_WHERE(W != form::dot && std::is_same_v<detail::element_of<const R>, T>)>
  exact_state& add(const executor& where, const R& x, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add_arrays(where, all.data, nullptr, all.count, how);
  }
  template <class R, form W = What, ONEFOLD_WHERE(W != form::dot && std::is_same_v<detail::element_of<const R>, T>)>
  exact_state& operator+=(const R& x) {
    return add(best(), x);
  }

  /// Of dot: adds the products of x and y.
  template <form W = What, ONEFOLD_WHERE(W == form::dot)>
  exact_state& add(const executor& where, const T* x, const T* y, std::uint64_t count, const options& how = {}) {
    return add_arrays(where, x, y, count, how);
  }
  template <class R, class S, form W = What,
            ONEFOLD_WHERE(W == form::dot && std::is_same_v<detail::element_of<const R>, T> &&
                          std::is_same_v<detail::element_of<const S>, T>)>
  exact_state& add(const executor& where, const R& x, const S& y, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add_arrays(where, all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), how);
  }
  /// The same of arrays of two types, whose dot is a T, or one with accumulate_as<T>: guarantee_not_met where not all of their elements are numbers of T.
  template <class X, class Y, form W = What, ONEFOLD_WHERE(W == form::dot && has_dots_of<X, Y>())>
  exact_state& add(const executor& where, const X* x, const Y* y, std::uint64_t count, const options& how = {}) {
    return add_arrays_of_two_types(where, x, y, count, how);
  }
  template <class R, class S, form W = What,
            ONEFOLD_WHERE(W == form::dot && has_dots_of<detail::element_of<const R>, detail::element_of<const S>>())>
  exact_state& add(const executor& where, const R& x, const S& y, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add_arrays_of_two_types(where, all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), how);
  }

  /// Adds what f gives for each index of `over`, a number of them or a box; of dot nothing is. On cuda() in translation units that nvcc compiles. f returns T, and no
  /// value is absent: what is not there for some indices has no place among the elements.
  template <class S, class F, bool OnDevice = detail::on_device<F>, ONEFOLD_WHERE(detail::takes_function<What, S, F>::value)>
  exact_state& add(const executor& where, const S& over, F&& f, const options& how = {}) {
    check_function<S, F>();
    exact_state more;
    detail::form_result_t<What, T> result;
    detail::taken_words to{how, more.words_, [](const onefold_request& what, std::int64_t* words, const onefold_options* wishes) {
                             onefold_request with_words = what;
                             with_words.exact_state = words;
                             return onefold_reduce(&with_words, wishes);
                           }};
    detail::run_function<OnDevice, What>(where, over, f, &result, true, to.call());
    return *this += more;
  }

  /// Adds parts, each of which lies where its executor reads it, at the same time: devices.hpp has calls for that.
  exact_state& add_parts(const onefold_range_part* parts, std::size_t count, const options& how = {}) {
    detail::check_status(detail::with_c_options(how, [this, &parts, &count](const onefold_options* wishes) {
      return onefold_exact_add_parts(type, static_cast<std::int32_t>(What), words_, parts, count, wishes);
    }));
    return *this;
  }

  /// Puts on the stream of a cuda() executor what stores the canonical words of `count` elements at `words`, size() of them in memory that the GPU writes. It
  /// does not wait, and may be captured. The elements lie in memory that the GPU reads. With an executor of CPUs it is done on return, in the host's memory.
  /// Where it throws, words in a GPU's memory are what they were, those of an earlier call perhaps: no collective is to add them.
  template <form W = What, ONEFOLD_WHERE(W != form::dot)>
  static void put_words(const executor& where, const T* x, std::uint64_t count, std::int64_t* words, const options& how = {}) {
    put_words_of_arrays(where, x, nullptr, count, words, how);
  }
  template <form W = What, ONEFOLD_WHERE(W == form::dot)>
  static void put_words(const executor& where, const T* x, const T* y, std::uint64_t count, std::int64_t* words,
                        const options& how = {}) {
    put_words_of_arrays(where, x, y, count, words, how);
  }
  /// The same of what f gives for each index of `over`, as add() takes it.
  template <class S, class F, bool OnDevice = detail::on_device<F>, ONEFOLD_WHERE(detail::takes_function<What, S, F>::value)>
  static void put_words(const executor& where, const S& over, F&& f, std::int64_t* words, const options& how = {}) {
    check_function<S, F>();
    if (detail::is_for_cuda(where)) return detail::put_words_of_function<OnDevice, What>(where, over, f, words, how);
    detail::check_place(words, alignof(std::int64_t), "words");
    exact_state made;
    try {
      made.add(where, over, f, how);
    } catch (...) {  // as of arrays: words of before would be sent for this rank's
      made.become_no_state();
      made.store_words(words);
      throw;
    }
    made.store_words(words);
  }
  /// Puts there what stores the rounded result of words at `result`, in memory that the GPU writes: of canonical words, or the sum of up to 2^31 of them. Words
  /// that are no state give a number whose bits are all set, on CPUs invalid_argument. A GPU looks at each part of a complex number by itself, but in mean_variance.
  /// In a capture an address of words that CUDA does not know is taken for one of memory that the graph allocates.
  template <class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>() && detail::counts_on_host<M...>)>
  static void put_value(const executor& where, const std::int64_t* words, detail::form_result_t<What, T, M...>* result,
                        M... modifiers) {
    detail::request asked{serial(), element_type_of<T>, What, nullptr, 0, result, true};
    (detail::apply<T>(asked, modifiers), ...);
    const std::uint32_t flags = asked.wide ? ONEFOLD_WIDE : 0U;
    detail::check_status(onefold_exact_put_result(type, static_cast<std::int32_t>(What), flags, asked.ddof,
                                                  detail::c_executor(where), words, result));
  }

  /// Adds another state, or words that were added by somebody else.
  exact_state& operator+=(const exact_state& other) {
    detail::check_status(onefold_exact_add(type, static_cast<std::int32_t>(What), words_, other.words_));
    return *this;
  }
  /// Makes words that were added, by MPI_SUM say, canonical: equal sets of elements have equal words then.
  void normalize() { detail::check_status(onefold_exact_add(type, static_cast<std::int32_t>(What), words_, nullptr)); }

  /// The correctly rounded result; with accumulate_as<double> rounded to that, with ddof as mean_variance takes it.
  template <class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>() && detail::counts_on_host<M...>)>
  [[nodiscard]] detail::form_result_t<What, T, M...> value(M... modifiers) const {
    detail::form_result_t<What, T, M...> result;
    detail::request asked{serial(), element_type_of<T>, What, nullptr, 0, &result, true};
    (detail::apply<T>(asked, modifiers), ...);
    const std::uint32_t flags = asked.wide ? ONEFOLD_WIDE : 0U;
    detail::check_status(onefold_exact_result(type, static_cast<std::int32_t>(What), flags, asked.ddof, words_, &result));
    return result;
  }

  /// Elements, or pairs, that were added.
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t found = 0;
    detail::check_status(onefold_exact_count(type, static_cast<std::int32_t>(What), words_, &found));
    return found;
  }

  /// The words, size() of them, which may be read, written, and added to those of other states.
  [[nodiscard]] std::int64_t* words() noexcept { return words_; }
  [[nodiscard]] const std::int64_t* words() const noexcept { return words_; }
  [[nodiscard]] static constexpr std::size_t size() noexcept { return detail::exact::words_of(What, element_type_of<T>); }

 private:
  static constexpr auto type = static_cast<std::int32_t>(element_type_of<T>);

  void store_words(std::int64_t* to) const {
    constexpr std::size_t at_once = 16;  // onefold_store() takes 128 bytes
    for (std::size_t i = 0; i < size(); i += at_once)
      detail::check_status(onefold_store(onefold_serial(), to + i, words_ + i,
                                         (size() - i < at_once ? size() - i : at_once) * sizeof(std::int64_t)));
  }
  // A number of elements so far below 0 that no other states make one of it.
  void become_no_state() noexcept {
    for (std::int64_t& word : words_) word = 0;
    for (std::size_t at = 1; at < size(); at += detail::exact::kind_of(What, part_type(element_type_of<T>)).words())
      words_[at] = -(std::int64_t{1} << 40);
  }

  template <class S, class F>
  static constexpr void check_function() {
    using values = detail::values_of<detail::space_of<S>, F>;
    static_assert(std::is_same_v<typename values::type, T> && !values::several,
                  "a state takes functions of one value, of the type that its elements have");
    static_assert(!detail::value_traits<detail::value_at_t<detail::space_of<S>, F>>::can_be_absent,
                  "a state takes no function whose values may be absent: it counts its elements");
  }

  static void put_words_of_arrays(const executor& where, const T* x, const T* y, std::uint64_t count, std::int64_t* words,
                                  const options& how) {
    detail::check_status(detail::with_c_options(how, [&where, &x, &y, &count, &words](const onefold_options* wishes) {
      return onefold_exact_put_words(type, static_cast<std::int32_t>(What), detail::c_executor(where), x, y, count, words, wishes);
    }));
  }

  template <class X, class Y>
  exact_state& add_arrays_of_two_types(const executor& where, const X* x, const Y* y, std::uint64_t count, options how) {
    exact_state more;
    how.guarantee = guarantee::exact;
    T result;
    detail::request what{where, element_type_of<X>, What, x, count, &result, true, y};
    what.second_type = 1 + static_cast<std::int32_t>(element_type_of<Y>);
    what.wide = !std::is_same_v<detail::mixed_result_t<X, Y>, T>;
    what.exact_state = more.words_;
    detail::run(what, how);
    return *this += more;
  }

  exact_state& add_arrays(const executor& where, const T* x, const T* y, std::uint64_t count, options how) {
    exact_state more;
    how.guarantee = guarantee::exact;
    detail::form_result_t<What, T> result;
    detail::request what{where, element_type_of<T>, What, x, count, &result, true, y};
    what.exact_state = more.words_;
    detail::run(what, how);
    return *this += more;
  }

  std::int64_t words_[size()] = {};
};

}  // namespace onefold
