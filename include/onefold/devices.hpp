#pragma once
/// @file devices.hpp  One array on several GPUs of a host: each reduces what lies in its memory, all at the same time, and the result has the bits that the
/// array has on one core.
///
///   onefold::devices gpus{onefold::cuda(0), onefold::cuda(1)};      // or devices::all()
///   onefold::parts<double> x{{x0, n0}, {x1, n1}};                   // one array: first what lies on gpus[0], then what lies on gpus[1]
///   double s = onefold::sum(gpus, x);
///   double d = onefold::dot(gpus, x, y);
///
///   onefold::sum_into(gpus, x, {d_sum0, d_sum1});                   // the result in the memory of each
///
///   std::vector<double> host = ...;
///   double t = onefold::sum(gpus, host);                            // each GPU copies a share of it
///
/// Forms     all with a call of their own that returns the value (reduce.hpp), of all element types; accumulate_as and ddof as there; and multi_dot, whose
///           vectors are parts each: multi_dot(gpus, {v0, v1}, {w}).
/// Bits      under tree v1 those of the array that the parts make, one behind the other, wherever it is cut. With guarantee::exact those of the exact
///           result, in forms that have an exact_state (exact.hpp) and those that no order changes.
/// Result    on the host, when the call returns. The GPUs hand over through pinned memory of the host, so none has to reach another's memory.
///           The `*_into` calls store it in the memory of each executor. Where all parts lie in GPUs' memory they do so in the order of the streams, without a wait of the
///           host's, and may be captured into a graph, to which all streams have been joined: the GPUs hand over through memory of the first one, where all reach it
///           (as over NVLink), or else through pinned memory. Others wait for the result and have each executor store it in the order of its stream, for which they do not
///           wait: calls with host arrays or executors of CPUs, of more parts than onefold_range_can_join_images() says, several exact dots, and reduce_together_into of small types,
///           whose results are wider than a form's. Between processes, or for codes that have a communicator, there is onefold/nccl.hpp.
/// Executors of any kind: part i is read by executor i. Several parts may lie on one GPU, each with an executor of its own or with equal ones. Those of
///           GPUs that have their parts in device memory are launched before one is waited for; parts in host memory go through their GPUs, on as many
///           threads; CPUs reduce theirs meanwhile.
/// Errors    those of the reductions, which all GPUs have ended by then where the host waits; what goes wrong in stream order, a GPU that is lost say, is told by the wait for a
///           stream or by the next call; invalid_argument where there are more or fewer parts than executors, or the
///           parts of a dot differ, or where there are more or fewer outputs, or a workspace for several executors of GPUs. A part on another GPU than its executor's is wrong_device.
/// Cost      that of the largest part, a launch for each other GPU and some microseconds: docs/devices.md has figures. Parts that are cut within tiles
///           (is_aligned) hand over the elements of those tiles, less than two tiles of 4 KiB for each cut, and each dot of multi_dot its own.
/// Threads   as all calls: from several host threads at once, on the same GPUs too.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/range_parts.hpp>
#include <onefold/exact.hpp>
#include <onefold/executor.hpp>
#include <onefold/multi_dot.hpp>
#include <onefold/range_state.hpp>
#include <onefold/reduce.hpp>

namespace onefold {

/// The parts of an array, in the order of its elements. They are not owned.
template <class T>
class parts {
 public:
  struct part {
    const T* data;
    std::uint64_t count;
    part(const T* first, std::uint64_t elements) noexcept : data(first), count(elements) {}
    /// A range's elements.
    template <class R, ONEFOLD_WHERE(std::is_same_v<detail::element_of<const R>, T>)>
    part(const R& range) noexcept
        : part(std::data(range), static_cast<std::uint64_t>(std::size(range))) {}  // NOLINT(google-explicit-constructor)
  };

  parts(std::initializer_list<part> all) : all_(detail::telling_of_lacking_memory([&all] { return std::vector<part>(all); })) {}
  explicit parts(std::vector<part> all) noexcept : all_(std::move(all)) {}

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] const part& operator[](std::size_t which) const noexcept { return all_[which]; }
  /// Elements of all parts.
  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t elements = 0;
    for (const part& one : all_) elements += one.count;
    return elements;
  }
  /// Whether all parts but the first begin with a tile, so that no elements go to the host: what devices::share_out makes is.
  [[nodiscard]] bool is_aligned() const noexcept {
    std::uint64_t begin = 0;
    for (const part& one : all_) {
      if (one.count > 0 && begin % order::tile_elements<detail::tile_element<T>> != 0) return false;
      begin += one.count;
    }
    return true;
  }

 private:
  std::vector<part> all_;
};

