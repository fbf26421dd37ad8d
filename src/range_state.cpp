/// @file range_state.cpp  The state of a range of elements: what tree v1 makes of a part of an array, whatever comes before and behind it.
///
/// Operations of the tree are done as soon as both operands are final, and no others. So a state is a function of its elements and of where they
/// stand, however it came about:
///
///     begin              a tile's border                 a tile's border           end
///       | head, elements | nodes, complete aligned subtrees     | tail, elements   |

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/own.hpp>
#include <onefold/detail/range_parts.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/order.hpp>

#include "../backends/backend.hpp"
#include "../backends/cpu/forms.hpp"
#include "../backends/float_environment.hpp"
#include "../backends/forms.hpp"
#include "batch.hpp"
#include "c_api.hpp"
#include "complex.hpp"
#include "dispatch.hpp"
#include "mixed.hpp"
#include "own_range.hpp"
#include "pointer_kind.hpp"
#include "side_by_side.hpp"

namespace onefold::detail {

namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of a state are those of numbers in memory");

// What a state is a state of.
struct range_kind {
  element_type type;
  form what;
  bool wide;
  std::uint8_t operator_count = 0;  // not 0: of reduce_together, which has a result for each
  std::array<operation, most_results> operators = {};

  friend bool operator==(const range_kind&, const range_kind&) = default;
  [[nodiscard]] bool is_together() const { return operator_count != 0; }
  [[nodiscard]] std::size_t results() const { return is_together() ? operator_count : 1; }
  [[nodiscard]] const cpu::form_row& row(std::size_t result = 0) const {
    return cpu::row_of(type, is_together() ? form_of(operators[result]) : what, wide);
  }
  [[nodiscard]] bool has_two_inputs() const { return what == form::dot; }
  [[nodiscard]] std::uint64_t tile() const {
    return order::tile_rows * static_cast<std::uint64_t>(order::lanes_of_bytes(row_bytes_of(type, what)));
  }
  // As many as check_count() allows an array to have.
  [[nodiscard]] std::uint64_t most_elements() const {
    return static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / size_of(type);
  }
  // all, any and none are told from how many elements are not zero. Their own reductions end before they know that.
  [[nodiscard]] form form_of_nodes() const {
    return what == form::all || what == form::any || what == form::none ? form::count : what;
  }
  [[nodiscard]] std::string text() const {
    std::string all(name(what));
    for (std::size_t k = 0; k < operator_count; ++k) all.append(k == 0 ? " (" : ", ").append(name(operators[k]));
    return all.append(is_together() ? ") of " : " of ")
        .append(name(type))
        .append(!wide                               ? ""
                : is_small(type) && !is_float(type) ? ", accumulated in its own type"
                                                    : ", accumulated in a wider type");
  }
};

// Where elements come from: arrays, or a function of the caller's, which is asked for its own indices.
struct range_input {
  const std::byte* x;
  const std::byte* y;                         // of dot, or of products
  const value_source* source;                 // not null: instead of arrays
  std::uint64_t from;                         // the index that it is asked for first
  const own_code* own = nullptr;              // not null: code that makes the trees' values, which is asked in the same way
  const onefold_made_values* made = nullptr;  // not null: what reduces the source's values
  const types_of_dot* two = nullptr;          // not null: of x and y, whose products are the elements

  [[nodiscard]] range_input behind(std::uint64_t elements, std::size_t element_bytes) const {
    if (source != nullptr || own != nullptr) return {nullptr, nullptr, source, from + elements, own, made};
    const auto behind_in = [elements](const std::byte* array, std::size_t bytes) {
      return array == nullptr ? nullptr : array + static_cast<std::size_t>(elements) * bytes;
    };
    return {behind_in(x, two == nullptr ? element_bytes : size_of(two->x)),
            behind_in(y, two == nullptr ? element_bytes : size_of(two->y)),
            nullptr,
            from + elements,
            nullptr,
            nullptr,
            two};
  }
};

range_input arrays_at(const void* x, const void* y) {
  return {static_cast<const std::byte*>(x), static_cast<const std::byte*>(y), nullptr, 0};
}
range_input values_of(const onefold_value_source* source, std::uint64_t from) {
  if (source == nullptr || source->fill == nullptr) refuse_null("function that gives the values");
  return {nullptr, nullptr, source, from};
}

range_input products_of(const onefold_products& of, const types_of_dot& types, std::uint64_t from) {
  range_input in = arrays_at(of.x, of.y);
  in.two = &types;
  return in.behind(from, 0);
}

onefold_value_source source_of(const onefold_made_values* made) {
  if (made == nullptr || made->fill == nullptr || made->reduce == nullptr)
    refuse_null("functions that give the values and reduce them");
  return {made->context, made->fill};
}

// A function from a later index on. Each of its values may be wanted several times: of reduce_together every operator has an array of its own.
class shifted_source {
 public:
  shifted_source(const range_input& in, int times, std::size_t value_bytes) : in_(in), times_(times), value_bytes_(value_bytes) {}
  shifted_source(const shifted_source&) = delete;
  shifted_source& operator=(const shifted_source&) = delete;
  [[nodiscard]] const value_source* source() const { return &source_; }

 private:
  static int fill(void* context, std::uint64_t first, std::uint64_t count, void* const* values) {
    const auto& own = *static_cast<const shifted_source*>(context);
    const int failed = own.in_.source->fill(own.in_.source->context, own.in_.from + first, count, values);
    if (failed != 0) return failed;
    for (int k = 1; k < own.times_; ++k) std::memcpy(values[k], values[0], static_cast<std::size_t>(count) * own.value_bytes_);
    return 0;
  }
  range_input in_;
  int times_;
  std::size_t value_bytes_;
  value_source source_{this, fill};
};

// Elements of a tile that is not complete.
struct raw_elements {
  std::vector<std::byte> x;
  std::vector<std::byte> y;  // of dot alone

  void append(const raw_elements& more) {
    x.insert(x.end(), more.x.begin(), more.x.end());
    y.insert(y.end(), more.y.begin(), more.y.end());
  }
};

// The value of a complete subtree of 2^height tiles, of which the first has the number `first`. A node of several results is one for each, side by side.
struct subtree {
  std::uint64_t first;
  int height;
  alignas(8) std::byte state[cpu::most_node_bytes];

  [[nodiscard]] bool is_right_sibling_of(const subtree& left) const {
    return height == left.height && (first >> height) % 2 == 1;  // they are neighbours
  }
};

// a becomes a (+) b, in the default floating-point environment.
void combine_here(const cpu::form_row& row, std::byte* a, const std::byte* b) {
  alignas(16) std::byte both[2 * cpu::most_node_bytes];
  std::memcpy(both, a, row.state_bytes);
  std::memcpy(both + row.state_bytes, b, row.state_bytes);
  row.level(both, 2, row.state_bytes);
  cpu::make_canonical(row, both);
  std::memcpy(a, both, row.state_bytes);
}
void combine(const cpu::form_row& row, std::byte* a, const std::byte* b) {
  const default_float_environment one_operation_is_one_operation;
  combine_here(row, a, b);
}

// What a caller's options may ask for, as options of the reductions of the parts.
onefold_options checked_options(const onefold_options* how) {
  onefold_options known{};
  known.struct_bytes = sizeof(known);
  if (how != nullptr) known = as_known(*how, sizeof(how->struct_bytes), "options");
  known.struct_bytes = sizeof(known);
  if (known.guarantee == ONEFOLD_GUARANTEE_EXACT)
    throw error(errc::guarantee_not_met,
                "the state of a range has a fixed order: states of exact sums are those of exact_state and onefold_exact_add()");
  if (known.guarantee < 0 || known.guarantee > ONEFOLD_GUARANTEE_EXACT)
    refuse_number("options.guarantee", known.guarantee, "one of onefold_guarantee");
  known.guarantee = ONEFOLD_GUARANTEE_FIXED;
  if (known.variant != nullptr) {
    const std::string_view variant(known.variant, known.variant_bytes == 0 ? std::strlen(known.variant) : known.variant_bytes);
    if (!variant.empty() && variant != "fixed_order")
      throw error(errc::unsupported, "the state of a range is made by fixed_order alone: leave the variant's name away");
  }
  return known;
}

struct form_range {
  range_kind of;
  std::uint64_t begin;
  std::uint64_t end = begin;
  raw_elements head = {};           // of the tile that `begin` cuts
  std::vector<subtree> nodes = {};  // of.results() for each
  raw_elements tail = {};           // of the tile that `end` cuts, unless that is the head's

  [[nodiscard]] range_parts parts() const { return {of.tile(), begin, end}; }
  [[nodiscard]] std::uint64_t nodes_begin() const { return parts().nodes_begin(); }
  [[nodiscard]] std::uint64_t nodes_end() const { return parts().nodes_end(); }
  [[nodiscard]] std::uint64_t raw_count() const { return nodes_begin() - begin + (end - nodes_end()); }

  // Adds a node, which is not one of these.
  void push(const subtree* next) {
    const std::size_t results = of.results();
    nodes.insert(nodes.end(), next, next + results);
    while (nodes.size() > results && nodes.back().is_right_sibling_of(nodes[nodes.size() - 1 - results])) {
      subtree* const left = &nodes[nodes.size() - 2 * results];
      for (std::size_t k = 0; k < results; ++k) {
        combine(of.row(k), left[k].state, left[results + k].state);
        ++left[k].height;
      }
      nodes.erase(nodes.end() - static_cast<std::ptrdiff_t>(results), nodes.end());
    }
  }
};

// What adds elements to a range: where, and with which options.
struct range_reader {
  const range_kind& of;
  onefold_executor where;
  onefold_options how;

  int results = 1;                       // of a function of the caller's that gives several
  const operation* operators = nullptr;  // one for each result; null: all are of the kind `of`

  [[nodiscard]] range_kind kind(int result) const {
    return operators == nullptr ? of : range_kind{of.type, form_of(operators[result]), false};
  }

  // Elements of the caller's, which may lie on a GPU.
  void copy(void* to, const void* from, std::size_t bytes) const {
    const pointer_place place = locate(from);
    if (place.kind != pointer_kind::device) {
      std::memcpy(to, from, bytes);
      return;
    }
    const executor there = where.backend == ONEFOLD_BEST ? cuda(place.device) : executor_of(where);
    find_backend(backend::cuda)->read_back(there, to, from, bytes);
  }

  [[nodiscard]] bool reads_second(const range_input& in) const { return of.has_two_inputs() || in.two != nullptr; }

  // The GPU that has the elements in its memory, if there is one to reduce them.
  [[nodiscard]] std::optional<onefold_executor> gpu_of(const range_input& in) const {
    if ((where.backend != ONEFOLD_CUDA && where.backend != ONEFOLD_BEST) || in.source != nullptr || in.own != nullptr)
      return std::nullopt;
    const auto is_for_it = [this](pointer_kind kind) {
      return kind == pointer_kind::device || (kind == pointer_kind::managed && where.backend == ONEFOLD_CUDA);
    };
    const pointer_place place = locate(in.x);
    if (!is_for_it(place.kind) || (reads_second(in) && !is_for_it(locate(in.y).kind))) return std::nullopt;
    return where.backend == ONEFOLD_CUDA ? where : onefold_cuda_device(place.device);
  }

