// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names on disk: asked for once, the same afterwards, and never a wrong one, whatever lies there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "assemble/names/kept_names.h"
#include "assemble/names/name_cache.h"
#include "assemble/names/object_file.h"
#include "assemble/names/symbols.h"

namespace culprit::assemble::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSelf = "/proc/self/exe";
constexpr uint64_t kPlaces = 3000;
constexpr unsigned kThreads = 4;

Symbol symbol_of(uint64_t offset) {
  Symbol symbol;
  symbol.frames = {{"outer", "outer.c", 7}, {"inner" + std::to_string(offset % 5), "in.h", 9}};
  symbol.module = "exe";
  symbol.file = "in.h";
  symbol.line = static_cast<uint32_t>(offset);
  symbol.address = offset + 0x400000;
  symbol.into_function = offset % 64;
  symbol.program = offset % 2 == 0;
  symbol.named = offset % 3 != 0;
  symbol.from_debug_info = true;
  return symbol;
}

bool same(const Symbol& a, const Symbol& b) {
  const auto equal = [](const SourceFrame& x, const SourceFrame& y) {
    return x.function == y.function && x.file == y.file && x.line == y.line;
  };
  return std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(), equal) &&
         a.module == b.module && a.file == b.file && a.line == b.line && a.address == b.address &&
         a.into_function == b.into_function && a.program == b.program && a.named == b.named &&
         a.from_debug_info == b.from_debug_info;
}

class NameCacheTest : public testing::Test {
 protected:
  NameCacheTest() : folder_(fs::path(testing::TempDir()) / ("names." + std::to_string(getpid()))) {
    fs::remove_all(folder_);
  }
  ~NameCacheTest() override { fs::remove_all(folder_); }

  fs::path file() const { return file_in(folder_); }
  static fs::path file_in(const fs::path& folder) {
    return folder / (build_id_of(kSelf) + ".culprit-names");
  }

  /// Looks up `places` places and checks each. Returns how many the source was asked for.
  uint64_t look_up(uint64_t places, bool from_debug_info = true) {
    Symbols symbols;
    for (uint64_t i = 0; i < places; ++i) symbols.add({kSelf, i});
    std::atomic<uint64_t> asked{0};
    symbols.resolve(
        kThreads,
        [&](const std::string&, std::span<const OpenPlace> open) {
          asked += open.size();
          for (const OpenPlace& place : open) {
            *place.symbol = symbol_of(place.offset);
            place.symbol->from_debug_info = from_debug_info;
          }
        },
        NameCache(folder_), KeptNames());
    for (uint64_t i = 0; i < places && from_debug_info; ++i) {
      EXPECT_TRUE(same(*symbols.find({kSelf, i}), symbol_of(i))) << i;
    }
    return asked;
  }

  fs::path folder_;
};

TEST_F(NameCacheTest, PlacesAreLookedUpOnce) {
  EXPECT_EQ(look_up(kPlaces), kPlaces);
  EXPECT_EQ(look_up(kPlaces), 0u);
  EXPECT_EQ(look_up(kPlaces + 10), 10u);
  EXPECT_EQ(look_up(kPlaces + 10), 0u);
}

TEST_F(NameCacheTest, ManyPlacesOfOneFileAreSharedAmongThreads) {
  Symbols symbols;
  for (uint64_t i = 0; i < kPlaces; ++i) symbols.add({kSelf, i});
  std::mutex mutex;
  std::set<uint64_t> seen;
  unsigned pieces = 0;
  symbols.resolve(
      kThreads,
      [&](const std::string&, std::span<const OpenPlace> open) {
        const std::scoped_lock lock(mutex);
        ++pieces;
        for (const OpenPlace& place : open) EXPECT_TRUE(seen.insert(place.offset).second);
      },
      NameCache(), KeptNames());
  EXPECT_EQ(seen.size(), kPlaces);
  EXPECT_EQ(pieces, kThreads);
}

