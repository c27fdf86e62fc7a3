// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The order of the questions is that of their weight: each can make all that follow meaningless.
// Thresholds are at the top.
#include "report/verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "blame/profile/start_up.h"
#include "report/verdict/apart/failure.h"
#include "report/verdict/apart/polling.h"
#include "report/verdict/apart/progress.h"
#include "report/verdict/apart/start_up.h"
#include "report/verdict/change_words.h"
#include "report/verdict/gains.h"
#include "report/verdict/model_words.h"
#include "report/verdict/savings.h"
#include "report/verdict/stuck.h"
#include "report/verdict/words.h"
#include "report/words/layout.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Findings;
using blame::OwnAllocation;
using blame::OwnWaiting;
using blame::Proportion;

constexpr double kMostOfIt = 0.5;
constexpr double kWorthSaying = 0.1;   ///< of a whole
constexpr double kTie = 0.9;           ///< of the larger cost
constexpr double kSavesMore = 1.3;     ///< times
constexpr double kMuchMore = 2;        ///< than waiting: then another class of time is named
constexpr double kWorthARival = 0.02;  ///< of the run: less is no reason to speak of it first

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
    const bool by_start_up = blame::is_of_start_up(findings, row);
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

/// Returns the words on waiting in the remaining part of a cut, without start-up and shutdown.
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

/// The sentence as the rest of another one.
std::string in_sentence(std::string sentence) {
  constexpr std::string_view kStartUp = "Start-up";
  if (sentence.starts_with(kStartUp)) sentence.front() = 's';
  return sentence;
}

/// Returns the gain of the run without its costliest cause.
double gain_of_cause(const std::vector<blame::Cause>& causes, const Findings& findings) {
  if (causes.empty()) return 0;
  const blame::FoundFunctionGain* const row = gain_of(findings, causes.front());
  if (row != nullptr) return std::max(row->gain_s, 0.0);
  return causes.front().cost_s / std::max(1.0, static_cast<double>(findings.run.locations) - 1);
}

bool is_efficient(const Findings& findings) {
  for (const blame::FoundEfficiency& row : findings.efficiencies) {
    if (row.name == blame::Factor::parallel) return row.value >= kEfficient;
  }
  return true;
}

/// A call of MPI that is late itself (its partner computes, or has no core) is nothing to change.
/// What saves time by a change comes before it, if it costs nearly as much: it is what the list of
/// savings begins with.
void put_changeable_first(const Findings& findings, std::vector<blame::Cause>& causes) {
  if (causes.empty()) return;
  const blame::FoundCallPath& first = findings.callpaths[causes.front().example.index()];
  if (!is_of(first, trace::Paradigm::mpi) || gain_of(findings, causes.front()) != nullptr) return;
  const auto better = std::find_if(causes.begin(), causes.end(), [&](const blame::Cause& cause) {
    const blame::FoundFunctionGain* const row = gain_of(findings, cause);
    return row != nullptr && row->gain_s > 0;
  });
  if (better != causes.end()) std::rotate(causes.begin(), better, better + 1);
}

/// Of causes that cost about the same, first the one whose change saves much more.
void put_best_of_ties_first(const Findings& findings, std::vector<blame::Cause>& causes) {
  const auto saved_s = [&](const blame::Cause& cause) {
    const blame::FoundFunctionGain* const row = gain_of(findings, cause);
    return row != nullptr ? row->gain_s : 0;
  };
  for (size_t i = 1; i < causes.size(); ++i) {
    const bool is_tie = causes[i].cost_s >= kTie * causes.front().cost_s;
    if (!is_tie || saved_s(causes[i]) < kSavesMore * saved_s(causes.front())) continue;
    if (saved_s(causes[i]) <= 0) continue;
    std::rotate(causes.begin(), causes.begin() + static_cast<ptrdiff_t>(i),
                causes.begin() + static_cast<ptrdiff_t>(i) + 1);
  }
}

/// Of a program that failed, but was measured as a whole.
void put_first(const std::string& failure, Verdict& verdict) {
  if (verdict.text.empty()) verdict.kind = VerdictKind::failed;
  verdict.text = failure + (verdict.text.empty() ? "" : ' ' + verdict.text);
}

struct Sentence {
  VerdictKind kind;
  std::string text;
};

