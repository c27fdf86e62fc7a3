// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The words of the line, and that nothing is written where nobody asked for it.
#include "base/progress/progress.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace culprit::progress {
namespace {

TEST(Progress, SaysWhatHowMuchAndHowLong) {
  EXPECT_EQ(line(Stage::events, 0, 10), "culprit: reading events 0 %");
  EXPECT_EQ(line(Stage::events, 0.25, 10), "culprit: reading events 25 %, about 30 s left");
  EXPECT_EQ(line(Stage::delays, 0.5, 600),
            "culprit: looking for the causes of waits 50 %, about 10 min left");
  EXPECT_EQ(line(Stage::names, 0.99, 10), "culprit: naming functions 99 %");
}

/// What is written to the file behind `end` so far.
std::string drained(int end) {
  char text[4096];
  const ssize_t size = read(end, text, sizeof text);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
}

TEST(Progress, WritesOnlyWhereItIsShownAndTakesItsLineAway) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  {
    Progress progress(Stage::events, 2);
    progress.step();
  }
  EXPECT_EQ(drained(ends[0]), "");
  show(ends[1], 20);
  {
    Progress progress(Stage::events, 4);
    Progress inner(Stage::names, 1);  // is not told of
    progress.step();
    EXPECT_EQ(drained(ends[0]), "");  // nobody wants to see what is over at once
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    inner.step();
    progress.step();
    EXPECT_EQ(drained(ends[0]), "\r\033[Kculprit: reading ev");  // 19 columns
  }
  EXPECT_EQ(drained(ends[0]), "\r\033[K");
  show(-1, 80);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace culprit::progress
