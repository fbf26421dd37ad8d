#pragma once
/// @file states.hpp  Reductions with operators of the caller's over ranks: a tree of states that goes on within calls of the library's. For mpi.hpp; decision 0047.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/own_calls.hpp>
#include <onefold/maybe.hpp>
#include <onefold/mpi/distribution.hpp>
#include <onefold/own_range_state.hpp>
#include <onefold/reduce.hpp>

namespace onefold {
namespace detail {

namespace ranks {

/// 1 more than an operator of the library's is called by, or 0: of two of the caller's nothing tells ranks whether they are the same.
template <class Op>
inline constexpr std::uint64_t number_of_operator = 0;
template <class Op>
inline constexpr std::uint64_t number_of_operator<operator_function<Op>> = 1 + static_cast<std::uint64_t>(Op::id);
/// 1 more than an element type's number, or 0 of a type of the caller's.
template <class V>
constexpr std::uint64_t number_of_type() {
  if constexpr (is_element<V>)
    return 1 + static_cast<std::uint64_t>(element_type_of<V>);
  else
    return 0;
}

/// One reduction with an operator of the caller's, as a tree of states sees it.
class state_part {
 public:
  state_part() = default;
  state_part(const state_part&) = delete;
  state_part& operator=(const state_part&) = delete;
  virtual ~state_part() = default;
  /// Equal where ranks ask for the same.
  [[nodiscard]] virtual std::uint64_t signature() const noexcept = 0;
  /// Throws where this rank's call cannot be.
  virtual void check(const distribution& of, const options& how) const = 0;
  /// Makes the state of this rank's values.
  virtual void reduce(const distribution& of, const executor& where, const options& how) = 0;
  [[nodiscard]] virtual std::vector<std::byte> bytes() const = 0;
  /// Puts the state of the ranks that follow behind.
  virtual void append(const std::byte* bytes, std::size_t size) = 0;
  /// Whether the caller has said where the result goes, and whether there is one: not where all values are absent and there is no initial value.
  [[nodiscard]] virtual bool has_place() const noexcept = 0;
  [[nodiscard]] virtual bool has_result() const noexcept = 0;
  /// The result of all ranks' values.
  [[nodiscard]] virtual std::size_t result_bytes() const noexcept = 0;
  virtual void conclude(std::byte* to) const = 0;
  /// Stores what conclude() has made where the caller wants it.
  virtual void store(const std::byte* result) const = 0;
};

/// Throws where this rank's `count` values cannot be reduced along a tree of states. `what`: how errors call the operator.
inline void check_states(const distribution& of, const options& how, std::uint64_t count, const char* what, bool has_init) {
  if (!of.is_layout)
    throw error(errc::guarantee_not_met,
                std::string(what) + " has no exact result, and a communicator knows no order: make a layout");
  if (how.guarantee == guarantee::exact)
    throw error(errc::guarantee_not_met, std::string(what) + " has no exact result: leave the guarantee away");
  if (count > std::uint64_t{1} << 62) throw error(errc::invalid_argument, "the number of indices is negative");
  if (count != of.count)
    throw error(errc::invalid_argument, "the layout has " + std::to_string(of.count) +
                                            " elements on this rank, and the reduction " + std::to_string(count) +
                                            ": make a layout for each distribution");
  if (of.total == 0 && !has_init) throw error(errc::invalid_argument, nothing_to_reduce);
}

/// F and Op are references where what is called outlives the call, else what holds it. Store takes the result.
template <class Space, class F, class Op, class Init, class Store, bool OnDevice = false>
class typed_state_part final : public state_part {
  using returned = value_traits<value_at_t<Space, std::remove_reference_t<F>>>;

 public:
  using value_type = typename returned::type;
  using state =
      own_range_state<std::conditional_t<returned::can_be_absent, maybe<value_type>, value_type>, std::remove_reference_t<Op>&>;

