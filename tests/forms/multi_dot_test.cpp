/// @file multi_dot_test.cpp  Dots of several vectors with several others: each result has the bits that dot() gives alone.

#include <array>
#include <cstring>
#include <memory>

#include <onefold/batch.hpp>
#include <onefold/multi_dot.hpp>

#include "record_fixture.hpp"

namespace onefold_test {
namespace {

struct dots_case {
  const executor_under_test* on;
  element_type type;
};

std::vector<dots_case> dots_cases() {
  std::vector<dots_case> all;
  for (const auto& group : {each_of_the_executors(), further_executors()})
    for (const auto* const where : group)
      for (const element_type type : {element_type::f32, element_type::f64}) all.push_back({where, type});
  return all;
}

std::string name_of(const testing::TestParamInfo<dots_case>& info) {
  return info.param.on->label + "_" + std::string(onefold::name(info.param.type));
}

class dots_of_vectors : public dispatching_test, public testing::WithParamInterface<dots_case> {
 protected:
  void SetUp() override { start(*GetParam().on); }
  [[nodiscard]] const onefold::executor& where() const { return GetParam().on->where; }

  // Calls body<T>() with the type of the elements.
  template <class Body>
  void with_elements(const Body& body) const {
    if (GetParam().type == element_type::f32)
      body(float());
    else
      body(double());
  }

  // Vectors where the executor can read them, vector k beginning k elements behind a boundary.
  template <class T>
  class vectors {
   public:
    vectors(const onefold::executor& where, int how_many, std::uint64_t count, std::uint64_t seed) : count_(count) {
      for (int k = 0; k < how_many; ++k) {
        const elements x =
            hard_sum(onefold::element_type_of<T>, hardship::growing, count + 1, seed + static_cast<std::uint64_t>(k));
        memory_.push_back(std::make_unique<guarded_input>(memory_for(where), x, operation::sum));
        places_.push_back(static_cast<const T*>(memory_.back()->window(static_cast<std::size_t>(k) % 2, count)));
      }
    }
    [[nodiscard]] const T* const* data() const { return places_.data(); }
    const T* operator[](int k) const { return places_[static_cast<std::size_t>(k)]; }
    [[nodiscard]] bool unchanged() const {
      for (const auto& each : memory_)
        if (!each->unchanged()) return false;
      return true;
    }

   private:
    std::uint64_t count_;
    std::vector<std::unique_ptr<guarded_input>> memory_;
    std::vector<const T*> places_;
  };

  static int call(const onefold_executor& at, const float* const* x, int rows, const float* const* y, int columns, std::uint64_t n,
                  float* to) {
    return onefold_multi_dot_f32(at, x, rows, y, columns, n, to);
  }
  static int call(const onefold_executor& at, const double* const* x, int rows, const double* const* y, int columns,
                  std::uint64_t n, double* to) {
    return onefold_multi_dot_f64(at, x, rows, y, columns, n, to);
  }
  static int store(const onefold_executor& at, const float* const* x, int rows, const float* const* y, int columns, std::uint64_t n,
                   void* to) {
    return onefold_multi_dot_f32_into(at, x, rows, y, columns, n, static_cast<float*>(to), nullptr);
  }
  static int store(const onefold_executor& at, const double* const* x, int rows, const double* const* y, int columns,
                   std::uint64_t n, void* to) {
    return onefold_multi_dot_f64_into(at, x, rows, y, columns, n, static_cast<double*>(to), nullptr);
  }

  template <class T>
  void expect_each_as_alone(int rows, int columns, std::uint64_t n) {
    const vectors<T> x(where(), rows, n, 100);
    const vectors<T> y(where(), columns, n, 200);
    std::vector<T> alone;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) alone.push_back(onefold::dot(where(), x[i], y[j], n));
    const std::size_t bytes = alone.size() * sizeof(T);
    const std::string shape = std::to_string(rows) + " by " + std::to_string(columns) + ", " + std::to_string(n) + " elements";

