// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/setting_values.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace culprit {
namespace {

double seconds(std::string_view text) {
  double read = 0;
  return read_seconds(text, read) ? read : -1;
}

/// "begin..end" as numbers, or "no".
std::string window(std::string_view text) {
  Window read;
  if (!read_window(text, read)) return "no";
  return std::to_string(read.begin_s) + ".." + std::to_string(read.end_s);
}

std::string bytes(std::string_view text) {
  uint64_t read = 0;
  return read_size(text, read) ? std::to_string(read) : "no";
}

TEST(SettingValues, SecondsHaveUnits) {
  EXPECT_DOUBLE_EQ(seconds("10"), 10);
  EXPECT_DOUBLE_EQ(seconds("1.5m"), 90);
  EXPECT_DOUBLE_EQ(seconds("2min"), 120);
  EXPECT_DOUBLE_EQ(seconds("200ms"), 0.2);
  EXPECT_DOUBLE_EQ(seconds(".05s"), 0.05);
  EXPECT_DOUBLE_EQ(seconds("1h"), 3600);
  EXPECT_DOUBLE_EQ(seconds(""), 0);
  for (const char* wrong : {"s", ".", "1d", "-1", "1.2.3", "1,5", " 1", "nan", "inf"}) {
    EXPECT_EQ(seconds(wrong), -1) << wrong;
  }
}

TEST(SettingValues, WindowsLeaveSomethingOut) {
  EXPECT_EQ(window("10s..1m"), "10.000000..60.000000");
  EXPECT_EQ(window("1.5..2min"), "1.500000..120.000000");
  EXPECT_EQ(window("..200ms"), "0.000000..0.200000");
  EXPECT_EQ(window("1h.."), "3600.000000..0.000000");
  EXPECT_EQ(window("0.000000..0.200000"), "0.000000..0.200000");
  for (const char* wrong : {"10s", "..", "0..", "5s..5s", "9s..1s", "1s..2s..3s"}) {
    EXPECT_EQ(window(wrong), "no") << wrong;
  }
}

TEST(SettingValues, SizesCountInPowersOf1024) {
  EXPECT_EQ(bytes("0"), "0");
  EXPECT_EQ(bytes("3000000"), "3000000");
  EXPECT_EQ(bytes("12b"), "12");
  EXPECT_EQ(bytes("1k"), "1024");
  EXPECT_EQ(bytes("2G"), "2147483648");
  EXPECT_EQ(bytes("1 MB"), "1048576");
  EXPECT_EQ(bytes("1MiB"), "1048576");
  EXPECT_EQ(bytes("1Ki"), "1024");
  EXPECT_EQ(bytes("15e"), "17293822569102704640");
  for (const char* wrong : {"", "G", "b", "1i", "1ib", "1kk", "1.5G", "-1", "16e", "1 ", "0x10"}) {
    EXPECT_EQ(bytes(wrong), "no") << wrong;
  }
}

TEST(SettingValues, FlagsAreOnUnlessTheySayNo) {
  for (const char* no : {"", "0", "false", "off", "no"}) EXPECT_FALSE(is_on(no)) << no;
  for (const char* yes : {"1", "true", "on", "yes", "monotonic"}) EXPECT_TRUE(is_on(yes)) << yes;
}

TEST(SettingValues, TextsAreKeptWholeOrNotAtAll) {
  ValueOf<Setting::phase> phase{};
  read_or_initial<Setting::phase>(std::string(255, 'x'), phase);
  EXPECT_EQ(std::string(phase).size(), 255u);
  read_or_initial<Setting::phase>(std::string(256, 'x'), phase);
  EXPECT_STREQ(phase, "");
}

TEST(SettingValues, TheTableNamesEachThingOnce) {
  std::set<std::string_view> ids, variables, options;
  for (const SettingText& row : kSettings) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_TRUE(variables.insert(row.variable).second) << row.variable;
    EXPECT_TRUE(!row.has_option() || options.insert(row.option).second) << row.option;
    EXPECT_TRUE(std::string_view(row.variable).starts_with("CULPRIT_")) << row.variable;
    EXPECT_FALSE(std::string_view(row.help).ends_with('.')) << row.help;
  }
}

TEST(SettingValues, FrequentEventsAreLeftOutByName) {
  for (const FrequentText& row : kFrequentEvents) {
    Without without;
    EXPECT_TRUE(leave_out(without, row.name)) << row.name;
  }
  Without without;
  EXPECT_FALSE(leave_out(without, "everything"));
  EXPECT_EQ(text(Frequent::loops).name, "loops");
}

}  // namespace
}  // namespace culprit
