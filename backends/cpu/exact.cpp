#include "exact.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/error.hpp>
#include <onefold/results.hpp>

#include "../../src/mixed_types.hpp"
#include "../exact/state.hpp"
#include "exact_integers.hpp"
#include "instruction_set.hpp"
#include "plan.hpp"

namespace onefold::cpu {

namespace {

namespace exact = detail::exact;
static_assert(exact_nan == exact::has_nan && exact_infinity == exact::has_infinity &&
              exact_minus_infinity == exact::has_minus_infinity && exact_other_than_minus_zero == exact::has_other_than_minus_zero);
static_assert(exact::bytes_of(exact::kinds[7]) <= detail::most_state_bytes);

const exact_row& row_of(const exact_table& kernels, element_type type) {
  switch (type) {
#define ONEFOLD_FLOAT(name, T, digits) \
  case element_type::name:             \
    return kernels.name;
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return exact_integers::row<T>;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      return kernels.f64;
  }
}

constexpr std::size_t words_of(std::size_t bytes) { return bytes / sizeof(std::uint64_t); }

// States that are too large to be nodes of the driver's tree, a set for each thread. The tree would give exact sums nothing: whoever has elements to
// add takes a set that nobody else has, and in the end the sets are merged.
class states_of_threads {
 public:
  states_of_threads(int sets, std::size_t words)
      : words_(words), states_(static_cast<std::size_t>(sets) * (words + gap)), sets_(static_cast<std::size_t>(sets)) {}

  // One set, for the length of a scope.
  class loan {
   public:
    explicit loan(states_of_threads& of) : of_(of), set_(of.take()) {}
    ~loan() { of_.sets_[set_].is_lent.store(false, std::memory_order_release); }
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    [[nodiscard]] std::uint64_t* words() const { return of_.of_set(set_); }

   private:
    states_of_threads& of_;
    std::size_t set_;
  };

  // All sets as one.
  const std::uint64_t* merged(const exact::kind_row& kind, std::size_t words_of_one) {
    for (std::size_t i = 1; i < sets_.size(); ++i)
      for (std::size_t k = 0; k < words_; k += words_of_one) exact::merge(kind, of_set(0) + k, of_set(i) + k);
    return of_set(0);
  }

 private:
  static constexpr std::size_t gap = 16;  // two cache lines between those of two threads
  struct alignas(128) set {
    std::atomic<bool> is_lent = false;
  };

  // There are as many as threads that add. Each finds the one that it had: it lies in its cache.
  std::size_t take() {
    static thread_local std::size_t last = 0;
    for (last = last < sets_.size() ? last : 0; sets_[last].is_lent.exchange(true, std::memory_order_acquire);)
      last = last + 1 < sets_.size() ? last + 1 : 0;
    return last;
  }
  std::uint64_t* of_set(std::size_t i) { return states_.data() + i * (words_ + gap); }

  std::size_t words_;
  std::vector<std::uint64_t> states_;
  std::vector<set> sets_;
};

// The sums of a form over arrays, or over values that a function gives, of which there may be several for an index; or several dots. On cache lines of
// its own: workers read it while the starting thread goes on to write to its stack.
struct alignas(128) exact_fold {
  const std::byte* x;
  const std::byte* y;
  const detail::value_source* source;
  const detail::arrays_of_two_types* two;  // not null: the dot of these, which are made numbers of the sum's type
  const onefold_vectors* vectors;
  bool of_complex_parts;
  int results;
  std::size_t element_bytes;
  const exact::kind_row& kind;
  add_exactly first;   // of the first sum
  add_exactly second;  // of the second, or null
  bool far;            // the input is more than caches hold
  states_of_threads* beside_tree = nullptr;
  alignas(128) mutable std::atomic<int> failure = 0;

  explicit exact_fold(const detail::request& what)
      : x(static_cast<const std::byte*>(what.input)),
        y(what.form == form::dot ? static_cast<const std::byte*>(what.second) : x),
        source(what.source),
        two(what.products),
        vectors(what.vectors),
        of_complex_parts(what.of_complex_parts),
        results(vectors != nullptr ? vectors->rows * vectors->columns
                : of_complex_parts ? 2
                                   : what.results),
        element_bytes(size_of(what.type)),
        kind(exact::kind_of(form_of(what), what.type)),
        far(source == nullptr && what.count * element_bytes > most_in_caches) {
    const exact_row& row = row_of(*chosen_instructions().exact, what.type);
    const bool is_moments = what.form == form::mean_variance;
    const bool is_sum = two == nullptr && (what.form == form::sum || what.form == form::mean || is_moments);
    first = what.form == form::norm1 ? row.absolute_sum : is_sum ? row.sum : row.products;
    second = is_moments ? row.products : nullptr;
  }

  // Of two types the request's form is what a fixed order makes of the products.
  static form form_of(const detail::request& what) { return what.products != nullptr ? form::dot : what.form; }

