#include "host_arrays.hpp"

#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <onefold/detail/device_fold.hpp>
#include <onefold/error.hpp>
#include <onefold/order.hpp>

#include "../cpu/forms.hpp"
#include "../float_environment.hpp"
#include "../forest.hpp"
#include "../no_elements.hpp"
#include "captures.hpp"
#include "exact/driver.hpp"
#include "fixed_order/complex_pieces.hpp"
#include "host_pieces.hpp"
#include "results.hpp"
#include "streams.hpp"

namespace onefold::cuda_backend {

namespace {

namespace exact = onefold::detail::exact;
using onefold::detail::forest;
using onefold::detail::request;

// The parts of complex numbers, each of which has an exact sum.
bool has_complex_parts(const request& what) { return what.device != nullptr && is_parts(*what.device); }

bool is_mixed_dot(const request& what) { return what.products != nullptr && what.device != nullptr; }

// Complex numbers that are reduced as such.
std::optional<complex_pieces> complex_pieces_of(const request& what) {
  if (what.device == nullptr || is_mixed_dot(what) || is_parts(*what.device)) return std::nullopt;
  return pieces_of_complex(*what.device);
}

bool is_exact_call(const request& what, const variant_info& variant) {
  const bool is_own = what.device == nullptr || is_parts(*what.device);  // the variant's fold, and not a function of the caller's
  return variant.guarantee == guarantee::exact && what.vectors == nullptr && is_own;
}

// Why arrays of host memory are not copied, behind "and"; empty where they are.
std::string why_not_copied(const request& what, const variant_info& variant) {
  if (what.count_at != nullptr) return "where the count stands in memory nothing is copied";
  if (onefold::detail::has_array_in_memory(what)) return "where the address of an array stands in memory nothing is copied";
  if (what.words_alone) return "what a state in a GPU's memory is made of is not copied: exact_state::add() takes it";
  if (is_exact_call(what, variant)) return {};
  if (complex_pieces_of(what)) return {};
  if (what.device != nullptr && !is_mixed_dot(what)) return "what functions and operators read is not copied";
  if (!variant.takes_everything)
    return std::string(variant.name) + " does not copy it, as fixed_order, the default, and superaccumulator do";
  return {};
}

std::uint64_t bytes_to_copy(const request& what) {
  if (what.device != nullptr && !is_parts(*what.device)) {
    std::uint64_t of_each = 0;
    for (std::uint32_t i = 0; i < what.device->inputs; ++i) of_each += what.device->element_bytes[i];
    return what.count * of_each;
  }
  return what.count * size_of(what.type) * (what.form == form::dot ? 2U : 1U);
}

// One value of the tree over all pieces: that of a form, or of one of the operators of reduce_together.
class tree_of_pieces {
 public:
  tree_of_pieces(const request& what, form its) : what_(what), row_(cpu::row_of(what.type, its, what.wide)) {
    what_.form = its;
    what_.results = 1;
    what_.operators = nullptr;
    what_.waits = true;
  }
  tree_of_pieces(const tree_of_pieces&) = delete;
  tree_of_pieces& operator=(const tree_of_pieces&) = delete;

  void add(const host_pieces& pieces, const options& how, const variant_info& variant, report& ran) {
    alignas(16) std::byte value[cpu::most_form_bytes] = {};
    alignas(16) std::byte result[cpu::most_form_bytes] = {};
    request piece = what_;
    piece.input = pieces.view(0);
    piece.second = pieces.view(1);
    piece.count = pieces.count();
    onefold::detail::device_fold of_piece;
    if (what_.device == nullptr) {
      piece.tree_value = value;
      piece.output = result;
    } else {  // a dot of two types, a sum whose result is the tree's value
      of_piece = *what_.device;
      of_piece.input[0] = pieces.view(0);
      of_piece.input[1] = pieces.view(1);
      piece.device = &of_piece;
      piece.input = piece.second = nullptr;
      piece.tree_value = nullptr;
      piece.output = value;
    }
    static_cast<void>(run_in_place(piece, how, variant, ran));
    cpu::shift_indices(row_, value, pieces.first());
    const onefold::detail::default_float_environment one_operation_is_one_operation;
    static_cast<void>(nodes_.push(value));
  }

  // Stores the result, and the tree's value where that is asked for.
  void conclude(void* result) {
    const onefold::detail::default_float_environment one_operation_is_one_operation;
    static_cast<void>(nodes_.close());
    if (what_.tree_value != nullptr) std::memcpy(what_.tree_value, memory_, row_.state_bytes);
    row_.conclude(row_, memory_, what_.count, what_.ddof, result);
  }

