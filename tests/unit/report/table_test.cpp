// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tables of findings that are small enough to add up by hand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "report/table/tables.h"
#include "report/table/write.h"
#include "report/words/layout.h"

namespace culprit::report {
namespace {

constexpr CallPathId kMain(0), kSolve(1), kRecv(2);
constexpr LocationId kFirst(0), kWorker(1), kSecond(2);

/// Rank 0 with two threads and rank 1 with one: solve takes 3 + 1 s there and 2 s here, and rank 1
/// waits for 1.5 s in a receive, of which solve on rank 0 is the cause.
blame::Findings run() {
  blame::Findings f;
  f.run.wall_s = 4;
  f.run.ranks = 2;
  f.locations = {{"0.0", 0, 0, "n1", 4, 0, ""},
                 {"0.1", 0, 1, "n1", 4, 0, ""},
                 {"1.0", 1, 0, "n1", 4, 1.5, ""}};
  f.callpaths = {{"main", "main", "a.c", 1},
                 {"main/solve", "solve", "a.c", 9},
                 {"main/MPI_Recv", "MPI_Recv", "", 0}};
  f.profile = {{kMain, kFirst, 1, 1, 0, 0},
               {kSolve, kFirst, 10, 3, 0, 0},
               {kSolve, kWorker, 10, 1, 0, 0},
               {kSolve, kSecond, 10, 2, 0, 0},
               {kRecv, kSecond, 5, 1.5, 0, 0}};
  f.waits = {{"mpi.late_sender", kRecv, kSecond, 5, 1.5, 0, 0}};
  f.delays = {{"mpi.late_sender", kSolve, kFirst, 1.25, 0.25}};
  f.critical_path = {{kSolve, kFirst, 3}, {kMain, kFirst, 1}};
  return f;
}

ReportTable table(GroupBy by, const Selection& selection = {}, size_t top = 0) {
  auto made = make_table(run(), by, selection, top);
  EXPECT_TRUE(made) << made.error().sentence;
  return std::move(made).value();
}

std::string csv(GroupBy by, const Selection& selection = {}) {
  return table_csv(table(by, selection));
}

// Of solve, rank 0 has 4 s and rank 1 has 2 s: mean 3, deviation 1.
TEST(Table, OfCallPathsNamesTheLargestRank) {
  EXPECT_EQ(csv(GroupBy::callpath),
            "name,visits,time_s,waiting_s,caused_s,critical_s,largest_rank,largest_rank_s,variation"
            "\r\nmain/solve,30,6,0,1.5,3,0,4,0.3333333333333333"
            "\r\nmain/MPI_Recv,5,1.5,1.5,0,0,1,1.5,1"
            "\r\nmain,1,1,0,0,1,0,1,1\r\n");
}

TEST(Table, OfRanksAddsTheirThreads) {
  EXPECT_EQ(csv(GroupBy::rank),
            "name,visits,time_s,waiting_s,caused_s,critical_s\r\n0,21,5,0,1.5,4\r\n"
            "1,15,3.5,1.5,0,0\r\n");
}

TEST(Table, OfThreadsAndFunctions) {
  EXPECT_NE(csv(GroupBy::thread).find("\r\n0.1,10,1,0,0,0\r\n"), std::string::npos);
  EXPECT_NE(csv(GroupBy::region).find("\r\nsolve (a.c:9),30,6,"), std::string::npos);
}

TEST(Table, OfPatterns) {
  EXPECT_EQ(csv(GroupBy::pattern),
            "pattern,name,count,waiting_s,indirect_s,propagating_s,largest_rank,largest_rank_s,"
            "variation\r\nmpi.late_sender,Late sender,5,1.5,0,0,1,1.5,1\r\n");
}

// Those of the user's own stand behind the others, in a column of their own: sums stay true.
TEST(Table, OfPatternsHasTheUsersOwn) {
  blame::Findings findings = run();
  findings.user_patterns = {{"Mine", "what I look for"}};
  findings.user_waits = {{"Mine", CallPathId(0), LocationId(0), 3, 0.5}};
  const auto all = make_table(findings, GroupBy::pattern, {}, 0);
  ASSERT_TRUE(all) << all.error().sentence;
  EXPECT_NE(table_csv(*all).find("mpi.late_sender,Late sender,5,1.5,0,0,,1,1.5,1\r\n"
                                 "Mine,Mine,3,,,,0.5,0,0.5,1\r\n"),
            std::string::npos)
      << table_csv(*all);
  Selection selection;
  selection.pattern = "Mine";
  const auto places = make_table(findings, GroupBy::callpath, selection, 0);
  ASSERT_TRUE(places) << places.error().sentence;
  ASSERT_EQ(places->rows.size(), 1u);
  EXPECT_EQ(std::get<double>(places->rows[0][3]), 0.5);
  EXPECT_EQ(make_table(findings, GroupBy::pattern, selection, 0)->rows.size(), 1u);
  selection.pattern = "Theirs";
  EXPECT_FALSE(make_table(findings, GroupBy::pattern, selection, 0));
}

// main takes time and has nothing to do with the pattern.
TEST(Table, OfAPatternHasThoseThatWaitAndThoseThatCauseIt) {
  Selection selection;
  selection.pattern = "mpi.late_sender";
  const ReportTable of_pattern = table(GroupBy::callpath, selection);
  ASSERT_EQ(of_pattern.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(of_pattern.rows[0][0]), "main/MPI_Recv");
  EXPECT_EQ(std::get<std::string>(of_pattern.rows[1][0]), "main/solve");
}

TEST(Table, OfOneRankAlone) {
  Selection selection;
  selection.ranks = {1};
  EXPECT_EQ(csv(GroupBy::callpath, selection),
            "name,visits,time_s,waiting_s,caused_s,critical_s\r\nmain/solve,10,2,0,0,0\r\n"
            "main/MPI_Recv,5,1.5,1.5,0,0\r\n");
}

TEST(Table, OfSomeCallPathsOrPatternsAlone) {
  Selection selection;
  selection.callpath = "main/MPI_*";
  EXPECT_EQ(table(GroupBy::callpath, selection).rows.size(), 1u);
  selection = {};
  selection.pattern = "omp";
  EXPECT_TRUE(table(GroupBy::pattern, selection).rows.empty());
  selection.pattern = "mpi.p2p";  // the family
  EXPECT_EQ(table(GroupBy::pattern, selection).rows.size(), 1u);
}

TEST(Table, RefusesWhatIsNotThere) {
  Selection selection;
  selection.ranks = {7};
  EXPECT_FALSE(make_table(run(), GroupBy::rank, selection, 0));
  selection = {};
  selection.pattern = "mpi.nonsense";
  EXPECT_FALSE(make_table(run(), GroupBy::rank, selection, 0));
  selection = {};
  selection.callpath = "solv";
  EXPECT_FALSE(make_table(run(), GroupBy::rank, selection, 0));
  selection.callpath = "solve";  // a function's name
  EXPECT_TRUE(make_table(run(), GroupBy::rank, selection, 0));
  selection.callpath = "main*";
  EXPECT_FALSE(make_table(run(), GroupBy::phase, selection, 0));
}

TEST(Table, ListsOfRanks) {
  EXPECT_EQ(parse_ranks("0,4-6").value(), (std::set<uint32_t>{0, 4, 5, 6}));
  for (const char* wrong : {"", "a", "3-1", "1,,2", "1-", "-1", "1 2"}) {
    EXPECT_FALSE(parse_ranks(wrong)) << wrong;
  }
  EXPECT_EQ(parse_ranks("4294967295").value(), (std::set<uint32_t>{UINT32_MAX}));
  EXPECT_EQ(ranks_in_words({0, 4, 5, 6, 9}), "0, 4-6, 9");
}

TEST(Table, OfADifferenceHasWhatIsGone) {
  blame::Findings change = run();
  change.run.operation = blame::Operation::diff;
  for (blame::FoundProfile& row : change.profile) row.time_s = -row.time_s, row.visits = 0;
  const auto made = make_table(change, GroupBy::region, {}, 0);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->rows.size(), 3u);
  EXPECT_EQ(std::get<std::string>(made->rows[0][0]), "solve (a.c:9)");
  EXPECT_EQ(std::get<double>(made->rows[0][2]), -6);
}

TEST(Table, KeepsTheSpreadWhereThePageIsNarrow) {
  ReportTable wide;
  wide.columns = {{"name", "name", CellKind::text},
                  {"kind", "kind", CellKind::text},
                  {"visits", "visits", CellKind::count, true},
                  {"time_s", "time"},
                  {"variation", "variation", CellKind::share}};
  wide.rows = {{std::string(60, 'n'), std::string(90, 'k'), uint64_t{123456789}, 1.0, 0.5}};
  const std::string text = table_text(wide);
  EXPECT_NE(text.find("variation"), std::string::npos) << text;
  EXPECT_NE(text.find("0.50"), std::string::npos) << text;
}

TEST(Table, CutsAndSaysSo) {
  const ReportTable cut = table(GroupBy::callpath, {}, 1);
  EXPECT_EQ(cut.rows.size(), 1u);
  EXPECT_EQ(cut.left_out, 2u);
  EXPECT_NE(table_text(cut).find("and 2 other rows"), std::string::npos);
}

TEST(Table, NamesAreOnlyText) {
  ReportTable named;
  named.title = "x";
  named.columns = {{"name", "name", CellKind::text}, {"time_s", "time"}};
  named.rows = {{std::string("a,\"b\"|<i>\x1b[31m\n"), 0.5}};
  EXPECT_EQ(table_csv(named), "name,time_s\r\n\"a,\"\"b\"\"|<i>\x1b[31m\n\",0.5\r\n");
  EXPECT_NE(table_markdown(named).find("a,\"b\"\\|\\<i\\>\\\\x1b\\[31m\\\\n"), std::string::npos)
      << table_markdown(named);
  EXPECT_EQ(table_text(named).find('\x1b'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(table_json(named))[0]["time_s"], 0.5);
}

TEST(Table, FitsATerminalOfAnyWidth) {
  blame::Findings findings = run();
  findings.callpaths[1].name = "main/" + std::string(60, 's') + "/solve";
  const size_t width = page_width();
  for (const size_t columns : {40U, 60U, 80U, 132U}) {
    set_page_width(columns);
    const std::string text =
        table_text(std::move(make_table(findings, GroupBy::callpath, {}, 0)).value());
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), columns) << line << "\n" << text;
    }
    EXPECT_NE(text.find("6.00 s"), std::string::npos) << text;
    EXPECT_EQ(text.find("narrow for") != std::string::npos, columns < 132) << text;
  }
  set_page_width(width);
}

TEST(Table, TextLinesUp) {
  const std::string text = table_text(table(GroupBy::rank));
  EXPECT_NE(text.find("\nrank  visits    time  waiting  causes  critical path\n"
                      "0         21  5.00 s"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace culprit::report