/// Where the executors of several parts have the result, each in memory that it writes: an address for each. The memory is not owned.
template <class R>
class outputs {
 public:
  outputs(std::initializer_list<R*> each) : each_(detail::telling_of_lacking_memory([&each] { return std::vector<R*>(each); })) {}
  outputs(std::vector<R*> each) noexcept : each_(std::move(each)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::size_t size() const noexcept { return each_.size(); }
  [[nodiscard]] R* operator[](std::size_t which) const noexcept { return each_[which]; }

 private:
  std::vector<R*> each_;
};

/// The executors that reduce the parts of arrays, one for each part.
class devices : public detail::on_parts {
 public:
  devices(std::initializer_list<executor> each)
      : each_(detail::telling_of_lacking_memory([&each] { return std::vector<executor>(each); })) {}
  explicit devices(std::vector<executor> each) noexcept : each_(std::move(each)) {}
  /// Every GPU that this process sees. Errors: backend_not_built, backend_unavailable.
  static devices all() {
    return detail::telling_of_lacking_memory([] {
      const backend_info gpus = detail::backend_info_of(backend::cuda);
      if (!gpus.built || !gpus.usable) throw error(gpus.built ? errc::backend_unavailable : errc::backend_not_built, gpus.detail);
      std::vector<executor> each;
      for (const device_info& gpu : gpus.devices) each.push_back(cuda(gpu.number));
      return devices(std::move(each));
    });
  }

  [[nodiscard]] std::size_t size() const noexcept { return each_.size(); }
  [[nodiscard]] const executor& operator[](std::size_t which) const noexcept { return each_[which]; }

  /// An array in memory that all of them read, divided evenly in whole tiles.
  template <class T>
  [[nodiscard]] parts<T> share_out(const T* data, std::uint64_t count) const {
    return detail::telling_of_lacking_memory([this, &count, &data] {
      if (size() == 0 && count > 0) throw error(errc::invalid_argument, "there are no executors to share an array out to");
      std::vector<typename parts<T>::part> all;
      for (std::size_t i = 0; i < size(); ++i) {
        const index_range share = detail::aligned_share<T>(count, i, size());
        all.push_back({data + share.begin, share.size()});
      }
      return parts<T>(std::move(all));
    });
  }
  template <class R, class T = detail::element_of<const R>, ONEFOLD_WHERE(is_element<T>)>
  [[nodiscard]] parts<T> share_out(const R& range) const {
    return share_out<T>(std::data(range), static_cast<std::uint64_t>(std::size(range)));
  }

