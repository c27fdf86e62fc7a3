// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The text form refuses what it does not understand, names the line, and says why.
#include "tests/support/text/text.h"

#include <gtest/gtest.h>

#include <string>

namespace culprit::trace {
namespace {

std::string refusal_of(const std::string& event) {
  const auto trace = TextTrace::parse(
      "unit 1s\nregions\n  c comp\n  S MPI_Send\n  R MPI_Recv\nlanes\n  0.0 |ccSSc\n  1.0 |cRRRc\n"
      "events\n  " +
      event + "\n");
  return trace ? "" : trace.error().sentence;
}

TEST(TextTest, WhatIsDrawnIsTaken) {
  EXPECT_EQ(refusal_of("send 0.0@2 -> 1.0@1"), "");
  EXPECT_EQ(refusal_of("isend 0.0@2 wait 4 -> irecv 1.0@1 wait 1 tag 7"), "");
  EXPECT_EQ(refusal_of("barrier 0.0@2 1.0@1"), "");
}

TEST(TextTest, RefusalsSayWhatIsWrong) {
  const struct {
    const char *event, *why;
  } cases[] = {
      {"sing 0.0@2", "unknown event sing"},
      {"send 0.0@2", "expected ->"},
      {"send 0.0@2 ->", "a call is missing"},
      {"send 0.0@3 -> 1.0@1", "no call begins at 3"},
      {"send 0.0 -> 1.0@1", "a call needs its time"},
      {"send 0.0@2 -> 1.0@1 tag x", "no number: x"},
      {"send 0.0@2 -> 1.0@1 comm 3", "no communicator 3"},
      {"send 0.0@2 -> 2.0@1", "no lane 2.0@1"},
      {"isend 0.0@2 wait 0.0@ -> 1.0@1", "a call needs its time"},
      {"isend 0.0@2 ready 9 -> 1.0@1", "no call begins at 9"},
      {"bcast 0.0@2 1.0@1", "this operation needs `root`"},
      {"bcast root 2 0.0@2 1.0@1", "`root` is not a member"},
      {"alltoallv 0.0@2 to 5 1.0@1", "no rank 5"},
      {"cancel 1.0", "cancel <call>"},
  };
  for (const auto& [event, why] : cases) {
    EXPECT_EQ(refusal_of(event), std::string("line 10 of the picture: ") + why) << event;
  }
}

}  // namespace
}  // namespace culprit::trace
