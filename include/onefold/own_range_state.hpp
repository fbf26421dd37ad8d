#pragma once
/// @file own_range_state.hpp  The state of a range of values that are reduced with an operator of the caller's: as range_state, with the bits that reduce() and
/// transform_reduce() have on one core.
///
///   own_range_state<vec3, farther> mine(first);  // values of the caller's type; x[0] has the global index `first`
///   mine.add(openmp(), x);
///   mine.add(openmp(), n, [&](std::uint64_t i) { return p[i] - q[i]; });  // the next n, without an array
///   std::vector<std::byte> bytes = mine.bytes();
///
///   own_range_state<vec3, farther> all;  // begins at 0
///   all.append(own_range_state<vec3, farther>::from_bytes(bytes));
///   vec3 far = all.value();
///
///   own_range_state<maybe<double>, op::sum> some(first);  // an operator of the library's, where it has to be told whether any value is there
///
/// Value     as in transform.hpp: trivially copyable, with a default constructor, of at most 64 bytes; maybe<T> where values of type T may be absent.
/// Op        as in transform.hpp: commutes, and is associative up to rounding. A copy of it is kept; Op& refers to one that outlives the state. It and f are
///           called from several threads at once where the executor has several, and under the default floating-point environment.
///           Or one of onefold::op on elements: the result is that of the form of that name, also where no value is there.
/// Bits      docs/order.md. States of equal ranges have equal bytes if values have no padding, and equal bits of NaN.
/// Errors    those of transform_reduce(), what op and f throw as what it is; invalid_argument where ranges are no neighbours, bytes are no state of values of this
///           size, or a result is asked for that is not there yet. The state then is what it was. On cuda() f and Op are compiled by nvcc, in a translation unit with
///           device.cuh; else it is refused (unsupported).
/// Cost      of adding that of a reduction and about a microsecond for each of the subtrees, up to two for each doubling of the range; of appending a
///           microsecond; of bytes a nanosecond for each: less than two tiles of values, 8 KiB, and some nodes.
/// Threads   one state is used by one thread at a time; several may read it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/box.hpp>
#include <onefold/detail/callback.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/own.hpp>
#include <onefold/detail/own_range_header.hpp>
#include <onefold/detail/own_subtree.hpp>
#include <onefold/detail/range_parts.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/detail/unit.hpp>
#include <onefold/executor.hpp>
#include <onefold/maybe.hpp>
#include <onefold/options.hpp>
#include <onefold/order.hpp>
#include <onefold/transform.hpp>

namespace onefold {

namespace detail {
ONEFOLD_BEGIN_ARITHMETIC

/// Stores the values of a function as a reduction that makes nothing of them: on the library's terms, its floating-point environment for one.
template <class Space, class F, class Item, class Value>
class own_copy {
 public:
  own_copy(const Space& space, F& f, std::uint64_t from, Item* to)
      : code_{this, sizeof(Value), 1, sizeof(Value), groups, level, conclude}, space_(space), f_(f), from_(from), to_(to) {}
  own_copy(const own_copy&) = delete;
  own_copy& operator=(const own_copy&) = delete;
  [[nodiscard]] const own_code* code() const noexcept { return &code_; }
  void run(const request& what, const options& how) const { thrown_.run(what, how); }

 private:
  static int groups(void* context, std::uint64_t first, std::uint64_t count, void* states) {
    auto& own = *static_cast<own_copy*>(context);
    try {
      *static_cast<unsigned char*>(states) = 0;  // fewer values than a tile has are one group
      store_values(own.to_ + first, own.f_, own.space_, own.from_ + first, count);
      return 0;
    } catch (...) {
      own.thrown_.keep();
      return 1;
    }
  }
  static int level(void*, void*, std::uint64_t) { return 0; }
  static int conclude(void*, const void*, std::uint64_t, void*) { return 0; }

  own_code code_;
  const Space& space_;
  F& f_;
  std::uint64_t from_;
  Item* to_;
  mutable thrown thrown_;
};

ONEFOLD_END_ARITHMETIC
}  // namespace detail

ONEFOLD_BEGIN_ARITHMETIC

template <class Value, class Op>
class own_range_state {
 public:
  using value_type = typename detail::value_traits<Value>::type;

