#pragma once
/// @file element.hpp  Values and arrays whose element type is known at run time only, so that one compiled test serves every type.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <onefold/types.hpp>

namespace onefold_test {

using onefold::element_type;
using onefold::operation;

/// Calls `f.operator()<T>()` with the C++ type of `type`.
template <class F>
decltype(auto) with_type(element_type type, F&& f) {
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return f.template operator()<T>();
#include <onefold/types.def>
    default:
      break;
  }
  std::abort();  // a small type, or an enumerator that types.def does not have
}

using onefold::is_float;

/// One value of a type known at run time. Compares by its bits, so that -0 is not +0 and a NaN is itself.
struct scalar {
  element_type type = element_type::f32;
  std::uint64_t bits = 0;  ///< of the element, zero-extended
  friend bool operator==(const scalar&, const scalar&) = default;
};

template <onefold::element T>
[[nodiscard]] scalar scalar_of(T value) {
  scalar result{onefold::element_type_of<T>, 0};
  std::memcpy(&result.bits, &value, sizeof(T));
  return result;
}

template <onefold::element T>
[[nodiscard]] T value_of(const scalar& from) {
  T value;
  std::memcpy(&value, &from.bits, sizeof(T));
  return value;
}

/// `value` as an element of `type`, rounded or wrapped as C++ converts.
[[nodiscard]] scalar scalar_from(element_type type, double value);

/// "1.5 (0x3fc00000)".
[[nodiscard]] std::string text(const scalar& value);

/// A host array whose element type is known at run time.
class elements {
 public:
  elements(element_type type, std::size_t count) : type_(type), count_(count), words_((count * onefold::size_of(type) + 7) / 8) {}

  [[nodiscard]] element_type type() const { return type_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * onefold::size_of(type_); }
  [[nodiscard]] const void* data() const { return words_.data(); }
  [[nodiscard]] void* data() { return words_.data(); }

  template <onefold::element T>
  [[nodiscard]] std::span<T> as() {
    return {reinterpret_cast<T*>(words_.data()), count_};
  }
  template <onefold::element T>
  [[nodiscard]] std::span<const T> as() const {
    return {reinterpret_cast<const T*>(words_.data()), count_};
  }

  // By a copy of a known size: one of any size is a call.
  [[nodiscard]] scalar at(std::size_t i) const {
    scalar value{type_, 0};
    const std::size_t size = onefold::size_of(type_);
    const auto* const from = reinterpret_cast<const std::byte*>(words_.data()) + i * size;
    size == 4   ? std::memcpy(&value.bits, from, 4)
    : size == 8 ? std::memcpy(&value.bits, from, 8)
                : std::memcpy(&value.bits, from, size);
    return value;
  }
  void put(std::size_t i, const scalar& value) {
    const std::size_t size = onefold::size_of(type_);
    auto* const to = reinterpret_cast<std::byte*>(words_.data()) + i * size;
    size == 4 ? std::memcpy(to, &value.bits, 4) : size == 8 ? std::memcpy(to, &value.bits, 8) : std::memcpy(to, &value.bits, size);
  }
  void fill(const scalar& value);

 private:
  element_type type_;
  std::size_t count_;
  std::vector<std::uint64_t> words_;
};

}  // namespace onefold_test
