/// @file small_types_test.cpp  Elements of 1 and 2 bytes: every form of every type on every executor against docs/order.md in scalars, around lanes,
/// tiles and levels, at every alignment, between pages that cannot be read; stored, and recorded into graphs.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>

#include "fixture.hpp"
#include "small_oracle.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../support/cuda.hpp"
#endif

namespace onefold_test {
namespace {

using onefold::errc;
using small::result_bits;

// --- calls ---------------------------------------------------------------------------------------------------------------------------------

// reduce_together takes operators, and has tests of its own below.
template <form What, class... Arguments>
auto returned(const Arguments&... arguments) {
#define ONEFOLD_FORM(name) \
  if constexpr (What == form::name) return onefold::name(arguments...);
#define ONEFOLD_RECORD ONEFOLD_FORM
#include <onefold/forms.def>
#include <onefold/records.def>
#undef ONEFOLD_RECORD
#undef ONEFOLD_FORM
}
template <form What, class... Arguments>
void stored(const Arguments&... arguments) {
#define ONEFOLD_FORM(name) \
  if constexpr (What == form::name) onefold::name##_into(arguments...);
#define ONEFOLD_RECORD ONEFOLD_FORM
#include <onefold/forms.def>
#include <onefold/records.def>
#undef ONEFOLD_RECORD
#undef ONEFOLD_FORM
}

// Calls `call` with what stands between the data and the options.
template <form What, class E, bool Wide, class Call>
auto with_modifiers([[maybe_unused]] std::int64_t ddof, Call call) {
  constexpr auto wide = onefold::accumulate_as<small::total<E, true>>;
  if constexpr (What == form::mean_variance && Wide)
    return call(onefold::ddof{ddof}, wide);
  else if constexpr (What == form::mean_variance)
    return call(onefold::ddof{ddof});
  else if constexpr (Wide)
    return call(wide);
  else
    return call();
}

struct arrays {
  const void* x;
  const void* y;  // of dot
  std::size_t count;
};
std::int64_t ddof_of(std::size_t count) { return static_cast<std::int64_t>(count % 2); }

// A form of a type, as the tests use it: what its calls give, and what they should.
struct form_under_test {
  result_bits (*call)(const onefold::executor&, const arrays&, const onefold::options&);
  void (*store)(const onefold::executor&, const arrays&, void* output, const onefold::options&);
  result_bits (*of_stored)(const void* output);
  result_bits (*expected)(const arrays&);
  std::size_t result_bytes;
};

template <form What, class E, bool Wide>
struct calls {
  using R = small::result_of<What, E, Wide>;

