// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The epochs of one process: the intervals between two calls in which it accesses other processes'
// windows, exposes its own, or holds locks. They contain all data that other processes need about
// them.
#pragma once

#include <span>
#include <vector>

#include "replay/model/run.h"

namespace culprit::replay {

/// An act with its call.
struct RmaCall {
  RmaFact fact;
  LocationId location;
  Call call;
  Time asked = Time::max();  ///< of one that was tested for in vain: since when
};

/// MPI_Win_start to MPI_Win_complete.
struct AccessEpoch {
  WindowId window;
  culprit::GroupId targets;
  size_t first, last;  ///< acts: from that of the start to that of the completion
  LocationId location;
  Call complete;
  Time last_access;  ///< when the last operation was left; if there is none, the start
};

/// MPI_Win_post to MPI_Win_wait.
struct ExposureEpoch {
  WindowId window;
  culprit::GroupId origins;
  LocationId posted_by, waited_by;
  Call post, wait;
  Time asked;  ///< as in RmaCall
};

/// MPI_Win_lock to MPI_Win_unlock.
struct LockEpoch {
  WindowId window;
  uint32_t target;  ///< as in RmaFact
  bool exclusive;
  size_t first, last;  ///< acts
  LocationId location;
  Call lock, unlock;
  Time released;  ///< about: when unlocking began, or ended if it may have taken the lock first
};

/// The epochs of one process; each list in order of time.
struct RmaEpochs {
  std::vector<RmaCall> acts;
  std::vector<AccessEpoch> accesses;
  std::vector<ExposureEpoch> exposures;
  std::vector<LockEpoch> locks;
};

/// Returns only completed epochs, and no locks with the assertion that no other process holds a
/// conflicting one.
RmaEpochs collect_epochs(const Run& run, ProcessId process);

/// Returns the rank that matches the epochs of a window: the owner of its members, or one of the
/// owners.
size_t matcher_of(const Run& run, WindowId window);

/// Sends the epochs of own processes to the ranks that match them, and receives others' into the
/// lists of their processes, which have no acts here, or, if asked for, those of accesses and
/// locks, one epoch after the other. `epochs`: by ProcessId. Collective.
enum class EpochActs : uint8_t { left_out, sent };
void exchange_epochs(const Run& run, std::vector<RmaEpochs>& epochs,
                     EpochActs acts = EpochActs::left_out);

struct EpochRef {
  ProcessId process;
  size_t epoch;
};

/// Of one window; each list by process, and then by time.
struct WindowEpochs {
  std::vector<EpochRef> accesses, exposures, locks;
};

/// Those of the windows that this rank matches, of all processes' epochs; by WindowId.
std::vector<WindowEpochs> epochs_by_window(const Run& run, const std::vector<RmaEpochs>& epochs);

/// An access of `origin` and the exposure of `target` that let it in: indices into theirs.
struct MetEpochs {
  ProcessId origin, target;
  size_t access, exposure;
};

/// The n-th access of an origin to a target matches the n-th exposure of that target to the origin.
/// Sorted by target and exposure.
std::vector<MetEpochs> meet_epochs(const Run& run, const std::vector<RmaEpochs>& epochs,
                                   const WindowEpochs& window);

/// Of the acts from `first` to `last` the one that was under way at `time`; nullptr: none.
const RmaCall* under_way(const RmaEpochs& epochs, size_t first, size_t last, Time time);

}  // namespace culprit::replay
