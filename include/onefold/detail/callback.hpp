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
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/maybe.hpp>

namespace onefold {
namespace detail {

/// f of one element of each array, as a function of the index.
template <class F, class... T>
struct function_of_arrays {
  F f;
  std::tuple<const T*...> arrays;
  decltype(auto) operator()(std::uint64_t i) {
    return std::apply([&](const T*... x) -> decltype(auto) { return f(x[i]...); }, arrays);
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

/// The first exception that the caller's functions have thrown, on whichever thread.
class thrown {
 public:
  /// In a catch block.
  void keep() noexcept {
    if (!has_one_.exchange(true)) first_ = std::current_exception();
  }
  /// Runs a request; an exception of the caller's own comes out of it as what it is.
  void run(const request& what, const options& how) const {
    try {
      detail::run(what, how);
    } catch (const error& problem) {
      if (problem.code() == errc::callback_failed && first_ != nullptr) std::rethrow_exception(first_);
      throw;
    }
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
};
template <class T, std::size_t K>
struct results_of<std::array<T, K>> {
  using type = T;
  static constexpr int count = static_cast<int>(K);
  static constexpr bool several = true;
};

/// Values of a function over a space, as a value_source. An absent one is stored as `instead`, which changes no other.
template <class Space, class F>
class block_callback {
 public:
  using returned = value_at_t<Space, F>;
  static constexpr bool can_be_absent = value_traits<returned>::can_be_absent;
  using value = typename value_traits<returned>::type;
  using element = typename results_of<value>::type;
  static constexpr int results = results_of<value>::count;
  static_assert(
      is_element<element>,
      "a function of the index returns float, double or a standard integer of 32 or 64 bits; a std::array of these; or, where "
      "values may be absent, onefold::maybe or std::optional of one");
  static_assert(!can_be_absent || !results_of<value>::several, "a std::array has no absent values");
  static_assert(results >= 1 && results <= most_results, "a function of the index returns at most 16 values");

  block_callback(const Space& space, F& f, element instead = element())
      : source_{this, fill}, space_(space), f_(f), instead_(instead) {}
  block_callback(const block_callback&) = delete;
  block_callback& operator=(const block_callback&) = delete;

  [[nodiscard]] const value_source* source() const noexcept { return &source_; }
  [[nodiscard]] bool any_present() const noexcept { return any_present_; }
  void run(const request& what, const options& how) const { thrown_.run(what, how); }

 private:
  static int fill(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
    auto& own = *static_cast<block_callback*>(context);
    try {
      own.fill_block(first, count, values);
      return 0;
    } catch (...) {
      own.thrown_.keep();
      return 1;
    }
  }

  void fill_block(std::uint64_t first, std::uint64_t count, void* const* values) {
    if constexpr (results_of<value>::several) {
      element* to[results];
      for (int r = 0; r < results; ++r) to[r] = static_cast<element*>(values[r]);
      for_rows(f_, space_, first, count, [&to](std::uint64_t k, std::uint64_t length, const auto& at) {
        for (std::uint64_t c = 0; c < length; ++c) {
          const value now = at(c);
          for (int r = 0; r < results; ++r) to[r][k + c] = now[static_cast<std::size_t>(r)];
        }
      });
    } else if constexpr (can_be_absent) {
      auto* const to = static_cast<element*>(values[0]);
      bool any = false;
      for_rows(f_, space_, first, count, [&any, to, instead = instead_](std::uint64_t k, std::uint64_t length, const auto& at) {
        any |= store_present(to + k, length, at, instead);
      });
      if (any && !any_present_) any_present_ = true;
    } else {
      auto* const to = static_cast<element*>(values[0]);
      for_rows(f_, space_, first, count,
               [to](std::uint64_t k, std::uint64_t length, const auto& at) { store_values(to + k, length, at); });
    }
  }

  // So many values at a time, into an array that nothing else can point into: with that compilers vectorise f at -O2 too.
  static constexpr std::uint64_t at_once = 64;

  // Stores at(0) .. at(count - 1).
  template <class At>
  static void store_values(element* to, std::uint64_t count, const At& at) {
    std::uint64_t c = 0;
    for (; c + at_once <= count; c += at_once) {
      element now[at_once];
      for (std::uint64_t i = 0; i < at_once; ++i) now[i] = at(c + i);
      std::memcpy(to + c, now, sizeof(now));
    }
    for (; c < count; ++c) to[c] = at(c);
  }

  // The same with `instead` for those that are absent; says whether one is not. For vectors the flag is as wide as a value, and what f returns
  // no constant, which g++ would keep in memory.
  template <class At>
  static bool store_present(element* to, std::uint64_t count, const At& at, element instead) {
    using flag = std::conditional_t<sizeof(element) == 4, std::uint32_t, std::uint64_t>;
    flag any = 0;
    std::uint64_t c = 0;
    for (; c + at_once <= count; c += at_once) {
      element now[at_once];
      for (std::uint64_t i = 0; i < at_once; ++i) {
        maybe<element> here = as_maybe(at(c + i));
        now[i] = here.present ? here.value : instead;
        any |= here.present ? flag(1) : flag(0);
      }
      std::memcpy(to + c, now, sizeof(now));
    }
    for (; c < count; ++c) {
      const maybe<element> here = as_maybe(at(c));
      to[c] = here.present ? here.value : instead;
      any |= here.present ? flag(1) : flag(0);
    }
    return any != 0;
  }

  value_source source_;
  const Space& space_;
  F& f_;
  element instead_;
  std::atomic<bool> any_present_{false};
  thrown thrown_;
};

}  // namespace detail
}  // namespace onefold
