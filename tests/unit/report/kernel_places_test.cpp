// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A function that only takes turns with one that causes page faults is not charged with them.

#include "blame/judge/kernel_places.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/report/drawing.h"

namespace culprit::report {
namespace {

struct Row {
  const char* path;
  size_t rank;
  uint64_t samples, faults;
};

using Faults = std::map<std::string, uint64_t>;

Faults moved(const std::vector<Row>& rows) {
  Drawing d(2);
  blame::Findings& findings = d.findings();
  for (const Row& row : rows) {
    const CallPathId path = d.path(row.path);
    const LocationId location(row.rank);
    blame::FoundProfile profile{};
    profile.callpath = path, profile.location = location, profile.samples = row.samples;
    findings.profile.push_back(profile);
    const double time_s = static_cast<double>(row.faults) * 1e-6;
    if (row.faults > 0)
      findings.kernel_times.push_back({path, location, time_s, time_s, row.faults});
  }
  move_doubtful_page_faults(findings);
  Faults found;
  for (const blame::FoundKernelTime& row : findings.kernel_times) {
    found[findings.callpaths[row.callpath.index()].name] += row.page_faults;
    EXPECT_DOUBLE_EQ(row.fault_s, static_cast<double>(row.page_faults) * 1e-6);
  }
  return found;
}

TEST(KernelPlaces, WhatTakesTurnsIsNotCharged) {
  EXPECT_EQ(moved({{"main/touch", 0, 20, 60'000}, {"main/compute", 0, 60, 60'000}}),
            (Faults{{"main/touch", 60'000}, {"main", 60'000}}));
}

TEST(KernelPlaces, WhatCausesAsManyIs) {
  EXPECT_EQ(moved({{"main/touch", 0, 20, 60'000}, {"main/fill", 0, 20, 40'000}}),
            (Faults{{"main/touch", 60'000}, {"main/fill", 40'000}}));
}

TEST(KernelPlaces, ThreadsAreJudgedByThemselves) {
  EXPECT_EQ(moved({{"main/touch", 0, 20, 60'000}, {"main/compute", 1, 60, 60'000}}),
            (Faults{{"main/touch", 60'000}, {"main/compute", 60'000}}));
}

TEST(KernelPlaces, CallsOfTheSystemArePartsOfTheirFunction) {
  EXPECT_EQ(moved({{"main/touch", 0, 20, 50'000},
                   {"main/touch/(in munmap)", 0, 2, 10'000},
                   {"main/compute", 0, 60, 60'000}}),
            (Faults{{"main/touch", 50'000}, {"main/touch/(in munmap)", 10'000}, {"main", 60'000}}));
}

TEST(KernelPlaces, OneSampleIsNoMeasureForOthers) {
  EXPECT_EQ(moved({{"main/touch", 0, 40, 60'000}, {"main/once", 0, 1, 4'000}}),
            (Faults{{"main/touch", 60'000}, {"main/once", 4'000}}));
}

}  // namespace
}  // namespace culprit::report
