#include "batch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <onefold/detail/range_parts.hpp>
#include <onefold/device/gpu_status.cuh>
#include <onefold/error.hpp>

#include "../../src/catalogue.hpp"
#include "captures.hpp"
#include "device.hpp"
#include "fixed_order/driver.hpp"
#include "pointers.hpp"
#include "policy.hpp"
#include "results.hpp"
#include "runtime.hpp"
#include "streams.hpp"
#include "workspace.hpp"

namespace onefold::cuda_backend {

namespace {

constexpr std::string_view grouping_variant = "fixed_order";

// Whether the calls' options leave it to the library how they are launched.
bool leaves_launches_free(const options& how) {
  return (how.variant.empty() || how.variant == grouping_variant) && how.finish == finish::automatic && how.block_size == 0 &&
         how.grid_size == 0 && how.width == 0 && (!how.guarantee || *how.guarantee <= guarantee::fixed);
}

class batch_on_stream final : public batch_of_calls {
 public:
  batch_on_stream(const executor& where, const options& how, std::size_t bytes)
      : where_(where), device_(where.device()), gpu_(properties_of(device_)), bytes_(bytes), current_(std::in_place, device_) {
    refuse_foreign_stream(where, *current_);
    is_captured_ = where.has_stream() && is_capturing(where.stream());
    stream_ = stream_of(device_, where_.has_stream(), where_.stream());
    if (bytes > 0) prepare_results();
    groups_ = leaves_launches_free(how);
    if (!groups_) return;
    static const variant_info& variant = *onefold::detail::find_row(grouping_variant, backend::cuda);
    workspace_ = workspace_of(how, variant, true, device_);
  }
  ~batch_on_stream() override {
    // A call of the batch has failed, and its sentence is the one to be told; those before it may still write here.
    const bool is_idle = !waits_ || wait_quietly();
    if (results_ == nullptr) return;
    if (is_idle)
      memory_->batch_results.give_back(std::move(results_));
    else
      memory_->batch_results.give_up(std::move(results_));
  }
  // In the device's context: a null stream is that of the current one. Whether nothing of what was launched goes on.
  bool wait_quietly() noexcept {
    try {
      std::optional<device_scope> current;
      if (!current_) current.emplace(device_);
      const cudaError_t status = calls().stream_synchronize(stream_);
      forget(status);
      return onefold::detail::tells_of_the_end(status);
    } catch (const error& problem) {  // a lost device, which the next call reports
      return problem.code() == errc::device_lost;
    } catch (const std::exception&) {
      return false;
    }
  }
  batch_on_stream(const batch_on_stream&) = delete;
  batch_on_stream& operator=(const batch_on_stream&) = delete;

  [[nodiscard]] void* data() const noexcept override { return results_ == nullptr ? nullptr : results_->values.data(); }

  bool take(const onefold::detail::request& what) override {
    if (!groups_) return false;
    std::optional<batched_request> made = batched_request_of(what);
    if (!made) return false;
    if (what.input_at != nullptr) {
      made->item.x = device_view(what.input_at, "address of the input", device_, *current_);
      made->item.fold |= batched_item::x_in_memory;
    } else {
      made->item.x = view_of_input(what.input, "input");
    }
    if (made->item.x == nullptr) return false;
    if (what.count_at != nullptr)
      made->item.count_at = static_cast<const std::uint64_t*>(device_view(what.count_at, "count", device_, *current_));
    if (what.second_at != nullptr) {
      made->item.y = device_view(what.second_at, "address of the second input", device_, *current_);
      made->item.fold |= batched_item::y_in_memory;
    } else if (what.form == form::dot) {
      made->item.y = view_of_input(what.second, "second input");
      if (made->item.y == nullptr) return false;
    }
    if (unsigned long long* const words = words_for(what.output, made->item.bytes)) {
      made->item.output = words;
      made->item.how |= batched_item::in_words;
    } else {
      made->item.output = device_view(what.output, "output", device_, *current_);
    }
    taken_.push_back(*made);
    return true;
  }

