/// @file cublas_reductions.cpp  For contrast: the dot product and the norm of cuBLAS, their results in device memory as well.

#include <cublas_v2.h>

#include <stdexcept>

#include "machine.hpp"

namespace cg {

namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

class cublas final : public reductions {
 public:
  explicit cublas(CUstream_st* stream) {
    check(cublasCreate(&handle_), "cublasCreate");
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    check(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
  }
  ~cublas() override { cublasDestroy(handle_); }
  cublas(const cublas&) = delete;
  cublas& operator=(const cublas&) = delete;

  void dot(std::span<const double> x, std::span<const double> y, double* result) override {
    check(cublasDdot(handle_, static_cast<int>(x.size()), x.data(), 1, y.data(), 1, result), "cublasDdot");
  }
  void norm2(std::span<const double> x, double* result) override {
    check(cublasDnrm2(handle_, static_cast<int>(x.size()), x.data(), 1, result), "cublasDnrm2");
  }

  [[nodiscard]] std::string description() const override {
    int version = 0;
    check(cublasGetVersion(handle_, &version), "cublasGetVersion");
    return "cuBLAS " + std::to_string(version);
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<reductions> cublas_reductions(CUstream_st* stream) { return std::make_unique<cublas>(stream); }

}  // namespace cg
