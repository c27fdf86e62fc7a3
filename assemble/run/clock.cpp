// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Nodes get their line one by one, through their comparisons with nodes whose lines are drawn
// already. A node that was not compared with any other keeps its system's own clock, and is
// counted.
#include "assemble/run/clock.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace culprit::assemble {
namespace {

using trace::RawClock;
using trace::RawClockPair;
using trace::RawProcess;

using NodeKey = std::tuple<std::string, std::string, RawClock, uint64_t>;

/// Processes with equal keys read their ticks from one counter.
NodeKey key_of(const RawProcess& process) {
  const bool own = process.clock == RawClock::monotonic_ns;
  return {process.host, process.boot_id, process.clock, own ? process.time_namespace : 0};
}

struct Node {
  RawClockPair first{};
  RawClockPair last{};
  RawClock clock = RawClock::tsc;
  std::vector<size_t> processes;

  void see(const RawClockPair& pair) {
    if (pair.ticks == 0) return;
    if (first.ticks == 0 || pair.ticks < first.ticks) first = pair;
    if (pair.ticks > last.ticks) last = pair;
  }
};

std::map<NodeKey, Node> group_by_node(const std::vector<RawProcessFolder>& processes) {
  std::map<NodeKey, Node> nodes;
  for (size_t i = 0; i < processes.size(); ++i) {
    const RawProcess& process = processes[i].process;
    Node& node = nodes[key_of(process)];
    node.clock = process.clock;
    node.processes.push_back(i);
    node.see(process.first);
    node.see(process.last);
  }
  return nodes;
}

/// Nanoseconds a tick: from CLOCK_MONOTONIC, which is never set back.
double slope_of(const Node& node, Losses& losses) {
  const uint64_t ticks = node.last.ticks - node.first.ticks;
  if (ticks > 0 && node.last.monotonic_ns > node.first.monotonic_ns) {
    return static_cast<double>(node.last.monotonic_ns - node.first.monotonic_ns) /
           static_cast<double>(ticks);
  }
  if (node.clock == RawClock::tsc) {
    losses.add(LossKind::uncalibrated_clocks);
  }
  return 1.0;
}

}  // namespace

Clock::Clock(const std::vector<RawProcessFolder>& processes, const std::vector<ClockLink>& links,
             Losses& losses)
    : line_of_(processes.size()) {
  const auto nodes = group_by_node(processes);
  // Everything relative to some reference close by, since a double cannot hold ns since 1970.
  const uint64_t reference = processes.empty() ? 0 : processes.front().process.first.realtime_ns;
  for (const auto& [key, node] : nodes) {
    for (size_t process : node.processes) line_of_[process] = lines_.size();
    lines_.push_back({node.first.ticks, static_cast<int64_t>(node.first.realtime_ns - reference),
                      slope_of(node, losses)});
  }
  if (lines_.empty()) return;
  align(links);
  int64_t earliest = INT64_MAX;
  for (size_t i = 0; i < processes.size(); ++i) {
    earliest = std::min(earliest, lines_[line_of_[i]].at(processes[i].process.start_ticks));
  }
  for (Line& line : lines_) line.ns -= earliest;
  origin_ = reference + static_cast<uint64_t>(earliest);
}

/// From the node that asked first outwards, along whatever comparisons there are.
void Clock::align(const std::vector<ClockLink>& links) {
  quality_.nodes = lines_.size();
  error_.assign(lines_.size(), -1);
  error_[line_of_[links.empty() ? 0 : links.front().process]] = 0;
  for (bool more = true; more;) {
    more = false;
    for (size_t node = 0; node < lines_.size(); ++node) {
      more = (error_[node] < 0 && align_one(links, node)) || more;
    }
  }
  for (const double error : error_) {
    quality_.unrelated += error < 0 ? 1 : 0;
    quality_.error_ns = std::max(quality_.error_ns, error);
  }
}

/// Draws the line of `node` through its meetings with nodes whose lines are known; false if there
/// is none.
bool Clock::align_one(const std::vector<ClockLink>& links, size_t node) {
  struct Point {
    uint64_t ticks;
    int64_t ns;
  };
  std::optional<Point> first, last;
  double error = 0;
  for (const ClockLink& link : links) {
    const size_t asker = line_of_[link.process], asked = line_of_[link.other];
    if (asker == asked || (node != asker && node != asked)) continue;
    const size_t known = node == asker ? asked : asker;
    if (error_[known] < 0) continue;
    const uint64_t own_ticks = node == asker ? link.ticks : link.other_ticks;
    const Point point{own_ticks, lines_[known].at(node == asker ? link.other_ticks : link.ticks)};
    if (!first || point.ticks < first->ticks) first = point;
    if (!last || point.ticks > last->ticks) last = point;
    error =
        std::max(error, error_[known] + static_cast<double>(link.length) / 2 * lines_[asker].slope);
  }
  if (!first) return false;
  Line& line = lines_[node];
  if (last->ticks > first->ticks && last->ns > first->ns) {
    line.slope =
        static_cast<double>(last->ns - first->ns) / static_cast<double>(last->ticks - first->ticks);
  } else {
    ++quality_.met_once;
  }
  line.ticks = first->ticks;
  line.ns = first->ns;
  error_[node] = error;
  return true;
}

}  // namespace culprit::assemble
