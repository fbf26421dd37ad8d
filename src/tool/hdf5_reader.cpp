#include "hdf5_reader.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "../type_names.hpp"
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

// What the HDF5 library says of its last failure: the innermost entry of its error stack, which is the cause. Of a filter that is not there that is
// where it was looked for, and the entry outside says which. Any further call of the library's clears the stack.
struct failure {
  std::string reason;
  bool is_of_name = false;  // there is nothing of this name
  bool is_of_kind = false;  // there is something else of this name

  failure() {
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, const H5E_error2_t* entry, void* out) -> herr_t {
          auto& found = *static_cast<failure*>(out);
          if (found.reason.empty() && entry->desc != nullptr && entry->maj_num != H5E_PLUGIN) {
            found.reason = entry->desc;
            found.is_of_name = entry->maj_num == H5E_SYM && entry->min_num == H5E_NOTFOUND;  // also what lies around other causes
          }
          found.is_of_kind = found.is_of_kind || (entry->maj_num == H5E_DATASET && entry->min_num == H5E_BADTYPE);
          return 0;
        },
        this);
    if (reason.empty()) reason = "no reason given";
  }
};
std::string reason() { return failure().reason; }

const handle& check(const handle& made, const char* what) {
  if (!made.valid()) throw input_error(fmt::format("{} (HDF5: {}): check it with h5dump", what, reason()));
  return made;
}

struct known_type {
  hid_t little, big;
  element_type type;
};

// A function, because the names of HDF5's types are calls that start the library.
auto known_types() {
  return std::array{
      known_type{H5T_IEEE_F32LE, H5T_IEEE_F32BE, element_type::f32}, known_type{H5T_IEEE_F64LE, H5T_IEEE_F64BE, element_type::f64},
      known_type{H5T_STD_I32LE, H5T_STD_I32BE, element_type::i32},   known_type{H5T_STD_U32LE, H5T_STD_U32BE, element_type::u32},
      known_type{H5T_STD_I64LE, H5T_STD_I64BE, element_type::i64},   known_type{H5T_STD_U64LE, H5T_STD_U64BE, element_type::u64},
      known_type{H5T_STD_I8LE, H5T_STD_I8BE, element_type::i8},      known_type{H5T_STD_U8LE, H5T_STD_U8BE, element_type::u8},
      known_type{H5T_STD_I16LE, H5T_STD_I16BE, element_type::i16},   known_type{H5T_STD_U16LE, H5T_STD_U16BE, element_type::u16},
  };
}

// Floats of two bytes by where their parts lie: the library has names for them from 1.14.4 and 2.0 on only.
std::optional<element_type> float_of_two_bytes(hid_t type) {
  if (H5Tget_class(type) != H5T_FLOAT || H5Tget_size(type) != 2 || H5Tget_precision(type) != 16) return std::nullopt;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, digits = 0, digit_bits = 0;
  if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &digits, &digit_bits) < 0 || H5Tget_norm(type) != H5T_NORM_IMPLIED)
    return std::nullopt;
  const bool in_order = sign == 15 && digits == 0 && exponent == digit_bits;
  const std::size_t bias = H5Tget_ebias(type);
#define ONEFOLD_SMALL_FLOAT(name, T, precision)                                                                              \
  if (in_order && exponent_bits == 16 - (precision) && digit_bits == (precision)-1 && bias == (1 << (15 - (precision))) - 1) \
    return element_type::name;
#include <onefold/types.def>
  return std::nullopt;
}

// A boolean as h5py stores it: an enumeration of one byte with the members FALSE = 0 and TRUE = 1.
bool is_boolean(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return false;
  unsigned char no = 1, yes = 0;
  return H5Tenum_valueof(type, "FALSE", &no) >= 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 && no == 0 && yes == 1;
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
      return "records (a compound type)";
    case H5T_ENUM:
      return "an enumeration";
    default:
      return "elements that are no numbers";
  }
}