  /// @param what    how errors call the operator
  /// @param number  equal where ranks call the same
  template <class G, class P>
  typed_state_part(const Space& space, G&& f, std::uint64_t other_count, P&& op, const Init& init, Store store,
                   const char* what = number_of_operator<std::decay_t<Op>> != 0 ? "a reduction with an initial value"
                                                                                : "an operator of your own",
                   int number = 0)
      : space_(space),
        f_(std::forward<G>(f)),
        other_count_(other_count),
        op_(std::forward<P>(op)),
        init_(init),
        store_(std::move(store)),
        what_(what),
        number_(number) {
    check_value_type<value_type>();
  }

  [[nodiscard]] std::uint64_t signature() const noexcept override {
    const std::uint64_t values = sizeof(value_type) * 8 + (returned::can_be_absent ? 4 : 0) + (has_init ? 2 : 0);
    return number_of_operator<std::decay_t<Op>> << 40 | number_of_type<value_type>() << 32 | values << 12 |
           static_cast<std::uint64_t>(number_);
  }
  void check(const distribution& of, const options& how) const override {
    check_states(of, how, space_.size(), what_, has_init);
    if (space_.size() != other_count_) throw_different_lengths(space_.size(), other_count_);
  }
  void reduce(const distribution& of, const executor& where, const options& how) override {
    state_.emplace(of.begin, op_);
    state_->template add<Space, std::remove_reference_t<F>&, OnDevice>(where, space_, f_, how);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const override { return state_->bytes(); }
  void append(const std::byte* bytes, std::size_t size) override { state_->append(state::from_bytes(bytes, size, op_)); }
  [[nodiscard]] std::size_t result_bytes() const noexcept override { return sizeof(value_type); }
  [[nodiscard]] bool has_place() const noexcept override { return store_.to != nullptr; }
  [[nodiscard]] bool has_result() const noexcept override {
    return has_init || is_built_in_operator<std::decay_t<Op>> || state_->has_value();
  }
  void conclude(std::byte* to) const override {
    value_type value;
    if constexpr (has_init)
      value = state_->value(static_cast<value_type>(init_));
    else
      value = state_->value();
    std::memcpy(to, static_cast<const void*>(&value), sizeof(value));
  }
  void store(const std::byte* result) const override {
    value_type value;
    std::memcpy(static_cast<void*>(&value), result, sizeof(value));
    store_(value);
  }

 private:
  static constexpr bool has_init = !std::is_same_v<Init, no_init>;

  Space space_;
  F f_;
  std::uint64_t other_count_;
  Op op_;
  Init init_;
  Store store_;
  const char* what_;
  int number_;
  std::optional<state> state_;
};

/// The states of one or several reductions with operators of the caller's, from all ranks to the results: along a binomial tree to rank 0, each to a rank that has
/// those of all ranks between; rank 0 makes the results and sends them, along the same tree to all, or to the root. One message for each edge and direction.
///
///   rank  0 <- 1    2 <- 3    4        a rank sends when it has what comes from the right, so every state is put behind that of the ranks before it
///         0 <------ 2         4
///         0 <---------------- 4
///
/// On every rank the same messages are sent, whatever goes wrong on some of them: a message says so, and has no states then. They have a tag of their
/// own for each tree, so that several may be under way and go on in any order. Nothing is combined by MPI, and so a rank gets on only within calls of the
/// library's: advance().
class state_tree final : public driven {
 public:
  /// What a rank says of itself, as a status: it asks for other reductions than this one; it has been told to give up.
  static constexpr std::int32_t different_calls = -1;
  static constexpr std::int32_t given_up = -2;
  /// What rank 0 says of all: there is no value.
  static constexpr std::int32_t no_value = -3;

  explicit state_tree(distribution& of) noexcept : of_(of) {}
  ~state_tree() override { abandon(); }

