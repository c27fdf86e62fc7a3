// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/clock.h"

#include <map>
#include <string>
#include <tuple>

namespace culprit::assemble {
namespace {

using trace::RawClock;
using trace::RawClockPair;
using trace::RawProcess;

using NodeKey = std::tuple<std::string, std::string, RawClock>;

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
    Node& node = nodes[{process.host, process.boot_id, process.clock}];
    node.clock = process.clock;
    node.processes.push_back(i);
    node.see(process.first);
    node.see(process.last);
  }
  return nodes;
}

/// Nanoseconds a tick: from CLOCK_MONOTONIC, which no one sets back.
double slope_of(const Node& node, Losses& losses) {
  const uint64_t ticks = node.last.ticks - node.first.ticks;
  if (ticks > 0 && node.last.monotonic_ns > node.first.monotonic_ns) {
    return static_cast<double>(node.last.monotonic_ns - node.first.monotonic_ns) /
           static_cast<double>(ticks);
  }
  if (node.clock == RawClock::tsc) {
    losses.add("uncalibrated_clocks", Severity::warning,
               "A node's clock was read only once before its processes died; its times may be "
               "stretched.");
  }
  return 1.0;
}

}  // namespace

Clock::Clock(const std::vector<RawProcessFolder>& processes, Losses& losses)
    : line_of_(processes.size()) {
  const auto nodes = group_by_node(processes);
  // Everything relative to some reference close by, since a double cannot hold ns since 1970.
  const uint64_t reference = processes.empty() ? 0 : processes.front().process.first.realtime_ns;
  int64_t earliest = INT64_MAX;
  for (const auto& [key, node] : nodes) {
    Line line{node.first.ticks, static_cast<int64_t>(node.first.realtime_ns - reference),
              slope_of(node, losses)};
    for (size_t process : node.processes) {
      line_of_[process] = lines_.size();
      const uint64_t start = processes[process].process.start_ticks;
      const auto before = static_cast<double>(static_cast<int64_t>(start - line.ticks));
      earliest = std::min(earliest, line.ns + static_cast<int64_t>(before * line.slope));
    }
    lines_.push_back(line);
  }
  if (lines_.empty()) return;
  for (Line& line : lines_) line.ns -= earliest;
  origin_ = reference + static_cast<uint64_t>(earliest);
}

}  // namespace culprit::assemble
