// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first sentence of a report must name what matters: each test is a run in which the costliest
// (call path, location) is the wrong answer.

#include "report/verdict/verdict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/formats.h"
#include "report/json/verdict_json.h"
#include "report/verdict/apart/start_up.h"
#include "tests/unit/report/drawing.h"

namespace culprit::report {
namespace {

using blame::Findings;

std::string function(const Findings& findings, const blame::Cause& cause) {
  return findings.callpaths[cause.example.index()].region;
}

double sum(const std::vector<blame::Cause>& list) {
  double all = 0;
  for (const blame::Cause& cause : list) all += cause.cost_s;
  return all;
}

TEST(Verdict, NamesTheCauseOfPollingThoughItIsNoWaiting) {
  Drawing d(2);
  d.delay("main/compute", 1, 0.1);
  d.findings().polling = {{d.path("main/MPI_Iprobe"), LocationId(0), 8, 60}};
  d.findings().polling_causes = {{d.path("main/late"), LocationId(1), 30},
                                 {d.path("main/solve/late"), LocationId(1), 20},
                                 {d.path("main/other"), LocationId(1), 5}};
  const std::string polling =
      "27.5 % of the allocated time was polling for messages, mostly caused by late on rank 1.";
  EXPECT_TRUE(adds(d.judge(), polling));
  d.findings().tiles = {{blame::Tile::polling, LocationId(0), 60, d.path("main/MPI_Iprobe"), 60},
                        {blame::Tile::useful, LocationId(1), 100, d.path("main"), 100}};
  d.findings().efficiencies = {{blame::Factor::parallel, blame::Factor::none, 0.7}};
  EXPECT_EQ(d.judge().text, polling);
}

TEST(Verdict, SumsAFunctionOverItsCallPathsAndRanks) {
  Drawing d(4);
  d.delay("main/adi/copy_faces/MPI_Waitall", 2, 18.8);
  for (const char* caller : {"main/adi", "main/init/adi", "main/verify/adi"}) {
    d.spread_delay(std::string(caller) + "/x_solve", 8.4);
  }
  d.spread_delay("main/adi/y_solve", 14);
  d.spread_delay("main/adi/z_solve", 12);
  const Verdict v = d.judge();
  ASSERT_EQ(v.kind, VerdictKind::cause);
  EXPECT_EQ(function(d.findings(), v.causes[0]), "x_solve");
  EXPECT_DOUBLE_EQ(v.causes[0].cost_s, 25.2);
  EXPECT_EQ(v.text, "6.3 % of the time is waiting for x_solve on 4 ranks.");
}

TEST(Verdict, GoesOnBehindACallThatWaits) {
  Drawing d(3);
  d.delay("main/exchange/MPI_Waitall", 1, 60);
  d.call("main/exchange/MPI_Waitall", 1, 50, 45);
  d.victim("main/solve", 0, "main/exchange/MPI_Waitall", 1, 40);
  d.delay("main/solve", 0, 40);
  const Verdict v = d.judge();
  ASSERT_EQ(v.causes.size(), 1u) << v.text;
  EXPECT_EQ(function(d.findings(), v.causes[0]), "solve");
  EXPECT_DOUBLE_EQ(v.causes[0].cost_s, 100);
  EXPECT_DOUBLE_EQ(v.causes[0].through_s, 60);
  EXPECT_EQ(v.text, "33 % of the time is waiting for solve on rank 0.");
  EXPECT_TRUE(adds(v, "60 % of the waiting for solve is through MPI_Waitall, which waits for it."));
}

TEST(Verdict, LeavesTheBlameWithACallThatHardlyWaits) {
  Drawing d(2);
  d.delay("main/MPI_Alltoall", 1, 60);
  d.call("main/MPI_Alltoall", 1, 50, 5);
  d.victim("main/solve", 0, "main/MPI_Alltoall", 1, 5);
  const Verdict v = d.judge();
  ASSERT_EQ(v.causes.size(), 1u);
  EXPECT_EQ(function(d.findings(), v.causes[0]), "MPI_Alltoall");
  EXPECT_NE(v.text.find("MPI_Alltoall itself"), std::string::npos) << v.text;
}

TEST(Verdict, FollowsCallsThatWaitForEachOtherToAnEnd) {
  Drawing d(2);
  for (size_t rank : {0, 1}) {
    d.delay("main/MPI_Recv", rank, 10);
    d.call("main/MPI_Recv", rank, 10, 10);
    d.victim("main/MPI_Recv", 1 - rank, "main/MPI_Recv", rank, 10);
  }
  const std::vector<blame::Cause> list = causes(d.findings());
  ASSERT_EQ(list.size(), 1u);
  EXPECT_DOUBLE_EQ(list[0].cost_s, 20);
}

TEST(Verdict, CountsARecursionOnceWithAllBelow) {
  Drawing d(2);
  std::string path = "main";
  for (int depth = 0; depth < 20; ++depth) {
    path += "/search";
    d.delay(path, 0, 2);
    d.delay(path + "/evaluate", 0, 1);
    d.delay(path + "/move", 0, 1);
  }
  d.delay("main/output", 1, 9);
  const Verdict v = d.judge();
  ASSERT_EQ(v.causes.size(), 1u) << v.text;
  EXPECT_EQ(d.findings().callpaths[v.causes[0].example.index()].name, "main/search");
  EXPECT_DOUBLE_EQ(v.causes[0].cost_s, 80);
  EXPECT_NE(v.text.find("search and what it calls on rank 0"), std::string::npos) << v.text;
  EXPECT_DOUBLE_EQ(sum(causes(d.findings())), 89);
}

/// One function with these costs, a rank each.
std::string places(const std::vector<double>& costs) {
  Drawing d(costs.size(), 10);
  for (size_t rank = 0; rank < costs.size(); ++rank) d.delay("main/slow", rank, costs[rank]);
  return d.judge().text;
}

TEST(Verdict, GivesNobodyTheCostsOfOthers) {
  const auto says = [](const std::vector<double>& costs, std::string_view words) {
    const std::string text = places(costs), wanted = fmt::format("for slow {}.", words);
    EXPECT_NE(text.find(wanted), text.npos) << text << "\nshould say: " << wanted;
  };
  says({18.2, 0, 81.8, 0}, "on rank 2 (81.8 %) and rank 0 (18.2 %)");
  says({1, 0, 99, 0}, "on rank 2");
  says({50, 50}, "on rank 0 and rank 1");
  says({55, 45}, "on rank 0 (55.0 %) and rank 1 (45.0 %)");
  says({60, 25, 5, 5, 5}, "on rank 0 (60.0 %), rank 1 (25.0 %) and 3 more");
  std::vector<double> crowd(19, 1);
  crowd[3] = 82;
  says(crowd, "on rank 3 (82.0 %) and 18 more");
  crowd[3] = 4;
  says(crowd, "on 19 ranks, more than others on rank 3 (18.2 %)");
  says(std::vector<double>(40, 1), "spread over 40 ranks");
  crowd.assign(4000, 1);
  crowd[980] = 24;
  says(crowd, "spread over 4 000 ranks");
}

TEST(Verdict, DoesNotTakeADriverThatIsRarelyCalledAgainForARecursion) {
  Drawing d(2);
  d.delay("main/run/assemble", 0, 30);
  d.delay("main/run/solve", 1, 40);
  d.delay("main/run/restart/run/solve", 0, 1);
  const Verdict v = d.judge();
  ASSERT_FALSE(v.causes.empty());
  EXPECT_EQ(function(d.findings(), v.causes[0]), "solve");
  EXPECT_FALSE(v.causes[0].with_callees);
  EXPECT_DOUBLE_EQ(v.causes[0].cost_s, 41);
  EXPECT_DOUBLE_EQ(sum(causes(d.findings())), 71);
}

TEST(Verdict, NamesTheFunctionThatCarriesARecursion) {
  Drawing d(2);
  std::string path = "main";
  for (int depth = 0; depth < 20; ++depth) {
    path += "/sort";
    d.delay(path + "/merge", 0, 3);
    d.delay(path, 0, 1);
  }
  const Verdict v = d.judge();
  EXPECT_EQ(function(d.findings(), v.causes.at(0)), "merge");
  EXPECT_DOUBLE_EQ(v.causes[0].cost_s, 60);
  EXPECT_FALSE(v.causes[0].with_callees);
  EXPECT_DOUBLE_EQ(sum(causes(d.findings())), 80);
}

TEST(Verdict, KeepsWhatIsNoFunctionWithItsCaller) {
  Drawing d(2);
  d.delay("main/solve/(not sampled)", 0, 30);
  d.delay("main/adi/solve/(not sampled)", 0, 30);
  d.delay("main/output/(not sampled)", 0, 20);
  const Verdict v = d.judge();
  EXPECT_EQ(v.text, "30 % of the time is waiting for solve (not sampled) on rank 0.");
}

TEST(Verdict, CallsOfTheSystemAreThatFunctionsOwnTime) {
  Drawing d(2);
  d.delay("main/save/(I/O in write of a.h5)", 0, 25);
  d.delay("main/save/(I/O in fsync of a.h5)", 0, 30);
  d.delay("main/save", 0, 25);
  d.delay("main/read_pipe/(blocked in read)", 1, 15);
  d.delay("main/(blocked, unknown) between two calls of exchange", 1, 5);
  const Verdict v = d.judge();
  EXPECT_NE(v.text.find("waiting for save on rank 0"), std::string::npos) << v.text;
  ASSERT_GE(v.causes.size(), 1u);
  EXPECT_EQ(v.causes[0].callpaths.size(), 3u);
}

TEST(Verdict, SaysInWhichCallAFunctionWasBlocked) {
  Drawing d(2);
  d.delay("main/read_pipe/(blocked in read)", 1, 75);
  d.delay("main/(blocked, unknown) between two calls of exchange", 0, 25);
  const std::string text = d.judge().text;
  EXPECT_NE(text.find("waiting for read_pipe (blocked in read) on rank 1"), std::string::npos)
      << text;
}

// Demanglers put unnamed namespaces in parentheses: these are functions all the same.
TEST(Verdict, KnowsFunctionsThatBeginWithAParenthesis) {
  Drawing d(2);
  d.delay("main/step_one/(anonymous namespace)::relax", 0, 50);
  d.delay("main/step_two/(anonymous namespace)::relax", 0, 50);
  const Verdict v = d.judge();
  ASSERT_EQ(v.kind, VerdictKind::cause);
  EXPECT_EQ(function(d.findings(), v.causes[0]), "(anonymous namespace)::relax");
  EXPECT_DOUBLE_EQ(v.causes[0].cost_s, 100);
}

TEST(Verdict, SaysWhenANameRestsOnFewSamples) {
  Drawing d(2);
  d.delay("main/solve", 0, 30);
  d.delay("main/adi/solve", 0, 10);
  d.findings().profile = {{d.path("main/solve"), LocationId(0), 1, 50, 3, 50},
                          {d.path("main/adi/solve"), LocationId(0), 1, 20, 1, 20}};
  EXPECT_EQ(d.judge().warning,
            "solve rests on 4 samples: run for longer, or with a higher --sampling.");
  d.findings().profile[1].samples = 2;
  EXPECT_EQ(d.judge().warning, "");
}

TEST(Verdict, SaysThatAnImbalanceMoves) {
  Drawing d(64);
  d.spread_delay("main/step/compute", 3000);
  d.spread_delay("main/step/MPI_Waitall", 636);
  d.findings().distributions = {
      {d.path("main/step/compute"), 3000, blame::Shape::even, 64, 0, 0, blame::Movement::moves}};
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::cause);
  EXPECT_EQ(v.text, "47 % of the time is waiting for compute, which moves from rank to rank.");
}

TEST(Verdict, NamesNobodyWhereThereIsHardlyAnyWaiting) {
  Drawing d(4);
  d.delay("main/output", 0, 0.8);
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::hardly_any_waiting);
  EXPECT_TRUE(v.causes.empty());
  EXPECT_EQ(v.text, "Hardly any waiting: 0.2 % of the allocated time.");
}

