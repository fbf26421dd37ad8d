#pragma once
/// @file zero_pages.hpp  Arrays of as many elements as one likes, in hardly any memory: zeros but for what a test puts there.

#include <sys/mman.h>

#include <cstddef>
#include <fstream>

namespace onefold_test {

/// All that is only read is one page of the kernel's, wherever it lies.
class zero_pages {
 public:
  explicit zero_pages(std::size_t bytes)
      : bytes_(bytes), all_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    // Of 4 GiB a million small pages take a second to appear, and 2048 large ones nothing. But where those are no page of zeros that all share, they are memory.
    if (is_there()) madvise(all_, bytes_, has_large_page_of_zeros() ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  ~zero_pages() {
    if (is_there()) munmap(all_, bytes_);
  }
  zero_pages(const zero_pages&) = delete;
  zero_pages& operator=(const zero_pages&) = delete;

  /// Whether there was so much address space.
  [[nodiscard]] bool is_there() const { return all_ != MAP_FAILED; }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(all_);
  }

 private:
  static bool has_large_page_of_zeros() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/use_zero_page");
    char answer = '0';
    return file >> answer && answer == '1';
  }

  std::size_t bytes_;
  void* all_;
};

}  // namespace onefold_test
