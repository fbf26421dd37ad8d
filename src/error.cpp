#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "out_of_memory.hpp"

namespace onefold {

std::string_view name(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::null_pointer:
      return "null_pointer";
    case errc::misaligned_pointer:
      return "misaligned_pointer";
    case errc::device_pointer:
      return "device_pointer";
    case errc::host_pointer:
      return "host_pointer";
    case errc::wrong_device:
      return "wrong_device";
    case errc::unknown_variant:
      return "unknown_variant";
    case errc::unsupported:
      return "unsupported";
    case errc::guarantee_not_met:
      return "guarantee_not_met";
    case errc::backend_not_built:
      return "backend_not_built";
    case errc::backend_unavailable:
      return "backend_unavailable";
    case errc::out_of_memory:
      return "out_of_memory";
    case errc::device_lost:
      return "device_lost";
    case errc::device_error:
      return "device_error";
    case errc::kokkos_finalized:
      return "kokkos_finalized";
    case errc::callback_failed:
      return "callback_failed";
  }
  return "unknown";
}

error::error(errc code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
error::error(const error&) noexcept = default;
error& error::operator=(const error&) noexcept = default;
error::~error() = default;

namespace detail {

namespace {

// Made ahead: copies share its text, so that throwing one takes no memory that could be lacking. Never destroyed, since a call may come
// at any time before the program ends.
const error& lacking_memory() {
  static const error& made = *new error(errc::out_of_memory, "host memory could not be had: free some, or reduce a smaller piece");
  return made;
}
[[maybe_unused]] const error& made_when_the_program_starts = lacking_memory();

}  // namespace

void throw_out_of_memory() { throw error(lacking_memory()); }

void throw_different_lengths(std::uint64_t first, std::uint64_t second) {
  throw telling_of_lacking_memory([&] {
    return error(errc::invalid_argument,
                 "the two ranges differ in length: " + std::to_string(first) + " and " + std::to_string(second));
  });
}

}  // namespace detail

}  // namespace onefold
