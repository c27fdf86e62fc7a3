// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a run comes to, in a sentence or two and as data: the first thing that a reader needs to
// know. In this order: threads that had no cores; a start that took longer than the work; whether
// there was any waiting to speak of; and who caused it (causes.h).
#pragma once

#include <string>
#include <vector>

#include "blame/amount.h"
#include "report/page/names.h"
#include "report/verdict/causes.h"
#include "report/verdict/cores.h"

namespace culprit::report {

/// Below this part of the (own) allocation time, waiting is not worth looking for a culprit.
inline constexpr double kHardlyAny = 0.02;
/// A cause of at least this part of the (own) waiting is named.
inline constexpr double kNamedCause = 0.1;
/// ... and so are others, if they cost at least this part of what the first costs.
inline constexpr double kNearlyAsMuch = 0.5;
inline constexpr size_t kMostCauses = 3;

enum class VerdictKind {
  nothing,             ///< nobody waited at all, and there is nothing else to say
  stuck,               ///< most of the waiting is for calls that could not return
  oversubscribed,      ///< threads had no cores to work on: what follows is to be read with care
  start_up,            ///< most of a long run
  hardly_any_waiting,  ///< less than kHardlyAny
  cause,               ///< one function, or a few
  spread,              ///< no function causes kNamedCause by itself
  unknown,             ///< of no part of the waiting the cause is known
};
std::string_view to_string(VerdictKind kind);

struct Verdict {
  VerdictKind kind = VerdictKind::nothing;     ///< the first of these that holds
  VerdictKind waiting = VerdictKind::nothing;  ///< what is to be said of waiting, from the fifth on
  blame::Proportion waiting_share;             ///< of the own allocation time; unknown: no waiting
  std::vector<Cause> causes;                   ///< the named ones; of `spread` the costliest
  CommonCaller common;  ///< of `spread`: what they have in common, if anything
  CoreShortage cores;
  std::string text;  ///< sentences; "" for nothing
};

Verdict judge(const blame::Findings& findings, const PageNames& names);

}  // namespace culprit::report
