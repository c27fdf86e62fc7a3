// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The passes that look at all of a run, before its events can be played:
//      read        which processes there are, and which rank each is
//      survey      a first walk: addresses, communicators, regions, amounts
//      devices     activity of devices, each with one number for all
//      name        addresses become functions
//      unify       clocks, communicators, windows and files become the same for all
//      end         until when the run lasted, and which threads were stuck then
//      tally       a second walk: how samples are shared out, and all that events will refer to
//  After them each location can be played by itself, any number of times.
//
// Several analysis ranks make these passes together: each reads, surveys, names and tallies its own
// processes, and the ranks exchange what must be the same for all (assemble/ranks/). Then each
// can play the locations of its own processes.
#pragma once

#include <memory>

#include "assemble/bursts/windows.h"
#include "assemble/look/look.h"
#include "assemble/names/debug_files/debug_servers.h"
#include "assemble/names/kept_names.h"
#include "assemble/names/name_cache.h"
#include "assemble/names/others/not_the_programs.h"
#include "assemble/names/symbols.h"
#include "assemble/recorded_run.h"
#include "assemble/run_facts.h"
#include "base/files/guarded_path.h"
#include "base/ranks/transport.h"
#include "base/result.h"
#include "base/time.h"
#include "trace/profile.h"

namespace culprit::assemble {

struct PassOptions {
  unsigned threads = 0;  ///< 0: all cores
  SymbolSource symbols = read_symbols;
  NameCache names = NameCache();  ///< none unless said
  KeptNames kept = {};            ///< the run's own
  NotThePrograms others = {};
  DebugServers servers = {};
  Transport* ranks = nullptr;  ///< that make the passes together; null: there is but this one
};

/// Error if there are no records.
Result<std::unique_ptr<RecordedRun>> prepare_run(const GuardedPath& raw,
                                                 const PassOptions& options);

/// The same passes of a run of which the profile is wanted, which fills `profile` instead of making
/// its events ready to be played.
Result<std::unique_ptr<RecordedRun>> prepare_profile(const GuardedPath& raw,
                                                     const PassOptions& options,
                                                     trace::Profile& profile);

/// The same of a window. `raw`: the run's.
Result<std::unique_ptr<RecordedRun>> prepare_window(WindowRecords window, const GuardedPath& raw,
                                                    const PassOptions& options);

/// From the run's begin.
struct WindowSpan {
  Duration begin, end;
};
WindowSpan span_of(const RecordedRun& run);

/// The passes that are needed to find stuck threads at this moment. `look`: the newest look at the
/// processes that are alive here; for others the last note is used.
Result<RunState> find_stuck_now(const GuardedPath& raw, const PassOptions& options,
                                const look::Look& look);

}  // namespace culprit::assemble