  // Whether a reduction of these may go to one: GPUs show the accumulators of one form alone.
  [[nodiscard]] bool may_go_to_a_gpu(const range_input& in) const {
    if (where.backend == ONEFOLD_CUDA) return true;
    return where.backend == ONEFOLD_BEST && in.source == nullptr && locate(in.x).kind != pointer_kind::host;
  }

  // A reduction whose accumulator is wanted.
  [[nodiscard]] onefold_request request(const range_input& in, std::uint64_t count, void* result, void* tree_value) const {
    onefold_request what{};
    what.struct_bytes = sizeof(what);
    what.where = where;
    what.type = static_cast<std::int32_t>(of.type);
    what.form = static_cast<std::int32_t>(operators == nullptr ? of.form_of_nodes() : form::reduce_together);
    what.operators = reinterpret_cast<const std::uint8_t*>(operators);
    what.results = results;
    what.flags = of.wide ? ONEFOLD_WIDE : 0U;
    what.input = in.x;
    what.second = in.y;
    what.count = count;
    what.output = result;
    what.tree_value = tree_value;
    if (in.two != nullptr) {  // whose result is the accumulator
      what.type = static_cast<std::int32_t>(in.two->x);
      what.form = ONEFOLD_DOT;
      what.second_type = in.two->x == in.two->y ? 0 : 1 + static_cast<std::int32_t>(in.two->y);
      what.flags = type_of_products(*in.two) == of.type ? 0U : ONEFOLD_WIDE;
      what.tree_value = nullptr;
    }
    return what;
  }

  // The values of the trees over elements of which the first has the index `first`: one for each result, `stride` bytes apart.
  void reduce(const range_input& in, std::uint64_t first, std::uint64_t count, std::byte* states,
              std::size_t stride = cpu::most_node_bytes) const {
    std::uint64_t result[2 * most_results];
    if (in.two != nullptr) {
      const onefold_request products = request(in, count, result, nullptr);
      check_status(onefold_reduce(&products, &how));
      cpu::take_shown_state(of.row(), of.what, count, reinterpret_cast<const std::byte*>(result), states);
      cpu::make_canonical(of.row(), states);
      return;
    }
    alignas(8) std::byte side_by_side[most_state_bytes];
    onefold_request what = request(in, count, result, results == 1 ? states : side_by_side);
    const shifted_source from(in, of.is_together() ? results : 1, size_of(of.type));
    if (in.source != nullptr) what.source = from.source();
    std::optional<own_subtree> own;
    if (in.own != nullptr) what.own = own.emplace(*in.own, in.from).code();
    check_status(onefold_reduce(&what, &how));
    const std::byte* next = side_by_side;
    for (int k = 0; k < results; ++k, states += stride) {
      const cpu::form_row& row = kind(k).row();
      if (results > 1) std::memcpy(states, next, row.state_bytes);
      next += (std::size_t{row.state_bytes} + 7) / 8 * 8;  // where cpu::parts puts the next one
      cpu::shift_indices(row, states, first);
      cpu::make_canonical(row, states);
    }
  }

  // What a reduction of so many elements refuses is refused of elements too that are only kept. A function is not called for that.
  void check(const range_input& in, std::uint64_t asked) const {
    if (in.source == nullptr && in.own == nullptr)
      for (const void* const array : {in.x, reads_second(in) ? in.y : in.x})
        if (array == nullptr)
          throw error(errc::null_pointer, std::string(array == in.x ? "the input" : "the second input") +
                                              " pointer is null but there are " + std::to_string(asked) + " elements to read");
    static constexpr onefold_value_source zeros{nullptr, [](void*, std::uint64_t, std::uint64_t count, void* const* values) {
                                                  std::memset(values[0], 0, static_cast<std::size_t>(count) * sizeof(double));
                                                  return 0;
                                                }};
    range_reader alone = *this;
    alone.results = 1;
    alone.operators = of.is_together() ? of.operators.data() : nullptr;
    alignas(8) std::byte unused[cpu::most_node_bytes];
    alone.reduce(in.source == nullptr ? in : range_input{nullptr, nullptr, &zeros, 0}, 0, 1, unused);
  }
};

range_reader reader_of(const range_kind& of, const onefold_executor& where, const onefold_options& how) {
  return {of, where, how, static_cast<int>(of.results()), of.is_together() ? of.operators.data() : nullptr};
}

void check_made(int status) {
  if (status != 0)
    throw error(errc::callback_failed, "the function that reduces the values has returned " + std::to_string(status));
}
void wait_for(const onefold_made_values& made) {
  if (made.wait != nullptr) check_made(made.wait(made.context));
}

// The nodes over `count` values of which the first begins tile number `first_tile`, from whoever makes them: for each subtree one of each result.
class made_nodes {
 public:
  made_nodes(const range_reader& reader, const range_input& in, std::uint64_t first_tile, std::uint64_t count)
      : reader_(reader), bytes_(reader.kind(0).row().state_bytes) {
    const std::uint64_t end_tile = first_tile + (count + reader.of.tile() - 1) / reader.of.tile();
    for_subtrees(first_tile, end_tile, [&](std::uint64_t number, int height) {
      nodes_.resize(nodes_.size() + static_cast<std::size_t>(reader.results), {number, height, {}});
    });
    if (nodes_.empty()) return;
    states_.resize(nodes_.size() * bytes_ / sizeof(std::uint64_t) + 1);
    check_made(in.made->reduce(in.made->context, in.from, first_tile, end_tile, count, states_.data()));
  }
  // When they have been waited for.
  std::vector<subtree> found() && {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      std::memcpy(nodes_[i].state, reinterpret_cast<const std::byte*>(states_.data()) + i * bytes_, bytes_);
      cpu::make_canonical(reader_.kind(static_cast<int>(i) % reader_.results).row(), nodes_[i].state);
    }
    return std::move(nodes_);
  }

 private:
  const range_reader& reader_;
  std::size_t bytes_;
  std::vector<subtree> nodes_;
  std::vector<std::uint64_t> states_;
};
std::vector<subtree> nodes_as_made(const range_reader& reader, const range_input& in, std::uint64_t first_tile,
                                   std::uint64_t count) {
  made_nodes nodes(reader, in, first_tile, count);
  wait_for(*in.made);
  return std::move(nodes).found();
}

// The values of a function, `values` having a place for those of each result.
void make_values(const range_input& in, std::uint64_t count, void* const* values) {
  const default_float_environment as_in_a_reduction;
  if (const int failed = in.source->fill(in.source->context, in.from, count, values); failed != 0)
    throw error(errc::callback_failed, "the function that gives the values has returned " + std::to_string(failed));
}

// Of a tile whose elements have been kept.
void reduce_kept(const range_kind& of, const raw_elements& elements, std::uint64_t first, std::byte* states, std::size_t stride) {
  const all_is_host_memory no_call_of_cuda;  // an image may be added in a function that CUDA calls
  const range_reader reader = reader_of(of, onefold_serial(), checked_options(nullptr));
  reader.reduce({elements.x.data(), of.has_two_inputs() ? elements.y.data() : nullptr, nullptr, 0}, first,
                elements.x.size() / size_of(of.type), states, stride);
}

// What is kept of two arrays whose products are the elements becomes these.
void multiply(const range_kind& of, const range_input& in, raw_elements& kept) {
  if (in.two == nullptr || kept.x.empty()) return;
  const std::size_t count = kept.x.size() / size_of(in.two->x);
  std::vector<std::byte> products(count * size_of(of.type));
  const default_float_environment as_in_a_reduction;
  store_products(*in.two, of.type, kept.x.data(), kept.y.data(), count, products.data());
  kept = {std::move(products), {}};
}

// The first `count` elements.
raw_elements keep(const range_reader& reader, const range_input& in, std::uint64_t count) {
  raw_elements kept;
  if (count == 0) return kept;
  if (in.two != nullptr) {
    kept.x.resize(static_cast<std::size_t>(count) * size_of(in.two->x));
    kept.y.resize(static_cast<std::size_t>(count) * size_of(in.two->y));
    reader.copy(kept.x.data(), in.x, kept.x.size());
    reader.copy(kept.y.data(), in.y, kept.y.size());
    multiply(reader.of, in, kept);
    return kept;
  }
  kept.x.resize(static_cast<std::size_t>(count) * size_of(reader.of.type));
  if (in.source != nullptr) {
    void* const values[] = {kept.x.data()};
    make_values(in, count, values);
    return kept;
  }
  reader.copy(kept.x.data(), in.x, kept.x.size());
  if (!reader.of.has_two_inputs()) return kept;
  kept.y.resize(kept.x.size());
  reader.copy(kept.y.data(), in.y, kept.y.size());
  return kept;
}

// Calls each(number, height, elements, report) for the complete subtrees of elements that begin with a tile; the report is for the highest.
template <class Each>
void for_subtrees_of(const range_kind& of, std::uint64_t first, std::uint64_t count, onefold_report* report, const Each& each) {
  const std::uint64_t tile = of.tile(), end = first + count;
  const std::uint64_t first_tile = (first + tile - 1) / tile, end_tile = (end + tile - 1) / tile;
  int highest = -1;
  for_subtrees(first_tile, end_tile, [&](std::uint64_t, int height) { highest = std::max(highest, height); });
  for_subtrees(first_tile, end_tile, [&](std::uint64_t number, int height) {
    each(number, height, std::min(tile << height, end - number * tile), height == highest ? report : nullptr);
  });
}

// --- on a GPU: all that is wanted of a range is put on the stream before the host waits, once ---------------------------------------------------

// The first `count` elements, which are there when the image is; of products what multiply() makes them of.
void keep(const range_reader& reader, const range_input& in, std::uint64_t count, raw_elements& to, gpu_reading& what) {
  if (count == 0) return;
  to.x.resize(static_cast<std::size_t>(count) * size_of(in.two == nullptr ? reader.of.type : in.two->x));
  what.copies.push_back({to.x.data(), in.x, to.x.size()});
  if (!reader.reads_second(in)) return;
  to.y.resize(static_cast<std::size_t>(count) * size_of(in.two == nullptr ? reader.of.type : in.two->y));
  what.copies.push_back({to.y.data(), in.y, to.y.size()});
}

