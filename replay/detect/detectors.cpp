// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs the detectors, then turns what they found into a WaitGraph: of overlapping candidates the
// latest wins, waits and syncs are sorted, and each wait's amount is measured.
#include "replay/detect/detection.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <tuple>

#include "base/merge_runs.h"
#include "base/parallel.h"
#include "replay/clock/repair_run.h"
#include "replay/detect/find_probed.h"
#include "replay/detect/long_calls.h"
#include "replay/detect/near_ties.h"
#include "replay/detect/spare/spare_threads.h"
#include "replay/read/test_naps.h"

namespace culprit::replay {

namespace {

/// By Detector.
constexpr void (*kFunctions[])(Run&, unsigned, Detection&) = {
#define DETECTOR(id, what) detect_##id,
#include "replay/model/detectors.def"
#undef DETECTOR
};

/// Damaged traces nest a send in the call that waits for its message: no other location is late
/// there.
void drop_waits_for_itself(LocationId id, Column<Wait>& waits) {
  const Wait* end = std::remove_if(waits.begin(), waits.end(),
                                   [&](const Wait& wait) { return wait.cause == id; });
  waits.resize(static_cast<size_t>(end - waits.begin()));
}

/// Candidates of the same call begin together: keep the one that lasted longest. Candidates of
/// different calls do not overlap in a proper trace; where they do, the later begin yields.
/// Locations that were nearly as late in the same call become ties.
void choose_waits(Column<Wait>& waits, Column<Wait>& ties) {
  const auto order = [](const Wait& a, const Wait& b) {
    return std::tie(a.begin, b.end, a.cause, a.pattern, a.path) <
           std::tie(b.begin, a.end, b.cause, b.pattern, b.path);
  };
  merge_runs(waits.begin(), waits.end(), order);
  size_t chosen = 0;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (chosen > 0 && waits[i].begin < waits[chosen - 1].end) {
      if (waits[i].begin == waits[chosen - 1].begin) ties.push_back(waits[i]);
      continue;
    }
    waits[chosen++] = waits[i];
  }
  waits.resize(chosen);
}

/// Returns whether ties may share such a wait: only waits for messages and collective operations,
/// not waits for devices.
bool may_be_shared(Pattern pattern) {
  const std::string_view id = text(pattern).id;
  return counts_as_waiting(pattern) && (id.starts_with("mpi.") || id.starts_with("omp."));
}

/// Keeps the ties of the chosen waits: each other location once, at its last action, and of many
/// only the latest.
void choose_ties(const Column<Wait>& waits, Column<Wait>& ties) {
  if (ties.empty()) return;
  const auto order = [](const Wait& a, const Wait& b) {
    return std::tie(a.begin, b.end, a.cause) < std::tie(b.begin, a.end, b.cause);
  };
  std::sort(ties.begin(), ties.end(), order);
  Column<Wait> kept;
  size_t next = 0;
  for (size_t i = 0; i < ties.size();) {
    const Time begin = ties[i].begin;
    while (next < waits.size() && waits[next].begin < begin) ++next;
    const Wait* const wait =
        next < waits.size() && waits[next].begin == begin ? &waits[next] : nullptr;
    const size_t first = kept.size();
    for (; i < ties.size() && ties[i].begin == begin; ++i) {
      const Wait& tie = ties[i];
      if (wait == nullptr || !may_be_shared(wait->pattern) || kept.size() - first == kMostTies ||
          tie.cause == wait->cause || tie.path != wait->path ||
          !nearly_as_late(begin, std::min(tie.end, wait->end), wait->end)) {
        continue;
      }
      const bool known = std::any_of(kept.begin() + first, kept.end(),
                                     [&](const Wait& other) { return other.cause == tie.cause; });
      if (known) continue;
      kept.push_back(tie);
      kept.back().pattern = wait->pattern;
      kept.back().end = std::min(tie.end, wait->end);
    }
    std::reverse(kept.begin() + first, kept.end());
  }
  ties = std::move(kept);
}

/// Tests for messages that had not been sent are propagated like waits. Where a location also
/// waited meanwhile, only the time after that wait is polling.
void add_pollings(LocationId id, const Column<Polling>& pollings, Column<Wait>& waits) {
  if (pollings.empty()) return;
  Column<Wait> all;
  all.reserve(waits.size() + pollings.size());
  size_t next = 0;
  for (const Polling& polling : pollings) {
    while (next < waits.size() && waits[next].begin < polling.end) all.push_back(waits[next++]);
    const Time begin = all.empty() ? polling.begin : std::max(polling.begin, all.back().end);
    if (begin >= polling.end || polling.sender == id) continue;
    all.push_back({begin, polling.end, Duration::zero(), polling.path, polling.sender, 0,
                   pattern("mpi.polling")});
  }
  for (; next < waits.size(); ++next) all.push_back(waits[next]);
  waits = std::move(all);
}

/// A location that did hardly anything but test continues because of the sender: that is a
/// handover.
void hand_over_polled(const Column<Wait>& waits, Column<Handover>& handovers) {
  for (const Wait& wait : waits) {
    if (counts_as_waiting(wait.pattern)) continue;
    const Duration between_tests = wait.end - wait.begin - wait.amount;
    if (between_tests <= wait.amount) handovers.push_back({wait.end, wait.cause});
  }
}

/// Only the time of a wait that the location spent in its waiting call (waits_at) counts. Waits of
/// zero length are dropped.
void measure_waits(const Run& run, LocationId id, Column<Wait>& waits) {
  const Activities& life = run.at(id).activities;
  size_t kept = 0, first = 0;
  for (Wait wait : waits) {
    wait.amount = Duration::zero();
    first = life.after(wait.begin, first);
    wait.activity = static_cast<uint32_t>(first);
    for (size_t i = first; i < life.size() && life.begin(i) < wait.end; ++i) {
      if (!waits_at(run, wait, life.path(i))) continue;
      const Duration overlap =
          std::min(life.end(i), wait.end) - std::max(life.begin(i), wait.begin);
      if (overlap > Duration::zero()) wait.amount += overlap;
    }
    if (wait.amount > Duration::zero()) waits[kept++] = wait;
  }
  waits.resize(kept);
}

/// Marks the rest of a pool thread's idle time, after its waits for forks, as waking: its master
/// has forked, and the thread has not begun yet.
void tell_waking_from_idle(const Run& run, Timeline& line, Column<Wait>& waits,
                           Column<Wait>& ties) {
  if (line.teams.empty()) return;
  Activities& life = line.activities;
  std::vector<Activities::Piece> pieces;
  size_t first = 0;
  for (size_t i = 0; i < life.size(); ++i) {
    const Time begin = life.begin(i), end = life.end(i);
    if (life.path(i) != run.idle || begin == end) continue;
    const auto put = [&](Time at, CallPathId path) {
      if (at == begin) {
        life.set_path(i, path);
      } else {
        pieces.push_back({at, path});
      }
    };
    while (first < waits.size() && waits[first].end <= begin) ++first;
    Time at = begin;
    for (size_t w = first; w < waits.size() && waits[w].begin < end; ++w) {
      if (waits[w].path != run.idle) continue;
      if (waits[w].begin > at) {
        put(at, run.waking);
        put(waits[w].begin, run.idle);
      }
      at = std::min(end, waits[w].end);
    }
    if (at < end) put(at, run.waking);
  }
  life.split(pieces);
  for (Column<Wait>* list : {&waits, &ties}) {
    size_t before = 0;
    for (Wait& wait : *list) {
      while (before < pieces.size() && pieces[before].begin <= wait.begin) ++before;
      wait.activity += static_cast<uint32_t>(before);
    }
  }
}

}  // namespace

