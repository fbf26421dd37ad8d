#pragma once
/// @file range_state.hpp  Parts of one array, in several processes or one after the other: the state of a range of its elements. States of
/// neighbours are appended to each other, and that of all elements has the result that the array has on one core, to the bit.
///
///   range_state<form::dot, double> mine(first);  // x[0] has the global index `first`
///   mine.add(openmp(), x, y);
///   std::vector<std::byte> bytes = mine.bytes();  // to send, or to keep in a file
///
///   range_state<form::dot, double> all;           // begins at 0
///   all.append(range_state<form::dot, double>::from_bytes(bytes));  // of one rank after the other
///   double dot = all.value();
///
///   range_state<form::norm2, double> residual(first);
///   residual.add(openmp(), n, [&](std::uint64_t i) { return b[i] - Ax[i]; });  // no array for b - Ax
///
///   range_state<form::sum, double> mixed(first);  // a dot of two types, floats with doubles
///   mixed.add_products(openmp(), floats, doubles);
///
///   together_range_state<double, op::sum, op::min, op::max> three(first);  // reduce_together: one read
///   three.add(openmp(), x);
///
/// Forms     all with a call of their own (reduce.hpp) of all element types. `A` is the type to accumulate in, as accumulate_as
///           takes it: range_state<form::sum, float, double>. Several operators: together_range_state, of real numbers. Operators of the caller's:
///           own_range_state.hpp.
/// Bits      equal ranges of equal elements have equal bytes, however they were cut, read and appended (docs/order.md). The result has the bits
///           of the reduction of the array. argmin and its like give global indices.
/// Absent    values may be (maybe.hpp) in prod, min, max, sum_of_squares, the norms, count, all, any, none and, of integers, sum, min_number, max_number and
///           the bits; the result is that of the reduction of f(i). Of floats a sum is own_range_state<maybe<T>, op::sum>, whose bytes tell
///           whether any value is there, and so are min_number and max_number.
/// Report    of the largest subtree; where the state keeps all elements as they are, less than two tiles, of a reduction of one of them.
/// Errors    those of the reductions; invalid_argument where ranges are no neighbours, bytes are no state or a result is asked for that is not there
///           yet. The state then is what it was.
/// Cost      of adding an array that of a reduction and some microseconds for the tiles at its ends; of appending a state or making a value
///           about a microsecond; of bytes a nanosecond for each. A state has some hundreds, and up to 8 KiB of elements where the range begins
///           and ends within tiles (dot, and complex numbers in norm1, norm_inf and mean_variance: 16). all, any and none do not end early.
/// Threads   one state is used by one thread at a time; several may read it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include <onefold/box.hpp>
#include <onefold/detail/callback.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/reduce.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold {

namespace detail {

/// What states of ranges share, whatever they are of.
class range_owner {
 public:
  explicit range_owner(onefold_range* made) noexcept : state_(made) {}
  [[nodiscard]] onefold_range* get() const noexcept { return state_.get(); }