// The subtrees of elements of which the first, at `in`, has the index `first` and begins a tile, and behind which there are more. Of their states the image
// has what a GPU shows.
void read_nodes(const range_reader& reader, const range_input& in, std::uint64_t first, std::uint64_t count, std::uint64_t behind,
                std::vector<subtree>& nodes, gpu_reading& what) {
  if (count == 0) return;
  const std::uint64_t tile = reader.of.tile();
  nodes.reserve(2 * static_cast<std::size_t>(std::bit_width(count / tile)));
  for_subtrees(first / tile, (first + count + tile - 1) / tile, [&](std::uint64_t number, int height) {
    nodes.push_back({number, height, {}});
  });
  what.nodes.push_back({reader.request(in, count, nullptr, nullptr), first / tile, tile, behind, nodes.front().state,
                        sizeof(subtree), reader.how.report != nullptr});
}

void finish_nodes(const range_kind& of, std::vector<subtree>& nodes) {
  for (subtree& node : nodes) {
    cpu::shift_indices(of.row(), node.state, node.first * of.tile());
    cpu::make_canonical(of.row(), node.state);
  }
}

// What makes `made`, of which the kind and the ends are known, of elements at `in`. It stays where it is until the image has been stored.
void read_range(const range_reader& reader, const range_input& in, form_range& made, gpu_reading& what) {
  const std::size_t bytes = size_of(made.of.type);
  const std::uint64_t nodes_begin = made.nodes_begin(), nodes_end = made.nodes_end();
  keep(reader, in, nodes_begin - made.begin, made.head, what);
  keep(reader, in.behind(nodes_end - made.begin, bytes), made.end - nodes_end, made.tail, what);
  read_nodes(reader, in.behind(nodes_begin - made.begin, bytes), nodes_begin, nodes_end - nodes_begin, made.end - nodes_end,
             made.nodes, what);
  // What a reduction refuses is refused of elements too that are only kept.
  if (nodes_begin == nodes_end)
    what.nodes.push_back({reader.request(in, 1, nullptr, nullptr), 0, made.of.tile(), 0, nullptr, 0, reader.how.report != nullptr});
}

void read_and_wait(const range_reader& reader, const gpu_reading& what) {
  const auto batch = put_on_stream(what, reader.how);
  batch->wait(what.node_count());
  store(what, batch->data());
}

// The states of subtrees as read_nodes() takes them.
std::vector<subtree> nodes_on_a_gpu(const range_reader& reader, const range_input& in, std::uint64_t first, std::uint64_t count) {
  std::vector<subtree> nodes;
  gpu_reading what;
  read_nodes(reader, in, first, count, 0, nodes, what);
  if (nodes.size() == 1) {  // a call by itself asks for its result, which takes less of the host's time
    reader.reduce(in, first, count, nodes.front().state);
    return nodes;
  }
  read_and_wait(reader, what);
  finish_nodes(reader.of, nodes);
  return nodes;
}

void make_on_a_gpu(const range_reader& reader, const range_input& in, form_range& made) {
  if (made.raw_count() == 0) {
    made.nodes = nodes_on_a_gpu(reader, in, made.begin, made.end - made.begin);
    return;
  }
  gpu_reading what;
  read_range(reader, in, made, what);
  read_and_wait(reader, what);
  finish_nodes(made.of, made.nodes);
  multiply(made.of, in, made.head);
  multiply(made.of, in, made.tail);
}

form_range state_of(range_reader reader, std::uint64_t begin, const range_input& in, std::uint64_t count);

// Of reduce_together, made of a state for each operator: as many reads.
form_range state_of_each(const range_reader& reader, std::uint64_t begin, const range_input& in, std::uint64_t count) {
  form_range all{reader.of, begin, begin + count};
  const std::size_t results = reader.of.results();
  for (std::size_t k = 0; k < results; ++k) {
    const range_kind alone = reader.kind(static_cast<int>(k));
    range_reader its{alone, reader.where, reader.how};
    if (k > 0) its.how.report = nullptr;
    form_range one = state_of(its, begin, in, count);
    all.nodes.resize(results * one.nodes.size());
    for (std::size_t i = 0; i < one.nodes.size(); ++i) all.nodes[results * i + k] = one.nodes[i];
    all.head = std::move(one.head);  // the same elements each time
    all.tail = std::move(one.tail);
  }
  return all;
}

// The state of `count` elements, at least one, of which the first has the index `begin`.
form_range state_of(range_reader reader, std::uint64_t begin, const range_input& in, std::uint64_t count) {
  const range_kind& of = reader.of;
  if (of.is_together() && reader.may_go_to_a_gpu(in)) return state_of_each(reader, begin, in, count);
  form_range made{of, begin, begin + count};
  if (const std::optional<onefold_executor> gpu = reader.gpu_of(in)) {
    reader.where = *gpu;
    make_on_a_gpu(reader, in, made);
    return made;
  }
  const std::size_t bytes = size_of(of.type);
  if (in.made != nullptr) {
    made.head = keep(reader, in, made.nodes_begin() - begin);
    made_nodes nodes(reader, in.behind(made.nodes_begin() - begin, bytes), made.nodes_begin() / of.tile(),
                     made.nodes_end() - made.nodes_begin());
    made.tail = keep(reader, in.behind(made.nodes_end() - begin, bytes), made.end - made.nodes_end());
    wait_for(*in.made);
    made.nodes = std::move(nodes).found();
    return made;
  }
  onefold_report* const report = std::exchange(reader.how.report, nullptr);
  if (made.nodes_begin() == made.nodes_end()) reader.how.report = report;  // of the one reduction that there is
  reader.check(in, count);

  made.head = keep(reader, in, made.nodes_begin() - begin);
  for_subtrees_of(of, made.nodes_begin(), made.nodes_end() - made.nodes_begin(), report,
                  [&](std::uint64_t number, int height, std::uint64_t elements, onefold_report* its) {
                    const std::size_t before = made.nodes.size();
                    made.nodes.resize(before + of.results(), {number, height, {}});
                    reader.how.report = its;
                    reader.reduce(in.behind(number * of.tile() - begin, bytes), number * of.tile(), elements,
                                  made.nodes[before].state, sizeof(subtree));
                  });
  made.tail = keep(reader, in.behind(made.nodes_end() - begin, bytes), made.end - made.nodes_end());
  return made;
}

void append(form_range& to, form_range next) {
  if (to.of != next.of)
    throw error(errc::invalid_argument, "a state of " + next.of.text() + " cannot be appended to one of " + to.of.text());
  if (to.end != next.begin)
    throw error(errc::invalid_argument, "the state ends at element " + std::to_string(to.end) + " and the other one begins at " +
                                            std::to_string(next.begin) + ": append neighbours, in the order of their elements");
  if (to.begin == to.end) {
    to = std::move(next);
    return;
  }
  form_range joined = to;
  const bool in_first_tile = joined.end < joined.parts().first_border();
  raw_elements& open = in_first_tile ? joined.head : joined.tail;
  open.append(next.head);
  joined.end = next.nodes_begin();
  if (!in_first_tile && !next.head.x.empty() && joined.end % joined.of.tile() == 0) {
    subtree tile[most_results];
    const std::uint64_t number = joined.end / joined.of.tile() - 1;
    std::fill_n(tile, joined.of.results(), subtree{number, 0, {}});
    reduce_kept(joined.of, joined.tail, number * joined.of.tile(), tile[0].state, sizeof(subtree));
    joined.push(tile);
    joined.tail = {};
  }
  for (std::size_t i = 0; i < next.nodes.size(); i += next.of.results()) joined.push(&next.nodes[i]);
  joined.tail.append(next.tail);
  joined.end = next.end;
  to = std::move(joined);
}

// Throws invalid_argument where an array cannot have so many elements behind the index `begin`.
void check_end(const range_kind& of, std::uint64_t begin, std::uint64_t count) {
  if (begin > of.most_elements() || count > of.most_elements() - begin)
    throw error(errc::invalid_argument, "a count of " + std::to_string(count) + " elements behind " + std::to_string(begin) +
                                            " cannot be: is it a negative number?");
}

void add(form_range& to, const onefold_executor& where, const range_input& in, std::uint64_t count, const onefold_options* how) {
  const onefold_options wishes = checked_options(how);
  check_end(to.of, to.end, count);
  if (count == 0) return;
  append(to, state_of(reader_of(to.of, where, wishes), to.end, in, count));
}

// --- products of two arrays ------------------------------------------------------------------------------------------------------------------------

types_of_dot checked_types(const onefold_products* of) {
  if (of == nullptr) refuse_null("description of the products");
  const std::int32_t x_type = of->x_type, y_type = of->y_type;
  if (x_type < 0 || x_type >= element_type_count) refuse_number("the type of the first array", x_type, "a type of real numbers");
  if (y_type < 0 || y_type >= element_type_count) refuse_number("the type of the second array", y_type, "a type of real numbers");
  return {static_cast<element_type>(x_type), static_cast<element_type>(y_type)};
}

// The type of the products that a sum of elements of `type` may take.
void check_type_of_products(element_type type, const types_of_dot& types) {
  const element_type usual = type_of_products(types), wide = type_of_products(types, true);
  if (types.x == types.y && size_of(types.x) != size_of(type))  // whose dot has other rows than the sum
    throw error(errc::unsupported, "products of one type of elements, " + std::string(name(types.x)) +
                                       ", are added to sums of that size, and not to those of " + std::string(name(type)) +
                                       ": make a state of dot, or a message's part, which has both arrays");
  if (type == usual || type == wide) return;
  throw error(errc::invalid_argument, std::string("the products of ")
                                          .append(name(types.x))
                                          .append(" and ")
                                          .append(name(types.y))
                                          .append(" are ")
                                          .append(name(usual))
                                          .append(wide == usual ? "" : ", or ")
                                          .append(wide == usual ? "" : name(wide))
                                          .append(", and not ")
                                          .append(name(type)));
}
void check_takes_products(const range_kind& of, const types_of_dot& types) {
  if (of.what != form::sum || of.wide)
    throw error(errc::unsupported, "products of two types are added to sums of the type that they have, and not to " + of.text());
  check_type_of_products(of.type, types);
}

// --- parts of an array on several executors -----------------------------------------------------------------------------------------------------

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
  // Host arrays that go to a GPU wait for the bus; those that CPUs reduce take all cores, and come one behind the other.
  std::vector<range_reader> readers;
  readers.reserve(others.size());
  for (const std::size_t i : others) readers.push_back(reader_of(i));
  const bool are_copied = std::all_of(others.begin(), others.end(), [&](std::size_t i) {
    return parts[i].where.backend == ONEFOLD_CUDA && !is_of_this_thread(parts[i].where);
  });
  const auto reduce_other = [&](std::size_t k) {
    const onefold_range_part& part = parts[others[k]];
    form_range& range = made[others[k]];
    range = state_of(readers[k], range.begin, arrays_at(part.x, of.has_two_inputs() ? part.y : nullptr), part.count);
  };
  if (are_copied)
    side_by_side(others.size(), reduce_other);
  else
    for (std::size_t k = 0; k < others.size(); ++k) reduce_other(k);
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

