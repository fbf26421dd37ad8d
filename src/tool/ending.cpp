#include "ending.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

namespace onefold::tool {

namespace {

bool ending_as_it_should = false;

[[noreturn]] void end_at_once(std::string_view sentence) noexcept {
  print_error(sentence);
  ::_exit(failure);
}

[[noreturn]] void on_terminate() {
  if (const std::exception_ptr problem = std::current_exception()) {
    try {
      std::rethrow_exception(problem);
    } catch (const std::bad_alloc&) {
      end_at_once(out_of_memory);
    } catch (const std::exception& error) {
      end_at_once(error.what());
    } catch (...) {
    }
  }
  end_at_once("something went wrong that nothing is known of: is there too little memory?");
}

void on_exit() {
  if (!ending_as_it_should)
    end_at_once("a library that the tool uses has ended it: is there too little memory, or are threads limited?");
}

// LLVM's OpenMP runtime, for one, aborts where it can have no memory or no threads.
extern "C" void on_abort(int) {
  end_at_once("a library that the tool uses has given up: is there too little memory, or are threads limited?");
}

extern "C" void on_early_crash(int) {
  end_at_once("a library that the tool uses has crashed at its start: is there too little memory?");
}

// std::terminate() needs no memory, and the standard library has room for 32 handlers of the exit without any.
void take_charge() {
  std::set_terminate(on_terminate);
  std::atexit(on_exit);  // the first to be registered is the last to be called
  std::signal(SIGABRT, on_abort);
  std::signal(SIGSEGV, on_early_crash);  // CUDA's part of the program crashes where it finds no memory before main()
}

// Before main(), and before the constructors of the libraries: libgomp's allocates.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all_else)() = take_charge;

}  // namespace

void print_error(std::string_view sentence) noexcept {
  std::array<char, 4096> line;
  std::size_t size = 0;
  const auto put = [&](std::string_view text) {
    for (const char c : text)
      if (size + 1 < line.size()) line[size++] = c;
  };
  put("onefold: ");
  for (const char c : sentence) {
    const auto code = static_cast<unsigned char>(c);
    constexpr std::string_view digits = "0123456789abcdef";
    if (code < 0x20 || code == 0x7f)
      put({std::array{'\\', 'x', digits[code >> 4], digits[code & 15]}.data(), 4});
    else
      put({&c, 1});
  }
  line[size++] = '\n';
  for (std::size_t at = 0; at < size;) {
    const ssize_t written = ::write(STDERR_FILENO, line.data() + at, size - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

void main_begins() noexcept {
  std::signal(SIGSEGV, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write()
  // What is opened later is none of the three, and they fail as before.
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(standard, F_GETFD) == -1 && errno == EBADF)
      static_cast<void>(::open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int end_with(int status) noexcept {
  ending_as_it_should = true;
  return status;
}

}  // namespace onefold::tool
