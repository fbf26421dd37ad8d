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

// What a state gets of one part, which has elements.
struct piece {
  onefold_range_part part;
  form_range made;

  [[nodiscard]] range_input input() const { return arrays_at(part.x, made.of.has_two_inputs() ? part.y : nullptr); }
};

// What GPUs have in their memory is under way on all of them before one is waited for.
void make(std::span<piece> pieces, const onefold_options& how) {
  std::vector<gpu_share> shares;
  std::vector<piece*> in_shares, others;
  const auto reader_for = [&](const piece& one) {
    range_reader reader = reader_of(one.made.of, one.part.where, how);
    if (&one != &pieces.front()) reader.how.report = nullptr;
    return reader;
  };
  for (piece& one : pieces) {
    const range_input in = one.input();
    range_reader reader = reader_for(one);
    const std::optional<onefold_executor> gpu = one.made.of.is_together() ? std::nullopt : reader.gpu_of(in);
    if (!gpu) {
      others.push_back(&one);
      continue;
    }
    in_shares.push_back(&one);
    reader.where = *gpu;
    auto share = std::find_if(shares.begin(), shares.end(), [&](const gpu_share& each) { return is_same(each.gpu, *gpu); });
    if (share == shares.end()) share = shares.insert(share, {*gpu, reader.how});
    read_range(reader, in, one.made, share->what);
  }

  std::vector<std::unique_ptr<batch_in_progress>> under_way;
  under_way.reserve(shares.size());
  for (const gpu_share& share : shares) under_way.push_back(put_on_stream(share.what, share.how));
  // Host arrays that go to GPUs wait for the bus, and reduce_together's on a GPU are several calls that wait: side by side. Those that CPUs reduce take
  // all cores, and come one behind the other meanwhile.
  std::vector<range_reader> readers;
  readers.reserve(others.size());
  for (const piece* one : others) readers.push_back(reader_for(*one));
  side_by_side(
      others.size(), [&](std::size_t k) { return waits_for_gpu(others[k]->part.where); },
      [&](std::size_t k) {
        piece& one = *others[k];
        one.made = state_of(readers[k], one.made.begin, one.input(), one.part.count);
      });
  for (std::size_t k = 0; k < shares.size(); ++k) {
    under_way[k]->wait(shares[k].what.node_count());
    store(shares[k].what, under_way[k]->data());
  }
  for (piece* one : in_shares) finish_nodes(one->made.of, one->made.nodes);
}

}  // namespace

void add_parts(std::span<form_range* const> to, std::span<const onefold_range_part> parts, const onefold_options* how) {
  const onefold_options wishes = checked_options(how);
  const std::size_t parts_of_each = to.empty() ? 0 : parts.size() / to.size();
  std::vector<piece> pieces;
  std::vector<std::size_t> ends;  // of the pieces of each state
  pieces.reserve(parts.size());
  ends.reserve(to.size());
  for (std::size_t k = 0; k < to.size(); ++k) {
    std::uint64_t begin = to[k]->end;
    for (const onefold_range_part& part : parts.subspan(k * parts_of_each, parts_of_each)) {
      check_end(to[k]->of, begin, part.count);
      if (part.count > 0) pieces.push_back({part, {to[k]->of, begin, begin + part.count}});
      begin += part.count;
    }
    ends.push_back(pieces.size());
  }
  make(pieces, wishes);
  std::vector<form_range> joined;  // none is changed where one cannot be
  joined.reserve(to.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < to.size(); ++k) {
    joined.push_back(*to[k]);
    for (; next < ends[k]; ++next) append(joined.back(), std::move(pieces[next].made));
  }
  for (std::size_t k = 0; k < to.size(); ++k) *to[k] = std::move(joined[k]);
}

}  // namespace onefold::detail::ranges
