#pragma once
/// @file mixed_fixture.hpp  An array of each type of real numbers in memory that an executor reads, and what dots of two of them give.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/onefold.hpp>

#include "../support/element.hpp"
#include "../support/place.hpp"
#include "../support/real_types.hpp"

namespace onefold_test {

/// What is among the values of floats.
enum class special { infinity, two_infinities, nan, negative_zeros, subnormals, largest, none };

class mixed_data {
 public:
  mixed_data(memory kind, std::size_t count, special among = special::none) {
    for (int t = 0; t < onefold::element_type_count; ++t) {
      host_.emplace_back(type(t), count);
      with_real_type(type(t), [&]<class T>() { fill(host_.back().as<T>(), static_cast<std::uint64_t>(t) + 1, among); });
      memory_.push_back(std::make_unique<block>(kind, host_.back().bytes() + 64));
      memory_.back()->write(0, host_.back().data(), host_.back().bytes());
    }
  }

  static element_type type(int number) { return static_cast<element_type>(number); }
  /// Where an element lies, for the executor.
  [[nodiscard]] const void* at(int type, std::size_t first) const {
    return memory_[static_cast<std::size_t>(type)]->address() +
           first * onefold::size_of(host_[static_cast<std::size_t>(type)].type());
  }

  /// The type that is wider than what two types are accumulated in, or that where there is none.
  static element_type wider(int x, int y) {
    const auto common = onefold_mixed_dot_type(x, y);
    return type(common == ONEFOLD_F32   ? static_cast<int>(ONEFOLD_F64)
                : common == ONEFOLD_U32 ? static_cast<int>(ONEFOLD_U64)
                                        : common);
  }

  /// The sum, on one core, of an array of the products.
  [[nodiscard]] scalar expected(int x, std::size_t first_x, int y, std::size_t first_y, std::size_t n) const {
    return expected(x, first_x, y, first_y, n, type(onefold_mixed_dot_type(x, y)));
  }
  [[nodiscard]] scalar expected(int x, std::size_t first_x, int y, std::size_t first_y, std::size_t n,
                                element_type products) const {
    return with_type(products, [&]<class A>() {
      return scalar_of(onefold::sum(onefold::serial(), all_products<A>(x, first_x, y, first_y, n)));
    });
  }

  /// Whether every number of both types is one of the products' type, floats, in which the sum of the products can be exact.
  static bool has_exact_sum(int x, int y, element_type products) {
    const auto fits = [products](element_type of) {
      const std::size_t room = onefold::size_of(products) / (onefold::is_float(of) ? 1 : 2);
      return onefold::size_of(of) <= room;
    };
    return onefold::is_float(products) && fits(type(x)) && fits(type(y));
  }
  /// The exact sum of the products, rounded once: that of arrays of one type, on one core.
  [[nodiscard]] scalar exact(int x, std::size_t first_x, int y, std::size_t first_y, std::size_t n, element_type products) const {
    const onefold::options exactly{.guarantee = onefold::guarantee::exact};
    if (products == element_type::f32)
      return scalar_of(
          onefold::dot(onefold::serial(), numbers<float>(x).data() + first_x, numbers<float>(y).data() + first_y, n, exactly));
    return scalar_of(
        onefold::dot(onefold::serial(), numbers<double>(x).data() + first_x, numbers<double>(y).data() + first_y, n, exactly));
  }

  /// The products, as A.
  template <class A>
  [[nodiscard]] std::vector<A> all_products(int x, std::size_t first_x, int y, std::size_t first_y, std::size_t n) const {
    const std::vector<A>& of_x = numbers<A>(x);
    const std::vector<A>& of_y = numbers<A>(y);
    std::vector<A> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = product(of_x[first_x + i], of_y[first_y + i]);
    return all;
  }

 private:
  template <class A>
  static A product(A x, A y) {
    if constexpr (std::is_integral_v<A>) {
      using unsigned_type = std::make_unsigned_t<A>;
      return static_cast<A>(static_cast<unsigned_type>(x) * static_cast<unsigned_type>(y));
    } else {
      return x * y;
    }
  }

  // All elements of a type as A, made once.
  template <class A>
  [[nodiscard]] const std::vector<A>& numbers(int of) const {
    auto& known = std::get<std::array<std::vector<A>, onefold::element_type_count>>(numbers_)[static_cast<std::size_t>(of)];
    const elements& from = host_[static_cast<std::size_t>(of)];
    if (known.empty())
      with_real_type(type(of), [&]<class T>() {
        for (const T each : from.as<T>()) known.push_back(static_cast<A>(each));
      });
    return known;
  }

  template <class T>
  static T number(std::uint64_t random) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(random >> 13);
    else  // of either sign, and of sizes up to 2^6 apart
      return static_cast<T>((static_cast<float>(random >> 40) / 8388608.0F - 1.0F) * static_cast<float>(1U << (random % 7)));
  }

  template <class T>
  static void fill(std::span<T> to, std::uint64_t seed, special among) {
    std::uint64_t random = seed * 0x9e3779b97f4a7c15U;
    for (T& each : to) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      each = number<T>(random);
      if (among == special::negative_zeros && !std::is_integral_v<T>) each = static_cast<T>(-0.0F);
    }
    if (among == special::none || to.size() < 600) return;
    for (const std::size_t i : {std::size_t{2}, std::size_t{3}, std::size_t{555}}) {
      if constexpr (std::is_integral_v<T>) {
        to[i] = among == special::largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
      } else {
        using limits = std::numeric_limits<float>;
        const bool alternates = among == special::two_infinities && i % 2 == 1;
        if (among == special::infinity || among == special::two_infinities)
          to[i] = static_cast<T>(alternates ? -limits::infinity() : limits::infinity());
        else if (among == special::nan)
          to[i] = static_cast<T>(limits::quiet_NaN());
        else if (among == special::subnormals)
          to[i] = static_cast<T>(sizeof(T) == 2 ? 0x1p-24F : limits::denorm_min());
        else if (among == special::largest)
          to[i] = largest<T>();
      }
    }
  }

  template <class T>
  static T largest() {
    if constexpr (std::is_same_v<T, double>)
      return std::numeric_limits<T>::max();
    else
      return static_cast<T>(sizeof(T) == 2 ? 60000.0F : std::numeric_limits<float>::max());
  }

  template <class... A>
  using numbers_of = std::tuple<std::array<std::vector<A>, onefold::element_type_count>...>;

  std::vector<elements> host_;
  std::vector<std::unique_ptr<block>> memory_;
  mutable numbers_of<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t> numbers_;
};

/// The dot of two arrays of `data`, from elements 1 and 3 on.
inline onefold_request request_of(const onefold::executor& at, const mixed_data& data, int x, int y, std::uint64_t n,
                                  void* result) {
  onefold_request what{};
  what.struct_bytes = sizeof(what);
  what.where = onefold::detail::c_executor(at);
  what.type = x;
  what.form = ONEFOLD_DOT;
  what.input = data.at(x, 1);
  what.second = data.at(y, 3);
  what.count = n;
  what.output = result;
  what.second_type = 1 + y;
  return what;
}

}  // namespace onefold_test
