/// @file units_of_flags.cpp  For hostile_flags: one program of two units, of which one is compiled with flags that regroup additions. The names that both have in
/// common, of an operator that is no closure, are two things: what the strict unit reduces keeps the tree's bits whichever of them is linked first. And a
/// report's texts, where the second unit has another std::string. Compiled with ONEFOLD_TEST_UNIT=strict, =hurried, and without for main().

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

struct results_of_unit {
  double reduced;
  double mapped;
  double of_state;
  bool is_reported;
};
results_of_unit strict(const double* x, std::size_t n);
results_of_unit hurried(const double* x, std::size_t n);

#ifdef ONEFOLD_TEST_UNIT

struct itself {
  double operator()(double x) const { return x; }
};

results_of_unit ONEFOLD_TEST_UNIT(const double* x, std::size_t n) {
  onefold::report ran;
  onefold::options how;
  how.report = &ran;
  results_of_unit all{};
  all.reduced = onefold::reduce(onefold::openmp(), x, n, std::plus<double>{}, how);
  all.mapped = onefold::transform_reduce(onefold::serial(), x, n, std::plus<double>{}, itself{});
  onefold::own_range_state<double, onefold::op::sum> state(0);
  state.add(onefold::serial(), x, n);
  all.of_state = state.value();
  all.is_reported = ran.variant == "fixed_order" && ran.implementation.rfind("fixed_order", 0) == 0;
  return all;
}

#else

int main() {
  std::vector<double> x(100'003);
  unsigned long long state = 1;
  for (double& each : x) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    each = static_cast<double>(static_cast<long long>(state)) * 0x1p-50;
  }
  const double expected = onefold::sum(onefold::serial(), x);
  const results_of_unit one = strict(x.data(), x.size()), other = hurried(x.data(), x.size());
  bool all = one.is_reported && other.is_reported;
  for (const double found : {one.reduced, one.mapped, one.of_state}) {
    if (std::memcmp(&found, &expected, sizeof(found)) == 0) continue;
    std::printf("the strict unit has %a, and not %a\n", found, expected);
    all = false;
  }
  if (std::memcmp(&other.reduced, &expected, sizeof(expected)) != 0) std::printf("the hurried unit has regrouped\n");
  return all ? 0 : 1;
}

#endif
