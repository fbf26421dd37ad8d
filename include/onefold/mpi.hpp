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
/// Forms     all with a call of their own (reduce.hpp), of all element types, and reduce, transform_reduce and count_if (transform.hpp).
/// Functions of the index: `n`, or a box, says how many values this rank has, and f is asked for the indices that its own call names, 0 .. n - 1 or the
///           box's. The index in the whole array is rows.begin() + i, and so is that in a result. On the CPU's executors. f is called once for each
///           index, before the call or start() returns. What it throws is thrown on its rank, and the others get communication_failed.
///           Where values may be absent argmin and its like and minmax go as operators of the caller's do.
/// Operators of the caller's own: values of up to 64 bytes, the CPU's executors, and a layout. Of calls with one, or with an initial value, of which rank 0's
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
///           for each other: calls that not all ranks make, an operator of the caller's on some alone, roots, element sizes or guarantees that differ, complex numbers beside real ones, lack of memory for the messages
///           themselves. Who catches an error of his own ahead of a call says so with batch::give_up(), or calls MPI_Abort().
/// Cost      of a layout some collective operations, and O(1) memory on each rank. Of a call the local reduction, and an MPI_Allreduce of 256 bytes
///           to 2 KiB; with operators of the caller's up to log2 P messages each way instead, one for all of a batch, of less than 8 KiB and some values for each
///           operator. Where ranges are cut within tiles (is_aligned()) each rank sends less than a tile of elements to the rank before, while it
///           reduces its own: a tile has 4 KiB, of complex numbers in norm1, norm_inf and mean_variance 8.
/// Threads   calls on one layout are made by one thread at a time. MPI_THREAD_FUNNELED suffices for calls by the main thread; executors' threads
///           do not call MPI.
/// Lifetime  a layout or communicator duplicates the one it is made of, and outlives the batches on it. All ranks destroy it, or MPI_Finalize comes
///           first.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/order.hpp>
#include <onefold/own_range_state.hpp>
#include <onefold/reduce.hpp>
#include <onefold/transform.hpp>

