// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Profiles with names: where rows are in the tree of call paths, how samples divide time, that
// nothing gets lost on the way; and files that others have damaged.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "assemble/profile/kept_definitions.h"
#include "assemble/profile/profile_file.h"
#include "assemble/profile/rank_spreads.h"
#include "fixture.h"
#include "profile_builder.h"
#include "trace/raw/bursts.h"

namespace culprit::assemble::test {
namespace {

using trace::profile_edge;
using trace::ProfileKind;
using trace::ProfileState;

class ProfileTest : public AssembleTest {
 protected:
  /// "main/solve": a call path of the profile.
  std::string name_of(const trace::Profile& profile, CallPathId path) const {
    const trace::ProfilePath& at = profile.paths[path.index()];
    const std::string& region = profile.definitions.regions[at.region.index()].name;
    return at.parent.valid() ? name_of(profile, at.parent) + "/" + region : region;
  }

  /// Nanoseconds by call path of a location.
  std::map<std::string, int64_t> times(const trace::Profile& profile, size_t location) const {
    std::map<std::string, int64_t> times;
    for (const trace::ProfileEntry& row : profile.lines[location].rows) {
      times[name_of(profile, row.path)] += row.time.nanos();
    }
    return times;
  }

  trace::Profile read() {
    trace::Profile profile;
    auto run = prepare_profile(GuardedPath(folder_) / "raw", {1, code.symbols()}, profile);
    EXPECT_TRUE(run.ok()) << (run ? "" : run.error().sentence);
    if (run) facts = run.value()->facts;
    return profile;
  }

  std::vector<uint64_t> addresses(const std::vector<std::string>& functions) {
    std::vector<uint64_t> all;
    for (const std::string& function : in_main(functions)) all.push_back(code.at(function));
    return all;
  }

  std::filesystem::path folder_of_process() const { return folder_ / "raw" / "node1.1.a"; }

  bool told(std::string_view what, std::string_view count) const {
    return std::any_of(facts.notes.begin(), facts.notes.end(), [&](const std::string& note) {
      return note.find(what) != note.npos && note.find(count) != note.npos;
    });
  }

  RunFacts facts;
};

constexpr uint64_t at(uint64_t time) {
  return kTicksAtZero + time;
}

/// main calls MPI_Send twice, with a function before each.
class TwoSends : public ProfileTest {
 protected:
  TwoSends() {
    auto built = process();
    built->thread(0).enter(100, "MPI_Send", in_main({"solve"})).leave(200, "MPI_Send");
    built->ended(1000);
    start = built->process.start_ticks;
    ProfiledThread& thread = threads.emplace_back(0, at(100), at(1000));
    const uint32_t solve = thread.frames(addresses({"solve"}));
    const uint32_t inner = thread.frames(addresses({"solve", "inner"}));
    send = thread.add(ProfileKind::mpi_call, 0, solve, 1);
    thread.rows[send].visits = 2;
    thread.rows[send].ticks = 300;
    thread.rows[send].amount = 4096;
    thread.stretch(send, profile_edge(send, false), profile_edge(send, true), ProfileState::mpi,
                   300);
    between = thread.stretch(0, profile_edge(send, true), profile_edge(send, false),
                             ProfileState::work, 500);
    thread.sampled(between, inner, 3);
    thread.sampled(between, solve, 1);
    thread.stretch(0, profile_edge(send, true), 0, ProfileState::work, 100);
  }
  void write() { write_profile(folder_of_process(), profile_bytes(start, threads)); }

