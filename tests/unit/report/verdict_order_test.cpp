// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which sentence comes first, when its cause costs, and what is said of time that nothing explains.
#include <gtest/gtest.h>

#include <string>

#include "report/verdict/verdict.h"
#include "tests/unit/report/drawing.h"

namespace culprit::report {
namespace {

TEST(Verdict, SaysWhen) {
  Drawing d(2);
  d.delay("main/write_log", 1, 38);
  d.findings().function_gains = {{d.path("main/write_log"), blame::GainKind::halved, 19}};
  d.findings().distributions = {
      {d.path("main/write_log"), 38, blame::Shape::overloaded_minority, 2, 1, 1}};
  blame::FoundDistribution& row = d.findings().distributions.front();
  const auto said = [&](const std::string& when) {
    EXPECT_EQ(d.judge().text, "19 % of the time is waiting for write_log on rank 1" + when +
                                  "; halved: 19.00 s (19 %) shorter.");
  };
  said("");
  row.steps_are = blame::StepKind::call;
  row.steps = 1000;
  row.course = blame::Course::once;
  row.step = 600;
  row.begin_s = 2.37, row.end_s = 2.4;
  said(", once, at 2.37 s (iteration 600)");
  row.course = blame::Course::every;
  row.period = 10;
  said(", every 10th step");
  row.period = 22;
  said(", every 22nd step");
  row.course = blame::Course::from;
  said(", from 2.37 s on");
  row.course = blame::Course::until;
  said(", until 2.40 s");
  row.course = blame::Course::growing;
  row.change_s = 0.002;
  said(", 2 ms more each step");
  row.course = blame::Course::shrinking;
  row.change_s = -1.5e-5;
  said(", 15 us less each step");
  row.steps_are = blame::StepKind::slice;
  said(", less and less over time");
  row.steps_are = blame::StepKind::call;
  row.change_s = 1e-7;  // 0.05 s in all
  said("");
}

// Two threads of one rank execute a `single` in turn: no other rank is ever late.
TEST(Verdict, CallsThreadsOfARankThreads) {
  Drawing d(2);
  d.findings().locations.push_back({"1.1", 1, 1, "n1", 100, 0, ""});
  d.findings().run.locations = 3;
  d.delay("main/remesh", 1, 30);
  d.delay("main/remesh", 2, 20);
  d.findings().distributions = {
      {d.path("main/remesh"), 50, blame::Shape::overloaded_minority, 2, 2, 1}};
  d.findings().distributions.front().movement = blame::Movement::random;
  const std::string text = d.judge().text;
  EXPECT_NE(text.find("now one thread, now another"), text.npos) << text;
  d.delay("main/remesh", 0, 20);
  EXPECT_NE(d.judge().text.find("now one rank, now another"), text.npos);
}

TEST(Verdict, NamesFirstWhatSavesMoreOfCausesThatCostTheSame) {
  Drawing d(2);
  d.delay("main/small_item", 1, 31);
  d.delay("main/giant_item", 1, 30);
  d.findings().function_gains = {{d.path("main/small_item"), blame::GainKind::halved, 15},
                                 {d.path("main/giant_item"), blame::GainKind::halved, 25}};
  const std::string text = d.judge().text;
  EXPECT_NE(text.find("waiting for giant_item"), text.npos) << text;
  EXPECT_NE(text.find("25.00 s"), text.npos) << text;
}

TEST(Verdict, SaysInOneSentenceWhoHangsForWhom) {
  Drawing d(4);
  for (size_t rank = 0; rank < 4; ++rank) {
    const std::string call = rank < 3 ? "MPI_Barrier" : "MPI_Recv";
    d.findings().stuck.push_back({0, true, true, LocationId(rank), call, "", "", 1, ""});
    d.findings().stuck_helpers.push_back({blame::FoundStuckId(rank), LocationId(rank < 3 ? 3 : 0)});
    d.findings().waits.push_back(
        {"run.unanswered", d.path("main/" + call), LocationId(rank), 1, 16, 0, 16});
  }
  d.findings().identities.waiting_s = d.findings().identities.unattributed_s = 64;
  EXPECT_EQ(d.judge().text,
            "Ranks 0 to 2 hang in MPI_Barrier for rank 3, which hangs in MPI_Recv for rank 0.");
}

/// Two ranks that hang, the first for `of_0`, the second for `of_1`.
std::string two_hang(size_t of_0, size_t of_1) {
  Drawing d(2);
  const size_t helpers[] = {of_0, of_1};
  for (size_t rank = 0; rank < 2; ++rank) {
    d.findings().stuck.push_back({0, true, true, LocationId(rank), "read", "", "", 1, ""});
    d.findings().stuck_helpers.push_back({blame::FoundStuckId(rank), LocationId(helpers[rank])});
    d.findings().waits.push_back(
        {"run.unanswered", d.path("main/read"), LocationId(rank), 1, 16, 0, 16});
  }
  d.findings().identities.waiting_s = d.findings().identities.unattributed_s = 32;
  return d.judge().text;
}

TEST(Verdict, SpeaksOfARankThatHangsForItselfOnce) {
  EXPECT_EQ(two_hang(1, 1), "Rank 0 hangs in read for rank 1, which hangs in read for itself.");
  EXPECT_EQ(two_hang(0, 0), "Rank 0 hangs in read for itself.");
  EXPECT_EQ(two_hang(1, 0), "Rank 0 hangs in read and rank 1 in read, each for the other.");
}

TEST(Verdict, SaysThatTheProgramDied) {
  Drawing d(2);
  d.delay("main/solve", 1, 40);
  d.findings().run.exit_status = 139;
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::failed);
  EXPECT_EQ(v.text,
            "The program died of signal 11 (SIGSEGV) after 100.00 s: no verdict on its speed.");
  EXPECT_TRUE(v.more.empty());
  EXPECT_TRUE(v.savings.empty());
  d.findings().run.exit_status = 3;
  d.findings().run.mpi.clear();
  EXPECT_EQ(d.judge().text,
            "The program failed with exit status 3 after 100.00 s: no verdict on its speed.");
  for (const int by_time_limit : {143, 137, 124}) {
    d.findings().run.exit_status = by_time_limit;
    EXPECT_EQ(d.judge().kind, VerdictKind::cause);
  }
}

TEST(Verdict, WarnsOfTheRankThatDied) {
  Drawing d(2);
  d.delay("main/solve", 1, 40);
  Losses& losses = d.findings().losses;
  const std::string early(text(LossKind::early_ends).sentence);
  losses.restore("early_ends", {2, Severity::warning, early});
  EXPECT_EQ(d.judge().warning, early) << "who is not known";
  losses = {};
  losses.restore("early_ends", {2, Severity::warning,
                                "Rank 1 died first, of signal 11 (SIGSEGV) at 30.10 s, in solve "
                                "(a.c:3). " +
                                    early});
  for (const int status : {139, 137}) {
    d.findings().run.exit_status = status;
    EXPECT_EQ(d.judge().warning,
              "Rank 1 died first, of signal 11 (SIGSEGV) at 30.10 s, in solve (a.c:3).");
  }
}

// The list of savings begins with it, too.
TEST(Verdict, NamesWhatCanBeChangedBeforeACallOfMpi) {
  Drawing d(2);
  d.delay("main/MPI_Send", 0, 36);
  d.delay("main/pair_force", 1, 30);
  EXPECT_NE(d.judge().text.find("waiting for MPI_Send itself"), std::string::npos);
  d.findings().function_gains = {{d.path("main/pair_force"), blame::GainKind::halved, 15}};
  EXPECT_NE(d.judge().text.find("15 % of the time is waiting for pair_force on rank 1"),
            std::string::npos)
      << d.judge().text;
  EXPECT_TRUE(adds(d.judge(), "Another 18 % of the time is waiting for MPI_Send itself on rank 0"));
}

TEST(Verdict, NamesWhoTakesTheLock) {
  Drawing d(2);
  d.delay("main/work/insert/hash", 1, 40);
  d.findings().delays.back().pattern = "thread.lock";
  const CallPathId lock = d.path("main/work/insert/pthread_mutex_lock");
  d.findings().callpaths[lock.index()].model = trace::to_string(trace::Paradigm::pthread);
  d.findings().lock_blame = {{"thread.lock", LocationId(1), lock, CallPathId(), lock, 9, 40}};
  EXPECT_EQ(d.judge().text,
            "20 % of the time is waiting for hash, under the lock that insert takes, on rank 1.");
  d.findings().lock_blame.clear();  // as of mutexes: where others want to take it
  d.victim("main/work/insert/hash", 1, "main/work/insert/pthread_mutex_lock", 0, 40);
  d.findings().victims.back().pattern = "thread.lock";
  EXPECT_NE(d.judge().text.find("hash, under the lock that insert takes, on rank 1"),
            std::string::npos)
      << d.judge().text;
  d.findings().callpaths[d.path("main/work/insert/hash").index()].region = "insert";
  EXPECT_NE(d.judge().text.find("insert, under a lock that it takes, on rank 1"), std::string::npos)
      << d.judge().text;
  d.findings().delays.back().pattern = "mpi.late_sender";
  EXPECT_EQ(d.judge().text.find("lock"), std::string::npos) << d.judge().text;
}

// Whoever has come through MPI_Finalize has done all that was to be measured.
TEST(Verdict, JudgesTheSpeedOfAProgramThatFailsInTheEnd) {
  Drawing d(2);
  d.delay("main/solve", 1, 40);
  d.findings().run.mpi = "Open MPI";
  d.findings().run.exit_status = 3;
  EXPECT_EQ(d.judge().text,
            "The program failed with exit status 3, when all was done. 20 % of the time is waiting "
            "for solve on rank 1.");
  EXPECT_EQ(d.judge().kind, VerdictKind::cause);
  d.findings().losses.add(LossKind::early_ends);
  EXPECT_EQ(d.judge().kind, VerdictKind::failed);
}

/// A run of two ranks of 100 s each, of which so much is not explained.
void with_mystery(Drawing& d, double time_s, double begin_s, double end_s) {
  d.findings().unexplained = {{blame::Unexplained::long_call, d.path("main/MPI_Send"),
                               LocationId(0), 8, time_s, begin_s, end_s}};
}

TEST(Verdict, SaysWhatIsNotExplained) {
  Drawing d(2);
  d.delay("main/solve", 1, 1);
  with_mystery(d, 76, 36, 99);
  Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::unexplained);
  EXPECT_EQ(v.text, "38 % of the time is lost in MPI_Send on rank 0 from 36.00 s on, unexplained.");
  with_mystery(d, 76, 1, 30);
  EXPECT_EQ(d.judge().text,
            "38 % of the time is lost in MPI_Send on rank 0 until 30.00 s, unexplained.");
  with_mystery(d, 76, 20, 30);
  EXPECT_EQ(
      d.judge().text,
      "38 % of the time is lost in MPI_Send on rank 0 between 20.00 s and 30.00 s, unexplained.");
  with_mystery(d, 76, 2, 98);
  EXPECT_EQ(d.judge().text, "38 % of the time is lost in MPI_Send on rank 0, unexplained.");
}

