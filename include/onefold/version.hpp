#pragma once
/// @file version.hpp  The version of onefold. CMake reads it from here, so it stands in one place.

#define ONEFOLD_VERSION_MAJOR 0
#define ONEFOLD_VERSION_MINOR 1
#define ONEFOLD_VERSION_PATCH 0
#define ONEFOLD_VERSION_STRING "0.1.0"
