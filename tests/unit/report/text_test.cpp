// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the page must say, not how it is set: the guilty one is named with its place, its cost and
// its victims, the special cases read as sentences, and no line runs off the page.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "blame/judge/diagnose.h"
#include "report/formats.h"
#include "report/words/layout.h"
#include "report/words/patterns.h"
#include "samples.h"

namespace culprit::report {
namespace {

std::string page(blame::Findings findings) {
  blame::diagnose(findings);
  return text(findings, "culprit.x.1");
}

bool has(const std::string& page, std::string_view words) {
  // Lines break anywhere between words: compare with all runs of blanks as one.
  std::string flat;
  std::istringstream stream(page);
  for (std::string word; stream >> word;) flat += word + ' ';
  return flat.find(words) != std::string::npos;
}

TEST(Text, NamesTheGuiltyOne) {
  const std::string p = page(hybrid_chain());
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p, "16.00 s (48.5 %) was waiting time"));
  EXPECT_TRUE(has(p, "1. 13.00 s 81.2 % !$omp parallel @chain.c:20"));
  EXPECT_TRUE(has(p, "on rank 0 thread 1 (11.25 s) and rank 0 thread 0 (1.75 s)"));
  EXPECT_TRUE(has(p, "rank 0 thread 0 wait 6.00 s in !$omp implicit barrier"));
  EXPECT_TRUE(has(p, "Waits that follow from these: 5.25 s"));
  EXPECT_TRUE(has(p, "Measurement overhead: about 0.4 %"));
  EXPECT_TRUE(has(p, "culprit report culprit.x.1 --format json"));
}

TEST(Text, BeginsWithAVerdict) {
  EXPECT_TRUE(
      has(page(hybrid_chain()),
          "Verdict: 39 % of the time is waiting for !$omp parallel @chain.c:20 on rank 0 thread 1 "
          "(86.5 %) and rank 0 thread 0 (13.5 %)."));
}

TEST(Text, NamesFilesWithoutTheirFolders) {
  blame::Findings findings = hybrid_chain();
  for (blame::FoundCallPath& path : findings.callpaths) path.file = "/opt/code/" + path.file;
  const std::string p = page(findings);
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p, "is waiting for !$omp parallel @chain.c:20 on rank 0 thread 1 (86.5 %)"));
  EXPECT_TRUE(has(p, "main (chain.c:40)"));
  EXPECT_FALSE(has(p, "/opt"));
}

TEST(Text, FitsItsOverviewOnAScreen) {
  const std::string p = page(hybrid_chain());
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p,
                  "Efficiency, of the threads' time without start-up and shutdown 45.5 % parallel "
                  "efficiency: MPI 69.7 % x OpenMP 65.2 %"));
  EXPECT_TRUE(has(p, "69.7 % MPI: load balance 76.7 % x transfer 90.9 %"));
  EXPECT_TRUE(has(p, "65.2 % OpenMP: serial regions 91.3 % x load balance 71.4 %"));
  EXPECT_TRUE(has(p, "Wait states, of allocated time 21.2 % Late sender"));
  EXPECT_TRUE(has(p,
                  "Root causes, of all waiting time 81.2 % !$omp parallel @chain.c:20: 1 of 3 "
                  "threads has more than the others"));
  EXPECT_TRUE(has(p, "12.5 % main (chain.c:40): 1 of 2 ranks has more than the other"));
  EXPECT_TRUE(has(p, "Critical path, of the run time 72.7 % !$omp parallel @chain.c:20"));
  EXPECT_TRUE(has(
      p,
      "Idle threads, of their idle time 66.7 % while others executed !$omp parallel @chain.c:20"));
  EXPECT_TRUE(has(p, "11.1 % no thread worked: in MPI"));
  const size_t overview = p.find("WHERE THE TIME WENT");
  ASSERT_NE(overview, std::string::npos);
  EXPECT_LE(std::count(p.begin(), p.begin() + static_cast<long>(overview), '\n'), 30);
}

