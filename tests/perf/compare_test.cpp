/// @file compare_test.cpp  Verdicts of `onefold-perf compare` over made-up records.

#include "../../perf/compare.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nlohmann::json;
using onefold::perf::compare;
using onefold::perf::compare_options;
using onefold::perf::comparison_status;
using onefold::perf::ratios_of;

constexpr double quiet = 0.002;
constexpr double us = 1e-6;

json samples(double median_s, double spread = quiet, int count = 30) {
  return {{"median_s", median_s}, {"spread", spread}, {"min_s", median_s}, {"max_s", median_s}, {"count", count}};
}

json sweep_row(int count, double fixed_order_s, double cub_s, double spread = quiet) {
  return {{"count", count},
          {"bytes", 4 * count},
          {"read_limit", {{"cold", samples(10 * us)}}},
          {"variants", {{"fixed_order", {{"cold", samples(fixed_order_s, spread)}}}, {"cub", {{"cold", samples(cub_s)}}}}}};
}

json sweep(const std::vector<json>& rows) {
  return {{"study", "sweep"}, {"type", "f32"}, {"op", "sum"}, {"cpu", "a CPU"}, {"gpu", {{"name", "a GPU"}, {"driver", "1"}}},
          {"rows", rows}};
}

json base() { return sweep({sweep_row(1024, 11 * us, 12 * us), sweep_row(2048, 21 * us, 24 * us)}); }

const json& figure_named(const json& comparison, const std::string& words) {
  for (const json& one : comparison["figures"])
    if (one["figure"].get<std::string>().find(words) != std::string::npos) return one;
  throw std::runtime_error("no figure has \"" + words + "\" in its name: " + comparison.dump(1));
}

std::string verdict(const json& before, const json& after, double limit = 0.05) {
  const json compared = compare({{"study", "x"}, {"time", before}}, {{"study", "x"}, {"time", after}}, {.limit = limit});
  return compared["figures"].at(0)["verdict"];
}

std::string refusal(const json& before, const json& after, const compare_options& how = {}) {
  try {
    static_cast<void>(compare(before, after, how));
  } catch (const std::runtime_error& refused) {
    return refused.what();
  }
  return "";
}

TEST(compare, equal_records_are_the_same) {
  const json compared = compare(base(), base(), {});
  EXPECT_EQ(compared["summary"],
            (json{{"figures", 6}, {"same", 6}, {"faster", 0}, {"slower", 0}, {"too_noisy", 0}, {"median_ratio", 1.0}}));
  EXPECT_EQ(compared["only_before"].size() + compared["only_after"].size() + compared["warnings"].size(), 0U);
  EXPECT_EQ(comparison_status(compared), 0);
}

TEST(compare, names_the_figure_that_is_slower) {
  const json compared = compare(base(), sweep({sweep_row(1024, 11 * us, 12 * us), sweep_row(2048, 22.5 * us, 24 * us)}), {});
  EXPECT_EQ(compared["summary"]["slower"], 1);
  EXPECT_EQ(compared["figures"][0]["figure"], "count 2048 / variants / fixed_order / cold");
  EXPECT_EQ(compared["figures"][0]["verdict"], "slower");
  EXPECT_NEAR(compared["figures"][0]["ratio"].get<double>(), 22.5 / 21, 1e-12);
  EXPECT_EQ(comparison_status(compared), 1);
}

TEST(compare, what_is_faster_is_no_failure) {
  const json compared = compare(base(), sweep({sweep_row(1024, 11 * us, 12 * us), sweep_row(2048, 10 * us, 24 * us)}), {});
  EXPECT_EQ(compared["summary"]["faster"], 1);
  EXPECT_EQ(comparison_status(compared), 0);
}

TEST(a_verdict, depends_on_the_limit) {
  EXPECT_EQ(verdict(samples(100 * us), samples(106 * us)), "slower");
  EXPECT_EQ(verdict(samples(100 * us), samples(104 * us)), "same");
  EXPECT_EQ(verdict(samples(100 * us), samples(104 * us), 0.03), "slower");
  EXPECT_EQ(verdict(samples(106 * us), samples(100 * us)), "faster");
}

TEST(a_verdict, never_trusts_two_medians_to_less_than_their_runs_differ_by) {
  EXPECT_EQ(verdict(samples(100 * us, 0), samples(102.5 * us, 0), 0.01), "too noisy");
  EXPECT_EQ(verdict(samples(100 * us, 0), samples(103 * us, 0), 0.01), "slower");
}

