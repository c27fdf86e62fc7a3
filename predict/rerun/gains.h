// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much shorter the run would be without the delays that it is blamed for: the costliest call
// paths are balanced, or made faster where they cannot be, each by itself and all up to it
// together, and the run is executed again; likewise the costliest functions. A delay's cost says
// how much waiting it causes; this says what is gained, which is less where the next delay is
// already waiting behind it. So call paths that cost nothing are tried, too, where they are uneven.
#pragma once

#include <optional>
#include <vector>

#include "blame/analyze.h"
#include "blame/findings/findings.h"
#include "blame/judge/causes.h"
#include "predict/rerun/dependences.h"

namespace culprit::predict {

/// Fills Findings::gains and function_gains, by cost; `functions` are the call paths at which each
/// is to blame. Only code counts: calls of MPI and barriers cannot be changed. Fills nothing for a
/// run that lacks events, ended early or hung: the missing events might have been waited for.
/// Where several ranks analyse the run, the first has the findings and functions, and gets the
/// gains. Throws BudgetSpent, and has written nothing then. Collective.
void project_gains(const replay::Run& run, const replay::WaitGraph& graph, Dependences found,
                   const std::vector<std::vector<CallPathId>>& functions, unsigned threads,
                   Budget& budget, blame::Findings& findings);

/// Projects gains while a run is analysed, as far as they take no more than they may.
class GainObserver : public blame::Observer {
 public:
  /// `functions`: the call paths at which each is to blame, by what was found.
  using Functions = std::vector<std::vector<CallPathId>>(const blame::Findings&);
  explicit GainObserver(unsigned threads, Functions* functions = blame::callpaths_of_causes)
      : threads_(threads), functions_(functions) {}

  bool needs_whole_run() const override { return false; }
  void at_operations(const replay::Run& run, const blame::Allowance& allowance) override;
  void at_end(const replay::Run& run, const replay::WaitGraph& graph,
              blame::Findings& findings) override;

 private:
  const unsigned threads_;
  Functions* const functions_;
  blame::Allowance allowance_;
  std::optional<Dependences> found_;  ///< none: they were given up
};

}  // namespace culprit::predict
