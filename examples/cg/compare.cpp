/// @file compare.cpp  Every configuration in a process of its own, because the size of Kokkos's pool of threads is fixed once it has
/// started, and a table of what came out.

#include <sys/wait.h>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>

#include "run.hpp"

namespace cg {

namespace {

struct row {
  std::string_view library;
  std::string_view backend;
  int threads;  ///< 0 where there is no choice
};

// The first is what the others are compared with.
constexpr row rows[] = {{"onefold", "serial", 0}, {"onefold", "openmp", 1}, {"onefold", "openmp", 2},
                        {"onefold", "openmp", 7}, {"onefold", "cuda", 0},   {"kokkos", "kokkos", 1},
                        {"kokkos", "kokkos", 2},  {"kokkos", "kokkos", 7},  {"cublas", "cublas", 0}};

struct outcome {
  int status = 1;
  std::string said;  ///< what ran; after an error, the error
  std::vector<std::uint64_t> history;
};

std::string name_of(const row& which) {
  std::string name(which.library);
  if (which.library != which.backend) (name += ' ') += which.backend;
  if (which.threads > 0) (name += ' ') += std::to_string(which.threads);
  return name;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// This program, with the arguments of one configuration.
std::string command_for(const row& which, const settings& how) {
  std::string command;
  // Threads that spin while they wait take the processors from each other where there are fewer than threads.
  if (which.threads > 0) command = "OMP_NUM_THREADS=" + std::to_string(which.threads) + " OMP_WAIT_POLICY=passive ";
  char tolerance[32];
  std::snprintf(tolerance, sizeof tolerance, "%.17g", how.until.tolerance);
  return command + quoted(std::filesystem::read_symlink("/proc/self/exe").string()) + " --backend " + std::string(which.backend) +
         " --threads " + std::to_string(which.threads) + " --n " + std::to_string(how.n) + " --iterations " +
         std::to_string(how.until.iterations) + " --tolerance " + tolerance + " --hex - 2>&1";
}

// A line of 16 hexadecimal digits belongs to the history; any other is for people.
void take_line(std::string line, outcome& result) {
  while (!line.empty() && line.back() == '\n') line.pop_back();
  if (line.size() == 16 && line.find_first_not_of("0123456789abcdef") == std::string::npos)
    result.history.push_back(std::stoull(line, nullptr, 16));
  else if (!line.empty())
    result.said = line.starts_with("cg: ") ? line.substr(4) : line;
}

outcome run(const row& which, const settings& how) {
  outcome result;
  std::FILE* const output = popen(command_for(which, how).c_str(), "r");
  if (output == nullptr) throw std::runtime_error("a process for " + std::string(which.backend) + " could not be started");
  std::string line;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) {
    line += static_cast<char>(c);
    if (c != '\n') continue;
    take_line(line, result);
    line.clear();
  }
  take_line(line, result);
  const int ended = pclose(output);
  result.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
  if (result.status == 0 && result.history.empty()) result.status = 1;
  return result;
}

std::string against(const std::vector<std::uint64_t>& reference, const std::vector<std::uint64_t>& history) {
  for (std::size_t i = 0; i < std::min(reference.size(), history.size()); ++i)
    if (reference[i] != history[i]) return "no, first difference at iteration " + std::to_string(i);
  return reference.size() == history.size() ? "yes" : "no, another number of iterations";
}

void print_row(const row& which, const outcome& result, const std::vector<std::uint64_t>& reference) {
  const std::string name = name_of(which);
  const std::string verdict = &which == rows ? "(the reference)" : against(reference, result.history);
  if (result.status != 0) {
    std::printf("| %-16s | %s: %s |\n", name.c_str(), result.status == exit_unavailable ? "not run" : "**failed**",
                result.said.c_str());
    return;
  }
  std::printf("| %-16s | %10zu | %.16e | %016llx | %-36s | %s |\n", name.c_str(), result.history.size() - 1,
              std::bit_cast<double>(result.history.back()), static_cast<unsigned long long>(hash_of(result.history)),
              verdict.c_str(), result.said.substr(0, result.said.find(": ")).c_str());
}

}  // namespace

int compare_all(const settings& how) {
  std::printf("%d^3 cells, at most %d iterations\n\n", how.n, how.until.iterations);
  std::printf("| %-16s | iterations | %-22s | %-16s | %-36s | what ran |\n| --- | ---: | --- | --- | --- | --- |\n",
              "configuration", "last residual", "hash of history", "same bits as onefold serial");
  std::vector<std::uint64_t> reference;
  std::string differ;
  int onefold_ran = 0;
  int kokkos_ran = 0;
  std::set<std::vector<std::uint64_t>> kokkos_histories;
  for (const row& which : rows) {
    const outcome result = run(which, how);
    if (&which == rows) reference = result.history;
    print_row(which, result, reference);
    std::fflush(stdout);
    const bool ran = result.status == 0;
    if (which.library == "onefold") {
      onefold_ran += ran;
      if (ran ? result.history != reference : result.status != exit_unavailable || &which == rows)
        (differ += differ.empty() ? "" : ", ") += name_of(which);
    } else if (which.library == "kokkos" && ran) {
      ++kokkos_ran;
      kokkos_histories.insert(result.history);
    }
  }
  if (kokkos_ran > 0)
    std::printf("\nkokkos: %d configurations ran, %zu different histories\n", kokkos_ran, kokkos_histories.size());
  if (onefold_ran == 1 && differ.empty())
    std::printf("onefold: serial alone ran, so there is nothing to compare\n");
  else if (differ.empty())
    std::printf("onefold: %d configurations ran, all with the same bits\n", onefold_ran);
  else
    std::printf("onefold: WRONG: failed, or without the bits of serial: %s\n", differ.c_str());
  return differ.empty() ? 0 : 1;
}

}  // namespace cg
