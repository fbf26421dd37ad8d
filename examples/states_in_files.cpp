// Parts of one array in processes that know nothing of each other: each leaves the state of its range in a file, and whoever has the files puts
// neighbours together, in whatever order they come, until one state is left. Its sum has the bits of the sum on one core.

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <onefold/onefold.hpp>
#include <onefold/range_state.hpp>
#include <string>
#include <vector>

namespace {

using state = onefold::range_state<onefold::form::sum, double>;

void write(const std::filesystem::path& file, const state& of) {
  const std::vector<std::byte> bytes = of.bytes();
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

state read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return state::from_bytes(bytes.data(), bytes.size());  // throws where the file is damaged
}

}  // namespace

int main() {  // NOLINT(bugprone-exception-escape): what onefold or the file system refuses ends this program with its sentence
  std::vector<double> x(1'000'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1);

  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("onefold-states-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::size_t cuts[] = {0, 123'456, 123'457, 500'000, 777'777, x.size()};
  for (std::size_t i = 0; i + 1 < std::size(cuts); ++i) {
    state part(cuts[i]);  // each of these might be a process, a job of a queue, a machine
    part.add(onefold::best(), x.data() + cuts[i], cuts[i + 1] - cuts[i]);
    write(folder / ("part" + std::to_string(i)), part);
  }

  std::vector<state> parts;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {  // in no order
    parts.push_back(read(file.path()));
    for (bool found = true; found;) {
      found = false;
      for (std::size_t i = 0; i < parts.size() && !found; ++i)
        for (std::size_t j = 0; j < parts.size() && !found; ++j)
          if (i != j && parts[i].end() == parts[j].begin()) {
            parts[i].append(parts[j]);
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(j));
            found = true;
          }
    }
    std::printf("%s read, %zu states\n", file.path().filename().c_str(), parts.size());
  }
  std::filesystem::remove_all(folder);

  const double one_core = onefold::sum(onefold::serial(), x);
  std::printf("of files  %.17g\none core  %.17g\n", parts[0].value(), one_core);
  return parts.size() == 1 && parts[0].value() == one_core ? 0 : 1;
}
