/// @file range_test.cpp  States of ranges in files: put together they have the bits of the whole, and what does not fit is refused. How files are
/// written.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <onefold/error.hpp>
#include <onefold/exact.hpp>
#include <onefold/operators.hpp>
#include <onefold/range_state.hpp>

#include "any_form.hpp"
#include "any_range.hpp"
#include "golden.hpp"
#include "input_error.hpp"
#include "output_file.hpp"
#include "range_header.hpp"
#include "state_file.hpp"
#include "support.hpp"

namespace onefold::tool::test {
namespace {

// Elements of a type, and a second array of them.
struct arrays {
  element_type type;
  byte_vector x, y;

  // Of either sign, or near 1, whose product stays finite.
  arrays(element_type of, std::uint64_t count, std::string_view family = "uniform")
      : type(of), x(fill(of, family, 1, count)), y(fill(of, family, 2, count)) {}
  [[nodiscard]] const std::byte* at(const byte_vector& array, std::uint64_t first) const {
    return array.data() + first * size_of(type);
  }
  [[nodiscard]] any_range range(form what, bool wide, std::uint64_t begin, std::uint64_t end) const {
    any_range made({type, what, wide}, begin);
    made.add(serial(), at(x, begin), at(y, begin), end - begin, {});
    return made;
  }

 private:
  static byte_vector fill(element_type type, std::string_view family, std::uint64_t seed, std::uint64_t count) {
    const auto values = golden_data(type, family, seed, count);
    byte_vector bytes(count * size_of(type));
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * size_of(type), &values[i], size_of(type));
    return bytes;
  }
};

std::string write(const temporary_folder& folder, std::string_view name, const any_range& range) {
  return folder.write(name, range.bytes());
}

std::string refusal(const std::vector<std::string>& paths, std::optional<form> wanted = std::nullopt) {
  return error_of<input_error>([&] { static_cast<void>(merge_ranges(paths, wanted)); });
}

TEST(RangeFiles, InAnyOrderHaveTheBitsOfTheWholeInEveryFormOfEveryType) {
  const temporary_folder folder;
  int merged = 0;
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    const std::uint64_t tile = 4096 / size_of(type), count = 5 * tile + 77;
    const arrays uniform(type, count), factors(type, count, "factors");
    for (int f = 0; f < form_count + record_count; ++f)
      for (const bool wide : {false, true}) {
        const auto what = static_cast<form>(f);
        if (!is_known(what) || !takes_type(what, type) || (wide && !can_be_wide(type, what))) continue;
        SCOPED_TRACE(text_of({type, what, wide}));
        const arrays& in = what == form::prod ? factors : uniform;
        // Within a tile, at a tile's border, twice the same; the order of names is none of elements.
        std::vector<std::string> paths{
            write(folder, "a", in.range(what, wide, 2 * tile, count)), write(folder, "b", in.range(what, wide, 100, 100)),
            write(folder, "c", in.range(what, wide, 100, 2 * tile)), write(folder, "d", in.range(what, wide, 0, 100))};
        const std::int64_t ddof = what == form::mean_variance ? 1 : 0;
        const any_range all = merge_ranges(paths, what);
        ASSERT_EQ(all.of(), (range_kind{type, what, wide}));
        ASSERT_EQ(all.result(ddof), reduce_bits(serial(), {type, what, wide, in.x.data(), in.y.data(), count, ddof}, {}));
        ASSERT_EQ(all.bytes(), in.range(what, wide, 0, count).bytes());

        paths.pop_back();
        const any_range later = merge_ranges(paths, std::nullopt);
        ASSERT_EQ(later.bytes(), in.range(what, wide, 100, count).bytes());
        ASSERT_EQ(later.result(ddof), std::nullopt) << "it does not begin at 0";
        ++merged;
      }
  }
  EXPECT_GT(merged, 250);
}

TEST(RangeFiles, OfNoElementsHaveNoIndexAndTheOtherResultsOfNone) {
  const temporary_folder folder;
  const std::vector<std::string> least{write(folder, "a", any_range({element_type::f32, form::argmin, false}, 0))};
  EXPECT_EQ(merge_ranges(least, std::nullopt).result(0), std::nullopt);
  const std::vector<std::string> sum{write(folder, "b", any_range({element_type::f32, form::count, false}, 0))};
  EXPECT_EQ(merge_ranges(sum, std::nullopt).result(0), result_bits{});
}

