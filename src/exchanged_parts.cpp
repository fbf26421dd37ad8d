#include "exchanged_parts.hpp"

#include <algorithm>
#include <string>

#include <onefold/error.hpp>

#include "c_api.hpp"
#include "dispatch.hpp"
#include "pointer_kind.hpp"
#include "select.hpp"
#include "side_by_side.hpp"

namespace onefold::detail {

namespace {

[[noreturn]] void refuse_place(const char* what) {
  throw error(errc::unsupported,
              std::string("results are stored in stream order by cuda() executors that have the parts in their memory, and ") +
                  what + ": onefold_ranges_add_parts() takes parts from anywhere, and onefold_store() stores results");
}

// The GPU that reads a part, whose elements lie in its memory, as does the output that best() stores to.
onefold_executor gpu_of(const onefold_range_part& part, bool reads_second, const void* output) {
  const bool is_best = part.where.backend == ONEFOLD_BEST;
  if (part.where.backend != ONEFOLD_CUDA && !is_best) refuse_place("one of these is of CPUs");
  if (part.count == 0) {
    if (is_best) refuse_place("best() of no elements is none");
    return part.where;
  }
  const auto lies_there = [is_best](const void* array) {
    const pointer_kind kind = locate(array).kind;
    return kind == pointer_kind::device || (kind == pointer_kind::managed && !is_best);
  };
  if (!lies_there(part.x) || (reads_second && !lies_there(part.y))) refuse_place("one of these lies in host memory");
  if (!is_best) return part.where;
  const int device = locate(part.x).device;
  if (const pointer_place to = locate(output); to.kind != pointer_kind::device || to.device != device)
    refuse_place("an output of best() lies elsewhere than its part");
  return onefold_cuda_device(device);
}

}  // namespace

std::vector<onefold_executor> gpus_of(const parts_and_outputs& all, std::span<const std::uint8_t> reads_second,
                                      std::size_t alignment, const onefold_options& how) {
  const std::size_t count = all.outputs.size();
  const backend_entry* const backend = find_backend(backend::cuda);
  if (backend == nullptr) throw error(errc::unsupported, not_built_sentence(backend::cuda));
  std::vector<onefold_executor> gpus, with_elements;
  gpus.reserve(count);
  with_elements.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    bool has_elements = false;
    for (std::size_t k = 0; k < reads_second.size(); ++k) {
      const onefold_range_part& part = all.of(k)[i];
      const onefold_executor gpu = gpu_of(part, reads_second[k] != 0, all.outputs[i]);
      if (k == 0) gpus.push_back(gpu);
      if (!is_same(gpu, gpus.back()))
        throw error(errc::invalid_argument, "part " + std::to_string(i) + " has another executor in result " + std::to_string(k) +
                                                " than in the first one: each output is of one executor");
      has_elements = has_elements || part.count > 0;
    }
    if (has_elements) with_elements.push_back(gpus.back());
  }
  if (how.workspace != nullptr) refuse_shared_workspace(with_elements);
  for (std::size_t i = 0; i < count; ++i) {
    if (all.outputs[i] == nullptr) refuse_null("output of executor " + std::to_string(i));
    check_output_alignment(all.outputs[i], alignment);
    backend->check_gpu_output(executor_of(gpus[i]), all.outputs[i]);
  }
  return gpus;
}

std::unique_ptr<exchange_in_progress> begin_exchange(std::span<const onefold_executor> gpus, std::size_t bytes) {
  std::vector<executor> all;
  all.reserve(gpus.size());
  for (const onefold_executor& one : gpus) all.push_back(executor_of(one));
  return find_backend(backend::cuda)->begin_exchange(all, bytes);
}