  static result_bits call(const onefold::executor& where, const arrays& in, const onefold::options& how) {
    const auto* x = static_cast<const E*>(in.x);
    return with_modifiers<What, E, Wide>(ddof_of(in.count), [&](auto... modifiers) {
      const auto value = [&] {
        if constexpr (What == form::dot)
          return returned<What>(where, x, static_cast<const E*>(in.y), in.count, modifiers..., how);
        else
          return returned<What>(where, x, in.count, modifiers..., how);
      }();
      static_assert(std::is_same_v<decltype(value), const R>, "the page's R");
      return small::all_bits(value);
    });
  }
  static void store(const onefold::executor& where, const arrays& in, void* output, const onefold::options& how) {
    const auto* x = static_cast<const E*>(in.x);
    auto* result = static_cast<R*>(output);
    with_modifiers<What, E, Wide>(ddof_of(in.count), [&](auto... modifiers) {
      if constexpr (What == form::dot)
        stored<What>(where, x, static_cast<const E*>(in.y), in.count, result, modifiers..., how);
      else
        stored<What>(where, x, in.count, result, modifiers..., how);
    });
  }
  static result_bits of_stored(const void* output) {
    R value;
    std::memcpy(&value, output, sizeof(R));
    return small::all_bits(value);
  }
  static result_bits expected(const arrays& in) {
    return small::all_bits(small::settled(
        small::oracle<What, E, Wide>(static_cast<const E*>(in.x), static_cast<const E*>(in.y), in.count, ddof_of(in.count))));
  }
};

template <form What, class E>
constexpr bool takes = What != form::reduce_together &&
                       (!small::is_half<E> || (What != form::bit_and && What != form::bit_or && What != form::bit_xor));

// The forms of docs/order.md that floats of 2 bytes can be asked to accumulate in double, and integers in their own type.
template <form What, class E>
constexpr bool has_another_type = What == form::sum || What == form::prod || What == form::dot || What == form::sum_of_squares ||
                                  What == form::norm1 ||
                                  (small::is_half<E> && (What == form::mean || What == form::norm2 || What == form::mean_variance));

template <form What, class E>
std::optional<form_under_test> form_of_type(bool wide) {
  if constexpr (takes<What, E>) {
    using own = calls<What, E, false>;
    if (!wide) return form_under_test{own::call, own::store, own::of_stored, own::expected, sizeof(typename own::R)};
    if constexpr (has_another_type<What, E>) {
      using another = calls<What, E, true>;
      return form_under_test{another::call, another::store, another::of_stored, another::expected, sizeof(typename another::R)};
    }
  }
  return std::nullopt;
}

template <class E>
std::optional<form_under_test> form_of(form what, bool wide) {
  switch (what) {
#define ONEFOLD_FORM(name) \
  case form::name:         \
    return form_of_type<form::name, E>(wide);
#define ONEFOLD_RECORD ONEFOLD_FORM
#include <onefold/forms.def>
#include <onefold/records.def>
#undef ONEFOLD_RECORD
#undef ONEFOLD_FORM
  }
  return std::nullopt;
}

std::optional<form_under_test> form_of(element_type type, form what, bool wide) {
  switch (type) {
#define ONEFOLD_SMALL_TYPE(name, T) \
  case element_type::name:          \
    return form_of<T>(what, wide);
#include <onefold/types.def>
    default:
      return std::nullopt;
  }
}

// --- data ----------------------------------------------------------------------------------------------------------------------------------

// Elements as their bits: those of 1 byte in the low one.
using bit_array = std::vector<std::uint16_t>;

struct family {
  std::string_view words;
  bool of_floats, of_integers;
  bool at_every_size;
  std::uint16_t (*element)(element_type type, std::uint64_t r);
};

constexpr bool is_byte(element_type type) { return type == element_type::i8 || type == element_type::u8; }
constexpr int digits_of(element_type type) {
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  if (type == element_type::name) return small::digits_of<T>;
#include <onefold/types.def>
  return 0;
}
constexpr int bias_of(element_type type) { return (1 << (14 - digits_of(type))) - 1; }
constexpr std::uint16_t exponent_of(element_type type) { return static_cast<std::uint16_t>(0x8000 - (1 << digits_of(type))); }
constexpr std::uint16_t largest_of(element_type type) {
  if (onefold::is_float(type)) return static_cast<std::uint16_t>(exponent_of(type) - 1);
  const std::uint16_t all = is_byte(type) ? 0xff : 0xffff;
  return onefold::is_signed_integer(type) ? all / 2 : all;
}
constexpr std::uint16_t smallest_of(element_type type) { return static_cast<std::uint16_t>(~largest_of(type)); }
// -3 .. 3, and of unsigned types 0 .. 3.
std::uint16_t whole_number(element_type type, std::uint64_t r) {
  const int value = static_cast<int>(r % 7) - 3;
  const float absolute = static_cast<float>(std::abs(value));
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  if (type == element_type::name) return static_cast<std::uint16_t>(T(absolute).bits() | (value < 0 ? 0x8000 : 0));
#include <onefold/types.def>
  return static_cast<std::uint16_t>(onefold::is_signed_integer(type) ? value : std::abs(value));
}
std::uint16_t finite_bits(element_type type, std::uint64_t r) {
  const auto low = static_cast<std::uint16_t>(r);
  return (low & exponent_of(type)) == exponent_of(type) ? low & 0xbfff : low;
}
// Between 1/2 and 2 in size.
std::uint16_t about_one(element_type type, std::uint64_t r) {
  const int below = (bias_of(type) << digits_of(type)) - 1;
  const std::uint16_t digits = exponent_of(type) ^ 0x7fff;
  return static_cast<std::uint16_t>(((below & exponent_of(type)) + (r % (2u * digits))) | (r >> 63 << 15));
}

// 2^-14 up to 2^16 in size: sums that neither are exact nor one element's.
std::uint16_t many_sizes(element_type type, std::uint64_t r) {
  const int digits = digits_of(type), lowest = std::max(bias_of(type) - 14, 1);
  const auto size = static_cast<std::uint64_t>(lowest) + (r >> 32) % 30;
  return static_cast<std::uint16_t>((r & 0x8000) | size << digits | (r & ~std::uint64_t{exponent_of(type)} & 0x7fff));
}

constexpr family families[] = {
    {"small whole numbers", true, true, true, whole_number},
    {"any bits", false, true, true, [](element_type, std::uint64_t r) { return static_cast<std::uint16_t>(r); }},
    {"odd numbers", false, true, false, [](element_type, std::uint64_t r) { return static_cast<std::uint16_t>(r | 1); }},
    {"the largest number", true, true, true, [](element_type type, std::uint64_t) { return largest_of(type); }},
    {"the smallest integer", false, true, true, [](element_type type, std::uint64_t) { return smallest_of(type); }},
    {"both extremes", false, true, false,
     [](element_type type, std::uint64_t r) { return r % 3 == 0 ? smallest_of(type) : largest_of(type); }},
    {"zeros", true, true, false, [](element_type, std::uint64_t) { return std::uint16_t{0}; }},
    {"any finite bits", true, false, true, finite_bits},
    {"about one", true, false, true, about_one},
    {"many sizes", true, false, true, many_sizes},
    {"subnormal", true, false, false,
     [](element_type type, std::uint64_t r) { return static_cast<std::uint16_t>(r & ~std::uint64_t{exponent_of(type)}); }},
    {"zeros of both signs", true, false, false,
     [](element_type, std::uint64_t r) { return static_cast<std::uint16_t>(r >> 63 << 15); }},
    {"-0", true, false, false, [](element_type, std::uint64_t) { return std::uint16_t{0x8000}; }},
};

// One or two special elements among others: where the seed says.
struct special {
  std::string_view words;
  bool of_floats, of_integers;
  std::uint16_t (*others)(element_type type, std::uint64_t r);
  std::uint16_t (*first)(element_type type);
  std::uint16_t (*second)(element_type type);  // null where there is one
};
constexpr auto zero = [](element_type, std::uint64_t) { return std::uint16_t{0}; };
constexpr auto set_bit = [](element_type, std::uint64_t r) { return static_cast<std::uint16_t>(r | 1); };
constexpr auto none_at_all = [](element_type) { return std::uint16_t{0}; };
constexpr auto smallest = [](element_type type) { return onefold::is_float(type) ? std::uint16_t{0x8001} : smallest_of(type); };
constexpr auto infinity = [](element_type type) { return exponent_of(type); };
constexpr auto minus_infinity = [](element_type type) { return static_cast<std::uint16_t>(exponent_of(type) | 0x8000); };
constexpr auto marked_nan = [](element_type type) { return static_cast<std::uint16_t>(exponent_of(type) | 0x8055); };
constexpr auto signalling_nan = [](element_type type) { return static_cast<std::uint16_t>(exponent_of(type) | 1); };
constexpr special specials[] = {
    {"zeros and one that is not", true, true, zero, smallest, nullptr},
    {"one zero", false, true, set_bit, none_at_all, nullptr},
    {"one zero", true, false, about_one, none_at_all, nullptr},
    {"an infinity", true, false, about_one, infinity, nullptr},
    {"infinities of both signs", true, false, about_one, infinity, minus_infinity},
    {"a NaN with a payload", true, false, about_one, marked_nan, nullptr},
    {"two NaNs", true, false, about_one, signalling_nan, marked_nan},
    {"a NaN and an infinity", true, false, zero, signalling_nan, minus_infinity},
};

struct input {
  std::string_view words;
  std::size_t count;
  std::vector<std::byte> x, y;
};

std::vector<std::byte> packed(element_type type, const bit_array& bits) {
  const std::size_t size = onefold::size_of(type);
  std::vector<std::byte> bytes(bits.size() * size);
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(bytes.data() + i * size, &bits[i], size);
  return bytes;
}

input family_input(element_type type, const family& of, std::size_t count, std::uint64_t seed) {
  const random_numbers random(seed), other(seed + 1);
  bit_array x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = of.element(type, random.at(i));
  for (std::size_t i = 0; i < count; ++i) y[i] = of.element(type, other.at(i));
  return {of.words, count, packed(type, x), packed(type, y)};
}

input special_input(element_type type, const special& of, std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  bit_array x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = of.others(type, random());
  x[random.below(count)] = of.first(type);
  if (of.second != nullptr) x[random.below(count)] = of.second(type);
  auto bytes = packed(type, x);
  return {of.words, count, bytes, bytes};
}

std::size_t lanes_of(element_type type) { return 256 / onefold::size_of(type); }

// Made once for each type.
const std::vector<input>& inputs_of(element_type type) {
  static std::map<element_type, std::vector<input>> known;
  auto& all = known[type];
  if (!all.empty()) return all;
  const std::size_t lanes = lanes_of(type), tile = 16 * lanes, many = (std::size_t{1} << 20) + 5;
  const std::vector<std::size_t> sizes{0,        1,    2,        lanes - 1,     lanes,        lanes + 1,
                                       tile - 1, tile, tile + 1, 16 * tile - 1, 16 * tile + 1};
  const bool floats = onefold::is_float(type);
  std::uint64_t seed = environment_seed();
  for (const family& of : families) {
    if (!(floats ? of.of_floats : of.of_integers)) continue;
    // With a sanitizer one family has the first size of two groups, and none a larger one.
    const bool is_long = of.words == "any bits" || of.words == "many sizes";
    if (of.at_every_size)
      for (const std::size_t count : sizes) {
        if (!is_sanitized || count <= tile + 1 || (is_long && count == 16 * tile + 1))
          all.push_back(family_input(type, of, count, ++seed));
      }
    else
      for (const std::size_t count : {std::size_t{3}, lanes + 1, tile + 1, 5 * tile - 3})
        all.push_back(family_input(type, of, count, ++seed));
    // Sums that 32 bits do not hold, and floats whose order shows.
    if (!is_sanitized && (is_long || of.words == "the largest number")) all.push_back(family_input(type, of, many, ++seed));
  }
  for (const special& of : specials) {
    if (!(floats ? of.of_floats : of.of_integers)) continue;
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, lanes + 1, tile - 1, 3 * tile + 7})
      all.push_back(special_input(type, of, count, ++seed));
  }
  return all;
}

