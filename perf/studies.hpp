#pragma once
/// @file studies.hpp  The studies of onefold-perf: each prints its table, shows its progress on standard error and returns its record.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

namespace onefold::perf {

struct study_options {
  std::vector<std::string> command;  ///< as typed
  element_type type = element_type::f32;
  operation op = operation::sum;
  form what = form::sum;                         ///< cpu
  std::uint64_t count = std::uint64_t{3} << 22;  ///< the seeds' size
  int device = 0;
  int repeats = 30;
  int block_size = 0;                   ///< 0: each variant's own
  std::vector<std::string> variants;    ///< empty: all
  bool finishes = false;                ///< ladder: with every finish that a variant has
  std::string threads;                  ///< cpu, peers and folds: "1", "all", or empty for both
  std::vector<std::string> cases;       ///< folds: empty: all
  std::uint64_t offset = 0;             ///< cpu: elements from the boundary of a cache line to the arrays' begin
  int spread = 0;                       ///< cpu: the elements' exponents are spread over so many on either side of 0
  int first_power = 10;                 ///< sweep and cpu: n = 2^first_power ...
  int last_power = 30;                  ///< ... to 2^last_power
  bool both_bins = false;               ///< exact: with bins of doubles and of integers
  bool quick = false;                   ///< fewer sizes: the whole suite in a minute on a GPU
  std::string save = "onefold.policy";  ///< tune: the policy's file
};

/// Every variant on one array, in learning order, against the measured read limit.
nlohmann::json gpu_ladder(const study_options& how, const device_info& gpu);

/// A plain loop, std::reduce and the CPU backends, against the measured read limit.
nlohmann::json cpu_ladder(const study_options& how);

/// Tree v1 on the CPU, the best order-free loop, Kokkos and std::reduce from small to large n, in turn.
nlohmann::json cpu_sizes(const study_options& how);

/// Chosen variants (the default and its peer) from small to large n, cold and hot, in one process.
nlohmann::json sweep(const study_options& how, const device_info& gpu);

/// Every form on one array, aligned and one element off, against the measured read limit of as many bytes.
nlohmann::json forms(const study_options& how, const device_info& gpu);

/// Small arrays: in stream, and to a value on the host, by the default variant and its peer.
nlohmann::json latency(const study_options& how, const device_info& gpu);

/// Several results, functions of the index and operators of the caller's own, against the measured read limit and CUB.
nlohmann::json fused(const study_options& how, const device_info& gpu);

/// Exact sums, against the measured read limit and the default.
nlohmann::json exact(const study_options& how, const device_info& gpu);

/// Sums of arrays in host memory on a GPU, against a copy of the same bytes.
nlohmann::json host_arrays(const study_options& how, const device_info& gpu);

/// States of ranges on a GPU, by where they begin, against reductions of as many elements.
nlohmann::json ranges(const study_options& how, const device_info& gpu);

/// One array on all GPUs, against one part on its GPU.
nlohmann::json devices(const study_options& how, const device_info& gpu);

/// Searches the launch policy of a GPU, and writes it to how.save.
nlohmann::json tune(const study_options& how, const device_info& gpu);

/// What a user would pick instead of onefold, on the CPU and, where `gpu` is not null, on the GPU, side by side with it; the sizes between
/// first_power and last_power of the study's own.
nlohmann::json peers(const study_options& how, const device_info* gpu);

/// Several results, functions of the index, operators of the user's, flags and small types on the CPU, beside loops by hand, in turn.
nlohmann::json folds(const study_options& how);

/// Calls of serial() on few elements: one, with a CUDA driver in the process, and from several threads at once, beside a loop by hand.
nlohmann::json calls(const study_options& how);

/// onefold, OpenMP's loop, Kokkos and a bare read with one thread, two, and so on to all.
nlohmann::json scaling(const study_options& how);

}  // namespace onefold::perf
