#include "passes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <onefold/error.hpp>
#include <onefold/options.hpp>
#include <onefold/policy.hpp>

#include "../float_environment.hpp"
#include "device.hpp"
#include "runtime.hpp"
#include "stream_memory.hpp"

namespace onefold::cuda_backend {

namespace {

template <launch_kind Kind = launch_kind::ordinary>
void launch_pass(call& now, const pass_kernel& what, const shape& how, const void* input, std::uint64_t count, handover<void> to) {
  void* arguments[3 + pass_kernel::most_extras] = {&input, &count, &to};
  std::copy_n(what.extras, what.extra_count, arguments + 3);
  detail::start(now, what.kernel, nullptr, how, Kind, is_code_for_sm_90(now), arguments);
}

}  // namespace

void require_shared_memory(const call& now, std::size_t dynamic_bytes, std::string_view choice, std::int64_t value) {
  constexpr std::size_t most_of_kernel = 512;  // the tree over a block's warps, and whether the block is the last one
  if (dynamic_bytes + most_of_kernel <= static_cast<std::size_t>(now.gpu.shared_bytes_per_block)) return;
  const std::string name(choice);
  throw error(errc::unsupported, "a " + name + " of " + std::to_string(value) + " needs " + std::to_string(dynamic_bytes) +
                                     " bytes of shared memory per block, and some more; " + now.gpu.name + " gives " +
                                     std::to_string(now.gpu.shared_bytes_per_block) + ": choose a smaller " + name);
}

std::int64_t chosen_blocks(const call& now, const void* kernel) {
  const std::int64_t resident = resident_blocks(now, kernel, now.block_size, 0);
  const std::int64_t wanted = std::int64_t{now.choices.blocks_per_multiprocessor} * now.gpu.multiprocessors;
  return wanted == 0 ? resident : std::min(wanted, resident);
}

void* partials_for(call& now, std::int64_t blocks, int which) {
  return now.work.piece(now.work.partials[which], static_cast<std::size_t>(blocks) * size_of(now.type));
}

void finish_on_host(call& now, operation op, const void* partials, std::int64_t blocks) {
  const std::size_t bytes = static_cast<std::size_t>(blocks) * size_of(now.type);
  void* const values = now.work.piece(now.work.host_partials, bytes);
  check(calls().memcpy_async(values, partials, bytes, cudaMemcpyDeviceToHost, now.work.stream), "cudaMemcpyAsync");
  check(calls().stream_synchronize(now.work.stream), "cudaStreamSynchronize");
  const onefold::detail::default_float_environment one_operation_is_one_operation;
  combination_on_host(now.type, op)(values, blocks, now.host_value);
}

namespace {

/// @param shape_of  shape(std::uint64_t count)
template <class Shape>
void run(call& now, const pass_kernel& what, Shape shape_of) {
  const void* input = now.input;
  const shape first = shape_of(now.count);
  const auto to = [&](handing how, void* partials) {
    return handover<void>{how, partials, now.work.accumulator(now.type, what.op), now.work.ticket(), now.output};
  };
  const auto partials = [&](const shape& how, int which = 0) { return partials_for(now, how.grid, which); };

  switch (now.finish) {
    case finish::atomic: {
      launch_pass(now, what, first, input, now.count, to(handing::accumulator, nullptr));
      void* accumulator = now.work.accumulator(now.type, what.op);
      void* arguments[] = {&accumulator, &now.output};
      detail::start(now, collect_kernel(now.type, what.op), nullptr, {1, 1}, launch_kind::early, is_code_for_sm_90(now), arguments);
      return;
    }
    case finish::last_block:
      if (first.grid == 1) break;  // a block alone has nobody to wait for
      launch_pass(now, what, first, input, now.count, to(handing::last_block, partials(first)));
      return;
    case finish::cooperative: {
      const std::int64_t most = resident_blocks(now, what.kernel, first.block, first.shared_bytes);
      if (first.grid > most)
        throw error(errc::unsupported, "the cooperative finish needs all " + std::to_string(first.grid) +
                                           " blocks on the device at once, and it holds " + std::to_string(most) +
                                           ": choose another finish, or a variant whose grid does not grow with n");
      launch_pass<launch_kind::cooperative>(now, what, first, input, now.count, to(handing::cooperative, partials(first)));
      return;
    }
    case finish::host: {
      void* const values = partials(first);
      launch_pass(now, what, first, input, now.count, to(handing::partials, values));
      finish_on_host(now, what.op, values, first.grid);
      return;
    }
    default:
      break;
  }

  // finish::relaunch, or one block in any case: each pass reads the partials of the one before, in two buffers taken in turn.
  std::uint64_t count = now.count;
  for (int pass = 0;; ++pass) {
    const shape how = pass == 0 ? first : shape_of(count);
    if (how.grid == 1) return launch_pass(now, what, how, input, count, to(handing::result, nullptr));
    void* const values = partials(how, pass % 2);
    launch_pass(now, what, how, input, count, to(handing::partials, values));
    input = values;
    count = static_cast<std::uint64_t>(how.grid);
  }
}

}  // namespace

void run_passes(call& now, const pass_kernel& what, shape_rule shape_of) {
  run(now, what, [&](std::uint64_t count) { return shape_of(now, count); });
}

void run_resident(call& now, const pass_kernel& what, int per_thread, int per_round) {
  const std::int64_t resident = chosen_blocks(now, what.kernel);
  bool first_pass = true;
  run(now, what, [&](std::uint64_t count) {
    const auto block = static_cast<std::uint64_t>(now.block_size);
    if (std::exchange(first_pass, false) && now.grid_size != 0) return shape{now.grid_size, now.block_size};
    if (count <= block * static_cast<std::uint64_t>(now.choices.alone_rounds * per_round)) return shape{1, now.block_size};
    return shape{std::min(blocks_for(count, block * static_cast<std::uint64_t>(per_thread)), resident), now.block_size};
  });
}

}  // namespace onefold::cuda_backend
