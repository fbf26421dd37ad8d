/// @file exact.cpp  States of guarantee::exact for C: sizes, merging, results; words in a GPU's memory, in stream order.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "../backends/exact/state.hpp"
#include "c_api.hpp"
#include "complex.hpp"
#include "dispatch.hpp"
#include "exchanged_parts.hpp"
#include "pointer_kind.hpp"
#include "select.hpp"
#include "side_by_side.hpp"
#include "type_names.hpp"

namespace onefold::detail {

namespace {

using state_memory = std::uint64_t[most_state_bytes / sizeof(std::uint64_t)];
using any_result = std::uint64_t[3];  // mean_variance of complex numbers has three numbers, all others fewer

bool is_of_complex(std::int32_t type) { return type == ONEFOLD_C64 || type == ONEFOLD_C128; }

std::size_t words_of(std::int32_t type, std::int32_t what) {
  const bool is_type = (type >= 0 && type < element_type_count) || is_of_complex(type);
  if (!is_type || what < 0 || what >= form_count + record_count) return 0;
  return exact::words_of(static_cast<form>(what), static_cast<element_type>(type));
}

// The states that a result is made of: of complex numbers those of their parts' type, one of all parts or one for the real ones and one for the others.
struct states_of_form {
  const exact::kind_row& kind;
  element_type type;
  int number;

  std::uint64_t terms;  ///< that each of them counts for an element, or a pair

