// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What replay and blame found in a run: plain data, and the only thing that report/ sees. It is
// kept as an SQLite file (report/db/findings_db.h) inside the experiment, so that `report` needs no
// trace. Times are seconds as double: costs are fractions. Two kinds never share a field:
// wall-clock time
// (`wall_s`, `critical_path_s`) and allocation time, summed over locations (everything else).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/losses.h"

namespace culprit::blame {

struct FoundLocation {
  std::string name;  ///< "rank.thread"
  uint32_t rank = 0;
  uint32_t thread = 0;
  std::string node;
  double life_s = 0;  ///< allocation time held
  double waiting_s = 0;
  std::string stream;  ///< of a device's stream: its name; empty for threads
};

struct FoundCallPath {
  std::string name;    ///< region names joined with '/'
  std::string region;  ///< the last of them
  std::string file;    ///< of the region, empty if unknown
  uint32_t line = 0;
  CallPathId parent = {};  ///< of a smaller number; none: a root
  bool start_up = false;   ///< inside of what starts or ends the program (start_up.h)
};

/// A process that was measured, and the cores it had.
struct FoundProcess {
  uint32_t rank = 0;
  std::string node;
  uint64_t cores = 0;       ///< that it might use; 0: unknown
  uint64_t node_cores = 0;  ///< that this run's processes on its node might use, together
  double on_core_s = 0;     ///< CPU time of all its threads
  double core_wait_s = 0;   ///< its threads could have run and had no core; negative: unknown
};

/// What starting up and shutting down cost: sums over rows whose call path says `start_up`, which
/// those tables and the other sums include.
struct StartUp {
  double wall_s = 0;      ///< of the critical path
  double activity_s = 0;  ///< allocation time in it, without waiting
  double waiting_s = 0;   ///< that it causes, wherever: a part of the delay costs
};

/// Waiting of one pattern at one call path and location. `pattern` is an id of patterns.def.
struct FoundWait {
  std::string pattern;
  CallPathId callpath;
  LocationId location;
  uint64_t count = 0;
  double time_s = 0;
  double indirect_s = 0;     ///< caused by other waits that propagated; the rest is direct
  double propagating_s = 0;  ///< causes further waits; the rest is terminal
};

/// What a late location's excess time at a call path is answerable for.
struct FoundDelay {
  std::string pattern;  ///< of the waits it causes
  CallPathId callpath;
  LocationId location;
  double short_s = 0;
  double long_s = 0;
};

/// Who waited for a delay: the victims of one delaying (call path, location), the largest first.
struct FoundVictim {
  CallPathId delay_callpath;
  LocationId delay_location;
  std::string pattern;
  CallPathId wait_callpath;
  LocationId wait_location;
  double time_s = 0;  ///< short-term cost
};

struct FoundCriticalPath {
  CallPathId callpath;
  LocationId location;
  double time_s = 0;
};

struct FoundCriticalCallPath {
  CallPathId callpath;
  double time_s = 0;       ///< on the path, all locations
  double imbalance_s = 0;  ///< iota: time on the path beyond the class's average
  double activity_s = 0;   ///< allocation time spent here without waiting
  double intra_s = 0;      ///< imbalance costs within the partition that executes it
  double inter_s = 0;      ///< on locations that never execute it
  double impact_s = 0;     ///< performance impact: activity_s + intra_s + inter_s
};

/// Allocation time at a call path and location, waiting included.
struct FoundProfile {
  CallPathId callpath;
  LocationId location;
  uint64_t visits = 0;
  double time_s = 0;
  uint64_t samples = 0;  ///< of the stack that found the location there
  double sampled_s = 0;  ///< of time_s, known from samples alone
};

struct FoundMetric {
  std::string name;
  std::string unit;    ///< empty for plain counts
  bool level = false;  ///< a height: its counts are maxima, not sums
};

/// What a counter counted at a call path and location, below which nobody knows more.
struct FoundCount {
  MetricId metric;
  CallPathId callpath;
  LocationId location;
  double value = 0;
  double time_s = 0;  ///< during which it counted
};

/// What code earned while other threads of its process had nothing to do (idle_blame.h).
struct FoundIdleBlame {
  CallPathId callpath;
  LocationId location;
  double time_s = 0;  ///< of idle threads
};

/// Idle threads' time in which no thread of theirs worked.
struct FoundNobody {
  LocationId location;  ///< the first of those threads
  std::string reason;   ///< "io", "mpi", "mpi_wait", "mutex", "device", "waking" or "absent"
  double time_s = 0;
};

/// Waiting for what another thread held, by that thread and the code in which it did
/// (lock_blame.h).
struct FoundLockBlame {
  std::string pattern;
  LocationId holder;
  CallPathId acquired;  ///< where it took the lock; none: unknown
  CallPathId released;  ///< where it gave it back; none: it never did
  CallPathId callpath;  ///< where it was waited for
  uint64_t count = 0;   ///< of waits
  double time_s = 0;
};

/// What a device did (device_use.h), of all processes that use it. Its gaps are idle_s = late_s +
/// latency_s + unknown_s.
struct FoundDevice {
  std::string name;
  std::string node;
  LocationId location;  ///< its first stream
  uint64_t streams = 0;
  uint64_t operations = 0;
  uint64_t copied_bytes = 0;
  uint64_t pageable_copies = 0;
  double busy_s = 0;        ///< with anything
  double kernels_s = 0;     ///< with kernels
  double copies_s = 0;      ///< with anything else
  double overlapped_s = 0;  ///< of copies_s, while kernels ran
  double idle_s = 0;        ///< in all gaps
  double late_s = 0;        ///< before launches: the host is late
  double tail_s = 0;        ///< of late_s, after its last operation
  double latency_s = 0;     ///< behind them
  double unknown_s = 0;     ///< it is not known who launched
};

using FoundDeviceId = Id<struct FoundDeviceTag>;

/// What a device did in one of equal parts of the run (device_course.h). Busy and idle times add up
/// to the part, as long as a process used the device.
struct FoundDeviceTime {
  FoundDeviceId device;  ///< its place in the list of devices
  double begin_s = 0;    ///< since the run's begin
  double end_s = 0;
  double busy_s = 0;       ///< with anything
  double kernels_s = 0;    ///< with kernels
  double late_s = 0;       ///< idle, as in FoundDevice
  double launching_s = 0;  ///< of late_s, while hosts were in calls that launch
  double latency_s = 0;
  double unknown_s = 0;
  CallPathId callpath = {};  ///< what hosts executed most in late_s
  double callpath_s = 0;     ///< of late_s
};

/// Of "idle device": what a host did while a device waited for its launch. Of "waiting host": what
/// streams executed while a host waited for the device.
struct FoundDeviceBlame {
  std::string kind;
  CallPathId callpath;
  LocationId location;
  double time_s = 0;
  double alone_s = 0;    ///< of it, while no other code was to blame
  double between_s = 0;  ///< of it, between a device's first and last operation
  /// The call path's on the critical path, on all locations: the same in all rows of a call path.
  /// With the launch latency before its operations; 0 for calls of MPI and of device runtimes.
  double critical_s = 0;
};

/// Calls that wait for a device.
struct FoundDeviceCall {
  CallPathId callpath;
  LocationId location;
  uint64_t count = 0;
  double time_s = 0;
  uint64_t redundant = 0;  ///< of them: there was nothing to wait for
  double redundant_s = 0;
};

/// What a stream executed. Launch-bound: latency_s is larger than time_s.
struct FoundDeviceOperation {
  CallPathId callpath;
  LocationId location;
  std::string kind = {};  ///< "kernel", "copy" or "other"
  uint64_t count = 0;
  double time_s = 0;
  double latency_s = 0;  ///< from when it could begin to its begin
  uint64_t bytes = 0;
  uint64_t pageable = 0;  ///< of count
};

/// Testing again and again for messages that had not been sent (mpi.polling): no waiting time,
/// since the thread may have worked between the tests.
struct FoundPolling {
  CallPathId callpath;
  LocationId location;
  uint64_t count = 0;  ///< of messages
  double time_s = 0;
};

/// Whose extra time the tests in these stretches were due to, as delays are of waits. What was done
/// between tests is not part of it.
struct FoundPollingCause {
  CallPathId callpath;
  LocationId location;
  double time_s = 0;
};

/// One factor of parallel efficiency, from 0 to 1. Each is the product of those below it
/// (efficiency.h).
struct FoundEfficiency {
  std::string name;    ///< "mpi.load_balance"
  std::string parent;  ///< what it is a factor of; empty for the root
  double value = 1;
};

/// One of the longest waits of its pattern.
struct FoundInstance {
  std::string pattern;
  CallPathId callpath;
  LocationId location;
  double begin_s = 0;  ///< since the run's begin
  double end_s = 0;
  double time_s = 0;  ///< of it spent waiting (tasks may run inside)
  LocationId cause_location;
  CallPathId cause_callpath;  ///< what that did most beyond the waiting one; may be unknown
  double indirect_s = 0;      ///< of time_s, because that one had to wait itself
};

/// How one of the costliest delays is distributed (distribution.h).
struct FoundDistribution {
  CallPathId callpath;
  double cost_s = 0;
  std::string shape;       ///< "single", "even", "overloaded minority", ...
  uint64_t locations = 0;  ///< that share the work
  uint64_t high = 0;       ///< of them in the highest group; 0 if there are no groups
  uint64_t low = 0;        ///< in the lowest
  std::string course;      ///< "burst", "steady" or "moving"
  double same_place = 1;   ///< part of the cost that is where it always is
};

struct FoundSegment {  ///< of the critical path, in time order
  LocationId location;
  CallPathId callpath;
  double begin_s = 0;  ///< since the run's begin
  double end_s = 0;
};

/// A phase that the program named, or one iteration of a loop that it named, over all its visits.
struct FoundStage {
  std::string kind;  ///< "phase" or "iteration"
  std::string name;
  int64_t number = 0;    ///< of the iteration
  uint64_t visits = 0;   ///< by all locations that told of it
  double time_s = 0;     ///< allocation time, of all threads of the processes that were in it
  double waiting_s = 0;  ///< of it
  double longest_s = 0;  ///< the longest visit ...
  LocationId longest_location;  ///< ... and whose it was
  double useful_s = 0;          ///< of time_s, spent in the program's own code
  double load_balance = 1;      ///< mean over processes of useful time a thread, to the largest
  double communication = 1;     ///< the largest, to the longest time of a process in it
};

struct FoundUnattributed {
  std::string pattern;  ///< mpi.polling: no waiting time
  std::string reason;
  double time_s = 0;
};

struct Identities {
  double waiting_s = 0;
  double delay_costs_s = 0;  ///< short- and long-term, without unattributed
  double unattributed_s = 0;
  double critical_path_s = 0;
  double wall_s = 0;
  double imbalance_costs_s = 0;
  double imbalance_unattributed_s = 0;  ///< waiting of locations wholly on the critical path
  double idle_s = 0;                    ///< of threads that belong to a crew (idle_blame.h)
  double idle_blame_s = 0;
  double idle_nobody_s = 0;
  double device_idle_s = 0;  ///< of devices, up to launches (device_use.h)
  double device_idle_blame_s = 0;
  double device_wait_s = 0;  ///< of hosts for devices
  double device_wait_blame_s = 0;
  std::vector<std::string> violations;  ///< sentences; empty when all hold
};

struct RunInfo {
  std::string command;
  std::string program;  ///< base name of the executable
  std::string creator;  ///< who wrote the trace
  std::string date;     ///< ISO 8601, empty if unknown
  std::string mpi;      ///< MPI library, empty if unknown
  std::string openmp;   ///< OpenMP runtime, empty if unknown
  uint32_t ranks = 0;
  uint32_t locations = 0;
  uint64_t events = 0;
  double wall_s = 0;
  double allocation_s = 0;
  double overhead_pct = -1;  ///< estimated cost of measuring, percent of wall; < 0: unknown
  int exit_status = 0;       ///< of the program, if culprit started it
  std::vector<std::string>
      notes;  ///< sentences that the reader must know (libomp put under it, ...)
};

/// A location whose call could not return when the run ended. Known for culprit's own runs only.
struct FoundStuck {
  uint32_t group = 0;      ///< those that wait for each other, directly or through others
  bool deadlock = false;   ///< of the group: some wait for each other in a circle
  bool in_circle = false;  ///< this one does
  LocationId location;
  std::string call;       ///< "MPI_Recv", "an OpenMP barrier"
  std::string callpath;   ///< "main/exchange/MPI_Recv"
  std::string place;      ///< "halo.c:12", where the call is made; empty if unknown
  double since_s = 0;     ///< when the call began, from the start of the run
  std::string waits_for;  ///< numbers of the locations that could help, divided by blanks
  std::string why;        ///< "for a message from rank 1 with tag 7"
};

struct PassTime {
  std::string name;
  double time_s = 0;
};

struct Findings {
  RunInfo run;
  std::vector<FoundLocation> locations;  ///< by LocationId
  std::vector<FoundCallPath> callpaths;  ///< by CallPathId
  std::vector<FoundProcess> processes;   ///< none for traces of other tools
  std::vector<FoundStuck> stuck;         ///< by group, deadlocks first
  std::vector<FoundWait> waits;          ///< largest first, and so are the lists below
  std::vector<FoundDelay> delays;
  std::vector<FoundVictim> victims;
  std::vector<FoundUnattributed> unattributed;
  std::vector<FoundCriticalCallPath> critical_callpaths;
  std::vector<FoundCriticalPath> critical_path;
  std::vector<FoundSegment> segments;
  std::vector<FoundIdleBlame> idle_blame;
  std::vector<FoundNobody> idle_nobody;
  std::vector<FoundLockBlame> lock_blame;
  std::vector<FoundPolling> polling;
  std::vector<FoundPollingCause> polling_causes;
  std::vector<FoundDevice> devices;           ///< by device
  std::vector<FoundDeviceTime> device_times;  ///< by device and time
  std::vector<FoundDeviceBlame> device_blame;
  std::vector<FoundDeviceCall> device_calls;
  std::vector<FoundDeviceOperation> device_operations;
  std::vector<FoundEfficiency> efficiencies;     ///< each below the one that it is a factor of
  std::vector<FoundInstance> instances;          ///< by pattern, the longest first
  std::vector<FoundDistribution> distributions;  ///< the costliest delays first
  std::vector<FoundProfile> profile;
  std::vector<FoundMetric> metrics;  ///< by MetricId
  std::vector<FoundCount> counts;    ///< by metric, each one's largest first
  std::vector<FoundStage> stages;    ///< phases, then iterations, each in order of name and number
  Identities identities;
  StartUp start_up;
  Losses losses;
  std::vector<PassTime> passes;  ///< of the analysis itself
};

}  // namespace culprit::blame
