#include "input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "hdf5_input.hpp"
#include "input_error.hpp"
#include "npy.hpp"

namespace onefold::tool {

namespace {

bool is_aligned(const std::byte* data, std::size_t size) { return reinterpret_cast<std::uintptr_t>(data) % size == 0; }

bool begins_with(std::span<const std::byte> file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

// Points `array` at its elements in the mapped file, or at an aligned copy of them.
void place_data(input_array& array, std::size_t offset) {
  array.mapped = true;
  if (array.count == 0) return;
  array.data = array.file.bytes().data() + offset;
  if (is_aligned(array.data, size_of(array.type))) return;
  array.copy = aligned_buffer(array.bytes());
  std::memcpy(array.copy.data(), array.data, array.bytes());
  array.data = array.copy.data();
  array.mapped = false;
}

input_array open_npy(mapped_file file) {
  npy_array header = parse_npy(file.bytes());
  input_array array;
  array.format = "npy";
  array.type = header.type;
  array.shape = std::move(header.shape);
  array.fortran_order = header.fortran_order;
  array.count = header.count;
  array.file = std::move(file);
  place_data(array, header.data_offset);
  return array;
}

input_array open_raw(mapped_file file, std::optional<element_type> type) {
  if (!type)
    throw input_error("does not say what its elements are: give it with --type f32, f64, i32, u32, i64 or u64 (.npy files say it)");
  const std::size_t size = size_of(*type), bytes = file.bytes().size();
  if (bytes % size != 0)
    throw input_error(
        fmt::format("has {} bytes, which is no whole number of {} elements of {} bytes: it is truncated, or of another "
                    "type",
                    bytes, onefold::name(*type), size));
  input_array array;
  array.format = "raw";
  array.type = *type;
  array.count = bytes / size;
  array.shape = {array.count};
  array.file = std::move(file);
  place_data(array, 0);
  return array;
}

// The formats that a user may take for raw binary although they are not.
void refuse_containers(const mapped_file& file) {
  if (begins_with(file.bytes(), "\x89HDF\r\n\x1a\n"))
    throw input_error("is an HDF5 file: name the dataset too, FILE:/DATASET (h5ls -r FILE lists them)");
  if (begins_with(file.bytes(), "PK\x03\x04"))
    throw input_error("is a zip or .npz archive: unpack it and name one of the .npy files in it");
}

input_array open_file(const std::string& path, std::optional<element_type> type) {
  mapped_file file(path);
  if (path.ends_with(".npy") || looks_like_npy(file.bytes())) return open_npy(std::move(file));
  refuse_containers(file);
  return open_raw(std::move(file), type);
}

// Where NAME splits into FILE and /DATASET: the first colon before a slash behind the name of a file that exists, or nothing.
std::optional<std::size_t> dataset_colon(const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return std::nullopt;
  std::optional<std::size_t> first;
  for (std::size_t colon = name.find(":/"); colon != std::string::npos; colon = name.find(":/", colon + 1)) {
    if (!first) first = colon;
    if (std::filesystem::is_regular_file(name.substr(0, colon), ignored)) return colon;
  }
  return first;
}

void check_type(const input_array& array, std::optional<element_type> type) {
  if (!type || *type == array.type) return;
  throw input_error(
      fmt::format("holds {} elements, and --type says {}: leave --type out", onefold::name(array.type), onefold::name(*type)));
}

}  // namespace

input_array open_input(const std::string& name, std::optional<element_type> type) {
  const auto colon = dataset_colon(name);
  const std::string path = name.substr(0, colon.value_or(name.size()));
  try {
    input_array array = colon ? open_hdf5(path, name.substr(*colon + 1), mapped_file(path)) : open_file(path, type);
    check_type(array, type);
    return array;
  } catch (const input_error& error) {
    throw input_error(fmt::format("{}: {}", name, error.what()));
  }
}

#ifndef ONEFOLD_HAVE_HDF5
bool reads_hdf5() noexcept { return false; }

input_array open_hdf5(const std::string&, const std::string&, mapped_file) {
  throw input_error(
      "cannot be read by this build, which was made without HDF5: install libhdf5-dev and build again, or export to .npy");
}
#endif

}  // namespace onefold::tool
