/// @file c_api_machine.cpp  The C interface's rest: backends, the catalogue, working memory, launch policies.

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include <onefold/order.hpp>
#include <onefold/policy.hpp>

#include "../backends/backend.hpp"
#include "../backends/cuda/fixed_order/plan.hpp"  // plain C++: the size of a workspace is known where there is no GPU
#include "c_api.hpp"
#include "catalogue.hpp"
#include "dispatch.hpp"
#include "pointer_kind.hpp"
#include "select.hpp"

namespace onefold::detail {

namespace {

// The entry of an executor that is no best(); throws where it is not built.
const backend_entry& built_backend(const executor& where) {
  const auto* entry = find_backend(where.backend());
  if (entry == nullptr) throw error(errc::backend_not_built, not_built_sentence(where.backend()));
  return *entry;
}

// The entry of an executor that names a GPU; of another an error with what it has not.
const backend_entry& gpu_backend(const executor& where, const char* lacks = "no GPU to enter: name a cuda() executor") {
  const auto* entry = where.chooses_itself() ? nullptr : &built_backend(where);
  if (entry == nullptr || entry->enter_gpu == nullptr)
    throw error(errc::unsupported, std::string(where.chooses_itself() ? "best()" : name(where.backend())) + " has " + lacks);
  return *entry;
}
const backend_entry& launching_backend(const executor& where) {
  return gpu_backend(where, "no launch policy: ask for that of a cuda() executor");
}

// Null where the executor's calls need none.
onefold_workspace* make_workspace(const executor& where, void* memory, std::size_t bytes) {
  if (where.chooses_itself()) return nullptr;
  const auto& entry = built_backend(where);
  return entry.make_workspace == nullptr ? nullptr : entry.make_workspace(where, memory, bytes).release();
}

void store(executor where, void* output, const void* value, std::size_t bytes) {
  if (bytes == 0) return;
  if (output == nullptr) refuse_null("output");
  if (value == nullptr) refuse_null("value");
  if (bytes > most_stored_bytes)
    throw error(errc::invalid_argument, "a result has at most " + std::to_string(most_stored_bytes) + " bytes, and " +
                                            std::to_string(bytes) + " are to be stored");
  if (where.chooses_itself()) {
    const pointer_place place = locate(output);
    where = place.kind == pointer_kind::host ? serial() : cuda(place.device);
  }
  const backend_entry& entry = built_backend(where);
  if (entry.store != nullptr) return entry.store(where, output, value, bytes);
  if (is_on_device(output))
    throw error(errc::device_pointer,
                "the output is GPU memory, which the " + std::string(name(where.backend())) + " executor cannot write: use cuda()");
  std::memcpy(output, value, bytes);
}

backend backend_of(int number) {
  if (number < 0 || number >= backend_count)
    throw error(errc::invalid_argument, "the backend is none of ONEFOLD_SERIAL, ONEFOLD_OPENMP and ONEFOLD_CUDA");
  return static_cast<backend>(number);
}

backend_info describe(backend where) {
  if (const auto* entry = find_backend(where)) return entry->describe();
  return {where, false, false, not_built_sentence(where), 0, {}};
}

// The catalogue's texts are literals, which end with a 0.
const char* c_text(std::string_view text) { return text.data() == nullptr ? "" : text.data(); }

constexpr std::size_t most_rows = catalogue_rows::most;

struct c_rows {
  std::array<onefold_variant_info, most_rows> all{};
  std::size_t count = 0;

  c_rows() noexcept {
    for (const variant_info& from : all_rows()) {
      if (count == most_rows) break;
      onefold_variant_info& to = all[count++];
      to.name = c_text(from.name);
      to.seed = c_text(from.seed);
      to.summary = c_text(from.summary);
      to.limits = c_text(from.limits);
      to.width_meaning = c_text(from.width_meaning);
      to.finishes = reinterpret_cast<const std::uint8_t*>(from.finishes.data());
      to.finish_count = from.finishes.size();
      to.block_sizes = from.block_sizes.data();
      to.block_size_count = from.block_sizes.size();
      to.widths = from.widths.data();
      to.width_count = from.widths.size();
      to.backend = static_cast<std::int32_t>(from.backend);
      to.built = from.built ? 1 : 0;
      to.guarantee = static_cast<std::int32_t>(from.guarantee) + ONEFOLD_GUARANTEE_NONE;
      to.default_finish = static_cast<std::int32_t>(from.default_finish);
      to.default_block_size = from.default_block_size;
      to.grid_size_free = from.grid_size_free ? 1 : 0;
      to.default_width = from.default_width;
      to.min_compute_capability = from.min_compute_capability;
      to.takes_everything = from.takes_everything ? 1 : 0;
      static_assert(element_type_count <= sizeof(to.operators));
      for (int type = 0; type < element_type_count; ++type) to.operators[type] = from.operators[type];
    }
  }
};

const c_rows& rows() noexcept {
  static const c_rows all;
  return all;
}

launch_policy checked_policy(const onefold_tree_policy* tree, const onefold_variant_policy* variants, std::size_t count) {
  if (tree == nullptr) refuse_null("policy of fixed_order");
  if (variants == nullptr && count != 0) refuse_null("list of the variants' policies");
  for (std::size_t i = 0; i < count; ++i)
    if (std::memchr(variants[i].variant, 0, sizeof(variants[i].variant)) == nullptr)
      throw error(errc::invalid_argument, "a variant's name in a policy does not end");
  return policy_from_c(*tree, variants, count);
}

void put_sentence(const std::string& sentence, char* to, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t length = std::min(sentence.size(), bytes - 1);
  std::memcpy(to, sentence.data(), length);
  to[length] = '\0';
}

}  // namespace

}  // namespace onefold::detail

