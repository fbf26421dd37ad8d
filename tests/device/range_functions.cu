#include "range_functions.hpp"

#include <onefold/device.cuh>
#include <onefold/onefold.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "../support/both_sides.cuh"

namespace onefold_test {

namespace {

namespace op = onefold::op;
using onefold::form;

// Numbers of which sums round, and products stay within what there is.
struct some_values {
  ONEFOLD_HOST_DEVICE double operator()(std::uint64_t i) const {
    const std::uint64_t bits = (i + 17) * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(static_cast<std::int64_t>((bits ^ (bits >> 29)) >> 11)) / 4503599627370496.0 - 0.75;
  }
};
struct near_one {
  ONEFOLD_HOST_DEVICE double operator()(std::uint64_t i) const { return 1.0 + some_values()(i) / 65536; }
};
struct some_floats {
  ONEFOLD_HOST_DEVICE float operator()(std::uint64_t i) const { return static_cast<float>(some_values()(i)); }
};
struct some_integers {
  ONEFOLD_HOST_DEVICE std::int32_t operator()(std::uint64_t i) const { return static_cast<std::int32_t>(some_values()(i) * 1e9); }
};
struct negated_integers {  // of which ptxas lost signs
  const std::int32_t* x;
  ONEFOLD_HOST_DEVICE std::int32_t operator()(std::uint64_t i) const { return -x[i]; }
};
struct negated_numbers {
  const std::uint32_t* x;
  ONEFOLD_HOST_DEVICE std::uint32_t operator()(std::uint64_t i) const { return 0U - x[i]; }
};
struct larger_integer {
  ONEFOLD_HOST_DEVICE std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a > b ? a : b; }
};
struct few_integers {  // many of them equal
  ONEFOLD_HOST_DEVICE std::int64_t operator()(std::uint64_t i) const {
    return static_cast<std::int64_t>(some_values()(i / 3) * 100);
  }
};
struct is_large {
  ONEFOLD_HOST_DEVICE bool operator()(std::uint64_t i) const { return some_values()(i) > 0.2; }
};
struct some_present {
  ONEFOLD_HOST_DEVICE onefold::maybe<double> operator()(std::uint64_t i) const {
    const double x = some_values()(i);
    return x > 0 ? onefold::maybe<double>(x) : onefold::maybe<double>();
  }
};
struct with_a_nan {
  ONEFOLD_HOST_DEVICE double operator()(std::uint64_t i) const {
    return i % 3001 == 77 ? some_values()(i) * (0.0 / 0.0) : some_values()(i);
  }
};
template <class F>
struct from_index {
  F f;
  std::uint64_t begin;
  ONEFOLD_HOST_DEVICE auto operator()(std::uint64_t i) const { return f(begin + i); }
};
struct difference {
  const double* x;
  const float* y;
  ONEFOLD_HOST_DEVICE double operator()(std::uint64_t i) const { return x[i] - static_cast<double>(y[i]); }
};
struct at_a_place {
  const double* x;
  std::int64_t width;
  template <class I>
  ONEFOLD_HOST_DEVICE double operator()(I j, I i) const {
    return x[static_cast<std::int64_t>(j) * width + static_cast<std::int64_t>(i)];
  }
};

// Operators that commute and are associative, on values of 16, 24 and 64 bytes.
struct pair_of_numbers {
  double length;
  std::uint64_t index;
};
struct longer_of {
  ONEFOLD_HOST_DEVICE pair_of_numbers operator()(const pair_of_numbers& a, const pair_of_numbers& b) const {
    if (a.length != b.length) return a.length > b.length ? a : b;
    return a.index < b.index ? a : b;
  }
};
struct some_pairs {
  ONEFOLD_HOST_DEVICE pair_of_numbers operator()(std::uint64_t i) const { return {some_values()(i / 2), i}; }
};
struct three {
  double of[3];
};
struct sum_of_three {
  ONEFOLD_HOST_DEVICE three operator()(const three& a, const three& b) const {
    return {{a.of[0] + b.of[0], a.of[1] + b.of[1], a.of[2] + b.of[2]}};
  }
};
struct some_three {
  ONEFOLD_HOST_DEVICE three operator()(std::uint64_t i) const {
    return {{some_values()(i), some_values()(i + 1), some_values()(2 * i)}};
  }
};
struct eight {
  double of[8];
};
struct sum_of_eight {
  ONEFOLD_HOST_DEVICE eight operator()(const eight& a, const eight& b) const {
    eight made;
    for (int k = 0; k < 8; ++k) made.of[k] = a.of[k] + b.of[k];
    return made;
  }
};
struct some_eight {
  ONEFOLD_HOST_DEVICE eight operator()(std::uint64_t i) const {
    eight made;
    for (int k = 0; k < 8; ++k) made.of[k] = some_values()(8 * i + static_cast<std::uint64_t>(k));
    return made;
  }
};
struct larger_number {
  ONEFOLD_HOST_DEVICE double operator()(double a, double b) const { return a > b ? a : b; }
};
struct plain_sum {
  ONEFOLD_HOST_DEVICE float operator()(float a, float b) const { return a + b; }
};
struct some_present_floats {
  ONEFOLD_HOST_DEVICE onefold::maybe<float> operator()(std::uint64_t i) const {
    const float x = some_floats()(i);
    return x > 0 ? onefold::maybe<float>(x) : onefold::maybe<float>();
  }
};

std::vector<unsigned char> as_characters(const std::vector<std::byte>& bytes) {
  std::vector<unsigned char> all(bytes.size());
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size());
  return all;
}