struct stored_type {
  element_type type;
  bool as_it_is;  // lies in the file as it does in memory
};

// The two names of a complex number's parts that are in use: h5py's and PyTables', and those of others.
constexpr std::pair<std::string_view, std::string_view> names_of_parts[] = {
    {"r", "i"}, {"real", "imag"}, {"re", "im"}, {"real", "imaginary"}};

std::string name_of_member(hid_t type, unsigned number) {
  char* const found = H5Tget_member_name(type, number);
  if (found == nullptr) return {};
  std::string name = found;
  H5free_memory(found);
  return name;
}

// A complex number as h5py and others store it: a record of two floats of one type.
std::optional<stored_type> complex_number(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return std::nullopt;
  const std::string first = name_of_member(type, 0), second = name_of_member(type, 1);
  const bool known =
      std::ranges::any_of(names_of_parts, [&](const auto& names) { return names.first == first && names.second == second; });
  if (!known) return std::nullopt;
  const handle real(H5Tget_member_type(type, 0), H5Tclose), imaginary(H5Tget_member_type(type, 1), H5Tclose);
  if (!real.valid() || !imaginary.valid() || H5Tequal(real.id(), imaginary.id()) <= 0) return std::nullopt;
  for (const known_type& row : known_types()) {
    const bool little = H5Tequal(real.id(), row.little) > 0;
    if (!is_float(row.type) || (!little && H5Tequal(real.id(), row.big) <= 0)) continue;
    const std::size_t part = size_of(row.type);
    const bool packed =
        H5Tget_member_offset(type, 0) == 0 && H5Tget_member_offset(type, 1) == part && H5Tget_size(type) == 2 * part;
    return stored_type{row.type == element_type::f32 ? element_type::c64 : element_type::c128, little && packed};
  }
  return std::nullopt;
}

stored_type find_type(hid_t type) {
  for (const known_type& row : known_types()) {
    if (H5Tequal(type, row.little) > 0) return {row.type, true};
    if (H5Tequal(type, row.big) > 0) return {row.type, size_of(row.type) == 1};
  }
  if (const auto half = float_of_two_bytes(type)) return {*half, H5Tget_order(type) == H5T_ORDER_LE};
  if (is_boolean(type)) return {element_type::u8, true};
  if (const auto number = complex_number(type)) return *number;
  throw input_error(fmt::format(
      "holds {} of {} bytes, and onefold reads floats of 2, 4 and 8 bytes ({} of 2), integers of 1 to 8, and "
      "booleans and "
      "complex numbers as h5py stores them: write a converted dataset",
      class_name(type), H5Tget_size(type), names_of_types([](element_type one) { return is_small(one) && is_float(one); }, "and")));
}

// The record of two floats that a complex number is in memory, with the members' names that the file has.
hid_t complex_in_memory(hid_t type, element_type of) {
  const std::size_t part = size_of(part_type(of));
  const hid_t real = part == sizeof(float) ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  const hid_t made = H5Tcreate(H5T_COMPOUND, 2 * part);
  if (made >= 0 && (H5Tinsert(made, name_of_member(type, 0).c_str(), 0, real) < 0 ||
                    H5Tinsert(made, name_of_member(type, 1).c_str(), part, real) < 0))
    throw input_error("has complex numbers whose parts cannot be read: check it with h5dump");
  return made;
}

// What elements are read as: the stored type in this machine's byte order. Of what is no number there is none.
hid_t type_in_memory(hid_t type, const stored_type& stored) {
  if (is_complex(stored.type)) return complex_in_memory(type, stored.type);
  const bool as_it_is = stored.as_it_is;
  const hid_t copy = H5Tcopy(type);
  if (copy >= 0 && !as_it_is && H5Tset_order(copy, H5T_ORDER_LE) < 0)
    throw input_error("has elements in a byte order that cannot be changed");
  return copy;
}