    std::vector<T> together(alone.size());
    const onefold_executor at = onefold::detail::c_executor(where());
    ASSERT_EQ(call(at, x.data(), rows, y.data(), columns, n, together.data()), 0) << onefold_last_error();
    count_dispatch(where());
    ASSERT_EQ(std::memcmp(alone.data(), together.data(), bytes), 0) << shape;

    guarded_output output(memory_for(where()), GetParam().type, bytes);
    ASSERT_EQ(store(at, x.data(), rows, y.data(), columns, n, output.address()), 0) << onefold_last_error();
    onefold::synchronize(where());
    ASSERT_EQ(std::memcmp(alone.data(), output.bytes().data(), bytes), 0) << "stored, " << shape;
    ASSERT_TRUE(output.surroundings_unchanged()) << shape;
    ASSERT_TRUE(x.unchanged() && y.unchanged()) << shape;
  }
};

TEST_P(dots_of_vectors, have_the_bits_that_each_has_alone) {
  with_elements([&]<class T>(T) {
    constexpr std::uint64_t tile = onefold::order::tile_elements<T>;
    for (const auto& [rows, columns] : {std::array{1, 1}, {1, 3}, {1, 8}, {3, 1}, {4, 4}, {2, 3}})
      for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{33}, tile - 1, 2 * tile, 40 * tile + 7})
        ASSERT_NO_FATAL_FAILURE(expect_each_as_alone<T>(rows, columns, n));
  });
}

