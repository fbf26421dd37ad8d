/// @file backend.cpp  The CUDA backend's entry: checks a request against the variant and the device, then calls the variant.

#include "../backend.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include <onefold/device/gpu_status.cuh>
#include <onefold/error.hpp>

#include "../cpu/forms.hpp"
#include "../exact/state.hpp"
#include "../float_environment.hpp"
#include "batch.hpp"
#include "captures.hpp"
#include "choices.hpp"
#include "device.hpp"
#include "exact/driver.hpp"
#include "exact/words.hpp"
#include "exchanges.hpp"
#include "fixed_order/dots.hpp"
#include "fixed_order/driver.hpp"
#include "host_arrays.hpp"
#include "images.hpp"
#include "pointers.hpp"
#include "policy.hpp"
#include "results.hpp"
#include "runtime.hpp"
#include "streams.hpp"
#include "variants.hpp"
#include "workspace.hpp"

namespace onefold::cuda_backend {

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
  const bool was_in_doubt = !captured && work.end_in_doubt;  // what failed before has left no mark, and is ahead of this call's
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
    if (was_in_doubt || (leaves_marks && (!what.waits || row.what.takes_workspace))) work.leave_mark();
  } catch (...) {
    if (!captured) work.leave_mark_after_failure();
    throw;
  }
  if (!captured) work.end_in_doubt = false;
}

void run(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran);

// As run_in_place().
bool run_checked(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran);

std::size_t bytes_of_words(const onefold::detail::request& what) {
  return onefold::detail::exact::kind_of(what.form, what.type).words() * sizeof(std::int64_t);
}

// Launches an exact sum, of an array or of one of the parts of complex numbers, whose result is the state if there is a place for that, or the state's words
// where these alone are asked for. Requires elements. As run_in_place().
bool launch_exact_sum(onefold::detail::request what, exact_part part, const options& how, const variant_info& variant, report& ran,
                      std::uint64_t* state) {
  namespace exact = onefold::detail::exact;
  exact_call call{part, what.words_alone ? exact_outcome::words : state != nullptr ? exact_outcome::state : exact_outcome::number};
  onefold::detail::device_fold sum{};
  element_type types[] = {what.type, what.type};
  if (what.products != nullptr) {
    call.types = &what.products->types;
    types[0] = what.products->types.x;
    types[1] = what.products->types.y;
  }
  sum.struct_bytes = sizeof(sum);
  sum.inputs = what.form == form::dot ? 2 : 1;
  for (int i = 0; i < 2; ++i) sum.element_bytes[i] = sum.alignment[i] = static_cast<std::uint32_t>(size_of(types[i]));
  sum.input[0] = what.input;
  sum.input[1] = what.second;
  sum.result_bytes = static_cast<std::uint32_t>(result_bytes(what.type, what.form, what.wide));
  sum.result_alignment = static_cast<std::uint32_t>(size_of(result_type(what.type, what.form, what.wide)));
  if (part == exact_part::both) sum.result_bytes += sum.result_alignment;
  if (state != nullptr) {
    sum.result_bytes = static_cast<std::uint32_t>(exact::bytes_of(exact::kind_of(what.form, what.type)));
    sum.result_alignment = alignof(std::uint64_t);
    what.output = state;
  } else if (what.words_alone) {
    sum.result_bytes = static_cast<std::uint32_t>(bytes_of_words(what));
    sum.result_alignment = alignof(std::int64_t);
  }
  sum.object = &call;
  what.device = &sum;
  return run_checked(what, how, variant, ran);
}