  // Of one result.
  [[nodiscard]] std::size_t bytes_of_one() const { return exact::bytes_of(kind); }
  [[nodiscard]] std::size_t bytes() const { return bytes_of_one() * static_cast<std::size_t>(results); }

  [[nodiscard]] bool fits_tree() const { return bytes() <= detail::most_state_bytes; }

  [[nodiscard]] cpu_fold fold() {
    if (!fits_tree())
      return {this, most_exact_elements, 1,
              [](void* context, std::uint64_t begin, std::uint64_t count, void* nodes) {
                return static_cast<const exact_fold*>(context)->groups_beside_tree(begin, count, nodes);
              },
              [](void*, void*, std::uint64_t) { return 0; }};
    return {this, most_exact_elements, static_cast<std::uint32_t>(bytes()),
            [](void* context, std::uint64_t begin, std::uint64_t count, void* states) {
              return static_cast<const exact_fold*>(context)->groups(begin, count, static_cast<std::uint64_t*>(states));
            },
            [](void* context, void* states, std::uint64_t count) {
              return static_cast<const exact_fold*>(context)->level(static_cast<std::uint64_t*>(states), count), 0;
            }};
  }

 private:
  static constexpr std::uint64_t block_bytes = 16384;  // of all values that are asked for at once: half of a first-level cache

  void add(const void* a, const void* b, std::uint64_t count, std::uint64_t* state) const {
    first(a, b, count, far, state, state + 1);
    if (second == nullptr) return;
    std::uint64_t of_squares = 0;  // the flags are those of the elements
    second(a, a, count, false, &of_squares, state + 1 + exact::integer_words(kind.limbs[0]));
  }

  int groups(std::uint64_t begin, std::uint64_t count, std::uint64_t* states) const {
    for (std::uint64_t here = 0; count > 0; begin += here, count -= here, states += words_of(bytes())) {
      here = std::min(count, most_exact_elements);
      std::fill_n(states, words_of(bytes()), 0);
      if (const int failed = add_group(begin, here, states); failed != 0) return failed;
    }
    return 0;
  }

  int groups_beside_tree(std::uint64_t begin, std::uint64_t count, void* nodes) const {
    std::memset(nodes, 0, (count - 1) / most_exact_elements + 1);  // which say nothing
    const states_of_threads::loan mine(*beside_tree);
    for (std::uint64_t here = 0; count > 0; begin += here, count -= here) {
      here = std::min(count, most_exact_elements);
      if (const int failed = add_group(begin, here, mine.words()); failed != 0) return failed;
    }
    return 0;
  }

  int add_group(std::uint64_t begin, std::uint64_t count, std::uint64_t* states) const {
    if (two != nullptr) return products_of_two_types(begin, count, states), 0;
    if (source != nullptr) return values(begin, count, states);
    if (vectors != nullptr)
      dots(begin, count, states);
    else if (!of_complex_parts)
      add(at(x, begin), at(y, begin), count, states);
    else if (element_bytes == sizeof(float))
      complex_products<float>(begin, count, states);
    else
      complex_products<double>(begin, count, states);
    return 0;
  }

  [[nodiscard]] const std::byte* at(const void* array, std::uint64_t index) const {
    return static_cast<const std::byte*>(array) + index * element_bytes;
  }

  // All but the first dot of a vector find the group in the second-level cache.
  void dots(std::uint64_t begin, std::uint64_t count, std::uint64_t* state) const {
    for (std::int32_t i = 0; i < vectors->rows; ++i)
      for (std::int32_t j = 0; j < vectors->columns; ++j, state += words_of(bytes_of_one()))
        add(at(vectors->x[i], begin), at(vectors->y[j], begin), count, state);
  }

  // Of conj(x) y the real part is the dot of all parts, and the imaginary part is the real one of conj(x) (-i y). So only the parts of y change
  // places and signs, in memory of the block's own. The numbers of parts are even, here as in all groups.
  template <class T>
  [[gnu::noinline]] void complex_products(std::uint64_t begin, std::uint64_t count, std::uint64_t* states) const {
    constexpr std::uint64_t at_once = 4096;  // a block of the kernels
    alignas(128) T turned[at_once];
    for (std::uint64_t here = 0; count > 0; begin += here, count -= here) {
      here = std::min(count, at_once);
      const T* const parts = reinterpret_cast<const T*>(at(y, begin));
      for (std::uint64_t i = 0; i < here; i += 2) {
        turned[i] = parts[i + 1];
        turned[i + 1] = -parts[i];
      }
      add(at(x, begin), parts, here, states);
      add(at(x, begin), turned, here, states + words_of(bytes_of_one()));
    }
  }

