#pragma once
/// @file functions_of_ranks.cuh  Functions of the index that a rank calls: `begin` is the index in the whole array of the first value that it has.

#include <array>
#include <cstdint>

#include <onefold/onefold.hpp>

namespace onefold_test {

struct value_at {
  std::uint64_t begin;  // so that each rank has others
  ONEFOLD_HOST_DEVICE double operator()(std::uint64_t i) const {
    const std::uint64_t bits = (begin + i + 17) * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(static_cast<std::int64_t>((bits ^ (bits >> 29)) >> 11)) / 4503599627370496.0 - 0.75;
  }
};
struct float_at {
  value_at value;
  ONEFOLD_HOST_DEVICE float operator()(std::uint64_t i) const { return static_cast<float>(value(i)); }
};
struct two_at {
  value_at value;
  ONEFOLD_HOST_DEVICE std::array<double, 2> operator()(std::uint64_t i) const { return {value(i), value(i) * value(i)}; }
};
struct three_at {
  value_at value;
  ONEFOLD_HOST_DEVICE std::array<std::int32_t, 3> operator()(std::uint64_t i) const {
    const auto x = static_cast<std::int32_t>(value(i) * 1e6);
    return {x, x / 2, -x};
  }
};
struct some_at {
  value_at value;
  ONEFOLD_HOST_DEVICE onefold::maybe<double> operator()(std::uint64_t i) const {
    const double x = value(i);
    return x > 0 ? onefold::maybe<double>(x) : onefold::maybe<double>();
  }
};
struct in_box {
  value_at value;
  std::int64_t width;
  template <class I>
  ONEFOLD_HOST_DEVICE double operator()(I j, I i) const {
    return value(static_cast<std::uint64_t>(static_cast<std::int64_t>(j) * width + static_cast<std::int64_t>(i)));
  }
};

}  // namespace onefold_test