// For a host that waits the kernels make the state, and the host rounds it.
bool run_exact_sum(const onefold::detail::request& what, exact_part part, const options& how, const variant_info& variant,
                   report& ran) {
  namespace exact = onefold::detail::exact;
  exact_integers state{};
  if (what.count == 0) {
    static_cast<void>(run_checked(what, how, variant, ran));
  } else if (!what.waits) {
    return launch_exact_sum(what, part, how, variant, ran, nullptr);
  } else {
    if (!launch_exact_sum(what, part, how, variant, ran, state.data())) return false;
    exact::conclude(what.type, what.form, what.wide, state.data(), what.count, what.ddof, what.output);
  }
  if (what.waits && what.exact_state != nullptr)
    exact::store(exact::kind_of(what.form, what.type), state.data(), what.count, what.exact_state);
  return true;
}

bool run_exact_values(onefold::detail::request what, const options& how, const variant_info& variant, report& ran);

// Several results whose states the host wants, or one whose values a kernel has counted: their words go to memory that the GPU and the host have, as
// onefold_exact_put_words_of() puts them anywhere, and the host rounds them.
bool run_for_states(onefold::detail::request what, const options& how, const variant_info& variant, report& ran) {
  namespace exact = onefold::detail::exact;
  const int device = what.where.device();
  const device_scope current(device);
  refuse_foreign_stream(what.where, current);
  if (what.where.has_stream() && is_capturing(what.where.stream()))
    refuse(variant, "makes states for the host in calls that wait, and the stream is being captured");
  const std::size_t words = exact::kind_of(what.form, what.type).words();
  const auto states = static_cast<std::size_t>(what.results);
  const std::shared_ptr<stream_memory> memory = memory_of(device, what.where.has_stream(), what.where.stream());
  bool may_be_written = false;
  const auto give_back = [&](result_place* given) {
    std::unique_ptr<result_place> own(given);
    if (may_be_written)
      memory->batch_results.give_up(std::move(own));
    else
      memory->batch_results.give_back(std::move(own));
  };
  const std::unique_ptr<result_place, decltype(give_back)> place(
      memory->batch_results.take(states * words * sizeof(std::int64_t)).release(), give_back);
  std::int64_t* const to = std::exchange(what.exact_state, nullptr);
  void* const output = std::exchange(what.output, place->values.data());
  what.waits = false;
  what.words_alone = true;
  const cudaStream_t stream = stream_of(device, what.where.has_stream(), what.where.stream());
  const auto wait = [&] {
    const cudaError_t status = calls().stream_synchronize(stream);
    may_be_written = !onefold::detail::tells_of_the_end(status);
    return status;
  };
  try {
    if (!run_exact_values(what, how, variant, ran)) return false;
  } catch (...) {
    forget(wait());  // what was launched may write until then
    throw;
  }
  check(wait(), "cudaStreamSynchronize");
  const auto* const from = static_cast<const std::int64_t*>(place->values.data());
  std::copy_n(from, states * words, to);
  for (std::size_t k = 0; k < states; ++k) {
    exact_integers state{};
    const std::uint64_t count = exact::load(exact::kind_of(what.form, what.type), from + k * words, state.data());
    exact::conclude(what.type, what.form, what.wide, state.data(), count, what.ddof,
                    static_cast<std::byte*>(output) + k * result_bytes(what.type, what.form, what.wide));
  }
  return true;
}

