#include "place.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "data.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "cuda.hpp"
#endif

namespace onefold_test {

namespace {

constexpr std::size_t alignment = 256;
constexpr std::byte untouched{0xa5};

std::byte* host_memory(std::size_t bytes) {
  void* pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (pointer == nullptr) throw std::runtime_error("the test could not allocate " + std::to_string(bytes) + " bytes");
  return static_cast<std::byte*>(pointer);
}

}  // namespace

#ifdef ONEFOLD_HAVE_CUDA

namespace {

std::byte* allocate(memory kind, std::size_t bytes) {
  void* pointer = nullptr;
  switch (kind) {
    case memory::host:
      return host_memory(bytes);
    case memory::device:
      expect_success(cudaMalloc(&pointer, bytes), "cudaMalloc");
      break;
    case memory::pinned:
      expect_success(cudaMallocHost(&pointer, bytes), "cudaMallocHost");
      break;
    case memory::managed:
      expect_success(cudaMallocManaged(&pointer, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
      break;
  }
  return static_cast<std::byte*>(pointer);
}

}  // namespace

block::~block() {
  switch (kind_) {
    case memory::host:
      std::free(address_);
      return;
    case memory::pinned:
      cudaFreeHost(address_);
      return;
    default:
      cudaFree(address_);
  }
}

void block::write(std::size_t offset, const void* from, std::size_t bytes) {
  if (kind_ == memory::host) {
    std::memcpy(address_ + offset, from, bytes);
    return;
  }
  copy_to_device(address_ + offset, from, bytes);
}

void block::read(std::size_t offset, void* to, std::size_t bytes) const {
  if (kind_ == memory::host)
    std::memcpy(to, address_ + offset, bytes);
  else
    expect_success(cudaMemcpy(to, address_ + offset, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

#else

namespace {
std::byte* allocate(memory kind, std::size_t bytes) {
  if (kind != memory::host) throw std::runtime_error("a build without CUDA has host memory only");
  return host_memory(bytes);
}
}  // namespace

block::~block() { std::free(address_); }
void block::write(std::size_t offset, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(address_ + offset, from, bytes);  // of nothing there may be no address
}
void block::read(std::size_t offset, void* to, std::size_t bytes) const { std::memcpy(to, address_ + offset, bytes); }

#endif

block::block(memory kind, std::size_t bytes) : kind_(kind), bytes_(bytes), address_(allocate(kind, bytes)) {}

guarded_input::guarded_input(memory kind, const elements& payload, const scalar& poison)
    : payload_(payload),
      image_(payload.type(), payload.size() + 2 * zone),
      poison_(poison),
      memory_(kind, image_.bytes()),
      last_(payload.size()) {
  cover(0, zone, true);
  cover(zone, zone + payload_.size(), false);
  cover(zone + payload_.size(), image_.size(), true);
  store(0, image_.size());
}

void guarded_input::store(std::size_t first, std::size_t count) {
  if (count == 0) return;  // an image of no elements has no address
  const std::size_t size = onefold::size_of(payload_.type());
  memory_.write(first * size, static_cast<const std::byte*>(image_.data()) + first * size, count * size);
}

// Image elements [first, last) become poison or payload again; memory follows by store().
void guarded_input::cover(std::size_t first, std::size_t last, bool poisoned) {
  if (first == last) return;  // a payload of no elements has no address
  const std::size_t size = onefold::size_of(payload_.type());
  if (poisoned) {  // once, and then copies of what there is
    image_.put(first, poison_);
    auto* const at = static_cast<std::byte*>(image_.data()) + first * size;
    for (std::size_t done = 1, all = last - first; done < all; done *= 2)
      std::memcpy(at + done * size, at, std::min(done, all - done) * size);
    return;
  }
  std::memcpy(static_cast<std::byte*>(image_.data()) + first * size,
              static_cast<const std::byte*>(payload_.data()) + (first - zone) * size, (last - first) * size);
}

const void* guarded_input::window(std::size_t first, std::size_t count) {
  const std::size_t begin = zone, end = zone + payload_.size();
  // One side of a window: image elements [from, from + zone), as far as they are payload at all.
  const auto side = [&](std::size_t from, bool poisoned) {
    const std::size_t left = from < begin ? begin : from;
    const std::size_t right = from + zone < end ? from + zone : end;
    if (left >= right) return;
    cover(left, right, poisoned);
    store(left, right - left);
  };
  const std::size_t last = first + count;
  if (first != first_)
    side(first_, false);  // before it: image elements [first_, first_ + zone) are zone elements earlier in payload
  if (last != last_) side(zone + last_, false);
  if (first != first_) side(first, true);
  side(zone + last, true);
  first_ = first;
  last_ = last;
  return memory_.address() + (zone + first) * onefold::size_of(payload_.type());
}

void guarded_input::put(std::size_t i, const scalar& value) {
  payload_.put(i, value);
  const bool behind_a_red_zone = (i < first_ && i + zone >= first_) || (i >= last_ && i < last_ + zone);
  if (behind_a_red_zone) return;  // shows when the window moves
  image_.put(zone + i, value);
  store(zone + i, 1);
}

bool guarded_input::unchanged() const {
  if (memory_.kind() == memory::host) return std::memcmp(memory_.address(), image_.data(), image_.bytes()) == 0;
  elements now(image_.type(), image_.size());
  memory_.read(0, now.data(), now.bytes());
  return std::memcmp(now.data(), image_.data(), now.bytes()) == 0;
}

guarded_output::guarded_output(memory kind, element_type type, std::size_t bytes)
    : type_(type), bytes_(bytes), memory_(kind, 2 * margin + (bytes + 7) / 8 * 8) {
  const std::vector<std::byte> pattern(memory_.bytes(), untouched);
  memory_.write(0, pattern.data(), pattern.size());
}

scalar guarded_output::value() const {
  scalar result{type_, 0};
  memory_.read(margin, &result.bits, onefold::size_of(type_));
  return result;
}

std::vector<std::byte> guarded_output::bytes() const {
  std::vector<std::byte> written(bytes_);
  memory_.read(margin, written.data(), written.size());
  return written;
}

bool guarded_output::surroundings_unchanged() const {
  std::vector<std::byte> now(memory_.bytes());
  memory_.read(0, now.data(), now.size());
  for (std::size_t i = 0; i < now.size(); ++i)
    if ((i < margin || i >= margin + bytes_) && now[i] != untouched) return false;
  return true;
}

}  // namespace onefold_test
