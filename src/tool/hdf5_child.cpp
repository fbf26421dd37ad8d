#include "hdf5_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "file_types.hpp"
#include "hdf5_reader.hpp"
#include "input_error.hpp"

namespace onefold::tool {

namespace {

constexpr std::size_t most_axes = 32;  // H5S_MAX_RANK

// What the parent wants read, in bounds that the child's own memory cannot change.
struct question {
  std::uint64_t first, count;
};

bool send_all(int channel, const void* message, std::size_t bytes) {
  for (;;) {
    const ssize_t sent = ::send(channel, message, bytes, MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent) == bytes;
    if (errno != EINTR) return false;
  }
}

bool receive_all(int channel, void* message, std::size_t bytes) {
  for (;;) {
    const ssize_t received = ::recv(channel, message, bytes, 0);
    if (received >= 0) return static_cast<std::size_t>(received) == bytes;
    if (errno != EINTR) return false;
  }
}

bool wait_for(pid_t child, int& status) {
  for (;;) {
    if (::waitpid(child, &status, 0) == child) return true;
    if (errno != EINTR) return false;
  }
}

// The limit that this process may change again, as far as the one that it may not allows.
void set_limit(decltype(RLIMIT_AS) which, rlim_t to) {
  struct rlimit now {};
  if (::getrlimit(which, &now) != 0) return;
  now.rlim_cur = std::min(to, now.rlim_max);
  ::setrlimit(which, &now);
}

rlim_t address_space_now() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

void limit_memory(std::uint64_t more) {
  struct rlimit now {};
  const rlim_t wanted = address_space_now() + more;
  if (::getrlimit(RLIMIT_AS, &now) == 0 && wanted < now.rlim_cur) set_limit(RLIMIT_AS, wanted);
}

// Counts what the child has used so far, so that every step has as much.
void limit_time(unsigned cpu_seconds, unsigned wall_seconds) {
  struct rusage used {};
  ::getrusage(RUSAGE_SELF, &used);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1) + cpu_seconds);
  ::alarm(wall_seconds);
}

// Nothing of what the child or its libraries print is for the user, and none of its deaths is worth a core file.
void leave_the_terminal() {
  if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, standard);
  set_limit(RLIMIT_CORE, 0);
  for (const int number : {SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGXCPU, SIGTERM, SIGINT})
    std::signal(number, SIG_DFL);
}

}  // namespace

// All that a child ever says. Fixed in size, so that a broken child cannot make the parent allocate.
struct hdf5_child::answer {
  std::uint32_t good;
  std::uint32_t type;
  std::uint32_t axes;
  std::uint32_t usable_in_place;
  std::uint64_t offset;
  std::uint64_t stored_bytes;
  std::array<std::uint64_t, most_axes> shape;
  std::array<char, 1024> sentence;
};

namespace {

template <class Answer>
void refuse(Answer& into, const char* sentence) {
  into.good = 0;
  std::strncpy(into.sentence.data(), sentence, into.sentence.size() - 1);
}

// Runs one step of the child and puts its outcome into the answer.
template <class Answer, class Step>
void attempt(Answer& into, Step&& step) {
  into = {};
  into.good = 1;
  try {
    step();
  } catch (const std::bad_alloc&) {
    refuse(into, "needs more memory than the tool gives the HDF5 library: check it with h5dump");
  } catch (const std::exception& refused) {
    refuse(into, refused.what());
  }
}

template <class Answer>
void put_facts(Answer& into, const hdf5_facts& facts) {
  into.type = static_cast<std::uint32_t>(facts.type);
  into.axes = static_cast<std::uint32_t>(facts.shape.size());
  std::copy_n(facts.shape.begin(), std::min(facts.shape.size(), most_axes), into.shape.begin());
  into.usable_in_place = facts.usable_in_place ? 1 : 0;
  into.offset = facts.offset;
  into.stored_bytes = facts.stored_bytes;
}

}  // namespace