TEST(RangeFiles, ThatAreNoNeighboursAreRefusedByTheirNames) {
  const temporary_folder folder;
  const arrays in(element_type::f64, 3000);
  const auto range = [&](std::uint64_t begin, std::uint64_t end) {
    return write(folder, std::to_string(begin) + "-" + std::to_string(end), in.range(form::sum, false, begin, end));
  };
  const std::string a = range(0, 1000), b = range(1000, 2000), c = range(2000, 3000), inner = range(1200, 1300),
                    last = range(1999, 2000), empty = range(500, 500);
  EXPECT_EQ(refusal({c, a}), c + ": begins at element 2000, and the file before it, " + a +
                                 ", ends before element 1000: the state of the elements 1000 to 1999 is missing");
  EXPECT_EQ(refusal({a, c, range(1000, 1999)}), c + ": begins at element 2000, and the file before it, " +
                                                    folder.file("1000-1999") +
                                                    ", ends before element 1999: the state of element 1999 is missing");
  EXPECT_EQ(refusal({a, a}),
            a + ": begins at element 0, and " + a + " has the elements 0 to 999: an element may be in one file alone");
  EXPECT_EQ(refusal({inner, b}),
            inner + ": begins at element 1200, and " + b + " has the elements 1000 to 1999: an element may be in one file alone");
  EXPECT_EQ(refusal({last, c, range(1999, 2001)}), folder.file("1999-2001") + ": begins at element 1999, and " + last +
                                                       " has element 1999: an element may be in one file alone");
  EXPECT_EQ(refusal({empty, a, b}),
            empty + ": begins at element 500, and " + a + " has the elements 0 to 999: an element may be in one file alone");
  EXPECT_EQ(refusal({c, b, a}), "no error");
}

TEST(RangeFiles, OfAnotherKindAreRefusedByTheirNames) {
  const temporary_folder folder;
  const arrays floats(element_type::f32, 10), doubles(element_type::f64, 10);
  const std::string sum = write(folder, "sum", floats.range(form::sum, false, 0, 5));
  const std::string wide = write(folder, "wide", floats.range(form::sum, true, 5, 10));
  const std::string mean = write(folder, "mean", floats.range(form::mean, false, 5, 10));
  const std::string of_doubles = write(folder, "doubles", doubles.range(form::sum, false, 5, 10));
  EXPECT_EQ(refusal({sum, wide}), wide + ": is a state of sum of f32 accumulated in f64, and " + sum + " of sum of f32");
  EXPECT_EQ(refusal({sum, mean}), mean + ": is a state of mean of f32, and " + sum + " of sum of f32");
  EXPECT_EQ(refusal({of_doubles, sum}), sum + ": is a state of sum of f32, and " + of_doubles + " of sum of f64");
  EXPECT_EQ(refusal({sum}, form::norm1), sum + ": is a state of sum of f32, and --form says norm1");

  exact_state<form::sum, double> exact;
  write_state(folder.file("exact"), {exact.words(), exact.size()});
  EXPECT_TRUE(has_range_file(std::vector{folder.file("exact"), folder.file("missing"), sum}));
  EXPECT_FALSE(has_range_file(std::vector{folder.file("exact"), folder.file("missing")}));
  EXPECT_EQ(refusal({sum, folder.file("exact")}),
            folder.file("exact") + ": is no state of a range: 'onefold sum FILE --state STATE' writes one");
  EXPECT_EQ(refusal({sum, folder.file("missing")}), folder.file("missing") + ": cannot be opened: No such file or directory");
}

TEST(RangeFiles, WithAnyBitChangedOrCutAnywhereAreRefused) {
  const temporary_folder folder;
  const byte_vector good = arrays(element_type::f64, 1100).range(form::mean_variance, false, 500, 1100).bytes();
  const auto is_refused = [](std::span<const std::byte> bytes) {
    try {
      static_cast<void>(any_range::from_bytes(bytes));
    } catch (const input_error&) {
      return true;
    } catch (const error& problem) {
      return problem.code() == errc::invalid_argument;
    }
    return false;
  };
  ASSERT_GT(good.size(), 500U);
  for (std::size_t at = 0; at < good.size(); ++at) {
    byte_vector bad = good;
    bad[at] ^= std::byte{1} << (at % 8);
    ASSERT_TRUE(is_refused(bad)) << "byte " << at;
    ASSERT_TRUE(is_refused(std::span(good).first(at))) << at << " bytes";
  }
  for (const std::size_t size : {0U, 7U, 31U, 39U, 500U}) {
    const std::string path = folder.write("s", std::span(good).first(size));
    ASSERT_TRUE(refusal({path}).starts_with(path + ": ")) << size << " bytes: " << refusal({path});
  }
  EXPECT_EQ(refusal({folder.write("s", good)}), "no error");
}