class compared_states {
 public:
  compared_states(std::uint64_t begin, std::uint64_t count) : begin_(begin), count_(count) {}

  // The bytes of a state to which `add` has added values where it is told.
  template <class State, class Add>
  void compare(std::string name, const Add& add) {
    both_results now{std::move(name), {}, {}, {}};
    try {
      State on_gpu(begin_), on_cpu(begin_);
      add(on_gpu, onefold::cuda());
      add(on_cpu, onefold::serial());
      now.gpu = as_characters(on_gpu.bytes());
      now.cpu = as_characters(on_cpu.bytes());
    } catch (const std::exception& problem) {
      now.problem = problem.what();
    }
    all.push_back(std::move(now));
  }
  template <form What, class T, class A = onefold::accumulator_t<T, false>, class F>
  void form_of(std::string name, const F& f) {
    compare<onefold::range_state<What, T, A>>(std::move(name),
                                              [&](auto& state, const onefold::executor& where) { state.add(where, count_, f); });
  }
  template <class Value, class Op, class F>
  void own(std::string name, const F& f) {
    compare<onefold::own_range_state<Value, Op>>(std::move(name),
                                                 [&](auto& state, const onefold::executor& where) { state.add(where, count_, f); });
  }
  std::vector<both_results> all;

 private:
  std::uint64_t begin_;
  std::uint64_t count_;
};

template <class T>
void fill(const managed_array<T>& to, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) to.get()[i] = static_cast<T>(some_values()(i));
}

}  // namespace

