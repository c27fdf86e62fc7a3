// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs that are analysed whole, and again from a few windows of them: the same cause comes first,
// and the costs of the whole run lie in the interval in 95 of 100.
#include "traced_run.h"

#include <gtest/gtest.h>

#include <map>

#include "blame/analyze.h"
#include "blame/bursts/join.h"
#include "blame/judge/causes.h"

namespace culprit::blame {
namespace {

constexpr size_t kBlocks = 1280;  ///< about 130 s
constexpr size_t kKnown = 80;     ///< from the start: traced as a whole
constexpr size_t kSlot = 40;      ///< blocks in which there is one window
constexpr size_t kWindow = 4;
constexpr size_t kDraws = 40;
/// Even if the interval held in exactly 95 of 100, fewer would be chance once in seventy times.
constexpr size_t kHeld = 35;

Findings analyzed(const TracedRun& run, size_t first, size_t end) {
  AnalyzeOptions options;
  options.threads = 1;
  Result<Findings> found = analyze(*run.stretch(first, end), options, {});
  EXPECT_TRUE(found.ok());
  return found ? std::move(*found) : Findings{};
}

/// What a profile has: times by call path.
Findings profile_of(Findings whole) {
  Findings profile;
  profile.run = whole.run;
  profile.locations = whole.locations;
  profile.callpaths = whole.callpaths;
  profile.profile = whole.profile;
  profile.tiles = whole.tiles;
  return profile;
}

class Windows {
 public:
  explicit Windows(const TracedRun& run) : run_(run) {}

  /// One at a random place of each slot.
  std::vector<TracedWindow> draw(Random& random) {
    std::vector<TracedWindow> drawn;
    for (size_t slot = kKnown; slot + kSlot <= run_.blocks(); slot += kSlot) {
      const auto room = static_cast<double>(kSlot - kWindow + 1);
      const size_t first = slot + static_cast<size_t>(random.uniform() * room);
      drawn.push_back({static_cast<uint32_t>(drawn.size() + 1), run_.begin_s(first),
                       run_.begin_s(first), run_.begin_s(first + kWindow), at(first)});
    }
    return drawn;
  }

 private:
  const Findings& at(size_t first) {
    const auto [known, fresh] = known_.try_emplace(first);
    if (fresh) known->second = analyzed(run_, first, first + kWindow);
    return known->second;
  }

  const TracedRun& run_;
  std::map<size_t, Findings> known_;
};

const FoundEstimate* estimate_of(const Findings& f, EstimatedFigure figure, CallPathId at) {
  for (const FoundEstimate& row : f.estimates) {
    if (row.figure == figure && row.callpath == at && row.pattern.empty()) return &row;
  }
  return nullptr;
}

std::string name_of(const Findings& f, const Cause& cause) {
  return f.callpaths[cause.example.index()].region;
}

struct Held {
  size_t first = 0, cost = 0, share = 0, waiting = 0, second = 0;
};

bool holds(const FoundEstimate* row, double value_s) {
  return row != nullptr && row->low_s <= value_s && value_s <= row->high_s;
}

Held held(const TracedCourse& course) {
  Random random(20261127);
  const TracedRun run(course, kBlocks, random);
  const Findings whole = analyzed(run, 0, kBlocks);
  const std::vector<Cause> truth = causes(whole);
  const double all_s = whole.identities.waiting_s;
  Windows windows(run);
  const Findings known = analyzed(run, 0, kKnown);
  Held count;
  for (size_t draw = 0; draw < kDraws; ++draw) {
    BurstRun parts{profile_of(whole), known, run.begin_s(kKnown), windows.draw(random)};
    const Findings joined = join_bursts(std::move(parts), 1);
    EXPECT_TRUE(joined.identities.violations.empty()) << joined.identities.violations.front();
    std::map<std::string, const FoundEstimate*> found;
    const std::vector<Cause> list = causes(joined);
    for (const Cause& cause : list) {
      found[name_of(joined, cause)] = estimate_of(joined, EstimatedFigure::cause, cause.costliest);
    }
    count.first += name_of(joined, list.front()) == name_of(whole, truth.front());
    const FoundEstimate* first = found[name_of(whole, truth[0])];
    count.cost += holds(first, truth[0].cost_s);
    const FoundEstimate* second = found[name_of(whole, truth[1])];
    const bool worth_a_row = truth[1].cost_s >= 0.01 * all_s;
    count.second += !worth_a_row || holds(second, truth[1].cost_s);
    const double share = truth[0].cost_s / all_s;
    count.share += first != nullptr && first->share_low <= share && share <= first->share_high;
    count.waiting += holds(estimate_of(joined, EstimatedFigure::waiting, {}), all_s);
  }
  return count;
}

void expect_held(const TracedCourse& course) {
  SCOPED_TRACE(course.name);
  const Held count = held(course);
  EXPECT_EQ(count.first, kDraws);
  EXPECT_GE(count.cost, kHeld);
  EXPECT_GE(count.share, kHeld);
  EXPECT_GE(count.second, kHeld);
  EXPECT_GE(count.waiting, kHeld);
}

TEST(TracedRun, SteadyIsFoundFromItsWindows) {
  expect_held({.name = "steady"});
}

TEST(TracedRun, WithAPhaseAsLongAsASlotIsFoundFromItsWindows) {
  expect_held({.name = "phase", .period_s = 4});
}

TEST(TracedRun, ThatGetsWorseIsFoundFromItsWindows) {
  expect_held({.name = "growing", .growth = 2});
}

TEST(TracedRun, WithStallsIsFoundFromItsWindows) {
  expect_held({.name = "stalls", .stall_share = 0.02});
}

}  // namespace
}  // namespace culprit::blame
