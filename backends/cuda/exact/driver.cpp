#include "driver.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <onefold/error.hpp>
#include <onefold/options.hpp>
#include <onefold/policy.hpp>

#include "../../exact/state.hpp"
#include "../../no_elements.hpp"
#include "../device.hpp"
#include "../launch.cuh"
#include "../runtime.hpp"
#include "../stream_memory.hpp"
#include "kernels.hpp"
#include "words.hpp"

namespace onefold::cuda_backend {

namespace {

namespace exact = onefold::detail::exact;
using onefold::detail::device_exact;

// So many additions of 32 bits and less fit a limb of 64.
constexpr std::uint64_t most_elements_of_launch = std::uint64_t{1} << 30;
// Of a function's values all may go to the limbs one by one, as two pieces of 62 bits.
constexpr std::uint64_t most_values_of_launch = std::uint64_t{1} << 29;

// How many blocks of so many warps take `units`, and a part of one. The end of a block takes as long as several units of each of its warps: bins that become integers,
// and atomics. A block that is alone has no use for the latter. So a few units are better taken one after the other than by more blocks (H200: 1 us less at
// 2^13 floats, 2 us at 2^20 and 2^22).
std::uint64_t blocks_for(std::uint64_t units, std::uint64_t warps, const device_properties& gpu) {
  constexpr std::uint64_t few_of_block = 2;
  constexpr std::uint64_t few = 12;  // of one block on each multiprocessor
  if (units <= few_of_block * warps) return 1;
  const std::uint64_t blocks = units / warps + 1;
  const auto one_each = static_cast<std::uint64_t>(gpu.multiprocessors);
  return units <= few * warps * one_each ? std::min(blocks, one_each) : blocks;
}

// What a GPU lends a block of its shared memory. ONEFOLD_CUDA_SHARED_KIB says less, for tests.
std::size_t lent_to_block(const device_properties& gpu) {
  const auto lent = static_cast<std::size_t>(gpu.shared_bytes_per_block);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
  const char* const wanted = std::getenv("ONEFOLD_CUDA_SHARED_KIB");
  if (wanted == nullptr || *wanted == '\0') return lent;
  const std::string_view digits(wanted);
  std::size_t kib = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), kib);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || kib == 0 || kib > 1024)
    throw error(errc::invalid_argument, "the environment variable ONEFOLD_CUDA_SHARED_KIB is '" + std::string(wanted) +
                                            "': it can be 1 to 1024, what a block has of shared memory at most");
  return std::min(lent, kib * 1024);
}

// As the code has them, which may be older than the GPU.
exact_bins integers_for(const device_properties& gpu) {
  return code_capability(gpu.number) == 75 ? exact_bins::integers_in_64_kib : exact_bins::integers;
}
exact_bins doubles_for(const device_properties& gpu) {
  return code_capability(gpu.number) >= 90 ? exact_bins::doubles_in_227_kib : exact_bins::doubles;
}

// Which bins a GPU takes: integers where it has few FP64 cores, or too little shared memory for the window (compute capability 7.0).
// ONEFOLD_CUDA_EXACT overrules that, for tests and timings.
exact_bins bins_for(const device_properties& gpu) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
  const char* const wanted = std::getenv("ONEFOLD_CUDA_EXACT");
  if (wanted == nullptr || *wanted == '\0') {
    const std::size_t window = exact_kernel_of(element_type::f64, exact_terms::products, doubles_for(gpu)).shared_bytes;
    const bool has_room = lent_to_block(gpu) >= window + static_shared_bytes;
    return has_few_double_units(gpu.compute_capability) || !has_room ? integers_for(gpu) : doubles_for(gpu);
  }
  if (std::string_view(wanted) == "doubles") return doubles_for(gpu);
  if (std::string_view(wanted) == "integers") return integers_for(gpu);
  throw error(errc::invalid_argument,
              "the environment variable ONEFOLD_CUDA_EXACT is '" + std::string(wanted) + "': it can be doubles or integers");
}

// As many blocks as a GPU works on at once.
std::uint64_t blocks_at_once(const exact_kernel& kernel, const device_properties& gpu) {
  const auto room = static_cast<int>(gpu.shared_bytes_per_multiprocessor / (kernel.shared_bytes + static_shared_bytes));
  return static_cast<std::uint64_t>(std::clamp(room, 1, kernel.blocks)) * static_cast<std::uint64_t>(gpu.multiprocessors);
}

