// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who is stuck, by records that a run could hardly be made to leave at will: of ranks that were
// still ending when they were read, and of collectives that do not belong together.

#include <fstream>
#include <vector>

#include "assemble/stuck/waiting_calls.h"
#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::CollectiveOp;
using trace::RawAwaits;
using trace::RawKind;

constexpr uint64_t kNoRoot = ~uint64_t{0};

class StuckTest : public AssembleTest {
 protected:
  std::unique_ptr<RawProcessBuilder> rank(int32_t number) {
    auto p = process("node1." + std::to_string(number + 1) + ".a");
    p->rank(number, 2).process.finalized = 0;
    return p;
  }
  static uint16_t code_of(RawAwaits what) { return static_cast<uint16_t>(what); }

  /// In a blocking collective from `time` on.
  void enter_collective(RawThread& log, uint64_t time, std::string_view call, CollectiveOp op,
                        uint32_t comm = 0) {
    log.enter(time, call, in_main({}));
    log.put(RawKind::mpi_awaits, time, code_of(RawAwaits::collective), comm,
            {kNoRoot, static_cast<uint64_t>(op)});
  }
  /// Begins a nonblocking one.
  void begin_collective(RawThread& log, uint64_t time, std::string_view call, CollectiveOp op) {
    log.enter(time, call, in_main({}));
    log.put(RawKind::mpi_icoll_post, time, static_cast<uint16_t>(op), 0, {1, kHandle});
    log.leave(time + 1, call);
  }
  void wait_for_it(RawThread& log, uint64_t time) {
    log.enter(time, "MPI_Wait", in_main({}));
    log.put(RawKind::mpi_awaits, time, code_of(RawAwaits::all_requests), 1, {kHandle});
  }
  /// "rank 0: why; rank 1: why" of the only group; "" if there is none.
  std::string told(bool deadlock) {
    const RunFacts facts = play();
    if (facts.stuck.empty()) return "";
    EXPECT_EQ(facts.stuck.size(), 1u);
    EXPECT_EQ(facts.stuck[0].deadlock, deadlock);
    std::string text;
    for (const StuckMember& member : facts.stuck[0].members) {
      text += (text.empty() ? "" : "; ") + member.name + ": " + member.why;
    }
    return text;
  }

 private:
  static constexpr uint64_t kHandle = 77;
};

TEST_F(StuckTest, WhoLeavesMpiWhileTheRecordsAreReadHasLeftIt) {
  {
    // Its launcher was killed: MPI_Finalize returns, and the record of the process was read before.
    auto p = rank(0);
    p->thread(0).enter(30, "MPI_Finalize", in_main({}));
    p->thread(0).put(RawKind::mpi_finalized, 200).leave(200, "MPI_Finalize");
    auto other = rank(1);
    RawThread& log = other->thread(0);
    log.enter(20, "MPI_Recv", in_main({}));
    log.put(RawKind::mpi_awaits, 20, code_of(RawAwaits::message), 0, {uint64_t{7} << 32});
  }
  EXPECT_EQ(told(/*deadlock=*/false),
            "rank 1: for a message from rank 0 with tag 7, but rank 0 left MPI at 0.000 s");
}

TEST_F(StuckTest, WhoHasFinalizedMpiHasComeToNoOtherCollective) {
  {
    auto p = rank(0);
    enter_collective(p->thread(0), 20, "MPI_Allreduce", CollectiveOp::allreduce);
    auto other = rank(1);
    RawThread& log = other->thread(0);
    log.enter(20, "MPI_Finalize", in_main({}));
    log.put(RawKind::mpi_collective, 200, static_cast<uint16_t>(CollectiveOp::destroy_handle), 0,
            {kNoRoot, 0, 0});
    log.put(RawKind::mpi_finalized, 200).leave(200, "MPI_Finalize");
  }
  EXPECT_EQ(told(/*deadlock=*/false),
            "rank 0: for rank 1 to enter MPI_Allreduce, but rank 1 left MPI at 0.000 s");
}

TEST_F(StuckTest, ABufferedSendWaitsForNobody) {
  {
    // MPI aborts the program in it, as there is no buffer.
    auto p = rank(0);
    p->thread(0).enter(30, "MPI_Bsend", in_main({})).send(30, 0, 8);
    auto other = rank(1);
    RawThread& log = other->thread(0);
    log.enter(20, "MPI_Recv", in_main({}));
    log.put(RawKind::mpi_awaits, 20, code_of(RawAwaits::message), 0, {uint64_t{7} << 32});
  }
  EXPECT_EQ(told(/*deadlock=*/false), "");
}

TEST_F(StuckTest, BlockingAndNonblockingCollectivesDoNotMeet) {
  {
    auto p = rank(0);
    enter_collective(p->thread(0), 20, "MPI_Allreduce", CollectiveOp::allreduce);
    auto other = rank(1);
    begin_collective(other->thread(0), 10, "MPI_Iallreduce", CollectiveOp::allreduce);
    wait_for_it(other->thread(0), 20);
  }
  EXPECT_EQ(
      told(/*deadlock=*/true),
      "rank 0: for rank 1 to enter MPI_Allreduce, which has begun a nonblocking collective on "
      "the same communicator instead; rank 1: for rank 0 to enter the nonblocking collective, "
      "which is in MPI_Allreduce on the same communicator");
}