 private:
  request what_;
  const cpu::form_row& row_;
  alignas(16) std::byte memory_[forest::memory_bytes(cpu::most_form_bytes)] = {};
  forest nodes_{memory_, row_.state_bytes,
                [](void* of, void* states, std::uint64_t how_many) {
                  const auto& folded = *static_cast<const cpu::form_row*>(of);
                  return folded.level(states, how_many, folded.state_bytes), 0;
                },
                const_cast<cpu::form_row*>(&row_)};
};

void reduce_trees(const request& what, const options& how, const variant_info& variant, report& ran, host_pieces& pieces,
                  std::byte* results) {
  const bool together = what.form == form::reduce_together;
  std::deque<tree_of_pieces> trees;
  for (int k = 0; k < what.results; ++k) trees.emplace_back(what, together ? form_of(what.operators[k]) : what.form);
  while (pieces.next())
    for (tree_of_pieces& one : trees) one.add(pieces, how, variant, ran);
  for (int k = 0; k < what.results; ++k) {
    if (!together) {
      trees.front().conclude(results);
      continue;
    }
    std::byte* const result = results + static_cast<std::size_t>(k) * size_of(result_type(what.type, what.form));
    alignas(8) std::byte value[sizeof(std::uint64_t)] = {};
    trees[static_cast<std::size_t>(k)].conclude(value);
    if (result_type(what.type, form_of(what.operators[k])) == what.type) onefold::detail::to_total(what.type, value);
    std::memcpy(result, value, size_of(result_type(what.type, what.form)));
  }
}

void reduce_complex(const request& what, const complex_pieces& its, const options& how, const variant_info& variant, report& ran,
                    host_pieces& pieces, std::byte* result) {
  alignas(16) std::byte memory[forest::memory_bytes(complex_pieces::most_state_bytes)] = {};
  forest nodes(memory, its.state_bytes, its.level, nullptr);
  alignas(16) std::byte node[complex_pieces::most_state_bytes] = {};
  onefold::detail::device_fold of_piece = its.of_piece;
  if (its.is_told) of_piece.object = &its.of_node;
  request piece = what;
  piece.device = &of_piece;
  piece.output = node;
  piece.waits = true;
  while (pieces.next()) {
    for (std::uint32_t i = 0; i < of_piece.inputs; ++i) of_piece.input[i] = pieces.view(static_cast<int>(i));
    piece.count = pieces.count();
    static_cast<void>(run_in_place(piece, how, variant, ran));
    const onefold::detail::default_float_environment one_operation_is_one_operation;
    static_cast<void>(nodes.push(node));
  }
  const onefold::detail::default_float_environment one_operation_is_one_operation;
  static_cast<void>(nodes.close());
  its.conclude(its.conclusion, memory, what.count, result);
}

void reduce_exactly(const request& what, const options& how, const variant_info& variant, report& ran, host_pieces& pieces,
                    std::byte* results) {
  const bool of_parts = has_complex_parts(what);
  const bool has_two = of_parts || what.of_complex_parts;
  exact_integers sums[2] = {};
  request piece = of_parts ? part_of_complex(what) : what.products != nullptr ? dot_of_two_types(what) : what;
  const form its = piece.form;
  const exact::kind_row& kind = exact::kind_of(its, what.type);
  piece.waits = true;
  while (pieces.next()) {
    piece.input = pieces.view(0);
    piece.second = pieces.view(1);
    piece.count = what.of_complex_parts ? 2 * pieces.count() : pieces.count();
    const auto add = [&](exact_part part, exact_integers& to) {
      exact_integers of_piece{};
      static_cast<void>(exact_state_in_place(piece, part, how, variant, ran, of_piece));
      exact::merge(kind, to.data(), of_piece.data());
    };
    add(of_parts ? exact_part::even : exact_part::all, sums[0]);
    if (has_two) add(of_parts ? exact_part::odd : exact_part::turned, sums[1]);
  }
  if (of_parts && exact::is_of_both_parts(its) && what.exact_state == nullptr)  // as in place
    return exact::conclude_complex_moments(what.type, what.wide, sums[0].data(), sums[1].data(), what.count, what.ddof, results);
  for (std::size_t k = 0; k < (has_two ? 2U : 1U); ++k) {
    if (what.exact_state != nullptr)
      exact::store(kind, sums[k].data(), what.count, what.exact_state + k * static_cast<std::size_t>(kind.words()));
    exact::conclude(what.type, its, what.wide, sums[k].data(), what.count, what.ddof,
                    results + k * result_bytes(what.type, what.form, what.wide));
  }
}

piecewise_input input_of(const void* data, std::size_t element_bytes, const char* role, int device, const device_scope& current) {
  const cudaPointerAttributes found = attributes_of(data, role, device, current);
  const bool is_hosts = found.type == cudaMemoryTypeUnregistered || found.type == cudaMemoryTypeHost;
  return {static_cast<const std::byte*>(is_hosts ? data : found.devicePointer), element_bytes, is_hosts};
}

void refuse_capture(const request& what) {
  throw error(errc::unsupported,
              what.waits
                  ? "the stream is being captured, and a call that returns the value would have to wait for it: use the *_into "
                    "call with memory of the device's"
                  : "the stream is being captured, and what is in host memory that CUDA does not know is copied by a call that "
                    "waits: copy it to the device in the graph, or allocate it with cudaMallocHost");
}

}  // namespace

request part_of_complex(const request& what) {
  request part = what;
  part.device = nullptr;
  part.source = nullptr;
  part.results = 1;
  part.input = what.device->input[0];
  return part;
}

request dot_of_two_types(const request& what) {
  request dot = what;
  dot.form = form::dot;
  dot.input = what.products->x;
  dot.second = what.products->y;
  dot.source = nullptr;
  dot.device = nullptr;
  return dot;
}

bool is_to_be_copied(const request& what, const variant_info& variant, const inputs_of_request& inputs) {
  if (inputs.pageable == nullptr && !(inputs.has_pinned && what.waits && bytes_to_copy(what) > piece_bytes())) return false;
  const std::string obstacle = why_not_copied(what, variant);
  if (inputs.pageable != nullptr && !obstacle.empty()) refuse_host_memory(inputs.pageable, obstacle);
  return obstacle.empty();
}

void reduce_host_arrays(const request& what, const options& how, const variant_info& variant, report& ran) {
  const int device = what.where.device();
  const device_scope current(device);
  if (what.where.has_stream() && is_capturing(what.where.stream())) refuse_capture(what);
  void* const output = what.waits ? nullptr : device_view(what.output, "output", device, current);
  const bool of_parts = has_complex_parts(what);
  const bool of_pairs = of_parts || what.of_complex_parts;  // which stay together
  const std::optional<complex_pieces> of_complex = complex_pieces_of(what);
  const std::size_t element_bytes = size_of(what.type) * (of_pairs ? 2 : 1);
  piecewise_input inputs[host_pieces::most_inputs];
  std::size_t count = 0;
  if (of_complex || is_mixed_dot(what)) {
    for (; count < what.device->inputs; ++count)
      inputs[count] = input_of(what.device->input[count], what.device->element_bytes[count], count == 0 ? "input" : "second input",
                               device, current);
  } else {
    inputs[count++] = input_of(of_parts ? what.device->input[0] : what.input, element_bytes, "input", device, current);
    if (what.form == form::dot) inputs[count++] = input_of(what.second, element_bytes, "second input", device, current);
  }

  const std::shared_ptr<stream_memory> work = memory_of(device, what.where.has_stream(), what.where.stream());
  const std::size_t value_bytes = of_complex ? what.device->value_bytes : element_bytes;
  const std::uint64_t tile =
      static_cast<std::uint64_t>(order::tile_rows) * static_cast<std::uint64_t>(order::lanes_of_bytes(value_bytes));
  host_pieces pieces(*work, device, {inputs, count}, what.of_complex_parts ? what.count / 2 : what.count, tile);
  ran.scratch_bytes = pieces.buffer_bytes();
  alignas(16) std::byte results[most_results * sizeof(std::uint64_t)] = {};
  if (of_complex)
    reduce_complex(what, *of_complex, how, variant, ran, pieces, results);
  else if (variant.guarantee == guarantee::exact)
    reduce_exactly(what, how, variant, ran, pieces, results);
  else
    reduce_trees(what, how, variant, ran, pieces, results);
  const std::size_t bytes = of_complex || of_parts ? what.device->result_bytes
                            : of_pairs             ? 2 * result_bytes(what.type, what.form, what.wide)
                                                   : result_bytes(what.type, what.form, what.wide, what.results);
  if (what.waits)
    std::memcpy(what.output, results, bytes);
  else
    store_value(output, results, bytes, work->stream);
}

}  // namespace onefold::cuda_backend
