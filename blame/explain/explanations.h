// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Explanations that go straight into findings: each reads what replay and the passes before it left
// (waits, delays, profiles) and fills lists of its own, in any order (join_findings.h). All are
// collective. explanations.def is the list of them.
#pragma once

#include "base/progress/budget.h"
#include "blame/collect/collect.h"

namespace culprit::blame {

struct Explained {
  const replay::Run& run;
  const replay::WaitGraph& graph;
  const Explanations& all;
  unsigned threads;
  Budget& budget;  ///< where it is spent, an explanation throws, and has written nothing
};

/// Blame shifting for idle threads, and the efficiencies that need it.
void explain_idle_threads(const Explained& given, Findings& found);
/// Blame shifting for threads that wait for locks.
void explain_locks(const Explained& given, Findings& found);
/// Messages that carry little information, and sweeps that turned, by corner (message_use.cpp).
void explain_messages(const Explained& given, Findings& found);
/// Who comes last to collective operations (arrivals.cpp).
void explain_arrivals(const Explained& given, Findings& found);
/// Classes of allocated time, and unexplained time (audit/audit.cpp).
void explain_audit(const Explained& given, Findings& found);
/// The locations that waited for the costliest delays.
void explain_victims(const Explained& given, Findings& found);
/// The longest waits of each pattern.
void explain_instances(const Explained& given, Findings& found);
/// How the costliest delays are distributed over locations and time.
void explain_distributions(const Explained& given, Findings& found);
/// Time and waiting in phases and iterations.
void explain_stages(const Explained& given, Findings& found);

}  // namespace culprit::blame
