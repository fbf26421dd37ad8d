/// @file input_file_test.cpp  Files on a disk: how the format is found, mapping, alignment, and the errors of every kind of file.

#include "input_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "input_error.hpp"
#include "support.hpp"

namespace onefold::tool::test {
namespace {

constexpr auto no_type = std::nullopt;

std::string refusal(const std::string& name, std::optional<element_type> type = no_type) {
  return error_of<input_error>([&] { static_cast<void>(open_input(name, type)); });
}

void expect_refusal(const std::string& name, std::optional<element_type> type, const std::string& says) {
  const std::string said = refusal(name, type);
  EXPECT_TRUE(said.starts_with(name + ": ")) << said;
  EXPECT_NE(said.find(says), std::string::npos) << said;
}

bool is_aligned(const input_array& array) { return reinterpret_cast<std::uintptr_t>(array.data) % size_of(array.type) == 0; }

// The data of support's files count 0, 1, 2, ... byte by byte.
void expect_counting(const input_array& array) {
  for (std::size_t i = 0; i < array.bytes(); ++i) ASSERT_EQ(array.data[i], static_cast<std::byte>(i & 0xff)) << "byte " << i;
}

TEST(InputFile, AnNpyFileIsMapped) {
  const temporary_folder folder;
  const auto path = folder.write("x.npy", npy_file(npy_padded(npy_dict("<f8", "(5, 2)", true)), 80));
  const input_array array = open_input(path, no_type);
  EXPECT_EQ(array.format, "npy");
  EXPECT_EQ(array.type, element_type::f64);
  EXPECT_EQ(array.count, 10U);
  EXPECT_TRUE(array.fortran_order);
  EXPECT_TRUE(array.mapped);
  EXPECT_TRUE(is_aligned(array));
  expect_counting(array);
}

TEST(InputFile, DataAtAnOddOffsetAreCopiedToAnAlignedPlace) {
  const temporary_folder folder;
  for (std::size_t shift = 0; shift < 8; ++shift) {
    SCOPED_TRACE("offset 64 k + " + std::to_string(shift));
    const auto path = folder.write("x.npy", npy_file(npy_padded(npy_dict("<i8", "(100,)"), 1, shift), 800));
    const input_array array = open_input(path, no_type);
    EXPECT_EQ(array.mapped, shift == 0);
    EXPECT_TRUE(is_aligned(array));
    expect_counting(array);
  }
}

TEST(InputFile, MovingAnArrayKeepsItsData) {
  const temporary_folder folder;
  for (const std::size_t shift : {0U, 1U}) {
    input_array first = open_input(folder.write("x.npy", npy_file(npy_padded(npy_dict("<f4", "(64,)"), 1, shift), 256)), no_type);
    const input_array second = std::move(first);
    expect_counting(second);
  }
}

TEST(InputFile, TheMagicMakesAnNpyFileWhateverItsName) {
  const temporary_folder folder;
  EXPECT_EQ(open_input(folder.write("x.dat", npy_file(npy_dict("<f4", "(1,)"), 4)), no_type).format, "npy");
}

TEST(InputFile, RawBinaryTakesItsTypeFromTheUser) {
  const temporary_folder folder;
  const auto path = folder.write("x.bin", byte_vector(24, std::byte{1}));
  EXPECT_EQ(open_input(path, element_type::f32).count, 6U);
  EXPECT_EQ(open_input(path, element_type::u64).count, 3U);
  expect_refusal(path, no_type, "--type");
}

TEST(InputFile, EmptyFilesAreEmptyArraysOrTruncatedOnes) {
  const temporary_folder folder;
  const input_array raw = open_input(folder.write("x.bin", {}), element_type::f32);
  EXPECT_EQ(raw.count, 0U);
  EXPECT_EQ(raw.data, nullptr);
  expect_refusal(folder.write("x.npy", {}), no_type, "truncated");
  EXPECT_EQ(open_input(folder.write("none.npy", npy_file(npy_dict("<f4", "(0,)"), 0)), no_type).data, nullptr);
}

TEST(InputFile, ARawFileOfAnOddSizeIsRefused) {
  const temporary_folder folder;
  expect_refusal(folder.write("x.bin", byte_vector(25)), element_type::f64, "25 bytes, which is no whole number of f64 elements");
}

TEST(InputFile, ATypeThatTheFileContradictsIsRefused) {
  const temporary_folder folder;
  const auto path = folder.write("x.npy", npy_file(npy_dict("<f8", "(1,)"), 8));
  EXPECT_EQ(open_input(path, element_type::f64).count, 1U);
  expect_refusal(path, element_type::f32, "holds f64 elements, and --type says f32");
}

TEST(InputFile, WhatIsNoRegularFileIsRefused) {
  const temporary_folder folder;
  expect_refusal(folder.file("missing.npy"), no_type, "No such file");
  expect_refusal(folder.file("missing.h5") + ":/x", no_type, "No such file");
  expect_refusal(folder.file(""), element_type::f32, "is a directory");
  expect_refusal("", no_type, "cannot be opened");
  const auto pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refusal(pipe, element_type::f32, "pipe or a device");  // and does not wait for a writer
  expect_refusal("/dev/zero", element_type::f32, "pipe or a device");
}

TEST(InputFile, AFileThatMayNotBeReadIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const temporary_folder folder;
  const auto path = folder.write("x.bin", byte_vector(8));
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  expect_refusal(path, element_type::f32, "Permission denied");
}

TEST(InputFile, ArchivesAndHdf5AreNotTakenForRawBinary) {
  const temporary_folder folder;
  byte_vector archive, hdf5;
  append(archive, std::string_view("PK\x03\x04 and more!!!", 16));
  append(hdf5, std::string_view("\x89HDF\r\n\x1a\n and so ", 16));
  expect_refusal(folder.write("x.npz", archive), element_type::f32, "unpack it");
  expect_refusal(folder.write("x.h5", hdf5), element_type::f32, "name the dataset");
}

TEST(InputFile, AColonInAFileNameIsNoDataset) {
  const temporary_folder folder;
  const auto path = folder.write("a:b.bin", byte_vector(8));
  EXPECT_EQ(open_input(path, element_type::f32).count, 2U);
  std::filesystem::create_directory(folder.file("run:"));
  EXPECT_EQ(open_input(folder.write("run:/x.bin", byte_vector(8)), element_type::f32).count, 2U);
}

TEST(InputFile, WithoutHdf5ADatasetIsRefusedWithARemedy) {
  if (reads_hdf5()) GTEST_SKIP() << "this build reads HDF5";
  const temporary_folder folder;
  expect_refusal(folder.write("x.h5", byte_vector(8)) + ":/x", no_type, "libhdf5-dev");
}

TEST(InputFile, MisalignedElementsThatAreManyComeInPieces) {
  const temporary_folder folder;
  const auto path = folder.write("huge.npy", npy_file(npy_padded(npy_dict("<f4", "(1099511627776,)"), 1, 1), 0));
  std::error_code failed;
  const std::uintmax_t header = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, (std::uintmax_t{1} << 42) + header, failed);
  if (failed) GTEST_SKIP() << "no sparse file of 4 TiB here: " << failed.message();
  constexpr std::uint64_t there = std::uint64_t{3} << 38;
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
      .seekp(static_cast<std::streamoff>(header + 4 * there))
      .write("abcd", 4);
  const input_array array = open_input(path, no_type);
  EXPECT_TRUE(array.in_pieces());
  EXPECT_FALSE(array.mapped);
  const std::byte* const piece = array.piece(there - 1, 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 64, 0U);
  EXPECT_EQ(std::memcmp(piece, "\0\0\0\0abcd\0\0\0\0", 12), 0);
}

TEST(InputFile, FilesThatSayTheyAreEmptyAndAreNotAreRefused) {
  if (!std::filesystem::exists("/proc/self/maps")) GTEST_SKIP() << "no /proc here";
  expect_refusal("/proc/self/maps", element_type::f32, "says that it has no bytes, and has some");
  expect_refusal("/proc/self/status", no_type, "says that it has no bytes, and has some");
}

TEST(InputFile, ADatasetWithoutItsSlashIsSuggested) {
  const temporary_folder folder;
  const auto path = folder.write("x.h5", byte_vector(8));
  expect_refusal(path + ":fields/p", no_type, "did you mean " + path + ":/fields/p?");
  expect_refusal(folder.file("missing.h5") + ":x", no_type, "No such file");
}

}  // namespace
}  // namespace onefold::tool::test
