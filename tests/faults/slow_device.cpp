#include "slow_device.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/folds.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/device/destination.hpp>
#include <onefold/device/input.hpp>
#include <onefold/range_state.hpp>

#include "../../backends/cuda/exact/kernels.hpp"
#include "../../backends/cuda/exact/memory.hpp"
#include "../../backends/cuda/exact/words.hpp"
#include "../../backends/cuda/fixed_order/complex.hpp"
#include "../../backends/cuda/fixed_order/folds.hpp"
#include "../../backends/cuda/fixed_order/joined.hpp"
#include "../../backends/cuda/fixed_order/joined_folds.hpp"
#include "../../backends/cuda/fixed_order/mixed.hpp"
#include "../../backends/exact/state.hpp"
#include "../../src/pointer_kind.hpp"

namespace onefold::cuda_backend {
const void* any_kernel();  // in store_value.cu
}

namespace onefold_test {

namespace {

namespace cuda_backend = onefold::cuda_backend;
namespace exact_sums = onefold::detail::exact;
using onefold::element_type;
using onefold::form;
using onefold::detail::device_kernel;

slow_device* active = nullptr;

template <class T>
const T& argument(void** arguments, int which) {
  return *static_cast<const T*>(arguments[which]);
}

// As the kernels give a result to a host that waits, or store it.
void deliver(const onefold::device::destination& to, const void* result) {
  if (to.host_words == nullptr) {
    std::memcpy(to.output, result, static_cast<std::size_t>(to.bytes));
    return;
  }
  for (int i = 0; i < onefold::device::host_words_of(static_cast<std::size_t>(to.bytes)); ++i) {
    std::uint32_t part = 0;
    std::memcpy(&part, static_cast<const std::byte*>(result) + 4 * i,
                std::min<std::size_t>(4, static_cast<std::size_t>(to.bytes - 4 * i)));
    to.host_words[i] = std::uint64_t{to.call_number} << 32 | part;
  }
}

}  // namespace

slow_device::slow_device(fake_runtime& runtime, copies when) : runtime_(runtime), base_(cuda_backend::calls()), when_(when) {
  active = this;
  auto& calls = cuda_backend::calls();
  calls.memcpy_async = [](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    slow_device& self = *active;
    if (kind != cudaMemcpyHostToDevice) {
      self.drain(stream);
      return self.base_.memcpy_async(to, from, bytes, kind, stream);
    }
    const cudaError_t status = self.base_.memcpy_async(to, to, 0, kind, stream);
    if (status != cudaSuccess) return status;
    self.copied_.push_back({static_cast<const std::byte*>(from), static_cast<std::byte*>(to), bytes, self.launches_});
    if (self.when_ == copies::early) return std::memcpy(to, from, bytes), status;
    if (self.is_pinned(from)) {
      self.put(stream, {[=] { std::memcpy(to, from, bytes); }});
    } else {  // from pageable memory the driver takes it in the call
      const auto staged = std::make_shared<std::vector<std::byte>>(static_cast<const std::byte*>(from),
                                                                   static_cast<const std::byte*>(from) + bytes);
      self.put(stream, {[=] { std::memcpy(to, staged->data(), bytes); }});
    }
    return status;
  };
  calls.event_record = [](cudaEvent_t event, cudaStream_t stream) {
    slow_device& self = *active;
    const cudaError_t status = self.base_.event_record(event, stream);
    if (status != cudaSuccess) return status;
    ++self.recorded_[event];
    self.recorded_on_[event] = stream;
    self.put(stream, {{}, event});
    return status;
  };
  calls.stream_wait_event = [](cudaStream_t stream, cudaEvent_t event) {
    slow_device& self = *active;
    const cudaError_t status = self.base_.stream_wait_event(stream, event);
    if (status == cudaSuccess) self.put(stream, {{}, nullptr, event, self.recorded_[event]});
    return status;
  };
  calls.stream_synchronize = [](cudaStream_t stream) {
    const cudaError_t status = active->base_.stream_synchronize(stream);
    if (status == cudaSuccess) active->drain(stream);
    return status;
  };
  calls.launch_function = [](const cudaLaunchConfig_t* config, cudaFunction_t function, void** arguments) {
    slow_device& self = *active;
    const cudaError_t status = self.base_.launch_function(config, function, arguments);
    if (status != cudaSuccess) return status;
    ++self.launches_;
    self.launched_on_ = config->stream;
    self.put(config->stream, {self.fixed_order(function, arguments)});
    return status;
  };
  calls.launch_kernel = [](const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
    slow_device& self = *active;
    const cudaError_t status = self.base_.launch_kernel(config, kernel, arguments);
    if (status != cudaSuccess) return status;
    ++self.launches_;
    self.launched_on_ = config->stream;
    if (kernel == cuda_backend::any_kernel())
      self.put(config->stream, {self.store(config, arguments)});
    else if (self.is_exact_kernel(kernel))
      self.put(config->stream, {self.exact(kernel, arguments)});
    else if (kernel == cuda_backend::exact_conclusion_kernel())
      self.put(config->stream, {self.exact_conclusion(config, arguments)});
    else if (kernel == cuda_backend::exact_addition_kernel())
      self.put(config->stream, {add_words(arguments)});
    else if (self.is_joining_kernel(kernel))
      self.put(config->stream, {self.join(arguments)});
    return status;
  };
  calls.has_arrived = [](const volatile unsigned long long* word, unsigned call_number) {
    const auto is_there = [&] { return static_cast<unsigned>(*word >> 32) == call_number; };
    if (!is_there()) active->drain(launched_on_);
    return is_there();
  };
}

slow_device::~slow_device() { active = nullptr; }

void slow_device::reduces(onefold::element_type type, std::vector<form> forms, bool wide) {
  type_ = type;
  forms_ = std::move(forms);
  wide_ = wide;
  of_products_ = of_complex_ = false;
}

void slow_device::reduces_complex(onefold::element_type type, form what, bool wide) {
  reduces(type, {what}, wide);
  of_complex_ = true;
}

void slow_device::reduces_products(onefold::element_type x, onefold::element_type y, onefold::element_type products) {
  type_ = x;
  second_type_ = y;
  products_type_ = products;
  of_products_ = true;
  of_complex_ = false;
}

void slow_device::pin(const void* memory, std::size_t bytes) { pinned_[memory] = bytes; }

bool slow_device::is_pinned(const void* memory) const {
  const auto* at = static_cast<const std::byte*>(memory);
  return std::ranges::any_of(pinned_, [at](const auto& known) {
    const auto* begin = static_cast<const std::byte*>(known.first);
    return at >= begin && at < begin + known.second;
  });
}

std::size_t slow_device::pending() const {
  std::size_t all = 0;
  for (const auto& [stream, queue] : streams_)
    all += static_cast<std::size_t>(std::ranges::count_if(queue, [](const work& one) { return static_cast<bool>(one.run); }));
  return all;
}

void slow_device::run(const work& one) {
  if (!one.run) return;
  const onefold::detail::all_is_host_memory as_it_is;  // whatever the driver of the test says
  one.run();
}

void slow_device::drain(cudaStream_t stream) {
  auto& queue = streams_[stream];
  while (!queue.empty()) {
    const work next = std::move(queue.front());
    queue.pop_front();
    run(next);
    if (next.records != nullptr) ++done_[next.records];
    if (next.waits_for != nullptr) drain_until(next.waits_for, next.of_record);
  }
}

void slow_device::drain_until(cudaEvent_t event, std::uint64_t record) {
  auto& queue = streams_[recorded_on_[event]];
  while (done_[event] < record && !queue.empty()) {
    const work next = std::move(queue.front());
    queue.pop_front();
    run(next);
    if (next.records != nullptr) ++done_[next.records];
    if (next.waits_for != nullptr) drain_until(next.waits_for, next.of_record);
  }
}

std::function<void()> slow_device::products(cudaFunction_t function, void** arguments) {
  const cuda_backend::mixed_dot_of both{type_, second_type_, false};
  const auto& symbols = cuda_backend::fold_of_mixed_dot(both, products_type_, false, nullptr, nullptr).kernels->symbol;
  if (std::ranges::find(symbols, static_cast<const void*>(function)) == std::end(symbols))
    throw std::logic_error("a kernel that the test has not announced");
  const bool is_few = function == symbols[static_cast<int>(device_kernel::few)];
  const auto in = argument<onefold::device::tree_input>(arguments, 0);
  const auto to = argument<onefold::device::destination>(arguments, is_few ? 1 : 3);
  onefold_request asked{};
  asked.struct_bytes = sizeof(asked);
  asked.where = onefold_serial();
  asked.type = static_cast<int>(type_);
  asked.form = ONEFOLD_DOT;
  asked.second_type = 1 + static_cast<int>(second_type_);
  asked.flags =
      onefold_mixed_dot_type(asked.type, static_cast<int>(second_type_)) == static_cast<int>(products_type_) ? 0 : ONEFOLD_WIDE;
  asked.input = in.x;
  asked.second = in.y;
  asked.count = in.count;
  return [asked, to]() mutable {
    alignas(16) std::byte result[64] = {};
    asked.output = result;
    onefold::detail::check_status(onefold_reduce(&asked, nullptr));
    deliver(to, result);
  };
}

// What a kernel makes of a piece: the node over it, of means the sum, of what asks for zeros the count, and of mean_variance the moments of each part.
std::function<void()> slow_device::complex_numbers(cudaFunction_t function, void** arguments) {
  const form what = forms_.front();
  const bool is_count = asks_for_zero(what), is_moments = what == form::mean_variance;
  const cuda_backend::complex_conclusion any{0, what, true, wide_};
  const auto fold = is_count || is_moments ? cuda_backend::fold_of_complex_states(type_, any, nullptr)
                    : wide_ ? cuda_backend::fold_of_wide_complex(what == form::mean ? form::sum : what, nullptr, nullptr)
                            : cuda_backend::fold_of_complex(type_, what == form::mean ? form::sum : what, nullptr, nullptr);
  const auto& symbols = fold.kernels->symbol;
  if (std::ranges::find(symbols, static_cast<const void*>(function)) == std::end(symbols))
    throw std::logic_error("a kernel that the test has not announced");
  const auto is = [&](device_kernel which) { return function == symbols[static_cast<int>(which)]; };
  const bool is_few = is(device_kernel::few) || is(device_kernel::few_cluster);
  const auto in = argument<onefold::device::tree_input>(arguments, 0);
  const auto to = argument<onefold::device::destination>(arguments, is_few ? 1 : 3);
  return [=, type = type_, wide = wide_] {
    alignas(16) std::byte result[64] = {};
    const form asked_for = is_count ? form::count : what == form::mean ? form::sum : what;
    onefold::detail::request asked{onefold::serial(), type, asked_for, in.x, in.count, result, true, in.y, wide};
    if (!is_moments) {
      onefold::detail::run(asked, {});
      return deliver(to, result);
    }
    const element_type part = part_type(type);
    const std::size_t size = size_of(part);
    for (std::size_t k = 0; k < 2; ++k) {
      std::vector<std::byte> parts(in.count * size);
      for (std::uint64_t i = 0; i < in.count; ++i)
        std::memcpy(parts.data() + i * size, static_cast<const std::byte*>(in.x) + (2 * i + k) * size, size);
      std::byte ignored[16] = {};
      onefold::detail::request one{onefold::serial(), part, what, parts.data(), in.count, ignored, true};
      one.tree_value = result + k * sizeof(onefold::detail::moments);
      onefold::detail::run(one, {});
    }
    deliver(to, result);
  };
}

std::function<void()> slow_device::fixed_order(cudaFunction_t function, void** arguments) {
  if (of_products_) return products(function, arguments);
  if (of_complex_) return complex_numbers(function, arguments);
  for (const form what : forms_) {
    const auto& symbols = cuda_backend::fold_of(type_, what, wide_).kernels->symbol;
    const auto is = [&](device_kernel which) { return function == symbols[static_cast<int>(which)]; };
    if (std::ranges::find(symbols, static_cast<const void*>(function)) == std::end(symbols)) continue;
    const bool is_few = is(device_kernel::few) || is(device_kernel::few_cluster);
    const auto in = argument<onefold::device::tree_input>(arguments, 0);
    const auto to = argument<onefold::device::destination>(arguments, is_few ? 1 : 3);
    return [=, type = type_, wide = wide_] {
      alignas(16) std::byte result[64] = {};
      alignas(16) std::byte value[64] = {};
      onefold::detail::request asked{onefold::serial(), type, what, in.x, in.count, result, true, in.y, wide};
      asked.tree_value = value;
      onefold::detail::run(asked, {});
      const auto* moments = reinterpret_cast<const onefold::detail::moments*>(value);
      deliver(to, what == form::mean_variance ? static_cast<const void*>(&moments->mean) : value);
    };
  }
  throw std::logic_error("a kernel that the test has not announced");
}

bool slow_device::is_exact_kernel(const void* kernel) const {
  using cuda_backend::exact_bins;
  using cuda_backend::exact_terms;
  for (const auto terms : {exact_terms::elements, exact_terms::products, exact_terms::squares, exact_terms::turned_products})
    for (const auto bins : {exact_bins::doubles, exact_bins::integers})
      if (exact_sums::has_state(forms_.front(), type_) && cuda_backend::exact_kernel_of(type_, terms, bins).symbol == kernel)
        return true;
  return false;
}

std::function<void()> slow_device::exact(const void* kernel, void** arguments) {
  // Only of doubles: a reduction's numbers that change places in pairs.
  using cuda_backend::exact_bins;
  const auto is_turned = [&](exact_bins bins) {
    return kernel == cuda_backend::exact_kernel_of(type_, cuda_backend::exact_terms::turned_products, bins).symbol;
  };
  const bool turns = type_ == onefold::element_type::f64 && (is_turned(exact_bins::doubles) || is_turned(exact_bins::integers));
  const auto how = argument<cuda_backend::exact_launch>(arguments, 0);
  const auto to = argument<onefold::device::destination>(arguments, 3);
  return [=, type = type_, what = forms_.front()] {
    if (!how.concludes) return;
    const std::size_t size = onefold::size_of(type);
    std::vector<std::byte> part;
    const void* x = how.x;
    std::uint64_t count = how.count;
    if (how.part != cuda_backend::exact_part::all) {
      for (std::uint64_t i = how.part == cuda_backend::exact_part::even ? 0 : 1; i < how.count; i += 2) {
        const auto* element = static_cast<const std::byte*>(how.x) + i * size;
        part.insert(part.end(), element, element + size);
      }
      x = part.data();
      count /= 2;
    }
    alignas(16) std::byte result[64] = {};
    std::int64_t words[exact_sums::most_words] = {};
    const void* y = how.y;
    std::vector<double> turned;
    if (turns) {
      const auto* const from = static_cast<const double*>(how.y);
      for (std::uint64_t i = 0; i < count; i += 2) turned.insert(turned.end(), {from[i + 1], -from[i]});
      y = turned.data();
    }
    onefold::detail::request asked{onefold::serial(), type, what, x, count, result, true, y};
    asked.exact_state = words;
    onefold::options exactly;
    exactly.guarantee = onefold::guarantee::exact;
    onefold::detail::run(asked, exactly);
    std::uint64_t state[onefold::device::most_result_bytes / 8] = {};
    static_cast<void>(exact_sums::load(exact_sums::kind_of(what, type), words, state));
    const void* const outcomes[] = {result, state, words};
    deliver(to, outcomes[static_cast<int>(how.outcome)]);
  };
}

std::function<void()> slow_device::exact_conclusion(const cudaLaunchConfig_t* config, void** arguments) {
  const auto how = argument<cuda_backend::exact_conclusion>(arguments, 0);
  const auto* const words = argument<const std::int64_t*>(arguments, 1);
  const auto to = argument<onefold::device::destination>(arguments, 2);
  return [=, states = config->gridDim.x, type = static_cast<std::int32_t>(type_), what = static_cast<std::int32_t>(forms_.front()),
          flags = wide_ ? ONEFOLD_WIDE : 0U] {
    for (unsigned i = 0; i < states; ++i) {
      alignas(16) std::byte result[64] = {};
      const std::int64_t* const mine = words + i * onefold_exact_words(type, what);
      if (onefold_exact_result(type, what, flags, how.ddof, mine, result) != 0) std::memset(result, 0xff, sizeof(result));
      onefold::device::destination its = to;
      its.output = static_cast<std::byte*>(to.output) + i * static_cast<unsigned>(to.bytes);
      deliver(its, result);
    }
  };
}

bool slow_device::is_joining_kernel(const void* kernel) const {
  const int number = cuda_backend::joined_fold(type_, forms_.front(), wide_).kernel;
  return number >= 0 && kernel == cuda_backend::joined_kernel(number);
}

std::function<void()> slow_device::join(void** arguments) {
  const auto table = argument<cuda_backend::joined_table>(arguments, 0);
  return [table, type = static_cast<std::int32_t>(type_), what = static_cast<std::int32_t>(forms_.front()),
          flags = wide_ ? ONEFOLD_WIDE : 0U] {
    onefold_range* all = nullptr;
    onefold::detail::check_status(onefold_range_create(type, what, flags, 0, &all));
    const onefold::detail::range_owner owner(all);
    for (std::uint32_t part = 0; part < table.parts; ++part)
      onefold::detail::check_status(
          onefold_range_add_image(all, table.images + part * table.stride, table.borders[part + 1] - table.borders[part]));
    alignas(16) std::byte result[64] = {};
    onefold::detail::check_status(onefold_range_result(all, static_cast<std::int64_t>(table.to.argument), result));
    std::memcpy(table.to.output, result, static_cast<std::size_t>(table.to.bytes));
  };
}

std::function<void()> slow_device::add_words(void** arguments) {
  const auto* const words = argument<const std::int64_t*>(arguments, 0);
  const int states = argument<int>(arguments, 1), of_each = argument<int>(arguments, 2);
  auto* const sums = argument<std::int64_t*>(arguments, 3);
  return [=] {
    for (int i = 0; i < of_each; ++i) {
      sums[i] = 0;
      for (int s = 0; s < states; ++s) sums[i] += words[s * of_each + i];
    }
  };
}

std::function<void()> slow_device::store(const cudaLaunchConfig_t* config, void** arguments) {
  auto* const place = argument<unsigned char*>(arguments, 0);
  const auto* const bits = static_cast<const unsigned char*>(arguments[1]);
  return [place, value = std::vector<unsigned char>(bits, bits + config->blockDim.x)] {
    std::memcpy(place, value.data(), value.size());
  };
}

}  // namespace onefold_test
