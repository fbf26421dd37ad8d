#include "hdf5_samples.hpp"

#include <hdf5.h>
#include <sys/stat.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/float16.hpp>

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

// With a checksum: what passes no filter is not held in memory as a whole.
hid_t one_chunk(hsize_t elements) {
  const hid_t properties = plain();
  check(H5Pset_chunk(properties, 1, &elements), "H5Pset_chunk");
  check(H5Pset_fletcher32(properties), "H5Pset_fletcher32");
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) check(H5Pset_deflate(properties, 1), "H5Pset_deflate");
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
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i + 1);
  return values;
}

// A float of two bytes, for which the library has a name from 1.14.4 on only; made as h5py makes its half.
hid_t float_of_two_bytes(std::size_t exponent_bits, std::size_t bias, H5T_order_t order) {
  const std::size_t digits = 15 - exponent_bits;
  const hid_t type = check(H5Tcopy(H5T_IEEE_F32LE), "H5Tcopy");
  check(H5Tset_fields(type, 15, digits, exponent_bits, 0, digits), "H5Tset_fields");
  check(H5Tset_size(type, 2), "H5Tset_size");
  check(H5Tset_ebias(type, bias), "H5Tset_ebias");
  check(H5Tset_order(type, order), "H5Tset_order");
  return type;
}

// The bits are written as they are: little-endian in memory, where the library exchanges bytes for a dataset that is big-endian.
template <class T>
void put_floats_of_two_bytes(hid_t file, const std::string& name, H5T_order_t order, hid_t properties) {
  constexpr bool is_half = std::is_same_v<T, float16>;
  constexpr std::size_t exponent_bits = is_half ? 5 : 8, bias = is_half ? 15 : 127;
  std::vector<std::uint16_t> bits(sample_count);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = T(static_cast<float>(i + 1)).bits();
  const hid_t memory = float_of_two_bytes(exponent_bits, bias, H5T_ORDER_LE),
              stored = float_of_two_bytes(exponent_bits, bias, order);
  put(file, name.c_str(), stored, memory, bits, line(), properties);
  H5Tclose(stored);
  H5Tclose(memory);
}

// An enumeration of bytes; h5py's booleans are FALSE and TRUE.
void put_enumeration(hid_t file, const char* name, const std::vector<std::pair<const char*, std::int8_t>>& members,
                     const std::vector<std::int8_t>& values, hid_t properties) {
  const hid_t type = check(H5Tenum_create(H5T_NATIVE_INT8), "H5Tenum_create");
  for (const auto& [member, value] : members) check(H5Tenum_insert(type, member, &value), "H5Tenum_insert");
  put(file, name, type, type, values, extent({values.size()}), properties);
  H5Tclose(type);
}

void put_each_type(hid_t file) {
  put(file, "f32", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), plain());
  put(file, "f64", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, counting<double>(), line(), plain());
  put(file, "i32", H5T_STD_I32LE, H5T_NATIVE_INT32, counting<std::int32_t>(), line(), plain());
  put(file, "u32", H5T_STD_U32LE, H5T_NATIVE_UINT32, counting<std::uint32_t>(), line(), plain());
  put(file, "i64", H5T_STD_I64LE, H5T_NATIVE_INT64, counting<std::int64_t>(), line(), plain());
  put(file, "u64", H5T_STD_U64LE, H5T_NATIVE_UINT64, counting<std::uint64_t>(), line(), plain());
  put(file, "i8", H5T_STD_I8LE, H5T_NATIVE_INT8, counting<std::int8_t>(), line(), plain());
  put(file, "u8", H5T_STD_U8LE, H5T_NATIVE_UINT8, counting<std::uint8_t>(), line(), plain());
  put(file, "i16", H5T_STD_I16LE, H5T_NATIVE_INT16, counting<std::int16_t>(), line(), plain());
  put(file, "u16", H5T_STD_U16LE, H5T_NATIVE_UINT16, counting<std::uint16_t>(), line(), plain());
  put_floats_of_two_bytes<float16>(file, "f16", H5T_ORDER_LE, plain());
  put_floats_of_two_bytes<bfloat16>(file, "bf16", H5T_ORDER_LE, plain());
}