  [[gnu::noinline]] void products_of_two_types(std::uint64_t begin, std::uint64_t count, std::uint64_t* state) const {
    alignas(128) std::byte memory[2][block_bytes / 2];
    const std::uint64_t at_once = sizeof(memory[0]) / element_bytes;
    const auto numbers = [&](element_type type, const void* array, std::uint64_t here, std::byte* to) -> const void* {
      const of_another_type& of = chosen_instructions().kernels->of[static_cast<std::size_t>(type)];
      const convert_elements convert = element_bytes == sizeof(float) ? of.to_f32 : of.to_f64;
      const auto* const from = static_cast<const std::byte*>(array) + begin * size_of(type);
      if (convert == nullptr) return from;
      convert(from, here, input_from::memory, to);
      return to;
    };
    for (std::uint64_t here = 0; count > 0; begin += here, count -= here) {
      here = std::min(count, at_once);
      add(numbers(two->types.x, two->x, here, memory[0]), numbers(two->types.y, two->y, here, memory[1]), here, state);
    }
  }

  [[gnu::noinline]] int values(std::uint64_t begin, std::uint64_t count, std::uint64_t* state) const {
    alignas(128) std::byte memory[block_bytes];
    const std::uint64_t at_once = block_bytes / (element_bytes * std::bit_ceil(static_cast<unsigned>(results)));
    void* values[most_results];
    for (std::size_t k = 0; k < static_cast<std::size_t>(results); ++k) values[k] = memory + k * at_once * element_bytes;
    for (std::uint64_t here = 0; count > 0; begin += here, count -= here) {
      here = std::min(count, at_once);
      if (const int failed = failure.load(std::memory_order_relaxed); failed != 0) return failed;
      if (const int failed = source->fill(source->context, begin, here, values); failed != 0) {
        int nothing = 0;
        failure.compare_exchange_strong(nothing, failed, std::memory_order_relaxed);
        return failed;
      }
      for (std::size_t k = 0; k < static_cast<std::size_t>(results); ++k)
        add(values[k], values[k], here, state + k * words_of(bytes_of_one()));
    }
    return 0;
  }

  void level(std::uint64_t* states, std::uint64_t count) const {
    const std::size_t words = words_of(bytes());
    const std::size_t of_one = words_of(bytes_of_one());
    for (std::uint64_t i = 0; i < count / 2; ++i) {
      for (std::size_t k = 0; k < words; k += of_one)
        exact::merge(kind, states + 2 * i * words + k, states + (2 * i + 1) * words + k);
      if (i > 0) std::copy_n(states + 2 * i * words, words, states + i * words);
    }
    if (count % 2 == 1 && count > 1) std::copy_n(states + (count - 1) * words, words, states + count / 2 * words);
  }
};

}  // namespace

int reduce_exactly(const detail::request& what, int threads) {
  exact_fold of(what);
  const cpu_fold fold = of.fold();
  const int inputs = of.vectors != nullptr ? of.vectors->rows + of.vectors->columns : what.form == form::dot ? 2 : of.results;
  const std::uint64_t bytes = of.two != nullptr ? size_of(of.two->types.x) + size_of(of.two->types.y)
                                                : static_cast<std::uint64_t>(inputs) * of.element_bytes;
  const bool is_read = of.source == nullptr || of.two != nullptr;  // and not called for
  plan how(what, fold, is_read ? what.count * bytes : work_of(what.count, bytes), threads);
  how.timed_bytes = is_read ? what.count * bytes : 0;
  alignas(64) std::uint64_t node[words_of(detail::most_state_bytes)] = {};
  states_of_threads beside_tree(of.fits_tree() ? 0 : how.threads, words_of(of.bytes()));
  of.beside_tree = &beside_tree;
  if (what.count > 0)
    if (const int failed = how.run(fold, what.count, node); failed != 0) throw_failed("the function that gives the values", failed);
  const std::uint64_t* const state = of.fits_tree() ? node : beside_tree.merged(of.kind, words_of(of.bytes_of_one()));
  const bool has_gaps =
      what.present != nullptr && what.source != nullptr && (what.form == form::mean || what.form == form::mean_variance);
  const std::uint64_t count = has_gaps ? what.present(what.source->context) : what.count;
  for (int k = 0; k < of.results; ++k) {
    const std::uint64_t* const one = state + static_cast<std::size_t>(k) * words_of(of.bytes_of_one());
    if (what.exact_state != nullptr)
      exact::store(of.kind, one, count, what.exact_state + static_cast<std::size_t>(k) * of.kind.words());
    exact::conclude(
        what.type, exact_fold::form_of(what), what.wide, one, count, what.ddof,
        static_cast<std::byte*>(what.output) + static_cast<std::size_t>(k) * result_bytes(what.type, what.form, what.wide));
  }
  return how.threads;
}

std::string exact_implementation() {
  const std::string_view fixed = chosen_instructions().name;
  return "superaccumulator" + std::string(fixed.substr(fixed.find('/')));
}

}  // namespace onefold::cpu
