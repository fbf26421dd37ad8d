#pragma once
/// @file function_values.hpp  What a function of the caller's gives a reduction over ranks, in the place of an array: on CPUs, and in a GPU's memory where nvcc has
/// compiled it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <onefold/detail/device_code.hpp>
#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/present_moments.hpp>
#include <onefold/detail/subtrees.hpp>
#include <onefold/reduce.hpp>

namespace onefold {
namespace detail {
namespace ranks {

/// Values of a function of the caller's, instead of an array.
class function_values {
 public:
  function_values() = default;
  function_values(const function_values&) = delete;
  function_values& operator=(const function_values&) = delete;
  virtual ~function_values() = default;
  /// Ahead of each reduction: forgets the one before. Throws where `where` cannot call the function.
  virtual void begin(const executor& where) = 0;
  /// Throws where f reads arrays that the executor cannot.
  virtual void check_arrays(const executor&, std::uint64_t) const {}
  [[nodiscard]] virtual const value_source* source() const noexcept = 0;
  /// How many arrays the values at cut tiles are, and what gives those.
  [[nodiscard]] virtual int kept_arrays() const noexcept { return 1; }
  [[nodiscard]] virtual const value_source* kept_source() const noexcept { return source(); }
  /// Not null: what reduces the values where it makes them, on a GPU; and how that makes exact sums of them.
  [[nodiscard]] virtual const onefold_made_values* made() const noexcept { return nullptr; }
  [[nodiscard]] virtual const device_fold* exact_on_gpu() const noexcept { return nullptr; }
  /// Not null: what makes the values of trees, instead of the form.
  [[nodiscard]] virtual const own_code* code() const noexcept { return nullptr; }
  /// Whether trees of kept values are made by add_kept(), as onefold_message_add_own() makes them.
  [[nodiscard]] virtual bool adds_kept() const noexcept { return false; }
  [[nodiscard]] virtual int add_kept(void*, std::size_t, const void* const*, std::uint64_t, std::uint64_t, std::uint64_t) const {
    return ONEFOLD_UNSUPPORTED;
  }
  /// Throws where a call that was given source() has returned an error; what f has thrown as what it is.
  virtual void check(int status) const = 0;
  /// Whether any value was not absent.
  [[nodiscard]] virtual bool any_present() const noexcept = 0;
  /// How many values are not, and what says that for a source's context, where they are counted.
  [[nodiscard]] virtual std::uint64_t present() const noexcept { return 0; }
  using counter = std::uint64_t (*)(void*);
  [[nodiscard]] virtual counter tells_present() const noexcept { return nullptr; }
};

/// Throws where the executor cannot read the arrays that a function of the request's reads, of one element or more.
inline void check_arrays_of_function(request what) {
  if (what.array_count == 0) return;
  static constexpr const char* roles[] = {"input", "second input", "third input"};
  for (int i = 0; i < what.array_count; ++i)
    if (what.arrays[i].data == nullptr)
      telling_of_lacking_memory([&i, &what] {
        throw error(errc::null_pointer, std::string("the ") + roles[i] + " pointer is null but there are " +
                                            std::to_string(what.count) + " elements to read");
      });
  // What else there is to say of them, of a reduction that reads nothing.
  static constexpr own_code nothing{nullptr,
                                    most_value_bytes,
                                    1,
                                    1,
                                    [](void*, std::uint64_t, std::uint64_t, void*) { return 0; },
                                    [](void*, void*, std::uint64_t) { return 0; },
                                    [](void*, const void*, std::uint64_t, void*) { return 0; }};
  unsigned char unused = 0;
  what.count = 1;
  what.output = &unused;
  what.own = &nothing;
  run(what, {});
}

/// F is a reference where f outlives the call, else what holds it. Counts: as in block_callback.
template <class Space, class F, bool Counts = false>
class values_of_function : public function_values {
 public:
  using callback = block_callback<Space, std::remove_reference_t<F>, Counts>;
  using element = typename callback::element;