TEST(Text, LeavesOutWhatIsPerfect) {
  blame::Findings findings = hybrid_chain();
  for (blame::FoundEfficiency& row : findings.efficiencies) {
    if (to_string(row.name).starts_with("omp")) row.value = 1;
    if (row.name == blame::Factor::parallel) row.value = 23.0 / 33;
  }
  const std::string p = page(findings);
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p, "69.7 % parallel efficiency 69.7 % MPI: load balance"));
  EXPECT_FALSE(has(p, "OpenMP:"));
}

TEST(Text, NamesTheLongestWaits) {
  const std::string p = page(hybrid_chain());
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p,
                  "7.00 s Late sender at t = 3.0000 s: rank 1 thread 0 in MPI_Recv "
                  "waited for rank 0 thread 0, which had itself been waiting"));
  EXPECT_TRUE(has(p, "waited for rank 0 thread 1, delayed in !$omp parallel @chain.c:20"));
}

TEST(Text, SaysHowADelayIsDistributed) {
  blame::Findings findings = hybrid_chain();
  blame::FoundDistribution& row = findings.distributions[0];
  EXPECT_TRUE(has(page(findings), "Load: 1 of 3 threads has more than the others."));
  row = {row.callpath, 13, blame::Shape::spread, 64, 0, 0, blame::Movement::moves};
  EXPECT_TRUE(has(page(findings), "Load: on 64 threads, which moves from thread to thread."));
  row.movement = blame::Movement::stays;
  row.course = blame::Course::until;
  row.end_s = 4;
  EXPECT_TRUE(has(page(findings), "Load: uneven over 64 threads, until 4.00 s."));
}

TEST(Text, LeavesOutADistributionThatHasNoRoom) {
  blame::Findings findings = hybrid_chain();
  blame::FoundDistribution& row = findings.distributions[0];
  row = {row.callpath, 13, blame::Shape::spread, 64, 0, 0, blame::Movement::moves};
  const std::string name = "solve_" + std::string(54, 'x');
  blame::FoundCallPath& path = findings.callpaths[row.callpath.index()];
  path.region = name, path.file.clear();
  const std::string p = page(findings);
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p, "Root causes, of all waiting time 81.2 % " + name + " 12.5 %"));
}

/// A thousand call paths that end in two functions, none of them costly by itself.
blame::Findings spread() {
  blame::Findings findings = hybrid_chain();
  findings.delays.clear();
  findings.victims.clear();
  for (int i = 0; i < 1000; ++i) {
    const std::string region = i % 4 == 0 ? "pack" : "solve";
    findings.callpaths.push_back({"main/f" + std::to_string(i) + "/" + region, region, "", 0});
    findings.delays.push_back(
        {"mpi.late_sender", CallPathId(findings.callpaths.size() - 1), LocationId(0), 0.016, 0});
  }
  return findings;
}

TEST(Text, NamesTheFunctionOfManyCheapCallPathsInTheVerdict) {
  const std::string p = page(spread());
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p, "is waiting for solve on rank 0 thread 0."));
}

TEST(Text, KeepsStartUpApart) {
  blame::Findings findings = hybrid_chain();
  findings.callpaths[4].start_up = true;  // MPI_Send, to which 1 s is due
  findings.start_up = {0.5, 1, 1};
  const std::string p = page(findings);
  SCOPED_TRACE(p);
  EXPECT_TRUE(
      has(p, "Verdict: 42 % of the time is waiting for !$omp parallel @chain.c:20 on rank 0 "));
  EXPECT_TRUE(has(p,
                  "Start-up and shutdown: 0.50 s of 11.00 s; it causes 1.00 s of waiting. Not "
                  "included in the verdict, the delays and the efficiencies."));
  EXPECT_TRUE(has(p, "1.00 s 3.0 % of this stems from start-up and shutdown"));
  EXPECT_FALSE(has(p, "MPI_Send on rank 0"));
}

TEST(Text, SumsSpreadCostsByFunction) {
  const std::string p = page(spread());
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p, "12.00 s 75.0 % solve"));
  EXPECT_TRUE(has(p, "4.00 s 25.0 % pack"));
  EXPECT_FALSE(has(page(hybrid_chain()), "The same costs by function"));
}

TEST(Text, ExplainsCallPathsThatAreNowhere) {
  blame::Findings findings = hybrid_chain();
  findings.callpaths[findings.delays.front().callpath.index()].region = "(waking up)";
  EXPECT_TRUE(
      has(page(findings), "had been assigned to a parallel region but had not started yet"));
}

