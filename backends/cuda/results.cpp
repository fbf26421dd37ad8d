#include "results.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include <onefold/detail/device_fold.hpp>
#include <onefold/error.hpp>
#include <onefold/options.hpp>

#include "../no_elements.hpp"
#include "device.hpp"
#include "fixed_order/driver.hpp"
#include "runtime.hpp"
#include "stream_memory.hpp"

namespace onefold::cuda_backend {

namespace {

// How long the host asks for a result again and again before it lets the driver wait: longer than small reductions take, for which the
// driver's wait costs 2 us more, and not so long that a core is kept from other work for nothing.
constexpr auto patience = std::chrono::microseconds(50);

}  // namespace

void wait_for_words::receive(const volatile unsigned long long* words, std::byte* result, std::size_t bytes, unsigned call_number) {
  const int count = device::host_words_of(bytes);
  for (int arrived = 0; arrived < count;) {
    if (calls().has_arrived(words + arrived, call_number)) {
      ++arrived;
      continue;
    }
    if (std::chrono::steady_clock::now() - begin_ < patience) continue;
    // The words come before their kernel ends, so after this they are here, or there is an error to report.
    if (asked_driver_) throw error(errc::device_error, "the stream has ended, but the result of the reduction has not arrived");
    const device_scope current(device_);
    check(calls().stream_synchronize(stream_), "cudaStreamSynchronize");
    asked_driver_ = true;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  for (std::size_t at = 0; at < bytes; at += 4) {
    const auto part = static_cast<std::uint32_t>(words[at / 4]);
    std::memcpy(result + at, &part, std::min<std::size_t>(bytes - at, 4));
  }
}

void wait_for_result(const call& now, void* output, std::size_t bytes) {
  if (now.host_words != nullptr) {
    wait_for_words(now.gpu.number, now.work.stream)
        .receive(static_cast<const volatile unsigned long long*>(now.work.host_result.data()), static_cast<std::byte*>(output),
                 bytes, now.call_number);
  } else {
    check(calls().stream_synchronize(now.work.stream), "cudaStreamSynchronize");
    std::memcpy(output, now.host_value, bytes);
  }
}

std::size_t bytes_of_result(const onefold::detail::request& what) {
  if (what.tree_value != nullptr) return value_in_tree(what.type, what.form, what.wide).bytes;
  return what.device != nullptr ? what.device->result_bytes : result_bytes(what.type, what.form, what.wide, what.results);
}

std::array<std::byte, most_results * sizeof(std::uint64_t)> empty_results(const onefold::detail::request& what) {
  std::array<std::byte, most_results * sizeof(std::uint64_t)> bytes{};
  onefold::detail::store_empty(what, bytes.data());
  return bytes;
}

}  // namespace onefold::cuda_backend
