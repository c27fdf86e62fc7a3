// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Pages of culprit top, and what keys make of them, without a terminal.
#include "cli/top/top_view.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "sample.h"

namespace culprit::cli {
namespace {

constexpr double kNow_s = 1002;

/// Lines of a page without what marks and clears.
std::vector<std::string> lines_of(std::string page) {
  for (const std::string_view sequence : {"\033[7m", "\033[27m", "\033[K", "\r"}) {
    for (size_t at; (at = page.find(sequence)) != page.npos;) page.erase(at, sequence.size());
  }
  std::vector<std::string> lines;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string marked(const std::string& page) {
  const size_t begin = page.find("\033[7m"), end = page.find("\033[27m");
  return begin == page.npos ? "" : page.substr(begin + 4, end - begin - 4);
}

class TopViewTest : public testing::Test {
 protected:
  TopViewTest() { view_.set(sample()); }

  std::string page(size_t rows = 30, size_t columns = 120) {
    return view_.page(rows, columns, kNow_s);
  }
  void press(std::initializer_list<TopKey> keys) {
    for (const TopKey key : keys) EXPECT_TRUE(view_.press(key));
  }

  TopView view_{"run1"};
};

TEST_F(TopViewTest, SaysHowOldItsDataIs) {
  EXPECT_NE(page().find("3.0 s old"), std::string::npos) << page();
  EXPECT_NE(page().find("80 %"), std::string::npos) << page();
}

TEST_F(TopViewTest, PointsToTheCommandForRunsThatHang) {
  Now now = sample();
  now.findings.run.wall_s = 20;
  const auto stuck = [&](LocationId location, double since_s) {
    now.findings.stuck.push_back(
        {0, true, true, location, "MPI_Recv", "main/MPI_Recv", "", since_s, ""});
  };
  EXPECT_EQ(hang_in_words(now.findings, "run1"), "");
  stuck(LocationId(0), 19);
  EXPECT_EQ(hang_in_words(now.findings, "run1"), "") << "it may only seem so";
  stuck(LocationId(1), 8);
  now.hangs = hang_in_words(now.findings, "run1");
  EXPECT_NE(now.hangs.find("in MPI_Recv for 12 s."), std::string::npos) << now.hangs;
  view_.set(std::move(now));
  EXPECT_NE(page().find("`culprit stuck run1`"), std::string::npos) << page();
}

TEST_F(TopViewTest, FitsInAnyTerminal) {
  for (const size_t rows : {1, 2, 4, 5, 10, 24, 200}) {
    for (const size_t columns : {10, 20, 40, 41, 80, 300}) {
      const std::vector<std::string> lines = lines_of(page(rows, columns));
      EXPECT_LE(lines.size(), rows);
      for (const std::string& line : lines) EXPECT_LE(line.size(), columns) << line;
    }
  }
}

TEST_F(TopViewTest, RowsAreWhatTabChooses) {
  EXPECT_NE(page().find("functions"), std::string::npos);
  for (const char* word : {"call paths", "ranks", "threads", "waits", "devices", "functions"}) {
    press({TopKey::next_view});
    EXPECT_NE(page().find(word), std::string::npos) << page();
  }
  press({TopKey::previous_view, TopKey::previous_view});
  EXPECT_NE(page().find("mpi.late_sender"), std::string::npos) << page();
}

TEST_F(TopViewTest, EnterShowsWhatARowIsMadeOf) {
  press({TopKey::next_view, TopKey::next_view});  // ranks, the first of which has 10 s
  press({TopKey::into});
  EXPECT_NE(page().find("ranks > 0 > functions"), std::string::npos) << page();
  EXPECT_NE(page().find("solve"), std::string::npos) << page();
  EXPECT_EQ(page().find("MPI_Recv"), std::string::npos) << page();
  press({TopKey::back, TopKey::down, TopKey::into});
  EXPECT_NE(page().find("MPI_Recv"), std::string::npos) << page();
}

TEST_F(TopViewTest, FromAFunctionToItsThreads) {
  while (marked(page()).find("solve") == std::string::npos) press({TopKey::down});
  press({TopKey::into});
  EXPECT_NE(page().find("main/solve"), std::string::npos) << page();
  EXPECT_EQ(page().find("main/MPI_Recv"), std::string::npos) << page();
  press({TopKey::into});
  EXPECT_NE(marked(page()).find("0.0"), std::string::npos) << page();
  press({TopKey::into, TopKey::back, TopKey::back, TopKey::back, TopKey::back});
  EXPECT_NE(page().find("functions"), std::string::npos) << page();
}

TEST_F(TopViewTest, SortsByTheChosenColumnEitherWay) {
  press({TopKey::previous_column});
  const std::string by_last = marked(page());
  press({TopKey::reverse, TopKey::first});
  EXPECT_NE(marked(page()), by_last);
  EXPECT_NE(page().find(" by "), std::string::npos) << page();
}

TEST_F(TopViewTest, TheChosenRowStaysOnThePage) {
  Now now = sample();
  for (uint32_t i = 0; i < 100; ++i) {
    const std::string name = "function_" + std::to_string(i);
    now.findings.callpaths.push_back({"main/" + name, name, "", 0});
    now.findings.profile.push_back(
        {CallPathId(now.findings.callpaths.size() - 1), LocationId(0), 1, 0.001 * (1 + i)});
  }
  view_.set(std::move(now));
  press({TopKey::last});
  EXPECT_NE(marked(page(20)).find("function_0"), std::string::npos) << page(20);
  press({TopKey::first});
  EXPECT_NE(marked(page(20)).find("solve"), std::string::npos) << page(20);
  press({TopKey::page_down, TopKey::down, TopKey::page_up, TopKey::up, TopKey::up});
  EXPECT_NE(marked(page(20)).find("solve"), std::string::npos) << page(20);
}

TEST_F(TopViewTest, FewerRowsAfterARefreshLeaveOneChosen) {
  press({TopKey::last});
  Now now = sample();
  now.findings.profile.resize(1);
  now.findings.waits.clear();
  now.findings.delays.clear();
  view_.set(std::move(now));
  EXPECT_NE(marked(page()).find("solve"), std::string::npos) << page();
}

TEST_F(TopViewTest, HelpGoesWithAnyKey) {
  press({TopKey::help});
  EXPECT_NE(page().find("Backspace"), std::string::npos);
  EXPECT_EQ(marked(page()), "");
  press({TopKey::down});
  EXPECT_NE(page().find("solve"), std::string::npos);
  EXPECT_FALSE(view_.press(TopKey::quit));
}

TEST_F(TopViewTest, AProblemStandsBesideTheOldPage) {
  view_.set_problem("the disk is gone");
  EXPECT_NE(page().find("the disk is gone"), std::string::npos);
  EXPECT_NE(page().find("solve"), std::string::npos);
}

TEST_F(TopViewTest, BeforeThereIsAnything) {
  TopView empty("run1");
  for (const TopKey key : {TopKey::down, TopKey::into, TopKey::last, TopKey::next_column}) {
    EXPECT_TRUE(empty.press(key));
  }
  EXPECT_NE(empty.page(10, 80, 0).find("run1"), std::string::npos);
  EXPECT_FALSE(empty.plain(0).empty());
}

TEST_F(TopViewTest, PlainTextHasNoSequences) {
  const std::string text = view_.plain(kNow_s);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("solve"), std::string::npos);
}

}  // namespace
}  // namespace culprit::cli
