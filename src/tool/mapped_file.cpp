#include "mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "input_error.hpp"

namespace onefold::tool {

namespace {

class file_descriptor {
 public:
  explicit file_descriptor(int number) noexcept : number_(number) {}
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  ~file_descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

// The files of /proc and /sys say that they have no bytes, and have some.
void refuse_hidden_content(int descriptor) {
  char first = 0;
  const ssize_t got = ::pread(descriptor, &first, 1, 0);
  if (got < 0) throw input_error(fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  if (got > 0) throw input_error("says that it has no bytes, and has some, as files of /proc do: copy it to a regular file first");
}

std::size_t regular_file_bytes(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    throw input_error(fmt::format("cannot be examined: {}", std::generic_category().message(errno)));
  if (S_ISDIR(status.st_mode)) throw input_error("is a directory: name a file in it");
  if (!S_ISREG(status.st_mode)) throw input_error("is a pipe or a device: write the data to a file first");
  if (status.st_size == 0) refuse_hidden_content(descriptor);
  return static_cast<std::size_t>(status.st_size);
}

// What the handler of SIGBUS writes: made beforehand, because a handler must not allocate or format.
std::array<char, 512> lost_pages_message;
std::size_t lost_pages_bytes = 0;

extern "C" void on_lost_pages(int) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, lost_pages_message.data(), lost_pages_bytes);
  ::_exit(2);
}

}  // namespace

mapped_file::mapped_file(const std::string& path) {
  // O_NONBLOCK: to open a pipe without a writer would wait for ever; regular files do not heed it.
  file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) throw input_error(fmt::format("cannot be opened: {}", std::generic_category().message(errno)));
  const std::size_t size = regular_file_bytes(file.number());
  if (size == 0) return;  // mmap takes no empty range

  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED)
    throw input_error(fmt::format("cannot be mapped into memory: {}", std::generic_category().message(errno)));
  ::madvise(address, size, MADV_SEQUENTIAL);  // a hint: doubles the kernel's read-ahead; it does not matter if it is not taken
  bytes_ = {static_cast<const std::byte*>(address), size};
  descriptor_ = file.release();
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

mapped_file::~mapped_file() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool mapped_file::is_whole() const noexcept {
  struct stat status {};
  return bytes_.empty() || (::fstat(descriptor_, &status) == 0 && static_cast<std::uintmax_t>(status.st_size) >= bytes_.size());
}

void exit_when_pages_are_lost(const std::string& path) {
  // A longer name is cut: the message must fit the buffer.
  const auto written = fmt::format_to_n(lost_pages_message.data(), lost_pages_message.size() - 1,
                                        "onefold: {:.380}: became shorter or unreadable while it was being read: run again", path);
  lost_pages_bytes = std::min(written.size, lost_pages_message.size() - 1);
  lost_pages_message[lost_pages_bytes++] = '\n';

  struct sigaction action {};
  action.sa_handler = on_lost_pages;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace onefold::tool
