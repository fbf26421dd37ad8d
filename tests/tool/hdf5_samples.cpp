#include "hdf5_samples.hpp"

#include <hdf5.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace onefold::tool::test {

namespace {

// Every call of the HDF5 library passes through here; a failed one ends the test program with its name.
template <class Result>
Result check(Result result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string("cannot write the HDF5 samples: ") + what);
  return result;
}

hid_t plain() { return check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"); }

// Writes a dataset of `values`, which are of the type `memory`, as `stored`. Takes over `properties` and `space`.
template <class T>
void put(hid_t file, const char* name, hid_t stored, hid_t memory, const std::vector<T>& values, hid_t space, hid_t properties) {
  const hid_t links = check(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate");
  check(H5Pset_create_intermediate_group(links, 1), "H5Pset_create_intermediate_group");
  const hid_t dataset = check(H5Dcreate2(file, name, stored, space, links, properties, H5P_DEFAULT), name);
  if (!values.empty()) check(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
  H5Dclose(dataset);
  H5Pclose(links);
  H5Pclose(properties);
  H5Sclose(space);
}

hid_t extent(std::vector<hsize_t> extents) {
  return check(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), "H5Screate_simple");
}

hid_t line() { return extent({sample_count}); }

hid_t chunks(hid_t properties) {
  const hsize_t chunk = 128;
  check(H5Pset_chunk(properties, 1, &chunk), "H5Pset_chunk");
  return properties;
}

hid_t compressed() {
  const hid_t properties = chunks(plain());
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) check(H5Pset_deflate(properties, 6), "H5Pset_deflate");
  return properties;
}

hid_t elsewhere(const std::string& path) {
  const hid_t properties = plain();
  check(H5Pset_external(properties, path.c_str(), 0, sample_count * sizeof(float)), "H5Pset_external");
  return properties;
}

template <class T>
std::vector<T> counting() {
  std::vector<T> values(sample_count);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

void put_each_type(hid_t file) {
  put(file, "f32", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), plain());
  put(file, "f64", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, counting<double>(), line(), plain());
  put(file, "i32", H5T_STD_I32LE, H5T_NATIVE_INT32, counting<std::int32_t>(), line(), plain());
  put(file, "u32", H5T_STD_U32LE, H5T_NATIVE_UINT32, counting<std::uint32_t>(), line(), plain());
  put(file, "i64", H5T_STD_I64LE, H5T_NATIVE_INT64, counting<std::int64_t>(), line(), plain());
  put(file, "u64", H5T_STD_U64LE, H5T_NATIVE_UINT64, counting<std::uint64_t>(), line(), plain());
}

void put_each_layout(hid_t file, const std::string& folder) {
  put(file, "nested/grid", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, counting<double>(), extent({10, sample_count / 10}), plain());
  put(file, "chunked", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), chunks(plain()));
  put(file, "compressed", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), compressed());
  put(file, "big_endian", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, counting<double>(), line(), plain());
  put(file, "external", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), elsewhere(folder + "/external.bin"));
  put(file, "unwritten", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, line(), plain());
  put(file, "huge", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, extent({hsize_t{1} << 44}), chunks(plain()));
  // Three single bytes bring what follows them in the file's block of small data to an odd place.
  put(file, "bytes", H5T_STD_U8LE, H5T_NATIVE_UINT8, std::vector<std::uint8_t>{1, 2, 3}, extent({3}), plain());
  put(file, "odd_place", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector<double>{1, 2, 3}, extent({3}), plain());
}

void put_odd_ones(hid_t file) {
  put(file, "scalar", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector<double>{42}, check(H5Screate(H5S_SCALAR), "H5Screate"),
      plain());
  put(file, "null", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, check(H5Screate(H5S_NULL), "H5Screate"), plain());
  put(file, "empty", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, extent({0}), plain());
  put(file, "short", H5T_STD_I16LE, H5T_NATIVE_INT16, counting<std::int16_t>(), line(), plain());

  const hid_t text = H5Tcopy(H5T_C_S1);
  check(H5Tset_size(text, 4), "H5Tset_size");
  put(file, "text", text, text, std::vector<char>{'a', 'b', 'c', 0}, extent({1}), plain());
  H5Tclose(text);

  const hid_t record = check(H5Tcreate(H5T_COMPOUND, 8), "H5Tcreate");
  check(H5Tinsert(record, "re", 0, H5T_IEEE_F32LE), "H5Tinsert");
  check(H5Tinsert(record, "im", 4, H5T_IEEE_F32LE), "H5Tinsert");
  put(file, "record", record, record, std::vector<float>{1, 2}, extent({1}), plain());
  H5Tclose(record);
}

void write_user_block(const std::string& path) {
  const hid_t properties = check(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate");
  check(H5Pset_userblock(properties, 512), "H5Pset_userblock");
  const hid_t file = check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT), "H5Fcreate");
  put(file, "contiguous", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, counting<double>(), line(), plain());
  H5Fclose(file);
  H5Pclose(properties);
}

}  // namespace

void write_hdf5_samples(const std::string& folder) {
  const hid_t file = check(H5Fcreate((folder + "/samples.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  put_each_type(file);
  put_each_layout(file, folder);
  put_odd_ones(file);
  H5Fclose(file);
  write_user_block(folder + "/user_block.h5");
}

}  // namespace onefold::tool::test
