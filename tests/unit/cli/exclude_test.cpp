// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/exclude.h"

#include <gtest/gtest.h>

#include "assemble/names/functions.h"
#include "base/glob.h"

namespace culprit::cli {
namespace {

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches_glob("", ""));
  EXPECT_TRUE(matches_glob("abc", "abc"));
  EXPECT_TRUE(matches_glob("a*c", "abbbc"));
  EXPECT_TRUE(matches_glob("*b*b", "abab"));
  EXPECT_TRUE(matches_glob("a?c*", "abc"));
  EXPECT_TRUE(matches_glob("**", "x"));
  EXPECT_FALSE(matches_glob("", "a"));
  EXPECT_FALSE(matches_glob("abc", "abcd"));
  EXPECT_FALSE(matches_glob("a*c", "abd"));
  EXPECT_FALSE(matches_glob("?", ""));
  EXPECT_FALSE(matches_glob("*ab", "aba"));
}

TEST(Glob, OneOfAList) {
  EXPECT_TRUE(matches_one_of("a,b*", "bcd"));
  EXPECT_TRUE(matches_one_of("a,b*", "a"));
  EXPECT_FALSE(matches_one_of("a,b*", "ab"));
  EXPECT_FALSE(matches_one_of("", "a"));
}

TEST(ExcludeFunctions, ProgramsThatAreNotInstrumentedHaveNone) {
  EXPECT_TRUE(assemble::instrumented_functions("/proc/self/exe").empty());
  EXPECT_TRUE(assemble::instrumented_functions("/etc/passwd").empty());
  EXPECT_TRUE(assemble::instrumented_functions("/no/such/file").empty());
  EXPECT_EQ(exclude_functions({"/proc/self/exe", "-n", "2"}, "*", "/no/such/folder").value(), 0u);
}

}  // namespace
}  // namespace culprit::cli
