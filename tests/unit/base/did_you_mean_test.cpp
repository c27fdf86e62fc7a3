// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text/did_you_mean.h"

#include <gtest/gtest.h>

#include <vector>

namespace culprit {
namespace {

const std::vector<std::string> kKnown = {"run", "record", "report", "stuck", "--format", "--from"};

TEST(DidYouMean, FindsTheWordThatWasMeant) {
  EXPECT_EQ(meant_by("repotr", kKnown), "report");  // neighbors that changed places
  EXPECT_EQ(meant_by("reprt", kKnown), "report");
  EXPECT_EQ(meant_by("stuk", kKnown), "stuck");
  EXPECT_EQ(meant_by("rec", kKnown), "record");  // the beginning of a word
  EXPECT_EQ(meant_by("--fromat", kKnown), "--format");
  EXPECT_EQ(meant_by("rnu", kKnown), "run");
}

TEST(DidYouMean, SuggestsNothingFarAway) {
  EXPECT_EQ(meant_by("zebra", kKnown), std::nullopt);
  EXPECT_EQ(meant_by("", kKnown), std::nullopt);
  const std::vector<std::string> letters{"-o", "-j"};
  EXPECT_EQ(meant_by("-n", letters), std::nullopt) << "it is as near to the one as to the other";
  EXPECT_EQ(meant_by(std::string(100'000, 'r'), kKnown), std::nullopt);
}

TEST(DidYouMean, AsksOrIsSilent) {
  EXPECT_EQ(did_you_mean("--fromat", kKnown), ": did you mean '--format'?");
  EXPECT_EQ(did_you_mean("zebra", kKnown), "");
}

}  // namespace
}  // namespace culprit