TEST(Verdict, SaysWhoSpinsAndWhatOthersDidMeanwhile) {
  Drawing d(2);
  d.findings().unexplained = {{blame::Unexplained::spinning, d.path("main/wait_turn/(spinning)"),
                               LocationId(1), 8, 76, 2, 98, d.path("main/solve"), LocationId(0),
                               70}};
  EXPECT_EQ(d.judge().text,
            "38 % of the time is lost in wait_turn on rank 1, looking again and again until memory "
            "changes; "
            "meanwhile, solve "
            "was executed on rank 0.");
  d.findings().unexplained.front().meanwhile_s = 20;  // of 76: who knows
  EXPECT_EQ(d.judge().text,
            "38 % of the time is lost in wait_turn on rank 1, looking again and again until memory "
            "changes.");
}

TEST(Verdict, WarnsOfALittleThatIsNotExplained) {
  Drawing d(2);
  d.delay("main/solve", 1, 60);
  with_mystery(d, 16, 0, 100);
  const Verdict v = d.judge();
  EXPECT_EQ(v.text, "30 % of the time is waiting for solve on rank 1.");
  EXPECT_EQ(v.warning,
            "8.0 % of the time is not explained: MPI_Send on rank 0; the page shows when.");
  with_mystery(d, 9, 0, 100);
  EXPECT_EQ(d.judge().warning, "");
}

