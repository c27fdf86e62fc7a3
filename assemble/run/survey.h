// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A first walk over the records of a process, for facts that the second one needs beforehand: which
// addresses need a name, which communicators were made, where and when parallel regions began and
// ended (workers' ends come late, and their barriers do not know their line), which code a task
// runs, and how much there is of everything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/run/sampled_stacks.h"
#include "trace/definitions.h"
#include "trace/python/python_module.h"

namespace culprit::assemble {

struct ParallelRegion {
  uint64_t code = 0;       ///< return address of the fork, 0 if unknown
  uint64_t end_ticks = 0;  ///< when the master left it, 0: never
  uint32_t team_size = 0;
  bool league = false;          ///< of teams
  bool by_new_initial = false;  ///< forked by an initial thread that is not the process's first
  bool forked = false;          ///< its begin was recorded
};

/// Where the creator stands in a task's number (RawKind::omp_task_create).
inline constexpr unsigned kTaskCreatorShift = 40;

struct CommDefinition {
  uint64_t ticks = 0;
  uint32_t comm = 0;
  uint32_t parent = 0;
  trace::RawCommOrigin origin = trace::RawCommOrigin::collective;
  std::vector<uint32_t> members;  ///< in the form of mpi_comm_def
  std::vector<uint32_t> remote;
  trace::RawCommLink link = trace::RawCommLink::none;  ///< fields of mpi_comm_link:
  uint64_t key = 0;
  uint64_t entered = 0;          ///< ticks
  std::optional<uint32_t> root;  ///< in `members`
};

/// A Cartesian communicator, and this process's place in it.
struct GridDefinition {
  uint32_t comm = 0;
  std::vector<trace::GridDimension> dimensions;
  std::vector<uint32_t> coordinates;
};

/// A communicator that is a graph, and the ranks that this process sends to in it.
struct GraphDefinition {
  uint32_t comm = 0;
  std::vector<uint32_t> neighbors;  ///< ranks in it; only the first of them, if there are many
  uint64_t all = 0;                 ///< how many there are
};

struct WindowDefinition {
  uint64_t ticks = 0;
  uint32_t window = 0;
  uint32_t comm = 0;
};

struct FileDefinition {
  uint64_t ticks = 0;
  uint32_t file = 0;
  uint32_t comm = 0;
  std::string name;
};

/// Ranks in a window (its number).
using EpochGroup = std::pair<uint32_t, std::vector<uint32_t>>;

/// trace::RawKind::clock_met.
struct ClockMeeting {
  uint32_t rank = 0;  ///< of the other process, in this one's world
  uint64_t own_ticks = 0;
  uint64_t other_ticks = 0;
  uint64_t length = 0;
};

/// A Python function.
struct PythonCode {
  std::string name;
  std::string file;  ///< base name
  trace::PythonModule module;
  bool imports = false;  ///< what is executed as the module is imported
  uint32_t line = 0;
};

/// Recording goes off or on.
struct Switch {
  uint64_t ticks = 0;
  bool on = false;
};

/// A set of ranks (RawKind::mpi_rank_set): index i and bits of the ranks from 64 * i on.
using RankBits = std::vector<std::pair<uint64_t, uint64_t>>;

/// One side of partitioned communication. Sides meet in the order of their making.
struct PartitionedInit {
  uint64_t ticks = 0;
  uint64_t number = 0;
  uint32_t comm = 0;
  int32_t peer = 0;
  int32_t tag = 0;
  bool sends = false;
};

/// The kernel's counters at that moment, for one thread or for all of a process since it began.
struct CoreReading {
  uint64_t ticks = 0;
  uint64_t on_core_ns = 0;
  uint64_t without_ns = 0;
};

/// Threads that waited for an object of the whole node (trace/objects.h) could go on.
struct NodeWake {
  uint64_t ticks = 0;
  uint64_t object = 0;
  uint32_t thread = 0;  ///< by its log
};

/// RawKind::task_use.
struct TaskUse {
  std::string library;
  std::string name;
  uint64_t on_core_ns = 0;
  uint64_t without_ns = 0;
};

/// A queue of a device is to call a function of the program.
struct HostFunctionLaunch {
  uint64_t number = 0;
  uint32_t queue = 0;    ///< its number
  uint64_t address = 0;  ///< of the function
  uint64_t ticks = 0;    ///< enter of the call that handed it over
  /// The first wait after that of the same thread.
  raw::device_wait wait = {};
  uint64_t waited_ticks = 0;  ///< its end; 0: there was none
};

/// The facts of one thread, or of a process once its threads' surveys are merged.
struct Survey {
  std::unordered_set<uint64_t> addresses;  ///< return addresses
  std::vector<CommDefinition> comms;       ///< in order of creation
  std::vector<GridDefinition> grids;       ///< likewise
  std::vector<GraphDefinition> graphs;     ///< likewise
  std::vector<WindowDefinition> windows;   ///< likewise
  std::vector<FileDefinition> files;       ///< likewise
  std::set<EpochGroup> epoch_groups;
  std::unordered_map<uint64_t, ParallelRegion> regions;
  std::vector<ClockMeeting> clock_meetings;
  std::unordered_map<uint32_t, PythonCode> python;  ///< by number
  /// By return address into the caller of an instrumented function: the call paths that end there,
  /// as return addresses, outermost first. Only a few of each are kept.
  std::unordered_map<uint64_t, std::set<std::vector<uint64_t>>> callers;
  SampledStacks stacks;
  uint32_t unknown_python = 0;  ///< version of one whose frames are not read; 0: there is none
  std::unordered_map<uint64_t, uint64_t> task_code;      ///< by task
  std::unordered_map<uint64_t, uint32_t> task_creators;  ///< creator in a task's number -> log
  std::vector<Switch> switches;                          ///< in order of time
  std::unordered_map<uint32_t, RankBits> rank_sets;
  std::vector<PartitionedInit> partitioned;  ///< in order of time
  /// By the number of an operation for a device: when the call that submitted it was entered.
  std::unordered_map<uint64_t, uint64_t> device_launches;
  std::vector<HostFunctionLaunch> host_functions;  ///< by number
  std::vector<CoreReading> cores_had;              ///< by all threads, in order of time
  std::map<uint32_t, TaskUse> tasks;               ///< by the system's number, as last recorded
  std::set<uint32_t> recorders;                    ///< the system's numbers of threads with a log
  std::vector<NodeWake> node_wakes;
  std::unordered_set<uint64_t> node_awaited;  ///< objects that threads waited for, or were made by
  uint64_t last_ticks = 0;
  uint64_t last_act_ticks = 0;  ///< of a record of an act of the program
  uint64_t records = 0;
  uint64_t skipped = 0;  ///< records that made no sense
  uint64_t damaged_logs = 0;
  bool truncated_comms = false;