TEST(Verdict, LeavesARunThatHangsToItsFirstLine) {
  Drawing d(2);
  d.delay("main/output", 0, 4);
  d.findings().waits = {{"run.unanswered", d.path("main/MPI_Recv"), LocationId(1), 1, 16, 0, 16}};
  d.findings().stuck = {{0, false, false, LocationId(1), "MPI_Recv", "main/MPI_Recv", "", 1, ""}};
  d.findings().stuck_helpers = {{blame::FoundStuckId(0), LocationId(0)}};
  d.findings().identities.waiting_s += 16;
  d.findings().identities.unattributed_s = 16;
  Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::stuck);
  EXPECT_EQ(v.text, "Rank 1 hangs in MPI_Recv for rank 0.");

  // It went on for long before: what is to be said of that.
  d.delay("main/solve", 0, 80);
  v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::cause);
  EXPECT_EQ(v.warning, "");
}

TEST(Verdict, TakesAPartAndItsWholeWithoutStartUp) {
  Drawing d(2);
  d.delay("main/MPI_Init", 0, 10);
  d.findings().delays.back().pattern = "run.unanswered";
  d.findings().waits = {{"run.unanswered", d.path("main/MPI_Recv"), LocationId(1), 1, 16, 0, 16}};
  d.findings().stuck.resize(1);
  d.findings().identities.waiting_s += 6;
  d.findings().identities.unattributed_s = 6;
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::stuck);
}

