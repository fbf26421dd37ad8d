/// @file main.cpp  The main program of the tool's tests. Not that of the others, which keeps freed memory: a child that reads HDF5 has it, beyond what it is allowed.

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
