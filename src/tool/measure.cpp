#include "measure.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <set>

#include <onefold/error.hpp>
#include <onefold/reduce.hpp>

#include "device_buffer.hpp"

namespace onefold::tool {

namespace {

template <class T>
T reduce_as(operation op, const executor& where, const T* data, std::uint64_t count, const options& how) {
  switch (op) {
#define ONEFOLD_OP(name) \
  case operation::name:  \
    return reduce(where, data, count, op::name{}, how);
#include <onefold/ops.def>
#undef ONEFOLD_OP
  }
  throw error(errc::unsupported, "the tool does not know this operator");
}

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(value);
  else
    return std::bit_cast<std::uint64_t>(value);
}

std::uint64_t reduce_once(const job& what, const options& how, element_type type, const void* data, std::uint64_t count) {
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return bits_of(reduce_as(what.op, what.where, static_cast<const T*>(data), count, how));
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  }
  throw error(errc::unsupported, "the tool does not know this element type");
}

bool runs_on_gpu(const executor& where) { return !where.chooses_itself() && where.backend() == backend::cuda; }

}  // namespace

double outcome::median_seconds() const noexcept {
  const std::size_t n = seconds.size();
  return n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

outcome measure(const input_array& input, const job& what) {
  outcome result{};
  result.warm = what.repeat > 0;
  options how = what.how;
  how.report = &result.ran;
  // Without elements: starts the backend outside the timed region, and refuses what cannot run before gigabytes are copied.
  reduce_once(what, how, input.type, nullptr, 0);

  std::optional<device_buffer> copy;
  const void* data = input.data;
  if (runs_on_gpu(what.where)) {
    copy.emplace(what.where.device(), input.data, input.bytes());
    data = copy->data();
    result.copy_seconds = copy->copy_seconds();
  }

  if (result.warm) reduce_once(what, how, input.type, data, input.count);
  std::set<std::uint64_t> values;
  for (int run = 0; run < std::max(1, what.repeat); ++run) {
    const auto begin = std::chrono::steady_clock::now();
    result.value = {input.type, reduce_once(what, how, input.type, data, input.count)};
    result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    values.insert(result.value.bits);
  }
  result.distinct_values = values.size();
  std::ranges::sort(result.seconds);
  return result;
}

}  // namespace onefold::tool
