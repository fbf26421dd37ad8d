#include "images.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <onefold/detail/conclusions.hpp>

#include "../no_elements.hpp"
#include "captures.hpp"
#include "device.hpp"
#include "exchanges.hpp"
#include "fixed_order/complex_joined.hpp"
#include "fixed_order/driver.hpp"
#include "fixed_order/joined.hpp"
#include "fixed_order/joined_folds.hpp"
#include "pointers.hpp"
#include "results.hpp"
#include "runtime.hpp"
#include "streams.hpp"

namespace onefold::cuda_backend {

namespace detail {

template <class Families>
const void* joined_kernel_of() noexcept;  // joined_kernel.cuh

namespace {

template <class... Lists>
const void* symbol_of(int number, fold_list<Lists...>) noexcept {
  static constexpr const void* (*each[])() noexcept = {joined_kernel_of<Lists>...};
  return each[number]();
}

}  // namespace

}  // namespace detail

const void* joined_kernel(int number) noexcept { return detail::symbol_of(number, detail::joined_lists{}); }
const void* complex_joined_kernel(int number) noexcept { return detail::symbol_of(number, complex_joined_lists{}); }

namespace {

// Of squares of complex numbers, those of their parts, which are real.
onefold::detail::images_of_parts as_real_parts(onefold::detail::images_of_parts all) noexcept {
  if (!is_complex(all.type) || !is_of_parts_in_a_row(all.what)) return all;
  all.type = part_type(all.type);
  all.total *= 2;
  return all;
}

bool can_join_complex(const onefold::detail::images_of_parts& all) noexcept {
  if (all.total == 0 || complex_joined_fold(all.type, all.what, all.wide).kernel < 0) return false;
  return fits_joined(all.total >> log_complex_joined_tile(all.type, all.what), all.parts, complex_joined_state_bytes(all.what));
}

// Says to the kernel, which these return, what it makes of a table's images and borders.
const void* kernel_of_complex(joined_table& table, const onefold::detail::images_of_parts& all) noexcept {
  const int log_tile = log_complex_joined_tile(all.type, all.what);
  plan_items(table, log_tile);
  const joined_place its = complex_joined_fold(all.type, all.what, all.wide);
  table.fold = its.fold;
  table.conversion.log_tile = static_cast<std::uint8_t>(log_tile);
  table.conversion.bytes = sizeof(std::uint64_t);  // of what is counted
  table.to.how = static_cast<int>(all.what) | (all.wide ? complex_is_wide : 0);
  table.to.argument = static_cast<std::uint64_t>(all.ddof);
  return complex_joined_kernel(its.kernel);
}
const void* kernel_of_reals(joined_table& table, const onefold::detail::images_of_parts& all) noexcept {
  plan_items(table, log_joined_tile(all.type));
  const joined_place its = joined_fold(all.type, all.what, all.wide);
  table.fold = its.fold;
  table.conversion = joined_conversion_of(all.type, all.what, all.wide, value_in_tree(all.type, all.what, all.wide).value_bytes);
  if (all.what == form::mean_variance) {
    table.to.how = result_type(all.type, all.what, all.wide) == element_type::f32 ? 1 : 0;
    table.to.argument = static_cast<std::uint64_t>(all.ddof);
  } else {
    table.to.how = static_cast<int>(onefold::detail::conclusion_of(all.type, all.what, all.wide));
    if (has_index(all.what)) table.to.argument = size_of(result_type(all.type, all.what));
  }
  return joined_kernel(its.kernel);
}

}  // namespace

bool can_join_images(const onefold::detail::images_of_parts& parts) noexcept {
  const onefold::detail::images_of_parts all = as_real_parts(parts);
  if (is_complex(all.type)) return can_join_complex(all);
  if (joined_fold(all.type, all.what, all.wide).kernel < 0) return false;
  return fits_joined(all.total >> log_joined_tile(all.type), all.parts, joined_state_bytes(all.type, all.what, all.wide));
}

void load_join_images(const executor& where, const onefold::detail::images_of_parts& parts) {
  const onefold::detail::images_of_parts all = as_real_parts(parts);
  properties_of(where.device());
  const device_scope current(where.device());
  const void* const kernel = is_complex(all.type) ? complex_joined_kernel(complex_joined_fold(all.type, all.what, all.wide).kernel)
                                                  : joined_kernel(joined_fold(all.type, all.what, all.wide).kernel);
  cudaFuncAttributes loaded{};
  check(calls().func_get_attributes(&loaded, kernel), "cudaFuncGetAttributes");
}

void join_images(const executor& where, const onefold::detail::images_of_parts& parts, void* output) {
  const onefold::detail::images_of_parts all = as_real_parts(parts);
  const int device = where.device();
  properties_of(device);
  const device_scope current(device);
  refuse_foreign_stream(where, current);
  refuse_unusable_stream(where);
  const cudaStream_t stream = stream_of(device, where.has_stream(), where.stream());
  void* const result = device_view(output, "result", device, current);
  if (all.total == 0) {
    std::byte of_none[2 * sizeof(std::uint64_t)];
    return store_value(result, of_none, onefold::detail::store_empty(all.type, all.what, all.wide, of_none), stream);
  }
  joined_table table{};
  table.images = static_cast<const unsigned char*>(device_view_in_graph(all.images, "images", device, current, stream));
  table.stride = all.stride;
  table.parts = static_cast<std::uint32_t>(all.parts);
  const std::uint64_t of_each = all.total / parts.total;  // numbers of an element
  std::transform(all.borders, all.borders + all.parts, table.borders, [of_each](std::uint64_t border) { return of_each * border; });
  table.borders[all.parts] = all.total;
  const void* const kernel = is_complex(all.type) ? kernel_of_complex(table, all) : kernel_of_reals(table, all);
  table.to.bytes = static_cast<int>(result_bytes(all.type, all.what, all.wide));
  table.to.output = result;

  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(static_cast<unsigned>(joined_threads(table)));
  config.stream = stream;
  config.attrs = &early;
  // Behind an exchange it waits for kernels on several streams.
  config.numAttrs = code_capability(device) >= 90 && !is_exchanged_with(all.images, device) ? 1 : 0;
  void* arguments[] = {&table};
  check(calls().launch_kernel(&config, kernel, arguments), "cudaLaunchKernelExC");
}

}  // namespace onefold::cuda_backend
