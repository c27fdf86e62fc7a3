// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

//  A run as its records describe it, ready to be played: the passes that look at all of it.
//      read        which processes there are, and which rank each is
//      survey      a first walk: addresses, communicators, regions, amounts
//      devices     activity of devices, each with one number for all
//      name        addresses become functions
//      unify       clocks, communicators, windows and files become the same for all
//      end         until when the run lasted, and which threads were stuck then
//      tally       a second walk: how samples are shared out, and all that events will refer to
//  After them each location can be played by itself, any number of times.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "assemble/bursts/edges.h"
#include "assemble/bursts/windows.h"
#include "assemble/device/run_devices.h"
#include "assemble/look/thread_look.h"
#include "assemble/names/debug_files/debug_servers.h"
#include "assemble/names/kept_names.h"
#include "assemble/names/name_cache.h"
#include "assemble/names/others/not_the_programs.h"
#include "assemble/names/symbols.h"
#include "assemble/play/code.h"
#include "assemble/play/folding.h"
#include "assemble/play/metrics.h"
#include "assemble/play/process_context.h"
#include "assemble/play/regions.h"
#include "assemble/raw/reader.h"
#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/comms/comms.h"
#include "assemble/run/comms/rank_sets.h"
#include "assemble/run/lanes.h"
#include "assemble/run/objects.h"
#include "assemble/run/processes.h"
#include "assemble/run_facts.h"
#include "assemble/waits/node_objects.h"
#include "base/result.h"
#include "trace/definitions.h"
#include "trace/profile.h"

namespace culprit::assemble {

struct PassOptions {
  unsigned threads = 0;  ///< 0: all cores
  SymbolSource symbols = read_symbols;
  NameCache names = NameCache();  ///< none unless said
  KeptNames kept = {};            ///< the run's own
  NotThePrograms others = {};
  DebugServers servers = {};
};

/// Vectors "by folder" are in the order of `folders`. Parts refer to each other, so it stays where
/// it is. MT: read only once made.
struct RecordedRun {
  RecordedRun() = default;
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  RunFacts facts;
  std::optional<WindowRecords> window;  ///< that this is, of a long run; its folders are here:
  Crossing crossing;                    ///< its edges
  std::vector<RawProcessFolder> folders;
  Processes processes;
  std::vector<ProcessAccount> accounts;  ///< by folder
  RunDevices devices;
  std::vector<Lane> lanes;  ///< by LocationId
  Symbols symbols;
  std::vector<ProcessCode> code;  ///< by folder
  std::optional<Clock> clock;     ///< always, once made
  CommTable comms;
  ObjectTable objects;
  std::optional<NodeObjects> node_objects;              ///< likewise
  std::vector<std::optional<look::ProcessLook>> looks;  ///< by folder, of processes that were cut
  std::optional<Time> end;                   ///< of a run whose processes did not come to their end
  std::map<LocationId, LocationId> awaited;  ///< for each stuck location, the one it waits for
  std::vector<ProcessContext> contexts;      ///< by folder
  Folding folding;
  trace::Definitions definitions;

  /// The objects that events refer to, added as they are met. Complete after the tally.
  Regions regions;
  RegionId not_sampled, blocked;
  Metrics metrics;
  std::optional<RankSets> rank_sets;
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

/// Plays one location. Records that make no sense are counted.
void play_location(const RecordedRun& run, LocationId location, trace::EventSink& sink,
                   Losses& losses);

}  // namespace culprit::assemble
