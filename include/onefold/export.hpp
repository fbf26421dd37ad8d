#pragma once
/// @file export.hpp  Marks what a shared library shows; everything else is hidden.

#define ONEFOLD_EXPORT __attribute__((visibility("default")))
