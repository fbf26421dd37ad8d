#pragma once
/// @file onefold.hpp  Everything a user needs: plain C++17, no CUDA and no Kokkos header.

#include <onefold/batch.hpp>
#include <onefold/box.hpp>
#include <onefold/catalogue.hpp>
#include <onefold/devices.hpp>
#include <onefold/error.hpp>
#include <onefold/exact.hpp>
#include <onefold/executor.hpp>
#include <onefold/maybe.hpp>
#include <onefold/multi_dot.hpp>
#include <onefold/operator_fault.hpp>
#include <onefold/operators.hpp>
#include <onefold/options.hpp>
#include <onefold/order.hpp>
#include <onefold/own_range_state.hpp>
#include <onefold/policy.hpp>
#include <onefold/range_state.hpp>
#include <onefold/reduce.hpp>
#include <onefold/results.hpp>
#include <onefold/transform.hpp>
#include <onefold/types.hpp>
#include <onefold/version.hpp>
#include <onefold/workspace.hpp>