// --- memory --------------------------------------------------------------------------------------------------------------------------------

// What would show in the answer if it were read.
std::uint16_t poison_of(element_type type, form what) {
  if (onefold::is_float(type)) {
    if (what == form::min_number) return minus_infinity(type);
    if (what == form::max_number) return infinity(type);
    return what == form::all ? 0 : marked_nan(type);
  }
  switch (what) {
    case form::min:
    case form::min_number:
    case form::argmin:
    case form::norm_inf:
    case form::argmax_magnitude:
    case form::argminmax:
      return onefold::is_signed_integer(type)                           ? smallest_of(type)
             : what == form::norm_inf || what == form::argmax_magnitude ? 0xffff
                                                                        : 0;
    case form::all:
    case form::prod:
    case form::bit_and:
    case form::argmin_magnitude:
      return 0;
    case form::max:
    case form::max_number:
    case form::argmax:
      return largest_of(type);
    default:
      return 0x5555;
  }
}

// Memory of the host between two pages that cannot be read, or of the device with poison around.
class fenced {
 public:
  static constexpr std::size_t margin = 64;  // elements of poison, as far as there is room

  fenced(memory kind, std::size_t bytes) : kind_(kind) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    room_ = (bytes + page - 1) / page * page;
    if (kind_ != memory::host) {
      device_.emplace(kind_, room_);
      return;
    }
    void* whole = mmap(nullptr, room_ + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) throw std::runtime_error("the test's mmap failed");
    base_ = static_cast<std::byte*>(whole);
    page_ = page;
    if (mprotect(base_, page, PROT_NONE) != 0 || mprotect(base_ + page + room_, page, PROT_NONE) != 0)
      throw std::runtime_error("the test's mprotect failed");
  }
  ~fenced() {
    if (base_ != nullptr) munmap(base_, room_ + 2 * page_);
  }
  fenced(const fenced&) = delete;
  fenced& operator=(const fenced&) = delete;

  // `distance` elements behind where memory begins, or before where it ends.
  const void* behind_the_beginning(const std::vector<std::byte>& data, std::size_t distance, element_type type,
                                   std::uint16_t poison) {
    return put(data, distance * onefold::size_of(type), type, poison);
  }
  const void* before_the_end(const std::vector<std::byte>& data, std::size_t distance, element_type type, std::uint16_t poison) {
    return put(data, room_ - data.size() - distance * onefold::size_of(type), type, poison);
  }
  // Whether nothing has been written since.
  [[nodiscard]] bool unchanged() const {
    if (kind_ == memory::host) return image_.empty() || std::memcmp(base_ + page_ + from_, image_.data(), image_.size()) == 0;
    std::vector<std::byte> now(image_.size());
    device_->read(from_, now.data(), now.size());
    return now == image_;
  }

 private:
  const void* put(const std::vector<std::byte>& data, std::size_t at, element_type type, std::uint16_t poison) {
    const std::size_t size = onefold::size_of(type), zone = margin * size;
    const std::size_t before = std::min(at, zone), after = std::min(room_ - at - data.size(), zone);
    image_.resize(before + data.size() + after);
    for (std::size_t i = 0; i < before; i += size) std::memcpy(image_.data() + i, &poison, size);
    if (!data.empty()) std::memcpy(image_.data() + before, data.data(), data.size());  // at -O1 std::ranges::copy goes byte by byte
    for (std::size_t i = before + data.size(); i < image_.size(); i += size) std::memcpy(image_.data() + i, &poison, size);
    from_ = at - before;
    if (kind_ == memory::host) {
      std::memcpy(base_ + page_ + from_, image_.data(), image_.size());
      return base_ + page_ + at;
    }
    device_->write(from_, image_.data(), image_.size());
    return device_->address() + at;
  }

  memory kind_;
  std::size_t room_ = 0, page_ = 0, from_ = 0;
  std::byte* base_ = nullptr;
  std::optional<block> device_;
  std::vector<std::byte> image_;
};