TEST(Text, GivesEachAdviceOnce) {
  blame::Findings findings = hybrid_chain();
  for (auto& delay : findings.delays) delay.pattern = "mpi.late_sender";
  const std::string p = page(findings);
  EXPECT_NE(p.find("Try:"), std::string::npos);
  EXPECT_EQ(p.find("Try:"), p.rfind("Try:"));
}

// Of a large run, findings have the victims of a few delays alone.
TEST(Text, AdvisesByTheWholeCostAndNotByExamples) {
  blame::Findings findings = hybrid_chain();
  const PatternText* barrier = find_pattern("omp.barrier");
  const PatternText* sender = find_pattern("mpi.late_sender");
  findings.victims = {
      {CallPathId(1), LocationId(0), "mpi.late_sender", CallPathId(5), LocationId(2), 1.75}};
  std::string p = page(findings);
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p,
                  "It made others wait 6.00 s [Wait at OpenMP barrier] and 1.75 s "
                  "[Late sender] (for example rank 1 thread 0 in MPI_Recv)."));
  EXPECT_TRUE(has(p, "Try: " + std::string(barrier->remedy)));
  EXPECT_FALSE(has(p, "Try: " + std::string(sender->remedy)));
  findings.victims.clear();
  EXPECT_TRUE(has(page(findings), "Try: " + std::string(barrier->remedy)));
}

// Counters of another run that took longer: their time is no part of this one's.
TEST(Text, SharesOfMergedCountersAreOfTheirOwnTime) {
  blame::Findings findings = hybrid_chain();
  findings.metrics = {{"cycles", "", false}};
  findings.counts = {{MetricId(0), CallPathId(0), LocationId(0), 100, 30},
                     {MetricId(0), CallPathId(1), LocationId(0), 100, 10}};
  EXPECT_TRUE(has(page(findings), "COUNTERS (share: of allocated time) 30.00 s 90.9 %"));
  findings.run.operation = blame::Operation::merge;
  EXPECT_TRUE(has(page(findings), "COUNTERS (share: of counted time) 30.00 s 75.0 %"));
}

// Phases are known of the whole run alone: their share of a part would be more than all of it.
TEST(Text, SaysWhatSharesInACutAreOf) {
  blame::Findings findings = hybrid_chain();
  blame::FoundStage phase;
  phase.kind = blame::StageKind::phase;
  phase.name = "solve";
  phase.visits = 1;
  phase.time_s = 30;
  phase.longest_location = LocationId(0);
  findings.stages = {phase};
  EXPECT_TRUE(has(page(findings), "Root causes, of all waiting time 81.2 %"));
  findings.run.operation = blame::Operation::cut;
  findings.inputs = {{"whole", blame::InputRole::one, "", 2, 3, 11, 120, 16}};
  const std::string p = page(findings);
  EXPECT_TRUE(has(p, "(of the whole run; share: of its allocated time) 30.00 s 25.0 %")) << p;
  EXPECT_TRUE(has(p, "Root causes, of all waiting time that these call paths cause 81.2 %")) << p;
}

/// A difference in which waiting grows by 10 s in a run of 10 s and 100 threads.
blame::Findings a_difference(double cause_s, double critical_s) {
  using blame::ChangedFigure;
  blame::Findings f;
  f.run.operation = blame::Operation::diff;
  f.inputs = {{"a", blame::InputRole::before, "", 2, 100, 10, 1000, 5},
              {"b", blame::InputRole::after, "", 2, 100, 10, 1000, 7}};
  f.changes = {{ChangedFigure::wall, "", 10, 10, -1, false},
               {ChangedFigure::time, "", 1000, 1000, -1, false},
               {ChangedFigure::waiting, "", 5, 15, -1, false},
               {ChangedFigure::delay, "slow", 1, 1 + cause_s, -1, false},
               {ChangedFigure::critical, "path", 1, 1 + critical_s, -1, false}};
  return f;
}

