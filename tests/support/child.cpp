#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

extern char** environ;

namespace onefold_test {

namespace {

struct pipe_pair {
  int ends[2];
  pipe_pair() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
  ~pipe_pair() {
    close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
  }
  void close_writing_end() {
    close(ends[1]);
    ends[1] = -1;
  }
};

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : changes) replaced = replaced || text.starts_with(name + "=");
    if (!replaced) all.push_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::string neighbour(const std::string& name) {
  char path[4096];
  const auto length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) throw std::runtime_error("/proc/self/exe cannot be read");
  std::string self(path, static_cast<std::size_t>(length));
  return self.substr(0, self.rfind('/') + 1) + name;
}

child_result run_child(const std::vector<std::string>& arguments,
                       const std::vector<std::pair<std::string, std::string>>& environment, int limit_seconds) {
  using clock = std::chrono::steady_clock;
  pipe_pair out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  auto words = arguments;
  auto variables = environment_with(environment);
  auto argv = pointers_to(words);
  auto envp = pointers_to(variables);
  pid_t process = 0;
  const auto begin = clock::now();
  const int failure = posix_spawn(&process, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot start " + arguments.at(0));
  out.close_writing_end();
  err.close_writing_end();

  child_result result;
  pollfd sources[] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
  std::string* texts[] = {&result.out, &result.err};
  int open = 2;
  while (open > 0) {
    const auto left = std::chrono::seconds(limit_seconds) - (clock::now() - begin);
    const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    if (left_ms <= 0) {
      result.timed_out = true;
      kill(process, SIGKILL);
      break;
    }
    if (poll(sources, 2, static_cast<int>(left_ms)) <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (sources[i].fd < 0 || sources[i].revents == 0) continue;
      char buffer[4096];
      const auto got = read(sources[i].fd, buffer, sizeof(buffer));
      if (got > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(got));
      } else {
        sources[i].fd = -1;  // poll leaves it out
        --open;
      }
    }
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return result;
}

}  // namespace onefold_test
