// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One thread's records become one location's events. Each programming model's records have a file
// of their own (mpi_records, openmp_records); what they share is the thread's state below.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/records/code.h"
#include "assemble/records/metrics.h"
#include "assemble/records/pauses.h"
#include "assemble/records/regions.h"
#include "assemble/records/timeline.h"
#include "assemble/run/clock.h"
#include "assemble/run/devices.h"
#include "assemble/run/objects.h"
#include "assemble/run/rank_sets.h"
#include "assemble/run/survey.h"
#include "base/losses.h"
#include "trace/events.h"

namespace culprit::assemble {

/// What the threads of a process share. MT: read only, but for `regions`.
struct ProcessContext {
  size_t index = 0;  ///< in order of reading
  const RawProcessFolder& folder;
  const Clock& clock;
  const ProcessCode& code;
  const Survey& survey;
  const std::unordered_map<uint32_t, CommId>& comms;
  const LocalObjects& objects;
  const std::vector<trace::Comm>& all_comms;  ///< by CommId
  ProcessId id;
  const std::unordered_map<uint64_t, uint32_t>& partitioned_pairs;  ///< Survey's
  Regions& regions;
  Metrics& metrics;
  std::vector<Pause> pauses;
  RankSets& rank_sets;
  const ProcessDevices& devices;
  const std::vector<DeviceId>& device_ids;  ///< of the process's devices

  std::optional<Time> run_end;  ///< of a run that did not come to its end, if it is known

  std::optional<uint64_t> awaited;  ///< by the thread then: trace::Fact::unanswered

  const Folder& folder_of_stretches;  ///< how the lane's time between events is divided

  Time time(uint64_t ticks) const { return clock.time(index, ticks); }
  /// Whether the process came to its end, or stopped recording.
  bool has_end() const;
  /// When the process ended, or was last heard of, or the run ended without it.
  Time end() const;
};

struct ThreadState {
  ThreadState(const ProcessContext& context, trace::EventSink& sink)
      : process(context),
        timeline(sink, context.folder_of_stretches),
        paths(context.code, context.regions) {}

  const ProcessContext& process;
  Timeline timeline;
  Paths paths;
  std::unordered_map<uint16_t, std::string> names;  ///< by string id
  std::unordered_map<uint16_t, RegionId> calls;     ///< those that are MPI functions
  Losses losses;

  Time time(const RawRecord& record) const { return process.time(record.ticks); }
  /// The path that a record carries in `arg`, if any.
  void observe(Time time, uint32_t path);
  /// Only the return address of a call into the runtime is known.
  void observe_code(Time time, uint64_t code);
  /// Tells a number of the construct or task at hand.
  void fact(Time time, trace::Fact fact, uint64_t value);
};

struct StreamResult {
  uint64_t events = 0;
  Losses losses;
};

/// Plays the records of `log` into `sink`.
StreamResult play_log(const RawLog& log, const ProcessContext& process, trace::EventSink& sink);

}  // namespace culprit::assemble
