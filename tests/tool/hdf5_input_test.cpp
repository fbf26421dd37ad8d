/// @file hdf5_input_test.cpp  HDF5 datasets: mapped where they lie in the file as they are, else read, else refused.

#include <gtest/gtest.h>
#include <hdf5.h>

#include <chrono>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "file_types.hpp"
#include "hdf5_samples.hpp"
#include "input_error.hpp"
#include "input_file.hpp"
#include "support.hpp"

namespace onefold::tool::test {
namespace {

class Hdf5 : public testing::Test {
 protected:
  Hdf5() {
    write_hdf5_samples(folder_.file(""));
    write_references(folder_.file(""));
  }

  [[nodiscard]] std::string reference(const std::string& dataset) const { return folder_.file("references.h5") + ":/" + dataset; }

  [[nodiscard]] std::string samples(const std::string& dataset) const { return folder_.file("samples.h5") + ":/" + dataset; }

  void expect_refusal(const std::string& name, const std::string& says, const open_options& how = {}) const {
    const std::string said = error_of<input_error>([&] { static_cast<void>(open_input(name, std::nullopt, how)); });
    EXPECT_TRUE(said.starts_with(name + ": ")) << said;
    EXPECT_NE(said.find(says), std::string::npos) << said;
  }

  temporary_folder folder_;
};

template <class T>
void expect_counting(const input_array& array) {
  ASSERT_EQ(array.bytes(), sample_count * sizeof(T));
  for (int i = 0; i < sample_count; ++i) {
    T value;
    std::memcpy(&value, array.data + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    if constexpr (is_complex(element_type_of<T>))
      ASSERT_EQ(value, T(static_cast<float>(i + 1), -static_cast<float>(i + 1)));
    else if constexpr (detail::is_half<T>)
      ASSERT_EQ(value.bits(), T(static_cast<float>(i + 1)).bits());
    else
      ASSERT_EQ(value, static_cast<T>(i + 1));
  }
}

TEST_F(Hdf5, EveryTypeIsMapped) {
  for (int t = 0; t < file_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    SCOPED_TRACE(std::string(onefold::name(type)));
    const input_array array = open_input(samples(std::string(onefold::name(type))), std::nullopt);
    EXPECT_EQ(array.format, "hdf5");
    EXPECT_EQ(array.type, type);
    EXPECT_EQ(array.count, static_cast<std::uint64_t>(sample_count));
    EXPECT_TRUE(array.mapped);
  }
  expect_counting<float>(open_input(samples("f32"), std::nullopt));
  expect_counting<std::uint64_t>(open_input(samples("u64"), std::nullopt));
  expect_counting<std::int8_t>(open_input(samples("i8"), std::nullopt));
  expect_counting<std::uint16_t>(open_input(samples("u16"), std::nullopt));
  expect_counting<float16>(open_input(samples("f16"), std::nullopt));
  expect_counting<bfloat16>(open_input(samples("bf16"), std::nullopt));
}

TEST_F(Hdf5, SmallTypesOfAnotherOrderAndInFiltersAreReadToTheBit) {
  const auto expect_read = [&](const char* dataset, element_type type) {
    SCOPED_TRACE(dataset);
    input_array array = open_input(samples(dataset), std::nullopt);
    EXPECT_EQ(array.type, type);
    EXPECT_FALSE(array.mapped);
    return array;
  };
  expect_counting<float16>(expect_read("f16_big_endian", element_type::f16));
  expect_counting<float16>(expect_read("f16_compressed", element_type::f16));
  expect_counting<bfloat16>(expect_read("bf16_big_endian", element_type::bf16));
  expect_counting<bfloat16>(expect_read("bf16_compressed", element_type::bf16));
  expect_counting<std::int16_t>(expect_read("i16_big_endian", element_type::i16));
  EXPECT_TRUE(open_input(samples("i8_big_endian"), std::nullopt).mapped) << "a byte has no order";
}

TEST_F(Hdf5, ComplexNumbersAreRecordsOfTwoFloats) {
  expect_counting<std::complex<float>>(open_input(samples("c64"), std::nullopt));
  expect_counting<std::complex<double>>(open_input(samples("c128"), std::nullopt));
  for (const char* dataset : {"c64_compressed", "c64_with_gaps"}) {
    SCOPED_TRACE(dataset);
    const input_array array = open_input(samples(dataset), std::nullopt);
    EXPECT_EQ(array.type, element_type::c64);
    EXPECT_FALSE(array.mapped);
    expect_counting<std::complex<float>>(array);
  }
  for (const char* dataset : {"c128_big_endian", "c128_of_others"}) {
    SCOPED_TRACE(dataset);
    const input_array array = open_input(samples(dataset), std::nullopt);
    EXPECT_EQ(array.type, element_type::c128);
    EXPECT_FALSE(array.mapped);
    expect_counting<std::complex<double>>(array);
  }
  expect_refusal(samples("imaginary_first"), "records (a compound type) of 16 bytes");
  expect_refusal(samples("pairs_of_integers"), "records (a compound type) of 8 bytes");
}

TEST_F(Hdf5, BooleansOfH5pyAreBytes) {
  const input_array array = open_input(samples("booleans"), std::nullopt);
  ASSERT_EQ(array.count, 5U);
  EXPECT_EQ(array.type, element_type::u8);
  EXPECT_EQ(std::memcmp(array.data, "\0\1\1\0\1", 5), 0);
  const input_array compressed = open_input(samples("booleans_compressed"), std::nullopt);
  EXPECT_FALSE(compressed.mapped);
  EXPECT_EQ(compressed.count, 1000U);
  for (std::size_t i = 0; i < compressed.count; ++i) ASSERT_EQ(compressed.data[i], std::byte{1});
}

TEST_F(Hdf5, AGridInAGroupKeepsItsShape) {
  const input_array array = open_input(samples("nested/grid"), std::nullopt);
  EXPECT_EQ(array.shape, (std::vector<std::uint64_t>{10, sample_count / 10}));
  EXPECT_TRUE(array.mapped);
  expect_counting<double>(array);
}

TEST_F(Hdf5, TheUserBlockIsSkipped) {
  const input_array array = open_input(folder_.file("user_block.h5") + ":/contiguous", std::nullopt);
  EXPECT_TRUE(array.mapped);
  expect_counting<double>(array);
}

TEST_F(Hdf5, WhatDoesNotLieThereAsItIsIsReadIntoMemory) {
  for (const char* dataset : {"chunked", "compressed"}) {
    SCOPED_TRACE(dataset);
    const input_array array = open_input(samples(dataset), std::nullopt);
    EXPECT_FALSE(array.mapped);
    expect_counting<float>(array);
  }
  const input_array swapped = open_input(samples("big_endian"), std::nullopt);
  EXPECT_FALSE(swapped.mapped);
  expect_counting<double>(swapped);
}

TEST_F(Hdf5, MisalignedDataAreReadIntoMemory) {
  const input_array array = open_input(samples("odd_place"), std::nullopt);
  EXPECT_FALSE(array.mapped) << "the sample was meant to lie at an odd place";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data) % 8, 0U);
  double second = 0;
  std::memcpy(&second, array.data + 8, 8);
  EXPECT_EQ(second, 2);
}

TEST_F(Hdf5, UnwrittenDataAreZeros) {
  const input_array array = open_input(samples("unwritten"), std::nullopt);
  ASSERT_EQ(array.count, static_cast<std::uint64_t>(sample_count));
  for (std::size_t i = 0; i < array.bytes(); ++i) ASSERT_EQ(array.data[i], std::byte{0});
}

TEST_F(Hdf5, AShapeThatNothingInTheFileBearsOutIsRefused) { expect_refusal(samples("huge"), "it is damaged, or hardly written"); }

TEST_F(Hdf5, AChunkThatTakesMoreMemoryThanTheChildMayHaveIsRefused) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer waits for itself where it has no memory to tell that there is none";
#endif
  write_one_chunk(folder_.file(""));
  const std::string name = folder_.file("chunk.h5") + ":/x";
  EXPECT_EQ(open_input(name, std::nullopt).count, 12U << 20);
  expect_refusal(name, "HDF5", {.limits = {.memory_bytes = 8 << 20}});
  expect_refusal(samples("giant_chunk"), "is stored in filtered chunks of 536870912 bytes");
}

