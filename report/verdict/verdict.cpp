// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The order of the questions is that of their weight: each can make all that follow meaningless.
// Thresholds are at the top.
#include "report/verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "blame/diagnose/diagnose.h"
#include "report/page/changes.h"
#include "report/page/devices.h"
#include "report/page/layout.h"
#include "report/page/models.h"
#include "report/verdict/evidence.h"
#include "report/verdict/gains.h"
#include "report/verdict/places.h"
#include "report/verdict/polling.h"
#include "report/verdict/start_up.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Findings;
using blame::OwnAllocation;
using blame::OwnWaiting;
using blame::Proportion;

constexpr double kMostOfIt = 0.5;
constexpr double kWorthSaying = 0.1;  ///< of a whole

/// In calls that could not return before the run was ended: those of the stuck, where there are
/// any. A part of blame::own_waiting(): what start-up and shutdown made them wait is in neither.
Amount<OwnWaiting> own_unanswered_waiting(const Findings& findings) {
  constexpr std::string_view kUnanswered = "run.unanswered";
  if (findings.stuck.empty()) return {};
  double sum = 0;
  for (const blame::FoundWait& row : findings.waits) {
    if (row.pattern == kUnanswered) sum += row.time_s;
  }
  for (const blame::FoundDelay& row : findings.delays) {
    const bool by_start_up =
        row.callpath.valid() && findings.callpaths[row.callpath.index()].start_up;
    if (row.pattern == kUnanswered && by_start_up) sum -= row.short_s + row.long_s;
  }
  return std::clamp(Amount<OwnWaiting>(sum), {}, blame::own_waiting(findings));  // of roundings
}

std::string start_up_first(const Findings& findings, const TimeFormat& time) {
  const std::string parts = start_up_parts(findings, time);
  return fmt::format("Start-up and shutdown took {} of the run's {}{}.",
                     time(findings.start_up.wall_s), time(findings.run.wall_s),
                     parts.empty() ? "" : fmt::format(", mostly {}", parts));
}

/// " (without start-up and shutdown)", where the share of all waiting in all time, which the page
/// also has, is another one than `share`.
std::string_view of_what(const Findings& findings, Proportion share) {
  const blame::StartUp& start_up = findings.start_up;
  const Proportion all = Proportion::of(blame::waiting(findings), blame::allocation(findings));
  const bool differs =
      start_up.activity_s + start_up.waiting_s > 0 && percent(all) != percent(share);
  return differs ? " (without start-up and shutdown)" : "";
}

/// Of what a cut left, but start-up and shutdown.
std::string waiting_in_cut(const Findings& findings) {
  const auto counts = [&](CallPathId path) {
    return path.valid() && findings.callpaths[path.index()].start_up;
  };
  Amount<OwnWaiting> waiting(findings.identities.waiting_s);
  Amount<OwnAllocation> all(findings.run.allocation_s);
  for (const blame::FoundWait& row : findings.waits) {
    if (counts(row.callpath)) waiting += Amount<OwnWaiting>(-row.time_s);
  }
  for (const blame::FoundProfile& row : findings.profile) {
    if (counts(row.callpath)) all += Amount<OwnAllocation>(-row.time_s);
  }
  waiting = std::max(waiting, {});  // of roundings
  const Proportion share = Proportion::of(waiting, all);
  if (!share.known()) return "";
  return fmt::format("{} of the time at the call paths that are left was waiting time{}.",
                     percent(share), of_what(findings, share));
}

class Judge {
 public:
  Judge(const Findings& findings, const PageNames& names)
      : findings_(findings), names_(names), time_(findings.run.wall_s), evidence_(findings) {}

  Verdict judge() {
    verdict_.cores = core_shortage(findings_);
    unanswered_ = own_unanswered_waiting(findings_);
    look_at_waiting();
    if (unanswered_.seconds() > 0 && unanswered_ >= kMostOfIt * blame::own_waiting(findings_)) {
      verdict_.kind = VerdictKind::stuck;
      say(stuck_waiting());
      return std::move(verdict_);
    }
    const bool start_up_dominates =
        find_diagnosis(findings_, blame::Diagnosis::start_up) != nullptr;
    const bool cores_first = verdict_.cores.comes_first();
    verdict_.kind = cores_first          ? VerdictKind::oversubscribed
                    : start_up_dominates ? VerdictKind::start_up
                                         : verdict_.waiting;
    if (cores_first) say(core_sentence(verdict_.cores, findings_));
    if (start_up_dominates) say(start_up_first(findings_, time_));
    say(waiting_sentence());
    if (verdict_.waiting == VerdictKind::cause) {
      say(gain_verdict(findings_, verdict_.causes.front(), names_, time_));
    }
    if (!cores_first) say(core_sentence(verdict_.cores, findings_));
    say(polling_verdict(findings_, names_));
    say(device_verdict(findings_, names_));
    return std::move(verdict_);
  }