  [[nodiscard]] std::size_t words() const noexcept { return static_cast<std::size_t>(number) * kind.words(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return words() * sizeof(std::int64_t); }
};
states_of_form states_of(std::int32_t type, std::int32_t what) {
  if (words_of(type, what) == 0)
    throw error(
        errc::unsupported,
        is_of_complex(type)
            ? std::string(
                  "this form of complex numbers has no exact state: sum, mean, mean_variance, dot, sum_of_squares and norm2 have "
                  "those of their parts")
            : "this form of this element type has no exact state: sum, norm1, dot, sum_of_squares, norm2, mean and mean_variance "
              "of " +
                  names_of_types(is_float, "and") + " have, and norm2, mean and mean_variance of integers");
  const auto its = static_cast<form>(what);
  const auto of = static_cast<element_type>(type);
  const bool counts_parts = is_complex(of) && (its == form::dot || its == form::sum_of_squares || its == form::norm2);
  return {exact::kind_of(its, part_type(of)), part_type(of), exact::number_of_states(its, of), counts_parts ? 2U : 1U};
}

// Loads one state or two, and returns the terms that each of them counts. Throws invalid_argument where one is none, or two are not of the same elements.
std::uint64_t load(const states_of_form& states, const std::int64_t* words, state_memory (&loaded)[2]) {
  const std::uint64_t count = exact::load(states.kind, words, loaded[0]);
  if (states.number == 2 && exact::load(states.kind, words + states.kind.words(), loaded[1]) != count)
    throw error(
        errc::invalid_argument,
        "these words are no state of complex numbers: the real and the imaginary part are of different numbers of elements");
  return count;
}
std::uint64_t terms_of(const states_of_form& states, const std::int64_t* words) {
  state_memory loaded[2];
  return load(states, words, loaded);
}

std::uint64_t count_of(const states_of_form& states, const std::int64_t* words) {
  const std::uint64_t terms = terms_of(states, words);
  if (terms % states.terms != 0)
    throw error(errc::invalid_argument, "these words are no state of complex numbers: the number of their terms is odd");
  return terms / states.terms;
}

void add_one(const exact::kind_row& kind, std::int64_t* to, const std::int64_t* from) {
  std::int64_t sum[exact::most_words];
  state_memory state;
  const auto canonical = [&](const std::int64_t* words) { exact::store(kind, state, exact::load(kind, words, state), sum); };
  canonical(to);
  if (from != nullptr) {
    std::int64_t first[exact::most_words];
    std::memcpy(first, sum, sizeof(first));
    canonical(from);
    // Of all words this one alone may be too large for a sum of two.
    if (sum[exact::word_of_elements] > exact::most_elements - first[exact::word_of_elements])
      throw error(errc::invalid_argument, "these states have more than 2^62 elements together");
    for (std::size_t i = 0; i < kind.words(); ++i) sum[i] += first[i];
    canonical(sum);
  }
  std::memcpy(to, sum, kind.words() * sizeof(*to));
}

void add(const states_of_form& states, std::int64_t* to, const std::int64_t* from) {
  if (states.number == 1) return add_one(states.kind, to, from);
  static_cast<void>(terms_of(states, to));
  if (from != nullptr) static_cast<void>(terms_of(states, from));
  std::int64_t sums[2 * exact::most_words];  // neither is changed where the other one is refused
  std::memcpy(sums, to, states.bytes());
  for (std::size_t at = 0; at < states.words(); at += states.kind.words())
    add_one(states.kind, sums + at, from == nullptr ? nullptr : from + at);
  std::memcpy(to, sums, states.bytes());
}

// What is asked of reductions that make a state.
onefold_options wishes_for_state(const onefold_options* how) {
  onefold_options wishes = known_options(how);
  if (wishes.guarantee < ONEFOLD_GUARANTEE_DEFAULT || wishes.guarantee > ONEFOLD_GUARANTEE_EXACT)
    refuse_number("options.guarantee", wishes.guarantee, "one of onefold_guarantee");
  wishes.guarantee = ONEFOLD_GUARANTEE_EXACT;
  return wishes;
}

// Of each part a state of its own, made where its elements lie. Those of CPUs, which take all cores, come one behind the other while GPUs make theirs.
void add_parts(const states_of_form& states, std::int32_t type, std::int32_t what, std::int64_t* to,
               std::span<const onefold_range_part> parts, const onefold_options* how) {
  const onefold_options wishes = wishes_for_state(how);
  const auto first = std::find_if(parts.begin(), parts.end(), [](const onefold_range_part& part) { return part.count > 0; });
  using all_words = std::array<std::int64_t, 2 * exact::most_words>;
  std::vector<all_words> made(parts.size());
  if (wishes.workspace != nullptr) {
    std::vector<onefold_executor> gpus;
    for (const onefold_range_part& part : parts)
      if (part.count > 0 && (part.where.backend == ONEFOLD_CUDA || (part.where.backend == ONEFOLD_BEST && is_on_device(part.x))))
        gpus.push_back(part.where);
    refuse_shared_workspace(gpus);
  }
  const auto reduce = [&](std::size_t i) {
    const onefold_range_part& part = parts[i];
    if (part.count == 0) return;
    any_result result;
    onefold_request asked{};
    asked.struct_bytes = sizeof(asked);
    asked.where = part.where;
    asked.type = type;
    asked.form = what;
    asked.input = part.x;
    asked.second = part.y;
    asked.count = part.count;
    asked.output = result;
    asked.exact_state = made[i].data();
    onefold_options its = wishes;
    if (&part != &*first) its.report = nullptr;
    check_status(onefold_reduce(&asked, &its));
  };
  side_by_side(
      parts.size(), [&](std::size_t i) { return parts[i].count > 0 && waits_for_gpu(parts[i].where); }, reduce);
  static_cast<void>(terms_of(states, to));  // of no parts too
  all_words sum{};
  std::copy_n(to, states.words(), sum.begin());
  for (const auto& state : made) add(states, sum.data(), state.data());
  std::copy_n(sum.begin(), states.words(), to);
}

// --- words in memory that the executor reaches ------------------------------------------------------------------------------------------------------

// best() goes where the words lie. Throws where a CPU would have to read or write a GPU's memory.
bool is_in_stream_order(onefold_executor& where, const std::int64_t* words) {
  check_words(words);
  if (where.backend == ONEFOLD_BEST) {
    const pointer_place place = locate(words);
    if (place.kind != pointer_kind::host) where = onefold_cuda_device(place.device);
  }
  if (where.backend == ONEFOLD_CUDA) return true;
  if (is_on_device(words))
    throw error(errc::device_pointer, "the state is in GPU memory, which the executors of CPUs cannot reach: use cuda()");
  return false;
}

// No state, whatever states and up to 2^22 such words are added to it: its number of states is far below 0.
void mark_as_no_state(const states_of_form& states, std::int64_t* words) {
  std::fill_n(words, states.words(), 0);
  for (std::size_t at = 1; at < states.words(); at += states.kind.words()) words[at] = -(std::int64_t{1} << 40);
}

void put_words(std::int32_t type, std::int32_t what, onefold_executor where, const void* x, const void* y, std::uint64_t count,
               std::int64_t* words, const onefold_options* how) {
  const states_of_form states = states_of(type, what);
  const bool in_stream_order = is_in_stream_order(where, words);
  const std::size_t element_bytes = size_of(static_cast<element_type>(type));
  const bool is_dot = what == ONEFOLD_DOT;
  const auto lies_in = [&](const void* array) {
    return array != nullptr && can_be_count(count, element_bytes) && overlaps(words, states.bytes(), array, count * element_bytes);
  };
  if (lies_in(x)) refuse_overlap("input");
  if (is_dot && lies_in(y)) refuse_overlap("second input");
  try {
    if (x != nullptr) check_count(count, element_bytes);
    const onefold_options wishes = wishes_for_state(how);
    onefold_request asked{};
    asked.struct_bytes = sizeof(asked);
    asked.where = where;
    asked.type = type;
    asked.form = what;
    asked.input = x;
    asked.second = is_dot ? y : nullptr;
    asked.count = count;
    if (in_stream_order) {
      asked.flags = ONEFOLD_INTO;
      asked.output = words;
      if (states.number == 2) return put_complex_exact_words(asked, wishes);
      if (is_complex(static_cast<element_type>(type))) {  // all parts are real numbers in a row
        asked.type = static_cast<std::int32_t>(states.type);
        asked.count *= 2;
      }
      return put_exact_words(asked, wishes);
    }
    any_result result;
    asked.output = result;
    asked.exact_state = words;
    check_status(onefold_reduce(&asked, &wishes));
  } catch (...) {
    // Who sends the words without a look at the status would send a state that he had there before, or zeros, which are the state of no elements.
    if (!in_stream_order) mark_as_no_state(states, words);
    throw;
  }
}

void put_words_of(const onefold_request& what, std::int64_t* words, const onefold_options* how) {
  onefold_request asked = as_known(what, offsetof(onefold_request, second), "request");
  asked.struct_bytes = sizeof(asked);  // the caller's header may be older, or newer
  static_cast<void>(states_of(asked.type, asked.form));
  if (!is_in_stream_order(asked.where, words) || asked.device == nullptr)
    throw error(
        errc::unsupported,
        "words of a function's values are put into memory by cuda(), of functions that nvcc has compiled with onefold/device.cuh: "
        "onefold_request::exact_state takes those of any other");
  asked.flags |= ONEFOLD_INTO;
  asked.output = words;
  put_exact_words(asked, wishes_for_state(how));
}

// A result that a state is rounded to, as it is asked for.
struct asked_result {
  element_type type;
  form what;
  bool wide;
  std::int64_t ddof;
};
asked_result checked_result(std::int32_t type, std::int32_t what, std::uint32_t flags, std::int64_t ddof) {
  const asked_result found{static_cast<element_type>(type), static_cast<form>(what), (flags & ONEFOLD_WIDE) != 0, ddof};
  if ((flags & ~ONEFOLD_WIDE) != 0 || (found.wide && !can_be_wide(found.type, found.what)))
    throw error(errc::unsupported, "the flags of a state's result are 0, or ONEFOLD_WIDE of " +
                                       names_of_types(is_short_float, "and") + ", and of c64");
  return found;
}

// Whether two states make one result, which is none of either.
bool is_joint(const states_of_form& states, const asked_result& asked) {
  return states.number == 2 && exact::is_of_both_parts(asked.what);
}
std::size_t bytes_of_result(const states_of_form& states, const asked_result& asked) {
  const std::size_t number = size_of(result_type(asked.type, asked.what, asked.wide));
  return is_joint(states, asked) ? 3 * number
                                 : static_cast<std::size_t>(states.number) * result_bytes(asked.type, asked.what, asked.wide);
}

// `asked` is of real numbers: of complex ones the result of each state is a part, or that of both is one.
void conclude(const states_of_form& states, const asked_result& asked, const std::int64_t* words, void* result) {
  state_memory loaded[2];
  const std::uint64_t count = load(states, words, loaded);
  if (is_joint(states, asked))
    return exact::conclude_complex_moments(asked.type, asked.wide, loaded[0], loaded[1], count, asked.ddof, result);
  const std::size_t bytes = result_bytes(asked.type, asked.what, asked.wide);
  for (std::size_t i = 0; i < static_cast<std::size_t>(states.number); ++i)
    exact::conclude(asked.type, asked.what, asked.wide, loaded[i], count, asked.ddof, static_cast<std::byte*>(result) + i * bytes);
}

void put_result(const states_of_form& states, const asked_result& asked, onefold_executor where, const std::int64_t* words,
                void* result) {
  const bool in_stream_order = is_in_stream_order(where, words);
  if (result == nullptr) refuse_null("result");
  check_output_alignment(result, size_of(result_type(asked.type, asked.what, asked.wide)));
  if (overlaps(result, bytes_of_result(states, asked), words, states.bytes())) refuse_overlap("state");
  if (!in_stream_order) {
    if (is_on_device(result))
      throw error(errc::device_pointer, "the output is GPU memory, which the executors of CPUs cannot write to: use cuda()");
    return conclude(states, asked, words, result);
  }
  const backend_entry* const gpus = find_backend(backend::cuda);
  if (gpus == nullptr) throw error(errc::backend_not_built, not_built_sentence(backend::cuda));
  gpus->conclude_exact(executor_of(where), {asked.type, asked.what, asked.wide, asked.ddof, words, states.number}, result);
}

// Each GPU makes the words of its part, and each adds those of all behind the exchange. Parts of no elements have none, but for the first of nothing else.
void put_parts(const states_of_form& states, std::int32_t type, std::int32_t what, const asked_result& asked,
               const parts_and_outputs& all, const onefold_options* how) {
  const std::size_t count = all.outputs.size();
  if (count == 0) return;
  onefold_options wishes = wishes_for_state(how);
  const std::size_t alignment = size_of(result_type(asked.type, asked.what, asked.wide));
  const std::uint8_t reads_second[] = {what == ONEFOLD_DOT ? std::uint8_t{1} : std::uint8_t{0}};
  const std::vector<onefold_executor> gpus = gpus_of(all, reads_second, alignment, wishes);
  const auto exchange = begin_exchange(gpus, 2 * count * states.bytes());
  auto* const words = static_cast<std::int64_t*>(exchange->memory());
  auto* const sums = words + count * states.words();
  std::size_t made = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const onefold_range_part& part = all.parts[i];
    if (part.count == 0) continue;
    put_words(type, what, gpus[i], part.x, part.y, part.count, words + made++ * states.words(), &wishes);
    wishes.report = nullptr;
  }
  if (made == 0) {
    wishes.workspace = nullptr;
    wishes.report = nullptr;
    put_words(type, what, gpus[0], nullptr, nullptr, 0, words + made++ * states.words(), &wishes);
  }
  exchange->wait_for_each_other();
  const backend_entry& backend = *find_backend(backend::cuda);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t* const sum = sums + i * states.words();
    backend.add_exact_words(executor_of(gpus[i]), words, made, states.words(), sum);
    put_result(states, asked, gpus[i], sum, all.outputs[i]);
  }
  exchange->end();
}

}  // namespace

}  // namespace onefold::detail

