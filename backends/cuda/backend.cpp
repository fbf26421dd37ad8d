/// @file backend.cpp  The CUDA backend's entry: checks a request against the variant and the device, then calls the variant.

#include "../backend.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <onefold/error.hpp>

#include "batch.hpp"
#include "captures.hpp"
#include "choices.hpp"
#include "device.hpp"
#include "fixed_order/dots.hpp"
#include "pointers.hpp"
#include "policy.hpp"
#include "results.hpp"
#include "runtime.hpp"
#include "streams.hpp"
#include "variants.hpp"
#include "workspace.hpp"

namespace onefold::cuda_backend {

// In store_value.cu: writes a result of `bytes` bytes, at most sixteen words of 8, from the host's `value` to device memory, in stream order.
void store_value(void* output, const void* value, std::size_t bytes, cudaStream_t stream);

namespace {

std::string capability_text(int capability) { return std::to_string(capability / 10) + "." + std::to_string(capability % 10); }

std::optional<std::string> reason_against(const variant_info& variant, const executor& where) {
  try {
    const auto& gpu = properties_of(where.device());
    if (gpu.compute_capability >= variant.min_compute_capability) return std::nullopt;
    return std::string(variant.name) + " needs compute capability " + capability_text(variant.min_compute_capability) + "; " +
           gpu.name + " has " + capability_text(gpu.compute_capability);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

backend_info describe() {
  backend_info info{backend::cuda, true, false, {}, 0, {}};
  try {
    const int count = device_count();
    for (int device = 0; device < count; ++device) {
      const auto& gpu = properties_of(device);
      info.devices.push_back({gpu.number,
                              gpu.name,
                              {gpu.compute_capability / 10, gpu.compute_capability % 10},
                              gpu.multiprocessors,
                              gpu.memory_bytes,
                              gpu.l2_bytes});
    }
    int driver = 0;
    check(calls().get_driver_version(&driver), "cudaDriverGetVersion");
    info.detail = "CUDA runtime " + version_text(CUDART_VERSION) + ", driver for CUDA " + version_text(driver);
    info.usable = true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    info.detail = problem.what();
  }
  return info;
}

// What a call has launched before it failed may still run.
void leave_mark_after_failure(stream_memory& work) noexcept {
  try {
    work.leave_mark();
    work.end_in_doubt = false;
  } catch (const std::exception&) {  // the first failure is the one to be told of
  }
}

// Sends the result of a call that waits to the host: in words, where the variant writes such, else as a value.
void aim_at_host(call& now, bool in_words) {
  std::byte* const on_host = now.work.result_on_host();
  auto* const on_device = static_cast<std::byte*>(now.work.device_result);
  if (in_words) {
    now.host_words = reinterpret_cast<unsigned long long*>(on_device);
    if (++now.work.last_call == 0) ++now.work.last_call;  // 0 is what the words hold at first
    now.call_number = now.work.last_call;
  } else {
    now.output = on_device + stream_memory::value_at;
    now.host_value = on_host + stream_memory::value_at;
  }
}

// Launches, waits if the caller does, and keeps account of what may be at work in the stream's memory.
void launch_variant(call& now, const onefold::detail::request& what, const variant_row& row, entry_point entry, bool captured) {
  stream_memory& work = now.work;
  const bool leaves_marks = !captured && (!row.what.takes_workspace || now.grid_size != 0);
  if (!captured) work.end_in_doubt = true;
  try {
    if (row.what.takes_workspace) {
      entry(now);
    } else {
      work.prepare();
      work.control_in_doubt = true;
      entry(now);
      work.control_in_doubt = false;
    }
    if (now.slots_taken && !captured) ++work.slot_launches;
    if (what.waits) {
      wait_for_result(now, what.output, bytes_of_result(what));
      if (!row.what.takes_workspace) work.is_marked = false;
    }
    // A launch of fixed_order counts itself; blocks that were asked for and have no work may come after that.
    if (leaves_marks && (!what.waits || row.what.takes_workspace)) work.leave_mark();
  } catch (...) {
    if (!captured) leave_mark_after_failure(work);
    throw;
  }
  work.end_in_doubt = false;
}

void run(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran);

// A dot of many vectors, as many of them in each launch as it takes.
void run_vectors(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  const onefold_vectors& of = *what.vectors;
  const device_scope current(what.where.device());
  const auto view = [&](const void* vector) {
    return what.count == 0 ? nullptr : device_view(vector, "vector", what.where.device(), current);
  };
  // Dots commute: one vector that all have in common is made the only row.
  const bool is_column = of.columns == 1 && of.rows > 1;
  const void* const* const rows_of = is_column ? of.y : of.x;
  const void* const* const columns_of = is_column ? of.x : of.y;
  const int rows = is_column ? 1 : of.rows;
  const int columns = is_column ? of.rows : of.columns;
  const int most_rows = rows == 1 ? 1 : dots_of_launch::square;
  const int most_columns = rows == 1 ? dots_of_launch::longest : dots_of_launch::square;
  std::byte found[sizeof(double) * dots_of_launch::square * dots_of_launch::square];
  auto* const output = static_cast<std::byte*>(what.output);
  const std::size_t size = size_of(what.type);
  for (int i = 0; i < rows; i += most_rows) {
    for (int j = 0; j < columns; j += most_columns) {
      dots_of_launch dots{};
      dots.rows = std::min(most_rows, rows - i);
      dots.columns = std::min(most_columns, columns - j);
      dots.stride = what.waits ? dots.columns : columns;
      for (int k = 0; k < dots.rows; ++k) dots.x[k] = view(rows_of[i + k]);
      for (int k = 0; k < dots.columns; ++k) dots.y[k] = view(columns_of[j + k]);
      const onefold::detail::device_fold fold = fold_of_dots(what.type, dots);
      onefold::detail::request part = what;
      part.vectors = nullptr;
      part.device = &fold;
      part.output = what.waits ? found : output + static_cast<std::size_t>(i * columns + j) * size;
      run(part, how, variant, ran);
      for (int k = 0; k < dots.rows && what.waits; ++k)
        std::memcpy(output + static_cast<std::size_t>((i + k) * columns + j) * size,
                    found + static_cast<std::size_t>(k * dots.columns) * size, static_cast<std::size_t>(dots.columns) * size);
    }
  }
}

void run(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  if (what.vectors != nullptr) return run_vectors(what, how, variant, ran);
  const int device = what.where.device();
  const auto& gpu = properties_of(device);
  if (gpu.compute_capability < variant.min_compute_capability) throw error(errc::unsupported, *reason_against(variant, what.where));
  const variant_row& row = row_of_variant(variant);
  const launch_choices chosen = choose_launch(what, how, variant, row, gpu);
  device_workspace* const workspace = workspace_of(how, variant, row.what.takes_workspace, device);

  const device_scope current(device);
  refuse_foreign_stream(what.where, current);
  const inputs_of_request inputs(what, device, current);
  if (what.device != nullptr) refuse_misaligned(what.output, what.device->result_alignment, "output");
  void* output = what.waits ? nullptr : device_view(what.output, "output", device, current);
  ran.device = device;
  ran.block_size = chosen.block_size;
  ran.width = chosen.width;
  ran.finish = chosen.finish;
  // What a fold of the caller's gives for no elements its kernels know.
  const bool is_known = what.count == 0 && what.device == nullptr;
  if (is_known && what.waits) {
    std::memcpy(what.output, empty_results(what).data(), bytes_of_result(what));
    return;
  }

  const bool captured = what.where.has_stream() && is_capturing(what.where.stream());
  if (what.waits && captured)
    throw error(errc::unsupported,
                "the stream is being captured, and a call that returns the value would have to wait for it: use the "
                "*_into call");
  if (is_known) {
    store_value(output, empty_results(what).data(), bytes_of_result(what),
                stream_of(device, what.where.has_stream(), what.where.stream()));
    return;
  }
  const std::shared_ptr<stream_memory> kept = workspace != nullptr ? nullptr
                                              : captured           ? recorded_memory_of(device, what.where.stream())
                                                         : memory_of(device, what.where.has_stream(), what.where.stream());
  stream_memory& work = workspace == nullptr ? *kept : *workspace->work;
  const std::lock_guard lock(work.in_use);
  if (workspace != nullptr) {
    work.stream = stream_of(device, what.where.has_stream(), what.where.stream());
    workspace->is_recorded = workspace->is_recorded || captured;
  }

  call now{.gpu = gpu,
           .work = work,
           .type = what.type,
           .form = what.form,
           .wide = what.wide,
           .input = inputs.of[0],
           .second = inputs.of[1],
           .count = what.count,
           .output = output,
           .host_value = nullptr,
           .finish = chosen.finish,
           .block_size = chosen.block_size,
           .grid_size = how.grid_size,
           .width = chosen.width,
           .ran = ran,
           .tree = chosen.policy.fixed_order,
           .choices = chosen.of_variant,
           .own = what.device,
           .third = inputs.of[2],
           .ddof = what.ddof,
           .results = what.results,
           .operators = what.operators,
           .workspace = workspace};
  if (what.waits) aim_at_host(now, row.what.takes_workspace);
  launch_variant(now, what, row, chosen.entry, captured);
}

void wait_for(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  refuse_foreign_stream(where, current);
  check(calls().stream_synchronize(stream_of(where.device(), where.has_stream(), where.stream())), "cudaStreamSynchronize");
}

memory_use held(const executor& where) {
  properties_of(where.device());
  return memory_held(where.device());
}

void release(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  release_held_memory(where.device());
}

launch_policy policy_of(const executor& where) { return policy_in_force(properties_of(where.device())); }

void use_policy(const executor& where, const launch_policy* chosen) {
  const auto& gpu = properties_of(where.device());
  put_in_force(gpu, chosen == nullptr ? built_in_policy(gpu.compute_capability) : *chosen);
}

void use_policy_file(const executor& where, const std::string& path) {
  const auto& gpu = properties_of(where.device());
  put_in_force(gpu, read_policy_file(path, gpu));
}

std::string policy_text(const executor& where, const launch_policy& chosen) {
  return to_text(chosen, properties_of(where.device()));
}

}  // namespace

}  // namespace onefold::cuda_backend

namespace onefold::detail {

extern const backend_entry cuda_backend{cuda_backend::list_variants,
                                        cuda_backend::describe,
                                        cuda_backend::reason_against,
                                        cuda_backend::run,
                                        cuda_backend::wait_for,
                                        cuda_backend::make_workspace,
                                        cuda_backend::held,
                                        cuda_backend::release,
                                        cuda_backend::policy_of,
                                        cuda_backend::use_policy,
                                        cuda_backend::use_policy_file,
                                        cuda_backend::policy_text,
                                        cuda_backend::results_of_batch};

}  // namespace onefold::detail