TEST(a_verdict, of_noisy_figures_needs_a_larger_change) {
  EXPECT_EQ(verdict(samples(100 * us, 0.05), samples(106 * us, 0.05)), "too noisy");
  EXPECT_EQ(verdict(samples(100 * us, quiet), samples(106 * us, 0.05)), "too noisy");
  EXPECT_EQ(verdict(samples(100 * us, 0.05), samples(100 * us, 0.05)), "too noisy");
  EXPECT_EQ(verdict(samples(100 * us, 0.05), samples(120 * us, 0.05)), "slower");
}

TEST(a_verdict, heeds_the_mark_of_a_noisy_figure_and_few_samples) {
  json marked = samples(110 * us);
  marked["noisy"] = true;
  EXPECT_EQ(verdict(samples(100 * us), samples(110 * us)), "slower");
  EXPECT_EQ(verdict(samples(100 * us), marked), "too noisy");
  EXPECT_EQ(verdict(marked, samples(100 * us)), "too noisy");
  EXPECT_EQ(verdict(samples(100 * us), samples(110 * us, 0, 2)), "too noisy");
  EXPECT_EQ(verdict(samples(100 * us), samples(110 * us, 0, 3)), "slower");
}

TEST(compare, matches_rows_in_another_order) {
  const json turned = sweep({sweep_row(2048, 21 * us, 24 * us), sweep_row(1024, 11 * us, 12 * us)});
  const json compared = compare(base(), turned, {});
  EXPECT_EQ(compared["summary"]["same"], 6);
  EXPECT_EQ(compared["summary"]["median_ratio"], 1.0);
}

TEST(compare, names_figures_that_only_one_record_has) {
  const json compared = compare(base(), sweep({sweep_row(2048, 21 * us, 24 * us), sweep_row(4096, 41 * us, 44 * us)}), {});
  EXPECT_EQ(compared["summary"]["figures"], 3);
  ASSERT_EQ(compared["only_before"].size(), 3U);
  ASSERT_EQ(compared["only_after"].size(), 3U);
  EXPECT_EQ(compared["only_before"][0], "count 1024 / read_limit / cold");
  EXPECT_EQ(compared["only_after"][2], "count 4096 / variants / fixed_order / cold");
}

TEST(compare, tells_rows_apart_by_what_it_takes_and_no_more) {
  const auto row = [](int threads, const char* best, int stride, double s) {
    return json{{"count", 1024}, {"threads", threads}, {"best", best}, {"stride", stride}, {"time", samples(s)}};
  };
  const auto record = [](const std::vector<json>& rows) { return json{{"study", "cpu"}, {"rows", rows}}; };
  // Which loop was best may be another in each run, and nothing needs it as a name.
  EXPECT_EQ(compare(record({row(1, "a", 1, us), row(2, "a", 1, us)}), record({row(1, "b", 1, us), row(2, "a", 1, us)}),
                    {})["summary"]["same"],
            2);
  // The stride is needed.
  const json strides =
      compare(record({row(1, "a", 1, us), row(1, "a", 2, 2 * us)}), record({row(1, "a", 2, 2 * us), row(1, "a", 1, us)}), {});
  EXPECT_EQ(strides["summary"]["same"], 2);
  EXPECT_NO_THROW(static_cast<void>(figure_named(strides, "stride 2")));
}

TEST(compare, numbers_rows_that_nothing_tells_apart) {
  const json twice{{"study", "x"}, {"rows", {{{"time", samples(us)}}, {{"time", samples(2 * us)}}}}};
  EXPECT_EQ(compare(twice, twice, {})["summary"]["same"], 2);
}

TEST(compare, reads_studies_within_a_record) {
  const auto memory = [](double s) {
    const json row{{"case", "stride 2"}, {"time", samples(s)}};
    return json{{"study", "memory"}, {"studies", {{{"name", "coalescing"}, {"on", {{"gpu", {row}}}}}}}};
  };
  const json compared = compare(memory(100 * us), memory(150 * us), {});
  EXPECT_EQ(compared["figures"][0]["figure"], "studies / name coalescing / on / gpu / case stride 2 / time");
  EXPECT_EQ(comparison_status(compared), 1);
}

TEST(compare, refuses_records_of_different_studies_and_what_is_no_record) {
  json latency = base();
  latency["study"] = "latency";
  EXPECT_EQ(refusal(base(), latency),
            "the first record is of the study sweep, the second of latency: records of one study can be compared");
  EXPECT_EQ(refusal(base(), json{{"rows", 1}}), "the second file is no record of onefold-perf: it names no study");
  EXPECT_EQ(refusal(json::array(), base()), "the first file is no record of onefold-perf: it names no study");
  EXPECT_EQ(refusal(base(), sweep({})), "no figure is in both records: there is nothing to compare");
}

