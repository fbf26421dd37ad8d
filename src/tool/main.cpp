/// @file main.cpp  The command line of the tool `onefold`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <onefold/catalogue.hpp>
#include <onefold/error.hpp>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>
#include <onefold/version.hpp>

#include "../type_names.hpp"
#include "any_range.hpp"
#include "ending.hpp"
#include "file_types.hpp"
#include "golden.hpp"
#include "input_error.hpp"
#include "input_file.hpp"
#include "measure.hpp"
#include "print.hpp"
#include "state_file.hpp"
#include "words.hpp"

namespace onefold::tool {

namespace {

constexpr int difference = 1;  // the exit status of a check that found one

constexpr const char* examples = R"(
Examples:
  onefold sum x.npy                              the sum of all elements, on the CPU
  onefold max run.h5:/fields/pressure            a dataset of an HDF5 file
  onefold min dump.bin --type f64                raw binary, little-endian
  onefold sum x.npy --backend cuda --repeat 20   on the GPU, the median of 20 runs
  onefold sum x.npy --backend cuda --variant warp_shuffle --block-size 256
  onefold dot x.npy y.npy --accumulate f64       products of floats, added in double
  onefold mean weights.bin --type bf16           NumPy has no code for bfloat16: it comes raw, or in HDF5
  onefold norm2 x.npy                            the square root of the sum of squares
  onefold argmin x.npy                           the smallest element, and the first index that has it
  onefold any mask.npy                           whether any element is not zero
  onefold mean_variance x.npy --ddof 1           both, with one read
  onefold sum x.npy --exact                      the exact sum, rounded once, and how far the other is from it
  onefold sum x0.npy --exact --state s0.npy      what is known of a part, and of another in s1.npy; then
  onefold merge s0.npy s1.npy                    the exact sum of both, however they were divided
  onefold sum x1.npy --begin 500 --state 1       the same of the default, which knows elements by their places: x1.npy
  onefold merge 0 1                              begins with element 500; to the bit the sum of one file with all
  onefold sum x.npy --json | jq .value           for scripts
  onefold variants                               the kernels that --variant takes
  onefold info                                   what can run here
  onefold check                                  whether every backend here gives the bits of the golden table

Exit status: 0; 1 when check has found a difference; 2 with one line on standard error that says what is wrong.)";

// What the user typed behind sum, dot, norm2 and the other forms.
struct reduce_arguments {
  std::string file;
  std::string second_file;
  std::string type;
  std::string accumulate = "own";
  std::int64_t ddof = 0;
  std::string guarantee;
  bool exact = false;
  std::string save_state;
  std::int64_t begin = 0;
  std::string backend = "best";
  std::optional<int> device;
  std::optional<int> threads;
  std::string variant;
  std::string finish = "automatic";
  int block_size = 0;
  std::int64_t grid_size = 0;
  int width = 0;
  int repeat = 0;
  bool follow_external = false;
  bool json = false;
};

// Behind merge.
struct merge_arguments {
  std::vector<std::string> files;
  std::string form;
  std::string accumulate = "own";
  std::int64_t ddof = 0;
  std::string save_state;
  bool json = false;
};

struct check_arguments {
  std::string backend;
  bool json = false;
};

struct variants_arguments {
  std::string backend;
  bool json = false;
  bool markdown = false;
};

executor chosen_executor(const reduce_arguments& arguments) {
  switch (parse<backend>(arguments.backend).value_or(backend::serial)) {
    case backend::openmp:
      return openmp(arguments.threads.value_or(0));
    case backend::cuda:
      return cuda(arguments.device.value_or(0));
    case backend::serial:
      break;
  }
  return arguments.backend == "best" ? best() : serial();
}

// Whether --accumulate names another type than the elements are accumulated in anyway. As in the library that one may be named too.
bool is_wide(form wanted, const std::string& accumulate, const std::string& file, element_type type) {
  const auto asked = parse<element_type>(accumulate);
  if (!asked) return false;
  const element_type own = accumulator_type(type), wide = accumulator_type(type, true);
  const bool has_wide = can_be_wide(type, wanted);
  if (has_wide && *asked == wide) return true;
  if (*asked == own && part_type(result_type(type, wanted)) == part_type(own)) return false;
  throw input_error(
      fmt::format("{}: {} of {} cannot be accumulated in {}: {}", file, name(wanted), name(type), name(*asked),
                  has_wide ? fmt::format("--accumulate takes own or {} for them", name(wide)) : "leave --accumulate out"));
}

// Two arrays go together element by element.
void check_pair(const reduce_arguments& arguments, const input_array& x, const input_array& y) {
  if (x.type != y.type)
    throw input_error(fmt::format("{}: has elements of type {}, and {} of type {}: convert one of them", arguments.second_file,
                                  name(y.type), arguments.file, name(x.type)));
  const auto has_order = [](const input_array& of) {  // along one axis there is but one
    return std::ranges::count_if(of.shape, [](std::uint64_t length) { return length != 1; }) > 1;
  };
  if (x.fortran_order != y.fortran_order && has_order(x) && has_order(y))
    throw input_error(fmt::format(
        "{}: lies in {} order, and {} in the other: dot goes by the elements' order in the files, so save one of them again "
        "(numpy.ascontiguousarray)",
        arguments.second_file, y.fortran_order ? "Fortran" : "C", arguments.file));
  if (x.count != y.count)
    throw input_error(fmt::format("{}: has {} elements, and {} has {}: dot needs as many of one as of the other",
                                  arguments.second_file, y.count, arguments.file, x.count));
}

void check_variant(const reduce_arguments& arguments) {
  if (arguments.variant.empty()) return;
  std::vector<std::string> names;
  for (const variant_info& known : variants()) names.emplace_back(known.name);
  if (std::ranges::find(names, arguments.variant) != names.end()) return;
  const std::string near = suggestion(arguments.variant, names);
  throw error(errc::unknown_variant, fmt::format("no variant is named \"{}\": {}", arguments.variant,
                                                 near.empty() ? "'onefold variants' lists them" : near));
}

// Whether a file is the one that is read as NAME, or FILE of FILE:/DATASET.
bool is_read(const std::string& file, const std::string& name) {
  std::error_code missing;
  for (std::size_t end = name.find(':');; end = name.find(':', end + 1)) {
    if (std::filesystem::equivalent(file, name.substr(0, end), missing)) return true;
    if (end == std::string::npos) return false;
  }
}

void check_save_state(form wanted, const reduce_arguments& arguments, element_type type) {
  if (arguments.exact && state_words(type, wanted) == 0)
    throw input_error(
        fmt::format("{}: {} of {} has no exact state to be saved: leave --state out", arguments.file, name(wanted), name(type)));
  for (const std::string& input : {arguments.file, arguments.second_file})
    if (is_read(arguments.save_state, input))
      throw input_error(fmt::format("{}: is what is reduced: give --state the name of another file", input));
}

std::string reduce_command(form wanted, const reduce_arguments& arguments) {
  check_variant(arguments);
  job what{wanted, false, chosen_executor(arguments), {}, arguments.repeat, arguments.ddof};
  what.how.variant = arguments.variant;
  what.how.guarantee = arguments.exact ? guarantee::exact : parse<guarantee>(arguments.guarantee);
  const bool saves = !arguments.save_state.empty();
  what.keeps_state = saves && arguments.exact;
  if (saves && !arguments.exact) what.begin = static_cast<std::uint64_t>(arguments.begin);
  what.how.finish = parse<finish>(arguments.finish).value_or(finish::automatic);
  what.how.block_size = arguments.block_size;
  what.how.grid_size = arguments.grid_size;
  what.how.width = arguments.width;

  // First of all: a page may be lost as soon as a file is mapped.
  exit_when_pages_are_lost(one_line(wanted == form::dot ? arguments.file + " or " + arguments.second_file : arguments.file));
  const auto type = parse<element_type>(arguments.type);
  const open_options open{arguments.follow_external, {}};
  const input_array input = open_input(arguments.file, type, open);
  std::optional<input_array> second;
  if (wanted == form::dot) {
    second = open_input(arguments.second_file, type, open);
    check_pair(arguments, input, *second);
  }
  what.wide = is_wide(wanted, arguments.accumulate, arguments.file, input.type);
  if (saves) check_save_state(wanted, arguments, input.type);
  const outcome result = measure(input, second ? &*second : nullptr, what);
  input.check_whole();
  if (second) second->check_whole();
  if (what.keeps_state) write_state(arguments.save_state, result.state);
  if (what.begin) write_range(arguments.save_state, result.range);
  const reduction done{arguments.file, input,  arguments.second_file, second ? &*second : nullptr,
                       what,           result, arguments.save_state};
  return arguments.json ? reduction_json(done) : reduction_text(done);
}

void check_ddof(const merge_arguments& arguments, form merged) {
  if (arguments.ddof != 0 && merged != form::mean_variance)
    throw input_error(fmt::format("{}: is a state of {}, and --ddof is for mean_variance", arguments.files[0], name(merged)));
}

merging merge_exact_states(const merge_arguments& arguments) {
  const std::string& first = arguments.files[0];
  const merged_states merged = merge_states(arguments.files, parse<form>(arguments.form));
  check_ddof(arguments, merged.form);
  const bool wide = is_wide(merged.form, arguments.accumulate, first, merged.type);
  const result_bits bits = results_of_state(merged.type, merged.form, wide, arguments.ddof, merged.words);
  if (!arguments.save_state.empty()) write_state(arguments.save_state, merged.words);
  return {.files = arguments.files,
          .type = merged.type,
          .form = merged.form,
          .wide = wide,
          .ddof = arguments.ddof,
          .bits = bits,
          .count = merged.count,
          .states = merged.states,
          .begin = std::nullopt,
          .saved_state = arguments.save_state};
}

merging merge_states_of_ranges(const merge_arguments& arguments) {
  const std::string& first = arguments.files[0];
  const any_range all = merge_ranges(arguments.files, parse<form>(arguments.form));
  const range_kind& of = all.of();
  check_ddof(arguments, of.form);
  if (arguments.accumulate != "own" && is_wide(of.form, arguments.accumulate, first, of.type) != of.wide)
    throw input_error(
        fmt::format("{}: is a state of {}, which --accumulate cannot change: it is for states of --exact", first, text_of(of)));
  const auto bits = all.result(arguments.ddof);
  if (!bits && arguments.save_state.empty())
    throw input_error(fmt::format("{}: {}: name the states of all elements, or let --state keep what there is", first,
                                  all.begin() == 0 ? fmt::format("is of no elements, which have no {}", name(of.form))
                                                   : fmt::format("no file begins at element 0, the first one at {}", all.begin())));
  if (!arguments.save_state.empty()) write_range(arguments.save_state, all.bytes());
  return {.files = arguments.files,
          .type = of.type,
          .form = of.form,
          .wide = of.wide,
          .ddof = arguments.ddof,
          .bits = bits,
          .count = all.end() - all.begin(),
          .states = arguments.files.size(),
          .begin = all.begin(),
          .saved_state = arguments.save_state};
}

std::string merge_command(const merge_arguments& arguments) {
  exit_when_pages_are_lost(one_line(fmt::format("{}", fmt::join(arguments.files, " or "))));
  const merging done = has_range_file(arguments.files) ? merge_states_of_ranges(arguments) : merge_exact_states(arguments);
  return arguments.json ? merging_json(done) : merging_text(done);
}

// What a command prints, and the tool's exit status.
struct command_output {
  std::string text;
  int status = 0;
};

std::vector<backend_info> described_backends() {
  auto all = backends();
  for (backend_info& known : all)
    if (!known.usable) known.detail = in_words_of_the_tool(known.detail);
  return all;
}

command_output check_command(const check_arguments& arguments) {
  auto places = golden_places();
  // A CPU always can, unless it has been told what it cannot: left out in silence it would be taken for checked.
  for (const backend_info& known : backends())
    if (arguments.backend.empty() && known.built && !known.usable && known.where != backend::cuda)
      throw error(errc::backend_unavailable, fmt::format("{} cannot be used here: {}", name(known.where), known.detail));
  if (const auto wanted = parse<backend>(arguments.backend)) {
    std::erase_if(places, [&](const executor& where) { return where.backend() != *wanted; });
    for (const backend_info& known : backends())
      if (known.where == *wanted && places.empty())
        throw error(errc::backend_unavailable, fmt::format("{} cannot be used here: {}", arguments.backend, known.detail));
  }
  if (places.empty()) throw error(errc::backend_unavailable, "no backend can be used here: 'onefold info' says why");
  std::vector<golden_outcome> outcomes;
  bool same = true;
  for (const executor& where : places) {
    outcomes.push_back(compare(golden_table(), where));
    same = same && outcomes.back().differences.empty();
  }
  return {arguments.json ? check_json(outcomes) : check_text(outcomes), same ? 0 : difference};
}

std::string variants_command(const variants_arguments& arguments) {
  const auto wanted = parse<backend>(arguments.backend);
  const auto listed = wanted ? variants(*wanted) : variants();
  if (arguments.markdown) return variants_markdown(listed);

  // best() asks each variant about the backend that it is native to.
  const executor where = wanted == backend::openmp ? openmp() : wanted == backend::serial ? serial() : best();
  std::vector<variant_row> rows;
  for (const variant_info& variant : listed) {
    auto obstacle = why_not(variant, where);
    if (obstacle) obstacle = in_words_of_the_tool(*obstacle);
    rows.push_back({variant, std::move(obstacle)});
  }
  return arguments.json ? variants_json(rows) : variants_text(rows);
}

template <class Enum>
std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all.emplace_back(onefold::name(static_cast<Enum>(i)));
  return all;
}

