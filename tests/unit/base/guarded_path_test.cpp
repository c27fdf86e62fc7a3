// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whatever lies in a folder from somebody else: nothing outside is read or written through it, and
// nobody waits.
#include "base/files/guarded_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/files/json_text.h"

namespace culprit {
namespace {

namespace fs = std::filesystem;

class GuardedPathTest : public testing::Test {
 protected:
  GuardedPathTest()
      : outside_(fs::path(testing::TempDir()) / ("guard." + std::to_string(getpid()))) {
    fs::create_directories(inside_ / "folder");
    fs::create_directories(outside_ / "other");
    std::ofstream(outside_ / "precious") << "precious";
    std::ofstream(outside_ / "other" / "file") << "precious";
    std::ofstream(inside_ / "file") << "content";
    fs::create_symlink(outside_ / "precious", inside_ / "link");
    fs::create_symlink(outside_ / "other", inside_ / "way_out");
    fs::create_symlink("file", inside_ / "link_inside");
    EXPECT_EQ(mkfifo((inside_ / "pipe").c_str(), 0600), 0);
  }
  ~GuardedPathTest() override { fs::remove_all(outside_); }

  static std::string content(const fs::path& file) {
    return read_regular_file(file, Owner::anybody).value_or("nothing");
  }
  void expect_nothing_outside_changed() const {
    EXPECT_EQ(content(outside_ / "precious"), "precious");
    EXPECT_EQ(content(outside_ / "other" / "file"), "precious");
    EXPECT_EQ(GuardedPath(outside_ / "other").list(), std::vector<std::string>{"file"});
  }