  template <class G>
  values_of_function(const Space& space, G&& f, element instead) : space_(space), f_(std::forward<G>(f)), instead_(instead) {
    values_of_function::begin(serial());
  }
  void begin(const executor&) override { now_.emplace(space_, f_, instead_); }
  void check_arrays(const executor& where, std::uint64_t count) const override {
    const arrays_of<std::remove_reference_t<F>> arrays(f_);
    request what{where, element_type::f64, form::sum, nullptr, count, nullptr, true};
    arrays.tell(what);
    if (count > 0) check_arrays_of_function(what);
  }
  [[nodiscard]] const value_source* source() const noexcept override { return now_->source(); }
  [[nodiscard]] int kept_arrays() const noexcept override { return callback::results; }
  void check(int status) const override { now_->check(status); }
  [[nodiscard]] bool any_present() const noexcept override { return now_->any_present(); }
  [[nodiscard]] std::uint64_t present() const noexcept override { return now_->present(); }
  [[nodiscard]] counter tells_present() const noexcept override {
    if constexpr (Counts)
      return &callback::tell_present;
    else
      return nullptr;
  }
  [[nodiscard]] const Space& space() const noexcept { return space_; }

 protected:
  [[nodiscard]] F& function() noexcept { return f_; }
  [[nodiscard]] const std::remove_reference_t<F>& function() const noexcept { return f_; }
  [[nodiscard]] element instead() const noexcept { return instead_; }

 private:
  Space space_;
  F f_;
  element instead_;
  std::optional<callback> now_;
};

/// The values of a function that nvcc has compiled, which cuda() reduces where it makes them.
///
/// Ranges  makes what a GPU has of a call: device_ranges' of_form() or of_operators(), and the row of an exact sum
template <class Ranges, class Base>
class values_with_gpu final : public Base {
 public:
  using Base::Base;
  void begin(const executor& where) override {
    Base::begin(where);
    gpu_.reset();
    if (is_for_cuda(where)) gpu_ = std::make_unique<on_gpu>(where, *this);
  }
  void check_arrays(const executor& where, std::uint64_t count) const override {
    if (gpu_ == nullptr) return Base::check_arrays(where, count);
    gpu_->made.check_arrays(count);
    if constexpr (Base::callback::can_be_absent && Ranges::asks_what_is_absent)
      gpu_->present = Ranges::present(where, Base::space(), Base::function());
  }
  [[nodiscard]] bool any_present() const noexcept override { return gpu_ == nullptr ? Base::any_present() : gpu_->present > 0; }
  [[nodiscard]] std::uint64_t present() const noexcept override { return gpu_ == nullptr ? Base::present() : gpu_->present; }
  [[nodiscard]] const onefold_made_values* made() const noexcept override {
    return gpu_ == nullptr ? nullptr : gpu_->made.values();
  }
  [[nodiscard]] const device_fold* exact_on_gpu() const noexcept override { return gpu_ == nullptr ? nullptr : gpu_->exact.row(); }
  void check(int status) const override { gpu_ == nullptr ? Base::check(status) : gpu_->made.check(status); }

