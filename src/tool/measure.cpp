#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "any_form.hpp"
#include "device_buffer.hpp"

namespace onefold::tool {

namespace {

bool runs_on_gpu(const executor& where) { return !where.chooses_itself() && where.backend() == backend::cuda; }

}  // namespace

double outcome::median_seconds() const noexcept {
  const std::size_t n = seconds.size();
  return n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

outcome measure(const input_array& input, const input_array* second, const job& what) {
  outcome result{};
  result.warm = what.repeat > 0;
  options how = what.how;
  how.report = &result.ran;
  form_request request{input.type, what.form, what.wide, nullptr, nullptr, 0};
  // Without elements: starts the backend outside the timed region, and refuses what cannot run before gigabytes are copied.
  static_cast<void>(reduce_bits(what.where, request, how));

  request.x = input.data;
  request.y = second == nullptr ? nullptr : second->data;
  request.count = input.count;
  std::optional<device_buffer> copy, second_copy;
  if (runs_on_gpu(what.where)) {
    copy.emplace(what.where.device(), input.data, input.bytes());
    request.x = copy->data();
    result.copy_seconds = copy->copy_seconds();
    if (second != nullptr) {
      second_copy.emplace(what.where.device(), second->data, second->bytes());
      request.y = second_copy->data();
      *result.copy_seconds += second_copy->copy_seconds();
    }
  }

  if (result.warm) static_cast<void>(reduce_bits(what.where, request, how));
  std::set<std::uint64_t> values;
  for (int run = 0; run < std::max(1, what.repeat); ++run) {
    const auto begin = std::chrono::steady_clock::now();
    result.value = {request.result(), reduce_bits(what.where, request, how)};
    result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    values.insert(result.value.bits);
  }
  result.distinct_values = values.size();
  std::ranges::sort(result.seconds);
  return result;
}

}  // namespace onefold::tool