// More than anybody causes, though less than would come first in any case.
TEST(Verdict, PutsWhatIsNotExplainedBeforeASmallerCause) {
  Drawing d(2);
  d.delay("main/solve", 1, 10);
  with_mystery(d, 20, 0, 100);
  EXPECT_EQ(d.judge().kind, VerdictKind::unexplained);
}

// Packing data of a strided type: nearly all of the run is the transfer, a little of it is odd.
TEST(Verdict, PutsTheTimeInMpiBeforeTheLittleOfItThatIsNotExplained) {
  Drawing d(2);
  d.delay("main/other", 1, 1);
  with_mystery(d, 20, 0, 100);
  d.findings().efficiencies = {{blame::Factor::parallel, blame::Factor::none, 0.07}};
  const CallPathId path = d.path("main/MPI_Sendrecv");
  d.findings().tiles = {{blame::Tile::mpi, LocationId(0), 90, path, 90},
                        {blame::Tile::mpi, LocationId(1), 90, path, 90}};
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::other_time);
  EXPECT_NE(v.text.find("MPI_Sendrecv"), v.text.npos) << v.text;
  EXPECT_NE(v.warning.find("not explained"), v.warning.npos) << v.warning;
}

TEST(Verdict, SaysThatAllIsWellOnlyOfAnEfficientRun) {
  Drawing d(2);
  d.delay("main/solve", 1, 1);
  d.findings().tiles = {{blame::Tile::useful, LocationId(0), 60, d.path("main"), 60},
                        {blame::Tile::mpi, LocationId(0), 40, d.path("main/MPI_Alltoall"), 40},
                        {blame::Tile::useful, LocationId(1), 95, d.path("main"), 95},
                        {blame::Tile::start_up, LocationId(1), 5, d.path("MPI_Init"), 5}};
  d.findings().efficiencies = {{blame::Factor::parallel, blame::Factor::none, 0.91}};
  EXPECT_EQ(d.judge().text, "Hardly any waiting: 0.5 % of the allocated time.");
  d.findings().efficiencies.front().value = 0.775;
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::other_time);
  EXPECT_EQ(v.text, "20 % of the time is MPI itself, mostly MPI_Alltoall on rank 0.");
}

