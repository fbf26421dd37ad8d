/// @file hdf5_damage_test.cpp  Damaged HDF5 files are read or refused, whatever they do to the HDF5 library. The fuzzer does the same
/// without an end (tests/fuzz).

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "hdf5_samples.hpp"
#include "input_error.hpp"
#include "input_file.hpp"
#include "support.hpp"

namespace onefold::tool::test {
namespace {

byte_vector contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  byte_vector bytes;
  append(bytes, text);
  return bytes;
}

void damage(byte_vector& file, std::mt19937_64& random) {
  static constexpr unsigned char telling[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
  for (auto steps = random() % 4 + 1; steps > 0; --steps) {
    const auto any = random() % 2 == 0 ? telling[random() % std::size(telling)] : static_cast<unsigned char>(random());
    file[random() % file.size()] = static_cast<std::byte>(any);
  }
  if (random() % 16 == 0) file.resize(random() % file.size());
}

// With a sanitizer the child that reads a file takes 40 ms to start, and the fuzzer, which has the same sanitizers, reads thousands in one process.
#ifdef ONEFOLD_TEST_SANITIZED
constexpr int rounds = 250;
#else
constexpr int rounds = 2000;
#endif

TEST(Hdf5Damage, DamagedFilesAreReadOrRefused) {
  constexpr std::uint64_t seed = 20261122;
  std::cout << "seed " << seed << "\n";
  const temporary_folder folder;
  std::vector<byte_vector> seeds;
  for (const std::string& path : write_seeds(folder.file(""))) {
    EXPECT_EQ(open_input(path + ":/x", std::nullopt).count, 64U) << path;
    seeds.push_back(contents(path));
  }
  std::mt19937_64 random(seed);
  const open_options how{.limits = {.open_cpu_seconds = 5, .read_cpu_seconds = 5}};
  int read = 0, crashes = 0;
  for (int i = 0; i < rounds; ++i) {
    byte_vector file = seeds[random() % seeds.size()];
    damage(file, random);
    const std::string path = folder.write("x.h5", file);
    try {
      const input_array array = open_input(path + ":/x", std::nullopt, how);
      if (array.in_pieces()) static_cast<void>(array.piece(0, std::min(array.count, piece_bytes / size_of(array.type))));
      ++read;
    } catch (const input_error& error) {
      crashes += std::string_view(error.what()).find("crash") != std::string_view::npos ? 1 : 0;
    }
  }
  std::cout << read << " read, " << rounds - read << " refused, of which the HDF5 library crashed on " << crashes << "\n";
  EXPECT_GT(read, rounds / 20) << "the damage is so heavy that the test proves little";
  EXPECT_LT(read, rounds * 19 / 20) << "the damage is so light that the test proves little";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace onefold::tool::test