TEST(Text, SaysMostOfWhatIsHalfOrMoreAlone) {
  EXPECT_TRUE(has(page(a_difference(5, 0)), ", most of it caused by slow (+5.00 s)"));
  const std::string p = page(a_difference(4, 0));
  EXPECT_TRUE(has(p, ", the largest part of it caused by slow (+4.00 s)")) << p;
}

TEST(Text, SaysMostOfAScalingLossOnlyOfHalfOrMore) {
  blame::Findings f = a_difference(0, 0);
  f.callpaths = {{"solve", "solve", "", 0, CallPathId(), false, "user"}};
  blame::FoundScalingLoss whole;
  whole.ideal_s = 900, whole.after_s = 1000, whole.waiting_s = 60;
  blame::FoundScalingLoss part = whole;
  part.callpath = CallPathId(0);
  part.ideal_s = 100, part.after_s = 150, part.delay_s = 30;
  f.scaling_losses = {whole, part};
  std::string p = page(f);
  EXPECT_TRUE(has(p, "most of it in solve")) << p;
  EXPECT_TRUE(has(p, "solve causes most of the waiting")) << p;
  f.scaling_losses[1].after_s = 140, f.scaling_losses[1].delay_s = 20;
  p = page(f);
  EXPECT_TRUE(has(p, "the largest part of it in solve")) << p;
  EXPECT_TRUE(has(p, "solve causes the largest part of the waiting")) << p;
}

TEST(Text, SaysOfADifferenceThatARunsSumsDoNotAddUp) {
  blame::Findings f = a_difference(0, 0);
  f.identities.violations = {"in run 2 of 2: the costs are 3 s short"};
  EXPECT_TRUE(
      has(page(f), "ERROR: the sums of a run do not add up. Do not rely on this: in run 2"));
}

TEST(Text, JudgesTheCriticalPathByTheLengthOfTheRun) {
  EXPECT_TRUE(has(page(a_difference(5, 0.5)), "path +0.50 s on the critical path"));
  EXPECT_FALSE(has(page(a_difference(5, 0.005)), "on the critical path"));
}

// Less than a hundredth of what was before is no change that is worth a number.
TEST(Text, CallsLittleDifferencesTheSame) {
  blame::Findings f = a_difference(0, 0);
  f.changes[0].after_s = 10.05;
  f.changes[2].after_s = 5;
  f.changes.push_back({blame::ChangedFigure::time, "solve", 500, 504, -1, false});
  f.changes.push_back({blame::ChangedFigure::critical, "path", 9, 9.05, -1, false});
  const std::string p = page(f);
  EXPECT_TRUE(has(p, "The run takes as long as before")) << p;
  EXPECT_FALSE(has(p, "on the critical path")) << p;
  EXPECT_TRUE(has(p, "504.00 s the same solve")) << p;
}

TEST(Text, ListsTheLongestWaitFirst) {
  blame::Findings findings = hybrid_chain();
  for (blame::FoundInstance& each : findings.instances) {
    if (each.pattern == "omp.barrier") each.time_s = 7.5;
  }
  const std::string p = page(findings);
  const size_t list = p.find("LONGEST SINGLE WAITS");
  EXPECT_LT(p.find("Wait at OpenMP barrier at", list), p.find("Late sender at", list)) << p;
}

TEST(Text, LeavesOutTrifles) {
  blame::Findings findings = hybrid_chain();
  findings.delays.push_back({"mpi.late_sender", CallPathId(5), LocationId(2), 0.001, 0});
  const std::string p = page(findings);
  EXPECT_FALSE(has(p, "4. "));
  EXPECT_TRUE(has(p, "and 1 other call path"));
}

TEST(Text, StaysOnThePage) {
  blame::Findings findings = hybrid_chain();
  std::string deep = "main";
  for (int i = 0; i < 40; ++i) deep += "/a_function_of_some_length";
  for (auto& path : findings.callpaths) path.name = deep + "/" + path.region;
  std::istringstream lines(page(findings));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), page_width()) << line;
}

std::string page_of(size_t columns, const blame::Findings& findings) {
  const size_t width = page_width();
  set_page_width(columns);
  const std::string text = page(findings);
  set_page_width(width);
  return text;
}

