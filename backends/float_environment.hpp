#pragma once
/// @file float_environment.hpp  The default floating-point environment for the length of a scope.

#ifdef __x86_64__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace onefold::detail {

/// Rounding to nearest, subnormals kept and no traps, whatever the calling thread has set; its environment, exception flags too, comes back
/// at the end of the scope. On x86-64 that is the MXCSR register: read once, written at the beginning only where it differs, and at the end
/// always, since to write it takes less than to read it again, when the flags of all operations must be known. fegetenv and fesetenv, which
/// save the x87 unit too, take 50 ns. onefold uses no x87 arithmetic.
class default_float_environment {
 public:
  default_float_environment(const default_float_environment&) = delete;
  default_float_environment& operator=(const default_float_environment&) = delete;

#ifdef __x86_64__
  default_float_environment() : callers_(_mm_getcsr()) {
    if ((callers_ & ~flags) != default_control) _mm_setcsr(default_control);
  }
  ~default_float_environment() { _mm_setcsr(callers_); }

 private:
  static constexpr unsigned flags = 0x3f;              // of exceptions that have happened
  static constexpr unsigned default_control = 0x1f80;  // all exceptions masked, to nearest, no flushing
  unsigned callers_;
#else
  default_float_environment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_float_environment() { std::fesetenv(&callers_); }

 private:
  std::fenv_t callers_;
#endif
};

}  // namespace onefold::detail