TEST(Verdict, LetsWhatBringsMostComeFirst) {
  Drawing d(2);
  d.delay("main/solve", 1, 20);
  d.findings().function_gains = {{d.path("main/solve"), blame::GainKind::halved, 5}};
  d.findings().run.system_s = 90, d.findings().run.user_s = 10;
  d.findings().run.page_faults = 100'000'000;
  d.findings().profile = {{d.path("main/assemble"), LocationId(0), 1, 90, 0, 0}};
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::rival);
  EXPECT_EQ(
      v.text,
      "90 % of CPU time is the kernel's, for 100 000 000 page faults, probably in assemble; if "
      "memory is kept, or in huge pages: 45.00 s (45 %) shorter.");
  EXPECT_TRUE(
      adds(v, "10 % of the time is waiting for solve on rank 1; halved: 5.00 s (5.0 %) shorter."));
  d.findings().function_gains.front().gain_s = 50;
  EXPECT_EQ(d.judge().kind, VerdictKind::cause);
}

// Who waits for progress may wait for the same rank elsewhere, too.
TEST(Verdict, SaysWhatLessWorkBringsWhereProgressBringsLittle) {
  Drawing d(2);
  const CallPathId busy = d.path("main/busy");
  d.delay("main/busy", 0, 40);
  d.findings().delays.front().pattern = "mpi.progress";
  d.findings().waits = {{"mpi.progress", d.path("main/MPI_Ssend"), LocationId(1), 10, 40, 0, 4}};
  d.findings().progress.gain_s = 1;
  d.findings().function_gains = {{busy, blame::GainKind::halved, 20, 20}};
  const std::string text = d.judge().text;
  EXPECT_NE(text.find("for progress while busy on rank 0 calls no MPI"), text.npos) << text;
  EXPECT_TRUE(text.ends_with(": 1.00 s (1.0 %) shorter; halved: 20.00 s (20 %) shorter.")) << text;
  d.findings().progress.gain_s = 19;
  EXPECT_EQ(d.judge().text.find("halved"), text.npos);
}

