// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace culprit::cli {
namespace {

struct Kind {
  std::string_view name;
  std::string_view what;
};

constexpr Kind kKinds[] = {
    {"locks", "OpenMP locks and critical sections"},
    {"tasks", "explicit OpenMP tasks"},
    {"loops", "OpenMP worksharing constructs"},
    {"samples", "samples of the program's call stack"},
    {"tests", "unsuccessful MPI tests and probes"},
    {"functions", "functions compiled with -finstrument-functions"},
    {"regions", "user-defined regions"},
};

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(number >= 0) || number > std::numeric_limits<Number>::max()) return std::nullopt;
  return number;
}

/// "10", "10s", "1.5m", "200ms", "1h" in seconds; an empty text is 0.
std::optional<double> seconds_of(std::string_view text) {
  if (text.empty()) return 0;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ms", 0.001}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  for (const auto& [unit, factor] : kUnits) {
    if (!text.ends_with(unit)) continue;
    if (const auto number = number_of<double>(text.substr(0, text.size() - unit.size()))) {
      return *number * factor;
    }
  }
  return number_of<double>(text);
}

/// "a-b" or "a"; nothing if it is neither, or runs backward.
bool is_range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = number_of<int64_t>(text.substr(0, dash));
  if (dash == text.npos) return first.has_value();
  const auto last = number_of<int64_t>(text.substr(dash + 1));
  return first && last && *first <= *last;
}

Result<std::string> window_of(const std::string& text) {
  const size_t dots = text.find("..");
  const Error error{fmt::format(
      "'{}' is not a time window: write it as 10s..60s, 10s.. or ..1m, from the program's start",
      text)};
  if (dots == text.npos) return error;
  const auto begin = seconds_of(std::string_view(text).substr(0, dots));
  const auto end = seconds_of(std::string_view(text).substr(dots + 2));
  if (!begin || !end || (*end > 0 && *end <= *begin) || (*begin == 0 && *end == 0)) return error;
  return fmt::format("{:.6f}..{}", *begin, *end > 0 ? fmt::format("{:.6f}", *end) : "");
}

bool are_ranks(const std::string& text) {
  const auto words = words_of(text);
  return std::all_of(words.begin(), words.end(), is_range);
}

bool is_phase(const std::string& text) {
  const size_t colon = text.rfind(':');
  return colon == text.npos ? text.size() < 256
                            : colon > 0 && colon < 256 && is_range(text.substr(colon + 1));
}

const Kind* find_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& k) { return k.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::string known_kinds() {
  std::string names;
  for (const Kind& kind : kKinds)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return names;
}

Result<std::vector<std::pair<std::string, std::string>>> variables_of(const Selection& selection) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (!selection.window.empty()) {
    auto window = window_of(selection.window);
    if (!window) return window.error();
    variables.emplace_back("CULPRIT_WINDOW", window.value());
  }
  if (!selection.ranks.empty()) {
    if (!are_ranks(selection.ranks) || selection.ranks.size() >= 1024) {
      return Error{fmt::format("'{}' is not a list of ranks: write it as 0-3,8", selection.ranks)};
    }
    variables.emplace_back("CULPRIT_RANKS", selection.ranks);
  }
  if (!selection.phase.empty()) {
    if (!is_phase(selection.phase)) {
      return Error{
          fmt::format("'{}' is not a phase: write its name, or NAME:n-m for some of its "
                      "visits or iterations",
                      selection.phase)};
    }
    variables.emplace_back("CULPRIT_PHASE", selection.phase);
  }
  for (const std::string_view word : words_of(selection.without)) {
    if (find_kind(word) == nullptr) {
      return Error{
          fmt::format("culprit cannot leave out '{}': the choices are {}", word, known_kinds())};
    }
  }
  if (!selection.without.empty()) variables.emplace_back("CULPRIT_WITHOUT", selection.without);
  if (selection.exclude.size() >= 4096) return Error{"too many patterns to exclude"};
  if (!selection.exclude.empty()) variables.emplace_back("CULPRIT_EXCLUDE", selection.exclude);
  return variables;
}

std::vector<std::string> sentences_of(const Selection& selection) {
  std::vector<std::string> sentences;
  const std::string off =
      "Everything else appears as (not recorded); messages to and from it are matched.";
  if (!selection.window.empty()) {
    sentences.push_back(fmt::format("Only the time window {} of each process was recorded. {}",
                                    selection.window, off));
  }
  if (!selection.ranks.empty()) {
    sentences.push_back(fmt::format("Only ranks {} were recorded. {}", selection.ranks, off));
  }
  if (!selection.phase.empty()) {
    sentences.push_back(fmt::format("Only the phase {} was recorded. {}", selection.phase, off));
  }
  for (const std::string_view word : words_of(selection.without)) {
    if (const Kind* kind = find_kind(word)) {
      sentences.push_back(fmt::format("Left out on request: {}.", kind->what));
    }
  }
  if (!selection.exclude.empty()) {
    sentences.push_back(
        fmt::format("Left out on request: regions and functions named {}.", selection.exclude));
  }
  return sentences;
}

}  // namespace culprit::cli
