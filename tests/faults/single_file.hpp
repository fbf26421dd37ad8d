#pragma once
/// @file single_file.hpp  Calls of the runtime made of host memory by one thread at a time: calls with host arrays on several devices have a thread for each.

#include <mutex>
#include <utility>

#include "../../backends/cuda/runtime.hpp"

namespace onefold_test {

/// Puts itself in front of what stands in the runtime's place, until that goes. Made last.
class single_file {
  using table = onefold::cuda_backend::runtime;

 public:
  single_file() : base_(onefold::cuda_backend::calls()) {
    active = this;
    wrap<&table::get_device_count, &table::get_context, &table::set_context, &table::retain_primary_context,
         &table::context_of_stream, &table::context_of_memory, &table::allocation_of, &table::exchange_capture_mode,
         &table::get_attribute, &table::get_properties, &table::get_driver_version, &table::get_last_error, &table::pool_create,
         &table::pool_trim, &table::can_access_peer, &table::pool_share, &table::malloc_from_pool_async, &table::malloc,
         &table::free, &table::malloc_async, &table::free_async, &table::host_alloc, &table::free_host,
         &table::host_get_device_pointer, &table::memcpy_async, &table::memset_async, &table::stream_create,
         &table::stream_synchronize, &table::stream_wait_event, &table::stream_get_id, &table::stream_is_capturing,
         &table::stream_get_graph, &table::user_object_create, &table::user_object_release, &table::graph_take_user_object,
         &table::event_create, &table::event_record, &table::event_query, &table::event_destroy, &table::pointer_get_attributes,
         &table::launch_kernel, &table::get_function, &table::launch_function, &table::max_active_blocks,
         &table::func_get_attributes, &table::func_set_attribute, &table::has_arrived, &table::have_ended>();
  }
  ~single_file() { active = nullptr; }
  single_file(const single_file&) = delete;
  single_file& operator=(const single_file&) = delete;

 private:
  template <auto Member>
  struct locked;
  template <class R, class... A, R (*table::*Member)(A...)>
  struct locked<Member> {
    static R call(A... arguments) {
      const std::lock_guard alone(active->one_);
      return (active->base_.*Member)(arguments...);
    }
  };
  template <auto... Members>
  void wrap() {
    static_assert(sizeof(table) == sizeof...(Members) * sizeof(void (*)()), "a new call of the runtime is to be named here");
    auto& calls = onefold::cuda_backend::calls();
    ((calls.*Members = &locked<Members>::call), ...);
  }

  static inline single_file* active = nullptr;
  table base_;
  std::mutex one_;
};

}  // namespace onefold_test
