/// @file memory_test.cpp  Every allocation that onefold makes fails in its turn, in the first call of a process and in later ones: the error
/// is always onefold::error{out_of_memory}, nothing is leaked, and the next call works.
///
/// Each case of a first call runs in a process of its own, those of later calls of one operation in one, one behind the other, where such calls
/// take the same allocations each time. It is operator new that fails, in all of the process: in onefold, the standard library and Kokkos.
/// The C library and libgomp take memory by malloc, which is left alone: libgomp ends the process when it gets none.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

std::atomic<long> live{0};               // allocations that have not been freed
std::atomic<std::uint64_t> taken{0};     // since faults were counted
std::atomic<std::uint64_t> fails_at{0};  // 0: none
std::atomic<bool> reached{false};

void* take(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails_at != 0 && ++taken == fails_at) {
    reached = true;
    return nullptr;
  }
  void* const memory = alignment <= alignof(std::max_align_t)
                           ? std::malloc(bytes == 0 ? 1 : bytes)
                           : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory != nullptr) ++live;
  return memory;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment = 0) {
  if (void* const memory = take(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  --live;
  std::free(memory);
}

}  // namespace
}  // namespace onefold_test

void* operator new(std::size_t bytes) { return onefold_test::take_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return onefold_test::take_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return onefold_test::take(bytes, 0); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return onefold_test::take(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  return onefold_test::take_or_throw(bytes, static_cast<std::size_t>(to));
}
void* operator new[](std::size_t bytes, std::align_val_t to) {
  return onefold_test::take_or_throw(bytes, static_cast<std::size_t>(to));
}
void operator delete(void* memory) noexcept { onefold_test::give_back(memory); }
void operator delete[](void* memory) noexcept { onefold_test::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { onefold_test::give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { onefold_test::give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { onefold_test::give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { onefold_test::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { onefold_test::give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { onefold_test::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { onefold_test::give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { onefold_test::give_back(memory); }

namespace onefold_test {
namespace {

using onefold::errc;

constexpr std::size_t count = 300'000;  // enough for OpenMP's threads

const float* ones() {
  static float* const all = [] {
    auto* const memory = static_cast<float*>(std::malloc(count * sizeof(float)));
    for (std::size_t i = 0; i < count; ++i) memory[i] = 1;
    return memory;
  }();
  return all;
}

void require(bool holds, const char* sentence) {
  if (!holds) throw std::runtime_error(sentence);
}

// A request that cannot be met is refused with `code`, or there is no memory for the sentence.
template <class Call>
void require_refused(errc code, Call call) {
  try {
    call();
  } catch (const onefold::error& problem) {
    if (problem.code() == errc::out_of_memory) throw;
    return require(problem.code() == code, "refused with another code");
  }
  require(false, "not refused");
}

struct operation {
  std::string name;
  std::function<void()> run;
};

using ranges = onefold::range_state<onefold::form::sum, float>;

// After a failure the state is what it was.
template <class State, class Change>
void change(State& state, const Change& how) {
  const auto before = state.bytes();
  try {
    how(state);
  } catch (const onefold::error&) {
    require(state.bytes() == before, "the state has changed");
    throw;
  }
}

void append_parts(const onefold::executor& where) {
  constexpr std::size_t cut = 100'007;
  ranges first, second(cut);
  change(first, [&](ranges& state) { state.add(where, ones(), cut); });
  change(second, [&](ranges& state) { state.add(where, ones() + cut, count - cut); });
  change(first, [&](ranges& state) { state.append(ranges::from_bytes(second.bytes())); });
  require(first.value() == count, "the sum is wrong");
}

void append_parts_of_several_operators(const onefold::executor& where) {
  constexpr std::size_t cut = 100'007;
  using both = onefold::together_range_state<float, onefold::op::sum, onefold::op::max>;
  both first, second(cut);
  change(first, [&](both& state) { state.add(where, ones(), cut); });
  change(second, [&](both& state) { state.add(where, ones() + cut, count - cut); });
  change(first, [&](both& state) { state.append(both::from_bytes(second.bytes())); });
  require(first.value() == std::array<float, 2>{count, 1}, "a result is wrong");
}

// A state of C's, of values that may be absent.
class own_sums {
 public:
  explicit own_sums(std::uint64_t begin) {
    const onefold_own_operator of{sizeof(of), nullptr, sizeof(float), 1, add_pairs};
    onefold::detail::check_status(onefold_range_create_own(&of, begin, &state_));
  }
  own_sums(const own_sums&) = delete;
  own_sums& operator=(const own_sums&) = delete;
  ~own_sums() { onefold_range_destroy(state_); }
  [[nodiscard]] onefold_range* get() const { return state_; }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    return onefold::detail::telling_of_lacking_memory([this] {
      std::vector<std::byte> all(onefold_range_bytes(state_));
      onefold::detail::check_status(onefold_range_write(state_, all.data(), all.size()));
      return all;
    });
  }
  void add(const onefold::executor& where, const float* x, std::uint64_t elements) {
    onefold::detail::check_status(onefold_range_add(state_, onefold::detail::c_executor(where), x, nullptr, elements, nullptr));
  }
  void append(const own_sums& next) { onefold::detail::check_status(onefold_range_append(state_, next.get())); }
  void read(const own_sums& from) {
    const std::vector<std::byte> all = from.bytes();
    onefold::detail::check_status(onefold_range_read(state_, all.data(), all.size()));
  }

 private:
  static int add_pairs(void*, void* a, const void* b, std::uint64_t pairs) {
    for (std::uint64_t i = 0; i < pairs; ++i) static_cast<float*>(a)[i] += static_cast<const float*>(b)[i];
    return 0;
  }
  onefold_range* state_ = nullptr;
};

void append_parts_of_an_operator_of_c(const onefold::executor& where) {
  constexpr std::size_t cut = 100'007;
  own_sums first(0), second(cut), received(0);
  change(first, [&](own_sums& state) { state.add(where, ones(), cut); });
  change(second, [&](own_sums& state) { state.add(where, ones() + cut, count - cut); });
  change(received, [&](own_sums& state) { state.read(second); });
  change(first, [&](own_sums& state) { state.append(received); });
  float sum = 0;
  onefold::detail::check_status(onefold_range_result(first.get(), 0, &sum));
  require(sum == count, "the sum is wrong");
}

std::vector<operation> operations_on(const std::string& label, const onefold::executor& where) {
  const auto named = [&](const char* what) { return label + "_" + what; };
  return {
      {named("sum"), [=] { require(onefold::sum(where, ones(), count) == count, "the sum is wrong"); }},
      {named("sum_into"),
       [=] {
         float result = 0;
         onefold::sum_into(where, ones(), count, &result);
         require(result == count, "the sum is wrong");
       }},
      {named("norm2"), [=] { require(onefold::norm2(where, ones(), 250'000) == 500, "the norm is wrong"); }},
      {named("dot_in_double"),
       [=] { require(onefold::dot(where, ones(), ones(), count, onefold::accumulate_as<double>) == count, "dot is wrong"); }},
      {named("several_exact_sums"),  // whose states are more than the driver's tree takes
       [=] {
         const auto four = [](std::uint64_t) { return std::array<double, 4>{1, 2, 3, 4}; };
         const auto sums = onefold::sum(where, count, four, {.guarantee = onefold::guarantee::exact});
         require(sums[3] == 4.0 * count, "the sum is wrong");
       }},
      {named("exact_words"),
       [=] {
         using state = onefold::exact_state<onefold::form::norm2, float>;
         std::int64_t words[state::size()];
         float norm = 0;
         state::put_words(where, ones(), 250'000, words);
         state::put_value(where, words, &norm);
         require(norm == 500, "the norm is wrong");
         words[1] = 2;
         require_refused(errc::invalid_argument, [&] { state::put_value(where, words, &norm); });
       }},
      {named("states_of_ranges"), [=] { append_parts(where); }},
      {named("states_of_several_operators"), [=] { append_parts_of_several_operators(where); }},
      {named("states_of_an_operator_of_c"), [=] { append_parts_of_an_operator_of_c(where); }},
      {named("parts_on_several_executors"),
       [=] {
         const onefold::devices both{where, onefold::serial()};
         const onefold::parts<float> x{{ones(), 100'007}, {ones() + 100'007, count - 100'007}};
         require(onefold::sum(both, x) == count, "the sum is wrong");
         require(onefold::sum(both, both.share_out(ones(), count), {.guarantee = onefold::guarantee::exact}) == count,
                 "the exact sum is wrong");
       }},
      {named("several_results_on_several_executors"),
       [=] {
         const onefold::devices both{where, onefold::serial()};
         const onefold::parts<float> x{{ones(), 2'007}, {ones() + 2'007, 3'000}};
         // The lists are the caller's own, whose memory he looks after.
         const auto list = [&x](std::size_t of) {
           return onefold::detail::telling_of_lacking_memory([&x, &of] { return std::vector<onefold::parts<float>>(of, x); });
         };
         const std::vector<float> dots = onefold::multi_dot(both, list(2), list(1));
         require(dots.size() == 2 && dots[0] == 5'007 && dots[1] == 5'007, "a dot is wrong");
         const auto found = onefold::reduce_together(both, x, onefold::op::sum{}, onefold::op::min{});
         require(found[0] == 5'007 && found[1] == 1, "a sum or a minimum is wrong");
       }},
      {named("report_with_long_names"),
       [=] {
         onefold::report ran;
         require(onefold::sum(where, ones(), count, {.variant = "unrolled_last_warp", .report = &ran}) == count,
                 "the sum is wrong");
         require(ran.implementation == "Kokkos::parallel_reduce", "the report is wrong");
       }},
      {named("reference"),
       [=] { require(onefold::max(where, ones(), count, {.variant = "parallel_reduce"}) == 1, "the maximum is wrong"); }},
      {named("null_input"),
       [=] {
         const float* const nothing = nullptr;
         require_refused(errc::null_pointer, [&] { static_cast<void>(onefold::sum(where, nothing, 5)); });
       }},
      {named("misspelt_variant"),
       [=] {
         require_refused(errc::unknown_variant,
                         [&] { static_cast<void>(onefold::sum(where, ones(), 5, {.variant = "unrolled_last_wrap"})); });
       }},
      {named("synchronize"), [=] { onefold::synchronize(where); }},
      {named("memory_in_use"), [=] { require(onefold::memory_in_use(where).streams == 0, "a CPU holds memory"); }},
      {named("release_memory"), [=] { onefold::release_memory(where); }},
      {named("policy_of"),
       [=] {
         try {
           static_cast<void>(onefold::policy_of(where));
         } catch (const onefold::error& problem) {
           if (problem.code() != onefold::errc::unsupported) throw;
           return;
         }
         require(false, "a CPU has a launch policy");
       }},
      {named("workspace"), [=] { require(onefold::workspace(where, count).size_bytes() == 0, "a CPU needs a workspace"); }},
      {named("why_not"),
       [=] {
         const auto* const row = onefold::find_variant("fixed_order", onefold::backend::serial);
         require(row != nullptr && !onefold::why_not(*row, where), "fixed_order cannot run here");
         require(onefold::why_not(onefold::variants(onefold::backend::cuda).front(), onefold::serial()).has_value(), "no reason");
       }},
  };
}

std::vector<operation> make_operations() {
  std::vector<operation> all = operations_on("serial", onefold::serial());
  const auto add = [&](std::vector<operation> some) { all.insert(all.end(), some.begin(), some.end()); };
#ifdef ONEFOLD_TEST_OPENMP
  add(operations_on("openmp", onefold::openmp()));
  all.push_back({"more_threads_than_there_are", [] {
                   require_refused(errc::unsupported, [] {
                     static_cast<void>(onefold::sum(onefold::openmp(100'000), ones(), 5, {.variant = "parallel_reduce"}));
                   });
                 }});
  all.push_back({"helpers", [] {  // where OpenMP has fewer than 7, for which there is work
                   require(onefold::sum(onefold::openmp(7), ones(), 250'000) == 250'000, "the sum is wrong");
                 }});
#endif
  add(operations_on("best", onefold::best()));
  add({{"backends",
        [] {
          for (const auto& info : onefold::backends())
            require(info.usable || !info.built || info.where == onefold::backend::cuda, "a backend is not usable");
        }},
       {"catalogue",
        [] {
          require(!onefold::variants().empty(), "no variants");
          require(onefold::find_variant("fixed_order") != nullptr, "fixed_order is not found");
          require(onefold::find_variant("no_such_variant_anywhere") == nullptr, "what is not there is found");
        }},
       {"ranges_of_different_length",
        [] {
          const std::span<const float> all_of_them(ones(), count);
          require_refused(errc::invalid_argument,
                          [&] { static_cast<void>(onefold::dot(onefold::serial(), all_of_them, all_of_them.first(77'777))); });
        }},
       {"null_workspace", [] {
          require_refused(errc::null_pointer, [] { static_cast<void>(onefold::workspace(onefold::serial(), nullptr, 100)); });
        }}});
  return all;
}

// Made once: the names of the tests alone ask for them a hundred times, in each process that is started.
const std::vector<operation>& all_operations() {
  static const std::vector<operation> all = make_operations();
  return all;
}

// What such a process says of each allocation that was to fail.
struct verdict {
  bool reached;                // that allocation
  std::uint64_t first, later;  // allocations of the call without a fault, and of the second one behind it
  long live;
  std::ptrdiff_t threads;
  char problem[200];  // empty: all is well
};

void say(verdict& into, const char* words, const char* more = "") {
  std::strncpy(into.problem, words, sizeof(into.problem) - 1);
  std::strncat(into.problem, more, sizeof(into.problem) - 1 - std::strlen(into.problem));
}

// Calls, of which the k-th allocation fails (0: none), and two without a fault behind it.
verdict call_and_go_on(const operation& what, std::uint64_t k) {
  verdict mine{};
  reached = false;
  try {
    taken = 0;
    fails_at = k == 0 ? ~std::uint64_t{0} : k;  // 0 would not count
    try {
      what.run();
      fails_at = 0;
    } catch (const onefold::error& problem) {
      fails_at = 0;
      if (problem.code() != errc::out_of_memory) say(mine, "another error: ", problem.what());
      if (std::strlen(problem.what()) < 20) say(mine, "no sentence");
    } catch (const std::exception& problem) {
      fails_at = 0;
      say(mine, "no onefold::error but ", problem.what());
    }
    mine.reached = reached;
    mine.first = taken;
    what.run();
    taken = 0;
    fails_at = ~std::uint64_t{0};
    what.run();
    fails_at = 0;
    mine.later = taken;
  } catch (const std::exception& problem) {
    fails_at = 0;
    if (mine.problem[0] == 0) say(mine, "a call without a fault: ", problem.what());
  }
  mine.live = live;
  mine.threads = std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  return mine;
}

// The `before` calls ahead of that, without faults.
void call(const operation& what, int before) {
  live = 0;  // this process counts its own
  for (int i = 0; i < before; ++i) what.run();
}

constexpr std::uint64_t too_many = 2000;

// This program again, and not a fork of it: a forked process does without threads and does not start Kokkos.
constexpr const char* case_variable = "ONEFOLD_MEMORY_CASE";

// Behind `before` calls without a fault: one whose k-th allocation fails, or, `and_on`, calls whose k-th, k+1-th, .. fail, until one has no such allocation.
std::vector<verdict> in_a_process_of_its_own(std::size_t number, int before, std::uint64_t k, bool and_on = false) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const std::string one = std::to_string(number) + " " + std::to_string(before) + " " + std::to_string(k) + " " +
                          std::to_string(and_on ? 1 : 0) + " " + std::to_string(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    setenv(case_variable, one.c_str(), 1);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    execl("/proc/self/exe", "onefold_memory_test", "--gtest_also_run_disabled_tests",
          "--gtest_filter=a_process_of_its_own.DISABLED_runs", "--gtest_output=", nullptr);
    _exit(4);
  }
  close(ends[1]);
  std::vector<verdict> all;
  for (verdict said{}; read(ends[0], &said, sizeof(said)) == static_cast<ssize_t>(sizeof(said));) all.push_back(said);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (all.empty() || status != 0 || (and_on && all.back().reached && all.back().problem[0] == 0)) {
    verdict said{};
    said.reached = true;
    say(said, "the process was ended, status ", std::to_string(status).c_str());
    if (!and_on) all.clear();
    all.push_back(said);
  }
  return all;
}

// What in_a_process_of_its_own() starts.
TEST(a_process_of_its_own, DISABLED_runs) {
  const char* const one = std::getenv(case_variable);
  if (one == nullptr) GTEST_SKIP() << "is for the other tests";
  std::size_t number = 0;
  int before = 0, and_on = 0, to = 0;
  std::uint64_t k = 0;
  std::istringstream(one) >> number >> before >> k >> and_on >> to;
  alarm(and_on != 0 ? 600 : 60);
  const auto& what = all_operations().at(number);
  static_cast<void>(ones());
  const auto tell = [&](const verdict& mine) {
    if (write(to, &mine, sizeof(mine)) != static_cast<ssize_t>(sizeof(mine))) _exit(3);
    if (and_on == 0 || !mine.reached || mine.problem[0] != 0 || k > too_many) _exit(0);
  };
  try {
    call(what, before);
  } catch (const std::exception& problem) {
    verdict mine{};
    say(mine, "a call without a fault: ", problem.what());
    tell(mine);
  }
  for (;; ++k) tell(call_and_go_on(what, k));
}

bool kokkos_aborts() {
  for (const auto& info : onefold::backends())
    if (info.where == onefold::backend::serial) return info.detail.find("Kokkos 3.4") == std::string::npos;
  return false;
}

class each_entry_point : public testing::TestWithParam<std::size_t> {
 protected:
  static const operation& what() {
    static const auto all = all_operations();
    return all[GetParam()];
  }
  static void expect_every_failure_told(int before) {
    // From 3.7 on Kokkos aborts where its start lacks memory.
    for (const std::string_view needs_kokkos : {"_report", "_reference"})
      if (before == 0 && kokkos_aborts() && what().name.find(needs_kokkos) != std::string_view::npos)
        GTEST_SKIP() << "Kokkos ends the process where its start lacks memory";
    const verdict baseline = in_a_process_of_its_own(GetParam(), before, 0).back();
    ASSERT_STREQ(baseline.problem, "");
    // Else an allocation is made once in a process, and can fail there but once.
    const bool same_each_time = before > 0 && baseline.first == baseline.later;
    RecordProperty("processes", same_each_time ? "one" : "one for each");
    // With a sanitizer a process takes a quarter of a second to start: of each operation one allocation in three, of the next one others.
    const std::uint64_t step = is_sanitized && !same_each_time ? 3 : 1;
    std::uint64_t k = 1 + GetParam() % step;
    for (bool there_are_more = true; there_are_more;) {
      for (const verdict& said : in_a_process_of_its_own(GetParam(), before, k, same_each_time)) {
        SCOPED_TRACE("allocation " + std::to_string(k));
        EXPECT_STREQ(said.problem, "");
        // Helpers, which stay, are also started where OpenMP's threads come late, which on a busy machine they do now and then.
        if (said.problem[0] == 0 && said.threads == baseline.threads) {
          EXPECT_EQ(said.live, baseline.live) << "leaked, or freed twice";
        }
        there_are_more = said.reached;
        k += step;
      }
      ASSERT_LT(k, too_many) << "the call never gets through";
    }
    if (step == 1) RecordProperty("allocations", std::to_string(k - 2));
  }
};

// Kokkos's start takes some 70 allocations and is the same in all of these: a few stand for all.
TEST_P(each_entry_point, tells_of_lacking_memory_in_the_first_call_of_a_process) {
  for (const std::string_view same :
       {"sum_into", "norm2", "dot_in_double", "best_re", "best_why_not", "openmp_why_not", "openmp_report"})
    if (what().name.find(same) != std::string_view::npos) GTEST_SKIP() << "starts Kokkos as others do";
  expect_every_failure_told(0);
}
TEST_P(each_entry_point, tells_of_lacking_memory_in_a_later_call) { expect_every_failure_told(1); }

std::vector<std::size_t> numbers_of_operations() {
  std::vector<std::size_t> all(all_operations().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

std::string name_of(const testing::TestParamInfo<std::size_t>& one) { return all_operations()[one.param].name; }

INSTANTIATE_TEST_SUITE_P(memory, each_entry_point, testing::ValuesIn(numbers_of_operations()), name_of);

// Else the tests above prove nothing: a call with a report of long names, for one, has to allocate.
TEST(the_counter_of_allocations, sees_those_of_the_library) {
  const auto all = all_operations();
  for (std::size_t number = 0; number < all.size(); ++number) {
    if (all[number].name != "serial_report_with_long_names") continue;
    for (const int before : {0, 1}) EXPECT_TRUE(in_a_process_of_its_own(number, before, 1).back().reached);
  }
}

}  // namespace
}  // namespace onefold_test
