// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings that were sound and are broken on purpose: each identity must notice, and say where.
#include "blame/identities.h"

#include <gtest/gtest.h>

#include <cmath>

#include "blame/analyze.h"
#include "tests/support/text/text.h"

namespace culprit::blame {
namespace {

constexpr const char* kPicture = R"(
unit 1s
regions
  m main
  r main/!$omp parallel
  B main/!$omp parallel/!$omp implicit barrier
  S main/MPI_Send
  R main/MPI_Recv
lanes
  0.0 |mmrrBBBBBBS
  0.1 |..rrrrrrrr
  1.0 |mmmRRRRRRRR
events
  fork 0.0@2-10: 0.0 0.1
  send 0.0@10 -> 1.0@3
)";

class BrokenFindings : public testing::Test {
 protected:
  void SetUp() override {
    auto picture = trace::TextTrace::parse(kPicture);
    ASSERT_TRUE(picture.ok());
    auto analysed = analyze(**picture, {1}, {});
    ASSERT_TRUE(analysed.ok());
    found = std::move(analysed).value();
    ASSERT_EQ(check_identities(found).size(), 0u);
  }
  /// The only violation; it must name what is wrong and where.
  void expect_violation(const std::string& what, const std::string& where) {
    const std::vector<std::string> violations = check_identities(found);
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_NE(violations[0].find(what), std::string::npos) << violations[0];
    EXPECT_NE(violations[0].find(where), std::string::npos) << violations[0];
  }
  Findings found;
};

TEST_F(BrokenFindings, DelayCosts) {
  found.identities.delay_costs_s += 0.5;
  expect_violation("delay costs", "on location 0.1 at main/!$omp parallel");
}

TEST_F(BrokenFindings, ACostThatIsNoNumber) {
  found.delays.back().long_s = found.identities.delay_costs_s = std::nan("");
  const FoundDelay& row = found.delays.back();
  expect_violation("delay costs", " on location " + found.locations[row.location.index()].name +
                                      " at " + found.callpaths[row.callpath.index()].name);
}

TEST_F(BrokenFindings, CriticalPath) {
  ASSERT_EQ(found.segments.size(), 3u);
  found.segments[1].begin_s += 0.25;
  found.identities.critical_path_s -= 0.25;
  expect_violation("critical path",
                   "2.000000000 s after the start of the run, before the segment on location 0.1");
}

TEST_F(BrokenFindings, ImbalanceCosts) {
  found.identities.imbalance_unattributed_s = -1;
  expect_violation("imbalance costs", " at main/!$omp parallel");
}

TEST_F(BrokenFindings, IdleBlame) {
  found.identities.idle_nobody_s = 0;
  expect_violation("idle threads", "on location 0.1 at main/!$omp parallel");
}

TEST_F(BrokenFindings, LockBlame) {
  const LocationId creator_at = found.idle_blame[0].location;
  found.lock_blame.push_back(
      {"omp.lock", creator_at, found.idle_blame[0].callpath, {}, {}, 1, 0.5});
  expect_violation("blame for locks", "on location 0.1 at main/!$omp parallel");
}

TEST_F(BrokenFindings, Lives) {
  for (FoundProfile& row : found.profile) {
    if (found.locations[row.location.index()].name == "1.0") row.time_s -= 1e-6;
  }
  expect_violation("of 1 locations", "on location 1.0 at main/MPI_Recv");
}

TEST_F(BrokenFindings, Parts) {
  for (FoundWait& row : found.waits) {
    if (row.pattern == "mpi.late_sender") row.indirect_s = row.time_s + 1;
  }
  expect_violation("more indirect", "mpi.late_sender on location 1.0 at main/MPI_Recv");
}

TEST_F(BrokenFindings, Efficiencies) {
  for (FoundEfficiency& row : found.efficiencies) {
    if (row.name == Factor::mpi_transfer) row.value *= 0.9;
  }
  expect_violation("mpi.communication", "not the product");
}

}  // namespace
}  // namespace culprit::blame