void put_other_small_types(hid_t file) {
  put_floats_of_two_bytes<float16>(file, "f16_big_endian", H5T_ORDER_BE, plain());
  put_floats_of_two_bytes<bfloat16>(file, "bf16_big_endian", H5T_ORDER_BE, plain());
  put_floats_of_two_bytes<float16>(file, "f16_compressed", H5T_ORDER_LE, compressed());
  put_floats_of_two_bytes<bfloat16>(file, "bf16_compressed", H5T_ORDER_LE, compressed());
  put(file, "i8_big_endian", H5T_STD_I8BE, H5T_NATIVE_INT8, counting<std::int8_t>(), line(), plain());
  put(file, "i16_big_endian", H5T_STD_I16BE, H5T_NATIVE_INT16, counting<std::int16_t>(), line(), plain());
  put_enumeration(file, "booleans", {{"FALSE", 0}, {"TRUE", 1}}, {0, 1, 1, 0, 1}, plain());
  put_enumeration(file, "booleans_compressed", {{"FALSE", 0}, {"TRUE", 1}}, std::vector<std::int8_t>(1000, 1), compressed());
  put_enumeration(file, "backwards", {{"FALSE", 1}, {"TRUE", 0}}, {0, 1}, plain());
  put_enumeration(file, "days", {{"FALSE", 0}, {"TRUE", 1}, {"SUNDAY", 2}}, {0, 1, 2}, plain());
  const hid_t odd = float_of_two_bytes(6, 31, H5T_ORDER_LE), biased = float_of_two_bytes(5, 16, H5T_ORDER_LE);
  put(file, "odd_float", odd, odd, std::vector<std::uint16_t>{1}, extent({1}), plain());
  put(file, "biased_float", biased, biased, std::vector<std::uint16_t>{1}, extent({1}), plain());
  H5Tclose(odd);
  H5Tclose(biased);
}

// Through a filter that no other process has, which changes nothing.
void put_filtered(hid_t file, const char* name) {
  const H5Z_class2_t filter = {
      H5Z_CLASS_T_VERS,
      511,
      1,
      1,
      "of this test",
      nullptr,
      nullptr,
      [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) { return bytes; }};
  check(H5Zregister(&filter), "H5Zregister");
  const hid_t properties = chunks(plain());
  check(H5Pset_filter(properties, filter.id, H5Z_FLAG_MANDATORY, 0, nullptr), "H5Pset_filter");
  put(file, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), properties);
  check(H5Fflush(file, H5F_SCOPE_LOCAL), "H5Fflush");  // what is in the cache of chunks has not been filtered
  check(H5Zunregister(filter.id), "H5Zunregister");
}

void put_each_layout(hid_t file, const std::string& folder) {
  put(file, "nested/grid", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, counting<double>(), extent({10, sample_count / 10}), plain());
  put(file, "chunked", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), chunks(plain()));
  put(file, "compressed", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), compressed());
  put_filtered(file, "filtered");
  put(file, "big_endian", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, counting<double>(), line(), plain());
  put(file, "external", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, counting<float>(), line(), elsewhere(folder + "/external.bin"));
  put(file, "unwritten", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, line(), plain());
  put(file, "huge", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, extent({hsize_t{1} << 44}), chunks(plain()));
  put(file, "giant_chunk", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, extent({1 << 27}), one_chunk(1 << 27));
  // Three single bytes bring what follows them in the file's block of small data to an odd place.
  put(file, "bytes", H5T_STD_U8LE, H5T_NATIVE_UINT8, std::vector<std::uint8_t>{1, 2, 3}, extent({3}), plain());
  put(file, "odd_place", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector<double>{1, 2, 3}, extent({3}), plain());
}