void LocationWaits::wait(Pattern pattern, CallPathId path, Time begin, Time leave, Time until,
                         LocationId cause) {
  if (until <= begin) return;
  if (until > leave) ++clock_violations;
  const Time end = std::min(until, leave);
  if (end <= begin) return;
  if (pattern == replay::pattern("mpi.polling")) return polling({begin, end, path, cause});
  waits.push_back({begin, end, end - begin, path, cause, 0, pattern});
}

void LocationWaits::tie(Pattern pattern, CallPathId path, Time begin, Time leave, Time until,
                        LocationId cause) {
  const Time end = std::min(until, leave);
  if (end > begin && counts_as_waiting(pattern)) {
    ties.push_back({begin, end, end - begin, path, cause, 0, pattern});
  }
}

namespace {

std::unique_ptr<Detection> run_detectors(Run& run, unsigned threads, const DetectorSet& disabled,
                                         DetectorTimes& times) {
  auto detection = std::make_unique<Detection>(run);
  if (!disabled[static_cast<size_t>(Detector::progress)]) {
    detection->silences = std::make_unique<const Silences>(run, threads);
  }
  for (size_t i = 0; i < kDetectors.size(); ++i) {
    if (disabled[i]) continue;
    const auto begin = std::chrono::steady_clock::now();
    kFunctions[i](run, threads, *detection);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    times[i] += time.count();
  }
  return detection;
}

uint64_t clock_violations(const Detection& detection) {
  uint64_t sum = 0;
  for (const LocationWaits& found : detection.by_location) sum += found.clock_violations;
  return sum;
}

}  // namespace