TEST(compare, warns_of_other_machines_and_other_work) {
  json other = base();
  other["gpu"]["name"] = "another GPU";
  other["type"] = "f64";
  const json compared = compare(base(), other, {});
  ASSERT_EQ(compared["warnings"].size(), 2U);
  EXPECT_EQ(
      compared["warnings"][0],
      "warning: the GPU's name differs (a GPU and another GPU): times say nothing of the code then, ratios alone may be compared "
      "(--ratios)");
  EXPECT_EQ(compared["warnings"][1], "warning: type differs (f32 and f64): these are figures of different work");
}

TEST(compare, leaves_out_what_is_no_positive_number) {
  const std::vector<json> broken{json(nullptr),
                                 json(std::numeric_limits<double>::quiet_NaN()),
                                 json(std::numeric_limits<double>::infinity()),
                                 json(0.0),
                                 json(-1.0),
                                 json("1")};
  for (const json& median : broken)
    for (const bool first : {true, false}) {
      json damaged = base();
      damaged["rows"][0]["variants"]["cub"]["cold"]["median_s"] = median;
      const json compared = first ? compare(damaged, base(), {}) : compare(base(), damaged, {});
      EXPECT_EQ(compared["without_number"], json{"count 1024 / variants / cub / cold"}) << median;
      EXPECT_EQ(compared["summary"]["same"], 5) << median;
    }
  json damaged = base();
  damaged["rows"][0]["variants"]["cub"]["cold"]["spread"] = nullptr;
  EXPECT_EQ(compare(damaged, base(), {})["without_number"].size(), 1U);
}

TEST(ratios, do_not_depend_on_the_machine_speed) {
  const json fast = base();
  json slow = sweep({sweep_row(1024, 33 * us, 36 * us), sweep_row(2048, 63 * us, 72 * us)});
  for (json& row : slow["rows"]) row["read_limit"]["cold"] = samples(30 * us);
  EXPECT_GT(compare(fast, slow, {})["summary"]["slower"], 0);
  const json compared = compare(fast, slow, {.ratios = true});
  EXPECT_EQ(compared["summary"]["figures"], 6);
  EXPECT_EQ(compared["summary"]["same"], 6);
  EXPECT_NEAR(figure_named(compared, "1024 / fixed_order / cub, cold")["before"].get<double>(), 11.0 / 12, 1e-12);
  EXPECT_NEAR(figure_named(compared, "2048 / fixed_order / read limit, cold")["before"].get<double>(), 2.1, 1e-12);
}

TEST(ratios, show_that_onefold_became_slower_than_its_peer) {
  const json compared =
      compare(base(), sweep({sweep_row(1024, 22 * us, 12 * us), sweep_row(2048, 21 * us, 24 * us)}), {.ratios = true});
  EXPECT_EQ(compared["summary"]["slower"], 2);  // over CUB and over the read limit
  EXPECT_EQ(comparison_status(compared), 1);
}

TEST(ratios, have_the_noise_of_both_times) {
  const json noisy = sweep({sweep_row(1024, 12 * us, 12 * us, 0.06), sweep_row(2048, 21 * us, 24 * us)});
  EXPECT_EQ(figure_named(compare(base(), noisy, {.ratios = true}), "1024 / fixed_order / cub")["verdict"], "too noisy");
}

TEST(ratios, of_the_cpu_are_to_the_best_loop_whichever_it_is) {
  const auto cpu = [](const char* best, double a, double b) {
    const json times{{"onefold", samples(11 * us)}, {"loop a", samples(a)}, {"loop b", samples(b)}, {"Kokkos", samples(40 * us)}};
    return json{{"study", "cpu"}, {"rows", {{{"count", 1024}, {"threads", 1}, {"best", best}, {"times", times}}}}};
  };
  const json compared = compare(cpu("loop a", 10 * us, 12 * us), cpu("loop b", 12 * us, 10 * us), {.ratios = true});
  EXPECT_EQ(compared["summary"]["figures"], 2);
  EXPECT_EQ(compared["summary"]["same"], 2);
  EXPECT_NEAR(figure_named(compared, "onefold / best loop")["after"].get<double>(), 1.1, 1e-12);
}

