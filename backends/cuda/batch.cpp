#include "batch.hpp"

#include <mutex>

#include <onefold/error.hpp>

#include "captures.hpp"
#include "device.hpp"
#include "pointers.hpp"
#include "runtime.hpp"
#include "streams.hpp"

namespace onefold::cuda_backend {

namespace {

class results_of_stream final : public onefold::detail::batch_results {
 public:
  results_of_stream(const executor& where, std::size_t bytes) : device_(where.device()) {
    properties_of(device_);
    const device_scope current(device_);
    refuse_foreign_stream(where, current);
    if (where.has_stream() && is_capturing(where.stream()))
      throw error(errc::unsupported,
                  "the stream is being captured, and a batch that gives values to the host would have to wait for them: put "
                  "requests with ONEFOLD_INTO into it");
    memory_ = memory_of(device_, where.has_stream(), where.stream());
    stream_ = stream_of(device_, where.has_stream(), where.stream());
    taken_ = std::unique_lock(memory_->batch_in_use);
    data_ = memory_->batch_results.at_least(bytes, stream_);
  }
  ~results_of_stream() override {
    if (!waits_) return;
    // A call of the batch has failed, and its sentence is the one to be told; those before it may still write here.
    const device_scope current(device_);
    forget(calls().stream_synchronize(stream_));
  }

  [[nodiscard]] void* data() const noexcept override { return data_; }
  void wait() override {
    const device_scope current(device_);
    waits_ = false;
    check(calls().stream_synchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  int device_;
  std::shared_ptr<stream_memory> memory_;
  std::unique_lock<std::mutex> taken_;
  cudaStream_t stream_ = nullptr;
  void* data_ = nullptr;
  bool waits_ = true;
};

}  // namespace

std::unique_ptr<onefold::detail::batch_results> results_of_batch(const executor& where, std::size_t bytes) {
  return std::make_unique<results_of_stream>(where, bytes);
}

}  // namespace onefold::cuda_backend
