#pragma once
/// @file batch.hpp  Several calls on one executor: those that one kernel serves in one launch, and all of them waited for together.

#include <memory>

#include "../backend.hpp"

namespace onefold::cuda_backend {

/// A batch, as the calls that are its parts see it.
class batch_of_calls : public onefold::detail::batch_in_progress {
 public:
  /// Where the device is to send a result of `bytes` bytes in words, instead of storing it at `output`, so that the host need not ask the driver whether it
  /// is there: words of mapped host memory, as call::host_words. Null where the batch does not wait for that result.
  virtual unsigned long long* words_for(void* output, std::size_t bytes) = 0;
  [[nodiscard]] virtual unsigned call_number() const noexcept = 0;
};

/// Results that are waited for lie in pinned memory that is kept with the executor's stream. Batches on several devices may be under way in one
/// thread: the device of one is current until it has been launched.
std::unique_ptr<onefold::detail::batch_in_progress> begin_batch(const executor& where, const options& how, std::size_t bytes);

}  // namespace onefold::cuda_backend
