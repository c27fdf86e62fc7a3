// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The changes with which a run is executed again, in the user's words and as a pace. Call paths are
// chosen by globs of whole paths (base/glob.h), or of the name of a function if there is no slash
// in them; what they call goes with them. Assumption: whatever is not changed keeps its pace.
// Memory, caches and cores are shared, so a real run may be slower or faster.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/machine/perturbation.h"
#include "predict/rerun/execute.h"
#include "predict/rerun/share/spread.h"

namespace culprit::predict {

struct Scaling {
  std::string callpaths;  ///< a glob
  double factor = 1;
  /// Also change the time of MPI calls, barriers and locks themselves, which otherwise is not taken
  /// for code.
  bool with_calls = false;
};

struct Scenario {
  std::vector<Scaling> scalings;
  std::vector<std::string> balanced;  ///< globs: each is spread evenly over who could share it
  std::optional<Over> over;           ///< who that is; none: as the run and the code have it
  std::set<uint32_t> ranks, threads;  ///< whose work is scaled; empty: all
  double latency = 1;                 ///< factor on what small messages take
  double bandwidth = 1;               ///< factor; what data takes is divided by it
  double kernels = 1;                 ///< factor on all kernels' time
  double launch_latency = 1;          ///< factor on what operations take to begin
  std::optional<LockOrder> locks;     ///< none: the one that suits the recorded run
  Perturbation perturbation;          ///< on links that it knows, the factors above hold for those
  unsigned repeats = 20;              ///< with other random numbers, if there are any
  uint64_t seed = 1;

  bool changes_anything() const;
  bool is_random() const;
};

/// What steps take instead, in nanoseconds, by their place; kAsItWas: what else the pace says. By
/// LocationId, null where nothing does.
using OtherTimes = std::vector<std::unique_ptr<Column<double>>>;

/// A scenario, as execute() takes it. Refers to itself: not to be copied.
struct Change {
  Pace pace;
  std::vector<std::vector<double>> factors;
  OtherTimes times;
  /// Links of the run's messages that a change of machines does not know: these stay as they were.
  std::set<LinkKind> unknown_links;
};

/// Error if a glob fits no call path, or there are no such ranks, threads or devices.
Result<std::unique_ptr<Change>> plan(const Scenario& scenario, const replay::Run& run,
                                     const EventGraph& graph);

/// Whether a location has work at one of these call paths.
bool works_at(const EventGraph& graph, LocationId id, const std::vector<bool>& paths);

/// Those of a location: what its steps took, where there were none.
Column<double>& other_times(const EventGraph& graph, LocationId id,
                            std::unique_ptr<Column<double>>& times);

/// Returns whether the time at this call path is code that can be changed: no call of MPI, no
/// barrier, no lock.
bool is_code(const replay::Run& run, CallPathId path);

/// The locations that share work to be balanced.
struct Sharers {
  std::vector<LocationId> members;
  Over over = Over::ranks;
};

/// What must be known of all ranks' locations to say who could share work.
struct Population {
  std::vector<LocationId> locations;  ///< that are analysed, in order
  std::vector<bool> in_teams;         ///< by place in `locations`
};
/// Collective.
Population population_of(const replay::Run& run);

/// Returns the locations that could share the work of these locations (sorted).
Sharers sharers_of(const replay::Run& run, const Population& all,
                   const std::vector<LocationId>& working, Over over);

bool inside_parallel_region(const replay::Run& run, CallPathId path);

/// The time at these call paths, spread evenly over the members (share/spread.h). Who does nothing
/// there in a phase gets its share at the phase's end: what it does last takes longer.
void balance(const replay::Run& run, const EventGraph& graph, std::vector<CallPathId> paths,
             Sharers sharers, OtherTimes& times);

}  // namespace culprit::predict
