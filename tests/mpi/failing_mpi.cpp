#include "failing_mpi.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace onefold_test::failing_mpi {

namespace {

constexpr int most_ranks = 16, most_communicators = 16;

// What the ranks share. Zeroed by start().
struct shared_memory {
  std::atomic<int> is_broken;
  std::atomic<std::uint64_t> at_barrier;
  std::atomic<std::uint64_t> came[most_ranks][most_communicators];  // to how many collective operations of each communicator
  std::atomic<std::uint64_t> under_way;                             // messages that have been sent and not received, at the end
};

// An operation of several ranks, or a message, in memory of its own.
struct operation {
  bool is_collective = false;
  std::size_t on = 0;        // collective: the communicator's number
  std::uint64_t number = 0;  // and which of its operations this is, from 1
  bool has_begun = false;
  bool is_done = false;
  bool is_send = false;
  bool is_matched = false;  // what is received has been found before, and comes
  MPI_Request real = MPI_REQUEST_NULL;
  MPI_Request given = MPI_REQUEST_NULL;  // what the library waits for
  std::function<void(operation&)> begin;
  std::vector<std::byte> sent, received;
  void* to = nullptr;
  void deliver() {
    if (to != nullptr && !received.empty()) std::memcpy(to, received.data(), received.size());
  }
};

// A message that was found, and not yet asked for.
struct found_message {
  MPI_Message handle;
  int bytes;
};

struct communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  std::size_t number = 0;
  bool is_held = false;  // by the library
};

struct everything {
  MPI_Win window = MPI_WIN_NULL;
  shared_memory* shared = nullptr;
  int rank = 0, ranks = 1;
  bool is_armed = false;
  std::uint64_t fails_at = 0, calls = 0, barriers = 0;
  std::optional<std::string> failed;
  std::vector<std::unique_ptr<operation>> operations;  // in the order in which they were asked for
  std::vector<found_message> messages;
  std::vector<communicator> communicators;  // number 0 is the world
  std::vector<MPI_Op> freed_operators;
  std::vector<MPI_Datatype> freed_types;
  std::size_t made = 0;  // operators and types
};
everything& all() {
  static everything one;
  return one;
}

bool is_broken() { return all().shared->is_broken.load() != 0; }

// Counts a call of the library's and says whether it fails here.
bool fails(const char* name) {
  auto& my = all();
  if (!my.is_armed || ++my.calls != my.fails_at) return false;
  my.failed = name;
  my.shared->is_broken = 1;
  return true;
}

std::size_t number_of(MPI_Comm comm) {
  for (const communicator& one : all().communicators)
    if (one.handle == comm) return one.number;
  return 0;
}
std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

bool have_all_come(const operation& to) {
  for (int r = 0; r < all().ranks; ++r)
    if (all().shared->came[r][to.on].load() < to.number) return false;
  return true;
}
void advance(operation& one) {
  if (one.is_done) return;
  if (one.is_collective && !one.has_begun) {
    if (!have_all_come(one)) return;
    one.has_begun = true;
    one.begin(one);
  }
  int done = 1;
  PMPI_Test(&one.real, &done, MPI_STATUS_IGNORE);
  if (done == 0) return;
  one.is_done = true;
  if (one.is_collective && one.given != MPI_REQUEST_NULL) PMPI_Grequest_complete(one.given);
}
// All, since other ranks may wait for an operation which the library does not wait for here at the moment. Messages are the MPI's to advance.
void advance_all() {
  for (const auto& one : all().operations)
    if (one->is_collective) advance(*one);
}

