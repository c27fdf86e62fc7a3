// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The template of a detector, on a picture whose answer is plain.
#include <gtest/gtest.h>

#include "replay/detect/detection.h"
#include "replay/model/run.h"
#include "tests/support/text/text.h"

namespace culprit::replay {

void detect_files(Run& run, unsigned threads, Detection& out);

namespace {

// Rank 1 asks from 2 to 8, and what rank 0 writes is there at 7; rank 2 wrote before that.
TEST(DetectorTemplate, FindsWhoWroteTheFile) {
  auto trace = trace::TextTrace::parse(R"(unit 1s
regions
  c comp
  W write file
  A await file
lanes
  0.0 |cccWWWWccc
  1.0 |ccAAAAAAcc
  2.0 |WWcccccccc
)");
  ASSERT_TRUE(trace) << trace.error().sentence;
  Alone alone;
  replay::Run run = std::move(read_run(*trace.value(), alone, 1)).value();
  Detection found(run);
  detect_files(run, 1, found);

  ASSERT_EQ(found.at(LocationId(1)).waits.size(), 1u);
  const Wait& wait = found.at(LocationId(1)).waits[0];
  EXPECT_EQ(wait.begin, Time::from_nanos(2'000'000'000));
  EXPECT_EQ(wait.end, Time::from_nanos(7'000'000'000));
  EXPECT_EQ(wait.cause, LocationId(0));
  EXPECT_EQ(found.at(LocationId(0)).syncs.size(), 1u);
  EXPECT_TRUE(found.at(LocationId(0)).waits.empty());
  EXPECT_TRUE(found.at(LocationId(2)).waits.empty());
}

}  // namespace
}  // namespace culprit::replay
