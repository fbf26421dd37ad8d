#pragma once
/// @file transfer.hpp  Reductions of a batch over ranks, from the local ones to the results: what is sent to whom. For mpi.hpp; decision 0030.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <onefold/mpi/distribution.hpp>
#include <onefold/mpi/part.hpp>
#include <onefold/mpi/states.hpp>
#include <onefold/multi_dot.hpp>
#include <onefold/reduce.hpp>

namespace onefold {
namespace detail {
namespace ranks {

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

  /// Throws where the reductions are under way, which are to be waited for before ..
  void refuse_while_under_way(const char* what) const {
    if (is_under_way_)
      telling_of_lacking_memory(
          [&what] { throw error(errc::invalid_argument, std::string("the batch is under way: wait for it before ") + what); });
  }

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
      start_messages(how, false);
      return finish();
    }
    unless_mpi_fails([this, &how] {
      gave_up_ = std::exchange(gives_up, false);
      compare_calls(how, true);
      prepare(how);
      with_messages([this](const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op) {
        if (root < 0)
          check(MPI_Allreduce(mine, all, count, type, op, of_.on.comm()), "MPI_Allreduce");
        else
          check(MPI_Reduce(mine, all, count, type, op, root, of_.on.comm()), "MPI_Reduce");
      });
      start_tree();
    });
    finish();
  }
  void start(const options& how) { start_messages(how, true); }
  bool test() {
    if (!is_under_way_) return true;
    int done = 1;
    const int status = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    if (status != MPI_SUCCESS) {
      forget_what_is_under_way();
      check(status, "MPI_Testall");
    }
    of_.advance_all();
    return done != 0 && tree_.is_through();
  }
  void wait() {
    if (is_under_way_) finish();
  }

