#pragma once
/// @file any_elements.hpp  Elements of any type, of small ones and complex numbers too.

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/onefold.hpp>

#include "../support/data.hpp"

namespace onefold_test {

namespace detail {

template <class T>
T any_element(const random_numbers& random, std::size_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random.at(i));
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return {any_element<typename T::value_type>(random, 2 * i), any_element<typename T::value_type>(random, 2 * i + 1)};
  else
    return T(static_cast<float>(static_cast<double>(random.at(i) % 2'000'001) / 1e6 - 1));
}

}  // namespace detail

/// `count` elements: integers of all bits, floats between -1 and 1 with zeros among them.
inline elements any_elements(element_type type, std::size_t count, std::uint64_t seed) {
  elements all(type, count);
  const random_numbers random(seed);
  const auto fill = [&]<class T>(T) {
    auto* const to = static_cast<T*>(all.data());
    for (std::size_t i = 0; i < count; ++i) to[i] = i % 997 == 100 ? T{} : detail::any_element<T>(random, i);
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    fill(T());                \
    break;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#define ONEFOLD_COMPLEX_TYPE(name, T, part) ONEFOLD_TYPE(name, T)
#include <onefold/types.def>
  }
  return all;
}

}  // namespace onefold_test
