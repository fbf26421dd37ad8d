#pragma once
/// @file arrays_fixture.hpp  Two arrays of doubles and one of floats in memory that an executor reads, and a number that stands there.

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <onefold/onefold.hpp>

#include "fixture.hpp"

namespace onefold_test {

class arrays_of_an_executor : public executor_test {
 protected:
  static constexpr std::uint64_t most = 100'000;  ///< elements of each

  void SetUp() override {
    executor_test::SetUp();
    if (IsSkipped()) return;
    const elements x = any_values(element_type::f64, most, 1);
    const elements y = any_values(element_type::f64, most, 2);
    const elements f = any_values(element_type::f32, most, 3);
    for (const elements* each : {&x, &y, &f}) {
      memory_.push_back(std::make_unique<block>(memory_for(where()), each->bytes() + 64));
      memory_.back()->write(0, each->data(), each->bytes());
    }
    count_ = std::make_unique<block>(memory_for(where()), sizeof(std::uint64_t));
  }
  void set_count(std::uint64_t n) const { count_->write(0, &n, sizeof(n)); }
  [[nodiscard]] onefold::count_at the_count() const { return {reinterpret_cast<const std::uint64_t*>(count_->address())}; }
  [[nodiscard]] const double* x() const { return reinterpret_cast<const double*>(memory_[0]->address()); }
  [[nodiscard]] const double* y() const { return reinterpret_cast<const double*>(memory_[1]->address()); }
  [[nodiscard]] const float* f() const { return reinterpret_cast<const float*>(memory_[2]->address()); }

 private:
  std::vector<std::unique_ptr<block>> memory_;
  std::unique_ptr<block> count_;
};

template <class T>
void expect_same(T got, T expected, const char* what, std::uint64_t n) {
  EXPECT_EQ(std::memcmp(&got, &expected, sizeof(T)), 0) << what << " of " << n << ": " << got << ", not " << expected;
}

}  // namespace onefold_test