void add_parts(form_range& to, std::span<const onefold_range_part> parts, const onefold_options* how) {
  if (to.of.is_together()) return add_parts_in_turn(to, parts, checked_options(how));
  std::vector<form_range> made = states_of(to.of, to.end, parts, checked_options(how));
  form_range joined = to;
  for (form_range& part : made)
    if (part.begin != part.end) append(joined, std::move(part));
  to = std::move(joined);
}

// --- images: what a GPU makes of elements in stream order -----------------------------------------------------------------------------------------

// What makes the image of elements that follow those of `before`.
gpu_reading image_of(const range_reader& reader, const range_input& in, form_range& made) {
  gpu_reading what;
  read_range(reader, in, made, what);
  return what;
}

void check_has_images(const range_kind& of) {
  if (of.is_together())
    throw error(errc::unsupported,
                "reduce_together has no images: onefold_range_add() takes elements in a GPU's memory, or make the "
                "image of a state of each operator");
}

std::size_t image_bytes(const form_range& before, std::uint64_t count) {
  check_has_images(before.of);
  check_end(before.of, before.end, count);
  if (count == 0) return 0;
  form_range made{before.of, before.end, before.end + count};
  return image_of({before.of, onefold_serial(), checked_options(nullptr)}, arrays_at(nullptr, nullptr), made).image_bytes();
}

void put_image(const form_range& before, const onefold_executor& where, const range_input& in, std::uint64_t count, void* image,
               const onefold_options* how) {
  check_has_images(before.of);
  range_reader reader{before.of, where, checked_options(how)};
  check_end(before.of, before.end, count);
  if (count == 0) return;
  if (image == nullptr) refuse_null("image");
  if (reinterpret_cast<std::uintptr_t>(image) % 16 != 0)
    throw error(errc::misaligned_pointer, "the image is not aligned to 16 bytes");
  const std::optional<onefold_executor> gpu = reader.gpu_of(in);
  if (!gpu)
    throw error(errc::unsupported,
                "an image is made by cuda(), of elements in a GPU's memory: onefold_range_add() takes them from anywhere");
  reader.where = *gpu;
  form_range made{before.of, before.end, before.end + count};
  static_cast<void>(put_on_stream(image_of(reader, in, made), reader.how, image));
}

void add_image(form_range& to, const void* image, std::uint64_t count) {
  check_has_images(to.of);
  check_end(to.of, to.end, count);
  if (count == 0) return;
  if (image == nullptr) refuse_null("image");
  form_range made{to.of, to.end, to.end + count};
  store(image_of({to.of, onefold_serial(), checked_options(nullptr)}, arrays_at(nullptr, nullptr), made), image);
  finish_nodes(made.of, made.nodes);
  append(to, std::move(made));
}

bool can_join_images(const images_of_parts& all) {
  const backend_entry* const gpus = find_backend(backend::cuda);
  return gpus != nullptr && gpus->can_join_images != nullptr && gpus->can_join_images(all);
}

void check_can_join(const onefold_executor& where, const images_of_parts& all) {
  if (where.backend != ONEFOLD_CUDA)
    throw error(errc::unsupported, "images are put together by cuda(): onefold_range_add_image() takes them anywhere");
  if (!can_join_images(all))
    throw error(errc::unsupported,
                "no kernel puts the images of " + std::to_string(all.parts) + " parts together for " +
                    range_kind{all.type, all.what, all.wide}.text() +
                    ": onefold_range_can_join_images() tells, and onefold_range_add_image() takes images of all forms");
}

void join_images(const onefold_executor& where, const images_of_parts& all, void* result) {
  if (all.images == nullptr) refuse_null("images");
  if (all.borders == nullptr) refuse_null("borders of the parts");
  if (result == nullptr) refuse_null("result");
  if (reinterpret_cast<std::uintptr_t>(all.images) % 16 != 0 || all.stride % 16 != 0)
    throw error(errc::misaligned_pointer, "images are not aligned to 16 bytes");
  if (reinterpret_cast<std::uintptr_t>(result) % result_alignment(all.type, all.what, all.wide) != 0) refuse_misaligned_output();
  const std::span<const std::uint64_t> borders(all.borders, all.parts);
  if (!borders.empty() && (borders.front() != 0 || borders.back() > all.total || !std::is_sorted(borders.begin(), borders.end())))
    throw error(errc::invalid_argument, "the first part begins at 0, and each of the others where the one before it ends");
  check_can_join(where, all);
  if (all.total == 0 && has_index(all.what))
    throw error(errc::invalid_argument, std::string(name(all.what)) + " of no elements: there is no index");
  find_backend(backend::cuda)->join_images(executor_of(where), all, result);
}

// The value of neighbouring subtrees, and of what `state` holds, if anything, to the right of them: a node without a right sibling goes up to
// the level where it is one itself. Of nodes of several results those of one: its value in every node is `results` behind that in the node before.
void fold_from_right(const cpu::form_row& row, std::span<const subtree> nodes, bool has_value, std::byte* state,
                     std::size_t results = 1, std::size_t result = 0) {
  const default_float_environment one_operation_is_one_operation;
  for (std::size_t i = nodes.size(); i > 0; i -= results) {
    alignas(16) std::byte root[cpu::most_node_bytes];
    std::memcpy(root, nodes[i - results + result].state, row.state_bytes);
    if (has_value) combine_here(row, root, state);
    std::memcpy(state, root, row.state_bytes);
    has_value = true;
  }
}

// The result for no elements, where there is one.
void store_result_of_none(const range_kind& of, void* to) {
  if (of.is_together()) {
    request nothing{executor_of(onefold_serial()), of.type, of.what, nullptr, 0, to, true};
    nothing.results = static_cast<int>(of.results());
    nothing.operators = of.operators.data();
    return store_empty(nothing, to);
  }
  if (of.row().has_index()) throw error(errc::invalid_argument, std::string(name(of.what)) + " of no elements: there is no index");
  if (!is_complex(of.type)) return static_cast<void>(store_empty(of.type, of.what, of.wide, to));
  alignas(16) std::byte result[cpu::most_node_bytes];
  onefold_request nothing{};
  nothing.struct_bytes = sizeof(nothing);
  nothing.where = onefold_serial();
  nothing.type = static_cast<std::int32_t>(of.type);
  nothing.form = static_cast<std::int32_t>(of.what);
  nothing.output = result;
  nothing.flags = of.wide ? ONEFOLD_WIDE : 0U;
  check_status(onefold_reduce(&nothing, nullptr));
  std::memcpy(to, result, result_bytes(of.type, of.what, of.wide));
}

void store_result(const form_range& of, std::int64_t ddof, void* to) {
  if (of.begin != 0)
    throw error(errc::invalid_argument, "a state that begins at element " + std::to_string(of.begin) +
                                            " has no result: append it to that of the elements before");
  if (of.end == 0) return store_result_of_none(of.of, to);
  alignas(16) std::byte states[most_results * cpu::most_node_bytes];
  static_assert(cpu::most_node_bytes % 16 == 0);
  const bool has_value = !of.tail.x.empty();
  if (has_value) reduce_kept(of.of, of.tail, of.nodes_end(), states, cpu::most_node_bytes);
  const std::size_t results = of.of.results();
  auto* next = static_cast<std::byte*>(to);
  for (std::size_t k = 0; k < results; ++k) {
    const cpu::form_row& row = of.of.row(k);
    std::byte* const state = states + k * cpu::most_node_bytes;
    fold_from_right(row, of.nodes, has_value, state, results, k);
    const default_float_environment one_operation_is_one_operation;
    row.conclude(row, state, of.end, ddof, next);
    if (!of.of.is_together()) continue;
    if (row.result_bytes == row.element_bytes) to_total(of.of.type, next);  // a small one is in the type of a sum
    next += size_of(result_type(of.of.type, of.of.what));
  }
}

// --- as bytes: docs/order.md ------------------------------------------------------------------------------------------------------------

constexpr char magic[8] = "onefold";
constexpr std::uint16_t version = 1;

struct range_header {
  char magic[8];
  std::uint16_t version;
  std::uint8_t type;
  std::uint8_t form;
  std::uint8_t wide;
  std::uint8_t operators;  // of reduce_together: how many follow the header, a byte each, padded to a multiple of 8
  std::uint8_t reserved[2];
  std::uint64_t begin;
  std::uint64_t end;
};
static_assert(sizeof(range_header) == 32 && std::has_unique_object_representations_v<range_header>);

// Of a node, as bytes.
std::size_t field_bytes(const cpu::form_row& row) {
  std::size_t bytes = 0;
  for (int i = 0; i < row.field_count; ++i) bytes += row.fields[i].bytes;
  return bytes;
}

// Of 8 bytes nearly always: a function is not called for those.
void copy_field(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == sizeof(std::uint64_t))
    std::memcpy(to, from, sizeof(std::uint64_t));
  else
    std::memcpy(to, from, bytes);
}

std::byte* put_fields(const cpu::form_row& row, const std::byte* state, std::byte* to) {
  for (int i = 0; i < row.field_count; ++i) {
    copy_field(to, state + row.fields[i].offset, row.fields[i].bytes);
    to += row.fields[i].bytes;
  }
  return to;
}

const std::byte* get_fields(const cpu::form_row& row, const std::byte* from, std::byte* state) {
  for (int i = 0; i < row.field_count; ++i) {
    copy_field(state + row.fields[i].offset, from, row.fields[i].bytes);
    from += row.fields[i].bytes;
  }
  return from;
}

std::size_t operators_bytes(std::size_t operators) { return (operators + 7) / 8 * 8; }

std::size_t bytes_of(const form_range& of) {
  std::size_t of_a_node = 0;
  for (std::size_t k = 0; k < of.of.results(); ++k) of_a_node += field_bytes(of.of.row(k));
  std::size_t nodes = 0;
  of.parts().for_nodes([&](std::uint64_t, int) { ++nodes; });
  const std::size_t of_an_element = size_of(of.of.type) * (of.of.has_two_inputs() ? 2 : 1);
  return sizeof(range_header) + operators_bytes(of.of.operator_count) + static_cast<std::size_t>(of.raw_count()) * of_an_element +
         nodes * of_a_node + sizeof(std::uint64_t);
}

void write(const form_range& of, std::byte* to) {
  std::byte* next = to;
  const auto put = [&next](const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(next, from, bytes);
    next += bytes;
  };
  const auto put_elements = [&](const raw_elements& some) {
    put(some.x.data(), some.x.size());
    put(some.y.data(), some.y.size());
  };
  range_header header{{},
                      version,
                      static_cast<std::uint8_t>(of.of.type),
                      static_cast<std::uint8_t>(of.of.what),
                      static_cast<std::uint8_t>(of.of.wide ? 1 : 0),
                      of.of.operator_count,
                      {},
                      of.begin,
                      of.end};
  std::memcpy(header.magic, magic, sizeof(magic));
  put(&header, sizeof(header));
  static_assert(sizeof(operation) == 1 && most_results % 8 == 0);
  put(of.of.operators.data(), operators_bytes(of.of.operator_count));  // those that are not there are zeros
  put_elements(of.head);
  const std::size_t results = of.of.results();
  for (std::size_t i = 0; i < of.nodes.size(); ++i) next = put_fields(of.of.row(i % results), of.nodes[i].state, next);
  put_elements(of.tail);
  const std::uint64_t checksum = checksum_of(to, static_cast<std::size_t>(next - to));
  put(&checksum, sizeof(checksum));
}

