// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/model/normal_form.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace culprit::predict {
namespace {

const std::vector<std::string> kNames = {"ranks", "size"};

TEST(NormalForm, HasEachShapeOnce) {
  std::set<std::tuple<double, int>> seen;
  int growing = 0;
  for (const Shape& shape : shapes()) {
    EXPECT_TRUE(seen.emplace(shape.exponent(), shape.logarithms).second);
    growing += shape.numerator >= 0;
  }
  EXPECT_EQ(growing, 42);  // as many as Extra-P has
}

TEST(NormalForm, IsEvaluated) {
  const Formula formula{2, {{{0, {1, 2, 1}}, {1, {1, 1, 0}}}, {{1, {-1, 1, 0}}}}, {0.5, 8}};
  // 2 + 0.5 sqrt(16) log2(16) * 4 + 8 / 4
  EXPECT_DOUBLE_EQ(value(formula, Point{16, 4}), 2 + 0.5 * 4 * 4 * 4 + 2);
}

TEST(NormalForm, IsToldAsAFormula) {
  EXPECT_EQ(text(Formula{0.02, {}, {}}, kNames), "0.02");
  EXPECT_EQ(text(Formula{0.5, {{{0, {0, 1, 1}}}}, {-0.25}}, kNames), "0.5 - 0.25 * log2(ranks)");
  EXPECT_EQ(text(Formula{0, {{{0, {3, 2, 2}}, {1, {2, 1, 0}}}}, {3}}, kNames),
            "3 * ranks^(3/2) * log2(ranks)^2 * size^2");
}

TEST(NormalForm, KnowsWhatLeads) {
  const Formula formula{0, {{{0, {1, 1, 0}}}, {{0, {1, 1, 1}}, {1, {1, 2, 0}}}}, {1, 1}};
  EXPECT_EQ(lead(formula, 0), (Shape{1, 1, 1}));
  EXPECT_EQ(lead(formula, 1), (Shape{1, 2, 0}));
  EXPECT_EQ(lead(Formula{1, {}, {}}, 0), Shape{});
  EXPECT_FALSE(grows(Term{{0, {-1, 1, 0}}}));
  EXPECT_TRUE(grows(Term{{0, {-1, 1, 0}}, {1, {1, 1, 0}}}));
}

}  // namespace
}  // namespace culprit::predict