  bool take_nodes(const onefold::detail::request& what, const onefold::detail::tree_nodes& which) override {
    if (!groups_) return false;
    const std::size_t room = workspace_ == nullptr ? std::numeric_limits<std::size_t>::max() : workspace_->bytes;
    std::optional<batched_run> made = batched_run_of(what, which, room);
    if (!made) return false;
    batched_item& item = made->item;
    item.x = view_of_input(what.input, "input");
    item.y = what.form == form::dot ? view_of_input(what.second, "second input") : nullptr;
    if (item.x == nullptr || (what.form == form::dot && item.y == nullptr)) return false;
    auto* output = static_cast<std::byte*>(what.output);
    if (offset_of(output) != nowhere) {
      item.output = device_words_at(offset_of(output));
      item.how |= batched_item::in_words;
      made->stride = which.place_bytes / bytes_of_word * sizeof(unsigned long long);
      in_words_.reserve(in_words_.size() + most_batched);
      onefold::detail::for_subtrees(made->tiles.first, made->tiles.end, [&](std::uint64_t, int) {
        static_cast<void>(words_for(output, item.bytes));
        output += which.place_bytes;
      });
    } else {
      item.output = device_view(output, "output", device_, *current_);
      made->stride = which.place_bytes;
    }
    runs_.push_back(*made);
    return true;
  }

