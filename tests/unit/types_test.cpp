/// @file types_test.cpp  The vocabulary: names to values and back, sizes, and which C++ types are elements.

#include <set>

#include "../support/gtest_support.hpp"

namespace {

using onefold::backend;
using onefold::element_type;
using onefold::element_type_of;
using onefold::errc;
using onefold::finish;
using onefold::guarantee;
using onefold::operation;

template <class Enum>
void expect_every_name_parses_back(int count) {
  std::set<std::string_view> names;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_NE(onefold::name(value), "");
    EXPECT_NE(onefold::name(value), "unknown");
    EXPECT_EQ(onefold::parse<Enum>(onefold::name(value)), value);
    names.insert(onefold::name(value));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count)) << "two enumerators share a name";
  for (const char* text : {"", " ", "nonsense", "F32", "unknown", "sum "})
    EXPECT_EQ(onefold::parse<Enum>(text), std::nullopt) << text;
}

TEST(names, of_every_enumerator_parse_back_to_it) {
  expect_every_name_parses_back<element_type>(onefold::element_type_count);
  expect_every_name_parses_back<operation>(onefold::operation_count);
  expect_every_name_parses_back<onefold::form>(onefold::form_count + onefold::record_count);
  expect_every_name_parses_back<backend>(onefold::backend_count);
  expect_every_name_parses_back<finish>(onefold::finish_count);
  expect_every_name_parses_back<guarantee>(3);
}

TEST(names, are_the_documented_ones) {
  EXPECT_EQ(onefold::name(element_type::f32), "f32");
  EXPECT_EQ(onefold::name(operation::prod), "prod");
  EXPECT_EQ(onefold::name(onefold::form::sum_of_squares), "sum_of_squares");
  EXPECT_EQ(onefold::name(backend::openmp), "openmp");
  EXPECT_EQ(onefold::name(finish::last_block), "last_block");
  EXPECT_EQ(onefold::name(guarantee::exact), "exact");
}

TEST(names, of_values_that_are_none_are_unknown) {
  EXPECT_EQ(onefold::name(static_cast<element_type>(200)), "unknown");
  EXPECT_EQ(onefold::name(static_cast<operation>(200)), "unknown");
  EXPECT_EQ(onefold::name(static_cast<onefold::form>(200)), "unknown");
  EXPECT_EQ(onefold::name(static_cast<backend>(200)), "unknown");
  EXPECT_EQ(onefold::name(static_cast<finish>(200)), "unknown");
  EXPECT_EQ(onefold::name(static_cast<guarantee>(200)), "unknown");
  EXPECT_EQ(onefold::name(static_cast<errc>(200)), "unknown");
}

TEST(names, of_error_codes_are_all_different) {
  std::set<std::string_view> names;
  for (int i = 1; i <= static_cast<int>(errc::communication_failed); ++i) names.insert(onefold::name(static_cast<errc>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(errc::communication_failed));
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(elements, have_the_size_of_their_cpp_types) {
  EXPECT_EQ(onefold::size_of(element_type::f32), 4u);
  EXPECT_EQ(onefold::size_of(element_type::f64), 8u);
  EXPECT_EQ(onefold::size_of(element_type::i32), 4u);
  EXPECT_EQ(onefold::size_of(element_type::u32), 4u);
  EXPECT_EQ(onefold::size_of(element_type::i64), 8u);
  EXPECT_EQ(onefold::size_of(element_type::u64), 8u);
  EXPECT_EQ(onefold::size_of(static_cast<element_type>(200)), 0u);
}

TEST(elements, are_floats_and_every_standard_integer_and_bool) {
  static_assert(element_type_of<float> == element_type::f32);
  static_assert(element_type_of<double> == element_type::f64);
  static_assert(element_type_of<int> == element_type::i32);
  static_assert(element_type_of<unsigned> == element_type::u32);
  static_assert(element_type_of<long> == element_type::i64);
  static_assert(element_type_of<unsigned long> == element_type::u64);
  // The second 64-bit integer of C++ is another type than std::int64_t, and an element all the same.
  static_assert(element_type_of<long long> == element_type::i64);
  static_assert(element_type_of<unsigned long long> == element_type::u64);
  static_assert(element_type_of<signed char> == element_type::i8 && element_type_of<unsigned char> == element_type::u8);
  static_assert(element_type_of<short> == element_type::i16 && element_type_of<unsigned short> == element_type::u16);
  static_assert(element_type_of<bool> == element_type::u8 && !onefold::element<char> && !onefold::element<long double>);
  static_assert(!onefold::element<const float> && !onefold::element<float*>);
}

TEST(errors, carry_a_code_and_a_sentence_and_can_be_copied) {
  const onefold::error first(errc::unsupported, "a sentence");
  onefold::error second(errc::null_pointer, "another");
  second = first;
  EXPECT_EQ(second.code(), errc::unsupported);
  EXPECT_STREQ(second.what(), "a sentence");
  EXPECT_STREQ(onefold::error(second).what(), "a sentence");
  const std::runtime_error& base = first;
  EXPECT_STREQ(base.what(), "a sentence");
}

TEST(version, is_one_string_of_its_numbers) {
  EXPECT_EQ(std::string(ONEFOLD_VERSION_STRING), std::to_string(ONEFOLD_VERSION_MAJOR) + "." +
                                                     std::to_string(ONEFOLD_VERSION_MINOR) + "." +
                                                     std::to_string(ONEFOLD_VERSION_PATCH));
}

TEST(executors, are_what_they_were_made_as) {
  EXPECT_EQ(onefold::serial().backend(), backend::serial);
  EXPECT_EQ(onefold::serial().threads(), 1);
  EXPECT_EQ(onefold::openmp().threads(), 0);
  EXPECT_EQ(onefold::openmp(3).threads(), 3);
  EXPECT_EQ(onefold::cuda(2).device(), 2);
  EXPECT_FALSE(onefold::cuda(2).has_stream());
  EXPECT_TRUE(onefold::cuda(0, nullptr).has_stream());
  EXPECT_EQ(onefold::cuda(0, nullptr).stream(), nullptr);
  EXPECT_TRUE(onefold::best().chooses_itself());
  EXPECT_FALSE(onefold::serial().chooses_itself());
}

}  // namespace
