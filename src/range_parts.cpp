/// @file range_parts.cpp  States of arrays whose parts lie on several executors.

#include <algorithm>
#include <memory>
#include <utility>

#include "pointer_kind.hpp"
#include "range.hpp"
#include "side_by_side.hpp"

namespace onefold::detail::ranges {

namespace {

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
  std::vector<form_range> of_operators = {};  // of reduce_together on a GPU, which makes one for each

  [[nodiscard]] range_input input() const { return arrays_at(part.x, made.of.has_two_inputs() ? part.y : nullptr); }
};

void read_piece(range_reader reader, piece& one, gpu_reading& what) {
  if (!one.made.of.is_together()) return read_range(reader, one.input(), one.made, what);
  one.of_operators.reserve(one.made.of.results());
  for (std::size_t k = 0; k < one.made.of.results(); ++k) {
    form_range& its = one.of_operators.emplace_back(form_range{reader.kind(static_cast<int>(k)), one.made.begin, one.made.end});
    read_range({its.of, reader.where, reader.how}, one.input(), its, what);
    reader.how.report = nullptr;
  }
}

void finish(piece& one) {
  if (!one.made.of.is_together()) return finish_nodes(one.made.of, one.made.nodes);
  for (std::size_t k = 0; k < one.of_operators.size(); ++k) {
    finish_nodes(one.of_operators[k].of, one.of_operators[k].nodes);
    take_operator(one.made, k, std::move(one.of_operators[k]));
  }
}

// What GPUs have in their memory is under way on all of them before one is waited for.
void make(std::span<piece> pieces, const onefold_options& how) {
  std::vector<gpu_share> shares;
  std::vector<piece*> in_shares;
  shares.reserve(pieces.size());
  in_shares.reserve(pieces.size());
  std::vector<std::vector<piece*>> turns;  // host arrays that go to one GPU, and what CPUs reduce
  const auto reader_for = [&](const piece& one) {
    range_reader reader = reader_of(one.made.of, one.part.where, how);
    if (&one != &pieces.front()) reader.how.report = nullptr;
    return reader;
  };
  for (piece& one : pieces) {
    range_reader reader = reader_for(one);
    const std::optional<onefold_executor> gpu = reader.gpu_of(one.input());
    if (gpu) {
      in_shares.push_back(&one);
      reader.where = *gpu;
      auto share = std::find_if(shares.begin(), shares.end(), [&](const gpu_share& each) { return is_same(each.gpu, *gpu); });
      if (share == shares.end()) share = shares.insert(share, {*gpu, reader.how});
      read_piece(reader, one, share->what);
      continue;
    }
    const auto with = std::find_if(turns.begin(), turns.end(), [&](const std::vector<piece*>& turn) {
      return waits_for_gpu(one.part.where) && is_same(turn.front()->part.where, one.part.where);
    });
    with == turns.end() ? turns.push_back({&one}) : with->push_back(&one);
  }

  if (how.workspace != nullptr) {
    std::vector<onefold_executor> gpus;
    gpus.reserve(shares.size() + turns.size());
    for (const gpu_share& share : shares) gpus.push_back(share.gpu);
    for (const std::vector<piece*>& turn : turns)
      if (turn.front()->part.where.backend == ONEFOLD_CUDA) gpus.push_back(turn.front()->part.where);
    refuse_shared_workspace(gpus);
  }

  std::vector<std::unique_ptr<batch_in_progress>> under_way;
  under_way.reserve(shares.size());
  for (const gpu_share& share : shares) under_way.push_back(put_on_stream(share.what, share.how));
  // Host arrays that go to GPUs wait for the bus, those of different executors side by side; those that CPUs reduce take all cores, and come one behind
  // the other meanwhile.
  side_by_side(
      turns.size(), [&](std::size_t k) { return waits_for_gpu(turns[k].front()->part.where); },
      [&](std::size_t k) {
        for (piece* one : turns[k]) one->made = state_of(reader_for(*one), one->made.begin, one->input(), one->part.count);
      });
  for (std::size_t k = 0; k < shares.size(); ++k) {
    under_way[k]->wait(shares[k].what.node_count());
    store(shares[k].what, under_way[k]->data());
  }
  for (piece* one : in_shares) finish(*one);
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
