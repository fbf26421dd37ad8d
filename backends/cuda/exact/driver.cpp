#include "driver.hpp"

#include <algorithm>

#include "../../exact/state.hpp"
#include "../../forms.hpp"
#include "../launch.cuh"
#include "kernels.hpp"

namespace onefold::cuda_backend {

namespace {

namespace exact = onefold::detail::exact;

// So many additions of 32 bits and less fit a limb of 64.
constexpr std::uint64_t most_elements_of_launch = std::uint64_t{1} << 30;

// Adds the terms of all elements to one of the sums, in as many launches as the bins have room for.
void add(call& now, exact_launch how, exact_terms terms, bool concludes, exact_memory* memory, unsigned long long* header,
         const device::destination& to) {
  const exact_kernel& kernel = exact_kernel_of(now.type, terms);
  const auto all = static_cast<std::uint64_t>(kernel.blocks) * static_cast<std::uint64_t>(now.gpu.multiprocessors);
  const std::uint64_t warps = static_cast<std::uint64_t>(kernel.threads) / 32;
  const std::uint64_t most = std::min(all * kernel.most_of_block, most_elements_of_launch) / 2 * 2;  // so that parts stay in step
  const std::size_t size = size_of(now.type);
  const auto* x = static_cast<const std::byte*>(now.input);
  const auto* y = static_cast<const std::byte*>(now.second);
  const std::uint64_t count = how.part == exact_part::all ? now.count : 2 * now.count;
  for (std::uint64_t at = 0; at < count; at += how.count) {
    how.count = std::min(most, count - at);
    how.x = x + at * size;
    how.y = y == nullptr ? nullptr : y + at * size;
    how.concludes = concludes && at + how.count == count;
    const std::uint64_t units = how.count / kernel.elements_of_warp + 1;
    std::uint64_t blocks = std::min((units + warps - 1) / warps, all);
    // A small grid of the largest blocks, so that none is given more than its bins hold.
    blocks = std::max(blocks, std::min((how.count + kernel.most_of_block - 1) / kernel.most_of_block, all));
    how.is_alone = blocks == 1 && how.concludes && at == 0 && how.number[1] == 0;
    void* arguments[] = {&how, &memory, &header, const_cast<device::destination*>(&to)};
    detail::start(now, kernel.symbol, nullptr, {static_cast<std::int64_t>(blocks), kernel.threads, kernel.shared_bytes},
                  launch_kind::early, is_code_for_sm_90(now), arguments);
  }
}

}  // namespace

void run_superaccumulator(call& now) {
  const exact_call& asked = *static_cast<const exact_call*>(now.own->object);
  const exact::kind_row& kind = exact::kind_of(now.form, now.type);
  auto* const header = static_cast<std::byte*>(now.slots_of(device::slot_header_bytes, 0));
  auto* const memory = reinterpret_cast<exact_memory*>(header + exact_memory_at);
  auto* const launches = reinterpret_cast<unsigned long long*>(header);

  device::destination to{};
  to.bytes = static_cast<int>(now.own->result_bytes);
  to.output = now.output;
  to.host_words = now.host_words;
  to.call_number = now.call_number;

  exact_launch how{};
  how.part = asked.part;
  how.absolute = now.form == form::norm1;
  how.tells_flags = true;
  how.as_state = asked.as_state;
  for (int s = 0; s < 2; ++s) how.number[s] = kind.limbs[s];
  how.result = exact::rounding_of(now.type, now.form, now.wide, now.count, now.ddof);

  const bool is_moments = now.form == form::mean_variance;
  const bool is_sum = now.form == form::sum || now.form == form::mean || now.form == form::norm1;
  if (is_sum || is_moments) add(now, how, exact_terms::elements, !is_moments, memory, launches, to);
  if (is_sum) return;
  how.sum = is_moments ? 1 : 0;
  how.tells_flags = !is_moments;  // those of moments speak of the elements
  const bool squares = now.form != form::dot || now.second == now.input;
  add(now, how, squares ? exact_terms::squares : exact_terms::products, true, memory, launches, to);
}

}  // namespace onefold::cuda_backend
