#include "output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "input_error.hpp"

namespace onefold::tool {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, int reason) {
  throw input_error(fmt::format("{}: cannot be written: {}", path, std::generic_category().message(reason)));
}

// Returns 0, or an errno. Closes the file in any case; null is one that could not be opened.
int put(std::FILE* file, std::string_view bytes, bool is_kept) {
  if (file == nullptr) return errno;
  int reason = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0 ? 0 : errno;
  // A machine that stops must not leave the new name with bytes that never reached the disk.
  if (reason == 0 && is_kept && ::fsync(::fileno(file)) != 0 && errno != EINVAL) reason = errno;
  return std::fclose(file) == 0 || reason != 0 ? reason : errno;
}

// A new file in this folder, open for writing, under a name that no other process has, on whatever machine it is.
struct new_file {
  fs::path path;
  std::FILE* file;
};

new_file open_beside(const fs::path& folder) {
  for (int number = 0;; ++number) {
    fs::path path = folder / fmt::format("onefold-{}-{}.partial", ::getpid(), number);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return {std::move(path), ::fdopen(descriptor, "wb")};
    if (errno != EEXIST) return {{}, nullptr};
  }
}

// What a link names, also where that is not there yet. The link stays one.
fs::path end_of_links(fs::path path) {
  constexpr int most_links = 40;  // as the system follows
  std::error_code problem;
  for (int i = 0; i < most_links && fs::is_symlink(fs::symlink_status(path, problem)); ++i)
    path = path.parent_path() / fs::read_symlink(path, problem);
  return path;
}

// A file that takes another's place would leave what is printed in the old one.
void refuse_printed_to(const std::string& path) {
  struct stat of_path {
  }, of_output{};
  if (::stat(path.c_str(), &of_path) != 0 || !S_ISREG(of_path.st_mode)) return;
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    if (::fstat(output, &of_output) == 0 && of_output.st_dev == of_path.st_dev && of_output.st_ino == of_path.st_ino)
      throw input_error(fmt::format("{}: is where the result is printed: give the state another name", path));
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  std::error_code problem;
  refuse_printed_to(path);
  const fs::file_status old = fs::status(path, problem);
  if (fs::exists(old) && !fs::is_regular_file(old)) {
    if (const int reason = put(std::fopen(path.c_str(), "wb"), bytes, false); reason != 0) refuse(path, reason);
    return;
  }
  if (fs::exists(old) && ::access(path.c_str(), W_OK) != 0) refuse(path, errno);
  const fs::path target = end_of_links(path);
  const new_file written = open_beside(target.parent_path());
  int reason = put(written.file, bytes, true);
  if (reason == 0 && fs::exists(old)) fs::permissions(written.path, old.permissions(), problem);  // as well as can be
  if (reason == 0 && std::rename(written.path.c_str(), target.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  if (!written.path.empty()) ::unlink(written.path.c_str());
  refuse(path, reason);
}

}  // namespace onefold::tool