/// The search for waits shows whether clocks need repair; after a repair, the search runs again.
WaitGraph detect_waits(Run& run, unsigned threads, const DetectorSet& disabled,
                       DetectorTimes* times, const std::function<void()>& at_operations) {
  DetectorTimes untold{};
  DetectorTimes& spent = times != nullptr ? *times : untold;
  std::unique_ptr<Detection> found_last = run_detectors(run, threads, disabled, spent);
  const bool violated = sum(*run.ranks, clock_violations(*found_last)) > 0;
  if (violated && repair_run(run, threads)) {
    found_last = run_detectors(run, threads, disabled, spent);
  }
  if (at_operations) at_operations();
  Detection& detection = *found_last;
  WaitGraph graph;
  graph.waits.resize(run.timelines.size());
  graph.ties.resize(run.timelines.size());
  graph.syncs.resize(run.timelines.size());
  graph.lock_waits.resize(run.timelines.size());
  graph.message_waits.resize(run.timelines.size());
  graph.pollings.resize(run.timelines.size());
  graph.handovers.resize(run.timelines.size());
  graph.device_gaps.resize(run.timelines.size());
  graph.device_waits.resize(run.timelines.size());
  graph.unknown_waits.resize(run.timelines.size());
  graph.long_calls.resize(run.timelines.size());
  graph.progress_gates.resize(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    LocationWaits& found = detection.at(id);
    merge_runs(found.syncs.begin(), found.syncs.end(), std::less<Sync>());
    drop_waits_for_itself(id, found.waits);
    drop_waits_for_itself(id, found.ties);
    choose_waits(found.waits, found.ties);
    separate(found.pollings);
    add_pollings(id, found.pollings, found.waits);
    take_naps_for_tests(found.waits, id, run);
    measure_waits(run, id, found.waits);
    choose_ties(found.waits, found.ties);
    measure_waits(run, id, found.ties);
    hand_over_polled(found.waits, found.handovers);
    tell_waking_from_idle(run, run.at(id), found.waits, found.ties);
    graph.waits[id.index()] = std::move(found.waits);
    graph.ties[id.index()] = std::move(found.ties);
    graph.syncs[id.index()] = std::move(found.syncs);
    graph.lock_waits[id.index()] = std::move(found.lock_waits);
    std::stable_sort(found.message_waits.begin(), found.message_waits.end(),
                     [](const MessageWait& a, const MessageWait& b) { return a.begin < b.begin; });
    graph.message_waits[id.index()] = std::move(found.message_waits);
    graph.pollings[id.index()] = std::move(found.pollings);
    graph.handovers[id.index()] = std::move(found.handovers);
    graph.device_gaps[id.index()] = std::move(found.device_gaps);
    graph.device_waits[id.index()] = std::move(found.device_waits);
    std::vector<CallPathId>& unknown = found.unknown_waits;
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    graph.unknown_waits[id.index()] = std::move(found.unknown_waits);
    graph.long_calls[id.index()] = long_calls_of(run, id);
    graph.progress_gates[id.index()] = std::move(found.progress_gates);
    run.at(id).release_operations();
  });
  detection.losses.add(LossKind::clock_violations, clock_violations(detection));
  run.losses.merge(detection.losses);
  graph.groups = std::move(detection.groups);
  graph.messages = std::move(detection.messages);
  graph.arrivals = std::move(detection.arrivals);
  graph.suspected = detection.suspected;
  for (LocationId id : set_spare_time_aside(run, graph)) {
    measure_waits(run, id, graph.waits[id.index()]);
    measure_waits(run, id, graph.ties[id.index()]);
  }
  return graph;
}

}  // namespace culprit::replay
