#pragma once
/// @file compare.hpp  Two records of one study: what became faster or slower, and what is too noisy to tell.
///
/// A figure is a set of samples in a record. It has a key: the names on the way to it, and of each row what identifies it: variant,
/// form, count, threads and the like, and as many of its other words and whole numbers as it takes to tell the rows of its array
/// apart. Figures of two records are matched by key, so that rows may come in another order.
///
/// The rule of the verdict. A median is known to its spread (half the interquartile range over the median), and never better than to
/// 1 %: its standard error, 1.86 * spread / sqrt(count), is less, but what differs from run to run (clocks, placement of pages,
/// neighbours) does not shrink with more samples. Of 227 medians in stream of two suites on two H200s
/// (sweep, ladder and forms at commits 09c33b078336 and c3e37c8696d7) half differ by more than 1.5 %, 5 % by more than
/// 2.2 % and 1 % by more than 3.5 %. A figure that the suite marked as noisy, or of fewer than 3 samples, is known to 10 % at best.
/// The noise of a ratio of medians is twice the root of the sum of the squares of what the two are known to: 2.8 % where all is quiet.
/// A change is what the slower is slower by: max(ratio, 1 / ratio) - 1.
///   faster, slower   the change is above the limit and above the noise
///   too noisy        it is not above the noise, and the noise is above the limit: a change that counts could hide in it
///   same             otherwise

#include <nlohmann/json.hpp>
#include <string>

namespace onefold::perf {

struct compare_options {
  double limit = 0.05;  ///< the least relative change that counts
  /// Ratios inside each record instead of times: of onefold or a variant to the read limit, a peer, the best order-free loop.
  bool ratios = false;
};

/// The record in `path`. Throws std::runtime_error where there is none.
nlohmann::json read_record(const std::string& path);

/// The record with ratios of times in the place of times, which other machines give too; a record of ratios as it is. Throws
/// std::runtime_error for a study that has none.
nlohmann::json ratios_of(const nlohmann::json& record);

/// {"study": "compare", "of", "limit", "ratios", "rule", "figures": [{"figure", "before", "after", "ratio", "noise", "verdict"}],
/// "only_before", "only_after", "without_number", "warnings", "summary"}: "of" is the study's name; the slowest figure is the first.
/// Throws std::runtime_error for records of different studies, for one that is no record, and where no figure is in both.
nlohmann::json compare(const nlohmann::json& before, const nlohmann::json& after, const compare_options& how);

/// Prints what changed and what might have, the slowest first, what only one record has, the rule and a line of summary.
void print_comparison(const nlohmann::json& comparison);

/// For the process: 0 when nothing is slower, 1 when something is.
int comparison_status(const nlohmann::json& comparison);

}  // namespace onefold::perf
