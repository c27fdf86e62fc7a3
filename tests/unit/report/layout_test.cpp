// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/words/layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace culprit::report {
namespace {

TEST(TimeFormat, HasOneUnitForAReport) {
  EXPECT_EQ(TimeFormat(11)(11.25), "11.25 s");
  EXPECT_EQ(TimeFormat(11)(0.001), "< 0.01 s");
  EXPECT_EQ(TimeFormat(11)(0), "0.00 s");
  EXPECT_EQ(TimeFormat(11)(-1e-12), "0.00 s");
  EXPECT_EQ(TimeFormat(4000)(3600), "3600.0 s");
  EXPECT_EQ(TimeFormat(0.5)(0.0034), "3.40 ms");
  EXPECT_EQ(TimeFormat(0.0005)(0.0005), "500.00 us");
  EXPECT_EQ(TimeFormat(0)(0), "0.00 s");
}

TEST(TimeFormat, GivesLargeSumsOfShortRunsALargerUnit) {
  const TimeFormat time(382e-6);
  EXPECT_EQ(time(9999e-6), "9999.00 us");
  EXPECT_EQ(time(1.56644147), "1566.44 ms");
  EXPECT_EQ(time(-0.0273), "-27.30 ms");
  EXPECT_EQ(time(15), "15.00 s");
  EXPECT_EQ(TimeFormat(11)(123456), "123456.00 s");
}

TEST(Percent, NeverClaimsMoreThanItShows) {
  using blame::Proportion;
  EXPECT_EQ(percent(Proportion::by_itself(1.0 / 3)), "33.3 %");
  EXPECT_EQ(percent(Proportion::by_itself(1e-9)), "< 0.1 %");
  EXPECT_EQ(percent(Proportion::by_itself(0)), "0.0 %");
  EXPECT_EQ(percent(Proportion()), "");
}

TEST(Counted, SpeaksEnglish) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(1234567, "thread"), "1 234 567 threads");
  EXPECT_EQ(counted(2, "process", "processes"), "2 processes");
}

TEST(Wrapped, KeepsThePageWidth) {
  const std::string text = wrapped(
      std::string(40, 'a') + ' ' + std::string(40, 'b') + ' ' + std::string(120, 'c') + " d", 4);
  EXPECT_EQ(text, "    " + std::string(40, 'a') + ' ' + std::string(40, 'b') + "\n    " +
                      std::string(120, 'c') + "\n    d\n");
  EXPECT_EQ(wrapped("", 2), "");
}

TEST(Shortened, KeepsRootAndEnd) {
  EXPECT_EQ(shortened("main/a/b", 20), "main/a/b");
  EXPECT_EQ(shortened("main/first/second/third/MPI_Recv", 26), "main/.../third/MPI_Recv");
  EXPECT_EQ(shortened("main/first/second/third/MPI_Recv", 18), "main/.../MPI_Recv");
}

TEST(Shortened, CutsAnEndlessName) {
  const std::string cut = shortened("main/" + std::string(50, 'x') + std::string(50, 'y'), 23);
  EXPECT_EQ(cut, std::string(10, 'x') + "..." + std::string(10, 'y'));
}

TEST(Shortened, KeepsWordsWhole) {
  const std::string call = "(blocked, unknown) in or between calls of multiprocessing.context";
  EXPECT_EQ(shortened(call, 59), "(blocked, unknown) in or ... of multiprocessing.context");
  EXPECT_EQ(shortened("a " + std::string(60, 'x'), 23),
            "a " + std::string(8, 'x') + "..." + std::string(10, 'x'));
}

TEST(Shortened, CountsCharactersNotBytes) {
  const std::string accents = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";
  EXPECT_EQ(shortened(accents, 4), accents);
  EXPECT_EQ(left(accents, 6), accents + "  ");
  EXPECT_EQ(right(accents, 6), "  " + accents);
}

TEST(Listed, JoinsWithCommasAndAnAnd) {
  EXPECT_EQ(listed(std::vector<std::string>{}), "");
  EXPECT_EQ(listed(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b"}), "a and b");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace culprit::report
