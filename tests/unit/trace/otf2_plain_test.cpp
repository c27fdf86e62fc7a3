// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Our own reader of event files gives what OTF2's gives, on whatever OTF2 can write and on damaged
// files; where OTF2 sees damage, so does ours. Archives are made with a fixed seed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "any_events.h"
#include "foreign_archive.h"
#include "otf2_fixture.h"
#include "recording_sink.h"
#include "trace/otf2/reader.h"
#include "trace/otf2/writer.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void set_content(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

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