  bool launch(report& ran) override {
    const bool is_launched = !taken_.empty() || !runs_.empty() || !copies_.empty();
    if (is_launched) launch_taken(ran);
    current_.reset();  // batches on other devices may begin before this one is waited for
    return is_launched;
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    const std::size_t offset = offset_of(to);
    if (!groups_) {
      needs_driver_ = true;
      check(calls().memcpy_async(to, from, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
    } else if (offset == nowhere) {
      copies_.push_back(batched_copy(from, device_view(to, "output", device_, *current_), bytes, nullptr));
    } else {
      copies_.push_back(
          batched_copy(from, static_cast<std::byte*>(results_->device_values) + offset, bytes, device_words_at(offset)));
      copied_.push_back({offset, bytes});
    }
  }

  unsigned long long* words_for(void* output, std::size_t bytes) override {
    const std::size_t offset = offset_of(output);
    if (offset == nowhere) return nullptr;
    in_words_.push_back({static_cast<std::byte*>(output), offset, bytes});
    return device_words_at(offset);
  }
  [[nodiscard]] unsigned call_number() const noexcept override { return results_ == nullptr ? 0 : results_->number; }

  void wait(std::size_t results) override {
    if (!waits_) return;
    if (needs_driver_ || in_words_.size() != results) {
      const device_scope current(device_);
      check(calls().stream_synchronize(stream_), "cudaStreamSynchronize");
      waits_ = false;
    }
    wait_for_words words(device_, stream_);
    const auto words_at = [this](std::size_t offset) {
      return static_cast<const volatile unsigned long long*>(results_->words.data()) + offset / bytes_of_word;
    };
    for (const auto& [offset, bytes] : copied_) {
      std::byte nothing[bytes_of_word];
      words.receive(words_at(offset), nothing, sizeof(nothing), call_number());
      // Results are still on their way while these come into the cache.
      for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const std::byte*>(data()) + offset + at);
    }
    for (const auto& [to, offset, bytes] : in_words_) words.receive(words_at(offset), to, bytes, call_number());
    waits_ = false;
  }

 private:
  static constexpr std::size_t bytes_of_word = 4;  // of a result
  static constexpr std::size_t nowhere = ~std::size_t{0};

  // Of a place in data(), or nowhere.
  [[nodiscard]] std::size_t offset_of(const void* place) const noexcept {
    const auto* const at = static_cast<const std::byte*>(place);
    const auto* const ours = static_cast<const std::byte*>(data());
    return ours == nullptr || at < ours || at >= ours + bytes_ ? nowhere : static_cast<std::size_t>(at - ours);
  }
  [[nodiscard]] unsigned long long* device_words_at(std::size_t offset) const noexcept {
    return static_cast<unsigned long long*>(results_->device_words) + offset / bytes_of_word;
  }

  // The copies go with whatever is launched first.
  void launch_all(call& now) {
    for (const batched_run& run : runs_) {
      const bool has_room = fits_a_table(run, copies_.size());
      if (!run_by_leaves(now, run, has_room ? std::span<const batched_request>(copies_) : std::span<const batched_request>()))
        append_nodes(run, taken_);
      else if (has_room)
        copies_.clear();
    }
    taken_.insert(taken_.end(), copies_.begin(), copies_.end());
    // One kernel's items behind the other's.
    std::stable_sort(taken_.begin(), taken_.end(), [](const batched_request& a, const batched_request& b) { return a.by < b.by; });
    run_batched(now, taken_);
  }

  void launch_taken(report& ran) {
    std::shared_ptr<stream_memory> kept;
    if (workspace_ == nullptr)
      kept = is_captured_ ? recorded_memory_of(device_, where_.stream()) : memory_of(device_, where_.has_stream(), where_.stream());
    stream_memory& work = workspace_ == nullptr ? *kept : *workspace_->work;
    const std::lock_guard lock(work.in_use);
    if (workspace_ != nullptr) {
      work.stream = stream_;
      workspace_->is_recorded = workspace_->is_recorded || is_captured_;
    }
    ran.device = device_;
    const launch_policy& policy = policy_in_force(gpu_);
    static const variant_policy no_choices{};
    call now{.gpu = gpu_,
             .work = work,
             .type = element_type::f64,
             .form = form::sum,
             .wide = false,
             .input = nullptr,
             .second = nullptr,
             .count = taken_.size(),
             .output = nullptr,
             .host_value = nullptr,
             .finish = finish::automatic,
             .block_size = 0,
             .grid_size = 0,
             .width = 0,
             .ran = ran,
             .tree = policy.fixed_order,
             .choices = no_choices,
             .call_number = call_number(),
             .workspace = workspace_};
    const bool was_in_doubt = !is_captured_ && work.end_in_doubt;  // as in launch_variant()
    if (!is_captured_) work.end_in_doubt = true;
    try {
      launch_all(now);
      if (was_in_doubt) work.leave_mark();
    } catch (...) {
      if (!is_captured_) {
        work.slot_launches += now.slot_launches;
        work.leave_mark_after_failure();
      }
      throw;
    }
    if (is_captured_) return;
    work.slot_launches += now.slot_launches;
    work.end_in_doubt = false;
  }

  void prepare_results() {
    if (is_captured_)
      throw error(errc::unsupported,
                  "the stream is being captured, and a batch that gives values to the host would have to wait for them: put "
                  "requests with ONEFOLD_INTO into it");
    memory_ = memory_of(device_, where_.has_stream(), where_.stream());
    results_ = memory_->batch_results.take(bytes_);
    waits_ = true;
  }

  // As the device sees it; null for host memory, which a call by itself copies or refuses. To ask takes 0.1 us, and a solver's dots have their vectors in
  // common, or in one allocation.
  const void* view_of_input(const void* pointer, const char* role) {
    for (const auto& [seen, view] : seen_)
      if (seen == pointer) return view;
    for (const auto& [begin, end] : allocations_) {
      if (pointer < begin || pointer >= end) continue;
      ++found_in_allocations_;
      return pointer;
    }
    const cudaPointerAttributes found = attributes_of(pointer, role, device_, *current_);
    if (found.type == cudaMemoryTypeUnregistered) return nullptr;
    const void* const view = found.devicePointer;
    seen_[next_seen_++ % seen_.size()] = {pointer, view};
    if (found.type == cudaMemoryTypeDevice && view == pointer) remember_allocation_of(pointer);
    return view;
  }
  // As long as that pays.
  void remember_allocation_of(const void* pointer) {
    if (asked_for_allocations_ > found_in_allocations_ + 1) return;
    const void* begin = nullptr;
    std::size_t bytes = 0;
    check(calls().allocation_of(&begin, &bytes, pointer), "cuPointerGetAttribute");
    allocations_[asked_for_allocations_++ % allocations_.size()] = {begin, static_cast<const std::byte*>(begin) + bytes};
  }

  executor where_;
  int device_;
  const device_properties& gpu_;
  std::size_t bytes_;
  std::optional<device_scope> current_;  // until all is launched
  bool is_captured_ = false;
  bool groups_ = false;
  cudaStream_t stream_ = nullptr;
  device_workspace* workspace_ = nullptr;
  std::vector<batched_request> taken_;
  std::vector<batched_run> runs_;
  std::vector<batched_request> copies_;
  std::array<std::pair<const void*, const void*>, 8> seen_{};
  std::size_t next_seen_ = 0;
  std::array<std::pair<const void*, const void*>, 2> allocations_{};  // of the GPU's memory, from where to where
  std::size_t asked_for_allocations_ = 0, found_in_allocations_ = 0;

  // Of results that are waited for.
  std::shared_ptr<stream_memory> memory_;
  struct words_of_result {
    std::byte* to;       // in data()
    std::size_t offset;  // of that
    std::size_t bytes;   // of the result
  };
  std::unique_ptr<result_place> results_;
  std::vector<words_of_result> in_words_;
  struct copy_of_ours {
    std::size_t offset;  // in data(), and of the word which says that all of it is there
    std::size_t bytes;
  };
  std::vector<copy_of_ours> copied_;
  bool needs_driver_ = false;  // to know that what is no result in words is there
  bool waits_ = false;
};

}  // namespace

std::unique_ptr<onefold::detail::batch_in_progress> begin_batch(const executor& where, const options& how, std::size_t bytes) {
  return std::make_unique<batch_on_stream>(where, how, bytes);
}

}  // namespace onefold::cuda_backend
