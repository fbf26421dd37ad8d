#include "npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "input_error.hpp"

namespace onefold::tool {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t version_bytes = 2;
// NumPy itself writes 128 bytes and trusts 10 000; a longer header of a plain array is a length field that lies.
constexpr std::size_t longest_header = std::size_t{1} << 20;
constexpr std::size_t most_axes = 64;  // NumPy 2's limit (32 before)

// Without the byte order, and all that NumPy has a code for: not bf16. Booleans are bytes of 0 and 1.
constexpr std::array known_types{
    std::pair{std::string_view("f4"), element_type::f32}, std::pair{std::string_view("f8"), element_type::f64},
    std::pair{std::string_view("i4"), element_type::i32}, std::pair{std::string_view("u4"), element_type::u32},
    std::pair{std::string_view("i8"), element_type::i64}, std::pair{std::string_view("u8"), element_type::u64},
    std::pair{std::string_view("i1"), element_type::i8},  std::pair{std::string_view("u1"), element_type::u8},
    std::pair{std::string_view("i2"), element_type::i16}, std::pair{std::string_view("u2"), element_type::u16},
    std::pair{std::string_view("f2"), element_type::f16}, std::pair{std::string_view("b1"), element_type::u8},
    std::pair{std::string_view("c8"), element_type::c64}, std::pair{std::string_view("c16"), element_type::c128},
};

std::string_view as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool has_order(std::string_view descr) { return descr.find_first_of("<>|=") == 0; }

std::optional<element_type> find_kind(std::string_view kind) {
  const auto row = std::ranges::find(known_types, kind, &std::pair<std::string_view, element_type>::first);
  if (row == known_types.end()) return std::nullopt;
  return row->second;
}

// A single byte has no order, and programs that are not NumPy, which writes '|', give it any.
std::optional<element_type> find_type(std::string_view descr) {
  if (!has_order(descr)) return std::nullopt;
  const auto type = find_kind(descr.substr(1));
  return type && (descr[0] == '<' || size_of(*type) == 1) ? type : std::nullopt;
}

struct other_type {
  std::string_view descr;  // without the byte order; matched from its start
  std::string_view what;
  std::string_view remedy;
};

constexpr std::array other_types{
    other_type{"f1", "extended-precision floats", "convert with a.astype('<f8')"},  // f12, f16
    other_type{"?", "booleans without their size", "write it again with numpy.save, which says '|b1'"},
    other_type{"i", "integers of another size", "convert with a.astype('<i8')"},
    other_type{"u", "integers of another size", "convert with a.astype('<u8')"},
    other_type{"c", "complex numbers of another size", "convert with a.astype('<c16')"},
    other_type{"V2", "two bytes that NumPy has no type for",
               "if they are bf16, write them raw, a.tofile('x.bin'), and give --type bf16"},
    other_type{"O", "Python objects", "make it an array of numbers first"},
    other_type{"", "elements that are no numbers", "convert them to numbers first"},  // matches everything
};

[[noreturn]] void refuse_type(std::string_view descr) {
  const std::string_view kind = descr.substr(has_order(descr) ? 1 : 0), shown = descr.substr(0, 16);
  if (find_kind(kind))
    throw input_error(fmt::format("holds {} elements ('{}'): save it again little-endian, a.astype('<{}')",
                                  descr.starts_with('>') ? "big-endian" : "differently marked", shown, kind));
  const auto row = std::ranges::find_if(other_types, [&](const other_type& other) { return kind.starts_with(other.descr); });
  throw input_error(
      fmt::format("holds {} ('{}'), and onefold reads floats of 2, 4 and 8 bytes, integers of 1 to 8, complex numbers of 8 and 16, "
                  "and booleans: {}",
                  row->what, shown, row->remedy));
}

// The three entries of the header's dict, as read.
struct header_entries {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

// A recursive-descent parser of the one Python literal that a .npy header is:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// Strict on purpose: no escapes in strings, no nesting, each key once. Every step looks before it reads.
class header_parser {
 public:
  explicit header_parser(std::string_view text) : text_(text) {}

  header_entries parse() {
    header_entries entries;
    expect('{');
    while (peek() != '}') {
      read_entry(entries);
      if (peek() != '}') expect(',');
    }
    expect('}');
    if (peek() != end) fail("end of the header");
    return entries;
  }

 private:
  static constexpr char end = '\0';  // a real NUL byte is valid nowhere in a header, so it may look like the end only to peek()

  [[noreturn]] void fail(std::string_view expected) const {
    throw input_error(fmt::format("has a damaged .npy header ({} expected at byte {} of its dict): write it again with numpy.save",
                                  expected, at_));
  }

  // The next character that is no white space, or `end`; does not consume it.
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    if (at_ == text_.size()) return end;
    if (text_[at_] == end) fail("text");
    return text_[at_];
  }

  void expect(char wanted) {
    if (peek() != wanted) fail(fmt::format("'{}'", wanted));
    ++at_;
  }

  void read_entry(header_entries& entries) {
    const std::string key = read_string();
    expect(':');
    if (key == "descr" && !entries.descr) {
      entries.descr = read_descr();
    } else if (key == "fortran_order" && !entries.fortran_order) {
      entries.fortran_order = read_bool();
    } else if (key == "shape" && !entries.shape) {
      entries.shape = read_shape();
    } else {
      fail("each of 'descr', 'fortran_order' and 'shape' once");
    }
  }

