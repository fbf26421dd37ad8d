/// @file onefold_reductions.cpp  All that a client writes to have the same bits on one core, on all of them and on a GPU. Plain C++: no
/// CUDA and no Kokkos header.

#include <onefold/onefold.hpp>

#include "machine.hpp"

namespace cg {

namespace {

class onefold_reductions_on final : public reductions {
 public:
  onefold_reductions_on(const onefold::executor& where, std::size_t count) : where_(where), workspace_(where, count) {}

  // On cuda() both are ordered on the caller's stream, allocate nothing and do not wait; on a CPU they are done on return.
  void dot(std::span<const double> x, std::span<const double> y, double* result) override {
    onefold::dot_into(where_, x, y, result, {.workspace = &workspace_, .report = &ran_});
  }
  void norm2(std::span<const double> x, double* result) override {
    onefold::norm2_into(where_, x, result, {.workspace = &workspace_, .report = &ran_});
  }

  [[nodiscard]] std::string description() const override {
    std::string text = "onefold " + ran_.implementation + " on " + std::string(onefold::name(ran_.backend));
    if (ran_.threads > 0) text += ", " + std::to_string(ran_.threads) + (ran_.threads == 1 ? " thread" : " threads");
    return text;
  }

 private:
  onefold::executor where_;
  onefold::workspace workspace_;
  onefold::report ran_;
};

}  // namespace

std::unique_ptr<reductions> onefold_reductions(const onefold::executor& where, std::size_t count) {
  return std::make_unique<onefold_reductions_on>(where, count);
}

}  // namespace cg
