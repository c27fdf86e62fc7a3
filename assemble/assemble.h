// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of an experiment (`<experiment>/raw`, trace/raw/raw.h) as a trace that can be
// replayed: one clock for all nodes, addresses become functions, communicators known by local
// numbers become one number for all, overdue OpenMP ends move to where they happened. It works on
// whatever a program left, however it died. What only the machine and the moment of the measurement
// know goes into the experiment when its records are first opened: the names of functions
// (`<experiment>/names`) and the RunFacts. From then on the experiment can be analyzed anywhere.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "assemble/look/look.h"
#include "assemble/run_facts.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::assemble {

/// An experiment's records, ready to be replayed.
struct OpenRecords {
  std::unique_ptr<trace::Source> source;
  RunFacts facts;
  Result<void> kept;  ///< whether names and facts could be put into the experiment
};

/// What opening records may put into their experiment.
enum class Keep : uint8_t { nothing, names_and_facts };

/// Opens them on `threads` threads (0: all cores). Error if there are none ("the program called
/// neither MPI nor OpenMP"), or none that this version can read.
Result<OpenRecords> open_records(const std::filesystem::path& experiment, unsigned threads,
                                 Keep what = Keep::names_and_facts);

/// Who cannot go on in a run, and where everybody is, from its records as they are at the moment
/// and from what the system says of processes of this host; what it says of processes that were
/// read at different moments may be out of date. `look`: the one before, which becomes the newest.
/// Writes nothing. Error if nothing has been recorded yet.
Result<RunState> look_for_stuck(const std::filesystem::path& experiment, unsigned threads,
                                look::Look& look);

/// Whether the program that records there still runs: nobody has completed the experiment yet, and
/// whoever started the program saw it run in the last seconds, or where nobody watches, as behind a
/// launcher, one of its processes on this machine is alive. Elsewhere it cannot be known: false.
bool still_runs(const std::filesystem::path& experiment);

/// True if a process wanted to record there, whether or not it could.
bool has_records(const std::filesystem::path& experiment);
/// errno with which a process was refused the files of its records; 0: none says so.
int refusal_of_records(const std::filesystem::path& experiment);

}  // namespace culprit::assemble
