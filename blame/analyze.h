// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From a trace to findings: the one call that the command line makes. Replay (replay/) finds wait
// states and synchronisation points; the explanations (blame/) find their causes.
#pragma once

#include "base/losses.h"
#include "base/ranks/transport.h"
#include "base/result.h"
#include "blame/findings/findings.h"
#include "blame/passes.h"
#include "replay/model/run.h"
#include "replay/model/waits.h"
#include "trace/source.h"

namespace culprit::blame {

/// An observer sees more of a run than its findings, and adds to these.
class Observer {
 public:
  virtual ~Observer() = default;
  /// If so, it is left out where several ranks share the run. Otherwise each of them has one, whose
  /// calls are collective; complete findings, to which it adds, are the first rank's.
  virtual bool needs_whole_run() const { return true; }
  /// Called when the times of events are settled and timelines still hold the operations that
  /// detectors use up. The allowance holds for each of the two calls.
  virtual void at_operations(const replay::Run&, const Allowance&) {}
  /// Called when the findings are complete and in order.
  virtual void at_end(const replay::Run&, const replay::WaitGraph&, Findings&) {}
};

struct AnalyzeOptions {
  unsigned threads = 0;  ///< 0: all cores
  uint64_t memory = 0;   ///< bytes that it may take; 0: what is free
  DisabledPasses disabled = {};
  /// If true, only the last late location is to blame for a wait, as in the thesis, however late
  /// others were.
  bool last_alone = false;
  bool verify =
      false;  ///< look at what each pass left; what is broken is in Identities::violations
  /// The other analysis ranks, all of which analyse the same trace. Null: there are none. If there
  /// are any, the caller must catch exceptions (out of memory) and make all ranks give up.
  Transport* ranks = nullptr;
  Observer* observer = nullptr;
  double allowance = 1;  ///< for tests: Allowance::scale
};

/// Analyses a whole trace. Fills everything of Findings but the parts of `run` that the trace does
/// not know (command, date, overhead, notes). `losses` are those of opening the trace; they are
/// merged in. Error if nothing can be analysed (no location has an event), or if the trace is too
/// large for the memory.
Result<Findings> analyze(const trace::Source& source, const AnalyzeOptions& options,
                         const Losses& losses);

}  // namespace culprit::blame