TEST_P(dots_of_vectors, may_be_more_than_one_launch_takes) {
  with_elements([&]<class T>(T) {
    // Up to as many as one call takes.
    for (const auto& [rows, columns] : {std::array{1, 20}, {19, 1}, {5, 7}, {9, 2}, {1, 128}, {128, 1}, {8, 16}})
      ASSERT_NO_FATAL_FAILURE(expect_each_as_alone<T>(rows, columns, 10'007));
  });
}

TEST_P(dots_of_vectors, of_many_elements) {
  with_elements([&]<class T>(T) {
    ASSERT_NO_FATAL_FAILURE(expect_each_as_alone<T>(2, 2, (1U << 20) + 5));
    ASSERT_NO_FATAL_FAILURE(expect_each_as_alone<T>(8, 16, (1U << 18) + 5));  // whose states are as large as any
  });
}

TEST_P(dots_of_vectors, of_no_elements_are_zeros) {
  with_elements([&]<class T>(T) {
    const std::array<const T*, 3> nowhere{};
    std::array<T, 6> results;
    results.fill(T(1));
    const onefold_executor at = onefold::detail::c_executor(where());
    ASSERT_EQ(call(at, nowhere.data(), 2, nowhere.data(), 3, 0, results.data()), 0) << onefold_last_error();
    count_dispatch(where());
    const std::array<T, 6> zeros{};
    EXPECT_EQ(std::memcmp(results.data(), zeros.data(), sizeof(zeros)), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(forms, dots_of_vectors, testing::ValuesIn(dots_cases()), name_of);

TEST(dots, are_lists_in_braces) {
  const std::vector<double> v0{1, 2, 3}, v1{4, 5, 6}, w{1, 0, 2};
  EXPECT_EQ(onefold::multi_dot(onefold::serial(), {v0, v1}, {w}), (std::vector<double>{7, 16}));
  double into[2] = {};
  onefold::multi_dot_into(onefold::serial(), {w}, {v1, v0}, into);
  EXPECT_EQ(into[0], 16);
  EXPECT_EQ(into[1], 7);
  const std::array<float, 2> f{1, 2};
  EXPECT_EQ(onefold::multi_dot(onefold::serial(), {f, {f.data(), 2}}, {f})[1], 5.0F);
}

TEST(dots, are_of_as_many_vectors_as_there_are) {
  const std::vector<double> w{1, 2, 3};
  std::vector<std::vector<double>> basis;
  std::vector<onefold::vector_view<double>> views;
  std::vector<const double*> places;
  std::vector<double> matrix, expected;
  for (int k = 0; k < 5; ++k) {
    basis.push_back({1.0 * k, 10.0, 100.0});
    expected.push_back(k + 320);
  }
  for (const auto& v : basis) {
    views.emplace_back(v);
    places.push_back(v.data());
    matrix.insert(matrix.end(), v.begin(), v.end());
    matrix.push_back(-7);  // a leading dimension of 4
  }
  const onefold::executor one = onefold::serial();
  EXPECT_EQ(onefold::multi_dot(one, basis, {w}), expected);
  EXPECT_EQ(onefold::multi_dot(one, {basis}, {w}), expected);
  EXPECT_EQ(onefold::multi_dot(one, {w}, views), expected);
  EXPECT_EQ(onefold::multi_dot(one, {places.data(), places.size(), w.size()}, {w}), expected);
  EXPECT_EQ(onefold::multi_dot(one, onefold::vector_list<double>::columns(matrix.data(), 3, 5, 4), {{w.data(), 3}}), expected);
  std::vector<double> stored(5);
  onefold::multi_dot_into(one, basis, {w}, stored.data());
  EXPECT_EQ(stored, expected);
  stored.assign(5, 0);
  onefold::batch work(one);
  work.add_multi_dot(views, {w}, stored.data());
  views.clear();  // the batch has the places
  work.run();
  EXPECT_EQ(stored, expected);
  const std::array<std::vector<float>, 2> floats{std::vector<float>{1, 2}, std::vector<float>{3, 4}};
  EXPECT_EQ(onefold::multi_dot(one, floats, floats), (std::vector<float>{5, 11, 11, 25}));
}

// The first step of a method that makes a basis has no vectors yet.
TEST(dots, of_no_vectors_are_none) {
  const std::vector<double> one(1, 2.0);
  const std::vector<std::vector<double>> none;
  EXPECT_EQ(onefold::multi_dot(onefold::serial(), none, {one}), std::vector<double>());
  EXPECT_EQ(onefold::multi_dot(onefold::serial(), {one}, none), std::vector<double>());
  EXPECT_EQ(onefold::multi_dot(onefold::serial(), none, std::vector<std::vector<double>>(200, one)), std::vector<double>());
  double result = -1;
  onefold::multi_dot_into(onefold::serial(), none, {one}, &result);
  EXPECT_EQ(result, -1);
}

TEST(dots, refuse_what_they_cannot_do) {
  const std::vector<double> one(1, 2.0);
  const std::vector<std::vector<double>> many(129, one);
  EXPECT_TRUE(refuses(onefold::errc::invalid_argument, "129 by 1 dots: one call takes 1 to 128",
                      [&] { static_cast<void>(onefold::multi_dot(onefold::serial(), many, {one})); }));
  const double* const* const nowhere = nullptr;
  EXPECT_TRUE(refuses(onefold::errc::null_pointer, "vector", [&] {
    static_cast<void>(onefold::multi_dot(onefold::serial(), {nowhere, 3, 1}, {one}));
  }));
  EXPECT_TRUE(refuses(onefold::errc::null_pointer, "vector", [&] {
    static_cast<void>(onefold::multi_dot(onefold::serial(), {one}, onefold::vector_list<double>::columns(nullptr, 1, 2, 5)));
  }));
  const std::vector<std::vector<double>> ragged{{1, 2}, {1, 2, 3}, {1, 2}};
  EXPECT_TRUE(refuses(onefold::errc::invalid_argument, "length",
                      [&] { static_cast<void>(onefold::multi_dot(onefold::serial(), ragged, {ragged[0]})); }));
  const std::vector<double> three(3), two(2);
  EXPECT_THROW(static_cast<void>(onefold::multi_dot(onefold::serial(), {three}, {two})), onefold::error);
  EXPECT_THROW(static_cast<void>(onefold::multi_dot(onefold::serial(), {three, two}, {three})), onefold::error);

  const double x = 1;
  double result[2] = {-1, -1};
  const std::array<const double*, 2> good{&x, &x};
  const std::array<const double*, 2> null{&x, nullptr};
  const auto odd = reinterpret_cast<const double*>(reinterpret_cast<const char*>(good.data()) + 1);
  const std::array<const double*, 2> misaligned{&x, odd};
  const auto status = [&](const double* const* a, int rows, const double* const* b, int columns, double* to) {
    return onefold_multi_dot_f64(onefold_serial(), a, rows, b, columns, 1, to);
  };
  EXPECT_EQ(status(good.data(), 2, null.data(), 1, result), ONEFOLD_OK);
  EXPECT_EQ(status(good.data(), 1, null.data(), 2, result), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(std::string(onefold_last_error()).find("second set's vector 1"), std::string("the ").size()) << onefold_last_error();
  EXPECT_EQ(status(good.data(), 1, misaligned.data(), 2, result), ONEFOLD_MISALIGNED_POINTER);
  EXPECT_EQ(status(nullptr, 1, good.data(), 1, result), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(status(good.data(), 0, good.data(), 1, result), ONEFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(status(good.data(), 1, good.data(), -1, result), ONEFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(status(good.data(), 2, good.data(), 1 << 30, result), ONEFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(status(good.data(), 1, good.data(), 1, nullptr), ONEFOLD_NULL_POINTER);
  EXPECT_EQ(status(good.data(), 1, good.data(), 1, const_cast<double*>(&x)), ONEFOLD_INVALID_ARGUMENT);  // the output is an input
  double memory[] = {-1, 5};  // of which two results would take both numbers, the second of which is an input
  const double* const behind = &memory[1];
  EXPECT_EQ(status(&behind, 1, good.data(), 2, memory), ONEFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::string(onefold_last_error()).find("inside the first set's vector 0"), std::string::npos) << onefold_last_error();
  EXPECT_EQ(memory[0], -1);
  EXPECT_EQ(status(&behind, 1, good.data(), 1, memory), ONEFOLD_OK);  // one takes its place alone
  EXPECT_EQ(memory[0], 5);
  for (const std::uint64_t count : {std::uint64_t{1} << 60, ~std::uint64_t{0}})
    EXPECT_EQ(onefold_multi_dot_f64(onefold_serial(), good.data(), 1, good.data(), 1, count, result), ONEFOLD_INVALID_ARGUMENT)
        << count;
}

TEST(a_dot_of_two_types, has_the_bits_of_an_array_of_its_products) {
  constexpr std::size_t n = 10'007;
  const elements x = hard_sum(element_type::f32, hardship::growing, n, 1);
  const elements y = hard_sum(element_type::f64, hardship::growing, n, 2);
  const auto f = x.as<float>();
  const auto d = y.as<double>();
  std::vector<onefold::float16> h;
  std::vector<double> products, of_halves;
  for (std::size_t i = 0; i < n; ++i) {
    h.push_back(onefold::float16::from_bits(static_cast<std::uint16_t>(i % 0x7c00)));
    products.push_back(static_cast<double>(f[i]) * d[i]);
    of_halves.push_back(static_cast<double>(h[i]) * d[i]);
  }
  for (const onefold::executor& where : {onefold::serial(), onefold::openmp(3)}) {
    EXPECT_EQ(onefold::dot(where, f, d), onefold::sum(where, products));
    EXPECT_EQ(onefold::dot(where, d.data(), f.data(), n), onefold::sum(where, products));
    EXPECT_EQ(onefold::dot(where, h, d), onefold::sum(where, of_halves));
    double stored = 0;
    onefold::dot_into(where, f, d, &stored);
    EXPECT_EQ(stored, onefold::sum(where, products));
  }
  static_assert(std::is_same_v<decltype(onefold::dot(onefold::serial(), h, f)), float>);
  EXPECT_THROW(static_cast<void>(onefold::dot(onefold::serial(), f, d.first(5))), onefold::error);
}

}  // namespace
}  // namespace onefold_test
