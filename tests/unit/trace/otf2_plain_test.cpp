// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Our own reader of event files gives what OTF2's gives, on whatever OTF2 can write and on damaged
// files; where OTF2 sees damage, so does ours. Archives are made with a fixed seed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "any_events.h"
#include "foreign_archive.h"
#include "otf2_fixture.h"
#include "recording_sink.h"
#include "trace/otf2/plain/local_definitions.h"
#include "trace/otf2/reader.h"
#include "trace/otf2/writer.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

/// All that a reader says about an archive.
struct Story {
  std::vector<std::string> lines;  ///< of all locations
  std::vector<std::string> errors;
  std::vector<std::string> losses;
  bool damaged = false;
};

Story story_of(const fs::path& anchor, EventReader reader) {
  Story story;
  Losses losses;
  const auto source = open_otf2(anchor, losses, reader);
  if (!source.ok()) {
    story.errors.push_back(source.error().sentence);
    story.damaged = true;
    return story;
  }
  for (size_t i = 0; i < (*source)->definitions().locations.size(); ++i) {
    RecordingSink sink;
    const auto read = (*source)->read(LocationId(i), sink, losses);
    story.lines.insert(story.lines.end(), sink.lines.begin(), sink.lines.end());
    if (!read.ok()) story.errors.push_back(read.error().sentence);
  }
  for (const auto& [name, loss] : losses.all()) {
    story.losses.push_back(name + " " + std::to_string(loss.count));
  }
  story.damaged = archive_was_damaged(losses) || !story.errors.empty();
  return story;
}

void expect_same(const fs::path& anchor) {
  const Story ours = story_of(anchor, EventReader::own);
  const Story theirs = story_of(anchor, EventReader::otf2);
  const auto [our, their] =
      std::mismatch(ours.lines.begin(), ours.lines.end(), theirs.lines.begin(), theirs.lines.end());
  EXPECT_TRUE(our == ours.lines.end() && their == theirs.lines.end())
      << "event " << our - ours.lines.begin() << " of " << ours.lines.size() << ", "
      << theirs.lines.size() << ": " << (our == ours.lines.end() ? "none" : *our) << ", not "
      << (their == theirs.lines.end() ? "none" : *their);
  EXPECT_EQ(ours.losses, theirs.losses);
  EXPECT_EQ(ours.errors, theirs.errors);
}

class Otf2Plain : public testing::Test {
 protected:
  fs::path archive() const { return folder_.path() / "trace"; }
  fs::path part(const char* name) const { return archive() / "traces" / name; }

  TemporaryFolder folder_;
  Random random_{20261127};
};

TEST_F(Otf2Plain, OwnArchives) {
  expect_same(write_rich_archive(archive()));
}

TEST_F(Otf2Plain, EveryKindOfRecord) {
  const fs::path anchor = write_any_events(archive(), 5000, References::global, random_);
  expect_same(anchor);
  EXPECT_GT(story_of(anchor, EventReader::own).lines.size(), 5000u);
}

TEST_F(Otf2Plain, LocalDefinitions) {
  for (int i = 0; i < 10; ++i) {
    expect_same(write_any_events(archive(), 1000, References::local, random_));
    fs::remove_all(archive());
  }
}

/// They are as plain as others: Score-P's measurements leave strings, regions and groups.
TEST_F(Otf2Plain, LocalDefinitionsAmongOthers) {
  for (int i = 0; i < 20; ++i) {
    const fs::path anchor = write_any_events(archive(), 200, References::among_others, random_);
    const auto file = open_regular_file(part("0.def"), Owner::self);
    ASSERT_TRUE(file);
    EXPECT_TRUE(plain::read_local_definitions(*file, 4 << 20));
    expect_same(anchor);
    fs::remove_all(archive());
  }
}

TEST_F(Otf2Plain, SeveralChunks) {
  const fs::path anchor = write_any_events(archive(), 30'000, References::local, random_);
  EXPECT_GT(fs::file_size(part("0.evt")), size_t{3} * 256 << 10);
  expect_same(anchor);
}

TEST_F(Otf2Plain, TheOtherByteOrder) {
  const fs::path anchor = write_any_events(archive(), 20'000, References::local, random_);
  const Story before = story_of(anchor, EventReader::own);
  set_content(part("0.evt"), swapped_events(content(part("0.evt"))));
  set_content(part("0.def"), swapped_definitions(content(part("0.def"))));
  expect_same(anchor);
  EXPECT_EQ(story_of(anchor, EventReader::own).lines, before.lines);
}

/// A record ends where it says, and kinds of later versions are passed over.
TEST_F(Otf2Plain, RecordsOfLaterVersions) {
  const fs::path anchor = write_rich_archive(archive());
  std::string file = content(part("0.evt")).substr(0, 18);
  file += std::string("\x05\x10\0\0\0\0\0\0\0", 9);
  file += std::string("\x0c\x01\x02", 3);  // enter 2
  file += std::string(
      "\xf0\x03"
      "abc",
      5);                                                              // a kind that nobody knows
  file += std::string("\x17\x0a\x05\x00\x00\x01\x04\x01\x05xyz", 12);  // longer than today
  file += std::string("\x0d\x01\x02\x02\x01", 5);
  set_content(part("0.evt"), file);
  expect_same(anchor);
}

std::string damaged(std::string bytes, Random& random) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  constexpr size_t kPage = 4096;
  switch (below(5)) {
    case 0:  // cut
      bytes.resize(below(bytes.size()));
      break;
    case 1:  // a page that never reached the disk
      if (const size_t page = below(bytes.size()) / kPage * kPage; true) {
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page),
                    std::min(kPage, bytes.size() - page), '\0');
      }
      break;
    case 2:
      bytes.erase(below(bytes.size()), 1 + below(16));
      break;
    case 3:  // bytes that mean something
      for (size_t n = 1 + below(4); n > 0; --n) {
        constexpr unsigned char kMarks[] = {0, 2, 5, 6, 12, 19, 31, 83, 0xff};
        bytes[below(bytes.size())] = static_cast<char>(kMarks[below(std::size(kMarks))]);
      }
      break;
    default:
      for (size_t n = 1 + below(8); n > 0; --n) {
        bytes[below(bytes.size())] ^= static_cast<char>(1u << below(8));
      }
  }
  return bytes;
}

