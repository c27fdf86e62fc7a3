// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of gains are by call path, causes by function: a cause has the gain of its costliest call
// path. When a gain is worth a number, and when another one is worth naming beside it, say the
// thresholds.
#include "report/verdict/gains.h"

#include <fmt/format.h>

#include <algorithm>

namespace culprit::report {
namespace {

using blame::Findings;
using blame::FoundGain;

constexpr double kHardly = 0.005;      ///< of the run: not worth a number
constexpr double kMuchMore = 1.3;      ///< than another: worth naming
constexpr double kTogetherMore = 1.5;  ///< than each by itself: one stands behind the other

const FoundGain* gain_of(const Findings& findings, CallPathId callpath) {
  const auto row = std::find_if(findings.gains.begin(), findings.gains.end(),
                                [&](const FoundGain& each) { return each.callpath == callpath; });
  return row == findings.gains.end() ? nullptr : &*row;
}

/// The row of the cause's costliest call path that has one.
const FoundGain* gain_of(const Findings& findings, const Cause& cause) {
  for (const FoundGain& row : findings.gains) {  // by cost
    const auto& paths = cause.callpaths;
    if (std::find(paths.begin(), paths.end(), row.callpath) != paths.end()) return &row;
  }
  return nullptr;
}

std::string_view with(const FoundGain& row) {
  return row.kind == blame::GainKind::balanced ? "Balanced" : "Twice as fast there";
}

std::string amount(double gain_s, const Findings& findings, const TimeFormat& time) {
  return fmt::format("{} ({})", time(gain_s), percent(gain_s, findings.run.wall_s));
}

/// What comes next in the order of costs, and brings more together with the first than both alone.
const FoundGain* behind(const Findings& findings, const FoundGain& first) {
  if (&first != &findings.gains.front() || findings.gains.size() < 2) return nullptr;
  const FoundGain& next = findings.gains[1];
  const bool more = next.together_s > kTogetherMore * (first.gain_s + next.gain_s) &&
                    next.together_s - first.gain_s - next.gain_s > kHardly * findings.run.wall_s;
  return more ? &next : nullptr;
}

}  // namespace

std::string gain_sentence(const Findings& findings, CallPathId callpath, const TimeFormat& time) {
  const FoundGain* row = gain_of(findings, callpath);
  if (row == nullptr) return "";
  if (row->gain_s < kHardly * findings.run.wall_s) {
    return fmt::format("{}, the run would hardly be shorter: others take as long.", with(*row));
  }
  return fmt::format("{}, the run would be {} shorter.", with(*row),
                     amount(row->gain_s, findings, time));
}

std::string gain_verdict(const Findings& findings, const Cause& first, const PageNames& names,
                         const TimeFormat& time) {
  const FoundGain* row = gain_of(findings, first);
  if (row == nullptr) return "";
  std::string text = gain_sentence(findings, row->callpath, time);
  text.insert(text.size() - 1,
              row->gain_s < kHardly * findings.run.wall_s ? "" : ", if all else keeps its pace");
  if (const FoundGain* next = behind(findings, *row)) {
    text += fmt::format(" Then {} is next: both changed, it would be {} shorter.",
                        names.code(next->callpath), amount(next->together_s, findings, time));
  }
  const auto most =
      std::max_element(findings.gains.begin(), findings.gains.end(),
                       [](const FoundGain& a, const FoundGain& b) { return a.gain_s < b.gain_s; });
  if (most->gain_s > kMuchMore * row->gain_s && most->gain_s > kHardly * findings.run.wall_s) {
    text +=
        fmt::format(" Most would come from {}: {}, {}.", names.code(most->callpath),
                    most->kind == blame::GainKind::balanced ? "balanced" : "twice as fast there",
                    amount(most->gain_s, findings, time));
  }
  return text;
}

}  // namespace culprit::report
