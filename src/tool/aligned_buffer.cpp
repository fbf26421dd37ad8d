#include "aligned_buffer.hpp"

#include <fmt/format.h>

#include "input_error.hpp"

namespace onefold::tool {

aligned_buffer::aligned_buffer(std::uint64_t bytes) {
  memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow)));
  if (!memory_)
    throw input_error(
        fmt::format("must be copied to memory and needs {} bytes of it, which cannot be had here: store it contiguous, "
                    "uncompressed and aligned, so that it can be mapped, or use a machine with more memory",
                    bytes));
}

}  // namespace onefold::tool
