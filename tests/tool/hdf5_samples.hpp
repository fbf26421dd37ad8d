#pragma once
/// @file hdf5_samples.hpp  HDF5 files with one dataset for each way in which the tool meets one.

#include <string>
#include <vector>

namespace onefold::tool::test {

/// Elements in every numeric sample; element i is i + 1, as far as the type holds that.
inline constexpr int sample_count = 1000;

/// Writes `folder`/samples.h5 and `folder`/user_block.h5, whose one dataset "contiguous" lies behind 512 bytes of something else.
///
/// The datasets of samples.h5: one for each element type by its name; i8, i16, f16 and bf16 with _big_endian behind it, f16 and bf16 with
/// _compressed; booleans (0, 1, 1, 0, 1 as h5py stores them), booleans_compressed (1000 times 1); nested/grid (f64, 10 x 100), chunked, compressed, big_endian
/// (f64), external (its data in another file), unwritten (zeros that are nowhere stored), huge (64 TiB of them), giant_chunk (512 MiB in one
/// compressed chunk, unwritten), odd_place (f64: 1,
/// 2, 3, not aligned in the file), scalar (42), null and empty (no elements); bytes (u8: 1, 2, 3); and, of types that onefold
/// does not know, text, record, the enumerations backwards and days, and odd_float and biased_float of two bytes.
void write_hdf5_samples(const std::string& folder);

/// Writes `folder`/references.h5, whose datasets are in other files, and a pipe that some of them name: beside write_hdf5_samples().
///
/// link, link_to_samples (a group), storage and virtual lead to the samples; link_to_pipe, soft (a soft link to it), storage_in_pipe,
/// virtual_from_pipe and virtual_from_storage_in_pipe to the pipe; link_to_nothing nowhere.
void write_references(const std::string& folder);

/// Writes `folder`/large.h5 and scattered.bin. The datasets: unwritten, 3 GB of f32 that are all 1.5 and nowhere stored, and scattered,
/// 344 MB of big-endian f64 of three axes in chunks, most of them zeros; scattered.bin holds the same numbers, raw.
void write_large(const std::string& folder);

/// Writes `folder`/chunk.h5, whose dataset "x" is 48 MiB of zeros, compressed in one chunk.
void write_one_chunk(const std::string& folder);

/// Writes small files into `folder`, of a few kilobytes each, to be damaged: every layout, in the oldest and the newest version of the format.
/// Each has one dataset, "x", of 64 elements. Returns their paths.
std::vector<std::string> write_seeds(const std::string& folder);

}  // namespace onefold::tool::test
