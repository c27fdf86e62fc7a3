// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of the report are call paths, causes functions: each has the gain of just that. When a gain
// is worth a number, and when another one is worth naming beside it, say the thresholds.
#include "report/verdict/gains.h"

#include <fmt/format.h>

#include <algorithm>

#include "blame/judge/diagnose.h"
#include "report/verdict/places.h"

namespace culprit::report {
namespace {

using blame::Findings;
using blame::FoundFunctionGain;
using blame::FoundGain;
using blame::GainKind;

constexpr double kHardly = 0.005;      ///< of the run: not worth a number, nor, of costs, a word
constexpr double kMuchMore = 1.3;      ///< than another: worth naming
constexpr double kHalvedMore = 1.25;   ///< what halving brings is said beside it
constexpr double kTogetherMore = 1.5;  ///< than each by itself: one stands behind the other
constexpr size_t kPathWidth = 60;

bool is_at(const blame::Cause& cause, CallPathId callpath) {
  const auto& paths = cause.callpaths;
  return std::find(paths.begin(), paths.end(), callpath) != paths.end();
}

double cost_of(const Findings& findings, CallPathId callpath) {
  double cost_s = 0;
  for (const blame::FoundDelay& row : findings.delays) {
    if (row.callpath == callpath) cost_s += row.short_s + row.long_s;
  }
  return cost_s;
}

/// Returns the words on a change of a call path.
std::string_view change_of(GainKind kind) {
  switch (kind) {
    case GainKind::balanced:
      return "Balanced";
    case GainKind::halved:
      return "At half its time";
    case GainKind::mixed:
      return "Balanced, or at half its time where it cannot be";
    case GainKind::earlier:
      return "Started earlier";
    case GainKind::held:
      return "With its lock held half as long";
  }
  return "";
}

std::string_view in_short(GainKind kind) {
  switch (kind) {
    case GainKind::balanced:
      return "balanced";
    case GainKind::halved:
      return "twice as fast";
    case GainKind::mixed:
      return "balanced or twice as fast";
    case GainKind::earlier:
      return "started earlier";
    case GainKind::held:
      return "with its lock held half as long";
  }
  return "";
}

class Words {
 public:
  Words(const Findings& findings, const TimeFormat& time) : findings_(findings), time_(time) {}

  bool hardly(double seconds) const { return seconds < kHardly * findings_.run.wall_s; }

  std::string amount(double gain_s) const {
    return fmt::format("{} ({})", time_(gain_s),
                       percent(blame::Proportion::of(blame::Amount<blame::Run>(gain_s),
                                                     blame::run_time(findings_))));
  }

  /// Returns the words on the gain of halving its time, next to that of another change; "" if it is
  /// not much larger.
  std::string halved_beside(GainKind kind, double gain_s, double halved_s) const {
    if (kind == GainKind::halved || hardly(halved_s) || halved_s < kHalvedMore * gain_s) return "";
    return fmt::format("; twice as fast, {}", amount(halved_s));
  }

  /// `cost_s`: of what is changed.
  std::string sentence(const FoundGain& row, double cost_s) const {
    const std::string_view change = change_of(row.kind);
    const double gain_s = row.gain_s;
    if (!hardly(-gain_s)) {
      return fmt::format("{}, the run would be {} longer: others would be late then.", change,
                         amount(-gain_s));
    }
    if (!hardly(gain_s)) {
      return fmt::format("{}, the run would be {} shorter{}.", change, amount(gain_s),
                         halved_beside(row.kind, gain_s, row.halved_s));
    }
    // A small cost allows only a small gain, whatever others do.
    const double others = std::max(1.0, static_cast<double>(findings_.run.locations) - 1);
    return fmt::format("{}, the run would hardly be shorter{}.", change,
                       hardly(cost_s / others) ? "" : ": others take as long");
  }

 private:
  const Findings& findings_;
  const TimeFormat& time_;
};

/// The verdict's words on the gains of a cause.
class Judgement {
 public:
  Judgement(const Findings& findings, const blame::Cause& first, const PageNames& names,
            const TimeFormat& time)
      : findings_(findings), first_(first), names_(names), words_(findings, time) {}

  /// Returns words on the next delay behind the cause, and on changes that gain more.
  std::string further() const {
    const FoundFunctionGain* row = row_of(first_);
    if (row == nullptr) return "";
    return behind(std::max(0.0, row->gain_s)) + most(std::max(0.0, row->gain_s));
  }

 private:
  const FoundFunctionGain* row_of(const blame::Cause& cause) const {
    for (const FoundFunctionGain& row : findings_.function_gains) {
      if (is_at(cause, row.callpath)) return &row;
    }
    return nullptr;
  }

  /// Its whole path where the name alone is that of the first cause, or of another row.
  std::string name(CallPathId path) const {
    const std::string code = names_.code(path);
    const auto bears = [&](const FoundGain& row) {
      return row.callpath != path && names_.code(row.callpath) == code;
    };
    const bool ambiguous = code == names_.code(first_.example) ||
                           std::any_of(findings_.gains.begin(), findings_.gains.end(), bears);
    return ambiguous ? names_.path(path, kPathWidth) : code;
  }

