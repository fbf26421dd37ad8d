#pragma once
/// @file batch.hpp  Nodes of trees, and elements beside them, from the memory of a GPU: put on its stream together, and waited for once.

#include <cstddef>
#include <memory>
#include <vector>

#include <onefold/onefold.h>

#include "../backends/backend.hpp"

namespace onefold::detail {

/// Elements that the host is to have.
struct copied_elements {
  void* to;
  const void* from;
  std::size_t bytes;
};

/// What is read of one GPU's memory. The accumulators of the trees of requests, at least one, all with one executor of that GPU, go to their
/// `tree_value`, and to nowhere where that is null; their outputs are not used. An image of it has all that side by side.
struct gpu_reading {
  std::vector<onefold_request> requests;
  std::vector<copied_elements> copies;
  std::size_t reported = 0;  ///< the request that the options' report is for

  [[nodiscard]] std::size_t image_bytes() const;
};

/// Puts on the stream what makes the image, at `image` or, where that is null, at the batch's data(). Throws onefold::error.
std::unique_ptr<batch_in_progress> put_on_stream(const gpu_reading& what, const onefold_options& how, void* image = nullptr);

/// Stores what an image has.
void store(const gpu_reading& what, const void* image);

}  // namespace onefold::detail
