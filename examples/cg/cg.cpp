/// @file cg.cpp  The command line: solves once, with the backend that was asked for, or compares all of them.

#include <bit>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <onefold/onefold.hpp>
#include <string_view>

#include "formulas.hpp"
#include "run.hpp"

namespace cg {

namespace {

constexpr const char* usage =
    "usage: cg [--backend serial|openmp|cuda|kokkos|cublas] [--threads K] [--hex FILE] [PROBLEM]\n"
    "       cg --compare [PROBLEM]\n"
    "\n"
    "Conjugate gradients for Poisson's equation on a cube; the dot products and norms are onefold's, or for contrast those of\n"
    "Kokkos::parallel_reduce or cuBLAS.\n"
    "  --backend    serial by default\n"
    "  --threads    of openmp and kokkos; all by default, which is OMP_NUM_THREADS where that is set\n"
    "  --hex        writes the bits of the residuals' norms, 16 digits a line, that of b first; - for standard output\n"
    "  --compare    runs all configurations, each in a process of its own, and says which have the same bits\n"
    "PROBLEM:\n"
    "  --n          cells along each side of the cube: 64\n"
    "  --iterations 60\n"
    "  --tolerance  stops when the residual is smaller than this part of b; looked at every tenth iteration; 0: never\n"
    "Exit status: 0; 1 after an error, or where onefold's configurations differ; 2 for a wrong command line; 77 where this build "
    "or\n"
    "this machine has no such backend.\n";

struct wrong_usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Number>
Number number(std::string_view option, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most))
    throw wrong_usage(std::string(option) + " does not take '" + std::string(text) + "'");
  return value;
}

struct command_line {
  settings how;
  std::string hex_file;
  bool compare = false;
  bool help = false;
};

command_line parse(std::span<char* const> words) {
  command_line asked;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view option = words[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == words.size()) throw wrong_usage(std::string(option) + " needs a value");
      return words[++i];
    };
    if (option == "--backend")
      asked.how.backend = value();
    else if (option == "--threads")
      asked.how.threads = number(option, value(), 0, 4096);
    else if (option == "--n")
      asked.how.n = number(option, value(), 1, 1024);  // cells are counted with an int
    else if (option == "--iterations")
      asked.how.until.iterations = number(option, value(), 0, 1'000'000);
    else if (option == "--tolerance")
      asked.how.until.tolerance = number(option, value(), 0.0, 1.0);
    else if (option == "--hex")
      asked.hex_file = value();
    else if (option == "--compare")
      asked.compare = true;
    else if (option == "--help" || option == "-h")
      asked.help = true;
    else
      throw wrong_usage("unknown option '" + std::string(option) + "'");
  }
  return asked;
}

/// What the solver is given. The reductions go first when it ends: they use the machine's stream.
struct configuration {
  std::unique_ptr<machine> on;
  std::unique_ptr<reductions> of;
};

configuration on_a_gpu([[maybe_unused]] const settings& how, [[maybe_unused]] std::size_t count) {
  onefold::synchronize(onefold::cuda());  // throws with the reason where onefold has no GPU
#ifdef CG_HAVE_CUDA
  auto gpu = first_gpu(how.n);
  const auto stream = gpu->stream();
  if (how.backend == "cuda") return {std::move(gpu), onefold_reductions(onefold::cuda(0, stream), count)};
#ifdef CG_HAVE_CUBLAS
  return {std::move(gpu), cublas_reductions(stream)};
#else
  throw unavailable("this cg was built without cuBLAS");
#endif
#else
  throw unavailable("this cg was built without its CUDA part");
#endif
}

configuration configure(const settings& how, std::size_t count) {
  if (how.backend == "serial") return {host_machine(how.n, 1), onefold_reductions(onefold::serial(), count)};
  if (how.backend == "openmp") return {host_machine(how.n, how.threads), onefold_reductions(onefold::openmp(how.threads), count)};
  if (how.backend == "cuda" || how.backend == "cublas") return on_a_gpu(how, count);
#ifdef CG_HAVE_KOKKOS
  if (how.backend == "kokkos") return {host_machine(how.n, how.threads), kokkos_reductions(how.threads)};
#else
  if (how.backend == "kokkos") throw unavailable("this cg was built without Kokkos");
#endif
  throw wrong_usage("there is no backend '" + how.backend + "'");
}

void write_hex(std::span<const std::uint64_t> history, std::ostream& out) {
  char line[18];
  for (const std::uint64_t bits : history) {
    std::snprintf(line, sizeof line, "%016llx\n", static_cast<unsigned long long>(bits));
    out << line;
  }
}

void solve(const settings& how, const std::string& hex_file) {
  std::vector<double> b(static_cast<std::size_t>(how.n) * static_cast<std::size_t>(how.n) * static_cast<std::size_t>(how.n));
  for (std::size_t cell = 0; cell < b.size(); ++cell) b[cell] = right_hand_side(static_cast<int>(cell));

  const configuration use = configure(how, b.size());
  const std::vector<double> residuals = conjugate_gradients(*use.on, *use.of, b, how.until);

  std::vector<std::uint64_t> history;
  history.reserve(residuals.size());
  for (const double norm : residuals) history.push_back(std::bit_cast<std::uint64_t>(norm));
  std::printf("%s: %zu iterations, last residual %.16e, history %016llx\n", use.of->description().c_str(), residuals.size() - 1,
              residuals.back(), static_cast<unsigned long long>(hash_of(history)));
  std::fflush(stdout);
  if (hex_file == "-") write_hex(history, std::cout);
  if (hex_file.empty() || hex_file == "-") return;
  std::ofstream file(hex_file);
  write_hex(history, file);
  if (!file.flush()) throw std::runtime_error("could not write " + hex_file);
}

}  // namespace

}  // namespace cg

int main(int count, char** words) {
  try {
    const auto asked = cg::parse({words, static_cast<std::size_t>(count)});
    if (asked.help) {
      std::cout << cg::usage;
      return 0;
    }
    if (asked.compare) return cg::compare_all(asked.how);
    cg::solve(asked.how, asked.hex_file);
    return 0;
  } catch (const cg::wrong_usage& problem) {
    std::cerr << "cg: " << problem.what() << "\n\n" << cg::usage;
    return 2;
  } catch (const cg::unavailable& problem) {
    std::cerr << "cg: " << problem.what() << "\n";
    return cg::exit_unavailable;
  } catch (const onefold::error& problem) {
    std::cerr << "cg: " << problem.what() << "\n";
    const bool not_here =
        problem.code() == onefold::errc::backend_not_built || problem.code() == onefold::errc::backend_unavailable;
    return not_here ? cg::exit_unavailable : 1;
  } catch (const std::exception& problem) {
    std::cerr << "cg: " << problem.what() << "\n";
    return 1;
  }
}
