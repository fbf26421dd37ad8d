#pragma once
/// @file situations.hpp  What the situations of the environment tests share.

#include <onefold/onefold.hpp>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using onefold::errc;

[[maybe_unused]] void require(bool holds, const std::string& sentence) {
  if (!holds) throw std::runtime_error(sentence);
}

const std::vector<float>& numbers() {
  static const std::vector<float> all = [] {
    std::vector<float> some(300'007);
    for (std::size_t i = 0; i < some.size(); ++i) some[i] = static_cast<float>(i % 7) - 3;  // exact in every order
    return some;
  }();
  return all;
}

[[maybe_unused]] float right_sum() {
  static const float answer = [] {
    double sum = 0;
    for (const float x : numbers()) sum += x;
    return static_cast<float>(sum);
  }();
  return answer;
}

constexpr onefold::options reference{.variant = "parallel_reduce"};

[[maybe_unused]] void require_works(const onefold::executor& where, const std::string& when) {
  require(onefold::sum(where, numbers()) == right_sum(), "the sum is wrong " + when);
  require(onefold::max(where, numbers()) == 3, "the maximum is wrong " + when);
  require(onefold::sum(where, numbers(), reference) == right_sum(), "the reference's sum is wrong " + when);
}

[[maybe_unused]] bool built(onefold::backend where) {
  for (const auto& info : onefold::backends())
    if (info.where == where) return info.built;
  return false;
}

[[maybe_unused]] std::vector<onefold::executor> cpu_executors() {
  std::vector<onefold::executor> all{onefold::serial(), onefold::best()};
  if (built(onefold::backend::openmp)) all.push_back(onefold::openmp());
  return all;
}

[[maybe_unused]] void require_cpu_works(const std::string& when) {
  for (const auto& where : cpu_executors()) require_works(where, when);
}

[[maybe_unused]] void require_refused(errc code, const std::function<void()>& call, const std::string& when) {
  try {
    call();
  } catch (const onefold::error& problem) {
    require(problem.code() == code, when + ": refused with " + std::string(onefold::name(problem.code())) + ": " + problem.what());
    return;
  }
  throw std::runtime_error(when + ": not refused");
}

[[maybe_unused]] void on_another_host_thread(const std::function<void()>& work) {
  std::string wrong;
  std::thread([&] {
    try {
      work();
    } catch (const std::exception& problem) {
      wrong = problem.what();
    }
  }).join();
  require(wrong.empty(), wrong);
}

}  // namespace

/// Those about the process around the library: forks, exits, limits, the environment's variables, a busy machine.
std::map<std::string, void (*)()> process_situations();
