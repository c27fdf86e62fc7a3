// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/delay/range_sums.h"

#include <gtest/gtest.h>

#include <random>

namespace culprit::blame {
namespace {

TEST(RangeSums, AgreesWithAPlainList) {
  std::mt19937 random(7);
  for (size_t size : {1u, 2u, 3u, 17u, 64u, 100u, 1000u}) {
    RangeSums tree(size);
    std::vector<RangeSums::Value> plain(size), own(size);
    const auto raise_one = [&](size_t i, RangeSums::Value by) { RangeSums::raise(own[i], by); };
    for (int n = 0; n < 200; ++n) {
      const size_t begin = random() % size;
      const size_t end = begin + random() % (size - begin + 1);
      const double value = static_cast<double>(random() % 8);
      tree.add(begin, end, {value, value}, raise_one);
      for (size_t i = begin; i < end; ++i) {
        plain[i].sum += value;
        plain[i].largest = std::max(plain[i].largest, value);
      }
    }
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(plain[i].sum, tree.at(i, own[i]).sum);
      EXPECT_EQ(plain[i].largest, tree.at(i, own[i]).largest);
    }
  }
}

TEST(RangeSums, CanBeEmpty) {
  RangeSums tree(0);
  tree.add(0, 0, {1, 1}, [](size_t, RangeSums::Value) { FAIL() << "nothing to raise"; });
}

}  // namespace
}  // namespace culprit::blame
