// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One sentence has 25 words or fewer where names are short; the rest goes into those that follow.
#include "report/verdict/words.h"

#include <fmt/format.h>

#include <optional>

#include "blame/judge/diagnose.h"
#include "blame/judge/summary.h"
#include "blame/profile/start_up.h"
#include "report/verdict/apart/locks.h"
#include "report/verdict/apart/polling.h"
#include "report/verdict/device_words.h"
#include "report/verdict/gains.h"
#include "report/verdict/places.h"
#include "report/verdict/when.h"
#include "report/words/estimates.h"
#include "trace/pseudo_regions.h"

namespace culprit::report {

using blame::Amount;
using blame::OwnWaiting;
using blame::Proportion;

namespace {

constexpr double kWorthSaying = 0.1;  ///< of a whole
constexpr double kMuchMore = 2;       ///< than the costliest function: its callers are named

std::string first_sentence(std::string_view text) {
  const std::string_view first = text.substr(0, text.find(". "));
  return fmt::format("{}.", first.substr(0, first.find_last_not_of('.') + 1));
}

}  // namespace

/// Returns the words on a part of the waiting.
std::string VerdictWords::of_waiting(Amount<OwnWaiting> part) const {
  return rounded(Proportion::of(part, blame::own_waiting(findings_)));
}

std::string VerdictWords::disturbed() const {
  const std::string who = verdict_.cores.disturbed() ? taker_words(verdict_.cores)
                                                     : core_words(verdict_.cores, findings_);
  return fmt::format("Disturbed: {}.", who);
}

std::string VerdictWords::disturbed_cause() const {
  std::string text = disturbed();
  text.pop_back();
  return fmt::format("{}; still, {}.", text, of_cause(verdict_.causes.front()));
}

std::string VerdictWords::waiting() const {
  switch (verdict_.waiting) {
    case VerdictKind::hardly_any_waiting:
      if (blame::lacks_waits_of_mpi(findings_)) {
        return fmt::format(
            "{} of the time is waiting, beside that in MPI, of which a profile knows "
            "nothing.",
            rounded(verdict_.waiting_share));
      }
      return fmt::format("Hardly any waiting: {} of the allocated time.",
                         percent(verdict_.waiting_share));
    case VerdictKind::cause: {
      const blame::Cause& cause = verdict_.causes.front();
      const std::string rests_on = estimate(cause);
      return of_cause(cause) + (rests_on.empty() ? "" : ": " + rests_on) +
             gain_in_short(findings_, cause, time_) + '.';
    }
    case VerdictKind::spread:
      return spread();
    case VerdictKind::unknown:
      return fmt::format("{} of the time is waiting; what caused it is not known.",
                         rounded(verdict_.waiting_share));
    default:
      return "";
  }
}

/// Returns the words on its part of the allocated time.
std::string VerdictWords::share_of(const blame::Cause& cause) const {
  const Amount<blame::OwnAllocation> whole = blame::own_allocation(findings_);
  const blame::FoundEstimate* found =
      find_estimate(findings_, blame::EstimatedFigure::cause, cause.costliest);
  if (found == nullptr || whole.seconds() <= 0) return rounded(Proportion::of(cause.cost(), whole));
  return with_interval(found->time_s / whole.seconds(), found->low_s / whole.seconds(),
                       found->high_s / whole.seconds());
}

/// Returns the words on its part of the waiting.
std::string VerdictWords::of_waiting(const blame::Cause& cause) const {
  const blame::FoundEstimate* found =
      find_estimate(findings_, blame::EstimatedFigure::cause, cause.costliest);
  return found == nullptr ? of_waiting(cause.cost())
                          : with_interval(found->share, found->share_low, found->share_high);
}

/// Returns the words on its part of the waiting, and on what that rests; "" if it is exact.
std::string VerdictWords::estimate(const blame::Cause& cause) const {
  const std::string windows = windows_in_words(findings_);
  return windows.empty() ? ""
                         : fmt::format("{} of the waiting, from {}", of_waiting(cause), windows);
}

/// Returns a clause without its end. A load that moves or takes turns has no place that is worth
/// naming.
std::string VerdictWords::of_cause(const blame::Cause& cause) const {
  const blame::FoundDistribution* const over = over_time(findings_, cause);
  const bool moves = over != nullptr && cause.shares.size() > 1;
  const bool in_order = moves && (over->movement == blame::Movement::moves ||
                                  over->movement == blame::Movement::turns);
  return fmt::format("{} of the time is waiting for {}{}{}{}{}", share_of(cause),
                     name_of(cause, names_), lock_words(cause, findings_, names_),
                     in_order ? "" : ' ' + on_places(cause.shares, findings_, names_),
                     moves ? movement_words(*over, findings_) : "",
                     over == nullptr ? "" : when_words(*over, findings_, time_));
}

std::string VerdictWords::spread() const {
  const blame::Cause& top = verdict_.causes.front();
  const std::string share = rounded(verdict_.waiting_share);
  if (verdict_.common.example.valid() && verdict_.common.cost_s > kMuchMore * top.cost_s) {
    return fmt::format("{} of the time is waiting; everything below {} causes {} of it.", share,
                       names_.code(verdict_.common.example),
                       of_waiting(Amount<OwnWaiting>(verdict_.common.cost_s)));
  }
  return fmt::format("{} of the time is waiting for {}; {} causes most, {} of it.", share,
                     counted(verdict_.known_causes, "function"), name_of(top, names_),
                     of_waiting(top));
}

/// Returns the words on what others wait for, as it waits itself.
std::string VerdictWords::through_words(CallPathId path) const {
  const trace::PseudoRegion* const pseudo =
      trace::pseudo_region(findings_.callpaths[path.index()].region);
  return pseudo != nullptr && !pseudo->words.empty() ? std::string(pseudo->words)
                                                     : names_.region(path);
}

std::string VerdictWords::caused_by() const {
  std::string text;
  for (size_t i = 0; i < verdict_.causes.size(); ++i) {
    const blame::Cause& cause = verdict_.causes[i];
    const std::string_view joint = i == 0 ? "" : i + 1 < verdict_.causes.size() ? ", " : " and ";
    text += fmt::format("{}{} {}by {} {}", joint,
                        percent(Proportion::of(cause.cost(), blame::own_waiting(findings_))),
                        i == 0 ? "of it caused " : "", name_of(cause, names_),
                        on_places(cause.shares, findings_, names_));
  }
  return text;
}

std::vector<std::string> VerdictWords::details() const {
  std::vector<std::string> list;
  for (size_t i = 1; i < verdict_.causes.size(); ++i) {
    list.push_back("Another " + of_cause(verdict_.causes[i]) + '.');
  }
  for (const blame::Cause& cause : verdict_.causes) {
    if (cause.through_s < kWorthSaying * cause.cost_s) continue;
    const Proportion part = Proportion::of(Amount<OwnWaiting>(cause.through_s), cause.cost());
    list.push_back(fmt::format("{} of the waiting for {} is through {}, which waits for it.",
                               rounded(part), name_of(cause, names_),
                               through_words(cause.through)));
  }
  if (verdict_.waiting == VerdictKind::spread && verdict_.common.example.valid()) {
    const blame::Cause& top = verdict_.causes.front();
    list.push_back(fmt::format("Of {}, {} causes most, {} of the waiting.",
                               counted(verdict_.known_causes, "function"), name_of(top, names_),
                               of_waiting(top)));
  }
  if (const std::string windows = windows_in_words(findings_);
      verdict_.waiting == VerdictKind::spread && !windows.empty()) {
    list.push_back(fmt::format("This is known from {}.", windows));
  }
  if (verdict_.waiting == VerdictKind::cause) {
    list.push_back(further_gains(findings_, verdict_.causes.front(), names_, time_));
  }
  list.push_back(polling_verdict(findings_, names_));
  list.push_back(device_verdict(findings_, names_));
  list.push_back(core_sentence(verdict_.cores, findings_));
  std::erase_if(list, [&](const std::string& sentence) {
    return sentence.empty() || verdict_.text.ends_with(sentence);
  });
  return list;
}

std::string VerdictWords::warning(Amount<OwnWaiting> unanswered) const {
  if (const std::string loss = blame::lost_records(findings_.losses); !loss.empty()) {
    return fmt::format("data loss ({}); the full report says what is missing.", loss);
  }
  if (std::string died = first_death(); !died.empty()) return died;
  if (!verdict_.judges_speed()) return gap();
  if (verdict_.cores.disturbed() || verdict_.cores.comes_first()) {
    return fmt::format("these figures may change: re-run {}.",
                       core_remedy(verdict_.cores, findings_));
  }
  if (verdict_.audit.matters() && verdict_.kind != VerdictKind::unexplained &&
      !unexplained_comes_first(verdict_, findings_)) {
    return unexplained_warning(verdict_.audit, findings_, names_);
  }
  if (std::string few = few_samples(); !few.empty()) return few;
  if (verdict_.cores.matters()) {
    return fmt::format("{}, mostly while busy-waiting; to be sure, re-run {}.",
                       core_words(verdict_.cores, findings_),
                       core_remedy(verdict_.cores, findings_));
  }
  const std::string unknown = without_cause(unanswered);
  return unknown.empty() ? gap() : unknown;
}

/// Returns the sentence on the process that died first, if the records tell.
std::string VerdictWords::first_death() const {
  const LossText& early = text(LossKind::early_ends);
  const auto loss = findings_.losses.all().find(early.id);
  if (loss == findings_.losses.all().end() || loss->second.advice == early.sentence) return "";
  return first_sentence(loss->second.advice);
}

/// The first gap of the result that is worth a warning. That a process ended early is one only if
/// there is no other: the rest of its run is known.
std::string VerdictWords::gap() const {
  const std::string_view early = text(LossKind::early_ends).id;
  std::string sentence;
  for (const auto& [name, loss] : findings_.losses.all()) {
    const bool other = sentence.empty() || name != early;
    if (loss.severity != Severity::warning || !other) continue;
    sentence = first_sentence(loss.advice);
    if (name != early) return sentence;
  }
  return sentence;
}

/// Too few to be sure of the first name.
std::string VerdictWords::few_samples() const {
  if (verdict_.causes.empty()) return "";
  uint64_t sum = 0;
  for (CallPathId path : verdict_.causes.front().callpaths) {
    const std::optional<uint64_t> samples = evidence_.samples(path);
    if (!samples) return "";
    sum += *samples;
    if (sum >= blame::kHandful) return "";
  }
  return fmt::format("{} rests on {}: run for longer, or with a higher --sampling.",
                     name_of(verdict_.causes.front(), names_),
                     sum == 0 ? "no samples" : counted(sum, "sample"));
}

std::string VerdictWords::without_cause(Amount<OwnWaiting> unanswered) const {
  const Amount<OwnWaiting> unknown =
      Amount<OwnWaiting>(blame::own_unattributed_s(findings_)) - unanswered;
  const bool hardly = verdict_.waiting == VerdictKind::hardly_any_waiting;
  if (hardly || unknown.seconds() <= 0 || unknown < kWorthSaying * blame::own_waiting(findings_)) {
    return "";
  }
  return fmt::format("for {} of the waiting no cause was found (reasons: in the full report).",
                     of_waiting(unknown));
}

}  // namespace culprit::report
