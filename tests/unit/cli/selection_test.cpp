// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/selection.h"

#include <gtest/gtest.h>

namespace culprit::cli {
namespace {

/// "NAME=value ..." or the sentence.
std::string told(const Selection& selection) {
  const auto variables = variables_of(selection);
  if (!variables) return variables.error().sentence;
  std::string text;
  for (const auto& [name, value] : variables.value()) text += name + "=" + value + " ";
  return text;
}

Selection window(const std::string& text) {
  return {text, "", "", ""};
}
Selection ranks(const std::string& text) {
  return {"", text, "", ""};
}
Selection phase(const std::string& text) {
  return {"", "", text, ""};
}
Selection without(const std::string& text) {
  return {"", "", "", text};
}

TEST(Selection, NothingNeedsNothing) {
  EXPECT_EQ(told({}), "");
  EXPECT_TRUE(sentences_of({}).empty());
}

TEST(Selection, WindowsBecomeSeconds) {
  EXPECT_EQ(told(window("10s..1m")), "CULPRIT_WINDOW=10.000000..60.000000 ");
  EXPECT_EQ(told(window("1.5..2min")), "CULPRIT_WINDOW=1.500000..120.000000 ");
  EXPECT_EQ(told(window("..200ms")), "CULPRIT_WINDOW=0.000000..0.200000 ");
  EXPECT_EQ(told(window("1h..")), "CULPRIT_WINDOW=3600.000000.. ");
  EXPECT_EQ(told(window("0.000000..0.200000")), "CULPRIT_WINDOW=0.000000..0.200000 ")
      << "as it stands in the environment of a measured program";
  for (const char* wrong : {"10s", "..", "0..", "5s..5s", "9s..1s", "-1s..2s", "a..b", "1s..2s..3s",
                            "1d..2d", "nan..", "inf.."}) {
    EXPECT_NE(told(window(wrong)).find("is not a time window"), std::string::npos) << wrong;
  }
}

TEST(Selection, RanksArePassedOnChecked) {
  EXPECT_EQ(told(ranks("0-3,8")), "CULPRIT_RANKS=0-3,8 ");
  for (const char* wrong : {"a", "3-1", "1,,2", "-1", "1-", "0 1"}) {
    EXPECT_NE(told(ranks(wrong)).find("is not a list of ranks"), std::string::npos) << wrong;
  }
}

TEST(Selection, PhasesMayCarryARange) {
  EXPECT_EQ(told(phase("solve")), "CULPRIT_PHASE=solve ");
  EXPECT_EQ(told(phase("step:10-20")), "CULPRIT_PHASE=step:10-20 ");
  EXPECT_EQ(told(phase("a:b:7")), "CULPRIT_PHASE=a:b:7 ");
  for (const char* wrong : {"step:20-10", "step:", ":1", "step:x"}) {
    EXPECT_NE(told(phase(wrong)).find("is not a phase"), std::string::npos) << wrong;
  }
}

TEST(Selection, WhatCanBeLeftOutIsKnown) {
  EXPECT_EQ(told(without("locks,samples")), "CULPRIT_WITHOUT=locks,samples ");
  const std::string sentence = told(without("locks,nonsense"));
  EXPECT_NE(sentence.find("'nonsense'"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("tasks"), std::string::npos) << sentence;
}

TEST(Selection, TheReaderIsToldInSentences) {
  const auto sentences = sentences_of({"1s..2s", "0-1", "solve", "locks,tasks"});
  ASSERT_EQ(sentences.size(), 5u);
  EXPECT_NE(sentences[0].find("window 1s..2s"), std::string::npos);
  EXPECT_NE(sentences[1].find("ranks 0-1"), std::string::npos);
  EXPECT_NE(sentences[2].find("phase solve"), std::string::npos);
  EXPECT_NE(sentences[3].find("locks"), std::string::npos);
  EXPECT_NE(sentences[4].find("tasks"), std::string::npos);
}

}  // namespace
}  // namespace culprit::cli