  /// Waits and causes that are left need not belong together.
  Verdict judge_cut() {
    say(waiting_in_cut(findings_));
    const Amount<OwnWaiting> caused = blame::own_waiting(findings_);
    if (caused.seconds() <= 0) return std::move(verdict_);
    name_causes(caused);
    verdict_.kind = verdict_.waiting;
    say(fmt::format("They cause {} of waiting, wherever{}.", time_(caused.seconds()),
                    verdict_.waiting == VerdictKind::cause ? ", " + caused_by() : ""));
    return std::move(verdict_);
  }

 private:
  void say(const std::string& sentence) {
    if (sentence.empty()) return;
    if (!verdict_.text.empty()) verdict_.text += ' ';
    verdict_.text += sentence;
  }

  void look_at_waiting() {
    const Amount<OwnWaiting> waiting = blame::own_waiting(findings_);
    const Proportion share = Proportion::of(waiting, blame::own_allocation(findings_));
    if (findings_.identities.waiting_s <= 0 || !share.known()) return;
    verdict_.waiting_share = share;
    if (share.value() < kHardlyAny) {
      verdict_.waiting = VerdictKind::hardly_any_waiting;
      return;
    }
    name_causes(waiting);
  }

  /// Of so much waiting.
  void name_causes(Amount<OwnWaiting> waiting) {
    std::vector<Cause> list = causes(findings_);
    known_ = list.size();
    if (list.empty()) {
      verdict_.waiting = VerdictKind::unknown;
      return;
    }
    const bool one_stands_out = list.front().cost() >= kNamedCause * waiting;
    verdict_.waiting = one_stands_out ? VerdictKind::cause : VerdictKind::spread;
    const Amount<OwnWaiting> first = list.front().cost();
    const Amount<OwnWaiting> least =
        one_stands_out ? std::max(kNamedCause * waiting, kNearlyAsMuch * first) : first;
    for (Cause& cause : list) {
      if (verdict_.causes.size() == kMostCauses || cause.cost() < least) break;
      verdict_.causes.push_back(std::move(cause));
      if (!one_stands_out) break;
    }
    if (!one_stands_out) verdict_.common = common_caller(findings_);
  }

  std::string waiting_share() const {
    return fmt::format("{} of the allocated time{} was waiting time",
                       percent(verdict_.waiting_share), of_what(findings_, verdict_.waiting_share));
  }

  std::string stuck_waiting() const {
    return fmt::format("{}, {} of it in the calls named above, which could not return.",
                       waiting_share(), of_waiting(unanswered_));
  }

  std::string waiting_sentence() const {
    const std::string share = waiting_share();
    switch (verdict_.waiting) {
      case VerdictKind::hardly_any_waiting:
        return hardly_any();
      case VerdictKind::cause:
        return fmt::format("{}, {}.{}{}", share, caused_by(), load_moves(), rest_unknown());
      case VerdictKind::spread:
        return fmt::format("{}. {}", share, spread());
      case VerdictKind::unknown:
        return fmt::format("{}; what caused it is not known.", share);
      default:
        return "";
    }
  }

  std::string hardly_any() const {
    std::string text =
        fmt::format("Hardly any waiting: {} of the allocated time{}.",
                    percent(verdict_.waiting_share), of_what(findings_, verdict_.waiting_share));
    for (const blame::FoundEfficiency& row : findings_.efficiencies) {
      if (row.name != blame::Factor::mpi_transfer || row.value > 1 - kWorthSaying) continue;
      text += fmt::format(" But {} of the time went into MPI itself, without waiting.",
                          percent(Proportion::by_itself(1 - row.value)));
    }
    return text;
  }