TEST(ratios, of_folds_are_to_the_best_loop_by_hand_to_what_is_built_in_and_to_the_limit) {
  const auto folds = [](const char* best, double a, double b) {
    const json by_hand{{"loop a", samples(a)}, {"loop b", samples(b)}};
    return json{{"study", "folds"},
                {"rows",
                 {{{"case", "lambda"},
                   {"count", 1024},
                   {"best", best},
                   {"onefold", samples(11 * us)},
                   {"by_hand", by_hand},
                   {"built_in", samples(8 * us)},
                   {"read_limit", samples(5 * us)}}}}};
  };
  const json compared = compare(folds("loop a", 10 * us, 12 * us), folds("loop b", 12 * us, 10 * us), {.ratios = true});
  EXPECT_EQ(compared["summary"]["figures"], 3);
  EXPECT_EQ(compared["summary"]["same"], 3);
  EXPECT_NEAR(figure_named(compared, "onefold / best loop")["after"].get<double>(), 1.1, 1e-12);
  EXPECT_NEAR(figure_named(compared, "onefold / built in")["after"].get<double>(), 11.0 / 8, 1e-12);
  EXPECT_NEAR(figure_named(compared, "onefold / read limit")["after"].get<double>(), 2.2, 1e-12);
}

TEST(ratios, of_calls_are_to_the_loop_with_and_without_a_driver) {
  const auto row = [](bool driver, double onefold) {
    return json{{"case", "one call"},          {"form", "sum"},          {"count", 16}, {"driver", driver},
                {"onefold", samples(onefold)}, {"loop", samples(4 * us)}};
  };
  const json calls{{"study", "calls"}, {"rows", {row(false, 8 * us), row(true, 10 * us)}}};
  const json compared = compare(calls, calls, {.ratios = true});
  EXPECT_EQ(compared["summary"]["figures"], 2);
  EXPECT_NEAR(figure_named(compared, "driver false / onefold / loop")["after"].get<double>(), 2, 1e-12);
  EXPECT_NEAR(figure_named(compared, "driver true / onefold / loop")["after"].get<double>(), 2.5, 1e-12);
}

TEST(ratios, of_forms_and_ladders_are_to_the_record_s_read_limit) {
  const json ladder{{"study", "ladder"},
                    {"read_limit", {{"cold", samples(10 * us)}, {"hot", samples(5 * us)}}},
                    {"rows", {{{"variant", "cub"}, {"block_size", 256}, {"cold", samples(20 * us)}, {"hot", samples(15 * us)}}}}};
  const json of_ladder = compare(ladder, ladder, {.ratios = true});
  EXPECT_EQ(of_ladder["summary"]["figures"], 2);  // the limit's own times are none of them
  EXPECT_NEAR(figure_named(of_ladder, "variant cub / cold / read limit")["before"].get<double>(), 2, 1e-12);
  EXPECT_NEAR(figure_named(of_ladder, "variant cub / hot / read limit")["before"].get<double>(), 3, 1e-12);
  const json forms{{"study", "forms"}, {"read_limit", 10 * us}, {"rows", {{{"form", "dot"}, {"aligned", samples(25 * us)}}}}};
  EXPECT_NEAR(figure_named(compare(forms, forms, {.ratios = true}), "form dot / aligned / read limit")["before"].get<double>(), 2.5,
              1e-12);
}

TEST(ratios, of_peers_and_scaling_are_to_each_peer) {
  const json rows{{{"where", "gpu"},
                   {"count", 8},
                   {"onefold", samples(6 * us)},
                   {"read_limit", samples(3 * us)},
                   {"peers", {{"cub", samples(8 * us)}}}}};
  for (const char* study : {"peers", "scaling"}) {
    const json record{{"study", study}, {"rows", rows}};
    const json compared = compare(record, record, {.ratios = true});
    EXPECT_NEAR(figure_named(compared, "onefold / cub")["before"].get<double>(), 0.75, 1e-12);
    EXPECT_NEAR(figure_named(compared, "onefold / read limit")["before"].get<double>(), 2, 1e-12);
  }
}

TEST(ratios, of_a_stored_record_are_its_own_and_never_taken_for_times) {
  const json stored = ratios_of(base());
  EXPECT_EQ(compare(stored, base(), {.ratios = true})["summary"]["same"], 6);
  EXPECT_EQ(ratios_of(stored), stored);
  EXPECT_EQ(stored.dump().find("_s\""), std::string::npos) << "a time is left in " << stored;
  EXPECT_EQ(refusal(stored, base()), "a record of ratios can be compared with --ratios only");
}

TEST(ratios, of_a_study_that_has_none_are_refused) {
  const json tune{{"study", "tune"}, {"rows", {{{"policy", "a"}, {"time", samples(us)}}}}};
  EXPECT_EQ(refusal(tune, tune, {.ratios = true}), "the study tune has no ratios: compare its times, without --ratios");
}

}  // namespace