// CLI11's own validators speak of numbers with 309 digits. A number is passed on as decimals have it: behind a leading zero CLI11 takes it for octal.
CLI::Validator whole_number_from(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const auto check = [least, most](std::string& text) {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = status == std::errc{} && end == text.data() + text.size();
    if (!whole || value < least) return fmt::format("{} is no whole number from {} up", text, least);
    if (value > most) return fmt::format("{} is more than {}", text, most);
    text = std::to_string(value);
    return std::string();
  };
  return {check, fmt::format("{}..", least), "whole number"};
}

constexpr std::int64_t most_int = std::numeric_limits<int>::max();

// What an unset variable of a shell leaves behind is no name, nor as good as no option.
const CLI::Validator a_name([](const std::string& text) { return text.empty() ? std::string("the name is empty") : std::string(); },
                            "");

void check_combination(const reduce_arguments& arguments) {
  if (arguments.device && arguments.backend != "cuda") throw CLI::ValidationError("--device", "needs --backend cuda");
  if (arguments.threads && arguments.backend != "openmp") throw CLI::ValidationError("--threads", "needs --backend openmp");
  if (!arguments.save_state.empty() && arguments.guarantee == "none")
    throw CLI::ValidationError("--state", "needs guarantee fixed, the default, or --exact");
}

