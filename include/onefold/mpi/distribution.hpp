#pragma once
/// @file distribution.hpp  How the elements of an array lie on the ranks of a communicator, and what is under way on them. For mpi.hpp.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/error.hpp>
#include <onefold/order.hpp>
#include <onefold/reduce.hpp>

namespace onefold {
namespace detail {
namespace ranks {

/// Throws invalid_argument: there is no such rank.
inline void refuse_rank(int rank, int ranks, const char* what = " is none") {
  telling_of_lacking_memory([&rank, &ranks, &what] {
    throw error(errc::invalid_argument,
                std::string("rank ")
                    .append(std::to_string(rank))
                    .append(what)
                    .append(ranks > 0 ? ": the ranks are 0 to " + std::to_string(ranks - 1) : ": there are no ranks"));
  });
}

/// Of an array, on all ranks together.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 60;

/// Throws onefold::error where MPI has returned an error.
inline void check(int mpi_status, const char* function) {
  if (mpi_status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(mpi_status, text, &length);
  telling_of_lacking_memory([&function, &text, &length] {
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
    if (of == MPI_COMM_NULL)
      throw error(errc::invalid_argument, "the communicator is MPI_COMM_NULL, which this rank has where it is in none");
    int is_between_groups = 0;
    check(MPI_Comm_test_inter(of, &is_between_groups), "MPI_Comm_test_inter");
    if (is_between_groups != 0)
      throw error(errc::invalid_argument, "the communicator is one between two groups: give one whose ranks hold one array");
    try {
      make(of);
    } catch (...) {
      free_all();
      throw;
    }
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context() {
    if (!is_finalized()) free_all();
  }

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] MPI_Op merge() const noexcept { return merge_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Whether ranks compare what they call ahead of each call: ONEFOLD_MPI_CHECK is set on one of them.
  [[nodiscard]] bool compares_calls() const noexcept { return compares_calls_ != 0; }

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
  void make(MPI_Comm of) {
    // Without the caller's hints, of which some forbid what is done here: messages from any source, and short ones where long ones may come.
    check(MPI_Comm_dup_with_info(of, MPI_INFO_NULL, &comm_), "MPI_Comm_dup_with_info");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    check(MPI_Op_create(&merge_messages, 0, &merge_), "MPI_Op_create");
    const char* const wish = std::getenv("ONEFOLD_MPI_CHECK");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
    const int mine = wish != nullptr && *wish != '\0' && std::strcmp(wish, "0") != 0 ? 1 : 0;
    check(MPI_Allreduce(&mine, &compares_calls_, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  }
  void free_all() noexcept {
    for (auto& made : types_) MPI_Type_free(&made.second);
    if (merge_ != MPI_OP_NULL) MPI_Op_free(&merge_);
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Op merge_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
  int compares_calls_ = 0;
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
  /// Of elements of any size: with room for so many a message says by its size nothing of them, and calls that differ in them are told apart by what it says.
  [[nodiscard]] std::uint32_t most_values() const noexcept {
    std::uint32_t most = 1;
    for (const plan& each : plans) most = std::max(most, each.values);
    return most;
  }

  explicit distribution(MPI_Comm comm) : on(comm) {}

  /// What calls must have in common, in the order of `differing`; of rank_of() the first is 2, and the last the index.
  static constexpr std::size_t compared = 6;
  /// Collective: throws communication_failed where ranks give other numbers.
  void compare_calls(const std::array<std::int64_t, compared>& call) {
    static constexpr const char* differing[compared] = {"what is called, or whether it is waited for",
                                                        "its root",
                                                        "whether it is exact",
                                                        "the number of reductions",
                                                        "the number of operators of the caller's",
                                                        "forms, types, numbers of results, or the index"};
    std::int64_t mine[2 * compared] = {}, all[2 * compared] = {};
    for (std::size_t k = 0; k < compared; ++k) {
      mine[k] = call[k];
      mine[compared + k] = -call[k];
    }
    MPI_Request request = MPI_REQUEST_NULL;  // not waited for in MPI alone, which would let no tree go on
    check(MPI_Iallreduce(mine, all, static_cast<int>(2 * compared), MPI_INT64_T, MPI_MAX, on.comm(), &request), "MPI_Iallreduce");
    check(wait_for(1, &request), "MPI_Waitall");
    for (std::size_t k = 0; k < compared; ++k)
      if (all[k] != -all[compared + k])
        telling_of_lacking_memory([&k] {
          throw error(errc::communication_failed,
                      std::string("the ranks do not make the same call: they differ in ") + differing[k]);
        });
  }

  /// Collective.
  [[nodiscard]] int rank_of(std::uint64_t index) {
    if (on.compares_calls()) compare_calls({2, 0, 0, 0, 0, static_cast<std::int64_t>(index % (std::uint64_t{1} << 62))});
    if (!is_layout)
      telling_of_lacking_memory(
          [] { throw error(errc::invalid_argument, "no element has an index where ranks hold any of them: make a layout"); });
    if (index >= total)
      telling_of_lacking_memory([this, &index] {
        throw error(errc::invalid_argument,
                    "there is no element " + std::to_string(index) + ": all ranks together have " + std::to_string(total));
      });
    const int mine = index - begin < count ? on.rank() : -1;
    int found = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(&mine, &found, 1, MPI_INT, MPI_MAX, on.comm(), &request), "MPI_Iallreduce");
    check(wait_for(1, &request), "MPI_Waitall");  // others may wait for what is under way here
    return found;
  }

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
    struct agreed {
      int head[sizes], tail[sizes], is_cut[sizes];
      int has_too_many, is_elsewhere;
    } local, all;
    local.has_too_many = count > most_elements || begin > most_elements ? 1 : 0;
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
    if (all.has_too_many != 0 || total > most_elements)
      throw error(errc::invalid_argument, "a layout has at most 2^60 elements: is a count negative?");
    if (all.is_elsewhere != 0)
      throw error(
          errc::invalid_argument,
          local.is_elsewhere == 0
              ? std::string(
                    "the ranges of the ranks are not those of rank after rank, from 0 on: renumber the ranks with MPI_Comm_split")
              : "the range of this rank begins at " + std::to_string(*given_begin) + " and those of the ranks before it end at " +
                    std::to_string(begin) + ": renumber the ranks with MPI_Comm_split, or mend where they begin and end");
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
      try {
        of.senders.push_back({from.MPI_SOURCE, elements});
      } catch (...) {  // what is sent lies in this plan
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        throw;
      }
    }
    if (!of.senders.empty()) of.tail = (begin + count) % tile_of(s);
    std::sort(of.senders.begin(), of.senders.end(), [](const plan::sender& a, const plan::sender& b) { return a.rank < b.rank; });
    check(MPI_Wait(&sent, MPI_STATUS_IGNORE), "MPI_Wait");
  }
};

}  // namespace ranks
}  // namespace detail
}  // namespace onefold
