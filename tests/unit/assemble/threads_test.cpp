// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A log that threads of the program's own had one after the other.

#include <cstring>

#include "fixture.h"
#include "trace/objects.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

using ThreadsTest = AssembleTest;

TEST_F(ThreadsTest, OfOneLogAreInTheFunctionsThatTheyRun) {
  const auto entry = [&](std::string_view function) { return code.at(function, 0) - 1; };
  {
    auto p = process();
    p->rank(0, 1).ended(200);
    p->thread(0).begin_user(10, trace::RawUserRegion::phase, "solve", in_main({"run"}));
    RawThread& log = p->thread(1);
    log.put(RawKind::thread_begun, 20, 0, 0, {entry("first")});
    log.sample(30, {"first", "inner"});
    log.put(RawKind::sampling_period, 35, 0, 0, {1000});
    log.put(RawKind::thread_ended, 50);
    log.put(RawKind::thread_begun, 80, 0, 0, {entry("second")});
    log.sample(90, {"second"});
    log.put(RawKind::thread_ended, 110);
  }
  play();
  EXPECT_EQ(listing.text("0.1"), R"(20 first
25   inner
40   -
50 -
80 second
110 -
)");
}

TEST_F(ThreadsTest, CallsOfTheSystemThatSleptArePartsOfTheirCaller) {
  {
    auto p = process();
    p->rank(0, 1).ended(1000);
    auto& t = p->thread(0);
    t.enter(10, "MPI_Barrier", in_main({"exchange"})).leave(20, "MPI_Barrier");
    t.blocked(30, 100, "__read_chk", in_main({"read_pipe"}));
    t.blocked(110, 200, "pwrite64", in_main({"save"}), "state.h5");
    t.blocked(210, 300, "close", in_main({"save"}), "?");
    t.blocked(310, 400, "", in_main({"doze"}));
    t.enter(410, "MPI_Barrier", in_main({"exchange"})).leave(420, "MPI_Barrier");
  }
  play();
  const std::string text = listing.text("0.0");
  const auto has = [&](std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  };
  has("30     (blocked in read)\n100     -\n");
  has("110     (I/O in pwrite of state.h5)\n200     -\n");
  has("210     (I/O in close)\n300     -\n");
  has("310   doze\n400   -\n");
}

/// Looks from beside are far apart: what the thread itself recorded tells where a sleep ends.
TEST_F(ThreadsTest, SleepsSeenFromBesideLieBetweenItsOwnRecords) {
  {
    auto p = process();
    p->rank(0, 1).ended(1000);
    p->process.pid = 77;
    auto& t = p->thread(0);
    t.enter(10, "MPI_Barrier", in_main({"exchange"})).leave(20, "MPI_Barrier");
    t.enter(200, "MPI_Barrier", in_main({"exchange"})).leave(220, "MPI_Barrier");
    t.enter(300, "MPI_Barrier", in_main({"exchange"})).leave(400, "MPI_Barrier");
    t.sample(600, in_main({"compute"}));
    auto& watch = p->thread(5);
    watch.put(RawKind::watch_begun, 5);
    watch.asleep(77, 15, 100, 250, "read", in_main({"read_pipe"}));
    watch.asleep(77, 230, 250, 280, "poll", in_main({"look_up", "libc:getaddrinfo", "libc:poll"}));
    watch.asleep(77, 310, 350, 390, "futex", in_main({"hidden"}));
    watch.asleep(78, 410, 420, 500, "futex", in_main({"other"}));
    watch.asleep(77, 450, 460, 500, "read", in_main({"load"}), "state.h5");
    watch.asleep(77, 700, 710, 900, "", in_main({"doze"}));
  }
  play();
  const std::string text = listing.text("0.0");
  const auto has = [&](std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  };
  has("20   read_pipe\n20     (blocked in read)\n200     -\n");
  has("230     (blocked in getaddrinfo)\n280     -\n");
  has("450     (I/O in read of state.h5)\n500     -\n");
  has("   doze\n900   -\n");
  EXPECT_EQ(text.find("hidden"), std::string::npos) << text;
  EXPECT_EQ(text.find("other"), std::string::npos) << text;
}

/// A call that slept is a wait where a recorded thread ended it, in whatever process of the node.
TEST_F(ThreadsTest, WhatWasEndedByAnotherProcessOfTheNodeIsAWait) {
  const auto object = object_of(trace::ObjectKind::pipe, 7);
  const auto unknown = object_of(trace::ObjectKind::pipe, 8);
  {
    auto p = process("node1.1.a");
    p->rank(0, 3).ended(1000);
    RawThread& t = p->thread(0);
    t.awaited(30, 100, "__read_chk", in_main({"fetch"}), object);
    t.awaited(110, 200, "__read_chk", in_main({"fetch"}), object);
    t.awaited(210, 300, "poll", in_main({"fetch"}), unknown);
    auto near = process("node1.2.b");
    near->rank(1, 3).ended(1000);
    near->thread(0)
        .woke(90, object)
        .woke(210, object)
        .woke(220, object_of(trace::ObjectKind::pipe, 9));
    auto far = process("node2.3.c");
    far->rank(2, 3).ended(1000);
    std::strcpy(far->process.host, "node2");
    std::strcpy(far->process.boot_id, "b008");
    far->thread(0).woke(150, object).woke(250, unknown);
  }
  play();
  const std::string text = listing.text("0.0");
  const auto has = [&](std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  };
  has("30     read\n100       awaited " + std::to_string(object));
  has("110     (blocked in read on a pipe)\n200     -\n");
  has("210     (blocked in poll on a pipe)\n300     -\n");
  const std::string other = listing.text("1.0");
  EXPECT_NE(other.find("woke " + std::to_string(object)), std::string::npos) << other;
  EXPECT_EQ(other.find("woke " + std::to_string(object_of(trace::ObjectKind::pipe, 9))),
            std::string::npos)
      << "nobody waits for it: " << other;
  EXPECT_EQ(listing.text("2.0").find("woke"), std::string::npos) << listing.text("2.0");
}