  void merge(Survey&& other);
  /// By number: which of those with the same communicator, peer, tag and direction, from 1.
  std::unordered_map<uint64_t, uint32_t> partitioned_pairs() const;
};

/// What the survey of one thread costs its program, in the collector's own account.
struct ToolTime {
  uint64_t records = 0;
  uint64_t paths = 0;  ///< call paths taken
  uint64_t ticks = 0;  ///< between tool_begin and tool_end
};

/// The kernel's account of a thread, when it was last recorded (RawKind::cpu_time).
struct CoreUse {
  std::vector<CoreReading> readings;  ///< in order of time
  uint64_t on_core_ns = 0;            ///< 0: it never did
  uint64_t without_ns = 0;
  uint64_t from_ticks = 0;     ///< the thread's begin, as far as is known
  uint64_t until_ticks = 0;    ///< of that moment
  uint64_t blocked_ticks = 0;  ///< in calls that slept (RawKind::blocked)

  /// The part of the time in which the thread could compute that it did; 1 where too little of it
  /// is known.
  double share() const {
    constexpr double kLeast = 0.05, kLittle_ns = 2e8;
    const auto on_core = static_cast<double>(on_core_ns);
    const double could = on_core + static_cast<double>(without_ns);
    return could > kLittle_ns ? std::max(kLeast, on_core / could) : 1;
  }
};

struct ThreadSurvey {
  Survey survey;
  uint32_t tid = 0;   ///< the system's number of the thread that had the log last; 0: the first
  bool acts = false;  ///< it let others go on, or took part in MPI, OpenMP or work of devices
  ToolTime tool;
  CoreUse core_use;
  std::optional<uint32_t> team_number;  ///< in the first team of several that the thread joined
};

ThreadSurvey survey_log(const RawLog& log);

}  // namespace culprit::assemble