using namespace onefold::detail;

int32_t onefold_gpu_of(const void* memory) {
  const pointer_place place = locate(memory);
  return place.kind == pointer_kind::host ? -1 : place.device;
}

int onefold_enter_gpu(onefold_executor where, onefold_gpu_scope* scope) {
  return guarded([&] {
    if (scope == nullptr) refuse_null("scope");
    const onefold::executor on = executor_of(where);
    gpu_backend(on).enter_gpu(on, scope);
  });
}

void onefold_leave_gpu(onefold_gpu_scope* scope) {
  const backend_entry* const gpus = find_backend(onefold::backend::cuda);
  if (scope != nullptr && gpus != nullptr) gpus->leave_gpu(scope);
}

int onefold_stream_of(onefold_executor where, void** stream) {
  return guarded([&] {
    if (stream == nullptr) refuse_null("place of the stream");
    const onefold::executor on = executor_of(where);
    *stream = gpu_backend(on).stream_of(on);
  });
}

int onefold_check_gpu_arrays(onefold_executor where, const onefold_array* arrays, int32_t array_count, uint64_t count) {
  return guarded([&] {
    if (array_count < 0 || array_count > 3) refuse_number("array_count", array_count, 0, 3);
    if (array_count > 0 && arrays == nullptr) refuse_null("list of arrays");
    for (std::int32_t i = 0; i < array_count; ++i)
      if (!std::has_single_bit(arrays[i].alignment)) refuse_number("alignment of an array", arrays[i].alignment, "a power of two");
    const onefold::executor on = executor_of(where);
    gpu_backend(on).check_gpu_arrays(on, {arrays, static_cast<std::size_t>(array_count)}, count);
  });
}

int onefold_check_gpu_output(onefold_executor where, const void* output, uint32_t alignment) {
  return guarded([&] {
    if (output == nullptr) refuse_null("output");
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) refuse_number("alignment", alignment, "a power of two");
    check_output_alignment(output, alignment);
    const onefold::executor on = executor_of(where);
    gpu_backend(on).check_gpu_output(on, output);
  });
}

int onefold_synchronize(onefold_executor where) {
  return guarded([&] {
    const onefold::executor on = executor_of(where);
    if (!on.chooses_itself()) built_backend(on).synchronize(on);
  });
}

int onefold_store(onefold_executor where, void* output, const void* value, size_t bytes) {
  return guarded([&] { store(executor_of(where), output, value, bytes); });
}

int onefold_describe_backend(int backend, onefold_backend_info* info, onefold_device_info* devices, size_t capacity) {
  return guarded([&] {
    checked_struct(info, "backend_info");
    const onefold::backend_info known = describe(backend_of(backend));
    onefold_backend_info all{};
    all.backend = backend;
    all.built = known.built ? 1 : 0;
    all.usable = known.usable ? 1 : 0;
    all.threads = known.threads;
    all.devices = known.devices.size();
    put_text(all.detail, known.detail);
    fill(info, all);
    for (std::size_t i = 0; devices != nullptr && i < std::min(capacity, known.devices.size()); ++i) {
      const onefold::device_info& from = known.devices[i];
      devices[i] = {from.number,          {from.compute_capability[0], from.compute_capability[1]},
                    from.multiprocessors, from.memory_bytes,
                    from.l2_bytes,        {}};
      put_text(devices[i].name, from.name);
    }
  });
}

size_t onefold_variant_count(void) { return rows().count; }

const onefold_variant_info* onefold_variant(size_t number) { return number < rows().count ? &rows().all[number] : nullptr; }

int onefold_why_not(const char* variant, int backend, onefold_executor where, char* sentence, size_t bytes) {
  return guarded([&] {
    if (variant == nullptr) refuse_null("variant's name");
    if (sentence == nullptr) refuse_null("place for the sentence");
    const onefold::variant_info* const row = find_row(variant, backend_of(backend));
    if (row == nullptr && find_row(variant) == nullptr)
      throw onefold::error(onefold::errc::unknown_variant,
                           std::string("no variant is named \"").append(variant).append("\": ").append(nearest_names(variant)));
    if (row == nullptr)
      throw onefold::error(onefold::errc::unknown_variant, std::string(variant)
                                                               .append(" is no variant of ")
                                                               .append(name(backend_of(backend)))
                                                               .append(": of ")
                                                               .append(name(find_row(variant)->backend))
                                                               .append(" it is one"));
    put_sentence(reason_against(*row, executor_of(where)).value_or(std::string()), sentence, bytes);
  });
}