std::vector<both_results> states_of_functions(std::uint64_t begin, std::uint64_t count) {
  compared_states states(begin, count);
  states.form_of<form::sum, double>("sum", some_values());
  states.form_of<form::sum, float>("sum of floats", some_floats());
  states.form_of<form::sum, float, double>("sum of floats in double", some_floats());
  states.form_of<form::sum, std::int32_t>("sum of integers", some_integers());
  states.form_of<form::prod, double>("prod", near_one());
  states.form_of<form::max, double>("max with a NaN", with_a_nan());
  states.form_of<form::mean, double>("mean with a NaN", with_a_nan());
  states.form_of<form::norm2, double>("norm2", some_values());
  states.form_of<form::norm1, float>("norm1", some_floats());
  states.form_of<form::count, std::uint32_t>("count", is_large());
  states.form_of<form::any, std::uint32_t>("any", is_large());
  states.form_of<form::bit_xor, std::int64_t>("bit_xor", few_integers());
  states.form_of<form::argmin, double>("argmin", some_values());
  states.form_of<form::argmax, std::int64_t>("argmax of equal ones", few_integers());
  states.form_of<form::argminmax, float>("argminmax", some_floats());
  states.form_of<form::minmax, std::int32_t>("minmax", some_integers());
  states.form_of<form::mean_variance, double>("mean_variance", some_values());
  states.form_of<form::mean_variance, float>("mean_variance of floats", some_floats());
  states.form_of<form::sum_of_squares, double>("sum_of_squares of some", some_present());
  states.form_of<form::min, double>("min of some", some_present());

  const managed_array<double> x(count);
  const managed_array<float> y(count);
  fill(x, count);
  fill(y, count);
  const auto of_array = [&](const char* name, auto state) {  // managed memory, which cuda() reads in its place
    states.compare<decltype(state)>(name, [&](auto& to, const onefold::executor& where) { to.add(where, x.get(), count); });
  };
  of_array("sum of an array", onefold::range_state<form::sum, double>());
  of_array("argminmax of an array", onefold::range_state<form::argminmax, double>());
  of_array("mean_variance of an array", onefold::range_state<form::mean_variance, double>());
  states.compare<onefold::range_state<form::dot, double>>(
      "dot of arrays", [&](auto& to, const onefold::executor& where) { to.add(where, x.get(), x.get(), count); });
  states.form_of<form::sum, double>("sum of a difference of arrays", difference{x.get(), y.get()});
  const double* const of_x = x.get();
  const auto half = [=] __host__ __device__(std::uint64_t i) { return of_x[i] / 2; };
  states.form_of<form::norm2, double>("norm2 of a lambda", half);
  states.own<double, larger_number>("an operator on a lambda", half);
  const std::int64_t rows = count < 40 ? 1 : 37, columns = static_cast<std::int64_t>(count) / rows;
  states.compare<onefold::range_state<form::sum, double>>("sum over a box", [&](auto& state, const onefold::executor& where) {
    state.add(where, onefold::box({0, rows}, {1, columns}), at_a_place{x.get(), columns});
  });

  states.compare<onefold::range_state<form::sum, double>>(
      "products of two types",
      [&](auto& state, const onefold::executor& where) { state.add_products(where, y.get(), x.get(), count); });

  const managed_array<std::int32_t> z(count);
  for (std::uint64_t i = 0; i < count; ++i) z.get()[i] = some_integers()(i);
  states.form_of<form::max, std::int32_t>("max of negated integers", negated_integers{z.get()});
  states.form_of<form::min, std::int32_t>("min of negated integers", negated_integers{z.get()});
  states.form_of<form::minmax, std::int32_t>("minmax of negated integers", negated_integers{z.get()});
  const auto* const numbers = reinterpret_cast<const std::uint32_t*>(z.get());
  states.form_of<form::max, std::uint32_t>("max of negated numbers", negated_numbers{numbers});
  states.form_of<form::min, std::uint32_t>("min of negated numbers", negated_numbers{numbers});
  states.own<std::int32_t, larger_integer>("an operator on negated integers", negated_integers{z.get()});

  states.compare<onefold::together_range_state<double, op::sum, op::min, op::max>>(
      "three operators", [&](auto& state, const onefold::executor& where) { state.add(where, count, some_values()); });
  states.compare<onefold::together_range_state<float, op::prod, op::sum>>(
      "two operators on floats", [&](auto& state, const onefold::executor& where) { state.add(where, count, some_floats()); });
  states.compare<onefold::together_range_state<std::int32_t, op::max, op::sum, op::min>>(
      "three operators on negated integers",
      [&](auto& state, const onefold::executor& where) { state.add(where, count, negated_integers{z.get()}); });

  states.own<pair_of_numbers, longer_of>("an operator on 16 bytes", some_pairs());
  states.own<three, sum_of_three>("an operator on 24 bytes", some_three());
  states.own<eight, sum_of_eight>("an operator on 64 bytes", some_eight());
  states.own<onefold::maybe<float>, plain_sum>("an operator on values of which some are there", some_present_floats());
  states.own<onefold::maybe<double>, op::sum>("a sum of some", some_present());
  states.compare<onefold::own_range_state<float, plain_sum>>(
      "an operator on an array", [&](auto& state, const onefold::executor& where) { state.add(where, y.get(), count); });
  return std::move(states.all);
}

