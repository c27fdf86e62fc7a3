// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The facts about a process, and about a thread, that are known before its records are played.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "assemble/device/device_clock.h"
#include "assemble/device/devices.h"
#include "assemble/play/code.h"
#include "assemble/play/metrics.h"
#include "assemble/play/pauses.h"
#include "assemble/play/regions.h"
#include "assemble/play/timeline.h"
#include "assemble/raw/reader.h"
#include "assemble/run/clock.h"
#include "assemble/run/comms/rank_sets.h"
#include "assemble/run/objects.h"
#include "assemble/run/sleepers.h"
#include "assemble/run/survey.h"
#include "assemble/waits/node_objects.h"

namespace culprit::assemble {

/// The tables that the threads and devices of a process share. MT: read only, but for the tables
/// that are internally synchronised.
struct ProcessContext {
  ProcessId id;
  size_t index;  ///< of its folder
  const RawProcessFolder& folder;
  const Clock& clock;
  const ProcessCode& code;
  const Survey& survey;
  const Sleepers& sleepers;
  const std::unordered_map<uint32_t, CommId>& comms;
  const LocalObjects& objects;
  const std::vector<trace::Comm>& all_comms;  ///< by CommId
  const ProcessDevices& devices;
  const NodeObjects& node_objects;
  const std::vector<DeviceId>& device_ids;                   ///< of the process's devices
  std::vector<DeviceClock> device_clocks;                    ///< likewise
  std::unordered_map<uint64_t, uint32_t> partitioned_pairs;  ///< Survey's
  std::vector<Pause> pauses;
  bool is_alone = false;                      ///< there is no other process
  const std::vector<trace::Window>& windows;  ///< by WindowId
  std::optional<Time>
      window_begin;             ///< of a window of a long run: what began before begins with it
  std::optional<Time> run_end;  ///< of a run that did not come to its end, if it is known
  // Tables of the trace.
  Regions& regions;
  Metrics& metrics;
  RankSets& rank_sets;

  Time time(uint64_t ticks) const {
    const Time at = clock.time(index, ticks);
    return window_begin ? std::max(at, *window_begin) : at;
  }
  bool is_in_window() const { return window_begin.has_value(); }
  /// How many ranks its operations in a communicator may name.
  uint32_t ranks_in(CommId comm) const;
  uint32_t ranks_in(WindowId window) const { return ranks_in(windows[window.index()].comm); }
  /// Its MPI_COMM_WORLD.
  std::optional<CommId> world() const;
  /// Whether the process came to its end, or stopped recording.
  bool has_end() const;
  /// The same in ticks, as far as the process says it.
  uint64_t end_ticks() const;
  /// When the process ended, or was last seen, or the run ended without it.
  Time end() const;
};

/// Of one thread.
struct ThreadContext {
  Folder folder;                    ///< how its time between events is divided
  std::optional<uint64_t> awaited;  ///< by it when the run ended: trace::Fact::unanswered
};

}  // namespace culprit::assemble
