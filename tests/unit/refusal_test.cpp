/// @file refusal_test.cpp  Every argument that cannot be, on every executor: refused with its code, and the next call works.

#include <vector>

#include "../support/gtest_support.hpp"
#include "../support/place.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../support/cuda.hpp"
#endif

namespace onefold_test {
namespace {

using onefold::backend;
using onefold::errc;

std::string label_of(const testing::TestParamInfo<std::size_t>& info) { return executors()[info.param].label; }

std::vector<std::size_t> all_executors() {
  std::vector<std::size_t> all(executors().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

class refusals_of : public testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::size_t count = 1000;

  void SetUp() override {
    if (on().cannot_run) GTEST_SKIP() << on().label << ": " << *on().cannot_run;
    elements data(element_type::f64, count);
    for (std::size_t i = 0; i < count; ++i) data.put(i, scalar_of(1.0));
    input_.emplace(memory_for(where()), data.bytes() + sizeof(double));
    input_->write(0, data.data(), data.bytes());
    output_.emplace(memory_for(where()), 2 * sizeof(double));
  }
  // Whatever was refused: the next call works and is right.
  void TearDown() override {
    if (IsSkipped()) return;
    onefold::report ran;
    EXPECT_EQ(onefold::sum(where(), input(), count, {.report = &ran}), static_cast<double>(count));
    EXPECT_EQ(ran.backend, where().backend());
    EXPECT_NO_THROW(onefold::sum_into(where(), input(), count, output()));
    EXPECT_NO_THROW(onefold::synchronize(where()));
    double result = 0;
    output_->read(0, &result, sizeof(result));
    EXPECT_EQ(result, static_cast<double>(count));
  }

  [[nodiscard]] const executor_under_test& on() const { return executors()[GetParam()]; }
  [[nodiscard]] const onefold::executor& where() const { return on().where; }
  [[nodiscard]] double* input() const { return reinterpret_cast<double*>(input_->address()); }
  [[nodiscard]] double* output() const { return reinterpret_cast<double*>(output_->address()); }
  template <class T>
  [[nodiscard]] static T* moved(T* pointer, std::uintptr_t bytes) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
  }

  void expect_refused(errc code, std::string_view words, const onefold::options& how) const {
    EXPECT_TRUE(refuses(code, words, [&] { static_cast<void>(onefold::sum(where(), input(), count, how)); }));
    EXPECT_TRUE(refuses(code, words, [&] { onefold::sum_into(where(), input(), count, output(), how); }));
  }

 private:
  std::optional<block> input_, output_;
};

TEST_P(refusals_of, a_null_input_with_elements) {
  const double* nothing = nullptr;
  EXPECT_TRUE(refuses(errc::null_pointer, "input pointer is null", [&] { static_cast<void>(onefold::sum(where(), nothing, 5)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "5 elements", [&] { onefold::sum_into(where(), nothing, 5, output()); }));
}

TEST_P(refusals_of, a_null_output) {
  EXPECT_TRUE(refuses(errc::null_pointer, "output pointer is null",
                      [&] { onefold::sum_into(where(), input(), count, static_cast<double*>(nullptr)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "output pointer is null",
                      [&] { onefold::sum_into(where(), input(), 0, static_cast<double*>(nullptr)); }));
}

TEST_P(refusals_of, pointers_that_are_not_aligned_to_their_type) {
  for (const std::uintptr_t bytes : {1u, 2u, 4u, 7u}) {
    EXPECT_TRUE(refuses(errc::misaligned_pointer, "input pointer is not aligned",
                        [&] { static_cast<void>(onefold::sum(where(), moved(input(), bytes), 10)); }));
    EXPECT_TRUE(refuses(errc::misaligned_pointer, "output pointer is not aligned",
                        [&] { onefold::sum_into(where(), input(), 10, moved(output(), bytes)); }));
  }
}

TEST_P(refusals_of, an_output_inside_the_input) {
  for (const std::size_t place : {std::size_t{0}, count / 2, count - 1})
    EXPECT_TRUE(
        refuses(errc::invalid_argument, "inside the input", [&] { onefold::sum_into(where(), input(), count, input() + place); }));
  EXPECT_NO_THROW(onefold::sum_into(where(), input(), count, input() + count)) << "just behind the input is outside";
  EXPECT_NO_THROW(onefold::sum_into(where(), input() + 1, count - 1, input())) << "just before the input is outside";
  onefold::synchronize(where());
  SetUp();  // the last call wrote over an element that TearDown() adds up
}

TEST_P(refusals_of, a_count_that_no_array_has) {
  for (const std::uint64_t impossible :
       {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 61, static_cast<std::uint64_t>(-5)})
    EXPECT_TRUE(
        refuses(errc::invalid_argument, "cannot be", [&] { static_cast<void>(onefold::sum(where(), input(), impossible)); }));
}

TEST_P(refusals_of, negative_sizes) {
  expect_refused(errc::invalid_argument, "positive numbers", {.block_size = -1});
  expect_refused(errc::invalid_argument, "positive numbers", {.grid_size = -1});
  expect_refused(errc::invalid_argument, "positive numbers", {.width = -128});
}

TEST_P(refusals_of, an_unknown_variant) {
  expect_refused(errc::unknown_variant, "no variant is named", {.variant = "no_such_thing"});
}

TEST_P(refusals_of, a_guarantee_that_cannot_be_given) {
  using onefold::guarantee;
  expect_refused(errc::guarantee_not_met, "exact", {.variant = "fixed_order", .guarantee = guarantee::exact});
  const std::string_view unordered = where().backend() == backend::cuda ? "vector_load" : "parallel_reduce";
  expect_refused(errc::guarantee_not_met, unordered, {.variant = unordered, .guarantee = guarantee::fixed});
  for (const auto given : {guarantee::fixed, guarantee::exact})
    EXPECT_EQ(onefold::sum(where(), input(), count, {.guarantee = given}), static_cast<double>(count));
}

TEST_P(refusals_of, more_threads_than_there_are_or_fewer_than_none) {
  if (where().backend() != backend::openmp) return;
  const int most = backend_under_test(backend::openmp).threads;
  const onefold::options reference{.variant = "parallel_reduce"};
  EXPECT_TRUE(refuses(errc::unsupported, "more threads",
                      [&] { static_cast<void>(onefold::sum(onefold::openmp(most + 1), input(), count, reference)); }));
  EXPECT_TRUE(refuses(errc::unsupported, std::to_string(most),
                      [&] { static_cast<void>(onefold::sum(onefold::openmp(100000), input(), count, reference)); }));
  EXPECT_EQ(onefold::sum(onefold::openmp(most + 1), input(), count), static_cast<double>(count));
  EXPECT_EQ(onefold::sum(onefold::openmp(100000), input(), count), static_cast<double>(count));  // there is work for fewer
  EXPECT_TRUE(refuses(errc::invalid_argument, "positive number",
                      [&] { static_cast<void>(onefold::sum(onefold::openmp(-1), input(), count)); }));
  EXPECT_EQ(onefold::sum(onefold::openmp(most), input(), count), static_cast<double>(count));
}

TEST_P(refusals_of, what_a_variant_cannot_choose) {
  if (where().backend() != backend::cuda) return;
  for (const auto& variant : onefold::variants(backend::cuda)) {
    SCOPED_TRACE(variant.name);
    const auto with = [&](onefold::options how) {
      how.variant = variant.name;
      return how;
    };
    expect_refused(errc::unsupported, "block_size", with({.block_size = 33}));
    expect_refused(errc::unsupported, "block_size", with({.block_size = 4096}));
    expect_refused(errc::unsupported, "width", with({.width = 5}));
    if (!variant.grid_size_free) expect_refused(errc::unsupported, "grid", with({.grid_size = 4}));
    if (variant.grid_size_free) expect_refused(errc::unsupported, "grid_size", with({.grid_size = std::int64_t{1} << 32}));
    for (int i = 1; i < onefold::finish_count; ++i) {
      const auto how = static_cast<onefold::finish>(i);
      if (std::ranges::find(variant.finishes, how) == variant.finishes.end())
        expect_refused(errc::unsupported, onefold::name(how), with({.finish = how}));
    }
  }
}

#ifdef ONEFOLD_HAVE_CUDA

TEST_P(refusals_of, memory_that_it_cannot_reach) {
  const auto& gpu = backend_under_test(backend::cuda);
  if (where().backend() == backend::cuda) {
    double on_the_stack[4] = {1, 2, 3, 4};
    // What is copied: forms/host_arrays_cuda_test.cpp.
    EXPECT_TRUE(refuses(errc::host_pointer, "input is host memory",
                        [&] { static_cast<void>(onefold::sum(where(), on_the_stack, {.variant = "vector_load"})); }));
    EXPECT_TRUE(
        refuses(errc::host_pointer, "output is host memory", [&] { onefold::sum_into(where(), input(), count, on_the_stack); }));
    return;
  }
  if (!gpu.usable) return;  // there is no device memory to give
  const block device(memory::device, count * sizeof(double));
  const auto* pointer = reinterpret_cast<const double*>(device.address());
  EXPECT_TRUE(
      refuses(errc::device_pointer, "input is GPU memory", [&] { static_cast<void>(onefold::sum(where(), pointer, count)); }));
  EXPECT_TRUE(refuses(errc::device_pointer, "output is GPU memory",
                      [&] { onefold::sum_into(where(), input(), count, reinterpret_cast<double*>(device.address())); }));
  block shared(memory::managed, count * sizeof(double));
  const std::vector<double> twos(count, 2.0);
  shared.write(0, twos.data(), count * sizeof(double));
  EXPECT_EQ(onefold::sum(where(), reinterpret_cast<const double*>(shared.address()), count), 2000.0)
      << "managed memory is for both";
}

#endif

INSTANTIATE_TEST_SUITE_P(executors, refusals_of, testing::ValuesIn(all_executors()), label_of);

// --- where there is no such device or backend
// ------------------------------------------------------------------------------------------

const std::vector<float> ones(100, 1.0f);

TEST(a_missing_gpu, is_said_and_leaves_the_cpu_working) {
  const auto& cuda = backend_under_test(backend::cuda);
  if (cuda.usable) GTEST_SKIP() << "this machine has a GPU";
  const auto code = cuda.built ? errc::backend_unavailable : errc::backend_not_built;
  EXPECT_TRUE(refuses(code, cuda.detail, [] { static_cast<void>(onefold::sum(onefold::cuda(), ones)); }));
  EXPECT_TRUE(refuses(code, "", [] { static_cast<void>(onefold::sum(onefold::cuda(99), ones)); }));
  EXPECT_TRUE(refuses(code, "", [] { static_cast<void>(onefold::sum(onefold::cuda(), static_cast<const float*>(nullptr), 0)); }));
  EXPECT_EQ(onefold::sum(ones), 100.0f);
  EXPECT_EQ(onefold::sum(onefold::serial(), ones), 100.0f);
}

TEST(a_missing_backend, is_said_with_what_to_do) {
  for (const auto where : {onefold::openmp(), onefold::cuda()}) {
    const auto& info = backend_under_test(where.backend());
    if (info.built) continue;
    EXPECT_NE(info.detail.find("build onefold with"), std::string::npos) << info.detail;
    EXPECT_TRUE(refuses(errc::backend_not_built, info.detail, [&] { static_cast<void>(onefold::sum(where, ones)); }));
  }
}

TEST(the_wrong_gpu, is_refused_with_the_numbers_there_are_cuda) {
  const auto& cuda = backend_under_test(backend::cuda);
  if (!cuda.usable) GTEST_SKIP() << cuda.detail;
#ifdef ONEFOLD_HAVE_CUDA
  const block device(memory::device, 400);
  const auto* pointer = reinterpret_cast<const float*>(device.address());
  EXPECT_TRUE(refuses(errc::backend_unavailable, "no CUDA device 99",
                      [&] { static_cast<void>(onefold::sum(onefold::cuda(99), pointer, 100)); }));
  EXPECT_TRUE(refuses(errc::backend_unavailable, "no CUDA device -1",
                      [&] { static_cast<void>(onefold::sum(onefold::cuda(-1), pointer, 100)); }));
  EXPECT_NO_THROW(static_cast<void>(onefold::sum(onefold::cuda(), pointer, 100)));
  if (cuda.devices.size() < 2) return;
  EXPECT_TRUE(refuses(errc::wrong_device, "use cuda(0)", [&] { static_cast<void>(onefold::sum(onefold::cuda(1), pointer, 100)); }));
#endif
}

TEST(best, goes_where_device_memory_is_cuda) {
  const auto& cuda = backend_under_test(backend::cuda);
  if (!cuda.usable) GTEST_SKIP() << cuda.detail;
#ifdef ONEFOLD_HAVE_CUDA
  for (const memory kind : {memory::device, memory::managed}) {
    block device(kind, ones.size() * sizeof(float));
    device.write(0, ones.data(), ones.size() * sizeof(float));
    onefold::report ran;
    EXPECT_EQ(onefold::sum(reinterpret_cast<const float*>(device.address()), ones.size(), {.report = &ran}), 100.0f);
    EXPECT_EQ(ran.backend, backend::cuda);
  }
#endif
}

}  // namespace
}  // namespace onefold_test