// The values of a function of the caller's. Of one result a host that waits rounds the state, as above.
bool run_exact_values(onefold::detail::request what, const options& how, const variant_info& variant, report& ran) {
  namespace exact = onefold::detail::exact;
  const onefold::detail::device_exact* const kernel = exact_of(*what.device);
  if (kernel == nullptr)
    throw error(errc::guarantee_not_met,
                "guarantee::exact cannot be given: cuda() has exact sums of functions for sum, norm1, sum_of_squares, norm2, mean "
                "and mean_variance of floats and doubles, and for mean, norm2 and mean_variance of integers, in translation units "
                "that were "
                "compiled with this version's onefold/device.cuh: store the values, or use openmp() or serial() with host memory");
  if (what.count == 0) {  // as under fixed; its own fold knows what that is
    if (what.exact_state != nullptr)
      std::fill_n(what.exact_state, exact::kind_of(what.form, what.type).words() * static_cast<std::size_t>(what.results),
                  std::int64_t{0});
    if (what.words_alone) {  // and which words those are the library
      what.device = nullptr;
      const int states = std::exchange(what.results, 1);
      for (int k = 0; k < states; ++k) {
        static_cast<void>(run_checked(what, how, variant, ran));
        what.output = static_cast<std::byte*>(what.output) + bytes_of_words(what);
      }
      return true;
    }
    const std::span<const variant_info> all = list_variants();
    return run_checked(what, how, *std::ranges::find(all, "fixed_order", &variant_info::name), ran);
  }
  if (what.exact_state != nullptr && (what.results != 1 || kernel->counts)) return run_for_states(what, how, variant, ran);
  exact_values_call call{};
  static_cast<onefold::detail::device_fold&>(call) = *what.device;
  call.exact = kernel;
  what.device = &call;
  if (what.words_alone) {
    call.outcome = exact_outcome::words;
    call.result_bytes = static_cast<std::uint32_t>(bytes_of_words(what) * static_cast<std::size_t>(what.results));
    call.result_alignment = alignof(std::int64_t);
  }
  if (!what.waits || what.results != 1 || kernel->counts) return run_checked(what, how, variant, ran);
  exact_integers state{};
  void* const output = std::exchange(what.output, state.data());
  call.outcome = exact_outcome::state;
  call.result_bytes = static_cast<std::uint32_t>(exact::bytes_of(exact::kind_of(what.form, what.type)));
  call.result_alignment = alignof(std::uint64_t);
  if (!run_checked(what, how, variant, ran)) return false;
  // Nothing at all is +0; in the words of a sum, which are added to others, it changes nothing, as -0 does.
  const std::uint64_t of_none = (state[0] & exact::has_term) == 0 ? exact::has_other_than_minus_zero : 0;
  state[0] &= ~exact::has_term;
  if (what.form != form::sum) state[0] |= of_none;
  if (what.exact_state != nullptr) exact::store(exact::kind_of(what.form, what.type), state.data(), what.count, what.exact_state);
  state[0] |= of_none;
  exact::conclude(what.type, what.form, what.wide, state.data(), what.count, what.ddof, output);
  return true;
}

// From the place of the first part of complex numbers to that of the second.
std::size_t bytes_of_part(const onefold::detail::request& what) {
  return what.words_alone ? bytes_of_words(what) : result_bytes(what.type, what.form, what.wide);
}

// Mean and variance of complex numbers in stream order. A host that waits asks for the states, and makes the result of these.
bool run_complex_moments(onefold::detail::request what, const options& how, const variant_info& variant, report& ran) {
  if (what.count > 0) return launch_exact_sum(what, exact_part::both, how, variant, ran, nullptr);
  what.form = form::mean;  // all of it is NaN
  static_cast<void>(run_checked(what, how, variant, ran));
  what.form = form::mean_variance;
  what.output = static_cast<std::byte*>(what.output) + size_of(result_type(what.type, what.form, what.wide));
  return run_checked(what, how, variant, ran);
}

