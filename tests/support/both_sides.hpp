#pragma once
/// @file both_sides.hpp  Calls that units for nvcc make on the GPU and on one core, for tests that compare what they gave. C++17.

#include <string>
#include <vector>

namespace onefold_test {

/// What one call gave.
struct both_results {
  std::string call;
  std::vector<unsigned char> gpu;
  std::vector<unsigned char> cpu;
  std::string problem;  ///< the sentence of an error on one side; empty where both gave a result
};

}  // namespace onefold_test