// --- references to other files ----------------------------------------------------------------------------------------------------------

const open_options following{.follow_external = true, .limits = {}};

TEST_F(Hdf5, OtherFilesAreReadWhereThatIsAskedForOnly) {
  std::vector<std::string> names{reference("link"), reference("link_to_samples/chunked"), reference("storage"),
                                 samples("external")};
#if H5_VERSION_GE(1, 10, 0)
  names.push_back(reference("virtual"));
#endif
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    expect_refusal(name, "--follow-external");
    expect_counting<float>(open_input(name, std::nullopt, following));
  }
  expect_refusal(reference("link_to_nothing"), "external link on the way, to what cannot be opened", following);
  std::filesystem::resize_file(folder_.file("samples.h5"), 3000);
  expect_refusal(reference("link"), "external link on the way, to what cannot be opened", following);
}

// HDF5 reads zeros, or fill values, in the place of what is missing.
TEST_F(Hdf5, WhatOtherFilesLackIsNoZero) {
  std::filesystem::resize_file(folder_.file("external.bin"), sample_count * sizeof(float) - 1);
  for (const std::string& name : {reference("storage"), samples("external")}) {
    SCOPED_TRACE(name);
    expect_refusal(name, "are to be read: copy it again", following);
  }
#if H5_VERSION_GE(1, 10, 0)
  expect_counting<float>(open_input(reference("virtual"), std::nullopt, following));
  expect_counting<float>(open_input(reference("virtual_of_virtual"), std::nullopt, following));
  expect_refusal(reference("virtual_of_short"), "ends at", following);
  expect_refusal(reference("virtual_of_nothing"), "no_such, which cannot be opened", following);
  expect_refusal(reference("virtual_of_numbered"), "numbered", following);
  expect_refusal(reference("virtual_of_itself"), "without end", following);
  std::filesystem::resize_file(folder_.file("samples.h5"), 3000);
  for (const char* name : {"virtual", "virtual_of_virtual"}) expect_refusal(reference(name), "truncated", following);
  std::filesystem::remove(folder_.file("samples.h5"));
  for (const char* name : {"virtual", "virtual_of_virtual"}) expect_refusal(reference(name), "no such file", following);
#endif
}