// Looks once, as MPI_Improbe does. What a call that fails has not taken is left to settle().
int look_for(const char* name, int from, int tag, MPI_Comm comm, int* is_there, MPI_Message* message, MPI_Status* status) {
  advance_all();
  PMPI_Iprobe(from, tag, comm, is_there, MPI_STATUS_IGNORE);
  if (*is_there == 0) return is_broken() ? MPI_ERR_OTHER : MPI_SUCCESS;
  if (fails(name)) return MPI_ERR_OTHER;
  int bytes = 0;
  PMPI_Improbe(from, tag, comm, is_there, message, status);
  PMPI_Get_count(status, MPI_BYTE, &bytes);
  all().messages.push_back({*message, bytes});
  return MPI_SUCCESS;
}
void forget(MPI_Message message) {
  std::erase_if(all().messages, [message](const found_message& one) { return one.handle == message; });
}
void receive_unused(MPI_Message message, int bytes) {
  std::vector<std::byte> unused(static_cast<std::size_t>(bytes) + 1);
  PMPI_Mrecv(unused.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

// Ends a test that hangs, with a word of where.
class patience {
 public:
  explicit patience(const char* name) : name_(name) {}
  void wait() {
    sched_yield();
    if (std::chrono::steady_clock::now() < end_) return;
    std::fprintf(stderr, "rank %d has waited for 60 s in %s\n", all().rank, name_);
    std::abort();
  }

 private:
  const char* name_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(60);
};

void meet() {
  auto& my = all();
  const std::uint64_t expected = ++my.barriers * static_cast<std::uint64_t>(my.ranks);
  ++my.shared->at_barrier;
  for (patience some("a barrier"); my.shared->at_barrier.load() < expected; some.wait()) advance_all();
}

operation& add(operation&& one) { return *all().operations.emplace_back(std::make_unique<operation>(std::move(one))); }
void forget(const operation& one) {
  std::erase_if(all().operations, [&one](const auto& each) { return each.get() == &one; });
}

operation& come_to(MPI_Comm comm, std::function<void(operation&)> begin, std::size_t received_bytes, void* to) {
  operation made;
  made.is_collective = true;
  made.on = number_of(comm);
  made.number = ++all().shared->came[all().rank][made.on];
  made.begin = std::move(begin);
  made.received.resize(received_bytes);
  made.to = to;
  return add(std::move(made));
}
// Until it is done, or MPI is broken.
int wait_for(operation& one, const char* name) {
  for (patience some(name); !one.is_done; some.wait()) {
    advance_all();
    if (one.is_done) break;
    if (is_broken()) return MPI_ERR_OTHER;
  }
  one.deliver();
  forget(one);
  return MPI_SUCCESS;
}

template <class Begin>
int run_collective(const char* name, MPI_Comm comm, const void* send, void* receive, int count, MPI_Datatype type,
                   const Begin& begin) {
  if (fails(name) || is_broken()) return MPI_ERR_OTHER;
  operation& made = come_to(comm, begin, receive == nullptr ? 0 : bytes_of(count, type), receive);
  const auto* const first = static_cast<const std::byte*>(send);
  made.sent.assign(first, first + bytes_of(count, type));
  return wait_for(made, name);
}
template <class Begin>
int start_collective(const char* name, MPI_Comm comm, const void* send, void* receive, int count, MPI_Datatype type,
                     const Begin& begin, MPI_Request* request) {
  if (fails(name) || is_broken()) return MPI_ERR_OTHER;
  operation& made = come_to(comm, begin, receive == nullptr ? 0 : bytes_of(count, type), receive);
  const auto* const first = static_cast<const std::byte*>(send);
  made.sent.assign(first, first + bytes_of(count, type));
  PMPI_Grequest_start(
      [](void*, MPI_Status* status) {
        PMPI_Status_set_elements(status, MPI_BYTE, 0);
        PMPI_Status_set_cancelled(status, 0);
        return MPI_SUCCESS;
      },
      [](void*) { return MPI_SUCCESS; }, [](void*, int) { return MPI_SUCCESS; }, nullptr, &made.given);
  *request = made.given;
  return MPI_SUCCESS;
}

int start_message(MPI_Request* request, operation&& one) {
  operation& made = add(std::move(one));
  made.given = made.real;
  *request = made.real;
  return MPI_SUCCESS;
}

operation* find(MPI_Request given) {
  for (const auto& one : all().operations)
    if (given != MPI_REQUEST_NULL && one->given == given) return one.get();
  return nullptr;
}
// Whether these are done, of which the library learns then: `statuses` of what has come.
int test_all(const char* name, int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const std::vector<MPI_Request> before(requests, requests + count);
  advance_all();
  const int status = PMPI_Testall(count, requests, done, statuses);
  if (status != MPI_SUCCESS || *done == 0) return status != MPI_SUCCESS || is_broken() ? MPI_ERR_OTHER : MPI_SUCCESS;
  const bool is_an_error = fails(name);
  for (const MPI_Request& each : before) {
    operation* const one = find(each);
    if (one == nullptr) continue;
    if (!is_an_error) one->deliver();
    forget(*one);
  }
  return is_an_error ? MPI_ERR_OTHER : MPI_SUCCESS;
}
int wait_all(const char* name, int count, MPI_Request* requests, MPI_Status* statuses) {
  int done = 0, status = MPI_SUCCESS;
  for (patience some(name); status == MPI_SUCCESS; some.wait()) {
    status = test_all(name, count, requests, &done, statuses);
    if (done != 0) break;
  }
  return status;
}

int wait_for_message(const char* name, int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  int is_there = 0, found = MPI_SUCCESS;
  for (patience some(name); found == MPI_SUCCESS; some.wait()) {
    found = look_for(name, from, tag, comm, &is_there, message, status);
    if (is_there != 0) break;
  }
  return found;
}

}  // namespace

void start() {
  auto& my = all();
  PMPI_Comm_rank(MPI_COMM_WORLD, &my.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &my.ranks);
  if (my.ranks > most_ranks) PMPI_Abort(MPI_COMM_WORLD, 1);
  void* mine = nullptr;
  MPI_Aint bytes = 0;
  int unit = 1;
  PMPI_Win_allocate_shared(my.rank == 0 ? sizeof(shared_memory) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&mine),
                           &my.window);
  PMPI_Win_shared_query(my.window, 0, &bytes, &unit, static_cast<void*>(&mine));
  if (my.rank == 0) std::memset(mine, 0, sizeof(shared_memory));
  my.shared = static_cast<shared_memory*>(mine);
  PMPI_Barrier(MPI_COMM_WORLD);
}