bool run_exactly(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  if (what.count_at != nullptr && what.waits)
    refuse(variant, "takes no count that stands in memory in a call that waits: ask for guarantee::exact instead of its name");
  if (has_array_in_memory(what)) refuse(variant, "takes no array whose address stands in memory on cuda() so far: read it first");
  if (what.exact_state != nullptr && !what.waits)
    refuse(variant,
           "stores no state for the host in a call that does not wait: onefold_exact_put_words() puts its words into the GPU's "
           "memory");
  if (what.of_complex_parts) {
    if (!run_exact_sum(what, exact_part::all, how, variant, ran)) return false;
    onefold::detail::request imaginary = what;
    imaginary.output = static_cast<std::byte*>(what.output) + bytes_of_part(what);
    if (what.exact_state != nullptr)
      imaginary.exact_state = what.exact_state + onefold::detail::exact::kind_of(what.form, what.type).words();
    return run_exact_sum(imaginary, exact_part::turned, how, variant, ran);
  }
  if (what.products != nullptr) return run_exact_sum(dot_of_two_types(what), exact_part::all, how, variant, ran);
  if (what.device == nullptr) return run_exact_sum(what, exact_part::all, how, variant, ran);
  if (!is_parts(*what.device)) return run_exact_values(what, how, variant, ran);
  onefold::detail::request part = part_of_complex(what);
  const bool is_joint = onefold::detail::exact::is_of_both_parts(what.form);
  if (is_joint && !what.words_alone && what.exact_state == nullptr) return run_complex_moments(part, how, variant, ran);
  if (!run_exact_sum(part, exact_part::even, how, variant, ran)) return false;
  part.output = static_cast<std::byte*>(what.output) + bytes_of_part(what);
  if (what.exact_state != nullptr)
    part.exact_state = what.exact_state + onefold::detail::exact::kind_of(what.form, what.type).words();
  return run_exact_sum(part, exact_part::odd, how, variant, ran);
}

// A dot of many vectors as one dot after the other: exact ones, and those of vectors that are copied from the host.
void run_dots_by_themselves(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  const onefold_vectors& of = *what.vectors;
  onefold::detail::request one = what;
  one.vectors = nullptr;
  one.batch = nullptr;  // which asks for one result
  for (int i = 0; i < of.rows; ++i)
    for (int j = 0; j < of.columns; ++j) {
      one.input = of.x[i];
      one.second = of.y[j];
      const auto place = static_cast<std::size_t>(i) * static_cast<std::size_t>(of.columns) + static_cast<std::size_t>(j);
      one.output = static_cast<std::byte*>(what.output) + place * size_of(what.type);
      if (what.exact_state != nullptr)
        one.exact_state = what.exact_state + place * onefold::detail::exact::kind_of(form::dot, what.type).words();
      run(one, how, variant, ran);
    }
}

// A dot of many vectors, as many of them in each launch as it takes.
void run_vectors(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  const onefold_vectors& of = *what.vectors;
  properties_of(what.where.device());  // which says what is wrong with the device
  // Where the device finds them: the first set's, then the second's.
  std::array<const void*, ONEFOLD_MOST_DOTS + 1> views{};
  {
    const device_scope current(what.where.device());
    for (int k = 0; k < of.rows + of.columns && what.count > 0; ++k) {
      const cudaPointerAttributes found =
          attributes_of(k < of.rows ? of.x[k] : of.y[k - of.rows], "vector", what.where.device(), current);
      if (found.type == cudaMemoryTypeUnregistered) return run_dots_by_themselves(what, how, variant, ran);
      views[static_cast<std::size_t>(k)] = found.devicePointer;
    }
  }
  // Dots commute: one vector that all have in common is made the only row.
  const bool is_column = of.columns == 1 && of.rows > 1;
  const void* const* const rows_of = views.data() + (is_column ? of.rows : 0);
  const void* const* const columns_of = views.data() + (is_column ? 0 : of.rows);
  const int rows = is_column ? 1 : of.rows;
  const int columns = is_column ? of.rows : of.columns;
  const int most_rows = rows == 1 ? 1 : dots_of_launch::square;
  const int most_columns = rows == 1 ? dots_of_launch::longest : dots_of_launch::square;
  alignas(double) std::byte found[sizeof(double) * dots_of_launch::square * dots_of_launch::square];
  auto* const output = static_cast<std::byte*>(what.output);
  const std::size_t size = size_of(what.type);
  for (int i = 0; i < rows; i += most_rows) {
    for (int j = 0; j < columns; j += most_columns) {
      dots_of_launch dots{};
      dots.rows = std::min(most_rows, rows - i);
      dots.columns = std::min(most_columns, columns - j);
      dots.stride = what.waits ? dots.columns : columns;
      for (int k = 0; k < dots.rows; ++k) dots.x[k] = rows_of[i + k];
      for (int k = 0; k < dots.columns; ++k) dots.y[k] = columns_of[j + k];
      const onefold::detail::device_fold fold = fold_of_dots(what.type, dots);
      onefold::detail::request part = what;
      part.vectors = nullptr;
      part.batch = nullptr;  // which asks for one result
      part.device = &fold;
      part.output = what.waits ? found : output + static_cast<std::size_t>(i * columns + j) * size;
      run(part, how, variant, ran);
      for (int k = 0; k < dots.rows && what.waits; ++k)
        std::memcpy(output + static_cast<std::size_t>((i + k) * columns + j) * size,
                    found + static_cast<std::size_t>(k * dots.columns) * size, static_cast<std::size_t>(dots.columns) * size);
    }
  }
}

