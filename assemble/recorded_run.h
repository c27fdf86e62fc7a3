// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run as its records describe it: what is known of all of it, and what is needed to play its
// events. prepare_run.h fills it in, play_run.h plays it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "assemble/bursts/edges.h"
#include "assemble/bursts/windows.h"
#include "assemble/device/run_devices.h"
#include "assemble/look/thread_look.h"
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
#include "base/ranks/transport.h"
#include "trace/definitions.h"

namespace culprit::assemble {

/// Vectors "by folder" are in the order of `folders`. Parts refer to each other, so it stays where
/// it is. MT: read only once made.
struct RecordedRun {
  RecordedRun() = default;
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  Alone alone;
  Transport* ranks = &alone;
  RunFacts facts;                       ///< where several ranks are, complete on the first only
  std::optional<WindowRecords> window;  ///< that this is, of a long run; its folders are here:
  Crossing crossing;                    ///< its edges
  std::vector<RawProcessFolder> folders;
  std::vector<size_t> owners;  ///< by folder: the rank that has its records
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
  std::vector<ProcessId> shares;  ///< trace::Source::shares()

  bool is_own(size_t folder) const { return owners[folder] == ranks->rank(); }
  bool has_records_of(const Lane& lane) const {
    return (lane.log == nullptr && lane.device == nullptr) || is_own(lane.folder);
  }
};

}  // namespace culprit::assemble
