#pragma once
/// @file report.hpp  The programs in report/, which draw: found, asked what they need, and run.

#include <string>
#include <vector>

namespace onefold::perf {

/// Throws std::runtime_error where no chart can be drawn into `picture`: to be asked before anything is measured.
void check_plot(const std::string& picture);

/// Draws the ladder of a record as a bar chart. Throws std::runtime_error.
void plot(const std::string& record, const std::string& picture);

/// Makes the page and the summary of records in `folder`, and the README's picture unless its name is empty. Throws std::runtime_error.
void make_report(const std::vector<std::string>& records, const std::string& folder, const std::string& picture);

}  // namespace onefold::perf