void add_place_options(CLI::App& command, reduce_arguments& arguments) {
  const std::string group = "Where it runs";
  auto backends = names<backend>(backend_count);
  backends.emplace_back("best");
  command
      .add_option("--backend", arguments.backend,
                  "serial: one CPU thread\nopenmp: CPU threads\ncuda: an NVIDIA GPU; the data are copied there first. More "
                  "than\n256 MiB go through it in pieces, however many they are, "
                  "unless\n--repeat or --variant asks for more than the result\n"
                  "best: openmp, or serial where the data are few")
      ->check(CLI::IsMember(backends))
      ->capture_default_str()
      ->group(group);
  command.add_option("--device", arguments.device, "Number of the GPU (default 0); with --backend cuda")
      ->transform(whole_number_from(0))
      ->group(group);
  command.add_option("--threads", arguments.threads, "CPU threads (default all); with --backend openmp")
      ->transform(whole_number_from(1, most_int))
      ->group(group);
}

void add_kernel_options(CLI::App& command, reduce_arguments& arguments) {
  command
      .add_option("--guarantee", arguments.guarantee,
                  "fixed: the same bits on every backend; the default, where no variant is named\n"
                  "none: whatever is fastest\n"
                  "What is exact is had with --exact")
      ->check(CLI::IsMember({"none", "fixed"}));
  CLI::Option* exact = command.add_flag("--exact", arguments.exact,
                                        "The exact result, rounded once, whatever the order.\n"
                                        "sum, norm1, dot, sum_of_squares, norm2, mean and mean_variance of\n"
                                        "floats have one, mean, norm2 and mean_variance of integers, sum, mean,\n"
                                        "dot, sum_of_squares and norm2 of complex numbers, and what no order\n"
                                        "changes anyway. One read more\n"
                                        "says how far the default's result is from it in ulps: steps, each\n"
                                        "to the next number of the result's type");
  exact->excludes("--guarantee");
  CLI::Option* save = command
                          .add_option("--state", arguments.save_state,
                                      "Write what is known of these elements, which 'onefold merge' puts to what\n"
                                      "is known of others: the state of a range of an array (docs/order.md), or\n"
                                      "with --exact the exact state (docs/exact.md), a .npy file of int64 words,\n"
                                      "whose elements have no order")
                          ->check(a_name)
                          ->option_text("FILE");
  command
      .add_option("--begin", arguments.begin,
                  "Index of the file's first element in the whole array: with --state.\n"
                  "Where it is not 0 there is no result yet")
      ->transform(whole_number_from(0))
      ->capture_default_str()
      ->needs(save)
      ->excludes(exact);
  const std::string group = "How a GPU computes it (the library's choice by default; accepted and not used on the CPU)";
  command.add_option("--variant", arguments.variant, "Kernel by name; 'onefold variants' lists them")->check(a_name)->group(group);
  auto finishes = names<finish>(finish_count);
  std::erase(finishes, onefold::name(finish::none));  // seen in reports only
  command.add_option("--finish", arguments.finish, "How the blocks' partial results become one value")
      ->check(CLI::IsMember(finishes))
      ->group(group);
  command.add_option("--block-size", arguments.block_size, "Threads per block")
      ->transform(whole_number_from(1, most_int))
      ->group(group);
  command.add_option("--grid-size", arguments.grid_size, "Blocks")->transform(whole_number_from(1))->group(group);
  command.add_option("--width", arguments.width, "The variant's own parameter, where it has one")
      ->transform(whole_number_from(1, most_int))
      ->group(group);
}

