/// @file golden_test.cpp  The comparison with the golden table must be able to fail: rows that are wrong on purpose are found, each of
/// them and no other. And the table has what it should have.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>

#include "file_types.hpp"
#include "golden.hpp"

namespace onefold::tool::test {
namespace {

// Every 13th row: all types and forms, and few enough for a moment.
std::vector<golden_row> some_rows() {
  std::vector<golden_row> rows;
  for (std::size_t i = 0; i < golden_table().size(); i += 13)
    if (golden_table()[i].count < 10'000) rows.push_back(golden_table()[i]);
  return rows;
}

TEST(golden_comparison, finds_nothing_in_rows_that_are_right) {
  const auto rows = some_rows();
  const auto outcome = compare(rows, serial());
  EXPECT_EQ(outcome.rows, rows.size());
  EXPECT_EQ(outcome.agreeing_rows, rows.size());
  EXPECT_GE(outcome.cases, 3 * rows.size());
  EXPECT_TRUE(outcome.differences.empty());
}

TEST(golden_comparison, finds_the_one_row_with_one_wrong_bit) {
  const auto right = some_rows();
  for (std::size_t wrong = 0; wrong < right.size(); wrong += 7) {
    auto rows = right;
    const std::size_t part = wrong % result_count(rows[wrong].type, rows[wrong].form);
    const std::size_t digits = 8 * size_of(result_parts(rows[wrong].type, rows[wrong].form, rows[wrong].wide)[part].type);
    rows[wrong].bits[part] ^= std::uint64_t{1} << (wrong % digits);
    const auto outcome = compare(std::span(rows).subspan(wrong, 1), serial());
    ASSERT_EQ(outcome.agreeing_rows, 0u) << "row " << wrong;
    ASSERT_EQ(outcome.differences.size(), outcome.cases) << "at every alignment";
    for (const auto& difference : outcome.differences) {
      EXPECT_EQ(difference.got, right[wrong].bits);
      EXPECT_EQ(difference.row.bits, rows[wrong].bits);
      EXPECT_EQ(difference.error, "");
    }
  }
  auto rows = right;
  rows[5].bits[0] ^= 1;
  const auto outcome = compare(rows, serial());
  EXPECT_EQ(outcome.agreeing_rows, rows.size() - 1);
  for (const auto& difference : outcome.differences) EXPECT_EQ(difference.row.seed, rows[5].seed);
}

// Other data under the same bits: what a slip in the data's making would be.
TEST(golden_comparison, finds_rows_of_other_data) {
  int changed = 0;
  for (const golden_row& right : some_rows()) {
    if (right.data != "uniform" || right.form != form::sum || right.count < 10) continue;
    golden_row longer = right, elsewhere = right;
    ++longer.count;
    ++elsewhere.seed;
    for (const golden_row& wrong : {longer, elsewhere}) EXPECT_EQ(compare({&wrong, 1}, serial()).agreeing_rows, 0u);
    ++changed;
  }
  EXPECT_GT(changed, 3);
}

TEST(golden_comparison, tells_a_call_that_fails_from_a_wrong_result) {
  golden_row impossible = golden_table()[0];
  impossible.type = element_type::f64;
  impossible.wide = true;  // there is no such thing
  const auto outcome = compare({&impossible, 1}, serial());
  ASSERT_FALSE(outcome.differences.empty());
  EXPECT_NE(outcome.differences[0].error.find("accumulated in a wider type"), std::string::npos) << outcome.differences[0].error;
}

// An exact row is met by an exact sum, and not by tree v1.
TEST(golden_comparison, asks_for_exact_sums_where_a_row_is_exact) {
  int wrong = 0;
  for (const golden_row& row : golden_table()) {
    if (!row.exact || row.count > 10'000) continue;
    golden_row in_order = row;
    in_order.exact = false;
    EXPECT_EQ(compare({&row, 1}, serial()).agreeing_rows, 1u) << row.data << " " << row.seed;
    wrong += compare({&in_order, 1}, serial()).agreeing_rows == 0 ? 1 : 0;
  }
  EXPECT_GT(wrong, 30);
}

TEST(golden_table, has_every_type_and_form_and_no_row_twice) {
  std::set<std::tuple<element_type, form, bool, std::string_view, std::uint64_t, std::uint64_t, std::int64_t, bool>> rows;
  std::set<std::tuple<element_type, form, bool>> kinds, exact;
  for (const golden_row& row : golden_table()) {
    EXPECT_TRUE(rows.insert({row.type, row.form, row.wide, row.data, row.seed, row.count, row.ddof, row.exact}).second)
        << row.data << " " << row.seed;
    (row.exact ? exact : kinds).insert({row.type, row.form, row.wide});
  }
  for (int t = 0; t < file_type_count; ++t)
    for (int f = 0; f < form_count + record_count; ++f) {
      const auto type = static_cast<element_type>(t);
      const auto what = static_cast<form>(f);
      if (!is_known(what)) continue;  // reduce_together: each of its results is that of a row of its own
      EXPECT_EQ(kinds.contains({type, what, false}), takes_type(what, type)) << name(type) << " " << name(what);
      EXPECT_EQ(kinds.contains({type, what, true}), can_be_wide(type, what)) << name(type) << " " << name(what);
      const bool has_exact = detail::exact::number_of_states(what, type) != 0;
      EXPECT_EQ(exact.contains({type, what, false}), has_exact) << name(type) << " " << name(what);
      EXPECT_EQ(exact.contains({type, what, true}), has_exact && can_be_wide(type, what)) << name(type) << " " << name(what);
    }
}

// The sum of one element is the element, and so is its minimum: a look at the data without any arithmetic of onefold's.
TEST(golden_data, is_the_result_where_there_is_one_element) {
  int found = 0;
  for (const golden_row& row : golden_table()) {
    if (row.count != 1 || row.wide || row.data == "one_nan") continue;
    if (row.form != form::sum && row.form != form::prod && row.form != form::min && row.form != form::max) continue;
    if (result_type(row.type, row.form) != row.type) continue;  // sums of small types
    const auto element = golden_data(row.type, row.data, row.seed, 1);
    EXPECT_EQ(element.size(), is_complex(row.type) ? 2u : 1u);
    for (std::size_t part = 0; part < element.size(); ++part) {
      EXPECT_EQ(element[part], row.bits.at(part)) << name(row.type) << " " << row.data << " " << row.seed;
    }
    ++found;
  }
  EXPECT_GT(found, 10);
}

TEST(golden_data, of_a_family_that_the_type_does_not_have_is_refused) {
  EXPECT_THROW(static_cast<void>(golden_data(element_type::f32, "mixed_classes", 1, 10)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(golden_data(element_type::i32, "zeros", 1, 10)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(golden_data(element_type::u64, "", 1, 10)), std::invalid_argument);
}

TEST(golden_places, are_the_executors_that_can_be_used_here) {
  const auto places = golden_places();
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places[0].backend(), backend::serial);
  for (const auto& known : backends()) {
    const bool listed = std::ranges::any_of(places, [&](const executor& where) { return where.backend() == known.where; });
    EXPECT_EQ(listed, known.usable) << name(known.where);
  }
}

}  // namespace
}  // namespace onefold::tool::test
