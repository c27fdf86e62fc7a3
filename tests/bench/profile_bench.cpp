// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What it takes to make findings of the profiles of many ranks: 1,024 of 22,000 rows, or as the
// arguments say: ranks, rows, and a folder in which the files are made, and left. Each rank has a
// quarter of its rows as frames, calls below them, the stretches between these, and samples; one
// row in fifty is the rank's alone.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "assemble/prepare_run.h"
#include "blame/from_profile.h"
#include "report/db/findings_db.h"
#include "tests/unit/assemble/profile_builder.h"
#include "tests/unit/assemble/raw_builder.h"

namespace {

using namespace culprit;
using assemble::test::FakeCode;
using assemble::test::kTicksAtZero;
using assemble::test::ProfiledThread;
using trace::profile_edge;
using trace::ProfileKind;
using trace::ProfileState;

constexpr size_t kFunctions = 3000;
constexpr unsigned kOneInFifty = 50;

/// Rows of one rank. All ranks have the same tree, but for rows of their own.
ProfiledThread rows_of_rank(size_t rank, size_t rows, const std::vector<uint64_t>& code) {
  std::mt19937_64 tree(1), own(rank + 2);
  ProfiledThread thread(0, kTicksAtZero + 10, 0);
  std::vector<uint32_t> frames{thread.frames({code[0], code[1], code[2]})};
  while (frames.size() < rows / 4) {
    const bool is_own = tree() % kOneInFifty == 0;
    const uint64_t function = code[3 + (tree() + (is_own ? rank % 7 : 0)) % (code.size() - 3)];
    frames.push_back(thread.add(ProfileKind::frame, frames[tree() % frames.size()], function));
  }
  uint64_t ticks = 0;
  uint32_t before = 0;
  for (size_t i = 0; thread.rows.size() + 3 <= rows; ++i) {
    const uint32_t call = thread.add(ProfileKind::mpi_call, 0, frames[i % frames.size()], 1);
    thread.rows[call].visits = 1 + own() % 100;
    thread.rows[call].amount = own() % 100'000;
    const uint64_t inside = 1000 + own() % 1000, outside = 2000 + own() % 2000;
    thread.stretch(call, profile_edge(call, false), profile_edge(call, true), ProfileState::mpi,
                   inside);
    const uint32_t stretch = thread.stretch(0, profile_edge(before, true),
                                            profile_edge(call, false), ProfileState::work, outside);
    if (thread.rows.size() < rows) {
      thread.sampled(stretch, frames[tree() % frames.size()], 1 + own() % 3);
    }
    ticks += inside + outside;
    before = call;
  }
  thread.head.until = thread.head.begin + ticks;
  return thread;
}

void make_files(const std::filesystem::path& raw, size_t ranks, size_t rows, FakeCode& code) {
  std::vector<uint64_t> addresses{code.at("_start"), code.at("libc:__libc_start_main"),
                                  code.at("main")};
  for (size_t i = 0; i < kFunctions; ++i) addresses.push_back(code.at("f" + std::to_string(i)));
  for (size_t rank = 0; rank < ranks; ++rank) {
    const std::filesystem::path folder = raw / ("node1." + std::to_string(rank + 1) + ".a");
    assemble::test::RawProcessBuilder process(folder, code);
    process.rank(static_cast<int32_t>(rank), static_cast<int32_t>(ranks));
    process.process.pid = static_cast<uint32_t>(rank + 1);
    process.process.sampling_hz = 100;
    process.thread(0).enter(20, "MPI_Allreduce").leave(30, "MPI_Allreduce");
    std::deque<ProfiledThread> threads{rows_of_rank(rank, rows, addresses)};
    const uint64_t end = threads.front().head.until;
    process.ended(end - kTicksAtZero);
    process.process.last.ticks += end;
    process.process.last.monotonic_ns += end;
    process.process.last.realtime_ns += end;
    assemble::test::write_profile(
        folder, assemble::test::profile_bytes(process.process.start_ticks, threads));
  }
}

class Watch {
 public:
  void say(const char* what) {
    const auto now = std::chrono::steady_clock::now();
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    const double cpu = static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                       static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
    std::printf("%-22s %7.2f s, %7.2f s of CPU time; %5.0f MiB at most\n", what,
                std::chrono::duration<double>(now - last_).count(), cpu - cpu_,
                static_cast<double>(use.ru_maxrss) / 1024);
    last_ = now;
    cpu_ = cpu;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  double cpu_ = 0;
};

int measure(size_t ranks, size_t rows, const std::filesystem::path& folder) {
  FakeCode code;
  Watch watch;
  make_files(folder / "raw", ranks, rows, code);
  watch.say("making the files");
  trace::Profile profile;
  const auto run =
      assemble::prepare_profile(GuardedPath(folder) / "raw", {0, code.symbols()}, profile);
  if (!run) {
    std::fprintf(stderr, "%s\n", run.error().sentence.c_str());
    return 1;
  }
  watch.say("reading and merging");
  auto findings = blame::findings_of_profile(profile, 0, run.value()->facts.losses);
  if (!findings) {
    std::fprintf(stderr, "%s\n", findings.error().sentence.c_str());
    return 1;
  }
  watch.say("findings");
  if (auto saved = report::save_findings(*findings, folder / "findings.db"); !saved) {
    std::fprintf(stderr, "%s\n", saved.error().sentence.c_str());
    return 1;
  }
  watch.say("findings.db");
  for (const std::string& sentence : findings->identities.violations) {
    std::printf("%s\n", sentence.c_str());
  }
  std::printf("%zu call paths, %zu rows of locations, %llu joined\n", findings->callpaths.size(),
              findings->profile.size(), static_cast<unsigned long long>(profile.joined_rows));
  return findings->identities.violations.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const size_t ranks = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 1024;
  const size_t rows = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 22'000;
  const bool stays = count > 3;
  const std::filesystem::path folder = stays ? std::filesystem::path(arguments[3])
                                             : std::filesystem::temp_directory_path() /
                                                   ("profile_bench." + std::to_string(getpid()));
  const int status = measure(ranks, rows, folder);
  if (!stays) std::filesystem::remove_all(folder);
  return status;
}
