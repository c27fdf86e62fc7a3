// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs under their MPI's own launcher, with the preload library: their records, as transcripts,
// must be those of the files next to this one, whatever the language and the MPI. A binary that
// could not be built (a missing MPI or Fortran compiler) skips its test.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "transcript.h"

namespace culprit::tests {
namespace {

namespace fs = std::filesystem;

struct Program {
  const char* mpi;
  const char* name;
  std::string binary() const { return std::string(CULPRIT_TEST_PROGRAMS) + "/" + name + "." + mpi; }
};

/// GoogleTest shows parameters in the names of tests.
void PrintTo(const Program& program, std::ostream* out) {
  *out << program.name << " with " << program.mpi;
}

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "culprit-mpi.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Processes by world rank.
using Processes = std::map<int, RawRun>;

std::string launcher(const std::string& mpi) {
  return mpi == "openmpi" ? CULPRIT_LAUNCHER_openmpi : CULPRIT_LAUNCHER_mpich;
}

/// The program alone gets the preload library: launchers have daemons and helpers.
std::string command(const Program& program, int ranks, const fs::path& experiment,
                    const std::string& arguments) {
  std::string line =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_rmaps_base_oversubscribe=1 timeout 100 " +
      launcher(program.mpi);
  if (std::string(program.mpi) == "openmpi") line += " --bind-to none";
  line += " -n " + std::to_string(ranks) + " env LD_PRELOAD=" CULPRIT_PRELOAD_LIBRARY;
  if (!experiment.empty()) line += " CULPRIT_SAMPLING=0 CULPRIT_EXPERIMENT=" + experiment.string();
  return line + " " + arguments + " 2>&1";
}

int run(const std::string& line, std::string& output) {
  FILE* pipe = popen(line.c_str(), "r");
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  return pclose(pipe);
}

Processes record(const Program& program, int ranks, const std::string& arguments = "") {
  const Folder folder;
  std::string output;
  const int status = run(command(program, ranks, folder.path(),
                                 program.binary() + " " + arguments + " " + folder.path().string()),
                         output);
  EXPECT_EQ(status, 0) << output;
  Processes processes;
  for (RawRun& process : read_raw(folder.path())) {
    const int rank = process.process.world_rank;
    processes.emplace(rank, std::move(process));
  }
  return processes;
}

std::vector<std::string> expected(const std::string& name, int rank) {
  const std::string file =
      std::string(CULPRIT_TEST_SOURCES) + "/" + name + ".rank" + std::to_string(rank) + ".txt";
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Records : public testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    if (!fs::exists(GetParam().binary())) GTEST_SKIP() << "not built: " << GetParam().binary();
  }
};

class Core : public Records {};

TEST_P(Core, SameInEveryLanguage) {
  const Processes processes = record(GetParam(), 3);
  ASSERT_EQ(processes.size(), 3u);
  for (const auto& [rank, process] : processes) {
    EXPECT_EQ(process.process.world_size, 3);
    EXPECT_EQ(process.process.finalized, 1u);
    EXPECT_EQ(process.process.dropped_records, 0u);
    EXPECT_EQ(transcript(process.threads.at(0)), expected("core", rank)) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Core,
    testing::Values(Program{"openmpi", "core_c"}, Program{"mpich", "core_c"},
                    Program{"openmpi", "core_cxx"}, Program{"mpich", "core_cxx"},
                    Program{"openmpi", "core_mpif"}, Program{"openmpi", "core_mpi"},
                    Program{"openmpi", "core_f08"}, Program{"mpich", "core_mpif"},
                    Program{"mpich", "core_mpi"}, Program{"mpich", "core_f08"}),
    [](const auto& i) { return std::string(i.param.mpi) + "_" + i.param.name; });

/// Every process's transcript is that of its file. What only MPI-4 has lies before the last line,
/// in a file of its own.
void expect_transcripts(const Processes& processes, int ranks, const std::string& name) {
  ASSERT_EQ(processes.size(), static_cast<size_t>(ranks));
  for (const auto& [rank, process] : processes) {
    std::vector<std::string> lines = transcript(process.threads.at(0));
    std::vector<std::string> wanted = expected(name, rank);
    if (lines.size() > wanted.size()) {
      const std::vector<std::string> extra = expected(name + "4", rank);
      wanted.insert(wanted.end() - 1, extra.begin(), extra.end());
    }
    EXPECT_EQ(lines, wanted) << "rank " << rank;
  }
}

class More : public Records {};

TEST_P(More, RarerFamilies) {
  const Processes processes = record(GetParam(), 3);
  expect_transcripts(processes, 3, "more");
  for (const auto& [rank, process] : processes) EXPECT_EQ(process.process.thread_level, 1u);
}

INSTANTIATE_TEST_SUITE_P(All, More,
                         testing::Values(Program{"openmpi", "more"}, Program{"mpich", "more"}),
                         [](const auto& i) { return std::string(i.param.mpi); });

class OneSided : public Records {};

TEST_P(OneSided, WindowsAndFiles) {
  const Processes processes = record(GetParam(), 3);
  expect_transcripts(processes, 3, "one_sided");
  for (const auto& [rank, process] : processes) {
    EXPECT_EQ(process.process.skipped_callbacks, 0u) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OneSided,
    testing::Values(Program{"openmpi", "one_sided_c"}, Program{"openmpi", "one_sided_f08"},
                    Program{"mpich", "one_sided_c"}, Program{"mpich", "one_sided_f08"}),
    [](const auto& i) { return std::string(i.param.mpi) + "_" + i.param.name; });

class Partners : public Records {};

TEST_P(Partners, WhoExchangesDataWithWhom) {
  expect_transcripts(record(GetParam(), 4), 4, "partners");
}

INSTANTIATE_TEST_SUITE_P(All, Partners,
                         testing::Values(Program{"openmpi", "partners"},
                                         Program{"mpich", "partners"}),
                         [](const auto& i) { return std::string(i.param.mpi); });

class Constants : public Records {};

/// MPI_BOTTOM, MPI_UNWEIGHTED and their like are addresses that only Fortran's libraries know.
TEST_P(Constants, SpecialAddressesReachTheLibrary) {
  const Folder folder;
  std::string output;
  // Debian's MPICH starts no further processes.
  const std::string more = std::string(GetParam().mpi) == "openmpi" ? GetParam().binary() : "";
  const std::string line = command(GetParam(), 2, folder.path(), GetParam().binary() + " " + more);
  EXPECT_EQ(run(line, output), 0) << output;
  EXPECT_EQ(output, "right\nright\n");
  size_t recorded = 0;
  for (const RawRun& process : read_raw(folder.path())) {
    recorded += process.count(trace::RawKind::mpi_collective);
  }
  EXPECT_GT(recorded, 20u) << "it was recorded at all";
}

INSTANTIATE_TEST_SUITE_P(
    All, Constants,
    testing::Values(Program{"openmpi", "constants_mpif"}, Program{"openmpi", "constants_mpi"},
                    Program{"openmpi", "constants_f08"}, Program{"mpich", "constants_mpif"},
                    Program{"mpich", "constants_mpi"}, Program{"mpich", "constants_f08"}),
    [](const auto& i) { return std::string(i.param.mpi) + "_" + i.param.name; });

class Threads : public Records {};

/// Every thread's requests pair up and every message has its counterpart, though all use one table.
TEST_P(Threads, RequestsPairUp) {
  const Processes processes = record(GetParam(), 2);
  ASSERT_EQ(processes.size(), 2u);
  for (const auto& [rank, process] : processes) {
    std::map<uint64_t, int> posted, sent;
    size_t messages = 0;
    for (const auto& [number, thread] : process.threads) {
      for (const RawRecord& r : thread.records) {
        using trace::RawKind;
        if (r.kind() == RawKind::mpi_irecv_post) ++posted[r.words.at(0)];
        if (r.kind() == RawKind::mpi_irecv) --posted[r.words.at(2)], ++messages;
        if (r.kind() == RawKind::mpi_isend) ++sent[r.words.at(2)];
        if (r.kind() == RawKind::mpi_isend_done) --sent[r.words.at(0)];
        if (r.kind() == RawKind::mpi_irecv) {
          EXPECT_EQ(r.words.at(0) & 0xffffffffu, 1u - static_cast<unsigned>(rank));
        }
      }
    }
    EXPECT_EQ(messages, 4u * 200u);
    for (const auto& [id, open] : posted) EXPECT_EQ(open, 0) << "receive " << id;
    for (const auto& [id, open] : sent) EXPECT_EQ(open, 0) << "send " << id;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Threads,
                         testing::Values(Program{"openmpi", "threads"},
                                         Program{"mpich", "threads"}),
                         [](const auto& i) { return std::string(i.param.mpi); });

class Corners : public Records {};

/// The program judges itself whether it got MPI's answers.
TEST_P(Corners, RareButAllowed) {
  const Processes processes = record(GetParam(), 1);
  ASSERT_EQ(processes.size(), 1u);
  const RawRun& process = processes.at(0);
  EXPECT_EQ(transcript(process.threads.at(0)), expected("corners", 0));
  EXPECT_EQ(process.process.finalized, 1u);
  EXPECT_EQ(process.process.skipped_callbacks, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Corners,
                         testing::Values(Program{"openmpi", "corners"},
                                         Program{"mpich", "corners"}),
                         [](const auto& i) { return std::string(i.param.mpi); });

class Many : public Records {};

/// Very many communicators and requests; `./dev soak` does the same with a hundred times as many.
TEST_P(Many, CommunicatorsAndRequestsPairUp) {
  constexpr size_t kComms = 700, kRequests = 20'000;
  const Processes processes =
      record(GetParam(), 2, std::to_string(kComms) + " " + std::to_string(kRequests) + " # ");
  ASSERT_EQ(processes.size(), 2u);
  for (const auto& [rank, process] : processes) {
    using trace::RawKind;
    EXPECT_EQ(process.count(RawKind::mpi_comm_def), kComms);
    EXPECT_EQ(process.count(RawKind::mpi_comm_free), kComms);
    for (const RawKind kind : {RawKind::mpi_isend, RawKind::mpi_isend_done, RawKind::mpi_irecv_post,
                               RawKind::mpi_irecv}) {
      EXPECT_EQ(process.count(kind), kRequests);
    }
    EXPECT_EQ(process.process.dropped_records, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Many,
                         testing::Values(Program{"openmpi", "many"}, Program{"mpich", "many"}),
                         [](const auto& i) { return std::string(i.param.mpi); });

class Persistent : public Records {};

/// Of each start there is a record, and one of its end, whatever becomes of the handle.
TEST_P(Persistent, EveryStartIsRecorded) {
  constexpr size_t kStarts = 200;  // 100 with MPI_Start, 100 with MPI_Startall
  const Processes processes = record(GetParam(), 2);
  ASSERT_EQ(processes.size(), 2u);
  using trace::RawKind;
  EXPECT_EQ(processes.at(0).count(RawKind::mpi_isend), kStarts);
  EXPECT_EQ(processes.at(0).count(RawKind::mpi_isend_done), kStarts);
  EXPECT_EQ(processes.at(1).count(RawKind::mpi_irecv_post), kStarts);
  EXPECT_EQ(processes.at(1).count(RawKind::mpi_irecv), kStarts);
}

INSTANTIATE_TEST_SUITE_P(
    All, Persistent,
    testing::Values(Program{"openmpi", "persistent_c"}, Program{"openmpi", "persistent_f08"},
                    Program{"mpich", "persistent_c"}, Program{"mpich", "persistent_f08"}),
    [](const auto& i) { return std::string(i.param.mpi) + "_" + i.param.name; });

class Inert : public Records {};

/// Without an experiment the library changes nothing and leaves nothing.
TEST_P(Inert, NothingIsRecorded) {
  const Folder folder;
  std::string output;
  const std::string line = command(GetParam(), 3, {}, GetParam().binary());
  EXPECT_EQ(run("cd " + folder.path().string() + " && " + line, output), 0) << output;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

INSTANTIATE_TEST_SUITE_P(All, Inert,
                         testing::Values(Program{"openmpi", "core_c"},
                                         Program{"mpich", "core_f08"}),
                         [](const auto& i) { return std::string(i.param.mpi); });

/// Python loads its MPI for one module only, out of the usual search order.
TEST(Python, MpiLoadedForOneModule) {
  if (std::string(CULPRIT_PYTHON_WITH_MPI).empty()) GTEST_SKIP() << "no mpi4py";
  const Folder folder;
  std::string output;
  const Program python{"openmpi", ""};
  const std::string script = CULPRIT_PYTHON_WITH_MPI " " CULPRIT_TEST_SOURCES "/objects.py";
  ASSERT_EQ(run(command(python, 2, folder.path(), script), output), 0) << output;
  size_t processes = 0;
  for (const RawRun& process : read_raw(folder.path())) {
    ++processes;
    EXPECT_EQ(process.count(trace::RawKind::mpi_send) + process.count(trace::RawKind::mpi_recv),
              1u);
    EXPECT_EQ(process.process.finalized, 1u);
  }
  EXPECT_EQ(processes, 2u);
}

}  // namespace
}  // namespace culprit::tests
