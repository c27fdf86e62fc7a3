// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A verdict as data: the values behind its sentences, and the sentences (verdict.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blame/amount.h"
#include "blame/judge/causes.h"
#include "report/verdict/audit.h"
#include "report/verdict/cores.h"
#include "report/verdict/rivals.h"

namespace culprit::report {

/// Below this part of the (own) allocation time, waiting is not worth looking for a culprit.
inline constexpr double kHardlyAny = 0.02;
/// All is well only from this parallel efficiency on.
inline constexpr double kEfficient = 0.9;
/// A cause of at least this part of the (own) waiting is named.
inline constexpr double kNamedCause = 0.1;
/// ... and so are others, if they cost at least this part of what the first costs.
inline constexpr double kNearlyAsMuch = 0.5;
inline constexpr size_t kMostCauses = 3;

enum class VerdictKind {
  nothing,             ///< no thread waited at all, and there is nothing else to say
  failed,              ///< the program ended with an error
  stuck,               ///< most of the waiting is for calls that could not return
  disturbed,           ///< others took the cores of its threads: likewise
  oversubscribed,      ///< threads had no cores to work on: what follows is to be read with care
  unexplained,         ///< time is lost that nothing explains
  start_up,            ///< most of a long run
  rival,               ///< what is no waiting would bring most
  other_time,          ///< hardly any waiting, but much time is neither useful nor waiting
  hardly_any_waiting,  ///< less than kHardlyAny, and all is accounted for
  cause,               ///< one function, or a few
  spread,              ///< no function causes kNamedCause by itself
  unknown,             ///< of no part of the waiting the cause is known
};
std::string_view to_string(VerdictKind kind);

/// A change of the program, or of how it is run, with what it saves.
struct Saving {
  std::string_view kind;          ///< "function", "progress", "binding", or that of a diagnosis
  CallPathId callpath;            ///< none: it is about no code
  std::string what;               ///< "solve (a.c:3) on rank 1"
  std::string change;             ///< "balanced over 4 ranks"
  double gain_s = 0;              ///< of the run, if nothing else changes
  bool explains_waiting = false;  ///< as of Rival
};

struct Verdict {
  VerdictKind kind = VerdictKind::nothing;     ///< the first of these that holds
  VerdictKind waiting = VerdictKind::nothing;  ///< what is to be said of waiting, from `other_time`
  blame::Proportion waiting_share;             ///< of the own allocation time; unknown: no waiting
  std::vector<blame::Cause> causes;            ///< the named ones; of `spread` the costliest
  size_t known_causes = 0;                     ///< functions that cause any waiting
  blame::CommonCaller common;  ///< of `spread`: what they have in common, if anything
  CoreShortage cores;
  Audit audit;
  std::vector<TileTotal> lost;  ///< classes of time that are neither useful nor waiting
  std::vector<Rival> rivals;
  std::vector<Saving> savings;    ///< the largest first (savings.h)
  std::string text;               ///< the sentence; "" for nothing
  std::string warning;            ///< a sentence; "" if there is none
  std::vector<std::string> more;  ///< further sentences

  /// Nothing is said of the speed of a program that failed or hung.
  bool judges_speed() const { return kind != VerdictKind::failed && kind != VerdictKind::stuck; }
};

/// The costliest of the named ones, as a part of the own allocation time.
double largest_cause(const Verdict& verdict, const blame::Findings& findings);

/// Whether what is not explained is the first thing to say. It is not if it is a small part of the
/// time in MPI, where most of that is explained: by the amounts that the calls transfer.
bool unexplained_comes_first(const Verdict& verdict, const blame::Findings& findings);

}  // namespace culprit::report
