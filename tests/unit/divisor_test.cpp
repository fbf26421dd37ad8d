// The product that stands for a division of indices (onefold/detail/divisor.hpp): exact for every divisor and every number.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include <onefold/detail/divisor.hpp>

namespace {

using onefold::detail::divisor;

void expect_exact(std::uint64_t d, std::uint64_t most) {
  const divisor by(d, most);
  std::mt19937_64 random(d);
  const auto check = [&](std::uint64_t n) {
    if (n <= most) {
      ASSERT_EQ(by.of(n), n / d) << n << " / " << d << ", numbers up to " << most;
    }
  };
  for (std::uint64_t n = 0; n < 300; ++n) check(n);
  for (std::uint64_t n = 0; n < 300; ++n) check(most - n);
  for (int i = 0; i < 2000; ++i) {
    check(random() % (most == ~std::uint64_t{0} ? most : most + 1));
    const std::uint64_t multiple = random() % (most / d + 1) * d;  // the places where a quotient that is too large would be seen
    check(multiple);
    check(multiple - 1);
    check(multiple + 1);
  }
}

TEST(divisor, is_exact) {
  std::mt19937_64 random(1);
  for (const std::uint64_t most : {(std::uint64_t{1} << 31) - 1, std::uint64_t{1} << 31, (std::uint64_t{1} << 62)}) {
    for (std::uint64_t d = 1; d < 200; ++d) expect_exact(d, most);
    for (int bit = 8; bit < 62; ++bit)
      for (const std::uint64_t d : {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit, (std::uint64_t{1} << bit) + 1,
                                    (std::uint64_t{1} << bit) + random() % (std::uint64_t{1} << bit)})
        expect_exact(d, most);
  }
}

TEST(near_divisor, is_exact_as_far_as_it_reaches) {
  using onefold::detail::near_divisor;
  constexpr std::uint64_t reach = near_divisor::reach;
  const auto check = [&](std::uint64_t d) {
    const near_divisor by(d);
    const auto check_from = [&](std::uint64_t n) {
      for (std::uint64_t steps = 0; steps < reach; steps += steps < 70 || steps + 2 > reach ? 1 : steps / 64)
        ASSERT_EQ(by.quotient(by.place(n) + near_divisor::steps(static_cast<std::uint32_t>(steps))), (n + steps) / d)
            << n << " + " << steps << " / " << d;
    };
    for (std::uint64_t back = 1; back <= d && back < 2 * reach + 10; back += back < 40 ? 1 : back / 8) check_from(d - back);
    check_from(0);
    check_from(d / 2);
    if (d > reach) check_from(d - reach), check_from(d - reach - 1), check_from(d - reach + 1);
  };
  for (std::uint64_t d = 1; d < 600; ++d) check(d);
  for (std::uint64_t d = 600; d < 20000; d += 97) check(d);
  for (int bit = 9; bit < 63; ++bit)
    for (const int more : {-1, 0, 1}) check((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(more));
}

}  // namespace
