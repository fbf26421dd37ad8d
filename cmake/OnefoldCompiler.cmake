# Whether the compiler can build onefold at all, asked once: an old one gives a thousand lines of errors, and this one sentence.

include(CheckCXXSourceCompiles)

# A function's variables: the standard of a project around onefold is not asked for, and stays as it is.
function(onefold_ask_compiler)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED OFF)  # of a compiler without it the sentence below is to be read
set(CMAKE_REQUIRED_QUIET ON)
check_cxx_source_compiles("
#if defined(__clang__) && __clang_major__ < 14 || !defined(__clang__) && defined(__GNUC__) && __GNUC__ < 11
#error too old
#endif
#include <bit>
#include <concepts>
#include <ranges>
#include <span>
typedef float four __attribute__((vector_size(16)));
consteval int one() { return 1; }
static_assert(std::ranges::contiguous_range<std::span<const float>> && std::bit_cast<int>(0.0f) == 0);
int main() { return static_cast<int>((four{} + four{})[0]) + one() - 1; }
" ONEFOLD_COMPILER_SUFFICES)
endfunction()
onefold_ask_compiler()

if(NOT ONEFOLD_COMPILER_SUFFICES)
  unset(ONEFOLD_COMPILER_SUFFICES CACHE)  # asked again: a standard library may have been added meanwhile
  message(FATAL_ERROR
    "onefold needs g++ 11, clang 14 or newer, with a C++20 standard library; ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION}) is not enough. Ubuntu 22.04, Debian 12 and newer have one that is (package g++): name it with "
    "CXX=PROGRAM and configure a fresh build folder.")
endif()