using namespace onefold::detail;

size_t onefold_exact_words(int32_t type, int32_t form) { return words_of(type, form); }

int onefold_exact_add(int32_t type, int32_t form, int64_t* to, const int64_t* from) {
  return guarded([&] {
    const states_of_form states = states_of(type, form);
    check_words(to);
    if (from != nullptr) check_words(from);
    add(states, to, from);
  });
}

int onefold_exact_add_parts(int32_t type, int32_t form, int64_t* to, const onefold_range_part* parts, size_t count,
                            const onefold_options* how) {
  return guarded_with_report(how, [&] {
    const states_of_form states = states_of(type, form);
    check_words(to);
    if (count > 0 && parts == nullptr) refuse_null("list of parts");
    add_parts(states, type, form, to, {parts, count}, how);
  });
}

int onefold_exact_put_parts(int32_t type, int32_t form, uint32_t flags, int64_t ddof, const onefold_range_part* parts, size_t count,
                            void* const* outputs, const onefold_options* how) {
  return guarded_with_report(how, [&] {
    const states_of_form states = states_of(type, form);
    if (count > 0 && parts == nullptr) refuse_null("list of parts");
    if (count > 0 && outputs == nullptr) refuse_null("list of outputs");
    asked_result asked = checked_result(type, form, flags, ddof);
    asked.type = states.type;
    put_parts(states, type, form, asked, {{parts, count}, {outputs, count}}, how);
  });
}

