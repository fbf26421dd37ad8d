#pragma once
/// @file workspace.hpp  Working memory of the caller's own.

#include <memory>

#include <onefold/catalogue.hpp>
#include <onefold/options.hpp>

#include "../backend.hpp"
#include "stream_memory.hpp"

namespace onefold::cuda_backend {

/// What stands behind a workspace on a GPU.
struct device_workspace final : onefold::detail::workspace_state {
  device_workspace(int device, void* memory, std::size_t size);
  ~device_workspace() override;

  int device;
  void* memory;
  bool is_recorded = false;             ///< a graph may launch calls that use it
  std::unique_ptr<stream_memory> work;  ///< its stream changes from call to call; only slots and host_result of its memory are used
};

/// Throws misaligned_pointer, host_pointer, wrong_device and unsupported for `memory` that will not do, if it is not null.
std::unique_ptr<onefold::detail::workspace_state> make_workspace(const executor& where, void* memory, std::size_t bytes);

/// The one that the options name, or null. Throws invalid_argument and wrong_device for one that was made for somewhere else, and unsupported
/// where the variant takes none.
device_workspace* workspace_of(const options& how, const variant_info& variant, bool is_taken, int device);

}  // namespace onefold::cuda_backend
