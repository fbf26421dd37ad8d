/// @file gpu_machine.cu  Vectors in a GPU's memory, and one small kernel for each operation on them: the only device code of the example.

#include <cuda_runtime_api.h>

#include <stdexcept>

#include "formulas.hpp"
#include "machine.hpp"

namespace cg {

namespace {

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

template <class Body>
__global__ void run_for_each(int count, Body body) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) body(i);
}

// What a thread does to one element. The scalars are read on the device, where the reductions have left them.

struct apply_poisson_to {
  const double* p;
  double* q;
  int n;
  __device__ void operator()(int i) const { q[i] = poisson_row(p, n, i); }
};

struct divide_one {
  const double* a;
  const double* b;
  double* result;
  __device__ void operator()(int) const { *result = quotient(*a, *b); }
};

struct add_product {
  const double* a;
  const double* x;
  double* y;
  __device__ void operator()(int i) const { y[i] = plus_product(y[i], *a, x[i]); }
};

struct subtract_product {
  const double* a;
  const double* x;
  double* y;
  __device__ void operator()(int i) const { y[i] = minus_product(y[i], *a, x[i]); }
};

struct scale_and_add {
  const double* x;
  const double* a;
  double* y;
  __device__ void operator()(int i) const { y[i] = plus_product(x[i], *a, y[i]); }
};

class gpu final : public gpu_machine {
 public:
  explicit gpu(int n) : n_(n) {
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
  }
  ~gpu() override {
    cudaStreamSynchronize(stream_);
    for (void* array : arrays_) cudaFree(array);
    cudaStreamDestroy(stream_);
  }
  gpu(const gpu&) = delete;
  gpu& operator=(const gpu&) = delete;

  [[nodiscard]] CUstream_st* stream() const override { return stream_; }

  std::span<double> allocate(std::size_t count) override {
    void* array = nullptr;
    check(cudaMalloc(&array, count * sizeof(double)), "cudaMalloc");
    arrays_.push_back(array);
    check(cudaMemsetAsync(array, 0, count * sizeof(double), stream_), "cudaMemsetAsync");
    return {static_cast<double*>(array), count};
  }
  void write(std::span<const double> host_values, std::span<double> to) override {
    check(cudaMemcpyAsync(to.data(), host_values.data(), host_values.size_bytes(), cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
  }
  std::vector<double> read(std::span<const double> from) override {
    std::vector<double> values(from.size());
    check(cudaMemcpyAsync(values.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return values;
  }

  void apply_poisson(std::span<const double> p, std::span<double> q) override {
    for_each(q.size(), apply_poisson_to{p.data(), q.data(), n_});
  }
  void divide(const double* a, const double* b, double* result) override { for_each(1, divide_one{a, b, result}); }
  void axpy(const double* a, std::span<const double> x, std::span<double> y) override {
    for_each(y.size(), add_product{a, x.data(), y.data()});
  }
  void subtract_axpy(const double* a, std::span<const double> x, std::span<double> y) override {
    for_each(y.size(), subtract_product{a, x.data(), y.data()});
  }
  void xpay(std::span<const double> x, const double* a, std::span<double> y) override {
    for_each(y.size(), scale_and_add{x.data(), a, y.data()});
  }

 private:
  template <class Body>
  void for_each(std::size_t count, Body body) {
    constexpr int block_size = 256;
    const int elements = static_cast<int>(count);
    run_for_each<<<(elements + block_size - 1) / block_size, block_size, 0, stream_>>>(elements, body);
    check(cudaGetLastError(), "a kernel of cg could not be started");
  }

  int n_;
  cudaStream_t stream_ = nullptr;
  std::vector<void*> arrays_;
};

}  // namespace

std::unique_ptr<gpu_machine> first_gpu(int n) { return std::make_unique<gpu>(n); }

}  // namespace cg
