// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who is who among the processes, on which clock, and what is said of them.

#include <cstring>
#include <fstream>

#include "assemble/assemble.h"
#include "assemble/run/gather_facts.h"
#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

void call_once(RawProcessBuilder& process) {
  process.thread(0).enter(10, "MPI_Comm_rank", in_main({})).leave(20, "MPI_Comm_rank");
}

TEST_F(AssembleTest, RanksComeInOrderWhateverStartedFirst) {
  {
    auto late = process("node1.1.a");
    late->rank(1, 2).started(5).ended(50);
    call_once(*late);
    auto early = process("node1.2.b");
    early->rank(0, 2).started(7).ended(60);
    call_once(*early);
  }
  const RunFacts facts = play();
  EXPECT_EQ(facts.processes, 2u);
  EXPECT_EQ(facts.command, "./app input");
  EXPECT_EQ(facts.program, "app");
  EXPECT_TRUE(facts.notes.empty());
  EXPECT_TRUE(facts.losses.all().empty());
  // Time 0 is the earliest start.
  EXPECT_EQ(listing.definitions.origin_realtime_ns, kRealtimeAtZero + 5);
  EXPECT_EQ(listing.text("0.0"), "2 main\n5   MPI_Comm_rank\n15   -\n55 -\n");
  EXPECT_EQ(listing.text("1.0"), "0 main\n5   MPI_Comm_rank\n15   -\n45 -\n");
  EXPECT_EQ(listing.definitions.processes[1].name, "MPI Rank 1");
  EXPECT_EQ(listing.definitions.locations[1].event_count, 4u);
  EXPECT_EQ(facts.events, 8u);
}

TEST_F(AssembleTest, RanksThatLeftNothingKeepTheirPlace) {
  {
    auto only = process();
    only->rank(2, 3).ended(50);
    call_once(*only);
  }
  const RunFacts facts = play();
  EXPECT_EQ(losses(facts, "missing_processes"), 2u);
  ASSERT_EQ(listing.definitions.processes.size(), 3u);
  EXPECT_EQ(listing.text("0.0"), "");
  EXPECT_NE(listing.text("2.0"), "");
  EXPECT_EQ(listing.definitions.comms[0].members.size(), 3u);
}

TEST_F(AssembleTest, ThreadsThatBeganBehindTheWholePartHaveNoFile) {
  for (const bool is_long : {true, false}) {
    {
      auto only = process();
      only->rank(0, 1).ended(50);
      call_once(*only);
      ++only->process.logs;  // of a thread that left nothing
      only->process.whole_end = is_long ? kTicksAtZero + 30 : 0;
    }
    EXPECT_EQ(losses(play(), "missing_records"), is_long ? 0u : 1u);
  }
}

/// Damage must not cost more memory than the largest machine would.
TEST_F(AssembleTest, MoreRanksThanAnyMachineHasAreNotBelieved) {
  {
    auto only = process();
    only->rank(2, 1 << 21).ended(50);
    call_once(*only);
  }
  play();
  EXPECT_LE(listing.definitions.processes.size(), 1u);
}

void use_cores(trace::RawProcess& process, const char* host, const char* boot, uint64_t cores) {
  std::strcpy(process.host, host);
  std::strcpy(process.boot_id, boot);
  process.cores[0] = cores;
}

TEST_F(AssembleTest, CoresAreCountedByMachine) {
  {
    auto first = process("a.1.a");
    first->rank(0, 3).ended(50);
    use_cores(first->process, "box1", "boot a", 0b0011);
    first->process.on_core_ns = 2'000'000'000;
    first->process.core_wait_ns = 500'000'000;
    call_once(*first);
    auto second = process("a.2.b");  // in another container of the same machine
    second->rank(1, 3).ended(50);
    use_cores(second->process, "box2", "boot a", 0b0110);
    call_once(*second);
    auto elsewhere = process("b.1.c");
    elsewhere->rank(2, 3).ended(50);
    use_cores(elsewhere->process, "box3", "boot b", 0b1111);
    call_once(*elsewhere);
  }
  const std::vector<ProcessCores> cores = play().cores;
  ASSERT_EQ(cores.size(), 3u);
  EXPECT_EQ(cores[0].node, "box1");
  EXPECT_EQ(cores[0].cores, 2u);
  EXPECT_EQ(cores[0].node_cores, 3u);
  EXPECT_DOUBLE_EQ(cores[0].on_core_s, 2);
  EXPECT_DOUBLE_EQ(cores[0].core_wait_s, 0.5);
  EXPECT_EQ(cores[1].node_cores, 3u);
  EXPECT_LT(cores[1].core_wait_s, 0) << "the system does not tell";
  EXPECT_EQ(cores[2].rank, 2u);
  EXPECT_EQ(cores[2].node_cores, 4u);
}

