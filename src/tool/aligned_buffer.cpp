#include "aligned_buffer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "input_error.hpp"

namespace onefold::tool {

namespace {

std::uint64_t physical_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages < 0 || page_bytes < 0) return UINT64_MAX;  // not known: let the allocation decide
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace

aligned_buffer::aligned_buffer(std::uint64_t bytes) {
  // Asked beforehand because Linux promises more memory than there is, and ends the process when it is used.
  if (bytes <= physical_bytes()) memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow)));
  if (!memory_)
    throw input_error(fmt::format(
        "must be copied to memory and needs {} bytes of it, which cannot be had here: store it contiguous, uncompressed "
        "and aligned, so that it can be mapped, or use a machine with more memory",
        bytes));
}

}  // namespace onefold::tool
