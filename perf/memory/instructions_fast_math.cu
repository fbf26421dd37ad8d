/// @file instructions_fast_math.cu  The operations that -use_fast_math changes. CMake compiles this file alone with it.

#include "instructions.cuh"

namespace onefold::perf::memory {

std::vector<row> with_fast_math(const gpu_clock& clock, const setting& how) {
  const std::string suffix = ", -use_fast_math";
  constexpr bool documented = false;
  return {
      time_operation<divide_float>(clock, how, suffix, documented), time_operation<square_root>(clock, how, suffix, documented),
      time_operation<sine>(clock, how, suffix, documented),         time_operation<exponential>(clock, how, suffix, documented),
      time_operation<power>(clock, how, suffix, documented),
  };
}

}  // namespace onefold::perf::memory