void put_odd_ones(hid_t file) {
  put(file, "scalar", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector<double>{42}, check(H5Screate(H5S_SCALAR), "H5Screate"),
      plain());
  put(file, "null", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, check(H5Screate(H5S_NULL), "H5Screate"), plain());
  put(file, "empty", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, extent({0}), plain());

  const hid_t text = H5Tcopy(H5T_C_S1);
  check(H5Tset_size(text, 4), "H5Tset_size");
  put(file, "text", text, text, std::vector<char>{'a', 'b', 'c', 0}, extent({1}), plain());
  H5Tclose(text);

  const hid_t record = check(H5Tcreate(H5T_COMPOUND, 8), "H5Tcreate");
  check(H5Tinsert(record, "pressure", 0, H5T_IEEE_F32LE), "H5Tinsert");
  check(H5Tinsert(record, "density", 4, H5T_IEEE_F32LE), "H5Tinsert");
  put(file, "record", record, record, std::vector<float>{1, 2}, extent({1}), plain());
  H5Tclose(record);
}

// A record of two floats, with `gap` bytes behind each.
hid_t complex_number(const char* real, const char* imaginary, hid_t part, std::size_t gap = 0) {
  const std::size_t step = H5Tget_size(part) + gap;
  const hid_t type = check(H5Tcreate(H5T_COMPOUND, 2 * step), "H5Tcreate");
  check(H5Tinsert(type, real, 0, part), "H5Tinsert");
  check(H5Tinsert(type, imaginary, step, part), "H5Tinsert");
  return type;
}

