/// @file the_study.cpp  Which study a program is: compiled once for each, with its name as ONEFOLD_STUDY.

#include "study.hpp"

namespace onefold::perf::memory {

extern const study ONEFOLD_STUDY;
const study& the_study() { return ONEFOLD_STUDY; }

}  // namespace onefold::perf::memory
