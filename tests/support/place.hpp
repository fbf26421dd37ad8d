#pragma once
/// @file place.hpp  Memory that an executor can use, with red zones: a stray read changes the answer, a stray write is seen.

#include <cstddef>
#include <vector>

#include <onefold/executor.hpp>

#include "data.hpp"
#include "element.hpp"

namespace onefold_test {

enum class memory { host, device, pinned, managed };

/// Where inputs of this executor lie.
[[nodiscard]] constexpr memory memory_for(const onefold::executor& where) {
  return where.backend() == onefold::backend::cuda ? memory::device : memory::host;
}

/// A piece of memory of some kind, reached from the host by copies that wait. 256-byte aligned. Throws std::runtime_error.
class block {
 public:
  block(memory kind, std::size_t bytes);
  ~block();
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  [[nodiscard]] std::byte* address() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] memory kind() const { return kind_; }
  void write(std::size_t offset, const void* from, std::size_t bytes);
  void read(std::size_t offset, void* to, std::size_t bytes) const;

 private:
  memory kind_;
  std::size_t bytes_;
  std::byte* address_;
};

/// An input between red zones of values that would change the answer. The zones lie close around any window of the payload: what
/// of the payload is outside is not there for the reduction to read.
class guarded_input {
 public:
  guarded_input(memory kind, const elements& payload, operation op)
      : guarded_input(kind, payload, onefold_test::poison(payload.type(), op)) {}
  guarded_input(memory kind, const elements& payload, const scalar& poison);

  /// The first of `count` elements of the payload, from `first` on, with red zones before and behind. Forgets the window before.
  const void* window(std::size_t first, std::size_t count);
  /// The whole payload.
  const void* all() { return window(0, payload_.size()); }

  /// Changes one element of the payload until restored by another put().
  void put(std::size_t i, const scalar& value);
  [[nodiscard]] const elements& payload() const { return payload_; }

  /// Whether memory, red zones and all, still holds what was put there.
  [[nodiscard]] bool unchanged() const;

 private:
  static constexpr std::size_t zone = 64;  // elements: a warp of 16-byte loads past the end lands in it for the most part
  void store(std::size_t first, std::size_t count);
  void cover(std::size_t first, std::size_t last, bool poisoned);

  elements payload_;
  elements image_;  // what memory holds: zone, payload, zone
  scalar poison_;
  block memory_;
  std::size_t first_ = 0, last_ = 0;  // the window
};

/// Memory to write one result to, or several side by side, with untouched bytes around it.
class guarded_output {
 public:
  guarded_output(memory kind, element_type type) : guarded_output(kind, type, onefold::size_of(type)) {}
  guarded_output(memory kind, element_type type, std::size_t bytes);
  [[nodiscard]] void* address() const { return memory_.address() + margin; }
  /// The first element.
  [[nodiscard]] scalar value() const;
  /// All that results can have been written to.
  [[nodiscard]] std::vector<std::byte> bytes() const;
  [[nodiscard]] bool surroundings_unchanged() const;

 private:
  static constexpr std::size_t margin = 64;
  element_type type_;
  std::size_t bytes_;
  block memory_;
};

}  // namespace onefold_test
