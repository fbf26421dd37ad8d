/// @file batch.cpp  Several requests, launched together or one behind the other, and waited for once.

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/range_parts.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "../backends/cpu/forms.hpp"
#include "batch.hpp"
#include "c_api.hpp"
#include "dispatch.hpp"
#include "mixed.hpp"

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
  if (what.second_type != 0) return result_bytes_of_mixed(what);
  if (what.device != nullptr) return static_cast<const device_fold*>(what.device)->result_bytes;
  if (what.own != nullptr) return what.own->result_bytes;
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

}  // namespace

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
    check_result_of_host(requests[i].output, requests[i].exact_state);
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
  for (std::size_t i = 0; i < count; ++i) {
    const onefold_request& what = requests[i];
    if (is_stored(what)) continue;
    const auto its = static_cast<form>(what.form);
    if (what.count > 0 && (what.input_at != nullptr || what.second_at != nullptr))
      refuse_unread_array(what, data + places[i], bytes_of_results(what));
    if (what.count_at != nullptr && has_index(its)) check_counted_place(its, data + places[i]);
  }
}

namespace {

bool has_one_type(const onefold_request& of) {  // of real numbers
  return of.type >= 0 && of.type < element_type_count && of.second_type == of.type + 1;
}
// Of a caller whose header is older, or newer. Two types that are one are none.
onefold_request known_request(const onefold_request& given) {
  onefold_request known = as_known(given, offsetof(onefold_request, second), "request of a batch");
  known.struct_bytes = sizeof(known);
  if (has_one_type(known)) known.second_type = 0;
  return known;
}
bool is_known(const onefold_request& given) {
  return given.struct_bytes == sizeof(given) && (given.second_type == 0 || !has_one_type(given));
}

void run_all(const onefold_request* requests, std::size_t count, const onefold_options* how) {
  // A caller's header may be older, or newer: then requests lie at the distance that it has.
  std::vector<onefold_request> as_here;
  const std::size_t bytes = requests[0].struct_bytes;
  if (bytes != sizeof(onefold_request) || !std::all_of(requests, requests + count, is_known)) {
    as_here.reserve(count);
    const auto* const first = reinterpret_cast<const std::byte*>(requests);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& given = *reinterpret_cast<const onefold_request*>(first + i * bytes);
      if (given.struct_bytes != bytes) refuse_size("request of a batch");
      as_here.push_back(known_request(given));
    }
    requests = as_here.data();
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (requests[i].struct_bytes != sizeof(requests[i])) refuse_size("request of a batch");
    check_same_executor(requests[0], requests[i]);
  }
  if (count > 1 && requests[0].where.backend == ONEFOLD_CUDA && find_backend(backend::cuda) != nullptr)
    return run_together(requests, count, how);
  for (std::size_t i = 0; i < count; ++i) check_status_of(requests[i], how);
}

// A request for each of the arrays whose addresses stand behind each other.
void run_arrays(const onefold_request& what, std::size_t arrays, const onefold_options* how) {
  if (!is_known(what)) return run_arrays(known_request(what), arrays, how);
  if (arrays == 0) return;
  if (what.input_at == nullptr) refuse_null("list of addresses, input_at");
  if (what.output == nullptr) refuse_null("output");
  if (what.exact_state != nullptr || what.tree_value != nullptr)
    throw error(errc::unsupported, "several arrays have no one state: make a request for each");
  const std::size_t bytes = bytes_of_results(what);
  check_count(arrays, sizeof(what));
  std::vector<onefold_request> all(arrays, what);
  for (std::size_t k = 0; k < arrays; ++k) {
    all[k].input_at = what.input_at + k;
    if (what.second_at != nullptr) all[k].second_at = what.second_at + k;
    all[k].output = static_cast<std::byte*>(what.output) + k * bytes;
  }
  run_all(all.data(), arrays, how);
}

constexpr std::size_t node_place = in_places(cpu::most_node_bytes);

// The nodes as a batch is told of them.
tree_nodes tree_of(const nodes_of_array& nodes) { return {nodes.first_tile, nodes.tile, nodes.behind, node_place}; }

// Calls each(before, height, count) for the nodes: elements of the array ahead of each, and its own.
template <class Each>
void for_nodes_of(const nodes_of_array& nodes, const Each& each) {
  for_subtrees(nodes.first_tile, tree_of(nodes).end_tile(nodes.all.count), [&](std::uint64_t first, int height) {
    const std::uint64_t before = (first - nodes.first_tile) * nodes.tile;
    each(before, height, std::min(nodes.tile << height, nodes.all.count - before));
  });
}

bool is_mixed(const onefold_request& what) { return what.second_type != 0; }

// Of a dot of two types, which is a sum of products, the result is the accumulator.
void to_place(onefold_request& what, std::byte* place) {
  what.flags |= ONEFOLD_INTO;
  what.output = place;
  what.tree_value = is_mixed(what) ? nullptr : place;
}

// One request for each node. Returns whether the batch has taken the one that is reported.
bool put_one_by_one(const nodes_of_array& nodes, const onefold_options& how, const onefold_options& without_report,
                    std::byte* place, batch_in_progress& batch) {
  int highest = -1;
  std::uint64_t reported = 0;  // the first of those
  for_nodes_of(nodes, [&](std::uint64_t before, int height, std::uint64_t) {
    if (height <= highest) return;
    highest = height;
    reported = before;
  });
  bool is_reported_taken = false;
  for_nodes_of(nodes, [&](std::uint64_t before, int, std::uint64_t count) {
    const auto part_of = [&](const void* array, std::int32_t type) -> const void* {
      const std::size_t element = size_of(static_cast<element_type>(type));
      return array == nullptr ? nullptr : static_cast<const std::byte*>(array) + static_cast<std::size_t>(before) * element;
    };
    onefold_request one = nodes.all;
    one.input = part_of(nodes.all.input, nodes.all.type);
    one.second = part_of(nodes.all.second, is_mixed(nodes.all) ? nodes.all.second_type - 1 : nodes.all.type);
    one.count = count;
    to_place(one, place);
    place += node_place;
    const bool is_reported = nodes.is_reported && before == reported;
    if (reduce_in_batch(one, is_reported ? &how : &without_report, batch) && is_reported) is_reported_taken = true;
  });
  return is_reported_taken;
}