TEST_F(NameCacheTest, DamageIsFoundAndRepaired) {
  look_up(kPlaces);
  std::ifstream in(file(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GT(good.size(), 1000u);
  std::vector<std::string> damaged = {"", "nonsense", good.substr(0, good.size() / 2), good + "x"};
  for (const size_t at : {size_t{3}, size_t{40}, good.size() / 2, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 0x10;
  }
  for (const std::string& content : damaged) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << content;
    EXPECT_EQ(look_up(kPlaces), kPlaces);
    EXPECT_EQ(look_up(kPlaces), 0u);
  }
}

TEST_F(NameCacheTest, KeepsNothingWithoutDebugInformation) {
  EXPECT_EQ(look_up(10, false), 10u);
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(look_up(10), 10u);
}

TEST_F(NameCacheTest, DoesWithoutAFolder) {
  std::ofstream(folder_.string()) << "a file where the folder should be";
  EXPECT_EQ(look_up(10), 10u);
  EXPECT_EQ(look_up(10), 10u);
}

TEST_F(NameCacheTest, IsWholeForWhoeverReadsWhileOthersWrite) {
  look_up(kPlaces);
  std::vector<std::thread> users;
  for (unsigned user = 0; user < kThreads; ++user) {
    users.emplace_back([this, user] {
      for (uint64_t i = 0; i < 20; ++i) {
        KnownNames known = NameCache(folder_).open(build_id_of(kSelf));
        for (uint64_t place = 0; place < kPlaces; ++place) {
          const Symbol* symbol = known.find(place);
          Symbol expected = symbol_of(place);
          expected.module.clear();  // where the file lay is not kept
          ASSERT_TRUE(symbol != nullptr && same(*symbol, expected)) << place;
        }
        const uint64_t mine = kPlaces + user * 1000 + i;
        known.add(mine, symbol_of(mine));
        known.save();
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "unfinished files are left";
}

TEST_F(NameCacheTest, DropsWhatWasNotUsedForLongest) {
  fs::create_directories(folder_);
  const auto now = fs::file_time_type::clock::now();
  for (int age = 0; age < 5; ++age) {
    const fs::path file = folder_ / ("a9e" + std::to_string(age) + ".culprit-names");
    std::ofstream(file) << "culprit names 0, of some version\n" << std::string(967, 'x');
    fs::last_write_time(file, now - std::chrono::hours(age));
  }
  NameCache(folder_, 3500).trim();
  for (int age = 0; age < 5; ++age) {
    EXPECT_EQ(fs::exists(folder_ / ("a9e" + std::to_string(age) + ".culprit-names")), age < 3)
        << age;
  }
}

TEST_F(NameCacheTest, LeavesAloneWhatItHasNotMade) {
  fs::create_directories(folder_ / "0ff.culprit-names");
  std::ofstream(folder_ / "ffff") << std::string(5000, 'x');
  std::ofstream(folder_ / "ffff.culprit-names") << std::string(5000, 'x');
  std::ofstream(folder_ / "thesis.culprit-names") << "culprit names " << std::string(5000, 'x');
  std::ofstream(folder_ / "thesis") << "culprit names " << std::string(5000, 'x');
  fs::create_symlink("thesis", folder_ / "aa.culprit-names");
  NameCache(folder_, 100).trim();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 6);
  std::ofstream(folder_ / "bb.culprit-names") << "culprit names " << std::string(5000, 'x');
  NameCache(folder_, 100).trim();
  EXPECT_FALSE(fs::exists(folder_ / "bb.culprit-names"));
}

TEST_F(NameCacheTest, UsersChooseItsPlace) {
  const auto lands_at = [this](const fs::path& place) {
    KnownNames known = NameCache::of_user().open(build_id_of(kSelf));
    known.add(1, symbol_of(1));
    known.save();
    const bool there = fs::exists(file_in(place));
    fs::remove_all(folder_);
    return there;
  };
  setenv("HOME", folder_.c_str(), 1);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("CULPRIT_NAME_CACHE");
  EXPECT_TRUE(lands_at(folder_ / ".cache" / "culprit" / "names"));
  setenv("XDG_CACHE_HOME", (folder_ / "xdg").c_str(), 1);
  EXPECT_TRUE(lands_at(folder_ / "xdg" / "culprit" / "names"));
  setenv("CULPRIT_NAME_CACHE", (folder_ / "mine").c_str(), 1);
  EXPECT_TRUE(lands_at(folder_ / "mine"));
  setenv("CULPRIT_NAME_CACHE", "off", 1);
  EXPECT_FALSE(lands_at(folder_ / "xdg" / "culprit" / "names"));
}

}  // namespace
}  // namespace culprit::assemble::test
