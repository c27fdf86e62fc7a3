// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings that contradict themselves must not pass for good ones.
#include "cli/commands/verdict.h"

#include <gtest/gtest.h>

#include "blame/identities.h"
#include "cli/message.h"

namespace culprit::cli {
namespace {

/// One thread that ran for two seconds and waited for nobody.
blame::Findings sound() {
  blame::Findings f;
  f.run.wall_s = f.run.allocation_s = 2;
  f.locations = {{"0.0", 0, 0, "node", 2, 0, ""}};
  f.callpaths = {{"main", "main", "", 0}};
  f.profile = {{CallPathId(0), LocationId(0), 1, 2}};
  f.segments = {{LocationId(0), CallPathId(0), 0, 2}};
  f.identities.critical_path_s = f.identities.wall_s = 2;
  return f;
}

std::pair<int, std::string> judged(blame::Findings findings) {
  findings.identities.violations = blame::check_identities(findings);
  testing::internal::CaptureStderr();
  const int status = judge(findings, "experiment");
  return {status, testing::internal::GetCapturedStderr()};
}

TEST(Verdict, IsSilentOnSoundFindings) {
  EXPECT_EQ(judged(sound()), std::pair(0, std::string()));
}

TEST(Verdict, TellsAContradictionWithItsPlace) {
  blame::Findings broken = sound();
  broken.profile[0].time_s = 1.5;
  const auto [status, said] = judged(broken);
  EXPECT_EQ(status, kContradiction);
  EXPECT_NE(said.find("culprit: error: "), std::string::npos) << said;
  EXPECT_NE(said.find("on location 0.0 at main"), std::string::npos) << said;
}

TEST(Verdict, AnyLossOfDataIsDamage) {
  blame::Findings damaged = sound();
  damaged.losses.restore("harmless", {1, Severity::warning, "a warning"});
  EXPECT_EQ(judged(damaged).first, 0);
  damaged.losses.add(LossKind::unreadable_processes);
  const auto [status, said] = judged(damaged);
  EXPECT_EQ(status, kDamaged);
  EXPECT_NE(said.find("missing"), std::string::npos) << said;
}

TEST(Verdict, WhatAnAbortedProgramLeftUndoneIsNoDamage) {
  blame::Findings aborted = sound();
  aborted.losses.add(LossKind::incomplete_collectives);
  EXPECT_EQ(judged(aborted).first, kDamaged);
  aborted.losses.add(LossKind::early_ends);
  EXPECT_EQ(judged(aborted).first, 0);
}

TEST(Verdict, AContradictionWeighsMoreThanDamage) {
  blame::Findings broken = sound();
  broken.losses.restore("damaged_archive", {1, Severity::data_loss, "cut"});
  broken.identities.wall_s = 3;
  EXPECT_EQ(judged(broken).first, kContradiction);
}

}  // namespace
}  // namespace culprit::cli
