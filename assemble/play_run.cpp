// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records are walked twice: once to learn how time without events is divided, and again, as often
// as they are asked for, to play them.
#include "assemble/play_run.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "assemble/play/core_time_series.h"
#include "assemble/records/device_stream.h"
#include "assemble/records/stream.h"
#include "base/cores/core_counter.h"
#include "base/parallel.h"
#include "base/progress/progress.h"
#include "base/result.h"

namespace culprit::assemble {
namespace {

/// Time that the lane slept; infinite if unknown.
double asleep_ns(const RecordedRun& run, const Lane& lane) {
  const auto& uses = run.accounts[lane.folder].core_uses;
  const auto use = uses.find(lane.log->thread());
  if (use == uses.end()) return std::numeric_limits<double>::infinity();
  const CoreUse& known = use->second;
  const trace::RawProcess& process = run.folders[lane.folder].process;
  const uint64_t end =
      std::max({process.end_ticks, process.last.ticks, known.until_ticks});  // unknown from then on
  const uint64_t life = end - known.from_ticks;
  const double awake_ns = static_cast<double>(life - std::min(known.blocked_ticks, life)) *
                          run.clock->ns_per_tick(lane.folder);
  return std::max(0.0, awake_ns - static_cast<double>(known.on_core_ns) -
                           static_cast<double>(known.without_ns));
}

CoreTimeSeries series_of(const RecordedRun& run, const Lane& lane, const CoreUse& use) {
  std::vector<CorePoint> points = {{run.clock->time(lane.folder, use.from_ticks), 0, 0}};
  for (const CoreReading& reading : use.readings) {
    points.push_back({run.clock->time(lane.folder, reading.ticks),
                      static_cast<double>(reading.on_core_ns),
                      static_cast<double>(reading.without_ns)});
  }
  const auto could = static_cast<double>(use.on_core_ns + use.without_ns);
  const double asleep = asleep_ns(run, lane);
  return CoreTimeSeries(std::move(points), could > 0 ? could / (could + asleep) : 1);
}

/// The parameters for dividing the thread's time between events, without the pools.
Folder folder_for(const RecordedRun& run, const Lane& lane) {
  const uint32_t hz = run.folders[lane.folder].process.sampling_hz;
  Folder how;
  how.not_sampled = run.not_sampled;
  how.blocked = run.blocked;
  if (hz > 0) how.period_ns = 1e9 / hz;
  if (!run.ranks->alone()) how.marks = &run.regions.marks();
  const auto& uses = run.accounts[lane.folder].core_uses;
  const auto use = uses.find(lane.log->thread());
  if (use == uses.end()) return how;
  how.core_share = use->second.share();
  constexpr double kOften = 0.95;
  if (how.core_share >= kOften) return how;
  how.cores = series_of(run, lane, use->second);
  how.no_core = run.contexts[lane.folder].metrics.set(
      {{std::string(kNoCoreCounter), "ns", trace::MetricMode::accumulated}});
  return how;
}

/// As trace::Fact::unanswered names it.
std::optional<uint64_t> awaited_by(const RecordedRun& run, LocationId location) {
  const auto at = run.awaited.find(location);
  if (at == run.awaited.end()) return std::nullopt;
  const Lane& other = run.lanes[at->second.index()];
  return uint64_t{other.thread} << 32 | other.process.index();
}

}  // namespace

std::vector<uint64_t> tally(RecordedRun& run, unsigned threads) {
  std::vector<StretchTally> tallies(run.lanes.size());
  std::vector<uint64_t> events(run.lanes.size());
  progress::Progress progress(progress::Stage::samples, run.lanes.size());
  parallel_for(run.lanes.size(), threads, [&](size_t i) {
    const Lane& lane = run.lanes[i];
    if (!run.has_records_of(lane)) return;
    trace::EventSink nowhere;
    if (lane.device != nullptr) {
      events[i] = play_lane(*lane.device, run.contexts[lane.folder], nowhere).events;
    } else if (lane.log != nullptr) {
      ThreadContext thread{folder_for(run, lane), awaited_by(run, LocationId(i))};
      if (thread.folder.period_ns > 0) thread.folder.tally = &tallies[i];
      events[i] = play_log(*lane.log, run.contexts[lane.folder], thread, nowhere).events;
    }
    progress.step();
  });
  for (size_t i = 0; i < run.lanes.size(); ++i) {
    run.folding.merge(static_cast<uint32_t>(i), std::move(tallies[i]));
  }
  return events;
}

void play_location(const RecordedRun& run, LocationId location, trace::EventSink& sink,
                   Losses& losses) {
  const Lane& lane = run.lanes[location.index()];
  CULPRIT_CHECK(run.has_records_of(lane));
  if (lane.device != nullptr) {
    const LaneResult result = play_lane(*lane.device, run.contexts[lane.folder], sink);
    losses.add(LossKind::device_starts_before_launch, result.before_launch);
    losses.add(LossKind::device_ops_without_launch, result.without_launch);
  } else if (lane.log != nullptr) {
    LaneFolding divides(run.folding, static_cast<uint32_t>(location.index()), asleep_ns(run, lane));
    ThreadContext thread{folder_for(run, lane), awaited_by(run, location)};
    if (thread.folder.period_ns > 0) thread.folder.folding = &divides;
    losses.merge(play_log(*lane.log, run.contexts[lane.folder], thread, sink).losses);
  }
}

}  // namespace culprit::assemble
