#pragma once
/// @file aligned_buffer.hpp  Memory of the tool's own, for elements that cannot be used where they lie in the file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace onefold::tool {

/// Uninitialised host memory on a 64-byte boundary (a cache line, and more than any element type asks for).
class aligned_buffer {
 public:
  static constexpr std::align_val_t alignment{64};

  aligned_buffer() noexcept = default;
  /// Errors: input_error when there is not so much memory.
  explicit aligned_buffer(std::uint64_t bytes);

  /// Null for a buffer made without a size.
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }

 private:
  struct release {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<std::byte, release> memory_;
};

}  // namespace onefold::tool