TEST(Verdict, NamesBothOfTwoCauses) {
  Drawing d(4);
  d.delay("main/assemble", 0, 40);
  d.delay("main/pack", 3, 20);
  d.delay("main/log", 1, 1);
  const Verdict v = d.judge();
  ASSERT_EQ(v.causes.size(), 2u);
  EXPECT_EQ(v.text, "10 % of the time is waiting for assemble on rank 0.");
  EXPECT_TRUE(adds(v, "Another 5.0 % of the time is waiting for pack on rank 3."));
}

TEST(Verdict, NamesWhatSmallCausesHaveInCommon) {
  Drawing d(2);
  for (int i = 0; i < 40; ++i) {
    d.delay("main/solve/kernel_" + std::to_string(i), 0, 1);
    if (i % 4 == 0) d.delay("main/other_" + std::to_string(i), 0, 1);
  }
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::spread);
  EXPECT_EQ(v.text, "25 % of the time is waiting; everything below solve causes 80 % of it.");
  EXPECT_TRUE(adds(v, "Of 50 functions, kernel_0 causes most, 2.0 % of the waiting."));
}

TEST(Verdict, SaysFirstThatThreadsHadNoCores) {
  Drawing d(4);
  d.spread_delay("main/MPI_Waitall", 100);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    d.findings().locations[rank].waiting_s = 25;
    d.findings().processes.push_back({rank, "n1", 2, 2, 50, 48});
  }
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::oversubscribed);
  EXPECT_EQ(v.waiting, VerdictKind::cause);
  EXPECT_DOUBLE_EQ(v.cores.working_s, 4 * (48 - 25));
  EXPECT_EQ(v.text,
            "Disturbed: 4 ranks on 2 cores had no core for 49 % of the time; still, 25 % of the "
            "time is waiting for MPI_Waitall itself on 4 ranks.");
  EXPECT_TRUE(adds(v,
                   "4 ranks shared 2 cores: threads were runnable but had no core 49.0 % of "
                   "the time, which delays everything"));
}

