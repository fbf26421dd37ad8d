#pragma once
/// @file callback.hpp  A function of the index as the compiled library calls it: in blocks, from several threads, without exceptions.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include <onefold/box.hpp>
#include <onefold/detail/apart.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/lane_sums.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/maybe.hpp>
#include <onefold/operators.hpp>

namespace onefold {
namespace detail {

/// f of one element of each array, as a function of the index.
template <class F, class... T>
struct function_of_arrays {
  F f;
  std::tuple<const T*...> arrays;
  decltype(auto) operator()(std::uint64_t i) {
    return std::apply([this, &i](const T*... x) -> decltype(auto) { return f(x[i]...); }, arrays);
  }
};

/// The arrays that a function reads, as far as that is known, for a request that must not outlive this.
template <class F>
struct arrays_of {
  explicit arrays_of(const F&) noexcept {}
  void tell(request&) const noexcept {}
};
template <class F, class... T>
struct arrays_of<function_of_arrays<F, T...>> {
  onefold_array each[sizeof...(T)];
  explicit arrays_of(const function_of_arrays<F, T...>& f) : arrays_of(f.arrays, std::index_sequence_for<T...>()) {}
  template <std::size_t... K>
  arrays_of(const std::tuple<const T*...>& x, std::index_sequence<K...>)
      : each{{std::get<K>(x), static_cast<std::uint32_t>(sizeof(T)), static_cast<std::uint32_t>(alignof(T))}...} {}
  void tell(request& what) const noexcept {
    what.arrays = each;
    what.array_count = static_cast<int>(sizeof...(T));
  }
};

template <class F>
inline constexpr bool reads_arrays = false;
template <class F, class... T>
inline constexpr bool reads_arrays<function_of_arrays<F, T...>> = true;

/// Whether an F is an array's elements as they are: its values lie in memory already.
template <class F>
inline constexpr bool is_plain_array = false;
template <class F, class T>
inline constexpr bool is_plain_array<function_of_arrays<F, T>> = std::is_same_v<std::decay_t<F>, identity_function>;

/// So many values of a function at a time: a number that compilers know, with which they vectorise it at -O2 too. Not so large that many of a short
/// row are left over; not 16, since g++ unrolls such loops at -O3 before it looks for vectors.
inline constexpr int values_at_once = 32;

/// Stores f at the indices with the numbers first .. first + count - 1 of a space, as Vs.
template <class V, class Space, class F>
ONEFOLD_APART void store_values(V* __restrict to, F& f, const Space& space, std::uint64_t first, std::uint64_t count) {
  using index = typename rows_of<Space>::index;
  for (rows_of<Space> rows(space, first, count); rows.more(); rows.next()) {
    const auto at = rows.at(f);
    const index length = rows.length();
    V* const row = to + rows.done();
    index c = 0;
    for (; c + values_at_once <= length; c += values_at_once)
      for (index i = 0; i < values_at_once; ++i) row[c + i] = as_maybe(at(c + i));
    for (; c < length; ++c) row[c] = as_maybe(at(c));
  }
}

/// Options of a call whose request somebody else runs: a batch, which takes it. What the request refers to lives until take() returns, and the result is there
/// then.
struct taken_call : options {
  int (*take)(void* context, const onefold_request& what);  // returns what onefold_reduce() would
  void* context;
};
inline int status_of_call(const request& what, const options& how) { return status_of_run(what, how); }
inline int status_of_call(const request& what, const taken_call& how) { return how.take(how.context, c_request(what)); }

/// The first exception that the caller's functions have thrown, on whichever thread.
class thrown {
 public:
  /// In a catch block.
  void keep() noexcept {
    if (!has_one_.exchange(true)) first_ = std::current_exception();
  }
  [[nodiscard]] bool has_one() const noexcept { return has_one_.load(); }
  /// Runs a request; an exception of the caller's own comes out of it as what it is.
  template <class How = options>
  void run(const request& what, const How& how) const {
    check(status_of_call(what, how));
  }
  /// The same of what any other call of the library's has returned.
  void check(int status) const {
    if (status == ONEFOLD_CALLBACK_FAILED && first_ != nullptr) std::rethrow_exception(first_);
    check_status(status);
  }

