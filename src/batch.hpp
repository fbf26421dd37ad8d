#pragma once
/// @file batch.hpp  Nodes of trees, and elements beside them, from the memory of a GPU: put on its stream together, and waited for once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <onefold/onefold.h>

#include "../backends/backend.hpp"

namespace onefold::detail {

/// Runs requests on one GPU as a batch: launches together those that go together, and waits for the results that are waited for. At least one.
void run_together(const onefold_request* requests, std::size_t count, const onefold_options* how);

/// Elements that the host is to have.
struct copied_elements {
  void* to;
  const void* from;
  std::size_t bytes;
};

/// The accumulators of the maximal complete subtrees over an array, which begins with a tile and ends with one. `all` is the request for the array, whose
/// outputs are not used; that of node k goes to `states` + k * `stride`, or all to nowhere where that is null.
struct nodes_of_array {
  onefold_request all;
  std::uint64_t first_tile;  ///< its number in the tree
  std::uint64_t tile;        ///< elements of one
  std::uint64_t behind;      ///< elements of the same memory behind the array
  std::byte* states;
  std::size_t stride;
  bool is_reported;  ///< the options' report is for the highest of them

  [[nodiscard]] std::size_t count() const;
};

/// What is read of one GPU's memory: nodes, at least one, all with one executor of that GPU, and elements. An image of it has all that side by side.
struct gpu_reading {
  std::vector<nodes_of_array> nodes;
  std::vector<copied_elements> copies;

  [[nodiscard]] std::size_t node_count() const;
  [[nodiscard]] std::size_t image_bytes() const;
};

/// Puts on the stream what makes the image, at `image` or, where that is null, at the batch's data(). Throws onefold::error.
std::unique_ptr<batch_in_progress> put_on_stream(const gpu_reading& what, const onefold_options& how, void* image = nullptr);

/// The same of several images, all with one executor, in one launch where they go together. At least one, each at a place of the caller's.
struct placed_image {
  gpu_reading what;
  void* image;
};
void put_on_stream(std::span<const placed_image> images, const onefold_options& how);

/// Stores what an image has.
void store(const gpu_reading& what, const void* image);

}  // namespace onefold::detail