std::vector<both_results> results_of_pieces(std::uint64_t count, int pieces) {
  std::vector<both_results> all;
  const auto compare = [&](const char* name, auto state, const auto& f, const auto& expected) {
    both_results now{name, {}, {}, {}};
    try {
      std::uint64_t begin = 0;
      for (int k = 0; k < pieces; ++k) {
        const std::uint64_t end = count * static_cast<std::uint64_t>(k + 1) / static_cast<std::uint64_t>(pieces);
        decltype(state) piece(begin);
        piece.add(k % 2 == 0 ? onefold::cuda() : onefold::openmp(2), end - begin, from_index<std::decay_t<decltype(f)>>{f, begin});
        state.append(piece);
        begin = end;
      }
      now.gpu = bytes_of(state.value());
      now.cpu = bytes_of(expected);
    } catch (const std::exception& problem) {
      now.problem = problem.what();
    }
    all.push_back(std::move(now));
  };
  const auto where = onefold::serial();
  compare("sum", onefold::range_state<form::sum, double>(), some_values(), onefold::sum(where, count, some_values()));
  compare("argmin", onefold::range_state<form::argmin, double>(), some_values(), onefold::argmin(where, count, some_values()));
  compare("mean_variance", onefold::range_state<form::mean_variance, float>(), some_floats(),
          onefold::mean_variance(where, count, some_floats()));
  compare("two operators", onefold::together_range_state<double, op::sum, op::max>(), some_values(),
          std::array<double, 2>{onefold::sum(where, count, some_values()), onefold::max(where, count, some_values())});
  compare("an operator on 24 bytes", onefold::own_range_state<three, sum_of_three>(), some_three(),
          onefold::transform_reduce(where, count, sum_of_three(), some_three()));
  return all;
}

namespace {

// The result of an array in parts that begin where `borders` says: each part's image by its own call, put together by a kernel of this unit.
template <class Make>
std::vector<unsigned char> joined_result(const Make& make, const std::vector<std::uint64_t>& borders, std::uint64_t total,
                                         std::size_t bytes) {
  using values = decltype(make(std::uint64_t{0}, total));
  const std::size_t parts = borders.size();
  const managed_array<std::uint64_t> all_borders(parts);
  std::copy(borders.begin(), borders.end(), all_borders.get());
  all_borders.get()[parts] = total;
  const auto count = [&](std::size_t p) { return all_borders.get()[p + 1] - borders[p]; };
  std::uint64_t most = 64;
  for (std::size_t p = 0; p < parts; ++p)
    most = std::max(most, onefold::detail::joined_part(values::sizes, borders[p], borders[p] + count(p)).bytes(values::sizes));
  const device_memory images(most * parts);
  const managed_array<unsigned char> result(bytes);
  for (std::size_t p = 0; p < parts; ++p)
    make(borders[p], count(p)).put_image(borders[p], count(p), images.as<unsigned char>() + p * most);
  make(0, total).put_result({images.as<unsigned char>(), all_borders.get(), static_cast<std::uint32_t>(parts), most}, result.get(),
                            cudaStreamLegacy);
  expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return {result.get(), result.get() + bytes};
}

template <class F>
auto behind(const F& f, std::uint64_t begin) {
  return from_index<F>{f, begin};
}

}  // namespace

