// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which functions are to blame. Delays are listed by call path and location; a function that is
// called from a hundred places on a hundred ranks is still one thing that a developer can change.
// So their costs are summed by function. Nothing is lost: the costs of all causes add up to those
// of all delays except start-up.
//
// For a recursive function the depth makes no difference: all costs below its outermost call count
// as its own, unless one function below carries half of them or more. A function is recursive if at
// least half of the costs below it lie below nested calls of it.
//
// Where a function is called by several, and only some of them make others wait by it, its costs
// are its callers' (shared_functions.h).
//
// A call that waits (MPI, a barrier) is not code that can be changed. Where the delaying call
// itself spent most of its time waiting and the cause is known, the cost is redirected to that
// code, and further if that waits, too: `through` names the call. A device that has nothing to do
// waits likewise, for the code that its process executes instead of handing work over.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "blame/amount.h"
#include "blame/judge/functions.h"
#include "blame/judge/summary.h"

namespace culprit::blame {

struct Cause {
  CallPathId example;         ///< its costliest call path; of what recurses, the outermost call
  bool with_callees = false;  ///< it recurses: includes what it calls
  CallPathId callee;          ///< a function that it and others call, in which most of it arises
  double cost_s = 0;
  std::vector<Share> shares;  ///< largest first
  std::vector<CallPathId> callpaths;
  CallPathId costliest;        ///< the call path with the largest part ...
  double costliest_s = 0;      ///< ... and that part
  CallPathId through;          ///< a waiting call behind which this was found; none: direct
  double through_s = 0;        ///< of cost_s, behind such calls
  std::vector<double> values;  ///< of the delays' values, if there are any

  Amount<OwnWaiting> cost() const { return Amount<OwnWaiting>(cost_s); }
};

/// Largest first.
std::vector<Cause> causes(const Findings& findings);

/// The same for delays that have further values, by row: these are passed on, split and summed as
/// the row's cost is. Each row has as many.
std::vector<Cause> causes(const Findings& findings,
                          std::span<const std::vector<double>> values_of_delays);

/// Returns causes for waits of this pattern only, without redirection. Largest first.
std::vector<Cause> causes_of(const Findings& findings, std::string_view pattern);

/// Returns the call paths of each cause: a change of the cause changes all of them.
std::vector<std::vector<CallPathId>> callpaths_of_causes(const Findings& findings);

/// The most special function in which, with all that it calls, at least half of all costs arise.
/// No call path if there is none below the roots.
struct CommonCaller {
  CallPathId example;
  double cost_s = 0;
};
CommonCaller common_caller(const Findings& findings);

/// Returns whether the purpose of a call is to wait for others.
bool waits_for_others(const FoundCallPath& path);

}  // namespace culprit::blame
