// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/selection.h"

#include <gtest/gtest.h>

namespace culprit::cli {
namespace {

TEST(Selection, NothingNeedsNothing) {
  EXPECT_TRUE(sentences_of({}).empty());
}

TEST(Selection, TheReaderIsToldInSentences) {
  GivenSettings settings;
  settings[Setting::window] = "1s..2s";
  settings[Setting::ranks] = "0-1";
  settings[Setting::phase] = "solve";
  settings[Setting::without] = "tasks,locks";
  settings[Setting::exclude] = "inner_*";
  const auto sentences = sentences_of(settings);
  ASSERT_EQ(sentences.size(), 6u);
  EXPECT_NE(sentences[0].find("window 1s..2s"), std::string::npos);
  EXPECT_NE(sentences[1].find("ranks 0-1"), std::string::npos);
  EXPECT_NE(sentences[2].find("phase solve"), std::string::npos);
  EXPECT_NE(sentences[3].find("locks"), std::string::npos);
  EXPECT_NE(sentences[4].find("tasks"), std::string::npos);
  EXPECT_NE(sentences[5].find("inner_*"), std::string::npos);
}

}  // namespace
}  // namespace culprit::cli