void hdf5_child::start(const std::string& path, const std::string& dataset, bool follow_external) {
  void* memory = ::mmap(nullptr, whole_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw input_error("cannot be read: there is not enough memory for the process that reads HDF5");
  shared_ = static_cast<std::byte*>(memory);
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw input_error(
        fmt::format("cannot be read: no channel to a process that reads HDF5: {}", std::generic_category().message(errno)));
  channel_ = ends[0];
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) {
    ::close(ends[1]);
    if (pid_ < 0)
      throw input_error(
          fmt::format("cannot be read: no process that reads HDF5 can be started: {}", std::generic_category().message(errno)));
    return;
  }

  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::close(ends[0]);
  leave_the_terminal();
  limit_memory(limits_.memory_bytes);
  const unsigned wall_seconds = follow_external ? limits_.follow_wall_seconds : 0;
  limit_time(limits_.open_cpu_seconds, wall_seconds);

  answer said;
  std::unique_ptr<hdf5_reader> reader;
  attempt(said, [&] {
    reader = open_hdf5_reader(path, dataset, follow_external);
    put_facts(said, reader->facts());
  });
  question asked{};
  while (send_all(ends[1], &said, sizeof(said)) && said.good != 0 && receive_all(ends[1], &asked, sizeof(asked))) {
    limit_time(limits_.read_cpu_seconds, wall_seconds);
    attempt(said, [&] { reader->read(asked.first, asked.count, shared_); });
  }
  ::_exit(0);  // the parent's objects are not the child's to destroy
}

void hdf5_child::report_death(unsigned cpu_seconds) {
  int status = 0;
  // A child whose channel is closed is at its end, and how it came there is settled. One that says nonsense is brought there.
  ::kill(pid_, SIGKILL);
  const bool over = wait_for(pid_, status);
  pid_ = -1;
  const int number = over && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (number == SIGXCPU)
    throw input_error(fmt::format(
        "takes the HDF5 library more than {} s of processor time: it may be damaged, check it with h5dump", cpu_seconds));
  if (number == SIGALRM)
    throw input_error(fmt::format("takes more than {} s to read: does it refer to a pipe, or to a disk that does not answer?",
                                  limits_.follow_wall_seconds));
  if (number == SIGKILL)
    throw input_error("cannot be read: the process that reads HDF5 was killed, perhaps because memory ran out");
  if (number != 0)
    throw input_error(fmt::format(
        // NOLINTNEXTLINE(concurrency-mt-unsafe): files are opened by one thread
        "makes the HDF5 library crash ({}): it is damaged, or needs more memory than the library is given", ::strsignal(number)));
  throw input_error("cannot be read: the process that reads HDF5 ended early: the file may be damaged, check it with h5dump");
}

void hdf5_child::receive(answer& into, unsigned cpu_seconds) {
  if (!receive_all(channel_, &into, sizeof(into))) report_death(cpu_seconds);
  into.sentence.back() = '\0';
  if (into.good == 0) throw input_error(into.sentence.data());
}

void hdf5_child::take_facts(const answer& from) {
  if (from.type >= file_type_count || from.axes > most_axes)
    throw input_error("makes the HDF5 library say what cannot be: it is damaged");
  facts_.type = static_cast<element_type>(from.type);
  facts_.shape.assign(from.shape.begin(), from.shape.begin() + from.axes);
  std::uint64_t bytes = size_of(facts_.type);
  if (std::ranges::find(facts_.shape, std::uint64_t{0}) != facts_.shape.end()) bytes = 0;
  for (const std::uint64_t extent : facts_.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw input_error("claims a shape with more bytes than 64 bits can count: the file is damaged");
  facts_.count = bytes / size_of(facts_.type);
  facts_.stored_bytes = from.stored_bytes;
  facts_.usable_in_place = from.usable_in_place != 0;
  facts_.offset = from.offset;
}

hdf5_child::hdf5_child(const std::string& path, const std::string& dataset, bool follow_external, const hdf5_limits& limits)
    : limits_(limits) {
  try {
    start(path, dataset, follow_external);
    answer said{};
    receive(said, limits_.open_cpu_seconds);
    take_facts(said);
  } catch (...) {
    end();
    if (shared_ != nullptr) ::munmap(shared_, whole_bytes);
    throw;
  }
}

hdf5_child::~hdf5_child() {
  end();
  ::munmap(shared_, whole_bytes);
}

const std::byte* hdf5_child::read(std::uint64_t first, std::uint64_t count) {
  const question wanted{first, count};
  answer said{};
  if (!send_all(channel_, &wanted, sizeof(wanted))) report_death(limits_.read_cpu_seconds);
  receive(said, limits_.read_cpu_seconds);
  return shared_;
}

void hdf5_child::end() noexcept {
  if (channel_ >= 0) ::close(channel_);
  channel_ = -1;
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  wait_for(pid_, status);
  pid_ = -1;
}

}  // namespace onefold::tool