  // For the forms.
  template <class T>
  [[nodiscard]] const parts<T>& parts_of(const parts<T>& x) const noexcept {
    return x;
  }
  template <class R>
  [[nodiscard]] auto parts_of(const R& range) const {
    return share_out(range);
  }
  template <form What, class T, class... M>
  [[nodiscard]] detail::form_result_t<What, T, M...> value(const parts<T>& x, const options& how, M... modifiers) const {
    return run<What, T>(list_of(x), how, modifiers...);
  }
  template <class T, class... M>
  [[nodiscard]] detail::form_result_t<form::dot, T, M...> dot(const parts<T>& x, const parts<T>& y, const options& how,
                                                              M... modifiers) const {
    return run<form::dot, T>(list_of_dot(x, y), how, modifiers...);
  }
  template <form What, class T, class... M>
  void value_into(const parts<T>& x, const outputs<detail::form_result_t<What, T, M...>>& to, const options& how,
                  M... modifiers) const {
    run_into<What, T>(list_of(x), to, how, modifiers...);
  }
  template <class T, class... M>
  void dot_into(const parts<T>& x, const parts<T>& y, const outputs<detail::form_result_t<form::dot, T, M...>>& to,
                const options& how, M... modifiers) const {
    run_into<form::dot, T>(list_of_dot(x, y), to, how, modifiers...);
  }
  template <class T, class... Ops>
  [[nodiscard]] std::array<accumulator_t<T, false>, sizeof...(Ops)> together(const parts<T>& x, const options& asked_how,
                                                                             Ops... /*ops*/) const {
    const std::vector<onefold_range_part> all = list_of(x);
    const bool exactly = asked_how.guarantee == guarantee::exact;  // of a copy g++ 12 would say that it may be uninitialised
    options how = asked_how;
    if (exactly) {
      if constexpr (!(detail::exact::is_exact_in_any_order(form_of(Ops::id), element_type_of<T>) && ...))
        detail::telling_of_lacking_memory([] {
          throw error(errc::guarantee_not_met,
                      "guarantee::exact cannot be given: reduce_together has no exact sums and products of floats, and sum() has");
        });
      how.guarantee = guarantee::fixed;
    }
    together_range_state<T, Ops...> state;
    state.add_parts(all.data(), all.size(), how);
    return state.value();
  }
  template <class T, class... Ops>
  void together_into(const parts<T>& x, const outputs<accumulator_t<T, false>>& to, const options& how, Ops... ops) const {
    check_outputs(to);
    constexpr element_type type = element_type_of<T>;
    // A form by itself may have a result of another type than reduce_together has.
    constexpr bool has_same_results = ((result_type(type, form_of(Ops::id)) == element_type_of<accumulator_t<T, false>>)&&...);
    constexpr bool has_any_order = (detail::exact::is_exact_in_any_order(form_of(Ops::id), type) && ...);
    if (has_same_results && (how.guarantee != guarantee::exact || has_any_order)) {
      options wishes = how;
      if (how.guarantee == guarantee::exact) wishes.guarantee = guarantee::fixed;
      const std::vector<onefold_range_part> one = list_of(x);
      const auto all = detail::telling_of_lacking_memory([&one] {
        std::vector<onefold_range_part> of_each;
        for (std::size_t k = 0; k < sizeof...(Ops); ++k) of_each.insert(of_each.end(), one.begin(), one.end());
        return of_each;
      });
      constexpr std::int32_t forms[] = {static_cast<std::int32_t>(form_of(Ops::id))...};
      if (put(type, forms, sizeof...(Ops), 0, 0, all, to, wishes)) return;
    }
    const auto found = together(x, how, ops...);
    store_values(found.data(), found.size(), to);
  }
  // Dots of several vectors with several others, each in as many parts.
  template <class T>
  [[nodiscard]] std::vector<T> dots(const std::vector<parts<T>>& x, const std::vector<parts<T>>& y, const options& how) const {
    const std::vector<onefold_range_part> all = list_of_dots(x, y);
    const std::size_t number = x.size() * y.size();
    if (number == 0) return {};
    return detail::telling_of_lacking_memory([this, &all, &number, &how] {
      std::vector<T> results(number);
      if (how.guarantee == guarantee::exact) {
        options its = how;
        for (std::size_t k = 0; k < number; ++k, its.report = nullptr)
          results[k] = exact_state<form::dot, T>().add_parts(all.data() + k * size(), size(), its).value();
        return results;
      }
      std::vector<detail::range_owner> states;
      std::vector<onefold_range*> places;
      states.reserve(number);
      places.reserve(number);
      for (std::size_t k = 0; k < number; ++k) {
        onefold_range* made = nullptr;
        detail::check_status(
            onefold_range_create(static_cast<std::int32_t>(element_type_of<T>), static_cast<std::int32_t>(form::dot), 0, 0, &made));
        places.push_back(states.emplace_back(made).get());
      }
      detail::check_status(detail::with_c_options(how, [this, &places, &all](const onefold_options* wishes) {
        return onefold_ranges_add_parts(places.data(), places.size(), all.data(), size(), wishes);
      }));
      for (std::size_t k = 0; k < number; ++k) states[k].store_result(0, &results[k]);
      return results;
    });
  }

  template <class T>
  void dots_into(const std::vector<parts<T>>& x, const std::vector<parts<T>>& y, const outputs<T>& to, const options& how) const {
    check_outputs(to);
    const std::vector<onefold_range_part> all = list_of_dots(x, y);
    const std::size_t number = x.size() * y.size();
    if (number == 0) return;
    if (how.guarantee != guarantee::exact) {
      std::int32_t forms[detail::most_vectors];
      std::fill_n(forms, number, static_cast<std::int32_t>(form::dot));
      if (put(element_type_of<T>, forms, number, 0, 0, all, to, how)) return;
    }
    const std::vector<T> found = dots(x, y, how);
    store_values(found.data(), found.size(), to);
  }