int onefold_exact_result(int32_t type, int32_t form, uint32_t flags, int64_t ddof, const int64_t* state, void* result) {
  return guarded([&] {
    const states_of_form states = states_of(type, form);
    check_words(state);
    if (result == nullptr) refuse_null("result");
    asked_result asked = checked_result(type, form, flags, ddof);
    asked.type = states.type;
    conclude(states, asked, state, result);
  });
}

int onefold_exact_put_words(int32_t type, int32_t form, onefold_executor where, const void* x, const void* y, uint64_t count,
                            int64_t* words, const onefold_options* how) {
  return guarded([&] { put_words(type, form, where, x, y, count, words, how); });
}

int onefold_exact_put_words_of(const onefold_request* what, int64_t* words, const onefold_options* how) {
  return guarded([&] {
    if (what == nullptr) refuse_null("request");
    put_words_of(*what, words, how);
  });
}

int onefold_exact_put_result(int32_t type, int32_t form, uint32_t flags, int64_t ddof, onefold_executor where, const int64_t* words,
                             void* result) {
  return guarded([&] {
    const states_of_form states = states_of(type, form);
    asked_result asked = checked_result(type, form, flags, ddof);
    asked.type = states.type;
    put_result(states, asked, where, words, result);
  });
}

int onefold_exact_count(int32_t type, int32_t form, const int64_t* state, uint64_t* count) {
  return guarded([&] {
    const states_of_form states = states_of(type, form);
    check_words(state);
    if (count == nullptr) refuse_null("count");
    *count = count_of(states, state);
  });
}