[[noreturn]] void refuse_damaged() {
  throw error(errc::invalid_argument, "the bytes of the state of a range are damaged, or not as many as there were");
}

// The operators of a state of reduce_together, which begin at `from` and end within `size` bytes.
void read_operators(std::size_t count, const std::byte* from, std::size_t size, range_kind& kind) {
  const std::size_t padded = operators_bytes(count);
  if (count == 0 || count > most_results || padded > size) refuse_damaged();
  for (std::size_t k = 0; k < padded; ++k) {
    const int number = std::to_integer<int>(from[k]);
    if (k >= count && number != 0) refuse_damaged();
    if (number >= operation_count)
      throw error(errc::invalid_argument, "the bytes are a state of an operator with the number " + std::to_string(number) +
                                              ", which this library does not know");
    kind.operators[k] = static_cast<operation>(number);
  }
  kind.operator_count = static_cast<std::uint8_t>(count);
}

form_range read(const range_kind& expected, const std::byte* from, std::size_t size) {
  range_header header;
  if (size < sizeof(header) + sizeof(std::uint64_t) || std::memcmp(from, magic, sizeof(magic)) != 0)
    throw error(errc::invalid_argument, "these bytes are not the state of a range: they do not begin like one, or are too few");
  std::memcpy(&header, from, sizeof(header));
  if (header.version != version)
    throw error(errc::invalid_argument, "the state of a range has version " + std::to_string(header.version) +
                                            ", and this library reads version " + std::to_string(version));
  const std::size_t summed = size - sizeof(std::uint64_t);
  std::uint64_t checksum;
  std::memcpy(&checksum, from + summed, sizeof(checksum));
  if (checksum != checksum_of(from, summed)) refuse_damaged();
  range_kind kind{static_cast<element_type>(header.type), static_cast<form>(header.form), header.wide == 1};
  if (kind.what == form::reduce_together) read_operators(header.operators, from + sizeof(header), summed - sizeof(header), kind);
  if (header.type >= element_type_count + 2 || header.form >= form_count + record_count)
    throw error(errc::invalid_argument, "the bytes are a state of form " + std::to_string(header.form) + " and type " +
                                            std::to_string(header.type) + ", which this library does not know");
  if (kind != expected)
    throw error(errc::invalid_argument,
                "the bytes are a state of " + kind.text() + ", and one of " + expected.text() + " was to be read");
  if (header.wide > 1 || header.operators != kind.operator_count ||
      std::any_of(std::begin(header.reserved), std::end(header.reserved), [](auto byte) { return byte != 0; }) ||
      header.begin > header.end || header.end > kind.most_elements())
    refuse_damaged();
  form_range made{kind, header.begin, header.end};
  if (size != bytes_of(made)) refuse_damaged();

  const std::byte* next = from + sizeof(header) + operators_bytes(kind.operator_count);
  const auto get_elements = [&](raw_elements& to, std::uint64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(kind.type);
    to.x.assign(next, next + bytes);
    next += bytes;
    if (!kind.has_two_inputs()) return;
    to.y.assign(next, next + bytes);
    next += bytes;
  };
  get_elements(made.head, made.nodes_begin() - made.begin);
  made.parts().for_nodes([&](std::uint64_t first, int height) {
    for (std::size_t k = 0; k < kind.results(); ++k) {
      subtree node{first, height, {}};
      next = get_fields(kind.row(k), next, node.state);
      made.nodes.push_back(node);
    }
  });
  get_elements(made.tail, made.end - made.nodes_end());
  return made;
}

range_kind checked_kind(std::int32_t type, std::int32_t what, std::uint32_t flags) {
  const bool of_complex = type == ONEFOLD_C64 || type == ONEFOLD_C128;
  if (!of_complex && (type < 0 || type >= element_type_count)) refuse_number("the type", type, "one of onefold_type");
  if (what < 0 || what >= form_count + record_count) refuse_number("the form", what, "one of onefold_form");
  if ((flags & ~ONEFOLD_WIDE) != 0) refuse_number("the flags of a state", flags, "ONEFOLD_WIDE or 0");
  const range_kind kind{static_cast<element_type>(type), static_cast<form>(what), flags != 0};
  if (kind.what == form::reduce_together)
    throw error(errc::unsupported,
                "reduce_together takes a list of operators: onefold_range_create_together() makes its state; parts of messages and "
                "images are made for each operator");
  if (of_complex) check_complex_form(what, kind.type);
  if (!takes_type(kind.what, kind.type)) refuse_type(kind.what, kind.type);
  if (kind.wide && !can_be_wide(kind.type, kind.what)) refuse_wide(kind.what, kind.type);
  return kind;
}

range_kind checked_together(std::int32_t type, const std::uint8_t* operators, std::size_t count) {
  if (operators == nullptr) refuse_null("list of operators");
  if (count == 0 || count > most_results)
    refuse_number("the number of operators", static_cast<std::int64_t>(count), 1, most_results);
  if (type == ONEFOLD_C64 || type == ONEFOLD_C128) check_complex_form(ONEFOLD_REDUCE_TOGETHER, static_cast<element_type>(type));
  if (type < 0 || type >= element_type_count) refuse_number("the type", type, "one of onefold_type");
  range_kind kind{static_cast<element_type>(type), form::reduce_together, false};
  kind.operator_count = static_cast<std::uint8_t>(count);
  for (std::size_t k = 0; k < count; ++k) {
    if (operators[k] >= operation_count) refuse_number("an operator", operators[k], "one of onefold_operation");
    kind.operators[k] = static_cast<operation>(operators[k]);
  }
  return kind;
}

form_range create(const range_kind& of, std::uint64_t begin) {
  if (begin > of.most_elements())
    throw error(errc::invalid_argument, "no element has the index " + std::to_string(begin) + ": is it a negative number?");
  return {of, begin};
}

// --- messages: what ranks know of their parts, in a form that is merged in place ----------------------------------------------------------------
//
// A message is a header, and for each part a header and room for values. Where the order is in the bits these are the values of the complete
// subtrees of whole tiles, as the nodes of a state are; the tile in which the array ends counts as a whole one, since nothing comes behind it.
// Where it is not there is one value, of all elements.

constexpr std::uint32_t message_magic = 0x316d666fU;
constexpr std::size_t message_granule =
    256;  // so that most reductions by themselves have messages of one size: what differs is seen then
constexpr std::uint32_t most_values = 128;  // two for each height

// What a message says in place of an errc.
constexpr std::int16_t different_calls = -1;
constexpr std::int16_t wrong_order = -2;
constexpr std::int16_t given_up = -3;

struct message_header {
  std::uint32_t magic;
  std::uint32_t bytes;
  std::uint64_t signature;
  std::uint16_t parts;
  std::int16_t status;  // not 0: there is no result, and
  std::int32_t rank;    // this one knows why
  std::int32_t first_rank;
  std::int32_t end_rank;
};
static_assert(sizeof(message_header) == 32);

struct part_header {
  std::uint8_t type;
  std::uint8_t what;
  std::uint8_t wide;
  std::uint8_t free_of_order;
  std::uint16_t room;         // values
  std::uint16_t value_bytes;  // of each
  std::uint64_t count;        // elements
  std::uint64_t first;        // tiles first .. end - 1; free of order: 0 .. 1 where there is a value
  std::uint64_t end;

  [[nodiscard]] range_kind kind() const { return {static_cast<element_type>(type), static_cast<form>(what), wide != 0}; }
  [[nodiscard]] std::size_t bytes() const { return sizeof(part_header) + (std::size_t{room} * value_bytes + 7) / 8 * 8; }
};
static_assert(sizeof(part_header) == 32);

part_header header_of(const onefold_message_part& part) {
  const range_kind kind = checked_kind(part.type, part.form, part.flags);
  if (part.values == 0 || part.values > most_values) refuse_number("the values of a message's part", part.values, 1, most_values);
  const bool is_free = exact::is_free_of_order(kind.what, kind.type);
  return {static_cast<std::uint8_t>(kind.type),
          static_cast<std::uint8_t>(kind.what),
          static_cast<std::uint8_t>(kind.wide ? 1 : 0),
          static_cast<std::uint8_t>(is_free ? 1 : 0),
          static_cast<std::uint16_t>(is_free ? 1 : part.values),
          static_cast<std::uint16_t>(field_bytes(kind.row())),
          0,
          0,
          0};
}

std::size_t message_bytes(const onefold_message_part* parts, std::size_t count) {
  if (count != 0 && parts == nullptr) refuse_null("parts of the message");
  if (count == 0 || count > 1000) refuse_number("the number of a message's parts", static_cast<std::int64_t>(count), 1, 1000);
  std::size_t bytes = sizeof(message_header);
  for (std::size_t i = 0; i < count; ++i) bytes += header_of(parts[i]).bytes();
  return (bytes + message_granule - 1) / message_granule * message_granule;
}

message_header& header_of(void* message) { return *static_cast<message_header*>(message); }
const message_header& header_of(const void* message) { return *static_cast<const message_header*>(message); }

[[noreturn]] void refuse_part(std::size_t which, std::size_t parts) {
  refuse_number("the number of a message's part", static_cast<std::int64_t>(which), 0, static_cast<std::int64_t>(parts) - 1);
}
// Part `which`, which must be there; its values lie behind it.
part_header& part_of(void* message, std::size_t which) {
  auto* next = static_cast<std::byte*>(message) + sizeof(message_header);
  for (; which > 0; --which) next += reinterpret_cast<part_header*>(next)->bytes();
  return *reinterpret_cast<part_header*>(next);
}
// The same where nobody knows whether it is there.
part_header& checked_part(void* message, std::size_t which) {
  if (which >= header_of(message).parts) refuse_part(which, header_of(message).parts);
  return part_of(message, which);
}
std::byte* values_of(part_header& part) { return reinterpret_cast<std::byte*>(&part + 1); }

