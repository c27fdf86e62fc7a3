// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/flat_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace culprit {
namespace {

TEST(FlatMap, AgreesWithAnOrdinaryMap) {
  std::mt19937 random(5);
  FlatMap map;
  std::map<uint64_t, uint32_t> plain;
  for (int n = 0; n < 20'000; ++n) {
    const uint64_t key = uint64_t{random() % 300} << (random() % 2 * 32);
    const uint32_t value = random() % 1000;
    switch (random() % 4) {
      case 0:
        map.set(key, value);
        plain[key] = value;
        break;
      case 1:
        EXPECT_EQ(plain.try_emplace(key, value).first->second, map.at(key, value));
        break;
      default:
        EXPECT_EQ(plain.contains(key) ? plain[key] : FlatMap::kNone, map.take(key));
        plain.erase(key);
    }
    EXPECT_EQ(plain.size(), map.size());
    const uint64_t other = random() % 300;
    EXPECT_EQ(plain.contains(other) ? plain[other] : FlatMap::kNone, map.find(other));
  }
  map.clear();
  EXPECT_TRUE(map.empty());
  for (const auto& [key, value] : plain) EXPECT_EQ(FlatMap::kNone, map.find(key));
}

}  // namespace
}  // namespace culprit
