#include "policy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include <onefold/catalogue.hpp>
#include <onefold/error.hpp>
#include <onefold/version.hpp>

namespace onefold::cuda_backend {

namespace {

// --- what the library comes with ---

constexpr int usual_block_size = 512;

struct built_in_choices {
  std::string_view variant;
  int block_size = usual_block_size;
  int alone_rounds = 0;
  int host_values = 0;
};

// Measured on an H200 (perf/results), and right elsewhere as far as the reasons go: every GPU from compute capability 7.0 on has 65536 registers to
// a multiprocessor and room for a block of 1024 threads. The segments' 1024 is the lecture's.
constexpr built_in_choices of_variants[] = {
    {.variant = "bottom_up"},
    {.variant = "dual_grid_stride", .alone_rounds = 1},
    {.variant = "grid_stride", .alone_rounds = 1},
    {.variant = "hybrid_host", .block_size = 1024, .host_values = 4096},
    {.variant = "narrow_handoff", .block_size = 1024},
    {.variant = "persistent_blocks", .block_size = 1024},
    {.variant = "segment_halving", .block_size = 1024},
    {.variant = "segment_pairwise", .block_size = 1024},
    {.variant = "segment_wide", .block_size = 1024},
    {.variant = "vector_load", .alone_rounds = 1},
};

built_in_choices built_in_choices_of(std::string_view variant) {
  const auto* const named = std::ranges::find(of_variants, variant, &built_in_choices::variant);
  return named == std::end(of_variants) ? built_in_choices{.variant = variant} : *named;
}

// --- the numbers by name: for files, and for the sentences of errors ---

template <class Policy>
struct number {
  std::string_view name;
  int Policy::*member;
  int least, most;
  bool power_of_two = false;
};

constexpr int most_short_units = 1 << 20;
constexpr number<fixed_order_policy> numbers_of_fixed_order[] = {
    {"one_block_tiles", &fixed_order_policy::one_block_tiles, 1, most_warps},
    {"cluster_tiles", &fixed_order_policy::cluster_tiles, 0, most_few_units},
    {"short_units", &fixed_order_policy::short_units, 0, most_short_units},
    {"short_blocks", &fixed_order_policy::short_blocks, 1, 1024},
    {"wave_warps", &fixed_order_policy::wave_warps, 0, most_warps},
    {"stream_warps", &fixed_order_policy::stream_warps, 1, most_warps, true},
    {"stream_rounds", &fixed_order_policy::stream_rounds, 1, 64},
    {"stream_leaves", &fixed_order_policy::stream_leaves, 1, static_cast<int>(most_leaves)},
    {"single_tiles", &fixed_order_policy::single_tiles, 0, 1024},
};
constexpr number<variant_policy> numbers_of_variants[] = {
    {"block_size", &variant_policy::block_size, 1, 1024},
    {"blocks_per_multiprocessor", &variant_policy::blocks_per_multiprocessor, 0, 64},
    {"alone_rounds", &variant_policy::alone_rounds, 1, 1024},
    {"host_values", &variant_policy::host_values, 1, 1 << 20},
};
constexpr std::string_view fixed_order_section = "fixed_order";

template <class Policy>
void check_number(const Policy& given, const number<Policy>& one, std::string_view owner) {
  const int value = given.*one.member;
  const bool fits =
      value >= one.least && value <= one.most && (!one.power_of_two || std::has_single_bit(static_cast<unsigned>(value)));
  if (fits) return;
  throw error(errc::invalid_argument, "the launch policy's " + std::string(one.name) + " of " + std::string(owner) + " is " +
                                          std::to_string(value) + ": it can be " + std::to_string(one.least) + " to " +
                                          std::to_string(one.most) + (one.power_of_two ? ", a power of two" : ""));
}

bool has_choices(const variant_info& variant) { return !variant.block_sizes.empty() && variant.name != fixed_order_section; }

variant_policy built_in_variant(const variant_info& variant) {
  const built_in_choices own = built_in_choices_of(variant.name);
  return {std::string(variant.name), variant.default_block_size, 0, own.alone_rounds, own.host_values};
}

void check_variant(const variant_policy& given, const variant_policy& own, const variant_info& variant) {
  for (const auto& one : numbers_of_variants) {
    const bool has_it = one.member == &variant_policy::blocks_per_multiprocessor ? variant.grid_size_free : own.*one.member != 0;
    if (has_it) {
      check_number(given, one, variant.name);
    } else if (given.*one.member != 0) {
      throw error(errc::invalid_argument, std::string(variant.name) + " has no " + std::string(one.name) +
                                              " that a launch policy could choose: leave it 0");
    }
  }
  if (std::ranges::find(variant.block_sizes, given.block_size) == variant.block_sizes.end())
    throw error(errc::invalid_argument, "the launch policy's block_size of " + std::string(variant.name) + " is " +
                                            std::to_string(given.block_size) + ", which is none of the variant's");
}

// --- files ---

constexpr std::string_view format = "1";

struct heading {
  std::string_view key;
  std::string value;
};

std::vector<heading> headings_of(const device_properties& gpu) {
  return {{"format", std::string(format)},
          {"onefold", ONEFOLD_VERSION_STRING},
          {"gpu", gpu.name},
          {"compute_capability", std::to_string(gpu.compute_capability / 10) + "." + std::to_string(gpu.compute_capability % 10)},
          {"multiprocessors", std::to_string(gpu.multiprocessors)}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string quoted(std::string_view text) {
  std::string word = "'";
  word.append(text);
  return word.append("'");
}

std::string missing_line(std::string_view key) { return "a line " + quoted(std::string(key) + " = ...") + " belongs here"; }

// Reads a file's text line by line into `policy`, which holds the built-in choices.
class policy_reader {
 public:
  policy_reader(std::string source, const device_properties& gpu, launch_policy& policy)
      : source_(std::move(source)), headings_(headings_of(gpu)), policy_(policy) {}

  void read(std::string_view text) {
    for (; !text.empty(); ++line_number_) {
      const auto end = std::min(text.find('\n'), text.size());
      const auto line = text.substr(0, end);
      read_line(trimmed(line.substr(0, line.find('#'))));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (seen_headings_ != headings_.size()) refuse(errc::invalid_argument, missing_line(headings_[seen_headings_].key));
  }

 private:
  [[noreturn]] void refuse(errc code, const std::string& why) const {
    throw error(code, source_ + " is no launch policy for this GPU: " + why + "; onefold-perf tune writes one");
  }
  [[noreturn]] void refuse_line(const std::string& why) const {
    refuse(errc::invalid_argument, "line " + std::to_string(line_number_) + ": " + why);
  }

  void read_line(std::string_view line) {
    if (line.empty()) return;
    if (line.front() == '[') return begin_section(line);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) refuse_line(quoted(line) + " is neither '[variant]' nor 'name = number'");
    const auto key = trimmed(line.substr(0, equals));
    const auto value = trimmed(line.substr(equals + 1));
    if (seen_headings_ < headings_.size()) return read_heading(key, value);
    if (in_fixed_order_) return read_number(policy_.fixed_order, numbers_of_fixed_order, key, value);
    if (variant_ != nullptr) return read_number(*variant_, numbers_of_variants, key, value);
    refuse_line(quoted(key) + " stands in no section");
  }

  // In their order, so that the format is known before anything is understood by it.
  void read_heading(std::string_view key, std::string_view value) {
    const heading& wanted = headings_[seen_headings_++];
    if (key != wanted.key) refuse_line(missing_line(wanted.key));
    if (value == wanted.value) return;
    refuse(errc::unsupported, "it has " + std::string(key) + " = " + std::string(value) + ", and here it is " + wanted.value);
  }

  void begin_section(std::string_view line) {
    if (seen_headings_ < headings_.size()) refuse_line(missing_line(headings_[seen_headings_].key));
    if (line.back() != ']') refuse_line("a ']' is missing");
    const std::string name(trimmed(line.substr(1, line.size() - 2)));
    if (std::ranges::find(sections_, name) != sections_.end()) refuse_line(quoted(line) + " stands twice");
    sections_.push_back(name);
    keys_.clear();
    in_fixed_order_ = name == fixed_order_section;
    const auto found = std::ranges::find(policy_.variants, name, &variant_policy::variant);
    variant_ = found == policy_.variants.end() ? nullptr : &*found;
    if (variant_ == nullptr && is_left_out(name)) variant_ = &of_nobody_;
    if (!in_fixed_order_ && variant_ == nullptr) refuse_line("no variant named " + name + " has launch choices");
  }

  // A file that a library with all variants has written serves one without them.
  static bool is_left_out(std::string_view name) {
    const variant_info* const found = find_variant(name, backend::cuda);
    return found != nullptr && !found->built;
  }

  template <class Policy, std::size_t N>
  void read_number(Policy& into, const number<Policy> (&numbers)[N], std::string_view key, std::string_view value) {
    const auto* const known = std::ranges::find(numbers, key, &number<Policy>::name);
    if (known == std::end(numbers)) refuse_line("there is no choice named " + std::string(key));
    if (std::ranges::find(keys_, key) != keys_.end()) refuse_line(std::string(key) + " stands twice");
    keys_.emplace_back(key);
    int read = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), read);
    if (parsed.ec != std::errc{} || parsed.ptr != value.data() + value.size()) refuse_line(quoted(value) + " is no whole number");
    into.*known->member = read;
  }

  std::string source_;
  std::vector<heading> headings_;
  launch_policy& policy_;
  std::size_t seen_headings_ = 0;
  int line_number_ = 1;
  bool in_fixed_order_ = false;
  variant_policy* variant_ = nullptr;
  variant_policy of_nobody_;  ///< takes the numbers of variants that are left out
  std::vector<std::string> sections_, keys_;
};

template <class Policy, std::size_t N>
void write_numbers(std::string& text, const Policy& from, const number<Policy> (&numbers)[N]) {
  for (const auto& one : numbers) text += std::string(one.name) + " = " + std::to_string(from.*one.member) + "\n";
}

// --- what is in force ---

// Policies that were in force are kept: a call of another thread may be reading one. Never destroyed, as calls may come during the exit.
struct in_force {
  std::mutex lock;
  std::deque<launch_policy> kept;
  std::map<int, const launch_policy*> of_device;  // every device's, those that `remembered` has no place for too
};
in_force& all_in_force() {
  static auto& all = *new in_force;
  return all;
}
remembered<const launch_policy*>& quick_answers() {
  static auto& all = *new remembered<const launch_policy*>;
  return all;
}

const launch_policy& keep(in_force& all, int device, launch_policy chosen) {
  const auto same = std::ranges::find(all.kept, chosen);
  const launch_policy& kept = same != all.kept.end() ? *same : all.kept.emplace_back(std::move(chosen));
  all.of_device[device] = &kept;
  quick_answers().remember(device, &kept);
  return kept;
}

}  // namespace

int built_in_block_size(std::string_view variant, std::span<const int> offered) {
  const int wanted = built_in_choices_of(variant).block_size;
  int best = 0;
  for (const int size : offered)
    if (best == 0 || (size <= wanted && size > best)) best = size;
  return best;
}

namespace {

// 9.0 is measured. 8.0 has the same registers, warps and loads in flight for each multiprocessor, and no clusters. Other GPUs take the newest of
// these two that they have everything of: their number of multiprocessors is asked for, not assumed.
fixed_order_policy built_in_fixed_order(int compute_capability) {
  constexpr fixed_order_policy of_9_0{};
  constexpr fixed_order_policy of_8_0{.cluster_tiles = 0};
  return compute_capability >= 90 ? of_9_0 : of_8_0;
}

}  // namespace

launch_policy built_in_policy(int compute_capability) {
  // Where a block has 64 KiB of shared memory at most, 1024 threads with 64 bytes each leave no room for anything else.
  constexpr int capability_of_64_kib = 75;
  constexpr int block_for_64_kib = 512;
  launch_policy policy{.fixed_order = built_in_fixed_order(compute_capability), .variants = {}};
  for (const auto& variant : onefold::variants(backend::cuda))
    if (has_choices(variant)) policy.variants.push_back(built_in_variant(variant));
  if (compute_capability == capability_of_64_kib)
    for (variant_policy& one : policy.variants)
      if (one.variant == "persistent_blocks") one.block_size = block_for_64_kib;
  return policy;
}

launch_policy checked(const launch_policy& given, const device_properties& gpu) {
  for (const auto& one : numbers_of_fixed_order) check_number(given.fixed_order, one, fixed_order_section);
  launch_policy whole = built_in_policy(gpu.compute_capability);
  whole.fixed_order = given.fixed_order;
  for (const variant_policy& one : given.variants) {
    const auto own = std::ranges::find(whole.variants, one.variant, &variant_policy::variant);
    if (own == whole.variants.end())
      throw error(errc::invalid_argument,
                  "the launch policy names " + one.variant + ", which is no variant that has launch choices");
    check_variant(one, *own, *find_variant(one.variant, backend::cuda));
    *own = one;
  }
  return whole;
}

std::string to_text(const launch_policy& chosen, const device_properties& gpu) {
  const launch_policy whole = checked(chosen, gpu);
  std::string text =
      "# Launch choices of onefold for one kind of GPU: they decide the time and never a fixed result's bits (docs/tuning.md).\n";
  for (const heading& one : headings_of(gpu)) text += std::string(one.key) + " = " + one.value + "\n";
  text += "\n[" + std::string(fixed_order_section) + "]\n";
  write_numbers(text, whole.fixed_order, numbers_of_fixed_order);
  for (const variant_policy& one : whole.variants) {
    text += "\n[" + one.variant + "]\n";
    write_numbers(text, one, numbers_of_variants);
  }
  return text;
}

launch_policy from_text(std::string_view text, const std::string& source, const device_properties& gpu) {
  launch_policy policy = built_in_policy(gpu.compute_capability);
  policy_reader(source, gpu, policy).read(text);
  try {
    return checked(policy, gpu);
  } catch (const error& problem) {
    throw error(problem.code(), source + ": " + problem.what());
  }
}

launch_policy read_policy_file(const std::string& path, const device_properties& gpu) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(most_bytes + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() || text.size() > most_bytes)
    throw error(errc::invalid_argument,
                "the launch policy " + path + " cannot be read" + (text.empty() ? "" : ": it is too large"));
  return from_text(text, path, gpu);
}