void begin_message(void* message, std::size_t bytes, const onefold_message_part* parts, std::size_t count, std::uint64_t tag,
                   std::int32_t rank) {
  if (bytes != message_bytes(parts, count))
    refuse_number("the bytes of the message", static_cast<std::int64_t>(bytes), "what onefold_message_bytes() gives");
  if (rank < 0 || rank == std::numeric_limits<std::int32_t>::max())
    refuse_number("the rank", rank, 0, std::numeric_limits<std::int32_t>::max() - 1);
  std::memset(message, 0, bytes);
  header_of(message) = {message_magic, static_cast<std::uint32_t>(bytes), 0, static_cast<std::uint16_t>(count), 0, 0, rank,
                        rank + 1};
  auto* next = static_cast<std::byte*>(message) + sizeof(message_header);
  for (std::size_t i = 0; i < count; ++i) {
    const part_header part = header_of(parts[i]);
    std::memcpy(next, &part, sizeof(part));
    next += part.bytes();
  }
  // Of the tag and the parts, of which nothing is known yet.
  std::uint64_t hash = tag + 0x9e3779b97f4a7c15U;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t part;
    std::memcpy(&part, &part_of(message, i), sizeof(part));
    hash = (hash ^ part) * 0xbf58476d1ce4e5b9U;
    hash ^= hash >> 29;
  }
  header_of(message).signature = hash | 1;  // 0 is nobody's
}

// Complete subtrees of these tiles.
std::size_t values_between(std::uint64_t first, std::uint64_t end) {
  std::size_t count = 0;
  for_subtrees(first, end, [&](std::uint64_t, int) { ++count; });
  return count;
}

void fail(message_header& message, std::int16_t status, std::int32_t rank) {
  if (message.status != 0) return;
  message.status = status;
  message.rank = rank;
}

// Neighbouring subtrees on the stack: an operator of MPI's allocates nothing.
class few_subtrees {
 public:
  explicit few_subtrees(const cpu::form_row& row) : row_(row) {}

  // A place for the state of the next one, which push() adds.
  std::byte* next() { return nodes_[count_].state; }
  void push(std::uint64_t first, int height) {
    nodes_[count_].first = first;
    nodes_[count_].height = height;
    const default_float_environment one_operation_is_one_operation;
    for (++count_; count_ > 1 && nodes_[count_ - 1].is_right_sibling_of(nodes_[count_ - 2]); --count_) {
      subtree& parent = nodes_[count_ - 2];
      row_.level(parent.state, 2, sizeof(subtree));
      cpu::make_canonical(row_, parent.state);
      ++parent.height;
    }
  }
  void push_all(part_header& from) {
    const std::byte* values = values_of(from);
    for_subtrees(from.first, from.end, [&](std::uint64_t first, int height) {
      values = get_fields(row_, values, next());
      push(first, height);
    });
  }
  void store(part_header& to) const {
    std::byte* values = values_of(to);
    for (std::size_t i = 0; i < count_; ++i) values = put_fields(row_, nodes_[i].state, values);
  }
  [[nodiscard]] std::span<const subtree> all() const { return {nodes_, count_}; }

 private:
  const cpu::form_row& row_;
  std::size_t count_ = 0;
  subtree nodes_[most_values + 1];
};

// The values' places in states may have a gap, which no operation looks at.
void combine_values(const cpu::form_row& row, part_header& left, part_header& right, part_header& to) {
  alignas(16) std::byte a[cpu::most_node_bytes], b[cpu::most_node_bytes];
  if (left.end != 0) get_fields(row, values_of(left), a);
  if (right.end != 0) get_fields(row, values_of(right), b);
  if (left.end != 0 && right.end != 0) combine(row, a, b);
  if (left.end != 0 || right.end != 0) put_fields(row, left.end != 0 ? a : b, values_of(to));
  to.end = left.end != 0 || right.end != 0 ? 1 : 0;
}

// Adds a value of `count` elements to a part whose order matters to nobody.
void add_value(part_header& part, const cpu::form_row& row, const std::byte* value, std::uint64_t count) {
  struct {
    part_header header;
    alignas(8) std::byte value[cpu::most_node_bytes];
  } mine{part, {}};
  mine.header.end = 1;
  put_fields(row, value, mine.value);
  combine_values(row, part, mine.header, part);
  part.count += count;
}

// The tiles of elements that follow those of a part, which must have room for them. Returns where the part's begin then; nothing is changed.
std::uint64_t check_tiles(const part_header& part, const range_kind& of, std::uint64_t first, std::uint64_t count,
                          std::uint64_t total) {
  const std::uint64_t tile = of.tile(), end = first + count;
  const std::uint64_t first_tile = (first + tile - 1) / tile, end_tile = (end + tile - 1) / tile;
  if (count > 0 && (first % tile != 0 || (end % tile != 0 && end != total)))
    throw error(errc::invalid_argument,
                "a message takes whole tiles: these are the elements " + std::to_string(first) + " to " + std::to_string(end));
  const bool is_first = part.count == 0;
  if (!is_first && count > 0 && part.end != first_tile)
    throw error(errc::invalid_argument, "a message takes neighbours: its tiles end with " + std::to_string(part.end) +
                                            ", and these begin with " + std::to_string(first_tile));
  const std::uint64_t begin = is_first ? first_tile : part.first;
  if (values_between(begin, end_tile) > part.room)
    throw error(errc::invalid_argument, "the message has room for " + std::to_string(part.room) +
                                            " values, which are too few for the tiles " + std::to_string(begin) + " to " +
                                            std::to_string(end_tile));
  return begin;
}

// Appends elements to a part. Each subtree's value goes into the message without a state between.
void append_elements(part_header& part, range_reader reader, const range_input& in, std::uint64_t first, std::uint64_t count,
                     std::uint64_t total) {
  const range_kind& of = reader.of;
  const cpu::form_row& row = of.row();
  if (part.free_of_order != 0) {
    if (count == 0) return;
    if (in.made != nullptr) {
      for (subtree& node : nodes_as_made(reader, in, 0, count)) {
        cpu::shift_indices(row, node.state, first);
        add_value(part, row, node.state, 0);
      }
      part.count += count;
      return;
    }
    alignas(16) std::byte value[cpu::most_node_bytes];
    reader.reduce(in, first, count, value);
    return add_value(part, row, value, count);
  }
  const bool is_first = part.count == 0;
  const std::uint64_t begin = check_tiles(part, of, first, count, total);
  if (!is_first && count == 0) return;
  few_subtrees nodes(row);
  if (!is_first) nodes.push_all(part);
  const auto push_all = [&nodes](const std::vector<subtree>& all) {
    for (const subtree& node : all) {
      std::memcpy(nodes.next(), node.state, sizeof(node.state));
      nodes.push(node.first, node.height);
    }
  };
  if (in.made != nullptr) {
    push_all(nodes_as_made(reader, in, first / of.tile(), count));
  } else if (const std::optional<onefold_executor> gpu = count == 0 ? std::nullopt : reader.gpu_of(in)) {
    reader.where = *gpu;
    push_all(nodes_on_a_gpu(reader, in, first, count));
  } else {
    onefold_report* const report = std::exchange(reader.how.report, nullptr);
    for_subtrees_of(of, first, count, report, [&](std::uint64_t number, int height, std::uint64_t elements, onefold_report* its) {
      const std::uint64_t at = number * of.tile();
      reader.how.report = its;
      reader.reduce(in.behind(at - first, size_of(of.type)), at, elements, nodes.next());
      nodes.push(number, height);
    });
  }
  part.count += count;
  part.first = begin;
  part.end = (first + count + of.tile() - 1) / of.tile();
  nodes.store(part);
}

// The same of the values of a function that gives several, each to a part of its own.
void append_values(std::span<part_header* const> parts, range_reader reader, const range_input& in, std::uint64_t first,
                   std::uint64_t count, std::uint64_t total) {
  struct ordered {
    part_header* part;
    std::uint64_t begin;
    few_subtrees nodes;
  };
  std::vector<std::unique_ptr<ordered>> all(parts.size());  // null where the order matters to nobody
  bool has_order = false;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    part_header& part = *parts[k];
    if (part.free_of_order != 0) continue;
    const bool is_first = part.count == 0;
    all[k].reset(new ordered{&part, check_tiles(part, reader.of, first, count, total),
                             few_subtrees(reader.kind(static_cast<int>(k)).row())});
    if (!is_first) all[k]->nodes.push_all(part);
    has_order = true;
  }
  alignas(16) std::byte states[most_results * cpu::most_node_bytes];
  const auto state = [&states](std::size_t k) { return states + k * cpu::most_node_bytes; };
  onefold_report* const report = std::exchange(reader.how.report, nullptr);
  const auto reduce = [&](std::uint64_t at, std::uint64_t elements, onefold_report* its) {
    reader.how.report = its;
    reader.reduce(in.behind(at - first, size_of(reader.of.type)), at, elements, states);
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (all[k] == nullptr) add_value(*parts[k], reader.kind(static_cast<int>(k)).row(), state(k), elements);
  };
  const auto push = [&](std::size_t k, const std::byte* state_of_k, std::uint64_t number, int height) {
    std::memcpy(all[k]->nodes.next(), state_of_k, cpu::most_node_bytes);
    all[k]->nodes.push(number, height);
  };
  if (in.made != nullptr) {
    const auto made = nodes_as_made(reader, in, has_order ? first / reader.of.tile() : 0, count);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::size_t k = i % parts.size();
      if (all[k] == nullptr)
        add_value(*parts[k], reader.kind(static_cast<int>(k)).row(), made[i].state, 0);
      else
        push(k, made[i].state, made[i].first, made[i].height);
    }
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (all[k] == nullptr) parts[k]->count += count;
  } else if (!has_order && count > 0) {
    reduce(first, count, report);
  }
  if (!has_order) return;
  if (in.made == nullptr)
    for_subtrees_of(reader.of, first, count, report,
                    [&](std::uint64_t number, int height, std::uint64_t elements, onefold_report* its) {
                      reduce(number * reader.of.tile(), elements, its);
                      for (std::size_t k = 0; k < parts.size(); ++k)
                        if (all[k] != nullptr) push(k, state(k), number, height);
                    });
  for (const auto& each : all) {
    if (each == nullptr || (each->part->count > 0 && count == 0)) continue;
    each->part->count += count;
    each->part->first = each->begin;
    each->part->end = (first + count + reader.of.tile() - 1) / reader.of.tile();
    each->nodes.store(*each->part);
  }
}

// The parts `which` .. of a message for the values of one function: of one kind, or sums, products and extrema.
void add_values(void* message, std::size_t which, std::size_t results, const onefold_executor& where, const range_input& in,
                std::uint64_t first, std::uint64_t count, std::uint64_t total, const onefold_options* how) {
  const std::size_t there = header_of(message).parts;
  if (results < 1 || results > most_results)
    refuse_number("the number of results of a function", static_cast<std::int64_t>(results), 1, most_results);
  if (which >= there || results > there - which) refuse_part(which + results - 1, there);
  part_header* parts[most_results];
  operation operators[most_results];
  bool is_one_kind = true, are_operators = true;
  for (std::size_t k = 0; k < results; ++k) {
    parts[k] = &part_of(message, which + k);
    const range_kind kind = parts[k]->kind();
    is_one_kind = is_one_kind && kind == parts[0]->kind();
    are_operators =
        are_operators && kind.type == parts[0]->kind().type && !kind.wide && static_cast<int>(kind.what) < operation_count;
    if (are_operators) operators[k] = static_cast<operation>(kind.what);
  }
  if (!is_one_kind && !are_operators)
    throw error(errc::invalid_argument,
                "the values of one function go to parts of one form and type, or of sums, products, minima and maxima");
  if (is_one_kind && results > 1 && is_record(parts[0]->kind().what))
    throw error(errc::invalid_argument, "forms with several results take functions of one value");
  const onefold_options wishes = checked_options(how);
  range_reader reader{parts[0]->kind(), where, wishes};
  check_end(reader.of, first, count);
  if (results == 1) return append_elements(*parts[0], reader, in, first, count, total);
  reader.results = static_cast<int>(results);
  if (!is_one_kind) reader.operators = operators;
  append_values({parts, results}, reader, in, first, count, total);
}

