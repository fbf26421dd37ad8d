#pragma once
/// @file hdf5_child.hpp  The HDF5 library at arm's length: it runs in a child process with limits, because files made to hurt make it
/// read where it must not, loop, or take all memory. What the child says is checked here as if it came from the file.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <onefold/types.hpp>

#include "piece_source.hpp"

namespace onefold::tool {

/// What the child may use, beside the memory that the elements go to.
struct hdf5_limits {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< address space beyond what the tool has when the child starts
  unsigned open_cpu_seconds = 30;                       ///< processor time to open the dataset
  unsigned read_cpu_seconds = 600;                      ///< processor time for each piece
  /// Wall time for each step, where other files are opened: one of those may be a pipe, which waits for ever.
  unsigned follow_wall_seconds = 600;
};

/// What there is to know of a dataset.
struct hdf5_facts {
  element_type type;
  std::vector<std::uint64_t> shape;
  std::uint64_t count;
  std::uint64_t stored_bytes;  ///< that its elements take in the file
  bool usable_in_place;        ///< contiguous, little-endian and in this file, from `offset` bytes on
  std::uint64_t offset;
};

/// A dataset, open in a child process. The child ends with the object, or with this process.
class hdf5_child final : public piece_source {
 public:
  /// Requires that `path` is a regular file.
  /// @param follow_external  whether the file may refer to others; even then those must be regular files
  /// Errors   input_error without the file's name: not HDF5, no such dataset, another element type, damaged data, an external
  ///          reference, a limit that is passed, a child that cannot be started.
  hdf5_child(const std::string& path, const std::string& dataset, bool follow_external, const hdf5_limits& limits);
  hdf5_child(const hdf5_child&) = delete;
  hdf5_child& operator=(const hdf5_child&) = delete;
  ~hdf5_child() override;

  [[nodiscard]] const hdf5_facts& facts() const noexcept { return facts_; }

  /// At most whole_bytes of elements.
  [[nodiscard]] const std::byte* read(std::uint64_t first, std::uint64_t count) override;

  /// Ends the child. What was read last stays.
  void end() noexcept;

 private:
  struct answer;
  void start(const std::string& path, const std::string& dataset, bool follow_external);
  void receive(answer& into, unsigned cpu_seconds);
  [[noreturn]] void report_death(unsigned cpu_seconds);
  void take_facts(const answer& from);

  hdf5_limits limits_;
  hdf5_facts facts_{};
  std::byte* shared_ = nullptr;  // whole_bytes that both processes see
  pid_t pid_ = -1;
  int channel_ = -1;
};

}  // namespace onefold::tool
