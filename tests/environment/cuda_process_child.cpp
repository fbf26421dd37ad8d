/// @file cuda_process_child.cpp  What cuda_process_test.cpp runs in processes of their own: one situation on a GPU each, named by the first
/// argument. Exit code 0: as it should be; 77: no GPU here; 78: the situation did not come about. Otherwise standard error says what was not.

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <onefold/onefold.hpp>

namespace {

using onefold::errc;

struct no_gpu {};
struct did_not_come_about {};

void require(bool holds, const std::string& sentence) {
  if (!holds) throw std::runtime_error(sentence);
}

void require_success(cudaError_t status, const char* call) {
  require(status == cudaSuccess, std::string(call) + " failed: " + cudaGetErrorString(status));
}
#define DO(call, ...) require_success(call(__VA_ARGS__), #call)

void require_refused(errc code, const std::function<void()>& call, const std::string& what) {
  try {
    call();
  } catch (const onefold::error& problem) {
    require(problem.code() == code, what + ": refused with " + std::string(onefold::name(problem.code())) + ": " + problem.what());
    return;
  }
  throw std::runtime_error(what + ": not refused");
}

// The driver, which the runtime works with. Nothing of it is linked.
struct driver {
  using context = void*;
  int (*init)(unsigned);
  int (*create)(context*, unsigned, int);
  int (*destroy)(context);
  int (*current)(context*);
  int (*set_current)(context);
  int (*allocate)(unsigned long long*, std::size_t);
  int (*make_stream)(cudaStream_t*, unsigned);

  driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw no_gpu();
    find(library, "cuInit", init);
    find(library, "cuCtxCreate_v2", create);
    find(library, "cuCtxDestroy_v2", destroy);
    find(library, "cuCtxGetCurrent", current);
    find(library, "cuCtxSetCurrent", set_current);
    find(library, "cuMemAlloc_v2", allocate);
    find(library, "cuStreamCreate", make_stream);
    if (init(0) != 0) throw no_gpu();
  }
  [[nodiscard]] context now() const {
    context found = nullptr;
    require(current(&found) == 0, "cuCtxGetCurrent failed");
    return found;
  }

 private:
  template <class Call>
  static void find(void* library, const char* name, Call& call) {
    call = reinterpret_cast<Call>(dlsym(library, name));
    require(call != nullptr, std::string("the driver has no ") + name);
  }
};

constexpr std::size_t count = 3'000'017;  // more than one cluster does without memory
constexpr float right_sum = 3'000'017.0f;