void stop() {
  meet();
  PMPI_Win_free(&all().window);
}

void watch() {
  auto& my = all();
  my.fails_at = 0;
  my.failed.reset();
  my.is_armed = true;
}

void arm(int culprit, std::uint64_t k) {
  auto& my = all();
  meet();  // what was called ahead of this fails nowhere
  my.calls = 0;
  my.fails_at = my.rank == culprit ? k : 0;
}

remains settle() {
  auto& my = all();
  my.is_armed = false;
  meet();  // nobody comes to anything new
  remains found;
  found.was_broken = is_broken();
  found.under_way = my.operations.size();
  found.not_freed = std::exchange(my.made, 0) - my.freed_operators.size() - my.freed_types.size();
  for (const communicator& one : my.communicators) found.not_freed += one.is_held ? 1 : 0;
  // Operations that all have come to come to their end. Others have begun on no rank.
  for (const auto& one : my.operations)
    if (one->is_collective && have_all_come(*one))
      for (patience some("the end of what is under way"); !one->is_done; some.wait()) advance_all();
  for (const auto& one : my.operations) {
    if (one->is_collective) {
      if (!one->is_done && one->given != MPI_REQUEST_NULL) PMPI_Grequest_complete(one->given);
      if (one->given != MPI_REQUEST_NULL) PMPI_Wait(&one->given, MPI_STATUS_IGNORE);
    } else if (!one->is_send) {
      if (!one->is_matched) PMPI_Cancel(&one->real);
      PMPI_Wait(&one->real, MPI_STATUS_IGNORE);
    }
  }
  std::erase_if(my.operations, [](const auto& one) { return !one->is_send; });
  for (const found_message& one : std::exchange(my.messages, {})) receive_unused(one.handle, one.bytes);
  // Messages that nobody asks for: received here, until all that were sent have left.
  patience some("the end of messages");
  for (bool is_quiet = false; !is_quiet; some.wait()) {
    meet();
    my.shared->under_way = 0;
    meet();
    for (const communicator& one : my.communicators)
      while (one.handle != MPI_COMM_NULL) {
        int is_there = 0, bytes = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status about;
        PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, one.handle, &is_there, &message, &about);
        if (is_there == 0) break;
        PMPI_Get_count(&about, MPI_BYTE, &bytes);
        receive_unused(message, bytes);
        ++my.shared->under_way;
      }
    std::erase_if(my.operations, [](const auto& one) {
      int done = 0;
      PMPI_Test(&one->real, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    my.shared->under_way += my.operations.size();
    meet();
    is_quiet = my.shared->under_way == 0;
  }
  for (MPI_Op& one : my.freed_operators) PMPI_Op_free(&one);
  for (MPI_Datatype& one : my.freed_types) PMPI_Type_free(&one);
  my.freed_operators.clear();
  my.freed_types.clear();
  for (communicator& one : my.communicators)
    if (one.handle != MPI_COMM_NULL) PMPI_Comm_free(&one.handle);
  my.communicators.clear();
  for (auto& came : my.shared->came[my.rank]) came = 0;
  my.shared->is_broken = 0;
  meet();
  return found;
}

std::uint64_t calls_made() { return all().calls; }
std::optional<std::string> failed_call() { return all().failed; }

}  // namespace onefold_test::failing_mpi

// --- the library's calls ----------------------------------------------------------------------------------------------------------------------

using namespace onefold_test::failing_mpi;

extern "C" {

// Kept until settle(), where all ranks are: what is under way may need it, and some MPIs wait for the others here.
int MPI_Comm_free(MPI_Comm* comm) {
  for (communicator& one : all().communicators)
    if (one.is_held && one.handle == *comm) {
      one.is_held = false;
      *comm = MPI_COMM_NULL;
      return fails("MPI_Comm_free") ? MPI_ERR_OTHER : MPI_SUCCESS;
    }
  return PMPI_Comm_free(comm);
}
int MPI_Op_free(MPI_Op* op) {
  if (!all().is_armed) return PMPI_Op_free(op);
  all().freed_operators.push_back(std::exchange(*op, MPI_OP_NULL));
  return fails("MPI_Op_free") ? MPI_ERR_OTHER : MPI_SUCCESS;
}
int MPI_Type_free(MPI_Datatype* type) {
  if (!all().is_armed) return PMPI_Type_free(type);
  all().freed_types.push_back(std::exchange(*type, MPI_DATATYPE_NULL));
  return fails("MPI_Type_free") ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  if (!all().is_armed) return PMPI_Comm_dup_with_info(comm, info, made);
  if (fails("MPI_Comm_dup_with_info") || is_broken()) return MPI_ERR_OTHER;
  const std::size_t which = all().communicators.size();
  all().communicators.push_back({MPI_COMM_NULL, which + 1, false});
  if (which + 1 >= most_communicators) std::abort();
  operation& one = come_to(
      comm, [comm, info, which](operation&) { PMPI_Comm_dup_with_info(comm, info, &all().communicators[which].handle); }, 0,
      nullptr);
  const int status = wait_for(one, "MPI_Comm_dup_with_info");
  if (status != MPI_SUCCESS) return status;
  all().communicators[which].is_held = true;
  *made = all().communicators[which].handle;
  return MPI_SUCCESS;
}
int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!all().is_armed) return PMPI_Allreduce(send, receive, count, type, op, comm);
  return run_collective("MPI_Allreduce", comm, send, receive, count, type, [=](operation& one) {
    PMPI_Iallreduce(one.sent.data(), one.received.data(), count, type, op, comm, &one.real);
  });
}
int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  if (!all().is_armed) return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
  return start_collective(
      "MPI_Iallreduce", comm, send, receive, count, type,
      [=](operation& one) { PMPI_Iallreduce(one.sent.data(), one.received.data(), count, type, op, comm, &one.real); }, request);
}
int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  if (!all().is_armed) return PMPI_Reduce(send, receive, count, type, op, root, comm);
  return run_collective("MPI_Reduce", comm, send, all().rank == root ? receive : nullptr, count, type, [=](operation& one) {
    PMPI_Ireduce(one.sent.data(), one.received.data(), count, type, op, root, comm, &one.real);
  });
}
int MPI_Ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  if (!all().is_armed) return PMPI_Ireduce(send, receive, count, type, op, root, comm, request);
  return start_collective(
      "MPI_Ireduce", comm, send, all().rank == root ? receive : nullptr, count, type,
      [=](operation& one) { PMPI_Ireduce(one.sent.data(), one.received.data(), count, type, op, root, comm, &one.real); }, request);
}
int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!all().is_armed) return PMPI_Exscan(send, receive, count, type, op, comm);
  return run_collective("MPI_Exscan", comm, send, all().rank == 0 ? nullptr : receive, count, type, [=](operation& one) {
    one.received.resize(bytes_of(count, type));  // of rank 0 nothing is delivered
    PMPI_Iexscan(one.sent.data(), one.received.data(), count, type, op, comm, &one.real);
  });
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!all().is_armed) return PMPI_Isend(from, count, type, to, tag, comm, request);
  if (fails("MPI_Isend") || is_broken()) return MPI_ERR_OTHER;
  operation made;
  made.is_send = true;
  const auto* const first = static_cast<const std::byte*>(from);
  made.sent.assign(first, first + bytes_of(count, type));
  PMPI_Isend(made.sent.data(), count, type, to, tag, comm, &made.real);
  return start_message(request, std::move(made));
}
int MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!all().is_armed) return PMPI_Irecv(to, count, type, from, tag, comm, request);
  if (fails("MPI_Irecv") || is_broken()) return MPI_ERR_OTHER;
  operation made;
  made.received.resize(bytes_of(count, type));
  made.to = to;
  PMPI_Irecv(made.received.data(), count, type, from, tag, comm, &made.real);
  return start_message(request, std::move(made));
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* is_there, MPI_Message* message, MPI_Status* status) {
  return all().is_armed ? look_for("MPI_Improbe", from, tag, comm, is_there, message, status)
                        : PMPI_Improbe(from, tag, comm, is_there, message, status);
}
int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return all().is_armed ? wait_for_message("MPI_Mprobe", from, tag, comm, message, status)
                        : PMPI_Mprobe(from, tag, comm, message, status);
}
int MPI_Recv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!all().is_armed) return PMPI_Recv(to, count, type, from, tag, comm, status);
  MPI_Message message = MPI_MESSAGE_NULL;
  const int found = wait_for_message("MPI_Recv", from, tag, comm, &message, status);
  if (found != MPI_SUCCESS) return found;
  forget(message);
  return PMPI_Mrecv(to, count, type, &message, status);
}
int MPI_Imrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (!all().is_armed) return PMPI_Imrecv(to, count, type, message, request);
  if (fails("MPI_Imrecv")) return MPI_ERR_OTHER;
  forget(*message);
  operation made;
  made.is_matched = true;
  made.received.resize(bytes_of(count, type));
  made.to = to;
  PMPI_Imrecv(made.received.data(), count, type, message, &made.real);
  return start_message(request, std::move(made));
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  return all().is_armed ? test_all("MPI_Test", 1, request, done, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status)
                        : PMPI_Test(request, done, status);
}
int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  return all().is_armed ? test_all("MPI_Testall", count, requests, done, statuses) : PMPI_Testall(count, requests, done, statuses);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return all().is_armed ? wait_all("MPI_Wait", 1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status)
                        : PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return all().is_armed ? wait_all("MPI_Waitall", count, requests, statuses) : PMPI_Waitall(count, requests, statuses);
}

int MPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  return fails("MPI_Comm_test_inter") ? MPI_ERR_OTHER : PMPI_Comm_test_inter(comm, flag);
}
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return fails("MPI_Comm_set_errhandler") ? MPI_ERR_OTHER : PMPI_Comm_set_errhandler(comm, handler);
}
// The tests ask the world.
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return comm != MPI_COMM_WORLD && fails("MPI_Comm_rank") ? MPI_ERR_OTHER : PMPI_Comm_rank(comm, rank);
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return comm != MPI_COMM_WORLD && fails("MPI_Comm_size") ? MPI_ERR_OTHER : PMPI_Comm_size(comm, size);
}
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  if (fails("MPI_Op_create")) return MPI_ERR_OTHER;
  if (all().is_armed) ++all().made;
  return PMPI_Op_create(function, commutes, op);
}
int MPI_Type_contiguous(int count, MPI_Datatype of, MPI_Datatype* type) {
  if (fails("MPI_Type_contiguous")) return MPI_ERR_OTHER;
  if (all().is_armed) ++all().made;
  return PMPI_Type_contiguous(count, of, type);
}
int MPI_Type_commit(MPI_Datatype* type) { return fails("MPI_Type_commit") ? MPI_ERR_OTHER : PMPI_Type_commit(type); }
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  return fails("MPI_Get_count") ? MPI_ERR_OTHER : PMPI_Get_count(status, type, count);
}

}  // extern "C"
