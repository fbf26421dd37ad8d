#pragma once
/// @file peers.hpp  What a user would pick instead of onefold, on the CPU and on the GPU: each optional, and named where it is missing.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "gpu.hpp"
#include "samples.hpp"

namespace onefold::perf {

/// A peer that cannot be measured, and the reason as the end of a sentence.
struct missing_peer {
  std::string name;
  std::string why;
};

inline constexpr const char* bare_read_name = "read";
inline constexpr const char* onefold_name = "onefold";

/// Which numbers of threads Kokkos can be asked for: those of its pool, and fewer where its version has instances with fewer. Starts
/// it. The reason is why there are none.
struct kokkos_threads_answer {
  int most = 0;
  bool fewer = false;
  std::string why_not = {};
};
kokkos_threads_answer kokkos_threads();

/// A peer that reduces the array at `input` (and its partner): with `to_host` it waits and returns the value, with the other it
/// enqueues.
struct gpu_peer {
  std::string name;
  std::function<void(const void* input)> enqueue;  ///< into bench.output(); empty where the peer waits for the host
  std::function<double(const void* input)> to_host;
};

/// The peers of one form on one bench, with the working memory that they ask for beforehand. Throws std::runtime_error where CUDA or a
/// peer fails.
class gpu_peers {
 public:
  gpu_peers(const gpu_bench& bench, form what, element_type type, std::uint64_t l2_bytes);
  ~gpu_peers();
  gpu_peers(const gpu_peers&) = delete;
  gpu_peers& operator=(const gpu_peers&) = delete;

  [[nodiscard]] const std::vector<gpu_peer>& all() const;
  /// Enqueues what leaves nothing of the arrays in the cache: small ones are fewer bytes than it holds, all of them together.
  void empty_cache() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

std::vector<missing_peer> missing_on_gpu();
std::vector<std::pair<std::string, std::string>> gpu_peer_versions();

}  // namespace onefold::perf