  void append(const range_owner& next) { check_status(onefold_range_append(get(), next.get())); }
  void add(const executor& where, const void* x, const void* y, std::uint64_t count, const options& how) {
    check_status(with_c_options(how, [this, &where, &x, &y, &count](const onefold_options* wishes) {
      return onefold_range_add(get(), c_executor(where), x, y, count, wishes);
    }));
  }
  void add_parts(const onefold_range_part* parts, std::size_t count, const options& how) {
    check_status(with_c_options(how, [this, &parts, &count](const onefold_options* wishes) {
      return onefold_range_add_parts(get(), parts, count, wishes);
    }));
  }
  /// T: of the state's elements. An absent value is an element that changes no other.
  template <form What, class T, bool Wide, bool OnDevice, class S, class F>
  void add_values(const executor& where, const S& over, F& f, const options& how) {
    using space = space_of<S>;
    using values = value_traits<value_at_t<space, F>>;
    static_assert(std::is_same_v<typename results_of<typename values::type>::type, T>,
                  "the function returns values of another type than the state's elements");
    static_assert(!results_of<typename values::type>::several, "make a state for each of the function's values");
    if constexpr (values::can_be_absent) {
      static_assert(What != form::mean,
                    "how many values are there is not in the state of a mean, and absent ones would count: divide the sum of an "
                    "own_range_state<maybe<T>, op::sum> by the count of a range_state<form::count, std::uint32_t>");
      static_assert(What != form::mean_variance,
                    "the elements that a state of mean_variance keeps have no place for absent values: over MPI's ranks mpi.hpp "
                    "takes them, and an own_range_state has your own operator on counts, means and deviations");
      static_assert(!has_index(What) && What != form::minmax,
                    "no value leaves both values, or the index, of such a state as they are: add the values to a "
                    "range_state of form::min and one of form::max, or, with indices, to an own_range_state<maybe<V>, Op>");
      static_assert(!hides_that_all_are_absent<What, T>,
                    "this state of floats cannot tell that all values are absent, where the result is another: make it an "
                    "own_range_state<maybe<T>, op::sum>, or of op::min_number or op::max_number");
    }
    const space indices = as_space(over);
    if constexpr (OnDevice) {
      if (is_for_cuda(where)) {
        auto made = device_ranges<OnDevice>::template of_form<What, T, Wide>(where, indices, f, instead_of_absent<What, T>());
        return add_made(made, indices.size(), how);
      }
    }
    add_values_of_cpu(where, indices, f, instead_of_absent<What, T>(), how);
  }
  /// Of reduce_together, of whose operators each takes every value.
  template <class T, bool OnDevice, class... Ops, class S, class F>
  void add_values_together(const executor& where, const S& over, F& f, const options& how) {
    using space = space_of<S>;
    using values = value_traits<value_at_t<space, F>>;
    static_assert(std::is_same_v<typename results_of<typename values::type>::type, T>,
                  "the function returns values of another type than the state's elements");
    static_assert(!results_of<typename values::type>::several, "make a state for each of the function's values");
    static_assert(!values::can_be_absent,
                  "no value changes none of several operators: make a state for each, which takes absent values");
    const space indices = as_space(over);
    if constexpr (OnDevice) {
      if (is_for_cuda(where)) {
        auto made = device_ranges<OnDevice>::template of_operators<Ops...>(where, indices, f);
        return add_made(made, indices.size(), how);
      }
    }
    add_values_of_cpu(where, indices, f, T(), how);
  }
  template <class T, class U>
  void add_products(const executor& where, const T* x, const U* y, std::uint64_t count, const options& how) {
    const onefold_products products = products_of(x, y);
    check_status(with_c_options(how, [this, &where, &products, &count](const onefold_options* wishes) {
      return onefold_range_add_products(get(), c_executor(where), &products, count, wishes);
    }));
  }
  void store_result(std::int64_t ddof, void* result) const { check_status(onefold_range_result(get(), ddof, result)); }

  [[nodiscard]] std::uint64_t begin() const noexcept { return onefold_range_begin(get()); }
  [[nodiscard]] std::uint64_t end() const noexcept { return onefold_range_end(get()); }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    return telling_of_lacking_memory([this] {
      std::vector<std::byte> all(onefold_range_bytes(get()));
      check_status(onefold_range_write(get(), all.data(), all.size()));
      return all;
    });
  }
  void read(const void* bytes, std::size_t size) { check_status(onefold_range_read(get(), bytes, size)); }

 private:
  template <class Made>
  void add_made(Made& made, std::uint64_t count, const options& how) {
    made.check_arrays(count);
    made.check(with_c_options(how, [this, &made, &count](const onefold_options* wishes) {
      return onefold_range_add_made(get(), made.values(), count, wishes);
    }));
  }
  template <class Space, class F, class T>
  void add_values_of_cpu(const executor& where, const Space& indices, F& f, T instead, const options& how) {
    block_callback<Space, F> callback(indices, f, instead);
    callback.check(with_c_options(how, [this, &where, &callback, &indices](const onefold_options* wishes) {
      return onefold_range_add_values(get(), c_executor(where), callback.source(), indices.size(), wishes);
    }));
  }

  struct deleter {
    void operator()(onefold_range* state) const noexcept { onefold_range_destroy(state); }
  };
  std::unique_ptr<onefold_range, deleter> state_;
};

}  // namespace detail