constexpr std::size_t most_bytes = 2 * ((std::size_t{1} << 20) + 5) + 4096;

// Kept for all tests: memory of a GPU is slow to come.
struct both_arrays {
  explicit both_arrays(memory kind) : x(kind, most_bytes), y(kind, most_bytes) {}
  fenced x, y;
};
both_arrays& arrays_for(const onefold::executor& where) {
  static std::map<memory, std::unique_ptr<both_arrays>> known;
  auto& mine = known[memory_for(where)];
  if (!mine) mine = std::make_unique<both_arrays>(memory_for(where));
  return *mine;
}

// --- every form of every type ----------------------------------------------------------------------------------------------------------------

// executors(), and numbers of threads between one and all.
const std::vector<executor_under_test>& small_executors() {
  static const std::vector<executor_under_test> all = [] {
    std::vector<executor_under_test> found = executors();
    const auto& openmp = backend_under_test(onefold::backend::openmp);
    for (const int threads : {2, 3})
      if (openmp.usable && openmp.threads > threads)
        found.push_back({"openmp" + std::to_string(threads), onefold::openmp(threads), std::nullopt});
    return found;
  }();
  return all;
}

std::vector<form_case> small_cases() {
  std::vector<form_case> all;
  for (const auto& where : small_executors())
    for (int t = onefold::full_type_count; t < onefold::element_type_count; ++t)
      for (int f = 0; f < onefold::form_count + onefold::record_count; ++f)
        for (const bool wide : {false, true}) {
          const form_case one{&where, static_cast<element_type>(t), static_cast<form>(f), wide};
          if (form_of(one.type, one.what, wide)) all.push_back(one);
        }
  return all;
}