TEST(Verdict, NamesTheHostsCodeThatLeavesADeviceIdle) {
  Drawing d(2);
  d.findings().locations.push_back({"0.1", 0, 1, "n1", 100, 0, "stream 7 of device 0"});
  d.delay("(device idle)", 2, 60);
  EXPECT_NE(d.judge().text.find("an idle device"), std::string::npos) << "nothing else is known";
  const auto idle = blame::DeviceBlameKind::idle_device;
  d.findings().device_blame = {{idle, d.path("main/load"), LocationId(0), 40, 40, 40, 0},
                               {idle, d.path("main/MPI_Init"), LocationId(0), 90, 90, 90, 0},
                               {idle, d.path("main/other"), LocationId(1), 80, 80, 80, 0}};
  EXPECT_EQ(d.judge().text, "30 % of the time is waiting for load on rank 0.");
  EXPECT_TRUE(adds(d.judge(), "is through an idle device, which waits for it."));
}

// Those that wait spin, and share cores: that delays nobody.
TEST(Verdict, PutsTheCauseFirstWhereWaitingThreadsHadNoCores) {
  Drawing d(4);
  d.delay("main/slow", 2, 150);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const bool waits = rank != 2;
    d.findings().locations[rank].waiting_s = waits ? 50 : 0;
    d.findings().processes.push_back({rank, "n1", 2, 2, 30, waits ? 51.0 : 2.0});
  }
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::cause);
  EXPECT_TRUE(v.cores.matters());
  EXPECT_EQ(v.text, "38 % of the time is waiting for slow on rank 2.");
  EXPECT_EQ(v.warning,
            "4 ranks on 2 cores had no core for 56 % of the time, mostly while busy-waiting; to be "
            "sure, re-run with one core per thread.");
  EXPECT_TRUE(
      adds(v,
           "4 ranks shared 2 cores: threads were runnable but had no core 56.4 % of the time, "
           "mostly while busy-waiting"));
  EXPECT_FALSE(adds(v, "delays everything"));
}