// The tree's accumulator, in the memory that a backend for CPUs would fill, and the result, which the host makes of it.
bool run_for_tree_value(onefold::detail::request what, const options& how, const variant_info& variant, report& ran) {
  // In a batch the host makes of what is shown what the caller wants, when it has waited.
  const bool is_shown_alone = !what.waits && what.output == what.tree_value;
  if (!row_of_variant(variant).what.takes_workspace || !(what.waits || is_shown_alone))
    refuse(variant, "shows no accumulator of its tree: only fixed_order does, to calls that wait");
  if (what.form == form::reduce_together)
    throw error(errc::unsupported, "the accumulators of reduce_together cannot be had from cuda(): ask for those of each operator");
  if (is_shown_alone) return run_checked(what, how, variant, ran);
  alignas(16) std::byte shown[cpu::most_form_bytes] = {}, value[cpu::most_form_bytes] = {};
  void* const output = std::exchange(what.output, shown);
  if (!run_checked(what, how, variant, ran)) return false;
  const cpu::form_row& row = cpu::row_of(what.type, what.form, what.wide);
  cpu::take_shown_state(row, what.form, what.count, shown, value);
  std::memcpy(what.tree_value, value, row.state_bytes);
  const onefold::detail::default_float_environment one_operation_is_one_operation;
  row.conclude(row, value, what.count, what.ddof, output);
  return true;
}

// Bytes of an array's parts that all, any and none look at one after the other, as long as nothing has decided. Each costs a call that waits and a kernel's
// end, 10 to 17 us together: 2 to 4 % of the time of so many bytes (decision 0046).
constexpr std::uint64_t bytes_asked_first = std::uint64_t{64} << 20;
constexpr std::uint64_t bytes_asked_next = std::uint64_t{2} << 30;

bool may_be_decided_early(const onefold::detail::request& what) {
  const bool is_decidable = what.form == form::all || what.form == form::any || what.form == form::none;
  return is_decidable && what.waits && what.batch == nullptr && what.device == nullptr && what.count_at == nullptr &&
         what.input_at == nullptr && what.count >= bytes_asked_next / size_of(what.type);
}

// As run_in_place().
bool run_until_decided(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  const std::size_t size = size_of(what.type);
  onefold::detail::request part = what;
  for (std::uint64_t at = 0; at < what.count; at += part.count) {
    const std::uint64_t rest = what.count - at;
    part.input = static_cast<const std::byte*>(what.input) + at * size;
    part.count = at == 0 ? bytes_asked_first / size : rest < 2 * bytes_asked_next / size ? rest : bytes_asked_next / size;
    if (!run_checked(part, how, variant, ran)) return false;
    bool answer = false;
    std::memcpy(&answer, what.output, sizeof(answer));
    if (answer == (what.form == form::any)) return true;
  }
  return true;
}

void run(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  if (what.vectors != nullptr && variant.guarantee == guarantee::exact) return run_dots_by_themselves(what, how, variant, ran);
  if (what.vectors != nullptr) return run_vectors(what, how, variant, ran);
  if (!run_in_place(what, how, variant, ran)) reduce_host_arrays(what, how, variant, ran);
}

