/// @file batch.cpp  Several requests, launched together or one behind the other, and waited for once.

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "../backends/cpu/forms.hpp"
#include "batch.hpp"
#include "c_api.hpp"

namespace onefold::detail {

namespace {

void check_same_executor(const onefold_request& first, const onefold_request& other) {
  if (std::memcmp(&first.where, &other.where, sizeof(first.where)) != 0)
    throw error(errc::invalid_argument, "the requests of a batch have one executor, which waits for all of them");
}

bool is_stored(const onefold_request& what) { return (what.flags & ONEFOLD_INTO) != 0; }

// Bytes of a request's results, if it is one that can be run at all: the others are refused when they are.
std::size_t bytes_of_results(const onefold_request& what) {
  if (what.vectors != nullptr) {
    const onefold_vectors& sets = *what.vectors;
    if (sets.rows < 1 || sets.columns < 1 || sets.rows > ONEFOLD_MOST_DOTS || sets.columns > ONEFOLD_MOST_DOTS) return 0;
    return static_cast<std::size_t>(sets.rows) * static_cast<std::size_t>(sets.columns) *
           (what.type == ONEFOLD_F32 ? sizeof(float) : sizeof(double));
  }
  if (what.device != nullptr) return static_cast<const device_fold*>(what.device)->result_bytes;
  const auto results = static_cast<std::size_t>(what.results < 1 ? 1 : what.results);
  if (what.type < 0 || what.type > ONEFOLD_C128 || what.form < 0 || what.form >= form_count + record_count ||
      results > most_results)
    return 0;
  const auto type = static_cast<element_type>(what.type);
  const auto its = static_cast<form>(what.form);
  const bool wide = (what.flags & ONEFOLD_WIDE) != 0;
  return its == form::reduce_together ? result_bytes(type, its, wide, static_cast<int>(results))
                                      : results * result_bytes(type, its, wide);
}

// Launches what a batch has taken, and reports of it to `to` unless that is null.
void launch(batch_in_progress& batch, onefold_report* to) {
  report ran;
  ran.variant = ran.implementation = "fixed_order";
  ran.backend = backend::cuda;
  ran.guarantee = guarantee::fixed;
  if (batch.launch(ran) && to != nullptr) put_report(ran, checked_struct(to, "report"));
}

void check_status_of(const onefold_request& what, const onefold_options* how) { check_status(onefold_reduce(&what, how)); }

constexpr std::size_t place_bytes = 64;  // at least, so that every result is aligned and no two share a line of a cache

constexpr std::size_t in_places(std::size_t bytes) { return (bytes + place_bytes - 1) / place_bytes * place_bytes; }

// On a GPU: each result that is waited for to a place of its own in pinned memory, and from there to the caller's when all are there.
void run_together(const onefold_request* requests, std::size_t count, const onefold_options* how) {
  std::vector<std::size_t> places;
  places.reserve(count);
  std::size_t bytes = 0, results = 0;
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back(bytes);
    if (is_stored(requests[i])) continue;
    ++results;
    if (requests[i].output == nullptr) refuse_null("output of a request");
    bytes += std::max(in_places(bytes_of_results(requests[i])), place_bytes);
  }
  const auto batch = begin_batch(*find_backend(backend::cuda), executor_of(requests[0].where), how, bytes);
  auto* const data = static_cast<std::byte*>(batch->data());
  bool is_last_taken = false;
  for (std::size_t i = 0; i < count; ++i) {
    onefold_request what = requests[i];
    if (!is_stored(what)) {
      what.flags |= ONEFOLD_INTO;
      what.output = data + places[i];
    }
    is_last_taken = reduce_in_batch(what, how, *batch);
  }
  launch(*batch, is_last_taken && how != nullptr ? how->report : nullptr);
  batch->wait(results);
  for (std::size_t i = 0; i < count; ++i)
    if (!is_stored(requests[i])) std::memcpy(requests[i].output, data + places[i], bytes_of_results(requests[i]));
}

void run_all(const onefold_request* requests, std::size_t count, const onefold_options* how) {
  for (std::size_t i = 0; i < count; ++i) {
    if (requests[i].struct_bytes != sizeof(requests[i])) refuse_size("request of a batch");
    check_same_executor(requests[0], requests[i]);
  }
  if (count > 1 && requests[0].where.backend == ONEFOLD_CUDA && find_backend(backend::cuda) != nullptr)
    return run_together(requests, count, how);
  for (std::size_t i = 0; i < count; ++i) check_status_of(requests[i], how);
}

}  // namespace

std::size_t gpu_reading::image_bytes() const {
  std::size_t bytes = requests.size() * in_places(cpu::most_node_bytes);
  for (const copied_elements& some : copies) bytes += in_places(some.bytes);
  return bytes;
}

std::unique_ptr<batch_in_progress> put_on_stream(const gpu_reading& what, const onefold_options& how, void* image) {
  onefold_options without_report = how;
  without_report.report = nullptr;
  const executor where = executor_of(what.requests.front().where);
  auto batch = begin_batch(*find_backend(backend::cuda), where, &how, image == nullptr ? what.image_bytes() : 0);
  auto* next = static_cast<std::byte*>(image == nullptr ? batch->data() : image);
  bool is_reported_taken = false;
  const bool is_alone = what.requests.size() == 1;  // its own kernel starts sooner than that of batches
  for (std::size_t i = 0; i < what.requests.size(); ++i) {
    onefold_request one = what.requests[i];
    one.flags |= ONEFOLD_INTO;
    one.output = one.tree_value = next;
    next += in_places(cpu::most_node_bytes);
    const onefold_options& its = i == what.reported ? how : without_report;
    if (is_alone)
      reduce_beside_batch(one, &its, *batch);
    else if (reduce_in_batch(one, &its, *batch) && i == what.reported)
      is_reported_taken = true;
  }
  for (const copied_elements& some : what.copies) {
    batch->copy(next, some.from, some.bytes);
    next += in_places(some.bytes);
  }
  launch(*batch, is_reported_taken ? how.report : nullptr);
  return batch;
}

void store(const gpu_reading& what, const void* image) {
  const auto* next = static_cast<const std::byte*>(image);
  for (const onefold_request& one : what.requests) {
    const auto type = static_cast<element_type>(one.type);
    const auto its = static_cast<form>(one.form);
    if (one.tree_value != nullptr)
      cpu::take_shown_state(cpu::row_of(type, its, (one.flags & ONEFOLD_WIDE) != 0), its, one.count, next,
                            static_cast<std::byte*>(one.tree_value));
    next += in_places(cpu::most_node_bytes);
  }
  for (const copied_elements& some : what.copies) {
    std::memcpy(some.to, next, some.bytes);
    next += in_places(some.bytes);
  }
}

}  // namespace onefold::detail

int onefold_reduce_batch(const onefold_request* requests, size_t count, const onefold_options* how) {
  return onefold::detail::guarded([&] {
    if (count == 0) return;
    if (requests == nullptr) onefold::detail::refuse_null("list of requests");
    onefold::detail::run_all(requests, count, how);
  });
}
