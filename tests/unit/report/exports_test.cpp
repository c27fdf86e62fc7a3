// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Exports of findings and excerpts that are small enough to write the expected file by hand. That
// other tools read them is tried in tests/page and by hand: docs/exports.md says with which.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/exports/exports.h"
#include "report/exports/figures.h"
#include "report/exports/nesting.h"
#include "report/exports/tar.h"

namespace culprit::report {
namespace {

namespace fs = std::filesystem;

constexpr CallPathId kMain(0), kSolve(1), kRecv(2);
constexpr LocationId kFirst(0), kSecond(1);

blame::Findings findings() {
  blame::Findings f;
  f.run.command = "mpirun <a&b>";
  f.run.ranks = 2;
  f.locations = {{"0.0", 0, 0, "n1", 4, 0, ""}, {"1.0", 1, 0, "n2", 4, 1.5, ""}};
  f.callpaths = {{"main", "main", "a.c", 1, {}, false, "user"},
                 {"main/so;l\"ve", "so;l\"ve", "a.c", 9, kMain, false, "user"},
                 {"main/MPI_Recv", "MPI_Recv", "", 0, kMain, false, "mpi"}};
  f.profile = {{kMain, kFirst, 1, 1, 0, 0},
               {kSolve, kFirst, 10, 3, 0, 0},
               {kSolve, kSecond, 10, 2.5, 0, 0},
               {kRecv, kSecond, 5, 1.5, 0, 0}};
  f.waits = {{"mpi.late_sender", kRecv, kSecond, 5, 1.5, 0, 0}};
  f.delays = {{"mpi.late_sender", kSolve, kFirst, 1.25, 0.25}};
  f.critical_path = {{kSolve, kFirst, 3}, {kMain, kFirst, 1}};
  return f;
}

Time at(int64_t ns) {
  return Time::from_nanos(ns);
}

/// main calls solve, receives, and solve again; the message came from the other.
blame::Excerpt excerpt() {
  blame::Excerpt e;
  e.locations = findings().locations;
  e.callpaths = findings().callpaths;
  e.activities = {{kFirst, kMain, at(0), at(10)},
                  {kFirst, kSolve, at(10), at(30)},
                  {kSecond, kRecv, at(0), at(20)},
                  {kSecond, kSolve, at(25), at(30)}};
  e.waits = {{kSecond, kRecv, replay::pattern("mpi.late_sender"), kFirst, at(5), at(15)}};
  e.messages = {{kFirst, kSecond, at(15), at(20), 8}};
  e.critical = {{kFirst, kSolve, at(0), at(30)}};
  return e;
}

class Exports : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("culprit-exports-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  template <class Given>
  std::string write(Result<void> (*form)(const Given&, const fs::path&), const Given& given) {
    const fs::path file = folder_ / "out";
    const auto done = form(given, file);
    EXPECT_TRUE(done.ok()) << (done ? "" : done.error().sentence);
    return read(file);
  }
  static std::string read(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  fs::path folder_;
};

TEST_F(Exports, FoldedHasAStackForEachRank) {
  EXPECT_EQ(write(export_folded, findings()),
            "rank 0;main 1000000\n"
            "rank 0;main;so:l\"ve 3000000\n"
            "rank 1;main;so:l\"ve 2500000\n"
            "rank 1;main;MPI_Recv 1500000\n");
}

TEST_F(Exports, NothingIsOverwritten) {
  write(export_folded, findings());
  const auto again = export_folded(findings(), folder_ / "out");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().sentence.find("exists already"), std::string::npos);
}

TEST_F(Exports, WhatCannotHoldLessThanNothingSaysSo) {
  blame::Findings change = findings();
  change.run.operation = blame::Operation::diff;
  EXPECT_TRUE(export_folded(change, folder_ / "more"));
  change.profile[0].time_s = -0.25;
  change.run.operation = blame::Operation::cut;  // values count, however they came about
  for (const auto format : {export_folded, export_speedscope}) {
    const auto written = format(change, folder_ / "less");
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().sentence.find("below zero"), std::string::npos);
    EXPECT_FALSE(fs::exists(folder_ / "less"));
  }
  EXPECT_TRUE(export_hatchet(change, folder_ / "hatchet"));
}

TEST_F(Exports, SpeedscopeHasTimeWaitingDelaysAndRanks) {
  const auto file = nlohmann::json::parse(write(export_speedscope, findings()));
  ASSERT_EQ(file["profiles"].size(), 5u);
  EXPECT_EQ(file["profiles"][0]["endValue"], 8.0);
  EXPECT_EQ(file["profiles"][1]["endValue"], 1.5);
  EXPECT_EQ(file["profiles"][2]["endValue"], 1.5);
  EXPECT_EQ(file["profiles"][3]["name"], "Time, rank 0");
  EXPECT_EQ(file["profiles"][3]["samples"], nlohmann::json::parse("[[0],[0,1]]"));
  EXPECT_EQ(file["profiles"][3]["weights"], nlohmann::json::parse("[1.0,3.0]"));
  EXPECT_EQ(file["shared"]["frames"][1]["line"], 9);
}

TEST_F(Exports, HatchetIsExclusiveAndInclusive) {
  const auto literal = nlohmann::json::parse(write(export_hatchet, findings()));
  ASSERT_EQ(literal.size(), 1u);
  EXPECT_EQ(literal[0]["metrics"]["time"], 1.0);
  EXPECT_EQ(literal[0]["metrics"]["time (inc)"], 8.0);
  EXPECT_EQ(literal[0]["metrics"]["waiting (inc)"], 1.5);
  EXPECT_EQ(literal[0]["children"][0]["frame"]["name"], "so;l\"ve");
  EXPECT_EQ(literal[0]["children"][0]["metrics"]["delay"], 1.5);
}

TEST_F(Exports, ExtrapHasAValueALine) {
  std::istringstream lines(write<blame::Findings>(export_extrap, findings()));
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[1]["callpath"], "main->so;l\"ve");
  EXPECT_EQ(all[1]["params"]["p"], 2);
  EXPECT_EQ(all[1]["metric"], "time");
  EXPECT_EQ(all[1]["value"], 5.5);
}

