// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A log that threads of the program's own had one after the other.

#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

using ThreadsTest = AssembleTest;

TEST_F(ThreadsTest, OfOneLogAreInTheFunctionsThatTheyRun) {
  const auto entry = [&](std::string_view function) { return code.at(function, 0) - 1; };
  {
    auto p = process();
    p->rank(0, 1).ended(200);
    p->thread(0).begin_user(10, trace::RawUserRegion::phase, "solve", in_main({"run"}));
    RawThread& log = p->thread(1);
    log.put(RawKind::thread_begun, 20, 0, 0, {entry("first")});
    log.sample(30, {"first", "inner"});
    log.put(RawKind::sampling_period, 35, 0, 0, {1000});
    log.put(RawKind::thread_ended, 50);
    log.put(RawKind::thread_begun, 80, 0, 0, {entry("second")});
    log.sample(90, {"second"});
    log.put(RawKind::thread_ended, 110);
  }
  play();
  EXPECT_EQ(listing.text("0.1"), R"(20 first
25   inner
40   -
50 -
80 second
110 -
)");
}

}  // namespace
}  // namespace culprit::assemble::test