bool run_checked(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  const int device = what.where.device();
  const auto& gpu = properties_of(device);
  if (gpu.compute_capability < variant.min_compute_capability) throw error(errc::unsupported, *reason_against(variant, what.where));
  const variant_row& row = row_of_variant(variant);
  const launch_choices chosen = choose_launch(what, how, variant, row, gpu);
  device_workspace* const workspace = workspace_of(how, variant, row.what.takes_workspace, device);

  const device_scope current(device);
  refuse_foreign_stream(what.where, current);
  const inputs_of_request inputs(what, device, current);
  if (is_to_be_copied(what, variant, inputs)) return false;
  if (what.device != nullptr) refuse_misaligned(what.output, what.device->result_alignment, "output");
  // Not of no elements, whose result is stored as it is.
  const bool may_send_words = what.batch != nullptr && !what.waits && row.what.takes_workspace &&
                              variant.guarantee < guarantee::exact && what.count_at == nullptr && !has_array_in_memory(what) &&
                              what.count > 0;
  unsigned long long* const words =
      may_send_words ? static_cast<batch_of_calls*>(what.batch)->words_for(what.output, bytes_of_result(what)) : nullptr;
  void* output = what.waits || words != nullptr ? nullptr : device_view(what.output, "output", device, current);
  const std::uint64_t* count_at = nullptr;
  if (what.count_at != nullptr) {
    if (!row.what.takes_workspace) refuse(variant, "takes no count that stands in memory: leave its name away");
    if (how.grid_size != 0 || how.block_size != 0)
      refuse(variant, "chooses its launch where the count stands in memory: leave block_size and grid_size alone");
    count_at = static_cast<const std::uint64_t*>(device_view(what.count_at, "count", device, current));
  }
  if (has_array_in_memory(what)) {
    if (!row.what.takes_workspace) refuse(variant, "takes no array whose address stands in memory: leave its name away");
    if (how.grid_size != 0 || how.block_size != 0)
      refuse(variant, "chooses its launch where the address of an array stands in memory: leave block_size and grid_size alone");
  }
  ran.device = device;
  ran.block_size = chosen.block_size;
  ran.width = chosen.width;
  ran.finish = chosen.finish;
  // What a fold of the caller's gives for no elements its kernels know.
  const bool is_known = what.count == 0 && what.device == nullptr;
  if (is_known && what.waits) {
    std::memcpy(what.output, empty_results(what).data(), bytes_of_result(what));
    return true;
  }

  const bool captured = what.where.has_stream() && is_capturing(what.where.stream());
  if (what.waits && captured)
    throw error(errc::unsupported,
                "the stream is being captured, and a call that returns the value would have to wait for it: use the "
                "*_into call");
  if (is_known && what.words_alone) {
    check(calls().memset_async(output, 0, bytes_of_words(what), stream_of(device, what.where.has_stream(), what.where.stream())),
          "cudaMemsetAsync");
    return true;
  }
  if (is_known) {
    store_value(output, empty_results(what).data(), bytes_of_result(what),
                stream_of(device, what.where.has_stream(), what.where.stream()));
    return true;
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
           .as_tree_value = what.tree_value != nullptr,
           .workspace = workspace,
           .count_at = count_at,
           .is_input_at = what.input_at != nullptr,
           .is_second_at = what.second_at != nullptr};
  if (words != nullptr) {
    now.host_words = words;
    now.call_number = static_cast<batch_of_calls*>(what.batch)->call_number();
  }
  if (what.waits) aim_at_host(now, row.what.takes_workspace && !now.is_completed_by_device());
  launch_variant(now, what, row, chosen.entry, captured);
  return true;
}

void enter_gpu(const executor& where, void* scope) {
  static_assert(sizeof(device_scope) <= onefold::detail::most_gpu_scope_bytes &&
                alignof(device_scope) <= alignof(onefold_gpu_scope));
  properties_of(where.device());
  auto* const current = ::new (scope) device_scope(where.device());
  try {
    refuse_foreign_stream(where, *current);
  } catch (...) {
    current->~device_scope();
    throw;
  }
}

