// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One sentence for each group: those in the circle first, a few of those behind them, and how many
// more there are.
#include "report/page/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/page/layout.h"
#include "report/page/names.h"

namespace culprit::report {
namespace {

using blame::FoundStuck;

/// Of a circle of thousands of ranks the first tell the story.
constexpr size_t kNamed = 6;
constexpr size_t kNamedBehind = 2;

std::string sentence(std::span<const FoundStuck> group, const PageNames& names) {
  std::vector<StuckPart> parts;
  for (const FoundStuck& row : group) {
    parts.push_back(
        {stuck_part(names.location(row.location), row.call, row.place, row.why), row.in_circle});
  }
  return stuck_sentence(group.front().deadlock, parts);
}

}  // namespace

std::vector<std::string> stuck_sentences(const blame::Findings& findings) {
  const PageNames names(findings);
  std::vector<std::string> sentences;
  const std::span<const FoundStuck> rows(findings.stuck);
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    while (end < rows.size() && rows[end].group_id == rows[i].group_id) ++end;
    sentences.push_back(sentence(rows.subspan(i, end - i), names));
    i = end;
  }
  return sentences;
}

std::string stuck_part(const std::string& who, const std::string& call, const std::string& place,
                       const std::string& why) {
  return fmt::format("{} waits in {}{} {}", who, call,
                     place.empty() ? "" : fmt::format(" ({})", place), why);
}

std::string stuck_sentence(bool deadlock, const std::vector<StuckPart>& parts) {
  std::vector<std::string> told;
  size_t unnamed = 0, behind = 0, unnamed_behind = 0;
  for (const StuckPart& part : parts) {
    const bool matters = part.in_circle || !deadlock;
    if (told.size() < kNamed && (matters || behind < kNamedBehind)) {
      told.push_back(part.text);
    } else {
      ++(matters ? unnamed : unnamed_behind);
    }
    behind += !matters;
  }
  std::string text = fmt::format("{}: {}", deadlock ? "Deadlock" : "Hung", fmt::join(told, "; "));
  if (unnamed > 0) text += fmt::format("; {} more likewise", unnamed);
  if (unnamed_behind > 0) {
    text += fmt::format("; {} more {} for them", unnamed_behind,
                        unnamed_behind == 1 ? "waits" : "wait");
  }
  return text + ".";
}

}  // namespace culprit::report