template <form What, class T, class A = accumulator_t<T, false>>
class range_state {
  static_assert(What != form::reduce_together,
                "reduce_together has a list of operators: together_range_state<T, op::sum, op::min>");
  static_assert(takes_type(What, element_type_of<T>), "bits of integers are combined alone, and complex numbers have no order");
  static constexpr bool wide = element_type_of<A> != accumulator_type(element_type_of<T>);
  static_assert(!wide || (can_be_wide(element_type_of<T>, What) &&
                          element_type_of<A> == accumulator_type(element_type_of<T>, true) && !std::is_same_v<T, bool>),
                "this form of these elements cannot be accumulated in that type");

 public:
  using value_type = detail::result_of_form<What, T, wide>;

  /// Of no elements. The first one that is added has the index `begin`.
  explicit range_state(std::uint64_t begin = 0) : state_(new_state(begin)) {}
  range_state(const range_state& other) : range_state(other.begin()) { append(other); }
  range_state& operator=(const range_state& other) {
    if (this != &other) *this = range_state(other);
    return *this;
  }
  /// What has been moved from can be assigned to, and nothing else.
  range_state(range_state&&) noexcept = default;
  range_state& operator=(range_state&&) noexcept = default;
  ~range_state() = default;

  /// Adds the `count` elements at x: they follow those that are there.
  template <form W = What, ONEFOLD_WHERE(W != form::dot)>
  range_state& add(const executor& where, const T* x, std::uint64_t count, const options& how = {}) {
    state_.add(where, x, nullptr, count, how);
    return *this;
  }
  /// Adds a range's.
  template <class R, form W = What, ONEFOLD_WHERE(W != form::dot && std::is_same_v<detail::element_of<const R>, T>)>
  range_state& add(const executor& where, const R& x, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add(where, all.data, all.count, how);
  }

