// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame for idle threads of a recorded experiment as it comes about while a program runs, for tests
// that compare it with the replay's: prints one JSON object a process.
//
//     culprit-online-blame EXPERIMENT [CUTS]     CUTS: merge in so many parts, not at once
//     culprit-online-blame kept PROFILE          what came about in the program: sums of its file
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "fold/potential/change_reader.h"
#include "fold/potential/cut.h"
#include "tests/unit/collector/raw_files.h"
#include "trace/raw/profile.h"

namespace {

using namespace culprit;

constexpr uint32_t kRoom = 1 << 16;

/// The changes of one thread, in as much memory as they take.
struct Thread {
  unsigned log = 0;
  std::vector<fold::Change> memory;
  fold::ChangeList list;
};

double seconds_per_tick(const trace::RawProcess& process) {
  const trace::RawClockPair &first = process.first, &last = process.last;
  if (process.clock == trace::RawClock::monotonic_ns || last.ticks <= first.ticks) return 1e-9;
  return 1e-9 * static_cast<double>(last.monotonic_ns - first.monotonic_ns) /
         static_cast<double>(last.ticks - first.ticks);
}

std::vector<Thread> read_changes(const tests::RawRun& run, uint64_t& end) {
  std::vector<Thread> threads;
  for (const auto& [log, thread] : run.threads) {
    Thread& one = threads.emplace_back();
    one.log = log;
    one.memory.resize(thread.records.size() * fold::ChangeList::kMostOfRecord);
    one.list = {one.memory.data(), static_cast<uint32_t>(one.memory.size()),
                static_cast<uint32_t>(threads.size() - 1)};
    fold::ChangeReader reader{};
    for (const tests::RawRecord& record : thread.records) {
      const trace::RawHeader& header = record.header;
      reader.see(
          {header.time, header.arg, header.flags, header.words, header.kind, record.words.data()},
          one.list);
      end = std::max(end, record.header.time);
    }
  }
  return threads;
}

void merge(std::vector<Thread>& threads, uint64_t begin, uint64_t end, uint64_t cuts,
           fold::Potential& potential) {
  std::vector<fold::Change> from(kRoom), to(kRoom);
  std::vector<fold::MergePart> parts(threads.size());
  std::vector<fold::ChangeList*> lists;
  for (Thread& thread : threads) lists.push_back(&thread.list);
  for (uint64_t i = 1; i <= cuts; ++i) {
    const uint64_t until = i == cuts ? UINT64_MAX : begin + (end - begin) / cuts * i;
    fold::cut(lists, until, UINT64_MAX, {from, to, parts}, potential);
  }
  potential.finish(end);
}

void print(const tests::RawRun& run, uint64_t cuts) {
  uint64_t end = run.process.end_ticks;
  std::vector<Thread> threads = read_changes(run, end);
  const auto potential = std::make_unique<fold::Potential>();
  potential->begin(run.process.start_ticks);
  merge(threads, run.process.start_ticks, end, cuts, *potential);
  const double tick = seconds_per_tick(run.process);
  const auto seconds = [&](fold::Wide amount) {
    return tick * static_cast<double>(amount) / (1 << fold::kPotentialShift);
  };
  const fold::CrewSums sums = potential->sums();
  std::printf(
      "{\"rank\":%d,\"idle_s\":%.9f,\"earned_s\":%.9f,\"handed_s\":%.9f,\"rounded_s\":%.9f,\"gap\":"
      "%.0f",
      run.process.world_rank, tick * static_cast<double>(sums.idle_ticks), seconds(sums.earned),
      seconds(sums.handed),
      tick * static_cast<double>(static_cast<int64_t>(sums.rounded >> fold::kPotentialShift)),
      static_cast<double>(sums.gap()));
  const char* const names[] = {"mpi", "mutex", "device", "waking", "early", "other"};
  for (size_t i = 0; i < fold::kNobodies; ++i) {
    std::printf(",\"nobody_%s_s\":%.9f", names[i],
                tick * static_cast<double>(sums.nobody_ticks[i]));
  }
  std::printf(",\"threads\":[");
  for (size_t i = 0; i < threads.size(); ++i) {
    const auto number = static_cast<uint32_t>(i);
    std::printf("%s{\"log\":%u,\"earned_s\":%.9f,\"kept_out_s\":%.9f}", i > 0 ? "," : "",
                threads[i].log,
                seconds(potential->open_blame(number) + potential->early_blame(number)),
                tick * static_cast<double>(potential->kept_out_ticks(number)));
  }
  std::printf("]}\n");
}

/// In ticks.
void print_kept(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  constexpr double kUnit = 1u << trace::kProfileBlameShift;
  trace::ProfileFile file;
  if (bytes.size() < trace::kProfilePage) return;
  std::memcpy(&file, bytes.data(), sizeof file);
  const trace::ProfileBlame& blame = file.blame;
  uint64_t nobody = 0;
  for (uint64_t ticks : blame.nobody) nobody += ticks;
  std::printf("{\"idle\":%.0f,\"earned\":%.3f,\"handed\":%.3f,\"nobody\":%.0f,\"open\":%.3f,",
              static_cast<double>(blame.idle), static_cast<double>(blame.earned) / kUnit,
              static_cast<double>(blame.handed) / kUnit, static_cast<double>(nobody),
              static_cast<double>(blame.open) / kUnit);
  std::printf("\"kept_out\":%.0f,\"lost\":%.0f,\"threads\":[", static_cast<double>(blame.kept_out),
              static_cast<double>(blame.lost));
  const char* separator = "";
  for (size_t at = trace::kProfilePage; at + sizeof(trace::ProfileLog) <= bytes.size();) {
    const auto& log = *reinterpret_cast<const trace::ProfileLog*>(bytes.data() + at);
    if (log.magic != trace::kProfileMagic) break;
    double stretches = 0, mutexes = 0;
    for (uint32_t i = 0; i < log.row_count; ++i) {
      const trace::ProfileRow& row = trace::rows_of(log)[i];
      (row.kind == trace::ProfileKind::mutex ? mutexes : stretches) +=
          static_cast<double>(row.blame) / kUnit;
    }
    std::printf("%s{\"log\":%u,\"earned\":%.3f,\"locks\":%.3f}", separator, log.log, stretches,
                mutexes);
    separator = ",";
    at += log.bytes;
  }
  std::printf("]}\n");
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  if (count == 3 && std::string_view(words[1]) == "kept") return print_kept(words[2]), 0;
  const uint64_t cuts = count > 2 ? std::strtoull(words[2], nullptr, 10) : 1;
  for (const tests::RawRun& run : tests::read_raw(words[1])) print(run, cuts);
}
