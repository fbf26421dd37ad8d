#pragma once
/// @file destination.hpp  Where the result of a reduction on a GPU goes: the host fills it in, the kernels take it.

#include <cstddef>
#include <cstdint>

namespace onefold::device {

/// Results have at most so many bytes: as many as the states that they are made of.
inline constexpr std::size_t most_result_bytes = 1024;

struct destination {
  int how;                         ///< which of the conclusions of a built-in fold
  int bytes;                       ///< of the result
  void* output;                    ///< device memory or mapped host memory, aligned to the result; null when host_words are given
  unsigned long long* host_words;  ///< mapped host memory, a word for each 4 bytes: these and, above them, `call_number`
  unsigned call_number;
  std::uint64_t argument;  ///< of the conclusion: ddof, operators, or bytes of a value that has an index
};

/// Words of host memory for a result of so many bytes. There is room for one more, which single results of 4 bytes write, too.
constexpr int host_words_of(std::size_t result_bytes) noexcept { return static_cast<int>((result_bytes + 3) / 4); }

}  // namespace onefold::device
