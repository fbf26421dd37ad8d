#pragma once
/// @file device.cuh  The calls of onefold.hpp that take functions of the caller's, on cuda() too: for translation units that nvcc compiles (12.4 or newer, C++17
/// or newer).
///
/// In a translation unit that includes this header, functions of the index and operators are compiled for the device as well as for the host:
///
///   onefold::sum(onefold::cuda(), n, [=] __host__ __device__(std::uint64_t i) { return a[i] * b[i]; })      with nvcc --extended-lambda
///
/// or a struct whose operator() is __host__ __device__. They are copied to the device byte by byte, so they capture by value, and what they point to is
/// memory of the device. One for the host alone goes through onefold::host_only(f). Values may be left out by onefold::maybe.
///
/// Below that there are fold objects, of which those calls are made. One is an object, which its kernels get by value. It has
///
///   inputs                  static int: how many arrays, 0 to 3; without one it reduces a function of the index
///   element, or input<k>    the type of the elements of all arrays, or of array k
///   value_type              what is reduced, 1 to 64 bytes: its size decides the lanes (docs/order.md)
///   value(x[, y[, z]])      the value of an element, or of one of each array; without inputs value(i) of a std::uint64_t. If it returns a
///                           maybe<value_type>, values may be absent
///   accumulator             what a node of the tree is: trivially copyable, at most 1 KiB, constructible by default on the device
///   combine(a, b)           (+) of two accumulators: commutative, and associative up to rounding
///   has_neutral, neutral()  an accumulator that changes no other. Without one the library keeps beside each node whether it is there
///   result, conclude(p, n, to)   stores the result of n elements at `to`; the tree's accumulator is at p, which is null where nothing was
///                           there. A result has at most 1 KiB
///   is_plain                false where a lane keeps something else than an accumulator: then also
///   lane, first(v), next(lane, v, row), close(lane, rows, index, lanes)   as in onefold/detail/folds.hpp, of values that are there;
///                           first(v, row) instead, if the fold has it, is told in which row the lane begins, and `rows` are how many were there
///   reads_many              true where a function of the index reads so many arrays (six and more) that its threads need all the registers
///                           that there are; else, with several results, twice as many threads share them
///
/// All of them are called on the device alone. Of the library's own arithmetic the rounding is spelled out; of a fold's it is as nvcc is told:
/// the tree is promised, not what the compiler makes of a product and a sum (-fmad=false).

#include <onefold/device/calls.cuh>
#include <onefold/device/fold_maker.cuh>