// Ones on the device, in its primary context.
float* device_ones() {
  float* data = nullptr;
  DO(cudaMalloc, reinterpret_cast<void**>(&data), count * sizeof(float));
  const std::vector<float> ones(count, 1.0f);
  DO(cudaMemcpy, data, ones.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  return data;
}

float* device_results(std::size_t how_many) {
  float* data = nullptr;
  DO(cudaMalloc, reinterpret_cast<void**>(&data), how_many * sizeof(float));
  DO(cudaMemset, data, 0, how_many * sizeof(float));
  DO(cudaDeviceSynchronize);
  return data;
}

void require_right(const float* results, std::size_t how_many, const std::string& what, float right = right_sum) {
  std::vector<float> now(how_many);
  DO(cudaMemcpy, now.data(), results, how_many * sizeof(float), cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < how_many; ++i)
    require(now[i] == right, what + ": result " + std::to_string(i) + " is " + std::to_string(now[i]));
}

cudaStream_t new_stream() {
  cudaStream_t made = nullptr;
  DO(cudaStreamCreateWithFlags, &made, cudaStreamNonBlocking);
  return made;
}

void on_another_thread(const std::function<void()>& work) {
  std::string wrong;
  std::thread([&] {
    try {
      work();
    } catch (const std::exception& problem) {
      wrong = problem.what();
    }
  }).join();
  require(wrong.empty(), wrong);
}

// --- the caller's context ---------------------------------------------------------------------------------------------------------------

void use_everything(const float* data, float* result, const std::function<void(const std::string&)>& expect_back) {
  const auto where = onefold::cuda();
  require(onefold::sum(where, data, count) == right_sum, "the sum is wrong");
  expect_back("sum");
  onefold::sum_into(where, data, count, result);
  expect_back("sum_into");
  onefold::synchronize(where);
  expect_back("synchronize");
  require(onefold::sum(where, data, count, {.variant = "vector_load"}) == right_sum, "the sum of vector_load is wrong");
  expect_back("a lecture's kernel");
  static_cast<void>(onefold::sum(where, data, 0));
  expect_back("no elements");
  {
    onefold::workspace own(where, count);
    expect_back("a workspace");
    require(onefold::sum(where, data, count, {.workspace = &own}) == right_sum, "the sum with a workspace is wrong");
  }
  expect_back("a workspace's end");
  onefold::release_memory(where);
  static_cast<void>(onefold::memory_in_use(where));
  expect_back("release_memory");
  static_cast<void>(onefold::backends());
  expect_back("backends");
  const std::vector<float> host(100);
  require_refused(
      errc::host_pointer, [&] { static_cast<void>(onefold::sum(where, host, {.variant = "vector_load"})); }, "host memory");
  expect_back("a refusal");
}

void a_context_of_the_callers_is_put_back() {
  const driver cuda;
  float* const data = device_ones();
  float* const result = device_results(1);
  driver::context own = nullptr;
  require(cuda.create(&own, 0, 0) == 0, "cuCtxCreate failed");
  require(cuda.now() == own, "cuCtxCreate does not make its context current");
  use_everything(data, result, [&](const std::string& after) { require(cuda.now() == own, "the context is lost after " + after); });
  // What belongs to that context cannot be used in another.
  unsigned long long theirs = 0;
  require(cuda.allocate(&theirs, count * sizeof(float)) == 0, "cuMemAlloc failed");
  require_refused(
      errc::unsupported, [&] { static_cast<void>(onefold::sum(onefold::cuda(), reinterpret_cast<const float*>(theirs), count)); },
      "memory of the caller's context");
  cudaStream_t stream = nullptr;
  require(cuda.make_stream(&stream, 1) == 0, "cuStreamCreate failed");
  require_refused(
      errc::unsupported, [&] { onefold::sum_into(onefold::cuda(0, stream), data, count, result); },
      "a stream of the caller's context");
  require(cuda.now() == own, "the context is lost after refusals");
  require(onefold::sum(onefold::cuda(), data, count) == right_sum, "the next call does not work");
  // And the primary one again.
  require(cuda.destroy(own) == 0, "cuCtxDestroy failed");
  require(cudaSetDevice(0) == cudaSuccess, "cudaSetDevice failed");
  const auto primary = cuda.now();
  use_everything(data, result,
                 [&](const std::string& after) { require(cuda.now() == primary, "not the primary one after " + after); });
}

void a_thread_without_a_context_has_none_afterwards() {
  const driver cuda;
  float* data = nullptr;
  float* result = nullptr;
  on_another_thread([&] {
    data = device_ones();
    result = device_results(1);
  });
  require(cuda.now() == nullptr, "this thread has a context before its first call");
  use_everything(data, result,
                 [&](const std::string& after) { require(cuda.now() == nullptr, "a context is left after " + after); });
  // The runtime still finds its device by itself.
  require_right(result, 1, "the result that was left on the device");
}

// --- graphs -----------------------------------------------------------------------------------------------------------------------------

cudaGraphExec_t captured_sum(cudaStream_t on, const float* data, float* result, std::size_t n = count) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  DO(cudaStreamBeginCapture, on, cudaStreamCaptureModeGlobal);
  onefold::sum_into(onefold::cuda(0, on), data, n, result);
  DO(cudaStreamEndCapture, on, &graph);
  DO(cudaGraphInstantiate, &executable, graph, 0);
  DO(cudaGraphDestroy, graph);
  return executable;
}

// Few enough for two kernels to be on the GPU at once: with `count` elements one fills it, and the replays follow each other.
constexpr std::size_t few = 600'011;

void require_replays_side_by_side(cudaGraphExec_t first, cudaGraphExec_t second, const float* results) {
  const cudaStream_t one = new_stream(), other = new_stream();
  for (int round = 0; round < 2'000; ++round) {
    DO(cudaGraphLaunch, first, one);
    DO(cudaGraphLaunch, second, other);
  }
  DO(cudaStreamSynchronize, one);
  DO(cudaStreamSynchronize, other);
  require_right(results, 2, "replays side by side", few);
}