// Of values of trees that code of the caller's makes.
void add_own(void* message, std::size_t which, const onefold_executor& where, const onefold_own_code* own, std::uint64_t from,
             std::uint64_t first, std::uint64_t count, std::uint64_t total, const onefold_options* how) {
  part_header& part = checked_part(message, which);
  if (own == nullptr) refuse_null("own code");
  const range_kind kind = part.kind();
  if (part.free_of_order != 0)
    throw error(errc::unsupported, kind.text() + " has no trees in a message: its elements come in any order");
  const bool has_lanes = own->value_bytes >= 1 && own->value_bytes <= most_value_bytes &&
                         order::tile_rows * static_cast<std::uint64_t>(order::lanes_of_bytes(own->value_bytes)) == kind.tile();
  if (!has_lanes) refuse_number("value_bytes of the own code", own->value_bytes, "what has rows as long as those of the part");
  if (own->state_bytes != kind.row().state_bytes)
    refuse_number("state_bytes of the own code", own->state_bytes, std::to_string(kind.row().state_bytes));
  const onefold_options wishes = checked_options(how);
  check_end(kind, first, count);
  append_elements(part, {kind, where, wishes}, {nullptr, nullptr, nullptr, from, own}, first, count, total);
}

// `right` becomes the part of both.
void merge_parts(part_header& left, part_header& right) {
  const cpu::form_row& row = right.kind().row();
  right.count += left.count;
  if (right.free_of_order != 0) return combine_values(row, left, right, right);
  const default_float_environment one_operation_is_one_operation;
  few_subtrees nodes(row);
  nodes.push_all(left);
  nodes.push_all(right);
  right.first = left.first;
  nodes.store(right);
}

void merge(const void* left_message, void* right_message) {
  const message_header& left = header_of(left_message);
  message_header& right = header_of(right_message);
  if (right.magic != message_magic) return;  // no message, and no room to say so
  const std::int32_t begin_of_right = right.first_rank;
  const bool are_neighbours = left.magic == message_magic && left.end_rank == right.first_rank;
  if (left.magic == message_magic && left.status != 0) {  // of several ranks that know something the first is named
    right.status = left.status;
    right.rank = left.rank;
  } else if (left.magic != message_magic || left.bytes != right.bytes || left.signature != right.signature) {
    fail(right, different_calls, begin_of_right);
  } else if (!are_neighbours) {
    fail(right, wrong_order, begin_of_right);
  }
  if (left.magic == message_magic) {
    right.first_rank = std::min(left.first_rank, right.first_rank);
    right.end_rank = std::max(left.end_rank, right.end_rank);
  }
  if (right.status != 0) return;
  auto* left_next = static_cast<std::byte*>(const_cast<void*>(left_message)) + sizeof(message_header);
  auto* right_next = static_cast<std::byte*>(right_message) + sizeof(message_header);
  for (int i = 0; i < right.parts; ++i) {
    auto& a = *reinterpret_cast<part_header*>(left_next);
    auto& b = *reinterpret_cast<part_header*>(right_next);
    left_next += a.bytes();
    right_next += b.bytes();
    if (b.free_of_order == 0 && (a.end != b.first || values_between(a.first, b.end) > b.room))
      return fail(right, wrong_order, begin_of_right);
    merge_parts(a, b);
  }
}

// Says why a message has no result: its status, or, where it has none, because its ranks are not all ranks.
[[noreturn]] void refuse_message(const message_header& header) {
  const std::string rank = "rank " + std::to_string(header.rank);
  if (header.status == wrong_order || header.status == 0)
    throw error(errc::communication_failed,
                "the messages of the ranks were combined in another order than that of the ranks, which "
                "operators that do not commute need: found at " +
                    rank);
  if (header.status == different_calls)
    throw error(errc::communication_failed, "the ranks do not ask for the same reductions: the forms, types or options of " + rank +
                                                " are not those of the ranks before it");
  if (header.status == given_up) throw error(errc::communication_failed, rank + " has given the reduction up");
  throw error(errc::communication_failed, rank + " could not take part in the reduction (" +
                                              std::string(name(static_cast<errc>(header.status))) +
                                              "): what is thrown there says why");
}

// Elements are copied on the terms of a form that all types have, and complex numbers the largest tiles in.
constexpr std::int32_t form_of_copies = ONEFOLD_NORM1;

// `present`: of a mean, how many of the elements do not stand for absent values.
void store_result(const void* message, std::size_t which, std::int32_t ranks, std::uint64_t total, std::int64_t ddof, void* to,
                  std::optional<std::uint64_t> present = std::nullopt) {
  const message_header& header = header_of(message);
  if (header.magic != message_magic) throw error(errc::communication_failed, "these bytes are not the message of a reduction");
  if (which >= header.parts) refuse_part(which, header.parts);
  if (header.status != 0 || header.first_rank != 0 || header.end_rank != ranks) refuse_message(header);
  part_header& part = part_of(const_cast<void*>(message), which);
  const range_kind kind = part.kind();
  const cpu::form_row& row = kind.row();
  if (part.count != total && !(part.free_of_order != 0 && total == std::numeric_limits<std::uint64_t>::max()))
    throw error(errc::communication_failed,
                "the ranks have " + std::to_string(part.count) + " elements together, and not " + std::to_string(total));
  if (present && kind.what != form::mean)
    throw error(errc::unsupported, kind.text() + " is not divided by the number of values that are there: a mean is");
  if (present && *present > part.count)
    refuse_number("the number of values that are there", static_cast<std::int64_t>(*present), "no more than there are elements");
  const std::uint64_t count = present.value_or(part.count);
  if (count == 0) return store_result_of_none(kind, to);
  alignas(16) std::byte state[cpu::most_node_bytes];
  const std::byte* next = values_of(part);
  if (part.free_of_order != 0) {
    get_fields(row, next, state);
  } else {
    few_subtrees nodes(row);
    nodes.push_all(part);
    fold_from_right(row, nodes.all(), false, state);
  }
  const default_float_environment one_operation_is_one_operation;
  row.conclude(row, state, count, ddof, to);
}

}  // namespace

}  // namespace onefold::detail

using namespace onefold::detail;

struct onefold_range {
  std::variant<form_range, own_range> is;
};

namespace {

// Calls one of the two for what a state is.
template <class State, class OfForm, class OfOwn>
decltype(auto) look_at(State* state, const OfForm& of_form, const OfOwn& of_own) {
  if (state == nullptr) refuse_null("state");
  if (auto* const own = std::get_if<own_range>(&state->is)) return of_own(*own);
  return of_form(std::get<form_range>(state->is));
}

// For what operators of the caller's do not have.
template <class State>
auto& of_a_form(State* state) {
  using found = std::conditional_t<std::is_const_v<State>, const form_range, form_range>;
  return look_at(
      state, [](auto& form) -> found& { return form; },
      [](auto&) -> found& {
        throw onefold::error(
            onefold::errc::unsupported,
            "the state of an operator of your own has no images: its elements lie in host memory, and CPUs reduce them");
      });
}

[[noreturn]] void refuse_other_kind() {
  throw onefold::error(onefold::errc::invalid_argument,
                       "a state of a form of the library's and one of an operator of your own cannot be appended to each other");
}

std::size_t bytes_of_any(const onefold_range& state) {
  return look_at(
      &state, [](const form_range& of) { return bytes_of(of); }, [](const own_range& of) { return of.bytes(); });
}

}  // namespace

int onefold_range_create(int32_t type, int32_t form, uint32_t flags, uint64_t begin, onefold_range** made) {
  return guarded([&] {
    if (made == nullptr) refuse_null("place of the new state");
    *made = new onefold_range{create(checked_kind(type, form, flags), begin)};
  });
}

int onefold_range_create_together(int32_t type, const uint8_t* operators, size_t count, uint64_t begin, onefold_range** made) {
  return guarded([&] {
    if (made == nullptr) refuse_null("place of the new state");
    *made = new onefold_range{create(checked_together(type, operators, count), begin)};
  });
}

int onefold_range_create_own(const onefold_own_operator* of, uint64_t begin, onefold_range** made) {
  return guarded([&] {
    if (made == nullptr) refuse_null("place of the new state");
    if (of == nullptr) refuse_null("own operator");
    *made = new onefold_range{own_range(*of, begin)};
  });
}

void onefold_range_destroy(onefold_range* state) { delete state; }

int onefold_range_add(onefold_range* state, onefold_executor where, const void* x, const void* y, uint64_t count,
                      const onefold_options* how) {
  return guarded([&] {
    look_at(
        state, [&](form_range& to) { add(to, where, arrays_at(x, to.of.has_two_inputs() ? y : nullptr), count, how); },
        [&](own_range& to) { to.add(where, x, count, how); });
  });
}

int onefold_range_add_products(onefold_range* state, onefold_executor where, const onefold_products* of, uint64_t count,
                               const onefold_options* how) {
  return guarded([&] {
    const types_of_dot types = checked_types(of);
    look_at(
        state,
        [&](form_range& to) {
          check_takes_products(to.of, types);
          add(to, where, products_of(*of, types, 0), count, how);
        },
        [](own_range&) {
          throw onefold::error(onefold::errc::unsupported, "the state of an operator of your own takes no products of two arrays");
        });
  });
}

int onefold_range_add_made(onefold_range* state, const onefold_made_values* values, uint64_t count, const onefold_options* how) {
  return guarded([&] {
    const onefold_value_source source = source_of(values);
    range_input in = values_of(&source, 0);
    in.made = values;
    look_at(
        state, [&](form_range& to) { add(to, onefold_serial(), in, count, how); },
        [](own_range&) {
          throw onefold::error(onefold::errc::unsupported,
                               "a state of an operator in C takes no values that are reduced where they are made");
        });
  });
}

int onefold_range_add_values(onefold_range* state, onefold_executor where, const onefold_value_source* source, uint64_t count,
                             const onefold_options* how) {
  return guarded([&] {
    look_at(
        state, [&](form_range& to) { add(to, where, values_of(source, 0), count, how); },
        [&](own_range& to) { to.add_values(where, source, count, how); });
  });
}