  /// Of how much of the waiting something is.
  std::string of_waiting(Amount<OwnWaiting> part) const {
    return percent(Proportion::of(part, blame::own_waiting(findings_)));
  }

  std::string caused_by() const {
    std::string text;
    for (size_t i = 0; i < verdict_.causes.size(); ++i) {
      const Cause& cause = verdict_.causes[i];
      const std::string_view joint = i == 0 ? "" : i + 1 < verdict_.causes.size() ? ", " : " and ";
      text += fmt::format("{}{} {}by {} {}", joint, of_waiting(cause.cost()),
                          i == 0 ? "of it caused " : "", name_of(cause, names_),
                          on_places(cause.shares, findings_, names_));
      text += uncertain(cause);
      if (cause.through_s >= kWorthSaying * cause.cost_s) {
        text +=
            fmt::format(" ({} of it through {}, which waits for it)",
                        percent(Proportion::of(Amount<OwnWaiting>(cause.through_s), cause.cost())),
                        names_.region(cause.through));
      }
    }
    return text;
  }

  /// Too few samples to be sure of the name.
  std::string uncertain(const Cause& cause) const {
    uint64_t sum = 0;
    for (CallPathId path : cause.callpaths) {
      const std::optional<uint64_t> samples = evidence_.samples(path);
      if (!samples) return "";
      sum += *samples;
      if (sum >= kHandful) return "";
    }
    return fmt::format(" (uncertain: {})", sum == 0 ? "no samples" : counted(sum, "sample"));
  }

  /// Of the first cause, if most of it lies at one call path of which that is known.
  std::string load_moves() const {
    const Cause& cause = verdict_.causes.front();
    if (cause.shares.size() < 2 || cause.costliest_s < kMostOfIt * cause.cost_s) return "";
    for (const blame::FoundDistribution& row : findings_.distributions) {
      if (row.callpath != cause.costliest || row.course != blame::Course::moving) continue;
      return findings_.run.ranks > 1
                 ? " The imbalance moves: different ranks are late at different times."
                 : " The imbalance moves: different threads are late at different times.";
    }
    return "";
  }

  std::string rest_unknown() const {
    // Calls that could not return are named before the verdict.
    const Amount<OwnWaiting> unknown =
        Amount<OwnWaiting>(findings_.identities.unattributed_s) - unanswered_;
    if (unknown < kWorthSaying * blame::own_waiting(findings_)) return "";
    return fmt::format(" For {} of the waiting no cause was found.", of_waiting(unknown));
  }

  std::string spread() const {
    const Cause& top = verdict_.causes.front();
    std::string text =
        fmt::format("No single function stands out among {}: {} causes most, {} of it.",
                    counted(known_, "function"), name_of(top, names_), of_waiting(top.cost()));
    if (verdict_.common.example.valid() && verdict_.common.cost_s > 2 * top.cost_s) {
      text +=
          fmt::format(" {} and all that it calls cause {}.", names_.code(verdict_.common.example),
                      of_waiting(Amount<OwnWaiting>(verdict_.common.cost_s)));
    }
    return text + rest_unknown();
  }

  const Findings& findings_;
  const PageNames& names_;
  const TimeFormat time_;
  const Evidence evidence_;
  size_t known_ = 0;
  Amount<OwnWaiting> unanswered_;
  Verdict verdict_;
};

}  // namespace

std::string_view to_string(VerdictKind kind) {
  constexpr std::string_view kNames[] = {
      "nothing", "stuck",  "oversubscribed", "start_up", "hardly_any_waiting",
      "cause",   "spread", "unknown"};
  return kNames[static_cast<size_t>(kind)];
}

Verdict judge(const Findings& findings, const PageNames& names) {
  Verdict verdict;
  switch (findings.run.operation) {
    case blame::Operation::diff:
      verdict.text = change_sentence(findings);
      return verdict;
    case blame::Operation::model:
      verdict.text = model_sentence(findings);
      return verdict;
    case blame::Operation::cut:
      return Judge(findings, names).judge_cut();
    case blame::Operation::none:
    case blame::Operation::mean:
    case blame::Operation::merge:
    case blame::Operation::what_if:
    case blame::Operation::periods:
      break;
  }
  return Judge(findings, names).judge();
}

}  // namespace culprit::report