 private:
  std::atomic<bool> has_one_{false};
  std::exception_ptr first_;
};

template <class V>
struct results_of {  // how many a value stands for
  using type = V;
  static constexpr int count = 1;
  static constexpr bool several = false;
  static constexpr bool is_truth = false;
};
template <>
struct results_of<bool> {  // stored as a number: kernels read values of 4 and 8 bytes
  using type = std::uint32_t;
  static constexpr int count = 1;
  static constexpr bool several = false;
  static constexpr bool is_truth = true;
};
template <class T, std::size_t K>
struct results_of<std::array<T, K>> {
  using type = T;
  static constexpr int count = static_cast<int>(K);
  static constexpr bool several = true;
  static constexpr bool is_truth = false;
};

/// Values of a function over a space, as a value_source. An absent one is stored as `instead`, which changes no other.
///
/// Counts  whether present() is asked for, which takes longer to know than any_present()
template <class Space, class F, bool Counts = false>
class block_callback {
 public:
  using returned = value_at_t<Space, F>;
  static constexpr bool can_be_absent = value_traits<returned>::can_be_absent;
  using value = typename value_traits<returned>::type;
  using element = typename results_of<value>::type;
  static constexpr int results = results_of<value>::count;
  static_assert(
      is_full_element<element>,
      "a function of the index returns float, double or a standard integer of 32 or 64 bits; a std::array of these; or, where "
      "values may be absent, onefold::maybe or std::optional of one");
  static_assert(!can_be_absent || !results_of<value>::several, "a std::array has no absent values");
  static_assert(results >= 1 && results <= most_results, "a function of the index returns at most 16 values");

  block_callback(const Space& space, F& f, element instead = element())
      : source_{this, fill}, space_(space), f_(f), instead_(instead) {}
  block_callback(const block_callback&) = delete;
  block_callback& operator=(const block_callback&) = delete;

  [[nodiscard]] const value_source* source() const noexcept { return &source_; }
  /// Whether there is, in the place of the source's fill, what adds the rows of tiles: request::lanes, with the source's context.
  static constexpr bool adds_rows =
      can_add_rows && std::is_floating_point_v<element> && !can_be_absent && std::is_same_v<Space, index_line>;
  static int add_lanes(void* context, std::uint64_t first, std::uint64_t count, void* const* lanes) {
    return guarded(context, [&first, &count, &lanes](block_callback& own) {
      own.add_from(std::make_index_sequence<std::size_t{results}>{}, first, count, lanes);
    });
  }
  [[nodiscard]] bool any_present() const noexcept { return any_present_; }
  /// How many values of all that were asked for are there.
  [[nodiscard]] std::uint64_t present() const noexcept { return present_; }
  /// present() of a source's context, for whoever divides by it in the library.
  [[nodiscard]] static std::uint64_t tell_present(void* context) {
    auto& own = *static_cast<block_callback*>(context);
    return own.present_;
  }
  template <class How = options>
  void run(const request& what, const How& how) const {
    thrown_.run(what, how);
  }
  /// Throws where a call that was given source() has returned an error; what f has thrown as what it is.
  void check(int status) const { thrown_.check(status); }

 private:
  template <class Work>
  static int guarded(void* context, const Work& work) {
    auto& own = *static_cast<block_callback*>(context);
    try {
      work(own);
      return 0;
    } catch (...) {
      own.thrown_.keep();
      return 1;
    }
  }

  static int fill(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
    return guarded(context, [&first, &count, &values](block_callback& own) { own.fill_block(first, count, values); });
  }

  template <std::size_t... R>
  void add_from(std::index_sequence<R...> all, std::uint64_t first, std::uint64_t count, void* const* lanes) {
    add_rows<value>(all, f_, first, count, static_cast<element*>(lanes[R])...);
  }

  void fill_block(std::uint64_t first, std::uint64_t count, void* const* values) {
    if constexpr (results_of<value>::several) {
      store_from(std::make_index_sequence<std::size_t{results}>{}, first, count, values);
    } else if constexpr (can_be_absent && Counts) {
      const std::uint64_t present = store_and_count(static_cast<element*>(values[0]), f_, space_, first, count, instead_);
      present_.fetch_add(present, std::memory_order_relaxed);
    } else if constexpr (can_be_absent) {
      const bool was_any = any_present_.load(std::memory_order_relaxed);
      if (store_present(static_cast<element*>(values[0]), f_, space_, first, count, instead_, was_any) && !was_any)
        any_present_.store(true, std::memory_order_relaxed);
    } else {
      store_values(static_cast<element*>(values[0]), f_, space_, first, count);
    }
  }

