#pragma once
/// @file array_of_a_type.hpp  An array of any type in a GPU's memory, and the same on the host.

#include <cstddef>
#include <cstdint>

#include <onefold/onefold.hpp>

#include "../support/cuda.hpp"
#include "any_elements.hpp"

namespace onefold_test {

class array_of_a_type {
 public:
  array_of_a_type(onefold::element_type type, std::uint64_t count, std::uint64_t seed)
      : values_(any_elements(type, count, seed)), memory_(count * onefold::size_of(type)) {
    copy_to_device(memory_.as<void>(), values_.data(), values_.bytes());
  }
  [[nodiscard]] const std::byte* on_device() const { return memory_.as<std::byte>(); }
  [[nodiscard]] const std::byte* on_host() const { return static_cast<const std::byte*>(values_.data()); }

 private:
  elements values_;
  device_memory memory_;
};

}  // namespace onefold_test
