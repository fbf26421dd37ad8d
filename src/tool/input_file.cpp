#include "input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "file_types.hpp"
#include "input_error.hpp"
#include "npy.hpp"

namespace onefold::tool {

namespace {

// A complex number lies as its parts do.
std::size_t alignment_of(element_type type) { return size_of(part_type(type)); }

bool is_aligned(const std::byte* data, std::size_t size) { return reinterpret_cast<std::uintptr_t>(data) % size == 0; }

bool begins_with(std::span<const std::byte> file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

// Elements that lie in a mapped file where they are not aligned, copied piece by piece.
class misaligned_elements final : public piece_source {
 public:
  misaligned_elements(const std::byte* elements, std::size_t size) : elements_(elements), size_(size), piece_(piece_bytes) {}

  const std::byte* read(std::uint64_t first, std::uint64_t count) override {
    std::memcpy(piece_.data(), elements_ + first * size_, count * size_);
    return piece_.data();
  }

 private:
  const std::byte* elements_;
  std::size_t size_;
  aligned_buffer piece_;
};

// Points `array` at its elements in the mapped file, or at an aligned copy of them where they are few enough.
void place_data(input_array& array, std::size_t offset) {
  array.mapped = true;
  if (array.count == 0) return;
  const std::byte* const elements = array.file.bytes().data() + offset;
  if (is_aligned(elements, alignment_of(array.type))) {
    array.data = elements;
    return;
  }
  array.mapped = false;
  if (array.bytes() > whole_bytes) {
    array.source = std::make_unique<misaligned_elements>(elements, size_of(array.type));
    return;
  }
  array.copy = aligned_buffer(array.bytes());
  std::memcpy(array.copy.data(), elements, array.bytes());
  array.data = array.copy.data();
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

// "f32, f64, .., f16 or bf16".
std::string type_names() {
  std::string names;
  for (int i = 0; i < file_type_count; ++i)
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == file_type_count ? " or " : ", ", name(static_cast<element_type>(i)));
  return names;
}

input_array open_raw(mapped_file file, std::optional<element_type> type) {
  if (!type)
    throw input_error(fmt::format("does not say what its elements are: give it with --type {} (.npy files say it)", type_names()));
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

#ifdef ONEFOLD_HAVE_HDF5
// Most of what an unwritten dataset gives is made up by the HDF5 library: a damaged shape would keep the tool busy for years.
void check_size(const hdf5_facts& facts, std::uint64_t bytes) {
  constexpr std::uint64_t large = std::uint64_t{1} << 40, most_inflation = std::uint64_t{1} << 14;  // deflate reaches 1032
  if (bytes > large && bytes / most_inflation > facts.stored_bytes)
    throw input_error(fmt::format("claims {} bytes of elements, of which {} are stored: it is damaged, or hardly written", bytes,
                                  facts.stored_bytes));
}

input_array open_hdf5(const std::string& path, const std::string& dataset, const open_options& how) {
  mapped_file file(path);  // before the HDF5 library, which would wait for a pipe
  auto child = std::make_unique<hdf5_child>(path, dataset, how.follow_external, how.limits);
  const hdf5_facts& facts = child->facts();
  input_array array;
  array.format = "hdf5";
  array.type = facts.type;
  array.shape = facts.shape;
  array.count = facts.count;
  if (array.count == 0) return array;
  if (facts.usable_in_place && facts.offset % alignment_of(array.type) == 0) {  // the mapping itself starts on a page
    const std::uint64_t file_bytes = file.bytes().size();
    if (facts.offset > file_bytes || array.bytes() > file_bytes - facts.offset)
      throw input_error(fmt::format("has {} bytes, and its dataset takes {} from byte {} on: it is truncated, copy it again",
                                    file_bytes, array.bytes(), facts.offset));
    array.file = std::move(file);
    array.data = array.file.bytes().data() + facts.offset;
    array.mapped = true;
    return array;
  }
  check_size(facts, array.bytes());
  if (array.bytes() <= whole_bytes) {
    array.data = child->read(0, array.count);
    child->end();
  }
  array.source = std::move(child);
  return array;
}
#else
input_array open_hdf5(const std::string& path, const std::string&, const open_options&) {
  static_cast<void>(mapped_file(path));
  throw input_error(
      "cannot be read by this build, which was made without HDF5: install libhdf5-dev and build again, or export to .npy");
}
#endif

// "run.h5:/x" for "run.h5:x", where run.h5 may be an HDF5 file and nothing is named run.h5:x.
std::optional<std::string> with_slash(const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return std::nullopt;
  for (std::size_t colon = name.find(':'); colon != std::string::npos; colon = name.find(':', colon + 1))
    if (!name.substr(0, colon).ends_with(".npy") && std::filesystem::is_regular_file(name.substr(0, colon), ignored))
      return name.substr(0, colon) + ":/" + name.substr(colon + 1);
  return std::nullopt;
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

void input_array::check_whole() const {
  if (!file.is_whole()) throw input_error(fmt::format("{}: became shorter while it was being read: run again", name));
}

const std::byte* input_array::piece(std::uint64_t first, std::uint64_t length) const {
  if (data != nullptr) return data + first * size_of(type);
  try {
    return source->read(first, length);
  } catch (const input_error& error) {
    throw input_error(fmt::format("{}: {}", name, error.what()));
  }
}

input_array open_input(const std::string& name, std::optional<element_type> type, const open_options& how) {
  const auto colon = dataset_colon(name);
  const std::string path = name.substr(0, colon.value_or(name.size()));
  try {
    if (std::error_code ignored; name == "-" && !std::filesystem::exists(name, ignored))
      throw input_error("standard input is not read, since elements are mapped from a file: write the data to one first");
    if (!colon)
      if (const auto meant = with_slash(name)) throw input_error(fmt::format("cannot be opened: did you mean {}?", *meant));
    input_array array = colon ? open_hdf5(path, name.substr(*colon + 1), how) : open_file(path, type);
    check_type(array, type);
    array.name = name;
    return array;
  } catch (const input_error& error) {
    throw input_error(fmt::format("{}: {}", name, error.what()));
  }
}

bool reads_hdf5() noexcept {
#ifdef ONEFOLD_HAVE_HDF5
  return true;
#else
  return false;
#endif
}

}  // namespace onefold::tool
