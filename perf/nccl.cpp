/// @file nccl.cpp  onefold-perf-nccl: what reductions over the ranks of an NCCL communicator take, in stream order, beside an ncclAllReduce of one double behind
/// a sum. A thread for each GPU that there is.
///
/// All rows are timed in turns, each turn one call to the end of the stream, or one graph of several calls, which leaves out what the host does. Medians.

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <onefold/nccl.hpp>
#include <onefold/onefold.hpp>

#include "cuda_check.hpp"

namespace {

using onefold::perf::check;
using std::uint64_t;

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess) throw std::runtime_error(std::string(call).append(": ").append(ncclGetErrorString(status)));
}

constexpr int turns = 200;
constexpr int calls_of_graph = 20;

double element_at(uint64_t i) { return static_cast<double>((i * 2654435761U) % 1000003) * 1e-3 - 400.0; }

onefold::options exactly() {
  onefold::options how;
  how.guarantee = onefold::guarantee::exact;
  return how;
}

// The same memory as an array of another type: what its numbers are makes no difference to the time.
template <class T>
T* as(double* numbers) {
  return reinterpret_cast<T*>(numbers);
}
using complex = std::complex<double>;

struct device_array {
  explicit device_array(const std::vector<double>& from) {
    check(cudaMalloc(&data, (from.size() + 1) * sizeof(double)), "cudaMalloc");
    check(cudaMemcpy(data, from.data(), from.size() * sizeof(double), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~device_array() { cudaFree(data); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  double* data = nullptr;
};

struct row {
  const char* name;
  std::function<void()> call;
  cudaGraphExec_t graph = nullptr;
  std::vector<double> alone = {}, in_graph = {};  // seconds
};

double median(std::vector<double>& of) {
  std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
  return of[of.size() / 2];
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void record(row& one, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int i = 0; i < calls_of_graph; ++i) one.call();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&one.graph, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

void time_size(int device, int ranks, ncclComm_t comm, std::barrier<>& together, uint64_t each) {
  check(cudaSetDevice(device), "cudaSetDevice");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  {
    // Aligned parts, and such whose every end cuts a tile.
    const uint64_t cut = each + 101;
    std::vector<double> x(cut);
    for (uint64_t i = 0; i < cut; ++i) x[i] = element_at(static_cast<uint64_t>(device) * cut + i);
    const device_array there(x), results(std::vector<double>(24)),
        gathered(std::vector<double>(8 * static_cast<std::size_t>(ranks)));
    double* const result = results.data;
    const onefold::nccl::layout aligned(comm, device, stream, each), ragged(comm, device, stream, cut),
        pairs(comm, device, stream, each / 2);
    const auto sum_alone = [&] { onefold::sum_into(onefold::cuda(device, stream), there.data, each, result); };
    row rows[] = {
        {"sum alone", sum_alone},
        {"sum and ncclAllReduce",
         [&] {
           sum_alone();
           check(ncclAllReduce(result, result + 1, 1, ncclDouble, ncclSum, comm, stream), "ncclAllReduce");
         }},
        {"sum and ncclAllGather",
         [&] {
           sum_alone();
           check(ncclAllGather(result, gathered.data, 64, ncclUint8, comm, stream), "ncclAllGather");
         }},
        {"sum_into, aligned", [&] { onefold::sum_into(aligned, there.data, each, result + 2); }},
        {"sum_into, cut", [&] { onefold::sum_into(ragged, there.data, cut, result + 3); }},
        {"norm2_into, cut", [&] { onefold::norm2_into(ragged, there.data, cut, result + 4); }},
        {"exact sum alone", [&] { onefold::sum_into(onefold::cuda(device, stream), there.data, each, result, exactly()); }},
        {"sum_into, exact", [&] { onefold::sum_into(ragged, there.data, cut, result + 5, exactly()); }},
        {"minmax_into, aligned",
         [&] { onefold::minmax_into(aligned, there.data, each, reinterpret_cast<onefold::minmax_result<double>*>(result + 6)); }},
        {"mean_variance_into, cut",
         [&] {
           onefold::mean_variance_into(ragged, there.data, cut,
                                       reinterpret_cast<onefold::mean_variance_result<double>*>(result + 8));
         }},
        {"argmin_into, cut",
         [&] { onefold::argmin_into(ragged, there.data, cut, reinterpret_cast<onefold::arg_result<double>*>(result + 10)); }},
        {"argminmax_into, cut",
         [&] {
           onefold::argminmax_into(ragged, there.data, cut, reinterpret_cast<onefold::argminmax_result<double>*>(result + 14));
         }},
        {"i32 sum_into, aligned",
         [&] { onefold::sum_into(aligned, as<std::int32_t>(there.data), each, as<std::int32_t>(result + 18)); }},
        {"i32 sum_into, cut", [&] { onefold::sum_into(ragged, as<std::int32_t>(there.data), cut, as<std::int32_t>(result + 18)); }},
        {"f16 sum_into, aligned",
         [&] { onefold::sum_into(aligned, as<onefold::float16>(there.data), each, as<float>(result + 19)); }},
        {"f16 sum_into, cut", [&] { onefold::sum_into(ragged, as<onefold::float16>(there.data), cut, as<float>(result + 19)); }},
        {"i8 max_into, cut", [&] { onefold::max_into(ragged, as<std::int8_t>(there.data), cut, as<std::int8_t>(result + 20)); }},
        {"complex sum_into, aligned",
         [&] { onefold::sum_into(pairs, as<complex>(there.data), each / 2, as<complex>(result + 12)); }},
        {"complex sum_into, exact",
         [&] { onefold::sum_into(pairs, as<complex>(there.data), each / 2, as<complex>(result + 12), exactly()); }},
    };
    for (row& one : rows) {
      for (int i = 0; i < 3; ++i) one.call();
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      together.arrive_and_wait();
      record(one, stream);
    }
    for (int turn = 0; turn < turns; ++turn)
      for (row& one : rows) {
        together.arrive_and_wait();
        double begin = now();
        one.call();
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        one.alone.push_back(now() - begin);
        if (turn % 4 != 0) continue;
        together.arrive_and_wait();
        begin = now();
        check(cudaGraphLaunch(one.graph, stream), "cudaGraphLaunch");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        one.in_graph.push_back((now() - begin) / calls_of_graph);
      }
    double found[6] = {};
    check(cudaMemcpy(found, result, sizeof(found), cudaMemcpyDefault), "cudaMemcpy");
    if (device == 0) {
      std::vector<double> all, of_cut;
      for (int rank = 0; rank < ranks; ++rank)
        for (uint64_t i = 0; i < cut; ++i) {
          of_cut.push_back(element_at(static_cast<uint64_t>(rank) * cut + i));
          if (i < each) all.push_back(of_cut.back());
        }
      if (found[2] != onefold::sum(onefold::best(), all) || found[3] != onefold::sum(onefold::best(), of_cut) ||
          found[4] != onefold::norm2(onefold::best(), of_cut) || found[5] != onefold::sum(onefold::best(), of_cut, exactly()))
        throw std::runtime_error("a result over the ranks has not the bits of one core");
      const double base[] = {median(rows[1].alone), median(rows[1].in_graph)};
      for (row& one : rows)
        std::printf("%10llu  %-24s %9.2f %+9.2f %9.2f %+9.2f\n", static_cast<unsigned long long>(each), one.name,
                    median(one.alone) * 1e6, (median(one.alone) - base[0]) * 1e6, median(one.in_graph) * 1e6,
                    (median(one.in_graph) - base[1]) * 1e6);
      std::fflush(stdout);
    }
    together.arrive_and_wait();
    for (const row& one : rows) check(cudaGraphExecDestroy(one.graph), "cudaGraphExecDestroy");
  }
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

}  // namespace

int main() {
  try {
    int ranks = 0;
    check(cudaGetDeviceCount(&ranks), "cudaGetDeviceCount");
    cudaDeviceProp gpu{};
    check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
    std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
    check(ncclCommInitAll(comms.data(), ranks, nullptr), "ncclCommInitAll");
    std::printf(
        "%d of %s, doubles, microseconds: a call to the end of the stream and beside the sum with ncclAllReduce; the same of each "
        "of %d calls in a graph\n",
        ranks, gpu.name, calls_of_graph);
    std::printf("%10s  %-24s %9s %9s %9s %9s\n", "each GPU", "", "call", "more", "in graph", "more");
    std::barrier<> together(ranks);
    for (const int power : {10, 14, 17, 20, 24}) {
      std::vector<std::thread> threads;
      threads.reserve(comms.size());
      for (int i = 0; i < ranks; ++i)
        threads.emplace_back([&, i] {
          try {
            time_size(i, ranks, comms[static_cast<std::size_t>(i)], together, uint64_t{1} << power);
          } catch (const std::exception& problem) {
            std::fprintf(stderr, "onefold-perf-nccl: rank %d: %s\n", i, problem.what());
            std::_Exit(1);  // the other ranks would wait for ever
          }
        });
      for (std::thread& one : threads) one.join();
    }
    for (ncclComm_t comm : comms) ncclCommDestroy(comm);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "onefold-perf-nccl: %s\n", problem.what());
    return 1;
  }
  return 0;
}