void read_shape(hid_t dataset, hdf5_facts& facts) {
  const handle space(H5Dget_space(dataset), H5Sclose);
  check(space, "has a dataset whose shape cannot be read");
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) {
    facts.shape = {0};
    return;
  }
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int axes = H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  if (axes < 0) throw input_error("has a dataset whose shape cannot be read: check it with h5dump");
  facts.shape.assign(extents.begin(), extents.begin() + axes);
}

// --- other files, to which a file refers ----------------------------------------------------------------------------------------------

// Where a name is looked for, as the HDF5 library does where no prefix is set: beside the file that refers to it, and as it is.
std::array<std::filesystem::path, 4> places_of(const std::string& referring, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(referring).parent_path(), plain = name;
  return {plain, folder / plain, plain.filename(), folder / plain.filename()};
}

// A pipe would be waited for without end.
void refuse_what_is_no_file(const std::string& referring, const std::string& name) {
  for (const auto& place : places_of(referring, name)) {
    struct stat status {};
    if (::stat(place.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
      throw input_error(fmt::format("refers to {}, which is no regular file: correct the reference", place.string()));
  }
}

struct found_file {
  std::string path;
  std::uint64_t bytes;
};
std::optional<found_file> find_file(const std::string& referring, const std::string& name) {
  for (const auto& place : places_of(referring, name)) {
    struct stat status {};
    if (::stat(place.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      return found_file{place.string(), static_cast<std::uint64_t>(status.st_size)};
  }
  return std::nullopt;
}

struct link_policy {
  bool follow;
  bool followed = false;
  std::string refusal;  // what became of a link; an exception cannot pass through the library
};

herr_t on_external_link(const char* referring, const char*, const char* name, const char*, unsigned*, hid_t, void* policy) {
  auto& asked = *static_cast<link_policy*>(policy);
  try {
    if (!asked.follow) throw input_error(fmt::format("has an external link on the way, to {}", name));
    refuse_what_is_no_file(referring, name);
    asked.followed = true;
    return 0;
  } catch (const std::exception& refused) {
    asked.refusal = refused.what();
    return -1;
  }
}

bool is_virtual(hid_t properties) {
#if H5_VERSION_GE(1, 10, 0)
  return H5Pget_layout(properties) == H5D_VIRTUAL;
#else
  return properties < 0;  // HDF5 1.8 knows none
#endif
}

// A file of raw data, and the part of it that is taken.
struct raw_file {
  std::string name;
  std::uint64_t offset, bytes;
};
std::vector<raw_file> raw_files(hid_t properties) {
  std::vector<raw_file> files;
  std::array<char, 4096> name{};
  for (int i = 0; i < H5Pget_external_count(properties); ++i) {
    off_t offset = 0;
    hsize_t bytes = 0;
    if (H5Pget_external(properties, static_cast<unsigned>(i), name.size(), name.data(), &offset, &bytes) < 0) continue;
    name.back() = '\0';
    files.push_back({name.data(), static_cast<std::uint64_t>(offset), bytes});
  }
  return files;
}

// A dataset of which a virtual one takes elements; of this very file where the file's name is a dot.
struct virtual_source {
  std::string file, dataset;
  [[nodiscard]] bool is_here() const { return file == "."; }
};
std::vector<virtual_source> virtual_sources(hid_t properties) {
  std::vector<virtual_source> sources;
#if H5_VERSION_GE(1, 10, 0)
  std::size_t count = 0;
  if (!is_virtual(properties) || H5Pget_virtual_count(properties, &count) < 0) return sources;
  std::array<char, 4096> file{}, dataset{};
  for (std::size_t i = 0; i < count; ++i) {
    if (H5Pget_virtual_filename(properties, i, file.data(), file.size()) < 0 ||
        H5Pget_virtual_dsetname(properties, i, dataset.data(), dataset.size()) < 0)
      throw input_error(fmt::format("is put together from datasets whose names cannot be read (HDF5: {})", reason()));
    file.back() = dataset.back() = '\0';
    sources.push_back({file.data(), dataset.data()});
  }
#endif
  return sources;
}

// Where a file of raw data ends early the library reads zeros.
void check_storage(hid_t dataset, hid_t properties, const std::string& path) {
  const handle space(H5Dget_space(dataset), H5Sclose), type(H5Dget_type(dataset), H5Tclose);
  const hssize_t elements = space.valid() ? H5Sget_simple_extent_npoints(space.id()) : 0;
  std::uint64_t left = elements > 0 && type.valid() ? static_cast<std::uint64_t>(elements) * H5Tget_size(type.id()) : 0;
  for (const raw_file& raw : raw_files(properties)) {
    const std::uint64_t taken = std::min(raw.bytes, left);
    const std::uint64_t end = raw.offset + taken;
    const auto file = find_file(path, raw.name);  // what is not there the library refuses
    if (taken > 0 && file && file->bytes < end)
      throw input_error(fmt::format("keeps its data in {}, which has {} bytes, and {} are to be read: copy it again", file->path,
                                    file->bytes, end));
    left -= taken;
  }
}

#if H5_VERSION_GE(1, 10, 0)
// Where a source is not there, or has fewer elements than are taken of it, the library reads fill values.
void check_sources(hid_t dataset, hid_t properties, const std::string& path, int depth = 0) {
  constexpr int most_depth = 16;
  const std::vector<virtual_source> sources = virtual_sources(properties);
  if (!sources.empty() && depth == most_depth)
    throw input_error("is put together from datasets that are put together, without end");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& [file, name] = sources[i];
    if (file.find('%') != std::string::npos || name.find('%') != std::string::npos)
      throw input_error(
          fmt::format("is put together from numbered files or datasets ({}:{}), of which HDF5 does not tell whether "
                      "one is missing: write a copy of the dataset, h5repack or h5py",
                      file, name));
    const bool is_here = sources[i].is_here();
    const auto place = is_here ? found_file{path, 0} : find_file(path, file);
    if (!place) throw input_error(fmt::format("is put together from {}:{}, and there is no such file", file, name));
    const handle container(is_here ? H5Iget_file_id(dataset) : H5Fopen(place->path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const auto refuse = [&of = sources[i]](const std::string& why) {
      throw input_error(fmt::format("is put together from {}:{}, which {}", of.file, of.dataset, why));
    };
    if (!container.valid()) refuse(fmt::format("cannot be opened (HDF5: {})", reason()));
    const handle source(H5Dopen2(container.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!source.valid()) refuse(fmt::format("cannot be opened (HDF5: {})", reason()));

    const handle taken(H5Pget_virtual_srcspace(properties, i), H5Sclose), there(H5Dget_space(source.id()), H5Sclose);
    std::array<hsize_t, H5S_MAX_RANK> first{}, last{}, extents{};
    const int axes = there.valid() ? H5Sget_simple_extent_dims(there.id(), extents.data(), nullptr) : -1;
    // A selection without end takes what there is.
    if (taken.valid() && axes >= 0 && H5Sget_simple_extent_ndims(taken.id()) == axes &&
        H5Sget_select_bounds(taken.id(), first.data(), last.data()) >= 0)
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(axes); ++axis)
        if (last[axis] >= extents[axis])
          refuse(
              fmt::format("ends at {} along axis {}, and elements up to {} are taken of it", extents[axis], axis, last[axis] + 1));
    const handle its(H5Dget_create_plist(source.id()), H5Pclose);
    if (!its.valid()) continue;
    check_storage(source.id(), its.id(), place->path);
    check_sources(source.id(), its.id(), place->path, depth + 1);
  }
}
#endif

void check_references(hid_t dataset, hid_t properties, const std::string& path, bool follow) {
  const bool external = H5Pget_external_count(properties) > 0;
  if (!external && !is_virtual(properties)) return;
  if (!follow)
    throw input_error(external ? "keeps its data in other files (external storage)"
                               : "is put together from other datasets (a virtual dataset)");
  for (const raw_file& raw : raw_files(properties)) refuse_what_is_no_file(path, raw.name);
  for (const virtual_source& source : virtual_sources(properties))
    if (!source.is_here()) refuse_what_is_no_file(path, source.file);
  check_storage(dataset, properties, path);
#if H5_VERSION_GE(1, 10, 0)
  check_sources(dataset, properties, path);
#endif
}

// A compressed chunk is held in memory as a whole, twice.
void check_chunks(hid_t properties, std::uint64_t element_bytes) {
  if (H5Pget_layout(properties) != H5D_CHUNKED || H5Pget_nfilters(properties) <= 0) return;
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int axes = H5Pget_chunk(properties, H5S_MAX_RANK, extents.data());
  std::uint64_t bytes = element_bytes;
  bool overflow = axes < 0;
  for (int i = 0; i < axes; ++i) overflow |= __builtin_mul_overflow(bytes, extents[static_cast<std::size_t>(i)], &bytes);
  if (overflow || bytes > whole_bytes)
    throw input_error(
        fmt::format("is stored in filtered chunks of {} bytes, and the tool takes at most {}: write it in smaller ones, "
                    "h5repack -l CHUNK=..",
                    overflow ? "too many" : fmt::format("{}", bytes), whole_bytes));
}

// Elements that lie side by side in memory as the one box of the dataset that begins with `first`: the longest that there is.
struct box {
  std::array<hsize_t, H5S_MAX_RANK> start{}, extents{};
  std::uint64_t count = 1;
};

box longest_box(const std::vector<std::uint64_t>& shape, std::uint64_t first, std::uint64_t count) {
  box found;
  std::uint64_t below = 1;  // elements of one step along the axis
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::uint64_t at = first / below % shape[axis];
    found.start[axis] = at;
    found.extents[axis] = 1;
    if (first % below == 0 && count / below > 0) {
      // Every axis behind this one is taken as a whole.
      for (std::size_t behind = axis + 1; behind < shape.size(); ++behind) found.extents[behind] = shape[behind];
      found.extents[axis] = std::min(shape[axis] - at, count / below);
      found.count = found.extents[axis] * below;
    }
    below *= shape[axis];
  }
  return found;
}

struct state {
  state(const std::string& path, const std::string& name, bool follow)
      : access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose),
        links{follow, false, {}},
        container(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose),
        dataset(open(name), H5Dclose),
        type(H5Dget_type(dataset.id()), H5Tclose),
        stored(find_type(check(type, "has a dataset whose type cannot be read").id())),
        in_memory(type_in_memory(type.id(), stored), H5Tclose) {}

  hid_t open(const std::string& name) {
    check(container, "cannot be opened as an HDF5 file");
    check(access, "cannot be read");
    // So many bytes of chunks are kept: where a row of chunks is longer than a piece, each is decompressed for several pieces.
    H5Pset_chunk_cache(access.id(), 12421, std::size_t{64} << 20, 1.0);
    H5Pset_elink_cb(access.id(), on_external_link, &links);
    const hid_t opened = H5Dopen2(container.id(), name.c_str(), access.id());
    if (!links.refusal.empty()) throw input_error(links.refusal + hint());
    if (opened < 0) {
      const failure why;
      if (why.is_of_kind) throw input_error("is no dataset (h5ls -r FILE lists them): correct the name behind the colon");
      if (why.is_of_name)
        throw input_error("has no dataset of this name (h5ls -r FILE lists them): correct the name behind the colon");
      if (links.followed)
        throw input_error(fmt::format("has an external link on the way, to what cannot be opened (HDF5: {})", why.reason));
      throw input_error(fmt::format("cannot be opened by HDF5 {}.{}.{} ({}): check it with h5dump; a newer one may have written it",
                                    H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, why.reason));
    }
    return opened;
  }
  [[nodiscard]] std::string hint() const {
    return links.follow ? "" : ": --follow-external reads other files too, if you trust this one";
  }

  handle access;
  link_policy links;
  handle container;  // behind it comes what says why it is none
  handle dataset;
  handle type;
  stored_type stored;
  handle in_memory;
  hdf5_facts facts{};
};

class library_reader final : public hdf5_reader {
 public:
  library_reader(const std::string& path, const std::string& name, bool follow_external);
  [[nodiscard]] const hdf5_facts& facts() const noexcept override { return state_->facts; }
  void read(std::uint64_t first, std::uint64_t count, std::byte* to) const override;

 private:
  std::unique_ptr<state> state_;
};

library_reader::library_reader(const std::string& path, const std::string& name, bool follow_external) {
  // The check of references knows where files are looked for without these.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
  for (const char* prefix : {"HDF5_EXT_PREFIX", "HDF5_EXTFILE_PREFIX", "HDF5_VDS_PREFIX"}) ::unsetenv(prefix);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print its error stack
  state_ = std::make_unique<state>(path, name, follow_external);
  const hid_t dataset = state_->dataset.id();
  const handle properties(H5Dget_create_plist(dataset), H5Pclose);
  check(properties, "has a dataset whose layout cannot be read");
  try {
    check_references(dataset, properties.id(), path, follow_external);
  } catch (const input_error& refused) {
    throw input_error(refused.what() + state_->hint());
  }

  hdf5_facts& facts = state_->facts;
  facts.type = state_->stored.type;
  check_chunks(properties.id(), size_of(facts.type));
  read_shape(dataset, facts);
  facts.stored_bytes = H5Dget_storage_size(dataset);
  if (state_->stored.as_it_is && !state_->links.followed && H5Pget_layout(properties.id()) == H5D_CONTIGUOUS &&
      H5Pget_external_count(properties.id()) == 0) {
    const haddr_t offset =
        H5Dget_offset(dataset);  // from the start of the file, a user block included; undefined before the first write
    facts.usable_in_place = offset != HADDR_UNDEF;
    facts.offset = offset;
  }
}

void library_reader::read(std::uint64_t first, std::uint64_t count, std::byte* to) const {
  const hdf5_facts& facts = state_->facts;
  const handle space(H5Dget_space(state_->dataset.id()), H5Sclose);
  check(space, "has a dataset whose shape cannot be read");
  while (count > 0) {
    const box part = longest_box(facts.shape, first, count);
    // As many axes in memory as in the file: where they differ the library looks for the place of one element after the other.
    const handle memory(facts.shape.empty() ? H5Screate(H5S_SCALAR)
                                            : H5Screate_simple(static_cast<int>(facts.shape.size()), part.extents.data(), nullptr),
                        H5Sclose);
    // The one element of a dataset without axes is selected as it is.
    const bool selected =
        memory.valid() && (facts.shape.empty() || H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, part.start.data(), nullptr,
                                                                      part.extents.data(), nullptr) >= 0);
    if (!selected || H5Dread(state_->dataset.id(), state_->in_memory.id(), memory.id(), space.id(), H5P_DEFAULT, to) < 0)
      throw input_error(fmt::format("cannot be read (HDF5: {}): check it with h5dump", reason()));
    first += part.count;
    count -= part.count;
    to += part.count * size_of(facts.type);
  }
}

}  // namespace

std::unique_ptr<hdf5_reader> open_hdf5_reader(const std::string& path, const std::string& dataset, bool follow_external) {
  return std::make_unique<library_reader>(path, dataset, follow_external);
}

}  // namespace onefold::tool

onefold::tool::hdf5_reader* onefold_open_hdf5_reader(const std::string& path, const std::string& dataset, bool follow_external) {
  return onefold::tool::open_hdf5_reader(path, dataset, follow_external).release();
}
