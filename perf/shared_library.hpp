#pragma once
/// @file shared_library.hpp  A library that is opened when the program runs, so that the program starts on machines without it.

#include <dlfcn.h>

#include <string>
#include <vector>

namespace onefold::perf {

/// Opened for as long as the program runs: libraries with threads of their own do not survive being closed.
class shared_library {
 public:
  /// Tries the names one by one, as dlopen takes them.
  explicit shared_library(const std::vector<const char*>& names) {
    for (const char* one : names) {
      if (one[0] == '\0') continue;
      handle_ = dlopen(one, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
      if (why_not_.empty()) why_not_ = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is a thread's own
    }
  }

  /// What was wrong with the first name; empty where a library was opened.
  [[nodiscard]] std::string why_not() const { return handle_ == nullptr ? why_not_ : std::string(); }

  /// The function of that name, or null.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace onefold::perf
