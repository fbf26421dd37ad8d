#pragma once
/// @file mapped_file.hpp  A file as a span of bytes: the one place where the tool asks the operating system for input.

#include <cstddef>
#include <span>
#include <string>

namespace onefold::tool {

/// A regular file mapped into memory for reading, until the object goes. Nothing is read before it is looked at.
class mapped_file {
 public:
  mapped_file() noexcept = default;
  /// Errors: input_error (missing, unreadable, not a regular file, cannot be mapped), without the file's name.
  explicit mapped_file(const std::string& path);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file();

  /// All bytes of the file; starts on a page. Stays where it is when the object is moved.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Whether the file still has all of them: behind its end a page has zeros, of which nobody tells.
  [[nodiscard]] bool is_whole() const noexcept;

 private:
  std::span<const std::byte> bytes_;
  int descriptor_ = -1;
};

/// Makes the loss of a mapped page (the file was cut short meanwhile, or its disk failed), which the system reports with SIGBUS,
/// end the process with exit status 2 and one line that names the file, where it would be a crash.
void exit_when_pages_are_lost(const std::string& path);

}  // namespace onefold::tool
