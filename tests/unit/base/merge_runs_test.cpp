// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/merge_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace culprit {
namespace {

struct Item {
  int key;
  size_t place;
  bool operator==(const Item&) const = default;
};

constexpr auto kByKey = [](const Item& a, const Item& b) { return a.key < b.key; };

/// `runs` ascending runs one after the other, of lengths that differ.
std::vector<Item> some_runs(std::mt19937& random, size_t runs, size_t length) {
  std::vector<Item> items;
  for (size_t r = 0; r < runs; ++r) {
    int key = static_cast<int>(random() % 10);
    for (size_t i = random() % length; i > 0; --i) {
      items.push_back({key, items.size()});
      key += static_cast<int>(random() % 3);
    }
  }
  return items;
}

TEST(MergeRuns, SortsAndKeepsTheOrderOfEquals) {
  std::mt19937 random(3);
  for (size_t runs : {0u, 1u, 2u, 3u, 7u, 64u, 300u}) {
    std::vector<Item> items = some_runs(random, runs, 50), expected = items;
    std::stable_sort(expected.begin(), expected.end(), kByKey);
    merge_runs(items.data(), items.data() + items.size(), kByKey);
    EXPECT_EQ(expected, items);
  }
}

}  // namespace
}  // namespace culprit