  /// Of dot: adds those of x and y.
  template <form W = What, ONEFOLD_WHERE(W == form::dot)>
  range_state& add(const executor& where, const T* x, const T* y, std::uint64_t count, const options& how = {}) {
    state_.add(where, x, y, count, how);
    return *this;
  }
  template <class R, class S, form W = What,
            ONEFOLD_WHERE(W == form::dot && std::is_same_v<detail::element_of<const R>, T> &&
                          std::is_same_v<detail::element_of<const S>, T>)>
  range_state& add(const executor& where, const R& x, const S& y, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add(where, all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), how);
  }

  /// Of sum: adds the products of x and y, arrays of elements of two types, as dot() of both multiplies them. T is the type that C++ adds both in, or what
  /// accumulate_as may ask for in its place, double for float and std::uint64_t for std::uint32_t: range_state<form::sum, double> for floats with doubles, or
  /// for halves with floats accumulated in double. The state is that of an array that holds the products, and all elements' value() is the dot.
  ///
  /// @param x, y  `count` elements each, where the executor reads them; cuda() copies those of host memory, a subtree at a time
  /// Errors   those of dot(); invalid_argument for ranges of different lengths. Cost: of dot(), and on cuda() a launch for each subtree, at most two for each
  ///          doubling of the range.
  template <class X, class Y, form W = What, ONEFOLD_WHERE(W == form::sum && detail::are_mixed<X, Y>)>
  range_state& add_products(const executor& where, const X* x, const Y* y, std::uint64_t count, const options& how = {}) {
    using common = detail::common_accumulator<X, Y>;
    static_assert(
        !wide && (std::is_same_v<T, common> || std::is_same_v<T, detail::wider_accumulator<common>>),
        "the products of these types have another type than the elements of this state: make a range_state<form::sum, A>, "
        "where A is what dot() of both returns");
    state_.add_products(where, x, y, count, how);
    return *this;
  }
  template <class R, class S, form W = What,
            ONEFOLD_WHERE(W == form::sum && detail::are_mixed<detail::element_of<const R>, detail::element_of<const S>>)>
  range_state& add_products(const executor& where, const R& x, const S& y, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add_products(where, all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), how);
  }

  /// Two types have another state.
  template <class X, class Y, class... More, form W = What, ONEFOLD_WHERE(W == form::dot && detail::are_mixed<X, Y>)>
  range_state& add(const executor&, const X*, const Y*, std::uint64_t, const More&...) {
    static_assert(
        !std::is_same_v<X, X>,
        "a dot of two types is a sum of the products: range_state<form::sum, A>::add_products(), where A is what dot() returns");
    return *this;
  }

  /// Adds parts that follow each other, each of which lies where its executor reads it: devices.hpp has calls for that. What GPUs have in their memory
  /// is under way on all of them before one is waited for.
  range_state& add_parts(const onefold_range_part* parts, std::size_t count, const options& how = {}) {
    state_.add_parts(parts, count, how);
    return *this;
  }

  /// In stream order: puts on the stream of `where`, an executor of cuda(), what makes the image of `count` elements that follow this state's, of
  /// which its end alone is looked at, and does not wait. Where the caller has an image in host memory, made and copied, it is added to a state with that
  /// end. So a graph may record it, and a collective of NCCL's may carry it (nccl.hpp).
  ///
  /// @param x, y  in the memory of that GPU; y for dot, else null
  /// @param image  image_bytes(count) bytes that the GPU writes to, aligned to 16
  /// Errors   those of the reductions; unsupported where the elements lie elsewhere. Cost: a launch or two, a copy for each tile that is cut.
  void put_image(const executor& where, const T* x, const T* y, std::uint64_t count, void* image, const options& how = {}) const {
    detail::check_status(detail::with_c_options(how, [this, &where, &x, &y, &count, &image](const onefold_options* wishes) {
      return onefold_range_put_image(state_.get(), detail::c_executor(where), x, y, count, image, wishes);
    }));
  }
  [[nodiscard]] std::size_t image_bytes(std::uint64_t count) const {
    std::size_t bytes = 0;
    detail::check_status(onefold_range_image_bytes(state_.get(), count, &bytes));
    return bytes;
  }
  /// Makes no call of CUDA's. Cost: about a microsecond.
  range_state& add_image(const void* image, std::uint64_t count) {
    detail::check_status(onefold_range_add_image(state_.get(), image, count));
    return *this;
  }

  /// Adds what f gives for the indices of a number or a box, as `sum(where, n, f)` asks for them: f(0) .. f(n - 1), wherever the state ends. f returns a T
  /// (std::uint32_t stands for a bool). It is called once for each index; its values within the tiles at the ends stay in the state. On the
  /// CPU's executors, and on cuda() where nvcc compiles f and device.cuh is included; of that the report says nothing. Absent values: see above.
  template <class S, class F, form W = What, bool OnDevice = detail::on_device<F>,
            ONEFOLD_WHERE(detail::is_index_space<S>&& detail::takes_function<W, S, F>::value)>
  range_state& add(const executor& where, const S& over, F&& f, const options& how = {}) {
    state_.template add_values<What, T, wide, OnDevice>(where, over, f, how);
    return *this;
  }

  /// Adds the elements of a state that begins where this one ends.
  range_state& append(const range_state& next) {
    state_.append(next.state_);
    return *this;
  }

  /// The result. Requires that the range begins at 0.
  [[nodiscard]] value_type value() const { return value_with(0); }
  /// Of mean_variance: with so many taken from the count.
  template <form W = What, ONEFOLD_WHERE(W == form::mean_variance)>
  [[nodiscard]] value_type value(ddof of) const {
    return value_with(of.value);
  }

  /// The index of the first element, and that of the one that would be added next.
  [[nodiscard]] std::uint64_t begin() const noexcept { return state_.begin(); }
  [[nodiscard]] std::uint64_t end() const noexcept { return state_.end(); }

  /// The state as bytes, which are the same on every machine.
  [[nodiscard]] std::vector<std::byte> bytes() const { return state_.bytes(); }
  /// The state that bytes() has given: of this form, type and accumulator.
  static range_state from_bytes(const void* bytes, std::size_t size) {
    range_state made;
    made.state_.read(bytes, size);
    return made;
  }
  static range_state from_bytes(const std::vector<std::byte>& bytes) { return from_bytes(bytes.data(), bytes.size()); }

 private:
  static onefold_range* new_state(std::uint64_t begin) {
    onefold_range* made = nullptr;
    detail::check_status(onefold_range_create(static_cast<std::int32_t>(element_type_of<T>), static_cast<std::int32_t>(What),
                                              wide ? ONEFOLD_WIDE : 0U, begin, &made));
    return made;
  }

  [[nodiscard]] value_type value_with(std::int64_t ddof) const {
    value_type result;
    state_.store_result(ddof, &result);
    return result;
  }

  detail::range_owner state_;
};