  uint64_t start = 0;
  std::deque<ProfiledThread> threads;
  uint32_t send = 0, between = 0;
};

TEST_F(TwoSends, TimeIsDividedBySamples) {
  write();
  const trace::Profile profile = read();
  ASSERT_EQ(profile.lines.size(), 1u);
  const auto found = times(profile, 0);
  EXPECT_EQ(found.at("main/solve/MPI_Send"), 300);
  EXPECT_EQ(found.at("main/solve/inner"), 375);
  EXPECT_EQ(found.at("main/solve"), 125);
  int64_t sum = 0;
  for (const auto& [path, time] : found) sum += time;
  EXPECT_EQ(sum, (profile.lines[0].end - profile.lines[0].begin).nanos());
}

TEST_F(TwoSends, FiguresOfCallsAreKept) {
  write();
  const trace::Profile profile = read();
  for (const trace::ProfileEntry& row : profile.lines[0].rows) {
    if (name_of(profile, row.path) != "main/solve/MPI_Send") continue;
    EXPECT_EQ(row.visits, 2u);
    EXPECT_EQ(row.bytes, 4096u);
    return;
  }
  FAIL() << "there is no call";
}

TEST_F(TwoSends, TimeInTheKernelIsWhereSamplesFoundIt) {
  ProfiledThread& thread = threads.front();
  const uint32_t kernel =
      thread.add(ProfileKind::kernel, between, thread.frames(addresses({"solve", "inner"})));
  thread.rows[kernel].amount = 77;
  thread.rows[kernel].waits = 50;
  write();
  const trace::Profile profile = read();
  for (const trace::ProfileEntry& row : profile.lines[0].rows) {
    const bool is_there = name_of(profile, row.path) == "main/solve/inner";
    EXPECT_EQ(row.page_faults, is_there ? 77u : 0u);
    EXPECT_EQ(row.system.nanos(), is_there ? 50 : 0);
  }
}

/// A worker's rows hang below its master's region.
TEST_F(ProfileTest, WorkersHangBelowTheFork) {
  auto built = process();
  const uint64_t outlined = code.at("work.omp_outlined");
  RawThread& master = built->thread(0);
  const uint32_t path = master.path(in_main({"solve"}));
  master.fork(100, 1, in_main({"solve"})).begin(100, 1, 2, 0).end(900, 1).join(900, 1);
  built->thread(1).begin(110, 1, 2, 1).end(900, 1);
  built->ended(1000);
  std::deque<ProfiledThread> threads;
  ProfiledThread& first = threads.emplace_back(0, at(100), at(1000));
  const uint32_t frame = first.frames(addresses({"solve"}));
  const uint32_t fork = first.add(ProfileKind::fork, 0, frame);
  const uint32_t team = first.add(ProfileKind::team, fork, 0);
  first.stretch(team, profile_edge(team, false), profile_edge(team, true), ProfileState::work, 800);
  first.stretch(0, profile_edge(fork, true), 0, ProfileState::work, 100);
  ProfiledThread& second = threads.emplace_back(1, at(110), at(1000));
  const uint32_t part = second.add(ProfileKind::team, 0, path);  // of log 0
  const uint32_t deep = second.frames({code.at("__kmp_invoke"), outlined, code.at("kernel")});
  const uint32_t work = second.stretch(part, profile_edge(part, false), profile_edge(part, true),
                                       ProfileState::work, 690);
  second.sampled(work, deep, 5);
  second.stretch(0, profile_edge(part, true), 0, ProfileState::idle, 150);
  second.stretch(0, profile_edge(part, true), 0, ProfileState::waking, 50);
  write_profile(folder_of_process(), profile_bytes(built->process.start_ticks, threads));
  built.reset();
  const trace::Profile profile = read();
  ASSERT_EQ(profile.lines.size(), 2u);
  EXPECT_FALSE(profile.lines[0].of_a_pool);
  EXPECT_TRUE(profile.lines[1].of_a_pool);
  EXPECT_EQ(profile.lines[1].idle.nanos(), 150);
  EXPECT_EQ(profile.lines[1].waking.nanos(), 50);
  const auto found = times(profile, 1);
  int64_t in_kernel = 0;
  for (const auto& [name, time] : found) {
    EXPECT_TRUE(name.starts_with("main/solve/!$omp parallel")) << name;
    if (name.ends_with("/kernel")) in_kernel += time;
  }
  EXPECT_EQ(in_kernel, 690);
}

/// Rows of runs with many are joined to their callers; nothing is lost.
TEST_F(ProfileTest, ManyRowsAreJoined) {
  auto built = process();
  built->thread(0).enter(100, "MPI_Send", in_main({})).leave(200, "MPI_Send");
  built->ended(1000);
  std::deque<ProfiledThread> threads;
  ProfiledThread& thread = threads.emplace_back(0, at(100), at(1000));
  const uint32_t main = thread.frames(addresses({}));
  uint64_t ticks = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    const uint32_t frame = thread.frames(addresses({"f" + std::to_string(i)}));
    const uint32_t call = thread.add(ProfileKind::mpi_call, 0, frame, 1);
    thread.rows[call].visits = 1;
    thread.stretch(call, profile_edge(call, false), profile_edge(call, true), ProfileState::mpi,
                   1 + i % 3);
    ticks += 1 + i % 3;
  }
  thread.head.until = at(100 + ticks);
  static_cast<void>(main);
  write_profile(folder_of_process(), profile_bytes(built->process.start_ticks, threads));
  built.reset();
  const trace::Profile profile = read();
  int64_t sum = 0;
  for (const auto& [path, time] : times(profile, 0)) sum += time;
  EXPECT_EQ(sum, (profile.lines[0].end - profile.lines[0].begin).nanos());
  EXPECT_EQ(profile.joined_rows, 0u);
}

TEST(RankSpreads, KnowTheRanksAtTheEnds) {
  RankSpreads spreads;
  const auto figures = [](double time, double bytes) {
    return std::vector<RankFigures>{{1, time, 1, bytes}};
  };
  spreads.add_rank(10, figures(3, 0));
  spreads.add_rank(11, figures(1, 8));
  spreads.add_rank(12, figures(5, 8));
  spreads.add_rank(13, {});
  const trace::PathSpreads all = spreads.of(1);
  EXPECT_EQ(spreads.ranks(), 4u);
  EXPECT_EQ(all.time.ranks, 3u);
  EXPECT_DOUBLE_EQ(all.time.sum, 9);
  EXPECT_DOUBLE_EQ(all.time.squares, 35);
  EXPECT_DOUBLE_EQ(all.time.most, 5);
  EXPECT_EQ(all.time.most_rank, 12u);
  EXPECT_DOUBLE_EQ(all.time.least, 0);
  EXPECT_EQ(all.time.least_rank, 13u);
  EXPECT_EQ(all.bytes.least_rank, 10u);
  EXPECT_EQ(spreads.of(2).time.ranks, 0u);
}

// --- Files that are not as they should be ---

TEST_F(TwoSends, RowsThatMakeNoSenseAreCounted) {
  ProfiledThread& thread = threads.front();
  thread.add(ProfileKind::mpi_call, 999'999, 1, 1);                    // no such parent
  thread.add(ProfileKind::mpi_call, between, 1, 1);                    // below a stretch
  thread.add(ProfileKind::mpi_call, 0, uint64_t{1} << 40, 1);          // no such frame
  thread.add(ProfileKind::sampled, send, 1);                           // not below a stretch
  thread.add(ProfileKind::stretch, 0, uint64_t{0xffffffff} << 32, 0);  // no such edge
  thread.add(static_cast<ProfileKind>(200), 0, 0);                     // no such kind
  const auto itself = static_cast<uint32_t>(thread.rows.size());
  thread.add(ProfileKind::frame, itself, code.at("loop"));  // its own parent
  write();
  const trace::Profile profile = read();
  EXPECT_TRUE(told("make no sense and are left out", "(7)"));
  EXPECT_EQ(times(profile, 0).at("main/solve/MPI_Send"), 300);
}

TEST_F(TwoSends, CutFilesKeepWhatIsWhole) {
  threads.emplace_back(1, at(100), at(200)).frames(addresses({"other"}));
  const std::string whole = profile_bytes(start, threads);
  for (const size_t left : {size_t{0}, size_t{3}, size_t{100}, trace::kProfilePage,
                            trace::kProfilePage + 50, whole.size() / 2, whole.size() - 1}) {
    write_profile(folder_of_process(), whole.substr(0, left));
    const auto profile = read_profile(GuardedPath(folder_of_process()), start);
    EXPECT_EQ(profile.has_value(), left >= sizeof(trace::ProfileFile)) << left;
    if (profile) EXPECT_TRUE(profile->cut) << left;
    if (profile && left > whole.size() / 2) EXPECT_EQ(profile->logs.size(), 1u) << left;
    read();
  }
}

TEST_F(TwoSends, OtherProcessesAndVersionsAreRefused) {
  write_profile(folder_of_process(), profile_bytes(start + 1, threads));
  EXPECT_FALSE(read_profile(GuardedPath(folder_of_process()), start).has_value());
  std::string other = profile_bytes(start, threads);
  other[4] = 99;
  write_profile(folder_of_process(), other);
  EXPECT_FALSE(read_profile(GuardedPath(folder_of_process()), start).has_value());
}

TEST_F(TwoSends, AnOddVersionIsTold) {
  threads.front().head.version = 7;
  write();
  read();
  EXPECT_TRUE(told("died while threads", "(1)"));
}

/// Any bytes: it ends, and what it says adds up or is refused.
TEST_F(TwoSends, SurvivesAnyBytes) {
  const std::string whole = profile_bytes(start, threads);
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 300; ++turn) {
    std::string bytes = whole;
    for (int i = 0; i < 1 + turn % 20; ++i) {
      const size_t where = trace::kProfilePage + random() % (bytes.size() - trace::kProfilePage);
      bytes[where] = static_cast<char>(random());
    }
    write_profile(folder_of_process(), bytes);
    read();
  }
}

/// An extent of definitions with a record of as many words.
std::string extent_of(uint64_t start, uint32_t log, uint8_t words) {
  std::vector<uint64_t> content{
      7, trace::raw_second_half(trace::RawKind::string_def, 0, words, words)};
  content.resize(content.size() + words, 5);
  trace::RawExtent extent = {};
  extent.magic = trace::kRawExtentMagic;
  extent.start_ticks = start;
  extent.log = log;
  extent.bytes = static_cast<uint32_t>(content.size() * sizeof content[0]);
  extent.content = trace::raw_sum(content.data(), content.size());
  extent.sum = trace::sum_of_extent(extent);
  std::string bytes(trace::raw_extent_bytes(extent.bytes), '\0');
  std::memcpy(bytes.data(), &extent, sizeof extent);
  std::memcpy(bytes.data() + sizeof extent, content.data(), extent.bytes);
  return bytes;
}

TEST_F(ProfileTest, DefinitionsOfDroppedRecordsAreRead) {
  const GuardedPath folder{std::filesystem::path(folder_)};
  const auto read = [&](const std::string& bytes) {
    std::ofstream(folder_ / "defines.3", std::ios::binary) << bytes;
    return read_definitions(folder, 3, 99).size();
  };
  const std::string good = extent_of(99, 3, 4);
  EXPECT_EQ(read(good), 6u);
  EXPECT_EQ(read(good + extent_of(99, 3, 7)), 15u);
  EXPECT_EQ(read(std::string(trace::kRawExtentAlign, '?') + good), 6u);  // behind damage
  EXPECT_EQ(read(extent_of(98, 3, 4) + extent_of(99, 2, 4)), 0u);        // others'
  std::string damaged = good;
  damaged[sizeof(trace::RawExtent) + 3] ^= 1;
  EXPECT_EQ(read(damaged), 0u);
  EXPECT_EQ(read(good.substr(0, sizeof(trace::RawExtent) + 8)), 0u);
  EXPECT_EQ(read(""), 0u);
  EXPECT_TRUE(read_definitions(folder, 4, 99).empty());
}

TEST_F(ProfileTest, WithoutAProfileThereIsNone) {
  process()->thread(0).enter(100, "MPI_Send", in_main({})).leave(200, "MPI_Send");
  EXPECT_FALSE(read_profile(GuardedPath(folder_of_process()), 0).has_value());
}

}  // namespace
}  // namespace culprit::assemble::test