// 1 - i, 2 - 2 i, ..
template <class T>
void put_complex_numbers(hid_t file, const char* name, hid_t stored, hid_t memory, hid_t properties) {
  std::vector<std::complex<T>> values(sample_count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = {static_cast<T>(i + 1), -static_cast<T>(i + 1)};
  put(file, name, stored, memory, values, line(), properties);
  H5Tclose(stored);
  H5Tclose(memory);
}

void put_each_complex_type(hid_t file) {
  const auto floats = [] { return complex_number("r", "i", H5T_IEEE_F32LE); };
  const auto doubles = [](const char* real, const char* imaginary) { return complex_number(real, imaginary, H5T_IEEE_F64LE); };
  put_complex_numbers<float>(file, "c64", floats(), floats(), plain());
  put_complex_numbers<double>(file, "c128", doubles("r", "i"), doubles("r", "i"), plain());
  put_complex_numbers<float>(file, "c64_compressed", floats(), floats(), compressed());
  put_complex_numbers<float>(file, "c64_with_gaps", complex_number("r", "i", H5T_IEEE_F32LE, 4), floats(), plain());
  put_complex_numbers<double>(file, "c128_big_endian", complex_number("real", "imag", H5T_IEEE_F64BE), doubles("real", "imag"),
                              plain());
  put_complex_numbers<double>(file, "c128_of_others", doubles("re", "im"), doubles("re", "im"), chunks(plain()));
  put_complex_numbers<double>(file, "imaginary_first", doubles("i", "r"), doubles("i", "r"), plain());
  const hid_t pair = complex_number("r", "i", H5T_STD_I32LE);
  put(file, "pairs_of_integers", pair, pair, std::vector<std::int32_t>{1, 2}, extent({1}), plain());
  H5Tclose(pair);
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

namespace {

void link_to(hid_t file, const char* name, const std::string& other, const char* object) {
  check(H5Lcreate_external(other.c_str(), object, file, name, H5P_DEFAULT, H5P_DEFAULT), name);
}

#if H5_VERSION_GE(1, 10, 0)
// All of a dataset of another file.
hid_t taken_from(const std::string& other, const char* name = "f32") {
  const hid_t properties = plain(), whole = line();
  const hsize_t start = 0, count = sample_count;
  check(H5Sselect_hyperslab(whole, H5S_SELECT_SET, &start, nullptr, &count, nullptr), "H5Sselect_hyperslab");
  check(H5Pset_virtual(properties, whole, other.c_str(), name, whole), "H5Pset_virtual");
  H5Sclose(whole);
  return properties;
}
#endif

#if H5_VERSION_GE(1, 10, 0)
hid_t line_without_end() {
  const hsize_t now = sample_count, most = H5S_UNLIMITED;
  return check(H5Screate_simple(1, &now, &most), "H5Screate_simple");
}
// One file behind the other, as many as there are.
hid_t taken_from_numbered(const std::string& others) {
  const hid_t properties = plain(), all = line_without_end(), each = line();
  const hsize_t start = 0, block = sample_count, count = H5S_UNLIMITED;
  check(H5Sselect_hyperslab(all, H5S_SELECT_SET, &start, &block, &count, &block), "H5Sselect_hyperslab");
  check(H5Pset_virtual(properties, all, others.c_str(), "f32", each), "H5Pset_virtual");
  H5Sclose(each);
  H5Sclose(all);
  return properties;
}
#endif

hid_t grid_chunks(hid_t properties) {
  const hsize_t chunk[] = {1, 100, 500};
  check(H5Pset_chunk(properties, 3, chunk), "H5Pset_chunk");
  return properties;
}

hid_t filled(float value) {
  const hid_t properties = grid_chunks(plain());
  check(H5Pset_fill_value(properties, H5T_NATIVE_FLOAT, &value), "H5Pset_fill_value");
  return properties;
}

}  // namespace

void write_references(const std::string& folder) {
  const std::string pipe = folder + "/pipe";
  if (::mkfifo(pipe.c_str(), 0600) != 0) throw std::runtime_error("cannot make " + pipe);
  const hid_t file = check(H5Fcreate((folder + "/references.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  const std::vector<float> nothing;
  link_to(file, "link", "samples.h5", "/f32");
  link_to(file, "link_to_pipe", "pipe", "/f32");
  link_to(file, "link_to_nothing", "missing.h5", "/f32");
  link_to(file, "link_to_samples", "samples.h5", "/");
  check(H5Lcreate_soft("/link_to_pipe", file, "soft", H5P_DEFAULT, H5P_DEFAULT), "H5Lcreate_soft");
  put(file, "storage", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), elsewhere(folder + "/external.bin"));
  put(file, "storage_in_pipe", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), elsewhere(pipe));
#if H5_VERSION_GE(1, 10, 0)
  put(file, "virtual", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), taken_from("samples.h5"));
  put(file, "virtual_from_pipe", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), taken_from("pipe"));
  put(file, "virtual_from_storage_in_pipe", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), taken_from("second.h5"));
  put(file, "virtual_of_virtual", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), taken_from(".", "virtual"));
  put(file, "virtual_of_nothing", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), taken_from("samples.h5", "no_such"));
  put(file, "virtual_of_numbered", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line_without_end(),
      taken_from_numbered("samples%b.h5"));
  put(file, "virtual_of_short", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), taken_from(".", "short"));
  put(file, "virtual_of_itself", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), taken_from(".", "virtual_of_itself"));
  put(file, "short", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>(10), extent({10}), plain());
  const hid_t second = check(H5Fcreate((folder + "/second.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  put(second, "f32", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, nothing, line(), elsewhere(pipe));
  H5Fclose(second);
#endif
  H5Fclose(file);
}

void write_large(const std::string& folder) {
  const hid_t file = check(H5Fcreate((folder + "/large.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  put(file, "unwritten", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{}, extent({3, 10000, 25001}), filled(1.5F));

  // Rows of numbers of very different sizes, which every other order of summation adds up to something else, and zeros between them.
  const std::vector<hsize_t> shape{3, 1001, 11201};  // little more than is held in memory
  put(file, "scattered", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, std::vector<double>{}, extent(shape), grid_chunks(plain()));
  const hid_t dataset = check(H5Dopen2(file, "scattered", H5P_DEFAULT), "scattered"), space = extent(shape);
  std::ofstream raw(folder + "/scattered.bin", std::ios::binary);
  for (std::uint64_t row = 0; row < shape[0] * shape[1]; row += 37) {
    std::vector<double> values(shape[2]);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const std::uint64_t mixed = (row * shape[2] + i + 1) * 0x9e3779b97f4a7c15U;
      values[i] = std::ldexp(static_cast<double>(static_cast<std::int64_t>(mixed)), -static_cast<int>(mixed >> 20 & 63));
    }
    const hsize_t start[] = {row / shape[1], row % shape[1], 0}, count[] = {1, 1, shape[2]};
    const hid_t memory = extent({shape[2]});
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr), "H5Sselect_hyperslab");
    check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), "scattered");
    H5Sclose(memory);
    raw.seekp(static_cast<std::streamoff>(row * shape[2] * sizeof(double)));
    raw.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
  }
  raw.seekp(static_cast<std::streamoff>(shape[0] * shape[1] * shape[2] * sizeof(double) - 1)).put('\0');
  if (!raw.flush()) throw std::runtime_error("cannot write scattered.bin");
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
}