/// The same of reduce_together: `Ops` are 1 to 16 of op::sum, op::prod, op::min and op::max, and T is real. The results are those of reduce_together() on
/// the array, and each has the bits of the operator's own range_state.
///
/// Cost      on CPUs one read of what is added, on cuda() one for each operator. The elements that a state keeps are there once, nodes for each operator.
/// Parts     in the memory of different GPUs are read at the same time (add_parts). There are no images.
/// All else  is as with range_state; append(), from_bytes() and what is read are of the same operators in the same order.
template <class T, class... Ops>
class together_range_state {
  static_assert(detail::is_real<T>, "reduce_together is for real numbers: complex ones have no order");
  static_assert(detail::are_operators<Ops...>, "1 to 16 operators of onefold::op");

 public:
  using value_type = std::array<accumulator_t<T, false>, sizeof...(Ops)>;

  /// Of no elements. The first one that is added has the index `begin`.
  explicit together_range_state(std::uint64_t begin = 0) : state_(new_state(begin)) {}
  together_range_state(const together_range_state& other) : together_range_state(other.begin()) { append(other); }
  together_range_state& operator=(const together_range_state& other) {
    if (this != &other) *this = together_range_state(other);
    return *this;
  }
  /// What has been moved from can be assigned to, and nothing else.
  together_range_state(together_range_state&&) noexcept = default;
  together_range_state& operator=(together_range_state&&) noexcept = default;
  ~together_range_state() = default;

  /// Adds the `count` elements at x: they follow those that are there.
  together_range_state& add(const executor& where, const T* x, std::uint64_t count, const options& how = {}) {
    state_.add(where, x, nullptr, count, how);
    return *this;
  }
  /// Adds a range's.
  template <class R, ONEFOLD_WHERE(std::is_same_v<detail::element_of<const R>, T>)>
  together_range_state& add(const executor& where, const R& x, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add(where, all.data, all.count, how);
  }
  /// Adds parts that follow each other, each of which lies where its executor reads it.
  together_range_state& add_parts(const onefold_range_part* parts, std::size_t count, const options& how = {}) {
    state_.add_parts(parts, count, how);
    return *this;
  }
  /// Adds what f gives for the indices of a number or a box: one T for each, of which all operators take that one. On cuda() in translation units that nvcc
  /// compiles, in one read.
  template <class S, class F, bool OnDevice = detail::on_device<F>,
            ONEFOLD_WHERE(detail::is_index_space<S>&& detail::takes_function<form::sum, S, F>::value)>
  together_range_state& add(const executor& where, const S& over, F&& f, const options& how = {}) {
    state_.template add_values_together<T, OnDevice, Ops...>(where, over, f, how);
    return *this;
  }

  /// Adds the elements of a state that begins where this one ends.
  together_range_state& append(const together_range_state& next) {
    state_.append(next.state_);
    return *this;
  }

  /// The results, in the order of the operators. Requires that the range begins at 0.
  [[nodiscard]] value_type value() const {
    value_type results;
    state_.store_result(0, results.data());
    return results;
  }

  /// The index of the first element, and that of the one that would be added next.
  [[nodiscard]] std::uint64_t begin() const noexcept { return state_.begin(); }
  [[nodiscard]] std::uint64_t end() const noexcept { return state_.end(); }

  /// The state as bytes, which are the same on every machine.
  [[nodiscard]] std::vector<std::byte> bytes() const { return state_.bytes(); }
  /// The state that bytes() has given: of these operators and this type.
  static together_range_state from_bytes(const void* bytes, std::size_t size) {
    together_range_state made;
    made.state_.read(bytes, size);
    return made;
  }
  static together_range_state from_bytes(const std::vector<std::byte>& bytes) { return from_bytes(bytes.data(), bytes.size()); }

 private:
  static onefold_range* new_state(std::uint64_t begin) {
    constexpr std::uint8_t operators[] = {static_cast<std::uint8_t>(Ops::id)...};
    onefold_range* made = nullptr;
    detail::check_status(
        onefold_range_create_together(static_cast<std::int32_t>(element_type_of<T>), operators, sizeof...(Ops), begin, &made));
    return made;
  }

  detail::range_owner state_;
};

}  // namespace onefold
