#include "hdf5_input.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <utility>

#include "input_error.hpp"

namespace onefold::tool {

namespace {

// An identifier of the HDF5 library with the function that closes it. Negative identifiers mean that the call failed.
class handle {
 public:
  handle(hid_t id, herr_t (*close)(hid_t)) noexcept : id_(id), close_(close) {}
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() {
    if (valid()) close_(id_);
  }
  [[nodiscard]] bool valid() const noexcept { return id_ >= 0; }
  [[nodiscard]] hid_t id() const noexcept { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// What the HDF5 library says of its last failure: the innermost entry of its error stack, which is the cause.
std::string reason() {
  std::string text = "no reason given";
  const auto take = [](unsigned depth, const H5E_error2_t* entry, void* out) -> herr_t {
    if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(out) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text;
}

const handle& check(const handle& made, const char* what) {
  if (!made.valid()) throw input_error(fmt::format("{} (HDF5: {}): check it with h5dump", what, reason()));
  return made;
}

struct known_type {
  hid_t little, big, native;
  element_type type;
};

// A function, because the names of HDF5's types are calls that start the library.
std::array<known_type, element_type_count> known_types() {
  return {{
      {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, element_type::f32},
      {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, element_type::f64},
      {H5T_STD_I32LE, H5T_STD_I32BE, H5T_NATIVE_INT32, element_type::i32},
      {H5T_STD_U32LE, H5T_STD_U32BE, H5T_NATIVE_UINT32, element_type::u32},
      {H5T_STD_I64LE, H5T_STD_I64BE, H5T_NATIVE_INT64, element_type::i64},
      {H5T_STD_U64LE, H5T_STD_U64BE, H5T_NATIVE_UINT64, element_type::u64},
  }};
}

const char* class_name(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return "integers";
    case H5T_FLOAT:
      return "floats";
    case H5T_STRING:
      return "strings";
    case H5T_COMPOUND:
      return "records (a compound type; complex numbers are stored so too)";
    case H5T_ENUM:
      return "an enumeration (booleans are stored so too)";
    default:
      return "elements that are no numbers";
  }
}

struct stored_type {
  known_type row;
  bool little_endian;
};

stored_type find_type(hid_t type) {
  for (const known_type& row : known_types()) {
    if (H5Tequal(type, row.little) > 0) return {row, true};
    if (H5Tequal(type, row.big) > 0) return {row, false};
  }
  throw input_error(
      fmt::format("holds {} of {} bytes, and onefold reads f32, f64, i32, u32, i64 and u64: write a converted dataset",
                  class_name(type), H5Tget_size(type)));
}

void read_shape(hid_t dataset, input_array& array) {
  const handle space(H5Dget_space(dataset), H5Sclose);
  check(space, "has a dataset whose shape cannot be read");
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) {
    array.shape = {0};
    return;
  }
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int axes = H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  if (axes < 0) throw input_error("has a dataset whose shape cannot be read: check it with h5dump");
  array.shape.assign(extents.begin(), extents.begin() + axes);

  std::uint64_t bytes = size_of(array.type);
  for (const std::uint64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw input_error("claims a shape with more bytes than 64 bits can count: the file is damaged");
  array.count = bytes / size_of(array.type);
}

// Bytes from the start of the file to the elements, when they lie there in one piece and as they are; else HADDR_UNDEF.
haddr_t contiguous_offset(hid_t dataset) {
  const handle properties(H5Dget_create_plist(dataset), H5Pclose);
  check(properties, "has a dataset whose layout cannot be read");
  if (H5Pget_layout(properties.id()) != H5D_CONTIGUOUS || H5Pget_external_count(properties.id()) != 0) return HADDR_UNDEF;
  return H5Dget_offset(dataset);  // counts from the start of the file, a user block included; undefined before the first write
}

void map_dataset(input_array& array, haddr_t offset, mapped_file file) {
  const std::uint64_t file_bytes = file.bytes().size();
  if (offset > file_bytes || array.bytes() > file_bytes - offset)
    throw input_error(fmt::format("has {} bytes, and its dataset takes {} from byte {} on: it is truncated, copy it again",
                                  file_bytes, array.bytes(), offset));
  array.file = std::move(file);
  array.data = array.file.bytes().data() + offset;
  array.mapped = true;
}

void read_dataset(input_array& array, hid_t dataset, hid_t native) {
  array.copy = aligned_buffer(array.bytes());
  array.data = array.copy.data();
  if (H5Dread(dataset, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.copy.data()) < 0)
    throw input_error(fmt::format("cannot be read (HDF5: {}): check it with h5dump", reason()));
}

}  // namespace

bool reads_hdf5() noexcept { return true; }

input_array open_hdf5(const std::string& path, const std::string& dataset_name, mapped_file file) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print its error stack
  const handle container(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  check(container, "cannot be opened as an HDF5 file");
  const handle dataset(H5Dopen2(container.id(), dataset_name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid())
    throw input_error("has no dataset of this name (h5ls -r FILE lists them): correct the name behind the colon");
  const handle type(H5Dget_type(dataset.id()), H5Tclose);
  const stored_type stored = find_type(check(type, "has a dataset whose type cannot be read").id());

  input_array array;
  array.format = "hdf5";
  array.type = stored.row.type;
  read_shape(dataset.id(), array);
  if (array.count == 0) return array;

  const haddr_t offset = stored.little_endian ? contiguous_offset(dataset.id()) : HADDR_UNDEF;
  const bool aligned = offset % size_of(array.type) == 0;  // the mapping itself starts on a page
  if (offset != HADDR_UNDEF && aligned)
    map_dataset(array, offset, std::move(file));
  else
    read_dataset(array, dataset.id(), stored.row.native);
  return array;
}

}  // namespace onefold::tool
