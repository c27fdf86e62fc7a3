// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Did the threads have cores, and if not, which programs had them? A runnable thread without a core
// delays all threads that wait for it, at places that change from run to run; no other result of a
// report is reliable until there are enough cores. The exception are waiting threads without a
// core: calls that spin while they wait compete with each other for the cores, and delay no thread.
// The system's data are per process: a process whose threads lacked a core for longer than they
// waited, started and ended lacked it in its work, too.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::report {

/// From this part of the allocated time without a core on, it is said.
inline constexpr double kCoresMatter = 0.05;
/// From this part of the time in which threads could run on, the lack of cores has disturbed the
/// measurement: rarely does a machine do nothing else at all.
inline constexpr double kDisturbs = 0.1;
/// Shorter runs cannot be judged: the system counts other programs in hundredths of a second.
inline constexpr double kLeastDisturbance_s = 0.1;

struct CoreShortage {
  bool known = false;  ///< for at least one process
  double share = 0;    ///< of the time in which threads could run: they had no core
  double core_wait_s = 0;
  double working_s = 0;    ///< part of core_wait_s, at least, outside of waiting and of start-up
  double at_work_s = 0;    ///< likewise, if what waiting leaves was spread evenly over the rest
  double allocated_s = 0;  ///< to the threads that are known; others may have lacked a core, too
  std::string node;        ///< where it was worst; the next three are of it
  size_t processes = 0;
  size_t threads = 0;
  size_t cores = 0;       ///< that these processes might use; 0: unknown
  double runnable_s = 0;  ///< threads had a core or lacked one
  double outside_s = 0;   ///< part of core_wait_s for the sake of what is not the program
  std::vector<blame::FoundCoreTaker> takers;  ///< of all nodes; who took most first

  double own_wait_s() const { return core_wait_s - outside_s; }
  bool matters() const { return known && own_wait_s() >= kCoresMatter * allocated_s; }
  /// Before all else: it delayed work.
  bool comes_first() const {
    return matters() && working_s - outside_s >= kCoresMatter * allocated_s &&
           own_wait_s() >= kDisturbs * runnable_s;
  }
  /// A waiting thread needs no core: the rest of the time in which threads could run, ...
  double work_s() const { return runnable_s - (core_wait_s - at_work_s); }
  /// ... and the part of it without a core because of other programs.
  double outside_work_s() const { return std::min(outside_s, at_work_s); }
  bool disturbed() const {
    return known && outside_work_s() >= kLeastDisturbance_s &&
           outside_work_s() >= kDisturbs * work_s();
  }
  bool too_many_threads() const { return cores > 0 && threads > cores; }
};

CoreShortage core_shortage(const blame::Findings& findings);

/// "stress (4711) took cores for 43 % of the time", of that in which threads could run and did not
/// wait; "" unless the run was disturbed.
std::string taker_words(const CoreShortage& shortage);

/// Most of the time without a core is due to a binding to fewer cores than there are.
bool is_bound(const CoreShortage& shortage);

/// "with mpirun --bind-to none": continues "re-run", against the part that the run took from
/// itself.
std::string own_core_remedy(const CoreShortage& shortage, const blame::Findings& findings);

/// The same against the larger part: other programs', if these disturbed the run.
std::string core_remedy(const CoreShortage& shortage, const blame::Findings& findings);

/// "2 ranks with 4 threads bound to 1 core".
std::string bound_words(const CoreShortage& shortage, const blame::Findings& findings);

/// "4 ranks on 2 cores had no core for 49 % of the time", likewise.
std::string core_words(const CoreShortage& shortage, const blame::Findings& findings);

/// "4 ranks shared 2 cores: ..."; "" unless it matters. What it says of other sentences depends on
/// whether it comes first.
std::string core_sentence(const CoreShortage& shortage, const blame::Findings& findings);

}  // namespace culprit::report
