// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of losses keeps its style, and what is counted or stored is kept as it was told.

#include "base/losses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace culprit {
namespace {

template <class Kind>
concept Countable = requires(Losses losses, Kind kind) { losses.add(kind, uint64_t{1}); };

// A kind of the table counts, not a name.
static_assert(!Countable<const char*> && !Countable<std::string_view> && !Countable<std::string>);

size_t gaps(std::string_view sentence) {
  size_t count = 0;
  for (size_t at = sentence.find(kGap); at != std::string_view::npos;
       at = sentence.find(kGap, at + kGap.size())) {
    ++count;
  }
  return count;
}

/// What is wrong with a sentence that users read, or nothing.
std::string fault(std::string_view sentence) {
  if (sentence.size() < 30 || sentence.size() > 320) return "too short or too long";
  if (std::isupper(static_cast<unsigned char>(sentence.front())) == 0) return "no capital first";
  if (!sentence.ends_with(".") || sentence.ends_with("..")) return "no full stop";
  if (sentence.find("  ") != std::string_view::npos) return "two blanks";
  if (gaps(sentence) > 1) return "several gaps";
  if (std::count(sentence.begin(), sentence.end(), '`') % 2 != 0) return "an open `";
  if (!std::all_of(sentence.begin(), sentence.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
    return "not ASCII";
  }
  for (const std::string_view word : {"analys", "synchronis", "n't", "(s)", ";", " ,", " .", "?"}) {
    if (sentence.find(word) != std::string_view::npos) return "not the style: " + std::string(word);
  }
  return "";
}

TEST(LossTable, EverySentenceObeysTheStyle) {
  std::set<std::string_view> sentences;
  for (const LossText& row : kLosses) {
    EXPECT_EQ(fault(row.sentence), "") << row.id;
    EXPECT_TRUE(sentences.insert(row.sentence).second) << row.id << " says what another loss says";
  }
}

TEST(LossTable, KindsAreItsRows) {
  EXPECT_EQ(text(LossKind::early_ends).id, "early_ends");
  EXPECT_EQ(text(LossKind::early_ends).severity, Severity::warning);
  EXPECT_FALSE(has_gap(LossKind::early_ends));
  EXPECT_TRUE(has_gap(LossKind::clock_repairs));
}

TEST(Losses, AreCountedWithTheTextsOfTheTable) {
  Losses losses;
  losses.add(LossKind::dropped_records, 0);
  EXPECT_TRUE(losses.all().empty());
  losses.add(LossKind::dropped_records, 2);
  losses.add(LossKind::dropped_records);
  ASSERT_TRUE(losses.contains(LossKind::dropped_records));
  EXPECT_FALSE(losses.contains(LossKind::early_ends));
  const Loss& loss = losses.all().at("dropped_records");
  EXPECT_EQ(loss.count, 3U);
  EXPECT_EQ(loss.severity, Severity::data_loss);
  EXPECT_EQ(loss.advice, text(LossKind::dropped_records).sentence);
}

TEST(Losses, DetailsFillTheGapAndTheFirstStay) {
  Losses losses;
  losses.add(LossKind::unreadable_locations, 0, "never");
  EXPECT_TRUE(losses.all().empty());
  losses.add(LossKind::unreadable_locations, 1, "its file {} is missing");
  losses.add(LossKind::unreadable_locations, 1, "another reason");
  const Loss& loss = losses.all().at("unreadable_locations");
  EXPECT_EQ(loss.count, 2U);
  EXPECT_NE(loss.advice.find("its file {} is missing."), std::string::npos) << loss.advice;
  EXPECT_EQ(loss.advice.find("another"), std::string::npos) << loss.advice;
}

TEST(Losses, OfAnotherBuildAreKeptAsStored) {
  Losses stored;
  stored.restore("lost_in_the_future", {4, Severity::info, "It was told then."});
  stored.restore("early_ends", {1, Severity::data_loss, "It was told otherwise then."});
  Losses losses;
  losses.merge(stored);
  losses.merge(stored);
  losses.add(LossKind::early_ends);
  const Loss& unknown = losses.all().at("lost_in_the_future");
  EXPECT_EQ(unknown.count, 8U);
  EXPECT_EQ(unknown.severity, Severity::info);
  EXPECT_EQ(unknown.advice, "It was told then.");
  const Loss& known = losses.all().at("early_ends");
  EXPECT_EQ(known.count, 3U);
  EXPECT_EQ(known.severity, Severity::data_loss);
  EXPECT_EQ(known.advice, "It was told otherwise then.");
}

TEST(Losses, SeveritiesAreFoundByNameAndUnknownOnesAreTheWorst) {
  for (const Severity severity : kSeverities) {
    EXPECT_EQ(severity_named(to_string(severity)), severity);
  }
  EXPECT_EQ(severity_named("catastrophe"), Severity::data_loss);
}

}  // namespace
}  // namespace culprit