std::string hexadecimal(const result_bits& bits) {
  std::string all;
  char word[32];
  for (const std::uint64_t one : bits) {
    std::snprintf(word, sizeof(word), "%s0x%llx", all.empty() ? "" : " ", static_cast<unsigned long long>(one));
    all += word;
  }
  return all;
}

class small_type : public form_case_test {
 protected:
  void SetUp() override {
    form_case_test::SetUp();
    of_ = form_of(type(), what(), wide());
  }

  // What the page says of this input; every executor asks for the same.
  [[nodiscard]] result_bits expected(const input& in) const {
    static std::map<std::tuple<element_type, form, bool, const input*>, result_bits> known;
    const auto [at, is_new] = known.try_emplace({type(), what(), wide(), &in});
    if (is_new) at->second = of_->expected({in.x.data(), in.y.data(), in.count});
    return at->second;
  }

  [[nodiscard]] testing::AssertionResult gives(const arrays& at, const input& in, std::string_view place,
                                               std::size_t distance) const {
    onefold::report ran;
    const auto about = [&] {
      return std::string(in.words) + ", " + std::to_string(in.count) + " elements, " + std::to_string(distance) + " " +
             std::string(place) + "\n  repeat    " + repeat_command();
    };
    try {
      const result_bits got = of_->call(where(), at, {.report = &ran});
      count_dispatch(where());
      if (got != expected(in))
        return testing::AssertionFailure() << hexadecimal(got) << " instead of " << hexadecimal(expected(in)) << " by "
                                           << ran.implementation << ": " << about();
    } catch (const onefold::error& problem) {
      return testing::AssertionFailure() << "threw " << onefold::name(problem.code()) << ": " << problem.what() << ": " << about();
    }
    if (ran.variant != "fixed_order" || ran.backend != where().backend())
      return testing::AssertionFailure() << ran.variant << " ran on " << onefold::name(ran.backend);
    return testing::AssertionSuccess();
  }