 private:
  template <class R>
  void check_outputs(const outputs<R>& to) const {
    check_size(to.size(), " outputs and ", " executors: each writes to one");
    for (std::size_t i = 0; i < size(); ++i) {
      if (to[i] != nullptr) continue;
      detail::telling_of_lacking_memory([&i] {
        throw error(errc::null_pointer,
                    std::string("the output pointer of executor ").append(std::to_string(i)).append(" is null"));
      });
    }
  }
  template <class R>
  void store_values(const R* found, std::size_t number, const outputs<R>& to) const {
    constexpr std::size_t at_a_time = 128 / sizeof(R);  // what onefold_store() takes
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t k = 0; k < number; k += at_a_time)
        detail::check_status(
            onefold_store(detail::c_executor(each_[i]), to[i] + k, found + k, std::min(at_a_time, number - k) * sizeof(R)));
  }
  void check_size(std::size_t given, const char* what = " parts and ",
                  const char* why = " executors: each part is read by one") const {
    if (given == size()) return;
    detail::telling_of_lacking_memory([this, &given, &what, &why] {
      throw error(errc::invalid_argument,
                  std::string("there are ").append(std::to_string(given)).append(what).append(std::to_string(size())).append(why));
    });
  }
  template <class T>
  [[nodiscard]] std::vector<onefold_range_part> list_of(const parts<T>& x) const {
    check_size(x.size());
    return detail::telling_of_lacking_memory([this, &x] {
      std::vector<onefold_range_part> all;
      all.reserve(size());
      for (std::size_t i = 0; i < size(); ++i) all.push_back({detail::c_executor(each_[i]), x[i].data, nullptr, x[i].count});
      return all;
    });
  }

  template <class T>
  [[nodiscard]] std::vector<onefold_range_part> list_of_dot(const parts<T>& x, const parts<T>& y) const {
    std::vector<onefold_range_part> all = list_of(x);
    check_size(y.size());
    for (std::size_t i = 0; i < size(); ++i) {
      if (x[i].count != y[i].count) detail::throw_different_lengths(x[i].count, y[i].count);
      all[i].y = y[i].data;
    }
    return all;
  }
  // One dot's parts behind another's.
  template <class T>
  [[nodiscard]] std::vector<onefold_range_part> list_of_dots(const std::vector<parts<T>>& x, const std::vector<parts<T>>& y) const {
    if (x.empty() || y.empty()) return {};
    const std::size_t number = x.size() * y.size();
    if (x.size() > detail::most_vectors || y.size() > detail::most_vectors || number > detail::most_vectors)
      detail::telling_of_lacking_memory([&x, &y] {
        throw error(errc::invalid_argument, "there are " + std::to_string(x.size()) + " by " + std::to_string(y.size()) +
                                                " dots: one call takes up to " + std::to_string(detail::most_vectors));
      });
    for (const auto* const list : {&x, &y})
      for (const parts<T>& one : *list) {
        check_size(one.size());
        for (std::size_t i = 0; i < size(); ++i)
          if (one[i].count != x[0][i].count) detail::throw_different_lengths(x[0][i].count, one[i].count);
      }
    return detail::telling_of_lacking_memory([this, &x, &y] {
      std::vector<onefold_range_part> all;
      all.reserve(x.size() * y.size() * size());
      for (const parts<T>& one : x)
        for (const parts<T>& other : y)
          for (std::size_t i = 0; i < size(); ++i)
            all.push_back({detail::c_executor(each_[i]), one[i].data, other[i].data, one[i].count});
      return all;
    });
  }

  template <form What, class T, class... M>
  static detail::form_result_t<What, T, M...> run(const std::vector<onefold_range_part>& all, const options& asked_how,
                                                  M... modifiers) {
    static_assert(detail::counts_on_host<M...>, "the parts say how many elements there are");
    detail::request asked{serial(), element_type_of<T>, What, nullptr, 0, nullptr, true};
    (detail::apply<T>(asked, modifiers), ...);
    if (asked_how.guarantee == guarantee::exact) {
      if constexpr (detail::exact::number_of_states(What, element_type_of<T>) > 0)
        return exact_state<What, T>().add_parts(all.data(), all.size(), asked_how).value(modifiers...);
      else if (!detail::exact::is_exact_in_any_order(What, element_type_of<T>))
        detail::telling_of_lacking_memory([] {
          throw error(
              errc::guarantee_not_met,
              "guarantee::exact cannot be given on several devices: sum, norm1, dot, sum_of_squares, norm2, mean and "
              "mean_variance of float, double and floats of two bytes have an exact state, norm2, mean and mean_variance of "
              "integers, and sum, mean, mean_variance, dot, sum_of_squares and norm2 of complex numbers");
        });
    }
    options how = asked_how;
    if (how.guarantee == guarantee::exact) how.guarantee = guarantee::fixed;
    using A = accumulator_t<T, (detail::is_wide<M, T>() || ...)>;
    range_state<What, T, A> state;
    state.add_parts(all.data(), all.size(), how);
    if constexpr (What == form::mean_variance)
      return state.value(ddof{asked.ddof});
    else
      return state.value();
  }

