// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One sentence for each group: those in the circle first, a few of those behind them, and how many
// more there are.
#include "report/verdict/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {
namespace {

using blame::FoundStuck;

/// Of a circle of thousands of ranks only the first are named.
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

namespace {

/// Returns the locations that a stuck one waits for.
std::vector<LocationId> helpers_of(const blame::Findings& findings, size_t row) {
  std::vector<LocationId> list;
  for (const blame::FoundHelper& helper : findings.stuck_helpers) {
    if (helper.stuck.index() == row) list.push_back(helper.location);
  }
  return list;
}

/// "Rank 0 hangs", "Ranks 0 to 2 hang", "4 ranks hang".
std::string who_hangs(const std::vector<LocationId>& list, const blame::Findings& findings,
                      const PageNames& names) {
  const auto rank = [&](LocationId id) { return findings.locations[id.index()].rank; };
  if (list.size() == 1) {
    std::string name = names.location(list.front());
    if (!name.empty()) name[0] = static_cast<char>(std::toupper(name[0]));
    return name + " hangs";
  }
  bool in_a_row = true;
  for (size_t i = 1; i < list.size(); ++i) in_a_row &= rank(list[i]) == rank(list[i - 1]) + 1;
  if (!in_a_row) return fmt::format("{} hang", counted(list.size(), "thread"));
  return list.size() == 2
             ? fmt::format("Ranks {} and {} hang", rank(list.front()), rank(list.back()))
             : fmt::format("Ranks {} to {} hang", rank(list.front()), rank(list.back()));
}

/// " for rank 3", " for itself", or nothing where it is not one alone.
std::string for_whom(const FoundStuck& row, const std::vector<LocationId>& helpers,
                     const PageNames& names) {
  if (helpers.size() != 1) return "";
  return helpers.front() == row.location ? " for itself"
                                         : " for " + names.location(helpers.front());
}

/// The row of the only location that could help, if that hangs; null otherwise.
const FoundStuck* only_helper(const blame::Findings& findings,
                              const std::vector<LocationId>& helpers) {
  if (helpers.size() != 1) return nullptr;
  const auto found =
      std::find_if(findings.stuck.begin(), findings.stuck.end(),
                   [&](const FoundStuck& row) { return row.location == helpers.front(); });
  return found == findings.stuck.end() ? nullptr : &*found;
}

}  // namespace

std::string hung_sentence(const blame::Findings& findings, const PageNames& names) {
  if (findings.stuck.empty()) return "";
  const FoundStuck& first = findings.stuck.front();
  const std::vector<LocationId> helpers = helpers_of(findings, 0);
  const FoundStuck* const helper = only_helper(findings, helpers);
  const bool for_itself = helper != nullptr && helper->location == first.location;
  std::vector<LocationId> alike;
  for (size_t i = 0; i < findings.stuck.size(); ++i) {
    const FoundStuck& row = findings.stuck[i];
    const bool is_first = row.location == first.location;
    const bool is_alike = row.group_id == first.group_id && row.call == first.call &&
                          helpers_of(findings, i) == helpers;
    // Who waits for itself does something else than who waits for it.
    if (is_first || (is_alike && !for_itself && &row != helper)) alike.push_back(row.location);
  }
  std::sort(alike.begin(), alike.end());
  std::string text = fmt::format("{} in {}", who_hangs(alike, findings, names), first.call);
  if (helper == nullptr || for_itself) return text + for_whom(first, helpers, names) + '.';
  const std::vector<LocationId> of_helper =
      helpers_of(findings, static_cast<size_t>(helper - findings.stuck.data()));
  if (alike.size() == 1 && of_helper == alike) {
    return fmt::format("{} and {} in {}, each for the other.", text,
                       names.location(helper->location), helper->call);
  }
  return fmt::format("{}{}, which hangs in {}{}.", text, for_whom(first, helpers, names),
                     helper->call, for_whom(*helper, of_helper, names));
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
