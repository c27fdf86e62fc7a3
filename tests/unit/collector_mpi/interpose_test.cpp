// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls through trampolines: the first goes by way of the resolver, the later ones do not, and no
// argument is lost on either way.

#include <gtest/gtest.h>

#include <string>

#include "interpose_group.h"

namespace {

double call_mixed() {
  return interposed_mixed(1, 0.5, 2, 0.25f, "abc", 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}

TEST(Interpose, EveryArgumentArrives) {
  const double sum = 1 + 0.5 + 2 + 0.25 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14;
  const int before = resolutions();
  EXPECT_EQ(call_mixed(), sum);
  EXPECT_EQ(resolutions(), before + 1);
  EXPECT_EQ(call_mixed(), sum);
  EXPECT_EQ(resolutions(), before + 1);
}

TEST(Interpose, VariadicFunctions) {
  EXPECT_EQ(interposed_variadic(3, 1.0, 2.0, 4.0), 7.0);
  EXPECT_EQ(interposed_variadic(10, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0), 10.0);
}

TEST(Interpose, StructuresInMemory) {
  const Large doubled = interposed_structure({{1, 2, 3, 4, 5, 6}}, 2);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(doubled.values[i], 2.0 * (i + 1));
}

TEST(Interpose, TargetsMayCallTheirOwnName) {
  EXPECT_EQ(interposed_recursive(5), 5);
}

TEST(Interpose, NamesAreListedOnceAndInOrder) {
  ASSERT_EQ(group_count(), 4u);
  EXPECT_EQ(std::string(group_names()[0]), "interposed_mixed");
  EXPECT_EQ(std::string(group_names()[3]), "interposed_recursive");
  EXPECT_EQ(group_names()[4], nullptr);
}

}  // namespace
