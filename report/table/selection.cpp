// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows are removed if their location, call path or pattern is not selected. The types of a row's
// fields identify these, so that new tables need no change here. In rows with two locations
// (victims) the first one counts.
#include "report/table/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/glob.h"
#include "blame/findings/findings_fields.h"
#include "report/words/patterns.h"

namespace culprit::report {

namespace {

/// Itself, or one of the families that it belongs to.
bool is_of_family(std::string_view pattern, std::string_view family) {
  while (!pattern.empty()) {
    if (pattern == family) return true;
    const PatternText* const text = find_pattern(pattern);
    pattern = text != nullptr ? text->parent : std::string_view();
  }
  return false;
}

/// The selected locations, call paths and patterns, by id.
struct Selected {
  std::vector<bool> locations, callpaths;
  std::string_view pattern;

  bool has(LocationId id) const { return !id.valid() || locations[id.index()]; }
  bool has(CallPathId id) const { return !id.valid() || callpaths[id.index()]; }
};

Selected selected_of(const Selection& selection, const blame::Findings& findings) {
  Selected selected{{}, {}, selection.pattern};
  for (const blame::FoundLocation& location : findings.locations) {
    selected.locations.push_back(selection.ranks.empty() ||
                                 selection.ranks.contains(location.rank));
  }
  for (const blame::FoundCallPath& path : findings.callpaths) {
    selected.callpaths.push_back(selection.callpath.empty() ||
                                 matches_callpath(selection.callpath, path.name, path.region));
  }
  return selected;
}

/// Keeps the rows of a list whose first location and call path are selected, and its pattern.
template <class Row>
void keep_selected(const Selected& selected, std::vector<Row>& rows) {
  std::erase_if(rows, [&](const Row& row) {
    bool kept = true, located = false, placed = false;
    blame::Table<Row>::columns(
        row, [&]<class Type>(const blame::Column<Type>& column, const auto& field) {
          using Field = std::remove_cvref_t<decltype(field)>;
          if constexpr (std::is_same_v<Field, LocationId>) {
            if (!located) kept = kept && selected.has(field);
            located = true;
          } else if constexpr (std::is_same_v<Field, CallPathId>) {
            if (!placed) kept = kept && selected.has(field);
            placed = true;
          } else if constexpr (std::is_same_v<Field, std::string>) {
            if (column.name == "pattern" && !selected.pattern.empty()) {
              kept = kept && is_of_family(field, selected.pattern);
            }
          }
        });
    return !kept;
  });
}

bool is_of_user(std::string_view pattern, const blame::Findings& findings) {
  return std::any_of(findings.user_patterns.begin(), findings.user_patterns.end(),
                     [&](const blame::FoundUserPattern& each) { return each.name == pattern; });
}

/// Returns the waits of user-defined patterns, whose causes are unknown.
std::vector<blame::FoundWait> waits_of_user(const blame::Findings& findings) {
  std::vector<blame::FoundWait> waits;
  for (const blame::FoundUserWait& row : findings.user_waits) {
    blame::FoundWait& wait = waits.emplace_back();
    wait.pattern = row.pattern, wait.callpath = row.callpath, wait.location = row.location;
    wait.count = row.count, wait.time_s = row.time_s;
  }
  return waits;
}

}  // namespace

Result<std::set<uint32_t>> parse_ranks(const std::string& text) {
  constexpr uint32_t kMostRanks = 10'000'000;
  std::set<uint32_t> ranks;
  const Error wrong{"'" + text + "' is no list of ranks like 0,4-7"};
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    uint32_t first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return wrong;
    uint32_t last = first;
    if (read.ptr < end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc() || last < first || last - first > kMostRanks) return wrong;
    }
    // The last one may be the largest number that there is.
    for (uint64_t rank = first; rank <= last; ++rank) ranks.insert(static_cast<uint32_t>(rank));
    if (ranks.size() > kMostRanks) return wrong;
    if (read.ptr < end && *read.ptr != ',') return wrong;
    at = read.ptr + 1;
  }
  if (ranks.empty()) return wrong;
  return ranks;
}

Result<void> check_selection(const Selection& selection, const blame::Findings& findings) {
  for (const uint32_t rank : selection.ranks) {
    const bool known =
        std::any_of(findings.locations.begin(), findings.locations.end(),
                    [&](const blame::FoundLocation& location) { return location.rank == rank; });
    if (!known) return Error{fmt::format("this run has no rank {}", rank)};
  }
  if (!selection.pattern.empty() && find_pattern(selection.pattern) == nullptr &&
      !is_of_user(selection.pattern, findings)) {
    return Error{"there is no pattern '" + selection.pattern +
                 "': `culprit patterns` lists all of them"};
  }
  if (selection.callpath.empty()) return {};
  const bool fits = std::any_of(
      findings.callpaths.begin(), findings.callpaths.end(), [&](const blame::FoundCallPath& path) {
        return matches_callpath(selection.callpath, path.name, path.region);
      });
  if (fits) return {};
  return Error{"no call path is like '" + selection.callpath +
               "'. Say whole call paths, like main/solve/MPI_Recv, or functions; * stands for "
               "anything"};
}

blame::Findings select(const blame::Findings& findings, const Selection& selection) {
  blame::Findings kept = findings;
  const Selected selected = selected_of(selection, findings);
  if (is_of_user(selection.pattern, findings)) kept.waits = waits_of_user(findings);
  keep_selected(selected, kept.waits);
  keep_selected(selected, kept.user_waits);
  keep_selected(selected, kept.delays);
  keep_selected(selected, kept.profile);
  keep_selected(selected, kept.critical_path);
  keep_selected(selected, kept.idle_blame);
  keep_selected(selected, kept.counts);
  return kept;
}

std::string ranks_in_words(const std::set<uint32_t>& ranks) {
  std::vector<std::string> parts;
  for (auto at = ranks.begin(); at != ranks.end();) {
    const uint32_t first = *at;
    uint32_t last = first;
    while (++at != ranks.end() && *at == last + 1) ++last;
    parts.push_back(last == first ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string in_words(const Selection& selection) {
  std::vector<std::string> parts;
  if (selection.ranks.size() == 1)
    parts.push_back(fmt::format("rank {}", *selection.ranks.begin()));
  if (selection.ranks.size() > 1) parts.push_back("ranks " + ranks_in_words(selection.ranks));
  if (!selection.pattern.empty()) parts.push_back("pattern " + selection.pattern);
  if (!selection.callpath.empty()) parts.push_back("call paths like " + selection.callpath);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace culprit::report