TEST(RangeHeader, OfWhatHasNoStateIsRefused) {
  const byte_vector good = any_range({element_type::i32, form::argmax, false}, 0).bytes();
  const auto said = [&](std::size_t at, int value) {
    byte_vector changed = good;
    changed[at] = static_cast<std::byte>(value);
    return error_of<input_error>([&] { static_cast<void>(parse_range_header(changed)); });
  };
  constexpr const char* damaged = "is a state of a range that is damaged: write or copy it again";
  EXPECT_EQ(parse_range_header(good), (range_kind{element_type::i32, form::argmax, false}));
  const range_kind complex_sum{element_type::c128, form::sum, false};
  EXPECT_EQ(parse_range_header(any_range(complex_sum, 0).bytes()), complex_sum);
  EXPECT_EQ(said(8, 2), "is a state of a range of version 2, and this onefold reads version 1");
  EXPECT_EQ(said(9, 1), "is a state of a range of version 257, and this onefold reads version 1");
  EXPECT_EQ(said(10, static_cast<int>(element_type::c128)), damaged) << "argmax of complex numbers";
  EXPECT_EQ(said(10, static_cast<int>(element_type::c128) + 1), damaged);
  EXPECT_EQ(said(10, 255), damaged);
  EXPECT_EQ(
      said(11, static_cast<int>(form::reduce_together)),
      "is a state of reduce_together, several operators, which programs alone read so far: together_range_state::from_bytes()");
  EXPECT_EQ(said(11, 255), damaged);
  byte_vector own = good;
  own[10] = own[11] = static_cast<std::byte>(255);
  EXPECT_EQ(error_of<input_error>([&] { static_cast<void>(parse_range_header(own)); }),
            "is a state of an operator of a program's own, which that program alone can read");
  EXPECT_EQ(said(12, 1), damaged) << "argmax in a wider type";
  EXPECT_EQ(said(12, 2), damaged);
  EXPECT_EQ(said(0, 'O'), "is no state of a range: 'onefold sum FILE --state STATE' writes one");
  EXPECT_EQ(error_of<input_error>([&] { static_cast<void>(parse_range_header(std::span(good).first(31))); }),
            "is the beginning of a state of a range: it is truncated, write or copy it again");
}

// A program's state of several operators is told from one that is damaged, beside a good one too.
TEST(RangeFiles, OfSeveralOperatorsAreRefused) {
  const temporary_folder folder;
  together_range_state<float, op::sum, op::min> both(5);
  both.add(serial(), std::vector<float>(3'000, 0.5F));
  const std::string path = folder.write("both", both.bytes());
  const std::string expected = path +
                               ": is a state of reduce_together, several operators, which programs alone read so far: "
                               "together_range_state::from_bytes()";
  EXPECT_EQ(refusal({path}), expected);
  const std::string before = write(folder, "before", any_range({element_type::f32, form::sum, false}, 0));
  EXPECT_EQ(refusal({before, path}), expected);
}

// --- files that are written -------------------------------------------------------------------------------------------------------------

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

// Files of at most so many bytes can be written while it lives.
class small_disk {
 public:
  explicit small_disk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  ~small_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(WrittenFiles, AreReplacedWholeOrStayWhatTheyWere) {
  const temporary_folder folder;
  const std::string path = folder.file("s"), more(100'000, 'x');
  write_file(path, "the first");
  EXPECT_EQ(content_of(path), "the first");
  {
    const small_disk full(1000);
    EXPECT_EQ(error_of<input_error>([&] { write_file(path, more); }), path + ": cannot be written: File too large");
    EXPECT_EQ(error_of<input_error>([&] { write_file(folder.file("new"), more); }),
              folder.file("new") + ": cannot be written: File too large");
  }
  EXPECT_EQ(content_of(path), "the first");
  EXPECT_EQ(files_in(folder.file("")), 1U) << "nothing is left beside it";
  write_file(path, more);
  EXPECT_EQ(content_of(path), more);
  EXPECT_EQ(files_in(folder.file("")), 1U);
}

TEST(WrittenFiles, KeepTheirLinksAndPermissions) {
  namespace fs = std::filesystem;
  const temporary_folder folder;
  write_file(folder.file("s"), "the first");
  fs::permissions(folder.file("s"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("s", folder.file("link"));
  write_file(folder.file("link"), "another");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(content_of(folder.file("s")), "another");
  EXPECT_EQ(fs::status(folder.file("s")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("not_yet", folder.file("ahead"));
  write_file(folder.file("ahead"), "what it names");
  EXPECT_TRUE(fs::is_symlink(folder.file("ahead")));
  EXPECT_EQ(content_of(folder.file("not_yet")), "what it names");
  fs::create_directory(folder.file("d"));
  EXPECT_EQ(error_of<input_error>([&] { write_file(folder.file("d"), "x"); }),
            folder.file("d") + ": cannot be written: Is a directory");
}

// The result would stay in the file whose place another one takes.
TEST(WrittenFiles, AreNotWhereResultsArePrinted) {
  const temporary_folder folder;
  write_file(folder.file("out"), "");
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO), printed = ::open(folder.file("out").c_str(), O_WRONLY);
  ::dup2(printed, STDOUT_FILENO);
  const std::string said = error_of<input_error>([&] { write_file(folder.file("out"), "a state"); });
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  ::close(printed);
  EXPECT_EQ(said, folder.file("out") + ": is where the result is printed: give the state another name");
  EXPECT_EQ(content_of(folder.file("out")), "");
}

}  // namespace
}  // namespace onefold::tool::test