std::vector<both_results> joined_results(const std::vector<std::uint64_t>& borders, std::uint64_t total) {
  using onefold::detail::index_line;
  using joined = onefold::detail::device_joined<true>;
  std::vector<both_results> all;
  const auto gpu = onefold::cuda();
  const auto one = onefold::serial();
  const auto compare = [&](const char* name, const auto& make, const auto& expected) {
    both_results now{name, {}, {}, {}};
    try {
      const auto wanted = expected();
      now.cpu.resize(sizeof(wanted));
      std::memcpy(now.cpu.data(), &wanted, sizeof(wanted));
      now.gpu = joined_result(make, borders, total, sizeof(wanted));
    } catch (const std::exception& problem) {
      now.problem = problem.what();
    }
    all.push_back(std::move(now));
  };
  const auto own = [&](const char* name, auto f, auto op, const auto& init) {
    compare(
        name,
        [&](std::uint64_t begin, std::uint64_t count) {
          auto later = behind(f, begin);
          return joined::of_own(gpu, index_line{count}, later, op, init);
        },
        [&] { return onefold::transform_reduce(one, total, onefold::host_only(op), onefold::host_only(f), init); });
  };
  own("an operator on 16 bytes", some_pairs(), longer_of(), pair_of_numbers{-2, 7});
  own("an operator on 24 bytes", some_three(), sum_of_three(), three{{0.5, 1, 2}});
  own("an operator on 64 bytes", some_eight(), sum_of_eight(), eight{{1, 2, 3, 4, 5, 6, 7, 8}});
  own("an operator on values of which some are there", some_present_floats(), plain_sum(), 0.25F);
  const auto named = [&](const char* name, auto form, auto f, auto... ddof) {
    using F = decltype(f);
    constexpr auto what = decltype(form)::value;
    using T = typename onefold::detail::values_of<index_line, F>::type;
    compare(
        name,
        [&](std::uint64_t begin, std::uint64_t count) {
          auto later = behind(f, begin);
          return joined::template of_form<what, T, false>(gpu, index_line{count}, later, sizeof...(ddof));
        },
        [&] { return onefold::detail::named_reduction<what>{}(one, total, onefold::host_only(f), ddof...); });
  };
  named("a mean of some", std::integral_constant<form, form::mean>(), some_present());
  named("a mean and variance of some floats", std::integral_constant<form, form::mean_variance>(), some_present_floats(),
        onefold::ddof{1});
  named("the extrema of some", std::integral_constant<form, form::minmax>(), some_present());
  named("a sum of some", std::integral_constant<form, form::sum>(), some_present_floats());
  bool are_there = false;
  for (std::uint64_t i = 0; i < total && !are_there; ++i) are_there = some_present()(i).present;
  if (are_there) named("the place of the least of some", std::integral_constant<form, form::argmin>(), some_present());
  return all;
}

std::string code_without_a_gpu() {
  try {
    onefold::range_state<form::sum, double>().add(onefold::cuda(), 5000, some_values());
  } catch (const onefold::error& problem) {
    return std::string(name(problem.code()));
  }
  return "none";
}

std::vector<refused_state> refused_states() {
  std::vector<refused_state> all;
  const auto refused = [&](const char* call, const char* expected, const auto& make) {
    refused_state one{call, "", expected};
    try {
      make();
    } catch (const onefold::error& problem) {
      one.sentence = std::string(name(problem.code())) + ": " + problem.what();
    }
    all.push_back(one);
  };
  onefold::range_state<form::sum, double> state;
  onefold::own_range_state<float, plain_sum> own;
  const std::vector<float> host(5000, 1.0F);
  refused("no such GPU", "backend_unavailable", [&] { state.add(onefold::cuda(1000), 5000, some_values()); });
  refused("no such GPU, of an operator", "backend_unavailable", [&] { own.add(onefold::cuda(1000), 5000, some_floats()); });
  refused("an array of the host's", "host_pointer", [&] { own.add(onefold::cuda(), host.data(), 5000); });
  refused("no array", "null_pointer", [&] { own.add(onefold::cuda(), static_cast<const float*>(nullptr), 5000); });
  const managed_array<float> floats(5001);
  const auto* const odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(floats.get()) + 1);
  refused("an array off its elements' boundary", "misaligned_pointer", [&] { own.add(onefold::cuda(), odd, 5000); });
  int devices = 0;
  cudaGetDeviceCount(&devices);
  float* elsewhere = nullptr;
  if (devices > 1 && cudaMalloc(&elsewhere, 5000 * sizeof(float)) == cudaSuccess) {
    refused("an array of another GPU", "wrong_device", [&] { own.add(onefold::cuda(1), elsewhere, 5000); });
    cudaFree(elsewhere);
  }
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  refused("exact", "guarantee_not_met", [&] { state.add(onefold::cuda(), 5000, some_values(), exactly); });
  refused("a function of the host's", "unsupported", [&] { state.add(onefold::cuda(), 5000, onefold::host_only(some_values())); });
  refused("an operator of the host's", "unsupported", [&] { own.add(onefold::cuda(), 5000, onefold::host_only(some_floats())); });
  onefold::together_range_state<double, op::sum, op::max> two;
  refused("several operators on the host's", "unsupported",
          [&] { two.add(onefold::cuda(), 5000, onefold::host_only(some_values())); });
  if (state.end() != 0 || own.end() != 0 || two.end() != 0) all.push_back({"a refused state", "has grown", "nothing"});
  return all;
}

}  // namespace onefold_test