size_t onefold_workspace_bytes(uint64_t count) {
  return onefold_workspace_bytes_of_states(count, onefold::cuda_backend::most_own_state_bytes);
}

size_t onefold_workspace_bytes_of_states(uint64_t count, size_t state_bytes) {
  constexpr uint64_t unit = onefold::cuda_backend::fewest_unit_elements;
  return onefold::cuda_backend::slot_bytes(count / unit + (count % unit != 0 ? 1 : 0), state_bytes);
}

int onefold_workspace_create(onefold_executor where, uint64_t count, onefold_workspace** made) {
  return guarded([&] {
    clear_place(made, "place for the workspace");
    *made = make_workspace(executor_of(where), nullptr, onefold_workspace_bytes(count));
  });
}

int onefold_workspace_create_at(onefold_executor where, void* memory, size_t bytes, onefold_workspace** made) {
  return guarded([&] {
    clear_place(made, "place for the workspace");
    if (memory == nullptr)
      throw onefold::error(onefold::errc::null_pointer, "the workspace's memory is null: give the address of device memory");
    *made = make_workspace(executor_of(where), memory, bytes);
  });
}

size_t onefold_workspace_size(const onefold_workspace* of) {
  return of == nullptr ? 0 : static_cast<const workspace_state*>(of)->bytes;
}

void onefold_workspace_destroy(onefold_workspace* made) { delete static_cast<workspace_state*>(made); }

int onefold_memory_in_use(onefold_executor where, onefold_memory_use* used) {
  return guarded([&] {
    checked_struct(used, "memory_use");
    const onefold::executor on = executor_of(where);
    onefold_memory_use all{};
    if (!on.chooses_itself()) {
      const auto& entry = built_backend(on);
      if (entry.memory_in_use != nullptr) {
        const onefold::memory_use held = entry.memory_in_use(on);
        all.device_bytes = held.device_bytes;
        all.pinned_bytes = held.pinned_bytes;
        all.streams = held.streams;
      }
    }
    fill(used, all);
  });
}

int onefold_release_memory(onefold_executor where) {
  return guarded([&] {
    const onefold::executor on = executor_of(where);
    if (on.chooses_itself()) return;
    const auto& entry = built_backend(on);
    if (entry.release_memory != nullptr) entry.release_memory(on);
  });
}

int onefold_policy_of(onefold_executor where, onefold_tree_policy* tree, onefold_variant_policy* variants, size_t capacity,
                      size_t* count) {
  return guarded([&] {
    if (tree == nullptr) refuse_null("place for the policy of fixed_order");
    if (count == nullptr) refuse_null("place for the number of variants");
    if (variants == nullptr && capacity != 0) refuse_null("place for the variants' policies");
    const onefold::executor on = executor_of(where);
    const onefold::launch_policy all = launching_backend(on).policy(on);
    *tree = c_policy(all.fixed_order);
    *count = all.variants.size();
    for (std::size_t i = 0; i < std::min(capacity, all.variants.size()); ++i) variants[i] = c_policy(all.variants[i]);
  });
}

int onefold_use_policy(onefold_executor where, const onefold_tree_policy* tree, const onefold_variant_policy* variants,
                       size_t count) {
  return guarded([&] {
    const onefold::executor on = executor_of(where);
    const auto& entry = launching_backend(on);
    const onefold::launch_policy chosen = checked_policy(tree, variants, count);
    entry.use_policy(on, &chosen);
  });
}

int onefold_use_policy_file(onefold_executor where, const char* path) {
  return guarded([&] {
    if (path == nullptr) refuse_null("path of the policy's file");
    const onefold::executor on = executor_of(where);
    launching_backend(on).use_policy_file(on, path);
  });
}

int onefold_use_built_in_policy(onefold_executor where) {
  return guarded([&] {
    const onefold::executor on = executor_of(where);
    launching_backend(on).use_policy(on, nullptr);
  });
}

int onefold_policy_text(onefold_executor where, const onefold_tree_policy* tree, const onefold_variant_policy* variants,
                        size_t count, char* text, size_t bytes, size_t* needed) {
  return guarded([&] {
    if (text == nullptr && bytes != 0) refuse_null("place for the text");
    const onefold::executor on = executor_of(where);
    const auto& entry = launching_backend(on);
    const std::string all = entry.policy_text(on, checked_policy(tree, variants, count));
    put_sentence(all, text, bytes);
    if (needed != nullptr) *needed = all.size() + 1;
  });
}