 private:
  // Neither of the two can be moved.
  struct on_gpu {
    on_gpu(const executor& where, values_with_gpu& of)
        : made(Ranges::made(where, of.space(), of.function(), of.instead())), exact(Ranges::exact(of.space(), of.function())) {}
    decltype(Ranges::made(std::declval<const executor&>(), std::declval<values_with_gpu&>().space(),
                          std::declval<values_with_gpu&>().function(), std::declval<values_with_gpu&>().instead())) made;
    decltype(Ranges::exact(std::declval<values_with_gpu&>().space(), std::declval<values_with_gpu&>().function())) exact;
    std::uint64_t present = 0;  // where that is asked for: of nodes nobody can tell
  };
  std::unique_ptr<on_gpu> gpu_;
};
/// Whether there is a value.
template <class F>
struct is_there {
  mutable F f;
  ONEFOLD_ANY_SIDE
  template <class... X>
  ONEFOLD_HOST_DEVICE bool operator()(const X&... x) const {
    return as_maybe(f(x...)).present;
  }
};
template <class F>
is_there<F> presence_of(const F& f) {
  return {f};
}
template <class F, class... T>
function_of_arrays<is_there<std::decay_t<F>>, T...> presence_of(const function_of_arrays<F, T...>& f) {
  return {{f.f}, f.arrays};
}

}  // namespace ranks

template <class F>
struct function_inside<ranks::is_there<F>> : function_inside<F> {};

namespace ranks {

/// Of a form.
template <form What, class T, bool Wide>
struct form_on_gpu {
  static constexpr bool asks_what_is_absent = What == form::mean || hides_that_all_are_absent<What, T>;
  template <class Space, class F, bool OnDevice = true>
  static auto made(const executor& where, const Space& space, F& f, T instead) {
    return device_ranges<OnDevice>::template of_form<What, T, Wide>(where, space, f, instead);
  }
  /// How many values are there: a reduction of its own, which asks f for all of them, and is waited for.
  template <class Space, class F, bool OnDevice = true>
  static std::uint64_t present(const executor& where, const Space& space, const F& f) {
    std::uint64_t found = 0;
    auto is_present = presence_of(f);
    run_values<OnDevice, form::count>(where, space, is_present, &found, true, options{});
    return found;
  }
  template <class Space, class F, bool OnDevice = true>
  static auto exact(const Space& space, F& f) {
    if constexpr (!exact::has_state(What, element_type_of<T>))
      return no_device_side{};
    else if constexpr (Wide)
      return device_side<OnDevice>::template of_form<What>(space, f, accumulate_as<accumulator_t<T, true>>);
    else
      return device_side<OnDevice>::template of_form<What>(space, f);
  }
};
/// Of several values, an operator for each.
template <class... Ops>
struct operators_on_gpu {
  static constexpr bool asks_what_is_absent = false;
  template <class Space, class F, class T, bool OnDevice = true>
  static auto made(const executor& where, const Space& space, F& f, T) {
    return device_ranges<OnDevice>::template of_operators<Ops...>(where, space, f);
  }
  template <class Space, class F>
  static no_device_side exact(const Space&, F&) {
    return {};
  }
};
template <bool OnDevice, class Ranges, class Base>
struct with_gpu_if {
  using type = Base;
};
template <class Ranges, class Base>
struct with_gpu_if<true, Ranges, Base> {
  using type = values_with_gpu<Ranges, Base>;
};

/// mean_variance of values of which some may be absent: trees of counts, means and deviations, and at cut tiles values, each with a flag of the same type.
template <class Space, class F>
class moments_of_function : public values_of_function<Space, F, true> {
  using base = values_of_function<Space, F, true>;
  using called = std::remove_reference_t<F>;

 public:
  using element = typename base::element;

  template <class G>
  moments_of_function(const Space& space, G&& f, element instead) : base(space, std::forward<G>(f), instead) {
    moments_of_function::begin(serial());
  }
  void begin(const executor& where) override {
    base::begin(where);
    code_.emplace(this->space(), this->function(), 0);
    kept_failures_.emplace();
  }
  [[nodiscard]] int kept_arrays() const noexcept override { return 2; }
  [[nodiscard]] const value_source* kept_source() const noexcept override { return &kept_source_; }
  [[nodiscard]] const own_code* code() const noexcept override { return code_->code(); }
  [[nodiscard]] bool adds_kept() const noexcept override { return true; }
  [[nodiscard]] int add_kept(void* message, std::size_t which, const void* const* arrays, std::uint64_t first, std::uint64_t count,
                             std::uint64_t total) const override {
    kept_values values{static_cast<const element*>(arrays[0]), static_cast<const element*>(arrays[1])};
    const index_line line{count};
    const present_moments<index_line, kept_values, false> moments(line, values, 0);
    return onefold_message_add_own(message, which, c_executor(serial()), moments.code(), 0, first, count, total, nullptr);
  }
  void check(int status) const override {
    if (code_->failures().has_one()) return code_->failures().check(status);
    if (kept_failures_->has_one()) return kept_failures_->check(status);
    base::check(status);
  }