const std::vector<std::string> accumulators{"own", "f32", "f64", "i8",  "u8",  "i16", "u16",
                                            "i32", "u32", "i64", "u64", "c64", "c128"};

void add_accumulate_option(CLI::App& command, form what, reduce_arguments& arguments) {
  std::string text = "f64: elements of type " + names_of_types(is_short_float, "and") +
                     " are converted to f64 before\n"
                     "anything else, and the result is f64\n"
                     "c128: the same of c64; a result that is a real number is f64\n";
  if (can_be_wide(element_type::i32, what))
    text +=
        "i64, u64: the same of i32, and of u32, which then wrap in 64 bits\n"
        "i8, u8, i16, u16: elements of that type, which then wrap in it\n";
  command.add_option("--accumulate", arguments.accumulate, text + "own: in the type that the form has")
      ->check(CLI::IsMember(accumulators))
      ->capture_default_str();
}

void add_ddof_option(CLI::App& command, std::int64_t& ddof) {
  command
      .add_option("--ddof", ddof,
                  "Taken from the count that the squared deviations are divided by: 0 or 1; a state knows nothing of it")
      ->transform(whole_number_from(0))
      ->capture_default_str();
}

void add_reduce_command(CLI::App& app, form what, const char* description, reduce_arguments& arguments, command_output& output) {
  CLI::App* command = app.add_subcommand(std::string(onefold::name(what)), description);
  command->footer(
      "The value is printed so that it reads back as the same number, and as its bits.\n"
      "Elements are taken in the order in which they lie in the file; the whole array is reduced, whatever its shape.");
  command
      ->add_option("file", arguments.file,
                   "x.npy (format 1.0, 2.0 or 3.0), file.h5:/dataset (HDF5),\nor raw little-endian binary with --type.\n"
                   "It is memory-mapped where possible. Where it is not, because HDF5 must\n"
                   "decompress it, say, more than 256 MiB are read in pieces of 64 MiB:\n"
                   "the bits are the same, and it may be larger than memory.\n"
                   "Booleans are read as u8. bf16, for which NumPy has no code, comes raw\n"
                   "or in HDF5. Results of complex numbers have a real and an imaginary part,\n"
                   "in HDF5 numbers are records of two floats, r and i")
      ->required();
  if (what == form::dot)
    command->add_option("second", arguments.second_file, "The second file, with as many elements of the same type")->required();
  if (can_be_wide(element_type::f32, what)) add_accumulate_option(*command, what, arguments);
  if (what == form::mean_variance) add_ddof_option(*command, arguments.ddof);
  command->add_option("--type", arguments.type, "Element type; needed for raw binary")
      ->check(CLI::IsMember(names<element_type>(file_type_count)));
  command
      ->add_option("--repeat", arguments.repeat,
                   "Reduce once untimed and then N times; the median time is printed.\n"
                   "Without it the file is reduced once and that time is printed,\n"
                   "which may include reading the file. Neither includes starting the\n"
                   "backend or copying to the GPU. What is read in pieces is read again\n"
                   "for every run on the CPU, and the reading is not in the times")
      ->transform(whole_number_from(1, most_int))
      ->option_text("N");
  command->add_flag("--follow-external", arguments.follow_external,
                    "Read other files that an HDF5 file refers to: by external links,\n"
                    "external storage or virtual datasets. Without it they are refused,\n"
                    "because the file could name any file of yours");
  command->add_flag("--json", arguments.json, "Print one JSON object");
  add_place_options(*command, arguments);
  add_kernel_options(*command, arguments);
  command->parse_complete_callback([&arguments] { check_combination(arguments); });
  command->final_callback([&arguments, &output, what] { output.text = reduce_command(what, arguments); });
}