/// What a child process says about a damaged archive with its status.
enum Verdict { kSame = 10, kBothDamaged, kOnlyOurs, kOnlyTheirs, kDifferent };

/// Reads with our reader, says so with a byte, and compares with OTF2's, which damage may kill.
[[noreturn]] void compare_and_exit(const fs::path& anchor, int ours_done, size_t most) {
  alarm(60);
  const Story ours = story_of(anchor, EventReader::own);
  if (ours.lines.size() > most) _exit(kDifferent);
  if (write(ours_done, "", 1) != 1) _exit(1);
  const Story theirs = story_of(anchor, EventReader::otf2);
  if (ours.damaged != theirs.damaged) _exit(ours.damaged ? kOnlyOurs : kOnlyTheirs);
  if (ours.damaged) _exit(kBothDamaged);
  _exit(ours.lines == theirs.lines && ours.losses == theirs.losses ? kSame : kDifferent);
}

/// Where damage shows, it shows in both; where it does not, the events are the same. Our reader
/// never crashes, hangs, or makes more events of a file than it has bytes.
TEST_F(Otf2Plain, DamagedFiles) {
  constexpr int kArchives = 4, kMutations = 100;
  std::map<int, int> verdicts;
  for (int i = 0; i < kArchives * kMutations; ++i) {
    const fs::path anchor = archive() / "traces.otf2";
    if (i % kMutations == 0) {
      fs::remove_all(archive());
      constexpr References kKinds[] = {References::local, References::global,
                                       References::among_others, References::local};
      const References references = kKinds[i / kMutations];
      write_any_events(archive(), i / kMutations == 3 ? 20'000 : 1000, references, random_);
    }
    const fs::path file = part(random_() % 4 == 0 ? "0.def" : "0.evt");
    // Each location begins with the same region, and leaves what is open at its end.
    const size_t most = 2 * content(part("0.evt")).size() + 2000;
    const std::string whole = content(file);
    set_content(file, damaged(whole, random_));
    int ours_done[2];
    ASSERT_EQ(pipe(ours_done), 0);
    const pid_t child = fork();
    if (child == 0) compare_and_exit(anchor, ours_done[1], most);
    close(ours_done[1]);
    int status = -1;
    waitpid(child, &status, 0);
    char byte = 0;
    const bool ended = read(ours_done[0], &byte, 1) == 1;
    close(ours_done[0]);
    EXPECT_TRUE(ended) << "mutation " << i << ": status " << status;
    const int verdict = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    ++verdicts[verdict];
    EXPECT_NE(verdict, kOnlyTheirs) << "mutation " << i;
    EXPECT_NE(verdict, kDifferent) << "mutation " << i;
    set_content(file, whole);
  }
  EXPECT_GE(verdicts[kSame] + verdicts[kBothDamaged], kArchives * kMutations * 9 / 10);
}

/// Whoever writes meanwhile, or removes.
TEST_F(Otf2Plain, FilesThatShrinkWhileTheyAreRead) {
  struct Shrinking final : EventSink {
    explicit Shrinking(fs::path which) : file(std::move(which)) {}
    void enter(Time, RegionId) override {
      if (events++ == 0) fs::resize_file(file, 300'000);
    }
    void leave(Time, RegionId) override { ++events; }
    fs::path file;
    uint64_t events = 0;
  };
  const fs::path anchor = write_any_events(archive(), 30'000, References::global, random_);
  Losses losses;
  const auto source = open_otf2(anchor, losses);
  ASSERT_TRUE(source.ok());
  Shrinking sink(part("0.evt"));
  EXPECT_TRUE((*source)->read(LocationId(0), sink, losses).ok());
  EXPECT_TRUE(losses.contains(LossKind::truncated_locations));
  EXPECT_GT(sink.events, 0u);
}

}  // namespace
}  // namespace culprit::trace