 private:
  struct kept_values {
    const element* values;
    const element* flags;
    maybe<element> operator()(std::uint64_t i) const { return {values[i], flags[i] != element(0)}; }
  };
  static int fill(void* context, std::uint64_t first, std::uint64_t count, void* const* arrays) {
    auto& own = *static_cast<moments_of_function*>(context);
    auto* const values = static_cast<element*>(arrays[0]);
    auto* const flags = static_cast<element*>(arrays[1]);
    try {
      for_rows(own.function(), own.space(), first, count, [values, flags](std::uint64_t k, auto length, const auto& at) {
        for (decltype(length) c = 0; c < length; ++c) {
          const maybe<element> here = as_maybe(at(c));
          values[k + static_cast<std::uint64_t>(c)] = here.present ? here.value : element(0);
          flags[k + static_cast<std::uint64_t>(c)] = here.present ? element(1) : element(0);
        }
      });
      return 0;
    } catch (...) {
      own.kept_failures_->keep();
      return 1;
    }
  }

  value_source kept_source_{this, fill};
  std::optional<present_moments<Space, called, false>> code_;
  std::optional<thrown> kept_failures_;
};

/// The same of a function that nvcc has compiled: on cuda() trees are made there, and what is kept comes from there.
template <bool Wide, bool OnDevice, class Space, class F>
class moments_with_gpu final : public moments_of_function<Space, F> {
  using base = moments_of_function<Space, F>;

 public:
  using base::base;
  using typename base::element;
  void begin(const executor& where) override {
    base::begin(where);
    gpu_.reset();
    if (is_for_cuda(where)) gpu_ = std::make_unique<on_gpu>(where, *this);
  }
  void check_arrays(const executor& where, std::uint64_t count) const override {
    gpu_ == nullptr ? base::check_arrays(where, count) : gpu_->nodes.check_arrays(count);
  }
  [[nodiscard]] const onefold_made_values* made() const noexcept override { return gpu_ == nullptr ? nullptr : &gpu_->made; }
  [[nodiscard]] const device_fold* exact_on_gpu() const noexcept override { return gpu_ == nullptr ? nullptr : gpu_->exact.row(); }
  [[nodiscard]] const own_code* code() const noexcept override { return gpu_ == nullptr ? base::code() : nullptr; }
  void check(int status) const override { gpu_ == nullptr ? base::check(status) : gpu_->nodes.check(status); }

 private:
  // What is kept, fewer values than a tile has, and nodes come with whether they are there.
  struct on_gpu {
    on_gpu(const executor& where, moments_with_gpu& of)
        : nodes(nodes_of(where, of)),
          exact(exact_of(of)),
          pairs(static_cast<std::size_t>(order::tile_rows * order::lanes<element>)),
          found(most_nodes) {}
    on_gpu(const on_gpu&) = delete;
    on_gpu& operator=(const on_gpu&) = delete;