TEST(Verdict, DoesNotTakeACrowdedStartForAShortageAtWork) {
  Drawing d(4);
  d.delay("main/slow", 2, 30);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    d.call("main/MPI_Init", rank, 40, 0);
    d.findings().processes.push_back({rank, "n1", 2, 2, 40, 42});
  }
  EXPECT_DOUBLE_EQ(d.judge().cores.working_s, 4 * 2);
  EXPECT_FALSE(d.judge().cores.comes_first());
  EXPECT_TRUE(d.judge().cores.matters());
}

// Libraries have threads of their own, whose time is allocated to nobody.
TEST(Verdict, CountsAllThreadsOfAProcessInBothTimesOnCores) {
  Drawing d(2);
  d.findings().processes = {{0, "n1", 2, 2, 100, 300}, {1, "n1", 2, 2, 100, 300}};
  const Verdict v = d.judge();
  EXPECT_DOUBLE_EQ(v.cores.share, 0.75);
  EXPECT_EQ(v.text, "Disturbed: 2 ranks on 2 cores had no core for 75 % of the time.");
  EXPECT_TRUE(
      adds(v,
           "Threads were runnable but had no core 75.0 % of the time, although 2 ranks could use 2 "
           "cores"));
}

TEST(Verdict, TellsOtherProgramsFromTooManyThreads) {
  Drawing d(2);
  d.findings().processes = {{0, "n1", 8, 8, 50, 20}, {1, "n1", 8, 8, 50, 0}};
  EXPECT_EQ(d.judge().text, "Disturbed: 2 ranks on 8 cores had no core for 17 % of the time.");
  EXPECT_TRUE(adds(d.judge(), "although 2 ranks could use 8 cores"));
  d.findings().processes[0].core_wait_s = 1;
  EXPECT_EQ(d.judge().kind, VerdictKind::nothing);
}

TEST(Verdict, IsSilentOfCoresWhereTheSystemIs) {
  Drawing d(4);
  d.findings().processes = {{0, "n1", 1, 1, 0, -1}};
  EXPECT_FALSE(d.judge().cores.known);
  EXPECT_EQ(d.judge().text, "");
}