TEST_F(AssembleTest, SpawnedWorldsFollowTheFirst) {
  {
    auto parent = process("node1.1.a");
    parent->rank(0, 1).ended(90);
    call_once(*parent);
    for (int rank : {0, 1}) {
      auto child = process("node1.2." + std::to_string(rank));
      child->rank(rank, 2).started(20 + static_cast<uint64_t>(rank)).ended(80);
      std::strcpy(child->process.parent, "job.0");
      call_once(*child);
    }
    std::strcpy(parent->process.job, "job");
  }
  const RunFacts facts = play();
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_EQ(facts.notes[0],
            "Ranks 1 to 2 are ranks 0 to 1 of another MPI_COMM_WORLD (spawned by rank 0).");
  EXPECT_TRUE(facts.losses.all().empty());
  ASSERT_EQ(listing.definitions.processes.size(), 3u);
  EXPECT_EQ(listing.definitions.comms[1].members, (std::vector{ProcessId(1), ProcessId(2)}));
}

TEST_F(AssembleTest, JobsAtTheSameTimeAreNotMixed) {
  {
    int number = 0;
    for (const auto& [job, rank] : {std::pair{"a", 0}, {"b", 1}, {"b", 0}, {"a", 1}}) {
      auto p = process("node1.1." + std::to_string(number));
      p->rank(rank, 2).started(static_cast<uint64_t>(++number)).ended(80);
      std::strcpy(p->process.job, job);
      std::strcpy(p->process.command, job);
      call_once(*p);
    }
  }
  const RunFacts facts = play();
  EXPECT_EQ(losses(facts, "missing_processes"), 0u);
  EXPECT_EQ(facts.command, "a");
  ASSERT_EQ(listing.definitions.processes.size(), 4u);
  // Who started fourth is the first job's rank 1, who started second the other's.
  EXPECT_EQ(listing.definitions.comms[1].members, (std::vector{ProcessId(2), ProcessId(3)}));
  EXPECT_NE(listing.text("1.0").find("3 main"), std::string::npos) << listing.text("1.0");
}

TEST_F(AssembleTest, ProcessesWithoutMpiAreNumberedAfterTheRanks) {
  {
    auto helper = process("node1.1.a");
    helper->ended(50);
    std::strcpy(helper->process.omp_runtime, "a runtime");
    helper->thread(0).fork(10, 1, in_main({})).begin(11, 1, 1, 0).end(12, 1).join(13, 1);
    auto rank = process("node1.2.b");
    rank->rank(0, 1).started(5).ended(50);
    call_once(*rank);
  }
  const RunFacts facts = play();
  ASSERT_EQ(listing.definitions.processes.size(), 2u);
  EXPECT_EQ(listing.definitions.processes[1].name, "Process 1");
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_NE(facts.notes[0].find("did not use MPI"), std::string::npos);
}

// A data loader's worker is forked by a process that uses a runtime, and goes on with its program.
TEST_F(AssembleTest, WorkersOfAProcessWithARuntimeStay) {
  for (const char* command : {"python3 train.py", "sh tool.sh"}) {
    {
      auto parent = process("node1.1.a");
      parent->ended(50);
      std::strcpy(parent->process.omp_runtime, "a runtime");
      std::strcpy(parent->process.command, "python3 train.py");
      parent->thread(0).fork(10, 1, in_main({})).begin(11, 1, 1, 0).end(12, 1).join(13, 1);
      auto worker = process("node1.2.b");
      worker->started(20).ended(50);
      std::strcpy(worker->process.command, command);
      worker->thread(0).sample(30, in_main({"decode"}));
    }
    play();
    const bool is_worker = std::string_view(command).starts_with("python3");
    EXPECT_EQ(listing.definitions.processes.size(), is_worker ? 2u : 1u) << command;
  }
}

TEST_F(AssembleTest, TheMpiLibraryHasATitle) {
  {
    auto rank = process("node1.1.a");
    rank->rank(0, 1).ended(50);
    std::strcpy(rank->process.mpi_library, "MPICH Version:\t4.0.2");
    call_once(*rank);
  }
  EXPECT_EQ(play().mpi, "MPICH 4.0.2");
}

