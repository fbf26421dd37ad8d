#pragma once
/// @file error.hpp  The one exception type, and the codes it carries.

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include <onefold/onefold.h>
#include <onefold/detail/standard.hpp>

namespace onefold {

/// What went wrong. After every one of these but `device_lost` and `kokkos_finalized` the next call works.
enum class errc : std::uint8_t {
  invalid_argument = 1,  ///< an argument that no backend could take
  null_pointer,          ///< a null input with elements, or a null output
  misaligned_pointer,    ///< a pointer that is not aligned to its element type
  device_pointer,        ///< GPU memory given to a CPU executor
  host_pointer,          ///< host memory that the GPU cannot read, where it is not copied
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
  communication_failed,  ///< the ranks of a reduction do not fit together, one of them could not take part, or MPI has failed
};

constexpr std::string_view name(errc code) noexcept {
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
    case errc::communication_failed:
      return "communication_failed";
  }
  return "unknown";
}

/// The exception that every function of onefold reports errors with: a code for programs and a sentence for people. It is made in the code that
/// includes this header, of what the library returns, so that no exception crosses from one compiler's code to another's.
class __attribute__((visibility("default"))) error : public std::runtime_error {
 public:
  error(errc code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}

  [[nodiscard]] errc code() const noexcept { return code_; }

 private:
  errc code_;
};

namespace detail {

// Made ahead: copies share its text, so that throwing one takes no memory that could be lacking. Never destroyed, since a call may come
// at any time before the program ends.
inline const error& lacking_memory() {
  static const error& made = *new error(errc::out_of_memory, "host memory could not be had: free some, or reduce a smaller piece");
  return made;
}
// One for each file that includes this: of one that all share, clang's -flto keeps none for the library's objects, and the program does not link.
[[maybe_unused]] static const error& made_when_the_program_starts = lacking_memory();

[[noreturn]] inline void throw_out_of_memory() { throw error(lacking_memory()); }

// Calls `body`; std::bad_alloc, also Kokkos's kind of it, becomes onefold::error.
template <class Body>
decltype(auto) telling_of_lacking_memory(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory();
  }
}

// The exception of a call of the C interface that has failed.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_status(int status) {
  telling_of_lacking_memory([&status] { throw error(static_cast<errc>(status), onefold_last_error()); });
  throw_out_of_memory();  // not reached
}

inline void check_status(int status) {
  if (status != 0) throw_status(status);
}

}  // namespace detail

}  // namespace onefold
