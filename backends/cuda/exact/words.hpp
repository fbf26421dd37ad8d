#pragma once
/// @file words.hpp  The words of exact states in a GPU's memory (docs/exact.md): what the kernel is told that makes a result of them. Plain C++.

#include <cstddef>
#include <cstdint>

#include <onefold/onefold.h>
#include <onefold/executor.hpp>

#include "../../exact/rounding.hpp"
#include "../../exact/state.hpp"
#include "memory.hpp"

namespace onefold::detail {
struct exact_words;  // backends/backend.hpp
}

namespace onefold::cuda_backend {

/// What a result is made of beside words.
struct exact_conclusion {
  onefold::detail::exact::rounding result;  ///< the words say the number of elements, and so the degrees of freedom
  std::int64_t ddof;
  int kind;                  ///< its number
  int number[2];             ///< of limbs of each sum
  std::uint64_t of_none[2];  ///< the result of no elements, as it lies in memory
};

/// One warp for each state and its result, which lie side by side. Its arguments are an exact_conclusion, the words, and the destination of the first result.
const void* exact_conclusion_kernel() noexcept;

/// One warp for mean and variance of complex numbers, of the states of both parts side by side. Its arguments are those, and behind the words null; or, where the words
/// lie in slots of the library's and are to be zeros behind it, the number of launches (device::slot_header).
const void* exact_complex_moments_kernel() noexcept;

/// One block for the sums of the words of states side by side. Its arguments are the words, how many states there are, how many words each has, and the sums.
const void* exact_addition_kernel() noexcept;

/// What a kernel is told that makes results of words of a form.
exact_conclusion conclusion_of_words(element_type type, form what, bool wide, std::int64_t ddof) noexcept;

/// Puts on the executor's stream what stores the result of words there. Throws what is said of device_view() and check().
void conclude_exact_words(const executor& where, const onefold::detail::exact_words& of, void* output);

/// Puts on the executor's stream, behind an exchange, what stores the sums there. Throws what is said of check().
void add_exact_words(const executor& where, const std::int64_t* words, std::size_t states, std::size_t of_each, std::int64_t* sums);

}  // namespace onefold::cuda_backend