  /// The first row that brings more together with what costs more than all known before does.
  std::string behind(double gain_s) const {
    const std::vector<FoundGain>& rows = findings_.gains;
    if (rows.empty() || !is_at(first_, rows.front().callpath)) return "";
    for (size_t i = 1; i < rows.size(); ++i) {
      const double before_s = std::max(gain_s, rows[i - 1].together_s);
      const double apart_s = before_s + std::max(0.0, rows[i].gain_s);
      const double together_s = rows[i].together_s;
      if (together_s <= kTogetherMore * apart_s || words_.hardly(together_s - apart_s)) continue;
      const bool two = i == 1 && first_.callpaths.size() == 1;
      return fmt::format(" Then {} is next: {} changed, it would be {} shorter.",
                         name(rows[i].callpath), two ? "both" : "it and all that costs more",
                         words_.amount(together_s));
    }
    return "";
  }

  /// Of functions, and of call paths of none of them.
  std::string most(double gain_s) const {
    double most_s = std::max(kMuchMore * gain_s, kHardly * findings_.run.wall_s);
    std::string text;
    const auto consider = [&](const std::string& what, GainKind kind, double brings_s) {
      most_s = brings_s;
      text = fmt::format(" Most would come from {}: {}, {}.", what, in_short(kind),
                         words_.amount(brings_s));
    };
    std::vector<const blame::Cause*> functions{&first_};
    const std::vector<blame::Cause> all = causes(findings_);
    for (const blame::Cause& cause : all) {
      const FoundFunctionGain* row = row_of(cause);
      if (row == nullptr) continue;
      functions.push_back(&cause);
      if (is_at(first_, row->callpath) || row->gain_s <= most_s) continue;
      consider(name_of(cause, names_), row->kind, row->gain_s);
    }
    for (const FoundGain& row : findings_.gains) {
      const bool known =
          std::any_of(functions.begin(), functions.end(),
                      [&](const blame::Cause* cause) { return is_at(*cause, row.callpath); });
      if (!known && row.gain_s > most_s) consider(name(row.callpath), row.kind, row.gain_s);
    }
    return text;
  }

  const Findings& findings_;
  const blame::Cause& first_;
  const PageNames& names_;
  const Words words_;
};

}  // namespace

const FoundFunctionGain* gain_of(const Findings& findings, const blame::Cause& cause) {
  const auto row =
      std::find_if(findings.function_gains.begin(), findings.function_gains.end(),
                   [&](const FoundFunctionGain& each) { return is_at(cause, each.callpath); });
  return row == findings.function_gains.end() ? nullptr : &*row;
}

std::string gained(double gain_s, const Findings& findings, const TimeFormat& time) {
  return fmt::format(
      "{} ({})", time(gain_s),
      rounded(blame::Proportion::of(blame::Amount<blame::Run>(gain_s), blame::run_time(findings))));
}

std::string change_in_short(const Findings& findings, const blame::Cause& cause,
                            const FoundFunctionGain& row) {
  std::string over;
  if (row.kind == GainKind::balanced && cause.callpaths.size() == 1) {
    for (const blame::FoundDistribution& each : findings.distributions) {
      if (each.callpath != cause.costliest || each.locations < 2) continue;
      const bool ranks = each.locations <= findings.run.ranks && findings.run.ranks > 1;
      over = fmt::format(" over {}", counted(each.locations, ranks ? "rank" : "thread"));
    }
  }
  return (row.kind == GainKind::halved ? "halved" : std::string(in_short(row.kind))) + over;
}

std::string gain_in_short(const Findings& findings, const blame::Cause& cause,
                          const TimeFormat& time) {
  const FoundFunctionGain* const row = gain_of(findings, cause);
  if (row == nullptr) return "";
  const std::string change = change_in_short(findings, cause, *row);
  const Words words(findings, time);
  if (!words.hardly(-row->gain_s)) {
    return fmt::format("; {}: {} longer", change, gained(-row->gain_s, findings, time));
  }
  if (words.hardly(row->gain_s)) return fmt::format("; {}: hardly shorter", change);
  const bool halved_is_more = row->kind != GainKind::halved && !words.hardly(row->halved_s) &&
                              row->halved_s >= kHalvedMore * row->gain_s;
  return fmt::format(
      "; {}: {} shorter{}", change, gained(row->gain_s, findings, time),
      halved_is_more ? fmt::format(" (halved: {})", gained(row->halved_s, findings, time)) : "");
}

std::string gain_sentence(const Findings& findings, CallPathId callpath, const TimeFormat& time) {
  const auto row = std::find_if(findings.gains.begin(), findings.gains.end(),
                                [&](const FoundGain& each) { return each.callpath == callpath; });
  const Words words(findings, time);
  const double cost_s = cost_of(findings, callpath);
  if (row == findings.gains.end() || words.hardly(cost_s)) return "";
  return words.sentence(*row, cost_s);
}

std::string further_gains(const Findings& findings, const blame::Cause& first,
                          const PageNames& names, const TimeFormat& time) {
  const std::string text = Judgement(findings, first, names, time).further();
  return text.empty() ? "" : text.substr(1);
}

}  // namespace culprit::report
