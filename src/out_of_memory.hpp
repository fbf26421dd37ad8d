#pragma once
/// @file out_of_memory.hpp  What lacking host memory becomes, at every function that a caller can reach.

#include <new>

namespace onefold::detail {

/// Throws error{out_of_memory} without taking memory.
[[noreturn]] void throw_out_of_memory();

/// Calls `body`; std::bad_alloc, also Kokkos's kind of it, becomes onefold::error.
template <class Body>
decltype(auto) telling_of_lacking_memory(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory();
  }
}

}  // namespace onefold::detail