  using rows_here = rows_of<Space>;
  using index = typename rows_here::index;

  // As store_values(), of several results, each to its own place.
  template <std::size_t... R, class... To>
  ONEFOLD_APART static void store_several(std::index_sequence<R...>, F& f, const Space& space, std::uint64_t first,
                                          std::uint64_t count, To* __restrict... to) {
    for (rows_here rows(space, first, count); rows.more(); rows.next()) {
      const auto at = rows.at(f);
      const auto begin = static_cast<index>(rows.done());
      const index length = rows.length();
      index c = 0;
      for (; c + values_at_once <= length; c += values_at_once)
        for (index i = 0; i < values_at_once; ++i) {
          const value here = at(c + i);
          ((to[begin + c + i] = here[R]), ...);
        }
      for (; c < length; ++c) {
        const value here = at(c);
        ((to[begin + c] = here[R]), ...);
      }
    }
  }
  template <std::size_t... R>
  void store_from(std::index_sequence<R...> all, std::uint64_t first, std::uint64_t count, void* const* values) {
    store_several(all, f_, space_, first, count, static_cast<element*>(values[R])...);
  }

  // As store_values(), with `instead` for those that are absent; says whether there was `any` before that is not, or is one now. Once that is
  // known it is not asked any more: asking takes as long as all the rest.
  ONEFOLD_APART static bool store_present(element* __restrict to, F& f, const Space& space, std::uint64_t first,
                                          std::uint64_t count, element instead, bool any) {
    for (rows_here rows(space, first, count); rows.more(); rows.next()) {
      const auto at = rows.at(f);
      const index length = rows.length();
      element* const row = to + rows.done();
      index c = 0;
      for (; !any && c + values_at_once <= length; c += values_at_once) any = store_and_look(row + c, at, c, instead);
      for (; c + values_at_once <= length; c += values_at_once)
        for (index i = 0; i < values_at_once; ++i) {
          maybe<value> here = as_maybe(at(c + i));
          row[c + i] = here.present ? element(here.value) : instead;
        }
      for (; c < length; ++c) {
        const maybe<value> here = as_maybe(at(c));
        row[c] = here.present ? element(here.value) : instead;
        any |= here.present;
      }
    }
    return any;
  }

  // Of at(c) .. at(c + values_at_once - 1). For vectors the flag is as wide as a value, and what f returns no constant, which g++ would keep
  // in memory.
  template <class At>
  static bool store_and_look(element* __restrict to, const At& at, index c, element instead) {
    using flag = std::conditional_t<sizeof(element) == 4, std::uint32_t, std::uint64_t>;
    flag any = 0;
    for (index i = 0; i < values_at_once; ++i) {
      maybe<value> here = as_maybe(at(c + i));
      to[i] = here.present ? element(here.value) : instead;
      any |= here.present ? flag(1) : flag(0);
    }
    return any != 0;
  }

  // As store_values(), with `instead` for those that are absent; says how many are not.
  ONEFOLD_APART static std::uint64_t store_and_count(element* __restrict to, F& f, const Space& space, std::uint64_t first,
                                                     std::uint64_t count, element instead) {
    std::uint64_t present = 0;
    for (rows_here rows(space, first, count); rows.more(); rows.next()) {
      const auto at = rows.at(f);
      const index length = rows.length();
      element* const row = to + rows.done();
      for (index c = 0; c < length; ++c) {
        const maybe<value> here = as_maybe(at(c));
        row[c] = here.present ? element(here.value) : instead;
        present += here.present ? 1 : 0;
      }
    }
    return present;
  }

  value_source source_;
  const Space& space_;
  F& f_;
  element instead_;
  std::atomic<bool> any_present_{false};
  std::atomic<std::uint64_t> present_{0};
  thrown thrown_;
};

}  // namespace detail
}  // namespace onefold
