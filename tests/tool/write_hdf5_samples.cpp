/// @file write_hdf5_samples.cpp  Writes HDF5 samples into the folder that it is given: for end_to_end.py and the fuzzers.

#include <cstdio>
#include <exception>
#include <string_view>

#include "hdf5_samples.hpp"

int main(int argc, char** argv) {
  using namespace onefold::tool::test;
  const std::string_view what = argc == 3 ? argv[2] : "";
  if (argc < 2 || argc > 3 || !(what.empty() || what == "--large" || what == "--seeds"))
    return std::fputs("usage: onefold_tool_hdf5_samples FOLDER [--large | --seeds]\n", stderr), 2;
  try {
    if (what == "--large") {
      write_large(argv[1]);
    } else if (what == "--seeds") {
      write_seeds(argv[1]);
    } else {
      write_hdf5_samples(argv[1]);
      write_references(argv[1]);
    }
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
