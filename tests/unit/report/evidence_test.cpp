// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How many samples stand behind a name, and when none are needed.

#include "blame/judge/evidence.h"

#include <gtest/gtest.h>

namespace culprit::report {
namespace {

blame::Findings findings_with(uint64_t samples, double sampled_s) {
  blame::Findings findings;
  findings.callpaths = {{"main", "main", "", 0}, {"main/solve", "solve", "", 0}};
  findings.profile = {{CallPathId(1), LocationId(0), 1, 2.0, samples, sampled_s},
                      {CallPathId(1), LocationId(1), 1, 1.0, 1, 0.5}};
  return findings;
}

TEST(EvidenceTest, SamplesOfAllLocationsCount) {
  EXPECT_EQ(blame::Evidence(findings_with(20, 2)).samples(CallPathId(1)), 21u);
  EXPECT_EQ(blame::Evidence(findings_with(20, 2)).sentence(CallPathId(1)), "Based on 21 samples.");
}

TEST(EvidenceTest, FewSamplesMakeANameUncertain) {
  EXPECT_EQ(blame::Evidence(findings_with(2, 2)).sentence(CallPathId(1)),
            "Uncertain: based on only 3 samples.");
  EXPECT_EQ(blame::Evidence(findings_with(0, 2)).sentence(CallPathId(1)),
            "Uncertain: based on only 1 sample.");
}

TEST(EvidenceTest, WhatEventsTellNeedsNoSamples) {
  EXPECT_FALSE(blame::Evidence(findings_with(0, 0.5)).samples(CallPathId(1)).has_value());
  EXPECT_EQ(blame::Evidence(findings_with(0, 0.5)).sentence(CallPathId(1)), "");
  EXPECT_EQ(blame::Evidence(findings_with(0, 0.5)).sentence(CallPathId(0)), "");
  EXPECT_EQ(blame::Evidence(findings_with(0, 0.5)).sentence(CallPathId::none()), "");
}

}  // namespace
}  // namespace culprit::report