/// That cores were taken says nothing of the program: the next sentence does, in the same breath.
/// Where that is of the cause, its gain is left out, which the list of savings has.
void join_disturbance(const VerdictWords& words, std::vector<Sentence>& sentences) {
  if (sentences.size() < 2) return;
  Sentence& first = sentences.front();
  Sentence& next = sentences[1];
  const bool is_disturbance =
      first.kind == VerdictKind::disturbed || first.kind == VerdictKind::oversubscribed;
  const bool says_nothing =
      next.kind == VerdictKind::hardly_any_waiting || next.kind == VerdictKind::nothing;
  if (!is_disturbance || says_nothing) return;
  if (next.kind == VerdictKind::cause && next.text == words.waiting()) {
    first.text = words.disturbed_cause();
    return;
  }
  first.text.pop_back();
  first.text += "; still, " + in_sentence(std::move(next.text));
  sentences.erase(sentences.begin() + 1);
}

class Judge {
 public:
  Judge(const Findings& findings, const PageNames& names)
      : findings_(findings),
        names_(names),
        time_(findings.run.wall_s),
        failure_(failure_of(findings, time_)),
        words_(findings, names, verdict_) {}

  Verdict judge() {
    verdict_.cores = core_shortage(findings_);
    verdict_.audit = audit(findings_);
    verdict_.lost = lost_tiles(findings_);
    verdict_.rivals = rivals(findings_, names_, time_);
    unanswered_ = own_unanswered_waiting(findings_);
    look_at_waiting();
    collect();
    join_disturbance(words_, sentences_);
    if (!sentences_.empty()) {
      verdict_.kind = sentences_.front().kind;
      verdict_.text = std::move(sentences_.front().text);
    }
    for (size_t i = 1; i < sentences_.size(); ++i) {
      verdict_.more.push_back(std::move(sentences_[i].text));
    }
    if (verdict_.judges_speed()) {
      verdict_.savings = savings(verdict_, findings_, names_, time_);
      const std::vector<std::string> details = words_.details();
      verdict_.more.insert(verdict_.more.end(), details.begin(), details.end());
    }
    if (verdict_.text.empty() && !verdict_.more.empty()) {
      verdict_.text = verdict_.more.front();
      verdict_.more.erase(verdict_.more.begin());
    }
    verdict_.warning = words_.warning(unanswered_);
    if (failure_.is_end) put_first(failure_.text, verdict_);
    return std::move(verdict_);
  }

  /// Waits and causes that are left need not belong together.
  Verdict judge_cut() {
    verdict_.text = waiting_in_cut(findings_);
    const Amount<OwnWaiting> caused = blame::own_waiting(findings_);
    if (caused.seconds() <= 0) return std::move(verdict_);
    name_causes(caused);
    verdict_.kind = verdict_.waiting;
    if (!verdict_.text.empty()) verdict_.text += ' ';
    verdict_.text +=
        fmt::format("They cause {} of waiting, wherever{}.", time_(caused.seconds()),
                    verdict_.waiting == VerdictKind::cause ? ", " + words_.caused_by() : "");
    return std::move(verdict_);
  }

 private:
  void say(VerdictKind kind, std::string text) {
    if (!text.empty()) sentences_.push_back({kind, std::move(text)});
  }

  /// Collects all candidates for the sentence, in order of weight.
  void collect() {
    const bool failed = !failure_.text.empty() && !failure_.is_end;
    if (failed) say(VerdictKind::failed, failure_.text);
    const bool hangs =
        unanswered_.seconds() > 0 && unanswered_ >= kMostOfIt * blame::own_waiting(findings_);
    if (hangs) {
      say(VerdictKind::stuck, hung_sentence(findings_, names_));
    }
    if (hangs || failed) return;
    const bool disturbed = verdict_.cores.disturbed();
    if (disturbed || verdict_.cores.comes_first()) {
      say(disturbed ? VerdictKind::disturbed : VerdictKind::oversubscribed, words_.disturbed());
    }
    if (unexplained_comes_first(verdict_, findings_)) {
      say_rivals(verdict_.audit.unexplained.value() * findings_.run.wall_s);  // these explain more
      say(VerdictKind::unexplained, unexplained_sentence(verdict_.audit, findings_, names_, time_));
    }
    if (find_diagnosis(findings_, blame::Diagnosis::start_up) != nullptr) {
      say(VerdictKind::start_up, start_up_first(findings_, time_));
    }
    const auto skew = [&](SkewOrder turn) {
      return start_skew_sentence(findings_, turn, verdict_.causes, names_, time_);
    };
    say(VerdictKind::start_up, skew(SkewOrder::first));
    const Progress progress = progress_verdict(findings_, names_, time_);
    if (progress.is_most) say(VerdictKind::cause, progress.text);
    collect_gains();
    if (!progress.is_most) say(VerdictKind::cause, progress.text);
    say(VerdictKind::start_up, skew(SkewOrder::later));
  }