void add_merge_command(CLI::App& app, merge_arguments& arguments, command_output& output) {
  CLI::App* command = app.add_subcommand("merge", "Put states together that --state wrote, and print their result");
  command->footer(
      "The result is that of all their elements in one file, to the bit. All files must be of one kind.\n"
      "States of ranges, in whatever order they are named, have no gaps between them and no element twice.\n"
      "Where they do not begin at element 0 there is no result, and --state writes what there is.\n"
      "Exact states may be of elements in any order and parts. A file may also hold the sum of several, added\n"
      "word by word as MPI_SUM does. One of a variance has nothing in common with one of a sum.");
  command->add_option("files", arguments.files, "States, which say what they are of")->required();
  std::vector<std::string> form_names;
  for (int i = 0; i < form_count + record_count; ++i)
    if (const auto what = static_cast<form>(i); is_known(what)) form_names.emplace_back(onefold::name(what));
  command
      ->add_option("--form", arguments.form,
                   "The form whose result is printed. An exact state of sum serves mean too,\n"
                   "one of dot sum_of_squares and norm2; without it the first of these. One\n"
                   "of a range is of one form")
      ->check(CLI::IsMember(form_names));
  command
      ->add_option("--accumulate", arguments.accumulate,
                   "Of exact states: f64: of elements of type " + names_of_types(is_short_float, "and") +
                       " the result is\n"
                       "rounded to f64; c128: of c64 likewise (sum_of_squares and norm2: f64);\n"
                       "own: to f32")
      ->check(CLI::IsMember(accumulators))
      ->capture_default_str();
  add_ddof_option(*command, arguments.ddof);
  command->add_option("--state", arguments.save_state, "Write the state of the elements of all files")
      ->check(a_name)
      ->option_text("FILE");
  command->add_flag("--json", arguments.json, "Print one JSON object");
  command->final_callback([&arguments, &output] { output.text = merge_command(arguments); });
}

