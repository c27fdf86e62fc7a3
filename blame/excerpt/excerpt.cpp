// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs the first passes of an analysis, and lists their results instead of explaining them. One
// rank is enough: the timelines of a part that people can look at fit into its memory.

#include "blame/excerpt/excerpt.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "base/parallel.h"
#include "blame/collect/collect.h"
#include "replay/match/messages.h"
#include "replay/model/run.h"
#include "replay/model/waits.h"

namespace culprit::blame {
namespace {

using replay::Run;

/// The selection in terms of the run.
struct Frame {
  Time begin, end;  ///< of the trace
  Duration shortest;
  std::vector<bool> wanted;  ///< by LocationId

  bool shows(Time from, Time to) const { return from < end && to > begin; }
};

Duration duration_of(double seconds) {
  return Duration::from_nanos(static_cast<int64_t>(std::llround(seconds * 1e9)));
}

Frame frame_of(const Run& run, const ExcerptSelection& selection) {
  Frame frame;
  frame.begin = run.begin + duration_of(std::max(selection.from_s, 0.0));
  const bool to_the_end = !(selection.to_s < run.wall().seconds());
  frame.end = to_the_end ? run.end : run.begin + duration_of(selection.to_s);
  frame.shortest = duration_of(selection.shortest_s);
  frame.wanted.resize(run.timelines.size());
  for (LocationId id : run.locations) {
    const uint32_t rank = run.definitions->processes[run.location(id).process.index()].rank;
    frame.wanted[id.index()] = selection.ranks.empty() || selection.ranks.contains(rank);
  }
  return frame;
}

/// Counted from the run's begin.
Time since_begin(const Run& run, Time time) {
  return Time::from_nanos((time - run.begin).nanos());
}

/// Adjacent activities of one call path, which replay has split: [first, last).
struct Stretch {
  size_t first, last;
};

bool go_on(const replay::Activities& all, size_t before) {
  return all.path(before) == all.path(before + 1) && all.end(before) == all.begin(before + 1);
}

/// Returns the group of adjacent activities that contains `at`.
Stretch stretch_of(const replay::Activities& all, size_t at) {
  Stretch found{at, at + 1};
  while (found.first > 0 && go_on(all, found.first - 1)) --found.first;
  while (found.last < all.size() && go_on(all, found.last - 1)) ++found.last;
  return found;
}

/// Lists activities. The minimum length applies to the full length of an activity, even if it
/// extends beyond the selected part.
void list_activities(const Run& run, LocationId id, const Frame& frame, Excerpt& excerpt) {
  const replay::Activities& all = run.at(id).activities;
  const Run::Life life = run.life(id);
  for (size_t i = all.after(frame.begin); i < all.size() && all.begin(i) < frame.end;) {
    const Stretch stretch = stretch_of(all, i);
    i = stretch.last;
    const Time begin = std::max(all.begin(stretch.first), life.begin);
    const Time end = std::min(all.end(stretch.last - 1), life.end);
    const Time since = std::max(begin, frame.begin), until = std::min(end, frame.end);
    const CallPathId path = all.path(stretch.first);
    if (since >= until || run.between(id, path)) continue;
    if (end - begin < frame.shortest) {
      ++excerpt.left_out;
      continue;
    }
    excerpt.activities.push_back({id, path, since_begin(run, since), since_begin(run, until)});
  }
}

void list_waits(const Run& run, const replay::WaitGraph& graph, const Frame& frame,
                Excerpt& excerpt) {
  for (LocationId id : run.locations) {
    if (!frame.wanted[id.index()]) continue;
    for (const replay::Wait& wait : graph.waits[id.index()]) {
      if (!replay::counts_as_waiting(wait.pattern) || !frame.shows(wait.begin, wait.end)) continue;
      if (wait.end - wait.begin < frame.shortest) continue;
      excerpt.waits.push_back({id, wait.path, wait.pattern, wait.cause,
                               since_begin(run, std::max(wait.begin, frame.begin)),
                               since_begin(run, std::min(wait.end, frame.end))});
    }
  }
}

/// The messages of one receiving process.
class MessageCollector final : public replay::MessageVisitor {
 public:
  MessageCollector(const Run& run, const Frame& frame, std::mutex& mutex,
                   std::vector<ExcerptMessage>& messages)
      : run_(run), frame_(frame), mutex_(mutex), all_(messages) {}