  /// Ahead of what may fail on this rank alone: memory, and the number of the tree, which is counted on all ranks.
  void prepare(const std::vector<state_part*>& parts, int root) {
    tag_ = first_tag + static_cast<int>(of_.trees++ % tags);
    root_ = root;
    parts_ = parts;
    of_.under_way.reserve(of_.under_way.size() + 1);
    sent_.clear();
    sent_.reserve(2 + 32);  // to the rank before; to one for each doubling of the ranks
    signature_ = of_.total + 1;
    result_.resize(sizeof(result_header));
    for (const state_part* each : parts_) {
      signature_ = signature_ * 1000003 + each->signature();
      result_.resize(result_.size() + each->result_bytes());
    }
    failure_ = nullptr;
    coming_ = MPI_REQUEST_NULL;
  }
  /// With the parts' states of this rank's values, unless `status` says that it, or another that has told it, has failed.
  void start(std::int32_t status, int rank) noexcept {
    status_ = status;
    rank_ = rank;
    step_ = 1;
    stage_ = stage::gathers;
    of_.under_way.push_back(this);
    advance();
  }

  /// Whether all that this rank sends is sent, and all it needs has come.
  [[nodiscard]] bool is_through() const noexcept { return stage_ == stage::through; }
  void advance() noexcept override { go_on(false); }
  /// Until this tree is through. The others that are under way here go on meanwhile: a rank may wait for one of them before it comes to this.
  void wait() noexcept {
    while (!is_through()) {
      if (of_.under_way.size() == 1) {
        go_on(true);
      } else {
        of_.advance_all();
        std::this_thread::yield();
      }
    }
  }
  /// Where MPI has failed: what is under way may never end.
  void abandon() noexcept {
    stage_ = stage::through;
    of_.under_way.erase(std::remove(of_.under_way.begin(), of_.under_way.end(), this), of_.under_way.end());
  }

  /// This rank's own failure; of another's where there should be a result.
  void throw_what_has_failed() {
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (gets_result() && status_ != 0) refuse();
  }
  void store_results() const {
    const std::byte* next = result_.data() + sizeof(result_header);
    for (const state_part* each : parts_) {
      each->store(next);
      next += each->result_bytes();
    }
  }

 private:
  enum class stage { gathers, hears, tells, sends, through };
  // Ahead of the states, a number of bytes and as many of each; without them where a rank has failed.
  struct state_header {
    std::uint64_t signature;
    std::int32_t status;  // not 0: there is no result, and
    std::int32_t rank;    // this one knows why
  };
  // Ahead of the results; without them where there are none.
  struct result_header {
    std::int32_t status;
    std::int32_t rank;
  };
  static constexpr int first_tag = 2 * sizes;   // behind those of layouts and heads
  static constexpr std::uint32_t tags = 16384;  // and more than are under way at a time; every MPI has tags up to 32767

  [[nodiscard]] bool gets_result() const noexcept { return root_ < 0 || root_ == of_.on.rank(); }

  template <class Body>
  void attempt(const Body& body) {
    if (status_ != 0) return;
    keep_what_is_thrown(body, [this](std::int32_t status) {
      failure_ = std::current_exception();
      status_ = status;
      rank_ = of_.on.rank();
    });
  }

