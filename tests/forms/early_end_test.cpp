/// @file early_end_test.cpp  On a CPU all, any and none read no further than they must: behind what decides there may be memory that nobody can read.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include <onefold/onefold.hpp>

namespace onefold_test {
namespace {

// So many bytes, of which the last half cannot be read.
class half_readable {
 public:
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  half_readable() {
    all_ = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all_ == MAP_FAILED || mprotect(all_, bytes / 2, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  ~half_readable() { munmap(all_, bytes); }
  half_readable(const half_readable&) = delete;
  half_readable& operator=(const half_readable&) = delete;
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(all_);
  }

 private:
  void* all_;
};

template <class T>
class early_end : public testing::Test {};
using types = testing::Types<float, double, std::int32_t, std::uint8_t, onefold::float16>;
TYPED_TEST_SUITE(early_end, types);

TYPED_TEST(early_end, is_where_an_element_decides) {
  const half_readable memory;
  auto* const x = memory.as<TypeParam>();
  constexpr std::uint64_t n = half_readable::bytes / sizeof(TypeParam);
  x[n / 8] = TypeParam(1);
  EXPECT_TRUE(onefold::any(onefold::serial(), x, n));
  EXPECT_FALSE(onefold::none(onefold::serial(), x, n));
  EXPECT_FALSE(onefold::all(onefold::serial(), x, n));  // the first is zero
  for (std::uint64_t i = 0; i < n / 8; ++i) x[i] = TypeParam(1);
  EXPECT_FALSE(onefold::all(onefold::serial(), x, n));  // the one behind the last of these is
}

TYPED_TEST(early_end, changes_no_answer) {
  const half_readable memory;
  auto* const x = memory.as<TypeParam>();
  constexpr std::uint64_t n = half_readable::bytes / 2 / sizeof(TypeParam);
  for (const onefold::executor& where : {onefold::serial(), onefold::openmp(4)}) {
    std::memset(static_cast<void*>(x), 0, half_readable::bytes / 2);
    EXPECT_FALSE(onefold::any(where, x, n));
    EXPECT_TRUE(onefold::none(where, x, n));
    x[n - 1] = TypeParam(1);
    EXPECT_TRUE(onefold::any(where, x, n));
    EXPECT_FALSE(onefold::none(where, x, n));
    EXPECT_FALSE(onefold::none(where, x + n - 1, 1));
    for (std::uint64_t i = 0; i < n; ++i) x[i] = TypeParam(1);
    EXPECT_TRUE(onefold::all(where, x, n));
    x[n - 1] = TypeParam(0);
    EXPECT_FALSE(onefold::all(where, x, n));
    EXPECT_EQ(onefold::count(where, x, n), n - 1);
  }
}

}  // namespace
}  // namespace onefold_test