int onefold_range_add_parts(onefold_range* state, const onefold_range_part* parts, size_t count, const onefold_options* how) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (count > 0 && parts == nullptr) refuse_null("list of parts");
    const std::span<const onefold_range_part> all(parts, count);
    look_at(
        state, [&](form_range& to) { add_parts(to, all, how); }, [&](own_range& to) { to.add_parts(all, how); });
  });
}

int onefold_range_image_bytes(const onefold_range* state, uint64_t count, size_t* bytes) {
  return guarded([&] {
    const form_range& before = of_a_form(state);
    if (bytes == nullptr) refuse_null("place of the size");
    *bytes = image_bytes(before, count);
  });
}

int onefold_range_put_image(const onefold_range* state, onefold_executor where, const void* x, const void* y, uint64_t count,
                            void* image, const onefold_options* how) {
  return guarded([&] {
    const form_range& before = of_a_form(state);
    put_image(before, where, arrays_at(x, before.of.has_two_inputs() ? y : nullptr), count, image, how);
  });
}

int onefold_range_add_image(onefold_range* state, const void* image, uint64_t count) {
  return guarded([&] { add_image(of_a_form(state), image, count); });
}

int onefold_range_can_join_images(int32_t type, int32_t form, uint32_t flags, size_t parts, uint64_t total) {
  int can = 0;
  const int status = guarded([&] {
    const range_kind of = checked_kind(type, form, flags);
    can = can_join_images({of.type, of.what, of.wide, nullptr, 0, nullptr, parts, total, 0}) ? 1 : 0;
  });
  return status == ONEFOLD_OK ? can : 0;
}

int onefold_range_load_join_images(int32_t type, int32_t form, uint32_t flags, onefold_executor where) {
  return guarded([&] {
    const range_kind of = checked_kind(type, form, flags);
    const images_of_parts all{of.type, of.what, of.wide, nullptr, 0, nullptr, 1, 1, 0};
    check_can_join(where, all);
    find_backend(onefold::backend::cuda)->load_join_images(executor_of(where), all);
  });
}

int onefold_range_join_images(int32_t type, int32_t form, uint32_t flags, onefold_executor where, const void* images, size_t stride,
                              const uint64_t* borders, size_t parts, uint64_t total, void* result) {
  return onefold_range_join_images_ddof(type, form, flags, 0, where, images, stride, borders, parts, total, result);
}

int onefold_range_join_images_ddof(int32_t type, int32_t form, uint32_t flags, int64_t ddof, onefold_executor where,
                                   const void* images, size_t stride, const uint64_t* borders, size_t parts, uint64_t total,
                                   void* result) {
  return guarded([&] {
    const range_kind of = checked_kind(type, form, flags);
    join_images(where, {of.type, of.what, of.wide, images, stride, borders, parts, total, ddof}, result);
  });
}

int onefold_range_append(onefold_range* state, const onefold_range* next) {
  return guarded([&] {
    look_at(
        state,
        [next](form_range& to) {
          look_at(
              next, [&to](const form_range& from) { append(to, from); }, [](const own_range&) { refuse_other_kind(); });
        },
        [next](own_range& to) {
          look_at(
              next, [](const form_range&) { refuse_other_kind(); }, [&to](const own_range& from) { to.append(from); });
        });
  });
}

int onefold_range_result(const onefold_range* state, int64_t ddof, void* result) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (result == nullptr) refuse_null("result");
    look_at(
        state, [&](const form_range& of) { store_result(of, ddof, result); },
        [&](const own_range& of) { of.store_result(result); });
  });
}

uint64_t onefold_range_begin(const onefold_range* state) {
  if (state == nullptr) return 0;
  return look_at(
      state, [](const form_range& of) { return of.begin; }, [](const own_range& of) { return of.begin(); });
}
uint64_t onefold_range_end(const onefold_range* state) {
  if (state == nullptr) return 0;
  return look_at(
      state, [](const form_range& of) { return of.end; }, [](const own_range& of) { return of.end(); });
}
size_t onefold_range_bytes(const onefold_range* state) { return state == nullptr ? 0 : bytes_of_any(*state); }

int onefold_range_write(const onefold_range* state, void* bytes, size_t size) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (bytes == nullptr) refuse_null("place of the bytes");
    if (size != bytes_of_any(*state))
      throw onefold::error(onefold::errc::invalid_argument, "the state takes " + std::to_string(bytes_of_any(*state)) +
                                                                " bytes, and room was given for " + std::to_string(size));
    auto* const to = static_cast<std::byte*>(bytes);
    look_at(
        state, [to](const form_range& of) { write(of, to); }, [to](const own_range& of) { of.write(to); });
  });
}

int onefold_range_read(onefold_range* state, const void* bytes, size_t size) {
  return guarded([&] {
    if (state == nullptr) refuse_null("state");
    if (bytes == nullptr && size != 0) refuse_null("place of the bytes");
    const auto* const from = static_cast<const std::byte*>(bytes);
    look_at(
        state, [&](form_range& to) { to = read(to.of, from, size); }, [&](own_range& to) { to.read(from, size); });
  });
}

int onefold_copy_elements(int32_t type, onefold_executor where, const void* x, uint64_t count, void* to) {
  return guarded([&] {
    const range_kind kind = checked_kind(type, form_of_copies, 0);
    if (count >= kind.tile())
      throw onefold::error(onefold::errc::invalid_argument,
                           "fewer elements than a tile has are copied, and not " + std::to_string(count));
    if (count == 0) return;
    if (to == nullptr) refuse_null("place of the elements");
    const range_reader reader{kind, where, checked_options(nullptr)};
    reader.check(arrays_at(x, nullptr), count);
    reader.copy(to, x, static_cast<std::size_t>(count) * onefold::size_of(kind.type));
  });
}

int onefold_copy_products(int32_t type, onefold_executor where, const onefold_products* of, uint64_t from, uint64_t count,
                          void* to) {
  return guarded([&] {
    const range_kind kind = checked_kind(type, ONEFOLD_SUM, 0);
    const types_of_dot types = checked_types(of);
    check_takes_products(kind, types);
    if (count >= kind.tile())
      throw onefold::error(onefold::errc::invalid_argument,
                           "fewer products than a tile has are copied, and not " + std::to_string(count));
    if (count == 0) return;
    if (to == nullptr) refuse_null("place of the products");
    range_reader reader{kind, where, checked_options(nullptr)};
    const range_input in = products_of(*of, types, from);
    if (const std::optional<onefold_executor> gpu = reader.gpu_of(in)) reader.where = *gpu;
    reader.check(in, count);
    const raw_elements kept = keep(reader, in, count);
    std::memcpy(to, kept.x.data(), kept.x.size());
  });
}

int onefold_copy_values(int32_t type, onefold_executor where, const onefold_value_source* source, uint64_t from, uint64_t count,
                        void* const* to) {
  return guarded([&] {
    const range_kind kind = checked_kind(type, form_of_copies, 0);
    if (count >= kind.tile())
      throw onefold::error(onefold::errc::invalid_argument,
                           "fewer values than a tile has are made, and not " + std::to_string(count));
    if (count == 0) return;
    if (to == nullptr) refuse_null("list of the values' places");
    const range_input in = values_of(source, from);
    range_reader{kind, where, checked_options(nullptr)}.check(in, count);
    make_values(in, count, to);
  });
}

size_t onefold_message_bytes(const onefold_message_part* parts, size_t count) {
  size_t bytes = 0;
  return guarded([&] { bytes = message_bytes(parts, count); }) == ONEFOLD_OK ? bytes : 0;
}

int onefold_message_begin(void* message, size_t bytes, const onefold_message_part* parts, size_t count, uint64_t tag,
                          int32_t rank) {
  return guarded([&] {
    if (message == nullptr) refuse_null("place of the message");
    begin_message(message, bytes, parts, count, tag, rank);
  });
}

uint64_t onefold_message_signature(const void* message) { return header_of(message).signature; }

int onefold_message_add(void* message, size_t which, onefold_executor where, const void* x, const void* y, uint64_t first,
                        uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    part_header& part = checked_part(message, which);
    const range_kind kind = part.kind();
    const onefold_options wishes = checked_options(how);
    check_end(kind, first, count);
    append_elements(part, {kind, where, wishes}, arrays_at(x, kind.has_two_inputs() ? y : nullptr), first, count, total);
  });
}

int onefold_message_add_products(void* message, size_t which, onefold_executor where, const onefold_products* of, uint64_t from,
                                 uint64_t first, uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    part_header& part = checked_part(message, which);
    const range_kind kind = part.kind();
    const types_of_dot types = checked_types(of);
    check_takes_products(kind, types);
    const onefold_options wishes = checked_options(how);
    check_end(kind, first, count);
    append_elements(part, {kind, where, wishes}, products_of(*of, types, from), first, count, total);
  });
}

int onefold_message_add_values(void* message, size_t which, size_t results, onefold_executor where,
                               const onefold_value_source* source, uint64_t from, uint64_t first, uint64_t count, uint64_t total,
                               const onefold_options* how) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    add_values(message, which, results, where, values_of(source, from), first, count, total, how);
  });
}

int onefold_message_add_made(void* message, size_t which, size_t results, const onefold_made_values* values, uint64_t from,
                             uint64_t first, uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    const onefold_value_source source = source_of(values);
    range_input in = values_of(&source, from);
    in.made = values;
    add_values(message, which, results, onefold_serial(), in, first, count, total, how);
  });
}

int onefold_message_add_own(void* message, size_t which, onefold_executor where, const onefold_own_code* own, uint64_t from,
                            uint64_t first, uint64_t count, uint64_t total, const onefold_options* how) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    add_own(message, which, where, own, from, first, count, total, how);
  });
}

void onefold_message_fail(void* message, int32_t status, int32_t rank) {
  const bool is_known = status > ONEFOLD_OK && status < ONEFOLD_COMMUNICATION_FAILED;
  fail(header_of(message), is_known ? static_cast<std::int16_t>(status) : status == ONEFOLD_OK ? given_up : different_calls, rank);
}

void onefold_message_merge(const void* left, void* right) { merge(left, right); }

int onefold_message_result(const void* message, size_t which, int32_t ranks, uint64_t total, int64_t ddof, void* result) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    if (result == nullptr) refuse_null("result");
    store_result(message, which, ranks, total, ddof, result);
  });
}

int onefold_message_mean_of_present(const void* message, size_t which, int32_t ranks, uint64_t total, uint64_t present,
                                    void* result) {
  return guarded([&] {
    if (message == nullptr) refuse_null("message");
    if (result == nullptr) refuse_null("result");
    store_result(message, which, ranks, total, 0, result, present);
  });
}

int onefold_is_free_of_order(int32_t type, int32_t form) {
  const bool has_type = (type >= 0 && type < onefold::element_type_count) || type == ONEFOLD_C64 || type == ONEFOLD_C128;
  if (!has_type || form < 0 || form > ONEFOLD_REDUCE_TOGETHER) return 0;
  return exact::is_free_of_order(static_cast<onefold::form>(form), static_cast<onefold::element_type>(type)) ? 1 : 0;
}
