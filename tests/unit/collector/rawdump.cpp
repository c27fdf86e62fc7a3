// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit-rawdump <experiment>: prints raw records for human eyes, one a line, times in ticks since
// the process's start. With -s only how many there are of each kind.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>

#include "raw_files.h"

using namespace culprit::tests;

namespace {

void print_process(const RawRun& run) {
  const auto& p = run.process;
  printf("process %s\n  command %s\n  rank %d of %d, %s%s\n", run.folder.c_str(), p.command,
         p.world_rank, p.world_size, p.mpi_library, p.omp_runtime);
  printf("  clock %s, event %u ps, path %u ps, redirected %u, sampling %u Hz, ended %u\n",
         p.clock == culprit::trace::RawClock::tsc ? "tsc" : "monotonic", p.event_cost_ps,
         p.path_cost_ps, p.gomp_redirected, p.sampling_hz, p.ended);
  printf("  dropped %" PRIu64 ", skipped %" PRIu64 ", failed unwinds %" PRIu64 ", maps %u\n",
         p.dropped_records, p.skipped_callbacks, p.failed_unwinds, run.maps);
}

void print_counts(const RawThread& thread) {
  std::map<std::string, size_t> counts;
  for (const RawRecord& record : thread.records) ++counts[to_string(record.kind())];
  for (const auto& [name, count] : counts) printf("    %-20s %zu\n", name.c_str(), count);
}

void print_records(const RawRun& run, const RawThread& thread) {
  for (const RawRecord& record : thread.records) {
    printf("%14" PRId64 " %-19s flags %u arg %u",
           static_cast<int64_t>(record.header.time - run.process.start_ticks),
           to_string(record.kind()).c_str(), record.header.flags, record.header.arg);
    for (const uint64_t word : record.words) printf(" %" PRIx64, word);
    printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool summary = argc == 3 && strcmp(argv[1], "-s") == 0;
  if (argc != (summary ? 3 : 2)) {
    fprintf(stderr, "usage: culprit-rawdump [-s] EXPERIMENT\n");
    return 2;
  }
  try {
    for (const RawRun& run : read_raw(argv[argc - 1])) {
      print_process(run);
      for (const auto& [number, thread] : run.threads) {
        printf("  thread %u: %zu records\n", number, thread.records.size());
        summary ? print_counts(thread) : print_records(run, thread);
      }
    }
  } catch (const std::exception& error) {
    fprintf(stderr, "culprit-rawdump: %s\n", error.what());
    return 1;
  }
  return 0;
}
