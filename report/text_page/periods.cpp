// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lengths have four digits in the unit that fits, moments as many as their deviation makes sense
// of.
#include "report/text_page/periods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "blame/findings/findings_fields.h"
#include "report/words/layout.h"

namespace culprit::report {
namespace {

using blame::FoundPeriod;
using blame::Periodicity;

constexpr size_t kColumn = 18;        ///< where the words begin, after the series' name
constexpr double kStepsInPeriod = 4;  ///< fewer do not show a period

/// Four digits, in the unit that fits: periods of one page may differ by orders of magnitude.
std::string length(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  if (size < 1) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

/// A moment of the run, as exact as the deviation makes sense.
std::string moment(double seconds, double deviation_s) {
  const double digits =
      deviation_s > 0 ? std::clamp(1 - std::floor(std::log10(deviation_s)), 1.0, 6.0) : 3;
  return fmt::format("{:.{}f}", seconds, static_cast<int>(digits));
}

std::string name_of(const FoundPeriod& row) {
  return std::string(to_string(row.series)) + (row.part.empty() ? "" : " of " + row.part);
}

std::string_view why_none(Periodicity verdict) {
  switch (verdict) {
    case Periodicity::too_few:
      return "fewer than four phases: nobody can tell";
    case Periodicity::steady:
      return "no phases: it hardly varies";
    default:
      return "aperiodic: what there is of a period could be chance";
  }
}

std::string next_words(const FoundPeriod& row) {
  if (blame::lacks(row.next_s)) return "";
  const double spread = (row.next_late_s - row.next_early_s) / 4;
  return fmt::format(" Next phase: {} s ({} to {} s).", moment(row.next_s, spread),
                     moment(row.next_early_s, spread), moment(row.next_late_s, spread));
}

std::string period_words(const FoundPeriod& row) {
  std::string text = fmt::format(
      "every {} (standard deviation {}), {} of {} from {} to {} s; confidence {:.0f} %.",
      length(row.period_s), length(row.deviation_s), counted(row.phases, "phase"),
      length(row.phase_s), moment(row.begin_s, row.deviation_s), moment(row.end_s, row.deviation_s),
      100 * row.confidence);
  if (row.missed > 0) text += fmt::format(" {} did not come.", counted(row.missed, "phase"));
  if (row.interruptions > 0)
    text += fmt::format(" {}.", counted(row.interruptions, "interruption"));
  return text + next_words(row);
}

/// Parts of one series stand together.
std::string entry(const FoundPeriod* first, const FoundPeriod* last) {
  std::string text;
  if (first->verdict == Periodicity::changing) text = "the period changes: ";
  for (const FoundPeriod* row = first; row != last; ++row) {
    if (row != first) text += " Then ";
    text += blame::lacks(row->period_s) ? fmt::format("{}.", why_none(row->verdict))
                                        : period_words(*row);
  }
  const std::string name = name_of(*first);
  std::string lines = wrapped(text, kColumn);
  if (name.size() + 3 > kColumn) return "  " + name + "\n" + lines;
  return lines.replace(0, kColumn, left("  " + name, kColumn));
}

bool same_series(const FoundPeriod& a, const FoundPeriod& b) {
  return a.series == b.series && a.part == b.part && a.verdict == Periodicity::changing &&
         b.verdict == Periodicity::changing;
}

}  // namespace

std::string periods_section(const std::vector<FoundPeriod>& periods) {
  std::string section;
  double widest_s = 0;
  for (size_t i = 0; i < periods.size();) {
    size_t end = i + 1;
    while (end < periods.size() && same_series(periods[i], periods[end])) ++end;
    section += entry(&periods[i], &periods[i] + (end - i));
    widest_s = std::max(widest_s, periods[i].step_s);
    i = end;
  }
  if (section.empty()) return section;
  return section + wrapped(fmt::format("Values are up to {} apart: periods shorter than {} are not "
                                       "seen, or look like longer ones.",
                                       length(widest_s), length(kStepsInPeriod * widest_s)),
                           2);
}

std::string period_line(const FoundPeriod& row, double now_s) {
  if (blame::lacks(row.period_s)) return fmt::format("{}: {}", name_of(row), why_none(row.verdict));
  const double spread = (row.next_late_s - row.next_early_s) / 4;
  return fmt::format(
      "{}: every {}, {} (confidence {:.0f} %); next phase at {} s, in {} ({} to {} s)",
      name_of(row), length(row.period_s), counted(row.phases, "phase"), 100 * row.confidence,
      moment(row.next_s, spread), length(row.next_s - now_s), moment(row.next_early_s, spread),
      moment(row.next_late_s, spread));
}

}  // namespace culprit::report