// Extra-P refuses call paths that are not in all points.
TEST_F(Exports, ExtrapGivesEachRunAllCallPaths) {
  const blame::Findings a = findings();
  blame::Findings b = findings();
  b.run.ranks = 4;
  b.callpaths[2] = {"main/MPI_Send", "MPI_Send", "", 0, kMain, false, "mpi"};
  const blame::Findings* const runs[] = {&a, &b};
  ASSERT_TRUE(export_extrap(runs, folder_ / "points"));
  std::istringstream lines(read(folder_ / "points"));
  std::map<std::string, std::map<int, double>> times;
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    if (row["metric"] != "time") continue;
    times[row["callpath"].get<std::string>()][row["params"]["p"].get<int>()] = row["value"];
  }
  EXPECT_EQ(times.size(), 4u);
  EXPECT_EQ(times["main->MPI_Recv"], (std::map<int, double>{{2, 1.5}, {4, 0}}));
  EXPECT_EQ(times["main->MPI_Send"], (std::map<int, double>{{2, 0}, {4, 1.5}}));
}

TEST_F(Exports, CsvQuotesNamesAndHasAFileForEachTable) {
  write(export_csv, findings());
  EXPECT_EQ(read(folder_ / "out" / "waits.csv"),
            "pattern,callpath,location,count,time_s,indirect_s,propagating_s\r\n"
            "mpi.late_sender,main/MPI_Recv,1.0,5,1.5,0,0\r\n");
  EXPECT_EQ(read(folder_ / "out" / "delays.csv"),
            "pattern,callpath,location,short_s,long_s\r\n"
            "mpi.late_sender,\"main/so;l\"\"ve\",0.0,1.25,0.25\r\n");
  EXPECT_TRUE(fs::exists(folder_ / "out" / "run.csv"));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "losses.csv"));
}

/// The content of a member of an archive.
std::string member(const std::string& tar, const std::string& name) {
  for (size_t at = 0; at + 512 <= tar.size() && tar[at] != '\0';) {
    const size_t size = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
    if (tar.compare(at, name.size() + 1, name + '\0') == 0) return tar.substr(at + 512, size);
    at += 512 + (size + 511) / 512 * 512;
  }
  return "(no such member)";
}

TEST_F(Exports, CubeHasValuesDepthFirst) {
  const std::string tar = write(export_cube, findings());
  EXPECT_EQ(tar.size() % 512, 0u);
  const std::string anchor = member(tar, "anchor.xml");
  EXPECT_NE(anchor.find("mpirun &lt;a&amp;b&gt;"), std::string::npos);
  EXPECT_NE(anchor.find("<uniq_name>mpi.late_sender</uniq_name>"), std::string::npos);
  const std::string index = member(tar, "0.index"), data = member(tar, "0.data");
  ASSERT_EQ(index.size(), 11 + 4 + 2 + 1 + 4 + 3 * 4u);
  EXPECT_EQ(index.substr(22), std::string("\1\0\0\0\2\0\0\0\3\0\0\0", 12));
  double values[6];
  ASSERT_EQ(data.size(), 10 + sizeof values);
  std::memcpy(values, data.data() + 10, sizeof values);
  const double expected[6] = {1, 0, 3, 2.5, 0, 1.5};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(values[i], expected[i]) << i;
}