namespace onefold {

namespace detail {
namespace ranks {

/// Throws onefold::error where MPI has returned an error.
inline void check(int mpi_status, const char* function) {
  if (mpi_status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(mpi_status, text, &length);
  telling_of_lacking_memory([&] {
    throw error(errc::communication_failed,
                std::string(function) + " has failed: " + std::string(text, length > 0 ? static_cast<std::size_t>(length) : 0));
  });
}

/// Calls keep(status), with what `body` throws as the current exception: it is thrown again when the other ranks have learned the status.
template <class Body, class Keep>
void keep_what_is_thrown(const Body& body, const Keep& keep) {
  try {
    telling_of_lacking_memory(body);
  } catch (const error& problem) {
    keep(problem.code() == errc::communication_failed ? ONEFOLD_CALLBACK_FAILED : static_cast<std::int32_t>(problem.code()));
  } catch (...) {
    keep(ONEFOLD_CALLBACK_FAILED);  // a function of the caller's has thrown it
  }
}

inline bool is_finalized() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

/// The operator of MPI's. All elements that it is called with are one message.
inline void merge_messages(void* left, void* right, int* count, MPI_Datatype*) {
  if (*count == 1) onefold_message_merge(left, right);
}

/// A communicator of onefold's own, on which no message meets one of the caller's, and what belongs to it.
class context {
 public:
  explicit context(MPI_Comm of) {
    check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    check(MPI_Op_create(&merge_messages, 0, &merge_), "MPI_Op_create");
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context() {
    if (is_finalized()) return;
    for (auto& made : types_) MPI_Type_free(&made.second);
    if (merge_ != MPI_OP_NULL) MPI_Op_free(&merge_);
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] MPI_Op merge() const noexcept { return merge_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Of so many bytes as one element, so that no MPI cuts a message.
  [[nodiscard]] MPI_Datatype type_of(std::size_t bytes) {
    for (const auto& made : types_)
      if (made.first == bytes) return made.second;
    types_.reserve(types_.size() + 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "MPI_Type_contiguous");
    types_.emplace_back(bytes, type);
    check(MPI_Type_commit(&types_.back().second), "MPI_Type_commit");
    return types_.back().second;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Op merge_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::vector<std::pair<std::size_t, MPI_Datatype>> types_;
};

/// Elements of 1, 2, 4, 8 and 16 bytes have tiles of their own.
inline constexpr int sizes = 5;
constexpr int size_index(std::size_t element_bytes) noexcept {
  int index = 0;
  while (index + 1 < sizes && std::size_t{1} << index < element_bytes) ++index;
  return index;
}
constexpr std::uint64_t tile_of(int size) noexcept {
  return static_cast<std::uint64_t>(order::tile_rows) * static_cast<std::uint64_t>(order::lanes_of_bytes(std::size_t{1} << size));
}

/// Who sends what to whom before the messages of elements of one size can be made: the first tile that a rank's range touches belongs to the rank
/// that has the tile's first element.
struct plan {
  struct sender {
    int rank;
    std::uint64_t count;
  };
  bool is_ragged = false;       ///< of any rank
  std::uint32_t values = 1;     ///< most subtrees of the tiles of neighbouring ranks
  int owner = -1;               ///< of the tile that this rank's begin cuts
  std::uint64_t head = 0;       ///< elements for it
  std::uint64_t tail = 0;       ///< elements of this rank's own in its last tile, if others have some of it too
  std::vector<sender> senders;  ///< to this rank, in their order: at most a tile's elements
};

/// What goes on only while this rank is in a call of the library's.
class driven {
 public:
  driven() = default;
  driven(const driven&) = delete;
  driven& operator=(const driven&) = delete;
  virtual ~driven() = default;
  /// Goes on as far as it can without waiting. What fails is kept for whoever waits for it.
  virtual void advance() noexcept = 0;
};

/// How the elements of one array lie on the ranks, or that nothing is known of it.
struct distribution {
  context on;
  std::vector<driven*> under_way;  // started here, and not through yet
  std::uint32_t trees = 0;         // of states, so far: on all ranks the same number
  bool starts_trees = false;       // one was started without waiting for it: on all ranks the same, unlike whether one is under way
  bool is_layout = false;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  plan plans[sizes];

  explicit distribution(MPI_Comm comm) : on(comm) {}

  void advance_all() noexcept {
    for (std::size_t i = under_way.size(); i > 0; --i) under_way[i - 1]->advance();  // one that is through is taken out
  }
  /// Until MPI is done with these requests. Meanwhile what is under way goes on, which another rank may wait for before it comes here.
  int wait_for(int requests_made, MPI_Request* requests) noexcept {
    if (requests_made == 0) return MPI_SUCCESS;
    int done = 0;
    while (!under_way.empty()) {
      const int status = MPI_Testall(requests_made, requests, &done, MPI_STATUSES_IGNORE);
      if (status != MPI_SUCCESS || done != 0) return status;
      advance_all();
      std::this_thread::yield();
    }
    return MPI_Waitall(requests_made, requests, MPI_STATUSES_IGNORE);
  }

  /// Collective.
  void make_layout(std::uint64_t elements, const std::uint64_t* given_begin) {
    is_layout = true;
    count = elements;
    check(MPI_Exscan(&count, &begin, 1, MPI_UINT64_T, MPI_SUM, on.comm()), "MPI_Exscan");
    if (on.rank() == 0) begin = 0;
    check(MPI_Allreduce(&count, &total, 1, MPI_UINT64_T, MPI_SUM, on.comm()), "MPI_Allreduce");

    int has_border[sizes], owner[sizes];  // the last rank before this one that has a tile's first element has this rank's
    for (int s = 0; s < sizes; ++s) has_border[s] = begin_of_tiles(s, begin) < begin_of_tiles(s, begin + count) ? on.rank() : -1;
    check(MPI_Exscan(has_border, owner, sizes, MPI_INT, MPI_MAX, on.comm()), "MPI_Exscan");

    // What the ranks must agree on: for each size the most subtrees that a range has at its ends, and whether one is cut.
    constexpr std::uint64_t most = std::uint64_t{1} << 60;
    struct agreed {
      int head[sizes], tail[sizes], is_cut[sizes];
      int has_too_many, is_elsewhere;
    } local, all;
    local.has_too_many = count > most || begin > most ? 1 : 0;
    local.is_elsewhere = given_begin != nullptr && count > 0 && *given_begin != begin ? 1 : 0;
    for (int s = 0; s < sizes; ++s) {
      plan& of = plans[s];
      const std::uint64_t tile = tile_of(s), first = begin_of_tiles(s, begin), end = begin_of_tiles(s, begin + count);
      const std::uint64_t tiles = total / tile + 1;
      std::uint64_t above = 1;  // a power of two that is no less
      while (above < tiles) above *= 2;
      local.head[s] = __builtin_popcountll((above - first) & (above - 1));
      local.tail[s] = __builtin_popcountll(end);
      // A tile that is completed with others' elements comes by itself, behind the tiles before it.
      if (first < end && (begin + count) % tile != 0) local.tail[s] = std::max(local.tail[s], __builtin_popcountll(end - 1));
      local.is_cut[s] = count > 0 && begin % tile != 0 ? 1 : 0;
      if (local.is_cut[s] == 0) continue;
      of.owner = owner[s];
      of.head = std::min(count, tile - begin % tile);
    }
    check(MPI_Allreduce(&local, &all, sizeof(agreed) / sizeof(int), MPI_INT, MPI_MAX, on.comm()), "MPI_Allreduce");
    if (all.has_too_many != 0 || total > most)
      throw error(errc::invalid_argument, "a layout has at most 2^60 elements: is a count negative?");
    if (all.is_elsewhere != 0)
      throw error(
          errc::invalid_argument,
          local.is_elsewhere == 0
              ? std::string(
                    "the ranges of the ranks are not those of rank after rank, from 0 on: renumber the ranks with MPI_Comm_split")
              : "the range of this rank begins at " + std::to_string(*given_begin) + " and those of the ranks before it end at " +
                    std::to_string(begin) + ": renumber the ranks with MPI_Comm_split");
    for (int s = 0; s < sizes; ++s) {
      plans[s].values = static_cast<std::uint32_t>(std::max(1, all.head[s] + all.tail[s]));
      plans[s].is_ragged = all.is_cut[s] != 0;
      if (plans[s].is_ragged) find_senders(s);
    }
  }

 private:
  // The first tile that begins at or behind an index.
  static std::uint64_t begin_of_tiles(int size, std::uint64_t index) { return (index + tile_of(size) - 1) / tile_of(size); }

  void find_senders(int s) {
    plan& of = plans[s];
    MPI_Request sent = MPI_REQUEST_NULL;
    if (of.owner >= 0) check(MPI_Isend(&of.head, 1, MPI_UINT64_T, of.owner, s, on.comm(), &sent), "MPI_Isend");
    const std::uint64_t first = begin_of_tiles(s, begin), end = begin_of_tiles(s, begin + count);
    std::uint64_t lacking = first < end ? std::min(end * tile_of(s), total) - (begin + count) : 0;
    while (lacking > 0) {
      std::uint64_t elements = 0;
      MPI_Status from;
      check(MPI_Recv(&elements, 1, MPI_UINT64_T, MPI_ANY_SOURCE, s, on.comm(), &from), "MPI_Recv");
      lacking -= elements;
      of.senders.push_back({from.MPI_SOURCE, elements});
    }
    if (!of.senders.empty()) of.tail = (begin + count) % tile_of(s);
    std::sort(of.senders.begin(), of.senders.end(), [](const plan::sender& a, const plan::sender& b) { return a.rank < b.rank; });
    check(MPI_Wait(&sent, MPI_STATUS_IGNORE), "MPI_Wait");
  }
};

/// Values of a function of the caller's, instead of an array.
class function_values {
 public:
  function_values() = default;
  function_values(const function_values&) = delete;
  function_values& operator=(const function_values&) = delete;
  virtual ~function_values() = default;
  /// Ahead of each reduction: forgets the one before.
  virtual void begin() = 0;
  /// Throws where f reads arrays that the executor cannot.
  virtual void check_arrays(const executor&, std::uint64_t) const {}
  [[nodiscard]] virtual const value_source* source() const noexcept = 0;
  /// Throws where a call that was given source() has returned an error; what f has thrown as what it is.
  virtual void check(int status) const = 0;
  /// Whether any value was not absent.
  [[nodiscard]] virtual bool any_present() const noexcept = 0;
};

/// F is a reference where f outlives the call, else what holds it.
template <class Space, class F>
class values_of_function final : public function_values {
 public:
  using callback = block_callback<Space, std::remove_reference_t<F>>;
  using element = typename callback::element;

  template <class G>
  values_of_function(const Space& space, G&& f, element instead) : space_(space), f_(std::forward<G>(f)), instead_(instead) {
    begin();
  }
  void begin() override { now_.emplace(space_, f_, instead_); }
  void check_arrays(const executor& where, std::uint64_t count) const override {
    const arrays_of<std::remove_reference_t<F>> arrays(f_);
    request what{where, element_type::f64, form::sum, nullptr, count, nullptr, true};
    arrays.tell(what);
    if (what.array_count == 0 || count == 0) return;
    static constexpr const char* roles[] = {"input", "second input", "third input"};
    for (int i = 0; i < what.array_count; ++i)
      if (what.arrays[i].data == nullptr)
        telling_of_lacking_memory([&] {
          throw error(errc::null_pointer, std::string("the ") + roles[i] + " pointer is null but there are " +
                                              std::to_string(count) + " elements to read");
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
  [[nodiscard]] const value_source* source() const noexcept override { return now_->source(); }
  void check(int status) const override { now_->check(status); }
  [[nodiscard]] bool any_present() const noexcept override { return now_->any_present(); }
  [[nodiscard]] const Space& space() const noexcept { return space_; }

 private:
  Space space_;
  F f_;
  element instead_;
  std::optional<callback> now_;
};

/// A number of indices, which may be wrong: that is found out where the other ranks learn of it.
template <class S>
constexpr auto space_for(const S& over) {
  if constexpr (std::is_integral_v<S>)
    return index_line{static_cast<std::uint64_t>(over)};
  else
    return over;
}

/// One reduction of a batch, or of a function of several values as many.
struct part {
  element_type type;
  onefold::form form;
  bool wide;
  std::int64_t ddof;
  const void* x;
  const void* y;  // of dot
  std::uint64_t count;
  std::uint64_t second_count;  // of y
  void* result;
  function_values* values = nullptr;       // not null: instead of x
  int results = 1;                         // of a function, side by side
  const operation* operators = nullptr;    // reduce_together: one for each
  void (*store_nothing)(void*) = nullptr;  // not null: the result where all values are absent

  [[nodiscard]] std::uint32_t flags() const noexcept { return wide ? ONEFOLD_WIDE : 0U; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return size_of(type); }
  /// Which elements' tiles its own are as long as.
  [[nodiscard]] int tile_size() const noexcept { return size_index(row_bytes_of(type, form)); }
  /// Whether another form of its elements has such tiles.
  [[nodiscard]] bool may_have_tile_size(int size) const noexcept {
    return size == size_index(element_bytes()) || size == size_index(size_of(part_type(type)));
  }
  [[nodiscard]] int arrays() const noexcept { return values != nullptr ? results : form == onefold::form::dot ? 2 : 1; }
  [[nodiscard]] onefold::form form_of_result(int k) const noexcept { return operators == nullptr ? form : form_of(operators[k]); }
  [[nodiscard]] void* place_of_result(int k) const noexcept {
    return static_cast<std::byte*>(result) + static_cast<std::size_t>(k) * result_bytes(type, form_of_result(k), wide);
  }
  [[nodiscard]] bool is_free_of_order() const noexcept {
    for (int k = 0; k < results; ++k)
      if (!exact::is_free_of_order(form_of_result(k), type)) return false;
    return true;
  }
  /// Whether there is an exact result that depends on the order otherwise. Of complex numbers it is that of the parts: of sum, mean and dot one for each.
  [[nodiscard]] bool has_exact_state() const noexcept {
    return is_complex(type) ? exact::has_state_of_parts(form) : exact::has_state(form, type);
  }
  [[nodiscard]] int exact_results() const noexcept {
    return is_complex(type) && exact::has_state_for_each_part(form) ? 2 : results;
  }
  [[nodiscard]] std::size_t exact_words() const noexcept { return exact::kind_of(form, part_type(type)).words(); }
  [[nodiscard]] void* place_of_exact_result(int k) const noexcept {
    return static_cast<std::byte*>(result) + static_cast<std::size_t>(k) * result_bytes(part_type(type), form, wide);
  }
  [[nodiscard]] std::string text() const { return std::string(name(form)) + " of " + std::string(name(type)); }
  /// Of one of its arrays, from an element on.
  [[nodiscard]] const void* array(int k, std::uint64_t from) const noexcept {
    const auto* const all = static_cast<const std::byte*>(k == 0 ? x : y);
    return all == nullptr ? nullptr : all + from * element_bytes();
  }
};

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
  /// The result of all ranks' values.
  [[nodiscard]] virtual std::size_t result_bytes() const noexcept = 0;
  virtual void conclude(std::byte* to) const = 0;
  /// Stores what conclude() has made where the caller wants it.
  virtual void store(const std::byte* result) const = 0;
};

/// F and Op are references where what is called outlives the call, else what holds it. Store takes the result.
template <class Space, class F, class Op, class Init, class Store>
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
                   const char* what = "an operator of your own", int number = 0)
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
    return (sizeof(value_type) * 8 + (returned::can_be_absent ? 4 : 0) + (has_init ? 2 : 0)) * 4096 +
           static_cast<std::uint64_t>(number_);
  }
  void check(const distribution& of, const options& how) const override {
    const std::uint64_t count = space_.size();
    if (!of.is_layout)
      throw error(errc::guarantee_not_met,
                  std::string(what_) + " has no exact result, and a communicator knows no order: make a layout");
    if (how.guarantee == guarantee::exact)
      throw error(errc::guarantee_not_met, std::string(what_) + " has no exact result: leave the guarantee away");
    if (count > std::uint64_t{1} << 62) throw error(errc::invalid_argument, "the number of indices is negative");
    if (count != of.count)
      throw error(errc::invalid_argument, "the layout has " + std::to_string(of.count) +
                                              " elements on this rank, and the reduction " + std::to_string(count) +
                                              ": make a layout for each distribution");
    if (count != other_count_) throw_different_lengths(count, other_count_);
    if (of.total == 0 && !has_init)
      throw error(errc::invalid_argument, "a reduction of no elements with an operator of your own: give it an initial value");
  }
  void reduce(const distribution& of, const executor& where, const options& how) override {
    state_.emplace(of.begin, op_);
    state_->add(where, space_, f_, how);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const override { return state_->bytes(); }
  void append(const std::byte* bytes, std::size_t size) override { state_->append(state::from_bytes(bytes, size, op_)); }
  [[nodiscard]] std::size_t result_bytes() const noexcept override { return sizeof(value_type); }
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
      telling_of_lacking_memory([&] {
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
    attempt([&] {
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
    attempt([&] {
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
    attempt([&] {
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
    telling_of_lacking_memory([&] {
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

/// Several reductions, from the local ones to the results: one message where the order matters or none does, and one of the words of exact
/// sums. Those with operators of the caller's go along a tree of states. On every rank the same calls of MPI follow each other, whatever goes wrong on
/// some of them.
class transfer {
 public:
  explicit transfer(distribution& of) : of_(of), tree_(of) {}
  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;
  ~transfer() { wait_quietly(); }

  std::vector<part> parts;
  std::vector<state_part*> states;                ///< with operators of the caller's
  std::vector<std::unique_ptr<state_part>> kept;  ///< those of them that are a batch's
  executor where = serial();
  int root = -1;          ///< all ranks
  bool gives_up = false;  ///< the next call tells the others that this rank cannot take part

  [[nodiscard]] bool is_root() const noexcept { return root < 0 || root == of_.on.rank(); }
  /// The index of this rank's first element.
  [[nodiscard]] std::uint64_t begin() const noexcept { return of_.begin; }

  /// Forgets the reductions. Those that are under way are waited for.
  void clear() noexcept {
    wait_quietly();
    parts.clear();
    states.clear();
    kept.clear();
  }

  /// Collective, as the following: begins with what this rank does alone, or with its neighbours.
  void run(const options& how) {
    if (of_.starts_trees) {  // a rank that waits in MPI_Allreduce would let no tree go on; and all ranks call that, or MPI_Iallreduce
      start_messages(how);
      return finish();
    }
    unless_mpi_fails([&] {
      prepare(how);
      with_messages([&](const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op) {
        if (root < 0)
          check(MPI_Allreduce(mine, all, count, type, op, of_.on.comm()), "MPI_Allreduce");
        else
          check(MPI_Reduce(mine, all, count, type, op, root, of_.on.comm()), "MPI_Reduce");
      });
      start_tree();
    });
    finish();
  }
  void start(const options& how) {
    if (!states.empty()) of_.starts_trees = true;
    start_messages(how);
  }
  bool test() {
    if (!is_under_way_) return true;
    int done = 1;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    of_.advance_all();
    return done != 0 && tree_.is_through();
  }
  void wait() {
    if (is_under_way_) finish();
  }

 private:
  void start_messages(const options& how) {
    unless_mpi_fails([&] {
      prepare(how);
      with_messages([&](const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op) {
        MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
        if (root < 0)
          check(MPI_Iallreduce(mine, all, count, type, op, of_.on.comm(), &request), "MPI_Iallreduce");
        else
          check(MPI_Ireduce(mine, all, count, type, op, root, of_.on.comm(), &request), "MPI_Ireduce");
      });
      start_tree();
    });
  }

  // What every MPI we know sends without asking the receiver first. Open MPI does up to 4 KiB.
  static constexpr std::size_t chunk_bytes = 3968;
  // Ranks that failed; the sum of their numbers, from 1; signatures, and their squares.
  static constexpr std::size_t guard_words = 4;
  struct head_header {
    std::uint64_t signature;  // of the sender's message
    std::uint64_t bytes;      // behind this
    std::int64_t status;      // what the sender says of itself, if it has failed
    std::int64_t has_failed;
  };

  // What is under way when MPI fails is not waited for: it may never end.
  template <class Body>
  void unless_mpi_fails(const Body& body) {
    if (is_under_way_) throw error(errc::invalid_argument, "the batch is under way: wait for it before it is started again");
    try {
      body();
    } catch (...) {
      requests_.clear();
      tree_.abandon();
      is_under_way_ = false;
      throw;
    }
  }
  void start_tree() {
    if (states.empty()) return;
    // What a rank has failed with itself is neither of the two.
    const std::int32_t status = failed_with_ == ONEFOLD_OK                     ? state_tree::given_up
                                : failed_with_ == ONEFOLD_COMMUNICATION_FAILED ? state_tree::different_calls
                                                                               : failed_with_;
    tree_.start(has_failed() ? status : 0, failed_rank_);
  }

  template <class Body>
  void attempt(const Body& body) {
    if (failure_ == nullptr) keep_what_is_thrown(body, [this](std::int32_t code) { keep_failure(code); });
  }
  void keep_failure(std::int32_t code) noexcept {
    failure_ = std::current_exception();
    failed_with_ = code;
    failed_rank_ = of_.on.rank();
  }

  void prepare(const options& how) {
    telling_of_lacking_memory([&] { make_messages(how); });
    is_under_way_ = true;
    if (gives_up)
      failed_rank_ = of_.on.rank();
    else
      attempt([&] {
        for (const part& each : parts) {
          if (each.values != nullptr) each.values->begin();
          check_part(each, how);
          if (each.values != nullptr) each.values->check_arrays(where, each.count);
        }
        for (const state_part* each : states) each->check(of_, how);
      });
    send_heads();
    attempt_more([&] {
      reduce_all(how);
      for (state_part* each : states) each->reduce(of_, where, how);
    });
    receive_heads();
    attempt_more([&] { tell_presence(); });
    if (has_failed()) say_so();
  }

  // Unless something has failed.
  template <class Body>
  void attempt_more(const Body& body) {
    if (!has_failed()) attempt(body);
  }
  // This rank, or one of those that send to it.
  [[nodiscard]] bool has_failed() const noexcept { return failed_rank_ >= 0; }

  // Memory and headers: nothing has been sent when this fails.
  void make_messages(const options& how) {
    const bool exactly = how.guarantee == guarantee::exact || (!of_.is_layout && !how.guarantee);
    failure_ = nullptr;
    failed_with_ = ONEFOLD_OK;
    failed_rank_ = -1;
    if (!states.empty()) tree_.prepare(states, root);
    is_exact_.assign(parts.size(), 0);
    kinds_.clear();
    std::size_t words = 0, head_bytes = 0;
    std::uint64_t signature = of_.total + 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& each = parts[i];
      if (exactly && each.has_exact_state()) {
        is_exact_[i] = 1;
        words += exact_words_of(each);
        signature = signature * 1000003 + static_cast<std::uint64_t>(each.form) * 64 + static_cast<std::uint64_t>(each.type) +
                    static_cast<std::uint64_t>(each.results) * 8191;
      } else {
        for (int k = 0; k < each.results; ++k)
          kinds_.push_back({static_cast<std::int32_t>(each.type), static_cast<std::int32_t>(each.form_of_result(k)), each.flags(),
                            of_.plans[each.tile_size()].values});
        head_bytes += std::size_t{8192} * static_cast<std::size_t>(each.results);
      }
      if (each.store_nothing != nullptr) kinds_.push_back({ONEFOLD_U64, ONEFOLD_SUM, 0, 1});  // on how many ranks a value is there
    }
    words_.assign(words == 0 ? 0 : guard_words + words, 0);
    words_of_all_.resize(words_.size());
    signature_ = static_cast<std::int64_t>(signature % 8388593);  // whose squares' sum is no int64's overflow
    if (words > 0) words_[2] = signature_, words_[3] = signature_ * signature_;
    if (kinds_.empty())
      message_.clear();
    else if (kinds_.size() != kinds_of_blank_.size() || root != root_of_blank_ ||
             std::memcmp(kinds_.data(), kinds_of_blank_.data(), kinds_.size() * sizeof(kinds_[0])) != 0)
      make_blank();
    if (!kinds_.empty()) message_ = blank_;
    requests_.clear();
    requests_.reserve(2 + sizes * (1 + (head_bytes + sizeof(head_header)) / chunk_bytes));
  }

  // Of all results of a reduction that is exact.
  static std::size_t exact_words_of(const part& of) { return of.exact_words() * static_cast<std::size_t>(of.exact_results()); }
  // Parts of the message that are those of reduction i.
  [[nodiscard]] std::size_t message_parts(std::size_t i) const {
    return (is_exact_[i] != 0 ? 0 : static_cast<std::size_t>(parts[i].results)) + (parts[i].store_nothing != nullptr ? 1 : 0);
  }

  // A message of which nothing is known yet, for these reductions: most calls are as the one before.
  void make_blank() {
    kinds_of_blank_.clear();
    blank_.clear();
    const std::size_t bytes = onefold_message_bytes(kinds_.data(), kinds_.size());
    if (bytes == 0) throw_status(ONEFOLD_INVALID_ARGUMENT);
    blank_.resize(bytes / sizeof(std::uint64_t));
    message_of_all_.resize(blank_.size());
    check_status(onefold_message_begin(blank_.data(), bytes, kinds_.data(), kinds_.size(),
                                       of_.total * 64 + static_cast<std::uint64_t>(root + 1), of_.on.rank()));
    message_type_ = of_.on.type_of(bytes);
    kinds_of_blank_ = kinds_;
    root_of_blank_ = root;
  }

  void check_part(const part& each, const options& how) const {
    const bool is_exact = how.guarantee == guarantee::exact || (!of_.is_layout && !how.guarantee);
    const bool has_state = each.has_exact_state();
    if (each.values != nullptr && each.count > std::uint64_t{1} << 62)
      throw error(errc::invalid_argument, "the number of indices is negative");
    if (of_.is_layout && each.count != of_.count)
      throw error(errc::invalid_argument, "the layout has " + std::to_string(of_.count) +
                                              " elements on this rank, and the reduction " + std::to_string(each.count) +
                                              ": make a layout for each distribution");
    if (each.count != each.second_count) throw_different_lengths(each.count, each.second_count);
    if (each.is_free_of_order()) {
      if (!of_.is_layout && has_index(each.form))
        throw error(errc::invalid_argument, each.text() + " needs a layout: without one elements have no index");
    } else if (!of_.is_layout && !(is_exact && has_state)) {
      throw error(errc::guarantee_not_met,
                  each.text() + " depends on the order of the elements, and a communicator knows none: make a layout" +
                      (has_state ? ", or ask for guarantee::exact" : ""));
    } else if (is_exact && !has_state) {
      throw error(errc::guarantee_not_met, each.text() + " has no exact result over ranks: leave the guarantee away");
    }
  }

  // Calls each(s) for the sizes of elements of which there are reductions, and ranges that are cut within tiles. Of complex numbers for both that their forms
  // have: ranks that ask for different ones do not wait for each other.
  template <class Each>
  void for_cut_sizes(const Each& each) {
    for (int s = 0; s < sizes && !kinds_.empty(); ++s) {
      bool is_there = false;
      for (std::size_t i = 0; i < parts.size(); ++i) is_there = is_there || (is_exact_[i] == 0 && parts[i].may_have_tile_size(s));
      if (is_there && of_.plans[s].is_ragged) each(s, of_.plans[s]);
    }
  }
  // Calls each(i, which) for the reductions of elements of that size whose order matters, the parts `which` of the message.
  template <class Each>
  void for_ordered(int s, const Each& each) {
    std::size_t which = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (is_exact_[i] == 0 && !parts[i].is_free_of_order() && parts[i].tile_size() == s) each(i, which);
      which += message_parts(i);
    }
  }

  // A rank that has failed sends too, and so does one that has no elements to send, as for an extremum: ranks that ask for different forms
  // do not wait for each other.
  void send_heads() {
    for_cut_sizes([&](int s, const plan& of) {
      if (of.owner < 0) return;
      head_header header{onefold_message_signature(message_.data()), 0, 0, 0};
      std::vector<std::byte>& head = heads_[s];
      attempt_more([&] { copy_heads(s, of, head); });
      if (has_failed()) header = {header.signature, 0, failed_with_, 1};
      std::byte* next = failed_heads_[s];
      std::size_t left = sizeof(header);
      if (!has_failed()) {
        header.bytes = head.size() - sizeof(header);
        next = head.data();
        left = head.size();
      }
      std::memcpy(next, &header, sizeof(header));
      for (std::size_t bytes; left > 0; next += bytes, left -= bytes) {
        bytes = std::min(left, chunk_bytes);
        check(MPI_Isend(next, static_cast<int>(bytes), MPI_BYTE, of.owner, sizes + s, of_.on.comm(),
                        &requests_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Isend");
      }
    });
  }
  void copy_heads(int s, const plan& of, std::vector<std::byte>& head) {
    head.resize(sizeof(head_header));
    for_ordered(s, [&](std::size_t i, std::size_t) {
      const std::size_t at = head.size(), bytes = static_cast<std::size_t>(of.head) * parts[i].element_bytes();
      head.resize(at + bytes * static_cast<std::size_t>(parts[i].arrays()));
      void* to[most_results] = {};
      for (int k = 0; k < parts[i].arrays(); ++k) to[k] = head.data() + at + bytes * static_cast<std::size_t>(k);
      copy(parts[i], 0, of.head, to);
    });
  }
  // The elements of each array, or values of each result.
  void copy(const part& each, std::uint64_t from, std::uint64_t count, void* const* to) const {
    const auto type = static_cast<std::int32_t>(each.type);
    if (each.values != nullptr)
      return each.values->check(onefold_copy_values(type, c_executor(where), each.values->source(), from, count, to));
    for (int k = 0; k < each.arrays(); ++k)
      check_status(onefold_copy_elements(type, c_executor(where), each.array(k, from), count, to[k]));
  }

  // All elements but those that were sent away, and those of a last tile of which others have some.
  void reduce_all(const options& how) {
    std::size_t words = guard_words, which = 0;
    options by_order = how, exactly = how;
    by_order.guarantee = {};
    exactly.guarantee = guarantee::exact;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& each = parts[i];
      if (is_exact_[i] == 0) {
        const plan& of = of_.plans[each.tile_size()];
        const bool is_cut = of.is_ragged && !each.is_free_of_order();
        const std::uint64_t from = is_cut ? of.head : 0, to = each.count - (is_cut ? of.tail : 0);
        if (each.values != nullptr)
          add_values(which, each, from, to - from, by_order);
        else
          add(which, where, each.array(0, from), each.array(1, from), of_.begin + from, to - from, by_order);
      } else {
        std::uint64_t unused[2 * most_results];
        request what{where, each.type, each.form, each.x, each.count, unused, true, each.y};
        what.exact_state = words_.data() + words;
        what.results = each.results;
        if (each.values != nullptr) what.source = each.values->source();
        const int status = status_of_run(what, exactly);
        each.values != nullptr ? each.values->check(status) : check_status(status);
        words += exact_words_of(each);
      }
      which += message_parts(i);
    }
  }
  // Those of a function, which has indices of its own.
  void add_values(std::size_t which, const part& each, std::uint64_t from, std::uint64_t count, const options& how) {
    each.values->check(with_c_options(how, [&](const onefold_options* wishes) {
      return onefold_message_add_values(message_.data(), which, static_cast<std::size_t>(each.results), c_executor(where),
                                        each.values->source(), from, of_.begin + from, count, of_.total, wishes);
    }));
  }
  // Whether there is a value, where that is more than the value of all says: of no values a sum is +0, and of what stands for absent ones -0.
  void tell_presence() {
    std::size_t which = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      which += message_parts(i);
      if (parts[i].store_nothing == nullptr) continue;
      const std::uint64_t is_there = parts[i].values->any_present() ? 1 : 0;
      add(which - 1, serial(), &is_there, nullptr, 0, 1, {});
    }
  }
  void add(std::size_t which, const executor& here, const void* x, const void* y, std::uint64_t first, std::uint64_t count,
           const options& how) {
    check_status(with_c_options(how, [&](const onefold_options* wishes) {
      return onefold_message_add(message_.data(), which, c_executor(here), x, y, first, count, of_.total, wishes);
    }));
  }

  // All that was sent is received, whatever has failed, so that nothing of it is left for the next call.
  void receive_heads() {
    for_cut_sizes([&](int s, const plan& of) {
      if (of.senders.empty()) return;
      std::vector<std::vector<std::byte>>& tiles = tiles_[s];  // an array of each reduction
      attempt_more([&] {
        std::size_t used = 0;
        for_ordered(s, [&](std::size_t i, std::size_t) {
          void* to[most_results] = {};
          for (int k = 0; k < parts[i].arrays(); ++k, ++used) {
            if (used == tiles.size()) tiles.emplace_back();
            tiles[used].resize(static_cast<std::size_t>(of.tail) * parts[i].element_bytes());
            to[k] = tiles[used].data();
          }
          copy(parts[i], of_.count - of.tail, of.tail, to);
        });
      });
      for (const plan::sender& from : of.senders) {
        std::byte first[chunk_bytes];
        receive(first, chunk_bytes, from.rank, s);
        head_header header;
        std::memcpy(&header, first, sizeof(header));
        const std::size_t bytes = static_cast<std::size_t>(header.bytes), here = std::min(bytes, chunk_bytes - sizeof(header));
        telling_of_lacking_memory([&] { received_.resize(std::max(received_.size(), bytes + 1)); });
        std::memcpy(received_.data(), first + sizeof(header), here);
        for (std::size_t at = here; at < bytes; at += chunk_bytes)
          receive(received_.data() + at, std::min(bytes - at, chunk_bytes), from.rank, s);
        if (has_failed()) continue;
        if (header.has_failed != 0 || header.signature != onefold_message_signature(message_.data())) {
          failed_rank_ = from.rank;
          failed_with_ = header.has_failed != 0 ? static_cast<std::int32_t>(header.status)
                                                : static_cast<std::int32_t>(ONEFOLD_COMMUNICATION_FAILED);
        } else {
          attempt_more([&] { take_heads(s, from, tiles); });
        }
      }
      attempt_more([&] {
        std::size_t used = 0;
        for_ordered(s, [&](std::size_t i, std::size_t which) {
          const part& each = parts[i];
          const std::size_t next = used + static_cast<std::size_t>(each.arrays());
          for (std::size_t k = 0; k < static_cast<std::size_t>(each.results); ++k)
            add(which + k, serial(), tiles[used + k].data(),
                each.values == nullptr && each.arrays() == 2 ? tiles[used + 1].data() : nullptr, of_.begin + of_.count - of.tail,
                tiles[used + k].size() / each.element_bytes(), {});
          used = next;
        });
      });
    });
  }
  void receive(std::byte* to, std::size_t bytes, int from, int s) {
    MPI_Request coming = MPI_REQUEST_NULL;
    check(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, from, sizes + s, of_.on.comm(), &coming), "MPI_Irecv");
    check(of_.wait_for(1, &coming), "MPI_Waitall");
  }
  void take_heads(int s, const plan::sender& from, std::vector<std::vector<std::byte>>& tiles) {
    const std::byte* next = received_.data();
    std::size_t used = 0;
    for_ordered(s, [&](std::size_t i, std::size_t) {
      for (int k = 0; k < parts[i].arrays(); ++k) {
        const std::size_t bytes = static_cast<std::size_t>(from.count) * parts[i].element_bytes();
        tiles[used].insert(tiles[used].end(), next, next + bytes);
        ++used;
        next += bytes;
      }
    });
  }

  void say_so() {
    if (!message_.empty()) onefold_message_fail(message_.data(), failed_with_, failed_rank_);
    std::fill(words_.begin(), words_.end(), 0);
    if (words_.empty()) return;
    words_[0] = 1;
    words_[1] = failed_rank_ + 1;
  }

  // Without MPI_IN_PLACE, which MPICH 4.0's MPI_Reduce takes for an address with some roots.
  template <class Each>
  void with_messages(const Each& each) {
    if (!message_.empty()) each(message_.data(), message_of_all_.data(), 1, message_type_, of_.on.merge());
    if (!words_.empty()) each(words_.data(), words_of_all_.data(), static_cast<int>(words_.size()), MPI_INT64_T, MPI_SUM);
  }

  int wait_for_all() noexcept {
    const int status = of_.wait_for(static_cast<int>(requests_.size()), requests_.data());
    status == MPI_SUCCESS ? tree_.wait() : tree_.abandon();
    return status;
  }
  // The others need what this rank has to send, also where it does not ask for the result.
  void wait_quietly() noexcept {
    if (std::exchange(is_under_way_, false) && !is_finalized()) static_cast<void>(wait_for_all());
  }

  void finish() {
    is_under_way_ = false;
    check(wait_for_all(), "MPI_Waitall");
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (std::exchange(gives_up, false)) return;
    if (!states.empty()) tree_.throw_what_has_failed();
    if (!is_root()) return;
    if (!words_.empty()) check_guards();
    const std::int64_t* words = words_of_all_.data() + guard_words;
    std::size_t which = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& each = parts[i];
      if (is_exact_[i] == 0) {
        for (int k = 0; k < each.results; ++k)
          check_status(result_of_message(which + static_cast<std::size_t>(k), of_.is_layout ? of_.total : UINT64_MAX, each.ddof,
                                         each.place_of_result(k)));
      } else {
        const auto type = static_cast<std::int32_t>(part_type(each.type)), what = static_cast<std::int32_t>(each.form);
        for (int k = 0; k < each.exact_results(); ++k, words += each.exact_words())
          check_status(onefold_exact_result(type, what, each.flags(), each.ddof, words, each.place_of_exact_result(k)));
      }
      which += message_parts(i);
      if (each.store_nothing == nullptr) continue;
      std::uint64_t ranks_with_values = 0;
      check_status(result_of_message(which - 1, UINT64_MAX, 0, &ranks_with_values));
      if (ranks_with_values == 0) each.store_nothing(each.result);
    }
    if (!states.empty()) tree_.store_results();
  }
  int result_of_message(std::size_t which, std::uint64_t total, std::int64_t ddof, void* result) const {
    return onefold_message_result(message_of_all_.data(), which, of_.on.size(), total, ddof, result);
  }
  // Equal numbers are those whose squares have the square of their mean as a mean.
  void check_guards() const {
    if (words_of_all_[0] == 1)
      throw error(errc::communication_failed, "rank " + std::to_string(words_of_all_[1] - 1) +
                                                  " could not take part in the reduction: what is thrown there says why");
    if (words_of_all_[0] != 0)
      throw error(errc::communication_failed,
                  std::to_string(words_of_all_[0]) + " ranks could not take part in the reduction: what is thrown there says why");
    if (words_of_all_[2] != of_.on.size() * signature_ || words_of_all_[3] != of_.on.size() * signature_ * signature_)
      throw error(errc::communication_failed, "the ranks do not ask for the same reductions, or not with the same options");
  }

  distribution& of_;
  state_tree tree_;
  std::vector<char> is_exact_;
  std::vector<onefold_message_part> kinds_;  // of those that are not exact
  std::vector<onefold_message_part> kinds_of_blank_;
  int root_of_blank_ = -1;
  std::vector<std::uint64_t> blank_;
  std::vector<std::uint64_t> message_;
  std::vector<std::uint64_t> message_of_all_;
  MPI_Datatype message_type_ = MPI_DATATYPE_NULL;
  std::vector<std::int64_t> words_;
  std::vector<std::int64_t> words_of_all_;
  std::int64_t signature_ = 0;  // of exact sums
  std::vector<std::byte> heads_[sizes];
  std::byte failed_heads_[sizes][sizeof(head_header)] = {};
  std::vector<std::byte> received_;
  std::vector<std::vector<std::byte>> tiles_[sizes];
  std::vector<MPI_Request> requests_;
  bool is_under_way_ = false;
  std::exception_ptr failure_;
  std::int32_t failed_with_ = 0;
  int failed_rank_ = -1;
};

/// What a layout or communicator is: how elements are distributed, and the memory of the last call that has waited.
struct shared_state : distribution {
  explicit shared_state(MPI_Comm comm) : distribution(comm) {}
  std::unique_ptr<transfer> idle;
};

/// A transfer for one call.
class borrowed_transfer {
 public:
  borrowed_transfer(shared_state& from, const executor& where, int root) : from_(from), mine_(std::move(from.idle)) {
    if (mine_ == nullptr) telling_of_lacking_memory([&] { mine_ = std::make_unique<transfer>(from); });
    mine_->clear();
    mine_->where = where;
    mine_->root = root;
  }
  borrowed_transfer(const borrowed_transfer&) = delete;
  borrowed_transfer& operator=(const borrowed_transfer&) = delete;
  ~borrowed_transfer() { from_.idle = std::move(mine_); }
  transfer& operator*() const noexcept { return *mine_; }
  transfer* operator->() const noexcept { return mine_.get(); }

 private:
  shared_state& from_;
  std::unique_ptr<transfer> mine_;
};

template <form What, class T, class... M>
part part_of(array_view<T> x, void* result, M... modifiers) {
  static_assert(counts_on_host<M...>, "over ranks the number of elements is the layout's");
  request what{serial(), element_type_of<T>, What, x.data, x.count, result, true};
  (apply<T>(what, modifiers), ...);
  return {what.type, What, what.wide, what.ddof, x.data, nullptr, x.count, x.count, result};
}
template <class T, class... M>
part dot_of(array_view<T> x, array_view<T> y, void* result, M... modifiers) {
  part made = part_of<form::dot>(x, result, modifiers...);
  made.y = y.data;
  made.second_count = y.count;
  return made;
}

/// What absent values of a form are replaced by, and the result where all are, if that is another.
template <form What, class T, bool Wide>
void store_result_of_nothing(void* result) {
  *static_cast<result_of_form<What, T, Wide>*>(result) = result_of_nothing<What, T, Wide>();
}
template <form What, class Space, class F, class... M>
part part_of_values(values_of_function<Space, F>& values, void* result, M... modifiers) {
  using callback = typename values_of_function<Space, F>::callback;
  using T = typename callback::element;
  static_assert(callback::results == 1 || !is_record(What), "forms with several results take functions of one value");
  static_assert(
      !callback::can_be_absent || !(is_record(What) || What == form::mean),
      "over ranks mean and mean_variance take no absent values: return a std::array of a value and a count, and divide their sums");
  request what{serial(), element_type_of<T>, What, nullptr, values.space().size(), result, true};
  (apply<T>(what, modifiers), ...);
  part made{what.type, What, what.wide, what.ddof, nullptr, nullptr, what.count, what.count, result};
  made.values = &values;
  made.results = callback::results;
  constexpr bool gives_itself = What == form::sum || What == form::min_number || What == form::max_number;
  if constexpr (gives_itself && callback::can_be_absent && std::is_floating_point_v<T>)
    made.store_nothing = store_result_of_nothing<What, T, (is_wide<M, T>() || ...)>;
  return made;
}

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
  auto operator()(std::uint64_t i) { return typename aware::template values<Space, function>{space, f, begin}(i); }
};
template <class Fold>
struct combine_states_of {
  using state = typename Fold::accumulator;
  state operator()(const state& a, const state& b) const { return Fold::combine(a, b); }
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
template <form What, class Space, class F>
using typed_part_of_some =
    typed_state_part<index_line, values_of_some<What, Space, F>,
                     combine_states_of<typename values_of_some<What, Space, F>::aware::fold>,
                     typename values_of_some<What, Space, F>::aware::state,
                     store_of_some<What, typename values_of_some<What, Space, F>::aware, result_of_some<What, Space, F>>>;
/// F is a reference where f outlives the call. Made in place: `auto part = part_of_some<..>(..)` moves nothing.
template <form What, class F, class Space, class G>
typed_part_of_some<What, Space, F> part_of_some(const Space& space, G&& f, std::uint64_t other_count, std::uint64_t begin,
                                                result_of_some<What, Space, F>* result) {
  using values = values_of_some<What, Space, F>;
  using T = typename values_of<Space, std::remove_reference_t<F>>::type;
  return typed_part_of_some<What, Space, F>(index_line{space.size()}, values{space, std::forward<G>(f), begin}, other_count,
                                            combine_states_of<typename values::aware::fold>{}, values::aware::fold::neutral(),
                                            {result}, "an extremum of values that may be absent",
                                            1 + static_cast<int>(What) * element_type_count + static_cast<int>(element_type_of<T>));
}

/// The first of the results that a function's values have.
template <class R>
R* first_result(R* of) noexcept {
  return of;
}
template <class R, std::size_t K>
R* first_result(std::array<R, K>* of) noexcept {
  return of->data();
}

// Calls with an operator that are made later: their arguments as they stand behind the place, described by copies of what is called.

template <class Space, class F, class Op, class Init>
constexpr auto result_type_of_call() {
  if constexpr (is_built_in_operator<Op> && std::is_same_v<Init, no_init>)
    return index_result<form_of(Op::id), Space, F>();
  else
    return value_traits<value_at_t<Space, F>>();
}
template <class Space, class F, class Op, class Init>
struct described_call {
  Space space;
  F f;
  std::uint64_t other_count;
  Op op;
  Init init;
  using result = typename decltype(result_type_of_call<Space, F, Op, Init>())::type;
};

template <class A>
using bare = std::remove_cv_t<std::remove_reference_t<A>>;
template <class A>
inline constexpr bool is_array_pointer = std::is_pointer_v<A>&& std::is_object_v<std::remove_pointer_t<A>>;
constexpr std::size_t leading(std::initializer_list<bool> are) noexcept {
  std::size_t count = 0;
  for (const bool is : are) {
    if (!is) break;
    ++count;
  }
  return count;
}
/// How many arguments, of these types or references to them, say what is reduced: ranges, pointers and one count, or an index space.
template <class... A>
struct call_shape {
  static constexpr std::size_t ranges = leading({is_range<bare<A>>...});
  static constexpr std::size_t pointers = leading({is_array_pointer<bare<A>>...});
  static constexpr std::size_t arrays = ranges > 0 ? ranges : pointers;
  static constexpr std::size_t head = ranges > 0 ? ranges : pointers + 1;
  static_assert(arrays <= 3, "a function has at most three arrays");
};
template <std::size_t K, class... A>
constexpr auto&& argument(const std::tuple<A...>& of) noexcept {
  return static_cast<std::tuple_element_t<K, std::tuple<A...>>>(std::get<K>(of));
}

template <class G, class Op, class Init, class... T>
auto describe_arrays(G&& f, Op&& op, const Init& init, std::uint64_t count, std::uint64_t other_count, const T*... x) {
  using function = function_of_arrays<std::decay_t<G>, T...>;
  return described_call<index_line, function, std::decay_t<Op>, Init>{
      {count}, function{std::forward<G>(f), {x...}}, other_count, std::forward<Op>(op), init};
}
template <class... A, std::size_t... K, class G, class Op, class Init>
auto describe_values(const std::tuple<A...>& of, std::index_sequence<K...>, G&& f, Op&& op, const Init& init) {
  using shape = call_shape<A...>;
  static_assert(is_init<Init>, "options are those of the batch's run() or start()");
  if constexpr (shape::ranges > 0) {
    const auto count = static_cast<std::uint64_t>(std::size(std::get<0>(of)));
    return describe_arrays(std::forward<G>(f), std::forward<Op>(op), init, count, other_size(count, std::get<K>(of)...),
                           std::data(std::get<K>(of))...);
  } else if constexpr (shape::pointers > 0) {
    const auto count = static_cast<std::uint64_t>(std::get<shape::pointers>(of));
    return describe_arrays(std::forward<G>(f), std::forward<Op>(op), init, count, count, std::get<K>(of)...);
  } else {
    static_assert(is_index_space<bare<decltype(std::get<0>(of))>>,
                  "what is reduced is said by ranges, by pointers and a count, or by a number of indices or a box");
    const auto space = space_for(std::get<0>(of));
    return described_call<bare<decltype(space)>, std::decay_t<G>, std::decay_t<Op>, Init>{space, std::forward<G>(f), space.size(),
                                                                                          std::forward<Op>(op), init};
  }
}
/// Of the first N arguments, as the next: those behind are not the call's.
template <std::size_t N, class... A>
auto describe_transform_reduce(const std::tuple<A...>& of) {
  constexpr std::size_t head = call_shape<A...>::head;
  constexpr std::make_index_sequence<call_shape<A...>::arrays> arrays;
  static_assert(N == head + 2 || N == head + 3, "transform_reduce takes what is reduced, op, f, and perhaps an initial value");
  if constexpr (N == head + 2)
    return describe_values(of, arrays, argument<head + 1>(of), argument<head>(of), no_init{});
  else
    return describe_values(of, arrays, argument<head + 1>(of), argument<head>(of), argument<head + 2>(of));
}
template <std::size_t N, class... A>
auto describe_reduce(const std::tuple<A...>& of) {
  using shape = call_shape<A...>;
  constexpr std::size_t head = shape::head;
  constexpr std::make_index_sequence<shape::arrays> arrays;
  if constexpr (shape::arrays == 0) {
    static_assert(N == 3, "reduce of a function takes a number of indices or a box, f, and op");
    return describe_values(of, arrays, argument<1>(of), argument<2>(of), no_init{});
  } else {
    static_assert(shape::arrays == 1 && (N == head + 1 || N == head + 2),
                  "reduce takes an array, op, and perhaps an initial value");
    if constexpr (N == head + 1)
      return describe_values(of, arrays, identity_function{}, argument<head>(of), no_init{});
    else
      return describe_values(of, arrays, identity_function{}, argument<head>(of), argument<head + 1>(of));
  }
}
template <std::size_t N, class... A>
auto describe_count_if(const std::tuple<A...>& of) {
  using shape = call_shape<A...>;
  static_assert(shape::arrays <= 1 && N == shape::head + 1, "count_if takes what is looked at, and a predicate");
  using predicate = std::decay_t<decltype(argument<shape::head>(of))>;
  return describe_values(of, std::make_index_sequence<shape::arrays>(), one_where<predicate>{argument<shape::head>(of)}, op::sum{},
                         no_init{});
}

}  // namespace ranks
}  // namespace detail

namespace mpi {

class batch;

/// Ranks, and this one's executor: what the forms take in the place of an executor. Made by on(). Results are on all ranks; of a `Rooted` one on one,
/// and calls give a std::optional, which is empty elsewhere.
template <bool Rooted>
class place_on : public detail::place_of_ranks {
 public:
  template <class R>
  using result = std::conditional_t<Rooted, std::optional<R>, R>;

  /// The same with results on one rank alone: that one learns of errors elsewhere, the others of their own.
  [[nodiscard]] place_on<true> root(int rank) const noexcept { return {*of_, where_, rank}; }

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
  template <form What, class S, class F, class... M>
  [[nodiscard]] auto function(const S& over, F& f, const options& how, M... modifiers) const {
    const auto space = detail::ranks::space_for(over);
    return value_of_function<What>(space, f, space.size(), how, modifiers...);
  }
  template <class S, class F, class... Ops>
  [[nodiscard]] auto function_together(const S& over, F& f, const options& how, Ops...) const {
    using space = detail::space_of<S>;
    using values_type = detail::values_of<space, F>;
    static_assert(values_type::count == static_cast<int>(sizeof...(Ops)), "reduce_together takes an operator for each value of f");
    static_assert(!detail::value_traits<detail::value_at_t<space, F>>::can_be_absent, "reduce_together takes no absent values");
    static constexpr operation operators[] = {Ops::id...};
    std::array<typename values_type::type, sizeof...(Ops)> found{};
    detail::ranks::values_of_function<space, F&> values(detail::ranks::space_for(over), f, typename values_type::type());
    detail::ranks::part what = detail::ranks::part_of_values<form::sum>(values, found.data());
    what.form = form::reduce_together;
    what.operators = operators;
    return run(what, how, found);
  }
  // An operator, of the library's or the caller's, over functions of the index or of arrays.
  template <class Space, class F, class Op, class Init>
  [[nodiscard]] auto reduce_over(const Space& space, F& f, std::uint64_t other_count, Op& op, const Init& init,
                                 const options& how) const {
    using returned = detail::value_at_t<Space, F>;
    using value_type = typename detail::value_traits<returned>::type;
    if constexpr (!is_built_in_operator<std::decay_t<Op>>) {
      return reduce_by(space, f, other_count, op, init, how);
    } else if constexpr (std::is_same_v<Init, detail::no_init>) {
      return value_of_function<form_of(std::decay_t<Op>::id)>(space, f, other_count, how);
    } else {
      static_assert(is_full_element<value_type>, "the library's operators take elements");
      detail::operator_function<std::decay_t<Op>> combine;
      return reduce_by(space, f, other_count, combine, init, how);
    }
  }
  // Each operator by itself, in one message.
  template <class T, class... Ops>
  [[nodiscard]] auto together(detail::array_view<T> x, const options& how, Ops...) const {
    using A = accumulator_t<T, false>;
    std::tuple<detail::form_result_t<form_of(Ops::id), T>...> found;
    const detail::ranks::borrowed_transfer with(*of_, where_, root_);
    std::apply([&](auto&... each) { (with->parts.push_back(detail::ranks::part_of<form_of(Ops::id)>(x, &each)), ...); }, found);
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
  friend class place_on;

  place_on(detail::ranks::shared_state& of, const executor& where, int root) noexcept : of_(&of), where_(where), root_(root) {}

  template <form What, class Space, class F, class... M>
  [[nodiscard]] auto value_of_function(const Space& space, F& f, std::uint64_t other_count, const options& how,
                                       M... modifiers) const {
    using element = typename detail::values_of<Space, F>::type;
    constexpr bool can_be_absent = detail::value_traits<detail::value_at_t<Space, F>>::can_be_absent;
    if constexpr (can_be_absent && (has_index(What) || What == form::minmax)) {
      return value_of_some<What>(space, f, other_count, how);
    } else {
      detail::index_result_t<What, Space, F, M...> found{};
      detail::ranks::values_of_function<Space, F&> values(space, f, detail::instead_of_absent<What, element>());
      detail::ranks::part what = detail::ranks::part_of_values<What>(values, detail::ranks::first_result(&found), modifiers...);
      what.second_count = other_count;
      return run(what, how, found);
    }
  }
  // Where values may be absent, of forms that have more than one number: an operator on values and their indices in the whole array. What all ranks begin with
  // has an index that no value has.
  template <form What, class Space, class F>
  [[nodiscard]] auto value_of_some(const Space& space, F& f, std::uint64_t other_count, const options& how) const {
    detail::ranks::result_of_some<What, Space, F> found{};
    auto part = detail::ranks::part_of_some<What, F&>(space, f, other_count, of_->begin, &found);
    return run_states(part, how, found);
  }
  template <class Space, class F, class Op, class Init>
  [[nodiscard]] auto reduce_by(const Space& space, F& f, std::uint64_t other_count, Op& op, const Init& init,
                               const options& how) const {
    typename detail::value_traits<detail::value_at_t<Space, F>>::type found{};
    detail::ranks::result_store<decltype(found)> store{&found};
    detail::ranks::typed_state_part<Space, F&, Op&, Init, decltype(store)> part(space, f, other_count, op, init, store);
    return run_states(part, how, found);
  }

  template <class R>
  [[nodiscard]] result<R> run_states(detail::ranks::state_part& what, const options& how, const R& found) const {
    const detail::ranks::borrowed_transfer with(*of_, where_, root_);
    detail::telling_of_lacking_memory([&] { with->states.push_back(&what); });
    return run(*with, how, found);
  }
  template <class R>
  [[nodiscard]] result<R> run(const detail::ranks::part& what, const options& how, const R& found) const {
    const detail::ranks::borrowed_transfer with(*of_, where_, root_);
    detail::telling_of_lacking_memory([&] { with->parts.push_back(what); });
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
using place = place_on<false>;
using rooted_place = place_on<true>;

/// How an array lies on the ranks of a communicator: rank after rank holds the next elements, some perhaps none. Collective to make.
class layout {
 public:
  /// This rank holds `count` elements. Errors: communication_failed; on every rank invalid_argument for impossible counts.
  layout(MPI_Comm comm, std::uint64_t count) : state_(make(comm)) { state_->make_layout(count, nullptr); }
  /// This rank holds the elements begin .. end - 1 of the array. Errors: on every rank, too, where these are not the ranges of rank after rank.
  layout(MPI_Comm comm, std::uint64_t begin, std::uint64_t end) : state_(make(comm)) { state_->make_layout(end - begin, &begin); }

  /// Where a call runs: on these ranks, here on this executor. Each rank may name another.
  [[nodiscard]] place on(const executor& where) const noexcept { return {*state_, where, -1}; }

  /// Index of this rank's first element, number of its elements, and of all ranks'.
  [[nodiscard]] std::uint64_t begin() const noexcept { return state_->begin; }
  [[nodiscard]] std::uint64_t count() const noexcept { return state_->count; }
  [[nodiscard]] std::uint64_t total() const noexcept { return state_->total; }
  /// Whether no rank's range begins within a tile of elements of type T, so that calls send no elements: aligned_range() makes such ranges.
  template <class T>
  [[nodiscard]] bool is_aligned() const noexcept {
    return !state_->plans[detail::ranks::size_index(sizeof(detail::tile_element<T>))].is_ragged;
  }

 private:
  static std::unique_ptr<detail::ranks::shared_state> make(MPI_Comm comm) {
    return detail::telling_of_lacking_memory([&] { return std::make_unique<detail::ranks::shared_state>(comm); });
  }
  std::unique_ptr<detail::ranks::shared_state> state_;
};

using onefold::index_range;

/// The range of a rank where `total` elements of type T are shared out evenly in whole tiles: neighbours send each other no elements then. No call
/// of MPI's.
template <class T>
[[nodiscard]] constexpr index_range aligned_range(std::uint64_t total, int rank, int ranks) noexcept {
  return detail::aligned_share<T>(total, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks));
}

/// Ranks whose elements lie anyhow: particles, blocks of a grid, unstructured meshes. Results are those of guarantee::exact, or of forms whose
/// bits depend on no order; others are refused. Collective to make.
class communicator {
 public:
  explicit communicator(MPI_Comm comm)
      : state_(detail::telling_of_lacking_memory([&] { return std::make_unique<detail::ranks::shared_state>(comm); })) {}

  /// Where a call runs: on these ranks, here on this executor.
  [[nodiscard]] place on(const executor& where) const noexcept { return {*state_, where, -1}; }

 private:
  std::unique_ptr<detail::ranks::shared_state> state_;
};

/// Several reductions in one message (one more where some are exact and some are not, and one between two ranks of all operators of the caller's), waited for
/// or not. A batch may be run again and again.
///
/// Inputs    as each call takes them: ranges, or pointers and a count, with accumulate_as or ddof behind the result's address. They live until
///           start() has returned; results, and what operators of the caller's refer to, until wait() has.
/// Results   there when run() or wait() returns; on one rank alone where the place has a root. After an error none is specified.
class batch {
 public:
  template <bool Rooted>
  explicit batch(const place_on<Rooted>& on)
      : with_(detail::telling_of_lacking_memory([&] { return std::make_unique<detail::ranks::transfer>(*on.of_); })) {
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

  /// A function of the index: `add(norm2, n, f, &result)`; of several values `result` is the first of as many. f is copied, and is asked for its values
  /// whenever the batch is run.
  template <form What, class S, class F, class... M, class G = std::decay_t<F>,
            ONEFOLD_WHERE(detail::takes_function<What, S, G, void, M...>::value)>
  batch& add(detail::named_reduction<What>, const S& over, F&& f,
             typename detail::index_result<What, detail::space_of<S>, std::decay_t<F>, M...>::one* result, M... modifiers) {
    return add_function<What>(over, std::forward<F>(f), result, modifiers...);
  }
  template <form What, class S, class F, class G = std::decay_t<F>, ONEFOLD_WHERE(detail::takes_function<What, S, G>::value)>
  batch& add(const S& over, F&& f, typename detail::index_result<What, detail::space_of<S>, std::decay_t<F>>::one* result) {
    return add_function<What>(over, std::forward<F>(f), result);
  }

  /// An operator, of the caller's or the library's: the arguments of reduce(), transform_reduce() or count_if() that stand behind the place, and the result's
  /// address, which is of the type that these calls return.
  ///
  ///   work.add_reduce(points, farther{}, &far).add_reduce(points.data(), points.size(), farther{}, first, &far_of_first);
  ///   work.add_transform_reduce(m, v, op::sum{}, energy_of, &energy).add_transform_reduce(n, combine, f, init, &result);
  ///   work.add_count_if(x, is_large, &large);
  ///
  /// What is called and an initial value are copied. The states of all operators of the caller's, and of calls with an initial value, go in one message
  /// between two ranks; those of the library's go with the named forms.
  template <class... A>
  batch& add_reduce(A&&... arguments_and_result) {
    constexpr std::size_t count = sizeof...(A) - 1;
    using shape = detail::ranks::call_shape<A...>;
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    using call = decltype(detail::ranks::describe_reduce<count>(of));
    using op_type = decltype(std::declval<call&>().op);
    if constexpr (shape::arrays == 1 && count == shape::head + 1 && is_built_in_operator<op_type>) {
      const detail::named_reduction<form_of(op_type::id)> named{};
      if constexpr (shape::ranges == 1)
        return add(named, std::get<0>(of), std::get<count>(of));
      else
        return add(named, std::get<0>(of), static_cast<std::uint64_t>(std::get<1>(of)), std::get<count>(of));
    } else {
      return add_call(detail::ranks::describe_reduce<count>(of), std::get<count>(of));
    }
  }
  template <class... A>
  batch& add_transform_reduce(A&&... arguments_and_result) {
    constexpr std::size_t count = sizeof...(A) - 1;
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    return add_call(detail::ranks::describe_transform_reduce<count>(of), std::get<count>(of));
  }
  template <class... A>
  batch& add_count_if(A&&... arguments_and_result) {
    constexpr std::size_t count = sizeof...(A) - 1;
    const std::tuple<A&&...> of(std::forward<A>(arguments_and_result)...);
    return add_call(detail::ranks::describe_count_if<count>(of), std::get<count>(of));
  }

  /// Runs all of them and waits.
  void run(const options& how = {}) { with_->run(how); }
  /// Reduces this rank's elements, and sends what is known of them: wait() has the results. Waits for the neighbours that hold elements of the same
  /// tile to start, where there are such. Several batches may be under way, started in one order on all ranks, and waited for in any.
  void start(const options& how = {}) { with_->start(how); }
  /// Whether wait() would return at once. Operators of the caller's get on here, and in wait(), alone (Progress, above): it may call them.
  [[nodiscard]] bool test() { return with_->test(); }
  /// Waits for what was started. Errors of this rank's own, too, are thrown here, when the others have learned of them.
  void wait() { with_->wait(); }
  /// Ahead of run() or start() on a rank that cannot take part, because an exception of its own has come: the call then reads no array, and returns; on
  /// the other ranks it throws communication_failed, and nobody waits for ever. The batch needs the same reductions as theirs.
  batch& give_up() noexcept {
    with_->gives_up = true;
    return *this;
  }

  /// Whether this rank gets the results.
  [[nodiscard]] bool is_root() const noexcept { return with_->is_root(); }
  [[nodiscard]] std::size_t size() const noexcept { return with_->parts.size() + with_->states.size(); }
  /// Forgets the reductions. What is under way is waited for.
  void clear() noexcept {
    with_->clear();
    functions_.clear();
  }

 private:
  template <form What, class S, class F, class... M>
  batch& add_function(const S& over, F&& f,
                      typename detail::index_result<What, detail::space_of<S>, std::decay_t<F>, M...>::one* result,
                      M... modifiers) {
    const auto space = detail::ranks::space_for(over);
    return add_values<What>(space, std::forward<F>(f), space.size(), result, modifiers...);
  }
  template <form What, class Space, class F, class R, class... M>
  batch& add_values(const Space& space, F&& f, std::uint64_t other_count, R* result, M... modifiers) {
    using function = std::decay_t<F>;
    using element = typename detail::values_of<Space, function>::type;
    constexpr bool can_be_absent = detail::value_traits<detail::value_at_t<Space, function>>::can_be_absent;
    return detail::telling_of_lacking_memory([&]() -> batch& {
      if constexpr (can_be_absent && (has_index(What) || What == form::minmax)) {
        return keep([&] {
          return new detail::ranks::typed_part_of_some<What, Space, function>(
              detail::ranks::part_of_some<What, function>(space, std::forward<F>(f), other_count, with_->begin(), result));
        });
      } else {
        auto values = std::make_unique<detail::ranks::values_of_function<Space, function>>(
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
  template <class Space, class F, class Op, class Init, class R>
  batch& add_call(detail::ranks::described_call<Space, F, Op, Init>&& call, R* result) {
    static_assert(std::is_same_v<R, typename detail::ranks::described_call<Space, F, Op, Init>::result>,
                  "the result is of the type that the call without a batch returns");
    if constexpr (!is_built_in_operator<Op>) {
      return add_state(std::move(call), std::move(call.op), result);
    } else if constexpr (std::is_same_v<Init, detail::no_init>) {
      return add_values<form_of(Op::id)>(call.space, std::move(call.f), call.other_count, detail::ranks::first_result(result));
    } else {
      static_assert(is_full_element<R>, "the library's operators take elements");
      return add_state(std::move(call), detail::operator_function<Op>{}, result);
    }
  }
  template <class Space, class F, class Op, class Init, class Called, class R>
  batch& add_state(detail::ranks::described_call<Space, F, Op, Init>&& call, Called&& op, R* result) {
    using store = detail::ranks::result_store<R>;
    return detail::telling_of_lacking_memory([&]() -> batch& {
      return keep([&] {
        return new detail::ranks::typed_state_part<Space, F, std::decay_t<Called>, Init, store>(
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
  batch& add_part(const detail::ranks::part& what) {
    detail::telling_of_lacking_memory([&] { with_->parts.push_back(what); });
    return *this;
  }
  std::vector<std::unique_ptr<detail::ranks::function_values>> functions_;
  std::unique_ptr<detail::ranks::transfer> with_;
};

/// A reduction that has been started. Destroying it waits for it.
template <class R>
class pending {
 public:
  /// Whether wait() would return at once. A reduction with an operator of the caller's gets on here and in wait() alone.
  [[nodiscard]] bool test() { return with_.test(); }
  /// Waits, and returns the result; of a rooted place a std::optional.
  [[nodiscard]] R wait() {
    with_.wait();
    return with_.is_root() ? R(*found_) : R();
  }

  // For start().
  template <bool Rooted, class Result, class Add>
  pending(const place_on<Rooted>& where, Result result, const Add& add)
      : found_(detail::telling_of_lacking_memory([&] { return std::make_unique<Result>(result); })), with_(where) {
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
  batch with_;
};

/// Starts a named form, as `sum(where, x)` runs it: `auto later = start(sum, rows.on(openmp()), x); .. later.wait()`. With options: batch.
template <form What, bool Rooted, class R, class T = detail::element_of<const R>, class... M,
          ONEFOLD_WHERE(detail::takes<What, T, M...>())>
[[nodiscard]] auto start(detail::named_reduction<What> what, const place_on<Rooted>& where, const R& x, M... modifiers) {
  using result = detail::form_result_t<What, T, M...>;
  return pending<typename place_on<Rooted>::template result<result>>(
      where, result{}, [&](batch& with, result* to) { with.add(what, x, to, modifiers...); });
}
template <form What, bool Rooted, class T, class... M, ONEFOLD_WHERE(detail::takes<What, T, M...>())>
[[nodiscard]] auto start(detail::named_reduction<What> what, const place_on<Rooted>& where, const T* x, std::uint64_t count,
                         M... modifiers) {
  using result = detail::form_result_t<What, T, M...>;
  return pending<typename place_on<Rooted>::template result<result>>(
      where, result{}, [&](batch& with, result* to) { with.add(what, x, count, to, modifiers...); });
}
template <form What, bool Rooted, class S, class F, class... M, class G = std::decay_t<F>,
          ONEFOLD_WHERE(detail::takes_function<What, S, G, void, M...>::value)>
[[nodiscard]] auto start(detail::named_reduction<What> what, const place_on<Rooted>& where, const S& over, F&& f, M... modifiers) {
  using result = detail::index_result_t<What, detail::space_of<S>, std::decay_t<F>, M...>;
  return pending<typename place_on<Rooted>::template result<result>>(where, result{}, [&](batch& with, result* to) {
    with.add(what, over, std::forward<F>(f), detail::ranks::first_result(to), modifiers...);
  });
}
template <bool Rooted, class R, class S, class T = detail::element_of<const R>, class... M,
          ONEFOLD_WHERE(detail::have_same_elements<R, S>&& detail::dot_takes<T, M...>)>
[[nodiscard]] auto start(detail::named_dot what, const place_on<Rooted>& where, const R& x, const S& y, M... modifiers) {
  using result = detail::form_result_t<form::dot, T, M...>;
  return pending<typename place_on<Rooted>::template result<result>>(
      where, result{}, [&](batch& with, result* to) { with.add(what, x, y, to, modifiers...); });
}
template <bool Rooted, class T, class... M, ONEFOLD_WHERE(detail::dot_takes<T, M...>)>
[[nodiscard]] auto start(detail::named_dot what, const place_on<Rooted>& where, const T* x, const T* y, std::uint64_t count,
                         M... modifiers) {
  using result = detail::form_result_t<form::dot, T, M...>;
  return pending<typename place_on<Rooted>::template result<result>>(
      where, result{}, [&](batch& with, result* to) { with.add(what, x, y, count, to, modifiers...); });
}

/// Starts what reduce(where, ..), transform_reduce(where, ..) and count_if(where, ..) run, of the same arguments: `auto far = start_reduce(rows.on(openmp()), points,
/// farther{}); .. far.wait()`. What is called is copied. With options: batch.
template <bool Rooted, class... A>
[[nodiscard]] auto start_reduce(const place_on<Rooted>& where, A&&... arguments) {
  using call = decltype(detail::ranks::describe_reduce<sizeof...(A)>(std::declval<const std::tuple<A&&...>&>()));
  using result = typename call::result;
  return pending<typename place_on<Rooted>::template result<result>>(
      where, result{}, [&](batch& with, result* to) { with.add_reduce(std::forward<A>(arguments)..., to); });
}
template <bool Rooted, class... A>
[[nodiscard]] auto start_transform_reduce(const place_on<Rooted>& where, A&&... arguments) {
  using call = decltype(detail::ranks::describe_transform_reduce<sizeof...(A)>(std::declval<const std::tuple<A&&...>&>()));
  using result = typename call::result;
  return pending<typename place_on<Rooted>::template result<result>>(
      where, result{}, [&](batch& with, result* to) { with.add_transform_reduce(std::forward<A>(arguments)..., to); });
}
template <bool Rooted, class... A>
[[nodiscard]] auto start_count_if(const place_on<Rooted>& where, A&&... arguments) {
  return pending<typename place_on<Rooted>::template result<std::uint64_t>>(
      where, std::uint64_t{}, [&](batch& with, std::uint64_t* to) { with.add_count_if(std::forward<A>(arguments)..., to); });
}

}  // namespace mpi

}  // namespace onefold