TEST_F(AssembleTest, ProcessesWithNothingButThreadsAreLeftOutBesideRanks) {
  {
    auto tool = process("node1.1.a");
    tool->ended(50);
    tool->thread(0).fork(10, 1, in_main({})).begin(11, 1, 1, 0).end(12, 1).join(13, 1);
    auto rank = process("node1.2.b");
    rank->rank(0, 1).started(5).ended(50);
    call_once(*rank);
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.definitions.processes.size(), 1u);
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_NE(facts.notes[0].find("left out"), std::string::npos);
}

TEST_F(AssembleTest, OneNodeHasOneClock) {
  {
    // Two readings of CLOCK_REALTIME that disagree: only the node's first counts.
    auto a = process("node1.1.a");
    a->rank(0, 2).ended(50);
    call_once(*a);
    auto b = process("node1.2.b");
    b->rank(1, 2).ended(50);
    b->process.first.realtime_ns += 500;
    b->process.last.realtime_ns += 700;
    call_once(*b);
  }
  play();
  EXPECT_EQ(listing.text("0.0"), listing.text("1.0"));
}

TEST_F(AssembleTest, NodesAreAlignedByRealtimeAndTicksScaled) {
  {
    auto a = process("node1.1.a");
    a->rank(0, 2).ended(50);
    call_once(*a);
    auto b = process("node2.2.b");
    b->rank(1, 2).ended(50);
    std::strcpy(b->process.host, "node2");
    std::strcpy(b->process.boot_id, "b008");
    b->process.clock = trace::RawClock::tsc;  // two ticks a nanosecond, 100 ns ahead
    b->process.first = {kTicksAtZero, kRealtimeAtZero + 100, 7'000};
    b->process.last = {kTicksAtZero + 2000, kRealtimeAtZero + 1100, 8'000};
    call_once(*b);
  }
  play();
  EXPECT_EQ(listing.text("1.0"), "100 main\n105   MPI_Comm_rank\n110   -\n125 -\n");
}

/// A node that is 9 s behind by its date and whose ticks come at twice the rate.
std::unique_ptr<RawProcessBuilder> other_node(std::unique_ptr<RawProcessBuilder> process) {
  process->rank(1, 2).ended(2000);
  std::strcpy(process->process.host, "node2");
  process->process.first.realtime_ns -= 9'000'000'000;
  process->process.last.realtime_ns -= 9'000'000'000;
  return process;
}

TEST_F(AssembleTest, NodesThatComparedTheirClocksAreAlignedByThat) {
  {
    auto a = process("node1.1.a");
    a->rank(0, 2).ended(1000);
    // Ticks 200 and 1800 there are 300 and 1100 here, known to 20 and 30.
    a->thread(0)
        .put(RawKind::clock_met, 310, 0, 1, {kTicksAtZero + 300, kTicksAtZero + 200, 20})
        .enter(400, "MPI_Barrier", in_main({}))
        .leave(500, "MPI_Barrier")
        .put(RawKind::clock_met, 1110, 0, 1, {kTicksAtZero + 1100, kTicksAtZero + 1800, 30});
    auto b = other_node(process("node2.2.b"));
    b->thread(0).enter(400, "MPI_Barrier", in_main({})).leave(600, "MPI_Barrier");
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.text("0.0"), "0 main\n400   MPI_Barrier\n500   -\n1000 -\n");
  EXPECT_EQ(listing.text("1.0"), "200 main\n400   MPI_Barrier\n500   -\n1200 -\n");
  EXPECT_EQ(facts.clock_error_ns, 15);
  EXPECT_EQ(losses(facts, "clocks_unrelated"), 0u);
  EXPECT_EQ(losses(facts, "clocks_met_once"), 0u);
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_NE(facts.notes[0].find("clocks of 2 nodes"), std::string::npos);
}

TEST_F(AssembleTest, ClocksThatWereComparedOnceKeepTheirRate) {
  {
    auto a = process("node1.1.a");
    a->rank(0, 2).ended(1000);
    a->thread(0).put(RawKind::clock_met, 310, 0, 1, {kTicksAtZero + 300, kTicksAtZero + 200, 20});
    auto b = other_node(process("node2.2.b"));
    b->thread(0).enter(400, "MPI_Barrier", in_main({})).leave(600, "MPI_Barrier");
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.text("1.0"), "100 main\n500   MPI_Barrier\n700   -\n2100 -\n");
  EXPECT_EQ(losses(facts, "clocks_met_once"), 1u);
}

TEST_F(AssembleTest, TimeNamespacesHaveClocksOfTheirOwn) {
  {
    for (int rank : {0, 1}) {
      auto p = process("node1.1." + std::to_string(rank));
      p->rank(rank, 2).ended(50);
      p->process.time_namespace = static_cast<uint64_t>(rank);
      p->process.first.realtime_ns += rank == 0 ? 0 : 700;
      p->process.last.realtime_ns += rank == 0 ? 0 : 700;
      call_once(*p);
    }
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.text("1.0"), "700 main\n710   MPI_Comm_rank\n720   -\n750 -\n");
  EXPECT_EQ(losses(facts, "clocks_unrelated"), 1u);
}

TEST_F(AssembleTest, ARecordThatWasCutIsDamaged) {
  {
    auto killed = process("node1.1.a");
    killed->rank(0, 1);
    call_once(*killed);
  }
  const auto record = folder_ / "raw" / "node1.1.a" / "process";
  std::filesystem::resize_file(record, sizeof(trace::RawProcessFile) - 8);
  EXPECT_EQ(losses(play(), "damaged_processes"), 1u);
}

TEST_F(AssembleTest, LossesOfTheCollectorAreHandedOn) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    p->process.dropped_records = 3;
    p->process.failed_unwinds = 4;
    p->process.skipped_callbacks = 5;
    p->process.gomp_redirected = 1;
    call_once(*p);
  }
  const RunFacts facts = play();
  EXPECT_EQ(losses(facts, "dropped_records"), 3u);
  EXPECT_EQ(losses(facts, "failed_unwinds"), 4u);
  EXPECT_EQ(losses(facts, "skipped_callbacks"), 5u);
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_NE(facts.notes[0].find("libomp"), std::string::npos);
}

