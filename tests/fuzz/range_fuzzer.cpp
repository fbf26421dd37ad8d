/// @file range_fuzzer.cpp  Any bytes as the state of a range. The tool's reader of headers: of a form that has one, or refused with a sentence. And, summed up
/// again where their checksum is wrong, which nearly no bytes get through otherwise, a state of an operator of the caller's: refused, or taken as it stands. The
/// states of the library's forms are read by the compiled library (tests/folds).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <onefold/maybe.hpp>
#include <onefold/own_range_state.hpp>

#include "input_error.hpp"
#include "range_header.hpp"

namespace {

void parse_header(std::span<const std::byte> bytes) {
  using namespace onefold;
  try {
    const tool::range_kind kind = tool::parse_range_header(bytes);
    if (!tool::looks_like_range(bytes) || kind.form == form::reduce_together || !takes_type(kind.form, kind.type) ||
        (kind.wide && !can_be_wide(kind.type, kind.form)) || tool::text_of(kind).find("of") == std::string::npos)
      std::abort();
  } catch (const tool::input_error& refused) {
    if (std::strlen(refused.what()) < 10) std::abort();
  }
}

struct tally {
  std::uint64_t count, sum;
};
template <class V>
struct keep_left {
  V operator()(const V& a, const V&) const { return a; }
};

// What is read says the same when it is written again.
template <class Item>
void read_own(const std::vector<std::byte>& bytes) {
  using state = onefold::own_range_state<Item, keep_left<typename onefold::own_range_state<Item, keep_left<tally>>::value_type>>;
  try {
    if (state::from_bytes(bytes).bytes() != bytes) std::abort();
  } catch (const onefold::error& refused) {
    if (std::strlen(refused.what()) < 10) std::abort();
  }
}

}  // namespace

// Called by libFuzzer, which takes a crash, a sanitizer's report, and an exception for a find.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto given = std::as_bytes(std::span(data, size));
  parse_header(given);
  std::vector<std::byte> bytes(given.begin(), given.end());
  if (bytes.size() < sizeof(std::uint64_t)) return 0;
  const std::size_t summed = bytes.size() - sizeof(std::uint64_t);
  const std::uint64_t checksum = onefold::detail::checksum_of(bytes.data(), summed);
  std::memcpy(bytes.data() + summed, &checksum, sizeof(checksum));
  read_own<float>(bytes);
  read_own<onefold::maybe<float>>(bytes);
  read_own<tally>(bytes);
  return 0;
}