// Puts nodes into the batch, or on its stream, `place` being for the first of them. Returns whether it is the batch's launch that is reported.
bool put_nodes(const nodes_of_array& nodes, const onefold_options& how, bool is_alone, std::byte* place, batch_in_progress& batch) {
  onefold_options without_report = how;
  without_report.report = nullptr;
  onefold_request all = nodes.all;
  to_place(all, place);
  if (is_alone) {  // its own kernel starts sooner than that of batches
    reduce_beside_batch(all, nodes.is_reported ? &how : &without_report, batch);
    return false;
  }
  if (!is_mixed(all) && nodes_in_batch(all, tree_of(nodes), batch)) return nodes.is_reported;
  return put_one_by_one(nodes, how, without_report, place, batch);
}

}  // namespace

std::size_t nodes_of_array::count() const {
  std::size_t count = 0;
  for_nodes_of(*this, [&](std::uint64_t, int, std::uint64_t) { ++count; });
  return count;
}

std::size_t gpu_reading::node_count() const {
  std::size_t count = 0;
  for (const nodes_of_array& some : nodes) count += some.count();
  return count;
}

std::size_t gpu_reading::image_bytes() const {
  std::size_t bytes = node_count() * node_place;
  for (const copied_elements& some : copies) bytes += in_places(some.bytes);
  return bytes;
}

namespace {

// Puts what makes an image into the batch, or on its stream. Returns whether it is the batch's launch that is reported.
bool put_image(const gpu_reading& what, const onefold_options& how, bool is_alone, std::byte* image, batch_in_progress& batch) {
  bool is_reported_taken = false;
  for (const nodes_of_array& some : what.nodes) {
    if (put_nodes(some, how, is_alone, image, batch)) is_reported_taken = true;
    image += some.count() * node_place;
  }
  for (const copied_elements& some : what.copies) {
    batch.copy(image, some.from, some.bytes);
    image += in_places(some.bytes);
  }
  return is_reported_taken;
}
bool has_one_node_alone(const gpu_reading& what) { return what.node_count() == 1 && what.copies.empty(); }

std::unique_ptr<batch_in_progress> begin_reading(const gpu_reading& what, const onefold_options& how, std::size_t bytes) {
  return begin_batch(*find_backend(backend::cuda), executor_of(what.nodes.front().all.where), &how, bytes);
}

}  // namespace

std::unique_ptr<batch_in_progress> put_on_stream(const gpu_reading& what, const onefold_options& how, void* image) {
  auto batch = begin_reading(what, how, image == nullptr ? what.image_bytes() : 0);
  auto* const to = static_cast<std::byte*>(image == nullptr ? batch->data() : image);
  const bool is_reported_taken = put_image(what, how, has_one_node_alone(what), to, *batch);
  launch(*batch, is_reported_taken ? how.report : nullptr);
  return batch;
}

void put_on_stream(std::span<const placed_image> images, const onefold_options& how) {
  const auto batch = begin_reading(images.front().what, how, 0);
  bool is_reported_taken = false;
  for (const placed_image& one : images) {
    const bool is_alone = images.size() == 1 && has_one_node_alone(one.what);
    if (put_image(one.what, how, is_alone, static_cast<std::byte*>(one.image), *batch)) is_reported_taken = true;
  }
  launch(*batch, is_reported_taken ? how.report : nullptr);
}

void store(const gpu_reading& what, const void* image) {
  const auto* next = static_cast<const std::byte*>(image);
  for (const nodes_of_array& some : what.nodes) {
    const bool is_of_products = is_mixed(some.all);
    const auto type = is_of_products ? type_of_mixed(some.all) : static_cast<element_type>(some.all.type);
    const auto its = is_of_products ? form::sum : static_cast<form>(some.all.form);
    const cpu::form_row& row = cpu::row_of(type, its, !is_of_products && (some.all.flags & ONEFOLD_WIDE) != 0);
    std::byte* state = some.states;
    for_nodes_of(some, [&](std::uint64_t, int, std::uint64_t count) {
      if (state != nullptr) {
        cpu::take_shown_state(row, its, count, next, state);
        state += some.stride;
      }
      next += node_place;
    });
  }
  for (const copied_elements& some : what.copies) {
    std::memcpy(some.to, next, some.bytes);
    next += in_places(some.bytes);
  }
}

}  // namespace onefold::detail

int onefold_reduce_arrays(const onefold_request* what, size_t arrays, const onefold_options* how) {
  return onefold::detail::guarded([&] {
    if (what == nullptr) onefold::detail::refuse_null("request");
    onefold::detail::run_arrays(*what, arrays, how);
  });
}

int onefold_reduce_batch(const onefold_request* requests, size_t count, const onefold_options* how) {
  return onefold::detail::guarded_with_report(how, [&] {
    if (count == 0) return;
    if (requests == nullptr) onefold::detail::refuse_null("list of requests");
    onefold::detail::run_all(requests, count, how);
  });
}