  template <form What, class T, class R, class... M>
  void run_into(const std::vector<onefold_range_part>& all, const outputs<R>& to, const options& how, M... modifiers) const {
    static_assert(detail::counts_on_host<M...>, "the parts say how many elements there are");
    check_outputs(to);
    constexpr element_type type = element_type_of<T>;
    constexpr bool has_state = detail::exact::number_of_states(What, type) > 0;
    constexpr auto what = static_cast<std::int32_t>(What);
    detail::request asked{serial(), type, What, nullptr, 0, nullptr, true};
    (detail::apply<T>(asked, modifiers), ...);
    const std::uint32_t flags = asked.wide ? ONEFOLD_WIDE : 0U;
    options wishes = how;
    const bool exactly = how.guarantee == guarantee::exact;
    if (exactly && !has_state && detail::exact::is_exact_in_any_order(What, type)) wishes.guarantee = guarantee::fixed;
    if (!exactly || wishes.guarantee == guarantee::fixed) {
      if (put(type, &what, 1, flags, asked.ddof, all, to, wishes)) return;
    } else if (has_state) {
      const std::vector<void*> places = places_of(to);
      if (is_done(detail::with_c_options(how, [this, &all, &places, &flags, &asked](const onefold_options* asked_for) {
            return onefold_exact_put_parts(static_cast<std::int32_t>(type), what, flags, asked.ddof, all.data(), size(),
                                           places.data(), asked_for);
          })))
        return;
    }
    const R found = run<What, T>(all, how, modifiers...);
    store_values(&found, 1, to);
  }
  // In the order of the streams, without a wait; or nothing, where the host has to put parts together.
  template <class R>
  [[nodiscard]] bool put(element_type type, const std::int32_t* forms, std::size_t results, std::uint32_t flags, std::int64_t ddof,
                         const std::vector<onefold_range_part>& all, const outputs<R>& to, const options& how) const {
    const std::vector<void*> places = places_of(to);
    return is_done(
        detail::with_c_options(how, [this, &type, &forms, &results, &flags, &ddof, &all, &places](const onefold_options* wishes) {
          return onefold_range_put_parts(static_cast<std::int32_t>(type), forms, results, flags, ddof, all.data(), size(),
                                         places.data(), wishes);
        }));
  }
  static bool is_done(int status) {
    if (status == ONEFOLD_UNSUPPORTED) return false;
    detail::check_status(status);
    return true;
  }
  template <class R>
  [[nodiscard]] std::vector<void*> places_of(const outputs<R>& to) const {
    return detail::telling_of_lacking_memory([this, &to] {
      std::vector<void*> each;
      each.reserve(size());
      for (std::size_t i = 0; i < size(); ++i) each.push_back(to[i]);
      return each;
    });
  }

  std::vector<executor> each_;
};

/// Dots of several vectors with several others, of vectors in parts: result [i * columns + j] is the dot of x[i] with y[j]. At most 128; of no vectors there is
/// none.
/// Cost      all dots of a GPU's parts are under way before one is waited for, each read by itself; on CPUs a dot at a time. Exact ones are a call each.
[[nodiscard]] inline std::vector<double> multi_dot(const devices& where, const std::vector<parts<double>>& x,
                                                   const std::vector<parts<double>>& y, const options& how = {}) {
  return where.dots(x, y, how);
}
[[nodiscard]] inline std::vector<float> multi_dot(const devices& where, const std::vector<parts<float>>& x,
                                                  const std::vector<parts<float>>& y, const options& how = {}) {
  return where.dots(x, y, how);
}
/// The same, stored by each executor from its address on: rows times columns results.
inline void multi_dot_into(const devices& where, const std::vector<parts<double>>& x, const std::vector<parts<double>>& y,
                           const outputs<double>& to, const options& how = {}) {
  where.dots_into(x, y, to, how);
}
inline void multi_dot_into(const devices& where, const std::vector<parts<float>>& x, const std::vector<parts<float>>& y,
                           const outputs<float>& to, const options& how = {}) {
  where.dots_into(x, y, to, how);
}

}  // namespace onefold
