#pragma once
/// @file float_environment.hpp  The default floating-point environment for the length of a scope.

#include <cfenv>

namespace onefold::detail {

/// Rounding to nearest and subnormals kept, whatever the calling thread has set; its environment, exception flags too, comes back at the
/// end of the scope. Cost: some 50 ns.
class default_float_environment {
 public:
  default_float_environment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_float_environment() { std::fesetenv(&callers_); }
  default_float_environment(const default_float_environment&) = delete;
  default_float_environment& operator=(const default_float_environment&) = delete;

 private:
  std::fenv_t callers_;
};

}  // namespace onefold::detail
