/// @file npy_test.cpp  The .npy header parser: what it reads, what it refuses, and that no bytes at all make it misbehave.

#include "npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <random>
#include <utility>

#include "input_error.hpp"
#include "support.hpp"

namespace onefold::tool::test {
namespace {

std::string refusal(const byte_vector& file) {
  return error_of<input_error>([&] { static_cast<void>(parse_npy(file)); });
}

std::string refusal_of_header(std::string_view header, std::size_t data_bytes = 0) { return refusal(npy_file(header, data_bytes)); }

// The text `piece` again and again, as a Python tuple.
std::string tuple_of(std::string_view piece, int times) {
  std::string text = "(";
  for (int i = 0; i < times; ++i) text += piece;
  return text += ",)";
}

struct type_case {
  const char* descr;
  element_type type;
  std::size_t size;
};

class NpyTypes : public testing::TestWithParam<type_case> {};

TEST_P(NpyTypes, AreReadInEveryFormatVersion) {
  const auto& [descr, type, size] = GetParam();
  for (int major = 1; major <= 3; ++major) {
    SCOPED_TRACE("format version " + std::to_string(major));
    const auto file = npy_file(npy_padded(npy_dict(descr, "(3, 4)"), major), 12 * size, major);
    const npy_array array = parse_npy(file);
    EXPECT_EQ(array.type, type);
    EXPECT_EQ(array.shape, (std::vector<std::uint64_t>{3, 4}));
    EXPECT_FALSE(array.fortran_order);
    EXPECT_EQ(array.count, 12U);
    EXPECT_EQ(array.data_offset % 64, 0U);
    EXPECT_EQ(array.data_offset + 12 * size, file.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, NpyTypes,
                         testing::Values(type_case{"<f4", element_type::f32, 4}, type_case{"<f8", element_type::f64, 8},
                                         type_case{"<i4", element_type::i32, 4}, type_case{"<u4", element_type::u32, 4},
                                         type_case{"<i8", element_type::i64, 8}, type_case{"<u8", element_type::u64, 8},
                                         type_case{"|i1", element_type::i8, 1}, type_case{"|u1", element_type::u8, 1},
                                         type_case{"<i2", element_type::i16, 2}, type_case{"<u2", element_type::u16, 2},
                                         type_case{"<f2", element_type::f16, 2}, type_case{"|b1", element_type::u8, 1},
                                         type_case{"<c8", element_type::c64, 8}, type_case{"<c16", element_type::c128, 16}));

TEST(Npy, ASingleByteMayHaveAnyOrderThatIsSaidOfIt) {
  for (const char* order : {"<", ">", "|", "="})
    for (const auto& [kind, type] : {std::pair{"i1", element_type::i8}, {"u1", element_type::u8}, {"b1", element_type::u8}})
      EXPECT_EQ(parse_npy(npy_file(npy_dict(std::string(order) + kind, "(3,)"), 3)).type, type) << order << kind;
}

TEST(Npy, ASingleNumberHasNoAxesAndOneElement) {
  const npy_array array = parse_npy(npy_file(npy_dict("<f8", "()"), 8));
  EXPECT_TRUE(array.shape.empty());
  EXPECT_EQ(array.count, 1U);
}

TEST(Npy, EmptyArraysAreRead) {
  EXPECT_EQ(parse_npy(npy_file(npy_dict("<f4", "(0,)"), 0)).count, 0U);
  EXPECT_EQ(parse_npy(npy_file(npy_dict("<f4", "(3, 0, 5)"), 0)).count, 0U);
  // The product of the other extents overflows, and there is still nothing in it.
  EXPECT_EQ(parse_npy(npy_file(npy_dict("<f4", "(18446744073709551615, 18446744073709551615, 0)"), 0)).count, 0U);
}

TEST(Npy, FortranOrderIsReported) { EXPECT_TRUE(parse_npy(npy_file(npy_dict("<f4", "(2, 2)", true), 16)).fortran_order); }

TEST(Npy, KeysMayComeInAnyOrderAndWithAnySpace) {
  const npy_array array = parse_npy(npy_file("{ \"shape\":(2 ,3),\n'fortran_order' :True,'descr':\t\"<i4\"}   \n", 24));
  EXPECT_EQ(array.count, 6U);
  EXPECT_TRUE(array.fortran_order);
}

TEST(Npy, LongIntegersOfPython2AreRead) { EXPECT_EQ(parse_npy(npy_file(npy_dict("<f4", "(2L, 3L)"), 24)).count, 6U); }

TEST(Npy, DataMayStartAnywhere) {
  const npy_array array = parse_npy(npy_file(npy_dict("<f8", "(1,)") + "\n ", 8));
  EXPECT_NE(array.data_offset % 8, 0U);
}

struct refused_case {
  const char* what;
  std::string header;
  std::size_t data_bytes;
  const char* says;
};

void PrintTo(const refused_case& one, std::ostream* out) { *out << one.what << ": " << one.header; }

class NpyRefuses : public testing::TestWithParam<refused_case> {};

TEST_P(NpyRefuses, WithASentence) {
  const std::string said = refusal_of_header(GetParam().header, GetParam().data_bytes);
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << "said: " << said;
}

INSTANTIATE_TEST_SUITE_P(
    Types, NpyRefuses,
    testing::Values(refused_case{"big-endian", npy_dict(">f4", "(1,)"), 4, "big-endian elements ('>f4'): save it again"},
                    refused_case{"big-endian half", npy_dict(">f2", "(2,)"), 4, "big-endian elements ('>f2'): save it again"},
                    refused_case{"big-endian short", npy_dict(">i2", "(2,)"), 4, "big-endian elements ('>i2'): save it again"},
                    refused_case{"short without an order", npy_dict("|u2", "(2,)"), 4, "save it again little-endian"},
                    refused_case{"bf16", npy_dict("|V2", "(2,)"), 4, "give --type bf16"},
                    refused_case{"bf16 of ml_dtypes", npy_dict("<V2", "(2,)"), 4, "give --type bf16"},
                    refused_case{"bytes of no type", npy_dict("|V1", "(2,)"), 2, "elements that are no numbers"},
                    refused_case{"long double", npy_dict("<f16", "(1,)"), 16, "extended-precision floats"},
                    refused_case{"bool without a size", npy_dict("|?", "(4,)"), 4, "'|b1'"},
                    refused_case{"byte without an order", npy_dict("u1", "(4,)"), 4, "save it again"},
                    refused_case{"big-endian complex", npy_dict(">c8", "(1,)"), 8, "big-endian elements ('>c8')"},
                    refused_case{"long complex", npy_dict("<c32", "(1,)"), 32, "complex numbers of another size"},
                    refused_case{"objects", npy_dict("|O", "(1,)"), 8, "Python objects"},
                    refused_case{"long integers", npy_dict("<i16", "(1,)"), 16, "integers of another size"},
                    refused_case{"long unsigned integers", npy_dict("<u16", "(1,)"), 16, "integers of another size"},
                    refused_case{"strings", npy_dict("<U4", "(1,)"), 16, "elements that are no numbers"},
                    refused_case{"dates", npy_dict("<M8[ns]", "(1,)"), 8, "elements that are no numbers"},
                    refused_case{"no byte order", npy_dict("f4", "(1,)"), 4, "save it again little-endian"},
                    refused_case{"native order", npy_dict("=f4", "(1,)"), 4, "save it again little-endian"},
                    refused_case{"nothing", npy_dict("", "(1,)"), 4, "elements that are no numbers ('')"},
                    refused_case{"records", "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4,
                                 "holds records"}));

INSTANTIATE_TEST_SUITE_P(
    Headers, NpyRefuses,
    testing::Values(refused_case{"empty", "", 4, "damaged .npy header"},
                    refused_case{"no dict", "garbage", 4, "damaged .npy header"}, refused_case{"empty dict", "{}", 4, "is missing"},
                    refused_case{"missing shape", "{'descr': '<f4', 'fortran_order': False}", 4, "is missing"},
                    refused_case{"key twice", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "once"},
                    refused_case{"unknown key", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, "once"},
                    refused_case{"unclosed dict", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4, "damaged"},
                    refused_case{"unclosed string", "{'descr': '<f4", 4, "the end of a string expected"},
                    refused_case{"unclosed tuple", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 4, "damaged"},
                    refused_case{"text behind", npy_dict("<f4", "(1,)") + "x", 4, "end of the header expected"},
                    refused_case{"NUL bytes behind", npy_dict("<f4", "(1,)") + std::string(1, '\0'), 4, "damaged"},
                    refused_case{"escape", npy_dict("\\x3cf4", "(1,)"), 4, "plain text expected"},
                    refused_case{"no comma", "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", 4, "',' expected"},
                    refused_case{"lower-case bool", "{'descr': '<f4', 'fortran_order': false, 'shape': (1,)}", 4, "True or False"},
                    refused_case{"number as bool", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4, "True or False"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, NpyRefuses,
    testing::Values(refused_case{"number in brackets", npy_dict("<f4", "(1)"), 4, "',' expected"},
                    refused_case{"number", npy_dict("<f4", "1"), 4, "'(' expected"},
                    refused_case{"list", npy_dict("<f4", "[1]"), 4, "'(' expected"},
                    refused_case{"negative", npy_dict("<f4", "(-1,)"), 4, "a number of elements expected"},
                    refused_case{"fraction", npy_dict("<f4", "(1.5,)"), 4, "damaged"},
                    refused_case{"leading zero", npy_dict("<f4", "(01,)"), 4, "leading zeros"},
                    refused_case{"two commas", npy_dict("<f4", "(1,,)"), 4, "damaged"},
                    refused_case{"only a comma", npy_dict("<f4", "(,)"), 4, "damaged"},
                    refused_case{"axis over 64 bits", npy_dict("<f4", "(18446744073709551616,)"), 4, "64 bits"},
                    refused_case{"endless digits", npy_dict("<f4", tuple_of("9", 500)), 4, "64 bits"},
                    refused_case{"product over 64 bits", npy_dict("<f4", "(4294967296, 4294967296)"), 4,
                                 "more elements than 64 bits"},
                    refused_case{"product wraps to the data", npy_dict("<f4", "(4611686018427387905, 4)"), 16, "64 bits"},
                    refused_case{"bytes over 64 bits", npy_dict("<f8", "(2305843009213693953,)"), 8, "more bytes than 64 bits"},
                    refused_case{"too many axes", npy_dict("<f4", tuple_of("1, 1,", 33)), 4, "more than 64 axes"},
                    refused_case{"too little data", npy_dict("<f4", "(3,)"), 11, "has 11 bytes of data where its shape needs 12"},
                    refused_case{"no data", npy_dict("<f4", "()"), 0, "truncated"},
                    refused_case{"surplus data", npy_dict("<f4", "(3,)"), 13, "has 1 bytes after the data"}));

TEST(Npy, RefusesEveryTruncationOfAFile) {
  for (int major = 1; major <= 3; ++major) {
    const byte_vector whole = npy_file(npy_padded(npy_dict("<f4", "(3,)"), major), 12, major);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const std::string said = refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
      EXPECT_NE(said.find("truncated"), std::string::npos) << "version " << major << ", " << bytes << " bytes: " << said;
    }
  }
}

TEST(Npy, RefusesHeaderLengthsThatLie) {
  byte_vector file = npy_file(npy_dict("<f4", "(1,)"), 4, 2);
  for (std::size_t i = 8; i < 12; ++i) file[i] = std::byte{0xff};
  EXPECT_NE(refusal(file).find("announces a header of 4294967295 bytes"), std::string::npos);

  const std::string long_header = npy_dict("<f4", "(1,)") + std::string(2 << 20, ' ');
  EXPECT_NE(refusal(npy_file(long_header, 4, 2)).find("which no array has"), std::string::npos);
}

TEST(Npy, RefusesOtherMagicAndOtherVersions) {
  byte_vector text;
  append(text, "this is a text file");
  EXPECT_NE(refusal(text).find("does not start as a .npy file does"), std::string::npos);

  byte_vector version = npy_file(npy_dict("<f4", "(1,)"), 4);
  version[6] = std::byte{4};
  EXPECT_NE(refusal(version).find("format version 4.0"), std::string::npos);
  version[6] = std::byte{0};
  EXPECT_NE(refusal(version).find("format version 0.0"), std::string::npos);
}

// Damage of the kinds that disks, transfers and attackers do. Every choice comes from `random`, so a seed repeats a run.
class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_(seed) {}

  byte_vector damaged(byte_vector bytes) {
    for (auto steps = below(3) + 1; steps > 0; --steps) damage(bytes);
    return bytes;
  }

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

 private:
  void damage(byte_vector& bytes) {
    using namespace std::string_view_literals;
    static constexpr auto telling = "{}()[],:'\"\\ \n0129LTF<>|=-+.e\0\x7f\xff\x93"sv;
    if (bytes.empty()) return;
    // Most damage goes to the header, where the parser works; the rest anywhere.
    const std::size_t at = below(below(8) == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 96));
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto any =
        static_cast<std::byte>(below(2) == 0 ? static_cast<unsigned char>(telling[below(telling.size())]) : below(256));
    switch (below(6)) {
      case 0:
        *here = any;
        break;
      case 1:
        *here ^= static_cast<std::byte>(1U << below(8));
        break;
      case 2:
        bytes.insert(here, any);
        break;
      case 3:
        bytes.erase(here);
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        repeat(bytes, at);
        break;
    }
  }

  void repeat(byte_vector& bytes, std::size_t at) {
    const std::size_t length = below(std::min<std::size_t>(bytes.size() - at, 16)) + 1;
    const byte_vector piece(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
  }

  std::mt19937_64 random_;
};

// Parses from memory of exactly the file's size, so that the address sanitizer sees a read of one byte too many.
bool parses(const byte_vector& file) {
  const auto exact = std::make_unique<std::byte[]>(file.size());
  std::ranges::copy(file, exact.get());
  try {
    const npy_array array = parse_npy({exact.get(), file.size()});
    EXPECT_EQ(array.data_offset + array.count * size_of(array.type), file.size());
    EXPECT_LE(array.data_offset, file.size());
    return true;
  } catch (const input_error& error) {
    EXPECT_FALSE(std::string_view(error.what()).empty());
    return false;
  }
}

struct valid_file {
  std::string header;
  std::size_t data_bytes;
  int major;
};

const std::vector<valid_file>& valid_files() {
  static const std::vector<valid_file> all{
      {npy_padded(npy_dict("<f4", "(3, 4)")), 48, 1},
      {npy_padded(npy_dict("<f8", "()"), 2), 8, 2},
      {npy_padded(npy_dict("<u8", "(0, 7)", true), 3), 0, 3},
      {npy_dict("<i4", "(1, 2, 3, 1, 2, 1L)"), 48, 1},
      {"{\"shape\":(2,),'fortran_order':False,'descr':'<i8'}", 16, 2},
      {npy_padded(npy_dict("|b1", "(3, 3)")), 9, 1},
      {npy_padded(npy_dict("<f2", "(5,)")), 10, 1},
  };
  return all;
}

// Half of the time the damage is anywhere in the file; else in the header's text, whose length then fits, so that the parser gets
// to see all of it.
byte_vector damaged_file(mutator& damage) {
  const valid_file& from = valid_files()[damage.below(valid_files().size())];
  if (damage.below(2) == 0) return damage.damaged(npy_file(from.header, from.data_bytes, from.major));
  byte_vector header;
  append(header, from.header);
  header = damage.damaged(header);
  return npy_file({reinterpret_cast<const char*>(header.data()), header.size()}, from.data_bytes, from.major);
}

TEST(Npy, TwentyThousandDamagedFilesAreParsedOrRefused) {
  constexpr std::uint64_t seed = 20261120;
  constexpr int rounds = 20000;
  std::cout << "seed " << seed << "\n";
  for (const auto& [header, data_bytes, major] : valid_files()) ASSERT_TRUE(parses(npy_file(header, data_bytes, major)));

  mutator damage(seed);
  int parsed = 0;
  for (int i = 0; i < rounds; ++i) parsed += parses(damaged_file(damage)) ? 1 : 0;
  std::cout << parsed << " parsed, " << rounds - parsed << " refused\n";
  EXPECT_GT(parsed, rounds / 100) << "the damage is so heavy that the test proves little";
  EXPECT_LT(parsed, rounds / 2) << "the damage is so light that the test proves little";
}

}  // namespace
}  // namespace onefold::tool::test
