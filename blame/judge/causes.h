// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who is to blame, function by function. Delays come by call path and location; a function that is
// called from a hundred places on a hundred ranks is still one thing that somebody can change. So
// their costs are summed by function. Nothing gets lost: all causes together cost what the delays
// cost that are not start-up.
//
// Where a function recurses, its depth is no difference: what lies below its outermost call counts
// as its own, but for one function below that carries half of it or more. A function recurses if
// half of what lies below it, or more, lies below a call of it inside another.
//
// A call that waits (of MPI, a barrier) is nobody's code. Where the delaying call itself spent most
// of its time waiting and it is known for what, the cost goes on to that code, and on behind that
// if it waits, too: `through` names the call.
#pragma once

#include <string_view>
#include <vector>

#include "blame/amount.h"
#include "blame/judge/summary.h"

namespace culprit::blame {

struct Cause {
  CallPathId example;         ///< its costliest call path; of what recurses, the outermost call
  bool with_callees = false;  ///< it recurses: includes what it calls
  double cost_s = 0;
  std::vector<Share> shares;  ///< largest first
  std::vector<CallPathId> callpaths;
  CallPathId costliest;    ///< the call path with the largest part ...
  double costliest_s = 0;  ///< ... and that part
  CallPathId through;      ///< a waiting call behind which this was found; none: direct
  double through_s = 0;    ///< of cost_s, behind such calls

  Amount<OwnWaiting> cost() const { return Amount<OwnWaiting>(cost_s); }
};

/// Largest first.
std::vector<Cause> causes(const Findings& findings);

/// Of waits of this pattern alone, not followed any further. Largest first.
std::vector<Cause> causes_of(const Findings& findings, std::string_view pattern);

/// Of each cause its call paths: what is changed together where the cause is changed.
std::vector<std::vector<CallPathId>> callpaths_of_causes(const Findings& findings);

/// The most special function in which, with all that it calls, at least half of all costs arise.
/// No call path if there is none below the roots.
struct CommonCaller {
  CallPathId example;
  double cost_s = 0;
};
CommonCaller common_caller(const Findings& findings);

/// The time of its caller in a call of the system that slept: a part of that function.
bool is_in_call_of_system(const FoundCallPath& path);

/// A call whose purpose is to wait for others, or to be waited in.
bool waits_for_others(std::string_view region);

}  // namespace culprit::blame
