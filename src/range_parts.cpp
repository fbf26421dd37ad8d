/// @file range_parts.cpp  States of arrays whose parts lie on several executors.

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "pointer_kind.hpp"
#include "range.hpp"
#include "side_by_side.hpp"

namespace onefold::detail::ranges {

namespace {

bool is_same(const onefold_executor& a, const onefold_executor& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

// What is read of one GPU's memory for several parts.
struct gpu_share {
  onefold_executor gpu;
  onefold_options how;
  gpu_reading what = {};
};

// The states of parts that lie one behind the other. What GPUs have in their memory is under way on all of them before one is waited for.
std::vector<form_range> states_of(const range_kind& of, std::uint64_t begin, std::span<const onefold_range_part> parts,
                                  const onefold_options& how) {
  std::vector<form_range> made;
  made.reserve(parts.size());
  for (const onefold_range_part& part : parts) {
    check_end(of, begin, part.count);
    made.push_back({of, begin, begin + part.count});
    begin += part.count;
  }
  std::vector<gpu_share> shares;
  std::vector<std::size_t> others;
  bool is_reported = false;
  const auto reader_of = [&](std::size_t i) {
    range_reader reader{of, parts[i].where, how};
    if (std::exchange(is_reported, true)) reader.how.report = nullptr;
    return reader;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].count == 0) continue;
    const range_input in = arrays_at(parts[i].x, of.has_two_inputs() ? parts[i].y : nullptr);
    const std::optional<onefold_executor> gpu = range_reader{of, parts[i].where, how}.gpu_of(in);
    if (!gpu) {
      others.push_back(i);
      continue;
    }
    range_reader reader = reader_of(i);
    reader.where = *gpu;
    auto share = std::find_if(shares.begin(), shares.end(), [&](const gpu_share& one) { return is_same(one.gpu, *gpu); });
    if (share == shares.end()) share = shares.insert(share, {*gpu, reader.how});
    read_range(reader, in, made[i], share->what);
  }

  std::vector<std::unique_ptr<batch_in_progress>> under_way;
  under_way.reserve(shares.size());
  for (const gpu_share& share : shares) under_way.push_back(put_on_stream(share.what, share.how));
  // Host arrays that go to GPUs wait for the bus, side by side; those that CPUs reduce take all cores, and come one behind the other meanwhile.
  std::vector<range_reader> readers;
  readers.reserve(others.size());
  for (const std::size_t i : others) readers.push_back(reader_of(i));
  side_by_side(
      others.size(), [&](std::size_t k) { return waits_for_gpu(parts[others[k]].where); },
      [&](std::size_t k) {
        const onefold_range_part& part = parts[others[k]];
        form_range& range = made[others[k]];
        range = state_of(readers[k], range.begin, arrays_at(part.x, of.has_two_inputs() ? part.y : nullptr), part.count);
      });
  for (std::size_t k = 0; k < shares.size(); ++k) {
    under_way[k]->wait(shares[k].what.node_count());
    store(shares[k].what, under_way[k]->data());
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].count > 0 && std::find(others.begin(), others.end(), i) == others.end()) finish_nodes(of, made[i].nodes);
  return made;
}

// Of reduce_together one part comes behind the other.
void add_parts_in_turn(form_range& to, std::span<const onefold_range_part> parts, onefold_options how) {
  form_range joined = to;
  for (const onefold_range_part& part : parts) {
    check_end(joined.of, joined.end, part.count);
    if (part.count == 0) continue;
    append(joined, state_of(reader_of(to.of, part.where, how), joined.end, arrays_at(part.x, nullptr), part.count));
    how.report = nullptr;
  }
  to = std::move(joined);
}

}  // namespace

void add_parts(form_range& to, std::span<const onefold_range_part> parts, const onefold_options* how) {
  if (to.of.is_together()) return add_parts_in_turn(to, parts, checked_options(how));
  std::vector<form_range> made = states_of(to.of, to.end, parts, checked_options(how));
  form_range joined = to;
  for (form_range& part : made)
    if (part.begin != part.end) append(joined, std::move(part));
  to = std::move(joined);
}

}  // namespace onefold::detail::ranges