const launch_policy& policy_in_force(const device_properties& gpu) {
  if (const auto* const known = quick_answers().known(gpu.number)) [[likely]]
    return *known;
  auto& all = all_in_force();
  const std::lock_guard lock(all.lock);
  if (const auto known = all.of_device.find(gpu.number); known != all.of_device.end()) return *known->second;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): unsafe only beside setenv, which onefold never calls
  const char* const path = std::getenv("ONEFOLD_CUDA_POLICY");
  if (path == nullptr || *path == '\0') return keep(all, gpu.number, built_in_policy(gpu.compute_capability));
  try {
    return keep(all, gpu.number, read_policy_file(path, gpu));
  } catch (const error& problem) {
    throw error(problem.code(), "the environment variable ONEFOLD_CUDA_POLICY: " + std::string(problem.what()));
  }
}

void put_in_force(const device_properties& gpu, const launch_policy& chosen) {
  launch_policy whole = checked(chosen, gpu);
  auto& all = all_in_force();
  const std::lock_guard lock(all.lock);
  keep(all, gpu.number, std::move(whole));
}

const variant_policy& choices_of(const launch_policy& policy, std::string_view variant) {
  static const variant_policy none{};
  if (variant == fixed_order_section) return none;  // the default, whose calls are the shortest and should not search
  const auto found = std::ranges::find(policy.variants, variant, &variant_policy::variant);
  return found == policy.variants.end() ? none : *found;
}

}  // namespace onefold::cuda_backend
