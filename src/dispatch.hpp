#pragma once
/// @file dispatch.hpp  What stands behind onefold_reduce().

#include <cstddef>
#include <cstdint>
#include <string>

#include <onefold/detail/request.hpp>
#include <onefold/options.hpp>

namespace onefold::detail {

/// Validates, chooses and runs; where best() was asked for, `what` then says where that was. Throws onefold::error and std::bad_alloc.
void dispatch(request& what, const options& how);

/// onefold_reduce() of a dot whose arrays are the parts of complex numbers, `asked.count` of them; stores the real and the imaginary part, correctly
/// rounded. Throws as dispatch().
void reduce_complex_parts(const onefold_request& asked, const onefold_options* how);

/// Puts the words of the state of a form of real numbers in the memory of a GPU, the one of the executor, at `asked.output`, in stream order; of both parts of
/// complex numbers, whose fold the request has, those of two states. Throws as dispatch().
void put_exact_words(const onefold_request& asked, const onefold_options& how);
/// The same of two states for reduce_complex_parts().
void put_exact_words_of_parts(const onefold_request& asked, const onefold_options& how);

struct batch_in_progress;
struct tree_nodes;

/// Checks the pointers of a request of a batch. Returns whether the batch has taken it; else it is to be dispatched. Throws as dispatch(). With
/// `nodes` it means nodes over its array.
bool dispatch_to_batch(request& what, batch_in_progress& batch, const tree_nodes* nodes = nullptr);

/// Refuses what a GPU has stored as the place of no elements, in a call whose count stood in memory: an index that no element has. Of one of the
/// forms with one place; throws invalid_argument.
void check_counted_place(form what, const void* result);

/// Refuses what a GPU has stored as the result of an array whose address it has read and cannot follow (onefold_request::input_at): all bits are set. Of
/// results that integers may be, the addresses are read again to know. The call, or its batch, has waited. Throws null_pointer.
void refuse_unread_array(const onefold_request& what, const void* result, std::size_t bytes);

/// Whether the number of elements, or the address of an array, stands in memory.
inline bool has_something_in_memory(const onefold_request& what) noexcept {
  return what.count_at != nullptr || what.input_at != nullptr || what.second_at != nullptr;
}
/// Whether a GPU reduces arrays, which the request then names: with best() the one that has them.
bool is_for_gpu(onefold_request& what);

/// What stands in memory that an executor of the host's reads: a number of elements that is at most `most`, or the address of an array. Throws invalid_argument, and
/// device_pointer for what that executor cannot read.
std::uint64_t count_in_memory(const std::uint64_t* place, std::uint64_t most, backend where);
const void* address_in_memory(const void* const* place, const char* role, backend where);
/// Both for all that a request of a CPU executor's has there, which it then has no more.
void read_memory_of_host(onefold_request& what);

/// The same from a GPU's memory, behind all that its stream has been given, for calls that wait: more than the request's count counts as that. Throws null_pointer for
/// an address that no kernel could follow, and what the backend does for places that the GPU cannot read.
void read_memory_of_gpu(onefold_request& what);

/// Throws invalid_argument where one of them is negative.
void check_shape(std::int64_t block_size, std::int64_t grid_size, std::int64_t width);

/// Throws device_pointer where a call that waits cannot store what it is asked for.
void check_result_of_host(const void* output, const void* exact_state);

/// No array is larger than half of the address space: a count beyond that is a negative number, or one in bytes gone wrong, and throws
/// onefold::error.
void check_count(std::uint64_t count, std::size_t element_bytes);
constexpr bool can_be_count(std::uint64_t count, std::size_t element_bytes) noexcept {
  return count <= (~std::uint64_t{0} >> 1) / element_bytes;
}

/// Whether results and an array share a byte.
inline bool overlaps(const void* output, std::size_t output_bytes, const void* array, std::size_t array_bytes) noexcept {
  const auto to = reinterpret_cast<std::uintptr_t>(output);
  const auto from = reinterpret_cast<std::uintptr_t>(array);
  return to < from + array_bytes && from < to + output_bytes;
}

/// What the address of a result is a multiple of: a power of two.
constexpr std::size_t result_alignment(element_type type, form what, bool wide) noexcept {
  return has_index(what) ? alignof(std::uint64_t) : size_of(part_type(result_type(type, what, wide)));
}

[[noreturn]] void refuse_overlap(const std::string& role);
[[noreturn]] void refuse_misaligned_output();
/// `alignment`: a power of two.
inline void check_output_alignment(const void* output, std::size_t alignment) {
  if ((reinterpret_cast<std::uintptr_t>(output) & (alignment - 1)) != 0) refuse_misaligned_output();
}
/// `role`: "input" or "second input", of `count` elements.
[[noreturn]] void refuse_null_array(const std::string& role, std::uint64_t count);

}  // namespace onefold::detail
