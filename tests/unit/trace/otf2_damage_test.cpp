// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A damaged archive gives one sentence or a counted loss, never a crash, a hang or a message that
// OTF2 prints. The last test mutates archives at random (with a fixed seed) and reads each in a
// child process, because what is to be excluded would take the test program with it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "otf2_fixture.h"
#include "recording_sink.h"
#include "trace/otf2/anchor.h"
#include "trace/otf2/reader.h"
#include "trace/otf2/writer.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

std::string error_of(const fs::path& anchor) {
  Losses losses;
  auto source = open_otf2(anchor, losses);
  return source.ok() ? "" : source.error().sentence;
}

void expect_error(const fs::path& anchor, const std::string& part) {
  const std::string error = error_of(anchor);
  EXPECT_NE(error.find(part), std::string::npos) << "'" << error << "' lacks '" << part << "'";
  EXPECT_NE(error.find(anchor.string()), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

class Otf2Damage : public testing::Test {
 protected:
  Otf2Damage() : anchor_(write_rich_archive(folder_.path() / "trace")) {}
  fs::path part(const std::string& name) const { return folder_.path() / "trace" / name; }

  /// Reads a location; what is lost is in losses_.
  RecordingSink read(size_t location) {
    RecordingSink sink;
    auto source = open_otf2(anchor_, losses_);
    EXPECT_TRUE(source.ok()) << source.error().sentence;
    if (!source.ok()) return sink;
    const auto result = (*source)->read(LocationId(location), sink, losses_);
    error_ = result.ok() ? "" : result.error().sentence;
    return sink;
  }
  uint64_t lost(const std::string& name) const {
    auto it = losses_.all().find(name);
    return it == losses_.all().end() ? 0 : it->second.count;
  }

  TemporaryFolder folder_;
  fs::path anchor_;
  Losses losses_;
  std::string error_;
};

TEST_F(Otf2Damage, AnchorThatIsNone) {
  expect_error(part("nothing.otf2"), "no such file");
  expect_error(folder_.path(), "not a file");
  set_content(part("empty.otf2"), "");
  expect_error(part("empty.otf2"), "empty");
  set_content(part("text.otf2"), "this is not a trace\n");
  expect_error(part("text.otf2"), "not an OTF2 anchor");
  const std::string whole = content(anchor_);
  const size_t indifferent = 16;  // what OTF2 writes last, nobody needs
  for (size_t size = 1; size < whole.size() - indifferent; size += 5) {
    set_content(anchor_, whole.substr(0, size));
    EXPECT_NE(error_of(anchor_), "") << size;
  }
}

/// OTF2 itself would take minutes over these.
TEST_F(Otf2Damage, AnchorWithoutEndsOfStrings) {
  const std::string whole = content(anchor_);
  for (size_t end = whole.find('\0', 46); end != std::string::npos;
       end = whole.find('\0', end + 1)) {
    std::string damaged = whole;
    damaged[end] = 'x';
    set_content(anchor_, damaged);
    error_of(anchor_);
  }
}

TEST_F(Otf2Damage, WhatTheLibraryLacksIsSaid) {
  const std::string whole = content(anchor_);
  std::string other = whole;
  other[28] = 2;
  set_content(anchor_, other);
  expect_error(anchor_, "SIONlib");
  other = whole;
  other[29] = 2;
  set_content(anchor_, other);
  expect_error(anchor_, "compressed");
}

TEST_F(Otf2Damage, AnchorsAreFoundByName) {
  EXPECT_EQ(find_anchor(folder_.path() / "trace"), anchor_);
  EXPECT_EQ(find_anchor(folder_.path()), "");
  fs::rename(anchor_, part("eztrace_log.otf2"));
  EXPECT_EQ(find_anchor(folder_.path() / "trace"), part("eztrace_log.otf2"));
  set_content(part("another.otf2"), "");
  EXPECT_EQ(find_anchor(folder_.path() / "trace"), "");
}

TEST_F(Otf2Damage, GlobalDefinitions) {
  const std::string whole = content(part("traces.def"));
  // Without its very last byte, an end that says nothing, the file is as good as whole.
  for (size_t twentieths = 0; twentieths < 20; ++twentieths) {
    set_content(part("traces.def"), whole.substr(0, whole.size() * twentieths / 20));
    expect_error(anchor_, "definitions");
  }
  fs::remove(part("traces.def"));
  expect_error(anchor_, "definitions");
}

TEST_F(Otf2Damage, MissingEventsOfOneLocation) {
  fs::remove(part("traces/1.evt"));
  EXPECT_TRUE(read(2).lines.empty());
  EXPECT_NE(error_.find("location 1 in " + anchor_.string()), std::string::npos) << error_;
  EXPECT_FALSE(read(0).lines.empty());
  EXPECT_EQ(error_, "");
}

TEST_F(Otf2Damage, MissingLocalDefinitions) {
  fs::remove(part("traces/1.def"));
  EXPECT_FALSE(read(2).lines.empty());
  EXPECT_EQ(lost("locations_without_local_definitions"), 1u);
}

TEST_F(Otf2Damage, TruncatedEventsEndNested) {
  const std::string whole = content(part("traces/0.evt"));
  for (size_t size = 1; size < whole.size(); size += whole.size() / 25) {
    losses_ = {};
    set_content(part("traces/0.evt"), whole.substr(0, size));
    const RecordingSink sink = read(0);
    const auto count = [&](const std::string& kind) {
      return std::count_if(sink.lines.begin(), sink.lines.end(), [&](const std::string& line) {
        return line.find(kind) != std::string::npos;
      });
    };
    EXPECT_EQ(count(" enter "), count(" leave ")) << size;
    EXPECT_TRUE(lost("truncated_locations") || lost("missing_events") || !error_.empty()) << size;
  }
}

TEST_F(Otf2Damage, NestingIsRepaired) {
  const fs::path folder = folder_.path() / "misnested";
  auto writer = create_otf2(folder);
  ASSERT_TRUE(writer.ok());
  {
    auto sink = (*writer)->open(ProcessId(0), 0);
    const auto at = [](int64_t t) { return Time::from_nanos(t); };
    sink->leave(at(1), RegionId(3));  // never entered
    sink->enter(at(2), RegionId(0));
    sink->enter(at(3), RegionId(1));
    sink->enter(at(4), RegionId(2));
    sink->leave(at(5), RegionId(3));  // not open
    sink->leave(at(6), RegionId(1));  // 2 is open inside
    sink->enter(at(7), RegionId(9999));
    sink->leave(at(8), RegionId(9999));
    sink->mpi_send(at(9), MpiMessage{CommId(77), 0, 0, 0});
    sink->mpi_send(at(10), MpiMessage{CommId(0), 2, 0, 0});  // two ranks: 0 and 1
    sink->enter(at(11), RegionId(4));
  }
  ASSERT_TRUE((*writer)->finish(rich_definitions()).ok());
  anchor_ = folder / "traces.otf2";
  const std::vector<std::string> expected{"2 enter 0", "3 enter 1",  "4 enter 2",  "6 leave 2",
                                          "6 leave 1", "11 enter 4", "11 leave 4", "11 leave 0"};
  EXPECT_EQ(read(0).lines, expected);
  EXPECT_EQ(lost("leaves_without_enter"), 2u);
  EXPECT_EQ(lost("regions_never_left"), 1u);
  EXPECT_EQ(lost("regions_open_at_end"), 2u);
  EXPECT_EQ(lost("records_of_unknown_regions"), 2u);
  EXPECT_EQ(lost("records_of_unknown_communicators"), 2u);
}

struct CountingSink final : EventSink {
  void enter(Time, RegionId) override { ++events; }
  void leave(Time, RegionId) override { ++events; }
  uint64_t events = 0;
};

/// OTF2 takes a chunk that its file lacks for read. Where its memory held a chunk of the same place
/// before, the file seems to go on, and on.
TEST_F(Otf2Damage, ChunksOfAnotherFileEndSomewhere) {
  constexpr int64_t kVisits = 200'000;
  constexpr size_t kChunk = 256 << 10;
  const fs::path folder = folder_.path() / "long";
  auto writer = create_otf2(folder);
  ASSERT_TRUE(writer.ok());
  {
    auto sink = (*writer)->open(ProcessId(0), 0);
    for (int64_t i = 0; i < kVisits; ++i) {
      sink->enter(Time::from_nanos(2 * i), RegionId(0));
      sink->leave(Time::from_nanos(2 * i + 1), RegionId(0));
    }
  }
  ASSERT_TRUE((*writer)->finish(rich_definitions()).ok());
  const fs::path file = folder / "traces" / "0.evt";
  const std::string whole = content(file);
  ASSERT_GT(whole.size(), 6 * kChunk);
  for (const size_t chunks : {5, 4, 3, 2, 1}) {
    std::string cut = whole.substr(0, chunks * kChunk);
    cut.replace(cut.size() - 2, 2, "\x02\x01");  // as whole files end
    set_content(file, cut);
    Losses losses;
    CountingSink sink;
    auto source = open_otf2(folder / "traces.otf2", losses);
    ASSERT_TRUE(source.ok());
    (void)(*source)->read(LocationId(0), sink, losses);
    // No record takes less than two bytes; what is open at the end is closed.
    EXPECT_LE(sink.events, cut.size() / 2 + 2) << chunks;
    EXPECT_TRUE(archive_was_damaged(losses)) << chunks;
  }
}

/// Checks what later stages rely on; a violation ends the child with its own status.
class StrictSink final : public EventSink {
 public:
  explicit StrictSink(const Definitions& definitions) : definitions_(definitions) {}
  void enter(Time t, RegionId r) override {
    see(t);
    require(r.index() < definitions_.regions.size());
    open_.push_back(r);
  }
  void leave(Time t, RegionId r) override {
    see(t);
    require(!open_.empty() && open_.back() == r);
    open_.pop_back();
  }
  void mpi_send(Time t, const MpiMessage& m) override { message(t, m); }
  void mpi_recv(Time t, const MpiMessage& m) override { message(t, m); }
  void mpi_isend(Time t, const MpiMessage& m, RequestId) override { message(t, m); }
  void mpi_irecv(Time t, const MpiMessage& m, RequestId) override { message(t, m); }
  void mpi_collective(Time t, const MpiCollective& c) override {
    see(t);
    require(c.comm.index() < definitions_.comms.size() && c.op <= CollectiveOp::other);
  }
  void other(Time t, const char*) override { see(t); }
  void finish() const { require(open_.empty()); }

 private:
  static void require(bool condition) {
    if (!condition) _exit(9);
  }
  void see(Time t) {
    require(t >= last_);
    last_ = t;
  }
  void message(Time t, const MpiMessage& m) {
    see(t);
    require(m.comm.index() < definitions_.comms.size());
  }

  const Definitions& definitions_;
  Time last_ = Time::min();
  std::vector<RegionId> open_;
};

[[noreturn]] void read_all_and_exit(const fs::path& anchor, const fs::path& output) {
  const int fd = ::open(output.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  alarm(20);
  Losses losses;
  auto source = open_otf2(anchor, losses);
  if (!source.ok()) _exit(source.error().sentence.empty() ? 8 : 0);
  const Definitions& definitions = (*source)->definitions();
  for (const Process& process : definitions.processes) {
    if (process.locations.empty()) _exit(9);
  }
  for (size_t i = 0; i < definitions.locations.size(); ++i) {
    StrictSink sink(definitions);
    const auto result = (*source)->read(LocationId(i), sink, losses);
    if (!result.ok() && result.error().sentence.empty()) _exit(8);
    sink.finish();
  }
  _exit(0);
}

std::string mutated(std::string bytes, std::mt19937& random) {
  if (bytes.empty()) return bytes;
  const auto below = [&](size_t limit) { return random() % limit; };
  switch (below(3)) {
    case 0:
      bytes.resize(below(bytes.size()));
      break;
    case 1:
      bytes.erase(below(bytes.size()), 1 + below(16));
      break;
    default:
      for (size_t n = 1 + below(8); n > 0; --n) {
        bytes[below(bytes.size())] = static_cast<char>(random());
      }
  }
  return bytes;
}

TEST_F(Otf2Damage, RandomDamageNeverCrashesNorPrints) {
  constexpr int kMutations = 300;
  std::mt19937 random(20240229);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "trace")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const fs::path output = folder_.path() / "output";
  for (int i = 0; i < kMutations; ++i) {
    const fs::path& file = files[random() % files.size()];
    const std::string whole = content(file);
    set_content(file, mutated(whole, random));
    const pid_t child = fork();
    if (child == 0) read_all_and_exit(anchor_, output);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "mutation " << i << " of " << file << ": status " << status;
    EXPECT_EQ(content(output), "") << "mutation " << i << " of " << file;
    set_content(file, whole);
  }
}

}  // namespace
}  // namespace culprit::trace
