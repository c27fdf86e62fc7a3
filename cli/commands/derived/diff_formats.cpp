// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of functions may hold anything: what means something to Markdown or XML is escaped.

#include "cli/commands/derived/diff_formats.h"

#include <fmt/format.h>

#include <string_view>

#include "base/printable.h"
#include "report/verdict/change_words.h"

namespace culprit::cli {
namespace {

/// Functions that a comment has room for.
constexpr size_t kMostFunctions = 10;

std::string in_xml(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string in_cell(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("|\\`*_<>[]#~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string_view words_of(blame::ChangedFigure figure) {
  switch (figure) {
    case blame::ChangedFigure::wall:
      return "run time";
    case blame::ChangedFigure::time:
      return "allocated time";
    case blame::ChangedFigure::waiting:
      return "waiting";
    case blame::ChangedFigure::delay:
      return "waiting caused";
    case blame::ChangedFigure::critical:
      return "critical path";
  }
  return "";
}

std::string row_of(const blame::FoundChange& row, const report::TimeFormat& time) {
  const std::string what = row.region.empty()
                               ? std::string(words_of(row.figure))
                               : fmt::format("{} of {}", words_of(row.figure), in_cell(row.region));
  const std::string_view noise = row.noise_s < 0     ? "unknown"
                                 : row.exceeds_noise ? "more than noise"
                                                     : "within noise";
  return fmt::format("| {} | {} | {} | {} | {} |\n", what, time(row.before_s), time(row.after_s),
                     report::change_amount(row, time), noise);
}

}  // namespace

std::string change_in_markdown(const blame::Findings& difference, const JudgedChange& judged) {
  const report::TimeFormat time = report::time_of_changes(difference);
  std::string text = in_cell(report::change_sentence(difference)) + "\n\n";
  if (!judged.condition.empty()) {
    text += judged.met ? fmt::format("**Regression:** `{}`: {}\n\n", judged.condition, *judged.met)
                       : fmt::format("No regression: `{}` does not hold.\n\n", judged.condition);
  }
  text += "| figure | before | after | change | noise |\n|---|---:|---:|---:|---|\n";
  size_t functions = 0;
  for (const blame::FoundChange& row : difference.changes) {
    if (!row.region.empty() &&
        (row.figure != blame::ChangedFigure::delay || functions++ >= kMostFunctions))
      continue;
    text += row_of(row, time);
  }
  return text;
}

std::string change_in_junit(const blame::Findings& difference, const JudgedChange& judged) {
  const std::string name = judged.condition.empty() ? "comparison" : "not " + judged.condition;
  const std::string sentence = report::change_sentence(difference);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"culprit diff\" tests=\"1\" failures=\"{}\">\n"
      "  <testcase classname=\"culprit\" name=\"{}\">\n",
      judged.met ? 1 : 0, in_xml(name));
  if (judged.met) {
    text += fmt::format("    <failure message=\"{}\">{}</failure>\n", in_xml(*judged.met),
                        in_xml(sentence));
  }
  return text + fmt::format("    <system-out>{}</system-out>\n  </testcase>\n</testsuite>\n",
                            in_xml(sentence));
}

}  // namespace culprit::cli