void add_check_command(CLI::App& app, check_arguments& arguments, command_output& output) {
  CLI::App* command = app.add_subcommand("check", "Compare every backend here with the golden table, bit for bit");
  command->footer(
      "The table holds results of tree v1, the order of guarantee fixed, that a scalar program made, and exact ones.\n"
      "Every row is reduced at several alignments, on the CPU with one, two and all threads.\n"
      "Exit status: 0 when all agree, 1 when something differs.");
  command->add_option("--backend", arguments.backend, "Only this backend")->check(CLI::IsMember(names<backend>(backend_count)));
  command->add_flag("--json", arguments.json, "Print one JSON object");
  command->final_callback([&arguments, &output] { output = check_command(arguments); });
}

void add_variants_command(CLI::App& app, variants_arguments& arguments, command_output& output) {
  CLI::App* list = app.add_subcommand("variants", "List the variants: seed, idea, guarantee, types, and what prevents them here");
  list->add_option("--backend", arguments.backend, "Only the variants of this backend")
      ->check(CLI::IsMember(names<backend>(backend_count)));
  CLI::Option* json = list->add_flag("--json", arguments.json, "Print a JSON array with all that is known of each");
  list->add_flag("--markdown", arguments.markdown, "Print a Markdown table of name, seed and idea, the same on every machine")
      ->excludes(json);
  list->final_callback([&arguments, &output] { output.text = variants_command(arguments); });
}

