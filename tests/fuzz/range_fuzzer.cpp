/// @file range_fuzzer.cpp  Any bytes as the state of a range: of a form that has one, or refused with a sentence. What is behind the header has a checksum,
/// and is the library's to check (tests/folds).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "input_error.hpp"
#include "range_header.hpp"

// Called by libFuzzer, which takes a crash, a sanitizer's report, and an exception for a find.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onefold;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const tool::range_kind kind = tool::parse_range_header(bytes);
    if (!tool::looks_like_range(bytes) || kind.form == form::reduce_together || !takes_type(kind.form, kind.type) ||
        (kind.wide && !can_be_wide(kind.type, kind.form)) || tool::text_of(kind).find("of") == std::string::npos)
      std::abort();
  } catch (const tool::input_error& refused) {
    if (std::strlen(refused.what()) < 10) std::abort();
  }
  return 0;
}
