// A sum in one line; then who made it, and a kernel by its name.

#include <onefold/onefold.hpp>

#include <iostream>
#include <vector>

int main() {
  const std::vector<double> x(1'000'000, 0.5);
  try {
    std::cout << onefold::sum(x) << "\n";                     // best(): here the CPU, for the data are in host memory
    std::cout << onefold::max(onefold::openmp(), x) << "\n";  // all threads
    onefold::report ran;
    onefold::options how;
    how.variant = "warp_shuffle";
    how.report = &ran;
    const double sum = onefold::sum(onefold::serial(), x, how);
    std::cout << sum << " by " << ran.implementation << "\n";
    for (const auto& v : onefold::variants(onefold::backend::cuda)) std::cout << v.name << ": " << v.summary << "\n";
  } catch (const onefold::error& problem) {
    std::cerr << problem.what() << "\n";  // problem.code() for programs
    return 1;
  }
}
