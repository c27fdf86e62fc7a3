// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/help/misuse.h"

#include <gtest/gtest.h>

namespace culprit::cli {
namespace {

const std::vector<std::string> kKnown = {"run", "record", "report", "stuck", "--format", "--from"};

TEST(Misuse, FindsTheWordThatWasMeant) {
  EXPECT_EQ(meant_by("repotr", kKnown), "report");  // neighbors that changed places
  EXPECT_EQ(meant_by("reprt", kKnown), "report");
  EXPECT_EQ(meant_by("stuk", kKnown), "stuck");
  EXPECT_EQ(meant_by("rec", kKnown), "record");  // the beginning of a word
  EXPECT_EQ(meant_by("--fromat", kKnown), "--format");
  EXPECT_EQ(meant_by("rnu", kKnown), "run");
}

TEST(Misuse, SuggestsNothingFarAway) {
  EXPECT_EQ(meant_by("zebra", kKnown), std::nullopt);
  EXPECT_EQ(meant_by("", kKnown), std::nullopt);
  EXPECT_EQ(meant_by(std::string(100'000, 'r'), kKnown), std::nullopt);
}

TEST(Misuse, TakesHelpAsACommand) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(without_help_command({"help"}), Words{"--help"});
  EXPECT_EQ(without_help_command({"help", "report"}), (Words{"report", "--help"}));
  EXPECT_EQ(without_help_command({"report", "help"}), (Words{"report", "help"}));
  EXPECT_EQ(without_help_command({}), Words{});
}

}  // namespace
}  // namespace culprit::cli
