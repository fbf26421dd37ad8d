/// @file write_hdf5_samples.cpp  Writes the HDF5 samples into the folder that it is given: for end_to_end.py.

#include <cstdio>
#include <exception>

#include "hdf5_samples.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: onefold_tool_hdf5_samples FOLDER\n", stderr), 2;
  try {
    onefold::tool::test::write_hdf5_samples(argv[1]);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