// Where ONEFOLD_CUDA_EXACT asks for bins of doubles, or a GPU lends a block less than those do that onefold knows.
void require_room(const exact_kernel& kernel, const call& now) {
  const std::size_t needed = kernel.shared_bytes + static_shared_bytes, lent = lent_to_block(now.gpu);
  if (needed <= lent) return;
  throw error(errc::unsupported, "exact sums of " + std::string(name(now.type)) + " need " + std::to_string(needed) +
                                     " bytes of shared memory per block; " + now.gpu.name + " gives " + std::to_string(lent) +
                                     ": a CPU executor has the same bits");
}

// Adds the terms of all elements to one of the sums, in as many launches as the bins have room for.
// `types`: not null: those of the arrays, of which neither need be the call's.
void add(call& now, exact_launch how, exact_terms terms, bool concludes, exact_memory* memory, unsigned long long* header,
         const device::destination& to, const onefold::detail::types_of_dot* types = nullptr) {
  const exact_kernel& kernel = types != nullptr ? exact_kernel_of_two_types(now.type, integers_for(now.gpu))
                                                : exact_kernel_of(now.type, terms, bins_for(now.gpu));
  require_room(kernel, now);
  const std::uint64_t all = blocks_at_once(kernel, now.gpu);
  const std::uint64_t warps = static_cast<std::uint64_t>(kernel.threads) / 32;
  const std::uint64_t most = std::min(all * kernel.most_of_block, most_elements_of_launch) / 2 * 2;  // so that parts stay in step
  element_type x_type = types != nullptr ? types->x : now.type;
  element_type y_type = types != nullptr ? types->y : now.type;
  const auto* x = static_cast<const std::byte*>(now.input);
  // A second array that nobody takes does not matter, and kernels may take squares for products.
  const auto* y = terms == exact_terms::squares ? x : static_cast<const std::byte*>(now.second);
  const std::uint64_t count = how.part == exact_part::all ? now.count : 2 * now.count;
  for (std::uint64_t at = 0; at < count; at += how.count) {
    how.count = std::min(most, count - at);
    how.before = at;
    how.x = x + at * size_of(x_type);
    how.y = y == nullptr ? nullptr : y + at * size_of(y_type);
    how.concludes = concludes && at + how.count == count;
    std::uint64_t blocks = std::min(blocks_for(how.count / kernel.elements_of_warp, warps, now.gpu), all);
    // A small grid of the largest blocks, so that none is given more than its bins hold.
    blocks = std::max(blocks, std::min((how.count + kernel.most_of_block - 1) / kernel.most_of_block, all));
    how.is_alone = blocks == 1 && how.concludes && at == 0 && how.number[1] == 0;
    // The last two are read by the kernels of integers and of two types alone.
    void* const last = types != nullptr ? static_cast<void*>(&y_type) : &terms;
    void* arguments[] = {&how, &memory, &header, const_cast<device::destination*>(&to), &x_type, last};
    detail::start(now, kernel.symbol, nullptr, {static_cast<std::int64_t>(blocks), kernel.threads, kernel.shared_bytes},
                  launch_kind::early, is_code_for_sm_90(now), arguments);
  }
}

// The driver's handle of a kernel in the caller's code, and whether that was compiled for compute capability 9.0 or more.
struct code_of_caller {
  cudaFunction_t function;
  bool is_for_sm_90;
};
code_of_caller code_of(const call& now, const device_exact& kernel) {
  onefold::detail::device_kernels_known* const known =
      now.gpu.number < onefold::detail::device_kernels::known_devices ? kernel.known + now.gpu.number : nullptr;
  if (known != nullptr)
    if (void* const found = known->function[0].load(std::memory_order_acquire))
      return {static_cast<cudaFunction_t>(found), known->code_capability.load(std::memory_order_relaxed) >= 90};
  onefold::detail::device_kernel_info answer{};
  check(static_cast<cudaError_t>(kernel.ask(&answer)), "cudaGetFuncBySymbol");
  if (known != nullptr) {
    known->code_capability.store(answer.code_capability, std::memory_order_relaxed);
    known->function[0].store(answer.function, std::memory_order_release);
  }
  return {static_cast<cudaFunction_t>(answer.function), answer.code_capability >= 90};
}

// How many warps of a block the device lends the shared memory for: all that the kernel may have, or fewer.
std::uint64_t warps_of_block(const device_exact& kernel, const device_properties& gpu) {
  const auto all = static_cast<std::uint64_t>(kernel.threads) / 32;
  const bool may_be_fewer = kernel.struct_bytes >= sizeof(device_exact) && kernel.shared_bytes_of_warp != 0;
  const std::size_t lent = lent_to_block(gpu);
  if (!may_be_fewer || kernel.shared_bytes + static_shared_bytes <= lent) return all;
  const std::uint64_t room = lent > static_shared_bytes ? (lent - static_shared_bytes) / kernel.shared_bytes_of_warp : 0;
  return std::clamp<std::uint64_t>(room, 1, all);
}