void graphs_of_two_streams_with_one_handle_run_side_by_side() {
  const float* const data = device_ones();
  float* const results = device_results(2);
  const cudaStream_t first = new_stream();
  onefold::sum_into(onefold::cuda(0, first), data, few, results);
  DO(cudaStreamSynchronize, first);
  const cudaGraphExec_t g1 = captured_sum(first, data, results, few);
  DO(cudaStreamDestroy, first);
  std::vector<cudaStream_t> others;
  for (int i = 0; i < 1'000 && (others.empty() || others.back() != first); ++i) others.push_back(new_stream());
  if (others.back() != first) throw did_not_come_about();
  const cudaGraphExec_t g2 = captured_sum(first, data, results + 1, few);
  require_replays_side_by_side(g1, g2, results);
}

void graphs_of_one_stream_run_side_by_side() {
  const float* const data = device_ones();
  float* const results = device_results(2);
  const cudaStream_t on = new_stream();
  const cudaGraphExec_t g1 = captured_sum(on, data, results, few);
  const cudaGraphExec_t g2 = captured_sum(on, data, results + 1, few);
  require_replays_side_by_side(g1, g2, results);
}

void what_a_graph_has_recorded_is_taken_again_when_it_is_gone() {
  const float* const data = device_ones();
  float* const result = device_results(1);
  const cudaStream_t on = new_stream();
  const auto held = [] { return onefold::memory_in_use(onefold::cuda()).device_bytes; };
  std::size_t of_one = 0;
  for (int round = 0; round < 200; ++round) {
    const cudaGraphExec_t graph = captured_sum(on, data, result);
    if (round == 0) of_one = held();
    DO(cudaMemsetAsync, result, 0, sizeof(float), on);
    DO(cudaGraphLaunch, graph, on);
    DO(cudaGraphExecDestroy, graph);  // under way
    DO(cudaStreamSynchronize, on);
    require_right(result, 1, "round " + std::to_string(round));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the runtime tells us in its own time
  }
  require(of_one > 0, "a captured call has no memory");
  require(held() <= 50 * of_one, "200 graphs, one after the other, have left " + std::to_string(held()) + " bytes behind");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  onefold::release_memory(onefold::cuda());
  require(held() == 0, "release_memory leaves " + std::to_string(held()) + " bytes of graphs that are gone");
}

// --- captures of others -----------------------------------------------------------------------------------------------------------------

void leaves_captures_alone(cudaStreamCaptureMode mode, bool from_another_thread) {
  const float* const data = device_ones();
  constexpr std::size_t many = 80;
  float* const results = device_results(many + 2);
  std::vector<cudaStream_t> streams;
  for (std::size_t i = 0; i < many; ++i) streams.push_back(new_stream());
  const cudaStream_t foreign = new_stream();
  DO(cudaStreamBeginCapture, foreign, mode);
  DO(cudaMemsetAsync, results + many + 1, 0, sizeof(float), foreign);
  const auto require_whole = [&](const std::string& after) {
    cudaStreamCaptureStatus status{};
    DO(cudaStreamIsCapturing, foreign, &status);
    require(status == cudaStreamCaptureStatusActive, "the capture is spoilt after " + after);
  };
  const auto work = [&] {
    for (std::size_t i = 0; i < many; ++i) {
      onefold::sum_into(onefold::cuda(0, streams[i]), data, count, results + i);
      require_whole("the call on stream " + std::to_string(i + 1));
    }
    require(onefold::sum(onefold::cuda(0, streams[0]), data, count) == right_sum, "the sum is wrong");
    require_whole("a call that waits");
    require(onefold::sum(onefold::cuda(0, streams[1]), data, count, {.variant = "vector_load"}) == right_sum, "the sum is wrong");
    require_whole("a lecture's kernel");
    static_cast<void>(onefold::memory_in_use(onefold::cuda()));
    onefold::release_memory(onefold::cuda());
    require_whole("release_memory");
    onefold::errc refusal{};
    try {
      onefold::synchronize(onefold::cuda(0, foreign));
    } catch (const onefold::error& problem) {
      refusal = problem.code();
    }
    require(refusal == onefold::errc::unsupported, "synchronize() takes a stream that is being captured");
    require_whole("synchronize() of its own stream");
    try {  // on CUDA's legacy stream, which blocking streams wait for
      const float value = 3;
      onefold::detail::check_status(
          onefold_store(onefold::detail::c_executor(onefold::cuda(0, nullptr)), results + many, &value, sizeof(value)));
    } catch (const onefold::error&) {  // where that must not be used now
    }
    require_whole("a value for the legacy stream");
    {
      onefold::workspace own(onefold::cuda(), count);
      require_whole("a workspace");
      onefold::sum_into(onefold::cuda(0, streams[2]), data, count, results + many, {.workspace = &own});
    }
    require_whole("a workspace's end");
  };
  if (from_another_thread)
    on_another_thread(work);
  else
    work();
  onefold::sum_into(onefold::cuda(0, foreign), data, count, results + many + 1);
  cudaGraph_t graph = nullptr;
  DO(cudaStreamEndCapture, foreign, &graph);
  cudaGraphExec_t executable = nullptr;
  DO(cudaGraphInstantiate, &executable, graph, 0);
  DO(cudaGraphLaunch, executable, foreign);
  DO(cudaDeviceSynchronize);
  require_right(results, many + 2, "beside a capture");
}

// --- what is kept -----------------------------------------------------------------------------------------------------------------------

std::atomic<bool> may_go_on{false};

// The stream waits for may_go_on.
void block(cudaStream_t stream) {
  may_go_on = false;
  DO(
      cudaLaunchHostFunc, stream,
      [](void*) {
        while (!may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      nullptr);
}

void memory_in_use_does_not_wait_for_calls_that_wait() {
  const float* const data = device_ones();
  const cudaStream_t on = new_stream();
  require(onefold::sum(onefold::cuda(0, on), data, count) == right_sum, "the sum is wrong");
  block(on);
  std::atomic<bool> begun{false};
  std::thread waiting([&] {
    begun = true;
    if (onefold::sum(onefold::cuda(0, on), data, count) != right_sum) std::fprintf(stderr, "the sum is wrong\n");
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto held = onefold::memory_in_use(onefold::cuda());
  const cudaStream_t another = new_stream();
  require(onefold::sum(onefold::cuda(0, another), data, count) == right_sum, "the sum on another stream is wrong");
  may_go_on = true;  // what the waiting call waits for comes after we have been told
  waiting.join();
  require(held.device_bytes > 0, "nothing is held");
}

void release_memory_waits_for_the_work_that_uses_it() {
  const float* const data = device_ones();
  float* const result = device_results(2);
  for (const char* const variant : {"fixed_order", "vector_load"}) {
    const cudaStream_t on = new_stream();
    onefold::sum_into(onefold::cuda(0, on), data, count, result, {.variant = variant});
    DO(cudaStreamSynchronize, on);
    block(on);
    onefold::sum_into(onefold::cuda(0, on), data, count, result + 1, {.variant = variant});
    std::atomic<bool> released{false};
    std::thread releasing([&] {
      onefold::release_memory(onefold::cuda());
      released = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const bool too_early = released;
    may_go_on = true;
    releasing.join();
    require(!too_early, std::string("memory of ") + variant + " was given back under its work");
    DO(cudaStreamSynchronize, on);
    require_right(result, 2, variant);
    require(onefold::memory_in_use(onefold::cuda()).device_bytes == 0, "release_memory leaves memory behind");
  }
}

void streams_that_come_and_go_do_not_mix_their_memory() {
  const float* const data = device_ones();
  constexpr std::size_t many = 2'000;
  float* const results = device_results(many);
  for (std::size_t i = 0; i < many; ++i) {
    const cudaStream_t on = new_stream();
    onefold::sum_into(onefold::cuda(0, on), data, count, results + i, {.variant = i % 3 == 0 ? "vector_load" : "fixed_order"});
    DO(cudaStreamDestroy, on);  // under way
  }
  DO(cudaDeviceSynchronize);
  require_right(results, many, "streams that come and go");
  require(cudaGetLastError() == cudaSuccess, "an error is left behind");
}

const std::map<std::string, std::function<void()>>& situations() {
#define SITUATION(name) \
  { #name, name }
  static const std::map<std::string, std::function<void()>> all{
      SITUATION(a_context_of_the_callers_is_put_back),
      SITUATION(a_thread_without_a_context_has_none_afterwards),
      SITUATION(graphs_of_two_streams_with_one_handle_run_side_by_side),
      SITUATION(graphs_of_one_stream_run_side_by_side),
      SITUATION(what_a_graph_has_recorded_is_taken_again_when_it_is_gone),
      {"a_relaxed_capture_is_left_alone", [] { leaves_captures_alone(cudaStreamCaptureModeRelaxed, false); }},
      {"a_relaxed_capture_of_another_thread_is_left_alone", [] { leaves_captures_alone(cudaStreamCaptureModeRelaxed, true); }},
      {"a_thread_local_capture_is_left_alone", [] { leaves_captures_alone(cudaStreamCaptureModeThreadLocal, false); }},
      {"a_global_capture_is_left_alone", [] { leaves_captures_alone(cudaStreamCaptureModeGlobal, false); }},
      {"a_global_capture_of_another_thread_is_left_alone", [] { leaves_captures_alone(cudaStreamCaptureModeGlobal, true); }},
      SITUATION(memory_in_use_does_not_wait_for_calls_that_wait),
      SITUATION(release_memory_waits_for_the_work_that_uses_it),
      SITUATION(streams_that_come_and_go_do_not_mix_their_memory),
  };
#undef SITUATION
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc == 2 ? situations().find(argv[1]) : situations().end();
  if (found == situations().end()) {
    std::fprintf(stderr, "no such situation\n");
    return 2;
  }
  int devices = 0;
  // In a thread of its own, which may be given a context by this.
  std::thread([&] {
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  }).join();
  if (devices == 0) return 77;
  try {
    found->second();
    return 0;
  } catch (const no_gpu&) {
    return 77;
  } catch (const did_not_come_about&) {
    return 78;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    std::fflush(stderr);
    std::_Exit(1);  // other threads may still wait for something
  }
}
