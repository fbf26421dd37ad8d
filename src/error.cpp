#include <onefold/error.hpp>

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
  }
  return "unknown";
}

error::error(errc code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
error::error(const error&) noexcept = default;
error& error::operator=(const error&) noexcept = default;
error::~error() = default;

}  // namespace onefold