  [[nodiscard]] testing::AssertionResult stores(const arrays& at, const input& in) const {
    guarded_output output(memory_for(where()), type(), of_->result_bytes);
    of_->store(where(), at, output.address(), {});
    count_dispatch(where());
    onefold::synchronize(where());
    const result_bits got = of_->of_stored(output.bytes().data());
    if (got != expected(in))
      return testing::AssertionFailure() << "stored " << hexadecimal(got) << " instead of " << hexadecimal(expected(in)) << ": "
                                         << in.words << ", " << in.count << " elements";
    if (!output.surroundings_unchanged()) return testing::AssertionFailure() << "wrote beside its output";
    return testing::AssertionSuccess();
  }

  [[nodiscard]] bool has_no_result(const input& in) const { return in.count == 0 && onefold::has_index(what()); }

  std::optional<form_under_test> of_;
};

TEST_P(small_type, has_the_bits_of_the_page_and_reads_nothing_else) {
  auto& memory = arrays_for(where());
  const std::uint16_t poison = poison_of(type(), what());
  constexpr std::size_t distances[] = {0, 1, 3, 7};
  std::size_t turn = 0;
  for (const input& in : inputs_of(type())) {
    if (has_no_result(in)) continue;
    const bool large = in.count > 10'000;
    const std::size_t one_of_them = distances[turn++ % std::size(distances)];
    for (const std::size_t distance : distances) {
      if (large && distance != one_of_them) continue;
      const std::size_t other = distances[turn++ % std::size(distances)];
      const void* y = what() == form::dot ? memory.y.behind_the_beginning(in.y, other, type(), poison) : nullptr;
      ASSERT_TRUE(gives({memory.x.behind_the_beginning(in.x, distance, type(), poison), y, in.count}, in, "behind the beginning",
                        distance));
      if (distance == one_of_them) {
        ASSERT_TRUE(memory.x.unchanged() && (y == nullptr || memory.y.unchanged())) << "the input was written to";
      }
      y = what() == form::dot ? memory.y.before_the_end(in.y, other, type(), poison) : nullptr;
      ASSERT_TRUE(gives({memory.x.before_the_end(in.x, distance, type(), poison), y, in.count}, in, "before the end", distance));
    }
  }
}

