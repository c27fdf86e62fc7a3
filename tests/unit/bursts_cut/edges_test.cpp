// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A ring of processes sends messages whose lengths are their numbers, with requests that are over
// in another order than they were begun. It is cut at many places; what remains of each channel
// must be the same messages at both ends, in the same order.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "assemble/bursts/edges.h"
#include "cut.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;

constexpr uint32_t kProcesses = 3;
constexpr unsigned kSteps = 150;

template <class Record>
void put(std::vector<uint64_t>& words, uint64_t time, const Record& record) {
  const raw::Packed<Record> packed(record);
  words.push_back(time);
  words.push_back(
      trace::raw_second_half(Record::kKind, packed.flag_bits, packed.argument, packed.count));
  words.insert(words.end(), packed.words, packed.words + packed.count);
}

/// The log of one process. Messages reach their receivers before these wait for them.
std::vector<uint64_t> ring_log(uint32_t self, std::mt19937& random) {
  std::vector<uint64_t> log;
  const auto to = static_cast<int32_t>((self + 1) % kProcesses);
  const auto from = static_cast<int32_t>((self + kProcesses - 1) % kProcesses);
  uint64_t time = 1000 + random() % 50, request = 0, number = 0;
  put(log, 1, raw::mpi_init_done{});
  for (unsigned step = 0; step < kSteps; ++step) {
    const uint64_t first = request + 1;
    for (int i = 0; i < 2; ++i) {
      put(log, time, raw::mpi_enter{.name = 1});
      put(log, time,
          raw::mpi_irecv_post{.comm = 0, .request = ++request, .source = from, .tag = 7});
      put(log, time += 10, raw::mpi_leave{.name = 1});
    }
    for (int i = 0; i < 2; ++i) {
      put(log, time, raw::mpi_enter{.name = 2});
      put(log, time,
          raw::mpi_isend{.comm = 0,
                         .peer = to,
                         .tag = 7,
                         .bytes = number + 1 + static_cast<uint64_t>(i),
                         .request = ++request});
      put(log, time += 10 + random() % 100, raw::mpi_leave{.name = 2});
    }
    time = std::max<uint64_t>(time, 1000 + 1000 * (step + 1));
    // The second may be over long before the first.
    const bool swapped = random() % 2 == 0;
    for (uint64_t i = 0; i < 2; ++i) {
      const uint64_t which = swapped ? 1 - i : i;
      put(log, time, raw::mpi_enter{.name = 3});
      put(log, time += 50,
          raw::mpi_irecv{.comm = 0,
                         .peer = from,
                         .tag = 7,
                         .bytes = number + 1 + which,
                         .request = first + which});
      put(log, time, raw::mpi_isend_done{.request = first + 2 + which});
      put(log, time, raw::mpi_leave{.name = 3});
    }
    number += 2;
    put(log, time, raw::mpi_enter{.name = 4});
    put(log, time += 10 + random() % 300, raw::mpi_collective{.comm = 0, .sent = step + 1});
    put(log, time, raw::mpi_leave{.name = 4});
  }
  return log;
}

struct Ring {
  std::vector<RawProcessFolder> folders;
  Processes processes;
  CommTable comms;
};

Ring make_ring() {
  std::mt19937 random(5);
  Ring ring;
  trace::Comm world;
  world.kind = trace::CommKind::mpi_world;
  World members;
  for (uint32_t i = 0; i < kProcesses; ++i) {
    RawProcessFolder& folder = ring.folders.emplace_back();
    folder.logs.push_back(RawLog::of(0, ring_log(i, random)));
    ring.processes.slots.push_back({i, 0});
    world.members.push_back(ProcessId(i));
    members.members.push_back(ProcessId(i));
    ring.comms.local.push_back({{trace::kRawCommWorld, CommId(0)}});
  }
  ring.processes.worlds.push_back(members);
  ring.comms.comms.push_back(world);
  return ring;
}

/// Lengths of the messages, and sums of the operations, in the order in which they were posted.
struct Said {
  std::vector<uint64_t> sent, received, operations;
};

Said said_by(const RawLog& log) {
  Said said;
  std::map<uint64_t, uint64_t> posted;  // by request: place
  std::map<uint64_t, uint64_t> lengths;
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    if (record.kind == RawKind::mpi_isend) said.sent.push_back(record.as<raw::mpi_isend>().bytes);
    if (record.kind == RawKind::mpi_irecv_post) {
      posted[record.as<raw::mpi_irecv_post>().request] = posted.size();
    }
    if (record.kind == RawKind::mpi_irecv) {
      const auto done = record.as<raw::mpi_irecv>();
      EXPECT_TRUE(posted.contains(done.request));
      lengths[posted[done.request]] = done.bytes;
    }
    if (record.kind == RawKind::mpi_collective) said.operations.push_back(record.w[1]);
  }
  for (const auto& [place, bytes] : lengths) said.received.push_back(bytes);
  return said;
}

TEST(WindowEdges, NoFalsePairWhereverARingIsCut) {
  const Ring ring = make_ring();
  std::mt19937 random(6);
  size_t messages = 0, operations = 0;
  const std::vector<std::unordered_map<uint64_t, uint32_t>> no_pairs(kProcesses);
  for (int cut = 0; cut < 1000; ++cut) {
    const uint64_t begin = 1 + random() % (1000 * kSteps);
    const TickSpan span{begin, begin + 500 + random() % 20'000};
    WindowRecords window = test::cut_window(ring.folders, 1, span);
    Crossing crossing;
    leave_out_crossing({window.folders, true, window.known, ring.processes, ring.comms, no_pairs},
                       crossing);
    std::vector<Said> said;
    for (const RawProcessFolder& folder : window.folders) said.push_back(said_by(folder.logs[0]));
    for (uint32_t i = 0; i < kProcesses; ++i) {
      ASSERT_EQ(said[i].sent, said[(i + 1) % kProcesses].received) << "cut at " << begin;
      ASSERT_EQ(said[i].operations, said[0].operations) << "cut at " << begin;
      messages += said[i].sent.size();
      operations += said[i].operations.size();
    }
    EXPECT_LE(crossing.messages, kProcesses * 8);
    EXPECT_LE(crossing.operations, kProcesses * 2);
  }
  EXPECT_GT(messages, 30'000u);
  EXPECT_GT(operations, 15'000u);
}

}  // namespace
}  // namespace culprit::assemble
