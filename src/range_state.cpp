/// @file range_state.cpp  The state of a range of elements: what tree v1 makes of a part of an array, whatever comes before and behind it.
///
/// Operations of the tree are done as soon as both operands are final, and no others. So a state is a function of its elements and of where they
/// stand, however it came about:
///
///     begin              a tile's border                 a tile's border           end
///       | head, elements | nodes, complete aligned subtrees     | tail, elements   |

#include "range.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>

#include <onefold/detail/own_subtree.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "../backends/float_environment.hpp"
#include "../backends/no_elements.hpp"
#include "c_api.hpp"
#include "complex.hpp"
#include "dispatch.hpp"
#include "own_range.hpp"
#include "pointer_kind.hpp"

namespace onefold::detail::ranges {

// --- elements ------------------------------------------------------------------------------------------------------------------------------------

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

namespace {

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

}  // namespace

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
  onefold_options known = known_options(how);
  if (known.guarantee == ONEFOLD_GUARANTEE_EXACT)
    throw error(errc::guarantee_not_met,
                "the state of a range has a fixed order: states of exact sums are those of exact_state and onefold_exact_add()");
  if (known.guarantee < 0 || known.guarantee > ONEFOLD_GUARANTEE_EXACT)
    refuse_number("options.guarantee", known.guarantee, "one of onefold_guarantee");
  known.guarantee = ONEFOLD_GUARANTEE_FIXED;
  check_shape(known.knobs.block_size, known.knobs.grid_size, known.knobs.width);
  if (known.variant != nullptr) {
    const std::string_view variant(known.variant, known.variant_bytes == 0 ? std::strlen(known.variant) : known.variant_bytes);
    if (!variant.empty() && variant != "fixed_order")
      throw error(errc::unsupported, "the state of a range is made by fixed_order alone: leave the variant's name away");
  }
  return known;
}

void form_range::push(const subtree* next) {
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

void range_reader::copy(void* to, const void* from, std::size_t bytes) const {
  const pointer_place place = locate(from);
  if (place.kind != pointer_kind::device) {
    std::memcpy(to, from, bytes);
    return;
  }
  const executor there = where.backend == ONEFOLD_BEST ? cuda(place.device) : executor_of(where);
  find_backend(backend::cuda)->read_back(there, to, from, bytes);
}

std::optional<onefold_executor> range_reader::gpu_of(const range_input& in) const {
  if ((where.backend != ONEFOLD_CUDA && where.backend != ONEFOLD_BEST) || in.source != nullptr || in.own != nullptr)
    return std::nullopt;
  const auto is_for_it = [this](pointer_kind kind) {
    return kind == pointer_kind::device || (kind == pointer_kind::managed && where.backend == ONEFOLD_CUDA);
  };
  const pointer_place place = locate(in.x);
  if (!is_for_it(place.kind) || (reads_second(in) && !is_for_it(locate(in.y).kind))) return std::nullopt;
  return where.backend == ONEFOLD_CUDA ? where : onefold_cuda_device(place.device);
}

bool range_reader::may_go_to_a_gpu(const range_input& in) const {
  if (where.backend == ONEFOLD_CUDA) return true;
  return where.backend == ONEFOLD_BEST && in.source == nullptr && locate(in.x).kind != pointer_kind::host;
}

onefold_request range_reader::request(const range_input& in, std::uint64_t count, void* result, void* tree_value) const {
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

void range_reader::reduce(const range_input& in, std::uint64_t first, std::uint64_t count, std::byte* states,
                          std::size_t stride) const {
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

void range_reader::check(const range_input& in, std::uint64_t asked) const {
  if (in.source == nullptr && in.own == nullptr)
    for (const void* const array : {in.x, reads_second(in) ? in.y : in.x})
      if (array == nullptr) refuse_null_array(array == in.x ? "input" : "second input", asked);
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

range_reader reader_of(const range_kind& of, const onefold_executor& where, const onefold_options& how) {
  return {of, where, how, static_cast<int>(of.results()), of.is_together() ? of.operators.data() : nullptr};
}

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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

// --- on a GPU: all that is wanted of a range is put on the stream before the host waits, once ---------------------------------------------------

namespace {

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

}  // namespace

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

namespace {

void read_and_wait(const range_reader& reader, const gpu_reading& what) {
  const auto batch = put_on_stream(what, reader.how);
  batch->wait(what.node_count());
  store(what, batch->data());
}

}  // namespace

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

namespace {

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

// Of reduce_together, made of a state for each operator: as many reads.
form_range state_of_each(const range_reader& reader, std::uint64_t begin, const range_input& in, std::uint64_t count) {
  form_range all{reader.of, begin, begin + count};
  for (std::size_t k = 0; k < reader.of.results(); ++k) {
    const range_kind alone = reader.kind(static_cast<int>(k));
    range_reader its{alone, reader.where, reader.how};
    if (k > 0) its.how.report = nullptr;
    take_operator(all, k, state_of(its, begin, in, count));
  }
  return all;
}

}  // namespace

void take_operator(form_range& all, std::size_t which, form_range one) {
  const std::size_t results = all.of.results();
  all.nodes.resize(results * one.nodes.size());
  for (std::size_t i = 0; i < one.nodes.size(); ++i) all.nodes[results * i + which] = one.nodes[i];
  all.head = std::move(one.head);  // the same elements each time
  all.tail = std::move(one.tail);
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

void check_can_be_made(const range_kind& of) {
  if (of.has_two_inputs() || is_complex(of.type) || is_small(of.type))
    throw error(errc::unsupported,
                "values that are reduced where they are made are real numbers of 4 or 8 bytes, and of dot there are none: not " +
                    of.text());
}

types_of_dot checked_types(const onefold_products* of) {
  if (of == nullptr) refuse_null("description of the products");
  const std::int32_t x_type = of->x_type, y_type = of->y_type;
  if (x_type < 0 || x_type >= element_type_count) refuse_number("the type of the first array", x_type, "a type of real numbers");
  if (y_type < 0 || y_type >= element_type_count) refuse_number("the type of the second array", y_type, "a type of real numbers");
  return {static_cast<element_type>(x_type), static_cast<element_type>(y_type)};
}

namespace {

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

}  // namespace

void check_takes_products(const range_kind& of, const types_of_dot& types) {
  if (of.what != form::sum || of.wide)
    throw error(errc::unsupported, "products of two types are added to sums of the type that they have, and not to " + of.text());
  check_type_of_products(of.type, types);
}

// --- results ------------------------------------------------------------------------------------------------------------------------------------

// The value of neighbouring subtrees, and of what `state` holds, if anything, to the right of them: a node without a right sibling goes up to
// the level where it is one itself. Of nodes of several results those of one: its value in every node is `results` behind that in the node before.
void fold_from_right(const cpu::form_row& row, std::span<const subtree> nodes, bool has_value, std::byte* state,
                     std::size_t results, std::size_t result) {
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

// --- kinds --------------------------------------------------------------------------------------------------------------------------------------

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

}  // namespace onefold::detail::ranges