TEST_P(small_type, stores_the_same) {
  auto& memory = arrays_for(where());
  const std::uint16_t poison = poison_of(type(), what());
  std::size_t turn = 0;
  for (const input& in : inputs_of(type())) {
    if (has_no_result(in) || in.count > 100'000) continue;
    const std::size_t distance = turn++ % 9;
    const void* y = what() == form::dot ? memory.y.behind_the_beginning(in.y, 8 - distance, type(), poison) : nullptr;
    ASSERT_TRUE(stores({memory.x.behind_the_beginning(in.x, distance, type(), poison), y, in.count}, in));
  }
}

TEST_P(small_type, refuses_what_cannot_be) {
  auto& memory = arrays_for(where());
  const std::vector<std::byte> ones(64 * onefold::size_of(type()), std::byte{1});
  const auto* x = static_cast<const std::byte*>(memory.x.behind_the_beginning(ones, 0, type(), 0));
  const auto* y = static_cast<const std::byte*>(memory.y.behind_the_beginning(ones, 0, type(), 0));
  const auto call = [&](const void* first, const void* second, std::size_t count) {
    return [this, in = arrays{first, second, count}] { static_cast<void>(of_->call(where(), in, {})); };
  };
  EXPECT_TRUE(refuses(errc::null_pointer, "null", call(nullptr, y, 5)));
  if (onefold::size_of(type()) == 2) {
    EXPECT_TRUE(refuses(errc::misaligned_pointer, "aligned", call(x + 1, y, 5)));
  }
  if (what() == form::dot) {
    EXPECT_TRUE(refuses(errc::null_pointer, "null", call(x, nullptr, 5)));
  }
  if (onefold::has_index(what())) {
    EXPECT_TRUE(refuses(errc::invalid_argument, "no elements", call(x, y, 0)));
  }
  call(x, y, 5)();
  count_dispatch(where());
}

INSTANTIATE_TEST_SUITE_P(forms, small_type, testing::ValuesIn(small_cases()), param_name);

// --- several operators in one read -----------------------------------------------------------------------------------------------------------

// "each operator's result is the one that it has alone, converted"
template <class E>
std::array<std::uint64_t, 4> together(const arrays& in) {
  using T = small::total<E, false>;
  const auto* x = static_cast<const E*>(in.x);
  const auto one = [&](auto value) { return small::bits_of(small::settled(static_cast<T>(small::plain(value)))); };
  return {one(small::oracle<form::sum, E, false>(x, nullptr, in.count, 0)),
          one(small::oracle<form::prod, E, false>(x, nullptr, in.count, 0)),
          one(small::oracle<form::min, E, false>(x, nullptr, in.count, 0)),
          one(small::oracle<form::max, E, false>(x, nullptr, in.count, 0))};
}

template <class E>
std::array<std::uint64_t, 4> called_together(const onefold::executor& where, const arrays& in, std::array<std::uint64_t, 2>& two) {
  namespace op = onefold::op;
  const auto* x = static_cast<const E*>(in.x);
  const auto all = onefold::reduce_together(where, x, in.count, op::sum{}, op::prod{}, op::min{}, op::max{});
  static_assert(std::is_same_v<decltype(all), const std::array<small::total<E, false>, 4>>);
  const auto [high, sum] = onefold::reduce_together(where, x, in.count, op::max{}, op::sum{});
  two = {small::bits_of(high), small::bits_of(sum)};
  return {small::bits_of(all[0]), small::bits_of(all[1]), small::bits_of(all[2]), small::bits_of(all[3])};
}

class small_types_together : public executor_test {
 protected:
  template <class E>
  void check() const {
    constexpr auto type = onefold::element_type_of<E>;
    auto& memory = arrays_for(where());
    for (const input& in : inputs_of(type)) {
      if (in.count > 100'000) continue;
      const arrays at{memory.x.before_the_end(in.x, in.count % 5, type, 0x5555), nullptr, in.count};
      std::array<std::uint64_t, 2> two{};
      const auto got = called_together<E>(where(), at, two);
      count_dispatch(where());
      const auto wanted = together<E>({in.x.data(), nullptr, in.count});
      ASSERT_EQ(got, wanted) << onefold::name(type) << ", " << in.words << ", " << in.count;
      ASSERT_EQ(two, (std::array{wanted[3], wanted[0]})) << onefold::name(type) << ", " << in.words << ", " << in.count;
    }
  }
};

TEST_P(small_types_together, have_the_results_of_each_operator) {
#define ONEFOLD_SMALL_TYPE(name, T) \
  if (!HasFatalFailure()) check<T>();
#include <onefold/types.def>
}

INSTANTIATE_TEST_SUITE_P(forms, small_types_together, testing::ValuesIn(each_of_the_executors()), label_of_executor);

// --- more bytes than 32 bits can add

class many_bytes : public executor_test {};

TEST_P(many_bytes, are_added_in_64_bits) {
  const std::size_t count = (std::size_t{1} << 24) + (std::size_t{1} << 20) + 3;
  block memory(memory_for(where()), count);
  const auto n = static_cast<std::int64_t>(count);
  memory.write(0, std::vector<std::uint8_t>(count, 0xff).data(), count);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(memory.address());
  EXPECT_EQ(onefold::sum(where(), bytes, count), 255u * count);
  EXPECT_EQ(onefold::norm1(where(), bytes, count), 255u * count);
  EXPECT_EQ(onefold::mean(where(), bytes, count), 255.0);
  memory.write(0, std::vector<std::uint8_t>(count, 0x80).data(), count);
  const auto* least = reinterpret_cast<const std::int8_t*>(memory.address());
  EXPECT_EQ(onefold::sum(where(), least, count), -128 * n);
  EXPECT_EQ(onefold::norm1(where(), least, count), 128u * count);
  EXPECT_EQ(onefold::dot(where(), least, least, count), 16'384 * n);
  EXPECT_EQ(onefold::mean(where(), least, count), -128.0);
  count_dispatch(where());
}

INSTANTIATE_TEST_SUITE_P(forms, many_bytes, testing::ValuesIn(each_of_the_executors()), label_of_executor);

#ifdef ONEFOLD_HAVE_CUDA

// --- on streams, and in graphs -----------------------------------------------------------------------------------------------------------------

class small_types_on_a_stream : public cuda_form_test {};

constexpr family any_integer{"any bits", false, true, true,
                             [](element_type, std::uint64_t r) { return static_cast<std::uint16_t>(r); }};
constexpr family any_float{"many sizes", true, false, true, many_sizes};
const family& any_of(element_type type) { return onefold::is_float(type) ? any_float : any_integer; }

struct recorded_task {
  element_type type;
  form what;
  bool wide;
};
constexpr recorded_task recorded_tasks[] = {{element_type::i8, form::sum, false},
                                            {element_type::u8, form::any, false},
                                            {element_type::i16, form::norm1, false},
                                            {element_type::u16, form::argminmax, false},
                                            {element_type::f16, form::sum, false},
                                            {element_type::bf16, form::dot, false},
                                            {element_type::f16, form::min, false},
                                            {element_type::bf16, form::sum, true},
                                            {element_type::i8, form::norm1, true},
                                            {element_type::u16, form::dot, true},
                                            {element_type::u8, form::mean, false},
                                            {element_type::f16, form::mean_variance, false},
                                            {element_type::i16, form::argmin_magnitude, false}};

TEST_F(small_types_on_a_stream, are_replayed_with_other_data_cuda) {
  for (const auto& task : recorded_tasks) {
    const auto of = form_of(task.type, task.what, task.wide);
    const stream on;
    const auto where = onefold::cuda(0, on.get());
    const std::size_t count = 40 * 16 * lanes_of(task.type) + 77;
    onefold::workspace own(where, count);
    fenced x(memory::device, most_bytes), y(memory::device, most_bytes);
    const auto data = [&](std::uint64_t seed) { return family_input(task.type, any_of(task.type), count, seed); };
    const std::uint16_t poison = poison_of(task.type, task.what);
    const input first = data(1);
    const arrays at{x.behind_the_beginning(first.x, 3, task.type, poison), y.behind_the_beginning(first.y, 1, task.type, poison),
                    count};
    guarded_output output(memory::device, task.type, of->result_bytes);
    recording graph(on.get());
    of->store(where, at, output.address(), {.workspace = &own});
    count_dispatch(where);
    graph.end();
    for (std::uint64_t seed = 2; seed < 5; ++seed) {
      const input now = data(seed);
      x.behind_the_beginning(now.x, 3, task.type, poison);
      y.behind_the_beginning(now.y, 1, task.type, poison);
      graph.replay();
      on.synchronize();
      EXPECT_EQ(of->of_stored(output.bytes().data()), of->expected({now.x.data(), now.y.data(), count}))
          << onefold::name(task.what) << " of " << onefold::name(task.type) << ", replay " << seed;
      EXPECT_TRUE(output.surroundings_unchanged());
    }
  }
}

TEST_F(small_types_on_a_stream, are_ordered_with_what_is_put_there_before_cuda) {
  for (const auto& task : recorded_tasks) {
    const auto of = form_of(task.type, task.what, task.wide);
    const stream on;
    const auto where = onefold::cuda(0, on.get());
    const std::size_t count = 300'007;
    const input in = family_input(task.type, any_of(task.type), count, 9);
    const device_memory x(in.x.size()), y(in.y.size());
    guarded_output output(memory::device, task.type, of->result_bytes);
    expect_success(cudaMemcpyAsync(x.as<void>(), in.x.data(), in.x.size(), cudaMemcpyHostToDevice, on.get()), "cudaMemcpyAsync");
    expect_success(cudaMemcpyAsync(y.as<void>(), in.y.data(), in.y.size(), cudaMemcpyHostToDevice, on.get()), "cudaMemcpyAsync");
    of->store(where, {x.as<void>(), y.as<void>(), count}, output.address(), {});
    count_dispatch(where);
    on.synchronize();
    EXPECT_EQ(of->of_stored(output.bytes().data()), of->expected({in.x.data(), in.y.data(), count}))
        << onefold::name(task.what) << " of " << onefold::name(task.type);
  }
}

#endif

}  // namespace
}  // namespace onefold_test