  /// Adds the remaining rivals that would gain more than `least_s`, and more than the cause, unless
  /// the cause exists because of them.
  void say_rivals(double least_s) {
    const double cause_s = gain_of_cause(verdict_.causes, findings_);
    least_s = std::max(least_s, kWorthARival * findings_.run.wall_s);
    for (; rivals_said_ < verdict_.rivals.size(); ++rivals_said_) {
      const Rival& rival = verdict_.rivals[rivals_said_];
      if (rival.gain_s <= std::max(least_s, rival.explains_waiting ? 0 : cause_s)) return;
      say(VerdictKind::rival, rival.text);
    }
  }

  /// Collects the changes with a gain, largest first.
  void collect_gains() {
    say_rivals(0);
    const bool hardly = verdict_.waiting == VerdictKind::hardly_any_waiting ||
                        verdict_.waiting == VerdictKind::nothing;
    if (const TileTotal* lost = lost_first(); lost != nullptr) {
      if (hardly) verdict_.waiting = VerdictKind::other_time;
      const bool polls = lost->tile == blame::Tile::polling;
      std::string cause = polls ? polling_verdict(findings_, names_) : "";
      say(VerdictKind::other_time,
          cause.empty() ? tile_sentence(*lost, findings_, names_) : std::move(cause));
    }
    if (verdict_.waiting != VerdictKind::other_time) say(verdict_.waiting, words_.waiting());
    for (; rivals_said_ < verdict_.rivals.size(); ++rivals_said_) {
      say(VerdictKind::rival, verdict_.rivals[rivals_said_].text);
    }
  }

  /// The largest class of time that deserves to be named before waiting is. Start-up and
  /// unexplained MPI time are reported separately.
  const TileTotal* lost_first() const {
    const double whole_s = blame::own_allocation(findings_).seconds();
    const bool hardly = verdict_.waiting == VerdictKind::hardly_any_waiting ||
                        verdict_.waiting == VerdictKind::nothing;
    for (const TileTotal& total : verdict_.lost) {
      if (total.tile == blame::Tile::start_up) continue;
      if (total.tile == blame::Tile::mpi && unexplained_comes_first(verdict_, findings_)) {
        continue;  // reported separately
      }
      if (hardly) {
        return is_efficient(findings_) || total.time_s < kHardlyAny * whole_s ? nullptr : &total;
      }
      const double waiting_s = blame::own_waiting(findings_).seconds();
      const bool is_lost = total.tile == blame::Tile::mpi || total.tile == blame::Tile::overhead ||
                           total.tile == blame::Tile::io || total.tile == blame::Tile::blocked;
      if (!is_lost) continue;
      const bool much =
          total.time_s >= kWorthSaying * whole_s && total.time_s >= kMuchMore * waiting_s;
      return much ? &total : nullptr;
    }
    return nullptr;
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

  /// Names the causes of this amount of waiting.
  void name_causes(Amount<OwnWaiting> waiting) {
    std::vector<blame::Cause> list = causes(findings_);
    verdict_.known_causes = list.size();
    if (list.empty()) {
      verdict_.waiting = VerdictKind::unknown;
      return;
    }
    const bool one_stands_out = list.front().cost() >= kNamedCause * waiting;
    verdict_.waiting = one_stands_out ? VerdictKind::cause : VerdictKind::spread;
    const Amount<OwnWaiting> first = list.front().cost();
    const Amount<OwnWaiting> least =
        one_stands_out ? std::max(kNamedCause * waiting, kNearlyAsMuch * first) : first;
    for (blame::Cause& cause : list) {
      if (verdict_.causes.size() == kMostCauses || cause.cost() < least) break;
      verdict_.causes.push_back(std::move(cause));
      if (!one_stands_out) break;
    }
    if (!one_stands_out) verdict_.common = common_caller(findings_);
    if (one_stands_out) {
      put_best_of_ties_first(findings_, verdict_.causes);
      put_changeable_first(findings_, verdict_.causes);
    }
  }

  const Findings& findings_;
  const PageNames& names_;
  const TimeFormat time_;
  const Failure failure_;
  size_t rivals_said_ = 0;  ///< of verdict_.rivals
  Amount<OwnWaiting> unanswered_;
  std::vector<Sentence> sentences_;
  Verdict verdict_;
  const VerdictWords words_;  ///< of verdict_
};

}  // namespace

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