void add_info_command(CLI::App& app, bool& info_as_json, command_output& output) {
  CLI::App* info = app.add_subcommand("info", "Show the version, the backends and the devices");
  info->add_flag("--json", info_as_json, "Print one JSON object");
  info->final_callback(
      [&info_as_json, &output] { output.text = info_as_json ? info_json(described_backends()) : info_text(described_backends()); });
}

// Standard output may be a full disk, which only the flush finds out.
int print_output(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return 0;
  print_error("the output could not be written: is the disk full?");
  return failure;
}

// CLI11 2.5 reflows a footer unless told not to, which earlier ones neither do nor can be told.
template <class Formatter>
void keep_lines_of_footer(Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) formatter.enable_footer_formatting(false);
}

void print_library_error(const error& problem) {
  try {
    print_error(in_words_of_the_tool(problem.what()));
  } catch (const std::exception&) {  // no memory for other words
    print_error(problem.what());
  }
}

struct reduction_command {
  form what;
  const char* description;
};
constexpr std::array<reduction_command, 26> reductions{{
    {form::sum, "Add the elements of a file"},
    {form::prod, "Multiply the elements of a file"},
    {form::min, "Find the smallest element of a file (NaN if there is one)"},
    {form::max, "Find the largest element of a file (NaN if there is one)"},
    {form::dot, "Add the products of the elements of two files"},
    {form::sum_of_squares, "Add the squares of the elements of a file"},
    {form::norm1, "Add the absolute values of the elements of a file"},
    {form::norm2, "The square root of the sum of squares, which does not overflow on the way"},
    {form::norm_inf, "Find the largest absolute value in a file (NaN if there is one)"},
    {form::min_number, "Find the smallest element of a file that is not NaN"},
    {form::max_number, "Find the largest element of a file that is not NaN"},
    {form::bit_and, "Combine the bits of the integers of a file with AND"},
    {form::bit_or, "Combine the bits of the integers of a file with OR"},
    {form::bit_xor, "Combine the bits of the integers of a file with XOR"},
    {form::count, "Count the elements of a file that are not zero"},
    {form::all, "Whether all elements of a file are not zero"},
    {form::any, "Whether any element of a file is not zero"},
    {form::none, "Whether all elements of a file are zero"},
    {form::mean, "The sum of the elements of a file over their number"},
    {form::argmin, "Find the smallest element of a file and its first index (of NaNs, the first)"},
    {form::argmax, "Find the largest element of a file and its first index (of NaNs, the first)"},
    {form::argmin_magnitude, "Find the smallest absolute value in a file and its first index"},
    {form::argmax_magnitude, "Find the largest absolute value in a file and its first index"},
    {form::argminmax, "What argmin and argmax find, in one read"},
    {form::minmax, "Find the smallest and the largest element of a file in one read"},
    {form::mean_variance, "The mean and the variance of the elements of a file in one read"},
}};

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  names.reserve(reductions.size() + 4);
  for (const reduction_command& one : reductions) names.emplace_back(onefold::name(one.what));
  for (const char* other : {"merge", "variants", "info", "check"}) names.emplace_back(other);
  return names;
}

