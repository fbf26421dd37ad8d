/// @file workspace_test.cpp  The memory that onefold takes for itself: what is in it at first must not matter, and nothing is
/// written behind its end. The runtime seam is where the tests get at it.

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>

#include "../../backends/cuda/runtime.hpp"
#include "../support/cuda.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

namespace cuda_backend = onefold::cuda_backend;

constexpr std::size_t zone = 512;  // bytes behind every allocation
constexpr unsigned char zone_byte = 0xa5;

// Device memory as onefold gets it here: filled with something, and longer than it knows.
class filled_allocations {
 public:
  enum class filling { ones, random };

  explicit filled_allocations(filling with) {
    with_ = with;
    cuda_backend::calls().malloc = allocate;
    cuda_backend::calls().malloc_async = [](void** pointer, std::size_t bytes, cudaStream_t) { return allocate(pointer, bytes); };
    cuda_backend::calls().malloc_from_pool_async = [](void** pointer, std::size_t bytes, cudaMemPool_t, cudaStream_t) {
      return allocate(pointer, bytes);
    };
    cuda_backend::calls().free = release;
    cuda_backend::calls().free_async = [](void* pointer, cudaStream_t stream) {
      if (const auto status = cudaStreamSynchronize(stream); status != cudaSuccess) return status;
      return release(pointer);
    };
  }
  ~filled_allocations() {
    const auto& real = cuda_backend::real_runtime();
    cuda_backend::calls().malloc = real.malloc;
    cuda_backend::calls().malloc_async = real.malloc_async;
    cuda_backend::calls().malloc_from_pool_async = real.malloc_from_pool_async;
    cuda_backend::calls().free_async = real.free_async;
    // free stays: onefold keeps what it got here for later calls, and its zones are looked at whenever it goes.
  }

  /// Whether every zone is whole, of what has been freed and of what is still there.
  static bool zones_are_whole() {
    const std::lock_guard lock(lock_);
    for (const auto& [pointer, bytes] : live_) damaged_ = damaged_ || !is_whole(pointer, bytes);
    return !damaged_;
  }
  static std::size_t allocations() {
    const std::lock_guard lock(lock_);
    return made_;
  }

 private:
  static cudaError_t allocate(void** pointer, std::size_t bytes) {
    if (const auto status = cudaMalloc(pointer, bytes + zone); status != cudaSuccess) return status;
    std::vector<std::uint64_t> content(bytes / 8 + 1, ~std::uint64_t{0});
    const std::lock_guard lock(lock_);
    random_numbers random(++made_);
    if (with_ == filling::random)
      for (auto& word : content) word = random();
    live_[*pointer] = bytes;
    if (const auto status = cudaMemcpy(*pointer, content.data(), bytes, cudaMemcpyHostToDevice); status != cudaSuccess)
      return status;
    if (const auto status = cudaMemset(static_cast<std::byte*>(*pointer) + bytes, zone_byte, zone); status != cudaSuccess)
      return status;
    return cudaDeviceSynchronize();
  }
  static cudaError_t release(void* pointer) {
    {
      const std::lock_guard lock(lock_);
      if (const auto known = live_.find(pointer); known != live_.end()) {
        cudaDeviceSynchronize();
        damaged_ = damaged_ || !is_whole(pointer, known->second);
        live_.erase(known);
      }
    }
    return cudaFree(pointer);
  }
  static bool is_whole(void* pointer, std::size_t bytes) {
    unsigned char now[zone];
    expect_success(cudaMemcpy(now, static_cast<std::byte*>(pointer) + bytes, zone, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return std::ranges::all_of(now, [](unsigned char byte) { return byte == zone_byte; });
  }

  static inline std::mutex lock_;
  static inline std::map<void*, std::size_t> live_;
  static inline std::size_t made_ = 0;
  static inline bool damaged_ = false;
  static inline filling with_ = filling::ones;
};

class each_workspace : public pairing_test {};

TEST_P(each_workspace, may_hold_anything_at_first_and_is_not_overrun) {
  for (const auto& [type, op] : {std::pair(element_type::f32, operation::sum), std::pair(element_type::u64, operation::max)}) {
    if (!variant().supports(type, op)) continue;
    for (const auto with : {filled_allocations::filling::ones, filled_allocations::filling::random}) {
      for (const auto how : finishes_of(variant())) {
        onefold::release_memory(where());  // else a new stream takes over what an older one has left
        const filled_allocations seam(with);
        const stream fresh;
        const std::size_t before = filled_allocations::allocations();
        trial asked = one(type, op, how);
        asked.where = onefold::cuda(where().device(), fresh.get());
        // Growing, and multiples of what a block takes: an exact fit leaves no room for an error.
        for (const std::uint64_t wanted : {1, 1024, 8192, 8193, 65'536, 65'537, 400'000}) {
          const std::uint64_t count = std::min<std::uint64_t>(wanted, most_elements(variant(), op, how, 0));
          guarded_input input(memory::device, exact_data(type, op, count, current_seed()), op);
          ASSERT_TRUE(answers(asked, input.all(), count, expected_exactly(op, input.payload())));
          ASSERT_TRUE(filled_allocations::zones_are_whole()) << "wrote behind its workspace, count " << count;
        }
        EXPECT_GT(filled_allocations::allocations(), before) << "the seam was not used: this test proved nothing";
        fresh.synchronize();
        onefold::release_memory(where());  // while whoever allocated it is there to free it
        ASSERT_TRUE(filled_allocations::zones_are_whole()) << "wrote behind its workspace";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_workspace, testing::ValuesIn(pairings([](const pairing& one) { return on_cuda(*one.on); })),
                         param_name);

}  // namespace
}  // namespace onefold_test
