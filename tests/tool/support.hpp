#pragma once
/// @file support.hpp  What the tests of the tool's file readers share: bytes, .npy files made by hand, a folder that goes away.

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace onefold::tool::test {

using byte_vector = std::vector<std::byte>;

inline void append(byte_vector& bytes, std::string_view text) {
  const auto raw = std::as_bytes(std::span(text.data(), text.size()));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

/// The dict of a .npy header as NumPy writes it.
inline std::string npy_dict(std::string_view descr, std::string_view shape, bool fortran_order = false) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

/// A .npy file: magic, version, the length of the header, the header, and `data_bytes` bytes of data that count 0, 1, 2, ...
inline byte_vector npy_file(std::string_view header, std::size_t data_bytes, int major = 1) {
  byte_vector file;
  file.reserve(12 + header.size() + data_bytes);
  append(file, "\x93NUMPY");
  file.push_back(static_cast<std::byte>(major));
  file.push_back(std::byte{0});
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file.push_back(static_cast<std::byte>(header.size() >> 8 * i & 0xff));
  append(file, header);
  for (std::size_t i = 0; i < data_bytes; ++i) file.push_back(static_cast<std::byte>(i & 0xff));
  return file;
}

/// The header that brings the data to a multiple of 64 bytes, as the format recommends, plus `shift` bytes.
inline std::string npy_padded(std::string dict, int major = 1, std::size_t shift = 0) {
  const std::size_t before = major == 1 ? 10 : 12;
  while ((before + dict.size() + 1) % 64 != shift) dict += ' ';
  return dict + '\n';
}

/// A folder for one test's files.
class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "onefold-tool-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder: " + pattern);
    path_ = pattern;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

  /// Writes a file and returns its path.
  [[nodiscard]] std::string write(std::string_view name, std::span<const std::byte> bytes) const {
    std::ofstream out(file(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + file(name));
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

/// What `call` throws, or "no error".
template <class Error, class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace onefold::tool::test