  const fs::path outside_;
  const fs::path inside_ = outside_ / "inside";
  const GuardedPath guarded_{(fs::create_directories(inside_), inside_)};
};

TEST_F(GuardedPathTest, ReadsFilesThatLieInside) {
  EXPECT_EQ((guarded_ / "file").read(), "content");
  EXPECT_EQ((guarded_ / "file").read(7), "content");
  EXPECT_EQ((guarded_ / "file").read(6), std::nullopt);
  std::ofstream(inside_ / "folder" / "deep") << "deep";
  EXPECT_EQ((guarded_ / "folder" / "deep").read(), "deep");
  EXPECT_EQ((GuardedPath("/proc/self") / "maps").read().value_or("").empty(), false);
}

TEST_F(GuardedPathTest, ReadsNothingElseAndDoesNotWait) {
  for (const char* name :
       {"link", "link_inside", "pipe", "folder", "none", "..", ".", "", "folder/../file"}) {
    EXPECT_EQ((guarded_ / name).read(), std::nullopt) << name;
    EXPECT_FALSE((guarded_ / name).is_file()) << name;
  }
  EXPECT_EQ((guarded_ / "way_out" / "file").read(), std::nullopt);
  EXPECT_EQ((guarded_ / ".." / "precious").read(), std::nullopt);
  EXPECT_TRUE((guarded_ / "way_out").list().empty());
  EXPECT_FALSE((guarded_ / "way_out").is_folder());
  EXPECT_EQ(GuardedPath::of_file(inside_ / "link").read(), std::nullopt);
  EXPECT_EQ(GuardedPath::of_file(inside_ / "file").read(), "content");
  EXPECT_FALSE(GuardedPath(outside_ / "missing").is_folder());
}

TEST_F(GuardedPathTest, UsersReachTheFolderByLinks) {
  fs::create_directory_symlink(inside_, outside_ / "shortcut");
  EXPECT_EQ((GuardedPath(outside_ / "shortcut") / "file").read(), "content");
}

TEST_F(GuardedPathTest, ReplacesWhatIsThereAndNotWhatItLeadsTo) {
  for (const char* name : {"file", "link", "link_inside", "pipe", "new"}) {
    ASSERT_TRUE((guarded_ / name).replace("replaced")) << name;
    EXPECT_EQ((guarded_ / name).read(), "replaced") << name;
  }
  EXPECT_FALSE((guarded_ / "folder").replace("x"));
  EXPECT_FALSE((guarded_ / "way_out" / "new").replace("x"));
  EXPECT_FALSE((guarded_ / ".." / "new").replace("x"));
  expect_nothing_outside_changed();
  EXPECT_EQ(guarded_.list(), (std::vector<std::string>{"file", "folder", "link", "link_inside",
                                                       "new", "pipe", "way_out"}))
      << "no drafts stay";
}

TEST_F(GuardedPathTest, CreatesOnlyWhatIsNotThere) {
  for (const char* name : {"file", "link", "link_inside", "pipe", "folder", "way_out"}) {
    EXPECT_FALSE((guarded_ / name).create("x")) << name;
    EXPECT_FALSE((guarded_ / name).make_folder()) << name;
  }
  EXPECT_TRUE((guarded_ / "new").create("new"));
  EXPECT_EQ((guarded_ / "new").read(), "new");
  EXPECT_TRUE((guarded_ / "folder" / "new").make_folder());
  EXPECT_FALSE((guarded_ / "way_out" / "new").make_folder());
  expect_nothing_outside_changed();
}

TEST_F(GuardedPathTest, OverwritesOwnFilesAlone) {
  fs::create_hard_link(outside_ / "precious", inside_ / "second_name");
  for (const char* name : {"link", "link_inside", "pipe", "folder", "second_name"}) {
    (guarded_ / name).overwrite("XX");
  }
  (guarded_ / "way_out" / "file").overwrite("XX");
  EXPECT_EQ(content(inside_ / "file"), "content");
  (guarded_ / "file").overwrite("XX");
  (guarded_ / "new").overwrite("XX");
  EXPECT_EQ(content(inside_ / "file"), "XXntent");
  EXPECT_EQ(content(inside_ / "new"), "XX");
  expect_nothing_outside_changed();
}

TEST_F(GuardedPathTest, FoldersTakeThePlaceOfNothing) {
  ASSERT_TRUE((guarded_ / "draft").make_folder());
  for (const char* name : {"way_out", "link", "file", "..", "../x"}) {
    EXPECT_FALSE((guarded_ / "draft").rename_folder(name)) << name;
  }
  EXPECT_TRUE((guarded_ / "draft").rename_folder("folder"));  // empty
  EXPECT_FALSE((guarded_ / "draft").exists());
  expect_nothing_outside_changed();
}

TEST_F(GuardedPathTest, DraftsGoUnlessPublished) {
  const auto before = guarded_.list();
  {
    auto draft = (guarded_ / "file").draft();
    ASSERT_TRUE(draft);
    EXPECT_TRUE(draft->write("draft"));
    EXPECT_EQ(guarded_.list().size(), before.size() + 1);
  }
  EXPECT_EQ(guarded_.list(), before);
  EXPECT_EQ((guarded_ / "file").read(), "content");
}

TEST_F(GuardedPathTest, KnowsWhatIsNoHole) {
  std::ofstream(inside_ / "sparse", std::ios::binary) << std::string(10'000, 'x');
  constexpr uintmax_t kLarge = uintmax_t{20} << 30;
  std::error_code code;
  fs::resize_file(inside_ / "sparse", kLarge, code);
  if (code) GTEST_SKIP() << "the file system has no sparse files";
  const auto file = (guarded_ / "sparse").open();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), kLarge);
  ASSERT_FALSE(file->data().empty());
  EXPECT_EQ(file->data().front().begin, 0u);
  EXPECT_GE(file->data().back().end, 10'000u);
  EXPECT_LE(file->data().back().end, kLarge);
  EXPECT_EQ((guarded_ / "sparse").read(), std::nullopt);
  fs::resize_file(inside_ / "sparse", 0);
  EXPECT_TRUE((guarded_ / "sparse").open()->data().empty());
}

TEST(JsonText, IsShallow) {
  EXPECT_TRUE(is_shallow_json(""));
  EXPECT_TRUE(is_shallow_json(R"({"a": [1, {"b": "]]]\"["}]})"));
  EXPECT_TRUE(is_shallow_json('"' + std::string(1000, '[') + '"'));
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[],{},";
  EXPECT_TRUE(is_shallow_json(wide));
  EXPECT_FALSE(is_shallow_json(std::string(1000, '[')));
  EXPECT_FALSE(is_shallow_json(R"(["\\", )" + std::string(1000, '{'))) << "the quote ends the text";
}

}  // namespace
}  // namespace culprit