// Where there is no room for a chain of factors, it goes on in the next line.
TEST(Text, NamesAllFactorsOnANarrowPage) {
  const std::string text = page_of(kRoomBeside, hybrid_chain());
  EXPECT_TRUE(has(text, "65.2 % OpenMP: serial regions 91.3 % x load balance 71.4 %")) << text;
}

TEST(Text, FitsATerminalOfAnyWidth) {
  for (const size_t columns : {40U, 41U, 50U, 71U, 72U, 80U, 132U}) {
    const std::string text = page_of(columns, hybrid_chain());
    EXPECT_TRUE(has(text, "13.00 s 81.2 %")) << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), columns) << line << "\n" << text;
    }
  }
}

TEST(Text, LeavesOutWhatIsTheSameForAll) {
  blame::Findings ranks_only = hybrid_chain();
  ranks_only.locations[1].rank = 5;
  ranks_only.locations[1].thread = 0;
  EXPECT_TRUE(has(page(ranks_only), "on rank 5 (11.25 s)"));
  blame::Findings threads_only = hybrid_chain();
  threads_only.locations[2].rank = 0;
  threads_only.locations[2].thread = 2;
  EXPECT_TRUE(has(page(threads_only), "on thread 1 (11.25 s)"));
}

TEST(Text, CountsTheLocationsThatItDoesNotName) {
  blame::Findings findings = hybrid_chain();
  for (uint32_t rank = 2; rank < 100; ++rank) {
    findings.locations.push_back({std::to_string(rank) + ".0", rank, 0, "n", 11, 0, ""});
    findings.delays.push_back({"omp.barrier", CallPathId(1), LocationId(rank + 1), 0.01, 0});
  }
  EXPECT_TRUE(has(page(findings), "rank 0 thread 0 (1.75 s) and 98 more"));
}

TEST(Text, SaysWhenNobodyWaited) {
  blame::Findings findings = hybrid_chain();
  findings.waits.clear();
  findings.delays.clear();
  findings.identities.waiting_s = 0;
  const std::string p = page(findings);
  EXPECT_TRUE(has(p, "No waiting time was found"));
  EXPECT_FALSE(has(p, "ROOT CAUSES"));
  EXPECT_FALSE(has(p, "WAIT STATES"));
}

TEST(Text, SaysWhenThereWasNobodyToWaitFor) {
  blame::Findings findings;
  findings.locations = {{"0.0", 0, 0, "n", 1, 0, ""}};
  findings.run.locations = findings.run.ranks = 1;
  findings.run.wall_s = findings.run.allocation_s = 1;
  EXPECT_TRUE(has(page(findings), "One thread ran alone"));
}

TEST(Text, ReadsWellOfNothing) {
  const std::string p = page({});
  EXPECT_TRUE(has(p, "No known gaps."));
  EXPECT_TRUE(has(p, "The measurement overhead is unknown."));
}

TEST(Text, LeavesTheTerminalAlone) {
  blame::Findings findings = hybrid_chain();
  findings.run.command = "mpirun ./a\x1b[2Jb";
  for (blame::FoundCallPath& path : findings.callpaths) path.region += "\x1b]0;title\x07";
  const std::string p = page(findings);
  EXPECT_EQ(p.find('\x1b'), std::string::npos);
  EXPECT_TRUE(has(p, "mpirun ./a\\x1b[2Jb"));
  EXPECT_TRUE(has(p, "\\x1b]0;title\\x07"));
}

TEST(Text, PutsErrorsFirst) {
  blame::Findings findings = hybrid_chain();
  findings.identities.violations = {"the costs are 3 s short of the waiting"};
  findings.losses.restore("dropped_records", {12345, Severity::data_loss, "the disk was full"});
  const std::string p = page(findings);
  EXPECT_LT(p.find("ERROR: the sums"), p.find("ROOT CAUSES"));
  EXPECT_TRUE(has(p, "ERROR: the costs are 3 s short of the waiting"));
  EXPECT_TRUE(has(p, "Data loss: the disk was full (dropped_records: 12 345)"));
}

TEST(Formats, AreFoundByName) {
  EXPECT_EQ(formats().front().name, "text");
  ASSERT_NE(find_format("json"), nullptr);
  EXPECT_EQ(find_format("html"), nullptr);
}

}  // namespace
}  // namespace culprit::report
