// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is recorded when only a part is wanted. Kept in any case are messages (mpi_send); of the
// others samples stand for all.
#include "collector/process/selection.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "child.h"
#include "collector/user/names.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::now;
using collector::rank_is_known;
using collector::recording;
using collector::StringId;
using collector::switch_recording;
using collector::thread_log;
using collector::ThreadLog;
using trace::RawKind;
using trace::RawUserRegion;

constexpr uint64_t kPatienceNs = 20'000'000'000;

void put_both() {
  thread_log()->put(RawKind::mpi_send, now(), 0, 0, 1, 2);
  thread_log()->put(RawKind::sample, now());
}

struct Kept {
  size_t messages, samples, offs, ons;
  bool operator==(const Kept&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Kept& kept) {
  return stream << kept.messages << " messages, " << kept.samples << " samples, off " << kept.offs
                << ", on " << kept.ons;
}

Kept kept(const RawRun& run) {
  return {run.count(RawKind::mpi_send), run.count(RawKind::sample),
          run.count(RawKind::recording_off), run.count(RawKind::recording_on)};
}

bool waits_for(bool on) {
  const uint64_t since = now();
  while (recording() != on) {
    if (now() - since > kPatienceNs) return false;
    thread_log()->put(RawKind::mpi_leave, now());
  }
  return true;
}

TEST(Selection, TheProgramSwitches) {
  Experiment experiment;
  ASSERT_EQ(experiment.run([] {
    if (!activate()) return 1;
    put_both();
    switch_recording(false);
    switch_recording(false);
    put_both();
    if (recording()) return 2;
    switch_recording(true);
    put_both();
    return recording() ? 0 : 3;
  }),
            0);
  EXPECT_EQ(kept(experiment.read_one()), (Kept{3, 2, 1, 1}));
}

TEST(Selection, OffFromTheBeginningStandsInTheProcessRecord) {
  Experiment experiment;
  ASSERT_EQ(experiment.run([] {
    switch_recording(false);
    if (!activate()) return 1;
    put_both();
    switch_recording(true);
    put_both();
    return 0;
  }),
            0);
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.starts_off, 1u);
  EXPECT_GT(run.process.path_cost_ps, 0u) << "calibrated although recording is off";
  EXPECT_EQ(kept(run), (Kept{2, 1, 0, 1}));
}

TEST(Selection, AWindowOpensEvenIfNothingIsPut) {
  Experiment experiment;
  ASSERT_EQ(experiment.run(
                [] {
                  if (!activate()) return 1;
                  const uint64_t since = now();
                  while (!recording()) {
                    if (now() - since > kPatienceNs) return 2;
                  }
                  put_both();
                  return 0;
                },
                {{"CULPRIT_WINDOW", "0.05.."}}),
            0);
  const RawRun run = experiment.read_one();
  EXPECT_EQ(kept(run).samples, 1u);
  EXPECT_EQ(run.process.starts_off + kept(run).ons, 2u);
}

TEST(Selection, AWindowClosesWithItsExactTime) {
  Experiment experiment;
  ASSERT_EQ(experiment.run(
                [] {
                  if (!activate() || !waits_for(true) || !waits_for(false)) return 1;
                  put_both();
                  return 0;
                },
                {{"CULPRIT_WINDOW", "..0.2"}}),
            0);
  const RawRun run = experiment.read_one();
  // On a busy machine the window may have closed before the recording began.
  EXPECT_EQ(kept(run), (Kept{1, 0, 1 - run.process.starts_off, 0}));
  for (const RawRecord* off : run.threads.at(0).of(RawKind::recording_off)) {
    EXPECT_LE(off->words.at(0), off->header.time);
    EXPECT_GT(off->words.at(0), run.process.start_ticks);
  }
}

TEST(Selection, RanksAreListed) {
  for (const auto& [rank, wanted] :
       {std::pair{0, true}, {1, true}, {2, false}, {8, true}, {9, false}}) {
    Experiment experiment;
    const int known = rank;
    ASSERT_EQ(experiment.run(
                  [known] {
                    if (!activate()) return 1;
                    put_both();
                    rank_is_known(known);
                    put_both();
                    return 0;
                  },
                  {{"CULPRIT_RANKS", "0-1,8"}}),
              0);
    const RawRun run = experiment.read_one();
    EXPECT_EQ(kept(run), (wanted ? Kept{2, 2, 0, 0} : Kept{2, 1, 1, 0})) << rank;
    for (const RawRecord* off : run.threads.at(0).of(RawKind::recording_off)) {
      EXPECT_EQ(off->words.at(0), 0u) << "off from the process's start";
    }
  }
}

void turn(RawUserRegion kind, std::string_view name, int64_t number) {
  collector::selection::begins(kind, name.data(), name.size(), number, now());
  put_both();
  collector::selection::has_ended(kind, name.data(), name.size(), now());
}

TEST(Selection, OnlyTheseIterations) {
  Experiment experiment;
  ASSERT_EQ(experiment.run(
                [] {
                  if (!activate()) return 1;
                  for (int64_t i = 0; i < 5; ++i) turn(RawUserRegion::iteration, "step", i);
                  turn(RawUserRegion::iteration, "other", 2);
                  turn(RawUserRegion::region, "step", 2);
                  return 0;
                },
                {{"CULPRIT_PHASE", "step:2-3"}}),
            0);
  EXPECT_EQ(kept(experiment.read_one()), (Kept{7, 2, 2, 2}));
}

TEST(Selection, OnlyTheSecondVisitOfAPhaseWithAColon) {
  Experiment experiment;
  ASSERT_EQ(experiment.run(
                [] {
                  if (!activate()) return 1;
                  for (int i = 0; i < 4; ++i) turn(RawUserRegion::phase, "a:b", 0);
                  return 0;
                },
                {{"CULPRIT_PHASE", "a:b:2"}}),
            0);
  EXPECT_EQ(kept(experiment.read_one()), (Kept{4, 1, 1, 1}));
}

TEST(Selection, ThreeReasonsForOnePause) {
  Experiment experiment;
  ASSERT_EQ(experiment.run(
                [] {
                  if (!activate()) return 1;
                  switch_recording(false);
                  rank_is_known(5);
                  turn(RawUserRegion::phase, "solve", 0);
                  switch_recording(true);
                  turn(RawUserRegion::phase, "solve", 0);
                  return 0;
                },
                {{"CULPRIT_PHASE", "solve"}, {"CULPRIT_RANKS", "4"}}),
            0);
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.starts_off, 1u);
  EXPECT_EQ(kept(run), (Kept{2, 0, 0, 0}));
}

TEST(UserNames, LeaveRoomForThoseOfMpi) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    std::set<StringId> known;
    for (int i = 0; i < 5000; ++i) {
      const std::string step = "step " + std::to_string(i);
      const auto* name = collector::user::name_of(step.c_str(), step.size());
      if (name == nullptr) return 4;
      known.insert(log->name(name->text));
    }
    // Those for which there is no room have one name in common.
    if (known.contains(StringId::none) || known.size() < 100 || known.size() == 5000) return 2;
    return log->name("MPI_Barrier") != StringId::none ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace culprit::tests
