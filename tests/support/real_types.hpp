#pragma once
/// @file real_types.hpp  From an element type that is known at run time to the C++ type, of small ones too.

#include <stdexcept>

#include <onefold/types.hpp>

namespace onefold_test {

/// Calls `f.operator()<T>()` with the C++ type of a type of real numbers, which may have one or two bytes; with_type() is for those of four and eight alone.
/// Throws std::logic_error for any other.
template <class F>
auto with_real_type(onefold::element_type type, F&& f) {
  switch (type) {
#define ONEFOLD_TYPE(name, T)       \
  case onefold::element_type::name: \
    return f.template operator()<T>();
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      throw std::logic_error("no type of real numbers");
  }
}

}  // namespace onefold_test
