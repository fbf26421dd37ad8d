/// @file words_test.cpp  What the tool suggests for names that do not exist, and that it speaks of options and not of the library's calls.

#include "words.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <onefold/catalogue.hpp>
#include <onefold/error.hpp>
#include <onefold/reduce.hpp>

#include "support.hpp"

namespace onefold::tool::test {
namespace {

const std::vector<std::string> commands{"sum",   "prod",     "min",  "max",      "dot",  "sum_of_squares", "norm1",
                                        "norm2", "norm_inf", "mean", "variants", "info", "check"};

TEST(Words, TheNearestNameIsSuggested) {
  EXPECT_EQ(suggestion("summ", commands), "did you mean sum?");
  EXPECT_EQ(suggestion("asum", commands), "did you mean norm1?");
  EXPECT_EQ(suggestion("nrm2", commands), "did you mean norm2?");
  EXPECT_EQ(suggestion("norm_1", commands), "did you mean norm1?");
  EXPECT_EQ(suggestion("norm3", commands), "did you mean norm1 or norm2?");
  EXPECT_EQ(suggestion("chekk", commands), "did you mean check?");
  EXPECT_EQ(suggestion("fixd", std::vector<std::string>{"fixed", "fixed"}), "did you mean fixed?");
  EXPECT_EQ(suggestion("iamax", std::vector<std::string>{"norm_inf", "argmax_magnitude"}), "did you mean argmax_magnitude?");
  EXPECT_EQ(suggestion("frobnicate", commands), "");
  EXPECT_EQ(suggestion("asum", std::vector<std::string>{"vector_load"}), "");
}

TEST(Words, TheLibrarysCallsBecomeOptions) {
  EXPECT_EQ(in_words_of_the_tool("use serial() or openmp() on this machine"),
            "use --backend serial or --backend openmp on this machine");
  EXPECT_EQ(in_words_of_the_tool("openmp(9) asks for more"), "--threads 9 asks for more");
  EXPECT_EQ(in_words_of_the_tool("the executor is cuda(1): use cuda(0)"), "the executor is --device 1: use --device 0");
  EXPECT_EQ(in_words_of_the_tool("takes a block_size of 32, and a grid_size"), "takes a --block-size of 32, and a --grid-size");
  EXPECT_EQ(in_words_of_the_tool("x promises guarantee::none"), "x promises guarantee none");
  EXPECT_EQ(in_words_of_the_tool("onefold::variants() lists the names"), "'onefold variants' lists them");
  EXPECT_EQ(in_words_of_the_tool("nothing to change: 100 %"), "nothing to change: 100 %");
  EXPECT_EQ(in_words_of_the_tool("only here; use the call that returns the value"), "only here");
  EXPECT_EQ(in_words_of_the_tool("openmp(x), openmp(12 and cuda(), and again cuda(12)"),
            "openmp(x), openmp(12 and --backend cuda, and again --device 12");
  EXPECT_EQ(in_words_of_the_tool("my_block_size, block_sizes and block_size"), "my_block_size, block_sizes and --block-size");
  EXPECT_EQ(in_words_of_the_tool(""), "");
}

// As they are thrown, so that a sentence that changes there is noticed here.
TEST(Words, SentencesThatTheLibraryThrowsSpeakOfNoCalls) {
  const std::vector<float> x(1000, 1.0F);
  for (const options& how :
       {options{.variant = "no_such_thing"}, options{.variant = "parallel_reduce", .guarantee = guarantee::fixed},
        options{.variant = "fixed_order", .guarantee = guarantee::exact}}) {
    const std::string said = error_of<error>([&] { static_cast<void>(sum(serial(), x.data(), x.size(), how)); });
    ASSERT_NE(said, "no error");
    EXPECT_EQ(in_words_of_the_tool(said).find("::"), std::string::npos) << in_words_of_the_tool(said);
  }
  const std::string said = error_of<error>([&] { static_cast<void>(sum(openmp(99999), x.data(), x.size())); });
  EXPECT_EQ(in_words_of_the_tool(said).find("()"), std::string::npos) << said;
  EXPECT_EQ(in_words_of_the_tool(said).find("openmp("), std::string::npos) << said;
}

}  // namespace
}  // namespace onefold::tool::test
