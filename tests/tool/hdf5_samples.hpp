#pragma once
/// @file hdf5_samples.hpp  HDF5 files with one dataset for each way in which the tool meets one.

#include <string>

namespace onefold::tool::test {

/// Elements in every numeric sample; element i is i + 1.
inline constexpr int sample_count = 1000;

/// Writes `folder`/samples.h5 and `folder`/user_block.h5, whose one dataset "contiguous" lies behind 512 bytes of something else.
///
/// The datasets of samples.h5: one for each element type by its name; nested/grid (f64, 10 x 100), chunked, compressed, big_endian
/// (f64), external (its data in another file), unwritten (zeros that are nowhere stored), huge (64 TiB of them), odd_place (f64: 1,
/// 2, 3, not aligned in the file), scalar (42), null and empty (no elements); and, of types that onefold does not know, bytes,
/// short, text and record.
void write_hdf5_samples(const std::string& folder);

}  // namespace onefold::tool::test