// The offset of a dataset behind a link is one in the other file: 1.8e31 for 500500 was the sum of what lay there in this one.
TEST_F(Hdf5, ADatasetBehindALinkIsNotMappedFromTheWrongFile) {
  EXPECT_FALSE(open_input(reference("link"), std::nullopt, following).mapped);
  EXPECT_TRUE(open_input(samples("f32"), std::nullopt, following).mapped);
}

TEST_F(Hdf5, APipeIsNotWaitedFor) {
  std::vector<std::string> names{"link_to_pipe", "soft", "storage_in_pipe"};
#if H5_VERSION_GE(1, 10, 0)
  names.emplace_back("virtual_from_pipe");
#endif
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    expect_refusal(reference(name), "--follow-external");
    expect_refusal(reference(name), "pipe, which is no regular file", following);
  }
}

#if H5_VERSION_GE(1, 10, 0)
TEST_F(Hdf5, APipeBehindSeveralReferencesIsGivenUp) {
  const open_options impatient{.follow_external = true, .limits = {.follow_wall_seconds = 1}};
  const auto begin = std::chrono::steady_clock::now();
  expect_refusal(reference("virtual_from_storage_in_pipe"), "does it refer to a pipe", impatient);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}
#endif

TEST_F(Hdf5, AScalarIsOneElementAndNothingIsNone) {
  EXPECT_EQ(open_input(samples("scalar"), std::nullopt).count, 1U);
  EXPECT_TRUE(open_input(samples("scalar"), std::nullopt).shape.empty());
  EXPECT_EQ(open_input(samples("null"), std::nullopt).count, 0U);
  EXPECT_EQ(open_input(samples("empty"), std::nullopt).count, 0U);
}

TEST_F(Hdf5, OtherTypesAreRefused) {
  expect_refusal(samples("backwards"), "an enumeration of 1 bytes");
  expect_refusal(samples("days"), "an enumeration of 1 bytes");
  expect_refusal(samples("odd_float"), "floats of 2 bytes");
  expect_refusal(samples("biased_float"), "floats of 2 bytes");
  expect_refusal(samples("text"), "strings of 4 bytes");
  expect_refusal(samples("record"), "records");
}

TEST_F(Hdf5, WhatIsNoDatasetIsRefused) {
  expect_refusal(samples("missing"), "no dataset of this name");
  expect_refusal(samples("missing/grid"), "no dataset of this name");
  expect_refusal(samples("nested"), "is no dataset");
  expect_refusal(samples(""), "is no dataset");
  expect_refusal(folder_.file("samples.h5"), "name the dataset");
  expect_refusal(folder_.write("text.h5", byte_vector(100, std::byte{'x'})) + ":/x",
                 "cannot be opened as an HDF5 file (HDF5: file signature not found)");
  std::filesystem::resize_file(folder_.file("samples.h5"), 3000);
  expect_refusal(samples("f32"), "(HDF5: truncated file");
}

TEST_F(Hdf5, AFilterThatIsNotThereIsNamed) {
  expect_refusal(samples("filtered"), "required filter 'of this test' is not registered");
}

// An older HDF5 does not know the versions of types that newer ones write: that of the floats here is made one that nobody writes.
TEST_F(Hdf5, WhatCannotBeReadIsNotSaidToBeMissing) {
  std::ifstream in(folder_.file("samples.h5"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::string type("\x11\x20\x1f\x00\x04\x00\x00\x00", 8);
  std::size_t found = 0;
  for (std::size_t at = bytes.find(type); at != std::string::npos; at = bytes.find(type, at + 1), ++found) bytes[at] = '\x91';
  ASSERT_GT(found, 0U);
  byte_vector file;
  append(file, bytes);
  expect_refusal(folder_.write("newer.h5", file) + ":/f32", "cannot be opened by HDF5");
}

TEST_F(Hdf5, ATruncatedFileIsRefused) {
  for (const std::uintmax_t left : {10U, 100U, 1000U, 6000U, 20000U}) {
    SCOPED_TRACE(std::to_string(left) + " bytes");
    write_hdf5_samples(folder_.file(""));
    std::filesystem::resize_file(folder_.file("samples.h5"), left);
    expect_refusal(samples("f64"), ": ");
  }
}

}  // namespace
}  // namespace onefold::tool::test