namespace {

// The oldest and the newest structures that the library writes: the version of nearly everything in a file hangs on that.
void write_seed(const std::string& path, bool newest, hid_t stored, hid_t space, hid_t properties) {
  const hid_t access = check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  check(H5Pset_libver_bounds(access, newest ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), "H5Pset_libver_bounds");
  const hid_t file = check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), 1.0F);
  put(file, "x", stored, H5T_NATIVE_FLOAT, values, space, properties);
  H5Fclose(file);
  H5Pclose(access);
}

hid_t small_chunks(bool filtered) {
  const hid_t properties = plain();
  const hsize_t chunk[] = {4, 8};
  check(H5Pset_chunk(properties, 2, chunk), "H5Pset_chunk");
  if (filtered) check(H5Pset_shuffle(properties), "H5Pset_shuffle");
  if (filtered && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) check(H5Pset_deflate(properties, 6), "H5Pset_deflate");
  if (filtered) check(H5Pset_fletcher32(properties), "H5Pset_fletcher32");
  return properties;
}

hid_t compact() {
  const hid_t properties = plain();
  check(H5Pset_layout(properties, H5D_COMPACT), "H5Pset_layout");
  return properties;
}

hid_t growing() {
  const hsize_t now[] = {8, 8}, most[] = {H5S_UNLIMITED, 8};
  return check(H5Screate_simple(2, now, most), "H5Screate_simple");
}

}  // namespace

void write_one_chunk(const std::string& folder) {
  const hid_t file = check(H5Fcreate((folder + "/chunk.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  put(file, "x", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>(12 << 20), extent({12 << 20}), one_chunk(12 << 20));
  H5Fclose(file);
}

std::vector<std::string> write_seeds(const std::string& folder) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& name, hid_t stored, bool grows, auto&& properties) {
    for (const bool newest : {false, true}) {
      paths.push_back(folder + "/" + name + (newest ? "-new.h5" : "-old.h5"));
      write_seed(paths.back(), newest, stored, grows ? growing() : extent({8, 8}), properties());
    }
  };
  add("contiguous", H5T_IEEE_F32LE, false, plain);
  add("compact", H5T_IEEE_F64BE, false, compact);
  add("chunked", H5T_STD_I32LE, false, [] { return small_chunks(false); });
  add("filtered", H5T_IEEE_F32LE, false, [] { return small_chunks(true); });
  add("growing", H5T_STD_U64BE, true, [] { return small_chunks(true); });
  return paths;
}

void write_hdf5_samples(const std::string& folder) {
  const hid_t file = check(H5Fcreate((folder + "/samples.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  put_each_type(file);
  put_each_layout(file, folder);
  put_odd_ones(file);
  put_other_small_types(file);
  put_each_complex_type(file);
  H5Fclose(file);
  write_user_block(folder + "/user_block.h5");
}

}  // namespace onefold::tool::test