// The limbs of one result have their place in the header of the slots. Those of several lie where slots are, which have twice the bytes of a state: zeros
// before and behind.
std::size_t bytes_behind_header(const exact_values_call& of) {
  return of.exact->results == 1 ? 0 : static_cast<std::size_t>(of.exact->results) * sizeof(exact_memory);
}

device::destination destination_of(const call& now) {
  device::destination to{};
  to.bytes = static_cast<int>(now.own->result_bytes);
  to.output = now.output;
  to.host_words = now.host_words;
  to.call_number = now.call_number;
  return to;
}

// Adds up the values of a function, in the caller's code, and rounds the sums, in the library's.
void run_values(call& now) {
  const auto& asked = static_cast<const exact_values_call&>(*now.own);
  const device_exact& kernel = *asked.exact;
  const exact::kind_row& kind = exact::kind_of(now.form, now.type);
  const bool is_one = kernel.results == 1;
  const std::size_t more = bytes_behind_header(asked);
  auto* const header = static_cast<std::byte*>(now.slots_of(device::slot_header_bytes + more, more / 2));
  auto* memory = reinterpret_cast<exact_memory*>(header + (is_one ? exact_memory_at : device::slot_header_bytes));
  auto* launches = reinterpret_cast<unsigned long long*>(header);
  if (!is_one) check(calls().memset_async(memory, 0, more, now.work.stream), "cudaMemsetAsync");

  device::destination to = destination_of(now);
  to.bytes /= kernel.results;
  exact_launch end{};
  end.outcome = asked.outcome;
  end.kind = kind.number;
  for (int s = 0; s < 2; ++s) end.number[s] = kind.limbs[s];
  end.result = exact::rounding_of(now.type, now.form, now.wide, now.count, now.ddof);

  end.counts = kernel.counts;
  end.ddof = now.ddof;
  onefold::detail::store_empty(now.type, now.form, now.wide, end.of_none);

  struct adding {
    const device_exact& kernel;
    code_of_caller code;
    std::uint64_t warps;          // of a block
    std::uint64_t most_of_block;  // indices
    std::uint64_t all, most;      // blocks of the GPU, and indices of a launch
    std::size_t shared_bytes;     // of a block

    adding(const call& now, const device_exact& of)
        : kernel(of),
          code(code_of(now, of)),
          warps(warps_of_block(of, now.gpu)),
          most_of_block(of.most_of_block / (static_cast<std::uint64_t>(of.threads) / 32) * warps),
          all(static_cast<std::uint64_t>(of.blocks) * static_cast<std::uint64_t>(now.gpu.multiprocessors)),
          most(std::min(all * most_of_block, most_values_of_launch)),
          shared_bytes(of.shared_bytes / (static_cast<std::uint64_t>(of.threads) / 32) * warps) {}
  };
  const adding first(now, kernel);
  std::optional<adding> second;
  if (kernel.squares != nullptr) second.emplace(now, *kernel.squares);
  const std::uint64_t most = second ? std::min(first.most, second->most) : first.most;
  onefold::detail::exact_values how{{now.input, now.second, now.third}, 0, 0};
  const auto launch = [&](const adding& one) {
    const std::uint64_t units = how.count / one.kernel.indices_of_warp + 1;
    std::uint64_t blocks = std::min((units + one.warps - 1) / one.warps, one.all);
    blocks = std::max(blocks, std::min((how.count + one.most_of_block - 1) / one.most_of_block, one.all));
    void* adds[] = {&how, &memory, const_cast<void*>(asked.object)};
    detail::start(now, one.kernel.symbol, one.code.function,
                  {static_cast<std::int64_t>(blocks), static_cast<int>(32 * one.warps), one.shared_bytes}, launch_kind::early,
                  one.code.is_for_sm_90, adds);
  };
  for (; how.first < now.count; how.first += how.count) {
    how.count = std::min(most, now.count - how.first);
    launch(first);
    if (second) launch(*second);
    end.concludes = how.first + how.count == now.count;
    void* ends[] = {&end, &memory, &launches, &to};
    detail::start(now, exact_end_kernel(), nullptr, {kernel.results, exact_end_threads}, launch_kind::early, is_code_for_sm_90(now),
                  ends);
  }
}

