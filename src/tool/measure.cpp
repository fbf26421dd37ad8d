#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <utility>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/detail/pieces.hpp>

#include "any_form.hpp"
#include "any_range.hpp"
#include "device_buffer.hpp"
#include "input_error.hpp"

namespace onefold::tool {

namespace {

bool runs_on_gpu(const executor& where) { return !where.chooses_itself() && where.backend() == backend::cuda; }

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

// Calls body(first, length) for each piece of the input.
template <class Body>
void each_piece(const input_array& input, Body&& body) {
  const std::uint64_t most = piece_bytes / size_of(input.type);
  for (std::uint64_t first = 0; first < input.count; first += most) body(first, std::min(most, input.count - first));
}

void copy_to_gpu(std::optional<device_buffer>& copy, int device, const input_array& input) {
  copy.emplace(device, input.bytes());
  if (!input.in_pieces()) return copy->put(0, input.data, input.bytes());
  each_piece(input, [&](std::uint64_t first, std::uint64_t length) {
    copy->put(first * size_of(input.type), input.piece(first, length), length * size_of(input.type));
  });
}

// Whether the elements go through a GPU in pieces and are not held there: many that are reduced once. Runs of a variant of the lectures, and
// those that are repeated, are to tell what the GPU takes, and not what the bus does.
bool goes_through_gpu(const input_array& input, const input_array* second, const job& what) {
  const std::uint64_t bytes = input.bytes() + (second == nullptr ? 0 : second->bytes());
  return what.repeat == 0 && bytes > whole_bytes && detail::piecewise_reduction::is_for(what.where, what.form, what.how);
}

// One run, and how long the reductions in it took.
struct timed_bits {
  std::optional<result_bits> bits;
  double seconds;
};

timed_bits reduce_whole(const executor& where, const form_request& request, const options& how) {
  const auto begin = clock::now();
  const result_bits bits = reduce_bits(where, request, how);
  return {bits, seconds_since(begin)};
}

// Without the time that the pieces take to be read. The report is that of the first piece, which is not a short last one.
timed_bits reduce_in_pieces(const input_array& input, const input_array* second, const job& what, report& ran,
                            std::vector<std::int64_t>& state) {
  detail::piecewise_reduction reduction(what.where, input.type, what.form, what.wide, piece_tiles, what.ddof);
  double seconds = 0;
  each_piece(input, [&](std::uint64_t first, std::uint64_t length) {
    const std::byte* const x = input.piece(first, length);
    const std::byte* const y = second == nullptr ? nullptr : second->piece(first, length);
    options how = what.how;
    how.report = first == 0 ? &ran : nullptr;
    const auto begin = clock::now();
    reduction.add(x, y, length, how);
    seconds += seconds_since(begin);
  });
  alignas(std::uint64_t) std::byte results[sizeof(result_bits)] = {};
  reduction.result(results);
  if (what.keeps_state) reduction.exact_state(state.data());
  return {bits_of_stored(input.type, what.form, what.wide, results), seconds};
}

// The state of the elements, to which pieces are added one after the other. The report is that of the first, as above. The only way for pieces of
// complex numbers.
timed_bits reduce_to_range(const input_array& input, const input_array* second, const job& what, const form_request& request,
                           bool in_pieces, report& ran, std::vector<std::byte>& bytes) {
  any_range range({input.type, what.form, what.wide}, what.begin.value_or(0));
  // States have a fixed order, which gives what is exact in every order.
  const bool is_exact_so =
      what.how.guarantee == guarantee::exact && !what.begin && detail::exact::is_exact_in_any_order(what.form, input.type);
  double seconds = 0;
  const auto add = [&](std::uint64_t first, const void* x, const void* y, std::uint64_t length) {
    options how = what.how;
    how.report = first == 0 ? &ran : nullptr;
    if (is_exact_so) how.guarantee = guarantee::fixed;
    const auto begin = clock::now();
    range.add(what.where, x, y, length, how);
    seconds += seconds_since(begin);
  };
  if (in_pieces) {
    each_piece(input, [&](std::uint64_t first, std::uint64_t length) {
      add(first, input.piece(first, length), second == nullptr ? nullptr : second->piece(first, length), length);
    });
  } else {
    add(0, request.x, request.y, request.count);
  }
  if (is_exact_so) ran.guarantee = guarantee::exact;
  if (what.begin) bytes = range.bytes();
  return {range.result(what.ddof), seconds};
}

// The exact sum of pieces of complex numbers, to whose state each piece's is added. The report is that of the first, as above.
timed_bits reduce_to_exact_state(const input_array& input, const input_array* second, const job& what, form_request request,
                                 report& ran, std::vector<std::int64_t>& state) {
  state.assign(state_words(input.type, what.form), 0);
  std::vector<std::int64_t> words(state.size());
  double seconds = 0;
  each_piece(input, [&](std::uint64_t first, std::uint64_t length) {
    request.x = input.piece(first, length);
    request.y = second == nullptr ? nullptr : second->piece(first, length);
    request.count = length;
    request.exact_state = words.data();
    options how = what.how;
    how.report = first == 0 ? &ran : nullptr;
    const auto begin = clock::now();
    static_cast<void>(reduce_bits(what.where, request, how));
    add_state(input.type, what.form, state, words);
    seconds += seconds_since(begin);
  });
  return {results_of_state(input.type, what.form, what.wide, what.ddof, state), seconds};
}

// Whether it was the default that ran: what no order changes, it computes exactly.
bool is_default(const report& ran) { return ran.variant == "fixed_order"; }

std::optional<result_bits> default_result(const input_array& input, const input_array* second, job what, form_request request,
                                          bool in_pieces) {
  what.how = {};
  what.keeps_state = false;
  request.exact_state = nullptr;
  report ran;
  std::vector<std::int64_t> no_state;
  std::vector<std::byte> no_range;
  if (in_pieces && is_complex(input.type)) return reduce_to_range(input, second, what, request, true, ran, no_range).bits;
  if (in_pieces) return reduce_in_pieces(input, second, what, ran, no_state).bits;
  return reduce_bits(what.where, request, what.how);
}

// Starts the backend outside the timed region, and refuses what cannot run before gigabytes are copied.
void start(const job& what, element_type type, const options& how) {
  form_request request{type, what.form, what.wide, nullptr, nullptr, 0, what.ddof};
  if (what.begin) any_range({type, what.form, what.wide}, *what.begin).add(what.where, nullptr, nullptr, 0, how);
  if (!has_index(what.form)) return static_cast<void>(reduce_bits(what.where, request, how));
  // Of nothing there is no first index: of one element.
  alignas(8) constexpr std::byte zero[8] = {};
  std::optional<device_buffer> copy;
  request.x = zero;
  request.count = 1;
  if (runs_on_gpu(what.where)) {
    static_cast<void>(reduce_bits(what.where, {type, form::max, false, nullptr, nullptr, 0}, {}));  // says why there is no GPU
    request.x = copy.emplace(what.where.device(), zero, sizeof(zero)).data();
  }
  static_cast<void>(reduce_bits(what.where, request, how));
}

}  // namespace

double outcome::median_seconds() const noexcept {
  const std::size_t n = seconds.size();
  return n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

outcome measure(const input_array& input, const input_array* second, const job& what) {
  outcome result{};
  result.warm = what.repeat > 0;
  options how = what.how;
  how.report = &result.ran;
  start(what, input.type, how);

  form_request request{input.type, what.form, what.wide, nullptr, nullptr, input.count, what.ddof};
  std::optional<device_buffer> copy, second_copy;
  result.copies_are_timed = runs_on_gpu(what.where) && goes_through_gpu(input, second, what);
  const bool is_copied = runs_on_gpu(what.where) && !result.copies_are_timed;
  if (is_copied) {
    copy_to_gpu(copy, what.where.device(), input);
    request.x = copy->data();
    result.copy_seconds = copy->copy_seconds();
    if (second != nullptr) {
      copy_to_gpu(second_copy, what.where.device(), *second);
      request.y = second_copy->data();
      *result.copy_seconds += second_copy->copy_seconds();
    }
  } else {
    request.x = input.data;
    request.y = second == nullptr ? nullptr : second->data;
  }

  const bool in_pieces = !is_copied && (input.in_pieces() || (second != nullptr && second->in_pieces()));
  if (what.keeps_state) {
    result.state.resize(state_words(input.type, what.form));
    request.exact_state = result.state.data();
  }
  const bool adds_exactly = how.guarantee == guarantee::exact && state_words(input.type, what.form) > 0;
  const auto reduce = [&] {
    if (in_pieces && is_complex(input.type) && adds_exactly)
      return reduce_to_exact_state(input, second, what, request, result.ran, result.state);
    if (what.begin || (in_pieces && is_complex(input.type)))
      return reduce_to_range(input, second, what, request, in_pieces, result.ran, result.range);
    return in_pieces ? reduce_in_pieces(input, second, what, result.ran, result.state) : reduce_whole(what.where, request, how);
  };
  if (result.warm) static_cast<void>(reduce());
  std::set<std::pair<std::optional<result_bits>, std::vector<std::byte>>> values;
  for (int run = 0; run < std::max(1, what.repeat); ++run) {
    const auto [bits, seconds] = reduce();
    result.bits = bits;
    result.seconds.push_back(seconds);
    values.emplace(bits, result.range);
  }
  if (what.how.guarantee == guarantee::exact)
    result.fixed_bits = is_default(result.ran) ? result.bits : default_result(input, second, what, request, in_pieces);
  result.distinct_values = values.size();
  std::ranges::sort(result.seconds);
  return result;
}

}  // namespace onefold::tool