  std::string read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a string");
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] < ' ' || text_[at_] > '~' || text_[at_] == '\\') fail("plain text");
      ++at_;
    }
    if (at_ == text_.size()) fail("the end of a string");
    return std::string(text_.substr(begin, at_++ - begin));
  }

  std::string read_descr() {
    if (peek() == '[' || peek() == '(')
      throw input_error("holds records (a structured dtype): save the field to reduce in a file of its own, a['name']");
    return read_string();
  }

  bool read_bool() {
    peek();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False");
  }

  std::vector<std::uint64_t> read_shape() {
    std::vector<std::uint64_t> shape;
    bool comma = true;  // a tuple of one needs its comma: (3,) is a tuple and (3) is not
    expect('(');
    while (peek() != ')') {
      if (!comma) fail("','");
      if (shape.size() == most_axes) throw input_error(fmt::format("has more than {} axes: reshape the array", most_axes));
      shape.push_back(read_number());
      comma = peek() == ',';
      if (comma) ++at_;
    }
    if (shape.size() == 1 && !comma) fail("','");
    expect(')');
    return shape;
  }

  std::uint64_t read_number() {
    const auto is_digit = [&] { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; };
    peek();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    while (is_digit()) {
      const auto digit = static_cast<std::uint64_t>(text_[at_++] - '0');
      if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) || __builtin_add_overflow(value, digit, &value))
        throw input_error("claims more elements along an axis than 64 bits can count: the file is damaged");
    }
    if (at_ == begin) fail("a number of elements");
    if (at_ - begin > 1 && text_[begin] == '0') fail("a number without leading zeros");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct header_place {
  std::size_t begin;  // of the dict, in bytes from the start of the file
  std::size_t bytes;
};

header_place find_header(std::span<const std::byte> file) {
  if (magic.starts_with(as_text(file))) throw input_error("ends within its header: it is truncated, write it again");
  if (!looks_like_npy(file))
    throw input_error("does not start as a .npy file does: if it is raw binary, rename it and give its type with --type");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(file[i]); };
  constexpr std::size_t length_at = magic.size() + version_bytes;
  if (file.size() < length_at) throw input_error("ends within its header: it is truncated, write it again");

  const std::size_t major = byte(magic.size()), minor = byte(magic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    throw input_error(fmt::format(
        "has .npy format version {}.{}, and onefold reads 1.0, 2.0 and 3.0: write it again with numpy.save", major, minor));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (file.size() - length_at < length_bytes) throw input_error("ends within its header: it is truncated, write it again");

  std::size_t bytes = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) bytes |= byte(length_at + i) << 8 * i;  // little-endian in every version
  const std::size_t begin = length_at + length_bytes;
  if (bytes > file.size() - begin)
    throw input_error(
        fmt::format("announces a header of {} bytes and has {} bytes left: it is truncated or damaged, write it again", bytes,
                    file.size() - begin));
  if (bytes > longest_header)
    throw input_error(fmt::format("announces a header of {} bytes, which no array has: it is damaged, write it again", bytes));
  return {begin, bytes};
}

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return 0;  // first, so that (2**63, 4, 0) is empty and no overflow
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      throw input_error("claims a shape with more elements than 64 bits can count: the file is damaged");
  return count;
}

void check_data(const npy_array& array, std::size_t file_bytes) {
  const std::uint64_t left = file_bytes - array.data_offset;
  std::uint64_t needed = 0;
  if (__builtin_mul_overflow(array.count, std::uint64_t{size_of(array.type)}, &needed))
    throw input_error("claims a shape with more bytes than 64 bits can count: the file is damaged");
  if (left < needed)
    throw input_error(
        fmt::format("has {} bytes of data where its shape needs {}: it is truncated, write or copy it again", left, needed));
  if (left > needed)
    throw input_error(fmt::format("has {} bytes after the data that its shape needs: write one array to a file, nothing behind it",
                                  left - needed));
}

}  // namespace

bool looks_like_npy(std::span<const std::byte> file) noexcept { return as_text(file).starts_with(magic); }

npy_array parse_npy(std::span<const std::byte> file) {
  const header_place header = find_header(file);
  const header_entries entries = header_parser(as_text(file.subspan(header.begin, header.bytes))).parse();
  if (!entries.descr || !entries.fortran_order || !entries.shape)
    throw input_error("has a damaged .npy header ('descr', 'fortran_order' or 'shape' is missing): write it again with numpy.save");

  const auto type = find_type(*entries.descr);
  if (!type) refuse_type(*entries.descr);
  npy_array array{*type, *entries.shape, *entries.fortran_order, header.begin + header.bytes, product(*entries.shape)};
  check_data(array, file.size());
  return array;
}

std::string npy_file_of(std::span<const std::int64_t> numbers) {
  constexpr std::size_t data_at = 128;  // a multiple of 64, so that the numbers can be used where they lie
  std::string file(magic);
  file += {'\1', '\0', static_cast<char>(data_at - magic.size() - version_bytes - 2), '\0'};
  file += fmt::format("{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}", numbers.size());
  file.resize(data_at - 1, ' ');
  file += '\n';
  return file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

}  // namespace onefold::tool
