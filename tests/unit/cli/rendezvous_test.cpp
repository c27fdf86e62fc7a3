// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Many ranks at once must end in one folder, exactly one must finish, and nothing may be left of
// the agreement. Ranks are processes here, as they are behind a launcher.

#include "cli/launch/rendezvous.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>

#include "temporary_folder.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kRanks = 16;

class Rendezvous : public InTemporaryFolder {
 protected:
  static ExperimentInfo info(const Job& job) {
    ExperimentInfo info;
    info.program = "app";
    info.job = job.token;
    return info;
  }

  /// Runs `body` as each of the ranks at the same time; returns their exit statuses.
  static std::multiset<int> as_ranks(const std::string& token,
                                     const std::function<int(const Job&)>& body) {
    std::vector<pid_t> children;
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      const pid_t child = fork();
      if (child == 0) _exit(body({token, rank, kRanks}));
      children.push_back(child);
    }
    std::multiset<int> statuses;
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      statuses.insert(WEXITSTATUS(status));
    }
    return statuses;
  }

  static std::vector<fs::path> here() {
    std::vector<fs::path> names;
    for (const auto& entry : fs::directory_iterator(".")) names.push_back(entry.path().filename());
    return names;
  }

  enum { kFailed = 1, kNotLast = 2, kLast = 3 };

  static int whole_life(const Job& job, const fs::path& wanted) {
    const auto place = meet(job, wanted, info(job));
    if (!place) return kFailed;
    std::ofstream(place.value().experiment / ("data." + std::to_string(job.rank))) << "x";
    if (!is_last(job, place.value(), static_cast<int>(job.rank))) return kNotLast;
    const bool complete = worst_status(job, place.value()) == kRanks - 1;
    part(place.value());
    return complete ? kLast : kFailed;
  }
};

/// The name under which ranks without -o publish their folder: made by a run, read by a test.
fs::path pointer_of(const Job& job, const ExperimentInfo& info) {
  const auto place = meet(job, {}, info);
  if (!place) return {};
  fs::remove_all(place.value().experiment);
  fs::remove(place.value().pointer);
  return place.value().pointer;
}

TEST_F(Rendezvous, FollowsNoPointerThatLeadsElsewhere) {
  const Job job = {"job p", 0, 1};
  const fs::path pointer = pointer_of(job, info(job));
  const fs::path elsewhere = fs::absolute("elsewhere");
  for (const std::string& planted : {elsewhere.string(), std::string("culprit.x/../elsewhere"),
                                     std::string("elsewhere"), std::string("..")}) {
    fs::create_directories(elsewhere / "log");
    fs::create_directories("culprit.x");
    std::ofstream(pointer) << planted;
    const auto place = meet(job, {}, info(job));
    ASSERT_TRUE(place.ok()) << planted;
    EXPECT_TRUE(fs::is_empty(elsewhere / "log")) << planted;
    EXPECT_EQ(place.value().experiment.parent_path(), pointer.parent_path());
    fs::remove(pointer);
  }
  fs::create_directory_symlink(elsewhere, "culprit.link");
  std::ofstream(pointer) << "culprit.link";
  ASSERT_TRUE(meet(job, {}, info(job)).ok());
  EXPECT_TRUE(fs::is_empty(elsewhere / "log"));
}

TEST_F(Rendezvous, SaysSoWhenThePointerIsNotAFileOfItsOwn) {
  const Job job = {"job l", 0, 1};
  const fs::path pointer = pointer_of(job, info(job));
  std::ofstream("target") << "culprit.x";
  fs::create_symlink(fs::absolute("target"), pointer);
  const auto place = meet(job, {}, info(job));
  ASSERT_FALSE(place.ok());
  EXPECT_NE(place.error().sentence.find("is not a file of yours"), std::string::npos);
}

TEST_F(Rendezvous, AllMeetInOneFolderAndOneFinishes) {
  const auto statuses = as_ranks("job a", [](const Job& job) { return whole_life(job, {}); });
  EXPECT_EQ(statuses.count(kLast), 1u);
  EXPECT_EQ(statuses.count(kNotLast), kRanks - 1);
  ASSERT_EQ(here().size(), 1u);
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(fs::exists(here().front() / ("data." + std::to_string(rank))));
  }
}

TEST_F(Rendezvous, AllMeetInTheFolderThatTheyWereTold) {
  const auto statuses = as_ranks("job a", [](const Job& job) { return whole_life(job, "mine"); });
  EXPECT_EQ(statuses.count(kLast), 1u);
  EXPECT_EQ(here(), std::vector<fs::path>{"mine"});
}

TEST_F(Rendezvous, AFolderOfAnotherRunIsRefusedByAll) {
  as_ranks("job a", [](const Job& job) { return whole_life(job, "mine"); });
  const auto statuses = as_ranks("job b", [](const Job& job) { return whole_life(job, "mine"); });
  EXPECT_EQ(statuses.count(kFailed), kRanks);
}

TEST_F(Rendezvous, TheSameJobTwiceIsRefusedToo) {
  as_ranks("job a", [](const Job& job) { return whole_life(job, "mine"); });
  const auto statuses = as_ranks("job a", [](const Job& job) { return whole_life(job, "mine"); });
  EXPECT_EQ(statuses.count(kFailed), kRanks);
}

TEST_F(Rendezvous, ANameLeftBehindByAKilledJobIsReplaced) {
  const auto met_and_killed = [](const Job& job) {
    return meet(job, {}, info(job)) ? kNotLast : kFailed;
  };
  ASSERT_EQ(as_ranks("job a", met_and_killed).count(kNotLast), kRanks);
  const auto statuses = as_ranks("job a", [](const Job& job) { return whole_life(job, {}); });
  EXPECT_EQ(statuses.count(kLast), 1u);
  EXPECT_EQ(statuses.count(kFailed), 0u);
}

TEST_F(Rendezvous, JobsSideBySideDoNotMix) {
  const Job a{"job a", 0, 2}, b{"job b", 0, 2};
  const auto first = meet(a, {}, info(a)), second = meet(b, {}, info(b));
  ASSERT_TRUE(first && second);
  EXPECT_NE(first.value().experiment, second.value().experiment);
}

TEST_F(Rendezvous, SaysWhenItCannotWrite) {
  const Job job{"job", 0, 1};
  const auto result = meet(job, "missing/mine", info(job));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().sentence.find("cannot create"), std::string::npos);
}

}  // namespace
}  // namespace culprit::cli
