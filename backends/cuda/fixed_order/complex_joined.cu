/// @file complex_joined.cu  The kernels that put images of complex numbers together, by the folds that the kernel of batches has of them.

#include "complex_joined.hpp"

#include "complex_batched.cuh"
#include "joined_kernel.cuh"

namespace onefold::cuda_backend {

namespace detail {

namespace {

constexpr int rows_at_once = order::tile_rows / 2;  // of a thread, whose registers hold no more pairs of c128

// Half of a lane's elements of the tile, of one of its arrays. They are loaded into registers, all ahead of the first use.
template <class E>
__device__ inline void gather_rows(const joined_table& table, const joined_memory& shared, std::uint32_t first, std::uint32_t last,
                                   std::uint64_t tile, int inputs, int which, int place, int lanes, E (&to)[rows_at_once]) {
  const int log_tile = table.conversion.log_tile;
#pragma unroll
  for (int r = 0; r < rows_at_once; ++r) to[r] = E{};
#pragma unroll 1
  for (std::uint32_t part = first; part <= last; part += 2) {
    const joined_pieces from = two_pieces(table, shared, part, last, log_tile, tile, sizeof(E), inputs);
    const auto* const x = reinterpret_cast<const E*>(from.x[0] + (which == 1 ? from.y_behind[0] : 0));
    const auto* const behind_split = reinterpret_cast<const E*>(from.x[1] + (which == 1 ? from.y_behind[1] : 0));
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      const int at = place + r * lanes;
      if (at >= from.begin && at < from.end) to[r] = (at >= from.split ? behind_split : x)[at];
    }
  }
}

}  // namespace

/// A fold of complex numbers, which are read as they are.
template <class Fold>
struct joined_complex {
  using accumulator = typename Fold::accumulator;
};

// Its combination, which has no data, as the folds of real numbers are.
template <class C>
struct complex_combination_of_images {
  using accumulator = typename C::accumulator;
  static __device__ accumulator combine(const accumulator& a, const accumulator& b) { return C{}.combine(a, b); }
  static __device__ accumulator neutral() { return C{}.neutral(); }
};
template <class Fold>
struct family_of_joined<joined_family<joined_complex<Fold>>> {
  using combination = complex_combination_of_images<complex_combination_of<Fold>>;
};

// A product's tree knows that it has a value.
template <class T>
struct joined_value<maybe<complex_of<T>>> {
  using A = maybe<complex_of<T>>;
  static constexpr bool has_place = false;
  static __device__ A of(const unsigned char* image, const joined_conversion&) {
    return {*reinterpret_cast<const complex_of<T>*>(image), true};
  }
  static __device__ A placed(const A& value, std::uint64_t, std::uint64_t) { return value; }
};

template <class C>
struct result_of_joined<complex_combination_of_images<C>> {
  static __device__ __noinline__ void store(const typename C::accumulator& value, std::uint64_t count, const joined_table& table) {
    results_in_batch<C>::store(value, count, table.to);
  }
};

// The value of a tile that is cut, as of an array that begins with it; in all threads of the warp.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator joined_tile(joined_complex<Fold>, const joined_table& table,
                                                               const joined_memory& shared, std::uint32_t first, std::uint32_t last,
                                                               std::uint64_t tile) {
  using A = typename Fold::accumulator;
  using E = typename Fold::element;
  static_assert(sizeof(A) <= most_complex_state_bytes && (sizeof(A) <= 24 || !Fold::is_plain));
  constexpr int L = device::lanes<Fold>;
  static_assert(L <= 2 * device::warp_size);
  const int count = place_in_tile(shared.borders[last + 1], tile, table.conversion.log_tile);
  const auto warp_lane = static_cast<int>(threadIdx.x % device::warp_size);
  const Fold its{};
  const auto node_of = [&](int begin) {
    device::lane_t<Fold> so_far{};
    const int rows = begin >= count || begin >= L ? 0 : ::min((count - begin - 1) / L + 1, order::tile_rows);
#pragma unroll 1
    for (int row = 0; row < rows; row += rows_at_once) {
      E x[rows_at_once], y[rows_at_once];
      gather_rows(table, shared, first, last, tile, Fold::inputs, 0, row * L + begin, L, x);
      if constexpr (Fold::inputs == 2) gather_rows(table, shared, first, last, tile, Fold::inputs, 1, row * L + begin, L, y);
#pragma unroll
      for (int r = 0; r < rows_at_once; ++r) {
        if (row + r >= rows) continue;
        const auto one = [&] {
          if constexpr (Fold::inputs == 2)
            return its.value(x[r], y[r]);
          else
            return its.value(x[r]);
        }();
        so_far = row + r == 0 ? device::first_of_lane(its, one, 0) : device::next_of_lane(its, so_far, one, row + r);
      }
    }
    return rows > 0 ? device::node_of_lane(its, so_far, rows, static_cast<std::uint64_t>(begin)) : its.neutral();
  };
  A node = node_of(warp_lane);
  if constexpr (L > device::warp_size) node = its.combine(node, node_of(device::warp_size + warp_lane));
#pragma unroll 1
  for (int distance = (L < device::warp_size ? L : device::warp_size) / 2; distance > 0; distance /= 2)
    node = its.combine(node, device::exchange(node, distance));
  return node;
}

template <class... Folds>
using families_of_complex = fold_list<joined_family<joined_complex<Folds>>...>;
template <class T>
using joined_complex_of =
    families_of_complex<complex_in_batch<T, onefold::detail::identity_function, onefold::detail::complex_sum>,
                        complex_in_batch<T, onefold::detail::identity_function, onefold::detail::complex_product>,
                        complex_in_batch<T, onefold::detail::conjugated_product, onefold::detail::complex_sum>,
                        complex_in_batch<T, onefold::detail::modulus, onefold::detail::operator_function<op::sum>>,
                        complex_in_batch<T, onefold::detail::modulus, onefold::detail::operator_function<op::max>>,
                        device::own_fold<complex_nonzero<T>>, device::own_fold<moments_of_complex_numbers<T>>>;
struct joined_complex_singles : joined_complex_of<float> {};
struct joined_complex_doubles : joined_complex_of<double> {};
struct joined_wide_complex
    : families_of_complex<wide_complex_in_batch<onefold::detail::identity_function, onefold::detail::complex_sum>,
                          wide_complex_in_batch<onefold::detail::identity_function, onefold::detail::complex_product>,
                          wide_complex_in_batch<onefold::detail::conjugated_product, onefold::detail::complex_sum>,
                          wide_complex_in_batch<onefold::detail::modulus_in_double, onefold::detail::operator_function<op::sum>>> {
};

template const void* joined_kernel_of<joined_complex_singles>() noexcept;
template const void* joined_kernel_of<joined_complex_doubles>() noexcept;
template const void* joined_kernel_of<joined_wide_complex>() noexcept;

}  // namespace detail

}  // namespace onefold::cuda_backend
