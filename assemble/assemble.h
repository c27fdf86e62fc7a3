// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of an experiment (`<experiment>/raw`, trace/raw/raw.h) as a trace that can be
// replayed: one clock for all nodes, addresses become functions, communicators known by local
// numbers become one number for all, late OpenMP ends move to where they happened. It works on the
// records that a program left, however it died. Facts that only the machine and the moment of the
// measurement can provide go into the experiment when its records are first opened: the names of
// functions (`<experiment>/names`) and the RunFacts. From then on the experiment can be analyzed
// anywhere.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "assemble/look/look.h"
#include "assemble/run_facts.h"
#include "base/ranks/transport.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::assemble {

/// An experiment's records, ready to be replayed.
struct OpenRecords {
  std::unique_ptr<trace::Source> source;
  RunFacts facts;
  Result<void> kept;  ///< whether names and facts could be put into the experiment
};

/// The files that opening records may put into their experiment.
enum class Keep : uint8_t { nothing, names_and_facts };

/// A window of a run whose records did not fit into its budget (assemble/bursts/windows.h), in
/// seconds of the run.
struct Window {
  uint64_t number = 0;  ///< 0: the whole part, from the begin; 1, 2, ...: bursts
  double begin_s = 0;
  double counted_from_s = 0;  ///< what lies before is there for what follows from it
  double end_s = 0;
};

/// A window, ready to be replayed. The moments of its events are the run's.
struct OpenWindow {
  Window window;
  OpenRecords records;
};

/// Whether the run's records did not fit into its budget, so that there are windows.
bool is_long_run(const std::filesystem::path& experiment);

/// The windows of a long run. Stays where it is.
class LongRun {
 public:
  /// Reads what all windows need.
  LongRun(const std::filesystem::path& experiment, unsigned threads);
  ~LongRun();
  LongRun(const LongRun&) = delete;

  /// How many windows there are, with the whole part.
  uint64_t windows() const;
  /// Error if too little of the window is there.
  Result<OpenWindow> open(uint64_t number, Keep what) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Opens them on `threads` threads (0: all cores); of a long run the whole part. Error if there are
/// none ("the program called neither MPI nor OpenMP"), or none that this version can read.
/// Several `ranks` open them together, each for some of the processes; the first keeps files, and
/// has all facts. Errors are the same on all ranks. Windows of long runs are opened by one.
Result<OpenRecords> open_records(const std::filesystem::path& experiment, unsigned threads,
                                 Keep what = Keep::names_and_facts, Transport* ranks = nullptr);

/// Which threads cannot go on in a run, and where all threads are, from its present records and
/// from the system's data on processes of this host; data on processes that were read at different
/// moments may be out of date. `look`: the previous look, which is replaced by the newest. Writes
/// nothing. Error if nothing has been recorded yet.
Result<RunState> look_for_stuck(const std::filesystem::path& experiment, unsigned threads,
                                look::Look& look);

/// Whether the program that records there still runs: the experiment is not complete yet, and the
/// culprit that started the program saw it run in the last seconds, or without one, as behind a
/// launcher, one of its processes on this machine is alive. Elsewhere this is unknown: false.
bool still_runs(const std::filesystem::path& experiment);

/// True if a process wanted to record there, whether or not it could.
bool has_records(const std::filesystem::path& experiment);
/// errno with which a process was refused the files of its records; 0: there is no such process.
int refusal_of_records(const std::filesystem::path& experiment);

}  // namespace culprit::assemble