 private:
  static constexpr bool can_be_absent = detail::value_traits<Value>::can_be_absent;
  using item = std::conditional_t<can_be_absent, maybe<value_type>, value_type>;
  static_assert(!std::is_same_v<item, bool>,
                "a state keeps values side by side, which std::vector does not do with bool: take std::uint8_t");
  using node_value = maybe<value_type>;
  static constexpr bool is_of_library = is_built_in_operator<std::decay_t<Op>>;
  static_assert(!is_of_library || is_full_element<value_type>, "the library's operators take elements");
  using called = std::conditional_t<is_of_library, detail::operator_function<std::decay_t<Op>>, Op>;
  using operation_type = std::remove_reference_t<called>;
  struct holder {
    called op;
  };
  static constexpr std::uint64_t tile = order::tile_rows * static_cast<std::uint64_t>(order::lanes_of_bytes(sizeof(value_type)));
  static constexpr std::uint64_t most_elements =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / sizeof(value_type);

 public:
  /// Of no values. The first one that is added has the index `begin`.
  explicit own_range_state(std::uint64_t begin = 0) : own_range_state(begin, default_operator()) {}
  own_range_state(std::uint64_t begin, Op op) : own_range_state(held(static_cast<Op&&>(op)), begin) {}

  /// Adds the `count` values at x: they follow those that are there.
  template <bool OnDevice = detail::on_device<operation_type>>
  own_range_state& add(const executor& where, const value_type* x, std::uint64_t count, const options& how = {}) {
    detail::identity_function as_they_are;
    detail::function_of_arrays<detail::identity_function&, value_type> values{as_they_are, {x}};
    return add_values<OnDevice>(where, detail::index_line{count}, values, how);
  }
  /// Adds a range's.
  template <class R, bool OnDevice = detail::on_device<operation_type>,
            ONEFOLD_WHERE(std::is_same_v<detail::element_of<const R>, value_type>)>
  own_range_state& add(const executor& where, const R& x, const options& how = {}) {
    return add<OnDevice>(where, std::data(x), static_cast<std::uint64_t>(std::size(x)), how);
  }
  /// Adds what f gives for 0 .. n - 1, or the indices of a box, wherever the state ends. It is called once for each.
  template <class S, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<operation_type>,
            ONEFOLD_WHERE(detail::is_index_space<S>)>
  own_range_state& add(const executor& where, const S& over, F&& f, const options& how = {}) {
    return add_values<OnDevice>(where, detail::as_space(over), f, how);
  }

  /// Adds the values of a state that begins where this one ends.
  own_range_state& append(const own_range_state& next) {
    if (end_ != next.begin_)
      refuse([this, &next] {
        return "the state ends at element " + std::to_string(end_) + " and the other one begins at " + std::to_string(next.begin_) +
               ": append neighbours, in the order of their elements";
      });
    detail::telling_of_lacking_memory([this, &next] { put_behind(next); });
    return *this;
  }

  /// Whether there is a value: not of no elements, nor where all are absent.
  [[nodiscard]] bool has_value() const noexcept {
    for (const node& each : nodes_)
      if (each.state.present) return true;
    if constexpr (can_be_absent) {
      for (const std::vector<item>* some : {&head_, &tail_})
        for (const item& each : *some)
          if (each.present) return true;
      return false;
    } else {
      return !head_.empty() || !tail_.empty();
    }
  }

  /// The result. Requires that the range begins at 0, and, with an operator of the caller's, has a value.
  [[nodiscard]] value_type value() const { return value_with(detail::no_init{}); }
  /// The result of op(init, ..), or init where there is no value.
  [[nodiscard]] value_type value(const value_type& init) const { return value_with(init); }

