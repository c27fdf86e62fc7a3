// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The facts that the measurement knows of a run beyond its events, and where they are kept: in
// `<experiment>/experiment.json` under "measured", beside those of the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/losses.h"
#include "base/result.h"

namespace culprit::assemble {

/// A process and the cores it had.
struct ProcessCores {
  uint32_t rank = 0;  ///< its place among the processes
  std::string node;
  uint64_t cores = 0;       ///< cores that it might use; 0: unknown
  uint64_t node_cores = 0;  ///< cores that all of the run on its node might use
  double on_core_s = 0;     ///< CPU time of its threads
  double core_wait_s = -1;  ///< they could have run, and had no core; < 0: unknown
  std::string program;      ///< the name of the program that it executed
  uint64_t number = 0;      ///< the system's number of the process
};

/// Threads of a process that share a maker and a name.
struct TaskGroup {
  uint32_t rank = 0;
  std::string library;  ///< the file of the library that made them; empty: the program, or unknown
  std::string name;
  uint64_t threads = 0;
  bool recorded = false;  ///< they are locations
  double on_core_s = 0;
  double core_wait_s = 0;
};

enum class CoreTakerKind { others, helpers, quota, hypervisor, binding, own, unknown };

/// A load that had the cores of a node which threads of the run lacked.
struct CoreTaker {
  std::string node;
  CoreTakerKind kind = CoreTakerKind::unknown;
  std::string name{};      ///< of another program; empty: unseen
  uint64_t process = 0;    ///< its number; 0: of several
  uint64_t processes = 0;  ///< of that name
  double cpu_s = 0;
  double time_s = 0;  ///< time that threads were without a core because of it
};

/// A process's use of cores in a part of the run.
struct CoreTime {
  uint32_t rank = 0;
  double begin_s = 0;
  double end_s = 0;
  double on_core_s = 0;
  double core_wait_s = 0;
};

/// A location whose call could not return when the run ended.
struct StuckMember {
  uint32_t location = 0;  ///< LocationId
  std::string name;       ///< "rank 3", "rank 3, thread 1"
  std::string call;       ///< "MPI_Recv", "an OpenMP barrier"
  std::string callpath;   ///< "main/exchange/MPI_Recv"
  std::string place;      ///< "halo.c:12", where the call is made; empty if unknown
  double since_s = 0;     ///< when the call began, seconds since the start of the run
  std::vector<uint32_t>
      waits_for;           ///< locations, any of which could help (needs of several kinds: all)
  std::string why;         ///< "for a message from rank 1 with tag 7"
  bool in_circle = false;  ///< else it only waits for those that are
};

/// Locations that wait for each other for ever, or for an event that no location can cause any
/// more.
struct StuckGroup {
  bool deadlock = false;  ///< some wait for each other in a circle; these come first
  std::vector<StuckMember> members;
};

/// Where a thread was when the run ended, or was looked at.
struct Whereabouts {
  std::string name;       ///< "rank 3, thread 1"
  std::string what;       ///< "is in MPI_Recv (halo.c:12, in exchange)"
  std::string why;        ///< the object of its wait, if it is known: "for a message from rank 1"
  double since_s = 0;     ///< it has been there since then; of one that computes, when it was seen
  double core = -1;       ///< share of a core that it used lately; < 0: unknown
  bool computes = false;  ///< it makes progress, as far as can be seen
};

/// A run at one moment.
struct RunState {
  std::vector<StuckGroup> groups;      ///< locations that cannot go on
  std::vector<Whereabouts> everybody;  ///< threads that have not ended
  double now_s = 0;                    ///< the moment, since the start of the run
};

/// A line of source in a function of the program, on all ranks together.
struct CostlyLine {
  std::string function;
  std::string function_file;   ///< base name
  uint32_t function_line = 0;  ///< where it is declared
  std::string file;            ///< of the line: base name
  uint32_t line = 0;
  uint64_t samples = 0;           ///< found there, or in what is called from there
  uint64_t function_samples = 0;  ///< of all lines of the function
};

/// The losses are those before the replay.
struct RunFacts {
  std::string command;  ///< of rank 0
  std::string program;  ///< base name of the executable
  std::string mpi;      ///< library version, empty: none
  std::string openmp;   ///< runtime version, empty: none
  uint32_t processes = 0;
  uint64_t sampling_signal = 0;  ///< the signal that samples used; 0: none
  uint64_t records = 0;
  uint64_t events = 0;        ///< that they become, about
  double overhead_pct = -1;   ///< calibrated cost of the records, percent of wall; worst process
  double clock_error_ns = 0;  ///< between nodes, at most; 0: one node, or never compared
  std::vector<ProcessCores> cores;     ///< of each process that left records
  std::vector<TaskGroup> tasks;        ///< of each of these, as far as they used any
  std::vector<CoreTaker> core_takers;  ///< by node; the largest first
  std::vector<CoreTime> core_times;    ///< of processes that lacked a core, in order
  std::vector<StuckGroup> stuck;       ///< when the run ended; deadlocks first
  std::vector<CostlyLine> lines;       ///< by function, the costliest first
  std::vector<std::string> notes;  ///< sentences for the report (libomp put under the program, ...)
  Losses losses;
};

/// The facts that an experiment keeps. Error if it has none.
Result<RunFacts> read_facts(const std::filesystem::path& experiment);

/// Makes them the experiment's facts.
Result<void> write_facts(const std::filesystem::path& experiment, const RunFacts& facts);

}  // namespace culprit::assemble
