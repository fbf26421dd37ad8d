/// @file memory_study_test.cpp  What the memory studies' framework finds: a wrong element, a time that is none, a figure that is none.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../perf/memory/run.hpp"

namespace {

using namespace onefold::perf;
using namespace onefold::perf::memory;

std::string sentence_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::runtime_error& problem) {
    return problem.what();
  }
  return "nothing was thrown";
}

TEST(verify, finds_one_spoilt_element_and_names_it) {
  std::vector<float> got(1000);
  for (std::size_t i = 0; i < got.size(); ++i) got[i] = static_cast<float>(i);
  const auto same = [](std::size_t i) { return static_cast<float>(i); };
  EXPECT_NO_THROW(verify<float>("copy", got, same));
  for (const std::size_t spoilt : {std::size_t{0}, std::size_t{499}, std::size_t{999}}) {
    std::vector<float> wrong = got;
    wrong[spoilt] += 1;
    const std::string sentence = sentence_of([&] { verify<float>("copy", wrong, same); });
    EXPECT_NE(sentence.find("copy is wrong: element " + std::to_string(spoilt) + " is "), std::string::npos) << sentence;
  }
}

TEST(verify, takes_no_nan_for_a_number) {
  const std::vector<double> got{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(verify<double>("sum", got, [](std::size_t) { return 1.0; }), std::runtime_error);
  EXPECT_THROW(verify<double>("sum", got, [](std::size_t) { return std::numeric_limits<double>::quiet_NaN(); }),
               std::runtime_error);
}

study made_up(std::vector<row> (*on_cpu)(const setting&)) {
  return {.name = "made_up", .title = "a title", .lecture = "a figure", .lesson = "a lesson", .on_cpu = on_cpu};
}

TEST(a_study, is_kept_with_its_words_and_all_its_rows) {
  const study one = made_up([](const setting&) {
    return std::vector<row>{{.name = "first", .time = {{1e-6, 2e-6, 3e-6}}, .bytes = 4000, .values = {{"ways", 2, ""}}},
                            {.name = "second", .time = {}, .values = {{"error", 0.5, "ulp"}}}};
  });
  const nlohmann::json record = run(one, nullptr, {});
  EXPECT_EQ(record["name"], "made_up");
  EXPECT_EQ(record["lesson"], "a lesson");
  EXPECT_FALSE(record["on"].contains("gpu"));
  const auto& rows = record["on"]["cpu"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["case"], "first");
  EXPECT_EQ(rows[0]["bytes"], 4000);
  EXPECT_EQ(rows[0]["time"]["median_s"], 2e-6);
  EXPECT_FALSE(rows[1].contains("time"));
  EXPECT_EQ(rows[1]["values"][0]["unit"], "ulp");
}

TEST(a_study, whose_result_is_wrong_ends) {
  const study one = made_up([](const setting&) -> std::vector<row> { throw std::runtime_error("second is wrong"); });
  EXPECT_EQ(sentence_of([&] { run(one, nullptr, {}); }), "second is wrong");
}

TEST(a_study, that_gives_no_figures_is_refused) {
  EXPECT_NE(
      sentence_of([] { run(made_up([](const setting&) { return std::vector<row>{}; }), nullptr, {}); }).find("no case was run"),
      std::string::npos);
  const auto with = [](row line) {
    static row kept;
    kept = std::move(line);
    return sentence_of([] { run(made_up([](const setting&) { return std::vector<row>{kept}; }), nullptr, {}); });
  };
  EXPECT_EQ(with({.name = "empty", .time = {}}), "made_up, empty: there is neither a time nor a figure");
  EXPECT_EQ(with({.name = "stopped", .time = {{0.0}}}), "made_up, stopped: a time is 0 s");
  EXPECT_EQ(with({.name = "lost", .time = {{1.0}}, .values = {{"ratio", std::nan(""), ""}}}), "made_up, lost: ratio is nan");
}

TEST(time_on_cpu, calls_in_turn_and_sorts) {
  std::size_t next = 0;
  const samples times = time_on_cpu([&](std::size_t turn) { EXPECT_EQ(turn, next++); }, 5);
  ASSERT_EQ(times.seconds.size(), 5U);
  EXPECT_TRUE(std::is_sorted(times.seconds.begin(), times.seconds.end()));
  EXPECT_GT(times.seconds.front(), 0);
}

TEST(the_list_of_studies, has_names_and_words_and_something_to_run) {
  std::set<std::string_view> names;
  for (const study& one : studies()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " is listed twice";
    EXPECT_FALSE(one.title.empty()) << one.name;
    EXPECT_FALSE(one.lecture.empty()) << one.name;
    EXPECT_GT(one.lesson.size(), 100U) << one.name << " has no lesson";
#ifdef ONEFOLD_HAVE_CUDA
    EXPECT_TRUE(one.on_gpu != nullptr || one.on_cpu != nullptr) << one.name;
#endif
  }
  EXPECT_FALSE(names.empty());
}

}  // namespace