    static auto nodes_of(const executor& where, moments_with_gpu& of) {
      return device_ranges<OnDevice>::template of_present_moments<element, Wide>(where, of.space(), of.function());
    }
    static auto exact_of(moments_with_gpu& of) {
      return form_on_gpu<form::mean_variance, element, Wide>::exact(of.space(), of.function());
    }
    static int fill(void* context, std::uint64_t first, std::uint64_t count, void* const* to) {
      auto& own = *static_cast<on_gpu*>(context);
      own.values = static_cast<element*>(to[0]);
      own.flags = static_cast<element*>(to[1]);
      own.asked = static_cast<std::size_t>(count);
      void* const place = own.pairs.data();
      const onefold_made_values& from = *own.nodes.values();
      return from.fill(from.context, first, count, &place);
    }
    static int reduce(void* context, std::uint64_t index, std::uint64_t first_tile, std::uint64_t end_tile, std::uint64_t count,
                      void* states) {
      auto& own = *static_cast<on_gpu*>(context);
      own.states = static_cast<unsigned char*>(states);
      own.reduced = subtrees_of_tiles(first_tile, end_tile).count();
      const onefold_made_values& from = *own.nodes.values();
      return from.reduce(from.context, index, first_tile, end_tile, count, own.found.data());
    }
    static int wait(void* context) {
      auto& own = *static_cast<on_gpu*>(context);
      const onefold_made_values& from = *own.nodes.values();
      const std::size_t values = std::exchange(own.asked, 0), nodes = std::exchange(own.reduced, 0);
      if (const int failed = from.wait(from.context); failed != 0) return failed;
      for (std::size_t i = 0; i < values; ++i) {
        own.values[i] = own.pairs[i].present ? own.pairs[i].value : element(0);
        own.flags[i] = own.pairs[i].present ? element(1) : element(0);
      }
      for (std::size_t i = 0; i < nodes; ++i) {
        const moments node = own.found[i].present ? own.found[i].value : moments{};
        std::memcpy(own.states + i * sizeof(node), &node, sizeof(node));
      }
      return 0;
    }

    decltype(nodes_of(std::declval<const executor&>(), std::declval<moments_with_gpu&>())) nodes;
    decltype(exact_of(std::declval<moments_with_gpu&>())) exact;
    std::vector<maybe<element>> pairs;
    element* values = nullptr;
    element* flags = nullptr;
    std::size_t asked = 0;
    static constexpr std::size_t most_nodes = 128;  // one of each height on both sides
    std::vector<maybe<moments>> found;
    unsigned char* states = nullptr;
    std::size_t reduced = 0;
    onefold_made_values made{this, fill, reduce, wait};
  };
  std::unique_ptr<on_gpu> gpu_;
};
template <bool Wide, bool OnDevice, class Space, class F>
struct source_of_present_moments {
  using type = moments_of_function<Space, F>;
};
template <bool Wide, class Space, class F>
struct source_of_present_moments<Wide, true, Space, F> {
  using type = moments_with_gpu<Wide, true, Space, F>;
};

/// What gives a form the values of a function: those of means that may be absent are counted.
template <form What, bool Wide, bool OnDevice, class Space, class F>
struct source_of_form {
  static constexpr bool can_be_absent = value_traits<value_at_t<Space, std::remove_reference_t<F>>>::can_be_absent;
  using base = values_of_function<Space, F, can_be_absent && What == form::mean>;
  using type = typename with_gpu_if<OnDevice, form_on_gpu<What, typename base::element, Wide>, base>::type;
};
template <bool Wide, bool OnDevice, class Space, class F>
struct source_of_form<form::mean_variance, Wide, OnDevice, Space, F> {
  static constexpr bool can_be_absent = value_traits<value_at_t<Space, std::remove_reference_t<F>>>::can_be_absent;
  using base = values_of_function<Space, F>;
  using type = typename std::conditional_t<
      can_be_absent, source_of_present_moments<Wide, OnDevice, Space, F>,
      with_gpu_if<OnDevice, form_on_gpu<form::mean_variance, typename base::element, Wide>, base>>::type;
};
template <form What, bool Wide, bool OnDevice, class Space, class F>
using source_of_form_t = typename source_of_form<What, Wide, OnDevice, Space, F>::type;

}  // namespace ranks
}  // namespace detail
}  // namespace onefold