// What all launches of a call are told.
exact_launch launch_of(const call& now, const exact_call& asked) {
  const exact::kind_row& kind = exact::kind_of(now.form, now.type);
  exact_launch how{};
  how.part = asked.part == exact_part::turned ? exact_part::all : asked.part;
  how.absolute = now.form == form::norm1;
  how.tells_flags = true;
  how.outcome = asked.outcome;
  how.kind = kind.number;
  for (int s = 0; s < 2; ++s) how.number[s] = kind.limbs[s];
  how.result = exact::rounding_of(now.type, now.form, now.wide, now.count, now.ddof);
  how.count_at = now.count_at;
  how.ddof = now.ddof;
  onefold::detail::store_empty(now.type, now.form, now.wide, how.of_none);
  return how;
}

// All terms of a form, of the elements that count, to the one or the two sums that it has.
void add_form(call& now, const exact_call& asked, exact_launch how, exact_memory* memory, unsigned long long* launches,
              const device::destination& to) {
  const bool is_moments = now.form == form::mean_variance;
  if (is_moments && !is_float(now.type)) {
    how.sum = 1;  // that of the squares; the other one has been added by then
    return add(now, how, exact_terms::moments, true, memory, launches, to);
  }
  const bool is_sum = now.form == form::sum || now.form == form::mean || now.form == form::norm1;
  if (is_sum || is_moments) add(now, how, exact_terms::elements, !is_moments, memory, launches, to);
  if (is_sum) return;
  how.sum = is_moments ? 1 : 0;
  how.tells_flags = !is_moments;  // those of moments speak of the elements
  const bool squares = now.form != form::dot || (now.second == now.input && asked.types == nullptr);
  const exact_terms products = squares ? exact_terms::squares : exact_terms::products;
  add(now, how, asked.part == exact_part::turned ? exact_terms::turned_products : products, true, memory, launches, to,
      asked.types);
}

std::size_t bytes_of_both_states(const call& now) { return 2 * sizeof(std::int64_t) * exact::kind_of(now.form, now.type).words(); }

bool is_of_both(const call& now) { return static_cast<const exact_call*>(now.own->object)->part == exact_part::both; }

// Mean and variance of complex numbers, without the host: the words of either part's state go where slots are, and a kernel makes the result of both.
void run_complex_moments(call& now) {
  const std::size_t bytes = bytes_of_both_states(now);
  auto* const header = static_cast<std::byte*>(now.slots_of(device::slot_header_bytes + bytes, bytes / 2));
  auto* const memory = reinterpret_cast<exact_memory*>(header + exact_memory_at);
  std::byte* words = header + device::slot_header_bytes;
  device::destination to{};
  to.bytes = static_cast<int>(bytes / 2);
  to.output = words;
  for (const exact_part part : {exact_part::even, exact_part::odd}) {
    const exact_call its{part, exact_outcome::words};
    add_form(now, its, launch_of(now, its), memory, nullptr, to);
    to.output = words + bytes / 2;
  }
  exact_conclusion end = conclusion_of_words(now.type, now.form, now.wide, now.ddof);
  auto* launches = reinterpret_cast<unsigned long long*>(header);
  device::destination result = destination_of(now);
  void* arguments[] = {&end, &words, &launches, &result};
  detail::start(now, exact_complex_moments_kernel(), nullptr, {1, 32}, launch_kind::early, is_code_for_sm_90(now), arguments);
}

void run_array(call& now) {
  const exact_call& asked = *static_cast<const exact_call*>(now.own->object);
  auto* const header = static_cast<std::byte*>(now.slots_of(device::slot_header_bytes, 0));
  add_form(now, asked, launch_of(now, asked), reinterpret_cast<exact_memory*>(header + exact_memory_at),
           reinterpret_cast<unsigned long long*>(header), destination_of(now));
}

}  // namespace

void run_superaccumulator(call& now) {
  try {
    if (now.own->kernels != nullptr)
      run_values(now);
    else if (is_of_both(now))
      run_complex_moments(now);
    else
      run_array(now);
  } catch (...) {
    // Launches that add leave their limbs, and how many terms there were, to one that concludes, and that may not have come.
    now.clear_slots_after_failure(exact_memory_at, sizeof(onefold::detail::counted_exact_limbs));
    if (now.own->kernels != nullptr)
      now.clear_slots_after_failure(device::slot_header_bytes,
                                    bytes_behind_header(static_cast<const exact_values_call&>(*now.own)));
    else if (is_of_both(now))
      now.clear_slots_after_failure(device::slot_header_bytes, bytes_of_both_states(now));
    throw;
  }
}

}  // namespace onefold::cuda_backend