// What a program loses is as true on a busy machine, whatever it is.
TEST(Verdict, SaysWhatBringsMostAlsoWhereThreadsHadNoCores) {
  Drawing d(2);
  d.delay("main/solve", 1, 10);
  d.findings().run.system_s = 90, d.findings().run.user_s = 10;
  d.findings().run.page_faults = 100'000'000;
  d.findings().profile = {{d.path("main/assemble"), LocationId(0), 1, 90, 0, 0}};
  d.findings().processes = {{0, "n1", 2, 2, 50, 48}, {1, "n1", 2, 2, 50, 48}};
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::oversubscribed);
  EXPECT_TRUE(v.text.starts_with("Disturbed: 2 ranks on 2 cores ")) << v.text;
  EXPECT_NE(v.text.find("; still, 90 % of CPU time is the kernel's, "), v.text.npos) << v.text;
  EXPECT_EQ(v.text.find("solve"), v.text.npos) << v.text;
  EXPECT_FALSE(adds(v, "page faults"));
  EXPECT_TRUE(adds(v, "of the time is waiting for solve on rank 1"));
}

// What it costs may well be a part of what nothing else explains.
TEST(Verdict, PutsWhatBringsMoreBeforeWhatIsNotExplained) {
  Drawing d(2);
  d.delay("main/solve", 1, 1);
  d.findings().run.system_s = 90, d.findings().run.user_s = 10;
  d.findings().run.page_faults = 100'000'000;
  d.findings().profile = {{d.path("main/assemble"), LocationId(0), 1, 90, 0, 0}};
  with_mystery(d, 76, 2, 98);
  const Verdict v = d.judge();
  EXPECT_EQ(v.kind, VerdictKind::rival);
  EXPECT_TRUE(adds(v, "38 % of the time is lost in MPI_Send on rank 0, unexplained."));
  with_mystery(d, 120, 2, 98);
  EXPECT_EQ(d.judge().kind, VerdictKind::unexplained);
}

// Threads that have work in regions too short for them alone wait for nobody's sake.
TEST(Verdict, PutsShortRegionsFirstWhereThreadsHaveNoOtherWork) {
  Drawing d(1);
  d.findings().locations.push_back({"0.1", 0, 1, "n1", 100, 0, ""});
  d.findings().run.locations = 2;
  d.findings().run.allocation_s = 200;
  d.delay("main/decode", 0, 60);
  const CallPathId decode = d.path("main/decode");
  const CallPathId region = d.path("main/topk/!$omp parallel");
  d.findings().profile = {{region, LocationId(0), 1'000'000, 5, 0, 0}};
  d.findings().critical_callpaths = {{decode, 80}, {region, 20}};
  d.findings().function_gains = {{decode, blame::GainKind::balanced, 40}};
  const auto first = [&] { return d.judge().text; };
  EXPECT_NE(first().find("parallel regions of 20 us each in topk"), std::string::npos) << first();
  // Where there is a long one as well, the threads are wanted there.
  d.findings().critical_callpaths.push_back({d.path("main/!$omp parallel"), 50});
  EXPECT_NE(first().find("waiting for decode"), std::string::npos) << first();
}

TEST(Verdict, NamesAFunctionOfTheCLibraryThatLetsOneThreadInAtATime) {
  Drawing d(1);
  d.findings().locations.push_back({"0.1", 0, 1, "n1", 100, 0, ""});
  d.findings().run.locations = 2;
  d.findings().run.allocation_s = 200;
  d.findings().profile = {{d.path("main/throw_darts/(in rand)"), LocationId(0), 1, 80, 0, 0},
                          {d.path("main/throw_darts/(in rand)"), LocationId(1), 1, 80, 0, 0}};
  EXPECT_EQ(
      d.judge().text,
      "80 % is rand in throw_darts on 2 threads, which has one lock for all; without it: 40.00 "
      "s (40 %) shorter.");
  d.findings().profile.pop_back();
  EXPECT_EQ(d.judge().text, "");
}

}  // namespace
}  // namespace culprit::report