  /// The index of the first element, and that of the one that would be added next.
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  /// The state as bytes: values as they lie in memory, so they are read by machines that have the same there.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    return detail::telling_of_lacking_memory([this] {
      std::vector<std::byte> all(size_of_bytes());
      std::byte* next = all.data();
      const header first = header_of(begin_, end_);
      std::memcpy(next, &first, sizeof(first));
      next += sizeof(first);
      for (const item& each : head_) next = put(each, next);
      for (const node& each : nodes_) next = put(each.state, next);
      for (const item& each : tail_) next = put(each, next);
      const std::uint64_t checksum = detail::checksum_of(all.data(), all.size() - sizeof(std::uint64_t));
      std::memcpy(next, &checksum, sizeof(checksum));
      return all;
    });
  }
  /// The state that bytes() has given, of values of this type: what type that was is not in them, but its size.
  static own_range_state from_bytes(const void* bytes, std::size_t size) { return from_bytes(bytes, size, default_operator()); }
  static own_range_state from_bytes(const std::vector<std::byte>& bytes) {
    return from_bytes(bytes.data(), bytes.size(), default_operator());
  }
  static own_range_state from_bytes(const std::vector<std::byte>& bytes, Op op) {
    return from_bytes(bytes.data(), bytes.size(), static_cast<Op&&>(op));
  }
  static own_range_state from_bytes(const void* bytes, std::size_t size, Op op) {
    own_range_state made(0, static_cast<Op&&>(op));
    if (bytes == nullptr && size != 0)
      detail::telling_of_lacking_memory([] { throw error(errc::null_pointer, "the place of the bytes is a null pointer"); });
    detail::telling_of_lacking_memory([&made, &bytes, &size] { made.read(static_cast<const std::byte*>(bytes), size); });
    return made;
  }

 private:
  // The value of a complete subtree of 2^height tiles, of which the first has the number `first`.
  struct node {
    std::uint64_t first;
    int height;
    node_value state;
  };
  using header = detail::own_range_header;
  static header header_of(std::uint64_t begin, std::uint64_t end) noexcept {
    return header::of(sizeof(value_type), can_be_absent, begin, end);
  }
  static constexpr std::size_t value_bytes = sizeof(value_type) + (can_be_absent ? 1 : 0);

  static Op default_operator() {
    static_assert(!std::is_pointer<std::decay_t<Op>>::value, "a pointer to a function is none until it is given: pass it behind");
    return Op();
  }
  static holder held([[maybe_unused]] Op&& op) {
    if constexpr (is_of_library)
      return {};
    else
      return {static_cast<Op&&>(op)};
  }
  own_range_state(holder op, std::uint64_t begin) : op_{static_cast<called&&>(op.op)}, begin_(begin), end_(begin) {
    detail::check_value_type<value_type>();
    check_end(begin, 0);
  }

  template <class Words>
  [[noreturn]] static void refuse(const Words& words) {
    detail::telling_of_lacking_memory([&words] { throw error(errc::invalid_argument, words()); });
    detail::throw_out_of_memory();  // not reached
  }
  static void check_end(std::uint64_t begin, std::uint64_t count) {
    if (begin > most_elements || count > most_elements - begin)
      refuse([&count, &begin] {
        return "a count of " + std::to_string(count) + " elements behind " + std::to_string(begin) +
               " cannot be: is it a negative number?";
      });
  }

  [[nodiscard]] detail::range_parts parts() const noexcept { return {tile, begin_, end_}; }

  template <class Code, class F>
  static void run(const executor& where, const Code& code, const detail::own_code* what_runs, std::uint64_t count, void* tree_value,
                  const F& f, const options& how) {
    alignas(std::max_align_t) unsigned char no_result[detail::most_value_bytes];
    detail::request what{where, element_type::f64, form::sum, nullptr, count, no_result, true};
    what.own = what_runs;
    what.tree_value = tree_value;
    const detail::arrays_of<F> arrays(f);
    arrays.tell(what);
    code.run(what, how);
  }

  template <bool OnDevice, class Space, class F>
  own_range_state& add_values(const executor& where, const Space& space, F& f, const options& how) {
    using returned = detail::value_traits<detail::value_at_t<Space, F>>;
    static_assert(std::is_same_v<typename returned::type, value_type>,
                  "the function returns values of another type than the state's");
    static_assert(can_be_absent || !returned::can_be_absent, "for values that may be absent the state is one of maybe<T>");
    const std::uint64_t count = space.size();
    check_end(end_, count);
    if (count == 0) return *this;
    detail::with_report_of_all(how, [this, &count, &where, &space, &f](const options& wishes) {
      detail::telling_of_lacking_memory([this, &count, &where, &space, &f, &wishes] {
        own_range_state made(op_, end_);
        made.end_ = end_ + count;
        if constexpr (OnDevice) {
          if (detail::is_for_cuda(where))
            made.read_made_values(detail::device_ranges<OnDevice>::of_own(where, space, f, op_.op));
          else
            made.read_values(where, space, f, wishes);
        } else {
          made.read_values(where, space, f, wishes);
        }
        put_behind(made);
      });
    });
    return *this;
  }

  // All of a state's parts, as a GPU makes them.
  template <class Made>
  void read_made_values(Made&& made) {
    const detail::range_parts its = parts();
    const std::uint64_t first = its.nodes_begin(), behind = its.nodes_end();
    made.check(end_ - begin_);
    using kept = typename std::decay_t<Made>::kept;  // or what may not be absent, where others in the state may
    std::vector<kept> head(static_cast<std::size_t>(first - begin_)), tail(static_cast<std::size_t>(end_ - behind));
    std::vector<node_value> nodes(made.number_of_nodes(first / tile, behind / tile));
    void* const heads[] = {head.data()};
    void* const tails[] = {tail.data()};
    made.values(0, head.size(), heads);
    made.nodes(first - begin_, first / tile, behind / tile, behind - first, nodes.data());
    made.values(behind - begin_, tail.size(), tails);
    made.wait();
    head_.assign(head.begin(), head.end());
    tail_.assign(tail.begin(), tail.end());
    std::size_t next = 0;
    its.for_nodes([this, &nodes, &next](std::uint64_t number, int height) { nodes_.push_back({number, height, nodes[next++]}); });
  }
  // The same on CPUs.
  template <class Space, class F>
  void read_values(const executor& where, const Space& space, F& f, options how) {
    report* const wanted = std::exchange(how.report, nullptr);
    const detail::range_parts its = parts();
    const std::uint64_t first = its.nodes_begin(), behind = its.nodes_end();
    int highest = -1;
    its.for_nodes([&highest](std::uint64_t, int height) { highest = height > highest ? height : highest; });
    const auto copy = [this, &how, &highest, &wanted, &space, &f, &where](std::vector<item>& to, std::uint64_t from,
                                                                          std::uint64_t end) {
      if (from == end) return;
      how.report = highest < 0 ? wanted : nullptr;
      to.resize(static_cast<std::size_t>(end - from));
      detail::own_copy<Space, F, item, value_type> values(space, f, from - begin_, to.data());
      run(where, values, values.code(), end - from, nullptr, f, how);
    };
    copy(head_, begin_, first);
    detail::own_reduction<Space, F, operation_type> all(space, f, op_.op);
    its.for_nodes([this, &how, &highest, &wanted, &all, &where, &f](std::uint64_t number, int height) {
      how.report = height == highest ? wanted : nullptr;
      const detail::own_subtree from(*all.code(), number * tile - begin_);
      node made{number, height, {}};
      run(where, all, from.code(), tile << height, &made.state, f, how);
      nodes_.push_back(made);
    });
    copy(tail_, behind, end_);
  }

  // Values that are kept: combined on the library's terms, its floating-point environment for one.
  template <class T, class Init>
  value_type reduce_kept(const T* x, std::uint64_t count, const Init& init, node_value* tree_value) const {
    detail::identity_function as_they_are;
    detail::function_of_arrays<detail::identity_function&, T> values{as_they_are, {x}};
    const detail::index_line line{count};
    detail::own_reduction<detail::index_line, decltype(values), operation_type, Init, detail::canonical_conclusion,
                          sizeof(value_type)>
        all(line, values, op_.op, init);
    if (tree_value == nullptr) {
      value_type result;
      detail::request what{serial(), element_type::f64, form::sum, nullptr, count, &result, true};
      what.own = all.code();
      all.run(what, {});
      return result;
    }
    const detail::own_subtree from(*all.code(), 0);
    run(serial(), all, from.code(), count, tree_value, values, {});
    return {};
  }
  [[nodiscard]] node_value tree_of(const std::vector<item>& kept) const {
    node_value found;
    static_cast<void>(reduce_kept(kept.data(), kept.size(), detail::no_init{}, &found));
    return found;
  }
  [[nodiscard]] node_value combined(const node_value& left, const node_value& right) const {
    const node_value both[] = {left, right};  // of two values the tree is op(left, right)
    node_value found;
    static_cast<void>(reduce_kept(both, 2, detail::no_init{}, &found));
    return found;
  }

  void push(std::vector<node>& to, node next) const {
    while (!to.empty() && to.back().height == next.height && (next.first >> next.height) % 2 == 1) {
      next = {to.back().first, next.height + 1, combined(to.back().state, next.state)};
      to.pop_back();
    }
    to.push_back(next);
  }

  // A state that begins where this one ends. Nothing is changed where that fails.
  void put_behind(const own_range_state& next) {
    std::vector<item> head = head_, tail = tail_;
    std::vector<node> nodes = nodes_;
    const bool in_first_tile = end_ < parts().first_border();
    std::vector<item>& open = in_first_tile ? head : tail;
    open.insert(open.end(), next.head_.begin(), next.head_.end());
    const std::uint64_t border = next.parts().nodes_begin();
    if (!in_first_tile && !next.head_.empty() && border % tile == 0) {
      push(nodes, {border / tile - 1, 0, tree_of(tail)});
      tail.clear();
    }
    for (const node& each : next.nodes_) push(nodes, each);
    tail.insert(tail.end(), next.tail_.begin(), next.tail_.end());
    const std::uint64_t end = next.end_;  // of this state, perhaps
    head_ = std::move(head);
    nodes_ = std::move(nodes);
    tail_ = std::move(tail);
    end_ = end;
  }

  template <class Init>
  [[nodiscard]] value_type value_with(const Init& init) const {
    if (begin_ != 0)
      refuse([this] {
        return "a state that begins at element " + std::to_string(begin_) +
               " has no result: append it to that of the elements before";
      });
    node_value found;
    if (!tail_.empty()) found = tree_of(tail_);
    // A node without a right sibling goes up to the level where it is one itself.
    for (std::size_t i = nodes_.size(); i > 0; --i)
      found = found.present ? combined(nodes_[i - 1].state, found) : nodes_[i - 1].state;
    if constexpr (is_of_library && std::is_same_v<Init, detail::no_init>) {
      if (!found.present) return std::decay_t<Op>::template identity<value_type>();
    }
    return reduce_kept(&found, 1, init, nullptr);
  }

  // --- as bytes: docs/order.md ---

  [[nodiscard]] std::size_t size_of_bytes() const noexcept {
    return sizeof(header) + (head_.size() + nodes_.size() + tail_.size()) * value_bytes + sizeof(std::uint64_t);
  }
  static std::byte* put(const node_value& from, std::byte* to) noexcept {
    if constexpr (can_be_absent) *to++ = static_cast<std::byte>(from.present ? 1 : 0);
    if (from.present)
      std::memcpy(to, static_cast<const void*>(&from.value), sizeof(value_type));
    else
      std::memset(to, 0, sizeof(value_type));
    return to + sizeof(value_type);
  }
  static const std::byte* get(const std::byte* from, node_value& to) {
    to.present = true;
    if constexpr (can_be_absent) {
      if (*from > std::byte{1}) header::refuse_damaged();
      to.present = *from++ == std::byte{1};
    }
    if (to.present)
      std::memcpy(static_cast<void*>(&to.value), from, sizeof(value_type));
    else if (std::any_of(from, from + sizeof(value_type), [](std::byte each) { return each != std::byte{0}; }))
      header::refuse_damaged();
    return from + sizeof(value_type);
  }
  void read(const std::byte* from, std::size_t size) {
    const header first = header::read(from, size, header_of(0, 0), most_elements);
    const detail::range_parts its{tile, first.begin, first.end};
    const std::uint64_t behind_head = its.nodes_begin(), behind_nodes = its.nodes_end();
    std::size_t values = static_cast<std::size_t>(behind_head - first.begin + (first.end - behind_nodes));
    its.for_nodes([&values](std::uint64_t, int) { ++values; });
    if (size != sizeof(first) + values * value_bytes + sizeof(std::uint64_t)) header::refuse_damaged();
    const std::byte* next = from + sizeof(first);
    const auto get_items = [&next](std::vector<item>& to, std::uint64_t count) {
      for (; count > 0; --count) {
        node_value each;
        next = get(next, each);
        if constexpr (can_be_absent)
          to.push_back(each);
        else
          to.push_back(each.value);
      }
    };
    begin_ = first.begin;
    end_ = first.end;
    get_items(head_, behind_head - first.begin);
    its.for_nodes([this, &next](std::uint64_t number, int height) {
      node each{number, height, {}};
      next = get(next, each.state);
      nodes_.push_back(each);
    });
    get_items(tail_, first.end - behind_nodes);
  }

  mutable holder op_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::vector<item> head_;  // of the tile that `begin` cuts
  std::vector<node> nodes_;
  std::vector<item> tail_;  // of the tile that `end` cuts, unless that is the head's
};

ONEFOLD_END_ARITHMETIC
}  // namespace onefold
