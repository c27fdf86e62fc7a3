// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names that parts of one run keep, one after the other.
#include "assemble/names/kept_names.h"

#include <gtest/gtest.h>

namespace culprit::assemble {
namespace {

Symbol named(const char* function) {
  Symbol symbol;
  symbol.frames = {{function, "", 0}};
  return symbol;
}

TEST(KeptNames, TakeWhatOtherPartsOfTheRunMet) {
  KeptNames names({{"/a", {"id", {{1, named("solve")}}}}});
  const KeptNames more({{"/a", {"id", {{1, named("other")}, {2, named("fill")}}}},
                        {"/b", {"", {{3, named("sum")}}}}});
  EXPECT_TRUE(names.add(more));
  EXPECT_FALSE(names.add(more));
  ASSERT_NE(names.find("/b"), nullptr);
  const KeptModule* const module = names.find("/a");
  ASSERT_NE(module, nullptr);
  ASSERT_EQ(module->symbols.size(), 2u);
  EXPECT_EQ(module->symbols.at(1).frames.front().function, "solve");
  EXPECT_EQ(module->symbols.at(2).frames.front().function, "fill");
}

TEST(KeptNames, BelongToTheBuildThatRan) {
  KeptNames names({{"/a", {"id", {{1, named("solve")}}}}});
  EXPECT_FALSE(names.add(KeptNames({{"/a", {"new", {{2, named("fill")}}}}})));
  EXPECT_EQ(names.find("/a")->symbols.size(), 1u);
}

}  // namespace
}  // namespace culprit::assemble
