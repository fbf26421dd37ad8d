#pragma once
/// @file modifiers.hpp  What may stand between the data and the options of a call: accumulate_as, ddof and count_at; and array_at, in the place of an array.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold {

/// Asks for another type to accumulate in: `sum(x, accumulate_as<double>)` of floats adds doubles and returns one. Double for float, float16 and
/// bfloat16, in every form that rounds, and std::complex<double> for std::complex<float>, also where the result is real; 64 bits for integers of 32, in those
/// that add or multiply; in these for integers of 1 and 2 bytes their own type too, in which they wrap: the lowest bytes of the result that has 64 bits. Dots
/// of two types: double where both become floats, std::uint64_t for std::int32_t with std::uint32_t. The type that is accumulated in anyway may be named too:
/// float for the floats of two bytes, 64 bits for small integers.
template <class A>
struct accumulate_as_t {
  static_assert(
      is_accumulator<A>,
      "accumulate_as takes a type that sums keep: double, say, or std::int64_t, or the elements' own where these are integers of 1 "
      "or 2 bytes; sums of bools and of floats of 2 bytes have a wider one");
};
template <class A>
inline constexpr accumulate_as_t<A> accumulate_as{};

/// What mean_variance takes from the count before it divides by it: 0 (the default) for the variance of the data, 1 for an unbiased estimate.
struct ddof {
  std::int64_t value;
};

/// Where the number of elements stands, in memory that the executor reads: `sum(where, x, most, count_at{n})`. The count that the call is given, or the
/// range's size, is then the most that it may be. On cuda() it is read when the reduction begins, in stream order, so that kernels ahead of it, or of
/// a graph, may write it; more than `most` counts as `most`; of exact sums that wait, and those of complex numbers, the host reads it first, and *_into calls of the latter are
/// unsupported; nor is it in reduce_together, which C has with one. Of 0 elements forms with an index are invalid_argument; their *_into calls on cuda() store the value 0 and the index 2^64 - 1. On a CPU it is read
/// in the call, and more than `most` is invalid_argument. Elements behind the count are not read. Cost: as for `most` elements at most; on cuda() arrays of more than 16 MiB are read
/// slower than with a count of the host's: floats and doubles in forms with one result, complex numbers, and small elements in all forms but products, places, mean_variance and
/// reduce_together somewhat, all else up to several times.
struct count_at {
  const std::uint64_t* place;
};

/// Where the address of an array stands, in memory that the executor reads, in the place of the array: `sum(where, array_at{place}, n)`, and
/// `dot(where, array_at{place}, y, n)` of one or two such arrays; in a batch too, and with count_at. The array begins at an element's alignment. On cuda() the
/// address is read when the reduction begins, in stream order, so that kernels ahead of it, or of a graph, may choose the array, in memory that the GPU reads;
/// of exact sums the host reads it first, and *_into calls and batches are unsupported. Complex numbers may begin at the alignment of their parts. An address that is null or off that alignment is null_pointer in a call that
/// waits; an *_into call on cuda() sets all bits of its result then, which of no type but integers is a number that a reduction gives. What else cannot be read ends the context, as
/// in any kernel. On a CPU the address is read in the call, and errors are those of a pointer. Of 0 elements it is not read. Cost: on cuda() as in a batch;
/// arrays of more than 16 MiB are read slower than by their address, as with count_at.
template <class T>
struct array_at {
  static_assert(is_element<T>, "array_at takes the address of a pointer to elements of a type that onefold knows");
  const T* const* place;
};
template <class T>
array_at(T* const*) -> array_at<std::remove_const_t<T>>;

namespace detail {

template <class M>
struct accumulator_of {};  // of a ddof there is none
template <class A>
struct accumulator_of<accumulate_as_t<A>> {
  static constexpr element_type type = element_type_of<A>;
};

template <class M>
inline constexpr bool is_modifier = false;
template <>
inline constexpr bool is_modifier<ddof> = true;
template <>
inline constexpr bool is_modifier<count_at> = true;
template <class A>
inline constexpr bool is_modifier<accumulate_as_t<A>> = true;

/// Whether a modifier asks for the other of the types that elements of type T can be accumulated in.
template <class M, class T>
constexpr bool is_wide() {
  if constexpr (std::is_same_v<M, ddof> || std::is_same_v<M, count_at>)
    return false;
  else
    return accumulator_of<M>::type != accumulator_type(element_type_of<T>);
}

template <form What, class T, class M>
constexpr bool takes_modifier() {
  if constexpr (!is_modifier<M>) {
    return false;
  } else if constexpr (std::is_same_v<M, ddof>) {
    return What == form::mean_variance;
  } else if constexpr (std::is_same_v<M, count_at>) {
    return true;
  } else {
    constexpr element_type type = element_type_of<T>;
    if (accumulator_of<M>::type == accumulator_type(type))
      return part_type(result_type(type, What)) == part_type(accumulator_type(type)) && !is_arg(What);
    return can_be_wide(type, What) && accumulator_of<M>::type == accumulator_type(type, true) && !std::is_same_v<T, bool>;
  }
}

/// Whether a form of elements of type T takes these modifiers.
template <form What, class T, class... M>
constexpr bool takes() {
  if constexpr (!is_element<T>) {
    return false;
  } else if constexpr (!takes_type(What, element_type_of<T>)) {
    return false;
  } else {
    constexpr int ddofs = (0 + ... + (std::is_same_v<M, ddof> ? 1 : 0));
    constexpr int counts = (0 + ... + (std::is_same_v<M, count_at> ? 1 : 0));
    return (takes_modifier<What, T, M>() && ...) && ddofs <= 1 && counts <= 1 &&
           static_cast<int>(sizeof...(M)) - ddofs - counts <= 1;
  }
}

/// Whether none of them is a count_at, which arrays alone have.
template <class... M>
inline constexpr bool counts_on_host = !(std::is_same_v<M, count_at> || ...);

/// Whether it takes arrays whose addresses stand in memory.
template <form What, class T, class... M>
constexpr bool takes_at() {
  return takes<What, T, M...>();
}

template <form What, class T, class... M>
using form_result_t = result_of_form<What, T, (is_wide<M, T>() || ...)>;

inline void apply_count(request& to, count_at of) {
  if (of.place == nullptr)
    telling_of_lacking_memory([] { throw error(errc::null_pointer, "the address of the count is a null pointer"); });
  to.count_at = of.place;
}

template <class T, class A>
void apply(request& to, accumulate_as_t<A>) {
  to.wide = is_wide<accumulate_as_t<A>, T>();
}
template <class T>
void apply(request& to, ddof of) {
  to.ddof = of.value;
}
template <class T>
void apply(request& to, count_at of) {
  apply_count(to, of);
}

}  // namespace detail
}  // namespace onefold
