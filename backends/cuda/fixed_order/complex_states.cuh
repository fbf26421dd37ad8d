#pragma once
/// @file complex_states.cuh  Folds of complex numbers whose states are none: how many are not zero, and the moments of both parts. As folds of a user's.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/folds.hpp>

#include "../../complex.hpp"
#include "complex.hpp"

namespace onefold::cuda_backend {

/// The number of those that are not zero, or one byte that says whether it is right.
struct complex_count_result {
  using stored_in_parts = void;
  std::uint64_t number;
  bool is_byte;
  template <class Store>
  __device__ void store(const Store& store) const {
    if (is_byte)
      store(0, static_cast<std::uint8_t>(number));
    else
      store(0, number);
  }
};

/// count, all, any and none: one fold, which its object tells what to make of the count.
template <class T>
struct complex_count : complex_conclusion {
  static constexpr int inputs = 1;
  using element = onefold::detail::complex_of<T>;
  using value_type = std::uint64_t;
  using accumulator = std::uint64_t;
  using result = complex_count_result;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;

  __device__ std::uint64_t value(const element& z) const { return onefold::detail::is_nonzero(z) ? 1 : 0; }
  __device__ std::uint64_t combine(std::uint64_t a, std::uint64_t b) const { return a + b; }
  __device__ std::uint64_t neutral() const { return 0; }
  __device__ void conclude(const std::uint64_t* tree, std::uint64_t count, result* to) const {
    const std::uint64_t nonzero = tree == nullptr ? 0 : *tree;
    *to = {nonzero, false};
    if (shows_state || what == form::count) return;
    const bool holds = what == form::all ? nonzero == count : what == form::any ? nonzero != 0 : nonzero == 0;
    *to = {holds ? std::uint64_t{1} : 0, true};
  }
};

using onefold::detail::moments_of_parts;

template <class T>
struct complex_moments_result {
  using stored_in_parts = void;
  moments_of_parts tree;
  std::int64_t ddof;
  bool is_state;
  bool wide;
  template <class Store>
  __device__ void store(const Store& store) const {
    if (is_state) return store(0, tree);
    const auto real = onefold::detail::mean_and_variance(tree.real, ddof);
    const auto imaginary = onefold::detail::mean_and_variance(tree.imaginary, ddof);
    if (sizeof(T) < sizeof(double) && wide)
      store(0, onefold::detail::moments_of_complex<double>(real, imaginary));
    else
      store(0, onefold::detail::moments_of_complex<T>(real, imaginary));
  }
};

/// The moments of real parts beside those of imaginary ones, each as an array of its own has them, in lanes of T. `Alike`: in nodes that are combined
/// all lanes have as many rows.
template <class T, bool Alike>
struct moments_of_both {
  using of_part = onefold::detail::mean_variance_fold<T, Alike>;
  using parts = onefold::detail::complex_of<double>;
  static constexpr int inputs = 1;
  using element = onefold::detail::complex_of<T>;
  using value_type = T;
  using accumulator = moments_of_parts;
  using result = complex_moments_result<T>;
  static constexpr bool is_plain = false;
  static constexpr bool has_neutral = true;
  struct lane {
    typename of_part::lane real, imaginary;
  };

  __device__ parts value(const element& z) const { return {of_part::value(z.real), of_part::value(z.imaginary)}; }
  __device__ lane first(const parts& v) const { return {of_part::first(v.real), of_part::first(v.imaginary)}; }
  __device__ lane next(const lane& so_far, const parts& v, int row) const {
    return {of_part::next(so_far.real, v.real, row), of_part::next(so_far.imaginary, v.imaginary, row)};
  }
  __device__ accumulator close(const lane& of, int rows, std::uint64_t index, int lanes) const {
    return {of_part::close(of.real, rows, index, lanes), of_part::close(of.imaginary, rows, index, lanes)};
  }
  __device__ accumulator combine(const accumulator& a, const accumulator& b) const {
    return {of_part::combine(a.real, b.real), of_part::combine(a.imaginary, b.imaginary)};
  }
  __device__ accumulator neutral() const { return {of_part::neutral(), of_part::neutral()}; }
};

/// mean_variance.
template <class T>
struct complex_moments : complex_conclusion, moments_of_both<T, false> {
  // Without it every exchange of a whole tile had the divisions of unequal counts as a call, and what is kept across calls in memory.
  using of_whole_tiles = moments_of_both<T, true>;
  using typename moments_of_both<T, false>::accumulator;
  using typename moments_of_both<T, false>::result;

  complex_moments() = default;
  explicit complex_moments(const complex_conclusion& concluding) : complex_conclusion(concluding) {}

  __device__ void conclude(const accumulator* tree, std::uint64_t, result* to) const {
    *to = {tree == nullptr ? this->neutral() : *tree, ddof, shows_state, wide};
  }
};

}  // namespace onefold::cuda_backend