TEST_F(ThreadsTest, WhoWaitsForAChildWaitsForItsRecordedEnd) {
  {
    auto p = process("node1.1.a");
    p->ended(1000);
    RawThread& t = p->thread(0);
    t.sample(20, in_main({"wait_for_all"}));
    t.awaited(30, 100, "waitpid", in_main({"wait_for_all"}),
              object_of(trace::ObjectKind::process, 2));
    t.awaited(110, 200, "waitpid", in_main({"wait_for_all"}),
              object_of(trace::ObjectKind::process, 3));
    auto child = process("node1.2.b");
    child->process.pid = 2;
    child->ended(90);
    child->thread(0).sample(40, in_main({"work"})).put(RawKind::process_end, 90);
  }
  play();
  const std::string text = listing.text("0.0");
  EXPECT_NE(text.find("30     waitpid\n"), std::string::npos) << text;
  EXPECT_NE(text.find("110     (blocked in waitpid)\n"), std::string::npos) << text;
}

/// Pools end their workers so. What ends who was forked by nobody is the program's early end.
TEST_F(ThreadsTest, AForkedProcessThatIsKilledIsNoEarlyEndOfTheProgram) {
  const auto early_ends = [&](uint64_t made_by) {
    {
      auto p = process("node1.1.a");
      p->ended(1000);
      p->thread(0).sample(20, in_main({"wait_for_all"}));
      auto worker = process("node1.2.b");
      worker->thread(0).awaited(30, 30, "", {}, made_by).sample(40, in_main({"work"}));
    }
    return losses(play(), "early_ends");
  };
  EXPECT_EQ(early_ends(object_of(trace::ObjectKind::fork, 1)), 0u);
  EXPECT_EQ(early_ends(1), 1u);
}

/// A program that goes through thousands has no use for a row of each.
TEST_F(ThreadsTest, TheFirstFewFilesAreNamed) {
  {
    auto p = process();
    p->rank(0, 1).ended(100000);
    for (uint64_t i = 0; i < 100; ++i) {
      p->thread(0).blocked(10 + 100 * i, 60 + 100 * i, "write", in_main({"save"}),
                           "step" + std::to_string(i));
    }
  }
  play();
  const std::string text = listing.text("0.0");
  EXPECT_NE(text.find("(I/O in write of step0)"), std::string::npos);
  EXPECT_EQ(text.find("(I/O in write of step99)"), std::string::npos);
  EXPECT_NE(text.find("(I/O in write)"), std::string::npos);
}

TEST_F(ThreadsTest, WhatStartsProgramsHasNoRegionWhereverItStands) {
  {
    auto p = process();
    p->ended(100);
    p->thread(0).begin_user(10, trace::RawUserRegion::phase, "solve",
                            {"_start", "main", "_start", "run"});
    p->thread(0).sample(20, {"_start", "main", "_start", "run", "_start"});
  }
  play();
  EXPECT_NE(listing.text("0.0").find("run"), std::string::npos) << listing.text("0.0");
  EXPECT_EQ(listing.text("0.0").find("_start"), std::string::npos) << listing.text("0.0");
}

TEST_F(ThreadsTest, TheLastOfALogMayBeStuck) {
  const auto entry = [&](std::string_view function) { return code.at(function, 0) - 1; };
  const auto waits_for = [&](RawThread& log, uint64_t rank) {
    log.enter(90, "MPI_Recv", in_main({"exchange"}));
    log.put(RawKind::mpi_awaits, 90, static_cast<uint16_t>(trace::RawAwaits::message), 0,
            {rank | uint64_t{7} << 32});
  };
  {
    auto p = process("node1.1.a");
    p->rank(0, 2).process.finalized = 0;
    waits_for(p->thread(0), 1);
    RawThread& log = p->thread(1);
    log.put(RawKind::thread_begun, 20, 0, 0, {entry("first")});
    log.put(RawKind::thread_ended, 50);
    log.put(RawKind::thread_begun, 80, 0, 0, {entry("second")});
    waits_for(log, 1);
    auto other = process("node1.2.b");
    other->rank(1, 2).process.finalized = 0;
    waits_for(other->thread(0), 0);
  }
  const RunFacts facts = play();
  ASSERT_EQ(facts.stuck.size(), 1u);
  EXPECT_TRUE(facts.stuck[0].deadlock);
  std::vector<std::string> who;
  for (const StuckMember& member : facts.stuck[0].members) who.push_back(member.name);
  EXPECT_EQ(who, (std::vector<std::string>{"rank 0", "rank 1", "rank 0, thread 1"}));
}

}  // namespace
}  // namespace culprit::assemble::test