namespace ranges {

namespace {

// One result: where parts begin, and what its images are made of.
struct result_of_parts {
  images_of_parts images;
  std::vector<std::uint64_t> borders;
  std::vector<form_range> made;  // of each part; where those have elements, images are made of `what`
  std::vector<gpu_reading> what;
};

result_of_parts plan_result(const range_kind& of, std::int64_t ddof, std::span<const onefold_range_part> parts) {
  result_of_parts planned{{of.type, of.what, of.wide, nullptr, 0, nullptr, parts.size(), 0, ddof}, {}, {}, {}};
  std::uint64_t& total = planned.images.total;
  planned.borders.reserve(parts.size());
  planned.made.reserve(parts.size());
  for (const onefold_range_part& part : parts) {
    check_end(of, total, part.count);
    planned.borders.push_back(total);
    planned.made.push_back({of, total, total + part.count});
    total += part.count;
  }
  planned.images.borders = planned.borders.data();
  if (total == 0 && has_index(of.what))
    throw error(errc::invalid_argument, std::string(name(of.what)) + " of no elements: there is no index");
  if (!can_join_images(planned.images))
    throw error(errc::unsupported, "no kernel puts " + std::to_string(parts.size()) + " parts together for " + of.text());
  return planned;
}

// Reads what lies on each of the GPUs, which is reported of the first part of all. Returns the bytes of an image.
std::size_t read_parts(result_of_parts& planned, std::span<const onefold_executor> gpus, std::span<const onefold_range_part> parts,
                       const onefold_options& how, bool& is_reported) {
  std::size_t bytes = 0;
  planned.what.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    form_range& made = planned.made[i];
    if (parts[i].count == 0) continue;
    range_reader reader = reader_of(made.of, gpus[i], how);
    if (is_reported) reader.how.report = nullptr;
    is_reported = true;
    read_range(reader, arrays_at(parts[i].x, made.of.has_two_inputs() ? parts[i].y : nullptr), made, planned.what[i]);
    bytes = std::max(bytes, planned.what[i].image_bytes());
  }
  return bytes;
}

}  // namespace

void put_parts(std::span<const range_kind> kinds, std::int64_t ddof, const parts_and_outputs& all, const onefold_options* how) {
  const std::size_t count = all.outputs.size();
  if (kinds.empty() || count == 0) return;
  const range_kind& first = kinds.front();
  const auto bytes_of = [](const range_kind& of) { return result_bytes(of.type, of.what, of.wide); };
  const std::size_t bytes = bytes_of(first);
  std::size_t alignment = 1;
  std::vector<std::uint8_t> reads_second;
  reads_second.reserve(kinds.size());
  for (const range_kind& of : kinds) {
    reads_second.push_back(of.has_two_inputs() ? 1 : 0);
    if (bytes_of(of) != bytes)
      throw error(errc::invalid_argument,
                  "results of " + first.text() + " and of " + of.text() + " differ in size: they are calls of their own");
    alignment = std::max(alignment, result_alignment(of.type, of.what, of.wide));
  }
  const onefold_options wishes = checked_options(how);
  const std::vector<onefold_executor> gpus = gpus_of(all, reads_second, alignment, wishes);

  std::vector<result_of_parts> results;
  results.reserve(kinds.size());
  for (std::size_t k = 0; k < kinds.size(); ++k) results.push_back(plan_result(kinds[k], ddof, all.of(k)));
  bool is_reported = false;
  std::size_t image_bytes = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k)
    image_bytes = std::max(image_bytes, read_parts(results[k], gpus, all.of(k), wishes, is_reported));

  const auto exchange = begin_exchange(gpus, kinds.size() * count * image_bytes);
  auto* next = static_cast<std::byte*>(exchange->memory());
  for (result_of_parts& one : results) {
    one.images.images = next;
    one.images.stride = image_bytes;
    next += count * image_bytes;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<placed_image> images;
    images.reserve(results.size());
    for (result_of_parts& one : results) {
      if (one.what[i].nodes.empty()) continue;
      auto* const place = static_cast<std::byte*>(const_cast<void*>(one.images.images)) + i * image_bytes;
      images.push_back({std::move(one.what[i]), place});
    }
    if (!images.empty()) put_on_stream(images, wishes);
  }
  exchange->wait_for_each_other();
  const backend_entry& backend = *find_backend(backend::cuda);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < results.size(); ++k)
      backend.join_images(executor_of(gpus[i]), results[k].images, static_cast<std::byte*>(all.outputs[i]) + k * bytes);
  exchange->end();
}

}  // namespace ranges
}  // namespace onefold::detail