void leave_gpu(void* scope) { static_cast<device_scope*>(scope)->~device_scope(); }

void* stream_of_calls(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  refuse_foreign_stream(where, current);
  return stream_of(where.device(), where.has_stream(), where.stream());
}

void check_gpu_arrays(const executor& where, std::span<const onefold_array> arrays, std::uint64_t count) {
  properties_of(where.device());
  const device_scope current(where.device());
  refuse_unreadable(arrays, count, where.device(), current);
}

void check_gpu_output(const executor& where, const void* output) {
  properties_of(where.device());
  const device_scope current(where.device());
  static_cast<void>(device_view(output, "output", where.device(), current));
}

void refuse_to_wait_in_capture(const executor& where) {
  if (where.has_stream() && is_capturing(where.stream()))
    throw error(errc::unsupported, "the stream is being captured: nothing of it runs that could be waited for");
}

void wait_for(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  refuse_foreign_stream(where, current);
  refuse_to_wait_in_capture(where);
  check(calls().stream_synchronize(stream_of(where.device(), where.has_stream(), where.stream())), "cudaStreamSynchronize");
}

void read_back(const executor& where, void* to, const void* from, std::size_t bytes) {
  properties_of(where.device());
  const device_scope current(where.device());
  refuse_foreign_stream(where, current);
  refuse_to_wait_in_capture(where);
  check(calls().memcpy_async(to, from, bytes, cudaMemcpyDefault, stream_of(where.device(), where.has_stream(), where.stream())),
        "cudaMemcpyAsync");
  wait_for(where);
}

void store(const executor& where, void* output, const void* value, std::size_t bytes) {
  const int device = where.device();
  properties_of(device);
  const device_scope current(device);
  refuse_foreign_stream(where, current);
  refuse_unusable_stream(where);
  store_value(device_view(output, "output", device, current), value, bytes, stream_of(device, where.has_stream(), where.stream()));
}

memory_use held(const executor& where) {
  properties_of(where.device());
  memory_use all = memory_held(where.device());
  const memory_use exchanged = exchange_memory_held(where.device());
  all.device_bytes += exchanged.device_bytes;
  all.pinned_bytes += exchanged.pinned_bytes;
  return all;
}

void release(const executor& where) {
  properties_of(where.device());
  const device_scope current(where.device());
  release_exchange_memory(where.device());
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

bool run_in_place(const onefold::detail::request& what, const options& how, const variant_info& variant, report& ran) {
  if (variant.guarantee == guarantee::exact) return run_exactly(what, how, variant, ran);
  if (what.tree_value != nullptr && what.device == nullptr && what.count > 0) return run_for_tree_value(what, how, variant, ran);
  if (may_be_decided_early(what)) return run_until_decided(what, how, variant, ran);
  return run_checked(what, how, variant, ran);
}

bool exact_state_in_place(const onefold::detail::request& what, exact_part part, const options& how, const variant_info& variant,
                          report& ran, exact_integers& state) {
  return launch_exact_sum(what, part, how, variant, ran, state.data());
}

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
                                        cuda_backend::begin_batch,
                                        cuda_backend::read_back,
                                        cuda_backend::store,
                                        cuda_backend::can_join_images,
                                        cuda_backend::join_images,
                                        cuda_backend::load_join_images,
                                        cuda_backend::enter_gpu,
                                        cuda_backend::leave_gpu,
                                        cuda_backend::stream_of_calls,
                                        cuda_backend::check_gpu_arrays,
                                        cuda_backend::check_gpu_output,
                                        cuda_backend::conclude_exact_words,
                                        nullptr,
                                        cuda_backend::begin_exchange,
                                        cuda_backend::add_exact_words};

}  // namespace onefold::detail