TEST_F(AssembleTest, ProgramThatStaysOnItsOpenMpRuntimeWasNotObserved) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    p->process.gomp_redirected = 2;
    call_once(*p);
  }
  const RunFacts facts = play();
  EXPECT_EQ(losses(facts, "openmp_not_observed"), 1u);
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_EQ(facts.notes[0].find("libomp"), std::string::npos);
  EXPECT_NE(facts.notes[0].find("not observed"), std::string::npos);
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(AssembleTest, AnExperimentKeepsItsFacts) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    p->process.dropped_records = 3;
    call_once(*p);
  }
  std::ofstream(folder_ / "experiment.json") << R"({"exit_status": 7})";
  EXPECT_TRUE(has_records(folder_));
  const auto first = open_records(folder_, 1);
  ASSERT_TRUE(first.ok()) << first.error().sentence;
  EXPECT_TRUE(first.value().kept.ok());
  EXPECT_NE(content_of(folder_ / "experiment.json").find("\"exit_status\": 7"), std::string::npos)
      << "others' keys must stay";
  // Said when the machine was at hand: it stays, as long as the records are the same.
  RunFacts noted = read_facts(folder_).value();
  noted.notes = {"Seen on the machine."};
  ASSERT_TRUE(write_facts(folder_, noted).ok());
  const auto again = open_records(folder_, 1);
  ASSERT_TRUE(again.ok()) << again.error().sentence;
  EXPECT_EQ(again.value().facts.notes, noted.notes);
  EXPECT_EQ(again.value().facts.events, first.value().facts.events);
  EXPECT_EQ(losses(again.value().facts, "dropped_records"), 3u);
  {
    auto more = process("node1.2.b");
    more->ended(50);
    std::strcpy(more->process.omp_runtime, "a runtime");
    call_once(*more);
  }
  const auto grown = open_records(folder_, 1);
  ASSERT_TRUE(grown.ok()) << grown.error().sentence;
  EXPECT_NE(grown.value().facts.notes, noted.notes);
  EXPECT_EQ(grown.value().facts.processes, 2u);
}

TEST_F(AssembleTest, AnExperimentThatCannotBeWrittenIsOpenedAllTheSame) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    call_once(*p);
  }
  std::filesystem::create_directory(folder_ / "names");  // where the names were to be
  const auto opened = open_records(folder_, 1);
  ASSERT_TRUE(opened.ok()) << opened.error().sentence;
  EXPECT_FALSE(opened.value().kept.ok());
  EXPECT_EQ(opened.value().facts.processes, 1u);
}

TEST_F(AssembleTest, RecordsOfAnotherVersionAreRefused) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    p->process.version = trace::kRawVersion + 1;
    call_once(*p);
  }
  const auto opened = open_records(folder_, 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().sentence.find("another version of culprit"), std::string::npos)
      << opened.error().sentence;
}

TEST_F(AssembleTest, NothingRecordedIsAnErrorAndLeavesNothing) {
  {
    auto p = process();
  }
  const auto opened = open_records(folder_, 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().sentence.find("neither MPI nor OpenMP"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "names"));
}

}  // namespace
}  // namespace culprit::assemble::test