TEST_F(StuckTest, CollectivesAreToldByTheirCommunicators) {
  const auto make_comm = [&](RawThread& log) {
    log.put(RawKind::mpi_comm_def, 5, static_cast<uint16_t>(trace::RawCommOrigin::collective), 2,
            {uint64_t{2} << 32, 0, uint64_t{1} << 32});
  };
  {
    auto p = rank(0);
    make_comm(p->thread(0));
    enter_collective(p->thread(0), 20, "MPI_Allreduce", CollectiveOp::allreduce);
    auto other = rank(1);
    make_comm(other->thread(0));
    enter_collective(other->thread(0), 20, "MPI_Allreduce", CollectiveOp::allreduce, 2);
  }
  EXPECT_EQ(
      told(/*deadlock=*/true),
      "rank 0: for rank 1 to enter MPI_Allreduce; rank 1: for rank 0 to enter MPI_Allreduce in "
      "communicator 2");
}

TEST_F(StuckTest, DifferentNonblockingCollectivesDoNotMeet) {
  {
    auto p = rank(0);
    begin_collective(p->thread(0), 10, "MPI_Iallgather", CollectiveOp::allgather);
    wait_for_it(p->thread(0), 20);
    auto other = rank(1);
    begin_collective(other->thread(0), 10, "MPI_Iallreduce", CollectiveOp::allreduce);
    wait_for_it(other->thread(0), 20);
  }
  EXPECT_EQ(
      told(/*deadlock=*/true),
      "rank 0: for rank 1 to enter the nonblocking collective, which has begun another one on "
      "the same communicator; rank 1: for rank 0 to enter the nonblocking collective, which "
      "has begun another one on the same communicator");
}

TEST_F(StuckTest, TheSameNonblockingCollectiveMeets) {
  {
    auto p = rank(0);
    begin_collective(p->thread(0), 10, "MPI_Iallreduce", CollectiveOp::allreduce);
    wait_for_it(p->thread(0), 20);
    auto other = rank(1);
    begin_collective(other->thread(0), 10, "MPI_Iallreduce", CollectiveOp::allreduce);
    wait_for_it(other->thread(0), 20);
  }
  EXPECT_EQ(told(/*deadlock=*/false), "");
}

TEST_F(StuckTest, OfCollectivesOfSeveralThreadsTheOrderIsUnknown) {
  {
    auto p = rank(0);
    enter_collective(p->thread(0), 20, "MPI_Allreduce", CollectiveOp::allreduce);
    auto other = rank(1);
    other->process.thread_level = 3;
    begin_collective(other->thread(0), 10, "MPI_Iallgather", CollectiveOp::allgather);
    wait_for_it(other->thread(0), 20);
    other->thread(1).put(RawKind::mpi_collective, 15,
                         static_cast<uint16_t>(CollectiveOp::allreduce), 0, {kNoRoot, 8, 8});
    wait_for_it(other->thread(1), 20);
  }
  EXPECT_EQ(told(/*deadlock=*/false), "");
}

/// Rank 0 is in MPI_Recv from 10 on and shows signs of life until `alive_s`; whoever started the
/// program saw it end at `marked_s`.
class RunEnd : public StuckTest {
 protected:
  std::string when(double alive_s, double marked_s) {
    {
      auto p = rank(0);
      p->process.world_size = 1;
      const auto ns = static_cast<uint64_t>(alive_s * 1e9);
      p->process.last = {kTicksAtZero + ns, kRealtimeAtZero + ns, kTicksAtZero + ns};
      p->thread(0).enter(10, "MPI_Recv", in_main({}));
    }
    trace::RawHeartbeat mark = {trace::kRawMagic, trace::kRawVersion, 1, 0, 0, 0, "b007"};
    mark.monotonic_ns = kTicksAtZero + static_cast<uint64_t>(marked_s * 1e9);
    std::ofstream(folder_ / "raw" / trace::kRawHeartbeatFile, std::ios::binary)
        .write(reinterpret_cast<const char*>(&mark), sizeof mark);
    play();
    const std::string text = listing.text("0.0");
    const size_t last = text.rfind('\n', text.size() - 2);
    return text.substr(last + 1);
  }
};

TEST_F(RunEnd, IsWhenItWasSeenIfSignsOfLifeWereRare) {
  EXPECT_EQ(when(0.6, 1.3), "1300000000 -\n");
}

TEST_F(RunEnd, IsTheLastSignOfLifeIfTheLauncherWasSlow) {
  EXPECT_EQ(when(2, 6), "2000000000 -\n");
}

TEST_F(RunEnd, IsWhenItWasSeenIfProcessesSlept) {
  EXPECT_EQ(when(2, 600), "600000000000 -\n");
}

TEST(WaitingCalls, AreKnownByTheNamesInsideOfGlibc) {
  const auto name = [](std::string_view function) {
    const trace::ThreadCall* const call = stuck::waiting_call(function);
    return call != nullptr ? std::string(call->name) : std::string("none");
  };
  EXPECT_EQ(name("sem_wait@@GLIBC_2.34"), "sem_wait");
  EXPECT_EQ(name("__new_sem_wait_slow64.constprop.0"), "sem_wait");
  EXPECT_EQ(name("___pthread_mutex_lock"), "pthread_mutex_lock");
  EXPECT_EQ(name("__pthread_mutex_lock_full"), "pthread_mutex_lock");
  EXPECT_EQ(name("__GI___pthread_rwlock_rdlock"), "pthread_rwlock_rdlock");
  EXPECT_EQ(name("__pthread_clockjoin_ex"), "pthread_join");
  EXPECT_EQ(name("sem_wait_slow"), "none");
  EXPECT_EQ(name("new_sem_wait"), "none");
}

}  // namespace
}  // namespace culprit::assemble::test