 private:
  void start_messages(const options& how, bool without_waiting) {
    unless_mpi_fails([this, &how, &without_waiting] {
      gave_up_ = std::exchange(gives_up, false);
      compare_calls(how, !without_waiting);
      if (without_waiting && !states.empty()) of_.starts_trees = true;
      prepare(how);
      with_messages([this](const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op) {
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
  void forget_what_is_under_way() noexcept {
    requests_.clear();
    tree_.abandon();
    is_under_way_ = false;
  }
  template <class Body>
  void unless_mpi_fails(const Body& body) {
    refuse_while_under_way("it is started again");
    try {
      body();
    } catch (...) {
      forget_what_is_under_way();
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

  [[nodiscard]] bool asks_for_exact(const options& how) const noexcept {
    return how.guarantee == guarantee::exact || (!of_.is_layout && !how.guarantee);
  }

  // Where ONEFOLD_MPI_CHECK is set: what ranks must have in common, or some may wait for others for ever. Ahead of all that is counted or sent, so that calls
  // that agree again go on as if there had been none.
  void compare_calls(const options& how, bool waits) {
    if (!of_.on.compares_calls()) return;
    std::uint64_t hash = of_.total + 1;
    const auto add_to_hash = [&hash](std::uint64_t more) { hash = hash * 1000003 + more; };
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& each = parts[i];
      for (int k = 0; k < each.results; ++k) add_to_hash(static_cast<std::uint64_t>(each.form_of_result(k)));
      for (const int more : {static_cast<int>(each.type), static_cast<int>(each.form), each.results, each.arrays()})
        add_to_hash(static_cast<std::uint64_t>(more));
      for (const bool more : {each.wide, each.store_nothing != nullptr, each.counts_present}) add_to_hash(more ? 1 : 0);
      add_to_hash(each.number_beside_its_form());
    }
    for (const state_part* each : states) add_to_hash(each->signature());
    of_.compare_calls({waits ? 1 : 0, root, asks_for_exact(how) ? 1 : 0, static_cast<std::int64_t>(parts.size()),
                       static_cast<std::int64_t>(states.size()), static_cast<std::int64_t>(hash >> 1)});
  }

  void prepare(const options& how) {
    telling_of_lacking_memory([this, &how] { make_messages(how); });
    is_under_way_ = true;
    if (gave_up_)
      failed_rank_ = of_.on.rank();
    else
      attempt([this, &how] {
        for (const part& each : parts) {
          if (each.values != nullptr) each.values->begin(where);
          check_part(each, how);
          if (each.result == nullptr && is_root())
            throw error(errc::null_pointer, "the result pointer of " + each.text() + " is null: give the address of one result");
          if (reinterpret_cast<std::uintptr_t>(each.result) % each.result_alignment() != 0)  // of C's, which has no type
            throw error(errc::misaligned_pointer, "the result pointer of " + each.text() + " is not aligned to its type");
          if (each.values != nullptr) each.values->check_arrays(where, each.count);
        }
        for (const state_part* each : states) {
          each->check(of_, how);
          if (!each->has_place() && is_root())
            throw error(errc::null_pointer,
                        "the result pointer of an operator of your own is null: give the address of one result");
        }
      });
    send_heads();
    attempt_more([this, &how] {
      reduce_all(how);
      for (state_part* each : states) each->reduce(of_, where, how);
    });
    receive_heads();
    attempt_more([this] { tell_presence(); });
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
    const bool exactly = asks_for_exact(how);
    failure_ = nullptr;
    failed_with_ = ONEFOLD_OK;
    failed_rank_ = -1;
    if (!states.empty()) tree_.prepare(states, root);
    is_exact_.assign(parts.size(), 0);
    kinds_.clear();
    std::size_t words = 0, head_bytes = 0;
    std::uint64_t signature = of_.total + 1;
    beside_forms_ = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& each = parts[i];
      beside_forms_ = beside_forms_ * 1000003 + each.number_beside_its_form();
      if (exactly && each.has_exact_state()) {
        is_exact_[i] = 1;
        words += exact_words_of(each);
        signature = signature * 1000003 + static_cast<std::uint64_t>(each.exact_form()) * 64 +
                    static_cast<std::uint64_t>(each.type) + (each.wide ? 32 : 0) + static_cast<std::uint64_t>(each.results) * 8191 +
                    each.number_beside_its_form() * 524287;
      } else {
        for (int k = 0; k < each.results; ++k)
          kinds_.push_back({static_cast<std::int32_t>(each.type), static_cast<std::int32_t>(each.form_of_result(k)), each.flags(),
                            of_.most_values()});
        head_bytes += std::size_t{8192} * static_cast<std::size_t>(each.results);
      }
      // On how many ranks a value is there, or how many are.
      if (tells_presence(i)) kinds_.push_back({ONEFOLD_U64, ONEFOLD_SUM, 0, 1});
    }
    words_.assign(words == 0 ? 0 : guard_words + words, 0);
    words_of_all_.resize(words_.size());
    signature_ = static_cast<std::int64_t>(signature % 2097143);  // whose squares' sum over 2^21 ranks is no overflow of int64
    if (words > 0) words_[2] = signature_, words_[3] = signature_ * signature_;
    if (kinds_.empty())
      message_.clear();
    else if (kinds_.size() != kinds_of_blank_.size() || root != root_of_blank_ || beside_forms_ != beside_forms_of_blank_ ||
             std::memcmp(kinds_.data(), kinds_of_blank_.data(), kinds_.size() * sizeof(kinds_[0])) != 0)
      make_blank();
    if (!kinds_.empty()) message_ = blank_;
    requests_.clear();
    requests_.reserve(2 + sizes * (1 + (head_bytes + sizeof(head_header)) / chunk_bytes));
  }

  // Of all results of a reduction that is exact.
  static std::size_t exact_words_of(const part& of) { return of.exact_words() * static_cast<std::size_t>(of.results); }
  // Whether the last of its parts says which values are there. Exact means have that in their states.
  [[nodiscard]] bool tells_presence(std::size_t i) const {
    return parts[i].store_nothing != nullptr || (parts[i].is_mean_of_present() && is_exact_[i] == 0);
  }
  // Parts of the message that are those of reduction i.
  [[nodiscard]] std::size_t message_parts(std::size_t i) const {
    return (is_exact_[i] != 0 ? 0 : static_cast<std::size_t>(parts[i].results)) + (tells_presence(i) ? 1 : 0);
  }

  // A message of which nothing is known yet, for these reductions: most calls are as the one before.
  void make_blank() {
    kinds_of_blank_.clear();
    blank_.clear();
    const std::size_t bytes = onefold_message_bytes(kinds_.data(), kinds_.size());
    if (bytes == 0) {  // which says what is wrong
      std::uint64_t nowhere = 0;
      check_status(onefold_message_begin(&nowhere, bytes, kinds_.data(), kinds_.size(), 0, 0));
    }
    blank_.resize(bytes / sizeof(std::uint64_t));
    message_of_all_.resize(blank_.size());
    check_status(onefold_message_begin(blank_.data(), bytes, kinds_.data(), kinds_.size(),
                                       (of_.total * 64 + static_cast<std::uint64_t>(root + 1)) ^ (beside_forms_ << 20),
                                       of_.on.rank()));
    message_type_ = of_.on.type_of(bytes);
    beside_forms_of_blank_ = beside_forms_;
    kinds_of_blank_ = kinds_;
    root_of_blank_ = root;
  }

  void check_part(const part& each, const options& how) const {
    const bool is_exact = asks_for_exact(how);
    const bool has_state = each.has_exact_state();
    if (each.values != nullptr && each.count > std::uint64_t{1} << 62)
      throw error(errc::invalid_argument, "the number of indices is negative");
    if (of_.is_layout && each.count != of_.count)
      throw error(errc::invalid_argument, "the layout has " + std::to_string(of_.count) +
                                              " elements on this rank, and the reduction " + std::to_string(each.count) +
                                              ": make a layout for each distribution");
    if (each.count != each.second_count) throw_different_lengths(each.count, each.second_count);
    if (each.is_free_of_order()) {
      if (how.guarantee == guarantee::exact && !each.is_exact_in_any_order())
        throw error(errc::guarantee_not_met,
                    each.text() + " has no exact result, since absolute values are rounded: leave the guarantee away");
      if (!of_.is_layout && has_index(each.form))
        throw error(
            errc::invalid_argument,
            each.text() +
                " needs a layout: without one elements have no index (where they lie anyhow, reduce values that carry one of your "
                "own with an operator: docs/ranks.md)");
    } else if (!of_.is_layout && !(is_exact && has_state)) {
      throw error(
          errc::guarantee_not_met,
          each.text() + " depends on the order of the elements, and a communicator knows none: make a layout" +
              (has_state                   ? ", or ask for guarantee::exact"
               : each.operators != nullptr ? ", or add a sum, a min and so on to an mpi::batch, each with a function of its own"
                                           : ""));
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
  void for_ordered(int s, const Each& each) const {
    std::size_t which = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (is_exact_[i] == 0 && !parts[i].is_free_of_order() && parts[i].tile_size() == s) each(i, which);
      which += message_parts(i);
    }
  }

  // A rank that has failed sends too, and so does one that has no elements to send, as for an extremum: ranks that ask for different forms
  // do not wait for each other.
  void send_heads() {
    for_cut_sizes([this](int s, const plan& of) {
      if (of.owner < 0) return;
      head_header header{onefold_message_signature(message_.data()), 0, 0, 0};
      std::vector<std::byte>& head = heads_[s];
      attempt_more([this, &s, &of, &head] { copy_heads(s, of, head); });
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
    for_ordered(s, [this, &head, &of](std::size_t i, std::size_t) {
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
    if (each.is_of_products)
      return check_status(onefold_copy_products(type, c_executor(where), &each.products, from, count, to[0]));
    if (each.values != nullptr) {
      if (const onefold_made_values* const made = each.values->made()) {
        const value_source on_gpu{made->context, made->fill};
        each.values->check(onefold_copy_values(type, c_executor(serial()), &on_gpu, from, count, to));
        return each.values->check(made->wait(made->context) == 0 ? ONEFOLD_OK : ONEFOLD_CALLBACK_FAILED);
      }
      return each.values->check(onefold_copy_values(type, c_executor(where), each.values->kept_source(), from, count, to));
    }
    for (int k = 0; k < each.arrays(); ++k)
      check_status(onefold_copy_elements(type, c_executor(where), each.array(k, from), count, to[k]));
  }

  // Of a rank that has nothing to reduce, because it has no elements, or others have its tile.
  void begin_report(report& of) const {
    of = {};
    of.variant = of.implementation = "fixed_order";
    of.backend = where.chooses_itself() ? backend::serial : where.backend();
    of.guarantee = guarantee::fixed;
  }

  // All elements but those that were sent away, and those of a last tile of which others have some.
  void reduce_all(const options& how) {
    std::size_t words = guard_words, which = 0;
    if (how.report != nullptr) begin_report(*how.report);
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
        else if (each.is_of_products)
          add_products(which, each.products, from, to - from, by_order);
        else
          add(which, where, each.array(0, from), each.array(1, from), of_.begin + from, to - from, by_order);
      } else {
        std::uint64_t unused[2 * most_results];
        request what{where, each.type, each.form, each.x, each.count, unused, true, each.y};
        if (each.is_of_products) {
          what.form = form::dot;
          what.type = static_cast<element_type>(each.products.x_type);
          what.input = each.products.x;
          what.second = each.products.y;
          what.second_type = 1 + each.products.y_type;
          what.wide = static_cast<std::int32_t>(each.type) != onefold_mixed_dot_type(each.products.x_type, each.products.y_type);
        }
        what.exact_state = words_.data() + words;
        what.results = each.results;
        if (each.values != nullptr) {
          what.input = nullptr;
          what.source = each.values->source();
          what.device = each.values->exact_on_gpu();
          if (each.counts_present) what.present = each.values->tells_present();
        }
        const int status = status_of_run(what, exactly);
        each.values != nullptr ? each.values->check(status) : check_status(status);
        words += exact_words_of(each);
      }
      which += message_parts(i);
    }
  }
  // Those of a function, which has indices of its own.
  void add_values(std::size_t which, const part& each, std::uint64_t from, std::uint64_t count, const options& how) {
    each.values->check(with_c_options(how, [this, &each, &which, &from, &count](const onefold_options* wishes) {
      if (const own_code* const code = each.values->code())
        return onefold_message_add_own(message_.data(), which, c_executor(where), code, from, of_.begin + from, count, of_.total,
                                       wishes);
      if (const onefold_made_values* const made = each.values->made())
        return onefold_message_add_made(message_.data(), which, static_cast<std::size_t>(each.results), made, from,
                                        of_.begin + from, count, of_.total, wishes);
      return onefold_message_add_values(message_.data(), which, static_cast<std::size_t>(each.results), c_executor(where),
                                        each.values->source(), from, of_.begin + from, count, of_.total, wishes);
    }));
  }
  void add_products(std::size_t which, const onefold_products& of, std::uint64_t from, std::uint64_t count, const options& how) {
    check_status(with_c_options(how, [this, &which, &of, &from, &count](const onefold_options* wishes) {
      return onefold_message_add_products(message_.data(), which, c_executor(where), &of, from, of_.begin + from, count, of_.total,
                                          wishes);
    }));
  }
  // Whether there is a value, where that is more than the value of all says: of no values a sum is +0, and of what stands for absent ones -0.
  void tell_presence() {
    std::size_t which = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      which += message_parts(i);
      if (!tells_presence(i)) continue;
      const function_values& values = *parts[i].values;
      const std::uint64_t present = parts[i].is_mean_of_present() ? values.present() : values.any_present() ? 1 : 0;
      add(which - 1, serial(), &present, nullptr, 0, 1, {});
    }
  }
  void add(std::size_t which, const executor& here, const void* x, const void* y, std::uint64_t first, std::uint64_t count,
           const options& how) {
    check_status(with_c_options(how, [this, &which, &here, &x, &y, &first, &count](const onefold_options* wishes) {
      return onefold_message_add(message_.data(), which, c_executor(here), x, y, first, count, of_.total, wishes);
    }));
  }

  // All that was sent is received, whatever has failed, so that nothing of it is left for the next call.
  void receive_heads() {
    for_cut_sizes([this](int s, const plan& of) {
      if (of.senders.empty()) return;
      std::vector<std::vector<std::byte>>& tiles = tiles_[s];  // an array of each reduction
      attempt_more([this, &s, &tiles, &of] {
        std::size_t used = 0;
        for_ordered(s, [this, &used, &tiles, &of](std::size_t i, std::size_t) {
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
        telling_of_lacking_memory([this, &bytes] { received_.resize(std::max(received_.size(), bytes + 1)); });
        std::memcpy(received_.data(), first + sizeof(header), here);
        for (std::size_t at = here; at < bytes; at += chunk_bytes)
          receive(received_.data() + at, std::min(bytes - at, chunk_bytes), from.rank, s);
        if (has_failed()) continue;
        if (header.has_failed != 0 || header.signature != onefold_message_signature(message_.data()) ||
            bytes != bytes_of_heads(s, from.count)) {
          failed_rank_ = from.rank;
          failed_with_ = header.has_failed != 0 ? static_cast<std::int32_t>(header.status)
                                                : static_cast<std::int32_t>(ONEFOLD_COMMUNICATION_FAILED);
        } else {
          attempt_more([this, &s, &from, &tiles] { take_heads(s, from, tiles); });
        }
      }
      attempt_more([this, &s, &tiles, &of] {
        std::size_t used = 0;
        for_ordered(s, [this, &used, &tiles, &of](std::size_t i, std::size_t which) {
          const part& each = parts[i];
          const std::size_t next = used + static_cast<std::size_t>(each.arrays());
          if (each.values != nullptr && each.values->adds_kept()) {
            const void* const arrays[] = {tiles[used].data(), tiles[used + 1].data()};
            check_status(each.values->add_kept(message_.data(), which, arrays, of_.begin + of_.count - of.tail,
                                               tiles[used].size() / each.element_bytes(), of_.total));
            used = next;
            return;
          }
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
  // Of moments of values that may be absent on one rank and not on another there are as many trees, and not as many arrays.
  [[nodiscard]] std::size_t bytes_of_heads(int s, std::uint64_t elements) const {
    std::size_t bytes = 0;
    for_ordered(s, [this, &bytes, &elements](std::size_t i, std::size_t) {
      bytes += static_cast<std::size_t>(parts[i].arrays()) * static_cast<std::size_t>(elements) * parts[i].element_bytes();
    });
    return bytes;
  }
  void take_heads(int s, const plan::sender& from, std::vector<std::vector<std::byte>>& tiles) {
    const std::byte* next = received_.data();
    std::size_t used = 0;
    for_ordered(s, [this, &from, &tiles, &used, &next](std::size_t i, std::size_t) {
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
    if (words_.empty() || failed_rank_ != of_.on.rank()) return;  // another says so itself, and this one's words are complete
    std::fill(words_.begin(), words_.end(), 0);
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
    if (gave_up_) return;
    if (!states.empty()) tree_.throw_what_has_failed();
    if (!is_root()) return;
    if (!words_.empty()) check_guards();
    const std::int64_t* words = words_of_all_.empty() ? nullptr : words_of_all_.data() + guard_words;
    std::size_t which = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& each = parts[i];
      if (is_exact_[i] == 0) {
        const std::uint64_t total = of_.is_layout ? of_.total : UINT64_MAX;
        if (each.is_mean_of_present()) {
          std::uint64_t present = 0;
          check_status(result_of_message(which + static_cast<std::size_t>(each.results), UINT64_MAX, 0, &present));
          for (int k = 0; k < each.results; ++k)
            check_status(onefold_message_mean_of_present(message_of_all_.data(), which + static_cast<std::size_t>(k), of_.on.size(),
                                                         total, present, each.place_of_result(k)));
        } else {
          for (int k = 0; k < each.results; ++k)
            check_status(result_of_message(which + static_cast<std::size_t>(k), total, each.ddof, each.place_of_result(k)));
        }
      } else {
        const auto type = static_cast<std::int32_t>(each.type), what = static_cast<std::int32_t>(each.exact_form());
        for (int k = 0; k < each.results; ++k, words += each.exact_words())
          check_status(onefold_exact_result(type, what, each.flags(), each.ddof, words, each.place_of_result(k)));
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
  // Equal numbers are those whose squares have the square of their mean as a mean. Ranks that have failed add none, only how many they are.
  void check_guards() const {
    const std::int64_t failed = words_of_all_[0], others = of_.on.size() - failed;
    if (failed < 0 || others < 0 || words_of_all_[2] != others * signature_ || words_of_all_[3] != others * signature_ * signature_)
      throw error(errc::communication_failed, "the ranks do not ask for the same reductions, or not with the same options");
    if (failed == 0) return;
    throw error(errc::communication_failed,
                (failed == 1 ? "rank " + std::to_string(words_of_all_[1] - 1) : std::to_string(failed) + " ranks") +
                    " could not take part in the reduction: what is thrown there says why");
  }

  distribution& of_;
  state_tree tree_;
  std::vector<char> is_exact_;
  std::vector<onefold_message_part> kinds_;  // of those that are not exact
  std::vector<onefold_message_part> kinds_of_blank_;
  int root_of_blank_ = -1;
  bool gave_up_ = false;            // of this call
  std::uint64_t beside_forms_ = 0;  // of all reductions
  std::uint64_t beside_forms_of_blank_ = 0;
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
    if (mine_ == nullptr) telling_of_lacking_memory([this, &from] { mine_ = std::make_unique<transfer>(from); });
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

/// multi_dot()'s results, and its dots as parts of a message.
template <class T>
void check_dots(const vector_list<T>& x, const vector_list<T>& y) {
  constexpr std::size_t most = ONEFOLD_MOST_DOTS;
  if (x.size() == 0 || y.size() == 0 || x.size() > most || y.size() > most || x.size() * y.size() > most)
    telling_of_lacking_memory([&x, &y] {
      throw error(errc::invalid_argument, "there are " + std::to_string(x.size()) + " by " + std::to_string(y.size()) +
                                              " dots: one call takes 1 to " + std::to_string(most));
    });
}
template <class T>
std::vector<T> places_of_dots(const vector_list<T>& x, const vector_list<T>& y) {
  check_dots(x, y);
  return telling_of_lacking_memory([&x, &y] { return std::vector<T>(x.size() * y.size()); });
}
template <class T>
void add_dots(std::vector<part>& to, const vector_list<T>& x, const vector_list<T>& y, T* results) {
  const auto place = [](const vector_list<T>& of, std::size_t k) { return static_cast<const T*>(of.places()[k]); };
  // Of another length than the first where not all have it: that is told of when the ranks have met.
  const std::uint64_t second = x.other_count() != x.count()   ? x.other_count()
                               : y.other_count() != x.count() ? y.other_count()
                                                              : y.count();
  to.reserve(to.size() + x.size() * y.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < y.size(); ++j, ++results)
      to.push_back(dot_of(array_view<T>{place(x, i), x.count()}, array_view<T>{place(y, j), second}, results));
}

/// What absent values of a form are replaced by, and the result where all are, if that is another.
template <form What, class T, bool Wide>
void store_result_of_nothing(void* result) {
  *static_cast<result_of_form<What, T, Wide>*>(result) = result_of_nothing<What, T, Wide>();
}
template <form What, class Space, class F, bool Counts, class... M>
part part_of_values(values_of_function<Space, F, Counts>& values, void* result, M... modifiers) {
  using callback = typename values_of_function<Space, F, Counts>::callback;
  using T = typename callback::element;
  static_assert(callback::results == 1 || !is_record(What),
                "over ranks forms with several results take functions of one value: add one for each to an mpi::batch");
  static_assert(!callback::can_be_absent || !is_record(What) || What == form::mean_variance,
                "extrema of values that may be absent go as operators of the caller's do");
  request what{serial(), element_type_of<T>, What, nullptr, values.space().size(), result, true};
  (apply<T>(what, modifiers), ...);
  part made{what.type, What, what.wide, what.ddof, nullptr, nullptr, what.count, what.count, result};
  made.values = &values;
  made.results = callback::results;
  made.counts_present = callback::can_be_absent && (What == form::mean || What == form::mean_variance);
  if constexpr (callback::can_be_absent && hides_that_all_are_absent<What, T>)
    made.store_nothing = store_result_of_nothing<What, T, (is_wide<M, T>() || ...)>;
  return made;
}

/// Of a dot of two types, which in C++ may be two names of one.
template <class T, class U, class A>
part part_of_products(array_view<T> x, array_view<U> y, A* result) {
  if constexpr (element_type_of<T> == element_type_of<U>) {
    constexpr bool wide = element_type_of<A> != accumulator_type(element_type_of<T>);
    return {element_type_of<T>, form::dot, wide, 0, x.data, y.data, x.count, y.count, result};
  }
  part made{element_type_of<A>, form::sum, false, 0, nullptr, nullptr, x.count, y.count, result};
  made.is_of_products = true;
  made.products = products_of(x.data, y.data);
  return made;
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

}  // namespace ranks
}  // namespace detail
}  // namespace onefold