  void visit(const replay::MatchedMessage& message) override {
    const replay::CallRef completed = run_.ref(message.receiver, message.recv.completed);
    const Time sent = message.sent.met.enter, received = run_.call(completed).leave;
    const LocationId from = message.sent.met_at, to = completed.location;
    if (!frame_.shows(std::min(sent, received), std::max(sent, received))) return;
    if (!frame_.wanted[from.index()] && !frame_.wanted[to.index()]) return;
    own_.push_back(
        {from, to, since_begin(run_, sent), since_begin(run_, received), message.recv.bytes});
  }
  void finish() override {
    const std::lock_guard lock(mutex_);
    all_.insert(all_.end(), own_.begin(), own_.end());
  }

 private:
  const Run& run_;
  const Frame& frame_;
  std::mutex& mutex_;
  std::vector<ExcerptMessage>& all_;
  std::vector<ExcerptMessage> own_;
};

void list_messages(const Run& run, const Frame& frame, unsigned threads, Excerpt& excerpt) {
  std::mutex mutex;
  Losses told;  // counted by the detectors already
  replay::match_messages(
      run, threads,
      [&](ProcessId) -> std::unique_ptr<replay::MessageVisitor> {
        return std::make_unique<MessageCollector>(run, frame, mutex, excerpt.messages);
      },
      told);
  std::sort(excerpt.messages.begin(), excerpt.messages.end(),
            [](const ExcerptMessage& a, const ExcerptMessage& b) {
              return std::tie(a.received, a.sent, a.receiver, a.sender) <
                     std::tie(b.received, b.sent, b.receiver, b.sender);
            });
}

void list_critical_path(const Run& run, const CriticalPath& path, const Frame& frame,
                        Excerpt& excerpt) {
  for (const PathSegment& segment : path.segments) {
    if (!frame.shows(segment.begin, segment.end)) continue;
    excerpt.critical.push_back({segment.location, segment.path,
                                since_begin(run, std::max(segment.begin, frame.begin)),
                                since_begin(run, std::min(segment.end, frame.end))});
  }
}

/// Error if the run contains nothing of the selection.
Result<void> check(const ExcerptSelection& selection, const Run& run, const Frame& frame) {
  for (const uint32_t rank : selection.ranks) {
    const auto& processes = run.definitions->processes;
    const bool known = std::any_of(processes.begin(), processes.end(),
                                   [&](const auto& process) { return process.rank == rank; });
    if (!known) return Error{"this run has no rank " + std::to_string(rank)};
  }
  if (frame.begin >= frame.end) {
    return Error{selection.from_s >= selection.to_s
                     ? "the part of the run begins after it ends"
                     : "the run has ended by then: it lasts " +
                           std::to_string(run.wall().seconds()) + " s"};
  }
  return {};
}

}  // namespace

Result<Excerpt> read_excerpt(const trace::Source& source, const ExcerptSelection& selection,
                             unsigned threads, Losses& losses) {
  threads = thread_count(threads);
  Alone alone;
  auto read = replay::read_run(source, alone, threads);
  if (!read) return read.error();
  Run& run = *read;
  Excerpt excerpt;
  Frame frame;
  const replay::WaitGraph graph = replay::detect_waits(run, threads, {}, nullptr, [&] {
    frame = frame_of(run, selection);
    list_messages(run, frame, threads, excerpt);
  });
  if (auto checked = check(selection, run, frame); !checked) return checked.error();
  excerpt.wall = run.wall();
  excerpt.locations = found_locations(run);
  excerpt.callpaths = found_callpaths(run, threads);
  for (LocationId id : run.locations) {
    if (frame.wanted[id.index()]) list_activities(run, id, frame, excerpt);
  }
  list_waits(run, graph, frame, excerpt);
  list_critical_path(run, find_critical_path(run, graph, threads), frame, excerpt);
  losses.merge(run.losses);
  return excerpt;
}

}  // namespace culprit::blame
