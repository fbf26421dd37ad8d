#pragma once
/// @file repeated_array.hpp  Arrays of 2^30 elements and more that are a megabyte again and again, in little more memory than that.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace onefold_test {

/// `times` times the same elements, a megabyte of them, which are read only: pages that lie there once, and are seen everywhere.
class repeated_array {
 public:
  static constexpr std::size_t bytes_of_piece = std::size_t{1} << 20;

  repeated_array(const void* piece, std::size_t times) : bytes_(times * bytes_of_piece) {
    const int file = memfd_create("onefold_repeated_array", MFD_CLOEXEC);
    if (file < 0) return;
    if (write(file, piece, bytes_of_piece) == static_cast<ssize_t>(bytes_of_piece)) {
      all_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      for (std::size_t i = 0; i < times && is_there(); ++i)
        if (mmap(static_cast<std::byte*>(all_) + i * bytes_of_piece, bytes_of_piece, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) ==
            MAP_FAILED)
          unmap();
    }
    close(file);
  }
  ~repeated_array() { unmap(); }
  repeated_array(const repeated_array&) = delete;
  repeated_array& operator=(const repeated_array&) = delete;

  /// Whether the system has so much address space, and gives as many mappings.
  [[nodiscard]] bool is_there() const { return all_ != MAP_FAILED; }
  template <class T>
  [[nodiscard]] const T* as() const {
    return static_cast<const T*>(all_);
  }

 private:
  void unmap() {
    if (is_there()) munmap(all_, bytes_);
    all_ = MAP_FAILED;
  }

  std::size_t bytes_;
  void* all_ = MAP_FAILED;
};

}  // namespace onefold_test