// CLI11 says of a misspelt command that it is an argument too many.
void check_command_name(std::string_view asked, const std::vector<std::string>& names) {
  if (asked.starts_with('-')) return;
  const std::string near = suggestion(asked, names);
  throw CLI::ParseError(fmt::format("there is no command {}{}{}", asked, near.empty() ? "" : ": ", near),
                        CLI::ExitCodes::ExtrasError);
}

int run(int argc, char** argv) {
  CLI::App app("onefold: parallel reductions of arrays in files, on one CPU core, on all of them, or on an NVIDIA GPU.", "onefold");
  reduce_arguments reduce;
  variants_arguments list;
  merge_arguments merge;
  check_arguments check;
  bool info_as_json = false;
  command_output output;

  app.set_version_flag("--version", "onefold " ONEFOLD_VERSION_STRING);
  app.require_subcommand(0, 1);  // none is refused below: CLI11 would say the same of a misspelt one
  app.footer(examples);
  keep_lines_of_footer(*app.get_formatter());  // before the commands, which share the formatter
  // CLI11 is told of the command that the first word names alone: of all it takes as long as the rest of a start.
  const std::string_view first = argc > 1 ? argv[1] : "";
  const auto commands = command_names();
  const bool known = std::ranges::find(commands, first) != commands.end();
  const auto is_asked_for = [&](std::string_view name) { return !known || name == first; };
  for (const auto& [what, description] : reductions)
    if (is_asked_for(onefold::name(what))) add_reduce_command(app, what, description, reduce, output);
  if (is_asked_for("merge")) add_merge_command(app, merge, output);
  if (is_asked_for("variants")) add_variants_command(app, list, output);
  if (is_asked_for("info")) add_info_command(app, info_as_json, output);
  if (is_asked_for("check")) add_check_command(app, check, output);
  try {
    if (argc > 1 && !known) check_command_name(first, commands);
    app.parse(argc, argv);
    if (app.get_subcommands().empty())
      throw CLI::RequiredError("A command: sum, dot, norm2 or another form, merge, variants, info or check");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      static_cast<void>(app.exit(error, text));
      return print_output(text.str());
    }
    print_error(fmt::format("{} (onefold --help shows what can be asked)", error.what()));
    return failure;
  }
  const int printed = print_output(output.text);
  return printed != 0 ? printed : output.status;
}

}  // namespace

}  // namespace onefold::tool

int main(int argc, char** argv) {
  onefold::tool::main_begins();
  using namespace onefold::tool;
  int status = failure;
  try {
    status = run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error(out_of_memory);
  } catch (const onefold::error& error) {
    print_library_error(error);
  } catch (const std::exception& error) {  // input_error among them
    print_error(error.what());
  }
  return end_with(status);
}
