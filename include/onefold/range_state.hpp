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
/// Forms     all with a call of their own (reduce.hpp) of all element types. `A` is the type to accumulate in, as accumulate_as
///           takes it: range_state<form::sum, float, double>. Operators of the caller's: own_range_state.hpp.
/// Bits      equal ranges of equal elements have equal bytes, however they were cut, read and appended (docs/order.md). The result has the bits
///           of the reduction of the array. argmin and its like give global indices.
/// Errors    those of the reductions; invalid_argument where ranges are no neighbours, bytes are no state or a result is asked for that is not there
///           yet. The state then is what it was.
/// Cost      of adding an array that of a reduction and some microseconds for the tiles at its ends; of appending a state or making a value
///           about a microsecond; of bytes a nanosecond for each. A state has some hundreds, and up to 8 KiB of elements where the range begins
///           and ends within tiles (dot, and complex numbers in norm1, norm_inf and mean_variance: 16). all, any and none do not end early.
/// Threads   one state is used by one thread at a time; several may read it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include <onefold/box.hpp>
#include <onefold/detail/callback.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/reduce.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold {

template <form What, class T, class A = accumulator_t<T, false>>
class range_state {
  static_assert(What != form::reduce_together, "reduce_together has no state of a range: make one for each operator");
  static_assert(takes_type(What, element_type_of<T>), "bits of integers are combined alone, and complex numbers have no order");
  static constexpr bool wide = element_type_of<A> != accumulator_type(element_type_of<T>);
  static_assert(!wide ||
                    (can_be_wide(element_type_of<T>, What) && element_type_of<A> == accumulator_type(element_type_of<T>, true)),
                "this form of these elements cannot be accumulated in that type");

 public:
  using value_type = detail::result_of_form<What, T, wide>;

  /// Of no elements. The first one that is added has the index `begin`.
  explicit range_state(std::uint64_t begin = 0) {
    onefold_range* made = nullptr;
    detail::check_status(onefold_range_create(static_cast<std::int32_t>(element_type_of<T>), static_cast<std::int32_t>(What),
                                              wide ? ONEFOLD_WIDE : 0U, begin, &made));
    state_.reset(made);
  }
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
    return add_arrays(where, x, nullptr, count, how);
  }
  /// Adds a range's.
  template <class R, form W = What, ONEFOLD_WHERE(W != form::dot && std::is_same_v<detail::element_of<const R>, T>)>
  range_state& add(const executor& where, const R& x, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add_arrays(where, all.data, nullptr, all.count, how);
  }

  /// Of dot: adds those of x and y.
  template <form W = What, ONEFOLD_WHERE(W == form::dot)>
  range_state& add(const executor& where, const T* x, const T* y, std::uint64_t count, const options& how = {}) {
    return add_arrays(where, x, y, count, how);
  }
  template <class R, class S, form W = What,
            ONEFOLD_WHERE(W == form::dot && std::is_same_v<detail::element_of<const R>, T> &&
                          std::is_same_v<detail::element_of<const S>, T>)>
  range_state& add(const executor& where, const R& x, const S& y, const options& how = {}) {
    const auto all = detail::view_of(x);
    return add_arrays(where, all.data, detail::view_of(y).data, detail::common_size(all, detail::view_of(y)), how);
  }

  /// Adds parts that follow each other, each of which lies where its executor reads it: devices.hpp has calls for that. What GPUs have in their memory
  /// is under way on all of them before one is waited for.
  range_state& add_parts(const onefold_range_part* parts, std::size_t count, const options& how = {}) {
    detail::check_status(detail::with_c_options(
        how, [&](const onefold_options* wishes) { return onefold_range_add_parts(state_.get(), parts, count, wishes); }));
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
    detail::check_status(detail::with_c_options(how, [&](const onefold_options* wishes) {
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
  /// CPU's executors.
  template <class S, class F, form W = What, ONEFOLD_WHERE(detail::is_index_space<S>&& detail::takes_function<W, S, F>::value)>
  range_state& add(const executor& where, const S& over, F&& f, const options& how = {}) {
    using space = detail::space_of<S>;
    using values = detail::value_traits<detail::value_at_t<space, F>>;
    static_assert(std::is_same_v<typename detail::results_of<typename values::type>::type, T>,
                  "the function returns values of another type than the state's elements");
    static_assert(!detail::results_of<typename values::type>::several, "make a state for each of the function's values");
    static_assert(!values::can_be_absent, "a state has no place for absent values: return what changes no other, -0.0 for a sum");
    const space indices = detail::as_space(over);
    detail::block_callback<space, std::remove_reference_t<F>> callback(indices, f);
    callback.check(detail::with_c_options(how, [&](const onefold_options* wishes) {
      return onefold_range_add_values(state_.get(), detail::c_executor(where), callback.source(), indices.size(), wishes);
    }));
    return *this;
  }

  /// Adds the elements of a state that begins where this one ends.
  range_state& append(const range_state& next) {
    detail::check_status(onefold_range_append(state_.get(), next.state_.get()));
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
  [[nodiscard]] std::uint64_t begin() const noexcept { return onefold_range_begin(state_.get()); }
  [[nodiscard]] std::uint64_t end() const noexcept { return onefold_range_end(state_.get()); }

  /// The state as bytes, which are the same on every machine.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    return detail::telling_of_lacking_memory([this] {
      std::vector<std::byte> all(onefold_range_bytes(state_.get()));
      detail::check_status(onefold_range_write(state_.get(), all.data(), all.size()));
      return all;
    });
  }
  /// The state that bytes() has given: of this form, type and accumulator.
  static range_state from_bytes(const void* bytes, std::size_t size) {
    range_state made;
    detail::check_status(onefold_range_read(made.state_.get(), bytes, size));
    return made;
  }
  static range_state from_bytes(const std::vector<std::byte>& bytes) { return from_bytes(bytes.data(), bytes.size()); }

 private:
  struct deleter {
    void operator()(onefold_range* state) const noexcept { onefold_range_destroy(state); }
  };

  range_state& add_arrays(const executor& where, const T* x, const T* y, std::uint64_t count, const options& how) {
    detail::check_status(detail::with_c_options(how, [&](const onefold_options* wishes) {
      return onefold_range_add(state_.get(), detail::c_executor(where), x, y, count, wishes);
    }));
    return *this;
  }

  [[nodiscard]] value_type value_with(std::int64_t ddof) const {
    value_type result;
    detail::check_status(onefold_range_result(state_.get(), ddof, &result));
    return result;
  }

  std::unique_ptr<onefold_range, deleter> state_;
};

}  // namespace onefold
