#pragma once
/// @file complex.hpp  Reductions of complex numbers.

#include <cstdint>

#include <onefold/onefold.h>
#include <onefold/types.hpp>

namespace onefold::detail {

struct batch_in_progress;

/// Throws unsupported where there is no such form of complex numbers.
void check_complex_form(std::int32_t what, element_type type);

/// Runs a request whose type is ONEFOLD_C64 or ONEFOLD_C128. With a tree_value that is stored, of mean_variance those of both parts, and the output need
/// not be. Throws onefold::error and std::bad_alloc.
void reduce_complex(const onefold_request& asked, const onefold_options* how);

/// Whether a batch on a GPU has taken a request of complex numbers, for its launch; else it is to be run by reduce_complex(). What has a count, or the address
/// of an array, in memory is taken or refused. Throws onefold::error.
bool complex_in_batch(const onefold_request& asked, const onefold_options* how, batch_in_progress& batch);

/// put_exact_words() of sum, mean, mean_variance or dot of complex numbers: the states of the real and of the imaginary part, side by side. Throws as that.
void put_complex_exact_words(const onefold_request& asked, const onefold_options& how);

}  // namespace onefold::detail
