// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What culprit says on the way: which levels are shown, how lines look, and that no name can do
// anything to a terminal.

#include "base/log.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/printable.h"

namespace culprit {
namespace {

/// What `said` writes to stderr if messages from `level` on are shown.
template <class Said>
std::string shown_from(log::Level level, const Said& said) {
  log::show_from(level);
  testing::internal::CaptureStderr();
  said(log::Component("part"));
  log::show_from(log::Level::info);
  return testing::internal::GetCapturedStderr();
}

const auto kOfEachLevel = [](const log::Component& part) {
  part.debug("a {}", 1);
  part.info("b {}", 2);
  part.warning("c {}", 3);
  part.error("d {}", 4);
};

TEST(Log, ShowsALevelAndThoseAbove) {
  EXPECT_EQ(shown_from(log::Level::info, kOfEachLevel),
            "culprit: b 2\nculprit: warning: c 3\nculprit: error: d 4\n");
  EXPECT_EQ(shown_from(log::Level::warning, kOfEachLevel),
            "culprit: warning: c 3\nculprit: error: d 4\n");
  EXPECT_EQ(shown_from(log::Level::error, kOfEachLevel), "culprit: error: d 4\n");
}

TEST(Log, NamesTimesAndComponentsForDebugging) {
  const std::string lines = shown_from(log::Level::debug, kOfEachLevel);
  const std::string time = "culprit: \\d\\d:\\d\\d:\\d\\d\\.\\d\\d\\d part: ";
  EXPECT_TRUE(std::regex_match(lines, std::regex(time + "a 1\n" + time + "b 2\n" + time +
                                                 "warning: c 3\n" + time + "error: d 4\n")))
      << lines;
}

TEST(Log, KnowsItsLevelsByName) {
  EXPECT_EQ(log::level_named("debug"), log::Level::debug);
  EXPECT_EQ(log::level_named("info"), log::Level::info);
  EXPECT_EQ(log::level_named("warning"), log::Level::warning);
  EXPECT_EQ(log::level_named("error"), log::Level::error);
  EXPECT_FALSE(log::level_named("loud"));
}

TEST(Log, IsPrintableAndOneLine) {
  const auto say_name = [](const log::Component& part) { part.info("'{}'", "a\x1b[2J\nb %v {}"); };
  EXPECT_EQ(shown_from(log::Level::info, say_name), "culprit: 'a\\x1b[2J\\nb %v {}'\n");
  EXPECT_EQ(log::plain_line("a\rb"), "culprit: a\\x0db\n");
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("plain, [x](y) \\ \"z\""), "plain, [x](y) \\ \"z\"");
  EXPECT_EQ(printable(std::string_view("\0\t\n\x1b\x7f", 5)), "\\x00\\t\\n\\x1b\\x7f");
  EXPECT_EQ(printable("a\nb\tc", "\n"), "a\nb\\tc");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b"
            "31m");  // CSI as one character
}

TEST(Printable, KeepsUtf8AndNothingElse) {
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa9"
                      "c\xe2\x80\xa8"
                      "d\xef\xbb\xbf"
                      "e\xf3\xa0\x81\x81"),
            "a\\xe2\\x80\\xae"
            "b\\xe2\\x81\\xa9"
            "c\\xe2\\x80\\xa8"
            "d\\xef\\xbb\\xbf"
            "e\\xf3\\xa0\\x81\\x81");
  EXPECT_EQ(printable("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\x9b"
                      "1m"),
            "\\x9b"
            "1m");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");                    // an overlong line feed
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

TEST(ValidUtf8, EscapesBytesAndNothingElse) {
  EXPECT_EQ(valid_utf8("bad\xff"), "bad\\xff");
  EXPECT_EQ(valid_utf8("gr\xf6\xdf"
                       "er"),
            "gr\\xf6\\xdfer");  // Latin-1
  const std::string text = "caf\xc3\xa9\n\x1b[2J\xe2\x80\xae";
  EXPECT_EQ(valid_utf8(text), text);
  EXPECT_TRUE(is_utf8(text));
  EXPECT_FALSE(is_utf8(text + '\xc3'));
  EXPECT_TRUE(is_utf8(valid_utf8(text + '\xc3')));
}

TEST(Printable, JsonMeansTheSame) {
  EXPECT_EQ(printable_json("{\n  \"gr\u00fc\u00df\": \"a\u202eb\U000e0041\u009b\"\n}"),
            "{\n  \"gr\u00fc\u00df\": \"a\\u202eb\\udb40\\udc41\\u009b\"\n}");
}

}  // namespace
}  // namespace culprit
