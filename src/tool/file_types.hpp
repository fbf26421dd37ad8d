#pragma once
/// @file file_types.hpp  How many element types files may hold: all that there are.

#include <onefold/types.hpp>

namespace onefold::tool {

inline constexpr int file_type_count = element_type_count
#define ONEFOLD_COMPLEX_TYPE(name, type, part) +1
#include <onefold/types.def>
    ;

}  // namespace onefold::tool