  void go_on(bool waits) noexcept {
    try {
      telling_of_lacking_memory([this, &waits] {
        while (takes_a_step(waits)) {
        }
      });
    } catch (...) {  // MPI has failed, or memory for a message lacks
      if (failure_ == nullptr) failure_ = std::current_exception();
      abandon();
    }
  }
  // Whether there is another step now.
  bool takes_a_step(bool waits) {
    const int me = of_.on.rank(), all = of_.on.size();
    switch (stage_) {
      case stage::gathers:
        if (step_ >= all) {
          conclude();
          stage_ = stage::tells;
        } else if (me % (2 * step_) != 0) {
          send_states(me - step_);
          stage_ = gets_result() ? stage::hears : stage::sends;
        } else {
          if (me + step_ < all) {
            if (!receive(me + step_, waits)) return false;
            take_states(me + step_);
          }
          step_ *= 2;
        }
        return true;
      case stage::hears:
        if (!receive(root_ < 0 ? me - step_ : 0, waits)) return false;
        take_results();
        stage_ = stage::tells;
        return true;
      case stage::tells:  // in a tree of all ranks the largest first
        if (root_ < 0)
          for (int step = step_ / 2; step > 0; step /= 2)
            if (me + step < all) send(result_, me + step);
        if (root_ > 0 && me == 0) send(result_, root_);
        stage_ = stage::sends;
        return true;
      case stage::sends: {
        int done = 1;
        if (waits)
          check(MPI_Waitall(static_cast<int>(sent_.size()), sent_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        else
          check(MPI_Testall(static_cast<int>(sent_.size()), sent_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
        if (done != 0) abandon();
        return false;
      }
      case stage::through:
        break;
    }
    return false;
  }

  void send(const std::vector<std::byte>& bytes, int to) {
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag_, of_.on.comm(),
                    &sent_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
  // A message whose size the sender knows alone: whether it is here.
  bool receive(int from, bool waits) {
    if (coming_ == MPI_REQUEST_NULL) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status about;
      int is_there = 1, size = 0;
      if (waits)
        check(MPI_Mprobe(from, tag_, of_.on.comm(), &message, &about), "MPI_Mprobe");
      else
        check(MPI_Improbe(from, tag_, of_.on.comm(), &is_there, &message, &about), "MPI_Improbe");
      if (is_there == 0) return false;
      check(MPI_Get_count(&about, MPI_BYTE, &size), "MPI_Get_count");
      received_.resize(static_cast<std::size_t>(size));
      check(MPI_Imrecv(received_.data(), size, MPI_BYTE, &message, &coming_), "MPI_Imrecv");
    }
    int done = 1;
    if (waits)
      check(MPI_Wait(&coming_, MPI_STATUS_IGNORE), "MPI_Wait");
    else
      check(MPI_Test(&coming_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  void send_states(int to) {
    states_.resize(sizeof(state_header));
    attempt([this] {
      for (const state_part* each : parts_) {
        const std::vector<std::byte> bytes = each->bytes();
        const std::uint64_t size = bytes.size();
        const auto* const first = reinterpret_cast<const std::byte*>(&size);
        states_.insert(states_.end(), first, first + sizeof(size));
        states_.insert(states_.end(), bytes.begin(), bytes.end());
      }
    });
    if (status_ != 0) states_.resize(sizeof(state_header));
    const state_header header{signature_, status_, rank_};
    std::memcpy(states_.data(), &header, sizeof(header));
    send(states_, to);
  }
  void take_states(int from) {
    state_header header;
    std::memcpy(&header, received_.data(), sizeof(header));
    if (status_ != 0) return;
    if (header.status != 0 || header.signature != signature_) {
      status_ = header.status != 0 ? header.status : different_calls;
      rank_ = header.status != 0 ? header.rank : from;
      return;
    }
    attempt([this] {
      const std::byte* next = received_.data() + sizeof(header);
      for (state_part* each : parts_) {
        std::uint64_t size = 0;
        std::memcpy(&size, next, sizeof(size));
        next += sizeof(size);
        each->append(next, static_cast<std::size_t>(size));
        next += size;
      }
    });
  }
  void conclude() {
    for (const state_part* each : parts_)
      if (status_ == 0 && !each->has_result()) status_ = no_value;  // an error of those that ask for it, and not of this rank's
    attempt([this] {
      std::byte* next = result_.data() + sizeof(result_header);
      for (const state_part* each : parts_) {
        each->conclude(next);
        next += each->result_bytes();
      }
    });
    if (status_ != 0) result_.resize(sizeof(result_header));
    const result_header header{status_, rank_};
    std::memcpy(result_.data(), &header, sizeof(header));
  }
  void take_results() {
    result_.swap(received_);
    result_header header;
    std::memcpy(&header, result_.data(), sizeof(header));
    status_ = header.status;
    rank_ = header.rank;
  }
  [[noreturn]] void refuse() const {
    telling_of_lacking_memory([this] {
      if (status_ == no_value) throw error(errc::invalid_argument, nothing_to_reduce);
      const std::string rank = "rank " + std::to_string(rank_);
      if (status_ == given_up) throw error(errc::communication_failed, rank + " has given the reduction up");
      throw error(errc::communication_failed, status_ == different_calls
                                                  ? "the ranks do not ask for the same reductions: the types or options of " +
                                                        rank + " are not those of the ranks before it"
                                                  : rank + " could not take part in the reduction (" +
                                                        std::string(name(static_cast<errc>(status_))) +
                                                        "): what is thrown there says why");
    });
    throw_out_of_memory();  // not reached
  }

  distribution& of_;
  std::vector<state_part*> parts_;
  int root_ = -1;
  int tag_ = first_tag;
  std::uint64_t signature_ = 0;
  stage stage_ = stage::through;
  int step_ = 1;
  std::int32_t status_ = 0;
  int rank_ = -1;
  std::exception_ptr failure_;
  std::vector<std::byte> states_;  // what is sent towards rank 0
  std::vector<std::byte> received_;
  std::vector<std::byte> result_;
  MPI_Request coming_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> sent_;
};

/// Where a result goes as it is.
template <class R>
struct result_store {
  R* to;
  void operator()(const R& found) const { *to = found; }
};

// Where values may be absent, forms that have more than one number: an operator on values and their indices in the whole array. What all ranks begin with has
// an index that no value has.
template <form What, class Space, class F>
using result_of_some = result_of_form<What, typename values_of<Space, std::remove_reference_t<F>>::type, false>;
template <form What, class Space, class F>
struct values_of_some {
  using function = std::remove_reference_t<F>;
  using aware = absent_aware<What, typename values_of<Space, function>::type>;
  Space space;
  F f;
  std::uint64_t begin;
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE auto operator()(std::uint64_t i) {
    return typename aware::template values<Space, function>{space, f, begin}(i);
  }
};

}  // namespace ranks

template <form What, class Space, class F>
struct function_inside<ranks::values_of_some<What, Space, F>> : function_inside<std::decay_t<F>> {};

namespace ranks {

template <class Fold>
struct combine_states_of {
  using state = typename Fold::accumulator;
  ONEFOLD_HOST_DEVICE state operator()(const state& a, const state& b) const { return Fold::combine(a, b); }
};
template <form What, class Aware, class R>
struct store_of_some {
  R* to;
  void operator()(const typename Aware::state& found) const {
    const auto none = Aware::fold::neutral();
    if constexpr (What == form::argminmax) {
      if (found.min.index == none.min.index) refuse();
    } else if constexpr (has_index(What)) {
      if (found.index == none.index) refuse();
    }
    *to = Aware::result(found);
  }
  [[noreturn]] static void refuse() {
    telling_of_lacking_memory([] { throw error(errc::invalid_argument, no_index); });
    throw_out_of_memory();  // not reached
  }
};
template <form What, bool OnDevice, class Space, class F>
using typed_part_of_some =
    typed_state_part<index_line, values_of_some<What, Space, F>,
                     combine_states_of<typename values_of_some<What, Space, F>::aware::fold>,
                     typename values_of_some<What, Space, F>::aware::state,
                     store_of_some<What, typename values_of_some<What, Space, F>::aware, result_of_some<What, Space, F>>, OnDevice>;
/// F is a reference where f outlives the call. Made in place: `auto part = part_of_some<..>(..)` moves nothing.
template <form What, bool OnDevice, class F, class Space, class G>
typed_part_of_some<What, OnDevice, Space, F> part_of_some(const Space& space, G&& f, std::uint64_t other_count, std::uint64_t begin,
                                                          result_of_some<What, Space, F>* result) {
  using values = values_of_some<What, Space, F>;
  using T = typename values_of<Space, std::remove_reference_t<F>>::type;
  return typed_part_of_some<What, OnDevice, Space, F>(
      index_line{space.size()}, values{space, std::forward<G>(f), begin}, other_count,
      combine_states_of<typename values::aware::fold>{}, values::aware::fold::neutral(), {result},
      "an extremum of values that may be absent",
      1 + static_cast<int>(What) * element_type_count + static_cast<int>(element_type_of<T>));
}

}  // namespace ranks
}  // namespace detail
}  // namespace onefold
