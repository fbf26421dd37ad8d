#pragma once
/// @file error.hpp  The one exception type, and the codes it carries.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <onefold/export.hpp>

namespace onefold {

/// What went wrong. After every one of these but `device_lost` and `kokkos_finalized` the next call works.
enum class errc : std::uint8_t {
  invalid_argument = 1,  ///< an argument that no backend could take
  null_pointer,          ///< a null input with elements, or a null output
  misaligned_pointer,    ///< a pointer that is not aligned to its element type
  device_pointer,        ///< GPU memory given to a CPU executor
  host_pointer,          ///< host memory that the GPU cannot read given to a CUDA executor
  wrong_device,          ///< memory of one GPU given to an executor on another
  unknown_variant,       ///< no variant has this name; the message lists the nearest
  unsupported,           ///< the variant, backend or device cannot do what was asked; the message says why
  guarantee_not_met,     ///< the requested guarantee cannot be given
  backend_not_built,     ///< this build of onefold has no such backend
  backend_unavailable,   ///< the backend is built but cannot run here (no driver, no device)
  out_of_memory,         ///< host or device memory could not be had
  device_lost,           ///< an earlier error has made the GPU unusable for this process
  device_error,          ///< another error that the CUDA runtime reported; the message names the call
  kokkos_finalized,      ///< the application has finalised Kokkos, which cannot be started twice
  callback_failed,  ///< a function of the caller's, called back for values, said that it failed; the exception of a C++ one is thrown itself
};

ONEFOLD_EXPORT std::string_view name(errc code) noexcept;

/// The exception that every function of onefold reports errors with: a code for programs and a sentence for people.
class ONEFOLD_EXPORT error : public std::runtime_error {
 public:
  error(errc code, const std::string& sentence);
  error(const error&) noexcept;
  error& operator=(const error&) noexcept;
  ~error() override;  // out of line, so that the type's identity lives in the library

  [[nodiscard]] errc code() const noexcept { return code_; }

 private:
  errc code_;
};

}  // namespace onefold