TEST_F(Exports, CubeHasGridsOfProcesses) {
  blame::Findings f = findings();
  f.topologies = {{"a<b", blame::TopologyKind::grid, "1,2", "0,1"},
                  {"graph 0", blame::TopologyKind::graph, "", ""}};
  f.topology_places = {
      {"a<b", 0, "0,1", "", 0}, {"a<b", 1, "0,0", "", 0}, {"graph 0", 0, "", "1", 1}};
  const std::string anchor = member(write(export_cube, f), "anchor.xml");
  EXPECT_NE(anchor.find("<topologies>\n<cart name=\"a&lt;b\" ndims=\"2\">\n"
                        "<dim size=\"1\" periodic=\"false\"/>\n"
                        "<dim size=\"2\" periodic=\"true\"/>\n"
                        "<coord lgId=\"0\">0 1</coord>\n<coord lgId=\"1\">0 0</coord>\n"
                        "</cart>\n</topologies>\n"),
            std::string::npos)
      << anchor;
}

TEST(Tar, SumsUpItsHead) {
  Tar tar;
  tar.add("a", "xyz");
  const std::string archive = tar.take();
  ASSERT_EQ(archive.size(), 4 * 512u);
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(archive[i]);
  }
  EXPECT_EQ(std::stoul(archive.substr(148, 6), nullptr, 8), sum);
}

TEST(Nesting, LeavesWhatIsNotCommon) {
  std::string steps;
  const blame::Excerpt given = excerpt();
  Nesting(given).play(
      [&](LocationId id, CallPathId path, Time time) {
        steps += "+" + std::to_string(id.index()) + std::to_string(path.index()) + "@" +
                 std::to_string(time.nanos()) + " ";
      },
      [&](LocationId id, CallPathId path, Time time) {
        steps += "-" + std::to_string(id.index()) + std::to_string(path.index()) + "@" +
                 std::to_string(time.nanos()) + " ";
      });
  EXPECT_EQ(steps,
            "+00@0 +01@10 -01@30 -00@30 "
            "+10@0 +12@0 -12@20 +11@25 -11@30 -10@30 ");
}

TEST_F(Exports, PipitHasALineForEachEvent) {
  EXPECT_EQ(write(export_pipit, excerpt()),
            "Timestamp (ns),Event Type,Name,Process,Thread\n"
            "0.00,Enter,main,0,0\n"
            "10.00,Enter,\"so;l\"\"ve\",0,0\n"
            "30.00,Leave,\"so;l\"\"ve\",0,0\n"
            "30.01,Leave,main,0,0\n"
            "0.00,Enter,main,1,0\n"
            "0.01,Enter,MPI_Recv,1,0\n"
            "20.00,Leave,MPI_Recv,1,0\n"
            "25.00,Enter,\"so;l\"\"ve\",1,0\n"
            "30.00,Leave,\"so;l\"\"ve\",1,0\n"
            "30.01,Leave,main,1,0\n");
}

/// The packets of a trace, each as its fields' numbers with what is in the first of a kind.
std::vector<std::string> packets(const std::string& trace) {
  std::vector<std::string> found;
  for (size_t at = 0; at < trace.size();) {
    EXPECT_EQ(trace[at], 0x0a);  // field 1, a message
    size_t length = 0, shift = 0;
    for (++at;; ++at, shift += 7) {
      length |= (static_cast<unsigned char>(trace[at]) & 0x7fu) << shift;
      if ((trace[at] & 0x80) == 0) break;
    }
    found.push_back(trace.substr(at + 1, length));
    at += 1 + length;
  }
  return found;
}

TEST_F(Exports, PerfettoHasTracksSlicesAndFlows) {
  const auto all = packets(write(export_perfetto, excerpt()));
  // 6 tracks, 10 entries and leaves, 2 + 2 of the wait, 2 of the message, 2 of the critical path.
  EXPECT_EQ(all.size(), 6 + 10 + 4 + 2 + 2u);
  size_t flows = 0, ends = 0;
  for (const std::string& packet : all) {
    flows += packet.find(std::string("\xf9\x02", 2)) != std::string::npos;  // field 47, eight bytes
    ends += packet.find(std::string("\x81\x03", 2)) != std::string::npos;   // field 48
  }
  EXPECT_EQ(flows, 2u);
  EXPECT_EQ(ends, 2u);
}

TEST(Exported, EachHasANameAndASummary) {
  for (const FindingsExport& each : findings_exports()) EXPECT_FALSE(each.summary.empty());
  for (const ExcerptExport& each : excerpt_exports()) EXPECT_FALSE(each.summary.empty());
  EXPECT_EQ(findings_exports().size() + excerpt_exports().size(), 9u);
}

}  // namespace
}  // namespace culprit::report