TEST(Verdict, LeavesStartUpOut) {
  Drawing d(2, 1);
  d.delay("main/MPI_Init", 0, 0.4);
  d.delay("main/solve", 1, 0.1);
  d.critical("main/MPI_Init", 0.45);
  d.critical("main/solve", 0.5);
  d.critical("main/MPI_Finalize", 0.05);
  d.findings().start_up.activity_s = 0.6;
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::cause);
  EXPECT_EQ(v.text, "10 % of the time is waiting for solve on rank 1.");
  EXPECT_EQ(start_up_sentence(d.findings(), TimeFormat(1)),
            "Start-up and shutdown: 0.50 s of 1.00 s (MPI_Init 0.45 s and MPI_Finalize 0.05 s); it "
            "causes 0.40 s of waiting. Not included in the verdict, the delays and the "
            "efficiencies.");
  EXPECT_DOUBLE_EQ(sum(causes(d.findings())) + d.findings().start_up.waiting_s,
                   d.findings().identities.waiting_s);
}

TEST(Verdict, NamesTheCauseInWhatACutLeft) {
  Drawing d(4);
  d.delay("solve/slow", 2, 30);
  d.delay("solve/other", 1, 10);
  d.findings().run.operation = blame::Operation::cut;
  d.findings().inputs = {{"whole", blame::InputRole::one, "", 4, 4, 100, 400, 200}};
  d.findings().identities.waiting_s = 20;  // the rest waits elsewhere
  const Verdict v = d.judge();
  EXPECT_EQ(v.text,
            "5.0 % of the time at the call paths that are left was waiting time. They cause 40.00 "
            "s of waiting, wherever, 75.0 % of it caused by slow on rank 2.");
  EXPECT_EQ(v.kind, VerdictKind::cause);
}

TEST(Verdict, LeavesStartUpOutOfACut) {
  Drawing d(4);
  d.delay("solve/slow", 2, 30);
  d.delay("MPI_Init", 1, 10);
  d.call("MPI_Init", 0, 200, 15);
  d.findings().start_up.activity_s = 185;
  d.findings().run.operation = blame::Operation::cut;
  d.findings().identities.waiting_s = 35;
  EXPECT_EQ(d.judge().text,
            "10.0 % of the time at the call paths that are left was waiting time (without start-up "
            "and shutdown). They cause 30.00 s of waiting, wherever, 100.0 % of it caused by slow "
            "on rank 2.");
}

TEST(Verdict, BeginsWithAStartThatDominatesALongRun) {
  Drawing d(2, 100);
  d.critical("main/MPI_Init", 80);
  d.critical("main/solve", 20);
  d.delay("main/solve", 1, 10);
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::start_up);
  EXPECT_TRUE(
      v.text.starts_with("Start-up and shutdown took 80.00 s of the run's 100.00 s, mostly "
                         "MPI_Init 80.00 s."))
      << v.text;
}

TEST(Verdict, IsDataInJson) {
  Drawing d(2);
  d.delay("main/a/solve", 1, 30);
  d.delay("main/b/solve", 0, 10);
  const auto verdict = nlohmann::json::parse(json(d.findings(), "x"))["verdict"];
  EXPECT_EQ(verdict["kind"], "cause");
  EXPECT_DOUBLE_EQ(verdict["waiting_share"], 0.2);
  ASSERT_EQ(verdict["causes"].size(), 1u);
  const auto& cause = verdict["causes"][0];
  EXPECT_EQ(cause["function"]["name"], "solve");
  EXPECT_TRUE(cause["function"]["file"].is_null());
  EXPECT_EQ(cause["callpath"], "main/a/solve");
  EXPECT_DOUBLE_EQ(cause["cost_s"], 40);
  EXPECT_DOUBLE_EQ(cause["share"], 1);
  EXPECT_EQ(cause["locations"][0]["location"], "1.0");
  EXPECT_TRUE(verdict["core_shortage"].is_null());
  EXPECT_TRUE(verdict["when"].is_null());
  EXPECT_TRUE(verdict["unexplained"].is_null());
}

}  // namespace
}  // namespace culprit::report
